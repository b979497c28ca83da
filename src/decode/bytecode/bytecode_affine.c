/* Affine maps of newer builtin bytecode, converted to MLIR's text, so that a map is the same
 * attribute from either. */
#include "decode/bytecode/bytecode.h"

#include "base/buf.h"

enum kind { DIM, SYMBOL, CONSTANT, ADD, MUL, MOD, FLOORDIV, CEILDIV, KINDS };

/* In the low bits of the map's first number. */
enum form { IDENTITY, PERMUTATION, PROJECTION, GENERAL };

enum { DEEPEST = 64, MOST_DIMS = 1024, LONGEST = 64 << 10 };

struct expr {
    enum kind kind;
    int64_t value; /* of a leaf */
    const struct expr *left, *right;
};

/* Operators come before their operands; NULL after a failure. */
static const struct expr *read_expr(struct bc *b, struct stet_reader *r, unsigned depth)
{
    struct expr *e = STET_NEW(&b->scratch, struct expr);
    uint64_t kind = bc_varint(r);

    if (!e || kind >= KINDS || depth == DEEPEST) {
        stet_reader_fail(r, "not an affine expression");
        return NULL;
    }
    e->kind = (enum kind)kind;
    if (kind <= CONSTANT) {
        e->value = kind == CONSTANT ? bc_signed(r) : (int64_t)(bc_varint(r) & INT64_MAX);
        return stet_reader_ok(r) ? e : NULL;
    }
    e->left = read_expr(b, r, depth + 1);
    e->right = e->left ? read_expr(b, r, depth + 1) : NULL;
    return e->right ? e : NULL;
}

static bool is_constant_below_zero(const struct expr *e)
{
    return e->kind == CONSTANT && e->value < 0;
}

static unsigned long long size_of(int64_t negative)
{
    return 0 - (unsigned long long)negative;
}

static void print_expr(struct stet_buf *out, const struct expr *e, bool tight);

/* Writes an addend, with a minus where MLIR writes one. */
static void print_addend(struct stet_buf *out, const struct expr *e)
{
    const struct expr *factor = e->kind == MUL ? e->right : NULL;

    if (is_constant_below_zero(e)) {
        stet_buf_printf(out, " - %llu", size_of(e->value));
    } else if (factor && is_constant_below_zero(factor)) {
        stet_buf_str(out, " - ");
        print_expr(out, e->left, factor->value < -1 || e->left->kind == ADD);
        if (factor->value < -1)
            stet_buf_printf(out, " * %llu", size_of(factor->value));
    } else {
        stet_buf_str(out, " + ");
        print_expr(out, e, false);
    }
}

static void print_product(struct stet_buf *out, const struct expr *e)
{
    static const char *const words[KINDS] = {
        [MUL] = " * ", [MOD] = " mod ", [FLOORDIV] = " floordiv ", [CEILDIV] = " ceildiv "};

    if (e->kind == MUL && e->right->kind == CONSTANT && e->right->value == -1) {
        stet_buf_char(out, '-');
        print_expr(out, e->left, true);
        return;
    }
    print_expr(out, e->left, true);
    stet_buf_str(out, words[e->kind]);
    print_expr(out, e->right, true);
}

static void print_expr(struct stet_buf *out, const struct expr *e, bool tight)
{
    if (e->kind <= CONSTANT) {
        stet_buf_str(out, e->kind == DIM ? "d" : e->kind == SYMBOL ? "s" : "");
        stet_buf_printf(out, "%lld", (long long)e->value);
        return;
    }
    if (tight)
        stet_buf_char(out, '(');
    if (e->kind == ADD) {
        print_expr(out, e->left, false);
        print_addend(out, e->right);
    } else {
        print_product(out, e);
    }
    if (tight)
        stet_buf_char(out, ')');
}

static void print_names(struct stet_buf *out, char letter, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        stet_buf_printf(out, "%s%c%u", i ? ", " : "", letter, (unsigned)i);
}

static void print_results(struct bc *b, struct stet_reader *r, struct stet_buf *out, enum form form,
                          uint64_t count)
{
    for (uint64_t i = 0; i < count && stet_reader_ok(r); i++) {
        struct expr place = {.kind = DIM, .value = (int64_t)i};
        const struct expr *e = &place;

        if (form == GENERAL)
            e = read_expr(b, r, 0);
        else if (form != IDENTITY)
            place.value = (int64_t)(bc_varint(r) & INT64_MAX);
        if (i)
            stet_buf_str(out, ", ");
        if (e)
            print_expr(out, e, false);
        if (out->len > LONGEST)
            stet_reader_fail(r, "an affine map that is too long");
    }
}

const struct stet_attr *stet_decode_bc_affine_map(struct bc *b, struct stet_reader *r)
{
    struct stet_attr *a = stet_decode_bc_new_attr(b, STET_ATTR_AFFINE_MAP);
    uint64_t header = bc_varint(r), dims = header >> 2, symbols = 0, results = dims;
    enum form form = (enum form)(header & 3);
    struct stet_buf out = {0};

    if (form == GENERAL)
        symbols = bc_varint(r);
    if (form == GENERAL || form == PROJECTION)
        results = bc_count(r);
    if (dims > MOST_DIMS || symbols > MOST_DIMS) {
        stet_reader_fail(r, "an affine map of too many dimensions");
        return a;
    }
    stet_buf_str(&out, "affine_map<(");
    print_names(&out, 'd', dims);
    stet_buf_char(&out, ')');
    if (symbols) {
        stet_buf_char(&out, '[');
        print_names(&out, 's', symbols);
        stet_buf_char(&out, ']');
    }
    stet_buf_str(&out, " -> (");
    print_results(b, r, &out, form, results);
    stet_buf_str(&out, ")>");
    stet_attr_set_text(a, stet_arena_copy(b->arena, stet_buf_as_view(&out)));
    if (out.failed || !stet_attr_text(a).ptr)
        stet_decode_bc_no_room(b);
    stet_buf_release(&out);
    return a;
}

/* "affine_map<(d0, d1) -> (d0, d1)>" */
bool stet_decode_bc_is_identity_map(const struct stet_attr *a, uint32_t rank)
{
    struct stet_buf want = {0};
    bool same;

    if (a->kind != STET_ATTR_AFFINE_MAP || rank > MOST_DIMS)
        return false;
    stet_buf_str(&want, "affine_map<(");
    print_names(&want, 'd', rank);
    stet_buf_str(&want, ") -> (");
    print_names(&want, 'd', rank);
    stet_buf_str(&want, ")>");
    same = !want.failed && stet_view_eq(stet_buf_as_view(&want), stet_attr_text(a));
    stet_buf_release(&want);
    return same;
}
