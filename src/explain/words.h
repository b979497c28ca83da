/* Prints types, attributes and constants as short text for people. */
#ifndef STET_EXPLAIN_WORDS_H
#define STET_EXPLAIN_WORDS_H

#include "base/buf.h"
#include "program/program.h"

/* "f32[4,8]", "bf16[]", "(f32[2], i32[])". */
void stet_words_type(struct stet_buf *out, const struct stet_type *t);
/* "f32", "i8", "c64"… of the element. */
void stet_words_dtype(struct stet_buf *out, const struct stet_type *t);
/* One line, truncated after some hundred bytes. */
void stet_words_attr(struct stet_buf *out, const struct stet_attr *a);
/* Without the dialect: "multiply". */
struct stet_view stet_words_mnemonic(const struct stet_op *op);

#endif
