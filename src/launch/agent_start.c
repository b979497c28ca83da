/* Starts one agent per user, host and list of tiers. The agent outlives the run and ends when it is
 * idle. */
#include "launch/agent_start.h"

#include "agent/agent.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "ledger/state.h"
#include "wire/client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { START_MS = 5000, REPORT_MS = 1000 };

static bool listens(const char *socket)
{
    struct stet_wire line;
    bool there = stet_wire_open(&line, socket, NULL) == STET_OK;

    stet_wire_close(&line);
    return there;
}

/* Returns the path of the agent's log, <state>/agent.log, or NULL when there is no such folder. The
 * caller frees it. */
static char *log_path(void)
{
    char *state = stet_ledger_state_dir(NULL),
         *path = state ? stet_fs_join(state, "agent.log") : NULL;

    if (path && stet_fs_mkdirs(state, NULL) != STET_OK) {
        stet_mem_free(path);
        path = NULL;
    }
    stet_mem_free(state);
    return path;
}

/* The agent outlives the run. It would hold any inherited lock, pipe or job server's token as
 * long. */
static void close_all_but_standard(void)
{
    struct rlimit limit = {0};

#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0)
        return;
#endif
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 1 << 20)
        limit.rlim_cur = 1 << 20;
    for (int fd = 3; fd < (int)limit.rlim_cur; fd++)
        close(fd);
}

/* Forks twice, so that the agent has no parent among our processes and no terminal. Secrets stay in
 * the environment. */
static void become_agent(const char *socket, const char *log)
{
    char where[PATH_MAX + 16], to[PATH_MAX + 16] = "--log=/dev/null";
    int none = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t no_signals;

    setsid();
    if (fork() != 0)
        _exit(0);
    if (none < 0)
        _exit(126);
    dup2(none, STDIN_FILENO);
    dup2(none, STDOUT_FILENO);
    dup2(none, STDERR_FILENO);
    close_all_but_standard();
    sigemptyset(&no_signals);
    sigprocmask(SIG_SETMASK, &no_signals, NULL);
    umask(077);
    if (chdir("/") != 0)
        _exit(126);
    snprintf(where, sizeof where, "--socket=%s", socket);
    if (log)
        snprintf(to, sizeof to, "--log=%s", log);
    unsetenv("LD_PRELOAD");
    execl("/proc/self/exe", "stet", "agent", "--foreground", where, to, (char *)NULL);
    _exit(127);
}

enum stet_rc stet_launch_agent_start(const char *socket, struct stet_err *err)
{
    uint64_t until = stet_wire_now_ms() + START_MS;
    char *log;
    pid_t pid;

    if (listens(socket))
        return STET_OK;
    stet_agent_absolute(); /* the agent works in another folder */
    log = log_path();
    pid = fork();
    if (pid == 0)
        become_agent(socket, log);
    if (pid < 0) {
        stet_mem_free(log);
        return stet_fail_errno(err, "cannot fork");
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    while (!listens(socket)) {
        if (stet_wire_now_ms() > until) {
            stet_fail(err, STET_IO, "the agent did not start; %s may have the reason",
                      log ? log : "agent.log");
            stet_mem_free(log);
            return STET_IO;
        }
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    stet_mem_free(log);
    return STET_OK;
}

/* The socket of this run's agent, for the report at the end; "" when there is none. */
static char run_socket[PATH_MAX];

void stet_launch_agent(struct stet_launch_env *env)
{
    const char *told = stet_launch_env_get(env, "STET_AGENT"),
               *store = stet_launch_env_get(env, "STET_STORE"),
               *channel = stet_launch_env_get(env, "STET_RANKS_CHANNEL");
    bool wanted = told && !strcmp(told, "on");
    struct stet_err err = STET_ERR_INIT;
    char *tiers, socket[PATH_MAX];

    if (told && !wanted) { /* the user configured an agent, or turned it off */
        if (*told == '/')
            snprintf(run_socket, sizeof run_socket, "%s", told);
        return;
    }
    /* Without a store it has nothing to share, but ranks may use it to compare what they compile.
     */
    if ((!store || *store != '/') && (!channel || strcmp(channel, "agent") != 0))
        return;
    tiers = stet_agent_tiers();
    if ((tiers && *tiers) || wanted) {
        if (stet_agent_tiers_check(stet_view_str(tiers), &err) != STET_OK)
            stet_say("stet: running without shared tiers: %s\n", err.text);
        else if (stet_agent_socket(stet_view_str(tiers), socket, &err) != STET_OK ||
                 stet_launch_agent_start(socket, &err) != STET_OK ||
                 stet_launch_env_set(env, "STET_AGENT", socket, &err) != STET_OK)
            stet_say_err(&err);
        else
            snprintf(run_socket, sizeof run_socket, "%s", socket);
    }
    stet_mem_free(tiers);
}

/* Prints the agent's lines. Parts of them are messages of servers. */
static void print_lines(struct stet_view text)
{
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t n = end ? (size_t)(end - text.ptr) : text.len;

        stet_say("stet: %.*s\n", (int)n, text.ptr);
        n += end != NULL;
        text = stet_view_of(text.ptr + n, text.len - n);
    }
}

void stet_launch_agent_report(const char *run)
{
    struct stet_message m = {.kind = STET_MESSAGE_REPORT, .run = stet_view_str(run)};
    uint64_t until = stet_wire_now_ms() + REPORT_MS;
    struct stet_wire line;
    enum stet_rc rc;

    if (!run_socket[0])
        return;
    rc = stet_wire_open(&line, run_socket, NULL);
    if (rc == STET_OK)
        rc = stet_wire_send(&line, &m, until, NULL);
    if (rc == STET_OK)
        rc = stet_wire_receive(&line, &m, until, NULL);
    if (rc == STET_OK && m.kind == STET_MESSAGE_TEXT)
        print_lines(m.text);
    else
        stet_say("stet: the agent at %s %s: entries of other hosts may not have been used\n",
                 run_socket, rc == STET_LIMIT ? "does not answer" : "is gone");
    stet_wire_close(&line);
}
