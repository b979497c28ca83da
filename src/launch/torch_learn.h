/* stet run --torch-fix: settings learnt from earlier runs of the same command, then counted again.
 */
#ifndef STET_LAUNCH_TORCH_LEARN_H
#define STET_LAUNCH_TORCH_LEARN_H

#include "base/buf.h"
#include "ingest/torch.h"
#include "launch/child_env.h"

struct stet_learn;

/* Looks at the earlier runs of `argv` in this folder: what drifted in them, what was set in them
 * before, and what did not help. NULL when memory is short or nothing can be read; every function
 * takes NULL. */
struct stet_learn *stet_launch_learn_new(char *const *argv, struct stet_err *err);
void stet_launch_learn_free(struct stet_learn *l);

/* Sets what was learnt; a user's own sources are kept and come first. Says on `out` what it does.
 */
enum stet_rc stet_launch_learn_apply(struct stet_learn *l, struct stet_launch_env *env,
                                     struct stet_buf *out, struct stet_err *err);
/* The run is over: compares with the run before the settings, says what was saved, drops what did
 * not help, and remembers it in <folder>/torch-fix.json. `fine`: the command succeeded. */
void stet_launch_learn_judge(struct stet_learn *l, struct stet_torch *now, const char *folder,
                             bool fine, struct stet_buf *out);

#endif
