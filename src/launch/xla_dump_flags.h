/* Makes XLA dump its programs, for frameworks whose CPU client cannot be watched. `stet run` calls
 * it before the command starts and after it has ended. */
#ifndef STET_LAUNCH_XLA_DUMP_FLAGS_H
#define STET_LAUNCH_XLA_DUMP_FLAGS_H

#include "launch/child_env.h"

/* Sets XLA_FLAGS so that dumps go to <folder>/dump. It does so when `wanted`, or when the
 * environment selects a client inside the framework (JAX_PLATFORMS=cpu, PJRT_DEVICE=CPU). Present
 * flags stay; if the user has set a dump folder, that one is used. */
enum stet_rc stet_launch_dump_prepare(struct stet_launch_env *env, const char *folder, bool wanted,
                                      struct stet_err *err);
/* Called after the run. In a dump folder that Stet made, keeps only the files that explain the
 * run. */
void stet_launch_dump_tidy(const char *folder);

#endif
