/* The CPU backend's kernels against ref/, over random shapes, types and edge values; programs that
 * must be refused. Programs are written as MLIR text and go the whole way: decode, plan, run. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "backend/plan.h"
#include "backend/pool.h"
#include "backend/ref/ref.h"
#include "base/mem.h"
#include "decode/decode.h"
#include "test.h"

/* ---- random tensors ---- */

static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static int64_t pick(int64_t low, int64_t high)
{
    return low + (int64_t)(next() % (uint64_t)(high - low + 1));
}

static struct stet_ref tensor(enum stet_dtype t, const int64_t *dims, uint32_t rank)
{
    struct stet_ref r;

    stet_shape_set(&r.shape, t, dims, rank);
    r.data = aligned_alloc(64, (size_t)(r.shape.bytes + 64) / 64 * 64);
    memset(r.data, 0, r.shape.bytes);
    return r;
}

static struct stet_ref like(const struct stet_ref *a, enum stet_dtype t)
{
    return tensor(t, a->shape.dims, a->shape.rank);
}

/* `wild`: with NaN, infinities, subnormals and the ends of integer types. */
static struct stet_ref fill(enum stet_dtype t, const int64_t *dims, uint32_t rank, bool wild)
{
    static const double edges[] = {0,    -0.0, 1,   -1,    NAN,    INFINITY, -INFINITY, 0.5,
                                   -0.5, 1.5,  2.5, 1e-40, -1e-40, 3e38,     65504,     1e-8};
    struct stet_ref r = tensor(t, dims, rank);

    for (uint64_t i = 0; i < r.shape.elements; i++) {
        struct stet_scalar v = {t == STET_DT_PRED ? pick(0, 1) : pick(-9, 9),
                                (double)pick(-3000, 3000) / 1000};

        if (wild && next() % 3 == 0) {
            v.f = edges[next() % 16];
            v.i = t == STET_DT_PRED ? pick(0, 1) : (int64_t)(next() << (next() % 64));
        }
        stet_ref_set(&r, i, v);
    }
    return r;
}

static void some_dims(int64_t *dims, uint32_t *rank, int64_t most)
{
    *rank = (uint32_t)pick(0, 4);
    for (uint32_t i = 0; i < *rank; i++)
        dims[i] = next() % 12 == 0 ? 0 : next() % 5 == 0 ? 1 : pick(1, most);
}

/* ---- programs as text ---- */

struct text {
    char s[8192];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    t->n += (size_t)vsnprintf(t->s + t->n, sizeof t->s - t->n, fmt, ap);
    va_end(ap);
}

static void put_type(struct text *t, const struct stet_shape *s)
{
    static const char *const names[STET_DT_COUNT] = {
        [STET_DT_PRED] = "i1",   [STET_DT_S8] = "i8",    [STET_DT_S16] = "i16",
        [STET_DT_S32] = "i32",   [STET_DT_S64] = "i64",  [STET_DT_U8] = "ui8",
        [STET_DT_U16] = "ui16",  [STET_DT_U32] = "ui32", [STET_DT_U64] = "ui64",
        [STET_DT_BF16] = "bf16", [STET_DT_F16] = "f16",  [STET_DT_F32] = "f32",
        [STET_DT_F64] = "f64"};

    put(t, "tensor<");
    for (uint32_t i = 0; i < s->rank; i++)
        put(t, "%lldx", (long long)s->dims[i]);
    put(t, "%s>", names[s->dtype]);
}

static void put_array(struct text *t, const char *name, const int64_t *v, uint32_t count)
{
    put(t, "%s = array<i64", name);
    for (uint32_t i = 0; i < count; i++)
        put(t, "%s%lld", i ? ", " : ": ", (long long)v[i]);
    put(t, ">");
}

static struct stet_err last;

/* One op of these operands, `middle` between the operands and the types; result into `out`. */
static bool run_op(struct stet_ref *out, const char *op, const char *middle,
                   const struct stet_ref *const *in, uint32_t count)
{
    struct text t = {.n = 0};
    const void *inputs[8];
    struct stet_program p;
    struct stet_plan *plan;
    struct stet_pool *pool;
    void *scratch;
    bool ok;

    put(&t, "module { func.func @main(");
    for (uint32_t i = 0; i < count; i++) {
        put(&t, "%s%%a%u: ", i ? ", " : "", i);
        put_type(&t, &in[i]->shape);
        inputs[i] = in[i]->data;
    }
    put(&t, ") -> ");
    put_type(&t, &out->shape);
    put(&t, " { %%0 = \"stablehlo.%s\"(", op);
    for (uint32_t i = 0; i < count; i++)
        put(&t, "%s%%a%u", i ? ", " : "", i);
    put(&t, ") %s : (", middle);
    for (uint32_t i = 0; i < count; i++) {
        put(&t, "%s", i ? ", " : "");
        put_type(&t, &in[i]->shape);
    }
    put(&t, ") -> ");
    put_type(&t, &out->shape);
    put(&t, " return %%0 : ");
    put_type(&t, &out->shape);
    put(&t, " } }");
    last = (struct stet_err)STET_ERR_INIT;
    ok = stet_decode(&p, stet_view_of(t.s, t.n), &last) == STET_OK;
    if (ok) {
        ok = stet_plan_new(&plan, &p, &last) == STET_OK;
        if (ok) {
            pool = stet_pool_new((unsigned)pick(1, 3));
            scratch =
                aligned_alloc(64, (size_t)(stet_plan_info(plan)->scratch_bytes + 64) / 64 * 64);
            ok = stet_plan_run(plan, inputs, &out->data, scratch, pool, &last) == STET_OK;
            free(scratch);
            stet_pool_free(pool);
            stet_plan_free(plan);
        }
        stet_program_release(&p);
    }
    if (!ok)
        fprintf(stderr, "%s\n%s\n", last.text, t.s);
    return ok;
}

static double tolerance(enum stet_dtype t)
{
    return t == STET_DT_BF16 ? 1e-2 : t == STET_DT_F16 ? 2e-3 : t == STET_DT_F32 ? 1e-5 : 1e-10;
}

static bool same(const struct stet_ref *want, const struct stet_ref *got, double loose,
                 const char *what)
{
    double tol = tolerance(want->shape.dtype) * loose;

    for (uint64_t i = 0; i < want->shape.elements; i++) {
        struct stet_scalar w = stet_ref_get(want, i), g = stet_ref_get(got, i);
        bool ok = stet_dtype_is_float(want->shape.dtype)
                      ? (w.f != w.f && g.f != g.f) || w.f == g.f ||
                            fabs(w.f - g.f) <= tol * (1 + fabs(w.f))
                      : w.i == g.i;

        if (!ok) {
            fprintf(stderr, "%s of %s: element %llu of %llu: want %g (%lld), got %g (%lld)\n", what,
                    stet_dtype_name(want->shape.dtype), (unsigned long long)i,
                    (unsigned long long)want->shape.elements, w.f, (long long)w.i, g.f,
                    (long long)g.i);
            return false;
        }
    }
    return true;
}

static const enum stet_dtype all_types[] = {
    STET_DT_PRED, STET_DT_S8,  STET_DT_S16,  STET_DT_S32, STET_DT_S64, STET_DT_U8, STET_DT_U16,
    STET_DT_U32,  STET_DT_U64, STET_DT_BF16, STET_DT_F16, STET_DT_F32, STET_DT_F64};
enum { TYPES = sizeof all_types / sizeof all_types[0] };

/* ---- elementwise ---- */

struct named {
    const char *name;
    int op;
    uint32_t operands;
    char types; /* i, f, or a for both */
};

static const struct named elementwise[] = {{"add", STET_TILE_ADD, 2, 'a'},
                                           {"subtract", STET_TILE_SUB, 2, 'a'},
                                           {"multiply", STET_TILE_MUL, 2, 'a'},
                                           {"divide", STET_TILE_DIV, 2, 'a'},
                                           {"remainder", STET_TILE_REM, 2, 'a'},
                                           {"maximum", STET_TILE_MAX, 2, 'a'},
                                           {"minimum", STET_TILE_MIN, 2, 'a'},
                                           {"and", STET_TILE_AND, 2, 'i'},
                                           {"or", STET_TILE_OR, 2, 'i'},
                                           {"xor", STET_TILE_XOR, 2, 'i'},
                                           {"shift_left", STET_TILE_SHL, 2, 'i'},
                                           {"shift_right_logical", STET_TILE_SHR_LOGIC, 2, 'i'},
                                           {"shift_right_arithmetic", STET_TILE_SHR_ARITH, 2, 'i'},
                                           {"not", STET_TILE_NOT, 1, 'i'},
                                           {"popcnt", STET_TILE_POPCNT, 1, 'i'},
                                           {"count_leading_zeros", STET_TILE_CLZ, 1, 'i'},
                                           {"negate", STET_TILE_NEG, 1, 'a'},
                                           {"abs", STET_TILE_ABS, 1, 'a'},
                                           {"sign", STET_TILE_SIGN, 1, 'a'},
                                           {"floor", STET_TILE_FLOOR, 1, 'f'},
                                           {"ceil", STET_TILE_CEIL, 1, 'f'},
                                           {"round_nearest_afz", STET_TILE_ROUND_AFZ, 1, 'f'},
                                           {"round_nearest_even", STET_TILE_ROUND_EVEN, 1, 'f'},
                                           {"sqrt", STET_TILE_SQRT, 1, 'f'},
                                           {"rsqrt", STET_TILE_RSQRT, 1, 'f'},
                                           {"cbrt", STET_TILE_CBRT, 1, 'f'},
                                           {"exponential", STET_TILE_EXP, 1, 'f'},
                                           {"exponential_minus_one", STET_TILE_EXPM1, 1, 'f'},
                                           {"log", STET_TILE_LOG, 1, 'f'},
                                           {"log_plus_one", STET_TILE_LOG1P, 1, 'f'},
                                           {"logistic", STET_TILE_LOGISTIC, 1, 'f'},
                                           {"tanh", STET_TILE_TANH, 1, 'f'},
                                           {"sine", STET_TILE_SIN, 1, 'f'},
                                           {"cosine", STET_TILE_COS, 1, 'f'},
                                           {"power", STET_TILE_POW, 2, 'f'},
                                           {"atan2", STET_TILE_ATAN2, 2, 'f'}};

static bool fits(const struct named *n, enum stet_dtype t)
{
    if (t == STET_DT_PRED)
        return n->op == STET_TILE_AND || n->op == STET_TILE_OR || n->op == STET_TILE_NOT;
    if (stet_dtype_is_float(t))
        return n->types != 'i';
    return n->types != 'f' && !(n->op == STET_TILE_NEG && stet_dtype_is_unsigned(t));
}

TEST(elementwise_kernels_agree_with_the_reference)
{
    for (size_t i = 0; i < sizeof elementwise / sizeof elementwise[0]; i++)
        for (int t = 0; t < TYPES; t++) {
            const struct named *n = &elementwise[i];
            int64_t dims[4];
            uint32_t rank;
            struct stet_ref a, b, want, got;
            const struct stet_ref *in[2] = {&a, &b};

            if (!fits(n, all_types[t]))
                continue;
            some_dims(dims, &rank, 9);
            a = fill(all_types[t], dims, rank, true);
            b = fill(all_types[t], dims, rank, true);
            want = like(&a, all_types[t]), got = like(&a, all_types[t]);
            stet_ref_elementwise(&want, n->op, in, n->operands);
            EXPECT(run_op(&got, n->name, "", in, n->operands) && same(&want, &got, 1, n->name));
            free(a.data), free(b.data), free(want.data), free(got.data);
        }
}

TEST(comparisons_and_selection_agree_with_the_reference)
{
    static const char *const names[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};

    for (int op = STET_TILE_EQ; op <= STET_TILE_GE; op++)
        for (int t = 0; t < TYPES; t++) {
            int64_t dims[1] = {pick(0, 70)};
            struct stet_ref a = fill(all_types[t], dims, 1, true),
                            b = fill(all_types[t], dims, 1, true);
            struct stet_ref p = like(&a, STET_DT_PRED), q = like(&a, STET_DT_PRED);
            struct stet_ref want = like(&a, all_types[t]), got = like(&a, all_types[t]);
            const struct stet_ref *in[2] = {&a, &b}, *choice[3] = {&p, &a, &b};
            char middle[128];

            snprintf(middle, sizeof middle,
                     "<{comparison_direction = #stablehlo<comparison_direction %s>}>",
                     names[op - STET_TILE_EQ]);
            stet_ref_elementwise(&p, op, in, 2);
            EXPECT(run_op(&q, "compare", middle, in, 2) && same(&p, &q, 1, "compare"));
            stet_ref_elementwise(&want, STET_TILE_SELECT, choice, 3);
            EXPECT(run_op(&got, "select", "", choice, 3) && same(&want, &got, 0, "select"));
            free(a.data), free(b.data), free(p.data), free(q.data), free(want.data), free(got.data);
        }
}

TEST(conversions_agree_with_the_reference)
{
    for (int f = 0; f < TYPES; f++)
        for (int t = 0; t < TYPES; t++) {
            int64_t dims[1] = {60};
            struct stet_ref a = fill(all_types[f], dims, 1, true);
            struct stet_ref want = like(&a, all_types[t]), got = like(&a, all_types[t]);
            const struct stet_ref *in[1] = {&a};

            stet_ref_convert(&want, &a);
            EXPECT(run_op(&got, "convert", "", in, 1) && same(&want, &got, 1, "convert"));
            free(a.data), free(want.data), free(got.data);
        }
}

/* ---- shapes ---- */

TEST(views_agree_with_the_reference)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = all_types[next() % TYPES];
        int64_t dims[4], out[4], in_dim[4], step[4], start[4] = {0}, limit[4];
        uint32_t rank;
        struct stet_ref a, want, got;
        const struct stet_ref *in[1] = {&a};
        struct text m = {.n = 0};

        some_dims(dims, &rank, 20);
        a = fill(t, dims, rank, false);
        for (uint32_t d = 0; d < rank; d++)
            in_dim[d] = d, step[d] = 1, out[d] = dims[d];
        if (i % 3 == 0) { /* transpose */
            for (uint32_t d = rank; d-- > 1;) {
                uint32_t o = (uint32_t)pick(0, d);
                int64_t swap = in_dim[d];

                in_dim[d] = in_dim[o], in_dim[o] = swap;
            }
            for (uint32_t d = 0; d < rank; d++)
                out[d] = dims[in_dim[d]];
            put(&m, "<{"), put_array(&m, "permutation", in_dim, rank), put(&m, "}>");
        } else if (i % 3 == 1) { /* slice */
            for (uint32_t d = 0; d < rank; d++) {
                start[d] = pick(0, dims[d]), limit[d] = pick(start[d], dims[d]),
                step[d] = pick(1, 3);
                out[d] = (limit[d] - start[d] + step[d] - 1) / step[d];
            }
            put(&m, "<{"), put_array(&m, "start_indices", start, rank), put(&m, ", ");
            put_array(&m, "limit_indices", limit, rank), put(&m, ", ");
            put_array(&m, "strides", step, rank), put(&m, "}>");
        } else { /* reverse all */
            for (uint32_t d = 0; d < rank; d++)
                step[d] = -1, start[d] = dims[d] - 1;
            put(&m, "<{"), put_array(&m, "dimensions", in_dim, rank), put(&m, "}>");
        }
        want = tensor(t, out, rank), got = tensor(t, out, rank);
        stet_ref_view(&want, &a, in_dim, step, start);
        EXPECT(run_op(&got,
                      i % 3 == 0   ? "transpose"
                      : i % 3 == 1 ? "slice"
                                   : "reverse",
                      m.s, in, 1) &&
               same(&want, &got, 0, "view"));
        free(a.data), free(want.data), free(got.data);
    }
}

TEST(pad_and_concatenate_agree_with_the_reference)
{
    for (int i = 0; i < 40; i++) {
        enum stet_dtype t = all_types[next() % TYPES];
        int64_t dims[4], low[4], high[4], inner[4], out[4];
        uint32_t rank, dim;
        struct stet_ref a, b, v = fill(t, NULL, 0, false), want, got;
        const struct stet_ref *in[2] = {&a, &v}, *both[2] = {&a, &b};
        struct text m = {.n = 0};

        some_dims(dims, &rank, 7);
        a = fill(t, dims, rank, false);
        for (uint32_t d = 0; d < rank; d++) {
            low[d] = pick(-2, 3), high[d] = pick(-2, 3), inner[d] = pick(0, 2);
            out[d] = low[d] + high[d] + dims[d] + (dims[d] ? (dims[d] - 1) * inner[d] : 0);
            if (out[d] < 0)
                low[d] = high[d] = 0, out[d] = dims[d] + (dims[d] ? (dims[d] - 1) * inner[d] : 0);
        }
        want = tensor(t, out, rank), got = tensor(t, out, rank);
        put(&m, "<{"), put_array(&m, "edge_padding_low", low, rank), put(&m, ", ");
        put_array(&m, "edge_padding_high", high, rank), put(&m, ", ");
        put_array(&m, "interior_padding", inner, rank), put(&m, "}>");
        stet_ref_pad(&want, &a, stet_ref_get(&v, 0), low, inner);
        EXPECT(run_op(&got, "pad", m.s, in, 2) && same(&want, &got, 0, "pad"));
        free(want.data), free(got.data);
        if (rank) {
            dim = (uint32_t)pick(0, rank - 1);
            memcpy(out, dims, sizeof out);
            out[dim] = pick(0, 5);
            b = fill(t, out, rank, false);
            out[dim] += dims[dim];
            want = tensor(t, out, rank), got = tensor(t, out, rank);
            m.n = 0;
            put(&m, "<{dimension = %u : i64}>", dim);
            stet_ref_concatenate(&want, both, 2, dim);
            EXPECT(run_op(&got, "concatenate", m.s, both, 2) &&
                   same(&want, &got, 0, "concatenate"));
            free(b.data), free(want.data), free(got.data);
        }
        free(a.data), free(v.data);
    }
}

/* ---- folds ---- */

static const struct named folds[] = {{"add", STET_TILE_ADD, 2, 'a'},
                                     {"maximum", STET_TILE_MAX, 2, 'a'},
                                     {"minimum", STET_TILE_MIN, 2, 'a'}};

static void put_body(struct text *m, const char *op, enum stet_dtype t)
{
    struct stet_shape s;

    stet_shape_set(&s, t, NULL, 0);
    put(m, "({ ^bb0(%%x: ");
    put_type(m, &s), put(m, ", %%y: "), put_type(m, &s);
    put(m, "): %%z = stablehlo.%s %%x, %%y : ", op);
    put_type(m, &s);
    put(m, " stablehlo.return %%z : ");
    put_type(m, &s);
    put(m, " })");
}

TEST(reductions_agree_with_the_reference)
{
    for (int i = 0; i < 80; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        const struct named *f = &folds[next() % 3];
        int64_t dims[4], out[4], list[4];
        bool reduced[4];
        uint32_t rank, kept = 0, count = 0;
        struct stet_ref a, v = fill(t, NULL, 0, false), want, got;
        const struct stet_ref *in[2] = {&a, &v};
        struct text m = {.n = 0};

        some_dims(dims, &rank, i % 4 == 0 ? 90 : 9);
        if (rank > 2)
            dims[0] = pick(0, 3), dims[2] = pick(1, 5);
        a = fill(t, dims, rank, false);
        for (uint32_t d = 0; d < rank; d++)
            if ((reduced[d] = next() & 1))
                list[count++] = d;
            else
                out[kept++] = dims[d];
        want = tensor(t, out, kept), got = tensor(t, out, kept);
        put(&m, "<{"), put_array(&m, "dimensions", list, count), put(&m, "}> ");
        put_body(&m, f->name, t);
        stet_ref_reduce(&want, &a, stet_ref_get(&v, 0), reduced, f->op);
        EXPECT(run_op(&got, "reduce", m.s, in, 2) && same(&want, &got, 30, "reduce"));
        free(a.data), free(v.data), free(want.data), free(got.data);
    }
}

TEST(windows_agree_with_the_reference)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = i % 2 ? STET_DT_F32 : all_types[1 + next() % (TYPES - 1)];
        const struct named *f = &folds[next() % 3];
        int64_t dims[3], out[3], high[3];
        uint32_t rank = (uint32_t)pick(1, 3);
        struct stet_ref_window w;
        struct stet_ref a, v = fill(t, NULL, 0, false), want, got;
        const struct stet_ref *in[2] = {&a, &v};
        struct text m = {.n = 0};

        put(&m, "<{padding = dense<[");
        for (uint32_t d = 0; d < rank; d++) {
            int64_t room;

            dims[d] = pick(1, 8), w.size[d] = pick(1, 3), w.stride[d] = pick(1, 2);
            w.low[d] = pick(-1, 2), high[d] = pick(-1, 2);
            w.base_dilation[d] = pick(1, 2), w.window_dilation[d] = pick(1, 2);
            room = (dims[d] - 1) * w.base_dilation[d] + 1 + w.low[d] + high[d] -
                   ((w.size[d] - 1) * w.window_dilation[d] + 1);
            out[d] = room < 0 ? 0 : room / w.stride[d] + 1;
            put(&m, "%s[%lld, %lld]", d ? ", " : "", (long long)w.low[d], (long long)high[d]);
        }
        put(&m, "]> : tensor<%ux2xi64>, ", rank);
        put_array(&m, "window_dimensions", w.size, rank), put(&m, ", ");
        put_array(&m, "window_strides", w.stride, rank), put(&m, ", ");
        put_array(&m, "base_dilations", w.base_dilation, rank), put(&m, ", ");
        put_array(&m, "window_dilations", w.window_dilation, rank), put(&m, "}> ");
        put_body(&m, f->name, t);
        a = fill(t, dims, rank, false);
        want = tensor(t, out, rank), got = tensor(t, out, rank);
        stet_ref_reduce_window(&want, &a, stet_ref_get(&v, 0), &w, f->op);
        EXPECT(run_op(&got, "reduce_window", m.s, in, 2) && same(&want, &got, 30, "reduce_window"));
        free(a.data), free(v.data), free(want.data), free(got.data);
    }
}

/* ---- products ---- */

TEST(products_agree_with_the_reference)
{
    for (int i = 0; i < 60; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        int64_t m = pick(0, 20), k = pick(0, 20), n = pick(1, 20);
        struct stet_ref a = fill(t, (int64_t[]){m, k}, 2, false);
        struct stet_ref b = fill(t, (int64_t[]){k, n}, 2, false);
        struct stet_ref want = tensor(t, (int64_t[]){m, n}, 2), got = like(&want, t);
        const struct stet_ref *in[2] = {&a, &b};

        stet_ref_dot(&want, &a, &b);
        EXPECT(run_op(&got, "dot_general",
                      "<{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
                      "rhs_contracting_dimensions = [0]>}>",
                      in, 2) &&
               same(&want, &got, 30, "dot"));
        free(a.data), free(b.data), free(want.data), free(got.data);
    }
}

TEST(convolutions_agree_with_the_reference)
{
    for (int i = 0; i < 40; i++) {
        enum stet_dtype t = i % 3 ? STET_DT_F32 : i % 2 ? STET_DT_BF16 : STET_DT_S32;
        int64_t groups = pick(1, 2), c = groups * pick(1, 3), o = groups * pick(1, 3),
                n = pick(1, 2);
        int64_t in_dims[4] = {n, pick(1, 7), pick(1, 7), c},
                w_dims[4] = {pick(1, 3), pick(1, 3), c / groups, o};
        int64_t out[4] = {n, 0, 0, o}, high[2];
        struct stet_ref_window w;
        struct stet_ref a = fill(t, in_dims, 4, false), b = fill(t, w_dims, 4, false), want, got;
        const struct stet_ref *in[2] = {&a, &b};
        struct text m = {.n = 0};

        for (int d = 0; d < 2; d++) {
            int64_t room;

            w.stride[d] = pick(1, 2), w.low[d] = pick(-1, 2), high[d] = pick(-1, 2);
            w.base_dilation[d] = pick(1, 2), w.window_dilation[d] = pick(1, 2);
            room = (in_dims[d + 1] - 1) * w.base_dilation[d] + 1 + w.low[d] + high[d] -
                   ((w_dims[d] - 1) * w.window_dilation[d] + 1);
            out[d + 1] = room < 0 ? 0 : room / w.stride[d] + 1;
        }
        put(&m,
            "<{batch_group_count = 1 : i64, feature_group_count = %lld : i64, dimension_numbers = "
            "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, padding = dense<[[%lld, "
            "%lld], "
            "[%lld, %lld]]> : tensor<2x2xi64>, ",
            (long long)groups, (long long)w.low[0], (long long)high[0], (long long)w.low[1],
            (long long)high[1]);
        put_array(&m, "window_strides", w.stride, 2), put(&m, ", ");
        put_array(&m, "lhs_dilation", w.base_dilation, 2), put(&m, ", ");
        put_array(&m, "rhs_dilation", w.window_dilation, 2), put(&m, "}>");
        want = tensor(t, out, 4), got = tensor(t, out, 4);
        stet_ref_conv(&want, &a, &b, &w, groups);
        EXPECT(run_op(&got, "convolution", m.s, in, 2) && same(&want, &got, 30, "convolution"));
        free(a.data), free(b.data), free(want.data), free(got.data);
    }
}

/* ---- indices ---- */

TEST(gather_and_scatter_agree_with_the_reference)
{
    for (int i = 0; i < 40; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        int64_t rows = pick(1, 9), width = pick(0, 70), n = pick(0, 12);
        struct stet_ref a = fill(t, (int64_t[]){rows, width}, 2, false);
        struct stet_ref index = fill(STET_DT_S32, (int64_t[]){n, 1}, 2, true);
        struct stet_ref up = fill(t, (int64_t[]){n, width}, 2, false);
        struct stet_ref want = like(&up, t), got = like(&up, t), sum = like(&a, t),
                        out = like(&a, t);
        const struct stet_ref *in[3] = {&a, &index, &up};
        struct text m = {.n = 0};

        put(&m,
            "<{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
            "[0], "
            "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, %lld>}>",
            (long long)width);
        stet_ref_take(&want, &a, &index);
        EXPECT(run_op(&got, "gather", m.s, in, 2) && same(&want, &got, 0, "gather"));
        m.n = 0;
        put(&m, "<{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
                "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim "
                "= 1>}> ");
        put_body(&m, "add", t);
        memcpy(sum.data, a.data, a.shape.bytes);
        stet_ref_scatter(&sum, &index, &up, STET_TILE_ADD);
        EXPECT(run_op(&out, "scatter", m.s, in, 3) && same(&sum, &out, 10, "scatter"));
        free(a.data), free(index.data), free(up.data), free(want.data), free(got.data);
        free(sum.data), free(out.data);
    }
}

TEST(sorting_agrees_with_the_reference)
{
    for (int i = 0; i < 40; i++) {
        enum stet_dtype t = all_types[1 + next() % (TYPES - 1)];
        struct stet_ref a = fill(t, (int64_t[]){pick(0, 90)}, 1, false), want = like(&a, t),
                        got = like(&a, t);
        const struct stet_ref *in[1] = {&a};
        struct text m = {.n = 0};
        struct stet_shape s;

        stet_shape_set(&s, t, NULL, 0);
        put(&m, "<{dimension = 0 : i64, is_stable = true}> ({ ^bb0(%%x: ");
        put_type(&m, &s), put(&m, ", %%y: "), put_type(&m, &s);
        put(&m,
            "): %%z = \"stablehlo.compare\"(%%x, %%y) <{comparison_direction = "
            "#stablehlo<comparison_direction %s>}> : (",
            i % 2 ? "GT" : "LT");
        put_type(&m, &s), put(&m, ", "), put_type(&m, &s);
        put(&m, ") -> tensor<i1> stablehlo.return %%z : tensor<i1> })");
        stet_ref_sort(&want, &a, i % 2);
        EXPECT(run_op(&got, "sort", m.s, in, 1) && same(&want, &got, 0, "sort"));
        free(a.data), free(want.data), free(got.data);
    }
}

/* ---- refusals ---- */

static enum stet_rc plan_text(const char *text)
{
    struct stet_program p;
    struct stet_plan *plan;
    enum stet_rc rc;

    last = (struct stet_err)STET_ERR_INIT;
    if ((rc = stet_decode(&p, stet_view_str(text), &last)))
        return rc;
    if ((rc = stet_plan_new(&plan, &p, &last)) == STET_OK)
        stet_plan_free(plan);
    stet_program_release(&p);
    return rc;
}

#define MAIN(args, result, body)                                                                   \
    "module { func.func @main(" args ") -> " result " { " body " return %0 : " result " } }"

TEST(bad_programs_are_refused_by_name)
{
    static const struct {
        const char *program, *says;
    } bad[] = {
        {MAIN("%a: tensor<3xf32>, %b: tensor<4xf32>", "tensor<3xf32>",
              "%0 = \"stablehlo.add\"(%a, %b) : (tensor<3xf32>, tensor<4xf32>) -> tensor<3xf32>"),
         "stablehlo.add"},
        {MAIN("%a: tensor<3xf32>", "tensor<5xf32>",
              "%0 = \"stablehlo.exponential\"(%a) : (tensor<3xf32>) -> tensor<5xf32>"),
         "declared f32[5]"},
        {MAIN("%a: tensor<3xi32>", "tensor<3xi32>",
              "%0 = \"stablehlo.tanh\"(%a) : (tensor<3xi32>) -> tensor<3xi32>"),
         "not defined for s32"},
        {MAIN("%a: tensor<3xf32>", "tensor<9xf32>",
              "%0 = \"stablehlo.slice\"(%a) <{start_indices = array<i64: 0>, limit_indices = "
              "array<i64: 9>, "
              "strides = array<i64: 1>}> : (tensor<3xf32>) -> tensor<9xf32>"),
         "leaves dimension 0"},
        {MAIN("%a: tensor<3x4xf32>", "tensor<4x3xf32>",
              "%0 = \"stablehlo.transpose\"(%a) <{permutation = array<i64: 1, 7>}> : "
              "(tensor<3x4xf32>) -> "
              "tensor<4x3xf32>"),
         "permutation"},
        {MAIN("%a: tensor<f32>", "tensor<1000000x1000000x1000000xf32>",
              "%0 = \"stablehlo.broadcast_in_dim\"(%a) <{broadcast_dimensions = array<i64>}> : "
              "(tensor<f32>) -> "
              "tensor<1000000x1000000x1000000xf32>"),
         "larger than can be addressed"},
        {MAIN("%a: tensor<3xf32>", "tensor<3xf32>",
              "%0 = func.call @main(%a) : (tensor<3xf32>) -> tensor<3xf32>"),
         "calls itself"},
        {MAIN("%a: tensor<3xf32>", "tensor<3xf32>",
              "%0 = func.call @gone(%a) : (tensor<3xf32>) -> tensor<3xf32>"),
         "no function @gone"},
        {MAIN("%a: tensor<3xf32>", "tensor<3xf32>",
              "%0 = \"stablehlo.custom_call\"(%a) <{call_target_name = \"nobody\"}> : "
              "(tensor<3xf32>) -> "
              "tensor<3xf32>"),
         "nobody"},
        {MAIN("%a: tensor<?xf32>", "tensor<?xf32>",
              "%0 = \"stablehlo.negate\"(%a) : (tensor<?xf32>) -> tensor<?xf32>"),
         "dynamic"},
        {MAIN("%a: tensor<4xf32>", "tensor<4xf32>",
              "%0 = \"stablehlo.infeed\"(%a) : (tensor<4xf32>) -> tensor<4xf32>"),
         "not supported"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT(plan_text(bad[i].program) != STET_OK);
        EXPECT(strstr(last.text, bad[i].says) != NULL);
        if (!strstr(last.text, bad[i].says))
            fprintf(stderr, "said: %s\n", last.text);
    }
}

TEST(doubling_calls_hit_a_limit)
{
    struct text t = {.n = 0};

    put(&t,
        "module { func.func @main(%%a: tensor<f32>) -> tensor<f32> { %%0 = func.call @f30(%%a) : "
        "(tensor<f32>) -> tensor<f32> return %%0 : tensor<f32> } func.func private @f0(%%a: "
        "tensor<f32>) "
        "-> tensor<f32> { %%0 = stablehlo.add %%a, %%a : tensor<f32> return %%0 : tensor<f32> } ");
    for (int i = 1; i <= 30; i++)
        put(&t,
            "func.func private @f%d(%%a: tensor<f32>) -> tensor<f32> { %%0 = func.call @f%d(%%a) : "
            "(tensor<f32>) -> tensor<f32> %%1 = func.call @f%d(%%0) : (tensor<f32>) -> tensor<f32> "
            "return "
            "%%1 : tensor<f32> } ",
            i, i - 1, i - 1);
    put(&t, "}");
    EXPECT(plan_text(t.s) == STET_LIMIT);
}

TEST(planning_survives_every_failed_allocation)
{
    static const char program[] = MAIN("%a: tensor<3x4xf32>", "tensor<4x3xf32>",
                                       "%1 = stablehlo.add %a, %a : tensor<3x4xf32> %0 = "
                                       "\"stablehlo.transpose\"(%1) <{permutation = "
                                       "array<i64: 1, 0>}> : (tensor<3x4xf32>) -> tensor<4x3xf32>");

    for (long n = 0; n < 60; n++) {
        stet_mem_fail_after(n, true);
        (void)plan_text(program);
        stet_mem_fail_after(-1, false);
    }
    EXPECT(plan_text(program) == STET_OK);
}

/* ---- the pool ---- */

static void add_one(void *context, uint64_t i)
{
    ((unsigned char *)context)[i]++;
}

TEST(every_task_runs_once_for_any_number_of_threads)
{
    for (unsigned threads = 1; threads <= 5; threads++) {
        struct stet_pool *pool = stet_pool_new(threads);

        for (int round = 0; round < 200; round++) {
            unsigned char done[300] = {0};
            uint64_t n = (uint64_t)pick(0, 300), wrong = 0;

            stet_pool_for(pool, n, add_one, done);
            for (uint64_t i = 0; i < 300; i++)
                wrong += done[i] != (i < n);
            EXPECT_INT(0, wrong);
        }
        stet_pool_free(pool);
    }
}
