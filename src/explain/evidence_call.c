/* What was observed in Python at the two compiles: static arguments that differ, and the variable
 * that has the value of a constant. */
#include "explain/history_internal.h"

#include "fingerprint/scalar.h"

/* An array argument changed too: then the static one is not the only cause. */
static bool arrays_moved(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->moved_count; i++)
        if (f->moved[i].scope == STET_SCOPE_ARGUMENT && f->moved[i].array)
            return true;
    return false;
}

static bool name_static(struct stet_history *h, struct stet_finding *f, const struct stet_moved *m)
{
    return stet_finding_hear(h, f,
                             (struct stet_finding_answer){STET_CAUSE_STATIC_ARGUMENT,
                                                          .rests = STET_RESTS_VALUES,
                                                          .sure = STET_SURE_CERTAIN},
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

static void static_argument(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_moved *m = NULL;

    if (f->cause == STET_CAUSE_STATIC_ARGUMENT)
        observed(h, f);
    for (uint32_t i = 0; i < f->moved_count && !m; i++)
        m = f->moved[i].static_argument ? &f->moved[i] : NULL;
    if (!m || !stet_cause_is(f->cause, STET_CAUSE_DESCRIBES) || arrays_moved(f))
        return;
    if (!name_static(h, f, m))
        return;
    f->also_count = 0; /* what else differs follows from it */
    f->detail = m->path;
    if (m->flag)
        f->fix_text = "{detail} has two values, so two programs are right: run the step once with "
                      "each of them during warm-up, or compute both ways with jnp.where.";
}

/* The program is the same, but the framework requested it again: an argument from elsewhere
 * (another sharding, NumPy, a weak type) has another key. */
static void argument_from_elsewhere(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_moved *m = NULL;

    for (uint32_t i = 0; i < f->moved_count && !m; i++)
        m = f->moved[i].scope == STET_SCOPE_ARGUMENT && f->moved[i].array ? &f->moved[i] : NULL;
    if (f->moved_count && f->moved[0].static_argument)
        return; /* the default advice covers this case */
    if (!m) {
        f->fix_text = "The program is the same: something around the call differs, such as the "
                      "mesh context or a JAX setting. Make the call in the same context each time.";
        return;
    }
    stet_finding_hear(h, f,
                      (struct stet_finding_answer){f->cause, .rests = STET_RESTS_VALUES,
                                                   .sure = STET_SURE_CERTAIN},
                      "argument %.*s was %.*s and is %.*s; the program is the same",
                      STET_FMT(m->path), STET_FMT(m->from), STET_FMT(m->to));
    f->detail = m->path;
    f->fix_text = "Place {detail} before the first call as the function returns it "
                  "(jax.device_put with the same sharding, the same array type and dtype).";
}

/* The variable that had the constant's two values at the two compiles. */
static const struct stet_moved *holder(const struct stet_finding *f,
                                       const struct stet_reported_change *c)
{
    const double *v = c->data.values;

    for (uint32_t i = 0; c->data.has_values && i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        if (m->numeric && stet_scalar_close(m->from_number, v[0], 1e-6) &&
            stet_scalar_close(m->to_number, v[1], 1e-6))
            return m;
    }
    return NULL;
}

static void variable(struct stet_history *h, struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];
        const struct stet_moved *m =
            c->kind == STET_CHANGE_CONSTANT && c->follows == STET_NO_FACET ? holder(f, c) : NULL;

        if (!m)
            continue;
        f->evidence = stet_arena_printf(&h->arena, "%.*s%s%.*s was %.*s and is %.*s",
                                        STET_FMT(f->evidence), f->evidence.len ? "; " : "",
                                        STET_FMT(m->path), STET_FMT(m->from), STET_FMT(m->to));
        return;
    }
}

void stet_evidence_call(struct stet_history *h, struct stet_finding *f)
{
    if (!stet_sighting_of(h, f)->values.len || f->cause == STET_CAUSE_NONE)
        return;
    static_argument(h, f);
    if (f->cause == STET_CAUSE_IDENTICAL_REHASH)
        argument_from_elsewhere(h, f);
    if (stet_finding_has(f, STET_CAUSE_BAKED_CONSTANT) ||
        stet_finding_has(f, STET_CAUSE_PYTHON_COUNTER) ||
        stet_finding_has(f, STET_CAUSE_OPTIMIZER_SCALAR))
        variable(h, f);
}
