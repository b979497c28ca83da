/* Merges the journals of a run. Each process has two streams of several segments; the event with
 * the smaller sequence number is next. */
#include "ledger/events.h"

#include "base/fs.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

/* Segments in the order of their numbers; one is open at a time. */
struct stream {
    char **paths;
    size_t count, next; /* next to open */
    bool open, have;    /* have: `event` waits to be given */
    struct stet_journal_reader reader;
    struct stet_journal_event event;
};

struct stet_events_process {
    char *stem; /* file name up to the stream's letter */
    uint64_t wall_minus_mono;
    struct stream streams[STET_STREAMS];
    struct stream *given; /* whose event the caller holds */
    uint64_t expected;    /* sequence number after the last one given */
    bool dry;             /* nothing was there at the last check */
    struct stet_journal_damage damage;
};

static void close_reader(struct stet_events_process *p, struct stream *s)
{
    const struct stet_journal_damage *d = &s->reader.damage;

    if (!s->open)
        return;
    if (d->regions && !p->damage.regions)
        p->damage.first = d->first;
    p->damage.regions += d->regions;
    p->damage.bytes += d->bytes;
    p->damage.tail += d->tail;
    p->damage.bad_payloads += d->bad_payloads;
    p->damage.unknown += d->unknown;
    stet_journal_reader_close(&s->reader);
    s->open = false;
}

static void free_process(struct stet_events_process *p)
{
    for (unsigned i = 0; i < STET_STREAMS; i++) {
        close_reader(p, &p->streams[i]);
        for (size_t k = 0; k < p->streams[i].count; k++)
            stet_mem_free(p->streams[i].paths[k]);
        stet_mem_free(p->streams[i].paths);
    }
    stet_mem_free(p->stem);
    stet_mem_free(p);
}

void stet_ledger_events_close(struct stet_events *ev)
{
    for (size_t i = 0; i < ev->process_count; i++)
        free_process(ev->processes[i]);
    stet_mem_free(ev->processes);
    stet_mem_free(ev->folder);
    *ev = (struct stet_events){0};
}

static struct stet_events_process *process_of(struct stet_events *ev, const char *name, size_t stem)
{
    struct stet_events_process *p, **more;

    for (size_t i = 0; i < ev->process_count; i++) {
        const char *known = ev->processes[i]->stem;

        if (strlen(known) == stem && memcmp(known, name, stem) == 0)
            return ev->processes[i];
    }
    more = stet_mem_resize(ev->processes, ev->process_count + 1, sizeof *more);
    if (!more)
        return NULL;
    ev->processes = more;
    p = stet_mem_calloc(1, sizeof *p);
    if (p)
        p->stem = stet_mem_calloc(stem + 1, 1);
    if (!p || !p->stem) {
        stet_mem_free(p);
        return NULL;
    }
    memcpy(p->stem, name, stem);
    more[ev->process_count++] = p;
    return p;
}

/* <stem>.<m|d><number>.stj; other files are ignored. */
static bool add_file(struct stet_events *ev, const char *name)
{
    struct stet_view v = stet_view_str(name);
    const char *dot;
    struct stet_events_process *p;
    struct stream *s;
    char **more, *path;

    if (!stet_view_ends(v, STET_JOURNAL_SUFFIX))
        return true;
    v.len -= strlen(STET_JOURNAL_SUFFIX);
    dot = memrchr(v.ptr, '.', v.len);
    if (!dot || (dot[1] != 'm' && dot[1] != 'd'))
        return true;
    p = process_of(ev, name, (size_t)(dot - name));
    path = p ? stet_fs_join(ev->folder, name) : NULL;
    if (!path)
        return false;
    s = &p->streams[dot[1] == 'm' ? STET_STREAM_MAIN : STET_STREAM_DETAIL];
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->paths[i], path) == 0) {
            stet_mem_free(path);
            return true;
        }
    }
    more = stet_mem_resize(s->paths, s->count + 1, sizeof *more);
    if (!more) {
        stet_mem_free(path);
        return false;
    }
    s->paths = more;
    s->paths[s->count++] = path;
    return true;
}

enum stet_rc stet_ledger_events_refresh(struct stet_events *ev, struct stet_err *err)
{
    struct dirent **names = NULL;
    int n = scandir(ev->folder, &names, NULL, alphasort); /* so segments come in order */
    bool ok = true;

    if (n < 0 && errno == ENOENT)
        return STET_OK;
    if (n < 0)
        return stet_fail_errno(err, "%s: cannot list", ev->folder);
    for (int i = 0; i < n; i++) {
        ok = ok && add_file(ev, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    return ok ? STET_OK : stet_fail(err, STET_NO_MEMORY, "%s: out of memory", ev->folder);
}

enum stet_rc stet_ledger_events_open(struct stet_events *ev, const char *run_folder,
                                     struct stet_err *err)
{
    enum stet_rc rc;

    *ev = (struct stet_events){.folder = stet_fs_join(run_folder, "journal")};
    if (!ev->folder)
        return stet_fail(err, STET_NO_MEMORY, "%s: out of memory", run_folder);
    rc = stet_ledger_events_refresh(ev, err);
    if (rc != STET_OK)
        stet_ledger_events_close(ev);
    return rc;
}

/* A segment that has disappeared was dropped by its writer; the next one records it. */
static void open_next(struct stream *s)
{
    while (!s->open && s->next < s->count) {
        enum stet_rc rc = stet_journal_reader_open(&s->reader, s->paths[s->next++], NULL);

        s->open = rc == STET_OK;
        if (!s->open)
            stet_journal_reader_close(&s->reader);
    }
}

/* Makes `event` the stream's next one, if there is one by now. */
static void advance(struct stet_events_process *p, struct stream *s)
{
    s->have = false;
    for (;;) {
        enum stet_rc rc;

        open_next(s);
        if (!s->open)
            return;
        rc = stet_journal_next(&s->reader, &s->event, NULL);
        if (rc == STET_OK) {
            const struct stet_rec_segment *segment = s->event.record;

            if (s->event.kind == STET_REC_segment)
                p->wall_minus_mono = segment->wall_ns - segment->mono_ns;
            s->have = true;
            return;
        }
        if (rc == STET_NOT_FOUND && s->next >= s->count)
            return; /* the last segment may grow */
        close_reader(p, s);
    }
}

/* The stream of a process that is next by sequence number; NULL if neither has an event. A stream
 * without events is checked again only if the other one's number leaves a gap, because each check
 * is a system call. */
static struct stream *next_stream(struct stet_events_process *p)
{
    struct stream *best = NULL;

    if (p->given)
        advance(p, p->given);
    p->given = NULL;
    for (unsigned i = 0; i < STET_STREAMS; i++)
        if (p->streams[i].have && (!best || p->streams[i].event.sequence < best->event.sequence))
            best = &p->streams[i];
    if (best && best->event.sequence == p->expected)
        return best;
    for (unsigned i = 0; i < STET_STREAMS; i++) {
        struct stream *s = &p->streams[i];

        if (!s->have)
            advance(p, s);
        if (s->have && (!best || s->event.sequence < best->event.sequence))
            best = s;
    }
    p->dry = !best;
    return best;
}

static uint64_t wall_of(const struct stet_events_process *p, const struct stream *s)
{
    return s->event.time_ns + p->wall_minus_mono;
}

static bool pick(struct stet_events *ev, struct stet_run_event *out)
{
    struct stet_events_process *whose = NULL;
    struct stream *best = NULL;

    for (size_t i = 0; i < ev->process_count; i++) {
        struct stet_events_process *p = ev->processes[i];
        struct stream *s = p->dry ? NULL : next_stream(p);

        if (!s || (best && wall_of(p, s) >= wall_of(whose, best)))
            continue;
        best = s;
        whose = p;
        out->process = i;
    }
    if (!best)
        return false;
    whose->given = best;
    whose->expected = best->event.sequence + 1;
    out->wall_ns = wall_of(whose, best);
    out->event = best->event;
    return true;
}

enum stet_rc stet_ledger_events_next(struct stet_events *ev, struct stet_run_event *out)
{
    if (pick(ev, out))
        return STET_OK;
    for (size_t i = 0; i < ev->process_count; i++)
        ev->processes[i]->dry = false;
    return pick(ev, out) ? STET_OK : STET_NOT_FOUND;
}

struct stet_journal_damage stet_ledger_events_damage(const struct stet_events *ev, size_t process)
{
    const struct stet_events_process *p = ev->processes[process];
    struct stet_journal_damage sum = p->damage;

    for (unsigned i = 0; i < STET_STREAMS; i++) {
        const struct stet_journal_damage *d = &p->streams[i].reader.damage;

        if (!p->streams[i].open)
            continue;
        if (d->regions && !sum.regions)
            sum.first = d->first;
        sum.regions += d->regions;
        sum.bytes += d->bytes;
        sum.tail += d->tail;
        sum.bad_payloads += d->bad_payloads;
        sum.unknown += d->unknown;
    }
    return sum;
}
