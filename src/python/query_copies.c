/* What an argument of the waiting call, or the decision to make it, rests on that the run was
 * observed to read back. */
#include "python/waiting.h"

/* ---- answers ---- */

static bool answer(const struct stet_python_value *v, struct stet_python_rested *out)
{
    const struct stet_python_place *made = v->made.module ? &v->made : &v->read;

    if (!(v->from & PY_FROM_READ) || !v->read.module)
        return false;
    *out = (struct stet_python_rested){
        .file = stet_view_str(v->read.module->path),
        .line = v->read.line,
        .last = v->read.last,
        .made = {.file = stet_view_str(made->module->path),
                 .function = stet_python_function_name(
                     made->module, stet_python_statement_at(made->module, made->line)),
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
    struct stet_python_conditions c = {.module = x->frame->module,
                                       .leaving =
                                           x->first ? PY_LEAVING_IS_RARE : PY_LEAVING_DECIDES,
                                       .rests = rests,
                                       .context = &d};
    stet_python_ref statement = stet_python_statement_of(c.module, target);

    if (!statement || !stet_python_conditions_around(&c, statement))
        return (struct stet_python_value){0};
    d.found.from &= PY_FROM_READ | PY_FROM_SURE;
    d.found.parameters = 0;
    return d.found;
}

/* "a if condition else b", "condition and a" in the waiting statement itself. */
static bool chosen_inside(struct stet_python_waiting *r, size_t i, bool loops, struct deciding *d)
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
    struct stet_python_waiting r;

    stet_python_waiting_init(&r, s, stack);
    r.q.flow.copies = copies;
    r.q.flow.around = around;
    r.q.flow.first = !loops;
    for (size_t i = 0; i < r.count; i++) {
        struct deciding d = {.flow = &r.q.flow};
        struct stet_python_conditions c = {.module = r.frames[i].module,
                                           .loops = loops,
                                           .leaving = loops ? PY_LEAVING_DECIDES
                                                            : PY_LEAVING_DECIDES_ALONE,
                                           .rests = rests,
                                           .context = &d};
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
static stet_python_ref passed(struct stet_python_waiting *r,
                              const struct stet_python_followed *what, stet_python_ref *call)
{
    const struct stet_python_module *here = r->frames[0].module;
    const struct stet_python_module *m =
        what->file.len ? stet_python_open(r->q.flow.sources, what->file) : NULL;
    stet_python_ref function = m ? stet_python_function_at(m, what->line) : 0, given;
    struct stet_view name = stet_view_word(what->path);
    uint32_t number, position = 0;
    bool bound;

    *call = stet_python_waiting_call(r, r->waits[0], m, function, &bound);
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
    struct stet_python_waiting r;

    stet_python_waiting_init(&r, s, stack);
    r.q.flow.copies = copies;
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
