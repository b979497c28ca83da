/* The line to edit: where the value that changed was decided. What the evidence before read back is
 * kept; otherwise the value is followed (decided.c), then copies to the device and operations
 * outside any jitted function show where an argument was made. */
#include "explain/decided.h"
#include "explain/history_internal.h"
#include "explain/jitted.h"
#include "explain/readback.h"

enum { LOOK = 512 };

static bool at_line(struct stet_finding *f, struct stet_place at, enum stet_sure sure)
{
    if (!at.line)
        return false;
    f->source = at;
    f->source_sure = sure;
    return true;
}

/* ---- copies and operations ---- */

/* Is there a dimension with the new size, where the previous copy of the same place had the old
 * one? */
static bool drifts(const struct stet_journal_copied *was, const struct stet_journal_copied *is,
                   const struct stet_facts *facts)
{
    if (was->rank != is->rank || was->lines.items != is->lines.items)
        return false;
    for (uint32_t i = 0; i < is->rank; i++)
        if (was->dims[i] == facts->size_from && is->dims[i] == facts->size_to)
            return true;
    return false;
}

static bool has_size(const struct stet_journal_copied *c, int64_t size)
{
    for (uint32_t i = 0; i < c->rank; i++)
        if (c->dims[i] == size)
            return true;
    return false;
}

/* The call itself copies a NumPy argument to the device; that is not where the value was made. */
static bool is_the_call(const struct stet_sighting *s, const struct stet_journal_copied *c)
{
    const struct stet_frame *at = &c->lines.items[0];

    return at->line == s->trigger.line && stet_view_eq(at->file, s->trigger.file);
}

/* Has the same place sent the old size before copy `at`? */
static bool sent_before(const struct stet_order *o, size_t at, const struct stet_facts *facts)
{
    for (size_t i = at; i > 0 && at - i + 1 < LOOK; i--)
        if (!o->copies[i - 1].to_host && drifts(&o->copies[i - 1], &o->copies[at], facts))
            return true;
    return false;
}

/* The line that copied an array of the new size to the device. */
static struct stet_place sent(const struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_order *o = s->process < h->order_count ? &h->orders[s->process] : NULL;
    uint64_t after = h->sightings[f->against].time_ns;

    for (size_t i = o ? stet_explain_copies_until(o, s->time_ns) : 0; i-- > 0;) {
        const struct stet_journal_copied *c = &o->copies[i];

        if (c->time_ns <= after)
            break;
        if (!c->to_host && c->lines.count && !is_the_call(s, c) && has_size(c, f->facts.size_to) &&
            sent_before(o, i, &f->facts))
            return (struct stet_place){c->lines.items[0].file, c->lines.items[0].function,
                                       (uint32_t)c->lines.items[0].line};
    }
    return (struct stet_place){.line = 0};
}

/* An operation outside any jitted function with the new size was compiled for it just before. */
static struct stet_place computed(const struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    for (uint32_t i = f->sighting, n = 0; i > f->against + 1 && n < LOOK; i--, n++) {
        const struct stet_sighting *o = &h->sightings[i - 1];
        const struct stet_place *at = stet_history_line(o);

        if (o->past || o->process != s->process || !stet_history_is_eager(o) || !at->line ||
            stet_place_eq(at, &s->trigger))
            continue;
        for (uint32_t k = 0; k < o->traits->size_count; k++)
            if (o->traits->sizes[k] == f->facts.size_to)
                return *at;
    }
    return (struct stet_place){.line = 0};
}

static bool made_elsewhere(struct stet_history *h, struct stet_finding *f)
{
    struct stet_place at;

    if (!f->facts.argument_shape || !f->facts.size_to)
        return false;
    at = sent(h, f);
    if (at.line)
        return stet_explain_decided_at(h, f, &at) || at_line(f, at, STET_SURE_LIKELY);
    return at_line(f, computed(h, f), STET_SURE_LIKELY);
}

/* ---- lines of the traced function ---- */

/* A loop that runs another number of times: the loop around the repeated block, or the only one of
 * the function, which calls what has the block. */
static bool looped(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_place *root = &stet_sighting_of(h, f)->traits->root;
    struct stet_place at = f->origin;

    if (f->cause != STET_CAUSE_PYTHON_LOOP || !f->origin.line)
        return false;
    at.line = stet_python_loop_of_line(&h->sources, at.file, at.line);
    if (at.line)
        return at_line(f, at, STET_SURE_CERTAIN);
    at = *root;
    at.line = stet_python_only_loop(&h->sources, root->file,
                                    stet_sighting_of(h, f)->traits->function, root->line);
    return at_line(f, at, STET_SURE_CERTAIN);
}

/* A part that begins elsewhere: the line that takes it. TorchTPU takes a part where it is used
 * first, outside torch.compile. */
static bool sliced(struct stet_history *h, struct stet_finding *f)
{
    bool used = stet_history_needs_steps(stet_sighting_of(h, f));

    return f->cause == STET_CAUSE_SLICE_START &&
           at_line(f, f->origin, used ? STET_SURE_LIKELY : STET_SURE_CERTAIN);
}

/* The line that takes the gradients away, where the source shows one. */
static bool cleared(const struct stet_history *h, struct stet_finding *f)
{
    return stet_cause_step(f->cause) == STET_STEP_CLEARS &&
           stet_sighting_of(h, f)->traits->framework == STET_FRAMEWORK_TORCH_XLA &&
           at_line(f, f->origin, STET_SURE_CERTAIN);
}

/* A number of an optimizer that JAX compiled in: the line that makes the optimizer with it. */
static bool optimizer_made(struct stet_history *h, struct stet_finding *f)
{
    struct stet_python_made made;

    if (f->cause != STET_CAUSE_OPTIMIZER_SCALAR ||
        stet_sighting_of(h, f)->traits->framework != STET_FRAMEWORK_JAX)
        return false;
    made = stet_python_makes_optimizer(&h->sources);
    return at_line(f, stet_lines_place(h, &made), made.sure ? STET_SURE_CERTAIN : STET_SURE_LIKELY);
}

/* ---- the call ---- */

/* The line that jitted the function called, or the call itself. How the function was jitted shows
 * no argument's placement. */
static bool jitted(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct stet_place at;
    bool sure;

    if (!stet_cause_is(f->cause, STET_CAUSE_OF_JIT) || s->eager)
        return false;
    if (!stet_explain_jitted(h, f, STET_JIT_NOW, &at, &sure))
        return at_line(f, s->trigger, STET_SURE_LIKELY);
    return at_line(f, at,
                   sure && !stet_cause_is(f->cause, STET_CAUSE_OF_PLACE) ? STET_SURE_CERTAIN
                                                                         : STET_SURE_LIKELY);
}

/* Another function of one definition was called, and its program differs: the line that jitted or
 * made it. */
static bool made_anew(struct stet_history *h, struct stet_finding *f, enum stet_jit_line which)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_sighting *was = &h->sightings[f->against];
    struct stet_view made_in;
    struct stet_place at;
    bool sure;

    return !s->eager && was->process == s->process &&
           (stet_explain_made_anew(was->values, s->values) ||
            stet_python_makes_jit(&h->sources, s->trigger.file, s->trigger.line, &made_in)) &&
           stet_explain_jitted(h, f, which, &at, &sure) && at_line(f, at, STET_SURE_LIKELY);
}

/* The line that decided the value. Of what a function closes over that may be data: the line that
 * jits it anew. */
static bool decided(struct stet_history *h, struct stet_finding *f)
{
    if (!stet_explain_decided(h, f))
        return false;
    if (f->cause == STET_CAUSE_BAKED_CONSTANT && f->source_sure < STET_SURE_CERTAIN)
        made_anew(h, f, STET_JIT_NOW);
    return true;
}

/* Did jit take an argument that differs as static because the user said so? */
static bool is_declared(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->moved_count; i++)
        if (f->moved[i].static_argument && !f->moved[i].wrapped)
            return true;
    return false;
}

/* A static argument: the line that decides its value, or else the line that makes it static. */
static bool declared(struct stet_history *h, struct stet_finding *f)
{
    struct stet_place at;
    bool sure;

    if (f->cause != STET_CAUSE_STATIC_ARGUMENT || !is_declared(f))
        return false;
    if (stet_explain_decided(h, f))
        return true;
    return stet_explain_jitted(h, f, STET_JIT_NOW, &at, &sure) &&
           at_line(f, at, sure ? STET_SURE_CERTAIN : STET_SURE_LIKELY);
}

void stet_evidence_source(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    /* A function that is first compiled late is warmed up where it is called. */
    if (f->facts.first && f->cause == STET_CAUSE_HIDDEN_BRANCH && !f->source.line && !s->eager)
        f->source = s->trigger;
    if (f->cause >= STET_CAUSES || f->facts.first || f->facts.past || f->against == STET_NONE ||
        f->source.line || !s->trigger.line)
        return;
    if (f->cause == STET_CAUSE_FRESH_JIT && f->origin.line)
        return; /* the line that makes the function */
    if (declared(h, f) || looped(h, f) || sliced(h, f) || cleared(h, f) || optimizer_made(h, f) ||
        decided(h, f) || made_elsewhere(h, f) || jitted(h, f) || made_anew(h, f, STET_JIT_MAKER))
        return;
}
