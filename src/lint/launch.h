/* The meaning of launch settings; shared by the rules for Python and for shell scripts, and by
 * doctor. */
#ifndef STET_LINT_LAUNCH_H
#define STET_LINT_LAUNCH_H

#include "lint/summary.h"

/* What the switch does if left on, or NULL if it is off or not listed. */
const char *lint_flag_effect(struct stet_view name, struct stet_view value);
/* A switch that puts a wait into each step or collective. */
bool lint_launch_barrier(struct stet_view name, struct stet_view value);
/* A compilation cache's variable that names a remote place. */
bool lint_remote_cache(struct stet_view name, struct stet_view value);
/* Shell scripts and env files: `export NAME=value` lines and barriers. */
enum stet_rc lint_shell_file(struct lint_summary *out, struct stet_view text, struct stet_err *err);

#endif
