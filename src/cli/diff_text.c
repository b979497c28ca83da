/* Prints the class, then the facets, then each change with its source line. */
#include "cli/diff_text.h"

#include "base/excerpt.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/run_text.h"
#include "explain/words.h"
#include "session/place_json.h"

#define BOLD(v)  stet_pen(STET_PEN_BOLD, (v)->colour)
#define RED(v)   stet_pen(STET_PEN_RED, (v)->colour)
#define GREEN(v) stet_pen(STET_PEN_GREEN, (v)->colour)
#define DIM(v)   stet_pen(STET_PEN_DIM, (v)->colour)
#define PLAIN(v) stet_pen(STET_PEN_PLAIN, (v)->colour)

static void print_head(struct stet_buf *out, const struct stet_diff *d,
                       const struct stet_diff_view *v)
{
    stet_buf_printf(out, "%s%s%s: %s\n", BOLD(v), stet_cause_id(d->cause), PLAIN(v),
                    stet_cause_about(d->cause));
    for (uint32_t i = 0; i < d->also_count; i++)
        stet_buf_printf(out, "also %s%s%s: %s\n", BOLD(v), stet_cause_id(d->also[i]), PLAIN(v),
                        stet_cause_about(d->also[i]));
}

static void print_facets(struct stet_buf *out, const struct stet_diff *d,
                         const struct stet_diff_view *v)
{
    bool any = false;

    stet_buf_str(out, "facets moved:");
    for (unsigned f = 0; f < STET_FACETS; f++) {
        if (!(d->moved >> f & 1))
            continue;
        stet_buf_printf(out, "%s %s", any ? "," : "", stet_facet_name((enum stet_facet)f));
        if (d->follows[f] != STET_NO_FACET)
            stet_buf_printf(out, "%s (follows %s)%s", DIM(v),
                            stet_facet_name((enum stet_facet)d->follows[f]), PLAIN(v));
        any = true;
    }
    stet_buf_printf(out, "%s; structure %s\n", any ? "" : " none",
                    d->same_skeleton ? "the same" : "differs");
}

static const char *mark_of(const struct stet_change *c)
{
    static const char *const marks[] = {
        [STET_SIDE_BOTH] = "~", [STET_SIDE_CAME] = "+", [STET_SIDE_WENT] = "-"};

    return marks[stet_cause_change_side(c->kind)];
}

static void print_values(struct stet_buf *out, const struct stet_change *c,
                         const struct stet_diff_view *v)
{
    if (c->from.ptr)
        stet_buf_printf(out, "  %s%.*s%s", RED(v), STET_FMT(c->from), PLAIN(v));
    if (c->from.ptr && c->to.ptr)
        stet_buf_str(out, " ->");
    if (c->to.ptr)
        stet_buf_printf(out, "%s%s%.*s%s", c->from.ptr ? " " : "  ", GREEN(v), STET_FMT(c->to),
                        PLAIN(v));
    if (c->count > 1)
        stet_buf_printf(out, "  %s(%u places)%s", DIM(v), c->count, PLAIN(v));
    if (c->follows != STET_NO_FACET)
        stet_buf_printf(out, "  %s(follows %s)%s", DIM(v),
                        stet_facet_name((enum stet_facet)c->follows), PLAIN(v));
}

static void print_line(struct stet_buf *out, const struct stet_diff_view *v, const char *side,
                       struct stet_view file, uint32_t line, struct stet_view function)
{
    size_t before;

    stet_buf_printf(out, "      %s%s%.*s:%u", DIM(v), side, STET_FMT(stet_path_base(file)), line);
    if (function.len)
        stet_buf_printf(out, " in %.*s", STET_FMT(function));
    stet_buf_str(out, PLAIN(v));
    before = out->len;
    stet_buf_str(out, "  | ");
    if (!stet_text_source(out, file, line))
        out->len = before;
    stet_buf_char(out, '\n');
}

/* Prints the source line; prints both lines when the other program's source has it elsewhere. */
static void print_source(struct stet_buf *out, const struct stet_change *c,
                         const struct stet_diff_view *v)
{
    const char *side = c->line_in_a ? "B " : "";

    if (c->line_in_a)
        print_line(out, v, "A ", c->file_in_a, c->line_in_a, (struct stet_view){0});
    print_line(out, v, side, c->file, c->line, c->function);
}

static void print_change(struct stet_buf *out, const struct stet_change *c,
                         const struct stet_diff_view *v)
{
    const char *mark = mark_of(c);
    char what[STET_WORDS_MOST];

    stet_buf_printf(out, "  %s%s%s %.*s",
                    *mark == '+'   ? GREEN(v)
                    : *mark == '-' ? RED(v)
                                   : "",
                    mark, PLAIN(v), STET_FMT(stet_words_subject(what, c->kind, &c->of)));
    print_values(out, c, v);
    stet_buf_char(out, '\n');
    if (c->line)
        print_source(out, c, v);
}

enum { SHOWN = 40 };

void stet_cli_diff_text(struct stet_buf *out, const struct stet_diff *d,
                        const struct stet_diff_view *view)
{
    uint32_t shown = 0, hidden = 0;

    print_head(out, d, view);
    if (d->cause == STET_CAUSE_IDENTICAL)
        return;
    print_facets(out, d, view);
    for (uint32_t i = 0; i < d->change_count; i++) {
        bool cause = d->changes[i].follows == STET_NO_FACET;

        if (!view->all && (!cause || shown >= SHOWN)) {
            hidden++;
            continue;
        }
        print_change(out, &d->changes[i], view);
        shown++;
    }
    if (hidden || d->left_out)
        stet_buf_printf(out, "  %s%u more (--all lists them)%s\n", DIM(view), hidden + d->left_out,
                        PLAIN(view));
    if (d->same_key) /* the operations were not compared one by one */
        return;
    stet_buf_printf(out, "%s%u operations unchanged, %u added, %u removed%s\n", DIM(view),
                    d->ops_matched, d->ops_came, d->ops_went, PLAIN(view));
}

/* ---- JSON ---- */

static void json_change(struct stet_json *j, const struct stet_change *c)
{
    char what[STET_WORDS_MOST];

    stet_json_object(j, NULL);
    stet_json_string(j, "what", stet_words_subject(what, c->kind, &c->of));
    stet_json_told(j, "from", c->from);
    stet_json_told(j, "to", c->to);
    stet_session_place_json(j, c->file, c->line);
    if (c->line && c->column)
        stet_json_uint(j, "column", c->column);
    if (c->line_in_a) {
        stet_json_string(j, "file_a", c->file_in_a);
        stet_json_uint(j, "line_a", c->line_in_a);
    }
    if (c->function.len)
        stet_json_string(j, "function", c->function);
    stet_json_cstr(j, "kind", stet_cause_change_id(c->kind));
    if (c->facet < STET_FACETS)
        stet_json_cstr(j, "facet", stet_facet_name((enum stet_facet)c->facet));
    if (c->follows < STET_FACETS)
        stet_json_cstr(j, "follows", stet_facet_name((enum stet_facet)c->follows));
    if (c->op.len)
        stet_json_string(j, "op", c->op);
    stet_json_cstr(j, "program", c->line_of_a ? "a" : "b");
    stet_json_uint(j, "count", c->count);
    stet_json_end_object(j);
}

static void json_facets(struct stet_json *j, const struct stet_diff *d)
{
    stet_json_object(j, "facets");
    for (unsigned f = 0; f < STET_FACETS; f++)
        stet_json_cstr(j, stet_facet_name((enum stet_facet)f),
                       d->moved >> f & 1 ? "moved" : "same");
    stet_json_end_object(j);
    stet_json_object(j, "follows");
    for (unsigned f = 0; f < STET_FACETS; f++)
        if (d->follows[f] != STET_NO_FACET)
            stet_json_cstr(j, stet_facet_name((enum stet_facet)f),
                           stet_facet_name((enum stet_facet)d->follows[f]));
    stet_json_end_object(j);
}

void stet_cli_diff_json(struct stet_buf *out, const struct stet_diff *d,
                        const struct stet_diff_view *view)
{
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.diff/1");
    stet_json_cstr(&j, "a", view->a->path);
    stet_json_cstr(&j, "b", view->b->path);
    stet_json_cstr(&j, "class", stet_cause_id(d->cause));
    stet_json_array(&j, "also");
    for (uint32_t i = 0; i < d->also_count; i++)
        stet_json_cstr(&j, NULL, stet_cause_id(d->also[i]));
    stet_json_end_array(&j);
    stet_json_bool(&j, "same_skeleton", d->same_skeleton);
    json_facets(&j, d);
    stet_json_array(&j, "changes");
    for (uint32_t i = 0; i < d->change_count; i++)
        json_change(&j, &d->changes[i]);
    stet_json_end_array(&j);
    stet_json_uint(&j, "changes_left_out", d->left_out);
    stet_json_object(&j, "operations");
    stet_json_uint(&j, "matched", d->ops_matched);
    stet_json_uint(&j, "came", d->ops_came);
    stet_json_uint(&j, "went", d->ops_went);
    stet_json_end_object(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}
