/* A run's recompiles for a tired engineer: what, where, what it cost, what to do. Recompiles of one
 * cause are told once. */
#include "cli/account.h"
#include "cli/cache_miss.h"

#include "base/mem.h"
#include "cli/account_frameworks.h"
#include "cli/excerpt.h"
#include "cli/run_text.h"

#include <inttypes.h>

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

/* ---- causes ---- */

enum { VALUES = 5, CAUSES = 512 };

/* The recompiles of one class, function and origin line. */
struct cause {
    struct stet_recompile first; /* its text copied */
    uint64_t times, cost_ns, first_step, last_step;
    bool steps_known;
    struct stet_view values[VALUES]; /* that the first change took */
    size_t value_count, value_more;
};

struct causes {
    struct stet_arena arena;
    struct cause *items;
    size_t count;
    uint64_t beyond; /* recompiles of causes that did not fit */
};

static struct stet_view kept(struct causes *c, struct stet_view v)
{
    return v.ptr ? stet_arena_copy(&c->arena, v) : v;
}

static struct stet_line kept_line(struct causes *c, struct stet_line l)
{
    return (struct stet_line){kept(c, l.file), kept(c, l.function), l.line};
}

static void keep_first(struct causes *c, struct stet_recompile *to, const struct stet_recompile *r)
{
    struct stet_row_change *changes =
        STET_NEW_ARRAY(&c->arena, struct stet_row_change, r->change_count + 1);

    *to = *r;
    to->lane = kept(c, r->lane);
    to->class = kept(c, r->class);
    to->also = kept(c, r->also);
    to->function = kept(c, r->function);
    to->evidence = kept(c, r->evidence);
    to->sure = kept(c, r->sure);
    to->fix = kept(c, r->fix);
    to->origin = kept_line(c, r->origin);
    to->trigger = kept_line(c, r->trigger);
    to->changes = changes;
    to->change_count = changes ? r->change_count : 0;
    for (size_t i = 0; i < to->change_count; i++) {
        changes[i] = r->changes[i];
        changes[i].what = kept(c, r->changes[i].what);
        changes[i].from = kept(c, r->changes[i].from);
        changes[i].to = kept(c, r->changes[i].to);
        changes[i].file = kept(c, r->changes[i].file);
        changes[i].kind = kept(c, r->changes[i].kind);
        changes[i].follows = kept(c, r->changes[i].follows);
    }
}

static bool same_cause(const struct stet_recompile *a, const struct stet_recompile *b)
{
    return a->benign == b->benign && a->origin.line == b->origin.line &&
           stet_view_eq(a->class, b->class) && stet_view_eq(a->also, b->also) &&
           stet_view_eq(a->function, b->function) && stet_view_eq(a->lane, b->lane) &&
           stet_view_eq(a->origin.file, b->origin.file);
}

static void add_value(struct causes *c, struct cause *of, struct stet_view v)
{
    for (size_t i = 0; i < of->value_count; i++)
        if (stet_view_eq(of->values[i], v))
            return;
    if (of->value_count < VALUES)
        of->values[of->value_count++] = kept(c, v);
    else
        of->value_more++;
}

static bool gather(void *context, const struct stet_recompile *r)
{
    struct causes *c = context;
    struct cause *of = NULL;

    for (size_t i = c->count; i-- > 0 && !of;)
        if (same_cause(&c->items[i].first, r))
            of = &c->items[i];
    if (!of && c->count == CAUSES) {
        c->beyond++;
        return true;
    }
    if (!of) {
        of = &c->items[c->count++];
        keep_first(c, &of->first, r);
        of->steps_known = r->step_known;
        of->first_step = r->step;
        if (r->change_count && r->changes[0].from.len)
            add_value(c, of, r->changes[0].from);
    }
    of->times++;
    of->cost_ns += r->cost_ns;
    of->steps_known = of->steps_known && r->step_known;
    of->last_step = r->step;
    if (r->change_count && r->changes[0].to.len &&
        stet_view_eq(of->first.changes[0].what, r->changes[0].what))
        add_value(c, of, r->changes[0].to);
    return !c->arena.failed;
}

/* ---- saying it ---- */

static struct stet_view short_path(struct stet_view path)
{
    size_t slashes = 0;

    for (size_t i = path.len; i > 0; i--)
        if (path.ptr[i - 1] == '/' && ++slashes == 2)
            return stet_view_of(path.ptr + i, path.len - i);
    return path;
}

static void place(const struct pen *p, const char *label, const struct stet_line *at)
{
    size_t before;

    if (!at->line)
        return;
    stet_buf_printf(p->out, "  %s%-8s%s %s%.*s:%" PRIu64 "%s", p->dim, label, p->plain, p->cyan,
                    STET_FMT(short_path(at->file)), at->line, p->plain);
    if (at->function.len)
        stet_buf_printf(p->out, " in %.*s", STET_FMT(at->function));
    stet_buf_char(p->out, '\n');
    before = p->out->len;
    stet_buf_printf(p->out, "      %s%5" PRIu64 " |%s ", p->dim, at->line, p->plain);
    if (!stet_excerpt_line(p->out, at->file, (uint32_t)at->line))
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

static void values(const struct pen *p, const struct cause *c)
{
    if (c->value_count < 3)
        return;
    stet_buf_printf(p->out, "  %svalues%s   ", p->dim, p->plain);
    for (size_t i = 0; i < c->value_count; i++)
        stet_buf_printf(p->out, "%s%.*s", i ? ", " : "", STET_FMT(c->values[i]));
    stet_buf_printf(p->out, "%s\n", c->value_more ? ", …" : "");
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
    struct stet_view also = r->also;

    stet_buf_printf(p->out, "%s%.*s%s", p->bold, STET_FMT(r->class), p->plain);
    for (const char *with = " and "; also.len; with = ", ") {
        const char *blank = memchr(also.ptr, ' ', also.len);
        size_t n = blank ? (size_t)(blank - also.ptr) : also.len;

        stet_buf_printf(p->out, "%s%.*s", with, (int)n, also.ptr);
        n += blank != NULL;
        also = stet_view_of(also.ptr + n, also.len - n);
    }
    stet_buf_printf(p->out, ": %.*s compiled again", STET_FMT(r->function));
}

static void rest(const struct pen *p, const struct stet_recompile *r,
                 const struct stet_framework_log *log)
{
    struct stet_view why = log ? stet_log_why(log, r) : (struct stet_view){0};

    place(p, "origin", &r->origin);
    if (r->trigger.line != r->origin.line || !stet_view_eq(r->trigger.file, r->origin.file))
        place(p, "trigger", &r->trigger);
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

static void say_cause(const struct pen *p, const struct cause *c, bool all,
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
    stet_buf_str(p->out, ", ");
    stet_text_duration(p->out, c->cost_ns);
    stet_buf_printf(p->out, "%s\n", c->first.benign ? " (harmless)" : "");
    changes(p, &c->first, all, 4);
    values(p, c);
    rest(p, &c->first, log);
}

void stet_account_text_one(struct stet_buf *out, const struct stet_recompile *r, bool colour)
{
    struct pen p = pen_of(out, colour);

    stet_buf_str(out, "stet: ");
    title(&p, r);
    if (r->step_known)
        stet_buf_printf(out, " at step %" PRIu64, r->step);
    stet_buf_str(out, ", ");
    stet_text_duration(out, r->cost_ns);
    stet_buf_char(out, '\n');
    changes(&p, r, false, 1);
    place(&p, "origin", &r->origin);
    stet_buf_printf(out, "  %sfix%s      %.*s\n", p.dim, p.plain, STET_FMT(r->fix));
}

static void head(const struct pen *p, const struct stet_account *a, const struct stet_tally *t)
{
    stet_buf_printf(p->out, "%srun %s%s: ", p->bold, a->run, p->plain);
    if (a->totals.compiles || !t->torch) {
        stet_text_count(p->out, a->totals.compiles, "compile");
        stet_buf_str(p->out, ", ");
    } else {
        stet_buf_str(p->out, "torch.compile alone, ");
    }
    stet_text_count(p->out, t->alarms, "recompile");
    stet_buf_str(p->out, " (");
    stet_text_duration(p->out, t->lost_ns);
    stet_buf_str(p->out, " lost)");
    if (t->harmless)
        stet_buf_printf(p->out, ", %" PRIu64 " harmless", t->harmless);
    stet_buf_char(p->out, '\n');
    if (!a->totals.compiles && t->torch)
        ;
    else if (a->totals.settled)
        stet_buf_printf(p->out, "  settled at step %" PRIu64 " with %" PRIu64 " programs\n",
                        a->totals.settled_step, a->totals.programs);
    else
        stet_buf_printf(p->out, "  %" PRIu64 " programs, not settled: %.*s\n", a->totals.programs,
                        STET_FMT(a->totals.settled_why));
    for (int q = 0; q < STET_QUESTIONS; q++) {
        const struct stet_answer *answer = &t->answers[q];

        stet_buf_printf(p->out, "  %-46s %s%s%s", stet_question_text((enum stet_question)q),
                        answer->count ? p->red : p->green, answer->count ? "yes" : "no", p->plain);
        if (answer->count)
            stet_buf_printf(p->out, ", %" PRIu64 "× (%s)", answer->count, answer->class);
        stet_buf_char(p->out, '\n');
    }
    stet_counters_text(p->out, "  ", false, a->counters, a->counter_count);
    if (a->log)
        stet_log_text(p->out, "  ", a->log);
}

enum stet_rc stet_account_text(struct stet_buf *out, const struct stet_account *a,
                               const struct stet_tally *t, const struct stet_account_view *view,
                               struct stet_err *err)
{
    struct pen p = pen_of(out, view->colour);
    struct causes c = {.items = stet_mem_calloc(CAUSES, sizeof *c.items)};
    uint64_t hidden = 0;
    enum stet_rc rc =
        c.items ? STET_OK : stet_fail(err, STET_NO_MEMORY, "out of memory while printing");

    stet_arena_init(&c.arena, (size_t)256 << 20);
    if (rc == STET_OK)
        rc = a->each(a->source, gather, &c, err);
    if (rc == STET_OK) {
        head(&p, a, t);
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
            stet_buf_printf(out, "\n%" PRIu64 " recompiles of further causes (--format=json)\n",
                            c.beyond);
        if (a->misses)
            stet_misses_text(a->misses, out);
    }
    stet_arena_release(&c.arena);
    stet_mem_free(c.items);
    return rc;
}
