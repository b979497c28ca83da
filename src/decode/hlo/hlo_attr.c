/* Small constructors for the attributes of HLO instructions. */
#include "decode/hlo/hlo_build.h"

#include "base/buf.h"

struct stet_attr *stet_decode_hlo_new_int(struct stet_arena *a, int64_t v)
{
    struct stet_attr *r = stet_build_attr(a, STET_ATTR_INTEGER);

    if (r) {
        r->integer = v;
        r->of.type = stet_type_integer(a, 64, STET_SIGNLESS);
    }
    return r;
}

struct stet_attr *stet_decode_hlo_new_bool(struct stet_arena *a, bool v)
{
    struct stet_attr *r = stet_build_attr(a, STET_ATTR_BOOL);

    if (r)
        r->integer = v;
    return r;
}

struct stet_attr *stet_decode_hlo_new_float(struct stet_arena *a, float v)
{
    struct stet_attr *r = stet_build_attr(a, STET_ATTR_FLOAT);
    unsigned char little[4];
    uint32_t bits;

    if (!r)
        return NULL;
    memcpy(&bits, &v, sizeof bits);
    for (unsigned i = 0; i < 4; i++)
        little[i] = (unsigned char)(bits >> (8 * i));
    r->of.type = stet_type_float(STET_F32);
    stet_attr_set_bytes(r, stet_arena_copy(a, stet_view_of(little, sizeof little)));
    return r;
}

struct stet_attr *stet_decode_hlo_new_ints(struct stet_arena *a, const int64_t *v, uint32_t n)
{
    struct stet_attr *r = stet_build_attr(a, STET_ATTR_INTS);

    if (r) {
        r->ints = v;
        r->count = n;
    }
    return r;
}

struct stet_attr *stet_decode_hlo_new_word(struct stet_arena *a, const char *mnemonic,
                                           struct stet_view text)
{
    struct stet_attr *r = stet_build_attr(a, STET_ATTR_ENUM);

    if (r) {
        r->of.name = stet_build_name(a, STET_VIEW("hlo"), stet_view_str(mnemonic));
        stet_attr_set_text(r, text);
    }
    return r;
}

struct stet_attr *stet_decode_hlo_new_string(struct stet_arena *a, struct stet_view text)
{
    struct stet_attr *r = stet_build_attr(a, STET_ATTR_STRING);

    if (r)
        stet_attr_set_text(r, text);
    return r;
}

struct stet_attr *stet_decode_hlo_comparison(struct stet_arena *a, const struct stet_type *operand,
                                             struct stet_view type, struct stet_view order)
{
    const struct stet_type *e =
        operand && operand->kind == STET_TYPE_TENSOR ? operand->element : &stet_type_none;
    const char *usual = "FLOAT";

    if (e->kind == STET_TYPE_INTEGER)
        usual = e->sign == STET_UNSIGNED || e->width == 1 ? "UNSIGNED" : "SIGNED";
    if (e->kind == STET_TYPE_FLOAT && stet_view_is(order, "TOTAL"))
        type = STET_VIEW("TOTALORDER");
    return !type.len || stet_view_is(type, usual) ? NULL
                                                  : stet_decode_hlo_new_word(a, "type", type);
}

struct stet_attr *stet_decode_hlo_new_symbol(struct stet_arena *a, struct stet_view text)
{
    struct stet_attr *r = stet_build_attr(a, STET_ATTR_SYMBOL);

    if (r)
        stet_attr_set_text(r, text);
    return r;
}

struct stet_attr *stet_decode_hlo_new_type(struct stet_arena *a, const struct stet_type *t)
{
    struct stet_attr *r = stet_build_attr(a, STET_ATTR_TYPE);

    if (r)
        r->of.type = t;
    return r;
}

struct stet_attr *stet_decode_hlo_new_array(struct stet_arena *a,
                                            const struct stet_attr *const *items, uint32_t n)
{
    struct stet_attr *r = stet_build_attr(a, STET_ATTR_ARRAY);

    if (r) {
        r->items = items;
        r->count = n;
    }
    return r;
}

struct stet_attr *stet_decode_hlo_array_of(struct stet_arena *a, struct stet_build_list *items)
{
    uint32_t n = (uint32_t)items->count;
    const struct stet_attr **kept;

    a->failed |= items->failed;
    kept = stet_build_list_keep(items, a);
    stet_build_list_release(items);
    return kept ? stet_decode_hlo_new_array(a, kept, n) : NULL;
}

struct stet_attr *stet_decode_hlo_new_record(struct stet_arena *a, const char *mnemonic,
                                             const struct stet_named_attr *fields, uint32_t n)
{
    struct stet_attr *r = stet_build_attr(a, mnemonic ? STET_ATTR_RECORD : STET_ATTR_DICT);

    if (r) {
        if (mnemonic)
            r->of.name = stet_build_name(a, STET_VIEW("hlo"), stet_view_str(mnemonic));
        r->named = fields;
        r->count = n;
    }
    return r;
}

static void put(struct stet_named_attr *attrs, uint32_t *count, uint32_t room,
                struct stet_view name, const struct stet_attr *v)
{
    if (v && *count < room)
        attrs[(*count)++] = (struct stet_named_attr){name, v};
}

void stet_decode_hlo_put(struct stet_arena *a, struct stet_named_attr *attrs, uint32_t *count,
                         uint32_t room, enum stet_hlo_attr which, const struct stet_attr *v)
{
    struct stet_view name = stet_view_str(stet_hlo_attr_name(which));
    enum stet_hlo_form form = stet_hlo_attr_form(which);
    uint32_t spread;

    if (!v || v->kind != STET_ATTR_RECORD ||
        (form != STET_HLO_F_SLICE && form != STET_HLO_F_PADDING && form != STET_HLO_F_WINDOW)) {
        put(attrs, count, room, name, v);
        return;
    }
    /* of a window only its size, the first field, is stored as itself */
    spread = form == STET_HLO_F_WINDOW && v->count ? 1 : v->count;
    for (uint32_t i = 0; i < spread; i++)
        put(attrs, count, room, v->named[i].name, v->named[i].value);
    if (v->count > spread)
        put(attrs, count, room, name,
            stet_decode_hlo_new_record(a, "window", v->named + spread, v->count - spread));
}

/* ---- layouts of the entry ---- */

static bool is_usual(const struct stet_type *t)
{
    for (uint32_t i = 0; stet_type_rest(t)->layout && i < t->rank; i++)
        if (stet_type_rest(t)->layout[i] != (int64_t)t->rank - 1 - i)
            return false;
    return !stet_type_rest(t)->layout_extra.len;
}

static struct stet_view layout_text(struct stet_arena *a, const struct stet_type *t)
{
    struct stet_buf full = STET_BUF_INIT, bare = STET_BUF_INIT;
    struct stet_view v;

    if (t->kind != STET_TYPE_TENSOR || (stet_type_rest(t)->layout && is_usual(t)) ||
        (!stet_type_rest(t)->layout && !t->rank))
        return STET_VIEW("");
    if (!stet_type_rest(t)->layout)
        return STET_VIEW("none");
    stet_print_hlo_type(&full, t, true);
    stet_print_hlo_type(&bare, t, false);
    v = full.failed || bare.failed
            ? (struct stet_view){0}
            : stet_arena_copy(a, stet_view_of(full.ptr + bare.len, full.len - bare.len));
    a->failed |= full.failed || bare.failed;
    stet_buf_release(&full);
    stet_buf_release(&bare);
    return v;
}

static void add_leaves(struct stet_arena *a, const struct stet_type *t, struct stet_build_list *out)
{
    if (t->kind != STET_TYPE_TUPLE) {
        stet_build_list_add(out, stet_decode_hlo_new_string(a, layout_text(a, t)));
        return;
    }
    for (uint32_t i = 0; i < t->member_count; i++)
        add_leaves(a, t->members[i], out);
}

const struct stet_attr *stet_decode_hlo_entry_layout(struct stet_arena *a,
                                                     const struct stet_type *t)
{
    struct stet_build_list leaves = {0};

    for (uint32_t i = 0; i < t->member_count; i++)
        add_leaves(a, t->members[i], &leaves);
    return stet_decode_hlo_array_of(a, &leaves);
}
