/* The child keeps our process group, so that job control and the terminal treat both as one. */
#include "cli/run_child.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};
enum { FORWARDED = sizeof forwarded / sizeof *forwarded };

static volatile pid_t forward_to;

/* The kernel's own (Ctrl-C, hang-up of the terminal) reach the whole group: forwarding those would
 * deliver them twice, and two interrupts mean something else to a trainer than one. */
static void forward(int number, siginfo_t *info, void *context)
{
    int saved = errno;

    (void)context;
    if (info->si_code <= 0 && info->si_pid != forward_to && forward_to > 0)
        kill(forward_to, number);
    errno = saved;
}

static void ignore(int number)
{
    (void)number; /* its arrival ends ppoll */
}

static void exec_or_tell(int tell, char *const argv[], char *const envp[], const sigset_t *mask)
{
    int failure;

    sigprocmask(SIG_SETMASK, mask, NULL);
    execvpe(argv[0], argv, envp);
    failure = errno;
    stet_fs_write_all(tell, &failure, sizeof failure);
    _exit(127);
}

static void take_signals(void)
{
    struct sigaction pass = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction wake = {.sa_handler = ignore, .sa_flags = SA_NOCLDSTOP};

    for (size_t i = 0; i < FORWARDED; i++) {
        struct sigaction old;

        /* nohup and the like: what was ignored stays ignored, for the child as well. */
        sigaction(forwarded[i], NULL, &old);
        if (old.sa_handler != SIG_IGN)
            sigaction(forwarded[i], &pass, NULL);
    }
    sigaction(SIGCHLD, &wake, NULL);
}

enum stet_rc stet_child_start(struct stet_child *c, char *const argv[], char *const envp[],
                              struct stet_err *err)
{
    sigset_t all, before;
    int told[2], failure = 0;
    ssize_t got;

    if (pipe2(told, O_CLOEXEC) != 0)
        return stet_fail_errno(err, "cannot make a pipe");
    /* No signal may arrive between fork and the moment we know whom to forward it to. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    c->pid = fork();
    if (c->pid == 0)
        exec_or_tell(told[1], argv, envp, &before);
    forward_to = c->pid;
    close(told[1]);
    if (c->pid < 0) {
        stet_fail_errno(err, "cannot fork");
        sigprocmask(SIG_SETMASK, &before, NULL);
        close(told[0]);
        return STET_IO;
    }
    take_signals();
    /* SIGCHLD stays blocked but inside ppoll, so that it can't slip by before the wait. */
    sigaddset(&before, SIGCHLD);
    sigprocmask(SIG_SETMASK, &before, NULL);
    do
        got = read(told[0], &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    close(told[0]);
    if (got <= 0)
        return STET_OK;
    waitpid(c->pid, &c->status, 0);
    forward_to = 0;
    errno = failure;
    stet_fail_errno(err, "cannot run %s", argv[0]);
    return failure == ENOENT ? STET_NOT_FOUND : STET_IO;
}

bool stet_child_wait(struct stet_child *c, int milliseconds)
{
    struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    sigset_t open;
    pid_t ended;

    sigprocmask(SIG_SETMASK, NULL, &open);
    sigdelset(&open, SIGCHLD);
    ended = waitpid(c->pid, &c->status, WNOHANG);
    if (ended == 0) {
        ppoll(NULL, 0, &limit, &open);
        ended = waitpid(c->pid, &c->status, WNOHANG);
    }
    if (ended == 0 || (ended < 0 && errno == EINTR))
        return false;
    forward_to = 0;
    return true;
}

_Noreturn void stet_child_end_alike(const struct stet_child *c)
{
    if (WIFSIGNALED(c->status)) {
        struct rlimit no_core = {0, 0};
        int number = WTERMSIG(c->status);
        sigset_t only;

        setrlimit(RLIMIT_CORE, &no_core); /* the child left its own */
        signal(number, SIG_DFL);
        sigemptyset(&only);
        sigaddset(&only, number);
        sigprocmask(SIG_UNBLOCK, &only, NULL);
        raise(number);
        exit(128 + number);
    }
    exit(WEXITSTATUS(c->status));
}
