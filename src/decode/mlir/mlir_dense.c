/* Attributes with many elements: dense<…>, array<…>, sparse<…>, dense_resource<…>, and the section
 * at the end of the file with its bytes. */
#include "decode/mlir/mlir_text.h"

/* The text between "dense<" and its '>'. It is skipped first, because the type that determines how
 * to read it comes after it. */
static struct stet_view skip_elements(struct mlir *p)
{
    const char *from;

    stet_mlir_expect(p, "<");
    from = p->at;
    while (p->at < p->end && *p->at != '>') {
        if (*p->at == '"')
            stet_mlir_string(p);
        else
            p->at++;
    }
    struct stet_view v = stet_view_of(from, (size_t)(p->at - from));

    stet_mlir_expect(p, ">");
    return v;
}

static bool is_shaped(const struct stet_type *t)
{
    return t && (t->kind == STET_TYPE_TENSOR || t->kind == STET_TYPE_VECTOR);
}

/* The value of a hexadecimal digit plus one; 0 for anything else. */
static const unsigned char hex_digits[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* "0x…" as bytes in the arena. */
static struct stet_view hex_bytes(struct mlir *p)
{
    const char *where = p->at;
    struct stet_view text = stet_mlir_string(p);
    size_t n = text.len / 2 - 1;
    char *out;

    if (text.len < 2 || text.len % 2 || memcmp(text.ptr, "0x", 2) != 0) {
        stet_mlir_fail(p, where, "expected a string of hexadecimal digits, \"0x...\"");
        return (struct stet_view){0};
    }
    out = stet_arena_raw(p->arena, n ? n : 1, 1);
    if (!out) {
        stet_mlir_no_memory(p);
        return (struct stet_view){0};
    }
    for (size_t i = 0; i < n; i++) {
        unsigned high = hex_digits[(unsigned char)text.ptr[2 + 2 * i]];
        unsigned low = hex_digits[(unsigned char)text.ptr[3 + 2 * i]];

        if (high == 0 || low == 0) {
            stet_mlir_fail(p, where, "expected hexadecimal digits");
            return (struct stet_view){0};
        }
        out[i] = (char)((high - 1) << 4 | (low - 1));
    }
    return stet_view_of(out, n);
}

/* Nested lists down to the elements, which go to p->bytes; every list must be as long as its
 * dimension. */
static void elements(struct mlir *p, const struct stet_type *t, uint32_t dimension, size_t size)
{
    bool first = true;
    int64_t n = 0;

    if (dimension == t->rank) {
        char *out = stet_buf_reserve(&p->bytes, size);

        if (!out) {
            stet_mlir_no_memory(p);
            return;
        }
        stet_mlir_element(p, t->element, size, out);
        stet_buf_grew(&p->bytes, size);
        return;
    }
    if (!stet_mlir_enter(p) || !stet_mlir_expect(p, "["))
        return;
    for (; stet_mlir_more(p, "]", &first); n++)
        elements(p, t, dimension + 1, size);
    mlir_leave(p);
    if (n != t->dims[dimension])
        stet_mlir_fail(p, p->at, "expected %lld elements, not %lld", (long long)t->dims[dimension],
                       (long long)n);
}

/* One element if all are equal: MLIR has no other form for those. */
static void set_bytes(struct stet_attr *a, struct stet_view v, size_t size)
{
    a->splat = v.len == size || (v.len > size && memcmp(v.ptr, v.ptr + size, v.len - size) == 0);
    if (a->splat)
        v.len = size;
    stet_attr_set_bytes(a, v);
}

/* Copies the elements out of the buffer, which the next attribute reuses. */
static void keep_bytes(struct mlir *p, struct stet_attr *a, size_t size)
{
    set_bytes(a, stet_buf_as_view(&p->bytes), size);
    if (stet_attr_bytes(a).len == 0)
        return;
    stet_attr_set_bytes(a, stet_arena_copy(p->arena, stet_attr_bytes(a)));
    if (!stet_attr_bytes(a).ptr)
        stet_mlir_no_memory(p);
}

/* i1 was packed into bits before MLIR 22; the length shows which form it is. */
static struct stet_view unpack_bits(struct mlir *p, struct stet_view v, uint64_t count)
{
    char *out;

    if (v.len == count || v.len != (count + 7) / 8 || v.len == 1) {
        if (v.len == 1 && (v.ptr[0] & 0xff) == 0xff)
            return STET_VIEW("\1");
        return v;
    }
    out = stet_arena_raw(p->arena, count, 1);
    if (!out) {
        stet_mlir_no_memory(p);
        return (struct stet_view){0};
    }
    for (uint64_t i = 0; i < count; i++)
        out[i] = (char)((v.ptr[i / 8] >> (i % 8)) & 1);
    return stet_view_of(out, count);
}

static void read_elements(struct mlir *p, struct stet_attr *a, const char *where)
{
    const struct stet_type *t = stet_attr_type(a);
    size_t size = stet_type_storage_bits(t->element) / 8;
    bool bits = t->element->kind == STET_TYPE_INTEGER && t->element->width == 1;
    uint64_t count, total;
    char c = stet_mlir_peek(p);

    if (!stet_type_elements(t, &count) || __builtin_mul_overflow(count, size, &total)) {
        stet_mlir_fail(p, where, "elements of a shape that is not static");
        return;
    }
    if (c == '"') {
        struct stet_view v = hex_bytes(p);

        if (bits)
            v = unpack_bits(p, v, count);
        if (v.len != total && v.len != size)
            stet_mlir_fail(p, where, "%llu bytes of elements, not %llu", (unsigned long long)v.len,
                           (unsigned long long)total);
        if (mlir_ok(p))
            set_bytes(a, v, size);
        return;
    }
    p->bytes.len = 0;
    if (c != '>' && (c != '[' || t->rank)) {
        struct stet_type splat = {.element = t->element};

        elements(p, c == '[' ? t : &splat, 0, size);
    }
    if (c == '>' ? count != 0 : !mlir_ok(p)) {
        stet_mlir_fail(p, where, "expected elements");
        return;
    }
    keep_bytes(p, a, size);
}

/* Elements of a type without bits: strings, in nested lists or one for all. */
static void string_elements(struct mlir *p, struct stet_attr *a, const char *end)
{
    size_t mark = mlir_mark(&p->scratch);
    const char *where = p->at;
    uint64_t want;

    a->kind = STET_ATTR_DENSE_STRINGS;
    while (mlir_ok(p) && p->at < end) {
        char c = stet_mlir_peek(p);

        if (c == '"') {
            stet_mlir_push_pointer(p, &p->scratch, stet_mlir_make_string(p, stet_mlir_string(p)));
        } else if (c == '[' || c == ']' || c == ',') {
            p->at++;
        } else if (p->at < end) {
            stet_mlir_fail(p, p->at, "expected a string");
        }
    }
    a->items = stet_mlir_pop(p, &p->scratch, mark, sizeof(*a->items), &a->count);
    a->splat = a->count == 1;
    if (!a->splat && (!stet_type_elements(stet_attr_type(a), &want) || a->count != want))
        stet_mlir_fail(p, where, "%u strings do not fill the type", a->count);
}

const struct stet_attr *stet_mlir_dense(struct mlir *p)
{
    struct stet_view text = skip_elements(p);
    struct stet_attr a = {.kind = STET_ATTR_DENSE};
    const char *after;

    stet_mlir_expect(p, ":");
    a.of.type = stet_mlir_type(p);
    if (!mlir_ok(p))
        return NULL;
    if (!is_shaped(stet_attr_type(&a))) {
        stet_mlir_fail(p, text.ptr, "elements need a tensor or vector type");
        return NULL;
    }
    after = p->at;
    p->at = text.ptr;
    if (stet_view_is(text, "__elided__")) {
        stet_mlir_fail(p, text.ptr,
                       "a constant was left out when this text was printed; print it "
                       "without a limit for large elements");
        return NULL;
    }
    if (stet_type_storage_bits(stet_attr_type(&a)->element) == 0)
        string_elements(p, &a, text.ptr + text.len);
    else
        read_elements(p, &a, text.ptr);
    if (stet_mlir_peek(p) != '>' || p->at != text.ptr + text.len)
        stet_mlir_fail(p, p->at, "expected '>'");
    if (mlir_ok(p))
        p->at = after;
    return stet_mlir_make(p, a);
}

const struct stet_attr *stet_mlir_make_dense_i64(struct mlir *p, const struct stet_type *type,
                                                 const int64_t *v, uint32_t count)
{
    struct stet_attr a = {.kind = STET_ATTR_DENSE, .of.type = type};

    if (count)
        set_bytes(&a, stet_view_of(v, count * sizeof(*v)), sizeof(*v));
    return stet_mlir_make(p, a);
}

const struct stet_attr *stet_mlir_make_i64_array(struct mlir *p, const int64_t *v, uint32_t count)
{
    return stet_mlir_make(
        p, (struct stet_attr){.kind = STET_ATTR_DENSE_ARRAY,
                              .of.type = stet_type_integer(p->arena, 64, STET_SIGNLESS),
                              .at = (const char *)v,
                              .size = count * sizeof(*v)});
}

static const struct stet_attr *array_until(struct mlir *p, const struct stet_type *element,
                                           const char *close)
{
    struct stet_attr a = {.kind = STET_ATTR_DENSE_ARRAY, .of.type = element};
    size_t size = stet_type_storage_bits(element) / 8;
    bool first = true;

    if (size == 0) {
        stet_mlir_fail(p, p->at, "an array cannot have this element type");
        return NULL;
    }
    p->bytes.len = 0;
    while (stet_mlir_more(p, close, &first)) {
        char *out = stet_buf_reserve(&p->bytes, size);

        if (!out) {
            stet_mlir_no_memory(p);
            return NULL;
        }
        stet_mlir_element(p, element, size, out);
        stet_buf_grew(&p->bytes, size);
    }
    stet_attr_set_bytes(&a, stet_buf_as_view(&p->bytes));
    if (stet_attr_bytes(&a).len) {
        stet_attr_set_bytes(&a, stet_arena_copy(p->arena, stet_attr_bytes(&a)));
        if (!stet_attr_bytes(&a).ptr)
            stet_mlir_no_memory(p);
    }
    return stet_mlir_make(p, a);
}

const struct stet_attr *stet_mlir_dense_array(struct mlir *p)
{
    const struct stet_type *element;

    stet_mlir_expect(p, "<");
    element = stet_mlir_type(p);
    if (!mlir_ok(p))
        return NULL;
    if (stet_mlir_accept(p, ":"))
        return array_until(p, element, ">");
    stet_mlir_expect(p, ">");
    return stet_mlir_make(p, (struct stet_attr){.kind = STET_ATTR_DENSE_ARRAY, .of.type = element});
}

const struct stet_attr *stet_mlir_bare_array(struct mlir *p, const struct stet_type *element)
{
    return stet_mlir_expect(p, "[") ? array_until(p, element, "]") : NULL;
}

/* Elements of `type` up to ']', or a single one; returns how many. */
static struct stet_view flat_elements(struct mlir *p, const struct stet_type *type, uint32_t depth,
                                      int64_t *count)
{
    size_t size = stet_type_storage_bits(type) / 8;
    uint32_t open = 0;
    bool list = stet_mlir_at(p, "[");

    p->bytes.len = 0;
    *count = 0;
    do {
        while (stet_mlir_accept(p, "["))
            open++;
        if (stet_mlir_peek(p) != ']') {
            char *out = stet_buf_reserve(&p->bytes, size);

            if (!out || open > depth)
                break;
            stet_mlir_element(p, type, size, out);
            stet_buf_grew(&p->bytes, size);
            ++*count;
        }
        while (open && stet_mlir_accept(p, "]"))
            open--;
    } while (mlir_ok(p) && open && stet_mlir_expect(p, ","));
    if (p->bytes.failed)
        stet_mlir_no_memory(p);
    else if (open || (list && depth == 0))
        stet_mlir_fail(p, p->at, "expected a list of elements");
    return stet_arena_copy(p->arena, stet_buf_as_view(&p->bytes));
}

static const struct stet_attr *flat_dense(struct mlir *p, const struct stet_type *element,
                                          const int64_t *dims, uint32_t rank, struct stet_view v)
{
    struct stet_attr a = {.kind = STET_ATTR_DENSE,
                          .of.type = stet_type_tensor(p->arena, element, dims, rank)};

    if (!stet_attr_type(&a) || !v.ptr)
        stet_mlir_no_memory(p);
    else if (v.len)
        set_bytes(&a, v, stet_type_storage_bits(element) / 8);
    return stet_mlir_make(p, a);
}

/* sparse<[[0, 1], [2, 3]], [5, 6]> : tensor<4x4xi32>: positions, then values. */
const struct stet_attr *stet_mlir_sparse(struct mlir *p)
{
    const struct stet_type *i64 = stet_type_integer(p->arena, 64, STET_SIGNLESS);
    struct stet_attr a = {.kind = STET_ATTR_SPARSE, .count = 2};
    struct stet_view text = skip_elements(p), places, values;
    const struct stet_attr *parts[2];
    int64_t dims[2];
    const char *after;

    stet_mlir_expect(p, ":");
    a.of.type = stet_mlir_type(p);
    after = p->at;
    if (!mlir_ok(p))
        return NULL;
    if (!is_shaped(stet_attr_type(&a)) ||
        stet_type_storage_bits(stet_attr_type(&a)->element) == 0) {
        stet_mlir_fail(p, text.ptr, "elements need a tensor of numbers");
        return NULL;
    }
    p->at = text.ptr;
    if (stet_mlir_at(p, ">")) { /* nothing at all */
        places = values = STET_VIEW("");
        dims[0] = dims[1] = 0;
    } else {
        bool one = !stet_mlir_at(p, "["); /* number, which is every index of the one place */

        places = flat_elements(p, i64, 2, &dims[0]);
        if (one)
            dims[0] = stet_attr_type(&a)->rank;
        stet_mlir_expect(p, ",");
        values = flat_elements(p, stet_attr_type(&a)->element, 1, &dims[1]);
    }
    if (mlir_ok(p) &&
        (p->at != text.ptr + text.len || dims[0] != dims[1] * (int64_t)stet_attr_type(&a)->rank))
        stet_mlir_fail(p, text.ptr, "places and values do not match");
    parts[1] = flat_dense(p, stet_attr_type(&a)->element, &dims[1], 1, values);
    dims[0] = dims[1];
    dims[1] = stet_attr_type(&a)->rank;
    parts[0] = flat_dense(p, i64, dims, 2, places);
    size_t mark = mlir_mark(&p->scratch);

    stet_mlir_push(p, &p->scratch, parts, sizeof(parts));
    a.items = stet_mlir_pop(p, &p->scratch, mark, sizeof(*a.items), &a.count);
    if (mlir_ok(p))
        p->at = after;
    return stet_mlir_make(p, a);
}

/* ---- resources ---- */

/* Attributes come before the section with their bytes. */
struct resource {
    struct stet_view bytes;
    struct resource_user *users;
    bool defined;
};

struct resource_user {
    struct stet_attr *attr;
    struct resource_user *next;
};

static struct resource *resource(struct mlir *p, struct stet_view key)
{
    bool made = false;
    struct mlir_name *n = mlir_ok(p) ? stet_mlir_name(p, MLIR_RESOURCES, 0, key, &made) : NULL;

    if (n && made)
        n->value = STET_NEW(&p->temporary, struct resource);
    if (!n || !n->value) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    return n->value;
}

static struct stet_view resource_key(struct mlir *p)
{
    return stet_mlir_peek(p) == '"' ? stet_mlir_string(p) : stet_mlir_suffix(p, "a resource name");
}

const struct stet_attr *stet_mlir_dense_resource(struct mlir *p)
{
    struct stet_attr *a = stet_build_attr(p->arena, STET_ATTR_RESOURCE);
    struct resource_user *user = STET_NEW(&p->temporary, struct resource_user);
    struct resource *r;
    struct stet_view key;
    const struct stet_type *type;

    stet_mlir_expect(p, "<");
    key = resource_key(p);
    stet_mlir_expect(p, ">");
    stet_mlir_expect(p, ":");
    type = stet_mlir_type(p);
    r = resource(p, key);
    if (!a || !user || !r) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    a->of.type = type;
    stet_attr_set_text(a, key);
    *user = (struct resource_user){.attr = a, .next = r->users};
    stet_attr_set_bytes(a, r->bytes);
    p->left_out += !r->defined;
    r->users = user;
    p->weight++;
    return a;
}

/* Reads `name: "0x…"`. The bytes are four of alignment, then the data. */
static void blob(struct mlir *p)
{
    const char *where = p->at;
    struct stet_view key = resource_key(p), bytes;
    struct resource *r = resource(p, key);

    if (!stet_mlir_expect(p, ":") || !r)
        return;
    stet_mlir_space(p);
    bytes = hex_bytes(p);
    if (!mlir_ok(p))
        return;
    if (bytes.len < 4) {
        stet_mlir_fail(p, where, "resource without an alignment");
        return;
    }
    bytes = stet_view_of(bytes.ptr + 4, bytes.len - 4);
    if (r->defined) { /* printed once for each user */
        if (!stet_view_eq(bytes, r->bytes))
            stet_mlir_fail(p, where, "resource defined twice");
        return;
    }
    r->defined = true;
    r->bytes = bytes;
    for (struct resource_user *u = r->users; u; u = u->next) {
        stet_attr_set_bytes(u->attr, r->bytes);
        p->left_out--;
    }
}

void stet_mlir_resources(struct mlir *p)
{
    bool first = true, first_dialect, first_blob;

    stet_mlir_expect(p, "{-#");
    while (stet_mlir_more(p, "#-}", &first)) {
        struct stet_view section = stet_mlir_word(p, "the name of a section");

        stet_mlir_expect(p, ":");
        if (!stet_view_is(section, "dialect_resources")) {
            stet_mlir_space(p);
            if (stet_mlir_at(p, "{"))
                stet_mlir_balanced(p);
            else
                stet_mlir_expect(p, "{");
            continue;
        }
        stet_mlir_expect(p, "{");
        for (first_dialect = true; stet_mlir_more(p, "}", &first_dialect);) {
            stet_mlir_word(p, "the name of a dialect");
            stet_mlir_expect(p, ":");
            stet_mlir_expect(p, "{");
            for (first_blob = true; stet_mlir_more(p, "}", &first_blob);)
                blob(p);
        }
    }
}
