/* The state and the page of `stet top`. cmd_top.c and top_screen.c poll the state and fill a page
 * from it. The state borrows the attached run. */
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
    uint64_t now_ns; /* the time shown; does not change while paused */
    enum stet_top_sort sort;
    int64_t rank; /* STET_ALL_RANKS, or the rank shown */
    bool paused, help;
    /* For rates of values that are only counted. */
    uint64_t last_ns, last_bytes[STET_MEASURED];
    double bytes_rate[STET_MEASURED];
    bool rates; /* the rates are known: there were two polls */
};

void stet_cli_top_init(struct stet_top *t, struct stet_monitor_attach *a);
/* Reads what is new; true when more may follow. */
bool stet_cli_top_poll(struct stet_top *t);
/* Fills a page that was begun. */
void stet_cli_top_page(const struct stet_top *t, struct stet_page *p);
/* Selects the rank after (or before) the present one; all ranks together are between the last and
 * the first. */
void stet_cli_top_next_rank(struct stet_top *t, int direction);
const char *stet_cli_top_sort_name(enum stet_top_sort sort);

/* Runs the interactive screen. Returns -1 when the terminal cannot show it, otherwise the exit
 * code. */
int stet_cli_top_screen(struct stet_top *t, double interval);

/* Fills the page with the keys and the meaning of the words. */
void stet_cli_top_help(const struct stet_top *t, struct stet_page *p);

#endif
