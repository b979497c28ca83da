/* Prints the violations of a contract as text, JSON, GitHub annotations or SARIF. `stet check`
 * calls it after the check. It appends to the caller's buffer. */
#ifndef STET_CONTRACT_CHECK_PRINT_H
#define STET_CONTRACT_CHECK_PRINT_H

#include "contract/contract_run.h"

enum stet_check_format { STET_CHECK_TEXT, STET_CHECK_JSON, STET_CHECK_GITHUB, STET_CHECK_SARIF };

/* Appends the violations as SARIF 2.1.0. */
void stet_contract_check_sarif(struct stet_buf *out, const struct stet_contract_check *k,
                               const struct stet_contract *c);

void stet_contract_check_print(struct stet_buf *out, const struct stet_contract_check *k,
                               const struct stet_contract *c, const char *run,
                               enum stet_check_format format);

#endif
