/* What each process of a run does at this moment: `stet ranks`, and `stet run --hang-after`. Needs
 * nothing from the processes: it reads their journals, /proc and, if it may, their memory. */
#ifndef STET_MONITOR_RANK_STATE_H
#define STET_MONITOR_RANK_STATE_H

#include "base/arena.h"
#include "journal/remote_stack.h"
#include "monitor/attach.h"

enum stet_rank_kind {
#define KIND(id, word, what) STET_RANK_##id,
#include "monitor/rank_kinds.def"
#undef KIND
};

const char *stet_monitor_rank_word(enum stet_rank_kind kind);

struct stet_rank_state {
    enum stet_rank_kind kind;
    int64_t rank; /* -1 when not known */
    uint64_t pid; /* 0: there is no process */
    const char *host;
    struct stet_view program;  /* the last that it started; or that it compiles; may be empty */
    uint64_t runs;             /* of that program, when it was started */
    uint64_t behind;           /* other ranks that have started it less often */
    int64_t behind_rank;       /* one of them: the one with the fewest... */
    uint64_t behind_runs;      /* ...and how many */
    bool finished_known;       /* of programs that several processes run */
    struct stet_view finished; /* the last one to finish; may be empty */
    struct stet_view pending;  /* started and not finished: the oldest; may be empty */
    uint64_t pending_count;    /* executions */
    uint64_t pending_ns;       /* since the oldest was started */
    bool at_least; /* it could not write its last executions: the counts are lower bounds */
    uint64_t executions, wait_ns, memory, memory_peak;
    bool steps_known;
    uint64_t steps;
    uint64_t age_ns;  /* since its last record */
    uint64_t open_ns; /* COMPILING: since the compile began */
    /* Where its Python thread is: the innermost frame, and the user's own. */
    bool now; /* read at this moment; else from its last compile */
    char why_not[128];
    char file[256], function[96];
    uint64_t line;
    char inner_file[256], inner_function[96]; /* "" if it is the user's own */
    uint64_t inner_line;
    bool remote;            /* on another host, where it was looked at... */
    uint64_t seen_s;        /* ...so many seconds ago */
    const char *blocked_in; /* WAITING: what it waits for in the kernel; NULL when not known */
};

struct stet_rank_states {
    struct stet_rank_state *items; /* the slowest and the missing first */
    size_t count;
    int64_t world;           /* processes of the job by its launcher; 0 when not known */
    size_t left_out;         /* processes of the run that are not followed: there are too many */
    struct stet_arena arena; /* texts about ranks of other hosts */
};

/* Takes a quarter of a second, in which it sees which threads run. Texts are borrowed from `a`. */
enum stet_rc stet_monitor_ranks_look(struct stet_rank_states *out,
                                     const struct stet_monitor_attach *a, struct stet_err *err);
void stet_monitor_ranks_release(struct stet_rank_states *s);
/* The slowest and the missing first. */
void stet_monitor_ranks_sort(struct stet_rank_states *s);
struct stet_json;
/* Writes one of "ranks" of schema stet.ranks/1. */
void stet_monitor_rank_json(struct stet_json *j, const struct stet_rank_state *s);
/* Writes "hang" and "ranks" of that schema. */
void stet_monitor_ranks_json_parts(struct stet_json *j, const struct stet_rank_states *s);
/* Writes schema stet.ranks/1. */
void stet_monitor_ranks_json(struct stet_buf *out, const struct stet_monitor_attach *a,
                             const struct stet_rank_states *s);

#endif
