/* HTTP: GET, HEAD and PUT of one file per key, for WebDAV servers, bazel-remote and S3. None of
 * these has leases: with them alone, single flight ends at the host. */
#include "agent/curl.h"
#include "agent/tier.h"
#include "base/mem.h"
#include "wire/client.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

enum layout { LAYOUT_FOLDERS, LAYOUT_BAZEL };

struct own {
    char base[600]; /* address without a closing slash */
    enum layout layout;
    const char *user, *password, *bearer; /* "" for none */
    const char *sigv4;                    /* what libcurl wants to sign for S3; NULL for none */
    const char *session_token;            /* S3, "" for none */
};

struct session {
    const struct stet_curl *curl;
    CURL *h;
};

static const char *env(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value && *value ? value : otherwise;
}

static enum stet_rc set_base(const struct stet_tier *t, struct own *own, int n,
                             struct stet_err *err)
{
    size_t end = n < 0 ? 0 : (size_t)n;

    if (n < 0 || end >= sizeof own->base)
        return stet_fail(err, STET_LIMIT, "%.*s: address too long", STET_FMT(t->shown));
    while (end && own->base[end - 1] == '/')
        own->base[--end] = '\0';
    return STET_OK;
}

static enum stet_rc configure(struct stet_tier *t, struct stet_err *err)
{
    struct own *own = STET_NEW(t->arena, struct own);
    const struct stet_url *u = &t->url;
    const char *layout = stet_url_get(u, "layout", t->arena);

    if (!own)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a tier");
    t->own = own;
    own->user = *u->user ? u->user : env("STET_HTTP_USER", "");
    own->password = *u->password ? u->password : env("STET_HTTP_PASSWORD", "");
    own->bearer = env("STET_HTTP_TOKEN", "");
    own->session_token = "";
    if (layout && !strcmp(layout, "bazel"))
        own->layout = LAYOUT_BAZEL;
    else if (layout && strcmp(layout, "folders") != 0)
        return stet_fail(err, STET_USAGE, "layout=%s: there are folders and bazel", layout);
    return set_base(t, own,
                    snprintf(own->base, sizeof own->base, "%s://%s%s%s%s", u->scheme, u->host,
                             *u->port ? ":" : "", u->port, u->path),
                    err);
}

/* s3://bucket/prefix?region=…&endpoint=…; keys and a session token from the variables that every S3
 * program uses. */
static enum stet_rc configure_s3(struct stet_tier *t, struct stet_err *err)
{
    struct own *own = STET_NEW(t->arena, struct own);
    const struct stet_url *u = &t->url;
    const char *region = stet_url_get(u, "region", t->arena);
    const char *endpoint = stet_url_get(u, "endpoint", t->arena);

    if (!own)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a tier");
    t->own = own;
    region = region ? region : env("AWS_REGION", env("AWS_DEFAULT_REGION", "us-east-1"));
    endpoint = endpoint ? endpoint : env("AWS_ENDPOINT_URL_S3", env("AWS_ENDPOINT_URL", NULL));
    own->user = env("AWS_ACCESS_KEY_ID", "");
    own->password = env("AWS_SECRET_ACCESS_KEY", "");
    own->session_token = env("AWS_SESSION_TOKEN", "");
    own->bearer = "";
    if (*own->user)
        own->sigv4 = stet_arena_printf(t->arena, "aws:amz:%s:s3", region).ptr;
    if (!*u->host)
        return stet_fail(err, STET_USAGE, "s3://: the bucket's name is missing");
    if (endpoint)
        return set_base(t, own,
                        snprintf(own->base, sizeof own->base, "%s%s%s%s", endpoint,
                                 endpoint[0] && endpoint[strlen(endpoint) - 1] == '/' ? "" : "/",
                                 u->host, u->path),
                        err);
    return set_base(t, own,
                    snprintf(own->base, sizeof own->base, "https://%s.s3.%s.amazonaws.com%s",
                             u->host, region, u->path),
                    err);
}

static void close_session(void *session)
{
    struct session *s = session;

    if (!s)
        return;
    if (s->h)
        s->curl->curl_easy_cleanup(s->h);
    stet_mem_free(s);
}

/* libcurl keeps the connection in the handle; the first request opens it. */
static enum stet_rc open_session(const struct stet_tier *t, void **session, uint64_t until_ms,
                                 struct stet_err *err)
{
    const struct stet_curl *curl = stet_curl(err);
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
    close_session(s);
    *session = NULL;
    return curl ? stet_fail(err, STET_NO_MEMORY, "out of memory") : STET_UNSUPPORTED;
}

/* One request in progress. */
struct request {
    struct session *s;
    struct stet_buf *out; /* NULL: the answer is discarded */
    struct curl_slist *headers;
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

/* What S3 requires beside the signature, and libcurl 7.88 signs but does not send itself: the hash
 * of the body. */
static enum stet_rc sign(struct request *r, const struct own *own, struct stet_view body,
                         struct stet_err *err)
{
    const struct stet_curl *c = r->s->curl;
    unsigned char sum[crypto_hash_sha256_BYTES];
    char text[2 * sizeof sum + 1];

    if (c->curl_easy_setopt(r->s->h, CURLOPT_AWS_SIGV4, own->sigv4) != CURLE_OK)
        return stet_fail(err, STET_UNSUPPORTED, "this libcurl can't sign for S3 (7.75 and newer)");
    crypto_hash_sha256(sum, (const unsigned char *)(body.len ? body.ptr : ""), body.len);
    sodium_bin2hex(text, sizeof text, sum, sizeof sum);
    add_header(r, "x-amz-content-sha256", text);
    if (*own->session_token)
        add_header(r, "X-Amz-Security-Token", own->session_token);
    return STET_OK;
}

static enum stet_rc begin(struct request *r, const struct stet_tier *t, struct session *s,
                          const struct stet_tier_name *of, struct stet_view body, uint64_t until_ms,
                          struct stet_err *err)
{
    const struct own *own = t->own;
    const struct stet_curl *c = s->curl;
    char name[STET_HASH_TEXT], address[800];

    *r = (struct request){.s = s};
    stet_hash_format(of->key, name);
    if (own->layout == LAYOUT_BAZEL) /* names there have 64 digits */
        snprintf(address, sizeof address, "%s/ac/%s%s", own->base, name,
                 *of->slot ? of->slot : name);
    else
        snprintf(address, sizeof address, "%s/%.2s/%s%s%s.stet", own->base, name, name,
                 *of->slot ? "." : "", of->slot);
    c->curl_easy_reset(s->h);
    stet_curl_common(c, s->h, t->connect_ms, until_ms);
    if (c->curl_easy_setopt(s->h, CURLOPT_URL, address) != CURLE_OK)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    c->curl_easy_setopt(s->h, CURLOPT_WRITEFUNCTION, take);
    c->curl_easy_setopt(s->h, CURLOPT_WRITEDATA, r);
    c->curl_easy_setopt(s->h, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)STET_TIER_MAX);
    c->curl_easy_setopt(s->h, CURLOPT_EXPECT_100_TIMEOUT_MS, 50L);
    if (own->sigv4 && sign(r, own, body, err) != STET_OK)
        return STET_UNSUPPORTED;
    if (*own->user) {
        c->curl_easy_setopt(s->h, CURLOPT_USERNAME, own->user);
        c->curl_easy_setopt(s->h, CURLOPT_PASSWORD, own->password);
        if (!own->sigv4)
            c->curl_easy_setopt(s->h, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    } else if (*own->bearer) {
        struct stet_buf text = STET_BUF_INIT;

        stet_buf_printf(&text, "Bearer %s", own->bearer);
        add_header(r, "Authorization", text.failed ? "" : text.ptr);
        stet_buf_release(&text);
    }
    return STET_OK;
}

/* The status of the answer. */
static enum stet_rc perform(struct request *r, long *status, struct stet_err *err)
{
    const struct stet_curl *c = r->s->curl;
    enum stet_rc rc = STET_OK;
    CURLcode code;

    c->curl_easy_setopt(r->s->h, CURLOPT_HTTPHEADER, r->headers);
    code = c->curl_easy_perform(r->s->h);
    *status = 0;
    c->curl_easy_getinfo(r->s->h, CURLINFO_RESPONSE_CODE, status);
    if (r->too_large || code == CURLE_FILESIZE_EXCEEDED)
        rc = stet_fail(err, STET_BAD_INPUT, "an answer without end");
    else if (code != CURLE_OK)
        rc = stet_fail(err, STET_IO, "%s", c->curl_easy_strerror(code));
    c->curl_easy_setopt(r->s->h, CURLOPT_HTTPHEADER, NULL);
    c->curl_slist_free_all(r->headers);
    r->headers = NULL;
    return rc;
}

static enum stet_rc get(const struct stet_tier *t, void *session, const struct stet_tier_name *of,
                        struct stet_buf *out, uint64_t until_ms, struct stet_err *err)
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

static enum stet_rc put(const struct stet_tier *t, void *session, const struct stet_tier_name *of,
                        struct stet_view bytes, const char *lease, bool anew, uint64_t until_ms,
                        struct stet_err *err)
{
    struct session *s = session;
    const struct stet_curl *c = s->curl;
    struct request r;
    long status = 0;
    enum stet_rc rc;

    (void)lease;
    if (!anew && !*of->slot && has(t, s, of, until_ms))
        return STET_NOT_FOUND; /* nothing to do */
    rc = begin(&r, t, s, of, bytes, until_ms, err);
    if (rc != STET_OK)
        return rc;
    add_header(&r, "Content-Type", "application/octet-stream");
    c->curl_easy_setopt(s->h, CURLOPT_POSTFIELDS, bytes.ptr);
    c->curl_easy_setopt(s->h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes.len);
    c->curl_easy_setopt(s->h, CURLOPT_CUSTOMREQUEST, "PUT");
    rc = perform(&r, &status, err);
    if (rc == STET_OK && (status < 200 || status > 299))
        return stet_fail(err, STET_IO, "PUT answers %ld", status);
    return rc;
}

const struct stet_tier_kind stet_tier_http = {
    .name = "http",
    .schemes = (const char *const[]){"http", "https", NULL},
    .configure = configure,
    .open = open_session,
    .close = close_session,
    .get = get,
    .put = put,
};

const struct stet_tier_kind stet_tier_s3 = {
    .name = "s3",
    .schemes = (const char *const[]){"s3", NULL},
    .configure = configure_s3,
    .open = open_session,
    .close = close_session,
    .get = get,
    .put = put,
};
