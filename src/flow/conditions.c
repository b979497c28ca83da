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

/* What the libraries call the number of a process. */
static const char *const rank_calls[] = {
    "process_index",  "is_master_ordinal", "get_ordinal",     "get_rank",
    "global_ordinal", "get_local_rank",    "get_global_rank", NULL};

/* me = jax.process_index(): the name holds what a library gave. */
static bool holds_rank(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_flow_binding *b = stet_flow_lookup(w, w->fn, stet_python_name(w->ast, n));

    return b && b->value.kind <= FLOW_V_PYTHON &&
           stet_python_kind(w->ast, b->value.from) == PY_CALL &&
           stet_view_in(stet_python_callee(w->module, b->value.from), rank_calls);
}

/* rank == 0, or the name alone as a truth value. `self.rank > limit` orders numbers, which ranks are
 * not for, and (heads, rank) is a shape. */
static bool is_told_apart(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref up = w->module->parents[n];
    char op;

    if (stet_python_kind(a, up) == PY_ATTRIBUTE)
        up = w->module->parents[up];
    op = stet_python_at(a, up)->op;
    switch (stet_python_kind(a, up)) {
    case PY_COMPARISON:
        return op != '<' && op != '>';
    case PY_TUPLE:
    case PY_LIST:
    case PY_BINARY:
    case PY_SUBSCRIPT:
        return false;
    default:
        return true;
    }
}

bool stet_flow_asks_rank(struct stet_flow_walk *w, stet_python_ref n)
{
    static const char *const names[] = {
        "rank",      "local_rank",   "global_rank", "is_main_process", "is_local_main_process",
        "is_master", "is_rank_zero", NULL};

    for (stet_python_ref c = n, length = 0; n && stet_flow_within(w, c, n); c++) {
        struct stet_view text;

        if (compares_length(w, c))
            length = c;
        if (stet_python_kind(w->ast, c) != PY_IDENTIFIER || is_measure(w, c) ||
            (length && stet_flow_within(w, c, length)))
            continue;
        text = stet_python_text(w->ast, c);
        if (stet_view_in(text, rank_calls) || holds_rank(w, c) ||
            (stet_view_in(text, names) && is_told_apart(w, c)))
            return true;
    }
    return false;
}

static bool is_host_type(const struct stet_flow_walk *w, stet_python_ref type)
{
    static const char *const types[] = {"int",     "float",         "bool",          "str",
                                        "complex", "numpy.ndarray", "numpy.generic", NULL};
    const struct stet_python_ast *a = w->ast;
    struct stet_view dotted;
    char room[160];

    type = stet_python_bare(a, type);
    if (stet_python_kind(a, type) == PY_TUPLE) {
        for (stet_python_ref c = stet_python_child(a, type); c; c = stet_python_next(a, c))
            if (!is_host_type(w, c))
                return false;
        return stet_python_child(a, type) != 0;
    }
    dotted = stet_python_imported(w->module, type, room);
    return stet_view_in(dotted.len ? dotted : stet_python_text(a, type), types);
}

stet_python_ref stet_flow_checked_host(const struct stet_flow_walk *w, stet_python_ref test)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref of, type;

    test = stet_python_bare(a, test);
    if (stet_python_kind(a, test) == PY_BOOLEAN && stet_python_at(a, test)->op == 'a') {
        of = stet_flow_checked_host(w, stet_python_field(a, test, PY_FIELD_LEFT));
        return of ? of : stet_flow_checked_host(w, stet_python_field(a, test, PY_FIELD_RIGHT));
    }
    if (stet_python_kind(a, test) != PY_CALL ||
        !stet_view_is(stet_python_callee(w->module, test), "isinstance"))
        return 0;
    of = stet_python_argument(w->module, test, 0);
    type = stet_python_argument(w->module, test, 1);
    return of && type && stet_python_name(a, of) && is_host_type(w, type) ? of : 0;
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
