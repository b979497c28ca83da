/* stet runs: the runs there are, newest first. */
#include "cli/command.h"

#include "cli/run_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void row_text(struct stet_buf *out, const struct stet_run *run,
                     const struct stet_run_digest *d)
{
    struct stet_buf cell = STET_BUF_INIT;

    stet_text_outcome(&cell, run);
    stet_buf_printf(out, "%-22s  %-9s  %8" PRIu64 "  ", run->id, cell.ptr, d->compiles);
    stet_buf_release(&cell);
    stet_text_duration(&cell, d->compile_ns);
    stet_buf_printf(out, "%9s  %10" PRIu64 "  %s\n", cell.ptr, d->executions, run->command);
    stet_buf_release(&cell);
}

static void row_json(struct stet_json *j, const struct stet_run *run,
                     const struct stet_run_digest *d)
{
    stet_json_object(j, NULL);
    stet_json_cstr(j, "run", run->id);
    stet_json_cstr(j, "command", run->command);
    stet_json_cstr(j, "cwd", run->cwd);
    stet_json_number(j, "started", (double)run->started_ns / 1e9);
    if (run->ended_ns)
        stet_json_number(j, "seconds", (double)(run->ended_ns - run->started_ns) / 1e9);
    else
        stet_json_null(j, "seconds");
    if (run->exit_code >= 0)
        stet_json_int(j, "exit", run->exit_code);
    else
        stet_json_null(j, "exit");
    if (run->signal)
        stet_json_int(j, "signal", run->signal);
    stet_json_uint(j, "processes", d->process_count);
    stet_json_uint(j, "compiles", d->compiles);
    stet_json_uint(j, "loads", d->loads);
    stet_json_number(j, "compile_s", (double)d->compile_ns / 1e9);
    stet_json_uint(j, "executions", d->executions);
    stet_json_end_object(j);
}

static int list(const struct stet_args *args, struct stet_runs *runs, const char *here, size_t most)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;
    size_t shown = 0;

    stet_json_init(&j, &out);
    if (args->format == STET_FORMAT_JSON) {
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.runs/1");
        stet_json_array(&j, "runs");
    } else if (runs->count) {
        stet_buf_printf(&out, "%-22s  %-9s  %8s  %9s  %10s  %s\n", "RUN", "OUTCOME", "COMPILES",
                        "TIME", "EXECUTIONS", "COMMAND");
    }
    for (size_t i = 0; i < runs->count && shown < most; i++) {
        struct stet_run_digest d;

        if (here && strcmp(here, runs->items[i].cwd) != 0)
            continue;
        shown++;
        if (stet_run_load(&d, runs->items[i].folder, NULL) != STET_OK)
            d = (struct stet_run_digest){0};
        if (args->format == STET_FORMAT_JSON)
            row_json(&j, &runs->items[i], &d);
        else
            row_text(&out, &runs->items[i], &d);
        stet_run_unload(&d);
    }
    if (args->format == STET_FORMAT_JSON) {
        stet_json_end_array(&j);
        stet_json_uint(&j, "unreadable", runs->unreadable);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    } else {
        if (!shown)
            stet_buf_str(&out, "no runs; `stet run -- COMMAND` makes one\n");
        if (runs->unreadable)
            stet_buf_printf(&out, "%zu folders without a readable run.json\n", runs->unreadable);
    }
    return stet_print(&out, STET_EXIT_FINE);
}

int cmd_runs(int argc, char **argv)
{
    static const struct stet_usage usage = {
        "stet runs [options]",
        "Lists the runs that `stet run` made, newest first.",
        "docs/runs.md",
    };
    const char *most_text = "20";
    bool here = false;
    const struct stet_option options[] = {
        {"here", NULL, "only runs started in this folder", STET_OPTION_FLAG, &here},
        {"most", "N", "at most N runs (default 20)", STET_OPTION_VALUE, &most_text},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    struct stet_runs runs;
    struct stet_args args;
    char *folder, *end;
    unsigned long most;
    int done = stet_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    most = strtoul(most_text, &end, 10);
    if (*end || !*most_text || args.count) {
        fprintf(stderr, "stet: runs takes --most=N and no other argument\nusage: %s\n",
                usage.synopsis);
        return STET_EXIT_USAGE;
    }
    if (stet_runs_open(&runs, &err) != STET_OK)
        return stet_complain(&err);
    folder = here ? getcwd(NULL, 0) : NULL;
    done = list(&args, &runs, folder, most);
    free(folder);
    stet_runs_close(&runs);
    return done;
}
