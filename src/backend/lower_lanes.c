/* Lowering for several devices. Each device of the program is a lane, and every value has one graph
 * value in each lane. Lanes with the same operands share the result, so that code about whole
 * arrays is lowered and run once, and only what devices do by themselves is there several times.
 *
 * Lanes meet in collectives, and where whole arrays become tiles or tiles whole arrays. These
 * operations get the values of all lanes and become ordinary nodes of one graph, in the order of
 * the program: a run cannot deadlock, and reductions always add in the same order. */
#include "backend/lower.h"

void stet_lower_to_lane(struct stet_lower *l, uint32_t lane)
{
    l->lane = lane;
    l->map = l->maps + (size_t)lane * ((size_t)l->program->value_count + 1);
}

struct stet_lowered *stet_lower_value_of(struct stet_lower *l, uint32_t lane,
                                         const struct stet_value *v)
{
    return &l->maps[(size_t)lane * ((size_t)l->program->value_count + 1) + v->id];
}

struct stet_gval **stet_lower_new_lanes(struct stet_lower *l)
{
    struct stet_gval **v = STET_NEW_ARRAY(l->arena, struct stet_gval *, l->lanes);

    if (!v)
        stet_lower_memory(l);
    return v;
}

enum stet_rc stet_lower_in_lanes(struct stet_lower *l, uint32_t i, struct stet_gval **out)
{
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        stet_lower_to_lane(l, lane);
        OPERAND(out[lane], i);
    }
    stet_lower_to_lane(l, 0);
    return STET_OK;
}

enum stet_rc stet_lower_out_lanes(struct stet_lower *l, uint32_t i, struct stet_gval **v)
{
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        stet_lower_to_lane(l, lane);
        TRY(stet_lower_out(l, i, v[lane]));
    }
    stet_lower_to_lane(l, 0);
    return STET_OK;
}

/* ---- what an operation is to lanes ---- */

enum {
    KNOWN = 1, /* a function's facts were found */
    MEETS = 2, /* lanes meet in it */
    OWN = 4,   /* its result differs from lane to lane, whatever its operands are */
};

static unsigned facts_of(struct stet_lower *l, const struct stet_op *op, uint32_t depth);

static bool has_side_effect(const struct stet_op *op)
{
    const struct stet_attr *a = stet_op_attr(op, "has_side_effect");

    return a && stet_attr_int(a);
}

static unsigned facts_inside(struct stet_lower *l, const struct stet_op *op, uint32_t depth)
{
    unsigned facts = 0;

    for (uint32_t r = 0; r < op->region_count; r++) {
        const struct stet_region *region = stet_op_region(op, r);

        for (uint32_t b = 0; b < region->block_count; b++) {
            for (uint32_t i = 0; i < region->blocks[b]->op_count; i++)
                facts |= facts_of(l, region->blocks[b]->ops[i], depth + 1);
        }
    }
    return facts;
}

static unsigned facts_of_function(struct stet_lower *l, const struct stet_op *op, const char *name,
                                  uint32_t depth)
{
    const struct stet_attr *a = stet_op_attr(op, name);
    struct stet_view symbol = a ? stet_attr_text(a) : (struct stet_view){0};
    const struct stet_op *f = stet_program_function(l->program, symbol);

    for (uint32_t i = 0; f && i < l->program->function_count; i++) {
        if (l->program->functions[i] != f)
            continue;
        if (!l->facts[i]) {
            l->facts[i] = KNOWN; /* a function that calls itself is refused later */
            l->facts[i] |= (uint8_t)facts_inside(l, f, depth);
        }
        return l->facts[i];
    }
    return 0;
}

static unsigned facts_of(struct stet_lower *l, const struct stet_op *op, uint32_t depth)
{
    if (depth > STET_MAX_DEPTH)
        return 0;
    switch (op->known) {
    case STET_STABLEHLO_PARTITION_ID:
    case STET_STABLEHLO_REPLICA_ID:
        return OWN;
    case STET_STABLEHLO_SEND:
    case STET_STABLEHLO_RECV:
        return l->manual ? OWN : 0;
    case STET_STABLEHLO_ALL_GATHER:
    case STET_STABLEHLO_ALL_REDUCE:
    case STET_STABLEHLO_ALL_TO_ALL:
    case STET_STABLEHLO_COLLECTIVE_BROADCAST:
    case STET_STABLEHLO_COLLECTIVE_PERMUTE:
    case STET_STABLEHLO_REDUCE_SCATTER:
    case STET_SDY_MANUAL_COMPUTATION:
        return MEETS;
    case STET_STABLEHLO_CUSTOM_CALL:
        if (stet_lower_is_border(op))
            return MEETS;
        return l->manual && has_side_effect(op) ? OWN : 0;
    case STET_FUNC_CALL:
        return facts_of_function(l, op, "callee", depth);
    case STET_STABLEHLO_COMPOSITE:
        return facts_of_function(l, op, "decomposition", depth);
    default:
        return op->region_count ? facts_inside(l, op, depth) : 0;
    }
}

/* ---- lanes that have the same operands ---- */

static bool same_value(struct stet_lower *l, const struct stet_value *v, uint32_t a, uint32_t b)
{
    const struct stet_lowered *x = stet_lower_value_of(l, a, v), *y = stet_lower_value_of(l, b, v);

    return x->parts && y->parts && x->count == y->count &&
           memcmp(x->parts, y->parts, x->count * sizeof *x->parts) == 0;
}

static bool defined_inside(const struct stet_value *v, const struct stet_op *op)
{
    const struct stet_op *def = stet_value_def(v);
    const struct stet_block *b = def ? def->parent : stet_value_block(v);

    for (; b; b = b->parent ? b->parent->parent : NULL) {
        if (b->parent == op)
            return true;
    }
    return false;
}

/* Of `op`, which is `outer` or in its regions. */
static bool same_operands(struct stet_lower *l, const struct stet_op *outer,
                          const struct stet_op *op, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct stet_value *v = stet_op_operand(op, i);

        if ((op == outer || !defined_inside(v, outer)) && !same_value(l, v, a, b))
            return false;
    }
    for (uint32_t r = 0; r < op->region_count; r++) {
        const struct stet_region *region = stet_op_region(op, r);

        for (uint32_t k = 0; k < region->block_count; k++) {
            for (uint32_t i = 0; i < region->blocks[k]->op_count; i++) {
                if (!same_operands(l, outer, region->blocks[k]->ops[i], a, b))
                    return false;
            }
        }
    }
    return true;
}

static enum stet_rc each_lane(struct stet_lower *l,
                              enum stet_rc (*lower)(struct stet_lower *l, int arg), int arg,
                              bool own)
{
    const struct stet_op *op = l->op;

    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        uint32_t like = 0;

        while (like < lane && (own || !same_operands(l, op, op, like, lane)))
            like++;
        stet_lower_to_lane(l, lane);
        if (like < lane) {
            for (uint32_t i = 0; i < op->result_count; i++)
                l->map[op->results[i].id] = *stet_lower_value_of(l, like, &op->results[i]);
            continue;
        }
        l->single = true;
        TRY(lower(l, arg));
        l->single = false;
    }
    stet_lower_to_lane(l, 0);
    return STET_OK;
}

enum stet_rc stet_lower_lanes(struct stet_lower *l,
                              enum stet_rc (*lower)(struct stet_lower *l, int arg), int arg)
{
    unsigned facts = facts_of(l, l->op, 0);

    switch (l->op->known) {
    case STET_FUNC_CALL:
    case STET_STABLEHLO_COMPOSITE:
    case STET_SDY_NAMED_COMPUTATION:
        return lower(l, arg); /* inlined, one operation after the other */
    case STET_STABLEHLO_WHILE:
        if (facts & MEETS)
            return stet_lower_while_lanes(l);
        break;
    case STET_STABLEHLO_IF:
    case STET_STABLEHLO_CASE:
        if (facts & MEETS)
            return stet_lower_branches_lanes(l);
        break;
    default:
        if (facts & MEETS)
            return lower(l, arg);
        break;
    }
    return each_lane(l, lower, arg, facts & OWN);
}

/* ---- the entry function ---- */

enum stet_rc stet_lower_argument_tiles(struct stet_lower *l, const struct stet_block *body,
                                       struct stet_shape *whole, struct stet_shape *tiles)
{
    for (uint32_t i = 0; i < body->arg_count; i++) {
        TRY(stet_lower_type(l, body->args[i].type, &whole[i]));
        tiles[i] = whole[i];
        if (l->on.partitions == 1)
            TRY(stet_sharding_whole(&l->shardings, whole[i].rank, &l->in_shardings[i]));
        else
            TRY(stet_lower_sharding(l, l->program->arguments[i].sharding, whole[i].rank,
                                    &l->in_shardings[i]));
        TRY(stet_sharding_tile_shape(&l->shardings, &l->in_shardings[i], &whole[i], &tiles[i]));
    }
    return STET_OK;
}

/* Arguments of partitions are put together; those of replicas belong to each lane. */
static enum stet_rc bind_arguments(struct stet_lower *l, const struct stet_block *body,
                                   const struct stet_shape *whole, struct stet_gval **args)
{
    struct stet_gval **tiles = stet_lower_new_lanes(l), **joined = stet_lower_new_lanes(l);

    if (!tiles || !joined)
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < body->arg_count; i++) {
        for (uint32_t lane = 0; lane < l->lanes; lane++)
            tiles[lane] = joined[lane] = args[lane * body->arg_count + i];
        if (l->on.partitions > 1)
            TRY(stet_lower_join(l, &l->in_shardings[i], &whole[i], tiles, joined));
        for (uint32_t lane = 0; lane < l->lanes; lane++) {
            stet_lower_to_lane(l, lane);
            TRY(stet_lower_bind(l, &body->args[i], &joined[lane], 1));
        }
    }
    stet_lower_to_lane(l, 0);
    return STET_OK;
}

enum stet_rc stet_lower_result_sharding(struct stet_lower *l, const struct stet_block *body,
                                        uint32_t i, uint32_t rank)
{
    const struct stet_attr *given = l->program->outputs[i].sharding;

    if (l->on.partitions == 1)
        return stet_sharding_whole(&l->shardings, rank, &l->out_shardings[i]);
    if (given)
        return stet_lower_sharding(l, given, rank, &l->out_shardings[i]);
    if (l->on.results && l->on.results[i].len)
        return stet_sharding_read(&l->shardings, l->on.results[i], (struct stet_view){0}, rank,
                                  &l->out_shardings[i]);
    return stet_lower_guess_sharding(l, stet_op_operand(body->ops[body->op_count - 1], i), rank,
                                     &l->out_shardings[i]);
}

static enum stet_rc lane_results(struct stet_lower *l, const struct stet_block *body,
                                 struct stet_gblock *b)
{
    struct stet_gval **whole = stet_lower_new_lanes(l), **tiles = stet_lower_new_lanes(l);
    struct stet_gval ***all = STET_NEW_ARRAY(l->arena, struct stet_gval **, l->lanes);
    uint32_t count = 0;

    if (!whole || !tiles || !all)
        return stet_lower_memory(l);
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        stet_lower_to_lane(l, lane);
        TRY(stet_lower_returned(l, body, &all[lane], &count));
    }
    stet_lower_to_lane(l, 0);
    CHECK(count == l->program->output_count, "results of several devices cannot be tuples");
    b->results = STET_NEW_ARRAY(l->arena, struct stet_gval *, (size_t)count * l->lanes + 1);
    l->out_shardings = STET_NEW_ARRAY(l->arena, struct stet_sharding, count + 1);
    if (!b->results || !l->out_shardings)
        return stet_lower_memory(l);
    b->result_count = count * l->lanes;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t lane = 0; lane < l->lanes; lane++)
            whole[lane] = tiles[lane] = all[lane][i];
        TRY(stet_lower_result_sharding(l, body, i, whole[0]->shape.rank));
        if (l->on.partitions > 1)
            TRY(stet_lower_split(l, &l->out_shardings[i], whole, tiles));
        for (uint32_t lane = 0; lane < l->lanes; lane++)
            b->results[lane * count + i] = tiles[lane];
    }
    return STET_OK;
}

enum stet_rc stet_lower_program_lanes(struct stet_lower *l, struct stet_gblock **out)
{
    const struct stet_op *entry = l->program->entry;
    const struct stet_block *body = NULL;
    struct stet_shape *whole, *tiles;
    struct stet_gval *likes, **like;
    struct stet_gblock *b;
    uint32_t n;

    CHECK(entry->region_count == 1, "a function without a body");
    TRY(stet_lower_only_block(l, stet_op_region(entry, 0), &body));
    n = body->arg_count;
    CHECK(n <= STET_MAX_OPERANDS && l->program->argument_count == n, "too many arguments");
    TRY(stet_sharding_meshes(&l->shardings, l->program->module));
    whole = STET_NEW_ARRAY(l->arena, struct stet_shape, n + 1);
    tiles = STET_NEW_ARRAY(l->arena, struct stet_shape, n + 1);
    likes = STET_NEW_ARRAY(l->arena, struct stet_gval, n + 1);
    like = STET_NEW_ARRAY(l->arena, struct stet_gval *, (size_t)n * l->lanes + 1);
    l->in_shardings = STET_NEW_ARRAY(l->arena, struct stet_sharding, n + 1);
    if (!whole || !tiles || !likes || !like || !l->in_shardings)
        return stet_lower_memory(l);
    TRY(stet_lower_argument_tiles(l, body, whole, tiles));
    for (uint32_t i = 0; i < n * l->lanes; i++) {
        likes[i % n].shape = tiles[i % n];
        like[i] = &likes[i % n];
    }
    if (!(b = stet_lower_new_block(l, like, n * l->lanes)))
        return stet_lower_memory(l);
    l->block = b;
    TRY(bind_arguments(l, body, whole, b->args));
    l->calls[l->call_depth++] = entry;
    l->manual += l->on.replicas > 1;
    TRY(stet_lower_block_ops(l, body));
    TRY(lane_results(l, body, b));
    *out = b;
    return STET_OK;
}
