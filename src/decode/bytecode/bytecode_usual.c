/* A fast path. Nearly all operations are known VHLO operations without regions, with at most one
 * result and a few operands that are defined before; and nearly all table entries that they refer
 * to were used before. This file reads only those. */
#include "decode/bytecode/bytecode_ir.h"

enum { LEAST_ROOM = 128, MOST_ROOM = 16 };

static size_t given(const struct stet_arena *a)
{
    return a->used - (size_t)(a->end - a->next);
}

void stet_decode_bc_begin_room(struct bc *b, const unsigned char *at)
{
    b->refill_at = at;
    b->refill_from = given(b->arena);
}

/* Half of what the remaining operations will need if they are like those since the last call.
 * Blocks are therefore few, and little is left over in the last one. */
void stet_decode_bc_refill(struct bc *b, const unsigned char *at)
{
    struct stet_view ir = b->sections[BC_IR];
    size_t left = (size_t)((const unsigned char *)ir.ptr + ir.len - at);
    size_t read = (size_t)(at - b->refill_at), took = given(b->arena) - b->refill_from;
    size_t each = read && took / read < MOST_ROOM ? took * 4 / read : MOST_ROOM * 4;

    stet_arena_reserve(b->arena, left * each / 8 + LEAST_ROOM);
    stet_decode_bc_begin_room(b, at);
}

enum {
    /* The fast path reads no more than this for one operation: 7 numbers and the operands, 2 bytes
     * each. */
    USUAL_BYTES = 40,
    UNUSUAL = HAS_SUCCESSORS | HAS_REGIONS | HAS_USE_LISTS,
};

/* A number of one or two bytes; false for a longer one. Two bytes can always be read. */
static inline bool short_number(const unsigned char **at, uint32_t *out)
{
    const unsigned char *p = *at;
    uint32_t v = *p;

    if (__builtin_expect(v & 1, 1)) {
        *out = v >> 1;
        *at = p + 1;
        return true;
    }
    v = p[0] | (uint32_t)p[1] << 8;
    *out = v >> 2;
    *at = p + 2;
    return v & 2;
}

/* The following return false or NULL for everything that is not common. A table entry that was
 * never used is not common either, unless it may be created here, which takes memory of the arena:
 * `made` is set if one was, and is NULL if none may be. */

/* A table entry: an attribute, a location or a type. */
static inline bool usual_entry(struct bc *b, const struct bc_entry *table, size_t count,
                               enum bc_state wanted, const unsigned char **at, bool *made,
                               const void **out)
{
    uint32_t index;

    if (!short_number(at, &index) || index >= count)
        return false;
    if (made && table[index].state == BC_WAITING) {
        *made = true;
        if (table == b->types)
            stet_decode_bc_type_at(b, index);
        else if (wanted == BC_LOC)
            stet_decode_bc_loc_at(b, index);
        else
            stet_decode_bc_attr_at(b, index); /* each stores its result in the table */
    }
    *out = table[index].made;
    return table[index].state == wanted;
}

static inline bool usual_result(struct bc *b, const unsigned char **at, struct stet_value *v,
                                bool *made)
{
    const void *type;

    if (*(*at)++ != (1 << 1 | 1) ||
        !usual_entry(b, b->types, b->type_count, BC_ATTR, at, made, &type))
        return false;
    v->type = type;
    v->index = 0;
    v->argument = 0;
    return true;
}

static inline const struct bc_converted *usual_attrs(struct bc *b, const unsigned char **at,
                                                     const unsigned char *start,
                                                     struct bc_name *name, unsigned mask,
                                                     bool *made)
{
    const void *dict = &bc_no_attrs;
    struct bc_converted *known;
    uint32_t index, properties = 0;

    if ((mask & HAS_ATTRS) && (!usual_entry(b, b->attrs, b->attr_count, BC_ATTR, at, made, &dict) ||
                               ((const struct stet_attr *)dict)->kind != STET_ATTR_DICT))
        return NULL;
    if (mask & HAS_PROPERTIES) {
        if (!short_number(at, &index) || index >= b->property_count)
            return NULL;
        properties = index + 1;
    }
    known = bc_converted_place(b, name, properties);
    if (__builtin_expect(bc_converted_is(known, name, properties, dict), 1))
        return known;
    if (!made)
        return NULL;
    b->where = (uint64_t)(start - (const unsigned char *)b->input.ptr);
    *made = stet_decode_bc_vhlo_convert(b, name, properties, dict, known) &&
            known->count <= STET_MAX_ATTRS;
    return *made ? known : NULL;
}

/* Reads an operation up to its operands, of which there are op->operand_count. */
static inline bool usual_head(struct bc *b, const unsigned char **at, struct stet_op *op,
                              const struct stet_block *block, bool *made)
{
    const unsigned char *start = *at;
    uint32_t index, attr_count = 0;
    struct bc_name *name;
    const void *loc;
    unsigned mask;

    if (!short_number(at, &index) || index >= b->name_count)
        return false;
    name = &b->names[index];
    mask = *(*at)++;
    if ((mask & UNUSUAL) || !name->usual ||
        !usual_entry(b, b->attrs, b->attr_count, BC_LOC, at, made, &loc))
        return false;
    op->loc = loc;
    op->attrs = NULL;
    if (mask & (HAS_ATTRS | HAS_PROPERTIES)) {
        const struct bc_converted *attrs = usual_attrs(b, at, start, name, mask, made);

        if (!attrs)
            return false;
        op->attrs = attrs->attrs;
        attr_count = attrs->count;
    }
    op->known = bc_known_op(name, block) & 1023;
    op->attr_count = attr_count & STET_MAX_ATTRS;
    op->region_count = 0;
    op->branches = 0;
    op->result_count = mask / HAS_RESULTS & 1;
    if ((mask & HAS_RESULTS) && !usual_result(b, at, op->results, made))
        return false;
    index = 0;
    if ((mask & HAS_OPERANDS) && (!short_number(at, &index) || index > BC_USUAL_OPERANDS))
        return false;
    op->operand_count = index;
    return true;
}

/* Creates the table entry that the operation at `at` is the first to use; false if it does not
 * exist. */
__attribute__((noinline)) static bool make_named(struct bc *b, const unsigned char *at,
                                                 const struct stet_block *block)
{
    _Alignas(struct stet_op) char room[BC_USUAL_ROOM];
    bool made = false;

    usual_head(b, &at, (struct stet_op *)(void *)room, block, &made);
    return made && bc_ok(b);
}

/* The state of a run of common operations; what changes with each operation is in local
 * variables. */
struct run {
    const unsigned char *at, *last, *end; /* the next one, and the limit of the section where one
                                           * may begin */
    struct stet_op *op;                   /* its future address */
    char *full;                           /* the limit where one may be put */
    struct stet_op **made, **all;
    struct stet_value *const *values, **next, **limit; /* seen; of the region: the next, the end */
    size_t defined;
    struct stet_block *block;
    uint32_t id, value_id;
};

/* Reads as many common operations as follow here and fit into the arena. It does not check at every
 * step whether the section continues, only whether the input does. */
__attribute__((noinline)) static void read_usual(struct bc *b, struct run *run)
{
    struct stet_op *op = run->op, **made = run->made;
    struct stet_value *const *values = run->values, **next = run->next;
    const size_t defined = run->defined;
    const unsigned char *at = run->at;
    uint32_t id = run->id, value_id = run->value_id;

    while (made != run->all && at <= run->last && (char *)op <= run->full) {
        struct stet_value **operands, **end;
        uint32_t index;

        if (!usual_head(b, &at, op, run->block, NULL))
            break;
        operands = stet_op_operands(op);
        for (end = operands + op->operand_count; operands != end; operands++)
            if (!short_number(&at, &index) || index >= defined || !(*operands = values[index]))
                goto unusual;
        if (at > run->end)
            break;
        if (op->result_count) {
            if (next == run->limit)
                break;
            op->results[0].id = value_id++;
            *next++ = op->results;
        }
        op->parent = run->block;
        op->id = id++;
        *made++ = op;
        op = (struct stet_op *)(void *)operands;
        run->at = at;
    }
unusual:
    run->op = op;
    run->made = made;
    run->next = next;
    run->id = id;
    run->value_id = value_id;
}

/* The same for a block; returns how many. */
static uint32_t read_run(struct bc *b, struct stet_reader *r, struct region_state *state,
                         struct stet_block *block, struct stet_op **ops, uint32_t room)
{
    struct run run = {
        .at = r->next,
        .last = b->end - USUAL_BYTES,
        .end = r->end,
        .op = (struct stet_op *)(void *)b->arena->next,
        .full = b->arena->end - BC_USUAL_ROOM,
        .made = ops,
        .all = ops + room,
        .values = state->scope->values,
        .next = &state->scope->values[state->next],
        .limit = &state->scope->values[state->limit],
        .defined = state->scope->count,
        .block = block,
        .id = b->p->op_count,
        .value_id = b->p->value_count,
    };

    read_usual(b, &run);
    r->next = run.at;
    b->arena->next = (char *)run.op;
    b->p->op_count = run.id;
    b->p->value_count = run.value_id;
    state->next = (size_t)(run.next - run.values);
    return (uint32_t)(run.made - ops);
}

/* Is there room for one, and enough input that it ends before the input does? */
static bool may_begin(const struct bc *b, const struct stet_reader *r)
{
    return stet_reader_ok(r) && b->end - r->next >= USUAL_BYTES && bc_has_room(b, BC_USUAL_ROOM);
}

uint32_t stet_decode_bc_read_usual_ops(struct bc *b, struct stet_reader *r,
                                       struct region_state *state, struct stet_block *block,
                                       struct stet_op **ops, uint32_t room)
{
    uint32_t made = 0;

    while (made < room && state->limit) { /* without a limit nothing is or can be defined */
        if (!bc_has_room(b, BC_LEAST_ROOM))
            stet_decode_bc_refill(b, r->next);
        if (!may_begin(b, r))
            break;
        made += read_run(b, r, state, block, ops + made, room - made);
        if (made < room && may_begin(b, r) && !make_named(b, r->next, block))
            break;
    }
    return made;
}
