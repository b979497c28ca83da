/* Renders what is inside a line: code, emphasis, links. */
#include "help/markdown.h"

#include <stdio.h>
#include <string.h>

/* Returns the page of `stet help` that a link leads to, without its ending; empty for others. */
static struct stet_view page_of(struct stet_view target)
{
    const char *anchor = target.len ? memchr(target.ptr, '#', target.len) : NULL;
    struct stet_view page = target;
    bool traps;

    if (anchor)
        page.len = (size_t)(anchor - page.ptr);
    traps = stet_view_starts(page, "traps/");
    if (traps)
        page = stet_view_of(page.ptr + 6, page.len - 6);
    else if (stet_view_starts(page, "../"))
        page = stet_view_of(page.ptr + 3, page.len - 3);
    if (!stet_view_ends(page, ".md"))
        return (struct stet_view){0};
    page.len -= 3;
    if (stet_view_is(page, "README"))
        return traps ? STET_VIEW("traps") : STET_VIEW("docs");
    for (size_t i = 0; i < page.len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-", page.ptr[i]))
            return (struct stet_view){0};
    return page;
}

/* Does the text of a link name its page already: "run", "`run`" or "`stet run`"? */
static bool names_page(struct stet_view text, struct stet_view page)
{
    if (text.len > 1 && text.ptr[0] == '`' && text.ptr[text.len - 1] == '`')
        text = stet_view_of(text.ptr + 1, text.len - 2);
    if (stet_view_starts(text, "stet "))
        text = stet_view_of(text.ptr + 5, text.len - 5);
    return stet_view_eq(text, page);
}

/* Appends a link that begins at `text`. Returns how much of `text` it takes; 0 when there is none.
 */
static size_t take_link(struct stet_buf *out, struct stet_view text, bool image)
{
    const char *close = memmem(text.ptr, text.len, "](", 2), *end;
    const char *inner = memchr(text.ptr + 1, '[', text.len - 1);
    struct stet_view words, target, page;

    if (!close || (inner && inner < close && !image))
        return 0;
    words = stet_view_of(text.ptr + 1, (size_t)(close - text.ptr) - 1);
    end = memchr(close, ')', text.len - (size_t)(close - text.ptr));
    if (!end)
        return 0;
    target = stet_view_of(close + 2, (size_t)(end - close) - 2);
    page = page_of(target);
    if (!image)
        stet_help_inline(out, words);
    if (!image && page.len && !names_page(words, page))
        stet_buf_printf(out, " (`stet help %.*s`)", STET_FMT(page));
    else if (!image && stet_view_starts(target, "http") && !stet_view_eq(words, target))
        stet_buf_printf(out, " <%.*s>", STET_FMT(target));
    return (size_t)(end - text.ptr) + 1;
}

/* Appends code with its backticks, as messages of Stet have it. A table escapes the bars in it. */
static size_t take_code(struct stet_buf *out, struct stet_view text)
{
    const char *end = memchr(text.ptr + 1, '`', text.len - 1);
    size_t n = end ? (size_t)(end - text.ptr) + 1 : 1;

    for (size_t i = 0; i < n; i++)
        if (text.ptr[i] != '\\' || i + 1 == n || text.ptr[i + 1] != '|')
            stet_buf_char(out, text.ptr[i]);
    return n;
}

static size_t take_entity(struct stet_buf *out, struct stet_view text)
{
    static const struct {
        const char *name, *text;
    } all[] = {{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&nbsp;", " "}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (stet_view_starts(text, all[i].name)) {
            stet_buf_str(out, all[i].text);
            return strlen(all[i].name);
        }
    return 0;
}

/* Is the star at the beginning one of a pair around words? */
static bool is_emphasis(struct stet_view text, bool open)
{
    const char *other;

    if (open)
        return true;
    if (text.len < 3 || text.ptr[1] == ' ')
        return false;
    other = memchr(text.ptr + 2, '*', text.len - 2);
    return other && other[-1] != ' ';
}

void stet_help_inline(struct stet_buf *out, struct stet_view text)
{
    bool open = false;

    while (text.len) {
        size_t n = 0;

        if (*text.ptr == '`')
            n = take_code(out, text);
        else if (*text.ptr == '[')
            n = take_link(out, text, false);
        else if (stet_view_starts(text, "![")) {
            n = take_link(out, stet_view_of(text.ptr + 1, text.len - 1), true);
            n += n > 0;
        } else if (*text.ptr == '&')
            n = take_entity(out, text);
        else if (stet_view_starts(text, "**"))
            n = 2;
        else if (*text.ptr == '*' && is_emphasis(text, open)) {
            open = !open;
            n = 1;
        }
        if (!n && *text.ptr == '\\' && text.len > 1 && strchr("|*_`[]<>\\", text.ptr[1]))
            text.ptr++, text.len--;
        if (!n) {
            stet_buf_char(out, *text.ptr);
            n = 1;
        }
        text = stet_view_of(text.ptr + n, text.len - n);
    }
}
