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

/* The list whose items alone came or went, as the user wrote it; empty for none. */
static struct stet_view list_of_all(const struct stet_finding *f)
{
    struct stet_view list = {0};

    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];
        struct stet_view its = stet_explain_list_of(m->path);

        if (m->scope != STET_SCOPE_ARGUMENT || !m->array || !m->one_sided)
            continue;
        if (m->wrapped || !its.len || (list.len && !stet_view_eq(its, list)))
            return (struct stet_view){0};
        list = its;
    }
    return list;
}

/* A library passes what it took apart by place: where an array came or went, others moved up, and
 * the programs seem to differ in the rank or type of all behind it. */
static bool is_shifted(const struct stet_finding *f, const struct stet_moved *m)
{
    return m->wrapped && f->facts.came + f->facts.went && !f->answered &&
           (f->cause == STET_CAUSE_RANK_CHANGE || f->cause == STET_CAUSE_DTYPE_CHANGE);
}

void stet_evidence_arguments(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_moved *m = stet_evidence_came_or_went(f);
    struct stet_view list;

    if (!m)
        return;
    list = list_of_all(f);
    if (list.len && (f->cause == STET_CAUSE_OPTIONAL_KEY || f->cause == STET_CAUSE_PYTHON_LOOP) &&
        stet_finding_hear(h, f, STET_ANSWER(LIST_LENGTH, VALUES, CERTAIN),
                          "%.*s has another number of items, and each is an argument of its own",
                          STET_FMT(list))) {
        f->also_count = 0; /* what is done with each of them */
        f->detail = list;
    }
    if (is_shifted(f, m)) {
        stet_finding_hear(h, f, STET_ANSWER(OPTIONAL_KEY, VALUES, LIKELY),
                          "%u arguments came and %u went, and those behind them moved to other "
                          "places",
                          f->facts.came, f->facts.went);
        f->also_count = 0; /* loops over them, and what each of them is */
    }
    if (f->cause == STET_CAUSE_PYTHON_LOOP)
        stet_finding_hear(h, f, STET_ANSWER(OPTIONAL_KEY, VALUES, CERTAIN),
                          "argument %.*s: %.*s -> %.*s; a block is repeated for each",
                          STET_FMT(m->path), STET_FMT(m->from), STET_FMT(m->to));
    /* Code that came with an argument may be the argument's. */
    if (f->cause == STET_CAUSE_HIDDEN_BRANCH)
        stet_finding_doubt(f);
}
