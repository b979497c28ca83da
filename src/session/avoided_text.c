/* Prints what a run did not compile. */
#include "session/avoided.h"

#include "base/human.h"
#include "fingerprint/traits.h"

#include <inttypes.h>

/* The most lines of one list. */
enum { MOST_LINES = 5 };

/* ": 1 ms instead of 6 ms", or ": 6 ms, longer than compiling (1 ms)", as far as compile times are
 * known. */
static void say_times(struct stet_buf *out, const struct stet_avoided_sum *s, const char *about)
{
    if (!s->known)
        return;
    stet_buf_str(out, ": ");
    stet_text_duration(out, s->took_ns);
    stet_buf_printf(out, "%s%s", stet_avoided_ns(s) ? " instead of " : ", longer than compiling (",
                    about);
    stet_text_duration(out, s->instead_ns);
    stet_buf_str(out, stet_avoided_ns(s) ? "" : ")");
    if (s->known < s->compiles)
        stet_buf_printf(out, " for the %" PRIu64 " whose compile time is known", s->known);
}

static void say_sum(struct stet_buf *out, const char *indent, uint64_t compiles,
                    const struct stet_avoided_sum *s, const char *how, const char *about)
{
    if (!s->compiles)
        return;
    stet_buf_printf(out, "%s%" PRIu64 " of ", indent, s->compiles);
    stet_text_count(out, compiles, "program");
    stet_buf_str(out, how);
    say_times(out, s, about);
    stet_buf_char(out, '\n');
}

/* "step (train.py:7) " */
static void say_function(struct stet_buf *out, const char *indent, struct stet_view name,
                         const struct stet_trigger *at)
{
    stet_buf_printf(out, "%s%.*s ", indent,
                    STET_FMT(stet_text_function(stet_traits_function_of(name))));
    if (at->line)
        stet_buf_printf(out, "(%.*s:%" PRIu64 ") ", STET_FMT(stet_text_path(at->file)), at->line);
}

static void say_refusals(struct stet_buf *out, const char *indent, const struct stet_avoided *a)
{
    for (size_t i = 0; i < a->refusal_count && i < MOST_LINES; i++) {
        const struct stet_avoided_refusal *r = &a->refusals[i];

        say_function(out, indent, r->name, &r->at);
        stet_buf_printf(out, "is not lifted, so each of its programs is compiled: %.*s\n",
                        STET_FMT(r->why));
    }
    if (a->refusal_count > MOST_LINES)
        stet_buf_printf(out, "%s%zu more functions are not lifted\n", indent,
                        a->refusal_count - MOST_LINES);
}

static void say_differences(struct stet_buf *out, const char *indent, const struct stet_avoided *a)
{
    for (size_t i = 0; i < a->difference_count && i < MOST_LINES; i++) {
        const struct stet_avoided_difference *d = &a->differences[i];

        say_function(out, indent, d->name, &d->at);
        stet_buf_str(out, "is lifted, and its results differ from the plain program's ");
        if (d->ulp) {
            stet_buf_str(out, "by at most ");
            stet_text_count(out, d->ulp, "unit");
            stet_buf_str(out, " in the last place\n");
        } else {
            stet_buf_str(out, "in signs of zeros or bits of NaNs\n");
        }
    }
    if (a->difference_count > MOST_LINES)
        stet_buf_printf(out, "%s%zu more functions differ in rounding\n", indent,
                        a->difference_count - MOST_LINES);
}

static void say_background(struct stet_buf *out, const char *indent, const struct stet_avoided *a)
{
    if (!a->ahead)
        return;
    stet_buf_str(out, indent);
    stet_text_count(out, a->ahead, "lifted program");
    stet_buf_printf(out, " %s compiled in the background: ", a->ahead == 1 ? "was" : "were");
    stet_text_duration(out, a->ahead_ns);
    stet_buf_char(out, '\n');
}

/* Compiles that lifting costs: not all of its time is waited for. */
static void say_plain(struct stet_buf *out, const char *indent, const struct stet_avoided *a)
{
    if (!a->plain)
        return;
    stet_buf_str(out, indent);
    stet_text_count(out, a->plain, "lifted program");
    stet_buf_str(out, a->plain == 1 ? " was compiled as it is" : " were compiled as they are");
    stet_buf_str(out, " too, to compare results: ");
    stet_text_duration(out, a->plain_ns);
    if (!a->plain_waited_ns) {
        stet_buf_str(out, " in the background");
    } else if (a->plain_waited_ns < a->plain_ns) {
        stet_buf_str(out, ", of which ");
        stet_text_duration(out, a->plain_waited_ns);
        stet_buf_str(out, " were waited for");
    }
    stet_buf_char(out, '\n');
}

void stet_avoided_summary(struct stet_buf *out, const char *indent, const struct stet_avoided *a,
                          uint64_t compiles)
{
    struct stet_avoided_sum kept = stet_avoided_kept(a);

    say_sum(out, indent, compiles, &a->by[STET_SERVED_LIFTED],
            a->by[STET_SERVED_LIFTED].compiles == 1 ? " was lifted" : " were lifted", "about ");
    say_sum(out, indent, compiles, &kept, " came from the store", "");
    say_background(out, indent, a);
    say_plain(out, indent, a);
    say_differences(out, indent, a);
    say_refusals(out, indent, a);
}

/* "2 lifted, 3 from memory" */
static void say_places(struct stet_buf *out, const struct stet_avoided_line *l)
{
    const char *comma = "";

    for (int i = STET_SERVED_COUNT - 1; i > STET_SERVED_COMPILED; i--) {
        if (!l->by[i].compiles)
            continue;
        stet_buf_printf(out, "%s%" PRIu64 " %s%s", comma, l->by[i].compiles,
                        i == STET_SERVED_LIFTED ? "" : "from ",
                        stet_journal_served_word((enum stet_served)i));
        comma = ", ";
    }
}

void stet_avoided_lines(struct stet_buf *out, const char *indent, const struct stet_avoided *a)
{
    for (size_t i = 0; i < a->line_count && i < MOST_LINES; i++) {
        const struct stet_avoided_line *l = &a->lines[i];

        stet_buf_str(out, indent);
        if (l->at.line)
            stet_buf_printf(out, "%.*s:%" PRIu64, STET_FMT(stet_text_path(l->at.file)), l->at.line);
        else
            stet_buf_str(out, "no line known");
        stet_buf_str(out, ": ");
        say_places(out, l);
        say_times(out, &l->all, "");
        stet_buf_char(out, '\n');
    }
    if (a->line_count > MOST_LINES)
        stet_buf_printf(out, "%sand %zu more lines (--format=json)\n", indent,
                        a->line_count - MOST_LINES);
}
