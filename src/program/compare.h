/* Are two programs the same, operation by operation? */
#ifndef STET_PROGRAM_COMPARE_H
#define STET_PROGRAM_COMPARE_H

#include "program/program.h"

enum stet_compare {
    STET_COMPARE_PLAIN = 0,
    /* Locations too, but for those MLIR's text has no place for: arguments of while, and what
     * "reduce … applies" stands for. */
    STET_COMPARE_LOCATIONS = 1,
    /* Not what the module is called: nothing is compiled from it. */
    STET_COMPARE_NAMELESS = 2,
    /* Not what the text of an HLO module shows of its compile options, and a proto has no place
     * for. */
    STET_COMPARE_NO_OPTIONS = 4,
};

/* Names, operands, types, attributes (defaults.h), regions, in order. What came first in difference
 * is told in `why`, which may be NULL. */
bool stet_program_same(const struct stet_program *a, const struct stet_program *b, unsigned flags,
                       struct stet_err *why);

#endif
