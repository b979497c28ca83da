/* Internal to legalize: the state of a conversion, and what its files share. */
#ifndef STET_LEGALIZE_LEGAL_H
#define STET_LEGALIZE_LEGAL_H

#include "program/build.h"
#include "program/hlo.h"
#include "program/ops.h"

/* An HLO value as StableHLO values: one value, or the leaves of a tuple. */
struct stet_leaves {
    struct stet_value **at;
    uint32_t count;
};

enum { STET_LEGAL_ATTRS = 24, STET_LEGAL_CACHE = 512 };

struct stet_legal {
    const struct stet_program *hlo;
    struct stet_program *out;
    struct stet_arena *a;
    struct stet_err *err;
    struct stet_leaves *leaves;       /* by id of the HLO value */
    struct stet_build_list *ops;      /* of the block being made */
    struct stet_build_list functions; /* computations that are called, in order of first call */
    unsigned depth;                   /* of regions */
    enum stet_rc rc;                  /* the first failure */
    struct {
        const void *from;
        const void *to;
    } cache[STET_LEGAL_CACHE]; /* types and locations made before */
};

/* Collects the attributes of one operation. */
struct stet_attrs {
    struct stet_named_attr at[STET_LEGAL_ATTRS];
    uint32_t count;
};

/* Records the first failure, with the name of `op` if it is not NULL. */
void stet_legalize_fail(struct stet_legal *l, enum stet_rc rc, const struct stet_op *op,
                        const char *what);

/* ---- legal_type.c ---- */
const struct stet_type *stet_legalize_type(struct stet_legal *l, const struct stet_type *t);
uint32_t stet_legalize_leaf_count(const struct stet_type *t);
/* The leaf types of `t` in order, into `out`; returns how many. */
uint32_t stet_legalize_leaf_types(struct stet_legal *l, const struct stet_type *t,
                                  const struct stet_type **out);
const struct stet_loc *stet_legalize_loc(struct stet_legal *l, const struct stet_loc *loc);

/* ---- legal_make.c ---- */
/* A new attribute without a value; NULL when out of memory. */
struct stet_attr *stet_legalize_attr(struct stet_legal *l, enum stet_attr_kind kind);
void stet_legalize_put(struct stet_attrs *s, const char *name, const struct stet_attr *v);
const struct stet_attr *stet_legalize_int(struct stet_legal *l, int64_t v, uint32_t width);
const struct stet_attr *stet_legalize_bool(struct stet_legal *l, bool v);
const struct stet_attr *stet_legalize_string(struct stet_legal *l, struct stet_view v);
const struct stet_attr *stet_legalize_enum(struct stet_legal *l, const char *mnemonic,
                                           struct stet_view text);
/* array<iN: …> of these numbers, N bits wide; of 1 bit for truth values. */
const struct stet_attr *stet_legalize_dense(struct stet_legal *l, const int64_t *v, uint32_t n,
                                            uint32_t width);
/* array<i64: …> of an INTS attribute; NULL gives an empty one. */
const struct stet_attr *stet_legalize_array(struct stet_legal *l, const struct stet_attr *ints);
/* dense tensor<rows x columns x i64>. */
const struct stet_attr *stet_legalize_matrix(struct stet_legal *l, const int64_t *v, uint32_t rows,
                                             uint32_t columns);
/* #stablehlo.mnemonic<fields>; the fields are copied unchanged. */
const struct stet_attr *stet_legalize_record(struct stet_legal *l, const char *mnemonic,
                                             struct stet_named_attr *fields, uint32_t n);

/* ---- legal_attr.c ---- */
/* The attributes of the counterpart that do not depend on operands or regions. */
void stet_legalize_attrs(struct stet_legal *l, const struct stet_op *op, struct stet_attrs *out);

/* ---- legal_group.c ---- */
/* tensor<lists x longest x i64> of an ARRAY of INTS, short ones filled with -1. */
const struct stet_attr *stet_legalize_lists(struct stet_legal *l, const struct stet_attr *lists);
void stet_legalize_collective(struct stet_legal *l, const struct stet_op *op,
                              struct stet_attrs *out);

/* ---- legal_dict.c ---- */
/* {a = 1 : i64, b = 1.5 : f64, c = "x", d = true, e = array<i64: 1, 2>}, as XLA writes the
 * attributes of a typed custom call; NULL for anything else. */
const struct stet_attr *stet_legalize_dictionary(struct stet_legal *l, struct stet_view text);

/* ---- legal_op.c ---- */
/* Appends an operation to the current block; returns its results, or NULL. */
struct stet_value *stet_legalize_emit(struct stet_legal *l, const char *name,
                                      const struct stet_op *from,
                                      struct stet_value *const *operands, uint32_t operand_count,
                                      const struct stet_type *const *types, uint32_t type_count,
                                      struct stet_attrs *attrs, struct stet_region *regions,
                                      uint16_t region_count);
/* Converts the instruction to operations of the current block and records its leaves. */
void stet_legalize_op(struct stet_legal *l, const struct stet_op *op);

/* ---- hlo_to_stablehlo.c ---- */
/* A region whose block has one argument for each leaf of the computation's parameters and ends with
 * `terminator`. With `bound`, parameter i is replaced by bound[i] and the block has no
 * arguments. */
bool stet_legalize_region(struct stet_legal *l, struct stet_region *out,
                          const struct stet_attr *callee, const struct stet_leaves *bound,
                          uint32_t bound_count, const char *terminator);

#endif
