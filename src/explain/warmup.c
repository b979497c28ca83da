/* Programs that were compiled ahead: a warm-up calls a function once for each size, and later
 * callers of that function need no new program. */
#include "explain/history_internal.h"

/* Real code does not compile more programs of one function ahead; each finding looks only at this
 * many executions, and at this many places that copy. */
enum { MOST_AHEAD = 1024, MOST_SITES = 64 };
/* A warm-up runs each program this often at most. More programs than MOST_HELD are reported while
 * the run goes on. */
enum { RUNS_EACH = 3, MOST_HELD = 64 };

/* How a group's executions begin: with new programs, each run a few times. */
struct beginning {
    uint32_t programs, last; /* last: the last new one, a sighting */
    uint32_t with, then;     /* executions up to its first; afterwards */
    bool goes_on;            /* the line that waits for a finding compiled later, too */
};

static struct beginning beginning_of(const struct stet_history *h, const struct stet_sighting *s)
{
    const struct stet_order *o = s->process < h->order_count ? &h->orders[s->process] : NULL;
    struct beginning b = {.last = STET_NONE};
    uint32_t next = 0; /* the sightings of a group are numbered as they were compiled */

    for (size_t i = 0; o && i < o->count && b.then < MOST_AHEAD; i++) {
        uint32_t ran = o->items[i];

        if (ran == STET_NONE || h->sightings[ran].group != s->group)
            continue;
        b.then++;
        if (ran < next)
            continue;
        next = ran + 1;
        if (b.with + b.then > RUNS_EACH * (b.programs + 1)) {
            b.goes_on |= stet_place_eq(&h->sightings[ran].trigger, &s->trigger);
            continue;
        }
        b.programs++;
        b.last = ran;
        b.with += b.then;
        b.then = 0;
    }
    return b;
}

/* ---- copies ---- */

/* The last record of each place (and type, of copies to the device), which has its count. */
struct sites {
    const struct stet_journal_copied *last[MOST_SITES];
    uint32_t count;
};

static bool same_frame(const struct stet_frame *a, const struct stet_frame *b)
{
    return a->line == b->line && stet_view_eq(a->file, b->file) &&
           stet_view_eq(a->function, b->function);
}

static bool same_site(const struct stet_journal_copied *a, const struct stet_journal_copied *b)
{
    bool same = a->to_host == b->to_host && a->lines.count == b->lines.count;

    for (size_t i = 0; same && i < a->lines.count; i++)
        same = same_frame(&a->lines.items[i], &b->lines.items[i]);
    if (!same || a->to_host)
        return same;
    same = a->rank == b->rank && stet_view_eq(a->dtype, b->dtype);
    for (uint32_t i = 0; same && i < a->rank && i < STET_COPIED_RANK; i++)
        same = a->dims[i] == b->dims[i];
    return same;
}

static void add_site(struct sites *sites, const struct stet_journal_copied *c)
{
    uint32_t at = 0;

    while (at < sites->count && !same_site(sites->last[at], c))
        at++;
    if (at == MOST_SITES)
        return;
    sites->count += at == sites->count;
    sites->last[at] = c; /* they come in order of time */
}

/* Returns the frame, + 1, of the function that waits for the program; 0 if its caller is not
 * known. */
static size_t waiting_frame(const struct stet_frames *copy, const struct stet_frame *waits)
{
    for (size_t i = 0; i + 1 < copy->count; i++)
        if (stet_view_eq(copy->items[i].file, waits->file) &&
            stet_view_eq(copy->items[i].function, waits->function))
            return i + 1;
    return 0;
}

/* Did the lines that called the function for this copy call it for the program, too? Fewer frames
 * are known of a copy than of a compile. */
static bool same_callers(const struct stet_frames *copy, const struct stet_frames *program)
{
    size_t at = waiting_frame(copy, program->items), i = 1;

    while (at < copy->count && i < program->count &&
           same_frame(&copy->items[at], &program->items[i])) {
        at++;
        i++;
    }
    return at == copy->count;
}

static bool is_of_beginning(const struct stet_history *h, const struct stet_journal_copied *c,
                            const struct beginning *b)
{
    uint32_t n = 0;

    for (uint32_t at = b->last; at != STET_NONE && n < MOST_AHEAD; at = h->sightings[at].before)
        if (n++, h->sightings[at].lines.count && same_callers(&c->lines, &h->sightings[at].lines))
            return true;
    return false;
}

/* Did others run what came afterwards? Then the places of the beginning have their share of the
 * copies, as of the executions; at most twice that, because the last program may run again. */
static bool others_go_on(const struct stet_history *h, const struct stet_sighting *s,
                         const struct beginning *b)
{
    const struct stet_order *o = &h->orders[s->process];
    struct sites sites = {0};
    uint64_t here = 0, elsewhere = 0;

    for (size_t i = 0; s->lines.count && i < o->copy_count; i++)
        if (waiting_frame(&o->copies[i].lines, s->lines.items))
            add_site(&sites, &o->copies[i]);
    for (uint32_t i = 0; i < sites.count; i++)
        *(is_of_beginning(h, sites.last[i], b) ? &here : &elsewhere) += sites.last[i]->count;
    return elsewhere && here * b->then <= 2 * elsewhere * b->with;
}

/* ---- the source ---- */

/* "run" of "Server.run". */
static struct stet_view plain_name(struct stet_view qualified)
{
    size_t at = qualified.len;

    while (at && qualified.ptr[at - 1] != '.')
        at--;
    return stet_view_of(qualified.ptr + at, qualified.len - at);
}

/* Is a function that waits called in another line of a file that is on the stack? */
static bool called_elsewhere(struct stet_history *h, const struct stet_sighting *s)
{
    struct stet_view name = s->traits->function;

    for (size_t i = 0; i < s->lines.count; i++) {
        const struct stet_frame *caller = &s->lines.items[i];

        for (size_t k = 0; k < s->lines.count; k++) {
            struct stet_view file = s->lines.items[k].file;
            bool own = stet_view_eq(file, caller->file);

            if (stet_python_called_elsewhere(&h->sources, file, plain_name(name),
                                             own ? (uint32_t)caller->line : 0))
                return true;
        }
        name = caller->function;
    }
    return false;
}

/* The function is called in another place as well, and this line compiled all its programs. */
static bool from_own_line(struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    uint32_t n = 0;

    if (!stet_python_called_elsewhere(&h->sources, s->trigger.file, s->traits->function,
                                      s->trigger.line))
        return false;
    for (uint32_t at = f->sighting; at != STET_NONE; at = h->sightings[at].before)
        if (n++ == MOST_AHEAD || !stet_place_eq(&h->sightings[at].trigger, &s->trigger))
            return false;
    return true;
}

bool stet_history_is_ahead(struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct beginning b = beginning_of(h, s);

    if (b.programs < 2 || f->sighting > b.last || b.then < 2 * b.programs)
        return false;
    return (b.with == b.programs && !b.goes_on && from_own_line(h, f)) || others_go_on(h, s, &b);
}

bool stet_history_may_be_ahead(struct stet_history *h, const struct stet_finding *f)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    struct beginning b;

    if (stet_history_is_eager(s) || f->against == STET_NONE || !s->lines.count)
        return false;
    b = beginning_of(h, s);
    return b.programs <= MOST_HELD && (b.last == STET_NONE || f->sighting <= b.last || !b.then) &&
           called_elsewhere(h, s);
}
