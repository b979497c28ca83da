/* The environment of a command under `stet run`. It begins as a copy of our own; the modules that
 * start the command add their variables. stet_launch_env_release frees all of it. */
#ifndef STET_LAUNCH_CHILD_ENV_H
#define STET_LAUNCH_CHILD_ENV_H

#include "base/arena.h"
#include "base/err.h"

struct stet_launch_env {
    struct stet_arena arena;
    char **vars; /* NULL-terminated, for execve */
    size_t count, room;
};

/* Begins with a copy of our environment. */
enum stet_rc stet_launch_env_init(struct stet_launch_env *e, struct stet_err *err);
void stet_launch_env_release(struct stet_launch_env *e);
const char *stet_launch_env_get(const struct stet_launch_env *e, const char *name);
enum stet_rc stet_launch_env_set(struct stet_launch_env *e, const char *name, const char *value,
                                 struct stet_err *err);
/* Puts `library` first in LD_PRELOAD, at most once, and keeps the other entries. */
enum stet_rc stet_launch_env_preload(struct stet_launch_env *e, const char *library,
                                     struct stet_err *err);

/* Makes `path` usable in lists of the environment. Such lists are split at blanks, colons and
 * commas; the part behind the split would be searched in the working folder of every process; `$`
 * is expanded. A path with such a character is replaced by a link to it in `folder`. Returns
 * STET_UNSUPPORTED when `folder` has one too. */
enum stet_rc stet_launch_env_listable(char *path, size_t room, const char *folder,
                                      struct stet_err *err);

/* Writes the full path of a file installed with this executable into `out`: ../lib/NAME or
 * ../lib/stet/NAME beside it, or the file in the folder of the environment variable
 * STET_LIB_DIR. */
enum stet_rc stet_launch_find_library(const char *name, char *out, size_t room,
                                      struct stet_err *err);

#endif
