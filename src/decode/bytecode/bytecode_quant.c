/* Quantized types, and attributes and types that the file stores as assembly text. */
#include "decode/bytecode/bytecode.h"

#include "base/buf.h"
#include "decode/mlir/mlir.h"

static double read_double(struct stet_reader *r)
{
    uint64_t bits = (uint64_t)bc_signed(r);
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

static void add_parameter(struct stet_buf *out, double scale, int64_t zero_point)
{
    stet_buf_printf(out, "%e", scale);
    if (zero_point)
        stet_buf_printf(out, ":%lld", (long long)zero_point);
}

static void add_storage(struct stet_buf *out, uint64_t flags, uint32_t width, int64_t low,
                        int64_t high)
{
    bool is_signed = flags & 1;
    uint32_t w = width > 62 ? 62 : width;
    int64_t least = is_signed && w ? -((int64_t)1 << (w - 1)) : 0;
    int64_t most = is_signed && w ? ((int64_t)1 << (w - 1)) - 1 : ((int64_t)1 << w) - 1;

    stet_buf_printf(out, ".uniform<%c%u", is_signed ? 'i' : 'u', width);
    if (low != least || high != most)
        stet_buf_printf(out, "<%lld:%lld>", (long long)low, (long long)high);
}

/* Scales, then zero points, as two lists; in text they are in pairs. */
static void add_axis(struct stet_buf *out, struct stet_reader *r)
{
    size_t n = bc_count(r), zeros;
    struct stet_reader scales = *r;

    for (size_t i = 0; i < n; i++)
        read_double(r);
    zeros = bc_count(r);
    if (zeros != n)
        stet_reader_fail(r, "as many zero points as scales are expected");
    stet_buf_char(out, '{');
    for (size_t i = 0; i < n && stet_reader_ok(r); i++) {
        if (i)
            stet_buf_char(out, ',');
        add_parameter(out, read_double(&scales), bc_signed(r));
    }
    stet_buf_char(out, '}');
}

/* The expressed type is a float, whose name is its text. */
static struct stet_view expressed_name(const struct stet_type *t)
{
    return stet_view_str(t->kind == STET_TYPE_FLOAT ? stet_float_name(t->flavour) : "?");
}

const struct stet_type *stet_decode_bc_quant_type(struct bc *b, struct stet_reader *r,
                                                  bool per_axis)
{
    struct stet_type *t = stet_decode_bc_new_type(b, STET_TYPE_QUANTIZED);
    struct stet_buf text = STET_BUF_INIT;
    struct stet_view kept;
    uint64_t flags = bc_varint(r), axis = 0;
    const struct stet_type *storage = bc_type(b, r), *expressed = bc_type(b, r);
    double scale = 0;
    int64_t zero = 0, low, high;

    if (per_axis) {
        axis = bc_varint(r);
    } else {
        scale = read_double(r);
        zero = bc_signed(r);
    }
    low = bc_signed(r);
    high = bc_signed(r);
    add_storage(&text, flags, storage->width, low, high);
    stet_buf_printf(&text, ":%.*s", STET_FMT(expressed_name(expressed)));
    if (per_axis)
        stet_buf_printf(&text, ":%llu", (unsigned long long)axis);
    stet_buf_str(&text, ", ");
    if (per_axis)
        add_axis(&text, r);
    else
        add_parameter(&text, scale, zero);
    stet_buf_char(&text, '>');
    t->element = storage;
    kept = stet_arena_copy(b->arena, stet_buf_as_view(&text));
    stet_decode_bc_set_rest(b, t,
                            &(struct stet_type_rest){.dialect = STET_VIEW("quant"), .text = kept});
    if (text.failed || !kept.ptr)
        stet_decode_bc_fail(b, STET_NO_MEMORY, STET_NO_OFFSET, "out of memory");
    stet_buf_release(&text);
    return t;
}

/* ---- assembly text ---- */

/* Text that the MLIR reader understands becomes an attribute or type; other text is kept and
 * compared as text. */
const struct stet_attr *stet_decode_bc_text_attr(struct bc *b, const struct bc_dialect *d,
                                                 struct stet_view text)
{
    const struct stet_attr *read;
    struct stet_attr *a;

    if (bc_ok(b) && text.len && stet_mlir_parse_attr(b->arena, text, &read, NULL) == STET_OK)
        return read;
    a = stet_decode_bc_new_attr(b, STET_ATTR_OPAQUE);
    a->of.name = stet_build_name(b->arena, d->name, (struct stet_view){0});
    stet_attr_set_text(a, text);
    return a;
}

const struct stet_type *stet_decode_bc_text_type(struct bc *b, const struct bc_dialect *d,
                                                 struct stet_view text)
{
    const struct stet_type *read;
    struct stet_type *t;

    if (bc_ok(b) && text.len && stet_mlir_parse_type(b->arena, text, &read, NULL) == STET_OK)
        return read;
    t = stet_decode_bc_new_type(b, STET_TYPE_OPAQUE);
    stet_decode_bc_set_rest(b, t, &(struct stet_type_rest){.dialect = d->name, .text = text});
    return t;
}
