/* Copies a program, operation by operation, with a function that may replace single ones. Types,
 * attributes and locations are shared with the original. */
#ifndef STET_LIFT_LIFT_COPY_H
#define STET_LIFT_LIFT_COPY_H

#include "program/build.h"

/* A copy in progress. Allocates in `arena`; its `failed` is checked at the end. */
struct stet_lift_copy {
    struct stet_arena *arena;
    const struct stet_program *from;
    struct stet_value **values;  /* by value id of the original: the copy */
    struct stet_build_list *ops; /* of the block in progress */
    uint32_t function;           /* in progress: its place among the original's functions */
    /* Creates what replaces `op`; false if the operation is copied as it is. */
    bool (*replace)(struct stet_lift_copy *c, const struct stet_op *op);
    /* Creates the arguments of a function's or a manual computation's block, whose copy is
     * `to`. */
    void (*arguments)(struct stet_lift_copy *c, const struct stet_block *from,
                      struct stet_block *to);
    void *context;
};

enum stet_rc stet_lift_copy_program(struct stet_program *out, struct stet_lift_copy *c,
                                    struct stet_err *err);

/* Copies `op` with these operands and attributes. */
struct stet_op *stet_lift_copy_op(struct stet_lift_copy *c, const struct stet_op *op,
                                  struct stet_value *const *operands, uint32_t operand_count,
                                  const struct stet_named_attr *attrs, uint32_t attr_count);
/* A new operation in the block in progress. */
struct stet_op *stet_lift_copy_new(struct stet_lift_copy *c, uint32_t known,
                                   const struct stet_type *type, struct stet_value *const *operands,
                                   uint32_t operand_count, const struct stet_named_attr *attrs,
                                   uint32_t attr_count);
/* Its value is the copy of `result`. */
void stet_lift_copy_stands(struct stet_lift_copy *c, const struct stet_value *result,
                           struct stet_op *made);
/* The mapped operands of `op`, with room for `more`. */
struct stet_value **stet_lift_copy_operands(struct stet_lift_copy *c, const struct stet_op *op,
                                            uint32_t more);
/* A new constant in the block in progress. */
struct stet_value *stet_lift_copy_constant(struct stet_lift_copy *c, const struct stet_type *type,
                                           struct stet_view bytes, bool splat);
/* One attribute: a list of int64. */
struct stet_named_attr stet_lift_copy_ints(struct stet_lift_copy *c, struct stet_view name,
                                           const int64_t *v, uint32_t n);
/* Arguments `from->args[0 .. count)` and `more` of the given types after them. */
void stet_lift_copy_arguments(struct stet_lift_copy *c, const struct stet_block *from,
                              struct stet_block *to, uint32_t count,
                              const struct stet_type *const *more, uint32_t more_count);

#endif
