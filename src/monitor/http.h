/* A very small HTTP server for one page, on a thread of its own. Whatever a client does, it costs
 * no more than a few connections and a few kilobytes, and nobody else waits for it. */
#ifndef STET_MONITOR_HTTP_H
#define STET_MONITOR_HTTP_H

#include "base/buf.h"
#include "base/err.h"

struct stet_http;

/* One page in the forms that may be asked for: the last one whose `accept` is in the request's
 * Accept header, else the first. */
struct stet_http_form {
    const char *accept, *type; /* literals */
};

enum { STET_HTTP_FORMS = 2 };

/* Limits of a connection, and how long it may take from accept to its last byte. */
enum { STET_HTTP_CLIENTS = 16, STET_HTTP_REQUEST = 8192, STET_HTTP_MS = 5000 };

/* Listens at `where`: PORT (on 127.0.0.1), HOST:PORT or [HOST]:PORT, numeric hosts; port 0 takes a
 * free one. The page, `texts` at first, is found at /metrics, a pointer to it at /. Who asks for it
 * under another name than an address, localhost, the machine's or one of `names` (joined by commas,
 * borrowed, may be NULL) is sent away with 421. */
enum stet_rc stet_monitor_http_start(struct stet_http **out, const char *where, const char *names,
                                     const struct stet_http_form forms[STET_HTTP_FORMS],
                                     const struct stet_view texts[STET_HTTP_FORMS],
                                     struct stet_err *err);
/* "127.0.0.1:9464" */
const char *stet_monitor_http_address(const struct stet_http *h);
/* The page from now on, one text a form; copied. */
void stet_monitor_http_publish(struct stet_http *h, const struct stet_view texts[STET_HTTP_FORMS]);
/* Ends within a moment, whoever is connected. NULL is fine. */
void stet_monitor_http_stop(struct stet_http *h);

#endif
