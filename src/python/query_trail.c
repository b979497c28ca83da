/* Begins a trail: from what a framework's call, a guard or a frame shows to the expression that
 * holds it. */
#include "base/path.h"
#include "python/trail.h"

typedef struct stet_python_verdict verdict;

static const verdict stays;

/* ---- paths ---- */

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (unsigned char)c >= 0x80;
}

static size_t word_at(struct stet_view text, size_t at)
{
    size_t n = at;

    while (n < text.len && is_word(text.ptr[n]))
        n++;
    return n - at;
}

/* The steps of ".mask['x'][3]" into a list, in order. False for a text that is no path. */
static unsigned read_parts(struct stet_view text, struct stet_python_part *out)
{
    unsigned count = 0;

    for (size_t at = 0; at < text.len && count < STET_PYTHON_PARTS - 2;) {
        struct stet_python_part part = {.index = -1};
        const char *end;
        size_t n;

        if (text.ptr[at] == '.') {
            n = word_at(text, at + 1);
            part.how = PY_AT_FIELD;
            part.name = stet_view_of(text.ptr + at + 1, n);
            at += n + 1;
            if (!n)
                break;
        } else if (text.ptr[at] == '[') {
            end = memchr(text.ptr + at, ']', text.len - at);
            if (!end)
                break;
            n = (size_t)(end - text.ptr) - at;
            if (n > 3 && text.ptr[at + 1] == '\'') {
                part.how = PY_AT_KEY;
                part.name = stet_view_of(text.ptr + at + 2, n - 3);
            } else {
                part.how = PY_AT_INDEX;
                part.index = 0;
                for (size_t i = at + 1; i < at + n && part.index >= 0; i++)
                    part.index = text.ptr[i] >= '0' && text.ptr[i] <= '9' && part.index < 100000
                                     ? part.index * 10 + (text.ptr[i] - '0')
                                     : -1;
            }
            at += n + 1;
        } else {
            break;
        }
        out[count++] = part;
    }
    return count;
}

/* Sets the path, and returns the name that the text begins with. */
static struct stet_view begin_path(struct stet_python_trail *t, struct stet_view text)
{
    struct stet_python_part parts[STET_PYTHON_PARTS];
    size_t n = word_at(text, 0);
    unsigned count = read_parts(stet_view_of(text.ptr + n, text.len - n), parts);

    t->parts = 0;
    while (count)
        t->path[t->parts++] = parts[--count];
    return stet_view_of(text.ptr, n);
}

/* ---- beginnings ---- */

/* The function or lambda whose code begins at a line. */
static stet_python_ref function_of(struct stet_python_sources *s,
                                   const struct stet_python_followed *what,
                                   const struct stet_python_module **m)
{
    *m = what->file.len ? stet_python_open(s, what->file) : NULL;
    if (!*m)
        return 0;
    if (what->resumed)
        return stet_python_function_around(*m, stet_python_statement_at(*m, what->line));
    return stet_python_function_at(*m, what->line);
}

/* The call in the waiting statement that runs the function: one that is known to, otherwise the
 * first that may. */
static stet_python_ref call_of(struct stet_python_trail *t, stet_python_ref statement,
                               const struct stet_python_module *m, stet_python_ref function,
                               bool *bound)
{
    const struct stet_python_module *here = t->x->frame->module;
    stet_python_ref n = 0, maybe = 0;

    *bound = function && stet_python_is_method(m, function);
    while (stet_python_own_next(here, statement, &n)) {
        struct stet_python_callee c;

        if (stet_python_kind(&here->ast, n) != PY_CALL)
            continue;
        c = stet_python_trail_callee(t, n);
        if (function && c.definition == function && c.module == m) {
            *bound = c.bound;
            return n;
        }
        if (!c.definition && !maybe && !c.meaning &&
            (c.effect <= PY_GIVES_UNKNOWN || c.effect == PY_GIVES_STEPS || c.object) &&
            !c.transform)
            maybe = n;
    }
    return maybe;
}

void stet_python_trail_begin(struct stet_python_trail *t, struct stet_python_frame frame)
{
    t->first = frame;
    t->x->frame = &t->first;
}

/* Begins in the frame of the stack with this number. */
static bool enter(struct stet_python_trail *t, size_t number, stet_python_ref *statement)
{
    const struct stet_python_module *m = NULL;

    *statement = stet_python_trail_waits(t, (uint32_t)number + 1, &m);
    if (!*statement)
        return false;
    stet_python_trail_begin(
        t, (struct stet_python_frame){.module = m,
                                      .function = stet_python_function_around(m, *statement),
                                      .seen = (uint32_t)number + 1});
    return true;
}

/* What the call passes is always the same, and another call passes something else: the line that
 * made it, or the call. */
static verdict passed_here(struct stet_python_trail *t, stet_python_ref call,
                           struct stet_view parameter, uint32_t position, bool bound)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref given = stet_python_keyword(m, call, parameter);
    uint32_t line;
    verdict v;

    if (!given && position >= bound)
        given = stet_python_argument(m, call, position - bound);
    if (!given || !t->elsewhere)
        return stays;
    v = stet_python_verdict_at(t, given, PY_VARIES);
    line =
        stet_python_name(&m->ast, given)
            ? stet_python_binding_line(t->x->sources, stet_view_str(m->path),
                                       stet_python_line(m, call), stet_python_text(&m->ast, given))
            : 0;
    if (line) {
        v.line = line;
        v.at = stet_python_statement_at(m, line);
    }
    return v;
}

/* A field of the object whose method was called. */
static verdict own_field(struct stet_python_trail *t, const struct stet_python_module *m,
                         stet_python_ref function)
{
    stet_python_ref class_node = stet_python_class_around(m, function);
    struct stet_python_part head;
    verdict v;

    if (!class_node || !stet_python_trail_begins(t, PY_AT_FIELD))
        return stays;
    head = t->path[--t->parts];
    v = stet_python_trail_field(t, m, class_node, head.name);
    t->path[t->parts++] = head;
    return v;
}

/* The code goes on in the middle of a function: a name as that line sees it. */
static verdict resumed(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    const struct stet_python_module *m;
    stet_python_ref function = function_of(t->x->sources, what, &m);
    struct stet_view name = begin_path(t, what->path);

    if (!function)
        return stays;
    stet_python_trail_begin(t, (struct stet_python_frame){.module = m, .function = function});
    return stet_python_trail_variable(t, stet_python_statement_at(m, what->line), name);
}

static verdict argument(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    const struct stet_python_module *m;
    stet_python_ref function = function_of(t->x->sources, what, &m), statement, call;
    struct stet_python_frame called;
    struct stet_view name = begin_path(t, what->path);
    uint32_t number, position = 0;
    bool bound;
    verdict v;

    if (!enter(t, 0, &statement))
        return stays;
    call = call_of(t, statement, m, function, &bound);
    number = function ? stet_intern_find(&m->ast.names, name) : STET_INTERN_NONE;
    if (number == STET_INTERN_NONE || !stet_python_parameter(m, function, number, &position))
        return stays;
    if (!position && stet_python_is_method(m, function)) { /* self.steps */
        v = own_field(t, m, function);
        if (v.how)
            return v;
    }
    if (!call)
        return stays;
    called = (struct stet_python_frame){
        .module = m, .function = function, .call = call, .caller = &t->first, .bound = bound};
    t->x->frame = &called;
    v = stet_python_trail_parameter(t, function, number, position);
    t->x->frame = &t->first;
    if (v.queued) { /* what comes in a request is what it is: here it enters the program */
        v = stet_python_verdict_at(t, call, PY_VARIES);
        v.open = true;
    }
    return v.how == PY_STAYS ? passed_here(t, call, name, position, bound) : v;
}

/* "model.head.scale" of a frame: the field of an object whose class was observed. */
static verdict field_of_object(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    const char *dot = what->path.len ? memrchr(what->path.ptr, '.', what->path.len) : NULL;
    struct stet_view object, field;
    const struct stet_python_module *m;
    stet_python_ref class_node;
    unsigned parts = t->parts;
    verdict v;

    if (!dot || !t->stack->type ||
        memchr(dot, '[', (size_t)(what->path.ptr + what->path.len - dot)))
        return stays;
    object = stet_view_of(what->path.ptr, (size_t)(dot - what->path.ptr));
    field = stet_view_of(dot + 1, what->path.len - object.len - 1);
    class_node = stet_python_trail_class_named(
        t, t->stack->type(t->stack->context, what->frame, object), &m);
    if (!class_node)
        return stays;
    t->parts = 0;
    v = stet_python_trail_field(t, m, class_node, field);
    t->parts = parts;
    return v;
}

/* A name as a statement of a frame sees it. */
static verdict variable(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    stet_python_ref statement, n = 0, use = 0;
    struct stet_view name = begin_path(t, what->path);
    const struct stet_python_module *m;
    verdict v;

    if (!enter(t, what->frame, &statement))
        return stays;
    v = field_of_object(t, what);
    if (v.how >= PY_COUNTS)
        return v;
    m = t->first.module;
    while (stet_python_own_next(m, statement, &n))
        if (stet_python_kind(&m->ast, n) == PY_IDENTIFIER &&
            stet_view_eq(stet_python_text(&m->ast, n), name))
            use = n;
    return stet_python_trail_variable(t, use ? use : statement, name);
}

static verdict closure(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    const struct stet_python_module *m;
    stet_python_ref function = function_of(t->x->sources, what, &m), method = function;
    struct stet_view name = begin_path(t, what->path);
    uint32_t number, position = 0;
    stet_python_ref body;

    if (!function)
        return stays;
    body = stet_python_field(&m->ast, function, PY_FIELD_BODY);
    stet_python_trail_begin(t, (struct stet_python_frame){.module = m, .function = function});
    number = stet_intern_find(&m->ast.names, name);
    while (method && number != STET_INTERN_NONE &&
           !stet_python_parameter(m, method, number, &position))
        method = stet_python_function_around(m, method);
    if (method && number != STET_INTERN_NONE && stet_python_is_method(m, method) && !position)
        return own_field(t, m, method); /* also of a function inside the method */
    return stet_python_trail_variable(t, body, name);
}

/* "keywords['k']", "args[0]" of the function that is called: what functools.partial was given. */
static verdict of_called(struct stet_python_trail *t, const struct stet_python_followed *what,
                         stet_python_ref statement, struct stet_view name)
{
    const struct stet_python_module *here = t->x->frame->module, *m;
    stet_python_ref function = function_of(t->x->sources, what, &m);
    bool bound;
    stet_python_ref call = call_of(t, statement, m, function, &bound);

    return call ? stet_python_trail_into(t, stet_python_field(&here->ast, call, PY_FIELD_FUNCTION),
                                         (struct stet_python_part){PY_AT_FIELD, -1, name})
                : stays;
}

static verdict field(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    stet_python_ref statement;
    struct stet_view name = begin_path(t, what->path);
    verdict v;

    if (!enter(t, 0, &statement)) {
        const struct stet_python_module *m;

        (void)function_of(t->x->sources, what, &m);
        if (!m)
            return stays;
        stet_python_trail_begin(t, (struct stet_python_frame){.module = m});
    } else {
        v = of_called(t, what, statement, name);
        if (v.how >= PY_COUNTS)
            return v;
    }
    return stet_python_trail_any_field(t, name);
}

/* What a line makes; of containers the arrays in them, and not how many there are. */
static verdict of_arrays(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;

    switch (stet_python_kind(a, stet_python_bare(a, n))) {
    case PY_LIST:
    case PY_TUPLE:
    case PY_DICTIONARY:
    case PY_EXPRESSION_LIST:
    case PY_LIST_COMPREHENSION:
    case PY_DICT_COMPREHENSION:
        return stet_python_trail_into(t, n, (struct stet_python_part){PY_AT_INDEX, -1, {0}});
    default:
        return stet_python_trail_of(t, n);
    }
}

/* What a statement assigns or takes; otherwise what its first call is given. */
static verdict of_statement(struct stet_python_trail *t, stet_python_ref statement)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref n = 0;

    if (stet_python_kind(&m->ast, statement) == PY_FOR)
        return stet_python_trail_into(t, stet_python_field(&m->ast, statement, PY_FIELD_RIGHT),
                                      (struct stet_python_part){PY_AT_EACH, -1, {0}});
    while (stet_python_own_next(m, statement, &n)) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if (k == PY_ASSIGNMENT)
            return of_arrays(t, stet_python_field(&m->ast, n, PY_FIELD_RIGHT));
        if (k == PY_RETURN || k == PY_YIELD)
            return of_arrays(t, stet_python_child(&m->ast, n));
        if (k == PY_CALL)
            return stet_python_trail_of(t, n);
    }
    return stays;
}

static verdict line(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    const struct stet_python_module *m = stet_python_open(t->x->sources, what->at_file);
    stet_python_ref statement = m ? stet_python_statement_at(m, what->at_line) : 0;
    stet_python_ref function;
    verdict v;

    if (!statement)
        return stays;
    function = stet_python_function_around(m, statement);
    stet_python_trail_begin(
        t, (struct stet_python_frame){
               .module = m, .function = function, .seen = stet_python_trail_seen(t, m, function)});
    v = of_statement(t, statement);
    return v.how >= PY_COUNTS ? v : stet_python_verdict_at(t, statement, PY_MAY_VARY);
}

/* The only call of a statement. */
static stet_python_ref only_call(const struct stet_python_module *m, stet_python_ref statement)
{
    stet_python_ref n = 0, call = 0;

    while (stet_python_own_next(m, statement, &n)) {
        if (stet_python_kind(&m->ast, n) != PY_CALL)
            continue;
        if (call)
            return 0;
        call = n;
    }
    return call;
}

/* The call that waits in the innermost frame. */
static stet_python_ref waiting_call(struct stet_python_trail *t,
                                    const struct stet_python_followed *what)
{
    const struct stet_python_module *m;
    stet_python_ref function = function_of(t->x->sources, what, &m), statement, call;
    bool bound;

    if (!enter(t, 0, &statement))
        return 0;
    call = call_of(t, statement, m, function, &bound);
    return call ? call : only_call(t->first.module, statement);
}

/* A library's function around the called one took the arguments apart: the one that differs. */
static verdict call_arguments(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    stet_python_ref call = waiting_call(t, what), list;
    const struct stet_python_module *m = t->first.module;
    const struct stet_python_ast *a;
    verdict v = stays;

    if (!call)
        return stays;
    a = &m->ast;
    t->inside = true;
    list = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    for (stet_python_ref c = list ? stet_python_child(a, list) : 0; c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_LIST_SPLAT)
            v = stet_python_verdict_join(
                t, call, v,
                stet_python_trail_into(t, stet_python_child(a, c),
                                       (struct stet_python_part){PY_AT_INDEX, -1, {0}}));
        else
            v = stet_python_verdict_join(t, call, v,
                                         stet_python_trail_of(t, stet_python_argument_value(m, c)));
    return v.how >= PY_COUNTS ? v : stays;
}

/* One argument of the call that waits, by its place or keyword. */
static verdict passed(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    stet_python_ref call = waiting_call(t, what), given = 0;
    const struct stet_python_module *m = t->first.module;
    const struct stet_python_part *head;

    begin_path(t, what->path);
    if (!call || !t->parts)
        return stays;
    head = &t->path[--t->parts];
    if (head->how == PY_AT_KEY)
        given = stet_python_keyword(m, call, head->name);
    else if (head->index >= 0)
        given = stet_python_argument(m, call, (uint32_t)head->index);
    return given ? stet_python_trail_of(t, given) : stays;
}

/* Which function a call runs: `steps[kind](x)`. */
static verdict callee(struct stet_python_trail *t, const struct stet_python_followed *what)
{
    stet_python_ref call = waiting_call(t, what);
    const struct stet_python_ast *a;
    stet_python_ref function;
    verdict v = stays;

    if (!call)
        return stays;
    a = &t->first.module->ast;
    function = stet_python_bare(a, stet_python_field(a, call, PY_FIELD_FUNCTION));
    if (stet_python_kind(a, function) == PY_SUBSCRIPT) /* what chooses, before the table */
        v = stet_python_trail_ask(
            t, stet_python_next(a, stet_python_field(a, function, PY_FIELD_VALUE)), PY_OF_VALUE);
    return v.how >= PY_COUNTS ? v : stet_python_trail_of(t, function);
}

/* Values that a module lists, and a function takes: either may be what to edit. */
static bool is_listed(const struct stet_python_trail *t, const verdict *v)
{
    const struct stet_python_module *m = NULL;
    stet_python_ref waits = t->stack->waits ? stet_python_trail_waits(t, 1, &m) : 0;

    return waits && stet_python_function_around(m, waits) &&
           !stet_python_function_around(v->module, v->at);
}

static struct stet_python_made answer(const struct stet_python_trail *t, const verdict *found)
{
    bool sure = found->how >= PY_COUNTS && found->at && !is_listed(t, found) && !found->one_of &&
                (found->exact || (!found->guessed && !found->open));
    verdict settled = stet_python_way_settle(t, *found, sure), *v = &settled;
    stet_python_ref function, name;

    if (v->how == PY_STAYS || !v->at)
        return (struct stet_python_made){.line = 0};
    function = stet_python_function_around(v->module, v->at);
    name = function ? stet_python_field(&v->module->ast, function, PY_FIELD_NAME) : 0;
    return (struct stet_python_made){stet_view_str(v->module->path),
                                     name       ? stet_python_text(&v->module->ast, name)
                                     : function ? STET_VIEW("<lambda>")
                                                : STET_VIEW("<module>"),
                                     v->line, sure};
}

/* All that assigns a field of this name. */
static struct stet_python_made field_answer(struct stet_python_trail *t, struct stet_view name)
{
    stet_python_ref statement;
    verdict v;

    if (!enter(t, 0, &statement))
        return (struct stet_python_made){.line = 0};
    v = stet_python_trail_any_field(t, name);
    return answer(t, &v);
}

struct stet_python_made stet_python_follow(struct stet_python_sources *s,
                                           const struct stet_python_stack *stack,
                                           const struct stet_python_followed *what)
{
    static const struct stet_python_stack nothing;
    struct stet_python_question q;
    struct stet_python_trail t = {.x = stet_python_ask(&q, s, NULL),
                                  .stack = stack ? stack : &nothing,
                                  .aspect = what->aspect,
                                  .numbers = what->numbers,
                                  .from = what->from,
                                  .to = what->to,
                                  .elsewhere = what->elsewhere,
                                  .presence = what->presence,
                                  .made = what->made,
                                  .called = what->held == PY_HELD_CALLEE,
                                  .ways = &s->ways};
    const struct stet_python_module *m;
    verdict v = stays;

    s->ways.stops.count = s->ways.now = 0;
    for (size_t i = 0; i < t.stack->count; i++)
        if (!stet_path_is_installed(t.stack->frames[i].file))
            stet_python_open(s, t.stack->frames[i].file);
    stet_python_open_imports(s);
    switch (what->held) {
    case PY_HELD_ARGUMENT:
        v = what->resumed ? resumed(&t, what) : argument(&t, what);
        break;
    case PY_HELD_VARIABLE:
        v = variable(&t, what);
        break;
    case PY_HELD_CLOSURE:
        v = closure(&t, what);
        break;
    case PY_HELD_FIELD:
        v = field(&t, what);
        break;
    case PY_HELD_LINE:
        v = line(&t, what);
        break;
    case PY_HELD_CALL:
        v = call_arguments(&t, what);
        break;
    case PY_HELD_PASSED:
        v = passed(&t, what);
        break;
    case PY_HELD_CALLEE:
        v = callee(&t, what);
        break;
    }
    /* a counter that is passed as it is: the call passes it */
    if (v.how == PY_COUNTS && !v.at && what->held == PY_HELD_ARGUMENT &&
        (v.at = stet_python_trail_waits(&t, 1, &m))) {
        v.module = m;
        v.line = stet_python_line(m, v.at);
    }
    return answer(&t, &v);
}

struct stet_python_made stet_python_asks_gradient(struct stet_python_sources *s,
                                                  const struct stet_python_stack *stack,
                                                  const struct stet_python_followed *what)
{
    struct stet_python_question q;
    struct stet_python_trail t = {.x = stet_python_ask(&q, s, NULL),
                                  .stack = stack,
                                  .aspect = PY_OF_VALUE,
                                  .numbers = what->numbers,
                                  .from = what->from,
                                  .to = what->to};
    struct stet_python_events list = {.count = 0};
    verdict v;

    for (uint32_t k = 0; k < s->count; k++) {
        const struct stet_python_module *m = s->modules[k];

        if (stet_path_is_installed(stet_view_str(m->path)))
            continue; /* what a library does with parameters of its own */
        for (size_t i = 0; m->parsed && i < m->calls.count; i++) {
            stet_python_ref call = m->calls.items[i], on = stet_python_argument(m, call, 0);

            if (stet_python_callee_object(m, call) &&
                stet_python_library_method_meaning(stet_python_callee(m, call)) ==
                    PY_MEANS_ASKS_GRADIENT)
                stet_python_events_add(&list, (struct stet_python_event){m, NULL, call, on});
        }
    }
    stet_python_trail_begin(
        &t, (struct stet_python_frame){.module = list.count ? list.items[0].module : NULL});
    v = list.count ? stet_python_events_remote(&t, &list) : stays;
    return v.how >= PY_COUNTS ? answer(&t, &v) : field_answer(&t, STET_VIEW("requires_grad"));
}
