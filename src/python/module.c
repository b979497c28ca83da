/* Reads a file, and answers the questions that need only its tree, not its values. */
#include "python/module.h"

#include "base/path.h"
#include "python/bindings.h"

enum { LARGEST_FILE = 4 << 20 };

static bool is_statement(enum stet_python_kind kind)
{
    switch (kind) {
    case PY_EXPRESSION_STATEMENT:
    case PY_RETURN:
    case PY_RAISE:
    case PY_ASSERT:
    case PY_BREAK:
    case PY_CONTINUE:
    case PY_DELETE:
    case PY_GLOBAL:
    case PY_NONLOCAL:
    case PY_IMPORT:
    case PY_IMPORT_FROM:
    case PY_IF:
    case PY_ELIF:
    case PY_ELSE:
    case PY_FOR:
    case PY_WHILE:
    case PY_TRY:
    case PY_EXCEPT:
    case PY_FINALLY:
    case PY_WITH:
    case PY_MATCH:
    case PY_CASE:
    case PY_FUNCTION:
    case PY_CLASS:
    case PY_DECORATED:
        return true;
    default:
        return false;
    }
}

static bool has_block(enum stet_python_kind kind)
{
    return is_statement(kind) && (kind < PY_EXPRESSION_STATEMENT || kind > PY_NONLOCAL) &&
           kind != PY_IMPORT && kind != PY_IMPORT_FROM;
}

/* Of two simple statements in one row, the first one gets the row; an inner statement gets it
 * before the one around it. */
static void fill_rows(struct stet_python_module *m, stet_python_ref n)
{
    const struct stet_python_ast *a = &m->ast;
    uint32_t last = stet_python_row(a, a->nodes[n].end ? a->nodes[n].end - 1 : 0);

    for (uint32_t row = a->nodes[n].row; row <= last && row < a->line_count; row++) {
        stet_python_ref old = m->statements[row];

        if (!old || has_block((enum stet_python_kind)a->nodes[old].kind))
            m->statements[row] = n;
    }
}

/* The node of the callee's own name: f of f(x) and of a.f(x); 0 if there is none. */
static stet_python_ref callee_name(const struct stet_python_ast *a, stet_python_ref call)
{
    stet_python_ref f = stet_python_bare(a, stet_python_field(a, call, PY_FIELD_FUNCTION));

    if (stet_python_kind(a, f) == PY_ATTRIBUTE)
        f = stet_python_field(a, f, PY_FIELD_ATTRIBUTE);
    return stet_python_kind(a, f) == PY_IDENTIFIER ? f : 0;
}

static void note_call(struct stet_python_module *m, stet_python_ref call)
{
    STET_VEC_PUSH(&m->calls, call);
    STET_VEC_PUSH(&m->callees, stet_python_name(&m->ast, callee_name(&m->ast, call)));
}

static bool index_nodes(struct stet_python_module *m)
{
    const struct stet_python_ast *a = &m->ast;

    m->parents = stet_mem_calloc(a->count, sizeof *m->parents);
    m->statements = stet_mem_calloc(a->line_count, sizeof *m->statements);
    if (!m->parents || !m->statements)
        return false;
    for (stet_python_ref n = 0; n < a->count; n++) {
        for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c))
            m->parents[c] = n;
        if (n && is_statement((enum stet_python_kind)a->nodes[n].kind))
            fill_rows(m, n);
        if (a->nodes[n].kind == PY_CALL)
            note_call(m, n);
    }
    return !m->calls.failed && !m->callees.failed;
}

bool stet_python_module_index(struct stet_python_module *m)
{
    return index_nodes(m) && stet_python_bindings_find(m);
}

bool stet_python_module_parse(struct stet_python_module *m, struct stet_python_parser *p,
                              struct stet_view text)
{
    m->tried = true;
    stet_arena_init(&m->arena, (size_t)16 << 20);
    if (stet_python_ast_parse(&m->ast, p, text, NULL) != STET_OK)
        return true;
    m->parsed = true;
    return stet_python_module_index(m);
}

bool stet_python_is_own(const struct stet_python_module *m)
{
    return m->parsed && !stet_path_is_installed(stet_view_str(m->path));
}

bool stet_python_module_open(struct stet_python_module *m, struct stet_view path)
{
    *m = (struct stet_python_module){.path = stet_mem_alloc(path.len + 1)};
    if (!m->path)
        return false;
    memcpy(m->path, path.ptr, path.len);
    m->path[path.len] = '\0';
    if (stet_file_open_small(&m->file, m->path, LARGEST_FILE, NULL) != STET_OK)
        m->tried = true;
    return true;
}

void stet_python_module_close(struct stet_python_module *m)
{
    stet_mem_free(m->path);
    stet_mem_free(m->parents);
    stet_mem_free(m->statements);
    stet_mem_free(m->imports);
    stet_mem_free(m->first_binding);
    stet_map_release(&m->locals);
    stet_map_release(&m->methods);
    STET_VEC_RELEASE(&m->bindings);
    STET_VEC_RELEASE(&m->stars);
    STET_VEC_RELEASE(&m->calls);
    STET_VEC_RELEASE(&m->callees);
    if (m->parsed)
        stet_python_ast_release(&m->ast);
    stet_arena_release(&m->arena);
    stet_file_close(&m->file);
    *m = (struct stet_python_module){0};
}

/* ---- statements, functions, classes ---- */

stet_python_ref stet_python_statement_at(const struct stet_python_module *m, uint32_t line)
{
    return line && line <= m->ast.line_count ? m->statements[line - 1] : 0;
}

stet_python_ref stet_python_statement_of(const struct stet_python_module *m, stet_python_ref n)
{
    while (n && !is_statement(stet_python_kind(&m->ast, n)))
        n = m->parents[n];
    return n;
}

uint32_t stet_python_own_end(const struct stet_python_module *m, stet_python_ref statement)
{
    const struct stet_python_ast *a = &m->ast;
    enum stet_python_kind kind = stet_python_kind(a, statement);

    if (!has_block(kind))
        return a->nodes[statement].end;
    for (stet_python_ref c = stet_python_child(a, statement); c; c = stet_python_next(a, c)) {
        enum stet_python_kind k = stet_python_kind(a, c);

        if (k == PY_BLOCK || k == PY_FUNCTION || k == PY_CLASS || k == PY_CASE)
            return a->nodes[c].start;
    }
    return a->nodes[statement].end;
}

stet_python_ref stet_python_function_around(const struct stet_python_module *m, stet_python_ref n)
{
    for (n = n ? m->parents[n] : 0; n; n = m->parents[n]) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if (k == PY_FUNCTION || k == PY_LAMBDA)
            return n;
    }
    return 0;
}

stet_python_ref stet_python_class_around(const struct stet_python_module *m, stet_python_ref n)
{
    for (n = n ? m->parents[n] : 0; n; n = m->parents[n]) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if (k == PY_CLASS)
            return n;
        if (k == PY_FUNCTION || k == PY_LAMBDA)
            return 0;
    }
    return 0;
}

stet_python_ref stet_python_loop_around(const struct stet_python_module *m, stet_python_ref n)
{
    for (n = n ? m->parents[n] : 0; n; n = m->parents[n]) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if (k == PY_FOR || k == PY_WHILE)
            return n;
    }
    return 0;
}

bool stet_python_is_inside(const struct stet_python_module *m, stet_python_ref n,
                           stet_python_ref outer)
{
    const struct stet_python_node *in = &m->ast.nodes[n], *out = &m->ast.nodes[outer];

    return n >= outer && in->start >= out->start && in->end <= out->end;
}

uint32_t stet_python_parameter_name(const struct stet_python_module *m, stet_python_ref parameter)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref name = parameter;

    switch (stet_python_kind(a, parameter)) {
    case PY_DEFAULT_PARAMETER:
    case PY_TYPED_DEFAULT_PARAMETER:
        name = stet_python_field(a, parameter, PY_FIELD_NAME);
        break;
    case PY_TYPED_PARAMETER:
    case PY_LIST_SPLAT_PATTERN:
    case PY_DICT_SPLAT_PATTERN:
        name = stet_python_child(a, parameter);
        break;
    default:
        break;
    }
    if (name && stet_python_kind(a, name) != PY_IDENTIFIER)
        name = stet_python_child_of(a, name, PY_IDENTIFIER);
    return stet_python_name(a, name);
}

stet_python_ref stet_python_parameter(const struct stet_python_module *m, stet_python_ref function,
                                      uint32_t name, uint32_t *position)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref list = stet_python_field(a, function, PY_FIELD_PARAMETERS);

    *position = 0;
    for (stet_python_ref c = list ? stet_python_child(a, list) : 0; c; c = stet_python_next(a, c)) {
        uint32_t its = stet_python_parameter_name(m, c);

        if (its && its == name)
            return c;
        *position += its != 0;
    }
    return 0;
}

stet_python_ref stet_python_defined(const struct stet_python_module *m, stet_python_ref scope,
                                    uint32_t name)
{
    for (;; scope = stet_python_function_around(m, scope)) {
        stet_python_ref found = 0;

        for (uint32_t i = name ? m->first_binding[name] : 0; i; i = m->bindings.items[i - 1].next) {
            const struct stet_python_binding *b = &m->bindings.items[i - 1];

            if (b->scope == scope && (b->how == PY_BIND_FUNCTION || b->how == PY_BIND_CLASS) &&
                !stet_python_class_around(m, b->value))
                found = b->value;
        }
        if (found || !scope)
            return found;
    }
}

stet_python_ref stet_python_function_named(const struct stet_python_module *m,
                                           struct stet_view name)
{
    uint32_t number = stet_intern_find(&m->ast.names, name);

    if (number == STET_INTERN_NONE || !number)
        return 0;
    for (uint32_t i = m->first_binding[number]; i; i = m->bindings.items[i - 1].next)
        if (m->bindings.items[i - 1].how == PY_BIND_FUNCTION)
            return m->bindings.items[i - 1].value;
    return 0;
}

/* ---- calls ---- */

stet_python_ref stet_python_argument(const struct stet_python_module *m, stet_python_ref call,
                                     uint32_t position)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);

    if (stet_python_kind(a, args) != PY_ARGUMENTS) /* f(x for x in y) */
        return position == 0 ? args : 0;
    for (stet_python_ref c = stet_python_child(a, args); c; c = stet_python_next(a, c)) {
        enum stet_python_kind k = stet_python_kind(a, c);

        if (k == PY_LIST_SPLAT)
            return 0;
        if (k == PY_KEYWORD_ARGUMENT || k == PY_DICT_SPLAT || k == PY_COMMENT)
            continue;
        if (position-- == 0)
            return c;
    }
    return 0;
}

stet_python_ref stet_python_keyword(const struct stet_python_module *m, stet_python_ref call,
                                    struct stet_view name)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref args = stet_python_field(a, call, PY_FIELD_ARGUMENTS);

    for (stet_python_ref c = args ? stet_python_child(a, args) : 0; c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_KEYWORD_ARGUMENT &&
            stet_view_eq(stet_python_text(a, stet_python_field(a, c, PY_FIELD_NAME)), name))
            return stet_python_field(a, c, PY_FIELD_VALUE);
    return 0;
}

struct stet_view stet_python_callee(const struct stet_python_module *m, stet_python_ref call)
{
    stet_python_ref name = callee_name(&m->ast, call);

    return name ? stet_python_text(&m->ast, name) : STET_VIEW("");
}

stet_python_ref stet_python_callee_object(const struct stet_python_module *m, stet_python_ref call)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref f = stet_python_bare(a, stet_python_field(a, call, PY_FIELD_FUNCTION));

    return stet_python_kind(a, f) == PY_ATTRIBUTE ? stet_python_field(a, f, PY_FIELD_OBJECT) : 0;
}

uint32_t stet_python_argument_count(const struct stet_python_module *m, stet_python_ref call)
{
    uint32_t count = 0;

    while (stet_python_argument(m, call, count))
        count++;
    return count;
}

stet_python_ref stet_python_argument_value(const struct stet_python_module *m, stet_python_ref arg)
{
    return stet_python_kind(&m->ast, arg) == PY_KEYWORD_ARGUMENT
               ? stet_python_field(&m->ast, arg, PY_FIELD_VALUE)
               : arg;
}

long stet_python_integer(const struct stet_python_module *m, stet_python_ref n)
{
    struct stet_view v;
    long value = 0;

    if (stet_python_kind(&m->ast, n) != PY_INTEGER)
        return -1;
    v = stet_python_text(&m->ast, n);
    for (size_t i = 0; i < v.len && value < 1000000000; i++) {
        if (v.ptr[i] < '0' || v.ptr[i] > '9')
            return -1;
        value = value * 10 + (v.ptr[i] - '0');
    }
    return value;
}
