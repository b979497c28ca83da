/* `stet contract update`: prints the changes that a contract needs, or makes them. cmd_contract.c
 * calls it. */
#ifndef STET_CLI_CONTRACT_UPDATE_H
#define STET_CLI_CONTRACT_UPDATE_H

#include "cli/command.h"

/* Returns the exit code: 0 when nothing had to change (or the change was made), 1 when changes were
 * only printed. */
int stet_cli_contract_update(const char *run, const char *file, bool write,
                             enum stet_format format);

#endif
