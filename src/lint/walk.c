/* One file from tree to summary: parameters and facts first, then the walk, then the comments that
 * suppress findings. */
#include "lint/walk.h"

#include "base/mem.h"
#include "lint/rules.h"

#include <stdarg.h>
#include <stdio.h>

static bool contains_any(struct stet_view v, const char *const *words)
{
    for (; *words; words++) {
        if (stet_view_contains(v, *words))
            return true;
    }
    return false;
}

enum role { ROLE_UNKNOWN, ROLE_PYTHON, ROLE_SCALAR, ROLE_TENSOR };

static enum role role_of_type(struct stet_view type)
{
    static const char *const tensors[] = {"Tensor", "Array", "jnp.ndarray", NULL};
    static const char *const trees[] = {"list[",    "List[",   "dict[",    "Dict[",
                                        "tuple[",   "Tuple[",  "Sequence", "Iterable",
                                        "Callable", "Mapping", NULL};
    static const char *const scalars[] = {
        "int", "float", "Optional[int]", "Optional[float]", "int | None", "float | None", NULL};
    static const char *const plain[] = {
        "bool",      "str",       "Callable",  "dtype",          "device", "Device", "Config",
        "Literal",   "type[",     "Enum",      "Path",           "Mesh",   "Module", "Logger",
        "int",       "float",     "Size",      "Cache",          "Kwargs", "Any",    "Scheduler",
        "Processor", "Tokenizer", "Optimizer", "Transformation", NULL};

    if (contains_any(type, tensors))
        return contains_any(type, trees) ? ROLE_UNKNOWN : ROLE_TENSOR;
    if (lint_any_of(type, scalars))
        return ROLE_SCALAR;
    return contains_any(type, plain) ? ROLE_PYTHON : ROLE_UNKNOWN;
}

static enum role role_of_default(const struct stet_python_ast *a, stet_python_ref value)
{
    switch (stet_python_kind(a, value)) {
    case PY_TRUE:
    case PY_FALSE:
    case PY_STRING:
    case PY_LAMBDA:
    case PY_ATTRIBUTE:
    case PY_TUPLE:
        return ROLE_PYTHON;
    case PY_INTEGER:
    case PY_FLOAT:
        return ROLE_SCALAR;
    default:
        return ROLE_UNKNOWN;
    }
}

/* Adds one parameter to the function in the summary. */
static void add_parameter(struct lint_walk *w, uint32_t fn, struct lint_fn *f, stet_python_ref c)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref name =
        stet_python_kind(a, c) == PY_IDENTIFIER ? c : stet_python_field(a, c, PY_FIELD_NAME);
    stet_python_ref type = stet_python_field(a, c, PY_FIELD_TYPE),
                    value = stet_python_field(a, c, PY_FIELD_VALUE);
    enum role role = ROLE_UNKNOWN;
    uint64_t bit;

    if (!name && stet_python_kind(a, c) == PY_TYPED_PARAMETER)
        name = stet_python_child(a, c);
    if (!stet_python_name(a, name))
        return;
    bit = f->first_bit + f->param_count < LINT_BITS ? (uint64_t)1 << (f->first_bit + f->param_count)
                                                    : 0;
    if (type)
        role = role_of_type(stet_python_text(a, type));
    if (role == ROLE_UNKNOWN && value)
        role = role_of_default(a, value);
    if (role == ROLE_UNKNOWN && !type &&
        (lint_used_as_tensor(w, fn, stet_python_name(a, name)) ||
         lint_used_as_mask(w, fn, stet_python_name(a, name))))
        role = ROLE_TENSOR;
    else if (role == ROLE_UNKNOWN && !type && lint_draws(w, fn, stet_python_name(a, name)))
        role = ROLE_PYTHON;
    if (f->is_method && f->param_count == 0)
        role = ROLE_PYTHON;
    if (role == ROLE_PYTHON || role == ROLE_SCALAR)
        f->python_mask |= bit;
    if (role == ROLE_SCALAR)
        f->scalar_mask |= bit;
    if (role == ROLE_TENSOR)
        f->tensor_mask |= bit;
    f->params[f->param_count++] = stet_arena_copy(&w->out->arena, stet_python_text(a, name));
}

static uint32_t nest_of(const struct lint_walk *w, uint32_t fn)
{
    while (fn && w->fns[fn].parent)
        fn = w->fns[fn].parent;
    return fn;
}

static bool summarize_functions(struct lint_walk *w, uint32_t *used)
{
    const struct stet_python_ast *a = w->ast;

    w->out->fns = STET_NEW_ARRAY(&w->out->arena, struct lint_fn, w->fn_count);
    if (!w->out->fns)
        return false;
    w->out->fn_count = w->fn_count;
    for (uint32_t i = 0; i < w->fn_count; i++) {
        struct lint_fn *f = &w->out->fns[i];
        stet_python_ref parameters = w->fns[i].parameters, first;
        uint32_t count = 0;

        f->name = i ? stet_arena_copy(&w->out->arena, a->names.items[w->fns[i].name])
                    : STET_VIEW("<module>");
        if (i && stet_python_kind(a, w->fns[i].node) == PY_LAMBDA)
            f->name = STET_VIEW("<lambda>");
        f->class_index = w->fns[i].owner;
        f->nest = nest_of(w, i);
        f->nested = f->nest != i;
        f->line = stet_python_at(a, w->fns[i].node)->row + 1;
        f->first_bit = used[f->nest];
        for (stet_python_ref c = parameters ? stet_python_child(a, parameters) : 0; c;
             c = stet_python_next(a, c))
            count++;
        f->params = STET_NEW_ARRAY(&w->out->arena, struct stet_view, count + 1);
        first = parameters ? stet_python_child(a, parameters) : 0;
        f->is_method = i && stet_python_is_method(w->module, w->fns[i].node);
        for (stet_python_ref c = first; c && f->params; c = stet_python_next(a, c))
            add_parameter(w, i, f, c);
        used[f->nest] += f->param_count;
    }
    return !w->out->arena.failed;
}

static bool summarize_classes(struct lint_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    char room[160];

    w->out->classes = STET_NEW_ARRAY(&w->out->arena, struct lint_class, w->class_count + 1);
    if (!w->out->classes)
        return false;
    w->out->class_count = w->class_count;
    for (uint32_t i = 0; i < w->class_count; i++) {
        struct lint_class *c = &w->out->classes[i];
        stet_python_ref bases = stet_python_field(a, w->classes[i].node, PY_FIELD_SUPERCLASSES);
        uint32_t count = 0;

        c->name = stet_arena_copy(&w->out->arena, a->names.items[w->classes[i].name]);
        for (stet_python_ref b = bases ? stet_python_child(a, bases) : 0; b;
             b = stet_python_next(a, b))
            count++;
        c->bases = STET_NEW_ARRAY(&w->out->arena, struct stet_view, count + 1);
        for (stet_python_ref b = bases ? stet_python_child(a, bases) : 0; b && c->bases;
             b = stet_python_next(a, b)) {
            bool imported;
            struct stet_view base = stet_python_dotted(w->module, b, room, &imported);

            if (base.len)
                c->bases[c->base_count++] = stet_arena_copy(&w->out->arena, base);
        }
    }
    return !w->out->arena.failed;
}

/* Returns the line without leading blanks, cut to a readable length. */
static struct stet_view source_line(const struct stet_python_ast *a, uint32_t row)
{
    const char *start = a->text.ptr + a->lines[row], *stop = a->text.ptr + a->text.len;
    size_t len = 0, most;

    for (unsigned blanks = 0; blanks < 400 && start < stop && (*start == ' ' || *start == '\t');
         blanks++)
        start++;
    most = (size_t)(stop - start) < 200 ? (size_t)(stop - start) : 200;
    while (len < most && start[len] != '\n' && start[len] != '\r')
        len++;
    return stet_view_of(start, len);
}

static bool reported(const struct lint_summary *s, unsigned rule, uint32_t line, uint32_t column)
{
    uint32_t first = s->candidate_count > 64 ? s->candidate_count - 64 : 0;

    for (uint32_t i = s->candidate_count; i-- > first;) {
        const struct lint_candidate *c = &s->candidates[i];

        if (c->rule == rule && c->line == line && c->column == column)
            return true;
    }
    return false;
}

struct lint_candidate *lint_report(struct lint_walk *w, unsigned rule, stet_python_ref at,
                                   uint8_t lanes, enum lint_mode mode, uint64_t deps,
                                   const char *fmt, ...)
{
    const struct stet_python_node *node = stet_python_at(w->ast, at);
    struct lint_summary *s = w->out;
    struct lint_candidate *c;
    char text[400];
    va_list args;

    if ((w->quiet && lanes) ||
        reported(s, rule, node->row + 1, stet_python_column(w->ast, node->start)))
        return NULL;
    if (!lint_room(w, &s->candidates, &w->candidate_room, s->candidate_count,
                   sizeof *s->candidates))
        return NULL;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (w->step_loops && (lanes & LINT_XLA) && (mode != LINT_TENSOR || (deps & LINT_ALWAYS)))
        lanes = 0;
    c = &s->candidates[s->candidate_count++];
    *c = (struct lint_candidate){.rule = (uint16_t)rule,
                                 .lanes = lanes,
                                 .mode = (uint8_t)mode,
                                 .fn = w->fn,
                                 .deps = deps,
                                 .line = node->row + 1,
                                 .column = stet_python_column(w->ast, node->start),
                                 .end_line = stet_python_row(w->ast, node->end) + 1,
                                 .end_column = stet_python_column(w->ast, node->end),
                                 .what = stet_arena_copy(&s->arena, stet_view_str(text)),
                                 .source =
                                     stet_arena_copy(&s->arena, source_line(w->ast, node->row))};
    return c;
}

/* "[a, b]" after "stet: ignore", or everything without brackets. */
static bool comment_names(struct stet_view spec, const struct lint_rule *rule)
{
    const char *end;

    if (!spec.len || spec.ptr[0] != '[')
        return true;
    end = memchr(spec.ptr, ']', spec.len);
    if (!end)
        return true;
    for (const char *p = spec.ptr + 1; p < end;) {
        const char *stop = p;

        while (stop < end && *stop != ',')
            stop++;
        while (p < stop && *p == ' ')
            p++;
        while (stop > p && stop[-1] == ' ')
            stop--;
        if (stet_view_is(stet_view_of(p, (size_t)(stop - p)), rule->code) ||
            stet_view_is(stet_view_of(p, (size_t)(stop - p)), rule->trap))
            return true;
        p = memchr(stop, ',', (size_t)(end - stop));
        p = p ? p + 1 : end;
    }
    return false;
}

/* One "stet: ignore" of the file: its row, and what follows it there. */
struct aside {
    uint32_t row;
    bool whole; /* of the file */
    struct stet_view rest;
};

/* The rows whose comments suppress findings of the rule. True if one does so for the file. */
static bool rows_naming(const struct lint_rule *rule, const struct aside *asides, size_t count,
                        uint32_t *rows, size_t *row_count)
{
    *row_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!comment_names(asides[i].rest, rule))
            continue;
        if (asides[i].whole)
            return true;
        rows[(*row_count)++] = asides[i].row;
    }
    return false;
}

static bool is_put_aside(const struct lint_candidate *c, const uint32_t *rows, size_t count)
{
    size_t low = 0, high = count;

    while (low < high) { /* the first one on its lines */
        size_t middle = low + (high - low) / 2;

        if (rows[middle] + 1 < c->line)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && rows[low] < c->end_line;
}

static struct aside *find_asides(const struct stet_python_ast *a, size_t *count)
{
    static const char word[] = "stet: ignore";
    const char *p = a->text.ptr, *end = p + a->text.len;
    struct aside *found = NULL;
    size_t room = 0;

    *count = 0;
    while (p < end && (p = memmem(p, (size_t)(end - p), word, sizeof word - 1))) {
        const char *stop = memchr(p, '\n', (size_t)(end - p)), *spec = p + sizeof word - 1;
        bool whole = (size_t)(end - spec) >= 5 && !memcmp(spec, "-file", 5);

        stop = stop ? stop : end;
        if (!stet_vec_room(&found, &room, *count, sizeof *found)) {
            stet_mem_free(found);
            *count = 1; /* there are some */
            return NULL;
        }
        spec += whole ? 5 : 0;
        found[(*count)++] = (struct aside){stet_python_row(a, (uint32_t)(p - a->text.ptr)), whole,
                                           stet_view_of(spec, (size_t)(stop - spec))};
        p = stop;
    }
    return found;
}

/* Drops candidates that a comment of their lines, or of the file, suppresses: rule by rule, so that
 * neither long lines nor many comments take more time than the length of the text. */
static void drop_asides(struct lint_summary *s, const struct aside *asides, size_t count,
                        uint32_t *rows)
{
    bool found[LINT_RULES] = {false};
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->candidate_count; i++)
        found[s->candidates[i].rule] = true;
    for (unsigned r = 0; r < LINT_RULES; r++) {
        size_t n;
        bool whole;

        if (!found[r])
            continue;
        whole = rows_naming(&lint_rule_table[r], asides, count, rows, &n);
        for (uint32_t i = 0; i < s->candidate_count; i++) {
            struct lint_candidate *c = &s->candidates[i];

            if (c->rule == r && (whole || is_put_aside(c, rows, n)))
                c->rule = LINT_RULES;
        }
    }
    for (uint32_t i = 0; i < s->candidate_count; i++)
        if (s->candidates[i].rule != LINT_RULES)
            s->candidates[kept++] = s->candidates[i];
    s->ignored += s->candidate_count - kept;
    s->candidate_count = kept;
}

static void honour_comments(struct lint_walk *w)
{
    size_t count;
    struct aside *asides = find_asides(w->ast, &count);
    uint32_t *rows = asides ? stet_mem_calloc(count, sizeof *rows) : NULL;

    if (rows)
        drop_asides(w->out, asides, count, rows);
    else if (count)
        w->failed = true;
    stet_mem_free(asides);
    stet_mem_free(rows);
}

/* Moves growing arrays into the arena, so that a summary is released in one piece. */
static void *settle(struct lint_walk *w, void *items, size_t count, size_t size)
{
    void *kept = stet_arena_alloc(&w->out->arena, count + 1, size);

    if (kept && count)
        memcpy(kept, items, count * size);
    if (!kept)
        w->failed = true;
    stet_mem_free(items);
    return kept;
}

static void release(struct lint_walk *w)
{
    for (uint32_t i = 0; i < w->fn_count; i++)
        lint_scope_release(&w->fns[i].scope);
    for (uint32_t i = 0; i < w->class_count; i++)
        lint_scope_release(&w->classes[i].attributes);
    stet_mem_free(w->fns);
    stet_mem_free(w->classes);
    stet_mem_free(w->jits);
    stet_map_release(&w->index_of);
    stet_map_release(&w->moves);
    stet_map_release(&w->class_moves);
    stet_map_release(&w->builders);
    stet_mem_free(w->global_writes);
    stet_mem_free(w->compiled);
    stet_mem_free(w->values);
}

static bool walk(struct lint_walk *w)
{
    uint32_t *used = NULL;
    bool fine;

    w->global_writes = stet_mem_calloc(w->ast->names.count, sizeof *w->global_writes);
    w->compiled = stet_mem_calloc(w->ast->names.count, sizeof *w->compiled);
    w->values = stet_mem_calloc(w->ast->count, sizeof *w->values);
    if (!w->global_writes || !w->compiled || !w->values || !lint_collect(w))
        return false;
    if (!stet_python_builders(w->module, &w->builders))
        return false;
    lint_note_moves(w);
    lint_note_compiled(w);
    w->facts = lint_file_facts(w);
    used = stet_mem_calloc(w->fn_count, sizeof *used);
    fine = used && summarize_functions(w, used) && summarize_classes(w);
    stet_mem_free(used);
    if (!fine)
        return false;
    lint_run_function(w, 0);
    if (!w->failed)
        honour_comments(w);
    return !w->failed;
}

enum stet_rc lint_walk_file(struct lint_summary *out, const struct stet_python_module *module,
                            struct stet_err *err)
{
    struct lint_work work = {.most = (1 << 16) + (uint64_t)module->ast.count * 256};
    struct stet_map moves = {0};
    struct lint_walk w = {.module = module,
                          .ast = &module->ast,
                          .out = out,
                          .work = &work,
                          .attribute_moves = &moves};
    bool fine;

    *out = (struct lint_summary){.broken = module->ast.broken};
    stet_arena_init(&out->arena, (size_t)256 << 20);
    out->module = stet_arena_copy(&out->arena, module->name);
    lint_rules_prepare();
    fine = walk(&w);
    out->imports = settle(&w, out->imports, out->import_count, sizeof *out->imports);
    out->calls = settle(&w, out->calls, out->call_count, sizeof *out->calls);
    out->candidates = settle(&w, out->candidates, out->candidate_count, sizeof *out->candidates);
    out->steps = work.steps;
    release(&w);
    stet_map_release(&moves);
    if (!fine || w.failed || out->arena.failed) {
        lint_summary_release(out);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    return STET_OK;
}
