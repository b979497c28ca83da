/* Parameters: what a call passes, by the frames that were observed, the call that is being
 * followed, or all calls that are found. */
#include "python/trail.h"

enum {
    MOST_SITES = 8,
    MOST_SEARCHED = 4096, /* calls under other names that are resolved for one question */
};

typedef struct stet_python_verdict verdict;

static const verdict stays;

/* A parameter of the function that a call runs. */
struct wanted {
    const struct stet_python_module *module;
    stet_python_ref function;
    struct stet_view name;
    uint32_t position, bound;
};

static bool is_splat_parameter(const struct stet_python_module *m, stet_python_ref function,
                               uint32_t name, enum stet_python_kind *kind)
{
    stet_python_ref list = stet_python_field(&m->ast, function, PY_FIELD_PARAMETERS);

    for (stet_python_ref c = list ? stet_python_child(&m->ast, list) : 0; c;
         c = stet_python_next(&m->ast, c)) {
        *kind = stet_python_kind(&m->ast, c);
        if ((*kind == PY_LIST_SPLAT_PATTERN || *kind == PY_DICT_SPLAT_PATTERN) &&
            stet_python_name(&m->ast, stet_python_child(&m->ast, c)) == name)
            return true;
    }
    return false;
}

/* The argument of a splat: `*args` of f(a, *args). */
static stet_python_ref splat_of(const struct stet_python_ast *a, stet_python_ref call,
                                enum stet_python_kind kind)
{
    stet_python_ref list = stet_python_field(a, call, PY_FIELD_ARGUMENTS);
    stet_python_ref c = list ? stet_python_child_of(a, list, kind) : 0;

    return c ? stet_python_child(a, c) : 0;
}

/* How many arguments come before the splat. */
static uint32_t before_splat(const struct stet_python_module *m, stet_python_ref call)
{
    uint32_t n = 0;

    while (stet_python_argument(m, call, n))
        n++;
    return n;
}

/* Has a method more arguments than it takes after its object? Then that is one of them: fn(self,
 * x), where a decorator has the method as `fn`. */
static bool passes_object(const struct stet_python_module *m, stet_python_ref call,
                          const struct wanted *w)
{
    const struct stet_python_ast *a = &w->module->ast;
    stet_python_ref list = stet_python_field(a, w->function, PY_FIELD_PARAMETERS);
    uint32_t takes = 0;

    for (stet_python_ref c = list ? stet_python_child(a, list) : 0; c; c = stet_python_next(a, c)) {
        enum stet_python_kind k = stet_python_kind(a, c);

        if (k == PY_LIST_SPLAT_PATTERN)
            return false;
        takes += k != PY_COMMENT && k != PY_DICT_SPLAT_PATTERN;
    }
    return before_splat(m, call) >= takes;
}

/* What the call passes, in the frame that holds the call. */
static verdict given(struct stet_python_trail *t, stet_python_ref call, const struct wanted *w,
                     bool *passed)
{
    const struct stet_python_module *m = t->x->frame->module;
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref argument = stet_python_keyword(m, call, w->name), splat;
    uint32_t at = w->position - w->bound, first;
    verdict v = stays;

    *passed = true;
    if (!argument && w->position >= w->bound)
        argument = stet_python_argument(m, call, at);
    if (argument)
        return stet_python_trail_of(t, stet_python_argument_value(m, argument));
    splat = splat_of(a, call, PY_LIST_SPLAT);
    first = before_splat(m, call);
    *passed = splat || splat_of(a, call, PY_DICT_SPLAT);
    if (splat && w->position >= w->bound && at >= first)
        v = stet_python_trail_into(
            t, splat, (struct stet_python_part){PY_AT_INDEX, (int32_t)(at - first), {0}});
    splat = splat_of(a, call, PY_DICT_SPLAT);
    if (splat && v.how < PY_COUNTS)
        v = stet_python_verdict_join(
            t, call, v,
            stet_python_trail_into(t, splat, (struct stet_python_part){PY_AT_KEY, -1, w->name}));
    return v;
}

/* map(f, items): parameter 0 is each of the items. */
static verdict mapped(struct stet_python_trail *t, stet_python_ref call, uint32_t position,
                      bool tree)
{
    stet_python_ref items = stet_python_argument(t->x->frame->module, call, position + 1);

    if (tree) /* the leaves of a tree have the path of the result */
        return items ? stet_python_trail_of(t, items) : stays;
    return items ? stet_python_trail_into(t, items, (struct stet_python_part){PY_AT_EACH, -1, {0}})
                 : stays;
}

static stet_python_ref default_of(const struct wanted *w)
{
    uint32_t name = stet_intern_find(&w->module->ast.names, w->name), position;
    stet_python_ref p = name == STET_INTERN_NONE
                            ? 0
                            : stet_python_parameter(w->module, w->function, name, &position);

    return p ? stet_python_field(&w->module->ast, p, PY_FIELD_VALUE) : 0;
}

/* Of a call in a frame; the default of the parameter where nothing is passed. */
static verdict from_call(struct stet_python_trail *t, const struct stet_python_frame *caller,
                         stet_python_ref call, const struct wanted *w, bool by_map, bool tree)
{
    const struct stet_python_frame *before = t->x->frame;
    bool passed;
    verdict v;

    t->x->frame = caller;
    v = by_map || tree ? mapped(t, call, w->position - w->bound, tree) : given(t, call, w, &passed);
    if (v.how == PY_COUNTS &&
        !v.at) /* where it is used makes the value, or else where it is passed */
        v = stet_python_verdict_at(t, call, PY_COUNTS);
    t->x->frame = before;
    return v;
}

/* The object of a bound method: `self` is what stands before the dot. */
static verdict object_of(struct stet_python_trail *t, const struct stet_python_frame *caller,
                         stet_python_ref call)
{
    const struct stet_python_frame *before = t->x->frame;
    stet_python_ref object = stet_python_callee_object(caller->module, call);
    verdict v;

    if (!object)
        return stays;
    t->x->frame = caller;
    v = stet_python_trail_of(t, object);
    t->x->frame = before;
    return v;
}

/* The name by which a function is called: its own, or that of the class that it constructs. */
static stet_python_ref called_name(const struct wanted *w)
{
    const struct stet_python_ast *a = &w->module->ast;
    stet_python_ref own = stet_python_field(a, w->function, PY_FIELD_NAME);
    stet_python_ref class_node = stet_python_class_around(w->module, w->function);

    return own && class_node && stet_python_constructs(stet_python_text(a, own))
               ? stet_python_field(a, class_node, PY_FIELD_NAME)
               : own;
}

/* Calls of the function in one file: of its own name, or of any other. */
static verdict from_sites(struct stet_python_trail *t, const struct stet_python_module *where,
                          const struct wanted *w, bool named, uint32_t *sites)
{
    const struct stet_python_frame *before = t->x->frame;
    stet_python_ref own = called_name(w);
    uint32_t name =
        own ? stet_intern_find(&where->ast.names, stet_python_text(&w->module->ast, own))
            : STET_INTERN_NONE;
    verdict v = stays;

    for (size_t i = 0; i < where->calls.count && *sites < MOST_SITES; i++) {
        stet_python_ref call = where->calls.items[i];
        stet_python_ref function = stet_python_function_around(where, call);
        struct stet_python_frame caller = {.module = where,
                                           .function = function,
                                           .seen = stet_python_trail_seen(t, where, function)};
        verdict one;

        if ((where->callees.items[i] == name) != named ||
            (where == w->module && stet_python_is_inside(where, call, w->function)))
            continue;
        if (!named && ++t->searched > MOST_SEARCHED)
            break;
        t->x->frame = &caller;
        if (!stet_python_trail_runs(t, call, w->module, w->function))
            continue;
        ++*sites;
        one = from_call(t, &caller, call, w, false, false);
        if (one.how == PY_VARIES && v.how == PY_VARIES && one.at != v.at)
            one.guessed = true;
        v = one.how >= v.how ? one : v;
    }
    t->x->frame = before;
    return v;
}

/* All calls that are found: of the function's own name first, because others cost more. */
static verdict from_all(struct stet_python_trail *t, const struct wanted *w, uint32_t *sites)
{
    const struct stet_python_sources *s = t->x->sources;
    verdict v = stays;

    for (int named = 1; named >= 0 && !*sites; named--)
        for (uint32_t i = 0; i < s->count; i++)
            if (s->modules[i]->parsed)
                v = stet_python_verdict_join(t, w->function, v,
                                             from_sites(t, s->modules[i], w, named, sites));
    return v;
}

/* Can a call run another function than what it names: one that is not known, or is decorated? */
static bool may_run(const struct stet_python_callee *c)
{
    if (!c->definition)
        return c->effect <= PY_GIVES_UNKNOWN || c->object;
    return stet_python_kind(&c->module->ast, c->module->parents[c->definition]) == PY_DECORATED;
}

/* In the frame that waits for this one: its waiting statement makes the call. */
static verdict from_waiting(struct stet_python_trail *t, uint32_t seen, const struct wanted *w,
                            bool *known)
{
    const struct stet_python_module *m;
    stet_python_ref statement = stet_python_trail_waits(t, seen + 1, &m), n = 0, maybe = 0;
    const struct stet_python_frame *before = t->x->frame;
    struct stet_python_frame caller = {.module = m, .seen = seen + 1};
    struct wanted of = *w;

    *known = false;
    if (!statement || seen >= t->stack->waits)
        return stays;
    caller.function = stet_python_function_around(m, statement);
    t->x->frame = &caller;
    while (!*known && stet_python_own_next(m, statement, &n)) {
        struct stet_python_callee c;

        if (stet_python_kind(&m->ast, n) != PY_CALL)
            continue;
        c = stet_python_trail_callee(t, n);
        *known = c.definition == w->function && c.module == w->module;
        if (*known || (!maybe && may_run(&c))) {
            maybe = n;
            if (!*known && c.definition) /* by the function that its decorator made */
                of.bound = c.bound;
        }
    }
    t->x->frame = before;
    if (!maybe)
        return stays;
    if (!*known && of.bound && w->bound && passes_object(m, maybe, w))
        of.bound = 0;
    *known = true;
    if (!w->position && of.bound)
        return object_of(t, &caller, maybe);
    return from_call(t, &caller, maybe, &of, false, false);
}

/* __getitem__, whose argument is the number of an item where a loop or a loader calls it. */
static bool is_item_method(const struct stet_python_module *m, stet_python_ref function)
{
    stet_python_ref name = stet_python_field(&m->ast, function, PY_FIELD_NAME);

    return name && stet_view_is(stet_python_text(&m->ast, name), "__getitem__");
}

/* Is it a method with @name.setter? What an assignment to the field gives is its argument. */
static bool is_setter(const struct stet_python_module *m, stet_python_ref function)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref decorated = m->parents[function];

    if (stet_python_kind(a, decorated) != PY_DECORATED)
        return false;
    for (stet_python_ref c = stet_python_child(a, decorated); c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_DECORATOR &&
            stet_view_ends(stet_python_text(a, stet_python_child(a, c)), ".setter"))
            return true;
    return false;
}

/* The argument of a setter. A new value that is computed from the old one is followed once. */
static verdict assigned_to(struct stet_python_trail *t, const struct stet_python_module *m,
                           stet_python_ref setter)
{
    stet_python_ref before = t->setter;
    verdict v;

    if (before == setter)
        return (verdict){.how = PY_STAYS, .itself = true};
    t->setter = setter;
    v = stet_python_trail_field(
        t, m, stet_python_class_around(m, setter),
        stet_python_text(&m->ast, stet_python_field(&m->ast, setter, PY_FIELD_NAME)));
    t->setter = before;
    return v;
}

verdict stet_python_trail_parameter(struct stet_python_trail *t, stet_python_ref function,
                                    uint32_t name, uint32_t position)
{
    const struct stet_python_module *m = t->x->frame->module;
    struct wanted w = {m, function, m->ast.names.items[name], position,
                       stet_python_is_method(m, function)};
    uint32_t seen = stet_python_trail_seen(t, m, function), sites = 0;
    enum stet_python_kind splat;
    bool known = false;
    verdict v = stays;

    for (const struct stet_python_frame *f = t->x->frame; f; f = f->caller)
        if (f->call && f->function == function && f->module == m) {
            w.bound = f->bound;
            if (f->bound && !position)
                return object_of(t, f->caller, f->call);
            return from_call(t, f->caller, f->call, &w, f->mapped, f->tree);
        }
    if (position == 1 && w.bound && is_setter(m, function))
        return assigned_to(t, m, function);
    if (position == 1 && w.bound && is_item_method(m, function))
        return (verdict){.how = t->still || t->aspect != PY_OF_VALUE ? PY_STAYS : PY_COUNTS};
    if (is_splat_parameter(m, function, name, &splat)) {
        struct stet_python_part *head = stet_python_trail_head(t), kept;

        if (!head || (head->how != PY_AT_INDEX && head->how != PY_AT_KEY))
            return (verdict){.how = PY_MAY_VARY};
        kept = *head;
        w.position = kept.how == PY_AT_INDEX && kept.index >= 0 ? position + (uint32_t)kept.index
                                                                : UINT32_MAX;
        w.name = kept.how == PY_AT_KEY ? kept.name : STET_VIEW("");
        t->parts--;
        v = seen ? from_waiting(t, seen, &w, &known) : stays;
        t->path[t->parts++] = kept;
        return known ? v : (verdict){.how = PY_MAY_VARY};
    }
    if (seen)
        v = from_waiting(t, seen, &w, &known);
    if (known)
        return v;
    if (t->depth > 40)
        return (verdict){.how = PY_MAY_VARY};
    v = from_all(t, &w, &sites);
    if (!sites && default_of(&w))
        v = stet_python_trail_of(t, default_of(&w));
    return sites ? v : (verdict){.how = PY_MAY_VARY};
}
