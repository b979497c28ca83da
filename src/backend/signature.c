/* A plan of a program's border alone: the shapes, shardings and donations of its arguments and
 * results. No operation is read, so operations that cannot be run do not matter. */
#include "backend/plan.h"

#include "backend/lower.h"
#include "backend/plan_steps.h"

enum { SIGNATURE_CAP_LOG2 = 34 };

struct border {
    struct stet_shape *shapes;
    uint32_t count;
};

/* How many tensors a type is. */
static size_t leaves(const struct stet_type *t, uint32_t depth)
{
    size_t n = 0;

    if (!t || t->kind != STET_TYPE_TUPLE || depth > STET_MAX_DEPTH)
        return 1;
    for (uint32_t i = 0; i < t->member_count; i++)
        n += leaves(t->members[i], depth + 1);
    return n;
}

static enum stet_rc border_new(struct stet_lower *l, struct border *b, size_t room)
{
    b->shapes = STET_NEW_ARRAY(l->arena, struct stet_shape, room + 1);
    return b->shapes ? STET_OK : stet_lower_memory(l);
}

/* The tuples of one device are flattened, as a plan's are. */
static enum stet_rc flatten(struct stet_lower *l, const struct stet_block *body, struct border *in,
                            struct border *out)
{
    const struct stet_program *p = l->program;
    size_t ins = 0, outs = 0;

    for (uint32_t i = 0; i < body->arg_count; i++)
        ins += leaves(body->args[i].type, 0);
    for (uint32_t i = 0; i < p->output_count; i++)
        outs += leaves(p->outputs[i].type, 0);
    CHECK(ins <= STET_MAX_OPERANDS && outs <= STET_MAX_OPERANDS, "too many arguments or results");
    TRY(border_new(l, in, ins));
    TRY(border_new(l, out, outs));
    for (uint32_t i = 0; i < body->arg_count; i++)
        TRY(stet_lower_flat_shapes(l, body->args[i].type, in->shapes, (uint32_t)ins, &in->count,
                                   0));
    for (uint32_t i = 0; i < p->output_count; i++)
        TRY(stet_lower_flat_shapes(l, p->outputs[i].type, out->shapes, (uint32_t)outs, &out->count,
                                   0));
    return STET_OK;
}

/* Every lane has the same shapes: those of its tiles. */
static void repeat(struct border *b, uint32_t lanes)
{
    for (uint32_t i = b->count; i < b->count * lanes; i++)
        b->shapes[i] = b->shapes[i % b->count];
    b->count *= lanes;
}

static enum stet_rc cut(struct stet_lower *l, const struct stet_block *body, struct border *in,
                        struct border *out)
{
    const struct stet_program *p = l->program;
    struct stet_shape *whole = STET_NEW_ARRAY(l->arena, struct stet_shape, body->arg_count + 1);

    if (!whole)
        return stet_lower_memory(l);
    CHECK(body->arg_count <= STET_MAX_OPERANDS && p->argument_count == body->arg_count,
          "too many arguments");
    CHECK(p->output_count <= STET_MAX_OPERANDS && body->op_count, "too many results");
    TRY(border_new(l, in, (size_t)body->arg_count * l->lanes));
    TRY(border_new(l, out, (size_t)p->output_count * l->lanes));
    TRY(stet_sharding_meshes(&l->shardings, p->module));
    l->in_shardings = STET_NEW_ARRAY(l->arena, struct stet_sharding, body->arg_count + 1);
    l->out_shardings = STET_NEW_ARRAY(l->arena, struct stet_sharding, p->output_count + 1);
    if (!l->in_shardings || !l->out_shardings)
        return stet_lower_memory(l);
    TRY(stet_lower_argument_tiles(l, body, whole, in->shapes));
    in->count = body->arg_count;
    for (uint32_t i = 0; i < p->output_count; i++) {
        struct stet_shape s;

        TRY(stet_lower_type(l, p->outputs[i].type, &s));
        TRY(stet_lower_result_sharding(l, body, i, s.rank));
        TRY(stet_sharding_tile_shape(&l->shardings, &l->out_shardings[i], &s, &out->shapes[i]));
    }
    out->count = p->output_count;
    repeat(in, l->lanes);
    repeat(out, l->lanes);
    return STET_OK;
}

static enum stet_rc make(struct stet_plan *plan, const struct stet_program *p,
                         const struct stet_plan_devices *on, struct stet_err *err)
{
    struct stet_lower l = {.arena = &plan->arena,
                           .program = p,
                           .err = err,
                           .on = *on,
                           .lanes = on->replicas * on->partitions,
                           .op = p->entry};
    const struct stet_block *body = NULL;
    struct border in = {0}, out = {0};

    l.shardings = (struct stet_sharding_reader){.arena = l.arena, .err = err, .lanes = l.lanes};
    if (!p->entry || p->entry->region_count != 1)
        return stet_fail(err, STET_BAD_INPUT, "the program has no entry function");
    TRY(stet_lower_only_block(&l, stet_op_region(p->entry, 0), &body));
    TRY((l.lanes > 1 ? cut : flatten)(&l, body, &in, &out));
    return stet_plan_describe(plan, &l, in.shapes, in.count, out.shapes, out.count);
}

enum stet_rc stet_plan_new_border(struct stet_plan **out, const struct stet_program *p,
                                  const struct stet_plan_devices *on, struct stet_err *err)
{
    /* the sharding of a result may follow from the operations that make it, and those are searched
     * in StableHLO */
    bool sharded = on->replicas * on->partitions > 1;

    return stet_plan_new_by(out, make, (size_t)1 << SIGNATURE_CAP_LOG2, sharded, p, on, err);
}
