/* Runs the children of a warm-up, and prints their progress. */
#include "warm/warm.h"

#include "base/fs.h"
#include "base/text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static size_t settled(const struct stet_warm_plan *plan)
{
    size_t n = 0;

    for (size_t i = 0; i < plan->count; i++)
        n += atomic_load(&plan->items[i].verdict) > STET_WARM_AT_WORK;
    return n;
}

static void progress(const struct stet_warm_plan *plan, bool last)
{
    if (isatty(STDERR_FILENO))
        stet_say(last ? "\r%zu of %zu program%s\n" : "\r%zu of %zu program%s", settled(plan),
                 plan->count, plan->count == 1 ? "" : "s");
}

static bool anything_waits(const struct stet_warm_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (atomic_load(&plan->items[i].verdict) == STET_WARM_WAITS)
            return true;
    }
    return false;
}

static void log_path(const struct stet_warm_plan *plan, pid_t pid, char *out, size_t room)
{
    snprintf(out, room, "%s/log-%ld", plan->logs, (long)pid);
}

/* Returns the last line that a child printed, which says why it ended. */
static struct stet_view last_words(struct stet_view log)
{
    const char *newline;

    while (log.len && (log.ptr[log.len - 1] == '\n' || log.ptr[log.len - 1] == ' '))
        log.len--;
    newline = log.len ? memrchr(log.ptr, '\n', log.len) : NULL;
    return newline ? stet_view_of(newline + 1, log.len - (size_t)(newline - log.ptr) - 1) : log;
}

/* Appends them to the reason. */
static void quote(const struct stet_warm_plan *plan, pid_t pid, struct stet_warm_item *i)
{
    struct stet_file f = {0};
    struct stet_view words;
    size_t n = strlen(i->detail);
    char path[PATH_MAX];

    if (!plan->logs)
        return;
    log_path(plan, pid, path, sizeof path);
    if (stet_file_open(&f, path, NULL) != STET_OK)
        return;
    words = last_words(f.bytes);
    if (words.len)
        snprintf(i->detail + n, sizeof i->detail - n, ": %.*s", STET_FMT(words));
    stet_file_close(&f);
}

/* The program that a child was compiling when it died is marked as failed. */
static void blame(const struct stet_warm_plan *plan, pid_t pid, int status)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct stet_warm_item *one = &plan->items[i];

        if (one->by != pid || atomic_load(&one->verdict) != STET_WARM_AT_WORK)
            continue;
        snprintf(one->detail, sizeof one->detail, "the compiler ended its process (%s %d)",
                 WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        quote(plan, pid, one);
        atomic_store(&one->verdict, STET_WARM_FAILED);
    }
}

/* Compilers print on standard output, which is reserved for our own output. */
static void redirect(const struct stet_warm_plan *plan)
{
    char path[PATH_MAX];
    int log = -1;

    if (plan->logs) {
        log_path(plan, getpid(), path, sizeof path);
        log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    if (log >= 0)
        dup2(log, STDERR_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

static pid_t start(const struct stet_warm_plan *plan)
{
    pid_t pid = fork();

    if (pid == 0) {
        redirect(plan);
        stet_warm_child(plan);
    }
    return pid;
}

void stet_warm_work(const struct stet_warm_plan *plan, unsigned jobs)
{
    unsigned running = 0, started = 0;

    while (running || anything_waits(plan)) {
        int status;
        pid_t pid;

        while (running < jobs && anything_waits(plan) && started < plan->count + jobs) {
            if (start(plan) < 0)
                break;
            running++;
            started++;
            nanosleep(&(struct timespec){.tv_nsec = 1000000},
                      NULL); /* gives the child time to take its first program */
        }
        if (!running)
            break;
        pid = waitpid(-1, &status, WNOHANG);
        if (pid > 0) {
            running--;
            blame(plan, pid, status);
        } else {
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
            progress(plan, false);
        }
    }
    progress(plan, true);
}
