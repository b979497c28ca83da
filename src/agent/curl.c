/* See curl.h. */
#include "agent/curl.h"

#include "wire/client.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

enum { PROTOCOLS = 181, PROTOCOLS_STR = 10318 }; /* CURLOPT_… */
static const long HTTP_AND_HTTPS = 1 | 2;        /* CURLPROTO_… */

static struct stet_curl table;
static bool there;
static char why[200];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_it(void)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *library = NULL;

    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, sizeof why, "libcurl.so.4 is not installed");
        return;
    }
    there = true;
    /* a function pointer through a data pointer, as POSIX specifies for dlsym */
#define CURL(name)                                                                                 \
    *(void **)&table.name = dlsym(library, #name);                                                 \
    if (!table.name) {                                                                             \
        there = false;                                                                             \
        snprintf(why, sizeof why, "libcurl has no " #name);                                        \
    }
#include "agent/curl.def"
#undef CURL
    if (there && table.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        there = false;
        snprintf(why, sizeof why, "libcurl does not start");
    }
}

const struct stet_curl *stet_curl(struct stet_err *err)
{
    pthread_once(&once, open_it);
    if (there)
        return &table;
    stet_fail(err, STET_UNSUPPORTED, "%s", why);
    return NULL;
}

void stet_curl_common(const struct stet_curl *c, CURL *h, uint32_t connect_ms, uint64_t until_ms)
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
