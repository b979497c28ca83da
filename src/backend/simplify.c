/* Simplifies the graph: what is computed twice is computed once, a rotation of bits, which programs
 * write as two shifts and an "or", becomes one operation, a remainder uses the quotient, and so do
 * quotients and remainders that are rounded down.
 *
 * Blocks are walked in order. A node that equals an earlier one in the same block, or in a block
 * around it, has its results replaced; nothing reads it any more, and fuse.c drops it. Values
 * behind an optimization barrier equal no others: that is what a program uses it for when it
 * computes something again to save memory. */
#include "backend/lower.h"
#include "backend/params.h"

struct simplifier {
    struct stet_gnode **buckets;
    uint64_t mask;
};

static struct stet_gval *current(struct stet_gval *v)
{
    return v->equal ? v->equal : v;
}

/* ---- rotations ---- */

/* The operand and the constant of a shift by a constant, if `v` is one. */
static bool shift_of(struct stet_gval *v, int op, struct stet_gval **x, struct stet_gval **by,
                     uint32_t *bits)
{
    const struct stet_gnode *n = v->def;
    const void *value;

    if (!n || n->kind != STET_G_EW || n->ew != op || v->shape.dtype != STET_DT_U32 ||
        !(value = stet_graph_splat_value(n->in[1])))
        return false;
    *x = n->in[0];
    *by = n->in[1];
    memcpy(bits, value, sizeof *bits);
    return true;
}

/* x << b | x >> 32 - b */
static bool make_rotation(struct stet_gnode *n)
{
    struct stet_gval *x, *y, *by, *other;
    uint32_t left, right;

    for (int i = 0; i < 2; i++)
        if (shift_of(n->in[i], STET_TILE_SHL, &x, &by, &left) &&
            shift_of(n->in[1 - i], STET_TILE_SHR_LOGIC, &y, &other, &right) && x == y && left &&
            left < 32 && left + right == 32) {
            n->ew = STET_TILE_ROTATE;
            n->in[0] = x;
            n->in[1] = by;
            return true;
        }
    return false;
}

/* rotate(x, b) ^ y */
static void make_rotation_xor(struct stet_lower *l, struct stet_gnode *n)
{
    for (int i = 0; i < 2; i++) {
        const struct stet_gnode *r = n->in[i]->def;
        struct stet_gval **in, *other = n->in[1 - i];

        if (!r || r->kind != STET_G_EW || r->ew != STET_TILE_ROTATE || r->block != n->block)
            continue;
        if (!(in = STET_NEW_ARRAY(l->arena, struct stet_gval *, 3)))
            return;
        n->ew = STET_TILE_ROTATE_XOR;
        in[0] = r->in[0], in[1] = r->in[1], in[2] = other;
        n->in = in;
        n->in_count = 3;
        return;
    }
}

/* ---- remainders ---- */

static struct stet_gnode *known_node(const struct simplifier *s, const struct stet_gnode *n);

/* x % y of a y that can be divided by, where x / y is computed anyway: x - x / y * y */
static void make_remainder(struct stet_lower *l, const struct simplifier *s, struct stet_gnode *n)
{
    struct stet_gnode *quotient, probe = *n;
    const void *value = stet_graph_splat_value(n->in[1]);
    enum stet_dtype t = n->out[0]->shape.dtype;
    uint64_t y = 0, all = ~(uint64_t)0 >> (64 - 8 * stet_dtype_bytes(t));
    struct stet_gval **in;

    if (!value || !stet_dtype_is_int(t) || stet_dtype_is_small(t))
        return;
    memcpy(&y, value, stet_dtype_bytes(t));
    probe.ew = STET_TILE_DIV;
    if (y == 0 || y == all || !(quotient = known_node(s, &probe)))
        return;
    if (!(in = STET_NEW_ARRAY(l->arena, struct stet_gval *, 3)))
        return;
    in[0] = quotient->out[0], in[1] = n->in[1], in[2] = n->in[0];
    n->ew = STET_TILE_LESS_PRODUCT;
    n->in = in;
    n->in_count = 3;
}

/* ---- division that rounds down ---- */

static bool is_ew(const struct stet_gval *v, int op)
{
    return v->def && v->def->kind == STET_G_EW && v->def->ew == op;
}

static bool is_s32(struct stet_gval *v, int32_t wanted)
{
    const void *value = v->shape.dtype == STET_DT_S32 ? stet_graph_splat_value(v) : NULL;

    return value && memcmp(value, &wanted, sizeof wanted) == 0;
}

/* Is `v` the operation `op` of `a` and the constant `b`? */
static bool is_with(const struct stet_gval *v, int op, const struct stet_gval *a, int32_t b)
{
    return is_ew(v, op) && v->def->in[0] == a && is_s32(v->def->in[1], b);
}

/* x / y, or x % y in either form, rounded towards zero, by a constant y > 0 */
static bool is_division(const struct stet_gval *v, bool remainder, struct stet_gval **x,
                        struct stet_gval **y)
{
    const void *value;
    int32_t by;

    if (remainder && is_ew(v, STET_TILE_LESS_PRODUCT) && is_division(v->def->in[0], false, x, y))
        return v->def->in[1] == *y && v->def->in[2] == *x;
    if (!is_ew(v, remainder ? STET_TILE_REM : STET_TILE_DIV) || v->shape.dtype != STET_DT_S32 ||
        !(value = stet_graph_splat_value(v->def->in[1])))
        return false;
    *x = v->def->in[0], *y = v->def->in[1];
    memcpy(&by, value, sizeof by);
    return by > 0;
}

/* As JAX writes them: q - 1 in place of q = x / y where sign(x) != 1 and x % y != 0,
 * r + y in place of r = x % y where r < 0 and r != 0. */
static void make_floor(struct stet_gnode *n)
{
    struct stet_gval *changed = n->in[1], *plain = n->in[2], *x, *y, *u, *v;
    bool remainder = is_division(plain, true, &x, &y);

    if (!is_ew(n->in[0], STET_TILE_AND) || (!remainder && !is_division(plain, false, &x, &y)) ||
        !(remainder ? is_ew(changed, STET_TILE_ADD) && changed->def->in[0] == plain &&
                          changed->def->in[1] == y
                    : is_with(changed, STET_TILE_SUB, plain, 1)))
        return;
    for (int i = 0; i < 2; i++) {
        const struct stet_gval *negative = n->in[0]->def->in[i],
                               *inexact = n->in[0]->def->in[1 - i];
        const struct stet_gval *rest = is_ew(inexact, STET_TILE_NE) ? inexact->def->in[0] : NULL;

        if (!rest || !is_with(inexact, STET_TILE_NE, rest, 0) || !is_division(rest, true, &u, &v) ||
            u != x || v != y)
            continue;
        if (remainder ? is_with(negative, STET_TILE_LT, plain, 0)
                      : is_ew(negative, STET_TILE_NE) && is_s32(negative->def->in[1], 1) &&
                            is_ew(negative->def->in[0], STET_TILE_SIGN) &&
                            negative->def->in[0]->def->in[0] == x) {
            n->ew = remainder ? STET_TILE_FLOOR_REM : STET_TILE_FLOOR_DIV;
            n->in[0] = x, n->in[1] = y;
            n->in_count = 2;
            return;
        }
    }
}

/* ---- what equals what ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

/* The bytes of a call's parameters, for kernels whose parameters have no pointers, and zeros where
 * nothing was set; else 0. */
static size_t plain_params(const struct stet_kernel *k)
{
    return k == &stet_kernel_dot    ? sizeof(struct stet_dot)
           : k == &stet_kernel_conv ? sizeof(struct stet_conv)
                                    : 0;
}

static bool comparable(const struct stet_gnode *n)
{
    const struct stet_reduce *r;

    switch (n->kind) {
    case STET_G_SPLAT:
    case STET_G_IOTA:
    case STET_G_VIEW:
    case STET_G_EW:
        return true;
    case STET_G_ALIAS:
        return !n->barrier;
    case STET_G_REDUCE:
        r = n->params;
        return r->simple >= 0;
    case STET_G_CALL:
        return plain_params(n->kernel) > 0;
    default:
        return false;
    }
}

static uint64_t hash_of(const struct stet_gnode *n)
{
    const struct stet_shape *s = &n->out[0]->shape;
    uint64_t h = mix((uint64_t)n->kind, (uint64_t)s->dtype << 32 | s->rank);

    h = mix(h, s->elements);
    for (uint32_t i = 0; i < n->in_count; i++)
        h = mix(h, (uint64_t)(uintptr_t)n->in[i]);
    if (n->kind == STET_G_EW)
        h = mix(h, (uint64_t)n->ew);
    if (n->kind == STET_G_IOTA)
        h = mix(h, n->dim);
    if (n->kind == STET_G_VIEW)
        h = mix(h, (uint64_t)n->map.offset);
    if (n->kind == STET_G_SPLAT) {
        uint64_t bits;

        memcpy(&bits, n->value, sizeof bits);
        h = mix(h, bits);
    }
    return h;
}

static bool same_view(const struct stet_tile_view *a, const struct stet_tile_view *b)
{
    return a->rank == b->rank && a->offset == b->offset &&
           memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]) == 0 &&
           memcmp(a->strides, b->strides, a->rank * sizeof a->strides[0]) == 0;
}

static bool same_reduce(const struct stet_reduce *a, const struct stet_reduce *b)
{
    return a->simple == b->simple && a->rank == b->rank &&
           memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]) == 0 &&
           memcmp(a->reduced, b->reduced, a->rank * sizeof a->reduced[0]) == 0;
}

/* Is everything of `outer` defined where `inner` is? */
static bool encloses(const struct stet_gblock *outer, const struct stet_gblock *inner)
{
    while (inner && inner != outer)
        inner = inner->parent;
    return inner == outer;
}

static bool equal_nodes(const struct stet_gnode *a, const struct stet_gnode *b)
{
    if (a->kind != b->kind || a->in_count != b->in_count ||
        !stet_shape_eq(&a->out[0]->shape, &b->out[0]->shape) ||
        (a->in_count && memcmp(a->in, b->in, a->in_count * sizeof a->in[0]) != 0))
        return false;
    switch (a->kind) {
    case STET_G_SPLAT:
        return memcmp(a->value, b->value, sizeof a->value) == 0;
    case STET_G_IOTA:
        return a->dim == b->dim;
    case STET_G_VIEW:
        return same_view(&a->map, &b->map);
    case STET_G_EW:
        return a->ew == b->ew;
    case STET_G_REDUCE:
        return same_reduce(a->params, b->params);
    case STET_G_CALL:
        return a->kernel == b->kernel && memcmp(a->params, b->params, plain_params(a->kernel)) == 0;
    default:
        return true;
    }
}

/* An equal node that was visited before, or NULL. Not base/map.h: the nodes are linked through
 * their own `chain`, so that a lookup allocates nothing and the table is in the arena of the plan.
 */
static struct stet_gnode *known_node(const struct simplifier *s, const struct stet_gnode *n)
{
    struct stet_gnode *m = s->buckets[hash_of(n) & s->mask];

    while (m && !(equal_nodes(m, n) && encloses(m->block, n->block)))
        m = m->chain;
    return m;
}

static void find_equal(struct simplifier *s, struct stet_gnode *n)
{
    struct stet_gnode *m = known_node(s, n);
    uint64_t at;

    if (m) {
        n->out[0]->equal = m->out[0];
        return;
    }
    at = hash_of(n) & s->mask;
    n->chain = s->buckets[at];
    s->buckets[at] = n;
}

/* ---- */

static void simplify_block(struct stet_lower *l, struct simplifier *s, struct stet_gblock *b)
{
    for (struct stet_gnode *n = b->first; n; n = n->next) {
        for (uint32_t i = 0; i < n->in_count; i++)
            n->in[i] = current(n->in[i]);
        if (n->kind == STET_G_EW && n->ew == STET_TILE_OR)
            make_rotation(n);
        if (n->kind == STET_G_EW && n->ew == STET_TILE_XOR)
            make_rotation_xor(l, n);
        if (n->kind == STET_G_EW && n->ew == STET_TILE_REM)
            make_remainder(l, s, n);
        if (n->kind == STET_G_EW && n->ew == STET_TILE_SELECT)
            make_floor(n);
        for (uint32_t i = 0; i < n->block_count; i++)
            simplify_block(l, s, n->blocks[i]);
        if (comparable(n))
            find_equal(s, n);
    }
    for (uint32_t i = 0; i < b->result_count; i++)
        b->results[i] = current(b->results[i]);
}

enum stet_rc stet_backend_graph_simplify(struct stet_lower *l, struct stet_gblock *entry)
{
    struct simplifier s = {.mask = 63};

    while (s.mask < l->nodes)
        s.mask = 2 * s.mask + 1;
    if (!(s.buckets = STET_NEW_ARRAY(l->arena, struct stet_gnode *, s.mask + 1)))
        return stet_lower_memory(l);
    simplify_block(l, &s, entry);
    return STET_OK;
}
