/* Operations whose short form has its own grammar: module, func, constant, reduce, while, scan. */
#include "decode/mlir/mlir_form.h"

#include "program/ops.h"

/* ---- module and func ---- */

static void keyword_attributes(struct mlir *p)
{
    if (stet_mlir_accept_word(p, "attributes"))
        stet_mlir_dict_entries(p, &p->attrs);
}

void stet_mlir_module(struct mlir *p, struct mlir_op *o)
{
    struct stet_region *body = stet_mlir_regions(p, o, 1);

    if (stet_mlir_peek(p) == '@')
        stet_mlir_add_attr(p, "sym_name", stet_mlir_make_string(p, stet_mlir_symbol(p)));
    keyword_attributes(p);
    stet_mlir_region(p, o, body, NULL, 0, true);
    if (!mlir_ok(p) || body->block_count)
        return;
    struct stet_block *b = STET_NEW(p->arena, struct stet_block), **list;

    list = STET_NEW_ARRAY(p->arena, struct stet_block *, 1);
    if (!b || !list) {
        stet_mlir_no_memory(p);
        return;
    }
    list[0] = b;
    *body = (struct stet_region){list, 1};
}

static const struct stet_attr *optional_dict(struct mlir *p)
{
    return stet_mlir_peek(p) == '{' ? stet_mlir_attr(p) : NULL;
}

/* (%a: type {…} loc(…), …), or only types in a declaration; onto the scratch stack. */
static void func_args(struct mlir *p)
{
    bool first = true;

    stet_mlir_expect(p, "(");
    while (stet_mlir_more(p, ")", &first)) {
        struct mlir_arg a = {0};

        if (stet_mlir_peek(p) == '%') {
            a.where = p->at++;
            a.name = stet_mlir_suffix(p, "the name of an argument");
            stet_mlir_expect(p, ":");
        }
        a.type = stet_mlir_type(p);
        a.attrs = optional_dict(p);
        a.loc = stet_mlir_optional_loc(p);
        MLIR_PUSH(p, &p->scratch, a);
    }
}

/* -> type, or -> (type {…}, …) */
static void func_results(struct mlir *p)
{
    struct mlir_arg a = {0};
    bool first = true;

    if (!stet_mlir_accept(p, "->"))
        return;
    if (!stet_mlir_accept(p, "(")) {
        a.type = stet_mlir_type(p);
        MLIR_PUSH(p, &p->scratch, a);
        return;
    }
    while (stet_mlir_more(p, ")", &first)) {
        a.type = stet_mlir_type(p);
        a.attrs = optional_dict(p);
        MLIR_PUSH(p, &p->scratch, a);
    }
}

/* One dictionary for each, if any has one. */
static void dictionaries(struct mlir *p, const char *name, const struct mlir_arg *args,
                         uint32_t count)
{
    static const struct stet_attr empty = {.kind = STET_ATTR_DICT};
    size_t mark = mlir_mark(&p->scratch);
    bool any = false;
    uint32_t n;

    for (uint32_t i = 0; i < count; i++) {
        const struct stet_attr *a = args[i].attrs ? args[i].attrs : &empty;

        any |= a->count > 0;
        stet_mlir_push_pointer(p, &p->scratch, a);
    }
    const struct stet_attr *const *items = stet_mlir_pop(p, &p->scratch, mark, sizeof(*items), &n);

    if (any)
        stet_mlir_add_attr(p, name, stet_mlir_make_array(p, items, n));
}

static const struct stet_type *func_type(struct mlir *p, const struct mlir_arg *args,
                                         uint32_t arg_count, const struct mlir_arg *results,
                                         uint32_t result_count)
{
    struct stet_type *t = STET_NEW(p->arena, struct stet_type);
    const struct stet_type **members =
        STET_NEW_ARRAY(p->arena, const struct stet_type *, (size_t)arg_count + result_count);

    if (!t || !members) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    for (uint32_t i = 0; i < arg_count; i++)
        members[i] = args[i].type;
    for (uint32_t i = 0; i < result_count; i++)
        members[arg_count + i] = results[i].type;
    *t = (struct stet_type){.kind = STET_TYPE_FUNCTION,
                            .members = members,
                            .member_count = arg_count + result_count,
                            .input_count = arg_count};
    return t;
}

static const struct stet_type *signature(struct mlir *p, const struct mlir_arg **args, uint32_t *n)
{
    size_t mark = mlir_mark(&p->scratch);
    const struct mlir_arg *results;
    uint32_t result_count;

    func_args(p);
    *args = stet_mlir_pop(p, &p->scratch, mark, sizeof(**args), n);
    func_results(p);
    results = stet_mlir_pop(p, &p->scratch, mark, sizeof(*results), &result_count);
    dictionaries(p, "arg_attrs", *args, *n);
    dictionaries(p, "res_attrs", results, result_count);
    return mlir_ok(p) ? func_type(p, *args, *n, results, result_count) : NULL;
}

void stet_mlir_func(struct mlir *p, struct mlir_op *o)
{
    struct stet_region *body = stet_mlir_regions(p, o, 1);
    const struct mlir_arg *args;
    const struct stet_type *t;
    uint32_t n;

    if (stet_mlir_peek(p) != '@')
        stet_mlir_add_attr(p, "sym_visibility",
                           stet_mlir_make_string(p, stet_mlir_word(p, "the name of a function")));
    stet_mlir_add_attr(p, "sym_name", stet_mlir_make_string(p, stet_mlir_symbol(p)));
    t = signature(p, &args, &n);
    if (!mlir_ok(p))
        return;
    stet_mlir_add_attr(p, "function_type",
                       stet_mlir_make(p, (struct stet_attr){.kind = STET_ATTR_TYPE, .of.type = t}));
    keyword_attributes(p);
    if (!stet_mlir_at(p, "{"))
        return; /* a declaration */
    for (uint32_t i = 0; i < n; i++)
        if (args[i].name.len == 0)
            stet_mlir_fail(p, p->at, "argument %u has no name", i);
    stet_mlir_region(p, o, body, args, n, true);
    if (mlir_ok(p) && body->block_count == 0)
        stet_mlir_fail(p, p->at, "a function body needs a block");
}

/* ---- constant ---- */

/* The value determines the type of the result; true and false are i1. */
void stet_mlir_constant(struct mlir *p, struct mlir_op *o)
{
    const struct stet_attr *value;
    const struct stet_type *type;

    if (stet_mlir_at(p, "(")) {
        stet_mlir_generic(p, o);
        return;
    }
    if (stet_mlir_at(p, "{"))
        stet_mlir_dict_entries(p, &p->attrs);
    value = stet_mlir_attr(p);
    if (!value)
        return;
    type = value->kind == STET_ATTR_BOOL ? stet_type_integer(p->arena, 1, STET_SIGNLESS)
                                         : stet_attr_type(value);
    if (!type) {
        stet_mlir_fail(p, o->where, "a constant needs a value with a type");
        return;
    }
    stet_mlir_add_attr(p, "value", value);
    stet_mlir_result_type(p, type);
}

/* ---- reduce ---- */

/* Turns a b c d (pairs) on top of `stack` into a c b d: first halves first. */
static void unzip(struct mlir *p, struct stet_buf *stack, size_t mark, size_t size)
{
    size_t n = (stack->len - mark) / size / 2;
    char *items, *copy;

    if (n < 2 || !mlir_ok(p))
        return;
    items = stack->ptr + mark;
    copy = stet_arena_raw(p->arena, 2 * n, size);
    if (!copy) {
        stet_mlir_no_memory(p);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(copy + i * size, items + 2 * i * size, size);
        memcpy(copy + (n + i) * size, items + (2 * i + 1) * size, size);
    }
    memcpy(items, copy, 2 * n * size);
}

/* (%a init: %b), … */
static void reduce_operands(struct mlir *p, struct mlir_op *o)
{
    do {
        stet_mlir_read_form(p, o, "( % init : % )");
    } while (stet_mlir_accept(p, ","));
    unzip(p, &p->operands, o->operands, sizeof(struct mlir_operand));
}

/* reducer(%a: type, %b: type) … { … } */
static void reducer(struct mlir *p, struct mlir_op *o)
{
    size_t mark = mlir_mark(&p->scratch);
    const struct mlir_arg *args;
    struct mlir_arg a;
    uint32_t n;

    stet_mlir_expect_word(p, "reducer");
    while (stet_mlir_accept(p, "(")) {
        if (stet_mlir_arg(p, &a))
            MLIR_PUSH(p, &p->scratch, a);
        stet_mlir_expect(p, ",");
        if (stet_mlir_arg(p, &a))
            MLIR_PUSH(p, &p->scratch, a);
        stet_mlir_expect(p, ")");
    }
    unzip(p, &p->scratch, mark, sizeof(a));
    args = stet_mlir_pop(p, &p->scratch, mark, sizeof(*args), &n);
    stet_mlir_region(p, o, stet_mlir_regions(p, o, 1), args, n, false);
}

static struct stet_op *inner_op(struct mlir *p, const struct mlir_op *o, struct stet_view name,
                                const struct stet_type *type, struct stet_value *const *operands,
                                uint32_t count)
{
    struct stet_op_parts parts = {.known = stet_known_op(name),
                                  .name = name,
                                  .loc = o->loc ? o->loc : p->unknown,
                                  .results = &type,
                                  .result_count = type != NULL,
                                  .operands = operands,
                                  .operand_count = count};
    struct stet_op *op = mlir_ok(p) ? stet_build_op(p->arena, &parts) : NULL;

    if (!op)
        stet_mlir_no_memory(p);
    return op;
}

/* The block of one operation on two scalars, and its return. */
static bool apply(struct mlir *p, const struct mlir_op *o, struct stet_view name,
                  const struct stet_type *scalar, struct stet_block *b)
{
    struct stet_value *values[2];

    b->ops = STET_NEW_ARRAY(p->arena, struct stet_op *, 2);
    if (!b->ops || !stet_build_args(p->arena, b, 2)) {
        stet_mlir_no_memory(p);
        return false;
    }
    for (uint32_t i = 0; i < 2; i++) {
        values[i] = &b->args[i];
        b->args[i].type = scalar;
        stet_block_locs(b)[i] = o->loc ? o->loc : p->unknown;
    }
    b->ops[0] = inner_op(p, o, name, scalar, values, 2);
    if (!b->ops[0])
        return false;
    values[0] = &b->ops[0]->results[0];
    b->ops[1] = inner_op(p, o, STET_VIEW("stablehlo.return"), NULL, values, 1);
    if (!b->ops[1])
        return false;
    b->op_count = 2;
    b->ops[0]->parent = b->ops[1]->parent = b;
    return true;
}

/* "applies stablehlo.add" means a block with only that operation, on scalars of the first operand's
 * element type. */
static void applied(struct mlir *p, struct mlir_op *o, struct stet_view name)
{
    const struct stet_type *first = NULL, *scalar;
    struct stet_region *region = stet_mlir_regions(p, o, 1);
    struct stet_block *b = STET_NEW(p->arena, struct stet_block),
                      **blocks = STET_NEW_ARRAY(p->arena, struct stet_block *, 1);

    if (p->types.len > o->types)
        first = stet_mlir_pointer_at(&p->types, o->types, 0);
    if (!first || !first->element) {
        stet_mlir_fail(p, o->where, "expected the types of the operands");
        return;
    }
    scalar = stet_type_tensor(p->arena, first->element, NULL, 0);
    if (!region || !b || !blocks || !scalar) {
        stet_mlir_no_memory(p);
        return;
    }
    blocks[0] = b;
    if (apply(p, o, name, scalar, b))
        *region = (struct stet_region){blocks, 1};
}

void stet_mlir_reduce(struct mlir *p, struct mlir_op *o)
{
    struct stet_view name = {0};

    reduce_operands(p, o);
    if (stet_mlir_accept_word(p, "applies"))
        name = stet_mlir_word(p, "the name of an operation");
    stet_mlir_read_form(p, o, "across dimensions = $dimensions/ints {} :fn");
    if (!mlir_ok(p))
        return;
    if (name.len == 0) {
        reducer(p, o);
        return;
    }
    o->loc = stet_mlir_optional_loc(p);
    applied(p, o, name);
}

/* ---- while and scan ---- */

void stet_mlir_while(struct mlir *p, struct mlir_op *o)
{
    struct stet_region *regions = stet_mlir_regions(p, o, 2);
    size_t mark = mlir_mark(&p->scratch);
    struct mlir_arg a = {0}, *args;
    bool first = true;
    uint32_t n, types;

    stet_mlir_expect(p, "(");
    while (stet_mlir_more(p, ")", &first)) {
        a.where = p->at;
        if (stet_mlir_expect(p, "%"))
            a.name = stet_mlir_suffix(p, "the name of a value");
        stet_mlir_expect(p, "=");
        stet_mlir_operand(p);
        MLIR_PUSH(p, &p->scratch, a);
    }
    args = stet_mlir_pop(p, &p->scratch, mark, sizeof(*args), &n);
    stet_mlir_read_form(p, o, ":each");
    types = stet_mlir_pointer_count(&p->results, o->results);
    if (types != n) {
        stet_mlir_fail(p, p->at, "%u operands, but types for %u", n, types);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        args[i].type = stet_mlir_pointer_at(&p->results, o->results, i);
    keyword_attributes(p);
    stet_mlir_expect_word(p, "cond");
    if (mlir_ok(p))
        stet_mlir_region(p, o, &regions[0], args, n, false);
    stet_mlir_expect_word(p, "do");
    if (mlir_ok(p))
        stet_mlir_region(p, o, &regions[1], args, n, false);
}

/* How many of the operands (or results) belong to each part of the operation. */
static const struct stet_attr *segments(struct mlir *p, const uint32_t *counts, uint32_t n)
{
    uint32_t *list = STET_NEW_ARRAY(p->arena, uint32_t, n);

    if (!list) {
        stet_mlir_no_memory(p);
        return NULL;
    }
    memcpy(list, counts, n * sizeof(*list));
    return stet_mlir_make(
        p, (struct stet_attr){.kind = STET_ATTR_DENSE_ARRAY,
                              .of.type = stet_type_integer(p->arena, 32, STET_SIGNLESS),
                              .at = (const char *)list,
                              .size = n * sizeof(*list)});
}

void stet_mlir_scan(struct mlir *p, struct mlir_op *o)
{
    struct stet_region *body = stet_mlir_regions(p, o, 1);
    uint32_t operands[2], results[2];

    stet_mlir_read_form(p, o, "( %* ) inits (");
    operands[0] = stet_mlir_operand_count(p, o);
    stet_mlir_read_form(p, o, "%* ) dimension = $dimension/i64");
    operands[1] = stet_mlir_operand_count(p, o) - operands[0];
    keyword_attributes(p);
    if (mlir_ok(p))
        stet_mlir_region(p, o, body, NULL, 0, false);
    stet_mlir_read_form(p, o, ":fn");
    results[0] = stet_mlir_pointer_count(&p->results, o->results);
    results[1] = operands[1];
    if (mlir_ok(p) && results[0] < results[1])
        stet_mlir_fail(p, p->at, "fewer results than initial values");
    results[0] -= results[1];
    stet_mlir_add_attr(p, "operandSegmentSizes", segments(p, operands, 2));
    stet_mlir_add_attr(p, "resultSegmentSizes", segments(p, results, 2));
}

/* ---- cf.br and cf.cond_br ---- */

/* ^block(%a, %b : types): returns how many operands it passes. */
static uint32_t passed_on(struct mlir *p, struct mlir_op *o)
{
    uint32_t before = stet_mlir_operand_count(p, o);

    o->successors[o->successor_count++] = stet_mlir_successor(p);
    if (stet_mlir_accept(p, "("))
        stet_mlir_read_form(p, o, "%* :more )");
    return stet_mlir_operand_count(p, o) - before;
}

void stet_mlir_branch(struct mlir *p, struct mlir_op *o)
{
    uint32_t counts[3] = {1, 0, 0};

    o->successors = STET_NEW_ARRAY(p->arena, struct stet_block *, 2);
    if (!o->successors) {
        stet_mlir_no_memory(p);
        return;
    }
    if (stet_view_is(o->name, "cf.br")) {
        passed_on(p, o);
    } else {
        stet_mlir_operand(p);
        stet_mlir_operand_type(p, stet_type_integer(p->arena, 1, STET_SIGNLESS));
        stet_mlir_expect(p, ",");
        counts[1] = passed_on(p, o);
        stet_mlir_expect(p, ",");
        counts[2] = passed_on(p, o);
        stet_mlir_add_attr(p, "operandSegmentSizes", segments(p, counts, 3));
    }
    stet_mlir_read_form(p, o, "{}");
}
