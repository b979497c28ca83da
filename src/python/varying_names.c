/* Names: which assignments and changes reach a use, and which of them differs from turn to turn. */
#include "python/varying.h"

enum { MOST_EVENTS = 64, MOST_SITES = 8 };

typedef struct stet_python_varied varied;

static const varied stays;

/* A place that gives a name a value, or changes the object that it has. */
struct event {
    const struct stet_python_binding *binding; /* NULL: the call of a method that changes it */
    stet_python_ref node;                      /* target, or call */
};

/* ---- loops ---- */

static bool yields(const struct stet_python_module *m, stet_python_ref loop)
{
    stet_python_ref function = stet_python_function_around(m, loop);

    for (stet_python_ref n = loop;
         n < m->ast.count && m->ast.nodes[n].start < m->ast.nodes[loop].end; n++)
        if (stet_python_kind(&m->ast, n) == PY_YIELD &&
            stet_python_function_around(m, n) == function)
            return true;
    return false;
}

/* Does the loop come round between two calls of the line in question? */
static bool is_turn(const struct stet_python_slice *s, stet_python_ref loop)
{
    const struct stet_python_module *m = s->x->frame->module;
    enum stet_python_kind k = stet_python_kind(&m->ast, loop);

    if (k != PY_FOR && k != PY_WHILE)
        return false;
    return (m == s->module && stet_python_is_inside(m, s->statement, loop)) || yields(m, loop);
}

/* The `for` or comprehension that binds a target. */
static stet_python_ref loop_of(const struct stet_python_module *m, stet_python_ref target)
{
    stet_python_ref n = m->parents[target];

    while (n && stet_python_kind(&m->ast, n) != PY_FOR && stet_python_kind(&m->ast, n) != PY_FOR_IN)
        n = m->parents[n];
    return n;
}

static bool counts(const struct stet_python_slice *s, stet_python_ref loop)
{
    return stet_python_kind(&s->x->frame->module->ast, loop) == PY_FOR_IN ? s->items
                                                                          : is_turn(s, loop);
}

static varied element(struct stet_python_slice *s, stet_python_ref loop, stet_python_ref value,
                      int position, enum stet_python_asked asked)
{
    const struct stet_python_module *m = s->x->frame->module;
    enum stet_python_meaning meaning = PY_MEANS_NOTHING_KNOWN;
    const struct stet_python_module *from;
    struct stet_view file;
    uint32_t line;
    varied v;

    value = stet_python_bare(&m->ast, value);
    if (stet_python_kind(&m->ast, value) == PY_CALL)
        meaning = stet_python_resolve(s->x, value).meaning;
    if (position == 1 && meaning == PY_MEANS_ENUMERATES)
        return element(s, loop, stet_python_argument(m, value, 0), -1, asked);
    if (position >= 0 && meaning == PY_MEANS_ZIPS)
        return element(s, loop, stet_python_argument(m, value, (uint32_t)position), -1, asked);
    if (!counts(s, loop))
        return stays;
    if (meaning == PY_MEANS_COUNTS || (position == 0 && meaning == PY_MEANS_ENUMERATES))
        return (varied){.how = asked == PY_ASK_ARRAY ? PY_STAYS : PY_COUNTS};
    v = stet_python_varying(s, value, PY_ASK_ITEM);
    if (v.how == PY_VARIES || stet_python_kind(&m->ast, loop) != PY_FOR)
        return v;
    line = stet_python_loader_line(
        s->x->sources,
        (struct stet_python_waiting){stet_view_str(m->path), stet_python_line(m, loop)}, NULL,
        &file);
    from = line ? stet_python_open(s->x->sources, file) : NULL;
    return from ? (varied){PY_VARIES, from, line} : stet_python_varied_at(s, loop, PY_MAY_VARY);
}

/* ---- what reaches a use ---- */

/* Does a method of a library change what is asked of its object? */
static bool changes(struct stet_python_slice *s, stet_python_ref call, enum stet_python_asked asked)
{
    switch (stet_python_resolve(s->x, call).meaning) {
    case PY_MEANS_ADDS_ITEM:
    case PY_MEANS_INSERTS_ITEM:
    case PY_MEANS_ADDS_ITEMS:
    case PY_MEANS_DROPS_ITEMS:
        return asked != PY_ASK_ARRAY;
    case PY_MEANS_CHANGES_FORM:
        return asked == PY_ASK_ARRAY;
    case PY_MEANS_ASKS_GRADIENT:
        return asked == PY_ASK_ARRAY && s->gradient;
    default:
        return false;
    }
}

static void add_event(struct event *list, uint32_t *count, struct event e)
{
    if (*count == MOST_EVENTS)
        memmove(list, list + 1, --*count * sizeof *list);
    list[(*count)++] = e;
}

/* All events of a name in a scope, in the order of the text. */
static uint32_t events_of(struct stet_python_slice *s, uint32_t name, stet_python_ref scope,
                          enum stet_python_asked asked, struct event *list)
{
    const struct stet_python_module *m = s->x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    uint32_t count = 0;

    for (uint32_t i = m->first_binding[name]; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (!b->attribute && b->scope == scope && b->how <= PY_BIND_CONTEXT)
            add_event(list, &count, (struct event){b, b->target});
    }
    for (size_t i = 0; i < m->calls.count; i++) {
        stet_python_ref call = m->calls.items[i], object = stet_python_callee_object(m, call);

        if (object && stet_python_name(a, object) == name &&
            stet_python_function_around(m, call) == scope && changes(s, call, asked))
            add_event(list, &count, (struct event){NULL, call});
    }
    for (uint32_t i = 1; i < count; i++) /* nearly sorted */
        for (uint32_t k = i; k && list[k].node < list[k - 1].node; k--) {
            struct event swapped = list[k];

            list[k] = list[k - 1];
            list[k - 1] = swapped;
        }
    return count;
}

static bool comes_before(const struct stet_python_module *m, const struct event *e,
                         stet_python_ref use)
{
    stet_python_ref own = e->binding ? e->binding->value : e->node;

    return m->ast.nodes[e->node].start < m->ast.nodes[use].start &&
           !stet_python_is_inside(m, use, own);
}

/* The innermost node that holds both; 0 for the module. */
static stet_python_ref common(const struct stet_python_module *m, stet_python_ref a,
                              stet_python_ref b)
{
    while (a && !stet_python_is_inside(m, b, a))
        a = m->parents[a];
    return a;
}

/* Two branches of one `if`: the one does not reach the other. */
static bool excludes(const struct stet_python_module *m, stet_python_ref a, stet_python_ref b,
                     stet_python_ref both)
{
    enum stet_python_kind k = stet_python_kind(&m->ast, both);
    stet_python_ref test = stet_python_condition_of(m, both);

    return k == PY_IF && test && !stet_python_is_inside(m, a, test) &&
           !stet_python_is_inside(m, b, test);
}

/* Does a condition between the event and what holds both decide whether it happens? A `for` that
 * binds the name itself is no condition. */
static varied decided(struct stet_python_slice *s, const struct event *e, stet_python_ref both,
                      bool *any)
{
    const struct stet_python_module *m = s->x->frame->module;
    stet_python_ref statement = stet_python_statement_of(m, e->node);

    return stet_python_varying_conditions(s, statement, both, any);
}

static varied event_value(struct stet_python_slice *s, const struct event *e,
                          enum stet_python_asked asked)
{
    const struct stet_python_module *m = s->x->frame->module;
    const struct stet_python_binding *b = e->binding;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref value, part;
    varied v;

    if (!b) {
        value = stet_python_field(a, e->node, PY_FIELD_ARGUMENTS);
        v = stays;
        for (part = value ? stet_python_child(a, value) : 0; part; part = stet_python_next(a, part))
            v = stet_python_varied_join(s, e->node, v, stet_python_varying(s, part, PY_ASK_VALUE));
        return v.how >= PY_COUNTS && asked == PY_ASK_ARRAY
                   ? stet_python_varied_at(s, e->node, PY_VARIES)
                   : stays;
    }
    if (b->how == PY_BIND_ELEMENT)
        return element(s, loop_of(m, b->target), b->value, b->position, asked);
    value = stet_python_bare(a, b->value);
    if (b->how == PY_BIND_VALUE && b->position >= 0 &&
        (stet_python_kind(a, value) == PY_TUPLE ||
         stet_python_kind(a, value) == PY_EXPRESSION_LIST)) {
        part = stet_python_child(a, value);
        for (int i = 0; part && i < b->position; i++)
            part = stet_python_next(a, part);
        return stet_python_varying(s, part, asked);
    }
    return stet_python_varying(s, value, asked);
}

/* `tokens = torch.cat([tokens, new])`: is the name one of the parts of a container there? */
static bool joins_itself(const struct stet_python_module *m, const struct stet_python_binding *b)
{
    const struct stet_python_ast *a = &m->ast;

    for (stet_python_ref n = b->value; n < a->count && a->nodes[n].start < a->nodes[b->value].end;
         n++)
        if (stet_python_name(a, n) == b->name && (stet_python_kind(a, m->parents[n]) == PY_LIST ||
                                                  stet_python_kind(a, m->parents[n]) == PY_TUPLE))
            return true;
    return false;
}

static bool mentions_itself(const struct stet_python_module *m, const struct stet_python_binding *b)
{
    const struct stet_python_ast *a = &m->ast;

    for (stet_python_ref n = b->value; n < a->count && a->nodes[n].start < a->nodes[b->value].end;
         n++)
        if (stet_python_name(a, n) == b->name)
            return true;
    return false;
}

/* What the turn before left: a counter, or something that grows. */
static varied carried(struct stet_python_slice *s, const struct event *list, uint32_t count,
                      stet_python_ref use, enum stet_python_asked asked)
{
    const struct stet_python_module *m = s->x->frame->module;
    stet_python_ref loop = stet_python_loop_around(m, use);
    varied v = stays;

    for (; loop; loop = stet_python_loop_around(m, loop))
        for (uint32_t i = 0; is_turn(s, loop) && i < count; i++) {
            const struct stet_python_binding *b = list[i].binding;
            varied one = stet_python_varied_at(s, list[i].node, PY_MAY_VARY);

            if (!stet_python_is_inside(m, list[i].node, loop) || comes_before(m, &list[i], use))
                continue;
            if (!b || (b->how == PY_BIND_AUGMENTED && asked == PY_ASK_VALUE) ||
                (b->how == PY_BIND_VALUE && asked == PY_ASK_VALUE && mentions_itself(m, b)))
                one.how = PY_COUNTS;
            else if (b->how == PY_BIND_VALUE && joins_itself(m, b))
                one.how = PY_VARIES;
            else if (b->how == PY_BIND_AUGMENTED)
                one.how = PY_STAYS;
            v = stet_python_varied_join(s, use, v, one);
        }
    return v;
}

/* The events before a use, the nearest first, until one that every path passes. */
static varied reaching(struct stet_python_slice *s, const struct event *list, uint32_t count,
                       stet_python_ref use, enum stet_python_asked asked, bool *covered)
{
    const struct stet_python_module *m = s->x->frame->module;
    varied v = stays;

    for (uint32_t i = count; i-- > 0 && !*covered;) {
        const struct event *e = &list[i];
        const struct stet_python_binding *b = e->binding;
        stet_python_ref both;
        varied decides;
        bool any;

        if (!comes_before(m, e, use))
            continue;
        both = common(m, e->node, use);
        if (excludes(m, e->node, use, both))
            continue;
        decides = decided(s, e, both, &any);
        if (any && decides.how >= PY_COUNTS)
            v = stet_python_varied_join(s, use, v, stet_python_varied_at(s, e->node, PY_VARIES));
        else if (any && decides.how == PY_MAY_VARY)
            v = stet_python_varied_join(s, use, v, stet_python_varied_at(s, e->node, PY_MAY_VARY));
        v = stet_python_varied_join(s, use, v, event_value(s, e, asked));
        *covered = b && b->how != PY_BIND_AUGMENTED && !any;
    }
    return v;
}

static bool in_comprehension(const struct stet_python_module *m, const struct event *e,
                             stet_python_ref use)
{
    stet_python_ref clause =
        e->binding && e->binding->how == PY_BIND_ELEMENT ? loop_of(m, e->binding->target) : 0;

    return stet_python_kind(&m->ast, clause) == PY_FOR_IN &&
           stet_python_is_inside(m, use, m->parents[clause]);
}

static varied in_scope(struct stet_python_slice *s, const struct event *list, uint32_t count,
                       stet_python_ref use, stet_python_ref scope, enum stet_python_asked asked,
                       bool *covered)
{
    const struct stet_python_module *m = s->x->frame->module;
    varied v;

    *covered = true;
    for (uint32_t i = count; i-- > 0;)
        if (in_comprehension(m, &list[i], use))
            return event_value(s, &list[i], asked);
    if (stet_python_function_around(m, use) == scope) {
        *covered = false;
        v = reaching(s, list, count, use, asked, covered);
        if (v.how < PY_COUNTS && (!*covered || v.how == PY_STAYS)) {
            stet_python_ref loop = stet_python_loop_around(m, use);
            bool fresh = false; /* assigned in the turn itself */

            for (uint32_t i = 0; loop && i < count; i++)
                fresh = fresh || (list[i].binding && comes_before(m, &list[i], use) &&
                                  stet_python_is_inside(m, list[i].node, loop));
            if (!fresh)
                v = stet_python_varied_join(s, use, v, carried(s, list, count, use, asked));
        }
        return v;
    }
    v = stays; /* a function that runs later: the last one counts */
    for (uint32_t i = 0; i < count; i++)
        v = stet_python_varied_join(s, use, v, event_value(s, &list[i], asked));
    return v;
}

varied stet_python_varying_name(struct stet_python_slice *s, stet_python_ref n,
                                enum stet_python_asked asked)
{
    const struct stet_python_module *m = s->x->frame->module;
    uint32_t name = stet_python_name(&m->ast, n), position, count;
    stet_python_ref scope = stet_python_function_around(m, n);
    struct event list[MOST_EVENTS];

    for (;; scope = stet_python_function_around(m, scope)) {
        stet_python_ref parameter = scope ? stet_python_parameter(m, scope, name, &position) : 0;
        bool covered = false;
        varied v = stays;

        count = events_of(s, name, scope, asked, list);
        if (count)
            v = in_scope(s, list, count, n, scope, asked, &covered);
        if (parameter && !covered)
            v = stet_python_varied_join(
                s, n, v, stet_python_varying_parameter(s, scope, parameter, position, asked));
        if (count || parameter || !scope)
            return v;
    }
}

/* ---- parameters ---- */

static varied argument_of(struct stet_python_slice *s, const struct stet_python_frame *f,
                          stet_python_ref parameter, uint32_t position,
                          enum stet_python_asked asked)
{
    const struct stet_python_frame *before = s->x->frame;
    struct stet_view name =
        f->module->ast.names.items[stet_python_parameter_name(f->module, parameter)];
    stet_python_ref given = stet_python_given(f->caller->module, f->call, name, position, f->bound);
    varied v;

    s->x->frame = f->caller;
    v = stet_python_varying(s, given, asked);
    s->x->frame = before;
    return v;
}

/* Of the calls in one module. */
static varied from_sites(struct stet_python_slice *s, const struct stet_python_module *where,
                         const struct stet_python_frame *callee, stet_python_ref parameter,
                         uint32_t position, enum stet_python_asked asked, uint32_t *sites)
{
    const struct stet_python_frame *before = s->x->frame;
    const struct stet_python_module *module = s->module;
    stet_python_ref statement = s->statement;
    varied v = stays;

    for (size_t i = 0; i < where->calls.count && *sites < MOST_SITES; i++) {
        struct stet_python_frame caller = {.module = where};
        struct stet_python_frame f = *callee;
        varied one;

        s->x->frame = &caller;
        if (!stet_python_runs(s, where->calls.items[i], callee->module, callee->function, &f.bound))
            continue;
        ++*sites;
        f.call = where->calls.items[i];
        f.caller = &caller;
        s->module = where; /* the loops around this call are turns, too */
        s->statement = stet_python_statement_of(where, f.call);
        one = argument_of(s, &f, parameter, position, asked);
        s->module = module;
        s->statement = statement;
        if (one.how == PY_COUNTS && !one.line)
            one = stet_python_varied_at(s, f.call, PY_VARIES);
        v = stet_python_varied_join(s, f.call, v, one);
    }
    s->x->frame = before;
    return v;
}

varied stet_python_varying_parameter(struct stet_python_slice *s, stet_python_ref function,
                                     stet_python_ref parameter, uint32_t position,
                                     enum stet_python_asked asked)
{
    const struct stet_python_module *m = s->x->frame->module;
    struct stet_python_frame callee = {.module = m, .function = function};
    uint32_t sites = 0;
    varied v;

    for (const struct stet_python_frame *f = s->x->frame; f; f = f->caller)
        if (f->call && f->function == function && f->module == m)
            return argument_of(s, f, parameter, position, asked);
    if (s->depth > 24)
        return (varied){.how = PY_MAY_VARY};
    v = from_sites(s, m, &callee, parameter, position, asked, &sites);
    if (s->module && s->module != m)
        v = stet_python_varied_join(
            s, parameter, v, from_sites(s, s->module, &callee, parameter, position, asked, &sites));
    return sites ? v : (varied){.how = PY_MAY_VARY};
}
