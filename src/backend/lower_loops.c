/* Lowering: loops and branches that contain a collective. All lanes go through them together; lanes
 * that have the same value before and after each turn share it.
 *
 * If the condition is not the same in all lanes, the loop goes on while it holds in any lane, and a
 * lane in which it does not hold keeps its values. All branches of a conditional are run, and each
 * lane takes the results of its own branch. A correct program has the same condition on all devices
 * that take part in a collective, so a collective exchanges what it would on real devices. */
#include "backend/lower.h"

/* Values of all lanes, `count` each; like[lane * count + i] is the first lane that shares value i
 * with `lane`. The shared ones are in `flat`, number flat_at[like * count + i]. */
struct bundle {
    uint32_t count, flat_count;
    struct stet_gval ***at; /* by lane */
    uint32_t *like, *flat_at;
    struct stet_gval **flat;
};

static enum stet_rc bundle_new(struct stet_lower *l, struct bundle *b)
{
    *b = (struct bundle){.at = STET_NEW_ARRAY(l->arena, struct stet_gval **, l->lanes)};
    return b->at ? STET_OK : stet_lower_memory(l);
}

/* Which lanes share what, after `at` is filled; finer than `before` where that is given. */
static enum stet_rc find_shared(struct stet_lower *l, struct bundle *b, const uint32_t *before)
{
    size_t n = (size_t)b->count * l->lanes;

    b->like = STET_NEW_ARRAY(l->arena, uint32_t, n + 1);
    b->flat_at = STET_NEW_ARRAY(l->arena, uint32_t, n + 1);
    b->flat = STET_NEW_ARRAY(l->arena, struct stet_gval *, n + 1);
    if (!b->like || !b->flat_at || !b->flat)
        return stet_lower_memory(l);
    b->flat_count = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        for (uint32_t lane = 0; lane < l->lanes; lane++) {
            size_t me = (size_t)lane * b->count + i;
            uint32_t like = 0;

            while (b->at[like][i] != b->at[lane][i] ||
                   (before && before[(size_t)like * b->count + i] != before[me]))
                like++;
            b->like[me] = like;
            if (like < lane)
                continue;
            b->flat_at[me] = b->flat_count;
            b->flat[b->flat_count++] = b->at[lane][i];
        }
    }
    return STET_OK;
}

/* Looks up in `values`, which has one value for each group of lanes that share it, the ones that
 * belong to `lane`. */
static void unshare(const struct bundle *b, struct stet_gval **values, uint32_t lane,
                    struct stet_gval **out)
{
    for (uint32_t i = 0; i < b->count; i++) {
        size_t first = (size_t)b->like[(size_t)lane * b->count + i] * b->count + i;

        out[i] = values[b->flat_at[first]];
    }
}

/* A block's arguments, `args`, become those of the region in all lanes; its operations follow, and
 * what it returns is in `out`. */
static enum stet_rc region_lanes(struct stet_lower *l, const struct stet_region *r,
                                 const struct bundle *in, struct stet_gval **args,
                                 struct bundle *out)
{
    struct stet_gval **mine = STET_NEW_ARRAY(l->arena, struct stet_gval *, in->count + 1);
    const struct stet_block *body;

    if (!mine)
        return stet_lower_memory(l);
    TRY(stet_lower_only_block(l, r, &body));
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        stet_lower_to_lane(l, lane);
        unshare(in, args, lane, mine);
        TRY(stet_lower_bind_args(l, body, mine, in->count));
    }
    stet_lower_to_lane(l, 0);
    TRY(stet_lower_block_ops(l, body));
    TRY(bundle_new(l, out));
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        stet_lower_to_lane(l, lane);
        TRY(stet_lower_returned(l, body, &out->at[lane], &out->count));
    }
    stet_lower_to_lane(l, 0);
    return STET_OK;
}

static struct stet_gval *choose(struct stet_lower *l, struct stet_gval *pred, struct stet_gval *yes,
                                struct stet_gval *no)
{
    struct stet_shape s;

    if (yes == no)
        return yes;
    stet_shape_set(&s, STET_DT_PRED, yes->shape.dims, yes->shape.rank);
    return stet_graph_ew(l, STET_TILE_SELECT, yes->shape.dtype,
                         stet_graph_broadcast(l, pred, &s, NULL), yes, no);
}

static bool agree(const struct stet_lower *l, const struct bundle *b)
{
    for (uint32_t lane = 1; lane < l->lanes; lane++) {
        if (b->at[lane][0] != b->at[0][0])
            return false;
    }
    return true;
}

/* ---- loops ---- */

static enum stet_rc check_condition(struct stet_lower *l, const struct bundle *c)
{
    CHECK(c->count == 1 && c->at[0][0]->shape.rank == 0 && c->at[0][0]->shape.dtype == STET_DT_PRED,
          "the condition does not return one pred");
    return STET_OK;
}

/* The condition: whether any lane goes on. */
static enum stet_rc condition(struct stet_lower *l, const struct bundle *in,
                              struct stet_gblock **out, bool *same)
{
    struct stet_gblock *outer = l->block, *b = stet_lower_new_block(l, in->flat, in->flat_count);
    struct stet_gval *any;
    struct bundle c;

    if (!b)
        return stet_lower_memory(l);
    l->block = b;
    TRY(region_lanes(l, stet_op_region(l->op, 0), in, b->args, &c));
    TRY(check_condition(l, &c));
    any = c.at[0][0];
    *same = agree(l, &c);
    for (uint32_t lane = 1; lane < l->lanes && !*same && any; lane++)
        any = stet_graph_ew(l, STET_TILE_OR, STET_DT_PRED, any, c.at[lane][0], NULL);
    b->results = STET_NEW_ARRAY(l->arena, struct stet_gval *, 1);
    if (!b->results || !any)
        return stet_lower_memory(l);
    b->results[0] = any;
    b->result_count = 1;
    l->block = outer;
    *out = b;
    return STET_OK;
}

/* A lane whose own condition is false keeps its values. */
static enum stet_rc keep_of_done(struct stet_lower *l, const struct bundle *in,
                                 struct stet_gval **args, const struct bundle *c,
                                 struct bundle *results)
{
    struct stet_gval **old = STET_NEW_ARRAY(l->arena, struct stet_gval *, in->count + 1);

    if (!old)
        return stet_lower_memory(l);
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        unshare(in, args, lane, old);
        for (uint32_t i = 0; i < in->count; i++) {
            struct stet_gval *v = choose(l, c->at[lane][0], results->at[lane][i], old[i]);

            if (!v)
                return stet_lower_memory(l);
            results->at[lane][i] = v;
        }
    }
    return STET_OK;
}

/* The body; `finer` holds which lanes still share what they shared before. */
static enum stet_rc loop_body(struct stet_lower *l, const struct bundle *in, bool same,
                              struct stet_gblock **out, struct bundle *finer)
{
    struct stet_gblock *outer = l->block, *b = stet_lower_new_block(l, in->flat, in->flat_count);
    struct bundle c;

    if (!b)
        return stet_lower_memory(l);
    l->block = b;
    if (!same)
        TRY(region_lanes(l, stet_op_region(l->op, 0), in, b->args, &c));
    TRY(region_lanes(l, stet_op_region(l->op, 1), in, b->args, finer));
    CHECK(finer->count == in->count, "the body returns another number of values");
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        for (uint32_t i = 0; i < in->count; i++)
            CHECK(stet_shape_eq(&finer->at[lane][i]->shape, &in->at[lane][i]->shape),
                  "the body changes the type of value %u", i);
    }
    if (!same)
        TRY(keep_of_done(l, in, b->args, &c, finer));
    l->block = outer;
    TRY(find_shared(l, finer, in->like));
    b->results = finer->flat;
    b->result_count = finer->flat_count;
    *out = b;
    return STET_OK;
}

enum stet_rc stet_lower_while_lanes(struct stet_lower *l)
{
    struct stet_gblock **blocks = STET_NEW_ARRAY(l->arena, struct stet_gblock *, 2);
    struct stet_gval **mine;
    struct stet_shape *shapes;
    struct bundle in, after;
    struct stet_gnode *n;
    bool same;

    CHECK(l->op->region_count == 2, "a condition and a body are needed");
    TRY(bundle_new(l, &in));
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        stet_lower_to_lane(l, lane);
        TRY(stet_lower_flat_operands(l, 0, &in.at[lane], &in.count));
    }
    stet_lower_to_lane(l, 0);
    TRY(find_shared(l, &in, NULL));
    if (!blocks)
        return stet_lower_memory(l);
    /* Lanes share a value if the body keeps it so; what it does not is split and tried again. */
    for (;;) {
        TRY(condition(l, &in, &blocks[0], &same));
        TRY(loop_body(l, &in, same, &blocks[1], &after));
        if (after.flat_count == in.flat_count)
            break;
        TRY(find_shared(l, &in, after.like));
    }
    TRY(stet_lower_shapes_of(l, in.flat, in.flat_count, &shapes));
    n = stet_graph_node(l, STET_G_WHILE, in.flat, in.flat_count, shapes, in.flat_count);
    TRY(stet_lower_adopt_blocks(l, n, blocks, 2));
    if (!(mine = STET_NEW_ARRAY(l->arena, struct stet_gval *, in.count + 1)))
        return stet_lower_memory(l);
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        stet_lower_to_lane(l, lane);
        unshare(&in, n->out, lane, mine);
        TRY(stet_lower_bind_results(l, mine, in.count));
    }
    stet_lower_to_lane(l, 0);
    return STET_OK;
}

/* ---- branches ---- */

static enum stet_rc bind_lanes(struct stet_lower *l, const struct bundle *b)
{
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        stet_lower_to_lane(l, lane);
        TRY(stet_lower_bind_results(l, b->at[lane], b->count));
    }
    stet_lower_to_lane(l, 0);
    return STET_OK;
}

/* Whether the lane takes branch `i`: that of an s32 out of range is the last one. */
static struct stet_gval *takes(struct stet_lower *l, struct stet_gval *index, uint32_t i)
{
    if (index->shape.dtype == STET_DT_PRED)
        return index; /* branch 0 if true */
    return stet_graph_ew(l, STET_TILE_EQ, STET_DT_PRED, index,
                         stet_graph_number(l, &index->shape, i), NULL);
}

/* All branches, and each lane takes the results of its own. */
static enum stet_rc every_branch(struct stet_lower *l, const struct bundle *index)
{
    uint32_t count = l->op->region_count;
    struct bundle *b = STET_NEW_ARRAY(l->arena, struct bundle, count), none = {0};
    bool talked = l->block->talks;

    if (!b)
        return stet_lower_memory(l);
    l->block->talks = false;
    for (uint32_t i = 0; i < count; i++) {
        TRY(region_lanes(l, stet_op_region(l->op, i), &none, NULL, &b[i]));
        CHECK(b[i].count == b[0].count, "branches return different numbers of values");
    }
    if (l->block->talks)
        return stet_lower_fail(l, STET_UNSUPPORTED,
                               "devices that take different branches and call the host in them");
    l->block->talks = talked;
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        for (uint32_t k = 0; k < b[0].count; k++) {
            struct stet_gval *v = b[count - 1].at[lane][k];

            for (uint32_t i = count - 1; i-- > 0 && v;) {
                CHECK(stet_shape_eq(&b[i].at[lane][k]->shape, &v->shape),
                      "branches return different types");
                v = choose(l, takes(l, index->at[lane][0], i), b[i].at[lane][k], v);
            }
            if (!v)
                return stet_lower_memory(l);
            b[0].at[lane][k] = v;
        }
    }
    return bind_lanes(l, &b[0]);
}

/* A value of a branch is shared by lanes if it is in all branches. */
static enum stet_rc share_in_all(struct stet_lower *l, struct bundle *b, uint32_t count)
{
    const uint32_t *like = NULL;

    for (uint32_t i = 0; i < count; i++) {
        TRY(find_shared(l, &b[i], like));
        like = b[i].like;
    }
    for (uint32_t i = 0; i + 1 < count; i++)
        TRY(find_shared(l, &b[i], like));
    return STET_OK;
}

static enum stet_rc one_branch(struct stet_lower *l, struct stet_gval *index)
{
    uint32_t count = l->op->region_count;
    struct stet_gblock **blocks = STET_NEW_ARRAY(l->arena, struct stet_gblock *, count);
    struct bundle *b = STET_NEW_ARRAY(l->arena, struct bundle, count), none = {0};
    struct stet_gblock *outer = l->block;
    struct stet_shape *shapes;
    struct stet_gnode *n;

    if (!blocks || !b)
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < count; i++) {
        if (!(blocks[i] = stet_lower_new_block(l, NULL, 0)))
            return stet_lower_memory(l);
        l->block = blocks[i];
        TRY(region_lanes(l, stet_op_region(l->op, i), &none, NULL, &b[i]));
        l->block = outer;
        CHECK(b[i].count == b[0].count, "branches return different numbers of values");
        for (uint32_t k = 0; k < b[0].count; k++)
            CHECK(stet_shape_eq(&b[i].at[0][k]->shape, &b[0].at[0][k]->shape),
                  "branches return different types");
    }
    TRY(share_in_all(l, b, count));
    for (uint32_t i = 0; i < count; i++) {
        blocks[i]->results = b[i].flat;
        blocks[i]->result_count = b[i].flat_count;
    }
    TRY(stet_lower_shapes_of(l, b[0].flat, b[0].flat_count, &shapes));
    n = stet_graph_node(l, STET_G_CASE, &index, 1, shapes, b[0].flat_count);
    TRY(stet_lower_adopt_blocks(l, n, blocks, count));
    for (uint32_t lane = 0; lane < l->lanes; lane++)
        unshare(&b[0], n->out, lane, b[0].at[lane]);
    return bind_lanes(l, &b[0]);
}

enum stet_rc stet_lower_branches_lanes(struct stet_lower *l)
{
    bool pred = l->op->known == STET_STABLEHLO_IF;
    struct bundle index = {.count = 1};
    struct stet_gval **all = stet_lower_new_lanes(l);

    CHECK(pred ? l->op->region_count == 2 : l->op->region_count > 0, "branches are missing");
    if (!all || bundle_new(l, &index) != STET_OK)
        return stet_lower_memory(l);
    TRY(stet_lower_in_lanes(l, 0, all));
    CHECK(all[0]->shape.rank == 0 && all[0]->shape.dtype == (pred ? STET_DT_PRED : STET_DT_S32),
          "the condition is not a scalar of its type");
    for (uint32_t lane = 0; lane < l->lanes; lane++)
        index.at[lane] = &all[lane];
    return agree(l, &index) ? one_branch(l, all[0]) : every_branch(l, &index);
}
