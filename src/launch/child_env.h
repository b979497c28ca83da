/* The environment a command gets under `stet run`. */
#ifndef STET_LAUNCH_CHILD_ENV_H
#define STET_LAUNCH_CHILD_ENV_H

#include "base/arena.h"
#include "base/err.h"

struct stet_launch_env {
    struct stet_arena arena;
    char **vars; /* NULL-terminated, for execve */
    size_t count, room;
};

/* A copy of our own environment. */
enum stet_rc stet_launch_env_init(struct stet_launch_env *e, struct stet_err *err);
void stet_launch_env_release(struct stet_launch_env *e);
const char *stet_launch_env_get(const struct stet_launch_env *e, const char *name);
enum stet_rc stet_launch_env_set(struct stet_launch_env *e, const char *name, const char *value,
                                 struct stet_err *err);
/* Puts `library` first in LD_PRELOAD, keeping what is there; at most once. */
enum stet_rc stet_launch_env_preload(struct stet_launch_env *e, const char *library,
                                     struct stet_err *err);

/* Makes `path` one that lists in the environment can name. They are split at blanks, colons and
 * commas, and what is behind the split would be looked for in the working folder of every process;
 * `$` is expanded. A path with such a character is replaced by a link to it in `folder`.
 * STET_UNSUPPORTED when that has one, too. */
enum stet_rc stet_launch_env_listable(char *path, size_t room, const char *folder,
                                      struct stet_err *err);

/* The full path of a file that is installed with this executable: ../lib/NAME or ../lib/stet/NAME
 * beside it, or what the environment variable STET_LIB_DIR names. Into `out`. */
enum stet_rc stet_launch_find_library(const char *name, char *out, size_t room,
                                      struct stet_err *err);

#endif
