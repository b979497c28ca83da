/* A connection for each question. It stays open while this process loads what was found, or
 * compiles what others wait for: its end is how the agent learns that this process died. */
#include "intercept/remote.h"

#include "intercept/layer.h"
#include "wire/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* An agent that kept silent is left alone for so long. */
enum { SULK_MS = 30000, LINES_MAX = 256, SHORT_MS = 500 };

static char path[108]; /* "" for none */
static uint32_t wait_ms = 3000, flight_ms = 600000;
static _Atomic uint64_t not_before_ms;
static _Atomic int lines[LINES_MAX]; /* descriptors plus one; 0: free */

static uint32_t read_ms(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);
    unsigned long n;
    char *end;

    if (!text || !*text)
        return otherwise;
    n = strtoul(text, &end, 10);
    if (!strcmp(end, "s"))
        n *= 1000;
    return (*end && strcmp(end, "s") != 0 && strcmp(end, "ms") != 0) || n > 86400000 ? otherwise
                                                                                     : (uint32_t)n;
}

void stet_remote_init(void)
{
    const char *told = getenv("STET_AGENT");

    if (told && *told == '/' && strlen(told) < sizeof path)
        strcpy(path, told);
    wait_ms = read_ms("STET_AGENT_WAIT", wait_ms);
    flight_ms = read_ms("STET_AGENT_FLIGHT", flight_ms);
}

/* 0 when there is no room: then nobody waits for it. */
static unsigned remember(int fd)
{
    for (unsigned i = 0; i < LINES_MAX; i++) {
        int none = 0;

        if (atomic_compare_exchange_strong(&lines[i], &none, fd + 1))
            return i + 1;
    }
    return 0;
}

/* The descriptor of a line, which is the caller's now; -1 when it is gone. */
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

/* The answer; true when it is there. Each sign of life buys another `wait_ms`. */
static enum stet_rc converse(struct stet_wire *l, const char *store, struct stet_hash key,
                             bool look, struct stet_message *m, struct stet_err *err)
{
    uint64_t now = stet_wire_now_ms(), end = now + flight_ms + wait_ms;
    struct stet_message ask = message(STET_MESSAGE_GET, store, key);
    enum stet_rc rc;

    ask.wait_ms = wait_ms / 5 * 4; /* it should give up before we do */
    ask.flight_ms = flight_ms;
    ask.flags = look ? STET_MESSAGE_LOOK : 0;
    rc = stet_wire_send(l, &ask, now + wait_ms, err);
    do {
        now = stet_wire_now_ms();
        if (rc == STET_OK && now > end)
            rc = stet_fail(err, STET_LIMIT, "waited long enough");
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
        r->word = "found";
        snprintf(r->tier, sizeof r->tier, "%.*s", STET_FMT(m->tier));
        r->line = line;
        break;
    case STET_MESSAGE_LEAD:
        r->word = "lead";
        r->lease = line;
        break;
    case STET_MESSAGE_ALONE:
        r->word = "alone";
        break;
    default:
        r->word = "agent-strange";
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
    r->word = "agent-silent";
    if (stet_wire_now_ms() < atomic_load(&not_before_ms))
        return false;
    rc = stet_wire_open(&l, path, &err);
    if (rc != STET_OK) {
        r->word = "agent-absent";
    } else {
        line = remember(l.fd); /* at once: a child that is forked while we wait must not hold it */
        rc = converse(&l, store, key, look, &m, &err);
        if (rc == STET_OK)
            found = understand(r, &l, line, &m);
        else if (rc == STET_LIMIT)
            atomic_store(&not_before_ms, stet_wire_now_ms() + SULK_MS);
        else
            r->word = "agent-gone";
        if (!r->lease && !r->line)
            recall(line);
    }
    if (rc != STET_OK)
        stet_log("agent: %s", err.text);
    stet_wire_close(&l);
    r->wait_ns = stet_journal_now() - begin;
    return found;
}

/* A message whose answer is only waited for as long as a local process may take. */
static void tell(int fd, const struct stet_message *m)
{
    uint64_t until = stet_wire_now_ms() + SHORT_MS;
    struct stet_message answer;
    struct stet_wire l;

    if (fd >= 0)
        stet_wire_adopt(&l, fd);
    else if (!path[0] || stet_wire_open(&l, path, NULL) != STET_OK)
        return;
    /* the agent has it when it answers: this process may end then */
    if (stet_wire_send(&l, m, until, NULL) == STET_OK)
        stet_wire_receive(&l, &answer, until, NULL);
    stet_wire_close(&l);
}

void stet_remote_took(struct stet_remote *r, struct stet_hash key)
{
    struct stet_message m = message(STET_MESSAGE_TOOK, "", key);
    struct stet_wire l;
    int fd = recall(r->line);

    r->line = 0;
    if (fd < 0)
        return;
    stet_wire_adopt(&l, fd);
    stet_wire_send(&l, &m, stet_wire_now_ms() + SHORT_MS, NULL); /* nothing hangs on it */
    stet_wire_close(&l);
}

void stet_remote_refuse(struct stet_remote *r, const char *store, struct stet_hash key,
                        const char *why)
{
    struct stet_message m = message(STET_MESSAGE_REFUSED, store, key);

    m.tier = stet_view_str(r->tier);
    m.text = stet_view_str(why);
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
