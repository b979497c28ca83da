/* Converts VHLO operations to the equivalent StableHLO ones (rules in vhlo.def). */
#include "decode/bytecode/bytecode.h"

#define VIEW(literal) {literal, sizeof(literal) - 1}

enum drop {
    NEVER,
    ALWAYS,
    FALSE,
    EMPTY,      /* array, dictionary, string or tensor without elements */
    BOTH_EMPTY, /* operand_layouts and result_layouts go together */
    ZERO,
    ONE,
    MINUS_ONE,
    ONES,  /* a tensor of nothing but ones */
    ZEROS, /* … zeros or false */
    NOTYPE,
    DEFAULTS, /* an array of nothing but #stablehlo<precision DEFAULT> */
    ACCURACY,
};

enum become { SAME, I64S, BOOLS, SYMBOL, SYMBOLS, UNIT, CHANNEL };

struct rule {
    struct stet_view op, attr;
    enum drop drop;
    enum become become;
};

struct fields {
    struct stet_view op, attr, record;
};

struct bc_vhlo_op {
    struct stet_view name;
    unsigned version;
    struct stet_view attrs; /* names separated by spaces */
};

static const struct bc_vhlo_op ops[] = {
#define OP(name, version, attrs) {VIEW(name), version, VIEW(attrs)},
#include "decode/bytecode/vhlo.def"
#undef OP
};

static const struct rule rules[] = {
#define ATTR(op, attr, drop, become) {VIEW(op), VIEW(attr), drop, become},
#include "decode/bytecode/vhlo.def"
#undef ATTR
};

static const struct fields all_fields[] = {
#define FIELDS(op, attr, record) {VIEW(op), VIEW(attr), VIEW(record)},
#include "decode/bytecode/vhlo.def"
#undef FIELDS
};

enum {
    OPS = sizeof ops / sizeof *ops,
    RULES = sizeof rules / sizeof *rules,
    ALL_FIELDS = sizeof all_fields / sizeof *all_fields,
};

/* ---- names ---- */

static const struct bc_vhlo_op *find_op(struct stet_view name, unsigned version)
{
    size_t low = 0, high = OPS;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = stet_view_cmp(name, ops[middle].name);

        if (order == 0)
            order = (version > ops[middle].version) - (version < ops[middle].version);
        if (order == 0)
            return &ops[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* "dot_general_v2" → "dot_general", 2; version 0 if there is none. */
static struct stet_view split_version(struct stet_view name, unsigned *version)
{
    size_t digits = 0;

    *version = 0;
    while (digits < name.len && digits < 4 && name.ptr[name.len - 1 - digits] >= '0' &&
           name.ptr[name.len - 1 - digits] <= '9')
        digits++;
    if (!digits || name.len < digits + 2 || memcmp(name.ptr + name.len - digits - 2, "_v", 2) != 0)
        return name;
    for (size_t i = name.len - digits; i < name.len; i++)
        *version = *version * 10 + (unsigned)(name.ptr[i] - '0');
    name.len -= digits + 2;
    return name;
}

bool stet_decode_bc_vhlo_name(struct bc *b, struct stet_view name, struct bc_name *out)
{
    unsigned version;
    struct stet_view bare = split_version(name, &version);
    const struct bc_vhlo_op *op = find_op(bare, version);

    if (!op)
        return false;
    if (stet_view_is(bare, "func") || stet_view_is(bare, "call"))
        stet_decode_bc_name_op(b, STET_VIEW("func"), bare, out);
    else
        stet_decode_bc_name_op(b, STET_VIEW("stablehlo"), bare, out);
    out->vhlo = op;
    out->usual = out->known != STET_OP_UNKNOWN;
    return true;
}

/* ---- plans ---- */

enum { MOST_ATTRS = 24, MOST_RECORDS = 2, NOWHERE = 0xff };

struct plan_record {
    const struct stet_attr_record *record;
    uint16_t fields;                  /* of all_fields */
    uint8_t from[STET_RECORD_FIELDS]; /* which attribute is which field */
};

/* What to do with each attribute of one operation, computed once per file. It is small, because a
 * small file has nearly as many of them as operations. */
struct bc_vhlo_plan {
    const char *names; /* of the attributes: the operation's list */
    struct plan_record *records;
    uint16_t count, record_count;
    bool channel; /* send, recv: two attributes make the channel handle */
    struct {
        uint16_t name, length; /* in names */
        uint16_t rule;         /* its number and 1, or 0 */
        bool in_record;
    } attrs[MOST_ATTRS]; /* kept as far as there are any */
};

static struct stet_view attr_name(const struct bc_vhlo_plan *plan, uint32_t i)
{
    return stet_view_of(plan->names + plan->attrs[i].name, plan->attrs[i].length);
}

static uint32_t find_attr(const struct bc_vhlo_plan *plan, struct stet_view name)
{
    for (uint32_t i = 0; i < plan->count; i++)
        if (stet_view_eq(attr_name(plan, i), name))
            return i;
    return NOWHERE;
}

static const struct stet_attr *value_of(const struct bc_vhlo_plan *plan,
                                        const struct stet_attr *const *values, const char *name)
{
    uint32_t i = find_attr(plan, stet_view_str(name));

    return i == NOWHERE ? NULL : values[i];
}

static void list_attrs(struct bc_vhlo_plan *plan, struct stet_view rest)
{
    plan->names = rest.ptr;
    while (rest.len && plan->count < MOST_ATTRS) {
        const char *blank = memchr(rest.ptr, ' ', rest.len);
        size_t len = blank ? (size_t)(blank - rest.ptr) : rest.len;

        plan->attrs[plan->count].name = (uint16_t)(rest.ptr - plan->names);
        plan->attrs[plan->count++].length = (uint16_t)len;
        rest.ptr += len + (blank != NULL);
        rest.len -= len + (blank != NULL);
    }
}

/* The rules of one operation are adjacent. */
static void list_rules(struct bc_vhlo_plan *plan, struct stet_view op)
{
    size_t low = 0, high = RULES;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (stet_view_cmp(rules[middle].op, op) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < RULES && stet_view_eq(rules[low].op, op); low++) {
        uint32_t i = find_attr(plan, rules[low].attr);

        if (i != NOWHERE)
            plan->attrs[i].rule = (uint16_t)(low + 1);
    }
}

static void list_records(struct bc_vhlo_plan *plan, struct stet_view op)
{
    for (unsigned i = 0; i < ALL_FIELDS; i++) {
        const struct stet_attr_record *record;
        uint8_t *from;

        if (!stet_view_eq(all_fields[i].op, op) || plan->record_count == MOST_RECORDS)
            continue;
        from = plan->records[plan->record_count].from;
        record = stet_attr_record_find(STET_VIEW("stablehlo"), all_fields[i].record);
        for (unsigned k = 0; record->fields[k].kind != STET_FIELD_END; k++) {
            from[k] = (uint8_t)find_attr(plan, record->fields[k].name);
            if (from[k] != NOWHERE)
                plan->attrs[from[k]].in_record = true;
        }
        plan->records[plan->record_count].fields = (uint16_t)i;
        plan->records[plan->record_count++].record = record;
    }
}

static const struct bc_vhlo_plan *make_plan(struct bc *b, const struct bc_vhlo_op *op)
{
    static const struct bc_vhlo_plan nothing = {0};
    struct plan_record records[MOST_RECORDS] = {0};
    struct bc_vhlo_plan plan = {.records = records}, *kept;
    size_t size, record_size;

    list_attrs(&plan, op->attrs);
    list_rules(&plan, op->name);
    list_records(&plan, op->name);
    plan.channel = stet_view_is(op->name, "send") || stet_view_is(op->name, "recv");
    if (!plan.count && !plan.record_count && !plan.channel)
        return &nothing;
    size = offsetof(struct bc_vhlo_plan, attrs) + plan.count * sizeof *plan.attrs;
    record_size = plan.record_count * sizeof *records;
    plan.records = record_size ? stet_arena_raw(&b->scratch, 1, record_size) : NULL;
    kept = stet_arena_raw(&b->scratch, 1, size);
    if (!kept || (record_size && !plan.records))
        return stet_decode_bc_no_room(b);
    if (record_size)
        memcpy(plan.records, records, record_size);
    return memcpy(kept, &plan, size);
}

/* ---- dropping defaults ---- */

static bool is_empty(const struct stet_attr *a)
{
    switch (a->kind) {
    case STET_ATTR_ARRAY:
    case STET_ATTR_DICT:
        return a->count == 0;
    case STET_ATTR_STRING:
        return stet_attr_text(a).len == 0;
    case STET_ATTR_DENSE:
        return stet_attr_bytes(a).len == 0;
    default:
        return false;
    }
}

static bool is_integer(const struct stet_attr *a, int64_t value)
{
    return a->kind == STET_ATTR_INTEGER && stet_attr_int(a) == value;
}

static bool is_splat(const struct stet_attr *a, unsigned value)
{
    if (a->kind != STET_ATTR_DENSE || !a->splat ||
        (unsigned char)stet_attr_bytes(a).ptr[0] != value)
        return false;
    for (size_t i = 1; i < stet_attr_bytes(a).len; i++)
        if (stet_attr_bytes(a).ptr[i])
            return false;
    return true;
}

static bool all_default(const struct stet_attr *a)
{
    if (a->kind != STET_ATTR_ARRAY)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i]->kind != STET_ATTR_ENUM ||
            !stet_view_is(stet_attr_text(a->items[i]), "DEFAULT"))
            return false;
    return true;
}

static bool is_zero_float(const struct stet_attr *a)
{
    /* The sign of zero does not count, as in APFloat::isZero. */
    for (size_t i = 0; a && i < stet_attr_bytes(a).len; i++)
        if (stet_attr_bytes(a).ptr[i] &&
            !(i == stet_attr_bytes(a).len - 1 && (unsigned char)stet_attr_bytes(a).ptr[i] == 0x80))
            return false;
    return a != NULL;
}

static bool default_accuracy(const struct stet_attr *a)
{
    const struct stet_attr *ulps = stet_attr_field(a, "ulps"), *mode = stet_attr_field(a, "mode");

    return is_zero_float(stet_attr_field(a, "atol")) && is_zero_float(stet_attr_field(a, "rtol")) &&
           ulps && stet_attr_int(ulps) == 0 && mode &&
           stet_view_is(stet_attr_text(mode), "DEFAULT");
}

static bool both_layouts_empty(const struct bc_vhlo_plan *plan,
                               const struct stet_attr *const *values)
{
    const struct stet_attr *operands = value_of(plan, values, "operand_layouts");
    const struct stet_attr *results = value_of(plan, values, "result_layouts");

    return operands && is_empty(operands) && results && is_empty(results);
}

static bool is_default(const struct stet_attr *a, enum drop drop, const struct bc_vhlo_plan *plan,
                       const struct stet_attr *const *values)
{
    switch (drop) {
    case NEVER:
        return false;
    case ALWAYS:
        return true;
    case FALSE:
        return a->kind == STET_ATTR_BOOL && !stet_attr_int(a);
    case EMPTY:
        return is_empty(a);
    case BOTH_EMPTY:
        return both_layouts_empty(plan, values);
    case ZERO:
        return is_integer(a, 0);
    case ONE:
        return is_integer(a, 1);
    case MINUS_ONE:
        return is_integer(a, -1);
    case ONES:
        return is_splat(a, 1);
    case ZEROS:
        return is_splat(a, 0);
    case NOTYPE:
        return a->kind == STET_ATTR_ENUM && stet_view_is(stet_attr_text(a), "NOTYPE");
    case DEFAULTS:
        return all_default(a);
    case ACCURACY:
        return default_accuracy(a);
    }
    return false;
}

/* ---- becoming ---- */

/* The elements of a tensor one by one, also when it is stored as a splat. */
static struct stet_view spread(struct bc *b, const struct stet_attr *a, size_t size)
{
    uint64_t elements;
    char *out;

    if (a->kind != STET_ATTR_DENSE || !stet_type_elements(stet_attr_type(a), &elements) ||
        (stet_attr_bytes(a).len && stet_attr_bytes(a).len % size)) {
        stet_decode_bc_fail(b, STET_BAD_INPUT, STET_NO_OFFSET, "a VHLO tensor of numbers expected");
        return (struct stet_view){0};
    }
    if (!a->splat || elements == 1)
        return stet_attr_bytes(a);
    if (elements > UINT32_MAX)
        elements = UINT32_MAX; /* more than the arena will give */
    out = bc_alloc(b, (size_t)elements, size);
    if (!out)
        return (struct stet_view){0};
    for (uint64_t i = 0; i < elements; i++)
        memcpy(out + i * size, stet_attr_bytes(a).ptr, size);
    return stet_view_of(out, (size_t)elements * size);
}

static const struct stet_attr *as_array(struct bc *b, const struct stet_attr *a, uint32_t bits)
{
    struct stet_attr *out = stet_decode_bc_new_attr(b, STET_ATTR_DENSE_ARRAY);

    out->of.type = stet_type_integer(b->arena, bits, STET_SIGNLESS);
    stet_attr_set_bytes(out, spread(b, a, bits == 1 ? 1 : bits / 8));
    return out;
}

static const struct stet_attr *as_ints(struct bc *b, const struct stet_attr *a)
{
    struct stet_view bytes = spread(b, a, sizeof(int64_t));
    size_t n = bytes.len / sizeof(int64_t);
    int64_t *ints = n ? bc_alloc(b, n, sizeof *ints) : NULL;

    if (!ints)
        return &bc_no_ints;
    for (size_t i = 0; i < n; i++) {
        uint64_t v = 0;

        for (unsigned k = 0; k < 8; k++)
            v |= (uint64_t)(unsigned char)bytes.ptr[8 * i + k] << (8 * k);
        ints[i] = (int64_t)v;
    }
    return stet_decode_bc_intern(
        b, (struct stet_attr){.kind = STET_ATTR_INTS, .ints = ints, .count = (uint32_t)n});
}

static const struct stet_attr *as_symbols(struct bc *b, const struct stet_attr *a)
{
    struct stet_attr *out = stet_decode_bc_new_attr(b, STET_ATTR_ARRAY);
    uint32_t n = a->kind == STET_ATTR_ARRAY ? a->count : 0;
    const struct stet_attr **items = bc_alloc(b, n, sizeof *items);

    if (!items)
        return out;
    for (uint32_t i = 0; i < n; i++)
        items[i] = stet_decode_bc_make_symbol(b, stet_attr_text(a->items[i]));
    out->items = items;
    out->count = n;
    return out;
}

static const struct stet_attr *as_channel(struct bc *b, int64_t handle, int64_t type)
{
    const struct stet_type *i64 = stet_type_integer(b->arena, 64, STET_SIGNLESS);
    struct stet_named_attr fields[] = {
        {STET_VIEW("handle"), stet_decode_bc_make_int(b, i64, handle)},
        {STET_VIEW("type"), stet_decode_bc_make_int(b, i64, type)}};

    return stet_decode_bc_make_record(
        b, stet_attr_record_find(STET_VIEW("stablehlo"), STET_VIEW("channel_handle")), fields, 2);
}

static struct stet_named_attr convert(struct bc *b, struct stet_named_attr in, enum become become)
{
    static const struct stet_attr unit = {.kind = STET_ATTR_UNIT};

    switch (become) {
    case SAME:
        break;
    case I64S:
        in.value = as_array(b, in.value, 64);
        break;
    case BOOLS:
        in.value = as_array(b, in.value, 1);
        break;
    case SYMBOL:
        in.value = stet_decode_bc_make_symbol(b, stet_attr_text(in.value));
        break;
    case SYMBOLS:
        in.value = as_symbols(b, in.value);
        break;
    case UNIT:
        in.value = &unit;
        break;
    case CHANNEL:
        in.name = STET_VIEW("channel_handle");
        in.value = as_channel(b, stet_attr_int(in.value), 0);
        break;
    }
    return in;
}

/* ---- fields of one record ---- */

static bool is_none(const struct stet_attr *a)
{
    return !a || (a->kind == STET_ATTR_TYPE && stet_attr_type(a)->kind == STET_TYPE_NONE);
}

/* NULL if the record is absent (no dot algorithm requested). */
static const struct stet_attr *make_record(struct bc *b, const struct stet_attr_record *record,
                                           const uint8_t *from,
                                           const struct stet_attr *const *values)
{
    struct stet_named_attr fields[STET_RECORD_FIELDS];
    uint32_t count = 0;

    if (record->fields[0].kind == STET_FIELD_TYPE &&
        (from[0] == NOWHERE || is_none(values[from[0]])))
        return NULL;
    for (unsigned i = 0; record->fields[i].kind != STET_FIELD_END; i++) {
        const struct stet_attr *value = from[i] == NOWHERE ? NULL : values[from[i]];

        if (record->fields[i].kind == STET_FIELD_INTS) /* older versions lack the batching ones */
            value = value ? as_ints(b, value) : &bc_no_ints;
        else if (!value)
            stet_decode_bc_fail(b, STET_BAD_INPUT, STET_NO_OFFSET, "VHLO operation without %s",
                                record->fields[i].name.ptr);
        fields[count++] =
            (struct stet_named_attr){record->fields[i].name, value ? value : &bc_bad_attr};
    }
    return stet_decode_bc_make_record(b, record, fields, count);
}

/* ---- the whole ---- */

static void read_values(struct bc *b, const struct bc_vhlo_plan *plan, struct stet_view bytes,
                        const struct stet_attr **values)
{
    struct stet_reader r = bc_reader(b, bytes.ptr, bytes.len);

    for (uint32_t i = 0; i < plan->count; i++)
        values[i] = bc_attr(b, &r);
    if (stet_reader_left(&r))
        stet_reader_fail(&r, "bytes are left over");
    stet_decode_bc_check(b, &r, "VHLO properties");
}

static const struct stet_attr *channel_handle(struct bc *b, const struct bc_vhlo_plan *plan,
                                              const struct stet_attr *const *values)
{
    const struct stet_attr *id = value_of(plan, values, "channel_id");
    const struct stet_attr *type = value_of(plan, values, "channel_type");

    return as_channel(b, id ? stet_attr_int(id) : 0, type ? stet_attr_int(type) : 0);
}

/* The operation's own attributes, each dropped, converted, or collected into a record. */
static uint32_t convert_own(struct bc *b, const struct bc_vhlo_plan *plan,
                            const struct stet_attr *const *values, struct stet_named_attr *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < plan->count && bc_ok(b); i++) {
        struct stet_named_attr in = {attr_name(plan, i), values[i]};
        const struct rule *rule = plan->attrs[i].rule ? &rules[plan->attrs[i].rule - 1] : NULL;

        if (!in.value || plan->attrs[i].in_record ||
            (plan->channel && stet_view_starts(in.name, "channel_")))
            continue;
        if (!rule)
            out[n++] = in;
        else if (!is_default(in.value, rule->drop, plan, values))
            out[n++] = convert(b, in, rule->become);
    }
    for (uint32_t i = 0; i < plan->record_count && bc_ok(b); i++) {
        const struct stet_attr *value =
            make_record(b, plan->records[i].record, plan->records[i].from, values);

        if (value)
            out[n++] = (struct stet_named_attr){all_fields[plan->records[i].fields].attr, value};
    }
    if (plan->channel)
        out[n++] =
            (struct stet_named_attr){STET_VIEW("channel_handle"), channel_handle(b, plan, values)};
    return n;
}

bool stet_decode_bc_vhlo_convert(struct bc *b, struct bc_name *name, uint32_t properties,
                                 const struct stet_attr *dict, struct bc_converted *to)
{
    const struct stet_attr *values[MOST_ATTRS] = {NULL};
    const struct bc_vhlo_plan *plan = name->plan ? name->plan : make_plan(b, name->vhlo);
    struct stet_named_attr few[MOST_ATTRS + 8], *out = few, *kept;
    uint32_t n;

    if (!plan)
        return false;
    name->plan = plan;
    if (properties)
        read_values(b, plan, stet_decode_bc_properties_at(b, properties - 1), values);
    if ((size_t)plan->count + dict->count + 1 > sizeof few / sizeof *few)
        out = stet_arena_raw(&b->scratch, (size_t)plan->count + dict->count + 1, sizeof *out);
    if (!out)
        return stet_decode_bc_no_room(b) != NULL;
    /* Formats before 5 have everything in the dictionary. */
    for (uint32_t i = 0; i < dict->count; i++) {
        uint32_t own = find_attr(plan, dict->named[i].name);

        if (own != NOWHERE)
            values[own] = dict->named[i].value;
    }
    n = convert_own(b, plan, values, out);
    for (uint32_t i = 0; i < dict->count; i++)
        if (find_attr(plan, dict->named[i].name) == NOWHERE)
            out[n++] = dict->named[i];
    if (bc_ok(b) && !stet_build_sort(out, n))
        return stet_decode_bc_fail(b, STET_BAD_INPUT, STET_NO_OFFSET, "an attribute occurs twice");
    kept = n ? bc_alloc(b, n, sizeof *kept) : NULL;
    if (kept)
        memcpy(kept, out, n * sizeof *kept);
    *to = (struct bc_converted){name, dict, kept, n, properties};
    return bc_ok(b);
}
