/* Prints the tries of a search or a sweep. */
#include "fit/fit_text.h"

void stet_fit_try_text(struct stet_buf *out, const struct stet_fit_search *s,
                       const struct stet_fit_try *t)
{
    stet_buf_printf(out, "stet: %s=%lld: ", s->name, (long long)t->value);
    if (t->failure[0]) {
        stet_buf_printf(out, "no verdict: %s\n", t->failure);
        return;
    }
    stet_buf_printf(out, "%s, ", stet_fit_verdict_word(t->verdict));
    stet_fit_text_bytes(out, t->peak, 0);
    if (t->exceeds) {
        stet_buf_str(out, ", ");
        stet_fit_text_bytes(out, t->exceeds, 0);
        stet_buf_str(out, " too much");
    }
    stet_buf_char(out, '\n');
}

static void put_table(struct stet_buf *out, const struct stet_fit_search *s)
{
    stet_buf_printf(out, "  %12s  %-8s%10s%12s%14s\n", s->name, "verdict", "peak", "too much",
                    "step at least");
    for (size_t i = 0; i < s->count; i++) {
        const struct stet_fit_try *t = &s->tries[i];

        stet_buf_printf(out, "  %12lld  %-8s", (long long)t->value,
                        t->failure[0] ? "-" : stet_fit_verdict_word(t->verdict));
        if (t->failure[0]) {
            stet_buf_printf(out, "  %s\n", t->failure);
            continue;
        }
        stet_fit_text_bytes(out, t->peak, 10);
        if (t->exceeds)
            stet_fit_text_bytes(out, t->exceeds, 12);
        else
            stet_buf_printf(out, "%12s", "-");
        if (t->bound_s > 0)
            stet_fit_text_seconds(out, t->bound_s, 14);
        stet_buf_char(out, '\n');
    }
}

void stet_fit_search_text(struct stet_buf *out, const struct stet_fit_search *s,
                          const struct stet_fit *fit, bool all, bool colour)
{
    if (s->found)
        stet_buf_printf(out, "the largest %s that fits is %lld\n", s->name, (long long)s->value);
    else
        stet_buf_printf(out, "no %s of these fits\n", s->name);
    put_table(out, s);
    if (fit) {
        stet_buf_char(out, '\n');
        stet_fit_text(out, fit, all, colour);
    }
}
