/* Derives causes from comparisons: collects series of values over the run, then evaluates each kind
 * of evidence in turn. */
#include "explain/history_internal.h"

#include "base/vec.h"
#include "fingerprint/scalar.h"

/* ---- findings ---- */

bool stet_finding_has(const struct stet_finding *f, enum stet_cause cause)
{
    for (uint32_t i = 0; i < f->also_count; i++)
        if (f->also[i] == cause)
            return true;
    return f->cause == cause;
}

bool stet_finding_is(const struct stet_finding *f, unsigned flags)
{
    for (uint32_t i = 0; i < f->also_count; i++)
        if (stet_cause_is(f->also[i], flags))
            return true;
    return stet_cause_is(f->cause, flags);
}

void stet_finding_also(struct stet_finding *f, enum stet_cause cause)
{
    if (cause != STET_CAUSE_NONE && !stet_finding_has(f, cause) && f->also_count < STET_ALSO_MOST)
        f->also[f->also_count++] = cause;
}

void stet_finding_drop(struct stet_finding *f, enum stet_cause cause)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->also_count; i++)
        if (f->also[i] != cause)
            f->also[n++] = f->also[i];
    f->also_count = n;
}

void stet_finding_drop_all(struct stet_finding *f, unsigned flags)
{
    for (uint32_t i = f->also_count; i-- > 0;)
        if (stet_cause_is(f->also[i], flags))
            stet_finding_drop(f, f->also[i]);
}

const struct stet_reported_change *stet_finding_change(const struct stet_finding *f,
                                                       enum stet_change_kind kind)
{
    for (uint32_t i = 0; i < f->change_count; i++)
        if (f->changes[i].kind == kind && f->changes[i].follows == STET_NO_FACET)
            return &f->changes[i];
    return NULL;
}

const struct stet_moved *stet_finding_constant_holder(const struct stet_finding *f, uint32_t change)
{
    const struct stet_reported_change *c = &f->changes[change];

    if (c->kind != STET_CHANGE_CONSTANT || c->follows != STET_NO_FACET)
        return NULL;
    return stet_explain_moved_holder(f->moved, f->moved_count,
                                     c->data.has_values ? c->data.values : NULL);
}

/* ---- series ---- */

static uint64_t change_key(uint32_t group, const struct stet_reported_change *c)
{
    uint64_t which = (uint64_t)c->of.index << 16 | (uint64_t)c->of.aspect << 8 | (uint64_t)c->kind;
    struct stet_hash h = stet_hash_mix_u64(stet_hash_bytes(c->of.name), which);

    h = stet_hash_mix(h, stet_hash_bytes(c->of.in));
    h = stet_hash_mix(h, stet_hash_bytes(c->of.target));
    h = stet_hash_mix(h, stet_hash_bytes(c->place.file));
    return stet_hash_mix_u64(stet_hash_mix_u64(h, c->place.line), group).lo;
}

static void add_value(struct stet_series *s, double v)
{
    for (uint32_t i = 0; i < s->distinct; i++)
        if (s->values[i] == v)
            return;
    if (s->distinct < STET_SERIES_VALUES)
        s->values[s->distinct++] = v;
    else
        s->more = true;
}

static void extend(struct stet_series *s, double from, double to)
{
    double ratio = 1 - from != 0 ? (1 - to) / (1 - from) : 0;

    if (!s->findings) {
        s->step = to - from;
        s->ratio = ratio;
        s->even = true;
        s->geometric = ratio > 0 && ratio < 1 && from < 1;
        add_value(s, from);
    } else {
        s->even = s->even && from == s->last && to - from == s->step;
        s->geometric = s->geometric && stet_scalar_close(ratio, s->ratio, 1e-3);
    }
    s->last = to;
    s->findings++;
    add_value(s, to);
}

static bool add_values(struct stet_history *h, uint64_t key, double from, double to)
{
    struct stet_history_judge *j = h->judge;
    uint32_t at = stet_map_get(&j->by_change, key);

    if (at == STET_NONE) {
        if (!stet_vec_room(&j->series, &j->series_room, j->series_count, sizeof *j->series))
            return false;
        at = j->series_count++;
        j->series[at] = (struct stet_series){.numeric = true};
        if (!stet_map_put(&j->by_change, key, at))
            return false;
    }
    extend(&j->series[at], from, to);
    return true;
}

static uint64_t moved_key(uint32_t group, const struct stet_moved *m)
{
    struct stet_hash h = stet_hash_mix_u64(stet_hash_bytes(m->path), (uint64_t)m->scope);

    return stet_hash_mix_u64(h, ~(uint64_t)group).lo;
}

/* Did the size of another argument move together with a list of integers? */
static bool is_packed(const struct stet_finding *f)
{
    for (uint32_t i = 0; f->facts.vector && i < f->change_count; i++)
        if (i != f->facts.vector_at && f->changes[i].kind == STET_CHANGE_ARGUMENT &&
            f->changes[i].facet == STET_FACET_SHAPES)
            return true;
    return false;
}

static bool gather_series(struct stet_history *h)
{
    for (; h->judge->next < h->finding_count; h->judge->next++) {
        const struct stet_finding *f = &h->findings[h->judge->next];

        if (is_packed(f) && !stet_map_put(&h->judge->packed, stet_sighting_of(h, f)->group, 1))
            return false;
        for (uint32_t i = 0; i < f->change_count; i++)
            if (f->changes[i].data.has_values &&
                !add_values(h, change_key(stet_sighting_of(h, f)->group, &f->changes[i]),
                            f->changes[i].data.values[0], f->changes[i].data.values[1]))
                return false;
        for (uint32_t i = 0; i < f->moved_count; i++)
            if (f->moved[i].numeric &&
                !add_values(h, moved_key(stet_sighting_of(h, f)->group, &f->moved[i]),
                            f->moved[i].from_number, f->moved[i].to_number))
                return false;
    }
    return true;
}

struct stet_series *stet_series_of(const struct stet_history *h, const struct stet_finding *f,
                                   const struct stet_reported_change *change)
{
    uint32_t at =
        stet_map_get(&h->judge->by_change, change_key(stet_sighting_of(h, f)->group, change));

    return at == STET_NONE ? NULL : &h->judge->series[at];
}

const struct stet_series *stet_series_of_moved(const struct stet_history *h,
                                               const struct stet_finding *f,
                                               const struct stet_moved *m)
{
    uint32_t at = stet_map_get(&h->judge->by_change, moved_key(stet_sighting_of(h, f)->group, m));

    return at == STET_NONE ? NULL : &h->judge->series[at];
}

/* ---- order of executions ---- */

enum { MOST_TURNS = 1 << 14 };

/* Counts turns of one size or one program: the finding's own, and the one it was compared with. */
struct stet_turns stet_turns_of(const struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_order *o =
        s->process < h->order_count ? &h->orders[s->process] : &(struct stet_order){0};
    struct stet_turns t = {.regular = true, .periodic = true};
    uint32_t row = 0, others = 0, period = 0;
    bool was_mine = false, any = false;

    for (size_t i = 0; i < o->count && t.mine + t.others < MOST_TURNS; i++) {
        bool mine = o->items[i] == f->sighting;

        if (o->items[i] == STET_NONE || h->sightings[o->items[i]].group != s->group)
            continue;
        t.switches += any && mine != was_mine;
        any = true;
        if (mine) {
            t.mine++;
            row++;
            t.regular &= others == t.others_before;
            t.periodic &= t.mine <= 2 || others == period;
            period = t.mine > 1 ? others : 0;
            others = 0;
            t.longest_mine = row > t.longest_mine ? row : t.longest_mine;
        } else {
            t.others++;
            others++;
            t.others_before += !t.mine;
            row = 0;
        }
        was_mine = mine;
    }
    t.periodic &= t.mine > 2;
    t.ends = was_mine;
    t.known = t.mine > 0;
    return t;
}

/* ---- all ---- */

/* Against an earlier run: what is below may differ, and how it is compiled. Otherwise it is a first
 * of its kind like any other, because sources are edited between launches. */
static void judge_past(struct stet_history *h, struct stet_finding *f)
{
    stet_evidence_bundle(h, f);
    if (stet_cause_is(f->cause, STET_CAUSE_BETWEEN_LAUNCHES)) {
        f->benign = stet_history_is_eager(stet_sighting_of(h, f));
        return;
    }
    f->cause = STET_CAUSE_NONE;
    f->also_count = 0;
    f->facts.first = true;
    stet_evidence_branch(h, f);
    f->facts.first = false;
}

static bool is_observed(const struct stet_history *h, const struct stet_finding *f)
{
    return stet_sighting_of(h, f)->values.len &&
           (f->against == STET_NONE || h->sightings[f->against].values.len);
}

/* Do the same lines wait for both? */
static bool is_same_path(const struct stet_sighting *a, const struct stet_sighting *b)
{
    if (a->lines.count != b->lines.count)
        return false;
    for (size_t i = 0; i < a->lines.count; i++)
        if (a->lines.items[i].line != b->lines.items[i].line ||
            !stet_view_eq(a->lines.items[i].file, b->lines.items[i].file))
            return false;
    return true;
}

/* A graph of PyTorch/XLA whose difference has no name, and which another call waits for, is that
 * call's own program. */
static bool is_own_program(const struct stet_history *h, const struct stet_finding *f)
{
    return f->cause == STET_CAUSE_UNKNOWN && !f->change_count && f->against != STET_NONE &&
           stet_sighting_of(h, f)->lines.count &&
           !is_same_path(stet_sighting_of(h, f), &h->sightings[f->against]);
}

static void judge_one(struct stet_history *h, struct stet_finding *f)
{
    stet_finding_begin(f);
    f->benign = f->prepares = f->open = false;
    f->detail = (struct stet_view){0};
    f->fix_text = NULL;
    f->reads = 0;
    f->origin = f->pair_origin;
    f->source = (struct stet_place){0};
    f->source_sure = STET_SURE_CERTAIN;
    if (f->facts.past) {
        judge_past(h, f);
        return;
    }
#define EVIDENCE(name, what) stet_evidence_##name(h, f);
#include "explain/evidence.def"
#undef EVIDENCE
    stet_lines_weigh(h, f);
    stet_finding_settle(f, is_observed(h, f));
    f->benign |= stet_cause_is(f->cause, STET_CAUSE_HARMLESS) || is_own_program(h, f);
    f->open = stet_finding_is_open(h, f);
}

/* Findings that wait in this line become part of another finding; `cut`: also a graph of
 * PyTorch/XLA that ends there because its value is read. */
static void join_line(struct stet_history *h, const struct stet_sighting *m, struct stet_place at,
                      bool cut)
{
    uint32_t last = at.line ? stet_history_on_line(h, m->process, &at) : STET_NONE;

    if (last == STET_NONE || h->findings[last].joined[cut])
        return;
    h->findings[last].joined[cut] = true;
    for (uint32_t i = last; i != STET_NONE; i = h->findings[i].on_line) {
        struct stet_finding *f = &h->findings[i];

        f->prepares |= stet_history_is_eager(stet_sighting_of(h, f));
        if ((cut && f->cause == STET_CAUSE_HOST_SYNC) ||
            (f->cause != STET_CAUSE_NONE && f->prepares))
            f->benign = true;
    }
}

/* Operations outside any jitted function that only prepare what another finding names (its mask,
 * its size, the value it branches on) are part of that one. */
static void join(struct stet_history *h, struct stet_finding *main)
{
    const struct stet_sighting *m = stet_sighting_of(h, main);
    struct stet_python_read read;

    if (main->cause == STET_CAUSE_NONE || main->benign || stet_history_is_eager(m))
        return;
    if (!main->reads &&
        stet_python_argument_reads(&h->sources, m->trigger.file, m->trigger.line, &read))
        main->reads = read.here;
    join_line(h, m, main->origin, false);
    join_line(h, m, main->source, false);
    join_line(h, m, (struct stet_place){.file = m->trigger.file, .line = main->reads},
              stet_cause_is(main->cause, STET_CAUSE_READS_BACK));
    join_line(h, m, m->trigger, false);
}

enum stet_rc stet_history_judge_from(struct stet_history *h, uint32_t first, struct stet_err *err)
{
    bool good = true;

    h->judge->round++;
    if (!gather_series(h) || !stet_lines_note(h) || !stet_turns_count(h))
        return stet_fail(err, STET_NO_MEMORY, "out of memory for judging a run");
    for (uint32_t i = first; i < h->finding_count; i++) {
        memset(h->findings[i].joined, 0, sizeof h->findings[i].joined);
        judge_one(h, &h->findings[i]);
    }
    for (uint32_t i = first; i < h->finding_count; i++)
        join(h, &h->findings[i]);
    if (h->whole)
        good = stet_explain_storms(h);
    for (uint32_t i = first; i < h->finding_count; i++)
        stet_fixes_write(h, &h->findings[i]);
    for (uint32_t i = first; i < h->finding_count; i++)
        stet_alone_rank(h, &h->findings[i]);
    for (uint32_t i = first; i < h->finding_count; i++)
        stet_advice_write(h, &h->findings[i]);
    return h->arena.failed || !good
               ? stet_fail(err, STET_NO_MEMORY, "out of memory for judging a run")
               : STET_OK;
}

enum stet_rc stet_history_judge(struct stet_history *h, struct stet_err *err)
{
    enum stet_rc rc;

    h->whole = true;
    rc = stet_history_judge_from(h, 0, err);
    if (rc == STET_OK)
        stet_history_tell_ranks(h);
    return rc;
}
