/* Questions about what a loop runs. */
#include "python/queries_internal.h"

enum { MOST_STEPS = 4096, MOST_BODIES = 48, MADE_DEPTH = 3 };

/* ---- numbers passed to an operation ---- */

static bool is_power(const struct stet_python_module *m, stet_python_ref n)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT);
    stet_python_ref right = stet_python_field(a, n, PY_FIELD_RIGHT);
    uint32_t from = left ? a->nodes[left].end : 0, to = right ? a->nodes[right].start : 0;

    return a->nodes[n].op == '*' && to > from &&
           stet_view_contains(stet_view_of(a->text.ptr + from, to - from), "**");
}

/* "**", "@" or the name of what is called; empty for other nodes. */
static struct stet_view spelling_of(const struct stet_python_module *m, stet_python_ref n)
{
    switch (stet_python_kind(&m->ast, n)) {
    case PY_CALL:
        return stet_python_callee(m, n);
    case PY_BINARY:
        if (is_power(m, n))
            return STET_VIEW("**");
        return m->ast.nodes[n].op == '@' ? STET_VIEW("@") : STET_VIEW("");
    case PY_SUBSCRIPT:
        return STET_VIEW("[]");
    default:
        return STET_VIEW("");
    }
}

/* Returns the numbers passed to a function of an array library or to a method of an array. */
static struct stet_python_value numbers_of_call(struct stet_python_flow *x, stet_python_ref call)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    const struct stet_python_array *array = stet_python_array_call(x, call);
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    struct stet_python_value v = {0};
    uint32_t position = 0, first;

    if (!array || stet_python_kind(a, args) != PY_ARGUMENTS)
        return v;
    first = array->first && stet_python_resolve(x, call).object ? array->first - 1 : array->first;
    for (stet_python_ref c = stet_python_child(a, args); c; c = stet_python_next(a, c)) {
        bool keyword = stet_python_kind(a, c) == PY_KEYWORD_ARGUMENT;

        if (stet_python_kind(a, c) == PY_COMMENT)
            continue;
        if (keyword
                ? !stet_python_setting(stet_python_text(a, stet_python_field(a, c, PY_FIELD_NAME)))
                : position >= first)
            v = stet_python_either(v, stet_python_flow_of(x, c));
        position += !keyword;
    }
    return v;
}

/* Bounds of slices and positions in a subscript; a key of a dictionary is neither. */
static struct stet_python_value numbers_of_subscript(struct stet_python_flow *x, stet_python_ref n,
                                                     bool slices_only)
{
    const struct stet_python_ast *a = &x->frame->module->ast;
    stet_python_ref c = stet_python_next(a, stet_python_field(a, n, PY_FIELD_VALUE));
    struct stet_python_value all = {0};

    for (; c; c = stet_python_next(a, c)) {
        struct stet_python_value v = stet_python_flow_of(x, c);

        if (stet_python_kind(a, c) != PY_SLICE &&
            (slices_only || v.from & (PY_FROM_DEVICE | PY_FROM_TEXT | PY_FROM_UNKNOWN) ||
             stet_python_kind(a, c) == PY_CALL || stet_python_kind(a, c) == PY_COMPARISON))
            continue;
        all = stet_python_either(all, v);
    }
    return all;
}

struct stet_python_value stet_python_numbers_given(struct stet_python_flow *x,
                                                   stet_python_ref statement,
                                                   struct stet_view operation)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_value all = {0};
    stet_python_ref n = 0;

    while (stet_python_own_next(m, statement, &n)) {
        struct stet_view spelling = spelling_of(m, n);

        if (!spelling.len || !stet_python_gives_operation(operation, spelling))
            continue;
        x->steps = 0;
        if (stet_python_kind(&m->ast, n) == PY_BINARY)
            all = stet_python_either(
                all, stet_python_flow_of(x, stet_python_field(&m->ast, n, PY_FIELD_RIGHT)));
        else if (stet_python_kind(&m->ast, n) == PY_SUBSCRIPT)
            all = stet_python_either(all, numbers_of_subscript(x, n, false));
        else
            all = stet_python_either(all, numbers_of_call(x, n));
    }
    return all;
}

/* ---- reach ---- */

struct gathering {
    struct stet_python_sources *sources;
    struct stet_python_reach *reach;
    struct body {
        const struct stet_python_module *module;
        stet_python_ref node;
    } bodies[MOST_BODIES];
    uint32_t body_count;
};

static void add_body(struct gathering *g, const struct stet_python_module *m, stet_python_ref node)
{
    for (uint32_t i = 0; i < g->body_count; i++)
        if (g->bodies[i].module == m && g->bodies[i].node == node)
            return;
    if (node && g->body_count < MOST_BODIES)
        g->bodies[g->body_count++] = (struct body){m, node};
}

static void add_definition(struct gathering *g, const struct stet_python_module *m,
                           stet_python_ref definition)
{
    const struct stet_python_ast *a = &m->ast;
    const struct stet_python_called *called;

    if (stet_python_kind(a, definition) != PY_CLASS) {
        add_body(g, m, stet_python_field(a, definition, PY_FIELD_BODY));
        return;
    }
    for (size_t i = 0; (called = stet_python_called(i)); i++) {
        stet_python_ref f = stet_python_method(m, definition, stet_view_str(called->name));

        if (f)
            add_body(g, m, stet_python_field(a, f, PY_FIELD_BODY));
    }
}

/* The classes of which a name, or an attribute of that name, may hold an instance. */
static void add_made(struct gathering *g, struct stet_python_flow *x, uint32_t name, unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_ast *a = &m->ast;

    for (uint32_t i = name ? m->first_binding[name] : 0; i && depth < MADE_DEPTH;
         i = m->bindings.items[i - 1].next) {
        stet_python_ref value = m->bindings.items[i - 1].value;

        for (stet_python_ref n = value; n < a->count && a->nodes[n].start < a->nodes[value].end;
             n++) {
            struct stet_python_callee c;

            if (m->bindings.items[i - 1].how > PY_BIND_CONTEXT)
                break;
            x->steps = 0;
            if (a->nodes[n].kind == PY_CALL) {
                c = stet_python_resolve(x, n);
                if (c.definition && stet_python_kind(&c.module->ast, c.definition) == PY_CLASS)
                    add_definition(g, c.module, c.definition);
            } else if (stet_python_name(a, n) && stet_python_name(a, n) != name) {
                add_made(g, x, stet_python_name(a, n), depth + 1);
            }
        }
    }
}

static void add_called(struct gathering *g, struct stet_python_flow *x, stet_python_ref call)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    struct stet_python_callee c = stet_python_resolve(x, call);
    stet_python_ref f = stet_python_bare(a, stet_python_field(a, call, PY_FIELD_FUNCTION));

    if (c.definition) {
        add_definition(g, c.module, c.definition);
        return;
    }
    if (c.effect != PY_GIVES_NOTHING_KNOWN && c.effect != PY_GIVES_UNKNOWN)
        return;
    while (stet_python_kind(a, f) == PY_SUBSCRIPT)
        f = stet_python_field(a, f, PY_FIELD_VALUE);
    if (stet_python_kind(a, f) == PY_ATTRIBUTE)
        f = stet_python_field(a, f, PY_FIELD_ATTRIBUTE);
    add_made(g, x, stet_python_name(a, f), 0);
}

static void add_statements(struct gathering *g, struct body body)
{
    const struct stet_python_ast *a = &body.module->ast;
    struct stet_python_reach *r = g->reach;
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, g->sources, body.module);

    for (stet_python_ref n = body.node;
         n < a->count && a->nodes[n].start < a->nodes[body.node].end && r->count < MOST_STEPS;
         n++) {
        if (a->nodes[n].kind == PY_CALL) {
            x->steps = 0;
            add_called(g, x, n);
        }
        if (n == body.node || stet_python_statement_of(body.module, n) != n ||
            !stet_vec_room(&r->steps, &r->room, r->count, sizeof *r->steps))
            continue;
        r->steps[r->count++] = (struct stet_python_step){body.module, n};
    }
}

static stet_python_ref innermost_loop(const struct stet_python_module *m, stet_python_ref n)
{
    for (n = m->parents[n]; n; n = m->parents[n]) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if (k == PY_FOR || k == PY_WHILE)
            return n;
        if (k == PY_FUNCTION || k == PY_LAMBDA)
            return 0;
    }
    return 0;
}

uint32_t stet_python_loop_of_line(struct stet_python_sources *s, struct stet_view file,
                                  uint32_t line)
{
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref n = m ? stet_python_statement_at(m, line) : 0, loop;

    loop = n ? innermost_loop(m, n) : 0;
    return loop ? stet_python_line(m, loop) : 0;
}

static void note_size(struct stet_python_reach *r, const struct stet_python_value *v)
{
    stet_python_ref n = v->from & PY_FROM_NUMBER && v->read.module
                            ? stet_python_statement_at(v->read.module, v->read.line)
                            : 0;

    for (uint32_t i = 0; i < r->size_count; i++)
        if (r->sizes[i].module == v->read.module && r->sizes[i].statement == n)
            return;
    if (n && r->size_count < STET_PYTHON_SIZES)
        r->sizes[r->size_count++] = (struct stet_python_step){v->read.module, n};
}

/* The numbers read back that shape an array in reach. */
static void find_sizes(struct stet_python_sources *s, struct stet_python_reach *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct stet_python_module *m = r->steps[i].module;
        struct stet_python_question q;
        struct stet_python_flow *x = stet_python_ask(&q, s, m);
        stet_python_ref n = 0;

        while (stet_python_own_next(m, r->steps[i].statement, &n)) {
            struct stet_python_value v = {0};

            x->steps = 0;
            if (stet_python_kind(&m->ast, n) == PY_SUBSCRIPT)
                v = numbers_of_subscript(x, n, true);
            else if (stet_python_kind(&m->ast, n) == PY_CALL)
                v = numbers_of_call(x, n);
            note_size(r, &v);
        }
    }
}

static void gather(struct stet_python_sources *s, const struct stet_python_module *m,
                   stet_python_ref from, struct stet_python_reach *out)
{
    struct gathering g = {.sources = s, .reach = out};

    if (from)
        add_body(&g, m, stet_python_field(&m->ast, from, PY_FIELD_BODY));
    for (uint32_t i = 0; i < g.body_count; i++)
        add_statements(&g, g.bodies[i]);
    find_sizes(s, out);
}

void stet_python_reach_around(struct stet_python_sources *s, const struct stet_python_module *m,
                              stet_python_ref n, struct stet_python_reach *out)
{
    gather(s, m, stet_python_function_around(m, n), out);
}

void stet_python_reach_from(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                            struct stet_python_reach *out)
{
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref n = m ? stet_python_statement_at(m, line) : 0, from;

    stet_python_reach_release(out);
    if (!n)
        return;
    from = innermost_loop(m, n);
    gather(s, m, from ? from : stet_python_function_around(m, n), out);
}

void stet_python_reach_release(struct stet_python_reach *r)
{
    stet_mem_free(r->steps);
    *r = (struct stet_python_reach){0};
}

/* ---- one statement in reach ---- */

bool stet_python_step_reads_size(const struct stet_python_reach *r,
                                 const struct stet_python_step *step)
{
    for (uint32_t i = 0; i < r->size_count; i++)
        if (r->sizes[i].module == step->module && r->sizes[i].statement == step->statement)
            return true;
    return false;
}

/* x[mask]: an index that is not a number, text or slice. */
static bool selects_by(const struct stet_python_module *m, stet_python_ref n)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref c = stet_python_next(a, stet_python_field(a, n, PY_FIELD_VALUE));

    for (; c; c = stet_python_next(a, c)) {
        enum stet_python_kind k = stet_python_kind(a, c);

        if (k != PY_SLICE && k != PY_INTEGER && k != PY_STRING && k != PY_ELLIPSIS && k != PY_NONE_)
            return true;
    }
    return false;
}

bool stet_python_step_selects(struct stet_python_sources *s, const struct stet_python_step *step)
{
    const struct stet_python_module *m = step->module;
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, m);
    stet_python_ref n = 0;
    bool found = false;

    while (!found && stet_python_own_next(m, step->statement, &n)) {
        const struct stet_python_array *array =
            stet_python_kind(&m->ast, n) == PY_CALL ? stet_python_array_call(x, n) : NULL;

        x->steps = 0;
        found = (array && (array->role & (PY_SELECTS | PY_FINDS))) ||
                (stet_python_kind(&m->ast, n) == PY_SUBSCRIPT && selects_by(m, n));
    }
    /* the graph is cut there too, for what the line reads */
    return found && !stet_python_statement_reads(stet_python_ask(&q, s, m), step->statement, 0);
}

/* Is the name passed to a parameter called `device` of a library's function anywhere? */
static bool is_used_as_device(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    uint32_t name = stet_python_name(a, n);

    for (size_t i = 0; name && i < m->calls.count; i++) {
        stet_python_ref v = stet_python_keyword(m, m->calls.items[i], STET_VIEW("device"));

        if (v && stet_python_name(a, v) == name &&
            !stet_python_resolve(x, m->calls.items[i]).definition)
            return true;
    }
    return false;
}

static bool moves(struct stet_python_flow *x, stet_python_ref call)
{
    const struct stet_python_module *m = x->frame->module;
    struct stet_python_callee c = stet_python_resolve(x, call);
    stet_python_ref args = stet_python_field(&m->ast, call, PY_FIELD_ARGUMENTS);

    if (c.definition || c.effect != PY_GIVES_MOVES)
        return false;
    if (!c.object || !args || !stet_python_child(&m->ast, args))
        return true; /* jax.device_put(x), x.cuda() */
    if (stet_python_keyword(m, call, STET_VIEW("device")))
        return true;
    for (uint32_t i = 0; i < 2; i++) {
        stet_python_ref arg = stet_python_argument(m, call, i);
        uint32_t from = arg ? stet_python_flow_of(x, arg).from : 0;

        if (from & (PY_FROM_HANDLE | PY_FROM_TEXT) ||
            (arg && (from & PY_FROM_UNKNOWN) && is_used_as_device(x, arg)))
            return true;
    }
    return false;
}

bool stet_python_step_feeds(struct stet_python_sources *s, const struct stet_python_step *step)
{
    const struct stet_python_module *m = step->module;
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, m);
    stet_python_ref n = 0;

    if (stet_python_kind(&m->ast, step->statement) == PY_FOR)
        return stet_python_flow_of(x, stet_python_field(&m->ast, step->statement, PY_FIELD_RIGHT))
                   .from &
               PY_FROM_FEED;
    while (stet_python_own_next(m, step->statement, &n)) {
        x->steps = 0;
        if (stet_python_kind(&m->ast, n) == PY_CALL && moves(x, n))
            return true;
    }
    return false;
}

bool stet_python_step_updates(struct stet_python_sources *s, const struct stet_python_step *step)
{
    const struct stet_python_module *m = step->module;
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, m);
    stet_python_ref n = 0;

    while (stet_python_own_next(m, step->statement, &n)) {
        struct stet_python_callee c;
        stet_python_ref arg;

        if (stet_python_kind(&m->ast, n) != PY_CALL)
            continue;
        x->steps = 0;
        c = stet_python_resolve(x, n);
        if (c.definition || c.effect != PY_GIVES_STEPS)
            continue;
        arg = stet_python_argument(m, n, 0); /* scaler.step(optimizer) */
        if (!c.object || stet_python_flow_of(x, c.object).from & PY_FROM_OPTIMIZER ||
            (arg && stet_python_flow_of(x, arg).from & PY_FROM_OPTIMIZER))
            return true;
    }
    return false;
}

bool stet_python_step_gives(struct stet_python_sources *s, const struct stet_python_step *step,
                            struct stet_view operation)
{
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, step->module);
    struct stet_python_value v = stet_python_numbers_given(x, step->statement, operation);

    return v.from & (PY_FROM_TURNS | PY_FROM_UNKNOWN | PY_FROM_NUMBER | PY_FROM_SHAPE);
}

/* ---- jit and conditions in a loop ---- */

/* The line of the last place in a range of nodes, before `limit`, that makes a jitted function. */
static uint32_t jit_in(struct stet_python_flow *x, stet_python_ref from, uint32_t end,
                       uint32_t limit)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    uint32_t line = 0;

    for (stet_python_ref n = from; n < a->count && a->nodes[n].start < end; n++) {
        const struct stet_python_transform *t = NULL;
        stet_python_ref options;

        x->steps = 0;
        if (a->nodes[n].start >= limit)
            break;
        if (a->nodes[n].kind == PY_CALL)
            t = stet_python_resolve(x, n).transform;
        else if (a->nodes[n].kind == PY_DECORATOR)
            t = stet_python_transform_in(x, stet_python_child(a, n), &options);
        if (t && t->kind == PY_JITS)
            line = a->nodes[n].kind == PY_CALL ? stet_python_line(m, stet_python_statement_of(m, n))
                                               : stet_python_line(m, n);
    }
    return line;
}

/* Finds a function of the project that jits and made the statement's callee. */
static uint32_t jit_of_helper(struct stet_python_flow *x, stet_python_ref statement,
                              struct stet_view *from)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    const struct stet_python_frame *before = x->frame;
    stet_python_ref n = 0;

    while (stet_python_own_next(m, statement, &n)) {
        stet_python_ref f =
            stet_python_kind(a, n) == PY_CALL ? stet_python_field(a, n, PY_FIELD_FUNCTION) : 0;
        uint32_t name = stet_python_name(a, f), line = 0;
        struct stet_python_callee c = {0};
        struct stet_python_frame frame;

        x->steps = 0;
        for (uint32_t i = name ? m->first_binding[name] : 0; i && !c.definition;
             i = m->bindings.items[i - 1].next)
            if (m->bindings.items[i - 1].how == PY_BIND_VALUE &&
                stet_python_kind(a, m->bindings.items[i - 1].value) == PY_CALL)
                c = stet_python_resolve(x, m->bindings.items[i - 1].value);
        if (stet_python_kind(a, f) == PY_CALL)
            c = stet_python_resolve(x, f);
        if (!c.definition)
            continue;
        frame = (struct stet_python_frame){.module = c.module};
        x->frame = &frame;
        line = jit_in(x, c.definition, c.module->ast.nodes[c.definition].end, UINT32_MAX);
        x->frame = before;
        *from = stet_view_str(c.module->path);
        if (line)
            return line;
    }
    return 0;
}

uint32_t stet_python_makes_jit(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                               struct stet_view *from)
{
    struct stet_python_question q;
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref n = m ? stet_python_statement_at(m, line) : 0, around = 0;
    struct stet_python_flow *x;
    uint32_t found;

    *from = file;
    if (!n)
        return 0;
    x = stet_python_ask(&q, s, m);
    found = jit_in(x, n, stet_python_own_end(m, n), UINT32_MAX);
    if (found)
        return found;
    for (stet_python_ref p = innermost_loop(m, n); p; p = innermost_loop(m, p))
        around = p;
    around = around ? around : stet_python_function_around(m, n);
    found = around ? jit_in(x, around + 1, m->ast.nodes[around].end, m->ast.nodes[n].start) : 0;
    return found ? found : jit_of_helper(x, n, from);
}

static bool computes(const struct stet_python_module *m, stet_python_ref statement,
                     struct stet_view operation)
{
    stet_python_ref n = 0;

    while (stet_python_own_next(m, statement, &n)) {
        struct stet_view spelling = spelling_of(m, n);

        if (spelling.len && stet_python_computes(operation, spelling))
            return true;
    }
    return false;
}

/* Is there a condition between a statement and the loop around it? */
static bool is_conditional(const struct stet_python_module *m, stet_python_ref n,
                           stet_python_ref loop)
{
    for (n = m->parents[n]; n && n != loop; n = m->parents[n])
        if (stet_python_condition_of(m, n) || stet_python_kind(&m->ast, n) == PY_ELSE)
            return true;
    return false;
}

uint32_t stet_python_conditional_line(struct stet_python_sources *s, struct stet_view file,
                                      uint32_t line, struct stet_view operation)
{
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref n = m ? stet_python_statement_at(m, line) : 0, loop, found = 0;
    const struct stet_python_ast *a = m ? &m->ast : NULL;

    loop = n ? innermost_loop(m, n) : 0;
    for (n = loop + 1; loop && n < a->count && a->nodes[n].start < a->nodes[loop].end; n++) {
        if (stet_python_statement_of(m, n) != n || !computes(m, n, operation))
            continue;
        if (found || !is_conditional(m, n, loop))
            return 0;
        found = n;
    }
    return found ? stet_python_line(m, found) : 0;
}
