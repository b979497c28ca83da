/* Expressions: which part of one differs from turn to turn. */
#include "python/varying.h"

enum { MOST_STEPS = 6000, MOST_DEPTH = 40, MOST_FRAMES = 6 };

typedef struct stet_python_varied varied;

static const varied stays;

varied stet_python_varied_at(const struct stet_python_slice *s, stet_python_ref n,
                             enum stet_python_varying how)
{
    const struct stet_python_module *m = s->x->frame->module;
    stet_python_ref statement = stet_python_statement_of(m, n);

    return (varied){how, m, stet_python_line(m, statement ? statement : n)};
}

varied stet_python_varied_join(const struct stet_python_slice *s, stet_python_ref n, varied a,
                               varied b)
{
    if (a.how == PY_VARIES && b.how == PY_VARIES && (a.line != b.line || a.module != b.module))
        return stet_python_varied_at(s, n, PY_VARIES);
    if (a.how == PY_MAY_VARY && b.how == PY_MAY_VARY && (a.line != b.line || a.module != b.module))
        return (varied){.how = PY_MAY_VARY};
    return b.how > a.how ? b : a;
}

/* What uses a counter makes the value. */
static varied used(const struct stet_python_slice *s, stet_python_ref n, varied v)
{
    return v.how == PY_COUNTS ? stet_python_varied_at(s, n, PY_VARIES) : v;
}

static varied children_from(struct stet_python_slice *s, stet_python_ref n, stet_python_ref first,
                            enum stet_python_asked asked)
{
    const struct stet_python_ast *a = &s->x->frame->module->ast;
    varied v = stays;

    for (stet_python_ref c = first; c; c = stet_python_next(a, c))
        v = stet_python_varied_join(s, n, v, stet_python_varying(s, c, asked));
    return v;
}

static varied children(struct stet_python_slice *s, stet_python_ref n, enum stet_python_asked asked)
{
    return children_from(s, n, stet_python_child(&s->x->frame->module->ast, n), asked);
}

/* Of a container as written: are its items different ones? */
static bool items_differ(const struct stet_python_ast *a, stet_python_ref n)
{
    stet_python_ref first = stet_python_child(a, n);

    for (stet_python_ref c = first ? stet_python_next(a, first) : 0; c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) != PY_COMMENT &&
            !stet_view_eq(stet_python_text(a, c), stet_python_text(a, first)))
            return true;
    return false;
}

static varied container(struct stet_python_slice *s, stet_python_ref n,
                        enum stet_python_asked asked)
{
    const struct stet_python_ast *a = &s->x->frame->module->ast;

    if (asked == PY_ASK_ITEM && items_differ(a, n))
        return stet_python_varied_at(s, n, PY_VARIES);
    return used(s, n, children(s, n, asked == PY_ASK_ITEM ? PY_ASK_VALUE : asked));
}

/* [f(k) for k in range(n)]: how many there are; with PY_ASK_ITEM also what each of them is. */
static varied comprehension(struct stet_python_slice *s, stet_python_ref n,
                            enum stet_python_asked asked)
{
    const struct stet_python_ast *a = &s->x->frame->module->ast;
    stet_python_ref body = stet_python_field(a, n, PY_FIELD_BODY);
    bool before = s->items;
    varied v = stays;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_FOR_IN && asked != PY_ASK_ITEM)
            v = stet_python_varied_join(
                s, n, v,
                stet_python_varying(s, stet_python_field(a, c, PY_FIELD_RIGHT), PY_ASK_VALUE));
        else if (stet_python_kind(a, c) == PY_IF_CLAUSE)
            v = stet_python_varied_join(s, n, v, children(s, c, PY_ASK_VALUE));
    s->items = asked == PY_ASK_ITEM;
    v = stet_python_varied_join(
        s, n, v, stet_python_varying(s, body, asked == PY_ASK_ITEM ? PY_ASK_VALUE : asked));
    s->items = before;
    return used(s, n, v);
}

static varied conditional(struct stet_python_slice *s, stet_python_ref n,
                          enum stet_python_asked asked)
{
    const struct stet_python_ast *a = &s->x->frame->module->ast;
    stet_python_ref yes = stet_python_child(a, n), test = yes ? stet_python_next(a, yes) : 0;
    stet_python_ref no = test ? stet_python_next(a, test) : 0;
    varied decides = stet_python_varying(s, test, PY_ASK_VALUE), v;

    if (decides.how >= PY_COUNTS)
        return stet_python_varied_at(s, n, PY_VARIES);
    v = stet_python_varied_join(s, n, stet_python_varying(s, yes, asked),
                                stet_python_varying(s, no, asked));
    return v.how == PY_STAYS && decides.how ? stet_python_varied_at(s, n, PY_MAY_VARY) : v;
}

static varied subscript(struct stet_python_slice *s, stet_python_ref n,
                        enum stet_python_asked asked)
{
    const struct stet_python_ast *a = &s->x->frame->module->ast;
    stet_python_ref value = stet_python_field(a, n, PY_FIELD_VALUE);
    stet_python_ref first = stet_python_next(a, value);
    varied index = children_from(s, n, first, PY_ASK_VALUE), item;

    if (index.how < PY_COUNTS)
        return stet_python_varying(s, value, asked == PY_ASK_ITEM ? PY_ASK_VALUE : asked);
    item = stet_python_varying(s, value, PY_ASK_ITEM);
    if (item.how == PY_VARIES)
        return item;
    /* the number of one item of an array is not its size */
    if (asked == PY_ASK_ARRAY && stet_python_kind(a, first) != PY_SLICE &&
        stet_python_kind(a, first) != PY_TUPLE)
        return stet_python_varied_at(s, n, PY_MAY_VARY);
    return used(s, n, index);
}

/* ---- calls ---- */

varied stet_python_varying_conditions(struct stet_python_slice *s, stet_python_ref statement,
                                      stet_python_ref outer, bool *any)
{
    const struct stet_python_module *m = s->x->frame->module;
    varied v = stays;

    *any = false;
    for (stet_python_ref n = statement; n && n != outer; n = m->parents[n]) {
        stet_python_ref up = m->parents[n], test = stet_python_condition_of(m, up);
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if (up == outer)
            break;
        if (k == PY_ELSE || k == PY_ELIF)
            test = stet_python_condition_of(m, up);
        if (stet_python_kind(&m->ast, up) == PY_FOR &&
            n != stet_python_field(&m->ast, up, PY_FIELD_RIGHT))
            test = stet_python_field(&m->ast, up, PY_FIELD_RIGHT);
        if (!test || n == test)
            continue;
        *any = true;
        v = stet_python_varied_join(s, statement, v, stet_python_varying(s, test, PY_ASK_VALUE));
    }
    return v;
}

varied stet_python_varying_returns(struct stet_python_slice *s,
                                   const struct stet_python_frame *frame,
                                   enum stet_python_asked asked)
{
    const struct stet_python_frame *before = s->x->frame;
    const struct stet_python_module *m = frame->module;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref body = stet_python_field(a, frame->function, PY_FIELD_BODY);
    varied v = stays;
    unsigned depth = 0;

    for (const struct stet_python_frame *f = before; f; f = f->caller) {
        if (f->function == frame->function && f->module == m)
            return stays;
        depth++;
    }
    if (depth > MOST_FRAMES)
        return (varied){.how = PY_MAY_VARY};
    s->x->frame = frame;
    if (stet_python_kind(a, frame->function) == PY_LAMBDA) {
        v = stet_python_varying(s, body, asked);
    } else {
        for (stet_python_ref n = body; n < a->count && a->nodes[n].start < a->nodes[body].end;
             n++) {
            bool any;
            varied decides;

            if (stet_python_kind(a, n) != PY_RETURN || !stet_python_child(a, n) ||
                stet_python_function_around(m, n) != frame->function)
                continue;
            v = stet_python_varied_join(s, n, v,
                                        stet_python_varying(s, stet_python_child(a, n), asked));
            decides = stet_python_varying_conditions(s, n, body, &any);
            if (any && decides.how >= PY_COUNTS)
                v = stet_python_varied_join(s, n, v, stet_python_varied_at(s, n, PY_VARIES));
        }
    }
    s->x->frame = before;
    return v;
}

/* next(stream): what the stream is made by. */
static varied taken(struct stet_python_slice *s, stet_python_ref n)
{
    const struct stet_python_module *m = s->x->frame->module;
    varied here = stet_python_varied_at(s, n, PY_VARIES);
    struct stet_view file;
    struct stet_python_waiting use = {stet_view_str(m->path), here.line};
    uint32_t line = stet_python_loader_line(s->x->sources, use, NULL, &file);
    const struct stet_python_module *from = line ? stet_python_open(s->x->sources, file) : NULL;

    return from ? (varied){PY_VARIES, from, line} : here;
}

/* Do the numbers that a function of a library is given decide size, type or layout? */
static bool gives_form(const struct stet_python_slice *s, stet_python_ref call,
                       const struct stet_python_callee *c)
{
    const struct stet_python_array *array = stet_python_array_call(s->x, call);

    return (array && !(array->role & PY_RAISES)) || c->effect == PY_GIVES_MOVES ||
           (s->gradient && c->meaning == PY_MEANS_ASKS_GRADIENT);
}

/* A function of a library, or one that is not known: what it is given. */
static varied library_call(struct stet_python_slice *s, stet_python_ref n,
                           const struct stet_python_callee *c, enum stet_python_asked asked)
{
    const struct stet_python_ast *a = &s->x->frame->module->ast;
    stet_python_ref arguments = stet_python_field(a, n, PY_FIELD_ARGUMENTS);
    enum stet_python_asked of = asked == PY_ASK_ARRAY && gives_form(s, n, c) ? PY_ASK_VALUE : asked;
    varied v;

    if (c->meaning == PY_MEANS_TAKES_NEXT)
        return taken(s, n);
    v = arguments ? used(s, n, children(s, arguments, of)) : stays;
    if (c->object)
        v = stet_python_varied_join(s, n, v, used(s, n, stet_python_varying(s, c->object, asked)));
    if (v.how != PY_STAYS || asked == PY_ASK_ITEM)
        return v;
    return c->effect == PY_GIVES_NOTHING_KNOWN || c->effect == PY_GIVES_UNKNOWN ||
                   c->effect == PY_GIVES_DRAWS ||
                   (asked == PY_ASK_VALUE && c->effect == PY_GIVES_HOST)
               ? stet_python_varied_at(s, n, PY_MAY_VARY)
               : v;
}

static varied call(struct stet_python_slice *s, stet_python_ref n, enum stet_python_asked asked)
{
    struct stet_python_callee c = stet_python_resolve(s->x, n);
    struct stet_python_frame frame = {.module = c.module,
                                      .function = c.definition,
                                      .call = n,
                                      .caller = s->x->frame,
                                      .bound = c.bound};
    stet_python_ref arguments = stet_python_field(&s->x->frame->module->ast, n, PY_FIELD_ARGUMENTS);
    varied v, given;

    if (!c.definition)
        return library_call(s, n, &c, asked);
    given = arguments ? children(s, arguments, PY_ASK_VALUE) : stays;
    if (stet_python_kind(&c.module->ast, c.definition) == PY_CLASS)
        return used(s, n, given);
    if (asked == PY_ASK_ITEM)
        return stays; /* the loader's question */
    v = stet_python_varying_returns(s, &frame, asked);
    /* a method may keep what it is given */
    if (v.how == PY_STAYS && c.bound && given.how >= PY_COUNTS)
        return stet_python_varied_at(s, n, PY_MAY_VARY);
    return v;
}

static varied of_kind(struct stet_python_slice *s, stet_python_ref n, enum stet_python_asked asked)
{
    const struct stet_python_ast *a = &s->x->frame->module->ast;

    switch (stet_python_kind(a, n)) {
    case PY_IDENTIFIER:
        return stet_python_varying_name(s, n, asked);
    case PY_ATTRIBUTE:
        return stet_python_varying_attribute(s, n, asked);
    case PY_SUBSCRIPT:
        return subscript(s, n, asked);
    case PY_CALL:
        return call(s, n, asked);
    case PY_CONDITIONAL:
        return conditional(s, n, asked);
    case PY_LIST:
    case PY_TUPLE:
    case PY_SET:
    case PY_DICTIONARY:
    case PY_EXPRESSION_LIST:
        return container(s, n, asked);
    case PY_LIST_COMPREHENSION:
    case PY_DICT_COMPREHENSION:
    case PY_SET_COMPREHENSION:
    case PY_GENERATOR:
        return comprehension(s, n, asked);
    case PY_KEYWORD_ARGUMENT:
    case PY_NAMED_EXPRESSION:
    case PY_PAIR:
        return stet_python_varying(s, stet_python_field(a, n, PY_FIELD_VALUE), asked);
    case PY_PARENTHESIZED:
    case PY_LIST_SPLAT:
    case PY_DICT_SPLAT:
    case PY_AWAIT:
        return children(s, n, asked);
    case PY_LAMBDA:
    case PY_STRING:
    case PY_COMMENT:
    case PY_TYPE:
        return stays;
    default:
        return used(s, n, children(s, n, asked == PY_ASK_ITEM ? PY_ASK_VALUE : asked));
    }
}

varied stet_python_varying(struct stet_python_slice *s, stet_python_ref n,
                           enum stet_python_asked asked)
{
    varied v;

    if (!n)
        return stays;
    if (++s->steps > MOST_STEPS || s->depth >= MOST_DEPTH)
        return (varied){.how = PY_MAY_VARY};
    s->depth++;
    v = of_kind(s, n, asked);
    s->depth--;
    return v;
}
