/* See gs_token.h. */
#include "agent/gs_token.h"

#include "agent/curl.h"
#include "agent/gs_credentials.h"
#include "base/fs.h"
#include "base/mem.h"
#include "wire/client.h"

#include <pthread.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

/* A token is replaced this long before it expires, or after three quarters of a shorter life. The
 * metadata server has a new one from five minutes before. */
enum { MARGIN_MS = 225000, AGAIN_MS = 10000 };

struct stet_gs_token {
    const char *file, *host;
    uint32_t connect_ms;
    pthread_mutex_t lock; /* for the next; not held while a token is fetched */
    pthread_cond_t moved;
    bool fetching;
    uint64_t fresh_until_ms, expires_ms; /* 0: there is no token */
    char text[STET_GS_TOKEN_MAX];
};

struct stet_gs_token *stet_agent_token_new(struct stet_arena *a, const char *file, const char *host,
                                           uint32_t connect_ms)
{
    struct stet_gs_token *t = STET_NEW(a, struct stet_gs_token);
    pthread_condattr_t monotonic;

    if (!t)
        return NULL;
    t->file = file;
    t->host = host;
    t->connect_ms = connect_ms;
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&t->moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return t;
}

/* One request to a token server in progress. */
struct question {
    const struct stet_agent_curl *curl;
    CURL *h;
    struct stet_buf answer;
    bool from_metadata; /* the answer has the header that only a metadata server sends */
};

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct question *q = context;

    stet_buf_add(&q->answer, bytes, size * count);
    return q->answer.failed ? 0 : size * count;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
    static const char flavor[] = "metadata-flavor: google";
    struct question *q = context;
    size_t n = size * count;

    if (n >= sizeof flavor - 1 && !strncasecmp(bytes, flavor, sizeof flavor - 1))
        q->from_metadata = true;
    return n;
}

/* `body` is NULL for a GET. */
static enum stet_rc ask(struct question *q, const char *address, const char *header,
                        const struct stet_buf *body, long *status, struct stet_err *err)
{
    const struct stet_agent_curl *c = q->curl;
    struct curl_slist *headers = c->curl_slist_append(NULL, header);
    CURLcode code = CURLE_OUT_OF_MEMORY;

    if (headers && c->curl_easy_setopt(q->h, CURLOPT_URL, address) == CURLE_OK) {
        c->curl_easy_setopt(q->h, CURLOPT_HTTPHEADER, headers);
        c->curl_easy_setopt(q->h, CURLOPT_WRITEFUNCTION, take_body);
        c->curl_easy_setopt(q->h, CURLOPT_WRITEDATA, q);
        c->curl_easy_setopt(q->h, CURLOPT_HEADERFUNCTION, take_header);
        c->curl_easy_setopt(q->h, CURLOPT_HEADERDATA, q);
        if (body) {
            c->curl_easy_setopt(q->h, CURLOPT_POSTFIELDS, body->ptr);
            c->curl_easy_setopt(q->h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
        } else { /* the metadata server is next to this machine */
            c->curl_easy_setopt(q->h, CURLOPT_NOPROXY, "*");
        }
        code = c->curl_easy_perform(q->h);
        c->curl_easy_getinfo(q->h, CURLINFO_RESPONSE_CODE, status);
    }
    c->curl_slist_free_all(headers);
    return code == CURLE_OK ? STET_OK : stet_fail(err, STET_IO, "%s", c->curl_easy_strerror(code));
}

static enum stet_rc ask_metadata(struct question *q, const char *host, long *status,
                                 struct stet_err *err)
{
    char address[600];
    enum stet_rc rc;

    if (snprintf(address, sizeof address,
                 "http://%s/computeMetadata/v1/instance/service-accounts/default/token",
                 host) >= (int)sizeof address)
        return stet_fail(err, STET_USAGE, "GCE_METADATA_HOST is too long");
    rc = ask(q, address, "Metadata-Flavor: Google", NULL, status, err);
    if (rc == STET_OK && !q->from_metadata)
        rc = stet_fail(err, STET_IO, "%s is not a metadata server", host);
    return rc;
}

static enum stet_rc ask_with_file(struct question *q, const char *path, long *status,
                                  struct stet_err *err)
{
    struct stet_gs_credentials c = {0};
    struct stet_buf body = STET_BUF_INIT;
    struct stet_file file = {0};
    enum stet_rc rc = stet_file_open_small(&file, path, STET_GS_FILE_MAX, err);

    if (rc == STET_OK)
        rc = stet_agent_credentials_read(&c, file.bytes, path, err);
    if (rc == STET_OK)
        rc = stet_agent_credentials_request(&c, (int64_t)time(NULL), &body, err);
    if (rc == STET_OK)
        rc = ask(q, c.token_uri, "Content-Type: application/x-www-form-urlencoded", &body, status,
                 err);
    stet_agent_credentials_release(&c);
    stet_buf_release(&body);
    stet_file_close(&file);
    return rc == STET_NOT_FOUND ? STET_IO : rc;
}

static enum stet_rc fetch(const struct stet_gs_token *t, struct stet_gs_answer *answer,
                          uint64_t until_ms, struct stet_err *err)
{
    struct question q = {.curl = stet_agent_curl(err), .answer = {.cap = STET_GS_ANSWER_MAX}};
    struct stet_err why = STET_ERR_INIT;
    long status = 0;
    enum stet_rc rc;

    if (!q.curl)
        return STET_UNSUPPORTED;
    q.h = q.curl->curl_easy_init();
    if (!q.h)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    stet_agent_curl_common(q.curl, q.h, t->connect_ms, until_ms);
    rc = t->file ? ask_with_file(&q, t->file, &status, &why)
                 : ask_metadata(&q, t->host, &status, &why);
    if (rc == STET_OK && status == 200) {
        rc = stet_agent_credentials_answer(answer, stet_buf_as_view(&q.answer), &why);
    } else if (rc == STET_OK) {
        char code[40];

        stet_agent_credentials_error(stet_buf_as_view(&q.answer), code);
        rc = stet_fail(&why, STET_IO, "the server answers %ld %s", status, code);
    }
    q.curl->curl_easy_cleanup(q.h);
    stet_buf_release(&q.answer);
    return rc == STET_OK ? rc : stet_fail(err, rc, "no access token: %.200s", why.text);
}

/* With the lock. An answer that took long makes the token's life shorter, not longer. */
static void keep(struct stet_gs_token *t, const struct stet_gs_answer *answer, uint64_t asked_ms)
{
    uint64_t lives = (uint64_t)answer->lives_s * 1000;
    uint64_t margin = lives / 4 < MARGIN_MS ? lives / 4 : MARGIN_MS;

    memcpy(t->text, answer->token, sizeof t->text);
    t->expires_ms = asked_ms + lives;
    t->fresh_until_ms = t->expires_ms - margin;
}

/* Call it with the lock held; the lock is released during the request. If no new token can be had,
 * an old one that is still valid stays in use. */
static enum stet_rc replace(struct stet_gs_token *t, uint64_t until_ms, struct stet_err *err)
{
    struct stet_gs_answer *answer = stet_mem_calloc(1, sizeof *answer);
    uint64_t asked = stet_wire_now_ms(), now;
    struct stet_err why = STET_ERR_INIT;
    enum stet_rc rc;

    t->fetching = true;
    pthread_mutex_unlock(&t->lock);
    rc = answer ? fetch(t, answer, until_ms, &why)
                : stet_fail(&why, STET_NO_MEMORY, "out of memory");
    now = stet_wire_now_ms();
    pthread_mutex_lock(&t->lock);
    t->fetching = false;
    pthread_cond_broadcast(&t->moved);
    if (rc == STET_OK)
        keep(t, answer, asked);
    else if (now < t->expires_ms)
        t->fresh_until_ms = now + AGAIN_MS < t->expires_ms ? now + AGAIN_MS : t->expires_ms;
    else
        stet_fail(err, rc, "%s", why.text);
    stet_mem_free(answer);
    return now < t->expires_ms ? STET_OK : rc;
}

/* With the lock. Waits for the thread that fetches; false if that takes too long. */
static bool wait_for_other(struct stet_gs_token *t, uint64_t until_ms)
{
    struct timespec until = {(time_t)(until_ms / 1000), (long)(until_ms % 1000) * 1000000};
    int failed = 0;

    while (t->fetching && !failed)
        failed = pthread_cond_timedwait(&t->moved, &t->lock, &until);
    return !t->fetching;
}

enum stet_rc stet_agent_token_take(struct stet_gs_token *t, struct stet_buf *out, uint64_t until_ms,
                                   struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    pthread_mutex_lock(&t->lock);
    if (stet_wire_now_ms() >= t->expires_ms && t->fetching && !wait_for_other(t, until_ms))
        rc = stet_fail(err, STET_IO, "no access token: the server does not answer");
    else if (stet_wire_now_ms() >= t->fresh_until_ms && !t->fetching)
        rc = replace(t, until_ms, err);
    if (rc == STET_OK)
        stet_buf_str(out, t->text);
    pthread_mutex_unlock(&t->lock);
    return rc;
}

void stet_agent_token_drop(struct stet_gs_token *t, struct stet_view token)
{
    pthread_mutex_lock(&t->lock);
    if (stet_view_is(token, t->text))
        t->fresh_until_ms = t->expires_ms = 0;
    pthread_mutex_unlock(&t->lock);
}
