/* See frameworks.h. */
#include "session/frameworks.h"

#include "base/path.h"
#include "python/queries.h"

/* ---- the line of an operation without a lowering ---- */

bool stet_session_counters_is_readback(struct stet_view name)
{
    return stet_view_is(name, "aten::_local_scalar_dense");
}

/* Does the line that waits for a program use the operation named by a counter? */
static bool names_it(struct stet_history *h, const struct stet_place *line,
                     struct stet_view counter)
{
    static const char *const families[] = {"linalg_", "fft_", "special_"};
    struct stet_view op = stet_view_of(counter.ptr + 6, counter.len - 6);

    if (stet_session_counters_is_readback(counter))
        return stet_python_line_reads(&h->sources, line->file, line->line);
    while (op.len && *op.ptr == '_')
        op = stet_view_of(op.ptr + 1, op.len - 1);
    while (op.len && op.ptr[op.len - 1] == '_')
        op.len--;
    if (stet_python_line_names(&h->sources, line->file, line->line, op))
        return true;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        size_t n = strlen(families[i]);

        if (stet_view_starts(op, families[i]))
            return stet_python_line_names(&h->sources, line->file, line->line,
                                          stet_view_of(op.ptr + n, op.len - n));
    }
    return false;
}

static void place_one(struct stet_history *h, struct stet_counter *c)
{
    for (uint32_t i = 0; i < h->sighting_count; i++) {
        const struct stet_sighting *s = &h->sightings[i];

        if (s->past || s->process != c->process || !s->trigger.line ||
            s->traits->framework != STET_FRAMEWORK_TORCH_XLA)
            continue;
        if (!names_it(h, &s->trigger, c->name))
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
            stet_view_eq(stet_path_base(m->file), stet_path_base(r->trigger.file)))
            return m->why;
    }
    return (struct stet_view){0};
}
