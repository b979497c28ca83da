/* Finds the trap that a failed guard belongs to. The checks are in the order of how much they show:
 * what created the frame, what kind of guard, what code reads the value. */
#include "ingest/why.h"

#include "python/library.h"
#include "python/queries.h"

#include <stdlib.h>

/* The statement at a place, with its file or by the line that the trace has; false for neither. */
static bool code_at(const struct stet_torch *t, const struct stet_torch_place *place,
                    struct stet_view text, struct stet_python_code *code)
{
    return t->sources &&
           stet_python_code_at(t->sources, place->file, (uint32_t)place->line, text, code);
}

/* How the guarded value is used where it was guarded: bits of enum stet_python_use. */
static unsigned uses_of(const struct stet_torch *t, const struct stet_torch_why *why)
{
    struct stet_python_code code;

    return code_at(t, &why->origin, why->code, &code)
               ? stet_python_code_uses(t->sources, &code, why->what)
               : 0;
}

/* A number was read back at a graph break: does it become the size of an array? */
static bool reads_size(const struct stet_torch *t, const struct stet_torch_break *b)
{
    struct stet_python_code code;

    return code_at(t, &b->place, b->code, &code) && stet_python_code_reads_size(t->sources, &code);
}

/* Does the line of a graph break copy an array to the host: x.cpu()? */
static bool copies(const struct stet_torch *t, const struct stet_torch_break *b)
{
    struct stet_python_code code;

    return code_at(t, &b->place, b->code, &code) && stet_python_code_copies(t->sources, &code);
}

/* An operation whose size follows values: does it find positions or values, or ask for a size? */
static bool finds(const struct stet_torch *t, const struct stet_torch_break *b)
{
    struct stet_python_code code;

    return code_at(t, &b->place, b->code, &code) &&
           ((stet_python_code_roles(t->sources, &code) & PY_FINDS) ||
            stet_python_code_asks_shape(&code));
}

static bool is_number(struct stet_view v, double *out)
{
    char text[64], *end;

    if (!v.len || v.len >= sizeof text)
        return false;
    memcpy(text, v.ptr, v.len);
    text[v.len] = '\0';
    *out = strtod(text, &end);
    return *end == '\0';
}

static bool is_integer(struct stet_view v)
{
    double n;

    return is_number(v, &n) && !memchr(v.ptr, '.', v.len) && !memchr(v.ptr, 'e', v.len);
}

static bool is_bool(struct stet_view v)
{
    return stet_view_is(v, "True") || stet_view_is(v, "False");
}

/* The break after which `frame` resumes, by the name that torch gave its code object. */
static uint32_t break_before(const struct stet_torch *t, const struct stet_torch_frame *frame)
{
    struct stet_view name = frame->code.function;
    uint64_t line = 0;
    size_t at = name.len;

    if (!stet_view_starts(name, "torch_dynamo_resume_in_"))
        return STET_TORCH_NONE;
    while (at > 0 && name.ptr[at - 1] >= '0' && name.ptr[at - 1] <= '9')
        at--;
    for (; at < name.len && line < UINT32_MAX; at++)
        line = line * 10 + (uint64_t)(name.ptr[at] - '0');
    for (uint32_t i = (uint32_t)t->break_count; i-- > 0;) {
        const struct stet_torch_break *b = &t->breaks[i];

        if (b->process == frame->process && b->place.line == line &&
            stet_view_eq(b->place.file, frame->code.file))
            return i;
    }
    return STET_TORCH_NONE;
}

static enum stet_cause cause_of_break(const struct stet_torch *t, const struct stet_torch_break *b)
{
    if (stet_view_starts(b->reason, "Data-dependent branching") ||
        stet_view_contains(b->reason, "generic_jump TensorVariable"))
        return STET_CAUSE_VALUE_BRANCH;
    if (stet_view_contains(b->reason, "Tensor.item()") || stet_view_contains(b->reason, ".item") ||
        stet_view_contains(b->reason, "Tensor.tolist") || copies(t, b))
        return reads_size(t, b) ? STET_CAUSE_DIM_READBACK : STET_CAUSE_HOST_SYNC;
    if (stet_view_starts(b->reason, "Dynamic shape operator") ||
        stet_view_contains(b->reason, "dynamic shape op"))
        return finds(t, b) ? STET_CAUSE_DIM_READBACK : STET_CAUSE_MASK_GATHER;
    return STET_CAUSE_GRAPH_BREAK;
}

static enum stet_torch_knob knob_of_break(const struct stet_torch_break *b)
{
    if (stet_view_contains(b->hint, "CAPTURE_SCALAR_OUTPUTS") ||
        stet_view_contains(b->reason, "capture_scalar_outputs"))
        return STET_KNOB_SCALARS;
    if (stet_view_contains(b->hint, "capture_dynamic_output_shape_ops"))
        return STET_KNOB_SHAPES;
    return STET_KNOB_NONE;
}

/* What the frame's compiles had for the same thing goes up by at most one each time. */
static bool is_counter(const struct stet_torch *t, uint32_t compile,
                       const struct stet_torch_why *why)
{
    double before = 0, now;
    struct stet_view v;
    size_t n = 0;

    for (uint32_t at = 0; stet_torch_next_value(t, compile, why, 16, &at, &v); n++) {
        if (!is_number(v, &now) || (n && !(now > before && now - before <= 1.0)))
            return false;
        before = now;
    }
    return n >= 2;
}

static bool same_value(struct stet_view a, struct stet_view b)
{
    double x, y;

    return stet_view_eq(a, b) || (is_number(a, &x) && is_number(b, &y) && x == y);
}

/* How many entries a frame is searched for. */
enum { ENTRIES = 1000 };

static bool some_entry_had(const struct stet_torch *t, uint32_t compile,
                           const struct stet_torch_why *why, struct stet_view value)
{
    struct stet_view v;

    for (uint32_t at = 0; stet_torch_next_value(t, compile, why, ENTRIES, &at, &v);)
        if (same_value(v, value))
            return true;
    return false;
}

/* A plain name may be a parameter, a default or a variable of an enclosing function: the guard
 * writes all three alike, and only the source shows which it is. */
static enum stet_cause cause_of_name(const struct stet_torch *t, uint32_t compile,
                                     const struct stet_torch_why *why)
{
    const struct stet_torch_frame *f = &t->frames[t->compiles[compile].frame];
    struct stet_view value = {0};
    enum stet_python_name_role role =
        t->sources ? stet_python_name_role(t->sources, f->code.file, (uint32_t)f->code.line,
                                           why->what, &value)
                   : PY_NAME_UNKNOWN;
    enum stet_cause cause = STET_CAUSE_BAKED_CONSTANT;

    if (role == PY_NAME_FREE)
        cause = STET_CAUSE_CLOSURE_VALUE;
    /* Some entry had the default: the default, or a missing argument, is what changed. */
    else if (role == PY_NAME_DEFAULT && some_entry_had(t, compile, why, value))
        cause = STET_CAUSE_DEFAULT_ARGUMENT;
    return cause;
}

static enum stet_cause cause_of_value(const struct stet_torch *t, uint32_t compile,
                                      struct stet_torch_why *why)
{
    struct stet_view value = why->guard.expected, source = why->what;
    unsigned uses;
    double n;

    if (stet_view_contains(source, "param_groups") ||
        stet_view_contains(why->origin.file, "/torch/optim/") ||
        stet_view_contains(why->guard.place, "optim/"))
        return STET_CAUSE_OPTIMIZER_SCALAR;
    if (stet_view_ends(source, ".training"))
        return STET_CAUSE_HIDDEN_BRANCH;
    if (is_bool(value))
        return STET_CAUSE_HIDDEN_BRANCH;
    uses = uses_of(t, why);
    if (uses & PY_USED_COUNT)
        return STET_CAUSE_PYTHON_LOOP;
    if (uses & PY_USED_TOPK)
        return STET_CAUSE_TOPK_K;
    if (uses & PY_USED_PARTS)
        return STET_CAUSE_VARLEN;
    if (!is_number(value, &n))
        return stet_view_starts(source, "G[") ? STET_CAUSE_GLOBAL_VALUE
                                              : STET_CAUSE_STATIC_ARGUMENT;
    if (stet_view_starts(source, "G[") && !memchr(source.ptr, '.', source.len))
        return STET_CAUSE_GLOBAL_VALUE;
    if (stet_view_contains(source, "__defaults__") || stet_view_contains(source, "__kwdefaults__"))
        return STET_CAUSE_DEFAULT_ARGUMENT;
    if (stet_view_contains(source, "__closure__") || stet_view_contains(source, "cell_contents"))
        return STET_CAUSE_CLOSURE_VALUE;
    if (memchr(source.ptr, '.', source.len))
        return is_integer(value) && is_counter(t, compile, why) ? STET_CAUSE_PYTHON_COUNTER
                                                                : STET_CAUSE_BAKED_CONSTANT;
    if (memchr(source.ptr, '[', source.len))
        return STET_CAUSE_BAKED_CONSTANT;
    return cause_of_name(t, compile, why);
}

/* How many size changes of the same dimension the frame has had, up to this compile. */
static size_t size_changes(const struct stet_torch *t, uint32_t compile,
                           const struct stet_torch_why *why)
{
    struct stet_view v;
    size_t n = 0;

    for (uint32_t at = 0; stet_torch_next_value(t, compile, why, ENTRIES, &at, &v);)
        n++;
    return n ? n - 1 : 0;
}

static enum stet_cause cause_of_size(const struct stet_torch *t, uint32_t compile,
                                     struct stet_torch_why *why)
{
    double from, to;

    if (stet_view_contains(why->guard.expr, "duck") ||
        stet_view_contains(why->guard.place, "duck sizing"))
        return STET_CAUSE_SHAPE_DRIFT;
    if (why->guard.kind == STET_GUARD_SHAPE && !why->to.len &&
        stet_view_starts(why->guard.expr, "2 <= ") &&
        !stet_view_contains(stet_view_of(why->guard.expr.ptr + 5, why->guard.expr.len - 5), " <= "))
        return STET_CAUSE_ZERO_ONE_SPECIALISATION;
    if (is_number(why->to, &to) && (to == 0 || to == 1))
        return STET_CAUSE_ZERO_ONE_SPECIALISATION;
    if (is_number(why->from, &from) && (from == 0 || from == 1))
        return STET_CAUSE_ZERO_ONE_SPECIALISATION;
    if (why->guard.kind == STET_GUARD_SIZE && why->dim == 0 && is_number(why->from, &from) &&
        is_number(why->to, &to) && to < from && size_changes(t, compile, why) == 1)
        return STET_CAUSE_LAST_BATCH;
    return STET_CAUSE_SHAPE_DRIFT;
}

static enum stet_cause cause_of_length(const struct stet_torch *t, struct stet_torch_why *why)
{
    unsigned uses = uses_of(t, why);

    if (uses & PY_USED_PARTS)
        return STET_CAUSE_VARLEN;
    if (uses & PY_USED_MEMBER)
        return STET_CAUSE_OPTIONAL_KEY;
    return STET_CAUSE_LIST_LENGTH;
}

static enum stet_cause cause_of_guard(const struct stet_torch *t, uint32_t compile,
                                      struct stet_torch_why *why)
{
    if (why->broken != STET_TORCH_NONE && stet_view_starts(why->what, "___stack"))
        return cause_of_break(t, &t->breaks[why->broken]);
    switch (why->guard.kind) {
    case STET_GUARD_SIZE:
    case STET_GUARD_SHAPE:
        return cause_of_size(t, compile, why);
    case STET_GUARD_STRIDE:
        return STET_CAUSE_STRIDE_CHANGE;
    case STET_GUARD_RANK:
        return STET_CAUSE_RANK_CHANGE;
    case STET_GUARD_DTYPE:
        return STET_CAUSE_DTYPE_CHANGE;
    case STET_GUARD_REQUIRES_GRAD:
        return STET_CAUSE_REQUIRES_GRAD;
    case STET_GUARD_STATE:
        return stet_view_contains(why->guard.source, "grad_mode") ? STET_CAUSE_GRAD_MODE
                                                                  : STET_CAUSE_GLOBAL_VALUE;
    case STET_GUARD_DISPATCH:
        return stet_view_contains(why->guard.expr, "Autograd") ||
                       stet_view_contains(why->guard.expr, "ADInplaceOrView")
                   ? STET_CAUSE_GRAD_MODE
                   : STET_CAUSE_STATIC_ARGUMENT;
    case STET_GUARD_TYPE:
        return stet_view_contains(why->guard.expr, "Parameter") ? STET_CAUSE_REQUIRES_GRAD
                                                                : STET_CAUSE_STATIC_ARGUMENT;
    case STET_GUARD_IDENTITY:
        return STET_CAUSE_STATIC_ARGUMENT;
    case STET_GUARD_KEY:
    case STET_GUARD_NONE:
        return STET_CAUSE_OPTIONAL_KEY;
    case STET_GUARD_LENGTH:
        return cause_of_length(t, why);
    case STET_GUARD_EQUALS:
        return cause_of_value(t, compile, why);
    case STET_GUARD_MARKING:
        return STET_CAUSE_MARK_DYNAMIC_VIOLATION;
    case STET_GUARD_ALIAS:
        return STET_CAUSE_GRAPH_CHANGE;
    default:
        return STET_CAUSE_UNKNOWN;
    }
}

/* The source in the form of the environment variable is what Dynamo itself noted, once per
 * frame. */
static void find_source(const struct stet_torch *t, uint32_t compile, struct stet_torch_why *why)
{
    uint32_t c = t->frames[t->compiles[compile].frame].first;

    for (; c != STET_TORCH_NONE; c = t->compiles[c].next) {
        for (uint32_t i = t->compiles[c].drifts; i != STET_TORCH_NONE; i = t->drifts[i].next) {
            const struct stet_torch_drift *d = &t->drifts[i];

            if (!stet_ingest_guard_same_source(d->source, why->what))
                continue;
            why->source = d->source;
            if (c != compile || (why->dim >= 0 && d->dim >= 0 && d->dim != why->dim))
                continue;
            if (!why->from.len)
                why->from = d->from;
            if (!why->to.len)
                why->to = d->to;
        }
    }
}

/* A code object begins at its decorators. */
static uint64_t def_line(const struct stet_torch *t, const struct stet_torch_place *code)
{
    return t->sources ? stet_python_def_line(t->sources, code->file, (uint32_t)code->line)
                      : code->line;
}

static void find_origin(const struct stet_torch *t, uint32_t compile, struct stet_torch_why *why)
{
    const struct stet_torch_frame *f = &t->frames[t->compiles[compile].frame];
    struct stet_view file, function;
    uint64_t line;

    why->code = why->guard.code;
    if (why->broken != STET_TORCH_NONE && stet_view_starts(why->what, "___stack")) {
        why->origin = t->breaks[why->broken].place; /* where the value came from */
        why->code = t->breaks[why->broken].code;
    } else if (why->guard.line) {
        why->origin =
            (struct stet_torch_place){why->guard.file, why->guard.function, why->guard.line};
    } else if (stet_ingest_guard_place(why->guard.place, &file, &line, &function) && file.len &&
               f->code.file.len >= file.len &&
               !memcmp(f->code.file.ptr + (f->code.file.len - file.len), file.ptr, file.len)) {
        why->origin = (struct stet_torch_place){f->code.file, function, line};
    } else {
        why->origin = f->code; /* sizes and dictionaries carry no line: the function */
        why->origin.line = def_line(t, &f->code);
    }
}

static void judge(const struct stet_torch *t, uint32_t compile, uint32_t failure,
                  struct stet_torch_why *why)
{
    stet_ingest_guard_parse(&why->guard, t->failures[failure].text);
    why->has_guard = true;
    why->what = why->guard.source;
    why->dim = why->guard.dim;
    why->from = why->guard.kind == STET_GUARD_SHAPE ? (struct stet_view){0} : why->guard.expected;
    why->to = why->guard.actual;
    why->broken = break_before(t, &t->frames[t->compiles[compile].frame]);
    find_source(t, compile, why);
    find_origin(t, compile, why);
    why->cause = cause_of_guard(t, compile, why);
}

static enum stet_torch_knob knob_of(const struct stet_torch *t, const struct stet_torch_why *why)
{
    if (why->broken != STET_TORCH_NONE && stet_view_starts(why->what, "___stack"))
        return knob_of_break(&t->breaks[why->broken]);
    if (why->cause == STET_CAUSE_ZERO_ONE_SPECIALISATION)
        return why->source.len || why->guard.kind == STET_GUARD_SHAPE ||
                       why->guard.kind == STET_GUARD_SIZE
                   ? STET_KNOB_UNBACKED
                   : STET_KNOB_NONE;
    if (!why->source.len)
        return STET_KNOB_NONE;
    if (why->guard.kind == STET_GUARD_SIZE || why->guard.kind == STET_GUARD_SHAPE)
        return STET_KNOB_DYNAMIC;
    if (why->guard.kind != STET_GUARD_EQUALS)
        return STET_KNOB_NONE;
    return is_integer(why->guard.expected) ? STET_KNOB_DYNAMIC : STET_KNOB_PGO;
}

/* The guard of a failure alone, without what it shows. */
static void read_guard(const struct stet_torch *t, uint32_t failure, struct stet_torch_why *why)
{
    *why = (struct stet_torch_why){.has_guard = true, .broken = STET_TORCH_NONE};
    stet_ingest_guard_parse(&why->guard, t->failures[failure].text);
    why->what = why->guard.source;
    why->dim = why->guard.dim;
}

static bool is_of_state(const struct stet_torch *t, uint32_t failure)
{
    struct stet_torch_why why;

    read_guard(t, failure, &why);
    return why.guard.kind == STET_GUARD_STATE;
}

/* Was some entry of the frame compiled for the value that came? requires_grad has only two values:
 * an entry that was not compiled for the value that failed was compiled for the one that came. */
static bool is_served(const struct stet_torch *t, uint32_t compile, uint32_t failure)
{
    enum { NEAREST = 16 };
    bool is_either;
    struct stet_torch_why why;
    struct stet_view came, v;

    read_guard(t, failure, &why);
    came = why.guard.actual;
    is_either = why.guard.kind == STET_GUARD_REQUIRES_GRAD && !came.len;
    if (!came.len && !is_either &&
        !stet_torch_value(t, compile, t->compiles[compile].number, &why, &came))
        return false;
    for (uint32_t at = 0; stet_torch_next_value(t, compile, &why, NEAREST, &at, &v);) {
        if (at > t->compiles[compile].number) /* its own value */
            break;
        if (is_either ? !stet_view_eq(v, why.guard.expected) : same_value(v, came))
            return true;
    }
    return false;
}

/* Returns the entry that should have served: the newest one, listed first. torch checks the global
 * state before all else, so an entry that failed there was made for another mode, and one that got
 * further for this one. An entry that failed on a value which another entry was compiled for was
 * made for another call: the loop alternates between them. */
static uint32_t nearest_entry(const struct stet_torch *t, uint32_t compile)
{
    uint32_t first = t->compiles[compile].failures, mode = STET_TORCH_NONE;

    for (uint32_t i = first; i != STET_TORCH_NONE; i = t->failures[i].next) {
        if (is_of_state(t, i))
            continue;
        if (!is_served(t, compile, i))
            return i;
        mode = mode == STET_TORCH_NONE ? i : mode;
    }
    return mode == STET_TORCH_NONE ? first : mode;
}

/* One compile has as many failures as there are entries. Others than the nearest may show what it
 * cannot: the actual size for "2 <= size". */
void stet_torch_explain(const struct stet_torch *t, uint32_t compile, struct stet_torch_why *why)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    const struct stet_torch_frame *f = &t->frames[c->frame];
    uint32_t nearest;

    *why =
        (struct stet_torch_why){.cause = STET_CAUSE_UNKNOWN, .dim = -1, .broken = STET_TORCH_NONE};
    why->origin = f->code;
    if (c->failures == STET_TORCH_NONE) {
        if (f->first == compile)
            why->cause = stet_view_is(c->fail_type, "ConstraintViolationError")
                             ? STET_CAUSE_MARK_DYNAMIC_VIOLATION
                             : STET_CAUSE_FIRST;
        why->origin.line = def_line(t, &f->code);
        return;
    }
    nearest = nearest_entry(t, compile);
    judge(t, compile, nearest, why);
    for (uint32_t i = c->failures; i != STET_TORCH_NONE; i = t->failures[i].next) {
        struct stet_torch_why other = {.dim = -1};
        bool known = false;

        if (i == nearest)
            continue;
        if (why->guard.kind != STET_GUARD_STATE && is_of_state(t, i))
            continue;
        judge(t, compile, i, &other);
        if (!why->to.len && why->guard.kind == STET_GUARD_SHAPE &&
            stet_view_eq(other.what, why->what) && other.dim == why->dim && other.to.len) {
            why->to = other.to;
            why->cause = cause_of_guard(t, compile, why);
        }
        for (size_t k = 0; k < why->also_count; k++)
            known = known || why->also[k] == other.cause;
        if (other.cause != why->cause && !known && why->also_count < STET_WHY_ALSO &&
            !stet_view_eq(other.what, why->what))
            why->also[why->also_count++] = other.cause;
    }
    if (!why->to.len && why->guard.kind != STET_GUARD_SHAPE)
        stet_torch_value(t, compile, c->number, why, &why->to);
    if (c->limit) {
        if (why->also_count == STET_WHY_ALSO)
            why->also_count--;
        memmove(why->also + 1, why->also, why->also_count * sizeof *why->also);
        why->also[0] = why->cause;
        why->also_count++;
        why->cause = STET_CAUSE_RECOMPILE_LIMIT;
    }
    if (stet_view_is(c->fail_type, "ConstraintViolationError"))
        why->cause = STET_CAUSE_MARK_DYNAMIC_VIOLATION;
    why->knob = knob_of(t, why);
}

void stet_torch_explain_break(const struct stet_torch *t, uint32_t at, struct stet_torch_why *why)
{
    const struct stet_torch_break *b = &t->breaks[at];

    *why = (struct stet_torch_why){.cause = cause_of_break(t, b),
                                   .dim = -1,
                                   .broken = at,
                                   .origin = b->place,
                                   .code = b->code,
                                   .knob = knob_of_break(b)};
}
