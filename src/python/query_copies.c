/* What an argument of the waiting call, or the decision to make it, rests on that the run was
 * observed to read back. */
#include "python/trail.h"

/* A question, with the frames that wait: each one's parameters are what the next one passes. */
struct resting {
    struct stet_python_question q;
    struct stet_python_trail trail;
    struct stet_python_frame frames[STET_PYTHON_WATCHED];
    stet_python_ref waits[STET_PYTHON_WATCHED];
    size_t count;
};

/* ---- calls ---- */

/* May the call run a function that the source does not show? */
static bool may_run(const struct stet_python_callee *c)
{
    return !c->definition && !c->meaning && !c->transform &&
           (c->effect <= PY_GIVES_UNKNOWN || c->effect == PY_GIVES_STEPS || c->object);
}

/* The call in a statement that runs the function: one that is known to, otherwise the first that
 * may. */
static stet_python_ref call_in(struct resting *r, stet_python_ref statement,
                               const struct stet_python_module *m, stet_python_ref function,
                               bool *bound)
{
    const struct stet_python_module *here = r->q.flow.frame->module;
    stet_python_ref n = 0, maybe = 0;

    *bound = function && stet_python_is_method(m, function);
    while (stet_python_own_next(here, statement, &n)) {
        struct stet_python_callee c;

        if (stet_python_kind(&here->ast, n) != PY_CALL)
            continue;
        c = stet_python_trail_callee(&r->trail, n);
        if (function && c.definition == function && c.module == m) {
            *bound = c.bound;
            return n;
        }
        if (function && stet_python_trail_runs(&r->trail, n, m, function)) {
            *bound = true; /* the class of a constructor */
            return n;
        }
        if (!maybe && may_run(&c))
            maybe = n;
    }
    return maybe;
}

/* ---- frames ---- */

static void link_frames(struct resting *r)
{
    for (size_t i = 0; i + 1 < r->count; i++) {
        struct stet_python_frame *f = &r->frames[i];
        bool bound;

        if (!f->function || r->trail.stack->frames[i].lambda)
            continue;
        r->q.flow.frame = &r->frames[i + 1];
        f->call = call_in(r, r->waits[i + 1], f->module, f->function, &bound);
        f->caller = f->call ? &r->frames[i + 1] : NULL;
        f->bound = bound;
    }
    r->q.flow.frame = &r->frames[0];
}

static void begin(struct resting *r, struct stet_python_sources *s,
                  const struct stet_python_stack *stack, const struct stet_python_copies *copies)
{
    memset(r, 0, sizeof *r);
    r->trail.x = stet_python_ask(&r->q, s, NULL);
    r->trail.stack = stack;
    for (uint32_t i = 0; i < stack->waits; i++) {
        const struct stet_python_module *m = NULL;
        stet_python_ref statement = stet_python_trail_waits(&r->trail, i + 1, &m);

        if (!statement)
            break;
        r->waits[r->count] = statement;
        r->frames[r->count++] = (struct stet_python_frame){
            .module = m, .function = stet_python_function_around(m, statement), .seen = i + 1};
    }
    r->q.flow.frame = &r->frames[0];
    if (r->count)
        link_frames(r);
    r->q.flow.copies = copies;
}

/* ---- answers ---- */

static struct stet_view function_of(const struct stet_python_place *p)
{
    const struct stet_python_module *m = p->module;
    stet_python_ref statement = stet_python_statement_at(m, p->line);
    stet_python_ref function = statement ? stet_python_function_around(m, statement) : 0;
    stet_python_ref name = function ? stet_python_field(&m->ast, function, PY_FIELD_NAME) : 0;

    return name       ? stet_python_text(&m->ast, name)
           : function ? STET_VIEW("<lambda>")
                      : STET_VIEW("<module>");
}

static bool answer(const struct stet_python_value *v, struct stet_python_rested *out)
{
    const struct stet_python_place *made = v->made.module ? &v->made : &v->read;

    if (!(v->from & PY_FROM_READ) || !v->read.module)
        return false;
    *out = (struct stet_python_rested){.file = stet_view_str(v->read.module->path),
                                       .line = v->read.line,
                                       .last = v->read.last,
                                       .made = {.file = stet_view_str(made->module->path),
                                                .function = function_of(made),
                                                .line = made->line,
                                                .sure = (v->from & PY_FROM_SURE) != 0},
                                       .selected = (v->from & PY_FROM_SELECTED) != 0};
    return true;
}

/* ---- conditions ---- */

struct deciding {
    struct stet_python_flow *flow;
    struct stet_python_value found;
    stet_python_ref at;
};

static bool rests(const struct stet_python_conditions *c, stet_python_ref statement)
{
    struct deciding *d = c->context;
    stet_python_ref test = stet_python_condition_of(c->module, statement);

    if (!test)
        return false;
    d->found = stet_python_flow_of_truth(d->flow, test);
    d->at = statement;
    return (d->found.from & PY_FROM_READ) != 0;
}

static struct stet_python_value around(struct stet_python_flow *x, stet_python_ref target)
{
    struct deciding d = {.flow = x};
    struct stet_python_conditions c = {.module = x->frame->module, .rests = rests, .context = &d};
    stet_python_ref statement = stet_python_statement_of(c.module, target);

    if (!statement || !stet_python_conditions_around(&c, statement))
        return (struct stet_python_value){0};
    d.found.from &= PY_FROM_READ | PY_FROM_SURE;
    d.found.parameters = 0;
    return d.found;
}

/* "a if condition else b", "condition and a" in the waiting statement itself. */
static bool chosen_inside(struct resting *r, size_t i, bool loops, struct deciding *d)
{
    const struct stet_python_module *m = r->frames[i].module;
    stet_python_ref n = 0;

    while (stet_python_own_next(m, r->waits[i], &n)) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);
        stet_python_ref test = stet_python_child(&m->ast, n);

        if (k != PY_CONDITIONAL && k != PY_BOOLEAN)
            continue;
        if (k == PY_CONDITIONAL)
            test = test ? stet_python_next(&m->ast, test) : 0;
        d->found = stet_python_flow_of_truth(d->flow, test);
        if (d->found.from & PY_FROM_READ &&
            !(loops && d->found.read.module == m &&
              d->found.read.line == stet_python_line(m, r->waits[i]))) {
            d->at = r->waits[i];
            return true;
        }
    }
    return false;
}

bool stet_python_waiting_rests(struct stet_python_sources *s, const struct stet_python_stack *stack,
                               const struct stet_python_copies *copies, bool loops,
                               struct stet_python_rested *out)
{
    struct resting r;

    begin(&r, s, stack, copies);
    r.q.flow.around = around;
    for (size_t i = 0; i < r.count; i++) {
        struct deciding d = {.flow = &r.q.flow};
        struct stet_python_conditions c = {
            .module = r.frames[i].module, .loops = loops, .rests = rests, .context = &d};
        struct stet_python_place at;

        r.q.flow.frame = &r.frames[i];
        r.q.flow.steps = 0;
        if (!chosen_inside(&r, i, loops, &d) && !stet_python_conditions_around(&c, r.waits[i]))
            continue;
        if (!answer(&d.found, out))
            continue;
        at = stet_python_place_of(r.frames[i].module, d.at);
        out->direct =
            copies->read(copies->context, stet_view_str(at.module->path), at.line, at.last, true);
        return true;
    }
    return false;
}

/* ---- arguments ---- */

/* What the call passes for a parameter of the function; 0 when that is not known. */
static stet_python_ref passed(struct resting *r, const struct stet_python_followed *what,
                              stet_python_ref *call)
{
    const struct stet_python_module *here = r->frames[0].module;
    const struct stet_python_module *m =
        what->file.len ? stet_python_open(r->q.flow.sources, what->file) : NULL;
    stet_python_ref function = m ? stet_python_function_at(m, what->line) : 0, given;
    struct stet_view name = stet_view_word(what->path);
    uint32_t number, position = 0;
    bool bound;

    *call = call_in(r, r->waits[0], m, function, &bound);
    number = function && name.len ? stet_intern_find(&m->ast.names, name) : STET_INTERN_NONE;
    if (!*call || what->held != PY_HELD_ARGUMENT || number == STET_INTERN_NONE ||
        !stet_python_parameter(m, function, number, &position))
        return 0;
    given = stet_python_keyword(here, *call, name);
    if (!given && position >= bound)
        given = stet_python_argument(here, *call, position - bound);
    return given ? stet_python_argument_value(here, given) : 0;
}

bool stet_python_argument_rests(struct stet_python_sources *s,
                                const struct stet_python_stack *stack,
                                const struct stet_python_followed *what,
                                const struct stet_python_copies *copies,
                                struct stet_python_rested *out)
{
    stet_python_ref call, given;
    struct stet_python_value v;
    struct resting r;

    begin(&r, s, stack, copies);
    if (!r.count)
        return false;
    given = passed(&r, what, &call);
    if (!given && call)
        given = stet_python_field(&r.frames[0].module->ast, call, PY_FIELD_ARGUMENTS);
    r.q.flow.sized = what->aspect == PY_OF_SIZE;
    r.q.flow.around = r.q.flow.sized ? NULL : around;
    v = stet_python_flow_of(&r.q.flow, given);
    return answer(&v, out);
}
