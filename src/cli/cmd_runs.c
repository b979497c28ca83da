/* stet runs: lists runs, newest first, and removes old ones. */
#include "cli/command.h"

#include "base/fs.h"
#include "base/human.h"
#include "base/mem.h"
#include "cli/run_text.h"
#include "ledger/ledger.h"
#include "session/torch_lane.h"
#include "session/torch_rows.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A run that has ended and is in the ledger need not be read again. */
struct totals {
    struct stet_ledger_totals all;
    bool explained; /* recompiles and lost_ns are known */
    /* torch.compile's, of a run in which nothing else was compiled */
    uint64_t torch_compiles, torch_ns;
    bool unread; /* its traces are too large for a list */
};

enum { MOST_TRACES = 64 << 20 };

static uint64_t size_of_traces(const struct stet_run *run)
{
    char *folder = stet_fs_join(run->folder, "torch");
    DIR *dir = folder ? opendir(folder) : NULL;
    uint64_t all = 0;
    struct stat st;

    for (struct dirent *e; dir && (e = readdir(dir));)
        if (fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
            all += (uint64_t)st.st_size;
    if (dir)
        closedir(dir);
    stet_mem_free(folder);
    return all;
}

static void take_torch(struct totals *t, const struct stet_run *run)
{
    struct stet_torch torch;

    t->unread = size_of_traces(run) > MOST_TRACES;
    if (t->unread)
        return;
    stet_torch_init(&torch);
    if (stet_session_torch_load_run(&torch, run, NULL) == STET_OK)
        for (size_t i = 0; i < torch.compile_count; i++)
            t->torch_ns += stet_session_torch_cost(&torch.compiles[i]) * 1000;
    t->torch_compiles = torch.compile_count;
    stet_torch_release(&torch);
}

static struct totals totals_of(struct stet_ledger *l, const struct stet_run *run)
{
    struct totals t = {0};
    struct stet_run_digest d;
    struct stet_arena arena;

    stet_arena_init(&arena, 1 << 16);
    t.explained =
        l && run->ended_ns && stet_ledger_run_totals(l, run->id, &arena, &t.all, NULL) == STET_OK;
    stet_arena_release(&arena);
    if (!t.explained && stet_ledger_run_load(&d, run->folder, NULL) == STET_OK) {
        t.all = (struct stet_ledger_totals){.compiles = d.compiles,
                                            .loads = d.loads,
                                            .executions = d.executions,
                                            .compile_ns = d.compile_ns,
                                            .processes = d.process_count};
        stet_ledger_run_unload(&d);
    }
    if (!t.all.compiles)
        take_torch(&t, run);
    return t;
}

static void row_text(struct stet_buf *out, const struct stet_run *run, const struct totals *t)
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
    if (t->explained)
        stet_buf_printf(out, "%10" PRIu64 "  ", t->all.recompiles);
    else
        stet_buf_printf(out, "%10s  ", "-");
    stet_buf_printf(out, "%10" PRIu64 "  %s\n", t->all.executions, run->command);
}

static void row_json(struct stet_json *j, const struct stet_run *run, const struct totals *t)
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
    stet_json_uint(j, "processes", t->all.processes);
    stet_json_uint(j, "compiles", t->all.compiles);
    stet_json_uint(j, "loads", t->all.loads);
    stet_json_number(j, "compile_s", (double)t->all.compile_ns / 1e9);
    if (t->torch_compiles) {
        stet_json_uint(j, "torch_compiles", t->torch_compiles);
        stet_json_number(j, "torch_compile_s", (double)t->torch_ns / 1e9);
    }
    stet_json_uint(j, "executions", t->all.executions);
    if (t->explained) {
        stet_json_uint(j, "recompiles", t->all.recompiles);
        stet_json_number(j, "wait_s", (double)t->all.wait_ns / 1e9);
        stet_json_number(j, "lost_s", (double)t->all.lost_ns / 1e9);
    }
    stet_json_end_object(j);
}

static int list(enum stet_format format, struct stet_runs *runs, struct stet_ledger *l,
                const char *here, size_t most)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_json j;
    size_t shown = 0;

    stet_json_init(&j, &out);
    if (format == STET_FORMAT_JSON) {
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.runs/1");
        stet_json_array(&j, "runs");
    } else if (runs->count) {
        stet_buf_printf(&out, "%-22s  %-9s  %8s  %9s  %10s  %10s  %s\n", "RUN", "OUTCOME",
                        "COMPILES", "TIME", "RECOMPILES", "EXECUTIONS", "COMMAND");
    }
    for (size_t i = 0; i < runs->count && shown < most; i++) {
        struct totals t;

        if (here && strcmp(here, runs->items[i].cwd) != 0)
            continue;
        shown++;
        t = totals_of(l, &runs->items[i]);
        if (format == STET_FORMAT_JSON)
            row_json(&j, &runs->items[i], &t);
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
        if (runs->unreadable) {
            stet_text_count(&out, runs->unreadable, "folder");
            stet_buf_str(&out, " without a readable run.json\n");
        }
    }
    return stet_cli_print(&out, STET_EXIT_FINE);
}

/* ---- pruning ---- */

/* Removes only old runs that have ended or whose process no longer exists. */
static int prune(enum stet_format format, const struct stet_runs *runs, struct stet_ledger *l,
                 unsigned long days)
{
    struct stet_buf out = STET_TEXT_INIT;
    struct stet_json j;
    const uint64_t day = 86400u * (uint64_t)1000000000u, now = (uint64_t)time(NULL) * 1000000000u;
    size_t gone = 0, failed = 0;

    for (size_t i = 0; i < runs->count; i++) {
        const struct stet_run *r = &runs->items[i];
        uint64_t last = r->ended_ns ? r->ended_ns : r->started_ns;

        /* compared in days, because a large number of days overflows in nanoseconds */
        if (last > now || (now - last) / day < days ||
            (!r->ended_ns && stet_ledger_run_is_alive(r)))
            continue;
        if (stet_fs_remove_tree(r->folder) == 0)
            gone++;
        else
            failed++;
        if (l)
            stet_ledger_forget(l, r->id, NULL);
    }
    if (format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.prune/1");
        stet_json_uint(&j, "deleted", gone);
        stet_json_uint(&j, "failed", failed);
        stet_json_end_object(&j);
    } else {
        stet_text_count(&out, gone, "run");
        stet_buf_str(&out, " deleted");
        if (failed)
            stet_buf_printf(&out, ", %zu could not be", failed);
    }
    stet_buf_char(&out, '\n');
    return stet_cli_print(&out, failed ? STET_EXIT_FAILURE : STET_EXIT_FINE);
}

static bool number(const char *text, unsigned long *out)
{
    char *end;

    *out = strtoul(text, &end, 10);
    return *text && !*end && *text != '-';
}

int cmd_runs(int argc, char **argv)
{
    static const struct stet_usage usage = {
        "stet runs [options]",
        "Lists the runs that `stet run` made, newest first. With --prune deletes old ones.",
        "runs",
    };
    const char *most_text = "20", *prune_text = NULL;
    bool here = false;
    const struct stet_option options[] = {
        {"here", NULL, "only runs started in this folder", STET_OPTION_FLAG, &here},
        {"most", "N", "at most N runs (default 20)", STET_OPTION_VALUE, &most_text},
        {"prune", "DAYS", "delete the runs that ended more than DAYS days ago", STET_OPTION_VALUE,
         &prune_text},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    unsigned long most, days = 0;
    struct stet_ledger *l = NULL;
    struct stet_runs runs;
    struct stet_args args;
    char *folder;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count || !number(most_text, &most) || (prune_text && !number(prune_text, &days)))
        return stet_cli_usage_error(&usage, "takes --most=N, --prune=DAYS and no other argument");
    if (stet_ledger_runs_open(&runs, &err) != STET_OK)
        return stet_cli_complain(&err);
    stet_ledger_open(&l, NULL, NULL); /* if the ledger cannot be opened, the journals are read */
    folder = here ? getcwd(NULL, 0) : NULL;
    done =
        prune_text ? prune(args.format, &runs, l, days) : list(args.format, &runs, l, folder, most);
    free(folder);
    stet_ledger_close(l);
    stet_ledger_runs_close(&runs);
    return done;
}
