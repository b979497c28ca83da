/* What generating code takes, by line. libtpu cuts an optimized program into fragments, mostly one
 * for each fused operation, and generates the code of each by itself. A child measures them one by
 * one; afterwards their times go to the lines of the instructions that they were made from. */
#ifndef STET_FIT_FIT_FRAGMENTS_H
#define STET_FIT_FIT_FRAGMENTS_H

#include "fit/fit.h"
#include "fit/fit_phases.h"

/* In a child: generates the code of each fragment among the results of the first phase, and keeps
 * the times in the file of program `number`. A fragment that fails is left out. */
void stet_fit_fragments_measure(const struct stet_fit_phases *p, const struct stet_fit_partials *in,
                                struct stet_view options, const char *folder, size_t number);
/* Fills the program's costs, if they were measured. */
enum stet_rc stet_fit_fragments_read(struct stet_fit *fit, struct stet_fit_program *p,
                                     size_t number, struct stet_err *err);

#endif
