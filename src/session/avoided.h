/* The compiles that a run did not have to make: how many, and how long compiling would have taken,
 * by the line that asked for them and by what served them. Everything that reports such numbers
 * takes them from here. The families that are not lifted any more are listed too, and those whose
 * lifted results differ in rounding. The texts are the digest's, and valid as long as it is. */
#ifndef STET_SESSION_AVOIDED_H
#define STET_SESSION_AVOIDED_H

#include "base/json.h"
#include "ledger/run_load.h"

/* Compiles that were served. `known` of them have a known compile time: the sums of times are over
 * those. */
struct stet_avoided_sum {
    uint64_t compiles, known;
    uint64_t took_ns;    /* to find and load them, or to prepare their values */
    uint64_t instead_ns; /* in the plugin, when they were compiled */
};

struct stet_avoided_line {
    struct stet_trigger at; /* line 0: not known */
    uint64_t first_ns;      /* CLOCK_REALTIME of its first compile */
    struct stet_avoided_sum all, by[STET_SERVED_COUNT];
};

/* A family that is not lifted any more, or a function none of whose programs can be lifted. */
struct stet_avoided_refusal {
    struct stet_view name, why; /* of the executable */
    struct stet_trigger at;
    uint64_t alone; /* how many of its programs cannot be lifted; 0 for a family */
};

/* A function whose lifted results differ from the plain ones in rounding. */
struct stet_avoided_difference {
    struct stet_view name; /* of the executable */
    struct stet_trigger at;
    uint64_t elements, ulp; /* that differ, in units in the last place at most */
};

struct stet_avoided {
    struct stet_avoided_sum all, by[STET_SERVED_COUNT];
    struct stet_avoided_line *lines; /* in the order of their first compiles */
    size_t line_count, line_room;
    struct stet_avoided_refusal *refusals;
    size_t refusal_count, refusal_room;
    struct stet_avoided_difference *differences;
    size_t difference_count, difference_room;
    uint64_t compared;        /* executions of lifted programs that were compared with plain ones */
    uint64_t ahead, ahead_ns; /* lifted programs that were compiled in the background */
    /* Programs that were lifted and compiled as they are, to compare results or to run after all;
     * how long that took, and how much of it executions waited for. */
    uint64_t plain, plain_ns, plain_waited_ns;
};

void stet_avoided_make(struct stet_avoided *a, const struct stet_run_digest *d);
void stet_avoided_release(struct stet_avoided *a);

/* The lines that avoided the most first. */
void stet_avoided_sort(struct stet_avoided *a);
/* Was a compile lifted, or may serving one have taken less time than compiling it? */
bool stet_avoided_any(const struct stet_avoided *a);

/* Adds `more` to `s`. */
void stet_avoided_add(struct stet_avoided_sum *s, const struct stet_avoided_sum *more);
/* Those that were kept executables: from memory, from disk or from another host. */
struct stet_avoided_sum stet_avoided_kept(const struct stet_avoided *a);
/* What was not waited, or 0 if serving took longer than compiling. */
uint64_t stet_avoided_ns(const struct stet_avoided_sum *s);

/* Appends a line for what was lifted, one for what the store had, one for what was compiled in the
 * background or to compare results, and one for each family that is not lifted any more or differs
 * in rounding. */
void stet_avoided_summary(struct stet_buf *out, const char *indent, const struct stet_avoided *a,
                          uint64_t compiles);
/* Appends the first lines, as "train.py:30: 2 lifted, 3 from memory: 1 ms instead of 40 ms". */
void stet_avoided_lines(struct stet_buf *out, const char *indent, const struct stet_avoided *a);

/* Writes the members "avoided" and, if there is something in them, "unlifted" and "lifting". */
void stet_avoided_json(struct stet_json *j, const struct stet_avoided *a);

#endif
