/* Infers the steps of a training loop from its executions. The answer is either right or absent. */
#ifndef STET_LEDGER_STEPS_H
#define STET_LEDGER_STEPS_H

#include "base/hash.h"
#include "journal/flow.h"

/* What a step is. The carried state of a loop (parameters, optimizer, whatever it feeds back)
 * passes from execution to execution. A program closes a step if no part of that state bypasses it.
 * A plain training step does, and so does the optimizer's update after any number of micro-steps. A
 * micro-step does not, because the parameters bypass it. Evaluation, logging, sampling, averaging
 * of weights and checkpoints are not on the path at all. Two programs that alternate (a generator
 * and a discriminator) close a step together. docs/steps.md has the argument and the measured
 * errors.
 *
 * Use: name the executables and feed every flow record, decide, then feed the executions in order,
 * and read at any point how many steps were completed. */
struct stet_steps;

/* NULL if memory runs out. Every function accepts NULL, and then nothing is known. */
struct stet_steps *stet_ledger_steps_new(void);
void stet_ledger_steps_free(struct stet_steps *s);

/* Sets the name of an executable ("jit_train_step", may be empty) and its family (zero if unknown).
 * Both show which executables are variants of one program. */
void stet_ledger_steps_executable(struct stet_steps *s, uint64_t executable, struct stet_view name,
                                  struct stet_hash family);
void stet_ledger_steps_flow(struct stet_steps *s, const struct stet_rec_flow *rec);

/* After this, call none of the above. */
void stet_ledger_steps_decide(struct stet_steps *s);

/* Adds one execution. Add all executions in order, from the first. */
void stet_ledger_steps_add(struct stet_steps *s, uint64_t executable);
/* Executions are missing here (lost records): nothing is known from here on. */
void stet_ledger_steps_gap(struct stet_steps *s);

struct stet_steps_answer {
    bool known;
    uint64_t completed; /* steps, valid when known */
    const char *why;    /* not known: a sentence; known: how it was found. A literal */
};

/* After the executions fed so far. */
struct stet_steps_answer stet_ledger_steps_now(const struct stet_steps *s);
/* The role of an executable in the loop, once decided. */
enum stet_ledger_steps_role { STET_STEPS_OUTSIDE, STET_STEPS_INSIDE, STET_STEPS_CLOSES };
enum stet_ledger_steps_role stet_ledger_steps_role(const struct stet_steps *s, uint64_t executable);

#endif
