/* Fills one screen about a run. */
#include "screen/top_page.h"

#include "base/mem.h"
#include "base/path.h"
#include "screen/top_text.h"
#include "session/avoided.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- head ---- */

static void bar(const struct stet_top *t, struct stet_page *p)
{
    const struct stet_monitor_attach *a = t->attach;
    struct stet_buf outcome = STET_BUF_INIT;
    struct text since;

    stet_ledger_run_outcome(&outcome, &a->run);
    stet_page_printf(
        p, STET_STYLE_BAR, " stet top  %s  %s %s%s", a->id,
        a->running    ? "running"
        : outcome.ptr ? outcome.ptr
                      : "",
        duration(&since, t->now_ns > a->run.started_ns ? t->now_ns - a->run.started_ns : 0),
        t->paused ? "  PAUSED" : "");
    if (t->rank != STET_ALL_RANKS)
        stet_page_printf(p, STET_STYLE_BAR, "  rank %s", rank_text(&since, t->rank));
    stet_page_printf(p, STET_STYLE_BAR, "  ");
    stet_page_tail(p, STET_STYLE_BAR, stet_view_str(a->run.command), p->width - p->column);
    stet_page_printf(p, STET_STYLE_BAR, "%*s", p->width - p->column, "");
    stet_page_line(p);
    stet_buf_release(&outcome);
}

static void label(struct stet_page *p, const char *text)
{
    stet_page_field(p, STET_STYLE_FAINT, stet_view_str(text), 11);
}

static void steps_row(struct stet_page *p, const struct stet_pulse_sum *s)
{
    struct text a, b;

    label(p, "steps");
    if (s->steps_known)
        stet_page_printf(p, STET_STYLE_STRONG, "%s  %s/s", number(&a, s->steps),
                         rate(&b, s->steps_rate));
    else
        stet_page_printf(p, STET_STYLE_PLAIN, "not known");
    stet_page_printf(p, STET_STYLE_PLAIN, "   executions %s  %s/s", number(&a, s->executions),
                     rate(&b, s->executions_rate));
    stet_page_printf(p, STET_STYLE_PLAIN, "   processes %" PRIu64 " of %" PRIu64, s->running,
                     s->processes);
    stet_page_line(p);
}

static void compiles_row(const struct stet_top *t, struct stet_page *p,
                         const struct stet_pulse_sum *s)
{
    struct text a;

    label(p, "compiles");
    stet_page_printf(p, STET_STYLE_STRONG, "%" PRIu64, s->compiles);
    stet_page_printf(p, STET_STYLE_PLAIN, " in %s", duration(&a, s->compile_ns));
    if (t->rank == STET_ALL_RANKS)
        stet_page_printf(p, STET_STYLE_PLAIN, ", %" PRIu64 " program%s", t->attach->pulse->programs,
                         t->attach->pulse->programs == 1 ? "" : "s");
    stet_page_printf(p, s->recompiles ? STET_STYLE_WARN : STET_STYLE_GOOD,
                     "   %" PRIu64 " again, waited %s", s->recompiles, duration(&a, s->wait_ns));
    if (s->failed)
        stet_page_printf(p, STET_STYLE_BAD, "   %" PRIu64 " failed", s->failed);
    stet_page_line(p);
}

static void compiling_row(const struct stet_top *t, struct stet_page *p)
{
    const struct stet_pulse *pulse = t->attach->pulse;
    struct text a;

    for (size_t i = 0; i < pulse->process_count; i++) {
        const struct stet_pulse_process *q = &pulse->processes[i];

        if (!stet_pulse_runs(q) || q->begun <= q->compiles ||
            (t->rank != STET_ALL_RANKS && q->rank != t->rank))
            continue;
        label(p, "now");
        stet_page_printf(p, STET_STYLE_BAD, "compiling for %s",
                         duration(&a, t->now_ns > q->begun_ns ? t->now_ns - q->begun_ns : 0));
        stet_page_printf(p, STET_STYLE_BAD, " (rank %s)", rank_text(&a, q->rank));
        stet_page_line(p);
        return; /* the first one is enough */
    }
}

static void still_rank(struct stet_page *p, const struct stet_top *t,
                       const struct stet_rank_state *s)
{
    struct stet_buf place = STET_BUF_INIT;
    struct text a;

    stet_page_right(p, STET_STYLE_PLAIN, rank_text(&a, s->rank), 5);
    stet_page_printf(p, STET_STYLE_WARN, "  %-10s", stet_monitor_rank_word(s->kind));
    if (s->line) {
        if (!s->now)
            stet_page_printf(p, STET_STYLE_FAINT, "last compile ");
        stet_buf_printf(&place, "%.*s:%" PRIu64,
                        STET_FMT(stet_path_below(stet_view_str(s->file), t->attach->run.cwd)),
                        s->line);
        stet_page_tail(p, STET_STYLE_STRONG, stet_buf_as_view(&place), 40);
        stet_page_printf(p, STET_STYLE_PLAIN, " in %s", s->function);
    }
    if (s->program.len)
        stet_page_printf(p, STET_STYLE_FAINT, "  %.*s %" PRIu64 "×",
                         STET_FMT(stet_text_function(s->program)), s->runs);
    if (s->kind != STET_RANK_MISSING)
        stet_page_printf(p, STET_STYLE_FAINT, "  %s", duration(&a, s->age_ns));
    stet_page_line(p);
    stet_buf_release(&place);
}

/* What a job without progress waits for, and where its ranks are: the slowest and the missing
 * first. */
static void still_rows(const struct stet_top *t, struct stet_page *p)
{
    enum { RANKS_MOST = 8 };
    struct stet_buf text = STET_BUF_INIT;
    struct stet_rank_hang hang;
    struct text a;
    int room = stet_page_left(p) / 3;

    if (!t->still.count)
        return;
    label(p, "stalled");
    stet_page_printf(p, STET_STYLE_BAD, "for %s", duration(&a, t->still_ns));
    stet_monitor_rank_hang(&hang, &t->still);
    stet_monitor_rank_hang_text(&text, &hang);
    if (text.len)
        stet_page_printf(p, STET_STYLE_BAD, ": %.*s", STET_FMT(stet_buf_as_view(&text)));
    stet_page_line(p);
    stet_buf_release(&text);
    room = room < RANKS_MOST ? room : RANKS_MOST;
    for (size_t i = 0; i < t->still.count && room > 0; i++) {
        if (t->rank != STET_ALL_RANKS && t->rank != t->still.items[i].rank)
            continue;
        still_rank(p, t, &t->still.items[i]);
        room--;
    }
}

static void store_row(struct stet_page *p, const struct stet_pulse_sum *s)
{
    label(p, "store");
    for (int i = STET_SERVED_MEMORY; i <= STET_SERVED_LIFTED; i++)
        stet_page_printf(p, s->served[i] ? STET_STYLE_GOOD : STET_STYLE_PLAIN, "%s %" PRIu64 "  ",
                         stet_journal_served_word((enum stet_served)i), s->served[i]);
    stet_page_printf(p, STET_STYLE_PLAIN, "missed %" PRIu64, s->misses);
    if (s->loads)
        stet_page_printf(p, STET_STYLE_GOOD, "   framework's own %" PRIu64, s->loads);
    stet_page_line(p);
}

static void transfers_row(const struct stet_top *t, struct stet_page *p,
                          const struct stet_pulse_sum *s)
{
    static const char *const words[] = {"to device", "to host"};
    struct text a, b;

    label(p, "transfers");
    for (int i = 0; i < STET_MEASURED; i++) {
        stet_page_printf(p, STET_STYLE_PLAIN, "%s%s %s", i ? "   " : "", words[i],
                         size(&a, s->transfer_bytes[i]));
        if (t->rates && t->attach->running && t->rank == STET_ALL_RANKS)
            stet_page_printf(p, STET_STYLE_FAINT, " (%s/s)", size(&b, (uint64_t)t->bytes_rate[i]));
    }
    stet_page_line(p);
}

static void torch_row(struct stet_page *p, const struct stet_pulse_sum *s)
{
    struct text a;

    if (!s->torch_processes)
        return;
    label(p, "torch");
    stet_page_printf(p, STET_STYLE_PLAIN, "%" PRIu64 " frame%s, ", s->torch_frames,
                     s->torch_frames == 1 ? "" : "s");
    stet_page_printf(p, STET_STYLE_STRONG, "%" PRIu64, s->torch_compiles);
    stet_page_printf(p, STET_STYLE_PLAIN, " compile%s in %s", s->torch_compiles == 1 ? "" : "s",
                     duration(&a, s->torch_ns));
    stet_page_printf(p, s->torch_recompiles ? STET_STYLE_WARN : STET_STYLE_GOOD,
                     "   %" PRIu64 " again, waited %s", s->torch_recompiles,
                     duration(&a, s->torch_wait_ns));
    if (s->torch_breaks)
        stet_page_printf(p, STET_STYLE_WARN, "   %" PRIu64 " break%s", s->torch_breaks,
                         s->torch_breaks == 1 ? "" : "s");
    if (s->torch_limits)
        stet_page_printf(p, STET_STYLE_BAD, "   %" PRIu64 " gave up", s->torch_limits);
    stet_page_line(p);
}

static void trouble_row(const struct stet_top *t, struct stet_page *p)
{
    const struct stet_pulse *pulse = t->attach->pulse;

    if (pulse->damage.bytes)
        stet_page_printf(p, STET_STYLE_BAD, "%" PRIu64 " bytes of the journals cannot be read  ",
                         pulse->damage.bytes);
    if (!pulse->explains)
        stet_page_printf(p, STET_STYLE_BAD, "too many compiles: causes are those of the beginning");
    if (pulse->damage.bytes || !pulse->explains)
        stet_page_line(p);
}

/* ---- tables ---- */

static void heading(struct stet_page *p, const char *text)
{
    stet_page_printf(p, STET_STYLE_STRONG, "%s", text);
    stet_page_line(p);
}

static void process_row(const struct stet_top *t, struct stet_page *p,
                        const struct stet_pulse_process *q)
{
    bool runs = stet_pulse_runs(q);
    struct stet_rate r = stet_ledger_steps_live_rate(&q->steps, runs ? t->now_ns : q->last_ns);
    struct stet_steps_answer steps = stet_ledger_steps_live_now(&q->steps);
    struct text a;

    stet_page_right(p, STET_STYLE_PLAIN, rank_text(&a, q->rank), 5);
    stet_page_right(p, STET_STYLE_PLAIN, number(&a, q->pid), 9);
    stet_page_right(p, STET_STYLE_PLAIN, steps.known ? number(&a, steps.completed) : "-", 10);
    stet_page_right(p, STET_STYLE_PLAIN, steps.known ? rate(&a, r.steps) : "-", 9);
    stet_page_right(p, STET_STYLE_PLAIN, rate(&a, r.executions), 9);
    stet_page_right(p, STET_STYLE_PLAIN, number(&a, q->compiles), 9);
    stet_page_right(p, q->wait_ns ? STET_STYLE_WARN : STET_STYLE_PLAIN, duration(&a, q->wait_ns),
                    11);
    stet_page_printf(p, runs ? STET_STYLE_GOOD : STET_STYLE_FAINT, "  %s",
                     runs && q->begun > q->compiles ? "compiling"
                     : runs                         ? "running"
                     : q->ended                     ? "ended"
                                                    : "gone");
    if (p->width >= 110)
        stet_page_printf(p, STET_STYLE_FAINT, "  %s", q->host);
    stet_page_line(p);
}

static void processes(const struct stet_top *t, struct stet_page *p,
                      const struct stet_top_row *rows, size_t n, int room)
{
    if (room < 2)
        return;
    heading(p, " rank      pid     steps   step/s   exec/s compiles     waited  state");
    for (size_t i = 0; i < n && (int)i < room - 1; i++)
        process_row(t, p, &t->attach->pulse->processes[rows[i].index]);
}

/* Lists torch.compile's processes from its logs; a single one is in the head already. */
static void torch_processes(const struct stet_top *t, struct stet_page *p, int room)
{
    const struct stet_pulse *pulse = t->attach->pulse;
    int shown = 1;

    if (room < 2)
        return;
    heading(p, " rank      pid    frames compiles    again     waited   breaks  torch.compile");
    for (size_t i = 0; i < pulse->torch_count && shown < room; i++) {
        const struct stet_pulse_torch *q = &pulse->torch[i];
        struct text a;

        if (t->rank != STET_ALL_RANKS && q->rank != t->rank)
            continue;
        stet_page_right(p, STET_STYLE_PLAIN, rank_text(&a, q->rank), 5);
        stet_page_right(p, STET_STYLE_PLAIN, number(&a, q->pid), 9);
        stet_page_right(p, STET_STYLE_PLAIN, number(&a, q->frames), 10);
        stet_page_right(p, STET_STYLE_PLAIN, number(&a, q->compiles), 9);
        stet_page_right(p, q->recompiles ? STET_STYLE_WARN : STET_STYLE_PLAIN,
                        number(&a, q->recompiles), 9);
        stet_page_right(p, q->wait_ns ? STET_STYLE_WARN : STET_STYLE_PLAIN,
                        duration(&a, q->wait_ns), 11);
        stet_page_right(p, STET_STYLE_PLAIN, number(&a, q->breaks), 9);
        stet_page_line(p);
        shown++;
    }
}

static void memory_bar(struct stet_page *p, const struct stet_pulse_device *d, int room)
{
    int full = d->limit ? (int)((double)d->in_use / (double)d->limit * room + 0.5) : 0;
    enum stet_style style =
        d->limit && d->in_use > d->limit / 10 * 9 ? STET_STYLE_BAD : STET_STYLE_GOOD;

    stet_page_put(p, STET_STYLE_PLAIN, STET_VIEW("["));
    for (int i = 0; i < room; i++)
        stet_page_put(p, style, i < full ? STET_VIEW("#") : STET_VIEW(" "));
    stet_page_put(p, STET_STYLE_PLAIN, STET_VIEW("] "));
}

static void devices(const struct stet_top *t, struct stet_page *p, int room)
{
    const struct stet_pulse *pulse = t->attach->pulse;
    int shown = 1;

    if (room < 2)
        return;
    heading(p, " memory of devices");
    for (size_t i = 0; i < pulse->device_count && shown < room; i++) {
        const struct stet_pulse_device *d = &pulse->devices[i];
        const struct stet_pulse_process *q = &pulse->processes[d->process];
        char name[80];
        struct text a;

        if (t->rank != STET_ALL_RANKS && q->rank != t->rank)
            continue;
        stet_page_right(p, STET_STYLE_PLAIN, rank_text(&a, q->rank), 5);
        snprintf(name, sizeof name, "  %.*s:%" PRIu64, STET_FMT(stet_pulse_platform(pulse, d)),
                 d->device);
        stet_page_field(p, STET_STYLE_PLAIN, stet_view_str(name), 14);
        memory_bar(p, d, p->width >= 110 ? 40 : p->width >= 70 ? 20 : 8);
        stet_page_printf(p, STET_STYLE_PLAIN, "%s", size(&a, d->in_use));
        stet_page_printf(p, STET_STYLE_PLAIN, " of %s", size(&a, d->limit));
        stet_page_printf(p, STET_STYLE_FAINT, ", peak %s", size(&a, d->peak));
        stet_page_line(p);
        shown++;
    }
}

static void families(const struct stet_top *t, struct stet_page *p, const struct stet_top_row *rows,
                     const struct stet_pulse_family *sums, size_t n, int room)
{
    int name = p->width < 60 ? p->width - 20 : p->width < 110 ? 34 : 60;

    if (room < 2)
        return;
    stet_page_field(p, STET_STYLE_STRONG,
                    stet_view_str(t->rank == STET_ALL_RANKS ? " family" : " family, all ranks"),
                    name);
    stet_page_printf(p, STET_STYLE_STRONG, " programs compiles      waited  grew");
    stet_page_line(p);
    for (size_t i = 0; i < n && (int)i < room - 1; i++) {
        const struct stet_pulse_family *f = &sums[rows[i].index];
        bool grows = f->programs > 1 && t->now_ns < f->grown_ns + UINT64_C(60000000000);
        struct text a;

        stet_page_put(p, STET_STYLE_PLAIN, STET_VIEW(" "));
        stet_page_field(p, STET_STYLE_PLAIN, stet_view_str(*f->name ? f->name : "(no name)"),
                        name - 1);
        stet_page_right(p, grows ? STET_STYLE_WARN : STET_STYLE_PLAIN, number(&a, f->programs), 9);
        stet_page_right(p, STET_STYLE_PLAIN, number(&a, f->compiles), 9);
        stet_page_right(p, STET_STYLE_PLAIN, duration(&a, f->wait_ns), 12);
        stet_page_printf(p, STET_STYLE_FAINT, "  %s", ago(&a, t->now_ns, f->grown_ns));
        stet_page_line(p);
    }
}

enum { FIX_INDENT = 5 };

/* What changed, and the fix: "lr 0.05 → 0.045. Make lr a traced argument." */
static struct stet_view advice(struct stet_buf *out, const struct stet_pulse_cause *c)
{
    out->len = 0;
    stet_buf_printf(out, "%s%s%s", c->what, c->what[0] && c->fix[0] ? ": " : "", c->fix);
    return stet_view_of(out->ptr, out->failed ? 0 : out->len);
}

/* As `stet run` prints a story in one line. A long path loses its beginning. */
static void cause_row(const struct stet_top *t, struct stet_page *p, const struct stet_top_row *row)
{
    const struct stet_pulse_cause *c = &t->attach->pulse->causes[row->index];
    struct stet_buf place = STET_BUF_INIT;
    struct text waited, last;
    int room;

    duration(&waited, row->wait_ns);
    ago(&last, t->now_ns, row->last_ns);
    stet_page_printf(p, STET_STYLE_WARN, " %" PRIu64 "× %s", row->times, stet_cause_id(c->cause));
    stet_page_printf(p, STET_STYLE_PLAIN, " in %.*s%s",
                     STET_FMT(stet_text_function(stet_view_str(c->function))),
                     c->lane == STET_LANE_TORCH ? " (torch)" : "");
    if (c->line) {
        room = p->width - p->column - (int)strlen(waited.bytes) - (int)sizeof ", , waited " + 1;
        stet_buf_printf(&place, "%.*s:%" PRIu64,
                        STET_FMT(stet_path_below(stet_view_str(c->file), t->attach->run.cwd)),
                        c->line);
        stet_page_printf(p, STET_STYLE_PLAIN, ", ");
        stet_page_tail(p, STET_STYLE_STRONG, stet_buf_as_view(&place), room < 12 ? 12 : room);
        stet_buf_release(&place);
    }
    stet_page_printf(p, STET_STYLE_PLAIN, ", waited %s", waited.bytes);
    if (p->column + 2 + (int)strlen(last.bytes) <= p->width)
        stet_page_printf(p, STET_STYLE_FAINT, "  %s", last.bytes);
    stet_page_line(p);
}

static int cause_wants(const struct stet_top *t, const struct stet_page *p,
                       const struct stet_top_row *rows, size_t n)
{
    struct stet_buf text = STET_BUF_INIT;
    int sum = 1;

    for (size_t i = 0; i < n; i++)
        sum += 1 + stet_page_rows(p, advice(&text, &t->attach->pulse->causes[rows[i].index]),
                                  FIX_INDENT);
    stet_buf_release(&text);
    return sum;
}

/* Each cause has a row; the rows that are left go to the advice of the first ones. */
static void causes(const struct stet_top *t, struct stet_page *p, const struct stet_top_row *rows,
                   size_t n, int room)
{
    struct stet_buf text = STET_BUF_INIT;
    int left = room - 1 - (int)n;

    if (room < 1 + (n > 0))
        return;
    heading(p, n ? " why it compiled again   (more: stet explain)" : " nothing was compiled again");
    for (size_t i = 0; i < n && (int)i < room - 1; i++) {
        struct stet_view words = advice(&text, &t->attach->pulse->causes[rows[i].index]);
        int wants = stet_page_rows(p, words, FIX_INDENT), gets = wants < left ? wants : left;

        cause_row(t, p, &rows[i]);
        if (gets <= 0)
            continue;
        stet_page_wrap(p, STET_STYLE_FAINT, words, FIX_INDENT, gets);
        left -= gets;
    }
    stet_buf_release(&text);
}

/* Lists the lines whose compiles were served. */
static void avoided(const struct stet_top *t, struct stet_page *p, const struct stet_avoided *a,
                    size_t n, int room)
{
    if (room < 2)
        return;
    heading(p, "   lifted    store   memory    avoided  line that did not wait");
    for (size_t i = 0; i < n && (int)i < room - 1; i++) {
        const struct stet_avoided_line *l = &a->lines[i];
        struct text b;

        stet_page_right(p, STET_STYLE_GOOD, number(&b, l->by[STET_SERVED_LIFTED].compiles), 9);
        stet_page_right(
            p, STET_STYLE_GOOD,
            number(&b, l->by[STET_SERVED_DISK].compiles + l->by[STET_SERVED_REMOTE].compiles), 9);
        stet_page_right(p, STET_STYLE_GOOD, number(&b, l->by[STET_SERVED_MEMORY].compiles), 9);
        stet_page_right(p, STET_STYLE_GOOD,
                        l->all.known ? duration(&b, stet_avoided_ns(&l->all)) : "-", 11);
        if (l->at.line)
            stet_page_printf(p, STET_STYLE_STRONG, "  %.*s:%" PRIu64,
                             STET_FMT(stet_path_below(l->at.file, t->attach->run.cwd)), l->at.line);
        else
            stet_page_printf(p, STET_STYLE_FAINT, "  not known");
        stet_page_line(p);
    }
}

/* ---- keys ---- */

static void help(const struct stet_top *t, struct stet_page *p)
{
    static const char *const lines[] = {
        "",
        " q          quit                       p, space   pause; again: resume",
        " s, S       another order (now: %s)",
        " r, R       another rank, or all of them; arrows too",
        " n          the newest run             h, ?       help, and back",
        "",
        " steps      completed steps of the loop; a second: those of the slowest rank",
        " again      compiles of a program that was compiled before in another form",
        " waited     what the program waited for them, from tracing to execution",
        " store      compiles that were served: from this process's memory, disk, …",
        " family     programs of one function",
        " yellow     a family that grew within a minute; time that was waited",
        " -          not known: a rank that is not in the environment, no loop",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (strstr(lines[i], "%s"))
            stet_page_printf(p, STET_STYLE_PLAIN, " s, S       another order (now: %s)",
                             stet_monitor_top_sort_name(t->sort));
        else
            stet_page_put(p, STET_STYLE_PLAIN, stet_view_str(lines[i]));
        stet_page_line(p);
    }
}

/* ---- all ---- */

enum section { CAUSES, AVOIDED, PROCESSES, TORCH, FAMILIES, DEVICES, SECTIONS };

/* Divides the rows among the sections: each first gets its share, then what it needs while there is
 * room. */
static void share(int room, const int wants[SECTIONS], int gets[SECTIONS])
{
    int asking = 0, share_of;

    for (int i = 0; i < SECTIONS; i++)
        asking += wants[i] > 0;
    share_of = asking ? room / asking : 0;
    for (int i = 0; i < SECTIONS; i++) {
        gets[i] = wants[i] < share_of ? wants[i] : share_of;
        room -= gets[i];
    }
    for (int i = 0; i < SECTIONS && room > 0; i++) {
        int more = wants[i] - gets[i] < room ? wants[i] - gets[i] : room;

        gets[i] += more;
        room -= more;
    }
}

static void tables(const struct stet_top *t, struct stet_page *p)
{
    struct stet_top_row *rows = stet_mem_calloc(
        STET_PULSE_PROCESSES + STET_PULSE_FAMILIES + STET_PULSE_CAUSES, sizeof *rows);
    struct stet_pulse_family *sums = stet_mem_calloc(STET_PULSE_FAMILIES, sizeof *sums);
    struct stet_top_row *of_families = rows + STET_PULSE_PROCESSES;
    struct stet_top_row *of_causes = of_families + STET_PULSE_FAMILIES;
    int wants[SECTIONS], gets[SECTIONS];
    struct stet_avoided served = {0};
    size_t processes_n, families_n, causes_n, served_n;

    if (!rows || !sums) {
        stet_mem_free(rows);
        stet_mem_free(sums);
        return;
    }
    processes_n = stet_monitor_top_processes(t, rows);
    families_n = stet_monitor_top_families(t, of_families, sums);
    causes_n = stet_monitor_top_causes(t, of_causes);
    wants[CAUSES] = cause_wants(t, p, of_causes, causes_n);
    if (t->attach->pulse->digest && t->rank == STET_ALL_RANKS)
        stet_avoided_make(&served, t->attach->pulse->digest);
    stet_avoided_sort(&served);
    served_n = stet_avoided_any(&served) ? served.line_count : 0;
    wants[AVOIDED] = served_n ? 1 + (int)served_n : 0;
    wants[PROCESSES] = processes_n ? 1 + (int)processes_n : 0;
    wants[TORCH] = t->attach->pulse->torch_count > 1 ? 1 + (int)t->attach->pulse->torch_count : 0;
    wants[FAMILIES] = families_n ? 1 + (int)families_n : 0;
    wants[DEVICES] = t->attach->pulse->device_count ? 1 + (int)t->attach->pulse->device_count : 0;
    share(stet_page_left(p), wants, gets);
    causes(t, p, of_causes, causes_n, gets[CAUSES]);
    avoided(t, p, &served, served_n, gets[AVOIDED]);
    stet_avoided_release(&served);
    processes(t, p, rows, processes_n, gets[PROCESSES]);
    torch_processes(t, p, gets[TORCH]);
    families(t, p, of_families, sums, families_n, gets[FAMILIES]);
    devices(t, p, gets[DEVICES]);
    stet_mem_free(rows);
    stet_mem_free(sums);
}

void stet_screen_page(const struct stet_top *t, struct stet_page *p)
{
    struct stet_pulse_sum s = stet_pulse_add_up(t->attach->pulse, t->rank, t->now_ns);

    bar(t, p);
    if (t->help) {
        help(t, p);
        return;
    }
    if (s.processes || !s.torch_processes) { /* otherwise torch.compile alone */
        steps_row(p, &s);
        compiles_row(t, p, &s);
        store_row(p, &s);
        transfers_row(t, p, &s);
    }
    torch_row(p, &s);
    compiling_row(t, p);
    still_rows(t, p);
    trouble_row(t, p);
    tables(t, p);
}
