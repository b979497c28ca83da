/* Attributes that say no more than their absence would. */
#ifndef STET_PROGRAM_DEFAULTS_H
#define STET_PROGRAM_DEFAULTS_H

#include "program/program.h"

/* Frameworks write default values out or leave them out as they please, VHLO always has them, and
 * MLIR drops them when it reads VHLO: one program, three lists of attributes. True when `attr` of
 * `op` has the value that its absence stands for. */
bool stet_attr_is_default(const struct stet_op *op, const struct stet_named_attr *attr);
/* Equal as far as the portable format can tell: VHLO has no channel type on collectives. */
bool stet_attr_same(const struct stet_op *op, const struct stet_named_attr *a,
                    const struct stet_named_attr *b);

/* For a test: bisection needs defaults.def in the order of ops.def. */
bool stet_defaults_in_order(void);
/* The operation's name, as far as the portable format can tell: VHLO has one return, which MLIR
 * reads as func.return directly in a function, whatever it was. */
struct stet_view stet_op_portable_name(const struct stet_op *op);

#endif
