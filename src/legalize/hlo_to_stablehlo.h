/* HLO brought over to StableHLO: for the CPU backend, and for text that other compilers accept. */
#ifndef STET_LEGALIZE_HLO_TO_STABLEHLO_H
#define STET_LEGALIZE_HLO_TO_STABLEHLO_H

#include "program/program.h"

/* Makes a StableHLO program of an HLO one: computations that reduce, sort, loop … call become
 * regions, those of `call` and `fusion` become private functions, and no tuple is left (loops,
 * branches and calls take and give as many values as their tuples have leaves). Donation,
 * shardings, frontend attributes and locations come along; layouts, control dependencies and
 * schedules have no place in StableHLO and are dropped. `hlo` must outlive `out`. STET_UNSUPPORTED
 * names the instruction that has no counterpart. On failure nothing is left to release. */
enum stet_rc stet_hlo_to_stablehlo(struct stet_program *out, const struct stet_program *hlo,
                                   struct stet_err *err);

#endif
