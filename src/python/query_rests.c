/* Finds what depends on the values that a line of the same function computes: names that it
 * assigns, and names that are computed from those. */
#include "python/queries_internal.h"

enum { NAMES_MOST = 64, PASSES = 2 };

/* The question: two statements of one function. */
struct rest {
    const struct stet_python_module *m;
    stet_python_ref use, read, function;
    struct name {
        uint32_t number;
        bool attribute;
    } names[NAMES_MOST];
    uint32_t count;
};

static bool begin(struct rest *r, struct stet_python_sources *s, struct stet_view file,
                  uint32_t use, uint32_t read)
{
    const struct stet_python_module *m = stet_python_open(s, file);

    *r = (struct rest){.m = m};
    r->use = m ? stet_python_statement_at(m, use) : 0;
    r->read = m ? stet_python_statement_at(m, read) : 0;
    r->function = r->use ? stet_python_function_around(m, r->use) : 0;
    return r->use && r->read && stet_python_function_around(m, r->read) == r->function;
}

static bool has_name(const struct rest *r, uint32_t number, bool attribute)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->names[i].number == number && r->names[i].attribute == attribute)
            return true;
    return false;
}

static void add_name(struct rest *r, const struct stet_python_binding *b)
{
    if (!has_name(r, b->name, b->attribute) && r->count < NAMES_MOST)
        r->names[r->count++] = (struct name){b->name, b->attribute};
}

/* Is one of the names used in the text of a node? */
static bool holds(const struct rest *r, stet_python_ref n)
{
    const struct stet_python_ast *a = &r->m->ast;

    for (stet_python_ref c = n; n && c < a->count && a->nodes[c].start < a->nodes[n].end; c++)
        if (stet_python_kind(a, c) == PY_IDENTIFIER &&
            has_name(r, a->nodes[c].child, a->nodes[c].field == PY_FIELD_ATTRIBUTE))
            return true;
    return false;
}

static bool decides(const struct stet_python_conditions *c, stet_python_ref statement)
{
    struct rest *r = c->context;
    stet_python_ref test = stet_python_condition_of(r->m, statement);

    return test && (statement == r->read || holds(r, test));
}

/* A value assigned under such a condition depends on it too. */
static bool is_under(struct rest *r, stet_python_ref statement)
{
    struct stet_python_conditions c = {
        .module = r->m, .loops = true, .rests = decides, .context = r};

    return stet_python_conditions_around(&c, statement);
}

/* A statement in a loop runs again after those behind it, so twice. */
static void follow(struct rest *r)
{
    const struct stet_python_module *m = r->m;

    for (unsigned pass = 0; pass <= PASSES; pass++) {
        for (size_t i = 0; i < m->bindings.count; i++) {
            const struct stet_python_binding *b = &m->bindings.items[i];
            stet_python_ref statement = stet_python_statement_of(m, b->target);

            if (b->scope != r->function || b->how >= PY_BIND_FUNCTION)
                continue;
            if (pass ? statement != r->use && (holds(r, b->value) || is_under(r, statement))
                     : statement == r->read)
                add_name(r, b);
        }
    }
}

/* What decides how often or whether the body of a statement runs; 0 for other statements. */
static stet_python_ref decider_of(const struct stet_python_module *m, stet_python_ref statement)
{
    return stet_python_kind(&m->ast, statement) == PY_FOR
               ? stet_python_field(&m->ast, statement, PY_FIELD_RIGHT)
               : stet_python_condition_of(m, statement);
}

uint32_t stet_python_decided_line(struct stet_python_sources *s, struct stet_view file,
                                  uint32_t read)
{
    struct rest r;

    if (!begin(&r, s, file, read, read))
        return 0;
    for (stet_python_ref n = r.read; n; n = stet_python_statement_of(r.m, r.m->parents[n])) {
        /* `if f(x): y = 1` is one line, and its condition may be what reads */
        stet_python_ref test = decider_of(r.m, n);

        if (test && stet_python_line(r.m, n) == read)
            return read;
    }
    follow(&r);
    for (stet_python_ref n = 1; n < r.m->ast.count; n++) {
        stet_python_ref test = decider_of(r.m, n);

        if (test && stet_python_function_around(r.m, n) == r.function && holds(&r, test))
            return stet_python_line(r.m, n);
    }
    return 0;
}

bool stet_python_rests_argument(struct stet_python_sources *s, struct stet_view file, uint32_t use,
                                uint32_t read)
{
    stet_python_ref n = 0;
    struct rest r;

    if (!begin(&r, s, file, use, read) || r.use == r.read)
        return false;
    follow(&r);
    while (stet_python_own_next(r.m, r.use, &n))
        if (stet_python_kind(&r.m->ast, n) == PY_ARGUMENTS && holds(&r, n))
            return true;
    return false;
}

/* Returns the line, inside a node, that assigns the name for the use: the last one before it,
 * otherwise the last one after it, from which a loop comes back. 0 for none. */
static uint32_t bound_in(const struct rest *r, const struct name *name, stet_python_ref scope,
                         stet_python_ref inside)
{
    const struct stet_python_module *m = r->m;
    uint32_t use = stet_python_line(m, r->use), before = 0, after = 0;

    for (uint32_t i = m->first_binding[name->number]; i; i = m->bindings.items[i - 1].next) {
        const struct stet_python_binding *b = &m->bindings.items[i - 1];
        uint32_t at = stet_python_line(m, stet_python_statement_of(m, b->target));

        if (b->scope != scope || b->attribute != name->attribute || b->how >= PY_BIND_FUNCTION ||
            (inside && !stet_python_is_inside(m, b->target, inside)))
            continue;
        if (at < use && at > before)
            before = at;
        else if (at > use && at > after)
            after = at;
    }
    return before || !inside ? before : after;
}

/* Finds it in the innermost loop around the use that assigns the name, because the name changes
 * there. */
static uint32_t bound_before(const struct rest *r, const struct name *name, stet_python_ref scope)
{
    const struct stet_python_module *m = r->m;
    stet_python_ref n = stet_python_statement_of(m, m->parents[r->use]);

    for (; n && scope == r->function && n != scope;
         n = stet_python_statement_of(m, m->parents[n])) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);
        uint32_t line = k == PY_FOR || k == PY_WHILE ? bound_in(r, name, scope, n) : 0;

        if (line)
            return line;
    }
    return bound_in(r, name, scope, 0);
}

/* Does the statement of the use assign the name on its way: step(x, (k := 3))? */
static bool bound_by_use(const struct rest *r, const struct name *name)
{
    const struct stet_python_module *m = r->m;

    for (uint32_t i = m->first_binding[name->number]; i; i = m->bindings.items[i - 1].next) {
        stet_python_ref target = m->bindings.items[i - 1].target;

        if (stet_python_kind(&m->ast, m->parents[target]) == PY_NAMED_EXPRESSION &&
            stet_python_statement_of(m, target) == r->use)
            return true;
    }
    return false;
}

uint32_t stet_python_binding_line(struct stet_python_sources *s, struct stet_view file,
                                  uint32_t use, struct stet_view name)
{
    const char *dot = name.len ? memrchr(name.ptr, '.', name.len) : NULL;
    struct stet_view last =
        dot ? stet_view_of(dot + 1, (size_t)(name.ptr + name.len - dot - 1)) : name;
    struct rest r;
    uint32_t number;

    if (!begin(&r, s, file, use, use))
        return 0;
    number = stet_intern_find(&r.m->ast.names, last);
    if (number == STET_INTERN_NONE)
        return 0;
    r.names[r.count++] = (struct name){number, dot != NULL};
    if (!holds(&r, r.use))
        return 0;
    return bound_by_use(&r, &r.names[0]) ? stet_python_line(r.m, r.use)
                                         : bound_before(&r, &r.names[0], r.function);
}
