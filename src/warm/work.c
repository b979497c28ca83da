/* Runs the children of a warm-up, and prints their progress. */
#include "warm/warm.h"

#include "base/text.h"

#include <stdio.h>
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
        atomic_store(&one->verdict, STET_WARM_FAILED);
    }
}

static pid_t start(const struct stet_warm_plan *plan)
{
    pid_t pid = fork();

    if (pid == 0) {
        /* compilers print on standard output, which is reserved for our own output */
        dup2(STDERR_FILENO, STDOUT_FILENO);
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
