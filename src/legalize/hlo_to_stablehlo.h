/* Converts HLO to StableHLO, for the CPU backend and for text that other compilers accept. It makes
 * a new program that borrows from the HLO program. */
#ifndef STET_LEGALIZE_HLO_TO_STABLEHLO_H
#define STET_LEGALIZE_HLO_TO_STABLEHLO_H

#include "program/program.h"

/* Creates a StableHLO program from an HLO one. Computations that reduce, sort, while … call become
 * regions; computations of `call` and `fusion` become private functions. No tuple remains: loops,
 * branches and calls take and return one value for each leaf. Donation, shardings, frontend
 * attributes and locations are kept. Layouts, control dependencies and schedules do not exist in
 * StableHLO and are dropped. `hlo` must outlive `out`. STET_UNSUPPORTED names an instruction
 * without a counterpart. On failure there is nothing to release. */
enum stet_rc stet_legalize_hlo(struct stet_program *out, const struct stet_program *hlo,
                               struct stet_err *err);

#endif
