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

/* ---- several lanes: lower_lanes.c, lower_loops.c ---- */

/* Lowers l->op for all lanes: at once if they have the same operands, else one by one; operations
 * in which lanes meet get all of them. */
enum stet_rc stet_lower_lanes(struct stet_lower *l,
                              enum stet_rc (*lower)(struct stet_lower *l, int arg), int arg);
/* Continues with this lane's values. */
void stet_lower_to_lane(struct stet_lower *l, uint32_t lane);
struct stet_lowered *stet_lower_value_of(struct stet_lower *l, uint32_t lane,
                                         const struct stet_value *v);
/* Loops and branches in which lanes meet. */
enum stet_rc stet_lower_while_lanes(struct stet_lower *l);
enum stet_rc stet_lower_branches_lanes(struct stet_lower *l);
/* in: a list with operand i of each lane. out: sets result i of each lane from such a list. */
enum stet_rc stet_lower_in_lanes(struct stet_lower *l, uint32_t i, struct stet_gval **out);
enum stet_rc stet_lower_out_lanes(struct stet_lower *l, uint32_t i, struct stet_gval **v);
struct stet_gval **stet_lower_new_lanes(struct stet_lower *l);

/* ---- tiles: lower_tiles.c ---- */

/* Each lane's tile of its own value; the value that each lane's group of lanes has tiles of. */
enum stet_rc stet_lower_split(struct stet_lower *l, const struct stet_sharding *s,
                              struct stet_gval **whole, struct stet_gval **tiles);
enum stet_rc stet_lower_join(struct stet_lower *l, const struct stet_sharding *s,
                             const struct stet_shape *shape, struct stet_gval **tiles,
                             struct stet_gval **whole);
/* A sharding as the program writes it: an attribute of either language. */
enum stet_rc stet_lower_sharding(struct stet_lower *l, const struct stet_attr *a, uint32_t rank,
                                 struct stet_sharding *out);
/* A sharding for a result that the program names none for (lower_guess.c). */
enum stet_rc stet_lower_guess_sharding(struct stet_lower *l, const struct stet_value *v,
                                       uint32_t rank, struct stet_sharding *out);
/* The text of an attribute: of a string itself, else as it is printed. */
enum stet_rc stet_lower_attr_text(struct stet_lower *l, const struct stet_attr *a,
                                  struct stet_view *out);
/* The custom calls between whole arrays and tiles. */
enum stet_rc stet_lower_to_tiles(struct stet_lower *l);
enum stet_rc stet_lower_from_tiles(struct stet_lower *l);
bool stet_lower_is_border(const struct stet_op *op);

/* Copies each part to its place, `s->rank` numbers of `starts`; together they fill the result. */
struct stet_gval *stet_lower_paste(struct stet_lower *l, struct stet_gval **parts,
                                   const int64_t *starts, uint32_t count,
                                   const struct stet_shape *s);
struct stet_gval *stet_lower_part(struct stet_lower *l, struct stet_gval *v, const int64_t *start,
                                  const struct stet_shape *s);

/* ---- lower_flow.c ---- */

/* Shapes of a type: one, or a tuple's, flattened into `out` (room for `most`). `depth` is 0. */
enum stet_rc stet_lower_flat_shapes(struct stet_lower *l, const struct stet_type *t,
                                    struct stet_shape *out, uint32_t most, uint32_t *count,
                                    uint32_t depth);
/* A region's operations into a new block with `args` arguments of these shapes. */
struct stet_gblock *stet_lower_new_block(struct stet_lower *l, struct stet_gval **like,
                                         uint32_t args);
enum stet_rc stet_lower_bind_args(struct stet_lower *l, const struct stet_block *b,
                                  struct stet_gval **values, uint32_t count);
enum stet_rc stet_lower_bind_results(struct stet_lower *l, struct stet_gval **values,
                                     uint32_t count);
enum stet_rc stet_lower_flat_operands(struct stet_lower *l, uint32_t first, struct stet_gval ***out,
                                      uint32_t *count);
enum stet_rc stet_lower_block_ops(struct stet_lower *l, const struct stet_block *from);
enum stet_rc stet_lower_returned(struct stet_lower *l, const struct stet_block *from,
                                 struct stet_gval ***out, uint32_t *count);
enum stet_rc stet_lower_only_block(struct stet_lower *l, const struct stet_region *r,
                                   const struct stet_block **out);

/* Lowers the loop l->op turn by turn if that is better (lower_unroll.c). */
enum stet_rc stet_lower_unroll(struct stet_lower *l, struct stet_gval **in, uint32_t count,
                               bool *done);
enum stet_rc stet_lower_adopt_blocks(struct stet_lower *l, struct stet_gnode *n,
                                     struct stet_gblock **blocks, uint32_t count);
enum stet_rc stet_lower_shapes_of(struct stet_lower *l, struct stet_gval **v, uint32_t count,
                                  struct stet_shape **out);
/* The shape of each argument of a lane: its tile, or all of it for replicas. */
enum stet_rc stet_lower_argument_tiles(struct stet_lower *l, const struct stet_block *body,
                                       struct stet_shape *whole, struct stet_shape *tiles);
/* Sets the sharding of result `i`. */
enum stet_rc stet_lower_result_sharding(struct stet_lower *l, const struct stet_block *body,
                                        uint32_t i, uint32_t rank);
/* The entry function for all lanes. */
enum stet_rc stet_lower_program_lanes(struct stet_lower *l, struct stet_gblock **out);

struct stet_sort;
/* Checks whether the comparator orders by one operand's key (codegen.c). */
enum stet_rc stet_lower_sort_key(struct stet_lower *l, const struct stet_region *r,
                                 struct stet_sort *s);
enum stet_rc stet_lower_top_k_of(struct stet_lower *l, int64_t k, bool largest);
enum stet_rc stet_lower_approx_top_k(struct stet_lower *l);
/* A custom call of a function that a library registered in this process; `known` is false, and
 * nothing done, if there is none of that name. */
enum stet_rc stet_lower_ffi(struct stet_lower *l, struct stet_view name, bool *known);
/* XLA's custom calls LuDecomposition, Qr, ProductOfElementaryHouseholderReflectors and Eigh. */
enum stet_rc stet_lower_eigh(struct stet_lower *l);
enum stet_rc stet_lower_lu(struct stet_lower *l);
enum stet_rc stet_lower_qr(struct stet_lower *l);
enum stet_rc stet_lower_reflectors(struct stet_lower *l);
/* Quantized values are integers in memory, of this type (INVALID: a form that is not known).
 * Operations that compute with them get the numbers that they stand for: `lower` is called with
 * those, and its results are quantized. */
enum stet_dtype stet_lower_quant_dtype(const struct stet_type *element, bool expressed);
bool stet_lower_is_quantized(const struct stet_op *op);
enum stet_rc stet_lower_quantized(struct stet_lower *l,
                                  enum stet_rc (*lower)(struct stet_lower *l, int arg), int arg);
/* The same bytes with another shape; NULL when out of memory, with the error set. */
struct stet_gval *stet_lower_bits_as(struct stet_lower *l, struct stet_gval *a,
                                     const struct stet_shape *s);
/* Elements of 2 and 4 bits (lower_subbyte.c): an operation that uses the bits of its operand;
 * bitcast_convert from or to them; the elements of a constant, copied only where needed (NULL: no
 * memory). */
struct stet_gval *stet_lower_subbyte_bits(struct stet_lower *l, int op, struct stet_gval *a,
                                          struct stet_gval *b);
enum stet_rc stet_lower_subbyte_bitcast(struct stet_lower *l, struct stet_gval *a,
                                        const struct stet_shape *s);
const void *stet_lower_subbyte_constant(struct stet_lower *l, enum stet_dtype t,
                                        const void *elements, size_t bytes);
/* Is there a kernel for this tile operation on elements of `t`? */
bool stet_lower_has_kernel(int op, enum stet_dtype t);
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
