/* Write-behind: entries compiled on this host are sent to the tiers in the background. */
#include "agent/internal.h"
#include "base/mem.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { QUEUE_MAX = 4096, OPEN_MAX = 64, TRIES = 4, AGAIN_MS = 500 };

static void append(struct stet_agent *a, struct stet_share *s)
{
    struct stet_share **at = &a->queue;

    while (*at)
        at = &(*at)->next;
    s->next = NULL;
    *at = s;
    a->queued++;
    pthread_cond_broadcast(&a->moved);
}

/* Kept open, because a program with a read-only store removes the fetched entry after it has loaded
 * it. */
static int open_entry(const struct stet_share *s)
{
    struct stet_store store;
    enum stet_rc rc;

    return stet_store_open(&store, s->store, NULL) == STET_OK
               ? stet_store_open_entry(&store, s->key, &rc, NULL)
               : -1;
}

/* NULL if there is no room for it. */
static struct stet_share *make(struct stet_agent *a, struct stet_hash key, struct stet_view store,
                               struct stet_tier_bits at)
{
    struct stet_share *s = NULL;
    size_t before;

    pthread_mutex_lock(&a->lock);
    before = a->queued + a->held;
    pthread_mutex_unlock(&a->lock);
    if (a->tiers.count && before < QUEUE_MAX)
        s = stet_mem_calloc(1, sizeof *s + store.len + 1);
    if (!s) {
        if (a->tiers.count)
            atomic_fetch_add(&a->not_shared, 1);
        return NULL;
    }
    s->key = key;
    s->at = at;
    memcpy(s->store, store.ptr, store.len);
    s->fd = before < OPEN_MAX ? open_entry(s) : -1;
    return s;
}

void stet_agent_share_add(struct stet_agent *a, struct stet_hash key, struct stet_view store,
                          struct stet_lease *lease, struct stet_tier_bits at)
{
    struct stet_share *s = make(a, key, store, at);

    if (!s) {
        stet_agent_lease_give_up(a, lease, false);
        return;
    }
    s->lease = lease;
    pthread_mutex_lock(&a->lock);
    append(a, s);
    pthread_mutex_unlock(&a->lock);
}

struct stet_share *stet_agent_share_hold(struct stet_agent *a, struct stet_hash key,
                                         struct stet_view store, struct stet_tier_bits at,
                                         const struct stet_seal *seal)
{
    struct stet_share *s = make(a, key, store, at);

    if (!s)
        return NULL;
    s->came = true;
    s->seal = *seal;
    pthread_mutex_lock(&a->lock);
    a->held++;
    pthread_mutex_unlock(&a->lock);
    return s;
}

static void free_share(struct stet_share *s)
{
    if (s->fd >= 0)
        close(s->fd);
    stet_mem_free(s);
}

void stet_agent_share_settle(struct stet_agent *a, struct stet_share *s, bool good)
{
    if (!s)
        return;
    pthread_mutex_lock(&a->lock);
    a->held--;
    if (good)
        append(a, s);
    pthread_mutex_unlock(&a->lock);
    if (!good)
        free_share(s);
}

/* The first entry that is due; with the lock. */
static struct stet_share *take(struct stet_agent *a)
{
    uint64_t now = stet_wire_now_ms();

    for (struct stet_share **at = &a->queue; *at; at = &(*at)->next) {
        struct stet_share *s = *at;

        if (s->not_before_ms > now)
            continue;
        *at = s->next;
        a->queued--;
        a->sharing++;
        return s;
    }
    return NULL;
}

/* An entry in its transport form, and its signer. */
struct parcel {
    struct stet_buf bytes;
    struct stet_tier_name slot; /* its signer's; "" if it is unsigned */
};

/* The tiers that did not take it and may take it later. */
static uint32_t send(struct stet_agent *a, const struct stet_share *s, const struct parcel *p)
{
    const struct stet_tier_name plain = {.key = s->key};
    uint32_t left = 0;

    for (size_t i = 0; i < a->tiers.count; i++) {
        struct stet_tier *t = &a->tiers.items[i];
        uint32_t bit = 1u << i;
        struct stet_err err = STET_ERR_INIT;
        enum stet_rc rc;

        if (!(s->at.tiers & bit) || t->read_only || (s->at.taken & bit && !*p->slot.slot))
            continue; /* an unsigned entry has no slot beside a signed one */
        rc = stet_agent_tier_put(
            t, s->at.taken & bit ? &p->slot : &plain, stet_buf_as_view(&p->bytes),
            s->lease && s->lease->tier == t ? s->lease->text : "", (s->at.anew & bit) != 0, &err);
        if (rc != STET_OK && rc != STET_NOT_FOUND) {
            stet_agent_log("%.*s: not shared: %s", STET_FMT(t->shown), err.text);
            left |= rc == STET_UNSUPPORTED ? 0 : bit;
        }
    }
    return left;
}

/* An entry made elsewhere goes under its maker's signature, and only while that key is trusted. */
static enum stet_rc pass_on(const struct stet_seal *seal, const struct stet_trust *trust,
                            struct stet_view entry, struct parcel *p, struct stet_err *err)
{
    bool sealed = seal->origin == STET_ORIGIN_SEALED;

    if (!(sealed && stet_trust_has(trust, &seal->signer)) &&
        !(trust->anyone && seal->origin != STET_ORIGIN_NAMED))
        return stet_fail(err, STET_REFUSED, "it was made elsewhere, and no trusted key signed it");
    stet_buf_add(&p->bytes, seal->bytes, sizeof seal->bytes);
    stet_buf_view(&p->bytes, entry);
    if (sealed)
        stet_agent_tier_slot(&p->slot, &seal->signer);
    return p->bytes.failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for an entry") : STET_OK;
}

/* An entry made here is signed by this user. Without a key it stays here, unless anyone is
 * trusted. */
static enum stet_rc wrap(struct stet_agent *a, const struct stet_share *s, struct stet_view entry,
                         struct parcel *p, struct stet_err *err)
{
    struct stet_keyring *keys = stet_agent_keyring_take(a);
    const struct stet_signer *signer = stet_agent_keyring_signer(keys);
    struct stet_store store;
    struct stet_seal seal = s->seal;
    enum stet_rc rc = stet_store_open(&store, s->store, err);

    if (rc == STET_OK && s->came && !stet_trust_seal_fits(&seal, entry))
        rc = stet_fail(err, STET_REFUSED, "the entry changed since it came from the tier");
    if (rc == STET_OK) {
        if (!s->came)
            stet_trust_seal_find(&store, entry, &seal);
        if (seal.origin != STET_ORIGIN_HERE)
            rc = pass_on(&seal, stet_agent_keyring_trust(keys), entry, p, err);
        else if (!stet_agent_keyring_gives(keys))
            rc = stet_fail(err, STET_REFUSED, "this user has no signing key");
        else
            rc = stet_trust_archive_seal(&p->bytes, entry, signer, err);
        if (rc == STET_OK && seal.origin == STET_ORIGIN_HERE && signer)
            stet_agent_tier_slot(&p->slot, &signer->public);
    }
    stet_agent_keyring_put(a, keys);
    return rc;
}

static bool pack(struct stet_agent *a, const struct stet_share *s, struct parcel *p)
{
    struct stet_err err = STET_ERR_INIT;
    int fd = s->fd >= 0 ? s->fd : open_entry(s);
    struct stet_file file = {0};
    enum stet_rc rc = fd < 0 ? stet_fail_errno(&err, "%s: cannot open its entry", s->store)
                             : stet_file_read_fd(&file, fd, s->store, &err);

    if (fd >= 0 && fd != s->fd)
        close(fd);
    if (rc == STET_OK) {
        rc = wrap(a, s, file.bytes, p, &err);
        stet_file_close(&file);
    }
    if (rc != STET_OK)
        stet_agent_log("not shared: %s", err.text);
    return rc == STET_OK;
}

static void share(struct stet_agent *a, struct stet_share *s)
{
    struct parcel p = {.bytes = {.cap = STET_TIER_MAX}, .slot = {.key = s->key}};
    uint32_t left = 0;
    bool there = pack(a, s, &p);

    if (there)
        left = send(a, s, &p);
    stet_buf_release(&p.bytes);
    /* other hosts need not wait for a tier that does not take it */
    stet_agent_lease_give_up(a, s->lease, false);
    s->lease = NULL;
    s->at.tiers = left;
    pthread_mutex_lock(&a->lock);
    a->sharing--;
    if (left && ++s->tries < TRIES) {
        s->not_before_ms = stet_wire_now_ms() + (uint64_t)AGAIN_MS * (1u << s->tries);
        append(a, s);
        s = NULL;
    }
    atomic_store(&a->idle_since_ms, stet_wire_now_ms());
    pthread_mutex_unlock(&a->lock);
    if (!s)
        return;
    atomic_fetch_add(left || !there ? &a->not_shared : &a->shared, 1);
    free_share(s);
}

void *stet_agent_share_worker(void *agent)
{
    struct stet_agent *a = agent;

    pthread_mutex_lock(&a->lock);
    for (;;) {
        struct stet_share *s = take(a);
        struct timespec wake;

        if (s) {
            pthread_mutex_unlock(&a->lock);
            share(a, s);
            pthread_mutex_lock(&a->lock);
            continue;
        }
        clock_gettime(CLOCK_MONOTONIC, &wake);
        wake.tv_sec += 1;
        pthread_cond_timedwait(&a->moved, &a->lock, &wake);
    }
    return NULL;
}
