/* The sizes to pad to as a sentence, for sets of one to three sizes. */
#include "explain/bucket_words.h"

uint32_t stet_explain_buckets(struct stet_bucket_set out[STET_BUCKET_SETS],
                              const struct stet_buckets_shape *shapes, uint32_t count)
{
    struct stet_buckets_wish wish = {stet_buckets_cost_model(false), STET_BUCKET_SETS, 0, 0};
    struct stet_buckets_curve curve;
    uint32_t n = 0;

    if (count < 2 || stet_buckets_make(&curve, shapes, count, 1, &wish, NULL) != STET_OK)
        return 0;
    while (n < curve.count && n + 1 < count && (!n || out[n - 1].padding >= 0.05)) {
        const struct stet_buckets_set *s = &curve.sets[n];

        out[n] = (struct stet_bucket_set){.count = s->count, .padding = s->padding};
        memcpy(out[n].sizes, s->dims, s->count * sizeof *s->dims);
        n++;
    }
    stet_buckets_release(&curve);
    return n;
}

void stet_explain_buckets_text(struct stet_buf *out, const struct stet_bucket_set *sets,
                               uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct stet_bucket_set *s = &sets[i];

        stet_buf_str(out, i ? "; " : "");
        for (uint32_t k = 0; k < s->count; k++)
            stet_buf_printf(out, "%s%lld",
                            !k                  ? ""
                            : k + 1 == s->count ? " and "
                                                : ", ",
                            (long long)s->sizes[k]);
        stet_buf_printf(out, "%s with %.0f %% padding", s->count == 1 ? " alone covers them" : "",
                        100 * s->padding);
    }
}
