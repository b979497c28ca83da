/* Text for people. Text from a program, a file name, a plugin or a server must not control the
 * reader's terminal or a CI runner that reads the log, so its control characters are printed in
 * visible form.
 *
 * A buffer that begins as STET_TEXT_INIT does this automatically: in stet_buf_printf the format is
 * ours, and everything that %s inserts is escaped. Colours also pass through %s, as stet_pen
 * returns them; they are recognised by their address, which foreign text cannot have. */
#ifndef STET_BASE_TEXT_H
#define STET_BASE_TEXT_H

#include "base/buf.h"
#include "base/err.h"

#include <stdarg.h>

#define STET_TEXT_INIT {.vprint = stet_text_vprint}

enum stet_pen {
    STET_PEN_PLAIN,
    STET_PEN_BOLD,
    STET_PEN_DIM,
    STET_PEN_RED,
    STET_PEN_GREEN,
    STET_PEN_YELLOW,
    STET_PEN_CYAN,
};

/* The escape sequence of a colour; empty unless `colour`. */
const char *stet_pen(enum stet_pen pen, bool colour);

/* Appends foreign text, with C0, DEL, C1, bidirectional controls, line separators and bytes that
 * are not UTF-8 written as \n, \x1b or \u202e; a tab passes. What a CI runner would take for a
 * command (:: at the beginning, ##[ anywhere) is broken up in the same way. Escaping twice changes
 * nothing. */
void stet_text_foreign(struct stet_buf *out, struct stet_view text);
/* The last filter before text leaves the process: line ends pass, and our colours if `colour`. */
void stet_text_filter(struct stet_buf *out, struct stet_view text, bool colour);

/* Prints a message on standard error in one write. */
void stet_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "stet: <text>" on standard error, with the offset when there is one. */
void stet_say_err(const struct stet_err *err);
/* Writes all of `out` to standard error, filtered as by stet_text_write. */
void stet_say_text(const struct stet_buf *out);
/* Writes all of `out` without control characters, except for those of our own colours. Returns 0,
 * or -1 with errno. */
int stet_text_write(int fd, const struct stet_buf *out);
/* Use colours on this file? Yes on a terminal, unless NO_COLOR or TERM=dumb is set. */
bool stet_text_colour(int fd);

/* Returns the width of a terminal in columns; 0 for anything else. */
size_t stet_text_width(int fd);

/* printf, where the text of %s is foreign and colours pass. Supports the conversions c d i u x X o
 * f g e p s with the usual flags and lengths. */
void stet_text_vprint(struct stet_buf *out, const char *fmt, va_list args);

#endif
