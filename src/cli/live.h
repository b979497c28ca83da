/* Follows a run's journals while it goes on and tells of recompiles as they happen. Nothing in here
 * can end or delay the command: what goes wrong ends the telling. */
#ifndef STET_CLI_LIVE_H
#define STET_CLI_LIVE_H

#include "base/err.h"

#include <stdbool.h>

struct stet_live;

/* `quiet`: nothing on standard error. `json_events`: a file that gets one JSON object a line for
 * each recompile, or NULL. STET_IO when that file can't be made. *out is NULL when there is nothing
 * to do.
 */
enum stet_rc stet_live_new(struct stet_live **out, const char *folder, const char *run, bool quiet,
                           const char *json_events, struct stet_err *err);
struct stet_explained;
/* Each compile once it has been judged, in order. */
void stet_live_watch(struct stet_live *l,
                     void (*visit)(void *context, struct stet_explained *x, uint32_t sighting),
                     void *context);
/* What is new since. Call it every few hundred milliseconds; with `last` when the command has
 * ended.
 */
void stet_live_poll(struct stet_live *l, bool last);
void stet_live_free(struct stet_live *l);

#endif
