/* A list of jobs and a thread that runs as long as there are any. The lock protects only the list
 * and is never held while the plugin is called. A job in progress is marked instead, and code that
 * destroys its client, ends the process or forks waits until the mark is gone. */
#include "intercept/lift_spare.h"

#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/layer_number.h"
#include "intercept/threads.h"

#include <time.h>

enum { FORK_MS = 1000, EXIT_MS = 2000, EXIT_TIMES = 4, A_DAY_S = 86400 };
/* A process must not wait much longer than this at its end for a compile that it did not ask for.
 */
enum { EXPECTED_MAX_S = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stet_lift_job *list, **list_end = &list;
/* The job in progress: a copy, because the job itself is freed before the mark is gone. */
static struct stet_lift_job at_work;
static uint64_t begun_ns;
static uint64_t expected_max_ns;
static bool busy, running, ended;
static unsigned forks; /* a fork is in progress: no job begins meanwhile */

void stet_intercept_lift_spare_init(void)
{
    uint64_t seconds = EXPECTED_MAX_S;

    stet_layer_number("STET_LIFT_BACKGROUND", &seconds);
    expected_max_ns = UINT64_C(1000000000) * (seconds < A_DAY_S ? seconds : A_DAY_S);
}

bool stet_intercept_lift_spare_takes(uint64_t expected_ns)
{
    return expected_max_ns && expected_ns <= expected_max_ns;
}

/* With the lock held; releases it for a moment. */
static void pause_briefly(void)
{
    pthread_mutex_unlock(&lock);
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    pthread_mutex_lock(&lock);
}

/* With the lock held. */
static struct stet_lift_job *take_first(void)
{
    struct stet_lift_job *job = list;

    if (job)
        list = job->next;
    if (!list)
        list_end = &list;
    return job;
}

static void *worker(void *unused)
{
    struct stet_lift_job *job;

    stet_intercept_guard_enter();
    pthread_mutex_lock(&lock);
    while (!ended && !forks && (job = take_first())) {
        at_work = *job;
        busy = true;
        begun_ns = stet_journal_now();
        pthread_mutex_unlock(&lock);
        job->run(job);
        stet_layer_leave_first();
        job->free(job);
        pthread_mutex_lock(&lock);
        busy = false;
    }
    running = false;
    pthread_mutex_unlock(&lock);
    return unused;
}

/* Without a thread, jobs wait until another one is added, or until their client ends. */
static void ensure_worker(void)
{
    bool start;

    pthread_mutex_lock(&lock);
    start = list && !running && !ended && !forks;
    running |= start;
    pthread_mutex_unlock(&lock);
    if (start && !stet_threads_start(worker, NULL)) {
        pthread_mutex_lock(&lock);
        running = false;
        pthread_mutex_unlock(&lock);
    }
}

void stet_intercept_lift_spare_add(struct stet_lift_job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&lock);
    *list_end = job;
    list_end = &job->next;
    pthread_mutex_unlock(&lock);
    ensure_worker();
}

static bool is_of(const struct stet_lift_job *job, const struct stet_plugin *p,
                  const PJRT_Client *client)
{
    return job->plugin == p && job->client == client;
}

void stet_intercept_lift_spare_client_gone(const struct stet_plugin *p, const PJRT_Client *client)
{
    struct stet_lift_job *dropped = NULL, *job;

    pthread_mutex_lock(&lock);
    for (struct stet_lift_job **at = &list; *at;) {
        job = *at;
        if (!is_of(job, p, client)) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        job->next = dropped;
        dropped = job;
    }
    for (list_end = &list; *list_end;)
        list_end = &(*list_end)->next;
    while (busy && is_of(&at_work, p, client))
        pause_briefly();
    pthread_mutex_unlock(&lock);
    while ((job = dropped)) {
        dropped = job->next;
        job->free(job);
    }
}

void stet_intercept_lift_spare_end(void)
{
    uint64_t end;

    pthread_mutex_lock(&lock);
    ended = true;
    end = begun_ns + EXIT_MS * UINT64_C(1000000) + EXIT_TIMES * at_work.expected_ns;
    while (busy && stet_journal_now() < end)
        pause_briefly();
    pthread_mutex_unlock(&lock);
}

void stet_intercept_lift_spare_fork_wait(void)
{
    uint64_t end = stet_journal_now() + FORK_MS * UINT64_C(1000000);

    pthread_mutex_lock(&lock);
    forks++;
    while (busy && stet_journal_now() < end)
        pause_briefly();
    pthread_mutex_unlock(&lock);
}

void stet_intercept_lift_spare_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

void stet_intercept_lift_spare_fork_parent(void)
{
    forks--;
    pthread_mutex_unlock(&lock);
    ensure_worker();
}

/* What the jobs hold is left alone: it is not known whether the plugin can be used in the child. */
void stet_intercept_lift_spare_fork_child(void)
{
    list = NULL;
    list_end = &list;
    busy = running = false;
    forks = 0;
    pthread_mutex_unlock(&lock);
}
