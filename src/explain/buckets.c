/* A set of sizes splits the sorted sizes into runs, each padded to its last. */
#include "explain/buckets.h"

#include <math.h>
#include <stdlib.h>

enum { SETS = STET_BUCKET_SETS };

struct size {
    double size, runs;
};

static int by_size(const void *a, const void *b)
{
    const struct size *x = a, *y = b;

    return x->size < y->size ? -1 : x->size > y->size;
}

/* least[k][i]: elements computed when the first i sizes have k buckets; split[k][i]: where the last
 * of those begins. */
struct plan {
    struct size sizes[STET_BUCKETS_SIZES];
    uint32_t count;
    double least[SETS + 1][STET_BUCKETS_SIZES + 1];
    uint32_t split[SETS + 1][STET_BUCKETS_SIZES + 1];
};

static void fill(struct plan *p)
{
    for (uint32_t i = 0; i <= p->count; i++)
        p->least[0][i] = i ? INFINITY : 0;
    for (uint32_t k = 1; k <= SETS; k++) {
        p->least[k][0] = 0;
        for (uint32_t i = 1; i <= p->count; i++) {
            double runs = 0;

            p->least[k][i] = INFINITY;
            for (uint32_t from = i; from-- > 0;) {
                runs += p->sizes[from].runs;
                if (p->least[k - 1][from] + runs * p->sizes[i - 1].size < p->least[k][i]) {
                    p->least[k][i] = p->least[k - 1][from] + runs * p->sizes[i - 1].size;
                    p->split[k][i] = from;
                }
            }
        }
    }
}

static struct stet_bucket_set set_of(const struct plan *p, uint32_t k, double used)
{
    struct stet_bucket_set s = {.count = k, .padding = 1 - used / p->least[k][p->count]};
    uint32_t at = p->count;

    for (uint32_t n = k; n > 0; at = p->split[n][at], n--)
        s.sizes[n - 1] = p->sizes[at - 1].size;
    return s;
}

uint32_t stet_buckets_make(struct stet_bucket_set out[STET_BUCKET_SETS], const double *sizes,
                           const uint64_t *runs, uint32_t count)
{
    struct plan p = {.count = count};
    double used = 0;
    uint32_t n = 0;

    if (count < 2 || count > STET_BUCKETS_SIZES)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!(sizes[i] >= 1))
            return 0;
        p.sizes[i] = (struct size){sizes[i], runs[i] ? (double)runs[i] : 1};
        used += p.sizes[i].size * p.sizes[i].runs;
    }
    qsort(p.sizes, count, sizeof *p.sizes, by_size);
    fill(&p);
    while (n < SETS && n + 1 < count && (!n || out[n - 1].padding >= 0.05)) {
        out[n] = set_of(&p, n + 1, used);
        n++;
    }
    return n;
}

void stet_buckets_text(struct stet_buf *out, const double *sizes, const uint64_t *runs,
                       uint32_t count)
{
    struct stet_bucket_set sets[STET_BUCKET_SETS];
    uint32_t n = stet_buckets_make(sets, sizes, runs, count);

    for (uint32_t i = 0; i < n; i++) {
        const struct stet_bucket_set *s = &sets[i];

        stet_buf_str(out, i ? "; " : "");
        for (uint32_t k = 0; k < s->count; k++)
            stet_buf_printf(out, "%s%.0f",
                            !k                  ? ""
                            : k + 1 == s->count ? " and "
                                                : ", ",
                            s->sizes[k]);
        stet_buf_printf(out, "%s with %.0f %% padding", s->count == 1 ? " alone covers them" : "",
                        100 * s->padding);
    }
}
