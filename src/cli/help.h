/* stet help: the pages of the documentation, manual pages and completions for shells. */
#ifndef STET_CLI_HELP_H
#define STET_CLI_HELP_H

#include "help/topic.h"

/* `stet help SUBJECT`, `--man[=COMMAND]` or `--completion=SHELL`. `all` has the commands' names,
 * and `describe` lets them fill in the rest. Returns the exit code. */
int stet_cli_help_page(const char *subject, struct stet_help_topic *all, size_t count,
                       void (*describe)(struct stet_help_topic *all, size_t count));

#endif
