/* How long the choice of buckets takes for a million different sizes: sorting, merging, and the
 * best set for each of 1 … 32 programs. */
#include "bench.h"

#include "buckets/buckets.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 1000000, ROUNDS = 5 };

int main(void)
{
    struct stet_buckets_wish wish = {.cost = stet_buckets_cost_model(false)};
    struct stet_buckets_shape *shapes = calloc(SIZES, sizeof *shapes);
    double took[ROUNDS];
    uint64_t state = 1;

    if (!shapes)
        return 1;
    /* Each size once, in a scattered order, with counts of their own. */
    for (uint32_t i = 0; i < SIZES; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        shapes[i].dims[0] = 1 + (int64_t)i * 618033 % SIZES;
        shapes[i].runs = 1 + (double)(state >> 56);
    }
    for (int i = 0; i < ROUNDS; i++) {
        struct stet_err err = STET_ERR_INIT;
        struct stet_buckets_curve c;
        double begin = bench_cpu_ns();

        if (stet_buckets_make(&c, shapes, SIZES, 1, &wish, &err) != STET_OK ||
            c.shape_count != SIZES) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        took[i] = (bench_cpu_ns() - begin) / 1e9;
        stet_buckets_release(&c);
    }
    bench_print("buckets.million_sizes", "s", bench_quantile(took, ROUNDS, 0.5),
                bench_quantile(took, ROUNDS, 0.1), bench_quantile(took, ROUNDS, 0.9), "", 0, 1);
    free(shapes);
    return 0;
}
