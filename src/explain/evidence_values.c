/* Constants that changed: counters, the optimizer's own scalars, static arguments. */
#include "explain/history_internal.h"

#include <ctype.h>
#include <math.h>

static bool has(struct stet_view v, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= v.len; i++) {
        size_t k = 0;

        while (k < n && tolower((unsigned char)v.ptr[i + k]) == word[k])
            k++;
        if (k == n)
            return true;
    }
    return false;
}

/* By the user's own line, or by the library's file that it leads to. */
static bool in_optimizer(const struct stet_told *c)
{
    const struct stet_place *p = &c->place;

    return has(p->file, "/optim") || has(p->file, "optax") || has(p->function, "adam") ||
           has(p->function, "optimizer") || has(p->function, "sgd") || has(c->inside, "/optim/") ||
           has(c->inside, "/optax/");
}

/* Is the series 1 - beta^step, and not only something that falls by one ratio? Its first value has
 * a whole number of steps before it; late values are not exact enough for this. */
static bool is_correction(const struct stet_series *s)
{
    double first = s->values[0], steps;

    if (!s->geometric || s->findings < 2 || s->distinct < 3 || first <= 0 || first >= 1)
        return false;
    steps = log(1 - first) / log(s->ratio);
    return steps > 0.5 && fabs(steps - round(steps)) <= 0.02 + 1e-3 * steps;
}

/* The next change of a constant that is a cause, from *at on; NULL at the end. */
static const struct stet_told *next_constant(const struct stet_finding *f, uint32_t *at)
{
    while (*at < f->change_count) {
        const struct stet_told *c = &f->changes[(*at)++];

        if (c->kind == STET_CHANGE_CONSTANT && c->follows == STET_NO_FACET)
            return c;
    }
    return NULL;
}

static void point_at(struct stet_finding *f, const struct stet_told *c, enum stet_reason reason)
{
    if (f->reason == reason && c->place.line)
        f->origin = c->place;
}

/* A scalar such as 1 - beta^step, or any constant inside an optimizer that changes. */
static bool optimizer_scalar(struct stet_history *h, struct stet_finding *f,
                             const struct stet_told *c, const struct stet_series *s)
{
    if (is_correction(s))
        stet_finding_rename(
            h, f, STET_REASON_BAKED_CONSTANT, STET_REASON_OPTIMIZER_SCALAR, STET_SURE_CERTAIN,
            "the constant is 1 - %.4g^step: a bias correction computed in Python", s->ratio);
    else if (in_optimizer(c))
        stet_finding_rename(
            h, f, STET_REASON_BAKED_CONSTANT, STET_REASON_OPTIMIZER_SCALAR, STET_SURE_LIKELY,
            "the constant is used by the optimizer and took %u values", s->distinct);
    else
        return false;
    point_at(f, c, STET_REASON_OPTIMIZER_SCALAR);
    return true;
}

static bool counter(struct stet_history *h, struct stet_finding *f, const struct stet_told *c,
                    const struct stet_series *s)
{
    if (!s->even || s->findings < 2 || fabs(s->step) != 1)
        return false;
    stet_finding_rename(h, f, STET_REASON_BAKED_CONSTANT, STET_REASON_PYTHON_COUNTER,
                        STET_SURE_CERTAIN, "counter: %+g a call, %u times in a row", s->step,
                        s->findings);
    point_at(f, c, STET_REASON_PYTHON_COUNTER);
    return true;
}

/* The source shows which parameters are static; the line that uses the value names one. */
static bool static_argument(struct stet_history *h, struct stet_finding *f,
                            const struct stet_told *c)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_place *places[] = {&c->place, &s->traits->place, &s->trigger};
    const struct stet_pyfile *used = stet_pysource_open(&h->sources, c->place.file);
    struct stet_view text = used ? stet_py_statement(used, c->place.line) : (struct stet_view){0};

    for (size_t i = 0; text.len && i < sizeof places / sizeof *places; i++) {
        const struct stet_pyfile *file = stet_pysource_open(&h->sources, places[i]->file);
        struct stet_view name;

        if (!file)
            continue;
        name = stet_py_static_in(file, s->traits->function, text, stet_py_mentions);
        if (!name.len)
            continue;
        stet_finding_rename(
            h, f, STET_REASON_BAKED_CONSTANT, STET_REASON_STATIC_ARGUMENT, STET_SURE_CERTAIN,
            "parameter %.*s is static for jit, and its value is used in this line", STET_FMT(name));
        f->detail = stet_arena_copy(&h->arena, name);
        point_at(f, c, STET_REASON_STATIC_ARGUMENT);
        return true;
    }
    return false;
}

/* A slice start computed from a static argument: the slice is the cause, and the argument another
 * name for it. An argument that is only on the same line is not. */
static void static_start(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_pyfile *file = stet_pysource_open(&h->sources, s->traits->place.file);

    for (uint32_t i = 0; file && i < f->change_count; i++) {
        const struct stet_told *c = &f->changes[i];
        const struct stet_pyfile *used =
            c->facet == STET_FACET_SLICES && c->follows == STET_NO_FACET
                ? stet_pysource_open(&h->sources, c->place.file)
                : NULL;

        if (used && stet_py_static_in(file, s->traits->function,
                                      stet_py_statement(used, c->place.line), stet_py_uses_as_start)
                        .len)
            stet_finding_also(f, STET_REASON_STATIC_ARGUMENT);
    }
}

void stet_evidence_values(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_told *c, *first = NULL;
    const struct stet_series *s;

    if (f->reason == STET_REASON_SLICE_START)
        static_start(h, f);
    if (!stet_finding_has(f, STET_REASON_BAKED_CONSTANT))
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
    if (s && s->distinct > 2)
        stet_finding_rename(h, f, STET_REASON_BAKED_CONSTANT, STET_REASON_BAKED_CONSTANT,
                            STET_SURE_CERTAIN, "the constant took %s%u values in this run",
                            s->distinct == STET_SERIES_VALUES ? "at least " : "", s->distinct);
}
