/* Events: the places that give a name or a field its value, and what each of them gives. */
#include "python/trail.h"

#include <stdlib.h>

typedef struct stet_python_verdict verdict;

static const verdict stays;

void stet_python_events_add(struct stet_python_events *list, struct stet_python_event e)
{
    if (list->count == STET_PYTHON_EVENTS)
        memmove(list->items, list->items + 1, --list->count * sizeof *list->items);
    list->items[list->count++] = e;
}

/* What a method does to its object, in the aspect that is followed. */
static bool changes(const struct stet_python_trail *t, enum stet_python_meaning meaning)
{
    if (meaning == PY_MEANS_ASKS_GRADIENT)
        return t->aspect == PY_OF_GRADIENT;
    if (meaning == PY_MEANS_CHANGES_FORM)
        return t->aspect == PY_OF_SIZE || t->aspect == PY_OF_RANK || t->aspect == PY_OF_PLACE;
    if (meaning == PY_MEANS_DROPS_ITEMS && t->parts)
        return false; /* the others are what they were */
    return stet_python_changes_items(meaning) &&
           (t->aspect == PY_OF_SIZE || t->aspect == PY_OF_VALUE || t->parts);
}

void stet_python_events_add_calls(struct stet_python_trail *t, struct stet_python_events *list,
                                  const struct stet_python_module *m, uint32_t name, bool field)
{
    const struct stet_python_frame *before = t->x->frame;
    struct stet_python_frame frame = {.module = m};
    const struct stet_python_ast *a = &m->ast;

    for (size_t i = 0; name && i < m->calls.count; i++) {
        stet_python_ref call = m->calls.items[i], object = stet_python_callee_object(m, call);
        bool own;

        if (field)
            object = stet_python_kind(a, object) == PY_ATTRIBUTE
                         ? stet_python_field(a, object, PY_FIELD_ATTRIBUTE)
                         : 0;
        if (!object || stet_python_name(a, object) != name ||
            !changes(t, stet_python_library_method_meaning(stet_python_callee(m, call))))
            continue;
        t->x->frame = &frame;
        own = stet_python_resolve(t->x, call).definition != 0; /* a method of the project's */
        t->x->frame = before;
        if (!own)
            stet_python_events_add(list, (struct stet_python_event){.module = m, .node = call});
    }
}

/* ---- the value of an event ---- */

/* Puts the place of a target in the pattern that it is part of in front of the path: `b` of
 * `a, (b, c) = value` is item 0 of item 1. Returns the number of steps; -1: too many. */
static int push_pattern(struct stet_python_trail *t, const struct stet_python_module *m,
                        stet_python_ref target)
{
    const struct stet_python_ast *a = &m->ast;
    int pushed = 0;

    for (stet_python_ref n = target;; n = m->parents[n]) {
        stet_python_ref up = m->parents[n];
        enum stet_python_kind k = stet_python_kind(a, up);
        int32_t at = 0;

        if (k == PY_LIST_SPLAT_PATTERN || k == PY_AS_TARGET)
            continue;
        if (k != PY_PATTERN_LIST && k != PY_TUPLE_PATTERN && k != PY_LIST_PATTERN)
            return pushed;
        for (stet_python_ref c = stet_python_child(a, up); c && c != n; c = stet_python_next(a, c))
            at++;
        if (stet_python_kind(a, n) == PY_LIST_SPLAT_PATTERN)
            at = -1;
        if (!stet_python_trail_push(t, (struct stet_python_part){PY_AT_INDEX, at, {0}}))
            return -1;
        pushed++;
    }
}

/* The `for` or comprehension that binds a target. */
static stet_python_ref loop_of(const struct stet_python_module *m, stet_python_ref target)
{
    stet_python_ref n = m->parents[target];

    while (n && stet_python_kind(&m->ast, n) != PY_FOR && stet_python_kind(&m->ast, n) != PY_FOR_IN)
        n = m->parents[n];
    return n;
}

/* Does the statement of a comprehension wait, so that it goes on with each call in it? */
static bool waits_inside(const struct stet_python_trail *t, stet_python_ref clause)
{
    const struct stet_python_module *m = t->x->frame->module, *where;

    return stet_python_kind(&m->ast, clause) == PY_FOR_IN &&
           stet_python_trail_waits(t, t->x->frame->seen, &where) ==
               stet_python_statement_of(m, clause) &&
           where == m;
}

static verdict element(struct stet_python_trail *t, const struct stet_python_binding *b)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref loop = loop_of(m, b->target);
    bool before = t->still, each = t->items && stet_python_kind(&m->ast, loop) == PY_FOR_IN;
    verdict v;

    t->still = before || !(each || stet_python_trail_turns(t, loop) || waits_inside(t, loop));
    v = stet_python_trail_into(t, b->value, (struct stet_python_part){PY_AT_EACH, -1, {0}});
    t->still = before;
    return v;
}

/* `x[key] = value`: does it give the first step of the path? */
static bool gives_item(struct stet_python_trail *t, const struct stet_python_module *m,
                       stet_python_ref subscript)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref key = stet_python_next(a, stet_python_field(a, subscript, PY_FIELD_VALUE));
    long index = stet_python_integer(m, key);

    if (stet_python_kind(a, key) == PY_STRING)
        return stet_python_trail_is_head(t, stet_python_string(a, key), -1) && t->parts;
    return index >= 0 && t->parts &&
           stet_python_trail_is_head(t, (struct stet_view){0}, (int32_t)index);
}

bool stet_python_event_concerns(struct stet_python_trail *t, const struct stet_python_event *e)
{
    const struct stet_python_ast *a = &e->module->ast;
    stet_python_ref up = e->binding ? e->module->parents[e->binding->target] : 0;
    struct stet_python_part *head = stet_python_trail_head(t);

    if (e->binding && e->binding->how == PY_BIND_AUGMENTED &&
        stet_python_kind(a, up) == PY_SUBSCRIPT) {
        if (t->parts)
            return gives_item(t, e->module, up);
        return t->aspect == PY_OF_VALUE ||
               stet_python_kind(a, stet_python_next(a, stet_python_field(a, up, PY_FIELD_VALUE))) ==
                   PY_STRING;
    }
    if (!e->binding && !e->value && head && head->how == PY_AT_KEY)
        return stet_python_keyword(e->module, e->node, head->name) != 0;
    return true;
}

/* `x[key] = value`, with the key as the first step; a key that comes makes a container larger. */
static verdict item_set(struct stet_python_trail *t, const struct stet_python_binding *b,
                        stet_python_ref subscript)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_python_part head;
    verdict v;

    if (!t->parts)
        return t->aspect == PY_OF_VALUE
                   ? stet_python_verdict_used(t, b->target, stet_python_trail_of(t, b->value))
                   : stays;
    if (!gives_item(t, m, subscript))
        return stays;
    head = t->path[--t->parts];
    v = stet_python_trail_of(t, b->value);
    t->path[t->parts++] = head;
    return v;
}

/* items.append(value), table.update(key=value) */
static verdict changed_by(struct stet_python_trail *t, stet_python_ref call)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    struct stet_python_part *head = stet_python_trail_head(t), kept;
    stet_python_ref arguments = stet_python_field(a, call, PY_FIELD_ARGUMENTS), given;
    verdict v = stays;

    if (head && head->how == PY_AT_KEY) {
        given = stet_python_keyword(m, call, head->name);
        if (!given)
            return stays;
        kept = t->path[--t->parts];
        v = stet_python_trail_of(t, given);
        t->path[t->parts++] = kept;
        return v;
    }
    if (t->aspect == PY_OF_SIZE && !head)
        return stays; /* how often it runs decides */
    kept = head ? t->path[--t->parts] : (struct stet_python_part){0};
    for (stet_python_ref c = arguments ? stet_python_child(a, arguments) : 0; c;
         c = stet_python_next(a, c))
        v = stet_python_verdict_join(t, call, v,
                                     head ? stet_python_trail_of(t, c)
                                          : stet_python_trail_ask(t, c, PY_OF_VALUE));
    if (head)
        t->path[t->parts++] = kept;
    else if (v.how >= PY_COUNTS) /* x.resize_(n), x.requires_grad_(on) */
        v = stet_python_verdict_at(t, call, PY_VARIES);
    return v;
}

/* What `with manager() as name` gives: what the manager yields, or returns on entering. */
static verdict entered(struct stet_python_trail *t, const struct stet_python_binding *b)
{
    verdict v = stet_python_trail_into(t, b->value, (struct stet_python_part){PY_AT_EACH, -1, {0}});

    return v.how ? v : stet_python_trail_of(t, b->value);
}

static verdict value_of(struct stet_python_trail *t, const struct stet_python_event *e)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_binding *b = e->binding;
    stet_python_ref up;
    unsigned parts = t->parts;
    verdict v;

    if (!b)
        return e->value ? stet_python_trail_of(t, e->value) : changed_by(t, e->node);
    up = m->parents[b->target];
    if (b->how == PY_BIND_AUGMENTED && stet_python_kind(&m->ast, up) == PY_SUBSCRIPT)
        return item_set(t, b, up);
    if (push_pattern(t, m, b->target) < 0)
        v = (verdict){.how = PY_MAY_VARY};
    else if (b->how == PY_BIND_ELEMENT)
        v = element(t, b);
    else if (b->how == PY_BIND_CONTEXT)
        v = entered(t, b);
    else
        v = stet_python_trail_of(t, b->value);
    t->parts = parts;
    return v;
}

struct stet_python_busy {
    const void *what; /* a binding, or the node of a call */
    enum stet_python_aspect aspect;
    const struct stet_python_busy *outer;
};

verdict stet_python_event_value(struct stet_python_trail *t, const struct stet_python_event *e)
{
    const void *what =
        e->binding ? (const void *)e->binding : (const void *)&e->module->ast.nodes[e->node];
    struct stet_python_busy mine = {what, t->aspect, t->busy};
    verdict v;

    for (const struct stet_python_busy *b = t->busy; b; b = b->outer)
        if (b->what == what && b->aspect == t->aspect)
            return (verdict){.how = PY_STAYS, .itself = true};
    t->busy = &mine;
    v = value_of(t, e);
    t->busy = mine.outer;
    return v;
}

/* ---- events of other functions ---- */

bool stet_python_event_counts(const struct stet_python_event *e)
{
    const struct stet_python_module *m = e->module;
    const struct stet_python_binding *b = e->binding;

    if (!b || b->how != PY_BIND_AUGMENTED ||
        stet_python_kind(&m->ast, m->parents[b->target]) == PY_SUBSCRIPT)
        return false;
    return stet_python_integer(m, b->value) > 0;
}

static bool is_literal(const struct stet_python_module *m, stet_python_ref n)
{
    enum stet_python_kind k = stet_python_kind(&m->ast, stet_python_bare(&m->ast, n));

    return k == PY_INTEGER || k == PY_FLOAT || k == PY_TRUE || k == PY_FALSE || k == PY_NONE_ ||
           k == PY_STRING || k == PY_UNARY;
}

bool stet_python_trail_is_new(const struct stet_python_trail *t, const struct stet_python_module *m,
                              stet_python_ref n)
{
    struct stet_view text = stet_python_text(&m->ast, n);
    char room[40];

    if (!t->numbers)
        return false;
    if (stet_python_kind(&m->ast, n) == PY_TRUE || stet_python_kind(&m->ast, n) == PY_FALSE)
        return (stet_python_kind(&m->ast, n) == PY_TRUE) == (t->to != 0);
    if (!text.len || text.len >= sizeof room)
        return false;
    memcpy(room, text.ptr, text.len);
    room[text.len] = '\0';
    return is_literal(m, n) && stet_python_kind(&m->ast, n) != PY_STRING &&
           strtod(room, NULL) == t->to;
}

/* What one event of another function gives. *constant: it is the same each time it runs. */
static verdict remote(struct stet_python_trail *t, const struct stet_python_event *e,
                      bool *constant)
{
    const struct stet_python_frame *before = t->x->frame;
    const struct stet_python_binding *b = e->binding;
    stet_python_ref function = stet_python_function_around(e->module, e->node);
    struct stet_python_frame frame = {.module = e->module,
                                      .function = function,
                                      .seen = stet_python_trail_seen(t, e->module, function)};
    bool augmented =
        b && b->how == PY_BIND_AUGMENTED &&
        stet_python_kind(&e->module->ast, e->module->parents[b->target]) != PY_SUBSCRIPT;
    stet_python_ref value = b ? b->value : e->value;
    verdict v;

    *constant = false;
    if (t->aspect != PY_OF_VALUE && !t->parts &&
        (stet_python_event_counts(e) || (value && is_literal(e->module, value))))
        return stays; /* a number has no size */
    if (before->module == e->module && before->function == function)
        frame = *before;
    t->x->frame = &frame;
    if (stet_python_event_counts(e)) {
        v = stet_python_verdict_at(t, e->node, PY_COUNTS);
    } else if (augmented || (!b && !e->value)) {
        v = stet_python_event_value(t, e);
        if (v.how != PY_VARIES || augmented) {
            v = stet_python_verdict_at(t, e->node, PY_VARIES);
            v.grows = !augmented;
        }
    } else {
        v = stet_python_event_value(t, e);
        if (v.how == PY_COUNTS && !v.at)
            v = stet_python_verdict_used(t, e->node, v);
        if (v.how < PY_COUNTS && !t->made && !(v.itself && (!v.how || t->aspect != PY_OF_VALUE))) {
            *constant = value && is_literal(e->module, value);
            v = stet_python_verdict_at(t, e->node, PY_VARIES);
            v.exact = *constant && stet_python_trail_is_new(t, e->module, value);
            v.guessed = !*constant;
        }
    }
    t->x->frame = before;
    return v;
}

verdict stet_python_events_remote(struct stet_python_trail *t,
                                  const struct stet_python_events *list)
{
    verdict computed = stays, set = stays;
    bool itself = false;

    for (uint32_t i = 0; i < list->count; i++) {
        bool constant;
        verdict one, *to;

        if (!stet_python_event_concerns(t, &list->items[i]))
            continue;
        one = remote(t, &list->items[i], &constant);
        itself |= one.itself;
        to = constant ? &set : &computed;
        if (to->how == PY_VARIES && one.how == PY_VARIES && to->guessed != one.guessed &&
            to->exact == one.exact) {
            *to = one.guessed ? *to : one;
        } else if (to->how == PY_VARIES && one.how == PY_VARIES && to->exact == one.exact &&
                   (to->at != one.at || to->module != one.module)) {
            one.guessed = true; /* which of them it was is not known: the last one */
            *to = one;
        } else if (one.how > to->how || (one.how == to->how && one.exact)) {
            *to = one;
        }
    }
    if (set.exact || !computed.how)
        computed = set;
    computed.itself |= itself;
    return computed;
}
