/* Selects the candidates that hold, once it is known which functions are traced, in the order of
 * their lines. */
#include "lint/linking.h"

#include "base/map.h"
#include "base/mem.h"
#include "lint/rules.h"

#include <stdlib.h>

/* The parameters of a nest that are arrays by their annotation or by what is done with them. */
static uint64_t surely_arrays(const struct stet_flow_summary *code, uint32_t nest)
{
    uint64_t mask = 0;

    for (uint32_t f = nest; f < code->fn_count && code->fns[f].nest == nest; f++)
        mask |= code->fns[f].tensor_mask;
    return mask;
}

/* Is it traced by JAX alone, and not compiled itself? */
static bool would_fail_at(const struct lint_linking *l, uint32_t file, uint32_t fn)
{
    const struct stet_flow_state *state = &l->linked.states[file][fn];

    return !(state->lanes & ~(unsigned)(FLOW_JAX | FLOW_FLAX)) &&
           state->why.caller.file != FLOW_NONE;
}

static bool needs_value(const struct lint_candidate *c)
{
    return c->rule == LINT_RULE_value_branch || c->rule == LINT_RULE_host_sync ||
           c->rule == LINT_RULE_size_from_value || c->rule == LINT_RULE_mask_gather ||
           (c->minor == LINT_FULL && c->mode == LINT_TENSOR &&
            (c->rule == LINT_RULE_slice_start || c->rule == LINT_RULE_topk_k));
}

/* If the function itself is compiled, does it use a number of the function around it, instead of an
 * argument of its own? */
static bool is_of_closure(const struct lint_linking *l, uint32_t file,
                          const struct lint_candidate *c)
{
    const struct stet_flow_state *fn = &l->linked.states[file][c->fn];
    uint32_t nest = l->files[file].code.fns[c->fn].nest;

    return fn->lanes == FLOW_JAX && fn->why.caller.file == FLOW_NONE && nest != c->fn &&
           c->mode == LINT_TENSOR && needs_value(c) &&
           !(c->deps & (FLOW_ALWAYS | l->linked.states[file][nest].own));
}

/* Tracing in JAX fails where Python needs the value of a traced array. A function that the compiled
 * one calls works: it gets something else there, a number or None, unless the code shows that it is
 * an array. Far from the compiled one, and where a module is all that is seen, it always works. The
 * same holds for dictionaries: those far from the step are the library's own. */
static bool would_fail(const struct lint_linking *l, uint32_t file, const struct lint_candidate *c)
{
    const struct stet_flow_summary *code = &l->files[file].code;
    const struct stet_flow_state *fn = &l->linked.states[file][c->fn];
    struct stet_flow_place caller = fn->why.caller;
    uint32_t nest = code->fns[c->fn].nest;
    uint64_t sure;
    bool far;

    if (is_of_closure(l, file, c))
        return true;
    if (!would_fail_at(l, file, c->fn))
        return false;
    far = l->linked.states[caller.file][caller.fn].why.caller.file != FLOW_NONE;
    if (c->rule == LINT_RULE_optional_key)
        return far || caller.file != file;
    if (c->rule == LINT_RULE_side_effect)
        return far; /* much of what is far away is not traced with these arguments */
    if (!needs_value(c))
        return false;
    sure = surely_arrays(code, nest) | l->linked.states[file][nest].near |
           (caller.file == file ? FLOW_ALWAYS : 0);
    return far || fn->lanes == FLOW_FLAX || (c->mode == LINT_TENSOR && !(c->deps & sure));
}

/* Does the function need a value where tracing would fail? Then it runs on the host, and what it
 * does with arrays makes no program. */
static bool runs_on_host(const struct lint_linking *l, uint32_t file,
                         const struct lint_candidate *c)
{
    const struct lint_summary *s = &l->files[file];
    const struct stet_flow_state *nest = &l->linked.states[file][s->code.fns[c->fn].nest];

    if ((c->mode != LINT_TENSOR && c->mode != LINT_ANY) || !would_fail_at(l, file, c->fn))
        return false;
    for (uint32_t i = 0; i < s->candidate_count; i++) {
        const struct lint_candidate *other = &s->candidates[i];

        if (other->fn == c->fn && other->mode == LINT_TENSOR && needs_value(other) &&
            (other->deps & nest->tensors) && would_fail(l, file, other))
            return true;
    }
    return false;
}

/* In a function that works on the host, its one finding holds and no other that needs tracing; if
 * each line is a finding of its own, that one does not. A search that ends when it has found
 * something is not reported for that alone. */
static bool is_folded(const struct lint_linking *l, uint32_t file, const struct lint_candidate *c)
{
    if (c->minor == LINT_PART && l->hosts && l->linked.states[file][c->fn].lanes == FLOW_MODULE)
        return true;
    return (c->lanes && lint_hosts_has(l, file, c->fn)) != (c->rule == LINT_RULE_host_function);
}

bool lint_holds(const struct lint_linking *l, uint32_t file, const struct lint_candidate *c)
{
    const struct stet_flow_fn *f = &l->files[file].code.fns[c->fn];
    const struct stet_flow_state *fn = &l->linked.states[file][c->fn],
                                 *nest = &l->linked.states[file][f->nest];

    if ((c->guard && l->linked.guards[file][c->guard - 1]) || (c->asked & ~nest->given))
        return false;
    if (c->rule == LINT_RULE_static_self)
        return !l->linked.states[file][c->deps & UINT32_MAX].hashed; /* equal objects share it */
    if (c->lanes && (!(fn->lanes & c->lanes) || would_fail(l, file, c) || runs_on_host(l, file, c)))
        return false;
    switch ((enum lint_mode)c->mode) {
    case LINT_TENSOR:
        return c->deps & (nest->tensors | FLOW_ALWAYS);
    case LINT_STATIC: /* torch.compile has no static arguments: a setting costs one program */
        return c->deps &
               ((fn->lanes & FLOW_JAX ? nest->statics : 0) | (nest->varying & ~nest->tensors));
    case LINT_VARYING:
        if (c->rule == LINT_RULE_baked_schedule && (c->deps & nest->own))
            return false;
        return c->deps & nest->varying & ~nest->tensors;
    case LINT_REPEATED:
        return fn->repeated;
    case LINT_ROOTED:
        return c->deps & (nest->tensors | nest->rooted | FLOW_ALWAYS);
    case LINT_ANY:
        break;
    }
    return true;
}

/* A module is compiled only by some of its users. A static argument that no call varies costs one
 * program. */
static unsigned severity(const struct lint_linking *l, uint32_t file,
                         const struct lint_candidate *c)
{
    unsigned of_rule = lint_rule_table[c->rule].severity;
    uint32_t outer = l->files[file].code.fns[c->fn].nest;
    const struct stet_flow_state *fn = &l->linked.states[file][c->fn],
                                 *nest = &l->linked.states[file][outer];

    if (c->rule == LINT_RULE_rank_branch && c->lanes && fn->lanes == FLOW_TORCH)
        return LINT_SEV_NOTE; /* each process compiles for itself there */
    if (c->minor == LINT_MINOR ||
        ((c->minor == LINT_MINOR_STEP || c->minor == LINT_PART) && fn->lanes == FLOW_XLA) ||
        (c->minor == LINT_MINOR_ONCE && !fn->repeated) ||
        (c->mode == LINT_STATIC && !(c->deps & nest->varying)))
        return LINT_SEV_NOTE;
    if (c->lanes && !(fn->lanes & ~(unsigned)(FLOW_MODULE | FLOW_FLAX)) && of_rule)
        return of_rule - 1u;
    return of_rule;
}

static struct stet_view class_of(const struct lint_linking *l, struct stet_flow_place method)
{
    const struct stet_flow_summary *s = &l->files[method.file].code;
    uint32_t index = s->fns[method.fn].class_index;

    return index == FLOW_NONE ? STET_VIEW("?") : s->classes[index].name;
}

/* Returns "train_step, compiled by jax.jit (train.py:30)". */
static struct stet_view words(struct lint_linking *l, uint32_t file, uint32_t fn)
{
    struct stet_flow_place p = {file, fn};
    const struct stet_flow_why *w = &l->linked.states[file][fn].why;
    struct stet_view name = l->files[file].code.fns[fn].name, root;
    const char *base;

    for (unsigned hops = 0; w->caller.file != FLOW_NONE && hops < 64; hops++) {
        p = w->caller;
        w = &l->linked.states[p.file][p.fn].why;
    }
    root = l->files[p.file].code.fns[p.fn].name;
    base = strrchr(l->paths[w->file], '/');
    base = base ? base + 1 : l->paths[w->file];
    if (!w->how.len && p.file == file && p.fn == fn)
        return stet_arena_printf(l->arena, "%.*s of the module %.*s", STET_FMT(name),
                                 STET_FMT(class_of(l, p)));
    if (!w->how.len)
        return stet_arena_printf(l->arena, "%.*s, called from %.*s of the module %.*s (%s:%u)",
                                 STET_FMT(name), STET_FMT(root), STET_FMT(class_of(l, p)), base,
                                 w->line);
    if (p.file == file && p.fn == fn && w->file == file)
        return stet_arena_printf(l->arena, "%.*s, compiled by %.*s (line %u)", STET_FMT(name),
                                 STET_FMT(w->how), w->line);
    if (p.file == file && p.fn == fn)
        return stet_arena_printf(l->arena, "%.*s, compiled by %.*s (%s:%u)", STET_FMT(name),
                                 STET_FMT(w->how), base, w->line);
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

/* Makes an identity that survives edits elsewhere: rule, path, the line's text, and its number
 * among equal ones. `seen` counts the findings of each rule and text so far. */
static void identify(struct stet_lint_finding *f, struct stet_map *seen)
{
    struct stet_hash h = stet_hash_bytes(stet_view_str(lint_rule_table[f->rule].code));
    uint32_t earlier;

    h = stet_hash_mix(h, stet_hash_bytes(stet_view_str(f->path)));
    h = stet_hash_mix(h, stet_hash_bytes(f->source));
    earlier = stet_map_get(seen, h.lo);
    if (earlier == STET_MAP_NONE)
        earlier = 0;
    stet_map_put(seen, h.lo, earlier + 1);
    stet_hash_format(stet_hash_mix_u64(h, earlier), f->id);
}

static void identify_all(struct lint_linking *l, struct stet_lint_finding *first, size_t count)
{
    struct stet_map seen = {0};

    for (size_t i = 0; i < count; i++)
        identify(&first[i], &seen);
    l->failed |= seen.failed;
    stet_map_release(&seen);
}

static void find_in_file(struct lint_linking *l, uint32_t file, struct stet_lint_finding *out,
                         size_t *count)
{
    const struct lint_summary *s = &l->files[file];
    struct stet_lint_finding *first = out + *count;
    size_t here = 0;

    for (uint32_t i = 0; i < s->candidate_count; i++) {
        const struct lint_candidate *c = &s->candidates[i];
        uint8_t lanes = l->linked.states[file][c->fn].lanes;

        if (is_folded(l, file, c) || !lint_holds(l, file, c))
            continue;
        first[here++] = (struct stet_lint_finding){
            .path = l->paths[file],
            .rule = c->rule,
            .severity = severity(l, file, c),
            .line = c->line,
            .column = c->column,
            .end_line = c->end_line,
            .end_column = c->end_column,
            .what = c->rule == LINT_RULE_host_function ? l->hosts[file].text[c->fn] : c->what,
            .traced = c->lanes && lanes ? words(l, file, c->fn) : (struct stet_view){0},
            .source = c->source,
            .fix = c->fix.len ? c->fix : stet_view_str(lint_rule_table[c->rule].fix),
            .edit_start = c->edit.start,
            .edit_end = c->edit.end,
            .edit = c->edit.text,
        };
    }
    qsort(first, here, sizeof *first, by_place);
    if (here)
        identify_all(l, first, here);
    *count += here;
}

/* Does a candidate of the file ask how its function is called? */
static bool asks_calls(const struct lint_summary *s)
{
    for (uint32_t i = 0; i < s->candidate_count; i++) {
        enum lint_mode mode = (enum lint_mode)s->candidates[i].mode;

        if (mode == LINT_VARYING || mode == LINT_REPEATED || mode == LINT_STATIC ||
            s->candidates[i].minor == LINT_MINOR_ONCE)
            return true;
    }
    return false;
}

static enum stet_rc link_code(struct lint_linking *l, struct stet_err *err)
{
    struct stet_flow_file *files = stet_mem_calloc(l->file_count + 1, sizeof *files);
    enum stet_rc rc;

    if (!files)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    for (size_t f = 0; f < l->file_count; f++)
        files[f] = (struct stet_flow_file){&l->files[f].code, asks_calls(&l->files[f]),
                                           l->hosts ? l->hosts[f].stops : NULL};
    rc = stet_flow_link(&l->linked, files, l->file_count, err);
    stet_mem_free(files);
    return rc;
}

enum stet_rc lint_findings_link(struct stet_lint_result *r, struct stet_arena *arena,
                                const struct lint_summary *files, const char *const *paths,
                                size_t file_count, bool apart, struct stet_err *err)
{
    struct lint_linking l = {
        .files = files, .paths = paths, .file_count = file_count, .arena = arena};
    enum stet_rc rc = link_code(&l, err);
    size_t most = 1;

    if (rc == STET_OK && !apart && lint_hosts_find(&l)) {
        stet_flow_linked_release(&l.linked);
        rc = link_code(&l, err);
    }

    r->findings = NULL;
    r->finding_count = 0;
    for (size_t f = 0; f < file_count; f++)
        most += files[f].candidate_count;
    if (rc == STET_OK)
        r->findings = stet_mem_calloc(most, sizeof *r->findings);
    for (uint32_t f = 0; r->findings && f < file_count; f++)
        find_in_file(&l, f, r->findings, &r->finding_count);
    r->steps = l.linked.steps;
    lint_hosts_release(&l);
    stet_flow_linked_release(&l.linked);
    if (!r->findings || l.failed || arena->failed) {
        stet_mem_free(r->findings);
        r->findings = NULL;
        r->finding_count = 0;
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    return STET_OK;
}
