/* Questions about optimizers: which lines are part of one, and which make one. */
#include "base/path.h"
#include "python/queries_internal.h"

/* ---- lines of an optimizer ---- */

/* ".../site-packages/torch/optim/adam.py" is torch.optim.adam. */
static bool is_of_library(struct stet_view path)
{
    char dotted[512];
    size_t n = path.len < sizeof dotted ? path.len : 0;

    for (size_t i = 0; i < n; i++)
        dotted[i] = path.ptr[i] == '/' ? '.' : path.ptr[i];
    for (size_t i = 0; i + 1 < n; i++)
        if (dotted[i] == '.' && path.ptr[i] == '/' &&
            stet_python_library(stet_view_of(dotted + i + 1, n - i - 1)) == PY_GIVES_OPTIMIZER)
            return true;
    return false;
}

static bool derives_from_optimizer(const struct stet_python_module *m, stet_python_ref class_node)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref bases =
        class_node ? stet_python_field(a, class_node, PY_FIELD_SUPERCLASSES) : 0;
    char room[160];
    bool imported;

    for (stet_python_ref b = bases ? stet_python_child(a, bases) : 0; b;
         b = stet_python_next(a, b)) {
        struct stet_view dotted = stet_python_dotted(m, b, room, &imported);

        if (imported && stet_python_library(dotted) == PY_GIVES_OPTIMIZER)
            return true;
    }
    return false;
}

bool stet_python_is_optimizer(struct stet_python_sources *s, struct stet_view file, uint32_t line)
{
    struct stet_python_question q;
    const struct stet_python_module *m;
    stet_python_ref n, list;
    uint32_t position = 0;

    if (is_of_library(file))
        return true;
    m = stet_python_open(s, file);
    n = m ? stet_python_statement_at(m, line) : 0;
    n = n ? stet_python_function_around(m, n) : 0;
    if (!n)
        return false;
    if (derives_from_optimizer(m, stet_python_class_around(m, n)))
        return true;
    list = stet_python_field(&m->ast, n, PY_FIELD_PARAMETERS);
    for (stet_python_ref c = list ? stet_python_child(&m->ast, list) : 0; c;
         c = stet_python_next(&m->ast, c), position++)
        if (stet_python_flow_of_parameter(stet_python_ask(&q, s, m), n, c, position).from &
            PY_FROM_GRADIENT)
            return true;
    return false;
}

/* ---- lines that make an optimizer ---- */

static bool makes_optimizer(struct stet_python_flow *x, stet_python_ref call)
{
    struct stet_python_callee c = stet_python_resolve(x, call);

    return !c.definition && !c.object && c.effect == PY_GIVES_OPTIMIZER;
}

/* Can the number be another one when the line runs again? What is written out, an optimizer inside
 * another one and a schedule, which counts on the device, are the same each time. */
static bool may_differ(struct stet_python_flow *x, stet_python_ref n)
{
    const struct stet_python_module *m = x->frame->module;
    const struct stet_python_binding *b;

    n = stet_python_bare(&m->ast, n);
    switch (stet_python_kind(&m->ast, n)) {
    case PY_IDENTIFIER:
        b = stet_python_only_binding(m, n);
        return !b || (b->how == PY_BIND_VALUE && may_differ(x, b->value));
    case PY_CALL:
        return !makes_optimizer(x, n);
    case PY_BINARY:
    case PY_UNARY:
        for (stet_python_ref c = stet_python_child(&m->ast, n); c; c = stet_python_next(&m->ast, c))
            if (may_differ(x, c))
                return true;
        return false;
    case PY_ATTRIBUTE:
    case PY_SUBSCRIPT:
    case PY_CONDITIONAL:
        return true;
    default:
        return false;
    }
}

static bool takes_number(struct stet_python_flow *x, stet_python_ref call)
{
    const struct stet_python_module *m = x->frame->module;
    stet_python_ref args = stet_python_field(&m->ast, call, PY_FIELD_ARGUMENTS);

    for (stet_python_ref c = args ? stet_python_child(&m->ast, args) : 0; c;
         c = stet_python_next(&m->ast, c))
        if (may_differ(x, stet_python_argument_value(m, c)))
            return true;
    return false;
}

/* Does it run while an object is made, or when the file is read? Another line then makes the
 * optimizer anew. */
static bool is_first(const struct stet_python_module *m, stet_python_ref call)
{
    stet_python_ref f = stet_python_function_around(m, call);
    stet_python_ref name = f ? stet_python_field(&m->ast, f, PY_FIELD_NAME) : 0;

    return !f || (name && stet_python_constructs(stet_python_text(&m->ast, name)));
}

struct stet_python_made stet_python_makes_optimizer(struct stet_python_sources *s)
{
    struct stet_python_made found = {.line = 0};
    bool first = true;

    stet_python_open_imports(s);
    for (uint32_t k = 0; k < s->count; k++) {
        const struct stet_python_module *m = s->modules[k];
        struct stet_python_question q;
        struct stet_python_flow *x = stet_python_ask(&q, s, m);

        for (size_t i = 0;
             m->parsed && !stet_path_is_installed(stet_view_str(m->path)) && i < m->calls.count;
             i++) {
            stet_python_ref call = m->calls.items[i];
            uint32_t line = stet_python_line(m, call);

            x->steps = 0;
            if (!makes_optimizer(x, call) || !takes_number(x, call))
                continue;
            if (found.line == line && stet_view_eq(found.file, stet_view_str(m->path)))
                continue;
            found.sure = !found.line || (first && !is_first(m, call));
            if (found.line && !(first && !is_first(m, call)))
                continue;
            first = is_first(m, call);
            found.file = stet_view_str(m->path);
            found.function = stet_python_function_name(m, call);
            found.line = line;
        }
    }
    return found;
}
