/* Follows what differs in the framework's call to the line that decided it. The values show which
 * argument differs, or that another function was called; the source leads from the call, through
 * the functions that wait for it, to the line. */
#include "explain/history_internal.h"

enum { PARAMETERS_MOST = 32 };

/* The lines that wait for a compile, the innermost first, and the function that is called. */
struct waiting {
    struct stet_python_waits at;
    struct stet_view functions[STET_PYTHON_WAITS]; /* in which the lines are */
    struct stet_journal_function called;
};

static void waiting_of(struct waiting *w, const struct stet_sighting *s)
{
    *w = (struct waiting){.at = {{{s->trigger.file, s->trigger.line}}, 1}};
    w->functions[0] = s->trigger.function;
    w->called = stet_journal_values_function(s->values);
    for (size_t i = 0; i < s->lines.count && w->at.count < STET_PYTHON_WAITS; i++) {
        const struct stet_frame *l = &s->lines.items[i];

        if ((uint32_t)l->line == s->trigger.line && stet_view_eq(l->file, s->trigger.file))
            continue;
        w->functions[w->at.count] = l->function;
        w->at.calls[w->at.count++] = (struct stet_python_waiting){l->file, (uint32_t)l->line};
    }
}

struct stet_python_waits stet_explain_waits(const struct stet_sighting *s)
{
    struct waiting w;

    waiting_of(&w, s);
    return w.at;
}

static uint32_t passed(struct stet_history *h, const struct waiting *w, struct stet_view parameter,
                       struct stet_view key, bool parts, size_t *at)
{
    struct stet_python_passed what = {.file = w->called.file,
                                      .line = w->called.line,
                                      .parameter = parameter,
                                      .key = key,
                                      .parts = parts};

    return stet_python_passed_line(&h->sources, &w->at, &what, at);
}

static bool is_at(struct stet_finding *f, const struct waiting *w, size_t at, uint32_t line)
{
    if (line)
        f->source = (struct stet_place){w->at.calls[at].file, w->functions[at], line};
    return line != 0;
}

bool stet_explain_followed(struct stet_history *h, struct stet_finding *f,
                           struct stet_view parameter)
{
    struct waiting w;
    size_t at = 0;
    uint32_t line;

    waiting_of(&w, stet_sighting_of(h, f));
    line = passed(h, &w, parameter, (struct stet_view){0}, false, &at);
    return is_at(f, &w, at, line);
}

/* The last key of "batch['mask']" or "batch.mask"; empty for "batch". */
static struct stet_view key_of(struct stet_view path)
{
    struct stet_view last = {0}, word = stet_view_word(path);
    size_t at = word.len;

    while (at < path.len) {
        word = stet_view_word(stet_view_of(path.ptr + at, path.len - at));
        if (word.len && (word.ptr[0] < '0' || word.ptr[0] > '9'))
            last = word;
        at += word.len ? word.len : 1;
    }
    return last;
}

bool stet_explain_became_constant(const struct stet_finding *f, const struct stet_moved *m)
{
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_moved *held = stet_finding_constant_holder(f, i);

        if (held && stet_view_eq(held->from, m->from) && stet_view_eq(held->to, m->to))
            return true;
    }
    return false;
}

/* Does this difference of an argument belong to the cause? What became a constant did not decide a
 * branch. */
static bool concerns(const struct stet_finding *f, const struct stet_moved *m)
{
    if (m->scope != STET_SCOPE_ARGUMENT)
        return false;
    if (stet_cause_is(f->cause, STET_CAUSE_OF_PRESENCE))
        return m->one_sided;
    return (!m->array || m->static_argument) &&
           !(stet_cause_question(f->cause) == STET_QUESTION_BRANCH &&
             stet_explain_became_constant(f, m));
}

static bool by_argument(struct stet_history *h, struct stet_finding *f, const struct waiting *w)
{
    for (uint32_t i = 0; i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];
        uint32_t line = 0;
        size_t at = 0;

        if (concerns(f, m) && !m->wrapped)
            line = passed(h, w, stet_explain_moved_root(m), key_of(m->path), true, &at);
        if (is_at(f, w, at, line))
            return true;
    }
    return false;
}

/* Is the line in the loop of the call? */
static bool is_in_loop(struct stet_history *h, const struct stet_python_waiting *call,
                       uint32_t line)
{
    uint32_t loop = stet_python_loop_of_line(&h->sources, call->file, call->line);

    return loop && stet_python_loop_of_line(&h->sources, call->file, line) == loop;
}

/* A library's function has other parameters than the user's. If one argument of the user's call
 * alone is made in each turn of the loop, it is that one: for arrays that came or went one that an
 * earlier line made, for another value an expression of the call. */
static bool by_turn(struct stet_history *h, struct stet_finding *f, const struct waiting *w)
{
    bool arrays = stet_cause_is(f->cause, STET_CAUSE_OF_PRESENCE);
    struct stet_view chosen = {0};
    uint32_t found = 0;
    size_t where = 0;

    for (uint32_t i = 0; i < PARAMETERS_MOST; i++) {
        struct stet_view name =
            stet_python_parameter_number(&h->sources, w->called.file, w->called.line, i);
        size_t at = 0;
        uint32_t line = name.len ? passed(h, w, name, (struct stet_view){0}, false, &at) : 0;
        bool here = line == w->at.calls[at].line;

        if (!name.len)
            break;
        if (!line || here == arrays || !is_in_loop(h, &w->at.calls[at], line))
            continue;
        if (found && found != line)
            return false;
        found = line;
        where = at;
        chosen = name;
    }
    if (found && !arrays) /* into the expression, as for the user's own function */
        found = passed(h, w, chosen, (struct stet_view){0}, true, &where);
    return is_at(f, w, where, found);
}

static bool is_wrapped(const struct stet_finding *f)
{
    for (uint32_t i = 0; i < f->moved_count; i++)
        if (f->moved[i].wrapped && concerns(f, &f->moved[i]))
            return true;
    return false;
}

/* Operations outside jit have no call of the user's own; those of PyTorch/XLA are not traced by
 * one. */
static bool has_call(const struct stet_sighting *s)
{
    return !s->eager && s->traits->framework != STET_FRAMEWORK_TORCH_XLA;
}

bool stet_explain_follow_argument(struct stet_history *h, struct stet_finding *f)
{
    struct waiting w;

    if (!has_call(stet_sighting_of(h, f)) || f->cause == STET_CAUSE_SHARDING_CHANGE)
        return false;
    waiting_of(&w, stet_sighting_of(h, f));
    return by_argument(h, f, &w) || (is_wrapped(f) && by_turn(h, f, &w));
}

bool stet_explain_follow_function(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_sighting *was = &h->sightings[f->against];
    bool once = false;
    uint32_t line;

    if (!has_call(s) || f->cause == STET_CAUSE_SHARDING_CHANGE)
        return false;
    line = stet_python_made_with(&h->sources, s->trigger.file, s->trigger.line);
    if (!line && was->process == s->process && stet_explain_made_anew(was->values, s->values))
        line = stet_python_callee_line(&h->sources, s->trigger.file, s->trigger.line, &once);
    if (!line || once)
        return false;
    f->source = s->trigger;
    f->source.line = line;
    return true;
}
