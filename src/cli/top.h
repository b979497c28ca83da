/* What `stet top` shows, and how it looks at the moment. */
#ifndef STET_CLI_TOP_H
#define STET_CLI_TOP_H

#include "cli/page.h"
#include "monitor/attach.h"

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
    uint64_t now_ns; /* of what is shown; does not move while paused */
    enum stet_top_sort sort;
    int64_t rank; /* STET_ALL_RANKS, or the one that is looked at */
    bool paused, help;
    /* For rates of what is only counted. */
    uint64_t last_ns, last_bytes[STET_MEASURED];
    double bytes_rate[STET_MEASURED];
    bool rates; /* they are known: it was looked at twice */
};

void stet_cli_top_init(struct stet_top *t, struct stet_monitor_attach *a);
/* Reads what is new; true when there may be more later. */
bool stet_cli_top_poll(struct stet_top *t);
/* Fills the page, which was begun. */
void stet_cli_top_page(const struct stet_top *t, struct stet_page *p);
/* The rank after (or before) the one that is looked at; around by way of all of them. */
void stet_cli_top_next_rank(struct stet_top *t, int direction);
const char *stet_cli_top_sort_name(enum stet_top_sort sort);

/* The interactive one; -1 when there is no terminal that can do it, else the exit code. */
int stet_cli_top_screen(struct stet_top *t, double interval);

#endif
