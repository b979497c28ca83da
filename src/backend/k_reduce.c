/* Reduction of a tile program's line. Which elements are folded together, and in which order,
 * depends on the shape alone. Twin: ref/reduce.c.
 *
 * The line's dimensions alternate between kept and reduced. When the innermost is reduced ("rows"),
 * runs of the line fold into one element each; when it is kept ("columns"), runs are added to runs.
 */
#include "backend/params.h"
#include "base/known.h"

struct fold {
    const struct stet_reduce *r;
    void *const *bufs;
    const struct stet_tile_set *k;
    int64_t inner;        /* length of the innermost dimension */
    int64_t outer_kept;   /* kept elements but for the innermost dimension */
    int64_t outer_folded; /* reduced ones likewise */
    int64_t kept_dims[STET_MAX_RANK], kept_steps[STET_MAX_RANK];
    int64_t fold_dims[STET_MAX_RANK], fold_steps[STET_MAX_RANK];
    uint32_t kept_rank, fold_rank;
    int64_t grain;              /* kept elements (rows) or tiles of columns in a task */
    int64_t chunks, chunk_rows; /* columns: parts of what is folded, and the rows of each */
};

/* The working memory of one task; ACC elements of 16 bytes per operand. */
enum { ACC = STET_TILE_MOST };

struct scratch {
    struct stet_tile_state prog, body;
    _Alignas(64) char acc[2][16 * ACC];
    _Alignas(64) char line[2][16 * ACC];
};

static enum stet_dtype ctype(const struct stet_reduce *r, uint32_t i)
{
    return stet_tile_ctype(r->types[i]);
}

/* acc[i] = body(acc[i], x[i]) for n lanes. */
static void combine(const struct fold *f, struct scratch *s, char *const *acc, char *const *x,
                    size_t n)
{
    const struct stet_reduce *r = f->r;

    if (r->simple >= 0) {
        /* A reduction has at least one operand. */
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        f->k->ops[ctype(r, 0)][r->simple](acc[0], acc[0], x[0], NULL, n);
        return;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        /* The caller filled as many of both as there are operands. */
        /* NOLINTBEGIN(clang-analyzer-core.uninitialized.Assign) */
        s->body.regs[r->body->arg_regs[i]] = acc[i];
        s->body.regs[r->body->arg_regs[r->count + i]] = x[i];
        /* NOLINTEND(clang-analyzer-core.uninitialized.Assign) */
    }
    stet_tile_apply(&r->body->prog, &s->body, n);
    for (uint32_t i = 0; i < r->count; i++)
        memmove(acc[i], s->body.regs[r->body->result_regs[i]], n * stet_dtype_bytes(ctype(r, i)));
}

/* Lane j of d = element j * step of s. */
static void pick(char *d, const char *s, size_t bytes, size_t step, size_t n)
{
#define PICK(T)                                                                                    \
    for (size_t j = 0; j < n; j++)                                                                 \
    ((T *)(void *)d)[j] = ((const T *)(const void *)s)[j * step]
    if (bytes == 4)
        PICK(uint32_t);
    else if (bytes == 8)
        PICK(uint64_t);
    else if (bytes == 1)
        PICK(uint8_t);
    else if (bytes == 2)
        PICK(uint16_t);
    else
        for (size_t j = 0; j < n; j++)
            memcpy(d + j * bytes, s + j * step * bytes, bytes);
#undef PICK
}

/* How many elements pairs() takes at once: the first of all pairs fit the scratch, and the body. */
static size_t pairs_most(const struct stet_reduce *r)
{
    size_t most, body = r->body->prog.tile;

    STET_KNOWN(r->count); /* lowering refuses a reduction of nothing */
    most = ACC / r->count;
    return 2 * (most < body ? most : body);
}

/* Folds n <= pairs_most elements into one: neighbours into pairs, these into pairs again. The order
 * of elements is kept, because a body may depend on it. */
static void pairs(const struct fold *f, struct scratch *s, char *const *x, size_t n,
                  char *const *out)
{
    const struct stet_reduce *r = f->r;
    char *first[32], *second[32];

    for (uint32_t i = 0; i < r->count; i++) {
        first[i] = s->acc[1] + i * (16 * ACC / r->count) / 64 * 64;
        second[i] = s->line[1] + i * (16 * ACC / r->count) / 64 * 64;
    }
    for (bool from_x = true; n > 1 || from_x; from_x = false) {
        size_t half = n / 2;

        for (uint32_t i = 0; i < r->count; i++) {
            size_t width = stet_dtype_bytes(ctype(r, i));
            const struct stet_move_kernels *k = stet_tile_moves(f->k, width);
            char *from = from_x ? x[i] : first[i]; /* NOLINT: one per operand */

            k->strided(second[i], from + width, 2, half);
            k->strided(first[i], from, 2, n - half);
        }
        combine(f, s, first, second, half);
        n -= half;
    }
    for (uint32_t i = 0; i < r->count; i++)
        memcpy(out[i], first[i], stet_dtype_bytes(ctype(r, i)));
}

/* Folds a run of n elements into one. */
static void fold_run(const struct fold *f, struct scratch *s, char *const *x, size_t n,
                     char *const *out)
{
    const struct stet_reduce *r = f->r;
    char *rest[32], part[32][16], *parts[32];
    size_t most;

    if (r->simple >= 0) {
        /* A reduction has at least one operand. */
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        f->k->fold[ctype(r, 0)][r->simple](out[0], x[0], n);
        return;
    }
    most = pairs_most(r);
    pairs(f, s, x, n < most ? n : most, out);
    for (size_t at = most; at < n; at += most) {
        for (uint32_t i = 0; i < r->count; i++) {
            rest[i] = x[i] + at * stet_dtype_bytes(ctype(r, i));
            parts[i] = part[i];
        }
        pairs(f, s, rest, n - at < most ? n - at : most, parts);
        combine(f, s, out, parts, 1);
    }
}

static int64_t position(uint32_t rank, const int64_t *dims, const int64_t *steps, int64_t i)
{
    int64_t at = 0;

    for (uint32_t d = rank; d-- > 0;) {
        at += i % dims[d] * steps[d];
        i /= dims[d];
    }
    return at;
}

/* n results, as registers hold them, to memory at element `at`; the initial value comes first. */
static void store(const struct fold *f, struct scratch *s, char *const *acc, int64_t at, size_t n)
{
    const struct stet_reduce *r = f->r;
    char *first[32], *given[32];

    for (uint32_t i = 0; i < r->count; i++) {
        enum stet_dtype t = r->types[i], c = ctype(r, i);
        _Alignas(16) char value[16];
        const char *init = f->bufs[r->first_init + i];

        if (f->k->load[t]) {
            f->k->load[t](value, init, NULL, NULL, 1);
            init = value;
        }
        first[i] = s->line[0] + i * (16 * ACC / 32);
        given[i] = acc[i]; /* NOLINT(clang-analyzer-core.uninitialized.Assign): one per operand */
        /* `n` is at most what fits a 32nd of a line when there are 32 operands */
        stet_tile_fill(first[i], init, stet_dtype_bytes(c), n);
    }
    combine(f, s, first, given, n);
    for (uint32_t i = 0; i < r->count; i++) {
        enum stet_dtype t = r->types[i];
        char *d = (char *)f->bufs[r->first_out + i] + (size_t)at * stet_dtype_bytes(t);

        if (f->k->store[t])
            f->k->store[t](d, first[i], NULL, NULL, n);
        else
            memcpy(d, first[i], n * stet_dtype_bytes(t));
    }
}

static void begin(const struct fold *f, struct scratch *s)
{
    stet_tile_begin(f->r->prog, &s->prog, f->bufs, f->r->prog->tile);
    if (f->r->simple < 0)
        stet_tile_begin(&f->r->body->prog, &s->body, NULL, f->r->body->prog.tile);
}

static void registers(const struct fold *f, struct scratch *s, size_t skip, char **x)
{
    for (uint32_t i = 0; i < f->r->count; i++)
        x[i] = s->prog.regs[f->r->regs[i]] + skip * stet_dtype_bytes(ctype(f->r, i));
}

/* A piece of the line [start, start + n) into one element per operand. */
static void fold_line(const struct fold *f, struct scratch *s, uint64_t start, uint64_t n,
                      char *const *out, bool more)
{
    uint64_t tile = f->r->prog->tile;
    char *x[32], folded[32][16], *part[32];

    for (uint64_t at = 0; at < n; at += tile) {
        size_t some = n - at < tile ? (size_t)(n - at) : (size_t)tile;

        stet_tile_eval(f->r->prog, &s->prog, f->bufs, start + at, some);
        registers(f, s, 0, x);
        if (!more) {
            fold_run(f, s, x, some, out);
            more = true;
            continue;
        }
        for (uint32_t i = 0; i < f->r->count; i++)
            part[i] = folded[i];
        fold_run(f, s, x, some, part);
        combine(f, s, out, part, 1);
    }
}

/* ---- rows ---- */

/* Rows of one operand become columns, which are folded one onto the other: in the order in which
 * rows of less than 32 elements are folded anyway (kernels/isa.h). */
static void turned_rows(const struct fold *f, struct scratch *s, const char *x, size_t rows,
                        char *acc)
{
    const struct stet_reduce *r = f->r;
    stet_tile_fn op = f->k->ops[ctype(r, 0)][r->simple];
    size_t width = stet_dtype_bytes(ctype(r, 0));
    char *columns = s->line[1];

    stet_tile_moves(f->k, width)
        ->turn(columns, (int64_t)rows, x, f->inner, (int64_t)rows, f->inner);
    memcpy(acc, columns, rows * width);
    for (int64_t j = 1; j < f->inner; j++)
        op(acc, acc, columns + (size_t)j * rows * width, NULL, rows);
}

/* Several short rows in one tile: lanes are rows. */
static void short_rows(const struct fold *f, struct scratch *s, int64_t first, int64_t count)
{
    const struct stet_reduce *r = f->r;
    size_t rows = (size_t)count, length = (size_t)f->inner;
    char *x[32], *acc[32], *line[32];

    stet_tile_eval(r->prog, &s->prog, f->bufs, (uint64_t)(first * f->inner), rows * length);
    registers(f, s, 0, x);
    for (uint32_t i = 0; i < r->count; i++) {
        acc[i] = s->acc[0] + i * (16 * ACC / 32);
        line[i] = s->line[1] + i * (16 * ACC / 32);
    }
    if (r->simple >= 0 && length < 32 && rows > 3) {
        turned_rows(f, s, x[0], rows, acc[0]);
    } else if (r->simple >= 0) {
        size_t width = stet_dtype_bytes(ctype(r, 0));

        for (size_t j = 0; j < rows; j++)
            /* A reduction has at least one operand. */
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
            f->k->fold[ctype(r, 0)][r->simple](acc[0] + j * width, x[0] + j * length * width,
                                               length);
    } else {
        for (size_t j = 0; j < length; j++) {
            for (uint32_t i = 0; i < r->count; i++) {
                size_t width = stet_dtype_bytes(ctype(r, i));

                pick(j ? line[i] : acc[i], x[i] + j * width, width, length, rows);
            }
            if (j)
                combine(f, s, acc, line, rows);
        }
    }
    store(f, s, acc, first, rows);
}

static int64_t rows_in_tile(const struct fold *f)
{
    int64_t rows = (int64_t)f->r->prog->tile / f->inner;
    int64_t most = f->r->count == 1 ? ACC : ACC / 32; /* of a line, in 16-byte elements */

    return rows < most ? rows : most;
}

static void rows_task(void *context, uint64_t task)
{
    const struct fold *f = context;
    const struct stet_reduce *r = f->r;
    int64_t at = (int64_t)task * f->grain, end = at + f->grain;
    struct scratch s;
    char *out[32];

    begin(f, &s);
    if (end > f->outer_kept)
        end = f->outer_kept;
    for (uint32_t i = 0; i < r->count; i++)
        out[i] = s.acc[0] + i * 16;
    if (f->fold_rank == 0 && f->kept_rank <= 1 && f->inner * 4 <= (int64_t)r->prog->tile) {
        int64_t some = rows_in_tile(f);

        for (; at < end; at += some)
            short_rows(f, &s, at, end - at < some ? end - at : some);
        return;
    }
    for (; at < end; at++) {
        int64_t base = position(f->kept_rank, f->kept_dims, f->kept_steps, at);

        for (int64_t j = 0; j < f->outer_folded; j++)
            fold_line(f, &s,
                      (uint64_t)(base + position(f->fold_rank, f->fold_dims, f->fold_steps, j)),
                      (uint64_t)f->inner, out, j > 0);
        store(f, &s, out, at, 1);
    }
}

/* ---- one long row ---- */

static void chunk_task(void *context, uint64_t task)
{
    const struct fold *f = context;
    const struct stet_reduce *r = f->r;
    uint64_t start = task * r->chunk;
    uint64_t n = (uint64_t)r->folded - start < r->chunk ? (uint64_t)r->folded - start : r->chunk;
    struct scratch s;
    char *out[32];

    begin(f, &s);
    for (uint32_t i = 0; i < r->count; i++)
        out[i] = (char *)f->bufs[r->temp] + (task * r->count + i) * 16;
    fold_line(f, &s, start, n, out, false);
}

static void long_row(struct fold *f, struct stet_pool *pool)
{
    const struct stet_reduce *r = f->r;
    uint64_t chunks = ((uint64_t)r->folded + r->chunk - 1) / r->chunk;
    struct scratch s;
    char *out[32], *x[32];

    stet_pool_for(pool, chunks, chunk_task, f);
    begin(f, &s);
    for (uint32_t i = 0; i < r->count; i++) {
        out[i] = s.acc[0] + i * 16;
        memcpy(out[i], (char *)f->bufs[r->temp] + i * 16, 16);
    }
    for (uint64_t c = 1; c < chunks; c++) {
        for (uint32_t i = 0; i < r->count; i++)
            x[i] = (char *)f->bufs[r->temp] + (c * r->count + i) * 16;
        combine(f, &s, out, x, 1);
    }
    store(f, &s, out, 0, 1);
}

/* ---- columns ---- */

static int64_t column_width(const struct fold *f)
{
    int64_t most = f->r->count > 1 || f->r->simple < 0 ? ACC / 32 : ACC / 2;
    int64_t tile = (int64_t)f->r->prog->tile;

    tile = tile < most ? tile : most;
    if (f->r->simple < 0 && tile > (int64_t)f->r->body->prog.tile)
        tile = (int64_t)f->r->body->prog.tile;
    return f->inner < tile ? f->inner : tile;
}

/* Adds `rows` rows of the line, each the whole innermost dimension, to acc: several in one tile. */
static void narrow_rows(const struct fold *f, struct scratch *s, char **acc, uint64_t start,
                        int64_t rows, bool more)
{
    const struct stet_reduce *r = f->r;
    stet_tile_fn op = f->k->ops[ctype(r, 0)][r->simple];
    size_t width = stet_dtype_bytes(ctype(r, 0)), inner = (size_t)f->inner;
    int64_t most = 1;

    while (2 * most * f->inner <= (int64_t)r->prog->tile)
        most *= 2;
    while (rows > 0) {
        const char *x;

        while (most > rows)
            most /= 2;
        stet_tile_eval(r->prog, &s->prog, f->bufs, start, (size_t)most * inner);
        x = s->prog.regs[r->regs[0]];
        for (size_t half = (size_t)most / 2; half; half /= 2) {
            op(s->line[1], x, x + half * inner * width, NULL, half * inner);
            x = s->line[1];
        }
        if (more)
            op(acc[0], acc[0], x, NULL, inner);
        else
            memcpy(acc[0], x, inner * width);
        more = true;
        start += (uint64_t)(most * f->inner);
        rows -= most;
    }
}

/* Part `chunk` of what is folded into n columns from `first` on of kept row `row`. */
static void fold_columns(const struct fold *f, struct scratch *s, char **acc, int64_t row,
                         int64_t first, size_t n, int64_t chunk)
{
    const struct stet_reduce *r = f->r;
    int64_t base = position(f->kept_rank, f->kept_dims, f->kept_steps, row) + first;
    int64_t j = chunk * f->chunk_rows, end = j + f->chunk_rows, begun = j;
    char *x[32];

    end = end < f->outer_folded ? end : f->outer_folded;
    if (r->simple >= 0 && n == (size_t)f->inner && f->fold_rank == 1 &&
        f->fold_steps[0] == f->inner) {
        narrow_rows(f, s, acc, (uint64_t)(base + j * f->inner), end - j, false);
        return;
    }
    for (; j < end; j++) {
        int64_t at = base + position(f->fold_rank, f->fold_dims, f->fold_steps, j);

        stet_tile_eval(r->prog, &s->prog, f->bufs, (uint64_t)at, n);
        registers(f, s, 0, x);
        if (j > begun)
            combine(f, s, acc, x, n);
        else
            for (uint32_t i = 0; i < r->count; i++)
                memcpy(acc[i], x[i], n * stet_dtype_bytes(ctype(r, i)));
    }
}

/* Where the folded columns of a part are kept until all parts are there. */
static char *part_of(const struct fold *f, uint32_t operand, int64_t chunk, int64_t at)
{
    const struct stet_reduce *r = f->r;
    size_t width = stet_dtype_bytes(ctype(r, operand));

    return (char *)f->bufs[r->temp] +
           ((uint64_t)(chunk * r->count + operand) * (uint64_t)r->kept * 16 + (uint64_t)at * width);
}

static void store_columns(const struct fold *f, struct scratch *s, char *const *acc, int64_t at,
                          size_t n)
{
    for (size_t k = 0; k < n; k += ACC / 32) {
        char *some[32];

        for (uint32_t i = 0; i < f->r->count; i++)
            some[i] = acc[i] + k * stet_dtype_bytes(ctype(f->r, i));
        store(f, s, some, at + (int64_t)k, n - k < ACC / 32 ? n - k : ACC / 32);
    }
}

static void columns_task(void *context, uint64_t task)
{
    const struct fold *f = context;
    const struct stet_reduce *r = f->r;
    int64_t width = column_width(f), tiles = (f->inner + width - 1) / width;
    struct scratch s;
    char *acc[32];

    begin(f, &s);
    STET_KNOWN(r->count);
    for (uint32_t i = 0; i < r->count; i++)
        acc[i] = s.acc[0] + i * (16 * ACC / 32);
    for (int64_t t = (int64_t)task * f->grain;
         t < ((int64_t)task + 1) * f->grain && t < f->chunks * f->outer_kept * tiles; t++) {
        int64_t chunk = t % f->chunks, row = t / f->chunks / tiles;
        int64_t first = t / f->chunks % tiles * width;
        size_t n = (size_t)(f->inner - first < width ? f->inner - first : width);

        fold_columns(f, &s, acc, row, first, n, chunk);
        if (f->chunks == 1)
            store_columns(f, &s, acc, row * f->inner + first, n);
        else
            for (uint32_t i = 0; i < r->count; i++)
                memcpy(part_of(f, i, chunk, row * f->inner + first), acc[i],
                       n * stet_dtype_bytes(ctype(r, i)));
    }
}

/* All parts of n columns, in order. */
static void join_task(void *context, uint64_t task)
{
    const struct fold *f = context;
    const struct stet_reduce *r = f->r;
    int64_t width = column_width(f), at = (int64_t)task * width;
    size_t n = (size_t)(r->kept - at < width ? r->kept - at : width);
    struct scratch s;
    char *acc[32], *x[32];

    begin(f, &s);
    for (uint32_t i = 0; i < r->count; i++)
        acc[i] = part_of(f, i, 0, at);
    for (int64_t chunk = 1; chunk < f->chunks; chunk++) {
        for (uint32_t i = 0; i < r->count; i++)
            x[i] = part_of(f, i, chunk, at);
        combine(f, &s, acc, x, n);
    }
    store_columns(f, &s, acc, at, n);
}

static void columns(struct fold *f, struct stet_pool *pool)
{
    int64_t width = column_width(f), tasks;

    f->chunk_rows = f->r->chunk ? (int64_t)f->r->chunk : f->outer_folded;
    f->chunks = (f->outer_folded + f->chunk_rows - 1) / f->chunk_rows;
    f->grain = 1 + 16384 / (width * f->chunk_rows + 1);
    tasks = f->chunks * f->outer_kept * ((f->inner + width - 1) / width);
    stet_pool_for(pool, (uint64_t)((tasks + f->grain - 1) / f->grain), columns_task, f);
    if (f->chunks > 1)
        stet_pool_for(pool, (uint64_t)((f->r->kept + width - 1) / width), join_task, f);
}

/* ---- */

static void split_dims(struct fold *f, bool inner_reduced)
{
    const struct stet_reduce *r = f->r;
    int64_t step = 1, steps[STET_MAX_RANK];

    for (uint32_t i = r->rank; i-- > 0;) {
        steps[i] = step;
        step *= r->dims[i];
    }
    f->outer_kept = f->outer_folded = 1;
    for (uint32_t i = 0; i < r->rank; i++) {
        if (i + 1 == r->rank && r->reduced[i] == inner_reduced)
            continue;
        if (r->reduced[i]) {
            f->fold_dims[f->fold_rank] = r->dims[i];
            f->fold_steps[f->fold_rank++] = steps[i];
            f->outer_folded *= r->dims[i];
        } else {
            f->kept_dims[f->kept_rank] = r->dims[i];
            f->kept_steps[f->kept_rank++] = steps[i];
            f->outer_kept *= r->dims[i];
        }
    }
    f->inner = r->rank ? r->dims[r->rank - 1] : 1;
}

/* Nothing to fold: the initial values themselves. */
static void only_inits(const struct stet_reduce *r, void *const *bufs)
{
    for (uint32_t i = 0; i < r->count; i++)
        stet_tile_fill(bufs[r->first_out + i], bufs[r->first_init + i],
                       stet_dtype_bytes(r->types[i]), (size_t)r->kept);
}

static void k_reduce(const void *params, void *const *bufs, struct stet_pool *pool)
{
    const struct stet_reduce *r = params;
    struct fold f = {.r = r, .bufs = bufs, .k = stet_tile_kernels()};
    bool rows = r->rank == 0 || r->reduced[r->rank - 1];
    int64_t tasks = 0;

    if (r->kept == 0)
        return;
    if (r->folded == 0) {
        only_inits(r, bufs);
        return;
    }
    split_dims(&f, rows);
    if (rows && r->chunk) {
        long_row(&f, pool);
        return;
    }
    if (rows) {
        f.grain = 1 + 16384 / (r->folded + 1);
        tasks = (f.outer_kept + f.grain - 1) / f.grain;
        stet_pool_for(pool, (uint64_t)tasks, rows_task, &f);
        return;
    }
    columns(&f, pool);
}

const struct stet_kernel stet_kernel_reduce = {"reduce", k_reduce};
