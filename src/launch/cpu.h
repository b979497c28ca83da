/* `stet run --cpu`: the embedded CPU backend as the device of the command's framework. */
#ifndef STET_LAUNCH_CPU_H
#define STET_LAUNCH_CPU_H

#include "launch/child_env.h"

/* Sets what each framework looks at. A choice of platform that the user made stands. `folder` is
 * the run's, where links may be needed. */
enum stet_rc stet_launch_cpu(struct stet_launch_env *env, const char *folder, struct stet_err *err);

#endif
