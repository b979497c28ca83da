/* What a compiler would compute of the values that are to be lifted. A float that it converts to an
 * integer must stay a constant: what a float outside the range of the integers becomes depends on
 * what computes it. Values are followed into functions and regions, and out of them. */
#include "base/mem.h"
#include "lift/lift_internal.h"

/* Operands from this number on share a bit. */
enum { LAST_BIT = 63 };

struct folding {
    const struct stet_program *program;
    uint64_t *lifted; /* by operation id: a bit for each operand that is to be lifted */
    bool *known;      /* by value id: computed from such operands and from constants */
    bool changed, becomes_integer;
};

static uint64_t bit_of(uint32_t operand)
{
    return UINT64_C(1) << (operand < LAST_BIT ? operand : LAST_BIT);
}

static bool is_to_integer(const struct stet_op *op)
{
    return op->known == STET_STABLEHLO_CONVERT &&
           stet_op_operand(op, 0)->type->element->kind == STET_TYPE_FLOAT &&
           op->results[0].type->element->kind == STET_TYPE_INTEGER;
}

static bool is_something_else(const struct stet_op *op, void *unused)
{
    (void)unused;
    return !is_to_integer(op);
}

static bool is_known(const struct folding *f, const struct stet_op *op, uint32_t i)
{
    return f->lifted[op->id] & bit_of(i) || f->known[stet_op_operand(op, i)->id];
}

static void mark(struct folding *f, const struct stet_value *v)
{
    f->changed |= !f->known[v->id];
    f->known[v->id] = true;
}

/* The operands of `op` are the arguments of the block, and what it returns are the results. */
static void pass(struct folding *f, const struct stet_op *op, const struct stet_block *b)
{
    const struct stet_op *last = b->op_count ? b->ops[b->op_count - 1] : NULL;

    for (uint32_t i = 0; i < op->operand_count && i < b->arg_count; i++) {
        if (is_known(f, op, i))
            mark(f, &b->args[i]);
    }
    for (uint32_t i = 0; last && i < last->operand_count && i < op->result_count; i++) {
        if (is_known(f, last, i))
            mark(f, &op->results[i]);
    }
}

/* What the body of a loop returns are also its arguments in the next turn, and without a turn the
 * operands are the results. */
static void pass_loop(struct folding *f, const struct stet_op *op)
{
    for (uint32_t i = 0; i < op->operand_count && i < op->result_count; i++) {
        if (!is_known(f, op, i) && !f->known[op->results[i].id])
            continue;
        mark(f, &op->results[i]);
        for (uint32_t r = 0; r < op->region_count; r++) {
            const struct stet_region *region = stet_op_region(op, r);

            if (region->block_count && i < region->blocks[0]->arg_count)
                mark(f, &region->blocks[0]->args[i]);
        }
    }
}

/* Would a compiler compute this operation? */
static bool folds(const struct folding *f, const struct stet_op *op)
{
    bool any = false;

    for (uint32_t i = 0; i < op->operand_count; i++) {
        bool one = is_known(f, op, i);

        if (!one && !stet_lift_constant_of(op, i))
            return false;
        any |= one;
    }
    return any;
}

static void pass_barrier(struct folding *f, const struct stet_op *op)
{
    for (uint32_t i = 0; i < op->operand_count && i < op->result_count; i++) {
        if (is_known(f, op, i))
            mark(f, &op->results[i]);
    }
}

static void pass_call(struct folding *f, const struct stet_op *op)
{
    uint32_t callee = stet_lift_callee(f->program, op);

    if (callee != UINT32_MAX)
        pass(f, op, stet_op_region(f->program->functions[callee], 0)->blocks[0]);
}

static bool visit(const struct stet_op *op, void *context)
{
    struct folding *f = context;

    if (is_to_integer(op))
        f->becomes_integer |= is_known(f, op, 0);
    if (stet_lift_names_function(op))
        pass_call(f, op);
    else if (op->known == STET_STABLEHLO_OPTIMIZATION_BARRIER)
        pass_barrier(f, op);
    else if (op->known != STET_FUNC_FUNC && op->known != STET_BUILTIN_MODULE) {
        for (uint32_t r = 0; r < op->region_count; r++) {
            for (uint32_t b = 0; b < stet_op_region(op, r)->block_count; b++)
                pass(f, op, stet_op_region(op, r)->blocks[b]);
        }
    }
    if (op->known == STET_STABLEHLO_WHILE)
        pass_loop(f, op);
    for (uint32_t i = 0; i < op->result_count && folds(f, op); i++)
        mark(f, &op->results[i]);
    return !f->becomes_integer;
}

static bool is_float(const struct stet_lift_use *use)
{
    return !use->is_start &&
           stet_op_operand(use->op, use->index)->type->element->kind == STET_TYPE_FLOAT;
}

static bool follow(struct folding *f)
{
    do {
        f->changed = false;
        stet_program_walk(f->program, visit, f);
    } while (f->changed && !f->becomes_integer);
    return f->becomes_integer;
}

bool stet_lift_becomes_integer(const struct stet_lift_match *m, const uint8_t *argument_of)
{
    struct folding f = {.program = m->base};
    bool integer = true;

    if (stet_program_walk(m->base, is_something_else, NULL))
        return false;
    f.lifted = stet_mem_calloc((size_t)m->base->op_count + 1, sizeof *f.lifted);
    f.known = stet_mem_calloc((size_t)m->base->value_count + 1, sizeof *f.known);
    for (size_t i = 0; f.lifted && i < m->uses.count; i++) {
        if (argument_of[i] != STET_LIFT_NONE && is_float(&m->uses.items[i]))
            f.lifted[m->uses.items[i].op->id] |= bit_of(m->uses.items[i].index);
    }
    if (f.lifted && f.known)
        integer = follow(&f);
    stet_mem_free(f.lifted);
    stet_mem_free(f.known);
    return integer;
}
