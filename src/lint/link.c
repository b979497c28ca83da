/* The call graph over all files: tracing spreads from its roots along calls, and with it which
 * parameters are tensors. A candidate holds when its function is reached the way it waits for. */
#include "lint/link.h"

#include "base/hash.h"
#include "base/mem.h"
#include "lint/rules.h"

#include <stdio.h>
#include <stdlib.h>

struct place {
    uint32_t file, fn;
};

/* Why a function is traced: by a root, or because another traced one calls it. */
struct why {
    struct place caller; /* file LINT_NONE: a root */
    uint32_t file, line;
    struct stet_view how;
};

struct state {
    uint8_t lanes;
    bool queued;
    uint64_t tensors, statics; /* of the nest; kept at its outermost function */
    uint64_t varying;          /* so is this: given another Python value at each turn of a loop */
    uint64_t rooted;           /* arguments of the compiled function itself */
    bool repeated;             /* called in a loop outside of traced code */
    struct why why;
};

struct entry { /* of the name table */
    struct stet_hash key;
    struct place at;
    uint8_t kind;
};

enum { ENTRY_NONE, ENTRY_FILE, ENTRY_FN, ENTRY_CLASS };

enum class_kind { CLASS_UNSEEN, CLASS_VISITING, CLASS_PLAIN, CLASS_TORCH, CLASS_FLAX };

struct linker {
    const struct lint_summary *files;
    const char *const *paths;
    size_t file_count;
    struct state **states; /* by file and function */
    uint8_t **classes;     /* by file and class: enum class_kind */
    struct entry *table;
    size_t mask;
    struct place *queue;
    size_t queue_count, queue_room;
    struct stet_arena *arena;
    bool failed;
};

static struct stet_hash key_of(uint8_t kind, uint32_t file, struct stet_view name)
{
    return stet_hash_mix_u64(stet_hash_mix_u64(stet_hash_bytes(name), kind), file);
}

static void put(struct linker *l, uint8_t kind, uint32_t file, struct stet_view name,
                struct place at)
{
    struct stet_hash key = key_of(kind, kind == ENTRY_FILE ? 0 : file, name);
    size_t i = (size_t)key.lo & l->mask;

    while (l->table[i].kind) {
        if (stet_hash_eq(l->table[i].key, key))
            return;
        i = (i + 1) & l->mask;
    }
    l->table[i] = (struct entry){key, at, kind};
}

static const struct entry *get(const struct linker *l, uint8_t kind, uint32_t file,
                               struct stet_view name)
{
    struct stet_hash key = key_of(kind, kind == ENTRY_FILE ? 0 : file, name);

    for (size_t i = (size_t)key.lo & l->mask; l->table[i].kind; i = (i + 1) & l->mask) {
        if (stet_hash_eq(l->table[i].key, key))
            return &l->table[i];
    }
    return NULL;
}

static bool fill_table(struct linker *l)
{
    size_t wanted = l->file_count, size = 1024;

    for (size_t f = 0; f < l->file_count; f++)
        wanted += l->files[f].fn_count + l->files[f].class_count;
    while (size < wanted * 2)
        size *= 2;
    l->table = stet_mem_calloc(size, sizeof *l->table);
    if (!l->table)
        return false;
    l->mask = size - 1;
    for (uint32_t f = 0; f < l->file_count; f++) {
        const struct lint_summary *s = &l->files[f];

        if (s->module.len)
            put(l, ENTRY_FILE, f, s->module, (struct place){f, 0});
        for (uint32_t i = 1; i < s->fn_count; i++) {
            if (s->fns[i].class_index == LINT_NONE && !s->fns[i].nested)
                put(l, ENTRY_FN, f, s->fns[i].name, (struct place){f, i});
        }
        for (uint32_t i = 0; i < s->class_count; i++)
            put(l, ENTRY_CLASS, f, s->classes[i].name, (struct place){f, i});
    }
    return true;
}

/* "pkg.mod.name" to what it names, through re-exports; NULL when it is not among the files. */
static const struct entry *resolve(const struct linker *l, uint8_t kind, struct stet_view dotted,
                                   unsigned depth)
{
    struct stet_view module = dotted, name;
    const struct entry *file, *found;
    const struct lint_summary *s;

    while (module.len && module.ptr[module.len - 1] != '.')
        module.len--;
    if (!module.len || depth > 6)
        return NULL;
    name = stet_view_of(module.ptr + module.len, dotted.len - module.len);
    module.len--;
    file = get(l, ENTRY_FILE, 0, module);
    if (!file)
        return NULL;
    found = get(l, kind, file->at.file, name);
    if (found)
        return found;
    s = &l->files[file->at.file];
    for (uint32_t i = 0; i < s->import_count; i++) {
        if (stet_view_eq(s->imports[i].local, name) && !stet_view_eq(s->imports[i].target, dotted))
            return resolve(l, kind, s->imports[i].target, depth + 1);
    }
    return NULL;
}

static const struct entry *find_class(const struct linker *l, uint32_t file,
                                      struct stet_view dotted)
{
    const struct entry *e = get(l, ENTRY_CLASS, file, dotted);

    return e ? e : resolve(l, ENTRY_CLASS, dotted, 0);
}

static enum class_kind known_base(struct stet_view base)
{
    static const char *const torch[] = {"torch.nn.Module",
                                        "torch.nn.modules.Module",
                                        "nn.Module",
                                        "lightning.LightningModule",
                                        "pytorch_lightning.LightningModule",
                                        "torch.nn.modules.module.Module",
                                        NULL};
    static const char *const flax[] = {"flax.linen.Module",        "flax.nnx.Module",
                                       "equinox.Module",           "haiku.Module",
                                       "flax.linen.module.Module", NULL};

    if (lint_any_of(base, torch))
        return CLASS_TORCH;
    if (stet_view_starts(base, "torch.nn.") && !stet_view_starts(base, "torch.nn.Parameter"))
        return CLASS_TORCH; /* class Norm(nn.LayerNorm) */
    return lint_any_of(base, flax) ? CLASS_FLAX : CLASS_PLAIN;
}

static enum class_kind kind_of_class(struct linker *l, uint32_t file, uint32_t index)
{
    const struct lint_class *c = &l->files[file].classes[index];
    uint8_t *kind = &l->classes[file][index];

    if (*kind == CLASS_VISITING)
        return CLASS_PLAIN;
    if (*kind != CLASS_UNSEEN)
        return (enum class_kind) * kind;
    *kind = CLASS_VISITING;
    for (uint32_t b = 0; b < c->base_count; b++) {
        enum class_kind k = known_base(c->bases[b]);

        if (k == CLASS_PLAIN) {
            const struct entry *e = find_class(l, file, c->bases[b]);

            if (e)
                k = kind_of_class(l, e->at.file, e->at.fn);
        }
        if (k != CLASS_PLAIN) {
            *kind = (uint8_t)k;
            return k;
        }
    }
    *kind = CLASS_PLAIN;
    return CLASS_PLAIN;
}

/* A method of the class or of its bases. */
static struct place find_method(const struct linker *l, uint32_t file, uint32_t index,
                                struct stet_view name, unsigned depth)
{
    const struct lint_summary *s = &l->files[file];
    struct place none = {LINT_NONE, LINT_NONE};

    for (uint32_t f = 1; f < s->fn_count; f++) {
        if (s->fns[f].class_index == index && stet_view_eq(s->fns[f].name, name))
            return (struct place){file, f};
    }
    for (uint32_t b = 0; b < s->classes[index].base_count && depth < 8; b++) {
        const struct entry *e = find_class(l, file, s->classes[index].bases[b]);

        if (e) {
            struct place p = find_method(l, e->at.file, e->at.fn, name, depth + 1);

            if (p.file != LINT_NONE)
                return p;
        }
    }
    return none;
}

static void enqueue(struct linker *l, struct place p)
{
    struct state *s = &l->states[p.file][p.fn];

    if (s->queued)
        return;
    if (l->queue_count == l->queue_room) {
        size_t room = l->queue_room ? l->queue_room * 2 : 256;
        struct place *more = stet_mem_resize(l->queue, room, sizeof *more);

        if (!more) {
            l->failed = true;
            return;
        }
        l->queue = more;
        l->queue_room = room;
    }
    s->queued = true;
    l->queue[l->queue_count++] = p;
}

/* Tracing reaches a function: with what, from where. Again only when something is new. */
static void reach(struct linker *l, struct place p, uint8_t lanes, uint64_t tensors,
                  uint64_t statics, struct why why)
{
    const struct lint_summary *s = &l->files[p.file];
    struct state *fn = &l->states[p.file][p.fn];
    struct state *nest = &l->states[p.file][s->fns[p.fn].nest];
    uint64_t new_tensors = tensors & ~nest->tensors, new_statics = statics & ~nest->statics;

    if (s->fns[p.fn].disabled || (!(lanes & ~fn->lanes) && !new_tensors && !new_statics))
        return;
    if (!fn->lanes)
        fn->why = why;
    fn->lanes |= lanes;
    nest->tensors |= tensors;
    nest->statics |= statics;
    enqueue(l, p);
    /* The functions written inside see the parameters too. */
    for (uint32_t f = p.fn + 1; (new_tensors || new_statics) && f < s->fn_count; f++) {
        if (s->fns[f].nest != s->fns[p.fn].nest)
            break;
        if (l->states[p.file][f].lanes)
            enqueue(l, (struct place){p.file, f});
    }
}

static uint64_t bit_of(const struct lint_fn *f, uint32_t param)
{
    return param < f->param_count && f->first_bit + param < LINT_BITS
               ? (uint64_t)1 << (f->first_bit + param)
               : 0;
}

static uint32_t param_named(const struct lint_fn *f, struct stet_view name)
{
    for (uint32_t i = 0; i < f->param_count; i++) {
        if (stet_view_eq(f->params[i], name))
            return i;
    }
    return UINT32_MAX;
}

/* A root: which parameters are tensors and which static. */
static void root_masks(const struct lint_fn *f, const struct lint_call *c, uint8_t lanes,
                       uint64_t *tensors, uint64_t *statics)
{
    uint32_t skip = f->is_method ? 1 : 0;

    for (uint32_t i = skip; i < f->param_count; i++) {
        uint64_t bit = bit_of(f, i);
        bool is_static = i - skip < 64 && (c->static_positions >> (i - skip) & 1);

        for (uint32_t k = 0; k < c->static_name_count; k++)
            is_static |= stet_view_eq(c->static_names[k], f->params[i]);
        if (is_static)
            *statics |= bit;
        else if (lanes & LINT_JAX || !lanes)
            *tensors |= bit & ~f->python_mask;
        else if (f->tensor_mask & bit)
            *tensors |= bit;
        else if (!(f->python_mask & bit) || (f->scalar_mask & bit))
            *statics |= bit;
    }
}

static struct place callee_of(const struct linker *l, uint32_t file, const struct lint_call *c)
{
    const struct entry *e;

    if (c->callee != LINT_NONE)
        return (struct place){file, c->callee};
    if (c->class_index != LINT_NONE)
        return find_method(l, file, c->class_index, c->target, 0);
    e = resolve(l, ENTRY_FN, c->target, 0);
    return e ? e->at : (struct place){LINT_NONE, LINT_NONE};
}

static void apply(struct linker *l, uint32_t file, const struct lint_call *c)
{
    const struct lint_summary *s = &l->files[file];
    const struct state *caller = c->caller == LINT_NONE ? NULL : &l->states[file][c->caller];
    const struct state *nest =
        c->caller == LINT_NONE ? NULL : &l->states[file][s->fns[c->caller].nest];
    uint8_t lanes = c->lanes ? c->lanes : caller ? caller->lanes : 0;
    uint64_t live = LINT_ALWAYS | (nest ? nest->tensors : 0), tensors = 0, statics = 0;
    struct place p;
    const struct lint_fn *f;
    struct why why = {{LINT_NONE, 0}, file, c->line, c->how};

    if (!lanes)
        return;
    p = callee_of(l, file, c);
    if (p.file == LINT_NONE)
        return;
    f = &l->files[p.file].fns[p.fn];
    if (!c->lanes)
        why.caller = (struct place){file, c->caller};
    if (c->all_tensors) {
        root_masks(f, c, c->lanes, &tensors, &statics);
        l->states[p.file][f->nest].rooted |= statics;
    }
    for (uint32_t i = 0; i < c->arg_count; i++) {
        const struct lint_arg *a = &c->args[i];
        uint32_t param = a->position >= 0 ? (uint32_t)a->position + (f->is_method ? 1 : 0)
                                          : param_named(f, a->name);
        uint64_t bit = bit_of(f, param);

        if ((a->deps & live) && !(f->python_mask & bit))
            tensors |= bit;
        if (nest && (a->static_deps & nest->statics))
            statics |= bit;
    }
    reach(l, p, lanes, tensors, statics, why);
}

/* Roots: what transforms name, and what modules are called by. */
static void start(struct linker *l)
{
    for (uint32_t f = 0; f < l->file_count; f++) {
        const struct lint_summary *s = &l->files[f];

        for (uint32_t i = 0; i < s->call_count; i++) {
            if (s->calls[i].lanes)
                apply(l, f, &s->calls[i]);
        }
        for (uint32_t i = 1; i < s->fn_count; i++) {
            enum class_kind k;
            bool forward = stet_view_is(s->fns[i].name, "forward");

            if (s->fns[i].class_index == LINT_NONE ||
                (!forward && !stet_view_is(s->fns[i].name, "__call__")))
                continue;
            k = kind_of_class(l, f, s->fns[i].class_index);
            if ((forward && k == CLASS_TORCH) || (!forward && k == CLASS_FLAX))
                reach(l, (struct place){f, i}, LINT_MODULE, s->fns[i].tensor_mask, 0,
                      (struct why){{LINT_NONE, 0}, f, s->fns[i].line, STET_VIEW("")});
        }
    }
}

/* Calls by caller, so that a turn of the queue looks at one function's own. */
struct calls_of {
    uint32_t *first, *list;
};

static bool index_calls(const struct lint_summary *s, struct calls_of *out)
{
    out->first = stet_mem_calloc((size_t)s->fn_count + 2, sizeof *out->first);
    out->list = stet_mem_calloc((size_t)s->call_count + 1, sizeof *out->list);
    if (!out->first || !out->list)
        return false;
    for (uint32_t i = 0; i < s->call_count; i++) {
        if (s->calls[i].caller != LINT_NONE)
            out->first[s->calls[i].caller + 2]++;
    }
    for (uint32_t i = 2; i < s->fn_count + 2; i++)
        out->first[i] += out->first[i - 1];
    for (uint32_t i = 0; i < s->call_count; i++) {
        if (s->calls[i].caller != LINT_NONE)
            out->list[out->first[s->calls[i].caller + 1]++] = i;
    }
    return true;
}

static void spread(struct linker *l, struct calls_of *index)
{
    while (l->queue_count && !l->failed) {
        struct place p = l->queue[--l->queue_count];
        const struct lint_summary *s = &l->files[p.file];
        struct calls_of *calls = &index[p.file];

        l->states[p.file][p.fn].queued = false;
        if (!calls->first && !index_calls(s, calls)) {
            l->failed = true;
            return;
        }
        for (uint32_t i = calls->first[p.fn]; i < calls->first[p.fn + 1]; i++)
            apply(l, p.file, &s->calls[calls->list[i]]);
    }
}

/* One call's part in it; true when something is new. */
static bool vary_by(struct linker *l, uint32_t file, const struct lint_call *c)
{
    const struct lint_summary *s = &l->files[file];
    const struct state *caller = c->caller == LINT_NONE ? NULL : &l->states[file][c->caller];
    const struct state *nest =
        c->caller == LINT_NONE ? NULL : &l->states[file][s->fns[c->caller].nest];
    bool traced = caller && caller->lanes, changed = false;
    /* A loop inside traced code is unrolled: the same values whenever it is traced. */
    bool counts = !(traced && c->in_loop);
    struct place p;
    const struct lint_fn *f;
    struct state *to;
    bool repeated;

    if (c->all_tensors)
        return false; /* names the function, does not call it */
    p = callee_of(l, file, c);
    if (p.file == LINT_NONE)
        return false;
    f = &l->files[p.file].fns[p.fn];
    to = &l->states[p.file][f->nest];
    for (uint32_t i = 0; i < c->arg_count; i++) {
        const struct lint_arg *a = &c->args[i];
        uint32_t param = a->position >= 0 ? (uint32_t)a->position + (f->is_method ? 1 : 0)
                                          : param_named(f, a->name);
        uint64_t bit = bit_of(f, param);

        if (((a->varies && counts) || (nest && ((a->deps | a->static_deps) & nest->varying))) &&
            !(to->varying & bit)) {
            to->varying |= bit;
            changed = changed || bit;
        }
    }
    repeated = (!traced && c->in_loop) || (caller && caller->repeated);
    if (repeated && !l->states[p.file][p.fn].repeated)
        l->states[p.file][p.fn].repeated = changed = true;
    return changed;
}

/* Which parameters vary, and who is called again and again: asked only where a candidate waits for
 * it, and from other files only of calls that bring something varying. */
static void vary(struct linker *l)
{
    for (uint32_t f = 0; f < l->file_count; f++) {
        const struct lint_summary *s = &l->files[f];

        for (uint32_t i = 0; i < s->call_count; i++) {
            const struct lint_call *c = &s->calls[i];
            bool brings = false;

            for (uint32_t k = 0; k < c->arg_count; k++)
                brings |= c->args[k].varies;
            if (brings && c->callee == LINT_NONE)
                vary_by(l, f, c);
        }
    }
    for (uint32_t f = 0; f < l->file_count; f++) {
        const struct lint_summary *s = &l->files[f];
        bool waits = false, changed = true;

        for (uint32_t i = 0; i < s->candidate_count && !waits; i++)
            waits = s->candidates[i].mode == LINT_VARYING ||
                    s->candidates[i].mode == LINT_REPEATED || s->candidates[i].mode == LINT_STATIC;
        for (unsigned round = 0; waits && changed && round < 8; round++) {
            changed = false;
            for (uint32_t i = 0; i < s->call_count; i++)
                changed |= s->calls[i].callee != LINT_NONE && vary_by(l, f, &s->calls[i]);
        }
    }
}

static bool holds(const struct linker *l, uint32_t file, const struct lint_candidate *c)
{
    const struct lint_fn *f = &l->files[file].fns[c->fn];
    const struct state *fn = &l->states[file][c->fn], *nest = &l->states[file][f->nest];

    if (c->lanes && !(fn->lanes & c->lanes))
        return false;
    switch ((enum lint_mode)c->mode) {
    case LINT_TENSOR:
        return c->deps & (nest->tensors | LINT_ALWAYS);
    case LINT_STATIC:
        return c->deps & (nest->statics | (nest->varying & ~nest->tensors));
    case LINT_VARYING:
        return c->deps & nest->varying & ~nest->tensors;
    case LINT_REPEATED:
        return fn->repeated;
    case LINT_ROOTED:
        return c->deps & (nest->tensors | nest->rooted | LINT_ALWAYS);
    case LINT_ANY:
        break;
    }
    return true;
}

/* "train_step, compiled by jax.jit (train.py:30)" */
static struct stet_view words(struct linker *l, uint32_t file, uint32_t fn)
{
    struct place p = {file, fn};
    const struct why *w = &l->states[file][fn].why;
    struct stet_view name = l->files[file].fns[fn].name, root;
    const char *base;

    for (unsigned hops = 0; w->caller.file != LINT_NONE && hops < 64; hops++) {
        p = w->caller;
        w = &l->states[p.file][p.fn].why;
    }
    root = l->files[p.file].fns[p.fn].name;
    base = strrchr(l->paths[w->file], '/');
    base = base ? base + 1 : l->paths[w->file];
    if (!w->how.len && p.file == file && p.fn == fn)
        return stet_arena_printf(l->arena, "%.*s of a module", STET_FMT(name));
    if (!w->how.len)
        return stet_arena_printf(l->arena, "%.*s, called from %.*s of a module (%s:%u)",
                                 STET_FMT(name), STET_FMT(root), base, w->line);
    if (p.file == file && p.fn == fn)
        return stet_arena_printf(l->arena, "%.*s, compiled by %.*s (line %u)", STET_FMT(name),
                                 STET_FMT(w->how), w->line);
    return stet_arena_printf(l->arena, "%.*s, called from %.*s, compiled by %.*s (%s:%u)",
                             STET_FMT(name), STET_FMT(root), STET_FMT(w->how), base, w->line);
}

static int by_place(const void *a, const void *b)
{
    const struct stet_lint_finding *x = a, *y = b;

    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->rule < y->rule ? -1 : x->rule > y->rule;
}

/* An identity that survives edits elsewhere: rule, path, the line's text, which of its kind. */
static void identify(struct stet_lint_finding *f, const struct stet_lint_finding *first)
{
    struct stet_hash h = stet_hash_bytes(stet_view_str(lint_rule_table[f->rule].code));
    uint64_t same = 0;

    for (const struct stet_lint_finding *o = first; o < f; o++)
        same += o->rule == f->rule && stet_view_eq(o->source, f->source);
    h = stet_hash_mix(h, stet_hash_bytes(stet_view_str(f->path)));
    h = stet_hash_mix(h, stet_hash_bytes(f->source));
    stet_hash_format(stet_hash_mix_u64(h, same), f->id);
}

static void add_findings(struct linker *l, uint32_t file, struct stet_lint_finding *out,
                         size_t *count)
{
    const struct lint_summary *s = &l->files[file];
    struct stet_lint_finding *first = out + *count;
    size_t here = 0;

    for (uint32_t i = 0; i < s->candidate_count; i++) {
        const struct lint_candidate *c = &s->candidates[i];
        const struct lint_rule *rule = &lint_rule_table[c->rule];
        uint8_t lanes = l->states[file][c->fn].lanes;

        if (!holds(l, file, c))
            continue;
        first[here++] = (struct stet_lint_finding){
            .path = l->paths[file],
            .rule = c->rule,
            /* A module is compiled only by some of those who use it. */
            .severity = c->lanes && lanes == LINT_MODULE && rule->severity ? rule->severity - 1u
                                                                           : rule->severity,
            .line = c->line,
            .column = c->column,
            .end_line = c->end_line,
            .end_column = c->end_column,
            .what = c->what,
            .traced = c->lanes && lanes ? words(l, file, c->fn) : (struct stet_view){0},
            .source = c->source,
            .edit_start = c->edit.start,
            .edit_end = c->edit.end,
            .edit = c->edit.text,
        };
    }
    qsort(first, here, sizeof *first, by_place);
    for (size_t i = 0; i < here; i++)
        identify(&first[i], first);
    *count += here;
}

static bool prepare(struct linker *l, struct calls_of **index)
{
    *index = stet_mem_calloc(l->file_count + 1, sizeof **index);
    l->states = stet_mem_calloc(l->file_count + 1, sizeof *l->states);
    l->classes = stet_mem_calloc(l->file_count + 1, sizeof *l->classes);
    if (!*index || !l->states || !l->classes)
        return false;
    for (size_t f = 0; f < l->file_count; f++) {
        l->states[f] = stet_mem_calloc((size_t)l->files[f].fn_count + 1, sizeof **l->states);
        l->classes[f] = stet_mem_calloc((size_t)l->files[f].class_count + 1, 1);
        if (!l->states[f] || !l->classes[f])
            return false;
    }
    return fill_table(l);
}

static void release(struct linker *l, struct calls_of *index)
{
    for (size_t f = 0; f < l->file_count; f++) {
        if (l->states)
            stet_mem_free(l->states[f]);
        if (l->classes)
            stet_mem_free(l->classes[f]);
        if (index) {
            stet_mem_free(index[f].first);
            stet_mem_free(index[f].list);
        }
    }
    stet_mem_free(l->states);
    stet_mem_free(l->classes);
    stet_mem_free(l->table);
    stet_mem_free(l->queue);
    stet_mem_free(index);
}

enum stet_rc lint_link(struct stet_lint_finding **findings, size_t *count, struct stet_arena *arena,
                       const struct lint_summary *files, const char *const *paths,
                       size_t file_count, struct stet_err *err)
{
    struct linker l = {.files = files, .paths = paths, .file_count = file_count, .arena = arena};
    struct calls_of *index = NULL;
    size_t most = 1;

    *findings = NULL;
    *count = 0;
    for (size_t f = 0; f < file_count; f++)
        most += files[f].candidate_count;
    if (prepare(&l, &index)) {
        start(&l);
        spread(&l, index);
        vary(&l);
        *findings = stet_mem_calloc(most, sizeof **findings);
        for (uint32_t f = 0; *findings && f < file_count; f++)
            add_findings(&l, f, *findings, count);
    }
    release(&l, index);
    if (!*findings || l.failed || arena->failed) {
        stet_mem_free(*findings);
        *findings = NULL;
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    return STET_OK;
}
