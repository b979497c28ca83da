/* Lowering: between whole arrays and the tiles that devices have. */
#include "backend/lower.h"

#include "program/print.h"

struct stet_gval *stet_lower_part(struct stet_lower *l, struct stet_gval *v, const int64_t *start,
                                  const struct stet_shape *s)
{
    int64_t in_dim[STET_MAX_RANK], step[STET_MAX_RANK];

    for (uint32_t d = 0; d < s->rank; d++) {
        in_dim[d] = (int64_t)d;
        step[d] = 1;
    }
    return stet_graph_view(l, v, s, in_dim, step, start);
}

static uint32_t share_of(const struct stet_sharding *s, uint32_t lane)
{
    return s->shares ? s->share[lane] : 0;
}

/* The tile of a lane. Of an array that is to be reduced later, the first share is all of it. */
static struct stet_gval *cut(struct stet_lower *l, const struct stet_sharding *s, uint32_t lane,
                             struct stet_gval *whole, const struct stet_shape *shape)
{
    int64_t start[STET_MAX_RANK];

    if (share_of(s, lane))
        return stet_graph_number(l, shape, 0);
    stet_sharding_start(s, shape, s->tile[lane], start);
    return stet_lower_part(l, whole, start, shape);
}

enum stet_rc stet_lower_split(struct stet_lower *l, const struct stet_sharding *s,
                              struct stet_gval **whole, struct stet_gval **tiles)
{
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        const struct stet_tiles *from = whole[lane]->tiles;
        struct stet_shape shape;
        uint32_t like = 0;

        TRY(stet_sharding_tile_shape(&l->shardings, s, &whole[lane]->shape, &shape));
        while (like < lane && !(whole[like] == whole[lane] && s->tile[like] == s->tile[lane] &&
                                share_of(s, like) == share_of(s, lane)))
            like++;
        if (from && stet_sharding_eq(&from->sharding, s, l->lanes)) {
            tiles[lane] = from->at[lane];
        } else if (like < lane) {
            tiles[lane] = tiles[like];
        } else {
            tiles[lane] = cut(l, s, lane, whole[lane], &shape);
        }
        if (!tiles[lane])
            return stet_lower_memory(l);
    }
    return STET_OK;
}

/* A lane that has this share of tile `number` and belongs to the same array as `lane`. */
static uint32_t holder(const struct stet_lower *l, const struct stet_sharding *s, uint32_t lane,
                       uint32_t number, uint32_t share)
{
    for (uint32_t other = 0; other < l->lanes; other++) {
        if (s->tile[other] == number && share_of(s, other) == share &&
            (!s->group || s->group[other] == s->group[lane]))
            return other;
    }
    return UINT32_MAX;
}

/* The tiles of the array that `lane` has a part of, in order; all shares of one after another. */
static enum stet_rc tiles_of(struct stet_lower *l, const struct stet_sharding *s, uint32_t lane,
                             struct stet_gval **tiles, struct stet_gval **parts, uint32_t count)
{
    uint32_t shares = s->shares ? s->shares : 1;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = holder(l, s, lane, i / shares, i % shares);

        CHECK(from != UINT32_MAX, "tile %u of %u is on no device", i, count);
        parts[i] = tiles[from];
    }
    return STET_OK;
}

/* Sums up the shares of each tile, in order. */
static enum stet_rc add_shares(struct stet_lower *l, const struct stet_sharding *s,
                               struct stet_gval **parts, uint32_t tiles)
{
    for (uint32_t i = 0; i < tiles && s->shares; i++) {
        struct stet_gval *sum = parts[(size_t)i * s->shares];

        for (uint32_t k = 1; k < s->shares && sum; k++)
            sum = stet_graph_ew(l, STET_TILE_ADD, sum->shape.dtype, sum,
                                parts[(size_t)i * s->shares + k], NULL);
        if (!(parts[i] = sum))
            return stet_lower_memory(l);
    }
    return STET_OK;
}

static struct stet_gval *paste_tiles(struct stet_lower *l, const struct stet_sharding *s,
                                     const struct stet_shape *shape, struct stet_gval **parts,
                                     uint32_t count)
{
    int64_t *starts = STET_NEW_ARRAY(l->arena, int64_t, (size_t)count *STET_MAX_RANK + 1);

    if (!starts) {
        stet_lower_memory(l);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        stet_sharding_start(s, &parts[i]->shape, i, starts + (size_t)i * shape->rank);
    return stet_lower_paste(l, parts, starts, count, shape);
}

enum stet_rc stet_lower_join(struct stet_lower *l, const struct stet_sharding *s,
                             const struct stet_shape *shape, struct stet_gval **tiles,
                             struct stet_gval **whole)
{
    uint32_t tile_count = (uint32_t)stet_sharding_tiles(s);
    uint32_t count = tile_count * (s->shares ? s->shares : 1);
    struct stet_gval **parts =
        STET_NEW_ARRAY(l->arena, struct stet_gval *, (size_t)count * l->lanes);
    struct stet_gval **added = STET_NEW_ARRAY(l->arena, struct stet_gval *, count);
    struct stet_tiles *kept = STET_NEW(l->arena, struct stet_tiles);
    struct stet_shape tile;

    if (!parts || !added || !kept || !(kept->at = stet_lower_new_lanes(l)))
        return stet_lower_memory(l);
    TRY(stet_sharding_tile_shape(&l->shardings, s, shape, &tile));
    CHECK(!s->shares || stet_lower_has_kernel(STET_TILE_ADD, shape->dtype),
          "%s cannot be a sum of what devices have", stet_shape_text(shape).text);
    kept->sharding = *s;
    memcpy(kept->at, tiles, l->lanes * sizeof(struct stet_gval *));
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        struct stet_gval **mine = parts + (size_t)lane * count;
        uint32_t like = 0;

        CHECK(stet_shape_eq(&tiles[lane]->shape, &tile), "a tile is %s, but its sharding gives %s",
              stet_shape_text(&tiles[lane]->shape).text, stet_shape_text(&tile).text);
        TRY(tiles_of(l, s, lane, tiles, mine, count));
        while (memcmp(parts + (size_t)like * count, mine, count * sizeof *parts) != 0)
            like++;
        if (like < lane) {
            whole[lane] = whole[like];
            continue;
        }
        memcpy(added, mine, count * sizeof(struct stet_gval *));
        TRY(add_shares(l, s, added, tile_count));
        whole[lane] = tile_count == 1 ? added[0] : paste_tiles(l, s, shape, added, tile_count);
        if (!whole[lane])
            return stet_lower_memory(l);
        if (count > 1)
            whole[lane]->tiles = kept;
    }
    return STET_OK;
}

/* ---- shardings in attributes ---- */

enum stet_rc stet_lower_attr_text(struct stet_lower *l, const struct stet_attr *a,
                                  struct stet_view *out)
{
    struct stet_buf text = STET_BUF_INIT;

    *out = (struct stet_view){0};
    if (!a)
        return STET_OK;
    if (a->kind == STET_ATTR_STRING) {
        *out = stet_attr_text(a);
        return STET_OK;
    }
    stet_print_attr(&text, a);
    *out = stet_arena_copy(l->arena, stet_buf_as_view(&text));
    stet_buf_release(&text);
    return out->ptr ? STET_OK : stet_lower_memory(l);
}

enum stet_rc stet_lower_sharding(struct stet_lower *l, const struct stet_attr *a, uint32_t rank,
                                 struct stet_sharding *out)
{
    struct stet_view text;

    TRY(stet_lower_attr_text(l, a, &text));
    if (!text.len)
        return stet_sharding_whole(&l->shardings, rank, out);
    return stet_sharding_read(&l->shardings, text, (struct stet_view){0}, rank, out);
}

/* ---- the operations ---- */

static struct stet_view call_target(const struct stet_op *op)
{
    const struct stet_attr *a = stet_op_attr(op, "call_target_name");

    return a && a->kind == STET_ATTR_STRING ? stet_attr_text(a) : (struct stet_view){0};
}

bool stet_lower_is_border(const struct stet_op *op)
{
    static const char *const names[] = {"SPMDFullToShardShape", "SPMDShardToFullShape",
                                        "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape",
                                        NULL};

    return stet_view_in(call_target(op), names);
}

/* The shardings and axes of a manual region, as text. */
struct border {
    struct stet_view shardings, axes;
};

static enum stet_rc border_of(struct stet_lower *l, const char *name, struct border *out)
{
    const struct stet_attr *attrs = stet_op_attr(l->op, "mhlo.frontend_attributes");
    char exported[40] = "xla.sdy.";

    strncat(exported, name, sizeof exported - 9);
    TRY(stet_lower_attr_text(
        l, attrs ? stet_attr_field(attrs, exported) : stet_op_attr(l->op, name), &out->shardings));
    TRY(stet_lower_attr_text(l,
                             attrs ? stet_attr_field(attrs, "xla.sdy.manual_axes")
                                   : stet_op_attr(l->op, "manual_axes"),
                             &out->axes));
    CHECK(out->shardings.len && out->axes.len, "%s or manual_axes is missing", name);
    return STET_OK;
}

static enum stet_rc border_sharding(struct stet_lower *l, const struct border *b, uint32_t i,
                                    uint32_t rank, struct stet_sharding *out)
{
    struct stet_view text = stet_sharding_of_value(b->shardings, i);

    CHECK(text.len, "value %u has no sharding", i);
    return stet_sharding_read(&l->shardings, text, b->axes, rank, out);
}

/* XLA's own custom calls: the sharding is that of the operation before, or of the call itself. */
static enum stet_rc spmd_sharding(struct stet_lower *l, bool before, uint32_t rank,
                                  struct stet_sharding *out)
{
    const struct stet_op *op = l->op;

    if (before && op->operand_count)
        op = stet_value_def(stet_op_operand(op, 0));
    return stet_lower_sharding(l, op ? stet_op_attr(op, "mhlo.sharding") : NULL, rank, out);
}

static enum stet_rc whole_to_tiles(struct stet_lower *l, uint32_t i, const struct border *b,
                                   struct stet_gval **tiles)
{
    struct stet_gval **whole = stet_lower_new_lanes(l);
    struct stet_sharding s;

    if (!whole)
        return stet_lower_memory(l);
    TRY(stet_lower_in_lanes(l, i, whole));
    TRY(b ? border_sharding(l, b, i, whole[0]->shape.rank, &s)
          : spmd_sharding(l, true, whole[0]->shape.rank, &s));
    return stet_lower_split(l, &s, whole, tiles);
}

static enum stet_rc tiles_to_whole(struct stet_lower *l, uint32_t i, const struct border *b,
                                   struct stet_gval **tiles)
{
    struct stet_gval **whole = stet_lower_new_lanes(l);
    struct stet_sharding s;
    struct stet_shape shape;

    if (!whole)
        return stet_lower_memory(l);
    TRY(stet_lower_shape(l, i, &shape));
    TRY(b ? border_sharding(l, b, i, shape.rank, &s) : spmd_sharding(l, false, shape.rank, &s));
    TRY(stet_lower_join(l, &s, &shape, tiles, whole));
    return stet_lower_out_lanes(l, i, whole);
}

/* Goes into a region in which each lane has its tile, or out of it. */
static enum stet_rc cross_border(struct stet_lower *l, bool inward)
{
    bool sdy = stet_view_starts(call_target(l->op), "xla.sdy.");
    struct stet_gval **tiles = stet_lower_new_lanes(l);
    struct border b;

    CHECK(l->op->operand_count == l->op->result_count, "operands and results do not fit");
    if (!tiles)
        return stet_lower_memory(l);
    if (sdy)
        TRY(border_of(l, inward ? "in_shardings" : "out_shardings", &b));
    for (uint32_t i = 0; i < l->op->result_count; i++) {
        if (inward) {
            TRY(whole_to_tiles(l, i, sdy ? &b : NULL, tiles));
            TRY(stet_lower_out_lanes(l, i, tiles));
        } else {
            TRY(stet_lower_in_lanes(l, i, tiles));
            TRY(tiles_to_whole(l, i, sdy ? &b : NULL, tiles));
        }
    }
    return STET_OK;
}

enum stet_rc stet_lower_to_tiles(struct stet_lower *l)
{
    return cross_border(l, true);
}

enum stet_rc stet_lower_from_tiles(struct stet_lower *l)
{
    return cross_border(l, false);
}

enum stet_rc stet_lower_manual_computation(struct stet_lower *l, int arg)
{
    struct stet_gval **tiles = stet_lower_new_lanes(l), **values;
    const struct stet_block *body;
    struct border in, out;
    uint32_t count;

    if (l->single)
        return stet_lower_inline_region(l, arg);
    CHECK(l->op->region_count == 1, "one region is needed");
    TRY(stet_lower_only_block(l, stet_op_region(l->op, 0), &body));
    CHECK(body->arg_count == l->op->operand_count, "operands and arguments do not fit");
    TRY(border_of(l, "in_shardings", &in));
    TRY(border_of(l, "out_shardings", &out));
    if (!tiles)
        return stet_lower_memory(l);
    for (uint32_t i = 0; i < body->arg_count; i++) {
        struct stet_shape s;

        TRY(stet_lower_type(l, body->args[i].type, &s));
        TRY(whole_to_tiles(l, i, &in, tiles));
        for (uint32_t lane = 0; lane < l->lanes; lane++) {
            CHECK(stet_shape_eq(&s, &tiles[lane]->shape), "argument %u has another type", i);
            stet_lower_to_lane(l, lane);
            TRY(stet_lower_bind(l, &body->args[i], &tiles[lane], 1));
        }
        stet_lower_to_lane(l, 0);
    }
    l->manual++;
    TRY(stet_lower_block_ops(l, body));
    l->manual--;
    for (uint32_t i = 0; i < l->op->result_count; i++) {
        for (uint32_t lane = 0; lane < l->lanes; lane++) {
            stet_lower_to_lane(l, lane);
            TRY(stet_lower_returned(l, body, &values, &count));
            CHECK(count == l->op->result_count, "the region returns another number of values");
            tiles[lane] = values[i];
        }
        stet_lower_to_lane(l, 0);
        TRY(tiles_to_whole(l, i, &out, tiles));
    }
    return STET_OK;
}
