/* Subscripts: items, slices, positions and masks. */
#include "python/trail.h"

typedef struct stet_python_verdict verdict;

static const verdict stays;

/* x[:n], x[i:i + n]: the bounds are numbers. *open: one of them is missing. */
static verdict bounds(struct stet_python_trail *t, stet_python_ref n, stet_python_ref slice,
                      bool *open)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    const char *text = a->text.ptr;
    uint32_t colon = a->nodes[slice].start;
    verdict v = stays;
    unsigned given = 0;

    for (stet_python_ref c = stet_python_child(a, slice); c; c = stet_python_next(a, c)) {
        if (!given && memchr(text + a->nodes[slice].start, ':',
                             (size_t)(a->nodes[c].start - a->nodes[slice].start)))
            colon = 0; /* x[:n] */
        given++;
        v = stet_python_verdict_join(t, n, v, stet_python_trail_ask(t, c, PY_OF_VALUE));
    }
    *open = given < 2 && colon != 0; /* x[n:], x[:] */
    return v;
}

/* What is added to an expression in a sum: `n + 1` of `i + n + 1` and `i`. *found: it is in it. */
static verdict beyond(struct stet_python_trail *t, stet_python_ref sum, struct stet_view without,
                      bool *found)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    stet_python_ref n = stet_python_bare(a, sum);
    verdict left;

    if (stet_view_eq(stet_python_text(a, n), without)) {
        *found = true;
        return stays;
    }
    if (stet_python_kind(a, n) != PY_BINARY || stet_python_at(a, n)->op != '+')
        return stet_python_trail_ask(t, n, PY_OF_VALUE);
    left = beyond(t, stet_python_field(a, n, PY_FIELD_LEFT), without, found);
    return stet_python_verdict_join(
        t, n, left, beyond(t, stet_python_field(a, n, PY_FIELD_RIGHT), without, found));
}

/* x[i:i + n] has n items, wherever it begins. Stays for another slice, or if n is the same. */
static verdict span(struct stet_python_trail *t, stet_python_ref slice)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    stet_python_ref from = stet_python_child(a, slice), to = from ? stet_python_next(a, from) : 0;
    bool found = false;
    verdict v = to ? beyond(t, to, stet_python_text(a, from), &found) : stays;

    return found && v.how >= PY_COUNTS ? v : stays;
}

static verdict sliced(struct stet_python_trail *t, stet_python_ref n, stet_python_ref value,
                      stet_python_ref slice)
{
    bool open;
    verdict v;

    v = t->aspect == PY_OF_SIZE ? span(t, slice) : stays;
    if (v.how)
        return stet_python_verdict_used(t, n, stet_python_way_mark(t, n, v, PY_WAY_SIZES));
    v = bounds(t, n, slice, &open);
    if (t->aspect != PY_OF_SIZE)
        return t->aspect == PY_OF_VALUE && v.how >= PY_COUNTS ? stet_python_verdict_used(t, n, v)
                                                              : stet_python_trail_of(t, value);
    v = stet_python_verdict_used(t, n, stet_python_way_mark(t, n, v, PY_WAY_SIZES));
    if (v.how >= PY_COUNTS && !open)
        return v;
    v = stet_python_verdict_join(t, n, v, stet_python_trail_of(t, value));
    if (v.itself && open && stet_python_child(&t->x->frame->module->ast, slice))
        return stet_python_verdict_at(t, n, PY_VARIES); /* rows = rows[k:]: fewer each time */
    return v;
}

/* x[:, i], x[mask, 0] */
static verdict indexed(struct stet_python_trail *t, stet_python_ref n, stet_python_ref value,
                       stet_python_ref first)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    verdict v = stays;
    bool open;

    for (stet_python_ref c = first; c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_SLICE)
            v = stet_python_verdict_join(
                t, n, v, stet_python_way_mark(t, n, bounds(t, n, c, &open), PY_WAY_SIZES));
        else if (t->aspect == PY_OF_SIZE || t->aspect == PY_OF_RANK)
            v = stet_python_verdict_join(t, n, v, stet_python_trail_ask(t, c, t->aspect));
    }
    v = stet_python_verdict_used(t, n, v);
    return v.how >= PY_COUNTS ? v
                              : stet_python_verdict_join(t, n, v, stet_python_trail_of(t, value));
}

/* table[k]: each time another item of it. */
static verdict looked_up(struct stet_python_trail *t, stet_python_ref n, stet_python_ref value,
                         stet_python_ref index)
{
    struct stet_python_part each = {.how = PY_AT_EACH, .index = -1};
    verdict v = stet_python_trail_ask(t, index, PY_OF_VALUE), item;

    if (v.how < PY_COUNTS)
        return stet_python_trail_into(t, value, (struct stet_python_part){PY_AT_INDEX, -1, {0}});
    item = stet_python_trail_into(t, value, each);
    if (item.how == PY_VARIES)
        return (item.counted && t->aspect == PY_OF_VALUE) ||
                       (item.listed && v.how == PY_VARIES &&
                        t->called) /* what chooses one of them */
                   ? stet_python_verdict_used(t, n, v)
                   : item;
    /* one item of an array is not its size */
    if (t->aspect != PY_OF_VALUE)
        return item.how ? item : stet_python_verdict_at(t, n, PY_MAY_VARY);
    return stet_python_verdict_used(t, n, v);
}

/* Is the index a mask as the source writes it: a comparison, or several of them joined? */
static bool is_mask(const struct stet_python_module *m, stet_python_ref n, unsigned depth)
{
    const struct stet_python_ast *a = &m->ast;
    const struct stet_python_binding *b;
    char room[160], op;
    stet_python_ref of;
    uint32_t name;

    n = stet_python_bare(a, n);
    switch (stet_python_kind(a, n)) {
    case PY_COMPARISON:
        return true;
    case PY_CALL:
        return stet_python_compares(stet_python_library_callee(m, n, room)) ||
               ((of = stet_python_callee_object(m, n)) && is_mask(m, of, depth + 1));
    case PY_IDENTIFIER:
        b = depth < 4 ? stet_python_only_binding(m, n) : NULL;
        return b && b->how == PY_BIND_VALUE && b->position < 0 && is_mask(m, b->value, depth + 1);
    case PY_ATTRIBUTE: /* a field that is given a mask anywhere in the file */
        name = stet_python_name(a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE));
        for (uint32_t i = name && depth < 4 ? m->first_binding[name] : 0; i;
             i = m->bindings.items[i - 1].next)
            if (m->bindings.items[i - 1].attribute && m->bindings.items[i - 1].position < 0 &&
                m->bindings.items[i - 1].how == PY_BIND_VALUE &&
                is_mask(m, m->bindings.items[i - 1].value, depth + 1))
                return true;
        return false;
    case PY_BINARY:
        op = stet_python_at(a, n)->op;
        return (op == '&' || op == '|' || op == '^') &&
               (is_mask(m, stet_python_field(a, n, PY_FIELD_LEFT), depth + 1) ||
                is_mask(m, stet_python_field(a, n, PY_FIELD_RIGHT), depth + 1));
    case PY_UNARY:
        return a->text.ptr[a->nodes[n].start] == '~' &&
               is_mask(m, stet_python_child(a, n), depth + 1);
    default:
        return false;
    }
}

/* for i, row in enumerate(rows): x[i] */
static bool is_item_of_loop(const struct stet_python_module *m, stet_python_ref n)
{
    const struct stet_python_binding *b = stet_python_only_binding(m, n);

    return b && b->how == PY_BIND_ELEMENT;
}

verdict stet_python_trail_subscript(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref value = stet_python_field(a, n, PY_FIELD_VALUE);
    stet_python_ref first = stet_python_next(a, value);
    long index = stet_python_integer(m, first);
    enum stet_python_kind k = stet_python_kind(a, first);
    enum stet_python_seen seen = stet_python_trail_watch(t, n);
    verdict v;

    if (seen == PY_SEEN_SAME)
        return stays;
    if (first && stet_python_next(a, first))
        k = PY_TUPLE; /* x[i, j] */
    if (k == PY_STRING)
        v = stet_python_trail_into(
            t, value, (struct stet_python_part){PY_AT_KEY, -1, stet_python_string(a, first)});
    else if (stet_python_trail_is_key(t, first))
        v = stet_python_trail_into(t, value, (struct stet_python_part){PY_AT_KEY, -1, t->key});
    else if (stet_python_trail_is_there(t) && (k == PY_SLICE || k == PY_TUPLE))
        v = stays; /* a part of an array is there as the array is */
    else if (k == PY_TUPLE)
        v = indexed(t, n, value, stet_python_next(a, first) ? first : stet_python_child(a, first));
    else if (k == PY_SLICE)
        v = sliced(t, n, value, first);
    else if (index >= 0 || k == PY_UNARY)
        v = stet_python_trail_into(
            t, value,
            (struct stet_python_part){PY_AT_INDEX, k == PY_UNARY ? -1 : (int32_t)index, {0}});
    else if (t->aspect == PY_OF_SIZE && is_mask(m, first, 0))
        v = t->once ? stays /* as many as it selects */
                    : stet_python_way_mark(t, n, stet_python_verdict_at(t, n, PY_VARIES),
                                           PY_WAY_SELECTS);
    else if (t->aspect == PY_OF_SIZE || t->aspect == PY_OF_RANK) {
        v = stet_python_trail_ask(t, first, t->aspect); /* positions, or a mask */
        if (!v.how)
            v = looked_up(t, n, value, first);
        if (v.itself && v.how < PY_COUNTS && t->aspect == PY_OF_SIZE && !is_item_of_loop(m, first))
            /* a part of what it was */
            v = stet_python_way_mark(t, n, stet_python_verdict_at(t, n, PY_VARIES), PY_WAY_SELECTS);
    } else
        v = looked_up(t, n, value, first);
    if (v.at && v.module == m && stet_python_kind(a, v.at) == PY_WITH) /* here a file is read */
        v = stet_python_verdict_at(t, n, v.how);
    v.exact |= seen == PY_SEEN_EXACT;
    return v;
}
