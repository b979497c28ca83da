/* See ranks_text.h. */
#include "cli/ranks_text.h"

#include "base/clock.h"
#include "base/excerpt.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/text.h"
#include "monitor/rank_hang.h"

#include <stdio.h>
#include <stdlib.h>

/* The text of a line of a source file, without its indentation. The file may be named by another
 * host. */
static void put_source(struct stet_buf *out, const char *path, uint64_t line)
{
    struct stet_buf text = STET_BUF_INIT;
    size_t at = 0;

    if (*path == '/' && line <= UINT32_MAX &&
        stet_text_source(&text, stet_view_str(path), (uint32_t)line) && text.len) {
        while (at < text.len && strchr(" \t", text.ptr[at]))
            at++;
        stet_buf_str(out, ": ");
        stet_buf_add(out, text.ptr + at, text.len - at);
    }
    stet_buf_release(&text);
}

static void put_place(struct stet_buf *out, const char *file, uint64_t line, const char *function)
{
    stet_buf_printf(out, "%.*s:%llu in %.*s", STET_FMT(stet_text_path(stet_view_str(file))),
                    (unsigned long long)line,
                    STET_FMT(stet_text_function(stet_view_str(function))));
}

static void put_line(struct stet_buf *out, const struct stet_rank_state *s)
{
    if (!s->line)
        return;
    stet_buf_str(out, s->now ? "    " : "    its last compile was at ");
    put_place(out, s->file, s->line, s->function);
    if (s->now)
        put_source(out, s->file, s->line);
    if (s->inner_line) {
        stet_buf_str(out, "\n    inside ");
        put_place(out, s->inner_file, s->inner_line, s->inner_function);
    }
    if (!s->now && s->why_not[0])
        stet_buf_printf(out, " (where it is now is not known: %s)", s->why_not);
    stet_buf_char(out, '\n');
}

/* Whether what it started has finished. What a process that was killed or stopped wrote last says
 * nothing about now. */
static void put_pending(struct stet_buf *out, const struct stet_rank_state *s)
{
    if (!s->finished_known || s->at_least)
        return;
    if (!s->pending_count) {
        stet_buf_str(out, s->runs > 1 ? ", all finished" : ", finished");
        return;
    }
    if (!stet_view_eq(s->pending, s->program))
        stet_buf_printf(out, "; %.*s", STET_FMT(stet_text_function(s->pending)));
    stet_buf_str(out, s->pending_count > 1 ? ", the oldest pending one not finished for "
                                           : ", not finished for ");
    stet_text_duration(out, s->pending_ns);
}

static void put_program(struct stet_buf *out, const struct stet_rank_state *s)
{
    if (s->kind == STET_RANK_COMPILING || !s->executions)
        return;
    stet_buf_printf(out, "    last program %.*s", STET_FMT(stet_text_function(s->program)));
    if (s->runs) {
        stet_buf_printf(out, ", started %s", s->at_least ? "at least " : "");
        stet_text_count(out, s->runs, "time");
    }
    put_pending(out, s);
    stet_buf_char(out, '\n');
    if (!s->behind)
        return;
    stet_buf_printf(out, "    rank %lld has started it only ", (long long)s->behind_rank);
    stet_text_count(out, s->behind_runs, "time");
    if (s->behind > 1) {
        stet_buf_str(out, ", and ");
        stet_text_count(out, s->behind - 1, "more rank");
        stet_buf_printf(out, " %s behind too", s->behind == 2 ? "is" : "are");
    }
    stet_buf_char(out, '\n');
}

static void put_counts(struct stet_buf *out, const struct stet_rank_state *s)
{
    stet_buf_str(out, s->at_least ? "    at least " : "    ");
    stet_text_count(out, s->executions, "execution");
    if (s->steps_known) {
        stet_buf_str(out, ", ");
        stet_text_count(out, s->steps, "step");
    }
    if (s->wait_ns) {
        stet_buf_str(out, ", waited ");
        stet_text_duration(out, s->wait_ns);
        stet_buf_str(out, " for recompiles");
    }
    if (s->memory || s->memory_peak) {
        stet_buf_str(out, ", memory ");
        stet_text_bytes(out, s->memory);
    }
    stet_buf_str(out, "; last sign of life ");
    stet_text_duration(out, s->age_ns);
    stet_buf_str(out, " ago\n");
}

static void put_kind(struct stet_buf *out, const struct stet_rank_state *s)
{
    switch (s->kind) {
    case STET_RANK_MISSING:
        stet_buf_str(out, ": has loaded no plugin yet, or runs outside of this run");
        break;
    case STET_RANK_DEAD:
        stet_buf_str(out, ": the process was killed or has crashed");
        break;
    case STET_RANK_STOPPED:
        stet_buf_str(out, ": by SIGSTOP or a debugger, at");
        break;
    case STET_RANK_COMPILING:
        if (s->program.len)
            stet_buf_printf(out, " %.*s", STET_FMT(s->program));
        stet_buf_str(out, " for ");
        stet_text_duration(out, s->open_ns);
        stet_buf_str(out, s->line ? ", at" : "");
        break;
    case STET_RANK_HOST:
        stet_buf_str(out, ": Python runs, at");
        break;
    case STET_RANK_DEVICE:
        stet_buf_str(out, ": waits for a program, at");
        break;
    case STET_RANK_WAITING:
        stet_buf_printf(out, "%s%s, at", s->blocked_in ? " for " : ": blocked",
                        s->blocked_in ? s->blocked_in : "");
        break;
    case STET_RANK_UNKNOWN:
        stet_buf_str(out, ": blocked");
        break;
    case STET_RANK_ELSEWHERE:
        stet_buf_printf(out,
                        ": on host %s, where it makes progress, or where `stet run` does not "
                        "see this state folder",
                        s->host);
        break;
    case STET_RANK_ENDED:
        break;
    }
}

/* ---- ranks that are alike ---- */

static bool is_alike(const struct stet_rank_state *a, const struct stet_rank_state *b)
{
    return a->kind == b->kind && a->rank >= 0 && b->rank >= 0 && a->now == b->now &&
           a->line == b->line && !strcmp(a->file, b->file) && a->inner_line == b->inner_line &&
           !strcmp(a->inner_file, b->inner_file) && stet_view_eq(a->program, b->program) &&
           a->runs == b->runs && a->executions == b->executions && a->steps == b->steps &&
           a->pending_count == b->pending_count && a->behind == b->behind &&
           a->blocked_in == b->blocked_in && a->remote == b->remote &&
           (!a->remote || !strcmp(a->host, b->host));
}

/* "ranks 0 to 6, 8 and 9"; they are in order. */
static void put_ranks(struct stet_buf *out, const struct stet_rank_state *s, size_t count)
{
    size_t last;

    stet_buf_str(out, "ranks ");
    for (size_t i = 0; i < count; i = last + 1) {
        for (last = i; last + 1 < count && s[last + 1].rank == s[last].rank + 1;)
            last++;
        last = last == i + 1 ? i : last; /* two are listed */
        stet_buf_printf(out, "%s%lld",
                        !i                  ? ""
                        : last + 1 == count ? " and "
                                            : ", ",
                        (long long)s[i].rank);
        if (last > i)
            stet_buf_printf(out, " to %lld", (long long)s[last].rank);
    }
}

static uint64_t oldest_sign(const struct stet_rank_state *s, size_t count)
{
    uint64_t age = 0;

    for (size_t i = 0; i < count; i++)
        age = s[i].age_ns > age ? s[i].age_ns : age;
    return age;
}

/* One rank, or several that are alike: those have no process of their own, and what is a little
 * different is the first one's. */
static void put_group(struct stet_buf *out, const struct stet_rank_state *s, size_t count)
{
    struct stet_rank_state one = *s;

    one.age_ns = oldest_sign(s, count);
    if (count > 1)
        put_ranks(out, s, count);
    else if (s->rank >= 0)
        stet_buf_printf(out, "rank %lld", (long long)s->rank);
    if (count == 1 && s->pid)
        stet_buf_printf(out, s->rank >= 0 ? " (process %llu)" : "process %llu",
                        (unsigned long long)s->pid);
    if (s->remote)
        stet_buf_printf(out, " on %s, %llu s ago", s->host, (unsigned long long)s->seen_s);
    stet_buf_printf(out, "  %s", stet_monitor_rank_word(s->kind));
    put_kind(out, s);
    stet_buf_char(out, '\n');
    if (s->kind == STET_RANK_MISSING)
        return;
    put_line(out, s);
    put_program(out, s);
    put_counts(out, &one);
}

void stet_cli_ranks_text(struct stet_buf *out, const struct stet_monitor_attach *a,
                         const struct stet_rank_states *s)
{
    struct stet_rank_hang hang;
    size_t n;

    stet_buf_printf(out, "run %s, %s", a->id, a->running ? "running" : "over");
    if (s->world)
        stet_buf_printf(out, ", a job of %lld processes", (long long)s->world);
    stet_buf_char(out, '\n');
    stet_monitor_rank_hang(&hang, s);
    if (hang.found && a->running) {
        stet_monitor_rank_hang_text(out, &hang);
        stet_buf_char(out, '\n');
    }
    for (size_t i = 0; i < s->count; i += n) {
        for (n = 1; i + n < s->count && is_alike(&s->items[i], &s->items[i + n]);)
            n++;
        put_group(out, &s->items[i], n);
    }
    if (s->left_out)
        stet_buf_printf(out, "%zu more processes are not shown: there are too many\n", s->left_out);
    if (!s->count)
        stet_buf_str(out, "no process of it has loaded a plugin\n");
}

/* ---- a run that makes no progress ---- */

struct stet_hang {
    char run[64];
    uint64_t after_ns, looked_ns, moved_ns;
    uint64_t progress; /* what was counted at moved_ns */
    bool open, printed;
    struct stet_monitor_attach attach;
};

struct stet_hang *stet_cli_hang_new(const char *run, unsigned after_s)
{
    struct stet_hang *h = stet_mem_calloc(1, sizeof *h);

    if (h) {
        snprintf(h->run, sizeof h->run, "%s", run);
        h->after_ns = (uint64_t)after_s * 1000000000u;
    }
    return h;
}

void stet_cli_hang_free(struct stet_hang *h)
{
    if (h && h->open)
        stet_monitor_attach_close(&h->attach);
    stet_mem_free(h);
}

static uint64_t count_progress(const struct stet_pulse *p)
{
    uint64_t n = p->process_count;

    for (size_t i = 0; i < p->process_count; i++) {
        const struct stet_pulse_process *q = &p->processes[i];

        n += q->executions + q->begun + q->compiles + q->loads + q->ended;
    }
    return n;
}

static void print_hang(struct stet_hang *h, uint64_t still_ns)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_rank_states s;

    if (stet_monitor_ranks_look(&s, &h->attach, NULL) != STET_OK)
        return;
    stet_buf_str(&out, "stet: no execution and no compile for ");
    stet_text_duration(&out, still_ns);
    stet_buf_str(&out, "; ");
    stet_cli_ranks_text(&out, &h->attach, &s);
    stet_say_text(&out);
    stet_buf_release(&out);
    stet_monitor_ranks_release(&s);
}

void stet_cli_hang_poll(struct stet_hang *h)
{
    enum { EVERY_NS = 500000000 };
    uint64_t now = stet_clock_ns(), progress;

    if (!h || now < h->looked_ns + EVERY_NS)
        return;
    h->looked_ns = now;
    h->open = h->open || stet_monitor_attach_open(&h->attach, h->run, NULL) == STET_OK;
    if (!h->open)
        return;
    stet_monitor_attach_poll(&h->attach);
    progress = count_progress(h->attach.pulse);
    if (progress != h->progress || !progress) {
        h->progress = progress;
        h->moved_ns = now;
        h->printed = false;
    } else if (!h->printed && now - h->moved_ns >= h->after_ns) {
        h->printed = true;
        print_hang(h, now - h->moved_ns);
    }
}
