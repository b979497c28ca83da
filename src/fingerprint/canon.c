/* Looks up names in canon.def, caches the results, resolves symbols, and looks through plumbing. */
#include "fingerprint/content.h"

#include "base/mem.h"
#include "program/defaults.h"
#include "program/ops.h"

const uint8_t stet_canon_kinds[STET_KNOWN_OPS] = {
#define KIND(operation, kind) [STET_##operation] = STET_KIND_##kind,
#include "fingerprint/canon.def"
};

static const struct {
    struct stet_view name;
    uint8_t class;
} attr_table[] = {
#define ATTR(name, class) {{name, sizeof(name) - 1}, STET_CLASS_##class},
#include "fingerprint/canon.def"
};

struct stet_symbol {
    const struct stet_op *op;
    struct stet_view name;
    uint32_t index;
};

static uint8_t class_of(struct stet_view name)
{
    size_t low = 0, high = sizeof attr_table / sizeof *attr_table;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = stet_view_cmp(name, attr_table[middle].name);

        if (order == 0)
            return attr_table[middle].class;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return STET_CLASS_UNLISTED;
}

void stet_canon_fill_name(struct stet_name_memo *memo, struct stet_view name)
{
    *memo = (struct stet_name_memo){
        .ptr = name.ptr,
        .len = (uint32_t)name.len,
        .hash = stet_hash_bytes(name).lo,
        .class = class_of(name),
    };
}

/* Equal in every program, so it is cached globally. Threads that fill it in at the same time write
 * the same values. */
_Atomic uint64_t stet_canon_op_hashes[STET_KNOWN_OPS];

uint64_t stet_canon_op_hash_slow(struct stet_canon *c, const struct stet_op *op)
{
    uint64_t hash;

    if (!op->known || op->known == STET_STABLEHLO_RETURN) /* this depends on the place */
        return stet_canon_name(c, stet_op_portable_name(op))->hash;
    hash = stet_hash_bytes(stet_op_portable_name(op)).lo;
    atomic_store_explicit(&stet_canon_op_hashes[op->known], hash, memory_order_relaxed);
    return hash;
}

/* GSPMD's equivalent of sdy.sharding_constraint. */
static bool is_sharding_call(const struct stet_op *op)
{
    const struct stet_attr *target = stet_op_attr(op, "call_target_name");

    return target && op->operand_count == 1 && op->result_count == 1 &&
           stet_view_is(stet_attr_text(target), "Sharding");
}

enum stet_kind stet_canon_kind_slow(struct stet_canon *c, const struct stet_op *op)
{
    enum stet_kind kind = (enum stet_kind)stet_canon_kinds[op->known];

    if (kind == STET_KIND_CUSTOM_CALL)
        kind = is_sharding_call(op) ? STET_KIND_CONSTRAINT : STET_KIND_PLAIN;
    else if (kind == STET_KIND_CONSTANT &&
             (op->operand_count || op->result_count != 1 || !stet_canon_value(op)))
        kind = STET_KIND_PLAIN;
    c->kinds[op->id] = (uint8_t)kind;
    return kind;
}

const struct stet_value *stet_canon_source_slow(struct stet_canon *c, const struct stet_value *v)
{
    for (int i = 0; i < STET_PLUMBING_DEPTH; i++) {
        if (!stet_value_def(v) || !stet_kind_is_plumbing(stet_canon_kind(c, stet_value_def(v))))
            break;
        v = stet_op_operand(stet_value_def(v), 0);
    }
    return v;
}

/* A dictionary of nothing but names. */
static bool holds_names(const struct stet_attr *value)
{
    if (value->kind != STET_ATTR_DICT || !value->count)
        return false;
    for (uint32_t i = 0; i < value->count; i++)
        if (class_of(value->named[i].name) != STET_CLASS_NAMES)
            return false;
    return true;
}

static enum stet_attr_class listed(enum stet_attr_class class, const struct stet_attr *value)
{
    if (class != STET_CLASS_UNLISTED)
        return class;
    if (holds_names(value))
        return STET_CLASS_NAMES;
    return value->kind == STET_ATTR_ENUM ? STET_CLASS_SKELETON : STET_CLASS_ATTRIBUTES;
}

enum stet_attr_class stet_canon_attr(struct stet_canon *c, const struct stet_named_attr *a)
{
    return listed((enum stet_attr_class)stet_canon_name(c, a->name)->class, a->value);
}

const struct stet_attr *stet_canon_value(const struct stet_op *op)
{
    if (op->attr_count == 1 && stet_view_is(op->attrs[0].name, "value"))
        return op->attrs[0].value;
    return stet_op_attr(op, "value");
}

bool stet_canon_silent(const struct stet_op *op, const struct stet_named_attr *a)
{
    return a->value->kind == STET_ATTR_LOCATION || stet_attr_is_default(op, a);
}

/* Takes the content of a stream and empties the stream. */
static void take(struct stet_sink *s, struct stet_short *out)
{
    struct stet_hash h;

    if (!s->started && stet_sink_length(s) < sizeof out->bytes) {
        memcpy(out->bytes, s->bytes, sizeof out->bytes);
        out->length = (uint8_t)stet_sink_length(s);
    } else {
        h = stet_sink_digest(s);
        memcpy(out->bytes, &h.hi, 8);
        memcpy(out->bytes + 8, &h.lo, 8);
        out->length = 16;
    }
    s->started = false;
    s->at = s->bytes;
}

/* An operation's main attribute is always present, so it has no default to look up. */
static bool is_silent(const struct stet_op *op, const struct stet_named_attr *a,
                      enum stet_attr_class class)
{
    if (class == STET_CLASS_VALUE || class == STET_CLASS_AXES || class == STET_CLASS_SLICES ||
        class == STET_CLASS_LIMITS || class == STET_CLASS_DERIVED)
        return false;
    return stet_canon_silent(op, a);
}

/* Called for a symbol while an attribute is written without a place to resolve it in. */
static bool note_symbol(struct stet_sink *s, struct stet_view name, void *context)
{
    (void)s;
    (void)name;
    *(bool *)context = true;
    return true;
}

static int64_t number_at(const struct stet_attr *a, uint32_t i)
{
    int64_t v = -1;

    if (a->kind == STET_ATTR_DENSE_ARRAY && stet_attr_bytes(a).len >= (i + (size_t)1) * sizeof v)
        memcpy(&v, stet_attr_bytes(a).ptr + i * sizeof v, sizeof v);
    else if (a->kind == STET_ATTR_INTS && i < a->count)
        v = a->ints[i];
    return v;
}

static void fill_attr(struct stet_canon *c, struct stet_attr_memo *memo, const struct stet_op *op,
                      const struct stet_named_attr *a)
{
    const struct stet_name_memo *name = stet_canon_name(c, a->name);
    const struct stet_symbol_writer symbols = {note_symbol, &memo->symbols};
    struct stet_sink s;

    memo->value = a->value;
    memo->name = a->name.ptr;
    memo->name_hash = name->hash;
    memo->known = op->known;
    memo->class = (uint8_t)listed((enum stet_attr_class)name->class, a->value);
    memo->symbols = memo->plain = false;
    memo->in_place = 0;
    while (memo->class == STET_CLASS_AXES && number_at(a->value, memo->in_place) == memo->in_place)
        memo->in_place++;
    memo->silent = is_silent(op, a, (enum stet_attr_class)memo->class);
    if (memo->silent || memo->class == STET_CLASS_NAMES)
        return;
    stet_sink_init(&s, &c->contents);
    if (memo->class == STET_CLASS_VALUE)
        stet_content_number(&s, a->value);
    else
        stet_content_attr(&s, a->value, &symbols);
    take(&s, &memo->content);
    memo->plain = !memo->symbols && memo->class <= STET_CLASS_SKELETON;
}

static void forget_attrs(struct stet_canon *c)
{
    memset(c->attr_places, 0, sizeof c->attr_places);
    c->attrs[0].value = NULL;
    c->attr_count = 1;
}

const struct stet_attr_memo *stet_canon_memo_slow(struct stet_canon *c, const struct stet_op *op,
                                                  const struct stet_named_attr *a)
{
    size_t slot = stet_memo_slot(a->value, STET_ATTR_BITS), mask = (1 << STET_ATTR_BITS) - 1;

    for (; c->attr_places[slot]; slot = (slot + 1) & mask)
        if (stet_memo_is(&c->attrs[c->attr_places[slot]], op, a))
            return &c->attrs[c->attr_places[slot]];
    if (c->attr_count == STET_ATTR_MEMOS) {
        forget_attrs(c);
        slot = stet_memo_slot(a->value, STET_ATTR_BITS);
    }
    c->attr_places[slot] = (uint8_t)c->attr_count;
    fill_attr(c, &c->attrs[c->attr_count], op, a);
    return &c->attrs[c->attr_count++];
}

static void fill_type(struct stet_type_memo *memo, const struct stet_type *t)
{
    struct stet_sink s;
    bool shaped = t->kind == STET_TYPE_TENSOR || t->kind == STET_TYPE_UNRANKED ||
                  t->kind == STET_TYPE_MEMREF || t->kind == STET_TYPE_VECTOR ||
                  t->kind == STET_TYPE_UNRANKED_MEMREF;

    stet_sink_init(&s, NULL);
    stet_content_type(&s, t);
    take(&s, &memo->content);
    for (uint32_t i = 0; shaped && i < t->rank; i++)
        stet_sink_int(&s, t->dims[i]);
    for (uint32_t i = 0; shaped && stet_type_rest(t)->bounds && i < t->rank; i++)
        stet_sink_int(&s, stet_type_rest(t)->bounds[i]);
    take(&s, &memo->dims);
    stet_content_type(&s, shaped ? t->element : t);
    if (t->kind == STET_TYPE_VECTOR) /* tensors are the default and add nothing */
        stet_sink_u8(&s, 'v');
    else if (t->kind == STET_TYPE_MEMREF || t->kind == STET_TYPE_UNRANKED_MEMREF)
        stet_sink_u8(&s, 'm');
    take(&s, &memo->dtype);
    memo->shaped = shaped;
    memo->plain = stet_content_layout_is_plain(t);
    memo->simple = shaped && memo->plain && !stet_type_rest(t)->encoding && t->rank < 0x80 &&
                   t->kind != STET_TYPE_UNRANKED && t->kind != STET_TYPE_UNRANKED_MEMREF &&
                   memo->dims.length <= STET_SINK_TINY && memo->dtype.length <= STET_SINK_TINY;
    memo->rank = (uint8_t)t->rank;
    memo->type = t;
}

static void forget_types(struct stet_canon *c)
{
    memset(c->type_places, 0, sizeof c->type_places);
    c->types[0].type = NULL;
    c->type_count = 1;
}

const struct stet_type_memo *stet_canon_type_slow(struct stet_canon *c, const struct stet_type *t)
{
    size_t slot = stet_memo_slot(t, STET_TYPE_BITS), mask = (1 << STET_TYPE_BITS) - 1;

    for (; c->type_places[slot]; slot = (slot + 1) & mask)
        if (c->types[c->type_places[slot]].type == t)
            return &c->types[c->type_places[slot]];
    if (c->type_count == STET_TYPE_MEMOS) {
        forget_types(c);
        slot = stet_memo_slot(t, STET_TYPE_BITS);
    }
    c->type_places[slot] = (uint8_t)c->type_count;
    fill_type(&c->types[c->type_count], t);
    return &c->types[c->type_count++];
}

static size_t symbol_slot(const struct stet_canon *c, struct stet_view name)
{
    size_t slot = stet_hash_bytes(name).lo & c->symbol_mask;

    while (c->symbols[slot].op && !stet_view_eq(c->symbols[slot].name, name))
        slot = (slot + 1) & c->symbol_mask;
    return slot;
}

const struct stet_op *stet_canon_symbol(const struct stet_canon *c, struct stet_view name,
                                        uint32_t *index)
{
    const struct stet_symbol *s;

    if (!c->symbols)
        return NULL;
    s = &c->symbols[symbol_slot(c, name)];
    if (index)
        *index = s->index;
    return s->op;
}

static enum stet_rc index_symbols(struct stet_canon *c, struct stet_err *err)
{
    const struct stet_op *module = c->program->module;
    const struct stet_block *top;
    uint32_t room = 8, index = 0;

    if (!module || !module->region_count || !stet_op_region(module, 0)->block_count)
        return STET_OK;
    top = stet_op_region(module, 0)->blocks[0];
    while (room < top->op_count * 2 && room < 1u << 30)
        room *= 2;
    c->symbols = stet_mem_calloc(room, sizeof *c->symbols);
    if (!c->symbols)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for %u symbols", top->op_count);
    c->symbol_mask = room - 1;
    for (uint32_t i = 0; i < top->op_count; i++) {
        struct stet_view name = stet_op_symbol(top->ops[i]);
        size_t slot;

        if (!name.len)
            continue;
        slot = symbol_slot(c, name);
        if (!c->symbols[slot].op)
            c->symbols[slot] = (struct stet_symbol){top->ops[i], name, index++};
    }
    return STET_OK;
}

enum stet_rc stet_canon_init(struct stet_canon *c, const struct stet_program *p,
                             struct stet_err *err)
{
    enum stet_rc rc;

    memset(&c->program, 0,
           offsetof(struct stet_canon, attrs) - offsetof(struct stet_canon, program));
    c->names[0].len = UINT32_MAX; /* otherwise it would be the memo of an empty name */
    forget_attrs(c);
    forget_types(c);
    c->program = p;
    c->kinds = stet_mem_calloc((size_t)p->op_count + 1, 1);
    if (!c->kinds)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for %u operations", p->op_count);
    rc = index_symbols(c, err);
    if (rc != STET_OK)
        stet_canon_release(c);
    return rc;
}

void stet_canon_release(struct stet_canon *c)
{
    stet_mem_free(c->kinds);
    stet_mem_free(c->symbols);
    c->kinds = NULL;
    c->symbols = NULL;
}
