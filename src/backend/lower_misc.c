/* Lowering: random numbers, linear algebra, batch normalisation, custom calls. */
#include "backend/lower.h"
#include "backend/params.h"

/* ---- random numbers ---- */

static struct stet_gnode *bits_node(struct stet_lower *l, struct stet_gval *state,
                                    const struct stet_shape *bits, bool threefry)
{
    struct stet_random *r = STET_NEW(l->arena, struct stet_random);
    struct stet_shape out[2];

    if (!r)
        return NULL;
    out[0] = state->shape;
    out[1] = *bits;
    r->bits = *bits;
    r->state_words = (uint32_t)(state->shape.bytes / 8);
    return stet_graph_call(l, threefry ? &stet_kernel_threefry : &stet_kernel_philox, r, &state, 1,
                           out, 2);
}

enum stet_rc stet_lower_rng_bit_generator(struct stet_lower *l, int arg)
{
    struct stet_view algorithm = stet_lower_text(l, "rng_algorithm");
    struct stet_gval *state;
    struct stet_shape bits;
    struct stet_gnode *n;
    enum stet_dtype type;
    bool threefry = stet_view_is(algorithm, "THREE_FRY");

    (void)arg;
    OPERAND(state, 0);
    TRY(stet_lower_shape(l, 1, &bits));
    CHECK(stet_dtype_is_int(bits.dtype) || stet_dtype_is_float(bits.dtype),
          "no random bits of type %s", stet_dtype_name(bits.dtype));
    CHECK(stet_dtype_bytes(bits.dtype) <= 8 && stet_tile_ctype(bits.dtype) != STET_DT_INVALID,
          "no random bits of this type");
    CHECK(stet_dtype_is_int(state->shape.dtype) &&
              (state->shape.bytes == 16 || (!threefry && state->shape.bytes == 24)),
          "the state has %llu bytes", (unsigned long long)state->shape.bytes);
    CHECK(!stet_dtype_is_small_float(bits.dtype), "no random bits of type %s",
          stet_dtype_name(bits.dtype));
    type = bits.dtype, bits.dtype = stet_dtype_is_small(type) ? stet_tile_ctype(type) : type;
    n = bits_node(l, state, &bits, threefry);
    if (!n)
        return stet_lower_memory(l);
    TRY(stet_lower_out(l, 0, n->out[0]));
    return stet_lower_out(l, 1, stet_graph_convert(l, n->out[1], type));
}

/* A scalar over the whole shape. */
static struct stet_gval *over(struct stet_lower *l, struct stet_gval *a, const struct stet_shape *s)
{
    struct stet_shape t = *s;

    if (!a)
        return NULL;
    stet_shape_set(&t, a->shape.dtype, s->dims, s->rank);
    return stet_graph_broadcast(l, a, &t, NULL);
}

#define EW(op, a, b)                                                                               \
    stet_graph_ew(l, STET_TILE_##op, (a) ? (a)->shape.dtype : STET_DT_F32, a, b, NULL)

/* [0, 1) from 32 random bits each, in f32. */
static struct stet_gval *unit_interval(struct stet_lower *l, const struct stet_shape *like,
                                       uint64_t seed)
{
    uint64_t words[2] = {seed * 0x9E3779B97F4A7C15u, 0};
    struct stet_shape state, bits, pair;
    struct stet_gval *s0;
    struct stet_gnode *n;
    int64_t two = 2;

    stet_shape_set(&pair, STET_DT_U64, &two, 1);
    stet_shape_set(&state, STET_DT_U64, &two, 1);
    stet_shape_set(&bits, STET_DT_U32, like->dims, like->rank);
    n = stet_graph_node(l, STET_G_CONST, NULL, 0, &state, 1);
    if (!n)
        return NULL;
    n->bytes = stet_arena_copy(l->arena, stet_view_of(words, sizeof words)).ptr;
    if (!n->bytes)
        return NULL;
    s0 = n->out[0];
    n = bits_node(l, s0, &bits, false);
    if (!n)
        return NULL;
    {
        struct stet_gval *shift = stet_graph_number(l, &bits, 8), *v;
        struct stet_shape f;

        stet_shape_set(&f, STET_DT_F32, like->dims, like->rank);
        v = EW(SHR_LOGIC, n->out[1], shift);
        v = stet_graph_convert(l, v, STET_DT_F32);
        return EW(MUL, v, stet_graph_number(l, &f, 0x1p-24));
    }
}

/* Stateless numbers: the spec allows any; these are the same on every run. */
enum stet_rc stet_lower_rng(struct stet_lower *l, int arg)
{
    bool normal = stet_view_is(stet_lower_text(l, "rng_distribution"), "NORMAL");
    struct stet_gval *a, *b, *u, *v;
    struct stet_shape s, f;

    (void)arg;
    OPERAND(a, 0);
    OPERAND(b, 1);
    TRY(stet_lower_shape(l, 0, &s));
    CHECK(a->shape.rank == 0 && stet_shape_eq(&a->shape, &b->shape) && a->shape.dtype == s.dtype &&
              s.dtype != STET_DT_TOKEN && !stet_dtype_is_complex(s.dtype),
          "the bounds do not fit the result");
    stet_shape_set(&f, STET_DT_F32, s.dims, s.rank);
    u = unit_interval(l, &s, 2 * (uint64_t)l->nodes + 1);
    a = over(l, stet_graph_convert(l, a, STET_DT_F32), &s);
    b = over(l, stet_graph_convert(l, b, STET_DT_F32), &s);
    if (!u || !a || !b)
        return stet_lower_memory(l);
    if (normal) { /* the inverse of the distribution function */
        u = EW(SUB, EW(MUL, u, stet_graph_number(l, &f, 2)), stet_graph_number(l, &f, 0.99999994));
        u = stet_graph_ew(l, STET_TILE_ERF_INV, STET_DT_F32, u, NULL, NULL);
        u = EW(MUL, u, stet_graph_number(l, &f, 1.41421356237309505));
        v = EW(ADD, EW(MUL, u, b), a);
    } else {
        v = EW(ADD, EW(MUL, u, EW(SUB, b, a)), a);
        if (!stet_dtype_is_float(s.dtype))
            v = stet_graph_ew(l, STET_TILE_FLOOR, STET_DT_F32, v, NULL, NULL);
    }
    return stet_lower_out(l, 0, stet_graph_convert(l, v, s.dtype));
}

/* ---- linear algebra ---- */

static bool matrix_type(enum stet_dtype t)
{
    return t == STET_DT_F32 || t == STET_DT_F64 || t == STET_DT_C64 || t == STET_DT_C128;
}

enum stet_rc stet_lower_cholesky(struct stet_lower *l, int arg)
{
    struct stet_linalg *m = STET_NEW(l->arena, struct stet_linalg);
    struct stet_gval *a;
    struct stet_gnode *n;

    (void)arg;
    OPERAND(a, 0);
    if (!m)
        return stet_lower_memory(l);
    CHECK(a->shape.rank >= 2 && matrix_type(a->shape.dtype) &&
              a->shape.dims[a->shape.rank - 1] == a->shape.dims[a->shape.rank - 2],
          "not a square matrix of floats");
    m->dtype = a->shape.dtype;
    m->m = m->n = a->shape.dims[a->shape.rank - 1];
    m->batch = m->m ? (int64_t)a->shape.elements / (m->m * m->m) : 0;
    m->lower = stet_lower_int(l, "lower", 0) != 0;
    n = stet_graph_call(l, &stet_kernel_cholesky, m, &a, 1, &a->shape, 1);
    return stet_lower_out(l, 0, n ? n->out[0] : NULL);
}

static bool computed_in_f32(enum stet_dtype t)
{
    return t == STET_DT_F16 || t == STET_DT_BF16;
}

enum stet_rc stet_lower_triangular_solve(struct stet_lower *l, int arg)
{
    struct stet_view how = stet_lower_text(l, "transpose_a");
    struct stet_linalg *m = STET_NEW(l->arena, struct stet_linalg);
    struct stet_gval *in[2], *wide[2] = {0};
    struct stet_gnode *n;
    const struct stet_shape *a, *b;
    enum stet_dtype given;
    int64_t size;

    (void)arg;
    OPERAND(in[0], 0);
    OPERAND(in[1], 1);
    given = in[1]->shape.dtype;
    for (int i = 0; i < 2 && computed_in_f32(given) && in[0]->shape.dtype == given; i++)
        wide[i] = stet_graph_convert(l, in[i], STET_DT_F32);
    if (!m || !wide[0] != !wide[1])
        return stet_lower_memory(l);
    if (wide[0])
        in[0] = wide[0], in[1] = wide[1];
    a = &in[0]->shape, b = &in[1]->shape;
    CHECK(a->rank >= 2 && a->rank == b->rank && a->dtype == b->dtype && matrix_type(a->dtype),
          "operands do not fit each other");
    size = a->dims[a->rank - 1];
    m->left = stet_lower_int(l, "left_side", 0) != 0;
    CHECK(size == a->dims[a->rank - 2] && size == b->dims[b->rank - (m->left ? 2 : 1)],
          "matrices do not fit each other");
    for (uint32_t d = 0; d + 2 < a->rank; d++)
        CHECK(a->dims[d] == b->dims[d], "batch dimensions differ");
    m->dtype = a->dtype;
    m->m = b->dims[b->rank - 2];
    m->n = b->dims[b->rank - 1];
    m->batch = m->m && m->n ? (int64_t)b->elements / (m->m * m->n) : 0;
    m->lower = stet_lower_int(l, "lower", 0) != 0;
    m->unit = stet_lower_int(l, "unit_diagonal", 0) != 0;
    m->transpose = stet_view_is(how, "TRANSPOSE") || stet_view_is(how, "ADJOINT");
    m->conjugate = stet_view_is(how, "ADJOINT");
    n = stet_graph_call(l, &stet_kernel_triangular_solve, m, in, 2, b, 1);
    if (!n)
        return stet_lower_memory(l);
    return stet_lower_out(l, 0, wide[0] ? stet_graph_convert(l, n->out[0], given) : n->out[0]);
}

/* ---- batch normalisation ---- */

struct norm {
    struct stet_gval *x, *scale;
    struct stet_shape full, feature;
    bool reduced[STET_MAX_RANK];
    int64_t dim;
    double count, epsilon;
};

static enum stet_rc norm_init(struct stet_lower *l, struct norm *b)
{
    const struct stet_attr *e = stet_op_attr(l->op, "epsilon");
    float f = 0;

    OPERAND(b->x, 0);
    OPERAND(b->scale, 1);
    b->dim = stet_lower_int(l, "feature_index", -1);
    b->full = b->x->shape;
    CHECK(b->dim >= 0 && b->dim < b->full.rank && stet_dtype_is_float(b->full.dtype),
          "feature_index is out of range, or the operand is not a float");
    stet_shape_set(&b->feature, b->full.dtype, &b->full.dims[b->dim], 1);
    for (uint32_t i = 1; i < l->op->operand_count; i++) {
        struct stet_gval *v;

        OPERAND(v, i);
        CHECK(stet_shape_eq(&v->shape, &b->feature) || stet_shape_eq(&v->shape, &b->full),
              "operand %u does not fit", i);
    }
    CHECK(stet_shape_eq(&b->scale->shape, &b->feature), "scale does not fit");
    b->count = 1;
    for (uint32_t d = 0; d < b->full.rank; d++) {
        b->reduced[d] = d != b->dim;
        if (b->reduced[d])
            b->count *= (double)b->full.dims[d];
    }
    if (e && e->kind == STET_ATTR_FLOAT && stet_attr_bytes(e).len == 4)
        memcpy(&f, stet_attr_bytes(e).ptr, 4);
    b->epsilon = (double)f;
    return STET_OK;
}

static struct stet_gval *to_full(struct stet_lower *l, struct norm *b, struct stet_gval *v)
{
    return stet_graph_broadcast(l, v, &b->full, &b->dim);
}

static struct stet_gval *mean_of(struct stet_lower *l, struct norm *b, struct stet_gval *v)
{
    return EW(DIV, stet_lower_sum(l, v, b->reduced), stet_graph_number(l, &b->feature, b->count));
}

/* 1 / sqrt(variance + epsilon) */
static struct stet_gval *inverse(struct stet_lower *l, struct norm *b, struct stet_gval *variance)
{
    return EW(RSQRT, EW(ADD, variance, stet_graph_number(l, &b->feature, b->epsilon)), NULL);
}

static struct stet_gval *normalised(struct stet_lower *l, struct norm *b, struct stet_gval *mean,
                                    struct stet_gval *variance, struct stet_gval *offset)
{
    struct stet_gval *v = EW(SUB, b->x, to_full(l, b, mean));

    v = EW(MUL, v, to_full(l, b, EW(MUL, inverse(l, b, variance), b->scale)));
    return EW(ADD, v, to_full(l, b, offset));
}

enum stet_rc stet_lower_batch_norm_inference(struct stet_lower *l, int arg)
{
    struct stet_gval *offset, *mean, *variance;
    struct norm b;

    (void)arg;
    TRY(norm_init(l, &b));
    OPERAND(offset, 2);
    OPERAND(mean, 3);
    OPERAND(variance, 4);
    CHECK(offset->shape.rank == 1 && mean->shape.rank == 1 && variance->shape.rank == 1,
          "operands do not fit");
    return stet_lower_out(l, 0, normalised(l, &b, mean, variance, offset));
}

enum stet_rc stet_lower_batch_norm_training(struct stet_lower *l, int arg)
{
    struct stet_gval *offset, *mean, *d, *variance;
    struct norm b;

    (void)arg;
    TRY(norm_init(l, &b));
    OPERAND(offset, 2);
    CHECK(offset->shape.rank == 1, "operands do not fit");
    mean = mean_of(l, &b, b.x);
    d = EW(SUB, b.x, to_full(l, &b, mean));
    variance = mean_of(l, &b, EW(MUL, d, d));
    TRY(stet_lower_out(l, 0, normalised(l, &b, mean, variance, offset)));
    TRY(stet_lower_out(l, 1, mean));
    return stet_lower_out(l, 2, variance);
}

enum stet_rc stet_lower_batch_norm_grad(struct stet_lower *l, int arg)
{
    struct stet_gval *mean, *variance, *grad, *centred, *inv, *xg, *gsum, *gx, *n, *t;
    struct norm b;

    (void)arg;
    TRY(norm_init(l, &b));
    OPERAND(mean, 2);
    OPERAND(variance, 3);
    OPERAND(grad, 4);
    CHECK(mean->shape.rank == 1 && variance->shape.rank == 1 &&
              stet_shape_eq(&grad->shape, &b.full),
          "operands do not fit");
    centred = EW(SUB, b.x, to_full(l, &b, mean));
    inv = inverse(l, &b, variance);
    xg = stet_lower_sum(l, EW(MUL, grad, centred), b.reduced);
    gsum = stet_lower_sum(l, grad, b.reduced);
    n = stet_graph_number(l, &b.full, b.count);
    /* (scale * inv / n) * (n * grad - sum(grad) - centred * inv^2 * sum(grad * centred)) */
    t = EW(MUL, centred, to_full(l, &b, EW(MUL, EW(MUL, inv, inv), xg)));
    gx = EW(SUB, EW(SUB, EW(MUL, n, grad), to_full(l, &b, gsum)), t);
    t = EW(DIV, EW(MUL, b.scale, inv), stet_graph_number(l, &b.feature, b.count));
    gx = EW(MUL, gx, to_full(l, &b, t));
    TRY(stet_lower_out(l, 0, gx));
    TRY(stet_lower_out(l, 1, EW(MUL, xg, inv)));
    return stet_lower_out(l, 2, gsum);
}

/* ---- the host ---- */

/* send and recv as JAX writes them: one tensor, and a token that orders them. Here program order is
 * enough. */
enum stet_rc stet_lower_host_transfer(struct stet_lower *l, int send)
{
    const struct stet_attr *handle = stet_op_attr(l->op, "channel_handle");
    struct stet_transfer *t = STET_NEW(l->arena, struct stet_transfer);
    struct stet_gval *in[2];
    struct stet_shape out[2];
    struct stet_graph_ints channel;
    struct stet_gnode *n;
    uint32_t ins = send ? 2 : 1, outs = send ? 1 : 2;

    if (!t)
        return stet_lower_memory(l);
    if (!stet_lower_int(l, "is_host_transfer", 0))
        return stet_lower_fail(l, STET_UNSUPPORTED, "a transfer between devices");
    TRY(stet_lower_field(l, handle, "handle", &channel));
    CHECK(channel.count == 1, "channel_handle has no handle");
    CHECK(l->op->operand_count == ins && l->op->result_count == outs,
          "one tensor and a token are needed");
    for (uint32_t i = 0; i < ins; i++)
        OPERAND(in[i], i);
    for (uint32_t i = 0; i < outs; i++)
        TRY(stet_lower_shape(l, i, &out[i]));
    CHECK(in[ins - 1]->shape.dtype == STET_DT_TOKEN && out[outs - 1].dtype == STET_DT_TOKEN,
          "the last operand and result are not tokens");
    t->channel = channel.v[0];
    t->lane = l->lane;
    t->send = send != 0;
    t->buffer = send ? 0 : 1;
    t->bytes = send ? in[0]->shape.bytes : out[0].bytes;
    if (!(n = stet_graph_node(l, STET_G_HOST, in, ins, out, outs)))
        return l->err ? l->err->rc : STET_NO_MEMORY;
    n->params = t;
    n->live = l->block->talks = true;
    for (uint32_t i = 0; i < outs; i++)
        TRY(stet_lower_out(l, i, n->out[i]));
    return STET_OK;
}

/* ---- custom calls ---- */

static enum stet_rc custom_top_k(struct stet_lower *l)
{
    const struct stet_attr *a = stet_op_attr(l->op, "mhlo.attributes");
    const struct stet_attr *k = a ? stet_attr_field(a, "k") : NULL;
    const struct stet_attr *largest = a ? stet_attr_field(a, "largest") : NULL;

    CHECK(k && k->kind == STET_ATTR_INTEGER, "k is missing");
    return stet_lower_top_k_of(l, stet_attr_int(k), !largest || stet_attr_int(largest) != 0);
}

/* XLA's own top-k; k follows from the result's type. */
static enum stet_rc hlo_top_k(struct stet_lower *l)
{
    const struct stet_type *t = l->op->result_count ? l->op->results[0].type : NULL;

    if (t && t->kind == STET_TYPE_TUPLE && t->member_count)
        t = t->members[0];
    CHECK(t && t->kind == STET_TYPE_TENSOR && t->rank >= 1, "the result is not a tensor");
    return stet_lower_top_k_of(l, t->dims[t->rank - 1], true);
}

/* JAX's `empty`: memory that a program writes before it reads it. Zeros, so that runs repeat. */
static enum stet_rc allocate_buffer(struct stet_lower *l)
{
    static const uint64_t zero[2];
    struct stet_gnode *n;
    struct stet_shape s;

    TRY(stet_lower_shape(l, 0, &s));
    if (s.elements)
        return stet_lower_out(l, 0, stet_graph_splat(l, &s, zero));
    n = stet_graph_node(l, STET_G_CONST, NULL, 0, &s, 1);
    if (!n)
        return stet_lower_memory(l);
    n->bytes = (const char *)zero;
    return stet_lower_out(l, 0, n->out[0]);
}

/* A target that stands for an operation of the graph; *known: it does. */
static enum stet_rc lower_known(struct stet_lower *l, struct stet_view name, bool *known)
{
    static const char *const identities[] = {"Sharding",
                                             "SPMDFullToShardShape",
                                             "SPMDShardToFullShape",
                                             "xla.sdy.GlobalToLocalShape",
                                             "xla.sdy.LocalToGlobalShape",
                                             "annotate_device_placement",
                                             "xla.sdy.FuncResultSharding",
                                             "xla.sdy.Sharding",
                                             "LayoutConstraint",
                                             "MoveToHost",
                                             "MoveToDevice"};
    static const struct {
        const char *name;
        int op;
    } functions[] = {
        {"mhlo.erf", STET_TILE_ERF},     {"mhlo.erf_inv", STET_TILE_ERF_INV},
        {"mhlo.tan", STET_TILE_TAN},     {"mhlo.asin", STET_TILE_ASIN},
        {"mhlo.acos", STET_TILE_ACOS},   {"mhlo.atan", STET_TILE_ATAN},
        {"mhlo.sinh", STET_TILE_SINH},   {"mhlo.cosh", STET_TILE_COSH},
        {"mhlo.asinh", STET_TILE_ASINH}, {"mhlo.acosh", STET_TILE_ACOSH},
        {"mhlo.atanh", STET_TILE_ATANH},
    };
    static const struct {
        const char *name;
        enum stet_rc (*lower)(struct stet_lower *l);
    } others[] = {
        {"AllocateBuffer", allocate_buffer},
        {"mhlo.topk", custom_top_k},
        {"TopK", hlo_top_k},
        {"ApproxTopK", stet_lower_approx_top_k},
        {"LuDecomposition", stet_lower_lu},
        {"Qr", stet_lower_qr},
        {"Eigh", stet_lower_eigh},
        {"ProductOfElementaryHouseholderReflectors", stet_lower_reflectors},
    };

    *known = true;
    for (size_t i = 0; i < sizeof identities / sizeof identities[0]; i++)
        if (stet_view_is(name, identities[i]))
            return stet_lower_pass(l, 0);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (stet_view_is(name, functions[i].name))
            return stet_lower_unary(l, functions[i].op);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (stet_view_is(name, others[i].name))
            return others[i].lower(l);
    *known = false;
    return STET_OK;
}

enum stet_rc stet_lower_custom_call(struct stet_lower *l, int arg)
{
    struct stet_view name = stet_lower_text(l, "call_target_name");
    bool known;

    (void)arg;
    if (!l->single && stet_lower_is_border(l->op))
        return stet_view_is(name, "SPMDFullToShardShape") ||
                       stet_view_is(name, "xla.sdy.GlobalToLocalShape")
                   ? stet_lower_to_tiles(l)
                   : stet_lower_from_tiles(l);
    TRY(lower_known(l, name, &known));
    if (known)
        return STET_OK;
    if (stet_view_is(name, "tpu_custom_call"))
        return stet_lower_fail(
            l, STET_UNSUPPORTED,
            "tpu_custom_call holds a kernel in a TPU's own instructions (Pallas, "
            "flash attention), which only a TPU runs");
    TRY(stet_lower_ffi(l, name, &known));
    if (known)
        return STET_OK;
    return stet_lower_fail(l, STET_UNSUPPORTED, "custom call target \"%.*s\" is not known",
                           STET_FMT(name));
}
