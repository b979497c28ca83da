/* The exact canonical key: every operation in its order, but for names, numbers and locations. */
#include "fingerprint/internal.h"

#include "program/defaults.h"
#include "program/ops.h"

struct key {
    struct stet_canon *canon;
    struct stet_sink *out;
    unsigned depth;
    bool too_deep;
};

/* A symbol is its place among the module's symbols. */
static bool write_symbol(struct stet_sink *s, struct stet_view name, void *context)
{
    struct key *k = context;
    uint32_t index;

    if (!stet_canon_symbol(k->canon, name, &index))
        return false;
    stet_sink_varint(s, index);
    return true;
}

/* Argument and result dictionaries without their names for people. */
static void dictionaries(struct key *k, const struct stet_attr *array,
                         const struct stet_symbol_writer *symbols)
{
    stet_sink_varint(k->out, array->count);
    for (uint32_t i = 0; i < array->count; i++) {
        const struct stet_attr *dict = array->items[i];

        if (dict->kind != STET_ATTR_DICT)
            continue;
        for (uint32_t j = 0; j < dict->count; j++) {
            const struct stet_named_attr *n = &dict->named[j];

            if (stet_canon_attr(n) == STET_CLASS_NAMES)
                continue;
            stet_sink_view(k->out, n->name);
            stet_content_attr(k->out, n->value, symbols);
        }
        stet_sink_u8(k->out, 0);
    }
}

/* VHLO keeps no channel type on collectives, so only their number can count. */
static const struct stet_attr *kept(const struct stet_op *op, const struct stet_named_attr *n)
{
    const struct stet_attr *handle;

    if (!stet_view_is(n->name, "channel_handle") || (stet_op_facts(op) & STET_OP_EFFECT))
        return n->value;
    handle = stet_attr_field(n->value, "handle");
    return handle ? handle : n->value;
}

static void attributes(struct key *k, const struct stet_op *op)
{
    const struct stet_symbol_writer symbols = {write_symbol, k};

    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_named_attr *n = &op->attrs[i];
        const struct stet_attr_memo *memo = stet_canon_memo(k->canon, op, n);

        if (memo->silent || memo->class == STET_CLASS_NAMES)
            continue;
        if (memo->class == STET_CLASS_ARG_ATTRS || memo->class == STET_CLASS_RES_ATTRS) {
            if (n->value->kind == STET_ATTR_ARRAY)
                dictionaries(k, n->value, &symbols);
        } else if (memo->symbols || memo->class == STET_CLASS_KEY) {
            stet_sink_view(k->out, n->name);
            stet_content_attr(k->out, kept(op, n), &symbols);
        } else {
            stet_sink_u64(k->out, memo->name_hash);
            stet_sink_short(k->out, memo->content.bytes, memo->content.length);
        }
    }
    stet_sink_u8(k->out, 0);
}

static void type(struct key *k, const struct stet_type *t)
{
    const struct stet_type_memo *memo = stet_canon_type(k->canon, t);

    stet_sink_short(k->out, memo->content.bytes, memo->content.length);
}

static void operation(struct key *k, const struct stet_op *op);

static void region(struct key *k, const struct stet_region *r)
{
    stet_sink_varint(k->out, r->block_count);
    for (uint32_t b = 0; b < r->block_count; b++) {
        const struct stet_block *block = r->blocks[b];

        stet_sink_varint(k->out, block->arg_count);
        for (uint32_t i = 0; i < block->arg_count; i++)
            type(k, block->args[i].type);
        stet_sink_varint(k->out, block->op_count);
        for (uint32_t i = 0; i < block->op_count; i++)
            operation(k, block->ops[i]);
    }
}

/* Where among the blocks of its region a successor stands. */
static uint32_t block_place(const struct stet_op *op, const struct stet_block *target)
{
    const struct stet_op *around = op->parent ? op->parent->parent : NULL;

    for (unsigned r = 0; around && r < around->region_count; r++)
        for (uint32_t b = 0; b < around->regions[r].block_count; b++)
            if (around->regions[r].blocks[b] == target)
                return b + 1;
    return 0;
}

static void operation(struct key *k, const struct stet_op *op)
{
    if (k->depth > STET_MAX_DEPTH) {
        k->too_deep = true;
        return;
    }
    stet_sink_u64(k->out, stet_canon_name(k->canon, stet_op_portable_name(op))->hash);
    stet_sink_varint(k->out, op->operand_count);
    for (uint32_t i = 0; i < op->operand_count; i++) /* ids are in order of appearance */
        stet_sink_varint(k->out, op->operands[i]->id);
    stet_sink_varint(k->out, op->result_count);
    for (uint32_t i = 0; i < op->result_count; i++)
        type(k, op->results[i].type);
    attributes(k, op);
    for (unsigned i = 0; i < op->successor_count; i++)
        stet_sink_varint(k->out, block_place(op, op->successors[i]));
    stet_sink_varint(k->out, op->region_count);
    k->depth++;
    for (unsigned i = 0; i < op->region_count; i++)
        region(k, &op->regions[i]);
    k->depth--;
}

enum stet_rc stet_key_make(struct stet_canon *c, struct stet_sink *scratch, struct stet_hash *out,
                           struct stet_err *err)
{
    struct key k = {.canon = c, .out = scratch};

    stet_sink_varint(scratch, STET_FINGERPRINT_VERSION);
    operation(&k, c->program->module);
    for (uint32_t i = 0; i < c->program->argument_count;
         i++) { /* HLO says it beside the arguments */
        stet_sink_int(scratch, c->program->arguments[i].alias);
        stet_sink_u8(scratch, c->program->arguments[i].donor);
    }
    if (k.too_deep)
        return stet_fail(err, STET_LIMIT, "operations are nested deeper than %d", STET_MAX_DEPTH);
    *out = stet_sink_digest(scratch);
    return STET_OK;
}
