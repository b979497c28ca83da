/* Runs that ran out of memory: what was missing, which program and line, what changed since the
 * last program of that function that did fit, and what to do. `stet run` prints it when the command
 * has ended, `stet explain` later. The list owns everything but what it borrows from the digest. */
#ifndef STET_SESSION_EXHAUSTED_H
#define STET_SESSION_EXHAUSTED_H

#include "base/arena.h"
#include "base/json.h"
#include "footprint/out_of_memory.h"
#include "footprint/remedy.h"
#include "ledger/run_load.h"

enum { STET_EXHAUSTED_LINES = 10, STET_EXHAUSTED_CHANGES = 6 };

struct stet_exhausted_line {
    struct stet_view file, operation, shape;
    uint32_t line, count;
    uint64_t bytes;
};

/* An argument that differs from that of the last program that did fit. */
struct stet_exhausted_change {
    struct stet_view argument, from, to;
};

struct stet_exhausted {
    struct stet_oom oom;
    struct stet_view message;
    uint64_t process, pid;
    bool compiling;           /* while it compiled; otherwise while it executed */
    struct stet_view program; /* "jit_step"; empty if it is not known */
    char hash[STET_HASH_TEXT];
    struct stet_view file; /* the line that waited for it or executed it */
    uint64_t line;
    struct stet_exhausted_line lines[STET_EXHAUSTED_LINES];
    size_t line_count;
    bool whole; /* the lines are of the program before it was compiled, arrays of all devices */
    bool has_before;
    char before[STET_HASH_TEXT];
    struct stet_view before_run, before_command; /* empty: it ran in this run */
    uint64_t before_temporaries;                 /* 0: not known */
    struct stet_exhausted_change changes[STET_EXHAUSTED_CHANGES];
    size_t change_count, more_changes;
    struct stet_remedy advice[STET_REMEDIES];
    size_t advice_count;
    uint64_t
        limit; /* what the process may use of a device, by the compile's options; 0: not known */
    uint64_t
        times; /* equal errors, one after the other; each result of a failed execution has one */
};

struct stet_exhausted_list {
    struct stet_arena arena;
    struct stet_exhausted *items;
    size_t count, room;
};

/* Reads the programs that it needs from the run's folder. Release it even after a failure. */
enum stet_rc stet_session_exhausted(struct stet_exhausted_list *l, const struct stet_run_digest *d,
                                    const char *folder, struct stet_err *err);
void stet_session_exhausted_release(struct stet_exhausted_list *l);

/* Appends a line for each remedy, after `prefix`. */
void stet_session_remedies_text(struct stet_buf *out, const struct stet_remedy *advice,
                                size_t count, const char *prefix);
/* The member "advice", an array. */
void stet_session_remedies_json(struct stet_json *j, const struct stet_remedy *advice,
                                size_t count);

/* Appends each for people, every line after `prefix`. */
void stet_session_exhausted_text(struct stet_buf *out, const struct stet_exhausted_list *l,
                                 const char *prefix);
/* The member "out_of_memory", an array. */
void stet_session_exhausted_json(struct stet_json *j, const struct stet_exhausted_list *l);

#endif
