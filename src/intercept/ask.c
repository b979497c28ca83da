/* A list of queries and a thread that runs as long as there are any. The lock protects only the
 * list and is never held while the plugin is called. A query in progress is marked instead, and
 * code that is about to destroy its object waits until the mark is gone. */
#include "intercept/ask.h"

#include "base/mem.h"
#include "intercept/ahead.h"
#include "intercept/executables.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/local.h"
#include "intercept/threads.h"
#include "intercept/wait.h"

#include <time.h>

enum { QUESTIONS_MAX = 4096, FORK_MS = 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stet_question *list, **list_end = &list;
static const struct stet_question *at_work;
static bool running, ended;
static unsigned forks;           /* a fork is in progress: no query starts meanwhile */
static _Atomic uint32_t pending; /* in the list or in progress: other threads need not check */

static void send(const struct stet_question *q,
                 const PJRT_Executable_GetCompiledMemoryStats_Args *stats, uint64_t ask_ns)
{
    struct stet_event *e = stet_event_new(STET_REC_compiled_memory);

    if (!e)
        return;
#define BYTES(name) (stats->name > 0 ? (uint64_t)stats->name : 0)
    e->record.compiled_memory = (struct stet_rec_compiled_memory){
        .index = q->index,
        .executable = q->id,
        .code = BYTES(generated_code_size_in_bytes),
        .arguments = BYTES(argument_size_in_bytes),
        .outputs = BYTES(output_size_in_bytes),
        .alias = BYTES(alias_size_in_bytes),
        .temp = BYTES(temp_size_in_bytes),
        .host_code = BYTES(host_generated_code_size_in_bytes),
        .host_arguments = BYTES(host_argument_size_in_bytes),
        .host_outputs = BYTES(host_output_size_in_bytes),
        .host_alias = BYTES(host_alias_size_in_bytes),
        .host_temp = BYTES(host_temp_size_in_bytes),
        .peak = BYTES(peak_memory_in_bytes),
        .ask_ns = ask_ns,
    };
#undef BYTES
    stet_event_send(e);
}

static void ask_memory(const struct stet_question *q, PJRT_Executable *executable)
{
    const PJRT_Api *real = stet_plugin_real(q->plugin);
    uint64_t before = stet_journal_now();
    PJRT_Executable_GetCompiledMemoryStats_Args stats = {
        .struct_size = PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE,
        .executable = executable};

    if (!stet_api_has(real, PJRT_Executable_GetCompiledMemoryStats))
        return;
    if (!stet_plugin_drop(q->plugin, real->PJRT_Executable_GetCompiledMemoryStats(&stats)))
        send(q, &stats, stet_journal_now() - before);
}

static void ask(struct stet_question *q)
{
    PJRT_Executable *executable =
        q->loaded ? stet_executables_of(q->plugin, q->loaded) : q->executable;

    if (!executable) {
        stet_intercept_pending_free(
            q->keep); /* may talk to the agent, so not with the lock, in forget() */
        q->keep = NULL;
        return;
    }
    ask_memory(q, executable);
    if (q->keep)
        stet_intercept_pending_write(q->keep, q->plugin, executable);
    q->keep = NULL;
    if (!stet_hash_is_zero(q->used))
        stet_store_touch(&stet_layer.store, q->used);
    if (!stet_hash_is_zero(q->entry))
        stet_ahead_note(q->plugin, q->client, q->entry);
    if (!stet_hash_is_zero(q->program))
        stet_store_alias_set(&stet_layer.store, q->bytes, STET_HINT_VERSION, q->program);
    if (q->loaded)
        stet_executables_return(q->plugin, executable);
}

static void forget(struct stet_question *q)
{
    stet_intercept_pending_free(q->keep);
    stet_mem_free(q);
}

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

static struct stet_question *take_first(void)
{
    struct stet_question *q = list;

    if (q)
        list = q->next;
    if (!list)
        list_end = &list;
    return q;
}

static void *asker(void *unused)
{
    struct stet_question *q;

    stet_intercept_guard_enter();
    pthread_mutex_lock(&lock);
    while (!ended && !forks && (q = take_first())) {
        at_work = q;
        pthread_mutex_unlock(&lock);
        ask(q);
        stet_layer_leave_first();
        pthread_mutex_lock(&lock);
        at_work = NULL;
        atomic_fetch_sub(&pending, 1);
        forget(q);
    }
    running = false;
    pthread_mutex_unlock(&lock);
    return unused;
}

/* Makes sure that a thread runs if there are queries. Without one, a query waits until its object
 * is destroyed. */
static void ensure_asker(void)
{
    bool start;

    pthread_mutex_lock(&lock);
    start = list && !running && !ended && !forks;
    running |= start;
    pthread_mutex_unlock(&lock);
    if (start && !stet_threads_start(asker, NULL)) {
        pthread_mutex_lock(&lock);
        running = false;
        pthread_mutex_unlock(&lock);
    }
}

void stet_ask_memory(const struct stet_question *q)
{
    struct stet_question *copy;

    if (!q->keep && stet_hash_is_zero(q->entry) &&
        !stet_api_has(stet_plugin_real(q->plugin), PJRT_Executable_GetCompiledMemoryStats))
        return;
    if (atomic_load(&pending) >= QUESTIONS_MAX) {
        stet_intercept_pending_free(q->keep);
        stet_fault(STET_FAULT_QUEUE_FULL);
        return;
    }
    copy = stet_mem_alloc(sizeof *copy);
    if (!copy) {
        stet_intercept_pending_free(q->keep);
        stet_fault(STET_FAULT_NO_MEMORY);
        return;
    }
    *copy = *q;
    copy->next = NULL;
    atomic_fetch_add(&pending, 1);
    pthread_mutex_lock(&lock);
    *list_end = copy;
    list_end = &copy->next;
    pthread_mutex_unlock(&lock);
    stet_layer_leave_first(); /* of the compile */
    ensure_asker();
}

static bool is_about(const struct stet_question *q, const struct stet_plugin *p, const void *handle)
{
    return q->plugin == p &&
           (q->client == handle || q->loaded == handle || q->executable == handle);
}

/* With the lock held; the caller owns the query. */
static struct stet_question *take_about(const struct stet_plugin *p, const void *handle)
{
    for (struct stet_question **at = &list; *at; at = &(*at)->next) {
        struct stet_question *q = *at;

        if (!is_about(q, p, handle))
            continue;
        *at = q->next;
        if (!q->next)
            list_end = at;
        return q;
    }
    return NULL;
}

void stet_ask_finish(struct stet_plugin *p, const void *handle)
{
    struct stet_question *q;

    if (!handle || !atomic_load(&pending))
        return;
    pthread_mutex_lock(&lock);
    while (at_work && is_about(at_work, p, handle)) {
        pthread_mutex_unlock(&lock);
        pause_briefly();
        pthread_mutex_lock(&lock);
    }
    while ((q = take_about(p, handle))) {
        pthread_mutex_unlock(&lock);
        ask(q);
        forget(q);
        atomic_fetch_sub(&pending, 1);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
}

static void wait_while(bool (*busy)(void), int ms)
{
    uint64_t end = stet_journal_now() + (uint64_t)ms * 1000000u;

    pthread_mutex_lock(&lock);
    while (busy() && stet_journal_now() < end) {
        pthread_mutex_unlock(&lock);
        pause_briefly();
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
}

static bool is_running(void)
{
    return running;
}

static bool is_asking(void)
{
    return at_work != NULL;
}

void stet_ask_end(int ms)
{
    wait_while(is_running, ms);
    pthread_mutex_lock(&lock);
    ended = true;
    pthread_mutex_unlock(&lock);
}

/* A fork should not happen during a query of ours inside the plugin. */
void stet_ask_fork_wait(void)
{
    pthread_mutex_lock(&lock);
    forks++;
    pthread_mutex_unlock(&lock);
    wait_while(is_asking, FORK_MS);
}

void stet_ask_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

void stet_ask_fork_parent(void)
{
    forks--;
    pthread_mutex_unlock(&lock);
    ensure_asker();
}

void stet_ask_fork_child(void)
{
    struct stet_question *q;

    while ((q = take_first()))
        forget(q);
    at_work = NULL;
    running = false;
    forks = 0;
    atomic_store(&pending, 0);
    pthread_mutex_unlock(&lock);
}
