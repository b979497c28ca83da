/* Functions of the user's that run outside jit. Each of their operations is a program of its own,
 * compiled when it first runs. Reported are their number, their function and their total cost; that
 * two of them differ in shape is not a cause. */
#include "explain/history_internal.h"

#include "base/mem.h"
#include "base/vec.h"

#include <stdlib.h>

/* This many programs of one function are a storm, if most of them ran so often after the newest one
 * was compiled: it is a loop then, not the initialisation. `tests/truth/controls/thresholds.py`
 * prints how the verdicts on public programs move with both numbers. With fewer programs it is a
 * loop over settings, a page that shows what vmap is for, or a line that reports a metric. With
 * fewer turns it is a model that runs its layers in a loop once, to make its weights. */
enum { STORM_PROGRAMS = 8, STORM_TURNS = 4 };
enum { MOST_FRAMES = 64 };

struct storm {
    struct stet_place at; /* the function: its `def`, or the loop whose body runs the operations */
    struct stet_place loop;  /* the loop that calls it; line 0 for none */
    bool body;               /* the operations are in the body of that loop itself */
    bool several;            /* they are in more than one line */
    bool read;               /* its source was read, so a loop would have been seen */
    uint32_t programs, last; /* last: the newest program */
    uint32_t distinct;       /* programs that differ from each other */
    uint32_t others;         /* programs of other functions in one of its lines */
    uint32_t drifts;         /* programs of lines that went on compiling for other arguments */
    uint64_t line;           /* the line of that function that ran the operation */
    uint32_t traced;         /* programs whose line is in a jitted program too */
    bool drives;             /* the function runs a jitted one in a loop of its own */
    bool sized;              /* a size in it follows values that are read back */
    bool yields;    /* the function is a generator, which cannot be compiled as one program */
    bool complete;  /* while counting: the newest program has run */
    uint32_t turns; /* how often half of its programs ran after that, at least */
};

struct storms {
    struct stet_history *h;
    struct storm *items;
    uint32_t count, *of, *ran; /* by sighting: storm + 1, executions after all are compiled */
    uint32_t *counts; /* by sighting: the first compile of its program, + 1; 0: not counted */
    size_t room;
    struct stet_map by_place, holders; /* holders: function -> the loop that has all its lines */
    struct stet_map jitted;            /* process, line -> it is in a jitted program */
};

/* ---- which function runs an operation ---- */

static struct stet_frame frame_at(const struct stet_sighting *s, size_t i)
{
    if (s->lines.count)
        return s->lines.items[i];
    return (struct stet_frame){s->trigger.file, s->trigger.function, s->trigger.line};
}

static size_t frame_count(const struct stet_sighting *s)
{
    size_t n = s->lines.count ? s->lines.count : s->trigger.line != 0;

    return n < MOST_FRAMES ? n : MOST_FRAMES;
}

static uint32_t loop_of(struct stet_history *h, const struct stet_frame *f)
{
    return stet_python_loop_of_line(&h->sources, f->file, (uint32_t)f->line);
}

static uint64_t function_key(const struct stet_frame *f)
{
    return stet_hash_mix(stet_hash_bytes(f->file), stet_hash_bytes(f->function)).lo;
}

/* Notes for each function on the stack whether all lines that run operations are in one loop: such
 * a function holds the loop, and is not what the loop should call as one program. */
static bool note_holders(struct storms *x, const struct stet_sighting *s)
{
    for (size_t i = 0; i < frame_count(s); i++) {
        struct stet_frame f = frame_at(s, i);
        uint64_t key = function_key(&f);
        uint32_t loop = loop_of(x->h, &f), known = stet_map_get(&x->holders, key);

        if (known == STET_MAP_NONE)
            known = loop;
        if (!stet_map_put(&x->holders, key, known == loop ? loop : 0))
            return false;
    }
    return true;
}

static bool holds_loop(const struct storms *x, const struct stet_frame *f)
{
    uint32_t loop = stet_map_get(&x->holders, function_key(f));

    return loop != STET_MAP_NONE && loop != 0;
}

/* Looks from the outermost frame inwards for a loop, and from there for the last of the functions
 * that hold one inside another. The function that it calls is the one to compile. */
static struct storm dispatcher(struct storms *x, const struct stet_sighting *s)
{
    size_t n = frame_count(s), at = n;
    struct storm storm = {0};
    struct stet_frame f;

    while (at > 0 && (f = frame_at(s, at - 1), !loop_of(x->h, &f)))
        at--;
    while (at > 1 && (f = frame_at(s, at - 2), holds_loop(x, &f)))
        at--;
    if (at) {
        f = frame_at(s, at - 1);
        storm.loop = (struct stet_place){f.file, f.function, loop_of(x->h, &f)};
    }
    storm.body = at == 1;
    f = frame_at(s, at > 1 ? at - 2 : 0);
    storm.line = stet_place_hash(f.file, (uint32_t)f.line) ^ s->process;
    if (storm.body) {
        storm.at = storm.loop;
        return storm;
    }
    storm.at = (struct stet_place){f.file, f.function, 0};
    storm.at.line = stet_python_def_around(&x->h->sources, f.file, (uint32_t)f.line);
    storm.read = stet_python_open(&x->h->sources, f.file) != NULL;
    if (!storm.at.line)
        storm.at.line = (uint32_t)f.line;
    return storm;
}

/* ---- what each function ran ---- */

static bool is_single(const struct stet_sighting *s)
{
    return !s->past && s->traits->framework == STET_FRAMEWORK_JAX && stet_history_is_eager(s) &&
           frame_count(s) != 0;
}

static bool yields(struct storms *x, const struct stet_sighting *s, const struct storm *t)
{
    if (stet_view_ends(t->at.function, "<genexpr>"))
        return true;
    for (size_t i = 0; i < frame_count(s) && !t->body; i++) {
        struct stet_frame f = frame_at(s, i);

        if (stet_view_eq(f.function, t->at.function) && stet_view_eq(f.file, t->at.file))
            return stet_python_in_generator(&x->h->sources, f.file, (uint32_t)f.line);
    }
    return false;
}

static bool is_waiting_line(const struct stet_sighting *s, uint64_t line)
{
    for (size_t i = 0; i < frame_count(s); i++) {
        struct stet_frame f = frame_at(s, i);

        if (stet_place_hash(f.file, (uint32_t)f.line) == line)
            return true;
    }
    return false;
}

/* Does the program hold a function of the user's, as that of a `scan` or a `while` does? */
static bool runs_function(const struct stet_sighting *s)
{
    for (uint32_t i = 0; s->traits->ops > 1 && i < s->traits->line_count; i++)
        if (!is_waiting_line(s, s->traits->lines[i]))
            return true;
    return false;
}

/* Such a program with another function is new, whatever one does: a loop over settings makes one in
 * each turn. The same function made anew is the same program. */
static bool is_another(const struct stet_sighting *s, const struct stet_finding *f)
{
    return f->against != STET_NONE && f->pair != STET_CAUSE_IDENTICAL && runs_function(s);
}

/* Did the line go on compiling because its arguments changed? */
static bool is_drift(const struct stet_finding *f)
{
    if (f->cause == STET_CAUSE_NONE || f->benign)
        return false;
    for (uint32_t i = 0; i < f->change_count; i++)
        if (f->changes[i].kind == STET_CHANGE_ARGUMENT)
            return true;
    return false;
}

static bool add(struct storms *x, uint32_t number)
{
    const struct stet_sighting *s = &x->h->sightings[number];
    const struct stet_finding *f = &x->h->findings[s->finding];
    struct storm one = dispatcher(x, s);
    uint64_t key = stet_place_hash(one.at.file, one.at.line) ^ stet_hash_bytes(one.at.function).lo ^
                   s->process;
    uint32_t at = stet_map_get(&x->by_place, key);

    if (at == STET_MAP_NONE) {
        if (!stet_vec_room(&x->items, &x->room, x->count, sizeof *x->items))
            return false;
        x->items[at = x->count++] = one;
        x->items[at].yields = yields(x, s, &one);
        if (!stet_map_put(&x->by_place, key, at))
            return false;
    }
    x->items[at].several |=
        x->items[at].programs &&
        !stet_place_eq(&x->h->sightings[x->items[at].last].trigger, &s->trigger);
    x->of[number] = at + 1;
    if (is_another(s, f)) {
        x->items[at].others++;
        return true;
    }
    x->items[at].programs++;
    if (f->pair == STET_CAUSE_IDENTICAL && x->counts[f->against] &&
        x->of[f->against] == x->of[number]) {
        x->counts[number] = x->counts[f->against];
    } else {
        x->counts[number] = number + 1;
        x->items[at].distinct++;
        x->items[at].last = number;
    }
    x->items[at].traced += stet_map_get(&x->jitted, one.line) != STET_MAP_NONE;
    x->items[at].drifts += is_drift(f);
    return true;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

/* Counts how often the programs of each storm ran after its newest one. JAX shares the program of
 * an operation between all lines, so a few programs of the initialisation run later too: the median
 * counts. */
static void count_runs(struct storms *x, uint32_t process)
{
    const struct stet_order *o = &x->h->orders[process];

    for (size_t i = 0; i < o->count; i++) {
        uint32_t ran = o->items[i] == STET_NONE ? 0 : x->counts[o->items[i]];
        struct storm *t = ran ? &x->items[x->of[ran - 1] - 1] : NULL;

        if (!t)
            continue;
        x->ran[ran - 1] += t->complete;
        t->complete |= ran - 1 == t->last;
    }
}

static bool count_turns(struct storms *x)
{
    uint32_t *runs = stet_mem_calloc((size_t)x->h->sighting_count + 1, sizeof *runs);
    uint32_t *ends = stet_mem_calloc((size_t)x->count + 1, sizeof *ends);
    bool good = runs && ends;

    for (uint32_t i = 0; i < x->h->order_count; i++)
        count_runs(x, i);
    for (uint32_t k = 1; good && k < x->count; k++)
        ends[k] = ends[k - 1] + x->items[k - 1].distinct;
    for (uint32_t i = 0; good && i < x->h->sighting_count; i++)
        if (x->counts[i] == i + 1)
            runs[ends[x->of[i] - 1]++] = x->ran[i];
    for (uint32_t k = 0; good && k < x->count; k++) {
        uint32_t n = x->items[k].distinct, *first = runs + ends[k] - n;

        if (n)
            qsort(first, n, sizeof *first, by_number);
        x->items[k].turns = n ? first[n / 2] : 0;
    }
    stet_mem_free(runs);
    stet_mem_free(ends);
    return good;
}

/* A line that is in a jitted program too runs outside jit on occasion: a model's own function when
 * its parameters are made. A program also has the lines that called it; those wait for the compile,
 * and are outside jit. */
static bool note_jitted(struct storms *x, const struct stet_sighting *s)
{
    if (s->past || stet_history_is_eager(s))
        return true;
    for (uint32_t i = 0; i < s->traits->line_count; i++)
        if (!is_waiting_line(s, s->traits->lines[i]) &&
            !stet_map_put(&x->jitted, s->traits->lines[i] ^ s->process, 0))
            return false;
    return true;
}

static bool is_of(const struct storm *t, const struct stet_frame *f)
{
    return !t->body && stet_view_eq(t->at.function, f->function) &&
           stet_view_eq(t->at.file, f->file);
}

/* A function with a loop that runs a jitted one is not to be compiled as one program: what else it
 * runs begins or ends that loop. */
static void note_drivers(struct storms *x, const struct stet_sighting *s)
{
    for (size_t i = 0; !s->past && !stet_history_is_eager(s) && i < s->lines.count; i++) {
        const struct stet_frame *f = &s->lines.items[i];
        bool loop = loop_of(x->h, f) != 0;

        for (uint32_t k = 0; loop && k < x->count; k++)
            x->items[k].drives |= is_of(&x->items[k], f);
    }
}

/* Nor is one whose sizes follow values: a program has fixed sizes. */
static void note_sized(struct storms *x, uint32_t number)
{
    const struct stet_sighting *s = &x->h->sightings[number];
    const struct stet_finding *f = s->finding == STET_NONE ? NULL : &x->h->findings[s->finding];

    if (x->of[number] && f && stet_cause_is(f->cause, STET_CAUSE_NAMES_LINE_IF_CERTAIN) &&
        stet_cause_is(f->cause, STET_CAUSE_SIZE_FROM) && f->sure == STET_SURE_CERTAIN)
        x->items[x->of[number] - 1].sized = true;
}

static bool gather(struct storms *x)
{
    struct stet_history *h = x->h;

    for (uint32_t i = 0; i < h->sighting_count; i++)
        if (!note_jitted(x, &h->sightings[i]))
            return false;

    for (uint32_t i = 0; i < h->sighting_count; i++)
        if (is_single(&h->sightings[i]) && !note_holders(x, &h->sightings[i]))
            return false;
    for (uint32_t i = 0; i < h->sighting_count; i++)
        if (is_single(&h->sightings[i]) && h->sightings[i].finding != STET_NONE &&
            !h->findings[h->sightings[i].finding].prepares && !add(x, i))
            return false;
    for (uint32_t i = 0; i < h->sighting_count; i++) {
        note_drivers(x, &h->sightings[i]);
        note_sized(x, i);
    }
    return count_turns(x);
}

/* ---- naming ---- */

/* Most causes describe how two programs differ, which does not help when the programs are
 * operations at several places of a function. Only a few causes are about the line itself, some of
 * them only if the evidence for a single operation was observed. */
static bool is_nameless(const struct stet_finding *f)
{
    if (stet_cause_is(f->cause, STET_CAUSE_NAMES_LINE_IF_CERTAIN))
        return f->sure != STET_SURE_CERTAIN;
    return !stet_cause_is(f->cause, STET_CAUSE_NAMES_LINE);
}

bool stet_history_outside(const struct stet_history *h, const struct stet_finding *f)
{
    return is_single(&h->sightings[f->sighting]) && is_nameless(f);
}

/* Did most of it run again after all of it was compiled? */
static bool ran_again(const struct storm *t)
{
    return t->turns >= STORM_TURNS;
}

/* Does a loop run all of it again and again? One line is an expression that makes the arguments of
 * a call, and not a function that should be compiled. A loop over settings brings another function
 * in each turn, and one jit around it would be compiled as often. */
static bool is_looped(const struct storm *t)
{
    return t->loop.line && t->several && t->programs >= STORM_PROGRAMS && ran_again(t) &&
           t->others <= t->turns && t->traced * 2 < t->programs && !t->yields && !t->drives &&
           !t->sized;
}

/* A program that came late is worth a report only if a loop may bring more of them. */
static bool may_go_on(const struct storm *t)
{
    return t->loop.line || !t->read;
}

static void name(struct stet_history *h, struct stet_finding *f, const struct storm *t)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    bool drifts = is_drift(f);

    f->cause = STET_CAUSE_EAGER_STORM;
    f->also_count = 0;
    f->outside = true;
    f->fix_text = NULL;
    f->benign = is_another(s, f) || (!is_looped(t) && !(drifts && may_go_on(t)));
    f->sure = is_looped(t) ? STET_SURE_CERTAIN : STET_SURE_LIKELY;
    f->source = t->at;
    f->origin = s->trigger;
    f->detail = t->body
                    ? stet_arena_printf(&h->arena, "the body of the loop in line %u", t->loop.line)
                    : t->at.function;
    /* without a number: the story counts its operations, the late ones of other loops too */
    f->evidence = t->loop.line
                      ? stet_arena_printf(&h->arena,
                                          "it runs in the loop of line %u, and each of its "
                                          "operations is a program of its own",
                                          t->loop.line)
                      : stet_view_str("each of its operations is a program of its own");
    f->advice = stet_arena_printf(&h->arena,
                                  "{\"storm\":{\"programs\":%u,\"turns\":%u,\"loop\":%s,"
                                  "\"others\":%u,\"jitted\":%u,\"drifts\":%u,"
                                  "\"generator\":%s}}",
                                  t->programs, t->turns, t->loop.line ? "true" : "false", t->others,
                                  t->traced, t->drifts, t->yields ? "true" : "false");
    if (!t->loop.line && !ran_again(t))
        f->fix_text = "These ran once, so nothing in the loop need change. A store serves them at "
                      "the next launch; one jax.jit around {detail} would make them one program.";
    else if (t->loop.line && t->drifts && !is_looped(t))
        f->fix_text = "The sizes change as the loop turns, and each size is another program: pad "
                      "to a fixed size, then wrap {detail} in one jax.jit.";
}

bool stet_explain_storms(struct stet_history *h)
{
    size_t all = (size_t)h->sighting_count + 1;
    struct storms x = {.h = h,
                       .of = stet_mem_calloc(all, sizeof *x.of),
                       .ran = stet_mem_calloc(all, sizeof *x.ran),
                       .counts = stet_mem_calloc(all, sizeof *x.counts)};
    bool good = x.of && x.ran && x.counts && gather(&x);

    for (uint32_t i = 0; good && i < h->finding_count; i++) {
        struct stet_finding *f = &h->findings[i];
        const struct storm *t = x.of[f->sighting] ? &x.items[x.of[f->sighting] - 1] : NULL;

        f->outside = false;
        if (t && is_nameless(f) && (f->cause != STET_CAUSE_NONE || t->programs >= STORM_PROGRAMS))
            name(h, f, t);
    }
    stet_map_release(&x.by_place);
    stet_map_release(&x.holders);
    stet_map_release(&x.jitted);
    stet_mem_free(x.items);
    stet_mem_free(x.of);
    stet_mem_free(x.ran);
    stet_mem_free(x.counts);
    return good;
}
