/* See waiting.h. */
#include "python/waiting.h"

/* May the call run a function that the source does not show? */
static bool may_run(const struct stet_python_callee *c)
{
    return !c->definition && !c->meaning && !c->transform &&
           (c->effect <= PY_GIVES_UNKNOWN || c->effect == PY_GIVES_STEPS || c->object);
}

stet_python_ref stet_python_waiting_call(struct stet_python_waiting *w, stet_python_ref statement,
                                         const struct stet_python_module *m,
                                         stet_python_ref function, bool *bound)
{
    const struct stet_python_module *here = w->q.flow.frame->module;
    stet_python_ref n = 0, maybe = 0;

    *bound = function && stet_python_is_method(m, function);
    while (stet_python_own_next(here, statement, &n)) {
        struct stet_python_callee c;

        if (stet_python_kind(&here->ast, n) != PY_CALL)
            continue;
        c = stet_python_trail_callee(&w->trail, n);
        if (function && c.definition == function && c.module == m) {
            *bound = c.bound;
            return n;
        }
        if (function && stet_python_trail_runs(&w->trail, n, m, function)) {
            *bound = true; /* the class of a constructor */
            return n;
        }
        if (!maybe && may_run(&c))
            maybe = n;
    }
    return maybe;
}

static void link_frames(struct stet_python_waiting *w)
{
    for (size_t i = 0; i + 1 < w->count; i++) {
        struct stet_python_frame *f = &w->frames[i];
        bool bound;

        if (!f->function || w->trail.stack->frames[i].lambda)
            continue;
        w->q.flow.frame = &w->frames[i + 1];
        f->call = stet_python_waiting_call(w, w->waits[i + 1], f->module, f->function, &bound);
        f->caller = f->call ? &w->frames[i + 1] : NULL;
        f->bound = bound;
    }
}

void stet_python_waiting_init(struct stet_python_waiting *w, struct stet_python_sources *s,
                              const struct stet_python_stack *stack)
{
    memset(w, 0, sizeof *w);
    w->trail.x = stet_python_ask(&w->q, s, NULL);
    w->trail.stack = stack;
    for (uint32_t i = 0; i < stack->waits; i++) {
        const struct stet_python_module *m = NULL;
        stet_python_ref statement = stet_python_trail_waits(&w->trail, i + 1, &m);

        if (!statement)
            break;
        w->waits[w->count] = statement;
        w->frames[w->count++] = (struct stet_python_frame){
            .module = m, .function = stet_python_function_around(m, statement), .seen = i + 1};
    }
    link_frames(w);
    w->q.flow.frame = &w->frames[0];
}
