/* Which programs and which uses may be lifted; the tables are in liftable.def. */
#include "lift/lift_internal.h"

/* A larger program is not lifted, because the lifted one contains its constants as text. */
#define CONSTANT_BYTES_MAX ((uint64_t)64 << 20)

static const bool takes[STET_KNOWN_OPS] = {
#define TAKES(operation) [STET_##operation] = true,
#include "lift/liftable.def"
};

static const char *const forbids[STET_KNOWN_OPS] = {
#define FORBIDS(operation, reason) [STET_##operation] = (reason),
#include "lift/liftable.def"
};

/* ---- the program ---- */

static bool is_static(const struct stet_type *t)
{
    uint64_t elements;

    return t && t->kind == STET_TYPE_TENSOR && !t->rest && stet_type_elements(t, &elements);
}

static enum stet_rc check_types(const struct stet_op *op, struct stet_err *err)
{
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!is_static(op->results[i].type))
            return stet_fail(err, STET_REFUSED, "a result is not a tensor of fixed shape");
    }
    return STET_OK;
}

/* Of Shardy, what only says where arrays are, and the region in which each device computes by
 * itself. JAX constrains random keys to an empty mesh in every program that uses them. */
static bool is_of_known_dialect(const struct stet_op *op)
{
    struct stet_view name = stet_op_name(op);

    return stet_view_starts(name, "stablehlo.") || stet_view_starts(name, "chlo.") ||
           stet_view_starts(name, "func.") || op->known == STET_BUILTIN_MODULE ||
           op->known == STET_SDY_MESH || op->known == STET_SDY_SHARDING_CONSTRAINT ||
           op->known == STET_SDY_MANUAL_COMPUTATION || op->known == STET_SDY_RETURN;
}

/* A custom call without an effect may run twice, and its attributes are compared like any other. So
 * values may drift beside it, but what it reads itself stays constant: TAKES does not list it. The
 * dialects' own custom calls ("stablehlo.dynamic_top_k") read shapes, which other operations may
 * have computed. */
static bool is_closed_call(const struct stet_op *op)
{
    const struct stet_attr *called = stet_op_attr(op, "called_computations");
    const struct stet_attr *target = stet_op_attr(op, "call_target_name");
    struct stet_view name = target ? stet_attr_text(target) : (struct stet_view){0};

    return (!called || !called->count) && !stet_view_starts(name, "stablehlo.") &&
           !stet_view_starts(name, "mhlo.") && !stet_view_starts(name, "chlo.");
}

static enum stet_rc check_op(const struct stet_op *op, const struct stet_lift_spmd *spmd,
                             struct stet_err *err)
{
    unsigned facts = stet_op_facts(op);

    if (!op->known)
        return stet_fail(err, STET_REFUSED, "an operation that this build does not know: %.*s",
                         STET_FMT(stet_op_name(op)));
    if (forbids[op->known])
        return stet_fail(err, STET_REFUSED, "%s", forbids[op->known]);
    if (facts & STET_OP_COLLECTIVE && spmd->devices == 1)
        return stet_fail(err, STET_REFUSED, "a collective of one device");
    if (stet_lift_is_constant(op) && op->attr_count > 1)
        return stet_fail(err, STET_REFUSED, "a constant with a sharding or another attribute");
    if (facts & STET_OP_EFFECT || (facts & STET_OP_ASK && !stet_op_is_pure(op)))
        return stet_fail(err, STET_REFUSED, "a side effect, such as a callback");
    if (facts & STET_OP_ASK && !is_closed_call(op))
        return stet_fail(err, STET_REFUSED, "a custom call that calls functions or reads shapes");
    if (op->branches)
        return stet_fail(err, STET_REFUSED, "branches");
    if (!is_of_known_dialect(op))
        return stet_fail(err, STET_REFUSED, "an operation of another dialect: %.*s",
                         STET_FMT(stet_op_name(op)));
    return check_types(op, err);
}

struct visit {
    const struct stet_program *program;
    struct stet_lift_spmd spmd;
    struct stet_err *err;
};

/* A call must name a function, and not the entry, whose arguments are the framework's. */
static enum stet_rc check_call(const struct visit *v, const struct stet_op *op)
{
    uint32_t callee = stet_lift_callee(v->program, op);

    if (callee == UINT32_MAX || v->program->functions[callee] == v->program->entry)
        return stet_fail(v->err, STET_REFUSED,
                         "a call of the entry, or of no function of the program");
    return STET_OK;
}

static bool visit(const struct stet_op *op, void *context)
{
    const struct visit *v = context;

    return check_op(op, &v->spmd, v->err) == STET_OK &&
           (!stet_lift_names_function(op) || check_call(v, op) == STET_OK);
}

/* XLA writes every field of its own configuration, most of them with nothing in it. */
static bool is_empty(const struct stet_attr *a)
{
    switch (a->kind) {
    case STET_ATTR_ARRAY:
    case STET_ATTR_DICT:
        return !a->count;
    case STET_ATTR_BOOL:
        return !stet_attr_int(a);
    case STET_ATTR_STRING:
        return !stet_attr_text(a).len;
    default:
        return false;
    }
}

/* Attributes of the module and of functions may list the arguments one by one, as layouts do. Only
 * those that are known to be harmless, or empty, are accepted; the lists per argument grow in
 * lift_write.c. */
static enum stet_rc check_attrs(const struct stet_op *op, struct stet_err *err)
{
    static const char *const known[] = {
        "sym_name",          "sym_visibility", "mhlo.num_partitions",
        "mhlo.num_replicas", "function_type",  "arg_attrs",
        "res_attrs",         "no_inline",      "jax.uses_shape_polymorphism"};

    for (uint32_t i = 0; i < op->attr_count; i++) {
        bool found = is_empty(op->attrs[i].value);

        for (size_t k = 0; k < sizeof known / sizeof *known && !found; k++)
            found = stet_view_is(op->attrs[i].name, known[k]);
        if (!found)
            return stet_fail(err, STET_REFUSED, "the attribute %.*s", STET_FMT(op->attrs[i].name));
    }
    return STET_OK;
}

/* A name that two functions have would make a call ambiguous. */
static enum stet_rc check_functions(const struct stet_program *p, struct stet_err *err)
{
    for (uint32_t i = 0; i < p->function_count; i++) {
        struct stet_op *f = p->functions[i];

        if (f->known != STET_FUNC_FUNC || f->region_count != 1 ||
            stet_op_region(f, 0)->block_count != 1)
            return stet_fail(err, STET_REFUSED, "a function without a simple body");
        if (stet_program_function(p, stet_op_symbol(f)) != f)
            return stet_fail(err, STET_REFUSED, "two functions of one name");
        if (check_attrs(f, err) != STET_OK)
            return STET_REFUSED;
    }
    return STET_OK;
}

/* A layout that the compiler chooses may be another one in the lifted program. */
static bool has_own_layout(const struct stet_attr *dict)
{
    const struct stet_attr *mode = dict ? stet_attr_field(dict, "mhlo.layout_mode") : NULL;

    return mode && !stet_view_is(stet_attr_text(mode), "default");
}

static enum stet_rc check_arguments(const struct stet_program *p, struct stet_err *err)
{
    bool layout = false;

    for (uint32_t i = 0; i < p->argument_count; i++) {
        if (!is_static(p->arguments[i].value->type))
            return stet_fail(err, STET_REFUSED, "an argument is not a tensor of fixed shape");
        layout |= has_own_layout(p->arguments[i].attrs);
    }
    for (uint32_t i = 0; i < p->output_count; i++)
        layout |= has_own_layout(p->outputs[i].attrs);
    return layout ? stet_fail(err, STET_REFUSED, "an array with a layout of its own") : STET_OK;
}

enum stet_rc stet_lift_refuses(const struct stet_program *p, struct stet_err *err)
{
    struct stet_err own = STET_ERR_INIT, placing = STET_ERR_INIT;
    struct visit v = {.program = p};
    enum stet_rc rc, placed;

    if (!err)
        err = &own;
    if (p->module->known != STET_BUILTIN_MODULE)
        return stet_fail(err, STET_REFUSED, "its format is not MLIR");
    if (!p->entry || p->left_out || p->constant_bytes > CONSTANT_BYTES_MAX)
        return stet_fail(err, STET_REFUSED, "no entry, or too large constants");
    v.err = err;
    placed = stet_lift_spmd_read(&v.spmd, p, &placing);
    rc = check_attrs(p->module, err);
    if (rc == STET_OK)
        rc = check_functions(p, err);
    if (rc == STET_OK)
        rc = check_arguments(p, err);
    if (rc == STET_OK && !stet_program_walk(p, visit, &v))
        rc = STET_REFUSED;
    /* A callback has a sharding too, which is not the reason. */
    if (rc == STET_OK && placed != STET_OK)
        rc = stet_fail(err, placed, "%s", placing.text);
    return rc;
}

/* ---- one use ---- */

/* Types whose bytes are the same in a program and in a buffer. */
static bool is_plain_element(const struct stet_type *t)
{
    switch (t->kind) {
    case STET_TYPE_INTEGER:
        return (t->width == 1 && t->sign == STET_SIGNLESS) || t->width == 8 || t->width == 16 ||
               t->width == 32 || t->width == 64;
    case STET_TYPE_FLOAT:
        return t->flavour <= STET_F64;
    default:
        return false;
    }
}

/* Regions that may read values from outside, or get them as arguments. The others are functions of
 * their arguments alone, and compilers fold them into kernels. */
static bool may_capture(const struct stet_op *op)
{
    return op->known == STET_STABLEHLO_WHILE || op->known == STET_STABLEHLO_IF ||
           op->known == STET_STABLEHLO_CASE || stet_lift_is_closed(op);
}

/* The operation's name without its dialect. */
static struct stet_view short_name(const struct stet_op *op)
{
    struct stet_view name = stet_op_name(op);
    const char *dot = memchr(name.ptr, '.', name.len);

    return dot ? stet_view_of(dot + 1, name.len - (size_t)(dot + 1 - name.ptr)) : name;
}

static enum stet_rc check_around(const struct stet_op *op, struct stet_err *err)
{
    for (const struct stet_op *o = op; o->parent; o = o->parent->parent) {
        if (o != op && !may_capture(o))
            return stet_fail(err, STET_REFUSED, "the value is in the function of a %.*s",
                             STET_FMT(short_name(o)));
        if (o->known == STET_FUNC_FUNC)
            break;
    }
    return STET_OK;
}

/* A compiler decides how often the initial value of a reduction is added. */
static bool is_initial_value(const struct stet_lift_use *use)
{
    return use->op->known == STET_STABLEHLO_REDUCE && use->index >= use->op->operand_count / 2;
}

enum stet_rc stet_lift_allows(const struct stet_lift_use *use, struct stet_err *err)
{
    const struct stet_op *op = use->op;

    if (use->is_start)
        return check_around(op, err);
    if (is_initial_value(use))
        return stet_fail(err, STET_REFUSED, "the value is the initial one of a reduction");
    if (!takes[op->known] && !(stet_op_facts(op) & STET_OP_ELEMENTWISE) &&
        !stet_lift_spmd_is_constraint(op))
        return stet_fail(err, STET_REFUSED, "%.*s reads the value", STET_FMT(short_name(op)));
    if (!is_plain_element(stet_op_operand(op, use->index)->type->element))
        return stet_fail(err, STET_REFUSED,
                         "the value is complex, an 8-bit float or smaller than a byte");
    return check_around(op, err);
}
