/* Redis: entries are values, leases are keys that expire. hiredis writes and reads the protocol;
 * libcurl makes the connection, with TLS or without, because hiredis 0.14 has no TLS. */
#include "agent/curl.h"
#include "agent/redis.h"
#include "agent/tier.h"
#include "base/mem.h"
#include "wire/client.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

/* The largest Redis value. */
#define VALUE_MAX ((size_t)512 << 20)

struct own {
    const char *user, *password, *prefix, *database;
    char address[300]; /* what libcurl connects to */
    uint32_t ttl_ms;
};

struct session {
    const struct stet_agent_curl *curl;
    CURL *h;
    curl_socket_t socket;
    struct redisReader *reader;
};

/* An entry is written if there is none. A bad one (ARGV[4] is 'anew') may be replaced only by the
 * holder of the lease: a host that was suspended and lost its lease must not overwrite what another
 * wrote. A signer's own slot ('slot') is always written. */
static const char put_script[] =
    "if redis.call('exists',KEYS[1])==1 and ARGV[4]~='slot' and not (ARGV[4]=='anew' and "
    "ARGV[2]~='' and string.sub(redis.call('get',KEYS[2]) or '',1,32)==ARGV[2]) then return 0 end "
    "if ARGV[3]=='0' then redis.call('set',KEYS[1],ARGV[1]) "
    "else redis.call('set',KEYS[1],ARGV[1],'PX',ARGV[3]) end return 1";
/* A lease is identified by its first 32 digits; the rest changes with each renewal. */
static const char renew_script[] =
    "if string.sub(redis.call('get',KEYS[1]) or '',1,32)~=string.sub(ARGV[1],1,32) then return 0 "
    "end redis.call('set',KEYS[1],ARGV[1],'PX',ARGV[2]) return 1";
/* ARGV[2]: what to leave in its place for waiting hosts, or nothing. */
static const char give_up_script[] =
    "if string.sub(redis.call('get',KEYS[1]) or '',1,32)~=ARGV[1] then return 0 end "
    "if ARGV[2]=='' then redis.call('del',KEYS[1]) "
    "else redis.call('set',KEYS[1],ARGV[2],'PX',ARGV[3]) end return 1";
static const char watch_script[] = "return {redis.call('get',KEYS[2]),redis.call('exists',KEYS[1]),"
                                   "redis.call('pttl',KEYS[2])}";
static const char nothing_word[] = "nothing";

static enum stet_rc configure(struct stet_tier *t, struct stet_err *err)
{
    struct own *own = STET_NEW(t->arena, struct own);
    const char *user = getenv("STET_REDIS_USER"), *password = getenv("STET_REDIS_PASSWORD");
    const char *prefix = stet_agent_url_get(&t->url, "prefix", t->arena);
    bool tls = !strcmp(t->url.scheme, "rediss");
    int n;

    if (!own)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a tier");
    own->user = *t->url.user ? t->url.user : user ? user : "";
    own->password = *t->url.password ? t->url.password : password ? password : "";
    own->prefix = prefix ? prefix : "stet:1";
    own->database = t->url.path[0] ? t->url.path + 1 : "";
    n = snprintf(own->address, sizeof own->address, "%s://%s:%s", tls ? "https" : "http",
                 *t->url.host ? t->url.host : "localhost", *t->url.port ? t->url.port : "6379");
    t->own = own;
    if (n < 0 || (size_t)n >= sizeof own->address)
        return stet_fail(err, STET_LIMIT, "%.*s: address too long", STET_FMT(t->shown));
    stet_agent_redis_reader_free(stet_agent_redis_reader_new()); /* before there are threads */
    return stet_agent_url_ms(&t->url, "ttl", 0, t->arena, &own->ttl_ms, err);
}

static enum stet_rc failed(const char *what, struct stet_err *err)
{
    return stet_fail(err, STET_IO, "%s", what);
}

static enum stet_rc wait_for(struct session *s, short events, uint64_t until_ms,
                             struct stet_err *err)
{
    uint64_t now = stet_wire_now_ms();
    struct pollfd p = {.fd = s->socket, .events = events};
    int n = now < until_ms ? poll(&p, 1, (int)(until_ms - now)) : 0;

    if (n == 0 && stet_wire_now_ms() >= until_ms)
        return failed("no answer in time", err);
    return n < 0 && errno != EINTR ? failed("cannot wait", err) : STET_OK;
}

static enum stet_rc send_all(struct session *s, const char *bytes, size_t n, uint64_t until_ms,
                             struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    while (rc == STET_OK && n) {
        size_t sent = 0;
        CURLcode code = s->curl->curl_easy_send(s->h, bytes, n, &sent);

        if (code == CURLE_AGAIN)
            rc = wait_for(s, POLLOUT, until_ms, err);
        else if (code != CURLE_OK)
            rc = failed(s->curl->curl_easy_strerror(code), err);
        bytes += sent;
        n -= sent;
    }
    return rc;
}

static enum stet_rc receive(struct session *s, struct stet_redis_answer *out, uint64_t until_ms,
                            struct stet_err *err)
{
    static const size_t piece = (size_t)64 << 10;
    char *bytes = stet_mem_alloc(piece);
    enum stet_rc rc = bytes ? STET_NOT_FOUND : stet_fail(err, STET_NO_MEMORY, "out of memory");
    size_t total = 0;

    while (rc == STET_NOT_FOUND) {
        size_t n = 0;
        CURLcode code = s->curl->curl_easy_recv(s->h, bytes, piece, &n);

        if (code == CURLE_AGAIN) {
            rc = wait_for(s, POLLIN, until_ms, err);
            rc = rc == STET_OK ? STET_NOT_FOUND : rc;
            continue;
        }
        total += n;
        if (code != CURLE_OK || n == 0)
            rc = failed(
                code ? s->curl->curl_easy_strerror(code) : "the server closed the connection", err);
        else if (total > VALUE_MAX + 4096)
            rc = stet_fail(err, STET_BAD_INPUT, "redis: the answer does not end");
        else
            rc = stet_agent_redis_take(s->reader, stet_view_of(bytes, n), out, err);
    }
    stet_mem_free(bytes);
    return rc;
}

enum { WORDS = 10, ARGS = 4 };

/* Sends one command and reads its answer; errors are in the server's own text. */
static enum stet_rc ask_plainly(struct session *s, const struct stet_view words[WORDS],
                                size_t count, struct stet_redis_answer *out, uint64_t until_ms,
                                struct stet_err *err)
{
    const char *argv[WORDS];
    size_t lengths[WORDS];
    char *text = NULL;
    enum stet_rc rc;
    long long n;

    for (size_t i = 0; i < count; i++) {
        argv[i] = words[i].len ? words[i].ptr : "";
        lengths[i] = words[i].len;
    }
    n = redisFormatCommandArgv(&text, (int)count, argv, lengths);
    if (n < 0)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a command");
    rc = send_all(s, text, (size_t)n, until_ms, err);
    redisFreeCommand(text);
    return rc == STET_OK ? receive(s, out, until_ms, err) : rc;
}

static enum stet_rc ask(const struct stet_tier *t, struct session *s,
                        const struct stet_view words[WORDS], size_t count,
                        struct stet_redis_answer *out, uint64_t until_ms, struct stet_err *err)
{
    const struct own *own = t->own;
    const char *const secrets[] = {own->password, own->user, NULL};
    struct stet_err plain = STET_ERR_INIT;
    enum stet_rc rc = ask_plainly(s, words, count, out, until_ms, &plain);
    char text[160];

    if (rc != STET_OK && rc != STET_NOT_FOUND) {
        stet_agent_redis_clean(plain.text, secrets, text, sizeof text);
        stet_fail(err, rc, "%s", text);
    }
    return rc;
}

static void close_session(void *session)
{
    struct session *s = session;

    if (!s)
        return;
    if (s->h)
        s->curl->curl_easy_cleanup(s->h);
    stet_agent_redis_reader_free(s->reader);
    stet_mem_free(s);
}

/* AUTH and SELECT, if they are needed. */
static enum stet_rc greet(const struct stet_tier *t, struct session *s, uint64_t until_ms,
                          struct stet_err *err)
{
    const struct own *own = t->own;
    struct stet_buf text = {.cap = 4096};
    struct stet_redis_answer answer = {.text = &text};
    struct stet_view auth[WORDS] = {STET_VIEW("AUTH"), stet_view_str(own->user),
                                    stet_view_str(own->password)};
    struct stet_view select[WORDS] = {STET_VIEW("SELECT"), stet_view_str(own->database)};
    enum stet_rc rc = STET_OK;

    if (*own->password && !*own->user)
        auth[1] = auth[2];
    if (*own->password) {
        struct stet_err plain = STET_ERR_INIT;

        rc = ask_plainly(s, auth, *own->user ? 3 : 2, &answer, until_ms, &plain);
        if (rc == STET_IO && stet_view_starts(stet_view_str(plain.text), "redis: ") && err)
            stet_agent_redis_login_error(plain.text, err);
        else if (rc != STET_OK)
            stet_fail(err, rc, "no answer to AUTH");
    }
    if (rc == STET_OK && *own->database)
        rc = ask(t, s, select, 2, &answer, until_ms, err);
    stet_buf_release(&text);
    return rc;
}

static enum stet_rc open_session(const struct stet_tier *t, void **session, uint64_t until_ms,
                                 struct stet_err *err)
{
    const struct own *own = t->own;
    const struct stet_agent_curl *curl = stet_agent_curl(err);
    struct session *s = curl ? stet_mem_calloc(1, sizeof *s) : NULL;
    enum stet_rc rc;
    CURLcode code;

    *session = NULL;
    if (!s)
        return curl ? stet_fail(err, STET_NO_MEMORY, "out of memory") : STET_UNSUPPORTED;
    s->curl = curl;
    s->h = curl->curl_easy_init();
    s->reader = stet_agent_redis_reader_new();
    if (!s->h || !s->reader) {
        close_session(s);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    stet_agent_curl_common(curl, s->h, t->connect_ms, until_ms);
    curl->curl_easy_setopt(s->h, CURLOPT_URL, own->address);
    curl->curl_easy_setopt(s->h, CURLOPT_CONNECT_ONLY, 1L);
    curl->curl_easy_setopt(s->h, CURLOPT_SSL_ENABLE_ALPN, 0L); /* it is not HTTP that follows */
    curl->curl_easy_setopt(s->h, CURLOPT_PROXY, "");
    code = curl->curl_easy_perform(s->h);
    if (code == CURLE_OK)
        code = curl->curl_easy_getinfo(s->h, CURLINFO_ACTIVESOCKET, &s->socket);
    rc =
        code == CURLE_OK ? greet(t, s, until_ms, err) : failed(curl->curl_easy_strerror(code), err);
    if (rc != STET_OK) {
        close_session(s);
        return rc;
    }
    *session = s;
    return STET_OK;
}

/* Messages of a job are removed after a week, unless the address sets a shorter time. */
#define MESSAGE_TTL_MS UINT32_C(604800000)

/* <prefix>:entry:<key>[:<slot>] and <prefix>:lease:<key>; <prefix>:job:<key> for a message. */
struct names {
    char entry[300], lease[300];
};

static void name(const struct stet_tier *t, const struct stet_tier_name *of, struct names *n)
{
    const struct own *own = t->own;
    char text[STET_HASH_TEXT];

    stet_hash_format(of->key, text);
    snprintf(n->entry, sizeof n->entry, "%.200s:%s:%s%s%s", own->prefix,
             of->what == STET_TIER_MESSAGE ? "job" : "entry", text, *of->slot ? ":" : "", of->slot);
    snprintf(n->lease, sizeof n->lease, "%.200s:lease:%s", own->prefix, text);
}

static struct stet_view token_of(const char *lease)
{
    size_t n = strlen(lease);

    return stet_view_of(lease, n < STET_TOKEN ? n : STET_TOKEN);
}

static enum stet_rc get(const struct stet_tier *t, void *session, const struct stet_tier_name *of,
                        struct stet_buf *out, uint64_t until_ms, struct stet_err *err)
{
    struct stet_redis_answer answer = {.text = out};
    struct stet_view words[WORDS];
    struct names n;
    enum stet_rc rc;

    name(t, of, &n);
    words[0] = STET_VIEW("GET");
    words[1] = stet_view_str(n.entry);
    rc = ask(t, session, words, 2, &answer, until_ms, err);
    if (rc == STET_OK && answer.kind == STET_REDIS_NIL)
        return STET_NOT_FOUND;
    if (rc == STET_OK && answer.kind != STET_REDIS_TEXT)
        return stet_fail(err, STET_BAD_INPUT, "redis: the answer to GET is not a value");
    return rc;
}

/* Runs a script over the names of a key; returns its result. */
static enum stet_rc run(const struct stet_tier *t, struct session *s, const char *script,
                        const char *const keys[2], const struct stet_view args[ARGS],
                        struct stet_redis_answer *answer, uint64_t until_ms, struct stet_err *err)
{
    struct stet_view words[WORDS] = {STET_VIEW("EVAL"), stet_view_str(script),
                                     keys[1] ? STET_VIEW("2") : STET_VIEW("1")};
    size_t n = 3;

    for (size_t i = 0; i < 2 && keys[i]; i++)
        words[n++] = stet_view_str(keys[i]);
    for (size_t i = 0; i < ARGS && args[i].ptr; i++)
        words[n++] = args[i];
    return ask(t, s, words, n, answer, until_ms, err);
}

/* STET_OK for 1, STET_NOT_FOUND for 0. */
static enum stet_rc run_number(const struct stet_tier *t, struct session *s, const char *script,
                               const char *const keys[2], const struct stet_view args[ARGS],
                               uint64_t until_ms, struct stet_err *err)
{
    struct stet_buf text = {.cap = 4096};
    struct stet_redis_answer answer = {.text = &text};
    enum stet_rc rc = run(t, s, script, keys, args, &answer, until_ms, err);

    stet_buf_release(&text);
    if (rc == STET_OK && answer.kind != STET_REDIS_NUMBER)
        return stet_fail(err, STET_BAD_INPUT, "redis: the answer to a script is not a number");
    return rc == STET_OK && !answer.number ? STET_NOT_FOUND : rc;
}

static enum stet_rc put(const struct stet_tier *t, void *session, const struct stet_tier_name *of,
                        struct stet_view bytes, const char *lease, bool anew, uint64_t until_ms,
                        struct stet_err *err)
{
    uint32_t ms = ((const struct own *)t->own)->ttl_ms;
    char ttl[16];
    struct names n;

    if (bytes.len > VALUE_MAX)
        return stet_fail(err, STET_UNSUPPORTED, "%zu bytes are more than a Redis value holds",
                         bytes.len);
    name(t, of, &n);
    if (of->what == STET_TIER_MESSAGE && (!ms || ms > MESSAGE_TTL_MS))
        ms = MESSAGE_TTL_MS;
    snprintf(ttl, sizeof ttl, "%u", ms);
    return run_number(t, session, put_script, (const char *const[2]){n.entry, n.lease},
                      (const struct stet_view[ARGS]){bytes, token_of(lease), stet_view_str(ttl),
                                                     *of->slot ? STET_VIEW("slot")
                                                     : anew    ? STET_VIEW("anew")
                                                               : STET_VIEW("absent")},
                      until_ms, err);
}

/* Redis removes an expired lease by itself. */
static enum stet_rc lease(const struct stet_tier *t, void *session, struct stet_hash key,
                          const char *text, const char *dead, uint64_t until_ms,
                          struct stet_err *err)
{
    struct stet_buf said = {.cap = 4096};
    struct stet_redis_answer answer = {.text = &said};
    char ms[16];
    struct names n;
    enum stet_rc rc;

    (void)dead;
    name(t, &(struct stet_tier_name){.key = key}, &n);
    snprintf(ms, sizeof ms, "%u", t->lease_ms);
    rc = ask(t, session,
             (const struct stet_view[WORDS]){STET_VIEW("SET"), stet_view_str(n.lease),
                                             stet_view_str(text), STET_VIEW("NX"), STET_VIEW("PX"),
                                             stet_view_str(ms)},
             6, &answer, until_ms, err);
    stet_buf_release(&said);
    return rc == STET_OK && answer.kind == STET_REDIS_NIL ? STET_NOT_FOUND : rc;
}

static enum stet_rc renew(const struct stet_tier *t, void *session, struct stet_hash key,
                          const char *text, uint64_t until_ms, struct stet_err *err)
{
    char ms[16];
    struct names n;

    name(t, &(struct stet_tier_name){.key = key}, &n);
    snprintf(ms, sizeof ms, "%u", t->lease_ms);
    return run_number(t, session, renew_script, (const char *const[2]){n.lease},
                      (const struct stet_view[ARGS]){stet_view_str(text), stet_view_str(ms)},
                      until_ms, err);
}

static enum stet_rc give_up(const struct stet_tier *t, void *session, struct stet_hash key,
                            const char *text, bool nothing, uint64_t until_ms, struct stet_err *err)
{
    char ms[16];
    struct names n;

    name(t, &(struct stet_tier_name){.key = key}, &n);
    snprintf(ms, sizeof ms, "%u", t->lease_ms);
    return run_number(t, session, give_up_script, (const char *const[2]){n.lease},
                      (const struct stet_view[ARGS]){token_of(text),
                                                     stet_view_str(nothing ? nothing_word : ""),
                                                     stet_view_str(ms)},
                      until_ms, err);
}

static enum stet_rc watch(const struct stet_tier *t, void *session, struct stet_hash key,
                          struct stet_lease_view *out, uint64_t until_ms, struct stet_err *err)
{
    struct stet_buf text = {.cap = 4096};
    struct stet_redis_answer answer = {.text = &text};
    struct names n;
    enum stet_rc rc;

    name(t, &(struct stet_tier_name){.key = key}, &n);
    rc = run(t, session, watch_script, (const char *const[2]){n.entry, n.lease},
             (const struct stet_view[ARGS]){{0}}, &answer, until_ms, err);
    if (rc == STET_OK && answer.kind != STET_REDIS_TRIPLE)
        rc = stet_fail(err, STET_BAD_INPUT, "redis: the answer to a script is not three values");
    *out = (struct stet_lease_view){0};
    if (answer.number) {
        out->state = STET_LEASE_ENTRY;
    } else if (!text.len) {
        out->state = STET_LEASE_FREE;
    } else if (answer.second < 0 || answer.second > (int64_t)t->lease_ms) {
        out->state = STET_LEASE_VOID; /* it lost its expiry, or something else than a lease is
                                       * there */
    } else if (stet_view_is(stet_buf_as_view(&text), nothing_word)) {
        out->state = STET_LEASE_NONE;
    } else {
        out->state = STET_LEASE_HELD;
        snprintf(out->holder, sizeof out->holder, "%.*s", STET_FMT(stet_buf_as_view(&text)));
    }
    stet_buf_release(&text);
    return rc;
}

const struct stet_tier_kind stet_tier_redis = {
    .name = "redis",
    .schemes = (const char *const[]){"redis", "rediss", NULL},
    .configure = configure,
    .open = open_session,
    .close = close_session,
    .get = get,
    .put = put,
    .watch_ms = 200,
    .lease = lease,
    .renew = renew,
    .give_up = give_up,
    .watch = watch,
};
