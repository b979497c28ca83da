/* stet runs: lists runs, newest first, and removes old ones. */
#include "cli/command.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/human.h"
#include "cli/run_text.h"
#include "ledger/prune.h"
#include "ledger/run_new.h"
#include "session/run_totals.h"
#include "stet_version.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void row_text(struct stet_buf *out, const struct stet_run *run,
                     const struct stet_run_totals *t)
{
    struct stet_buf cell = STET_BUF_INIT;

    stet_ledger_run_outcome(&cell, run);
    stet_buf_printf(out, "%-22s  %-9s  ", run->id, cell.ptr);
    stet_buf_release(&cell);
    stet_text_duration(&cell, t->all.compile_ns + t->torch_ns);
    if (t->unread)
        stet_buf_printf(out, "%8s  %9s  ", "-", "-");
    else
        stet_buf_printf(out, "%8" PRIu64 "  %9s  ", t->all.compiles + t->torch_compiles, cell.ptr);
    stet_buf_release(&cell);
    stet_text_duration(&cell, t->all.wait_ns);
    if (t->explained)
        stet_buf_printf(out, "%10" PRIu64 "  %9s  ", t->all.recompiles, cell.ptr);
    else
        stet_buf_printf(out, "%10s  %9s  ", "-", "-");
    stet_buf_release(&cell);
    stet_buf_printf(out, "%10" PRIu64 "  %s\n", t->all.executions, run->command);
}

static int list(enum stet_format format, struct stet_runs *runs, struct stet_ledger *l,
                const char *here, size_t most)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_json j;
    size_t shown = 0, left = 0;

    stet_json_init(&j, &out);
    if (format == STET_FORMAT_JSON) {
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.runs/1");
        stet_json_array(&j, "runs");
    } else if (runs->count) {
        stet_buf_printf(&out, "%-22s  %-9s  %8s  %9s  %10s  %9s  %10s  %s\n", "RUN", "OUTCOME",
                        "COMPILES", "COMPILER", "RECOMPILES", "WAITED", "EXECUTIONS", "COMMAND");
    }
    for (size_t i = 0; i < runs->count; i++) {
        struct stet_run_totals t;

        if (here && strcmp(here, runs->items[i].cwd) != 0)
            continue;
        if (shown == most) {
            left++;
            continue;
        }
        shown++;
        t = stet_session_run_totals(l, &runs->items[i]);
        if (format == STET_FORMAT_JSON)
            stet_session_run_totals_json(&j, &runs->items[i], &t);
        else
            row_text(&out, &runs->items[i], &t);
    }
    if (format == STET_FORMAT_JSON) {
        stet_json_end_array(&j);
        stet_json_uint(&j, "unreadable", runs->unreadable);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    } else {
        if (!shown)
            stet_buf_str(&out, "no runs; `stet run -- COMMAND` makes one\n");
        if (left)
            stet_buf_printf(&out,
                            "%zu more: --limit=0 lists all, --prune=30 --dry-run those that are a "
                            "month old\n",
                            left);
        if (runs->unreadable) {
            stet_text_count(&out, runs->unreadable, "folder");
            stet_buf_str(&out, " without a readable run.json\n");
        }
    }
    return stet_cli_print(&out, STET_EXIT_FINE);
}

/* ---- pruning ---- */

struct pruning {
    unsigned long days;
    bool dry, yes;
};

/* Deleting every run needs --yes, or a "y" typed on a terminal. */
static bool may_delete(const struct pruning *p, size_t count, uint64_t bytes)
{
    struct stet_buf size = STET_TEXT_INIT;
    char line[16] = "";

    if (p->days || p->dry || p->yes || !count)
        return true;
    stet_text_bytes(&size, bytes);
    stet_say("stet: --prune=0 deletes all %zu runs (%s)", count, size.ptr ? size.ptr : "");
    stet_buf_release(&size);
    if (!isatty(STDIN_FILENO)) {
        stet_say("; give --yes too, or --dry-run to list them\n");
        return false;
    }
    stet_say("; delete them? [y/N] ");
    return fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y');
}

static void prune_text(struct stet_buf *out, const struct pruning *p, size_t gone, size_t failed,
                       uint64_t bytes)
{
    stet_text_count(out, gone, "run");
    stet_buf_str(out, p->dry ? " would be deleted (" : " deleted (");
    stet_text_bytes(out, bytes);
    stet_buf_char(out, ')');
    if (failed)
        stet_buf_printf(out, ", %zu could not be", failed);
}

static void prune_json(struct stet_buf *out, const struct pruning *p, size_t gone, size_t failed,
                       uint64_t bytes)
{
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.prune/1");
    stet_json_bool(&j, "dry_run", p->dry);
    stet_json_uint(&j, "deleted", gone);
    stet_json_uint(&j, "failed", failed);
    stet_json_uint(&j, "bytes", bytes);
    stet_json_end_object(&j);
}

/* Deletes the old runs, or with --dry-run lists them. */
static int prune(enum stet_format format, const struct stet_runs *runs, struct stet_ledger *l,
                 const struct pruning *p)
{
    const uint64_t now = stet_clock_wall_ns();
    bool json = format == STET_FORMAT_JSON;
    struct stet_buf out = STET_TEXT_INIT;
    size_t old = 0, failed = 0;
    uint64_t bytes = 0;

    for (size_t i = 0; i < runs->count; i++)
        if (stet_ledger_run_is_old(&runs->items[i], p->days, now)) {
            old++;
            bytes += stet_fs_tree_bytes(runs->items[i].folder);
        }
    if (!may_delete(p, old, bytes))
        return STET_EXIT_USAGE;
    for (size_t i = 0; i < runs->count; i++) {
        const struct stet_run *r = &runs->items[i];

        if (!stet_ledger_run_is_old(r, p->days, now))
            continue;
        if (!p->dry)
            failed += !stet_ledger_run_delete(r, l);
        else if (!json)
            stet_buf_printf(&out, "%s  %s\n", r->id, r->command);
    }
    (json ? prune_json : prune_text)(&out, p, old - failed, failed, bytes);
    stet_buf_char(&out, '\n');
    return stet_cli_print(&out, failed ? STET_EXIT_FAILURE : STET_EXIT_FINE);
}

/* A whole number, which may have this unit. */
static bool number(const char *text, const char *unit, unsigned long *out)
{
    char *end;

    *out = strtoul(text, &end, 10);
    return *text && *text != '-' && (!*end || !strcmp(end, unit));
}

/* A process that loads the layer itself (plugin mode) needs a run to write into. Prints its folder,
 * which is to be set as STET_DIR. */
static int new_run(enum stet_format format, const char *pid_text, char *const *argv)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf record = STET_BUF_INIT, out = STET_TEXT_INIT;
    char folder[PATH_MAX], id[STET_RUN_ID];
    struct timespec now;
    struct stet_json j;
    unsigned long pid;
    enum stet_rc rc;

    if (!number(pid_text, "", &pid) || !pid || pid > INT_MAX) {
        stet_fail(&err, STET_USAGE, "--new takes the id of a process, not '%s'", pid_text);
        return stet_cli_complain(&err);
    }
    rc = stet_ledger_run_new(folder, sizeof folder, id, &now, &err);
    if (rc != STET_OK)
        return stet_cli_complain(&err);
    stet_ledger_run_record_begin(&j, &record, id, argv);
    stet_json_uint(&j, "pid", pid);
    stet_json_cstr(&j, "stet_version", STET_VERSION);
    stet_json_uint(&j, "started_ns", (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    if (stet_ledger_run_record_end(&j, folder, false, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.newrun/1");
        stet_json_cstr(&j, "run", id);
        stet_json_cstr(&j, "folder", folder);
        stet_json_end_object(&j);
    } else {
        stet_buf_printf(&out, "%s", folder);
    }
    stet_buf_char(&out, '\n');
    return stet_cli_print(&out, STET_EXIT_FINE);
}

int cmd_runs(int argc, char **argv)
{
    static const struct stet_usage usage = {
        "stet runs [options]",
        "Lists the runs that `stet run` made, newest first. With --prune deletes old ones. With "
        "--new\n"
        "makes one for a process that loads the layer itself.",
        "runs",
    };
    const char *limit_text = "20", *prune_days = NULL, *new_pid = NULL;
    struct pruning p = {0};
    bool here = false;
    const struct stet_option options[] = {
        {"here", NULL, "only runs started in this folder", STET_OPTION_FLAG, &here},
        {"limit", "N", "at most N runs (default 20; 0: all)", STET_OPTION_VALUE, &limit_text},
        {"most", NULL, NULL, STET_OPTION_VALUE, &limit_text},
        {"prune", "DAYS", "delete the runs that ended DAYS days ago or earlier", STET_OPTION_VALUE,
         &prune_days},
        {"dry-run", NULL, "with --prune: list them, and delete nothing", STET_OPTION_FLAG, &p.dry},
        {"new", "PID", "make a run for this process and print its folder (-- COMMAND names it)",
         STET_OPTION_VALUE, &new_pid},
        {"yes", NULL, "with --prune=0: delete all runs without asking", STET_OPTION_FLAG, &p.yes},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    unsigned long limit;
    struct stet_ledger *l = NULL;
    struct stet_runs runs;
    struct stet_args args;
    char *folder;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    args.values[args.count] = NULL;
    if (new_pid)
        return new_run(args.format, new_pid, args.values);
    if (args.count || !number(limit_text, "", &limit) ||
        (prune_days && !number(prune_days, "d", &p.days)))
        return stet_cli_usage_error(&usage, "takes --limit=N, --prune=DAYS and no other argument");
    if ((p.dry || p.yes) && !prune_days)
        return stet_cli_usage_error(&usage, "--dry-run and --yes go with --prune=DAYS");
    if (stet_ledger_runs_open(&runs, &err) != STET_OK)
        return stet_cli_complain(&err);
    stet_ledger_open(&l, NULL, NULL); /* if the ledger cannot be opened, the journals are read */
    folder = here ? getcwd(NULL, 0) : NULL;
    done = prune_days ? prune(args.format, &runs, l, &p)
                      : list(args.format, &runs, l, folder, limit ? (size_t)limit : SIZE_MAX);
    free(folder);
    stet_ledger_close(l);
    stet_ledger_runs_close(&runs);
    return done;
}
