/* In several dimensions the best set is hard to find (it contains the problem of covering points
 * with few boxes). Buckets are merged two by two, always the pair that costs least, from a bucket
 * per shape down to one. Each set on the way is then improved: every shape moves to the cheapest
 * bucket that holds it, and every bucket shrinks to what it holds. bounds.c proves how far from the
 * best the result can be. */
#include "buckets/several.h"

#include "base/mem.h"

#include <math.h>

struct box {
    int64_t dims[STET_BUCKETS_RANK];
    double runs, price;
    uint32_t partner; /* the box behind it with which it merges at the least cost */
    double added;     /* that cost */
};

static double price_of(const struct stet_buckets_curve *c, const int64_t *dims)
{
    double e = 1;

    for (unsigned d = 0; d < c->rank; d++)
        e *= (double)dims[d];
    return stet_buckets_step_cost(&c->cost, e);
}

static struct box join(const struct stet_buckets_curve *c, const struct box *a, const struct box *b)
{
    struct box both = {.runs = a->runs + b->runs};

    for (unsigned d = 0; d < STET_BUCKETS_RANK; d++)
        both.dims[d] = a->dims[d] > b->dims[d] ? a->dims[d] : b->dims[d];
    both.price = price_of(c, both.dims);
    return both;
}

static double cost_of_joining(const struct stet_buckets_curve *c, const struct box *a,
                              const struct box *b)
{
    struct box both = join(c, a, b);

    return both.runs * both.price - a->runs * a->price - b->runs * b->price;
}

static void find_partner(const struct stet_buckets_curve *c, struct box *boxes, uint32_t i,
                         uint32_t count)
{
    boxes[i].added = INFINITY;
    boxes[i].partner = UINT32_MAX;
    for (uint32_t k = i + 1; k < count; k++) {
        double added = cost_of_joining(c, &boxes[i], &boxes[k]);

        if (added < boxes[i].added) {
            boxes[i].added = added;
            boxes[i].partner = k;
        }
    }
}

/* The last box takes the place of the second one, so partners are found anew for the boxes whose
 * partner it was, or the first, or the last; the others have two new boxes to compare with. */
static void merge_cheapest(const struct stet_buckets_curve *c, struct box *boxes, uint32_t count)
{
    uint32_t first = 0, second, last = count - 1;

    for (uint32_t i = 1; i < last; i++)
        if (boxes[i].added < boxes[first].added)
            first = i;
    second = boxes[first].partner;
    boxes[first] = join(c, &boxes[first], &boxes[second]);
    boxes[second] = boxes[last];
    for (uint32_t i = 0; i < last; i++) {
        uint32_t changed[] = {first, second}, partner = boxes[i].partner;

        if (i == first || i == second || partner == first || partner == second || partner == last) {
            find_partner(c, boxes, i, last);
            continue;
        }
        for (size_t k = 0; k < 2; k++) {
            double added = changed[k] > i && changed[k] < last
                               ? cost_of_joining(c, &boxes[i], &boxes[changed[k]])
                               : INFINITY;

            if (added < boxes[i].added) {
                boxes[i].added = added;
                boxes[i].partner = changed[k];
            }
        }
    }
}

/* Assigns each shape to its cheapest bucket and shrinks the buckets; true while that helps. */
static bool improve(const struct stet_buckets_curve *c, struct box *boxes, uint32_t count,
                    double *steps)
{
    struct box held[STET_BUCKETS_SHAPES] = {0};
    double cost = 0;
    bool better;

    for (uint32_t i = 0; i < c->shape_count; i++) {
        const struct stet_buckets_shape *p = &c->shapes[i];
        uint32_t at = UINT32_MAX;

        for (uint32_t k = 0; k < count; k++)
            if (stet_buckets_holds(boxes[k].dims, p->dims, c->rank) &&
                (at == UINT32_MAX || boxes[k].price < boxes[at].price))
                at = k;
        if (at ==
            UINT32_MAX) /* every shape began in a bucket, and buckets shrink to what they hold */
            return false;
        for (unsigned d = 0; d < STET_BUCKETS_RANK; d++)
            if (held[at].dims[d] < p->dims[d])
                held[at].dims[d] = p->dims[d];
        held[at].runs += p->runs;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (!(held[k].runs > 0)) /* stays, and holds nothing */
            memcpy(held[k].dims, boxes[k].dims, sizeof held[k].dims);
        held[k].price = price_of(c, held[k].dims);
        cost += held[k].runs * held[k].price;
        boxes[k] = held[k];
    }
    better = cost < *steps * (1 - 1e-12);
    *steps = cost;
    return better;
}

/* The set of these buckets, priced with the shapes as they are. */
static bool keep(struct stet_buckets_curve *c, const struct box *boxes, uint32_t count)
{
    struct box own[STET_BUCKETS_SHAPES];
    int64_t dims[STET_BUCKETS_SHAPES * STET_BUCKETS_RANK];
    double steps = INFINITY;

    memcpy(own, boxes, count * sizeof *own);
    while (improve(c, own, count, &steps))
        continue;
    for (uint32_t k = 0; k < count; k++)
        memcpy(dims + (size_t)k * c->rank, own[k].dims, c->rank * sizeof *dims);
    c->sets[count - 1] = stet_buckets_price(c, dims, count);
    return c->sets[count - 1].dims != NULL;
}

enum stet_rc stet_buckets_several(struct stet_buckets_curve *c, uint32_t most, struct stet_err *err)
{
    struct box *boxes;
    bool fine = true;

    if (c->shape_count > STET_BUCKETS_SHAPES)
        return stet_fail(err, STET_LIMIT,
                         "%u shapes of several dimensions: at most %d can be grouped",
                         c->shape_count, STET_BUCKETS_SHAPES);
    boxes = stet_mem_calloc(c->shape_count, sizeof *boxes);
    if (!boxes)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for buckets");
    for (uint32_t i = 0; i < c->shape_count; i++) {
        memcpy(boxes[i].dims, c->shapes[i].dims, sizeof boxes[i].dims);
        boxes[i].runs = c->shapes[i].runs;
        boxes[i].price = price_of(c, boxes[i].dims);
    }
    for (uint32_t i = 0; i < c->shape_count; i++)
        find_partner(c, boxes, i, c->shape_count);
    for (uint32_t n = c->shape_count; n >= 1 && fine; n--) {
        if (n <= most)
            fine = keep(c, boxes, n);
        if (n > 1)
            merge_cheapest(c, boxes, n);
    }
    stet_mem_free(boxes);
    c->count = most;
    if (!fine)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for buckets");
    return stet_buckets_bounds(c, err);
}
