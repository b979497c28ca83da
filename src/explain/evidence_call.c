/* What was observed in Python at the two compiles: static arguments that differ, and the variable
 * that has the value of a constant. */
#include "explain/decided.h"
#include "explain/history_internal.h"

#include <math.h>

/* An array argument changed too: then the static one is not the only cause. */
static bool arrays_moved(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->moved_count; i++)
        if (f->moved[i].scope == STET_SCOPE_ARGUMENT && f->moved[i].array &&
            !f->moved[i].traced_alike)
            return true;
    return false;
}

static bool name_static(struct stet_history *h, struct stet_finding *f, const struct stet_moved *m)
{
    return stet_finding_hear(h, f, STET_ANSWER(STATIC_ARGUMENT, VALUES, CERTAIN),
                             "static argument %.*s: %.*s -> %.*s", STET_FMT(m->path),
                             STET_FMT(m->from), STET_FMT(m->to));
}

/* The source named the argument; the values that it had are better evidence. */
static void observed(struct stet_history *h, struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->moved_count; i++)
        if (f->moved[i].static_argument && stet_view_eq(f->moved[i].path, f->detail))
            name_static(h, f, &f->moved[i]);
}

/* A size inside follows from a number that is passed as a static argument. */
static void static_size(struct stet_history *h, struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        if (!m->static_argument || !m->numeric)
            continue;
        f->evidence = stet_arena_printf(&h->arena, "static argument %.*s: %.*s -> %.*s; %.*s",
                                        STET_FMT(m->path), STET_FMT(m->from), STET_FMT(m->to),
                                        STET_FMT(f->evidence));
        f->detail = m->path;
        f->fix_text = "{detail} is static and sets a size, so each value is another program: "
                      "compute the capacity from the configuration (the largest), pass that one "
                      "value in every call, and mask what is over.";
        return;
    }
}

/* A number in an object that a library's wrapper makes static is not a static argument of
 * the user's: it is compiled in as a constant. */
static bool is_field(const struct stet_finding *f, const struct stet_moved *m)
{
    return m->wrapped && m->numeric && !m->flag && f->cause == STET_CAUSE_BAKED_CONSTANT;
}

/* Did a size inside go from one of its values to the other? */
static bool is_size(const struct stet_finding *f, const struct stet_moved *m)
{
    return m->numeric && !m->flag && f->facts.inner_shape &&
           (double)f->facts.inner_from == m->from_number &&
           (double)f->facts.inner_to == m->to_number;
}

static void static_argument(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_moved *m = NULL;

    if (f->cause == STET_CAUSE_STATIC_ARGUMENT)
        observed(h, f);
    for (uint32_t i = 0; i < f->moved_count && !m; i++)
        m = f->moved[i].static_argument ? &f->moved[i] : NULL;
    if (!m || is_field(f, m) || !stet_cause_is(f->cause, STET_CAUSE_DESCRIBES) || arrays_moved(f))
        return;
    if (!name_static(h, f, m))
        return;
    f->also_count = 0; /* what else differs follows from it */
    f->detail = m->path;
    if (is_size(f, m))
        f->fix_text = "{detail} is static and sets a size, so it cannot be traced and each value "
                      "is another program: pass one value (the largest) in every call, and mask "
                      "what is over.";
    if (m->flag)
        f->fix_text = "{detail} has two values, so two programs are right: run the step once with "
                      "each of them during warm-up, or compute both ways with jnp.where.";
}

/* A Python value in an object that the call passes, which a library makes static. */
static const struct stet_moved *static_field(struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_place *at = &stet_sighting_of(h, f)->trigger;

    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        if (m->scope == STET_SCOPE_LOCAL && !m->array && (m->numeric || m->flag) &&
            stet_python_line_passes(&h->sources, at->file, at->line, m->path))
            return m;
    }
    return NULL;
}

/* Does the number go up by one with each program, each of which runs once? */
static bool is_counter(const struct stet_history *h, const struct stet_finding *f,
                       const struct stet_moved *m)
{
    const struct stet_series *s = m->numeric && !m->flag ? stet_series_of_moved(h, f, m) : NULL;

    return s && s->even && s->findings >= 2 && fabs(s->step) == 1 && stet_turns_of(h, f).mine <= 1;
}

/* The same program for each call: a number counts in a model, if only one line does that. */
static bool counts_in_model(struct stet_history *h, struct stet_finding *f)
{
    struct stet_python_made made;

    if (stet_sighting_of(h, f)->executions > 1 || h->sightings[f->against].executions > 1)
        return false;
    made = stet_python_counts_in_model(&h->sources);
    if (!made.line || !stet_finding_hear(h, f, STET_ANSWER(PYTHON_COUNTER, PROGRAMS, LIKELY),
                                         "the program is the same in each call, and line %u counts "
                                         "in a model, whose Python values are static",
                                         made.line))
        return false;
    f->source = stet_lines_place(h, &made);
    f->source_sure = STET_SURE_LIKELY;
    return true;
}

/* The program is the same: its key has a Python value that it does not use. */
static bool in_an_object(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_moved *m = static_field(h, f);

    if (!m)
        return counts_in_model(h, f);
    if (!stet_finding_hear(h, f,
                           is_counter(h, f, m) ? STET_ANSWER(PYTHON_COUNTER, VALUES, LIKELY)
                                               : STET_ANSWER(STATIC_ARGUMENT, VALUES, LIKELY),
                           "%.*s was %.*s and is %.*s; the program is the same, but Python values "
                           "of an object are static",
                           STET_FMT(m->path), STET_FMT(m->from), STET_FMT(m->to)))
        return false;
    f->detail = m->path;
    f->fix_text = "Keep {detail} out of the object that is passed, or make it an array (in "
                  "flax.nnx a Variable): each of its values is another key, though the program is "
                  "the same.";
    stet_explain_decided_moved(h, f, m);
    return true;
}

static void same_around(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_place *was = &h->sightings[f->against].trigger;
    const struct stet_place *is = &stet_sighting_of(h, f)->trigger;

    if (was->line && is->line && !stet_place_eq(was, is))
        f->evidence = stet_arena_printf(&h->arena, "%.*s; line %u called it then, line %u now",
                                        STET_FMT(f->evidence), was->line, is->line);
    f->fix_text = "The program is the same, and the arguments that were seen are too: something "
                  "around the call differs, such as a JAX setting, or a Python value in an object "
                  "that a library made static, such as a counter in a flax.nnx module (make it an "
                  "nnx.Variable). Keep it the same in each call.";
}

/* The next value, from *at on, that the user's line passed to a library's wrapper, and that is a
 * part of its key; NULL at the end. */
static const struct stet_moved *next_passed(const struct stet_finding *f, uint32_t *at)
{
    while (*at < f->moved_count) {
        const struct stet_moved *m = &f->moved[(*at)++];

        if (m->passed && (m->numeric || m->flag || m->anew || m->one_sided))
            return m;
    }
    return NULL;
}

/* The program is the same, and a Python value in what was passed to a library's wrapper differs: a
 * counter, or something else. */
static bool passed_another(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_moved *m;
    const struct stet_series *s;

    for (uint32_t at = 0; (m = next_passed(f, &at));) {
        s = stet_series_counts(h, f, m, true);
        if (!s)
            continue;
        stet_finding_hear(h, f, STET_ANSWER(PYTHON_COUNTER, VALUES, CERTAIN),
                          "%.*s is a counter: %+g a call, %u times in a row; the program is the "
                          "same, and the library's jit compiles for each value",
                          STET_FMT(m->path), s->step, s->findings);
        f->detail = m->path;
        return true;
    }
    m = next_passed(f, &(uint32_t){0});
    if (!m)
        return false;
    stet_finding_hear(h, f, stet_finding_same(f, STET_RESTS_VALUES, STET_SURE_CERTAIN),
                      "%.*s %s %.*s; the program is the same, and the library's jit compiles for "
                      "each value",
                      STET_FMT(m->path), m->anew ? "is another" : "is now", STET_FMT(m->to));
    f->detail = m->path;
    f->fix_text =
        "The program is the same: only the key of the library's jit differs. Keep {detail} "
        "the same in each call, or make it an array or a variable of the library.";
    return true;
}

static void in_another_mesh(struct stet_history *h, struct stet_finding *f,
                            const struct stet_moved *m)
{
    stet_finding_hear(
        h, f, stet_finding_same(f, STET_RESTS_VALUES, STET_SURE_CERTAIN),
        "the program is the same; %.*s was set around the call before, and %.*s is now",
        STET_FMT(m->from), STET_FMT(m->to));
    f->detail = m->path;
    f->fix_text =
        "Make every call of this function inside the same jax.set_mesh (or `with mesh:`), "
        "or every call outside.";
}

static void static_object(struct stet_history *h, struct stet_finding *f,
                          const struct stet_moved *m)
{
    bool alike = stet_view_eq(m->from, m->to);

    stet_finding_hear(h, f, stet_finding_same(f, STET_RESTS_VALUES, STET_SURE_CERTAIN),
                      "static argument %.*s %s %.*s; the program is the same", STET_FMT(m->path),
                      alike ? "is another" : "is now", STET_FMT(m->to));
    f->detail = m->path;
    f->fix_text = "The program is the same: only the key of JAX differs. Give {detail}, a static "
                  "argument, __eq__ and __hash__ by value, or drop it.";
}

/* The program is the same, but the framework requested it again: another mesh is set, or an
 * argument from elsewhere (another sharding, NumPy, a weak type) has another key. */
static void argument_from_elsewhere(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_moved *m = NULL;

    for (uint32_t i = 0; i < f->moved_count && !m; i++) {
        if (f->moved[i].static_argument) {
            static_object(h, f, &f->moved[i]);
            return;
        }
        if (f->moved[i].scope == STET_SCOPE_CALLED) {
            in_another_mesh(h, f, &f->moved[i]);
            return;
        }
        m = f->moved[i].scope == STET_SCOPE_ARGUMENT && f->moved[i].array ? &f->moved[i] : NULL;
    }
    if (!m) {
        if (!passed_another(h, f) && !in_an_object(h, f))
            same_around(h, f);
        return;
    }
    stet_finding_hear(h, f,
                      m->one_sided ? STET_ANSWER(OPTIONAL_KEY, VALUES, CERTAIN)
                                   : stet_finding_same(f, STET_RESTS_VALUES, STET_SURE_CERTAIN),
                      "argument %.*s was %.*s and is %.*s; the program is the same",
                      STET_FMT(m->path), STET_FMT(m->from), STET_FMT(m->to));
    f->detail = m->path;
    f->fix_text = m->one_sided
                      ? "Pass {detail} in every call or in none: the function does not use it, but "
                        "JAX compares the names and the number of all fields that it gets."
                      : "Place {detail} before the first call as the function returns it "
                        "(jax.device_put with the same sharding, the same array type and dtype).";
}

/* Only the type of an argument differs: the argument is named, not the operation that converts it.
 */
static void converted(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_moved *m = NULL;

    for (uint32_t i = 0; i < f->change_count; i++)
        if (f->changes[i].kind == STET_CHANGE_ARGUMENT)
            return; /* the program's own arguments show it */
    for (uint32_t i = 0; i < f->moved_count && !m; i++)
        m = f->moved[i].scope == STET_SCOPE_ARGUMENT && f->moved[i].typed ? &f->moved[i] : NULL;
    if (!m)
        return;
    stet_finding_hear(h, f, stet_finding_same(f, STET_RESTS_VALUES, STET_SURE_CERTAIN),
                      "argument %.*s was %.*s and is %.*s; Python numbers are weakly typed",
                      STET_FMT(m->path), STET_FMT(m->from), STET_FMT(m->to));
    f->detail = m->path;
    f->fix_text =
        "Give {detail} one dtype in every call, jnp.asarray(…, dtype): a Python number, or "
        "what is computed from one, is weakly typed (weak_type) until it is converted.";
}

/* Operations differ, and of the arguments only types do: the conversions that these need. */
static void typed(struct stet_history *h, struct stet_finding *f)
{
    bool only = false;

    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        if (m->scope != STET_SCOPE_ARGUMENT)
            continue;
        if (!m->typed || m->static_argument || m->one_sided || m->size_to)
            return;
        only = true;
    }
    if (only)
        stet_finding_hear(h, f, STET_BETTER(GRAPH_CHANGE, DTYPE_CHANGE, VALUES, LIKELY),
                          "only the type of an argument differs");
}

static void variable(struct stet_history *h, struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_moved *m = stet_finding_constant_holder(f, i);
        struct stet_view said;

        if (!m)
            continue;
        said = stet_explain_moved_said(&h->arena, m);
        f->evidence = stet_arena_printf(&h->arena, "%.*s%s%.*s was %.*s and is %.*s",
                                        STET_FMT(f->evidence), f->evidence.len ? "; " : "",
                                        STET_FMT(said), STET_FMT(m->from), STET_FMT(m->to));
        return;
    }
}

void stet_evidence_call(struct stet_history *h, struct stet_finding *f)
{
    if (!stet_sighting_of(h, f)->values.len || f->cause == STET_CAUSE_NONE)
        return;
    static_argument(h, f);
    if (f->cause == STET_CAUSE_CAPACITY_LEAK)
        static_size(h, f);
    if (f->cause == STET_CAUSE_IDENTICAL_REHASH)
        argument_from_elsewhere(h, f);
    if (f->cause == STET_CAUSE_GRAPH_CHANGE)
        typed(h, f);
    if (f->cause == STET_CAUSE_DTYPE_CHANGE)
        converted(h, f);
    if (stet_finding_is(f, STET_CAUSE_HAS_VARIABLE))
        variable(h, f);
}
