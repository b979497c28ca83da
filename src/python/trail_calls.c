/* Calls: what functions of the project and of libraries give, in the aspect that is followed. */
#include "python/trail.h"

typedef struct stet_python_verdict verdict;

static const verdict stays;

/* ---- arguments ---- */

typedef verdict ask_fn(struct stet_python_trail *t, stet_python_ref n);

static verdict ask_value(struct stet_python_trail *t, stet_python_ref n)
{
    return stet_python_trail_ask(t, n, PY_OF_VALUE);
}

static verdict ask_same(struct stet_python_trail *t, stet_python_ref n)
{
    return stet_python_trail_ask(t, n, t->aspect);
}

static verdict arguments_from(struct stet_python_trail *t, stet_python_ref call, uint32_t first,
                              ask_fn *ask)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    stet_python_ref list = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    uint32_t position = 0;
    verdict v = stays;

    if (stet_python_kind(a, list) != PY_ARGUMENTS)
        return list ? ask(t, list) : stays;
    for (stet_python_ref c = stet_python_child(a, list); c; c = stet_python_next(a, c)) {
        bool keyword = stet_python_kind(a, c) == PY_KEYWORD_ARGUMENT;

        if (keyword
                ? stet_python_setting(stet_python_text(a, stet_python_field(a, c, PY_FIELD_NAME)))
                : position++ < first)
            continue;
        v = stet_python_verdict_join(t, call, v, ask(t, c));
    }
    return v;
}

static verdict all_arguments(struct stet_python_trail *t, stet_python_ref call,
                             const struct stet_python_callee *c, ask_fn *ask)
{
    verdict v = arguments_from(t, call, 0, ask);

    return c->object ? stet_python_verdict_join(t, call, v, ask(t, c->object)) : v;
}

/* Of an array: what the object of a method is, otherwise what the arguments are. */
static verdict same_of(struct stet_python_trail *t, stet_python_ref call,
                       const struct stet_python_callee *c)
{
    verdict v = c->object ? ask_same(t, c->object) : stays;

    return v.how ? v : arguments_from(t, call, 0, ask_same);
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
    verdict v = all_arguments(t, call, c, ask_value), here;

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
    v = all_arguments(t, n, c, ask_value);
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
        verdict v = ask_same(t, c);

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
    v = as_size(t, n, arguments_from(t, n, c->object ? 0 : array->first, ask_value));
    t->cancels_in = before;
    t->cancels = name;
    if (v.how >= PY_COUNTS || !array->first)
        return v;
    v = stet_python_verdict_join(t, n, v, ask_same(t, of));
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
        return as_size(t, n, ask_value(t, size));
    for (uint32_t i = 0; i < stet_python_argument_count(m, n); i++)
        listed |= is_shape(m, stet_python_argument(m, n, i));
    for (uint32_t i = 0; i < stet_python_argument_count(m, n); i++) {
        stet_python_ref given = stet_python_argument(m, n, i);
        verdict one;

        if (listed && !is_shape(m, given))
            continue;
        one = as_size(t, n, ask_value(t, given));

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
        return ask_same(t, stet_python_argument(m, n, 1));
    if (c->meaning == PY_MEANS_CONVERTS && first) {
        v = ask_same(t, first);
        v = v.how >= PY_COUNTS ? v : stacked(t, n, first);
        if (v.queued) { /* what comes in a request is as long as it is: here it becomes an array */
            v = stet_python_verdict_at(t, n, PY_VARIES);
            v.open = true;
        }
        return v;
    }
    if (c->meaning == PY_MEANS_COUNTS) /* range(n) */
        return as_size(t, n, arguments_from(t, n, 0, ask_value));
    if (c->meaning == PY_MEANS_ENUMERATES || stet_python_passes_items(c->meaning))
        return first ? stet_python_trail_of(t, first) : stays;
    if (c->meaning == PY_MEANS_MAPS_ITEMS || c->meaning == PY_MEANS_FILTERS_ITEMS)
        return ask_same(t, stet_python_argument(m, n, 1));
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
        v = stet_python_verdict_used(t, n, ask_value(t, given));
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
        v = arguments_from(t, n, 0, ask_value);
    return stet_python_verdict_join(t, n, v, of ? ask_same(t, of) : stays);
}

static verdict library_call(struct stet_python_trail *t, stet_python_ref n,
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

/* ---- copies of objects ---- */

/* eqx.tree_at(lambda m: m.steps, model, value) */
static verdict replaced(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref where = stet_python_argument(m, n, 0), value = stet_python_argument(m, n, 2);
    struct stet_python_part *head = stet_python_trail_head(t), kept;
    bool named = !head;
    verdict v;

    for (stet_python_ref c = where;
         head && where && c < a->count && a->nodes[c].start < a->nodes[where].end; c++)
        named |= stet_python_kind(a, c) == PY_IDENTIFIER && head->how == PY_AT_FIELD &&
                 stet_view_eq(stet_python_text(a, c), head->name);
    if (!named || !value)
        return stet_python_trail_of(t, stet_python_argument(m, n, 1));
    if (!head) {
        v = stet_python_verdict_at(t, n, PY_VARIES);
        v.open = stet_python_kind(a, where) != PY_LAMBDA; /* which part it is was not seen */
        return v;
    }
    kept = t->path[--t->parts];
    v = stet_python_trail_of(t, value);
    t->path[t->parts++] = kept;
    stet_python_way_mark(t, n, v, PY_WAY_COPIES);
    return v.how >= PY_COUNTS && !v.itself ? stet_python_verdict_used(t, n, v)
                                           : stet_python_verdict_at(t, n, PY_VARIES);
}

/* dataclasses.replace(settings, rate=…), row._replace(weight=…), model.clone(drop=…) */
static verdict copied(struct stet_python_trail *t, stet_python_ref n,
                      const struct stet_python_callee *c)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_python_part *head = stet_python_trail_head(t), kept;
    stet_python_ref given = head && head->how != PY_AT_EACH && head->how != PY_AT_INDEX
                                ? stet_python_keyword(m, n, head->name)
                                : 0;
    stet_python_ref of = c->object ? c->object : stet_python_argument(m, n, 0);
    verdict v;

    if (!head)
        return stet_python_verdict_join(
            t, n,
            stet_python_verdict_used(t, n, arguments_from(t, n, c->object ? 0 : 1, ask_value)),
            stet_python_trail_of(t, of));
    if (!given)
        return stet_python_trail_of(t, of);
    kept = t->path[--t->parts];
    v = stet_python_trail_of(t, stet_python_argument_value(m, given));
    t->path[t->parts++] = kept;
    stet_python_way_mark(t, n, v, PY_WAY_COPIES);
    if (v.itself && v.how < PY_VARIES) /* rate=settings.rate * 0.5 */
        v = stet_python_verdict_at(t, n, PY_VARIES);
    return v;
}

/* ---- all ---- */

/* What a compiled function gives is where its arguments are. A number in a field
 * of an object is what the function gives the object; any other value is the device's, and where it
 * is used decides. */
static verdict compiled_call(struct stet_python_trail *t, stet_python_ref n,
                             const struct stet_python_frame *frame)
{
    verdict v = stays;
    bool field = false;

    if (t->aspect == PY_OF_PLACE)
        return arguments_from(t, n, 0, ask_same);
    for (unsigned i = 0; i < t->parts; i++)
        field |= t->path[i].how == PY_AT_FIELD;
    if (field && t->numbers) {
        v = stet_python_trail_returns(t, frame);
        if (v.how >= PY_COUNTS || v.itself)
            return v;
    }
    v = stet_python_verdict_at(t, n, t->presence ? PY_STAYS : PY_COUNTS);
    v.data = true;
    return v;
}

/* Is it a method of an item of a loop: `for hook in hooks: hook.start()`? */
static bool is_item(const struct stet_python_module *m, stet_python_ref call)
{
    stet_python_ref object = stet_python_callee_object(m, call);
    const struct stet_python_binding *b;
    uint32_t name = object ? stet_python_name(&m->ast, object) : 0;

    for (uint32_t i = name ? m->first_binding[name] : 0; i; i = b->next) {
        b = &m->bindings.items[i - 1];
        if (!b->attribute && b->how == PY_BIND_ELEMENT &&
            b->scope == stet_python_function_around(m, call))
            return true;
    }
    return false;
}

static verdict project_call(struct stet_python_trail *t, stet_python_ref n,
                            const struct stet_python_callee *c)
{
    struct stet_python_frame frame = {.module = c->module,
                                      .function = c->definition,
                                      .call = n,
                                      .caller = t->x->frame,
                                      .bound = c->bound + c->given};
    verdict v;

    if (stet_python_kind(&c->module->ast, c->definition) == PY_CLASS) {
        if (stet_python_trail_begins(t, PY_AT_EACH))
            return stet_python_trail_items_of_class(t, c);
        if (stet_python_trail_begins(t, PY_AT_FIELD) || stet_python_trail_begins(t, PY_AT_KEY) ||
            stet_python_trail_begins(t, PY_AT_INDEX))
            return stet_python_trail_made(t, n, c);
        v = arguments_from(t, n, 0, ask_value);
        return v.how == PY_COUNTS ? stet_python_verdict_used(t, n, v) : v;
    }
    if ((t->aspect == PY_OF_VALUE || t->aspect == PY_OF_PLACE) &&
        (c->compiled || stet_python_is_compiled(t->x, c)))
        return t->made ? stays /* it gives what it was given, and makes arrays alone */
                       : compiled_call(t, n, &frame);
    v = stet_python_trail_returns(t, &frame);
    v.guessed |= c->guessed;
    if (!c->bound || !stet_python_class_around(c->module, c->definition))
        return v;
    if (is_item(t->x->frame->module, n)) { /* the class of the last item was seen */
        verdict any = stet_python_trail_any_method(t, n, NULL);

        return any.how < PY_COUNTS ? v : any;
    }
    return v.how < PY_COUNTS
               ? stet_python_verdict_join(t, n, v, stet_python_trail_any_method(t, n, c))
               : v;
}

/* A keyword of a library's object: types.SimpleNamespace(rate=3). */
static stet_python_ref named_field(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_part *head = stet_python_trail_head(t);

    return head && (head->how == PY_AT_FIELD || head->how == PY_AT_KEY)
               ? stet_python_keyword(t->x->frame->module, n, head->name)
               : 0;
}

/* What functools.partial is given: `keywords` and `args` of its object. */
static bool bound_by(struct stet_python_trail *t, stet_python_ref n, verdict *v)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_part *head = stet_python_trail_head(t);
    struct stet_python_part kept[2];
    stet_python_ref given = 0;

    if (t->parts < 2 || head->how != PY_AT_FIELD)
        return false;
    if (head[-1].how == PY_AT_KEY && stet_view_is(head->name, "keywords"))
        given = stet_python_keyword(m, n, head[-1].name);
    else if (head[-1].how == PY_AT_INDEX && head[-1].index >= 0 && stet_view_is(head->name, "args"))
        given = stet_python_argument(m, n, (uint32_t)head[-1].index + 1);
    if (!given)
        return false;
    memcpy(kept, head - 1, sizeof kept);
    t->parts -= 2;
    *v = stet_python_trail_of(t, stet_python_argument_value(m, given));
    memcpy(&t->path[t->parts], kept, sizeof kept);
    t->parts += 2;
    return true;
}

/* Row(*columns): a field is one of the items. */
static verdict spread(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    stet_python_ref list = stet_python_field(a, n, PY_FIELD_ARGUMENTS);
    stet_python_ref splat = list ? stet_python_child_of(a, list, PY_LIST_SPLAT) : 0;
    struct stet_python_part kept;
    verdict v;

    if (!splat)
        return stays;
    kept = t->path[--t->parts];
    v = stet_python_trail_into(t, stet_python_child(a, splat),
                               (struct stet_python_part){PY_AT_INDEX, -1, {0}});
    t->path[t->parts++] = kept;
    return v;
}

/* row.pop("k"), rows.pop() */
static verdict taken(struct stet_python_trail *t, stet_python_ref n, stet_python_ref object)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref key = stet_python_argument(m, n, 0);
    struct stet_view text = key ? stet_python_string(&m->ast, key) : (struct stet_view){0};
    verdict v;

    if (text.len)
        return stet_python_trail_into(t, object, (struct stet_python_part){PY_AT_KEY, -1, text});
    v = stet_python_trail_into(t, object, (struct stet_python_part){PY_AT_EACH, -1, {0}});
    v.queued = true;
    v.open = true; /* which item was taken was not seen */
    return v;
}

/* Does the call make an object: of a class, or in a library that does not give one that it had? */
static bool makes(const struct stet_python_callee *c)
{
    if (c->definition)
        return stet_python_kind(&c->module->ast, c->definition) == PY_CLASS;
    switch (c->meaning) {
    case PY_MEANS_REPLACES:
    case PY_MEANS_REPLACES_FIELDS:
    case PY_MEANS_KEEPS_FORM:
    case PY_MEANS_CONVERTS:
    case PY_MEANS_TAKES_NEXT:
    case PY_MEANS_LOOKS_UP:
    case PY_MEANS_GETS_ATTRIBUTE:
        return false;
    default:
        return !stet_python_takes_item(c->meaning) && !stet_python_changes_items(c->meaning) &&
               !stet_python_passes_items(c->meaning);
    }
}

/* jax.tree.map(f, x): what f makes of the leaves, otherwise what they are. */
static verdict of_leaves(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_python_callee f = stet_python_trail_denoted(t, stet_python_argument(m, n, 0));
    struct stet_python_frame frame = {
        .module = f.module, .function = f.definition, .call = n, .caller = t->x->frame, .tree = 1};
    unsigned parts = t->parts;
    verdict v = stays;

    if (t->aspect != PY_OF_PLACE && f.definition && !f.bound &&
        stet_python_kind(&f.module->ast, f.definition) != PY_CLASS)
        v = stet_python_trail_returns(t, &frame);
    t->parts = parts;
    return v.how || v.itself ? v : stet_python_trail_of(t, stet_python_argument(m, n, 1));
}

/* getattr(x, "rate"), {k: getattr(x, k) for k in names}; any of its fields otherwise. */
static verdict attribute_of(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref of = stet_python_argument(m, n, 0), name = stet_python_argument(m, n, 1);
    struct stet_view text = name ? stet_python_string(&m->ast, name) : (struct stet_view){0};
    verdict v;

    if (stet_python_trail_is_key(t, name))
        text = t->key;
    if (text.len)
        return stet_python_trail_into(t, of, (struct stet_python_part){PY_AT_FIELD, -1, text});
    v = stet_python_trail_of(t, of);
    v.guessed = true;
    return v;
}

verdict stet_python_trail_call(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_python_callee c = stet_python_trail_callee(t, n);
    struct stet_python_part kept;
    stet_python_ref field;
    verdict v;

    if (t->made && makes(&c) && (!t->parts || (c.definition && t->parts == 1))) {
        v = t->parts ? project_call(t, n, &c) : stays; /* Net(rate).apply: a field, or a method */
        return v.how ? v : stet_python_verdict_at(t, n, PY_VARIES);
    }
    if (c.definition)
        return project_call(t, n, &c);
    if (c.object && !c.meaning && !c.transform && c.effect <= PY_GIVES_UNKNOWN) {
        v = stet_python_trail_any_method(t, n, NULL);
        if (v.how >= PY_COUNTS)
            return v;
    }
    if (c.transform && c.transform->kind == PY_PARTIAL && bound_by(t, n, &v))
        return v;
    if (t->parts && t->aspect == PY_OF_SIZE && draws(t, &c)) /* any item of what is drawn */
        return drawn_sizes(t, n);
    if (t->parts && t->aspect == PY_OF_VALUE && draws(t, &c))
        return t->still ? stays : library_value(t, n, &c);
    if (c.meaning == PY_MEANS_GETS_ATTRIBUTE && stet_python_argument(m, n, 0))
        return attribute_of(t, n);
    if (c.meaning == PY_MEANS_TAKES_NEXT)
        return stet_python_trail_into(t, stet_python_argument(m, n, 0),
                                      (struct stet_python_part){PY_AT_EACH, -1, {0}});
    if (stet_python_takes_item(c.meaning) && stet_python_trail_put(t, c.object, &v))
        return v;
    if (stet_python_changes_items(c.meaning) && c.object)
        return taken(t, n, c.object);
    if (c.meaning == PY_MEANS_REPLACES)
        return replaced(t, n);
    if (c.meaning == PY_MEANS_REPLACES_FIELDS ||
        (t->parts && c.meaning == PY_MEANS_KEEPS_FORM)) /* model.clone(rate=r) */
        return copied(t, n, &c);
    if (stet_python_trail_begins(t, PY_AT_EACH))
        return stet_python_trail_items_of_call(t, n, &c);
    field = named_field(t, n);
    if (field) {
        kept = t->path[--t->parts];
        v = stet_python_trail_of(t, stet_python_argument_value(m, field));
        t->path[t->parts++] = kept;
        return v;
    }
    if (c.transform && c.transform->kind == PY_MAPS && stet_python_argument(m, n, 1))
        return of_leaves(t, n);
    if (t->parts && (c.meaning == PY_MEANS_CONVERTS || stet_python_passes_items(c.meaning)))
        return stet_python_trail_of(t, stet_python_argument(m, n, 0));
    if (t->parts && c.meaning == PY_MEANS_ASSEMBLES)
        return stet_python_trail_of(t, stet_python_argument(m, n, 1));
    if (t->parts && c.object && c.effect == PY_GIVES_KEYED) { /* table.get("k") */
        stet_python_ref key = stet_python_argument(m, n, 0);
        struct stet_view text = key ? stet_python_string(&m->ast, key) : (struct stet_view){0};

        return stet_python_trail_into(t, c.object,
                                      text.len ? (struct stet_python_part){PY_AT_KEY, -1, text}
                                               : (struct stet_python_part){PY_AT_INDEX, -1, {0}});
    }
    if (t->parts && c.meaning == PY_MEANS_ZIPS) { /* a, b = zip(*rows) */
        struct stet_python_part each = {.how = PY_AT_EACH, .index = -1};

        stet_python_trail_push(t, each);
        v = stet_python_trail_items_of_call(t, n, &c);
        t->parts--;
        return v;
    }
    if (stet_python_trail_begins(t, PY_AT_FIELD) || stet_python_trail_begins(t, PY_AT_KEY)) {
        if (stet_python_trail_tuple(t, n, &v))
            return v;
        /* a library's copy of an object has the same fields */
        field = c.object ? c.object : stet_python_argument(m, n, 0);
        v = field ? stet_python_trail_of(t, field) : spread(t, n);
        return v.how ? v : stet_python_verdict_at(t, n, PY_MAY_VARY);
    }
    return library_call(t, n, &c);
}
