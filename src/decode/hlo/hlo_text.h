/* Internal to the HLO text reader: a cursor over the text, and what its files share. */
#ifndef STET_DECODE_HLO_TEXT_H
#define STET_DECODE_HLO_TEXT_H

#include "base/buf.h"
#include "decode/hlo/hlo_build.h"
#include "decode/proto.h"

/* The first failure sticks: every later read finds nothing and returns zero, and loops end. */
struct stet_hlo_text {
    struct stet_hlo_build b;
    struct stet_view src;
    size_t at;
    bool failed;
    unsigned depth; /* of nested shapes and computations */
};

enum { STET_HLO_TEXT_DEPTH = 64 };

/* ---- cursor (hlo_lex.c) ---- */

/* Records "line L column C: what" at the cursor, or at `at`. */
void stet_decode_hlo_text_fail(struct stet_hlo_text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void stet_decode_hlo_text_fail_at(struct stet_hlo_text *t, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A failure of the builder, reported in the same way: `own` has an offset and a text that starts
 * with "HLO: ". */
enum stet_rc stet_decode_hlo_text_retell(const struct stet_hlo_text *t, const struct stet_err *own,
                                         struct stet_err *err);
/* Skips white space and comments. */
void stet_decode_hlo_skip(struct stet_hlo_text *t);
/* The next byte after white space, 0 at the end. */
char stet_hlo_peek(struct stet_hlo_text *t);
/* Takes `literal` if it is next (after white space). */
bool stet_hlo_take(struct stet_hlo_text *t, const char *literal);
void stet_hlo_expect(struct stet_hlo_text *t, const char *literal);
/* Letters, digits, '_', '.', '-'; fails if there is none. */
struct stet_view stet_hlo_word(struct stet_hlo_text *t);
/* The next word, without taking it. */
struct stet_view stet_hlo_next_word(struct stet_hlo_text *t);
/* A word with an optional '%' before it. */
struct stet_view stet_hlo_name(struct stet_hlo_text *t);
int64_t stet_hlo_int(struct stet_hlo_text *t);
bool stet_hlo_bool(struct stet_hlo_text *t);
/* "text", with escapes removed. */
struct stet_view stet_decode_hlo_string(struct stet_hlo_text *t);
/* {…} with strings and braces balanced; returns the inside unchanged. */
struct stet_view stet_decode_hlo_braces(struct stet_hlo_text *t);
/* Up to the ',' or the line end that ends an attribute. */
struct stet_view stet_decode_hlo_raw(struct stet_hlo_text *t);
/* {1,2,3} */
struct stet_ints stet_decode_hlo_int_list(struct stet_hlo_text *t);
struct stet_ints stet_decode_hlo_bool_list(struct stet_hlo_text *t); /* {true,false} as 1 and 0 */
/* Reads items with `item`, separated by commas, in braces; an ARRAY (hlo_text_attr.c). */
const struct stet_attr *
stet_decode_hlo_list(struct stet_hlo_text *t,
                     const struct stet_attr *(*item)(struct stet_hlo_text *t));

/* { instructions } in place of the name of a computation, as in XLA's canonical form; returns its
 * new name (hlo_text.c). The '{' is next. */
const struct stet_attr *stet_decode_hlo_text_nested(struct stet_hlo_text *t);

/* ---- instructions (hlo_text_instr.c) ---- */

/* Reads one instruction and adds it to the computation. */
void stet_decode_hlo_text_instruction(struct stet_hlo_text *t);

/* ---- shapes and literals (hlo_text_value.c) ---- */

const struct stet_type *stet_decode_hlo_text_shape(struct stet_hlo_text *t);
/* Shapes in parentheses, separated by commas. */
void stet_decode_hlo_text_shapes(struct stet_hlo_text *t, struct stet_build_list *out);
const struct stet_attr *stet_decode_hlo_text_literal(struct stet_hlo_text *t,
                                                     const struct stet_type *type);

/* ---- attributes (hlo_text_attr.c) ---- */

/* The value of an attribute by its form; NULL if it is a default (false) or on failure. */
const struct stet_attr *stet_decode_hlo_text_attr(struct stet_hlo_text *t,
                                                  enum stet_hlo_attr which);
const struct stet_attr *stet_decode_hlo_text_strings(struct stet_hlo_text *t);
const struct stet_loc *stet_decode_hlo_text_metadata(struct stet_hlo_text *t);
/* {a=1 b="x"}: the tables of frames; -1 for a name that is absent. */
int64_t stet_decode_hlo_text_field(struct stet_hlo_text *t, const char *name);

#endif
