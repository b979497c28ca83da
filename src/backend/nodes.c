/* Creates nodes of the graph, with the simplifications that later stages rely on. */
#include "backend/lower.h"

struct stet_gval *stet_graph_root(struct stet_gval *v)
{
    while (v->def && v->def->kind == STET_G_ALIAS)
        v = v->def->in[0];
    return v;
}

void stet_graph_dense_strides(const struct stet_shape *s, int64_t *strides)
{
    int64_t step = 1;

    for (uint32_t i = s->rank; i-- > 0;) {
        strides[i] = step;
        step *= s->dims[i] ? s->dims[i] : 1;
    }
}

struct stet_gnode *stet_graph_node(struct stet_lower *l, enum stet_gkind kind,
                                   struct stet_gval **in, uint32_t in_count,
                                   const struct stet_shape *out, uint32_t out_count)
{
    struct stet_gnode *n = STET_NEW(l->arena, struct stet_gnode);
    struct stet_gval *values = STET_NEW_ARRAY(l->arena, struct stet_gval, out_count);

    if (l->nodes >= l->most_nodes) {
        stet_lower_fail(l, STET_LIMIT, "the program has more than %u operations when inlined",
                        l->most_nodes);
        return NULL;
    }
    if (!n || !values || !(n->in = STET_NEW_ARRAY(l->arena, struct stet_gval *, in_count + 1)) ||
        !(n->out = STET_NEW_ARRAY(l->arena, struct stet_gval *, out_count + 1))) {
        stet_lower_memory(l);
        return NULL;
    }
    for (uint32_t i = 0; i < in_count; i++) {
        if (!in[i])
            return NULL;
        n->in[i] = in[i];
    }
    for (uint32_t i = 0; i < out_count; i++) {
        values[i] = (struct stet_gval){.shape = out[i], .def = n, .block = l->block, .index = i};
        n->out[i] = &values[i];
    }
    n->kind = kind;
    n->op = l->op;
    n->in_count = in_count;
    n->out_count = out_count;
    n->block = l->block;
    n->in_place = -1;
    n->order = l->block->node_count++;
    *l->block->last = n;
    l->block->last = &n->next;
    l->nodes++;
    return n;
}

const void *stet_graph_splat_value(struct stet_gval *v)
{
    v = stet_graph_root(v);
    return v->def && v->def->kind == STET_G_SPLAT ? v->def->value : NULL;
}

struct stet_gval *stet_graph_splat(struct stet_lower *l, const struct stet_shape *s,
                                   const void *value)
{
    struct stet_gnode *n = stet_graph_node(l, STET_G_SPLAT, NULL, 0, s, 1);

    if (!n)
        return NULL;
    memcpy(n->value, value, stet_dtype_bytes(s->dtype));
    return n->out[0];
}

struct stet_gval *stet_graph_number(struct stet_lower *l, const struct stet_shape *s, double number)
{
    const struct stet_tile_set *k = stet_tile_kernels();
    enum stet_dtype c = stet_tile_ctype(s->dtype);
    _Alignas(16) unsigned char value[16] = {0}, raw[16] = {0};

    if (!k->convert[STET_DT_F64][c]) {
        stet_lower_fail(l, STET_UNSUPPORTED, "no numbers of type %s", stet_dtype_name(s->dtype));
        return NULL;
    }
    k->convert[STET_DT_F64][c](value, &number, NULL, NULL, 1);
    memcpy(raw, value, sizeof raw);
    if (k->store[s->dtype])
        k->store[s->dtype](raw, value, NULL, NULL, 1);
    return stet_graph_splat(l, s, raw);
}

struct stet_gval *stet_graph_iota(struct stet_lower *l, const struct stet_shape *s, uint32_t dim)
{
    struct stet_gnode *n = stet_graph_node(l, STET_G_IOTA, NULL, 0, s, 1);

    if (!n)
        return NULL;
    n->dim = dim;
    return n->out[0];
}

/* An operation or comparison of integer constants, computed when planned; false if it is something
 * else. */
static bool fold_integers(int op, enum stet_dtype out, struct stet_gval *const *in, void *result)
{
    enum stet_dtype t = in[0]->shape.dtype;
    const void *x = stet_graph_splat_value(in[0]), *y = in[1] ? stet_graph_splat_value(in[1]) : x;
    const stet_tile_fn *row = stet_tile_kernels()->ops[t];

    if (!x || !y || in[2] || (out != t && out != STET_DT_PRED) || op >= STET_TILE_OPS || !row ||
        !row[op] || (t != STET_DT_S32 && t != STET_DT_U32 && t != STET_DT_S64 && t != STET_DT_U64))
        return false;
    row[op](result, x, y, x, 1);
    return true;
}

/* The operand that is the result whatever the others are, or NULL. */
static struct stet_gval *fold_choice(int op, struct stet_gval *const *in)
{
    const uint8_t *known;

    if (op == STET_TILE_SELECT && (known = stet_graph_splat_value(in[0])))
        return *known ? in[1] : in[2];
    if (op == STET_TILE_NE && in[0]->shape.dtype == STET_DT_PRED &&
        (known = stet_graph_splat_value(in[1])) && !*known)
        return in[0];
    return NULL;
}

struct stet_gval *stet_graph_ew(struct stet_lower *l, int op, enum stet_dtype out,
                                struct stet_gval *a, struct stet_gval *b, struct stet_gval *c)
{
    struct stet_gval *in[3] = {a, b, c};
    _Alignas(16) unsigned char folded[16] = {0};
    struct stet_gval *chosen;
    struct stet_gnode *n;
    struct stet_shape s;

    if (!a)
        return NULL;
    if ((chosen = fold_choice(op, in)))
        return chosen;
    stet_shape_set(&s, out, a->shape.dims, a->shape.rank);
    if (fold_integers(op, out, in, folded))
        return stet_graph_splat(l, &s, folded);
    n = stet_graph_node(l, STET_G_EW, in, c ? 3 : b ? 2 : 1, &s, 1);
    if (!n)
        return NULL;
    n->ew = op;
    return n->out[0];
}

struct stet_gval *stet_graph_convert(struct stet_lower *l, struct stet_gval *a, enum stet_dtype to)
{
    bool small = stet_dtype_is_small(to), sign = stet_dtype_is_signed(to);

    if (!a || a->shape.dtype == to)
        return a;
    if (small && stet_dtype_is_complex(a->shape.dtype))
        a = stet_graph_convert(l, a, STET_DT_F64);
    if (a && stet_dtype_is_small_int(to) && stet_dtype_is_float(a->shape.dtype)) {
        /* the kernel stops at 8 bits */
        enum stet_dtype wide = a->shape.dtype < STET_DT_F32 ? STET_DT_F32 : a->shape.dtype;
        double end = 1 << (stet_dtype_bits(to) - sign);
        struct stet_gval *low, *high;

        if (!(a = stet_graph_convert(l, a, wide)))
            return NULL;
        low = stet_graph_number(l, &a->shape, sign ? -end : 0);
        high = stet_graph_number(l, &a->shape, end - 1);

        if (!low || !high)
            return NULL;
        a = stet_graph_ew(l, STET_TILE_CLAMP, a->shape.dtype, low, a, high);
    }
    return stet_graph_ew(l, STET_EW_CONVERT, to, a, NULL, NULL);
}

struct stet_gval *stet_graph_reshape(struct stet_lower *l, struct stet_gval *a,
                                     const struct stet_shape *s)
{
    struct stet_gnode *n;
    const void *value;

    if (!a || stet_shape_eq(&a->shape, s))
        return a;
    if ((value = stet_graph_splat_value(a)) && a->shape.dtype == s->dtype)
        return stet_graph_splat(l, s, value);
    n = stet_graph_node(l, STET_G_ALIAS, &a, 1, s, 1);
    return n ? n->out[0] : NULL;
}

/* The strides of `map` under the dims of `s`, if strides can express how the line visits memory. */
static bool reshape_map(struct stet_tile_view *map, const struct stet_shape *s)
{
    struct stet_tile_view m = *map;
    uint32_t at = 0;
    int64_t left = 1, stride = 0;

    stet_tile_view_simplify(&m);
    if (s->elements == 0)
        return false;
    for (uint32_t i = 0; i < s->rank; i++) {
        map->dims[i] = s->dims[i];
        map->strides[i] = 0;
        if (s->dims[i] == 1)
            continue;
        if (left == 1) {
            if (at >= m.rank)
                return false;
            left = m.dims[at];
            stride = m.strides[at++];
        }
        if (left % s->dims[i])
            return false;
        left /= s->dims[i];
        map->strides[i] = left * stride;
    }
    map->rank = s->rank;
    return left == 1 && at == m.rank;
}

struct stet_gval *stet_graph_strided(struct stet_gval *v, struct stet_tile_view *map)
{
    struct stet_gval *r = stet_graph_root(v);

    if (r->def && r->def->kind == STET_G_VIEW && r->shape.dtype == v->shape.dtype) {
        *map = r->def->map;
        if (stet_shape_same_dims(&r->shape, &v->shape) || reshape_map(map, &v->shape))
            return r->def->in[0];
    }
    map->rank = v->shape.rank;
    map->offset = 0;
    memcpy(map->dims, v->shape.dims, sizeof map->dims);
    stet_graph_dense_strides(&v->shape, map->strides);
    return v;
}

static bool dense_map(const struct stet_tile_view *map, const struct stet_gval *base)
{
    struct stet_tile_view m = *map;

    stet_tile_view_simplify(&m);
    if (m.offset)
        return false;
    if (m.rank == 0)
        return base->shape.elements == 1;
    return m.rank == 1 && m.strides[0] == 1 && (uint64_t)m.dims[0] == base->shape.elements;
}

/* An iota through a permutation or broadcast is an iota of the new shape. */
static struct stet_gval *view_of_iota(struct stet_lower *l, struct stet_gval *a,
                                      const struct stet_shape *s, const int64_t *in_dim,
                                      const int64_t *step, const int64_t *start)
{
    struct stet_gval *r = stet_graph_root(a);

    if (!r->def || r->def->kind != STET_G_IOTA || r != a)
        return NULL;
    for (uint32_t d = 0; d < s->rank; d++)
        if (in_dim[d] == (int64_t)r->def->dim && step[d] == 1 && start[in_dim[d]] == 0 &&
            s->dims[d] == a->shape.dims[in_dim[d]])
            return stet_graph_iota(l, s, d);
    return NULL;
}

/* An element of a constant, in memory of 16 bytes; NULL if it is not one. */
static const void *constant_element(struct stet_gval *v, int64_t at, unsigned char *value)
{
    const struct stet_gval *root = stet_graph_root(v);
    size_t bytes = stet_dtype_bytes(root->shape.dtype);

    if (!root->def || root->def->kind != STET_G_CONST || root->shape.dtype != v->shape.dtype ||
        at < 0 || (uint64_t)at >= root->shape.elements)
        return NULL;
    return memcpy(value, (const char *)root->def->bytes + (size_t)at * bytes, bytes);
}

struct stet_gval *stet_graph_view(struct stet_lower *l, struct stet_gval *a,
                                  const struct stet_shape *s, const int64_t *in_dim,
                                  const int64_t *step, const int64_t *start)
{
    struct stet_tile_view from, map = {.rank = s->rank};
    _Alignas(16) unsigned char element[16] = {0};
    struct stet_gval *base, *iota;
    struct stet_gnode *n;
    const void *value;

    if (!a)
        return NULL;
    if ((value = stet_graph_splat_value(a)))
        return stet_graph_splat(l, s, value);
    if ((iota = view_of_iota(l, a, s, in_dim, step, start)))
        return iota;
    base = stet_graph_strided(a, &from);
    map.offset = from.offset;
    for (uint32_t i = 0; i < a->shape.rank; i++)
        map.offset += start[i] * from.strides[i];
    if (s->elements == 1 && (value = constant_element(base, map.offset, element)))
        return stet_graph_splat(l, s, value);
    for (uint32_t d = 0; d < s->rank; d++) {
        map.dims[d] = s->dims[d];
        map.strides[d] = in_dim[d] < 0 ? 0 : step[d] * from.strides[in_dim[d]];
    }
    if (s->elements && dense_map(&map, base))
        return stet_graph_reshape(l, base, s);
    n = stet_graph_node(l, STET_G_VIEW, &base, 1, s, 1);
    if (!n)
        return NULL;
    n->map = map;
    return n->out[0];
}

struct stet_gval *stet_graph_broadcast(struct stet_lower *l, struct stet_gval *a,
                                       const struct stet_shape *s, const int64_t *dims)
{
    int64_t in_dim[STET_MAX_RANK], step[STET_MAX_RANK], start[STET_MAX_RANK] = {0};

    if (!a)
        return NULL;
    for (uint32_t d = 0; d < s->rank; d++)
        in_dim[d] = -1, step[d] = 0;
    for (uint32_t i = 0; i < a->shape.rank; i++) {
        in_dim[dims[i]] = (int64_t)i;
        step[dims[i]] = a->shape.dims[i] == 1 && s->dims[dims[i]] != 1 ? 0 : 1;
    }
    return stet_graph_view(l, a, s, in_dim, step, start);
}

struct stet_gnode *stet_graph_call(struct stet_lower *l, const struct stet_kernel *k, void *params,
                                   struct stet_gval **in, uint32_t in_count,
                                   const struct stet_shape *out, uint32_t out_count)
{
    struct stet_gnode *n;

    if (!params) {
        stet_lower_memory(l);
        return NULL;
    }
    n = stet_graph_node(l, STET_G_CALL, in, in_count, out, out_count);
    if (n) {
        n->kernel = k;
        n->params = params;
    }
    return n;
}
