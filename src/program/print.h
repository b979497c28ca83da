/* Prints a program, its types and its attributes as MLIR text, exactly as MLIR does. Output goes to
 * the caller's buffer. */
#ifndef STET_PROGRAM_PRINT_H
#define STET_PROGRAM_PRINT_H

#include "base/buf.h"
#include "program/program.h"

/* The text that MLIR prints: "tensor<2x?xf32>", "#stablehlo.dot<...>", "loc(...)". `out->failed` is
 * set if memory ran out. */
void stet_print_type(struct stet_buf *out, const struct stet_type *t);
/* An integer, a float or an index: "ui8", "bf16", "index". */
void stet_print_scalar(struct stet_buf *out, const struct stet_type *t);
void stet_print_attr(struct stet_buf *out, const struct stet_attr *a);
void stet_print_loc(struct stet_buf *out, const struct stet_loc *loc);

struct stet_print_options {
    bool locations;
    bool elide_large; /* constants above 16 elements as "dense_resource<__elided__>", for people */
};

/* Prints the whole program in generic form, which every MLIR parser with its dialects accepts.
 * `options` may be NULL. STET_UNSUPPORTED if it contains an attribute or type of an unknown dialect
 * that has bytes and no text. */
enum stet_rc stet_print_program(struct stet_buf *out, const struct stet_program *p,
                                const struct stet_print_options *options, struct stet_err *err);

/* ---- shared among the printer's files ---- */

/* Quoted and escaped as MLIR does. */
void stet_print_string(struct stet_buf *out, struct stet_view s);
/* Bare where MLIR's grammar allows it, otherwise quoted. */
void stet_print_name(struct stet_buf *out, struct stet_view s);
/* "@name" or "@\"any thing\"". */
void stet_print_symbol(struct stet_buf *out, struct stet_view s);
/* The text of another dialect, which lacks "!dialect" if it starts with '.' or '<'. */
void stet_print_foreign(struct stet_buf *out, char mark, struct stet_view dialect,
                        struct stet_view text);
/* One float of `bytes` (little-endian), without its type. */
void stet_print_float(struct stet_buf *out, enum stet_float flavour, const char *bytes);
/* A whole number wider than 64 bits, little-endian two's complement. */
void stet_print_wide(struct stet_buf *out, struct stet_view bytes, bool is_signed);
/* What follows "#dialect" for a RECORD. */
void stet_print_record(struct stet_buf *out, const struct stet_attr *a);

#endif
