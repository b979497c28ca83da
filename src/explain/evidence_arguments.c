/* A loop in the function that goes over its arguments: the number of them changed. */
#include "explain/history_internal.h"

const struct stet_moved *stet_evidence_came_or_went(const struct stet_finding *f)
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
    const struct stet_moved *m = stet_evidence_came_or_went(f);

    if (!m)
        return;
    if (f->cause == STET_CAUSE_PYTHON_LOOP)
        stet_finding_hear(h, f, STET_ANSWER(OPTIONAL_KEY, VALUES, CERTAIN),
                          "argument %.*s: %.*s -> %.*s; a block is repeated for each",
                          STET_FMT(m->path), STET_FMT(m->from), STET_FMT(m->to));
    /* Code that came with an argument may be the argument's. */
    if (f->cause == STET_CAUSE_HIDDEN_BRANCH)
        stet_finding_doubt(f);
}
