/* PyTorch/XLA traces lazily and its programs have no lines: the loop that waits, and what it calls,
 * show where a value entered. */
#include "explain/history_internal.h"
#include "explain/observed.h"

/* What the waiting line's loop reaches; NULL for other frameworks. */
static const struct stet_python_reach *reach_of(struct stet_history *h,
                                                const struct stet_sighting *s)
{
    struct stet_history_judge *j = h->judge;
    uint32_t i = 0;

    if (s->traits->framework != STET_FRAMEWORK_TORCH_XLA || !s->trigger.line)
        return NULL;
    while (i < STET_REACHES && !stet_place_eq(&j->reached[i], &s->trigger))
        i++;
    if (i == STET_REACHES) {
        i = j->reaches++ % STET_REACHES;
        stet_python_reach_from(&h->sources, s->trigger.file, s->trigger.line, &j->reach[i]);
        j->reached[i] = s->trigger;
    }
    return &j->reach[i];
}

static struct stet_place place_of(const struct stet_python_step *step)
{
    return (struct stet_place){.file = stet_view_str(step->module->path),
                               .line = stet_python_line(step->module, step->statement)};
}

/* Was a graph of this process cut in the statement? */
static bool was_cut(const struct stet_history *h, const struct stet_sighting *s,
                    const struct stet_python_step *step)
{
    struct stet_place at = place_of(step);

    return stet_history_on_line(h, s->process, &at) != STET_NONE;
}

typedef bool step_fn(struct stet_history *h, const struct stet_sighting *s,
                     const struct stet_python_reach *r, const struct stet_python_step *step);

/* The only statement in reach of a kind; no line for none or *several. */
static struct stet_place only_step_of(struct stet_history *h, const struct stet_sighting *s,
                                      const struct stet_python_reach *r, step_fn *is_it,
                                      bool *several)
{
    struct stet_place found = {.line = 0};

    for (uint32_t i = 0; r && i < r->count; i++) {
        if (!is_it(h, s, r, &r->steps[i]))
            continue;
        *several = found.line != 0;
        if (*several)
            return (struct stet_place){.line = 0};
        found = place_of(&r->steps[i]);
    }
    return found;
}

static struct stet_place only_step(struct stet_history *h, const struct stet_sighting *s,
                                   step_fn *is_it)
{
    bool several = false;

    return only_step_of(h, s, reach_of(h, s), is_it, &several);
}

/* The same in the loops around the lines that wait, the innermost first: the step may be in what
 * another turn of an outer loop calls. */
static struct stet_place only_step_around(struct stet_history *h, struct stet_finding *f,
                                          step_fn *is_it)
{
    struct stet_place found = {.line = 0};
    struct stet_python_reach r = {0};
    struct stet_observed seen;
    bool several = false;

    stet_observed_init(&seen, h, f);
    for (size_t i = 0; i < seen.stack.waits && !found.line && !several; i++) {
        const struct stet_python_watched *at = &seen.stack.frames[i];

        stet_python_reach_from(&h->sources, at->file, at->line, &r);
        found = only_step_of(h, stet_sighting_of(h, f), &r, is_it, &several);
    }
    stet_python_reach_release(&r);
    stet_observed_release(&seen);
    return found;
}

static bool reads_size(struct stet_history *h, const struct stet_sighting *s,
                       const struct stet_python_reach *r, const struct stet_python_step *step)
{
    return stet_python_step_reads_size(r, step) && was_cut(h, s, step);
}

static bool selects(struct stet_history *h, const struct stet_sighting *s,
                    const struct stet_python_reach *r, const struct stet_python_step *step)
{
    (void)r;
    return was_cut(h, s, step) && stet_python_step_selects(&h->sources, step);
}

static bool feeds(struct stet_history *h, const struct stet_sighting *s,
                  const struct stet_python_reach *r, const struct stet_python_step *step)
{
    (void)s, (void)r;
    return stet_python_step_feeds(&h->sources, step);
}

static bool updates(struct stet_history *h, const struct stet_sighting *s,
                    const struct stet_python_reach *r, const struct stet_python_step *step)
{
    (void)s, (void)r;
    return stet_python_step_updates(&h->sources, step);
}

static bool clears(struct stet_history *h, const struct stet_sighting *s,
                   const struct stet_python_reach *r, const struct stet_python_step *step)
{
    (void)s, (void)r;
    return stet_python_step_clears(&h->sources, step);
}

/* A place in another file is not a line of the trigger's. */
static uint32_t line_here(const struct stet_sighting *s, struct stet_place at)
{
    return stet_view_eq(at.file, s->trigger.file) ? at.line : 0;
}

uint32_t stet_evidence_lazy_size_read(struct stet_history *h, const struct stet_sighting *s)
{
    return line_here(s, only_step(h, s, reads_size));
}

uint32_t stet_evidence_lazy_selection(struct stet_history *h, const struct stet_sighting *s)
{
    return line_here(s, only_step(h, s, selects));
}

static void point_at(struct stet_history *h, struct stet_finding *f, struct stet_place at)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    if (!at.line)
        return;
    at.file = stet_arena_copy(&h->arena, at.file);
    if (stet_view_eq(at.file, s->trigger.file) &&
        stet_python_def_around(&h->sources, at.file, at.line) ==
            stet_python_def_around(&h->sources, at.file, s->trigger.line))
        at.function = s->trigger.function;
    f->origin = at;
}

void stet_evidence_lazy_point_at(struct stet_history *h, struct stet_finding *f, uint32_t line)
{
    point_at(h, f, (struct stet_place){.file = stet_sighting_of(h, f)->trigger.file, .line = line});
}

/* The statement in reach that gives the operation a number by name; no line for none. */
static struct stet_place step_of(struct stet_history *h, const struct stet_python_reach *r,
                                 struct stet_view operation, bool *several)
{
    struct stet_place found = {.line = 0};

    for (uint32_t i = 0; i < r->count; i++) {
        if (!stet_python_step_gives(&h->sources, &r->steps[i], operation))
            continue;
        *several |= found.line != 0;
        found = place_of(&r->steps[i]);
    }
    return found;
}

/* Without a location the change is that of the constant; its subject is the operation that uses it.
 */
static struct stet_view operation_of(const struct stet_reported_change *c)
{
    struct stet_view v = c->op;
    const char *dot = v.len ? memrchr(v.ptr, '.', v.len) : NULL;

    if (c->kind == STET_CHANGE_CONSTANT)
        return c->of.in;
    return dot ? stet_view_of(dot + 1, (size_t)(v.ptr + v.len - dot) - 1) : v;
}

static struct stet_place step_of_changes(struct stet_history *h, const struct stet_finding *f,
                                         const struct stet_python_reach *r, bool *several)
{
    struct stet_place at = {.line = 0};

    if (f->cause == STET_CAUSE_TOPK_K)
        at = step_of(h, r, STET_VIEW("topk"), several);
    for (uint32_t i = 0; !at.line && i < f->change_count; i++)
        at = step_of(h, r, operation_of(&f->changes[i]), several);
    return at;
}

/* In the generators that were suspended: they compute what the loop takes from them. */
static struct stet_place step_of_generators(struct stet_history *h, struct stet_finding *f,
                                            bool *several)
{
    struct stet_place found = {.line = 0};
    struct stet_python_reach r = {0};
    struct stet_observed seen;

    stet_observed_init(&seen, h, f);
    for (size_t i = seen.stack.waits; i < seen.stack.count && !found.line; i++) {
        const struct stet_python_watched *at = &seen.stack.frames[i];

        stet_python_reach_from(&h->sources, at->file, at->line, &r);
        found = step_of_changes(h, f, &r, several);
    }
    stet_python_reach_release(&r);
    stet_observed_release(&seen);
    return found;
}

static void find_operation(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_python_reach *r = reach_of(h, stet_sighting_of(h, f));
    struct stet_place at = {.line = 0};
    bool several = false;

    if (r)
        at = step_of_changes(h, f, r, &several);
    if (!at.line)
        at = step_of_generators(h, f, &several);
    if (!several) /* it may be any of them: none is named */
        point_at(h, f, at);
}

/* A Python number that a function traced by torch_xla.compile takes is part of its graph. */
static void static_argument(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct stet_view name = {0};

    for (uint32_t i = 0; !name.len && i < f->change_count; i++)
        name = stet_python_traced_parameter(&h->sources, f->origin.file, s->traits->function,
                                            f->origin.line, operation_of(&f->changes[i]));
    if (!name.len)
        return;
    stet_finding_hear(h, f, STET_BETTER(BAKED_CONSTANT, STATIC_ARGUMENT, SOURCE, LIKELY),
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
    switch (stet_cause_step(f->cause)) {
    case STET_STEP_SELECTS:
        stet_evidence_lazy_point_at(h, f, stet_evidence_lazy_selection(h, s));
        break;
    case STET_STEP_FEEDS:
        point_at(h, f, only_step(h, s, feeds));
        break;
    case STET_STEP_FEEDS_SIZE:
        if (f->facts.argument_shape)
            point_at(h, f, only_step(h, s, feeds));
        break;
    case STET_STEP_UPDATES:
        point_at(h, f, only_step(h, s, updates));
        break;
    case STET_STEP_CLEARS:
        point_at(h, f, only_step_around(h, f, clears));
        break;
    case STET_STEP_COMPUTES:
        find_operation(h, f);
        if (f->origin.line && f->cause == STET_CAUSE_BAKED_CONSTANT)
            static_argument(h, f);
        break;
    case STET_STEP_NONE:
        break;
    }
}
