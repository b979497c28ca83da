/* A loop in the function that goes over its arguments: what moved is how many of them there are. */
#include "explain/history_internal.h"

/* An array that one of the two calls did not pass. What a function is passed and does not use is
 * no parameter of its program, so only the calls show it. */
static const struct stet_moved *came_or_went(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        if (m->scope == STET_SCOPE_ARGUMENT && m->array &&
            (stet_view_is(m->from, "absent") || stet_view_is(m->to, "absent")))
            return m;
    }
    return NULL;
}

void stet_evidence_arguments(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_moved *m = f->reason == STET_REASON_PYTHON_LOOP ? came_or_went(f) : NULL;

    if (m)
        stet_finding_is(h, f, STET_REASON_OPTIONAL_KEY, STET_SURE_CERTAIN, false,
                        "argument %.*s: %.*s -> %.*s; a block is repeated for each",
                        STET_FMT(m->path), STET_FMT(m->from), STET_FMT(m->to));
}
