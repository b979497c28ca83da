/* The child keeps our process group. So job control, the terminal and a process that kills the
 * group treat both as one. A thread forwards signals that were sent to us alone; it first checks
 * whether the command received them too. */
#include "launch/child.h"

#include "base/clock.h"
#include "base/fs.h"
#include "launch/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};
enum { FORWARDED = sizeof forwarded / sizeof *forwarded };

enum {
    WAIT_MS = 50,    /* for the witness: managers of control groups signal one process at a time */
    WINDOW_MS = 100, /* one event: `timeout` signals its child, then the whole group */
    OURS_MS = 1000,  /* so long after the end of the command, a signal is meant for us */
};

static volatile pid_t forward_to;
static _Atomic uint64_t ended_ns; /* when the command ended */
static int to_forwarder = -1;     /* a pipe of arrivals */
static pid_t owner;               /* the process of the handler; a forked child differs */
static struct stet_witness witness;
/* Prevents a signal to a reused pid. */
static pthread_mutex_t reaping = PTHREAD_MUTEX_INITIALIZER;

/* A signal on its way from the handler to the thread. */
struct arrival {
    uint64_t ns;
    int number;
};

/* Signals from the kernel (Ctrl-C, hang-up of the terminal) reach the whole group without
 * forwarding. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    struct arrival a = {stet_clock_ns(), number};
    int saved = errno;

    (void)context;
    if (ended_ns && a.ns - ended_ns > OURS_MS * UINT64_C(1000000)) {
        signal(number, SIG_DFL);
        raise(number); /* when this handler returns */
    }
    if (info->si_code <= 0 && info->si_pid != forward_to && forward_to > 0 && getpid() == owner &&
        write(to_forwarder, &a, sizeof a) != sizeof a)
        kill(forward_to, number);
    errno = saved;
}

/* How the command handles signals, read from /proc. */
struct dispositions {
    uint64_t pending, blocked, ignored, caught;
};

static bool read_dispositions(struct dispositions *d)
{
    static const char *const names[] = {"SigPnd:", "ShdPnd:", "SigBlk:", "SigIgn:", "SigCgt:"};
    uint64_t *const fields[] = {&d->pending, &d->pending, &d->blocked, &d->ignored, &d->caught};
    char path[64], text[4096];
    ssize_t n;
    int fd;

    *d = (struct dispositions){0};
    snprintf(path, sizeof path, "/proc/%ld/status", (long)forward_to);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(text, names[i]);

        if (!at)
            return false;
        *fields[i] |= strtoull(at + strlen(names[i]), NULL, 16);
    }
    return true;
}

/* Has the signal reached the command without us? A signal to the group has. If the command would
 * have died of it and lives, it has not: then the signal was sent to every process of our
 * executable. */
static bool has_arrived(struct arrival a)
{
    uint64_t since = a.ns - WINDOW_MS * UINT64_C(1000000), bit = (uint64_t)1 << (a.number - 1);
    struct dispositions d;
    bool seen = false, known = false;

    for (int waited = 0; waited <= WAIT_MS && !seen; waited++) {
        known = read_dispositions(&d);
        if (known && (d.pending & bit))
            return true;
        seen = stet_launch_witness_saw(&witness, a.number, since);
        if (!seen)
            poll(NULL, 0, 1);
    }
    if (!seen || !known || ((d.blocked | d.ignored | d.caught) & bit))
        return seen;
    poll(NULL, 0, WAIT_MS); /* it is dying, or did not get the signal */
    return !read_dispositions(&d) || (d.pending & bit);
}

static void *forward(void *pipe)
{
    int fd = *(int *)pipe;
    struct arrival a;
    ssize_t n;

    while ((n = read(fd, &a, sizeof a)) == sizeof a || (n < 0 && errno == EINTR)) {
        if (n < 0 || forward_to <= 0 || has_arrived(a))
            continue;
        pthread_mutex_lock(&reaping);
        if (forward_to > 0)
            kill(forward_to, a.number);
        pthread_mutex_unlock(&reaping);
    }
    return NULL;
}

/* Without the thread, the handler forwards every signal, whichever processes received it. */
static void start_forwarder(void)
{
    static int ends[2];
    pthread_attr_t detached;
    pthread_t thread;

    owner = getpid();
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return;
    fcntl(ends[0], F_SETFL, 0); /* the thread waits, the handler does not */
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &detached, forward, &ends[0]) == 0)
        to_forwarder = ends[1];
    pthread_attr_destroy(&detached);
}

static pid_t reap(struct stet_launch_child *c, int flags)
{
    pid_t ended;
    int saved;

    pthread_mutex_lock(&reaping);
    ended = waitpid(c->pid, &c->status, flags);
    saved = errno;
    if (ended == c->pid || (ended < 0 && saved != EINTR)) {
        forward_to = 0;
        ended_ns = stet_clock_ns();
    }
    pthread_mutex_unlock(&reaping);
    if (!forward_to)
        stet_launch_witness_stop(&witness);
    errno = saved;
    return ended;
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
    struct sigaction pass = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction wake = {.sa_handler = ignore, .sa_flags = SA_NOCLDSTOP};

    for (size_t i = 0; i < FORWARDED; i++) {
        struct sigaction old;

        /* As under nohup: an ignored signal stays ignored, for the child as well. */
        sigaction(forwarded[i], NULL, &old);
        if (old.sa_handler != SIG_IGN)
            sigaction(forwarded[i], &pass, NULL);
    }
    sigaction(SIGCHLD, &wake, NULL);
}

enum stet_rc stet_launch_child_start(struct stet_launch_child *c, char *const argv[],
                                     char *const envp[], struct stet_err *err)
{
    sigset_t all, before;
    int told[2], failure = 0;
    ssize_t got;

    if (pipe2(told, O_CLOEXEC) != 0)
        return stet_fail_errno(err, "cannot make a pipe");
    /* No signal may arrive between fork and the moment when the child's pid is known. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    stet_launch_witness_start(&witness);
    c->pid = fork();
    if (c->pid == 0)
        exec_or_tell(told[1], argv, envp, &before);
    forward_to = c->pid;
    close(told[1]);
    if (c->pid < 0) {
        stet_fail_errno(err, "cannot fork");
        stet_launch_witness_stop(&witness);
        sigprocmask(SIG_SETMASK, &before, NULL);
        close(told[0]);
        return STET_IO;
    }
    start_forwarder(); /* with all signals blocked in it: handlers run on this thread */
    take_signals();
    /* SIGCHLD is unblocked only inside ppoll, so that it cannot be missed before the wait. */
    sigaddset(&before, SIGCHLD);
    sigprocmask(SIG_SETMASK, &before, NULL);
    do
        got = read(told[0], &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    close(told[0]);
    if (got <= 0)
        return STET_OK;
    while (reap(c, 0) < 0 && errno == EINTR)
        continue;
    errno = failure;
    stet_fail_errno(err, "cannot run %s", argv[0]);
    return failure == ENOENT ? STET_NOT_FOUND : STET_IO;
}

bool stet_launch_child_wait(struct stet_launch_child *c, int milliseconds)
{
    struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    sigset_t open;
    pid_t ended;

    sigprocmask(SIG_SETMASK, NULL, &open);
    sigdelset(&open, SIGCHLD);
    ended = reap(c, WNOHANG);
    if (ended == 0) {
        ppoll(NULL, 0, &limit, &open);
        ended = reap(c, WNOHANG);
    }
    return ended > 0 || (ended < 0 && errno != EINTR);
}

_Noreturn void stet_launch_child_end_alike(const struct stet_launch_child *c)
{
    if (WIFSIGNALED(c->status)) {
        struct rlimit no_core = {0, 0};
        int number = WTERMSIG(c->status);
        sigset_t only;

        setrlimit(RLIMIT_CORE, &no_core); /* the child has left its core file */
        signal(number, SIG_DFL);
        sigemptyset(&only);
        sigaddset(&only, number);
        sigprocmask(SIG_UNBLOCK, &only, NULL);
        raise(number);
        exit(128 + number);
    }
    exit(WEXITSTATUS(c->status));
}
