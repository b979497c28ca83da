/* The meaning of launch settings. The rules for Python, the rules for shell scripts, and `stet run
 * --contract` share it. The returned texts are literals. */
#ifndef STET_LINT_LAUNCH_H
#define STET_LINT_LAUNCH_H

#include "lint/candidates.h"

/* Returns what the switch does if left on, or NULL if it is off or not listed. */
const char *lint_flag_effect(struct stet_view name, struct stet_view value);
/* True for a switch that puts a wait into each step or collective. */
bool lint_launch_barrier(struct stet_view name, struct stet_view value);
/* True for a variable of a compilation cache with a remote path. */
bool lint_remote_cache(struct stet_view name, struct stet_view value);
/* Reads shell scripts and env files: `export NAME=value` lines and barriers. */
enum stet_rc lint_shell_file(struct lint_summary *out, struct stet_view text, struct stet_err *err);

#endif
