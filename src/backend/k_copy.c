/* Kernels that move elements: copy (with fill, base and dynamic starts), move. Twin: ref/shape.c.
 */
#include "backend/params.h"

int64_t stet_backend_index_at(const void *p, enum stet_dtype t, uint64_t i)
{
    switch (t) {
    case STET_DT_S2:
        return ((((const uint8_t *)p)[i] & 3) ^ 2) - 2;
    case STET_DT_S4:
        return ((((const uint8_t *)p)[i] & 15) ^ 8) - 8;
    case STET_DT_S8:
        return ((const int8_t *)p)[i];
    case STET_DT_S16:
        return ((const int16_t *)p)[i];
    case STET_DT_S32:
        return ((const int32_t *)p)[i];
    case STET_DT_S64:
        return ((const int64_t *)p)[i];
    case STET_DT_U2:
        return ((const uint8_t *)p)[i] & 3;
    case STET_DT_U4:
        return ((const uint8_t *)p)[i] & 15;
    case STET_DT_U8:
    case STET_DT_PRED:
        return ((const uint8_t *)p)[i];
    case STET_DT_U16:
        return ((const uint16_t *)p)[i];
    case STET_DT_U32:
        return ((const uint32_t *)p)[i];
    case STET_DT_U64:
        return ((const uint64_t *)p)[i] > INT64_MAX ? INT64_MAX : (int64_t)((const uint64_t *)p)[i];
    default:
        return 0;
    }
}

/* ---- strided blocks ---- */

/* Merges dims that step together on both sides. */
static void simplify(struct stet_move *m)
{
    uint32_t out = 0;

    for (uint32_t i = 0; i < m->rank; i++) {
        if (m->dims[i] == 1)
            continue;
        if (out && m->from_strides[out - 1] == m->from_strides[i] * m->dims[i] &&
            m->to_strides[out - 1] == m->to_strides[i] * m->dims[i]) {
            m->dims[out - 1] *= m->dims[i];
        } else {
            m->dims[out] = m->dims[i];
            out++;
        }
        m->from_strides[out - 1] = m->from_strides[i];
        m->to_strides[out - 1] = m->to_strides[i];
    }
    m->rank = out;
}

/* If elements are adjacent along one dimension where they come from and along another where they
 * go, these two become the innermost ones: the order of loops is free. */
static void choose_plane(struct stet_move *m)
{
    uint32_t r = m->rank, at = r;

    for (uint32_t i = 0; i + 2 < r; i++)
        if (m->from_strides[i] == 1)
            at = i;
    if (at == r || m->to_strides[r - 1] != 1)
        return;
    for (uint32_t i = at; i + 2 < r; i++) {
        int64_t dim = m->dims[i], from = m->from_strides[i], to = m->to_strides[i];

        m->dims[i] = m->dims[i + 1], m->dims[i + 1] = dim;
        m->from_strides[i] = m->from_strides[i + 1], m->from_strides[i + 1] = from;
        m->to_strides[i] = m->to_strides[i + 1], m->to_strides[i + 1] = to;
    }
}

struct plane { /* the two innermost loops */
    int64_t n0, n1, f0, f1, t0, t1;
};

/* Elements that are adjacent in memory on one side or the other, or on none. */
#define PLANE(T)                                                                                   \
    do {                                                                                           \
        const T *from = from_;                                                                     \
        T *to = to_;                                                                               \
        for (int64_t x = 0; x < p->n0; x++)                                                        \
            for (int64_t y = 0; y < p->n1; y++)                                                    \
                to[x * p->t0 + y * p->t1] = from[x * p->f0 + y * p->f1];                           \
    } while (0)

struct c128 {
    uint64_t part[2];
};

static void plane(const struct plane *p, size_t bytes, const void *from_, void *to_)
{
    const struct stet_move_kernels *k = stet_tile_moves(stet_tile_kernels(), bytes);

    if (p->t1 == 1 && p->f0 == 1 && p->n0 > 1) {
        k->turn(to_, p->t0, from_, p->f1, p->n1, p->n0);
        return;
    }
    if (p->t0 == 1 && p->f1 == 1 && p->n0 > 1) {
        k->turn(to_, p->t1, from_, p->f0, p->n0, p->n1);
        return;
    }
    for (int64_t x = 0; p->t1 == 1 && x < p->n0; x++)
        k->strided((char *)to_ + x * p->t0 * (int64_t)bytes,
                   (const char *)from_ + x * p->f0 * (int64_t)bytes, p->f1, (size_t)p->n1);
    if (p->t1 == 1)
        return;
    switch (bytes) {
    case 1:
        PLANE(uint8_t);
        break;
    case 2:
        PLANE(uint16_t);
        break;
    case 4:
        PLANE(uint32_t);
        break;
    case 8:
        PLANE(uint64_t);
        break;
    default:
        PLANE(struct c128);
        break;
    }
}

struct move_job {
    const struct stet_move *m;
    size_t bytes;
    const char *from;
    char *to;
    int64_t outer;  /* product of all dims but the last two */
    int64_t pieces; /* the outermost of the two is split into this many parts, if there is no outer
                       dim */
};

static void move_task(void *context, uint64_t task)
{
    const struct move_job *j = context;
    const struct stet_move *m = j->m;
    uint32_t r = m->rank;
    int64_t f = 0, t = 0, rest = (int64_t)task / j->pieces, part = (int64_t)task % j->pieces;
    struct plane p = {m->dims[r - 2],         m->dims[r - 1],       m->from_strides[r - 2],
                      m->from_strides[r - 1], m->to_strides[r - 2], m->to_strides[r - 1]};
    int64_t first = p.n0 * part / j->pieces;

    for (uint32_t i = r - 2; i-- > 0;) {
        f += rest % m->dims[i] * m->from_strides[i];
        t += rest % m->dims[i] * m->to_strides[i];
        rest /= m->dims[i];
    }
    f += first * p.f0;
    t += first * p.t0;
    p.n0 = p.n0 * (part + 1) / j->pieces - first;
    plane(&p, j->bytes, j->from + f * (int64_t)j->bytes, j->to + t * (int64_t)j->bytes);
}

struct many_job {
    struct move_job one;
    int64_t each, total;
};

static void many_task(void *context, uint64_t task)
{
    struct many_job *j = context;
    int64_t end = ((int64_t)task + 1) * j->each;

    for (int64_t i = (int64_t)task * j->each; i < end && i < j->total; i++)
        move_task(&j->one, (uint64_t)i);
}

/* ---- dense bytes ---- */

struct bytes_job {
    char *to;
    const char *from;
    uint64_t bytes;
};

enum { BYTES_EACH = 256 << 10 };

static void bytes_task(void *context, uint64_t task)
{
    const struct bytes_job *j = context;
    uint64_t at = task * BYTES_EACH, left = j->bytes - at;

    memcpy(j->to + at, j->from + at, left < BYTES_EACH ? left : BYTES_EACH);
}

void stet_backend_copy_bytes(void *to, const void *from, uint64_t bytes, struct stet_pool *pool)
{
    struct bytes_job j = {to, from, bytes};

    if (bytes <= BYTES_EACH)
        memcpy(to, from, bytes);
    else
        stet_pool_for(pool, (bytes + BYTES_EACH - 1) / BYTES_EACH, bytes_task, &j);
}

/* ---- strided blocks, prepared ---- */

void stet_backend_move_ready(struct stet_move *m)
{
    m->elements = 1;
    for (uint32_t i = 0; i < m->rank; i++)
        m->elements *= m->dims[i];
    m->ready = true;
    if (m->elements == 0)
        return;
    simplify(m);
    choose_plane(m);
    m->line = m->rank == 0 || (m->rank == 1 && m->from_strides[0] == 1 && m->to_strides[0] == 1);
    while (m->rank < 2) { /* ones in front */
        memmove(m->dims + 1, m->dims, m->rank * sizeof m->dims[0]);
        memmove(m->from_strides + 1, m->from_strides, m->rank * sizeof m->dims[0]);
        memmove(m->to_strides + 1, m->to_strides, m->rank * sizeof m->dims[0]);
        m->dims[0] = 1;
        m->from_strides[0] = m->to_strides[0] = 0;
        m->rank++;
    }
}

static void run_ready(const struct stet_move *m, size_t bytes, const char *from, char *to,
                      struct stet_pool *pool)
{
    struct many_job j;
    int64_t inner = m->dims[m->rank - 1] * m->dims[m->rank - 2];

    j.one = (struct move_job){m, bytes, from, to, m->elements / inner, 1};
    if (m->elements * (int64_t)bytes < 64 * 1024)
        pool = NULL;
    else if (inner > 65536)
        j.one.pieces = m->dims[m->rank - 2] < 64 ? m->dims[m->rank - 2] : 64;
    j.total = j.one.outer * j.one.pieces;
    j.each = 1 + 16384 / (inner / j.one.pieces + 1);
    stet_pool_for(pool, (uint64_t)((j.total + j.each - 1) / j.each), many_task, &j);
}

void stet_backend_move_run(const struct stet_move *m, size_t bytes, const char *from, char *to,
                           struct stet_pool *pool)
{
    struct stet_move own;

    if (!m->ready) {
        own = *m;
        stet_backend_move_ready(&own);
        m = &own;
    }
    from += m->from_offset * (int64_t)bytes;
    to += m->to_offset * (int64_t)bytes;
    if (m->elements && m->line)
        stet_backend_copy_bytes(to, from, (uint64_t)m->elements * bytes, pool);
    else if (m->elements)
        run_ready(m, bytes, from, to, pool);
}

/* ---- the kernels ---- */

static void k_copy(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_copy *c = params;
    char *out = bufs[c->out];
    int64_t from = 0, to = 0;

    if (c->out_elements == 0)
        return;
    if (c->fill >= 0)
        stet_tile_fill(out, bufs[c->fill], c->bytes, c->out_elements);
    if (c->base >= 0 && bufs[c->base] != out)
        stet_backend_copy_bytes(out, bufs[c->base], c->out_elements * c->bytes, pool);
    for (uint32_t i = 0; i < c->start_count; i++) {
        int64_t at = stet_backend_index_at(bufs[c->first_start + i], c->start_type, 0);

        at = at < 0 ? 0 : at > c->limit[i] ? c->limit[i] : at;
        from += at * c->from_step[i];
        to += at * c->to_step[i];
    }
    for (uint32_t i = 0; i < c->move_count; i++)
        stet_backend_move_run(&c->moves[i], c->bytes,
                              (const char *)bufs[c->moves[i].from] + from * (int64_t)c->bytes,
                              out + to * (int64_t)c->bytes, pool);
}

static void k_move(const void *params, void *const *bufs, struct stet_pool *pool)
{
    stet_backend_copy_bytes(bufs[1], bufs[0], *(const uint64_t *)params, pool);
}

/* Rounds to fewer bits, in f64: overflow becomes infinity, and values too small for a normal number
 * become 0. */
static void k_reduce_precision(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const int *bits = params;
    const double *a = bufs[0];
    double *d = bufs[1];
    uint64_t n;
    int shift = 52 - bits[1], top = bits[0] >= 11 ? 1023 : (1 << (bits[0] - 1)) - 1;

    (void)pool;
    memcpy(&n, bits + 2, sizeof n);
    for (uint64_t i = 0; i < n; i++) {
        double x = a[i];
        uint64_t u, sign;
        int e;

        memcpy(&u, &x, sizeof u);
        sign = u & (uint64_t)1 << 63;
        u ^= sign;
        if (u < (uint64_t)0x7ff << 52) {
            if (shift > 0)
                u = (u + ((uint64_t)1 << (shift - 1)) - 1 + (u >> shift & 1)) >> shift << shift;
            e = (int)(u >> 52) - 1023;
            if (e > top)
                u = (uint64_t)0x7ff << 52;
            else if (e < 1 - top)
                u = 0;
        }
        u |= sign;
        memcpy(&d[i], &u, sizeof u);
    }
}

const struct stet_kernel stet_kernel_copy = {"copy", k_copy};
const struct stet_kernel stet_kernel_move = {"move", k_move};
const struct stet_kernel stet_kernel_reduce_precision = {"reduce_precision", k_reduce_precision};
