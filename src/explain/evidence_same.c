/* Nothing differs between the programs: finds what requested the second one. */
#include "explain/history_internal.h"
#include "explain/jitted.h"

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
static bool jitted_twice(struct stet_history *h, struct stet_finding *f,
                         const struct stet_place *now)
{
    const struct stet_place *was = &h->sightings[f->against].trigger;
    struct stet_place then;
    bool sure;

    if (!stet_explain_jitted(h, f, STET_JIT_BEFORE, &then, &sure) || stet_place_eq(&then, now))
        return false;
    stet_finding_hear(h, f, STET_ANSWER(FRESH_JIT, VALUES, CERTAIN),
                      "the same program: line %u jitted this function for the call in line %u, and "
                      "line %u jits it again",
                      then.line, was->line, now->line);
    f->fix_text =
        "Jit the function once, and call that in both places: jax.jit of a wrapper that is "
        "made anew (vmap, grad, partial, lambda) compiles again.";
    return true;
}

/* Another function of the same definition was compiled: the line that jitted it is the one to
 * edit. */
static void jitted_anew(struct stet_history *h, struct stet_finding *f, bool observed)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct stet_place at;
    bool sure;

    if (!stet_explain_jitted(h, f, STET_JIT_NOW, &at, &sure)) {
        stet_finding_hear(h, f,
                          (struct stet_finding_answer){STET_CAUSE_FRESH_JIT,
                                                       .rests = observed ? STET_RESTS_VALUES
                                                                         : STET_RESTS_PROGRAMS,
                                                       .sure = STET_SURE_LIKELY},
                          "the same program, of a function that is made each time");
        f->origin = s->traits->root.line ? s->traits->root : s->traits->place;
        if (!is_made_anew(s->traits) && s->trigger.line)
            f->origin = s->trigger; /* the function is made once, and jitted again here */
        return;
    }
    if (!jitted_twice(h, f, &at))
        stet_finding_hear(
            h, f,
            (struct stet_finding_answer){STET_CAUSE_FRESH_JIT,
                                         .rests = observed ? STET_RESTS_VALUES : STET_RESTS_SOURCE,
                                         .sure = STET_SURE_CERTAIN},
            "the same program, and line %u makes a jitted function each time", at.line);
    f->origin = f->source = at;
    f->source_sure = sure ? STET_SURE_CERTAIN : STET_SURE_LIKELY;
}

/* Does the source show that the waiting line, or one before it in the same loop, jits? */
static bool jits_each_time(struct stet_history *h, const struct stet_sighting *s)
{
    struct stet_view made_in;

    return stet_python_makes_jit(&h->sources, s->trigger.file, s->trigger.line, &made_in) != 0;
}

void stet_evidence_same(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f), *was;
    bool anew;

    if (f->pair != STET_CAUSE_IDENTICAL)
        return;
    was = &h->sightings[f->against];
    if ((stet_history_is_eager(s) || stet_history_is_eager(was)) &&
        !stet_view_eq(s->traits->function, was->traits->function)) {
        f->cause = STET_CAUSE_NONE; /* two operations, or one and a function, of the same program */
        return;
    }
    anew = is_another(was, s) || stet_explain_made_anew(was->values, s->values);
    if (s->traits->framework == STET_FRAMEWORK_JAX &&
        (anew || is_made_anew(s->traits) || jits_each_time(h, s))) {
        jitted_anew(h, f, anew);
        return;
    }
    stet_finding_hear(h, f, STET_ANSWER(IDENTICAL_REHASH, PROGRAMS, LIKELY),
                      "the same program as compile %llu, byte for byte or except for names",
                      (unsigned long long)was->index);
    /* One operation outside any jitted function, of another weak type: nothing to hoist. */
    f->benign = stet_history_is_eager(s);
    f->origin = s->trigger.line ? s->trigger : s->traits->place;
}
