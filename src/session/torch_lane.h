/* The torch lane of a run. These functions read its traces, write its parts as JSON and short text,
 * and make runs from traces. The caller owns the model (`struct stet_torch`); all texts are
 * borrowed from it. */
#ifndef STET_SESSION_TORCH_LANE_H
#define STET_SESSION_TORCH_LANE_H

#include "base/json.h"
#include "ingest/trace_files.h"
#include "ingest/why.h"

/* Reads the logs given by `names`: files, folders of logs, runs (by id or folder). No name means
 * the latest run. `from` gets a description of what was read. */
enum stet_rc stet_session_torch_load(struct stet_torch *t, char **names, int count,
                                     struct stet_buf *from, struct stet_err *err);

/* {"file":…,"line":…,"function":…}, or null. */
void stet_session_torch_json_place(struct stet_json *j, const char *key,
                                   const struct stet_torch_place *p);
/* Writes the keys about one compile (not its frame) into an open object. */
void stet_session_torch_json_compile(const struct stet_torch *t, uint32_t compile,
                                     struct stet_json *j);
/* Writes what was read and what could not be read: files, records, damage. */
void stet_session_torch_json_input(const struct stet_torch *t, struct stet_json *j);

/* `stet torch fixes`: what would save the recompiles. */
void stet_session_torch_fixes_text(const struct stet_torch *t, struct stet_buf *out);
void stet_session_torch_fixes_json(const struct stet_torch *t, struct stet_json *j);
/* `stet torch caches`: the lookups in torch's caches, and why they missed. */
void stet_session_torch_caches_text(const struct stet_torch *t, struct stet_buf *out);
void stet_session_torch_caches_json(const struct stet_torch *t, struct stet_json *j);

void stet_session_torch_text_damage(const struct stet_torch *t, struct stet_buf *out);

/* Appends file:line without the working folder. */
void stet_session_torch_text_place(const struct stet_torch_place *p, struct stet_buf *out);
/* Appends the functions that were compiled into a frame, ": g (a.py:3), h (a.py:9)", or nothing. */
void stet_session_torch_text_nested(const struct stet_torch *t, const struct stet_torch_frame *f,
                                    struct stet_buf *out);
/* Appends the change, "x.shape[0] 4 → 6". */
void stet_session_torch_text_change(const struct stet_torch_why *why, struct stet_buf *out);
/* Returns the time of forward and backward, in microseconds. */
uint64_t stet_session_torch_cost(const struct stet_torch_compile *c);
/* Was a function compiled again? The number of the compile does not show it: a frame may be
 * compiled for another piece of code with the same name. */
static inline bool stet_session_torch_is_again(const struct stet_torch_compile *c)
{
    return c->failures != STET_TORCH_NONE || stet_view_is(c->fail_type, "ConstraintViolationError");
}
/* Did it come from torch's own cache, without a compile? */
static inline bool stet_session_torch_loaded(const struct stet_torch_compile *c)
{
    return c->aot_cache == STET_CACHE_EARLIER || c->aot_cache == STET_CACHE_SAME;
}

void stet_session_torch_frames_json(const struct stet_torch *t, struct stet_json *j);
void stet_session_torch_breaks_json(const struct stet_torch *t, struct stet_json *j);
/* Finds the component of Inductor's key that differs, for a compile that Inductor's cache did not
 * have. False when the cache had it, or when there is nothing to compare with. */
bool stet_session_torch_cache_missed(const struct stet_torch *t, uint32_t compile,
                                     struct stet_buf *out);
/* Makes a run from the model: a folder with links to the logs, and its rows in the ledger. The run
 * is listed under the command `argv`. The run's id goes into `id`. */
enum stet_rc stet_session_torch_keep_run(struct stet_torch *t, char *const *argv, char id[40],
                                         struct stet_err *err);
/* Makes links in `folder` to the logs that were read. The folder is created if there are any. */
enum stet_rc stet_session_torch_link_logs(const struct stet_torch *t, const char *folder,
                                          struct stet_err *err);

#endif
