/* The order in which XLA prints instructions (HloComputation::ForEachInstructionPostOrder). */
#include "decode/hlo/hlo_build.h"

#include "base/vec.h"

#include <stdlib.h>

enum state { NEW, VISITING, VISITED };

struct root {
    uint64_t key;
    uint32_t at;
};

struct order {
    struct stet_hlo_build *b;
    unsigned char *state, *used;
    uint32_t *stack, *result;
    struct root *roots;
    size_t depth, stack_room, done, root_count;
    bool failed;
};

static void push(struct order *o, uint32_t i)
{
    if (o->state[i] == VISITED)
        return;
    if (!stet_vec_room(&o->stack, &o->stack_room, o->depth, sizeof *o->stack)) {
        o->failed = true;
        return;
    }
    o->stack[o->depth++] = i;
}

/* The first operand is visited first; control predecessors, last one first, before all of them. */
static void visit(struct order *o, uint32_t root)
{
    push(o, root);
    while (o->depth && !o->failed) {
        uint32_t at = o->stack[o->depth - 1];
        const struct stet_hlo_instr *in = &o->b->instrs[at];
        uint32_t data = in->operand_count - in->control_count;

        if (o->state[at] == NEW) {
            o->state[at] = VISITING;
            for (uint32_t k = data; k-- > 0;)
                push(o, in->operands[k]);
            for (uint32_t k = data; k < in->operand_count; k++)
                push(o, in->operands[k]);
            continue;
        }
        o->depth--;
        if (o->state[at] == VISITED)
            continue;
        o->state[at] = VISITED;
        o->result[o->done++] = at;
    }
}

static int by_key(const void *a, const void *b)
{
    const struct root *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

static void find_roots(struct order *o)
{
    const struct stet_hlo_build *b = o->b;

    for (size_t i = 0; i < b->instr_count; i++)
        for (uint32_t k = 0; k < b->instrs[i].operand_count - b->instrs[i].control_count; k++)
            o->used[b->instrs[i].operands[k]] = 1;
    for (size_t i = 0; i < b->instr_count; i++)
        if (!o->used[i])
            o->roots[o->root_count++] = (struct root){b->by_id ? b->instrs[i].key : i, (uint32_t)i};
    qsort(o->roots, o->root_count, sizeof *o->roots, by_key);
}

/* Operands and the root are positions, and all of them change. */
static void renumber(struct order *o, size_t *root)
{
    struct stet_hlo_build *b = o->b;
    uint32_t *now = o->stack; /* old position → new one; the stack is no longer needed */

    for (size_t i = 0; i < o->done; i++)
        now[o->result[i]] = (uint32_t)i;
    for (size_t i = 0; i < o->done; i++)
        for (uint32_t k = 0; k < b->instrs[i].operand_count; k++)
            b->instrs[i].operands[k] = now[b->instrs[i].operands[k]];
    *root = now[*root];
}

/* Moves each to its new position in place: one is taken out, what belongs in its position moves
 * there, and so on around the cycle. */
static void move(struct order *o)
{
    struct stet_hlo_instr *instrs = o->b->instrs;

    for (uint32_t i = 0; i < o->done; i++) {
        struct stet_hlo_instr out = instrs[i];
        uint32_t hole = i, from;

        if (o->result[i] == i)
            continue;
        while ((from = o->result[hole]) != i) {
            instrs[hole] = instrs[from];
            o->result[hole] = hole;
            hole = from;
        }
        instrs[hole] = out;
        o->result[hole] = hole;
    }
}

bool stet_decode_hlo_post_order(struct stet_hlo_build *b, size_t *root)
{
    size_t n = b->instr_count;
    struct order o = {.b = b, .stack_room = n + 1};
    bool ok;

    o.state = stet_mem_calloc(n + 1, 1);
    o.used = stet_mem_calloc(n + 1, 1);
    o.stack = stet_mem_calloc(n + 1, sizeof *o.stack);
    o.result = stet_mem_calloc(n + 1, sizeof *o.result);
    o.roots = stet_mem_calloc(n + 1, sizeof *o.roots);
    ok = o.state && o.used && o.stack && o.result && o.roots;
    if (ok) {
        find_roots(&o);
        for (size_t i = 0; i < o.root_count; i++)
            visit(&o, o.roots[i].at);
        /* used only by control: XLA would not print it, but Stet keeps it */
        for (size_t i = 0; i < n; i++)
            visit(&o, (uint32_t)i);
        ok = !o.failed;
    }
    if (ok) {
        renumber(&o, root);
        move(&o);
    }
    stet_mem_free(o.state);
    stet_mem_free(o.used);
    stet_mem_free(o.stack);
    stet_mem_free(o.result);
    stet_mem_free(o.roots);
    return ok;
}
