#include "backend/tiny.h"

#include "backend/params.h"

/* ---- loads and stores as kernels ---- */

#define SPLAT(width)                                                                               \
    static void splat_##width(void *d, const void *a, const void *b, const void *c, size_t n)      \
    {                                                                                              \
        (void)b, (void)c;                                                                          \
        stet_tile_fill(d, a, width, n);                                                            \
    }                                                                                              \
    static void view_##width(void *d, const void *a, const void *map, const void *c, size_t n)     \
    {                                                                                              \
        (void)c;                                                                                   \
        stet_tile_view_gather(d, a, map, width, 0, n);                                             \
    }                                                                                              \
    static void rows_##width(void *d, const void *a, const void *map, const void *c, size_t n)     \
    {                                                                                              \
        const struct stet_tile_view *m = map;                                                      \
                                                                                                   \
        (void)c, (void)n;                                                                          \
        stet_tile_moves(stet_tile_kernels(), width)                                                \
            ->rows(d, (const char *)a + m->offset * (width), m->strides[0], (size_t)m->dims[0],    \
                   m->strides[1], (size_t)m->dims[1]);                                             \
    }                                                                                              \
    static void copy_##width(void *d, const void *a, const void *b, const void *c, size_t n)       \
    {                                                                                              \
        (void)b, (void)c;                                                                          \
        memcpy(d, a, n * (width));                                                                 \
    }
SPLAT(1)
SPLAT(2)
SPLAT(4)
SPLAT(8)
SPLAT(16)
#undef SPLAT

enum move { SPLATS, VIEWS, ROWS, COPIES };

static stet_tile_fn move_of(enum move m, size_t bytes)
{
    static const stet_tile_fn table[4][5] = {{splat_1, splat_2, splat_4, splat_8, splat_16},
                                             {view_1, view_2, view_4, view_8, view_16},
                                             {rows_1, rows_2, rows_4, rows_8, rows_16},
                                             {copy_1, copy_2, copy_4, copy_8, copy_16}};

    return table[m][bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4];
}

static void iota(void *d, const void *load, const void *b, const void *c, size_t n)
{
    (void)b, (void)c;
    stet_tile_iota(load, d, 0, n);
}

/* Rows of n elements into one element each. */
struct fold_rows {
    stet_fold_fn fold;
    size_t bytes, rows;
};

static void fold_rows(void *d, const void *a, const void *job, const void *c, size_t n)
{
    const struct fold_rows *f = job;

    (void)c;
    for (size_t r = 0; r < f->rows; r++)
        f->fold((char *)d + r * f->bytes, (const char *)a + r * n * f->bytes, n);
}

/* ---- sizes ---- */

static uint64_t register_size(const struct stet_tile_prog *p, uint32_t r, uint32_t elements)
{
    return ((uint64_t)p->reg_bytes[r] * elements + 63) / 64 * 64;
}

bool stet_tiny_fits(const struct stet_tile_prog *p, uint64_t elements)
{
    if (elements == 0 || elements > STET_TINY_ELEMENTS || elements > p->tile || p->cols)
        return false;
    for (uint32_t i = 0; i < p->load_count; i++)
        if (p->loads[i].kind == STET_LOAD_ARG)
            return false;
    return true;
}

/* The order of folding is that of k_reduce.c. */
bool stet_tiny_reduces(const struct stet_reduce *r)
{
    const struct stet_tile_set *k = stet_tile_kernels();

    return r->count == 1 && r->simple >= 0 && r->rank <= 2 && r->chunk == 0 && r->kept > 0 &&
           r->folded > 0 && !k->load[r->types[0]] && !k->store[r->types[0]] &&
           stet_tiny_fits(r->prog, (uint64_t)(r->kept * r->folded));
}

enum { FOLD_CALLS = 40 }; /* 35 for a column of 255 elements, and two */

/* Room for a half of the elements, for a row of them and for initial values. */
static uint64_t fold_size(const struct stet_tiny *s)
{
    return s->reduce ? 3 * ((uint64_t)s->elements * 16 + 64) : 0;
}

uint64_t stet_tiny_size(struct stet_tiny *s)
{
    const struct stet_tile_prog *p = s->prog;
    uint64_t constants = s->reduce ? 128 + 16 * (uint64_t)s->elements : 0;

    s->most_calls = 2 * p->load_count + p->ins_count + p->store_count;
    if (s->reduce)
        s->most_calls += FOLD_CALLS;
    for (uint32_t i = 0; i < p->load_count; i++)
        if (p->loads[i].kind == STET_LOAD_CONST)
            constants += 2 * register_size(p, p->loads[i].reg, s->elements);
    return 64 + (s->most_calls * sizeof(struct stet_tiny_call) + 63) / 64 * 64 + constants;
}

uint64_t stet_tiny_registers(const struct stet_tiny *s)
{
    uint64_t bytes = fold_size(s);

    for (uint32_t r = 0; r < s->prog->regs; r++)
        bytes += register_size(s->prog, r, s->elements);
    return bytes;
}

/* ---- preparing ---- */

struct preparation {
    const struct stet_tiny *s;
    const struct stet_tile_prog *p;
    void *const *slots;
    struct stet_tiny_call *calls;
    uint64_t count;
    char *constants;
    char *regs[STET_TILE_REGS];
};

static void call_n(struct preparation *m, stet_tile_fn run, void *d, const void *a, const void *b,
                   const void *c, size_t n)
{
    m->calls[m->count++] = (struct stet_tiny_call){run, d, a, b, c, n};
}

static void call(struct preparation *m, stet_tile_fn run, void *d, const void *a, const void *b,
                 const void *c)
{
    call_n(m, run, d, a, b, c, m->s->elements);
}

static char *constant(struct preparation *m, const void *value, size_t bytes)
{
    char *at = m->constants;

    stet_tile_fill(at, value, bytes, m->s->elements);
    m->constants += (bytes * m->s->elements + 63) / 64 * 64;
    return at;
}

static void load_constant(struct preparation *m, const struct stet_tile_load *l)
{
    char *raw = constant(m, l->value, stet_dtype_bytes(l->dtype));

    m->regs[l->raw] = raw;
    if (!l->widen)
        return;
    m->regs[l->reg] = m->constants;
    m->constants += register_size(m->p, l->reg, m->s->elements);
    l->widen(m->regs[l->reg], raw, NULL, NULL, m->s->elements);
}

/* May one element be read where it is? Not if a store is written there that is also a register, and
 * an instruction after that still reads the element. */
static bool readable_in_place(const struct preparation *m, const struct stet_tile_load *l,
                              const char *at)
{
    const struct stet_tile_prog *p = m->p;

    for (uint32_t i = 0; i < p->store_count; i++) {
        const struct stet_tile_store *t = &p->stores[i];
        const char *to = m->slots[t->slot];
        bool written = false;

        if (!t->direct || at + stet_dtype_bytes(l->dtype) <= to ||
            to + stet_dtype_bytes(t->dtype) <= at)
            continue;
        for (uint32_t j = 0; j < p->ins_count; j++) {
            const struct stet_tile_ins *x = &p->ins[j];

            if (written && (x->a == l->reg || x->b == l->reg || x->c == l->reg))
                return false;
            written |= x->d == t->reg;
        }
    }
    return true;
}

/* A view is rows if it has two dimensions, which are all of the program's elements. */
static enum move move_for(const struct preparation *m, const struct stet_tile_load *l)
{
    const struct stet_tile_view *v = l->map;

    if (l->kind != STET_LOAD_VIEW)
        return SPLATS;
    return v->rank == 2 && v->dims[0] * v->dims[1] == m->s->elements ? ROWS : VIEWS;
}

static void load(struct preparation *m, const struct stet_tile_load *l)
{
    size_t bytes = stet_dtype_bytes(l->dtype);
    char *at = NULL;

    if (l->kind == STET_LOAD_CONST) {
        load_constant(m, l);
        return;
    }
    if (l->kind == STET_LOAD_IOTA) {
        call(m, iota, m->regs[l->reg], l, NULL, NULL);
        return;
    }
    at = m->slots[l->slot];
    if (l->kind == STET_LOAD_SPLAT && l->map)
        at += l->map->offset * (int64_t)bytes;
    if (l->kind == STET_LOAD_LINE ||
        (l->kind == STET_LOAD_SPLAT && m->s->elements == 1 && readable_in_place(m, l, at)))
        m->regs[l->raw] = at;
    else
        call(m, move_of(move_for(m, l), bytes), m->regs[l->raw], at, l->map, NULL);
    if (l->widen)
        call(m, l->widen, m->regs[l->reg], m->regs[l->raw], NULL, NULL);
}

/* ---- reductions ---- */

/* Halves of rows are folded onto each other; what is left of an odd number comes after. */
static const char *fold_columns(struct preparation *m, const char *x, stet_tile_fn op, size_t bytes,
                                char *line, char *acc)
{
    size_t rows = (size_t)m->s->reduce->folded, n = (size_t)m->s->reduce->kept, most = 1;
    const char *sum = NULL;

    while (2 * most <= rows)
        most *= 2;
    while (rows) {
        const char *part = x;

        while (most > rows)
            most /= 2;
        for (size_t half = most / 2; half; half /= 2) {
            char *to = half == 1 && !sum ? acc : line;

            call_n(m, op, to, part, part + half * n * bytes, NULL, half * n);
            part = to;
        }
        if (sum)
            call_n(m, op, acc, sum, part, NULL, n);
        sum = sum ? acc : part;
        x += most * n * bytes;
        rows -= most;
    }
    return sum;
}

/* The same in one call, for f32 in whole vectors; NULL: there is no such kernel. */
static const char *fold_halves(struct preparation *m, const char *x, char *acc)
{
    const struct stet_reduce *r = m->s->reduce;
    uint64_t all = (uint64_t)(r->kept * r->folded), n = (uint64_t)r->kept;
    stet_tile_fn op;

    if (r->types[0] != STET_DT_F32 || all < 16 || (all & (all - 1)) || n > 16 || (n & (n - 1)))
        return NULL;
    op = stet_tile_kernels()->halves[r->simple][__builtin_ctzll(all / 16)];
    if (!op)
        return NULL;
    call_n(m, op, acc, x, NULL, NULL, (size_t)n);
    return acc;
}

static const char *fold_lines(struct preparation *m, const char *x, size_t bytes, char *acc)
{
    const struct stet_reduce *r = m->s->reduce;
    struct fold_rows *job = (void *)m->constants;

    *job = (struct fold_rows){stet_tile_kernels()->fold[r->types[0]][r->simple], bytes,
                              (size_t)r->kept};
    m->constants += 64;
    call_n(m, fold_rows, acc, x, job, NULL, (size_t)r->folded);
    return acc;
}

static void fold(struct preparation *m, char *memory)
{
    const struct stet_reduce *r = m->s->reduce;
    stet_tile_fn op = stet_tile_kernels()->ops[r->types[0]][r->simple];
    size_t bytes = stet_dtype_bytes(r->types[0]), n = (size_t)r->kept;
    uint64_t part = fold_size(m->s) / 3 / 64 * 64;
    char *line = memory, *acc = memory + part, *init = memory + 2 * part;
    const char *x = m->regs[r->regs[0]], *sum;

    if (r->reduced[r->rank - 1])
        sum = fold_lines(m, x, bytes, acc);
    else if (!(sum = fold_halves(m, x, acc)))
        sum = fold_columns(m, x, op, bytes, line, acc);
    if (r->init)
        init = constant(m, r->init, bytes);
    else
        call_n(m, move_of(SPLATS, bytes), init, m->slots[r->first_init], NULL, NULL, n);
    call_n(m, op, m->slots[r->first_out], init, sum, NULL, n);
}

void stet_tiny_prepare(const struct stet_tiny *s, char *memory, char *registers, void *const *slots)
{
    const struct stet_tile_prog *p = s->prog;
    struct preparation m;

    m.s = s, m.p = p, m.slots = slots, m.count = 0;
    m.calls = (void *)(memory + s->offset + 64);
    m.constants = (char *)m.calls + (s->most_calls * sizeof *m.calls + 63) / 64 * 64;
    for (uint32_t r = 0; r < p->regs; r++) {
        m.regs[r] = registers;
        registers += register_size(p, r, s->elements);
    }
    for (uint32_t i = 0; i < p->store_count; i++)
        if (p->stores[i].direct)
            m.regs[p->stores[i].reg] = slots[p->stores[i].slot];
    for (uint32_t i = 0; i < p->load_count; i++)
        load(&m, &p->loads[i]);
    for (uint32_t i = 0; i < p->ins_count; i++) {
        const struct stet_tile_ins *x = &p->ins[i];

        call(&m, x->fn, m.regs[x->d], m.regs[x->a], m.regs[x->b], m.regs[x->c]);
    }
    for (uint32_t i = 0; i < p->store_count; i++) {
        const struct stet_tile_store *t = &p->stores[i];

        if (!t->direct)
            call(&m, t->narrow ? t->narrow : move_of(COPIES, stet_dtype_bytes(t->dtype)),
                 slots[t->slot], m.regs[t->reg], NULL, NULL);
    }
    if (s->reduce)
        fold(&m, registers);
    memcpy(memory + s->offset, &m.count, sizeof m.count);
}
