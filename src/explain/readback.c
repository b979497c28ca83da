/* See readback.h. */
#include "explain/readback.h"

#include "base/path.h"
#include "explain/history_internal.h"

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

/* The frames of one function in a read-back and in the wait for a compile, from the innermost of
 * the wait; false when there is none from *wait on. */
static bool common(const struct stet_journal_copied *c, const struct stet_sighting *s, size_t *wait,
                   const struct stet_frame **read)
{
    for (; *wait < s->lines.count; ++*wait) {
        const struct stet_frame *w = &s->lines.items[*wait];

        for (size_t i = 0; i < c->lines.count; i++) {
            *read = &c->lines.items[i];
            if (stet_view_eq((*read)->file, w->file) &&
                stet_view_eq((*read)->function, w->function))
                return true;
        }
    }
    return false;
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
    for (uint32_t i = 0; i < reads.count; i++) {
        const struct stet_frame *read;

        for (size_t w = 0; common(reads.at[i], s, &w, &read); w++) {
            bool direct = false;

            if (!stet_python_rests_condition(&h->sources, read->file,
                                             (uint32_t)s->lines.items[w].line, (uint32_t)read->line,
                                             !f->facts.first, &direct))
                continue;
            *out = read_of(reads.at[i], s, direct);
            return true;
        }
    }
    return false;
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

/* A single number with a fraction (a loss, a norm) is not used to make sizes. */
static bool may_be_size(const struct stet_journal_copied *c)
{
    return c->rank || !c->shape_known || !stet_view_contains(c->dtype, "float");
}

/* Finds a place whose result reaches the waiting call by names. */
static bool passed_by_name(struct stet_history *h, const struct stet_finding *f,
                           const struct reads *reads, bool sizes, struct stet_read *out)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);

    for (uint32_t i = 0; i < reads->count; i++) {
        const struct stet_frame *read;

        if (sizes && !may_be_size(reads->at[i]))
            continue;
        for (size_t w = 0; common(reads->at[i], s, &w, &read); w++) {
            if (!stet_python_rests_argument(&h->sources, read->file,
                                            (uint32_t)s->lines.items[w].line, (uint32_t)read->line))
                continue;
            *out = read_of(reads->at[i], s, false);
            return true;
        }
    }
    return false;
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
    return passed_by_name(h, f, &reads, sizes, out);
}

struct stet_view stet_explain_read_words(struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_place *at = &f->source;

    if (!at->line || stet_view_eq(at->file, stet_sighting_of(h, f)->trigger.file))
        return stet_arena_printf(&h->arena, "line %u", at->line ? at->line : f->reads);
    return stet_arena_printf(&h->arena, "%.*s:%u", STET_FMT(stet_path_base(at->file)), at->line);
}
