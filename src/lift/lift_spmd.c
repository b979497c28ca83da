/* Programs for several devices: a lifted argument is whole on every device. The program says so in
 * its own language, Shardy's (sdy.sharding) or XLA's (mhlo.sharding), and the argument enters the
 * regions in which each device computes by itself. */
#include "lift/lift_copy.h"
#include "lift/lift_internal.h"

static const char full_to_shard[] = "SPMDFullToShardShape";
static const char shard_to_full[] = "SPMDShardToFullShape";

/* ---- custom calls of XLA's language ---- */

static bool is_call_of(const struct stet_op *op, const char *target)
{
    const struct stet_attr *name =
        op && op->known == STET_STABLEHLO_CUSTOM_CALL ? stet_op_attr(op, "call_target_name") : NULL;

    return name && stet_view_is(stet_attr_text(name), target);
}

bool stet_lift_spmd_is_constraint(const struct stet_op *op)
{
    return is_call_of(op, "Sharding") && op->operand_count == 1 && op->result_count == 1;
}

bool stet_lift_spmd_is_entry(const struct stet_op *op)
{
    return is_call_of(op, full_to_shard) && op->operand_count == 1 && op->result_count == 1;
}

const struct stet_op *stet_lift_spmd_entry_of(const struct stet_op *call)
{
    const struct stet_op *def = call->known == STET_FUNC_CALL && call->operand_count
                                    ? stet_value_def(stet_op_operand(call, 0))
                                    : NULL;

    return stet_lift_spmd_is_entry(def) ? def : NULL;
}

static bool has_sharding(const struct stet_op *op, const char *text)
{
    const struct stet_attr *a = stet_op_attr(op, "mhlo.sharding");

    return a && stet_view_is(stet_attr_text(a), text);
}

/* What each device computes by itself must be a function of its own: all its inputs enter there,
 * and all its results leave there. */
static bool is_simple_region(const struct stet_op *op)
{
    const struct stet_op *entry = stet_lift_spmd_entry_of(op), *from;

    if (stet_lift_spmd_is_entry(op))
        return has_sharding(op, "{manual}");
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct stet_op *def = stet_value_def(stet_op_operand(op, i));

        if (stet_lift_spmd_is_entry(def) ? !entry : entry != NULL)
            return false;
    }
    if (!is_call_of(op, shard_to_full))
        return true;
    from = op->operand_count == 1 ? stet_value_def(stet_op_operand(op, 0)) : NULL;
    if (stet_lift_spmd_is_constraint(from))
        from = stet_value_def(stet_op_operand(from, 0));
    return from && stet_lift_spmd_entry_of(from);
}

/* ---- reading ---- */

/* The mesh of a list of shardings; empty if it has none, or one without a name. */
static struct stet_view mesh_of(const struct stet_attr *per_value)
{
    const struct stet_attr *list = per_value ? stet_attr_field(per_value, "shardings") : NULL;
    const struct stet_attr *mesh =
        list && list->count ? stet_attr_field(list->items[0], "mesh_or_ref") : NULL;

    return mesh && mesh->kind == STET_ATTR_SYMBOL ? mesh->word : (struct stet_view){0};
}

/* All shardings of a manual computation are of one mesh. */
static struct stet_view region_mesh(const struct stet_op *region)
{
    struct stet_view mesh = mesh_of(stet_op_attr(region, "in_shardings"));

    return mesh.len ? mesh : mesh_of(stet_op_attr(region, "out_shardings"));
}

struct reading {
    struct stet_lift_spmd *out;
    bool sdy, hlo, placed; /* `placed`: an argument or a result has a sharding of XLA */
    uint32_t meshes;
    const char *bad;
};

static void read_mesh(struct reading *r, const struct stet_op *op)
{
    const struct stet_attr *mesh = stet_op_attr(op, "mesh");
    const struct stet_attr *axes = mesh ? stet_attr_field(mesh, "axes") : NULL;
    const struct stet_attr *ids = mesh ? stet_attr_field(mesh, "device_ids") : NULL;

    if (axes && axes->count) {
        if (!r->meshes++)
            r->out->mesh = stet_op_symbol(op);
    } else if (ids && ids->count) {
        r->bad = "an array that is on one of several devices";
    }
}

static bool read_op(const struct stet_op *op, void *context)
{
    struct reading *r = context;

    if (op->known == STET_SDY_MESH)
        read_mesh(r, op);
    if (op->known == STET_SDY_MANUAL_COMPUTATION && !region_mesh(op).len)
        r->bad = "a manual region without a mesh";
    r->sdy |= stet_op_attr(op, "sdy.sharding") || op->known == STET_SDY_MANUAL_COMPUTATION;
    r->hlo |= stet_op_attr(op, "mhlo.sharding") != NULL;
    if (!is_simple_region(op))
        r->bad = "a manual region that is not one function";
    return !r->bad;
}

static void read_dict(struct reading *r, const struct stet_attr *dict)
{
    r->sdy |= dict && stet_attr_field(dict, "sdy.sharding");
    r->placed |= dict && stet_attr_field(dict, "mhlo.sharding");
    r->hlo |= r->placed;
}

static uint32_t count_of(const struct stet_program *p, const char *name)
{
    const struct stet_attr *a = stet_op_attr(p->module, name);
    int64_t n = a ? stet_attr_int(a) : 1;

    return n < 1 || n > STET_LIFT_DEVICES ? 0 : (uint32_t)n;
}

enum stet_rc stet_lift_spmd_read(struct stet_lift_spmd *out, const struct stet_program *p,
                                 struct stet_err *err)
{
    uint32_t partitions = count_of(p, "mhlo.num_partitions");
    uint32_t replicas = count_of(p, "mhlo.num_replicas");
    struct reading r = {.out = out};

    *out = (struct stet_lift_spmd){.devices = partitions * replicas};
    if (!partitions || !replicas || (partitions > 1 && replicas > 1))
        return stet_fail(err, STET_REFUSED, "replicas of several partitions");
    for (uint32_t i = 0; i < p->argument_count; i++)
        read_dict(&r, p->arguments[i].attrs);
    for (uint32_t i = 0; i < p->output_count; i++)
        read_dict(&r, p->outputs[i].attrs);
    stet_program_walk(p, read_op, &r);
    if (r.bad)
        return stet_fail(err, STET_REFUSED, "%s", r.bad);
    if (r.placed && partitions == 1)
        return stet_fail(err, STET_REFUSED, "a sharded argument of one device");
    if (r.sdy && r.hlo)
        return stet_fail(err, STET_REFUSED, "shardings of two languages");
    if (r.meshes)
        out->language = STET_LIFT_SHARDY;
    else if (!r.meshes && !r.sdy && partitions > 1)
        out->language = STET_LIFT_HLO;
    else if (out->devices > 1 && replicas == 1)
        return stet_fail(err, STET_REFUSED, "several devices without a mesh");
    if (out->language && partitions > 1 && !stet_op_attr(p->entry, "arg_attrs"))
        return stet_fail(err, STET_REFUSED, "several devices and no argument");
    return STET_OK;
}

uint32_t stet_lift_devices(const struct stet_program *p)
{
    return count_of(p, "mhlo.num_partitions") * count_of(p, "mhlo.num_replicas");
}

/* ---- writing ---- */

static const struct stet_attr *make_list(struct stet_arena *a, const struct stet_attr *item,
                                         uint32_t n)
{
    struct stet_attr *list = stet_build_attr(a, STET_ATTR_ARRAY);
    const struct stet_attr **items = STET_NEW_ARRAY(a, const struct stet_attr *, n);

    if (!list || !items)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        items[i] = item;
    list->items = items;
    list->count = n;
    return list;
}

static const struct stet_attr *make_record(struct stet_arena *a, const char *mnemonic,
                                           const struct stet_named_attr *fields, uint32_t n)
{
    struct stet_attr *record = stet_build_attr(a, STET_ATTR_RECORD);
    struct stet_named_attr *kept = STET_NEW_ARRAY(a, struct stet_named_attr, n);
    const struct stet_attr_name *name =
        stet_build_name(a, STET_VIEW("sdy"), stet_view_str(mnemonic));

    if (!record || !kept || !name)
        return NULL;
    memcpy(kept, fields, n * sizeof *fields);
    record->of.name = name;
    record->named = kept;
    record->count = n;
    return record;
}

/* #sdy.sharding<@mesh, [{}, {}]> */
static const struct stet_attr *shardy_whole(struct stet_arena *a, struct stet_view mesh,
                                            uint32_t rank)
{
    struct stet_attr *symbol = stet_build_attr(a, STET_ATTR_SYMBOL);
    struct stet_attr *closed = stet_build_attr(a, STET_ATTR_BOOL);
    const struct stet_attr *none = make_list(a, NULL, 0), *dimension;

    if (!symbol || !closed || !none)
        return NULL;
    symbol->word = mesh;
    closed->integer = 1;
    dimension = make_record(a, "dimension_sharding",
                            (const struct stet_named_attr[]){{STET_VIEW("axes"), none},
                                                             {STET_VIEW("is_closed"), closed}},
                            2);
    return make_record(a, "sharding",
                       (const struct stet_named_attr[]){
                           {STET_VIEW("mesh_or_ref"), symbol},
                           {STET_VIEW("dim_shardings"), make_list(a, dimension, rank)},
                           {STET_VIEW("replicated_axes"), none},
                           {STET_VIEW("unreduced_axes"), none}},
                       4);
}

const struct stet_attr *stet_lift_spmd_dict(struct stet_arena *a, const struct stet_lift_spmd *s,
                                            const struct stet_type *type)
{
    struct stet_attr *dict = stet_build_attr(a, STET_ATTR_DICT);
    struct stet_named_attr *one = STET_NEW(a, struct stet_named_attr);
    struct stet_attr *text;

    if (!dict || !one || s->language == STET_LIFT_UNSHARDED)
        return dict;
    if (s->language == STET_LIFT_SHARDY) {
        *one = (struct stet_named_attr){STET_VIEW("sdy.sharding"),
                                        shardy_whole(a, s->mesh, type->rank)};
    } else {
        text = stet_build_attr(a, STET_ATTR_STRING);
        if (!text)
            return NULL;
        stet_attr_set_text(text, STET_VIEW("{replicated}"));
        *one = (struct stet_named_attr){STET_VIEW("mhlo.sharding"), text};
    }
    dict->named = one;
    dict->count = 1;
    return dict;
}

const struct stet_attr *stet_lift_spmd_more(struct stet_arena *a, const struct stet_op *region,
                                            const struct stet_type *const *types, uint32_t n)
{
    const struct stet_attr *per_value = stet_op_attr(region, "in_shardings");
    const struct stet_attr *old = per_value ? stet_attr_field(per_value, "shardings") : NULL;
    struct stet_view mesh = region_mesh(region);
    struct stet_attr *list = stet_build_attr(a, STET_ATTR_ARRAY);
    const struct stet_attr **items =
        STET_NEW_ARRAY(a, const struct stet_attr *, (size_t)(old ? old->count : 0) + n);

    if (!old || !list || !items || !mesh.len)
        return NULL;
    for (uint32_t i = 0; i < old->count; i++)
        items[i] = old->items[i];
    for (uint32_t i = 0; i < n; i++)
        items[old->count + i] = shardy_whole(a, mesh, types[i]->rank);
    list->items = items;
    list->count = old->count + n;
    return make_record(a, "sharding_per_value",
                       &(struct stet_named_attr){STET_VIEW("shardings"), list}, 1);
}

const struct stet_attr *stet_lift_spmd_fewer(struct stet_arena *a,
                                             const struct stet_attr *per_value, uint32_t n)
{
    const struct stet_attr *old = per_value ? stet_attr_field(per_value, "shardings") : NULL;
    struct stet_attr *list = stet_build_attr(a, STET_ATTR_ARRAY);

    if (!old || !list || old->count < n)
        return NULL;
    list->items = old->items;
    list->count = old->count - n;
    return make_record(a, "sharding_per_value",
                       &(struct stet_named_attr){STET_VIEW("shardings"), list}, 1);
}
