/* Takes a run's totals from the ledger, else from its journals, else from torch.compile's trace. */
#include "session/run_totals.h"

#include "base/fs.h"
#include "base/mem.h"
#include "ledger/run_load.h"
#include "session/torch_lane.h"
#include "session/torch_rows.h"

#include <dirent.h>
#include <sys/stat.h>

enum { MOST_TRACES = 64 << 20 };

static uint64_t size_of_traces(const struct stet_run *run)
{
    char *folder = stet_fs_join(run->folder, "torch");
    DIR *dir = folder ? opendir(folder) : NULL;
    int fd = dir ? dirfd(dir) : -1;
    uint64_t all = 0;
    struct stat st;

    for (struct dirent *e; fd >= 0 && (e = readdir(dir));)
        if (fstatat(fd, e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
            all += (uint64_t)st.st_size;
    if (dir)
        closedir(dir);
    stet_mem_free(folder);
    return all;
}

static void take_torch(struct stet_run_totals *t, const struct stet_run *run)
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

struct stet_run_totals stet_session_run_totals(struct stet_ledger *l, const struct stet_run *run)
{
    struct stet_run_totals t = {0};
    struct stet_run_digest d;

    t.explained = l && run->ended_ns && stet_ledger_run_totals(l, run->id, &t.all, NULL) == STET_OK;
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

void stet_session_run_totals_json(struct stet_json *j, const struct stet_run *run,
                                  const struct stet_run_totals *t)
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
