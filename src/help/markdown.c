/* Renders blocks: headings, paragraphs, lists, code. */
#include "help/markdown.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

struct rendering {
    struct stet_buf *out;
    size_t width;
    bool colour;
    bool fenced;           /* between two lines of ``` */
    bool gap;              /* an empty line is due before the next block */
    struct stet_buf words; /* of the open paragraph */
    size_t indent;         /* of its lines after the first */
    bool item;             /* it is an item of a list */
};

size_t stet_help_columns(struct stet_view text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.ptr[i] & 0xc0) != 0x80;
    return n;
}

struct stet_view stet_help_take_line(struct stet_view *rest, size_t width)
{
    size_t columns = 0, i = 0, blank = 0;
    struct stet_view line;

    for (; i < rest->len && columns <= width; i++) {
        if (rest->ptr[i] == ' ')
            blank = i;
        columns += ((unsigned char)rest->ptr[i] & 0xc0) != 0x80;
    }
    if (i == rest->len && columns <= width)
        blank = i;
    while (!blank && i < rest->len && rest->ptr[i] != ' ') /* a long word stays whole */
        i++;
    line = stet_view_of(rest->ptr, blank ? blank : i);
    rest->ptr += line.len;
    rest->len -= line.len;
    while (rest->len && *rest->ptr == ' ')
        rest->ptr++, rest->len--;
    return line;
}

static void begin_block(struct rendering *r)
{
    if (r->gap && r->out->len)
        stet_buf_char(r->out, '\n');
    r->gap = false;
}

static void flush(struct rendering *r)
{
    struct stet_buf text = STET_BUF_INIT;
    struct stet_view rest;

    if (!r->words.len)
        return;
    stet_help_inline(&text, stet_buf_as_view(&r->words));
    rest = stet_buf_as_view(&text);
    if (rest.len)
        begin_block(r);
    for (size_t n = 0; rest.len; n++) {
        size_t indent = n ? r->indent : 0;
        struct stet_view line = stet_help_take_line(&rest, r->width - indent);

        stet_buf_printf(r->out, "%*s%.*s\n", (int)indent, "", STET_FMT(line));
    }
    stet_buf_release(&text);
    stet_buf_release(&r->words);
    r->indent = 0;
    r->item = false;
}

static void heading(struct rendering *r, struct stet_view line)
{
    struct stet_buf text = STET_BUF_INIT;
    size_t level = 0;

    while (level < line.len && line.ptr[level] == '#')
        level++;
    line = stet_view_trim(stet_view_of(line.ptr + level, line.len - level));
    stet_help_inline(&text, line);
    r->gap = true;
    begin_block(r);
    stet_buf_printf(r->out, "%s%.*s%s\n", stet_pen(STET_PEN_BOLD, r->colour),
                    STET_FMT(stet_buf_as_view(&text)), stet_pen(STET_PEN_PLAIN, r->colour));
    if (!r->colour && level < 3) {
        for (size_t i = stet_help_columns(stet_buf_as_view(&text)); i > 0; i--)
            stet_buf_char(r->out, level == 1 ? '=' : '-');
        stet_buf_char(r->out, '\n');
    }
    stet_buf_release(&text);
    r->gap = true;
}

static void code(struct rendering *r, struct stet_view line)
{
    begin_block(r);
    stet_buf_printf(r->out, "%s%.*s\n", line.len ? "    " : "", STET_FMT(line));
}

/* Returns how many columns the mark of a list's item takes ("- ", "12. "); 0 when there is none. */
static size_t item_mark(struct stet_view line)
{
    size_t at = 0, digits;

    while (at < line.len && line.ptr[at] == ' ')
        at++;
    for (digits = at; digits < line.len && isdigit((unsigned char)line.ptr[digits]);)
        digits++;
    if (digits > at && digits + 1 < line.len && line.ptr[digits] == '.' &&
        line.ptr[digits + 1] == ' ')
        return digits + 2;
    if (at + 1 < line.len && strchr("-*", line.ptr[at]) && line.ptr[at + 1] == ' ')
        return at + 2;
    return 0;
}

static void add_words(struct rendering *r, struct stet_view line)
{
    stet_buf_str(&r->words, r->words.len ? " " : "");
    stet_buf_view(&r->words, line);
}

static void plain_line(struct rendering *r, struct stet_view line)
{
    size_t mark = item_mark(line);

    if (mark && (!r->words.len || r->item)) {
        flush(r);
        r->item = true;
        r->indent = mark;
        stet_buf_view(&r->words, line);
    } else if (stet_view_starts(line, "    ") && !r->words.len) {
        code(r, stet_view_of(line.ptr + 4, line.len - 4));
    } else {
        add_words(r, stet_view_trim(line));
    }
}

struct stet_view stet_help_next_line(struct stet_view *rest)
{
    const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    size_t n = end ? (size_t)(end - rest->ptr) : rest->len;
    struct stet_view line = stet_view_of(rest->ptr, n);

    n += end != NULL;
    *rest = stet_view_of(rest->ptr + n, rest->len - n);
    return line;
}

/* Renders the table that begins with `line`, and skips it. */
static void table(struct rendering *r, struct stet_view line, struct stet_view *rest)
{
    const char *begin = line.ptr;
    struct stet_view all = line;

    while (rest->len && *rest->ptr == '|') {
        line = stet_help_next_line(rest);
        all = stet_view_of(begin, (size_t)(line.ptr + line.len - begin));
    }
    begin_block(r);
    stet_help_table(r->out, all, r->width);
}

static void skip_comment(struct stet_view line, struct stet_view *rest)
{
    while (!memmem(line.ptr, line.len, "-->", 3) && rest->len)
        line = stet_help_next_line(rest);
}

void stet_help_render(struct stet_buf *out, struct stet_view page, size_t width, bool colour)
{
    struct rendering r = {.out = out, .width = width, .colour = colour, .words = STET_BUF_INIT};

    while (page.len) {
        struct stet_view line = stet_help_next_line(&page);

        if (stet_view_starts(line, "```")) {
            flush(&r);
            r.fenced = !r.fenced;
        } else if (r.fenced) {
            code(&r, line);
        } else if (!stet_view_trim(line).len) {
            flush(&r);
            r.gap = true;
        } else if (stet_view_starts(line, "<!--")) {
            flush(&r);
            skip_comment(line, &page);
        } else if (line.ptr[0] == '#') {
            flush(&r);
            heading(&r, line);
        } else if (line.ptr[0] == '|') {
            flush(&r);
            table(&r, line, &page);
        } else {
            plain_line(&r, line);
        }
    }
    flush(&r);
    if (r.words.failed)
        out->failed = true;
    stet_buf_release(&r.words);
}
