/* What the run was seen to read back from the device, and what rests on it.
 *
 * The layer records each copy to the host with the user's lines that asked for it. Which of them
 * matters for a compile is decided by the value where it was kept, and otherwise by the source
 * between the two lines: how a read-back is written decides nothing. */
#ifndef STET_EXPLAIN_READBACK_H
#define STET_EXPLAIN_READBACK_H

#include "explain/history.h"

/* A read-back that decides: where the user's own code asked for it. */
struct stet_read {
    struct stet_place at; /* the innermost line */
    uint32_t line;        /* the line of the trigger's file that leads there; 0 when none does */
    bool sure;            /* the value agrees, or the condition itself reads */
};

/* How many copies of the process came before the moment of a compile. */
size_t stet_explain_copies_until(const struct stet_order *o, uint64_t time_ns);
/* Was something read back at this line, by itself or by what it calls, so many times? */
bool stet_explain_read_at(const struct stet_history *h, uint32_t process,
                          const struct stet_place *line, uint64_t times);
/* Does a condition that decides whether the waiting line runs rest on a value read back? That of a
 * loop counts only when the program is not a first one. */
bool stet_explain_read_decides(struct stet_history *h, const struct stet_finding *f,
                               struct stet_read *out);
/* Does a static argument, or a size that moved, rest on a value read back? `sizes`: only a number
 * that is a size. */
bool stet_explain_read_passed(struct stet_history *h, const struct stet_finding *f, bool sizes,
                              struct stet_read *out);

/* Where a finding's value was read back, in words: "line 12", or "data.py:12" in another file than
 * the trigger's. */
struct stet_view stet_explain_read_words(struct stet_history *h, const struct stet_finding *f);

/* About the source, in readback_flow.c. Does a condition that decides whether line `use` runs rest
 * on what line `read` of the same function computes? *direct: the condition is in that line. */
bool stet_explain_flow_condition(struct stet_history *h, struct stet_view file, uint32_t use,
                                 uint32_t read, bool loops, bool *direct);
/* The line that last gave `name` a value before line `use` of the same function; 0 when the
 * statement there does not mention it, or no line is seen to. */
uint32_t stet_explain_flow_binding(struct stet_history *h, struct stet_view file, uint32_t use,
                                   struct stet_view name);
/* The line that gave the name called in line `use` its value, in the same function or at module
 * level; 0 when none is seen to. */
uint32_t stet_explain_flow_callee(struct stet_history *h, struct stet_view file, uint32_t use);
/* Does what line `use` passes on rest on it? */
bool stet_explain_flow_argument(struct stet_history *h, struct stet_view file, uint32_t use,
                                uint32_t read);

#endif
