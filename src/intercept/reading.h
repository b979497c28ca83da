/* The program of one compile, read when it is first needed and only once: the contract, the store
 * and lifting all use it. On the caller's stack; released at the end of the compile. */
#ifndef STET_INTERCEPT_READING_H
#define STET_INTERCEPT_READING_H

#include "abi/pjrt.h"
#include "fingerprint/fingerprint.h"

struct stet_reading {
    struct stet_view bytes; /* the framework's, or `own`; empty if there is no program */
    char *own;              /* a copy, if the program may be kept longer than the compile */
    struct stet_program program;
    struct stet_fingerprint print;
    bool decoded, undecodable, printed;
    bool examined, local;
};

/* `own`: reads a copy of the bytes. A copy that cannot be made is left out. */
void stet_intercept_reading_init(struct stet_reading *r, const PJRT_Program *program, bool own);
void stet_intercept_reading_release(struct stet_reading *r);

/* NULL if it cannot be decoded. */
const struct stet_program *stet_intercept_reading_program(struct stet_reading *r);
/* Of the program alone, without options. NULL if there is no program, or no memory. */
const struct stet_fingerprint *stet_intercept_reading_print(struct stet_reading *r);
/* Is it valid only in this process (local.h)? Of a program that can be decoded. */
bool stet_intercept_reading_is_local(struct stet_reading *r);

#endif
