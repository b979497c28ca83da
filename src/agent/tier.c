/* What is the same for every kind of server: counters, sessions and the circuit breaker. */
#include "agent/tier.h"

#include "agent/agent.h"
#include "wire/client.h"

#include <stdio.h>

/* One failure that took SLOW_MS counts as TRIP quick ones. */
enum { TRIP = 3, SLOW_MS = 500, OPEN_MS = 2000, OPEN_MAX_MS = 60000 };

static const struct stet_tier_kind *const kinds[] = {
#define TIER(name, schemes) &stet_tier_##name,
#include "agent/tier_kinds.def"
#undef TIER
};

static const char schemes_known[] =
#define TIER(name, schemes) ", " schemes
#include "agent/tier_kinds.def"
#undef TIER
    ;

const char *stet_agent_refusal_word(enum stet_refusal r)
{
    static const char *const words[] = {
#define REFUSAL(id, word, what) word,
#include "agent/refusals.def"
#undef REFUSAL
    };

    return words[r];
}

static const struct stet_tier_kind *kind_of(const char *scheme)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (const char *const *s = kinds[i]->schemes; *s; s++) {
            if (!strcmp(*s, scheme))
                return kinds[i];
        }
    }
    return NULL;
}

static enum stet_rc configure(struct stet_tier *t, struct stet_view text, struct stet_arena *a,
                              struct stet_err *err)
{
    enum stet_rc rc = stet_agent_url_parse(&t->url, text, a, err);
    const char *mode;

    t->arena = a;
    if (rc != STET_OK)
        return rc;
    t->kind = kind_of(t->url.scheme);
    if (!t->kind)
        return stet_fail(err, STET_USAGE, "%s: no such kind of tier; there are %s", t->url.scheme,
                         schemes_known + 2);
    t->shown = stet_agent_url_shown(&t->url, a);
    mode = stet_agent_url_get(&t->url, "mode", a);
    t->read_only = mode && !strcmp(mode, "read-only");
    rc = stet_agent_url_ms(&t->url, "connect", 1000, a, &t->connect_ms, err);
    if (rc == STET_OK)
        rc = stet_agent_url_ms(&t->url, "timeout", 2000, a, &t->get_ms, err);
    if (rc == STET_OK)
        rc = stet_agent_url_ms(&t->url, "put", 30000, a, &t->put_ms, err);
    if (rc == STET_OK)
        rc = stet_agent_url_ms(&t->url, "lease", 10000, a, &t->lease_ms, err);
    if (rc == STET_OK)
        rc = t->kind->configure(t, err);
    return rc;
}

enum stet_rc stet_agent_tiers_init(struct stet_tiers *t, struct stet_view list,
                                   struct stet_err *err)
{
    size_t at = 0;
    enum stet_rc rc = STET_OK;

    *t = (struct stet_tiers){0};
    stet_arena_init(&t->arena, (size_t)1 << 20);
    while (rc == STET_OK && at < list.len) {
        size_t end = at;

        if (list.ptr[at] == '#') {
            while (at < list.len && list.ptr[at] != '\n')
                at++;
            continue;
        }
        while (end < list.len && !strchr(" \t\r\n,", list.ptr[end]))
            end++;
        if (end == at) {
            at++;
            continue;
        }
        if (t->count == STET_TIERS_MAX) {
            rc = stet_fail(err, STET_LIMIT, "more than %d tiers", STET_TIERS_MAX);
            break;
        }
        pthread_mutex_init(&t->items[t->count].lock, NULL);
        rc =
            configure(&t->items[t->count++], stet_view_of(list.ptr + at, end - at), &t->arena, err);
        at = end;
    }
    if (rc != STET_OK)
        stet_agent_tiers_release(t);
    return rc;
}

void stet_agent_tiers_release(struct stet_tiers *t)
{
    for (size_t i = 0; i < t->count; i++) {
        struct stet_tier *tier = &t->items[i];

        while (tier->session_count)
            tier->kind->close(tier->sessions[--tier->session_count]);
        pthread_mutex_destroy(&tier->lock);
    }
    stet_arena_release(&t->arena);
    t->count = 0;
}

enum stet_rc stet_agent_tiers_check(struct stet_view tiers, struct stet_err *err)
{
    struct stet_tiers t;
    enum stet_rc rc = stet_agent_tiers_init(&t, tiers, err);

    if (rc == STET_OK)
        stet_agent_tiers_release(&t);
    return rc;
}

/* False while it is open. When its time has passed one caller tries, and the others still skip the
 * tier. */
static bool may_ask(struct stet_tier *t)
{
    uint64_t now = stet_wire_now_ms();
    struct stet_breaker *b = &t->breaker;
    bool may;

    pthread_mutex_lock(&t->lock);
    may = b->failures < TRIP || now >= b->open_until_ms;
    if (may && b->failures >= TRIP)
        b->open_until_ms = now + t->get_ms;
    pthread_mutex_unlock(&t->lock);
    if (!may)
        atomic_fetch_add(&t->skipped, 1);
    return may;
}

/* One call in progress: `end` returns the session to the tier. */
struct call {
    struct stet_tier *t;
    void *session;
    bool asked; /* the breaker let it pass */
    bool kept;  /* the session was used before: the server may have closed it since */
    unsigned generation;
    uint64_t begin_ms;
    struct stet_err err;
};

/* With the lock. */
static void close_sessions(struct stet_tier *t)
{
    while (t->session_count)
        t->kind->close(t->sessions[--t->session_count]);
}

void stet_agent_tiers_reconnect(struct stet_tiers *t)
{
    for (size_t i = 0; i < t->count; i++) {
        pthread_mutex_lock(&t->items[i].lock);
        t->items[i].generation++;
        close_sessions(&t->items[i]);
        pthread_mutex_unlock(&t->items[i].lock);
    }
}

/* Records the result, and keeps the session for the next call if it succeeded. */
static void settle(struct call *c, enum stet_rc rc)
{
    struct stet_tier *t = c->t;
    void *session = c->session;
    struct stet_breaker *b = &t->breaker;
    bool keep = false;
    /* a server that does not support an operation is not skipped for that */
    bool fine = rc == STET_OK || rc == STET_NOT_FOUND || rc == STET_UNSUPPORTED;

    pthread_mutex_lock(&t->lock);
    if (rc != STET_OK && rc != STET_NOT_FOUND)
        snprintf(t->last_error, sizeof t->last_error, "%.150s", c->err.text);
    if (fine) {
        b->failures = 0;
        b->open_for_ms = 0;
        keep = session && t->session_count < STET_SESSIONS_MAX && c->generation == t->generation;
        if (keep)
            t->sessions[t->session_count++] = session;
    } else {
        b->failures += stet_wire_now_ms() - c->begin_ms >= SLOW_MS ? TRIP : 1;
        if (b->failures >= TRIP) {
            b->open_for_ms = b->open_for_ms ? b->open_for_ms * 2 : OPEN_MS;
            if (b->open_for_ms > OPEN_MAX_MS)
                b->open_for_ms = OPEN_MAX_MS;
            b->open_until_ms = stet_wire_now_ms() + b->open_for_ms;
            b->opened++;
        }
        close_sessions(t); /* those of earlier connections are likely dead as well */
    }
    pthread_mutex_unlock(&t->lock);
    if (!fine)
        atomic_fetch_add(&t->errors, 1);
    if (session && !keep)
        t->kind->close(session);
}

static enum stet_rc begin(struct call *c, struct stet_tier *t, uint64_t until_ms)
{
    *c = (struct call){.t = t, .err = STET_ERR_INIT, .begin_ms = stet_wire_now_ms()};
    if (!may_ask(t))
        return stet_fail(&c->err, STET_LIMIT, "skipped for a while after failures");
    c->asked = true;
    pthread_mutex_lock(&t->lock);
    c->generation = t->generation;
    if (t->session_count) {
        c->session = t->sessions[--t->session_count];
        c->kept = true;
    }
    pthread_mutex_unlock(&t->lock);
    return c->session ? STET_OK : t->kind->open(t, &c->session, until_ms, &c->err);
}

static enum stet_rc end(struct call *c, enum stet_rc rc, struct stet_err *err)
{
    if (c->asked)
        settle(c, rc);
    if (rc != STET_OK && rc != STET_NOT_FOUND)
        stet_fail(err, rc, "%s", c->err.text);
    return rc;
}

/* A server may close an idle connection. This is noticed only when it is used, and tried once more
 * with a new one. */
#define CALL(t, until, err, expression)                                                            \
    do {                                                                                           \
        struct call c;                                                                             \
        enum stet_rc rc = begin(&c, t, until);                                                     \
                                                                                                   \
        if (rc == STET_OK)                                                                         \
            rc = (expression);                                                                     \
        if (rc == STET_IO && c.kept && stet_wire_now_ms() < (until)) {                             \
            (t)->kind->close(c.session);                                                           \
            c.session = NULL;                                                                      \
            c.kept = false;                                                                        \
            c.err = (struct stet_err)STET_ERR_INIT;                                                \
            rc = (t)->kind->open(t, &c.session, until, &c.err);                                    \
            if (rc == STET_OK)                                                                     \
                rc = (expression);                                                                 \
        }                                                                                          \
        return end(&c, rc, err);                                                                   \
    } while (0)

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static enum stet_rc get(struct stet_tier *t, const struct stet_tier_name *name,
                        struct stet_buf *out, uint64_t until, struct stet_err *err)
{
    CALL(t, until, err, (out->len = 0, t->kind->get(t, c.session, name, out, until, &c.err)));
}

enum stet_rc stet_agent_tier_get(struct stet_tier *t, const struct stet_tier_name *name,
                                 struct stet_buf *out, uint64_t until_ms, struct stet_err *err)
{
    uint64_t before = stet_wire_now_ms();
    enum stet_rc rc = get(t, name, out, sooner(until_ms, before + t->get_ms), err);

    if (name->what != STET_TIER_ENTRY)
        return rc; /* counted are entries */
    if (rc == STET_OK) {
        atomic_fetch_add(&t->hits, 1);
        atomic_fetch_add(&t->bytes_in, out->len);
    }
    return rc;
}

static enum stet_rc put(struct stet_tier *t, const struct stet_tier_name *name,
                        struct stet_view bytes, const char *lease, bool anew, uint64_t until,
                        struct stet_err *err)
{
    CALL(t, until, err, t->kind->put(t, c.session, name, bytes, lease, anew, until, &c.err));
}

enum stet_rc stet_agent_tier_put(struct stet_tier *t, const struct stet_tier_name *name,
                                 struct stet_view bytes, const char *lease, bool anew,
                                 struct stet_err *err)
{
    enum stet_rc rc = put(t, name, bytes, lease, anew, stet_wire_now_ms() + t->put_ms, err);

    if (name->what != STET_TIER_ENTRY)
        return rc;
    if (rc == STET_OK) {
        atomic_fetch_add(&t->puts, 1);
        atomic_fetch_add(&t->bytes_out, bytes.len);
    } else if (rc != STET_NOT_FOUND) {
        atomic_fetch_add(&t->put_errors, 1);
    }
    return rc;
}

enum stet_rc stet_agent_tier_lease(struct stet_tier *t, struct stet_hash key, const char *lease,
                                   const char *dead, uint64_t until_ms, struct stet_err *err)
{
    uint64_t until = sooner(until_ms, stet_wire_now_ms() + t->get_ms);

    CALL(t, until, err, t->kind->lease(t, c.session, key, lease, dead, until, &c.err));
}

enum stet_rc stet_agent_tier_renew(struct stet_tier *t, struct stet_hash key, const char *lease,
                                   struct stet_err *err)
{
    uint64_t until = stet_wire_now_ms() + t->get_ms;

    CALL(t, until, err, t->kind->renew(t, c.session, key, lease, until, &c.err));
}

enum stet_rc stet_agent_tier_give_up(struct stet_tier *t, struct stet_hash key, const char *lease,
                                     bool nothing, struct stet_err *err)
{
    uint64_t until = stet_wire_now_ms() + t->get_ms;

    CALL(t, until, err, t->kind->give_up(t, c.session, key, lease, nothing, until, &c.err));
}

enum stet_rc stet_agent_tier_watch(struct stet_tier *t, struct stet_hash key,
                                   struct stet_lease_view *out, uint64_t until_ms,
                                   struct stet_err *err)
{
    uint64_t until = sooner(until_ms, stet_wire_now_ms() + t->get_ms);

    CALL(t, until, err, t->kind->watch(t, c.session, key, out, until, &c.err));
}

struct stet_tier *stet_agent_tiers_find(struct stet_tiers *tiers, uint32_t number,
                                        struct stet_view kind)
{
    struct stet_tier *found = NULL;

    if (number)
        return number <= tiers->count && stet_view_is(kind, tiers->items[number - 1].kind->name)
                   ? &tiers->items[number - 1]
                   : NULL;
    for (size_t i = 0; i < tiers->count; i++) {
        if (!stet_view_is(kind, tiers->items[i].kind->name))
            continue;
        if (found)
            return NULL;
        found = &tiers->items[i];
    }
    return found;
}

void stet_agent_tier_refuse(struct stet_tier *t, enum stet_refusal why)
{
    atomic_fetch_add(&t->refused[why], 1);
}
