/* Finds the dimensions that vary independently, what programs and steps of a function cost, and a
 * last batch that is shorter than the others. */
#include "base/known.h"
#include "base/mem.h"
#include "session/run_sizes_internal.h"

#include <stdlib.h>

enum { LEAST_STEPS = 3 /* intervals that make a measured size */ };

/* A dimension of an argument, over the programs of a function. */
struct column {
    int64_t *values;
    uint32_t number, different;
};

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static uint32_t count_different(const int64_t *values, size_t count, int64_t *sorted)
{
    uint32_t n = 0;

    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    for (size_t i = 0; i < count; i++)
        n += !i || sorted[i] != sorted[i - 1];
    return n;
}

/* Does `b` follow from `a`: equal where a is equal, and never smaller where a is larger? Padding a
 * then pads b, so they are one dimension. */
static bool follows(const struct column *b, const struct column *a, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) {
            int64_t da = a->values[i] - a->values[k], db = b->values[i] - b->values[k];

            if ((da == 0 && db != 0) || (da > 0 && db < 0) || (da < 0 && db > 0))
                return false;
        }
    return true;
}

/* Those with most values first, so that an axis never follows from a later one. */
static int by_different(const void *a, const void *b)
{
    const struct column *x = a, *y = b;

    if (x->different != y->different)
        return x->different > y->different ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool take_columns(struct stet_run_sizes *s, const struct stet_size_function *f,
                         struct column **out, uint32_t *count)
{
    size_t n = f->program_count;
    int64_t *sorted = stet_mem_calloc(n, sizeof *sorted);

    *out = stet_mem_calloc(f->column_count + 1, sizeof **out);
    *count = 0;
    for (uint32_t k = 0; *out && sorted && k < f->column_count; k++) {
        struct column *c = &(*out)[*count];
        bool varies = false, fixed = true;

        for (size_t i = 0; i < n; i++) {
            varies |= f->programs[i].sizes[k] != f->programs[0].sizes[k];
            fixed &= f->programs[i].sizes[k] >= 1; /* a dynamic size needs no bucket */
        }
        if (!varies || !fixed)
            continue;
        c->values = STET_NEW_ARRAY(&s->arena, int64_t, n);
        if (!c->values)
            break;
        for (size_t i = 0; i < n; i++)
            c->values[i] = f->programs[i].sizes[k];
        c->number = k;
        c->different = count_different(c->values, n, sorted);
        (*count)++;
    }
    if (*out && *count)
        qsort(*out, *count, sizeof **out, by_different);
    stet_mem_free(sorted);
    return *out && sorted && !s->arena.failed;
}

static void place(struct stet_size_function *f, uint32_t at, const struct column *c, unsigned axis)
{
    f->places[at] = (struct stet_size_place){f->column_names[c->number], f->column_dims[c->number],
                                             axis, c->values};
}

static int by_place(const void *a, const void *b)
{
    const struct column *const *x = a, *const *y = b;

    return (*x)->number<(*y)->number ? -1 : (*x)->number>(*y)->number;
}

static bool find_axes(struct stet_run_sizes *s, struct stet_size_function *f)
{
    struct column *columns, *axes[STET_BUCKETS_RANK] = {0};
    uint32_t count, at;
    bool fine = take_columns(s, f, &columns, &count);

    f->places = fine ? STET_NEW_ARRAY(&s->arena, struct stet_size_place, count + 1) : NULL;
    fine = f->places != NULL;
    for (uint32_t i = 0; fine && i < count; i++) {
        bool follower = false;

        for (unsigned a = 0; a < f->rank && a < STET_BUCKETS_RANK && !follower; a++) {
            STET_KNOWN(axes[a]); /* a dimension that was counted has its column */
            follower = follows(&columns[i], axes[a], f->program_count);
        }
        if (follower)
            continue;
        if (f->rank < STET_BUCKETS_RANK)
            axes[f->rank] = &columns[i];
        f->rank++;
    }
    if (fine && f->rank && f->rank <= STET_BUCKETS_RANK) {
        qsort(axes, f->rank, sizeof *axes, by_place);
        for (at = 0; at < f->rank; at++)
            place(f, at, axes[at], at);
        for (uint32_t i = 0; i < count; i++) {
            bool is_axis = false;
            unsigned a = 0;

            for (unsigned k = 0; k < f->rank; k++)
                is_axis |= axes[k] == &columns[i];
            while (!is_axis && a < f->rank && !follows(&columns[i], axes[a], f->program_count))
                a++;
            if (!is_axis)
                place(f, at++, &columns[i], a);
        }
        f->place_count = at;
    }
    stet_mem_free(columns);
    return fine;
}

/* ---- costs ---- */

static int by_number(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static bool measure(struct stet_size_function *f)
{
    struct stet_buckets_time *times = stet_mem_calloc(f->program_count, sizeof *times);
    uint32_t n = 0;

    f->cost = stet_buckets_cost_model(false);
    for (size_t i = 0; times && i < f->program_count; i++) {
        struct stet_size_program *p = &f->programs[i];
        double elements = 1;

        if (p->step_count < LEAST_STEPS)
            continue;
        for (unsigned d = 0; d < f->rank; d++)
            elements *= (double)f->shapes[i].dims[d];
        qsort(p->steps, p->step_count, sizeof *p->steps, by_number);
        if (p->steps[p->step_count / 2] > 0)
            times[n++] = (struct stet_buckets_time){elements, p->steps[p->step_count / 2],
                                                    (double)p->step_count};
    }
    f->measured = n;
    if (times && f->compiles && stet_buckets_cost_fit(&f->cost, times, n))
        f->cost.program = f->wait_s / f->compiles;
    stet_mem_free(times);
    return times != NULL;
}

/* A last batch: the smaller of two sizes runs once after each round of the larger, and every round
 * has as many steps. One round must end the run. */
static bool ends_rounds(const struct stet_size_function *f)
{
    uint32_t small = f->shapes[0].dims[0] < f->shapes[1].dims[0] ? 0 : 1;
    size_t round = 0, seen = 0, length = 0;

    if (f->rank != 1 || f->program_count != 2)
        return false;
    for (size_t i = 0; i < f->order_count; i++) {
        if (f->order[i] != small) {
            length++;
            continue;
        }
        if (length < 2 || (seen && length != round))
            return false;
        round = length;
        length = 0;
        seen++;
    }
    return seen > 1 ? length <= round : seen == 1 && !length;
}

bool stet_session_sizes_judge(struct stet_run_sizes *s, struct stet_size_function *f)
{
    if (f->program_count < 2)
        return true;
    if (!find_axes(s, f))
        return false;
    for (size_t i = 0; i < f->program_count; i++) {
        f->runs += f->programs[i].runs;
        f->compiles += f->programs[i].compiles;
        f->stored += f->programs[i].stored;
        f->wait_s += f->programs[i].wait_s;
    }
    if (!f->rank || f->rank > STET_BUCKETS_RANK)
        return true;
    f->shapes = STET_NEW_ARRAY(&s->arena, struct stet_buckets_shape, f->program_count);
    if (!f->shapes)
        return false;
    for (size_t i = 0; i < f->program_count; i++) {
        f->shapes[i].runs = f->programs[i].runs ? (double)f->programs[i].runs : 1;
        for (unsigned d = 0; d < f->rank; d++)
            f->shapes[i].dims[d] = f->places[d].values[i];
    }
    f->short_last = ends_rounds(f);
    return measure(f);
}

int64_t stet_session_sizes_at(const struct stet_size_function *f, const struct stet_size_place *p,
                              int64_t size)
{
    const int64_t *axis = f->places[p->axis].values;
    int64_t least = INT64_MAX, most = 0;
    bool same = true;

    for (size_t i = 0; i < f->program_count; i++) {
        same &= axis[i] == p->values[i];
        if (axis[i] >= size && p->values[i] < least)
            least = p->values[i];
        most = p->values[i] > most ? p->values[i] : most;
    }
    if (same)
        return size;
    return least == INT64_MAX ? most : least;
}

struct stet_buckets_set stet_session_sizes_today(const struct stet_size_function *f,
                                                 struct stet_buckets_curve *c)
{
    struct stet_buckets_set none = {0};
    int64_t *dims = stet_mem_calloc(f->program_count * f->rank, sizeof *dims);

    if (!dims)
        return none;
    for (size_t i = 0; i < f->program_count; i++)
        memcpy(dims + i * f->rank, f->shapes[i].dims, f->rank * sizeof *dims);
    none = stet_buckets_price(c, dims, (uint32_t)f->program_count);
    stet_mem_free(dims);
    return none;
}
