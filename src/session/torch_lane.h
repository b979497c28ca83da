/* The torch lane of a run: reading its traces, and the parts of it as JSON and in short words. */
#ifndef STET_SESSION_TORCH_LANE_H
#define STET_SESSION_TORCH_LANE_H

#include "base/json.h"
#include "ingest/trace_files.h"
#include "ingest/why.h"

/* Reads the logs that `names` mean: files, folders of logs, runs (by id or folder); none of them
 * means the latest run. `from` gets the words for what was read. */
enum stet_rc stet_session_torch_load(struct stet_torch *t, char **names, int count,
                                     struct stet_buf *from, struct stet_err *err);

/* {"file":…,"line":…,"function":…}, or null. */
void stet_session_torch_json_place(struct stet_json *j, const char *key,
                                   const struct stet_torch_place *p);
/* Keys about one compile (not its frame), for an object that is open. */
void stet_session_torch_json_compile(const struct stet_torch *t, uint32_t compile,
                                     struct stet_json *j);
/* Files, records, damage: what was read and what could not be. */
void stet_session_torch_json_input(const struct stet_torch *t, struct stet_json *j);

void stet_session_torch_text_damage(const struct stet_torch *t, struct stet_buf *out);

/* file:line with the working folder taken off. */
void stet_session_torch_text_place(const struct stet_torch_place *p, struct stet_buf *out);
/* ": g (a.py:3), h (a.py:9)": the functions that were compiled into a frame; nothing for none. */
void stet_session_torch_text_nested(const struct stet_torch *t, const struct stet_torch_frame *f,
                                    struct stet_buf *out);
/* "x.shape[0] 4 → 6" */
void stet_session_torch_text_change(const struct stet_torch_why *why, struct stet_buf *out);
/* Forward and backward, in microseconds. */
uint64_t stet_session_torch_cost(const struct stet_torch_compile *c);
/* Did it come from torch's own cache, and was not compiled? */
static inline bool stet_session_torch_loaded(const struct stet_torch_compile *c)
{
    return c->aot_cache == STET_CACHE_EARLIER || c->aot_cache == STET_CACHE_SAME;
}

void stet_session_torch_frames_json(const struct stet_torch *t, struct stet_json *j);
void stet_session_torch_breaks_json(const struct stet_torch *t, struct stet_json *j);
/* The component of Inductor's key that moved, of a compile that its cache did not have; false when
 * it had it, or there is nothing to compare with. */
bool stet_session_torch_cache_missed(const struct stet_torch *t, uint32_t compile,
                                     struct stet_buf *out);
/* Makes the model a run: a folder with links to the logs, and its rows in the ledger. `argv` is the
 * command that it is listed under. The id of the run into `id`. */
enum stet_rc stet_session_torch_keep_run(struct stet_torch *t, char *const *argv, char id[40],
                                         struct stet_err *err);
/* Links to the logs that were read, in `folder`, which is made when there are any. */
enum stet_rc stet_session_torch_link_logs(const struct stet_torch *t, const char *folder,
                                          struct stet_err *err);

#endif
