/* See fit_blocks.h. */
#include "fit/fit_blocks.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "fingerprint/source_place.h"
#include "program/ops.h"
#include "program/print.h"

#include <stdlib.h>

/* A block is worth a loop from this many operations on; no period is searched beyond this many
 * occurrences of its first operation; calls are followed to this depth. */
enum { LEAST_BLOCK = 8, MOST_PERIODS = 64, MOST_CALLS = 8 };

/* An operation of the entry function. */
struct step {
    const struct stet_op *op;
    uint64_t kind;   /* equal for operations that are alike */
    uint32_t weight; /* operations in it */
    size_t next;     /* the next one of this kind */
};

struct search {
    const struct stet_program *p;
    STET_VEC(struct step) steps;
    struct stet_fit_blocks *out;
};

/* ---- operations ---- */

static uint64_t hash_type(uint64_t seed, const struct stet_type *t)
{
    struct stet_buf text = STET_BUF_INIT;

    stet_print_type(&text, t);
    seed = seed * 31 + stet_map_text(stet_buf_as_view(&text));
    stet_buf_release(&text);
    return seed;
}

static uint64_t kind_of(const struct stet_op *op, const struct stet_place *place)
{
    uint64_t h = stet_map_text(stet_op_name(op)) * 31 + place->line;

    h = h * 31 + stet_map_text(place->file);
    for (uint32_t i = 0; i < op->operand_count; i++)
        h = hash_type(h, stet_op_operand(op, i)->type);
    for (uint32_t i = 0; i < op->result_count; i++)
        h = hash_type(h * 7, op->results[i].type);
    return h;
}

static uint32_t weigh(const struct stet_program *p, const struct stet_op *op, unsigned depth)
{
    const struct stet_attr *callee =
        op->known == STET_FUNC_CALL ? stet_op_attr(op, "callee") : NULL;
    const struct stet_op *called = callee ? stet_program_function(p, stet_attr_text(callee)) : NULL;
    uint32_t sum = 1;

    for (uint32_t r = 0; r < op->region_count && depth; r++) {
        const struct stet_region *region = stet_op_region(op, r);

        for (uint32_t k = 0; k < region->block_count; k++) {
            for (uint32_t i = 0; i < region->blocks[k]->op_count; i++)
                sum += weigh(p, region->blocks[k]->ops[i], depth - 1);
        }
    }
    return called && depth ? sum + weigh(p, called, depth - 1) : sum;
}

/* ---- lines ---- */

static uint64_t line_key(struct stet_view file, uint32_t line)
{
    return stet_map_text(file) * 31 + line;
}

static int larger_first(const void *a, const void *b)
{
    const struct stet_fit_block_line *x = a, *y = b;

    if (x->operations != y->operations)
        return x->operations < y->operations ? 1 : -1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void count_lines(struct search *s)
{
    struct stet_fit_blocks *b = s->out;
    struct stet_map known = {0};

    for (size_t i = 0; i < s->steps.count; i++) {
        const struct step *step = &s->steps.items[i];
        struct stet_place place = stet_place_of(step->op->loc);
        uint64_t key = line_key(place.file, place.line);
        uint32_t at = place.line ? stet_map_get(&known, key) : 0;

        if (at == STET_MAP_NONE) {
            at = (uint32_t)b->lines.count;
            STET_VEC_PUSH(&b->lines,
                          (struct stet_fit_block_line){place.file, place.function, place.line, 0});
            stet_map_put(&known, key, at);
        }
        if (place.line && at < b->lines.count)
            b->lines.items[at].operations += step->weight;
    }
    if (b->lines.count)
        qsort(b->lines.items, b->lines.count, sizeof *b->lines.items, larger_first);
    for (size_t i = 0; i < b->lines.count; i++)
        stet_map_put(&known, line_key(b->lines.items[i].file, b->lines.items[i].line), (uint32_t)i);
    for (size_t i = 0; i < s->steps.count && !b->lines.failed; i++) {
        struct stet_place place = stet_place_of(s->steps.items[i].op->loc);

        if (place.line)
            b->line_of[s->steps.items[i].op->id] =
                1 + stet_map_get(&known, line_key(place.file, place.line));
    }
    s->steps.failed |= known.failed || b->lines.failed;
    stet_map_release(&known);
}

/* ---- the sequence ---- */

static void list(struct search *s, const struct stet_block *body)
{
    struct stet_map last = {0};

    for (uint32_t i = 0; i < body->op_count; i++) {
        const struct stet_op *op = body->ops[i];
        struct stet_place place = stet_place_of(op->loc);

        if (op->known != STET_STABLEHLO_CONSTANT && op->known != STET_FUNC_RETURN)
            STET_VEC_PUSH(&s->steps, (struct step){op, kind_of(op, &place),
                                                   weigh(s->p, op, MOST_CALLS), SIZE_MAX});
    }
    for (size_t i = s->steps.count; i-- > 0;) {
        uint32_t at = stet_map_get(&last, s->steps.items[i].kind);

        if (at != STET_MAP_NONE)
            s->steps.items[i].next = at;
        stet_map_put(&last, s->steps.items[i].kind, (uint32_t)i);
    }
    s->steps.failed |= last.failed;
    stet_map_release(&last);
}

/* How many operations from `at` on are like those `period` later. */
static size_t alike(const struct search *s, size_t at, size_t period)
{
    size_t n = 0;

    while (at + period + n < s->steps.count &&
           s->steps.items[at + n].kind == s->steps.items[at + period + n].kind)
        n++;
    return n;
}

static uint32_t weight_of(const struct search *s, size_t from, size_t to)
{
    uint32_t sum = 0;

    while (from < to)
        sum += s->steps.items[from++].weight;
    return sum;
}

/* The period with which most operations repeat from `at` on; 0 for none. */
static size_t best_period(const struct search *s, size_t at, size_t *copies)
{
    size_t best = 0, covered = 0, tries = 0;

    for (size_t i = s->steps.items[at].next; i != SIZE_MAX && tries < MOST_PERIODS;
         i = s->steps.items[i].next, tries++) {
        size_t period = i - at, n = 1 + alike(s, at, period) / period;

        if (n > 1 && n * period > covered && weight_of(s, at, i) >= LEAST_BLOCK) {
            covered = n * period;
            best = period;
            *copies = n;
        }
    }
    return best;
}

static void keep(struct search *s, size_t at, size_t period, size_t copies)
{
    struct stet_fit_block b = {.copies = (uint32_t)copies,
                               .operations = weight_of(s, at, at + period)};

    for (size_t i = at; i < at + period; i++) {
        struct stet_place place = stet_place_of(s->steps.items[i].op->loc);

        if (!b.line && place.line) {
            b.file = place.file;
            b.line = b.end_line = place.line;
        } else if (place.line && stet_view_eq(place.file, b.file)) {
            b.line = place.line < b.line ? place.line : b.line;
            b.end_line = place.line > b.end_line ? place.line : b.end_line;
        }
    }
    for (size_t i = at + period; i < at + copies * period; i++)
        s->out->copy[s->steps.items[i].op->id] = 1;
    STET_VEC_PUSH(&s->out->items, b);
}

enum stet_rc stet_fit_blocks_find(struct stet_fit_blocks *b, const struct stet_program *p,
                                  struct stet_err *err)
{
    struct search s = {.p = p, .out = b};
    const struct stet_region *region =
        p->entry && p->entry->region_count ? stet_op_region(p->entry, 0) : NULL;
    bool failed;

    *b = (struct stet_fit_blocks){0};
    b->copy = stet_mem_calloc((size_t)p->op_count + 1, sizeof *b->copy);
    b->line_of = stet_mem_calloc((size_t)p->op_count + 1, sizeof *b->line_of);
    if (b->copy && b->line_of && region && region->block_count) {
        list(&s, region->blocks[0]);
        count_lines(&s);
    }
    for (size_t at = 0; at < s.steps.count;) {
        size_t copies = 0, period = best_period(&s, at, &copies);

        if (period)
            keep(&s, at, period, copies);
        at += period ? period * copies : 1;
    }
    failed = !b->copy || !b->line_of || s.steps.failed || b->items.failed;
    STET_VEC_RELEASE(&s.steps);
    return failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for the blocks of a program")
                  : STET_OK;
}

void stet_fit_blocks_release(struct stet_fit_blocks *b)
{
    STET_VEC_RELEASE(&b->items);
    STET_VEC_RELEASE(&b->lines);
    stet_mem_free(b->copy);
    stet_mem_free(b->line_of);
}
