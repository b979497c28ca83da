/* `stet run --cpu`: makes the embedded CPU backend the device of the command's framework. It is
 * called before the command starts and only edits the environment. */
#ifndef STET_LAUNCH_CPU_H
#define STET_LAUNCH_CPU_H

#include "launch/child_env.h"

/* The file of the backend. */
#define STET_LAUNCH_CPU_LIBRARY "libstet_cpu.so"

/* Sets the variables that each framework reads. It does not change a platform that the user
 * selected. `folder` is the run's folder, for links. */
enum stet_rc stet_launch_cpu(struct stet_launch_env *env, const char *folder, struct stet_err *err);

#endif
