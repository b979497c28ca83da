/* Prints the pages of docs/, which are installed beside the executable. main.c calls it for `stet
 * help`. */
#ifndef STET_CLI_HELP_H
#define STET_CLI_HELP_H

/* Prints the page of a command, a trap or any other subject; returns an exit code. */
int stet_cli_help_page(const char *subject);

#endif
