/* How long the choice of buckets takes for a million different sizes, and for as many shapes of two
 * dimensions as are grouped: sorting, merging, and the best set for each of 1 … 32 programs. */
#include "bench.h"

#include "buckets/buckets.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 1000000, ROUNDS = 5 };

static bool measure(const char *name, const struct stet_buckets_shape *shapes, uint32_t count,
                    unsigned rank, double limit)
{
    struct stet_buckets_wish wish = {.cost = stet_buckets_cost_model(false)};
    double took[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        struct stet_err err = STET_ERR_INIT;
        struct stet_buckets_curve c;
        double begin = bench_cpu_ns();

        if (stet_buckets_make(&c, shapes, count, rank, &wish, &err) != STET_OK ||
            c.shape_count != count) {
            fprintf(stderr, "%s\n", err.text);
            return false;
        }
        took[i] = (bench_cpu_ns() - begin) / 1e9;
        stet_buckets_release(&c);
    }
    bench_print(name, "s", bench_quantile(took, ROUNDS, 0.5), bench_quantile(took, ROUNDS, 0.1),
                bench_quantile(took, ROUNDS, 0.9), "", 0, limit);
    return true;
}

int main(void)
{
    struct stet_buckets_shape *shapes = calloc(SIZES, sizeof *shapes);
    uint64_t state = 1;
    bool fine;

    if (!shapes)
        return 1;
    /* Each size once, in a scattered order, with counts of their own. */
    for (uint32_t i = 0; i < SIZES; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        shapes[i].dims[0] = 1 + (int64_t)i * 618033 % SIZES;
        shapes[i].runs = 1 + (double)(state >> 56);
    }
    fine = measure("buckets.million_sizes", shapes, SIZES, 1, 1);
    for (uint32_t i = 0; i < STET_BUCKETS_SHAPES; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        shapes[i].dims[0] = 1 + (int64_t)(state >> 33 & 1023);
        shapes[i].dims[1] = 1 + i; /* so that no two are equal */
        shapes[i].runs = 1 + (double)(state >> 56);
    }
    fine = fine && measure("buckets.512_shapes", shapes, STET_BUCKETS_SHAPES, 2, 1);
    free(shapes);
    return !fine;
}
