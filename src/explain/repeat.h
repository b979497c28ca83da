/* Finds blocks of operations that repeat: unrolled loops, layers, passes over them. `stet show`
 * and `stet doctor` use it. The results point into the program. */
#ifndef STET_EXPLAIN_REPEAT_H
#define STET_EXPLAIN_REPEAT_H

#include "explain/side.h"

struct stet_repeat {
    const struct stet_op *first; /* of the first copy */
    uint32_t length;             /* operations in one copy */
    uint32_t times;
};

/* Fills up to `most` repeats, largest first; returns how many there are, or -1 when out of
 * memory. */
int stet_repeat_find(struct stet_side *s, struct stet_repeat *out, int most);

#endif
