/* See publish.h. */
#include "monitor/publish.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "monitor/http.h"
#include "monitor/metrics.h"
#include "stet_version.h"

#include <stdio.h>
#include <unistd.h>

enum { EVERY_MS = 1000 };

struct stet_monitor_publisher {
    struct stet_pulse *pulse;
    struct stet_http *http;
    const char *file; /* NULL when there is none, or it can't be written */
    char host[256];
    uint64_t next_ms;
    struct stet_buf pages[STET_HTTP_FORMS];
};

static void render(struct stet_monitor_publisher *m, struct stet_view texts[STET_HTTP_FORMS],
                   bool running)
{
    const struct stet_metrics_run run = {m->host, STET_VERSION, running};

    for (int i = 0; i < STET_HTTP_FORMS; i++) {
        m->pages[i].len = 0;
        m->pages[i].failed = false;
        stet_monitor_metrics_write(&m->pages[i], m->pulse, &run, (enum stet_metrics_format)i);
        texts[i] = m->pages[i].failed ? (struct stet_view){0} : stet_buf_as_view(&m->pages[i]);
    }
}

static enum stet_rc serve(struct stet_monitor_publisher *m,
                          const struct stet_monitor_publish_options *o, struct stet_err *err)
{
    const struct stet_http_form forms[STET_HTTP_FORMS] = {
        {NULL, stet_monitor_metrics_type(STET_METRICS_PROMETHEUS)},
        {"application/openmetrics-text", stet_monitor_metrics_type(STET_METRICS_OPENMETRICS)},
    };
    struct stet_err busy = STET_ERR_INIT;
    struct stet_view texts[STET_HTTP_FORMS];
    enum stet_rc rc;

    render(m, texts, true); /* so that the first scrape finds metrics */
    rc = stet_monitor_http_start(&m->http, o->port, o->names, forms, texts, &busy);
    if (rc == STET_USAGE)
        return stet_fail(err, rc, "--metrics-port: %s", busy.text);
    if (rc != STET_OK)
        stet_say("stet: no metrics are served: %s\n", busy.text);
    else if (!o->quiet)
        stet_say("stet: metrics at http://%s/metrics\n", stet_monitor_http_address(m->http));
    return STET_OK;
}

enum stet_rc stet_monitor_publish_start(struct stet_monitor_publisher **out,
                                        const struct stet_monitor_publish_options *options,
                                        struct stet_live_tap *tap, struct stet_err *err)
{
    struct stet_monitor_publisher *m = stet_mem_calloc(1, sizeof *m);
    enum stet_rc rc = STET_OK;

    *out = NULL;
    if (m)
        m->pulse = stet_pulse_new(options->run, options->started_ns);
    if (!m || !m->pulse) {
        stet_mem_free(m);
        stet_say("stet: no metrics are served: out of memory\n");
        return STET_OK;
    }
    m->file = options->file;
    gethostname(m->host, sizeof m->host - 1);
    *tap = stet_pulse_tap(m->pulse);
    if (options->port)
        rc = serve(m, options, err);
    if (rc == STET_OK)
        *out = m;
    else
        stet_monitor_publish_end(m);
    return rc;
}

const char *stet_monitor_publish_address(const struct stet_monitor_publisher *m)
{
    return m && m->http ? stet_monitor_http_address(m->http) : NULL;
}

static void write_file(struct stet_monitor_publisher *m)
{
    struct stet_err err = STET_ERR_INIT;

    if (m->file && !m->pages[0].failed &&
        stet_fs_write_shared(m->file, stet_buf_as_view(&m->pages[0]), &err) != STET_OK) {
        stet_say_err(&err);
        m->file = NULL;
    }
}

void stet_monitor_publish_poll(struct stet_monitor_publisher *m, struct stet_live *live,
                               struct stet_torch *torch, bool last)
{
    struct stet_view texts[STET_HTTP_FORMS];

    if (!m)
        return;
    stet_pulse_update(m->pulse, live, torch, last);
    if (!last && (uint64_t)stet_clock_ms() < m->next_ms)
        return;
    m->next_ms = (uint64_t)stet_clock_ms() + EVERY_MS;
    render(m, texts, !last);
    if (m->http)
        stet_monitor_http_publish(m->http, texts);
    write_file(m);
}

void stet_monitor_publish_end(struct stet_monitor_publisher *m)
{
    if (!m)
        return;
    stet_monitor_http_stop(m->http);
    for (int i = 0; i < STET_HTTP_FORMS; i++)
        stet_buf_release(&m->pages[i]);
    stet_pulse_free(m->pulse);
    stet_mem_free(m);
}
