/* Running tile programs. */
#include "backend/tile.h"

#include "base/processor.h"

#include <stdatomic.h>
#include <stdlib.h>

#ifdef STET_WIDE_ISAS
extern const struct stet_tile_set stet_tile_set_base, stet_tile_set_avx2, stet_tile_set_avx512;
#else
extern const struct stet_tile_set stet_tile_set_base;
#endif

/* STET_CPU_ISA=base or avx2: use no wider set than that. */
static const struct stet_tile_set *best_set(void)
{
#ifdef STET_WIDE_ISAS
    const char *most = getenv("STET_CPU_ISA");
    bool base = most && strcmp(most, "base") == 0, avx2 = most && strcmp(most, "avx2") == 0;

    if (base)
        return &stet_tile_set_base;
    if (!avx2 &&
        stet_processor_has(STET_PROCESSOR_FMA | STET_PROCESSOR_AVX512F | STET_PROCESSOR_AVX512BW |
                           STET_PROCESSOR_AVX512DQ | STET_PROCESSOR_AVX512VL))
        return &stet_tile_set_avx512;
    if (stet_processor_has(STET_PROCESSOR_AVX2 | STET_PROCESSOR_BMI2 | STET_PROCESSOR_FMA))
        return &stet_tile_set_avx2;
#endif
    return &stet_tile_set_base;
}

const struct stet_tile_set *stet_tile_kernels(void)
{
    static _Atomic(const struct stet_tile_set *) found;
    const struct stet_tile_set *s = atomic_load_explicit(&found, memory_order_relaxed);

    if (!s) {
        s = best_set(); /* threads may race here: the answer is the same */
        atomic_store_explicit(&found, s, memory_order_relaxed);
    }
    return s;
}

enum stet_dtype stet_tile_ctype(enum stet_dtype t)
{
    if (stet_dtype_is_float(t) && t < STET_DT_F32)
        return STET_DT_F32;
    if (stet_dtype_is_small_int(t))
        return stet_dtype_is_signed(t) ? STET_DT_S8 : STET_DT_U8;
    return t;
}

/* ---- views ---- */

void stet_tile_view_simplify(struct stet_tile_view *m)
{
    uint32_t out = 0;

    for (uint32_t i = 0; i < m->rank; i++) {
        if (m->dims[i] == 1)
            continue;
        if (out && m->strides[out - 1] == m->strides[i] * m->dims[i]) {
            m->dims[out - 1] *= m->dims[i];
            m->strides[out - 1] = m->strides[i];
        } else {
            m->dims[out] = m->dims[i];
            m->strides[out++] = m->strides[i];
        }
    }
    m->rank = out;
}

/* One run along the innermost dimension. */
static void gather_run(char *d, const char *s, int64_t stride, size_t bytes, size_t n)
{
    if (stride == 1) {
        memcpy(d, s, n * bytes);
        return;
    }
    if (stride == 0) {
        stet_tile_fill(d, s, bytes, n);
        return;
    }
#define RUN(T)                                                                                     \
    do {                                                                                           \
        T *to = (T *)(void *)d;                                                                    \
        const T *from = (const T *)(const void *)s;                                                \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = from[(int64_t)i * stride];                                                     \
    } while (0)
    switch (bytes) {
    case 1:
        RUN(uint8_t);
        break;
    case 2:
        RUN(uint16_t);
        break;
    case 4:
        RUN(uint32_t);
        break;
    case 8:
        RUN(uint64_t);
        break;
    default:
        for (size_t i = 0; i < n; i++)
            memcpy(d + i * bytes, s + (int64_t)i * stride * (int64_t)bytes, bytes);
    }
#undef RUN
}

void stet_tile_fill(void *d, const void *value, size_t bytes, size_t n)
{
#define FILL(T)                                                                                    \
    do {                                                                                           \
        T v, *to = d;                                                                              \
        memcpy(&v, value, sizeof v);                                                               \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = v;                                                                             \
    } while (0)
    switch (bytes) {
    case 1:
        memset(d, *(const unsigned char *)value, n);
        break;
    case 2:
        FILL(uint16_t);
        break;
    case 4:
        FILL(uint32_t);
        break;
    case 8:
        FILL(uint64_t);
        break;
    default:
        for (size_t i = 0; i < n; i++)
            memcpy((char *)d + i * bytes, value, bytes);
    }
#undef FILL
}

void stet_tile_view_gather(void *d_, const void *base, const struct stet_tile_view *m, size_t bytes,
                           uint64_t start, size_t n)
{
    char *d = d_;
    int64_t at[STET_MAX_RANK], position = m->offset;
    uint64_t rest = start;
    uint32_t r = m->rank;

    if (r == 0) {
        stet_tile_fill(d, (const char *)base + m->offset * (int64_t)bytes, bytes, n);
        return;
    }
    for (uint32_t i = r; i-- > 0;) {
        at[i] = (int64_t)(rest % (uint64_t)m->dims[i]);
        rest /= (uint64_t)m->dims[i];
        position += at[i] * m->strides[i];
    }
    while (n) {
        size_t run = (size_t)(m->dims[r - 1] - at[r - 1]);
        uint32_t i = r - 1;

        if (run > n)
            run = n;
        gather_run(d, (const char *)base + position * (int64_t)bytes, m->strides[i], bytes, run);
        d += run * bytes;
        n -= run;
        at[i] += (int64_t)run;
        position += (int64_t)run * m->strides[i];
        while (at[i] == m->dims[i]) { /* carry */
            position -= m->dims[i] * m->strides[i];
            at[i] = 0;
            if (i == 0)
                break;
            i--;
            at[i]++;
            position += m->strides[i];
        }
    }
}

/* ---- programs ---- */

static void load_iota(const struct stet_tile_load *l, char *d, uint64_t start, size_t n)
{
    uint64_t inner = start % (uint64_t)l->divide;
    uint64_t value = start / (uint64_t)l->divide % (uint64_t)l->modulus;

#define IOTA(T)                                                                                    \
    do {                                                                                           \
        T *to = (T *)(void *)d;                                                                    \
        if (l->divide == 1 && value + n <= (uint64_t)l->modulus) {                                 \
            for (size_t i = 0; i < n; i++)                                                         \
                to[i] = (T)(value + i);                                                            \
            break;                                                                                 \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            to[i] = (T)value;                                                                      \
            if (++inner == (uint64_t)l->divide) {                                                  \
                inner = 0;                                                                         \
                value = value + 1 == (uint64_t)l->modulus ? 0 : value + 1;                         \
            }                                                                                      \
        }                                                                                          \
    } while (0)
    switch (stet_tile_ctype(l->dtype)) {
    case STET_DT_S8:
    case STET_DT_U8:
    case STET_DT_PRED:
        IOTA(uint8_t);
        break;
    case STET_DT_S16:
    case STET_DT_U16:
        IOTA(uint16_t);
        break;
    case STET_DT_S32:
    case STET_DT_U32:
        IOTA(uint32_t);
        break;
    case STET_DT_S64:
    case STET_DT_U64:
        IOTA(uint64_t);
        break;
    case STET_DT_F32:
        IOTA(float);
        break;
    case STET_DT_F64:
        IOTA(double);
        break;
    default:
        break; /* refused when planned */
    }
#undef IOTA
}

void stet_tile_begin(const struct stet_tile_prog *p, struct stet_tile_state *s, void *const *slots,
                     size_t n)
{
    for (uint32_t r = 0; r < p->regs; r++)
        s->regs[r] = s->memory + p->reg_offset[r];
    for (uint32_t i = 0; i < p->load_count; i++) {
        const struct stet_tile_load *l = &p->loads[i];
        const void *value = l->kind == STET_LOAD_CONST ? l->value : NULL;
        size_t bytes = stet_dtype_bytes(l->dtype);

        if (l->kind == STET_LOAD_SPLAT)
            value = (const char *)slots[l->slot] + (l->map ? l->map->offset * (int64_t)bytes : 0);
        if (!value)
            continue;
        stet_tile_fill(s->regs[l->raw], value, bytes, n);
        if (l->widen)
            l->widen(s->regs[l->reg], s->regs[l->raw], NULL, NULL, n);
    }
}

static void load(const struct stet_tile_load *l, struct stet_tile_state *s, void *const *slots,
                 uint64_t start, size_t n)
{
    size_t bytes = stet_dtype_bytes(l->dtype);

    switch (l->kind) {
    case STET_LOAD_LINE:
        s->regs[l->raw] = (char *)slots[l->slot] + start * bytes;
        break;
    case STET_LOAD_VIEW:
        stet_tile_view_gather(s->regs[l->raw], slots[l->slot], l->map, bytes, start, n);
        break;
    case STET_LOAD_IOTA:
        load_iota(l, s->regs[l->reg], start, n);
        return;
    default:
        return;
    }
    if (l->widen)
        l->widen(s->regs[l->reg], s->regs[l->raw], NULL, NULL, n);
}

void stet_tile_apply(const struct stet_tile_prog *p, struct stet_tile_state *s, size_t n)
{
    for (uint32_t i = 0; i < p->ins_count; i++) {
        const struct stet_tile_ins *x = &p->ins[i];

        x->fn(s->regs[x->d], s->regs[x->a], s->regs[x->b], s->regs[x->c], n);
    }
}

void stet_tile_eval(const struct stet_tile_prog *p, struct stet_tile_state *s, void *const *slots,
                    uint64_t start, size_t n)
{
    for (uint32_t i = 0; i < p->store_count; i++)
        if (p->stores[i].direct)
            s->regs[p->stores[i].reg] =
                (char *)slots[p->stores[i].slot] + start * stet_dtype_bytes(p->stores[i].dtype);
    for (uint32_t i = 0; i < p->load_count; i++)
        load(&p->loads[i], s, slots, start, n);
    stet_tile_apply(p, s, n);
    for (uint32_t i = 0; i < p->store_count; i++) {
        const struct stet_tile_store *t = &p->stores[i];
        size_t bytes = stet_dtype_bytes(t->dtype);
        char *d;

        if (t->direct)
            continue;
        d = (char *)slots[t->slot] + start * bytes;
        if (t->narrow)
            t->narrow(d, s->regs[t->reg], NULL, NULL, n);
        else
            memcpy(d, s->regs[t->reg], n * bytes);
    }
}
