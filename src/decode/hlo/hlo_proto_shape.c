/* ShapeProto and LayoutProto → types. */
#include "decode/hlo/hlo_proto.h"

static const char *const primitives[] = {
#define PRIMITIVE(name, text, number) [number] = text,
#include "decode/hlo_fields.def"
};

const char *stet_decode_hlo_primitive(uint64_t number)
{
    return number < sizeof primitives / sizeof *primitives ? primitives[number] : NULL;
}

struct stet_view stet_decode_hlo_keep(struct stet_hlo_reader *r)
{
    struct stet_view v = stet_arena_copy(r->b.a, stet_buf_as_view(&r->scratch));

    if (r->scratch.failed)
        r->b.a->failed = true;
    r->scratch.len = 0;
    return v;
}

static void join(struct stet_buf *out, const struct stet_ints *v)
{
    for (uint32_t i = 0; i < v->count; i++)
        stet_buf_printf(out, "%s%lld", i ? "," : "", (long long)v->at[i]);
}

static void tile(struct stet_hlo_reader *r, const struct stet_proto *in,
                 const struct stet_proto_field *f)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_proto_field g;
    struct stet_ints dims = {0};

    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_TILE_DIMENSIONS)
            stet_proto_ints(&r->fault, &g, r->b.a, &dims);
    stet_buf_char(&r->scratch, '(');
    for (uint32_t i = 0; i < dims.count; i++) {
        if (i)
            stet_buf_char(&r->scratch, ',');
        if (dims.at[i] == INT64_MIN) /* Tile::kCombineDimension */
            stet_buf_char(&r->scratch, '*');
        else
            stet_buf_printf(&r->scratch, "%lld", (long long)dims.at[i]);
    }
    stet_buf_char(&r->scratch, ')');
}

static void split(struct stet_hlo_reader *r, const struct stet_proto *in,
                  const struct stet_proto_field *f)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_proto_field g;
    struct stet_ints at = {0};
    int64_t dimension = 0;

    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_SPLIT_DIMENSION)
            dimension = stet_proto_int(&r->fault, &g);
        else if (g.number == STET_HLO_SPLIT_SPLIT_INDICES)
            stet_proto_ints(&r->fault, &g, r->b.a, &at);
    stet_buf_printf(&r->scratch, "(%lld:", (long long)dimension);
    join(&r->scratch, &at);
    stet_buf_char(&r->scratch, ')');
}

static void primitive_note(struct stet_hlo_reader *r, char mark, uint64_t type)
{
    const char *name = stet_decode_hlo_primitive(type);

    if (type)
        stet_buf_printf(&r->scratch, "%c(%s)", mark,
                        name && (*name == 's' || *name == 'u') ? name : "invalid");
}

/* Everything after the colon in XLA's text, in its order (Layout::Print). */
static void layout_extra(struct stet_hlo_reader *r, const struct stet_proto *in,
                         const struct stet_proto_field *f, const struct stet_type *physical)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_proto_field g;
    int64_t tail = 1, bits = 0, space = 0, prefix = 0;
    uint64_t index = 0, pointer = 0;
    bool tiles = false, splits = false;

    while (stet_proto_next(&m, &g))
        switch (g.number) {
        case STET_HLO_LAYOUT_TILES:
            if (!tiles)
                stet_buf_char(&r->scratch, 'T');
            tiles = true;
            tile(r, &m, &g);
            break;
        case STET_HLO_LAYOUT_ELEMENT_SIZE_IN_BITS:
            bits = stet_proto_int(&r->fault, &g);
            break;
        case STET_HLO_LAYOUT_MEMORY_SPACE:
            space = stet_proto_int(&r->fault, &g);
            break;
        case STET_HLO_LAYOUT_INDEX_PRIMITIVE_TYPE:
            index = stet_proto_uint(&r->fault, &g);
            break;
        case STET_HLO_LAYOUT_POINTER_PRIMITIVE_TYPE:
            pointer = stet_proto_uint(&r->fault, &g);
            break;
        case STET_HLO_LAYOUT_DYNAMIC_SHAPE_METADATA_PREFIX_BYTES:
            prefix = stet_proto_int(&r->fault, &g);
            break;
        case STET_HLO_LAYOUT_TAIL_PADDING_ALIGNMENT_IN_ELEMENTS:
            tail = stet_proto_int(&r->fault, &g);
            break;
        }
    if (tail != 1 && tail != 0)
        stet_buf_printf(&r->scratch, "L(%lld)", (long long)tail);
    primitive_note(r, '#', index);
    primitive_note(r, '*', pointer);
    if (bits)
        stet_buf_printf(&r->scratch, "E(%lld)", (long long)bits);
    if (space)
        stet_buf_printf(&r->scratch, "S(%lld)", (long long)space);
    m = stet_proto_sub(in, f);
    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_LAYOUT_SPLIT_CONFIGS) {
            if (!splits)
                stet_buf_str(&r->scratch, "SC");
            splits = true;
            split(r, &m, &g);
        }
    if (physical) {
        stet_buf_str(&r->scratch, "P(");
        stet_print_hlo_type(&r->scratch, physical, true);
        stet_buf_char(&r->scratch, ')');
    }
    if (prefix)
        stet_buf_printf(&r->scratch, "M(%lld)", (long long)prefix);
}

static void layout(struct stet_hlo_reader *r, const struct stet_proto *in,
                   const struct stet_proto_field *f, struct stet_type *t)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_type_rest rest = *stet_type_rest(t);
    struct stet_proto_field g;
    struct stet_ints order = {0};
    const struct stet_type *physical = NULL;
    bool extra = false;

    while (stet_proto_next(&m, &g)) {
        if (g.number == STET_HLO_LAYOUT_MINOR_TO_MAJOR)
            stet_proto_ints(&r->fault, &g, r->b.a, &order);
        else if (g.number == STET_HLO_LAYOUT_PHYSICAL_SHAPE)
            physical = stet_decode_hlo_shape(r, &m, &g);
        extra |= g.number != STET_HLO_LAYOUT_MINOR_TO_MAJOR &&
                 !(g.number == STET_HLO_LAYOUT_TAIL_PADDING_ALIGNMENT_IN_ELEMENTS && g.value <= 1);
    }
    if (order.count != t->rank) {
        stet_proto_fail(&r->fault, STET_BAD_INPUT, f->offset,
                        "a layout has not as many entries as its shape has dimensions");
        return;
    }
    if (t->rank || extra) /* the layout of a scalar has no meaning, and text does not show it */
        rest.layout = order.at ? order.at : STET_NEW_ARRAY(r->b.a, int64_t, 1);
    if (extra) {
        r->scratch.len = 0;
        layout_extra(r, in, f, physical);
        rest.layout_extra = stet_decode_hlo_keep(r);
        if (!t->rank && !rest.layout_extra.len)
            rest.layout = NULL;
    }
    if (rest.layout)
        stet_build_rest(r->b.a, t, &rest);
}

static void dimensions(struct stet_hlo_reader *r, struct stet_type *t, const struct stet_ints *dims,
                       const struct stet_ints *dynamic)
{
    int64_t *bounds = NULL;

    t->rank = dims->count;
    t->dims = dims->at;
    for (uint32_t i = 0; i < dims->count; i++) {
        if (i >= dynamic->count || !dynamic->at[i]) {
            if (dims->at[i] < 0 && dims->at[i] != STET_DYNAMIC)
                stet_proto_fail(&r->fault, STET_BAD_INPUT, 0, "a shape has a negative dimension");
            continue;
        }
        if (dims->at[i] == STET_DYNAMIC)
            continue;
        if (!bounds) {
            bounds = STET_NEW_ARRAY(r->b.a, int64_t, dims->count);
            if (!bounds)
                return;
            for (uint32_t k = 0; k < dims->count; k++)
                bounds[k] = STET_DYNAMIC;
        }
        bounds[i] = dims->at[i];
        dims->at[i] = STET_DYNAMIC;
    }
    if (bounds)
        stet_build_rest(r->b.a, t, &(struct stet_type_rest){.bounds = bounds});
}

static void finish_shape(struct stet_hlo_reader *r, struct stet_type *t, uint64_t element,
                         struct stet_build_list *members, uint64_t where)
{
    const char *name = stet_decode_hlo_primitive(element);

    switch (element) {
    case STET_HLO_PRIMITIVE_TUPLE:
        t->kind = STET_TYPE_TUPLE;
        t->rank = 0; /* ignores other fields that a tuple's shape may have */
        t->member_count = (uint32_t)members->count;
        t->members = stet_build_list_keep(members, r->b.a);
        break;
    case STET_HLO_PRIMITIVE_OPAQUE:
        t->kind = STET_TYPE_OPAQUE;
        stet_build_rest(
            r->b.a, t,
            &(struct stet_type_rest){.dialect = STET_VIEW("hlo"), .text = STET_VIEW("opaque[]")});
        break;
    case STET_HLO_PRIMITIVE_TOKEN:
        t->kind = STET_TYPE_TOKEN;
        break;
    case STET_HLO_PRIMITIVE_BUFFER:
        t->kind = STET_TYPE_MEMREF;
        t->element = members->count ? members->items[0] : NULL;
        if (!t->element)
            stet_proto_fail(&r->fault, STET_BAD_INPUT, where, "a buffer shape without contents");
        break;
    default:
        t->kind = STET_TYPE_TENSOR;
        t->element = name ? stet_hlo_element(r->b.a, stet_view_str(name)) : NULL;
        if (!name)
            stet_proto_fail(&r->fault, STET_UNSUPPORTED, where, "unknown element type");
    }
}

static struct stet_type *read_shape(struct stet_hlo_reader *r, const struct stet_proto *in,
                                    const struct stet_proto_field *f)
{
    struct stet_type *t = STET_NEW(r->b.a, struct stet_type);
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_proto_field g, layout_field = {0};
    struct stet_ints dims = {0}, dynamic = {0};
    struct stet_build_list members = {0};
    uint64_t element = 0;

    if (!t)
        return NULL;
    while (stet_proto_next(&m, &g))
        switch (g.number) {
        case STET_HLO_SHAPE_ELEMENT_TYPE:
            element = stet_proto_uint(&r->fault, &g);
            break;
        case STET_HLO_SHAPE_DIMENSIONS:
            stet_proto_ints(&r->fault, &g, r->b.a, &dims);
            break;
        case STET_HLO_SHAPE_TUPLE_SHAPES:
            stet_build_list_add(&members, stet_decode_hlo_shape(r, &m, &g));
            break;
        case STET_HLO_SHAPE_LAYOUT:
            layout_field = g;
            break;
        case STET_HLO_SHAPE_IS_DYNAMIC_DIMENSION:
            stet_proto_ints(&r->fault, &g, r->b.a, &dynamic);
            break;
        }
    dimensions(r, t, &dims, &dynamic);
    finish_shape(r, t, element, &members, f->offset);
    if (layout_field.number && t->kind == STET_TYPE_TENSOR)
        layout(r, &m, &layout_field, t);
    r->b.a->failed |= members.failed;
    stet_build_list_release(&members);
    return t;
}

const struct stet_type *stet_decode_hlo_shape(struct stet_hlo_reader *r,
                                              const struct stet_proto *in,
                                              const struct stet_proto_field *f)
{
    const struct stet_type *t = stet_decode_hlo_recall(&r->b, f->whole);

    if (t)
        return t;
    t = read_shape(r, in, f);
    if (!t || r->fault.rc != STET_OK || r->b.a->failed)
        return NULL;
    stet_decode_hlo_remember(&r->b, f->whole, t);
    return t;
}

const struct stet_type *stet_decode_hlo_program_shape(struct stet_hlo_reader *r,
                                                      const struct stet_proto *in,
                                                      const struct stet_proto_field *f)
{
    struct stet_type *t = STET_NEW(r->b.a, struct stet_type);
    struct stet_proto m = stet_proto_sub(in, f);
    const struct stet_type *result = NULL;
    struct stet_build_list members = {0};
    struct stet_proto_field g;

    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_PROGRAM_SHAPE_PARAMETERS)
            stet_build_list_add(&members, stet_decode_hlo_shape(r, &m, &g));
        else if (g.number == STET_HLO_PROGRAM_SHAPE_RESULT)
            result = stet_decode_hlo_shape(r, &m, &g);
    if (t) {
        t->kind = STET_TYPE_FUNCTION;
        t->input_count = (uint32_t)members.count;
        stet_build_list_add(&members, result);
        t->member_count = t->input_count + 1;
        t->members = stet_build_list_keep(&members, r->b.a);
    }
    if (!result)
        stet_proto_fail(&r->fault, STET_BAD_INPUT, f->offset, "a program shape without result");
    r->b.a->failed |= members.failed;
    stet_build_list_release(&members);
    return t && r->fault.rc == STET_OK && !r->b.a->failed ? t : NULL;
}
