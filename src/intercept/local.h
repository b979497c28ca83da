/* Recognises programs that are valid only in the process that created them. An executable compiled
 * from one must not be loaded in another process. */
#ifndef STET_INTERCEPT_LOCAL_H
#define STET_INTERCEPT_LOCAL_H

#include "fingerprint/fingerprint.h"
#include "program/program.h"

/* Raise it when more programs are recognised: entries stored under older rules are then checked
 * again. */
#define STET_LOCAL_RULES  4
/* The version of a hint that maps bytes to a program (store.h), so that they need not be decoded: a
 * hint is valid only for the rules that checked the program. */
#define STET_HINT_VERSION (STET_FINGERPRINT_VERSION * 1000 + STET_LOCAL_RULES)

/* True if it calls back into Python, is partitioned by a function of this process, or has a
 * transfer whose other end is set when it is loaded. */
bool stet_intercept_program_is_local(const struct stet_program *p);

#endif
