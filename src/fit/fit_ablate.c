/* See fit_ablate.h. */
#include "fit/fit_ablate.h"

#include "base/mem.h"
#include "base/vec.h"
#include "lift/lift_copy.h"
#include "program/ops.h"
#include "program/print.h"

/* Whether a value is read, and by which operations. */
enum { READ_BY_KEPT = 1, READ_BY_LEFT_OUT = 2 };

struct ablation {
    const struct stet_block *body; /* of the entry function */
    const uint8_t *left_out;
    uint8_t *read;                               /* by value's id */
    STET_VEC(const struct stet_value *) inputs;  /* results that become arguments */
    STET_VEC(const struct stet_value *) outputs; /* values that become results */
};

static bool is_passable(const struct stet_type *t)
{
    return t->kind == STET_TYPE_TENSOR;
}

static bool is_left_out(const struct ablation *a, const struct stet_op *op)
{
    if (op->parent != a->body || !a->left_out[op->id] || op->known == STET_FUNC_RETURN)
        return false;
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!is_passable(op->results[i].type))
            return false;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!is_passable(stet_op_operand(op, i)->type))
            return false;
    }
    return true;
}

/* ---- which values cross the border ---- */

/* A region may read values from outside of its operation. */
static void mark_reads(struct ablation *a, const struct stet_op *op, uint8_t by, unsigned depth)
{
    for (uint32_t i = 0; i < op->operand_count; i++)
        a->read[stet_op_operand(op, i)->id] |= by;
    for (uint32_t r = 0; r < op->region_count && depth; r++) {
        const struct stet_region *region = stet_op_region(op, r);

        for (uint32_t k = 0; k < region->block_count; k++) {
            for (uint32_t i = 0; i < region->blocks[k]->op_count; i++)
                mark_reads(a, region->blocks[k]->ops[i], by, depth - 1);
        }
    }
}

static void find_border(struct ablation *a)
{
    for (uint32_t i = 0; i < a->body->op_count; i++)
        mark_reads(a, a->body->ops[i],
                   is_left_out(a, a->body->ops[i]) ? READ_BY_LEFT_OUT : READ_BY_KEPT,
                   STET_MAX_DEPTH);
    for (uint32_t i = 0; i < a->body->op_count; i++) {
        const struct stet_op *op = a->body->ops[i];
        bool out = is_left_out(a, op);

        for (uint32_t k = 0; k < op->result_count; k++) {
            const struct stet_value *v = &op->results[k];

            if (out && a->read[v->id] & READ_BY_KEPT)
                STET_VEC_PUSH(&a->inputs, v);
            if (!out && a->read[v->id] == READ_BY_LEFT_OUT)
                STET_VEC_PUSH(&a->outputs, v);
        }
    }
}

/* ---- the entry function ---- */

static void make_arguments(struct stet_lift_copy *c, const struct stet_block *from,
                           struct stet_block *to)
{
    struct ablation *a = c->context;
    uint32_t more = from == a->body ? (uint32_t)a->inputs.count : 0;
    const struct stet_type **types = STET_NEW_ARRAY(c->arena, const struct stet_type *, more + 1);

    for (uint32_t i = 0; types && i < more; i++)
        types[i] = a->inputs.items[i]->type;
    if (types)
        stet_lift_copy_arguments(c, from, to, from->arg_count, types, more);
    for (uint32_t i = 0; to->args && i < more; i++)
        c->values[a->inputs.items[i]->id] = &to->args[from->arg_count + i];
}

static const struct stet_attr *longer_type(struct stet_lift_copy *c, const struct stet_attr *old)
{
    const struct ablation *a = c->context;
    const struct stet_type *was = stet_attr_type(old);
    uint32_t inputs = was->input_count, results = was->member_count - inputs, n = 0;
    struct stet_attr *made = stet_build_attr(c->arena, STET_ATTR_TYPE);
    struct stet_type *type = STET_NEW(c->arena, struct stet_type);
    const struct stet_type **members =
        STET_NEW_ARRAY(c->arena, const struct stet_type *,
                       was->member_count + a->inputs.count + a->outputs.count + 1);

    if (!made || !type || !members)
        return NULL;
    for (uint32_t i = 0; i < inputs; i++)
        members[n++] = was->members[i];
    for (size_t i = 0; i < a->inputs.count; i++)
        members[n++] = a->inputs.items[i]->type;
    *type = *was;
    type->input_count = n;
    for (uint32_t i = 0; i < results; i++)
        members[n++] = was->members[inputs + i];
    for (size_t i = 0; i < a->outputs.count; i++)
        members[n++] = a->outputs.items[i]->type;
    type->member_count = n;
    type->members = members;
    made->of.type = type;
    return made;
}

/* An argument that shares its memory with a result may find another value there. */
static const struct stet_attr *without_donation(struct stet_lift_copy *c,
                                                const struct stet_attr *old)
{
    struct stet_attr *made = stet_build_attr(c->arena, STET_ATTR_DICT);
    struct stet_named_attr *named =
        STET_NEW_ARRAY(c->arena, struct stet_named_attr, old->count + 1);

    if (!made || !named)
        return NULL;
    for (uint32_t i = 0; old->kind == STET_ATTR_DICT && i < old->count; i++) {
        if (!stet_view_is(old->named[i].name, "tf.aliasing_output") &&
            !stet_view_is(old->named[i].name, "jax.buffer_donor"))
            named[made->count++] = old->named[i];
    }
    made->named = named;
    return made;
}

/* The dictionaries of arguments or results, with empty ones for those that are added. */
static const struct stet_attr *longer_list(struct stet_lift_copy *c, const struct stet_attr *old,
                                           size_t more)
{
    struct stet_attr *made = stet_build_attr(c->arena, STET_ATTR_ARRAY);
    const struct stet_attr **items =
        STET_NEW_ARRAY(c->arena, const struct stet_attr *, old->count + more + 1);

    if (!made || !items)
        return NULL;
    for (uint32_t i = 0; i < old->count; i++)
        items[made->count++] = without_donation(c, old->items[i]);
    while (more--)
        items[made->count++] = stet_build_attr(c->arena, STET_ATTR_DICT);
    made->items = items;
    return made;
}

static void copy_entry(struct stet_lift_copy *c, const struct stet_op *op)
{
    const struct ablation *a = c->context;
    struct stet_named_attr *attrs =
        STET_NEW_ARRAY(c->arena, struct stet_named_attr, op->attr_count + 1);

    for (uint32_t i = 0; attrs && i < op->attr_count; i++) {
        attrs[i] = op->attrs[i];
        if (stet_view_is(attrs[i].name, "function_type"))
            attrs[i].value = longer_type(c, attrs[i].value);
        else if (stet_view_is(attrs[i].name, "arg_attrs"))
            attrs[i].value = longer_list(c, attrs[i].value, a->inputs.count);
        else if (stet_view_is(attrs[i].name, "res_attrs"))
            attrs[i].value = longer_list(c, attrs[i].value, a->outputs.count);
    }
    if (!c->arena->failed)
        stet_lift_copy_op(c, op, NULL, 0, attrs, op->attr_count);
}

static void copy_return(struct stet_lift_copy *c, const struct stet_op *op)
{
    const struct ablation *a = c->context;
    uint32_t n = op->operand_count;
    struct stet_value **operands = stet_lift_copy_operands(c, op, (uint32_t)a->outputs.count);

    for (size_t i = 0; operands && i < a->outputs.count; i++)
        operands[n++] = c->values[a->outputs.items[i]->id];
    if (operands)
        stet_lift_copy_op(c, op, operands, n, op->attrs, op->attr_count);
}

static bool replace(struct stet_lift_copy *c, const struct stet_op *op)
{
    const struct ablation *a = c->context;

    if (op == c->from->entry) {
        copy_entry(c, op);
        return true;
    }
    if (op->parent == a->body && op->known == STET_FUNC_RETURN) {
        copy_return(c, op);
        return true;
    }
    return is_left_out(a, op);
}

enum stet_rc stet_fit_ablate(struct stet_buf *out, const struct stet_program *p,
                             const uint8_t *left_out, struct stet_err *err)
{
    struct ablation a = {.left_out = left_out};
    struct stet_lift_copy c = {
        .from = p, .replace = replace, .arguments = make_arguments, .context = &a};
    struct stet_program made;
    enum stet_rc rc;

    if (p->source == STET_SOURCE_HLO || p->source == STET_SOURCE_HLO_TEXT || !p->entry ||
        !p->entry->region_count || !stet_op_region(p->entry, 0)->block_count)
        return stet_fail(err, STET_UNSUPPORTED, "the program is not StableHLO");
    a.body = stet_op_region(p->entry, 0)->blocks[0];
    a.read = stet_mem_calloc((size_t)p->value_count + 1, sizeof *a.read);
    if (a.read)
        find_border(&a);
    rc = !a.read || a.inputs.failed || a.outputs.failed
             ? stet_fail(err, STET_NO_MEMORY, "out of memory to copy a program")
             : stet_lift_copy_program(&made, &c, err);
    if (rc == STET_OK) {
        rc = stet_print_program(out, &made, NULL, err);
        stet_program_release(&made);
    }
    STET_VEC_RELEASE(&a.inputs);
    STET_VEC_RELEASE(&a.outputs);
    stet_mem_free(a.read);
    return rc;
}
