/* Finds the line that sets a mode for a call: gradients, training, an option of JAX. */
#include "base/path.h"
#include "python/trail.h"

typedef struct stet_python_made made;

static const made none;

static made made_at(const struct stet_python_module *m, stet_python_ref n, bool sure)
{
    stet_python_ref statement = stet_python_statement_of(m, n);

    return (made){stet_view_str(m->path), stet_python_function_name(m, n),
                  stet_python_line(m, statement ? statement : n), sure};
}

/* The statement that waits in a frame of the stack. */
static stet_python_ref waits(struct stet_python_sources *s, const struct stet_python_stack *stack,
                             size_t i, const struct stet_python_module **m)
{
    *m = i < stack->waits ? stet_python_open(s, stack->frames[i].file) : NULL;
    return *m ? stet_python_statement_at(*m, stack->frames[i].line) : 0;
}

/* ---- gradients ---- */

/* optimizer.zero_grad(), unless it keeps them as zeros. */
static bool takes_gradients(struct stet_python_flow *x, stet_python_ref call)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_callee c = stet_python_resolve(x, call);
    stet_python_ref kept = stet_python_keyword(m, call, STET_VIEW("set_to_none"));

    if (c.definition || c.effect != PY_GIVES_CLEARS)
        return false;
    kept = kept ? kept : stet_python_argument(m, call, 0);
    return stet_python_kind(&m->ast, stet_python_argument_value(m, kept)) != PY_FALSE;
}

/* parameter.grad = None */
static bool sets_none(const struct stet_python_ast *a, stet_python_ref n)
{
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT);

    return stet_python_kind(a, left) == PY_ATTRIBUTE &&
           stet_python_kind(a, stet_python_field(a, n, PY_FIELD_RIGHT)) == PY_NONE_ &&
           stet_view_is(stet_python_text(a, stet_python_field(a, left, PY_FIELD_ATTRIBUTE)),
                        "grad");
}

bool stet_python_step_clears(struct stet_python_sources *s, const struct stet_python_step *step)
{
    const struct stet_python_module *m = step->module;
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, m);
    stet_python_ref n = 0;

    while (stet_python_own_next(m, step->statement, &n)) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        x->steps = 0;
        if ((k == PY_CALL && takes_gradients(x, n)) ||
            (k == PY_ASSIGNMENT && sets_none(&m->ast, n)))
            return true;
    }
    return false;
}

static bool sets_gradient(const struct stet_python_module *m, stet_python_ref n)
{
    char room[160];
    enum stet_python_meaning means = stet_python_library_meaning(stet_python_imported(m, n, room));

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

made stet_python_gradient_mode(struct stet_python_sources *s, const struct stet_python_stack *stack)
{
    for (size_t i = 0; i < stack->waits; i++) {
        const struct stet_python_module *m;
        stet_python_ref statement = waits(s, stack, i, &m);
        stet_python_ref found = statement ? mode_around(m, statement) : 0;

        if (found)
            return made_at(m, found, true);
    }
    return none;
}

/* ---- training ---- */

/* x.train(), x.eval(): 1 for training, 0 for evaluation, 2 when its argument decides; -1 for
 * another call. */
static int training_of(struct stet_python_flow *x, stet_python_ref call)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_callee c = stet_python_resolve(x, call);
    stet_python_ref mode;

    if (!c.object || c.definition)
        return -1;
    if (c.meaning == PY_MEANS_EVALUATES)
        return stet_python_argument_count(m, call) ? -1 : 0;
    if (c.meaning != PY_MEANS_TRAINS)
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

/* Of the calls in one file: the last before the statement in its function, and the only one. */
static void find_modes(struct stet_python_sources *s, const struct stet_python_module *m,
                       stet_python_ref statement, int wanted, stet_python_ref *near,
                       stet_python_ref *only, unsigned *count)
{
    stet_python_ref scope = stet_python_function_around(m, statement);
    struct stet_python_question q;

    *near = 0;
    for (size_t i = 0; i < m->calls.count; i++) {
        stet_python_ref n = m->calls.items[i];
        int mode = training_of(stet_python_ask(&q, s, m), n);

        if (mode < 0 || (mode != 2 && wanted >= 0 && mode != wanted))
            continue;
        *only = n;
        ++*count;
        if (stet_python_function_around(m, n) == scope && n < statement)
            *near = n;
    }
}

made stet_python_training(struct stet_python_sources *s, const struct stet_python_stack *stack,
                          struct stet_view to)
{
    int wanted = stet_view_is(to, "True") ? 1 : stet_view_is(to, "False") ? 0 : -1;
    const struct stet_python_module *m, *of = NULL;
    stet_python_ref near, only = 0;
    unsigned count = 0;

    for (size_t i = 0; i < stack->waits; i++) {
        stet_python_ref statement = waits(s, stack, i, &m);
        bool again = false;

        for (size_t k = 0; k < i; k++)
            again |= stet_view_eq(stack->frames[k].file, stack->frames[i].file);
        if (!statement)
            continue;
        if (again) {
            stet_python_ref unused = 0;
            unsigned uncounted = 0;

            find_modes(s, m, statement, wanted, &near, &unused, &uncounted);
        } else {
            unsigned before = count;

            find_modes(s, m, statement, wanted, &near, &only, &count);
            of = count != before ? m : of;
        }
        if (near)
            return made_at(m, near, true);
    }
    return count == 1 ? made_at(of, only, false) : none;
}

/* Does a line run once, before the loop in which a frame waits? */
static bool runs_before(const struct stet_python_module *m, stet_python_ref n,
                        const struct stet_python_module *where, stet_python_ref waiting)
{
    stet_python_ref loop = stet_python_loop_around(where, waiting);

    return m == where && loop && !stet_python_is_inside(m, n, loop) &&
           stet_python_function_around(m, n) == stet_python_function_around(where, waiting);
}

static bool is_before_any(struct stet_python_sources *s, const struct stet_python_stack *stack,
                          const struct stet_python_module *m, stet_python_ref n)
{
    for (size_t i = 0; i < stack->waits; i++) {
        const struct stet_python_module *where;
        stet_python_ref waiting = waits(s, stack, i, &where);

        if (waiting && runs_before(m, n, where, waiting))
            return true;
    }
    return false;
}

/* Is it in the loop in which a frame waits, in the same function? */
static bool is_in_loop(struct stet_python_sources *s, const struct stet_python_stack *stack,
                       const struct stet_python_module *m, stet_python_ref n)
{
    for (size_t i = 0; i < stack->waits; i++) {
        const struct stet_python_module *where;
        stet_python_ref waiting = waits(s, stack, i, &where);
        stet_python_ref loop = waiting ? stet_python_loop_around(where, waiting) : 0;

        if (loop && m == where && stet_python_is_inside(m, n, loop))
            return true;
    }
    return false;
}

/* The files that wait, and those that they import. */
static void open_all(struct stet_python_sources *s, const struct stet_python_stack *stack)
{
    for (size_t i = 0; i < stack->waits; i++)
        stet_python_open(s, stack->frames[i].file);
    stet_python_open_imports(s);
}

made stet_python_switches(struct stet_python_sources *s, const struct stet_python_stack *stack,
                          struct stet_view to)
{
    int wanted = stet_view_is(to, "True") ? 1 : stet_view_is(to, "False") ? 0 : -1;
    made found = none;

    open_all(s, stack);
    for (uint32_t k = 0; k < s->count; k++) {
        const struct stet_python_module *m = s->modules[k];

        for (size_t i = 0; stet_python_is_own(m) && i < m->calls.count; i++) {
            stet_python_ref n = m->calls.items[i];
            struct stet_python_question q;
            int mode = training_of(stet_python_ask(&q, s, m), n);

            if (mode < 0 || (mode != 2 && wanted >= 0 && mode != wanted) ||
                is_before_any(s, stack, m, n))
                continue;
            if (is_in_loop(s, stack, m, n))
                return made_at(m, n, true);
            found = found.line ? found : made_at(m, n, false);
        }
    }
    return found;
}

/* ---- options ---- */

static bool sets_option(const struct stet_python_module *m, stet_python_ref call)
{
    enum stet_python_meaning means =
        stet_python_meaning(m, stet_python_field(&m->ast, call, PY_FIELD_FUNCTION));

    return means == PY_MEANS_SETS_OPTION || means == PY_MEANS_HOLDS_OPTION;
}

/* The `with` around a statement, in its function, that sets one. */
static stet_python_ref option_around(const struct stet_python_module *m, stet_python_ref statement)
{
    for (stet_python_ref n = statement; n && stet_python_kind(&m->ast, n) != PY_FUNCTION;
         n = stet_python_statement_of(m, m->parents[n])) {
        stet_python_ref c = 0;

        while (stet_python_kind(&m->ast, n) == PY_WITH && stet_python_own_next(m, n, &c))
            if (stet_python_kind(&m->ast, c) == PY_CALL && sets_option(m, c))
                return n;
    }
    return 0;
}

made stet_python_sets_option(struct stet_python_sources *s, const struct stet_python_stack *stack)
{
    made found = none;

    for (size_t i = 0; i < stack->waits; i++) {
        const struct stet_python_module *m;
        stet_python_ref statement = waits(s, stack, i, &m);
        stet_python_ref with = statement ? option_around(m, statement) : 0;

        if (with)
            return made_at(m, with, true);
    }
    open_all(s, stack);
    for (uint32_t k = 0; k < s->count; k++) {
        const struct stet_python_module *m = s->modules[k];

        for (size_t i = 0; stet_python_is_own(m) && i < m->calls.count; i++) {
            stet_python_ref n = m->calls.items[i];

            if (!sets_option(m, n) || is_before_any(s, stack, m, n) ||
                (!stet_python_function_around(m, n) && !stet_python_loop_around(m, n)))
                continue;
            if (found.line)
                return none;
            found = made_at(m, n, false);
        }
    }
    return found;
}

/* ---- marks ---- */

struct stet_python_made stet_python_marks_dynamic(struct stet_python_sources *s,
                                                  const struct stet_python_stack *stack)
{
    made found = none;
    char room[160];

    for (size_t i = 0; i < stack->waits; i++) /* so that they are among the modules */
        stet_python_open(s, stack->frames[i].file);
    for (uint32_t k = 0; k < s->count; k++) {
        const struct stet_python_module *m = s->modules[k];

        for (size_t i = 0; m->parsed && i < m->calls.count; i++) {
            stet_python_ref call = m->calls.items[i];
            stet_python_ref f = stet_python_field(&m->ast, call, PY_FIELD_FUNCTION);

            if (stet_path_is_installed(stet_view_str(m->path)) ||
                stet_python_library_meaning(stet_python_imported(m, f, room)) !=
                    PY_MEANS_MARKS_DYNAMIC)
                continue;
            if (found.line) {
                found.sure = false;
                return found;
            }
            found = made_at(m, call, true);
        }
    }
    return found;
}
