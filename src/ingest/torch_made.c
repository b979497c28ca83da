/* Finds the line that made a guarded value differ: from what the guard names, and the call. */
#include "ingest/why.h"

#include "base/hash.h"
#include "python/queries.h"

static struct stet_view rest_from(struct stet_view v, size_t at)
{
    return stet_view_of(v.ptr + at, v.len - at);
}

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (unsigned char)c >= 0x80;
}

/* The variable that a guard's text begins with, and what follows it: `cfg` and ".rate" of cfg.rate
 * and of L['cfg'].rate. */
static struct stet_view root_of(struct stet_view text, struct stet_view *rest)
{
    size_t n = 0;

    if (text.len > 5 && (stet_view_starts(text, "L['") || stet_view_starts(text, "G['"))) {
        const char *quote = memchr(text.ptr + 3, '\'', text.len - 3);
        size_t end = quote ? (size_t)(quote - text.ptr) : text.len;

        *rest = end + 2 <= text.len ? rest_from(text, end + 2) : stet_view_of("", 0);
        return stet_view_of(text.ptr + 3, end - 3);
    }
    while (n < text.len && is_word(text.ptr[n]))
        n++;
    *rest = rest_from(text, n);
    return stet_view_of(text.ptr, n);
}

/* "rate" of ".schedule.rate"; empty when the text does not end in an attribute. */
static struct stet_view attribute_of(struct stet_view rest)
{
    size_t n = rest.len;

    while (n && is_word(rest.ptr[n - 1]))
        n--;
    return n && n < rest.len && rest.ptr[n - 1] == '.' ? rest_from(rest, n) : stet_view_of("", 0);
}

static enum stet_python_differs differs(const struct stet_torch_why *why)
{
    switch (why->guard.kind) {
    case STET_GUARD_SIZE:
    case STET_GUARD_SHAPE:
    case STET_GUARD_STRIDE:
    case STET_GUARD_RANK:
    case STET_GUARD_DTYPE:
    case STET_GUARD_DEVICE:
        return PY_DIFFERS_FORM;
    case STET_GUARD_REQUIRES_GRAD:
        return PY_DIFFERS_GRADIENT;
    default:
        return PY_DIFFERS_VALUE;
    }
}

/* Was an earlier entry of the frame compiled for a call from another line? */
static bool called_elsewhere(const struct stet_torch *t, uint32_t compile)
{
    const struct stet_torch_compile *c = &t->compiles[compile];

    for (uint32_t i = t->frames[c->frame].first; i != STET_TORCH_NONE && i != compile;
         i = t->compiles[i].next)
        if (t->compiles[i].call.line && (t->compiles[i].call.line != c->call.line ||
                                         !stet_view_eq(t->compiles[i].call.file, c->call.file)))
            return true;
    return false;
}

static struct stet_python_made gradient_mode(const struct stet_torch *t, uint32_t compile,
                                             struct stet_python_compiled *f)
{
    struct stet_python_made made = stet_python_made_gradient_mode(t->sources, f);
    uint32_t i = t->frames[t->compiles[compile].frame].first;

    /* this call has gradients as usual: an earlier one had not */
    for (; !made.line && i != STET_TORCH_NONE && i != compile; i = t->compiles[i].next) {
        f->call_file = t->compiles[i].call.file;
        f->call_line = (uint32_t)t->compiles[i].call.line;
        made = stet_python_made_gradient_mode(t->sources, f);
    }
    return made;
}

static struct stet_python_made of_variable(const struct stet_torch *t, uint32_t compile,
                                           const struct stet_torch_why *why,
                                           const struct stet_python_compiled *f)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_python_made made = {.line = 0};
    struct stet_view what = why->guard.holder.len ? why->guard.holder : why->what;
    struct stet_view rest, value, root = root_of(what, &rest), attribute = attribute_of(rest);
    enum stet_python_name_role role;

    if (stet_view_starts(what, "G['"))
        return attribute.len
                   ? stet_python_made_attribute(t->sources, f, stet_view_of("", 0), attribute)
                   : stet_python_made_global(t->sources, f, root);
    if (!root.len || stet_view_contains(what, "__defaults__") ||
        stet_view_contains(what, "__closure__"))
        return made;
    role = stet_python_name_role(t->sources, f->file, f->line, root, &value);
    if (role == PY_NAME_FREE && !attribute.len)
        return stet_python_made_free(t->sources, f, root);
    if (attribute.len)
        made = stet_python_made_attribute(
            t->sources, f, rest.len == attribute.len + 1 ? root : stet_view_of("", 0), attribute);
    if (!made.line && (c->passes || !f->call_line) && role != PY_NAME_FREE)
        made = stet_python_made_argument(t->sources, f, root, differs(why));
    return made;
}

static struct stet_python_made find(const struct stet_torch *t, uint32_t compile,
                                    const struct stet_torch_why *why,
                                    struct stet_python_compiled *f)
{
    if (why->cause == STET_CAUSE_GRAD_MODE || stet_view_contains(why->guard.source, "grad_mode"))
        return gradient_mode(t, compile, f);
    if (why->guard.kind == STET_GUARD_STATE)
        return (struct stet_python_made){.line = 0};
    if (stet_view_ends(why->what, ".training"))
        return stet_python_made_training(t->sources, f, why->to);
    return of_variable(t, compile, why, f);
}

/* The same question has the same answer: a loop compiles for one reason many times. */
static uint64_t key_of(const struct stet_torch *t, uint32_t compile,
                       const struct stet_torch_why *why, const struct stet_python_compiled *f)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_hash h = stet_hash_mix(stet_hash_bytes(f->file), stet_hash_bytes(f->call_file));

    h = stet_hash_mix_u64(stet_hash_mix_u64(h, f->line), f->call_line);
    h = stet_hash_mix(h, stet_hash_mix(stet_hash_bytes(why->what), stet_hash_bytes(why->to)));
    h = stet_hash_mix(h, stet_hash_bytes(why->guard.holder));
    return stet_hash_mix_u64(h, (uint64_t)why->guard.kind << 34 | (uint64_t)c->passes << 33 |
                                    (uint64_t)f->elsewhere << 32 | (uint64_t)why->cause)
        .lo;
}

struct stet_torch_place stet_torch_made(const struct stet_torch *t, uint32_t compile,
                                        const struct stet_torch_why *why)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    const struct stet_torch_frame *frame = &t->frames[c->frame];
    struct stet_python_compiled f = {.file = frame->code.file,
                                     .line = (uint32_t)frame->code.line,
                                     .call_file = c->call.line ? c->call.file : c->near.file,
                                     .call_line = (uint32_t)c->call.line,
                                     .elsewhere = called_elsewhere(t, compile)};
    struct stet_python_made made = {.line = 0};
    uint64_t key;
    uint32_t at;

    if (stet_view_starts(frame->code.function, "torch_dynamo_resume_in_")) {
        f.resumed = true; /* what called it is the function itself */
        f.call_line = 0;
        f.elsewhere = false;
    }
    if (!t->sources || !why->has_guard || stet_view_starts(why->what, "___stack"))
        return (struct stet_torch_place){{"", 0}, {"", 0}, 0};
    key = key_of(t, compile, why, &f);
    at = stet_map_get(&t->sources->made_answers, key);
    if (at != STET_MAP_NONE) {
        made = t->sources->made.items[at];
    } else {
        made = find(t, compile, why, &f);
        STET_VEC_PUSH(&t->sources->made, made);
        if (!t->sources->made.failed)
            stet_map_put(&t->sources->made_answers, key, (uint32_t)t->sources->made.count - 1);
    }
    return made.line ? (struct stet_torch_place){made.file, made.function, made.line}
                     : (struct stet_torch_place){{"", 0}, {"", 0}, 0};
}
