/* The state of `stet top`: the attached run, the rank and the order of rows. `stet top`
 * polls it, and src/screen makes a page from it. The state borrows the attached run. */
#ifndef STET_MONITOR_TOP_H
#define STET_MONITOR_TOP_H

#include "monitor/attach.h"
#include "monitor/rank_hang.h"

enum stet_top_sort {
    STET_SORT_RANK,
    STET_SORT_RATE,
    STET_SORT_COMPILES,
    STET_SORT_LOST,
    STET_SORT_LAST,
    STET_SORTS
};

struct stet_top {
    struct stet_monitor_attach *attach;
    uint64_t now_ns; /* the time shown; does not change while paused */
    enum stet_top_sort sort;
    int64_t rank; /* STET_ALL_RANKS, or the rank shown */
    bool paused, help;
    /* For rates of values that are only counted. */
    uint64_t last_ns, last_bytes[STET_MEASURED];
    double bytes_rate[STET_MEASURED];
    bool rates; /* the rates are known: there were two polls */
    /* A running job without a new record for a while: what each rank does. */
    struct stet_rank_states still; /* count 0: it moves, or nothing is known */
    uint64_t still_ns;             /* since its last record */
    uint64_t looked_ns;
};

/* A row of a table: an index into the pulse's processes, families or causes. */
struct stet_top_row {
    uint64_t order, tie;
    size_t index;
    uint64_t times, wait_ns, last_ns; /* what the ranks shown had of a cause */
};

void stet_monitor_top_init(struct stet_top *t, struct stet_monitor_attach *a);
void stet_monitor_top_release(struct stet_top *t);
/* Reads what is new; true when more may follow. */
bool stet_monitor_top_poll(struct stet_top *t);
/* Selects the rank after (or before) the present one; all ranks together are between the last and
 * the first. */
void stet_monitor_top_next_rank(struct stet_top *t, int direction);
const char *stet_monitor_top_sort_name(enum stet_top_sort sort);

/* Fill the rows of the selected rank, in order, and return their count. There is room for
 * STET_PULSE_PROCESSES, _FAMILIES and _CAUSES. */
size_t stet_monitor_top_processes(const struct stet_top *t, struct stet_top_row *rows);
size_t stet_monitor_top_causes(const struct stet_top *t, struct stet_top_row *rows);
/* Families of one name are one row; `sums` has the sum of each at the row's index. */
size_t stet_monitor_top_families(const struct stet_top *t, struct stet_top_row *rows,
                                 struct stet_pulse_family *sums);

#endif
