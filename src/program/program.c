/* Lookup, visiting, and the index of functions, arguments and outputs. */
#include "program/program.h"

#include "program/ops.h"

void stet_program_release(struct stet_program *p)
{
    stet_arena_release(&p->arena);
    *p = (struct stet_program){0};
}

const struct stet_attr *stet_op_attr(const struct stet_op *op, const char *name)
{
    struct stet_view want = stet_view_str(name);
    uint32_t low = 0, high = op->attr_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = stet_view_cmp(want, op->attrs[middle].name);

        if (order == 0)
            return op->attrs[middle].value;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct stet_attr *stet_attr_field(const struct stet_attr *a, const char *name)
{
    struct stet_view want = stet_view_str(name);

    if (!a || (a->kind != STET_ATTR_RECORD && a->kind != STET_ATTR_DICT))
        return NULL;
    for (uint32_t i = 0; i < a->count; i++)
        if (stet_view_eq(a->named[i].name, want))
            return a->named[i].value;
    return NULL;
}

struct stet_view stet_op_symbol(const struct stet_op *op)
{
    const struct stet_attr *a = stet_op_attr(op, "sym_name");

    return a && a->kind == STET_ATTR_STRING ? stet_attr_text(a) : (struct stet_view){0};
}

struct stet_op *stet_program_function(const struct stet_program *p, struct stet_view symbol)
{
    for (uint32_t i = 0; i < p->function_count; i++)
        if (stet_view_eq(stet_op_symbol(p->functions[i]), symbol))
            return p->functions[i];
    return NULL;
}

static bool walk(const struct stet_op *op, bool (*visit)(const struct stet_op *, void *),
                 void *context)
{
    if (!visit(op, context))
        return false;
    for (unsigned r = 0; r < op->region_count; r++)
        for (uint32_t b = 0; b < stet_op_region(op, r)->block_count; b++) {
            const struct stet_block *block = stet_op_region(op, r)->blocks[b];

            for (uint32_t i = 0; i < block->op_count; i++)
                if (!walk(block->ops[i], visit, context))
                    return false;
        }
    return true;
}

bool stet_program_walk(const struct stet_program *p,
                       bool (*visit)(const struct stet_op *op, void *context), void *context)
{
    return !p->module || walk(p->module, visit, context);
}

static bool is_apart(const struct stet_op *op, void *context)
{
    (void)context;
    return !(stet_op_facts(op) & STET_OP_COLLECTIVE) && op->known != STET_SDY_MESH &&
           !stet_op_attr(op, "mhlo.sharding") && !stet_op_attr(op, "sdy.sharding");
}

bool stet_program_meets(const struct stet_program *p)
{
    bool divided = false;

    for (size_t i = 0; i < p->argument_count; i++)
        divided |= p->arguments[i].sharding != NULL;
    for (size_t i = 0; i < p->output_count; i++)
        divided |= p->outputs[i].sharding != NULL;
    return divided || !stet_program_walk(p, is_apart, NULL);
}

/* ---- index ---- */

/* A function has a symbol and a body. Meshes have no body, and modules are not called. */
static bool is_function(const struct stet_op *op)
{
    if (op->known != STET_OP_UNKNOWN)
        return stet_op_facts(op) & STET_OP_FUNCTION;
    return op->region_count && stet_op_attr(op, "sym_name");
}

static const struct stet_block *body_of(const struct stet_op *op)
{
    return op->region_count && stet_op_region(op, 0)->block_count ? stet_op_region(op, 0)->blocks[0]
                                                                  : NULL;
}

static bool find_functions(struct stet_program *p, const struct stet_block *body)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < body->op_count; i++)
        count += is_function(body->ops[i]);
    p->functions = STET_NEW_ARRAY(&p->arena, struct stet_op *, count);
    if (!p->functions)
        return false;
    for (uint32_t i = 0; i < body->op_count; i++)
        if (is_function(body->ops[i]))
            p->functions[p->function_count++] = body->ops[i];
    return true;
}

static bool is_private(const struct stet_op *op)
{
    const struct stet_attr *a = stet_op_attr(op, "sym_visibility");

    return a && stet_view_is(stet_attr_text(a), "private");
}

/* @main, or else the only public function. */
static struct stet_op *find_entry(const struct stet_program *p)
{
    struct stet_op *main = stet_program_function(p, STET_VIEW("main")), *found = NULL;

    if (main)
        return main;
    for (uint32_t i = 0; i < p->function_count; i++) {
        if (is_private(p->functions[i]))
            continue;
        if (found)
            return NULL;
        found = p->functions[i];
    }
    return found;
}

/* The dictionary of argument or result `i`, or NULL. */
static const struct stet_attr *dict_at(const struct stet_attr *array, uint32_t i)
{
    if (!array || array->kind != STET_ATTR_ARRAY || i >= array->count)
        return NULL;
    return array->items[i]->kind == STET_ATTR_DICT ? array->items[i] : NULL;
}

/* What frameworks record about an argument or a result; `sharding` is Shardy's if both kinds are
 * present. */
struct said {
    const struct stet_attr *alias, *donor, *sharding, *info;
};

static struct said read_dict(const struct stet_attr *dict)
{
    struct said said = {0};
    const struct stet_attr *old = NULL;

    for (uint32_t i = 0; dict && i < dict->count; i++) {
        struct stet_view name = dict->named[i].name;
        const struct stet_attr *value = dict->named[i].value;

        if (stet_view_eq(name, STET_VIEW("jax.result_info")))
            said.info = value;
        else if (stet_view_eq(name, STET_VIEW("tf.aliasing_output")))
            said.alias = value;
        else if (stet_view_eq(name, STET_VIEW("jax.buffer_donor")))
            said.donor = value;
        else if (stet_view_eq(name, STET_VIEW("sdy.sharding")))
            said.sharding = value;
        else if (stet_view_eq(name, STET_VIEW("mhlo.sharding")))
            old = value;
    }
    if (!said.sharding)
        said.sharding = old;
    return said;
}

static void fill_argument(struct stet_argument *out, const struct stet_value *value,
                          const struct stet_attr *dict)
{
    const struct said said = read_dict(dict);
    const struct stet_loc *loc = stet_value_loc(value);

    *out = (struct stet_argument){
        .value = value, .attrs = dict, .alias = -1, .sharding = said.sharding};
    if (loc && loc->kind == STET_LOC_NAME)
        out->name = loc->text;
    if (said.alias && said.alias->kind == STET_ATTR_INTEGER && stet_attr_int(said.alias) >= 0 &&
        stet_attr_int(said.alias) <= INT32_MAX)
        out->alias = (int32_t)stet_attr_int(said.alias);
    out->donor =
        said.donor && (said.donor->kind == STET_ATTR_UNIT || stet_attr_int(said.donor) != 0);
}

static bool index_arguments(struct stet_program *p, const struct stet_block *body)
{
    const struct stet_attr *attrs = stet_op_attr(p->entry, "arg_attrs");

    p->arguments = STET_NEW_ARRAY(&p->arena, struct stet_argument, body->arg_count);
    if (!p->arguments)
        return false;
    p->argument_count = body->arg_count;
    for (uint32_t i = 0; i < body->arg_count; i++)
        fill_argument(&p->arguments[i], &body->args[i], dict_at(attrs, i));
    return true;
}

/* The terminator, whose operands are the outputs; NULL for an empty block. */
static const struct stet_op *last_op(const struct stet_block *body)
{
    return body->op_count ? body->ops[body->op_count - 1] : NULL;
}

static bool index_outputs(struct stet_program *p, const struct stet_block *body)
{
    const struct stet_attr *attrs = stet_op_attr(p->entry, "res_attrs");
    const struct stet_op *last = last_op(body);
    uint32_t count = last ? last->operand_count : 0;

    p->output_count = count;
    p->outputs = STET_NEW_ARRAY(&p->arena, struct stet_result, count);
    if (!p->outputs)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct stet_attr *dict = dict_at(attrs, i);
        const struct said said = read_dict(dict);

        p->outputs[i] = (struct stet_result){
            .type = stet_op_operand(last, i)->type, .attrs = dict, .sharding = said.sharding};
        if (said.info && said.info->kind == STET_ATTR_STRING)
            p->outputs[i].name = stet_attr_text(said.info);
    }
    return true;
}

enum stet_rc stet_program_index(struct stet_program *p, struct stet_err *err)
{
    const struct stet_block *body = p->module ? body_of(p->module) : NULL;

    if (!p->module)
        return stet_fail(err, STET_BAD_INPUT, "the input holds no module");
    if (body && !p->functions && !find_functions(p, body))
        goto no_memory;
    if (!p->entry)
        p->entry = find_entry(p);
    body = p->entry ? body_of(p->entry) : NULL;
    if (!body)
        return STET_OK;
    if (!p->arguments && !p->outputs) /* the last block of the program */
        stet_arena_reserve(&p->arena, body->arg_count * sizeof *p->arguments +
                                          (last_op(body) ? last_op(body)->operand_count : 0) *
                                              sizeof *p->outputs);
    if (!p->arguments && !index_arguments(p, body))
        goto no_memory;
    if (!p->outputs && !index_outputs(p, body))
        goto no_memory;
    return STET_OK;
no_memory:
    return stet_fail(err, STET_NO_MEMORY, "out of memory while indexing a program");
}
