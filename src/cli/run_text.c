/* A run in text and in JSON. */
#include "cli/run_text.h"

#include "base/fs.h"
#include "base/text.h"
#include "cli/served.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

void stet_text_run_totals(struct stet_buf *out, const struct stet_run_digest *d)
{
    stet_text_count(out, d->compiles, "compile");
    stet_buf_str(out, " (");
    stet_text_duration(out, d->compile_ns);
    stet_buf_str(out, ")");
    stet_served_text(out, d);
    if (d->loads) {
        stet_buf_str(out, ", ");
        stet_text_count(out, d->loads, "executable");
        stet_buf_str(out, " loaded");
    }
    stet_buf_str(out, ", ");
    stet_text_count(out, d->executions, "execution");
    if (d->process_count > 1)
        stet_buf_printf(out, " in %zu processes", d->process_count);
    if (d->failed)
        stet_buf_printf(out, ", %" PRIu64 " failed", d->failed);
}

void stet_text_trouble(struct stet_buf *out, const struct stet_run_digest *d)
{
    uint64_t faults = 0, unread = 0, lost = 0, damaged = 0;

    for (size_t i = 0; i < d->process_count; i++) {
        faults += d->processes[i].faults;
        unread += d->processes[i].unread_stacks;
        lost += d->processes[i].lost_records;
        damaged += d->processes[i].damage.bytes;
    }
    if (unread) {
        stet_buf_str(out, "stet: ");
        stet_text_count(out, unread, "compile");
        stet_buf_printf(out, " ended before %s Python line could be read\n",
                        unread == 1 ? "its" : "their");
    }
    if (faults)
        stet_buf_printf(out,
                        "stet: the layer had %" PRIu64 " fault%s; those calls went to the plugin\n",
                        faults, faults == 1 ? "" : "s");
    if (!lost && !damaged && !d->unreadable)
        return;
    stet_buf_str(out, "stet: ");
    stet_text_count(out, lost, "record");
    stet_buf_str(out, " lost, ");
    stet_text_count(out, damaged, "byte");
    stet_buf_str(out, " damaged, ");
    stet_text_count(out, d->unreadable, "file");
    stet_buf_str(out, " unreadable\n");
}

static const char *tail_of(struct stet_view path)
{
    const char *slash = memrchr(path.ptr ? path.ptr : "", '/', path.len);

    return slash ? slash + 1 : path.ptr ? path.ptr : "";
}

static void compile_line(struct stet_buf *out, const struct stet_compile_event *c, bool colour)
{
    char hash[STET_HASH_TEXT];

    stet_hash_format(c->program, hash);
    stet_buf_printf(out, "  %s%3" PRIu64 "  %.12s  ", c->load ? "L" : " ", c->index, hash);
    stet_text_duration(out, c->plugin_ns);
    stet_buf_printf(out, "  %.*s  ", STET_FMT(c->name));
    stet_text_bytes(out, c->program_size);
    if (c->step_known)
        stet_buf_printf(out, "  at step %" PRIu64, c->step);
    if (c->executions)
        stet_buf_printf(out, "  run %" PRIu64 "×", c->executions);
    if (!c->ended)
        stet_buf_str(out, "  (never came back)");
    if (c->error_code)
        stet_buf_printf(out, "  %sfailed: %.*s%s", stet_pen(STET_PEN_RED, colour),
                        STET_FMT(c->error), stet_pen(STET_PEN_PLAIN, colour));
    stet_buf_char(out, '\n');
    if (c->trigger.line)
        stet_buf_printf(out, "       %s%.*s:%" PRIu64 "%s in %.*s\n",
                        stet_pen(STET_PEN_CYAN, colour), STET_FMT(stet_text_path(c->trigger.file)),
                        c->trigger.line, stet_pen(STET_PEN_PLAIN, colour),
                        STET_FMT(c->trigger.function));
}

/* CPython's version goes on about its build and its compiler; --format=json has all of it. */
static struct stet_view first_word(struct stet_view text)
{
    size_t n = 0;

    while (n < text.len && text.ptr[n] != ' ')
        n++;
    return stet_view_of(text.ptr, n);
}

static void process_text(struct stet_buf *out, const struct stet_process_digest *p, bool colour)
{
    stet_buf_printf(out, "\n%sprocess %" PRIu64 "%s on %.*s", stet_pen(STET_PEN_BOLD, colour),
                    p->pid, stet_pen(STET_PEN_PLAIN, colour), STET_FMT(p->host));
    if (p->rank >= 0)
        stet_buf_printf(out, ", rank %" PRId64, p->rank);
    if (p->python.len)
        stet_buf_printf(out, ", Python %.*s", STET_FMT(first_word(p->python)));
    stet_buf_printf(out, "%s\n", p->ended ? "" : " (no good-bye: still running, or killed)");
    for (size_t i = 0; i < p->plugin_count; i++) {
        const struct stet_plugin_event *e = &p->plugins[i];

        stet_buf_printf(out, "  plugin %s, PJRT API %" PRIu64 ".%" PRIu64, tail_of(e->path),
                        e->api_major, e->api_minor);
        if (e->platform.len)
            stet_buf_printf(out, ", %.*s, %" PRIu64 " device%s", STET_FMT(e->platform), e->devices,
                            e->devices == 1 ? "" : "s");
        if (e->note.len)
            stet_buf_printf(out, " (%.*s)", STET_FMT(e->note));
        stet_buf_char(out, '\n');
    }
    stet_buf_str(out, "  ");
    stet_text_count(out, p->executions, "execution");
    stet_buf_str(out, ", ");
    stet_text_bytes(out, p->to_device_bytes);
    stet_buf_str(out, " to the device, ");
    stet_text_bytes(out, p->to_host_bytes);
    stet_buf_str(out, " back\n");
    if (p->steps_known)
        stet_buf_printf(out, "  %" PRIu64 " step%s\n", p->steps, p->steps == 1 ? "" : "s");
    else if (p->steps_why && p->executions)
        stet_buf_printf(out, "  steps not known: %s\n", p->steps_why);
    for (size_t i = 0; i < p->compile_count; i++)
        compile_line(out, &p->compiles[i], colour);
}

void stet_show_run_text(struct stet_buf *out, const struct stet_run *run,
                        const struct stet_run_digest *d, bool colour)
{
    stet_buf_printf(out, "run %s: %s\n  started ", run->id, run->command);
    stet_text_time(out, run->started_ns);
    stet_buf_printf(out, " in %s, ", run->cwd);
    stet_text_outcome(out, run);
    if (run->ended_ns > run->started_ns) {
        stet_buf_str(out, " after ");
        stet_text_duration(out, run->ended_ns - run->started_ns);
    }
    stet_buf_str(out, "\n  ");
    if (d->process_count)
        stet_text_run_totals(out, d);
    else
        stet_buf_str(out, "no process loaded a compiler plugin");
    stet_buf_char(out, '\n');
    for (size_t i = 0; i < d->process_count; i++)
        process_text(out, &d->processes[i], colour);
    stet_text_trouble(out, d);
    if (run->unchecked)
        stet_buf_printf(out, "%" PRIu64 " process%s did not check in\n", run->unchecked,
                        run->unchecked == 1 ? "" : "es");
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
    stet_json_uint(j, "bytes", c->program_size);
    stet_json_bool(j, "ended", c->ended);
    stet_json_number(j, "cost_s", (double)c->plugin_ns / 1e9);
    stet_json_number(j, "layer_s", (double)c->layer_ns / 1e9);
    stet_json_cstr(j, "served", stet_served_name(c));
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
    stet_json_uint(j, "damaged_bytes", p->damage.bytes);
    stet_json_array(j, "compiles");
    for (size_t i = 0; i < p->compile_count; i++)
        compile_json(j, &p->compiles[i]);
    stet_json_end_array(j);
    stet_json_end_object(j);
}

void stet_show_run_json(struct stet_buf *out, const struct stet_run *run,
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
