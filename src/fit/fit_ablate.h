/* Writes programs from which operations are left out, to measure what compiling these takes. The
 * results of an operation that is left out become arguments of the program, and values that only
 * such operations read become results, so everything else is compiled as it was. */
#ifndef STET_FIT_FIT_ABLATE_H
#define STET_FIT_FIT_ABLATE_H

#include "base/buf.h"
#include "program/program.h"

/* StableHLO as text. `left_out` has a mark for each operation by its id; it counts for operations
 * of the entry function itself. Operations whose values cannot be arguments, such as tokens, stay.
 * STET_UNSUPPORTED if the program is not StableHLO. */
enum stet_rc stet_fit_ablate(struct stet_buf *out, const struct stet_program *p,
                             const uint8_t *left_out, struct stet_err *err);

#endif
