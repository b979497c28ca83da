/* See frameworks_text.h. */
#include "cli/frameworks_text.h"

#include "base/human.h"
#include "base/path.h"

#include <inttypes.h>

/* ---- counters ---- */

enum { MOST_LINES = 3 };

static const struct stet_counter *sum_of(const struct stet_counter *counters, size_t count,
                                         const char *name, struct stet_counter *sum)
{
    *sum = (struct stet_counter){0};
    for (size_t i = 0; i < count; i++)
        if (stet_view_is(counters[i].name, name)) {
            sum->samples += counters[i].samples;
            sum->total += counters[i].total;
        }
    return sum;
}

static uint64_t samples_of(const struct stet_counter *counters, size_t count, const char *name)
{
    struct stet_counter sum;

    return sum_of(counters, count, name, &sum)->samples;
}

static void at(struct stet_buf *out, const struct stet_line *l)
{
    if (l->line)
        stet_buf_printf(out, " (%.*s:%" PRIu64 ")", STET_FMT(stet_path_base(l->file)), l->line);
}

static void fallbacks(struct stet_buf *out, const char *indent, const struct stet_counter *counters,
                      size_t count)
{
    size_t said = 0;

    for (size_t i = 0; i < count; i++) {
        const struct stet_counter *c = &counters[i];

        if (!stet_view_starts(c->name, "aten::") || stet_session_counters_is_readback(c->name))
            continue;
        if (!said)
            stet_buf_printf(out,
                            "%sPyTorch/XLA ran operations without a lowering on the CPU: ", indent);
        stet_buf_printf(out, "%s%.*s %" PRIu64 "×", said++ ? ", " : "", STET_FMT(c->name),
                        c->samples);
        at(out, &c->at);
    }
    if (said)
        stet_buf_char(out, '\n');
}

/* Compiles of a backend that the layer does not see, with the lines that asked for most of them. */
static void unseen(struct stet_buf *out, const char *indent, const struct stet_counter *counters,
                   size_t count)
{
    struct stet_counter sum = {0};
    size_t said = 0;

    for (size_t i = 0; i < count; i++)
        if (stet_view_starts(counters[i].name, STET_COUNTER_UNSEEN)) {
            sum.samples += counters[i].samples;
            sum.total += counters[i].total;
        }
    if (!sum.samples)
        return;
    stet_buf_printf(out, "%sJAX compiled %" PRIu64 " program%s in ", indent, sum.samples,
                    sum.samples == 1 ? "" : "s");
    stet_text_duration(out, sum.total);
    stet_buf_str(out, " on a backend that Stet does not see, such as XLA:CPU in a host callback");
    for (size_t i = 0; i < count; i++) {
        if (!stet_view_starts(counters[i].name, STET_COUNTER_UNSEEN) || !counters[i].at.line ||
            said++ >= MOST_LINES)
            continue;
        stet_buf_printf(out, "%s%" PRIu64 "×", said == 1 ? ": " : ", ", counters[i].samples);
        at(out, &counters[i].at);
    }
    stet_buf_char(out, '\n');
}

static void readbacks(struct stet_buf *out, const char *indent, const struct stet_counter *counters,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!stet_session_counters_is_readback(counters[i].name))
            continue;
        stet_buf_printf(out, "%sPyTorch/XLA read a value back %" PRIu64 "×", indent,
                        counters[i].samples);
        at(out, &counters[i].at);
        stet_buf_char(out, '\n');
    }
}

static bool has_counters_of(const char *framework, const struct stet_counter *counters,
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (stet_view_is(counters[i].framework, framework))
            return true;
    return false;
}

static void say_torch_xla(struct stet_buf *out, const char *indent,
                          const struct stet_counter *counters, size_t count)
{
    struct stet_counter time;

    stet_buf_printf(out, "%sPyTorch/XLA counted ", indent);
    stet_text_count(out,
                    samples_of(counters, count, "UncachedCompile") +
                        samples_of(counters, count, "CompileCacheMiss"),
                    "compile");
    if (sum_of(counters, count, "CompileTime", &time)->total) {
        stet_buf_str(out, " (");
        stet_text_duration(out, time.total);
        stet_buf_char(out, ')');
    }
    stet_buf_printf(out, " and %" PRIu64 " found in its cache; ",
                    samples_of(counters, count, "CachedCompile"));
    stet_text_count(out, samples_of(counters, count, "TransferToDeviceTime"), "transfer");
    stet_buf_printf(out, " to the device, %" PRIu64 " from it\n",
                    samples_of(counters, count, "TransferFromDeviceTime"));
    readbacks(out, indent, counters, count);
}

void stet_cli_counters_phases(struct stet_buf *out, const char *indent,
                              const struct stet_counter *counters, size_t count)
{
    struct stet_counter traces, lowerings, alone;

    if (!has_counters_of("jax", counters, count))
        return;
    sum_of(counters, count, "Trace", &traces);
    sum_of(counters, count, "Lowering", &lowerings);
    sum_of(counters, count, "TraceWithoutCompile", &alone);
    stet_buf_printf(out, "%sJAX traced %" PRIu64 "× in ", indent, traces.samples);
    stet_text_duration(out, traces.total);
    stet_buf_printf(out, " and lowered %" PRIu64 "× in ", lowerings.samples);
    stet_text_duration(out, lowerings.total);
    if (alone.samples) {
        stet_buf_printf(out, "; %" PRIu64 " more trace%s led to no compile here, ", alone.samples,
                        alone.samples == 1 ? "" : "s");
        stet_text_duration(out, alone.total);
    }
    stet_buf_char(out, '\n');
}

void stet_cli_counters_text(struct stet_buf *out, const char *indent, bool brief,
                            const struct stet_counter *counters, size_t count)
{
    if (!brief && has_counters_of("torch_xla", counters, count))
        say_torch_xla(out, indent, counters, count);
    fallbacks(out, indent, counters, count);
    unseen(out, indent, counters, count);
}

/* ---- logs ---- */

enum { MOST_SAID = 8 };

static bool same_miss(const struct stet_log_miss *a, const struct stet_log_miss *b)
{
    return a->line == b->line && stet_view_eq(a->file, b->file) &&
           stet_view_eq(a->function, b->function) && a->first == b->first;
}

static void say_misses(struct stet_buf *out, const char *indent, const struct stet_framework_log *l)
{
    size_t said = 0, hidden = 0;

    for (size_t i = 0; i < l->miss_count; i++) {
        const struct stet_log_miss *m = &l->misses[i];
        size_t before = 0, times = 0;

        for (size_t k = 0; k < l->miss_count && (k < i || said < MOST_SAID); k++) {
            before += k < i && same_miss(m, &l->misses[k]);
            times += same_miss(m, &l->misses[k]);
        }
        if (before || m->first)
            continue;
        if (said++ >= MOST_SAID) {
            hidden++;
            continue;
        }
        stet_buf_printf(out, "%s  missed its traces of %.*s at %.*s:%" PRIu64 " %zu×: %.*s\n",
                        indent, STET_FMT(m->function), STET_FMT(stet_path_base(m->file)), m->line,
                        times, STET_FMT(m->why));
    }
    if (hidden)
        stet_buf_printf(out, "%s  %zu more (--format=json)\n", indent, hidden);
}

static void say_functions(struct stet_buf *out, const char *indent,
                          const struct stet_framework_log *l)
{
    struct stet_log_function sum = {0};
    const struct stet_log_function *most = NULL;

    for (size_t i = 0; i < l->function_count; i++) {
        const struct stet_log_function *f = &l->functions[i];

        sum.traces += f->traces;
        sum.trace_ns += f->trace_ns;
        sum.lowerings += f->lowerings;
        sum.lower_ns += f->lower_ns;
        if (!most || f->trace_ns + f->lower_ns > most->trace_ns + most->lower_ns)
            most = f;
    }
    stet_buf_printf(out, "%sJAX traced %" PRIu64 "× in ", indent, sum.traces);
    stet_text_duration(out, sum.trace_ns);
    stet_buf_printf(out, " and lowered %" PRIu64 "× in ", sum.lowerings);
    stet_text_duration(out, sum.lower_ns);
    if (most) {
        stet_buf_printf(out, ", most of it %.*s (", STET_FMT(most->name));
        stet_text_duration(out, most->trace_ns + most->lower_ns);
        stet_buf_char(out, ')');
    }
    stet_buf_char(out, '\n');
}

static void say_graphs(struct stet_buf *out, const char *indent, const struct stet_framework_log *l)
{
    for (size_t i = 0; i < l->graph_count && i < MOST_SAID; i++) {
        const struct stet_log_graph *g = &l->graphs[i];

        stet_buf_printf(out, "%sPyTorch/XLA compiled %" PRIu64 "× and executed %" PRIu64 "×",
                        indent, g->compilations, g->executions);
        if (g->line)
            stet_buf_printf(out, " at %.*s:%" PRIu64, STET_FMT(stet_path_base(g->file)), g->line);
        stet_buf_printf(out, ": %.*s\n", STET_FMT(g->cause));
    }
}

void stet_cli_log_text(struct stet_buf *out, const char *indent, const struct stet_framework_log *l)
{
    if (l->function_count)
        say_functions(out, indent, l);
    say_misses(out, indent, l);
    say_graphs(out, indent, l);
}
