/* See account_frameworks.h. */
#include "session/frameworks.h"

#include "cli/run_text.h"

#include <inttypes.h>

static struct stet_view base_of(struct stet_view path)
{
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    size_t n = slash ? (size_t)(slash + 1 - path.ptr) : 0;

    return stet_view_of(path.ptr + n, path.len - n);
}

/* ---- where an operation without a lowering stands ---- */

/* A statement that reads a value back; every `.item()` is one. */
static bool is_readback(struct stet_view name)
{
    return stet_view_is(name, "aten::_local_scalar_dense");
}

static bool names_it(struct stet_view statement, struct stet_view counter)
{
    static const char *const families[] = {"linalg_", "fft_", "special_"};
    struct stet_view op = stet_view_of(counter.ptr + 6, counter.len - 6);

    if (is_readback(counter))
        return stet_py_reads_back(statement);
    while (op.len && *op.ptr == '_')
        op = stet_view_of(op.ptr + 1, op.len - 1);
    while (op.len && op.ptr[op.len - 1] == '_')
        op.len--;
    if (stet_py_mentions(statement, op))
        return true;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (stet_view_starts(op, families[i])) {
            size_t n = strlen(families[i]);

            return stet_py_mentions(statement, stet_view_of(op.ptr + n, op.len - n));
        }
    return false;
}

static void place_one(struct stet_history *h, struct stet_counter *c)
{
    for (uint32_t i = 0; i < h->sighting_count; i++) {
        const struct stet_sighting *s = &h->sightings[i];
        const struct stet_pyfile *file;

        if (s->past || s->process != c->process || !s->trigger.line ||
            s->traits->framework != STET_FRAMEWORK_TORCH_XLA)
            continue;
        file = stet_pysource_open(&h->sources, s->trigger.file);
        if (!file || !names_it(stet_py_statement(file, s->trigger.line), c->name))
            continue;
        c->at = (struct stet_line){s->trigger.file, s->trigger.function, s->trigger.line};
        return;
    }
}

void stet_session_counters_place(struct stet_history *h, struct stet_counter *counters,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (stet_view_starts(counters[i].name, "aten::"))
            place_one(h, &counters[i]);
}

/* ---- counters, told ---- */

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
        stet_buf_printf(out, " (%.*s:%" PRIu64 ")", STET_FMT(base_of(l->file)), l->line);
}

static void fallbacks(struct stet_buf *out, const char *indent, const struct stet_counter *counters,
                      size_t count)
{
    size_t said = 0;

    for (size_t i = 0; i < count; i++) {
        const struct stet_counter *c = &counters[i];

        if (!stet_view_starts(c->name, "aten::") || is_readback(c->name))
            continue;
        if (!said)
            stet_buf_printf(out,
                            "%sPyTorch/XLA ran on the CPU what it has no lowering for: ", indent);
        stet_buf_printf(out, "%s%.*s %" PRIu64 "×", said++ ? ", " : "", STET_FMT(c->name),
                        c->samples);
        at(out, &c->at);
    }
    if (said)
        stet_buf_char(out, '\n');
}

static void readbacks(struct stet_buf *out, const char *indent, const struct stet_counter *counters,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_readback(counters[i].name))
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

void stet_counters_phases(struct stet_buf *out, const char *indent,
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
        stet_buf_printf(out, "; %" PRIu64 " more trace%s led to no compile, ", alone.samples,
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
}

void stet_session_counters_json(struct stet_json *j, const struct stet_counter *counters,
                                size_t count)
{
    if (!count)
        return;
    stet_json_array(j, "counters");
    for (size_t i = 0; i < count; i++) {
        const struct stet_counter *c = &counters[i];

        stet_json_object(j, NULL);
        stet_json_string(j, "framework", c->framework);
        stet_json_uint(j, "process", c->process);
        stet_json_string(j, "name", c->name);
        stet_json_uint(j, "samples", c->samples);
        if (c->total)
            stet_json_uint(j, "total", c->total);
        if (c->at.line) {
            stet_json_string(j, "file", c->at.file);
            stet_json_uint(j, "line", c->at.line);
        }
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

/* ---- logs, told ---- */

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
                        indent, STET_FMT(m->function), STET_FMT(base_of(m->file)), m->line, times,
                        STET_FMT(m->why));
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
            stet_buf_printf(out, " at %.*s:%" PRIu64, STET_FMT(base_of(g->file)), g->line);
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

static void json_place(struct stet_json *j, struct stet_view file, uint64_t line,
                       struct stet_view caller)
{
    if (!line)
        return;
    stet_json_string(j, "file", file);
    stet_json_uint(j, "line", line);
    stet_json_string(j, "caller", caller);
}

static void json_functions(struct stet_json *j, const struct stet_framework_log *l)
{
    stet_json_array(j, "functions");
    for (size_t i = 0; i < l->function_count; i++) {
        const struct stet_log_function *f = &l->functions[i];

        stet_json_object(j, NULL);
        stet_json_string(j, "function", f->name);
        stet_json_uint(j, "traces", f->traces);
        stet_json_number(j, "trace_s", (double)f->trace_ns / 1e9);
        stet_json_uint(j, "lowerings", f->lowerings);
        stet_json_number(j, "lower_s", (double)f->lower_ns / 1e9);
        stet_json_uint(j, "compiles", f->compiles);
        stet_json_number(j, "compile_s", (double)f->compile_ns / 1e9);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

void stet_session_log_json(struct stet_json *j, const struct stet_framework_log *l)
{
    if (!l->function_count && !l->miss_count && !l->graph_count)
        return;
    stet_json_object(j, "tracing");
    json_functions(j, l);
    stet_json_array(j, "misses");
    for (size_t i = 0; i < l->miss_count; i++) {
        stet_json_object(j, NULL);
        stet_json_string(j, "function", l->misses[i].function);
        json_place(j, l->misses[i].file, l->misses[i].line, l->misses[i].caller);
        stet_json_string(j, "why", l->misses[i].why);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_array(j, "graphs");
    for (size_t i = 0; i < l->graph_count; i++) {
        stet_json_object(j, NULL);
        stet_json_string(j, "cause", l->graphs[i].cause);
        json_place(j, l->graphs[i].file, l->graphs[i].line, l->graphs[i].caller);
        stet_json_uint(j, "compilations", l->graphs[i].compilations);
        stet_json_uint(j, "executions", l->graphs[i].executions);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_end_object(j);
}

struct stet_view stet_session_log_why(const struct stet_framework_log *l,
                                      const struct stet_recompile *r)
{
    for (size_t i = 0; i < l->miss_count; i++) {
        const struct stet_log_miss *m = &l->misses[i];

        if (!m->first && m->line == r->trigger.line && stet_view_eq(m->function, r->function) &&
            stet_view_eq(base_of(m->file), base_of(r->trigger.file)))
            return m->why;
    }
    return (struct stet_view){0};
}
