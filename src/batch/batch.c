/* Copies with conversion, a row at a time. */
#include "batch/batch.h"

#include <limits.h>
#include <string.h>

static const unsigned char sizes[STET_BATCH_TYPES] = {
    [STET_BATCH_BOOL] = 1, [STET_BATCH_I8] = 1,   [STET_BATCH_I16] = 2,  [STET_BATCH_I32] = 4,
    [STET_BATCH_I64] = 8,  [STET_BATCH_U8] = 1,   [STET_BATCH_U16] = 2,  [STET_BATCH_U32] = 4,
    [STET_BATCH_U64] = 8,  [STET_BATCH_F32] = 4,  [STET_BATCH_F64] = 8,  [STET_BATCH_RAW1] = 1,
    [STET_BATCH_RAW2] = 2, [STET_BATCH_RAW4] = 4, [STET_BATCH_RAW8] = 8, [STET_BATCH_RAW16] = 16,
};

static bool is_float(enum stet_batch_type t)
{
    return t == STET_BATCH_F32 || t == STET_BATCH_F64;
}

static bool is_unsigned(enum stet_batch_type t)
{
    return t >= STET_BATCH_U8 && t <= STET_BATCH_U64;
}

/* Numbers become numbers, but a float never becomes an integer, and only truth values become truth
 * values: what would be lost cannot be seen later. */
static bool converts(enum stet_batch_type out, enum stet_batch_type in)
{
    if (out == in)
        return true;
    if (out >= STET_BATCH_RAW1 || in >= STET_BATCH_RAW1 || out == STET_BATCH_BOOL)
        return false;
    return is_float(out) || !is_float(in);
}

/* ---- rows ---- */

/* Common pairs have loops of their own, which the compiler makes vectors of. */
static bool narrow_i64(int32_t *out, const int64_t *in, int64_t n)
{
    int64_t outside = 0;

    for (int64_t i = 0; i < n; i++) {
        out[i] = (int32_t)in[i];
        outside |= in[i] ^ out[i];
    }
    return !outside;
}

static void narrow_f64(float *out, const double *in, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)in[i];
}

static int64_t read_int(enum stet_batch_type t, const char *p)
{
    int8_t a;
    int16_t b;
    int32_t c;
    int64_t d;

    switch (sizes[t]) {
    case 1:
        memcpy(&a, p, 1);
        return is_unsigned(t) ? (int64_t)(uint8_t)a : t == STET_BATCH_BOOL ? a != 0 : a;
    case 2:
        memcpy(&b, p, 2);
        return is_unsigned(t) ? (int64_t)(uint16_t)b : b;
    case 4:
        memcpy(&c, p, 4);
        return is_unsigned(t) ? (int64_t)(uint32_t)c : c;
    default:
        memcpy(&d, p, 8);
        return d;
    }
}

static double read_float(enum stet_batch_type t, const char *p)
{
    float f;
    double d;
    int64_t i;

    if (t == STET_BATCH_F32) {
        memcpy(&f, p, 4);
        return (double)f;
    }
    if (t == STET_BATCH_F64) {
        memcpy(&d, p, 8);
        return d;
    }
    i = read_int(t, p);
    return t == STET_BATCH_U64 ? (double)(uint64_t)i : (double)i;
}

static void write_float(enum stet_batch_type t, char *p, double v)
{
    float f = (float)v;

    if (t == STET_BATCH_F32)
        memcpy(p, &f, 4);
    else
        memcpy(p, &v, 8);
}

/* False if the value does not fit. A 64-bit value without a sign is passed by its bits. */
static bool write_int(enum stet_batch_type t, char *p, int64_t v, bool without_sign)
{
    unsigned bits = 8u * sizes[t];
    bool fits;

    if (without_sign && v < 0)
        fits = t == STET_BATCH_U64;
    else if (is_unsigned(t))
        fits = v >= 0 && (bits == 64 || v < (int64_t)1 << bits);
    else
        fits = bits == 64 || (v >= -((int64_t)1 << (bits - 1)) && v < (int64_t)1 << (bits - 1));
    memcpy(p, &v, sizes[t]); /* little-endian: the low bytes */
    return fits;
}

static bool convert(enum stet_batch_type out_type, char *out, enum stet_batch_type in_type,
                    const char *in, int64_t stride, int64_t n)
{
    bool fits = true;

    for (int64_t i = 0; i < n; i++, in += stride, out += sizes[out_type]) {
        if (is_float(out_type))
            write_float(out_type, out, read_float(in_type, in));
        else
            fits &= write_int(out_type, out, read_int(in_type, in), in_type == STET_BATCH_U64);
    }
    return fits;
}

static bool copy_row(enum stet_batch_type out_type, char *out, enum stet_batch_type in_type,
                     const char *in, int64_t stride, int64_t n)
{
    bool dense = stride == sizes[in_type];

    if (!n)
        return true;
    if (out_type == in_type && dense) {
        memcpy(out, in, (size_t)n * sizes[out_type]);
        return true;
    }
    if (out_type == in_type) {
        for (int64_t i = 0; i < n; i++)
            memcpy(out + i * sizes[out_type], in + i * stride, sizes[out_type]);
        return true;
    }
    if (dense && out_type == STET_BATCH_I32 && in_type == STET_BATCH_I64 && !((uintptr_t)in % 8) &&
        !((uintptr_t)out % 4))
        return narrow_i64((int32_t *)(void *)out, (const int64_t *)(const void *)in, n);
    if (dense && out_type == STET_BATCH_F32 && in_type == STET_BATCH_F64 && !((uintptr_t)in % 8) &&
        !((uintptr_t)out % 4)) {
        narrow_f64((float *)(void *)out, (const double *)(const void *)in, n);
        return true;
    }
    return convert(out_type, out, in_type, in, stride, n);
}

static void fill_rest(char *out, int64_t n, size_t size, const void *fill)
{
    if (n <= 0)
        return;
    if (!fill) {
        memset(out, 0, (size_t)n * size);
        return;
    }
    memcpy(out, fill, size);
    for (int64_t done = 1; done < n;) { /* doubles what is there */
        int64_t more = done < n - done ? done : n - done;

        memcpy(out + (size_t)done * size, out, (size_t)more * size);
        done += more;
    }
}

/* ---- arrays ---- */

struct copying {
    int64_t out_dims[STET_BATCH_RANK], in_dims[STET_BATCH_RANK], strides[STET_BATCH_RANK];
    int64_t below[STET_BATCH_RANK]; /* elements of one step of each dimension of `out` */
    int rank;
    enum stet_batch_type out_type, in_type;
    const void *fill;
};

/* Makes one dimension of two where nothing is padded between them. */
static void merge_dims(struct copying *c)
{
    while (c->rank >= 2) {
        int last = c->rank - 1;

        if (c->in_dims[last] != c->out_dims[last] ||
            c->strides[last - 1] != c->strides[last] * c->in_dims[last])
            return;
        c->in_dims[last - 1] *= c->in_dims[last];
        c->out_dims[last - 1] *= c->out_dims[last];
        c->strides[last - 1] = c->strides[last];
        c->rank--;
    }
}

static bool copy_level(const struct copying *c, int level, char *out, const char *in)
{
    size_t size = sizes[c->out_type];
    int64_t n = c->in_dims[level], below = c->below[level];
    bool fits = true;

    if (level == c->rank - 1)
        fits = copy_row(c->out_type, out, c->in_type, in, c->strides[level], n);
    else
        for (int64_t i = 0; i < n; i++)
            fits &= copy_level(c, level + 1, out + (size_t)(i * below) * size,
                               in + i * c->strides[level]);
    fill_rest(out + (size_t)(n * below) * size, (c->out_dims[level] - n) * below, size, c->fill);
    return fits;
}

enum stet_batch_answer stet_batch_pad(void *out, const int64_t *dims, int rank,
                                      enum stet_batch_type out_type,
                                      const struct stet_batch_array *in,
                                      enum stet_batch_type in_type, const void *fill)
{
    struct copying c = {
        .rank = rank ? rank : 1, .out_type = out_type, .in_type = in_type, .fill = fill};

    if (rank < 0 || rank > STET_BATCH_RANK || out_type >= STET_BATCH_TYPES ||
        in_type >= STET_BATCH_TYPES)
        return STET_BATCH_SHAPE;
    if (!converts(out_type, in_type))
        return STET_BATCH_TYPE;
    if (!rank) {
        c.out_dims[0] = c.in_dims[0] = 1;
        c.strides[0] = sizes[in_type];
    }
    for (int d = 0; d < rank; d++) {
        c.out_dims[d] = dims[d];
        c.in_dims[d] = in->dims[d];
        c.strides[d] = in->strides[d];
        if (c.in_dims[d] < 0 || c.in_dims[d] > c.out_dims[d])
            return STET_BATCH_SHAPE;
    }
    merge_dims(&c);
    c.below[c.rank - 1] = 1;
    for (int d = c.rank - 1; d > 0; d--)
        c.below[d - 1] = c.below[d] * c.out_dims[d];
    return copy_level(&c, 0, out, in->data) ? STET_BATCH_FINE : STET_BATCH_RANGE;
}

enum stet_batch_answer stet_batch_rows(void *out, int64_t rows, int64_t length, int64_t inner,
                                       enum stet_batch_type out_type, const void *const *data,
                                       const int64_t *lengths, int64_t count,
                                       enum stet_batch_type in_type, const void *fill)
{
    size_t size;
    char *at = out;
    bool fits = true;

    if (out_type >= STET_BATCH_TYPES || in_type >= STET_BATCH_TYPES || count > rows || inner < 0)
        return STET_BATCH_SHAPE;
    if (!converts(out_type, in_type))
        return STET_BATCH_TYPE;
    size = sizes[out_type];
    for (int64_t i = 0; i < count; i++, at += (size_t)(length * inner) * size) {
        if (lengths[i] < 0 || lengths[i] > length)
            return STET_BATCH_SHAPE;
        fits &= copy_row(out_type, at, in_type, data[i], sizes[in_type], lengths[i] * inner);
        fill_rest(at + (size_t)(lengths[i] * inner) * size, (length - lengths[i]) * inner, size,
                  fill);
    }
    fill_rest(at, (rows - count) * length * inner, size, fill);
    return fits ? STET_BATCH_FINE : STET_BATCH_RANGE;
}

enum stet_batch_answer stet_batch_mask(void *out, int64_t rows, int64_t length,
                                       enum stet_batch_type type, const int64_t *lengths,
                                       int64_t count)
{
    char one[16] = {0}, *at = out;
    size_t size;

    if (type >= STET_BATCH_RAW1 || count > rows)
        return STET_BATCH_TYPE;
    size = sizes[type];
    if (is_float(type))
        write_float(type, one, 1);
    else
        one[0] = 1;
    for (int64_t i = 0; i < rows; i++, at += (size_t)length * size) {
        int64_t n = i < count ? lengths[i] : 0;

        if (n < 0 || n > length)
            return STET_BATCH_SHAPE;
        fill_rest(at, n, size, one);
        fill_rest(at + (size_t)n * size, length - n, size, NULL);
    }
    return STET_BATCH_FINE;
}
