/* Finds what the run read back from the device, and what depends on it.
 * The layer records each copy to the host with the user's lines that caused it. A copy matters for
 * a compile if its recorded value shows it, otherwise if the source between the two lines shows it.
 * How a read-back is written has no influence. */
#ifndef STET_EXPLAIN_READBACK_H
#define STET_EXPLAIN_READBACK_H

#include "explain/history.h"

/* A read-back that decides: the line of the user's own code that caused it. */
struct stet_read {
    struct stet_place at; /* the line that reads, or makes a number of what was read */
    uint32_t line;        /* the line of the trigger's file that leads there; 0 when none does */
    bool sure;            /* the value agrees, or the condition itself reads */
    bool selected;        /* a mask was read, and a size is the number of elements it selects */
};

/* Does the run show which lines read back? Otherwise only the source does. */
bool stet_explain_reads_known(const struct stet_history *h, const struct stet_finding *f);
/* Returns how many copies of the process came before a compile. */
size_t stet_explain_copies_until(const struct stet_order *o, uint64_t time_ns);
/* Was something read back at this line, by the line itself or by what it calls, this many times? */
bool stet_explain_read_at(const struct stet_history *h, uint32_t process,
                          const struct stet_place *line, uint64_t times);
/* Does a condition that decides whether the waiting line runs depend on a value read back? A loop's
 * condition counts only if the program is not a first one. */
bool stet_explain_read_decides(struct stet_history *h, const struct stet_finding *f,
                               struct stet_read *out);
/* Does a static argument, or a size that changed, depend on a value read back? `sizes`: only a
 * number that is a size. */
bool stet_explain_read_passed(struct stet_history *h, const struct stet_finding *f, bool sizes,
                              struct stet_read *out);

/* Returns where a finding's value was read back as text: "line 12", or "data.py:12" in another file
 * than the trigger's. */
struct stet_view stet_explain_read_words(struct stet_history *h, const struct stet_finding *f);

#endif
