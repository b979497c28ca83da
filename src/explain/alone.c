/* Several causes in one recompile: how many programs each of them alone would have added to this
 * run. A cause that takes n values makes n - 1 more programs, whatever the others do. Seconds are
 * not given: the stories count what was waited, and a second number for one cause would contradict
 * them. */
#include "explain/history_internal.h"

enum { STET_FACET_NONE = STET_NO_FACET };

/* The facet that holds a cause's values; STET_NO_FACET for causes without values. */
static const uint8_t facet_of[STET_CAUSES] = {
    [STET_CAUSE_NONE] = STET_NO_FACET,
#define CAUSE(identifier, id, lane, question, thing, facet, step, flags, about, page)              \
    [STET_CAUSE_##identifier] = STET_FACET_##facet,
#include "cause/causes.def"
};

static uint64_t programs_of(const struct stet_history *h, const struct stet_finding *f,
                            enum stet_cause r)
{
    unsigned facet = facet_of[r];
    uint64_t most = 1;

    for (uint32_t i = 0; facet != STET_NO_FACET && i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];
        const struct stet_series *s =
            c->facet == facet && c->follows == STET_NO_FACET ? stet_series_of(h, f, c) : NULL;

        if (s && s->distinct > 1 && s->distinct - 1 > most)
            most = s->distinct - 1;
    }
    return most;
}

static void sort(struct stet_alone *causes, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && causes[k].programs > causes[k - 1].programs; k--) {
            struct stet_alone held = causes[k];

            causes[k] = causes[k - 1];
            causes[k - 1] = held;
        }
}

uint32_t stet_alone_of(const struct stet_history *h, const struct stet_finding *f,
                       struct stet_alone out[STET_ALSO_MOST + 1])
{
    uint32_t count = 0;
    bool twice = f->cause == STET_CAUSE_SLICE_START && f->also_count == 1 &&
                 f->also[0] == STET_CAUSE_STATIC_ARGUMENT; /* one cause, two names */

    if (f->cause == STET_CAUSE_NONE || !f->also_count || twice)
        return 0;
    out[count++] = (struct stet_alone){f->cause, programs_of(h, f, f->cause)};
    for (uint32_t i = 0; i < f->also_count; i++)
        out[count++] = (struct stet_alone){f->also[i], programs_of(h, f, f->also[i])};
    sort(out, count);
    return count;
}

void stet_alone_rank(struct stet_history *h, struct stet_finding *f)
{
    struct stet_alone causes[STET_ALSO_MOST + 1];
    struct stet_view text = f->evidence;
    uint32_t count = stet_alone_of(h, f, causes), also = 0;

    for (uint32_t i = 0; i < count; i++)
        if (causes[i].cause != f->cause)
            f->also[also++] = causes[i].cause;
    for (uint32_t i = 0; i < count; i++)
        text = stet_arena_printf(&h->arena, "%.*s%s%llu by %s", STET_FMT(text),
                                 i ? ", " : "; programs that each cause alone adds: ",
                                 (unsigned long long)causes[i].programs,
                                 stet_cause_id(causes[i].cause));
    f->evidence = text;
}
