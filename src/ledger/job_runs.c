/* See job_runs.h. */
#include "ledger/job_runs.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "ledger/run_new.h"
#include "ledger/state.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

bool stet_ledger_job_name(const struct stet_run *run, char out[STET_JOB_NAME])
{
    char path[PATH_MAX];
    struct stet_file file;
    struct stet_hash unused;
    bool fine;

    snprintf(path, sizeof path, "%s/job", run->folder);
    if (!stet_fs_is_plain(path) || stet_file_open_small(&file, path, 64, NULL) != STET_OK)
        return false;
    fine = stet_hash_parse(file.bytes, &unused);
    if (fine)
        snprintf(out, STET_JOB_NAME, "%.*s", STET_FMT(file.bytes));
    stet_file_close(&file);
    return fine;
}

static bool is_of(const struct stet_run *run, const char *job)
{
    char own[STET_JOB_NAME];

    return stet_ledger_job_name(run, own) && !strcmp(own, job);
}

size_t stet_ledger_job_count(const struct stet_runs *runs, const struct stet_run *run)
{
    char job[STET_JOB_NAME];
    size_t n = 0;

    if (!stet_ledger_job_name(run, job))
        return 1;
    for (size_t i = 0; i < runs->count; i++)
        n += is_of(&runs->items[i], job);
    return n ? n : 1;
}

/* ---- the folder ---- */

/* Links every file of <from>/<part> into <to>/<part>. What is there already stays. */
static enum stet_rc link_part(const char *from, const char *to, const char *part, bool replaced,
                              struct stet_err *err)
{
    char source[PATH_MAX + 300], target[PATH_MAX + 300];
    enum stet_rc rc = STET_OK;
    DIR *dir;

    snprintf(source, sizeof source, "%s/%s", from, part);
    dir = opendir(source);
    if (!dir)
        return STET_OK;
    snprintf(target, sizeof target, "%s/%s", to, part);
    rc = stet_fs_mkdirs(target, err);
    for (struct dirent *e; rc == STET_OK && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(source, sizeof source, "%s/%s/%.255s", from, part, e->d_name);
        snprintf(target, sizeof target, "%s/%s/%.255s", to, part, e->d_name);
        if (replaced) /* its files are written anew under the same names */
            unlink(target);
        if (stet_fs_is_plain(source) && link(source, target) != 0 && errno != EEXIST &&
            errno != ENOENT)
            rc = stet_fail_errno(err, "%s: cannot link", target);
    }
    closedir(dir);
    return rc;
}

static void write_record(const struct stet_run *first, const struct stet_run *all,
                         const char *folder, struct stet_err *err)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;

    stet_ledger_run_record_begin(&j, &out, all->id, (char *const *)(uintptr_t)first->argv);
    stet_json_cstr(&j, "stet_version", first->stet_version);
    stet_json_uint(&j, "started_ns", all->started_ns);
    if (all->ended_ns)
        stet_json_uint(&j, "ended_ns", all->ended_ns);
    if (all->signal)
        stet_json_int(&j, "signal", all->signal);
    else if (all->exit_code >= 0)
        stet_json_int(&j, "exit", all->exit_code);
    if (all->pid)
        stet_json_int(&j, "pid", all->pid);
    if (all->parent)
        stet_json_int(&j, "parent", all->parent);
    stet_ledger_run_record_end(&j, folder, false, err);
}

/* Adds one run to what is known of all: it runs as long as one of them runs, and ended as badly as
 * the worst. */
static void add(struct stet_run *all, const struct stet_run *run, bool *running)
{
    if (!run->ended_ns && stet_ledger_run_is_alive(run)) {
        *running = true;
        all->pid = run->pid;
        all->parent = run->parent;
    }
    all->started_ns =
        all->started_ns && all->started_ns < run->started_ns ? all->started_ns : run->started_ns;
    all->ended_ns = run->ended_ns > all->ended_ns ? run->ended_ns : all->ended_ns;
    all->exit_code = run->exit_code > all->exit_code ? run->exit_code : all->exit_code;
    all->signal = run->signal ? run->signal : all->signal;
    all->unchecked += run->unchecked;
}

static enum stet_rc link_run(const char *from, const char *to, struct stet_err *err)
{
    static const char *const parts[] = {"journal", "programs", "torch"};
    enum stet_rc rc = link_part(from, to, "state", true, err);

    for (size_t i = 0; i < sizeof parts / sizeof *parts && rc == STET_OK; i++)
        rc = link_part(from, to, parts[i], false, err);
    return rc;
}

static char *folder_of(const char *job, struct stet_err *err)
{
    char *state = stet_ledger_state_dir(err), path[PATH_MAX];

    if (!state)
        return NULL;
    snprintf(path, sizeof path, "%s/jobs/%s", state, job);
    stet_mem_free(state);
    return stet_mem_strdup(path);
}

static enum stet_rc join(struct stet_runs *runs, const char *job, const char *folder,
                         struct stet_run *all, struct stet_err *err)
{
    const struct stet_run *first = NULL;
    bool running = false;
    enum stet_rc rc = stet_fs_mkdirs(folder, err);

    for (size_t i = runs->count; rc == STET_OK && i-- > 0;) { /* the oldest first */
        if (!is_of(&runs->items[i], job))
            continue;
        first = first ? first : &runs->items[i];
        add(all, &runs->items[i], &running);
        rc = link_run(runs->items[i].folder, folder, err);
    }
    if (rc != STET_OK || !first)
        return rc == STET_OK ? STET_NOT_FOUND : rc;
    if (running)
        all->ended_ns = 0;
    all->cwd = first->cwd;
    all->host = first->host;
    all->stet_version = first->stet_version;
    all->torch_trace = "";
    all->command = first->command;
    all->argv = first->argv;
    all->argc = first->argc;
    write_record(first, all, folder, err);
    return STET_OK;
}

enum stet_rc stet_ledger_job_join(struct stet_runs *runs, const struct stet_run *run,
                                  const struct stet_run **out, struct stet_err *err)
{
    struct stet_run *all;
    char job[STET_JOB_NAME];
    char *folder;
    enum stet_rc rc;

    *out = run;
    if (stet_ledger_job_count(runs, run) < 2 || !stet_ledger_job_name(run, job))
        return STET_OK;
    folder = folder_of(job, err);
    all = folder ? STET_NEW(&runs->arena, struct stet_run) : NULL;
    if (!all) {
        stet_mem_free(folder);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    *all = (struct stet_run){.exit_code = -1,
                             .id = stet_arena_printf(&runs->arena, "job-%.12s", job).ptr,
                             .folder = stet_arena_copy(&runs->arena, stet_view_str(folder)).ptr};
    rc = runs->arena.failed ? STET_NO_MEMORY : join(runs, job, folder, all, err);
    stet_mem_free(folder);
    if (rc == STET_OK)
        *out = all;
    return rc;
}

/* A run of the job whose name begins so. */
static const struct stet_run *run_of_job(const struct stet_runs *runs, const char *prefix)
{
    char job[STET_JOB_NAME];

    for (size_t i = 0; i < runs->count; i++) {
        if (stet_ledger_job_name(&runs->items[i], job) && !strncmp(job, prefix, strlen(prefix)))
            return &runs->items[i];
    }
    return NULL;
}

enum stet_rc stet_ledger_job_find(struct stet_runs *runs, const char *name, bool whole,
                                  const struct stet_run **out, struct stet_err *err)
{
    bool named = name && *name && strcmp(name, "latest") != 0;
    enum stet_rc rc = STET_OK;

    if (named && !strncmp(name, "job-", 4)) {
        *out = run_of_job(runs, name + 4);
        if (!*out)
            return stet_fail(err, STET_NOT_FOUND, "no run of %s", name);
        whole = true;
    } else {
        rc = stet_ledger_runs_find(runs, name, out, err);
    }
    return rc == STET_OK && (whole || !named) ? stet_ledger_job_join(runs, *out, out, err) : rc;
}
