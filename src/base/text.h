/* Text for people. What a program, a file name, a plugin or a server wrote must not act on the
 * reader's terminal or on a CI runner that reads the log, so it is printed with its control
 * characters made visible.
 *
 * A buffer that begins as STET_TEXT_INIT does this by itself: in stet_buf_printf the format is
 * ours, and all that %s inserts is foreign. Colours are given by %s as well, as stet_pen returns
 * them; they are known by their address, which no foreign text has. */
#ifndef STET_BASE_TEXT_H
#define STET_BASE_TEXT_H

#include "base/buf.h"

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

/* What switches the terminal to a colour; nothing unless `colour`. */
const char *stet_pen(enum stet_pen pen, bool colour);

/* Appends foreign text with C0, DEL, C1, bidirectional controls, line separators and bytes that are
 * no UTF-8 as \n, \x1b or \u202e; a tab stays. What a CI runner would take for a command (:: at the
 * beginning, ##[ anywhere) is broken up in the same way. Doing so twice changes nothing. */
void stet_text_foreign(struct stet_buf *out, struct stet_view text);
/* The last look before text leaves the process: line ends pass, and our colours when `colour`. */
void stet_text_filter(struct stet_buf *out, struct stet_view text, bool colour);

/* A message on standard error, in one write. */
void stet_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* printf, where the text of %s is foreign and colours pass. Knows the conversions c d i u x X o f g
 * e p s with the usual flags and lengths. */
void stet_text_vprint(struct stet_buf *out, const char *fmt, va_list args);

#endif
