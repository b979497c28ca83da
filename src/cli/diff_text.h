/* Prints a diff of two programs as text or JSON. `stet diff` calls it. It appends to the caller's
 * buffer. */
#ifndef STET_CLI_DIFF_TEXT_H
#define STET_CLI_DIFF_TEXT_H

#include "cli/command.h"
#include "explain/diff.h"
#include "session/named_program.h"

struct stet_diff_view {
    struct stet_session_program *a, *b;
    enum stet_format format;
    bool colour;
    bool all; /* list consequences too */
};

void stet_cli_diff_text(struct stet_buf *out, const struct stet_diff *d,
                        const struct stet_diff_view *view);
/* Writes schema stet.diff/1. */
void stet_cli_diff_json(struct stet_buf *out, const struct stet_diff *d,
                        const struct stet_diff_view *view);

#endif
