/* The functions of ops.def, and what they share. Each function lowers l->op into l->block; `arg` is
 * the last column of its line. Failures are reported through l->err. */
#ifndef STET_BACKEND_LOWER_H
#define STET_BACKEND_LOWER_H

#include "backend/graph.h"

enum stet_rc stet_lower_bind(struct stet_lower *l, const struct stet_value *v,
                             struct stet_gval **parts, uint32_t count);

/* Defined, and in a block around l->block. */
bool stet_lower_visible(const struct stet_lower *l, const struct stet_lowered *v);

#define LOWER(op, function, arg) enum stet_rc stet_lower_##function(struct stet_lower *l, int arg_);
#include "backend/ops.def"
#undef LOWER

struct stet_sort;
/* Checks whether the comparator orders by one operand's key (codegen.c). */
enum stet_rc stet_lower_sort_key(struct stet_lower *l, const struct stet_region *r,
                                 struct stet_sort *s);
enum stet_rc stet_lower_top_k_of(struct stet_lower *l, int64_t k, bool largest);
enum stet_rc stet_lower_approx_top_k(struct stet_lower *l);
/* XLA's custom calls LuDecomposition, Qr, ProductOfElementaryHouseholderReflectors and Eigh. */
enum stet_rc stet_lower_eigh(struct stet_lower *l);
enum stet_rc stet_lower_lu(struct stet_lower *l);
enum stet_rc stet_lower_qr(struct stet_lower *l);
enum stet_rc stet_lower_reflectors(struct stet_lower *l);
/* The same bytes with another shape; NULL when out of memory, with the error set. */
struct stet_gval *stet_lower_bits_as(struct stet_lower *l, struct stet_gval *a,
                                     const struct stet_shape *s);
/* 4-bit integers (lower_nibble.c): an operation that uses the bits of its operand; bitcast_convert
 * from or to them; the elements of a constant, copied only where needed (NULL: no memory); a value
 * from the host at run time, of any type. */
struct stet_gval *stet_lower_from_host(struct stet_lower *l, struct stet_gval *v);
struct stet_gval *stet_lower_nibble_bits(struct stet_lower *l, int op, struct stet_gval *a,
                                         struct stet_gval *b);
enum stet_rc stet_lower_nibble_bitcast(struct stet_lower *l, struct stet_gval *a,
                                       const struct stet_shape *s);
const void *stet_lower_nibbles(struct stet_lower *l, enum stet_dtype t, const void *elements,
                               size_t bytes);
/* Sum over the flagged dimensions. */
struct stet_gval *stet_lower_sum(struct stet_lower *l, struct stet_gval *a, const bool *reduced);

/* Returns from the calling function with the error. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum stet_rc rc_ = (call);                                                                 \
        if (rc_ != STET_OK)                                                                        \
            return rc_;                                                                            \
    } while (0)
/* Operand i into `v`, or returns with the error. */
#define OPERAND(v, i)                                                                              \
    do {                                                                                           \
        if (!((v) = stet_lower_in(l, (i))))                                                        \
            return l->err && l->err->rc != STET_OK ? l->err->rc : STET_BAD_INPUT;                  \
    } while (0)
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return stet_lower_fail(l, STET_BAD_INPUT, __VA_ARGS__);                                \
    } while (0)

#endif
