/* Finds fields of the current instruction by their numbers (hlo_fields.def). */
#include "decode/hlo/hlo_proto_attr.h"

const struct stet_proto_field *stet_decode_hlo_field(const struct stet_hlo_reader *r,
                                                     uint32_t number)
{
    for (size_t i = r->field_count; i-- > 0;)
        if (r->fields[i].number == number)
            return &r->fields[i];
    return NULL;
}

int64_t stet_decode_hlo_number(struct stet_hlo_reader *r, uint32_t field)
{
    const struct stet_proto_field *f = stet_decode_hlo_field(r, field);

    return f ? stet_proto_int(&r->fault, f) : 0;
}

struct stet_view stet_decode_hlo_field_text(struct stet_hlo_reader *r, uint32_t field)
{
    const struct stet_proto_field *f = stet_decode_hlo_field(r, field);

    return f ? stet_proto_text(&r->fault, f) : (struct stet_view){0};
}

struct stet_ints stet_decode_hlo_ints_in(struct stet_hlo_reader *r, struct stet_arena *a,
                                         uint32_t field)
{
    struct stet_ints v = {0};

    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].number == field)
            stet_proto_ints(&r->fault, &r->fields[i], a, &v);
    return v;
}

struct stet_ints stet_decode_hlo_ints(struct stet_hlo_reader *r, uint32_t field)
{
    return stet_decode_hlo_ints_in(r, r->b.a, field);
}

struct stet_ints stet_decode_hlo_inner_of(struct stet_hlo_reader *r, const struct stet_proto *in,
                                          const struct stet_proto_field *outer, uint32_t inner)
{
    struct stet_proto m = stet_proto_sub(in, outer);
    struct stet_ints v = {0};
    struct stet_proto_field g;

    while (stet_proto_next(&m, &g))
        if (g.number == inner)
            stet_proto_ints(&r->fault, &g, r->b.a, &v);
    return v;
}

struct stet_ints stet_decode_hlo_inner(struct stet_hlo_reader *r, const struct stet_proto *in,
                                       uint32_t outer, uint32_t inner)
{
    const struct stet_proto_field *f = stet_decode_hlo_field(r, outer);

    return f ? stet_decode_hlo_inner_of(r, in, f, inner) : (struct stet_ints){0};
}

int64_t stet_decode_hlo_inner_number(struct stet_hlo_reader *r, const struct stet_proto *in,
                                     uint32_t outer, uint32_t inner)
{
    struct stet_ints v = stet_decode_hlo_inner(r, in, outer, inner);

    return v.count ? v.at[v.count - 1] : 0;
}

void stet_decode_hlo_join(struct stet_buf *out, const char *open, const struct stet_ints *v,
                          const char *close)
{
    stet_buf_str(out, open);
    for (uint32_t i = 0; i < v->count; i++)
        stet_buf_printf(out, "%s%lld", i ? "," : "", (long long)v->at[i]);
    stet_buf_str(out, close);
}
