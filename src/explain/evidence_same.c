/* Nothing differs: what requested it again? */
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

/* Is a jitted function created in the loop around the line, or in the function called there? */
static bool source_makes_jit(struct stet_history *h, const struct stet_place *trigger,
                             uint32_t *line)
{
    const struct stet_pyfile *f = stet_pysource_open(&h->sources, trigger->file);
    uint32_t headers[16], n, from;

    if (!f)
        return false;
    *line = trigger->line;
    if (stet_py_makes_jit(stet_py_statement(f, trigger->line)))
        return true;
    n = stet_py_around(f, trigger->line, headers, 16);
    from = n ? headers[n - 1] : stet_py_def_of(f, trigger->line);
    for (uint32_t at = trigger->line; from && at-- > from;) {
        if (!stet_py_makes_jit(stet_py_statement(f, at)))
            continue;
        *line = f->starts[at - 1];
        return true;
    }
    return false;
}

void stet_evidence_same(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    uint32_t line = 0;
    bool source;

    if (f->pair != STET_REASON_IDENTICAL)
        return;
    if (stet_history_is_eager(s) &&
        !stet_view_eq(s->traits->function, h->sightings[f->against].traits->function)) {
        f->reason = STET_REASONS; /* two operations that are one and the same program */
        return;
    }
    source = source_makes_jit(h, &s->trigger, &line);
    if (source && s->traits->framework == STET_FRAMEWORK_JAX) {
        stet_finding_is(h, f, STET_REASON_FRESH_JIT, STET_SURE_CERTAIN, false,
                        "the same program, and line %u makes a jitted function each time", line);
        f->origin = s->trigger;
        f->origin.line = line;
    } else if (s->traits->framework == STET_FRAMEWORK_JAX && is_made_anew(s->traits)) {
        stet_finding_is(h, f, STET_REASON_FRESH_JIT, STET_SURE_LIKELY, false,
                        "the same program, of a function that is made each time");
        f->origin = s->traits->root.line ? s->traits->root : s->traits->place;
    } else {
        stet_finding_is(h, f, STET_REASON_IDENTICAL_REHASH, STET_SURE_CERTAIN, false,
                        "the same program as compile %llu, byte for byte or except for names",
                        (unsigned long long)h->sightings[f->against].index);
        /* One operation outside any jitted function, of another weak type: nothing to hoist. */
        f->benign = stet_history_is_eager(s);
        f->origin = s->trigger.line ? s->trigger : s->traits->place;
    }
}
