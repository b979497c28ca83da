/* Constants that changed: counters, the optimizer's own scalars, static arguments. */
#include "explain/history_internal.h"
#include "fingerprint/scalar.h"

#include <math.h>

/* The number of earlier programs of a function that are examined. */
enum { LOOK_BACK = 64 };

/* By the user's own line, or by the library's file that it leads to. */
static bool in_optimizer(struct stet_history *h, const struct stet_reported_change *c)
{
    return stet_python_is_optimizer(&h->sources, c->place.file, c->place.line) ||
           stet_python_is_optimizer(&h->sources, c->inside, 0);
}

/* Do the first three values grow by the same amount? Those of 1 - 0.999^step differ by a thousandth
 * in that. */
static bool is_straight(const struct stet_series *s)
{
    double once = s->values[1] - s->values[0], again = s->values[2] - s->values[1];

    return stet_scalar_close(once, again, 1e-4);
}

/* Is the series 1 - beta^step, and not only something that falls by one ratio? Its first value has
 * a whole number of steps before it; late values are not exact enough for this. */
static bool is_correction(const struct stet_series *s)
{
    double first = s->values[0], steps;

    if (!s->geometric || s->findings < 2 || s->distinct < 3 || first <= 0 || first >= 1 ||
        is_straight(s))
        return false;
    steps = log(1 - first) / log(s->ratio);
    return steps > 0.5 && fabs(steps - round(steps)) <= 0.02 + 1e-3 * steps;
}

/* The next change of a constant that is a cause, from *at on; NULL at the end. */
static const struct stet_reported_change *next_constant(const struct stet_finding *f, uint32_t *at)
{
    while (*at < f->change_count) {
        const struct stet_reported_change *c = &f->changes[(*at)++];

        if (c->kind == STET_CHANGE_CONSTANT && c->follows == STET_NO_FACET)
            return c;
    }
    return NULL;
}

static void point_at(struct stet_finding *f, const struct stet_reported_change *c,
                     enum stet_cause cause)
{
    if (f->cause == cause && c->place.line)
        f->origin = c->place;
}

/* A scalar such as 1 - beta^step, or any constant inside an optimizer that changes. */
static bool optimizer_scalar(struct stet_history *h, struct stet_finding *f,
                             const struct stet_reported_change *c, const struct stet_series *s)
{
    if (is_correction(s))
        stet_finding_hear(h, f, STET_BETTER(BAKED_CONSTANT, OPTIMIZER_SCALAR, RUN, CERTAIN),
                          "the constant is 1 - %.4g^step: a bias correction computed in Python",
                          s->ratio);
    else if (in_optimizer(h, c))
        stet_finding_hear(h, f, STET_BETTER(BAKED_CONSTANT, OPTIMIZER_SCALAR, SOURCE, LIKELY),
                          "the constant is used by the optimizer and took %u values", s->distinct);
    else
        return false;
    point_at(f, c, STET_CAUSE_OPTIMIZER_SCALAR);
    return true;
}

/* A counter has another value in each call. A value that stays for several, or comes back, is a
 * setting. */
static bool is_setting(const struct stet_history *h, const struct stet_finding *f)
{
    struct stet_turns turns = stet_turns_of(h, f);

    return turns.known && turns.mine > 1;
}

static bool counter(struct stet_history *h, struct stet_finding *f,
                    const struct stet_reported_change *c, const struct stet_series *s)
{
    if (!s->even || s->findings < 2 || fabs(s->step) != 1 || is_setting(h, f))
        return false;
    stet_finding_hear(h, f, STET_BETTER(BAKED_CONSTANT, PYTHON_COUNTER, RUN, CERTAIN),
                      "counter: %+g a call, %u times in a row", s->step, s->findings);
    point_at(f, c, STET_CAUSE_PYTHON_COUNTER);
    return true;
}

const struct stet_series *stet_series_counts(const struct stet_history *h,
                                             const struct stet_finding *f,
                                             const struct stet_moved *m, bool skips)
{
    const struct stet_series *s = m->numeric ? stet_series_of_moved(h, f, m) : NULL;

    if (!s || !s->even || s->findings < 2 || is_setting(h, f))
        return NULL;
    return fabs(s->step) == 1 || (skips && s->step == round(s->step)) ? s : NULL;
}

/* Is it a field of an object that the call was given, a number that a library's wrapper took out of
 * the arguments, or a variable that the called function names? Another number that is passed itself
 * is an argument. */
static bool is_given(struct stet_history *h, const struct stet_finding *f,
                     const struct stet_moved *m)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    if (m->scope == STET_SCOPE_CLOSURE || (m->scope == STET_SCOPE_ARGUMENT && m->wrapped) ||
        m->passed)
        return true;
    if (!m->path.len || !memchr(m->path.ptr, '.', m->path.len))
        return false;
    if (m->scope == STET_SCOPE_ARGUMENT)
        return true;
    return m->scope == STET_SCOPE_LOCAL &&
           stet_python_binding_line(&h->sources, s->trigger.file, s->trigger.line,
                                    stet_explain_moved_root(m));
}

/* A field or variable of the user's counts, and the constant is computed from it. */
static bool counts(struct stet_history *h, struct stet_finding *f,
                   const struct stet_reported_change *c, const struct stet_series *constant)
{
    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];
        const struct stet_series *s = stet_series_counts(h, f, m, false);

        if (!s || !is_given(h, f, m))
            continue;
        stet_finding_hear(
            h, f,
            (struct stet_finding_answer){
                STET_CAUSE_PYTHON_COUNTER, .names = STET_CAUSE_BAKED_CONSTANT,
                .rests = STET_RESTS_VALUES,
                .sure = constant && constant->even ? STET_SURE_CERTAIN : STET_SURE_LIKELY},
            "the constant is computed from %.*s, a counter: %+g a call, %u times in "
            "a row",
            STET_FMT(m->path), s->step, s->findings);
        point_at(f, c, STET_CAUSE_PYTHON_COUNTER);
        return true;
    }
    return false;
}

/* The source shows which parameters are static; the line that uses the value names one. */
static bool static_argument(struct stet_history *h, struct stet_finding *f,
                            const struct stet_reported_change *c)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_place *places[] = {&c->place, &s->traits->place, &s->trigger};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct stet_view name = stet_python_static_used(
            &h->sources, places[i]->file, s->traits->function, c->place.file, c->place.line, false);

        if (!name.len)
            continue;
        stet_finding_hear(h, f, STET_BETTER(BAKED_CONSTANT, STATIC_ARGUMENT, SOURCE, CERTAIN),
                          "parameter %.*s is static for jit, and its value is used in this line",
                          STET_FMT(name));
        f->detail = stet_arena_copy(&h->arena, name);
        point_at(f, c, STET_CAUSE_STATIC_ARGUMENT);
        return true;
    }
    return false;
}

/* A slice start computed from a static argument: the slice is the cause, and the argument another
 * name for it. An argument that is only on the same line is not. */
static void static_start(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];

        if (c->facet == STET_FACET_SLICES && c->follows == STET_NO_FACET &&
            stet_python_static_used(&h->sources, s->traits->place.file, s->traits->function,
                                    c->place.file, c->place.line, true)
                .len)
            stet_finding_also(f, STET_CAUSE_STATIC_ARGUMENT);
    }
}

static bool constant_at(const struct stet_finding *f, const struct stet_place *at)
{
    for (uint32_t i = 0; i < f->change_count; i++)
        if (f->changes[i].kind == STET_CHANGE_CONSTANT && f->changes[i].follows == STET_NO_FACET &&
            stet_place_eq(&f->changes[i].place, at))
            return true;
    return false;
}

/* Did a constant of this line change between earlier programs of the function? */
static bool had_constant(const struct stet_history *h, const struct stet_finding *f,
                         const struct stet_place *at)
{
    uint32_t looked = 0;

    for (uint32_t n = stet_sighting_of(h, f)->before; n != STET_NONE && looked++ < LOOK_BACK;
         n = h->sightings[n].before)
        if (h->sightings[n].finding != STET_NONE &&
            constant_at(&h->findings[h->sightings[n].finding], at))
            return true;
    return false;
}

/* Operations came or went in a line whose number changed before: the number is now one that needs
 * none of them, or others, as a dropout of 0 is. */
static void special_value(struct stet_history *h, struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];

        if ((c->kind != STET_CHANGE_OP_CAME && c->kind != STET_CHANGE_OP_WENT) || !c->place.line ||
            c->follows != STET_NO_FACET || !had_constant(h, f, &c->place))
            continue;
        if (stet_finding_hear(h, f, STET_BETTER(GRAPH_CHANGE, BAKED_CONSTANT, RUN, LIKELY),
                              "line %u has other operations now; earlier programs differ in a "
                              "constant of that line",
                              c->place.line))
            f->origin = c->place;
        return;
    }
}

void stet_evidence_values(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_reported_change *c, *first = NULL;
    const struct stet_series *s;

    if (f->cause == STET_CAUSE_SLICE_START)
        static_start(h, f);
    if (f->cause == STET_CAUSE_GRAPH_CHANGE) {
        special_value(h, f);
        return;
    }
    if (!stet_finding_has(f, STET_CAUSE_BAKED_CONSTANT))
        return;
    for (uint32_t at = 0; (c = next_constant(f, &at));) {
        s = stet_series_of(h, f, c);
        first = first ? first : c;
        if (s && (counter(h, f, c, s) || optimizer_scalar(h, f, c, s)))
            return;
    }
    for (uint32_t at = 0; (c = next_constant(f, &at));)
        if (static_argument(h, f, c))
            return;
    s = first ? stet_series_of(h, f, first) : NULL;
    if (first && counts(h, f, first, s))
        return;
    if (s && s->distinct > 2)
        stet_finding_hear(h, f, STET_BETTER(BAKED_CONSTANT, BAKED_CONSTANT, RUN, CERTAIN),
                          "the constant took %s%u values in this run",
                          s->distinct == STET_SERIES_VALUES ? "at least " : "", s->distinct);
}
