/* Finds where the value that changed was made: the copy to the device, or the operation outside any
 * jitted function, that has the new size. Also finds the call, for what is decided where a function
 * is jitted. */
#include "explain/history_internal.h"
#include "explain/readback.h"

enum { LOOK = 512, CALLS_MOST = 8 };

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

static bool sent(const struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_order *o = s->process < h->order_count ? &h->orders[s->process] : NULL;
    uint64_t after = h->sightings[f->against].time_ns;

    for (size_t i = o ? stet_explain_copies_until(o, s->time_ns) : 0; i-- > 0;) {
        const struct stet_journal_copied *c = &o->copies[i];

        if (c->time_ns <= after)
            break;
        if (c->to_host || !c->lines.count || is_the_call(s, c) || !has_size(c, f->facts.size_to) ||
            !sent_before(o, i, &f->facts))
            continue;
        f->source = (struct stet_place){c->lines.items[0].file, c->lines.items[0].function,
                                        (uint32_t)c->lines.items[0].line};
        return true;
    }
    return false;
}

/* An operation outside any jitted function with the new size was compiled for it just before. */
static bool computed(const struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    for (uint32_t i = f->sighting, n = 0; i > f->against + 1 && n < LOOK; i--, n++) {
        const struct stet_sighting *o = &h->sightings[i - 1];
        const struct stet_place *at = stet_history_line(o);

        if (o->past || o->process != s->process || !stet_history_is_eager(o) || !at->line ||
            stet_place_eq(at, &s->trigger))
            continue;
        for (uint32_t k = 0; k < o->traits->size_count; k++)
            if (o->traits->sizes[k] == f->facts.size_to) {
                f->source = *at;
                return true;
            }
    }
    return false;
}

/* The line that assigned a variable, in the innermost of the waiting functions whose waiting line
 * passes it on. */
static bool assigned(struct stet_history *h, struct stet_finding *f, struct stet_view name)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct stet_place at = s->trigger;

    for (size_t i = 0;; i++) {
        uint32_t line = stet_python_binding_line(&h->sources, at.file, at.line, name);

        if (line) {
            f->source = (struct stet_place){at.file, at.function, line};
            return true;
        }
        if (i >= s->lines.count)
            return false;
        at = (struct stet_place){s->lines.items[i].file, s->lines.items[i].function,
                                 (uint32_t)s->lines.items[i].line};
    }
}

/* Where the batch was cut: the line of the loader from which a line takes it. */
static bool loaded_at(struct stet_history *h, struct stet_finding *f, struct stet_place at)
{
    struct stet_view file;
    uint32_t line = stet_python_loader_line(&h->sources, at.file, at.line, &file);

    if (line)
        f->source = (struct stet_place){.file = stet_arena_copy(&h->arena, file), .line = line};
    return line != 0;
}

/* The line that bound the variable takes it from a loader; if none did, a waiting line may. */
static bool loaded(struct stet_history *h, struct stet_finding *f, bool is_bound)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    bool found = loaded_at(h, f, is_bound ? f->source : s->trigger);

    for (size_t i = 0; !found && !is_bound && i < s->lines.count; i++)
        found = loaded_at(h, f,
                          (struct stet_place){.file = s->lines.items[i].file,
                                              .line = (uint32_t)s->lines.items[i].line});
    return found;
}

/* Is it an array that changed as the program did? If a size did, it is the array's. A NumPy array
 * that the first step made one of the device changed nothing. */
static bool is_changed_array(const struct stet_finding *f, const struct stet_moved *m)
{
    if (f->cause == STET_CAUSE_OPTIONAL_KEY)
        return m->array && m->one_sided;
    if (f->cause == STET_CAUSE_DTYPE_CHANGE)
        return m->array && m->typed;
    if (!m->array || !f->facts.argument_shape || f->facts.size_from == f->facts.size_to)
        return m->array;
    return m->one_sided || (m->size_from == f->facts.size_from && m->size_to == f->facts.size_to);
}

/* Finds a variable of a waiting function that held the old value at one compile and the new one at
 * the other, and that its waiting line passes. The variable holds an array, or what `like` held. */
static bool bound(struct stet_history *h, struct stet_finding *f, const struct stet_moved *like)
{
    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];
        bool fits = like ? stet_view_eq(m->from, like->from) && stet_view_eq(m->to, like->to)
                         : is_changed_array(f, m);

        if (fits && (m->scope == STET_SCOPE_LOCAL || m->scope == STET_SCOPE_GLOBAL) &&
            assigned(h, f, stet_explain_moved_root(m)))
            return true;
    }
    return false;
}

/* Did the values of this argument become constants of the two programs? */
static bool is_constant(const struct stet_finding *f, const struct stet_moved *m)
{
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_moved *held = stet_finding_constant_holder(f, i);

        if (held && stet_view_eq(held->from, m->from) && stet_view_eq(held->to, m->to))
            return true;
    }
    return false;
}

/* Finds the argument that differs and is not an array: a static one, or a number of another type.
 * For a branch, an argument that did not become a constant is preferred, because it decided the
 * branch. If no variable held the value, its line is that of the call. */
static bool bound_number(struct stet_history *h, struct stet_finding *f)
{
    bool branch = stet_cause_question(f->cause) == STET_QUESTION_BRANCH, decides = false;

    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        if (m->scope != STET_SCOPE_ARGUMENT || m->array || (branch && is_constant(f, m)))
            continue;
        if (bound(h, f, m))
            return true;
        decides |= m->static_argument;
    }
    if (branch && decides)
        f->source = stet_sighting_of(h, f)->trigger;
    return f->source.line != 0;
}

/* The variable that held the two values of a constant. */
static bool bound_constant(struct stet_history *h, struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_moved *m = stet_finding_constant_holder(f, i);

        if (m && bound(h, f, m))
            return true;
    }
    return false;
}

/* The line that assigned the argument whose sharding differs, through the functions that pass it
 * on. */
static bool placed(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct stet_python_waiting calls[CALLS_MOST] = {{s->trigger.file, s->trigger.line}};
    size_t count = 1, at = 0;
    uint32_t line = 0;

    for (size_t i = 0; i < s->lines.count && count < CALLS_MOST; i++) {
        const struct stet_frame *l = &s->lines.items[i];

        if ((uint32_t)l->line != s->trigger.line || !stet_view_eq(l->file, s->trigger.file))
            calls[count++] = (struct stet_python_waiting){l->file, (uint32_t)l->line};
    }
    for (uint32_t i = 0; !line && i < f->change_count; i++) {
        const struct stet_change_subject *of = &f->changes[i].of;

        if (f->changes[i].kind == STET_CHANGE_ARGUMENT && of->aspect == STET_ASPECT_SHARDING)
            line =
                stet_python_passed_line(&h->sources, calls, count, stet_view_word(of->name), &at);
    }
    if (line)
        f->source = (struct stet_place){.file = calls[at].file, .line = line};
    return line != 0;
}

/* The line that chose or made the function called, or the call itself. If the same function is
 * called every time, what it was called with differs. */
static void jitted(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    bool once;
    uint32_t line = stet_python_callee_line(&h->sources, s->trigger.file, s->trigger.line, &once);

    if (f->cause == STET_CAUSE_SHARDING_CHANGE && (once || !line) && placed(h, f))
        return;
    f->source = s->trigger;
    if (line)
        f->source.line = line;
}

/* Causes that concern the kind of an argument. */
static bool of_an_argument(enum stet_cause cause)
{
    return cause == STET_CAUSE_SHAPE_DRIFT || cause == STET_CAUSE_LAST_BATCH ||
           cause == STET_CAUSE_RANK_CHANGE || cause == STET_CAUSE_DTYPE_CHANGE ||
           cause == STET_CAUSE_VARLEN || cause == STET_CAUSE_MASK_GATHER ||
           cause == STET_CAUSE_OPTIONAL_KEY || cause == STET_CAUSE_SHARDING_CHANGE ||
           cause == STET_CAUSE_LAYOUT_CHANGE;
}

/* Causes that are decided where a function is jitted, if no argument shows them. */
static bool of_the_jit(enum stet_cause cause)
{
    return cause == STET_CAUSE_DONATION_CHANGE || cause == STET_CAUSE_SHARDING_CHANGE;
}

void stet_evidence_source(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    if (f->cause >= STET_CAUSES || f->facts.first || f->facts.past || f->against == STET_NONE)
        return;
    if (!f->source.line && f->facts.argument_shape && f->facts.size_to)
        (void)(sent(h, f) || computed(h, f));
    if (f->source.line || !s->trigger.line)
        return;
    if (of_an_argument(f->cause) && (loaded(h, f, bound(h, f, NULL)) || f->source.line))
        return;
    if (bound_number(h, f) || bound_constant(h, f))
        return;
    /* No operation differs: the same function was jitted in another way. */
    if (of_the_jit(f->cause) && !s->eager)
        jitted(h, f);
}
