/* Steps of a process that still runs: the same answer as run_steps.h gives afterwards. */
#ifndef STET_LEDGER_STEPS_LIVE_H
#define STET_LEDGER_STEPS_LIVE_H

#include "journal/execs.h"
#include "journal/read.h"
#include "ledger/steps.h"

/* What closes a step is decided from evidence that comes after the first executions, so records are
 * kept in their coded form and counted again whenever there is more evidence. Beyond so many bytes
 * the last decision stands. */
#define STET_STEPS_LIVE_KEPT ((size_t)8 << 20)

enum { STET_STEPS_SAMPLES = 128 };

struct stet_steps_sample {
    uint64_t wall_ns, executions, steps;
};

struct stet_steps_live {
    struct stet_steps *steps; /* NULL before the first decision */
    struct stet_buf kept;
    struct stet_exec *batch;                              /* borrowed, STET_EXECS_MAX of them */
    uint64_t expected;                                    /* executions before the next batch */
    uint64_t executions;                                  /* public: counted so far */
    uint64_t best;                                        /* steps when they were last known */
    uint64_t next_ns;                                     /* not counted anew before */
    bool stale, full, ever;                               /* ever: steps were known once */
    struct stet_steps_sample samples[STET_STEPS_SAMPLES]; /* a ring, by time */
    uint32_t sample_count, sample_next;
};

void stet_ledger_steps_live_init(struct stet_steps_live *s, struct stet_exec *batch);
void stet_ledger_steps_live_release(struct stet_steps_live *s);

/* Any record of the process, in order; `wall_minus_mono` as in the digest. */
void stet_ledger_steps_live_take(struct stet_steps_live *s, const struct stet_journal_event *e,
                                 uint64_t wall_minus_mono);
/* After some were taken: decides anew where there is cause. `last`: at once, whatever it costs. */
void stet_ledger_steps_live_settle(struct stet_steps_live *s, bool last);
/* While evidence of a new program is on its way, the last answer stands. A later decision may find
 * another number than an earlier one did. */
struct stet_steps_answer stet_ledger_steps_live_now(const struct stet_steps_live *s);

/* Per second, over the last ten before `wall_ns` (a run that has ended: its last record). */
struct stet_rate {
    double steps, executions;
};

struct stet_rate stet_ledger_steps_live_rate(const struct stet_steps_live *s, uint64_t wall_ns);

#endif
