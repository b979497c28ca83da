/* What decides whether a statement runs, and how often. */
#include "python/trail.h"

typedef struct stet_python_verdict verdict;

static const verdict stays;

/* The condition under which a loop ends before its time: `if done(x): break`; 0 for none. */
static stet_python_ref ends_when(const struct stet_python_module *m, stet_python_ref loop)
{
    const struct stet_python_ast *a = &m->ast;

    for (stet_python_ref n = loop; n < a->count && a->nodes[n].start < a->nodes[loop].end; n++) {
        stet_python_ref around = stet_python_kind(a, n) == PY_BREAK ? m->parents[n] : 0;

        if (!around || stet_python_loop_around(m, n) != loop)
            continue;
        while (around != loop && stet_python_kind(a, around) != PY_IF)
            around = m->parents[around];
        if (around != loop)
            return stet_python_condition_of(m, around);
    }
    return 0;
}

verdict stet_python_trail_conditions(struct stet_python_trail *t, stet_python_ref statement,
                                     stet_python_ref outer, bool *any)
{
    const struct stet_python_module *m = t->x->frame->module;
    verdict v = stays;

    *any = false;
    for (stet_python_ref n = statement; n && n != outer; n = m->parents[n]) {
        stet_python_ref up = m->parents[n], test = stet_python_condition_of(m, up);
        bool loop = stet_python_kind(&m->ast, up) == PY_FOR &&
                    n != stet_python_field(&m->ast, up, PY_FIELD_RIGHT);

        if (up == outer)
            break;
        if (loop)
            test = stet_python_field(&m->ast, up, PY_FIELD_RIGHT);
        if (!test || n == test)
            continue;
        *any = true;
        v = stet_python_verdict_join(t, statement, v,
                                     loop ? stet_python_trail_ask(t, test, PY_OF_SIZE)
                                          : stet_python_trail_test(t, test));
        if (loop && v.how < PY_COUNTS && (test = ends_when(m, up)))
            v = stet_python_verdict_join(t, statement, v, stet_python_trail_test(t, test));
    }
    return v;
}
