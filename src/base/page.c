/* Rows of styled text, cut and wrapped by their width on a terminal. */
#include "base/page.h"

#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

void stet_page_locale(void)
{
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        setlocale(LC_CTYPE, "C.UTF-8");
}

void stet_page_begin(struct stet_page *p, int width, int height)
{
    p->text.len = 0;
    p->text.failed = false;
    p->width = width > 0 ? width : 1;
    p->height = height > 0 ? height : 1;
    p->row = p->column = 0;
    p->cut = false;
}

void stet_page_release(struct stet_page *p)
{
    stet_buf_release(&p->text);
}

/* The next character: its bytes, its columns, and what is shown for it. */
struct glyph {
    size_t bytes;
    int columns;
    struct stet_view shown;
};

static struct glyph glyph_at(struct stet_view v, size_t at)
{
    size_t n = stet_utf8_length(v.ptr + at, v.len - at);
    struct glyph g = {n ? n : 1, 1, STET_VIEW("?")};
    mbstate_t state = {0};
    wchar_t wide;
    int columns;

    if (!n || mbrtowc(&wide, v.ptr + at, n, &state) != n)
        return g;
    columns = wcwidth(wide);
    if (columns < 0 || (unsigned char)v.ptr[at] < 0x20)
        return g;
    g.columns = columns;
    g.shown = stet_view_of(v.ptr + at, n);
    return g;
}

static int columns_of(struct stet_view v)
{
    int sum = 0;

    for (size_t i = 0; i < v.len;) {
        struct glyph g = glyph_at(v, i);

        sum += g.columns;
        i += g.bytes;
    }
    return sum;
}

/* Writes up to `room` columns of the text. */
static void put(struct stet_page *p, enum stet_style style, struct stet_view text, int room)
{
    int end = p->column + room < p->width ? p->column + room : p->width;

    if (p->row >= p->height)
        return;
    stet_buf_char(&p->text, (char)style);
    for (size_t i = 0; i < text.len;) {
        struct glyph g = glyph_at(text, i);

        if (p->column + g.columns > end) {
            p->cut |=
                end == p->width && stet_view_trim(stet_view_of(text.ptr + i, text.len - i)).len;
            break;
        }
        stet_buf_view(&p->text, g.shown);
        p->column += g.columns;
        i += g.bytes;
    }
}

void stet_page_put(struct stet_page *p, enum stet_style style, struct stet_view text)
{
    put(p, style, text, p->width);
}

void stet_page_printf(struct stet_page *p, enum stet_style style, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n > 0)
        put(p, style, stet_view_of(text, n < (int)sizeof text ? (size_t)n : sizeof text - 1),
            p->width);
}

void stet_page_to(struct stet_page *p, int column)
{
    if (p->row >= p->height)
        return;
    if (column > p->width)
        column = p->width;
    if (p->column < column)
        stet_buf_char(&p->text, STET_STYLE_PLAIN);
    for (; p->column < column; p->column++)
        stet_buf_char(&p->text, ' ');
}

void stet_page_field(struct stet_page *p, enum stet_style style, struct stet_view text, int room)
{
    int end = p->column + room;

    if (room <= 0)
        return;
    if (columns_of(text) <= room) {
        put(p, style, text, room);
    } else {
        put(p, style, text, room - 1);
        put(p, style, STET_VIEW("…"), 1);
    }
    stet_page_to(p, end);
}

void stet_page_right(struct stet_page *p, enum stet_style style, const char *text, int room)
{
    int columns = columns_of(stet_view_str(text));

    stet_page_to(p, p->column + (columns < room ? room - columns : 0));
    put(p, style, stet_view_str(text), room);
}

void stet_page_tail(struct stet_page *p, enum stet_style style, struct stet_view text, int room)
{
    int columns = columns_of(text);
    size_t from = 0;

    if (room <= 0)
        return;
    if (columns > room) {
        for (; columns > room - 1 && from < text.len; from += glyph_at(text, from).bytes)
            columns -= glyph_at(text, from).columns;
        put(p, style, STET_VIEW("…"), 1);
    }
    put(p, style, stet_view_of(text.ptr + from, text.len - from), room);
}

/* Cuts the words that fit into `room` columns off the text; at least one, however long. */
static struct stet_view next_row(struct stet_view *text, int room)
{
    struct stet_view all = stet_view_trim(*text);
    size_t end = 0, next;

    for (; end < all.len; end = next) {
        for (next = end; next < all.len && all.ptr[next] == ' ';)
            next++;
        while (next < all.len && all.ptr[next] != ' ')
            next++;
        if (end && columns_of(stet_view_of(all.ptr, next)) > room)
            break;
    }
    *text = stet_view_of(all.ptr + end, all.len - end);
    return stet_view_of(all.ptr, end);
}

int stet_page_rows(const struct stet_page *p, struct stet_view text, int indent)
{
    int rows = 0;

    while (stet_view_trim(text).len) {
        next_row(&text, p->width - indent);
        rows++;
    }
    return rows;
}

void stet_page_wrap(struct stet_page *p, enum stet_style style, struct stet_view text, int indent,
                    int most)
{
    for (int i = 0; i < most && stet_view_trim(text).len; i++) {
        bool last = i + 1 == most;
        struct stet_view rest = text, row = next_row(&rest, p->width - indent);

        if (last && rest.len) { /* room for the mark */
            rest = text;
            row = next_row(&rest, p->width - indent - 2);
        }
        stet_page_to(p, indent);
        put(p, style, row, p->width);
        if (last && rest.len)
            put(p, style, STET_VIEW(" …"), 2);
        stet_page_line(p);
        text = rest;
    }
}

/* Removes the last character of the row; returns its columns. */
static int take_back(struct stet_page *p)
{
    struct stet_buf *b = &p->text;
    size_t end, columns;

    while (b->len && (unsigned char)b->ptr[b->len - 1] < STET_STYLES)
        b->len--;
    for (end = b->len; b->len && ((unsigned char)b->ptr[b->len - 1] & 0xc0) == 0x80;)
        b->len--;
    b->len -= b->len > 0;
    columns = (size_t)columns_of(stet_view_of(b->ptr + b->len, end - b->len));
    return (int)columns;
}

/* Puts … at the end of a row that was cut. */
static void mark_cut(struct stet_page *p)
{
    while (p->column >= p->width && p->text.len)
        p->column -= take_back(p);
    stet_buf_str(&p->text, "…");
}

void stet_page_line(struct stet_page *p)
{
    if (p->row >= p->height)
        return;
    if (p->cut && !p->text.failed)
        mark_cut(p);
    p->cut = false;
    stet_buf_char(&p->text, '\n');
    p->row++;
    p->column = 0;
}

void stet_page_plain(struct stet_buf *out, const struct stet_page *p, bool colour)
{
    static const char *const codes[STET_STYLES] = {
        [STET_STYLE_PLAIN] = "\033[0m",   [STET_STYLE_STRONG] = "\033[0;1m",
        [STET_STYLE_FAINT] = "\033[0;2m", [STET_STYLE_GOOD] = "\033[0;32m",
        [STET_STYLE_WARN] = "\033[0;33m", [STET_STYLE_BAD] = "\033[0;31m",
        [STET_STYLE_BAR] = "\033[0;7m",
    };

    for (size_t i = 0; i < p->text.len; i++) {
        char c = p->text.ptr[i];

        if (c == '\n') {
            if (colour)
                stet_buf_str(out, "\033[0m");
            else /* blanks that only fill a row */
                while (out->len && out->ptr[out->len - 1] == ' ')
                    out->len--;
            stet_buf_char(out, '\n');
        } else if (c >= STET_STYLE_PLAIN && c < STET_STYLES) {
            if (colour)
                stet_buf_str(out, codes[(unsigned char)c]);
        } else {
            stet_buf_char(out, c);
        }
    }
}
