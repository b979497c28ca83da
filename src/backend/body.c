/* Converts bodies, small regions of scalars, to tile programs. */
#include "backend/codegen.h"
#include "backend/lower.h"
#include "backend/params.h"

static enum stet_rc check_types(struct stet_lower *l, struct stet_gval **v, uint32_t count,
                                const enum stet_dtype *types, uint32_t want, const char *what)
{
    CHECK(count == want, "the body has %u %ss, %u expected", count, what, want);
    for (uint32_t i = 0; i < count; i++)
        CHECK(v[i]->shape.rank == 0 && v[i]->shape.dtype == types[i],
              "%s %u of the body is not a scalar of type %s", what, i, stet_dtype_name(types[i]));
    return STET_OK;
}

static int simple_op(const struct stet_gblock *b)
{
    const struct stet_gnode *n;
    struct stet_gval *r, *x, *y;

    if (b->result_count != 1 || b->arg_count != 2)
        return -1;
    r = stet_graph_root(b->results[0]);
    if (r == b->args[1])
        return -2;
    n = r->def;
    if (!n || n->kind != STET_G_EW || n->in_count != 2 || n->ew >= STET_TILE_OPS)
        return -1;
    x = stet_graph_root(n->in[0]), y = stet_graph_root(n->in[1]);
    if (x == b->args[0] && y == b->args[1])
        return n->ew;
    if (x == b->args[1] && y == b->args[0])
        switch (n->ew) {
        case STET_TILE_ADD:
        case STET_TILE_MUL:
        case STET_TILE_MAX:
        case STET_TILE_MIN:
        case STET_TILE_AND:
        case STET_TILE_OR:
        case STET_TILE_XOR:
            return n->ew;
        default:
            return -1;
        }
    return -1;
}

/* Everything that the roots need, in order. */
static enum stet_rc body_code(struct stet_lower *l, struct stet_codegen *g, struct stet_gblock *b)
{
    for (struct stet_gnode *n = b->first; n; n = n->next) {
        if (n->kind == STET_G_SPLAT || n->kind == STET_G_ALIAS)
            continue;
        if (n->kind != STET_G_EW)
            return stet_lower_fail(l, STET_UNSUPPORTED,
                                   "the body has an operation that is not elementwise");
        for (uint32_t i = 0; i < n->in_count; i++) {
            struct stet_gval *v = stet_graph_root(n->in[i]);

            if (v->block != b && !stet_graph_splat_value(v))
                return stet_lower_fail(l, STET_UNSUPPORTED,
                                       "the body uses a value from outside of it");
        }
        stet_backend_cg_node(g, n);
    }
    return STET_OK;
}

struct stet_codegen *stet_lower_codegen(struct stet_lower *l)
{
    if (!l->codegen)
        l->codegen = STET_NEW(l->arena, struct stet_codegen);
    return l->codegen;
}

static struct stet_body *new_body(struct stet_lower *l, uint32_t args, uint32_t results)
{
    struct stet_body *y = STET_NEW(l->arena, struct stet_body);

    if (!y || !(y->arg_regs = STET_NEW_ARRAY(l->arena, uint16_t, args + results + 1)) ||
        !(y->arg_types = STET_NEW_ARRAY(l->arena, enum stet_dtype, args + results + 1)))
        return NULL;
    y->arg_count = args;
    y->result_count = results;
    y->result_regs = y->arg_regs + args;
    y->result_types = y->arg_types + args;
    return y;
}

static enum stet_rc finish(struct stet_lower *l, struct stet_codegen *g, struct stet_body *y)
{
    if (g->full)
        return stet_lower_fail(l, STET_LIMIT, "the body is too large");
    for (uint32_t i = 0; i < y->result_count; i++)
        stet_backend_cg_keep(g, y->result_regs[i]);
    if (!stet_backend_cg_finish(g, &y->prog, y->arg_regs, y->arg_count + y->result_count))
        return l->arena->failed ? stet_lower_memory(l)
                                : stet_lower_fail(l, STET_LIMIT, "the body is too large");
    if (y->prog.tile < STET_BODY_LANES)
        return stet_lower_fail(l, STET_LIMIT, "the body is too large");
    return STET_OK;
}

enum stet_rc stet_lower_body(struct stet_lower *l, const struct stet_region *r,
                             const enum stet_dtype *args, uint32_t arg_count,
                             const enum stet_dtype *results, uint32_t result_count,
                             struct stet_body **out)
{
    struct stet_codegen *g = stet_lower_codegen(l);
    struct stet_body *y = new_body(l, arg_count, result_count);
    struct stet_gblock *b;

    if (!g || !y)
        return stet_lower_memory(l);
    TRY(stet_lower_region(l, r, &b));
    CHECK(!b->talks, "the body calls the host");
    TRY(check_types(l, b->args, b->arg_count, args, arg_count, "argument"));
    TRY(check_types(l, b->results, b->result_count, results, result_count, "result"));
    y->block = b;
    y->simple = simple_op(b);
    memcpy(y->arg_types, args, arg_count * sizeof *args);
    memcpy(y->result_types, results, result_count * sizeof *results);
    stet_backend_cg_begin(g, l->arena, ++l->marks);
    for (uint32_t i = 0; i < arg_count; i++)
        y->arg_regs[i] = stet_backend_cg_arg(g, b->args[i]);
    TRY(body_code(l, g, b));
    for (uint32_t i = 0; i < result_count; i++) {
        struct stet_gval *v = stet_graph_root(b->results[i]);

        if (v->block != b && !stet_graph_splat_value(v))
            return stet_lower_fail(l, STET_UNSUPPORTED,
                                   "the body returns a value from outside of it");
        y->result_regs[i] = stet_backend_cg_value(g, v);
    }
    TRY(finish(l, g, y));
    *out = y;
    return STET_OK;
}

/* ---- comparators that order by one key ---- */

/* Is `b` the same function of argument y as `a` is of argument x? */
static bool same_function(struct stet_gval *a, struct stet_gval *b, struct stet_gval *x,
                          struct stet_gval *y, int depth)
{
    const struct stet_gnode *n, *m;

    a = stet_graph_root(a), b = stet_graph_root(b);
    if (a == x || b == y)
        return a == x && b == y;
    n = a->def, m = b->def;
    if (!n || !m || n->kind != m->kind || depth > 32 || a->shape.dtype != b->shape.dtype)
        return false;
    if (n->kind == STET_G_SPLAT)
        return memcmp(n->value, m->value, stet_dtype_bytes(a->shape.dtype)) == 0;
    if (n->kind != STET_G_EW || n->ew != m->ew || n->in_count != m->in_count)
        return false;
    for (uint32_t i = 0; i < n->in_count; i++)
        if (n->in[i]->shape.dtype != m->in[i]->shape.dtype ||
            !same_function(n->in[i], m->in[i], x, y, depth + 1))
            return false;
    return true;
}

/* Every key is compared as s32, s64, f32 or f64; this adds the conversion as nodes of the body's
 * block. */
static struct stet_gval *wide_key(struct stet_lower *l, struct stet_gval *v, enum stet_dtype *type)
{
    enum stet_dtype t = v->shape.dtype;
    bool wide = stet_dtype_bytes(t) == 8;
    struct stet_shape s;
    int64_t least64 = INT64_MIN;
    int32_t least32 = INT32_MIN;

    *type = stet_dtype_is_float(t) ? (wide ? STET_DT_F64 : STET_DT_F32)
                                   : (wide ? STET_DT_S64 : STET_DT_S32);
    v = stet_graph_convert(l, v, *type);
    if (t != STET_DT_U64 && t != STET_DT_U32)
        return v;
    stet_shape_set(&s, *type, NULL, 0);
    return stet_graph_ew(
        l, STET_TILE_XOR, *type, v,
        stet_graph_splat(l, &s, wide ? (const void *)&least64 : (const void *)&least32), NULL);
}

static void needed(struct stet_gval *v, uint32_t mark)
{
    struct stet_gnode *n;

    v = stet_graph_root(v);
    n = v->def;
    if (!n || n->kind != STET_G_EW || n->walked == mark)
        return;
    n->walked = mark;
    for (uint32_t i = 0; i < n->in_count; i++)
        needed(n->in[i], mark);
}

enum stet_rc stet_lower_sort_key(struct stet_lower *l, const struct stet_region *r,
                                 struct stet_sort *s)
{
    struct stet_gblock *b = s->body->block, *outer = l->block;
    struct stet_gval *root = stet_graph_root(b->results[0]), *key = NULL;
    const struct stet_gnode *n = root->def;
    struct stet_codegen *g;
    struct stet_body *y;

    (void)r;
    if (!n || n->kind != STET_G_EW || (n->ew != STET_TILE_LT && n->ew != STET_TILE_GT) ||
        stet_dtype_is_complex(n->in[0]->shape.dtype))
        return STET_OK;
    for (uint32_t i = 0; i < s->count && s->key < 0; i++)
        if (same_function(n->in[0], n->in[1], b->args[2 * i], b->args[2 * i + 1], 0) &&
            stet_graph_splat_value(n->in[0]) == NULL)
            s->key = (int32_t)i;
    if (s->key < 0)
        return STET_OK;
    g = stet_lower_codegen(l);
    y = new_body(l, 1, 1);
    if (!g || !y)
        return stet_lower_memory(l);
    s->descending = n->ew == STET_TILE_GT;
    l->block = b;
    key = wide_key(l, n->in[0], &s->key_type);
    l->block = outer;
    if (!key)
        return stet_lower_memory(l);
    stet_backend_cg_begin(g, l->arena, ++l->marks);
    y->arg_regs[0] = stet_backend_cg_arg(g, b->args[2 * s->key]);
    y->arg_types[0] = s->types[s->key];
    needed(key, g->mark);
    for (struct stet_gnode *x = b->first; x; x = x->next)
        if (x->kind == STET_G_EW && x->walked == g->mark)
            stet_backend_cg_node(g, x);
    y->result_regs[0] = stet_backend_cg_value(g, key);
    y->result_types[0] = s->key_type;
    s->key_body = y;
    return finish(l, g, y);
}
