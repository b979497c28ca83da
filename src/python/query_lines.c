/* Questions about a line, and about what is around it. */
#include "python/queries_internal.h"

enum { DEEPEST_HELPER = 3, CALLERS_UP = 3 };

static const struct stet_python_module *open_at(struct stet_python_sources *s,
                                                struct stet_view file, uint32_t line,
                                                stet_python_ref *statement)
{
    const struct stet_python_module *m = stet_python_open(s, file);

    *statement = m ? stet_python_statement_at(m, line) : 0;
    return *statement ? m : NULL;
}

static bool is_loop(enum stet_python_kind k)
{
    return k == PY_FOR || k == PY_WHILE;
}

uint32_t stet_python_def_around(struct stet_python_sources *s, struct stet_view file, uint32_t line)
{
    stet_python_ref n, f;
    const struct stet_python_module *m = open_at(s, file, line, &n);

    f = m ? stet_python_function_around(m, n) : 0;
    return f ? stet_python_line(m, f) : 0;
}

bool stet_python_in_generator(struct stet_python_sources *s, struct stet_view file, uint32_t line)
{
    stet_python_ref n, f;
    const struct stet_python_module *m = open_at(s, file, line, &n);

    f = m ? stet_python_function_around(m, n) : 0;
    for (stet_python_ref i = f; f && i < m->ast.count; i++)
        if (stet_python_kind(&m->ast, i) == PY_YIELD && stet_python_function_around(m, i) == f)
            return true;
    return false;
}

stet_python_ref stet_python_condition_of(const struct stet_python_module *m,
                                         stet_python_ref statement)
{
    switch (stet_python_kind(&m->ast, statement)) {
    case PY_IF:
    case PY_ELIF:
    case PY_WHILE:
        return stet_python_field(&m->ast, statement, PY_FIELD_CONDITION);
    case PY_MATCH:
        return stet_python_child(&m->ast, statement);
    default:
        return 0;
    }
}

bool stet_python_is_condition(struct stet_python_sources *s, struct stet_view file, uint32_t line)
{
    stet_python_ref n;
    const struct stet_python_module *m = open_at(s, file, line, &n);

    /* `if x: y = 1` is one line; a condition in brackets has several, and it may be any of them. */
    for (; m && n; n = stet_python_statement_of(m, m->parents[n])) {
        stet_python_ref test = stet_python_condition_of(m, n);

        if (test && line >= stet_python_line(m, n) &&
            line <= stet_python_row(&m->ast, m->ast.nodes[test].end) + 1)
            return true;
    }
    return false;
}

bool stet_python_branches(struct stet_python_sources *s, struct stet_view file, uint32_t line)
{
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref statement = m ? stet_python_statement_at(m, line) : 0, n = 0;

    if (stet_python_is_condition(s, file, line))
        return true;
    while (stet_python_own_next(m, statement, &n)) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if (k == PY_CONDITIONAL || k == PY_BOOLEAN)
            return true;
    }
    return false;
}

/* ---- values read back ---- */

static bool answer(const struct stet_python_module *asked, const struct stet_python_value *v,
                   uint32_t here, struct stet_python_read *out)
{
    if (!v->read.module)
        return false;
    *out = (struct stet_python_read){.file = stet_view_str(v->read.module->path),
                                     .line = v->read.line,
                                     .last = v->read.last,
                                     .here = v->read.module == asked ? v->read.line : here,
                                     .sure = (v->from & PY_FROM_SURE) != 0};
    return true;
}

/* The statement leaves the block: nothing behind it runs. */
static bool leaves(const struct stet_python_module *m, stet_python_ref block)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref last = 0;

    for (stet_python_ref c = block ? stet_python_child(a, block) : 0; c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) != PY_COMMENT)
            last = c;
    switch (stet_python_kind(a, last)) {
    case PY_RETURN:
    case PY_RAISE:
    case PY_BREAK:
    case PY_CONTINUE:
        return true;
    default:
        return false;
    }
}

struct reading {
    struct stet_python_flow *flow;
    struct stet_python_read *out;
};

static bool rests_on_read(const struct stet_python_conditions *c, stet_python_ref statement)
{
    const struct reading *r = c->context;
    stet_python_ref test = stet_python_condition_of(c->module, statement);
    struct stet_python_value v;

    if (!test)
        return false;
    v = stet_python_flow_of_truth(r->flow, test);
    return (v.from & PY_FROM_READ) &&
           answer(c->module, &v, stet_python_line(c->module, statement), r->out);
}

static bool rests(const struct stet_python_conditions *c, stet_python_ref statement)
{
    return (c->loops || !is_loop(stet_python_kind(&c->module->ast, statement))) &&
           c->rests(c, statement);
}

/* An if before the statement, in the same block, that leaves it. */
static bool guarded(const struct stet_python_conditions *c, stet_python_ref statement)
{
    const struct stet_python_module *m = c->module;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref n = stet_python_child(a, m->parents[statement]);

    for (; n && n != statement; n = stet_python_next(a, n))
        if (stet_python_kind(a, n) == PY_IF &&
            leaves(m, stet_python_field(a, n, PY_FIELD_CONSEQUENCE)) && rests(c, n))
            return true;
    return false;
}

/* The if of an else or elif, its earlier branches. */
static bool branch_reads(const struct stet_python_conditions *c, stet_python_ref clause)
{
    const struct stet_python_module *m = c->module;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref whole = m->parents[clause];

    for (stet_python_ref n = stet_python_child(a, whole); n && n != clause;
         n = stet_python_next(a, n))
        if (rests(c, n))
            return true;
    return rests(c, whole);
}

/* Upwards from a statement to its function. */
bool stet_python_conditions_around(const struct stet_python_conditions *c,
                                   stet_python_ref statement)
{
    const struct stet_python_module *m = c->module;
    const struct stet_python_ast *a = &m->ast;
    bool leaving = c->leaving != PY_LEAVING_IS_RARE;

    for (stet_python_ref n = statement; n; n = stet_python_statement_of(m, m->parents[n])) {
        enum stet_python_kind k = stet_python_kind(a, n);

        if (n != statement && (k == PY_FUNCTION || k == PY_CLASS))
            return false;
        if (n != statement && rests(c, n))
            return true;
        leaving &= c->leaving == PY_LEAVING_DECIDES || n == statement || k != PY_IF;
        if (k == PY_ELIF || k == PY_ELSE ? branch_reads(c, n) : leaving && guarded(c, n))
            return true;
    }
    return false;
}

/* The only call of a function in its file, or 0. */
static stet_python_ref only_call(struct stet_python_flow *x, stet_python_ref function)
{
    const struct stet_python_module *m = x->frame->module;
    stet_python_ref name = stet_python_field(&m->ast, function, PY_FIELD_NAME), found = 0;

    for (size_t i = 0; name && i < m->calls.count; i++) {
        stet_python_ref call = m->calls.items[i];

        if (!stet_view_eq(stet_python_callee(m, call), stet_python_text(&m->ast, name)) ||
            stet_python_resolve(x, call).definition != function)
            continue;
        if (found)
            return 0;
        found = call;
    }
    return found;
}

/* The same question has the same answer: a loop repeats a few questions many times. */
enum { ASKED_CONDITION = 1, ASKED_LOOP = 2, ASKED_ARGUMENT = 3, ASKED_READS = 4 };

static uint64_t key_of(const struct stet_python_module *m, uint32_t line, unsigned question)
{
    return stet_map_pair(line, question) ^ (uint64_t)(uintptr_t)m * 0x9e3779b97f4a7c15u;
}

/* True when the question was answered before: then *yes, and *out if it is yes. */
static bool recall(const struct stet_python_sources *s, uint64_t key, bool *yes,
                   struct stet_python_read *out)
{
    uint32_t at = stet_map_get(&s->answers, key);

    *yes = at != STET_MAP_NONE && at > 0;
    if (*yes)
        *out = s->reads.items[at - 1];
    return at != STET_MAP_NONE;
}

static bool remember(struct stet_python_sources *s, uint64_t key, bool yes,
                     const struct stet_python_read *out)
{
    if (yes)
        STET_VEC_PUSH(&s->reads, *out);
    if (!s->reads.failed)
        stet_map_put(&s->answers, key, yes ? (uint32_t)s->reads.count : 0);
    return yes;
}

bool stet_python_condition_reads(struct stet_python_sources *s, struct stet_view file,
                                 uint32_t line, bool loops, struct stet_python_read *out)
{
    struct stet_python_question q;
    struct reading reading = {.out = out};
    struct stet_python_conditions c = {.loops = loops,
                                       .leaving =
                                           loops ? PY_LEAVING_DECIDES : PY_LEAVING_DECIDES_ALONE,
                                       .rests = rests_on_read,
                                       .context = &reading};
    stet_python_ref n;
    const struct stet_python_module *m = open_at(s, file, line, &n);
    uint64_t key = key_of(m, line, loops ? ASKED_LOOP : ASKED_CONDITION);
    bool yes = false;

    if (!m || recall(s, key, &yes, out))
        return yes;
    c.module = m;
    reading.flow = stet_python_ask(&q, s, m);
    for (int up = 0; n && up < CALLERS_UP; up++) {
        stet_python_ref function;

        if (stet_python_conditions_around(&c, n))
            return remember(s, key, true, out);
        function = stet_python_function_around(m, n);
        n = function ? only_call(reading.flow, function) : 0;
        n = stet_python_statement_of(m, n);
    }
    return remember(s, key, false, NULL);
}

/* Does the call itself read, or does it only pass on its arguments? */
static bool is_reader(const struct stet_python_callee *c)
{
    return c->effect != PY_GIVES_NOTHING_KNOWN && c->effect != PY_GIVES_UNKNOWN &&
           !stet_python_is_device(c->effect) && c->effect != PY_GIVES_MOVES;
}

bool stet_python_argument_reads(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                                struct stet_python_read *out)
{
    struct stet_python_question q;
    stet_python_ref statement, n = 0;
    const struct stet_python_module *m = open_at(s, file, line, &statement);
    uint64_t key = key_of(m, line, ASKED_ARGUMENT);
    struct stet_python_flow *x;
    bool yes = false;

    if (!m || recall(s, key, &yes, out))
        return yes;
    x = stet_python_ask(&q, s, m);
    while (stet_python_own_next(m, statement, &n)) {
        struct stet_python_callee c;
        struct stet_python_value v;

        if (stet_python_kind(&m->ast, n) != PY_CALL)
            continue;
        c = stet_python_resolve(x, n);
        if (is_reader(&c))
            continue;
        v = stet_python_flow_of(x, stet_python_field(&m->ast, n, PY_FIELD_ARGUMENTS));
        if ((v.from & PY_FROM_NUMBER) && answer(m, &v, stet_python_line(m, statement), out))
            return remember(s, key, true, out);
    }
    return remember(s, key, false, NULL);
}

/* ---- statements that read ---- */

static bool is_in(const struct stet_python_value *v, const struct stet_python_module *m,
                  stet_python_ref statement)
{
    return (v->from & PY_FROM_READ) && v->read.module == m &&
           v->read.line == stet_python_line(m, statement);
}

static bool body_reads(struct stet_python_flow *x, stet_python_ref call, unsigned depth)
{
    struct stet_python_callee c = stet_python_resolve(x, call);
    struct stet_python_frame frame = {.module = c.module,
                                      .function = c.definition,
                                      .call = call,
                                      .caller = x->frame,
                                      .bound = c.bound};
    const struct stet_python_frame *before = x->frame;
    const struct stet_python_ast *a = &c.module->ast;
    stet_python_ref body = c.definition ? stet_python_field(a, c.definition, PY_FIELD_BODY) : 0;
    bool found = false;

    if (!body || stet_python_kind(a, body) != PY_BLOCK || depth >= DEEPEST_HELPER)
        return false;
    for (const struct stet_python_frame *f = before; f; f = f->caller)
        if (f->function == c.definition && f->module == c.module)
            return false;
    x->frame = &frame;
    for (stet_python_ref n = body + 1;
         !found && n < a->count && a->nodes[n].start < a->nodes[body].end; n++)
        if (stet_python_statement_of(c.module, n) == n &&
            stet_python_function_around(c.module, n) == c.definition)
            found = stet_python_statement_reads(x, n, depth + 1);
    x->frame = before;
    return found;
}

bool stet_python_statement_reads(struct stet_python_flow *x, stet_python_ref statement,
                                 unsigned depth)
{
    const struct stet_python_module *m = x->frame->module;
    stet_python_ref test = stet_python_condition_of(m, statement), n = 0;
    enum stet_python_kind k = stet_python_kind(&m->ast, statement);
    struct stet_python_value v;

    if (k == PY_FUNCTION || k == PY_CLASS || k == PY_DECORATED)
        return false;
    if (k == PY_ASSERT)
        test = stet_python_child(&m->ast, statement);
    v = test ? stet_python_flow_of_truth(x, test) : (struct stet_python_value){0};
    if (is_in(&v, m, statement))
        return true;
    while (stet_python_own_next(m, statement, &n)) {
        k = stet_python_kind(&m->ast, n);
        if (k != PY_CALL && k != PY_STRING && k != PY_BOOLEAN && k != PY_NOT && k != PY_CONDITIONAL)
            continue;
        v = stet_python_flow_of(x, n);
        if (is_in(&v, m, statement) || (k == PY_CALL && body_reads(x, n, depth)))
            return true;
    }
    return false;
}

bool stet_python_line_reads(struct stet_python_sources *s, struct stet_view file, uint32_t line)
{
    struct stet_python_question q;
    stet_python_ref n;
    const struct stet_python_module *m = open_at(s, file, line, &n);
    uint64_t key = key_of(m, line, ASKED_READS);
    struct stet_python_read none = {0};
    bool yes = false;

    if (!m || recall(s, key, &yes, &none))
        return yes;
    yes = stet_python_statement_reads(stet_python_ask(&q, s, m), n, 0);
    return remember(s, key, yes, &none);
}

/* ---- names in a line, from the tree ---- */

const struct stet_python_array *stet_python_array_call(struct stet_python_flow *x,
                                                       stet_python_ref call)
{
    const struct stet_python_module *m = x->frame->module;
    char room[160];
    struct stet_view known = stet_python_library_callee(m, call, room);
    const struct stet_python_array *array =
        stet_python_array(known.len ? known : stet_python_callee(m, call));
    struct stet_python_callee c;

    if (!array)
        return NULL;
    c = stet_python_resolve(x, call);
    if (c.definition)
        return NULL;
    if (c.object)
        return stet_python_flow_of(x, c.object).from & PY_FROM_TEXT ? NULL : array;
    return c.effect == PY_GIVES_NOTHING_KNOWN || c.effect == PY_GIVES_HOST ? NULL : array;
}

bool stet_python_line_calls(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                            unsigned roles)
{
    struct stet_python_question q;
    stet_python_ref statement, n = 0;
    const struct stet_python_module *m = open_at(s, file, line, &statement);
    struct stet_python_flow *x = m ? stet_python_ask(&q, s, m) : NULL;

    while (m && stet_python_own_next(m, statement, &n)) {
        const struct stet_python_array *array =
            stet_python_kind(&m->ast, n) == PY_CALL ? stet_python_array_call(x, n) : NULL;

        if (array && (array->role & roles))
            return true;
    }
    return false;
}

bool stet_python_line_sizes(struct stet_python_sources *s, struct stet_view file, uint32_t line)
{
    struct stet_python_question q;
    stet_python_ref statement, n = 0;
    const struct stet_python_module *m = open_at(s, file, line, &statement);
    struct stet_python_flow *x = m ? stet_python_ask(&q, s, m) : NULL;

    while (m && stet_python_own_next(m, statement, &n)) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if ((k == PY_ATTRIBUTE || k == PY_CALL) && (stet_python_flow_of(x, n).from & PY_FROM_SHAPE))
            return true;
    }
    return stet_python_line_calls(s, file, line, PY_SELECTS | PY_FINDS);
}

bool stet_python_line_assigns(struct stet_python_sources *s, struct stet_view file, uint32_t line)
{
    stet_python_ref statement, n = 0;
    const struct stet_python_module *m = open_at(s, file, line, &statement);

    while (m && stet_python_own_next(m, statement, &n))
        switch (stet_python_kind(&m->ast, n)) {
        case PY_FOR:
        case PY_WITH:
        case PY_ASSIGNMENT:
        case PY_NAMED_EXPRESSION:
        case PY_DEFAULT_PARAMETER:
            return true;
        default:
            break;
        }
    return false;
}

bool stet_python_line_names(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                            struct stet_view name)
{
    stet_python_ref statement, n = 0;
    const struct stet_python_module *m = open_at(s, file, line, &statement);

    while (m && stet_python_own_next(m, statement, &n))
        if (stet_python_kind(&m->ast, n) == PY_IDENTIFIER &&
            stet_view_eq(stet_python_text(&m->ast, n), name))
            return true;
    return false;
}
