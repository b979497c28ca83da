/* Builds a program from computations: call order, entry, arguments, donation, outputs. */
#include "decode/hlo/hlo_build.h"

#include "base/hash.h"
#include "base/mem.h"
#include "program/ops.h"

#include <stdlib.h>

/* ---- the call graph ---- */

struct node {
    struct stet_view name;
    struct stet_op *op;
    uint64_t offset;
    uint32_t next_op, next_call; /* position of the visit */
    bool called, visited, open;
};

struct graph {
    struct node *nodes; /* sorted by name */
    uint32_t *stack;
    uint32_t count, depth;
};

static int by_name(const void *a, const void *b)
{
    const struct node *x = a, *y = b;

    return stet_view_cmp(x->name, y->name);
}

static struct node *find(const struct graph *g, struct stet_view name)
{
    struct node want = {.name = name};

    return bsearch(&want, g->nodes, g->count, sizeof *g->nodes, by_name);
}

/* The n-th computation that `op` refers to, or an empty view if there are fewer. */
static struct stet_view callee(const struct stet_op *op, uint32_t n)
{
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_attr *a = op->attrs[i].value;

        if (a->kind == STET_ATTR_SYMBOL && n-- == 0)
            return stet_attr_text(a);
        if (a->kind == STET_ATTR_ARRAY && a->count && a->items[0]->kind == STET_ATTR_SYMBOL) {
            if (n < a->count)
                return stet_attr_text(a->items[n]);
            n -= a->count;
        }
    }
    return (struct stet_view){0};
}

static const struct stet_block *body(const struct stet_op *computation)
{
    return stet_op_region(computation, 0)->blocks[0];
}

static enum stet_rc mark_called(struct stet_hlo_build *b, struct graph *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const struct stet_block *block = body(g->nodes[i].op);

        for (uint32_t k = 0; k < block->op_count; k++) {
            struct stet_view name;

            for (uint32_t n = 0; (name = callee(block->ops[k], n)).ptr; n++) {
                struct node *to = find(g, name);

                if (!to)
                    return stet_fail_at(b->err, STET_BAD_INPUT, g->nodes[i].offset,
                                        "HLO: %.*s calls %.*s, which is not in the module",
                                        STET_FMT(g->nodes[i].name), STET_FMT(name));
                to->called = true;
            }
        }
    }
    return STET_OK;
}

/* Depth first from a computation without callers, callees before callers, without recursion. */
static enum stet_rc visit(struct stet_hlo_build *b, struct graph *g, struct node *root)
{
    g->depth = 0;
    g->stack[g->depth++] = (uint32_t)(root - g->nodes);
    root->open = true;
    while (g->depth) {
        struct node *at = &g->nodes[g->stack[g->depth - 1]], *to;
        const struct stet_block *block = body(at->op);
        struct stet_view name;

        if (at->next_op == block->op_count) {
            at->visited = true;
            at->open = false;
            b->p->functions[b->p->function_count++] = at->op;
            g->depth--;
            continue;
        }
        name = callee(block->ops[at->next_op], at->next_call++);
        if (!name.ptr) {
            at->next_op++;
            at->next_call = 0;
            continue;
        }
        to = find(g, name);
        if (to->open)
            return stet_fail_at(b->err, STET_BAD_INPUT, to->offset,
                                "HLO: computation %.*s calls itself", STET_FMT(name));
        if (to->visited)
            continue;
        to->open = true;
        g->stack[g->depth++] = (uint32_t)(to - g->nodes);
    }
    return STET_OK;
}

static enum stet_rc order(struct stet_hlo_build *b, struct graph *g)
{
    enum stet_rc rc;

    for (uint32_t i = 0; i < g->count; i++) {
        struct stet_op *op = b->computations.items[i];

        g->nodes[i] = (struct node){
            .name = stet_op_symbol(op), .op = op, .offset = (uintptr_t)b->offsets.items[i]};
    }
    qsort(g->nodes, g->count, sizeof *g->nodes, by_name);
    for (uint32_t i = 1; i < g->count; i++)
        if (stet_view_eq(g->nodes[i - 1].name, g->nodes[i].name))
            return stet_fail_at(b->err, STET_BAD_INPUT, g->nodes[i].offset,
                                "HLO: two computations are named %.*s", STET_FMT(g->nodes[i].name));
    rc = mark_called(b, g);
    for (uint32_t i = 0; i < g->count && rc == STET_OK; i++) {
        struct node *n = find(g, stet_op_symbol(b->computations.items[i]));

        if (!n->called)
            rc = visit(b, g, n);
    }
    /* the rest call each other in cycles that are never entered */
    if (rc == STET_OK && b->p->function_count != g->count)
        rc = stet_fail_at(b->err, STET_BAD_INPUT, 0,
                          "HLO: computations call each other in a circle");
    return rc;
}

static enum stet_rc order_computations(struct stet_hlo_build *b)
{
    struct graph g = {.count = (uint32_t)b->computations.count};
    enum stet_rc rc;

    b->p->functions = STET_NEW_ARRAY(b->a, struct stet_op *, g.count);
    g.nodes = stet_mem_calloc(g.count + 1, sizeof *g.nodes);
    g.stack = stet_mem_calloc(g.count + 1, sizeof *g.stack);
    if (b->p->functions && g.nodes && g.stack)
        rc = order(b, &g);
    else
        rc = stet_decode_hlo_build_full(b);
    stet_mem_free(g.nodes);
    stet_mem_free(g.stack);
    return rc;
}

/* ---- the module ---- */

static enum stet_rc make_module(struct stet_hlo_build *b, struct stet_view name)
{
    struct stet_block *block = STET_NEW(b->a, struct stet_block);
    struct stet_named_attr *attrs = STET_NEW_ARRAY(b->a, struct stet_named_attr, b->attr_count + 1);
    struct stet_region body = {STET_NEW_ARRAY(b->a, struct stet_block *, 1), 1};
    const struct stet_op_parts parts = {.known = STET_HLO_MODULE,
                                        .attrs = attrs,
                                        .attr_count = b->attr_count + 1,
                                        .regions = &body,
                                        .region_count = 1};

    if (!block || !attrs || !body.blocks)
        return stet_decode_hlo_build_full(b);
    body.blocks[0] = block;
    block->ops = b->p->functions;
    block->op_count = b->p->function_count;
    for (uint32_t i = 0; i < block->op_count; i++)
        block->ops[i]->parent = block;
    memcpy(attrs, b->attrs, b->attr_count * sizeof *attrs);
    attrs[b->attr_count] =
        (struct stet_named_attr){STET_VIEW("sym_name"), stet_decode_hlo_new_string(b->a, name)};
    if (!stet_build_sort(attrs, b->attr_count + 1))
        return stet_fail_at(b->err, STET_BAD_INPUT, 0, "HLO: a module attribute is given twice");
    b->p->module = stet_build_op(b->a, &parts);
    return b->p->module ? STET_OK : stet_decode_hlo_build_full(b);
}

/* ---- arguments and outputs of the entry ---- */

static int64_t parameter_of(const struct stet_attr *entry)
{
    const struct stet_attr *a = stet_attr_field(entry, "parameter");

    return a ? stet_attr_int(a) : -1;
}

static void apply_donation(struct stet_program *p)
{
    const struct stet_attr *alias = stet_op_attr(p->module, "input_output_alias");
    const struct stet_attr *donor = stet_op_attr(p->module, "buffer_donor");

    for (uint32_t i = 0; alias && i < alias->count; i++) {
        const struct stet_attr *output = stet_attr_field(alias->items[i], "output");
        int64_t n = parameter_of(alias->items[i]);

        if (n >= 0 && n < p->argument_count)
            p->arguments[n].alias =
                output && output->count ? (int32_t)(output->ints[0] & INT32_MAX) : 0;
    }
    for (uint32_t i = 0; donor && i < donor->count; i++) {
        int64_t n = parameter_of(donor->items[i]);

        if (n >= 0 && n < p->argument_count)
            p->arguments[n].donor = true;
    }
}

/* Is the instruction's name "batch__labels__.1" what XLA makes of the text "batch['labels']"? */
static bool is_made_of(struct stet_view instruction, struct stet_view text)
{
    if (!text.len || instruction.len < text.len)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (instruction.ptr[i] != text.ptr[i] &&
            (instruction.ptr[i] != '_' || stet_is_word(text.ptr[i])))
            return false;
    for (size_t i = text.len; i < instruction.len; i++)
        if (!strchr(".0123456789", instruction.ptr[i]))
            return false;
    return true;
}

/* Returns the name of an argument in the metadata if the instruction's name is derived from it,
 * else the instruction's. PyTorch/XLA's metadata has one name for all parameters. */
static struct stet_view argument_name(const struct stet_loc *l)
{
    const struct stet_loc *order = l->count ? l->parts[0] : NULL;
    const struct stet_loc *metadata =
        order && order->kind == STET_LOC_FUSED && order->count ? order->parts[0] : NULL;

    for (uint32_t i = 0; metadata && metadata->kind == STET_LOC_FUSED && i < metadata->count; i++)
        if (metadata->parts[i]->kind == STET_LOC_NAME &&
            is_made_of(l->text, metadata->parts[i]->text))
            return metadata->parts[i]->text;
    return l->text;
}

static enum stet_rc find_interface(struct stet_hlo_build *b)
{
    struct stet_program *p = b->p;
    const struct stet_block *block = body(p->entry);
    const struct stet_attr *dicts = stet_op_attr(p->entry, "arg_attrs");
    const struct stet_type *root = stet_op_operand(block->ops[block->op_count - 1], 0)->type;
    bool tuple = root->kind == STET_TYPE_TUPLE;

    p->argument_count = block->arg_count;
    p->output_count = tuple ? root->member_count : 1;
    p->arguments = STET_NEW_ARRAY(b->a, struct stet_argument, p->argument_count);
    p->outputs = STET_NEW_ARRAY(b->a, struct stet_result, p->output_count);
    if (!p->arguments || !p->outputs)
        return stet_decode_hlo_build_full(b);
    for (uint32_t i = 0; i < p->argument_count; i++)
        p->arguments[i] = (struct stet_argument){
            .name = argument_name(stet_block_locs(block)[i]),
            .value = &block->args[i],
            .attrs = dicts->items[i],
            .sharding = stet_attr_field(dicts->items[i], "sharding"),
            .alias = -1,
        };
    for (uint32_t i = 0; i < p->output_count; i++)
        p->outputs[i].type = tuple ? root->members[i] : root;
    apply_donation(p);
    return STET_OK;
}

enum stet_rc stet_decode_hlo_build_finish(struct stet_hlo_build *b, struct stet_view module,
                                          struct stet_view entry)
{
    enum stet_rc rc;

    if (b->a->failed || b->computations.failed || b->offsets.failed)
        return stet_decode_hlo_build_full(b);
    rc = order_computations(b);
    if (rc == STET_OK)
        rc = make_module(b, module);
    if (rc != STET_OK)
        return rc;
    b->p->entry = stet_program_function(b->p, entry);
    if (!b->p->entry)
        return stet_fail_at(b->err, STET_BAD_INPUT, 0, "HLO: the module has no entry computation");
    rc = find_interface(b);
    if (rc == STET_OK && b->a->failed)
        rc = stet_decode_hlo_build_full(b);
    if (rc == STET_OK)
        stet_build_number(b->p);
    return rc;
}
