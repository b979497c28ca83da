/* Prints a fit for people. */
#ifndef STET_CLI_FIT_TEXT_H
#define STET_CLI_FIT_TEXT_H

#include "fit/fit_search.h"

/* `all`: every program, not only the largest. */
void stet_cli_fit_text(struct stet_buf *out, const struct stet_fit *fit, bool all, bool colour);
/* "exceeds by 3.2 GB", in one line. */
void stet_cli_fit_line(struct stet_buf *out, const struct stet_fit *fit);
/* "batch=64: fits: 12.1 GB of 31.2 GB", as a line. */
void stet_cli_fit_try(struct stet_buf *out, const struct stet_fit_search *s,
                      const struct stet_fit_try *t);
/* The tries as a table, and the fit of the value that was found; `fit` may be NULL. */
void stet_cli_fit_search_text(struct stet_buf *out, const struct stet_fit_search *s,
                              const struct stet_fit *fit, bool all, bool colour);
/* stet.fitsearch/1 */
void stet_cli_fit_search_json(struct stet_buf *out, const struct stet_fit_search *s,
                              const struct stet_fit *fit);

#endif
