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
    const struct stet_move_kernels *k = stet_tile_moves(stet_tile_kernels(), bytes);
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
        size_t run = (size_t)(m->dims[r - 1] - at[r - 1]), rows = 1;
        uint32_t i = r - 1;

        if (run > n)
            run = n;
        if (r > 1 && at[i] == 0 && run == (size_t)m->dims[i]) { /* whole rows */
            rows = n / run;
            i--;
            if (rows > (size_t)(m->dims[i] - at[i]))
                rows = (size_t)(m->dims[i] - at[i]);
            k->rows(d, (const char *)base + position * (int64_t)bytes, m->strides[i], rows,
                    m->strides[r - 1], run);
        } else {
            k->strided(d, (const char *)base + position * (int64_t)bytes, m->strides[i], run);
        }
        d += rows * run * bytes;
        n -= rows * run;
        at[i] += (int64_t)(i == r - 1 ? run : rows);
        position += (int64_t)(i == r - 1 ? run : rows) * m->strides[i];
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

/* Runs that count, or runs of equal numbers. */
void stet_tile_iota(const struct stet_tile_load *l, char *d, uint64_t start, size_t n)
{
    enum stet_dtype t = stet_tile_ctype(l->dtype);
    size_t bytes = stet_dtype_bytes(t);
    stet_count_fn count = stet_tile_kernels()->count[t];
    uint64_t divide = (uint64_t)l->divide, modulus = (uint64_t)l->modulus;
    uint64_t inner = start % divide, value = start / divide % modulus;

    if (!count)
        return;
    while (n) {
        uint64_t left = divide == 1 ? modulus - value : divide - inner;
        size_t run = n < left ? n : (size_t)left;

        if (divide == 1) {
            count(d, value, run);
        } else {
            _Alignas(16) unsigned char one[16];

            count(one, value, 1);
            stet_tile_fill(d, one, bytes, run);
        }
        d += run * bytes;
        n -= run;
        inner = 0;
        value = divide == 1 || value + 1 == modulus ? 0 : value + 1;
    }
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
        stet_tile_iota(l, s->regs[l->reg], start, n);
        return;
    default:
        return;
    }
    if (l->widen)
        l->widen(s->regs[l->reg], s->regs[l->raw], NULL, NULL, n);
}

static void load_panel(const struct stet_tile_load *l, struct stet_tile_state *s, const char *panel,
                       size_t row, size_t n)
{
    size_t bytes = stet_dtype_bytes(l->dtype);

    memcpy(s->regs[l->raw], panel + row * n * bytes, n * bytes);
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

static void eval(const struct stet_tile_prog *p, struct stet_tile_state *s, void *const *slots,
                 const struct stet_tile_panels *panels, size_t row, uint64_t start, size_t n)
{
    uint32_t panel = 0;

    for (uint32_t i = 0; i < p->store_count; i++)
        if (p->stores[i].direct)
            s->regs[p->stores[i].reg] =
                (char *)slots[p->stores[i].slot] + start * stet_dtype_bytes(p->stores[i].dtype);
    for (uint32_t i = 0; i < p->load_count; i++) {
        const struct stet_tile_load *l = &p->loads[i];

        if (panels && l->turned)
            load_panel(l, s, panels->at[panel++], row, n);
        else
            load(l, s, slots, start, n);
    }
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

void stet_tile_eval(const struct stet_tile_prog *p, struct stet_tile_state *s, void *const *slots,
                    uint64_t start, size_t n)
{
    eval(p, s, slots, NULL, 0, start, n);
}

/* Columns [first, first + n) of `count` rows of each transposed view. */
static void fill_panels(const struct stet_tile_prog *p, struct stet_tile_panels *panels,
                        void *const *slots, uint64_t start, size_t count, size_t n)
{
    uint32_t panel = 0;

    for (uint32_t i = 0; i < p->load_count; i++) {
        const struct stet_tile_load *l = &p->loads[i];
        const struct stet_tile_view *m = l->map;
        size_t bytes = stet_dtype_bytes(l->dtype);
        uint64_t rest = start;
        int64_t at;

        if (!l->turned)
            continue;
        at = m->offset;
        for (uint32_t d = m->rank; d-- > 0;) {
            at += (int64_t)(rest % (uint64_t)m->dims[d]) * m->strides[d];
            rest /= (uint64_t)m->dims[d];
        }
        stet_tile_moves(stet_tile_kernels(), bytes)
            ->turn(panels->at[panel++], (int64_t)n,
                   (const char *)slots[l->slot] + at * (int64_t)bytes, m->strides[m->rank - 1],
                   (int64_t)n, (int64_t)count);
    }
}

void stet_tile_eval_rows(const struct stet_tile_prog *p, struct stet_tile_state *s,
                         struct stet_tile_panels *panels, void *const *slots, uint64_t row,
                         size_t count)
{
    uint64_t cols = (uint64_t)p->cols,
             width = p->tile < STET_PANEL_COLS ? p->tile : STET_PANEL_COLS;

    for (uint64_t first = 0; first < cols; first += width) {
        size_t n = (size_t)(cols - first < width ? cols - first : width);

        fill_panels(p, panels, slots, row * cols + first, count, n);
        for (size_t r = 0; r < count; r++)
            eval(p, s, slots, panels, r, (row + r) * cols + first, n);
    }
}
