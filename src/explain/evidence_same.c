/* Nothing differs between the programs: finds what requested the second one. */
#include "explain/history_internal.h"

static bool has(struct stet_view v, const char *word)
{
    return v.len && memmem(v.ptr, v.len, word, strlen(word));
}

/* A function that is created each time: a lambda, or one defined inside another. */
static bool is_made_anew(const struct stet_traits *t)
{
    return has(t->root.function, "<lambda>") || has(t->root.function, "<locals>") ||
           has(t->function, "_lambda");
}

/* Was another function object jitted than for the program before, though of the same definition:
 * the function itself, or a wrapper around it (vmap, grad)? */
static bool is_another(const struct stet_sighting *a, const struct stet_sighting *b)
{
    return !a->past && a->process == b->process && a->object && b->object && !b->library &&
           (a->object != b->object || a->wrapper != b->wrapper);
}

/* Names the two lines that jitted one function, if the source shows them. */
static bool jitted_twice(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_place *was = &h->sightings[f->against].trigger;
    const struct stet_place *is = &stet_sighting_of(h, f)->trigger;
    bool once;
    uint32_t then = stet_python_callee_line(&h->sources, was->file, was->line, &once);
    uint32_t now = stet_python_callee_line(&h->sources, is->file, is->line, &once);

    if (!then || !now || (then == now && stet_view_eq(was->file, is->file)))
        return false;
    stet_finding_hear(h, f, STET_ANSWER(FRESH_JIT, VALUES, CERTAIN),
                      "the same program: line %u jitted this function for the call in line %u, and "
                      "line %u jits it again",
                      then, was->line, now);
    f->fix_text =
        "Jit the function once, and call that in both places: jax.jit of a wrapper that is "
        "made anew (vmap, grad, partial, lambda) compiles again.";
    f->origin = *is;
    f->origin.line = now;
    return true;
}

void stet_evidence_same(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct stet_view made_in;
    bool anew, another;
    uint32_t line;

    if (f->pair != STET_CAUSE_IDENTICAL)
        return;
    if (stet_history_is_eager(s) &&
        !stet_view_eq(s->traits->function, h->sightings[f->against].traits->function)) {
        f->cause = STET_CAUSE_NONE; /* two operations that are the same program */
        return;
    }
    another = is_another(&h->sightings[f->against], s);
    anew = another || stet_explain_made_anew(h->sightings[f->against].values, s->values);
    line = stet_python_makes_jit(&h->sources, s->trigger.file, s->trigger.line, &made_in);
    if (line && s->traits->framework == STET_FRAMEWORK_JAX) {
        stet_finding_hear(
            h, f,
            (struct stet_finding_answer){STET_CAUSE_FRESH_JIT,
                                         .rests = anew ? STET_RESTS_VALUES : STET_RESTS_SOURCE,
                                         .sure = STET_SURE_CERTAIN},
            "the same program, and line %u makes a jitted function each time", line);
        f->origin = s->trigger;
        if (!stet_view_eq(made_in, s->trigger.file))
            f->origin = (struct stet_place){.file = stet_arena_copy(&h->arena, made_in)};
        f->origin.line = line;
    } else if (another && s->traits->framework == STET_FRAMEWORK_JAX && jitted_twice(h, f)) {
        return;
    } else if (s->traits->framework == STET_FRAMEWORK_JAX && (another || is_made_anew(s->traits))) {
        stet_finding_hear(
            h, f,
            (struct stet_finding_answer){STET_CAUSE_FRESH_JIT,
                                         .rests = anew ? STET_RESTS_VALUES : STET_RESTS_PROGRAMS,
                                         .sure = anew ? STET_SURE_CERTAIN : STET_SURE_LIKELY},
            "the same program, of a function that is made each time");
        f->origin = s->traits->root.line ? s->traits->root : s->traits->place;
        if (!is_made_anew(s->traits) && s->trigger.line)
            f->origin = s->trigger; /* the function is made once, and jitted again here */
    } else {
        stet_finding_hear(h, f, STET_ANSWER(IDENTICAL_REHASH, PROGRAMS, LIKELY),
                          "the same program as compile %llu, byte for byte or except for names",
                          (unsigned long long)h->sightings[f->against].index);
        /* One operation outside any jitted function, of another weak type: nothing to hoist. */
        f->benign = stet_history_is_eager(s);
        f->origin = s->trigger.line ? s->trigger : s->traits->place;
    }
}
