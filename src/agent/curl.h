/* libcurl, opened at run time, so that `stet` without tiers need not load it. */
#ifndef STET_AGENT_CURL_H
#define STET_AGENT_CURL_H

#include "base/err.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo

struct stet_curl {
#define CURL(name) __typeof__(name) *name;
#include "agent/curl.def"
#undef CURL
};

/* NULL, with the reason, if this machine has no libcurl. From any thread. */
const struct stet_curl *stet_curl(struct stet_err *err);

/* The settings of every handle: deadlines, no signals, no redirects, certificates from the
 * environment (STET_TLS_CA, STET_TLS_CERT, STET_TLS_KEY). */
void stet_curl_common(const struct stet_curl *c, CURL *h, uint32_t connect_ms, uint64_t until_ms);

#endif
