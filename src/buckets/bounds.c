/* A lower bound for the steps of k buckets in several dimensions.
 *
 * Choosing buckets is placing facilities: a shape of weight w in a bucket of price c costs w × c.
 * By linear programming duality, numbers v, one per shape, with
 *
 *     sum over the shapes in b of max(0, v - w × c(b)) <= t     for every possible bucket b
 *
 * prove that no k buckets cost less than sum(v) - k × t, for any t. Raising the v as far as the
 * constraints allow gives a good proof for one t; the best of several t is kept for each k. A
 * bucket that is worth choosing has its sizes among those that came, so these are all possible
 * buckets. Where there are too many, neighbouring ones become one that has the price of the
 * smallest and holds what the largest holds, which keeps the proof valid. */
#include "buckets/several.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { THRESHOLDS = 28, ROUNDS = 12, MOST_PLACES = 3000 };

/* The values of one dimension, in groups of neighbours. */
struct axis {
    int64_t *values;
    uint32_t count, groups;
};

struct place {
    int64_t holds[STET_BUCKETS_RANK];
    double price, slack;
};

struct proof {
    const struct stet_buckets_curve *c;
    struct axis axes[STET_BUCKETS_RANK];
    struct place *places; /* the cheapest first */
    uint32_t place_count;
    uint32_t *holders,
        *first;        /* the places that hold shape i are holders[first[i] … first[i + 1]] */
    double *v, *least; /* by shape; least: its cost without padding */
};

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static bool make_axis(struct axis *a, const struct stet_buckets_curve *c, unsigned d)
{
    uint32_t most = (uint32_t)pow(MOST_PLACES, 1.0 / c->rank);

    a->values = stet_mem_calloc(c->shape_count, sizeof *a->values);
    if (!a->values)
        return false;
    for (uint32_t i = 0; i < c->shape_count; i++)
        a->values[i] = c->shapes[i].dims[d];
    qsort(a->values, c->shape_count, sizeof *a->values, by_value);
    for (uint32_t i = 0; i < c->shape_count; i++)
        if (!i || a->values[i] != a->values[a->count - 1])
            a->values[a->count++] = a->values[i];
    a->groups = a->count < most ? a->count : most;
    return true;
}

static uint32_t first_of(const struct axis *a, uint32_t group)
{
    return (uint32_t)((uint64_t)group * a->count / a->groups);
}

static int by_price(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->price < y->price ? -1 : x->price > y->price;
}

static bool make_places(struct proof *p)
{
    unsigned rank = p->c->rank;
    uint32_t count = 1;

    for (unsigned d = 0; d < rank; d++)
        count *= p->axes[d].groups;
    p->places = stet_mem_calloc(count, sizeof *p->places);
    if (!p->places)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct place *at = &p->places[i];
        uint32_t rest = i;
        double e = 1;

        for (unsigned d = 0; d < rank; d++) {
            const struct axis *a = &p->axes[d];
            uint32_t group = rest % a->groups;

            rest /= a->groups;
            e *= (double)a->values[first_of(a, group)];
            at->holds[d] = a->values[first_of(a, group + 1) - 1];
        }
        at->price = stet_buckets_step_cost(&p->c->cost, e);
    }
    p->place_count = count;
    qsort(p->places, count, sizeof *p->places, by_price);
    return true;
}

static bool make_holders(struct proof *p)
{
    uint32_t shapes = p->c->shape_count, n = 0;

    p->first = stet_mem_calloc((size_t)shapes + 1, sizeof *p->first);
    p->holders = stet_mem_calloc((size_t)shapes * p->place_count, sizeof *p->holders);
    if (!p->first || !p->holders)
        return false;
    for (uint32_t i = 0; i < shapes; i++) {
        for (uint32_t k = 0; k < p->place_count; k++)
            if (stet_buckets_holds(p->places[k].holds, p->c->shapes[i].dims, p->c->rank))
                p->holders[n++] = k;
        p->first[i + 1] = n;
    }
    return true;
}

/* Raises the number of shape i, to `limit` at most. The step is what the tightest bucket allows.
 * Buckets that cost the shape as much as its number or more do not limit it. */
static void raise_one(struct proof *p, uint32_t i, double limit)
{
    double runs = p->c->shapes[i].runs, to = limit;

    for (uint32_t k = p->first[i]; k < p->first[i + 1]; k++) {
        const struct place *at = &p->places[p->holders[k]];

        if (runs * at->price >= to)
            break;
        to = fmin(to, fmax(p->v[i], runs * at->price) + at->slack);
    }
    if (to <= p->v[i])
        return;
    for (uint32_t k = p->first[i]; k < p->first[i + 1]; k++) {
        struct place *at = &p->places[p->holders[k]];

        if (runs * at->price >= to)
            break;
        at->slack -= to - fmax(p->v[i], runs * at->price);
    }
    p->v[i] = to;
}

/* The sum of the numbers for a threshold. All numbers rise together, so that no shape takes what
 * others need. */
static double prove(struct proof *p, double threshold)
{
    double sum = 0;

    for (uint32_t k = 0; k < p->place_count; k++)
        p->places[k].slack = threshold;
    for (uint32_t i = 0; i < p->c->shape_count; i++)
        p->v[i] = 0;
    for (int round = 0; round <= ROUNDS; round++)
        for (uint32_t i = p->c->shape_count; i-- > 0;)
            raise_one(p, i,
                      round == ROUNDS ? INFINITY
                                      : p->least[i] + threshold * ((double)round / (double)ROUNDS));
    for (uint32_t i = 0; i < p->c->shape_count; i++)
        sum += p->v[i];
    return sum;
}

static void prove_all(struct proof *p)
{
    struct stet_buckets_set *sets = p->c->sets;
    double unpadded = 0, high = sets[0].steps;

    for (uint32_t i = 0; i < p->c->shape_count; i++)
        unpadded += p->least[i];
    for (uint32_t k = 0; k < p->c->count; k++)
        sets[k].bound = fmin(unpadded, sets[k].steps);
    for (int n = 0; n < THRESHOLDS; n++) {
        double threshold = high * pow(0.65, n), sum = prove(p, threshold);

        for (uint32_t k = 0; k < p->c->count; k++)
            sets[k].bound =
                fmin(sets[k].steps, fmax(sets[k].bound, sum - threshold * sets[k].count));
    }
}

enum stet_rc stet_buckets_bounds(struct stet_buckets_curve *c, struct stet_err *err)
{
    struct proof p = {.c = c};
    bool fine;

    p.v = stet_mem_calloc(c->shape_count, sizeof *p.v);
    p.least = stet_mem_calloc(c->shape_count, sizeof *p.least);
    fine = p.v && p.least;
    for (unsigned d = 0; d < c->rank && fine; d++)
        fine = make_axis(&p.axes[d], c, d);
    fine = fine && make_places(&p) && make_holders(&p);
    for (uint32_t i = 0; fine && i < c->shape_count; i++) {
        double e = 1;

        for (unsigned d = 0; d < c->rank; d++)
            e *= (double)c->shapes[i].dims[d];
        p.least[i] = c->shapes[i].runs * stet_buckets_step_cost(&c->cost, e);
    }
    if (fine)
        prove_all(&p);
    for (unsigned d = 0; d < c->rank; d++)
        stet_mem_free(p.axes[d].values);
    stet_mem_free(p.places);
    stet_mem_free(p.holders);
    stet_mem_free(p.first);
    stet_mem_free(p.v);
    stet_mem_free(p.least);
    return fine ? STET_OK : stet_fail(err, STET_NO_MEMORY, "out of memory for buckets");
}
