/* Decides whether a contract allows a compile. The layer calls it before a compile; `stet check`,
 * `stet contract update` and the parent of `stet run --contract` call it afterwards. A process has
 * one gate, which counts its budgets. The gate borrows the contract. */
#ifndef STET_GATE_GATE_H
#define STET_GATE_GATE_H

#include "gate/contract.h"
#include "gate/seen.h"

struct stet_tallies;

struct stet_gate {
    const struct stet_contract *contract; /* borrowed */
    bool foreign; /* made on the CPU backend, used elsewhere: its clauses are left out */
    struct stet_tallies
        *families; /* one for each family that the contract had when the gate was opened */
    uint32_t family_count;
};

enum { STET_BREACH_TEXT = 320 };

struct stet_breach {
    enum stet_clause clause;
    const struct stet_family *family; /* NULL: none */
    uint32_t line;                    /* of the contract; 0: none */
    struct stet_view argument;        /* borrowed from what was seen or from the contract */
    uint32_t number;                  /* of the argument in the program; UINT32_MAX: none */
    char what[STET_BREACH_TEXT];      /* "tokens has dimension 1 = 48; allowed is 33" */
};

enum stet_rc stet_gate_init(struct stet_gate *g, const struct stet_contract *c, bool foreign,
                            struct stet_err *err);
void stet_gate_release(struct stet_gate *g);

/* True if it breaks the contract. A program that breaks it does not count towards budgets. */
bool stet_gate_breaks(struct stet_gate *g, const struct stet_seen *s, struct stet_breach *out);
/* The family that a program fits, or that it is closest to; NULL if there is none of its name. */
const struct stet_family *stet_gate_family(const struct stet_gate *g, const struct stet_seen *s,
                                           struct stet_breach *out);

#endif
