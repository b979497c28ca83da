/* Counts the steps of a process that is still running, with the same answer that run_steps.h gives
 * afterwards. The monitor feeds it the process's records and reads the answer at any time. The
 * caller releases it. */
#ifndef STET_LEDGER_STEPS_LIVE_H
#define STET_LEDGER_STEPS_LIVE_H

#include "journal/execs.h"
#include "journal/read.h"
#include "ledger/steps.h"

/* The decision which programs close a step needs evidence that comes after the first executions.
 * Records are therefore kept in encoded form and counted again when there is more evidence. Beyond
 * this many bytes the last decision is final. */
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
    uint64_t next_ns;                                     /* not counted anew before this time */
    bool stale, full, ever;                               /* ever: steps were known once */
    struct stet_steps_sample samples[STET_STEPS_SAMPLES]; /* a ring, by time */
    uint32_t sample_count, sample_next;
};

void stet_ledger_steps_live_init(struct stet_steps_live *s, struct stet_exec *batch);
void stet_ledger_steps_live_release(struct stet_steps_live *s);

/* Takes any record of the process, in order; `wall_minus_mono` as in the digest. */
void stet_ledger_steps_live_take(struct stet_steps_live *s, const struct stet_journal_event *e,
                                 uint64_t wall_minus_mono);
/* Call it after some records. It decides again if there is a reason; with `last`, at once and at
 * any cost. */
void stet_ledger_steps_live_settle(struct stet_steps_live *s, bool last);
/* While evidence of a new program is incomplete, the last answer is kept. A later decision may give
 * another number than an earlier one. */
struct stet_steps_answer stet_ledger_steps_live_now(const struct stet_steps_live *s);

/* Steps per second, over the last ten seconds before `wall_ns` (for a run that has ended: its last
 * record). */
struct stet_rate {
    double steps, executions;
};

struct stet_rate stet_ledger_steps_live_rate(const struct stet_steps_live *s, uint64_t wall_ns);

#endif
