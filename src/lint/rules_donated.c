/* The rule about arrays that are read after a call that was given their memory. */
#include "lint/rules.h"

/* x.shape, x["a"].dtype, x.keys(), len(x): a donated array still has these. */
static bool reads_metadata(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;
    stet_python_ref up = m->parents[n];

    while (stet_python_kind(a, up) == PY_SUBSCRIPT &&
           stet_python_field(a, up, PY_FIELD_VALUE) == n) {
        n = up;
        up = m->parents[n];
    }
    if (stet_python_kind(a, up) == PY_ATTRIBUTE && stet_python_field(a, up, PY_FIELD_OBJECT) == n) {
        struct stet_view name = stet_python_text(a, stet_python_field(a, up, PY_FIELD_ATTRIBUTE));
        enum stet_python_effect effect =
            stet_python_kind(a, m->parents[up]) == PY_CALL &&
                    stet_python_field(a, m->parents[up], PY_FIELD_FUNCTION) == up
                ? stet_python_library_method(name)
                : stet_python_library_attribute(name);

        return effect == PY_GIVES_SIZE || effect == PY_GIVES_RANK || effect == PY_GIVES_HOST ||
               effect == PY_GIVES_TYPE || effect == PY_GIVES_KEYS;
    }
    return stet_python_kind(a, up) == PY_ARGUMENTS &&
           stet_python_call_meaning(m, m->parents[up]) == PY_MEANS_LENGTH;
}

/* Returns the node that reads the name in this range before it is bound again, or 0. */
static stet_python_ref read_before_write(const struct stet_flow_walk *w, uint32_t name,
                                         stet_python_ref from, uint32_t until, bool *rebound)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = from; c < a->count && a->nodes[c].start < until && stet_flow_spend(w);
         c++) {
        if (a->nodes[c].kind == PY_ASSIGNMENT) {
            stet_python_ref left = stet_python_field(a, c, PY_FIELD_LEFT);
            stet_python_ref right = stet_python_field(a, c, PY_FIELD_RIGHT), use = 0;

            for (stet_python_ref r = right; right && stet_flow_within(w, r, right); r++) {
                if (stet_python_name(a, r) == name && !reads_metadata(w, r))
                    use = r;
            }
            if (use)
                return use;
            for (stet_python_ref l = left; left && stet_flow_within(w, l, left); l++) {
                if (stet_python_name(a, l) == name && stet_python_kind(a, left) != PY_ATTRIBUTE &&
                    stet_python_kind(a, left) != PY_SUBSCRIPT) {
                    *rebound = true;
                    return 0;
                }
            }
        } else if (a->nodes[c].kind == PY_DELETE) {
            *rebound = true;
            return 0;
        } else if (a->nodes[c].kind == PY_KEYWORD_ARGUMENT) {
            c++; /* the keyword itself */
        } else if (stet_python_name(a, c) == name && a->nodes[c].field != PY_FIELD_ATTRIBUTE &&
                   !reads_metadata(w, c)) {
            return c;
        }
    }
    return 0;
}

static stet_python_ref first_after(const struct stet_python_ast *a, uint32_t offset,
                                   stet_python_ref from)
{
    while (from < a->count && a->nodes[from].start < offset)
        from++;
    return from;
}

static bool rebinds(const struct stet_flow_walk *w, stet_python_ref statement, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref assign = stet_python_child(a, statement), left;

    if (stet_python_kind(a, statement) == PY_RETURN)
        return true;
    if (stet_python_kind(a, assign) != PY_ASSIGNMENT)
        return false;
    left = stet_python_field(a, assign, PY_FIELD_LEFT);
    for (stet_python_ref l = left; stet_flow_within(w, l, left); l++) {
        if (stet_python_name(a, l) == name)
            return true;
    }
    return false;
}

/* for name in …: each turn has another one. */
static bool binds(const struct stet_flow_walk *w, stet_python_ref loop, uint32_t name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left =
        stet_python_kind(a, loop) == PY_FOR ? stet_python_field(a, loop, PY_FIELD_LEFT) : 0;

    for (stet_python_ref c = left; left && stet_flow_within(w, c, left); c++)
        if (stet_python_name(a, c) == name)
            return true;
    return false;
}

static void check_donated(struct stet_flow_walk *w, stet_python_ref call, stet_python_ref arg)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t name = stet_python_name(a, arg), end;
    uint32_t statement_end = stet_python_at(a, w->statement)->end;
    bool rebound = false;
    stet_python_ref use;

    if (!name || rebinds(w, w->statement, name))
        return;
    end = w->branches
              ? w->block_end
              : (w->fn ? stet_python_at(a, w->fns[w->fn].node)->end : (uint32_t)a->text.len);
    use = read_before_write(w, name, first_after(a, statement_end, call), end, &rebound);
    if (!use && !rebound && w->loop && w->branches == w->loops && !binds(w, w->loop, name)) {
        stet_python_ref body = stet_python_field(a, w->loop, PY_FIELD_BODY);

        use = body ? read_before_write(w, name, body + 1, stet_python_at(a, w->statement)->start,
                                       &rebound)
                   : 0;
        if (!use && !rebound)
            use = arg;
    }
    if (use)
        lint_report(w, LINT_RULE_donated_reuse, use, 0, LINT_ANY, 0,
                    "`%.*s` was donated to the call on line %u", STET_FMT(a->names.items[name]),
                    stet_python_at(a, call)->row + 1);
}

void rule_donated_reuse(struct stet_flow_walk *w, stet_python_ref n)
{
    unsigned shift;
    const struct stet_flow_jit *j = lint_called_jit(w, n, &shift);

    if (!j || !j->donated_positions)
        return;
    for (unsigned i = 0; i + shift < 64; i++) {
        stet_python_ref arg = stet_python_argument(w->module, n, i);

        if (!arg)
            break;
        if (j->donated_positions >> (i + shift) & 1)
            check_donated(w, n, arg);
    }
}
