/* A run's recompiles for a tired engineer: what, where, what it cost, what to do. */
#include "cli/explain.h"

#include "cli/excerpt.h"
#include "cli/run_text.h"

#include <inttypes.h>
#include <stdlib.h>

struct pen {
    struct stet_buf *out;
    const char *bold, *red, *green, *cyan, *dim, *plain;
};

static struct pen pen_of(struct stet_buf *out, bool colour)
{
    if (!colour)
        return (struct pen){out, "", "", "", "", "", ""};
    return (struct pen){out, "\033[1m", "\033[31m", "\033[32m", "\033[36m", "\033[2m", "\033[0m"};
}

static struct stet_view short_path(struct stet_view path)
{
    size_t slashes = 0;

    for (size_t i = path.len; i > 0; i--)
        if (path.ptr[i - 1] == '/' && ++slashes == 2)
            return stet_view_of(path.ptr + i, path.len - i);
    return path;
}

static void place_line(const struct pen *p, const char *label, const struct stet_place *at)
{
    size_t before;

    if (!at->line)
        return;
    stet_buf_printf(p->out, "  %s%-8s%s %s%.*s:%u%s", p->dim, label, p->plain, p->cyan,
                    STET_FMT(short_path(at->file)), at->line, p->plain);
    if (at->function.len)
        stet_buf_printf(p->out, " in %.*s", STET_FMT(at->function));
    stet_buf_char(p->out, '\n');
    before = p->out->len;
    stet_buf_printf(p->out, "           %s%5u |%s ", p->dim, at->line, p->plain);
    if (!stet_excerpt_line(p->out, at->file, at->line))
        p->out->len = before;
    else
        stet_buf_char(p->out, '\n');
}

static void change_line(const struct pen *p, const struct stet_told *c)
{
    bool came = c->kind == STET_CHANGE_ARGUMENT_CAME || c->kind == STET_CHANGE_OP_CAME ||
                c->kind == STET_CHANGE_OUTPUT_CAME;
    bool went = c->kind == STET_CHANGE_ARGUMENT_WENT || c->kind == STET_CHANGE_OP_WENT ||
                c->kind == STET_CHANGE_OUTPUT_WENT;

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
        stet_buf_printf(p->out, "  %s(%u places)%s", p->dim, c->count, p->plain);
    if (c->place.line)
        stet_buf_printf(p->out, "  %s%.*s:%u%s", p->dim, STET_FMT(short_path(c->place.file)),
                        c->place.line, p->plain);
    stet_buf_char(p->out, '\n');
}

static void changes(const struct pen *p, const struct stet_finding *f, bool all)
{
    uint32_t shown = 0, hidden = f->left_out;

    for (uint32_t i = 0; i < f->change_count; i++) {
        if (!all && (f->changes[i].follows != STET_NO_FACET || shown >= 4)) {
            hidden++;
            continue;
        }
        change_line(p, &f->changes[i]);
        shown++;
    }
    if (hidden && !all)
        stet_buf_printf(p->out, "    %s%u more (--all)%s\n", p->dim, hidden, p->plain);
}

static void memory_line(const struct pen *p, const struct stet_history *h,
                        const struct stet_finding *f)
{
    const struct stet_sighting *s = &h->sightings[f->sighting];
    const struct stet_sighting *a = f->against == STET_NONE ? NULL : &h->sightings[f->against];
    bool more;

    if (!s->has_memory || !a || !a->has_memory || s->temp_bytes == a->temp_bytes)
        return;
    more = s->temp_bytes > a->temp_bytes;
    stet_buf_printf(p->out, "  %smemory%s   ", p->dim, p->plain);
    stet_text_bytes(p->out, more ? s->temp_bytes - a->temp_bytes : a->temp_bytes - s->temp_bytes);
    stet_buf_printf(p->out, " of temporaries %s\n", more ? "more" : "less");
}

static void finding(const struct pen *p, const struct stet_history *h, const struct stet_finding *f,
                    bool all)
{
    const struct stet_sighting *s = &h->sightings[f->sighting];

    stet_buf_printf(p->out, "\n%s%s%s", p->bold, stet_reason_name(f->reason), p->plain);
    for (uint32_t i = 0; i < f->also_count; i++)
        stet_buf_printf(p->out, "%s%s", i ? ", " : " and ", stet_reason_name(f->also[i]));
    stet_buf_printf(p->out, ": %.*s compiled again", STET_FMT(s->traits->function));
    if (s->step_known)
        stet_buf_printf(p->out, " at step %" PRIu64, s->step);
    if (s->rank >= 0)
        stet_buf_printf(p->out, " on rank %" PRId64, s->rank);
    stet_buf_str(p->out, ", ");
    stet_text_duration(p->out, s->cost_ns);
    stet_buf_printf(p->out, "  %s#%" PRIu64 "%s%s\n", p->dim, s->index,
                    f->benign ? " (harmless)" : "", p->plain);
    changes(p, f, all);
    place_line(p, "origin", &f->origin);
    place_line(p, "trigger", &s->trigger);
    memory_line(p, h, f);
    if (f->evidence.len)
        stet_buf_printf(p->out, "  %s%-8s%s %.*s%s%s%s\n", p->dim,
                        f->sure == STET_SURE_CERTAIN  ? "evidence"
                        : f->sure == STET_SURE_LIKELY ? "likely"
                                                      : "a guess",
                        p->plain, STET_FMT(f->evidence), "", "", "");
    stet_buf_printf(p->out, "  %sfix%s      %.*s\n", p->dim, p->plain, STET_FMT(f->fix));
}

static void head(const struct pen *p, const struct stet_explained *x)
{
    struct stet_answer answers[STET_QUESTIONS];
    struct stet_settled s = stet_settled_of(x);
    uint32_t alarms = 0, harmless = 0;
    uint64_t lost = 0;

    for (uint32_t i = 0; i < x->history.finding_count; i++) {
        const struct stet_finding *f = &x->history.findings[i];

        if (f->reason >= STET_REASONS)
            continue;
        alarms += !f->benign;
        harmless += f->benign;
        lost += f->benign ? 0 : x->history.sightings[f->sighting].cost_ns;
    }
    stet_buf_printf(p->out, "%srun %s%s: ", p->bold, x->run, p->plain);
    stet_text_count(p->out, x->digest.compiles, "compile");
    stet_buf_str(p->out, ", ");
    stet_text_count(p->out, alarms, "recompile");
    stet_buf_str(p->out, " (");
    stet_text_duration(p->out, lost);
    stet_buf_str(p->out, " lost)");
    if (harmless)
        stet_buf_printf(p->out, ", %u harmless", harmless);
    stet_buf_char(p->out, '\n');
    if (s.settled)
        stet_buf_printf(p->out, "  settled at step %" PRIu64 " with %u programs\n", s.step,
                        s.programs);
    else
        stet_buf_printf(p->out, "  %u programs, not settled: %s\n", s.programs, s.why);
    stet_questions_answer(&x->history, answers);
    for (int q = 0; q < STET_QUESTIONS; q++) {
        stet_buf_printf(p->out, "  %-46s %s%s%s", stet_question_text((enum stet_question)q),
                        answers[q].yes ? p->red : p->green, answers[q].yes ? "yes" : "no",
                        p->plain);
        if (answers[q].yes)
            stet_buf_printf(p->out, ", %u× %s", answers[q].count,
                            stet_reason_name(answers[q].first->reason));
        stet_buf_char(p->out, '\n');
    }
}

void stet_explain_text(struct stet_buf *out, const struct stet_explained *x, bool colour, bool all)
{
    struct pen p = pen_of(out, colour);
    uint32_t harmless = 0;

    head(&p, x);
    for (uint32_t i = 0; i < x->history.finding_count; i++) {
        const struct stet_finding *f = &x->history.findings[i];

        if (f->reason >= STET_REASONS)
            continue;
        if (f->benign && !all)
            harmless++;
        else
            finding(&p, &x->history, f, all);
    }
    if (harmless)
        stet_buf_printf(out, "\n%s%u harmless recompile%s not shown (--all)%s\n", p.dim, harmless,
                        harmless == 1 ? "" : "s", p.plain);
}
