/* PyTorch/XLA traces lazily and its programs have no lines: the loop that waits, and what it calls,
 * show where a value entered. */
#include "explain/history_internal.h"

static const struct stet_py_reach *reach_of(struct stet_history_judge *j,
                                            const struct stet_pyfile *file,
                                            const struct stet_place *line)
{
    uint32_t i = 0;

    while (i < STET_REACHES && !stet_place_eq(&j->reached[i], line))
        i++;
    if (i == STET_REACHES) {
        i = j->reaches++ % STET_REACHES;
        stet_py_reach_from(file, line->line, &j->reach[i]);
        j->reached[i] = *line;
    }
    return &j->reach[i];
}

/* The reach of the waiting line's loop, and its file; NULL if that is not available. */
static const struct stet_pyfile *open_lazy(struct stet_history *h, const struct stet_sighting *s,
                                           const struct stet_py_reach **reach)
{
    const struct stet_pyfile *file = NULL;

    if (s->traits->framework == STET_FRAMEWORK_TORCH_XLA && s->trigger.line)
        file = stet_pysource_open(&h->sources, s->trigger.file);
    *reach = file ? reach_of(h->judge, file, &s->trigger) : NULL;
    return file;
}

/* Was a graph of this process cut in the line? */
static bool was_cut(const struct stet_history *h, const struct stet_sighting *s, uint32_t line)
{
    struct stet_place at = {.file = s->trigger.file, .line = line};

    return stet_history_on_line(h, s->process, &at) != STET_NONE;
}

static bool sizes_by(const struct stet_pyfile *file, const struct stet_py_reach *reach,
                     struct stet_view name)
{
    for (uint32_t span = 0, line = 0; stet_py_reach_next(file, reach, &span, &line);)
        if (stet_py_uses_as_size(stet_py_statement(file, line), name))
            return true;
    return false;
}

uint32_t stet_lazy_size_read(struct stet_history *h, const struct stet_sighting *s)
{
    const struct stet_py_reach *reach;
    const struct stet_pyfile *file = open_lazy(h, s, &reach);
    uint32_t found = 0;

    for (uint32_t span = 0, line = 0; file && stet_py_reach_next(file, reach, &span, &line);) {
        struct stet_view text = stet_py_statement(file, line), name = stet_py_assigned(text);

        if (!name.len || !stet_py_reads_scalar(text) || !was_cut(h, s, line) ||
            !sizes_by(file, reach, name))
            continue;
        if (found)
            return 0; /* either of them */
        found = line;
    }
    return found;
}

/* Does it index by something, or compute positions? */
static bool selects(struct stet_view text)
{
    static const char *const words[] = {"nonzero(", "masked_select(", "argwhere(", NULL};

    for (const char *const *w = words; *w; w++)
        if (stet_py_mentions(text, stet_view_str(*w)))
            return true;
    return text.len && memchr(text.ptr, '[', text.len);
}

uint32_t stet_lazy_selection(struct stet_history *h, const struct stet_sighting *s)
{
    const struct stet_py_reach *reach;
    const struct stet_pyfile *file = open_lazy(h, s, &reach);
    uint32_t found = 0;

    for (uint32_t span = 0, line = 0; file && stet_py_reach_next(file, reach, &span, &line);) {
        struct stet_view text = stet_py_statement(file, line);

        /* `log["loss"] = loss.cpu()` is cut there too, for what it reads */
        if (stet_py_reads_back(text) || !selects(text) || !was_cut(h, s, line))
            continue;
        if (found)
            return 0; /* either of them */
        found = line;
    }
    return found;
}

void stet_lazy_point_at(struct stet_history *h, struct stet_finding *f, uint32_t line)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_pyfile *file = line ? stet_pysource_open(&h->sources, s->trigger.file) : NULL;

    if (!file)
        return;
    f->origin = (struct stet_place){.file = s->trigger.file, .line = line};
    if (stet_py_def_of(file, line) == stet_py_def_of(file, s->trigger.line))
        f->origin.function = s->trigger.function;
}

/* Does it bring data to the device? .to(torch.float16) and .to(x.dtype) only give it another type.
 */
static bool feeds(const struct stet_pyfile *file, struct stet_view text)
{
    (void)file;
    return stet_py_moves(text);
}

/* Does it let an optimizer take its step? A schedule of the learning rate has a `step` too. */
static bool updates(const struct stet_pyfile *file, struct stet_view text)
{
    struct stet_view name = stet_py_called_on(text, STET_VIEW("step"));

    if (stet_py_mentions(text, STET_VIEW("optimizer_step(")))
        return true;
    for (uint32_t at = 1; name.len && at <= file->count; at++) {
        struct stet_view made =
            file->starts[at - 1] == at ? stet_py_statement(file, at) : (struct stet_view){0};

        if (stet_view_eq(stet_py_assigned(made), name) &&
            stet_py_mentions(made, STET_VIEW("optim")) &&
            !stet_py_mentions(made, STET_VIEW("lr_scheduler")))
            return true;
    }
    return false;
}

/* The only line in reach of its kind; 0 for none or several. */
static uint32_t only_line(struct stet_history *h, const struct stet_sighting *s,
                          bool (*is_it)(const struct stet_pyfile *, struct stet_view))
{
    const struct stet_py_reach *reach;
    const struct stet_pyfile *file = open_lazy(h, s, &reach);
    uint32_t found = 0;

    for (uint32_t span = 0, line = 0; file && stet_py_reach_next(file, reach, &span, &line);) {
        if (!is_it(file, stet_py_statement(file, line)))
            continue;
        if (found)
            return 0;
        found = line;
    }
    return found;
}

/* The line in reach that gives the operation a number by name; 0 for none. */
static uint32_t line_of(const struct stet_pyfile *file, const struct stet_py_reach *reach,
                        struct stet_view operation, bool *several)
{
    uint32_t found = 0;

    for (uint32_t span = 0, line = 0; stet_py_reach_next(file, reach, &span, &line);) {
        if (!stet_py_operand_of(stet_py_statement(file, line), operation).len)
            continue;
        *several |= found != 0;
        found = line;
    }
    return found;
}

/* Without a location the change is that of the constant; its text names the user. */
static struct stet_view operation_of(const struct stet_told *c)
{
    struct stet_view v = c->op;
    const char *dot = v.len ? memrchr(v.ptr, '.', v.len) : NULL;

    if (stet_view_starts(c->what, "constant in "))
        return stet_view_of(c->what.ptr + 12, c->what.len - 12);
    return dot ? stet_view_of(dot + 1, (size_t)(v.ptr + v.len - dot) - 1) : v;
}

static void find_operation(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_py_reach *reach;
    const struct stet_pyfile *file = open_lazy(h, s, &reach);
    bool several = false;
    uint32_t line = 0;

    if (file && f->reason == STET_REASON_TOPK_K)
        line = line_of(file, reach, STET_VIEW("topk"), &several);
    for (uint32_t i = 0; file && !line && i < f->change_count; i++)
        line = line_of(file, reach, operation_of(&f->changes[i]), &several);
    stet_lazy_point_at(h, f, several ? 0 : line); /* several are possible: none is named */
}

/* A Python number that a function traced by torch_xla.compile takes is part of its graph. */
static void static_argument(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_pyfile *file = stet_pysource_open(&h->sources, f->origin.file);
    struct stet_view name = {0};

    if (!file || !stet_py_compiled_lazily(file, s->traits->function))
        return;
    for (uint32_t i = 0; !name.len && i < f->change_count; i++)
        name = stet_py_parameter_in(file, s->traits->function,
                                    stet_py_operand_of(stet_py_statement(file, f->origin.line),
                                                       operation_of(&f->changes[i])));
    if (!name.len)
        return;
    stet_finding_rename(h, f, STET_REASON_BAKED_CONSTANT, STET_REASON_STATIC_ARGUMENT,
                        STET_SURE_LIKELY,
                        "parameter %.*s of a function traced by torch_xla.compile is a Python "
                        "number, and its value is used in this line",
                        STET_FMT(name));
    f->detail = stet_arena_copy(&h->arena, name);
}

void stet_evidence_lazy(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    if (s->traits->framework != STET_FRAMEWORK_TORCH_XLA || f->origin.line)
        return;
    switch (f->reason) {
    case STET_REASON_MASK_GATHER:
        stet_lazy_point_at(h, f, stet_lazy_selection(h, s));
        break;
    case STET_REASON_SHAPE_DRIFT:
    case STET_REASON_LAST_BATCH:
    case STET_REASON_VARLEN:
    case STET_REASON_DTYPE_CHANGE:
    case STET_REASON_RANK_CHANGE:
        if (f->facts.argument_shape || f->reason == STET_REASON_DTYPE_CHANGE ||
            f->reason == STET_REASON_RANK_CHANGE)
            stet_lazy_point_at(h, f, only_line(h, s, feeds));
        break;
    case STET_REASON_OPTIMIZER_SCALAR:
        stet_lazy_point_at(h, f, only_line(h, s, updates));
        break;
    case STET_REASON_BAKED_CONSTANT:
    case STET_REASON_PYTHON_COUNTER:
    case STET_REASON_CAPACITY_LEAK:
    case STET_REASON_TOPK_K:
    case STET_REASON_SLICE_START:
        find_operation(h, f);
        if (f->origin.line && f->reason == STET_REASON_BAKED_CONSTANT)
            static_argument(h, f);
        break;
    default:
        break;
    }
}
