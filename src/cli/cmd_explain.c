/* stet explain: why each program of a run was compiled again. */
#include "cli/command.h"
#include "cli/explain.h"

#include <unistd.h>

static const struct stet_usage usage = {
    "stet explain [options] [RUN]",
    "Says of every recompile of a run (the latest one when none is named) what changed, the line\n"
    "where it enters the program, the line that waited for it, what it cost and what to do about\n"
    "it. Exit 0 when nothing but harmless warm-up was found, 1 when there is something to fix.",
    "docs/explain.md",
};

static bool has_alarm(const struct stet_history *h)
{
    for (uint32_t i = 0; i < h->finding_count; i++)
        if (h->findings[i].reason < STET_REASONS && !h->findings[i].benign)
            return true;
    return false;
}

int cmd_explain(int argc, char **argv)
{
    bool all = false;
    const struct stet_option options[] = {
        {"all", NULL, "every change, and the harmless recompiles too", STET_OPTION_FLAG, &all},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_BUF_INIT;
    const struct stet_run *run;
    struct stet_explained x;
    struct stet_runs runs;
    struct stet_args args;
    int done = stet_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count > 1)
        return stet_usage_error(&usage, "explains one run at a time");
    if (stet_runs_open(&runs, &err) != STET_OK)
        return stet_complain(&err);
    if (stet_runs_find(&runs, args.count ? args.values[0] : NULL, &run, &err) != STET_OK ||
        stet_explain_run(&x, &runs, run, &err) != STET_OK) {
        stet_runs_close(&runs);
        return stet_complain(&err);
    }
    if (args.format == STET_FORMAT_JSON)
        stet_explain_json(&out, &x);
    else
        stet_explain_text(&out, &x, stet_colour(STDOUT_FILENO), all);
    done = has_alarm(&x.history) ? STET_EXIT_FINDING : STET_EXIT_FINE;
    stet_explained_release(&x);
    stet_runs_close(&runs);
    return stet_print(&out, done);
}
