/* See threads.h. Each waiting thread has a slot; a slot is handed over by its state alone, so that
 * there is no lock that a fork could find taken. */
#include "intercept/threads.h"

#include "base/mem.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/wait.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As many as one compile needs: one walks Python's stacks, one queries the plugin. */
enum { PLACES = 2, SPARE_MS = 30000 };
enum state { EMPTY, TAKEN, WAITING, CALLED };

struct task {
    void *(*body)(void *);
    void *argument;
};

static struct place {
    atomic_int state;
    struct stet_flag called;
    struct task task;
} places[PLACES];

static struct place *find(int from, int to)
{
    for (size_t i = 0; i < PLACES; i++) {
        int expected = from;

        if (atomic_compare_exchange_strong(&places[i].state, &expected, to))
            return &places[i];
    }
    return NULL;
}

/* False if no work comes, or if enough others wait already. */
static bool wait_for_task(struct task *out)
{
    struct place *p = find(EMPTY, TAKEN);
    int waiting = WAITING;

    if (!p)
        return false;
    atomic_store(&p->called.set, 0);
    atomic_store(&p->state, WAITING);
    if (!stet_flag_wait(&p->called, SPARE_MS)) {
        if (atomic_compare_exchange_strong(&p->state, &waiting, EMPTY))
            return false;
        while (!stet_flag_wait(&p->called, SPARE_MS)) /* a caller is about to use it */
            continue;
    }
    *out = p->task;
    atomic_store(&p->state, EMPTY);
    return true;
}

void stet_threads_be_late(const char *variable)
{
#ifdef STET_FAULT_INJECTION
    const char *ms = getenv(variable);

    if (ms)
        usleep((useconds_t)strtoul(ms, NULL, 10) * 1000);
#else
    (void)variable;
#endif
}

static void *thread(void *p)
{
    struct task task = *(struct task *)p;

    stet_mem_free(p);
    do {
        stet_threads_be_late("STET_TEST_LATE_THREADS"); /* as on a busy machine */
        task.body(task.argument);
        stet_intercept_guard_leave();
    } while (wait_for_task(&task));
    return NULL;
}

static bool make(struct task task)
{
    struct task *copy = stet_mem_alloc(sizeof *copy);
    sigset_t all, before;
    pthread_t made;
    bool started;

    if (!copy)
        return false;
    *copy = task;
    sigfillset(&all); /* the host's signal handlers must never run on a thread of ours */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&made, NULL, thread, copy) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(made);
    else
        stet_mem_free(copy);
    return started;
}

bool stet_threads_start(void *(*body)(void *), void *argument)
{
    struct task task = {body, argument};
    struct place *p;

#ifdef STET_FAULT_INJECTION
    if (getenv("STET_TEST_NO_THREADS")) {
        stet_fault(STET_FAULT_NO_THREAD);
        return false;
    }
#endif
    p = find(WAITING, CALLED);
    if (p) {
        p->task = task;
        stet_flag_set(&p->called);
        return true;
    }
    if (make(task))
        return true;
    stet_fault(STET_FAULT_NO_THREAD);
    return false;
}

/* The state in /proc/self/task/ID/stat, behind the name in brackets; 0 when there is none. */
static char state_of(const char *id)
{
    char path[64], text[512], *name_end;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%.16s/stat", id);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' ? name_end[2] : 0;
}

bool stet_threads_others_run(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    bool run = false;

    while (tasks && !run && (task = readdir(tasks)))
        run =
            strtoull(task->d_name, NULL, 10) != stet_threads_id() && state_of(task->d_name) == 'R';
    if (tasks)
        closedir(tasks);
    return run;
}

uint64_t stet_threads_id(void)
{
    return (uint64_t)syscall(SYS_gettid);
}

void stet_threads_fork_child(void)
{
    for (size_t i = 0; i < PLACES; i++)
        atomic_store(&places[i].state, EMPTY);
}
