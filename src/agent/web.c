/* See web.h. */
#include "agent/web.h"

#include "agent/curl.h"
#include "agent/gs_token.h"
#include "base/mem.h"
#include "wire/client.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

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
    struct stet_web_request *asked;
    struct curl_slist *headers;
    struct stet_buf token; /* the bearer token that it sends */
    bool too_large;
};

static size_t take(char *bytes, size_t size, size_t count, void *context)
{
    struct request *r = context;
    struct stet_buf *out = r->asked->out;
    long status = 0;
    size_t n = size * count;

    r->s->curl->curl_easy_getinfo(r->s->h, CURLINFO_RESPONSE_CODE, &status);
    if (!out || status != 200)
        return n; /* words about an error */
    if (out->len + n > STET_TIER_MAX)
        r->too_large = true;
    else
        stet_buf_add(out, bytes, n);
    return r->too_large || out->failed ? 0 : n;
}

/* A version is sent back in a header, so it has visible characters only. */
static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
    struct request *r = context;
    const char *name = r->web->generations ? "x-goog-generation:" : "etag:";
    size_t n = size * count, at = strlen(name), end = n;
    char *version = r->asked->version;

    if (n <= at || strncasecmp(bytes, name, at) != 0)
        return n;
    while (at < end && strchr(" \t", bytes[at]))
        at++;
    while (end > at && strchr(" \t\r\n", bytes[end - 1]))
        end--;
    version[0] = '\0';
    if (end - at > 2 && !strncmp(bytes + at, "W/", 2))
        return n; /* a weak one never matches (RFC 9110, 13.1.1) */
    for (size_t i = at; i < end; i++) {
        if (bytes[i] <= ' ' || bytes[i] > '~')
            return n;
    }
    if (end - at < STET_WEB_VERSION)
        snprintf(version, STET_WEB_VERSION, "%.*s", (int)(end - at), bytes + at);
    return n;
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

static enum stet_rc sign_in(struct request *r, uint64_t until_ms, struct stet_err *err)
{
    const struct stet_agent_curl *c = r->s->curl;
    const struct stet_web *own = r->web;
    CURL *h = r->s->h;

    if (own->sigv4 && sign(r, own, r->asked->body, err) != STET_OK)
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

static void write_address(const struct stet_web *own, const struct stet_tier_name *of, char *out,
                          size_t room)
{
    static const char *const folders[] = {
        [STET_TIER_ENTRY] = "", [STET_TIER_MESSAGE] = "jobs/", [STET_TIER_LEASE] = "leases/"};
    char name[STET_HASH_TEXT];

    stet_hash_format(of->key, name);
    if (own->layout == STET_WEB_BAZEL) /* names there have 64 digits */
        snprintf(out, room, "%s/ac/%s%s", own->base, name, *of->slot ? of->slot : name);
    else
        snprintf(out, room, "%s/%s%.2s/%s%s%s.stet", own->base, folders[of->what], name, name,
                 *of->slot ? "." : "", of->slot);
}

/* RFC 9110, 13.1, and the headers of Google's XML API. */
static void add_condition(struct request *r)
{
    const char *version = r->asked->if_version;

    if (r->web->generations)
        add_header(r, "x-goog-if-generation-match", *version ? version : "0");
    else
        add_header(r, *version ? "If-Match" : "If-None-Match", *version ? version : "*");
}

static void describe(struct request *r)
{
    const struct stet_agent_curl *c = r->s->curl;
    struct stet_view body = r->asked->body;
    CURL *h = r->s->h;

    c->curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, take);
    c->curl_easy_setopt(h, CURLOPT_WRITEDATA, r);
    c->curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, take_header);
    c->curl_easy_setopt(h, CURLOPT_HEADERDATA, r);
    c->curl_easy_setopt(h, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)STET_TIER_MAX);
    c->curl_easy_setopt(h, CURLOPT_EXPECT_100_TIMEOUT_MS, 50L);
    if (!strcmp(r->asked->method, "HEAD"))
        c->curl_easy_setopt(h, CURLOPT_NOBODY, 1L);
    if (!strcmp(r->asked->method, "PUT")) {
        add_header(r, "Content-Type", "application/octet-stream");
        c->curl_easy_setopt(h, CURLOPT_POSTFIELDS, body.len ? body.ptr : "");
        c->curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
    }
    c->curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, r->asked->method);
    if (r->asked->if_version)
        add_condition(r);
}

static enum stet_rc perform(struct request *r, struct stet_err *err)
{
    const struct stet_agent_curl *c = r->s->curl;
    struct stet_web_request *asked = r->asked;
    CURLcode code;

    c->curl_easy_setopt(r->s->h, CURLOPT_HTTPHEADER, r->headers);
    code = c->curl_easy_perform(r->s->h);
    c->curl_easy_getinfo(r->s->h, CURLINFO_RESPONSE_CODE, &asked->status);
    if (r->too_large || code == CURLE_FILESIZE_EXCEEDED || (asked->out && asked->out->failed))
        return stet_fail(err, STET_BAD_INPUT, "the answer does not end");
    if (code != CURLE_OK)
        return stet_fail(err, STET_IO, "%s", c->curl_easy_strerror(code));
    if (asked->status == 401 && r->web->token)
        stet_agent_token_drop(r->web->token, stet_buf_as_view(&r->token));
    return STET_OK;
}

enum stet_rc stet_agent_web_send(const struct stet_tier *t, void *session,
                                 struct stet_web_request *asked, uint64_t until_ms,
                                 struct stet_err *err)
{
    struct session *s = session;
    struct request r = {.web = t->own, .s = s, .asked = asked, .token = STET_BUF_INIT};
    char address[800];
    enum stet_rc rc;

    asked->status = 0;
    asked->version[0] = '\0';
    write_address(r.web, asked->of, address, sizeof address);
    s->curl->curl_easy_reset(s->h);
    stet_agent_curl_common(s->curl, s->h, t->connect_ms, until_ms);
    if (s->curl->curl_easy_setopt(s->h, CURLOPT_URL, address) != CURLE_OK)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    rc = sign_in(&r, until_ms, err);
    if (rc == STET_OK) {
        describe(&r);
        rc = perform(&r, err);
    }
    finish(&r);
    return rc;
}

enum stet_rc stet_agent_web_get(const struct stet_tier *t, void *session,
                                const struct stet_tier_name *of, struct stet_buf *out,
                                uint64_t until_ms, struct stet_err *err)
{
    struct stet_web_request r = {.method = "GET", .of = of, .out = out};
    enum stet_rc rc = stet_agent_web_send(t, session, &r, until_ms, err);

    if (rc == STET_OK && (r.status == 404 || r.status == 410))
        return STET_NOT_FOUND;
    if (rc == STET_OK && r.status != 200)
        return stet_fail(err, STET_IO, "GET answers %ld", r.status);
    return rc;
}

bool stet_agent_web_has(const struct stet_tier *t, void *session, const struct stet_tier_name *of,
                        uint64_t until_ms)
{
    struct stet_web_request r = {.method = "HEAD", .of = of};

    return stet_agent_web_send(t, session, &r, until_ms, NULL) == STET_OK && r.status == 200;
}

/* Many hosts find an entry, but only one needs to send it, so this asks first. Several ranks write
 * a message at the same moment, so there the server decides. A server that has no conditions
 * ignores them, or refuses them with 501. */
enum stet_rc stet_agent_web_put(const struct stet_tier *t, void *session,
                                const struct stet_tier_name *of, struct stet_view bytes,
                                const char *lease, bool anew, uint64_t until_ms,
                                struct stet_err *err)
{
    const struct stet_web *own = t->own;
    bool only_new = !anew && !*of->slot, message = of->what == STET_TIER_MESSAGE;
    struct stet_web_request r = {.method = "PUT",
                                 .of = of,
                                 .body = bytes,
                                 .if_version =
                                     message || (only_new && own->generations) ? "" : NULL};
    enum stet_rc rc;

    (void)lease;
    if (only_new && stet_agent_web_has(t, session, of, until_ms))
        return STET_NOT_FOUND; /* nothing to do */
    rc = stet_agent_web_send(t, session, &r, until_ms, err);
    if (rc == STET_OK && r.if_version && (r.status == 412 || r.status == 409))
        return STET_NOT_FOUND; /* another host was faster */
    if (rc == STET_OK && message && r.status == 501) {
        r.if_version = NULL;
        rc = stet_agent_web_send(t, session, &r, until_ms, err);
    }
    if (rc == STET_OK && (r.status < 200 || r.status > 299))
        return stet_fail(err, STET_IO, "PUT answers %ld", r.status);
    return rc;
}
