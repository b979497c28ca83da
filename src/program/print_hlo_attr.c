/* Prints attributes of HLO instructions as XLA does, one case for each form. */
#include "program/print_hlo.h"

#include "program/number.h"

void stet_print_hlo_escaped(struct stet_buf *out, struct stet_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        switch (c) {
        case '\n':
            stet_buf_str(out, "\\n");
            break;
        case '\r':
            stet_buf_str(out, "\\r");
            break;
        case '\t':
            stet_buf_str(out, "\\t");
            break;
        case '"':
            stet_buf_str(out, "\\\"");
            break;
        case '\'':
            stet_buf_str(out, "\\'");
            break;
        case '\\':
            stet_buf_str(out, "\\\\");
            break;
        default:
            if (c < 0x20 || c >= 0x7f)
                stet_buf_printf(out, "\\%03o", c);
            else
                stet_buf_char(out, (char)c);
        }
    }
}

static void quoted(struct stet_buf *out, struct stet_view text)
{
    stet_buf_char(out, '"');
    stet_print_hlo_escaped(out, text);
    stet_buf_char(out, '"');
}

/* One dictionary from the first brace to the last byte: XLA prints such text without quotes. */
static bool is_json_dict(struct stet_view v)
{
    size_t depth = 0;
    bool text = false;

    if (!v.len || v.ptr[0] != '{')
        return false;
    for (size_t i = 0; i < v.len; i++) {
        char c = v.ptr[i];

        if (text) {
            if (c == '\\')
                i++;
            else if (c == '"')
                text = false;
        } else if (c == '"') {
            text = true;
        } else if (c == '{') {
            depth++;
        } else if (c == '}' && --depth == 0) {
            return i + 1 == v.len;
        }
    }
    return false;
}

static void config(struct stet_buf *out, struct stet_view v)
{
    if (is_json_dict(v))
        stet_buf_view(out, v);
    else
        quoted(out, v);
}

void stet_print_hlo_strings(struct stet_buf *out, const struct stet_attr *dict)
{
    stet_buf_char(out, '{');
    for (uint32_t i = 0; i < dict->count; i++) {
        stet_buf_str(out, i ? "," : "");
        stet_buf_view(out, dict->named[i].name);
        stet_buf_char(out, '=');
        config(out, stet_attr_text(dict->named[i].value));
    }
    stet_buf_char(out, '}');
}

static void ints(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_char(out, '{');
    for (uint32_t i = 0; i < a->count; i++)
        stet_buf_printf(out, "%s%lld", i ? "," : "", (long long)a->ints[i]);
    stet_buf_char(out, '}');
}

static void lists(struct stet_buf *out, const struct stet_attr *a)
{
    if (a->kind == STET_ATTR_INTS) {
        ints(out, a);
        return;
    }
    stet_buf_char(out, '{');
    for (uint32_t i = 0; i < a->count; i++) {
        stet_buf_str(out, i ? "," : "");
        ints(out, a->items[i]);
    }
    stet_buf_char(out, '}');
}

static bool all(const struct stet_attr *a, int64_t v)
{
    for (uint32_t i = 0; a && i < a->count; i++)
        if (a->ints[i] != v)
            return false;
    return true;
}

static void slice(struct stet_buf *out, const struct stet_op *op)
{
    const struct stet_attr *start = stet_op_attr(op, "start_indices");
    const struct stet_attr *limit = stet_op_attr(op, "limit_indices");
    const struct stet_attr *stride = stet_op_attr(op, "strides");
    bool strides = !all(stride, 1);

    stet_buf_char(out, '{');
    for (uint32_t i = 0; i < start->count; i++) {
        stet_buf_printf(out, "%s[%lld:%lld", i ? ", " : "", (long long)start->ints[i],
                        (long long)limit->ints[i]);
        if (strides)
            stet_buf_printf(out, ":%lld", (long long)stride->ints[i]);
        stet_buf_char(out, ']');
    }
    stet_buf_char(out, '}');
}

static void padding(struct stet_buf *out, const struct stet_op *op)
{
    const struct stet_attr *low = stet_op_attr(op, "edge_padding_low");
    const struct stet_attr *high = stet_op_attr(op, "edge_padding_high");
    const struct stet_attr *interior = stet_op_attr(op, "interior_padding");
    bool inside = !all(interior, 0);

    for (uint32_t i = 0; i < low->count; i++) {
        stet_buf_printf(out, "%s%lld_%lld", i ? "x" : "", (long long)low->ints[i],
                        (long long)high->ints[i]);
        if (inside)
            stet_buf_printf(out, "_%lld", (long long)interior->ints[i]);
    }
}

static void window(struct stet_buf *out, const struct stet_op *op)
{
    static const char *const names[] = {"size",       "stride",     "pad_low",
                                        "lhs_dilate", "rhs_dilate", "rhs_reversal"};
    const struct stet_attr *rest = stet_op_attr(op, "window");
    const struct stet_attr *high = stet_attr_field(rest, "pad_high");

    stet_buf_char(out, '{');
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const struct stet_attr *v =
            k ? stet_attr_field(rest, names[k]) : stet_op_attr(op, "window_dimensions");
        bool pad = k == 2;

        if (!v)
            continue;
        stet_buf_printf(out, "%s%s=", k ? " " : "", pad ? "pad" : names[k]);
        for (uint32_t i = 0; i < v->count; i++) {
            stet_buf_printf(out, "%s%lld", i ? "x" : "", (long long)v->ints[i]);
            if (pad)
                stet_buf_printf(out, "_%lld", (long long)high->ints[i]);
        }
    }
    stet_buf_char(out, '}');
}

bool stet_print_hlo_parts(struct stet_buf *out, enum stet_hlo_attr which, const struct stet_op *op)
{
    const char *name = stet_hlo_attr_name(which);

    switch (stet_hlo_attr_form(which)) {
    case STET_HLO_F_SLICE:
        if (!stet_op_attr(op, "start_indices"))
            return true;
        stet_buf_printf(out, ", %s=", name);
        slice(out, op);
        return true;
    case STET_HLO_F_PADDING:
        if (!stet_op_attr(op, "edge_padding_low"))
            return true;
        stet_buf_printf(out, ", %s=", name);
        padding(out, op);
        return true;
    case STET_HLO_F_WINDOW:
        if (!stet_op_attr(op, "window_dimensions"))
            return true;
        stet_buf_printf(out, ", %s=", name);
        window(out, op);
        return true;
    default:
        return false;
    }
}

static void symbols(struct stet_buf *out, const struct stet_attr *a, bool percent)
{
    stet_buf_char(out, '{');
    for (uint32_t i = 0; i < a->count; i++)
        stet_buf_printf(out, "%s%s%.*s", i ? ", " : "", percent ? "%" : "",
                        STET_FMT(stet_attr_text(a->items[i])));
    stet_buf_char(out, '}');
}

static void aliasing(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_char(out, '{');
    for (uint32_t i = 0; i < a->count; i++) {
        stet_buf_str(out, i ? ", " : "");
        ints(out, stet_attr_field(a->items[i], "output"));
        stet_buf_printf(out, ": (%lld, ",
                        (long long)stet_attr_int(stet_attr_field(a->items[i], "operand")));
        ints(out, stet_attr_field(a->items[i], "index"));
        stet_buf_char(out, ')');
    }
    stet_buf_char(out, '}');
}

static void items(struct stet_buf *out, const struct stet_attr *a, bool shapes)
{
    stet_buf_char(out, '{');
    for (uint32_t i = 0; i < a->count; i++) {
        stet_buf_str(out, !i ? "" : shapes ? ", " : ",");
        if (shapes)
            stet_print_hlo_type(out, stet_attr_type(a->items[i]), true);
        else
            stet_buf_view(out, stet_attr_text(a->items[i]));
    }
    stet_buf_char(out, '}');
}

static void bools(struct stet_buf *out, const struct stet_attr *a)
{
    stet_buf_char(out, '{');
    for (uint32_t i = 0; i < a->count; i++)
        stet_buf_printf(out, "%s%s", i ? "," : "", a->ints[i] ? "true" : "false");
    stet_buf_char(out, '}');
}

void stet_print_hlo_attr(struct stet_buf *out, enum stet_hlo_form form, const struct stet_attr *a,
                         bool percent)
{
    switch (form) {
    case STET_HLO_F_INT:
        stet_buf_printf(out, "%lld", (long long)stet_attr_int(a));
        break;
    case STET_HLO_F_BOOL:
        stet_buf_str(out, stet_attr_int(a) ? "true" : "false");
        break;
    case STET_HLO_F_FLOAT:
        stet_buf_printf(out, "%g",
                        stet_float_value(STET_F32, stet_number_bits_at(stet_attr_bytes(a).ptr, 4)));
        break;
    case STET_HLO_F_INTS:
    case STET_HLO_F_LISTS:
        lists(out, a);
        break;
    case STET_HLO_F_GROUPS:
        if (a->kind == STET_ATTR_STRING)
            stet_buf_view(out, stet_attr_text(a));
        else
            lists(out, a);
        break;
    case STET_HLO_F_BOOLS:
        bools(out, a);
        break;
    case STET_HLO_F_WORD:
    case STET_HLO_F_LABELS:
    case STET_HLO_F_SHARDING:
        stet_buf_view(out, stet_attr_text(a));
        break;
    case STET_HLO_F_WORDS:
        items(out, a, false);
        break;
    case STET_HLO_F_SHAPES:
        items(out, a, true);
        break;
    case STET_HLO_F_SHAPE:
        stet_print_hlo_type(out, stet_attr_type(a), true);
        break;
    case STET_HLO_F_STRING:
        quoted(out, stet_attr_text(a));
        break;
    case STET_HLO_F_CONFIG:
        config(out, stet_attr_text(a));
        break;
    case STET_HLO_F_STRINGS:
        stet_print_hlo_strings(out, a);
        break;
    case STET_HLO_F_COMPUTATION:
        stet_buf_printf(out, "%s%.*s", percent ? "%" : "", STET_FMT(stet_attr_text(a)));
        break;
    case STET_HLO_F_COMPUTATIONS:
        symbols(out, a, percent);
        break;
    case STET_HLO_F_ALIASING:
        aliasing(out, a);
        break;
    case STET_HLO_F_LITERAL:
        stet_print_hlo_literal(out, a, true);
        break;
    case STET_HLO_F_BRACES:
        stet_buf_char(out, '{');
        stet_buf_view(out, stet_attr_text(a));
        stet_buf_char(out, '}');
        break;
    case STET_HLO_F_SLICE:
    case STET_HLO_F_PADDING:
    case STET_HLO_F_WINDOW:
    case STET_HLO_F_CONTROL:
    case STET_HLO_F_METADATA:
        break;
    }
}
