/* Shapes that changed: where the size came from. */
#include "explain/decided.h"
#include "explain/history_internal.h"
#include "explain/readback.h"

#include "explain/words.h"

#include <stdio.h>

static const struct stet_reported_change *size_change(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->change_count; i++)
        if (f->changes[i].kind == STET_CHANGE_ARGUMENT && f->changes[i].facet == STET_FACET_SHAPES)
            return &f->changes[i];
    return NULL;
}

static struct stet_view words_of(struct stet_history *h, const struct stet_reported_change *c)
{
    char room[STET_WORDS_MOST];

    return stet_arena_copy(&h->arena, stet_words_subject(room, c->kind, &c->of));
}

static bool has_size(const struct stet_traits *t, int64_t size)
{
    for (uint32_t k = 0; k < t->size_count; k++)
        if (t->sizes[k] == size)
            return true;
    return false;
}

/* Does what one line made reach the line that waits, by the names of a function that both are in?
 * Also true when no lines are known. */
static bool reaches(struct stet_history *h, const struct stet_sighting *made,
                    const struct stet_sighting *s)
{
    for (size_t w = 0; w < s->lines.count; w++)
        for (size_t m = 0; m < made->lines.count; m++) {
            const struct stet_frame *to = &s->lines.items[w], *from = &made->lines.items[m];

            if (stet_view_eq(to->file, from->file) && stet_view_eq(to->function, from->function))
                return to->line == from->line ||
                       stet_python_rests_argument(&h->sources, to->file, (uint32_t)to->line,
                                                  (uint32_t)from->line);
        }
    return !s->lines.count || !made->lines.count;
}

/* Are there so many indices that a program gathers by? */
static bool has_picked(const struct stet_traits *t, int64_t size)
{
    return t->picked[0] == size || t->picked[1] == size;
}

/* Can it have decided a size? What TorchTPU runs outside torch.compile gathers by index often, as
 * an embedding does, and as many as it is given. It waits for a count where it selects. */
static bool may_select(const struct stet_history *h, const struct stet_sighting *o)
{
    return o->traits->framework != STET_FRAMEWORK_TORCH_TPU ||
           (o->traits->one_place && stet_explain_read_at(h, o->process, &o->traits->place, 1));
}

/* A small program that gathers by as many indices as the new size, outside any jitted function, and
 * whose result reaches the call. It was compiled since the program of the old size. */
static const struct stet_sighting *gathered(struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    for (uint32_t i = f->sighting, looked = 0; i-- > f->against + 1 && looked < 512; looked++) {
        const struct stet_sighting *o = &h->sightings[i];

        if (o->past || o->process != s->process || o->group == s->group)
            continue;
        if ((o->traits->marks & STET_TRAIT_GATHER) && stet_history_is_eager(o) &&
            has_size(o->traits, f->facts.size_to) && has_picked(o->traits, f->facts.size_to) &&
            reaches(h, o, s) && may_select(h, o))
            return o;
    }
    return NULL;
}

static bool is_lazy(const struct stet_history *h, const struct stet_finding *f)
{
    return stet_sighting_of(h, f)->traits->framework == STET_FRAMEWORK_TORCH_XLA;
}

/* Something that was read back reaches the call, but another line decides the size of what it is
 * given. */
static bool is_sized_by_host(struct stet_history *h, struct stet_finding *f)
{
    return !is_lazy(h, f) && f->facts.argument_shape && stet_explain_sized_without_read(h, f);
}

/* The size is passed to the call and was read back from the device. Evidence: the source shows that
 * an array is read, a program ran in that line, or (unless `ran` is required) the line reads a
 * size. */
static bool read_back(struct stet_history *h, struct stet_finding *f, bool ran,
                      enum stet_rests *rests, bool *selected)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct stet_python_read read;
    struct stet_read seen;

    *selected = false;
    *rests = STET_RESTS_VALUES;
    if (stet_explain_read_passed(h, f, true, &seen)) {
        f->reads = seen.line;
        f->source = seen.at;
        *selected = seen.selected;
        if (is_lazy(h, f))
            stet_evidence_lazy_point_at(h, f, seen.line);
        return true;
    }
    if (stet_explain_reads_known(h, f) && !is_lazy(h, f))
        return false;
    *rests = STET_RESTS_RUN;
    f->reads = stet_evidence_lazy_size_read(h, s);
    if (f->reads) {
        stet_evidence_lazy_point_at(h, f, f->reads);
        return true;
    }
    /* Another function of the definition may hold another size. */
    if (f->against != STET_NONE &&
        stet_explain_made_anew(h->sightings[f->against].values, s->values))
        return false;
    if (!stet_python_argument_reads(&h->sources, s->trigger.file, s->trigger.line, &read) ||
        is_sized_by_host(h, f))
        return false;
    f->reads = read.here;
    *rests = STET_RESTS_SOURCE;
    return read.sure || stet_history_ran_where(h, s->process, &read) ||
           (!ran && stet_python_line_sizes(&h->sources, read.file, read.line));
}

static bool source_calls(struct stet_history *h, const struct stet_place *p, unsigned roles)
{
    return stet_python_line_calls(&h->sources, p->file, p->line, roles);
}

/* Is a constant the size inside, less `under`, before and after? */
static bool is_size(const struct stet_finding *f, const struct stet_reported_change *c, int under)
{
    return c->data.values[0] == (double)(f->facts.inner_from - under) &&
           c->data.values[1] == (double)(f->facts.inner_to - under);
}

/* Is the number that is a size also the limit that something is compared with, as positions are
 * with a capacity? The last position may be passed to a function, such as clip. Otherwise it is
 * just a size, as the length of a range is. */
static bool is_limit(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];
        bool compared = stet_view_is(c->of.in, "compare") || stet_view_is(c->of.in, "minimum") ||
                        stet_view_is(c->of.in, "clamp");

        if (c->kind == STET_CHANGE_CONSTANT && c->data.has_values &&
            ((compared && is_size(f, c, 0)) ||
             ((compared || stet_view_is(c->of.in, "call")) && is_size(f, c, 1))))
            return true;
    }
    return false;
}

/* Handles a size inside the program that no argument has. What changed with it (the constant that
 * is the size, k as an attribute) is not a separate cause. */
static bool inner(struct stet_history *h, struct stet_finding *f)
{
    long long from = (long long)f->facts.inner_from, to = (long long)f->facts.inner_to;
    enum stet_rests rests;
    bool selected;

    if (f->facts.argument_shape || !f->facts.inner_shape)
        return false;
    if (f->facts.topk || source_calls(h, &f->origin, PY_TOPK | PY_KTH))
        stet_finding_hear(
            h, f,
            (struct stet_finding_answer){
                STET_CAUSE_TOPK_K, .rests = f->facts.topk ? STET_RESTS_PROGRAMS : STET_RESTS_SOURCE,
                .sure = STET_SURE_CERTAIN},
            "no argument changed; the result of a top-k went from %lld to %lld", from, to);
    else if (f->facts.masked)
        stet_finding_hear(
            h, f, STET_ANSWER(MASK_GATHER, PROGRAMS, CERTAIN),
            "no argument changed; what a mask selects went from %lld to %lld elements", from, to);
    else if (read_back(h, f, f->facts.cut, &rests, &selected))
        stet_finding_hear(h, f,
                          (struct stet_finding_answer){selected ? STET_CAUSE_MASK_GATHER
                                                                : STET_CAUSE_DIM_READBACK,
                                                       .rests = rests, .sure = STET_SURE_CERTAIN},
                          "no argument changed; a size inside went from %lld to %lld, and what is "
                          "passed was read back in %.*s",
                          from, to, STET_FMT(stet_explain_read_words(h, f)));
    else if (f->facts.cut)
        stet_finding_hear(
            h, f, STET_ANSWER(TOPK_K, PROGRAMS, CERTAIN),
            "no argument changed; what is taken of a sort, a top-k, went from %lld to "
            "%lld",
            from, to);
    else if (f->facts.gather || source_calls(h, &f->origin, PY_SELECTS | PY_FINDS | PY_GATHERS))
        stet_finding_hear(h, f,
                          (struct stet_finding_answer){
                              STET_CAUSE_MASK_GATHER,
                              .rests = f->facts.gather ? STET_RESTS_PROGRAMS : STET_RESTS_SOURCE,
                              .sure = STET_SURE_CERTAIN},
                          "no argument changed; a selection went from %lld to %lld elements", from,
                          to);
    else if (f->facts.constant_is_size && is_limit(f))
        stet_finding_hear(h, f, STET_ANSWER(CAPACITY_LEAK, PROGRAMS, CERTAIN),
                          "no argument changed; an integer constant and a size inside moved "
                          "together, %lld to %lld",
                          from, to);
    else if (f->facts.made_so && f->pair == STET_CAUSE_SHAPE_DRIFT && is_lazy(h, f))
        /* The integer itself is passed as an argument there. */
        stet_finding_hear(h, f, STET_ANSWER(CAPACITY_LEAK, PROGRAMS, LIKELY),
                          "no argument changed; a size of what is made inside went from %lld to "
                          "%lld, by a Python number",
                          from, to);
    else
        return false;
    stet_finding_drop_all(f, STET_CAUSE_FOLLOWS_SIZE);
    return true;
}

/* Was a short last batch of these sizes found before, in another program of this function? */
static bool was_last(const struct stet_history *h, const struct stet_finding *f)
{
    uint32_t looked = 0;

    for (uint32_t at = stet_sighting_of(h, f)->before; at != STET_NONE && looked++ < 64;
         at = h->sightings[at].before) {
        const struct stet_finding *o =
            h->sightings[at].finding == STET_NONE ? NULL : &h->findings[h->sightings[at].finding];

        if (o && o->cause == STET_CAUSE_LAST_BATCH && o->facts.size_from == f->facts.size_from &&
            o->facts.size_to == f->facts.size_to)
            return true;
    }
    return false;
}

/* Two sizes; the smaller one appears singly between runs of the larger. */
static void last_batch(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_reported_change *c = size_change(f);
    const struct stet_series *series = c ? stet_series_of(h, f, c) : NULL;
    long long from = (long long)f->facts.size_from, to = (long long)f->facts.size_to;
    struct stet_turns turns;
    bool ends;

    if (!series || series->distinct != 2 || to >= from || from <= 0)
        return;
    turns = stet_turns_of(h, f);
    ends = turns.ends || turns.switches > 1;
    if (turns.mine > 1 && !turns.regular && !turns.periodic)
        return; /* a pass over the data has the same number of batches each time */
    if (turns.known && turns.longest_mine == 1 && turns.others_before >= 2 && ends)
        stet_finding_hear(h, f,
                          (struct stet_finding_answer){
                              STET_CAUSE_LAST_BATCH, .rests = STET_RESTS_RUN,
                              /* a batch is counted in the first dimension, as a rule */
                              .sure = c->of.index ? STET_SURE_LIKELY : STET_SURE_CERTAIN},
                          "%.*s is %lld in every other batch; %lld comes alone, after %u of those",
                          STET_FMT(words_of(h, c)), from, to, turns.others_before);
    else if (turns.known && turns.mine >= 2 && turns.others_before == 1 && turns.regular &&
             stet_place_eq(&stet_sighting_of(h, f)->trigger, &h->sightings[f->against].trigger))
        stet_finding_hear(h, f, STET_ANSWER(LAST_BATCH, RUN, LIKELY),
                          "%.*s is %lld, then %lld, in each of %u passes through the same line",
                          STET_FMT(words_of(h, c)), from, to, turns.mine);
    else if (turns.known && turns.mine == 1 && turns.others_before >= 1 && ends)
        stet_finding_hear(h, f, STET_ANSWER(LAST_BATCH, RUN, LIKELY),
                          "%.*s went from %lld to %lld once", STET_FMT(words_of(h, c)), from, to);
    else if (!turns.known && was_last(h, f)) /* it has not run yet */
        stet_finding_hear(h, f, STET_ANSWER(LAST_BATCH, RUN, LIKELY),
                          "%.*s goes from %lld to %lld again, as in the last batch before",
                          STET_FMT(words_of(h, c)), from, to);
    else if (!turns.known && !turns.others)
        stet_finding_hear(
            h, f, STET_ANSWER(LAST_BATCH, PROGRAMS, GUESS),
            "%.*s has two sizes, and the smaller one, %lld, came later; executions are "
            "not visible here",
            STET_FMT(words_of(h, c)), to);
}

/* Packed sequences come with a list of lengths or offsets, and both change their size in this run.
 * The data's own line is the origin, unless the list alone changed this time. */
static bool varlen(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_reported_change *data = NULL, *list = NULL;

    if (stet_map_get(&h->judge->packed, stet_sighting_of(h, f)->group) == STET_NONE)
        return false;
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];

        if (c->kind != STET_CHANGE_ARGUMENT || c->facet != STET_FACET_SHAPES)
            continue;
        if (f->facts.vector && i == f->facts.vector_at)
            list = c;
        else
            data = data ? data : c;
    }
    data = data ? data : list;
    if (!data)
        return false;
    stet_finding_hear(h, f, STET_ANSWER(VARLEN, RUN, LIKELY),
                      "the data comes with a list of integers (lengths, offsets) that changes its "
                      "length as well");
    if (data->place.line)
        f->origin = data->place;
    return true;
}

/* The argument is what the call before returned, and each call makes it longer by as much. */
static bool grows(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_reported_change *c =
        f->facts.returned ? &f->changes[f->facts.returned - 1] : NULL;
    const struct stet_series *series = c ? stet_series_of(h, f, c) : NULL;

    if (!series || !series->even || series->step <= 0 || series->findings < 2)
        return false;
    stet_finding_hear(
        h, f, STET_ANSWER(SHAPE_DRIFT, RUN, CERTAIN),
        "%.*s grows by %.0f a call: each call takes what the call before returned, and "
        "returns more",
        STET_FMT(words_of(h, c)), series->step);
    f->fix_text =
        is_lazy(h, f)
            ? "Allocate {name} once at its largest size, write each new part in place at "
              "a position that is a tensor (index_copy_), and mask what is not filled yet."
            : "Allocate {name} once at its largest size, write each new part with "
              "jax.lax.dynamic_update_slice at a position that is a traced argument, and "
              "mask what is not filled yet.";
    return true;
}

/* Positions that a mask selects. Where another size changed too, that is a cause beside it. */
static void selection(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_reported_change *c = &f->changes[f->facts.selects - 1];
    bool more = false;

    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *o = &f->changes[i];

        more |= o->kind == STET_CHANGE_ARGUMENT && o->facet == STET_FACET_SHAPES &&
                o->data.has_sizes && c->data.has_sizes &&
                (o->data.sizes[0] != c->data.sizes[0] || o->data.sizes[1] != c->data.sizes[1]);
    }
    stet_finding_hear(h, f,
                      (struct stet_finding_answer){
                          STET_CAUSE_MASK_GATHER, .rests = STET_RESTS_PROGRAMS, .keep = more,
                          .sure = more ? STET_SURE_LIKELY : STET_SURE_CERTAIN},
                      "%.*s holds the positions that a mask selects, %lld of them",
                      STET_FMT(words_of(h, c)),
                      (long long)(c->data.has_sizes ? c->data.sizes[1] : f->facts.size_to));
}

static void argument(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_reported_change *c = size_change(f);
    const struct stet_series *series = c ? stet_series_of(h, f, c) : NULL;
    const struct stet_sighting *maker = gathered(h, f);
    enum stet_rests rests;
    bool selected;

    if (grows(h, f))
        return;
    if (maker) {
        stet_finding_hear(h, f, STET_ANSWER(MASK_GATHER, RUN, LIKELY),
                          "the %lld elements were gathered in line %u, outside any jitted function",
                          (long long)f->facts.size_to, stet_history_line(maker)->line);
        f->origin = *stet_history_line(maker);
    } else if (f->facts.selects) {
        selection(h, f);
    } else if (varlen(h, f)) {
        return;
    } else if (read_back(h, f, false, &rests, &selected)) {
        stet_finding_hear(h, f,
                          (struct stet_finding_answer){selected ? STET_CAUSE_MASK_GATHER
                                                                : STET_CAUSE_DIM_READBACK,
                                                       .rests = rests, .sure = STET_SURE_LIKELY},
                          selected ? "what is passed was selected by values read back, in %.*s"
                                   : "what is passed depends on a value read back in %.*s",
                          STET_FMT(stet_explain_read_words(h, f)));
    } else if (series && series->distinct > 2) {
        stet_finding_hear(h, f, STET_ANSWER(SHAPE_DRIFT, RUN, CERTAIN),
                          "%.*s took %s%u sizes in this run", STET_FMT(words_of(h, c)),
                          series->more ? "more than " : "", series->distinct);
    } else {
        last_batch(h, f);
    }
}

/* Would one program with a bound have been enough? */
static void bounded(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_facts *facts = &f->facts;
    char where[128] = "";

    if (f->cause != STET_CAUSE_SHAPE_DRIFT || !facts->bounded_known || f->fix_text)
        return;
    if (!facts->forbids.len) {
        f->evidence = stet_arena_printf(&h->arena,
                                        "%.*s; one bounded dimension would have absorbed it: no "
                                        "operation it reaches needs a fixed size",
                                        STET_FMT(f->evidence));
        return;
    }
    if (facts->forbids_at.line)
        snprintf(where, sizeof where, " (line %u)", facts->forbids_at.line);
    f->evidence = stet_arena_printf(
        &h->arena, "%.*s; a bounded dimension would not have absorbed it: %.*s%s %.*s",
        STET_FMT(f->evidence), STET_FMT(facts->forbids), where, STET_FMT(facts->forbids_why));
}

/* Constants without a line of the user's (bounds of loops that a library writes) follow. */
static bool constants_are_ours(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->change_count; i++)
        if (f->changes[i].facet == STET_FACET_CONSTANTS && f->changes[i].place.line &&
            f->changes[i].follows == STET_NO_FACET)
            return true;
    return false;
}

void stet_evidence_sizes(struct stet_history *h, struct stet_finding *f)
{
    if (!stet_cause_is(f->pair, STET_CAUSE_FOLLOWS_SIZE))
        return;
    if (inner(h, f) || !f->facts.argument_shape)
        return;
    if (!constants_are_ours(f))
        stet_finding_drop(f, STET_CAUSE_BAKED_CONSTANT);
    argument(h, f);
    bounded(h, f);
}
