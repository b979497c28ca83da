/* See web.h. */
#include "agent/web.h"

#include "agent/curl.h"
#include "agent/gs_token.h"
#include "base/mem.h"
#include "wire/client.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
    const struct stet_agent_curl *curl;
    CURL *h;
};

const char *stet_agent_web_env(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value && *value ? value : otherwise;
}

enum stet_rc stet_agent_web_base(const struct stet_tier *t, struct stet_web *own, int n,
                                 struct stet_err *err)
{
    size_t end = n < 0 ? 0 : (size_t)n;

    if (n < 0 || end >= sizeof own->base)
        return stet_fail(err, STET_LIMIT, "%.*s: address too long", STET_FMT(t->shown));
    while (end && own->base[end - 1] == '/')
        own->base[--end] = '\0';
    return STET_OK;
}

enum stet_rc stet_agent_web_bucket(const struct stet_tier *t, struct stet_web *own,
                                   const char *endpoint, struct stet_err *err)
{
    const char *slash = *endpoint && endpoint[strlen(endpoint) - 1] == '/' ? "" : "/";

    return stet_agent_web_base(t, own,
                               snprintf(own->base, sizeof own->base, "%s%s%s%s", endpoint, slash,
                                        t->url.host, t->url.path),
                               err);
}

void stet_agent_web_close(void *session)
{
    struct session *s = session;

    if (!s)
        return;
    if (s->h)
        s->curl->curl_easy_cleanup(s->h);
    stet_mem_free(s);
}

/* libcurl keeps the connection in the handle; the first request opens it. */
enum stet_rc stet_agent_web_open(const struct stet_tier *t, void **session, uint64_t until_ms,
                                 struct stet_err *err)
{
    const struct stet_agent_curl *curl = stet_agent_curl(err);
    struct session *s = curl ? stet_mem_calloc(1, sizeof *s) : NULL;

    (void)t;
    (void)until_ms;
    *session = s;
    if (s) {
        s->curl = curl;
        s->h = curl->curl_easy_init();
    }
    if (s && s->h)
        return STET_OK;
    stet_agent_web_close(s);
    *session = NULL;
    return curl ? stet_fail(err, STET_NO_MEMORY, "out of memory") : STET_UNSUPPORTED;
}

/* One request in progress. */
struct request {
    const struct stet_web *web;
    struct session *s;
    struct stet_buf *out; /* NULL: the answer is discarded */
    struct curl_slist *headers;
    struct stet_buf token; /* the bearer token that it sends */
    bool too_large;
};

static size_t take(char *bytes, size_t size, size_t count, void *context)
{
    struct request *r = context;
    long status = 0;
    size_t n = size * count;

    r->s->curl->curl_easy_getinfo(r->s->h, CURLINFO_RESPONSE_CODE, &status);
    if (!r->out || status != 200)
        return n; /* words about an error */
    if (r->out->len + n > STET_TIER_MAX)
        r->too_large = true;
    else
        stet_buf_add(r->out, bytes, n);
    return r->too_large || r->out->failed ? 0 : n;
}

static void add_header(struct request *r, const char *name, const char *value)
{
    struct stet_buf line = STET_BUF_INIT;
    struct curl_slist *more;

    stet_buf_printf(&line, "%s:%s%s", name, *value ? " " : "", value);
    more = line.failed ? NULL : r->s->curl->curl_slist_append(r->headers, line.ptr);
    if (more)
        r->headers = more;
    stet_buf_release(&line);
}

/* What the servers require beside the signature, and libcurl 7.88 signs but does not send itself:
 * the hash of the body. */
static enum stet_rc sign(struct request *r, const struct stet_web *own, struct stet_view body,
                         struct stet_err *err)
{
    const struct stet_agent_curl *c = r->s->curl;
    unsigned char sum[crypto_hash_sha256_BYTES];
    char text[2 * sizeof sum + 1];

    if (c->curl_easy_setopt(r->s->h, CURLOPT_AWS_SIGV4, own->sigv4) != CURLE_OK)
        return stet_fail(err, STET_UNSUPPORTED,
                         "this libcurl cannot sign requests; version 7.75 or newer is needed");
    crypto_hash_sha256(sum, (const unsigned char *)(body.len ? body.ptr : ""), body.len);
    sodium_bin2hex(text, sizeof text, sum, sizeof sum);
    add_header(r, own->hash_header, text);
    if (*own->session_token)
        add_header(r, "X-Amz-Security-Token", own->session_token);
    return STET_OK;
}

static enum stet_rc authorize(struct request *r, const struct stet_web *own, uint64_t until_ms,
                              struct stet_err *err)
{
    struct stet_buf text = STET_BUF_INIT;
    enum stet_rc rc = STET_OK;

    if (own->token)
        rc = stet_agent_token_take(own->token, &r->token, until_ms, err);
    else
        stet_buf_str(&r->token, own->bearer);
    if (rc == STET_OK)
        stet_buf_printf(&text, "Bearer %.*s", STET_FMT(stet_buf_as_view(&r->token)));
    if (rc == STET_OK && (r->token.failed || text.failed))
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory");
    if (rc == STET_OK)
        add_header(r, "Authorization", text.ptr);
    stet_buf_release(&text);
    return rc;
}

static void finish(struct request *r)
{
    r->s->curl->curl_easy_setopt(r->s->h, CURLOPT_HTTPHEADER, NULL);
    r->s->curl->curl_slist_free_all(r->headers);
    r->headers = NULL;
    stet_buf_release(&r->token);
}

static enum stet_rc sign_in(struct request *r, const struct stet_web *own, struct stet_view body,
                            uint64_t until_ms, struct stet_err *err)
{
    const struct stet_agent_curl *c = r->s->curl;
    CURL *h = r->s->h;

    if (own->sigv4 && sign(r, own, body, err) != STET_OK)
        return STET_UNSUPPORTED;
    if (*own->user) {
        c->curl_easy_setopt(h, CURLOPT_USERNAME, own->user);
        c->curl_easy_setopt(h, CURLOPT_PASSWORD, own->password);
        if (!own->sigv4)
            c->curl_easy_setopt(h, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        return STET_OK;
    }
    return own->token || *own->bearer ? authorize(r, own, until_ms, err) : STET_OK;
}

static enum stet_rc begin(struct request *r, const struct stet_tier *t, struct session *s,
                          const struct stet_tier_name *of, struct stet_view body, uint64_t until_ms,
                          struct stet_err *err)
{
    enum stet_rc rc;
    const struct stet_web *own = t->own;
    const struct stet_agent_curl *c = s->curl;
    char name[STET_HASH_TEXT], address[800];

    *r = (struct request){.web = own, .s = s, .token = STET_BUF_INIT};
    stet_hash_format(of->key, name);
    if (own->layout == STET_WEB_BAZEL) /* names there have 64 digits */
        snprintf(address, sizeof address, "%s/ac/%s%s", own->base, name,
                 *of->slot ? of->slot : name);
    else
        snprintf(address, sizeof address, "%s/%s%.2s/%s%s%s.stet", own->base,
                 of->message ? "jobs/" : "", name, name, *of->slot ? "." : "", of->slot);
    c->curl_easy_reset(s->h);
    stet_agent_curl_common(c, s->h, t->connect_ms, until_ms);
    if (c->curl_easy_setopt(s->h, CURLOPT_URL, address) != CURLE_OK)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    c->curl_easy_setopt(s->h, CURLOPT_WRITEFUNCTION, take);
    c->curl_easy_setopt(s->h, CURLOPT_WRITEDATA, r);
    c->curl_easy_setopt(s->h, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)STET_TIER_MAX);
    c->curl_easy_setopt(s->h, CURLOPT_EXPECT_100_TIMEOUT_MS, 50L);
    rc = sign_in(r, own, body, until_ms, err);
    if (rc != STET_OK)
        finish(r);
    return rc;
}

/* The status of the answer. */
static enum stet_rc perform(struct request *r, long *status, struct stet_err *err)
{
    const struct stet_agent_curl *c = r->s->curl;
    enum stet_rc rc = STET_OK;
    CURLcode code;

    c->curl_easy_setopt(r->s->h, CURLOPT_HTTPHEADER, r->headers);
    code = c->curl_easy_perform(r->s->h);
    *status = 0;
    c->curl_easy_getinfo(r->s->h, CURLINFO_RESPONSE_CODE, status);
    if (r->too_large || code == CURLE_FILESIZE_EXCEEDED)
        rc = stet_fail(err, STET_BAD_INPUT, "the answer does not end");
    else if (code != CURLE_OK)
        rc = stet_fail(err, STET_IO, "%s", c->curl_easy_strerror(code));
    if (rc == STET_OK && *status == 401 && r->web->token)
        stet_agent_token_drop(r->web->token, stet_buf_as_view(&r->token));
    finish(r);
    return rc;
}

enum stet_rc stet_agent_web_get(const struct stet_tier *t, void *session,
                                const struct stet_tier_name *of, struct stet_buf *out,
                                uint64_t until_ms, struct stet_err *err)
{
    struct request r;
    long status = 0;
    enum stet_rc rc = begin(&r, t, session, of, (struct stet_view){0}, until_ms, err);

    r.out = out;
    if (rc == STET_OK)
        rc = perform(&r, &status, err);
    if (rc == STET_OK && (status == 404 || status == 410))
        return STET_NOT_FOUND;
    if (rc == STET_OK && status != 200)
        return stet_fail(err, STET_IO, "GET answers %ld", status);
    return rc;
}

/* Is it already there? Many hosts find an entry, but only one needs to send it. */
static bool has(const struct stet_tier *t, struct session *s, const struct stet_tier_name *of,
                uint64_t until_ms)
{
    struct request r;
    long status = 0;

    if (begin(&r, t, s, of, (struct stet_view){0}, until_ms, NULL) != STET_OK)
        return false;
    s->curl->curl_easy_setopt(s->h, CURLOPT_NOBODY, 1L);
    return perform(&r, &status, NULL) == STET_OK && status == 200;
}

/* One PUT; with a header it replaces nothing. The status of the answer. */
static enum stet_rc put(const struct stet_tier *t, struct session *s,
                        const struct stet_tier_name *of, struct stet_view bytes, const char *header,
                        const char *value, long *status, uint64_t until_ms, struct stet_err *err)
{
    const struct stet_agent_curl *c = s->curl;
    struct request r;
    enum stet_rc rc = begin(&r, t, s, of, bytes, until_ms, err);

    if (rc != STET_OK)
        return rc;
    add_header(&r, "Content-Type", "application/octet-stream");
    if (header)
        add_header(&r, header, value);
    c->curl_easy_setopt(s->h, CURLOPT_POSTFIELDS, bytes.ptr);
    c->curl_easy_setopt(s->h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes.len);
    c->curl_easy_setopt(s->h, CURLOPT_CUSTOMREQUEST, "PUT");
    return perform(&r, status, err);
}

/* Several ranks write a message at the same moment, so the server decides (RFC 9110, 13.1.2). One
 * that has no such condition ignores it, or refuses it with 501. */
enum stet_rc stet_agent_web_put(const struct stet_tier *t, void *session,
                                const struct stet_tier_name *of, struct stet_view bytes,
                                const char *lease, bool anew, uint64_t until_ms,
                                struct stet_err *err)
{
    const struct stet_web *own = t->own;
    bool only_new = !anew && !*of->slot, message = of->message && !own->if_absent;
    const char *header = message ? "If-None-Match" : only_new ? own->if_absent : NULL;
    long status = 0;
    enum stet_rc rc;

    (void)lease;
    if (only_new && has(t, session, of, until_ms))
        return STET_NOT_FOUND; /* nothing to do */
    rc = put(t, session, of, bytes, header, message ? "*" : "0", &status, until_ms, err);
    if (rc == STET_OK && message && status == 501)
        rc = put(t, session, of, bytes, NULL, NULL, &status, until_ms, err);
    if (rc == STET_OK && header && (status == 412 || (message && status == 409)))
        return STET_NOT_FOUND; /* another host was faster */
    if (rc == STET_OK && (status < 200 || status > 299))
        return stet_fail(err, STET_IO, "PUT answers %ld", status);
    return rc;
}
