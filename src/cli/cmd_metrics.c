/* stet metrics: prints the metrics of a run for Prometheus. */
#include "cli/command.h"

#include "base/fs.h"
#include "monitor/metrics.h"
#include "monitor/pulse_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct stet_usage usage = {
    "stet metrics [options] [RUN|PID]",
    "Prints the counts of a run (the newest that runs, else the latest) in Prometheus' text "
    "format.\n"
    "With --file it replaces a file atomically, for the textfile collector of node_exporter;\n"
    "with --interval it does so repeatedly until the run ends. A run in progress can also be\n"
    "scraped: `stet run --metrics-port=PORT`.",
    "metrics",
};

enum form { TEXT, OPENMETRICS, JSON, FORMS };

static bool form_of(const char *name, enum form *out)
{
    static const char *const names[] = {"text", "openmetrics", "json"};

    for (int i = 0; i < FORMS; i++) {
        if (!strcmp(name, names[i])) {
            *out = (enum form)i;
            return true;
        }
    }
    return false;
}

static void render(struct stet_buf *out, const struct stet_monitor_attach *a, enum form form)
{
    const struct stet_metrics_run run = {a->run.host, a->run.stet_version, a->running};
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    if (form == JSON)
        stet_pulse_json(out, a, (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec, NULL);
    else
        stet_monitor_metrics_write(
            out, a->pulse, &run, form == TEXT ? STET_METRICS_PROMETHEUS : STET_METRICS_OPENMETRICS);
}

static int write_file(const char *path, struct stet_buf *out)
{
    struct stet_err err = STET_ERR_INIT;
    enum stet_rc rc = out->failed ? stet_fail(&err, STET_NO_MEMORY, "out of memory")
                                  : stet_fs_write_shared(path, stet_buf_as_view(out), &err);

    stet_buf_release(out);
    return rc == STET_OK ? STET_EXIT_FINE : stet_cli_complain(&err);
}

static int give_out(struct stet_monitor_attach *a, const char *file, enum form form,
                    double interval)
{
    int code = STET_EXIT_FINE;
    bool more = true;

    while (code == STET_EXIT_FINE && more) {
        struct stet_buf out = STET_BUF_INIT;

        more = stet_monitor_attach_poll(a) && interval > 0;
        render(&out, a, form);
        code = file ? write_file(file, &out) : stet_cli_print(&out, STET_EXIT_FINE);
        if (more) {
            struct timespec pause = {(time_t)interval,
                                     (long)((interval - (double)(time_t)interval) * 1e9)};

            nanosleep(&pause, NULL);
        }
    }
    return code;
}

int cmd_metrics(int argc, char **argv)
{
    const char *file = NULL, *every = NULL, *format = "text";
    const struct stet_option options[] = {
        {"file", "FILE", "write there instead of to standard output", STET_OPTION_VALUE, &file},
        {"interval", "SECONDS", "with --file: write again at this interval until the run ends",
         STET_OPTION_VALUE, &every},
        {"format", "text|openmetrics|json", "how to print (default text, Prometheus' own)",
         STET_OPTION_VALUE, &format},
        {0},
    };
    struct stet_err err = STET_ERR_INIT;
    struct stet_monitor_attach a;
    struct stet_args args;
    char *end = NULL;
    enum form form;
    double interval = 0;
    int done = stet_cli_args_parse(&args, argc, argv, &usage, options, false);

    if (done >= 0)
        return done;
    if (args.count > 1)
        return stet_cli_usage_error(&usage, "one run at a time");
    if (!form_of(format, &form))
        return stet_cli_usage_error(&usage, "--format is text, openmetrics or json");
    if (every) {
        interval = strtod(every, &end);
        if (!file || *end || !(interval >= 0.1 && interval <= 86400))
            return stet_cli_usage_error(&usage, "--interval is seconds, 0.1 or more, with --file");
    }
    if (stet_monitor_attach_open(&a, args.count ? args.values[0] : NULL, &err) != STET_OK)
        return stet_cli_complain(&err);
    done = give_out(&a, file, form, interval);
    stet_monitor_attach_close(&a);
    return done;
}
