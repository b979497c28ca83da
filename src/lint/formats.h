/* Writes findings for other tools: JSON (schema stet.lint/1), GitHub annotations, SARIF. `stet lint
 * --format` selects one. The functions append to the caller's buffer. */
#ifndef STET_LINT_FORMATS_H
#define STET_LINT_FORMATS_H

#include "base/buf.h"
#include "lint/lint.h"

struct stet_lint_print {
    const struct stet_lint_result *result;
    size_t known, gone; /* of the baseline */
    bool statistics;
    bool colour;
    const char *run; /* the joined run; NULL without one */
};

void stet_lint_print_text(struct stet_buf *out, const struct stet_lint_print *p);
void stet_lint_print_json(struct stet_buf *out, const struct stet_lint_print *p);
void stet_lint_print_github(struct stet_buf *out, const struct stet_lint_print *p);
void stet_lint_print_sarif(struct stet_buf *out, const struct stet_lint_print *p);
/* "note", "warning", "error". */
const char *stet_lint_severity_name(unsigned severity);
/* Prints the rules themselves, as text or as stet.lint.rules/1. */
void stet_lint_print_rules(struct stet_buf *out, bool json);

#endif
