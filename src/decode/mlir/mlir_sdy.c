/* Shardy's attributes in MLIR text: meshes, shardings, sharding rules, each with its own
 * brackets. */
#include "decode/mlir/mlir_text.h"

static const struct stet_attr *i64_attr(struct mlir *p, int64_t v)
{
    return stet_mlir_make_int(p, stet_type_integer(p->arena, 64, STET_SIGNLESS), v);
}

/* Items read by `item` up to `close`, as an ARRAY. */
static const struct stet_attr *list(struct mlir *p, const char *close,
                                    const struct stet_attr *(*item)(struct mlir *p))
{
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;
    uint32_t n;

    while (stet_mlir_more(p, close, &first)) {
        stet_mlir_push_pointer(p, &p->scratch, item(p));
    }
    const struct stet_attr *const *items = stet_mlir_pop(p, &p->scratch, mark, sizeof(*items), &n);

    return stet_mlir_make_array(p, items, n);
}

static const struct stet_attr *bracketed(struct mlir *p, const char *open, const char *close,
                                         const struct stet_attr *(*item)(struct mlir *p))
{
    return stet_mlir_expect(p, open) ? list(p, close, item) : NULL;
}

static const struct stet_attr *wrapped(struct mlir *p, const char *mnemonic,
                                       const struct stet_attr *value)
{
    struct mlir_record r = stet_mlir_record("sdy", mnemonic);

    r.fields[0] = value;
    return stet_mlir_make_record(p, &r);
}

static const struct stet_attr *string(struct mlir *p)
{
    return stet_mlir_make_string(p, stet_mlir_string(p));
}

static const struct stet_attr *sub_axis(struct mlir *p)
{
    return stet_mlir_known_attr(p, STET_VIEW("sdy"), STET_VIEW("sub_axis_info"), true);
}

/* "x" or "x":(2)4 */
static const struct stet_attr *axis(struct mlir *p)
{
    struct mlir_record r = stet_mlir_record("sdy", "axis_ref");

    r.fields[0] = string(p);
    if (stet_mlir_accept(p, ":"))
        r.fields[1] = sub_axis(p);
    return stet_mlir_make_record(p, &r);
}

/* "x"=4 */
static const struct stet_attr *mesh_axis(struct mlir *p)
{
    struct mlir_record r = stet_mlir_record("sdy", "mesh_axis");

    r.fields[0] = string(p);
    stet_mlir_expect(p, "=");
    r.fields[1] = i64_attr(p, stet_mlir_int(p));
    return stet_mlir_make_record(p, &r);
}

/* <["x"=4, "y"=2], device_ids=[3, 2, …]> */
static const struct stet_attr *mesh(struct mlir *p)
{
    struct mlir_record r = stet_mlir_record("sdy", "mesh");
    const int64_t *ids;
    uint32_t n;

    stet_mlir_expect(p, "<");
    r.fields[0] = bracketed(p, "[", "]", mesh_axis);
    if (stet_mlir_accept(p, ",")) {
        stet_mlir_expect_word(p, "device_ids");
        stet_mlir_expect(p, "=");
        ids = stet_mlir_dims(p, &n);
        r.fields[1] = stet_mlir_make_ints(p, ids, n);
    }
    stet_mlir_expect(p, ">");
    return stet_mlir_make_record(p, &r);
}

/* {"x", "y", ?}p1: the '?' means that more axes may be added; the last part is a priority. */
static const struct stet_attr *dimension(struct mlir *p)
{
    struct mlir_record r = stet_mlir_record("sdy", "dimension_sharding");
    size_t mark = mlir_mark(&p->scratch);
    bool first = true, closed = true;
    struct stet_view word;
    uint32_t n;

    stet_mlir_expect(p, "{");
    while (stet_mlir_more(p, "}", &first)) {
        if (stet_mlir_accept(p, "?")) {
            closed = false;
            stet_mlir_expect(p, "}");
            break;
        }
        stet_mlir_push_pointer(p, &p->scratch, axis(p));
    }
    const struct stet_attr *const *axes = stet_mlir_pop(p, &p->scratch, mark, sizeof(*axes), &n);

    r.fields[0] = stet_mlir_make_array(p, axes, n);
    r.fields[1] = stet_mlir_make_bool(p, closed);
    if (stet_mlir_peek(p) == 'p') {
        word = stet_mlir_word(p, "a priority");
        p->at = mlir_ok(p) ? word.ptr + 1 : p->at;
        r.fields[2] = i64_attr(p, stet_mlir_int(p));
    }
    return stet_mlir_make_record(p, &r);
}

/* <@mesh, [{"x"}, {?}], replicated={"y"}, unreduced={"z"}> */
static const struct stet_attr *sharding(struct mlir *p)
{
    struct mlir_record r = stet_mlir_record("sdy", "sharding");

    if (stet_mlir_peek(p) == '#') /* also in the position of the short form */
        return stet_mlir_attr(p);
    stet_mlir_expect(p, "<");
    if (stet_mlir_accept_word(p, "mesh"))
        r.fields[0] = mesh(p);
    else
        r.fields[0] = stet_mlir_attr(p);
    stet_mlir_expect(p, ",");
    r.fields[1] = bracketed(p, "[", "]", dimension);
    while (stet_mlir_accept(p, ",")) {
        unsigned at = stet_mlir_accept_word(p, "replicated") ? 2 : 3;

        if (at == 3)
            stet_mlir_expect_word(p, "unreduced");
        if (r.fields[at])
            stet_mlir_fail(p, p->at, "axes given twice");
        stet_mlir_accept(p, "=");
        if (at == 3 && (stet_mlir_at_word(p, "max") || stet_mlir_at_word(p, "min")))
            r.fields[4] = stet_mlir_make_string(p, stet_mlir_word(p, "a reduction"));
        else if (at == 3)
            stet_mlir_accept_word(p, "sum");
        r.fields[at] = bracketed(p, "{", "}", axis);
    }
    stet_mlir_expect(p, ">");
    return stet_mlir_make_record(p, &r);
}

static const struct stet_attr *axis_list(struct mlir *p)
{
    return wrapped(p, "axis_ref_list", bracketed(p, "{", "}", axis));
}

/* {"x", "y"}: 0->2 */
static const struct stet_attr *all_to_all(struct mlir *p)
{
    struct mlir_record r = stet_mlir_record("sdy", "all_to_all_param");

    r.fields[0] = bracketed(p, "{", "}", axis);
    stet_mlir_expect(p, ":");
    r.fields[1] = i64_attr(p, stet_mlir_int(p));
    stet_mlir_expect(p, "->");
    r.fields[2] = i64_attr(p, stet_mlir_int(p));
    return stet_mlir_make_record(p, &r);
}

/* ---- rules: <([i, jk])->([i, j, k]) {i=4, j=2, k=2} reduction={j}, custom> ---- */

/* Takes one factor off the front of a word: i … z, then z_1, z_2, … */
static int64_t factor(struct mlir *p, struct stet_view *word)
{
    int64_t v = word->len ? word->ptr[0] - 'i' : -1;
    size_t used = 1;

    if (v < 0 || word->ptr[0] > 'z') {
        stet_mlir_fail(p, p->at, "expected a factor, i to z");
        return 0;
    }
    if (word->len > 2 && word->ptr[0] == 'z' && word->ptr[1] == '_') {
        int64_t n = 0;

        for (used = 2; used < word->len && word->ptr[used] >= '0' && word->ptr[used] <= '9'; used++)
            n = n < 1000000 ? n * 10 + (word->ptr[used] - '0') : n;
        v += n;
    }
    *word = stet_view_of(word->ptr + used, word->len - used);
    return v;
}

static const struct stet_attr *ints_above(struct mlir *p, size_t mark)
{
    uint32_t n;
    const int64_t *ints = stet_mlir_pop(p, &p->scratch, mark, sizeof(*ints), &n);

    return stet_mlir_make_ints(p, ints, n);
}

static const struct stet_attr *dim_mapping(struct mlir *p)
{
    size_t mark = mlir_mark(&p->scratch);
    struct stet_view word = stet_mlir_optional_word(p);

    while (word.len && mlir_ok(p)) {
        int64_t f = factor(p, &word);

        MLIR_PUSH(p, &p->scratch, f);
    }
    return wrapped(p, "dim_mapping", ints_above(p, mark));
}

static const struct stet_attr *tensor_mapping(struct mlir *p)
{
    return wrapped(p, "tensor_mapping", bracketed(p, "[", "]", dim_mapping));
}

/* {i=4, j=2}: factors are in order, so only the sizes are kept. */
static const struct stet_attr *factor_sizes(struct mlir *p)
{
    size_t mark = mlir_mark(&p->scratch);
    int64_t expected = 0;
    bool first = true;

    if (stet_mlir_accept(p, "{"))
        for (; stet_mlir_more(p, "}", &first); expected++) {
            struct stet_view word = stet_mlir_word(p, "a factor");
            int64_t f = factor(p, &word), size;

            if (f != expected || word.len)
                stet_mlir_fail(p, p->at, "factors out of order");
            stet_mlir_expect(p, "=");
            size = stet_mlir_int(p);
            MLIR_PUSH(p, &p->scratch, size);
        }
    return ints_above(p, mark);
}

static const struct stet_attr *factors(struct mlir *p)
{
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;

    stet_mlir_expect(p, "=");
    stet_mlir_expect(p, "{");
    while (stet_mlir_more(p, "}", &first)) {
        struct stet_view word = stet_mlir_word(p, "a factor");
        int64_t f = factor(p, &word);

        MLIR_PUSH(p, &p->scratch, f);
    }
    return ints_above(p, mark);
}

static const struct stet_attr *rule(struct mlir *p)
{
    static const char *const kinds[] = {"reduction", "need_replication", "permutation",
                                        "blocked_propagation"};
    struct mlir_record r = stet_mlir_record("sdy", "op_sharding_rule");

    stet_mlir_expect(p, "<");
    r.fields[1] = bracketed(p, "(", ")", tensor_mapping);
    stet_mlir_expect(p, "->");
    r.fields[2] = bracketed(p, "(", ")", tensor_mapping);
    r.fields[0] = factor_sizes(p);
    for (unsigned i = 0; i < 4; i++)
        if (stet_mlir_accept_word(p, kinds[i]))
            r.fields[3 + i] = factors(p);
    if (stet_mlir_accept(p, ",")) {
        stet_mlir_expect_word(p, "custom");
        r.fields[7] = stet_mlir_make_bool(p, true);
    }
    stet_mlir_expect(p, ">");
    return stet_mlir_make_record(p, &r);
}

const struct stet_attr *stet_mlir_sdy_per_value(struct mlir *p)
{
    return wrapped(p, "sharding_per_value", bracketed(p, "[", "]", sharding));
}

static const struct stet_attr *per_value(struct mlir *p)
{
    const struct stet_attr *a;

    stet_mlir_expect(p, "<");
    a = stet_mlir_sdy_per_value(p);
    stet_mlir_expect(p, ">");
    return a;
}

static const struct stet_attr *manual_axes(struct mlir *p)
{
    return wrapped(p, "manual_axes", bracketed(p, "{", "}", string));
}

static const struct stet_attr *axis_lists(struct mlir *p)
{
    return wrapped(p, "list_of_axis_ref_lists", bracketed(p, "[", "]", axis_list));
}

static const struct stet_attr *all_to_all_list(struct mlir *p)
{
    return wrapped(p, "all_to_all_param_list", bracketed(p, "[", "]", all_to_all));
}

const struct stet_attr *stet_mlir_sdy_attr(struct mlir *p, struct stet_view mnemonic)
{
    static const struct {
        const char *mnemonic;
        const struct stet_attr *(*read)(struct mlir *p);
    } readers[] = {
        {"sharding", sharding},
        {"mesh", mesh},
        {"sharding_per_value", per_value},
        {"manual_axes", manual_axes},
        {"mesh_axis", mesh_axis},
        {"axis_ref", axis},
        {"sub_axis_info", sub_axis},
        {"dimension_sharding", dimension},
        {"op_sharding_rule", rule},
        {"dim_mapping", dim_mapping},
        {"tensor_mapping", tensor_mapping},
        {"axis_ref_list", axis_list},
        {"list_of_axis_ref_lists", axis_lists},
        {"all_to_all_param", all_to_all},
        {"all_to_all_param_list", all_to_all_list},
    };

    for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++)
        if (stet_view_is(mnemonic, readers[i].mnemonic))
            return readers[i].read(p);
    stet_mlir_fail(p, p->at, "no reader for sdy.%.*s", STET_FMT(mnemonic));
    return NULL;
}
