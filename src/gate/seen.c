/* Reads the arguments once, and walks the program once for meshes and kernels. */
#include "gate/seen.h"

#include "base/buf.h"
#include "program/hlo.h"
#include "program/print.h"

#include <ctype.h>

enum { MOST_CALLS = 64 };

/* tt_jit_train_L17C0_mixed_mean → mixed_mean */
struct stet_view stet_gate_seen_family(const struct stet_traits *t)
{
    struct stet_view v = t->function.len ? t->function : t->name;

    if (t->framework != STET_FRAMEWORK_TORCH_TPU || !stet_view_starts(v, "tt_jit_"))
        return v;
    for (size_t i = 7; i + 2 < v.len; i++) {
        size_t k = i + 2;

        if (v.ptr[i] != '_' || v.ptr[i + 1] != 'L' || !isdigit((unsigned char)v.ptr[k]))
            continue;
        while (k < v.len && (isdigit((unsigned char)v.ptr[k]) || v.ptr[k] == 'C'))
            k++;
        if (k + 1 < v.len && v.ptr[k] == '_')
            return stet_view_of(v.ptr + k + 1, v.len - k - 1);
    }
    return v;
}

/* As numpy and JAX call it. */
static struct stet_view type_name(const struct stet_type *t)
{
    const char *name = t ? stet_hlo_element_python(t) : NULL;

    return stet_view_str(name ? name : "other");
}

static struct stet_view attr_text(const struct stet_attr *a, struct stet_arena *arena)
{
    struct stet_buf out = {.cap = 1 << 16};
    struct stet_view text;

    if (!a)
        return (struct stet_view){0};
    if (a->kind == STET_ATTR_STRING)
        return stet_arena_copy(arena, stet_attr_text(a));
    stet_print_attr(&out, a);
    text = stet_arena_copy(arena, stet_buf_as_view(&out));
    stet_buf_release(&out);
    return text;
}

/* #sdy.sharding<@mesh, [{"data"}, {}]> → [{data}, {}]: the mesh has its own clause. */
static struct stet_view sharding_of(const struct stet_attr *a, struct stet_arena *arena)
{
    struct stet_view text = attr_text(a, arena);
    char *out = (char *)(uintptr_t)text.ptr;
    const char *comma = text.len ? memchr(text.ptr, ',', text.len) : NULL;
    size_t n = 0;

    if (!stet_view_starts(text, "#sdy.sharding<@") || !comma || !stet_view_ends(text, ">"))
        return text;
    for (const char *p = comma + 2; p < text.ptr + text.len - 1; p++)
        if (*p != '"')
            out[n++] = *p;
    out[n] = '\0';
    return stet_view_of(out, n);
}

/* HLO's layout is the default if it runs from the last dimension to the first. */
static struct stet_view layout_of(const struct stet_argument *a, struct stet_arena *arena)
{
    const struct stet_attr *mode = a->attrs ? stet_attr_field(a->attrs, "mhlo.layout_mode") : NULL;
    const struct stet_type *t = a->value->type;
    struct stet_view text = {0};
    bool plain = true;

    if (mode && !stet_view_is(stet_attr_text(mode), "default"))
        return attr_text(mode, arena);
    if (mode || t->kind != STET_TYPE_TENSOR || !stet_type_rest(t)->layout)
        return text;
    for (uint32_t i = 0; i < t->rank; i++)
        plain &= stet_type_rest(t)->layout[i] == (int64_t)(t->rank - 1 - i);
    for (uint32_t i = 0; !plain && i < t->rank; i++)
        text = stet_arena_printf(arena, "%.*s%s%lld", STET_FMT(text), i ? "," : "",
                                 (long long)stet_type_rest(t)->layout[i]);
    return text;
}

/* PyTorch/XLA numbers its parameters differently in each graph. */
static struct stet_view name_of(const struct stet_program *p, uint32_t i,
                                enum stet_framework framework, struct stet_arena *arena)
{
    struct stet_view name = p->arguments[i].name;

    if (!name.len || framework == STET_FRAMEWORK_TORCH_XLA || framework == STET_FRAMEWORK_TORCH_TPU)
        return stet_arena_printf(arena, "arg%u", i);
    return stet_arena_copy(arena, name);
}

static void take_arg(struct stet_seen_arg *out, const struct stet_program *p, uint32_t i,
                     enum stet_framework framework, struct stet_arena *arena)
{
    const struct stet_argument *a = &p->arguments[i];
    const struct stet_type *t = a->value->type;
    bool shaped = t->kind == STET_TYPE_TENSOR;
    int64_t *dims = STET_NEW_ARRAY(arena, int64_t, shaped && t->rank ? t->rank : 1);

    for (uint32_t d = 0; dims && shaped && d < t->rank; d++)
        dims[d] = t->dims[d];
    *out = (struct stet_seen_arg){
        .name = name_of(p, i, framework, arena),
        .type = type_name(shaped ? t->element : t),
        .dims = dims,
        .rank = shaped ? t->rank : 0,
        .donated = a->donor || a->alias >= 0,
        .sharding = sharding_of(a->sharding, arena),
        .layout = layout_of(a, arena),
    };
}

/* ---- meshes and kernels ---- */

struct walk {
    struct stet_arena *arena;
    struct stet_view mesh, calls[MOST_CALLS];
    uint32_t call_count;
};

static void take_mesh(struct walk *w, const struct stet_attr *mesh)
{
    const struct stet_attr *axes = mesh ? stet_attr_field(mesh, "axes") : NULL;
    struct stet_view text = {0};

    for (uint32_t i = 0; axes && axes->kind == STET_ATTR_ARRAY && i < axes->count; i++) {
        const struct stet_attr *name = stet_attr_field(axes->items[i], "name");
        const struct stet_attr *size = stet_attr_field(axes->items[i], "size");

        text = stet_arena_printf(w->arena, "%.*s%s%.*s=%lld", STET_FMT(text), text.len ? " " : "",
                                 STET_FMT(name ? stet_attr_text(name) : STET_VIEW("axis")),
                                 size ? (long long)stet_attr_int(size) : 0LL);
    }
    if (text.len && !w->mesh.len)
        w->mesh = text;
}

/* Custom calls of the framework itself, which are not kernels. */
static bool is_plumbing(struct stet_view target)
{
    static const char *const names[] = {"Sharding", "SPMD", "xla.sdy.", "annotate_device_placement",
                                        "LayoutConstraint"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (stet_view_starts(target, names[i]))
            return true;
    return false;
}

static void take_call(struct walk *w, struct stet_view target)
{
    uint32_t at = 0;

    while (at < w->call_count && stet_view_cmp(w->calls[at], target) < 0)
        at++;
    if (!target.len || is_plumbing(target) || w->call_count == MOST_CALLS ||
        (at < w->call_count && stet_view_eq(w->calls[at], target)))
        return;
    memmove(w->calls + at + 1, w->calls + at, (w->call_count - at) * sizeof *w->calls);
    w->calls[at] = target;
    w->call_count++;
}

static bool visit(const struct stet_op *op, void *context)
{
    struct stet_view name = stet_op_name(op);
    struct walk *w = context;
    const struct stet_attr *target;

    if (stet_view_ends(name, ".mesh")) {
        take_mesh(w, stet_op_attr(op, "mesh"));
    } else if (stet_view_ends(name, ".custom_call") || stet_view_ends(name, ".custom-call")) {
        target = stet_op_attr(op, "call_target_name");
        if (!target)
            target = stet_op_attr(op, "custom_call_target");
        if (target)
            take_call(w, stet_attr_text(target));
    }
    return true;
}

static struct stet_view join(const struct walk *w)
{
    struct stet_view all = {0};

    for (uint32_t i = 0; i < w->call_count; i++)
        all = stet_arena_printf(w->arena, "%.*s%s%.*s", STET_FMT(all), i ? " " : "",
                                STET_FMT(w->calls[i]));
    return all;
}

/* [{}, {}]: over no axis. */
static bool is_everywhere(struct stet_view sharding)
{
    for (size_t i = 0; i < sharding.len; i++)
        if (!strchr("[]{}?, ", sharding.ptr[i]))
            return false;
    return true;
}

enum stet_rc stet_gate_seen_make(struct stet_seen *s, const struct stet_program *p,
                                 const struct stet_traits *t, const struct stet_fingerprint *print,
                                 struct stet_hash options, struct stet_arena *arena)
{
    struct walk w = {.arena = arena};

    *s = (struct stet_seen){
        .family = stet_arena_copy(arena, stet_gate_seen_family(t)),
        .framework = t->framework,
        .args = STET_NEW_ARRAY(arena, struct stet_seen_arg, p->argument_count + 1),
        .graph = print->skeleton,
        .program = print->key,
        .options = options,
    };
    for (uint32_t i = 0; s->args && i < p->argument_count; i++)
        take_arg(&s->args[s->arg_count++], p, i, t->framework, arena);
    stet_program_walk(p, visit, &w);
    s->mesh = w.mesh;
    /* On one device a sharding has no meaning, and whether it is present depends on how the program
     * was requested. */
    for (uint32_t i = 0; !s->mesh.len && i < s->arg_count; i++)
        if (is_everywhere(s->args[i].sharding))
            s->args[i].sharding = (struct stet_view){0};
    s->calls = join(&w);
    return arena->failed ? STET_NO_MEMORY : STET_OK;
}
