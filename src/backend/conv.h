/* What the ways to compute a convolution share. */
#ifndef STET_BACKEND_CONV_H
#define STET_BACKEND_CONV_H

#include "backend/gemm.h"
#include "backend/params.h"

/* Positions of the result whose windows have the same taps in a dilated input: the others fall
 * between its elements. Position j is number first + j * every of the result; tap k is number
 * tap[k] of the window and reads element at[k] + j * step of the input. */
struct stet_conv_grid {
    int64_t first[STET_MAX_SPATIAL], every[STET_MAX_SPATIAL], count[STET_MAX_SPATIAL];
    int64_t step[STET_MAX_SPATIAL], taps[STET_MAX_SPATIAL];
    const int64_t *at[STET_MAX_SPATIAL], *tap[STET_MAX_SPATIAL];
    int64_t positions, all_taps;
};

/* How many grids there are, and one of them; `lists` has two numbers for each tap of each
 * dimension. */
int64_t stet_conv_phases(const struct stet_conv *c);
void stet_conv_grid(const struct stet_conv *c, int64_t phase, int64_t *lists,
                    struct stet_conv_grid *g);

void stet_conv_swapped(const struct stet_conv *c, void *const *bufs, struct stet_pool *pool);
void stet_conv_channels(const struct stet_conv *c, void *const *bufs, struct stet_pool *pool);

#endif
