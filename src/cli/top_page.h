/* The page and the screen of `stet top`. cmd_top.c chooses between them. */
#ifndef STET_CLI_TOP_PAGE_H
#define STET_CLI_TOP_PAGE_H

#include "base/page.h"
#include "monitor/top.h"

/* Fills a page that was begun. */
void stet_cli_top_page(const struct stet_top *t, struct stet_page *p);

/* Runs the interactive screen. Returns -1 when the terminal cannot show it, otherwise the exit
 * code. */
int stet_cli_top_screen(struct stet_top *t, double interval);

#endif
