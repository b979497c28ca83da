/* The struct shared by steps.c (deciding, counting) and steps_window.c (judging one window of
 * flow). No caller of steps.h needs it. */
#ifndef STET_LEDGER_STEPS_INTERNAL_H
#define STET_LEDGER_STEPS_INTERNAL_H

#include "ledger/steps.h"

enum {
    STET_STEPS_RECUR = 4,  /* how often something must recur to be a loop */
    STET_STEPS_GROUPS = 8, /* programs that may take turns */
    STET_STEPS_NONE = UINT8_MAX,
};

struct stet_steps_program {
    struct stet_hash name, family; /* zero when not known */
    uint32_t results;              /* of its last followed execution */
    bool followed;                 /* some window contains it */
    bool closes, passes;           /* in some window it closes steps; in some, state bypasses it */
    uint8_t group; /* its group among those that take turns; STET_STEPS_NONE for none */
};

struct stet_steps_edge {
    uint32_t from, args;
    bool external;
};

struct stet_steps_entry {
    uint32_t program, first_edge, edge_count, args;
    uint64_t number;
};

struct stet_steps {
    struct stet_steps_program *programs;
    size_t program_count, program_room;
    uint32_t *by_executable; /* id -> program + 1 */
    size_t by_executable_room;

    /* The current window. */
    struct stet_steps_entry *entries;
    size_t entry_count, entry_room;
    struct stet_steps_edge *edges;
    size_t edge_count, edge_room;
    uint64_t window;

    /* What the windows showed. */
    uint64_t *skip; /* numbers of executions whose results were discarded */
    size_t skip_count, skip_room;
    size_t groups;         /* programs that take turns; 0 before anything was found */
    const char *ambiguous; /* why there can be no answer; a literal */
    bool names_tell;       /* programs have different names */
    size_t alike;          /* number of first programs with the name of the very first */
    bool failed;           /* out of memory */

    /* Counting. */
    bool decided, lost;
    const char *why;
    uint64_t number, completed, violations;
    uint64_t in_turn; /* group that is next */
    size_t skipped;
};

bool stet_ledger_steps_grow(struct stet_steps *s, void **array, size_t *room, size_t need,
                            size_t size);
/* Variants of one program: same family, or same name and equally many results. */
bool stet_ledger_steps_same(const struct stet_steps *s, const struct stet_steps_program *a,
                            const struct stet_steps_program *b);
/* Judges the current window and adds to what is known. */
void stet_ledger_steps_judge(struct stet_steps *s);

#endif
