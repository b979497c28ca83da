/* stet run --torch-fix: learns settings from earlier runs of the same command, applies them, and
 * counts the recompiles again. stet_launch_learn_new and stet_launch_learn_apply are called before
 * the command starts, stet_launch_learn_judge at its end. The caller frees it with
 * stet_launch_learn_free. */
#ifndef STET_LAUNCH_TORCH_LEARN_H
#define STET_LAUNCH_TORCH_LEARN_H

#include "base/buf.h"
#include "ingest/torch.h"
#include "launch/child_env.h"

struct stet_learn;

/* Reads the earlier runs of `argv` in this folder: what varied in them, which settings they had,
 * and which did not help. Returns NULL when out of memory or when nothing can be read; every
 * function accepts NULL. */
struct stet_learn *stet_launch_learn_new(char *const *argv, struct stet_err *err);
void stet_launch_learn_free(struct stet_learn *l);

/* Applies what was learnt. The user's own sources are kept and come first. Prints the settings on
 * `out`. */
enum stet_rc stet_launch_learn_apply(struct stet_learn *l, struct stet_launch_env *env,
                                     struct stet_buf *out, struct stet_err *err);
/* Called after the run. Compares it with the run before the settings, prints what was saved, drops
 * settings that did not help, and writes the result to <folder>/torch-fix.json. `fine`: the command
 * succeeded. */
void stet_launch_learn_judge(struct stet_learn *l, struct stet_torch *now, const char *folder,
                             bool fine, struct stet_buf *out);

#endif
