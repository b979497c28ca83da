/* GET, HEAD and PUT of one file per key over HTTP: what web servers, S3 and Google Cloud Storage
 * have in common. A kind of tier fills a struct stet_web when it is configured, puts it into
 * tier->own, and uses these functions in its table. None of these servers has leases: with them
 * alone, single flight ends at the host. */
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
    const char *if_absent;       /* header, with its value 0, of a PUT that replaces nothing */
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

/* The functions of a stet_tier_kind. */
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

#endif
