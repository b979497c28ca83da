/* A page of text for a screen of a given number of rows and columns. `stet top` fills it row by
 * row. A row that does not fit is cut and ends in …, and no control character of a text reaches
 * the terminal. */
#ifndef STET_BASE_PAGE_H
#define STET_BASE_PAGE_H

#include "base/buf.h"

/* Styles are single bytes in the text, from 1 on; a row begins plain. */
enum stet_style {
    STET_STYLE_PLAIN = 1,
    STET_STYLE_STRONG,
    STET_STYLE_FAINT,
    STET_STYLE_GOOD,
    STET_STYLE_WARN,
    STET_STYLE_BAD,
    STET_STYLE_BAR, /* the first row: reverse video */
    STET_STYLES
};

struct stet_page {
    struct stet_buf text; /* rows, each ended by a newline */
    int width, height;
    int row, column;
    bool cut; /* some of the row did not fit */
};

/* Sets the locale, so that wcwidth and ncurses agree on UTF-8. Call it once, before the first
 * page. */
void stet_page_locale(void);

void stet_page_begin(struct stet_page *p, int width, int height);
void stet_page_release(struct stet_page *p);
static inline int stet_page_left(const struct stet_page *p)
{
    return p->row < p->height ? p->height - p->row : 0;
}

void stet_page_put(struct stet_page *p, enum stet_style style, struct stet_view text);
void stet_page_printf(struct stet_page *p, enum stet_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes at most `room` columns, ending in … when the text is cut; then blanks up to `room`. */
void stet_page_field(struct stet_page *p, enum stet_style style, struct stet_view text, int room);
/* Writes at most `room` columns of the text's end, after … when its beginning is cut. */
void stet_page_tail(struct stet_page *p, enum stet_style style, struct stet_view text, int room);
/* How many rows the text takes when it is wrapped at words, each row after `indent` blanks. */
int stet_page_rows(const struct stet_page *p, struct stet_view text, int indent);
/* Writes the text so, in `most` rows at most. The last one ends in … after a word when there is
 * more. */
void stet_page_wrap(struct stet_page *p, enum stet_style style, struct stet_view text, int indent,
                    int most);
/* Writes the text right-aligned in `room` columns. */
void stet_page_right(struct stet_page *p, enum stet_style style, const char *text, int room);
/* Writes blanks up to a column. */
void stet_page_to(struct stet_page *p, int column);
/* Ends the row. */
void stet_page_line(struct stet_page *p);

/* Writes the page without styles, or with those of a colour terminal. */
void stet_page_plain(struct stet_buf *out, const struct stet_page *p, bool colour);

#endif
