/* Finds where names get their values: assignments, loops, definitions, imports. */
#include "python/bindings.h"

enum { MOST_RENAMED = 4 /* names that are given to each other */ };

static void bind(struct stet_python_module *m, uint32_t name, struct stet_python_binding b)
{
    b.name = name;
    b.scope = stet_python_function_around(m, b.target);
    if (b.how == PY_BIND_FUNCTION || b.how == PY_BIND_CLASS)
        b.scope = stet_python_function_around(m, b.value);
    if (name)
        STET_VEC_PUSH(&m->bindings, b);
}

/* Notes that a scope binds a name, and the first method of each name. What a class binds is an
 * attribute of it, which no function sees as a name. */
static bool note_local(struct stet_python_module *m, const struct stet_python_binding *b)
{
    bool definition = b->how == PY_BIND_FUNCTION || b->how == PY_BIND_CLASS;
    stet_python_ref class_node;

    if (b->attribute || b->how == PY_BIND_AUGMENTED)
        return true;
    class_node = stet_python_class_around(m, definition ? b->value : b->target);
    if (!class_node)
        return stet_map_put(&m->locals, stet_map_pair(b->scope, b->name), 1);
    return b->how != PY_BIND_FUNCTION || stet_python_method_of(m, class_node, b->name) ||
           stet_map_put(&m->methods, stet_map_pair(class_node, b->name), b->value);
}

static bool note_parameters(struct stet_python_module *m, stet_python_ref function)
{
    stet_python_ref list = stet_python_field(&m->ast, function, PY_FIELD_PARAMETERS);

    for (stet_python_ref c = list ? stet_python_child(&m->ast, list) : 0; c;
         c = stet_python_next(&m->ast, c)) {
        uint32_t name = stet_python_parameter_name(m, c);

        if (name && !stet_map_put(&m->locals, stet_map_pair(function, name), 1))
            return false;
    }
    return true;
}

/* `a, (b, c) = value`, `self.x = value`, `x[i] = value`: b is all but the target. */
static void bind_target(struct stet_python_module *m, stet_python_ref target,
                        struct stet_python_binding b)
{
    const struct stet_python_ast *a = &m->ast;
    int16_t position = 0;

    b.target = target;
    switch (stet_python_kind(a, target)) {
    case PY_IDENTIFIER:
        bind(m, stet_python_name(a, target), b);
        break;
    case PY_ATTRIBUTE:
        b.attribute = true;
        bind(m, stet_python_name(a, stet_python_field(a, target, PY_FIELD_ATTRIBUTE)), b);
        break;
    case PY_SUBSCRIPT: /* what is put into a container counts among its values */
        b.how = PY_BIND_AUGMENTED;
        bind_target(m, stet_python_field(a, target, PY_FIELD_VALUE), b);
        break;
    case PY_PATTERN_LIST:
    case PY_TUPLE_PATTERN:
    case PY_LIST_PATTERN:
        for (stet_python_ref c = stet_python_child(a, target); c; c = stet_python_next(a, c)) {
            struct stet_python_binding part = b;

            part.position = b.position < 0 ? position++ : b.position;
            bind_target(m, c, part);
        }
        break;
    case PY_AS_TARGET:
    case PY_LIST_SPLAT_PATTERN:
    case PY_PARENTHESIZED:
        if (stet_python_child(a, target))
            bind_target(m, stet_python_child(a, target), b);
        break;
    default:
        break;
    }
}

static void bind_field(struct stet_python_module *m, stet_python_ref n, enum stet_python_field left,
                       enum stet_python_field right, enum stet_python_bind how)
{
    stet_python_ref target = stet_python_field(&m->ast, n, left);
    stet_python_ref value = stet_python_field(&m->ast, n, right);

    if (target && value)
        bind_target(
            m, target,
            (struct stet_python_binding){.value = value, .position = -1, .how = (uint8_t)how});
}

static void bind_context(struct stet_python_module *m, stet_python_ref n)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref value = stet_python_child(a, n);
    stet_python_ref target = value ? stet_python_next(a, value) : 0;

    if (target)
        bind_target(
            m, target,
            (struct stet_python_binding){.value = value, .position = -1, .how = PY_BIND_CONTEXT});
}

static void bind_definition(struct stet_python_module *m, stet_python_ref n,
                            enum stet_python_bind how)
{
    stet_python_ref name = stet_python_field(&m->ast, n, PY_FIELD_NAME);

    if (name)
        bind(m, stet_python_name(&m->ast, name),
             (struct stet_python_binding){
                 .target = name, .value = n, .position = -1, .how = (uint8_t)how});
}

/* ---- imports ---- */

static void import_as(struct stet_python_module *m, uint32_t local, struct stet_view target)
{
    if (local && target.ptr && !m->imports[local].len)
        m->imports[local] = target;
}

static uint32_t head_of(const struct stet_python_ast *a, stet_python_ref dotted)
{
    return stet_python_name(a, stet_python_child(a, dotted));
}

static void import_statement(struct stet_python_module *m, stet_python_ref n)
{
    const struct stet_python_ast *a = &m->ast;

    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (stet_python_kind(a, c) == PY_DOTTED_NAME)
            import_as(m, head_of(a, c), a->names.items[head_of(a, c)]);
        else if (stet_python_kind(a, c) == PY_ALIASED_IMPORT)
            import_as(m, stet_python_name(a, stet_python_field(a, c, PY_FIELD_ALIAS)),
                      stet_python_text(a, stet_python_field(a, c, PY_FIELD_NAME)));
    }
}

/* "..layers" in module a.b.c is a.layers; it keeps its dots in a module without a name. */
static struct stet_view absolute(struct stet_python_module *m, struct stet_view from)
{
    struct stet_view base = m->name, rest = from;
    size_t up = 0;

    while (rest.len && (rest.ptr[0] == '.' || rest.ptr[0] == ' ')) {
        up += rest.ptr[0] == '.';
        rest = stet_view_of(rest.ptr + 1, rest.len - 1);
    }
    if (!up || !m->name.len)
        return from;
    for (up -= m->package; up && base.len; up--) {
        const char *dot = memrchr(base.ptr, '.', base.len);

        base.len = dot ? (size_t)(dot - base.ptr) : 0;
    }
    return !base.len  ? rest
           : rest.len ? stet_arena_printf(&m->arena, "%.*s.%.*s", STET_FMT(base), STET_FMT(rest))
                      : base;
}

static void import_from(struct stet_python_module *m, stet_python_ref n)
{
    const struct stet_python_ast *a = &m->ast;
    stet_python_ref module = stet_python_field(a, n, PY_FIELD_MODULE_NAME);
    struct stet_view from =
        module ? absolute(m, stet_python_text(a, module)) : (struct stet_view){0};

    if (from.len && stet_python_child_of(a, n, PY_WILDCARD))
        STET_VEC_PUSH(&m->stars, from);
    for (stet_python_ref c = module ? stet_python_next(a, module) : 0; c;
         c = stet_python_next(a, c)) {
        bool renamed = stet_python_kind(a, c) == PY_ALIASED_IMPORT;
        stet_python_ref name = renamed ? stet_python_field(a, c, PY_FIELD_NAME) : c;
        uint32_t local = renamed ? stet_python_name(a, stet_python_field(a, c, PY_FIELD_ALIAS))
                                 : (stet_python_kind(a, c) == PY_DOTTED_NAME ? head_of(a, c) : 0);

        if (!name || !local)
            continue;
        import_as(m, local,
                  stet_arena_printf(&m->arena, "%.*s%s%.*s", STET_FMT(from),
                                    !from.len || from.ptr[from.len - 1] == '.' ? "" : ".",
                                    STET_FMT(stet_python_text(a, name))));
    }
}

static void find_one(struct stet_python_module *m, stet_python_ref n)
{
    switch (stet_python_kind(&m->ast, n)) {
    case PY_ASSIGNMENT:
        bind_field(m, n, PY_FIELD_LEFT, PY_FIELD_RIGHT, PY_BIND_VALUE);
        break;
    case PY_AUGMENTED:
        bind_field(m, n, PY_FIELD_LEFT, PY_FIELD_RIGHT, PY_BIND_AUGMENTED);
        break;
    case PY_NAMED_EXPRESSION:
        bind_field(m, n, PY_FIELD_NAME, PY_FIELD_VALUE, PY_BIND_VALUE);
        break;
    case PY_FOR:
    case PY_FOR_IN:
        bind_field(m, n, PY_FIELD_LEFT, PY_FIELD_RIGHT, PY_BIND_ELEMENT);
        break;
    case PY_AS_PATTERN:
        bind_context(m, n);
        break;
    case PY_FUNCTION:
        bind_definition(m, n, PY_BIND_FUNCTION);
        break;
    case PY_CLASS:
        bind_definition(m, n, PY_BIND_CLASS);
        break;
    case PY_IMPORT:
        import_statement(m, n);
        break;
    case PY_IMPORT_FROM:
        import_from(m, n);
        break;
    default:
        break;
    }
}

static bool index_scopes(struct stet_python_module *m)
{
    for (stet_python_ref n = 1; n < m->ast.count; n++) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        if ((k == PY_FUNCTION || k == PY_LAMBDA) && !note_parameters(m, n))
            return false;
    }
    for (uint32_t i = 0; i < m->bindings.count; i++)
        if (!note_local(m, &m->bindings.items[i]))
            return false;
    return true;
}

bool stet_python_bindings_find(struct stet_python_module *m)
{
    uint32_t *last = stet_mem_calloc(m->ast.names.count, sizeof *last);

    m->imports = stet_mem_calloc(m->ast.names.count, sizeof *m->imports);
    m->first_binding = stet_mem_calloc(m->ast.names.count, sizeof *m->first_binding);
    if (last && m->imports && m->first_binding)
        for (stet_python_ref n = 1; n < m->ast.count; n++)
            find_one(m, n);
    for (uint32_t i = 0; last && m->first_binding && i < m->bindings.count; i++) {
        uint32_t name = m->bindings.items[i].name;

        if (last[name])
            m->bindings.items[last[name] - 1].next = i + 1;
        else
            m->first_binding[name] = i + 1;
        last[name] = i + 1;
    }
    stet_mem_free(last);
    return last && m->imports && m->first_binding && !m->bindings.failed && !m->stars.failed &&
           !m->arena.failed && index_scopes(m);
}

/* ---- dotted names ---- */

/* Does a function around the place, or a statement of the module, give the name another value than
 * its import? */
static bool is_hidden(const struct stet_python_module *m, stet_python_ref n, uint32_t name)
{
    do {
        n = stet_python_function_around(m, n);
        if (stet_python_binds(m, n, name))
            return true;
    } while (n);
    return false;
}

struct stet_view stet_python_dotted(const struct stet_python_module *m, stet_python_ref n,
                                    char room[160], bool *imported)
{
    const struct stet_python_ast *a = &m->ast;
    struct stet_view parts[12];
    size_t count = 0, at = 0;
    uint32_t name;

    *imported = false;
    for (; stet_python_kind(a, n) == PY_ATTRIBUTE && count < 11;
         n = stet_python_field(a, n, PY_FIELD_OBJECT)) {
        stet_python_ref attribute = stet_python_field(a, n, PY_FIELD_ATTRIBUTE);

        if (!attribute)
            return STET_VIEW("");
        parts[count++] = stet_python_text(a, attribute);
    }
    name = stet_python_name(a, n);
    if (!name)
        return STET_VIEW("");
    *imported = m->imports[name].len && !is_hidden(m, n, name);
    parts[count++] = *imported ? m->imports[name] : a->names.items[name];
    while (count) {
        struct stet_view p = parts[--count];

        if (at + p.len + 1 >= 160)
            return STET_VIEW("");
        if (p.len)
            memcpy(room + at, p.ptr, p.len);
        at += p.len;
        if (count)
            room[at++] = '.';
    }
    return stet_view_of(room, at);
}

struct stet_view stet_python_imported(const struct stet_python_module *m, stet_python_ref n,
                                      char room[160])
{
    bool imported;
    struct stet_view dotted = stet_python_dotted(m, n, room, &imported);

    return imported ? dotted : STET_VIEW("");
}

const struct stet_python_binding *stet_python_only_binding(const struct stet_python_module *m,
                                                           stet_python_ref n)
{
    const struct stet_python_binding *found = NULL;
    uint32_t name = stet_python_name(&m->ast, n);

    for (uint32_t i = name ? m->first_binding[name] : 0; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];

        if (b->attribute || (b->scope && !stet_python_is_inside(m, n, b->scope)))
            continue;
        if (found)
            return NULL;
        found = b;
    }
    return found;
}

/* `numbers = range`: the name on the right, where that is all that the name can be; 0 otherwise. */
static stet_python_ref renamed(const struct stet_python_module *m, stet_python_ref n)
{
    const struct stet_python_binding *b = stet_python_only_binding(m, n);
    stet_python_ref scope = stet_python_function_around(m, n), value;

    while (scope && !stet_python_binds(m, scope, stet_python_name(&m->ast, n)))
        scope = stet_python_function_around(m, scope);
    if (!b || b->how != PY_BIND_VALUE || b->position >= 0 || b->scope != scope)
        return 0;
    value = stet_python_bare(&m->ast, b->value);
    return stet_python_kind(&m->ast, value) == PY_IDENTIFIER ||
                   stet_python_kind(&m->ast, value) == PY_ATTRIBUTE
               ? value
               : 0;
}

struct stet_view stet_python_full_name(const struct stet_python_module *m, stet_python_ref n,
                                       char room[160])
{
    static const char builtins[] = "builtins.";
    const struct stet_python_ast *a = &m->ast;

    n = stet_python_bare(a, n);
    for (unsigned depth = 0; n && depth < MOST_RENAMED; depth++) {
        uint32_t name = stet_python_name(a, n);
        struct stet_view dotted = stet_python_imported(m, n, room), own;

        if (dotted.len || !name)
            return dotted;
        own = a->names.items[name];
        if (!is_hidden(m, n, name) && sizeof builtins + own.len < 160) {
            memcpy(room, builtins, sizeof builtins - 1);
            memcpy(room + sizeof builtins - 1, own.ptr, own.len);
            return stet_view_of(room, sizeof builtins - 1 + own.len);
        }
        n = renamed(m, n);
    }
    return STET_VIEW("");
}

struct stet_view stet_python_library_name(const struct stet_python_module *m, stet_python_ref n,
                                          char room[160])
{
    struct stet_view dotted = stet_python_full_name(m, n, room);
    const char *dot = dotted.len ? memrchr(dotted.ptr, '.', dotted.len) : NULL;

    return dot && stet_python_library(dotted) != PY_GIVES_NOTHING_KNOWN
               ? stet_view_of(dot + 1, (size_t)(dotted.ptr + dotted.len - dot) - 1)
               : STET_VIEW("");
}

enum stet_python_meaning stet_python_meaning(const struct stet_python_module *m, stet_python_ref n)
{
    char room[160];

    return stet_python_library_meaning(stet_python_full_name(m, n, room));
}
