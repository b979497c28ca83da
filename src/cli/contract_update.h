/* stet contract update. */
#ifndef STET_CLI_CONTRACT_UPDATE_H
#define STET_CLI_CONTRACT_UPDATE_H

#include "cli/command.h"

/* The exit code: 0 nothing to change (or changed), 1 changes shown and not made. */
int stet_cli_contract_update(const char *run, const char *file, bool write,
                             enum stet_format format);

#endif
