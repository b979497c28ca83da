/* See divergence_text.h. */
#include "cli/divergence_text.h"

#include "base/excerpt.h"
#include "base/human.h"
#include "base/text.h"
#include "cause/cause.h"
#include "story/story_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { CHANGES = 4 };

static void ranks(struct stet_buf *out, const uint64_t *list, size_t count, uint64_t all)
{
    count = count < STET_DIVERGENCE_RANKS ? count : STET_DIVERGENCE_RANKS;
    stet_buf_str(out, count == 1 && all <= 1 ? "rank " : "ranks ");
    for (size_t i = 0; i < count; i++)
        stet_buf_printf(out, "%s%" PRIu64,
                        !i                               ? ""
                        : i + 1 == count && all <= count ? " and "
                                                         : ", ",
                        list[i]);
    if (all > count)
        stet_buf_printf(out, " and %" PRIu64 " more", all - count);
}

static void place(struct stet_buf *out, const char *label, const struct stet_line *at,
                  const char *after, bool colour)
{
    size_t before;

    if (!at->line)
        return;
    stet_buf_printf(out, "  %s%-8s%s %s%.*s:%" PRIu64 "%s", stet_pen(STET_PEN_DIM, colour), label,
                    stet_pen(STET_PEN_PLAIN, colour), stet_pen(STET_PEN_CYAN, colour),
                    STET_FMT(stet_text_path(at->file)), at->line, stet_pen(STET_PEN_PLAIN, colour));
    if (at->function.len)
        stet_buf_printf(out, " in %.*s", STET_FMT(at->function));
    stet_buf_printf(out, "%s\n", after);
    before = out->len;
    stet_buf_printf(out, "      %5" PRIu64 " | ", at->line);
    if (!stet_text_source(out, at->file, (uint32_t)at->line))
        out->len = before;
    else
        stet_buf_char(out, '\n');
}

static void rank_place(struct stet_buf *out, int64_t rank, const struct stet_line *at,
                       const char *after, bool colour)
{
    char label[32];

    snprintf(label, sizeof label, "rank %" PRId64, rank);
    place(out, label, at, after, colour);
}

static bool same_line(const struct stet_line *a, const struct stet_line *b)
{
    return a->line == b->line && stet_view_eq(a->file, b->file);
}

/* ---- ranks that differ ---- */

static void title(struct stet_buf *out, const struct stet_divergence *d, bool colour)
{
    stet_buf_printf(out, "%srank-divergence%s", stet_pen(STET_PEN_BOLD, colour),
                    stet_pen(STET_PEN_PLAIN, colour));
    if (d->explained && d->pair.cause && d->pair.cause != STET_CAUSE_RANK_DIVERGENCE &&
        d->pair.cause != STET_CAUSE_IDENTICAL)
        stet_buf_printf(out, " and %s", stet_cause_id(d->pair.cause));
    if (d->other_function.len && !stet_view_eq(d->function, d->other_function))
        stet_buf_printf(out,
                        ": rank %" PRId64 " compiles %.*s where rank %" PRId64 " compiles %.*s",
                        d->rank, STET_FMT(stet_text_function(d->function)), d->other,
                        STET_FMT(stet_text_function(d->other_function)));
    else if (d->alone && d->missing_count > 1)
        stet_buf_printf(out,
                        ": rank %" PRId64 " compiles %.*s again, and %" PRIu64
                        " other ranks do not, such as rank %" PRId64,
                        d->rank, STET_FMT(stet_text_function(d->function)), d->missing_count,
                        d->other);
    else if (d->alone)
        stet_buf_printf(out,
                        ": rank %" PRId64 " compiles %.*s again, and rank %" PRId64 " does not",
                        d->rank, STET_FMT(stet_text_function(d->function)), d->other);
    else
        stet_buf_printf(out, ": rank %" PRId64 " compiles a different %.*s than rank %" PRId64,
                        d->rank, STET_FMT(stet_text_function(d->function)), d->other);
    stet_buf_str(out, d->certain ? "\n" : ", which may be intended\n");
}

static void changes(struct stet_buf *out, const struct stet_divergence *d, bool colour, bool all)
{
    struct stet_recompile pair = d->pair;

    if (!d->explained) {
        stet_buf_printf(out, "    what differs is not known: %.*s\n", STET_FMT(d->why_not));
        return;
    }
    if (d->reordered) { /* operands of equal names say nothing */
        stet_buf_str(out, "    the same operations, in another order\n");
        return;
    }
    if (pair.change_count && !d->alone)
        stet_buf_printf(out, "    %srank %" PRId64 " -> rank %" PRId64 "%s\n",
                        stet_pen(STET_PEN_DIM, colour), d->other, d->rank,
                        stet_pen(STET_PEN_PLAIN, colour));
    stet_story_text_changes(out, &pair, colour, all, CHANGES);
}

static void evidence(struct stet_buf *out, const struct stet_divergence *d, bool colour)
{
    const char *dim = stet_pen(STET_PEN_DIM, colour), *plain = stet_pen(STET_PEN_PLAIN, colour);

    if (d->certain)
        stet_buf_printf(
            out,
            "  %srisk%s     the ranks run this program together: they may wait for each "
            "other for ever\n",
            dim, plain);
    if (d->reordered)
        stet_buf_printf(out,
                        "  %slikely%s   Python iterates over a set, and the order of a set differs "
                        "between processes\n",
                        dim, plain);
    if (d->went_on)
        stet_buf_printf(out,
                        "  %sevidence%s rank %" PRId64 " executed further programs of these ranks "
                        "without compiling this one\n",
                        dim, plain, d->other);
    if (d->like_other_count) {
        stet_buf_printf(out, "  %sothers%s   ", dim, plain);
        ranks(out, d->like_other, d->like_other_count, d->like_other_count);
        stet_buf_printf(out, " %s the program of rank %" PRId64 "\n",
                        d->like_other_count == 1 ? "has" : "have", d->other);
    }
    if (d->like_rank_count) {
        stet_buf_printf(out, "  %sothers%s   ", dim, plain);
        ranks(out, d->like_rank, d->like_rank_count, d->like_rank_count);
        stet_buf_printf(out, " %s the program of rank %" PRId64 "\n",
                        d->like_rank_count == 1 ? "has" : "have", d->rank);
    }
}

/* The line that waited for a rank's compile, or else the one where the rank is now. */
static void waiting(struct stet_buf *out, int64_t rank, const struct stet_line *trigger,
                    const struct stet_line *now, bool colour)
{
    if (trigger->line)
        rank_place(out, rank, trigger, ", which compiled it", colour);
    else
        rank_place(out, rank, now, ", where it is now", colour);
}

/* The lines that called for the two compiles; often it is one. */
static void callers(struct stet_buf *out, const struct stet_divergence *d, bool colour)
{
    if (d->trigger.line && same_line(&d->trigger, &d->other_trigger)) {
        place(out, "called", &d->trigger, ", on both ranks", colour);
        return;
    }
    waiting(out, d->rank, &d->trigger, &d->at, colour);
    waiting(out, d->other, &d->other_trigger, &d->other_at, colour);
}

/* The line that makes the difference. An option has none: what is known is the compiled function.
 */
static void lines(struct stet_buf *out, const struct stet_divergence *d, bool colour)
{
    const struct stet_line *source = &d->pair.source, *origin = &d->pair.origin;
    bool option = d->pair.cause == STET_CAUSE_OPTIONS_DRIFT;

    if (!d->explained || (option && !d->torch))
        return;
    if (source->line && !option)
        place(out, "source", source, "", colour);
    if (origin->line && (!source->line || !same_line(source, origin)))
        place(out, option ? "compiled" : "origin", origin, "", colour);
}

static void differ(struct stet_buf *out, const struct stet_divergence *d, bool colour, bool all)
{
    title(out, d, colour);
    changes(out, d, colour, all);
    lines(out, d, colour);
    callers(out, d, colour);
    evidence(out, d, colour);
    stet_buf_printf(out, "  %s%-8s%s %s\n", stet_pen(STET_PEN_DIM, colour), "fix",
                    stet_pen(STET_PEN_PLAIN, colour), stet_divergence_fix(d));
    stet_story_text_more(out, STET_CAUSE_RANK_DIVERGENCE, colour);
}

/* ---- ranks that have not come ---- */

static void where(struct stet_buf *out, const struct stet_divergence *d, int64_t rank, bool colour)
{
    if (!d->answered) {
        stet_buf_printf(out,
                        "    rank %" PRId64 " does not answer: it has made no client yet, is "
                        "stopped or gone, or runs without Stet\n",
                        rank);
        return;
    }
    stet_buf_printf(out, "    rank %" PRId64, rank);
    if (d->host.len)
        stet_buf_printf(out, " on %.*s", STET_FMT(d->host));
    if (d->compiling)
        stet_buf_printf(out, " compiles %.*s", STET_FMT(stet_text_function(d->program)));
    else if (d->program.len)
        stet_buf_printf(out, " last started %.*s", STET_FMT(stet_text_function(d->program)));
    else
        stet_buf_str(out, " has started no program");
    stet_buf_str(out, ", ");
    stet_text_count(out, d->executions, "execution");
    stet_buf_char(out, '\n');
    rank_place(out, rank, &d->other_at, "", colour);
}

static void late(struct stet_buf *out, const struct stet_divergence *d, bool colour)
{
    stet_buf_printf(out, "%srank-divergence%s: rank %" PRId64 " has waited ",
                    stet_pen(STET_PEN_BOLD, colour), stet_pen(STET_PEN_PLAIN, colour), d->rank);
    stet_text_duration(out, d->after_ns);
    stet_buf_printf(out, " for rank %" PRId64 ", which has not reached %.*s\n", d->other,
                    STET_FMT(stet_text_function(d->function)));
    where(out, d, d->other, colour);
    rank_place(out, d->rank, &d->trigger, " waits", colour);
}

static void missing(struct stet_buf *out, const struct stet_divergence *d, bool colour)
{
    stet_buf_printf(out, "%srank-divergence%s: ", stet_pen(STET_PEN_BOLD, colour),
                    stet_pen(STET_PEN_PLAIN, colour));
    ranks(out, d->missing, d->missing_listed, d->missing_count);
    stet_buf_printf(out, " of %" PRIu64 " %s not reached %.*s after ", d->ranks,
                    d->missing_count == 1 ? "has" : "have",
                    STET_FMT(stet_text_function(d->function)));
    stet_text_duration(out, d->after_ns);
    stet_buf_char(out, '\n');
    if (d->missing_listed)
        where(out, d, (int64_t)d->missing[0], colour);
    rank_place(out, d->rank, &d->trigger, " waits", colour);
}

void stet_cli_divergence_text(struct stet_buf *out, const struct stet_divergence *d, bool colour,
                              bool all)
{
    if (d->finding == STET_AGREEMENT_DIFFERS)
        differ(out, d, colour, all);
    else if (d->finding == STET_AGREEMENT_LATE)
        late(out, d, colour);
    else
        missing(out, d, colour);
}

static size_t said;

void stet_cli_divergence_sum(void)
{
    if (said)
        stet_say("stet: %zu difference%s between ranks; `stet explain` prints %s first\n", said,
                 said == 1 ? "" : "s", said == 1 ? "it" : "them");
}

void stet_cli_divergence_say(const struct stet_divergence *d)
{
    struct stet_buf out = STET_TEXT_INIT;

    said++;
    stet_buf_str(&out, "stet: ");
    stet_cli_divergence_text(&out, d, stet_text_colour(STDERR_FILENO), false);
    stet_say_text(&out);
    stet_buf_release(&out);
}
