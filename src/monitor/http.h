/* A small HTTP server for one page, on its own thread. `stet run --metrics-port` serves its metrics
 * with it. Whatever a client does costs at most a few connections and a few kilobytes, and no other
 * thread waits for a client. stet_monitor_http_stop ends the thread and frees the server. */
#ifndef STET_MONITOR_HTTP_H
#define STET_MONITOR_HTTP_H

#include "base/buf.h"
#include "base/err.h"

struct stet_http;

/* One page in several forms. The server sends the last form whose `accept` is in the request's
 * Accept header, otherwise the first. */
struct stet_http_form {
    const char *accept, *type; /* literals */
};

enum { STET_HTTP_FORMS = 2 };

/* Limits of a connection, and how long it may take from accept to its last byte. */
enum { STET_HTTP_CLIENTS = 16, STET_HTTP_REQUEST = 8192, STET_HTTP_MS = 5000 };

/* Listens at `where`: PORT (on 127.0.0.1), HOST:PORT or [HOST]:PORT, with numeric hosts; port 0
 * takes a free one. The page, at first `texts`, is at /metrics; / has a link to it. A request is
 * rejected with 421 unless its Host is an address, localhost, the machine's name or one of `names`
 * (joined by commas, borrowed, may be NULL). */
enum stet_rc stet_monitor_http_start(struct stet_http **out, const char *where, const char *names,
                                     const struct stet_http_form forms[STET_HTTP_FORMS],
                                     const struct stet_view texts[STET_HTTP_FORMS],
                                     struct stet_err *err);
/* Returns the address, "127.0.0.1:9464". */
const char *stet_monitor_http_address(const struct stet_http *h);
/* Replaces the page, one text per form. The texts are copied. */
void stet_monitor_http_publish(struct stet_http *h, const struct stet_view texts[STET_HTTP_FORMS]);
/* Stops the server within a moment, whether or not clients are connected. Accepts NULL. */
void stet_monitor_http_stop(struct stet_http *h);

#endif
