/* Lowering: the matrix decompositions that frameworks request by custom calls. */
#include "backend/lower.h"
#include "backend/params.h"

/* Of operand 0; NULL with the error set if it is not a matrix. */
static struct stet_linalg *matrix_of(struct stet_lower *l, const struct stet_shape *a)
{
    struct stet_linalg *m = STET_NEW(l->arena, struct stet_linalg);

    if (!m) {
        stet_lower_memory(l);
        return NULL;
    }
    if (a->rank < 2 ||
        (a->dtype != STET_DT_F32 && a->dtype != STET_DT_F64 && !stet_dtype_is_complex(a->dtype))) {
        stet_lower_fail(l, STET_UNSUPPORTED, "%s is not a matrix of f32, f64, c64 or c128",
                        stet_shape_text(a).text);
        return NULL;
    }
    m->dtype = a->dtype;
    m->m = a->dims[a->rank - 2];
    m->n = a->dims[a->rank - 1];
    m->batch = a->elements ? (int64_t)a->elements / (m->m * m->n) : 0;
    return m;
}

/* A vector of `size` for each matrix of `a`. */
static void vectors(struct stet_shape *s, const struct stet_shape *a, enum stet_dtype t,
                    int64_t size)
{
    int64_t dims[STET_MAX_RANK];

    memcpy(dims, a->dims, sizeof dims);
    dims[a->rank - 2] = size;
    stet_shape_set(s, t, dims, a->rank - 1);
}

/* Separate results, or the tuple that HLO's custom calls return. */
static enum stet_rc give(struct stet_lower *l, struct stet_gnode *n)
{
    if (!n)
        return stet_lower_out(l, 0, NULL);
    if (l->op->result_count == 1 && n->out_count > 1) {
        const struct stet_type *t = l->op->results[0].type;

        CHECK(t && t->kind == STET_TYPE_TUPLE && t->member_count == n->out_count,
              "a tuple of %u is needed", n->out_count);
        return stet_lower_bind(l, &l->op->results[0], n->out, n->out_count);
    }
    CHECK(l->op->result_count == n->out_count, "%u results are needed", n->out_count);
    for (uint32_t i = 0; i < n->out_count; i++)
        TRY(stet_lower_out(l, i, n->out[i]));
    return STET_OK;
}

/* The first operand, which is a matrix or several. */
static enum stet_rc matrix_in(struct stet_lower *l, struct stet_gval **a, struct stet_linalg **m)
{
    OPERAND(*a, 0);
    if (!(*m = matrix_of(l, &(*a)->shape)))
        return l->err && l->err->rc != STET_OK ? l->err->rc : STET_UNSUPPORTED;
    return STET_OK;
}

enum stet_rc stet_lower_lu(struct stet_lower *l)
{
    struct stet_shape out[3];
    struct stet_linalg *m;
    struct stet_gval *a;

    TRY(matrix_in(l, &a, &m));
    out[0] = a->shape;
    vectors(&out[1], &a->shape, STET_DT_S32, m->m < m->n ? m->m : m->n);
    vectors(&out[2], &a->shape, STET_DT_S32, m->m);
    return give(l, stet_graph_call(l, &stet_kernel_lu, m, &a, 1, out, 3));
}

enum stet_rc stet_lower_qr(struct stet_lower *l)
{
    struct stet_shape out[2];
    struct stet_linalg *m;
    struct stet_gval *a;

    TRY(matrix_in(l, &a, &m));
    out[0] = a->shape;
    vectors(&out[1], &a->shape, m->dtype, m->m < m->n ? m->m : m->n);
    return give(l, stet_graph_call(l, &stet_kernel_qr, m, &a, 1, out, 2));
}

enum stet_rc stet_lower_reflectors(struct stet_lower *l)
{
    struct stet_gval *in[2];
    struct stet_shape want;
    struct stet_linalg *m;

    OPERAND(in[0], 0);
    OPERAND(in[1], 1);
    if (!(m = matrix_of(l, &in[0]->shape)))
        return l->err ? l->err->rc : STET_UNSUPPORTED;
    m->reflectors = in[1]->shape.rank ? in[1]->shape.dims[in[1]->shape.rank - 1] : -1;
    CHECK(m->reflectors >= 0 && m->reflectors <= m->n && m->n <= m->m, "factors do not fit");
    vectors(&want, &in[0]->shape, m->dtype, m->reflectors);
    CHECK(stet_shape_eq(&want, &in[1]->shape), "operands do not fit each other");
    return give(l, stet_graph_call(l, &stet_kernel_reflectors, m, in, 2, &in[0]->shape, 1));
}

/* backend_config is "lower,sort,sweeps,tolerance"; results are vectors, then values. */
enum stet_rc stet_lower_eigh(struct stet_lower *l)
{
    struct stet_view how = stet_lower_text(l, "backend_config");
    struct stet_shape out[2];
    struct stet_linalg *m;
    struct stet_gnode *n;
    struct stet_gval *a;

    TRY(matrix_in(l, &a, &m));
    CHECK(m->m == m->n && m->n < 1 << 15, "not a square matrix");
    m->lower = how.len < 1 || how.ptr[0] != '0';
    m->sort = how.len < 3 || how.ptr[2] != '0';
    out[0] = a->shape;
    vectors(&out[1], &a->shape,
            m->dtype == STET_DT_C64    ? STET_DT_F32
            : m->dtype == STET_DT_C128 ? STET_DT_F64
                                       : m->dtype,
            m->n);
    n = stet_graph_call(l, &stet_kernel_eigh, m, &a, 1, out, 2);
    if (n) /* the matrix and its vectors, in c128 */
        n->scratch = (uint64_t)(2 * m->n * m->n) * 16;
    return give(l, n);
}
