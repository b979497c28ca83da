/* See remedy.h. */
#include "footprint/remedy.h"

#include "base/buf.h"
#include "base/mem.h"
#include "fingerprint/source_place.h"
#include "footprint/footprint_internal.h"
#include "program/print.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word, *text;
} advices[] = {
    [STET_REMEDY_REMATERIALISE] = {"rematerialise",
                                   "compute activations again in the backward pass: "
                                   "jax.checkpoint, nn.remat, torch.utils.checkpoint"},
    [STET_REMEDY_DONATE] = {"donate", "donate arguments that the step replaces: "
                                      "jax.jit(…, donate_argnums=…)"},
    [STET_REMEDY_SHARD] = {"shard", "shard arrays that every device holds whole"},
    [STET_REMEDY_BATCH] = {"smaller batch", "halve the batch, or accumulate gradients over two"},
};

const char *stet_remedy_word(enum stet_remedy_kind kind)
{
    return advices[kind].word;
}

const char *stet_remedy_text(enum stet_remedy_kind kind)
{
    return advices[kind].text;
}

/* ---- shardings ---- */

static bool has(struct stet_view text, const char *words)
{
    return text.len && memmem(text.ptr, text.len, words, strlen(words));
}

/* Is the array cut into parts? In Shardy's language an axis is named; in XLA's there are devices.
 */
static bool is_cut(const struct stet_attr *sharding)
{
    struct stet_buf text = STET_BUF_INIT;
    struct stet_view v;
    bool cut;

    if (!sharding)
        return false;
    stet_print_attr(&text, sharding);
    v = stet_buf_as_view(&text);
    cut = has(v, "{\"") || (has(v, "devices=[") && !has(v, "devices=[1,1]"));
    stet_buf_release(&text);
    return cut;
}

static double bytes_of(const struct stet_argument *a)
{
    return a->value ? stet_footprint_bytes(a->value->type, true) : 0;
}

/* Of an array on one device; how it is cut is not known more closely. */
static double share(double bytes, const struct stet_attr *sharding, uint32_t devices)
{
    return devices > 1 && is_cut(sharding) ? bytes / devices : bytes;
}

/* ---- the remedies ---- */

static void keep_largest(struct stet_remedy *a, double bytes, double *largest,
                         struct stet_view name)
{
    a->saves += (uint64_t)bytes;
    a->count++;
    if (bytes > *largest) {
        *largest = bytes;
        a->name = name;
    }
}

/* Results that nothing is donated to, with an argument of the same type that is not donated. */
static void donate(const struct stet_program *p, uint32_t devices, struct stet_remedy *out)
{
    bool *taken = stet_mem_calloc((size_t)p->output_count + 1, sizeof *taken);
    double largest = 0;

    for (uint32_t i = 0; taken && i < p->argument_count; i++) {
        if (p->arguments[i].alias >= 0 && (uint32_t)p->arguments[i].alias < p->output_count)
            taken[p->arguments[i].alias] = true;
    }
    for (int donors = 1; taken && donors >= 0; donors--) {
        for (uint32_t i = 0; i < p->argument_count; i++) {
            const struct stet_argument *a = &p->arguments[i];

            if (a->alias >= 0 || a->donor != donors || !a->value)
                continue;
            for (uint32_t k = 0; k < p->output_count; k++) {
                if (taken[k] || !stet_type_eq(a->value->type, p->outputs[k].type))
                    continue;
                taken[k] = true;
                if (!donors)
                    keep_largest(out, share(bytes_of(a), a->sharding, devices), &largest, a->name);
                break;
            }
        }
    }
    stet_mem_free(taken);
}

static void shard(const struct stet_program *p, uint32_t devices, struct stet_remedy *out)
{
    double largest = 0;

    for (uint32_t i = 0; devices > 1 && i < p->argument_count; i++) {
        const struct stet_argument *a = &p->arguments[i];
        const struct stet_type *t = a->value ? a->value->type : NULL;

        if (t && t->kind == STET_TYPE_TENSOR && t->rank && !is_cut(a->sharding))
            keep_largest(out, bytes_of(a) * (1 - 1.0 / devices), &largest, a->name);
    }
}

/* Is the operation of the backward pass? JAX names a part of a function after the transformation
 * that made it: jvp() is the forward pass of a gradient, transpose(jvp()) the backward pass. */
enum pass { OTHER, FORWARD, BACKWARD };

static enum pass pass_of(const struct stet_loc *loc)
{
    for (unsigned depth = 0; loc && depth < STET_MAX_DEPTH; depth++) {
        if (loc->kind == STET_LOC_NAME && has(loc->text, "transpose("))
            return BACKWARD;
        if (loc->kind == STET_LOC_NAME && has(loc->text, "jvp("))
            return FORWARD;
        if (loc->kind == STET_LOC_FILE || !loc->count)
            return OTHER;
        loc = loc->parts[0];
    }
    return OTHER;
}

/* A value of the forward pass that the backward pass reads is kept until then. */
static void rematerialise(const struct stet_program *p, uint32_t devices, struct stet_remedy *out)
{
    bool *counted = stet_mem_calloc((size_t)p->value_count + 1, sizeof *counted);
    double largest = 0;

    for (uint32_t f = 0; counted && f < p->function_count; f++) {
        const struct stet_block *b = stet_footprint_body(p->functions[f]);

        for (uint32_t i = 0; b && i < b->op_count; i++) {
            const struct stet_op *op = b->ops[i];

            if (pass_of(op->loc) != BACKWARD)
                continue;
            for (uint32_t k = 0; k < op->operand_count; k++) {
                const struct stet_value *v = stet_op_operand(op, k);
                const struct stet_op *from = stet_value_def(v);
                double bytes = stet_footprint_bytes(v->type, true) / (devices ? devices : 1);
                struct stet_place place;

                if (!from || counted[v->id] || pass_of(from->loc) != FORWARD ||
                    from->known == STET_STABLEHLO_CONSTANT ||
                    from->known == STET_STABLEHLO_BROADCAST_IN_DIM)
                    continue;
                counted[v->id] = true;
                place = stet_place_of(from->loc);
                if (bytes > largest) {
                    out->file = place.file;
                    out->line = place.line;
                }
                keep_largest(out, bytes, &largest, (struct stet_view){0});
            }
        }
    }
    stet_mem_free(counted);
}

/* Arguments that no result replaces are data, not state; their first dimension is the batch. */
static void batch(const struct stet_program *p, uint64_t temporaries, struct stet_remedy *out)
{
    double largest = 0;

    for (uint32_t i = 0; i < p->argument_count; i++) {
        const struct stet_argument *a = &p->arguments[i];
        const struct stet_type *t = a->value ? a->value->type : NULL;
        bool state = a->alias >= 0 || a->donor;

        for (uint32_t k = 0; t && k < p->output_count && !state; k++)
            state = stet_type_eq(t, p->outputs[k].type);
        if (state || !t || t->kind != STET_TYPE_TENSOR || !t->rank || t->dims[0] < 2)
            continue;
        out->count++;
        if (bytes_of(a) > largest) {
            largest = bytes_of(a);
            out->name = a->name;
        }
    }
    out->saves = out->count ? temporaries / 2 : 0;
}

static int larger_first(const void *a, const void *b)
{
    const struct stet_remedy *x = a, *y = b;

    if (x->saves != y->saves)
        return x->saves < y->saves ? 1 : -1;
    return (int)x->kind - (int)y->kind;
}

size_t stet_remedy_make(const struct stet_program *p, uint32_t devices, uint64_t temporaries,
                        struct stet_remedy out[STET_REMEDIES])
{
    size_t count = 0;

    for (int k = 0; k < STET_REMEDIES; k++)
        out[k] = (struct stet_remedy){.kind = (enum stet_remedy_kind)k};
    rematerialise(p, devices, &out[STET_REMEDY_REMATERIALISE]);
    donate(p, devices, &out[STET_REMEDY_DONATE]);
    shard(p, devices, &out[STET_REMEDY_SHARD]);
    batch(p, temporaries, &out[STET_REMEDY_BATCH]);
    if (temporaries && out[STET_REMEDY_REMATERIALISE].saves > temporaries)
        out[STET_REMEDY_REMATERIALISE].saves = temporaries; /* some of them are never in memory */
    qsort(out, STET_REMEDIES, sizeof *out, larger_first);
    while (count < STET_REMEDIES && out[count].saves)
        count++;
    return count;
}

/* ---- the largest values ---- */

/* "dot_general" of stablehlo.dot_general. */
static struct stet_view bare_name(const struct stet_op *op)
{
    struct stet_view name = stet_op_name(op);
    const char *dot = name.len ? memchr(name.ptr, '.', name.len) : NULL;

    return dot ? stet_view_of(dot + 1, name.len - (size_t)(dot - name.ptr) - 1) : name;
}

static void add_value(struct stet_remedy_line *lines, size_t *count, size_t room,
                      const struct stet_op *op, const struct stet_value *v)
{
    struct stet_place place = stet_place_of(op->loc);
    double bytes = stet_footprint_bytes(v->type, true);
    struct stet_remedy_line *at = NULL;

    if (!place.line || bytes < 1)
        return;
    for (size_t i = 0; i < *count && !at; i++) {
        if (lines[i].line == place.line && stet_view_eq(lines[i].file, place.file))
            at = &lines[i];
    }
    if (!at && *count < room) {
        at = &lines[(*count)++];
        *at = (struct stet_remedy_line){
            .file = place.file, .line = place.line, .function = place.function};
    }
    if (!at)
        return;
    at->bytes += (uint64_t)bytes;
    at->count++;
    if ((uint64_t)bytes > at->largest) {
        at->largest = (uint64_t)bytes;
        at->type = v->type;
        at->operation = bare_name(op);
    }
}

static int larger_line_first(const void *a, const void *b)
{
    const struct stet_remedy_line *x = a, *y = b;

    if (x->largest != y->largest)
        return x->largest < y->largest ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->line < y->line ? -1 : x->line > y->line;
}

enum { MOST_LINES = 4096 };

size_t stet_remedy_lines(const struct stet_program *p, struct stet_remedy_line *out, size_t most)
{
    struct stet_remedy_line *lines = stet_mem_calloc(MOST_LINES, sizeof *lines);
    size_t count = 0;

    for (uint32_t f = 0; lines && f < p->function_count; f++) {
        const struct stet_block *b = stet_footprint_body(p->functions[f]);

        for (uint32_t i = 0; b && i < b->op_count; i++) {
            const struct stet_op *op = b->ops[i];

            if (op->known == STET_FUNC_CALL || op->known == STET_STABLEHLO_WHILE)
                continue; /* what is made inside is counted there */
            for (uint32_t k = 0; k < op->result_count; k++)
                add_value(lines, &count, MOST_LINES, op, &op->results[k]);
        }
    }
    if (count)
        qsort(lines, count, sizeof *lines, larger_line_first);
    count = count < most ? count : most;
    if (lines)
        memcpy(out, lines, count * sizeof *out);
    stet_mem_free(lines);
    return count;
}
