/* A child process with two pipes and a deadline. Descendants of the child may keep a pipe open, so
 * the job ends when the child exits, not when its output ends. */
#include "base/job.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    DEADLINE_MS = 30000,
    TICK_MS = 100,
    KILL_MS = 2000,
    ANSWER_MAX = 1 << 20,
    NOISE_MAX = 16 << 10,
};

/* Reads what is available; false once the other side is closed. */
static bool take(int fd, struct stet_buf *out, size_t most, bool keep_end)
{
    char bytes[4096];
    ssize_t n = read(fd, bytes, sizeof bytes);

    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR);
    if (out->len + (size_t)n <= most) {
        stet_buf_add(out, bytes, (size_t)n);
    } else if (keep_end && out->ptr) {
        size_t half = out->len / 2;

        memmove(out->ptr, out->ptr + half, out->len - half);
        out->len -= half;
        stet_buf_add(out, bytes, (size_t)n);
    }
    return true;
}

struct ends {
    int answer[2], noise[2];
};

static _Noreturn void child(struct ends *e, stet_job_body *body, void *arg, pid_t parent)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    dup2(e->noise[1], STDOUT_FILENO);
    dup2(e->noise[1], STDERR_FILENO);
    body(arg, e->answer[1]);
    _exit(0);
}

static bool reap(struct stet_job *job, pid_t pid, int64_t until)
{
    for (;;) {
        pid_t got = waitpid(pid, &job->status, WNOHANG);

        if (got == pid || (got < 0 && errno != EINTR))
            return true;
        if (stet_clock_ms() >= until)
            return false;
        poll(NULL, 0, 10);
    }
}

static void follow(struct stet_job *job, const struct ends *e, pid_t pid)
{
    int64_t start = stet_clock_ms(),
            until = start + (job->deadline_ms ? job->deadline_ms : DEADLINE_MS);
    struct pollfd fds[2] = {{e->answer[0], POLLIN, 0}, {e->noise[0], POLLIN, 0}};
    int64_t told = start;

    for (;;) {
        bool over = reap(job, pid, 0);

        if (!over)
            poll(fds, 2, fds[0].fd < 0 && fds[1].fd < 0 ? 5 : 20);
        for (int i = 0; i < 2; i++)
            for (int k = 0; fds[i].fd >= 0 && k < 64; k++) {
                struct pollfd one = {fds[i].fd, POLLIN, 0};

                if (poll(&one, 1, 0) <= 0)
                    break;
                if (!take(fds[i].fd, i ? &job->noise : &job->answer, i ? NOISE_MAX : ANSWER_MAX, i))
                    fds[i].fd = -1;
            }
        job->milliseconds = (int)(stet_clock_ms() - start);
        if (over)
            return;
        if (job->tick && stet_clock_ms() - told >= TICK_MS) {
            told = stet_clock_ms();
            job->tick(job->tick_arg, job->milliseconds);
        }
        if (stet_clock_ms() < until)
            continue;
        job->late = true;
        kill(-pid, SIGKILL);
        kill(pid, SIGKILL);
        job->stuck = !reap(job, pid, stet_clock_ms() + KILL_MS);
        return;
    }
}

enum stet_rc stet_job_run(struct stet_job *job, stet_job_body *body, void *arg,
                          struct stet_err *err)
{
    struct ends e = {{-1, -1}, {-1, -1}};
    pid_t parent = getpid(), pid = -1;

    job->status = 0;
    job->late = job->stuck = false;
    job->answer.cap = 2 * ANSWER_MAX;
    job->noise.cap = 4 * NOISE_MAX;
    if (pipe2(e.answer, O_CLOEXEC) == 0 && pipe2(e.noise, O_CLOEXEC) == 0) {
        fcntl(e.answer[0], F_SETFL, O_NONBLOCK);
        fcntl(e.noise[0], F_SETFL, O_NONBLOCK);
        fflush(NULL);
        pid = fork();
        if (pid == 0)
            child(&e, body, arg, parent);
    }
    if (pid > 0) {
        close(e.answer[1]);
        close(e.noise[1]);
        e.answer[1] = e.noise[1] = -1;
        follow(job, &e, pid);
        kill(-pid, SIGKILL); /* descendants that it left running */
    } else {
        stet_fail_errno(err, "no child process");
    }
    for (int i = 0; i < 2; i++) {
        if (e.answer[i] >= 0)
            close(e.answer[i]);
        if (e.noise[i] >= 0)
            close(e.noise[i]);
    }
    return pid > 0 ? STET_OK : STET_IO;
}

struct command {
    char *const *argv, *const *envp;
};

static void execute(void *arg, int fd)
{
    const struct command *c = arg;

    dup2(fd, STDOUT_FILENO);
    execvpe(c->argv[0], c->argv, c->envp);
    fprintf(stderr, "%s: %s\n", c->argv[0], strerror(errno));
    _exit(127);
}

enum stet_rc stet_job_command(struct stet_job *job, char *const argv[], char *const envp[],
                              struct stet_err *err)
{
    struct command c = {argv, envp};

    return stet_job_run(job, execute, &c, err);
}

void stet_job_release(struct stet_job *job)
{
    stet_buf_release(&job->answer);
    stet_buf_release(&job->noise);
}

bool stet_job_fine(const struct stet_job *job)
{
    return !job->late && WIFEXITED(job->status) && WEXITSTATUS(job->status) == 0;
}

/* glibc names signals since 2.32 only. */
static const char *signal_name(int number)
{
    static const char *const names[] = {
        [SIGHUP] = "HUP",   [SIGINT] = "INT",   [SIGQUIT] = "QUIT", [SIGILL] = "ILL",
        [SIGTRAP] = "TRAP", [SIGABRT] = "ABRT", [SIGBUS] = "BUS",   [SIGFPE] = "FPE",
        [SIGKILL] = "KILL", [SIGUSR1] = "USR1", [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
        [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM", [SIGXCPU] = "XCPU",
        [SIGXFSZ] = "XFSZ", [SIGSYS] = "SYS",
    };
    size_t at = (size_t)number;

    return at < sizeof names / sizeof *names && names[at] ? names[at] : "?";
}

void stet_job_how(const struct stet_job *job, char *out, size_t room)
{
    if (job->late)
        snprintf(out, room, "did not answer within %g s%s",
                 (job->deadline_ms ? job->deadline_ms : DEADLINE_MS) / 1000.0,
                 job->stuck ? ", and cannot be killed" : "");
    else if (WIFSIGNALED(job->status))
        snprintf(out, room, "crashed (SIG%s)", signal_name(WTERMSIG(job->status)));
    else
        snprintf(out, room, "exit code %d", WEXITSTATUS(job->status));
}
