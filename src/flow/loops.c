/* Loops: what their targets are, which numbers change with their turns, and whether they contain a
 * step. */
#include "flow/walk.h"

bool stet_flow_ends_step(const struct stet_flow_walk *w, stet_python_ref call)
{
    enum stet_python_meaning meaning = stet_python_call_meaning(w->module, call);

    return meaning == PY_MEANS_ENDS_STEP || meaning == PY_MEANS_UPDATES_IN_STEP ||
           meaning == PY_MEANS_STEP_REGION;
}

/* A torch_xla step ends somewhere in this loop. */
static bool holds_step(const struct stet_flow_walk *w, stet_python_ref n)
{
    if (!(w->facts & FLOW_USES_XLA))
        return false;
    for (stet_python_ref c = n + 1; stet_flow_within(w, c, n); c++)
        if (stet_python_kind(w->ast, c) == PY_CALL && stet_flow_ends_step(w, c))
            return true;
    return false;
}

/* A loop inside a step is unrolled: its numbers are the same in the next step. */
static uint8_t changes_with(bool ends_step)
{
    return ends_step ? FLOW_CHANGES : FLOW_VARIES;
}

static void mark_counter(struct stet_flow_walk *w, stet_python_ref left, uint8_t how)
{
    struct stet_flow_binding *b =
        stet_flow_scope_find(&w->fns[w->fn].scope, stet_python_name(w->ast, left));

    if (b && b->value.kind == FLOW_V_PYTHON)
        b->value.flags |= how;
}

/* lr = lr * decay */
static void mark_scaled(struct stet_flow_walk *w, stet_python_ref left, stet_python_ref right,
                        uint8_t how)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t name = stet_python_name(a, left);

    if (!name || stet_python_kind(a, right) != PY_BINARY)
        return;
    for (stet_python_ref c = right; stet_flow_within(w, c, right); c++) {
        if (stet_python_name(a, c) == name) {
            mark_counter(w, left, how);
            return;
        }
    }
}

/* Numbers that the loop counts up vary from its first line on. */
static void mark_counters(struct stet_flow_walk *w, stet_python_ref n, uint8_t how)
{
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref c = n + 1; stet_flow_within(w, c, n); c++) {
        stet_python_ref left = stet_python_field(a, c, PY_FIELD_LEFT), right;

        if (a->nodes[c].kind == PY_AUGMENTED)
            mark_counter(w, left, how);
        if (a->nodes[c].kind != PY_ASSIGNMENT)
            continue;
        right = stet_python_field(a, c, PY_FIELD_RIGHT);
        if (stet_python_kind(a, left) == PY_PATTERN_LIST &&
            stet_python_kind(a, right) == PY_EXPRESSION_LIST) {
            stet_python_ref r = stet_python_child(a, right);

            for (stet_python_ref l = stet_python_child(a, left); l && r;
                 l = stet_python_next(a, l), r = stet_python_next(a, r))
                mark_scaled(w, l, r, how);
        } else {
            mark_scaled(w, left, right, how);
        }
    }
}

static void run_loop(struct stet_flow_walk *w, stet_python_ref n, stet_python_ref body)
{
    bool ends = holds_step(w, n), step = !w->step_loops && ends, ended = w->ends_step;
    stet_python_ref outer = w->loop, outermost = w->outer_loop;

    mark_counters(w, n, changes_with(ends));
    w->ends_step = ends;
    w->loops++;
    w->branches++;
    w->loop = n;
    w->outer_loop = outermost ? outermost : n;
    w->step_loops += step || w->step_loops;
    stet_flow_run_block(w, body);
    w->step_loops -= w->step_loops && (step || w->step_loops > 1);
    w->ends_step = ended;
    w->loop = outer;
    w->outer_loop = outermost;
    w->branches--;
    w->loops--;
}

/* A constant, or a list, tuple or object made of such. */
static bool is_written_down(const struct stet_flow_walk *w, stet_python_ref n, unsigned depth)
{
    const struct stet_python_ast *a = w->ast;

    if (stet_flow_is_constant(w, n))
        return true;
    if (stet_python_kind(a, n) == PY_CALL)
        n = stet_python_field(a, n, PY_FIELD_ARGUMENTS);
    if (depth > 3 || (stet_python_kind(a, n) != PY_LIST && stet_python_kind(a, n) != PY_TUPLE &&
                      stet_python_kind(a, n) != PY_ARGUMENTS))
        return false;
    for (stet_python_ref c = stet_python_child(a, n); c; c = stet_python_next(a, c)) {
        if (!is_written_down(w, c, depth + 1))
            return false;
    }
    return true;
}

/* Does this end of a range leave a short rest out? rows - 15 with a stride of 16, rows - batch + 1,
 * rows // batch * batch. */
static bool excludes_rest(struct stet_flow_walk *w, stet_python_ref end, stet_python_ref stride)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left, right;

    if (stet_python_kind(a, end) != PY_BINARY)
        return false;
    left = stet_python_bare(a, stet_python_field(a, end, PY_FIELD_LEFT));
    right = stet_python_bare(a, stet_python_field(a, end, PY_FIELD_RIGHT));
    switch (stet_python_at(a, end)->op) {
    case '+':
        return excludes_rest(w, left, stride);
    case '-':
        return stet_view_eq(stet_python_text(a, right), stet_python_text(a, stride)) ||
               (stet_flow_known_integer(w, stride) > 0 &&
                stet_flow_known_integer(w, right) >= stet_flow_known_integer(w, stride) - 1);
    case '*':
        return stet_view_eq(stet_python_text(a, left), stet_python_text(a, stride)) ||
               stet_view_eq(stet_python_text(a, right), stet_python_text(a, stride));
    default:
        return false;
    }
}

/* range(0, rows, batch), unless batch is known to divide rows, or the rest is left out */
static bool leaves_rest(struct stet_flow_walk *w, stet_python_ref range)
{
    long whole, stride;

    if (stet_python_argument_count(w->module, range) != 3 ||
        excludes_rest(w, stet_python_bare(w->ast, stet_python_argument(w->module, range, 1)),
                      stet_python_argument(w->module, range, 2)))
        return false;
    whole = stet_flow_known_integer(w, stet_python_argument(w->module, range, 1));
    stride = stet_flow_known_integer(w, stet_python_argument(w->module, range, 2));
    return whole < 0 || stride <= 0 || whole % stride;
}

/* A list or tuple written out, of constants that are not all the same. */
static bool lists_constants(const struct stet_flow_walk *w, stet_python_ref right)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_view first = {0};
    bool differ = false;

    if (stet_python_kind(a, right) != PY_LIST && stet_python_kind(a, right) != PY_TUPLE)
        return false;
    for (stet_python_ref c = stet_python_child(a, right); c; c = stet_python_next(a, c)) {
        struct stet_view text = stet_python_text(a, c);

        if (!is_written_down(w, c, 0))
            return false;
        differ |= first.ptr && !stet_view_eq(first, text);
        first = first.ptr ? first : text;
    }
    return differ;
}

/* What a loop's target is bound to. */
static struct stet_flow_value loop_value(struct stet_flow_walk *w, stet_python_ref n,
                                         stet_python_ref right)
{
    struct stet_flow_value v = stet_flow_item(stet_flow_value_of(w, right));
    enum stet_python_meaning meaning = stet_python_kind(w->ast, right) == PY_CALL
                                           ? stet_python_call_meaning(w->module, right)
                                           : PY_MEANS_NOTHING_KNOWN;
    bool strides = meaning == PY_MEANS_COUNTS && leaves_rest(w, right);

    if (meaning == PY_MEANS_COUNTS && stet_flow_is_strong(v) && !holds_step(w, n))
        v.kind = FLOW_V_HOST; /* range(lengths.max()) reads it, and counts in Python */
    if (v.kind == FLOW_V_TENSOR && v.deps) {
        /* A step loop's batches are tensors, whatever the loader is. */
        if (!(v.deps & FLOW_ALWAYS) && holds_step(w, n))
            v.deps |= FLOW_ALWAYS;
        if (strides)
            v.f.flags |= FLOW_F_STRIDES;
        return v;
    }
    if (lists_constants(w, right) || meaning == PY_MEANS_COUNTS || meaning == PY_MEANS_SPACED) {
        v.flags |= changes_with(holds_step(w, n));
        if (v.kind == FLOW_V_UNKNOWN)
            v.kind = FLOW_V_PYTHON;
        v.f = (struct stet_flow_facts){0};
        if (stet_python_kind(w->ast, right) != PY_CALL &&
            stet_python_kind(w->ast, stet_python_child(w->ast, right)) == PY_STRING)
            v.f.flags = FLOW_F_TEXT;
        else if (strides)
            v.f.flags = FLOW_F_STRIDES;
        return v;
    }
    if (holds_step(w, n) && v.kind == FLOW_V_UNKNOWN)
        return (struct stet_flow_value){
            .kind = FLOW_V_TENSOR, .deps = FLOW_ALWAYS, .flags = FLOW_WEAK | FLOW_TREE};
    return v;
}

/* One part of a tuple of which some are tensors: a number or a size stays one. */
static struct stet_flow_value item_value(struct stet_flow_value v, unsigned kinds)
{
    enum { NUMBERS = 1u << FLOW_V_PYTHON, SIZES = 1u << FLOW_V_SHAPE };

    if (kinds == NUMBERS)
        return (struct stet_flow_value){.kind = FLOW_V_PYTHON, .from = v.from, .f = v.f};
    if (kinds && !(kinds & ~(unsigned)(NUMBERS | SIZES)))
        v.kind = FLOW_V_SHAPE;
    return v;
}

/* What is known of each part of a tuple that a function of this file returns or yields. */
void stet_flow_note_items(struct stet_flow_walk *w, stet_python_ref left, stet_python_ref right)
{
    const struct stet_python_ast *a = w->ast;
    struct stet_flow_value f;
    uint32_t fn, i = 0;

    right = stet_python_bare(a, right);
    if (stet_python_kind(a, right) != PY_CALL || stet_python_kind(a, left) != PY_PATTERN_LIST)
        return;
    f = stet_flow_value_of(w, stet_python_bare(a, stet_python_field(a, right, PY_FIELD_FUNCTION)));
    if (f.kind != FLOW_V_FN && f.kind != FLOW_V_JITTED)
        return;
    fn = f.kind == FLOW_V_FN ? f.index : w->jits[f.index].fn;
    if (fn == FLOW_NONE || w->fns[fn].progress != FLOW_DONE)
        return;
    for (stet_python_ref l = stet_python_child(a, left); l && i < w->fns[fn].item_count;
         l = stet_python_next(a, l), i++) {
        struct stet_flow_binding *b =
            stet_flow_scope_find(&w->fns[w->fn].scope, stet_python_name(a, l));

        if (!b)
            continue;
        b->value.f = w->fns[fn].items[i];
        if (f.kind == FLOW_V_FN && b->value.kind == FLOW_V_TENSOR)
            b->value = item_value(b->value, w->fns[fn].item_kinds[i]);
        if (f.kind == FLOW_V_JITTED)
            b->value.f.flags = (uint16_t)((b->value.f.flags & ~FLOW_F_EAGER) | FLOW_F_DEVICE);
    }
}

static bool is_list(const struct stet_python_ast *a, stet_python_ref n)
{
    return stet_python_kind(a, n) == PY_TUPLE || stet_python_kind(a, n) == PY_LIST;
}

static stet_python_ref nth_child(const struct stet_python_ast *a, stet_python_ref n, uint32_t nth)
{
    stet_python_ref c = stet_python_child(a, n);

    while (c && nth--)
        c = stet_python_next(a, c);
    return c;
}

/* for row, size in zip(rows, sizes.tolist()) */
static bool assign_zipped(struct stet_flow_walk *w, stet_python_ref left, stet_python_ref zip)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t place = 0;

    for (stet_python_ref l = stet_python_child(a, left); l; l = stet_python_next(a, l), place++) {
        stet_python_ref argument = stet_python_argument(w->module, zip, place);

        if (!argument || stet_python_kind(a, argument) == PY_LIST_SPLAT)
            return place > 0;
        stet_flow_assign(w, l, stet_flow_item(stet_flow_value_of(w, argument)));
    }
    return place > 0;
}

/* for axis, kernel in ((-1, rows), (-2, columns)): some are numbers, and some tensors. Each target
 * has the values of its own place. False if the loop is another. */
static bool assign_places(struct stet_flow_walk *w, stet_python_ref left, stet_python_ref right)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t place = 0;

    if (stet_python_kind(a, left) != PY_PATTERN_LIST)
        return false;
    if (stet_python_kind(a, right) == PY_CALL &&
        stet_python_call_meaning(w->module, right) == PY_MEANS_ZIPS)
        return assign_zipped(w, left, right);
    if (!is_list(a, right))
        return false;
    for (stet_python_ref c = stet_python_child(a, right); c; c = stet_python_next(a, c))
        if (!is_list(a, c))
            return false;
    for (stet_python_ref l = stet_python_child(a, left); l; l = stet_python_next(a, l), place++) {
        struct stet_flow_value v = {0};

        for (stet_python_ref c = stet_python_child(a, right); c; c = stet_python_next(a, c))
            v = stet_flow_join(v, stet_flow_value_of(w, nth_child(a, c, place)));
        stet_flow_assign(w, l, v);
    }
    return true;
}

void stet_flow_run_for(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_flow_value counter = {.kind = FLOW_V_PYTHON};
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT),
                    right = stet_python_field(a, n, PY_FIELD_RIGHT);
    stet_python_ref otherwise = stet_python_child_of(a, n, PY_ELSE), first;
    enum stet_python_meaning meaning = PY_MEANS_NOTHING_KNOWN;
    struct stet_flow_value v;

    stet_flow_eval(w, right);
    v = loop_value(w, n, right);
    if (v.kind != FLOW_V_TENSOR || !assign_places(w, left, right))
        stet_flow_assign(w, left, v);
    first = stet_python_kind(a, left) == PY_PATTERN_LIST ? stet_python_child(a, left) : 0;
    if (first && stet_python_kind(a, right) == PY_CALL)
        meaning = stet_python_call_meaning(w->module, right);
    if (meaning == PY_MEANS_PAIRS)
        stet_flow_assign(w, first, counter); /* keys are Python values */
    stet_flow_note_items(w, left, right);
    if (meaning == PY_MEANS_ENUMERATES) {
        counter.flags = changes_with(holds_step(w, n));
        stet_flow_assign(w, first, counter);
    }
    stet_flow_tell(w, FLOW_ON_FOR, n);
    run_loop(w, n, stet_python_field(a, n, PY_FIELD_BODY));
    if (otherwise)
        stet_flow_run_block(w, stet_python_field(a, otherwise, PY_FIELD_BODY));
}

void stet_flow_run_while(struct stet_flow_walk *w, stet_python_ref n)
{
    stet_python_ref test = stet_python_field(w->ast, n, PY_FIELD_CONDITION);

    stet_flow_eval(w, test);
    stet_flow_condition(w, test);
    run_loop(w, n, stet_python_field(w->ast, n, PY_FIELD_BODY));
}
