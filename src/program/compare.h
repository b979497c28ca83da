/* Are two programs the same, operation by operation? */
#ifndef STET_PROGRAM_COMPARE_H
#define STET_PROGRAM_COMPARE_H

#include "program/program.h"

enum stet_compare {
    STET_COMPARE_PLAIN = 0,
    /* Locations too, but for those MLIR's text has no place for: arguments of while, and what
     * "reduce … applies" stands for. */
    STET_COMPARE_LOCATIONS = 1,
    /* As a fingerprint's key does it: not what modules, functions, arguments and results are
     * called, nor where attributes say that they came from. A symbol is what it stands for. */
    STET_COMPARE_NAMELESS = 2,
    /* Not what the text of an HLO module shows of its compile options, and a proto has no place
     * for. */
    STET_COMPARE_NO_OPTIONS = 4,
};

/* Does this attribute only name something for people? Fingerprints leave out the same
 * (canon.def, NAMES). */
bool stet_attr_is_name(struct stet_view attr);

/* Names, operands, types, attributes (defaults.h), regions, in order. What came first in difference
 * is told in `why`, which may be NULL. */
bool stet_program_same(const struct stet_program *a, const struct stet_program *b, unsigned flags,
                       struct stet_err *why);

#endif
