/* Shared by the files that print HLO. */
#ifndef STET_PROGRAM_PRINT_HLO_H
#define STET_PROGRAM_PRINT_HLO_H

#include "base/buf.h"
#include "program/hlo.h"

/* "[2,?,<=8]" of a type that has dims. */
void stet_print_dims(struct stet_buf *out, const struct stet_type *t);
/* DENSE, or ARRAY of them for a tuple; on one line, optionally with the shape before it. */
void stet_print_hlo_literal(struct stet_buf *out, const struct stet_attr *a, bool shape);
/* Only the value, by its form. Control predecessors and metadata are not values. */
void stet_print_hlo_attr(struct stet_buf *out, enum stet_hlo_form form, const struct stet_attr *a,
                         bool percent);
/* ", name=value" of an attribute that is stored in parts, if the operation has it; false if `which`
 * is not one of those. */
bool stet_print_hlo_parts(struct stet_buf *out, enum stet_hlo_attr which, const struct stet_op *op);
/* {dictionary of strings} */
void stet_print_hlo_strings(struct stet_buf *out, const struct stet_attr *dict);
/* With backslash escapes as absl::CEscape writes them, no quotes. */
void stet_print_hlo_escaped(struct stet_buf *out, struct stet_view text);

#endif
