/* Reads the tree of operations. */
#include "decode/bytecode/bytecode_ir.h"

/* ---- values ---- */

/* Doubles the room in the scratch arena; the old array is left unused there. */
static void *grow(struct bc *b, void *old, size_t count, size_t need, size_t *room, size_t size)
{
    size_t wanted = *room ? *room * 2 : 16;
    void *fresh;

    if (need <= *room)
        return old;
    if (wanted < need)
        wanted = need;
    fresh = stet_decode_bc_rows(b, wanted, size);
    if (!fresh) {
        stet_decode_bc_fail(b, STET_LIMIT, STET_NO_OFFSET, "no memory for values");
        return NULL;
    }
    if (count)
        memcpy(fresh, old, count * size);
    *room = wanted;
    return fresh;
}

static bool push_values(struct bc *b, struct scope *s, size_t n)
{
    struct stet_value **values;

    if (n == 0)
        return true;
    values = grow(b, s->values, s->count, s->count + n, &s->room, sizeof *s->values);
    if (!values)
        return false;
    memset(values + s->count, 0, n * sizeof *values);
    s->values = values;
    s->count += n;
    return true;
}

static void read_operand(struct bc *b, struct stet_reader *r, struct scope *s,
                         struct stet_value **where)
{
    uint64_t slot = bc_varint(r);
    struct fixup *fixups;

    if (slot >= s->count) {
        stet_reader_fail(r, "no such value");
        return;
    }
    *where = s->values[slot];
    if (*where)
        return;
    fixups =
        grow(b, s->fixups, s->fixup_count, s->fixup_count + 1, &s->fixup_room, sizeof *s->fixups);
    if (!fixups)
        return;
    s->fixups = fixups;
    fixups[s->fixup_count++] = (struct fixup){where, (size_t)slot};
}

/* At the end of a region all values that uses refer to are known. */
static void settle(struct stet_reader *r, struct scope *s, size_t first_fixup, size_t base)
{
    size_t kept = first_fixup;

    for (size_t i = first_fixup; i < s->fixup_count; i++) {
        struct fixup f = s->fixups[i];

        *f.where = s->values[f.slot];
        if (*f.where)
            continue;
        if (f.slot >= base)
            stet_reader_fail(r, "a value is used and never defined");
        s->fixups[kept++] = f;
    }
    s->fixup_count = kept;
}

static void define(struct stet_reader *r, struct region_state *state, struct stet_value *values,
                   size_t n)
{
    if (n > state->limit - state->next) {
        stet_reader_fail(r, "a region defines more values than announced");
        return;
    }
    for (size_t i = 0; i < n; i++)
        state->scope->values[state->next++] = &values[i];
}

/* Orders in which uses were listed; the meaning of a program does not depend on them. */
static void skip_use_lists(struct stet_reader *r, size_t values)
{
    uint64_t n = values > 1 ? bc_varint(r) : 1;

    for (uint64_t i = 0; i < n && stet_reader_ok(r); i++) {
        uint64_t indices;

        if (values > 1)
            bc_varint(r);
        indices = bc_varint(r) >> 1;
        for (uint64_t k = 0; k < indices && stet_reader_ok(r); k++)
            bc_varint(r);
    }
}

/* ---- operations ---- */

static bool read_regions(struct bc *b, struct stet_reader *r, struct stet_op *op, bool isolated,
                         struct scope *scope, unsigned depth);

/* Types of the results of the operation being read, kept until it is made. */
static uint32_t read_results(struct bc *b, struct stet_reader *r)
{
    size_t n = bc_count(r);

    if (n > b->result_room) {
        b->results = stet_decode_bc_rows(b, 2 * n, sizeof *b->results);
        b->result_room = b->results ? 2 * n : 0;
    }
    if (n > b->result_room || n > INT32_MAX) {
        stet_decode_bc_fail(b, STET_LIMIT, STET_NO_OFFSET, "no memory for results");
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        b->results[i] = bc_type(b, r);
    return (uint32_t)n;
}

static void read_operands(struct bc *b, struct stet_reader *r, struct stet_op *op, struct scope *s)
{
    struct stet_value **operands = stet_op_operands(op);

    for (uint32_t i = 0; i < op->operand_count; i++)
        read_operand(b, r, s, &operands[i]);
}

/* Looks ahead for the number of successors and regions after the operands, because an operation is
 * allocated in one piece. */
static void look_ahead(const struct bc *b, struct stet_reader r, unsigned mask,
                       struct stet_op_parts *parts)
{
    uint64_t successors = 0, regions = 0;

    for (uint32_t i = 0; i < parts->operand_count; i++)
        bc_varint(&r);
    if (mask & HAS_SUCCESSORS)
        successors = bc_count(&r);
    for (uint64_t i = 0; i < successors; i++)
        bc_varint(&r);
    if (b->version >= BC_USE_LIST_ORDERS && (mask & HAS_USE_LISTS))
        skip_use_lists(&r, parts->result_count);
    if (mask & HAS_REGIONS)
        regions = bc_varint(&r) >> 1;
    parts->successor_count = successors > UINT32_MAX ? UINT32_MAX : (uint32_t)successors;
    parts->region_count = regions > UINT32_MAX ? UINT32_MAX : (uint32_t)regions;
}

static void read_successors(struct stet_reader *r, const struct stet_op *op,
                            const struct region_state *state)
{
    size_t n = bc_count(r);

    for (size_t i = 0; i < n; i++) {
        uint64_t index = bc_varint(r);

        if (index >= state->block_count) {
            stet_reader_fail(r, "no such block");
            return;
        }
        stet_op_successors(op)[i] = state->blocks[index];
    }
}

/* Where VHLO meets other dialects, its types are cast to theirs. Here both are the same type, so
 * the operand replaces the result. */
static bool is_identity_cast(const struct bc *b, const struct stet_op *op)
{
    if (op->known != STET_BUILTIN_UNREALIZED_CONVERSION_CAST || !b->has_vhlo ||
        op->result_count != op->operand_count)
        return false;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!stet_op_operand(op, i) ||
            !stet_type_eq(stet_op_operand(op, i)->type, op->results[i].type))
            return false;
    return true;
}

static void pass_through(struct bc *b, struct stet_reader *r, struct region_state *state,
                         struct stet_op *op, size_t size)
{
    if (op->result_count > state->limit - state->next) {
        stet_reader_fail(r, "a region defines more values than announced");
        return;
    }
    for (uint32_t i = 0; i < op->result_count; i++)
        state->scope->values[state->next++] = stet_op_operand(op, i);
    b->p->value_count -= op->result_count;
    b->p->op_count--;
    if ((char *)op + size == b->arena->next) /* nothing came after it */
        b->arena->next = (char *)op;
}

/* Creates the operation without operands and regions; NULL after a failure. */
static struct stet_op *make_op(struct bc *b, const struct stet_reader *r, unsigned mask,
                               const struct bc_name *name, struct stet_op_parts *parts)
{
    struct stet_op *op;

    if ((mask & (HAS_SUCCESSORS | HAS_REGIONS)) || !parts->known) {
        look_ahead(b, *r, mask, parts);
        parts->name = name->name;
    }
    if (parts->region_count > stet_reader_left(r) || !stet_build_op_size(parts)) {
        stet_decode_bc_fail(b, STET_LIMIT, STET_NO_OFFSET, "too many attributes or regions");
        return NULL;
    }
    op = stet_build_op(b->arena, parts);
    return op ? op : stet_decode_bc_no_room(b);
}

/* NULL for an operation that is dropped. */
static struct stet_op *read_op(struct bc *b, struct stet_reader *r, struct region_state *state,
                               struct stet_block *block)
{
    uint64_t at = stet_reader_offset(r), index = bc_varint(r);
    unsigned mask = stet_reader_u8(r);
    struct stet_op_parts parts = {0};
    struct bc_name *name;
    struct stet_op *op;

    b->where = at;
    if (index >= b->name_count) {
        stet_reader_fail(r, "no such operation name");
        return NULL;
    }
    name = &b->names[index];
    parts.known = bc_known_op(name, block);
    parts.loc = bc_loc(b, r);
    if (mask & (HAS_ATTRS | HAS_PROPERTIES)) {
        struct bc_attr_list attrs = stet_decode_bc_read_attrs(b, r, name, mask);

        parts.attrs = attrs.at;
        parts.attr_count = attrs.count;
    }
    if (mask & HAS_RESULTS)
        parts.result_count = read_results(b, r);
    parts.results = b->results;
    if (mask & HAS_OPERANDS)
        parts.operand_count = (uint32_t)bc_count(r);
    if (!stet_reader_ok(r) || !bc_ok(b))
        return NULL;
    op = make_op(b, r, mask, name, &parts);
    if (!op)
        return NULL;
    op->parent = block;
    op->id = b->p->op_count++;
    for (uint32_t i = 0; i < op->result_count; i++)
        op->results[i].id = b->p->value_count++;
    read_operands(b, r, op, state->scope);
    if (mask & HAS_SUCCESSORS)
        read_successors(r, op, state);
    if (b->version >= BC_USE_LIST_ORDERS && (mask & HAS_USE_LISTS))
        skip_use_lists(r, op->result_count);
    if (stet_reader_ok(r) && bc_ok(b) && is_identity_cast(b, op)) {
        pass_through(b, r, state, op, stet_build_op_size(&parts));
        return NULL;
    }
    /* The file's outermost block defines no values. */
    if (op->result_count && state->limit)
        define(r, state, op->results, op->result_count);
    if ((mask & HAS_REGIONS) && stet_reader_ok(r) && bc_ok(b))
        read_regions(b, r, op, bc_varint(r) & 1, state->scope, state->depth);
    return op;
}

/* ---- blocks and regions ---- */

static void read_arguments(struct bc *b, struct stet_reader *r, struct region_state *state,
                           struct stet_block *block)
{
    size_t n = bc_count(r);

    if (n > INT32_MAX || !stet_build_args(b->arena, block, (uint32_t)n)) {
        stet_decode_bc_no_room(b);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t type = bc_varint(r);
        bool located = true;

        if (b->version >= BC_ELIDE_UNKNOWN_LOCS) {
            located = type & 1;
            type >>= 1;
        }
        if (!stet_reader_ok(r))
            return;
        block->args[i].type = type < b->type_count && b->types[type].state == BC_ATTR
                                  ? b->types[type].made
                                  : stet_decode_bc_type_at(b, type);
        block->args[i].id = b->p->value_count++;
        stet_block_locs(block)[i] = located ? bc_loc(b, r) : &bc_unknown_loc;
    }
    define(r, state, block->args, n);
    if (b->version >= BC_USE_LIST_ORDERS && stet_reader_u8(r))
        skip_use_lists(r, n);
}

static void read_block(struct bc *b, struct stet_reader *r, struct region_state *state,
                       struct stet_block *block)
{
    uint64_t head = bc_varint(r), n = head >> 1;
    uint32_t made = 0;
    struct stet_op **ops;

    if (n > stet_reader_left(r) || n > UINT32_MAX) {
        stet_reader_fail(r, "a count is larger than what is left");
        return;
    }
    if (head & 1)
        read_arguments(b, r, state, block);
    ops = bc_alloc(b, (size_t)n, sizeof *ops);
    if (!ops)
        return;
    block->ops = ops;
    while (n) {
        uint32_t usual = stet_decode_bc_read_usual_ops(b, r, state, block, ops + made, (uint32_t)n);
        struct stet_op *op;

        made += usual;
        n -= usual;
        if (!n)
            break;
        if (!bc_has_room(b, BC_LEAST_ROOM))
            stet_decode_bc_refill(b, r->next);
        op = read_op(b, r, state, block);
        if (!stet_reader_ok(r) || !bc_ok(b))
            break;
        if (op)
            ops[made++] = op;
        n--;
    }
    block->op_count = made;
}

static bool read_region(struct bc *b, struct stet_reader *r, struct stet_op *op,
                        struct stet_region *region, struct scope *scope, unsigned depth)
{
    size_t n = bc_count(r), base = scope->count, first_fixup = scope->fixup_count, values;
    struct region_state state = {.scope = scope, .next = base, .depth = depth + 1};
    struct stet_block *blocks;

    if (n == 0 || n > UINT32_MAX)
        return stet_reader_ok(r);
    values = bc_count(r);
    blocks = bc_alloc(b, n, sizeof *blocks);
    region->blocks = bc_alloc(b, n, sizeof *region->blocks);
    if (!blocks || !region->blocks || !push_values(b, scope, values))
        return false;
    for (size_t i = 0; i < n; i++) {
        blocks[i] = (struct stet_block){.parent = op};
        region->blocks[i] = &blocks[i];
    }
    region->block_count = (uint32_t)n;
    state.limit = base + values;
    state.blocks = region->blocks;
    state.block_count = region->block_count;
    for (size_t i = 0; i < n && stet_reader_ok(r) && bc_ok(b); i++)
        read_block(b, r, &state, &blocks[i]);
    if (stet_reader_ok(r) && bc_ok(b))
        settle(r, scope, first_fixup, base);
    scope->count = base;
    return stet_reader_ok(r) && bc_ok(b);
}

static bool read_regions(struct bc *b, struct stet_reader *r, struct stet_op *op, bool isolated,
                         struct scope *scope, unsigned depth)
{
    struct scope own = {.values = b->spare, .room = b->spare_room};
    struct stet_reader section, *from = r;
    struct stet_view bytes;

    if (depth == STET_MAX_DEPTH)
        return stet_decode_bc_fail(b, STET_LIMIT, stet_reader_offset(r),
                                   "regions nested deeper than %d", STET_MAX_DEPTH);
    /* Isolated regions are separate sections, because they can be loaded lazily. */
    if (isolated && b->version >= BC_LAZY_LOADING && op->region_count) {
        bytes = stet_decode_bc_nested(b, r, BC_IR);
        section = bc_reader(b, bytes.ptr, bytes.len);
        from = &section;
    }
    if (isolated)
        b->spare_room = 0; /* in use */
    for (uint32_t i = 0; i < op->region_count && stet_reader_ok(r) && bc_ok(b); i++)
        if (!read_region(b, from, op, stet_op_region(op, i), isolated ? &own : scope, depth))
            break;
    if (isolated && own.room > b->spare_room) {
        b->spare = own.values;
        b->spare_room = own.room;
    }
    if (isolated && own.fixup_count)
        stet_reader_fail(from, "a value is used and never defined");
    return stet_decode_bc_check(b, from, "operations");
}

bool stet_decode_bc_read_ir(struct bc *b)
{
    struct stet_view bytes = b->sections[BC_IR];
    struct stet_reader r = bc_reader(b, bytes.ptr, bytes.len);
    struct scope scope = {0};
    struct region_state state = {.scope = &scope};
    struct stet_block top = {0};

    stet_decode_bc_begin_room(b, r.next);
    read_block(b, &r, &state, &top);
    if (!stet_decode_bc_check(b, &r, "operations"))
        return false;
    if (stet_reader_left(&r))
        return stet_decode_bc_fail(b, STET_BAD_INPUT, stet_reader_offset(&r),
                                   "bytes after the operations");
    if (top.op_count != 1)
        return stet_decode_bc_fail(b, STET_UNSUPPORTED, r.base,
                                   "%u operations at the top where a module is expected",
                                   top.op_count);
    b->p->module = top.ops[0];
    b->p->module->parent = NULL;
    return true;
}
