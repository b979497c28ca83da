/* Computes the traits of a program in one walk. */
#include "fingerprint/traits.h"

#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_LINES = 1 << 16 };

/* Caches the meaning of a name or a location by address: within one program equal ones share it. */
struct name_memo {
    const char *name;
    uint32_t bucket, mark;
    bool silent;
};

struct line_memo {
    const struct stet_loc *loc;
    struct stet_place place;
    uint64_t line;
};

enum { NAME_SLOTS = 256, LINE_SLOTS = 256 };

struct gather {
    struct stet_traits *t;
    struct name_memo names[NAME_SLOTS];
    struct line_memo places[LINE_SLOTS];
    STET_VEC(uint64_t) lines;
    uint64_t last;
    struct stet_place only;
    bool many;
    const struct stet_loc *deepest;
};

uint64_t stet_place_hash(struct stet_view file, uint32_t line)
{
    return stet_hash_seeded(file, line).lo;
}

enum stet_framework stet_traits_framework(struct stet_view module)
{
    if (stet_view_starts(module, "tt_jit_"))
        return STET_FRAMEWORK_TORCH_TPU;
    if (stet_view_starts(module, "SyncTensorsGraph") || stet_view_starts(module, "IrToHlo"))
        return STET_FRAMEWORK_TORCH_XLA;
    if (stet_view_starts(module, "jit_") || stet_view_starts(module, "pmap_"))
        return STET_FRAMEWORK_JAX;
    return STET_FRAMEWORK_OTHER;
}

/* XLA's builder, and so PyTorch/XLA, appends a counter such as ".7" to a name. It is removed; but
 * step2 is another function than step1. */
static struct stet_view without_number(struct stet_view v)
{
    for (size_t n = v.len; n; n--) {
        char c = v.ptr[n - 1];

        if (c == '.')
            v.len = n - 1;
        else if (c < '0' || c > '9')
            break;
    }
    return v;
}

struct stet_view stet_traits_function_of(struct stet_view module)
{
    enum stet_framework f = stet_traits_framework(module);

    if (stet_view_starts(module, "jit_"))
        return stet_view_of(module.ptr + 4, module.len - 4);
    /* torch_xla.compile's graphs have the name of the user's function, which can be anything. */
    return f == STET_FRAMEWORK_TORCH_XLA || f == STET_FRAMEWORK_OTHER ? without_number(module)
                                                                      : module;
}

/* Constants have the line of the call, not their own. */
bool stet_traits_silent(struct stet_view name)
{
    static const char *const silent[] = {
        ".constant", ".return",        ".parameter", ".tuple",         ".get-tuple-element",
        "func.func", "builtin.module", "hlo.module", "hlo.computation"};

    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (stet_view_ends(name, silent[i]))
            return true;
    return false;
}

static uint32_t mark_of(struct stet_view name)
{
    if (stet_view_ends(name, "gather"))
        return STET_TRAIT_GATHER;
    if (stet_view_ends(name, "top_k") || stet_view_ends(name, "topk"))
        return STET_TRAIT_TOPK;
    if (stet_view_ends(name, "custom_call") || stet_view_ends(name, "custom-call"))
        return STET_TRAIT_CUSTOM_CALL;
    if (stet_view_ends(name, "reduce_window") || stet_view_ends(name, "reduce-window"))
        return STET_TRAIT_SCAN;
    return 0;
}

static void keep_picked(struct stet_traits *t, const struct stet_type *indices)
{
    for (uint32_t d = 0; d < 2; d++)
        t->picked[d] =
            indices->kind == STET_TYPE_TENSOR && d < indices->rank ? indices->dims[d] : 0;
}

static void add_line(struct gather *g, uint64_t line)
{
    if (line == g->last || g->lines.count >= MOST_LINES)
        return;
    g->last = line;
    STET_VEC_PUSH(&g->lines, line);
}

static size_t slot_of(const void *address, size_t slots)
{
    return (size_t)((uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 40) % slots;
}

static const struct name_memo *name_of(struct gather *g, const struct stet_op *op)
{
    struct stet_view name = stet_op_name(op);
    struct name_memo *n = &g->names[slot_of(name.ptr, NAME_SLOTS)];

    if (n->name != name.ptr)
        *n = (struct name_memo){name.ptr, (uint32_t)(stet_hash_bytes(name).lo % STET_TRAIT_BUCKETS),
                                mark_of(name), stet_traits_silent(name)};
    return n;
}

static const struct line_memo *line_of(struct gather *g, const struct stet_loc *loc)
{
    const struct stet_loc *of = stet_place_same(loc);
    struct line_memo *l = &g->places[slot_of(of, LINE_SLOTS)];

    if (l->loc != of) {
        l->loc = of;
        l->place = stet_place_of(loc);
        l->line = l->place.line ? stet_place_hash(l->place.file, l->place.line) : 0;
    }
    return l;
}

static bool visit(const struct stet_op *op, void *context)
{
    struct gather *g = context;
    const struct name_memo *name = name_of(g, op);
    const struct line_memo *line;
    uint16_t *bucket = &g->t->profile[name->bucket];

    if (name->silent)
        return true;
    g->t->ops++;
    g->t->marks |= name->mark;
    if (name->mark & STET_TRAIT_GATHER && op->operand_count == 2)
        keep_picked(g->t, stet_op_operand(op, 1)->type);
    *bucket = (uint16_t)(*bucket + (*bucket < UINT16_MAX));
    line = line_of(g, op->loc);
    if (!line->place.line)
        return true;
    add_line(g, line->line);
    if (!g->only.line) {
        g->only = line->place;
        g->deepest = op->loc;
    } else if (!g->many && !stet_place_eq(&g->only, &line->place)) {
        g->many = true;
    }
    return !g->lines.failed;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void keep_lines(struct gather *g, struct stet_arena *arena)
{
    uint64_t *lines = g->lines.items;
    uint32_t n = 0;

    if (g->lines.count)
        qsort(lines, g->lines.count, sizeof *lines, by_value);
    for (size_t i = 0; i < g->lines.count; i++)
        if (!n || lines[n - 1] != lines[i])
            lines[n++] = lines[i];
    g->t->lines = STET_NEW_ARRAY(arena, uint64_t, n ? n : 1);
    if (g->t->lines && n)
        memcpy(g->t->lines, lines, n * sizeof *lines);
    g->t->line_count = g->t->lines ? n : 0;
}

static void keep_sizes(struct stet_traits *t, const struct stet_program *p)
{
    for (uint32_t i = 0; i < p->output_count; i++) {
        const struct stet_type *type = p->outputs[i].type;

        for (uint32_t d = 0; type && type->kind == STET_TYPE_TENSOR && d < type->rank; d++)
            if (type->dims[d] > 1 && t->size_count < STET_TRAIT_SIZES)
                t->sizes[t->size_count++] = type->dims[d];
    }
}

static struct stet_hash hash_inputs(const struct stet_program *p)
{
    struct stet_hash h = {0};

    for (uint32_t i = 0; i < p->argument_count; i++) {
        const struct stet_type *t = p->arguments[i].value->type;

        h = stet_hash_mix_u64(h, t->rank);
        if (t->element)
            h = stet_hash_mix_u64(h, (uint64_t)t->element->kind << 32 | t->element->width |
                                         (uint64_t)t->element->flavour << 16);
        for (uint32_t d = 0; d < t->rank; d++)
            h = stet_hash_mix_u64(h, (uint64_t)t->dims[d]);
    }
    return h;
}

static struct stet_place keep_place(struct stet_arena *arena, struct stet_place p)
{
    if (p.line) {
        p.file = stet_arena_copy(arena, p.file);
        p.function = stet_arena_copy(arena, p.function);
    }
    return p;
}

/* torch_xla.compile names a graph after its function; its arguments are "p0.1", "p1.4" …, as in all
 * graphs of PyTorch/XLA. */
static bool is_named_lazy(const struct stet_program *p)
{
    for (uint32_t i = 0; i < p->argument_count; i++) {
        struct stet_view name = p->arguments[i].name;
        char first[16];
        int n = snprintf(first, sizeof first, "p%u.", i);

        if (name.len <= (size_t)n || memcmp(name.ptr, first, (size_t)n) != 0)
            return false;
    }
    return p->source == STET_SOURCE_HLO && p->argument_count > 0;
}

/* JAX names the arguments of a call after the function's parameters. It has no names for what it
 * passes to a program of its own making, such as the backward half of a differentiated function. */
static bool has_no_names(const struct stet_program *p)
{
    for (uint32_t i = 0; i < p->argument_count; i++)
        if (p->arguments[i].name.len)
            return false;
    return p->argument_count != 0;
}

void stet_traits_make(struct stet_traits *t, const struct stet_program *p, struct stet_arena *arena,
                      bool *no_memory)
{
    struct gather g = {.t = t};

    t->readable = true;
    t->hlo = p->source == STET_SOURCE_HLO || p->source == STET_SOURCE_HLO_TEXT;
    if (p->module)
        t->name = stet_arena_copy(arena, stet_op_symbol(p->module));
    t->framework = stet_traits_framework(t->name);
    t->function = stet_traits_function_of(t->name);
    if (t->framework == STET_FRAMEWORK_OTHER && is_named_lazy(p))
        t->framework = STET_FRAMEWORK_TORCH_XLA;
    t->inputs = hash_inputs(p);
    t->meets = stet_program_meets(p);
    stet_program_walk(p, visit, &g);
    keep_lines(&g, arena);
    keep_sizes(t, p);
    t->one_place = g.only.line && !g.many;
    t->place = keep_place(arena, g.only);
    stet_place_of_function(g.deepest, t->function, &t->root, &t->entry);
    if (t->framework == STET_FRAMEWORK_TORCH_TPU) {
        /* The name ends in the last operation and line; the user knows the function by the rest. */
        t->eager = !stet_place_is_compiled(g.deepest);
        t->backward = stet_place_is_backward(g.deepest);
        if (!t->eager && t->place.function.len)
            t->function = t->place.function;
    }
    t->unnamed = t->framework == STET_FRAMEWORK_JAX && has_no_names(p);
    t->root = keep_place(arena, t->root);
    t->entry = keep_place(arena, t->entry);
    *no_memory = g.lines.failed || arena->failed;
    STET_VEC_RELEASE(&g.lines);
}

uint32_t stet_traits_common_lines(const struct stet_traits *a, const struct stet_traits *b)
{
    uint32_t i = 0, j = 0, common = 0;

    while (i < a->line_count && j < b->line_count) {
        if (a->lines[i] == b->lines[j]) {
            common++;
            i++, j++;
        } else if (a->lines[i] < b->lines[j]) {
            i++;
        } else {
            j++;
        }
    }
    return common;
}

double stet_traits_likeness(const struct stet_traits *a, const struct stet_traits *b)
{
    uint32_t both = 0, most = 0;

    for (int i = 0; i < STET_TRAIT_BUCKETS; i++) {
        uint16_t x = a->profile[i], y = b->profile[i];

        both += x < y ? x : y;
        most += x > y ? x : y;
    }
    return most ? (double)both / most : 1;
}
