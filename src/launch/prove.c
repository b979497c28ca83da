/* Launches a command cold, then warm, each with a state folder of its own. */
#include "launch/prove.h"

#include "base/fs.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Standard output is for the proof, so the command's output goes to standard error. */
static _Noreturn void become(char **command, const struct stet_proof *p, const char *state)
{
    static char stet[] = "stet", run[] = "run", quiet[] = "--quiet", cpu[] = "--cpu";
    size_t n = 0;
    char **argv;

    while (command[n])
        n++;
    argv = stet_mem_calloc(n + 6, sizeof *argv);
    if (!argv || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ||
        setenv("STET_STORE", p->store.folder, 1) != 0 || setenv("STET_STATE_DIR", state, 1) != 0)
        _exit(EXIT_FAILURE);
    argv[0] = stet;
    argv[1] = run;
    argv[2] = quiet;
    if (p->cpu)
        argv[3] = cpu;
    /* arguments before the command belong to `stet run`: stet cache prove -- --cpu -- python… */
    memcpy(argv + 3 + p->cpu, command, n * sizeof *command);
    execv("/proc/self/exe", argv);
    _exit(EXIT_FAILURE);
}

/* Finds the only run in a state folder. */
static enum stet_rc find_run(const char *state, char *folder, size_t room, struct stet_err *err)
{
    char runs[64];
    struct dirent *e;
    bool found = false;
    DIR *d;

    snprintf(runs, sizeof runs, "%s/runs", state);
    d = opendir(runs);
    while (d && (e = readdir(d))) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(folder, room, "%s/%s", runs, e->d_name);
        found = true;
    }
    if (d)
        closedir(d);
    return found ? STET_OK : stet_fail(err, STET_NOT_FOUND, "the command left no run behind");
}

static void sum(struct stet_proof_run *l)
{
    for (size_t p = 0; p < l->digest.process_count; p++) {
        const struct stet_process_digest *d = &l->digest.processes[p];

        for (size_t i = 0; i < d->compile_count; i++) {
            const struct stet_compile_event *c = &d->compiles[i];

            if (c->load || !c->ended || c->error_code)
                continue;
            l->programs++;
            l->reloaded += c->served != 0;
            l->ns += c->plugin_ns + c->layer_ns;
        }
    }
}

static enum stet_rc launch(struct stet_proof_run *l, const struct stet_proof *p, const char *name,
                           char **command, struct stet_err *err)
{
    char state[48], folder[PATH_MAX];
    enum stet_rc rc;
    int status;
    pid_t pid;

    snprintf(state, sizeof state, "%s/%s", p->work, name);
    pid = fork();
    if (pid == 0)
        become(command, p, state);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return stet_fail_errno(err, "cannot run the command");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return stet_fail(err, STET_IO, "the command failed in its %s run, so nothing is proven",
                         name);
    rc = find_run(state, folder, sizeof folder, err);
    if (rc == STET_OK)
        rc = stet_ledger_run_load(&l->digest, folder, err);
    if (rc == STET_OK)
        sum(l);
    return rc;
}

enum stet_rc stet_launch_prove(struct stet_proof *p, const char *store, bool cpu, char **command,
                               struct stet_err *err)
{
    char work[] = "/tmp/stet-prove-XXXXXX", own[sizeof work + 8];
    enum stet_rc rc;

    *p = (struct stet_proof){.cpu = cpu};
    if (!mkdtemp(work))
        return stet_fail_errno(err, "%s: cannot make folder", work);
    snprintf(p->work, sizeof p->work, "%s", work);
    snprintf(own, sizeof own, "%s/store", work);
    rc = stet_store_open(&p->store, store ? store : own, err);
    if (rc == STET_OK)
        rc = launch(&p->cold, p, "cold", command, err);
    if (rc == STET_OK)
        rc = launch(&p->warm, p, "warm", command, err);
    return rc;
}

void stet_launch_prove_release(struct stet_proof *p)
{
    stet_ledger_run_unload(&p->cold.digest);
    stet_ledger_run_unload(&p->warm.digest);
    if (p->work[0])
        stet_fs_remove_tree(p->work);
}
