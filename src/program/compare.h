/* Compares two programs, operation by operation. It allocates only temporary tables. */
#ifndef STET_PROGRAM_COMPARE_H
#define STET_PROGRAM_COMPARE_H

#include "program/program.h"

enum stet_compare {
    STET_COMPARE_PLAIN = 0,
    /* Also compares locations, except those that MLIR's text cannot express: arguments of while,
     * and the operation inside "reduce … applies". */
    STET_COMPARE_LOCATIONS = 1,
    /* Ignores what a fingerprint's key ignores: the names of modules, functions, arguments and
     * results, and source positions in attributes. A symbol counts as the thing it refers to. */
    STET_COMPARE_NAMELESS = 2,
    /* Ignores the compile options in the text of an HLO module, which a proto does not contain. */
    STET_COMPARE_NO_OPTIONS = 4,
};

/* Does this attribute only name something for people? Fingerprints ignore the same attributes
 * (canon.def, NAMES). */
bool stet_attr_is_name(struct stet_view attr);

/* Compares names, operands, types, attributes (defaults.h) and regions, in order. Writes the first
 * difference to `why`, which may be NULL. */
bool stet_program_same(const struct stet_program *a, const struct stet_program *b, unsigned flags,
                       struct stet_err *why);

#endif
