/* See fit_launch.h. */
#include "fit/fit_launch.h"

#include "base/mem.h"
#include "base/stop.h"
#include "ledger/run_folder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Frameworks lower by the platform's name, so it is that of the topology. */
static bool pose(const struct stet_fit_launch *l, const struct stet_fit_topology *t)
{
    bool tpu = !strcmp(t->platform, "tpu");
    bool fine = setenv("STET_CPU_POSE", l->pose, 1) == 0 &&
                setenv("STET_CPU_ACCOUNT", l->account, 1) == 0 &&
                setenv("STET_CPU_PLATFORM", t->platform, 1) == 0;

    if (l->oracle)
        fine = fine && setenv("STET_CPU_SHARDINGS", l->oracle, 1) == 0;
    setenv("XLA_HLO_DEBUG", "1", 0); /* PyTorch/XLA writes lines into its programs then */
    setenv("TORCH_TPU_LAUNCH_BLOCKING", "1", 0); /* and TorchTPU compiles where its line runs */
    unsetenv("STET_CPU_DEVICES");
    unsetenv("STET_CPU_KIND");
    if (tpu)
        fine = fine && setenv("JAX_PLATFORMS", "tpu,cpu", 1) == 0 &&
               setenv("PJRT_DEVICE", "TPU", 1) == 0;
    else
        fine = fine && setenv("JAX_PLATFORMS", "stet,cpu", 1) == 0;
    for (const char *const *s = l->set; s && *s; s++) {
        char *copy = strdup(*s); /* putenv keeps it */

        fine = fine && copy && putenv(copy) == 0;
    }
    return fine;
}

static _Noreturn void become(const struct stet_fit_launch *l, const struct stet_fit_topology *t)
{
    static char stet[] = "stet", run[] = "run", quiet[] = "--quiet", zeros[] = "--zeros",
                fresh[] = "--no-store", end[] = "--", cpu[24];
    size_t n = 0, at = 0;
    char **argv;

    while (l->command[n])
        n++;
    argv = stet_mem_calloc(n + 9, sizeof *argv);
    if (!argv || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || !pose(l, t))
        _exit(EXIT_FAILURE);
    snprintf(cpu, sizeof cpu, "--cpu=%u", t->count);
    argv[at++] = stet;
    argv[at++] = run;
    argv[at++] = quiet;
    argv[at++] = fresh; /* executables of the CPU backend are not what the store is for */
    argv[at++] = cpu;
    if (l->zeros)
        argv[at++] = zeros;
    argv[at++] = end;
    memcpy(argv + at, l->command, n * sizeof *argv);
    execv("/proc/self/exe", argv);
    _exit(EXIT_FAILURE);
}

/* The run that this `stet run` started. */
static enum stet_rc find(pid_t parent, char *id, size_t room, struct stet_err *err)
{
    struct stet_runs runs;
    enum stet_rc rc = stet_ledger_runs_open(&runs, err);
    bool found = false;

    if (rc != STET_OK)
        return rc;
    for (size_t i = 0; i < runs.count && !found; i++) {
        found = runs.items[i].parent == parent;
        if (found)
            snprintf(id, room, "%s", runs.items[i].id);
    }
    stet_ledger_runs_close(&runs);
    return found ? STET_OK : stet_fail(err, STET_NOT_FOUND, "the command left no run behind");
}

enum stet_rc stet_fit_launch(const struct stet_fit_launch *l, const struct stet_fit_topology *t,
                             char *id, size_t room, int *status, struct stet_err *err)
{
    pid_t pid = fork();

    if (pid == 0) {
        stet_stop_forget();
        become(l, t);
    }
    while (pid > 0 && waitpid(pid, status, 0) != pid) {
        if (errno != EINTR)
            return stet_fail_errno(err, "cannot run the command");
        if (stet_stop_asked())
            kill(pid, SIGTERM); /* `stet run` passes it on and ends with its command */
    }
    if (pid < 0)
        return stet_fail_errno(err, "cannot run the command");
    if (stet_stop_asked())
        return stet_fail(err, STET_REFUSED, "interrupted");
    if (WIFEXITED(*status) && (WEXITSTATUS(*status) == 127 || WEXITSTATUS(*status) == 126))
        return stet_fail(err, STET_NOT_FOUND, "%s: cannot be run", l->command[0]);
    return find(pid, id, room, err);
}
