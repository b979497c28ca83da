/* The tree of operations. */
#include "decode/bytecode.h"

/* An operand that names a value defined later. */
struct fixup {
    struct stet_value **where;
    size_t slot;
};

/* The values that operations see, up to the next region that is isolated from above. */
struct scope {
    struct stet_value **values;
    size_t count, room;
    struct fixup *fixups;
    size_t fixup_count, fixup_room;
};

struct region_state {
    struct scope *scope;
    size_t next;  /* slot of the next value defined in this region */
    size_t limit; /* one past its last slot */
    struct stet_block **blocks;
    uint32_t block_count;
    unsigned depth;
};

/* ---- values ---- */

/* Twice the room in the scratch arena; the old array is left behind. */
static void *grow(struct bc *b, void *old, size_t count, size_t need, size_t *room, size_t size)
{
    size_t wanted = *room ? *room * 2 : 16;
    void *fresh;

    if (need <= *room)
        return old;
    if (wanted < need)
        wanted = need;
    fresh = bc_rows(b, wanted, size);
    if (!fresh) {
        bc_fail(b, STET_LIMIT, STET_NO_OFFSET, "no memory for values");
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

/* At the end of a region: what pointed at its values is known now. */
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

/* Orders in which uses were listed: nothing a program means depends on them. */
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
        b->results = bc_rows(b, 2 * n, sizeof *b->results);
        b->result_room = b->results ? 2 * n : 0;
    }
    if (n > b->result_room || n > INT32_MAX) {
        bc_fail(b, STET_LIMIT, STET_NO_OFFSET, "no memory for results");
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

/* How many successors and regions come after the operands: a look ahead, since an operation is made
 * in one piece. */
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

/* VHLO has one return for functions and for regions. */
static uint32_t known_op(const struct bc_name *name, const struct stet_block *parent)
{
    if (name->known == STET_STABLEHLO_RETURN && name->vhlo && parent->parent &&
        parent->parent->known == STET_FUNC_FUNC)
        return STET_FUNC_RETURN;
    return name->known;
}

/* Where VHLO meets other dialects its types are cast to theirs; here both are the same type, and
 * the value itself can stand for the result. */
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

/* The operation but for its operands and regions; NULL after a failure. */
static struct stet_op *make_op(struct bc *b, const struct stet_reader *r, unsigned mask,
                               const struct bc_name *name, struct stet_op_parts *parts)
{
    struct stet_op *op;

    if ((mask & (HAS_SUCCESSORS | HAS_REGIONS)) || !parts->known) {
        look_ahead(b, *r, mask, parts);
        parts->name = name->name;
    }
    if (parts->region_count > stet_reader_left(r) || !stet_build_op_size(parts)) {
        bc_fail(b, STET_LIMIT, STET_NO_OFFSET, "too many attributes or regions");
        return NULL;
    }
    op = stet_build_op(b->arena, parts);
    return op ? op : bc_no_room(b);
}

/* ---- room ---- */

enum { USUAL_ROOM = 88, LEAST_ROOM = 128, MOST_ROOM = 16 };

static size_t given(const struct stet_arena *a)
{
    return a->used - (size_t)(a->end - a->next);
}

/* A new block of memory when this one is nearly full: half of what the rest of the
 * operations will take if it is like what was read since the last time. So blocks are few and
 * little is left over in the last of them. */
__attribute__((noinline)) static void refill(struct bc *b, const unsigned char *at)
{
    struct stet_view ir = b->sections[BC_IR];
    size_t left = (size_t)((const unsigned char *)ir.ptr + ir.len - at);
    size_t read = (size_t)(at - b->refill_at), took = given(b->arena) - b->refill_from;
    size_t each = read && took / read < MOST_ROOM ? took * 4 / read : MOST_ROOM * 4;

    stet_arena_reserve(b->arena, left * each / 8 + LEAST_ROOM);
    b->refill_at = at;
    b->refill_from = given(b->arena);
}

static inline void make_room(struct bc *b, const unsigned char *at, size_t size)
{
    if ((size_t)(b->arena->end - b->arena->next) < size)
        refill(b, at);
}

/* ---- the usual operation ---- */

enum {
    USUAL_OPERANDS = 8,
    USUAL_BYTES =
        40, /* no more of them can be read below: 7 numbers and the operands, 2 bytes each */
    UNUSUAL = HAS_SUCCESSORS | HAS_REGIONS | HAS_USE_LISTS,
};

/* A number of one or two bytes; false for a longer one. Two bytes can be had in either case. */
static inline bool short_number(const unsigned char **at, uint32_t *out)
{
    const unsigned char *p = *at;
    uint32_t v = *p;

    if (__builtin_expect(v & 1, 1)) {
        *out = v >> 1;
        *at = p + 1;
        return true;
    }
    *out = (v | (uint32_t)p[1] << 8) >> 2;
    *at = p + 2;
    return v & 2;
}

/* Such an operation up to its operands, of which there are `count`. */
struct usual {
    const struct bc_name *name;
    const struct stet_loc *loc;
    const struct bc_converted *attrs;
    const struct stet_type *type; /* of its only result, or NULL */
    uint32_t count;
};

/* Attributes as another operation has brought them before, or converted now; NULL for others. */
static inline const struct bc_converted *usual_attrs(struct bc *b, const struct stet_reader *r,
                                                     const unsigned char **at, struct bc_name *name,
                                                     unsigned mask)
{
    struct bc_converted *known;
    const struct stet_attr *dict = &bc_no_attrs;
    uint32_t index, properties = 0;

    if (mask & HAS_ATTRS) {
        if (!short_number(at, &index) || index >= b->attr_count)
            return NULL;
        if (b->attrs[index].state == BC_WAITING)
            bc_attr_at(b, index); /* says itself where it is */
        if (b->attrs[index].state != BC_ATTR)
            return NULL;
        dict = b->attrs[index].made;
        if (dict->kind != STET_ATTR_DICT)
            return NULL;
    }
    if (mask & HAS_PROPERTIES) {
        if (!short_number(at, &index) || index >= b->property_count)
            return NULL;
        properties = index + 1;
    }
    known = bc_converted_place(b, name, properties);
    if (bc_converted_is(known, name, properties, dict))
        return known;
    b->where = stet_reader_offset(r);
    if (!bc_vhlo_convert(b, name, properties, dict, known) || known->count > STET_MAX_ATTRS)
        return NULL;
    return known;
}

/* What an entry of the table is, decoded now if nobody has asked for it; NULL for another kind. */
static inline const struct stet_loc *usual_loc(struct bc *b, uint32_t index)
{
    if (__builtin_expect(index >= b->attr_count, 0))
        return NULL;
    if (__builtin_expect(b->attrs[index].state == BC_WAITING, 0))
        bc_loc_at(b, index);
    return b->attrs[index].state == BC_LOC ? b->attrs[index].made : NULL;
}

static inline const struct stet_type *usual_type(struct bc *b, uint32_t index)
{
    if (__builtin_expect(index >= b->type_count, 0))
        return NULL;
    if (__builtin_expect(b->types[index].state == BC_WAITING, 0))
        bc_type_at(b, index);
    return b->types[index].state == BC_ATTR ? b->types[index].made : NULL;
}

/* False for an operation that is not a usual one. */
static inline bool usual_head(struct bc *b, const struct stet_reader *r, const unsigned char **from,
                              struct usual *u)
{
    static const struct bc_converted no_list = {0};
    const unsigned char *at = *from;
    struct bc_name *name;
    uint32_t index;
    unsigned mask;

    if (b->end - at < USUAL_BYTES || !short_number(&at, &index) || index >= b->name_count)
        return false;
    name = &b->names[index];
    mask = *at++;
    if ((mask & UNUSUAL) || !name->usual || !short_number(&at, &index) ||
        !(u->loc = usual_loc(b, index)))
        return false;
    u->name = name;
    u->attrs = &no_list;
    if ((mask & (HAS_ATTRS | HAS_PROPERTIES)) && !(u->attrs = usual_attrs(b, r, &at, name, mask)))
        return false;
    u->type = NULL;
    if ((mask & HAS_RESULTS) &&
        (*at++ != (1 << 1 | 1) || !short_number(&at, &index) || !(u->type = usual_type(b, index))))
        return false;
    u->count = 0;
    if ((mask & HAS_OPERANDS) && (!short_number(&at, &u->count) || u->count > USUAL_OPERANDS))
        return false;
    *from = at;
    return true;
}

/* The operands of an operation that are all defined; false when one is not. */
static inline bool usual_operands(const struct scope *scope, const unsigned char **at,
                                  struct stet_value **to, uint32_t count)
{
    struct stet_value *const *values = scope->values;
    const unsigned char *p = *at;
    size_t defined = scope->count;

    for (struct stet_value **end = to + count; to != end; to++) {
        uint32_t index = *p++;
        struct stet_value *value;

        if (index & 1) {
            index >>= 1;
        } else {
            if (!(index & 2))
                return false;
            index = (index | (uint32_t)*p++ << 8) >> 2;
        }
        if (index >= defined || !(value = values[index]))
            return false;
        *to = value;
    }
    *at = p;
    return true;
}

/* Nearly all operations are known ones of VHLO without regions, with one result or none and a few
 * operands defined before. Reads as many such ones as stand here without asking at every step
 * whether the section goes on, as long as the input does; gives how many. Nothing of the next has
 * been read then, but tables may have been filled. */
static uint32_t read_usual_ops(struct bc *b, struct stet_reader *r, struct region_state *state,
                               struct stet_block *block, struct stet_op **ops, uint32_t room)
{
    const unsigned char *at = r->next;
    uint32_t made = 0, id = b->p->op_count, value_id = b->p->value_count;
    size_t next = state->next;
    struct stet_value **operands;
    struct usual u;

    for (; made < room && usual_head(b, r, &at, &u); made++) {
        struct stet_op *op;
        uint32_t results = u.type != NULL;

        if (next + results > state->limit)
            break;
        make_room(b, at, sizeof *op + results * sizeof *op->results + u.count * sizeof *operands);
        op = stet_build_room(b->arena, results, u.count, &operands);
        if (!op)
            break;
        if (!usual_operands(state->scope, &at, operands, u.count) || at > r->end) {
            b->arena->next = (char *)op; /* nothing came after it */
            break;
        }
        *op = (struct stet_op){
            .loc = u.loc,
            .parent = block,
            .attrs = u.attrs->attrs,
            .id = id++,
            .operand_count = u.count,
            .result_count = results,
            .known = known_op(u.name, block) & 1023,
            .attr_count = u.attrs->count & STET_MAX_ATTRS,
        };
        if (results) {
            op->results[0] = (struct stet_value){.type = u.type, .id = value_id++};
            state->scope->values[next++] = op->results;
        }
        ops[made] = op;
        r->next = at;
    }
    b->p->op_count = id;
    b->p->value_count = value_id;
    state->next = next;
    return made;
}

/* NULL for an operation that leaves no trace. */
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
    parts.known = known_op(name, block);
    parts.loc = bc_loc(b, r);
    if (mask & (HAS_ATTRS | HAS_PROPERTIES)) {
        struct bc_attr_list attrs = bc_read_attrs(b, r, name, mask);

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
        bc_no_room(b);
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
                                  : bc_type_at(b, type);
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
        uint32_t usual = read_usual_ops(b, r, state, block, ops + made, (uint32_t)n);
        struct stet_op *op;

        made += usual;
        n -= usual;
        if (!n)
            break;
        make_room(b, r->next, USUAL_ROOM);
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
        return bc_fail(b, STET_LIMIT, stet_reader_offset(r), "regions nested deeper than %d",
                       STET_MAX_DEPTH);
    /* Isolated regions are sections of their own since they can be loaded lazily. */
    if (isolated && b->version >= BC_LAZY_LOADING && op->region_count) {
        bytes = bc_nested(b, r, BC_IR);
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
    return bc_check(b, from, "operations");
}

bool bc_read_ir(struct bc *b)
{
    struct stet_view bytes = b->sections[BC_IR];
    struct stet_reader r = bc_reader(b, bytes.ptr, bytes.len);
    struct scope scope = {0};
    struct region_state state = {.scope = &scope};
    struct stet_block top = {0};

    b->refill_at = r.next;
    b->refill_from = given(b->arena);
    read_block(b, &r, &state, &top);
    if (!bc_check(b, &r, "operations"))
        return false;
    if (stet_reader_left(&r))
        return bc_fail(b, STET_BAD_INPUT, stet_reader_offset(&r), "bytes after the operations");
    if (top.op_count != 1)
        return bc_fail(b, STET_UNSUPPORTED, r.base,
                       "%u operations at the top where a module is expected", top.op_count);
    b->p->module = top.ops[0];
    b->p->module->parent = NULL;
    return true;
}
