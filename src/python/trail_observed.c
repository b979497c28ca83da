/* What the frames showed: values at the two compiles, and the classes of objects. */
#include "python/trail.h"

#include "base/buf.h"

uint32_t stet_python_trail_seen(const struct stet_python_trail *t,
                                const struct stet_python_module *m, stet_python_ref function)
{
    const struct stet_python_module *where;

    for (uint32_t i = 1; t->stack && i <= t->stack->count; i++) {
        stet_python_ref statement = stet_python_trail_waits(t, i, &where);

        if (statement && where == m && !t->stack->frames[i - 1].lambda &&
            stet_python_function_around(m, statement) == function)
            return i;
    }
    return 0;
}

/* The path of an expression as the layer writes it: "self.env.size", "batch['x'][0]". False for
 * other expressions. */
static bool write_path(const struct stet_python_module *m, stet_python_ref n, struct stet_buf *out)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref index;

    switch (stet_python_kind(a, n)) {
    case PY_IDENTIFIER:
        stet_buf_view(out, stet_python_text(a, n));
        return true;
    case PY_ATTRIBUTE:
        if (!write_path(m, stet_python_field(a, n, PY_FIELD_OBJECT), out))
            return false;
        stet_buf_str(out, ".");
        stet_buf_view(out, stet_python_text(a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE)));
        return true;
    case PY_SUBSCRIPT:
        index = stet_python_next(a, stet_python_field(a, n, PY_FIELD_VALUE));
        if (!write_path(m, stet_python_field(a, n, PY_FIELD_VALUE), out))
            return false;
        if (stet_python_kind(a, index) == PY_STRING)
            stet_buf_printf(out, "['%.*s']", STET_FMT(stet_python_string(a, index)));
        else if (stet_python_integer(m, index) >= 0)
            stet_buf_printf(out, "[%ld]", stet_python_integer(m, index));
        else
            return false;
        return true;
    default:
        return false;
    }
}

static bool write_parts(const struct stet_python_trail *t, struct stet_buf *out)
{
    for (unsigned i = t->parts; i-- > 0;) {
        const struct stet_python_part *p = &t->path[i];

        if (p->how == PY_AT_EACH || (p->how == PY_AT_INDEX && p->index < 0))
            return false;
        if (p->how == PY_AT_INDEX)
            stet_buf_printf(out, "[%d]", p->index);
        else
            stet_buf_printf(out, p->how == PY_AT_KEY ? "['%.*s']" : ".%.*s", STET_FMT(p->name));
    }
    return true;
}

enum stet_python_seen stet_python_trail_watch(struct stet_python_trail *t, stet_python_ref n)
{
    struct stet_buf path = STET_BUF_INIT;
    enum stet_python_seen seen = PY_UNSEEN;
    uint32_t frame = t->x->frame->seen;

    if (!frame || !t->stack->variable || t->still)
        return seen;
    if (write_path(t->x->frame->module, n, &path) && write_parts(t, &path))
        seen = t->stack->variable(t->stack->context, frame - 1, stet_buf_as_view(&path), t->aspect);
    stet_buf_release(&path);
    return seen == PY_SEEN_SAME && t->decides ? PY_UNSEEN : seen;
}

enum stet_python_seen stet_python_trail_watch_field(struct stet_python_trail *t,
                                                    const struct stet_python_module *m,
                                                    stet_python_ref class_node,
                                                    struct stet_view field)
{
    struct stet_buf path = STET_BUF_INIT;
    struct stet_view name =
        stet_python_text(&m->ast, stet_python_field(&m->ast, class_node, PY_FIELD_NAME));
    enum stet_python_seen seen = PY_UNSEEN;

    if (!t->stack->field || t->still)
        return seen;
    stet_buf_printf(&path, ".%.*s", STET_FMT(field));
    if (write_parts(t, &path))
        seen = t->stack->field(t->stack->context, name, stet_buf_as_view(&path), t->aspect);
    stet_buf_release(&path);
    return seen == PY_SEEN_SAME && t->decides ? PY_UNSEEN : seen;
}

stet_python_ref stet_python_trail_observed_field_class(struct stet_python_trail *t,
                                                       const struct stet_python_module *m,
                                                       stet_python_ref class_node,
                                                       struct stet_view field,
                                                       const struct stet_python_module **out)
{
    struct stet_buf path = STET_BUF_INIT;
    struct stet_view name =
        stet_python_text(&m->ast, stet_python_field(&m->ast, class_node, PY_FIELD_NAME));
    stet_python_ref found = 0;

    if (!t->stack->field_type)
        return 0;
    stet_buf_printf(&path, ".%.*s", STET_FMT(field));
    found = stet_python_trail_class_named(
        t, t->stack->field_type(t->stack->context, name, stet_buf_as_view(&path)), out);
    stet_buf_release(&path);
    return found;
}

stet_python_ref stet_python_trail_observed_class(struct stet_python_trail *t,
                                                 stet_python_ref object,
                                                 const struct stet_python_module **m)
{
    struct stet_buf path = STET_BUF_INIT;
    uint32_t frame = t->x->frame->seen;
    stet_python_ref found = 0;

    if (!frame || !t->stack->type)
        return 0;
    if (write_path(t->x->frame->module, object, &path))
        found = stet_python_trail_class_named(
            t, t->stack->type(t->stack->context, frame - 1, stet_buf_as_view(&path)), m);
    stet_buf_release(&path);
    return found;
}
