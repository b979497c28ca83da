/* Tandem repeats: distances at which operations recur vote for a period, then runs are measured. */
#include "explain/repeat.h"

#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>

enum { PERIODS = 8, LOOK_BACK = 3, LEAST_COVER = 4 };

struct sequence {
    const struct stet_op **ops;
    uint64_t *tokens;
    uint32_t *votes;   /* by distance */
    uint32_t *earlier; /* index + 1 of the previous equal token */
    uint8_t *covered;
    uint32_t count;
};

static bool vote(struct sequence *q)
{
    struct stet_map last = {0};
    bool fine = true;

    for (uint32_t i = 0; fine && i < q->count; i++) {
        uint32_t at = stet_map_get(&last, q->tokens[i]) + 1;

        q->earlier[i] = at;
        for (int back = 0; at && back < LOOK_BACK; back++) {
            q->votes[i - (at - 1)]++;
            at = q->earlier[at - 1];
        }
        fine = stet_map_put(&last, q->tokens[i], i);
    }
    stet_map_release(&last);
    return fine;
}

/* The most voted periods, smallest first. */
static int periods(const struct sequence *q, uint32_t *out)
{
    int count = 0;

    for (uint32_t p = 1; p <= q->count / 2; p++) {
        int i, worst = 0;

        if (q->votes[p] < p)
            continue;
        if (count < PERIODS) {
            out[count++] = p;
            continue;
        }
        for (i = 1; i < PERIODS; i++)
            if (q->votes[out[i]] < q->votes[out[worst]])
                worst = i;
        if (q->votes[p] <= q->votes[out[worst]])
            continue;
        for (i = worst; i + 1 < PERIODS; i++)
            out[i] = out[i + 1];
        out[PERIODS - 1] = p;
    }
    return count;
}

struct run {
    uint32_t start, end, period; /* of the tokens that equal the one `period` before them */
};

struct runs {
    STET_VEC(struct run) found;
};

static bool measure(const struct sequence *q, uint32_t p, struct runs *out)
{
    for (uint32_t i = p, start; i < q->count; i++) {
        if (q->tokens[i] != q->tokens[i - p])
            continue;
        for (start = i; i < q->count && q->tokens[i] == q->tokens[i - p]; i++)
            ;
        if (i - start >= p && i - start + p >= LEAST_COVER)
            STET_VEC_PUSH(&out->found, (struct run){start - p, i, p});
    }
    return !out->found.failed;
}

/* Longest first; of equally long ones the shortest period, which is the loop's body. */
static int by_cover(const void *left, const void *right)
{
    const struct run *l = left, *r = right;
    uint32_t a = l->end - l->start, b = r->end - r->start;

    if (a / 2 > b || b / 2 > a) /* nearly the same cover is the same loop */
        return a > b ? -1 : 1;
    if (l->period != r->period)
        return l->period < r->period ? -1 : 1;
    if (a != b)
        return a > b ? -1 : 1;
    return l->start < r->start ? -1 : l->start > r->start;
}

static bool overlaps(const struct sequence *q, const struct run *r)
{
    uint32_t covered = 0;

    for (uint32_t i = r->start; i < r->end; i++)
        covered += q->covered[i];
    return covered * 4 > r->end - r->start;
}

static void keep(struct stet_repeat *out, int most, int *count, struct stet_repeat r)
{
    uint64_t weight = (uint64_t)r.length * r.times;
    int at = *count;

    if (at == most && (uint64_t)out[at - 1].length * out[at - 1].times >= weight)
        return;
    if (at == most)
        at--;
    else
        ++*count;
    for (; at > 0 && (uint64_t)out[at - 1].length * out[at - 1].times < weight; at--)
        out[at] = out[at - 1];
    out[at] = r;
}

static void choose(struct sequence *q, struct runs *runs, struct stet_repeat *out, int most,
                   int *count)
{
    if (runs->found.count)
        qsort(runs->found.items, runs->found.count, sizeof *runs->found.items, by_cover);
    for (uint32_t i = 0; i < runs->found.count; i++) {
        const struct run *r = &runs->found.items[i];

        if (overlaps(q, r))
            continue;
        memset(q->covered + r->start, 1, r->end - r->start);
        keep(out, most, count,
             (struct stet_repeat){q->ops[r->start], r->period, (r->end - r->start) / r->period});
    }
}

static bool find_in(struct stet_side *s, const struct stet_block *block, struct sequence *q,
                    struct stet_repeat *out, int most, int *count)
{
    uint32_t candidates[PERIODS];
    struct runs runs = {0};
    bool fine = true;
    int n;

    q->count = 0;
    for (uint32_t i = 0; i < block->op_count; i++) {
        const struct stet_op *op = block->ops[i];

        if (!stet_side_counts(s, op))
            continue;
        q->ops[q->count] = op;
        q->tokens[q->count++] = stet_mix(s->place[op->id], s->line[op->id]);
    }
    if (q->count < LEAST_COVER)
        return true;
    memset(q->votes, 0, ((size_t)q->count + 1) * sizeof *q->votes);
    memset(q->covered, 0, q->count);
    if (!vote(q))
        return false;
    n = periods(q, candidates);
    for (int i = 0; fine && i < n; i++)
        fine = measure(q, candidates[i], &runs);
    if (fine)
        choose(q, &runs, out, most, count);
    STET_VEC_RELEASE(&runs.found);
    return fine;
}

int stet_repeat_find(struct stet_side *s, struct stet_repeat *out, int most)
{
    size_t room = (size_t)s->program->op_count + 1;
    struct sequence q = {.ops = stet_mem_calloc(room, sizeof *q.ops),
                         .tokens = stet_mem_calloc(room, sizeof *q.tokens),
                         .votes = stet_mem_calloc(room, sizeof *q.votes),
                         .earlier = stet_mem_calloc(room, sizeof *q.earlier),
                         .covered = stet_mem_calloc(room, 1)};
    bool fine = q.ops && q.tokens && q.votes && q.earlier && q.covered;
    int count = 0;

    memset(out, 0, (size_t)most * sizeof *out);
    for (uint32_t i = 0; fine && i < s->program->op_count; i++) {
        const struct stet_op *op = s->ops[i];

        for (unsigned r = 0; op && op != s->program->module && r < op->region_count; r++)
            for (uint32_t b = 0; fine && b < stet_op_region(op, r)->block_count; b++)
                fine = find_in(s, stet_op_region(op, r)->blocks[b], &q, out, most, &count);
    }
    stet_mem_free(q.ops);
    stet_mem_free(q.tokens);
    stet_mem_free(q.votes);
    stet_mem_free(q.earlier);
    stet_mem_free(q.covered);
    return fine ? count : -1;
}
