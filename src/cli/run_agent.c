/* One agent for a user, a host and a list of tiers; it outlives the run and ends when it is idle.
 */
#include "cli/run_agent.h"

#include "agent/agent.h"
#include "base/fs.h"
#include "base/mem.h"
#include "cli/command.h"
#include "ledger/state.h"
#include "wire/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { START_MS = 5000 };

static bool listens(const char *socket)
{
    struct stet_wire line;
    bool there = stet_wire_open(&line, socket, NULL) == STET_OK;

    stet_wire_close(&line);
    return there;
}

/* Where it may complain: <state>/agent.log. */
static int open_log(void)
{
    char *state = stet_state_dir(NULL), *path = state ? stet_fs_join(state, "agent.log") : NULL;
    int fd = -1;

    if (path && stet_fs_mkdirs(state, NULL) == STET_OK)
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    stet_mem_free(path);
    stet_mem_free(state);
    return fd >= 0 ? fd : open("/dev/null", O_WRONLY | O_CLOEXEC);
}

/* Twice forked, so that it is nobody's child and no terminal's. Secrets stay in the environment. */
static void become_agent(const char *socket, int log)
{
    char where[PATH_MAX + 16];
    int none = open("/dev/null", O_RDWR | O_CLOEXEC);

    setsid();
    if (fork() != 0)
        _exit(0);
    dup2(none, STDIN_FILENO);
    dup2(none, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    if (chdir("/") != 0)
        _exit(126);
    snprintf(where, sizeof where, "--socket=%s", socket);
    unsetenv("LD_PRELOAD");
    execl("/proc/self/exe", "stet", "agent", "--foreground", where, (char *)NULL);
    _exit(127);
}

enum stet_rc stet_agent_start(const char *socket, struct stet_err *err)
{
    uint64_t until = stet_wire_now_ms() + START_MS;
    int log;
    pid_t pid;

    if (listens(socket))
        return STET_OK;
    log = open_log();
    pid = fork();
    if (pid == 0)
        become_agent(socket, log);
    close(log);
    if (pid < 0)
        return stet_fail_errno(err, "cannot fork");
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    while (!listens(socket)) {
        if (stet_wire_now_ms() > until)
            return stet_fail(err, STET_IO,
                             "the agent did not start; agent.log in the state folder "
                             "may say why");
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    return STET_OK;
}

void stet_run_agent(struct stet_env *env)
{
    const char *told = stet_env_get(env, "STET_AGENT"), *store = stet_env_get(env, "STET_STORE");
    bool wanted = told && !strcmp(told, "on");
    struct stet_err err = STET_ERR_INIT;
    char *tiers, socket[PATH_MAX];

    if (told && !wanted) /* a user's own, or off */
        return;
    if (!store || *store != '/') /* without a store there is nothing to share */
        return;
    tiers = stet_agent_tiers();
    if ((tiers && *tiers) || wanted) {
        if (stet_agent_socket(stet_view_str(tiers), socket, &err) != STET_OK ||
            stet_agent_start(socket, &err) != STET_OK ||
            stet_env_set(env, "STET_AGENT", socket, &err) != STET_OK)
            stet_complain(&err);
    }
    stet_mem_free(tiers);
}
