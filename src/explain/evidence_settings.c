/* Settings of JAX that changed inside a run: the precision of products, and 64-bit types. No
 * argument shows them, and JAX compiles again for each. */
#include "explain/history_internal.h"
#include "explain/observed.h"

/* The attributes of operations that jax.default_matmul_precision sets. */
static bool is_precision(const struct stet_reported_change *c)
{
    return c->kind == STET_CHANGE_ATTRIBUTE &&
           (stet_view_is(c->of.name, "precision_config") || stet_view_is(c->of.name, "precision") ||
            stet_view_is(c->of.name, "algorithm"));
}

/* Are they all that differs in operations? Sizes and constants may differ as well. */
static bool precision_differs(const struct stet_finding *f)
{
    bool found = false;

    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];

        if (c->follows != STET_NO_FACET)
            continue;
        if (stet_diff_change_cause(c->kind, c->facet, c->op) == STET_CAUSE_GRAPH_CHANGE &&
            !is_precision(c))
            return false;
        found |= is_precision(c);
    }
    return found;
}

static bool static_moved(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->moved_count; i++)
        if (f->moved[i].static_argument && f->moved[i].scope == STET_SCOPE_ARGUMENT)
            return true;
    return false;
}

/* Were all arguments of a call read to their end? */
static bool is_read(struct stet_view values)
{
    struct stet_journal_values_reader r;
    struct stet_journal_value v;
    bool any = false;

    stet_journal_values_open(&r, values);
    while (stet_journal_values_next(&r, &v)) {
        any |= v.scope == STET_SCOPE_ARGUMENT;
        if (v.scope == STET_SCOPE_ARGUMENT && v.kind == STET_VALUE_LENGTH &&
            stet_view_ends(v.path, STET_VALUES_CUT))
            return false;
    }
    return any;
}

/* The program takes an argument as another type, though both calls passed the same type. */
static bool width_differs(const struct stet_history *h, const struct stet_finding *f)
{
    bool found = false;

    for (uint32_t i = 0; i < f->moved_count; i++)
        if (f->moved[i].scope == STET_SCOPE_ARGUMENT && (f->moved[i].typed || f->moved[i].array))
            return false;
    for (uint32_t i = 0; i < f->change_count && !found; i++)
        found =
            f->changes[i].kind == STET_CHANGE_ARGUMENT && f->changes[i].facet == STET_FACET_DTYPES;
    return found && is_read(h->sightings[f->against].values) &&
           is_read(stet_sighting_of(h, f)->values);
}

/* The line that sets an option of JAX around the call, or the only one in a function. */
static void find_line(struct stet_history *h, struct stet_finding *f)
{
    struct stet_python_made made;
    struct stet_observed seen;

    stet_observed_init(&seen, h, f);
    made = stet_python_sets_option(&h->sources, &seen.stack);
    stet_observed_release(&seen);
    if (!made.line)
        return;
    f->source = stet_lines_place(h, &made);
    f->source_sure = made.sure ? STET_SURE_CERTAIN : STET_SURE_LIKELY;
}

void stet_evidence_settings(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    if (s->traits->framework != STET_FRAMEWORK_JAX || s->eager || f->facts.first || f->facts.past ||
        f->against == STET_NONE || static_moved(f))
        return;
    if (stet_finding_has(f, STET_CAUSE_GRAPH_CHANGE) && precision_differs(f)) {
        if (stet_finding_hear(h, f, STET_BETTER(GRAPH_CHANGE, OPTIONS_DRIFT, PROGRAMS, LIKELY),
                              "products are computed with another precision, and no argument that "
                              "was seen sets it: a setting of JAX changed"))
            find_line(h, f);
        f->detail = STET_VIEW("jax_default_matmul_precision");
    } else if (f->cause == STET_CAUSE_DTYPE_CHANGE && width_differs(h, f)) {
        stet_finding_hear(h, f, STET_BETTER(DTYPE_CHANGE, OPTIONS_DRIFT, VALUES, LIKELY),
                          "an argument is taken as another type, though both calls passed the same "
                          "one: a setting of JAX changed");
        f->detail = STET_VIEW("jax_enable_x64");
        find_line(h, f);
    } else {
        return;
    }
    f->fix_text = "Set {detail} once, before the first call, and keep it: JAX compiles again for "
                  "each value of a setting.";
}
