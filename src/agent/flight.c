/* Single flight: of the clients that need the same program, one looks for it and one compiles it.
 *
 * A flight is a key in a store with at least one interested client. One of them at a time has its
 * turn: it looks in the store and in the tiers, and then asks the tier with leases whether it may
 * compile. The others wait for their turn and receive WAIT at intervals. The leader keeps its turn
 * until it reports how its compile ended; if its connection closes first, the next client gets its
 * turn. */
#include "agent/flight.h"
#include "base/mem.h"

#include <stdio.h>
#include <time.h>

enum { BEAT_MS = 200, WATCH_FIRST_MS = 20 };
/* How often a lease that was just free is requested; how long no lease is waited for after a wait
 * without result. */
enum { CLAIMS = 3, DISBELIEF_MS = 300000 };

enum verdict { FOUND, LEAD, ALONE, GONE };

static const char *const alone_words[] = {
    [ALONE_NOT_FOUND] = "not-found",
    [ALONE_REFUSED] = "refused",
    [ALONE_NOTHING_TO_SHARE] = "nothing-to-share",
    [ALONE_DEADLINE] = "deadline",
    [ALONE_TIER_FAILED] = "tier-failed",
};

static struct stet_flight *find(struct stet_agent *a, struct stet_hash key, const char *store)
{
    for (struct stet_flight *f = a->flights; f; f = f->next) {
        if (stet_hash_eq(f->key, key) && !strcmp(f->store, store))
            return f;
    }
    return NULL;
}

/* With the lock. */
static struct stet_flight *join(struct stet_agent *a, struct stet_hash key, const char *store)
{
    struct stet_flight *f = find(a, key, store);
    size_t n = strlen(store) + 1;

    if (!f) {
        f = stet_mem_calloc(1, sizeof *f + n);
        if (!f)
            return NULL;
        f->key = key;
        memcpy(f->store, store, n);
        f->next = a->flights;
        a->flights = f;
    }
    f->visitors++;
    return f;
}

/* Without the lock. */
static void leave(struct stet_agent *a, struct stet_flight *f)
{
    struct stet_lease *lease = NULL;
    bool last;

    pthread_mutex_lock(&a->lock);
    last = --f->visitors == 0;
    if (last) {
        for (struct stet_flight **at = &a->flights; *at; at = &(*at)->next) {
            if (*at != f)
                continue;
            *at = f->next;
            break;
        }
        lease = f->lease;
    }
    pthread_mutex_unlock(&a->lock);
    if (last)
        stet_mem_free(f);
    stet_agent_lease_give_up(a, lease, false);
}

/* Sends WAIT to the client. False if it is gone. */
static bool beat(struct stet_visit *v)
{
    uint64_t now = stet_wire_now_ms();

    if (v->look)
        return !stet_wire_hung_up(v->line);
    if (now < v->next_beat_ms)
        return true;
    v->next_beat_ms = now + BEAT_MS;
    if (!v->waited)
        atomic_fetch_add(&v->a->waited, 1);
    v->waited = true;
    return stet_wire_send(v->line, &(struct stet_message){.kind = STET_MESSAGE_WAIT},
                          now + v->wait_ms, NULL) == STET_OK;
}

static enum verdict alone(struct stet_visit *v, enum stet_visit_alone why)
{
    v->why = why;
    return ALONE;
}

/* Is there nothing to wait for? The holder of a lease renews it three times in its time. A server
 * that keeps expired ones is not asked for the age: a lease that this host sees unchanged for that
 * time is dead, whatever the clocks of the two hosts say. */
static bool is_over(struct stet_visit *v, const struct stet_tier *t, const char *holder)
{
    uint64_t now = stet_wire_now_ms();

    if (strcmp(v->seen, holder) != 0) {
        memcpy(v->seen, holder, sizeof v->seen);
        v->seen_ms = now;
    }
    if (t->kind->leases_stay &&
        (now - v->seen_ms >= t->lease_ms || !stet_agent_lease_in_time(t, holder))) {
        memcpy(v->dead, holder, sizeof v->dead);
        return true;
    }
    v->unleased = !stet_agent_lease_believed(v->a, t, v->key, holder);
    return v->unleased;
}

/* False if the client is gone. */
static bool pause_for(struct stet_visit *v, uint32_t ms)
{
    while (ms) {
        uint32_t part = ms < BEAT_MS ? ms : BEAT_MS;

        nanosleep(&(struct timespec){0, (long)part * 1000000}, NULL);
        if (!beat(v))
            return false;
        ms -= part;
    }
    return true;
}

/* Another host compiles it. LEAD if that host is gone: request the lease again. */
static enum verdict await_host(struct stet_visit *v, size_t i)
{
    struct stet_tier *t = &v->a->tiers.items[i];
    uint32_t pause = WATCH_FIRST_MS;

    for (;;) {
        struct stet_lease_view lease;
        uint64_t now = stet_wire_now_ms();

        if (now >= v->give_up_ms) {
            atomic_store(&t->lease_not_before_ms, now + DISBELIEF_MS);
            return alone(v, ALONE_DEADLINE);
        }
        if (stet_agent_tier_watch(t, v->key, &lease, now + v->wait_ms, NULL) != STET_OK)
            return alone(v, ALONE_TIER_FAILED);
        if (lease.state == STET_LEASE_FREE)
            return LEAD;
        if (lease.state == STET_LEASE_VOID)
            v->unleased = true;
        if (v->unleased || (lease.state == STET_LEASE_HELD && is_over(v, t, lease.holder)))
            return LEAD;
        if (!beat(v))
            return GONE;
        if (lease.state == STET_LEASE_NONE)
            return alone(v, ALONE_NOTHING_TO_SHARE);
        if (lease.state == STET_LEASE_ENTRY) {
            if (stet_visit_fetch(v, i, stet_wire_now_ms() + v->wait_ms) != STET_OK)
                return alone(v, ALONE_REFUSED);
            v->flight->tier = (uint32_t)i + 1;
            return FOUND;
        }
        if (!pause_for(v, pause))
            return GONE;
        pause = pause * 2 < t->kind->watch_ms ? pause * 2 : t->kind->watch_ms;
    }
}

/* The tier whose leases this host uses, if it may write there: the first one that removes expired
 * leases by itself, else the first one that has leases. */
static size_t leasing_tier(struct stet_visit *v)
{
    struct stet_keyring *keys = stet_agent_keyring_take(v->a);
    bool gives = stet_agent_keyring_gives(keys);
    size_t count = v->a->tiers.count, found = count;

    stet_agent_keyring_put(v->a, keys);
    for (size_t i = count; gives && i-- > 0;) {
        const struct stet_tier *t = &v->a->tiers.items[i];

        if (stet_agent_tier_leases(t) && !t->read_only &&
            (found == count || !t->kind->leases_stay || v->a->tiers.items[found].kind->leases_stay))
            found = i;
    }
    return found;
}

/* A server that refuses leases is asked for none for some time. */
static void note_unsupported(struct stet_tier *t)
{
    stet_agent_log("%.*s: has no leases: hosts may compile the same program", STET_FMT(t->shown));
    atomic_store(&t->lease_not_before_ms, stet_wire_now_ms() + DISBELIEF_MS);
}

/* Between hosts, if there is a tier with leases. */
static enum verdict claim(struct stet_visit *v)
{
    size_t i = leasing_tier(v);
    uint64_t until = v->until_ms;
    enum verdict verdict = LEAD;
    enum stet_rc rc;

    if (i == v->a->tiers.count || v->flight->lease || v->failed >> i & 1 ||
        stet_wire_now_ms() < atomic_load(&v->a->tiers.items[i].lease_not_before_ms))
        return LEAD;
    for (int n = 0; n < CLAIMS && verdict == LEAD && !v->unleased; n++) {
        struct stet_lease *lease =
            stet_agent_lease_take(v->a, &v->a->tiers.items[i], v->key, v->dead, until, &rc);

        v->flight->lease = lease;
        if (rc == STET_UNSUPPORTED)
            note_unsupported(&v->a->tiers.items[i]);
        /* another host may have finished between the lookup and the lease */
        if (lease && !((v->flight->refused | v->flight->taken) & 1u << i) &&
            stet_visit_fetch(v, i, until) == STET_OK) {
            v->flight->lease = NULL;
            stet_agent_lease_give_up(v->a, lease, false);
            v->flight->tier = v->tier;
            return FOUND;
        }
        if (lease || rc != STET_NOT_FOUND)
            return LEAD; /* a tier that fails blocks no client */
        verdict = await_host(v, i);
        until = stet_wire_now_ms() + v->wait_ms;
    }
    return verdict;
}

/* Runs this client's turn. */
static enum verdict look(struct stet_visit *v)
{
    enum verdict verdict;

    if (stet_visit_in_store(v)) {
        v->tier = v->flight->tier;
        return FOUND;
    }
    if (stet_visit_tiers(v))
        return FOUND;
    if (v->look)
        return alone(v, ALONE_NOT_FOUND);
    verdict = claim(v);
    /* sent away, but the host's others need not be: this one leads them */
    return verdict == ALONE && v->why == ALONE_TIER_FAILED ? LEAD : verdict;
}

/* Waits for its turn, and takes it. After LEAD it still has it. */
static enum verdict go(struct stet_visit *v)
{
    struct stet_agent *a = v->a;
    struct stet_flight *f = v->flight;
    unsigned failures;
    enum verdict verdict;

    pthread_mutex_lock(&a->lock);
    failures = f->failures;
    while (f->busy) {
        uint64_t now = stet_wire_now_ms();
        uint64_t until = v->look ? v->until_ms : v->give_up_ms;
        struct timespec wake;

        if (now >= until) {
            pthread_mutex_unlock(&a->lock);
            return alone(v, ALONE_DEADLINE);
        }
        clock_gettime(CLOCK_MONOTONIC, &wake);
        wake.tv_nsec += (long)(until - now < BEAT_MS ? until - now : BEAT_MS) * 1000000;
        wake.tv_sec += wake.tv_nsec / 1000000000;
        wake.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&a->moved, &a->lock, &wake);
        if (f->failures != failures) {
            pthread_mutex_unlock(&a->lock);
            return alone(v, ALONE_NOTHING_TO_SHARE);
        }
        pthread_mutex_unlock(&a->lock);
        if (!beat(v))
            return GONE;
        pthread_mutex_lock(&a->lock);
    }
    f->busy = true;
    pthread_mutex_unlock(&a->lock);
    if (v->waited)
        v->until_ms = stet_wire_now_ms() + v->wait_ms;
    verdict = look(v);
    if (verdict == LEAD)
        return LEAD;
    pthread_mutex_lock(&a->lock);
    f->busy = false;
    pthread_cond_broadcast(&a->moved);
    pthread_mutex_unlock(&a->lock);
    return verdict;
}

/* How the leader ended. */
static void end_turn(struct stet_visit *v, uint32_t how)
{
    struct stet_agent *a = v->a;
    struct stet_flight *f = v->flight;
    struct stet_lease *lease = NULL;
    struct stet_tier_bits at;

    pthread_mutex_lock(&a->lock);
    if (how == STET_MESSAGE_KEPT || how == STET_MESSAGE_FAILED) {
        lease = f->lease;
        f->lease = NULL;
        f->tier = 0;
        f->failures += how == STET_MESSAGE_FAILED;
    } else if (f->visitors > 1) {
        atomic_fetch_add(&a->taken_over, 1);
    }
    at = stet_flight_bits(f, UINT32_MAX);
    f->busy = false;
    pthread_cond_broadcast(&a->moved);
    pthread_mutex_unlock(&a->lock);
    if (how == STET_MESSAGE_KEPT)
        stet_agent_share_add(a, v->key, stet_view_str(v->store.folder), lease, at);
    else
        stet_agent_lease_give_up(a, lease, true);
}

/* The client compiles, and the others wait until it reports or is gone. */
static bool lead(struct stet_visit *v)
{
    struct stet_message m = {0};
    enum stet_rc rc = STET_LIMIT;

    while (rc == STET_LIMIT)
        rc = stet_wire_receive(v->line, &m, stet_wire_now_ms() + 60000, NULL);
    if (rc != STET_OK || (m.kind != STET_MESSAGE_KEPT && m.kind != STET_MESSAGE_FAILED)) {
        end_turn(v, 0);
        return false;
    }
    end_turn(v, m.kind);
    return stet_wire_send(v->line, &(struct stet_message){.kind = STET_MESSAGE_OKAY},
                          stet_wire_now_ms() + 1000, NULL) == STET_OK;
}

static const char *tier_name(const struct stet_visit *v)
{
    return v->tier ? v->a->tiers.items[v->tier - 1].kind->name : STET_MESSAGE_SAME_HOST;
}

static bool answer(struct stet_visit *v, enum verdict verdict)
{
    static const uint32_t kinds[] = {
        [FOUND] = STET_MESSAGE_FOUND, [LEAD] = STET_MESSAGE_LEAD, [ALONE] = STET_MESSAGE_ALONE};
    struct stet_message m = {.kind = kinds[verdict],
                             .flags = v->in_aside ? STET_MESSAGE_ASIDE : 0,
                             .key = v->key,
                             .bytes = v->bytes,
                             .ns = (stet_wire_now_ms() - v->begin_ms) * 1000000u,
                             .tier = stet_view_str(verdict == FOUND ? tier_name(v) : ""),
                             .tier_number = verdict == FOUND ? v->tier : 0,
                             .text = stet_view_str(alone_words[v->why])};

    atomic_fetch_add(verdict == FOUND  ? &v->a->found
                     : verdict == LEAD ? &v->a->led
                                       : &v->a->alone,
                     1);
    return stet_wire_send(v->line, &m, stet_wire_now_ms() + 1000, NULL) == STET_OK;
}

bool stet_agent_flight_visit(struct stet_agent *a, struct stet_wire *l,
                             const struct stet_message *m, struct stet_share **found)
{
    uint64_t now = stet_wire_now_ms();
    struct stet_visit v = {.a = a,
                           .line = l,
                           .key = m->key,
                           .wait_ms = m->wait_ms < 20 ? 20 : m->wait_ms,
                           .until_ms = now + m->wait_ms,
                           .give_up_ms = now + m->flight_ms,
                           .look = (m->flags & STET_MESSAGE_LOOK) != 0,
                           .once = (m->flags & STET_MESSAGE_ONCE) != 0,
                           .begin_ms = now};
    char folder[PATH_MAX], aside[PATH_MAX + 16];
    enum verdict verdict;
    bool on;

    atomic_fetch_add(&a->asked, 1);
    snprintf(folder, sizeof folder, "%.*s", STET_FMT(m->store));
    snprintf(v.run, sizeof v.run, "%.*s", STET_FMT(m->run));
    snprintf(aside, sizeof aside, "%s/%s", folder, STET_STORE_ASIDE);
    if (folder[0] != '/' || stet_store_open(&v.store, folder, NULL) != STET_OK ||
        stet_store_open(&v.aside, aside, NULL) != STET_OK)
        return false;
    /* only the client knows how its store may be used */
    v.store.read_only = v.aside.read_only = false;
    stet_agent_report_asked(a, v.run);
    pthread_mutex_lock(&a->lock);
    if (!v.once)
        memcpy(a->store, folder, sizeof folder);
    v.flight = join(a, v.key, folder);
    pthread_mutex_unlock(&a->lock);
    if (!v.flight)
        return false;
    verdict = go(&v);
    if (v.was_refused && verdict != FOUND)
        stet_agent_report_refused(a, v.run, v.refusal,
                                  v.refusal == STET_REFUSAL_UNTRUSTED ? &v.refused_signer : NULL);
    *found = v.found;
    on = verdict != GONE && answer(&v, verdict);
    if (verdict == LEAD && on)
        on = lead(&v);
    else if (verdict == LEAD)
        end_turn(&v, 0);
    leave(a, v.flight);
    return on;
}
