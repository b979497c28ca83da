/* Leases that tiers granted to this host. When a compiling process dies, its connection closes;
 * when a host dies, its renewals stop.
 *
 * A lease makes other hosts wait, so a tier is not trusted in this either. Its text is
 *
 *   <token, 32 digits>.<when it expires, ms since 1970>[.<public key>.<signature>]
 *
 * with a signature over key, token and time. Every renewal signs it again, so a lease that a server
 * keeps or replays becomes invalid when its own time is over. */
#include "agent/internal.h"
#include "base/clock.h"
#include "base/mem.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

/* The clocks of hosts may differ by this much. */
enum { SKEW_MS = 30000, SIGNATURE = 64 };

static uint64_t wall_ms(void)
{
    return stet_clock_wall_ns() / 1000000u;
}

static bool make_token(char token[STET_HASH_TEXT])
{
    struct stet_hash random;

    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return false;
    stet_hash_format(random, token);
    return true;
}

/* The text that is signed. */
static void claim_of(char out[160], struct stet_hash key, const char *token, uint64_t expires_ms)
{
    char name[STET_HASH_TEXT];

    stet_hash_format(key, name);
    snprintf(out, 160, "stet lease 1 %s %.32s %" PRIu64, name, token, expires_ms);
}

/* The text after the token, for another lease_ms from now. */
static void sign(struct stet_agent *a, struct stet_lease *l)
{
    struct stet_keyring *keys = stet_agent_keyring_take(a);
    const struct stet_signer *signer = stet_agent_keyring_signer(keys);
    uint64_t expires_ms = wall_ms() + l->tier->lease_ms;
    char claim[160], public[2 * STET_PUBLIC_KEY + 1], hex[2 * SIGNATURE + 1];
    unsigned char signature[SIGNATURE];

    snprintf(l->text + STET_TOKEN, sizeof l->text - STET_TOKEN, ".%" PRIu64, expires_ms);
    if (signer) {
        claim_of(claim, l->key, l->text, expires_ms);
        crypto_sign_detached(signature, NULL, (const unsigned char *)claim, strlen(claim),
                             signer->secret);
        sodium_bin2hex(public, sizeof public, signer->public.bytes, STET_PUBLIC_KEY);
        sodium_bin2hex(hex, sizeof hex, signature, sizeof signature);
        snprintf(l->text + STET_TOKEN, sizeof l->text - STET_TOKEN, ".%" PRIu64 ".%s.%s",
                 expires_ms, public, hex);
    }
    stet_agent_keyring_put(a, keys);
}

static bool from_hex(const char *text, size_t digits, unsigned char *out)
{
    size_t got = 0;

    return sodium_hex2bin(out, digits / 2, text, digits, NULL, &got, NULL) == 0 &&
           got == digits / 2;
}

/* The time after the token, and the text after it in `rest`. 0 if there is none. */
static uint64_t expiry_of(const char *text, char **rest)
{
    if (strlen(text) < STET_TOKEN + 2 || text[STET_TOKEN] != '.')
        return 0;
    return strtoull(text + STET_TOKEN + 1, rest, 10);
}

bool stet_agent_lease_in_time(const struct stet_tier *t, const char *text)
{
    char *rest;
    uint64_t now = wall_ms(), expires_ms = expiry_of(text, &rest);

    return expires_ms <= now + t->lease_ms + SKEW_MS && now < expires_ms + SKEW_MS;
}

/* Is it signed by a trusted key and not expired? */
static bool is_signed(const struct stet_trust *trust, const struct stet_tier *t,
                      struct stet_hash key, const char *text)
{
    unsigned char signature[SIGNATURE];
    struct stet_public public;
    char claim[160], *end = NULL;
    uint64_t expires_ms = expiry_of(text, &end);

    if (!end || *end != '.' || strlen(end) != 1 + 2 * STET_PUBLIC_KEY + 1 + 2 * SIGNATURE ||
        end[1 + 2 * STET_PUBLIC_KEY] != '.' ||
        !from_hex(end + 1, 2 * STET_PUBLIC_KEY, public.bytes) ||
        !from_hex(end + 2 + 2 * STET_PUBLIC_KEY, 2 * SIGNATURE, signature))
        return false;
    claim_of(claim, key, text, expires_ms);
    return stet_trust_has(trust, &public) && stet_agent_lease_in_time(t, text) &&
           crypto_sign_verify_detached(signature, (const unsigned char *)claim, strlen(claim),
                                       public.bytes) == 0;
}

bool stet_agent_lease_believed(struct stet_agent *a, const struct stet_tier *t,
                               struct stet_hash key, const char *text)
{
    struct stet_keyring *keys = stet_agent_keyring_take(a);
    const struct stet_trust *trust = stet_agent_keyring_trust(keys);
    bool believed = trust->anyone || is_signed(trust, t, key, text);

    stet_agent_keyring_put(a, keys);
    return believed;
}

struct stet_lease *stet_agent_lease_take(struct stet_agent *a, struct stet_tier *t,
                                         struct stet_hash key, const char *dead, uint64_t until_ms,
                                         enum stet_rc *rc)
{
    struct stet_lease *lease = stet_mem_calloc(1, sizeof *lease);

    *rc = lease && make_token(lease->text) ? STET_OK : STET_NO_MEMORY;
    if (*rc == STET_OK) {
        lease->tier = t;
        lease->key = key;
        sign(a, lease);
        *rc = stet_agent_tier_lease(t, key, lease->text, dead, until_ms, NULL);
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

void stet_agent_lease_give_up(struct stet_agent *a, struct stet_lease *lease, bool nothing)
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
    stet_agent_tier_give_up(lease->tier, lease->key, lease->text, nothing, NULL);
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

void *stet_agent_lease_keeper(void *agent)
{
    struct stet_agent *a = agent;
    uint32_t pause = shortest_ms(a) / 3;
    struct stet_lease some[AT_ONCE];

    for (;;) {
        nanosleep(&(struct timespec){pause / 1000, (long)(pause % 1000) * 1000000}, NULL);
        for (size_t at = 0, n; (n = copy_leases(a, at, some)) > 0; at += n) {
            /* a lease released meanwhile is not renewed: the tier no longer knows its token */
            for (size_t i = 0; i < n; i++) {
                sign(a, &some[i]);
                stet_agent_tier_renew(some[i].tier, some[i].key, some[i].text, NULL);
            }
        }
    }
    return NULL;
}
