/* Prints a long text on a terminal through the user's pager. */
#ifndef STET_HELP_PAGER_H
#define STET_HELP_PAGER_H

#include "base/buf.h"

/* How many columns to write for standard output: those of the terminal, at most 100; 80 elsewhere.
 */
size_t stet_help_columns_of_output(void);
/* Shows the text through $PAGER (default: less) if standard output is a terminal and the text is
 * longer than it. Returns false when nothing was shown, so that the caller prints the text. */
bool stet_help_pager_show(const struct stet_buf *text);

#endif
