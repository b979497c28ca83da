/* Random tensors, and programs of one op written as MLIR text that go the whole way: decode, plan,
 * run. */
#ifndef STET_BACKEND_HELP_H
#define STET_BACKEND_HELP_H

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

static inline uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static inline int64_t pick(int64_t low, int64_t high)
{
    return low + (int64_t)(next() % (uint64_t)(high - low + 1));
}

static inline struct stet_ref tensor(enum stet_dtype t, const int64_t *dims, uint32_t rank)
{
    struct stet_ref r;

    stet_shape_set(&r.shape, t, dims, rank);
    r.data = aligned_alloc(64, (size_t)(r.shape.bytes + 64) / 64 * 64);
    memset(r.data, 0, r.shape.bytes);
    return r;
}

static inline struct stet_ref like(const struct stet_ref *a, enum stet_dtype t)
{
    return tensor(t, a->shape.dims, a->shape.rank);
}

/* `wild`: with NaN, infinities, subnormals and the ends of integer types. */
static inline struct stet_ref fill(enum stet_dtype t, const int64_t *dims, uint32_t rank, bool wild)
{
    static const double edges[] = {0,    -0.0, 1,   -1,    NAN,    INFINITY, -INFINITY, 0.5,
                                   -0.5, 1.5,  2.5, 1e-40, -1e-40, 3e38,     65504,     1e-8};
    struct stet_ref r = tensor(t, dims, rank);

    for (uint64_t i = 0; i < r.shape.elements; i++) {
        struct stet_ref_scalar v = {t == STET_DT_PRED ? pick(0, 1) : pick(-9, 9),
                                    (double)pick(-3000, 3000) / 1000,
                                    (double)pick(-3000, 3000) / 1000};

        if (wild && next() % 3 == 0) {
            v.f = edges[next() % 16];
            v.i = t == STET_DT_PRED ? pick(0, 1) : (int64_t)(next() << (next() % 64));
        }
        stet_ref_set(&r, i, v);
    }
    return r;
}

static inline void some_dims(int64_t *dims, uint32_t *rank, int64_t most)
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

__attribute__((format(printf, 2, 3))) static inline void put(struct text *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    t->n += (size_t)vsnprintf(t->s + t->n, sizeof t->s - t->n, fmt, ap);
    va_end(ap);
}

static inline void put_type(struct text *t, const struct stet_shape *s)
{
    static const char *const names[STET_DT_COUNT] = {
        [STET_DT_PRED] = "i1",
        [STET_DT_S2] = "i2",
        [STET_DT_S4] = "i4",
        [STET_DT_S8] = "i8",
        [STET_DT_S16] = "i16",
        [STET_DT_S32] = "i32",
        [STET_DT_S64] = "i64",
        [STET_DT_U2] = "ui2",
        [STET_DT_U4] = "ui4",
        [STET_DT_U8] = "ui8",
        [STET_DT_U16] = "ui16",
        [STET_DT_U32] = "ui32",
        [STET_DT_U64] = "ui64",
        [STET_DT_F4E2M1FN] = "f4E2M1FN",
        [STET_DT_F6E2M3FN] = "f6E2M3FN",
        [STET_DT_F6E3M2FN] = "f6E3M2FN",
        [STET_DT_F8E3M4] = "f8E3M4",
        [STET_DT_F8E4M3] = "f8E4M3",
        [STET_DT_F8E4M3FN] = "f8E4M3FN",
        [STET_DT_F8E4M3FNUZ] = "f8E4M3FNUZ",
        [STET_DT_F8E4M3B11FNUZ] = "f8E4M3B11FNUZ",
        [STET_DT_F8E5M2] = "f8E5M2",
        [STET_DT_F8E5M2FNUZ] = "f8E5M2FNUZ",
        [STET_DT_F8E8M0FNU] = "f8E8M0FNU",
        [STET_DT_BF16] = "bf16",
        [STET_DT_F16] = "f16",
        [STET_DT_F32] = "f32",
        [STET_DT_F64] = "f64",
        [STET_DT_C64] = "complex<f32>",
        [STET_DT_C128] = "complex<f64>",
    };

    put(t, "tensor<");
    for (uint32_t i = 0; i < s->rank; i++)
        put(t, "%lldx", (long long)s->dims[i]);
    put(t, "%s>", names[s->dtype]);
}

static inline void put_array(struct text *t, const char *name, const int64_t *v, uint32_t count)
{
    put(t, "%s = array<i64", name);
    for (uint32_t i = 0; i < count; i++)
        put(t, "%s%lld", i ? ", " : ": ", (long long)v[i]);
    put(t, ">");
}

static struct stet_err last;

/* Decodes, plans and runs `t` on a pool of `threads`. */
static inline bool run_text(const struct text *t, const void *const *in, void *const *out,
                            unsigned threads)
{
    struct stet_program p;
    struct stet_plan *plan;
    struct stet_pool *pool;
    void *scratch;
    bool ok;

    last = (struct stet_err)STET_ERR_INIT;
    ok = stet_decode(&p, stet_view_of(t->s, t->n), &last) == STET_OK;
    if (ok) {
        ok = stet_plan_new(&plan, &p, &last) == STET_OK;
        if (ok) {
            pool = stet_pool_new(threads);
            scratch =
                aligned_alloc(64, (size_t)(stet_plan_info(plan)->scratch_bytes + 64) / 64 * 64);
            ok = stet_plan_run(plan, in, out, scratch, pool, &last) == STET_OK;
            free(scratch);
            stet_pool_free(pool);
            stet_plan_free(plan);
        }
        stet_program_release(&p);
    }
    if (!ok)
        fprintf(stderr, "%s\n%s\n", last.text, t->s);
    return ok;
}

static inline void put_types(struct text *t, const struct stet_ref *const *v, uint32_t count)
{
    put(t, "(");
    for (uint32_t i = 0; i < count; i++) {
        put(t, "%s", i ? ", " : "");
        put_type(t, &v[i]->shape);
    }
    put(t, ")");
}

/* A function of one op: `middle` stands between its operands and its types. */
static inline void put_op(struct text *t, const char *op, const char *middle,
                          const struct stet_ref *const *in, uint32_t count,
                          const struct stet_ref *const *out, uint32_t results)
{
    put(t, "module { func.func @main(");
    for (uint32_t i = 0; i < count; i++) {
        put(t, "%s%%a%u: ", i ? ", " : "", i);
        put_type(t, &in[i]->shape);
    }
    put(t, ") -> ");
    put_types(t, out, results);
    put(t, " { %%0:%u = \"%s%s\"(", results, strchr(op, '.') ? "" : "stablehlo.", op);
    for (uint32_t i = 0; i < count; i++)
        put(t, "%s%%a%u", i ? ", " : "", i);
    put(t, ") %s : ", middle);
    put_types(t, in, count);
    put(t, " -> ");
    put_types(t, out, results);
    put(t, " return ");
    for (uint32_t i = 0; i < results; i++)
        put(t, "%s%%0#%u", i ? ", " : "", i);
    put(t, " : ");
    for (uint32_t i = 0; i < results; i++) {
        put(t, "%s", i ? ", " : "");
        put_type(t, &out[i]->shape);
    }
    put(t, " } }");
}

/* Runs one op of several results. */
static inline bool run_ops(struct stet_ref *const *out, uint32_t results, const char *op,
                           const char *middle, const struct stet_ref *const *in, uint32_t count)
{
    struct text t = {.n = 0};
    const void *inputs[8];
    void *outputs[8];

    for (uint32_t i = 0; i < count; i++)
        inputs[i] = in[i]->data;
    for (uint32_t i = 0; i < results; i++)
        outputs[i] = out[i]->data;
    put_op(&t, op, middle, in, count, (const struct stet_ref *const *)out, results);
    return run_text(&t, inputs, outputs, (unsigned)pick(1, 3));
}

static inline bool run_op(struct stet_ref *out, const char *op, const char *middle,
                          const struct stet_ref *const *in, uint32_t count)
{
    return run_ops(&out, 1, op, middle, in, count);
}

static inline double tolerance(enum stet_dtype t)
{
    return t == STET_DT_BF16                      ? 1e-2
           : t == STET_DT_F16                     ? 2e-3
           : t == STET_DT_F32 || t == STET_DT_C64 ? 1e-5
                                                  : 1e-10;
}

static inline bool near(double want, double got, double tol)
{
    return (want != want && got != got) || want == got ||
           fabs(want - got) <= tol * (1 + fabs(want));
}

static inline bool same(const struct stet_ref *want, const struct stet_ref *got, double loose,
                        const char *what)
{
    enum stet_dtype t = want->shape.dtype;
    double tol = tolerance(t) * loose;

    for (uint64_t i = 0; i < want->shape.elements; i++) {
        struct stet_ref_scalar w = stet_ref_get(want, i), g = stet_ref_get(got, i);

        if (w.i == g.i && near(w.f, g.f, tol) && near(w.im, g.im, tol * (1 + fabs(w.f))))
            continue;
        fprintf(stderr, "%s of %s: element %llu of %llu: want %g %+gi (%lld), got %g %+gi (%lld)\n",
                what, stet_dtype_name(t), (unsigned long long)i,
                (unsigned long long)want->shape.elements, w.f, w.im, (long long)w.i, g.f, g.im,
                (long long)g.i);
        return false;
    }
    return true;
}

static const enum stet_dtype all_types[] = {STET_DT_PRED, STET_DT_S4,  STET_DT_S8,  STET_DT_S16,
                                            STET_DT_S32,  STET_DT_S64, STET_DT_U4,  STET_DT_U8,
                                            STET_DT_U16,  STET_DT_U32, STET_DT_U64, STET_DT_BF16,
                                            STET_DT_F16,  STET_DT_F32, STET_DT_F64};
enum { TYPES = sizeof all_types / sizeof all_types[0], INTEGERS = 11 /* the first of them */ };

/* An op and its tile op. */
struct named {
    const char *name;
    int op;
    uint32_t operands;
    char types; /* i, f, or a for both */
};

static inline void put_body(struct text *m, const char *op, enum stet_dtype t)
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

/* A product of random matrices of this type agrees with the reference. */
static inline void expect_product(enum stet_dtype t, const char *what)
{
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
           same(&want, &got, 30, what));
    free(a.data), free(b.data), free(want.data), free(got.data);
}

#endif
