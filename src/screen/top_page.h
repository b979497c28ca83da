/* The page of `stet top`, and the terminal screen that shows it and handles its keys. Both read the
 * model of src/monitor; the caller owns model and page. */
#ifndef STET_SCREEN_TOP_PAGE_H
#define STET_SCREEN_TOP_PAGE_H

#include "base/page.h"
#include "monitor/top.h"

/* Fills a page that was begun. */
void stet_screen_page(const struct stet_top *t, struct stet_page *p);

/* Runs the interactive screen until the user quits. Returns 0, or -1 when the terminal cannot show
 * it. */
int stet_screen_run(struct stet_top *t, double interval);

#endif
