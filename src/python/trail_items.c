/* Items: what is iterated over, and what functions and generators give. */
#include "python/trail.h"

#include "base/map.h"

enum { MOST_FRAMES = 12 };

typedef struct stet_python_verdict verdict;

static const verdict stays;

static const struct stet_python_part each = {.how = PY_AT_EACH, .index = -1};

/* Takes the first step off the path; put it back with `put`. */
static struct stet_python_part take(struct stet_python_trail *t)
{
    return t->path[--t->parts];
}

static void put(struct stet_python_trail *t, struct stet_python_part part)
{
    t->path[t->parts++] = part;
}

/* ---- functions ---- */

static bool is_generator(const struct stet_python_module *m, stet_python_ref function)
{
    const struct stet_python_ast *a = &m->ast;

    for (stet_python_ref n = function; n < a->count && a->nodes[n].start < a->nodes[function].end;
         n++)
        if (stet_python_kind(a, n) == PY_YIELD && stet_python_function_around(m, n) == function)
            return true;
    return false;
}

static bool is_yield_from(const struct stet_python_ast *a, stet_python_ref n)
{
    stet_python_ref child = stet_python_child(a, n);
    size_t before = child ? a->nodes[child].start - a->nodes[n].start : 0;

    return before > 6 && memmem(a->text.ptr + a->nodes[n].start, before, "from", 4);
}

/* Did the generator wait elsewhere at the compile before, in another `yield`? */
static bool waited_elsewhere(const struct stet_python_trail *t, uint32_t seen,
                             const struct stet_python_module *m, stet_python_ref statement)
{
    uint32_t before = seen ? t->stack->frames[seen - 1].before : 0;
    stet_python_ref then = before ? stet_python_statement_at(m, before) : 0;

    return then && then != statement;
}

static verdict yielded(struct stet_python_trail *t, const struct stet_python_frame *frame)
{
    const struct stet_python_module *m = frame->module, *where;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref waits = stet_python_trail_waits(t, frame->seen, &where);
    struct stet_python_part head = take(t);
    verdict v = stays;

    for (stet_python_ref n = frame->function;
         n < a->count && a->nodes[n].start < a->nodes[frame->function].end; n++) {
        verdict one;

        if (stet_python_kind(a, n) != PY_YIELD || !stet_python_child(a, n) ||
            stet_python_function_around(m, n) != frame->function ||
            (waits && stet_python_statement_of(m, n) != waits))
            continue;
        if (is_yield_from(a, n))
            one = stet_python_trail_into(t, stet_python_child(a, n), each);
        else
            one = stet_python_trail_of(t, stet_python_child(a, n));
        if (one.how < PY_VARIES && waited_elsewhere(t, frame->seen, m, waits))
            one = stet_python_verdict_at(t, n, PY_VARIES);
        else if (one.how == PY_COUNTS && !one.at)
            one = stet_python_verdict_at(t, n, PY_COUNTS);
        if (one.how == PY_STAYS)
            one = stet_python_verdict_at(t, n, PY_MAY_VARY);
        v = stet_python_verdict_join(t, n, v, one);
    }
    put(t, head);
    return v;
}

/* The condition that a `return` is under, as a statement: the `if`, or the `match`. */
static stet_python_ref condition_around(const struct stet_python_module *m, stet_python_ref n,
                                        stet_python_ref body)
{
    for (n = m->parents[n]; n && n != body; n = m->parents[n])
        if (stet_python_condition_of(m, n))
            return n;
    return 0;
}

static verdict returned(struct stet_python_trail *t, const struct stet_python_frame *frame)
{
    const struct stet_python_module *m = frame->module;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref body = stet_python_field(a, frame->function, PY_FIELD_BODY), chosen = 0,
                    other = 0;
    verdict v = stays;
    unsigned several = 0;

    for (stet_python_ref n = body; n < a->count && a->nodes[n].start < a->nodes[body].end; n++) {
        stet_python_ref value;
        verdict one, decides;
        bool any;

        if (stet_python_kind(a, n) != PY_RETURN || !(value = stet_python_child(a, n)) ||
            stet_python_function_around(m, n) != frame->function)
            continue;
        one = stet_python_trail_of(t, value);
        decides = stet_python_trail_conditions(t, n, body, &any);
        if (any && decides.how >= PY_COUNTS && one.how < PY_VARIES) {
            one = stet_python_verdict_at(t, n, PY_VARIES);
            one.exact = stet_python_trail_is_new(t, m, value);
            chosen = chosen ? chosen : n;
            several++;
        } else if (!any && one.how < PY_VARIES) {
            other = n;
        }
        v = stet_python_verdict_join(t, n, v, one);
    }
    if (several > 1 && v.how == PY_VARIES && !v.exact) {
        stet_python_ref test = condition_around(m, chosen, body);

        v = stet_python_verdict_at(t, test ? test : chosen, PY_VARIES);
        v.open = true;
    } else if (several > 1) {
        v.one_of = true; /* the next value comes from another `return` */
    } else if (several == 1 && other && v.how == PY_VARIES && !v.exact && v.at == chosen) {
        /* an early return: what it passes on as it came differs from what the other one makes */
        if (stet_python_kind(a, stet_python_child(a, chosen)) == PY_IDENTIFIER &&
            stet_python_kind(a, stet_python_child(a, other)) != PY_IDENTIFIER)
            v = stet_python_verdict_at(t, other, PY_VARIES);
        v.open = true;
    }
    return v;
}

verdict stet_python_trail_returns(struct stet_python_trail *t,
                                  const struct stet_python_frame *frame)
{
    const struct stet_python_frame *before = t->x->frame;
    struct stet_python_frame mine = *frame;
    bool still = t->still;
    unsigned depth = 0;
    verdict v;

    for (const struct stet_python_frame *f = before; f; f = f->caller) {
        if (f->function == frame->function && f->module == frame->module && f->call == frame->call)
            return (verdict){.how = PY_STAYS, .itself = true};
        depth++;
    }
    if (depth > MOST_FRAMES)
        return (verdict){.how = PY_MAY_VARY};
    t->x->frame = &mine;
    if (stet_python_kind(&mine.module->ast, mine.function) == PY_LAMBDA) {
        v = stet_python_trail_of(
            t, stet_python_field(&mine.module->ast, mine.function, PY_FIELD_BODY));
    } else if (is_generator(mine.module, mine.function)) {
        if (!mine.seen)
            mine.seen = stet_python_trail_seen(t, mine.module, mine.function);
        v = stet_python_trail_begins(t, PY_AT_EACH) ? yielded(t, &mine) : stays;
    } else {
        v = returned(t, &mine);
    }
    t->x->frame = before;
    t->still = still;
    return v;
}

/* ---- objects ---- */

/* The methods through which a loop takes the items of an object. */
static verdict of_class(struct stet_python_trail *t, const struct stet_python_module *m,
                        stet_python_ref class_node)
{
    static const char *const methods[] = {"__next__", "__iter__", "__getitem__"};
    struct stet_python_part head;
    verdict v = stays;

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct stet_python_module *where = m;
        stet_python_ref method =
            stet_python_trail_method(t, &where, class_node, stet_view_str(methods[i]));
        struct stet_python_frame frame = {.module = where, .function = method};

        if (!method)
            continue;
        if (i == 1) { /* it returns an iterator, or is a generator */
            v = stet_python_trail_returns(t, &frame);
        } else {
            head = take(t);
            v = stet_python_trail_returns(t, &frame);
            put(t, head);
        }
        return v;
    }
    return v;
}

static bool ends_in(struct stet_view text, struct stet_view name)
{
    return name.len && text.len >= name.len &&
           !memcmp(text.ptr + text.len - name.len, name.ptr, name.len);
}

/* The only calls that put something into a queue of this name; of any name if none has it. */
bool stet_python_trail_put(struct stet_python_trail *t, stet_python_ref object, verdict *v)
{
    const struct stet_python_frame *before = t->x->frame;
    const struct stet_python_module *m = before->module;
    const struct stet_python_sources *s = t->x->sources;
    stet_python_ref last = stet_python_kind(&m->ast, object) == PY_ATTRIBUTE
                               ? stet_python_field(&m->ast, object, PY_FIELD_ATTRIBUTE)
                               : object;
    struct stet_view name = stet_python_text(&m->ast, last);
    bool found = false;

    *v = stays;
    for (int named = 1; named >= 0 && !found; named--)
        for (uint32_t k = 0; k < s->count; k++) {
            const struct stet_python_module *where = s->modules[k];

            for (size_t i = 0; where->parsed && i < where->calls.count; i++) {
                stet_python_ref call = where->calls.items[i], to, given;
                struct stet_python_frame frame = {.module = where};
                verdict one;

                if (stet_python_library_method_meaning(stet_python_callee(where, call)) !=
                        PY_MEANS_PUTS_ITEM ||
                    !(to = stet_python_callee_object(where, call)) ||
                    !(given = stet_python_argument(where, call, 0)) ||
                    stet_python_kind(&where->ast, given) == PY_NONE_)
                    continue;
                if (named && !ends_in(stet_python_text(&where->ast, to), name))
                    continue;
                frame.function = stet_python_function_around(where, call);
                frame.seen = stet_python_trail_seen(t, where, frame.function);
                t->x->frame = &frame;
                one = stet_python_verdict_used(t, call, stet_python_trail_of(t, given));
                one.open = true; /* which item was taken was not seen */
                if (!one.how && stet_python_kind(&where->ast, given) != PY_IDENTIFIER)
                    one = stet_python_verdict_at(t, call, PY_MAY_VARY);
                *v = stet_python_verdict_join(t, call, *v, one);
                t->x->frame = before;
                found = true;
            }
        }
    return found;
}

/* Is it a container that the source writes out, by itself or by its only name? */
static bool is_written_out(const struct stet_python_module *m, stet_python_ref n)
{
    const struct stet_python_binding *b =
        stet_python_kind(&m->ast, n) == PY_IDENTIFIER ? stet_python_only_binding(m, n) : NULL;

    switch (stet_python_kind(&m->ast, b && b->value ? b->value : n)) {
    case PY_LIST:
    case PY_TUPLE:
    case PY_SET:
    case PY_DICTIONARY:
    case PY_STRING:
        return true;
    default:
        return false;
    }
}

/* The `for` or the call of `next` that takes items of what this is in; 0 for neither. */
static stet_python_ref taker_of(const struct stet_python_module *m, stet_python_ref n)
{
    for (stet_python_ref up = m->parents[n]; up; n = up, up = m->parents[n]) {
        enum stet_python_kind k = stet_python_kind(&m->ast, up);

        if (k == PY_FOR || k == PY_FOR_IN)
            return n == stet_python_field(&m->ast, up, PY_FIELD_RIGHT) ? up : 0;
        if (k == PY_CALL &&
            stet_python_meaning(m, stet_python_field(&m->ast, up, PY_FIELD_FUNCTION)) ==
                PY_MEANS_TAKES_NEXT)
            return up;
        if (k == PY_SUBSCRIPT)
            return 0;
    }
    return 0;
}

/* Does a loop take its items: directly, or one around a `next` that takes from the same name? */
static bool is_of_loop(const struct stet_python_module *m, stet_python_ref n)
{
    stet_python_ref taker = taker_of(m, n);

    if (stet_python_kind(&m->ast, taker) != PY_CALL)
        return true;
    for (stet_python_ref up = m->parents[taker]; up; up = m->parents[up])
        if (stet_python_kind(&m->ast, up) == PY_FOR &&
            stet_view_eq(stet_python_text(&m->ast, stet_python_field(&m->ast, up, PY_FIELD_RIGHT)),
                         stet_python_text(&m->ast, n)))
            return true;
    return false;
}

/* Can the expression be this generator? Not where it calls another generator of the project's. */
static bool may_give(struct stet_python_trail *t, stet_python_ref n,
                     const struct stet_python_frame *generator)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_binding *b =
        stet_python_kind(&m->ast, n) == PY_IDENTIFIER ? stet_python_only_binding(m, n) : NULL;
    stet_python_ref call = b && b->value ? b->value : n;
    struct stet_python_callee c = {0};

    if (stet_python_kind(&m->ast, call) == PY_CALL)
        c = stet_python_trail_callee(t, call);
    return !c.definition || stet_python_kind(&c.module->ast, c.definition) == PY_CLASS ||
           (c.definition == generator->function && c.module == generator->module) ||
           !is_generator(c.module, c.definition);
}

/* The generator that the expression can be, of those that loops and variables of the frame hold:
 * `next(name)` takes from the variable of that name, and a loop from what it holds. False for none
 * or several. */
static bool held(struct stet_python_trail *t, stet_python_ref n, verdict *v)
{
    const struct stet_python_module *here = t->x->frame->module, *m;
    uint32_t holder = t->x->frame->seen, found = 0;
    uint64_t name = stet_map_text(stet_python_text(&here->ast, n));
    bool loop = is_of_loop(here, n);
    struct stet_python_frame frame;
    stet_python_ref statement;

    for (size_t i = t->stack->waits; holder && i < t->stack->count; i++) {
        const struct stet_python_watched *w = &t->stack->frames[i];

        if (w->holder != holder || (w->variable ? w->variable != name : !loop))
            continue;
        if (found)
            return false;
        found = (uint32_t)i + 1;
    }
    statement = stet_python_trail_waits(t, found, &m);
    if (!statement)
        return false;
    frame = (struct stet_python_frame){
        .module = m, .function = stet_python_function_around(m, statement), .seen = found};
    if (!frame.function || !may_give(t, n, &frame))
        return false;
    *v = stet_python_trail_returns(t, &frame);
    return v->how != PY_STAYS;
}

/* Is it what a loop iterates over, and not a library's wrapper around that? */
static bool is_leaf(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_ast *a = &t->x->frame->module->ast;
    enum stet_python_kind k = stet_python_kind(a, n);
    struct stet_python_callee c;

    if (t->still || !t->x->frame->seen || is_written_out(t->x->frame->module, n) ||
        !taker_of(t->x->frame->module, n))
        return false;
    if (k != PY_CALL)
        return k == PY_IDENTIFIER || k == PY_ATTRIBUTE || k == PY_SUBSCRIPT;
    c = stet_python_trail_callee(t, n);
    return c.definition || (!c.meaning && c.effect <= PY_GIVES_UNKNOWN);
}

verdict stet_python_trail_items(struct stet_python_trail *t, stet_python_ref n)
{
    const struct stet_python_module *m = t->x->frame->module, *where;
    stet_python_ref bare = stet_python_bare(&m->ast, n), class_node = 0;
    enum stet_python_kind k = stet_python_kind(&m->ast, bare);
    verdict v = stays;

    if (is_leaf(t, bare) && held(t, bare, &v)) /* what was seen comes first */
        return v;
    if (k == PY_ATTRIBUTE && /* iter(queue.get, None) */
        stet_python_takes_item(stet_python_library_method_meaning(
            stet_python_text(&m->ast, stet_python_field(&m->ast, bare, PY_FIELD_ATTRIBUTE))))) {
        struct stet_python_part head = take(t);
        bool puts = stet_python_trail_put(t, stet_python_field(&m->ast, bare, PY_FIELD_OBJECT), &v);

        put(t, head);
        if (puts)
            return v;
    }
    if (k == PY_IDENTIFIER || k == PY_ATTRIBUTE)
        class_node = stet_python_trail_class(t, bare, &where);
    if (!class_node && t->stack->loop_type && is_leaf(t, bare))
        class_node = stet_python_trail_class_named(
            t, t->stack->loop_type(t->stack->context, t->x->frame->seen - 1), &where);
    if (class_node)
        v = of_class(t, where, class_node);
    if (!v.how)
        v = stet_python_trail_of(t, n);
    return v;
}

/* ---- calls ---- */

/* enumerate(items): the number, or the item. */
static verdict enumerated(struct stet_python_trail *t, stet_python_ref items)
{
    struct stet_python_part head = take(t), second;
    verdict v;

    if (stet_python_trail_begins(t, PY_AT_INDEX)) {
        second = take(t);
        v = second.index == 0
                ? (verdict){.how = t->still || t->aspect != PY_OF_VALUE ? PY_STAYS : PY_COUNTS}
                : stet_python_trail_into(t, items, each);
        put(t, second);
    } else {
        v = stet_python_trail_into(t, items, each);
    }
    put(t, head);
    return v;
}

static verdict zipped(struct stet_python_trail *t, stet_python_ref call)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref arguments = stet_python_field(&m->ast, call, PY_FIELD_ARGUMENTS);
    stet_python_ref splat = arguments ? stet_python_child_of(&m->ast, arguments, PY_LIST_SPLAT) : 0;
    struct stet_python_part head = take(t), second;
    verdict v = stays;

    if (splat) { /* columns of rows: each is as long as there are rows */
        v = stet_python_trail_of(t, stet_python_child(&m->ast, splat));
    } else if (stet_python_trail_begins(t, PY_AT_INDEX)) {
        second = take(t);
        if (second.index >= 0)
            v = stet_python_trail_into(t, stet_python_argument(m, call, (uint32_t)second.index),
                                       each);
        put(t, second);
    } else {
        for (uint32_t i = 0; i < stet_python_argument_count(m, call); i++)
            v = stet_python_verdict_join(
                t, call, v, stet_python_trail_into(t, stet_python_argument(m, call, i), each));
    }
    put(t, head);
    return v;
}

/* map(function, items) */
static verdict mapped(struct stet_python_trail *t, stet_python_ref call)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct stet_python_callee f = stet_python_trail_denoted(t, stet_python_argument(m, call, 0));
    struct stet_python_frame frame = {.module = f.module,
                                      .function = f.definition,
                                      .call = call,
                                      .caller = t->x->frame,
                                      .bound = f.bound,
                                      .mapped = true};
    struct stet_python_part head;
    verdict v;

    if (!f.definition || stet_python_kind(&f.module->ast, f.definition) == PY_CLASS)
        return stet_python_trail_of(t, stet_python_argument(m, call, 1));
    head = take(t);
    v = stet_python_trail_returns(t, &frame);
    put(t, head);
    return v;
}

/* A library's loader: its own function that joins the items of a batch, or the call that cuts the
 * batches. */
static verdict loaded(struct stet_python_trail *t, stet_python_ref call)
{
    const struct stet_python_module *m = t->x->frame->module;
    stet_python_ref collate = stet_python_keyword(m, call, STET_VIEW("collate_fn"));
    struct stet_python_callee f = {0};
    struct stet_python_frame frame;
    verdict v = stays;

    if (collate)
        f = stet_python_trail_denoted(t, collate);
    if (f.definition && stet_python_kind(&f.module->ast, f.definition) == PY_CLASS && f.bound) {
        f.definition = stet_python_trail_method(t, &f.module, f.definition, STET_VIEW("__call__"));
    }
    if (f.definition && stet_python_kind(&f.module->ast, f.definition) != PY_CLASS) {
        struct stet_python_part head = take(t);

        frame = (struct stet_python_frame){
            .module = f.module, .function = f.definition, .bound = f.bound};
        v = stet_python_trail_returns(t, &frame);
        put(t, head);
    }
    if (v.how)
        return v;
    v = stet_python_verdict_at(t, call, PY_VARIES);
    v.guessed = t->aspect != PY_OF_SIZE; /* it cuts batches; what else differs is in the data */
    return v;
}

/* table.items(), table.values(): the items of a container by name. */
static verdict keyed(struct stet_python_trail *t, stet_python_ref object)
{
    struct stet_python_part head = take(t), second = {.how = PY_AT_EACH};
    bool pair = stet_python_trail_begins(t, PY_AT_INDEX);
    verdict v;

    if (pair)
        second = take(t);
    v = stet_python_trail_into(t, object, each);
    if (pair)
        put(t, second);
    put(t, head);
    return v;
}

/* itertools.chain(a, b) */
static verdict chained(struct stet_python_trail *t, stet_python_ref call)
{
    const struct stet_python_module *m = t->x->frame->module;
    verdict v = stays;

    for (uint32_t i = 0; v.how < PY_COUNTS && i < stet_python_argument_count(m, call); i++)
        v = stet_python_verdict_join(t, call, v,
                                     stet_python_trail_items(t, stet_python_argument(m, call, i)));
    return v;
}

verdict stet_python_trail_items_of_call(struct stet_python_trail *t, stet_python_ref call,
                                        const struct stet_python_callee *c)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_array *array = stet_python_array(stet_python_callee(m, call));
    stet_python_ref first = stet_python_argument(m, call, 0);
    verdict v;

    if (array && array->role & PY_SPLITS && t->aspect == PY_OF_SIZE) /* the last part is shorter */
        return t->still || t->once
                   ? stays
                   : stet_python_way_mark(t, call, stet_python_verdict_at(t, call, PY_VARIES),
                                          PY_WAY_SIZES);
    switch (c->meaning) {
    case PY_MEANS_COUNTS:
        return (verdict){.how = t->still || t->aspect != PY_OF_VALUE ? PY_STAYS : PY_COUNTS};
    case PY_MEANS_ENUMERATES:
        return enumerated(t, first);
    case PY_MEANS_ZIPS:
        return zipped(t, call);
    case PY_MEANS_MAPS_ITEMS:
        return mapped(t, call);
    case PY_MEANS_FILTERS_ITEMS:
        return stet_python_trail_items(t, stet_python_argument(m, call, 1));
    case PY_MEANS_CUTS_BATCHES:
        if (t->aspect == PY_OF_SIZE && c->object)
            return stet_python_verdict_at(t, call, PY_VARIES);
        break;
    case PY_MEANS_PASSES_ITEMS:
    case PY_MEANS_SEQUENCE:
        return first ? stet_python_trail_items(t, first) : stays;
    case PY_MEANS_CHAINS_ITEMS:
        return chained(t, call);
    default:
        break;
    }
    switch (c->effect) {
    case PY_GIVES_LOADER:
        return loaded(t, call);
    case PY_GIVES_FEEDS:
    case PY_GIVES_BARS:
    case PY_GIVES_HOLDS:
        return stet_python_trail_items(t, first);
    case PY_GIVES_KEYED:
    case PY_GIVES_KEYS:
        return keyed(t, c->object);
    default:
        break;
    }
    v = c->object ? stet_python_trail_of(t, c->object) : stays;
    for (uint32_t i = 0; v.how < PY_COUNTS && i < stet_python_argument_count(m, call); i++)
        v = stet_python_verdict_join(t, call, v,
                                     stet_python_trail_of(t, stet_python_argument(m, call, i)));
    return v.how ? v : stet_python_verdict_at(t, call, PY_MAY_VARY);
}

verdict stet_python_trail_items_of_class(struct stet_python_trail *t,
                                         const struct stet_python_callee *c)
{
    return of_class(t, c->module, c->definition);
}
