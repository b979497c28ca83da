/* Lowering: elementwise operations and constants. */
#include "backend/lower.h"

bool stet_lower_has_kernel(int op, enum stet_dtype t)
{
    const stet_tile_fn *row = stet_tile_kernels()->ops[stet_tile_ctype(t)];

    return op < STET_TILE_OPS && row && row[op];
}

static enum stet_dtype part_of(enum stet_dtype t)
{
    return t == STET_DT_C64 ? STET_DT_F32 : t == STET_DT_C128 ? STET_DT_F64 : t;
}

/* real and imag of a real number; abs of an unsigned one. */
static struct stet_gval *trivial(struct stet_lower *l, int op, struct stet_gval *a)
{
    if (op == STET_TILE_IMAG)
        return stet_graph_number(l, &a->shape, 0);
    return a;
}

enum stet_rc stet_lower_unary(struct stet_lower *l, int op)
{
    struct stet_gval *a, *v;
    enum stet_dtype t, out;

    OPERAND(a, 0);
    out = t = a->shape.dtype;
    if (!stet_dtype_is_complex(t) && stet_dtype_is_float(t) &&
        (op == STET_TILE_REAL || op == STET_TILE_IMAG || op == STET_TILE_CONJ))
        return stet_lower_out(l, 0, trivial(l, op, a));
    if (op == STET_TILE_ABS && stet_dtype_is_unsigned(t))
        return stet_lower_out(l, 0, a);
    if (!stet_lower_has_kernel(op, t))
        return stet_lower_fail(l, STET_BAD_INPUT, "not defined for %s", stet_dtype_name(t));
    if (stet_dtype_is_small_int(t) && (op == STET_TILE_POPCNT || op == STET_TILE_CLZ))
        return stet_lower_out(l, 0, stet_lower_subbyte_bits(l, op, a, NULL));
    if (op == STET_TILE_IS_FINITE)
        out = STET_DT_PRED;
    else if (op == STET_TILE_REAL || op == STET_TILE_IMAG || op == STET_TILE_ABS)
        out = part_of(t);
    v = stet_graph_ew(l, op, out, a, NULL, NULL);
    return stet_lower_out(l, 0, v);
}

static enum stet_rc same_operands(struct stet_lower *l, struct stet_gval *a, struct stet_gval *b)
{
    if (stet_shape_eq(&a->shape, &b->shape))
        return STET_OK;
    return stet_lower_fail(l, STET_BAD_INPUT, "operands have different types");
}

/* Registers and memory have the same form for these, so a change of type needs no work. */
static bool plain_bits(enum stet_dtype t)
{
    return stet_tile_ctype(t) == t && t != STET_DT_PRED && t != STET_DT_TOKEN;
}

struct stet_gval *stet_lower_bits_as(struct stet_lower *l, struct stet_gval *a,
                                     const struct stet_shape *s)
{
    enum stet_dtype from = a ? a->shape.dtype : s->dtype, to = s->dtype;
    struct stet_gnode *n;
    uint64_t *bytes;

    if (!a || from == to)
        return a;
    if (plain_bits(from) && plain_bits(to) && stet_dtype_bytes(from) == stet_dtype_bytes(to) &&
        !stet_graph_splat_value(a)) {
        n = stet_graph_node(l, STET_G_ALIAS, &a, 1, s, 1);
        return n ? n->out[0] : NULL;
    }
    bytes = STET_NEW(l->arena, uint64_t);
    if (!bytes) {
        stet_lower_memory(l);
        return NULL;
    }
    *bytes = s->bytes;
    n = stet_graph_call(l, &stet_kernel_move, bytes, &a, 1, s, 1);
    return n ? n->out[0] : NULL;
}

/* The next number of a half-width type, by its bits. Registers hold these types as f32, whose next
 * number is nearer. */
static struct stet_gval *next_half(struct stet_lower *l, struct stet_gval *x, struct stet_gval *y)
{
    struct stet_shape bits, pred;
    struct stet_gval *xb, *yb, *zero, *one, *up, *v, *none;

#define EW(op, type, a, b, c) stet_graph_ew(l, STET_TILE_##op, STET_DT_##type, a, b, c)
    stet_shape_set(&bits, STET_DT_U16, x->shape.dims, x->shape.rank);
    stet_shape_set(&pred, STET_DT_PRED, x->shape.dims, x->shape.rank);
    xb = stet_lower_bits_as(l, x, &bits), yb = stet_lower_bits_as(l, y, &bits);
    zero = stet_graph_number(l, &x->shape, 0), one = stet_graph_number(l, &bits, 1);
    up = EW(EQ, PRED, EW(LT, PRED, x, y, NULL), EW(LT, PRED, zero, x, NULL), NULL);
    v = EW(SELECT, U16, up, EW(ADD, U16, xb, one, NULL), EW(SUB, U16, xb, one, NULL));
    none = EW(OR, U16, EW(AND, U16, yb, stet_graph_number(l, &bits, 0x8000), NULL), one, NULL);
    v = EW(SELECT, U16, EW(EQ, PRED, x, zero, NULL), none, v);
    v = EW(SELECT, U16, EW(EQ, PRED, x, y, NULL), yb, v);
    v = stet_lower_bits_as(l, v, &x->shape);
    none = EW(AND, PRED, EW(EQ, PRED, x, x, NULL), EW(EQ, PRED, y, y, NULL), NULL);
#undef EW
    return stet_graph_ew(l, STET_TILE_SELECT, x->shape.dtype, none, v,
                         stet_graph_number(l, &x->shape, __builtin_nan("")));
}

enum stet_rc stet_lower_binary(struct stet_lower *l, int op)
{
    struct stet_gval *a, *b;

    OPERAND(a, 0);
    OPERAND(b, 1);
    TRY(same_operands(l, a, b));
    if (!stet_lower_has_kernel(op, a->shape.dtype))
        return stet_lower_fail(l, STET_BAD_INPUT, "not defined for %s",
                               stet_dtype_name(a->shape.dtype));
    if (op == STET_TILE_NEXTAFTER && stet_dtype_bytes(a->shape.dtype) == 2)
        return stet_lower_out(l, 0, next_half(l, a, b));
    if (op == STET_TILE_NEXTAFTER && stet_dtype_is_small_float(a->shape.dtype))
        return stet_lower_fail(l, STET_UNSUPPORTED, "not defined for %s",
                               stet_dtype_name(a->shape.dtype));
    if (stet_dtype_is_small_int(a->shape.dtype) &&
        (op == STET_TILE_SHR_LOGIC || op == STET_TILE_SHR_ARITH))
        return stet_lower_out(l, 0, stet_lower_subbyte_bits(l, op, a, b));
    return stet_lower_out(l, 0, stet_graph_ew(l, op, a->shape.dtype, a, b, NULL));
}

enum stet_rc stet_lower_square(struct stet_lower *l, int arg)
{
    struct stet_gval *a;

    (void)arg;
    OPERAND(a, 0);
    CHECK(stet_lower_has_kernel(STET_TILE_MUL, a->shape.dtype), "not defined for this type");
    return stet_lower_out(l, 0, stet_graph_ew(l, STET_TILE_MUL, a->shape.dtype, a, a, NULL));
}

enum stet_rc stet_lower_is_inf(struct stet_lower *l, int sign)
{
    struct stet_gval *a, *inf;

    OPERAND(a, 0);
    CHECK(stet_dtype_is_float(a->shape.dtype), "not defined for this type");
    inf = stet_graph_number(l, &a->shape, sign < 0 ? -__builtin_inf() : __builtin_inf());
    if (sign == 0)
        a = stet_graph_ew(l, STET_TILE_ABS, a->shape.dtype, a, NULL, NULL);
    return stet_lower_out(l, 0, stet_graph_ew(l, STET_TILE_EQ, STET_DT_PRED, a, inf, NULL));
}

enum stet_rc stet_lower_complex(struct stet_lower *l, int arg)
{
    struct stet_gval *a, *b;
    enum stet_dtype t;

    (void)arg;
    OPERAND(a, 0);
    OPERAND(b, 1);
    TRY(same_operands(l, a, b));
    t = a->shape.dtype;
    CHECK(t == STET_DT_F32 || t == STET_DT_F64, "not defined for %s", stet_dtype_name(t));
    t = t == STET_DT_F32 ? STET_DT_C64 : STET_DT_C128;
    return stet_lower_out(l, 0, stet_graph_ew(l, STET_TILE_COMPLEX, t, a, b, NULL));
}

static int direction(struct stet_view v)
{
    static const struct {
        const char *name;
        int op;
    } all[] = {{"EQ", STET_TILE_EQ}, {"NE", STET_TILE_NE}, {"LT", STET_TILE_LT},
               {"LE", STET_TILE_LE}, {"GT", STET_TILE_GT}, {"GE", STET_TILE_GE}};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (stet_view_is(v, all[i].name))
            return all[i].op;
    return -1;
}

enum stet_rc stet_lower_compare(struct stet_lower *l, int arg)
{
    int op = direction(stet_lower_text(l, "comparison_direction"));
    struct stet_gval *a, *b;
    enum stet_dtype t;

    (void)arg;
    OPERAND(a, 0);
    OPERAND(b, 1);
    TRY(same_operands(l, a, b));
    CHECK(op >= 0, "comparison_direction is missing or unknown");
    t = a->shape.dtype;
    if (stet_view_is(stet_lower_text(l, "compare_type"), "TOTALORDER") && stet_dtype_is_float(t)) {
        enum stet_dtype order = t == STET_DT_F64 ? STET_DT_S64 : STET_DT_S32;

        a = stet_graph_ew(l, STET_TILE_ORDER, order, a, NULL, NULL);
        b = stet_graph_ew(l, STET_TILE_ORDER, order, b, NULL, NULL);
        t = order;
    }
    if (!stet_lower_has_kernel(op, t))
        return stet_lower_fail(l, STET_BAD_INPUT, "not defined for %s", stet_dtype_name(t));
    return stet_lower_out(l, 0, stet_graph_ew(l, op, STET_DT_PRED, a, b, NULL));
}

/* A scalar in place of a whole tensor. */
static struct stet_gval *spread(struct stet_lower *l, struct stet_gval *a,
                                const struct stet_shape *like)
{
    struct stet_shape s;

    if (a->shape.rank != 0 || like->rank == 0)
        return a;
    stet_shape_set(&s, a->shape.dtype, like->dims, like->rank);
    return stet_graph_broadcast(l, a, &s, NULL);
}

enum stet_rc stet_lower_select(struct stet_lower *l, int arg)
{
    struct stet_gval *p, *a, *b;

    (void)arg;
    OPERAND(p, 0);
    OPERAND(a, 1);
    OPERAND(b, 2);
    TRY(same_operands(l, a, b));
    CHECK(p->shape.dtype == STET_DT_PRED, "the predicate is not pred");
    CHECK(stet_lower_has_kernel(STET_TILE_SELECT, a->shape.dtype), "not defined for this type");
    if (!(p = spread(l, p, &a->shape)))
        return stet_lower_memory(l);
    CHECK(stet_shape_same_dims(&p->shape, &a->shape), "the predicate has another shape");
    return stet_lower_out(l, 0, stet_graph_ew(l, STET_TILE_SELECT, a->shape.dtype, p, a, b));
}

enum stet_rc stet_lower_clamp(struct stet_lower *l, int arg)
{
    struct stet_gval *low, *a, *high;

    (void)arg;
    OPERAND(low, 0);
    OPERAND(a, 1);
    OPERAND(high, 2);
    if (!(low = spread(l, low, &a->shape)) || !(high = spread(l, high, &a->shape)))
        return stet_lower_memory(l);
    TRY(same_operands(l, low, a));
    TRY(same_operands(l, high, a));
    CHECK(stet_lower_has_kernel(STET_TILE_CLAMP, a->shape.dtype), "not defined for this type");
    return stet_lower_out(l, 0, stet_graph_ew(l, STET_TILE_CLAMP, a->shape.dtype, low, a, high));
}

enum stet_rc stet_lower_convert(struct stet_lower *l, int arg)
{
    struct stet_gval *a;
    struct stet_shape s;

    (void)arg;
    OPERAND(a, 0);
    TRY(stet_lower_shape(l, 0, &s));
    CHECK(a->shape.dtype != STET_DT_TOKEN && s.dtype != STET_DT_TOKEN, "a token has no value");
    return stet_lower_out(l, 0, stet_graph_convert(l, a, s.dtype));
}

enum stet_rc stet_lower_bitcast(struct stet_lower *l, int arg)
{
    struct stet_gval *a;
    struct stet_shape s;

    (void)arg;
    OPERAND(a, 0);
    TRY(stet_lower_shape(l, 0, &s));
    if (stet_dtype_is_subbyte(a->shape.dtype) || stet_dtype_is_subbyte(s.dtype))
        return stet_lower_subbyte_bitcast(l, a, &s);
    CHECK(a->shape.dtype != STET_DT_TOKEN && a->shape.bytes == s.bytes, "the sizes do not agree");
    return stet_lower_out(l, 0, stet_lower_bits_as(l, a, &s));
}

enum stet_rc stet_lower_reduce_precision(struct stet_lower *l, int arg)
{
    int64_t e = stet_lower_int(l, "exponent_bits", -1), m = stet_lower_int(l, "mantissa_bits", -1);
    struct stet_gval *a;
    struct stet_gnode *n;
    int *params;

    (void)arg;
    OPERAND(a, 0);
    CHECK(stet_dtype_is_float(a->shape.dtype), "not defined for this type");
    CHECK(e >= 1 && e <= 64 && m >= 0 && m <= 64, "exponent_bits or mantissa_bits out of range");
    if (a->shape.dtype == STET_DT_F32 && e == 8 && m == 7)
        return stet_lower_out(l, 0,
                              stet_graph_ew(l, STET_EW_ROUND_BF16, STET_DT_F32, a, NULL, NULL));
    if (a->shape.dtype == STET_DT_F32 && e == 5 && m == 10)
        return stet_lower_out(l, 0,
                              stet_graph_ew(l, STET_EW_ROUND_F16, STET_DT_F32, a, NULL, NULL));
    if (a->shape.dtype != STET_DT_F64) { /* exact in f64 */
        enum stet_dtype back = a->shape.dtype;
        struct stet_gval *wide = stet_graph_convert(l, a, STET_DT_F64);

        params = STET_NEW_ARRAY(l->arena, int, 4);
        if (!params || !wide)
            return stet_lower_memory(l);
        params[0] = (int)e, params[1] = (int)m;
        memcpy(params + 2, &wide->shape.elements, sizeof wide->shape.elements);
        n = stet_graph_call(l, &stet_kernel_reduce_precision, params, &wide, 1, &wide->shape, 1);
        return stet_lower_out(l, 0, n ? stet_graph_convert(l, n->out[0], back) : NULL);
    }
    params = STET_NEW_ARRAY(l->arena, int, 4);
    if (!params)
        return stet_lower_memory(l);
    params[0] = (int)e, params[1] = (int)m;
    memcpy(params + 2, &a->shape.elements, sizeof a->shape.elements);
    n = stet_graph_call(l, &stet_kernel_reduce_precision, params, &a, 1, &a->shape, 1);
    return stet_lower_out(l, 0, n ? n->out[0] : NULL);
}

enum stet_rc stet_lower_iota(struct stet_lower *l, int arg)
{
    int64_t dim = stet_lower_int(l, "iota_dimension", -1);
    struct stet_shape s, plain;
    struct stet_gval *v;

    (void)arg;
    TRY(stet_lower_shape(l, 0, &s));
    CHECK(dim >= 0 && dim < s.rank, "iota_dimension is out of range");
    plain = s;
    if (stet_dtype_is_complex(s.dtype))
        stet_shape_set(&plain, s.dtype == STET_DT_C64 ? STET_DT_F32 : STET_DT_F64, s.dims, s.rank);
    v = stet_graph_iota(l, &plain, (uint32_t)dim);
    return stet_lower_out(l, 0, v ? stet_graph_convert(l, v, s.dtype) : NULL);
}

enum stet_rc stet_lower_constant(struct stet_lower *l, int arg)
{
    const struct stet_attr *a = stet_op_attr(l->op, "value");
    struct stet_gnode *n;
    struct stet_shape s;
    const void *one;
    size_t width;

    (void)arg;
    TRY(stet_lower_shape(l, 0, &s));
    CHECK(a && (a->kind == STET_ATTR_DENSE || a->kind == STET_ATTR_RESOURCE),
          "the constant's value is missing or in a form that cannot be read");
    width = stet_dtype_bytes(s.dtype);
    if (s.elements && (a->splat || s.elements == 1)) {
        CHECK(stet_attr_bytes(a).len >= width, "the constant has too few bytes");
        one = stet_lower_subbyte_constant(l, s.dtype, stet_attr_bytes(a).ptr, width);
        return stet_lower_out(l, 0, one ? stet_graph_splat(l, &s, one) : NULL);
    }
    CHECK(stet_attr_bytes(a).len >= s.bytes, "the constant has %zu bytes, %llu needed",
          stet_attr_bytes(a).len, (unsigned long long)s.bytes);
    n = stet_graph_node(l, STET_G_CONST, NULL, 0, &s, 1);
    if (!n)
        return stet_lower_memory(l);
    if (!(n->bytes = stet_lower_subbyte_constant(l, s.dtype, stet_attr_bytes(a).ptr, s.bytes)))
        return stet_lower_memory(l);
    if ((uintptr_t)n->bytes % (width < 8 ? width ? width : 1 : 8)) {
        char *copy = stet_arena_raw(l->arena, s.bytes + 1, 1);

        if (!copy)
            return stet_lower_memory(l);
        n->bytes = memcpy(copy, stet_attr_bytes(a).ptr, s.bytes);
    }
    return stet_lower_out(l, 0, n->out[0]);
}
