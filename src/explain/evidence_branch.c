/* Operations that differ without another reason: finds the new lines, and what decided
 * that they run. */
#include "explain/decided.h"
#include "explain/history_internal.h"
#include "explain/observed.h"
#include "explain/readback.h"

/* A first compile in the loop is reported when the loop waited this long for it. Chosen between the
 * two groups that public programs showed: seven of eight such compiles took less than 1 s, one took
 * 12 s (docs/judged.md). It is no share of a step, because a step may take a millisecond, nor of
 * the loop's own compile, because half of ten minutes is long, too. */
#define LATE_TOLD_NS UINT64_C(5000000000)

static const struct stet_order *order_of(const struct stet_history *h,
                                         const struct stet_sighting *s)
{
    return s->process < h->order_count ? &h->orders[s->process] : NULL;
}

static bool before_loop(const struct stet_history *h, const struct stet_sighting *s,
                        uint32_t number)
{
    uint32_t loop = stet_history_loop(h, s->process);

    return !loop || number < loop - 1;
}

/* Does the loop's own function still run after this program first did? */
static bool loop_goes_on(const struct stet_history *h, const struct stet_sighting *s,
                         uint32_t number)
{
    const struct stet_order *o = order_of(h, s);
    uint32_t loop = stet_history_loop(h, s->process);
    bool met = false;

    for (size_t i = 0; o && loop && i < o->count; i++) {
        met |= o->items[i] == number;
        if (met && o->items[i] != STET_NONE && o->items[i] != number &&
            h->sightings[o->items[i]].group == h->sightings[loop - 1].group)
            return true;
    }
    return false;
}

/* How often the loop's own function had run when this program first did. */
static uint32_t runs_by_then(const struct stet_history *h, const struct stet_sighting *s,
                             uint32_t number)
{
    const struct stet_order *o = order_of(h, s);
    uint32_t loop = stet_history_loop(h, s->process), ran = 0;

    if (before_loop(h, s, number))
        return 0;
    for (size_t i = 0; o && i < o->count && o->items[i] != number; i++)
        ran += o->items[i] != STET_NONE &&
               h->sightings[o->items[i]].group == h->sightings[loop - 1].group;
    return ran;
}

/* A first of its kind that comes when the loop has run for long. */
static bool is_late(const struct stet_history *h, const struct stet_sighting *s, uint32_t number)
{
    if (before_loop(h, s, number) || !loop_goes_on(h, s, number))
        return false;
    return s->step_known ? s->step >= 2 : runs_by_then(h, s, number) >= 3;
}

/* Did the same line call another jitted function before, more than once? Then something chooses
 * between the two. */
static bool took_turns(const struct stet_history *h, const struct stet_sighting *s, uint32_t number)
{
    for (uint32_t i = 0; i < number && s->trigger.line; i++) {
        const struct stet_sighting *o = &h->sightings[i];

        if (!o->past && o->process == s->process && o->group != s->group && !o->eager &&
            o->executions > 2 && stet_place_eq(&o->trigger, &s->trigger))
            return true;
    }
    return false;
}

/* A read-back that decides which program runs. */
struct decider {
    uint32_t line;
    enum stet_rests rests;
    enum stet_sure sure;
};

static bool seen_to(struct stet_finding *f, const struct stet_read *seen, struct decider *out)
{
    out->line = seen->line;
    out->rests = STET_RESTS_VALUES;
    out->sure = seen->sure ? STET_SURE_CERTAIN : STET_SURE_LIKELY;
    f->source = seen->at;
    return true;
}

/* True if a condition that decides whether the call runs depends on a value read back. A loop's
 * condition decides how often the loop runs, which does not explain a first program. */
static bool on_value(struct stet_history *h, struct stet_finding *f, struct decider *out)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct stet_python_read read;
    struct stet_read seen;

    if (stet_explain_read_decides(h, f, &seen))
        return seen_to(f, &seen, out);
    if (!stet_python_condition_reads(&h->sources, s->trigger.file, s->trigger.line, !f->facts.first,
                                     &read))
        return false;
    *out = (struct decider){read.here, STET_RESTS_SOURCE, STET_SURE_LIKELY};
    return true;
}

/* True if the passed value was read back and really comes from the device: a program ran in that
 * line, or the run reads back about as often as it calls. */
static bool on_argument(struct stet_history *h, struct stet_finding *f, struct decider *out)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_order *o = order_of(h, s);
    struct stet_python_read read;
    struct stet_read seen;

    if (stet_explain_read_passed(h, f, false, &seen)) {
        seen_to(f, &seen, out);
        out->sure = STET_SURE_LIKELY;
        return true;
    }
    if (!stet_python_argument_reads(&h->sources, s->trigger.file, s->trigger.line, &read))
        return false;
    *out = (struct decider){read.here, STET_RESTS_SOURCE, STET_SURE_LIKELY};
    return stet_history_ran_where(h, s->process, &read) ||
           (o && o->to_host_count * 2 >= o->steps && o->to_host_count > 2);
}

/* PyTorch/XLA: a graph was cut at a condition of the same function, so its value was needed. */
static bool on_cut(struct stet_history *h, struct stet_finding *f, struct decider *out)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    uint32_t def;

    if (s->traits->framework != STET_FRAMEWORK_TORCH_XLA)
        return false;
    def = stet_python_def_around(&h->sources, s->trigger.file, s->trigger.line);
    for (uint32_t i = 0; i < h->sighting_count && i < 4096; i++) {
        const struct stet_place *at = &h->sightings[i].trigger;

        if (h->sightings[i].process == s->process && stet_view_eq(at->file, s->trigger.file) &&
            stet_python_def_around(&h->sources, at->file, at->line) == def &&
            stet_python_is_condition(&h->sources, at->file, at->line)) {
            *out = (struct decider){at->line, STET_RESTS_RUN, STET_SURE_LIKELY};
            f->source = *at;
            return true;
        }
    }
    return false;
}

/* torch.compile continues after a graph break in functions that it names after the line. If the
 * break was at a condition, its value decides which of them runs. */
static bool on_break(struct stet_history *h, const struct stet_sighting *s, struct decider *out)
{
    struct stet_view name = s->traits->function;
    const char *at =
        stet_view_starts(name, "torch_dynamo_resume_in_") ? memrchr(name.ptr, '_', name.len) : NULL;

    *out = (struct decider){0, STET_RESTS_RUN, STET_SURE_LIKELY};
    for (at = at ? at + 1 : NULL; at && at < name.ptr + name.len; at++) {
        if (*at < '0' || *at > '9' || out->line > UINT32_MAX / 10 - 1)
            return false;
        out->line = out->line * 10 + (uint32_t)(*at - '0');
    }
    return stet_python_is_condition(&h->sources, s->traits->place.file, out->line);
}

/* Is the program what the waiting line itself computes? PyTorch/XLA's graphs have no line of their
 * own, and JAX's eager programs are of the line that waits. TorchTPU compiles asynchronously: the
 * program may have moved to another line by then. */
static bool is_of_its_line(const struct stet_sighting *s)
{
    if (s->traits->framework == STET_FRAMEWORK_TORCH_TPU)
        return s->eager && stet_place_eq(&s->traits->place, &s->trigger);
    return stet_history_is_eager(s) || s->traits->framework == STET_FRAMEWORK_TORCH_XLA;
}

/* Is the line in the loop that makes the step, as far as the source shows? What comes after an
 * inner loop runs once in a pass. */
static bool in_loop_of(struct stet_history *h, const struct stet_place *line,
                       const struct stet_place *step)
{
    uint32_t loop = stet_python_loop_of_line(&h->sources, step->file, step->line);

    return !loop || !stet_view_eq(step->file, line->file) ||
           stet_python_loop_of_line(&h->sources, line->file, line->line) == loop;
}

/* Does this program run in turn after turn of the loop, at least in one of five? What runs before
 * the loop or after it, or once in many turns, does not hold the loop up. Of what runs once in a
 * pass, every pass must be short. */
static bool in_turns(struct stet_history *h, const struct stet_sighting *s, uint32_t number)
{
    const struct stet_order *o = order_of(h, s);
    const struct stet_sighting *step = &h->sightings[stet_history_loop(h, s->process) - 1];
    uint32_t group = step->group;
    uint64_t turns = 0, last = 0, visits = 0, mine = 0;
    uint64_t most = in_loop_of(h, &s->trigger, &step->trigger) ? 5 : 2;

    for (size_t i = 0; o && i < o->count; i++) {
        if (o->items[i] == number) {
            turns = mine++ ? turns : 0;
            visits += mine == 1 || turns > last;
            last = turns;
        } else if (o->items[i] != STET_NONE && h->sightings[o->items[i]].group == group) {
            turns++;
        }
    }
    return s->group == group || mine < 2 || (visits > 2 && last <= most * (visits - 1));
}

/* Does it follow another jitted function each time, and not one that runs in most turns? Then what
 * is read is the result of that one, as of a sample that is drawn now and then, and the loop's is
 * not waited for. */
static bool follows_another(const struct stet_history *h, const struct stet_sighting *s,
                            uint32_t number)
{
    const struct stet_order *o = order_of(h, s);
    uint64_t turns = h->sightings[stet_history_loop(h, s->process) - 1].executions;
    uint32_t before = STET_NONE, own = 0, others = 0;

    if (s->traits->framework != STET_FRAMEWORK_JAX)
        return false;
    for (size_t i = 0; o && i < o->count; i++) {
        uint32_t ran = o->items[i];

        if (ran == number && before != STET_NONE)
            *(4 * h->sightings[before].executions >= 3 * turns ? &own : &others) += 1;
        if (ran != STET_NONE && !stet_history_is_eager(&h->sightings[ran]))
            before = ran;
    }
    return others > own;
}

/* Is it read after the loop that trains? That is once for a pass over the data, however short the
 * pass is. */
static bool after_training(struct stet_history *h, struct stet_finding *f)
{
    struct stet_observed seen;
    bool after = false, inside = false;

    stet_observed_init(&seen, h, f);
    for (size_t i = 0; i < seen.stack.waits && !after && !inside; i++)
        after = stet_python_after_training(&h->sources, seen.stack.frames[i].file,
                                           seen.stack.frames[i].line, &inside);
    stet_observed_release(&seen);
    return after;
}

/* Reading back inside the loop: the program is only the line that waits for it. */
static bool host_sync(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    if (!is_of_its_line(s) || s->executions < 2 || before_loop(h, s, f->sighting) ||
        !in_turns(h, s, f->sighting) || follows_another(h, s, f->sighting))
        return false;
    /* A graph of PyTorch/XLA also ends where an operation needs a size, and nothing in the user's
     * code reads there. */
    if (!(stet_history_is_eager(s) && stet_explain_read_at(h, s->process, &s->trigger, 2)) &&
        !stet_python_line_reads(&h->sources, s->trigger.file, s->trigger.line))
        return false;
    if (after_training(h, f))
        return false;
    stet_finding_hear(h, f, STET_ANSWER(HOST_SYNC, RUN, CERTAIN),
                      "this line ran %llu times as a program of its own, and its result was read "
                      "back each time",
                      (unsigned long long)s->executions);
    f->origin = s->trigger;
    return true;
}

static void first_of_kind(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct decider by;

    if (host_sync(h, f))
        return;
    if (!stet_history_is_eager(s) &&
        (took_turns(h, s, f->sighting) ||
         (runs_by_then(h, s, f->sighting) >= 2 && loop_goes_on(h, s, f->sighting))) &&
        on_value(h, f, &by)) {
        f->reads = by.line;
        stet_finding_hear(h, f,
                          (struct stet_finding_answer){STET_CAUSE_VALUE_BRANCH, .rests = by.rests,
                                                       .sure = by.sure},
                          "its first call depends on a value read back in %.*s",
                          STET_FMT(stet_explain_read_words(h, f)));
        f->origin = f->facts.new_line.line ? f->facts.new_line : s->traits->place;
        return;
    }
    if (!is_late(h, s, f->sighting))
        return;
    stet_finding_hear(h, f, STET_ANSWER(HIDDEN_BRANCH, RUN, LIKELY),
                      "the first program of %.*s, when the loop had long been running",
                      STET_FMT(s->traits->function));
    f->origin = f->facts.new_line.line ? f->facts.new_line : s->traits->place;
    /* evaluation, logging, sampling: compiled once, however late; reported if a step waited
     * long */
    f->benign = s->wait_ns < LATE_TOLD_NS;
}

/* JAX drops parameters that a program does not use. A parameter that is always passed but appears
 * or disappears is evidence of a branch, not of an optional field. If the two calls were not seen,
 * the source decides: the parameter has no default and is no field of a batch. */
static bool is_always_passed(struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    if (s->traits->framework == STET_FRAMEWORK_JAX && s->function && s->values.len &&
        h->sightings[f->against].values.len)
        return !stet_evidence_came_or_went(f);
    if (s->traits->framework != STET_FRAMEWORK_JAX ||
        !stet_python_open(&h->sources, s->traits->root.file))
        return false;
    for (uint32_t i = 0; i < f->change_count; i++) {
        const struct stet_reported_change *c = &f->changes[i];
        struct stet_view name = c->of.name;

        if (c->kind != STET_CHANGE_ARGUMENT_CAME && c->kind != STET_CHANGE_ARGUMENT_WENT)
            continue;
        if (memchr(name.ptr, '[', name.len) || memchr(name.ptr, '.', name.len) ||
            stet_python_may_be_absent(&h->sources, s->traits->root.file, s->traits->function, name))
            return false;
    }
    return true;
}

/* Other arguments do not explain everything: there are new lines that use none of those that were
 * added. */
static bool brings_code(const struct stet_finding *f)
{
    return stet_cause_is(f->cause, STET_CAUSE_NO_CODE) && f->facts.unfed &&
           f->facts.new_lines > f->facts.came;
}

/* Finds the line in the loop around the call, under a condition, that names the new operations; for
 * programs without locations. */
static void find_late_line(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    uint32_t line = 0;

    for (uint32_t i = 0; !line && i < f->change_count; i++) {
        struct stet_view op = f->changes[i].op;
        const char *dot = op.len ? memrchr(op.ptr, '.', op.len) : NULL;

        if (f->changes[i].kind == STET_CHANGE_OP_CAME && dot)
            line = stet_python_conditional_line(
                &h->sources, s->trigger.file, s->trigger.line,
                stet_view_of(dot + 1, (size_t)(op.ptr + op.len - dot) - 1));
    }
    if (line)
        f->origin = (struct stet_place){
            .file = s->trigger.file, .function = s->trigger.function, .line = line};
}

/* Without locations: operations on top of a program that had run several times. */
static bool comes_late(struct stet_history *h, struct stet_finding *f)
{
    struct stet_turns turns;

    if (stet_sighting_of(h, f)->traits->line_count || !f->facts.only_more)
        return false;
    turns = stet_turns_of(h, f);
    if (!turns.known || turns.others_before < 2)
        return false;
    stet_finding_hear(h, f, STET_BETTER(GRAPH_CHANGE, HIDDEN_BRANCH, RUN, LIKELY),
                      "%u operation%s added to a program that had run %u times and is otherwise "
                      "the same",
                      f->facts.new_ops, f->facts.new_ops == 1 ? "" : "s", turns.others_before);
    find_late_line(h, f);
    return true;
}

/* Operations came or went, and no argument differs: a line switches a model to its training or its
 * evaluation. Training has more of them: dropout, statistics. */
static bool switched(struct stet_history *h, struct stet_finding *f)
{
    struct stet_python_made made;
    struct stet_observed seen;

    if (f->cause != STET_CAUSE_GRAPH_CHANGE || stet_sighting_of(h, f)->eager ||
        stet_sighting_of(h, f)->traits->framework != STET_FRAMEWORK_JAX)
        return false;
    stet_observed_init(&seen, h, f);
    made = stet_python_switches(&h->sources, &seen.stack,
                                f->facts.new_ops ? STET_VIEW("True") : STET_VIEW("False"));
    stet_observed_release(&seen);
    if (!made.line)
        return false;
    f->source = stet_lines_place(h, &made);
    f->source_sure = STET_SURE_LIKELY;
    stet_finding_hear(h, f, STET_BETTER(GRAPH_CHANGE, HIDDEN_BRANCH, SOURCE, LIKELY),
                      "no argument that was seen differs, and line %u switches a model between "
                      "training and evaluation",
                      f->source.line);
    return true;
}

void stet_evidence_branch(struct stet_history *h, struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct decider by;

    if (f->facts.first) {
        first_of_kind(h, f);
        return;
    }
    if (f->cause == STET_CAUSE_OPTIONAL_KEY && is_always_passed(h, f))
        f->cause = STET_CAUSE_GRAPH_CHANGE;
    else if (brings_code(f))
        stet_finding_also(f, STET_CAUSE_GRAPH_CHANGE);
    stet_finding_promote(f, STET_CAUSE_GRAPH_CHANGE);
    if (!stet_finding_has(f, STET_CAUSE_GRAPH_CHANGE))
        return;
    if (on_value(h, f, &by) || on_argument(h, f, &by) || on_cut(h, f, &by) || on_break(h, s, &by)) {
        uint32_t switches = stet_turns_of(h, f).switches;

        f->reads = by.line;
        stet_finding_hear(
            h, f,
            (struct stet_finding_answer){STET_CAUSE_VALUE_BRANCH, .names = STET_CAUSE_GRAPH_CHANGE,
                                         .rests = by.rests, .sure = by.sure},
            "which program runs depends on a value read back in %.*s (they "
            "alternated %u time%s)",
            STET_FMT(stet_explain_read_words(h, f)), switches, switches == 1 ? "" : "s");
        if (stet_cause_is(f->cause,
                          STET_CAUSE_OF_ARGUMENT)) /* that argument has a line of its own */
            f->source = (struct stet_place){0};
    } else if (f->facts.new_lines) {
        stet_finding_hear(h, f, STET_BETTER(GRAPH_CHANGE, HIDDEN_BRANCH, RUN, CERTAIN),
                          "%u line%s that no program had before", f->facts.new_lines,
                          f->facts.new_lines == 1 ? "" : "s");
    } else if (comes_late(h, f)) {
        return;
    } else if (switched(h, f)) {
        return;
    }
    if (stet_cause_is(f->cause, STET_CAUSE_OTHER_CODE) &&
        !stet_cause_is(f->cause, STET_CAUSE_VAGUE) && f->facts.new_line.line)
        f->origin = f->facts.new_line;
}
