/* Asks XLA to dump its programs, for frameworks whose CPU client cannot be watched. */
#ifndef STET_LAUNCH_XLA_DUMP_FLAGS_H
#define STET_LAUNCH_XLA_DUMP_FLAGS_H

#include "launch/child_env.h"

/* Sets XLA_FLAGS so that dumps go to <folder>/dump, when `wanted` or when the environment says that
 * the command will run on a client inside the framework (JAX_PLATFORMS=cpu, PJRT_DEVICE=CPU). Flags
 * that are there stay; with a dump folder of the user's own that one is used. */
enum stet_rc stet_launch_dump_prepare(struct stet_launch_env *env, const char *folder, bool wanted,
                                      struct stet_err *err);
/* After the run: of a folder that is ours only what explains is kept. */
void stet_launch_dump_tidy(const char *folder);

#endif
