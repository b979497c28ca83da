/* Attributes whose value is the default, so that they mean the same as their absence. */
#ifndef STET_PROGRAM_DEFAULTS_H
#define STET_PROGRAM_DEFAULTS_H

#include "program/program.h"

/* Frameworks may write default values or leave them out, VHLO always has them, and MLIR drops them
 * when it reads VHLO. One program thus has three lists of attributes. True if `attr` of `op` has
 * the value that its absence means. */
bool stet_attr_is_default(const struct stet_op *op, const struct stet_named_attr *attr);
/* Equal as far as the portable format can express: VHLO has no channel type on collectives. */
bool stet_attr_same(const struct stet_op *op, const struct stet_named_attr *a,
                    const struct stet_named_attr *b);

/* For a test: bisection needs defaults.def in the order of ops.def. */
bool stet_defaults_in_order(void);
/* The operation's name as far as the portable format can express it: VHLO has one return, which
 * MLIR reads as func.return if it is directly in a function. */
struct stet_view stet_op_portable_name(const struct stet_op *op);

#endif
