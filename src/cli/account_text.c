/* Prints a run's recompiles as text: the totals, then each story. */
#include "cli/account_text.h"

#include "base/human.h"
#include "base/text.h"
#include "cli/divergence_text.h"
#include "cli/frameworks_text.h"
#include "cli/miss_text.h"
#include "cli/run_text.h"
#include "session/account_run.h"
#include "session/avoided.h"
#include "session/exhausted.h"
#include "story/story_text.h"

#include <inttypes.h>
#include <unistd.h>

void stet_cli_account_say(const struct stet_recompile *r, uint64_t times, uint64_t wait_ns)
{
    struct stet_buf out = STET_TEXT_INIT;

    if (times == 1)
        stet_story_text_row(&out, r, stet_text_colour(STDERR_FILENO));
    else
        stet_buf_printf(&out, "stet: %s: %.*s compiled again %" PRIu64 " times so far, waited ",
                        stet_cause_id(r->cause), STET_FMT(stet_text_function(r->function)), times);
    if (times > 1) {
        stet_text_duration(&out, wait_ns);
        stet_buf_char(&out, '\n');
    }
    stet_say_text(&out);
    stet_buf_release(&out);
}

static void came(struct stet_buf *out, uint64_t n, uint64_t all, const char *from)
{
    if (n == all)
        stet_buf_printf(out, "; %s from %s", n == 1 ? "it came" : "all came", from);
    else if (n)
        stet_buf_printf(out, "; %" PRIu64 " came from %s", n, from);
}

void stet_cli_account_programs(struct stet_buf *out, const struct stet_account *a)
{
    if (a->totals.settled)
        stet_buf_printf(out, "settled at step %" PRIu64 " with ", a->totals.settled_step);
    stet_text_count(out, a->totals.programs, "program");
    if (!a->totals.settled && a->totals.unsettled)
        stet_buf_printf(out, ", not settled: %s", stet_unsettled_text(a->totals.unsettled));
    stet_buf_char(out, '\n');
}

void stet_cli_account_lost(struct stet_buf *out, const struct stet_account_tally *t)
{
    stet_account_kinds(out, t->events);
    if (!t->alarms)
        return;
    stet_buf_str(out, " (waited ");
    stet_text_duration(out, t->wait_ns);
    if (t->lost_ns && t->wait_ns != t->lost_ns) {
        stet_buf_str(out, ", compiler ");
        stet_text_duration(out, t->lost_ns);
    }
    came(out, t->served, t->alarms, "the store");
    came(out, t->torch_cached, t->alarms, "torch's own cache");
    if (t->lifted)
        stet_buf_printf(out, "; %" PRIu64 " lifted", t->lifted);
    stet_buf_char(out, ')');
}

static void head(struct stet_buf *out, const struct stet_account *a,
                 const struct stet_account_tally *t, const struct stet_account_view *view)
{
    bool colour = view->colour;
    uint64_t compiles = a->totals.compiles ? a->totals.compiles : stet_account_torch(a);
    bool torch = !a->totals.compiles && (t->torch || compiles);

    stet_buf_printf(out, "%srun %s%s: ", stet_pen(STET_PEN_BOLD, colour), a->run,
                    stet_pen(STET_PEN_PLAIN, colour));
    if (!a->totals.compiles && !torch) {
        stet_buf_printf(out, "nothing was compiled\n  %s\n", STET_UNWATCHED);
        return;
    }
    if (torch)
        stet_buf_str(out, "torch.compile alone, ");
    if (compiles) {
        stet_text_count(out, compiles, "compile");
        stet_buf_str(out, ", ");
    }
    stet_cli_account_lost(out, t);
    if (t->harmless)
        stet_buf_printf(out, ", %" PRIu64 " harmless", t->harmless);
    stet_buf_char(out, '\n');
    if (!torch) {
        stet_buf_str(out, "  ");
        stet_cli_account_programs(out, a);
    }
    for (int q = 0; q < STET_QUESTIONS; q++) {
        const struct stet_answer *answer = &t->answers[q];

        stet_buf_printf(out, "  %-46s %s%s%s",
                        stet_cause_question_text((enum stet_cause_question)q),
                        stet_pen(stet_answer_yes(answer) ? STET_PEN_RED : STET_PEN_GREEN, colour),
                        stet_answer_yes(answer) ? "yes" : "no", stet_pen(STET_PEN_PLAIN, colour));
        stet_buf_str(out, stet_answer_yes(answer) ? ", " : "");
        stet_answer_text(out, answer);
        stet_buf_char(out, '\n');
    }
    if (a->avoided)
        stet_avoided_summary(out, "  ", a->avoided, a->totals.compiles);
    if (a->avoided && view->all)
        stet_avoided_lines(out, "    ", a->avoided);
    stet_cli_counters_text(out, "  ", false, a->counters, a->counter_count);
    if (!a->log || !a->log->function_count) /* a log has this with the functions' names */
        stet_cli_counters_phases(out, "  ", a->counters, a->counter_count);
    if (a->log)
        stet_cli_log_text(out, "  ", a->log);
}

/* Harmless operations that ran once are still worth a word if the start waited long for them. */
static bool is_dear(const struct stet_story *t)
{
    return t->events[STET_EVENT_OUTSIDE] && t->wait_ns >= UINT64_C(3000000000);
}

enum stet_rc stet_cli_account_text(struct stet_buf *out, const struct stet_account *a,
                                   const struct stet_account_tally *t,
                                   const struct stet_account_view *view, struct stet_err *err)
{
    struct stet_story_view one = {.colour = view->colour, .all = view->all, .width = view->width};
    const char *dim = stet_pen(STET_PEN_DIM, view->colour);
    const char *plain = stet_pen(STET_PEN_PLAIN, view->colour);
    uint64_t hidden[STET_ROW_EVENTS] = {0}, any = 0;

    (void)err;
    if (a->exhausted)
        stet_session_exhausted_text(out, a->exhausted, "");
    head(out, a, t, view);
    if (a->divergences)
        stet_session_comparing_text(out, &a->divergences->comparing, "");
    for (size_t i = 0; a->divergences && i < a->divergences->count; i++) {
        stet_buf_char(out, '\n');
        stet_cli_divergence_text(out, &a->divergences->items[i], view->colour, view->all);
    }
    for (size_t i = 0; i < a->stories->count; i++) {
        const struct stet_story *story = &a->stories->items[i];

        if (story->benign && !view->all && !is_dear(story)) {
            for (int k = 0; k < STET_ROW_EVENTS; k++)
                hidden[k] += story->events[k];
            any += story->count;
            continue;
        }
        one.why = a->log ? stet_session_log_why(a->log, &story->lead) : (struct stet_view){0};
        stet_buf_char(out, '\n');
        stet_story_text(out, story, &one);
    }
    if (any && any == hidden[STET_EVENT_AGAIN]) {
        stet_buf_printf(out, "\n%s", dim);
        stet_text_count(out, any, "harmless recompile");
        stet_buf_printf(out, " not shown (--all)%s\n", plain);
    } else if (any) {
        stet_buf_printf(out, "\n%sharmless, not shown (--all): ", dim);
        stet_account_kinds(out, hidden);
        stet_buf_printf(out, "%s\n", plain);
    }
    if (a->stories->beyond)
        stet_buf_printf(out, "\n%" PRIu64 " recompile%s of further causes (--format=json)\n",
                        a->stories->beyond, a->stories->beyond == 1 ? "" : "s");
    if (a->misses)
        stet_cli_misses_text(a->misses, out);
    return STET_OK;
}
