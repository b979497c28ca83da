/* The pages of docs/, as they are installed beside the executable. */
#ifndef STET_CLI_HELP_H
#define STET_CLI_HELP_H

/* Prints the page of a command, a trap or any other subject; an exit code. */
int stet_cli_help_page(const char *subject);

#endif
