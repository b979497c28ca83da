/* Shapes that moved: where the size came from. */
#include "explain/history_internal.h"

static const struct stet_told *size_change(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->change_count; i++)
        if (f->changes[i].kind == STET_CHANGE_ARGUMENT && f->changes[i].facet == STET_FACET_SHAPES)
            return &f->changes[i];
    return NULL;
}

/* Small programs that ran just before, outside any jitted function, and made something of the new
 * size. */
static const struct stet_sighting *maker_of(const struct stet_history *h,
                                            const struct stet_finding *f, int64_t size)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    for (uint32_t i = f->sighting, looked = 0; i-- > 0 && looked < 64;) {
        const struct stet_sighting *o = &h->sightings[i];

        if (o->past || o->process != s->process)
            continue;
        looked++;
        if (!stet_history_is_eager(o) || o->group == s->group)
            continue;
        for (uint32_t k = 0; k < o->traits->size_count; k++)
            if (o->traits->sizes[k] == size)
                return o;
    }
    return NULL;
}

/* Did a program that finds or takes by mask make it, in the same call of the same function? */
static const struct stet_sighting *
masked(const struct stet_history *h, const struct stet_finding *f, int64_t size, uint32_t marks)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    for (uint32_t i = f->sighting, looked = 0; i-- > 0 && looked < 64;) {
        const struct stet_sighting *o = &h->sightings[i];

        if (o->past || o->process != s->process || o->group == s->group)
            continue;
        looked++;
        if (!(o->traits->marks & marks) || !stet_history_is_eager(o))
            continue;
        for (uint32_t k = 0; k < o->traits->size_count; k++)
            if (o->traits->sizes[k] == size)
                return o;
    }
    return NULL;
}

static bool source_says(struct stet_history *h, const struct stet_place *p,
                        const char *const *words)
{
    const struct stet_pyfile *file = stet_pysource_open(&h->sources, p->file);
    struct stet_view text = file ? stet_py_statement(file, p->line) : (struct stet_view){0};

    for (; *words; words++)
        if (stet_py_mentions(text, stet_view_str(*words)))
            return true;
    return false;
}

static bool inner(struct stet_history *h, struct stet_finding *f)
{
    static const char *const topk[] = {"top_k(", "topk(", "approx_max_k(", NULL};
    static const char *const gather[] = {"nonzero(",     "where(",    "take(",     "masked_select(",
                                         "flatnonzero(", "argwhere(", "compress(", NULL};
    bool by_source = source_says(h, &f->origin, topk);

    if (f->facts.argument_shape || !f->facts.inner_shape)
        return false;
    if (f->facts.topk || by_source) {
        stet_finding_is(h, f, STET_REASON_TOPK_K, STET_SURE_CERTAIN, false,
                        "no argument changed; the result of a top-k went from %lld to %lld",
                        (long long)f->facts.inner_from, (long long)f->facts.inner_to);
    } else if (f->facts.gather || source_says(h, &f->origin, gather)) {
        stet_finding_is(h, f, STET_REASON_MASK_GATHER, STET_SURE_CERTAIN, false,
                        "no argument changed; a selection went from %lld to %lld elements",
                        (long long)f->facts.inner_from, (long long)f->facts.inner_to);
    } else if (f->facts.constant_is_size) {
        stet_finding_is(h, f, STET_REASON_CAPACITY_LEAK, STET_SURE_CERTAIN, false,
                        "no argument changed; an integer constant and a size inside moved "
                        "together, %lld to %lld",
                        (long long)f->facts.inner_from, (long long)f->facts.inner_to);
    } else {
        return false;
    }
    return true;
}

/* Two sizes, and the smaller comes alone between runs of the larger. */
static void last_batch(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_told *c = size_change(f);
    const struct stet_series *series = c ? stet_series_of(h, f, c) : NULL;
    struct stet_turns turns;
    bool ends_short;

    if (!series || series->distinct != 2 || f->facts.size_to >= f->facts.size_from ||
        f->facts.size_from <= 0)
        return;
    turns = stet_turns_of(h, f);
    ends_short = turns.ends || turns.switches > 1;
    if (turns.known && turns.longest_mine == 1 && turns.others_before >= 2 && ends_short)
        stet_finding_is(h, f, STET_REASON_LAST_BATCH, STET_SURE_CERTAIN, false,
                        "%.*s is %lld in every other batch; %lld comes alone, after %u of those",
                        STET_FMT(c->what), (long long)f->facts.size_from,
                        (long long)f->facts.size_to, turns.others_before);
    else if (turns.known && turns.mine == 1 && turns.others_before >= 1 && ends_short)
        stet_finding_is(h, f, STET_REASON_LAST_BATCH, STET_SURE_LIKELY, false,
                        "%.*s went from %lld to %lld once", STET_FMT(c->what),
                        (long long)f->facts.size_from, (long long)f->facts.size_to);
}

static void argument(struct stet_history *h, struct stet_finding *f)
{
    static const char *const readback[] = {".size", ".shape", "len(", "nonzero(", NULL};
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_told *c = size_change(f);
    const struct stet_series *series = c ? stet_series_of(h, f, c) : NULL;
    const struct stet_sighting *maker = masked(h, f, f->facts.size_to, STET_TRAIT_GATHER);
    const struct stet_sighting *counter = masked(h, f, f->facts.size_to, STET_TRAIT_SCAN);

    if (counter && !maker && source_says(h, &s->trigger, readback)) {
        stet_finding_is(h, f, STET_REASON_DIM_READBACK, STET_SURE_LIKELY, true,
                        "the size %lld is that of a result read back in line %u",
                        (long long)f->facts.size_to, counter->trigger.line);
        f->origin = counter->trigger;
    } else if (maker) {
        stet_finding_is(h, f, STET_REASON_MASK_GATHER, STET_SURE_LIKELY, true,
                        "the %lld elements were gathered in line %u, outside any jitted function",
                        (long long)f->facts.size_to, maker->trigger.line);
        f->origin = maker->trigger;
    } else if (f->facts.vector && f->change_count > 1) {
        stet_finding_is(h, f, STET_REASON_VARLEN, STET_SURE_LIKELY, true,
                        "a list of lengths or offsets changed its length together with the data");
    } else if (series && series->distinct > 2) {
        stet_finding_is(h, f, STET_REASON_SHAPE_DRIFT, STET_SURE_CERTAIN, false,
                        "%.*s took %s%u sizes in this run", STET_FMT(c->what),
                        series->distinct == STET_SERIES_VALUES ? "at least " : "",
                        series->distinct);
    } else {
        last_batch(h, f);
    }
    (void)maker_of;
}

void stet_evidence_sizes(struct stet_history *h, struct stet_finding *f)
{
    bool structural = f->pair == STET_REASON_GRAPH_CHANGE || f->pair == STET_REASON_BAKED_CONSTANT;

    if (f->pair != STET_REASON_SHAPE_DRIFT && !structural)
        return;
    if (inner(h, f))
        return;
    if (f->facts.argument_shape)
        argument(h, f);
}
