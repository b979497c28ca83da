/* Types in MLIR text. Equal text means an equal type, so most are found in a table without
 * parsing. */
#include "decode/mlir/mlir_text.h"

static const struct stet_type *make(struct mlir *p, struct stet_type t)
{
    struct stet_type *out = mlir_ok(p) ? STET_NEW(p->arena, struct stet_type) : NULL;

    p->weight++;
    if (out)
        *out = t;
    else
        stet_mlir_no_memory(p);
    return out;
}

static const struct stet_type *make_more(struct mlir *p, struct stet_type t,
                                         struct stet_type_rest rest)
{
    if (mlir_ok(p) && !stet_build_rest(p->arena, &t, &rest))
        stet_mlir_no_memory(p);
    return make(p, t);
}

/* Types up to `close`, onto the scratch stack. */
static void type_list(struct mlir *p, const char *close)
{
    bool first = true;

    while (stet_mlir_more(p, close, &first)) {
        stet_mlir_push_pointer(p, &p->scratch, stet_mlir_type(p));
    }
}

const struct stet_type *stet_mlir_function_type(struct mlir *p)
{
    struct stet_type t = {.kind = STET_TYPE_FUNCTION};
    size_t mark = mlir_mark(&p->scratch);
    const struct stet_type *single;

    if (!stet_mlir_expect(p, "(") || !stet_mlir_enter(p))
        return NULL;
    type_list(p, ")");
    t.input_count = (uint32_t)((p->scratch.len - mark) / sizeof(*t.members));
    stet_mlir_expect(p, "->");
    if (stet_mlir_accept(p, "(")) {
        type_list(p, ")");
    } else {
        single = stet_mlir_type(p);
        stet_mlir_push_pointer(p, &p->scratch, single);
    }
    mlir_leave(p);
    t.members = stet_mlir_pop(p, &p->scratch, mark, sizeof(*t.members), &t.member_count);
    return make(p, t);
}

/* 4x?x: sizes, each with its 'x', onto the scratch stack. A scalable dimension of a vector, [4], is
 * stored as ~4. True if there is one. */
static bool dimensions(struct mlir *p, bool vector)
{
    bool any = false;

    while (mlir_ok(p)) {
        bool scales = vector && stet_mlir_accept(p, "[");
        char c = stet_mlir_peek(p);
        int64_t size = STET_DYNAMIC;

        if (c == '?' && !vector)
            p->at++;
        else if (c >= '0' && c <= '9')
            size = stet_mlir_int(p);
        else if (scales)
            stet_mlir_fail(p, p->at, "expected a size");
        else
            break;
        if (scales)
            stet_mlir_expect(p, "]");
        if (scales)
            size = ~size;
        MLIR_PUSH(p, &p->scratch, size);
        stet_mlir_expect(p, "x");
        any |= scales;
    }
    return any;
}

/* Which of the dimensions scale, as array<i1: …>; they become plain sizes. */
static const struct stet_attr *scaling(struct mlir *p, int64_t *dims, uint32_t rank)
{
    char *which = mlir_ok(p) ? stet_arena_raw(p->arena, rank, 1) : NULL;

    if (!which) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    for (uint32_t i = 0; i < rank; i++) {
        which[i] = dims[i] < 0;
        dims[i] = dims[i] < 0 ? ~dims[i] : dims[i];
    }
    return stet_mlir_make(
        p, (struct stet_attr){.kind = STET_ATTR_DENSE_ARRAY,
                              .of.type = stet_type_integer(p->arena, 1, STET_SIGNLESS),
                              .at = which,
                              .size = rank});
}

/* #stablehlo.bounds<...> is also converted to plain numbers, for code that needs shapes. */
static const int64_t *bounds_of(const struct stet_attr *encoding, uint32_t rank)
{
    const struct stet_attr *bounds = NULL;

    if (encoding->kind == STET_ATTR_RECORD && stet_view_is(stet_attr_mnemonic(encoding), "bounds"))
        bounds = encoding->named[0].value;
    return bounds && bounds->count == rank ? bounds->ints : NULL;
}

/* After "tensor<", "vector<" or "memref<". */
static const struct stet_type *shaped(struct mlir *p, enum stet_type_kind kind)
{
    struct stet_type t = {.kind = kind};
    struct stet_type_rest rest = {0};
    size_t mark = mlir_mark(&p->scratch);

    if (kind != STET_TYPE_VECTOR && stet_mlir_accept(p, "*")) {
        stet_mlir_expect(p, "x");
        t.kind = kind == STET_TYPE_TENSOR ? STET_TYPE_UNRANKED : STET_TYPE_UNRANKED_MEMREF;
    } else {
        bool any = dimensions(p, kind == STET_TYPE_VECTOR);
        int64_t *dims = stet_mlir_pop(p, &p->scratch, mark, sizeof(int64_t), &t.rank);

        t.dims = dims;
        if (any)
            rest.encoding = scaling(p, dims, t.rank);
    }
    t.element = stet_mlir_type(p);
    mark = mlir_mark(&p->scratch);
    while (kind != STET_TYPE_VECTOR && stet_mlir_accept(p, ",")) {
        stet_mlir_push_pointer(p, &p->scratch, stet_mlir_attr(p));
    }
    stet_mlir_expect(p, ">");
    uint32_t n;
    const struct stet_attr *const *extra =
        stet_mlir_pop(p, &p->scratch, mark, sizeof(const struct stet_attr *), &n);
    if (n)
        rest.encoding = n == 1 ? extra[0] : stet_mlir_make_array(p, extra, n);
    if (rest.encoding && mlir_ok(p)) {
        rest.bounds = bounds_of(rest.encoding, t.rank);
        return make_more(p, t, rest);
    }
    return make(p, t);
}

static const struct stet_type *members(struct mlir *p, enum stet_type_kind kind)
{
    struct stet_type t = {.kind = kind};
    size_t mark = mlir_mark(&p->scratch);

    type_list(p, ">");
    t.members = stet_mlir_pop(p, &p->scratch, mark, sizeof(*t.members), &t.member_count);
    return make(p, t);
}

/* i32, si8, ui64; NULL if the word is something else. */
static const struct stet_type *integer_word(struct mlir *p, struct stet_view w)
{
    size_t i = w.ptr[0] == 'i' ? 1 : w.len > 1 && w.ptr[1] == 'i' ? 2 : 0;
    uint32_t width = 0;
    enum stet_sign sign;

    if (i == 0 || i == w.len || w.len - i > 8 || (i == 2 && w.ptr[0] != 's' && w.ptr[0] != 'u'))
        return NULL;
    sign = i == 1 ? STET_SIGNLESS : w.ptr[0] == 's' ? STET_SIGNED : STET_UNSIGNED;
    for (; i < w.len; i++) {
        if (w.ptr[i] < '0' || w.ptr[i] > '9')
            return NULL;
        width = width * 10 + (uint32_t)(w.ptr[i] - '0');
    }
    return width > 0 && width < (1 << 24) ? stet_type_integer(p->arena, width, sign) : NULL;
}

/* A builtin type that starts with a word, of which nothing was taken yet. */
static const struct stet_type *word_type(struct mlir *p)
{
    const char *where = p->at;
    struct stet_view w = stet_mlir_word(p, "a type");
    const struct stet_type *element = w.len ? integer_word(p, w) : NULL;
    enum stet_float flavour;

    if (w.len == 0 || element)
        return element;
    if (stet_float_by_name(w, &flavour))
        return stet_type_float(flavour);
    if (stet_view_is(w, "index"))
        return &stet_type_index;
    if (stet_view_is(w, "none"))
        return &stet_type_none;
    if (!stet_mlir_accept(p, "<"))
        goto unknown;
    if (stet_view_is(w, "tensor"))
        return shaped(p, STET_TYPE_TENSOR);
    if (stet_view_is(w, "vector"))
        return shaped(p, STET_TYPE_VECTOR);
    if (stet_view_is(w, "memref"))
        return shaped(p, STET_TYPE_MEMREF);
    if (stet_view_is(w, "tuple"))
        return members(p, STET_TYPE_TUPLE);
    if (stet_view_is(w, "complex")) {
        element = stet_mlir_type(p);
        stet_mlir_expect(p, ">");
        return make(p, (struct stet_type){.kind = STET_TYPE_COMPLEX, .element = element});
    }
unknown:
    stet_mlir_fail(p, where, "unknown type '%.*s'", STET_FMT(w));
    return NULL;
}

/* u8, as only quantized types write it: an integer of 8 bits. NULL if it is something else. */
static const struct stet_type *unsigned_storage(struct mlir *p)
{
    const char *at = p->at;
    uint32_t width = 0;

    if (at == p->end || *at != 'u')
        return NULL;
    for (at++; at < p->end && *at >= '0' && *at <= '9' && width < 100; at++)
        width = width * 10 + (uint32_t)(*at - '0');
    if (width == 0)
        return NULL;
    return make(p, (struct stet_type){.kind = STET_TYPE_INTEGER, .width = width});
}

/* i8:f32, u8<0:7>:f32 …: the storage type comes first, the rest stays text. */
static const struct stet_type *quantized(struct mlir *p, struct stet_view rest)
{
    const char *from = p->at;
    struct stet_view body = stet_mlir_balanced(p);
    const char *after = p->at;
    const struct stet_type *storage;

    if (body.len == 0)
        return NULL;
    p->at = from + 1;
    storage = unsigned_storage(p);
    if (!storage)
        storage = stet_mlir_type(p);
    if (mlir_ok(p))
        p->at = after;
    return make_more(
        p, (struct stet_type){.kind = STET_TYPE_QUANTIZED, .element = storage},
        (struct stet_type_rest){.dialect = STET_VIEW("quant"),
                                .text = stet_view_of(rest.ptr, (size_t)(after - rest.ptr))});
}

/* !dialect.rest<...> or !dialect<...>; `name` is the part before the '<'. */
static const struct stet_type *dialect_type(struct mlir *p, struct stet_view name)
{
    const char *dot = memchr(name.ptr, '.', name.len);
    size_t n = dot ? (size_t)(dot - name.ptr) : name.len;
    struct stet_view dialect = stet_view_of(name.ptr, n),
                     rest = stet_view_of(name.ptr + n, name.len - n);
    bool body = p->at < p->end && *p->at == '<';

    if (stet_view_is(name, "stablehlo.token"))
        return &stet_type_token;
    if (stet_view_is(name, "stablehlo.future") && stet_mlir_accept(p, "<"))
        return members(p, STET_TYPE_FUTURE);
    if (body && stet_view_is(dialect, "quant"))
        return quantized(p, rest);
    if (body)
        stet_mlir_balanced(p);
    rest.len = (size_t)(p->at - rest.ptr);
    return make_more(p, (struct stet_type){.kind = STET_TYPE_OPAQUE},
                     (struct stet_type_rest){.dialect = dialect, .text = rest});
}

static const struct stet_type *bang_type(struct mlir *p)
{
    const char *where = p->at++;
    struct stet_view name = stet_mlir_suffix(p, "a type name");
    struct mlir_alias *alias = stet_mlir_alias(p, MLIR_TYPE_ALIASES, name);

    if (!mlir_ok(p) || alias)
        return mlir_ok(p) ? alias->type : NULL;
    if (!memchr(name.ptr, '.', name.len) && (p->at >= p->end || *p->at != '<')) {
        stet_mlir_fail(p, where, "type alias '!%.*s' is not defined", STET_FMT(name));
        return NULL;
    }
    return dialect_type(p, name);
}

/* tensor<4x4xf32>, i32 and the like as written; or empty, and the type must then be parsed. */
static struct stet_view plain_words(const struct mlir *p)
{
    const char *c = p->at;

    while (c < p->end && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                          (*c >= '0' && *c <= '9') || *c == '?'))
        c++;
    if (c < p->end && *c == '<') {
        for (c++; c < p->end && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                                 (*c >= '0' && *c <= '9') || *c == '?');)
            c++;
        if (c == p->end || *c != '>')
            return (struct stet_view){0};
        c++;
    }
    return stet_view_of(p->at, (size_t)(c - p->at));
}

const struct stet_type *stet_mlir_type(struct mlir *p)
{
    char c = stet_mlir_peek(p);
    const struct stet_type *t;
    struct stet_view words;
    struct mlir_name *known;
    bool made;

    if (c == '(')
        return stet_mlir_function_type(p);
    words = plain_words(p);
    known = words.len ? stet_mlir_find(p, MLIR_TYPES, 0, words) : NULL;
    if (known) {
        p->at += words.len;
        return known->value;
    }
    if (!stet_mlir_enter(p))
        return NULL;
    t = c == '!' ? bang_type(p) : word_type(p);
    mlir_leave(p);
    if (t && words.len && p->at == words.ptr + words.len && mlir_ok(p)) {
        known = stet_mlir_name(p, MLIR_TYPES, 0, words, &made);
        if (known)
            known->value = (void *)(uintptr_t)t;
    }
    return t;
}
