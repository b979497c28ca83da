/* Calls of libraries: the value, size, type or place of what a function of one gives. */
#include "python/trail_calls.h"

typedef struct stet_python_verdict verdict;

static const verdict stays;

verdict stet_python_trail_arguments(struct stet_python_trail *t, stet_python_ref call,
                                    uint32_t first, enum stet_python_aspect aspect)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    stet_python_ref list = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    uint32_t position = 0;
    verdict v = stays;

    if (stet_python_kind(a, list) != PY_ARGUMENTS)
        return list ? stet_python_trail_ask(t, list, aspect) : stays;
    for (stet_python_ref c = stet_python_child(a, list); c; c = stet_python_next(a, c)) {
        bool keyword = stet_python_kind(a, c) == PY_KEYWORD_ARGUMENT;

        if (keyword
                ? stet_python_setting(stet_python_text(a, stet_python_field(a, c, PY_FIELD_NAME)))
                : position++ < first)
            continue;
        v = stet_python_verdict_join(t, call, v, stet_python_trail_ask(t, c, aspect));
    }
    return v;
}

/* The value of every argument, and of the object of a method. */
static verdict all_values(struct stet_python_trail *t, stet_python_ref call,
                          const struct stet_python_callee *c)
{
    verdict v = stet_python_trail_arguments(t, call, 0, PY_OF_VALUE);

    return c->object ? stet_python_verdict_join(t, call, v, stet_python_trail_value(t, c->object))
                     : v;
}

/* Of an array: what the object of a method is, otherwise what the arguments are. */
static verdict same_of(struct stet_python_trail *t, stet_python_ref call,
                       const struct stet_python_callee *c)
{
    verdict v = c->object ? stet_python_trail_same(t, c->object) : stays;

    return v.how ? v : stet_python_trail_arguments(t, call, 0, t->aspect);
}

/* The loop's own numbers, and a line of its body that makes an array of that size: that line. */
static bool is_turned_into_array(const struct stet_python_trail *t, stet_python_ref n,
                                 const verdict *v)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref statement = stet_python_statement_of(m, n);

    return v->module == m && v->at && stet_python_kind(&m->ast, v->at) == PY_FOR &&
           statement != v->at && stet_python_is_inside(m, statement, v->at) &&
           stet_python_kind(&m->ast, stet_python_child(&m->ast, statement)) == PY_ASSIGNMENT;
}

/* A number that becomes a size: the line that computed it decides, or this one for a counter. */
static verdict as_size(struct stet_python_trail *t, stet_python_ref n, verdict v)
{
    stet_python_way_mark(t, n, v, PY_WAY_SIZES);
    if (v.how == PY_COUNTS && v.at)
        v.how = PY_VARIES; /* where the counter was passed on */
    else if (v.how == PY_COUNTS)
        v = stet_python_verdict_used(t, n, v);
    if (v.how == PY_VARIES && is_turned_into_array(t, n, &v))
        v = stet_python_verdict_at(t, n, PY_VARIES);
    v.counted = false;
    return v;
}

/* ---- values ---- */

/* What __len__ of a class of the project returns; stays when there is none. */
static verdict own_length(struct stet_python_trail *t, stet_python_ref call, stet_python_ref object)
{
    const struct stet_python_module *m = NULL;
    stet_python_ref class_node = stet_python_trail_class(t, object, &m);
    stet_python_ref method =
        class_node ? stet_python_trail_method(t, &m, class_node, STET_VIEW("__len__")) : 0;
    struct stet_python_frame frame = {
        .module = m, .function = method, .call = call, .caller = t->x->frame, .bound = 1};

    return method ? stet_python_trail_returns(t, &frame) : stays;
}

/* len(x) */
static verdict length(struct stet_python_trail *t, stet_python_ref call)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref of = stet_python_bare(&m->ast, stet_python_argument(m, call, 0));
    verdict v;

    if (t->cancels_in == m && t->cancels && stet_python_name(&m->ast, of) == t->cancels)
        return stays;
    v = own_length(t, call, of);
    if (v.how)
        return v;
    v = stet_python_trail_ask(t, of, PY_OF_SIZE);
    if (v.how == PY_VARIES)
        v.how = PY_COUNTS; /* what is computed from the length decides */
    return v.how ? v : stet_python_verdict_at(t, call, PY_MAY_VARY);
}

/* max(rows), sum(x > 0 for x in rows): one number out of many that are data. */
static verdict reduced(struct stet_python_trail *t, stet_python_ref call,
                       const struct stet_python_callee *c)
{
    verdict v = all_values(t, call, c), here;

    if (!c->object && stet_python_argument_count(t->x->frame->module, call) > 1)
        return stet_python_verdict_used(/* the largest of two numbers */
                                        t, call, stet_python_way_mark(t, call, v, PY_WAY_COMPUTES));
    here = stet_python_verdict_at(t, call, v.how ? PY_VARIES : PY_MAY_VARY);
    return t->once ? stays : stet_python_way_mark(t, call, here, PY_WAY_REDUCES);
}

/* A random number: of a library's function, or of a method of what a library makes from a seed. */
static bool draws(struct stet_python_trail *t, const struct stet_python_callee *c)
{
    return c->meaning == PY_MEANS_DRAWS || c->meaning == PY_MEANS_DRAWS_ARRAY ||
           c->effect == PY_GIVES_DRAWS ||
           (c->object && stet_python_trail_denoted(t, c->object).meaning == PY_MEANS_SEEDS);
}

static verdict library_value(struct stet_python_trail *t, stet_python_ref n,
                             const struct stet_python_callee *c)
{
    verdict v;

    if (stet_python_trail_is_there(t) && c->effect > PY_GIVES_HOST && c->effect != PY_GIVES_KEYED)
        return stays;
    if (draws(t, c))
        return t->once ? stays
                       : stet_python_way_mark(t, n, stet_python_verdict_at(t, n, PY_VARIES),
                                              PY_WAY_DRAWS);
    if (c->meaning == PY_MEANS_LENGTH)
        return length(t, n);
    if (c->effect == PY_GIVES_SIZE && c->object)
        return stet_python_trail_ask(t, c->object, PY_OF_SIZE);
    if (c->effect == PY_GIVES_ITERATES || c->effect == PY_GIVES_REDUCES)
        return reduced(t, n, c);
    v = all_values(t, n, c);
    if (c->meaning != PY_MEANS_CONVERTS)
        stet_python_way_mark(t, n, v, PY_WAY_COMPUTES);
    if (v.how == PY_COUNTS)
        v = stet_python_verdict_used(t, n, v);
    if (v.how != PY_STAYS)
        return v;
    return c->effect == PY_GIVES_NOTHING_KNOWN || c->effect == PY_GIVES_UNKNOWN ||
                   c->effect == PY_GIVES_HOST
               ? stet_python_verdict_at(t, n, PY_MAY_VARY)
               : v;
}

/* ---- sizes ---- */

/* Does one of the arrays that are listed follow from the result alone? */
static bool joins_itself(struct stet_python_trail *t, stet_python_ref items)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    enum stet_python_kind k = stet_python_kind(a, stet_python_bare(a, items));

    if (k != PY_LIST && k != PY_TUPLE)
        return false;
    items = stet_python_bare(a, items);
    for (stet_python_ref c = stet_python_child(a, items); c; c = stet_python_next(a, c)) {
        verdict v = stet_python_trail_same(t, c);

        if (v.itself && v.how < PY_COUNTS && stet_python_next(a, stet_python_child(a, items)))
            return true;
    }
    return false;
}

/* An array of the items of a container: as many as there are, each of its own sizes. */
static verdict stacked(struct stet_python_trail *t, stet_python_ref n, stet_python_ref items)
{
    struct stet_python_part each = {.how = PY_AT_EACH, .index = -1};
    unsigned parts = t->parts;
    bool still = t->still;
    verdict v, item;

    if (joins_itself(t, items)) /* what it was before, and more */
        return stet_python_way_mark(t, n, stet_python_verdict_at(t, n, PY_VARIES), PY_WAY_STACKS);
    t->parts = 0;
    v = as_size(t, n, stet_python_trail_of(t, items));
    t->still = true; /* all items are there */
    item = stet_python_trail_into(t, items, each);
    t->still = still;
    t->parts = parts;
    v = stet_python_way_mark(t, n, stet_python_verdict_join(t, n, v, item), PY_WAY_STACKS);
    if (v.itself && v.how < PY_VARIES) /* what it was before, and more */
        v = stet_python_verdict_at(t, n, PY_VARIES);
    return v;
}

/* The numbers that an array function is given. Those of `pad` are added to the size of its array,
 * which is often taken off first. */
static verdict sized(struct stet_python_trail *t, stet_python_ref n,
                     const struct stet_python_callee *c, const struct stet_python_array *array)
{
    const struct stet_python_module *m = t->x->frame->module, *before = t->cancels_in;
    stet_python_ref of = c->object && array->first ? c->object : stet_python_argument(m, n, 0);
    uint32_t name = t->cancels;
    verdict v;

    t->cancels_in = m;
    t->cancels = array->first ? stet_python_name(&m->ast, stet_python_bare(&m->ast, of)) : 0;
    v = as_size(t, n, stet_python_trail_arguments(t, n, c->object ? 0 : array->first, PY_OF_VALUE));
    t->cancels_in = before;
    t->cancels = name;
    if (v.how >= PY_COUNTS || !array->first)
        return v;
    v = stet_python_verdict_join(t, n, v, stet_python_trail_same(t, of));
    if (v.itself && v.how < PY_VARIES && array->role & PY_ADDS) /* what it was before, and more */
        v = stet_python_way_mark(t, n, stet_python_verdict_at(t, n, PY_VARIES), PY_WAY_SIZES);
    return v;
}

/* (n, 4), x.shape */
static bool is_shape(const struct stet_python_module *m, stet_python_ref n)
{
    const struct stet_python_ast *a = &m->ast;

    n = stet_python_bare(a, n);
    switch (stet_python_kind(a, n)) {
    case PY_TUPLE:
    case PY_LIST:
        return true;
    case PY_ATTRIBUTE:
        return stet_python_library_attribute(stet_python_text(
                   a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE))) == PY_GIVES_SIZE;
    default:
        return false;
    }
}

/* Keywords and tuples that give the sizes of what is drawn: size=(n, 4). */
static verdict drawn_sizes(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref size = stet_python_keyword(m, n, STET_VIEW("size"));
    verdict v = stays;
    unsigned several = 0;
    bool listed = false;

    if (!size)
        size = stet_python_keyword(m, n, STET_VIEW("shape"));
    if (size)
        return as_size(t, n, stet_python_trail_value(t, size));
    for (uint32_t i = 0; i < stet_python_argument_count(m, n); i++)
        listed |= is_shape(m, stet_python_argument(m, n, i));
    for (uint32_t i = 0; i < stet_python_argument_count(m, n); i++) {
        stet_python_ref given = stet_python_argument(m, n, i);
        verdict one;

        if (listed && !is_shape(m, given))
            continue;
        one = as_size(t, n, stet_python_trail_value(t, given));

        several += one.how >= PY_COUNTS;
        v = stet_python_verdict_join(t, n, v, one);
    }
    if (several > 1) { /* of what is drawn, and how many */
        v = stet_python_verdict_at(t, n, PY_VARIES);
        v.open = true;
    }
    return v;
}

static verdict library_size(struct stet_python_trail *t, stet_python_ref n,
                            const struct stet_python_callee *c)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_view name = stet_python_callee(m, n);
    const struct stet_python_array *array = stet_python_array(name);
    stet_python_ref first = stet_python_argument(m, n, 0);
    verdict v;

    if (c->meaning == PY_MEANS_PADS_TO_LONGEST ||
        (array && array->role & (PY_SELECTS | PY_FINDS) && c->effect != PY_GIVES_HOST))
        return t->once ? stays
                       : stet_python_way_mark(t, n, stet_python_verdict_at(t, n, PY_VARIES),
                                              PY_WAY_SELECTS);
    if (c->meaning == PY_MEANS_STACKS || c->meaning == PY_MEANS_JOINS)
        return stacked(t, n, first);
    if (draws(t, c))
        return drawn_sizes(t, n);
    if (array && !(array->role & PY_RAISES))
        return sized(t, n, c, array);
    if (c->meaning == PY_MEANS_ASSEMBLES)
        return stet_python_trail_same(t, stet_python_argument(m, n, 1));
    if (c->meaning == PY_MEANS_CONVERTS && first) {
        v = stet_python_trail_same(t, first);
        v = v.how >= PY_COUNTS ? v : stacked(t, n, first);
        if (v.queued) { /* what comes in a request is as long as it is: here it becomes an array */
            v = stet_python_verdict_at(t, n, PY_VARIES);
            v.open = true;
        }
        return v;
    }
    if (c->meaning == PY_MEANS_COUNTS) /* range(n) */
        return as_size(t, n, stet_python_trail_arguments(t, n, 0, PY_OF_VALUE));
    if (c->meaning == PY_MEANS_ENUMERATES || stet_python_passes_items(c->meaning))
        return first ? stet_python_trail_of(t, first) : stays;
    if (c->meaning == PY_MEANS_MAPS_ITEMS || c->meaning == PY_MEANS_FILTERS_ITEMS)
        return stet_python_trail_same(t, stet_python_argument(m, n, 1));
    v = same_of(t, n, c);
    if (v.how != PY_STAYS)
        return v;
    return c->effect == PY_GIVES_NOTHING_KNOWN || c->effect == PY_GIVES_UNKNOWN
               ? stet_python_verdict_at(t, n, PY_MAY_VARY)
               : v;
}

/* ---- types and places ---- */

/* x.astype(t), np.asarray(x, t), torch.ones(3, dtype=t), jax.device_put(x, place) */
static verdict library_kind(struct stet_python_trail *t, stet_python_ref n,
                            const struct stet_python_callee *c)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref given = 0, of = c->object ? c->object : stet_python_argument(m, n, 0);
    bool moves = c->effect == PY_GIVES_MOVES || c->meaning == PY_MEANS_CONVERTS;
    verdict v = stays;

    if (t->aspect == PY_OF_TYPE)
        given = stet_python_keyword(m, n, STET_VIEW("dtype"));
    else if (t->aspect == PY_OF_GRADIENT)
        given = stet_python_keyword(m, n, STET_VIEW("requires_grad"));
    if (!given && (moves || c->meaning == PY_MEANS_CASTS || c->meaning == PY_MEANS_ASKS_GRADIENT))
        given = stet_python_argument(m, n, c->object ? 0 : 1);
    if (given) {
        v = stet_python_verdict_used(t, n, stet_python_trail_value(t, given));
        if (v.how >= PY_COUNTS || t->aspect == PY_OF_TYPE)
            return v;
        if (t->aspect == PY_OF_PLACE && c->effect == PY_GIVES_MOVES) {
            v = stet_python_verdict_at(t, n, PY_STAYS); /* wherever it was before */
            v.sets = true;
            return v;
        }
    }
    if (c->effect == PY_GIVES_TENSOR && c->meaning == PY_MEANS_NOTHING_KNOWN &&
        t->aspect == PY_OF_PLACE)
        v = stet_python_trail_arguments(t, n, 0, PY_OF_VALUE);
    return stet_python_verdict_join(t, n, v, of ? stet_python_trail_same(t, of) : stays);
}

verdict stet_python_trail_library(struct stet_python_trail *t, stet_python_ref n,
                                  const struct stet_python_callee *c)
{
    verdict v;

    switch (t->aspect) {
    case PY_OF_VALUE:
        return library_value(t, n, c);
    case PY_OF_SIZE:
        return library_size(t, n, c);
    case PY_OF_RANK: {
        const struct stet_python_array *array =
            stet_python_array(stet_python_callee(t->x->frame->module, n));

        if (array && array->role & PY_SIZED)
            return sized(t, n, c, array);
        v = same_of(t, n, c);
        if (v.listed && c->meaning == PY_MEANS_CONVERTS) { /* data: here it becomes an array */
            v = stet_python_verdict_at(t, n, PY_VARIES);
            v.open = true;
        }
        return v;
    }
    case PY_OF_TYPE:
    case PY_OF_PLACE:
    case PY_OF_GRADIENT:
        return library_kind(t, n, c);
    }
    return stays;
}

bool stet_python_trail_drawn(struct stet_python_trail *t, stet_python_ref n,
                             const struct stet_python_callee *c, verdict *v)
{
    if ((t->aspect != PY_OF_SIZE && t->aspect != PY_OF_VALUE) || !draws(t, c))
        return false;
    if (t->aspect == PY_OF_SIZE)
        *v = drawn_sizes(t, n);
    else
        *v = t->still ? stays : library_value(t, n, c);
    return true;
}
