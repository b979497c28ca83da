/* The pages of `stet help`, which are the documentation's files, and the short page of a cause. The
 * pages are read from share/doc/stet beside the executable. */
#ifndef STET_HELP_HELP_PAGES_H
#define STET_HELP_HELP_PAGES_H

#include "base/buf.h"
#include "base/err.h"
#include "help/similar.h"

/* How to print: columns of the terminal, and whether it shows colours. */
struct stet_help_look {
    size_t width;
    bool colour;
};

/* Appends the page about `subject`: a file, a trap, a cause, "traps", "docs" or "causes". Returns
 * STET_NOT_FOUND when there is none; `similar` then has the closest name. */
enum stet_rc stet_help_page(struct stet_buf *out, const char *subject,
                            const struct stet_help_look *look, struct stet_help_similar *similar,
                            struct stet_err *err);

/* Appends the subjects, separated by blanks; a subject may come twice. */
void stet_help_subjects(struct stet_buf *out);

#endif
