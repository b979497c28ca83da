/* torch.compile's side of a run, told while it happens. */
#ifndef STET_MONITOR_TORCH_FOLLOW_H
#define STET_MONITOR_TORCH_FOLLOW_H

#include "base/err.h"
#include "base/view.h"

struct stet_live;
struct stet_monitor_torch;
struct stet_torch;

/* Follows the traces in `folder`, which need not be there yet. With `quiet` nothing is printed.
 * NULL when memory is short; all functions take NULL as "not followed". */
struct stet_monitor_torch *stet_monitor_torch_start(const char *folder, bool quiet);
/* The folder is the user's own: what lies there already is of other runs, and what this run writes
 * is linked into `links` at the end. */
void stet_monitor_torch_foreign(struct stet_monitor_torch *r, const char *links);
/* Where TORCH_LOGS prints to a file (TORCH_LOGS_OUT): it has what traces lack, why CUDA graphs are
 * recorded again. A file that is new is linked into `links`, the folder of the run's traces. */
void stet_monitor_torch_printed(struct stet_monitor_torch *r, const char *path, const char *links);
/* Each recompile, graph break and re-recording as it happens, for --json-events; NULL: nobody
 * asks. The live part is borrowed until stet_monitor_torch_events is called with NULL. */
struct stet_live;
void stet_monitor_torch_events(struct stet_monitor_torch *r, struct stet_live *live);
struct stet_learn;
/* With settings of --torch-fix: they are judged at the end. `folder` is the run's. */
void stet_monitor_torch_learn(struct stet_monitor_torch *r, struct stet_learn *learn,
                              const char *folder);
/* What was read so far; NULL for NULL. */
const struct stet_torch *stet_monitor_torch_model(const struct stet_monitor_torch *r);
/* Did it compile anything? For when the command has ended. */
bool stet_monitor_torch_compiled(struct stet_monitor_torch *r);
/* Reads what has come, and tells of each recompile on standard error. `last`: the command is over.
 */
void stet_monitor_torch_poll(struct stet_monitor_torch *r, bool last);
/* The ranks of processes that loaded a plugin as well, by what they told their journals. `live` may
 * be NULL. */
void stet_monitor_torch_ranks(struct stet_monitor_torch *r, const struct stet_live *live);
/* Reads the rest, prints the summary, and frees. `fine`: the command succeeded. */
void stet_monitor_torch_end(struct stet_monitor_torch *r, bool fine);

#endif
