/* The host's environment: our own settings, and which of the other variables are recorded. The
 * layer and `stet bundle` use it. Texts are in the caller's arena. */
#ifndef STET_JOURNAL_ENVIRONMENT_H
#define STET_JOURNAL_ENVIRONMENT_H

#include "base/arena.h"
#include "journal/format.h"

/* Is a variable of this name relevant for programs, devices or ranks? */
bool stet_journal_env_matters(struct stet_view name);
/* Would its value be a secret? */
bool stet_journal_env_is_secret(struct stet_view name);
/* NAME=value of the relevant variables, secrets masked, in the environment's order. */
struct stet_list stet_journal_env_list(struct stet_arena *a, char *const *environment);
/* A copy of any text with its secrets masked; empty, with the arena failed, when memory runs
 * out. */
struct stet_view stet_journal_env_mask(struct stet_arena *a, struct stet_view text);
/* The words of a command line, secrets masked. `command` has the form of /proc/PID/cmdline. */
struct stet_list stet_journal_env_arguments(struct stet_arena *a, struct stet_view command);

#endif
