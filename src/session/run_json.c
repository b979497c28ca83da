/* See run_json.h. */
#include "session/run_json.h"

#include "base/json.h"
#include "journal/values_record.h"
#include "journal/vocabulary.h"

/* How long the compile took, and what surrounds it. */
static void put_times(struct stet_json *j, const struct stet_compile_event *c)
{
    stet_json_number(j, "cost_s", (double)c->plugin_ns / 1e9);
    stet_json_number(j, "layer_s", (double)c->layer_ns / 1e9);
    stet_json_number(j, "wait_s", (double)stet_compile_event_wait(c) / 1e9);
    if (c->lower_ns) {
        stet_json_number(j, "trace_s", (double)c->trace_ns / 1e9);
        stet_json_number(j, "lower_s", (double)c->lower_ns / 1e9);
        stet_json_number(j, "between_s", (double)c->between_ns / 1e9);
        stet_json_number(j, "until_run_s", (double)c->until_run_ns / 1e9);
    }
}

/* What served it, and what the store and the agent answered. */
static void put_served(struct stet_json *j, const struct stet_compile_event *c)
{
    char hash[STET_HASH_TEXT];

    stet_json_cstr(j, "served", stet_journal_served_word(c->served));
    if (c->served) {
        stet_json_number(j, "served_s", (double)c->served_ns / 1e9);
        if (c->instead_ns)
            stet_json_number(j, "instead_of_s", (double)c->instead_ns / 1e9);
    }
    stet_json_string(j, "store", c->store);
    if (!stet_hash_is_zero(c->key)) {
        stet_hash_format(c->key, hash);
        stet_json_cstr(j, "key", hash);
    }
    if (c->tier.len)
        stet_json_string(j, "tier", c->tier);
    if (c->agent.len) {
        stet_json_string(j, "agent", c->agent);
        stet_json_number(j, "agent_s", (double)c->agent_ns / 1e9);
    }
}

static void compile_json(struct stet_json *j, const struct stet_compile_event *c)
{
    char hash[STET_HASH_TEXT];

    stet_json_object(j, NULL);
    stet_json_uint(j, "compile", c->index);
    stet_json_cstr(j, "kind", c->load ? "load" : "compile");
    stet_hash_format(c->program, hash);
    stet_json_cstr(j, "program", hash);
    stet_hash_format(c->options, hash);
    stet_json_cstr(j, "options", hash);
    stet_json_string(j, "format", c->format);
    stet_json_string(j, "name", c->name);
    stet_json_bool(j, "operation", stet_journal_values_function(c->values).library);
    stet_json_uint(j, "bytes", c->program_size);
    stet_json_bool(j, "ended", c->ended);
    put_times(j, c);
    put_served(j, c);
    stet_json_uint(j, "thread", c->thread);
    stet_json_uint(j, "executions", c->executions);
    stet_json_known(j, "step", c->step_known, c->step);
    stet_json_string(j, "fingerprint", c->fingerprint);
    if (c->has_memory)
        stet_json_uint(j, "temp_bytes", c->temp_bytes);
    if (c->error_code) {
        stet_json_uint(j, "error_code", c->error_code);
        stet_json_string(j, "error", c->error);
    }
    if (c->trigger.line) {
        stet_json_object(j, "trigger");
        stet_json_string(j, "file", c->trigger.file);
        stet_json_uint(j, "line", c->trigger.line);
        stet_json_string(j, "function", c->trigger.function);
        stet_json_end_object(j);
    } else {
        stet_json_null(j, "trigger");
        if (c->no_stack.len)
            stet_json_string(j, "no_trigger_because", c->no_stack);
    }
    stet_json_end_object(j);
}

static void process_json(struct stet_json *j, const struct stet_process_digest *p)
{
    stet_json_object(j, NULL);
    stet_json_uint(j, "pid", p->pid);
    stet_json_string(j, "host", p->host);
    stet_json_known(j, "rank", p->rank >= 0, (uint64_t)p->rank);
    stet_json_string(j, "entry", p->entry);
    stet_json_string(j, "python", p->python);
    stet_json_bool(j, "ended", p->ended);
    stet_json_array(j, "plugins");
    for (size_t i = 0; i < p->plugin_count; i++) {
        stet_json_object(j, NULL);
        stet_json_string(j, "path", p->plugins[i].path);
        stet_json_string(j, "build_id", p->plugins[i].build_id);
        stet_json_uint(j, "api_major", p->plugins[i].api_major);
        stet_json_uint(j, "api_minor", p->plugins[i].api_minor);
        stet_json_string(j, "platform", p->plugins[i].platform);
        stet_json_uint(j, "devices", p->plugins[i].devices);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
    stet_json_uint(j, "executions", p->executions);
    stet_json_known(j, "steps", p->steps_known, p->steps);
    stet_json_uint(j, "to_device_bytes", p->to_device_bytes);
    stet_json_uint(j, "to_host_bytes", p->to_host_bytes);
    stet_json_uint(j, "plugin_errors", p->plugin_errors);
    stet_json_uint(j, "faults", p->faults);
    stet_json_uint(j, "unread_stacks", p->unread_stacks);
    stet_json_uint(j, "lost_records", p->lost_records);
    stet_json_uint(j, "lost_executions", p->lost_executions);
    stet_json_uint(j, "damaged_bytes", p->damage.bytes);
    stet_json_array(j, "compiles");
    for (size_t i = 0; i < p->compile_count; i++)
        compile_json(j, &p->compiles[i]);
    stet_json_end_array(j);
    stet_json_end_object(j);
}

void stet_session_run_json(struct stet_buf *out, const struct stet_run *run,
                           const struct stet_run_digest *d)
{
    struct stet_json j;

    stet_json_init(&j, out);
    stet_json_object(&j, NULL);
    stet_json_cstr(&j, "schema", "stet.show-run/1");
    stet_json_cstr(&j, "run", run->id);
    stet_json_cstr(&j, "folder", run->folder);
    stet_json_array(&j, "argv");
    for (size_t i = 0; i < run->argc; i++)
        stet_json_cstr(&j, NULL, run->argv[i]);
    stet_json_end_array(&j);
    stet_json_cstr(&j, "cwd", run->cwd);
    stet_json_number(&j, "started", (double)run->started_ns / 1e9);
    if (run->ended_ns)
        stet_json_number(&j, "seconds", (double)(run->ended_ns - run->started_ns) / 1e9);
    if (run->exit_code >= 0)
        stet_json_int(&j, "exit", run->exit_code);
    if (run->signal)
        stet_json_int(&j, "signal", run->signal);
    stet_json_uint(&j, "compiles", d->compiles);
    stet_json_uint(&j, "loads", d->loads);
    stet_json_uint(&j, "executions", d->executions);
    stet_json_number(&j, "compile_s", (double)d->compile_ns / 1e9);
    stet_json_uint(&j, "unchecked", run->unchecked);
    stet_json_array(&j, "processes");
    for (size_t i = 0; i < d->process_count; i++)
        process_json(&j, &d->processes[i]);
    stet_json_end_array(&j);
    stet_json_end_object(&j);
    stet_buf_char(out, '\n');
}
