/* Writes an account as a block of Markdown, to paste into an issue or a pull request. */
#include "session/account.h"

#include "base/human.h"
#include "base/mask.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST = 64, LISTED = 10 };

struct group {
    enum stet_cause cause;
    char function[96], file[256], fix[600];
    uint64_t line, times, wait_ns;
};

struct groups {
    struct group items[MOST];
    size_t count, left_out;
};

static bool gather(void *context, const struct stet_recompile *r)
{
    const struct stet_line *at = r->source.line ? &r->source : &r->origin;
    struct groups *g = context;
    struct group one = {.cause = r->cause, .line = at->line, .times = 1, .wait_ns = r->wait_ns};

    if (r->benign)
        return true;
    snprintf(one.function, sizeof one.function, "%.*s", STET_FMT(r->function));
    snprintf(one.file, sizeof one.file, "%.*s", STET_FMT(stet_text_path(at->file)));
    snprintf(one.fix, sizeof one.fix, "%.*s", STET_FMT(r->fix));
    for (size_t i = 0; i < g->count; i++) {
        struct group *o = &g->items[i];

        if (o->cause == one.cause && o->line == one.line && !strcmp(o->file, one.file) &&
            !strcmp(o->function, one.function)) {
            o->times++;
            o->wait_ns += one.wait_ns;
            return true;
        }
    }
    if (g->count < MOST)
        g->items[g->count++] = one;
    else
        g->left_out++;
    return true;
}

/* Appends the text of a cell. A bar would end the cell, and markup would be rendered. */
static void cell(struct stet_buf *out, const char *text)
{
    stet_buf_char(out, ' ');
    for (; *text; text++) {
        if (strchr("|*_`<>[]\\", *text))
            stet_buf_char(out, '\\');
        stet_buf_char(out, *text == '\n' ? ' ' : *text);
    }
    stet_buf_str(out, " |");
}

static void row(struct stet_buf *out, const struct group *g)
{
    struct stet_buf text = STET_TEXT_INIT;

    stet_buf_printf(out, "| %" PRIu64 " | `%s` |", g->times, stet_cause_id(g->cause));
    cell(out, g->function);
    if (g->line)
        stet_buf_printf(&text, "%s:%" PRIu64, g->file, g->line);
    cell(out, text.len ? text.ptr : "");
    stet_buf_release(&text);
    stet_text_duration(&text, g->wait_ns);
    cell(out, text.len ? text.ptr : "");
    stet_buf_release(&text);
    stet_mask_source(&text, stet_view_str(g->fix));
    cell(out, text.len ? text.ptr : "");
    stet_buf_release(&text);
    stet_buf_char(out, '\n');
}

static void rows(struct stet_buf *out, struct groups *g)
{
    size_t left = g->count;

    stet_buf_str(
        out, "\n| times | cause | function | line | waited | fix |\n|---|---|---|---|---|---|\n");
    for (size_t n = 0; n < LISTED && left; n++, left--) {
        struct group *best = NULL;

        for (size_t i = 0; i < g->count; i++)
            if (g->items[i].times && (!best || g->items[i].wait_ns > best->wait_ns))
                best = &g->items[i];
        row(out, best);
        best->times = 0;
    }
    if (left + g->left_out)
        stet_buf_printf(out, "\n%zu more: `stet explain`\n", left + g->left_out);
}

static void answers(struct stet_buf *out, const struct stet_account_tally *t)
{
    for (int q = 0; q < STET_QUESTIONS; q++) {
        stet_buf_printf(out, "- %s **%s**", stet_cause_question_text((enum stet_cause_question)q),
                        t->answers[q].count ? "yes" : "no");
        if (t->answers[q].count)
            stet_buf_printf(out, ", %" PRIu64 "× (`%s`)", t->answers[q].count,
                            stet_cause_id(t->answers[q].cause));
        stet_buf_char(out, '\n');
    }
}

enum stet_rc stet_account_markdown(struct stet_buf *out, const struct stet_account *a,
                                   const struct stet_account_tally *t, struct stet_err *err)
{
    static struct groups g;
    enum stet_rc rc;

    g = (struct groups){0};
    rc = a->each(a->source, gather, &g, err);
    if (rc != STET_OK)
        return rc;
    stet_buf_str(out, "### Stet: ");
    stet_text_count(out, t->alarms, "recompile");
    if (t->alarms) {
        stet_buf_str(out, ", waited ");
        stet_text_duration(out, t->wait_ns);
    }
    stet_buf_printf(out, "\n\nRun `%s`: ", a->run);
    stet_text_count(out, a->totals.compiles + a->torch_compiles, "compile");
    stet_buf_str(out, ", ");
    stet_text_count(out, t->harmless, "harmless recompile");
    stet_buf_str(out, ".\n\n");
    answers(out, t);
    if (g.count)
        rows(out, &g);
    return out->failed ? stet_fail(err, STET_NO_MEMORY, "out of memory while printing") : STET_OK;
}
