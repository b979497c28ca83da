/* What a job that makes no progress waits for: which ranks hold it up, and how. It is found from
 * the states of the ranks (rank_state.h). `stet ranks`, `stet top` and `stet run --hang-after`
 * print it. */
#ifndef STET_MONITOR_RANK_HANG_H
#define STET_MONITOR_RANK_HANG_H

#include "monitor/rank_state.h"

enum { STET_HANG_RANKS = 8 };

struct stet_rank_hang {
    bool found;               /* some ranks have waited for a while, in a program of theirs */
    enum stet_rank_kind kind; /* of those that hold them up */
    bool behind; /* all are inside programs; those named have started the last one less often */
    bool all;    /* all are inside programs, and have started them equally often: no rank holds the
                    others up */
    int64_t ranks[STET_HANG_RANKS]; /* the first of those that hold the others up */
    size_t count, waiting;          /* how many hold up, and how many wait */
    struct stet_view program;       /* what the others wait in; may be empty */
    const char *file;               /* where the first of them is now; NULL when not known */
    uint64_t line;
};

void stet_monitor_rank_hang(struct stet_rank_hang *out, const struct stet_rank_states *s);
/* Appends a sentence without its end: "rank 2 is in host code at train.py:21 and has not come; 3
 * ranks wait for it in train_step". Nothing if nothing was found. */
void stet_monitor_rank_hang_text(struct stet_buf *out, const struct stet_rank_hang *h);

#endif
