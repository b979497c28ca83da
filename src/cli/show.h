/* Prints what `stet show` gathered about a program, as text. The counts come from
 * session/program_stats.h, which writes them as JSON too. */
#ifndef STET_CLI_SHOW_H
#define STET_CLI_SHOW_H

#include "cli/command.h"
#include "session/program_stats.h"

/* How much to print. */
struct stet_show_options {
    bool text;      /* the program itself, as StableHLO */
    bool locations; /* with its locations */
    bool all;       /* print all rows of every list */
    bool colour;
};

/* `stet show FILE`; returns the exit code. */
int stet_cli_show_file(const char *path, enum stet_format format,
                       const struct stet_show_options *options);

void stet_cli_show_text(struct stet_buf *out, const struct stet_session_stats *s,
                        const struct stet_show_options *options);

#endif
