/* Listens, runs one thread per connection, and shuts down. */
#include "agent/internal.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 1024,
    WORKERS = 4,
    STACK = 512 << 10,
    STOP_MS = 10000,
    SUCCEED_MS = 4000,
    UNREAD_MS = 300
};

/* Entries without a trusted signature are kept for a week, and at most this many bytes. */
#define ASIDE_BYTES ((uint64_t)4 << 30)
#define ASIDE_S     (7 * 24 * 3600)

static atomic_bool stop_requested;

static void on_signal(int number)
{
    (void)number;
    atomic_store(&stop_requested, true);
}

struct guest {
    struct stet_agent *a;
    int fd;
};

static void refuse(struct stet_agent *a, const struct stet_message *m)
{
    struct stet_tier *t = stet_agent_tiers_find(&a->tiers, m->tier_number, m->tier);

    if (!t)
        return;
    for (int r = 0; r < STET_REFUSALS; r++) {
        if (stet_view_is(m->text, stet_agent_refusal_word((enum stet_refusal)r)))
            stet_agent_tier_refuse(t, (enum stet_refusal)r);
    }
    stet_agent_log("%.*s: the client rejected the entry: %.*s", STET_FMT(t->shown),
                   STET_FMT(m->text));
}

static bool reply(struct stet_wire *l, uint32_t kind, struct stet_view text)
{
    return stet_wire_send(l, &(struct stet_message){.kind = kind, .text = text},
                          stet_wire_now_ms() + 1000, NULL) == STET_OK;
}

/* False if the connection has ended. *found: the entry it received last, and may still reject. */
static bool serve(struct stet_agent *a, struct stet_wire *l, const struct stet_message *m,
                  struct stet_share **found)
{
    struct stet_buf text = STET_BUF_INIT;
    bool on = false;

    stet_agent_share_settle(a, *found, m->kind == STET_MESSAGE_TOOK);
    *found = NULL;
    switch (m->kind) {
    case STET_MESSAGE_GET:
        return stet_agent_flight_visit(a, l, m, found);
    case STET_MESSAGE_KEPT:
        if (!m->store.len || m->store.ptr[0] != '/')
            return false;
        stet_agent_share_add(a, m->key, m->store, NULL,
                             (struct stet_tier_bits){.tiers = UINT32_MAX});
        return reply(l, STET_MESSAGE_OKAY, (struct stet_view){0});
    case STET_MESSAGE_REFUSED:
        refuse(a, m);
        return reply(l, STET_MESSAGE_OKAY, (struct stet_view){0});
    case STET_MESSAGE_TOOK:
        return true;
    case STET_MESSAGE_JOB_PUT:
    case STET_MESSAGE_JOB_GET: {
        uint32_t kind = stet_agent_job_message(a, m, &text);

        on = !text.failed && reply(l, kind, stet_buf_as_view(&text));
        stet_buf_release(&text);
        return on;
    }
    case STET_MESSAGE_STATUS:
        stet_agent_status(a, (m->flags & STET_MESSAGE_JSON) != 0, &text);
        on = !text.failed && reply(l, STET_MESSAGE_TEXT, stet_buf_as_view(&text));
        stet_buf_release(&text);
        return on;
    case STET_MESSAGE_REPORT:
        stet_agent_report_write(a, m->run, &text);
        on = !text.failed && reply(l, STET_MESSAGE_TEXT, stet_buf_as_view(&text));
        stet_buf_release(&text);
        return on;
    case STET_MESSAGE_STOP: /* the connection stays open: its end shows that the agent has exited */
        pthread_mutex_lock(&a->lock);
        a->stoppers++;
        pthread_mutex_unlock(&a->lock);
        atomic_store(&stop_requested, true);
        return reply(l, STET_MESSAGE_OKAY, (struct stet_view){0});
    default: /* from a newer client, which can continue without an answer */
        atomic_fetch_add(&a->strange, 1);
        return false;
    }
}

static void *entertain(void *context)
{
    struct guest *g = context;
    struct stet_agent *a = g->a;
    struct stet_share *found = NULL;
    struct stet_message m;
    struct stet_wire l;
    enum stet_rc rc = STET_OK;

    stet_wire_adopt(&l, g->fd);
    stet_mem_free(g);
    if (stet_wire_is_own(&l)) {
        while ((rc = stet_wire_receive(&l, &m, stet_wire_now_ms() + 600000, NULL)) == STET_OK &&
               serve(a, &l, &m, &found))
            continue;
    }
    stet_agent_share_settle(a, found, false); /* the entry may have killed the process */
    if (rc == STET_BAD_INPUT || rc == STET_UNSUPPORTED || rc == STET_LIMIT)
        atomic_fetch_add(&a->strange, 1);
    stet_wire_close(&l);
    pthread_mutex_lock(&a->lock);
    a->connections--;
    atomic_store(&a->idle_since_ms, stet_wire_now_ms());
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

static bool start(void *(*body)(void *), void *context)
{
    pthread_attr_t attr;
    pthread_t thread;
    bool started;

    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    pthread_attr_setstacksize(&attr, STACK);
#endif
    started = pthread_create(&thread, &attr, body, context) == 0;
    pthread_attr_destroy(&attr);
    return started;
}

static void welcome(struct stet_agent *a, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct guest *g;
    bool room;

    if (fd < 0)
        return;
    pthread_mutex_lock(&a->lock);
    room = a->connections < CONNECTIONS_MAX;
    a->connections += room;
    pthread_mutex_unlock(&a->lock);
    g = room ? stet_mem_alloc(sizeof *g) : NULL;
    if (g) {
        *g = (struct guest){a, fd};
        if (start(entertain, g))
            return;
    }
    stet_mem_free(g);
    close(fd);
    if (room) {
        pthread_mutex_lock(&a->lock);
        a->connections--;
        pthread_mutex_unlock(&a->lock);
    }
}

static int open_lock(const char *path)
{
    char lock[PATH_MAX + 8];

    snprintf(lock, sizeof lock, "%s.lock", path);
    return open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

void stet_agent_await_end(const char *socket, uint64_t until_ms)
{
    int fd = open_lock(socket);

    while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && stet_wire_now_ms() < until_ms)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    if (fd >= 0)
        close(fd);
}

/* False if another agent listens at `path`. Waits for one that is about to exit. */
static bool take_lock(int fd, const char *path)
{
    uint64_t until = stet_wire_now_ms() + SUCCEED_MS;

    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        struct stet_wire l;
        bool listens = stet_wire_open(&l, path, NULL) == STET_OK;

        stet_wire_close(&l);
        if (listens || stet_wire_now_ms() > until)
            return false;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    return true;
}

/* Holds a lock beside the socket as long as it runs. There is therefore one agent per socket, and a
 * socket that a killed agent left is known to be unused. The socket gets its name once it listens,
 * so a client that finds it can connect. */
static enum stet_rc take_place(const char *path, int *listener, struct stet_err *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    mode_t before;
    int held, rc;

    if (snprintf(at.sun_path, sizeof at.sun_path, "%s~", path) >= (int)sizeof at.sun_path)
        return stet_fail(err, STET_LIMIT, "%s: too long for a socket", path);
    held = open_lock(path);
    if (held < 0)
        return stet_fail_errno(err, "%s.lock: cannot open", path);
    if (!take_lock(held, path)) {
        close(held);
        return stet_fail(err, STET_LIMIT, "%s: another agent listens there", path);
    }
    unlink(at.sun_path);
    *listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    before = umask(0177);
    rc = *listener < 0 ? -1 : bind(*listener, (struct sockaddr *)&at, sizeof at);
    umask(before);
    if (rc != 0 || listen(*listener, 512) != 0 || rename(at.sun_path, path) != 0)
        return stet_fail_errno(err, "%s: cannot listen", path);
    return STET_OK;
}

static bool is_idle(struct stet_agent *a, uint32_t idle_s)
{
    bool quiet;

    pthread_mutex_lock(&a->lock);
    quiet = !a->connections && !a->queued && !a->sharing;
    pthread_mutex_unlock(&a->lock);
    return quiet && idle_s &&
           stet_wire_now_ms() - atomic_load(&a->idle_since_ms) > (uint64_t)idle_s * 1000u;
}

/* Cleans up what only this agent puts into a store: seals whose entries are gone, and entries
 * without a trusted signature. */
static void tidy(struct stet_agent *a)
{
    struct stet_store_gc limits = {.max_bytes = ASIDE_BYTES, .max_age_s = ASIDE_S};
    char aside[PATH_MAX + 16];
    struct stet_store store;

    if (!a->store[0] || stet_store_open(&store, a->store, NULL) != STET_OK || store.read_only)
        return;
    stet_trust_seal_sweep(&store);
    snprintf(aside, sizeof aside, "%s/%s", a->store, STET_STORE_ASIDE);
    if (stet_store_open(&store, aside, NULL) == STET_OK && stet_fs_exists(aside)) {
        stet_store_gc(&store, &limits, NULL);
        stet_trust_seal_sweep(&store);
    }
}

/* First sends what is queued, within a time limit. Processes that ended a moment ago may have left
 * messages that are still unread. */
static void finish(struct stet_agent *a)
{
    uint64_t begin = stet_wire_now_ms();
    bool more = true;

    while (more && stet_wire_now_ms() < begin + STOP_MS) {
        pthread_mutex_lock(&a->lock);
        more = a->queued || a->sharing || a->held ||
               (a->connections > a->stoppers && stet_wire_now_ms() < begin + UNREAD_MS);
        pthread_mutex_unlock(&a->lock);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
}

/* What the keys mean for the tiers, for the log. */
static void tell_keys(struct stet_agent *a)
{
    struct stet_keyring *keys = stet_agent_keyring_take(a);
    const struct stet_trust *trust = stet_agent_keyring_trust(keys);

    if (trust->anyone)
        stet_agent_log("STET_TRUST=any: entries without a trusted signature are accepted too");
    else if (a->tiers.count && !trust->count)
        stet_agent_log(
            "no key is trusted, so nothing is loaded from the tiers; `stet cache key` makes "
            "and trusts keys, STET_TRUST=any does without");
    if (a->tiers.count && !stet_agent_keyring_gives(keys))
        stet_agent_log("this user has no signing key, so nothing is written to the tiers");
    stet_agent_keyring_put(a, keys);
}

static enum stet_rc init(struct stet_agent *a, const struct stet_agent_options *o,
                         struct stet_err *err)
{
    pthread_condattr_t attr;
    struct sigaction stop = {.sa_handler = on_signal};
    enum stet_rc rc = stet_agent_tiers_init(&a->tiers, o->tiers, err);

    if (rc != STET_OK)
        return rc;
    a->socket = o->socket;
    a->started_ms = stet_wire_now_ms();
    atomic_store(&a->idle_since_ms, a->started_ms);
    pthread_mutex_init(&a->lock, NULL);
    pthread_mutex_init(&a->key_lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&a->moved, &attr);
    pthread_condattr_destroy(&attr);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    signal(SIGPIPE, SIG_IGN);
    return STET_OK;
}

enum stet_rc stet_agent_serve(const struct stet_agent_options *o, struct stet_err *err)
{
    static struct stet_agent a;
    int listener = -1;
    enum stet_rc rc;

    if (o->log)
        stet_agent_log_to(o->log);
    rc = init(&a, o, err);
    if (rc == STET_OK)
        rc = take_place(o->socket, &listener, err);
    if (rc != STET_OK && o->log && err)
        stet_agent_log("%s", err->text); /* standard error may go nowhere */
    if (rc != STET_OK)
        return rc;
    tell_keys(&a);
    for (size_t i = 0; i < a.tiers.count; i++)
        stet_agent_log("tier %.*s", STET_FMT(a.tiers.items[i].shown));
    if (!start(stet_agent_lease_keeper, &a))
        return stet_fail(err, STET_NO_MEMORY, "cannot start a thread");
    for (int i = 0; i < WORKERS; i++)
        start(stet_agent_share_worker, &a);
    stet_agent_log("listening at %s", o->socket);
    while (!atomic_load(&stop_requested) && !is_idle(&a, o->idle_s)) {
        struct pollfd p = {.fd = listener, .events = POLLIN};

        if (poll(&p, 1, 100) > 0)
            welcome(&a, listener);
    }
    unlink(o->socket);
    while (poll(&(struct pollfd){.fd = listener, .events = POLLIN}, 1, 0) > 0)
        welcome(&a, listener); /* clients that connected before the socket was removed */
    close(listener);
    finish(&a);
    tidy(&a);
    stet_agent_log("over");
    return STET_OK;
}
