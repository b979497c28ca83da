/* Finds where the value that changed was made: the copy to the device, or the operation outside any
 * jitted function, that has the new size. Also finds the call, for what is decided where a function
 * is jitted. */
#include "explain/history_internal.h"
#include "explain/readback.h"

enum { LOOK = 512 };

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

/* From the line that assigned or copied the value back to the line that made it. */
static void made(struct stet_history *h, struct stet_finding *f)
{
    bool sizes = !stet_cause_is(f->cause, STET_CAUSE_OF_TYPE);
    struct stet_python_waits waits = stet_explain_waits(stet_sighting_of(h, f));
    struct stet_python_waiting from = {f->source.file, f->source.line};
    struct stet_view file;
    uint32_t line = stet_cause_is(f->cause, STET_CAUSE_OF_PLACE)
                        ? 0
                        : stet_python_maker_line(&h->sources, from, &waits, sizes, &file);
    bool same = line && stet_view_eq(file, from.file) &&
                stet_python_def_around(&h->sources, file, line) ==
                    stet_python_def_around(&h->sources, file, from.line);

    if (line)
        f->source =
            (struct stet_place){.file = stet_arena_copy(&h->arena, file),
                                .function = same ? f->source.function : (struct stet_view){0},
                                .line = line};
}

/* Makes it the line to edit, unless there is none. */
static bool point_at(struct stet_history *h, struct stet_finding *f, struct stet_view file,
                     uint32_t line)
{
    if (line)
        f->source = (struct stet_place){.file = stet_arena_copy(&h->arena, file), .line = line};
    return line != 0;
}

/* Where the batch was cut: the line of the loader from which a line takes it. */
static bool loaded_at(struct stet_history *h, struct stet_finding *f, struct stet_place at)
{
    struct stet_python_waits waits = stet_explain_waits(stet_sighting_of(h, f));
    struct stet_python_waiting use = {at.file, at.line};
    struct stet_view file;
    uint32_t line = stet_python_loader_line(&h->sources, use, &waits, &file);

    return point_at(h, f, file, line);
}

/* No variable held the array: a waiting line may take it from a loader. */
static bool loaded(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    bool found = loaded_at(h, f, s->trigger);

    for (size_t i = 0; !found && i < s->lines.count; i++)
        found = loaded_at(h, f,
                          (struct stet_place){.file = s->lines.items[i].file,
                                              .line = (uint32_t)s->lines.items[i].line});
    return found;
}

/* A function of the user's makes the argument in the line of the call. */
static bool made_for_call(struct stet_history *h, struct stet_finding *f)
{
    struct stet_python_waits waits = stet_explain_waits(stet_sighting_of(h, f));
    struct stet_view file;
    uint32_t line = stet_python_made_for_call(&h->sources, waits.calls[0], &waits, &file);

    return point_at(h, f, file, line);
}

/* A block that is repeated elsewhere than in the body of a loop: the loop calls the function that
 * has it. */
static bool looped(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_place *root = &stet_sighting_of(h, f)->traits->root;
    uint32_t line;

    if (!f->origin.line || stet_python_loop_of_line(&h->sources, f->origin.file, f->origin.line))
        return false;
    line = stet_python_only_loop(&h->sources, root->file, stet_sighting_of(h, f)->traits->function,
                                 root->line);
    if (line)
        f->source = (struct stet_place){root->file, root->function, line};
    return line != 0;
}

/* Is it an array that changed as the program did? If a size did, it is the array's. A NumPy array
 * that the first step made one of the device changed nothing. */
static bool is_changed_array(const struct stet_finding *f, const struct stet_moved *m)
{
    if (stet_cause_is(f->cause, STET_CAUSE_OF_PRESENCE))
        return m->array && m->one_sided;
    if (stet_cause_is(f->cause, STET_CAUSE_OF_TYPE))
        return m->array && m->typed;
    if (!m->array || !f->facts.argument_shape || f->facts.size_from == f->facts.size_to)
        return m->array;
    return m->one_sided || (m->size_from == f->facts.size_from && m->size_to == f->facts.size_to);
}

/* The line that gives a field its values after the object was made. */
static bool set(struct stet_history *h, struct stet_finding *f, struct stet_view field)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct stet_journal_function called = stet_journal_values_function(s->values);
    struct stet_python_compiled c = {.file = called.file,
                                     .line = called.line,
                                     .call_file = s->trigger.file,
                                     .call_line = s->trigger.line};
    struct stet_python_made made =
        stet_python_made_attribute(&h->sources, &c, stet_view_of("", 0), field);

    if (made.line)
        f->source = (struct stet_place){.file = stet_arena_copy(&h->arena, made.file),
                                        .function = stet_arena_copy(&h->arena, made.function),
                                        .line = made.line};
    return made.line != 0;
}

/* Is the line before the loop of the waiting line in its function? */
static bool is_before_loop(struct stet_history *h, const struct stet_sighting *s,
                           const struct stet_place *at)
{
    struct stet_python_waits waits = stet_explain_waits(s);
    uint32_t def = stet_python_def_around(&h->sources, at->file, at->line);

    for (size_t i = 0; i < waits.count; i++) {
        const struct stet_python_waiting *w = &waits.calls[i];

        if (stet_view_eq(w->file, at->file) &&
            stet_python_def_around(&h->sources, w->file, w->line) == def)
            return at->line < stet_python_loop_of_line(&h->sources, w->file, w->line);
    }
    return false;
}

/* The same for the variable or the field that held a value: `schedule.rate` before `schedule`. The
 * line that made an object before the loop is not the one that changed its field. */
static bool held(struct stet_history *h, struct stet_finding *f, const struct stet_moved *m)
{
    const char *dot = m->path.len ? memrchr(m->path.ptr, '.', m->path.len) : NULL;
    struct stet_view field =
        dot ? stet_view_of(dot + 1, (size_t)(m->path.ptr + m->path.len - dot - 1)) : m->path;

    if (dot && (assigned(h, f, m->path) || set(h, f, field)))
        return true;
    if (!assigned(h, f, stet_explain_moved_root(m)))
        return false;
    if (dot && is_before_loop(h, stet_sighting_of(h, f), &f->source))
        f->source = (struct stet_place){0};
    return f->source.line != 0;
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
            held(h, f, m))
            return true;
    }
    return false;
}

/* The line that decided the array argument whose size differs, where no variable was seen to hold
 * it. */
static bool passed_array(struct stet_history *h, struct stet_finding *f)
{
    for (uint32_t i = 0; f->facts.argument_shape && i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        if (m->scope == STET_SCOPE_ARGUMENT && !m->wrapped && is_changed_array(f, m) &&
            stet_explain_followed(h, f, stet_explain_moved_root(m)))
            return true;
    }
    return false;
}

/* Finds the argument that differs and is not an array: a static one, or a number of another type.
 * For a branch, an argument that did not become a constant is preferred, because it decided the
 * branch. */
static bool bound_number(struct stet_history *h, struct stet_finding *f)
{
    bool branch = stet_cause_question(f->cause) == STET_QUESTION_BRANCH;

    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        if (m->scope != STET_SCOPE_ARGUMENT || m->array ||
            (branch && stet_explain_became_constant(f, m)))
            continue;
        if (bound(h, f, m))
            return true;
    }
    return false;
}

/* A library's wrapper around the user's function takes values out of the arguments, and the values
 * of texts are kept as hashes alone. A variable that the user's call passes and that held another
 * value is where it came from: any variable if such a value was seen, otherwise an object with a
 * field that differs. */
static bool bound_passed(struct stet_history *h, struct stet_finding *f)
{
    bool wrapped = false;

    for (uint32_t i = 0; i < f->moved_count; i++)
        wrapped |= f->moved[i].wrapped && !f->moved[i].array;
    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        if (m->scope == STET_SCOPE_LOCAL && !m->array &&
            (wrapped || memchr(m->path.ptr, '.', m->path.len)) && held(h, f, m))
            return true;
    }
    return false;
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
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_change_subject *of = &f->changes[i].of;

        if (f->changes[i].kind == STET_CHANGE_ARGUMENT && of->aspect == STET_ASPECT_SHARDING &&
            stet_explain_followed(h, f, stet_view_word(of->name)))
            return true;
    }
    return false;
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

void stet_evidence_source(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    /* A function that is first compiled late is warmed up where it is called. */
    if (f->facts.first && f->cause == STET_CAUSE_HIDDEN_BRANCH && !f->source.line && !s->eager)
        f->source = s->trigger;
    if (f->cause >= STET_CAUSES || f->facts.first || f->facts.past || f->against == STET_NONE)
        return;
    if (!f->source.line && f->facts.argument_shape && f->facts.size_to) {
        if (sent(h, f))
            made(h, f);
        else
            (void)computed(h, f);
    }
    if (f->source.line || !s->trigger.line)
        return;
    if (stet_cause_is(f->cause, STET_CAUSE_OF_ARGUMENT)) {
        if (bound(h, f, NULL)) {
            made(h, f);
            return;
        }
        if (loaded(h, f) || made_for_call(h, f))
            return;
        if (passed_array(h, f)) {
            made(h, f);
            return;
        }
    }
    if (f->cause == STET_CAUSE_PYTHON_LOOP && looped(h, f))
        return;
    if (stet_explain_follow_argument(h, f) || bound_number(h, f) || bound_constant(h, f) ||
        bound_passed(h, f) || stet_explain_follow_function(h, f))
        return;
    /* No operation differs: the same function was jitted in another way. */
    if (stet_cause_is(f->cause, STET_CAUSE_OF_JIT) && !s->eager)
        jitted(h, f);
}
