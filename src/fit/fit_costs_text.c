/* Prints what the compiler spent its time on: lines, and repeated blocks. */
#include "fit/fit_text.h"

#include "base/human.h"

#include <stdio.h>

enum { LINES = 10 };

static const struct stet_fit_program *costliest(const struct stet_fit *fit)
{
    const struct stet_fit_program *most = NULL;

    for (size_t i = 0; i < fit->count; i++) {
        const struct stet_fit_program *p = &fit->programs[i];

        if ((p->cost_count || p->ablation.whole_ns) &&
            (!most || p->fragments_ns > most->fragments_ns))
            most = p;
    }
    return most;
}

static void put_costs(struct stet_buf *out, const struct stet_fit_program *p)
{
    for (size_t i = 0; i < p->cost_count && i < LINES; i++) {
        const struct stet_fit_cost *c = &p->costs[i];
        struct stet_view operation = stet_fit_text_operation(c->op_name, c->opcode);

        stet_fit_text_seconds(out, (double)c->ns / 1e9, 12);
        stet_buf_str(out, "  ");
        stet_fit_text_place(out, c->file, c->line);
        if (c->instructions)
            stet_buf_printf(out, "  %.*s%s%zu operation%s", STET_FMT(operation),
                            operation.len ? ", " : "", c->instructions,
                            c->instructions == 1 ? "" : "s");
        stet_buf_char(out, '\n');
    }
}

static void put_blocks(struct stet_buf *out, const struct stet_fit_ablation *a)
{
    if (!a->block_count || !a->unique_ns)
        return;
    stet_buf_str(out, "  repeated code:");
    for (size_t i = 0; i < a->block_count && i < LINES; i++) {
        const struct stet_fit_block *b = &a->blocks[i];

        stet_buf_printf(out, "%s %u times %u operations", i ? "," : "", b->copies, b->operations);
        if (b->line) {
            stet_buf_str(out, " at ");
            stet_fit_text_place(out, b->file, b->line);
        }
        if (b->end_line > b->line)
            stet_buf_printf(out, "-%u", b->end_line);
    }
    stet_buf_str(out, "\n  with one copy of each, compiling took ");
    stet_text_duration(out, a->unique_ns);
    stet_buf_str(out, " instead of ");
    stet_text_duration(out, a->whole_ns);
    if (a->unique_ns + a->noise_ns < a->whole_ns) {
        stet_buf_str(out, ": a loop over them (scan) saves about ");
        stet_text_duration(out, a->whole_ns - a->unique_ns);
    } else {
        stet_buf_str(out, ": a loop (scan) saves nothing");
    }
    stet_buf_char(out, '\n');
}

void stet_fit_text_costs(struct stet_buf *out, const struct stet_fit *fit)
{
    const struct stet_fit_program *p = costliest(fit);

    if (!p) {
        stet_buf_str(out, "\ncompile time by line could not be measured\n");
        return;
    }
    if (!p->fragments && p->ablation.whole_ns <= 2 * p->ablation.noise_ns) {
        stet_buf_printf(out, "\ncompile time of %s is too short to be measured by line\n",
                        p->item->name);
        return;
    }
    stet_buf_printf(out, "\ncompile time of %s by line: ", p->item->name);
    if (p->fragments) {
        stet_text_duration(out, p->fragments_ns);
        stet_buf_printf(out, " of processor time to generate %zu fragments of code\n",
                        p->fragments);
    } else {
        stet_text_duration(out, p->ablation.whole_ns);
        stet_buf_str(out, " of processor time; so much less without the line (±");
        stet_text_duration(out, p->ablation.noise_ns);
        stet_buf_str(out, "; lines that are compiled together count for each)\n");
    }
    put_costs(out, p);
    put_blocks(out, &p->ablation);
}
