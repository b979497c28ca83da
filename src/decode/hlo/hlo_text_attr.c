/* Reads attribute values of HLO text, one case for each form. The result equals that of
 * hlo_proto_attr.c for the same program. */
#include "decode/hlo/hlo_text.h"

#include <stdlib.h>

static void field(struct stet_named_attr *fields, uint32_t *n, const char *name,
                  const struct stet_attr *v)
{
    fields[(*n)++] = (struct stet_named_attr){stet_view_str(name), v};
}

static const struct stet_attr *ints(struct stet_hlo_text *t, const struct stet_ints *v)
{
    return stet_decode_hlo_new_ints(t->b.a, v->at, v->count);
}

const struct stet_attr *
stet_decode_hlo_list(struct stet_hlo_text *t,
                     const struct stet_attr *(*item)(struct stet_hlo_text *t))
{
    struct stet_build_list items = {0};

    stet_hlo_expect(t, "{");
    while (!t->failed && stet_hlo_peek(t) != '}') {
        stet_build_list_add(&items, item(t));
        if (!stet_hlo_take(t, ","))
            break;
    }
    stet_hlo_expect(t, "}");
    return stet_decode_hlo_array_of(t->b.a, &items);
}

static const struct stet_attr *int_list(struct stet_hlo_text *t)
{
    struct stet_ints v = stet_decode_hlo_int_list(t);

    return ints(t, &v);
}

static const struct stet_attr *bool_list(struct stet_hlo_text *t)
{
    struct stet_ints v = stet_decode_hlo_bool_list(t);

    return ints(t, &v);
}

static const struct stet_attr *symbol(struct stet_hlo_text *t)
{
    if (stet_hlo_peek(t) == '{')
        return stet_decode_hlo_text_nested(t);
    return stet_decode_hlo_new_symbol(t->b.a, stet_hlo_name(t));
}

static const struct stet_attr *precision(struct stet_hlo_text *t)
{
    return stet_decode_hlo_new_word(t->b.a, "operand_precision", stet_hlo_word(t));
}

static const struct stet_attr *shape(struct stet_hlo_text *t)
{
    return stet_decode_hlo_new_type(t->b.a, stet_decode_hlo_text_shape(t));
}

/* {{0,1},{2,3}} or {0,1}. */
static const struct stet_attr *lists(struct stet_hlo_text *t, bool nested_only)
{
    size_t start;
    bool nested;

    stet_decode_hlo_skip(t);
    start = t->at;
    stet_hlo_expect(t, "{");
    nested = nested_only || stet_hlo_peek(t) == '{';
    t->at = t->failed ? t->at : start;
    return nested ? stet_decode_hlo_list(t, int_list) : int_list(t);
}

static const struct stet_attr *slice(struct stet_hlo_text *t)
{
    static const char *const names[] = {"start_indices", "limit_indices", "strides"};
    struct stet_named_attr *fields = STET_NEW_ARRAY(t->b.a, struct stet_named_attr, 3);
    struct stet_ints v[3] = {{0}};
    uint32_t n = 0;

    stet_hlo_expect(t, "{");
    while (!t->failed && stet_hlo_take(t, "[")) {
        stet_decode_ints_add(&v[0], t->b.a, stet_hlo_int(t));
        stet_hlo_expect(t, ":");
        stet_decode_ints_add(&v[1], t->b.a, stet_hlo_int(t));
        stet_decode_ints_add(&v[2], t->b.a, stet_hlo_take(t, ":") ? stet_hlo_int(t) : 1);
        stet_hlo_expect(t, "]");
        if (!stet_hlo_take(t, ","))
            break;
    }
    stet_hlo_expect(t, "}");
    for (int k = 0; fields && k < 3; k++)
        field(fields, &n, names[k], ints(t, &v[k]));
    return stet_decode_hlo_new_record(t->b.a, "slice", fields, n);
}

/* low_high or low_high_interior, dimensions joined by 'x'. */
static const struct stet_attr *padding(struct stet_hlo_text *t)
{
    static const char *const names[] = {"edge_padding_low", "edge_padding_high",
                                        "interior_padding"};
    struct stet_named_attr *fields = STET_NEW_ARRAY(t->b.a, struct stet_named_attr, 3);
    struct stet_ints v[3] = {{0}};
    uint32_t n = 0;
    char c = stet_hlo_peek(t);

    if (c == '-' || (c >= '0' && c <= '9'))
        do {
            stet_decode_ints_add(&v[0], t->b.a, stet_hlo_int(t));
            stet_hlo_expect(t, "_");
            stet_decode_ints_add(&v[1], t->b.a, stet_hlo_int(t));
            stet_decode_ints_add(&v[2], t->b.a, stet_hlo_take(t, "_") ? stet_hlo_int(t) : 0);
        } while (!t->failed && stet_hlo_take(t, "x"));
    for (int k = 0; fields && k < 3; k++)
        field(fields, &n, names[k], ints(t, &v[k]));
    return stet_decode_hlo_new_record(t->b.a, "padding", fields, n);
}

static void window_field(struct stet_hlo_text *t, struct stet_ints *low, struct stet_ints *high)
{
    do {
        stet_decode_ints_add(low, t->b.a, stet_hlo_int(t));
        if (high) {
            stet_hlo_expect(t, "_");
            stet_decode_ints_add(high, t->b.a, stet_hlo_int(t));
        }
    } while (!t->failed && stet_hlo_take(t, "x"));
}

static const struct stet_attr *window(struct stet_hlo_text *t)
{
    static const char *const names[] = {"window_dimensions", "stride",     "pad_low",
                                        "pad_high",          "lhs_dilate", "rhs_dilate",
                                        "rhs_reversal"};
    struct stet_named_attr *fields = STET_NEW_ARRAY(t->b.a, struct stet_named_attr, 7);
    struct stet_ints v[7] = {{0}};
    uint32_t n = 0;

    stet_hlo_expect(t, "{");
    while (!t->failed && stet_hlo_peek(t) != '}') {
        struct stet_view name = stet_hlo_word(t);
        int k = 0;

        if (stet_view_is(name, "pad"))
            name = STET_VIEW("pad_low");
        else if (stet_view_is(name, "size"))
            name = STET_VIEW("window_dimensions");
        while (k < 7 && !stet_view_is(name, names[k]))
            k++;
        if (k == 7 || v[k].count) {
            stet_decode_hlo_text_fail(t, "unknown or repeated part of a window");
            break;
        }
        stet_hlo_expect(t, "=");
        window_field(t, &v[k], k == 2 ? &v[3] : NULL);
    }
    stet_hlo_expect(t, "}");
    for (int k = 0; fields && k < 7; k++) {
        if (v[k].count && v[k].count != v[0].count)
            stet_decode_hlo_text_fail(t, "the parts of a window have different lengths");
        if (v[k].count)
            field(fields, &n, names[k], ints(t, &v[k]));
    }
    /* a window without dimensions counts as absent */
    return n ? stet_decode_hlo_new_record(t->b.a, "window", fields, n) : NULL;
}

static const struct stet_attr *alias_item(struct stet_hlo_text *t)
{
    struct stet_named_attr *fields = STET_NEW_ARRAY(t->b.a, struct stet_named_attr, 3);
    struct stet_ints output = stet_decode_hlo_int_list(t), index;
    int64_t operand;
    uint32_t n = 0;

    stet_hlo_expect(t, ":");
    stet_hlo_expect(t, "(");
    operand = stet_hlo_int(t);
    stet_hlo_expect(t, ",");
    index = stet_decode_hlo_int_list(t);
    stet_hlo_expect(t, ")");
    if (fields) {
        field(fields, &n, "output", ints(t, &output));
        field(fields, &n, "operand", stet_decode_hlo_new_int(t->b.a, operand));
        field(fields, &n, "index", ints(t, &index));
    }
    return stet_decode_hlo_new_record(t->b.a, "aliasing", fields, n);
}

/* "text", or a JSON dictionary that is kept unchanged. */
static struct stet_view config(struct stet_hlo_text *t)
{
    struct stet_view v;

    if (stet_hlo_peek(t) != '{')
        return stet_decode_hlo_string(t);
    v = stet_decode_hlo_braces(t);
    return t->failed ? v : stet_view_of(v.ptr - 1, v.len + 2);
}

static int by_key(const void *a, const void *b)
{
    const struct stet_named_attr *x = a, *y = b;

    return stet_view_cmp(x->name, y->name);
}

const struct stet_attr *stet_decode_hlo_text_strings(struct stet_hlo_text *t)
{
    struct stet_named_attr *named;
    struct stet_build_list names = {0}, values = {0};
    size_t n;

    stet_hlo_expect(t, "{");
    while (!t->failed && stet_hlo_peek(t) != '}') {
        struct stet_view *name = STET_NEW(t->b.a, struct stet_view);
        size_t start = t->at;

        while (t->at < t->src.len && !memchr("= \n\"{}(),", t->src.ptr[t->at], 9))
            t->at++;
        if (name)
            *name = stet_view_of(t->src.ptr + start, t->at - start);
        stet_hlo_expect(t, "=");
        stet_build_list_add(&names, name);
        stet_build_list_add(&values, stet_decode_hlo_new_string(t->b.a, config(t)));
        if (!stet_hlo_take(t, ","))
            break;
    }
    stet_hlo_expect(t, "}");
    n = names.count;
    named = STET_NEW_ARRAY(t->b.a, struct stet_named_attr, n);
    t->b.a->failed |= names.failed || values.failed;
    for (size_t i = 0; named && !t->b.a->failed && i < n; i++) {
        named[i].name = *(struct stet_view *)names.items[i];
        named[i].value = values.items[i];
    }
    stet_build_list_release(&names);
    stet_build_list_release(&values);
    if (!named || t->b.a->failed || !n)
        return NULL;
    qsort(named, n, sizeof *named, by_key);
    return stet_decode_hlo_new_record(t->b.a, NULL, named, (uint32_t)n);
}

/* The length of " metadata={…}" if it is next, strings and braces balanced; 0 otherwise. */
static size_t metadata_length(struct stet_view v)
{
    static const char mark[] = " metadata={";
    size_t depth = 0;
    bool text = false;

    if (!stet_view_starts(v, mark))
        return 0;
    for (size_t i = sizeof mark - 2; i < v.len; i++) {
        char c = v.ptr[i];

        if (text && c == '\\')
            i++;
        else if (c == '"')
            text = !text;
        else if (!text && c == '{')
            depth++;
        else if (!text && c == '}' && --depth == 0)
            return i + 1;
    }
    return 0;
}

/* Without its metadata, which contains source positions; the proto reader leaves it out too. */
static const struct stet_attr *sharding(struct stet_hlo_text *t)
{
    static const char others[] = " _=,[]{}()<*/'?:.-";
    size_t start = (stet_decode_hlo_skip(t), t->at), len = 0;
    struct stet_view v = stet_decode_hlo_braces(t);
    char *copy;

    if (t->failed)
        return NULL;
    v = stet_view_of(v.ptr - 1, v.len + 2);
    copy = stet_arena_raw(t->b.a, v.len, 1);
    for (size_t i = 0; copy && i < v.len;) {
        char c = v.ptr[i];
        size_t skipped = metadata_length(stet_view_of(v.ptr + i, v.len - i));

        if (skipped) {
            i += skipped;
            continue;
        }
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              memchr(others, c, sizeof others - 1))) {
            stet_decode_hlo_text_fail_at(t, start + i, "not a part of a sharding");
            return NULL;
        }
        copy[len++] = c;
        i++;
    }
    return copy ? stet_decode_hlo_new_string(t->b.a, stet_view_of(copy, len)) : NULL;
}

static const struct stet_attr *groups(struct stet_hlo_text *t)
{
    struct stet_view v;

    if (stet_hlo_peek(t) == '{')
        return lists(t, true);
    v = stet_decode_hlo_raw(t);
    return stet_decode_hlo_new_string(t->b.a, v);
}

static const struct stet_attr *floating(struct stet_hlo_text *t)
{
    struct stet_view v = stet_decode_hlo_raw(t);
    char text[64], *end;
    float f;

    memcpy(text, v.ptr, v.len < 63 ? v.len : 63);
    text[v.len < 63 ? v.len : 63] = '\0';
    f = strtof(text, &end);
    if (!v.len || *end)
        stet_decode_hlo_text_fail_at(t, t->at - v.len, "expected a number");
    return stet_decode_hlo_new_float(t->b.a, f);
}

static const struct stet_attr *boolean(struct stet_hlo_text *t, enum stet_hlo_attr which)
{
    bool v = stet_hlo_bool(t);

    return v || which == STET_HLO_A_IS_ASSOCIATIVE ? stet_decode_hlo_new_bool(t->b.a, v) : NULL;
}

/* b01f_01io->b01f */
static struct stet_view labels(struct stet_hlo_text *t)
{
    size_t start;

    stet_decode_hlo_skip(t);
    for (start = t->at; t->at < t->src.len; t->at++) {
        char c = t->src.ptr[t->at];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && !memchr("?_->", c, 4))
            break;
    }
    if (t->at == start)
        stet_decode_hlo_text_fail(t, "expected the labels of dimensions");
    return stet_view_of(t->src.ptr + start, t->at - start);
}

const struct stet_attr *stet_decode_hlo_text_attr(struct stet_hlo_text *t, enum stet_hlo_attr which)
{
    switch (stet_hlo_attr_form(which)) {
    case STET_HLO_F_INT:
        return stet_decode_hlo_new_int(t->b.a, stet_hlo_int(t));
    case STET_HLO_F_BOOL:
        return boolean(t, which);
    case STET_HLO_F_FLOAT:
        return floating(t);
    case STET_HLO_F_INTS:
        return int_list(t);
    case STET_HLO_F_LISTS:
        return lists(t, which == STET_HLO_A_SOURCE_TARGET_PAIRS);
    case STET_HLO_F_BOOLS:
        return bool_list(t);
    case STET_HLO_F_WORD:
        return stet_decode_hlo_new_word(t->b.a, stet_hlo_attr_name(which), stet_hlo_word(t));
    case STET_HLO_F_WORDS:
        return stet_decode_hlo_list(t, precision);
    case STET_HLO_F_STRING:
        return stet_decode_hlo_new_string(t->b.a, stet_decode_hlo_string(t));
    case STET_HLO_F_CONFIG:
        return stet_decode_hlo_new_string(t->b.a, stet_decode_hlo_sorted_json(t->b.a, config(t)));
    case STET_HLO_F_STRINGS:
        return stet_decode_hlo_text_strings(t);
    case STET_HLO_F_SLICE:
        return slice(t);
    case STET_HLO_F_PADDING:
        return padding(t);
    case STET_HLO_F_WINDOW:
        return window(t);
    case STET_HLO_F_LABELS:
        return stet_decode_hlo_new_string(t->b.a, labels(t));
    case STET_HLO_F_GROUPS:
        return groups(t);
    case STET_HLO_F_COMPUTATION:
        return symbol(t);
    case STET_HLO_F_COMPUTATIONS:
        return stet_decode_hlo_list(t, symbol);
    case STET_HLO_F_SHAPE:
        return shape(t);
    case STET_HLO_F_SHAPES:
        return stet_decode_hlo_list(t, shape);
    case STET_HLO_F_ALIASING:
        return stet_decode_hlo_list(t, alias_item);
    case STET_HLO_F_SHARDING:
        return sharding(t);
    case STET_HLO_F_LITERAL:
        return stet_decode_hlo_text_literal(t, stet_decode_hlo_text_shape(t));
    case STET_HLO_F_BRACES:
        if (which == STET_HLO_A_ORIGIN) { /* the origin of a value, for debuggers */
            stet_decode_hlo_braces(t);
            return NULL;
        }
        return stet_decode_hlo_new_string(t->b.a, stet_decode_hlo_braces(t));
    case STET_HLO_F_CONTROL:
    case STET_HLO_F_METADATA:
        break;
    }
    return NULL;
}

const struct stet_loc *stet_decode_hlo_text_metadata(struct stet_hlo_text *t)
{
    struct stet_hlo_metadata m = {.line = 0};
    const struct {
        const char *name;
        struct stet_view *text;
        int64_t *number;
    } homes[] = {
        {"op_type", &m.op_type, NULL},
        {"op_name", &m.op_name, NULL},
        {"source_file", &m.source_file, NULL},
        {"source_line", NULL, &m.line},
        {"source_end_line", NULL, &m.end_line},
        {"source_column", NULL, &m.column},
        {"source_end_column", NULL, &m.end_column},
        {"deduplicated_name", &m.deduplicated_name, NULL},
        {"scheduling_name", &m.scheduling_name, NULL},
        {"stack_frame_id", NULL, &m.frame},
        {"metadata_payload", &m.payload, NULL},
    };
    struct stet_ints types = {0};

    stet_hlo_expect(t, "{");
    while (!t->failed && stet_hlo_peek(t) != '}') {
        struct stet_view name = stet_hlo_word(t);
        size_t k = 0;

        stet_hlo_expect(t, "=");
        if (stet_view_is(name, "profile_type")) {
            types = stet_decode_hlo_int_list(t);
            continue;
        }
        while (k < sizeof homes / sizeof *homes && !stet_view_is(name, homes[k].name))
            k++;
        if (k == sizeof homes / sizeof *homes)
            stet_decode_hlo_text_fail(t, "unknown part of metadata");
        else if (homes[k].text)
            *homes[k].text = stet_decode_hlo_string(t);
        else
            *homes[k].number = stet_hlo_int(t);
    }
    stet_hlo_expect(t, "}");
    m.profile_types = types.at;
    m.profile_type_count = types.count;
    return t->failed ? NULL : stet_decode_hlo_build_metadata(&t->b, &m);
}
