/* Names: which assignments and changes reach a use, and what is passed for a parameter. */
#include "python/trail.h"

typedef struct stet_python_verdict verdict;

static const verdict stays;

/* ---- loops ---- */

/* Does the loop hand over an item in each turn: by `yield`, or to a queue? */
static bool yields(const struct stet_python_module *m, stet_python_ref loop)
{
    stet_python_ref function = stet_python_function_around(m, loop);

    for (stet_python_ref n = loop;
         n < m->ast.count && m->ast.nodes[n].start < m->ast.nodes[loop].end; n++) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if ((k == PY_YIELD || (k == PY_CALL && stet_python_callee_object(m, n) &&
                               stet_python_library_method_meaning(stet_python_callee(m, n)) ==
                                   PY_MEANS_PUTS_ITEM)) &&
            stet_python_function_around(m, n) == function)
            return true;
    }
    return false;
}

stet_python_ref stet_python_trail_waits(const struct stet_python_trail *t, uint32_t seen,
                                        const struct stet_python_module **m)
{
    const struct stet_python_watched *w;

    if (!seen || !t->stack || seen > t->stack->count)
        return 0;
    w = &t->stack->frames[seen - 1];
    *m = stet_python_open(t->x->sources, w->file);
    return *m ? stet_python_statement_at(*m, w->line) : 0;
}

bool stet_python_trail_turns(const struct stet_python_trail *t, stet_python_ref loop)
{
    const struct stet_python_module *m = t->x->frame->module, *where;
    enum stet_python_kind k = stet_python_kind(&m->ast, loop);

    if (k != PY_FOR && k != PY_WHILE)
        return false;
    for (uint32_t i = 1; t->stack && i <= t->stack->count; i++) {
        stet_python_ref statement = stet_python_trail_waits(t, i, &where);

        if (statement && where == m && stet_python_is_inside(m, statement, loop) &&
            statement != loop)
            return true;
    }
    return yields(m, loop);
}

/* ---- scopes ---- */

/* Does the function declare the name with `global` or `nonlocal`? */
static bool declares(const struct stet_python_module *m, stet_python_ref function, uint32_t name,
                     enum stet_python_kind kind)
{
    const struct stet_python_ast *a = &m->ast;

    for (stet_python_ref n = function;
         function && n < a->count && a->nodes[n].start < a->nodes[function].end; n++)
        if (stet_python_kind(a, n) == kind && stet_python_function_around(m, n) == function)
            for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c))
                if (stet_python_name(a, c) == name)
                    return true;
    return false;
}

/* The function (0: the module) whose variable a name is, seen from a node. */
static stet_python_ref scope_of(const struct stet_python_module *m, stet_python_ref n,
                                uint32_t name)
{
    stet_python_ref scope = stet_python_function_around(m, n);

    for (; scope; scope = stet_python_function_around(m, scope)) {
        if (declares(m, scope, name, PY_GLOBAL))
            return 0;
        if (stet_python_binds(m, scope, name) && !declares(m, scope, name, PY_NONLOCAL))
            return scope;
    }
    return 0;
}

static bool in_comprehension(const struct stet_python_module *m,
                             const struct stet_python_binding *b, stet_python_ref use)
{
    stet_python_ref clause = b->how == PY_BIND_ELEMENT ? m->parents[b->target] : 0;

    while (clause && stet_python_kind(&m->ast, clause) != PY_FOR_IN &&
           stet_python_kind(&m->ast, clause) != PY_FOR)
        clause = m->parents[clause];
    return stet_python_kind(&m->ast, clause) == PY_FOR_IN &&
           stet_python_is_inside(m, use, m->parents[clause]);
}

/* All events of a variable, in the order of the text; of the same function as the use, or of
 * others. */
static void events_of(struct stet_python_trail *t, uint32_t name, stet_python_ref scope,
                      stet_python_ref function, bool others, struct stet_python_events *list)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_python_events calls = {.count = 0};

    list->count = 0;
    for (uint32_t i = m->first_binding[name]; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (!b->attribute && b->how <= PY_BIND_CONTEXT && scope_of(m, b->target, name) == scope &&
            (stet_python_function_around(m, b->target) != function) == others)
            stet_python_events_add(list, (struct stet_python_event){m, b, b->target, 0});
    }
    stet_python_events_add_calls(t, &calls, m, name, false);
    for (uint32_t i = 0; i < calls.count; i++) {
        stet_python_ref n = calls.items[i].node;

        if (scope_of(m, n, name) == scope &&
            (stet_python_function_around(m, n) != function) == others)
            stet_python_events_add(list, calls.items[i]);
    }
    for (uint32_t i = 1; i < list->count; i++) /* nearly sorted */
        for (uint32_t k = i; k && list->items[k].node < list->items[k - 1].node; k--) {
            struct stet_python_event swapped = list->items[k];

            list->items[k] = list->items[k - 1];
            list->items[k - 1] = swapped;
        }
}

/* ---- what reaches a use ---- */

static bool comes_before(const struct stet_python_module *m, const struct stet_python_event *e,
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

/* The innermost loop around a node that turns; 0 for none. */
static stet_python_ref turning_loop(const struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref function = stet_python_function_around(m, n);

    for (n = stet_python_loop_around(m, n); n && stet_python_function_around(m, n) == function;
         n = stet_python_loop_around(m, n))
        if (stet_python_trail_turns(t, n))
            return n;
    return 0;
}

/* Did the statement run before all loops that turn? The items of what it made may be taken later,
 * each in another turn. */
static bool ran_once(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_frame *before = t->x->frame;
    const struct stet_python_module *m = NULL;
    struct stet_python_frame frame;
    bool turns = false;

    for (unsigned i = 0; i < t->parts; i++)
        if (t->path[i].how == PY_AT_EACH)
            return false;
    if (before->call || (before->seen > t->stack->waits) || (!before->seen && before->function) ||
        turning_loop(t, n))
        return false;
    for (uint32_t i = before->seen ? before->seen + 1 : 1; !turns && i <= t->stack->waits; i++) {
        stet_python_ref statement = stet_python_trail_waits(t, i, &m);

        frame = (struct stet_python_frame){.module = m};
        t->x->frame = &frame;
        turns = before->seen && statement && turning_loop(t, statement);
        t->x->frame = before;
    }
    return !turns;
}

/* Follows one event, unless that is under way already. */
static verdict event_value(struct stet_python_trail *t, const struct stet_python_event *e)
{
    bool once = t->once;
    verdict v;

    t->once = once || ran_once(t, e->node);
    v = stet_python_event_value(t, e);
    t->once = once;
    return v;
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

/* Is the variable given a new value in each turn before the event changes it? */
static bool is_reset(const struct stet_python_trail *t, const struct stet_python_events *list,
                     uint32_t at, stet_python_ref loop)
{
    const struct stet_python_module *m = t->x->frame->module;

    for (uint32_t i = 0; i < at; i++) {
        const struct stet_python_binding *b = list->items[i].binding;

        if (b && b->how != PY_BIND_AUGMENTED && stet_python_is_inside(m, b->target, loop) &&
            !mentions_itself(m, b) && comes_before(m, &list->items[i], list->items[at].node))
            return true;
    }
    return false;
}

/* What an event leaves for the next turn, if nothing resets it: a counter, something that grows or
 * decays. */
static verdict carried(struct stet_python_trail *t, const struct stet_python_events *list,
                       uint32_t at)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_event *e = &list->items[at];
    const struct stet_python_binding *b = e->binding;
    stet_python_ref loop = turning_loop(t, e->node);
    bool item = b && stet_python_kind(&m->ast, m->parents[b->target]) == PY_SUBSCRIPT;

    if (!loop || is_reset(t, list, at, loop) || !stet_python_event_concerns(t, e) || item ||
        (b && t->parts))
        return stays;
    if (!b) /* append: one more each time */
        return t->aspect == PY_OF_SIZE || t->aspect == PY_OF_VALUE
                   ? stet_python_verdict_at(t, e->node, PY_VARIES)
                   : stays;
    if (stet_python_event_counts(e))
        return t->aspect == PY_OF_VALUE ? stet_python_verdict_at(t, e->node, PY_COUNTS) : stays;
    if (b->how == PY_BIND_AUGMENTED)
        return t->aspect == PY_OF_VALUE ? stet_python_verdict_at(t, e->node, PY_VARIES) : stays;
    if (b->how == PY_BIND_VALUE && mentions_itself(m, b) && t->aspect == PY_OF_VALUE &&
        !t->presence)
        return stet_python_verdict_at(t, e->node, PY_VARIES);
    return stays;
}

/* One event before the use, with what decides whether it happens. */
static verdict reached(struct stet_python_trail *t, const struct stet_python_events *list,
                       uint32_t at, stet_python_ref use, bool *any)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_event *e = &list->items[at];
    stet_python_ref statement = stet_python_statement_of(m, e->node);
    verdict decides = stet_python_trail_conditions(t, statement, common(m, e->node, use), any), v;
    bool grows = t->aspect == PY_OF_SIZE && !t->parts && !e->binding;
    bool item = !e->binding && stet_python_trail_begins(t, PY_AT_EACH);

    if (item || t->made) /* how many there are, and how often it runs, are other questions */
        return event_value(t, e);
    v = carried(t, list, at);
    if (v.how)
        return v;
    if (*any && decides.how >= PY_COUNTS) {
        /* how often it runs is a length; whether it runs is this line */
        return grows ? stet_python_verdict_used(t, e->node, decides)
                     : stet_python_verdict_at(t, e->node, PY_VARIES);
    }
    v = event_value(t, e);
    if (*any && decides.how == PY_MAY_VARY)
        v = stet_python_verdict_join(t, e->node, v,
                                     stet_python_verdict_at(t, e->node, PY_MAY_VARY));
    return v;
}

/* Two events that vary: what chooses between them, if that is one `if`. */
static verdict either(struct stet_python_trail *t, stet_python_ref use, verdict a, verdict b)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref both;

    if (a.how != PY_VARIES || b.how != PY_VARIES || a.module != m || b.module != m ||
        a.at == b.at || a.exact || b.exact)
        return stet_python_verdict_join(t, use, a, b);
    both = common(m, a.at, b.at);
    if (stet_python_kind(&m->ast, both) != PY_IF)
        return stet_python_verdict_join(t, use, a, b);
    a = stet_python_verdict_at(t, both, PY_VARIES);
    a.guessed = true;
    return a;
}

/* The loops around a use, in which events are looked for one after the other. */
struct turns {
    stet_python_ref loop;  /* 0: the function */
    stet_python_ref inner; /* whose events were looked at before; 0: none */
};

static bool is_in_turns(const struct stet_python_module *m, const struct turns *in,
                        stet_python_ref n)
{
    return (!in->loop || stet_python_is_inside(m, n, in->loop)) &&
           !(in->inner && stet_python_is_inside(m, n, in->inner));
}

/* The events before a use, the nearest first, until one that every path passes. */
static verdict reaching(struct stet_python_trail *t, const struct stet_python_events *list,
                        stet_python_ref use, const struct turns *in, bool *covered)
{
    const struct stet_python_module *m = t->x->frame->module;
    verdict v = stays;

    *covered = false;
    for (uint32_t i = list->count; i-- > 0 && !*covered;) {
        const struct stet_python_event *e = &list->items[i];
        bool any;

        if (!is_in_turns(m, in, e->node) || !comes_before(m, e, use) ||
            excludes(m, e->node, use, common(m, e->node, use)) || !stet_python_event_concerns(t, e))
            continue;
        v = either(t, use, v, reached(t, list, i, use, &any));
        *covered = e->binding && e->binding->how != PY_BIND_AUGMENTED && !any;
    }
    return v;
}

/* The loop that comes back to a use with what it assigned after it: one that turns, or a `while`
 * whose condition it is. */
static stet_python_ref loop_back(const struct stet_python_trail *t, stet_python_ref use)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref loop = stet_python_loop_around(m, use);

    if (loop && stet_python_kind(&m->ast, loop) == PY_WHILE &&
        stet_python_is_inside(m, use, stet_python_condition_of(m, loop)))
        return loop;
    return turning_loop(t, use);
}

/* The events after the use in a loop around it: what the turn before left. */
static verdict from_last_turn(struct stet_python_trail *t, const struct stet_python_events *list,
                              stet_python_ref use, const struct turns *in)
{
    const struct stet_python_module *m = t->x->frame->module;
    verdict v = stays;

    for (uint32_t i = 0; in->loop && i < list->count; i++) {
        const struct stet_python_event *e = &list->items[i];
        verdict one;

        if (!is_in_turns(m, in, e->node) || comes_before(m, e, use) ||
            !stet_python_event_concerns(t, e))
            continue;
        one = t->made ? stays : carried(t, list, i);
        if (!one.how)
            one = event_value(t, e);
        if (!one.how && one.sets)
            one.how = PY_VARIES;
        if (!one.how && (!one.itself || t->aspect == PY_OF_TYPE) && !t->parts && !t->presence &&
            !t->made && e->binding && e->binding->how == PY_BIND_VALUE &&
            (t->aspect == PY_OF_VALUE || t->aspect == PY_OF_TYPE)) {
            one = stet_python_verdict_at(t, e->node, PY_VARIES); /* another value than before it */
            one.guessed = true;
        }
        v = stet_python_verdict_join(t, use, v, one);
    }
    return v;
}

/* The innermost loop first: what differs in its turns decides before what ran around it. */
static verdict in_turns(struct stet_python_trail *t, const struct stet_python_events *list,
                        stet_python_ref use, bool *covered)
{
    struct turns in = {.loop = loop_back(t, use)};
    verdict v = stays;

    *covered = false;
    for (;;) {
        v = either(t, use, v, reaching(t, list, use, &in, covered));
        if (*covered || !in.loop)
            return v;
        if (v.how < PY_COUNTS || v.guessed)
            v = stet_python_verdict_join(t, use, v, from_last_turn(t, list, use, &in));
        *covered = v.how >= PY_COUNTS && !v.guessed; /* whatever it was before the loop */
        if (*covered)
            return v;
        in.inner = in.loop;
        in.loop = turning_loop(t, in.loop);
        if (!in.loop && t->made && v.how >= PY_COUNTS)
            return v; /* what ran before all loops made nothing anew */
    }
}

/* What a variable was before the loop. */
static verdict before_turns(struct stet_python_trail *t, const struct stet_python_events *list,
                            stet_python_ref use, bool *covered)
{
    stet_python_ref loop = loop_back(t, use), outer;

    while (loop && (outer = turning_loop(t, loop)))
        loop = outer;
    return reaching(t, list, use, &(struct turns){.inner = loop}, covered);
}

/* A variable of a function around the use, or of a module: what other functions do to it, and what
 * its own function gave it before. */
static verdict from_outside(struct stet_python_trail *t, uint32_t name, stet_python_ref scope,
                            stet_python_ref function)
{
    const struct stet_python_frame *before = t->x->frame;
    const struct stet_python_module *m = before->module;
    struct stet_python_frame frame = {.module = m, .function = scope};
    struct stet_python_events list, others = {.count = 0};
    verdict v;

    frame.seen = stet_python_trail_seen(t, m, scope);
    for (const struct stet_python_frame *f = before; f; f = f->caller)
        if (f->module == m && f->function == scope && scope) {
            frame = *f;
            break;
        }
    t->x->frame = &frame;
    events_of(t, name, scope, function, true, &list);
    for (uint32_t i = 0; i < list.count; i++)
        if (stet_python_function_around(m, list.items[i].node) != scope ||
            turning_loop(t, list.items[i].node))
            stet_python_events_add(&others, list.items[i]);
    v = stet_python_events_remote(t, &others);
    for (uint32_t i = 0; v.how < PY_COUNTS && i < list.count; i++)
        if (stet_python_function_around(m, list.items[i].node) == scope &&
            stet_python_event_concerns(t, &list.items[i]))
            v = stet_python_verdict_join(t, list.items[i].node, v, event_value(t, &list.items[i]));
    t->x->frame = before;
    return v;
}

static verdict in_scope(struct stet_python_trail *t, uint32_t name, stet_python_ref use,
                        stet_python_ref scope, bool *covered)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref function = stet_python_function_around(m, use);
    struct stet_python_events list;
    verdict v = stays;

    *covered = true;
    events_of(t, name, scope, function, false, &list);
    for (uint32_t i = list.count; i-- > 0;)
        if (list.items[i].binding && in_comprehension(m, list.items[i].binding, use))
            return event_value(t, &list.items[i]);
    v = t->began ? before_turns(t, &list, use, covered) : in_turns(t, &list, use, covered);
    if (v.how < PY_COUNTS && function != scope) /* what an earlier call of the function did */
        v = stet_python_verdict_join(t, use, v, stet_python_events_remote(t, &list));
    if (v.how < PY_COUNTS && (!*covered || function != scope))
        v = stet_python_verdict_join(t, use, v, from_outside(t, name, scope, function));
    return v;
}

/* A definition of this name that another file has, by `from … import *`. */
static const struct stet_python_module *starred(struct stet_python_trail *t, uint32_t *name)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_view text = m->ast.names.items[*name], rest;

    for (size_t i = 0; i < m->stars.count; i++) {
        const struct stet_python_module *from =
            stet_python_import(t->x->sources, m, m->stars.items[i], &rest);
        uint32_t number =
            from && !rest.len ? stet_intern_find(&from->ast.names, text) : STET_INTERN_NONE;

        if (number != STET_INTERN_NONE && stet_python_binds(from, 0, number)) {
            *name = number;
            return from;
        }
    }
    return NULL;
}

static verdict imported(struct stet_python_trail *t, uint32_t name)
{
    const struct stet_python_module *m = t->x->frame->module, *from = NULL;
    struct stet_view rest = {0};
    uint32_t number = name;

    if (m->imports[name].len) {
        from = stet_python_import(t->x->sources, m, m->imports[name], &rest);
        number = from && rest.len ? stet_intern_find(&from->ast.names, rest) : STET_INTERN_NONE;
    } else {
        from = starred(t, &number);
    }
    return from && number != STET_INTERN_NONE ? stet_python_trail_global(t, from, number) : stays;
}

verdict stet_python_trail_global(struct stet_python_trail *t, const struct stet_python_module *m,
                                 uint32_t name)
{
    const struct stet_python_frame *before = t->x->frame;
    struct stet_python_frame frame = {.module = m, .seen = stet_python_trail_seen(t, m, 0)};
    struct stet_python_events list = {.count = 0};
    verdict v;

    t->x->frame = &frame;
    stet_python_events_add_globals(t, m, name, &list);
    v = stet_python_events_remote(t, &list);
    v = v.how ? v : from_outside(t, name, 0, STET_MAP_NONE);
    t->x->frame = before;
    return v;
}

static verdict named(struct stet_python_trail *t, stet_python_ref n, uint32_t name)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref scope = scope_of(m, n, name);
    uint32_t position = 0;
    bool covered = false;
    verdict v;

    if (!scope && !stet_python_binds(m, 0, name))
        return imported(t, name);
    if (!scope && stet_python_function_around(m, n)) /* seen from a function that runs later */
        return stet_python_trail_global(t, m, name);
    v = in_scope(t, name, n, scope, &covered);
    if (!covered && scope && stet_python_parameter(m, scope, name, &position))
        v = stet_python_verdict_join(t, n, v,
                                     stet_python_trail_parameter(t, scope, name, position));
    return v;
}

verdict stet_python_trail_name(struct stet_python_trail *t, stet_python_ref n)
{
    enum stet_python_seen seen = stet_python_trail_watch(t, n);
    verdict v;

    if (seen == PY_SEEN_SAME)
        return stays;
    v = named(t, n, stet_python_name(&t->x->frame->module->ast, n));
    v.exact |= seen == PY_SEEN_EXACT && v.how >= PY_COUNTS;
    return v;
}

verdict stet_python_trail_variable(struct stet_python_trail *t, stet_python_ref n,
                                   struct stet_view name)
{
    const struct stet_python_module *m = t->x->frame->module;
    uint32_t number = stet_intern_find(&m->ast.names, name);

    return number == STET_INTERN_NONE || !number ? stays : named(t, n, number);
}
