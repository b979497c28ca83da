/* See readback.h. */
#include "explain/readback.h"

#include "base/path.h"
#include "explain/history_internal.h"
#include "explain/observed.h"

#include <math.h>

/* The number of copies before and after a compile that are examined. */
enum { LOOK = 256, SITES = 32 };

static const struct stet_order *order_of(const struct stet_history *h, uint32_t process)
{
    static const struct stet_order none;

    return process < h->order_count ? &h->orders[process] : &none;
}

/* Each compile has the copies since the previous one, so copies are ordered by compiles. */
size_t stet_explain_copies_until(const struct stet_order *o, uint64_t time_ns)
{
    size_t low = 0, high = o->copy_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (o->copies[middle].time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_line(const struct stet_frame *f, const struct stet_place *p)
{
    return f->line == p->line && stet_view_eq(f->file, p->file);
}

bool stet_explain_read_at(const struct stet_history *h, uint32_t process,
                          const struct stet_place *line, uint64_t times)
{
    const struct stet_order *o = order_of(h, process);

    for (size_t i = o->copy_count; i > 0 && o->copy_count - i + 1 < 16 * LOOK; i--) {
        const struct stet_journal_copied *c = &o->copies[i - 1];

        for (size_t k = 0; c->to_host && c->count >= times && k < c->lines.count; k++)
            if (is_line(&c->lines.items[k], line))
                return true;
    }
    return false;
}

/* ---- places that read back ---- */

/* The last copies to the host of each place by the time of a compile, newest first. */
struct reads {
    const struct stet_journal_copied *at[SITES];
    uint32_t count;
};

static void reads_until(const struct stet_order *o, uint64_t time_ns, uint64_t after_ns,
                        struct reads *out)
{
    size_t until = stet_explain_copies_until(o, time_ns);

    out->count = 0;
    for (size_t i = until; i > 0 && until - i < LOOK && out->count < SITES; i--) {
        const struct stet_journal_copied *c = &o->copies[i - 1];
        bool known = !c->to_host || !c->lines.count || c->time_ns <= after_ns;

        for (uint32_t k = 0; !known && k < out->count; k++)
            known = out->at[k]->lines.items == c->lines.items;
        if (!known)
            out->at[out->count++] = c;
    }
}

/* Takes the copies since the program that this one is compared with, or of the whole run for a
 * first program. */
static void reads_before(const struct stet_history *h, const struct stet_finding *f,
                         struct reads *out)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    uint64_t after = f->facts.first || f->facts.past || f->against == STET_NONE
                         ? 0
                         : h->sightings[f->against].time_ns;

    reads_until(order_of(h, s->process), s->time_ns, after, out);
}

static struct stet_read read_of(const struct stet_journal_copied *c, const struct stet_sighting *s,
                                bool sure)
{
    const struct stet_frame *at = &c->lines.items[0];
    struct stet_read r = {.at = {at->file, at->function, (uint32_t)at->line}, .sure = sure};

    for (size_t i = 0; !r.line && i < c->lines.count; i++)
        if (stet_view_eq(c->lines.items[i].file, s->trigger.file))
            r.line = (uint32_t)c->lines.items[i].line;
    return r;
}

/* ---- what depends on them ---- */

static bool was_read(void *context, struct stet_view file, uint32_t first, uint32_t last,
                     bool calls)
{
    const struct reads *reads = context;

    for (uint32_t i = 0; i < reads->count; i++) {
        const struct stet_frames *lines = &reads->at[i]->lines;

        for (size_t k = 0; k < (calls ? lines->count : 1); k++)
            if (lines->items[k].line >= first && lines->items[k].line <= last &&
                stet_view_eq(lines->items[k].file, file))
                return true;
    }
    return false;
}

static struct stet_read read_at(struct stet_history *h, const struct stet_sighting *s,
                                const struct reads *reads, const struct stet_python_rested *r)
{
    struct stet_read out = {.sure = r->direct, .selected = r->selected};

    for (uint32_t i = 0; !out.line && i < reads->count; i++) {
        struct reads one = {{reads->at[i]}, 1};

        if (was_read(&one, r->file, r->line, r->last, true))
            out.line = read_of(reads->at[i], s, false).line;
    }
    out.at = (struct stet_place){.file = stet_arena_copy(&h->arena, r->made.file),
                                 .function = stet_arena_copy(&h->arena, r->made.function),
                                 .line = r->made.line};
    return out;
}

static bool condition_rests(struct stet_history *h, const struct stet_finding *f,
                            struct reads *reads, struct stet_read *out)
{
    struct stet_python_copies copies = {was_read, reads};
    struct stet_python_rested rested;
    struct stet_observed seen;
    bool found;

    if (!reads->count)
        return false;
    stet_observed_init(&seen, h, f);
    found = stet_python_waiting_rests(&h->sources, &seen.stack, &copies, !f->facts.first, &rested);
    stet_observed_release(&seen);
    if (found)
        *out = read_at(h, seen.is, reads, &rested);
    return found;
}

/* Does this difference of an argument show what of it to follow? */
static bool is_asked(const struct stet_moved *m, bool sizes, enum stet_python_aspect *aspect)
{
    *aspect = m->array && !m->static_argument ? PY_OF_SIZE : PY_OF_VALUE;
    if (m->scope != STET_SCOPE_ARGUMENT || (m->array && (!sizes || !m->size_to)))
        return false;
    if (sizes && *aspect == PY_OF_VALUE && (!m->numeric || m->flag))
        return false; /* no size */
    return *aspect == PY_OF_SIZE || m->static_argument || m->wrapped;
}

/* The arguments that differ; any argument if the two calls were not seen, or were taken apart. */
static bool argument_rests(struct stet_history *h, const struct stet_finding *f,
                           struct reads *reads, bool sizes, struct stet_read *out)
{
    struct stet_journal_function called =
        stet_journal_values_function(stet_sighting_of(h, f)->values);
    struct stet_python_copies copies = {was_read, reads};
    struct stet_python_followed what = {.file = called.file, .line = called.line};
    struct stet_python_rested rested;
    struct stet_observed seen;
    bool found = false, any = !f->moved_count;

    if (!reads->count)
        return false;
    stet_observed_init(&seen, h, f);
    for (uint32_t i = 0; !found && i < f->moved_count; i++) {
        const struct stet_moved *m = &f->moved[i];

        any |= m->wrapped;
        if (m->wrapped || !is_asked(m, sizes, &what.aspect))
            continue;
        what.held = PY_HELD_ARGUMENT;
        what.path = m->path;
        found = stet_python_argument_rests(&h->sources, &seen.stack, &what, &copies, &rested);
    }
    if (!found && any) {
        what.held = PY_HELD_CALL;
        what.aspect = sizes && f->facts.argument_shape ? PY_OF_SIZE : PY_OF_VALUE;
        found = stet_python_argument_rests(&h->sources, &seen.stack, &what, &copies, &rested);
    }
    stet_observed_release(&seen);
    if (found)
        *out = read_at(h, seen.is, reads, &rested);
    return found;
}

bool stet_explain_reads_known(const struct stet_history *h, const struct stet_finding *f)
{
    return order_of(h, stet_sighting_of(h, f)->process)->copy_count != 0;
}

/* Does the waiting line itself call a function that branches on what it reads, as one that chooses
 * the function to call does? */
static bool chosen_in_call(struct stet_history *h, const struct stet_journal_copied *c,
                           const struct stet_sighting *s)
{
    bool branches = false;

    for (size_t i = 0; i < c->lines.count; i++) {
        const struct stet_frame *at = &c->lines.items[i];

        if (is_line(at, &s->trigger))
            return branches;
        branches |= stet_python_branches(&h->sources, at->file, (uint32_t)at->line);
    }
    return false;
}

bool stet_explain_read_decides(struct stet_history *h, const struct stet_finding *f,
                               struct stet_read *out)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct reads reads;

    reads_before(h, f, &reads);
    for (uint32_t i = 0; i < reads.count; i++)
        if (chosen_in_call(h, reads.at[i], s)) {
            *out = read_of(reads.at[i], s, true);
            return true;
        }
    return condition_rests(h, f, &reads, out);
}

/* ---- values ---- */

static bool agrees(const struct stet_journal_copied *c, double value)
{
    double read;

    return stet_journal_copied_number(c, &read) && (read == value || trunc(read) == value);
}

/* Did this place have the value `from` by the time of the other compile, as far as is known? */
static bool had(const struct stet_history *h, const struct stet_finding *f,
                const struct stet_journal_copied *c, double from, bool *known)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct reads reads;
    double value;

    *known = false;
    if (f->against == STET_NONE || h->sightings[f->against].past)
        return false;
    reads_until(order_of(h, s->process), h->sightings[f->against].time_ns, 0, &reads);
    for (uint32_t i = 0; i < reads.count; i++) {
        if (reads.at[i]->lines.items != c->lines.items)
            continue;
        *known = stet_journal_copied_number(reads.at[i], &value);
        return agrees(reads.at[i], from);
    }
    return false;
}

/* A place whose value was `from` at the other compile and is `to` at this one. */
static const struct stet_journal_copied *read_as(const struct stet_history *h,
                                                 const struct stet_finding *f,
                                                 const struct reads *reads, double from, double to)
{
    for (uint32_t i = 0; i < reads->count; i++) {
        bool known;

        if (agrees(reads->at[i], to) && had(h, f, reads->at[i], from, &known))
            return reads->at[i];
    }
    return NULL;
}

static const struct stet_journal_copied *
size_read(const struct stet_history *h, const struct stet_finding *f, const struct reads *reads)
{
    const struct stet_journal_copied *c = NULL;

    if (f->facts.inner_shape)
        c = read_as(h, f, reads, (double)f->facts.inner_from, (double)f->facts.inner_to);
    if (!c && f->facts.argument_shape)
        c = read_as(h, f, reads, (double)f->facts.size_from, (double)f->facts.size_to);
    for (uint32_t i = 0; !c && i < f->moved_count; i++)
        if (f->moved[i].static_argument && f->moved[i].numeric)
            c = read_as(h, f, reads, f->moved[i].from_number, f->moved[i].to_number);
    return c;
}

bool stet_explain_read_passed(struct stet_history *h, const struct stet_finding *f, bool sizes,
                              struct stet_read *out)
{
    const struct stet_journal_copied *c;
    struct reads reads;

    reads_before(h, f, &reads);
    c = sizes ? size_read(h, f, &reads) : NULL;
    if (c) {
        *out = read_of(c, stet_sighting_of(h, f), true);
        return true;
    }
    return argument_rests(h, f, &reads, sizes, out);
}

struct stet_view stet_explain_read_words(struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_place *at = &f->source;

    if (!at->line || stet_view_eq(at->file, stet_sighting_of(h, f)->trigger.file))
        return stet_arena_printf(&h->arena, "line %u", at->line ? at->line : f->reads);
    return stet_arena_printf(&h->arena, "%.*s:%u", STET_FMT(stet_path_base(at->file)), at->line);
}
