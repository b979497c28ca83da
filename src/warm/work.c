/* Runs the children of a warm-up, and prints their progress. */
#include "warm/warm.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/stop.h"
#include "base/text.h"
#include "warm/patience.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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

static struct stet_warm_item *at_work(const struct stet_warm_plan *plan, pid_t pid)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct stet_warm_item *one = &plan->items[i];

        if (one->by == pid && atomic_load(&one->verdict) == STET_WARM_AT_WORK)
            return one;
    }
    return NULL;
}

/* The program that a child was compiling when it died is marked as failed. */
static void blame(const struct stet_warm_plan *plan, const struct stet_warm_watch *child,
                  int status)
{
    struct stet_warm_item *one = at_work(plan, child->pid);

    if (!one)
        return;
    if (child->given_up && child->given_up != one) { /* it had just begun another one */
        atomic_store(&one->verdict, STET_WARM_WAITS);
        return;
    }
    if (!child->given_up) {
        snprintf(one->detail, sizeof one->detail, "the compiler ended its process (%s %d%s)",
                 WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                 WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                     ? ", perhaps because this machine ran out of memory: --jobs=1 needs less"
                     : "");
        quote(plan, child->pid, one);
    }
    atomic_store(&one->verdict, STET_WARM_FAILED);
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
    pid_t parent = getpid(), pid = fork();

    if (pid == 0) {
        stet_stop_forget();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        redirect(plan);
        stet_warm_child(plan);
    }
    return pid;
}

/* ---- the children at work ---- */

struct children {
    struct stet_warm_watch at[STET_WARM_JOBS];
    unsigned running, started;
};

static void start_more(const struct stet_warm_plan *plan, struct children *c, unsigned jobs)
{
    while (c->running < jobs && anything_waits(plan) && c->started < plan->count + jobs) {
        pid_t pid = start(plan);

        if (pid < 0)
            return;
        c->at[c->running++] = (struct stet_warm_watch){.pid = pid};
        c->started++;
        nanosleep(&(struct timespec){.tv_nsec = 1000000},
                  NULL); /* gives the child time to take its first program */
    }
}

/* Gives up a child that hangs. It is collected like one that died. */
static void watch(const struct stet_warm_plan *plan, struct stet_warm_watch *w)
{
    struct stet_warm_item *item = at_work(plan, w->pid);
    char why[sizeof item->detail];

    if (w->given_up ||
        !stet_warm_watch_over(w, stet_warm_watch_cpu(w->pid), stet_clock_ns(),
                              item ? item->begun_ns : 0, plan->limit_ns, why, sizeof why))
        return;
    snprintf(item->detail, sizeof item->detail, "%s", why);
    w->given_up = item;
    kill(w->pid, SIGKILL);
}

/* Returns whether a child ended. */
static bool collect(const struct stet_warm_plan *plan, struct children *c)
{
    for (unsigned i = 0; i < c->running; i++) {
        int status;

        if (waitpid(c->at[i].pid, &status, WNOHANG) == 0)
            continue;
        blame(plan, &c->at[i], status);
        c->at[i] = c->at[--c->running];
        return true;
    }
    return false;
}

unsigned stet_warm_jobs(const char *text)
{
    char *end;
    long n = text ? strtol(text, &end, 10) : sysconf(_SC_NPROCESSORS_ONLN);

    if (text && (end == text || *end || n < 1 || n > STET_WARM_JOBS))
        return 0;
    return n < 1 ? 1 : n > STET_WARM_JOBS ? STET_WARM_JOBS : (unsigned)n;
}

void stet_warm_work(const struct stet_warm_plan *plan, unsigned jobs)
{
    struct children c = {0};

    if (jobs > STET_WARM_JOBS)
        jobs = STET_WARM_JOBS;
    while (!stet_stop_asked()) {
        start_more(plan, &c, jobs);
        if (!c.running)
            break;
        if (collect(plan, &c))
            continue;
        for (unsigned i = 0; i < c.running; i++)
            watch(plan, &c.at[i]);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        progress(plan, false);
    }
    for (unsigned i = 0; i < c.running; i++) {
        kill(c.at[i].pid, SIGKILL);
        waitpid(c.at[i].pid, NULL, 0);
    }
    progress(plan, true);
}
