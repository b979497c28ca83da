/* The attributes of StableHLO and CHLO in MLIR text, by the tables of program/records.def. */
#include "decode/mlir/mlir_text.h"

struct mlir_record stet_mlir_record(const char *dialect, const char *mnemonic)
{
    return (struct mlir_record){
        .table = stet_attr_record_find(stet_view_str(dialect), stet_view_str(mnemonic))};
}

static const struct stet_attr *i64_attr(struct mlir *p, int64_t v)
{
    return stet_mlir_make_int(p, stet_type_integer(p->arena, 64, STET_SIGNLESS), v);
}

static const struct stet_attr *zero_f64(struct mlir *p)
{
    static const char zero[8];

    return stet_mlir_make(p, (struct stet_attr){.kind = STET_ATTR_FLOAT,
                                                .of.type = stet_type_float(STET_F64),
                                                .at = zero,
                                                .size = sizeof(zero)});
}

/* The value of a field that was not printed; NULL if it stays out of the record. */
static const struct stet_attr *absent(struct mlir *p, enum stet_attr_field_kind kind)
{
    switch (kind) {
    case STET_FIELD_INT:
        return i64_attr(p, 0);
    case STET_FIELD_INTS:
        return stet_mlir_make_ints(p, NULL, 0);
    case STET_FIELD_BOOL:
        return stet_mlir_make_bool(p, false);
    case STET_FIELD_F64:
        return zero_f64(p);
    case STET_FIELD_ATTRS:
    case STET_FIELD_ATTRS_V2:
        return stet_mlir_make_array(p, NULL, 0);
    default:
        return NULL;
    }
}

static bool may_be_absent(enum stet_attr_field_kind kind)
{
    return kind == STET_FIELD_OPTIONAL_ATTR || kind == STET_FIELD_BOOL_ATTR ||
           kind == STET_FIELD_OPTIONAL_INT || kind == STET_FIELD_REDUCTION_V3;
}

const struct stet_attr *stet_mlir_make_record(struct mlir *p, const struct mlir_record *r)
{
    struct stet_attr a = {.kind = STET_ATTR_RECORD, .of.name = &r->table->name};
    size_t mark = mlir_mark(&p->scratch);

    for (unsigned i = 0; r->table->fields[i].kind != STET_FIELD_END && mlir_ok(p); i++) {
        enum stet_attr_field_kind kind = r->table->fields[i].kind;
        struct stet_named_attr field = {r->table->fields[i].name, r->fields[i]};

        if (!field.value)
            field.value = absent(p, kind);
        if (field.value)
            MLIR_PUSH(p, &p->scratch, field);
        else if (!may_be_absent(kind))
            stet_mlir_fail(p, p->at, "'%.*s' needs '%.*s'", STET_FMT(r->table->name.mnemonic),
                           STET_FMT(field.name));
    }
    a.named = stet_mlir_pop(p, &p->scratch, mark, sizeof(*a.named), &a.count);
    return stet_mlir_make(p, a);
}

static const struct stet_attr *field(struct mlir *p, enum stet_attr_field_kind kind)
{
    const int64_t *ints;
    uint32_t n;

    switch (kind) {
    case STET_FIELD_INT:
    case STET_FIELD_OPTIONAL_INT:
        return i64_attr(p, stet_mlir_int(p));
    case STET_FIELD_INTS:
        ints = stet_mlir_dims(p, &n);
        return stet_mlir_make_ints(p, ints, n);
    case STET_FIELD_STRING:
        return stet_mlir_make_string(p, stet_mlir_string(p));
    case STET_FIELD_F64:
        return stet_mlir_number(p, stet_type_float(STET_F64));
    default:
        return stet_mlir_attr(p);
    }
}

/* name = value, … up to '>', in any order; nested attributes may come without their '#…' name. */
static const struct stet_attr *fields(struct mlir *p, struct mlir_record *r)
{
    bool first = true;

    while (stet_mlir_more(p, ">", &first)) {
        const char *where = p->at;
        struct stet_view name = stet_mlir_word(p, "the name of a field");
        unsigned i = 0;

        while (r->table->fields[i].name.len && !stet_view_eq(r->table->fields[i].name, name))
            i++;
        if (r->table->fields[i].name.len == 0 || r->fields[i]) {
            stet_mlir_fail(p, where, "'%.*s' %s '%.*s'", STET_FMT(r->table->name.mnemonic),
                           r->table->fields[i].name.len ? "has twice" : "has no field",
                           STET_FMT(name));
            return NULL;
        }
        stet_mlir_expect(p, "=");
        if (r->table->style == STET_STYLE_STRUCT && stet_mlir_peek(p) == '(')
            r->fields[i] =
                stet_mlir_known_attr(p, r->table->name.dialect, STET_VIEW("sub_axis_info"), true);
        else
            r->fields[i] = field(p, r->table->fields[i].kind);
    }
    return stet_mlir_make_record(p, r);
}

/* ---- convolutions: [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] ---- */

/* One bracket: the positions of its two letters and of each spatial dimension. */
static void conv_part(struct mlir *p, const char letters[2], struct mlir_record *r, unsigned at)
{
    int64_t where[2] = {-1, -1}, spatial[STET_MAX_DEPTH], count = 0, index = 0;
    bool first = true;

    for (int i = 0; i < STET_MAX_DEPTH; i++)
        spatial[i] = -1;
    if (!stet_mlir_expect(p, "["))
        return;
    for (; stet_mlir_more(p, "]", &first); index++) {
        char c = stet_mlir_peek(p);
        int letter = c == letters[0] ? 0 : c == letters[1] ? 1 : -1;
        int64_t *slot = letter < 0 ? NULL : &where[letter], dim;

        if (letter >= 0) {
            p->at++;
        } else {
            dim = stet_mlir_int(p);
            if (dim >= 0 && dim < STET_MAX_DEPTH)
                slot = &spatial[dim];
            count++;
        }
        if (!slot || *slot >= 0)
            stet_mlir_fail(p, p->at, "dimension out of range or given twice");
        else
            *slot = index;
    }
    for (int64_t i = 0; i < count && mlir_ok(p); i++)
        if (spatial[i] < 0)
            stet_mlir_fail(p, p->at, "spatial dimension %lld is missing", (long long)i);
    if (mlir_ok(p) && (where[0] < 0 || where[1] < 0))
        stet_mlir_fail(p, p->at, "dimension '%c' or '%c' is missing", letters[0], letters[1]);
    size_t mark = mlir_mark(&p->scratch);
    uint32_t n;

    stet_mlir_push(p, &p->scratch, spatial, (size_t)count * sizeof(*spatial));
    const int64_t *kept = stet_mlir_pop(p, &p->scratch, mark, sizeof(*kept), &n);
    r->fields[at] = i64_attr(p, where[0]);
    r->fields[at + 1] = i64_attr(p, where[1]);
    r->fields[at + 2] = stet_mlir_make_ints(p, kept, n);
}

const struct stet_attr *stet_mlir_conv_dimensions(struct mlir *p)
{
    struct mlir_record r = stet_mlir_record("stablehlo", "conv");

    conv_part(p, "bf", &r, 0);
    stet_mlir_expect(p, "x");
    conv_part(p, "io", &r, 3);
    stet_mlir_expect(p, "->");
    conv_part(p, "bf", &r, 6);
    return stet_mlir_make_record(p, &r);
}

static const struct stet_attr *conv(struct mlir *p, struct mlir_record *r)
{
    const struct stet_attr *a;

    if (stet_mlir_accept_word(p, "raw"))
        return fields(p, r);
    a = stet_mlir_conv_dimensions(p);
    stet_mlir_expect(p, ">");
    return a;
}

/* ---- dot: batching_dims = [0] x [0], contracting_dims = [2] x [1] ---- */

static void dot_pair(struct mlir *p, struct mlir_record *r, unsigned at)
{
    for (unsigned side = 0; side < 2; side++) {
        uint32_t n;
        const int64_t *dims;

        if (side)
            stet_mlir_expect_word(p, "x");
        dims = stet_mlir_dims(p, &n);
        r->fields[at + side] = stet_mlir_make_ints(p, dims, n);
    }
}

const struct stet_attr *stet_mlir_dot_dimensions(struct mlir *p)
{
    struct mlir_record r = stet_mlir_record("stablehlo", "dot");

    if (stet_mlir_accept_word(p, "batching_dims")) {
        stet_mlir_expect(p, "=");
        dot_pair(p, &r, 0);
        stet_mlir_expect(p, ",");
    }
    stet_mlir_expect_word(p, "contracting_dims");
    stet_mlir_expect(p, "=");
    dot_pair(p, &r, 2);
    return stet_mlir_make_record(p, &r);
}

/* ---- all of them ---- */

static const struct stet_attr *bounds(struct mlir *p, struct mlir_record *r)
{
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;
    uint32_t n;

    while (stet_mlir_more(p, ">", &first)) {
        int64_t v = stet_mlir_accept(p, "?") ? STET_DYNAMIC : stet_mlir_int(p);

        MLIR_PUSH(p, &p->scratch, v);
    }
    const int64_t *ints = stet_mlir_pop(p, &p->scratch, mark, sizeof(*ints), &n);

    r->fields[0] = stet_mlir_make_ints(p, ints, n);
    return stet_mlir_make_record(p, r);
}

/* (2)4: the product of the sizes before, then the size. */
static const struct stet_attr *sub_axis(struct mlir *p, struct mlir_record *r)
{
    stet_mlir_expect(p, "(");
    r->fields[0] = i64_attr(p, stet_mlir_int(p));
    stet_mlir_expect(p, ")");
    r->fields[1] = i64_attr(p, stet_mlir_int(p));
    return stet_mlir_make_record(p, r);
}

/* <axes = [<name = "x", size = 2>], device_ids = dense<…>> */
static const struct stet_attr *mesh(struct mlir *p, struct mlir_record *r)
{
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;
    uint32_t n;

    stet_mlir_expect_word(p, "axes");
    stet_mlir_expect(p, "=");
    stet_mlir_expect(p, "[");
    while (stet_mlir_more(p, "]", &first)) {
        const struct stet_attr *axis =
            stet_mlir_peek(p) == '#'
                ? stet_mlir_attr(p)
                : stet_mlir_known_attr(p, r->table->name.dialect, STET_VIEW("mesh_axis"), true);

        stet_mlir_push_pointer(p, &p->scratch, axis);
    }
    const struct stet_attr *const *axes = stet_mlir_pop(p, &p->scratch, mark, sizeof(*axes), &n);

    r->fields[0] = stet_mlir_make_array(p, axes, n);
    if (stet_mlir_accept(p, ",")) {
        stet_mlir_expect_word(p, "device_ids");
        stet_mlir_expect(p, "=");
        r->fields[1] = stet_mlir_attr(p);
    }
    stet_mlir_expect(p, ">");
    return stet_mlir_make_record(p, r);
}

static const struct stet_attr *record(struct mlir *p, struct mlir_record *r)
{
    if (r->table->style == STET_STYLE_SUB_AXIS)
        return sub_axis(p, r);
    if (stet_view_is(r->table->name.dialect, "sdy"))
        return stet_mlir_sdy_attr(p, r->table->name.mnemonic);
    stet_mlir_expect(p, "<");
    switch (r->table->style) {
    case STET_STYLE_CONV:
        return conv(p, r);
    case STET_STYLE_BOUNDS:
        return bounds(p, r);
    case STET_STYLE_MESH:
        return mesh(p, r);
    default: /* STRUCT, SPARSE and ACCURACY differ only in what is left out */
        return fields(p, r);
    }
}

const struct stet_attr *stet_mlir_known_attr(struct mlir *p, struct stet_view dialect,
                                             struct stet_view mnemonic, bool dotted)
{
    struct mlir_record r = {.table = stet_attr_record_find(dialect, mnemonic)};
    const struct stet_enum *e = r.table ? NULL : stet_enum_find(dialect, mnemonic);
    const struct stet_attr *a;
    struct stet_view word;

    if (r.table) {
        if (!stet_mlir_enter(p))
            return NULL;
        a = record(p, &r);
        mlir_leave(p);
        return a;
    }
    if (!e)
        return NULL;
    if (dotted)
        stet_mlir_expect(p, "<");
    word = stet_mlir_word(p, "a word");
    if (dotted)
        stet_mlir_expect(p, ">");
    return stet_mlir_make(
        p, (struct stet_attr){
               .kind = STET_ATTR_ENUM, .of.name = &e->name, .at = word.ptr, .size = word.len});
}
