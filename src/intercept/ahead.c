/* A list of clients, each with what is loaded for it and what it needed. The lock protects only the
 * list and is never held while the plugin is called or a file is written. An item in use is marked
 * instead, and code that ends the client or the process, or forks, waits until the mark is gone. */
#include "intercept/ahead.h"

#include "base/mem.h"
#include "intercept/ahead_load.h"
#include "intercept/executable_memory.h"
#include "intercept/executables.h"
#include "intercept/guard.h"
#include "intercept/identity.h"
#include "intercept/layer.h"
#include "intercept/load_watch.h"
#include "intercept/ranks.h"
#include "intercept/threads.h"
#include "intercept/wait.h"
#include "intercept/writer.h"
#include "store/order.h"
#include "store/quarantine.h"

#include <stdlib.h>
#include <time.h>

/* An executable that was not needed for this long is not needed soon, and takes the device's
 * memory. */
enum { UNCLAIMED_MS = 60000, FORK_MS = 1000 };
enum state { QUEUED, LOADING, READY, FAULTY, HELD, GONE };

struct stet_ahead {
    struct stet_ahead *next;
    struct stet_plugin *plugin;
    PJRT_Client *client;
    struct stet_arena arena;
    struct stet_key_parts parts; /* the client's components of a key */
    struct stet_hash name;       /* of the list on disk */
    struct stet_store_order on_disk, asked;
    bool dirty, writing; /* the list on disk */
    bool running;        /* the loader has this */
    bool over;           /* the client is being destroyed */
    bool left;           /* the client is gone: the loader, which was still running, frees this */
    bool working;        /* the loader is inside the plugin, or about to be */
    bool stuck;          /* and has been for longer than a load may take: stop waiting for it */
    bool reported;
    struct stet_flag wake; /* wakes the loader early */
    uint64_t begin_ns, bytes;
    size_t count, loaded, taken;
    struct stet_loaded items[STET_ORDER_MAX];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stet_ahead *list;
static bool ended;
static unsigned forks; /* a fork is in progress: nothing is begun meanwhile */

/* With the lock held; releases it for a moment. */
static void pause_briefly(void)
{
    pthread_mutex_unlock(&lock);
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    pthread_mutex_lock(&lock);
}

/* As are the next ones: with the lock held. */
static struct stet_ahead *find(const struct stet_plugin *p, const PJRT_Client *client)
{
    struct stet_ahead *a = list;

    while (a && (a->plugin != p || a->client != client))
        a = a->next;
    return a;
}

static void empty(struct stet_loaded *l)
{
    stet_buf_release(&l->program);
    stet_buf_release(&l->executable);
    stet_buf_release(&l->fault);
    l->handle = NULL;
    l->state = GONE;
}

static void free_ahead(struct stet_ahead *a)
{
    for (size_t i = 0; i < a->count; i++)
        empty(&a->items[i]);
    stet_arena_release(&a->arena);
    stet_mem_free(a);
}

static struct stet_loaded *first(struct stet_ahead *a, enum state state)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->items[i].state == (int)state)
            return &a->items[i];
    }
    return NULL;
}

/* May the loader continue? Waits for forks. */
static bool may_work(struct stet_ahead *a)
{
    while (forks && !a->over && !ended)
        pause_briefly();
    return !a->over && !ended;
}

static void send_note(size_t loaded, size_t taken)
{
    struct stet_event *e = stet_event_new(STET_REC_note);

    if (!e)
        return;
    e->record.note.name = STET_VIEW("loaded-ahead");
    e->record.note.text = stet_arena_printf(&e->arena, "%zu loaded, %zu taken", loaded, taken);
    stet_event_send(e);
}

/* With the lock held; afterwards `a` may be gone, unless the caller keeps it. */
static void tell(struct stet_ahead *a)
{
    size_t loaded = a->reported ? 0 : a->loaded, taken = a->taken;

    a->reported = true;
    if (!loaded)
        return;
    pthread_mutex_unlock(&lock);
    send_note(loaded, taken);
    pthread_mutex_lock(&lock);
}

/* ---- loading ---- */

/* With the lock held. The item's own memory is not touched meanwhile, because a fork may happen. */
static void load_next(struct stet_ahead *a, struct stet_loaded *item)
{
    struct stet_loaded l = {.key = item->key};

    item->state = LOADING;
    a->working = true;
    pthread_mutex_unlock(&lock);
    stet_ahead_load(a->plugin, a->client, &a->parts, &a->bytes, &l);
    stet_layer_leave_first();
    pthread_mutex_lock(&lock);
    a->working = a->stuck = false;
    a->loaded += l.handle != NULL;
    l.of = a;
    l.state = l.handle ? READY : FAULTY;
    if (!l.handle && !l.fault.len)
        empty(&l);
    *item = l;
}

/* With the lock held. */
static void destroy(struct stet_ahead *a, struct stet_loaded *item)
{
    PJRT_LoadedExecutable *handle = item->handle;

    empty(item);
    a->working = true;
    pthread_mutex_unlock(&lock);
    stet_executables_unload(a->plugin, handle);
    pthread_mutex_lock(&lock);
    a->working = false;
}

/* With the lock held. If another thread is writing the file, it leaves it to that one. */
static void write_list(struct stet_ahead *a)
{
    while (a->dirty && !a->writing) {
        struct stet_store_order copy = a->asked;

        a->on_disk = copy;
        a->dirty = false;
        a->writing = true;
        pthread_mutex_unlock(&lock);
        stet_store_order_write(&stet_layer.store, a->name, &copy);
        pthread_mutex_lock(&lock);
        a->writing = false;
    }
}

static uint64_t patience_ms(void)
{
#ifdef STET_FAULT_INJECTION
    const char *ms = getenv("STET_TEST_AHEAD_MS");

    if (ms)
        return strtoull(ms, NULL, 10);
#endif
    return UNCLAIMED_MS;
}

/* Waits until it is time, or until the client is being destroyed; with the lock held. */
static void wait_for_takers(struct stet_ahead *a)
{
    uint64_t most_ms = patience_ms();

    while (!a->over && !ended) {
        uint64_t age_ms = (stet_journal_now() - a->begin_ns) / 1000000u;

        if (age_ms >= most_ms)
            return;
        pthread_mutex_unlock(&lock);
        stet_flag_wait(&a->wake, (int)(most_ms - age_ms));
        pthread_mutex_lock(&lock);
    }
}

static void *loader(void *p)
{
    struct stet_ahead *a = p;
    struct stet_loaded *item;

    stet_intercept_guard_enter();
    pthread_mutex_lock(&lock);
    while (may_work(a) && (item = first(a, QUEUED)))
        load_next(a, item);
    wait_for_takers(a);
    if (may_work(a)) {
        a->dirty |= a->asked.count && first(a, READY); /* this launch continues without some */
        while (may_work(a) && (item = first(a, READY)))
            destroy(a, item);
        write_list(a);
        tell(a);
    }
    a->running = false;
    if (a->left)
        free_ahead(a);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- the life of a client ---- */

static bool wanted(struct stet_plugin *p, PJRT_Client *client)
{
    const char *ahead = getenv("STET_STORE_AHEAD");

    return stet_layer.storing && stet_intercept_memory_most() &&
           !(ahead && (!strcmp(ahead, "off") || !strcmp(ahead, "0"))) &&
           stet_ranks_alone(p, client);
}

static struct stet_ahead *new_ahead(struct stet_plugin *p, PJRT_Client *client)
{
    struct stet_ahead *a = stet_mem_calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->plugin = p;
    a->client = client;
    a->begin_ns = stet_journal_now();
    stet_arena_init(&a->arena, (size_t)1 << 20);
    if (stet_identity_now(p, client, &a->arena, &a->parts) ||
        !stet_store_order_name(&a->parts, &a->name)) {
        free_ahead(a);
        return NULL;
    }
    stet_store_order_read(&stet_layer.store, a->name, &a->on_disk);
    for (size_t i = 0; i < a->on_disk.count; i++)
        a->items[a->count++] = (struct stet_loaded){.of = a, .key = a->on_disk.keys[i]};
    return a;
}

void stet_ahead_begin(struct stet_plugin *p, PJRT_Client *client)
{
    struct stet_ahead *a = wanted(p, client) ? new_ahead(p, client) : NULL;
    bool start;

    if (!a)
        return;
    pthread_mutex_lock(&lock);
    a->next = list;
    list = a;
    start = a->running = a->count > 0 && !ended;
    pthread_mutex_unlock(&lock);
    if (start && !stet_threads_start(loader, a)) {
        pthread_mutex_lock(&lock);
        a->running = false;
        a->count = 0;
        pthread_mutex_unlock(&lock);
    }
}

/* With the lock held; releases it. */
static void wait_for_load(struct stet_ahead *a, struct stet_loaded *l)
{
    struct stet_entry_file entry;
    uint64_t end, compile_ns = 0;

    pthread_mutex_unlock(&lock);
    if (stet_store_get(&stet_layer.store, l->key, &entry, NULL) == STET_OK) {
        compile_ns = entry.compile_ns;
        stet_store_entry_close(&entry);
    }
    end = stet_journal_now() + stet_store_quarantine_patience_ns(&stet_layer.store, compile_ns);
    pthread_mutex_lock(&lock);
    while (l->state == LOADING && !l->given_up && stet_journal_now() < end)
        pause_briefly();
    if (l->state != LOADING)
        return;
    l->given_up = a->stuck = true;
    pthread_mutex_unlock(&lock);
    stet_layer_log("store: an executable that is loaded ahead takes too long: compiled instead");
    stet_intercept_load_watch(); /* this process may end before the writer checks the load */
    pthread_mutex_lock(&lock);
}

struct stet_loaded *stet_ahead_get(struct stet_plugin *p, const PJRT_Client *client,
                                   struct stet_hash key, bool *stuck)
{
    struct stet_loaded *found = NULL;
    struct stet_ahead *a;

    *stuck = false;
    pthread_mutex_lock(&lock);
    a = find(p, client);
    for (size_t i = 0; a && !found && i < a->count; i++) {
        struct stet_loaded *l = &a->items[i];

        if (!stet_hash_eq(l->key, key))
            continue;
        if (l->state == LOADING)
            wait_for_load(a, l);
        *stuck |= l->state == LOADING;
        if (l->state == QUEUED) /* this thread is here already, and need not wait for a turn */
            l->state = GONE;
        if (l->state == READY || l->state == FAULTY)
            found = l;
    }
    if (found)
        found->state = HELD;
    pthread_mutex_unlock(&lock);
    return found;
}

void stet_ahead_take(struct stet_loaded *l)
{
    pthread_mutex_lock(&lock);
    l->of->taken += l->handle != NULL;
    empty(l);
    pthread_mutex_unlock(&lock);
}

void stet_ahead_put_back(struct stet_loaded *l)
{
    pthread_mutex_lock(&lock);
    l->state = l->handle ? READY : FAULTY;
    pthread_mutex_unlock(&lock);
}

void stet_ahead_note(struct stet_plugin *p, const PJRT_Client *client, struct stet_hash key)
{
    struct stet_ahead *a;

    pthread_mutex_lock(&lock);
    a = find(p, client);
    if (a && a->asked.count < STET_ORDER_MAX && !stet_store_order_has(&a->asked, key)) {
        bool touch = !a->asked.count && a->on_disk.count;
        struct stet_hash name = a->name;

        a->asked.keys[a->asked.count++] = key;
        a->dirty |= !stet_store_order_has(&a->on_disk, key);
        write_list(a);
        pthread_mutex_unlock(&lock);
        if (touch)
            stet_store_order_touch(&stet_layer.store, name);
        return;
    }
    pthread_mutex_unlock(&lock);
}

void stet_ahead_finish(struct stet_plugin *p, const PJRT_Client *client)
{
    struct stet_loaded *item;
    struct stet_ahead **at = &list, *a;
    uint64_t end;

    pthread_mutex_lock(&lock);
    while (*at && ((*at)->plugin != p || (*at)->client != client))
        at = &(*at)->next;
    a = *at;
    if (!a) {
        pthread_mutex_unlock(&lock);
        return;
    }
    *at = a->next;
    a->over = true;
    end = stet_journal_now() + stet_store_quarantine_patience_ns(&stet_layer.store, 0);
    while ((a->working && !a->stuck && stet_journal_now() < end) || a->writing)
        pause_briefly();
    while ((item = first(a, READY)))
        destroy(a, item);
    tell(a);
    a->left = true;
    if (a->running)
        stet_flag_set(&a->wake);
    else
        free_ahead(a);
    pthread_mutex_unlock(&lock);
}

/* ---- exit and fork ---- */

/* With the lock held. */
static void wait_until_idle(int ms)
{
    uint64_t end = stet_journal_now() + (uint64_t)ms * 1000000u;
    struct stet_ahead *a = list;

    while (a && stet_journal_now() < end) {
        for (a = list; a && (!a->working || a->stuck); a = a->next)
            continue;
        if (a)
            pause_briefly();
    }
}

void stet_ahead_end(int ms)
{
    pthread_mutex_lock(&lock);
    ended = true;
    wait_until_idle(ms);
    for (struct stet_ahead *a = list; a;) {
        bool reported = a->reported;

        tell(a);
        a = reported ? a->next : list;
    }
    pthread_mutex_unlock(&lock);
}

void stet_ahead_fork_wait(void)
{
    pthread_mutex_lock(&lock);
    forks++;
    wait_until_idle(FORK_MS);
    pthread_mutex_unlock(&lock);
}

void stet_ahead_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

void stet_ahead_fork_parent(void)
{
    forks--;
    pthread_mutex_unlock(&lock);
}

/* The plugin's objects are left alone, because it is not known whether they can be used in the
 * child. */
void stet_ahead_fork_child(void)
{
    while (list) {
        struct stet_ahead *a = list;

        list = a->next;
        free_ahead(a);
    }
    forks = 0;
    pthread_mutex_unlock(&lock);
}
