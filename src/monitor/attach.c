/* See attach.h. */
#include "monitor/attach.h"

#include "base/fs.h"
#include "base/mem.h"
#include "ledger/job_runs.h"
#include "session/account_run.h"
#include "session/session.h"
#include "session/torch_ranks.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool runs_now(const struct stet_run *run)
{
    return !run->ended_ns && stet_ledger_run_is_alive(run);
}

/* ---- choosing the run ---- */

static const struct stet_run *newest_running(const struct stet_runs *runs)
{
    char here[PATH_MAX] = "";
    const struct stet_run *found = NULL;

    if (!getcwd(here, sizeof here))
        here[0] = '\0';
    for (size_t i = 0; i < runs->count; i++) {
        if (!runs_now(&runs->items[i]))
            continue;
        if (!strcmp(runs->items[i].cwd, here))
            return &runs->items[i];
        if (!found)
            found = &runs->items[i];
    }
    return found;
}

/* Finds the run in a process's environment. */
static bool run_of_process(long pid, char *id, size_t room)
{
    char path[64], *item = NULL;
    size_t item_room = 0;
    bool found = false;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/environ", pid);
    f = fopen(path, "re");
    while (f && !found && getdelim(&item, &item_room, '\0', f) > 0) {
        found = !strncmp(item, "STET_RUN=", 9) && item[9];
        if (found)
            snprintf(id, room, "%s", item + 9);
    }
    free(item);
    if (f)
        fclose(f);
    return found;
}

static long parent_of(long pid)
{
    char path[64], line[512], *end;
    long parent = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    f = fopen(path, "re");
    if (f && fgets(line, sizeof line, f) && (end = strrchr(line, ')')) && end[1] && end[2] &&
        end[3])
        parent = strtol(end + 4, NULL, 10);
    if (f)
        fclose(f);
    return parent;
}

static enum stet_rc find_by_pid(struct stet_runs *runs, const char *name,
                                const struct stet_run **out, struct stet_err *err)
{
    long pid = strtol(name, NULL, 10);
    char id[80];

    for (size_t i = 0; i < runs->count; i++) {
        const struct stet_run *run = &runs->items[i];

        if (!runs_now(run) || (run->pid != pid && parent_of((long)run->pid) != pid))
            continue;
        *out = run;
        return STET_OK;
    }
    if (run_of_process(pid, id, sizeof id))
        return stet_ledger_runs_find(runs, id, out, err);
    return stet_fail(err, STET_NOT_FOUND, "no run '%s', and no process %s of one", name, name);
}

static enum stet_rc find(struct stet_runs *runs, const char *name, const struct stet_run **out,
                         struct stet_err *err)
{
    enum stet_rc rc;

    if (!name || !strcmp(name, "newest") || !strcmp(name, "latest")) {
        *out = newest_running(runs);
        return *out ? STET_OK : stet_ledger_runs_find(runs, NULL, out, err);
    }
    rc = stet_ledger_runs_find(runs, name, out, NULL);
    if (rc == STET_NOT_FOUND && strspn(name, "0123456789") == strlen(name))
        return find_by_pid(runs, name, out, err);
    return rc == STET_OK ? rc : stet_ledger_runs_find(runs, name, out, err);
}

/* ---- following it ---- */

/* run.json is written anew when the run ends. */
static void look_at_run(struct stet_monitor_attach *a)
{
    struct stet_arena arena;
    struct stet_run run;

    stet_arena_init(&arena, (size_t)16 << 20);
    if (stet_ledger_run_read(&run, &arena, a->folder, NULL) == STET_OK) {
        stet_arena_release(&a->arena);
        a->arena = arena;
        a->run = run;
    } else {
        stet_arena_release(&arena);
    }
    a->running = runs_now(&a->run);
}

static enum stet_rc start(struct stet_monitor_attach *a, struct stet_err *err)
{
    struct stet_live_tap tap;
    char *folder;
    enum stet_rc rc = STET_OK;

    snprintf(a->id, sizeof a->id, "%s", a->run.id);
    a->folder = stet_mem_strdup(a->run.folder);
    a->pulse = stet_pulse_new(a->id, a->run.started_ns);
    a->files = stet_torch_files_new(&a->torch);
    folder = stet_fs_join(a->run.folder, "torch");
    if (!a->folder || !a->pulse || !a->files || !folder) {
        stet_mem_free(folder);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    tap = stet_pulse_tap(a->pulse);
    rc = stet_live_new(&a->live, a->folder, a->id, NULL, &tap, err);
    if (rc == STET_OK && !a->live)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory");
    if (rc == STET_OK && !(a->running && *a->run.torch_trace))
        rc = stet_torch_files_add(a->files, folder, err);
    stet_mem_free(folder);
    return rc;
}

static enum stet_rc attach(struct stet_monitor_attach *a, const char *name, bool job,
                           struct stet_err *err)
{
    const struct stet_run *run;
    struct stet_runs runs;
    enum stet_rc rc = stet_ledger_runs_open(&runs, err);

    *a = (struct stet_monitor_attach){0};
    if (rc != STET_OK)
        return rc;
    rc = find(&runs, name, &run, err);
    if (rc == STET_OK && job) /* a rank alone shows little of a job */
        rc = stet_ledger_job_join(&runs, run, &run, err);
    stet_arena_init(&a->arena, (size_t)16 << 20);
    stet_torch_init(&a->torch);
    if (rc == STET_OK)
        rc = stet_ledger_run_read(&a->run, &a->arena, run->folder, err);
    stet_ledger_runs_close(&runs);
    a->running = rc == STET_OK && runs_now(&a->run);
    if (rc == STET_OK)
        rc = start(a, err);
    if (rc != STET_OK)
        stet_monitor_attach_close(a);
    return rc;
}

enum stet_rc stet_monitor_attach_open(struct stet_monitor_attach *a, const char *name,
                                      struct stet_err *err)
{
    return attach(a, name, true, err);
}

enum stet_rc stet_monitor_attach_alone(struct stet_monitor_attach *a, const char *id,
                                       struct stet_err *err)
{
    return attach(a, id, false, err);
}

void stet_monitor_attach_close(struct stet_monitor_attach *a)
{
    stet_live_free(a->live);
    stet_torch_files_free(a->files);
    stet_torch_release(&a->torch);
    stet_pulse_free(a->pulse);
    stet_arena_release(&a->arena);
    stet_mem_free(a->folder);
    *a = (struct stet_monitor_attach){0};
}

/* In a folder of the user's own, logs that were written since the run began belong to the run. */
static void look_for_logs(struct stet_monitor_attach *a)
{
    DIR *dir = *a->run.torch_trace ? opendir(a->run.torch_trace) : NULL;

    for (struct dirent *e; dir && (e = readdir(dir));) {
        uint64_t key = stet_hash_bytes(stet_view_str(e->d_name)).lo;
        struct stat st;
        size_t at = 0;
        char *path;

        while (at < a->log_count && a->logs[at] != key)
            at++;
        if (at < a->log_count || a->log_count == STET_ATTACH_LOGS ||
            !stet_view_starts(stet_view_str(e->d_name), "dedicated_log_torch_trace") ||
            !(path = stet_fs_join(a->run.torch_trace, e->d_name)))
            continue;
        if (stat(path, &st) == 0 &&
            (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec >=
                a->run.started_ns) {
            a->logs[a->log_count++] = key;
            stet_torch_files_add(a->files, path, NULL);
        }
        stet_mem_free(path);
    }
    if (dir)
        closedir(dir);
}

struct counting {
    struct stet_monitor_attach *attach;
    size_t process_of[STET_PULSE_PROCESSES];
    size_t processes;
};

/* Processes are numbered in the order in which they were found. */
static void number_processes(struct counting *k, const struct stet_run_digest *d)
{
    const struct stet_run_digest *live = stet_live_digest(k->attach->live);

    k->processes =
        d->process_count < STET_PULSE_PROCESSES ? d->process_count : STET_PULSE_PROCESSES;
    for (size_t i = 0; i < k->processes; i++) {
        size_t at = 0;

        while (at < live->process_count &&
               !stet_hash_eq(live->processes[at].uid, d->processes[i].uid))
            at++;
        k->process_of[i] = at;
    }
}

static enum stet_rc recount(void *context, const struct stet_account *a,
                            const struct stet_account_tally *t, struct stet_err *err)
{
    struct counting *k = context;

    (void)t;
    return stet_pulse_recount(k->attach->pulse, a, k->process_of, k->processes, err);
}

/* The run has ended: it is explained as `stet explain` does. On failure the live answers stay. */
static void take_account(struct stet_monitor_attach *a)
{
    struct counting k = {.attach = a};
    struct stet_session x;
    struct stet_runs runs;

    if (stet_ledger_runs_open(&runs, NULL) != STET_OK)
        return;
    if (stet_session_open(&x, &runs, &a->run, NULL) == STET_OK) {
        number_processes(&k, &x.digest);
        stet_account_of_session(&x, &a->run, recount, &k, NULL);
        stet_session_close(&x);
    }
    stet_ledger_runs_close(&runs);
}

bool stet_monitor_attach_poll(struct stet_monitor_attach *a)
{
    bool last;

    if (a->over)
        return false;
    look_at_run(a);
    last = !a->running; /* checked before reading, so that the last records are read too */
    stet_live_poll(a->live, last);
    if (a->running)
        look_for_logs(a);
    if (last)
        stet_torch_files_finish(a->files, NULL);
    else
        stet_torch_files_poll(a->files, NULL);
    stet_session_torch_take_ranks(&a->torch, stet_live_digest(a->live));
    stet_pulse_update(a->pulse, a->live, &a->torch, last);
    if (last)
        take_account(a);
    a->over = last;
    return !last;
}
