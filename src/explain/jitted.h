/* The line that jitted the function of a compile: what to edit if the function is made anew, or
 * jitted in another way than before. */
#ifndef STET_EXPLAIN_JITTED_H
#define STET_EXPLAIN_JITTED_H

#include "explain/history.h"

enum stet_jit_line {
    STET_JIT_NOW,    /* of the call of a finding */
    STET_JIT_BEFORE, /* of the call that it is compared with */
    STET_JIT_MAKER,  /* as the first; if a function of the user's jits, the line that called it */
};

/* *sure: no other line may have jitted it. False when it is not found. */
bool stet_explain_jitted(struct stet_history *h, const struct stet_finding *f,
                         enum stet_jit_line which, struct stet_place *at, bool *sure);

#endif
