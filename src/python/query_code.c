/* Questions about a line that a trace names, with its file or without. */
#include "python/queries_internal.h"

bool stet_python_code_at(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                         struct stet_view text, struct stet_python_code *out)
{
    struct stet_view now = stet_python_line_text(s, file, line);
    bool same = now.len && (!text.len || stet_view_starts(now, "@") ||
                            (now.len >= text.len && !memcmp(now.ptr, text.ptr, text.len)));
    const struct stet_python_module *m = same ? stet_python_open(s, file) : NULL;
    stet_python_ref n = m ? stet_python_statement_at(m, line) : 0;

    if (n) {
        *out = (struct stet_python_code){m, n, stet_python_own_end(m, n), true};
        return true;
    }
    m = text.len ? stet_python_snippet(s, text) : NULL;
    if (m)
        *out = (struct stet_python_code){m, 0, (uint32_t)m->ast.text.len, false};
    return m != NULL;
}

static bool next(const struct stet_python_code *c, stet_python_ref *n)
{
    *n = *n ? *n + 1 : (c->first ? c->first : 1);
    return *n < c->module->ast.count && c->module->ast.nodes[*n].start < c->end;
}

/* "lengths[0]" is `lengths`, or one of its items. */
static bool is_it(struct stet_view text, struct stet_view what)
{
    return stet_view_eq(text, what) || (text.len < what.len && what.ptr[text.len] == '[' &&
                                        !memcmp(text.ptr, what.ptr, text.len));
}

/* Is `what`, or what holds it, written somewhere below a node? */
static bool holds(const struct stet_python_module *m, stet_python_ref n, struct stet_view what)
{
    const struct stet_python_ast *a = &m->ast;

    for (stet_python_ref c = n; n && c < a->count && a->nodes[c].start < a->nodes[n].end; c++) {
        enum stet_python_kind k = stet_python_kind(a, c);

        if ((k == PY_IDENTIFIER || k == PY_ATTRIBUTE || k == PY_SUBSCRIPT) &&
            a->nodes[c].field != PY_FIELD_ATTRIBUTE && is_it(stet_python_text(a, c), what))
            return true;
    }
    return false;
}

/* Or does the parameter that a guard names flow into it? */
static bool flows(struct stet_python_sources *s, const struct stet_python_code *code,
                  stet_python_ref n, struct stet_view what)
{
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, code->module);
    uint32_t name = stet_intern_find(&code->module->ast.names, what), position;
    stet_python_ref f = n ? stet_python_function_around(code->module, n) : 0;

    if (holds(code->module, n, what))
        return true;
    if (!f || !code->whole || name == STET_INTERN_NONE ||
        !stet_python_parameter(code->module, f, name, &position) || position >= 64)
        return false;
    x->asked = f;
    x->asked_in = code->module;
    x->asked_static = UINT64_MAX;
    return stet_python_flow_of(x, n).parameters & (uint64_t)1 << position;
}

/* `for … in range(what)`, also in a comprehension. */
static bool counts(struct stet_python_sources *s, const struct stet_python_code *code,
                   stet_python_ref n, struct stet_view what)
{
    const struct stet_python_module *m = code->module;
    struct stet_python_question q;
    struct stet_python_callee c;

    if (stet_python_kind(&m->ast, n) != PY_CALL)
        return false;
    c = stet_python_resolve(stet_python_ask(&q, s, m), n);
    return c.meaning == PY_MEANS_COUNTS &&
           flows(s, code, stet_python_field(&m->ast, n, PY_FIELD_ARGUMENTS), what);
}

/* `key in what`, `what.get(key)`, `what.items()`. */
static bool is_searched(struct stet_python_sources *s, const struct stet_python_code *code,
                        stet_python_ref n, struct stet_view what)
{
    const struct stet_python_module *m = code->module;
    const struct stet_python_ast *a = &m->ast;
    enum stet_python_kind k = stet_python_kind(a, n);
    struct stet_python_question q;
    struct stet_python_callee c;

    if (k == PY_COMPARISON && (a->nodes[n].op == 'i' || a->nodes[n].op == 'n'))
        return holds(m, n, what);
    if (k != PY_CALL)
        return false;
    c = stet_python_resolve(stet_python_ask(&q, s, m), n);
    return c.object && (c.effect == PY_GIVES_KEYS || c.effect == PY_GIVES_KEYED) &&
           holds(m, c.object, what);
}

static unsigned role_of(struct stet_python_sources *s, const struct stet_python_code *code,
                        stet_python_ref n, struct stet_view what)
{
    const struct stet_python_module *m = code->module;
    struct stet_python_question q;
    const struct stet_python_array *array =
        stet_python_kind(&m->ast, n) == PY_CALL
            ? stet_python_array_call(stet_python_ask(&q, s, m), n)
            : NULL;

    if (!array || !(array->role & (PY_TOPK | PY_KTH | PY_SPLITS | PY_PACKED)) ||
        !flows(s, code, stet_python_field(&m->ast, n, PY_FIELD_ARGUMENTS), what))
        return 0;
    return array->role & (PY_TOPK | PY_KTH) ? PY_USED_TOPK : PY_USED_PARTS;
}

unsigned stet_python_code_uses(struct stet_python_sources *s, const struct stet_python_code *code,
                               struct stet_view what)
{
    unsigned uses = 0;

    for (stet_python_ref n = 0; next(code, &n);) {
        uses |= counts(s, code, n, what) ? PY_USED_COUNT : 0;
        uses |= is_searched(s, code, n, what) ? PY_USED_MEMBER : 0;
        uses |= role_of(s, code, n, what);
    }
    return uses;
}

unsigned stet_python_code_roles(struct stet_python_sources *s, const struct stet_python_code *code)
{
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, code->module);
    unsigned roles = 0;

    for (stet_python_ref n = 0; next(code, &n);) {
        const struct stet_python_array *array = stet_python_kind(&code->module->ast, n) == PY_CALL
                                                    ? stet_python_array_call(x, n)
                                                    : NULL;

        roles |= array ? array->role : 0;
    }
    return roles;
}

bool stet_python_code_copies(struct stet_python_sources *s, const struct stet_python_code *code)
{
    struct stet_python_question q;
    struct stet_python_flow *x = stet_python_ask(&q, s, code->module);

    for (stet_python_ref n = 0; next(code, &n);) {
        struct stet_python_callee c = {0};

        if (stet_python_kind(&code->module->ast, n) == PY_CALL)
            c = stet_python_resolve(x, n);
        if (c.object && (c.effect == PY_GIVES_ARRAYS || c.effect == PY_GIVES_HOSTED))
            return true;
    }
    return false;
}

bool stet_python_code_asks_shape(const struct stet_python_code *code)
{
    const struct stet_python_ast *a = &code->module->ast;

    for (stet_python_ref n = 0; next(code, &n);) {
        stet_python_ref name = stet_python_kind(a, n) == PY_ATTRIBUTE
                                   ? stet_python_field(a, n, PY_FIELD_ATTRIBUTE)
                                   : 0;
        enum stet_python_effect effect =
            name ? stet_python_library_attribute(stet_python_text(a, name)) : PY_GIVES_UNKNOWN;

        if (effect == PY_GIVES_SIZE || effect == PY_GIVES_RANK)
            return true;
    }
    return false;
}

bool stet_python_code_reads_size(struct stet_python_sources *s, const struct stet_python_code *code)
{
    const struct stet_python_module *m = code->module;
    struct stet_python_step step = {m, code->first};
    struct stet_python_reach reach = {0};
    struct stet_python_question q;
    bool found = false;

    if (code->whole) {
        stet_python_reach_around(s, m, code->first, &reach);
        found = stet_python_step_reads_size(&reach, &step);
        stet_python_reach_release(&reach);
        return found;
    }
    for (stet_python_ref n = 0; !found && next(code, &n);)
        found = stet_python_kind(&m->ast, n) == PY_CALL &&
                stet_python_resolve(stet_python_ask(&q, s, m), n).meaning == PY_MEANS_INTEGER;
    return found;
}

/* ---- training ---- */

static bool trains(struct stet_python_sources *s, const struct stet_python_module *m,
                   stet_python_ref loop)
{
    stet_python_ref body = stet_python_field(&m->ast, loop, PY_FIELD_BODY);
    stet_python_ref first = body ? stet_python_child(&m->ast, body) : 0;
    struct stet_python_reach r = {0};
    bool found = false;

    if (first)
        stet_python_reach_from(s, stet_view_str(m->path), stet_python_line(m, first), &r);
    for (uint32_t i = 0; i < r.count && !found; i++)
        found = stet_python_step_updates(s, &r.steps[i]);
    stet_python_reach_release(&r);
    return found;
}

bool stet_python_after_training(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                                bool *inside)
{
    const struct stet_python_module *m = stet_python_open(s, file);
    stet_python_ref at = m ? stet_python_statement_at(m, line) : 0;

    *inside = false;
    for (stet_python_ref n = at; n; n = stet_python_statement_of(m, m->parents[n])) {
        enum stet_python_kind k = stet_python_kind(&m->ast, n);

        *inside = n != at && (k == PY_FOR || k == PY_WHILE);
        if (*inside || k == PY_FUNCTION)
            return false;
        for (stet_python_ref q = stet_python_child(&m->ast, m->parents[n]); q && q != n;
             q = stet_python_next(&m->ast, q)) {
            enum stet_python_kind before = stet_python_kind(&m->ast, q);

            if ((before == PY_FOR || before == PY_WHILE) && trains(s, m, q))
                return true;
        }
    }
    return false;
}
