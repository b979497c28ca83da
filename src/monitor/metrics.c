/* Writes the metrics of metrics.def as text. */
#include "monitor/metrics.h"

#include "base/clock.h"
#include "base/mem.h"
#include "session/avoided.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum type { COUNTER, GAUGE };
enum kind { COUNT, NANOSECONDS };
enum { RANKS = 2 * STET_PULSE_PROCESSES, FAMILIES_SHOWN = 20, LINES_SHOWN = 50 };

struct rank {
    int64_t rank;
    struct stet_pulse_sum sum;
};

struct writer {
    struct stet_buf *out;
    const struct stet_pulse *pulse;
    const struct stet_metrics_run *run;
    enum stet_metrics_format format;
    const char *name; /* of the current metric */
    enum type type;
    struct rank *ranks;
    size_t rank_count;
    struct stet_avoided avoided;
};

struct label {
    const char *name;
    struct stet_view value;
};

/* ---- lines ---- */

/* OpenMetrics names the family of a counter without _total and escapes quotes in its help. */
static void begin(struct writer *w, const char *name, enum type type, const char *help)
{
    const char *suffix = type == COUNTER && w->format == STET_METRICS_PROMETHEUS ? "_total" : "";

    w->name = name;
    w->type = type;
    stet_buf_printf(w->out, "# HELP %s%s ", name, suffix);
    for (; *help; help++) {
        if (*help == '\\' || *help == '\n')
            stet_buf_str(w->out, *help == '\n' ? "\\n" : "\\\\");
        else if (*help == '"' && w->format == STET_METRICS_OPENMETRICS)
            stet_buf_str(w->out, "\\\"");
        else
            stet_buf_char(w->out, *help);
    }
    stet_buf_printf(w->out, "\n# TYPE %s%s %s\n", name, suffix,
                    type == COUNTER ? "counter" : "gauge");
}

static void label_value(struct stet_buf *out, struct stet_view v)
{
    for (size_t i = 0; i < v.len;) {
        size_t n = stet_utf8_length(v.ptr + i, v.len - i);

        if (n == 0)
            stet_buf_str(out, "\xef\xbf\xbd");
        else if (v.ptr[i] == '"' || v.ptr[i] == '\\')
            stet_buf_printf(out, "\\%c", v.ptr[i]);
        else if (v.ptr[i] == '\n')
            stet_buf_str(out, "\\n");
        else
            stet_buf_add(out, v.ptr + i, n);
        i += n ? n : 1;
    }
}

/* Writes name{run="…",labels…} and a blank. */
static void sample(struct writer *w, const struct label *labels, size_t count)
{
    stet_buf_printf(w->out, "%s%s{run=\"", w->name, w->type == COUNTER ? "_total" : "");
    label_value(w->out, stet_view_str(w->pulse->run));
    stet_buf_char(w->out, '"');
    for (size_t i = 0; i < count; i++) {
        if (!labels[i].name)
            continue;
        stet_buf_printf(w->out, ",%s=\"", labels[i].name);
        label_value(w->out, labels[i].value);
        stet_buf_char(w->out, '"');
    }
    stet_buf_str(w->out, "} ");
}

static void value(struct writer *w, enum kind kind, uint64_t v)
{
    if (kind == COUNT)
        stet_buf_printf(w->out, "%" PRIu64 "\n", v);
    else
        stet_buf_printf(w->out, "%" PRIu64 ".%09" PRIu64 "\n", v / 1000000000, v % 1000000000);
}

static void plain(struct writer *w, enum kind kind, uint64_t v)
{
    sample(w, NULL, 0);
    value(w, kind, v);
}

struct rank_text {
    char text[24];
};

static struct stet_view rank_text(struct rank_text *t, int64_t rank)
{
    if (rank < 0)
        return STET_VIEW("none");
    snprintf(t->text, sizeof t->text, "%" PRId64, rank);
    return stet_view_str(t->text);
}

static void of_rank(struct writer *w, int64_t rank, enum stet_lane lane, struct label more,
                    enum kind kind, uint64_t v)
{
    struct rank_text text;
    struct label labels[] = {
        {"rank", rank_text(&text, rank)},
        {"lane", stet_view_str(stet_journal_lane_word(lane))},
        more,
    };

    sample(w, labels, 3);
    value(w, kind, v);
}

/* A rank has samples in the lanes in which it has processes. */
static void series(struct writer *w, enum stet_lane lane, const char *label, const char *label_text,
                   enum kind kind, size_t field)
{
    for (size_t i = 0; i < w->rank_count; i++) {
        const struct stet_pulse_sum *s = &w->ranks[i].sum;
        uint64_t v;

        if (!(lane == STET_LANE_XLA ? s->processes : s->torch_processes))
            continue;
        memcpy(&v, (const char *)s + field, sizeof v);
        of_rank(w, w->ranks[i].rank, lane, (struct label){label, stet_view_str(label_text)}, kind,
                v);
    }
}

/* ---- metrics that are not sums over ranks ---- */

static void write_run_info(struct writer *w)
{
    struct label labels[] = {
        {"host", stet_view_str(w->run->host)},
        {"stet_version", stet_view_str(w->run->stet_version)},
    };

    sample(w, labels, 2);
    value(w, COUNT, 1);
}

static void write_start_time(struct writer *w)
{
    plain(w, NANOSECONDS, w->pulse->started_ns);
}

static void write_running(struct writer *w)
{
    plain(w, COUNT, w->run->running);
}

enum cell_value { CELL_COUNT, CELL_WAIT, CELL_COST };

static void write_cells(struct writer *w, enum cell_value of)
{
    for (size_t i = 0; i < w->pulse->cell_count; i++) {
        const struct stet_pulse_cell *c = &w->pulse->cells[i];

        if (of == CELL_COUNT ? !c->count : !c->count && !c->wait_ns)
            continue;
        of_rank(
            w, c->rank, c->lane,
            (struct label){"cause", stet_view_str(c->other ? "other" : stet_cause_id(c->cause))},
            of == CELL_COUNT ? COUNT : NANOSECONDS,
            of == CELL_COUNT  ? c->count
            : of == CELL_WAIT ? c->wait_ns
                              : c->cost_ns);
    }
}

static void write_recompiles(struct writer *w)
{
    write_cells(w, CELL_COUNT);
}

static void write_recompile_seconds(struct writer *w)
{
    write_cells(w, CELL_WAIT);
}

static void write_recompile_compiler_seconds(struct writer *w)
{
    write_cells(w, CELL_COST);
}

static void write_steps(struct writer *w)
{
    for (size_t i = 0; i < w->rank_count; i++)
        if (w->ranks[i].sum.steps_known)
            of_rank(w, w->ranks[i].rank, STET_LANE_XLA, (struct label){0}, COUNT,
                    w->ranks[i].sum.steps_shown);
}

/* The process is a label too, because ranks alone do not distinguish devices. */
static void write_devices(struct writer *w, size_t field)
{
    for (size_t i = 0; i < w->pulse->device_count; i++) {
        const struct stet_pulse_device *d = &w->pulse->devices[i];
        const struct stet_pulse_process *q = &w->pulse->processes[d->process];
        struct stet_view platform = stet_pulse_platform(w->pulse, d);
        char device[96], pid[24];
        struct rank_text text;
        struct label labels[] = {
            {"rank", rank_text(&text, q->rank)},
            {"pid", {0}},
            {"device", {0}},
        };
        uint64_t v;

        snprintf(pid, sizeof pid, "%" PRIu64, q->pid);
        snprintf(device, sizeof device, "%.*s:%" PRIu64,
                 (int)(platform.len < 64 ? platform.len : 64), platform.ptr, d->device);
        labels[1].value = stet_view_str(pid);
        labels[2].value = stet_view_str(device);
        memcpy(&v, (const char *)d + field, sizeof v);
        if (!stet_pulse_runs(q) && w->run->running)
            continue; /* its memory is free again */
        sample(w, labels, 3);
        value(w, COUNT, v);
    }
}

static void write_memory(struct writer *w)
{
    write_devices(w, offsetof(struct stet_pulse_device, in_use));
}

static void write_memory_peak(struct writer *w)
{
    write_devices(w, offsetof(struct stet_pulse_device, peak));
}

static void write_memory_limit(struct writer *w)
{
    write_devices(w, offsetof(struct stet_pulse_device, limit));
}

static void write_families(struct writer *w)
{
    plain(w, COUNT, w->pulse->family_count);
}

static void write_programs(struct writer *w)
{
    plain(w, COUNT, w->pulse->programs);
}

struct named {
    const char *name;
    uint64_t programs;
};

static int largest_first(const void *a, const void *b)
{
    const struct named *x = a, *y = b;

    if (x->programs != y->programs)
        return x->programs < y->programs ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Families of one function are one sample, because the label is the function's name. */
static void write_family_programs(struct writer *w)
{
    struct named *names = stet_mem_calloc(w->pulse->family_count + 1, sizeof *names);
    uint64_t other = 0;
    size_t n = 0;

    for (size_t i = 0; names && i < w->pulse->family_count; i++) {
        const struct stet_pulse_family *f = &w->pulse->families[i];
        size_t at = 0;

        while (at < n && strcmp(names[at].name, f->name) != 0)
            at++;
        names[at].name = f->name;
        names[at].programs += f->programs;
        n += at == n;
    }
    if (n)
        qsort(names, n, sizeof *names, largest_first);
    for (size_t i = 0; i < n; i++) {
        struct label family = {"family", stet_view_str(names[i].name)};

        if (i >= FAMILIES_SHOWN) {
            other += names[i].programs;
            continue;
        }
        sample(w, &family, 1);
        value(w, COUNT, names[i].programs);
    }
    if (n > FAMILIES_SHOWN) {
        struct label rest = {"family", STET_VIEW("other")};

        sample(w, &rest, 1);
        value(w, COUNT, other);
    }
    stet_mem_free(names);
}

/* ---- compiles that did not happen ---- */

enum avoided_value { AVOIDED_COMPILES, AVOIDED_INSTEAD, AVOIDED_TOOK };

static void avoided_sample(struct writer *w, struct stet_view line, enum stet_served by,
                           const struct stet_avoided_sum *s, enum avoided_value of)
{
    struct label labels[] = {{"line", line}, {"by", stet_view_str(stet_journal_served_word(by))}};

    if (!(of == AVOIDED_COMPILES ? s->compiles : s->known))
        return;
    sample(w, labels, 2);
    value(w, of == AVOIDED_COMPILES ? COUNT : NANOSECONDS,
          of == AVOIDED_COMPILES  ? s->compiles
          : of == AVOIDED_INSTEAD ? s->instead_ns
                                  : s->took_ns);
}

/* The lines that came first keep their samples: a counter must not go back. */
static void write_avoided(struct writer *w, enum avoided_value of)
{
    struct stet_avoided_sum rest[STET_SERVED_COUNT] = {0};
    struct stet_buf line = STET_BUF_INIT;

    for (size_t i = 0; i < w->avoided.line_count; i++) {
        const struct stet_avoided_line *l = &w->avoided.lines[i];

        line.len = 0;
        if (l->at.line)
            stet_buf_printf(&line, "%.*s:%" PRIu64, STET_FMT(l->at.file), l->at.line);
        for (int k = STET_SERVED_COMPILED + 1; k < STET_SERVED_COUNT; k++) {
            if (i < LINES_SHOWN)
                avoided_sample(w, line.len ? stet_buf_as_view(&line) : STET_VIEW("unknown"),
                               (enum stet_served)k, &l->by[k], of);
            else
                stet_avoided_add(&rest[k], &l->by[k]);
        }
    }
    for (int k = STET_SERVED_COMPILED + 1; k < STET_SERVED_COUNT; k++)
        avoided_sample(w, STET_VIEW("other"), (enum stet_served)k, &rest[k], of);
    stet_buf_release(&line);
}

static void write_avoided_compiles(struct writer *w)
{
    write_avoided(w, AVOIDED_COMPILES);
}

static void write_avoided_seconds(struct writer *w)
{
    write_avoided(w, AVOIDED_INSTEAD);
}

static void write_serving_seconds(struct writer *w)
{
    write_avoided(w, AVOIDED_TOOK);
}

static void write_damage(struct writer *w)
{
    plain(w, COUNT, w->pulse->damage.bytes);
}

static void write_explaining(struct writer *w)
{
    plain(w, COUNT, w->pulse->explains);
}

/* ---- all of it ---- */

static void add_rank(struct writer *w, int64_t rank, uint64_t now_ns)
{
    for (size_t i = 0; i < w->rank_count; i++)
        if (w->ranks[i].rank == rank)
            return;
    w->ranks[w->rank_count++] = (struct rank){rank, stet_pulse_add_up(w->pulse, rank, now_ns)};
}

static int by_rank(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void gather_ranks(struct writer *w)
{
    uint64_t now_ns = stet_clock_wall_ns();

    for (size_t i = 0; i < w->pulse->process_count; i++)
        if (w->pulse->processes[i].used)
            add_rank(w, w->pulse->processes[i].rank, now_ns);
    for (size_t i = 0; i < w->pulse->torch_count; i++)
        add_rank(w, w->pulse->torch[i].rank, now_ns);
    qsort(w->ranks, w->rank_count, sizeof *w->ranks, by_rank);
}

void stet_monitor_metrics_write(struct stet_buf *out, const struct stet_pulse *p,
                                const struct stet_metrics_run *run, enum stet_metrics_format format)
{
    struct writer w = {.out = out, .pulse = p, .run = run, .format = format};

    w.ranks = stet_mem_calloc(RANKS, sizeof *w.ranks);
    if (!w.ranks) {
        out->failed = true;
        return;
    }
    gather_ranks(&w);
    if (p->digest)
        stet_avoided_make(&w.avoided, p->digest);
#define METRIC(name, type, about) begin(&w, name, type, about);
#define SERIES(lane, label, text, kind, field)                                                     \
    series(&w, STET_LANE_##lane, label, text, kind, offsetof(struct stet_pulse_sum, field));
#define OTHERS(function) write_##function(&w);
#include "monitor/metrics.def"
#undef METRIC
#undef SERIES
#undef OTHERS
    if (format == STET_METRICS_OPENMETRICS)
        stet_buf_str(out, "# EOF\n");
    stet_avoided_release(&w.avoided);
    stet_mem_free(w.ranks);
}

const char *stet_monitor_metrics_type(enum stet_metrics_format format)
{
    return format == STET_METRICS_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}
