/* The executions of a run's processes in order. A session loads them with the digest of the same
 * run. The struct owns its lists. */
#ifndef STET_LEDGER_RUN_ORDER_H
#define STET_LEDGER_RUN_ORDER_H

#include "ledger/run_load.h"

/* Limits the executions kept of one process: all of the first ones, and afterwards only those that
 * follow a new executable. */
enum { STET_ORDER_FIRST = 1 << 18, STET_ORDER_AFTER = 512, STET_ORDER_MOST = 1 << 20 };

struct stet_run_order {
    uint32_t *executables;
    size_t count, room, after;
    uint64_t highest; /* largest executable id so far */
};

struct stet_run_orders {
    struct stet_run_order *items; /* by process of the digest */
    size_t count;
};

enum stet_rc stet_ledger_run_orders_load(struct stet_run_orders *o, const struct stet_run_digest *d,
                                         const char *folder, struct stet_err *err);
void stet_ledger_run_orders_release(struct stet_run_orders *o);

#endif
