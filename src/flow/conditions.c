/* Questions about a condition: does it test the rank of the process, does it hold in some steps
 * only? */
#include "flow/walk.h"

/* Was the name bound to the rank of an array? */
static bool is_measure(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_flow_binding *b = stet_flow_lookup(w, w->fn, stet_python_name(w->ast, n));

    return b && (b->value.f.traits & FLOW_TRAIT_MEASURE);
}

/* len(pad) == rank: a process's rank is not compared with a length. */
static bool compares_length(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    if (stet_python_kind(a, n) != PY_COMPARISON)
        return false;
    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c))
        if (stet_python_kind(a, c) == PY_CALL &&
            stet_view_is(stet_python_callee(w->module, c), "len"))
            return true;
    return false;
}

bool stet_flow_asks_rank(struct stet_flow_walk *w, stet_python_ref n)
{
    static const char *const ranks[] = {"rank",
                                        "local_rank",
                                        "global_rank",
                                        "process_index",
                                        "is_master_ordinal",
                                        "get_ordinal",
                                        "get_rank",
                                        "is_main_process",
                                        "is_local_main_process",
                                        "global_ordinal",
                                        "is_master",
                                        "is_rank_zero",
                                        NULL};

    for (stet_python_ref c = n, length = 0; n && stet_flow_within(w, c, n); c++) {
        if (compares_length(w, c))
            length = c;
        if (stet_python_kind(w->ast, c) == PY_IDENTIFIER && !is_measure(w, c) &&
            !(length && stet_flow_within(w, c, length)) &&
            stet_view_in(stet_python_text(w->ast, c), ranks))
            return true;
    }
    return false;
}

/* Is it a Python number that counts: a loop's, or an attribute that a method changes? */
static bool counts(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_value v = stet_flow_value_of(w, n);
    stet_python_ref object =
        stet_python_kind(a, n) == PY_ATTRIBUTE ? stet_python_field(a, n, PY_FIELD_OBJECT) : 0;
    uint32_t owner = stet_flow_self_class(w, object);

    if (v.kind <= FLOW_V_PYTHON && stet_flow_turns(v))
        return true;
    return owner != FLOW_NONE &&
           stet_flow_attribute_moves(
               w, owner, stet_python_name(a, stet_python_field(a, n, PY_FIELD_ATTRIBUTE)));
}

/* The left side of step % n in the condition counts by itself, or is a parameter: then *deps. */
stet_python_ref stet_flow_every_n(const struct stet_flow_walk *w, stet_python_ref n, uint64_t *deps)
{
    const struct stet_python_ast *a = w->ast;

    *deps = 0;
    for (stet_python_ref c = n; stet_flow_within(w, c, n); c++) {
        stet_python_ref left = a->nodes[c].kind == PY_BINARY && a->nodes[c].op == '%'
                                   ? stet_python_bare(a, stet_python_field(a, c, PY_FIELD_LEFT))
                                   : 0;
        struct stet_flow_value v = stet_flow_value_of(w, left);

        for (stet_python_ref part = left; left && stet_flow_within(w, part, left); part++)
            if (counts(w, part))
                return c;
        if (left && !stet_flow_is_strong(v) && v.kind != FLOW_V_SHAPE && v.kind != FLOW_V_HOST)
            *deps = v.deps & ~FLOW_ALWAYS;
        if (*deps)
            return c;
    }
    return 0;
}
