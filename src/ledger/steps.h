/* Steps of a training loop, inferred from its executions: right, or not given. */
#ifndef STET_LEDGER_STEPS_H
#define STET_LEDGER_STEPS_H

#include "base/hash.h"
#include "journal/flow.h"

/* What a step is. The carried state of a loop (parameters, optimizer, whatever it feeds back)
 * passes from execution to execution. A program that lets none of that state pass by it closes a
 * step: a plain training step does, the optimizer's update after any number of micro-steps does, a
 * micro-step does not (the parameters pass it by), and evaluation, logging, sampling, averaging of
 * weights and checkpoints are not on the way at all. Two programs that take turns (a generator and
 * a discriminator) close a step together. docs/steps.md has the argument and the measured errors.
 *
 * Use: name the executables and feed every flow record, decide, then feed the executions in order
 * and ask at any point how many steps were completed by then. */
struct stet_steps;

/* NULL when memory is short; every function takes NULL as "knows nothing". */
struct stet_steps *stet_steps_new(void);
void stet_steps_free(struct stet_steps *s);

/* What is known of an executable: its name ("jit_train_step", may be empty) and its family (zero
 * when not known). Both tell which executables are variants of one program. */
void stet_steps_executable(struct stet_steps *s, uint64_t executable, struct stet_view name,
                           struct stet_hash family);
void stet_steps_flow(struct stet_steps *s, const struct stet_rec_flow *rec);

/* After this no more of the above. */
void stet_steps_decide(struct stet_steps *s);

/* One execution; in order, all of them, from the first. */
void stet_steps_add(struct stet_steps *s, uint64_t executable);
/* Executions are missing here (lost records): nothing is known from here on. */
void stet_steps_gap(struct stet_steps *s);

struct stet_steps_answer {
    bool known;
    uint64_t completed; /* steps, valid when known */
    const char *why;    /* not known: a sentence; known: how it was found. A literal */
};

/* After the executions fed so far. */
struct stet_steps_answer stet_steps_now(const struct stet_steps *s);
/* What an executable is to the loop, once decided. */
enum stet_steps_role { STET_STEPS_OUTSIDE, STET_STEPS_INSIDE, STET_STEPS_CLOSES };
enum stet_steps_role stet_steps_role(const struct stet_steps *s, uint64_t executable);

#endif
