/* Reports torch.compile's side of a run while it happens. `stet run` starts it before the command,
 * polls it while the command runs and ends it afterwards. It owns the model that it reads;
 * stet_monitor_torch_end frees everything. */
#ifndef STET_MONITOR_TORCH_FOLLOW_H
#define STET_MONITOR_TORCH_FOLLOW_H

#include "base/err.h"
#include "base/view.h"

struct stet_live;
struct stet_monitor_torch;
struct stet_torch;

/* Follows the traces in `folder`, which need not exist yet. With `quiet` nothing is printed.
 * Returns NULL when out of memory; all functions accept NULL as "not followed". */
struct stet_monitor_torch *stet_monitor_torch_start(const char *folder, bool quiet);
/* Declares that the folder is the user's own. Its present contents belong to other runs, and what
 * this run writes is linked into `links` at the end. */
void stet_monitor_torch_foreign(struct stet_monitor_torch *r, const char *links);
/* Follows the file that TORCH_LOGS prints to (TORCH_LOGS_OUT). It has what traces lack: the reason
 * why CUDA graphs are recorded again. A new file is linked into `links`, the folder of the run's
 * traces. */
void stet_monitor_torch_printed(struct stet_monitor_torch *r, const char *path, const char *links);
/* Sends each recompile, graph break and re-recording to --json-events as it happens; NULL ends
 * this. The live part is borrowed until stet_monitor_torch_events is called with NULL. */
struct stet_live;
void stet_monitor_torch_events(struct stet_monitor_torch *r, struct stet_live *live);
struct stet_learn;
/* Sets the settings of --torch-fix, which are judged at the end. `folder` is the run's. */
void stet_monitor_torch_learn(struct stet_monitor_torch *r, struct stet_learn *learn,
                              const char *folder);
struct stet_divergence;
/* Calls `differ` for ranks whose graphs differ, once for each. */
void stet_monitor_torch_differ(struct stet_monitor_torch *r,
                               void (*differ)(const struct stet_divergence *d));
/* Returns what was read so far; NULL for NULL. */
struct stet_torch *stet_monitor_torch_model(struct stet_monitor_torch *r);
/* Did torch.compile compile anything? Call it after the command has ended. */
bool stet_monitor_torch_compiled(struct stet_monitor_torch *r);
/* Reads what is new, and reports each recompile on standard error. `last`: the command has ended.
 */
void stet_monitor_torch_poll(struct stet_monitor_torch *r, bool last);
/* Takes the ranks of processes that also loaded a plugin from their journals. `live` may be
 * NULL. */
void stet_monitor_torch_ranks(struct stet_monitor_torch *r, const struct stet_live *live);
/* Reads the rest, prints the summary and frees everything. `fine`: the command succeeded. */
void stet_monitor_torch_end(struct stet_monitor_torch *r, bool fine);

#endif
