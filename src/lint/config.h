/* Reads the keys that lint needs from [tool.stet] of pyproject.toml. `stet lint` reads it before
 * the run. The struct owns its texts. */
#ifndef STET_LINT_CONFIG_H
#define STET_LINT_CONFIG_H

#include "base/arena.h"
#include "base/err.h"

enum { STET_LINT_CONFIG_LIST = 64 };

struct stet_lint_config {
    struct stet_arena arena;
    char *select[STET_LINT_CONFIG_LIST], *ignore[STET_LINT_CONFIG_LIST],
        *exclude[STET_LINT_CONFIG_LIST];
    size_t select_count, ignore_count, exclude_count;
    char *baseline; /* beside the file it was read from; NULL when not set */
    char *severity;
};

/* `path` NULL: the nearest pyproject.toml of this folder and those above. Keys are under
 * [tool.stet] or [tool.stet.lint]; an unknown key is an error, so that a typing mistake does not
 * switch a rule on. */
enum stet_rc stet_lint_config_read(struct stet_lint_config *c, const char *path,
                                   struct stet_err *err);
enum stet_rc stet_lint_config_text(struct stet_lint_config *c, struct stet_view text,
                                   const char *path, struct stet_err *err);
void stet_lint_config_release(struct stet_lint_config *c);

#endif
