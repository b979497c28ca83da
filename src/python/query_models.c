/* Questions about models: fields that hold Python values, which libraries make static for jit. */
#include "python/queries_internal.h"

enum { MOST_CLASSES = 64, PASSES = 3 };

struct models {
    struct model {
        const struct stet_python_module *module;
        stet_python_ref class_node;
        bool is; /* it is a model's class, or a part of one */
    } items[MOST_CLASSES];
    uint32_t count;
};

static struct model *find(struct models *all, const struct stet_python_callee *c)
{
    for (uint32_t i = 0; c->definition && i < all->count; i++)
        if (all->items[i].module == c->module && all->items[i].class_node == c->definition)
            return &all->items[i];
    return NULL;
}

/* Looks at the bases of a class: one that a library calls makes it a model, and so does a model of
 * the project; of a model, all bases are parts. True if something new was found. */
static bool look_at_bases(struct models *all, struct model *m, struct stet_python_flow *x)
{
    const struct stet_python_ast *a = &m->module->ast;
    stet_python_ref bases = stet_python_field(a, m->class_node, PY_FIELD_SUPERCLASSES);
    struct stet_python_frame frame = {.module = m->module};
    bool found = false;
    char room[160];

    x->frame = &frame;
    for (stet_python_ref b = bases ? stet_python_child(a, bases) : 0; b;
         b = stet_python_next(a, b)) {
        struct stet_python_callee c = stet_python_resolve_name(x, b);
        struct model *base = find(all, &c);
        bool is =
            stet_python_library_model(stet_python_imported(m->module, b, room)) == PY_LANE_JAX ||
            (base && base->is);

        found |= is && !m->is;
        m->is |= is;
    }
    for (stet_python_ref b = bases && m->is ? stet_python_child(a, bases) : 0; b;
         b = stet_python_next(a, b)) {
        struct stet_python_callee c = stet_python_resolve_name(x, b);
        struct model *base = find(all, &c);

        found |= base && !base->is;
        if (base)
            base->is = true;
    }
    return found;
}

static void find_models(struct stet_python_sources *s, struct models *all)
{
    struct stet_python_question q;
    bool more = true;

    stet_python_open_imports(s);
    all->count = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        const struct stet_python_module *m = s->modules[k];

        for (size_t i = 0;
             stet_python_is_own(m) && i < m->bindings.count && all->count < MOST_CLASSES; i++)
            if (m->bindings.items[i].how == PY_BIND_CLASS)
                all->items[all->count++] = (struct model){m, m->bindings.items[i].value, false};
    }
    for (unsigned pass = 0; more && pass < PASSES; pass++) {
        more = false;
        for (uint32_t i = 0; i < all->count; i++)
            more |= look_at_bases(all, &all->items[i], stet_python_ask(&q, s, NULL));
    }
}

/* self.seen += 1 */
static bool counts(const struct stet_python_module *m, const struct stet_python_binding *b,
                   stet_python_ref class_node)
{
    return b->attribute && b->how == PY_BIND_AUGMENTED && stet_python_integer(m, b->value) > 0 &&
           stet_python_self_class(m, stet_python_field(&m->ast, b->target, PY_FIELD_OBJECT)) ==
               class_node;
}

struct stet_python_made stet_python_counts_in_model(struct stet_python_sources *s)
{
    struct stet_python_made found = {.line = 0};
    struct models all;

    find_models(s, &all);
    for (uint32_t k = 0; k < all.count; k++) {
        const struct stet_python_module *m = all.items[k].module;

        for (size_t i = 0; all.items[k].is && i < m->bindings.count; i++) {
            const struct stet_python_binding *b = &m->bindings.items[i];

            if (!counts(m, b, all.items[k].class_node))
                continue;
            if (found.line)
                return (struct stet_python_made){.line = 0};
            found = (struct stet_python_made){stet_view_str(m->path),
                                              stet_python_function_name(m, b->target),
                                              stet_python_line(m, b->target), false};
        }
    }
    return found;
}

/* ---- what a line passes ---- */

static bool is_prefix(struct stet_view object, struct stet_view path)
{
    return object.len && path.len > object.len && memcmp(object.ptr, path.ptr, object.len) == 0 &&
           (path.ptr[object.len] == '.' || path.ptr[object.len] == '[');
}

bool stet_python_line_passes(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                             struct stet_view path)
{
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref statement = m ? stet_python_statement_at(m, line) : 0, n = 0;

    while (m && stet_python_own_next(m, statement, &n)) {
        stet_python_ref args = stet_python_kind(&m->ast, n) == PY_CALL
                                   ? stet_python_field(&m->ast, n, PY_FIELD_ARGUMENTS)
                                   : 0;

        for (stet_python_ref c = args ? stet_python_child(&m->ast, args) : 0; c;
             c = stet_python_next(&m->ast, c)) {
            stet_python_ref value = stet_python_argument_value(m, c);

            if (is_prefix(stet_python_text(&m->ast, value), path))
                return true;
        }
    }
    return false;
}
