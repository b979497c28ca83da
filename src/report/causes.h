/* Groups recompiles of one cause: same class, function and line. Each group is printed once. The
 * struct owns its texts. */
#ifndef STET_REPORT_CAUSES_H
#define STET_REPORT_CAUSES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "cause/cause.h"
#include "ledger/recompile.h"

enum { STET_REPORT_VALUES = 24, STET_REPORT_CAUSES = 512 };

struct stet_report_cause {
    struct stet_recompile first; /* its text belongs to the causes */
    uint64_t times, wait_ns, cost_ns, first_step, last_step;
    bool steps_known;
    struct stet_view values[STET_REPORT_VALUES]; /* the values of the first change, each once */
    size_t value_count, value_more;              /* value_more: further ones, each counted once */
};

struct stet_causes {
    struct stet_arena arena;
    struct stet_report_cause *items; /* in the order of their first recompile */
    size_t count;
    struct stet_intern values;  /* of each cause, to count each once */
    uint64_t beyond, beyond_ns; /* recompiles of causes that did not fit, and their wait */
};

/* False if memory runs out; release either way. */
bool stet_causes_init(struct stet_causes *c);
void stet_causes_release(struct stet_causes *c);
/* Returns the number of its cause, or -1 if there is no room for another. */
int stet_causes_add(struct stet_causes *c, const struct stet_recompile *r);

/* Returns the number of the first group of that cause in that function, or -1. */
int stet_causes_find(const struct stet_causes *c, enum stet_cause cause, struct stet_view function);

static inline bool stet_causes_failed(const struct stet_causes *c)
{
    return c->arena.failed || c->values.failed;
}

#endif
