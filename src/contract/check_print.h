/* Prints the violations of a contract as text, as JSON or as GitHub annotations. `stet check` calls
 * it after the check. It appends to the caller's buffer. */
#ifndef STET_CONTRACT_CHECK_PRINT_H
#define STET_CONTRACT_CHECK_PRINT_H

#include "contract/contract_run.h"

enum stet_check_format { STET_CHECK_TEXT, STET_CHECK_JSON, STET_CHECK_GITHUB };

void stet_contract_check_print(struct stet_buf *out, const struct stet_contract_check *k,
                               const struct stet_contract *c, const char *run,
                               enum stet_check_format format);

#endif
