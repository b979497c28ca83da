/* Writes an account as a block of Markdown, to paste into an issue or a pull request. */
#include "session/account.h"

#include "base/human.h"
#include "base/mask.h"
#include "base/text.h"

#include <inttypes.h>

enum { LISTED = 10 };

/* Appends the text of a cell. A bar would end the cell, and markup would be rendered. */
static void cell(struct stet_buf *out, const char *text)
{
    stet_buf_char(out, ' ');
    for (; *text; text++) {
        if (strchr("|*_`<>[]~&\\", *text))
            stet_buf_char(out, '\\');
        stet_buf_char(out, *text == '\n' ? ' ' : *text);
    }
    stet_buf_str(out, " |");
}

static void functions(struct stet_buf *out, const struct stet_story *t)
{
    struct stet_buf text = STET_TEXT_INIT;
    size_t more = t->function_count + t->functions_more;

    if (more) {
        stet_buf_view(&text, t->functions[0]);
        if (more > 1)
            stet_buf_printf(&text, " and %zu more", more - 1);
    }
    cell(out, text.len ? text.ptr : "");
    stet_buf_release(&text);
}

static void row(struct stet_buf *out, const struct stet_story *t)
{
    struct stet_buf text = STET_TEXT_INIT;

    stet_buf_printf(out, "| %zu | `%s` |", t->count, stet_cause_id(t->cause));
    functions(out, t);
    if (t->source.line) {
        stet_buf_view(&text, stet_text_path(t->source.file));
        stet_buf_printf(&text, ":%" PRIu64, t->source.line);
    }
    cell(out, text.len ? text.ptr : "");
    stet_buf_release(&text);
    stet_text_duration(&text, t->wait_ns);
    cell(out, text.len ? text.ptr : "");
    stet_buf_release(&text);
    stet_mask_source(&text, t->lead.fix);
    cell(out, text.len ? text.ptr : "");
    stet_buf_release(&text);
    stet_buf_char(out, '\n');
}

/* The stories are sorted: the most expensive first, harmless ones last. */
static void rows(struct stet_buf *out, const struct stet_stories *s)
{
    size_t count = 0;

    while (count < s->count && !s->items[count].benign)
        count++;
    if (!count)
        return;
    stet_buf_str(
        out, "\n| times | cause | function | line | waited | fix |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < count && i < LISTED; i++)
        row(out, &s->items[i]);
    if (count > LISTED)
        stet_buf_printf(out, "\n%zu more: `stet explain`\n", count - LISTED);
}

static void answers(struct stet_buf *out, const struct stet_account_tally *t)
{
    for (int q = 0; q < STET_QUESTIONS; q++) {
        stet_buf_printf(out, "- %s %s", stet_cause_question_text((enum stet_cause_question)q),
                        stet_answer_yes(&t->answers[q]) ? "**yes**, " : "**no**");
        stet_answer_text(out, &t->answers[q]);
        stet_buf_char(out, '\n');
    }
}

enum stet_rc stet_account_markdown(struct stet_buf *out, const struct stet_account *a,
                                   const struct stet_account_tally *t, struct stet_err *err)
{
    stet_buf_str(out, "### Stet: ");
    stet_account_kinds(out, t->events);
    if (t->alarms) {
        stet_buf_str(out, ", waited ");
        stet_text_duration(out, t->wait_ns);
    }
    stet_buf_printf(out, "\n\nRun `%s`: ", a->run);
    stet_text_count(out, a->totals.compiles + a->torch_compiles, "compile");
    if (t->harmless) {
        stet_buf_str(out, ", ");
        stet_text_count(out, t->harmless, "harmless recompile");
    }
    stet_buf_str(out, ".\n\n");
    answers(out, t);
    rows(out, a->stories);
    return out->failed ? stet_fail(err, STET_NO_MEMORY, "out of memory while printing") : STET_OK;
}
