/* Aligns two sequences of tokens: finds which correspond to each other, in order. The matcher uses
 * it for operations and arguments. The caller owns the arrays. */
#ifndef STET_EXPLAIN_LCS_H
#define STET_EXPLAIN_LCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STET_LCS_NONE UINT32_MAX

/* pair[i] becomes the index in b that a[i] corresponds to, or STET_LCS_NONE; pairs never cross.
 * Exact (a longest common subsequence) for few differences, near-linear and good for many. False
 * when out of memory; `pair` is then undefined. */
bool stet_lcs(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count,
              uint32_t *pair);

#endif
