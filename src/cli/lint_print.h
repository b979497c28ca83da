/* Prints the findings and the rules of `stet lint`. The functions append to the caller's buffer. */
#ifndef STET_CLI_LINT_PRINT_H
#define STET_CLI_LINT_PRINT_H

#include "lint/formats.h"

void stet_cli_lint_text(struct stet_buf *out, const struct stet_lint_print *p);
/* Prints the rules themselves. */
void stet_cli_lint_rules(struct stet_buf *out, bool json);

#endif
