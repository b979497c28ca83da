/* Corrects pairs of operations by their operands. match.c calls it after each block. It changes the
 * tables of both sides. */
#ifndef STET_EXPLAIN_MATCH_REPAIR_H
#define STET_EXPLAIN_MATCH_REPAIR_H

#include "explain/match.h"

/* False when out of memory. */
bool stet_match_repair(struct stet_side *a, const struct stet_block *in_a, struct stet_side *b,
                       const struct stet_block *in_b, bool same_lines);

#endif
