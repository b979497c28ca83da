/* stet ranks: prints what each process of a run does, while it runs or hangs. */
#include "cli/command.h"

#include "cli/ranks_text.h"
#include "monitor/rank_post.h"

static const struct stet_usage usage = {
    "stet ranks [options] [RUN|PID]",
    "Shows each process of a run (the newest that runs, else the latest): what it does now, its\n"
    "Python line, its last program, its counts, and when it last gave a sign of life. The slowest\n"
    "and the missing come first. It needs nothing from the processes, so it works while they hang.",
    "ranks",
};

static enum stet_rc look(struct stet_rank_states *s, const struct stet_monitor_attach *a,
                         struct stet_err *err)
{
    enum stet_rc rc = stet_monitor_ranks_look(s, a, err);

    if (rc == STET_OK)
        stet_monitor_post_read(s, a);
    return rc;
}

int cmd_ranks(int argc, char **argv)
{
    const struct stet_option options[] = {{0}};
    struct stet_buf text = STET_TEXT_INIT, json = STET_BUF_INIT;
    struct stet_err err = STET_ERR_INIT;
    struct stet_monitor_attach a;
    struct stet_rank_states s;
    struct stet_args args;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count > 1)
        return stet_cli_usage_error(&usage, "one run at a time");
    if (stet_monitor_attach_open(&a, args.count ? args.values[0] : NULL, &err) != STET_OK)
        return stet_cli_complain(&err);
    stet_monitor_attach_poll(&a);
    if (look(&s, &a, &err) != STET_OK) {
        done = stet_cli_complain(&err);
    } else if (args.format == STET_FORMAT_JSON) {
        stet_monitor_ranks_json(&json, &a, &s);
        done = stet_cli_print(&json, STET_EXIT_FINE);
    } else {
        stet_cli_ranks_text(&text, &a, &s);
        done = stet_cli_print(&text, STET_EXIT_FINE);
    }
    stet_monitor_ranks_release(&s);
    stet_monitor_attach_close(&a);
    return done;
}
