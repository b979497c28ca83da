/* See story_text.h. */
#include "story/story_text.h"

#include "base/excerpt.h"
#include "base/human.h"
#include "base/text.h"

#include <inttypes.h>

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

enum { VALUES = 5, NAMES = 3, LABEL = 11 };

/* ---- lines and changes ---- */

static void place(const struct pen *p, const char *label, const struct stet_line *at, bool code)
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
    if (!code || !stet_text_source(p->out, at->file, (uint32_t)at->line))
        p->out->len = before;
    else
        stet_buf_char(p->out, '\n');
}

static bool same_line(const struct stet_line *a, const struct stet_line *b)
{
    return a->line == b->line && stet_view_eq(a->file, b->file);
}

static void lines(const struct pen *p, const struct stet_story *t, bool all)
{
    const struct stet_recompile *r = &t->lead;

    place(p, "source", &t->source, true);
    if (t->events[STET_EVENT_OUTSIDE] && !all)
        return;
    if (!same_line(&r->origin, &t->source))
        place(p, "origin", &r->origin, all);
    if (!same_line(&r->trigger, &t->source) && !same_line(&r->trigger, &r->origin))
        place(p, "trigger", &r->trigger, all);
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

static void values(const struct pen *p, const struct stet_story *t)
{
    const struct stet_story_value *v = t->values;
    size_t shown = t->value_count && v->count < VALUES ? v->count : VALUES;

    if (!t->value_count || v->count < 3)
        return;
    stet_buf_printf(p->out, "  %svalues%s   ", p->dim, p->plain);
    for (size_t i = 0; i < shown; i++)
        stet_buf_printf(p->out, "%s%.*s", i ? ", " : "", STET_FMT(v->seen[i]));
    stet_buf_printf(p->out, "%s\n", v->more || v->count > shown ? ", …" : "");
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

/* ---- sentences ---- */

/* Appends a sentence behind its label. Further lines are indented as far as the label is wide. */
static void sentence(const struct pen *p, const char *label, struct stet_view text, size_t width)
{
    size_t column = LABEL, at = 0;

    if (!text.len)
        return;
    stet_buf_printf(p->out, "  %s%-8s%s ", p->dim, label, p->plain);
    while (at < text.len) {
        size_t end = at, letters = 0;

        for (; end < text.len && (text.ptr[end] != ' ' || end == at); end++)
            letters += ((unsigned char)text.ptr[end] & 0xc0) != 0x80;
        if (width && column > LABEL && column + letters > width) {
            stet_buf_printf(p->out, "\n%*s", LABEL, "");
            column = LABEL;
            while (at < end && text.ptr[at] == ' ')
                at++, letters--;
        }
        stet_buf_printf(p->out, "%.*s", (int)(end - at), text.ptr + at);
        column += letters;
        at = end;
    }
    stet_buf_char(p->out, '\n');
}

static const char *sureness(enum stet_sure sure)
{
    static const char *const words[] = {[STET_SURE_GUESS] = "a guess",
                                        [STET_SURE_LIKELY] = "likely",
                                        [STET_SURE_CERTAIN] = "evidence"};

    return words[sure];
}

static void causes(const struct pen *p, enum stet_cause cause, const struct stet_cause_list *also)
{
    stet_buf_printf(p->out, "%s%s%s", p->bold, stet_cause_id(cause), p->plain);
    for (uint32_t i = 0; i < also->count; i++)
        stet_buf_printf(p->out, "%s%s", i ? ", " : " and ", stet_cause_id(also->items[i]));
    stet_buf_str(p->out, ": ");
}

/* "train_step", "train_step and eval_step", "a, b, c and 4 more". */
static void names(struct stet_buf *out, const struct stet_story *t)
{
    size_t all = t->function_count + t->functions_more;
    size_t shown = all <= NAMES ? all : NAMES;

    for (size_t i = 0; i < shown; i++)
        stet_buf_printf(out, "%s%.*s",
                        !i             ? ""
                        : i + 1 == all ? " and "
                                       : ", ",
                        STET_FMT(stet_text_function(t->functions[i])));
    if (all > shown)
        stet_buf_printf(out, " and %zu more", all - shown);
}

void stet_story_text_names(struct stet_buf *out, const struct stet_story *t)
{
    if (t->events[STET_EVENT_OUTSIDE])
        stet_buf_printf(out, "%.*s", STET_FMT(stet_text_function(t->source.function)));
    else
        names(out, t);
}

/* What happened, behind the names: "compiled again". */
static const char *verb(enum stet_row_event event, bool served)
{
    switch (event) {
    case STET_EVENT_FIRST:
        return served ? "first asked for in the loop" : "first compiled in the loop";
    case STET_EVENT_BREAK:
        return "divided by a graph break";
    case STET_EVENT_RECORDED:
        return "recorded again";
    default:
        return served ? "asked for again" : "compiled again";
    }
}

static const char *source(enum stet_served s)
{
    return s == STET_SERVED_TORCH ? "torch's own cache" : stet_journal_served_word(s);
}

/* Appends the wait for a program, and the compiler's part of it or where the program came from. */
static void took(struct stet_buf *out, const struct stet_recompile *r, bool served,
                 uint64_t wait_ns, uint64_t cost_ns)
{
    stet_buf_str(out, ", waited ");
    stet_text_duration(out, wait_ns);
    if (served) {
        stet_buf_printf(out, " (%s%s)", r->served == STET_SERVED_LIFTED ? "" : "from ",
                        source(r->served));
    } else if (wait_ns != cost_ns) {
        stet_buf_str(out, " (compiler ");
        stet_text_duration(out, cost_ns);
        stet_buf_char(out, ')');
    }
}

/* ---- stories ---- */

/* The command that describes the cause: the last line of every finding. */
static void more(const struct pen *p, enum stet_cause cause)
{
    stet_buf_printf(p->out, "  %s%-8s%s stet help %s\n", p->dim, "more", p->plain,
                    stet_cause_id(cause));
}

static void title(const struct pen *p, const struct stet_story *t)
{
    bool served = t->served == t->count;

    causes(p, t->cause, &t->also);
    if (t->events[STET_EVENT_OUTSIDE]) {
        stet_text_count(p->out, t->count, "single operation");
        stet_buf_printf(p->out, " of %.*s compiled outside jit",
                        STET_FMT(stet_text_function(t->source.function)));
    } else {
        names(p->out, t);
        stet_buf_printf(p->out, " %s", verb(t->lead.event, served));
        if (t->count > 1)
            stet_buf_printf(p->out, " %zu times", t->count);
    }
    if (t->steps_known && t->first_step == t->last_step)
        stet_buf_printf(p->out, " at step %" PRIu64, t->first_step);
    else if (t->steps_known)
        stet_buf_printf(p->out, " at steps %" PRIu64 "…%" PRIu64, t->first_step, t->last_step);
    if (t->lead.rank >= 0)
        stet_buf_printf(p->out, " on rank %" PRId64, t->lead.rank);
    took(p->out, &t->lead, served, t->wait_ns, t->cost_ns);
    stet_buf_printf(p->out, "%s\n", t->benign ? " (harmless)" : "");
}

void stet_story_text(struct stet_buf *out, const struct stet_story *t,
                     const struct stet_story_view *view)
{
    struct pen p = pen_of(out, view->colour);

    title(&p, t);
    changes(&p, &t->lead, view->all, 4);
    values(&p, t);
    lines(&p, t, view->all);
    memory(&p, &t->lead);
    sentence(&p, sureness(t->lead.sure), t->lead.evidence, view->width);
    sentence(&p, "jax says", view->why, view->width);
    sentence(&p, "fix", t->lead.fix, view->width);
    if (!t->benign)
        more(&p, t->cause);
}

void stet_story_text_more(struct stet_buf *out, enum stet_cause cause, bool colour)
{
    struct pen p = pen_of(out, colour);

    more(&p, cause);
}

void stet_story_text_changes(struct stet_buf *out, const struct stet_recompile *r, bool colour,
                             bool all, size_t most)
{
    struct pen p = pen_of(out, colour);

    changes(&p, r, all, most);
}

void stet_story_text_line(struct stet_buf *out, const struct stet_story *t)
{
    bool served = t->served == t->count;

    stet_buf_printf(out, "%zu× %s in ", t->count, stet_cause_id(t->cause));
    stet_story_text_names(out, t);
    if (t->source.line)
        stet_buf_printf(out, ", %.*s:%" PRIu64, STET_FMT(stet_text_path(t->source.file)),
                        t->source.line);
    took(out, &t->lead, served, t->wait_ns, t->cost_ns);
    stet_buf_char(out, '\n');
}

void stet_story_text_row(struct stet_buf *out, const struct stet_recompile *r, bool colour)
{
    struct pen p = pen_of(out, colour);
    bool served = r->served != STET_SERVED_COMPILED;

    stet_buf_str(out, "stet: ");
    causes(&p, r->cause, &r->also);
    stet_buf_printf(out, "%.*s %s", STET_FMT(stet_text_function(r->function)),
                    verb(r->event, served));
    if (r->step_known)
        stet_buf_printf(out, " at step %" PRIu64, r->step);
    took(out, r, served, r->wait_ns, r->cost_ns);
    stet_buf_char(out, '\n');
    changes(&p, r, false, 1);
    place(&p, "source",
          r->source.line   ? &r->source
          : r->origin.line ? &r->origin
                           : &r->trigger,
          true);
    sentence(&p, "fix", r->fix, 0);
    more(&p, r->cause);
}
