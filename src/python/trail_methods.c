/* Methods of which several versions may run: of an object whose class is not known, or whose class
 * others derive from. */
#include "python/trail.h"

typedef struct stet_python_verdict verdict;

/* Does a class derive from another one? */
static bool derives(struct stet_python_trail *t, const struct stet_python_module *m,
                    stet_python_ref class_node, stet_python_ref base)
{
    const struct stet_python_frame *before = t->x->frame;
    struct stet_python_frame frame = {.module = m};
    stet_python_ref bases = stet_python_field(&m->ast, class_node, PY_FIELD_SUPERCLASSES);
    bool found = false;

    t->x->frame = &frame;
    for (stet_python_ref b = bases ? stet_python_child(&m->ast, bases) : 0; b && !found;
         b = stet_python_next(&m->ast, b)) {
        struct stet_python_callee c = stet_python_resolve_name(t->x, b);

        found = c.definition && (c.definition == base ||
                                 (c.definition != class_node &&
                                  stet_python_kind(&c.module->ast, c.definition) == PY_CLASS &&
                                  derives(t, c.module, c.definition, base)));
    }
    t->x->frame = before;
    return found;
}

/* Two versions of a method: a line of the method comes before what it passes on as it is. */
static verdict better_of(const struct stet_python_trail *t, stet_python_ref n, verdict a, verdict b,
                         stet_python_ref method)
{
    b.guessed = true; /* which of them runs was not seen */
    if (b.how == PY_VARIES && stet_python_function_around(b.module, b.at) == method)
        b.guessed = false;
    return stet_python_verdict_join(t, n, a, b);
}

verdict stet_python_trail_any_method(struct stet_python_trail *t, stet_python_ref n,
                                     const struct stet_python_callee *of)
{
    const struct stet_python_sources *s = t->x->sources;
    struct stet_view name = stet_python_callee(t->x->frame->module, n);
    verdict v = {.how = PY_STAYS};

    for (uint32_t i = 0; i < s->count; i++) {
        const struct stet_python_module *m = s->modules[i];
        uint32_t number =
            stet_python_is_own(m) ? stet_intern_find(&m->ast.names, name) : STET_INTERN_NONE;

        for (uint32_t k = number == STET_INTERN_NONE ? 0 : m->first_binding[number]; k;
             k = m->bindings.items[k - 1].next) {
            const struct stet_python_binding *b = &m->bindings.items[k - 1];
            struct stet_python_frame frame = {
                .module = m, .function = b->value, .call = n, .caller = t->x->frame, .bound = 1};
            stet_python_ref class_node = b->how == PY_BIND_FUNCTION && !b->attribute
                                             ? stet_python_class_around(m, b->value)
                                             : 0;

            if (class_node && stet_python_is_method(m, b->value) &&
                (!of ||
                 derives(t, m, class_node, stet_python_class_around(of->module, of->definition))))
                v = better_of(t, n, v, stet_python_trail_returns(t, &frame), b->value);
        }
    }
    v.guessed = true; /* which of them runs was not seen */
    return v;
}
