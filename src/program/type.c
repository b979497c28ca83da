/* Types and attributes: the shared simple types, sizes, equality by value. */
#include "program/build.h"

static const struct {
    const char *name;
    uint32_t bits;
} floats[STET_FLOATS] = {
    [STET_F16] = {"f16", 16},
    [STET_BF16] = {"bf16", 16},
    [STET_F32] = {"f32", 32},
    [STET_F64] = {"f64", 64},
    [STET_TF32] = {"tf32", 19},
    [STET_F80] = {"f80", 80},
    [STET_F128] = {"f128", 128},
    [STET_F8E5M2] = {"f8E5M2", 8},
    [STET_F8E4M3] = {"f8E4M3", 8},
    [STET_F8E4M3FN] = {"f8E4M3FN", 8},
    [STET_F8E5M2FNUZ] = {"f8E5M2FNUZ", 8},
    [STET_F8E4M3FNUZ] = {"f8E4M3FNUZ", 8},
    [STET_F8E4M3B11FNUZ] = {"f8E4M3B11FNUZ", 8},
    [STET_F8E3M4] = {"f8E3M4", 8},
    [STET_F8E8M0FNU] = {"f8E8M0FNU", 8},
    [STET_F4E2M1FN] = {"f4E2M1FN", 4},
    [STET_F6E2M3FN] = {"f6E2M3FN", 6},
    [STET_F6E3M2FN] = {"f6E3M2FN", 6},
};

const char *stet_float_name(enum stet_float f)
{
    return f < STET_FLOATS ? floats[f].name : "";
}

uint32_t stet_float_bits(enum stet_float f)
{
    return f < STET_FLOATS ? floats[f].bits : 0;
}

bool stet_float_by_name(struct stet_view name, enum stet_float *out)
{
    for (unsigned f = 0; f < STET_FLOATS; f++)
        if (stet_view_is(name, floats[f].name)) {
            *out = (enum stet_float)f;
            return true;
        }
    return false;
}

bool stet_type_elements(const struct stet_type *t, uint64_t *out)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] < 0 || __builtin_mul_overflow(n, (uint64_t)t->dims[i], &n))
            return false;
    *out = n;
    return true;
}

uint32_t stet_type_storage_bits(const struct stet_type *t)
{
    switch (t->kind) {
    case STET_TYPE_INTEGER:
        return (t->width + 7) / 8 * 8;
    case STET_TYPE_INDEX:
        return 64;
    case STET_TYPE_FLOAT:
        return (stet_float_bits(t->flavour) + 7) / 8 * 8;
    case STET_TYPE_COMPLEX:
        return 2 * stet_type_storage_bits(t->element);
    default:
        return 0;
    }
}

/* ---- the shared simple types ---- */

const struct stet_type_rest stet_type_no_rest = {0};

const struct stet_type stet_type_index = {.kind = STET_TYPE_INDEX};
const struct stet_type stet_type_none = {.kind = STET_TYPE_NONE};
const struct stet_type stet_type_token = {.kind = STET_TYPE_TOKEN};

#define INTEGER(bits, signedness) {.kind = STET_TYPE_INTEGER, .width = bits, .sign = signedness}
#define WIDTHS(signedness)                                                                         \
    {INTEGER(1, signedness), INTEGER(2, signedness),  INTEGER(4, signedness),                      \
     INTEGER(8, signedness), INTEGER(16, signedness), INTEGER(32, signedness),                     \
     INTEGER(64, signedness)}

static const struct stet_type integers[3][7] = {
    [STET_SIGNLESS] = WIDTHS(STET_SIGNLESS),
    [STET_SIGNED] = WIDTHS(STET_SIGNED),
    [STET_UNSIGNED] = WIDTHS(STET_UNSIGNED),
};

#define FLOATING(f) [f] = {.kind = STET_TYPE_FLOAT, .flavour = f}

static const struct stet_type floatings[STET_FLOATS] = {
    FLOATING(STET_F16),           FLOATING(STET_BF16),       FLOATING(STET_F32),
    FLOATING(STET_F64),           FLOATING(STET_TF32),       FLOATING(STET_F80),
    FLOATING(STET_F128),          FLOATING(STET_F8E5M2),     FLOATING(STET_F8E4M3),
    FLOATING(STET_F8E4M3FN),      FLOATING(STET_F8E5M2FNUZ), FLOATING(STET_F8E4M3FNUZ),
    FLOATING(STET_F8E4M3B11FNUZ), FLOATING(STET_F8E3M4),     FLOATING(STET_F8E8M0FNU),
    FLOATING(STET_F4E2M1FN),      FLOATING(STET_F6E2M3FN),   FLOATING(STET_F6E3M2FN),
};

const struct stet_type *stet_type_integer(struct stet_arena *a, uint32_t width, enum stet_sign sign)
{
    struct stet_type *t;

    for (unsigned i = 0; i < 7; i++)
        if (integers[sign][i].width == width)
            return &integers[sign][i];
    t = STET_NEW(a, struct stet_type);
    if (t)
        *t = (struct stet_type)INTEGER(width, sign);
    return t;
}

const struct stet_type *stet_type_float(enum stet_float flavour)
{
    return &floatings[flavour];
}

const struct stet_type *stet_type_tensor(struct stet_arena *a, const struct stet_type *element,
                                         const int64_t *dims, uint32_t rank)
{
    struct stet_type *t = STET_NEW(a, struct stet_type);
    int64_t *own = STET_NEW_ARRAY(a, int64_t, rank);

    if (!t || !own)
        return NULL;
    if (rank)
        memcpy(own, dims, rank * sizeof *dims);
    *t =
        (struct stet_type){.kind = STET_TYPE_TENSOR, .element = element, .dims = own, .rank = rank};
    return t;
}

bool stet_build_rest(struct stet_arena *a, struct stet_type *t, const struct stet_type_rest *rest)
{
    struct stet_type_rest *own = STET_NEW(a, struct stet_type_rest);

    if (!own)
        return false;
    *own = *rest;
    t->rest = own;
    return true;
}

/* ---- equality ---- */

static bool ints_eq(const int64_t *a, const int64_t *b, size_t n)
{
    if (!a || !b)
        return a == b || n == 0;
    return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

static bool attr_eq(const struct stet_attr *a, const struct stet_attr *b, unsigned depth);

static bool rest_eq(const struct stet_type_rest *a, const struct stet_type_rest *b, uint32_t rank,
                    unsigned depth)
{
    return a == b || (ints_eq(a->bounds, b->bounds, rank) && ints_eq(a->layout, b->layout, rank) &&
                      stet_view_eq(a->text, b->text) && stet_view_eq(a->bytes, b->bytes) &&
                      stet_view_eq(a->dialect, b->dialect) &&
                      stet_view_eq(a->layout_extra, b->layout_extra) &&
                      attr_eq(a->encoding, b->encoding, depth + 1));
}

static bool type_eq(const struct stet_type *a, const struct stet_type *b, unsigned depth)
{
    if (a == b)
        return true;
    if (!a || !b || depth == STET_MAX_DEPTH)
        return false;
    if (a->kind != b->kind || a->width != b->width || a->sign != b->sign ||
        a->flavour != b->flavour || a->rank != b->rank || a->member_count != b->member_count ||
        a->input_count != b->input_count)
        return false;
    if (!ints_eq(a->dims, b->dims, a->rank) || !type_eq(a->element, b->element, depth + 1) ||
        !rest_eq(stet_type_rest(a), stet_type_rest(b), a->rank, depth))
        return false;
    for (uint32_t i = 0; i < a->member_count; i++)
        if (!type_eq(a->members[i], b->members[i], depth + 1))
            return false;
    return true;
}

static bool loc_eq(const struct stet_loc *a, const struct stet_loc *b, unsigned depth)
{
    if (a == b)
        return true;
    if (!a || !b || depth == STET_MAX_DEPTH)
        return false;
    if (a->kind != b->kind || a->count != b->count || !stet_view_eq(a->text, b->text) ||
        !stet_view_eq(stet_loc_frame(a), stet_loc_frame(b)))
        return false;
    if (a->kind == STET_LOC_FILE)
        return a->line == b->line && a->column == b->column &&
               stet_loc_end(a).line == stet_loc_end(b).line &&
               stet_loc_end(a).column == stet_loc_end(b).column;
    if (!attr_eq(stet_loc_metadata(a), stet_loc_metadata(b), depth + 1))
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!loc_eq(a->parts[i], b->parts[i], depth + 1))
            return false;
    return true;
}

static bool contents_eq(const struct stet_attr *a, const struct stet_attr *b, unsigned depth)
{
    switch (a->kind) {
    case STET_ATTR_SYMBOL:
    case STET_ATTR_ARRAY:
    case STET_ATTR_DENSE_STRINGS:
    case STET_ATTR_SPARSE:
        for (uint32_t i = 0; i < a->count; i++)
            if (!attr_eq(a->items[i], b->items[i], depth + 1))
                return false;
        return true;
    case STET_ATTR_DICT:
    case STET_ATTR_RECORD:
        for (uint32_t i = 0; i < a->count; i++)
            if (!stet_view_eq(a->named[i].name, b->named[i].name) ||
                !attr_eq(a->named[i].value, b->named[i].value, depth + 1))
                return false;
        return true;
    case STET_ATTR_INTS:
        return ints_eq(a->ints, b->ints, a->count);
    case STET_ATTR_LOCATION:
        return loc_eq(a->location, b->location, depth + 1);
    default:
        return true;
    }
}

static bool attr_eq(const struct stet_attr *a, const struct stet_attr *b, unsigned depth)
{
    if (a == b)
        return true;
    if (!a || !b || depth == STET_MAX_DEPTH)
        return false;
    return a->kind == b->kind && a->splat == b->splat && a->count == b->count &&
           stet_attr_int(a) == stet_attr_int(b) &&
           stet_view_eq(stet_attr_dialect(a), stet_attr_dialect(b)) &&
           stet_view_eq(stet_attr_mnemonic(a), stet_attr_mnemonic(b)) &&
           stet_view_eq(stet_attr_text(a), stet_attr_text(b)) &&
           stet_view_eq(stet_attr_bytes(a), stet_attr_bytes(b)) &&
           type_eq(stet_attr_type(a), stet_attr_type(b), depth + 1) && contents_eq(a, b, depth);
}

bool stet_type_eq(const struct stet_type *a, const struct stet_type *b)
{
    return type_eq(a, b, 0);
}

bool stet_attr_eq(const struct stet_attr *a, const struct stet_attr *b)
{
    return attr_eq(a, b, 0);
}
