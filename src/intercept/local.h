/* Programs that mean something only in the process that made them: what was compiled from one must
 * not be loaded in another. */
#ifndef STET_INTERCEPT_LOCAL_H
#define STET_INTERCEPT_LOCAL_H

#include "fingerprint/fingerprint.h"
#include "program/program.h"

/* Raised when more programs are recognised: what was kept by older rules is looked at anew. */
#define STET_LOCAL_RULES  3
/* Of a hint that says which program some bytes are (store.h), and so that they need not be read: it
 * stands only for the rules that read them. */
#define STET_HINT_VERSION (STET_FINGERPRINT_VERSION * 1000 + STET_LOCAL_RULES)

/* It calls back into Python, is partitioned by a function of this process, or has a transfer whose
 * other end is given when it is loaded. */
bool stet_intercept_program_is_local(const struct stet_program *p);

#endif
