/* Converts instructions to operations, computation by computation; see hlo_build.h. */
#include "decode/hlo/hlo_build.h"

#include "base/hash.h"
#include "base/mem.h"
#include "program/ops.h"

/* Table sizes for repeated items: on the stack, and larger ones for large modules. */
enum { LEAST_PLACES = 256, MOST_PLACES = 1024, BYTES_A_PLACE = 64 };
enum { FIRST_SLOTS = 2 * STET_HLO_FIRST, NESTED = 8 };

static void make_cache(struct stet_hlo_build *b, size_t input)
{
    b->cache_size = LEAST_PLACES;
    while (b->cache_size < MOST_PLACES && b->cache_size * BYTES_A_PLACE < input)
        b->cache_size *= 2;
    b->cache = STET_NEW_ARRAY(&b->scratch, struct stet_hlo_made, b->cache_size);
}

void stet_decode_hlo_build_init(struct stet_hlo_build *b, struct stet_hlo_room *room,
                                struct stet_program *p, size_t input, struct stet_err *err)
{
    size_t cap;

    memset(b, 0, sizeof *b);
    memset(p, 0, sizeof *p);
    /* a small instruction of 40 bytes becomes about 1 KB; lists of small numbers grow eightfold */
    if (stet_mul_overflows(input, 64, &cap) || stet_add_overflows(cap, 1 << 20, &cap))
        cap = SIZE_MAX / 2;
    stet_arena_init(&p->arena, cap);
    p->arena.least = 512; /* most programs are small */
    stet_arena_init(&b->scratch, cap);
    b->scratch.least = 512;
    stet_arena_lend(&b->scratch, room->tables, sizeof room->tables);
    b->room = room;
    b->p = p;
    b->a = &p->arena;
    b->err = err;
    make_cache(b, input);
}

static void free_slots(struct stet_hlo_build *b)
{
    if (!b->room || b->slots != b->room->slots)
        stet_mem_free(b->slots);
    b->slots = NULL;
    b->slot_count = 0;
}

static void free_instrs(struct stet_hlo_build *b)
{
    if (!b->room || b->instrs != b->room->instrs)
        stet_mem_free(b->instrs);
    b->instrs = NULL;
    b->instr_count = b->instr_room = 0;
}

void stet_decode_hlo_build_release(struct stet_hlo_build *b, bool keep)
{
    free_instrs(b);
    free_slots(b);
    stet_arena_release(&b->scratch);
    stet_build_list_release(&b->computations);
    stet_build_list_release(&b->offsets);
    if (!keep)
        stet_program_release(b->p);
}

enum stet_rc stet_decode_hlo_build_full(struct stet_hlo_build *b)
{
    bool cap = b->a->failed && b->a->used + (b->a->used >> 2) > b->a->cap;

    return stet_fail(b->err, cap ? STET_LIMIT : STET_NO_MEMORY, "%s while reading an HLO program",
                     cap ? "memory cap" : "out of memory");
}

/* ---- repeated items ---- */

/* Its slot, or where it belongs: one of two slots. */
static struct stet_hlo_made *place_of(const struct stet_hlo_build *b, struct stet_view raw)
{
    size_t first = stet_hash_bytes(raw).lo & (b->cache_size - 1);
    struct stet_hlo_made *at = &b->cache[first], *other = &b->cache[first ^ 1];

    return !at->made || stet_view_eq(at->raw, raw) ||
                   (other->made && !stet_view_eq(other->raw, raw))
               ? at
               : other;
}

const void *stet_decode_hlo_recall(struct stet_hlo_build *b, struct stet_view raw)
{
    const struct stet_hlo_made *at = b->cache ? place_of(b, raw) : NULL;

    return at && at->made && stet_view_eq(at->raw, raw) ? at->made : NULL;
}

void stet_decode_hlo_remember(struct stet_hlo_build *b, struct stet_view raw, const void *made)
{
    if (b->cache)
        *place_of(b, raw) = (struct stet_hlo_made){raw, made};
}

/* ---- the current computation ---- */

static bool instrs_grow(struct stet_hlo_build *b)
{
    size_t lent = b->room ? STET_HLO_FIRST : 0;
    size_t room = b->instr_room ? b->instr_room + b->instr_room / 2 : lent ? lent : NESTED;
    struct stet_hlo_instr *grown =
        b->instr_room || !lent
            ? stet_mem_outgrow(b->instrs, b->instr_room, lent, room, sizeof *grown)
            : b->room->instrs;

    if (!grown)
        return false;
    b->instrs = grown;
    b->instr_room = room;
    return true;
}

struct stet_hlo_instr *stet_decode_hlo_instr_add(struct stet_hlo_build *b)
{
    if (b->instr_count == b->instr_room && !instrs_grow(b))
        return NULL;
    memset(&b->instrs[b->instr_count], 0, sizeof *b->instrs);
    b->instrs[b->instr_count].parameter = -1;
    return &b->instrs[b->instr_count++];
}

/* Not base/map.h: the first slots are lent by the caller, and are cleared for each computation. */
static size_t slot_of(const struct stet_hlo_build *b, uint64_t key)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 20) & (b->slot_count - 1);
}

int64_t stet_decode_hlo_instr_find(const struct stet_hlo_build *b, uint64_t key,
                                   struct stet_view name)
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
    bool first = !b->slot_count && b->room;
    size_t want = first ? FIRST_SLOTS : b->slot_count ? b->slot_count * 2 : 2 * NESTED;
    uint32_t *slots = first ? memset(b->room->slots, 0, sizeof b->room->slots)
                            : stet_mem_calloc(want, sizeof *slots);

    if (!slots)
        return false;
    free_slots(b);
    b->slots = slots;
    b->slot_count = want;
    for (size_t i = 0; i + 1 < b->instr_count; i++)
        slot_put(b, i);
    return true;
}

bool stet_decode_hlo_instr_publish(struct stet_hlo_build *b, bool by_name)
{
    const struct stet_hlo_instr *last = &b->instrs[b->instr_count - 1];

    if (stet_decode_hlo_instr_find(b, last->key, by_name ? last->name : (struct stet_view){0}) >= 0)
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
    struct stet_loc *l = stet_build_loc(b->a, STET_LOC_NAME, false);
    const struct stet_loc **parts = inside ? stet_arena_alloc(b->a, 1, sizeof *parts) : NULL;

    if (!l || (inside && !parts))
        return NULL;
    l->text = name;
    l->parts = parts;
    l->count = inside != NULL;
    if (inside)
        parts[0] = inside;
    return l;
}

/* A parameter's position among the instructions is for printing only, so it is in the location,
 * with the metadata unchanged. */
static const struct stet_loc *parameter_loc(struct stet_hlo_build *b,
                                            const struct stet_hlo_instr *in)
{
    struct stet_loc *l = stet_build_loc(b->a, STET_LOC_FUSED, false);
    const struct stet_loc **parts = stet_arena_alloc(b->a, 1, sizeof *parts);
    struct stet_named_attr *order = STET_NEW(b->a, struct stet_named_attr);

    if (!l || !parts || !order)
        return NULL;
    order->name = STET_VIEW("order");
    order->value = stet_decode_hlo_new_int(b->a, in - b->instrs);
    l->metadata = stet_decode_hlo_new_record(b->a, NULL, order, 1);
    l->parts = parts;
    if (in->metadata)
        parts[l->count++] = in->metadata;
    return named(b, in->name, l);
}

static struct stet_op *make_op(struct stet_hlo_build *b, const struct stet_hlo_instr *in,
                               struct stet_value *const *values)
{
    struct stet_op_parts parts = {
        .known = in->op ? stet_hlo_known(in->op) : STET_OP_UNKNOWN,
        .loc = named(b, in->name, in->metadata),
        .attrs = in->attrs,
        .attr_count = in->attr_count,
        .results = &in->type,
        .result_count = 1,
        .operand_count = in->operand_count,
    };
    struct stet_op *op;

    if (!in->op)
        parts.name = stet_arena_printf(b->a, "hlo.%.*s", STET_FMT(in->opcode));
    op = stet_build_op(b->a, &parts);
    if (!op || !stet_build_sort(in->attrs, in->attr_count))
        return NULL;
    for (uint32_t k = 0; k < in->operand_count; k++)
        stet_op_operands(op)[k] = values[in->operands[k]];
    return op;
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
        stet_block_locs(block)[in->parameter] = parameter_loc(b, in);
        values[i] = v;
        stet_build_sort(in->attrs, in->attr_count);
        dicts[in->parameter] = stet_decode_hlo_new_record(b->a, NULL, in->attrs, in->attr_count);
    }
    return STET_OK;
}

static bool make_ops(struct stet_hlo_build *b, struct stet_block *block, struct stet_value **values,
                     size_t root)
{
    const struct stet_op_parts end = {
        .known = STET_HLO_RETURN, .operands = &values[root], .operand_count = 1};
    uint32_t n = 0;

    for (size_t i = 0; i < b->instr_count; i++) {
        if (b->instrs[i].parameter >= 0)
            continue;
        block->ops[n] = make_op(b, &b->instrs[i], values);
        if (!block->ops[n])
            return false;
        values[i] = block->ops[n++]->results;
    }
    block->ops[n] = stet_build_op(b->a, &end);
    for (uint32_t i = 0; block->ops[n] && i <= n; i++)
        block->ops[i]->parent = block;
    return block->ops[n] != NULL;
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
    struct stet_named_attr *attrs = STET_NEW_ARRAY(b->a, struct stet_named_attr, 4);
    struct stet_region body = {STET_NEW_ARRAY(b->a, struct stet_block *, 1), 1};
    const struct stet_op *end = block->ops[block->op_count - 1];
    uint32_t n = 0;

    if (!attrs || !body.blocks)
        return NULL;
    body.blocks[0] = block;
    attrs[n++] = (struct stet_named_attr){STET_VIEW("arg_attrs"),
                                          stet_decode_hlo_new_array(b->a, dicts, block->arg_count)};
    if (thread.len && !stet_view_is(thread, "main"))
        attrs[n++] = (struct stet_named_attr){STET_VIEW("execution_thread"),
                                              stet_decode_hlo_new_string(b->a, thread)};
    attrs[n++] = (struct stet_named_attr){
        STET_VIEW("function_type"),
        stet_decode_hlo_new_type(b->a, signature(b, block, stet_op_operand(end, 0)->type))};
    attrs[n++] =
        (struct stet_named_attr){STET_VIEW("sym_name"), stet_decode_hlo_new_string(b->a, name)};
    return stet_build_op(b->a, &(struct stet_op_parts){.known = STET_HLO_COMPUTATION,
                                                       .loc = named(b, name, NULL),
                                                       .attrs = attrs,
                                                       .attr_count = n,
                                                       .regions = &body,
                                                       .region_count = 1});
}

/* A table much larger than the computation needs is dropped: clearing it for each small one after a
 * large one would be quadratic. */
static void clear_slots(struct stet_hlo_build *b)
{
    if (b->slot_count > 8 * (b->instr_count + 16)) {
        free_slots(b);
    } else if (b->slots) {
        memset(b->slots, 0, b->slot_count * sizeof *b->slots);
    }
}

enum stet_rc stet_decode_hlo_computation_end(struct stet_hlo_build *b, struct stet_view name,
                                             size_t root, struct stet_view thread, uint64_t offset)
{
    struct stet_block *block = STET_NEW(b->a, struct stet_block);
    struct stet_value **values;
    const struct stet_attr **dicts;
    uint32_t args = 0;
    struct stet_op *op;
    enum stet_rc rc;

    if (!block || b->a->failed || (!b->scheduled && !stet_decode_hlo_post_order(b, &root)))
        return stet_decode_hlo_build_full(b);
    for (size_t i = 0; i < b->instr_count; i++)
        args += b->instrs[i].parameter >= 0;
    stet_build_args(b->a, block, args);
    block->op_count = (uint32_t)b->instr_count - args + 1;
    block->ops = STET_NEW_ARRAY(b->a, struct stet_op *, block->op_count);
    dicts = stet_arena_alloc(b->a, args, sizeof *dicts);
    values = stet_mem_calloc(b->instr_count + 1, sizeof *values);
    if (!block->args || !block->ops || !dicts || !values) {
        stet_mem_free(values);
        return stet_decode_hlo_build_full(b);
    }
    rc = make_parameters(b, block, values, dicts);
    if (rc == STET_OK && !make_ops(b, block, values, root))
        rc = stet_decode_hlo_build_full(b);
    stet_mem_free(values);
    if (rc != STET_OK)
        return rc;
    op = make_computation(b, block, name, thread, dicts);
    if (!op || b->a->failed)
        return stet_decode_hlo_build_full(b);
    stet_build_list_add(&b->computations, op);
    stet_build_list_add(&b->offsets, (const void *)(uintptr_t)offset);
    clear_slots(b);
    b->instr_count = 0;
    return STET_OK;
}

void stet_decode_hlo_set_aside(struct stet_hlo_build *b, struct stet_hlo_open *to)
{
    *to = (struct stet_hlo_open){b->instrs, b->instr_count, b->instr_room,
                                 b->slots,  b->slot_count,  b->room};
    b->instrs = NULL;
    b->slots = NULL;
    b->room = NULL;
    b->instr_count = b->instr_room = b->slot_count = 0;
}

void stet_decode_hlo_take_up(struct stet_hlo_build *b, const struct stet_hlo_open *from)
{
    free_instrs(b);
    free_slots(b);
    b->instrs = from->instrs;
    b->instr_count = from->instr_count;
    b->instr_room = from->instr_room;
    b->slots = from->slots;
    b->slot_count = from->slot_count;
    b->room = from->room;
}

void stet_decode_hlo_module_attr(struct stet_hlo_build *b, const char *name,
                                 const struct stet_attr *v)
{
    if (b->attr_count < STET_HLO_MODULE_ATTRS)
        b->attrs[b->attr_count++] = (struct stet_named_attr){stet_view_str(name), v};
}
