/* Leases as files, for servers that only keep files: web servers, S3, Google Cloud Storage.
 *
 * A lease is the file leases/<2 digits>/<key>.stet with the text of lease.c. It is written on the
 * condition that there is none, and replaced or removed on the condition that it is still the
 * version that was read. No server removes an expired one: it stays until it is replaced.
 *
 * A server may ignore conditions. So a host reads before it writes, and reads again what it wrote:
 * of hosts that write at the same moment only those lead that still find their own lease. Two that
 * lead cost a second compile and nothing else. */
#include "agent/web.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>

/* In place of a token: its holder compiled and had nothing to share. */
static const char nothing_token[STET_TOKEN + 1] = "nothing-------------------------";

/* A lease as it is on the server. */
struct claim {
    char text[STET_LEASE_TEXT]; /* "?" for what is not a lease's text */
    char version[STET_WEB_VERSION];
};

static struct stet_tier_name lease_name(struct stet_hash key)
{
    return (struct stet_tier_name){.key = key, .what = STET_TIER_LEASE};
}

static bool is_text(struct stet_view v)
{
    for (size_t i = 0; i < v.len; i++) {
        if (v.ptr[i] <= ' ' || v.ptr[i] > '~')
            return false;
    }
    return v.len > 0 && v.len < STET_LEASE_TEXT;
}

/* STET_NOT_FOUND if there is none. */
static enum stet_rc read_claim(const struct stet_tier *t, void *session, struct stet_hash key,
                               struct claim *out, uint64_t until_ms, struct stet_err *err)
{
    const struct stet_tier_name name = lease_name(key);
    struct stet_buf text = {.cap = 4096};
    struct stet_web_request r = {.method = "GET", .of = &name, .out = &text};
    enum stet_rc rc = stet_agent_web_send(t, session, &r, until_ms, err);

    if (rc == STET_BAD_INPUT && r.status == 200)
        rc = STET_OK; /* larger than any lease: replaced like other nonsense */
    if (rc == STET_OK && (r.status == 404 || r.status == 410))
        rc = STET_NOT_FOUND;
    else if (rc == STET_OK && r.status != 200)
        rc = stet_fail(err, STET_IO, "GET of a lease answers %ld", r.status);
    *out = (struct claim){.text = "?"};
    if (rc == STET_OK && !text.failed && is_text(stet_buf_as_view(&text)))
        snprintf(out->text, sizeof out->text, "%s", text.ptr);
    if (rc == STET_OK)
        memcpy(out->version, r.version, sizeof out->version);
    stet_buf_release(&text);
    return rc;
}

static bool is_ours(const struct claim *c, const char *lease)
{
    return !strncmp(c->text, lease, STET_TOKEN);
}

/* Does a write with a condition mean that another host was faster? S3 answers 409 while another
 * write goes on, and 404 if the file has gone. */
static bool is_lost(long status)
{
    return status == 412 || status == 409 || status == 404;
}

/* `version`: of what is replaced; NULL if it has none that the server would know. */
static enum stet_rc write_claim(const struct stet_tier *t, void *session, struct stet_hash key,
                                const char *text, const char *version, uint64_t until_ms,
                                struct stet_err *err)
{
    const struct stet_tier_name name = lease_name(key);
    struct stet_web_request r = {
        .method = "PUT", .of = &name, .body = stet_view_str(text), .if_version = version};
    enum stet_rc rc = stet_agent_web_send(t, session, &r, until_ms, err);

    if (rc != STET_OK || (r.status >= 200 && r.status <= 299))
        return rc;
    if (version && is_lost(r.status))
        return STET_NOT_FOUND;
    if (r.status == 501 || (r.status >= 400 && r.status < 500 && r.status != 401 &&
                            r.status != 408 && r.status != 429))
        return stet_fail(err, STET_UNSUPPORTED, "PUT of a lease answers %ld", r.status);
    return stet_fail(err, STET_IO, "PUT of a lease answers %ld", r.status);
}

static const char *version_of(const struct claim *c)
{
    return *c->version ? c->version : NULL;
}

enum stet_rc stet_agent_web_lease(const struct stet_tier *t, void *session, struct stet_hash key,
                                  const char *lease, const char *dead, uint64_t until_ms,
                                  struct stet_err *err)
{
    const struct stet_web *own = t->own;
    struct claim c;
    enum stet_rc rc;

    if (own->layout == STET_WEB_BAZEL)
        return stet_fail(err, STET_UNSUPPORTED, "the layout of bazel has no leases");
    rc = read_claim(t, session, key, &c, until_ms, err);
    if (rc == STET_OK && is_ours(&c, lease))
        return STET_OK; /* the answer to an earlier attempt was lost */
    if (rc == STET_OK && strcmp(c.text, dead) != 0)
        return STET_NOT_FOUND;
    if (rc == STET_OK || rc == STET_NOT_FOUND)
        rc =
            write_claim(t, session, key, lease, rc == STET_OK ? version_of(&c) : "", until_ms, err);
    if (rc == STET_OK)
        rc = read_claim(t, session, key, &c, until_ms, err);
    return rc == STET_OK && !is_ours(&c, lease) ? STET_NOT_FOUND : rc;
}

enum stet_rc stet_agent_web_renew(const struct stet_tier *t, void *session, struct stet_hash key,
                                  const char *lease, uint64_t until_ms, struct stet_err *err)
{
    struct claim c;
    enum stet_rc rc = read_claim(t, session, key, &c, until_ms, err);

    if (rc == STET_OK && !is_ours(&c, lease))
        return STET_NOT_FOUND;
    return rc == STET_OK ? write_claim(t, session, key, lease, version_of(&c), until_ms, err) : rc;
}

enum stet_rc stet_agent_web_give_up(const struct stet_tier *t, void *session, struct stet_hash key,
                                    const char *lease, bool nothing, uint64_t until_ms,
                                    struct stet_err *err)
{
    const struct stet_tier_name name = lease_name(key);
    struct claim c;
    struct stet_web_request r = {.method = "DELETE", .of = &name};
    enum stet_rc rc = read_claim(t, session, key, &c, until_ms, err);
    char text[STET_TOKEN + 24];

    if (rc == STET_OK && !is_ours(&c, lease))
        rc = STET_NOT_FOUND;
    if (rc != STET_OK)
        return rc;
    r.if_version = version_of(&c);
    snprintf(text, sizeof text, "%s.%" PRIu64, nothing_token,
             nothing ? stet_clock_wall_ns() / 1000000u + t->lease_ms : 0);
    if (nothing)
        return write_claim(t, session, key, text, r.if_version, until_ms, err);
    rc = stet_agent_web_send(t, session, &r, until_ms, err);
    if (rc != STET_OK || (r.status >= 200 && r.status <= 299))
        return rc;
    if (is_lost(r.status))
        return STET_NOT_FOUND;
    /* this server or this user removes nothing: leave one that has expired */
    return write_claim(t, session, key, text, r.if_version, until_ms, err);
}

/* One request while the lease is held; its holder writes the entry before it gives the lease up. */
enum stet_rc stet_agent_web_watch(const struct stet_tier *t, void *session, struct stet_hash key,
                                  struct stet_lease_view *out, uint64_t until_ms,
                                  struct stet_err *err)
{
    struct claim c;
    enum stet_rc rc = read_claim(t, session, key, &c, until_ms, err);
    bool in_time = rc == STET_OK && stet_agent_lease_in_time(t, c.text);

    *out = (struct stet_lease_view){0};
    if (rc != STET_OK && rc != STET_NOT_FOUND)
        return rc;
    if (in_time && is_ours(&c, nothing_token))
        out->state = STET_LEASE_NONE;
    else if (!in_time &&
             stet_agent_web_has(t, session, &(struct stet_tier_name){.key = key}, until_ms))
        out->state = STET_LEASE_ENTRY;
    else if (rc == STET_OK)
        out->state = STET_LEASE_HELD;
    memcpy(out->holder, c.text, sizeof out->holder);
    return STET_OK;
}
