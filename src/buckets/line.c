/* least(k, i) = min over j of least(k - 1, j) + (runs of sizes j … i - 1) × price(i - 1).
 *
 * With R(j) the runs of the first j sizes, the part that depends on j is least(k - 1, j) - R(j) ×
 * p: a line in p with a slope that falls with j. The prices do not decrease, so the lower envelope
 * of the lines is a queue: lines enter at its end and leave at its front, and a row takes time in
 * proportion to the number of sizes. */
#include "buckets/line.h"

#include "base/mem.h"

/* Splits are kept as 32-bit numbers. */
#define MOST_SPLITS ((size_t)1 << 28)

/* The cost of splitting before size j, as a line in the price: before - total × price. */
struct split {
    double before, total;
    uint32_t j;
};

struct row {
    const double *price, *total; /* total[i]: runs of the first i sizes */
    const double *before;        /* the row of one bucket less */
    double *now;
    uint32_t *splits;
    struct split *queue;
    uint32_t count, k;
};

/* Is line b nowhere below both of its neighbours? */
static bool is_hidden(const struct split *a, const struct split *b, const struct split *c)
{
    return (c->before - b->before) * (b->total - a->total) <=
           (b->before - a->before) * (c->total - b->total);
}

static bool is_better(const struct split *a, const struct split *b, double price)
{
    return a->before - a->total * price <= b->before - b->total * price;
}

static void fill_row(const struct row *r)
{
    struct split *front = r->queue, *end = r->queue;

    for (uint32_t i = r->k; i <= r->count; i++) {
        struct split own = {r->before[i - 1], r->total[i - 1], i - 1};
        double price = r->price[i - 1];

        while (end - front >= 2 && is_hidden(end - 2, end - 1, &own))
            end--;
        *end++ = own;
        while (end - front >= 2 && is_better(front + 1, front, price))
            front++;
        r->now[i] = front->before + (r->total[i] - front->total) * price;
        r->splits[i] = front->j;
    }
}

static void fill(struct stet_buckets_line *p, struct row *r, double *rows, double *total,
                 const double *runs)
{
    size_t width = (size_t)p->count + 1;
    double *now = rows, *before = rows + width;

    for (uint32_t i = 0; i < p->count; i++)
        total[i + 1] = total[i] + runs[i];
    for (uint32_t i = 1; i <= p->count; i++)
        now[i] = total[i] * r->price[i - 1];
    p->least[1] = now[p->count];
    for (uint32_t k = 2; k <= p->most; k++) {
        double *swap = now;

        now = before;
        before = swap;
        r->k = k;
        r->before = before;
        r->now = now;
        r->splits = p->splits + (size_t)k * width;
        fill_row(r);
        p->least[k] = now[p->count];
    }
}

enum stet_rc stet_buckets_line_make(struct stet_buckets_line *out, const double *price,
                                    const double *runs, uint32_t count, uint32_t most,
                                    struct stet_err *err)
{
    size_t width = (size_t)count + 1, splits;
    struct row r = {.price = price, .count = count};
    double *rows, *total;

    *out = (struct stet_buckets_line){.count = count, .most = most < count ? most : count};
    if (stet_mul_overflows((size_t)out->most + 1, width, &splits) || splits > MOST_SPLITS)
        return stet_fail(err, STET_LIMIT, "%u sizes and %u programs are too many: give fewer",
                         count, out->most);
    out->least = stet_mem_calloc((size_t)out->most + 1, sizeof *out->least);
    out->splits = stet_mem_calloc(splits, sizeof *out->splits);
    rows = stet_mem_calloc(2 * width, sizeof *rows);
    total = stet_mem_calloc(width, sizeof *total);
    r.queue = stet_mem_calloc(width, sizeof *r.queue);
    r.total = total;
    if (out->least && out->splits && rows && total && r.queue)
        fill(out, &r, rows, total, runs);
    else
        stet_fail(err, STET_NO_MEMORY, "out of memory for %u sizes", count);
    splits = out->least && out->splits && rows && total && r.queue;
    stet_mem_free(rows);
    stet_mem_free(total);
    stet_mem_free(r.queue);
    if (splits)
        return STET_OK;
    stet_buckets_line_release(out);
    return STET_NO_MEMORY;
}

void stet_buckets_line_release(struct stet_buckets_line *p)
{
    stet_mem_free(p->least);
    stet_mem_free(p->splits);
    *p = (struct stet_buckets_line){0};
}

void stet_buckets_line_take(const struct stet_buckets_line *p, uint32_t k, uint32_t *buckets)
{
    uint32_t at = p->count;

    while (k > 0) {
        buckets[k - 1] = at - 1;
        at = p->splits[(size_t)k * ((size_t)p->count + 1) + at];
        k--;
    }
}
