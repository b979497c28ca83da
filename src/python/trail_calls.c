/* Calls: what functions of the project and of libraries give, in the aspect that is followed. */
#include "python/trail_calls.h"

typedef struct stet_python_verdict verdict;

static const verdict stays;

/* What a compiled function gives is where its arguments are. A number in a field
 * of an object is what the function gives the object; any other value is the device's, and where it
 * is used decides. */
static verdict compiled_call(struct stet_python_trail *t, stet_python_ref n,
                             const struct stet_python_frame *frame)
{
    verdict v = stays;
    bool field = false;

    if (t->aspect == PY_OF_PLACE)
        return stet_python_trail_arguments(t, n, 0, t->aspect);
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
        v = stet_python_trail_arguments(t, n, 0, PY_OF_VALUE);
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

verdict stet_python_trail_call(struct stet_python_trail *t, stet_python_ref n)
{
    struct stet_python_callee c = stet_python_trail_callee(t, n);
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
    if (c.transform && c.transform->kind == PY_PARTIAL && stet_python_trail_bound_by(t, n, &v))
        return v;
    if (t->parts && stet_python_trail_drawn(t, n, &c, &v))
        return v;
    if (stet_python_trail_handed_on(t, n, &c, &v) || stet_python_trail_part_of_call(t, n, &c, &v))
        return v;
    return stet_python_trail_library(t, n, &c);
}
