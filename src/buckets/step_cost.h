/* What a step costs by its size: fixed + linear × e + square × e², where e is the number of
 * elements, the product of the dimensions that vary. No part is negative, so a larger step never
 * costs less. */
#ifndef STET_BUCKETS_STEP_COST_H
#define STET_BUCKETS_STEP_COST_H

#include <stdbool.h>
#include <stdint.h>

struct stet_buckets_cost {
    double fixed, linear, square;
    double program; /* waiting for one more program, in the same unit */
    bool seconds;   /* otherwise elements, and `program` is 0 */
    double error;   /* of a fit: root mean square, relative to the measured times */
};

/* The median time of steps with this many elements. */
struct stet_buckets_time {
    double elements, seconds, weight;
};

static inline double stet_buckets_step_cost(const struct stet_buckets_cost *c, double elements)
{
    return c->fixed + (c->linear + c->square * elements) * elements;
}

/* A step costs as many units as it has elements; or elements squared. */
struct stet_buckets_cost stet_buckets_cost_model(bool square);
/* Fits the three parts by least squares, relative to the measured times. Needs two different sizes,
 * and four for the square. False if there are fewer. Leaves `program` alone. */
bool stet_buckets_cost_fit(struct stet_buckets_cost *c, const struct stet_buckets_time *times,
                           uint32_t count);

#endif
