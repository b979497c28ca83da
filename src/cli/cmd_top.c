/* stet top: shows a run while it goes on. */
#include "cli/command.h"

#include "monitor/pulse_json.h"
#include "screen/top_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const struct stet_usage usage = {
    "stet top [options] [RUN|PID|newest]",
    "Shows a run in progress: step rate, compiles and the time they cost, families that "
    "grow,\n"
    "tiers that served, transfers, memory of devices, and why programs were compiled again, with "
    "the "
    "line.\n"
    "Without RUN: the newest one in progress. Keys: q quit, h help. Where there is no terminal it\n"
    "prints a block of lines every interval until the run ends.",
    "top",
};

struct wishes {
    bool plain, once, json;
    double interval;
};

/* Prints a block for a log: as wide as the terminal, otherwise 100 columns, and as long as
 * needed. */
static void print_block(struct stet_buf *out, const struct stet_top *t)
{
    struct stet_page page = {0};
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    int width = columns ? atoi(columns) : 0;

    if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    stet_page_begin(&page, width > 0 && width < 1000 ? width : 100, 60);
    stet_screen_page(t, &page);
    stet_page_plain(out, &page, stet_text_colour(STDOUT_FILENO));
    if (page.text.failed)
        out->failed = true;
    stet_page_release(&page);
}

static int print_all(struct stet_top *t, const struct wishes *w)
{
    int code = STET_EXIT_FINE;
    bool more = true;

    while (code == STET_EXIT_FINE && more) {
        struct stet_buf out = STET_BUF_INIT;

        more = stet_monitor_top_poll(t) && !w->once;
        if (w->json)
            stet_pulse_json(&out, t->attach, t->now_ns, &t->still);
        else
            print_block(&out, t);
        if (more && !w->json)
            stet_buf_char(&out, '\n');
        code = stet_cli_print(&out, STET_EXIT_FINE);
        if (more && code == STET_EXIT_FINE) {
            struct timespec pause = {(time_t)w->interval,
                                     (long)((w->interval - (double)(time_t)w->interval) * 1e9)};

            nanosleep(&pause, NULL);
        }
    }
    return code;
}

static int show(struct stet_monitor_attach *a, const struct wishes *w)
{
    struct stet_top top;
    int code = -1;

    stet_monitor_top_init(&top, a);
    stet_page_locale();
    if (!w->plain && !w->once && !w->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        code = stet_screen_run(&top, w->interval);
    if (code < 0)
        code = print_all(&top, w);
    stet_monitor_top_release(&top);
    return code;
}

int cmd_top(int argc, char **argv)
{
    static struct stet_monitor_attach a;
    struct wishes w = {.interval = 1};
    const char *every = NULL;
    const struct stet_option options[] = {
        {"plain", NULL, "print a block of lines every interval instead of a screen",
         STET_OPTION_FLAG, &w.plain},
        {"once", NULL, "print one block and exit", STET_OPTION_FLAG, &w.once},
        {"interval", "SECONDS", "how often to look (default 1)", STET_OPTION_VALUE, &every},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    struct stet_args args;
    char *end = NULL;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count > 1)
        return stet_cli_usage_error(&usage, "one run at a time");
    if (every) {
        w.interval = strtod(every, &end);
        if (end == every || *end || !(w.interval >= 0.1 && w.interval <= 3600))
            return stet_cli_usage_error(&usage, "--interval is seconds, from 0.1 to 3600");
    }
    w.json = args.format == STET_FORMAT_JSON;
    if (stet_monitor_attach_open(&a, args.count ? args.values[0] : NULL, &err) != STET_OK)
        return stet_cli_complain(&err);
    done = show(&a, &w);
    stet_monitor_attach_close(&a);
    return done;
}
