/* The table of attributes and types: each is decoded at its first use. */
#include "decode/bytecode/bytecode.h"

/* Text entries end with a NUL. */
static struct stet_view entry_text(struct stet_reader *r)
{
    const void *nul = stet_reader_left(r) ? memchr(r->next, 0, stet_reader_left(r)) : NULL;
    struct stet_view text;

    if (!nul) {
        stet_reader_fail(r, "text without an end");
        return (struct stet_view){0};
    }
    text = stet_reader_bytes(r, (uint64_t)((const unsigned char *)nul - r->next));
    stet_reader_skip(r, 1);
    return text;
}

static bool enter(struct bc *b, struct bc_entry *e, const struct stet_reader *r)
{
    if (!bc_ok(b))
        return false;
    if (e->state == BC_BUSY)
        return stet_decode_bc_fail(b, STET_BAD_INPUT, stet_reader_offset(r),
                                   "an entry contains itself");
    if (b->depth == STET_MAX_DEPTH)
        return stet_decode_bc_fail(b, STET_LIMIT, stet_reader_offset(r), "nested deeper than %d",
                                   STET_MAX_DEPTH);
    b->depth++;
    b->where = r->base;
    e->state = BC_BUSY;
    return true;
}

static void leave(struct bc *b, struct bc_entry *e, struct stet_reader *r, const void *made,
                  enum bc_state state, const char *what)
{
    b->depth--;
    if (stet_reader_ok(r) && stet_reader_left(r) && bc_ok(b))
        stet_reader_fail(r, "bytes are left over");
    stet_decode_bc_check(b, r, what);
    e->made = made;
    e->state = state & 0xff;
}

static const struct stet_attr *keep_attr(struct bc *b, const struct bc_dialect *d,
                                         struct stet_reader *r)
{
    return stet_decode_bc_make_opaque(b, stet_build_name(b->arena, d->name, (struct stet_view){0}),
                                      stet_reader_bytes(r, stet_reader_left(r)));
}

static const struct stet_attr *custom_attr(struct bc *b, const struct bc_dialect *d,
                                           struct stet_reader *r)
{
    switch (d->kind) {
    case BC_VHLO:
        return stet_decode_bc_vhlo_attr(b, r, bc_varint(r));
    case BC_STABLEHLO:
    case BC_CHLO:
    case BC_SDY:
        return stet_decode_bc_record_attr(b, r, d, bc_varint(r));
    default:
        return keep_attr(b, d, r);
    }
}

/* A name around a known location, as for every argument of a function. */
static const struct stet_loc *usual_name(struct bc *b, const struct bc_entry *e)
{
    const unsigned char *at = e->data + 1, *end = e->data + bc_entry_size(e);
    struct stet_loc *made;
    const struct stet_loc **parts;
    uint32_t name, child;
    struct stet_view text;

    if (!bc_short(&at, end, &name) || !bc_short(&at, end, &child) || at != end ||
        name >= b->attr_count || child >= b->attr_count || b->attrs[child].state != BC_LOC ||
        !bc_usual_text(b, &b->attrs[name], &text))
        return NULL;
    made = stet_arena_raw(b->arena, 1, stet_loc_size(STET_LOC_NAME, false) + sizeof *parts);
    if (!made)
        return NULL;
    parts = (const struct stet_loc **)((uintptr_t)made + stet_loc_size(STET_LOC_NAME, false));
    *parts = b->attrs[child].made;
    made->kind = STET_LOC_NAME;
    made->ends = made->called = false;
    made->count = 1;
    made->text = text;
    made->parts = parts;
    return made;
}

/* A dictionary of one string, with which JAX names every argument and result. */
static const struct stet_attr *usual_dict(struct bc *b, const struct bc_entry *e)
{
    enum { ONE = 1 << 1 | 1 };
    const unsigned char *at = e->data + 2, *end = e->data + bc_entry_size(e);
    struct stet_named_attr *named;
    struct stet_attr *made;
    struct bc_entry *value;
    uint32_t name, index;
    struct stet_view key, text;

    if (e->data[1] != ONE || !bc_short(&at, end, &name) || !bc_short(&at, end, &index) ||
        at != end || name >= b->attr_count || index >= b->attr_count ||
        !bc_usual_text(b, &b->attrs[name], &key))
        return NULL;
    value = &b->attrs[index];
    if (value->state == BC_WAITING && bc_usual_text(b, value, &text)) {
        value->made = stet_decode_bc_make_string(b, text);
        value->state = BC_ATTR;
    }
    named = value->state == BC_ATTR ? stet_arena_raw(b->arena, 1, sizeof *named) : NULL;
    if (!named)
        return NULL;
    *named = (struct stet_named_attr){key, value->made};
    made = stet_decode_bc_new_attr(b, STET_ATTR_DICT);
    made->count = 1;
    made->named = named;
    return made;
}

static const struct stet_attr *usual_string(struct bc *b, const struct bc_entry *e)
{
    struct stet_view text;

    return bc_usual_text(b, e, &text) ? stet_decode_bc_make_string(b, text) : NULL;
}

/* False for an entry that must be read step by step. */
static bool decode_usual(struct bc *b, struct bc_entry *e)
{
    enum { DICT = 1 << 1 | 1, STRING = 2 << 1 | 1, NAME = 14 << 1 | 1 };
    enum { VHLO_DICT = 6 << 1 | 1, VHLO_STRING = 14 << 1 | 1, KIND = 256 };
    enum bc_state state = BC_ATTR;
    const void *made = NULL;

    if (!e->custom || bc_entry_size(e) < 2)
        return false;
    switch (b->dialects[e->dialect].kind * KIND + e->data[0]) {
    case BC_BUILTIN *KIND + NAME:
        made = usual_name(b, e);
        state = BC_LOC;
        break;
    case BC_BUILTIN *KIND + DICT:
    case BC_VHLO *KIND + VHLO_DICT:
        made = usual_dict(b, e);
        break;
    case BC_BUILTIN *KIND + STRING:
    case BC_VHLO *KIND + VHLO_STRING:
        made = usual_string(b, e);
        break;
    }
    if (!made)
        return false;
    e->made = made;
    e->state = state & 0xff;
    return true;
}

static void decode_attr(struct bc *b, struct bc_entry *e)
{
    const struct bc_dialect *d = &b->dialects[e->dialect];
    enum bc_state state = BC_ATTR;
    struct stet_reader r;
    const void *made;
    uint64_t code;

    if (decode_usual(b, e))
        return;
    r = bc_reader(b, e->data, bc_entry_size(e));
    if (!enter(b, e, &r))
        return;
    if (!e->custom) {
        made = stet_decode_bc_text_attr(b, d, entry_text(&r));
    } else if (d->kind != BC_BUILTIN) {
        made = custom_attr(b, d, &r);
    } else {
        code = bc_varint(&r);
        if (stet_decode_bc_builtin_is_loc(code)) {
            made = stet_decode_bc_builtin_loc(b, &r, code);
            state = BC_LOC;
        } else {
            made = stet_decode_bc_builtin_attr(b, &r, code);
        }
    }
    leave(b, e, &r, made, state, "attribute");
}

static struct bc_entry *attr_entry(struct bc *b, uint64_t index)
{
    struct bc_entry *e;

    if (!bc_ok(b))
        return NULL;
    if (index >= b->attr_count) {
        stet_decode_bc_fail(b, STET_BAD_INPUT, STET_NO_OFFSET, "no attribute %llu",
                            (unsigned long long)index);
        return NULL;
    }
    e = &b->attrs[index];
    if (e->state < BC_ATTR)
        decode_attr(b, e);
    return bc_ok(b) ? e : NULL;
}

const struct stet_attr *stet_decode_bc_attr_at(struct bc *b, uint64_t index)
{
    struct bc_entry *e = attr_entry(b, index);
    struct stet_attr *a;

    if (!e)
        return &bc_bad_attr;
    if (e->state == BC_ATTR)
        return e->made;
    a = stet_decode_bc_new_attr(b, STET_ATTR_LOCATION);
    a->location = e->made;
    return a;
}

struct stet_view stet_decode_bc_text(struct bc *b, struct stet_reader *r)
{
    uint64_t index = bc_varint(r);
    struct stet_view text;

    if (!stet_reader_ok(r) || index >= b->attr_count)
        return stet_attr_text(stet_decode_bc_attr_at(b, UINT64_MAX));
    if (bc_usual_text(b, &b->attrs[index], &text))
        return text;
    return stet_attr_text(stet_decode_bc_attr_at(b, index));
}

/* The caller of a call site, or the child of a name, if that entry is not decoded yet. */
static bool chain_next(const struct bc *b, uint64_t *at)
{
    enum { CALLSITE = 10, NAME = 14 };
    const struct bc_entry *e = &b->attrs[*at];
    struct stet_reader r;
    uint64_t code;

    if (e->state != BC_WAITING || !e->custom || b->dialects[e->dialect].kind != BC_BUILTIN)
        return false;
    r = bc_reader(b, e->data, bc_entry_size(e));
    code = bc_varint(&r);
    if (code != CALLSITE && code != NAME)
        return false;
    bc_varint(&r);
    *at = bc_varint(&r);
    return *at < b->attr_count;
}

/* Call sites form chains as deep as the program's stack, which may be deeper than the recursion
 * limit. The rest of such a chain is decoded piece by piece from its far end. */
static void decode_chain(struct bc *b, uint64_t index)
{
    enum { STEP = STET_MAX_DEPTH / 4 };
    uint64_t at = index;
    size_t steps = 0, pieces;
    uint64_t *starts;

    while (steps < b->attr_count && chain_next(b, &at))
        steps++;
    if (steps < STEP)
        return;
    pieces = steps / STEP;
    starts = stet_arena_raw(&b->scratch, pieces, sizeof *starts);
    if (!starts)
        return;
    at = index;
    for (size_t i = 1; i <= pieces * STEP; i++) {
        chain_next(b, &at);
        if (i % STEP == 0)
            starts[i / STEP - 1] = at;
    }
    while (pieces-- > 0)
        attr_entry(b, starts[pieces]);
}

/* Its offset in the input: entries follow each other. */
static uint64_t entry_offset(const struct bc *b, uint64_t index)
{
    uint64_t at = (uint64_t)(b->sections[BC_ATTR_TYPE].ptr - b->input.ptr);

    for (uint64_t i = 0; i < index; i++)
        at += bc_entry_size(&b->attrs[i]);
    return at;
}

const struct stet_loc *stet_decode_bc_loc_at(struct bc *b, uint64_t index)
{
    struct bc_entry *e;

    if (b->depth == STET_MAX_DEPTH / 2 && index < b->attr_count)
        decode_chain(b, index);
    e = attr_entry(b, index);
    if (!e)
        return &bc_unknown_loc;
    if (e->state == BC_LOC)
        return e->made;
    if (((const struct stet_attr *)e->made)->kind == STET_ATTR_LOCATION)
        return ((const struct stet_attr *)e->made)->location;
    if (((const struct stet_attr *)e->made)->kind == STET_ATTR_OPAQUE) {
        /* A location kind of another dialect: kept by its text or bytes. */
        const struct stet_attr *a = e->made;
        struct stet_loc *loc = stet_build_loc(b->arena, STET_LOC_OPAQUE, false);

        if (!loc) {
            stet_decode_bc_no_room(b);
            return &bc_unknown_loc;
        }
        loc->text = stet_attr_text(a);
        loc->metadata = a;
        return loc;
    }
    stet_decode_bc_fail(b, STET_BAD_INPUT, entry_offset(b, index),
                        "attribute %llu is not a location", (unsigned long long)index);
    return &bc_unknown_loc;
}

/* ---- types ---- */

static const struct stet_type *keep_type(struct bc *b, const struct bc_dialect *d,
                                         struct stet_reader *r)
{
    struct stet_type *t = stet_decode_bc_new_type(b, STET_TYPE_OPAQUE);

    stet_decode_bc_set_rest(
        b, t,
        &(struct stet_type_rest){.dialect = d->name,
                                 .text = stet_decode_bc_tables(b),
                                 .bytes = stet_reader_bytes(r, stet_reader_left(r))});
    return t;
}

static const struct stet_type *stablehlo_type(struct bc *b, struct stet_reader *r, uint64_t code)
{
    struct stet_type *t;

    if (code == 0)
        return &stet_type_token;
    if (code != 1)
        stet_reader_fail(r, "unknown StableHLO type");
    t = stet_decode_bc_new_type(b, STET_TYPE_FUTURE);
    t->members = stet_decode_bc_read_types(b, r, &t->member_count);
    return t;
}

enum { QUANT_UNIFORM = 4, QUANT_PER_AXIS = 5 };

static const struct stet_type *custom_type(struct bc *b, const struct bc_dialect *d,
                                           struct stet_reader *r)
{
    struct stet_reader start = *r;
    uint64_t code;

    switch (d->kind) {
    case BC_BUILTIN:
        return stet_decode_bc_builtin_type(b, r, bc_varint(r));
    case BC_VHLO:
        return stet_decode_bc_vhlo_type(b, r, bc_varint(r));
    case BC_STABLEHLO:
        return stablehlo_type(b, r, bc_varint(r));
    case BC_QUANT:
        code = bc_varint(r);
        if (code == QUANT_UNIFORM || code == QUANT_PER_AXIS)
            return stet_decode_bc_quant_type(b, r, code == QUANT_PER_AXIS);
        *r = start;
        return keep_type(b, d, r);
    default:
        return keep_type(b, d, r);
    }
}

static void decode_type(struct bc *b, struct bc_entry *e)
{
    struct stet_reader r = bc_reader(b, e->data, bc_entry_size(e));
    const struct bc_dialect *d = &b->dialects[e->dialect];
    const struct stet_type *made;

    if (!enter(b, e, &r))
        return;
    made = e->custom ? custom_type(b, d, &r) : stet_decode_bc_text_type(b, d, entry_text(&r));
    leave(b, e, &r, made ? made : &stet_type_none, BC_ATTR, "type");
}

const struct stet_type *stet_decode_bc_type_at(struct bc *b, uint64_t index)
{
    if (!bc_ok(b))
        return &stet_type_none;
    if (index >= b->type_count) {
        stet_decode_bc_fail(b, STET_BAD_INPUT, STET_NO_OFFSET, "no type %llu",
                            (unsigned long long)index);
        return &stet_type_none;
    }
    if (b->types[index].state < BC_ATTR)
        decode_type(b, &b->types[index]);
    return bc_ok(b) ? b->types[index].made : &stet_type_none;
}
