/* `stet run --cpu`: the embedded CPU backend as the device of the command's framework. */
#ifndef STET_CLI_RUN_CPU_H
#define STET_CLI_RUN_CPU_H

#include "cli/run_env.h"

/* Sets what each framework looks at. A choice of platform that the user made stands. `folder` is
 * the run's, where links may be needed. */
enum stet_rc stet_run_cpu(struct stet_env *env, const char *folder, struct stet_err *err);

#endif
