/* Small constructors for the attributes of HLO instructions. */
#include "decode/hlo_build.h"

static struct stet_attr *make(struct stet_arena *a, enum stet_attr_kind kind)
{
    struct stet_attr *v = STET_NEW(a, struct stet_attr);

    if (v)
        v->kind = kind;
    return v;
}

struct stet_attr *stet_hlo_new_int(struct stet_arena *a, int64_t v)
{
    struct stet_attr *r = make(a, STET_ATTR_INTEGER);

    if (r) {
        r->integer = v;
        r->type = stet_type_integer(a, 64, STET_SIGNLESS);
    }
    return r;
}

struct stet_attr *stet_hlo_new_bool(struct stet_arena *a, bool v)
{
    struct stet_attr *r = make(a, STET_ATTR_BOOL);

    if (r)
        r->integer = v;
    return r;
}

struct stet_attr *stet_hlo_new_float(struct stet_arena *a, float v)
{
    struct stet_attr *r = make(a, STET_ATTR_FLOAT);
    unsigned char little[4];
    uint32_t bits;

    if (!r)
        return NULL;
    memcpy(&bits, &v, sizeof bits);
    for (unsigned i = 0; i < 4; i++)
        little[i] = (unsigned char)(bits >> (8 * i));
    r->type = stet_type_float(STET_F32);
    r->bytes = stet_arena_copy(a, stet_view_of(little, sizeof little));
    return r;
}

struct stet_attr *stet_hlo_new_ints(struct stet_arena *a, const int64_t *v, uint32_t n)
{
    struct stet_attr *r = make(a, STET_ATTR_INTS);

    if (r) {
        r->ints = v;
        r->count = n;
    }
    return r;
}

struct stet_attr *stet_hlo_new_word(struct stet_arena *a, const char *mnemonic,
                                    struct stet_view text)
{
    struct stet_attr *r = make(a, STET_ATTR_ENUM);

    if (r) {
        r->dialect = STET_VIEW("hlo");
        r->mnemonic = stet_view_str(mnemonic);
        r->text = text;
    }
    return r;
}

struct stet_attr *stet_hlo_new_string(struct stet_arena *a, struct stet_view text)
{
    struct stet_attr *r = make(a, STET_ATTR_STRING);

    if (r)
        r->text = text;
    return r;
}

struct stet_attr *stet_hlo_new_symbol(struct stet_arena *a, struct stet_view text)
{
    struct stet_attr *r = make(a, STET_ATTR_SYMBOL);

    if (r)
        r->text = text;
    return r;
}

struct stet_attr *stet_hlo_new_type(struct stet_arena *a, const struct stet_type *t)
{
    struct stet_attr *r = make(a, STET_ATTR_TYPE);

    if (r)
        r->type = t;
    return r;
}

struct stet_attr *stet_hlo_new_array(struct stet_arena *a, const struct stet_attr *const *items,
                                     uint32_t n)
{
    struct stet_attr *r = make(a, STET_ATTR_ARRAY);

    if (r) {
        r->items = items;
        r->count = n;
    }
    return r;
}

struct stet_attr *stet_hlo_new_record(struct stet_arena *a, const char *mnemonic,
                                      const struct stet_named_attr *fields, uint32_t n)
{
    struct stet_attr *r = make(a, mnemonic ? STET_ATTR_RECORD : STET_ATTR_DICT);

    if (r) {
        if (mnemonic) {
            r->dialect = STET_VIEW("hlo");
            r->mnemonic = stet_view_str(mnemonic);
        }
        r->named = fields;
        r->count = n;
    }
    return r;
}
