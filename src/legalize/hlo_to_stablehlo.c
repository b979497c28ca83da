/* Converts an HLO module to StableHLO: functions, regions, arguments. */
#include "legalize/hlo_to_stablehlo.h"

#include "base/mem.h"
#include "legalize/legal.h"

enum { MOST_DEPTH = 64 };

void stet_legalize_fail(struct stet_legal *l, enum stet_rc rc, const struct stet_op *op,
                        const char *what)
{
    if (l->rc != STET_OK)
        return;
    l->rc = rc;
    if (op)
        stet_fail(l->err, rc, "%.*s (%.*s): %s",
                  STET_FMT(op->loc ? op->loc->text : stet_op_name(op)), STET_FMT(stet_op_name(op)),
                  what);
    else
        stet_fail(l->err, rc, "HLO to StableHLO: %s", what);
}

/* ---- blocks ---- */

static const struct stet_block *body_of(const struct stet_op *computation)
{
    return stet_op_region(computation, 0)->blocks[0];
}

/* One argument for each leaf of each parameter. */
static bool make_arguments(struct stet_legal *l, const struct stet_block *from,
                           struct stet_block *to)
{
    uint32_t n = 0, at = 0;

    for (uint32_t i = 0; i < from->arg_count; i++)
        n += stet_legalize_leaf_count(from->args[i].type);
    if (!stet_build_args(l->a, to, n))
        return false;
    for (uint32_t i = 0; i < from->arg_count; i++) {
        uint32_t leaves = stet_legalize_leaf_count(from->args[i].type);
        const struct stet_type **types = stet_arena_alloc(l->a, leaves, sizeof *types);
        struct stet_value **values = STET_NEW_ARRAY(l->a, struct stet_value *, leaves);

        if (!types || !values)
            return false;
        stet_legalize_leaf_types(l, from->args[i].type, types);
        for (uint32_t k = 0; k < leaves; k++, at++) {
            to->args[at].type = types[k];
            values[k] = &to->args[at];
        }
        l->leaves[from->args[i].id] = (struct stet_leaves){values, leaves};
    }
    return true;
}

/* The computation's instructions, then its root's leaves in `terminator`. */
static bool fill_block(struct stet_legal *l, const struct stet_block *from, struct stet_block *to,
                       const char *terminator)
{
    struct stet_build_list ops = {0}, *outer = l->ops;
    struct stet_leaves root;

    l->ops = &ops;
    for (uint32_t i = 0; i + 1 < from->op_count && l->rc == STET_OK; i++)
        stet_legalize_op(l, from->ops[i]);
    if (l->rc == STET_OK) {
        root = l->leaves[stet_op_operand(from->ops[from->op_count - 1], 0)->id];
        stet_legalize_emit(l, terminator, NULL, root.at, root.count, NULL, 0, NULL, NULL, 0);
    }
    l->ops = outer;
    to->op_count = (uint32_t)ops.count;
    to->ops = stet_build_list_keep(&ops, l->a);
    l->a->failed |= ops.failed;
    stet_build_list_release(&ops);
    if (l->a->failed)
        stet_legalize_fail(l, STET_LIMIT, NULL, "memory cap");
    for (uint32_t i = 0; l->rc == STET_OK && i < to->op_count; i++)
        to->ops[i]->parent = to;
    return l->rc == STET_OK;
}

static bool one_block(struct stet_legal *l, struct stet_region *r, struct stet_block **block)
{
    *block = STET_NEW(l->a, struct stet_block);
    r->blocks = STET_NEW_ARRAY(l->a, struct stet_block *, 1);
    if (!*block || !r->blocks) {
        stet_legalize_fail(l, STET_LIMIT, NULL, "memory cap");
        return false;
    }
    r->block_count = 1;
    r->blocks[0] = *block;
    return true;
}

bool stet_legalize_region(struct stet_legal *l, struct stet_region *out,
                          const struct stet_attr *callee, const struct stet_leaves *bound,
                          uint32_t bound_count, const char *terminator)
{
    struct stet_op *computation = callee && callee->kind == STET_ATTR_SYMBOL
                                      ? stet_program_function(l->hlo, stet_attr_text(callee))
                                      : NULL;
    const struct stet_block *from;
    struct stet_block *to;
    bool ok;

    if (!computation || l->depth == MOST_DEPTH) {
        stet_legalize_fail(l, computation ? STET_LIMIT : STET_BAD_INPUT, NULL,
                           computation ? "regions nest too deeply"
                                       : "a region without computation");
        return false;
    }
    from = body_of(computation);
    if (!one_block(l, out, &to))
        return false;
    if (bound && from->arg_count != bound_count) {
        stet_legalize_fail(l, STET_BAD_INPUT, computation,
                           "called with another number of arguments");
        return false;
    }
    for (uint32_t i = 0; bound && i < bound_count; i++) {
        if (stet_legalize_leaf_count(from->args[i].type) != bound[i].count)
            stet_legalize_fail(l, STET_BAD_INPUT, computation,
                               "called with arguments of other types");
        l->leaves[from->args[i].id] = bound[i];
    }
    if (!bound && !make_arguments(l, from, to)) {
        stet_legalize_fail(l, STET_LIMIT, NULL, "memory cap");
        return false;
    }
    l->depth++;
    ok = fill_block(l, from, to, terminator);
    l->depth--;
    return ok;
}

/* ---- functions ---- */

static const struct stet_attr *signature(struct stet_legal *l, const struct stet_block *block)
{
    const struct stet_op *last = block->ops[block->op_count - 1];
    struct stet_type *t = STET_NEW(l->a, struct stet_type);
    struct stet_attr *a = STET_NEW(l->a, struct stet_attr);
    uint32_t n = block->arg_count + last->operand_count;
    const struct stet_type **members = stet_arena_alloc(l->a, n, sizeof *members);

    if (!t || !a || !members)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        members[i] = i < block->arg_count ? block->args[i].type
                                          : stet_op_operand(last, i - block->arg_count)->type;
    t->kind = STET_TYPE_FUNCTION;
    t->input_count = block->arg_count;
    t->member_count = n;
    t->members = members;
    a->kind = STET_ATTR_TYPE;
    a->of.type = t;
    return a;
}

static const struct stet_attr *dictionary(struct stet_legal *l, const struct stet_attrs *s)
{
    struct stet_attr *a = STET_NEW(l->a, struct stet_attr);
    struct stet_named_attr *kept = STET_NEW_ARRAY(l->a, struct stet_named_attr, s->count);

    if (!a || !kept)
        return NULL;
    if (s->count)
        memcpy(kept, s->at, s->count * sizeof *kept);
    stet_build_sort(kept, s->count);
    a->kind = STET_ATTR_DICT;
    a->named = kept;
    a->count = s->count;
    return a;
}

/* What frameworks record about the entry's arguments, under the names that JAX uses. HLO donates
 * parts of a tuple by leaf; this is left out. */
static const struct stet_attr *argument_attrs(struct stet_legal *l, struct stet_block *block)
{
    const struct stet_program *hlo = l->hlo;
    struct stet_attr *a = STET_NEW(l->a, struct stet_attr);
    const struct stet_attr **items = stet_arena_alloc(l->a, block->arg_count, sizeof *items);
    uint32_t at = 0;

    if (!a || !items)
        return NULL;
    for (uint32_t i = 0; i < hlo->argument_count; i++) {
        const struct stet_argument *arg = &hlo->arguments[i];
        uint32_t leaves = stet_legalize_leaf_count(arg->value->type);

        for (uint32_t k = 0; k < leaves; k++, at++) {
            struct stet_attrs s = {.count = 0};
            struct stet_loc *loc = STET_NEW(l->a, struct stet_loc);

            if (leaves == 1 && arg->alias >= 0)
                stet_legalize_put(&s, "tf.aliasing_output", stet_legalize_int(l, arg->alias, 32));
            if (leaves == 1 && arg->donor)
                stet_legalize_put(&s, "jax.buffer_donor", stet_legalize_bool(l, true));
            if (leaves == 1)
                stet_legalize_put(&s, "mhlo.sharding", arg->sharding);
            if (loc) {
                loc->kind = STET_LOC_NAME;
                loc->text = arg->name;
            }
            stet_block_locs(block)[at] = loc;
            items[at] = dictionary(l, &s);
        }
    }
    a->kind = STET_ATTR_ARRAY;
    a->items = items;
    a->count = block->arg_count;
    return a;
}

static void make_function(struct stet_legal *l, const struct stet_op *computation, bool entry)
{
    struct stet_attrs attrs = {.count = 0};
    struct stet_region *region = STET_NEW(l->a, struct stet_region);
    const struct stet_block *from = body_of(computation);
    struct stet_block *to;

    if (!region || !one_block(l, region, &to) || !make_arguments(l, from, to) ||
        !fill_block(l, from, to, "func.return")) {
        stet_legalize_fail(l, STET_LIMIT, NULL, "memory cap");
        return;
    }
    stet_legalize_put(
        &attrs, "sym_name",
        stet_legalize_string(l, entry ? STET_VIEW("main") : stet_op_symbol(computation)));
    stet_legalize_put(&attrs, "sym_visibility",
                      stet_legalize_string(l, entry ? STET_VIEW("public") : STET_VIEW("private")));
    stet_legalize_put(&attrs, "function_type", signature(l, to));
    if (entry)
        stet_legalize_put(&attrs, "arg_attrs", argument_attrs(l, to));
    stet_legalize_emit(l, "func.func", NULL, NULL, 0, NULL, 0, &attrs, region, 1);
}

/* ---- the module ---- */

static void module_attrs(struct stet_legal *l, struct stet_attrs *out)
{
    const struct stet_op *m = l->hlo->module;
    const struct stet_attr *replicas = stet_op_attr(m, "replica_count");
    const struct stet_attr *partitions = stet_op_attr(m, "num_partitions");

    stet_legalize_put(out, "sym_name", stet_legalize_string(l, stet_op_symbol(m)));
    stet_legalize_put(out, "mhlo.num_replicas",
                      stet_legalize_int(l, replicas ? stet_attr_int(replicas) : 1, 32));
    stet_legalize_put(out, "mhlo.num_partitions",
                      stet_legalize_int(l, partitions ? stet_attr_int(partitions) : 1, 32));
    stet_legalize_put(out, "mhlo.frontend_attributes", stet_op_attr(m, "frontend_attributes"));
}

static void make_module(struct stet_legal *l)
{
    struct stet_build_list functions = {0}, modules = {0};
    struct stet_attrs attrs = {.count = 0};
    struct stet_region *region = STET_NEW(l->a, struct stet_region);
    struct stet_block *block;

    if (!region || !one_block(l, region, &block))
        return;
    l->ops = &functions;
    make_function(l, l->hlo->entry, true);
    /* calls that are found while converting are appended to the list */
    for (size_t i = 0; i < l->functions.count && l->rc == STET_OK; i++)
        make_function(l, l->functions.items[i], false);
    block->op_count = (uint32_t)functions.count;
    block->ops = stet_build_list_keep(&functions, l->a);
    module_attrs(l, &attrs);
    l->ops = &modules;
    stet_legalize_emit(l, "builtin.module", NULL, NULL, 0, NULL, 0, &attrs, region, 1);
    if (l->rc == STET_OK && modules.count == 1 && block->ops) {
        l->out->module = modules.items[0];
        for (uint32_t i = 0; i < block->op_count; i++)
            block->ops[i]->parent = block;
    }
    if (functions.failed || modules.failed || l->functions.failed || l->a->failed)
        stet_legalize_fail(l, STET_LIMIT, NULL, "memory cap");
    stet_build_list_release(&functions);
    stet_build_list_release(&modules);
}

enum stet_rc stet_legalize_hlo(struct stet_program *out, const struct stet_program *hlo,
                               struct stet_err *err)
{
    struct stet_legal *l = stet_mem_calloc(1, sizeof *l);
    size_t cap;
    enum stet_rc rc;

    memset(out, 0, sizeof *out);
    if (!l)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    if (!hlo->module || hlo->module->known != STET_HLO_MODULE) {
        stet_mem_free(l);
        return stet_fail(err, STET_UNSUPPORTED, "not an HLO program");
    }
    /* regions are copies of computations, so a module that calls one from many places may grow;
     * this limits it */
    if (stet_mul_overflows(hlo->arena.used, 16, &cap) || stet_add_overflows(cap, 64 << 20, &cap))
        cap = SIZE_MAX / 2;
    stet_arena_init(&out->arena, cap);
    out->source = hlo->source;
    out->constant_bytes = hlo->constant_bytes;
    l->hlo = hlo;
    l->out = out;
    l->a = &out->arena;
    l->err = err;
    l->leaves = stet_mem_calloc((size_t)hlo->value_count + 1, sizeof *l->leaves);
    if (l->leaves)
        make_module(l);
    else
        stet_legalize_fail(l, STET_NO_MEMORY, NULL, "out of memory");
    rc = l->rc;
    stet_build_list_release(&l->functions);
    stet_mem_free(l->leaves);
    stet_mem_free(l);
    return stet_build_finish(out, rc, err);
}
