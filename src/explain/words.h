/* Writes types, attributes, constants and changes as short text. Printed rows and messages use it.
 * The functions append to the caller's buffer. */
#ifndef STET_EXPLAIN_WORDS_H
#define STET_EXPLAIN_WORDS_H

#include "base/buf.h"
#include "explain/diff.h"

/* "f32[4,8]", "bf16[]", "(f32[2], i32[])". */
void stet_words_type(struct stet_buf *out, const struct stet_type *t);
/* "f32", "i8", "c64"… of the element. */
void stet_words_dtype(struct stet_buf *out, const struct stet_type *t);
/* One line, truncated after some hundred bytes. */
void stet_words_attr(struct stet_buf *out, const struct stet_attr *a);
/* Room for the words of a change; names that are longer are cut. */
enum { STET_WORDS_MOST = 512 };

/* Writes the subject of a change to `room`: "argument batch['x'] dimension 0", "constant in
 * multiply". */
struct stet_view stet_words_subject(char room[STET_WORDS_MOST], enum stet_change_kind kind,
                                    const struct stet_change_subject *of);
/* Appends the name that frameworks use: "float32", "uint8", "bool_". False when it has none. */
bool stet_words_element(struct stet_buf *out, const struct stet_change_element *e);
/* Without the dialect: "multiply". */
struct stet_view stet_words_mnemonic(const struct stet_op *op);

#endif
