/* Shared by the table of short forms (mlir_form.c) and the parts of them that need code. */
#ifndef STET_DECODE_MLIR_FORM_H
#define STET_DECODE_MLIR_FORM_H

#include "decode/mlir/mlir_text.h"

/* A row of mlir_forms.def. */
void stet_mlir_read_form(struct mlir *p, struct mlir_op *o, const char *form);
/* "@slice" and so on (mlir_parts.c). */
void stet_mlir_form_part(struct mlir *p, struct mlir_op *o, struct stet_view word);

/* "@fragment" (mlir_mpmd.c). */
mlir_form_code stet_mlir_mpmd_fragment;

/* Whole forms (mlir_custom.c): everything after the name. */
mlir_form_code stet_mlir_module, stet_mlir_func, stet_mlir_constant, stet_mlir_reduce,
    stet_mlir_while, stet_mlir_scan, stet_mlir_branch;

#endif
