/* GET, HEAD, PUT and DELETE of one file per key over HTTP: what web servers, S3 and Google Cloud
 * Storage have in common. A kind of tier fills a struct stet_web when it is configured, puts it
 * into tier->own, and has STET_WEB_FUNCTIONS in its table. Leases are files too (web_lease.c). */
#ifndef STET_AGENT_WEB_H
#define STET_AGENT_WEB_H

#include "agent/tier.h"

struct stet_gs_token;

enum stet_web_layout { STET_WEB_FOLDERS, STET_WEB_BAZEL };

/* Texts are "" or NULL for none, and live as long as the tier. */
struct stet_web {
    char base[600]; /* address without a closing slash */
    enum stet_web_layout layout;
    const char *user, *password, *bearer;
    const char *sigv4;           /* what libcurl needs to sign requests; NULL for none */
    const char *hash_header;     /* with sigv4: the header that has the hash of the body */
    const char *session_token;   /* S3 */
    bool generations;            /* conditions of writes are on generations, as in gs */
    struct stet_gs_token *token; /* where bearer tokens come from; NULL for none */
};

/* A variable of the environment, or `otherwise` if it is unset or empty. */
const char *stet_agent_web_env(const char *name, const char *otherwise);
/* For an address that snprintf wrote to w->base with the result `n`. */
enum stet_rc stet_agent_web_base(const struct stet_tier *t, struct stet_web *w, int n,
                                 struct stet_err *err);
/* Sets w->base to the tier's bucket at this endpoint. */
enum stet_rc stet_agent_web_bucket(const struct stet_tier *t, struct stet_web *w,
                                   const char *endpoint, struct stet_err *err);

enum { STET_WEB_VERSION = 128 };

/* One request and its answer. */
struct stet_web_request {
    const char *method;
    const struct stet_tier_name *of;
    struct stet_view body;
    /* The write is made only if the file has this version; "" if it must not exist, NULL for no
     * condition. */
    const char *if_version;
    struct stet_buf *out; /* the body of a 200; NULL: it is discarded */
    long status;
    char version[STET_WEB_VERSION]; /* its generation or ETag, as the server writes it; or "" */
};

enum stet_rc stet_agent_web_send(const struct stet_tier *t, void *session,
                                 struct stet_web_request *r, uint64_t until_ms,
                                 struct stet_err *err);
/* Is it there? False also if the server does not answer. */
bool stet_agent_web_has(const struct stet_tier *t, void *session, const struct stet_tier_name *of,
                        uint64_t until_ms);

/* The functions of a stet_tier_kind. */
#define STET_WEB_FUNCTIONS                                                                         \
    .open = stet_agent_web_open, .close = stet_agent_web_close, .get = stet_agent_web_get,         \
    .put = stet_agent_web_put, .leases_stay = true, .watch_ms = 2000,                              \
    .lease = stet_agent_web_lease, .renew = stet_agent_web_renew,                                  \
    .give_up = stet_agent_web_give_up, .watch = stet_agent_web_watch
enum stet_rc stet_agent_web_open(const struct stet_tier *t, void **session, uint64_t until_ms,
                                 struct stet_err *err);
void stet_agent_web_close(void *session);
enum stet_rc stet_agent_web_get(const struct stet_tier *t, void *session,
                                const struct stet_tier_name *of, struct stet_buf *out,
                                uint64_t until_ms, struct stet_err *err);
enum stet_rc stet_agent_web_put(const struct stet_tier *t, void *session,
                                const struct stet_tier_name *of, struct stet_view bytes,
                                const char *lease, bool anew, uint64_t until_ms,
                                struct stet_err *err);
enum stet_rc stet_agent_web_lease(const struct stet_tier *t, void *session, struct stet_hash key,
                                  const char *lease, const char *dead, uint64_t until_ms,
                                  struct stet_err *err);
enum stet_rc stet_agent_web_renew(const struct stet_tier *t, void *session, struct stet_hash key,
                                  const char *lease, uint64_t until_ms, struct stet_err *err);
enum stet_rc stet_agent_web_give_up(const struct stet_tier *t, void *session, struct stet_hash key,
                                    const char *lease, bool nothing, uint64_t until_ms,
                                    struct stet_err *err);
enum stet_rc stet_agent_web_watch(const struct stet_tier *t, void *session, struct stet_hash key,
                                  struct stet_lease_view *out, uint64_t until_ms,
                                  struct stet_err *err);

#endif
