/* See lift_copy.h. */
#include "lift/lift_copy.h"

#include "lift/lift_internal.h"

static void copy_op(struct stet_lift_copy *c, const struct stet_op *op);

static void add(struct stet_lift_copy *c, struct stet_op *op)
{
    stet_build_list_add(c->ops, op);
}

static void copy_block(struct stet_lift_copy *c, const struct stet_block *from,
                       struct stet_block *to, bool is_function)
{
    struct stet_build_list ops = {0}, *outer = c->ops;

    if (is_function)
        c->arguments(c, from, to);
    else
        stet_lift_copy_arguments(c, from, to, from->arg_count, NULL, 0);
    c->ops = &ops;
    for (uint32_t i = 0; i < from->op_count && !c->arena->failed; i++)
        copy_op(c, from->ops[i]);
    c->ops = outer;
    to->op_count = (uint32_t)ops.count;
    to->ops = stet_build_list_keep(&ops, c->arena);
    c->arena->failed |= ops.failed;
    for (uint32_t i = 0; to->ops && i < to->op_count; i++)
        to->ops[i]->parent = to;
    stet_build_list_release(&ops);
}

static struct stet_region *copy_regions(struct stet_lift_copy *c, const struct stet_op *op)
{
    struct stet_region *regions = STET_NEW_ARRAY(c->arena, struct stet_region, op->region_count);

    for (unsigned r = 0; regions && r < op->region_count; r++) {
        uint32_t n = stet_op_region(op, r)->block_count;

        regions[r].blocks = STET_NEW_ARRAY(c->arena, struct stet_block *, n);
        for (uint32_t i = 0; regions[r].blocks && i < n; i++) {
            regions[r].blocks[i] = STET_NEW(c->arena, struct stet_block);
            if (!regions[r].blocks[i])
                return NULL;
            regions[r].block_count++;
            copy_block(c, stet_op_region(op, r)->blocks[i], regions[r].blocks[i],
                       stet_lift_is_closed(op));
        }
    }
    return regions;
}

struct stet_op *stet_lift_copy_op(struct stet_lift_copy *c, const struct stet_op *op,
                                  struct stet_value *const *operands, uint32_t operand_count,
                                  const struct stet_named_attr *attrs, uint32_t attr_count)
{
    const struct stet_type **types =
        STET_NEW_ARRAY(c->arena, const struct stet_type *, op->result_count);
    struct stet_op_parts parts = {.known = op->known,
                                  .loc = op->loc,
                                  .attrs = attrs,
                                  .attr_count = attr_count,
                                  .operands = operands,
                                  .operand_count = operand_count,
                                  .results = types,
                                  .result_count = op->result_count,
                                  .region_count = op->region_count};
    struct stet_op *made;

    for (uint32_t i = 0; types && i < op->result_count; i++)
        types[i] = op->results[i].type;
    parts.regions = copy_regions(c, op);
    made = types && !c->arena->failed ? stet_build_op(c->arena, &parts) : NULL;
    for (uint32_t i = 0; made && i < op->result_count; i++)
        c->values[op->results[i].id] = &made->results[i];
    if (made && c->ops)
        add(c, made);
    return made;
}

struct stet_op *stet_lift_copy_new(struct stet_lift_copy *c, uint32_t known,
                                   const struct stet_type *type, struct stet_value *const *operands,
                                   uint32_t operand_count, const struct stet_named_attr *attrs,
                                   uint32_t attr_count)
{
    struct stet_named_attr *kept = STET_NEW_ARRAY(c->arena, struct stet_named_attr, attr_count);
    struct stet_op_parts parts = {.known = known,
                                  .attrs = kept,
                                  .attr_count = attr_count,
                                  .operands = operands,
                                  .operand_count = operand_count,
                                  .results = &type,
                                  .result_count = 1};
    struct stet_op *made;

    if (!kept || !type) {
        c->arena->failed = true;
        return NULL;
    }
    if (attr_count)
        memcpy(kept, attrs, attr_count * sizeof *attrs);
    made = stet_build_op(c->arena, &parts);
    if (made)
        add(c, made);
    return made;
}

void stet_lift_copy_stands(struct stet_lift_copy *c, const struct stet_value *result,
                           struct stet_op *made)
{
    c->values[result->id] = made ? &made->results[0] : NULL;
}

struct stet_value **stet_lift_copy_operands(struct stet_lift_copy *c, const struct stet_op *op,
                                            uint32_t more)
{
    struct stet_value **to =
        STET_NEW_ARRAY(c->arena, struct stet_value *, (size_t)op->operand_count + more);

    for (uint32_t i = 0; to && i < op->operand_count; i++)
        to[i] = c->values[stet_op_operand(op, i)->id];
    return to;
}

struct stet_value *stet_lift_copy_constant(struct stet_lift_copy *c, const struct stet_type *type,
                                           struct stet_view bytes, bool splat)
{
    struct stet_attr *value = stet_build_attr(c->arena, STET_ATTR_DENSE);
    struct stet_named_attr attr = {STET_VIEW("value"), value};
    struct stet_op *op;

    if (!value)
        return NULL;
    value->of.type = type;
    value->splat = splat;
    stet_attr_set_bytes(value, bytes);
    op = stet_lift_copy_new(c, STET_STABLEHLO_CONSTANT, type, NULL, 0, &attr, 1);
    return op ? &op->results[0] : NULL;
}

struct stet_named_attr stet_lift_copy_ints(struct stet_lift_copy *c, struct stet_view name,
                                           const int64_t *v, uint32_t n)
{
    struct stet_attr *a = stet_build_attr(c->arena, STET_ATTR_DENSE_ARRAY);
    char *to = stet_arena_raw(c->arena, (size_t)n + 1, sizeof *v);

    if (a && to) {
        a->of.type = stet_type_integer(c->arena, 64, STET_SIGNLESS);
        if (n)
            memcpy(to, v, n * sizeof *v);
        stet_attr_set_bytes(a, stet_view_of(to, n * sizeof *v));
    }
    return (struct stet_named_attr){name, a};
}

void stet_lift_copy_arguments(struct stet_lift_copy *c, const struct stet_block *from,
                              struct stet_block *to, uint32_t count,
                              const struct stet_type *const *more, uint32_t more_count)
{
    if (!stet_build_args(c->arena, to, count + more_count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        to->args[i].type = from->args[i].type;
        c->values[from->args[i].id] = &to->args[i];
    }
    for (uint32_t i = 0; i < more_count; i++)
        to->args[count + i].type = more[i];
}

static void copy_op(struct stet_lift_copy *c, const struct stet_op *op)
{
    if (op->known == STET_FUNC_FUNC)
        c->function = stet_lift_function_of(c->from, op);
    if (!c->replace(c, op))
        stet_lift_copy_op(c, op, stet_lift_copy_operands(c, op, 0), op->operand_count, op->attrs,
                          op->attr_count);
}

enum stet_rc stet_lift_copy_program(struct stet_program *out, struct stet_lift_copy *c,
                                    struct stet_err *err)
{
    enum stet_rc rc = STET_NO_MEMORY;

    *out = (struct stet_program){.source = STET_SOURCE_MLIR_TEXT};
    stet_arena_init(&out->arena, (size_t)1 << 30);
    c->arena = &out->arena;
    c->values = stet_mem_calloc((size_t)c->from->value_count + 1, sizeof(struct stet_value *));
    if (c->values)
        out->module = stet_lift_copy_op(c, c->from->module, NULL, 0, c->from->module->attrs,
                                        c->from->module->attr_count);
    stet_mem_free((void *)c->values);
    if (out->module && !out->arena.failed)
        rc = STET_OK;
    rc = stet_build_finish(out, rc, err);
    return rc == STET_OK ? rc : stet_fail(err, rc, "out of memory to copy a program");
}
