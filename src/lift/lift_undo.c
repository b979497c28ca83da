/* Puts values back in place of the arguments of a lifted program. It reads the program as any other
 * reader would: nothing but the plan says which arguments were added. */
#include "lift/lift_copy.h"
#include "lift/lift_internal.h"

struct undoing {
    const struct stet_lift_plan *plan;
    const uint64_t *masks;
    const struct stet_lift_value *values;
    uint8_t *argument_of; /* by value id of the lifted program; STET_LIFT_NONE for others */
    bool *drop;           /* by operation id */
    bool bad;
};

static uint8_t argument_of(const struct undoing *u, const struct stet_value *v)
{
    return u->argument_of[v->id];
}

static bool is_lifted(const struct undoing *u, const struct stet_op *op, uint32_t i,
                      enum stet_lift_kind kind)
{
    uint8_t a = i < op->operand_count ? argument_of(u, stet_op_operand(op, i)) : STET_LIFT_NONE;

    return a != STET_LIFT_NONE && u->plan->arguments[a].kind == kind;
}

/* The first operand that is a start; 0 if the operation was not made of a slice or pad. */
static uint32_t first_start(const struct undoing *u, const struct stet_op *op)
{
    uint32_t first = op->known == STET_STABLEHLO_DYNAMIC_SLICE          ? 1
                     : op->known == STET_STABLEHLO_DYNAMIC_UPDATE_SLICE ? 2
                                                                        : 0;

    for (uint32_t i = first; first && i < op->operand_count; i++) {
        if (is_lifted(u, op, i, STET_LIFT_START))
            return first;
    }
    return 0;
}

/* ---- functions ---- */

static void take_arguments(struct stet_lift_copy *c, const struct stet_block *from,
                           struct stet_block *to)
{
    struct undoing *u = c->context;
    uint32_t more = (uint32_t)__builtin_popcountll(u->masks[c->function]);
    uint32_t at = from->arg_count - more;

    if (from->arg_count < more) {
        u->bad = true;
        return;
    }
    for (uint32_t a = 0; a < u->plan->argument_count; a++) {
        if (!(u->masks[c->function] >> a & 1))
            continue;
        u->bad |= !stet_type_eq(from->args[at].type, u->plan->arguments[a].type);
        u->argument_of[from->args[at++].id] = (uint8_t)a;
    }
    stet_lift_copy_arguments(c, from, to, from->arg_count - more, NULL, 0);
}

static const struct stet_attr *shorter_type(struct stet_lift_copy *c, const struct stet_attr *old,
                                            uint32_t less)
{
    const struct stet_type *was = stet_attr_type(old);
    struct stet_attr *a = stet_build_attr(c->arena, STET_ATTR_TYPE);
    struct stet_type *type = STET_NEW(c->arena, struct stet_type);
    const struct stet_type **members =
        STET_NEW_ARRAY(c->arena, const struct stet_type *, was->member_count);
    uint32_t n = 0;

    if (!a || !type || !members || was->input_count < less)
        return old;
    for (uint32_t i = 0; i < was->member_count; i++) {
        if (i < was->input_count - less || i >= was->input_count)
            members[n++] = was->members[i];
    }
    *type = *was;
    type->members = members;
    type->member_count = n;
    type->input_count = was->input_count - less;
    a->of.type = type;
    return a;
}

static const struct stet_attr *shorter_list(struct stet_lift_copy *c, const struct stet_attr *old,
                                            uint32_t less)
{
    struct stet_attr *a = stet_build_attr(c->arena, STET_ATTR_ARRAY);

    if (!a || old->kind != STET_ATTR_ARRAY || old->count < less)
        return old;
    a->items = old->items;
    a->count = old->count - less;
    return a;
}

static void undo_function(struct stet_lift_copy *c, const struct stet_op *op)
{
    const struct undoing *u = c->context;
    uint32_t less = (uint32_t)__builtin_popcountll(u->masks[c->function]);
    struct stet_named_attr *attrs =
        STET_NEW_ARRAY(c->arena, struct stet_named_attr, op->attr_count);

    for (uint32_t i = 0; attrs && i < op->attr_count; i++) {
        attrs[i] = op->attrs[i];
        if (stet_view_is(attrs[i].name, "function_type"))
            attrs[i].value = shorter_type(c, attrs[i].value, less);
        else if (stet_view_is(attrs[i].name, "arg_attrs"))
            attrs[i].value = shorter_list(c, attrs[i].value, less);
    }
    if (!c->arena->failed)
        stet_lift_copy_op(c, op, NULL, 0, attrs, op->attr_count);
}

/* The lifted arguments that an operation passes on: those that the callee reads, or all. */
static uint64_t passed_on(const struct stet_lift_copy *c, const struct stet_op *op)
{
    const struct undoing *u = c->context;
    uint32_t callee = op->known == STET_FUNC_CALL ? stet_lift_callee(c->from, op) : UINT32_MAX;

    if (op->known == STET_SDY_MANUAL_COMPUTATION)
        return u->masks[c->function];
    return callee == UINT32_MAX ? 0 : u->masks[callee];
}

/* They must be at the end. */
static uint32_t own_operands(const struct stet_lift_copy *c, const struct stet_op *op)
{
    struct undoing *u = c->context;
    uint64_t mask = passed_on(c, op);
    uint32_t more = (uint32_t)__builtin_popcountll(mask), at = op->operand_count - more;

    if (op->operand_count < more) {
        u->bad = true;
        return 0;
    }
    for (uint32_t a = 0; a < u->plan->argument_count; a++) {
        if (mask >> a & 1)
            u->bad |= argument_of(u, stet_op_operand(op, at++)) != a;
    }
    return op->operand_count - more;
}

/* ---- operations ---- */

/* The start in operand `i`: of an argument, or of a constant. */
static int64_t start_at(struct undoing *u, const struct stet_op *op, uint32_t i)
{
    const struct stet_op *constant = stet_lift_constant_of(op, i);
    const struct stet_attr *value = constant ? stet_op_attr(constant, "value") : NULL;
    struct stet_view bytes = {0};
    int32_t start = 0;

    if (is_lifted(u, op, i, STET_LIFT_START))
        bytes = u->values[argument_of(u, stet_op_operand(op, i))].bytes;
    else if (value && value->kind == STET_ATTR_DENSE)
        bytes = stet_attr_bytes(value);
    u->bad |= bytes.len != sizeof start;
    if (!u->bad)
        memcpy(&start, bytes.ptr, sizeof start);
    return start;
}

/* One constant has one form: a tensor whose elements are equal is stored as a splat. */
static struct stet_value *whole_constant(struct stet_lift_copy *c, const struct stet_type *type,
                                         struct stet_view bytes, uint64_t n)
{
    size_t size = n ? (size_t)(bytes.len / n) : 0;
    bool splat = size && memcmp(bytes.ptr, bytes.ptr + size, bytes.len - size) == 0;

    return stet_lift_copy_constant(c, type, splat ? stet_view_of(bytes.ptr, size) : bytes, splat);
}

/* The copy of a value; a new constant if it was lifted as a whole. */
static struct stet_value *value_of(struct stet_lift_copy *c, const struct stet_value *v)
{
    struct undoing *u = c->context;
    uint8_t a = argument_of(u, v);
    struct stet_value *copy = c->values[v->id];
    uint64_t n = 0;

    if (a != STET_LIFT_NONE) {
        u->bad |= u->plan->arguments[a].kind != STET_LIFT_WHOLE ||
                  !stet_type_elements(u->plan->arguments[a].type, &n);
        copy = whole_constant(c, u->plan->arguments[a].type, u->values[a].bytes, n);
    }
    u->bad |= !copy;
    return copy;
}

static void make_plain(struct stet_lift_copy *c, const struct stet_op *op, bool slice)
{
    struct undoing *u = c->context;
    const struct stet_type *out = op->results[0].type;
    const struct stet_type *in = stet_op_operand(op, slice ? 0 : 1)->type;
    const struct stet_op *whole = slice ? NULL : stet_value_def(stet_op_operand(op, 0));
    struct stet_value *operands[2] = {value_of(c, stet_op_operand(op, slice ? 0 : 1)),
                                      whole ? value_of(c, stet_op_operand(whole, 0)) : NULL};
    int64_t *starts = STET_NEW_ARRAY(c->arena, int64_t, (size_t)out->rank + 1);
    int64_t *ends = STET_NEW_ARRAY(c->arena, int64_t, (size_t)out->rank + 1);
    int64_t *other = STET_NEW_ARRAY(c->arena, int64_t, (size_t)out->rank + 1);
    struct stet_named_attr attrs[3];

    for (uint32_t i = 0; starts && ends && other && i < out->rank; i++) {
        starts[i] = start_at(u, op, (slice ? 1 : 2) + i);
        ends[i] = slice ? starts[i] + out->dims[i] : out->dims[i] - in->dims[i] - starts[i];
        other[i] = slice; /* strides, or no interior padding */
    }
    if (c->arena->failed || u->bad)
        return;
    attrs[0] = slice ? stet_lift_copy_ints(c, STET_VIEW("limit_indices"), ends, out->rank)
                     : stet_lift_copy_ints(c, STET_VIEW("edge_padding_high"), ends, out->rank);
    attrs[1] = slice ? stet_lift_copy_ints(c, STET_VIEW("start_indices"), starts, out->rank)
                     : stet_lift_copy_ints(c, STET_VIEW("edge_padding_low"), starts, out->rank);
    attrs[2] = slice ? stet_lift_copy_ints(c, STET_VIEW("strides"), other, out->rank)
                     : stet_lift_copy_ints(c, STET_VIEW("interior_padding"), other, out->rank);
    stet_lift_copy_stands(c, &op->results[0],
                          stet_lift_copy_new(c, slice ? STET_STABLEHLO_SLICE : STET_STABLEHLO_PAD,
                                             out, operands, slice ? 1 : 2, attrs, 3));
}

static void undo_splat(struct stet_lift_copy *c, const struct stet_op *op)
{
    struct undoing *u = c->context;
    struct stet_view bytes = u->values[argument_of(u, stet_op_operand(op, 0))].bytes;

    c->values[op->results[0].id] = stet_lift_copy_constant(c, op->results[0].type, bytes, true);
}

static void undo_operands(struct stet_lift_copy *c, const struct stet_op *op, uint32_t count)
{
    struct undoing *u = c->context;
    struct stet_value **operands = stet_lift_copy_operands(c, op, 0);

    for (uint32_t i = 0; operands && i < count; i++)
        operands[i] = value_of(c, stet_op_operand(op, i));
    if (operands && !u->bad)
        stet_lift_copy_op(c, op, operands, count, op->attrs, op->attr_count);
}

static void undo_manual(struct stet_lift_copy *c, const struct stet_op *op)
{
    struct undoing *u = c->context;
    uint32_t count = own_operands(c, op);
    struct stet_value **operands = stet_lift_copy_operands(c, op, 0);
    struct stet_named_attr *attrs =
        STET_NEW_ARRAY(c->arena, struct stet_named_attr, op->attr_count);

    for (uint32_t i = 0; operands && i < count; i++)
        operands[i] = value_of(c, stet_op_operand(op, i));
    for (uint32_t i = 0; attrs && i < op->attr_count; i++) {
        attrs[i] = op->attrs[i];
        if (count < op->operand_count && stet_view_is(attrs[i].name, "in_shardings")) {
            attrs[i].value =
                stet_lift_spmd_fewer(c->arena, attrs[i].value, op->operand_count - count);
            u->bad |= !attrs[i].value;
        }
    }
    if (operands && attrs && !u->bad)
        stet_lift_copy_op(c, op, operands, count, attrs, op->attr_count);
}

static bool replace(struct stet_lift_copy *c, const struct stet_op *op)
{
    struct undoing *u = c->context;

    if (u->bad || u->drop[op->id])
        return true;
    if (op->known == STET_FUNC_FUNC)
        undo_function(c, op);
    else if (first_start(u, op))
        make_plain(c, op, op->known == STET_STABLEHLO_DYNAMIC_SLICE);
    else if (op->known == STET_STABLEHLO_BROADCAST_IN_DIM && is_lifted(u, op, 0, STET_LIFT_SPLAT))
        undo_splat(c, op);
    else if (op->known == STET_SDY_MANUAL_COMPUTATION)
        undo_manual(c, op);
    else
        undo_operands(c, op, op->known == STET_FUNC_CALL ? own_operands(c, op) : op->operand_count);
    return true;
}

/* ---- the program ---- */

/* Arguments are marked before the copy, because a pad's broadcast comes before its starts. */
static void mark_block(struct undoing *u, const struct stet_op *op, uint64_t mask)
{
    const struct stet_block *body =
        stet_op_region(op, 0)->block_count ? stet_op_region(op, 0)->blocks[0] : NULL;
    uint32_t n = (uint32_t)__builtin_popcountll(mask);
    uint32_t at = body && body->arg_count >= n ? body->arg_count - n : 0;

    u->bad |= !body || body->arg_count < n;
    for (uint8_t a = 0; a < u->plan->argument_count && !u->bad; a++) {
        if (mask >> a & 1)
            u->argument_of[body->args[at++].id] = a;
    }
}

struct marking {
    struct undoing *undoing;
    const struct stet_program *program;
};

/* The body of a manual computation has its own arguments. In XLA's language, a custom call of its
 * own brings each argument into the region. */
static bool mark_inner(const struct stet_op *op, void *context)
{
    struct marking *m = context;
    struct undoing *u = m->undoing;
    uint32_t f;

    if (op->known == STET_SDY_MANUAL_COMPUTATION && op->region_count) {
        f = stet_lift_function_of(m->program, op);
        u->bad |= f == UINT32_MAX;
        if (!u->bad)
            mark_block(u, op, u->masks[f]);
    } else if (stet_lift_spmd_is_entry(op) &&
               argument_of(u, stet_op_operand(op, 0)) != STET_LIFT_NONE) {
        u->argument_of[op->results[0].id] = argument_of(u, stet_op_operand(op, 0));
        u->drop[op->id] = true;
    }
    return !u->bad;
}

static void mark_arguments(struct undoing *u, const struct stet_program *p)
{
    struct marking m = {u, p};

    for (uint32_t f = 0; f < p->function_count && !u->bad; f++)
        mark_block(u, p->functions[f], u->masks[f]);
    stet_program_walk(p, mark_inner, &m);
}

static bool mark_dropped(const struct stet_op *op, void *context)
{
    struct undoing *u = context;
    const struct stet_op *whole;

    if (op->known != STET_STABLEHLO_DYNAMIC_UPDATE_SLICE || !first_start(u, op))
        return true;
    whole = stet_value_def(stet_op_operand(op, 0));
    if (whole && whole->known == STET_STABLEHLO_BROADCAST_IN_DIM && whole->operand_count == 1)
        u->drop[whole->id] = true;
    else
        u->bad = true;
    return !u->bad;
}

static bool has_bodies(const struct stet_program *p)
{
    for (uint32_t f = 0; f < p->function_count; f++) {
        if (p->functions[f]->region_count != 1 ||
            stet_op_region(p->functions[f], 0)->block_count != 1)
            return false;
    }
    return true;
}

enum stet_rc stet_lift_undo(struct stet_program *out, const struct stet_program *lifted,
                            const struct stet_lift_plan *plan, const uint64_t *masks,
                            const struct stet_lift_value *values, struct stet_err *err)
{
    struct undoing u = {.plan = plan, .masks = masks, .values = values};
    struct stet_lift_copy c = {
        .from = lifted, .replace = replace, .arguments = take_arguments, .context = &u};
    enum stet_rc rc = STET_NO_MEMORY;

    u.argument_of = stet_mem_alloc((size_t)lifted->value_count + 1);
    u.drop = stet_mem_calloc((size_t)lifted->op_count + 1, sizeof *u.drop);
    if (u.argument_of && u.drop) {
        memset(u.argument_of, STET_LIFT_NONE, (size_t)lifted->value_count + 1);
        u.bad = !has_bodies(lifted);
        if (!u.bad) {
            mark_arguments(&u, lifted);
            stet_program_walk(lifted, mark_dropped, &u);
        }
        rc = u.bad ? STET_REFUSED : stet_lift_copy_program(out, &c, err);
    }
    if (rc == STET_OK && u.bad) {
        stet_program_release(out);
        rc = STET_REFUSED;
    }
    stet_mem_free(u.argument_of);
    stet_mem_free(u.drop);
    return rc == STET_OK ? rc : stet_fail(err, rc, "the values do not fit the lifted program");
}
