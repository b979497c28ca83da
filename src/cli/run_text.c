/* Prints a run as text and as JSON. */
#include "cli/run_text.h"

#include "base/fs.h"
#include "base/human.h"
#include "base/path.h"
#include "base/text.h"
#include "session/served.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

void stet_cli_run_totals(struct stet_buf *out, const struct stet_run_digest *d)
{
    stet_text_count(out, d->compiles, "compile");
    stet_buf_str(out, " (");
    stet_text_duration(out, d->compile_ns);
    stet_buf_str(out, ")");
    stet_session_served_text(out, d);
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

/* Gives the number of faults and what happened, in the order of faults.def. */
static void tell_faults(struct stet_buf *out, const struct stet_run_digest *d, uint64_t faults)
{
    const char *before = " (";

    stet_buf_printf(out, "stet: the layer had %" PRIu64 " fault%s", faults, faults == 1 ? "" : "s");
    for (unsigned kind = 0; kind < STET_FAULTS; kind++) {
        uint64_t count = 0;

        for (size_t i = 0; i < d->process_count; i++)
            count += d->processes[i].fault_kinds[kind];
        if (!count)
            continue;
        stet_buf_str(out, before);
        if (count < faults)
            stet_buf_printf(out, "%" PRIu64 "× ", count);
        stet_buf_str(out, stet_journal_fault_text((enum stet_fault)kind));
        before = "; ";
    }
    stet_buf_str(out, *before == ';' ? ")" : "");
    stet_buf_str(out, "; those calls went to the plugin\n");
}

void stet_cli_run_trouble(struct stet_buf *out, const struct stet_run_digest *d)
{
    uint64_t faults = 0, unread = 0, lost = 0, executions = 0, damaged = 0;

    for (size_t i = 0; i < d->process_count; i++) {
        faults += d->processes[i].faults;
        unread += d->processes[i].unread_stacks;
        lost += d->processes[i].lost_records;
        executions += d->processes[i].lost_executions;
        damaged += d->processes[i].damage.bytes;
    }
    if (unread) {
        stet_buf_str(out, "stet: ");
        stet_text_count(out, unread, "compile");
        stet_buf_printf(out, " ended before %s Python line could be read\n",
                        unread == 1 ? "its" : "their");
    }
    if (faults)
        tell_faults(out, d, faults);
    if (!lost && !executions && !damaged && !d->unreadable)
        return;
    stet_buf_str(out, "stet: ");
    stet_text_count(out, lost, "record");
    stet_buf_str(out, " and ");
    stet_text_count(out, executions, "execution");
    stet_buf_str(out, " lost, ");
    stet_text_count(out, damaged, "byte");
    stet_buf_str(out, " damaged, ");
    stet_text_count(out, d->unreadable, "file");
    stet_buf_str(out, " unreadable\n");
}

static const char *tail_of(struct stet_view path)
{
    return path.ptr ? stet_path_base(path).ptr : "";
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
        stet_buf_str(out, "  (did not return)");
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

/* CPython's version also has its build and its compiler; --format=json has all of it. */
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
    stet_buf_printf(out, "%s\n", p->ended ? "" : " (no end recorded: still running, or killed)");
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

void stet_cli_show_run_text(struct stet_buf *out, const struct stet_run *run,
                            const struct stet_run_digest *d, bool colour)
{
    stet_buf_printf(out, "run %s: %s\n  started ", run->id, run->command);
    stet_text_time(out, run->started_ns);
    stet_buf_printf(out, " in %s, ", run->cwd);
    stet_ledger_run_outcome(out, run);
    if (run->ended_ns > run->started_ns) {
        stet_buf_str(out, " after ");
        stet_text_duration(out, run->ended_ns - run->started_ns);
    }
    stet_buf_str(out, "\n  ");
    if (d->process_count)
        stet_cli_run_totals(out, d);
    else
        stet_buf_str(out, "no process loaded a compiler plugin");
    stet_buf_char(out, '\n');
    for (size_t i = 0; i < d->process_count; i++)
        process_text(out, &d->processes[i], colour);
    stet_cli_run_trouble(out, d);
    if (run->unchecked)
        stet_buf_printf(out, "%" PRIu64 " process%s did not check in\n", run->unchecked,
                        run->unchecked == 1 ? "" : "es");
}
