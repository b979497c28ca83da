/* Lowering: quantized types (StableHLO's !quant.uniform). A value is an integer in memory; it
 * stands for the number (integer - zero point) * scale, with one scale or one for each index of an
 * axis.
 *
 * Operations that move elements move the integers. All others compute with the numbers, as
 * StableHLO's specification defines it: operands are dequantized, results quantized. */
#include "backend/lower.h"

#include <stdlib.h>

/* ---- the type ---- */

struct quant {
    enum stet_dtype storage, expressed;
    int64_t low, high; /* of the integers */
    int64_t axis;      /* -1: one scale for all */
    uint32_t count;
    double *scales, *zeros;
};

/* A copy of the text that ends with NUL, and the place in it. */
struct quant_text {
    char text[4096];
    const char *at;
};

static bool take(struct quant_text *t, char c)
{
    while (*t->at == ' ')
        t->at++;
    if (*t->at != c)
        return false;
    t->at++;
    return true;
}

static enum stet_dtype integer_type(bool is_unsigned, long bits)
{
    switch (bits) {
    case 2:
        return is_unsigned ? STET_DT_U2 : STET_DT_S2;
    case 4:
        return is_unsigned ? STET_DT_U4 : STET_DT_S4;
    case 8:
        return is_unsigned ? STET_DT_U8 : STET_DT_S8;
    case 16:
        return is_unsigned ? STET_DT_U16 : STET_DT_S16;
    case 32:
        return is_unsigned ? STET_DT_U32 : STET_DT_S32;
    default:
        return STET_DT_INVALID;
    }
}

static bool read_storage(struct quant_text *t, struct quant *q)
{
    bool is_unsigned = *t->at == 'u';
    char *end;
    long bits;

    t->at += is_unsigned && t->at[1] == 'i' ? 2 : 1;
    bits = strtol(t->at, &end, 10);
    t->at = end;
    q->storage = integer_type(is_unsigned, bits);
    if (q->storage == STET_DT_INVALID)
        return false;
    q->low = is_unsigned ? 0 : -((int64_t)1 << (bits - 1));
    q->high = ((int64_t)1 << (bits - !is_unsigned)) - 1;
    if (take(t, '<')) {
        q->low = strtoll(t->at, &end, 10);
        t->at = end;
        if (!take(t, ':'))
            return false;
        q->high = strtoll(t->at, &end, 10);
        t->at = end;
        return take(t, '>');
    }
    return true;
}

static bool read_expressed(struct quant_text *t, struct quant *q)
{
    static const struct {
        const char *name;
        enum stet_dtype dtype;
    } all[] = {
        {"bf16", STET_DT_BF16}, {"f16", STET_DT_F16}, {"f32", STET_DT_F32}, {"f64", STET_DT_F64}};
    char *end;

    take(t, ' ');
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strncmp(t->at, all[i].name, strlen(all[i].name)) == 0)
            q->expressed = all[i].dtype, t->at += strlen(all[i].name);
    }
    q->axis = -1;
    if (q->expressed != STET_DT_INVALID && take(t, ':')) {
        q->axis = strtoll(t->at, &end, 10);
        if (end == t->at || q->axis < 0) /* scales of blocks, in braces */
            return false;
        t->at = end;
    }
    return q->expressed != STET_DT_INVALID && take(t, ',');
}

/* Scales and zero points, into the lists if there are any. */
static bool read_scales(struct quant_text *t, struct quant *q)
{
    bool list = take(t, '{');
    char *end;

    q->count = 0;
    do {
        double scale = strtod(t->at, &end);
        double zero = 0;

        if (end == t->at || !(scale > 0))
            return false;
        t->at = end;
        if (take(t, ':')) {
            zero = (double)strtoll(t->at, &end, 10);
            t->at = end;
        }
        if (q->scales)
            q->scales[q->count] = scale, q->zeros[q->count] = zero;
        q->count++;
    } while (list && take(t, ','));
    return !list || (take(t, '}') && q->axis >= 0);
}

static bool begin(struct quant_text *t, const struct stet_type *element, struct quant *q)
{
    static const char head[] = ".uniform<";
    struct stet_view text = stet_type_rest(element)->text;

    *q = (struct quant){.storage = STET_DT_INVALID};
    if (text.len >= sizeof t->text || text.len < sizeof head ||
        memcmp(text.ptr, head, sizeof head - 1) != 0)
        return false;
    memcpy(t->text, text.ptr, text.len);
    t->text[text.len] = '\0';
    t->at = t->text + sizeof head - 1;
    return read_storage(t, q) && take(t, ':') && read_expressed(t, q);
}

static enum stet_rc read_type(struct stet_lower *l, const struct stet_type *element,
                              struct quant *q)
{
    struct quant_text t, again;

    if (begin(&t, element, q)) {
        again = t;
        if (read_scales(&again, q)) {
            again.at = again.text + (t.at - t.text);
            q->scales = STET_NEW_ARRAY(l->arena, double, q->count);
            q->zeros = STET_NEW_ARRAY(l->arena, double, q->count);
            if (!q->scales || !q->zeros)
                return stet_lower_memory(l);
            read_scales(&again, q);
            return STET_OK;
        }
    }
    return stet_lower_fail(l, STET_UNSUPPORTED, "this form of a quantized type is not supported");
}

enum stet_dtype stet_lower_quant_dtype(const struct stet_type *element, bool expressed)
{
    struct quant_text t;
    struct quant q;

    if (!begin(&t, element, &q))
        return STET_DT_INVALID;
    return expressed ? q.expressed : q.storage;
}

/* ---- numbers ---- */

/* One number for each element: one for all, or along the axis. */
static struct stet_gval *spread(struct stet_lower *l, const struct quant *q, const double *values,
                                const struct stet_shape *like)
{
    struct stet_shape s, list;
    struct stet_gnode *n;
    int64_t count = q->count;
    double *copy;

    stet_shape_set(&s, STET_DT_F64, like->dims, like->rank);
    if (q->axis < 0)
        return stet_graph_number(l, &s, values[0]);
    stet_shape_set(&list, STET_DT_F64, &count, 1);
    copy = STET_NEW_ARRAY(l->arena, double, q->count);
    n = copy ? stet_graph_node(l, STET_G_CONST, NULL, 0, &list, 1) : NULL;
    if (!n) {
        stet_lower_memory(l);
        return NULL;
    }
    memcpy(copy, values, q->count * sizeof *values);
    n->bytes = copy;
    return stet_graph_broadcast(l, n->out[0], &s, &q->axis);
}

static enum stet_rc check_axis(struct stet_lower *l, const struct quant *q,
                               const struct stet_shape *s)
{
    CHECK(q->axis < 0 || (q->axis < s->rank && s->dims[q->axis] == q->count),
          "the scales of a quantized type do not fit its dimensions");
    return STET_OK;
}

/* In f64, in which all integers and scales are exact. */
static enum stet_rc dequantized(struct stet_lower *l, const struct stet_type *type,
                                struct stet_gval *v, struct stet_gval **out)
{
    struct stet_gval *x;
    struct quant q;

    TRY(read_type(l, type->element, &q));
    TRY(check_axis(l, &q, &v->shape));
    x = stet_graph_convert(l, v, STET_DT_F64);
    x = stet_graph_ew(l, STET_TILE_SUB, STET_DT_F64, x, spread(l, &q, q.zeros, &v->shape), NULL);
    x = stet_graph_ew(l, STET_TILE_MUL, STET_DT_F64, x, spread(l, &q, q.scales, &v->shape), NULL);
    *out = stet_graph_convert(l, x, q.expressed);
    return *out ? STET_OK : stet_lower_memory(l);
}

static enum stet_rc quantize(struct stet_lower *l, const struct stet_type *type,
                             struct stet_gval *v, struct stet_gval **out)
{
    struct stet_gval *x, *low, *high;
    struct stet_shape wide;
    struct quant q;

    TRY(read_type(l, type->element, &q));
    TRY(check_axis(l, &q, &v->shape));
    stet_shape_set(&wide, STET_DT_F64, v->shape.dims, v->shape.rank);
    low = stet_graph_number(l, &wide, (double)q.low);
    high = stet_graph_number(l, &wide, (double)q.high);
    x = stet_graph_convert(l, v, STET_DT_F64);
    x = stet_graph_ew(l, STET_TILE_DIV, STET_DT_F64, x, spread(l, &q, q.scales, &v->shape), NULL);
    x = stet_graph_convert(l, stet_graph_convert(l, x, q.expressed), STET_DT_F64);
    x = stet_graph_ew(l, STET_TILE_ROUND_EVEN, STET_DT_F64, x, NULL, NULL);
    x = stet_graph_ew(l, STET_TILE_ADD, STET_DT_F64, x, spread(l, &q, q.zeros, &v->shape), NULL);
    if (!low || !high || !x)
        return stet_lower_memory(l);
    x = stet_graph_ew(l, STET_TILE_CLAMP, STET_DT_F64, low, x, high);
    *out = stet_graph_convert(l, x, q.storage);
    return *out ? STET_OK : stet_lower_memory(l);
}

/* ---- operations ---- */

static const struct stet_type *quantized_type(const struct stet_value *v)
{
    const struct stet_type *t = v->type;

    return t && t->kind == STET_TYPE_TENSOR && t->element && t->element->kind == STET_TYPE_QUANTIZED
               ? t
               : NULL;
}

static bool moves_elements(const struct stet_op *op)
{
    switch (op->known) {
    case STET_STABLEHLO_BITCAST_CONVERT:
    case STET_STABLEHLO_BROADCAST:
    case STET_STABLEHLO_BROADCAST_IN_DIM:
    case STET_STABLEHLO_CASE:
    case STET_STABLEHLO_CONCATENATE:
    case STET_STABLEHLO_CONSTANT:
    case STET_STABLEHLO_DYNAMIC_BROADCAST_IN_DIM:
    case STET_STABLEHLO_DYNAMIC_GATHER:
    case STET_STABLEHLO_DYNAMIC_PAD:
    case STET_STABLEHLO_DYNAMIC_RESHAPE:
    case STET_STABLEHLO_DYNAMIC_SLICE:
    case STET_STABLEHLO_DYNAMIC_UPDATE_SLICE:
    case STET_STABLEHLO_GATHER:
    case STET_STABLEHLO_GET_TUPLE_ELEMENT:
    case STET_STABLEHLO_IF:
    case STET_STABLEHLO_OPTIMIZATION_BARRIER:
    case STET_STABLEHLO_PAD:
    case STET_STABLEHLO_RESHAPE:
    case STET_STABLEHLO_REVERSE:
    case STET_STABLEHLO_SELECT:
    case STET_STABLEHLO_SLICE:
    case STET_STABLEHLO_TRANSPOSE:
    case STET_STABLEHLO_TUPLE:
    case STET_STABLEHLO_WHILE:
    case STET_FUNC_CALL:
        return true;
    default:
        return op->region_count > 0;
    }
}

bool stet_lower_is_quantized(const struct stet_op *op)
{
    bool any = false;

    for (uint32_t i = 0; i < op->operand_count && !any; i++)
        any = quantized_type(stet_op_operand(op, i)) != NULL;
    for (uint32_t i = 0; i < op->result_count && !any; i++)
        any = quantized_type(&op->results[i]) != NULL;
    return any && !moves_elements(op);
}

static enum stet_rc lower_expressed(struct stet_lower *l,
                                    enum stet_rc (*lower)(struct stet_lower *l, int arg), int arg,
                                    struct stet_lowered *before)
{
    uint32_t count = l->op->operand_count, done = 0;
    enum stet_rc rc = STET_OK;

    for (; done < count && rc == STET_OK; done++) {
        const struct stet_value *v = stet_op_operand(l->op, done);
        struct stet_gval *x = stet_lower_in(l, done), *y = x;

        if (!x)
            return l->err && l->err->rc != STET_OK ? l->err->rc : STET_BAD_INPUT;
        before[done] = l->map[v->id];
        /* an operand that comes twice is a number already */
        if (quantized_type(v) && !stet_dtype_is_float(x->shape.dtype))
            rc = dequantized(l, quantized_type(v), x, &y);
        if (rc == STET_OK)
            rc = stet_lower_bind(l, v, &y, 1);
    }
    if (rc == STET_OK) {
        l->expressed = true;
        rc = lower(l, arg);
        l->expressed = false;
    }
    while (done-- > 0)
        l->map[stet_op_operand(l->op, done)->id] = before[done];
    return rc;
}

enum stet_rc stet_lower_quantized(struct stet_lower *l,
                                  enum stet_rc (*lower)(struct stet_lower *l, int arg), int arg)
{
    struct stet_lowered *before =
        STET_NEW_ARRAY(l->arena, struct stet_lowered, l->op->operand_count + 1);

    if (!before)
        return stet_lower_memory(l);
    TRY(lower_expressed(l, lower, arg, before));
    for (uint32_t i = 0; i < l->op->result_count; i++) {
        const struct stet_type *t = quantized_type(&l->op->results[i]);
        const struct stet_lowered *v = &l->map[l->op->results[i].id];
        struct stet_gval *x;

        if (!t)
            continue;
        CHECK(v->count == 1 && stet_dtype_is_float(v->parts[0]->shape.dtype),
              "result %u cannot be quantized", i);
        TRY(quantize(l, t, v->parts[0], &x));
        TRY(stet_lower_out(l, i, x));
    }
    return STET_OK;
}

/* uniform_quantize and uniform_dequantize: the conversion is done around them. */
enum stet_rc stet_lower_same(struct stet_lower *l, int arg)
{
    struct stet_gval *a;

    (void)arg;
    OPERAND(a, 0);
    return stet_lower_out(l, 0, a);
}
