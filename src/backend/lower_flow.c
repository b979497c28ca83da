/* Lowering: functions, regions, loops and branches, tuples, and operations without
 * effect. */
#include "backend/lower.h"

/* ---- blocks ---- */

static struct stet_gblock *new_block(struct stet_lower *l, uint32_t args)
{
    struct stet_gblock *b = STET_NEW(l->arena, struct stet_gblock);

    if (!b || !(b->args = STET_NEW_ARRAY(l->arena, struct stet_gval *, args + 1))) {
        stet_lower_memory(l);
        return NULL;
    }
    b->last = &b->first;
    b->parent = l->block;
    b->depth = l->block ? l->block->depth + 1 : 0;
    b->arg_count = args;
    return b;
}

static enum stet_rc block_arg(struct stet_lower *l, struct stet_gblock *b, uint32_t i,
                              const struct stet_shape *s)
{
    struct stet_gval *v = STET_NEW(l->arena, struct stet_gval);

    if (!v)
        return stet_lower_memory(l);
    *v = (struct stet_gval){.shape = *s, .block = b, .index = i};
    b->args[i] = v;
    return STET_OK;
}

enum stet_rc stet_lower_flat_shapes(struct stet_lower *l, const struct stet_type *t,
                                    struct stet_shape *out, uint32_t most, uint32_t *count,
                                    uint32_t depth)
{
    if (!t || t->kind != STET_TYPE_TUPLE) {
        if (*count >= most)
            return stet_lower_fail(l, STET_LIMIT, "a tuple has more than %u elements", most);
        TRY(stet_lower_type(l, t, &out[*count]));
        ++*count;
        return STET_OK;
    }
    CHECK(depth < 8, "tuples are nested too deeply");
    for (uint32_t i = 0; i < t->member_count; i++)
        TRY(stet_lower_flat_shapes(l, t->members[i], out, most, count, depth + 1));
    return STET_OK;
}

enum stet_rc stet_lower_block_ops(struct stet_lower *l, const struct stet_block *from)
{
    if (l->depth >= STET_MAX_DEPTH)
        return stet_lower_fail(l, STET_LIMIT, "regions or calls are nested too deeply");
    if (from->op_count == 0)
        return stet_lower_fail(l, STET_BAD_INPUT, "a region has no terminator");
    l->depth++;
    for (uint32_t i = 0; i + 1 < from->op_count; i++)
        TRY(stet_lower_op(l, from->ops[i]));
    l->depth--;
    return STET_OK;
}

/* The terminator's operands, flattened. */
enum stet_rc stet_lower_returned(struct stet_lower *l, const struct stet_block *from,
                                 struct stet_gval ***out, uint32_t *count)
{
    const struct stet_op *end = from->ops[from->op_count - 1];
    struct stet_gval **all;
    uint32_t n = 0;

    if (!(stet_known_op_facts(end->known) & STET_OP_TERMINATOR))
        return stet_lower_fail(l, STET_BAD_INPUT, "a region does not end with a return");
    for (uint32_t i = 0; i < end->operand_count; i++) {
        const struct stet_lowered *v = &l->map[stet_op_operand(end, i)->id];

        if (!stet_lower_visible(l, v))
            return stet_lower_fail(l, STET_BAD_INPUT, "a returned value is not defined");
        n += v->count;
        if (n > STET_MAX_OPERANDS)
            return stet_lower_fail(l, STET_LIMIT, "too many results");
    }
    if (!(all = STET_NEW_ARRAY(l->arena, struct stet_gval *, n + 1)))
        return stet_lower_memory(l);
    n = 0;
    for (uint32_t i = 0; i < end->operand_count; i++) {
        const struct stet_lowered *v = &l->map[stet_op_operand(end, i)->id];

        memcpy(all + n, v->parts, v->count * sizeof *all);
        n += v->count;
    }
    *out = all;
    *count = n;
    return STET_OK;
}

/* The operations of a program block into l->block; what it returns to out. */
static enum stet_rc lower_ops(struct stet_lower *l, const struct stet_block *from,
                              struct stet_gval ***out, uint32_t *count)
{
    TRY(stet_lower_block_ops(l, from));
    return stet_lower_returned(l, from, out, count);
}

/* Binds program arguments to consecutive values: a tuple argument takes as many as it has. */
enum stet_rc stet_lower_bind_args(struct stet_lower *l, const struct stet_block *b,
                                  struct stet_gval **values, uint32_t count)
{
    struct stet_shape shapes[64];
    uint32_t at = 0;

    for (uint32_t i = 0; i < b->arg_count; i++) {
        uint32_t n = 0;

        TRY(stet_lower_flat_shapes(l, b->args[i].type, shapes, 64, &n, 0));
        CHECK(at + n <= count, "too few arguments");
        for (uint32_t j = 0; j < n; j++)
            CHECK(stet_shape_eq(&shapes[j], &values[at + j]->shape), "argument %u has another type",
                  i);
        TRY(stet_lower_bind(l, &b->args[i], values + at, n));
        at += n;
    }
    CHECK(at == count, "too many arguments");
    return STET_OK;
}

static enum stet_rc one_block(struct stet_lower *l, const struct stet_region *r)
{
    if (r->block_count != 1)
        return stet_lower_fail(l, STET_UNSUPPORTED, "a region with %u blocks", r->block_count);
    return STET_OK;
}

enum stet_rc stet_lower_only_block(struct stet_lower *l, const struct stet_region *r,
                                   const struct stet_block **out)
{
    TRY(one_block(l, r));
    *out = r->blocks[0];
    return STET_OK;
}

struct stet_gblock *stet_lower_new_block(struct stet_lower *l, struct stet_gval **like,
                                         uint32_t args)
{
    struct stet_gblock *b = new_block(l, args);

    for (uint32_t i = 0; b && i < args; i++) {
        if (block_arg(l, b, i, &like[i]->shape) != STET_OK)
            return NULL;
    }
    return b;
}

enum stet_rc stet_lower_region(struct stet_lower *l, const struct stet_region *r,
                               struct stet_gblock **out)
{
    struct stet_gblock *b, *outer = l->block;
    const struct stet_block *from;
    struct stet_shape s;

    TRY(one_block(l, r));
    from = r->blocks[0];
    CHECK(from->arg_count <= STET_MAX_OPERANDS, "too many arguments");
    if (!(b = new_block(l, from->arg_count)))
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < from->arg_count; i++) {
        TRY(stet_lower_type(l, from->args[i].type, &s));
        TRY(block_arg(l, b, i, &s));
        TRY(stet_lower_bind(l, &from->args[i], &b->args[i], 1));
    }
    l->block = b;
    TRY(lower_ops(l, from, &b->results, &b->result_count));
    l->block = outer;
    *out = b;
    return STET_OK;
}

/* ---- functions ---- */

static enum stet_rc function_body(struct stet_lower *l, const struct stet_op *f,
                                  const struct stet_block **out)
{
    if (f->region_count != 1)
        return stet_lower_fail(l, STET_BAD_INPUT, "a function without a body");
    TRY(one_block(l, stet_op_region(f, 0)));
    *out = stet_op_region(f, 0)->blocks[0];
    return STET_OK;
}

static enum stet_rc function_named(struct stet_lower *l, struct stet_view symbol,
                                   const struct stet_op **out, const struct stet_block **body)
{
    const struct stet_op *f = stet_program_function(l->program, symbol);

    CHECK(f, "function @%.*s does not exist", STET_FMT(symbol));
    for (uint32_t i = 0; i < l->call_depth; i++)
        CHECK(l->calls[i] != f, "@%.*s calls itself", STET_FMT(symbol));
    if (l->call_depth >= STET_MAX_CALLS)
        return stet_lower_fail(l, STET_LIMIT, "calls are nested too deeply");
    *out = f;
    return function_body(l, f, body);
}

enum stet_rc stet_lower_program(struct stet_lower *l, struct stet_gblock **out)
{
    const struct stet_program *p = l->program;
    const struct stet_block *body = NULL;
    struct stet_shape *shapes;
    struct stet_gblock *b;
    uint32_t n = 0;

    CHECK(p->entry, "the program has no entry function");
    l->op = p->entry;
    if (l->lanes > 1)
        return stet_lower_program_lanes(l, out);
    TRY(function_body(l, p->entry, &body));
    CHECK(body->arg_count <= STET_MAX_OPERANDS, "too many arguments");
    if (!(shapes = STET_NEW_ARRAY(l->arena, struct stet_shape, body->arg_count + 64)))
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < body->arg_count; i++)
        TRY(stet_lower_flat_shapes(l, body->args[i].type, shapes, body->arg_count + 64, &n, 0));
    if (!(b = new_block(l, n)))
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < n; i++)
        TRY(block_arg(l, b, i, &shapes[i]));
    l->block = b;
    TRY(stet_lower_bind_args(l, body, b->args, n));
    l->calls[l->call_depth++] = p->entry;
    TRY(lower_ops(l, body, &b->results, &b->result_count));
    *out = b;
    return STET_OK;
}

/* All operands from `first` on, tuples flattened. */
enum stet_rc stet_lower_flat_operands(struct stet_lower *l, uint32_t first, struct stet_gval ***out,
                                      uint32_t *count)
{
    uint32_t n = 0;

    for (uint32_t i = first; i < l->op->operand_count; i++) {
        const struct stet_lowered *v = &l->map[stet_op_operand(l->op, i)->id];

        CHECK(stet_lower_visible(l, v), "operand %u is not defined before its use", i);
        n += v->count;
        CHECK(n <= STET_MAX_OPERANDS, "too many operands");
    }
    if (!(*out = STET_NEW_ARRAY(l->arena, struct stet_gval *, n + 1)))
        return stet_lower_memory(l);
    n = 0;
    for (uint32_t i = first; i < l->op->operand_count; i++) {
        const struct stet_lowered *v = &l->map[stet_op_operand(l->op, i)->id];

        memcpy(*out + n, v->parts, v->count * sizeof **out);
        n += v->count;
    }
    *count = n;
    return STET_OK;
}

/* Consecutive values become the results of l->op, each as many as its type has. */
enum stet_rc stet_lower_bind_results(struct stet_lower *l, struct stet_gval **values,
                                     uint32_t count)
{
    struct stet_shape shapes[64];
    uint32_t at = 0;

    for (uint32_t i = 0; i < l->op->result_count; i++) {
        uint32_t n = 0;

        TRY(stet_lower_flat_shapes(l, l->op->results[i].type, shapes, 64, &n, 0));
        CHECK(at + n <= count, "too few results");
        for (uint32_t j = 0; j < n; j++)
            CHECK(stet_shape_eq(&shapes[j], &values[at + j]->shape), "result %u has another type",
                  i);
        TRY(stet_lower_bind(l, &l->op->results[i], values + at, n));
        at += n;
    }
    CHECK(at == count, "too many results");
    return STET_OK;
}

/* The body, with the operands as its arguments; what it returns becomes the results. For the lane
 * that is being lowered, or for all. */
static enum stet_rc inline_block(struct stet_lower *l, const struct stet_block *body)
{
    uint32_t first = l->single ? l->lane : 0, end = l->single ? l->lane + 1 : l->lanes, count;
    struct stet_gval **values;

    for (uint32_t lane = first; lane < end; lane++) {
        stet_lower_to_lane(l, lane);
        TRY(stet_lower_flat_operands(l, 0, &values, &count));
        TRY(stet_lower_bind_args(l, body, values, count));
    }
    TRY(stet_lower_block_ops(l, body));
    for (uint32_t lane = first; lane < end; lane++) {
        stet_lower_to_lane(l, lane);
        TRY(stet_lower_returned(l, body, &values, &count));
        TRY(stet_lower_bind_results(l, values, count));
    }
    stet_lower_to_lane(l, first);
    return STET_OK;
}

static enum stet_rc call_symbol(struct stet_lower *l, struct stet_view symbol)
{
    /* Shardy's export makes functions of regions that each device runs by itself. */
    bool manual = stet_view_starts(symbol, "xla.sdy.manual_computation_body");
    const struct stet_block *body = NULL;
    const struct stet_op *f;

    TRY(function_named(l, symbol, &f, &body));
    l->calls[l->call_depth++] = f;
    l->manual += manual;
    TRY(inline_block(l, body));
    l->manual -= manual;
    l->call_depth--;
    return STET_OK;
}

enum stet_rc stet_lower_func_call(struct stet_lower *l, int arg)
{
    (void)arg;
    return call_symbol(l, stet_lower_text(l, "callee"));
}

enum stet_rc stet_lower_composite(struct stet_lower *l, int arg)
{
    const struct stet_attr *more = stet_op_attr(l->op, "composite_attributes");
    const struct stet_attr *k = more ? stet_attr_field(more, "k") : NULL;

    (void)arg;
    /* its decomposition sorts everything */
    if (stet_view_is(stet_lower_text(l, "name"), "chlo.top_k") && k && k->kind == STET_ATTR_INTEGER)
        return stet_lower_top_k_of(l, stet_attr_int(k), true);
    return call_symbol(l, stet_lower_text(l, "decomposition"));
}

/* The body, with the operands as its arguments. */
enum stet_rc stet_lower_inline_region(struct stet_lower *l, int arg)
{
    const struct stet_block *body;

    (void)arg;
    CHECK(l->op->region_count == 1, "one region is needed");
    TRY(stet_lower_only_block(l, stet_op_region(l->op, 0), &body));
    return inline_block(l, body);
}

/* ---- loops and branches ---- */

/* A region whose arguments are `count` values of these shapes (a tuple argument takes several). */
static enum stet_rc region_with(struct stet_lower *l, const struct stet_region *r,
                                struct stet_gval **like, uint32_t count, struct stet_gblock **out)
{
    struct stet_gblock *b, *outer = l->block;

    TRY(one_block(l, r));
    if (!(b = stet_lower_new_block(l, like, count)))
        return stet_lower_memory(l);
    TRY(stet_lower_bind_args(l, r->blocks[0], b->args, count));
    l->block = b;
    TRY(lower_ops(l, r->blocks[0], &b->results, &b->result_count));
    l->block = outer;
    *out = b;
    return STET_OK;
}

enum stet_rc stet_lower_shapes_of(struct stet_lower *l, struct stet_gval **v, uint32_t count,
                                  struct stet_shape **out)
{
    if (!(*out = STET_NEW_ARRAY(l->arena, struct stet_shape, count + 1)))
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < count; i++)
        (*out)[i] = v[i]->shape;
    return STET_OK;
}

enum stet_rc stet_lower_adopt_blocks(struct stet_lower *l, struct stet_gnode *n,
                                     struct stet_gblock **blocks, uint32_t count)
{
    if (!n)
        return stet_lower_memory(l);
    n->blocks = blocks;
    n->block_count = count;
    for (uint32_t i = 0; i < count; i++) {
        blocks[i]->owner = n;
        n->live |= blocks[i]->talks;
    }
    l->block->talks |= n->live;
    return STET_OK;
}

enum stet_rc stet_lower_while(struct stet_lower *l, int arg)
{
    struct stet_gblock **blocks = STET_NEW_ARRAY(l->arena, struct stet_gblock *, 2);
    struct stet_shape *shapes;
    struct stet_gval **in;
    struct stet_gnode *n;
    uint32_t count;
    bool done;

    (void)arg;
    CHECK(l->op->region_count == 2, "a condition and a body are needed");
    TRY(stet_lower_flat_operands(l, 0, &in, &count));
    if (!blocks)
        return stet_lower_memory(l);
    TRY(stet_lower_unroll(l, in, count, &done));
    if (done)
        return STET_OK;
    TRY(region_with(l, stet_op_region(l->op, 0), in, count, &blocks[0]));
    TRY(region_with(l, stet_op_region(l->op, 1), in, count, &blocks[1]));
    CHECK(blocks[0]->result_count == 1 && blocks[0]->results[0]->shape.rank == 0 &&
              blocks[0]->results[0]->shape.dtype == STET_DT_PRED,
          "the condition does not return one pred");
    CHECK(blocks[1]->result_count == count, "the body returns another number of values");
    for (uint32_t i = 0; i < count; i++)
        CHECK(stet_shape_eq(&blocks[1]->results[i]->shape, &in[i]->shape),
              "the body changes the type of value %u", i);
    TRY(stet_lower_shapes_of(l, in, count, &shapes));
    n = stet_graph_node(l, STET_G_WHILE, in, count, shapes, count);
    TRY(stet_lower_adopt_blocks(l, n, blocks, 2));
    return stet_lower_bind_results(l, n->out, n->out_count);
}

static enum stet_rc branches(struct stet_lower *l, struct stet_gval *index)
{
    uint32_t count = l->op->region_count;
    struct stet_gblock **blocks = STET_NEW_ARRAY(l->arena, struct stet_gblock *, count + 1);
    struct stet_shape *shapes;
    struct stet_gnode *n;

    CHECK(count > 0, "the operation has no branch");
    if (!blocks)
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < count; i++) {
        TRY(region_with(l, stet_op_region(l->op, i), NULL, 0, &blocks[i]));
        CHECK(blocks[i]->result_count == blocks[0]->result_count,
              "branches return different numbers of values");
        for (uint32_t j = 0; j < blocks[i]->result_count; j++)
            CHECK(stet_shape_eq(&blocks[i]->results[j]->shape, &blocks[0]->results[j]->shape),
                  "branches return different types");
    }
    TRY(stet_lower_shapes_of(l, blocks[0]->results, blocks[0]->result_count, &shapes));
    n = stet_graph_node(l, STET_G_CASE, &index, 1, shapes, blocks[0]->result_count);
    TRY(stet_lower_adopt_blocks(l, n, blocks, count));
    return stet_lower_bind_results(l, n->out, n->out_count);
}

enum stet_rc stet_lower_if(struct stet_lower *l, int arg)
{
    struct stet_gval *p;

    (void)arg;
    OPERAND(p, 0);
    CHECK(p->shape.rank == 0 && p->shape.dtype == STET_DT_PRED, "the condition is not one pred");
    CHECK(l->op->region_count == 2, "two branches are needed");
    return branches(l, p);
}

enum stet_rc stet_lower_case(struct stet_lower *l, int arg)
{
    struct stet_gval *index;

    (void)arg;
    OPERAND(index, 0);
    CHECK(index->shape.rank == 0 && index->shape.dtype == STET_DT_S32, "the index is not one s32");
    return branches(l, index);
}

/* ---- tuples, tokens, operations without effect ---- */

enum stet_rc stet_lower_tuple(struct stet_lower *l, int arg)
{
    struct stet_gval **parts;
    uint32_t count;

    (void)arg;
    TRY(stet_lower_flat_operands(l, 0, &parts, &count));
    return stet_lower_bind_results(l, parts, count);
}

enum stet_rc stet_lower_pass(struct stet_lower *l, int arg)
{
    return stet_lower_tuple(l, arg);
}

/* The operands, as values that equal no others. */
enum stet_rc stet_lower_barrier(struct stet_lower *l, int arg)
{
    struct stet_gval **parts;
    uint32_t count;

    (void)arg;
    TRY(stet_lower_flat_operands(l, 0, &parts, &count));
    for (uint32_t i = 0; i < count; i++) {
        struct stet_gnode *n;

        if (parts[i]->shape.dtype == STET_DT_TOKEN)
            continue;
        if (!(n = stet_graph_node(l, STET_G_ALIAS, &parts[i], 1, &parts[i]->shape, 1)))
            return l->err && l->err->rc != STET_OK ? l->err->rc : STET_NO_MEMORY;
        n->barrier = true;
        n->out[0]->tiles = parts[i]->tiles;
        parts[i] = n->out[0];
    }
    return stet_lower_bind_results(l, parts, count);
}

enum stet_rc stet_lower_get_tuple_element(struct stet_lower *l, int arg)
{
    int64_t index = stet_lower_int(l, "index", -1);
    const struct stet_lowered *v;
    const struct stet_type *t;
    struct stet_shape shapes[64];
    uint32_t at = 0, n = 0;

    (void)arg;
    CHECK(l->op->operand_count == 1 && l->op->result_count == 1, "one operand is needed");
    v = &l->map[stet_op_operand(l->op, 0)->id];
    t = stet_op_operand(l->op, 0)->type;
    CHECK(stet_lower_visible(l, v) && t && t->kind == STET_TYPE_TUPLE,
          "the operand is not a tuple");
    CHECK(index >= 0 && index < t->member_count, "index is out of range");
    for (int64_t i = 0; i < index; i++) {
        n = 0;
        TRY(stet_lower_flat_shapes(l, t->members[i], shapes, 64, &n, 0));
        at += n;
    }
    n = 0;
    TRY(stet_lower_flat_shapes(l, t->members[index], shapes, 64, &n, 0));
    CHECK(at + n <= v->count, "the tuple has too few elements");
    return stet_lower_bind_results(l, v->parts + at, n);
}

enum stet_rc stet_lower_token(struct stet_lower *l, int arg)
{
    struct stet_shape s;

    (void)arg;
    stet_shape_set(&s, STET_DT_TOKEN, NULL, 0);
    return stet_lower_out(l, 0, stet_graph_splat(l, &s, ""));
}

/* partition_id and replica_id. */
enum stet_rc stet_lower_lane_id(struct stet_lower *l, int replica)
{
    uint32_t lane = l->lane;
    struct stet_shape s;

    TRY(stet_lower_shape(l, 0, &s));
    lane = replica ? lane / l->on.partitions : lane % l->on.partitions;
    return stet_lower_out(l, 0, stet_graph_number(l, &s, lane));
}

enum stet_rc stet_lower_nothing(struct stet_lower *l, int arg)
{
    (void)arg;
    CHECK(l->op->result_count == 0, "results are not expected");
    return STET_OK;
}
