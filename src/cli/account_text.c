/* Prints a run's recompiles as text: what, where, what it cost, what to do. Recompiles of one cause
 * are printed once. */
#include "cli/account_text.h"

#include "base/excerpt.h"
#include "base/human.h"
#include "base/text.h"
#include "cli/frameworks_text.h"
#include "cli/miss_text.h"
#include "cli/run_text.h"
#include "report/causes.h"
#include "session/account_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

struct pen {
    struct stet_buf *out;
    const char *bold, *red, *green, *cyan, *dim, *plain;
};

static struct pen pen_of(struct stet_buf *out, bool colour)
{
    return (struct pen){
        .out = out,
        .bold = stet_pen(STET_PEN_BOLD, colour),
        .red = stet_pen(STET_PEN_RED, colour),
        .green = stet_pen(STET_PEN_GREEN, colour),
        .cyan = stet_pen(STET_PEN_CYAN, colour),
        .dim = stet_pen(STET_PEN_DIM, colour),
        .plain = stet_pen(STET_PEN_PLAIN, colour),
    };
}

enum { VALUES = 5 };

static void place(const struct pen *p, const char *label, const struct stet_line *at)
{
    size_t before;

    if (!at->line)
        return;
    stet_buf_printf(p->out, "  %s%-8s%s %s%.*s:%" PRIu64 "%s", p->dim, label, p->plain, p->cyan,
                    STET_FMT(stet_text_path(at->file)), at->line, p->plain);
    if (at->function.len)
        stet_buf_printf(p->out, " in %.*s", STET_FMT(at->function));
    stet_buf_char(p->out, '\n');
    before = p->out->len;
    stet_buf_printf(p->out, "      %s%5" PRIu64 " |%s ", p->dim, at->line, p->plain);
    if (!stet_text_source(p->out, at->file, (uint32_t)at->line))
        p->out->len = before;
    else
        stet_buf_char(p->out, '\n');
}

static void change(const struct pen *p, const struct stet_row_change *c)
{
    bool came = !c->from.ptr && c->to.ptr, went = c->from.ptr && !c->to.ptr;

    stet_buf_printf(p->out, "    %s%s%s %.*s",
                    came   ? p->green
                    : went ? p->red
                           : "",
                    came   ? "+"
                    : went ? "-"
                           : "~",
                    p->plain, STET_FMT(c->what));
    if (c->from.ptr)
        stet_buf_printf(p->out, "  %s%.*s%s", p->red, STET_FMT(c->from), p->plain);
    if (c->from.ptr && c->to.ptr)
        stet_buf_str(p->out, " ->");
    if (c->to.ptr)
        stet_buf_printf(p->out, "%s%s%.*s%s", c->from.ptr ? " " : "  ", p->green, STET_FMT(c->to),
                        p->plain);
    if (c->count > 1)
        stet_buf_printf(p->out, "  %s(%" PRIu64 " places)%s", p->dim, c->count, p->plain);
    stet_buf_char(p->out, '\n');
}

static void changes(const struct pen *p, const struct stet_recompile *r, bool all, size_t most)
{
    size_t shown = 0, hidden = r->left_out;

    for (size_t i = 0; i < r->change_count; i++) {
        if (!all && (r->changes[i].follows.ptr || shown >= most)) {
            hidden++;
            continue;
        }
        change(p, &r->changes[i]);
        shown++;
    }
    if (hidden && !all && most > 1)
        stet_buf_printf(p->out, "    %s%zu more (--all)%s\n", p->dim, hidden, p->plain);
}

static void values(const struct pen *p, const struct stet_report_cause *c)
{
    size_t shown = c->value_count < VALUES ? c->value_count : VALUES;

    if (shown < 3)
        return;
    stet_buf_printf(p->out, "  %svalues%s   ", p->dim, p->plain);
    for (size_t i = 0; i < shown; i++)
        stet_buf_printf(p->out, "%s%.*s", i ? ", " : "", STET_FMT(c->values[i]));
    stet_buf_printf(p->out, "%s\n", c->value_more || c->value_count > shown ? ", …" : "");
}

static void memory(const struct pen *p, const struct stet_recompile *r)
{
    if (!r->has_more || !r->temp_bytes_more)
        return;
    stet_buf_printf(p->out, "  %smemory%s   ", p->dim, p->plain);
    stet_text_bytes(p->out,
                    (uint64_t)(r->temp_bytes_more < 0 ? -r->temp_bytes_more : r->temp_bytes_more));
    stet_buf_printf(p->out, " of temporaries %s than before\n",
                    r->temp_bytes_more > 0 ? "more" : "less");
}

static void title(const struct pen *p, const struct stet_recompile *r)
{
    stet_buf_printf(p->out, "%s%s%s", p->bold, stet_cause_id(r->cause), p->plain);
    for (uint32_t i = 0; i < r->also.count; i++)
        stet_buf_printf(p->out, "%s%s", i ? ", " : " and ", stet_cause_id(r->also.items[i]));
    stet_buf_printf(p->out, ": %.*s %s again", STET_FMT(stet_text_function(r->function)),
                    r->cause == STET_CAUSE_CUDAGRAPH_RERECORD ? "recorded"
                    : stet_recompile_lost(r)                  ? "compiled"
                                                              : "asked for");
}

/* Prints the wait for a program, and the compiler's part of it or where the program came from. */
static void took(const struct pen *p, const struct stet_recompile *r, uint64_t wait_ns,
                 uint64_t cost_ns)
{
    stet_buf_str(p->out, ", waited ");
    stet_text_duration(p->out, wait_ns);
    if (!stet_recompile_lost(r)) {
        stet_buf_printf(p->out, " (from %s)", stet_journal_served_word(r->served));
    } else if (wait_ns != cost_ns) {
        stet_buf_str(p->out, " (compiler ");
        stet_text_duration(p->out, cost_ns);
        stet_buf_char(p->out, ')');
    }
}

static bool same_line(const struct stet_line *a, const struct stet_line *b)
{
    return a->line == b->line && stet_view_eq(a->file, b->file);
}

static void rest(const struct pen *p, const struct stet_recompile *r,
                 const struct stet_framework_log *log)
{
    struct stet_view why = log ? stet_session_log_why(log, r) : (struct stet_view){0};

    place(p, "origin", &r->origin);
    if (!same_line(&r->trigger, &r->origin))
        place(p, "trigger", &r->trigger);
    if (!same_line(&r->source, &r->origin) && !same_line(&r->source, &r->trigger))
        place(p, "source", &r->source);
    memory(p, r);
    if (r->evidence.len)
        stet_buf_printf(p->out, "  %s%-8s%s %.*s\n", p->dim,
                        stet_view_is(r->sure, "certain")  ? "evidence"
                        : stet_view_is(r->sure, "likely") ? "likely"
                                                          : "a guess",
                        p->plain, STET_FMT(r->evidence));
    if (why.len)
        stet_buf_printf(p->out, "  %sjax says%s %.*s\n", p->dim, p->plain, STET_FMT(why));
    stet_buf_printf(p->out, "  %sfix%s      %.*s\n", p->dim, p->plain, STET_FMT(r->fix));
}

static void say_cause(const struct pen *p, const struct stet_report_cause *c, bool all,
                      const struct stet_framework_log *log)
{
    stet_buf_char(p->out, '\n');
    title(p, &c->first);
    if (c->times > 1)
        stet_buf_printf(p->out, " %" PRIu64 " times", c->times);
    if (c->steps_known && c->first_step == c->last_step)
        stet_buf_printf(p->out, " at step %" PRIu64, c->first_step);
    else if (c->steps_known)
        stet_buf_printf(p->out, " at steps %" PRIu64 "…%" PRIu64, c->first_step, c->last_step);
    if (c->first.rank >= 0)
        stet_buf_printf(p->out, " on rank %" PRId64, c->first.rank);
    took(p, &c->first, c->wait_ns, c->cost_ns);
    stet_buf_printf(p->out, "%s\n", c->first.benign ? " (harmless)" : "");
    changes(p, &c->first, all, 4);
    values(p, c);
    rest(p, &c->first, log);
}

static void tell_one(struct stet_buf *out, const struct stet_recompile *r, bool colour)
{
    struct pen p = pen_of(out, colour);

    stet_buf_str(out, "stet: ");
    title(&p, r);
    if (r->step_known)
        stet_buf_printf(out, " at step %" PRIu64, r->step);
    took(&p, r, r->wait_ns, r->cost_ns);
    stet_buf_char(out, '\n');
    changes(&p, r, false, 1);
    place(&p, "origin", &r->origin);
    stet_buf_printf(out, "  %sfix%s      %.*s\n", p.dim, p.plain, STET_FMT(r->fix));
}

void stet_cli_account_say(const struct stet_recompile *r, uint64_t times, uint64_t wait_ns)
{
    struct stet_buf out = STET_TEXT_INIT;

    if (times == 1)
        tell_one(&out, r, stet_text_colour(STDERR_FILENO));
    else
        stet_buf_printf(&out,
                        "stet: %s: %.*s compiled again %" PRIu64 " times so far, waited %.1f s\n",
                        stet_cause_id(r->cause), STET_FMT(stet_text_function(r->function)), times,
                        (double)wait_ns / 1e9);
    stet_say_text(&out);
    stet_buf_release(&out);
}

void stet_cli_account_lost(struct stet_buf *out, const struct stet_account_tally *t)
{
    stet_text_count(out, t->alarms, "recompile");
    if (!t->alarms)
        return;
    stet_buf_str(out, " (waited ");
    stet_text_duration(out, t->wait_ns);
    if (t->wait_ns != t->lost_ns) {
        stet_buf_str(out, ", compiler ");
        stet_text_duration(out, t->lost_ns);
    }
    if (t->served == t->alarms)
        stet_buf_printf(out, "; %s from the store", t->served == 1 ? "it came" : "all came");
    else if (t->served)
        stet_buf_printf(out, "; %llu came from the store", (unsigned long long)t->served);
    if (t->lifted)
        stet_buf_printf(out, "; %" PRIu64 " lifted", t->lifted);
    stet_buf_char(out, ')');
}

void stet_cli_account_saved(struct stet_buf *out, const char *indent, const struct stet_account *a)
{
    const struct stet_ledger_saved *s = &a->saved;

    if (s->lifted) {
        stet_buf_printf(out, "%s%" PRIu64 " of ", indent, s->lifted);
        stet_text_count(out, a->totals.compiles, "program");
        stet_buf_str(out, " were lifted: no compile, instead of about ");
        stet_text_duration(out, s->lifted_instead_ns);
        stet_buf_char(out, '\n');
    }
    if (!s->served)
        return;
    stet_buf_printf(out, "%s%llu of ", indent, (unsigned long long)s->served);
    stet_text_count(out, a->totals.compiles, "program");
    stet_buf_str(out, " came from the store");
    if (s->known) {
        stet_buf_str(out, ": ");
        stet_text_duration(out, s->took_ns);
        stet_buf_str(out, " instead of ");
        stet_text_duration(out, s->instead_ns);
        if (s->known < s->served)
            stet_buf_printf(out, " for the %llu whose compile is remembered",
                            (unsigned long long)s->known);
    }
    stet_buf_char(out, '\n');
}

static void head(const struct pen *p, const struct stet_account *a,
                 const struct stet_account_tally *t)
{
    uint64_t compiles = a->totals.compiles ? a->totals.compiles : stet_account_torch(a);
    bool torch = !a->totals.compiles && (t->torch || compiles);

    stet_buf_printf(p->out, "%srun %s%s: ", p->bold, a->run, p->plain);
    if (!a->totals.compiles && !torch) {
        stet_buf_printf(p->out, "nothing was compiled\n  %s\n", STET_UNWATCHED);
        return;
    }
    if (torch)
        stet_buf_str(p->out, "torch.compile alone, ");
    if (compiles) {
        stet_text_count(p->out, compiles, "compile");
        stet_buf_str(p->out, ", ");
    }
    stet_cli_account_lost(p->out, t);
    if (t->harmless)
        stet_buf_printf(p->out, ", %" PRIu64 " harmless", t->harmless);
    stet_buf_char(p->out, '\n');
    if (!torch) {
        stet_buf_str(p->out, "  ");
        if (a->totals.settled)
            stet_buf_printf(p->out, "settled at step %" PRIu64 " with ", a->totals.settled_step);
        stet_text_count(p->out, a->totals.programs, "program");
        if (!a->totals.settled)
            stet_buf_printf(p->out, ", not settled: %.*s", STET_FMT(a->totals.settled_why));
        stet_buf_char(p->out, '\n');
    }
    for (int q = 0; q < STET_QUESTIONS; q++) {
        const struct stet_answer *answer = &t->answers[q];

        stet_buf_printf(p->out, "  %-46s %s%s%s",
                        stet_cause_question_text((enum stet_cause_question)q),
                        answer->count ? p->red : p->green, answer->count ? "yes" : "no", p->plain);
        if (answer->count)
            stet_buf_printf(p->out, ", %" PRIu64 "× (%s)", answer->count,
                            stet_cause_id(answer->cause));
        stet_buf_char(p->out, '\n');
    }
    stet_cli_account_saved(p->out, "  ", a);
    stet_cli_counters_text(p->out, "  ", false, a->counters, a->counter_count);
    if (!a->log || !a->log->function_count) /* a log has this with the functions' names */
        stet_cli_counters_phases(p->out, "  ", a->counters, a->counter_count);
    if (a->log)
        stet_cli_log_text(p->out, "  ", a->log);
}

/* Most expensive first, harmless ones last. */
static int by_wait(const void *a, const void *b)
{
    const struct stet_report_cause *x = a, *y = b;

    if (x->first.benign != y->first.benign)
        return x->first.benign ? 1 : -1;
    if (x->wait_ns != y->wait_ns)
        return x->wait_ns < y->wait_ns ? 1 : -1;
    if (x->first.process != y->first.process)
        return x->first.process < y->first.process ? -1 : 1;
    return x->first.compile < y->first.compile ? -1 : x->first.compile > y->first.compile;
}

static bool gather(void *context, const struct stet_recompile *r)
{
    stet_causes_add(context, r);
    return !stet_causes_failed(context);
}

enum stet_rc stet_cli_account_text(struct stet_buf *out, const struct stet_account *a,
                                   const struct stet_account_tally *t,
                                   const struct stet_account_view *view, struct stet_err *err)
{
    struct pen p = pen_of(out, view->colour);
    struct stet_causes c;
    uint64_t hidden = 0;
    enum stet_rc rc = stet_causes_init(&c)
                          ? STET_OK
                          : stet_fail(err, STET_NO_MEMORY, "out of memory while printing");

    if (rc == STET_OK)
        rc = a->each(a->source, gather, &c, err);
    if (rc == STET_OK) {
        head(&p, a, t);
        if (c.count)
            qsort(c.items, c.count, sizeof *c.items, by_wait);
        for (size_t i = 0; i < c.count; i++) {
            if (c.items[i].first.benign && !view->all)
                hidden += c.items[i].times;
            else
                say_cause(&p, &c.items[i], view->all, a->log);
        }
        if (hidden)
            stet_buf_printf(out, "\n%s%" PRIu64 " harmless recompile%s not shown (--all)%s\n",
                            p.dim, hidden, hidden == 1 ? "" : "s", p.plain);
        if (c.beyond)
            stet_buf_printf(out, "\n%" PRIu64 " recompile%s of further causes (--format=json)\n",
                            c.beyond, c.beyond == 1 ? "" : "s");
        if (a->misses)
            stet_cli_misses_text(a->misses, out);
    }
    stet_causes_release(&c);
    return rc;
}
