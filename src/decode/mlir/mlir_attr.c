/* Attributes in MLIR text: the builtin ones, dictionaries, aliases, and unknown dialects, which
 * stay opaque. */
#include "decode/mlir/mlir_text.h"

const struct stet_attr *stet_mlir_make(struct mlir *p, struct stet_attr a)
{
    const struct stet_attr *out =
        mlir_ok(p) ? stet_decode_shared_attr(&p->interned, p->arena, &a) : NULL;

    p->weight++;
    if (!out)
        stet_mlir_no_memory(p);
    return out;
}

const struct stet_attr *stet_mlir_make_int(struct mlir *p, const struct stet_type *type, int64_t v)
{
    return stet_mlir_make(
        p, (struct stet_attr){.kind = STET_ATTR_INTEGER, .of.type = type, .integer = v});
}

const struct stet_attr *stet_mlir_make_bool(struct mlir *p, bool v)
{
    return stet_mlir_make(p, (struct stet_attr){.kind = STET_ATTR_BOOL, .integer = v});
}

const struct stet_attr *stet_mlir_make_string(struct mlir *p, struct stet_view v)
{
    return stet_mlir_make(p,
                          (struct stet_attr){.kind = STET_ATTR_STRING, .at = v.ptr, .size = v.len});
}

const struct stet_attr *stet_mlir_make_array(struct mlir *p, const struct stet_attr *const *items,
                                             uint32_t count)
{
    return stet_mlir_make(
        p, (struct stet_attr){.kind = STET_ATTR_ARRAY, .items = items, .count = count});
}

const struct stet_attr *stet_mlir_make_ints(struct mlir *p, const int64_t *v, uint32_t count)
{
    return stet_mlir_make(p, (struct stet_attr){.kind = STET_ATTR_INTS, .ints = v, .count = count});
}

const int64_t *stet_mlir_dims(struct mlir *p, uint32_t *count)
{
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;

    *count = 0;
    if (!stet_mlir_expect(p, "["))
        return NULL;
    while (stet_mlir_more(p, "]", &first)) {
        int64_t v = stet_mlir_accept(p, "?") ? STET_DYNAMIC : stet_mlir_int(p);

        MLIR_PUSH(p, &p->scratch, v);
    }
    return stet_mlir_pop(p, &p->scratch, mark, sizeof(int64_t), count);
}

const struct stet_attr *stet_mlir_array(struct mlir *p)
{
    size_t mark = mlir_mark(&p->scratch);
    const struct stet_attr *const *items;
    uint32_t count;
    bool first = true;

    if (!stet_mlir_expect(p, "["))
        return NULL;
    while (stet_mlir_more(p, "]", &first)) {
        stet_mlir_push_pointer(p, &p->scratch, stet_mlir_attr(p));
    }
    items = stet_mlir_pop(p, &p->scratch, mark, sizeof(*items), &count);
    return stet_mlir_make_array(p, items, count);
}

void stet_mlir_dict_entries(struct mlir *p, struct stet_buf *stack)
{
    bool first = true;

    if (!stet_mlir_expect(p, "{"))
        return;
    while (stet_mlir_more(p, "}", &first)) {
        struct stet_named_attr entry;

        entry.name = stet_mlir_peek(p) == '"' ? stet_mlir_string(p)
                                              : stet_mlir_word(p, "the name of an attribute");
        if (stet_mlir_accept(p, "="))
            entry.value = stet_mlir_attr(p);
        else
            entry.value = stet_mlir_make(p, (struct stet_attr){.kind = STET_ATTR_UNIT});
        MLIR_PUSH(p, stack, entry);
    }
}

static const struct stet_attr *dictionary(struct mlir *p)
{
    struct stet_attr a = {.kind = STET_ATTR_DICT};
    size_t mark = mlir_mark(&p->scratch);

    stet_mlir_dict_entries(p, &p->scratch);
    a.named = stet_mlir_pop(p, &p->scratch, mark, sizeof(*a.named), &a.count);
    return stet_mlir_make(p, a);
}

static const struct stet_attr *string(struct mlir *p)
{
    struct stet_view text = stet_mlir_string(p);
    struct stet_attr a = {.kind = STET_ATTR_STRING, .at = text.ptr, .size = text.len};

    if (stet_mlir_accept(p, ":"))
        a.of.type = stet_mlir_type(p);
    return stet_mlir_make(p, a);
}

static const struct stet_attr *symbol(struct mlir *p)
{
    struct stet_attr a = {.kind = STET_ATTR_SYMBOL, .word = stet_mlir_symbol(p)};
    size_t mark = mlir_mark(&p->scratch);

    while (stet_mlir_accept(p, "::")) {
        stet_mlir_push_pointer(p, &p->scratch,
                               stet_mlir_make(p, (struct stet_attr){.kind = STET_ATTR_SYMBOL,
                                                                    .word = stet_mlir_symbol(p)}));
    }
    a.items = stet_mlir_pop(p, &p->scratch, mark, sizeof(*a.items), &a.count);
    return stet_mlir_make(p, a);
}

/* affine_map<…>, strided<…> and the like: compared, not interpreted. */
static const struct stet_attr *kept_text(struct mlir *p, const char *from)
{
    if (stet_mlir_at(p, "<"))
        stet_mlir_balanced(p);
    else
        stet_mlir_expect(p, "<");
    return stet_mlir_make(p, (struct stet_attr){.kind = STET_ATTR_AFFINE_MAP,
                                                .at = from,
                                                .size = (size_t)(p->at - from)});
}

/* #dialect.mnemonic<…> or #dialect<mnemonic …>, after '#' and `name`. */
static const struct stet_attr *dialect_attr(struct mlir *p, struct stet_view name)
{
    const char *dot = memchr(name.ptr, '.', name.len), *at = p->at;
    size_t n = dot ? (size_t)(dot - name.ptr) : name.len;
    struct stet_view dialect = stet_view_of(name.ptr, n), mnemonic;
    const struct stet_attr *a;

    if (dot) {
        mnemonic = stet_view_of(dot + 1, name.len - n - 1);
        a = stet_mlir_known_attr(p, dialect, mnemonic, true);
    } else {
        p->at++;
        mnemonic = stet_mlir_optional_word(p);
        a = stet_mlir_known_attr(p, dialect, mnemonic, false);
        if (a)
            stet_mlir_expect(p, ">");
    }
    if (a || !mlir_ok(p))
        return a;
    p->at = at;
    if (at < p->end && *at == '<')
        stet_mlir_balanced(p);
    return stet_mlir_make(
        p, (struct stet_attr){.kind = STET_ATTR_OPAQUE,
                              .of.name = stet_build_name(p->arena, dialect, (struct stet_view){0}),
                              .word = stet_view_of(name.ptr + n, (size_t)(p->at - name.ptr) - n)});
}

static const struct stet_attr *hash_attr(struct mlir *p)
{
    const char *where = p->at++;
    struct stet_view name = stet_mlir_suffix(p, "an attribute name");
    struct mlir_alias *alias = stet_mlir_alias(p, MLIR_ATTR_ALIASES, name);

    if (!mlir_ok(p) || alias)
        return mlir_ok(p) ? alias->attr : NULL;
    if (!memchr(name.ptr, '.', name.len) && (p->at >= p->end || *p->at != '<')) {
        stet_mlir_fail(p, where, "attribute alias '#%.*s' is not defined", STET_FMT(name));
        return NULL;
    }
    return dialect_attr(p, name);
}

static const struct stet_attr *type_attr(struct mlir *p)
{
    return stet_mlir_make(p,
                          (struct stet_attr){.kind = STET_ATTR_TYPE, .of.type = stet_mlir_type(p)});
}

static const struct stet_attr *location_attr(struct mlir *p)
{
    const struct stet_loc *l = stet_mlir_optional_loc(p);

    return stet_mlir_make(p, (struct stet_attr){.kind = STET_ATTR_LOCATION, .location = l});
}

static const struct stet_attr *word_attr(struct mlir *p)
{
    const char *from = p->at;

    if (stet_mlir_accept_word(p, "true"))
        return stet_mlir_make_bool(p, true);
    if (stet_mlir_accept_word(p, "false"))
        return stet_mlir_make_bool(p, false);
    if (stet_mlir_accept_word(p, "unit"))
        return stet_mlir_make(p, (struct stet_attr){.kind = STET_ATTR_UNIT});
    if (stet_mlir_accept_word(p, "dense"))
        return stet_mlir_dense(p);
    if (stet_mlir_accept_word(p, "dense_resource"))
        return stet_mlir_dense_resource(p);
    if (stet_mlir_accept_word(p, "sparse"))
        return stet_mlir_sparse(p);
    if (stet_mlir_accept_word(p, "array"))
        return stet_mlir_dense_array(p);
    if (stet_mlir_at_word(p, "loc"))
        return location_attr(p);
    if (stet_mlir_accept_word(p, "affine_map") || stet_mlir_accept_word(p, "affine_set") ||
        stet_mlir_accept_word(p, "strided") || stet_mlir_accept_word(p, "opaque"))
        return kept_text(p, from);
    if (stet_mlir_at_word(p, "distinct")) {
        stet_mlir_fail_rc(p, STET_UNSUPPORTED, from, "distinct attributes are not read");
        return NULL;
    }
    return type_attr(p);
}

const struct stet_attr *stet_mlir_attr(struct mlir *p)
{
    char c = stet_mlir_peek(p);
    const struct stet_attr *a = NULL;

    if (!stet_mlir_enter(p)) {
        mlir_leave(p);
        return NULL;
    }
    if (c == '[')
        a = stet_mlir_array(p);
    else if (c == '{')
        a = dictionary(p);
    else if (c == '"')
        a = string(p);
    else if (c == '@')
        a = symbol(p);
    else if (c == '#')
        a = hash_attr(p);
    else if (c == '(' || c == '!')
        a = type_attr(p);
    else if (c == '-' || (c >= '0' && c <= '9'))
        a = stet_mlir_number(p, NULL);
    else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')
        a = word_attr(p);
    else
        stet_mlir_fail(p, p->at, "expected an attribute");
    mlir_leave(p);
    return mlir_ok(p) ? a : NULL;
}
