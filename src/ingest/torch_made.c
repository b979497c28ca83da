/* Finds the line that made a guarded value differ: from what the guard names, through the call, to
 * the line that decided it. */
#include "ingest/why.h"

#include "base/buf.h"
#include "base/hash.h"
#include "ingest/guard_text.h"
#include "python/queries.h"

#include <stdlib.h>

/* ---- what a guard names ---- */

/* Modules keep their parts in dictionaries: net._modules['head']._parameters['weight'] is
 * net.head.weight. Writes the path as the source has it; *global: it begins with a variable of the
 * module. */
static void write_path(struct stet_view text, struct stet_buf *out, bool *global)
{
    static const char *const holders[] = {"._modules['", "._parameters['", "._buffers['"};

    *global = stet_view_starts(text, "G['");
    for (size_t at = 0; at < text.len;) {
        struct stet_view rest = stet_view_of(text.ptr + at, text.len - at);
        const char *end = NULL;
        size_t skip = 0;

        if (!at && (*global || stet_view_starts(text, "L['")))
            skip = 3;
        for (size_t i = 0; i < sizeof holders / sizeof *holders && !skip; i++)
            if (stet_view_starts(rest, holders[i])) {
                skip = strlen(holders[i]);
                stet_buf_str(out, ".");
            }
        if (skip)
            end = memchr(rest.ptr + skip, '\'', rest.len - skip);
        if (end) {
            stet_buf_view(out, stet_view_of(rest.ptr + skip, (size_t)(end - rest.ptr) - skip));
            at += (size_t)(end - rest.ptr) + 2;
        } else {
            stet_buf_char(out, *rest.ptr);
            at++;
        }
    }
}

static enum stet_python_aspect aspect_of(const struct stet_torch_why *why)
{
    switch (why->guard.kind) {
    case STET_GUARD_SIZE:
    case STET_GUARD_SHAPE:
    case STET_GUARD_LENGTH:
        return PY_OF_SIZE;
    case STET_GUARD_STRIDE:
    case STET_GUARD_DEVICE:
        return PY_OF_PLACE;
    case STET_GUARD_RANK:
        return PY_OF_RANK;
    case STET_GUARD_DTYPE:
        return PY_OF_TYPE;
    case STET_GUARD_REQUIRES_GRAD:
        return PY_OF_GRADIENT;
    default:
        return why->cause == STET_CAUSE_REQUIRES_GRAD ? PY_OF_GRADIENT : PY_OF_VALUE;
    }
}

static bool number_of(struct stet_view text, double *out)
{
    char room[64], *end;

    if (!text.len || text.len >= sizeof room)
        return false;
    *out = stet_view_is(text, "True");
    if (*out != 0 || stet_view_is(text, "False"))
        return true;
    memcpy(room, text.ptr, text.len);
    room[text.len] = '\0';
    *out = strtod(room, &end);
    return *end == '\0';
}

/* ---- the call ---- */

enum { CALLS_MOST = 64 };

static uint32_t calls_of(const struct stet_torch *t, const struct stet_torch_compile *c,
                         struct stet_python_watched *out)
{
    const struct stet_torch_place *code = &t->frames[c->frame].code;

    return stet_python_call_lines(t->sources, code->file, (uint32_t)code->line,
                                  c->call.line ? c->call.file : c->near.file, out, CALLS_MOST);
}

/* Was an earlier entry of the frame compiled for a call from another line? Where torch leaves the
 * earlier call out, two lines that call the function are enough. */
static bool called_elsewhere(const struct stet_torch *t, uint32_t compile)
{
    const struct stet_torch_compile *c = &t->compiles[compile], *e;
    struct stet_python_watched calls[CALLS_MOST];
    bool left_out = false;
    uint32_t count;

    for (uint32_t i = t->frames[c->frame].first; i != STET_TORCH_NONE && i != compile;
         i = e->next) {
        e = &t->compiles[i];
        if (e->call.line &&
            (e->call.line != c->call.line || !stet_view_eq(e->call.file, c->call.file)))
            return true;
        left_out |= !e->call.line;
    }
    count = left_out && c->call.line ? calls_of(t, c, calls) : 0;
    for (uint32_t i = 1; i < count; i++)
        if (calls[i].line != calls[0].line || !stet_view_eq(calls[i].file, calls[0].file))
            return true;
    return false;
}

/* The lines that waited for the frame; where torch leaves the call out, the only call there is. */
static void fill_stack(const struct stet_torch *t, uint32_t compile,
                       const struct stet_python_followed *what, struct stet_python_stack *out)
{
    const struct stet_torch_compile *c = &t->compiles[compile];

    *out = (struct stet_python_stack){.waits = 0};
    if (!c->call.line && !what->resumed &&
        stet_python_only_call(t->sources, what->file, what->line, c->near.file,
                              (uint32_t)c->near.line, &out->frames[0]))
        out->waits++;
    if (!c->call.line && !out->waits && !what->resumed)
        return;
    for (uint32_t i = 0; i < c->wait_count; i++) {
        out->frames[out->waits].file = c->waits[i].file;
        out->frames[out->waits++].line = (uint32_t)c->waits[i].line;
    }
    out->count = out->waits;
}

/* The only line that sets the mode around any call of the function: it is not known which of them
 * were made. */
static struct stet_python_made any_gradient_mode(const struct stet_torch *t, uint32_t compile)
{
    struct stet_python_watched calls[CALLS_MOST];
    uint32_t count = calls_of(t, &t->compiles[compile], calls);
    struct stet_python_made made = {.line = 0};

    for (uint32_t i = 0; i < count; i++) {
        struct stet_python_stack stack = {.waits = 1, .count = 1};
        struct stet_python_made one;

        stack.frames[0] = calls[i];
        one = stet_python_gradient_mode(t->sources, &stack);
        if (one.line && made.line && (one.line != made.line || !stet_view_eq(one.file, made.file)))
            return (struct stet_python_made){.line = 0};
        if (one.line)
            made = one;
    }
    made.sure = false;
    return made;
}

/* This call has gradients as usual: an earlier one had not. */
static struct stet_python_made gradient_mode(const struct stet_torch *t, uint32_t compile,
                                             const struct stet_python_followed *what)
{
    struct stet_python_stack stack;
    struct stet_python_made made;
    uint32_t i = t->frames[t->compiles[compile].frame].first;
    bool left_out = !t->compiles[compile].call.line;

    fill_stack(t, compile, what, &stack);
    made = stet_python_gradient_mode(t->sources, &stack);
    for (; !made.line && i != STET_TORCH_NONE && i != compile; i = t->compiles[i].next) {
        fill_stack(t, i, what, &stack);
        made = stet_python_gradient_mode(t->sources, &stack);
        left_out |= !t->compiles[i].call.line;
    }
    return !made.line && left_out && !what->resumed ? any_gradient_mode(t, compile) : made;
}

/* ---- values ---- */

/* "rate" of "schedule.rate"; empty when the path does not end in an attribute. */
static struct stet_view attribute_of(struct stet_view path)
{
    const char *dot = path.len ? memrchr(path.ptr, '.', path.len) : NULL;
    struct stet_view last =
        dot ? stet_view_of(dot + 1, (size_t)(path.ptr + path.len - dot) - 1) : STET_VIEW("");

    return last.len && !memchr(last.ptr, '[', last.len) ? last : STET_VIEW("");
}

static struct stet_python_made of_variable(const struct stet_torch *t, uint32_t compile,
                                           const struct stet_torch_why *why,
                                           struct stet_python_followed what)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_view text = why->guard.holder.len ? why->guard.holder : why->what, value;
    struct stet_buf path = STET_BUF_INIT;
    struct stet_python_stack stack;
    struct stet_python_made made = {.line = 0};
    enum stet_python_name_role role;
    bool global;

    if (!text.len || stet_view_contains(text, "__defaults__") ||
        stet_view_contains(text, "__closure__"))
        return made;
    write_path(text, &path, &global);
    fill_stack(t, compile, &what, &stack);
    what.path = stet_buf_as_view(&path);
    what.aspect = aspect_of(why);
    what.numbers = number_of(why->from, &what.from) && number_of(why->to, &what.to);
    role =
        stet_python_name_role(t->sources, what.file, what.line, stet_view_word(what.path), &value);
    what.held =
        global || (role == PY_NAME_FREE && !what.resumed) ? PY_HELD_CLOSURE : PY_HELD_ARGUMENT;
    if (what.held == PY_HELD_CLOSURE || c->passes || !c->call.line || what.resumed)
        made = stet_python_follow(t->sources, &stack, &what);
    if (!made.sure && what.aspect == PY_OF_GRADIENT) {
        struct stet_python_made asks = stet_python_asks_gradient(t->sources, &stack, &what);

        made = asks.line ? asks : made; /* rather than the line that makes the parameter */
    } else if (!made.line && attribute_of(what.path).len) {
        what.path = attribute_of(what.path);
        what.held = PY_HELD_FIELD;
        made = stet_python_follow(t->sources, &stack, &what);
    }
    stet_buf_release(&path);
    return made;
}

static struct stet_python_made find(const struct stet_torch *t, uint32_t compile,
                                    const struct stet_torch_why *why,
                                    const struct stet_python_followed *what)
{
    struct stet_python_stack stack;

    if (why->cause == STET_CAUSE_GRAD_MODE || stet_view_contains(why->guard.source, "grad_mode"))
        return gradient_mode(t, compile, what);
    if (why->guard.kind == STET_GUARD_MARKING) {
        fill_stack(t, compile, what, &stack);
        return stet_python_marks_dynamic(t->sources, &stack);
    }
    if (why->guard.kind == STET_GUARD_STATE)
        return (struct stet_python_made){.line = 0};
    if (stet_view_ends(why->what, ".training")) {
        fill_stack(t, compile, what, &stack);
        return stet_python_training(t->sources, &stack, why->to);
    }
    return of_variable(t, compile, why, *what);
}

/* The same question has the same answer: a loop compiles for one reason many times. */
static uint64_t key_of(const struct stet_torch *t, uint32_t compile,
                       const struct stet_torch_why *why, const struct stet_python_followed *f)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_hash h = stet_hash_mix_u64(stet_hash_bytes(f->file), f->line);

    for (uint32_t i = 0; i < c->wait_count; i++)
        h = stet_hash_mix_u64(stet_hash_mix(h, stet_hash_bytes(c->waits[i].file)),
                              c->waits[i].line);
    h = stet_hash_mix(h, stet_hash_mix(stet_hash_bytes(why->what), stet_hash_bytes(why->to)));
    h = stet_hash_mix(h, stet_hash_bytes(why->guard.holder));
    return stet_hash_mix_u64(h, (uint64_t)why->guard.kind << 34 | (uint64_t)c->passes << 33 |
                                    (uint64_t)f->elsewhere << 32 | (uint64_t)why->cause)
        .lo;
}

/* Does a value that is no number take three or more values? It is chosen among a list of them, and
 * the function that has a program for each may be what to edit. */
static bool is_one_of_many(const struct stet_torch *t, uint32_t compile,
                           const struct stet_torch_why *why)
{
    enum { MANY = 3, MOST = 64 };
    uint32_t last = t->frames[t->compiles[compile].frame].last, n = 0;
    struct stet_view v;
    double number;

    if (why->guard.kind != STET_GUARD_EQUALS || number_of(why->guard.expected, &number))
        return false;
    for (uint32_t at = 0; n < MANY && stet_torch_next_value(t, last, why, MOST, &at, &v);)
        n++;
    return n >= MANY;
}

/* A library's schedule changes the rate: the line that makes the optimizer, in a file that waits.
 */
static struct stet_python_made optimizer_of(const struct stet_torch *t, uint32_t compile)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_python_made made = stet_python_makes_optimizer(t->sources);

    made.sure = false;
    for (uint32_t i = 0; made.line && i < c->wait_count; i++)
        if (stet_view_eq(c->waits[i].file, made.file))
            return made;
    return (struct stet_python_made){.line = 0};
}

struct stet_torch_place stet_torch_made(const struct stet_torch *t, uint32_t compile,
                                        const struct stet_torch_why *why, bool *sure)
{
    const struct stet_torch_frame *frame = &t->frames[t->compiles[compile].frame];
    struct stet_python_followed f = {
        .file = frame->code.file,
        .line = (uint32_t)frame->code.line,
        .resumed = stet_view_starts(frame->code.function, "torch_dynamo_resume_in_")};
    struct stet_python_made made = {.line = 0};
    uint64_t key;
    uint32_t at;

    *sure = false;
    if (!t->sources || !why->has_guard || stet_view_starts(why->what, "___stack"))
        return (struct stet_torch_place){{"", 0}, {"", 0}, 0};
    f.elsewhere = !f.resumed && called_elsewhere(t, compile);
    key = key_of(t, compile, why, &f);
    at = stet_map_get(&t->sources->made_answers, key);
    if (at != STET_MAP_NONE) {
        made = t->sources->made.items[at];
    } else {
        made = find(t, compile, why, &f);
        if (made.line && stet_ingest_guard_is_library(made.file))
            made = (struct stet_python_made){.line = 0}; /* no line to edit */
        if (!made.line && why->cause == STET_CAUSE_OPTIMIZER_SCALAR)
            made = optimizer_of(t, compile);
        STET_VEC_PUSH(&t->sources->made, made);
        if (!t->sources->made.failed)
            stet_map_put(&t->sources->made_answers, key, (uint32_t)t->sources->made.count - 1);
    }
    /* What is computed from an array has a layout that follows from its own. */
    *sure = made.sure && aspect_of(why) != PY_OF_PLACE && !is_one_of_many(t, compile, why);
    return made.line ? (struct stet_torch_place){made.file, made.function, made.line}
                     : (struct stet_torch_place){{"", 0}, {"", 0}, 0};
}

struct stet_view stet_torch_function(struct stet_view name)
{
    static const char before[] = "torch_dynamo_resume_in_";
    size_t n = sizeof before - 1, end = name.len;

    if (!stet_view_starts(name, before))
        return name;
    while (end > n && name.ptr[end - 1] >= '0' && name.ptr[end - 1] <= '9')
        end--;
    return end > n + 4 && !memcmp(name.ptr + end - 4, "_at_", 4)
               ? stet_view_of(name.ptr + n, end - 4 - n)
               : name;
}
