/* See fit_text.h. */
#include "cli/fit_text.h"

#include "base/human.h"
#include "base/path.h"
#include "base/text.h"
#include "session/exhausted.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { LISTED = 6, LINES = 10, WHY = 300 };

/* ---- numbers ---- */

static void put_bytes(struct stet_buf *out, uint64_t bytes, int width)
{
    struct stet_buf text = STET_BUF_INIT;

    stet_text_bytes(&text, bytes);
    stet_buf_printf(out, "%*.*s", width, (int)text.len, text.ptr ? text.ptr : "");
    stet_buf_release(&text);
}

static void put_seconds(struct stet_buf *out, double s)
{
    stet_text_duration(out, s > 0 && s < 1e9 ? (uint64_t)(s * 1e9) : 0);
}

/* "1.61 PFLOP" */
static void put_scaled(struct stet_buf *out, double n, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;

    while (n >= 1000 && i + 1 < sizeof prefixes / sizeof *prefixes) {
        n /= 1000;
        i++;
    }
    stet_buf_printf(out, "%.3g %s%s", n, prefixes[i], unit);
}

/* ---- the verdict ---- */

static void put_head(struct stet_buf *out, const struct stet_fit *fit)
{
    const struct stet_fit_topology *t = &fit->topology;

    stet_buf_printf(out, "%s: %u %s of kind %s", t->name, t->count,
                    t->count == 1 ? "device" : "devices", t->kind);
    if (fit->limit) {
        stet_buf_str(out, ", ");
        put_bytes(out, fit->limit, 0);
        stet_buf_str(out, " each");
    }
    stet_buf_printf(out, "; run %s%s%s\n", fit->id, fit->zeros ? ", zeros" : "",
                    fit->quick ? ", no code generated" : "");
}

void stet_cli_fit_line(struct stet_buf *out, const struct stet_fit *fit)
{
    switch (fit->verdict) {
    case STET_FIT_FITS:
        stet_buf_str(out, "fits: ");
        put_bytes(out, fit->peak_bytes, 0);
        stet_buf_str(out, " of ");
        put_bytes(out, fit->limit, 0);
        break;
    case STET_FIT_EXCEEDS:
        stet_buf_str(out, "does not fit");
        if (fit->exceeds) {
            stet_buf_str(out, ": exceeds the memory by ");
            put_bytes(out, fit->exceeds, 0);
        }
        break;
    case STET_FIT_FAILED:
        stet_buf_printf(out, "not known: %zu of %zu programs did not compile", fit->failed,
                        fit->count);
        break;
    case STET_FIT_UNKNOWN:
        stet_buf_str(out, fit->limit ? "not known: programs were not captured whole"
                                     : "not known: the size of the memory is not known (--memory)");
        break;
    }
}

static void put_verdict(struct stet_buf *out, const struct stet_fit *fit, bool colour)
{
    enum stet_pen pen = fit->verdict == STET_FIT_FITS      ? STET_PEN_GREEN
                        : fit->verdict == STET_FIT_EXCEEDS ? STET_PEN_RED
                                                           : STET_PEN_YELLOW;

    stet_buf_str(out, stet_pen(pen, colour));
    stet_cli_fit_line(out, fit);
    stet_buf_str(out, stet_pen(STET_PEN_PLAIN, colour));
    if (fit->peak) {
        stet_buf_printf(out, ", at the peak in %s", fit->peak->item->name);
        if (fit->peak->beside_known && fit->peak->beside) {
            stet_buf_str(out, " with ");
            put_bytes(out, fit->peak->beside, 0);
            stet_buf_str(out, " beside it");
        }
    }
    stet_buf_char(out, '\n');
    if (fit->status)
        stet_buf_printf(out,
                        "the command ended with %s %d; the verdict is about what it compiled until "
                        "then\n",
                        WIFSIGNALED(fit->status) ? "signal" : "exit code",
                        WIFSIGNALED(fit->status) ? WTERMSIG(fit->status)
                                                 : WEXITSTATUS(fit->status));
}

/* ---- programs ---- */

static void put_program(struct stet_buf *out, const struct stet_fit_program *p)
{
    const struct stet_footprint_memory *m = &p->memory;

    stet_buf_printf(out, "  %-8s", stet_fit_verdict_word(p->verdict));
    put_bytes(out, p->total, 10);
    stet_buf_str(out, " =");
    put_bytes(out, m->arguments, 10);
    put_bytes(out, m->outputs - (m->aliased < m->outputs ? m->aliased : m->outputs), 10);
    put_bytes(out, m->temporaries, 10);
    if (p->measured)
        put_bytes(out, m->code, 10);
    else
        stet_buf_printf(out, "%10s", "-");
    if (p->beside_known)
        put_bytes(out, p->beside, 10);
    else
        stet_buf_printf(out, "%10s", "-");
    stet_buf_printf(out, "  %s\n", p->item->name);
    if (p->verdict != STET_FIT_FITS && p->error.len)
        stet_buf_printf(out, "      %.*s\n", (int)(p->error.len < WHY ? p->error.len : WHY),
                        p->error.ptr);
    else if (p->verdict == STET_FIT_UNKNOWN)
        stet_buf_str(out, "      not captured whole (STET_CAPTURE=full captures constants)\n");
}

/* Programs that do not fit or compile, and the largest of the others. */
static void put_programs(struct stet_buf *out, const struct stet_fit *fit, bool all)
{
    size_t listed = 0, left = 0;
    uint64_t largest = 0;

    stet_buf_printf(out, "\n  %-8s%10s  %10s%10s%10s%10s%10s  %s\n", "", "total", "arguments",
                    "outputs", "temps", "code", "beside", "program");
    for (size_t i = 0; i < fit->count; i++) {
        const struct stet_fit_program *p = &fit->programs[i];

        if (all || p->verdict != STET_FIT_FITS || p == fit->peak || listed < LISTED) {
            put_program(out, p);
            listed++;
            continue;
        }
        left++;
        largest = p->total > largest ? p->total : largest;
    }
    if (left) {
        stet_buf_printf(out, "  %zu more %s, at most ", left, left == 1 ? "fits" : "fit");
        put_bytes(out, largest, 0);
        stet_buf_str(out, " each (--all)\n");
    }
    stet_buf_str(out, "  donated outputs are counted with the arguments\n");
}

/* ---- lines ---- */

static void put_growth(struct stet_buf *out, const struct stet_fit_line *l)
{
    if (!l->known_before || l->before == l->bytes)
        return;
    stet_buf_printf(out, "  (%s", l->bytes > l->before ? "+" : "-");
    put_bytes(out, l->bytes > l->before ? l->bytes - l->before : l->before - l->bytes, 0);
    if (l->shape_before.len && !stet_view_eq(l->shape_before, l->shape))
        stet_buf_printf(out, ", was %.*s", STET_FMT(l->shape_before));
    stet_buf_char(out, ')');
}

/* The last part of "jit(step)/jvp()/dot_general". */
static struct stet_view operation(struct stet_view op_name, struct stet_view opcode)
{
    struct stet_view last = stet_path_base(op_name);

    return last.len ? last : opcode;
}

static void put_place(struct stet_buf *out, struct stet_view file, uint32_t line)
{
    if (line)
        stet_buf_printf(out, "  %.*s:%u", STET_FMT(stet_text_path(file)), line);
    else
        stet_buf_str(out, "  no line");
}

static void put_lines(struct stet_buf *out, const struct stet_fit *fit)
{
    const struct stet_fit_program *p = fit->peak;
    bool grew = false;

    if (!p || !p->line_count)
        return;
    stet_buf_printf(out, "\nlargest temporaries of %s%s, by line\n", p->item->name,
                    p->footprint.timed ? " at its peak" : " (not all at one time)");
    for (size_t i = 0; i < p->line_count && i < LINES; i++) {
        const struct stet_fit_line *l = &p->lines[i];

        put_bytes(out, l->bytes, 12);
        put_place(out, l->file, l->line);
        stet_buf_printf(out, "  %.*s %.*s", STET_FMT(operation(l->op_name, l->opcode)),
                        STET_FMT(l->shape));
        if (l->count > 1)
            stet_buf_printf(out, " and %zu more", l->count - 1);
        put_growth(out, l);
        stet_buf_char(out, '\n');
        grew |= l->known_before && l->before != l->bytes;
    }
    if (fit->since.len)
        stet_buf_printf(out, "  %s the last fit, of run %.*s: %.*s\n",
                        grew ? "compared with" : "the same lines as in", STET_FMT(fit->since),
                        STET_FMT(fit->since_command));
}

static void put_advice(struct stet_buf *out, const struct stet_fit *fit)
{
    for (size_t i = 0; i < fit->count; i++) {
        const struct stet_fit_program *p = &fit->programs[i];

        if (!p->advice_count)
            continue;
        stet_buf_printf(out, "\nwhat would help %s\n", p->item->name);
        stet_session_remedies_text(out, p->advice, p->advice_count, "  ");
    }
}

/* ---- the step ---- */

static void put_step(struct stet_buf *out, const struct stet_fit *fit)
{
    const struct stet_fit_topology *t = &fit->topology;
    double share = t->chips ? (double)t->chips / (double)t->count : 1;

    if (!fit->step_known)
        return;
    stet_buf_printf(out, "\neach of %" PRIu64 " steps, on one device: ", fit->steps);
    put_scaled(out, fit->step_flops, "FLOP");
    stet_buf_str(out, ", ");
    put_scaled(out, fit->step_memory, "B of memory traffic, ");
    put_scaled(out, fit->step_wire, "B sent");
    stet_buf_char(out, '\n');
    if (t->source) {
        stet_buf_str(out, "  at least ");
        put_seconds(out, fit->step_bound_s);
        stet_buf_str(out, " (roofline: arithmetic ");
        put_seconds(out, fit->step_flops / (t->flops * share));
        stet_buf_str(out, ", memory ");
        put_seconds(out, fit->step_memory / (t->memory_rate * share));
        stet_buf_str(out, ", links ");
        put_seconds(out, fit->step_wire / (t->link_rate * share));
        stet_buf_str(out, ")\n");
    }
    for (int c = 0; c < STET_COLLECTIVES; c++) {
        const struct stet_footprint_traffic *f = &fit->step_traffic[c];

        if (!f->sites)
            continue;
        stet_buf_printf(out, "  %-20s %6.0f times, ",
                        stet_footprint_collective_name((enum stet_collective)c), f->times);
        put_scaled(out, f->payload, "B, ");
        put_scaled(out, f->wire, "B sent");
        stet_buf_printf(out, " (%" PRIu64 " in the program%s)\n", f->sites,
                        f->sites == 1 ? "" : "s");
    }
}

static void put_not_counted(struct stet_buf *out, const struct stet_fit *fit)
{
    uint64_t loops = 0, kernels = 0;
    struct stet_view kernel = {0};

    for (size_t i = 0; i < fit->count; i++) {
        loops += fit->programs[i].footprint.open_loops;
        kernels += fit->programs[i].footprint.kernels;
        if (!kernel.len)
            kernel = fit->programs[i].footprint.kernel;
    }
    if (loops)
        stet_buf_printf(out, "  %" PRIu64 " %s an unknown number of iterations, counted once\n",
                        loops, loops == 1 ? "loop has" : "loops have");
    if (kernels)
        stet_buf_printf(out, "  the arithmetic of %" PRIu64 " kernel%s (%.*s) is not counted\n",
                        kernels, kernels == 1 ? "" : "s", STET_FMT(kernel));
}

/* ---- the rest ---- */

static void put_compile(struct stet_buf *out, const struct stet_fit *fit)
{
    const struct stet_fit_program *longest = NULL;
    size_t kept = 0;

    for (size_t i = 0; i < fit->count; i++) {
        const struct stet_fit_program *p = &fit->programs[i];

        kept += p->end == STET_WARM_END_KEPT || p->end == STET_WARM_END_PRESENT;
        if (p->cpu_ns && (!longest || p->cpu_ns > longest->cpu_ns))
            longest = p;
    }
    if (!longest)
        return;
    stet_buf_str(out, "\ncompiled in ");
    stet_text_duration(out, fit->compile_wall_ns);
    stet_buf_str(out, ", ");
    stet_text_duration(out, fit->compile_cpu_ns);
    stet_buf_printf(out, " of processor time; %s took ", longest->item->name);
    stet_text_duration(out, longest->cpu_ns);
    stet_buf_printf(out, "\n%zu of %zu programs are in the store, for a launch on %s\n", kept,
                    fit->count, fit->topology.name);
}

static void put_cost(struct stet_buf *out, const struct stet_fit_cost *c)
{
    struct stet_buf time = STET_BUF_INIT;

    stet_text_duration(&time, c->ns);
    stet_buf_printf(out, "%12.*s", (int)time.len, time.ptr ? time.ptr : "");
    stet_buf_release(&time);
    put_place(out, c->file, c->line);
    if (c->instructions)
        stet_buf_printf(out, "  %.*s, %zu instruction%s",
                        STET_FMT(operation(c->op_name, c->opcode)), c->instructions,
                        c->instructions == 1 ? "" : "s");
    if (c->line && c->alike_ns && c->alike_ns >= c->ns / 10) {
        stet_buf_str(out, "; a loop (scan) instead of repeated code saves about ");
        stet_text_duration(out, c->alike_ns);
    }
    stet_buf_char(out, '\n');
}

static void put_costs(struct stet_buf *out, const struct stet_fit *fit)
{
    const struct stet_fit_program *p = NULL;

    if (!fit->lines)
        return;
    for (size_t i = 0; i < fit->count; i++) {
        if (fit->programs[i].costs && (!p || fit->programs[i].fragments_ns > p->fragments_ns))
            p = &fit->programs[i];
    }
    if (!p) {
        stet_buf_str(out, "\ncompile time by line is not known: this compiler has no phases\n");
        return;
    }
    stet_buf_printf(out, "\ncode of %s: ", p->item->name);
    stet_text_duration(out, p->fragments_ns);
    stet_buf_printf(out, " of processor time in %zu fragments, by line\n", p->fragments);
    for (size_t i = 0; i < p->cost_count && i < LINES; i++)
        put_cost(out, &p->costs[i]);
}

static void put_contract(struct stet_buf *out, const struct stet_fit *fit)
{
    if (!fit->contract_checked)
        return;
    if (fit->contract_kept)
        stet_buf_str(out, "contract: kept\n");
    else
        stet_buf_printf(out, "contract: broken in %zu place%s: %.*s (stet check)\n",
                        fit->violations, fit->violations == 1 ? "" : "s",
                        STET_FMT(fit->contract_says));
}

static void put_zeros(struct stet_buf *out, const struct stet_fit *fit)
{
    if (!fit->zeros || !fit->readbacks.count)
        return;
    stet_buf_str(out, "\nresults were not computed; these lines read zeros instead\n");
    stet_session_readbacks_text(out, &fit->readbacks, "  ", 3);
}

void stet_cli_fit_text(struct stet_buf *out, const struct stet_fit *fit, bool all, bool colour)
{
    put_head(out, fit);
    put_verdict(out, fit, colour);
    put_programs(out, fit, all);
    put_lines(out, fit);
    put_advice(out, fit);
    put_step(out, fit);
    put_not_counted(out, fit);
    put_compile(out, fit);
    put_costs(out, fit);
    put_contract(out, fit);
    put_zeros(out, fit);
}

/* ---- several values ---- */

void stet_cli_fit_try(struct stet_buf *out, const struct stet_fit_search *s,
                      const struct stet_fit_try *t)
{
    stet_buf_printf(out, "stet: %s=%lld: ", s->name, (long long)t->value);
    if (t->failure[0]) {
        stet_buf_printf(out, "no verdict: %s\n", t->failure);
        return;
    }
    stet_buf_printf(out, "%s, ", stet_fit_verdict_word(t->verdict));
    put_bytes(out, t->peak, 0);
    if (t->exceeds) {
        stet_buf_str(out, ", ");
        put_bytes(out, t->exceeds, 0);
        stet_buf_str(out, " too much");
    }
    stet_buf_char(out, '\n');
}

static void put_table(struct stet_buf *out, const struct stet_fit_search *s)
{
    stet_buf_printf(out, "  %12s  %-8s%10s%12s%14s\n", s->name, "verdict", "peak", "too much",
                    "step at least");
    for (size_t i = 0; i < s->count; i++) {
        const struct stet_fit_try *t = &s->tries[i];

        stet_buf_printf(out, "  %12lld  %-8s", (long long)t->value,
                        t->failure[0] ? "-" : stet_fit_verdict_word(t->verdict));
        if (t->failure[0]) {
            stet_buf_printf(out, "  %s\n", t->failure);
            continue;
        }
        put_bytes(out, t->peak, 10);
        if (t->exceeds)
            put_bytes(out, t->exceeds, 12);
        else
            stet_buf_printf(out, "%12s", "-");
        if (t->bound_s > 0) {
            struct stet_buf time = STET_BUF_INIT;

            put_seconds(&time, t->bound_s);
            stet_buf_printf(out, "%14.*s", (int)time.len, time.ptr ? time.ptr : "");
            stet_buf_release(&time);
        }
        stet_buf_char(out, '\n');
    }
}

void stet_cli_fit_search_text(struct stet_buf *out, const struct stet_fit_search *s,
                              const struct stet_fit *fit, bool all, bool colour)
{
    if (s->found)
        stet_buf_printf(out, "the largest %s that fits is %lld\n", s->name, (long long)s->value);
    else
        stet_buf_printf(out, "no %s of these fits\n", s->name);
    put_table(out, s);
    if (fit) {
        stet_buf_char(out, '\n');
        stet_cli_fit_text(out, fit, all, colour);
    }
}
