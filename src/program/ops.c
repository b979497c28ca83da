/* Lookup in ops.def, which is sorted by name. */
#include "program/ops.h"

struct entry {
    struct stet_view name;
    unsigned facts;
};

static const struct entry known[STET_KNOWN_OPS] = {
    {{"", 0}, STET_OP_EFFECT},
#define OP(identifier, name, facts) {{name, sizeof(name) - 1}, facts},
#include "program/ops.def"
#undef OP
};

enum stet_known_op stet_known_op(struct stet_view name)
{
    size_t low = 1, high = STET_KNOWN_OPS;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = stet_view_cmp(name, known[middle].name);

        if (order == 0)
            return (enum stet_known_op)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return STET_OP_UNKNOWN;
}

const char *stet_known_op_name(enum stet_known_op op)
{
    return op < STET_KNOWN_OPS ? known[op].name.ptr : "";
}

struct stet_view stet_known_op_view(uint32_t op)
{
    return op < STET_KNOWN_OPS ? known[op].name : (struct stet_view){0};
}

unsigned stet_known_op_facts(enum stet_known_op op)
{
    return op < STET_KNOWN_OPS ? known[op].facts : (unsigned)STET_OP_EFFECT;
}

unsigned stet_op_facts(const struct stet_op *op)
{
    return stet_known_op_facts((enum stet_known_op)op->known);
}

static bool is_pure(const struct stet_op *op, unsigned depth)
{
    unsigned facts = stet_op_facts(op);
    const struct stet_attr *effect;

    if (facts & (STET_OP_PURE | STET_OP_TERMINATOR))
        return true;
    if (facts & STET_OP_ASK) {
        effect = stet_op_attr(op, "has_side_effect");
        return !effect || stet_attr_int(effect) == 0;
    }
    if (!(facts & STET_OP_RECURSIVE) || depth == STET_MAX_DEPTH)
        return false;
    for (unsigned r = 0; r < op->region_count; r++)
        for (uint32_t b = 0; b < stet_op_region(op, r)->block_count; b++) {
            const struct stet_block *block = stet_op_region(op, r)->blocks[b];

            for (uint32_t i = 0; i < block->op_count; i++)
                if (!is_pure(block->ops[i], depth + 1))
                    return false;
        }
    return true;
}

bool stet_op_is_pure(const struct stet_op *op)
{
    return is_pure(op, 0);
}
