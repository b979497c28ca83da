/* Short forms of types, attributes and operations for messages; src/program prints the exact ones.
 */
#include "explain/words.h"

#include "base/hash.h"
#include "fingerprint/scalar.h"
#include "program/hlo.h"
#include "program/print.h"
#include "program/print_hlo.h"

enum { LONGEST = 240, MOST_ITEMS = 8, DEEPEST = 8 };

void stet_words_dtype(struct stet_buf *out, const struct stet_type *t)
{
    if (!t) {
        stet_buf_str(out, "none");
        return;
    }
    switch (t->kind) {
    case STET_TYPE_INTEGER:
    case STET_TYPE_FLOAT:
    case STET_TYPE_INDEX:
        stet_print_scalar(out, t);
        break;
    case STET_TYPE_COMPLEX:
        stet_buf_str(out, "complex<");
        stet_words_dtype(out, t->element);
        stet_buf_char(out, '>');
        break;
    case STET_TYPE_TENSOR:
    case STET_TYPE_UNRANKED:
    case STET_TYPE_MEMREF:
    case STET_TYPE_UNRANKED_MEMREF:
    case STET_TYPE_VECTOR:
        stet_words_dtype(out, t->element);
        break;
    case STET_TYPE_TOKEN:
        stet_buf_str(out, "token");
        break;
    default:
        stet_buf_printf(out, "%.*s", STET_FMT(stet_type_rest(t)->text));
        break;
    }
}

static void type_at(struct stet_buf *out, const struct stet_type *t, int depth)
{
    if (t && t->kind == STET_TYPE_TUPLE && depth < DEEPEST) {
        stet_buf_char(out, '(');
        for (uint32_t i = 0; i < t->member_count && i < MOST_ITEMS; i++) {
            stet_buf_str(out, i ? ", " : "");
            type_at(out, t->members[i], depth + 1);
        }
        stet_buf_str(out, t->member_count > MOST_ITEMS ? ", …)" : ")");
        return;
    }
    stet_words_dtype(out, t);
    if (!t ||
        (t->kind != STET_TYPE_TENSOR && t->kind != STET_TYPE_MEMREF && t->kind != STET_TYPE_VECTOR))
        return;
    stet_print_dims(out, t);
}

void stet_words_type(struct stet_buf *out, const struct stet_type *t)
{
    type_at(out, t, 0);
}

struct stet_view stet_words_mnemonic(const struct stet_op *op)
{
    struct stet_view name = stet_op_name(op);
    const char *dot = name.len ? memchr(name.ptr, '.', name.len) : NULL;

    return dot ? stet_view_of(dot + 1, (size_t)(name.ptr + name.len - dot) - 1) : name;
}

/* ---- attributes ---- */

static void number(struct stet_buf *out, const struct stet_type *element, const char *bytes,
                   size_t size)
{
    struct stet_scalar s;
    char text[STET_SCALAR_TEXT];

    if (element->kind == STET_TYPE_INTEGER && element->width == 1) {
        stet_buf_str(out, *bytes ? "true" : "false");
    } else if (element->kind == STET_TYPE_COMPLEX) {
        stet_buf_char(out, '(');
        number(out, element->element, bytes, size / 2);
        stet_buf_str(out, ", ");
        number(out, element->element, bytes + size / 2, size / 2);
        stet_buf_char(out, ')');
    } else if (stet_scalar_read(&s, element, stet_view_of(bytes, size))) {
        stet_scalar_format(&s, text);
        stet_buf_str(out, text);
    } else {
        for (size_t i = size; i-- > 0;)
            stet_buf_printf(out, "%02x", (unsigned char)bytes[i]);
    }
}

/* Elements in a row; long ones as a hash, since they are weights or tables. */
static void elements(struct stet_buf *out, const struct stet_attr *a,
                     const struct stet_type *element)
{
    size_t size = element ? stet_type_storage_bits(element) / 8 : 0;
    size_t count = size ? stet_attr_bytes(a).len / size : 0;

    if (count == 1) {
        number(out, element, stet_attr_bytes(a).ptr, size);
    } else if (count && count <= MOST_ITEMS) {
        for (size_t i = 0; i < count; i++) {
            stet_buf_str(out, i ? ", " : "[");
            number(out, element, stet_attr_bytes(a).ptr + i * size, size);
        }
        stet_buf_char(out, ']');
    } else if (!stet_attr_bytes(a).len && a->kind == STET_ATTR_RESOURCE) {
        stet_buf_str(out, "(left out)");
    } else if (!stet_attr_bytes(a).len) {
        stet_buf_str(out, "[]");
    } else {
        if (stet_attr_type(a) && a->kind != STET_ATTR_DENSE_ARRAY)
            stet_words_type(out, stet_attr_type(a));
        stet_buf_printf(out, "{%zu bytes, %08x}", stet_attr_bytes(a).len,
                        (unsigned)(stet_hash_bytes(stet_attr_bytes(a)).lo & 0xffffffffu));
    }
}

static void attr_at(struct stet_buf *out, const struct stet_attr *a, int depth);

static void items(struct stet_buf *out, const struct stet_attr *a, int depth)
{
    stet_buf_char(out, '[');
    for (uint32_t i = 0; i < a->count && i < 32; i++) {
        stet_buf_str(out, i ? ", " : "");
        attr_at(out, a->items[i], depth + 1);
    }
    stet_buf_str(out, a->count > 32 ? ", …]" : "]");
}

static bool is_empty(const struct stet_attr *a)
{
    return (a->kind == STET_ATTR_ARRAY || a->kind == STET_ATTR_INTS) && !a->count;
}

/* Shardy's own short forms; everything else as name = value. */
static bool shardy(struct stet_buf *out, const struct stet_attr *a, int depth)
{
    const struct stet_attr *inner;

    if (!stet_view_is(stet_attr_dialect(a), "sdy"))
        return false;
    if (stet_view_is(stet_attr_mnemonic(a), "axis_ref") ||
        stet_view_is(stet_attr_mnemonic(a), "mesh_axis")) {
        inner = stet_attr_field(a, "name");
        stet_buf_printf(out, "\"%.*s\"",
                        STET_FMT(inner ? stet_attr_text(inner) : (struct stet_view){0}));
        inner = stet_attr_field(a, "size");
        if (inner)
            stet_buf_printf(out, "=%lld", (long long)stet_attr_int(inner));
        inner = stet_attr_field(a, "sub_axis_info");
        if (inner)
            attr_at(out, inner, depth + 1);
        return true;
    }
    if (stet_view_is(stet_attr_mnemonic(a), "sharding")) {
        stet_buf_char(out, '<');
        attr_at(out, stet_attr_field(a, "mesh_or_ref"), depth + 1);
        stet_buf_str(out, ", ");
        attr_at(out, stet_attr_field(a, "dim_shardings"), depth + 1);
        for (uint32_t i = 2; i < a->count; i++) {
            if (is_empty(a->named[i].value))
                continue;
            stet_buf_printf(out, ", %.*s = ", STET_FMT(a->named[i].name));
            attr_at(out, a->named[i].value, depth + 1);
        }
        stet_buf_char(out, '>');
        return true;
    }
    if (stet_view_is(stet_attr_mnemonic(a), "dimension_sharding")) {
        inner = stet_attr_field(a, "axes");
        stet_buf_char(out, '{');
        for (uint32_t i = 0; inner && inner->kind == STET_ATTR_ARRAY && i < inner->count; i++) {
            stet_buf_str(out, i ? ", " : "");
            attr_at(out, inner->items[i], depth + 1);
        }
        inner = stet_attr_field(a, "is_closed");
        stet_buf_str(out, inner && !stet_attr_int(inner) ? "?}" : "}");
        return true;
    }
    return false;
}

static void record(struct stet_buf *out, const struct stet_attr *a, int depth)
{
    bool first = true;

    if (shardy(out, a, depth))
        return;
    stet_buf_char(out, '<');
    for (uint32_t i = 0; i < a->count; i++) {
        if (is_empty(a->named[i].value))
            continue;
        stet_buf_printf(out, "%s%.*s = ", first ? "" : ", ", STET_FMT(a->named[i].name));
        attr_at(out, a->named[i].value, depth + 1);
        first = false;
    }
    stet_buf_char(out, '>');
}

static void attr_at(struct stet_buf *out, const struct stet_attr *a, int depth)
{
    bool one;

    if (!a || depth > DEEPEST || out->len > 4096) {
        stet_buf_str(out, "…");
        return;
    }
    switch (a->kind) {
    case STET_ATTR_UNIT:
        stet_buf_str(out, "true");
        break;
    case STET_ATTR_BOOL:
        stet_buf_str(out, stet_attr_int(a) ? "true" : "false");
        break;
    case STET_ATTR_INTEGER:
        stet_buf_printf(out, "%lld", (long long)stet_attr_int(a));
        break;
    case STET_ATTR_FLOAT:
        elements(out, a, stet_attr_type(a));
        break;
    case STET_ATTR_STRING:
        stet_buf_printf(out, "\"%.*s\"", STET_FMT(stet_attr_text(a)));
        break;
    case STET_ATTR_SYMBOL:
        stet_buf_printf(out, "@%.*s", STET_FMT(stet_attr_text(a)));
        break;
    case STET_ATTR_ARRAY:
    case STET_ATTR_SPARSE:
    case STET_ATTR_DENSE_STRINGS:
        items(out, a, depth);
        break;
    case STET_ATTR_TYPE:
        stet_words_type(out, stet_attr_type(a));
        break;
    case STET_ATTR_DENSE:
    case STET_ATTR_RESOURCE:
        elements(out, a, stet_attr_type(a) ? stet_attr_type(a)->element : NULL);
        break;
    case STET_ATTR_DENSE_ARRAY:
        one = stet_attr_type(a) &&
              stet_attr_bytes(a).len == stet_type_storage_bits(stet_attr_type(a)) / 8;
        stet_buf_str(out, one ? "[" : "");
        elements(out, a, stet_attr_type(a));
        stet_buf_str(out, one ? "]" : "");
        break;
    case STET_ATTR_RECORD:
    case STET_ATTR_DICT:
        record(out, a, depth);
        break;
    case STET_ATTR_INTS:
        for (uint32_t i = 0; i < a->count && i < 32; i++)
            stet_buf_printf(out, "%s%lld", i ? ", " : "[", (long long)a->ints[i]);
        stet_buf_str(out, a->count ? "]" : "[]");
        break;
    default:
        if (stet_attr_text(a).len)
            stet_buf_view(out, stet_attr_text(a));
        else
            stet_buf_printf(out, "{%zu bytes}", stet_attr_bytes(a).len);
        break;
    }
}

void stet_words_attr(struct stet_buf *out, const struct stet_attr *a)
{
    size_t before = out->len;

    attr_at(out, a, 0);
    if (out->failed || out->len - before <= LONGEST)
        return;
    out->len = before + LONGEST;
    while (out->len > before && ((unsigned char)out->ptr[out->len] & 0xc0) == 0x80)
        out->len--; /* not inside a character */
    stet_buf_str(out, "…");
}

/* ---- changes ---- */

/* With the words between them they fit STET_WORDS_MOST. */
enum { MOST_OF_NAME = 320, MOST_OF_OPERATION = 64 };

static void cut_to(struct stet_buf *out, struct stet_view v, size_t most)
{
    if (v.len > most)
        for (v.len = most; v.len && ((unsigned char)v.ptr[v.len] & 0xc0) == 0x80;)
            v.len--; /* not inside a character */
    stet_buf_view(out, v);
}

static void aspect_words(struct stet_buf *out, const struct stet_change_subject *of)
{
    static const char *const names[] = {
        [STET_ASPECT_NONE] = "",
        [STET_ASPECT_ATTRIBUTE] = " attribute",
        [STET_ASPECT_DIMENSION] = " dimension ",
        [STET_ASPECT_DONATION] = " donation",
        [STET_ASPECT_DTYPE] = " dtype",
        [STET_ASPECT_LAYOUT] = " layout",
        [STET_ASPECT_RANK] = " rank",
        [STET_ASPECT_SHARDING] = " sharding",
        [STET_ASPECT_TYPE] = " type",
        [STET_ASPECT_MESH] = "",
    };

    stet_buf_str(out, names[of->aspect]);
    if (of->aspect == STET_ASPECT_DIMENSION)
        stet_buf_uint(out, of->index);
}

static void named(struct stet_buf *out, const char *what, const struct stet_change_subject *of)
{
    stet_buf_str(out, what);
    cut_to(out, of->name, MOST_OF_NAME);
    aspect_words(out, of);
}

static void operation(struct stet_buf *out, const char *what, const struct stet_change_subject *of)
{
    stet_buf_str(out, what);
    cut_to(out, of->in, MOST_OF_OPERATION);
    if (of->target.len) {
        stet_buf_char(out, ' ');
        cut_to(out, of->target, MOST_OF_OPERATION);
    }
}

static void subject(struct stet_buf *out, enum stet_change_kind kind,
                    const struct stet_change_subject *of)
{
    switch (kind) {
    case STET_CHANGE_ARGUMENT_CAME:
    case STET_CHANGE_ARGUMENT_WENT:
    case STET_CHANGE_ARGUMENT_MOVED:
    case STET_CHANGE_ARGUMENT:
        named(out, "argument ", of);
        break;
    case STET_CHANGE_OUTPUT_CAME:
    case STET_CHANGE_OUTPUT_WENT:
    case STET_CHANGE_OUTPUT:
        named(out, "output ", of);
        break;
    case STET_CHANGE_OP_CAME:
    case STET_CHANGE_OP_WENT:
        operation(out, "operation ", of);
        break;
    case STET_CHANGE_CONSTANT:
        operation(out, "constant in ", of);
        break;
    case STET_CHANGE_ATTRIBUTE:
        named(out, of->aspect == STET_ASPECT_MESH ? "mesh " : "", of);
        if (of->aspect != STET_ASPECT_MESH)
            operation(out, " of ", of);
        break;
    case STET_CHANGE_TYPE:
        operation(out, "result of ", of);
        break;
    case STET_CHANGE_OPERAND:
        stet_buf_printf(out, "operand %u", of->index);
        operation(out, " of ", of);
        break;
    case STET_CHANGE_REPEAT:
        stet_buf_printf(out, "block of %u operation%s", of->index, of->index == 1 ? "" : "s");
        break;
    case STET_CHANGE_OPTION:
        named(out, "option ", of);
        break;
    case STET_CHANGE_ORDER:
        stet_buf_str(out, "order of independent operations");
        break;
    default:
        named(out, "", of);
        break;
    }
}

struct stet_view stet_words_subject(char room[STET_WORDS_MOST], enum stet_change_kind kind,
                                    const struct stet_change_subject *of)
{
    struct stet_buf words = STET_BUF_INIT;

    stet_buf_lend(&words, room, STET_WORDS_MOST);
    subject(&words, kind, of);
    return stet_view_of(room, words.len);
}

bool stet_words_element(struct stet_buf *out, const struct stet_change_element *e)
{
    struct stet_type type = {.kind = e->kind,
                             .width = e->width,
                             .sign = (enum stet_sign)e->sign,
                             .flavour = (enum stet_float)e->flavour};
    bool number = e->known && (e->kind == STET_TYPE_INTEGER || e->kind == STET_TYPE_FLOAT);
    const char *name = number ? stet_hlo_element_python(&type) : NULL;

    if (name)
        stet_buf_printf(out, "%s%s", name, e->width == 1 ? "_" : ""); /* jnp.bool_ */
    return name;
}
