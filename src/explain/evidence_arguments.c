/* A loop in the function that goes over its arguments: the number of them changed. */
#include "explain/history_internal.h"

/* An array that one of the two calls did not pass. jit drops arguments that a function does not
 * use, so only the calls show them. */
static const struct stet_moved *came_or_went(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        if (m->scope == STET_SCOPE_ARGUMENT && m->array && m->one_sided)
            return m;
    }
    return NULL;
}

void stet_evidence_arguments(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_moved *m = f->cause == STET_CAUSE_PYTHON_LOOP ? came_or_went(f) : NULL;

    if (m)
        stet_finding_is(h, f, STET_CAUSE_OPTIONAL_KEY, STET_SURE_CERTAIN, false,
                        "argument %.*s: %.*s -> %.*s; a block is repeated for each",
                        STET_FMT(m->path), STET_FMT(m->from), STET_FMT(m->to));
}
