/* Finds the line that sets a mode of torch for a call: gradients, training. */
#include "python/varying.h"

enum { CALLERS_UP = 3 };

typedef struct stet_python_made made;

static const made none;

/* ---- gradients ---- */

static bool sets_gradient(const struct stet_python_module *m, stet_python_ref n)
{
    enum stet_python_meaning means = stet_python_meaning(m, n);

    return means == PY_MEANS_NO_GRADIENT || means == PY_MEANS_GRADIENT_MODE;
}

/* Does the own part of a statement, or a decorator, name a function that sets the mode? */
static bool names_mode(const struct stet_python_module *m, stet_python_ref first, uint32_t end)
{
    for (stet_python_ref n = first; n < m->ast.count && m->ast.nodes[n].start < end; n++) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if ((k == PY_ATTRIBUTE || k == PY_IDENTIFIER) && sets_gradient(m, n))
            return true;
    }
    return false;
}

/* torch.set_grad_enabled(…) as a statement of its own, before another one in its block. */
static stet_python_ref set_before(const struct stet_python_module *m, stet_python_ref statement)
{
    stet_python_ref found = 0;

    for (stet_python_ref n = stet_python_child(&m->ast, m->parents[statement]); n && n != statement;
         n = stet_python_next(&m->ast, n))
        if (stet_python_kind(&m->ast, n) == PY_EXPRESSION_STATEMENT &&
            names_mode(m, n, m->ast.nodes[n].end))
            found = n;
    return found;
}

/* Upwards from a statement to its function, whose decorators count too. */
static stet_python_ref mode_around(const struct stet_python_module *m, stet_python_ref statement)
{
    for (stet_python_ref n = statement; n; n = stet_python_statement_of(m, m->parents[n])) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);
        stet_python_ref before;

        if (k == PY_WITH && names_mode(m, n, stet_python_own_end(m, n)))
            return n;
        if (n != statement && k == PY_FUNCTION) {
            stet_python_ref decorated = m->parents[n];

            return stet_python_kind(&m->ast, decorated) == PY_DECORATED &&
                           names_mode(m, decorated, m->ast.nodes[n].start)
                       ? decorated
                       : 0;
        }
        before = k == PY_FUNCTION ? 0 : set_before(m, n);
        if (before)
            return before;
    }
    return 0;
}

/* The only call of a function in its file; 0 for none or several. */
static stet_python_ref only_call(struct stet_python_slice *s, const struct stet_python_module *m,
                                 stet_python_ref function)
{
    stet_python_ref found = 0;
    uint32_t bound;

    for (size_t i = 0; function && i < m->calls.count; i++) {
        if (!stet_python_runs(s, m->calls.items[i], m, function, &bound))
            continue;
        if (found)
            return 0;
        found = m->calls.items[i];
    }
    return found;
}

/* Around a statement, or around the only call of its function. */
static stet_python_ref mode_outside(struct stet_python_slice *s, const struct stet_python_module *m,
                                    stet_python_ref statement)
{
    for (int up = 0; statement && up < CALLERS_UP; up++) {
        stet_python_ref found = mode_around(m, statement);

        if (found)
            return found;
        statement = only_call(s, m, stet_python_function_around(m, statement));
        statement = statement ? stet_python_statement_of(m, statement) : 0;
    }
    return 0;
}

/* The only line around any call of the function, when it is not known which call it is. */
static stet_python_ref mode_of_any(struct stet_python_asking *a)
{
    const struct stet_python_module *m = a->module;
    struct stet_python_frame frame = {.module = m};
    stet_python_ref found = 0;
    uint32_t bound;

    a->slice.x->frame = &frame;
    for (size_t i = 0; i < m->calls.count; i++) {
        stet_python_ref call = m->calls.items[i], one;

        if (!stet_python_runs(&a->slice, call, m, a->function, &bound))
            continue;
        one = mode_outside(&a->slice, m, stet_python_statement_of(m, call));
        if (one && found && one != found)
            return 0;
        found = one ? one : found;
    }
    return found;
}

made stet_python_made_gradient_mode(struct stet_python_sources *s,
                                    const struct stet_python_compiled *c)
{
    struct stet_python_asking a;
    stet_python_ref found = 0;

    stet_python_ask_compiled(&a, s, c);
    if (a.slice.statement)
        found = mode_outside(&a.slice, a.slice.module, a.slice.statement);
    else if (a.function && !c->call_line)
        found = mode_of_any(&a);
    return found ? stet_python_made_at(a.slice.statement ? a.slice.module : a.module, found) : none;
}

/* ---- training ---- */

/* x.train(), x.eval(): 1 for training, 0 for evaluation, 2 when its argument decides; -1 for
 * another call. */
static int training_of(struct stet_python_flow *x, stet_python_ref call)
{
    const struct stet_python_module *m = x->frame->module;
    enum stet_python_meaning meaning = stet_python_resolve(x, call).meaning;
    stet_python_ref mode;

    if (meaning == PY_MEANS_EVALUATES)
        return stet_python_argument_count(m, call) ? -1 : 0;
    if (meaning != PY_MEANS_TRAINS)
        return -1;
    mode = stet_python_argument(m, call, 0);
    mode = mode ? mode
                : stet_python_argument_value(m, stet_python_keyword(m, call, STET_VIEW("mode")));
    if (!mode)
        return 1;
    return stet_python_kind(&m->ast, mode) == PY_TRUE    ? 1
           : stet_python_kind(&m->ast, mode) == PY_FALSE ? 0
                                                         : 2;
}

made stet_python_made_training(struct stet_python_sources *s, const struct stet_python_compiled *c,
                               struct stet_view to)
{
    int wanted = stet_view_is(to, "True") ? 1 : stet_view_is(to, "False") ? 0 : -1;
    stet_python_ref call, scope, only = 0, near = 0;
    const struct stet_python_module *m;
    struct stet_python_asking a;
    unsigned count = 0;

    stet_python_ask_compiled(&a, s, c);
    m = a.slice.module;
    call = a.slice.statement;
    scope = call ? stet_python_function_around(m, call) : 0;
    for (size_t i = 0; call && i < m->calls.count; i++) {
        stet_python_ref n = m->calls.items[i];
        int mode = training_of(a.slice.x, n);

        if (mode < 0 || (mode != 2 && wanted >= 0 && mode != wanted))
            continue;
        only = n;
        count++;
        if (stet_python_function_around(m, n) == scope && n < call)
            near = n;
    }
    if (near)
        return stet_python_made_at(m, near);
    return count == 1 ? stet_python_made_at(m, only) : none;
}
