/* Leases that tiers gave to this host. Whoever compiles dies with its connection; the host dies
 * with its renewals. */
#include "agent/internal.h"
#include "base/mem.h"

#include <stdio.h>
#include <sys/random.h>
#include <time.h>

static bool make_token(char token[STET_TOKEN])
{
    struct stet_hash random;

    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return false;
    stet_hash_format(random, token);
    return true;
}

struct stet_lease *stet_lease_take(struct stet_agent *a, struct stet_tier *t, struct stet_hash key,
                                   uint64_t until_ms, enum stet_rc *rc)
{
    struct stet_lease *lease = stet_mem_calloc(1, sizeof *lease);

    *rc = lease && make_token(lease->token) ? STET_OK : STET_NO_MEMORY;
    if (*rc == STET_OK) {
        lease->tier = t;
        lease->key = key;
        *rc = stet_tier_lease(t, key, lease->token, until_ms, NULL);
    }
    if (*rc != STET_OK) {
        stet_mem_free(lease);
        return NULL;
    }
    pthread_mutex_lock(&a->lock);
    lease->next = a->leases;
    a->leases = lease;
    pthread_mutex_unlock(&a->lock);
    return lease;
}

void stet_lease_give_up(struct stet_agent *a, struct stet_lease *lease, bool nothing)
{
    if (!lease)
        return;
    pthread_mutex_lock(&a->lock);
    for (struct stet_lease **at = &a->leases; *at; at = &(*at)->next) {
        if (*at != lease)
            continue;
        *at = lease->next;
        break;
    }
    pthread_mutex_unlock(&a->lock);
    stet_tier_give_up(lease->tier, lease->key, lease->token, nothing, NULL);
    stet_mem_free(lease);
}

enum { AT_ONCE = 64 };

static size_t copy_leases(struct stet_agent *a, size_t from, struct stet_lease out[AT_ONCE])
{
    size_t n = 0, i = 0;

    pthread_mutex_lock(&a->lock);
    for (const struct stet_lease *l = a->leases; l && n < AT_ONCE; l = l->next) {
        if (i++ >= from)
            out[n++] = *l;
    }
    pthread_mutex_unlock(&a->lock);
    return n;
}

static uint32_t shortest_ms(const struct stet_agent *a)
{
    uint32_t ms = 10000;

    for (size_t i = 0; i < a->tiers.count; i++) {
        if (a->tiers.items[i].lease_ms < ms)
            ms = a->tiers.items[i].lease_ms;
    }
    return ms < 300 ? 300 : ms;
}

void *stet_lease_keeper(void *agent)
{
    struct stet_agent *a = agent;
    uint32_t pause = shortest_ms(a) / 3;
    struct stet_lease some[AT_ONCE];

    for (;;) {
        nanosleep(&(struct timespec){pause / 1000, (long)(pause % 1000) * 1000000}, NULL);
        for (size_t at = 0, n; (n = copy_leases(a, at, some)) > 0; at += n) {
            /* one that was given up meanwhile is renewed by nobody: its token is gone */
            for (size_t i = 0; i < n; i++)
                stet_tier_renew(some[i].tier, some[i].key, some[i].token, NULL);
        }
    }
    return NULL;
}
