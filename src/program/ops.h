/* The operations that this build knows by name, and what later stages may assume about them. Names
 * and facts are in ops.def. */
#ifndef STET_PROGRAM_OPS_H
#define STET_PROGRAM_OPS_H

#include "program/program.h"

enum stet_known_op {
    STET_OP_UNKNOWN = 0,
#define OP(identifier, name, facts) STET_##identifier,
#include "program/ops.def"
#undef OP
    STET_KNOWN_OPS
};

enum stet_op_fact {
    STET_OP_NONE = 0,
    STET_OP_PURE = 1 << 0,        /* no effect: may be reordered, merged, dropped */
    STET_OP_RECURSIVE = 1 << 1,   /* as pure as the operations in its regions */
    STET_OP_EFFECT = 1 << 2,      /* never reorder */
    STET_OP_ASK = 1 << 3,         /* custom_call: has_side_effect decides */
    STET_OP_COLLECTIVE = 1 << 4,  /* devices meet there */
    STET_OP_COMMUTATIVE = 1 << 5, /* its two operands may be swapped */
    STET_OP_ELEMENTWISE = 1 << 6,
    STET_OP_TERMINATOR = 1 << 7,
    STET_OP_FUNCTION = 1 << 8, /* defines a function: sym_name, function_type, one region */
    STET_OP_CALL = 1 << 9,     /* runs a function by symbol */
};

/* STET_OP_UNKNOWN if this build does not know the name. */
enum stet_known_op stet_known_op(struct stet_view name);
const char *stet_known_op_name(enum stet_known_op op);
struct stet_view stet_known_op_view(uint32_t op);
/* Facts of an operation (bits of enum stet_op_fact); an unknown one has STET_OP_EFFECT. */
unsigned stet_known_op_facts(enum stet_known_op op);
unsigned stet_op_facts(const struct stet_op *op);
/* May `op` be dropped if unused, and moved among independent neighbours? Checks has_side_effect and
 * regions. */
bool stet_op_is_pure(const struct stet_op *op);

#endif
