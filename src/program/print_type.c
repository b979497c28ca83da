/* Prints types, locations, strings and names. */
#include "program/print.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void stet_print_string(struct stet_buf *out, struct stet_view s)
{
    stet_buf_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c == '\\')
            stet_buf_str(out, "\\\\");
        else if (c >= 0x20 && c < 0x7f && c != '"')
            stet_buf_char(out, (char)c);
        else
            stet_buf_printf(out, "\\%02X", c);
    }
    stet_buf_char(out, '"');
}

static bool is_bare(struct stet_view s)
{
    if (!s.len || !(is_letter(s.ptr[0]) || s.ptr[0] == '_'))
        return false;
    for (size_t i = 1; i < s.len; i++)
        if (!is_letter(s.ptr[i]) && !is_digit(s.ptr[i]) && !memchr("_$.", s.ptr[i], 3))
            return false;
    return true;
}

void stet_print_name(struct stet_buf *out, struct stet_view s)
{
    if (is_bare(s))
        stet_buf_view(out, s);
    else
        stet_print_string(out, s);
}

void stet_print_symbol(struct stet_buf *out, struct stet_view s)
{
    stet_buf_char(out, '@');
    stet_print_name(out, s);
}

void stet_print_foreign(struct stet_buf *out, char mark, struct stet_view dialect,
                        struct stet_view text)
{
    if (text.len && text.ptr[0] != '.' && text.ptr[0] != '<') {
        stet_buf_view(out, text);
        return;
    }
    stet_buf_char(out, mark);
    stet_buf_view(out, dialect);
    stet_buf_view(out, text);
}

/* ---- types ---- */

static void print_type(struct stet_buf *out, const struct stet_type *t, unsigned depth);

static void print_members(struct stet_buf *out, const struct stet_type *t, uint32_t from,
                          uint32_t to, unsigned depth)
{
    for (uint32_t i = from; i < to; i++) {
        if (i > from)
            stet_buf_str(out, ", ");
        print_type(out, t->members[i], depth);
    }
}

/* [4]: a dimension of a vector that scales. */
static bool scales(const struct stet_type *t, uint32_t dimension)
{
    const struct stet_attr *which = stet_type_rest(t)->encoding;

    return t->kind == STET_TYPE_VECTOR && which && dimension < stet_attr_bytes(which).len &&
           stet_attr_bytes(which).ptr[dimension];
}

static void print_shape(struct stet_buf *out, const struct stet_type *t)
{
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] == STET_DYNAMIC)
            stet_buf_str(out, "?x");
        else
            stet_buf_printf(out, scales(t, i) ? "[%lld]x" : "%lldx", (long long)t->dims[i]);
}

/* An encoding, a layout or a memory space, which is mostly a number. */
static void print_extra(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_str(out, ", ");
    if (a->kind == STET_ATTR_INTEGER && stet_attr_type(a)->width == 64)
        stet_buf_int(out, stet_attr_int(a));
    else
        stet_print_attr(out, a);
}

static void print_shaped(struct stet_buf *out, const char *word, const struct stet_type *t,
                         unsigned depth)
{
    const struct stet_attr *extra = stet_type_rest(t)->encoding;

    stet_buf_str(out, word);
    stet_buf_char(out, '<');
    if (t->kind == STET_TYPE_UNRANKED || t->kind == STET_TYPE_UNRANKED_MEMREF)
        stet_buf_str(out, "*x");
    print_shape(out, t);
    print_type(out, t->element, depth);
    if (extra && t->kind == STET_TYPE_MEMREF && extra->kind == STET_ATTR_ARRAY) {
        for (uint32_t i = 0; i < extra->count; i++)
            print_extra(out, extra->items[i]);
    } else if (extra && t->kind != STET_TYPE_VECTOR) {
        print_extra(out, extra);
    }
    stet_buf_char(out, '>');
}

/* A single result has no parentheses unless it is a function type itself. */
static void print_function(struct stet_buf *out, const struct stet_type *t, unsigned depth)
{
    uint32_t results = t->member_count - t->input_count;
    bool bare = results == 1 && t->members[t->input_count]->kind != STET_TYPE_FUNCTION;

    stet_buf_char(out, '(');
    print_members(out, t, 0, t->input_count, depth);
    stet_buf_str(out, bare ? ") -> " : ") -> (");
    print_members(out, t, t->input_count, t->member_count, depth);
    if (!bare)
        stet_buf_char(out, ')');
}

void stet_print_scalar(struct stet_buf *out, const struct stet_type *t)
{
    static const char *const signs[] = {"i", "si", "ui"};

    if (t->kind == STET_TYPE_INTEGER)
        stet_buf_printf(out, "%s%u", signs[t->sign], t->width);
    else
        stet_buf_str(out, t->kind == STET_TYPE_FLOAT ? stet_float_name(t->flavour) : "index");
}

static void print_type(struct stet_buf *out, const struct stet_type *t, unsigned depth)
{
    if (depth++ == STET_MAX_DEPTH)
        return;
    switch ((enum stet_type_kind)t->kind) {
    case STET_TYPE_OPAQUE:
    case STET_TYPE_QUANTIZED:
        stet_print_foreign(out, '!', stet_type_rest(t)->dialect,
                           stet_type_rest(t)->bytes.len ? (struct stet_view){0}
                                                        : stet_type_rest(t)->text);
        break;
    case STET_TYPE_INTEGER:
    case STET_TYPE_FLOAT:
    case STET_TYPE_INDEX:
        stet_print_scalar(out, t);
        break;
    case STET_TYPE_COMPLEX:
        print_shaped(out, "complex", t, depth);
        break;
    case STET_TYPE_TENSOR:
    case STET_TYPE_UNRANKED:
        print_shaped(out, "tensor", t, depth);
        break;
    case STET_TYPE_MEMREF:
    case STET_TYPE_UNRANKED_MEMREF:
        print_shaped(out, "memref", t, depth);
        break;
    case STET_TYPE_VECTOR:
        print_shaped(out, "vector", t, depth);
        break;
    case STET_TYPE_TUPLE:
    case STET_TYPE_FUTURE:
        stet_buf_str(out, t->kind == STET_TYPE_TUPLE ? "tuple<" : "!stablehlo.future<");
        print_members(out, t, 0, t->member_count, depth);
        stet_buf_char(out, '>');
        break;
    case STET_TYPE_FUNCTION:
        print_function(out, t, depth);
        break;
    case STET_TYPE_TOKEN:
        stet_buf_str(out, "!stablehlo.token");
        break;
    case STET_TYPE_NONE:
        stet_buf_str(out, "none");
        break;
    }
}

void stet_print_type(struct stet_buf *out, const struct stet_type *t)
{
    print_type(out, t, 0);
}

/* ---- locations ---- */

static void print_file(struct stet_buf *out, const struct stet_loc *loc)
{
    struct stet_loc_end end = stet_loc_end(loc);

    stet_print_string(out, loc->text);
    stet_buf_printf(out, ":%u:%u", loc->line, loc->column);
    if (!end.line || (end.line == loc->line && end.column == loc->column))
        return;
    if (end.line == loc->line)
        stet_buf_printf(out, " to :%u", end.column);
    else
        stet_buf_printf(out, " to %u:%u", end.line, end.column);
}

static void print_loc(struct stet_buf *out, const struct stet_loc *loc, unsigned depth)
{
    if (depth++ == 4 * STET_MAX_DEPTH)
        return;
    switch ((enum stet_loc_kind)loc->kind) {
    case STET_LOC_UNKNOWN:
        stet_buf_str(out, "unknown");
        break;
    case STET_LOC_FILE:
        print_file(out, loc);
        break;
    case STET_LOC_NAME:
        stet_print_string(out, loc->text);
        if (loc->count && loc->parts[0]->kind != STET_LOC_UNKNOWN) {
            stet_buf_char(out, '(');
            print_loc(out, loc->parts[0], depth);
            stet_buf_char(out, ')');
        }
        break;
    case STET_LOC_CALLSITE:
        stet_buf_str(out, "callsite(");
        print_loc(out, loc->parts[0], depth);
        stet_buf_str(out, " at ");
        print_loc(out, loc->parts[1], depth);
        stet_buf_char(out, ')');
        break;
    case STET_LOC_FUSED:
        stet_buf_str(out, "fused");
        if (stet_loc_metadata(loc)) {
            stet_buf_char(out, '<');
            stet_print_attr(out, stet_loc_metadata(loc));
            stet_buf_char(out, '>');
        }
        stet_buf_char(out, '[');
        for (uint32_t i = 0; i < loc->count; i++) {
            if (i)
                stet_buf_str(out, ", ");
            print_loc(out, loc->parts[i], depth);
        }
        stet_buf_char(out, ']');
        break;
    case STET_LOC_OPAQUE:
        stet_buf_view(out, loc->text);
        break;
    }
}

void stet_print_loc(struct stet_buf *out, const struct stet_loc *loc)
{
    stet_buf_str(out, "loc(");
    if (loc)
        print_loc(out, loc, 0);
    else
        stet_buf_str(out, "unknown");
    stet_buf_char(out, ')');
}
