/* Makes the curve: sorts and merges the shapes, has the sets made, and chooses one. */
#include "buckets/buckets.h"

#include "base/divisor.h"
#include "base/mem.h"
#include "buckets/line.h"
#include "buckets/several.h"

#include <math.h>
#include <stdlib.h>

static enum stet_rc no_memory(struct stet_err *err)
{
    return stet_fail(err, STET_NO_MEMORY, "out of memory for buckets");
}

static double elements_of(const int64_t *dims, unsigned rank)
{
    double e = 1;

    for (unsigned d = 0; d < rank; d++)
        e *= (double)dims[d];
    return e;
}

static int by_elements(const void *a, const void *b)
{
    const struct stet_buckets_shape *x = a, *y = b;
    double e = elements_of(x->dims, STET_BUCKETS_RANK), f = elements_of(y->dims, STET_BUCKETS_RANK);

    if (e != f)
        return e < f ? -1 : 1;
    for (unsigned d = 0; d < STET_BUCKETS_RANK; d++)
        if (x->dims[d] != y->dims[d])
            return x->dims[d] < y->dims[d] ? -1 : 1;
    return 0;
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Sorts by the first dimension, digit by digit. qsort takes several times as long for a million. */
static bool sort_line(struct stet_buckets_shape *shapes, size_t count)
{
    struct stet_buckets_shape *other = stet_mem_calloc(count, sizeof *other), *from = shapes;
    struct stet_buckets_shape *to = other;
    int64_t all = 0;

    if (!other)
        return false;
    for (size_t i = 0; i < count; i++)
        all |= shapes[i].dims[0];
    for (unsigned shift = 0; all >> shift; shift += DIGIT_BITS) {
        size_t place[DIGITS + 1] = {0};
        struct stet_buckets_shape *swap = from;

        for (size_t i = 0; i < count; i++)
            place[(from[i].dims[0] >> shift & (DIGITS - 1)) + 1]++;
        for (unsigned d = 0; d < DIGITS; d++)
            place[d + 1] += place[d];
        for (size_t i = 0; i < count; i++)
            to[place[from[i].dims[0] >> shift & (DIGITS - 1)]++] = from[i];
        from = to;
        to = swap;
    }
    if (from != shapes)
        memcpy(shapes, from, count * sizeof *shapes);
    stet_mem_free(other);
    return true;
}

/* Copies the shapes, rounded up, and merges equal ones. Dimensions beyond the rank are 1. */
static enum stet_rc take_shapes(struct stet_buckets_curve *c,
                                const struct stet_buckets_shape *shapes, size_t count,
                                int64_t multiple, struct stet_err *err)
{
    uint32_t n = 0;

    c->shapes = STET_NEW_ARRAY(&c->arena, struct stet_buckets_shape, count);
    if (!c->shapes)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        struct stet_buckets_shape *own = &c->shapes[i];
        double e = elements_of(shapes[i].dims, c->rank);

        *own = shapes[i];
        if (!(own->runs > 0) || own->runs > 1e15 || e > 1e15)
            return stet_fail(err, STET_LIMIT, "a size or its count is too large");
        for (unsigned d = 0; d < STET_BUCKETS_RANK; d++) {
            own->dims[d] = d < c->rank ? own->dims[d] : 1;
            if (own->dims[d] < 1)
                return stet_fail(err, STET_BAD_INPUT, "a size is less than 1");
            if (d < c->rank && multiple > 1)
                own->dims[d] += (multiple - own->dims[d] % multiple) % multiple;
        }
        c->runs += own->runs;
        c->used += own->runs * e;
        c->unpadded += own->runs * stet_buckets_step_cost(&c->cost, e);
    }
    if (c->rank > 1)
        qsort(c->shapes, count, sizeof *c->shapes, by_elements);
    else if (!sort_line(c->shapes, count))
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (n && !by_elements(&c->shapes[n - 1], &c->shapes[i]))
            c->shapes[n - 1].runs += c->shapes[i].runs;
        else
            c->shapes[n++] = c->shapes[i];
    }
    c->shape_count = n;
    return STET_OK;
}

struct stet_buckets_set stet_buckets_price(struct stet_buckets_curve *c, const int64_t *dims,
                                           uint32_t count)
{
    unsigned rank = c->rank;
    struct stet_buckets_shape *sorted =
        STET_NEW_ARRAY(&c->arena, struct stet_buckets_shape, count + 1);
    int64_t *own = STET_NEW_ARRAY(&c->arena, int64_t, (size_t)count *rank + 1);
    struct stet_buckets_set s = {.count = count, .dims = sorted ? own : NULL};
    double computed = 0;

    if (!sorted || !own)
        return s;
    for (uint32_t i = 0; i < count; i++)
        for (unsigned d = 0; d < STET_BUCKETS_RANK; d++)
            sorted[i].dims[d] = d < rank ? dims[i * rank + d] : 1;
    qsort(sorted, count, sizeof *sorted, by_elements);
    for (uint32_t i = 0; i < count; i++)
        memcpy(own + (size_t)i * rank, sorted[i].dims, rank * sizeof *own);
    for (uint32_t i = 0, first = 0; i < c->shape_count; i++) {
        const struct stet_buckets_shape *p = &c->shapes[i];
        uint32_t at;
        double e;

        while (rank == 1 && first < count && sorted[first].dims[0] < p->dims[0])
            first++;
        for (at = first; at < count && !stet_buckets_holds(sorted[at].dims, p->dims, rank);)
            at++;
        s.beyond += at == count;
        e = elements_of(at < count ? sorted[at].dims : p->dims, rank);
        computed += p->runs * e;
        s.steps += p->runs * stet_buckets_step_cost(&c->cost, e);
    }
    s.padding = 1 - c->used / computed;
    s.total = s.steps + c->cost.program * (s.count + s.beyond);
    return s;
}

/* ---- one dimension ---- */

static void line_sets(struct stet_buckets_curve *c, const struct stet_buckets_line *p,
                      uint32_t *picked, const double *total)
{
    for (uint32_t k = 1; k <= c->count; k++) {
        struct stet_buckets_set *s = &c->sets[k - 1];
        int64_t *dims = STET_NEW_ARRAY(&c->arena, int64_t, k);
        double computed = 0;

        if (!dims)
            return;
        stet_buckets_line_take(p, k, picked);
        for (uint32_t i = 0; i < k; i++) {
            dims[i] = c->shapes[picked[i]].dims[0];
            computed +=
                (double)dims[i] * (total[picked[i] + 1] - (i ? total[picked[i - 1] + 1] : 0));
        }
        *s = (struct stet_buckets_set){.count = k,
                                       .dims = dims,
                                       .steps = p->least[k],
                                       .bound = p->least[k],
                                       .padding = 1 - c->used / computed};
    }
}

static enum stet_rc make_line(struct stet_buckets_curve *c, uint32_t most, struct stet_err *err)
{
    uint32_t n = c->shape_count;
    double *price = stet_mem_calloc(n, sizeof *price), *runs = stet_mem_calloc(n, sizeof *runs);
    double *total = stet_mem_calloc((size_t)n + 1, sizeof *total);
    uint32_t *picked = stet_mem_calloc(most, sizeof *picked);
    struct stet_buckets_line p = {0};
    enum stet_rc rc = STET_NO_MEMORY;

    if (price && runs && total && picked) {
        for (uint32_t i = 0; i < n; i++) {
            price[i] = stet_buckets_step_cost(&c->cost, (double)c->shapes[i].dims[0]);
            runs[i] = c->shapes[i].runs;
            total[i + 1] = total[i] + runs[i];
        }
        rc = stet_buckets_line_make(&p, price, runs, n, most, err);
    }
    if (rc == STET_OK) {
        c->count = p.most;
        line_sets(c, &p, picked, total);
        stet_buckets_line_release(&p);
    }
    stet_mem_free(price);
    stet_mem_free(runs);
    stet_mem_free(total);
    stet_mem_free(picked);
    return rc == STET_NO_MEMORY || c->arena.failed ? no_memory(err) : rc;
}

/* ---- the curve ---- */

static void choose(struct stet_buckets_curve *c, uint32_t exactly)
{
    uint32_t best = 0;

    for (uint32_t i = 0; i < c->count; i++)
        c->sets[i].total = c->sets[i].steps + c->cost.program * c->sets[i].count;
    if (exactly) {
        best = (exactly < c->count ? exactly : c->count) - 1;
    } else if (c->cost.seconds) {
        for (uint32_t i = 1; i < c->count; i++)
            if (c->sets[i].total < c->sets[best].total)
                best = i;
    } else {
        while (best + 1 < c->count && c->sets[best].padding >= 0.05)
            best++;
    }
    c->best = best;
}

/* If a step costs the same at every size, sets of as many programs cost the same. Of these the one
 * that pads least is made. */
static enum stet_rc make_sets(struct stet_buckets_curve *c, uint32_t most, struct stet_err *err)
{
    struct stet_buckets_cost cost = c->cost;
    bool flat = !(cost.linear > 0) && !(cost.square > 0);
    enum stet_rc rc;

    if (flat)
        c->cost = stet_buckets_cost_model(false);
    rc = c->rank == 1 ? make_line(c, most, err) : stet_buckets_several(c, most, err);
    c->cost = cost;
    for (uint32_t i = 0; flat && rc == STET_OK && i < c->count; i++)
        c->sets[i].steps = c->sets[i].bound = cost.fixed * c->runs;
    return rc;
}

enum stet_rc stet_buckets_make(struct stet_buckets_curve *out,
                               const struct stet_buckets_shape *shapes, size_t count, unsigned rank,
                               const struct stet_buckets_wish *wish, struct stet_err *err)
{
    uint32_t most = wish->most ? wish->most : STET_BUCKETS_MOST;
    enum stet_rc rc;

    *out = (struct stet_buckets_curve){.rank = rank, .cost = wish->cost};
    if (!count || rank < 1 || rank > STET_BUCKETS_RANK || count > UINT32_MAX / 2)
        return stet_fail(err, STET_BAD_INPUT, "there are no sizes to choose buckets for");
    stet_arena_init(&out->arena, (size_t)4 << 30);
    most = most > wish->exactly ? most : wish->exactly;
    rc = take_shapes(out, shapes, count, wish->multiple, err);
    most = most < out->shape_count ? most : out->shape_count;
    if (rc == STET_OK && !(out->sets = STET_NEW_ARRAY(&out->arena, struct stet_buckets_set, most)))
        rc = no_memory(err);
    if (rc == STET_OK)
        rc = make_sets(out, most, err);
    if (rc == STET_OK)
        choose(out, wish->exactly);
    else
        stet_buckets_release(out);
    return rc;
}

void stet_buckets_release(struct stet_buckets_curve *c)
{
    stet_arena_release(&c->arena);
    *c = (struct stet_buckets_curve){0};
}

struct stet_buckets_set stet_buckets_powers(struct stet_buckets_curve *c)
{
    int64_t powers[64], size = 1;
    uint32_t n = 0;

    if (c->rank != 1)
        return (struct stet_buckets_set){0};
    while (size < c->shapes[0].dims[0])
        size *= 2;
    powers[n++] = size;
    while (size < c->shapes[c->shape_count - 1].dims[0])
        powers[n++] = size *= 2;
    return stet_buckets_price(c, powers, n);
}

enum stet_buckets_form stet_buckets_form(const struct stet_buckets_curve *c, int64_t *step)
{
    bool powers = c->rank == 1 && c->shape_count >= 3;

    *step = 0;
    for (uint32_t i = 0; i < c->shape_count; i++) {
        int64_t size = c->shapes[i].dims[0];

        powers &= (size & (size - 1)) == 0;
        *step = stet_divisor_common(*step, size);
    }
    if (powers)
        return STET_BUCKETS_POWERS;
    return c->rank == 1 && c->shape_count >= 3 && *step >= 8 ? STET_BUCKETS_MULTIPLES
                                                             : STET_BUCKETS_ANY;
}
