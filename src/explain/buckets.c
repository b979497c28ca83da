/* A set of sizes splits the sorted sizes into runs, each padded to its last. */
#include "explain/buckets.h"

#include <math.h>
#include <stdlib.h>

enum { SETS = 3 };

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

static void say(struct stet_buf *out, const struct plan *p, uint32_t k, double used)
{
    double buckets[SETS];
    uint32_t at = p->count;

    for (uint32_t n = k; n > 0; at = p->split[n][at], n--)
        buckets[n - 1] = p->sizes[at - 1].size;
    for (uint32_t n = 0; n < k; n++)
        stet_buf_printf(out, "%s%.0f", !n ? "" : n + 1 == k ? " and " : ", ", buckets[n]);
    if (k == 1)
        stet_buf_str(out, " alone covers them");
    stet_buf_printf(out, " with %.0f %% padding", 100 * (1 - used / p->least[k][p->count]));
}

void stet_buckets_text(struct stet_buf *out, const double *sizes, const uint64_t *runs,
                       uint32_t count)
{
    struct plan p = {.count = count};
    double used = 0;

    if (count < 2 || count > STET_BUCKETS_SIZES)
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (!(sizes[i] >= 1))
            return;
        p.sizes[i] = (struct size){sizes[i], runs[i] ? (double)runs[i] : 1};
        used += p.sizes[i].size * p.sizes[i].runs;
    }
    qsort(p.sizes, count, sizeof *p.sizes, by_size);
    fill(&p);
    for (uint32_t k = 1; k <= SETS && k < count; k++) {
        stet_buf_str(out, k == 1 ? "" : "; ");
        say(out, &p, k, used);
        if (used / p.least[k][count] > 0.95)
            break;
    }
}
