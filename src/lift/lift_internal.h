/* Shared among the files of this module. */
#ifndef STET_LIFT_LIFT_INTERNAL_H
#define STET_LIFT_LIFT_INTERNAL_H

#include "lift/lift.h"
#include "program/ops.h"

static inline bool stet_lift_is_constant(const struct stet_op *op)
{
    return op && op->known == STET_STABLEHLO_CONSTANT && op->operand_count == 0 &&
           op->result_count == 1;
}

/* The constant that an operand is; NULL if it is something else. */
static inline const struct stet_op *stet_lift_constant_of(const struct stet_op *op, uint32_t i)
{
    const struct stet_op *def = stet_value_def(stet_op_operand(op, i));

    return stet_lift_is_constant(def) ? def : NULL;
}

/* May this use be an argument? Looks at the operation, and at the regions around it. */
enum stet_rc stet_lift_allows(const struct stet_lift_use *use, struct stet_err *err);
/* Would a compiler that knows the uses of a plan convert a float among them to an integer, or what
 * it computes from them? If that is not known, yes. */
bool stet_lift_becomes_integer(const struct stet_lift_match *m, const uint8_t *argument_of);

static inline bool stet_lift_names_function(const struct stet_op *op)
{
    return op->known == STET_FUNC_CALL || op->known == STET_STABLEHLO_COMPOSITE;
}

/* The function that contains an operation: its place among the program's functions. */
uint32_t stet_lift_function_of(const struct stet_program *p, const struct stet_op *op);
/* The function that a call names, or a composite as its decomposition: its place, or
 * UINT32_MAX. */
uint32_t stet_lift_callee(const struct stet_program *p, const struct stet_op *call);

/* Bit a of masks[f]: function f, or one that it calls, reads argument a. One mask for each function
 * of the base. NULL if the arena is full. */
uint64_t *stet_lift_masks(const struct stet_program *base, const struct stet_lift_match *m,
                          const struct stet_lift_plan *plan, struct stet_arena *arena);

/* Does the slice or the pad have the simple form that a dynamic start can replace? */
bool stet_lift_is_plain_slice(const struct stet_op *op);
bool stet_lift_is_plain_pad(const struct stet_op *op);
/* Number `i` of a list of int64; 0 outside. */
int64_t stet_lift_int_at(const struct stet_attr *list, uint32_t i);

/* ---- several devices (lift_spmd.c) ---- */

enum stet_lift_language { STET_LIFT_UNSHARDED, STET_LIFT_SHARDY, STET_LIFT_HLO };

struct stet_lift_spmd {
    uint32_t devices;                 /* replicas and partitions of the program */
    enum stet_lift_language language; /* in which an argument is said to be whole everywhere */
    struct stet_view mesh;            /* Shardy's first; borrowed from the program */
};

/* STET_REFUSED if the program's shardings leave a doubt. */
enum stet_rc stet_lift_spmd_read(struct stet_lift_spmd *out, const struct stet_program *p,
                                 struct stet_err *err);
/* The dictionary of a lifted argument of the entry. NULL if the arena is full. */
const struct stet_attr *stet_lift_spmd_dict(struct stet_arena *a, const struct stet_lift_spmd *s,
                                            const struct stet_type *type);
/* The in_shardings of the manual computation `region`, with `n` whole arguments more, or such a
 * list with `n` arguments less. NULL if it cannot be. */
const struct stet_attr *stet_lift_spmd_more(struct stet_arena *a, const struct stet_op *region,
                                            const struct stet_type *const *types, uint32_t n);
const struct stet_attr *stet_lift_spmd_fewer(struct stet_arena *a,
                                             const struct stet_attr *per_value, uint32_t n);
/* XLA's custom calls: one that only constrains a sharding, and one through which a value enters a
 * region in which each device computes by itself. */
bool stet_lift_spmd_is_constraint(const struct stet_op *op);
bool stet_lift_spmd_is_entry(const struct stet_op *op);
/* The custom call through which the operands of this call enter its function; NULL if they do not
 * enter such a region here. */
const struct stet_op *stet_lift_spmd_entry_of(const struct stet_op *call);

/* A block whose arguments are given from outside: nothing else is seen in it. */
static inline bool stet_lift_is_closed(const struct stet_op *op)
{
    return op->known == STET_FUNC_FUNC || op->known == STET_SDY_MANUAL_COMPUTATION;
}

/* The lifted program, in the arena of `out`; borrows from the base. */
enum stet_rc stet_lift_apply(struct stet_program *out, const struct stet_program *base,
                             const struct stet_lift_match *m, const struct stet_lift_plan *plan,
                             const uint64_t *masks, struct stet_err *err);
/* The inverse: the program that `lifted` is with these values; borrows from `lifted` and from the
 * values. */
enum stet_rc stet_lift_undo(struct stet_program *out, const struct stet_program *lifted,
                            const struct stet_lift_plan *plan, const uint64_t *masks,
                            const struct stet_lift_value *values, struct stet_err *err);

#endif
