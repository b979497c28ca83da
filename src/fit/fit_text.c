/* See fit_text.h. */
#include "fit/fit_text.h"

#include "base/human.h"
#include "base/path.h"
#include "base/text.h"
#include "session/exhausted.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LISTED = 6, LINES = 10, WHY = 300, SHORT = 60 };

/* ---- numbers and places ---- */

void stet_fit_text_bytes(struct stet_buf *out, uint64_t bytes, int width)
{
    struct stet_buf text = STET_BUF_INIT;

    stet_text_bytes(&text, bytes);
    stet_buf_printf(out, "%*.*s", width, (int)text.len, text.ptr ? text.ptr : "");
    stet_buf_release(&text);
}

void stet_fit_text_seconds(struct stet_buf *out, double s, int width)
{
    struct stet_buf text = STET_BUF_INIT;

    stet_text_duration(&text, s > 0 && s < 1e9 ? (uint64_t)(s * 1e9) : 0);
    stet_buf_printf(out, "%*.*s", width, (int)text.len, text.ptr ? text.ptr : "");
    stet_buf_release(&text);
}

static void put_double(struct stet_buf *out, double bytes)
{
    stet_text_bytes(out, bytes > 0 && bytes < 1e18 ? (uint64_t)bytes : 0);
}

/* "1.61 PFLOP" */
static void put_flops(struct stet_buf *out, double n)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;

    while (n >= 1000 && i + 1 < sizeof prefixes / sizeof *prefixes) {
        n /= 1000;
        i++;
    }
    stet_buf_printf(out, "%.3g %sFLOP", n, prefixes[i]);
}

void stet_fit_text_place(struct stet_buf *out, struct stet_view file, uint32_t line)
{
    if (line)
        stet_buf_printf(out, "%.*s:%u", STET_FMT(stet_text_path(file)), line);
    else
        stet_buf_str(out, "no line");
}

struct stet_view stet_fit_text_operation(struct stet_view op_name, struct stet_view opcode)
{
    struct stet_view last = stet_path_base(op_name);

    return last.len ? last : opcode;
}

static void put_growth(struct stet_buf *out, const struct stet_fit_line *l)
{
    if (!l->known_before || l->before == l->bytes)
        return;
    stet_buf_printf(out, " (%s", l->bytes > l->before ? "+" : "-");
    stet_fit_text_bytes(out, l->bytes > l->before ? l->bytes - l->before : l->before - l->bytes, 0);
    stet_buf_str(out, " since the last fit");
    if (l->shape_before.len && !stet_view_eq(l->shape_before, l->shape))
        stet_buf_printf(out, ", was %.*s", STET_FMT(l->shape_before));
    stet_buf_char(out, ')');
}

/* The names and shapes of a tuple may fill a page. */
static void put_short(struct stet_buf *out, struct stet_view text)
{
    bool whole = text.len <= SHORT;

    stet_buf_printf(out, "%.*s%s", (int)(whole ? text.len : SHORT), text.ptr ? text.ptr : "",
                    whole ? "" : "…");
}

static void put_line(struct stet_buf *out, const struct stet_fit_line *l)
{
    stet_fit_text_place(out, l->file, l->line);
    stet_buf_str(out, "  ");
    put_short(out, stet_fit_text_operation(l->op_name, l->opcode));
    stet_buf_char(out, ' ');
    put_short(out, l->shape);
    if (l->count > 1)
        stet_buf_printf(out, " and %zu more", l->count - 1);
    put_growth(out, l);
    stet_buf_char(out, '\n');
}

/* ---- the verdict ---- */

/* "jit_step needs 32.5 GB of the 31.2 GB that each device of v6e:1x1 has" */
static void put_need(struct stet_buf *out, const struct stet_fit *fit)
{
    const struct stet_fit_program *p = fit->peak;

    if (!p)
        return;
    stet_buf_printf(out, "%s needs ", p->item->name);
    stet_fit_text_bytes(out, p->total, 0);
    if (p->beside >= p->total / 100 && p->beside) {
        stet_buf_str(out, " beside the ");
        stet_fit_text_bytes(out, p->beside, 0);
        stet_buf_str(out, " that are there");
    }
    if (fit->limit) {
        stet_buf_str(out, "; each device of ");
        stet_buf_printf(out, "%s has ", fit->topology.name);
        stet_fit_text_bytes(out, fit->limit, 0);
    }
}

static void put_headline(struct stet_buf *out, const struct stet_fit *fit)
{
    switch (fit->verdict) {
    case STET_FIT_FITS:
        stet_buf_str(out, fit->status ? "fits so far, but the command failed: " : "fits: ");
        break;
    case STET_FIT_EXCEEDS:
        stet_buf_str(out, "does not fit: ");
        if (fit->exceeds) {
            stet_fit_text_bytes(out, fit->exceeds, 0);
            stet_buf_str(out, " too much. ");
        }
        break;
    case STET_FIT_FAILED:
        stet_buf_printf(out, "not known: %zu of %zu programs did not compile. ", fit->failed,
                        fit->count);
        break;
    case STET_FIT_UNKNOWN:
        stet_buf_printf(out, "not known: %zu of %zu programs could not be judged. ", fit->unknown,
                        fit->count);
        break;
    }
}

/* The remedy to try first: one that is enough, by what it costs the user. */
static const struct stet_remedy *choose(const struct stet_fit_program *p)
{
    static const enum stet_remedy_kind order[] = {STET_REMEDY_DONATE, STET_REMEDY_SHARD,
                                                  STET_REMEDY_REMATERIALISE, STET_REMEDY_BATCH};

    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        for (size_t i = 0; i < p->advice_count; i++) {
            if (p->advice[i].kind == order[k] && p->advice[i].saves >= p->exceeds)
                return &p->advice[i];
        }
    }
    return p->advice_count ? &p->advice[0] : NULL; /* the one that saves most */
}

static const struct stet_fit_program *worst(const struct stet_fit *fit)
{
    const struct stet_fit_program *most = NULL;

    for (size_t i = 0; i < fit->count; i++) {
        const struct stet_fit_program *p = &fit->programs[i];

        if (p->verdict == STET_FIT_EXCEEDS && (!most || p->exceeds > most->exceeds))
            most = p;
    }
    return most;
}

static void put_verdict(struct stet_buf *out, const struct stet_fit *fit, bool colour)
{
    bool fits = fit->verdict == STET_FIT_FITS && !fit->status;
    enum stet_pen pen = fits                               ? STET_PEN_GREEN
                        : fit->verdict == STET_FIT_EXCEEDS ? STET_PEN_RED
                                                           : STET_PEN_YELLOW;
    const struct stet_fit_program *over = worst(fit), *p = over ? over : fit->peak;
    const struct stet_remedy *try = over ? choose(over) : NULL;

    stet_buf_str(out, stet_pen(pen, colour));
    put_headline(out, fit);
    stet_buf_str(out, stet_pen(STET_PEN_PLAIN, colour));
    put_need(out, fit);
    stet_buf_char(out, '\n');
    if (p && p->line_count && p->lines[0].bytes >= p->total / 100) {
        stet_buf_str(out, "  largest: ");
        stet_fit_text_bytes(out, p->footprint.timed ? p->lines[0].bytes : p->lines[0].largest, 0);
        stet_buf_str(out, p->lines[0].line ? " of temporaries from " : " of temporaries, ");
        put_line(out, &p->lines[0]);
    }
    if (try) {
        stet_buf_str(out, try->saves >= over->exceeds ? "  try: " : "  not enough alone: ");
        stet_session_remedies_text(out, try, 1, "");
    }
}

static void put_circumstances(struct stet_buf *out, const struct stet_fit *fit)
{
    const struct stet_fit_topology *t = &fit->topology;
    char how[STET_FIT_ENDED];

    stet_buf_printf(out, "  %s is %u %s of kind %s; run %s%s%s\n", t->name, t->count,
                    t->count == 1 ? "device" : "devices", t->kind, fit->id,
                    fit->zeros ? ", with zeros" : "", fit->quick ? ", no code generated" : "");
    if (fit->status) {
        stet_fit_ended(fit, how);
        stet_buf_printf(out,
                        "  the command ended with %s; the verdict is about what it compiled until "
                        "then\n",
                        how);
    }
    if (fit->guessed)
        stet_buf_str(out, "  the compiler did not say how it shards some results, so they are "
                          "sharded by a guess: the programs after them may be others\n");
}

/* ---- programs ---- */

/* The first line of a compiler's message. */
static void put_error(struct stet_buf *out, struct stet_view error)
{
    const char *end = memchr(error.ptr, '\n', error.len);
    size_t n = end ? (size_t)(end - error.ptr) : error.len;

    stet_buf_printf(out, "      %.*s\n", (int)(n < WHY ? n : WHY), error.ptr);
}

static void put_program(struct stet_buf *out, const struct stet_fit_program *p)
{
    const struct stet_footprint_memory *m = &p->memory;

    stet_buf_printf(out, "  %-8s", stet_fit_verdict_word(p->verdict));
    stet_fit_text_bytes(out, p->total, 10);
    stet_buf_str(out, " =");
    stet_fit_text_bytes(out, m->arguments, 10);
    stet_fit_text_bytes(out, m->outputs - (m->aliased < m->outputs ? m->aliased : m->outputs), 10);
    stet_fit_text_bytes(out, m->temporaries, 10);
    if (p->measured)
        stet_fit_text_bytes(out, m->code, 10);
    else
        stet_buf_printf(out, "%10s", "-");
    if (p->beside_known)
        stet_fit_text_bytes(out, p->beside, 10);
    else
        stet_buf_printf(out, "%10s", "-");
    stet_buf_printf(out, "  %s\n", p->item->name);
    if (p->why_unknown)
        stet_buf_printf(out, "      %s\n", p->why_unknown);
    if (p->verdict != STET_FIT_FITS && p->error.len)
        put_error(out, p->error);
}

/* Programs that do not fit or compile, and the largest of the others. */
static void put_programs(struct stet_buf *out, const struct stet_fit *fit, bool all)
{
    size_t listed = 0, left = 0;
    uint64_t largest = 0;

    stet_buf_printf(out, "\n  %-8s%10s  %10s%10s%10s%10s%10s  %s\n", "", "needs", "arguments",
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
        stet_fit_text_bytes(out, largest, 0);
        stet_buf_str(out, " each (--all)\n");
    }
    stet_buf_str(out, "  donated outputs are counted with the arguments; beside: what else is on "
                      "the device then\n");
}

/* What no value accounts for. */
static void put_rest(struct stet_buf *out, const struct stet_fit_program *p)
{
    uint64_t rest = p->memory.temporaries;

    for (size_t i = 0; i < p->line_count; i++)
        rest -= p->lines[i].bytes < rest ? p->lines[i].bytes : rest;
    if (!p->footprint.timed || rest < p->memory.temporaries / 100 || !rest)
        return;
    stet_fit_text_bytes(out, rest, 12);
    stet_buf_str(out, "  no line  gaps, and what the compiler keeps for itself\n");
}

static void put_lines(struct stet_buf *out, const struct stet_fit *fit)
{
    const struct stet_fit_program *p = worst(fit) ? worst(fit) : fit->peak;

    if (!p || !p->line_count)
        return;
    stet_buf_printf(out, "\nlargest temporaries of %s%s, by line\n", p->item->name,
                    p->footprint.timed ? " at its peak" : " (not all at one time)");
    for (size_t i = 0; i < p->line_count && i < LINES; i++) {
        stet_fit_text_bytes(out, p->lines[i].bytes, 12);
        stet_buf_str(out, "  ");
        put_line(out, &p->lines[i]);
    }
    put_rest(out, p);
    if (fit->since.len)
        stet_buf_printf(out, "  the last fit was of run %.*s: %.*s\n", STET_FMT(fit->since),
                        STET_FMT(fit->since_command));
}

static void put_advice(struct stet_buf *out, const struct stet_fit *fit)
{
    for (size_t i = 0; i < fit->count; i++) {
        const struct stet_fit_program *p = &fit->programs[i];

        if (!p->advice_count)
            continue;
        stet_buf_printf(out, "\nwhat would help %s", p->item->name);
        if (p->exceeds) {
            stet_buf_str(out, ", which needs ");
            stet_fit_text_bytes(out, p->exceeds, 0);
            stet_buf_str(out, " less");
        }
        stet_buf_char(out, '\n');
        stet_session_remedies_text(out, p->advice, p->advice_count, "  ");
    }
}

/* ---- the step ---- */

static void put_bound(struct stet_buf *out, const struct stet_fit *fit)
{
    const struct stet_fit_topology *t = &fit->topology;
    double share = t->chips ? (double)t->chips / (double)t->count : 1;

    stet_buf_str(out, "  at least ");
    stet_fit_text_seconds(out, fit->step_bound_s, 0);
    stet_buf_str(out, " by the chip's data sheet: arithmetic ");
    stet_fit_text_seconds(out, fit->step_flops / (t->flops * share), 0);
    stet_buf_str(out, ", memory ");
    stet_fit_text_seconds(out, fit->step_memory / (t->memory_rate * share), 0);
    stet_buf_str(out, ", links ");
    stet_fit_text_seconds(out, fit->step_wire / (t->link_rate * share), 0);
    stet_buf_char(out, '\n');
}

static void put_step(struct stet_buf *out, const struct stet_fit *fit)
{
    if (!fit->step_known)
        return;
    stet_buf_printf(out, "\neach of %" PRIu64 " steps, on one device: ", fit->steps);
    put_flops(out, fit->step_flops);
    stet_buf_str(out, ", ");
    put_double(out, fit->step_memory);
    stet_buf_str(out, " of memory traffic, ");
    put_double(out, fit->step_wire);
    stet_buf_str(out, " sent to other devices\n");
    if (fit->topology.source)
        put_bound(out, fit);
    for (int c = 0; c < STET_COLLECTIVES; c++) {
        const struct stet_footprint_traffic *f = &fit->step_traffic[c];

        if (!f->sites)
            continue;
        stet_buf_printf(out, "  %-20s %6.0f times, ",
                        stet_footprint_collective_name((enum stet_collective)c), f->times);
        put_double(out, f->payload);
        stet_buf_str(out, ", ");
        put_double(out, f->wire);
        stet_buf_printf(out, " sent (%" PRIu64 " in the program%s)\n", f->sites,
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
    if (longest) {
        stet_buf_str(out, "\ncompiled in ");
        stet_text_duration(out, fit->compile_wall_ns);
        stet_buf_str(out, ", ");
        stet_text_duration(out, fit->compile_cpu_ns);
        stet_buf_printf(out, " of processor time; %s took ", longest->item->name);
        stet_text_duration(out, longest->cpu_ns);
    }
    if (longest || kept)
        stet_buf_printf(out, "\n%zu of %zu programs are in the store, for a launch on %s\n", kept,
                        fit->count, fit->topology.name);
}

static void put_contract(struct stet_buf *out, const struct stet_fit *fit)
{
    if (!fit->contract_asked)
        return;
    if (!fit->contract_checked)
        stet_buf_str(out, "\ncontract: could not be checked\n");
    else if (fit->contract_kept)
        stet_buf_str(out, "\ncontract: kept\n");
    else
        stet_buf_printf(out, "\ncontract: broken in %zu place%s: %.*s (stet check)\n",
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

void stet_fit_text(struct stet_buf *out, const struct stet_fit *fit, bool all, bool colour)
{
    put_verdict(out, fit, colour);
    put_circumstances(out, fit);
    put_programs(out, fit, all);
    put_lines(out, fit);
    put_advice(out, fit);
    put_step(out, fit);
    put_not_counted(out, fit);
    put_compile(out, fit);
    if (fit->lines)
        stet_fit_text_costs(out, fit);
    put_contract(out, fit);
    put_zeros(out, fit);
}
