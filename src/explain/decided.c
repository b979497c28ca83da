/* See decided.h. */
#include "explain/decided.h"

#include "explain/history_internal.h"
#include "explain/observed.h"

#include <math.h>

/* A question about one finding. */
struct asking {
    struct stet_history *h;
    struct stet_finding *f;
    struct stet_observed seen;
    struct stet_journal_function called;
};

/* ---- what is asked ---- */

/* What of an array a cause is about. */
static enum stet_python_aspect aspect_of(enum stet_cause cause)
{
    if (cause == STET_CAUSE_RANK_CHANGE)
        return PY_OF_RANK;
    if (stet_cause_is(cause, STET_CAUSE_OF_TYPE))
        return PY_OF_TYPE;
    if (stet_cause_is(cause, STET_CAUSE_OF_PLACE))
        return PY_OF_PLACE;
    return stet_cause_is(cause, STET_CAUSE_OF_PRESENCE) ? PY_OF_VALUE : PY_OF_SIZE;
}

/* Is it an array that changed as the program did? If a size did, it is the array's. A NumPy array
 * that the first step made one of the device changed nothing. */
static bool is_changed_array(const struct stet_finding *f, const struct stet_moved *m)
{
    if (stet_cause_is(f->cause, STET_CAUSE_OF_PRESENCE))
        return m->one_sided;
    if (stet_cause_is(f->cause, STET_CAUSE_OF_TYPE))
        return m->typed;
    if (f->cause == STET_CAUSE_RANK_CHANGE)
        return m->ranked || (m->array && m->one_sided);
    if (!m->array || !f->facts.argument_shape || f->facts.size_from == f->facts.size_to)
        return m->array;
    return m->one_sided || (m->size_from == f->facts.size_from && m->size_to == f->facts.size_to);
}

/* Did two of them have the same two values? */
static bool is_alike(const struct stet_moved *a, const struct stet_moved *b)
{
    return stet_view_eq(a->from, b->from) && stet_view_eq(a->to, b->to);
}

/* ---- asking ---- */

static bool take(struct asking *a, struct stet_python_made made, enum stet_sure at_most)
{
    struct stet_finding *f = a->f;

    if (!made.line)
        return false;
    f->source = stet_lines_place(a->h, &made);
    f->source_sure = made.sure ? STET_SURE_CERTAIN : STET_SURE_LIKELY;
    if (f->source_sure > at_most)
        f->source_sure = at_most;
    return true;
}

static struct stet_python_made follow(struct asking *a, struct stet_python_followed what)
{
    const struct stet_sighting *was = a->seen.was, *is = a->seen.is;

    what.presence =
        what.aspect == PY_OF_VALUE && stet_cause_is(a->f->cause, STET_CAUSE_OF_PRESENCE);
    what.file = a->called.file;
    what.line = a->called.line;
    what.elsewhere = was && !stet_place_eq(&was->trigger, &is->trigger);
    a->seen.numbers = what.numbers;
    a->seen.from = what.from;
    a->seen.to = what.to;
    return stet_python_follow(&a->h->sources, &a->seen.stack, &what);
}

/* What the numbers or the size of a value were. */
static void with_numbers(struct stet_python_followed *what, const struct stet_moved *m)
{
    if (what->aspect == PY_OF_SIZE && m->size_to) {
        what->numbers = true;
        what->from = (double)m->size_from;
        what->to = (double)m->size_to;
    } else if (m->numeric || m->flag) {
        what->numbers = true;
        what->from = m->from_number;
        what->to = m->to_number;
    }
}

static struct stet_python_made follow_path(struct asking *a, const struct stet_moved *m,
                                           struct stet_python_followed what)
{
    switch (m->scope) {
    case STET_SCOPE_ARGUMENT:
        what.held = PY_HELD_ARGUMENT;
        break;
    case STET_SCOPE_LOCAL:
    case STET_SCOPE_SUSPENDED:
        what.held = PY_HELD_VARIABLE;
        if (!stet_observed_frame(&a->seen, m->scope, m->frame, &what.frame))
            return (struct stet_python_made){.line = 0};
        break;
    case STET_SCOPE_CLOSURE:
    case STET_SCOPE_GLOBAL:
        what.held = PY_HELD_CLOSURE;
        if (stet_view_starts(what.path, "fun.")) {
            what.held = PY_HELD_FIELD;
            what.path = stet_view_of(what.path.ptr + 4, what.path.len - 4);
        }
        break;
    case STET_SCOPE_PASSED:
        what.held = PY_HELD_PASSED;
        break;
    case STET_SCOPE_CALLED:
        return (struct stet_python_made){.line = 0};
    }
    return follow(a, what);
}

/* A value that moved: where it is held, and what of it is asked. */
static struct stet_python_made follow_moved(struct asking *a, const struct stet_moved *m,
                                            enum stet_python_aspect aspect)
{
    struct stet_python_followed what = {.path = m->path, .aspect = aspect};
    struct stet_python_made made = {.line = 0};
    struct stet_view list = stet_explain_list_of(m->path);

    if (m->maker.len) { /* a number that a function closes over is set where the function is made */
        made = follow_path(
            a, m,
            (struct stet_python_followed){.path = m->maker, .aspect = PY_OF_VALUE, .made = true});
        if (!made.line) /* in an object of a library: where the function is defined */
            made = (struct stet_python_made){.file = m->made_file, .line = m->made_line};
        return made;
    }
    if (m->one_sided && list.len && stet_cause_is(a->f->cause, STET_CAUSE_OF_PRESENCE))
        made = follow_path(a, m, (struct stet_python_followed){.path = list, .aspect = PY_OF_SIZE});
    with_numbers(&what, m);
    return made.line ? made : follow_path(a, m, what);
}

/* ---- arrays ---- */

/* The arguments, and then the variables, that changed as the program did. */
static bool by_array(struct asking *a)
{
    enum stet_python_aspect aspect = aspect_of(a->f->cause);
    struct stet_python_made best = {.line = 0};

    for (int locals = 0; locals < 2 && !best.sure; locals++)
        for (uint32_t i = 0; i < a->f->moved_count && !best.sure; i++) {
            const struct stet_moved *m = &a->f->moved[i];
            struct stet_python_made made = {.line = 0};

            if ((m->scope != STET_SCOPE_ARGUMENT) != locals || m->wrapped ||
                !is_changed_array(a->f, m) || m->scope == STET_SCOPE_CALLED)
                continue;
            if (aspect == PY_OF_TYPE && m->settles)
                made = follow_path(a, m,
                                   (struct stet_python_followed){
                                       .path = m->path, .aspect = aspect, .began = true});
            if (!made.line)
                made = follow_moved(a, m, aspect);
            if (!made.line && aspect == PY_OF_TYPE && m->numeric) /* the line that set it last */
                made = follow_moved(a, m, PY_OF_VALUE);
            if (made.line && (!best.line || made.sure))
                best = made;
        }
    return take(a, best, STET_SURE_CERTAIN);
}

/* A number of a frame that changed as the size did, where the array itself leads nowhere. */
static bool by_number_of_size(struct asking *a)
{
    const struct stet_facts *facts = &a->f->facts;
    struct stet_python_made best = {.line = 0};
    struct stet_view path;
    uint32_t at = 0;
    size_t frame;

    if (!facts->argument_shape || facts->size_from == facts->size_to ||
        aspect_of(a->f->cause) != PY_OF_SIZE)
        return false;
    while (!best.line && stet_observed_number(&a->seen, (double)facts->size_from,
                                              (double)facts->size_to, &at, &frame, &path))
        best = follow(a, (struct stet_python_followed){.held = PY_HELD_VARIABLE,
                                                       .path = path,
                                                       .frame = frame,
                                                       .aspect = PY_OF_VALUE,
                                                       .numbers = true,
                                                       .from = (double)facts->size_from,
                                                       .to = (double)facts->size_to});
    return take(a, best, STET_SURE_LIKELY);
}

/* The arguments that the two programs show, where Python's values show no difference: two
 * placements of one kind. */
static bool by_changed(struct asking *a)
{
    for (uint32_t i = 0; i < a->f->change_count; i++) {
        const struct stet_reported_change *c = &a->f->changes[i];

        if (c->kind == STET_CHANGE_ARGUMENT && c->follows == STET_NO_FACET &&
            take(a,
                 follow(a, (struct stet_python_followed){.held = PY_HELD_ARGUMENT,
                                                         .path = c->of.name,
                                                         .aspect = aspect_of(a->f->cause)}),
                 STET_SURE_LIKELY))
            return true;
    }
    return false;
}

/* The arguments of the waiting call, where a library took them apart before it jitted them: the one
 * that differs, if the library kept their order, otherwise any. */
static bool by_call(struct asking *a)
{
    struct stet_python_followed any = {.held = PY_HELD_CALL, .aspect = aspect_of(a->f->cause)};
    bool wrapped = false;

    for (uint32_t i = 0; i < a->f->moved_count; i++) {
        const struct stet_moved *m = &a->f->moved[i];
        struct stet_python_followed one = {
            .held = PY_HELD_PASSED, .path = m->path, .aspect = any.aspect};

        if (!m->wrapped || !is_changed_array(a->f, m))
            continue;
        wrapped = true;
        with_numbers(&one, m);
        if (stet_view_starts(m->path, "args[") && take(a, follow(a, one), STET_SURE_LIKELY))
            return true;
    }
    return wrapped && take(a, follow(a, any), STET_SURE_LIKELY);
}

/* ---- numbers ---- */

/* Did the values of this argument become constants of the two programs? */
static bool became_constant(const struct stet_finding *f, const struct stet_moved *m)
{
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_moved *held = stet_finding_constant_holder(f, i);

        if (held && is_alike(held, m))
            return true;
    }
    return false;
}

/* Does jit trace it: a number that is an argument, or an item of one, and no static argument? Each
 * of its values runs the same program. */
static bool is_traced(const struct stet_moved *m)
{
    return m->scope == STET_SCOPE_ARGUMENT && !m->static_argument && !m->wrapped && !m->typed &&
           (m->numeric || m->flag) && !memchr(m->path.ptr, '.', m->path.len);
}

/* Is something in it listed too? That is what differs. */
static bool is_holder(const struct stet_finding *f, const struct stet_moved *m)
{
    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *n = &f->moved[i];

        if (n->scope == m->scope && n->frame == m->frame && n->path.len > m->path.len &&
            !memcmp(n->path.ptr, m->path.ptr, m->path.len) &&
            (n->path.ptr[m->path.len] == '.' || n->path.ptr[m->path.len] == '['))
            return true;
    }
    return false;
}

/* Does this difference of an argument belong to the cause? What became a constant did not decide a
 * branch. */
static bool concerns(const struct stet_finding *f, const struct stet_moved *m)
{
    if ((m->array && !m->static_argument) || is_traced(m) || is_holder(f, m))
        return false;
    return !(stet_cause_question(f->cause) == STET_QUESTION_BRANCH && became_constant(f, m));
}

/* A static argument, also behind a library's wrapper: the user's line passed it as it is. */
static bool by_static(struct asking *a)
{
    const struct stet_finding *f = a->f;

    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        for (uint32_t k = 0; m->static_argument && m->wrapped && k < f->moved_count; k++)
            if (f->moved[k].scope == STET_SCOPE_PASSED && is_alike(&f->moved[k], m) &&
                take(a, follow_moved(a, &f->moved[k], PY_OF_VALUE), STET_SURE_CERTAIN))
                return true;
    }
    return false;
}

/* A value that the user's line passed to a library's wrapper. */
static bool by_passed(struct asking *a)
{
    struct stet_python_made best = {.line = 0};
    bool several = false;

    for (uint32_t i = 0; i < a->f->moved_count && !best.sure; i++) {
        const struct stet_moved *m = &a->f->moved[i];
        struct stet_python_made made = {.line = 0};

        if (m->passed && concerns(a->f, m))
            made = follow_moved(a, m, PY_OF_VALUE);
        several |= made.line && best.line && best.line != made.line;
        if (made.line && (!best.line || made.sure))
            best = made;
    }
    return take(a, best, several ? STET_SURE_LIKELY : STET_SURE_CERTAIN);
}

static bool by_value(struct asking *a, enum stet_journal_value_scope scope, bool wrapped)
{
    struct stet_python_made best = {.line = 0};
    unsigned several = 0;

    for (uint32_t i = 0; i < a->f->moved_count; i++) {
        const struct stet_moved *m = &a->f->moved[i];
        struct stet_python_made made;

        if (m->scope != scope || m->wrapped != wrapped || !concerns(a->f, m))
            continue;
        if (scope == STET_SCOPE_LOCAL && m->length &&
            stet_finding_change(a->f, STET_CHANGE_CONSTANT))
            continue; /* how many items a list has is no number of the program */
        made = follow_moved(a, m, PY_OF_VALUE);
        if (!made.line)
            continue;
        several += best.line && best.line != made.line;
        if (!best.line || (made.sure && !best.sure))
            best = made;
    }
    /* that a variable changed too does not show that it is the reason */
    return take(a, best,
                several || scope == STET_SCOPE_LOCAL ? STET_SURE_LIKELY : STET_SURE_CERTAIN);
}

/* The variables that held the two values of a constant. */
static bool by_constant(struct asking *a)
{
    for (uint32_t i = 0; i < a->f->change_count; i++) {
        const struct stet_moved *m = stet_finding_constant_holder(a->f, i);

        for (uint32_t k = 0; m && k < a->f->moved_count; k++)
            if (is_alike(&a->f->moved[k], m) &&
                take(a, follow_moved(a, &a->f->moved[k], PY_OF_VALUE), STET_SURE_CERTAIN))
                return true;
    }
    return false;
}

/* The variable that the two values of a constant were computed from. */
static bool by_basis(struct asking *a)
{
    for (uint32_t i = 0; i < a->f->change_count; i++) {
        const struct stet_reported_change *c = &a->f->changes[i];
        const struct stet_moved *m =
            c->kind == STET_CHANGE_CONSTANT && c->follows == STET_NO_FACET && c->data.has_values
                ? stet_explain_moved_basis(a->f->moved, a->f->moved_count, c->data.values)
                : NULL;

        if (m && take(a, follow_moved(a, m, PY_OF_VALUE), STET_SURE_LIKELY))
            return true;
    }
    return false;
}

/* A library's function around the user's takes values out of the arguments: the variable of the
 * user's that changed in the same way. */
static bool by_wrapped(struct asking *a)
{
    const struct stet_finding *f = a->f;

    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        if (!m->wrapped || m->array)
            continue;
        for (uint32_t k = 0; k < f->moved_count; k++) {
            const struct stet_moved *v = &f->moved[k];

            if (v->scope != STET_SCOPE_LOCAL || !is_alike(v, m))
                continue;
            if (take(a, follow_moved(a, v, PY_OF_VALUE), STET_SURE_CERTAIN))
                return true;
        }
    }
    return false;
}

/* A variable that held the values of an argument: the line that last assigned it before a frame's
 * waiting line. */
static bool by_binding(struct asking *a, const struct stet_moved *argument)
{
    const struct stet_finding *f = a->f;

    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];
        const struct stet_python_watched *w;
        struct stet_python_made made = {.line = 0};
        size_t frame;

        if (m->scope != STET_SCOPE_LOCAL || !is_alike(m, argument) ||
            !stet_observed_frame(&a->seen, m->scope, m->frame, &frame))
            continue;
        w = &a->seen.stack.frames[frame];
        made.file = w->file;
        if (frame < a->seen.is->lines.count && a->seen.is->lines.items[frame].line == w->line)
            made.function = a->seen.is->lines.items[frame].function;
        made.line = stet_python_binding_line(&a->h->sources, w->file, w->line, m->path);
        if (take(a, made, STET_SURE_LIKELY))
            return true;
    }
    return false;
}

/* The same for the array that changed. */
static bool by_held_array(struct asking *a)
{
    for (uint32_t i = 0; i < a->f->moved_count; i++)
        if (a->f->moved[i].scope == STET_SCOPE_ARGUMENT &&
            is_changed_array(a->f, &a->f->moved[i]) && by_binding(a, &a->f->moved[i]))
            return true;
    return false;
}

/* A flag of a model that a library switches: the line that switches it. */
static bool by_mode(struct asking *a)
{
    bool flag = false;

    for (uint32_t i = 0; i < a->f->moved_count; i++)
        flag |= a->f->moved[i].flag && a->f->moved[i].scope == STET_SCOPE_LOCAL &&
                memchr(a->f->moved[i].path.ptr, '.', a->f->moved[i].path.len);
    return flag && stet_cause_question(a->f->cause) == STET_QUESTION_BRANCH &&
           take(a, stet_python_training(&a->h->sources, &a->seen.stack, (struct stet_view){0}),
                STET_SURE_LIKELY);
}

/* Is it known which variable held the two values of a constant? A whole number may be any. */
static bool is_held(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_moved *m = stet_finding_constant_holder(f, i);

        if (m && m->numeric &&
            (m->from_number != trunc(m->from_number) || m->to_number != trunc(m->to_number)))
            return true;
    }
    return false;
}

/* The variables of the frames. If an argument is known to differ, only those that held it. */
static bool by_variable(struct asking *a)
{
    if (is_held(a->f))
        return false;
    for (uint32_t i = 0; i < a->f->moved_count; i++) {
        const struct stet_moved *m = &a->f->moved[i];

        if (m->scope == STET_SCOPE_ARGUMENT && m->static_argument && !m->array && concerns(a->f, m))
            return by_binding(a, m);
    }
    return by_value(a, STET_SCOPE_LOCAL, false);
}

/* The same program and arguments: an object that the waiting line passes, and that is made anew. */
static bool by_new_object(struct asking *a)
{
    const struct stet_sighting *was = a->seen.was, *is = a->seen.is;
    struct stet_view name;
    uint32_t at = 0;

    if (!was || was->process != is->process || a->f->cause != STET_CAUSE_IDENTICAL_REHASH)
        return false;
    while (stet_explain_new_object(&a->h->arena, was->values, is->values, &at, &name)) {
        uint32_t line =
            stet_python_binding_line(&a->h->sources, is->trigger.file, is->trigger.line, name);

        if (line)
            return take(a,
                        (struct stet_python_made){.file = is->trigger.file,
                                                  .function = is->trigger.function,
                                                  .line = line},
                        STET_SURE_LIKELY);
    }
    return false;
}

/* The array for which the same program was requested again; NULL for none. */
static const struct stet_moved *array_from_elsewhere(const struct stet_finding *f)
{
    for (uint32_t i = 0; f->cause == STET_CAUSE_IDENTICAL_REHASH && i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        if (m->scope == STET_SCOPE_ARGUMENT && m->array && !m->one_sided && !m->static_argument)
            return m;
    }
    return NULL;
}

/* How the function was jitted differs: what chose another one of several. */
static bool by_callee(struct asking *a)
{
    return take(
        a, follow(a, (struct stet_python_followed){.held = PY_HELD_CALLEE, .aspect = PY_OF_VALUE}),
        STET_SURE_CERTAIN);
}

static void begin(struct asking *a, struct stet_history *h, struct stet_finding *f)
{
    *a = (struct asking){.h = h, .f = f};
    stet_observed_init(&a->seen, h, f);
    a->called = stet_journal_values_function(stet_sighting_of(h, f)->values);
}

bool stet_explain_decided_at(struct stet_history *h, struct stet_finding *f,
                             const struct stet_place *at)
{
    struct stet_python_followed what = {.held = PY_HELD_LINE,
                                        .aspect = aspect_of(f->cause),
                                        .at_file = at->file,
                                        .at_line = at->line,
                                        .numbers = true,
                                        .from = (double)f->facts.size_from,
                                        .to = (double)f->facts.size_to};
    struct asking a;
    bool found;

    begin(&a, h, f);
    found = take(&a, follow(&a, what), STET_SURE_CERTAIN);
    stet_observed_release(&a.seen);
    return found;
}

bool stet_explain_decided_moved(struct stet_history *h, struct stet_finding *f,
                                const struct stet_moved *m)
{
    struct asking a;
    bool found;

    begin(&a, h, f);
    found = take(&a, follow_moved(&a, m, PY_OF_VALUE), STET_SURE_CERTAIN);
    stet_observed_release(&a.seen);
    return found;
}

bool stet_explain_sized_without_read(struct stet_history *h, struct stet_finding *f)
{
    struct stet_place before = f->source;
    enum stet_sure sure = f->source_sure;
    struct asking a;
    bool found;

    begin(&a, h, f);
    found = by_array(&a) && !stet_python_line_reads(&h->sources, f->source.file, f->source.line);
    f->source = before;
    f->source_sure = sure;
    stet_observed_release(&a.seen);
    return found;
}

/* Was another function of the definition called? What it holds decides, not the caller's variables.
 */
static bool is_anew(const struct asking *a)
{
    return a->seen.was && stet_explain_made_anew(a->seen.was->values, a->seen.is->values);
}

bool stet_explain_decided(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_moved *elsewhere = array_from_elsewhere(f);
    struct asking a;
    bool found = false;

    begin(&a, h, f);
    if (elsewhere)
        found = take(&a, follow_moved(&a, elsewhere, elsewhere->typed ? PY_OF_TYPE : PY_OF_PLACE),
                     STET_SURE_LIKELY);
    else if (stet_cause_is(f->cause, STET_CAUSE_OF_ARGUMENT))
        found = by_array(&a) || by_call(&a) || by_number_of_size(&a) || by_changed(&a) ||
                by_held_array(&a);
    else if (stet_cause_is(f->cause, STET_CAUSE_OF_JIT))
        found = by_callee(&a);
    else
        found = by_static(&a) || by_value(&a, STET_SCOPE_ARGUMENT, false) || by_constant(&a) ||
                by_wrapped(&a) || by_value(&a, STET_SCOPE_ARGUMENT, true) || by_basis(&a) ||
                by_passed(&a) || by_new_object(&a) || by_value(&a, STET_SCOPE_CLOSURE, false) ||
                by_value(&a, STET_SCOPE_GLOBAL, false) ||
                (!is_anew(&a) && (by_mode(&a) || by_variable(&a)));
    stet_observed_release(&a.seen);
    return found;
}
