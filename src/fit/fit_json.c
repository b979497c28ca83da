/* stet.fit/1: the verdict as JSON. Schemas only grow. */
#include "fit/fit.h"

#include "base/json.h"
#include "session/exhausted.h"

#include <sys/wait.h>

static const char *end_word(enum stet_warm_end e)
{
    static const char *const words[] = {
        [STET_WARM_END_KEPT] = "stored",         [STET_WARM_END_PRESENT] = "was stored",
        [STET_WARM_END_NOT_KEPT] = "not stored", [STET_WARM_END_NOT_CAPTURED] = "not captured",
        [STET_WARM_END_NO_PLUGIN] = "no plugin", [STET_WARM_END_FAILED] = "not compiled",
    };

    return words[e];
}

static void put_traffic(struct stet_json *j, const char *key,
                        const struct stet_footprint_traffic traffic[STET_COLLECTIVES])
{
    stet_json_array(j, key);
    for (int c = 0; c < STET_COLLECTIVES; c++) {
        if (!traffic[c].sites)
            continue;
        stet_json_object(j, NULL);
        stet_json_cstr(j, "kind", stet_footprint_collective_name((enum stet_collective)c));
        stet_json_uint(j, "sites", traffic[c].sites);
        stet_json_number(j, "times", traffic[c].times);
        stet_json_number(j, "bytes", traffic[c].payload);
        stet_json_number(j, "sent_bytes", traffic[c].wire);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void put_line(struct stet_json *j, const struct stet_fit_line *l)
{
    stet_json_object(j, NULL);
    stet_json_uint(j, "bytes", l->bytes);
    stet_json_uint(j, "buffers", l->count);
    stet_json_uint(j, "largest_bytes", l->largest);
    stet_json_string(j, "file", l->file);
    stet_json_uint(j, "line", l->line);
    stet_json_string(j, "function", l->function);
    stet_json_string(j, "operation", l->op_name);
    stet_json_string(j, "opcode", l->opcode);
    stet_json_string(j, "shape", l->shape);
    stet_json_known(j, "bytes_before", l->known_before, l->before);
    stet_json_told(j, "shape_before", l->known_before ? l->shape_before : (struct stet_view){0});
    stet_json_end_object(j);
}

static void put_memory(struct stet_json *j, const struct stet_fit_program *p)
{
    stet_json_object(j, "memory");
    stet_json_uint(j, "arguments", p->memory.arguments);
    stet_json_uint(j, "outputs", p->memory.outputs);
    stet_json_uint(j, "aliased", p->memory.aliased);
    stet_json_uint(j, "temporaries", p->memory.temporaries);
    stet_json_known(j, "code", p->measured, p->memory.code);
    stet_json_uint(j, "total", p->total);
    stet_json_cstr(j, "source",
                   p->measured             ? "executable"
                   : p->footprint.assigned ? "assignment"
                                           : "none");
    stet_json_end_object(j);
}

static void put_costs(struct stet_json *j, const struct stet_fit_program *p)
{
    stet_json_known(j, "fragments", p->fragments != 0, p->fragments);
    stet_json_number(j, "fragments_cpu_s", (double)p->fragments_ns / 1e9);
    stet_json_array(j, "lines");
    for (size_t i = 0; p->costs && i < p->cost_count && i < 50; i++) {
        const struct stet_fit_cost *c = &p->costs[i];

        stet_json_object(j, NULL);
        stet_json_number(j, "cpu_s", (double)c->ns / 1e9);
        stet_json_number(j, "alike_cpu_s", (double)c->alike_ns / 1e9);
        stet_json_uint(j, "instructions", c->instructions);
        stet_json_string(j, "file", c->file);
        stet_json_uint(j, "line", c->line);
        stet_json_string(j, "function", c->function);
        stet_json_string(j, "operation", c->op_name);
        stet_json_string(j, "opcode", c->opcode);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

/* What compiling took with parts left out. */
static void put_ablation(struct stet_json *j, const struct stet_fit_ablation *a)
{
    if (!a->whole_ns) {
        stet_json_null(j, "repeated");
        return;
    }
    stet_json_object(j, "repeated");
    stet_json_array(j, "blocks");
    for (size_t i = 0; i < a->block_count; i++) {
        stet_json_object(j, NULL);
        stet_json_uint(j, "copies", a->blocks[i].copies);
        stet_json_uint(j, "operations", a->blocks[i].operations);
        stet_json_string(j, "file", a->blocks[i].file);
        stet_json_uint(j, "line", a->blocks[i].line);
        stet_json_uint(j, "end_line", a->blocks[i].end_line);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_number(j, "whole_cpu_s", (double)a->whole_ns / 1e9);
    stet_json_number(j, "noise_cpu_s", (double)a->noise_ns / 1e9);
    if (a->unique_ns)
        stet_json_number(j, "without_copies_cpu_s", (double)a->unique_ns / 1e9);
    else
        stet_json_null(j, "without_copies_cpu_s");
    stet_json_end_object(j);
}

static void put_program(struct stet_json *j, const struct stet_fit_program *p)
{
    char hash[STET_HASH_TEXT], options[STET_HASH_TEXT];

    stet_hash_format(p->item->program, hash);
    stet_hash_format(p->item->options, options);
    stet_json_object(j, NULL);
    stet_json_cstr(j, "program", p->item->name);
    stet_json_cstr(j, "hash", hash);
    stet_json_cstr(j, "options", options);
    stet_json_uint(j, "order", p->item->place);
    stet_json_cstr(j, "verdict", stet_fit_verdict_word(p->verdict));
    stet_json_uint(j, "exceeds_bytes", p->exceeds);
    stet_json_told(j, "error", p->error.len ? p->error : (struct stet_view){0});
    stet_json_cstr(j, "why_unknown", p->why_unknown);
    stet_json_uint(j, "executions", p->executions);
    put_memory(j, p);
    stet_json_known(j, "beside_bytes", p->beside_known, p->beside);
    stet_json_known(j, "temporaries_peak", p->footprint.timed, p->footprint.peak);
    stet_json_array(j, "temporaries");
    for (size_t i = 0; i < p->line_count && i < 50; i++)
        put_line(j, &p->lines[i]);
    stet_json_end_array(j);
    stet_session_remedies_json(j, p->advice, p->advice_count);
    if (p->read) {
        stet_json_number(j, "flops", p->footprint.flops);
        stet_json_number(j, "memory_traffic_bytes", p->footprint.memory_bytes);
        stet_json_uint(j, "loops_of_unknown_length", p->footprint.open_loops);
        stet_json_uint(j, "kernels_not_counted", p->footprint.kernels);
    }
    put_traffic(j, "collectives", p->footprint.traffic);
    stet_json_object(j, "bound_s");
    stet_json_number(j, "compute", p->compute_s);
    stet_json_number(j, "memory", p->memory_s);
    stet_json_number(j, "links", p->link_s);
    stet_json_end_object(j);
    stet_json_object(j, "compile");
    stet_json_number(j, "wall_s", (double)p->wall_ns / 1e9);
    stet_json_number(j, "cpu_s", (double)p->cpu_ns / 1e9);
    stet_json_cstr(j, "store", end_word(p->end));
    put_costs(j, p);
    put_ablation(j, &p->ablation);
    stet_json_end_object(j);
    stet_json_end_object(j);
}

static void put_topology(struct stet_json *j, const struct stet_fit *fit)
{
    const struct stet_fit_topology *t = &fit->topology;

    stet_json_object(j, "topology");
    stet_json_cstr(j, "name", t->name);
    stet_json_cstr(j, "platform", t->platform);
    stet_json_cstr(j, "kind", t->kind);
    stet_json_cstr(j, "version", t->version);
    stet_json_cstr(j, "plugin", fit->plugin);
    stet_json_uint(j, "devices", t->count);
    stet_json_uint(j, "chips", t->chips);
    stet_json_known(j, "memory_bytes", fit->limit != 0, fit->limit);
    stet_json_end_object(j);
}

static void put_step(struct stet_json *j, const struct stet_fit *fit)
{
    if (!fit->step_known) {
        stet_json_null(j, "step");
        return;
    }
    stet_json_object(j, "step");
    stet_json_uint(j, "steps", fit->steps);
    stet_json_number(j, "flops", fit->step_flops);
    stet_json_number(j, "memory_traffic_bytes", fit->step_memory);
    stet_json_number(j, "sent_bytes", fit->step_wire);
    stet_json_number(j, "bound_s", fit->step_bound_s);
    put_traffic(j, "collectives", fit->step_traffic);
    stet_json_end_object(j);
}

static void put_readbacks(struct stet_json *j, const struct stet_fit *fit)
{
    if (!fit->zeros)
        return;
    stet_json_array(j, "read_as_zeros");
    for (size_t i = 0; i < fit->readbacks.count; i++) {
        const struct stet_readback *b = &fit->readbacks.items[i];

        stet_json_object(j, NULL);
        stet_json_string(j, "file", b->file);
        stet_json_uint(j, "line", b->line);
        stet_json_uint(j, "times", b->count);
        stet_json_known(j, "decides_line", b->decides != 0, b->decides);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}

static void put_contract(struct stet_json *j, const struct stet_fit *fit)
{
    if (!fit->contract_asked) {
        stet_json_null(j, "contract");
        return;
    }
    stet_json_object(j, "contract");
    stet_json_bool(j, "checked", fit->contract_checked);
    stet_json_bool(j, "kept", fit->contract_kept);
    stet_json_uint(j, "violations", fit->violations);
    stet_json_told(j, "first", fit->contract_says);
    stet_json_end_object(j);
}

static void put_since(struct stet_json *j, const struct stet_fit *fit)
{
    if (!fit->since.len) {
        stet_json_null(j, "since");
        return;
    }
    stet_json_object(j, "since");
    stet_json_string(j, "run", fit->since);
    stet_json_string(j, "command", fit->since_command);
    stet_json_uint(j, "peak_bytes", fit->since_peak);
    stet_json_end_object(j);
}

void stet_fit_json(struct stet_buf *out, const struct stet_fit *fit)
{
    const struct stet_run *run = fit->warm.ran.count ? &fit->warm.ran.runs.items[0] : NULL;
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.fit/1");
    stet_json_cstr(&j, "run", fit->id);
    stet_json_cstr(&j, "command", run ? run->command : "");
    put_topology(&j, fit);
    stet_json_bool(&j, "zeros", fit->zeros);
    stet_json_bool(&j, "quick", fit->quick);
    stet_json_bool(&j, "shardings_guessed", fit->guessed);
    stet_json_cstr(&j, "verdict", stet_fit_verdict_word(fit->verdict));
    stet_json_bool(&j, "fits", fit->verdict == STET_FIT_FITS && !fit->status);
    stet_json_known(&j, "exit_code", fit->ran && WIFEXITED(fit->status),
                    (uint64_t)WEXITSTATUS(fit->status));
    stet_json_known(&j, "signal", fit->ran && WIFSIGNALED(fit->status),
                    (uint64_t)WTERMSIG(fit->status));
    stet_json_uint(&j, "exceeds_bytes", fit->exceeds);
    stet_json_uint(&j, "peak_bytes", fit->peak_bytes);
    stet_json_cstr(&j, "peak_program", fit->peak ? fit->peak->item->name : NULL);
    stet_json_array(&j, "programs");
    for (size_t i = 0; i < fit->count; i++)
        put_program(&j, &fit->programs[i]);
    stet_json_end_array(&j);
    put_step(&j, fit);
    stet_json_object(&j, "compile");
    stet_json_number(&j, "cpu_s", (double)fit->compile_cpu_ns / 1e9);
    stet_json_number(&j, "wall_s", (double)fit->compile_wall_ns / 1e9);
    stet_json_end_object(&j);
    put_contract(&j, fit);
    put_readbacks(&j, fit);
    put_since(&j, fit);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}
