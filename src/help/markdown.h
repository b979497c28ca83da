/* Renders a page of the documentation as plain text for a terminal. The pages use a small part of
 * Markdown: headings, paragraphs, lists, tables, code, links and comments. The functions append to
 * the caller's buffer. */
#ifndef STET_HELP_MARKDOWN_H
#define STET_HELP_MARKDOWN_H

#include "base/buf.h"
#include "base/view.h"

/* Appends `page` in lines of at most `width` columns; code and words that are longer stay whole.
 * Links to other pages name the command that prints them. */
void stet_help_render(struct stet_buf *out, struct stet_view page, size_t width, bool colour);

/* Appends text without emphasis, comments and link targets, on one line. */
void stet_help_inline(struct stet_buf *out, struct stet_view text);

/* Removes and returns the first piece of `rest` that fits into `width` columns. It ends at a blank
 * if one is there. */
struct stet_view stet_help_take_line(struct stet_view *rest, size_t width);
/* Removes and returns the first line, without its end. */
struct stet_view stet_help_next_line(struct stet_view *rest);
/* How many columns a text of UTF-8 takes. */
size_t stet_help_columns(struct stet_view text);

/* Appends the rows of a table: lines that begin with '|'. */
void stet_help_table(struct stet_buf *out, struct stet_view lines, size_t width);

#endif
