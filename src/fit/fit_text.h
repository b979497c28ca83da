/* Prints a fit for people. The first lines are the verdict: whether it fits, by how much, which
 * line takes most, and what to do. */
#ifndef STET_FIT_FIT_TEXT_H
#define STET_FIT_FIT_TEXT_H

#include "fit/fit_search.h"

/* `all`: every program, not only the largest. */
void stet_fit_text(struct stet_buf *out, const struct stet_fit *fit, bool all, bool colour);
/* "stet: batch=64: fits, 12.1 GB", as a line. */
void stet_fit_try_text(struct stet_buf *out, const struct stet_fit_search *s,
                       const struct stet_fit_try *t);
/* The tries as a table, and the fit of the value that was found; `fit` may be NULL. */
void stet_fit_search_text(struct stet_buf *out, const struct stet_fit_search *s,
                          const struct stet_fit *fit, bool all, bool colour);

/* ---- shared by the files of this module ---- */

/* Numbers, aligned to the right in `width` columns; 0 for no alignment. */
void stet_fit_text_bytes(struct stet_buf *out, uint64_t bytes, int width);
void stet_fit_text_seconds(struct stet_buf *out, double s, int width);
/* Compile time by line, and what repeated blocks cost. */
void stet_fit_text_costs(struct stet_buf *out, const struct stet_fit *fit);
/* "  train.py:22", or "  no line". */
void stet_fit_text_place(struct stet_buf *out, struct stet_view file, uint32_t line);
/* The last part of "jit(step)/jvp()/dot_general", or the opcode. */
struct stet_view stet_fit_text_operation(struct stet_view op_name, struct stet_view opcode);

#endif
