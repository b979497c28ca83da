/* Prints the summary of a program as text. */
#include "cli/show.h"

#include "base/excerpt.h"
#include "base/text.h"
#include "cli/run_text.h"
#include "explain/words.h"

enum { CUT = 12 };

static void head(struct stet_buf *out, const struct stet_show_options *o, const char *title,
                 uint32_t count)
{
    stet_buf_printf(out, "\n%s%s%s (%u)\n", stet_pen(STET_PEN_BOLD, o->colour), title,
                    stet_pen(STET_PEN_PLAIN, o->colour), count);
}

/* Returns how many of `count` rows to print; the number of the others is printed. */
static uint32_t rows(const struct stet_show_options *o, uint32_t count)
{
    return o->all || count <= CUT + 3 ? count : CUT;
}

static void rest(struct stet_buf *out, uint32_t count, uint32_t shown)
{
    if (shown < count)
        stet_buf_printf(out, "  … %u more (--all lists them)\n", count - shown);
}

static void pad(struct stet_buf *out, size_t start, size_t width)
{
    while (out->len < start + width && !out->failed)
        stet_buf_char(out, ' ');
}

static void line_text(struct stet_buf *out, const struct stet_loc *loc)
{
    const struct stet_loc *file = stet_loc_file(loc);
    struct stet_view function = stet_loc_function(loc);

    if (!file)
        return;
    stet_buf_printf(out, "  %.*s:%u", STET_FMT(file->text), file->line);
    if (function.len)
        stet_buf_printf(out, " in %.*s", STET_FMT(function));
}

static void arguments(struct stet_buf *out, const struct stet_session_stats *s,
                      const struct stet_show_options *o)
{
    const struct stet_program *p = s->side.program;
    uint32_t shown = rows(o, p->argument_count);

    head(out, o, "arguments", p->argument_count);
    for (uint32_t i = 0; i < shown; i++) {
        const struct stet_argument *a = &p->arguments[i];
        size_t start = out->len;

        stet_buf_printf(out, "  %3u  %.*s", i, STET_FMT(a->name));
        pad(out, start, 34);
        stet_buf_char(out, ' ');
        stet_words_type(out, a->value->type);
        if (a->alias >= 0)
            stet_buf_printf(out, "  donated to output %d", a->alias);
        else if (a->donor)
            stet_buf_str(out, "  donated");
        if (a->sharding) {
            stet_buf_str(out, "  sharding ");
            stet_words_attr(out, a->sharding);
        }
        stet_buf_char(out, '\n');
    }
    rest(out, p->argument_count, shown);
}

static void outputs(struct stet_buf *out, const struct stet_session_stats *s,
                    const struct stet_show_options *o)
{
    const struct stet_program *p = s->side.program;
    uint32_t shown = rows(o, p->output_count);

    head(out, o, "outputs", p->output_count);
    for (uint32_t i = 0; i < shown; i++) {
        size_t start = out->len;

        stet_buf_printf(out, "  %3u  %.*s", i, STET_FMT(p->outputs[i].name));
        pad(out, start, 34);
        stet_buf_char(out, ' ');
        stet_words_type(out, p->outputs[i].type);
        if (p->outputs[i].sharding) {
            stet_buf_str(out, "  sharding ");
            stet_words_attr(out, p->outputs[i].sharding);
        }
        stet_buf_char(out, '\n');
    }
    rest(out, p->output_count, shown);
}

static void operations(struct stet_buf *out, const struct stet_session_stats *s,
                       const struct stet_show_options *o)
{
    uint32_t shown = rows(o, s->op_kinds);

    head(out, o, "kinds of operations", s->op_kinds);
    for (uint32_t i = 0; i < shown; i++)
        stet_buf_printf(out, "  %6u  %.*s\n", s->ops[i].count, STET_FMT(s->ops[i].text));
    rest(out, s->op_kinds, shown);
}

static void constants(struct stet_buf *out, const struct stet_session_stats *s,
                      const struct stet_show_options *o)
{
    uint32_t shown = rows(o, s->constant_count);

    head(out, o, "constants", s->constant_count);
    for (uint32_t i = 0; i < shown; i++) {
        const struct stet_session_stats_constant *c = &s->constants[i];
        size_t start = out->len;

        stet_buf_str(out, "  ");
        stet_words_type(out, c->op->results[0].type);
        pad(out, start, 16);
        stet_buf_char(out, ' ');
        stet_words_attr(out, c->value);
        pad(out, start, 40);
        stet_buf_printf(out, " used %u×", c->uses);
        if (c->user) {
            stet_buf_printf(out, ", first by %.*s", STET_FMT(stet_words_mnemonic(c->user)));
            line_text(out, c->user->loc);
        }
        stet_buf_char(out, '\n');
    }
    rest(out, s->constant_count, shown);
}

static void lines(struct stet_buf *out, const struct stet_session_stats *s,
                  const struct stet_show_options *o)
{
    uint32_t shown = rows(o, s->line_count);

    if (!s->line_count)
        return;
    head(out, o, "source lines", s->line_count);
    for (uint32_t i = 0; i < shown; i++) {
        const struct stet_session_stats_count *l = &s->lines[i];
        size_t before;

        stet_buf_printf(out, "  %6u  %.*s:%u", l->count, STET_FMT(l->text), l->line);
        if (l->function.len)
            stet_buf_printf(out, " in %.*s", STET_FMT(l->function));
        before = out->len;
        stet_buf_str(out, "  | ");
        if (!stet_text_source(out, l->text, l->line))
            out->len = before;
        stet_buf_char(out, '\n');
    }
    rest(out, s->line_count, shown);
}

static void repeats(struct stet_buf *out, const struct stet_session_stats *s,
                    const struct stet_show_options *o)
{
    if (!s->repeat_count)
        return;
    head(out, o, "repeated blocks", (uint32_t)s->repeat_count);
    for (int i = 0; i < s->repeat_count; i++) {
        const struct stet_repeat *r = &s->repeats[i];

        stet_buf_printf(out, "  %u operations × %u, from %.*s", r->length, r->times,
                        STET_FMT(stet_words_mnemonic(r->first)));
        line_text(out, r->first->loc);
        stet_buf_char(out, '\n');
    }
}

void stet_cli_show_text(struct stet_buf *out, const struct stet_session_stats *s,
                        const struct stet_show_options *o)
{
    const struct stet_program *p = s->side.program;
    struct stet_view name = stet_op_symbol(p->module);
    char hash[STET_HASH_TEXT];

    stet_hash_format(s->loaded->fingerprint.key, hash);
    stet_buf_printf(out, "%s: %s%s%.*s", s->loaded->path, stet_session_program_format(s->loaded),
                    p->producer.len ? " by " : "", STET_FMT(p->producer));
    if (name.len)
        stet_buf_printf(out, ", module %.*s", STET_FMT(name));
    stet_buf_printf(out, "\nkey %s, %u operations in %u function%s\n", hash, p->op_count,
                    p->function_count, p->function_count == 1 ? "" : "s");
    arguments(out, s, o);
    outputs(out, s, o);
    operations(out, s, o);
    constants(out, s, o);
    lines(out, s, o);
    repeats(out, s, o);
}
