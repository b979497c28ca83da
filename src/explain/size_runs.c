/* Counts how often each size of a drifting dimension ran. A finding names a size only if it
 * changed, so a program that differs from an earlier one in something else, such as a constant, has
 * the size of that one. */
#include "explain/size_runs.h"

#include "explain/history_internal.h"

#include <stdlib.h>

/* Only the newest compiles of a group are counted: a group may have thousands, and all are looked
 * at for each of its recompiles. */
enum { MOST_MEMBERS = 1024 };

/* A compile of the group. Compiles of one size that do not differ in it are one class. */
struct member {
    uint32_t sighting, class; /* class: the first member of it */
    int64_t size;             /* of the class, at its first member; 0 if unknown */
};

static bool is_of(const struct stet_reported_change *c, const struct stet_reported_change *which)
{
    return c->kind == STET_CHANGE_ARGUMENT && stet_view_eq(c->of.name, which->of.name) &&
           (c->of.name.len || c->of.argument == which->of.argument);
}

static int64_t size_in(double v)
{
    return v >= 1 && v <= 1e15 ? (int64_t)v : 0; /* 0: none, or not a size to pad to */
}

static struct member *find(struct member *all, uint32_t count, uint32_t sighting)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (all[middle].sighting < sighting)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && all[low].sighting == sighting ? &all[low] : NULL;
}

/* Finds the size of a compile by the one that it was compared with. */
static void place(const struct stet_history *h, struct member *all, uint32_t at,
                  const struct stet_reported_change *which)
{
    const struct stet_sighting *s = &h->sightings[all[at].sighting];
    const struct stet_finding *f = s->finding != STET_NONE ? &h->findings[s->finding] : NULL;
    struct member *was = f && f->against != STET_NONE ? find(all, at, f->against) : NULL;
    bool other = !s->traits->readable;

    if (!was)
        return;
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];

        if (!is_of(c, which))
            continue;
        other |= c->of.aspect == STET_ASPECT_RANK;
        if (c->of.aspect != which->of.aspect || c->of.index != which->of.index)
            continue;
        all[was->class].size = size_in(c->data.values[0]);
        all[at].size = size_in(c->data.values[1]);
        return;
    }
    if (!other)
        all[at].class = was->class;
}

static int by_size(const void *a, const void *b)
{
    const struct stet_buckets_shape *x = a, *y = b;

    return x->dims[0] < y->dims[0] ? -1 : x->dims[0] > y->dims[0];
}

/* One entry for each size, sorted; returns their number. */
static uint32_t join(struct stet_buckets_shape *shapes, uint32_t count)
{
    uint32_t n = 0;

    if (count)
        qsort(shapes, count, sizeof *shapes, by_size);
    for (uint32_t i = 0; i < count; i++)
        if (n && shapes[n - 1].dims[0] == shapes[i].dims[0])
            shapes[n - 1].runs += shapes[i].runs;
        else
            shapes[n++] = shapes[i];
    for (uint32_t i = 0; i < n; i++)
        shapes[i].runs = shapes[i].runs > 0 ? shapes[i].runs : 1; /* it has not run yet */
    return n;
}

/* Writes the executions of each compile whose size is known; returns their number. */
static uint32_t count_group(const struct stet_history *h, uint32_t last, uint32_t count,
                            const struct stet_reported_change *which, struct member *all,
                            struct stet_buckets_shape *out)
{
    uint32_t n = 0;

    for (uint32_t i = last, at = count; at-- > 0; i = h->sightings[i].before)
        all[at] = (struct member){i, at, 0};
    for (uint32_t i = 0; i < count; i++)
        place(h, all, i, which);
    for (uint32_t i = 0; i < count; i++)
        if (all[all[i].class].size)
            out[n++] = (struct stet_buckets_shape){
                {all[all[i].class].size}, (double)h->sightings[all[i].sighting].executions};
    return n;
}

static void list(struct stet_size_runs *out, const struct stet_buckets_shape *shapes)
{
    out->listed = out->count < STET_SIZES_LISTED ? out->count : STET_SIZES_LISTED;
    for (uint32_t i = 0, k = 0; i < out->count; i++) {
        out->sizes[k] = shapes[i].dims[0];
        out->runs[k] += shapes[i].runs;
        k += (uint64_t)(i + 1) * out->listed >= (uint64_t)(k + 1) * out->count;
    }
}

bool stet_size_runs_make(struct stet_size_runs *out, const struct stet_history *h,
                         const struct stet_finding *f, const struct stet_reported_change *which)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    uint32_t last = stet_map_get(&h->index->groups, stet_history_group(s, s->process));
    struct stet_buckets_shape *shapes;
    struct member *all;
    uint32_t count = 0;
    bool fine;

    *out = (struct stet_size_runs){0};
    for (uint32_t i = last; i != STET_NONE && count < MOST_MEMBERS; i = h->sightings[i].before)
        count++;
    all = stet_mem_calloc((size_t)count + 1, sizeof *all);
    shapes = stet_mem_calloc((size_t)count + 1, sizeof *shapes);
    fine = all && shapes;
    if (fine) {
        out->count = join(shapes, count_group(h, last, count, which, all, shapes));
        list(out, shapes);
        out->set_count = stet_explain_buckets(out->sets, shapes, out->count);
    }
    stet_mem_free(all);
    stet_mem_free(shapes);
    return fine;
}
