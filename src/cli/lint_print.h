/* Findings of `stet lint` in each of its formats. */
#ifndef STET_CLI_LINT_PRINT_H
#define STET_CLI_LINT_PRINT_H

#include "lint/lint.h"

struct stet_lint_print {
    const struct stet_lint_result *result;
    size_t known, gone; /* of the baseline */
    bool statistics;
    bool colour;
    const char *run; /* joined with this run; NULL when not */
};

void stet_lint_print_text(struct stet_buf *out, const struct stet_lint_print *p);
void stet_lint_print_json(struct stet_buf *out, const struct stet_lint_print *p);
void stet_lint_print_github(struct stet_buf *out, const struct stet_lint_print *p);
void stet_lint_print_sarif(struct stet_buf *out, const struct stet_lint_print *p);
/* The rules themselves. */
void stet_lint_print_rules(struct stet_buf *out, bool json);

#endif
