/* Lowering: map, a function of scalars that is applied to each element. */
#include "backend/lower.h"

/* What a value of the function is over whole tensors. `values` are the tensors of the block's
 * nodes so far, by their order. */
static struct stet_gval *lifted(struct stet_lower *l, const struct stet_gblock *b,
                                struct stet_gval **args, struct stet_gval **values,
                                struct stet_gval *v, const struct stet_shape *like)
{
    const void *one = stet_graph_splat_value(v);
    struct stet_shape s;

    v = stet_graph_root(v);
    stet_shape_set(&s, v->shape.dtype, like->dims, like->rank);
    if (one)
        return stet_graph_splat(l, &s, one);
    if (v->block != b) /* the same for all elements */
        return stet_graph_broadcast(l, v, &s, NULL);
    return v->def ? values[v->def->order] : args[v->index];
}

static enum stet_rc apply(struct stet_lower *l, const struct stet_gblock *b,
                          struct stet_gval **args, const struct stet_shape *like,
                          struct stet_gval **out)
{
    struct stet_gval **values = STET_NEW_ARRAY(l->arena, struct stet_gval *, b->node_count + 1);

    if (!values)
        return stet_lower_memory(l);
    for (struct stet_gnode *n = b->first; n; n = n->next) {
        struct stet_gval *in[3] = {NULL, NULL, NULL};

        if (n->kind == STET_G_SPLAT || n->kind == STET_G_ALIAS)
            continue;
        if (n->kind != STET_G_EW || n->in_count > 3)
            return stet_lower_fail(l, STET_UNSUPPORTED,
                                   "the function has an operation that is not elementwise");
        for (uint32_t i = 0; i < n->in_count; i++) {
            if (!(in[i] = lifted(l, b, args, values, n->in[i], like)))
                return stet_lower_memory(l);
        }
        values[n->order] = stet_graph_ew(l, n->ew, n->out[0]->shape.dtype, in[0], in[1], in[2]);
        if (!values[n->order])
            return stet_lower_memory(l);
    }
    *out = lifted(l, b, args, values, b->results[0], like);
    return *out ? STET_OK : stet_lower_memory(l);
}

enum stet_rc stet_lower_map(struct stet_lower *l, int arg)
{
    uint32_t count = l->op->operand_count;
    struct stet_gval **in = STET_NEW_ARRAY(l->arena, struct stet_gval *, count + 1), *out;
    struct stet_gblock *b;
    struct stet_shape s;

    (void)arg;
    if (!in)
        return stet_lower_memory(l);
    CHECK(l->op->region_count == 1, "one function is needed");
    TRY(stet_lower_shape(l, 0, &s));
    TRY(stet_lower_region(l, stet_op_region(l->op, 0), &b));
    CHECK(!b->talks, "the function calls the host");
    CHECK(b->arg_count == count && b->result_count == 1 && b->results[0]->shape.rank == 0,
          "the function does not fit the operands");
    for (uint32_t i = 0; i < count; i++) {
        OPERAND(in[i], i);
        CHECK(stet_shape_same_dims(&in[i]->shape, &s) && b->args[i]->shape.rank == 0 &&
                  b->args[i]->shape.dtype == in[i]->shape.dtype,
              "operand %u does not fit the result or the function", i);
    }
    TRY(apply(l, b, in, &s, &out));
    return stet_lower_out(l, 0, out);
}
