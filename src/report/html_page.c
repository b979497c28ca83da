/* Fills the page's template: the content security policy, the headline, the data. */
#include "report/html_page.h"

#include "base/excerpt.h"
#include "base/human.h"
#include "base/path.h"
#include "base/text.h"
#include "story/story_text.h"

#include "report_app.h"
#include "report_base.h"
#include "report_css.h"
#include "report_hashes.h"
#include "report_html.h"
#include "report_sections.h"
#include "report_tables.h"
#include "report_timeline.h"
#include "stet_version.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

void stet_html_page_text(struct stet_buf *out, struct stet_view text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;

    for (size_t i = 0; i < text.len;) {
        size_t n = stet_utf8_length(p + i, text.len - i);

        if (n == 0 || (p[i] < 0x20 && p[i] != '\n' && p[i] != '\t') || p[i] == 0x7f)
            stet_buf_str(out, "\xef\xbf\xbd");
        else if (p[i] == '<')
            stet_buf_str(out, "&lt;");
        else if (p[i] == '>')
            stet_buf_str(out, "&gt;");
        else if (p[i] == '&')
            stet_buf_str(out, "&amp;");
        else if (p[i] == '"')
            stet_buf_str(out, "&quot;");
        else if (p[i] == '\'')
            stet_buf_str(out, "&#39;");
        else
            stet_buf_add(out, p + i, n);
        i += n ? n : 1;
    }
}

static void html_cstr(struct stet_buf *out, const char *text)
{
    stet_html_page_text(out, stet_view_str(text ? text : ""));
}

/* ---- the policy ---- */

static unsigned nibble(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* 'sha256-<base64>' of 64 hex digits. */
static void add_hash(struct stet_buf *out, const char *hex)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    stet_buf_str(out, " 'sha256-");
    for (int i = 0; i < 33; i += 3) {
        unsigned bits = 0;

        for (int k = i; k < i + 3; k++)
            bits = bits << 8 | (k < 32 ? nibble(hex[2 * k]) << 4 | nibble(hex[2 * k + 1]) : 0);
        for (int k = 0; k < 4; k++)
            stet_buf_char(out, i == 30 && k == 3 ? '=' : digits[bits >> (18 - 6 * k) & 63]);
    }
    stet_buf_char(out, '\'');
}

static void policy(struct stet_buf *out)
{
    static const char *const scripts[] = {PAGE_BASE_SHA256, PAGE_TIMELINE_SHA256,
                                          PAGE_SECTIONS_SHA256, PAGE_TABLES_SHA256,
                                          PAGE_APP_SHA256};

    stet_buf_str(out, "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
                      "style-src");
    add_hash(out, PAGE_CSS_SHA256);
    stet_buf_str(out, "; script-src");
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        add_hash(out, scripts[i]);
}

/* ---- the headline ---- */

static void count(struct stet_buf *out, uint64_t n, const char *what)
{
    stet_buf_printf(out, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

/* A number stays with its unit. */
static void duration(struct stet_buf *out, uint64_t ns)
{
    stet_buf_str(out, "<span class=\"time\">");
    stet_text_duration(out, ns);
    stet_buf_str(out, "</span>");
}

/* "train_step and 2 more" */
static void functions(struct stet_buf *out, const struct stet_story *t)
{
    struct stet_buf names = STET_TEXT_INIT;

    stet_story_text_names(&names, t);
    stet_html_page_text(out, stet_view_of(names.ptr, names.len));
    stet_buf_release(&names);
}

/* Files are named from the folder on in which the run was started, wherever the page is made. */
static void place(struct stet_buf *out, const struct stet_report_run *r, const struct stet_line *at)
{
    struct stet_view file = stet_path_below(at->file, r->run->cwd);

    if (!at->line)
        return;
    stet_buf_str(out, " <code>");
    stet_html_page_text(out, file.len < at->file.len ? file : stet_text_path(file));
    stet_buf_printf(out, ":%" PRIu64 "</code>", at->line);
}

/* The most expensive story, or NULL if nothing is to be mended. */
static const struct stet_story *culprit_of(const struct stet_report_run *r)
{
    return r->stories.count && !r->stories.items[0].benign ? &r->stories.items[0] : NULL;
}

/* "6× static-argument in train_step, train.py:49, waited 453 ms" */
static void story(struct stet_buf *out, const struct stet_report_run *r, const struct stet_story *t)
{
    stet_buf_printf(out, "%zu× ", t->count);
    html_cstr(out, stet_cause_id(t->cause));
    stet_buf_str(out, " in ");
    functions(out, t);
    stet_buf_str(out, t->source.line ? "," : "");
    place(out, r, &t->source);
    stet_buf_str(out, ", waited ");
    duration(out, t->wait_ns);
}

/* The first difference between ranks that must not be, or NULL: it comes before every recompile. */
static const struct stet_divergence *difference_of(const struct stet_report_run *r)
{
    return r->divergences.count && r->divergences.items[0].certain ? &r->divergences.items[0]
                                                                   : NULL;
}

/* The line that makes the ranks differ, or where the rank is that has not come. */
static const struct stet_line *line_of(const struct stet_divergence *d)
{
    if (d->finding != STET_AGREEMENT_DIFFERS)
        return &d->other_at;
    return d->pair.source.line ? &d->pair.source : &d->pair.origin;
}

static void difference(struct stet_buf *out, const struct stet_report_run *r,
                       const struct stet_divergence *d)
{
    if (d->finding == STET_AGREEMENT_DIFFERS) {
        stet_buf_printf(out, "Rank %" PRId64 " compiled a different ", d->rank);
        stet_html_page_text(out, d->function);
        stet_buf_printf(out, " than rank %" PRId64, d->other);
    } else {
        stet_buf_printf(out, "Rank %" PRIu64,
                        d->missing_listed ? d->missing[0] : (uint64_t)d->other);
        if (d->missing_count > 1)
            stet_buf_printf(out, " and %" PRIu64 " more", d->missing_count - 1);
        stet_buf_str(out, " did not reach ");
        stet_html_page_text(out, d->function);
    }
    place(out, r, line_of(d));
}

/* The headline: a difference between ranks; else cause, function, line and wait of the most
 * expensive story. */
static void verdict(struct stet_buf *out, const struct stet_report_run *r)
{
    const struct stet_divergence *d = difference_of(r);
    const struct stet_story *t = culprit_of(r);

    if (d) {
        difference(out, r, d);
    } else if (t) {
        story(out, r, t);
    } else if (r->compiles || r->torch_compiles) {
        stet_buf_str(out, "Nothing was compiled again");
        if (r->harmless)
            stet_buf_str(out, " except in warm-up");
    } else {
        stet_buf_str(out, "Nothing was compiled");
    }
}

static void tile(struct stet_buf *out, const char *name, const char *value)
{
    stet_buf_printf(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

static void tile_count(struct stet_buf *out, const char *name, uint64_t n)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, n);
    tile(out, name, text);
}

static void tile_time(struct stet_buf *out, const char *name, uint64_t ns)
{
    stet_buf_printf(out, "<div><dt>%s</dt><dd>", name);
    stet_text_duration(out, ns);
    stet_buf_str(out, "</dd></div>\n");
}

static void tile_share(struct stet_buf *out, const struct stet_report_run *r)
{
    uint32_t processes;
    double share = stet_report_share(r, &processes);
    char text[16];

    if (share < 0)
        return;
    snprintf(text, sizeof text, share < 0.01 ? "%.1f %%" : "%.0f %%", 100 * share);
    tile(out, processes > 1 ? "of the time of its processes" : "of the run\xe2\x80\x99s time",
         text);
}

/* What all findings cost, and what was saved. */
static void tiles(struct stet_buf *out, const struct stet_report_run *r)
{
    if (!r->alarms && !r->avoided.compiles)
        return;
    stet_buf_str(out, "<dl class=\"tiles\">\n");
    if (r->recompiles)
        tile_count(out, "recompiles in all", r->recompiles);
    if (r->alarms > r->recompiles)
        tile_count(out, "other findings", r->alarms - r->recompiles);
    if (r->alarms) {
        tile_time(out, "waited for them", r->wait_ns);
        tile_share(out, r);
    }
    if (stet_avoided_ns(&r->avoided))
        tile_time(out, "saved by Stet", stet_avoided_ns(&r->avoided));
    stet_buf_str(out, "</dl>\n");
}

/* "10 compiles, 3 ms in the compiler; 10 programs; settled at step 8" */
static void in_short(struct stet_buf *out, const struct stet_report_run *r)
{
    uint64_t lifted = r->served[STET_SERVED_LIFTED].compiles;

    stet_buf_str(out, "<p class=\"what\">");
    count(out, r->compiles + r->torch_compiles, "compile");
    stet_buf_str(out, ", ");
    duration(out, r->compile_ns + r->torch_ns);
    stet_buf_str(out, " in the compiler");
    if (r->compiles) {
        stet_buf_str(out, "; ");
        count(out, r->distinct, "program");
    }
    if (r->avoided.compiles > lifted)
        stet_buf_printf(out, "; %" PRIu64 " came from the store", r->avoided.compiles - lifted);
    if (lifted)
        stet_buf_printf(out, "; %" PRIu64 " lifted", lifted);
    if (r->settled && r->compiles)
        stet_buf_printf(out, "; settled at step %" PRIu64, r->settled_step);
    else if (r->compiles && r->unsettled == STET_UNSETTLED_COMPILING)
        stet_buf_str(out, "; still compiling when it ended");
    stet_buf_str(out, "</p>\n");
}

static void questions(struct stet_buf *out, const struct stet_report_run *r)
{
    stet_buf_str(out, "<ul class=\"questions\">\n");
    for (int i = 0; i < STET_REPORT_QUESTIONS; i++) {
        const struct stet_report_question *q = &r->questions[i];

        bool yes = stet_answer_yes(&q->answer);

        stet_buf_printf(out, "<li><span class=\"answer %s\">%s</span><span>", yes ? "bad" : "good",
                        yes ? "yes" : "no");
        html_cstr(out, q->text);
        stet_buf_char(out, ' ');
        stet_answer_text(out, &q->answer);
        if (yes) {
            stet_buf_str(out, "<small>");
            html_cstr(out, q->answer.evidence);
            stet_buf_str(out, "</small>");
        }
        stet_buf_str(out, "</span></li>\n");
    }
    stet_buf_str(out, "</ul>\n");
}

static void outcome(struct stet_buf *out, const struct stet_run *run)
{
    time_t at = (time_t)(run->started_ns / 1000000000u);
    struct tm utc;
    char when[40];

    gmtime_r(&at, &utc);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &utc);
    stet_buf_printf(out, "%s", when);
    if (run->host[0]) {
        stet_buf_str(out, " on ");
        html_cstr(out, run->host);
    }
    if (run->signal)
        stet_buf_printf(out, ", ended by signal %d", run->signal);
    else if (run->exit_code > 0)
        stet_buf_printf(out, ", exit %d", run->exit_code);
    else if (!run->ended_ns)
        stet_buf_str(out, ", running or cut off");
}

/* The text of the line, without its indentation. */
static void source_line(struct stet_buf *out, const struct stet_line *at)
{
    struct stet_buf line = STET_BUF_INIT;
    size_t from = 0;

    if (at->line && at->line < UINT32_MAX &&
        stet_text_source(&line, at->file, (uint32_t)at->line)) {
        while (from < line.len && line.ptr[from] == ' ')
            from++;
        stet_buf_str(out, "<code class=\"source\">");
        stet_html_page_text(out, stet_view_of(line.ptr + from, line.len - from));
        stet_buf_str(out, "</code>");
    }
    stet_buf_release(&line);
}

enum { NEXT = 3 };

/* The causes that the headline does not name, a line each: from story `first` on. */
static void next_causes(struct stet_buf *out, const struct stet_report_run *r, size_t first)
{
    size_t end = first;

    while (end < r->stories.count && !r->stories.items[end].benign)
        end++;
    for (size_t i = first; i < end && i < first + NEXT; i++) {
        stet_buf_str(out, i > first ? "<br><small>" : "<br><small>Next: ");
        story(out, r, &r->stories.items[i]);
        stet_buf_str(out, "</small>");
    }
    if (end > first + NEXT)
        stet_buf_printf(out, "<small>; and %zu more</small>", end - first - NEXT);
}

/* The line to edit and the fix of what the headline names. */
static void culprit(struct stet_buf *out, const struct stet_report_run *r)
{
    const struct stet_divergence *d = difference_of(r);
    const struct stet_story *t = culprit_of(r);

    if (!d && !t)
        return;
    stet_buf_str(out, "<p class=\"culprit\">");
    source_line(out, d ? line_of(d) : &t->source);
    if (!d || d->finding == STET_AGREEMENT_DIFFERS) {
        stet_buf_str(out, "<span class=\"fix\"><b>Fix: </b>");
        stet_html_page_text(out, d ? stet_view_str(stet_divergence_fix(d)) : t->lead.fix);
        stet_buf_printf(out, " <code class=\"more\">stet help %s</code></span>",
                        stet_cause_id(d ? STET_CAUSE_RANK_DIVERGENCE : t->cause));
    }
    next_causes(out, r, d ? 0 : 1);
    stet_buf_str(out, "</p>\n");
}

static void head(struct stet_buf *out, const struct stet_report_run *r, const char *letter)
{
    stet_buf_str(out, "<section class=\"head\" aria-label=\"");
    stet_buf_printf(out, "%sthe run in short\"><p class=\"what\"><code>", letter);
    html_cstr(out, r->run->command);
    stet_buf_str(out, "</code> · ");
    html_cstr(out, r->run->id);
    stet_buf_str(out, ", ");
    outcome(out, r->run);
    stet_buf_str(out, "</p>\n<h1>");
    if (letter[0])
        stet_buf_printf(out, "<span class=\"muted\">%s</span>", letter);
    verdict(out, r);
    stet_buf_str(out, "</h1>\n");
    culprit(out, r);
    tiles(out, r);
    in_short(out, r);
    questions(out, r);
    stet_buf_str(out, "</section>\n");
}

/* ---- all of it ---- */

/* A data block ends at "</script", and "<!--" changes how it is parsed, so '<' is escaped. In JSON
 * it can only be in a string. */
static void data(struct stet_buf *out, struct stet_view json)
{
    while (json.len) {
        const char *at = memchr(json.ptr, '<', json.len);
        size_t n = at ? (size_t)(at - json.ptr) : json.len;

        stet_buf_add(out, json.ptr, n);
        if (at)
            stet_buf_str(out, "\\u003c");
        n += at != NULL;
        json = stet_view_of(json.ptr + n, json.len - n);
    }
}

struct filling {
    const struct stet_report_run *const *runs;
    size_t count;
    struct stet_view json;
};

static void fill(struct stet_buf *out, struct stet_view slot, const struct filling *f)
{
    static const char *const letters[] = {"A: ", "B: "};

    if (stet_view_is(slot, "policy"))
        policy(out);
    else if (stet_view_is(slot, "title")) {
        stet_buf_str(out, "Stet: ");
        html_cstr(out, f->runs[0]->run->command);
    } else if (stet_view_is(slot, "css"))
        stet_buf_str(out, page_css);
    else if (stet_view_is(slot, "head"))
        for (size_t i = 0; i < f->count; i++)
            head(out, f->runs[i], f->count > 1 ? letters[i & 1] : "");
    else if (stet_view_is(slot, "foot"))
        stet_buf_str(out, "Made by Stet " STET_VERSION
                          ". This file needs no network and sends nothing anywhere.");
    else if (stet_view_is(slot, "data"))
        data(out, f->json);
    else if (stet_view_is(slot, "base"))
        stet_buf_str(out, page_base);
    else if (stet_view_is(slot, "timeline"))
        stet_buf_str(out, page_timeline);
    else if (stet_view_is(slot, "sections"))
        stet_buf_str(out, page_sections);
    else if (stet_view_is(slot, "tables"))
        stet_buf_str(out, page_tables);
    else if (stet_view_is(slot, "app"))
        stet_buf_str(out, page_app);
}

void stet_report_page(struct stet_buf *out, const struct stet_report_run *const *runs, size_t count,
                      struct stet_view json)
{
    const struct filling f = {runs, count, json};
    const char *at = page_html, *slot, *end;

    while ((slot = strstr(at, "{{")) && (end = strstr(slot, "}}"))) {
        stet_buf_add(out, at, (size_t)(slot - at));
        fill(out, stet_view_of(slot + 2, (size_t)(end - slot - 2)), &f);
        at = end + 2;
    }
    stet_buf_str(out, at);
}
