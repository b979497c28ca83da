/* See channel.h. */
#include "pod/channel.h"

#include "base/clock.h"

#include <stdio.h>

/* A call that takes longer than SLOW_MS beyond its wait counts as a failure. */
enum { TROUBLES_MOST = 3, DAMAGED_MOST = 8, SLOW_MS = 2000 };

void stet_pod_channel_init(struct stet_pod_channel *c, const struct stet_pod_channel_kind *kind,
                           void *self, const char *prefix, enum stet_pod_reach reach)
{
    *c = (struct stet_pod_channel){
        .kind = kind, .self = self, .reach = reach, .begin_ns = stet_clock_ns()};
    snprintf(c->prefix, sizeof c->prefix, "%s", prefix);
}

/* One thread sets the reason; others may come at the same time. */
void stet_pod_channel_give_up(struct stet_pod_channel *c, const char *why)
{
    if (atomic_exchange(&c->giving_up, true))
        return;
    snprintf(c->why, sizeof c->why, "%s", why);
    c->given_up_ns = stet_clock_ns();
    atomic_store(&c->given_up, true);
}

static void note(struct stet_pod_channel *c, bool trouble, const char *why)
{
    if (!trouble) {
        atomic_store(&c->troubles, 0);
        return;
    }
    atomic_fetch_add(&c->traffic.failures, 1);
    if (atomic_fetch_add(&c->troubles, 1) + 1 == TROUBLES_MOST)
        stet_pod_channel_give_up(c, why);
}

void stet_pod_channel_damaged(struct stet_pod_channel *c, enum stet_rc rc)
{
    if (atomic_fetch_add(&c->traffic.damaged, 1) + 1 < DAMAGED_MOST)
        return;
    stet_pod_channel_give_up(c, rc == STET_UNSUPPORTED
                                    ? "other ranks run another version of Stet"
                                    : "the channel returns other values than were written");
}

/* Counts a call that began at `begin_ns`. */
static enum stet_rc settle(struct stet_pod_channel *c, enum stet_rc rc, uint64_t begin_ns,
                           uint32_t wait_ms, const struct stet_err *err)
{
    uint64_t ns = stet_clock_ns() - begin_ns;
    bool slow = ns / 1000000 > (uint64_t)wait_ms + SLOW_MS;
    char why[sizeof c->why];

    atomic_fetch_add(&c->traffic.spent_ns, ns);
    if (rc == STET_UNSUPPORTED) {
        atomic_store(&c->closed, true);
        return STET_IO;
    }
    if (slow)
        snprintf(why, sizeof why, "one call took %llu ms", (unsigned long long)(ns / 1000000));
    else
        snprintf(why, sizeof why, "%.150s", err->text[0] ? err->text : stet_rc_name(rc));
    note(c, slow || (rc != STET_OK && rc != STET_NOT_FOUND && rc != STET_REFUSED), why);
    return rc;
}

bool stet_pod_channel_is_over(const struct stet_pod_channel *c)
{
    return atomic_load(&c->given_up) || atomic_load(&c->closed);
}

static bool make_key(const struct stet_pod_channel *c, const char *key, char out[STET_POD_KEY])
{
    return snprintf(out, STET_POD_KEY, "%s%s", c->prefix, key) < STET_POD_KEY;
}

enum stet_rc stet_pod_channel_put(struct stet_pod_channel *c, const char *key,
                                  struct stet_view value)
{
    struct stet_err err = STET_ERR_INIT;
    uint64_t begin = stet_clock_ns();
    char whole[STET_POD_KEY];

    if (stet_pod_channel_is_over(c) || !make_key(c, key, whole) || value.len > c->kind->value_most)
        return STET_IO;
    atomic_fetch_add(&c->traffic.puts, 1);
    atomic_fetch_add(&c->traffic.bytes_out, strlen(whole) + value.len);
    return settle(c, c->kind->put(c->self, whole, value, &err), begin, 0, &err);
}

enum stet_rc stet_pod_channel_get(struct stet_pod_channel *c, const char *key, uint32_t wait_ms,
                                  struct stet_buf *out)
{
    struct stet_err err = STET_ERR_INIT;
    uint64_t begin = stet_clock_ns();
    size_t before = out->len;
    char whole[STET_POD_KEY];
    enum stet_rc rc;

    if (stet_pod_channel_is_over(c) || !make_key(c, key, whole))
        return STET_IO;
    atomic_fetch_add(&c->traffic.gets, 1);
    rc = c->kind->get(c->self, whole, wait_ms, out, &err);
    if (rc == STET_OK && out->failed)
        rc = STET_NO_MEMORY;
    atomic_fetch_add(&c->traffic.bytes_in, strlen(whole) + (out->len - before));
    return settle(c, rc, begin, wait_ms, &err);
}
