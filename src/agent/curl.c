/* See curl.h. */
#include "agent/curl.h"

#include "agent/shared_library.h"
#include "wire/client.h"

#include <pthread.h>
#include <stdlib.h>

enum { PROTOCOLS = 181, PROTOCOLS_STR = 10318 }; /* CURLOPT_… */
static const long HTTP_AND_HTTPS = 1 | 2;        /* CURLPROTO_… */

static struct stet_agent_curl table;
static struct stet_agent_library library = {
    .name = "libcurl.so.4", .other = "libcurl-gnutls.so.4", .title = "curl"};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_it(void)
{
    if (!stet_agent_library_open(&library))
        return;
#define CURL(name) stet_agent_library_find(&library, #name, &table.name);
#include "agent/curl.def"
#undef CURL
    if (!library.why[0] && table.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        snprintf(library.why, sizeof library.why, "libcurl does not start");
}

const struct stet_agent_curl *stet_agent_curl(struct stet_err *err)
{
    pthread_once(&once, open_it);
    if (!library.why[0])
        return &table;
    stet_fail(err, STET_UNSUPPORTED, "%s", library.why);
    return NULL;
}

void stet_agent_curl_common(const struct stet_agent_curl *c, CURL *h, uint32_t connect_ms,
                            uint64_t until_ms)
{
    uint64_t now = stet_wire_now_ms();
    long left = until_ms > now ? (long)(until_ms - now) : 1;
    const char *ca = getenv("STET_TLS_CA"), *cert = getenv("STET_TLS_CERT");
    const char *key = getenv("STET_TLS_KEY");

    c->curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    c->curl_easy_setopt(h, CURLOPT_NOPROGRESS, 1L);
    c->curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
    /* by number: headers before 7.85 lack the first name, and later ones warn of the second */
    if (c->curl_easy_setopt(h, (CURLoption)PROTOCOLS_STR, "http,https") != CURLE_OK)
        c->curl_easy_setopt(h, (CURLoption)PROTOCOLS, HTTP_AND_HTTPS);
    c->curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, left);
    c->curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS,
                        (long)connect_ms < left ? (long)connect_ms : left);
    c->curl_easy_setopt(h, CURLOPT_TCP_NODELAY, 1L);
    if (ca && *ca)
        c->curl_easy_setopt(h, CURLOPT_CAINFO, ca);
    if (cert && *cert)
        c->curl_easy_setopt(h, CURLOPT_SSLCERT, cert);
    if (key && *key)
        c->curl_easy_setopt(h, CURLOPT_SSLKEY, key);
}
