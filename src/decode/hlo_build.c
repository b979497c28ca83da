/* From instructions as read to operations, computation by computation; see hlo_build.h. */
#include "decode/hlo_build.h"

#include "base/hash.h"
#include "base/mem.h"
#include "program/ops.h"

void stet_hlo_build_init(struct stet_hlo_build *b, struct stet_program *p, size_t input,
                         struct stet_err *err)
{
    size_t cap;

    memset(b, 0, sizeof *b);
    memset(p, 0, sizeof *p);
    /* a small instruction of 40 bytes becomes about 1 KB; lists of small numbers grow eightfold */
    if (stet_mul_overflows(input, 64, &cap) || stet_add_overflows(cap, 1 << 20, &cap))
        cap = SIZE_MAX / 2;
    stet_arena_init(&p->arena, cap);
    b->p = p;
    b->a = &p->arena;
    b->err = err;
}

void stet_hlo_build_release(struct stet_hlo_build *b, bool keep)
{
    stet_mem_free(b->instrs);
    stet_mem_free(b->slots);
    stet_list_release(&b->computations);
    stet_list_release(&b->offsets);
    if (!keep)
        stet_program_release(b->p);
    b->instrs = NULL;
    b->slots = NULL;
}

enum stet_rc stet_hlo_build_full(struct stet_hlo_build *b)
{
    bool cap = b->a->failed && b->a->used + (b->a->used >> 2) > b->a->cap;

    return stet_fail(b->err, cap ? STET_LIMIT : STET_NO_MEMORY, "%s while reading an HLO program",
                     cap ? "memory cap" : "out of memory");
}

/* ---- what repeats ---- */

const void *stet_hlo_recall(struct stet_hlo_build *b, struct stet_view raw)
{
    size_t slot = stet_hash_bytes(raw).lo % STET_HLO_CACHE;

    return b->cache[slot].made && stet_view_eq(b->cache[slot].raw, raw) ? b->cache[slot].made
                                                                        : NULL;
}

void stet_hlo_remember(struct stet_hlo_build *b, struct stet_view raw, const void *made)
{
    size_t slot = stet_hash_bytes(raw).lo % STET_HLO_CACHE;

    b->cache[slot].raw = raw;
    b->cache[slot].made = made;
}

/* ---- the computation being read ---- */

struct stet_hlo_instr *stet_hlo_instr_add(struct stet_hlo_build *b)
{
    if (b->instr_count == b->instr_room) {
        size_t room = b->instr_room ? b->instr_room * 2 : 64;
        struct stet_hlo_instr *grown = stet_mem_resize(b->instrs, room, sizeof *grown);

        if (!grown)
            return NULL;
        b->instrs = grown;
        b->instr_room = room;
    }
    memset(&b->instrs[b->instr_count], 0, sizeof *b->instrs);
    b->instrs[b->instr_count].parameter = -1;
    return &b->instrs[b->instr_count++];
}

static size_t slot_of(const struct stet_hlo_build *b, uint64_t key)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (b->slot_count - 1);
}

int64_t stet_hlo_instr_find(const struct stet_hlo_build *b, uint64_t key, struct stet_view name)
{
    if (!b->slot_count)
        return -1;
    for (size_t s = slot_of(b, key); b->slots[s]; s = (s + 1) & (b->slot_count - 1)) {
        const struct stet_hlo_instr *i = &b->instrs[b->slots[s] - 1];

        if (i->key == key && (!name.ptr || stet_view_eq(name, i->name)))
            return b->slots[s] - 1;
    }
    return -1;
}

static void slot_put(struct stet_hlo_build *b, size_t position)
{
    size_t s = slot_of(b, b->instrs[position].key);

    while (b->slots[s])
        s = (s + 1) & (b->slot_count - 1);
    b->slots[s] = (uint32_t)position + 1;
}

static bool slots_grow(struct stet_hlo_build *b)
{
    size_t want = b->slot_count ? b->slot_count * 2 : 128;
    uint32_t *slots = stet_mem_calloc(want, sizeof *slots);

    if (!slots)
        return false;
    stet_mem_free(b->slots);
    b->slots = slots;
    b->slot_count = want;
    for (size_t i = 0; i + 1 < b->instr_count; i++)
        slot_put(b, i);
    return true;
}

bool stet_hlo_instr_publish(struct stet_hlo_build *b, bool by_name)
{
    const struct stet_hlo_instr *last = &b->instrs[b->instr_count - 1];

    if (stet_hlo_instr_find(b, last->key, by_name ? last->name : (struct stet_view){0}) >= 0)
        return false;
    if (b->instr_count * 2 > b->slot_count && !slots_grow(b)) {
        b->a->failed = true;
        return true;
    }
    slot_put(b, b->instr_count - 1);
    return true;
}

/* ---- the end of a computation ---- */

static const struct stet_loc *named(struct stet_hlo_build *b, struct stet_view name,
                                    const struct stet_loc *inside)
{
    struct stet_loc *l = STET_NEW(b->a, struct stet_loc);
    const struct stet_loc **parts = inside ? stet_arena_alloc(b->a, 1, sizeof *parts) : NULL;

    if (!l || (inside && !parts))
        return NULL;
    l->kind = STET_LOC_NAME;
    l->text = name;
    l->parts = parts;
    l->count = inside != NULL;
    if (inside)
        parts[0] = inside;
    return l;
}

/* A parameter's place among the instructions is for printing only, so it is in the location, with
 * the metadata as it was. */
static const struct stet_loc *parameter_loc(struct stet_hlo_build *b,
                                            const struct stet_hlo_instr *in)
{
    struct stet_loc *l = STET_NEW(b->a, struct stet_loc);
    const struct stet_loc **parts = stet_arena_alloc(b->a, 1, sizeof *parts);
    struct stet_named_attr *order = STET_NEW(b->a, struct stet_named_attr);

    if (!l || !parts || !order)
        return NULL;
    order->name = STET_VIEW("order");
    order->value = stet_hlo_new_int(b->a, in - b->instrs);
    l->kind = STET_LOC_FUSED;
    l->metadata = stet_hlo_new_record(b->a, NULL, order, 1);
    l->parts = parts;
    if (in->metadata)
        parts[l->count++] = in->metadata;
    return named(b, in->name, l);
}

static bool make_op(struct stet_hlo_build *b, const struct stet_hlo_instr *in, struct stet_op *op,
                    struct stet_block *block)
{
    op->name = in->op ? stet_view_str(stet_known_op_name(stet_hlo_known(in->op)))
                      : stet_arena_printf(b->a, "hlo.%.*s", STET_FMT(in->opcode));
    op->known = in->op ? stet_hlo_known(in->op) : STET_OP_UNKNOWN;
    op->parent = block;
    op->loc = named(b, in->name, in->metadata);
    op->attrs = in->attrs;
    op->attr_count = in->attr_count;
    op->results = STET_NEW(b->a, struct stet_value);
    if (!op->results)
        return false;
    op->result_count = 1;
    op->results->type = in->type;
    op->results->def = op;
    return stet_build_sort(in->attrs, in->attr_count);
}

static enum stet_rc make_parameters(struct stet_hlo_build *b, struct stet_block *block,
                                    struct stet_value **values, const struct stet_attr **dicts)
{
    for (size_t i = 0; i < b->instr_count; i++) {
        const struct stet_hlo_instr *in = &b->instrs[i];
        struct stet_value *v;

        if (in->parameter < 0)
            continue;
        if (in->parameter >= block->arg_count || block->args[in->parameter].type)
            return stet_fail_at(b->err, STET_BAD_INPUT, in->offset,
                                "HLO: parameter numbers of a computation are not 0 to %u",
                                block->arg_count - 1);
        v = &block->args[in->parameter];
        v->type = in->type;
        v->block = block;
        v->index = (uint32_t)in->parameter;
        v->loc = parameter_loc(b, in);
        values[i] = v;
        stet_build_sort(in->attrs, in->attr_count);
        dicts[in->parameter] = stet_hlo_new_record(b->a, NULL, in->attrs, in->attr_count);
    }
    return STET_OK;
}

static bool make_ops(struct stet_hlo_build *b, struct stet_block *block, struct stet_value **values,
                     size_t root)
{
    struct stet_op *ops = STET_NEW_ARRAY(b->a, struct stet_op, block->op_count), *op = ops;

    if (!ops)
        return false;
    for (size_t i = 0; i < b->instr_count; i++) {
        const struct stet_hlo_instr *in = &b->instrs[i];

        if (in->parameter >= 0)
            continue;
        op->operands = STET_NEW_ARRAY(b->a, struct stet_value *, in->operand_count);
        if (!op->operands || !make_op(b, in, op, block))
            return false;
        op->operand_count = in->operand_count;
        for (uint32_t k = 0; k < in->operand_count; k++)
            op->operands[k] = values[in->operands[k]];
        values[i] = op->results;
        block->ops[op - ops] = op;
        op++;
    }
    op->name = STET_VIEW("hlo.return");
    op->known = STET_HLO_RETURN;
    op->parent = block;
    op->operands = STET_NEW_ARRAY(b->a, struct stet_value *, 1);
    if (!op->operands)
        return false;
    op->operands[0] = values[root];
    op->operand_count = 1;
    block->ops[op - ops] = op;
    return true;
}

static const struct stet_type *signature(struct stet_hlo_build *b, const struct stet_block *block,
                                         const struct stet_type *result)
{
    struct stet_type *t = STET_NEW(b->a, struct stet_type);
    const struct stet_type **members =
        stet_arena_alloc(b->a, block->arg_count + 1, sizeof *members);

    if (!t || !members)
        return NULL;
    t->kind = STET_TYPE_FUNCTION;
    t->input_count = block->arg_count;
    t->member_count = block->arg_count + 1;
    t->members = members;
    for (uint32_t i = 0; i < block->arg_count; i++)
        members[i] = block->args[i].type;
    members[block->arg_count] = result;
    return t;
}

static struct stet_op *make_computation(struct stet_hlo_build *b, struct stet_block *block,
                                        struct stet_view name, struct stet_view thread,
                                        const struct stet_attr **dicts)
{
    struct stet_op *op = STET_NEW(b->a, struct stet_op);
    struct stet_named_attr *attrs = STET_NEW_ARRAY(b->a, struct stet_named_attr, 4);

    if (!op || !attrs)
        return NULL;
    op->name = STET_VIEW("hlo.computation");
    op->known = STET_HLO_COMPUTATION;
    op->loc = named(b, name, NULL);
    op->regions = STET_NEW(b->a, struct stet_region);
    op->attrs = attrs;
    if (!op->regions)
        return NULL;
    attrs[op->attr_count++] = (struct stet_named_attr){
        STET_VIEW("arg_attrs"), stet_hlo_new_array(b->a, dicts, block->arg_count)};
    if (thread.len && !stet_view_is(thread, "main"))
        attrs[op->attr_count++] = (struct stet_named_attr){STET_VIEW("execution_thread"),
                                                           stet_hlo_new_string(b->a, thread)};
    attrs[op->attr_count++] = (struct stet_named_attr){
        STET_VIEW("function_type"),
        stet_hlo_new_type(b->a,
                          signature(b, block, block->ops[block->op_count - 1]->operands[0]->type))};
    attrs[op->attr_count++] =
        (struct stet_named_attr){STET_VIEW("sym_name"), stet_hlo_new_string(b->a, name)};
    op->region_count = 1;
    op->regions->block_count = 1;
    op->regions->blocks = STET_NEW_ARRAY(b->a, struct stet_block *, 1);
    if (!op->regions->blocks)
        return NULL;
    op->regions->blocks[0] = block;
    block->parent = op;
    return op;
}

/* A table much larger than the computation was is dropped: clearing it for each small one after a
 * large one would be quadratic. */
static void clear_slots(struct stet_hlo_build *b)
{
    if (b->slot_count > 8 * (b->instr_count + 16)) {
        stet_mem_free(b->slots);
        b->slots = NULL;
        b->slot_count = 0;
    } else if (b->slots) {
        memset(b->slots, 0, b->slot_count * sizeof *b->slots);
    }
}

enum stet_rc stet_hlo_computation_end(struct stet_hlo_build *b, struct stet_view name, size_t root,
                                      struct stet_view thread, uint64_t offset)
{
    struct stet_block *block = STET_NEW(b->a, struct stet_block);
    struct stet_value **values;
    const struct stet_attr **dicts;
    struct stet_op *op;
    enum stet_rc rc;

    if (!block || b->a->failed || (!b->scheduled && !stet_hlo_post_order(b, &root)))
        return stet_hlo_build_full(b);
    for (size_t i = 0; i < b->instr_count; i++)
        block->arg_count += b->instrs[i].parameter >= 0;
    block->op_count = (uint32_t)b->instr_count - block->arg_count + 1;
    block->args = STET_NEW_ARRAY(b->a, struct stet_value, block->arg_count);
    block->ops = STET_NEW_ARRAY(b->a, struct stet_op *, block->op_count);
    dicts = stet_arena_alloc(b->a, block->arg_count, sizeof *dicts);
    values = stet_mem_calloc(b->instr_count + 1, sizeof *values);
    if (!block->args || !block->ops || !dicts || !values) {
        stet_mem_free(values);
        return stet_hlo_build_full(b);
    }
    rc = make_parameters(b, block, values, dicts);
    if (rc == STET_OK && !make_ops(b, block, values, root))
        rc = stet_hlo_build_full(b);
    stet_mem_free(values);
    if (rc != STET_OK)
        return rc;
    op = make_computation(b, block, name, thread, dicts);
    if (!op || b->a->failed)
        return stet_hlo_build_full(b);
    stet_list_add(&b->computations, op);
    stet_list_add(&b->offsets, (const void *)(uintptr_t)offset);
    clear_slots(b);
    b->instr_count = 0;
    return STET_OK;
}

void stet_hlo_module_attr(struct stet_hlo_build *b, const char *name, const struct stet_attr *v)
{
    if (b->attr_count < STET_HLO_MODULE_ATTRS)
        b->attrs[b->attr_count++] = (struct stet_named_attr){stet_view_str(name), v};
}
