/* One connection per request. It stays open while this process loads what was found, or compiles
 * what others wait for: its end shows the agent that this process died. */
#include "intercept/remote.h"

#include "base/duration.h"
#include "intercept/layer.h"
#include "wire/client.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* After a timeout no request goes to the agent for SULK_MS. */
enum { SULK_MS = 30000, LINES_MAX = 256, PATIENCE_WAITS = 2 };

static char path[108]; /* "" for none */
static char run[40];   /* the run that this process belongs to; "" for none */
static bool anyone;    /* STET_TRUST=any: this process accepts unsigned entries */
static uint32_t wait_ms = 3000, flight_ms = 600000;
static _Atomic uint64_t not_before_ms;
/* The remaining time that this process may spend on the agent. Each request reduces it by its time,
 * and each entry from the agent raises it by the compile time that it saved, up to the starting
 * amount. An agent or tier that is slow, silent or wrong therefore costs a process little more than
 * two waits. */
static _Atomic int64_t patience_ns;
static char folder[PATH_MAX];        /* of the run, for notes to its later processes; "" for none */
static _Atomic int lines[LINES_MAX]; /* descriptors plus one; 0: free */

/* A variable that holds another thing than a time of at most a day is ignored. */
static uint32_t read_ms(const char *name, uint32_t ms)
{
    const char *text = getenv(name);

    if (text)
        stet_duration_read(text, STET_DURATION_MS, 24u * 3600 * 1000, &ms);
    return ms;
}

static int64_t patience_limit(void)
{
    return (int64_t)wait_ms * PATIENCE_WAITS * 1000000;
}

/* A note in the run's folder. False when it is there already. */
static bool note(enum stet_agent_answer a)
{
    char at[PATH_MAX + 16];
    int fd;

    if (!folder[0])
        return true;
    snprintf(at, sizeof at, "%s/%s", folder, stet_journal_answer_word(a));
    fd = open(at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno != EEXIST;
}

/* A run may have many short processes. Those that begin after one has used up its budget, or after
 * the agent was silent twice, send no requests. */
static void read_notes(void)
{
    const char *dir = getenv("STET_DIR");
    char at[PATH_MAX + 16];

    if (!run[0] || !dir || strlen(dir) >= sizeof folder)
        return;
    snprintf(folder, sizeof folder, "%s", dir);
    snprintf(at, sizeof at, "%s/%s", folder, stet_journal_answer_word(STET_ANSWER_COSTLY));
    if (access(at, F_OK) == 0)
        atomic_store(&patience_ns, 0);
}

void stet_remote_init(void)
{
    const char *setting = getenv("STET_AGENT"), *id = getenv("STET_RUN");
    const char *trust = getenv("STET_TRUST");

    if (setting && *setting == '/' && strlen(setting) < sizeof path)
        snprintf(path, sizeof path, "%s", setting);
    if (id && strlen(id) < sizeof run)
        snprintf(run, sizeof run, "%s", id);
    anyone = trust && !strcmp(trust, "any");
    wait_ms = read_ms("STET_AGENT_WAIT", wait_ms);
    flight_ms = read_ms("STET_AGENT_FLIGHT", flight_ms);
    atomic_store(&patience_ns, patience_limit());
    if (path[0])
        read_notes();
}

bool stet_remote_has_agent(void)
{
    return path[0] != '\0';
}

enum stet_rc stet_remote_connect(struct stet_wire *l, struct stet_err *err)
{
    return stet_wire_open(l, path, err);
}

/* 0 if there is no room: then nothing waits for it. */
static unsigned remember(int fd)
{
    for (unsigned i = 0; i < LINES_MAX; i++) {
        int none = 0;

        if (atomic_compare_exchange_strong(&lines[i], &none, fd + 1))
            return i + 1;
    }
    return 0;
}

/* The descriptor of a line, which the caller now owns; -1 if it is gone. */
static int recall(unsigned line)
{
    return line ? atomic_exchange(&lines[line - 1], 0) - 1 : -1;
}

void stet_remote_fork_child(void)
{
    for (unsigned i = 0; i < LINES_MAX; i++) {
        int fd = recall(i + 1);

        if (fd >= 0)
            close(fd);
    }
}

static struct stet_message message(uint32_t kind, const char *store, struct stet_hash key)
{
    return (struct stet_message){.kind = kind, .key = key, .store = stet_view_str(store)};
}

/* Adds to the budget what a request saved, less what it took. */
static void settle(int64_t gain_ns)
{
    int64_t limit = patience_limit(), before = atomic_load(&patience_ns), after;

    do {
        after = gain_ns < limit ? before + gain_ns : limit;
        after = after < limit ? after : limit;
    } while (!atomic_compare_exchange_weak(&patience_ns, &before, after));
    if (after <= 0)
        note(STET_ANSWER_COSTLY);
}

/* The agent did not answer in time. */
static void leave_alone(void)
{
    atomic_store(&not_before_ms, stet_wire_now_ms() + SULK_MS);
    if (!note(STET_ANSWER_SILENT))
        note(STET_ANSWER_COSTLY);
}

/* Waits for the answer; true if it arrived. Each WAIT from the agent extends the deadline by
 * `wait_ms`. */
static enum stet_rc converse(struct stet_wire *l, const char *store, struct stet_hash key,
                             uint32_t flags, struct stet_message *m, struct stet_err *err)
{
    uint64_t now = stet_wire_now_ms(), end = now + flight_ms + wait_ms;
    struct stet_message ask = message(STET_MESSAGE_GET, store, key);
    enum stet_rc rc;

    ask.wait_ms = wait_ms / 5 * 4; /* the agent should give up before we do */
    ask.flight_ms = flight_ms;
    ask.flags = flags;
    ask.run = stet_view_str(run);
    rc = stet_wire_send(l, &ask, now + wait_ms, err);
    do {
        now = stet_wire_now_ms();
        if (rc == STET_OK && now > end)
            rc = stet_fail(err, STET_LIMIT, "the time limit was reached");
        if (rc == STET_OK)
            rc = stet_wire_receive(l, m, now + wait_ms, err);
    } while (rc == STET_OK && m->kind == STET_MESSAGE_WAIT);
    return rc;
}

/* True for "found". */
static bool understand(struct stet_remote *r, struct stet_wire *l, unsigned line,
                       const struct stet_message *m)
{
    switch (m->kind) {
    case STET_MESSAGE_FOUND:
        if (m->flags & STET_MESSAGE_ASIDE && !anyone) { /* another's trust, not this process's */
            r->answer = STET_ANSWER_UNTRUSTED;
            return false;
        }
        r->answer = STET_ANSWER_FOUND;
        snprintf(r->tier, sizeof r->tier, "%.*s", STET_FMT(m->tier));
        r->tier_number = m->tier_number;
        r->same_host = stet_view_is(m->tier, STET_MESSAGE_SAME_HOST);
        r->aside = (m->flags & STET_MESSAGE_ASIDE) != 0;
        r->line = line;
        break;
    case STET_MESSAGE_LEAD:
        r->answer = STET_ANSWER_LEAD;
        r->lease = line;
        break;
    case STET_MESSAGE_ALONE:
        r->answer = STET_ANSWER_ALONE;
        break;
    default:
        r->answer = STET_ANSWER_STRANGE;
    }
    if (r->line || r->lease)
        l->fd = -1; /* stays open */
    return m->kind == STET_MESSAGE_FOUND;
}

bool stet_remote_ask(struct stet_remote *r, const char *store, struct stet_hash key, bool look)
{
    uint64_t begin = stet_journal_now();
    struct stet_err err = STET_ERR_INIT;
    struct stet_message m;
    struct stet_wire l;
    bool found = false;
    unsigned line;
    enum stet_rc rc;

    if (!path[0])
        return false;
    r->answer = STET_ANSWER_SILENT;
    if (stet_wire_now_ms() < atomic_load(&not_before_ms))
        return false;
    r->answer = STET_ANSWER_COSTLY;
    if (atomic_load(&patience_ns) <= 0)
        return false;
    r->answer = STET_ANSWER_SILENT;
    rc = stet_wire_open(&l, path, &err);
    if (rc != STET_OK) {
        r->answer = STET_ANSWER_ABSENT;
    } else {
        line = remember(l.fd); /* at once: a child that is forked while we wait must not hold it */
        rc = converse(&l, store, key,
                      (look ? STET_MESSAGE_LOOK : 0) | (r->once ? STET_MESSAGE_ONCE : 0), &m, &err);
        if (rc == STET_OK)
            found = understand(r, &l, line, &m);
        else if (rc == STET_LIMIT)
            leave_alone();
        else
            r->answer = STET_ANSWER_GONE;
        if (!r->lease && !r->line)
            recall(line);
    }
    if (rc != STET_OK)
        stet_layer_log("agent: %s", err.text);
    stet_wire_close(&l);
    r->wait_ns = stet_journal_now() - begin;
    if (!found) /* otherwise when it has been loaded */
        settle(-(int64_t)r->wait_ns);
    return found;
}

/* Sends a message and closes the connection without waiting: the kernel keeps what was sent until
 * the agent reads it, even if this process has ended by then. This runs while the framework
 * destroys an executable, and forks wait for it. */
static void tell(int fd, const struct stet_message *m)
{
    struct stet_wire l;

    if (stet_wire_now_ms() < atomic_load(&not_before_ms)) {
        if (fd >= 0)
            close(fd);
        return;
    }
    if (fd >= 0)
        stet_wire_adopt(&l, fd);
    else if (!path[0] || stet_wire_open(&l, path, NULL) != STET_OK)
        return;
    if (stet_wire_send(&l, m, stet_wire_now_ms(), NULL) == STET_LIMIT)
        atomic_store(&not_before_ms, stet_wire_now_ms() + SULK_MS);
    stet_wire_close(&l);
}

void stet_remote_took(struct stet_remote *r, struct stet_hash key, uint64_t saved_ns)
{
    struct stet_message m = message(STET_MESSAGE_TOOK, "", key);
    int fd = recall(r->line);

    r->line = 0;
    settle((int64_t)(saved_ns < INT64_MAX ? saved_ns : INT64_MAX) - (int64_t)r->wait_ns);
    if (fd >= 0)
        tell(fd, &m);
}

void stet_remote_refuse(struct stet_remote *r, const char *store, struct stet_hash key,
                        const char *why)
{
    struct stet_message m = message(STET_MESSAGE_REFUSED, store, key);

    m.tier = stet_view_str(r->tier);
    m.tier_number = r->tier_number;
    m.text = stet_view_str(why);
    settle(-(int64_t)r->wait_ns);
    tell(recall(r->line), &m);
    r->line = 0;
}

void stet_remote_kept(unsigned lease, struct stet_hash key)
{
    struct stet_message m = message(STET_MESSAGE_KEPT, stet_layer.store.folder, key);

    tell(recall(lease), &m);
}

void stet_remote_failed(unsigned lease, struct stet_hash key)
{
    struct stet_message m = message(STET_MESSAGE_FAILED, stet_layer.store.folder, key);
    int fd = recall(lease);

    if (fd >= 0)
        tell(fd, &m);
}
