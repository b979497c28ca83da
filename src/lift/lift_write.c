/* Writes a lifted program: a copy of the base in which lifted uses read arguments. The arguments
 * reach a function through its callers. */
#include "base/buf.h"
#include "decode/decode.h"
#include "fingerprint/fingerprint.h"
#include "lift/lift_copy.h"
#include "lift/lift_internal.h"
#include "program/print.h"

struct lifting {
    const struct stet_lift_match *match;
    const struct stet_lift_plan *plan;
    const uint64_t *masks;
    struct stet_lift_spmd spmd;
    bool *keep;  /* by operation id: a constant that is still read */
    size_t next; /* use; the copy meets them in the order of the match */
    struct stet_value *arguments[STET_LIFT_ARGUMENTS]; /* of the function in progress */
};

/* ---- functions ---- */

static void make_arguments(struct stet_lift_copy *c, const struct stet_block *from,
                           struct stet_block *to)
{
    struct lifting *l = c->context;
    const struct stet_type *types[STET_LIFT_ARGUMENTS];
    uint32_t n = 0, at = from->arg_count;

    for (uint32_t a = 0; a < l->plan->argument_count; a++) {
        if (l->masks[c->function] >> a & 1)
            types[n++] = l->plan->arguments[a].type;
    }
    stet_lift_copy_arguments(c, from, to, from->arg_count, types, n);
    for (uint32_t a = 0; to->args && a < l->plan->argument_count; a++)
        l->arguments[a] = l->masks[c->function] >> a & 1 ? &to->args[at++] : NULL;
}

static const struct stet_attr *longer_type(struct stet_lift_copy *c, const struct stet_attr *old)
{
    const struct lifting *l = c->context;
    const struct stet_type *was = stet_attr_type(old);
    uint32_t inputs = was->input_count, n = was->member_count;
    struct stet_attr *a = stet_build_attr(c->arena, STET_ATTR_TYPE);
    struct stet_type *type = STET_NEW(c->arena, struct stet_type);
    const struct stet_type **members =
        STET_NEW_ARRAY(c->arena, const struct stet_type *, (size_t)n + STET_LIFT_ARGUMENTS);

    if (!a || !type || !members)
        return NULL;
    *type = *was;
    if (inputs)
        memcpy((void *)members, (const void *)was->members, inputs * sizeof *members);
    for (uint32_t i = 0; i < l->plan->argument_count; i++) {
        if (l->masks[c->function] >> i & 1)
            members[type->input_count++] = l->plan->arguments[i].type;
    }
    memcpy((void *)(members + type->input_count), (const void *)(was->members + inputs),
           (n - inputs) * sizeof *members);
    type->member_count = type->input_count + n - inputs;
    type->members = members;
    a->of.type = type;
    return a;
}

/* The dictionaries of the arguments. One that is added is empty, or says that the argument is whole
 * on every device: only the entry's arguments have places. */
static const struct stet_attr *longer_list(struct stet_lift_copy *c, const struct stet_attr *old)
{
    static const struct stet_lift_spmd unsharded;
    const struct lifting *l = c->context;
    bool is_entry = c->from->functions[c->function] == c->from->entry;
    struct stet_attr *a = stet_build_attr(c->arena, STET_ATTR_ARRAY);
    const struct stet_attr **items = STET_NEW_ARRAY(c->arena, const struct stet_attr *,
                                                    (size_t)old->count + l->plan->argument_count);

    if (!a || !items)
        return NULL;
    if (old->count)
        memcpy((void *)items, (const void *)old->items, old->count * sizeof *items);
    a->count = old->count;
    for (uint32_t i = 0; i < l->plan->argument_count; i++) {
        if (l->masks[c->function] >> i & 1)
            items[a->count++] = stet_lift_spmd_dict(c->arena, is_entry ? &l->spmd : &unsharded,
                                                    l->plan->arguments[i].type);
    }
    a->items = items;
    return a;
}

static void lift_function(struct stet_lift_copy *c, const struct stet_op *op)
{
    struct stet_named_attr *attrs =
        STET_NEW_ARRAY(c->arena, struct stet_named_attr, op->attr_count);

    for (uint32_t i = 0; attrs && i < op->attr_count; i++) {
        attrs[i] = op->attrs[i];
        if (stet_view_is(attrs[i].name, "function_type"))
            attrs[i].value = longer_type(c, attrs[i].value);
        else if (stet_view_is(attrs[i].name, "arg_attrs"))
            attrs[i].value = longer_list(c, attrs[i].value);
    }
    if (!c->arena->failed)
        stet_lift_copy_op(c, op, NULL, 0, attrs, op->attr_count);
}

static void lift_call(struct stet_lift_copy *c, const struct stet_op *op,
                      struct stet_value **operands)
{
    const struct lifting *l = c->context;
    const struct stet_op *entry = stet_lift_spmd_entry_of(op), *made;
    uint64_t mask = l->masks[stet_lift_callee(c->from, op)];
    uint32_t n = op->operand_count;

    for (uint32_t a = 0; a < l->plan->argument_count; a++) {
        if (!(mask >> a & 1))
            continue;
        operands[n] = l->arguments[a];
        if (entry) { /* enters as the call's own operands do */
            made = stet_lift_copy_new(c, entry->known, l->arguments[a]->type, &l->arguments[a], 1,
                                      entry->attrs, entry->attr_count);
            operands[n] = made ? (struct stet_value *)(uintptr_t)&made->results[0] : NULL;
        }
        n++;
    }
    stet_lift_copy_op(c, op, operands, n, op->attrs, op->attr_count);
}

/* A manual computation gets all lifted arguments of the function that it is in. */
static void lift_manual(struct stet_lift_copy *c, const struct stet_op *op,
                        struct stet_value **operands)
{
    struct lifting *l = c->context;
    struct stet_value *outer[STET_LIFT_ARGUMENTS];
    const struct stet_type *types[STET_LIFT_ARGUMENTS];
    struct stet_named_attr *attrs =
        STET_NEW_ARRAY(c->arena, struct stet_named_attr, op->attr_count);
    uint32_t n = 0;

    memcpy((void *)outer, (const void *)l->arguments, sizeof outer);
    for (uint32_t a = 0; a < l->plan->argument_count; a++) {
        if (!(l->masks[c->function] >> a & 1))
            continue;
        types[n] = l->plan->arguments[a].type;
        operands[op->operand_count + n++] = l->arguments[a];
    }
    for (uint32_t i = 0; attrs && i < op->attr_count; i++) {
        attrs[i] = op->attrs[i];
        if (n && stet_view_is(attrs[i].name, "in_shardings")) {
            attrs[i].value = stet_lift_spmd_more(c->arena, op, types, n);
            c->arena->failed |= !attrs[i].value;
        }
    }
    if (!c->arena->failed)
        stet_lift_copy_op(c, op, operands, op->operand_count + n, attrs, op->attr_count);
    memcpy((void *)l->arguments, (const void *)outer, sizeof outer);
}

/* ---- uses ---- */

static struct stet_value *broadcast(struct stet_lift_copy *c, struct stet_value *v,
                                    const struct stet_type *type)
{
    struct stet_named_attr attr =
        stet_lift_copy_ints(c, STET_VIEW("broadcast_dimensions"), NULL, 0);
    struct stet_op *op =
        stet_lift_copy_new(c, STET_STABLEHLO_BROADCAST_IN_DIM, type, &v, 1, &attr, 1);

    return op ? &op->results[0] : NULL;
}

static void lift_operands(struct stet_lift_copy *c, const struct stet_op *op,
                          struct stet_value **operands)
{
    struct lifting *l = c->context;

    for (uint32_t i = 0; i < op->operand_count; i++) {
        uint8_t a;

        if (!stet_lift_constant_of(op, i))
            continue;
        a = l->plan->argument_of[l->next++];
        if (a == STET_LIFT_NONE)
            continue;
        operands[i] = l->plan->arguments[a].kind == STET_LIFT_SPLAT
                          ? broadcast(c, l->arguments[a], stet_op_operand(op, i)->type)
                          : l->arguments[a];
    }
}

/* The starts of a slice or pad as operands; `lifted` is how many of them are arguments. */
static void take_starts(struct stet_lift_copy *c, uint32_t rank, struct stet_value **starts,
                        uint32_t *lifted)
{
    struct lifting *l = c->context;

    *lifted = 0;
    for (uint32_t i = 0; i < rank; i++) {
        uint8_t a = l->plan->argument_of[l->next + i];

        *lifted += a != STET_LIFT_NONE;
        if (a != STET_LIFT_NONE)
            starts[i] = l->arguments[a];
    }
}

/* The other starts are constants. */
static void fill_starts(struct stet_lift_copy *c, uint32_t rank, struct stet_value **starts)
{
    const struct lifting *l = c->context;
    const struct stet_type *type =
        stet_type_tensor(c->arena, stet_type_integer(c->arena, 32, STET_SIGNLESS), NULL, 0);

    for (uint32_t i = 0; i < rank && !c->arena->failed; i++) {
        int32_t start = (int32_t)l->match->uses.items[l->next + i].start[0];
        char *bytes = starts[i] ? NULL : stet_arena_raw(c->arena, 1, sizeof start);

        if (bytes) {
            memcpy(bytes, &start, sizeof start);
            starts[i] = stet_lift_copy_constant(c, type, stet_view_of(bytes, sizeof start), true);
        }
    }
}

static void lift_slice(struct stet_lift_copy *c, const struct stet_op *op,
                       struct stet_value **operands)
{
    const struct stet_type *type = op->results[0].type;
    struct stet_named_attr sizes =
        stet_lift_copy_ints(c, STET_VIEW("slice_sizes"), type->dims, type->rank);

    fill_starts(c, type->rank, operands + 1);
    stet_lift_copy_stands(c, &op->results[0],
                          stet_lift_copy_new(c, STET_STABLEHLO_DYNAMIC_SLICE, type, operands,
                                             type->rank + 1, &sizes, 1));
}

/* A tensor of the padding value, in which the operand replaces a part. */
static void lift_pad(struct stet_lift_copy *c, const struct stet_op *op,
                     struct stet_value **operands)
{
    const struct stet_type *type = op->results[0].type;
    struct stet_value *whole = broadcast(c, operands[1], type);

    operands[1] = operands[0];
    operands[0] = whole;
    fill_starts(c, type->rank, operands + 2);
    stet_lift_copy_stands(c, &op->results[0],
                          stet_lift_copy_new(c, STET_STABLEHLO_DYNAMIC_UPDATE_SLICE, type, operands,
                                             type->rank + 2, NULL, 0));
}

static bool replace(struct stet_lift_copy *c, const struct stet_op *op)
{
    struct lifting *l = c->context;
    bool slice = stet_lift_is_plain_slice(op), pad = stet_lift_is_plain_pad(op);
    uint32_t rank = slice || pad ? op->results[0].type->rank : 0, lifted;
    struct stet_value **operands;

    if (stet_lift_is_constant(op))
        return !l->keep[op->id];
    if (op->known == STET_FUNC_FUNC) {
        lift_function(c, op);
        return true;
    }
    operands = stet_lift_copy_operands(c, op, rank + STET_LIFT_ARGUMENTS);
    if (!operands)
        return true;
    lift_operands(c, op, operands);
    take_starts(c, rank, operands + op->operand_count, &lifted);
    if (op->known == STET_FUNC_CALL)
        lift_call(c, op, operands);
    else if (op->known == STET_SDY_MANUAL_COMPUTATION)
        lift_manual(c, op, operands);
    else if (!lifted)
        stet_lift_copy_op(c, op, operands, op->operand_count, op->attrs, op->attr_count);
    else if (slice)
        lift_slice(c, op, operands);
    else
        lift_pad(c, op, operands);
    l->next += rank;
    return true;
}

enum stet_rc stet_lift_apply(struct stet_program *out, const struct stet_program *base,
                             const struct stet_lift_match *m, const struct stet_lift_plan *plan,
                             const uint64_t *masks, struct stet_err *err)
{
    struct lifting l = {.match = m, .plan = plan, .masks = masks};
    struct stet_lift_copy c = {
        .from = base, .replace = replace, .arguments = make_arguments, .context = &l};
    enum stet_rc rc;

    if (stet_lift_spmd_read(&l.spmd, base, err) != STET_OK)
        return STET_REFUSED;
    l.keep = stet_mem_calloc((size_t)base->op_count + 1, sizeof *l.keep);
    if (!l.keep)
        return stet_fail(err, STET_NO_MEMORY, "out of memory to lift a program");
    for (size_t i = 0; i < m->uses.count; i++) {
        const struct stet_lift_use *u = &m->uses.items[i];

        if (!u->is_start && plan->argument_of[i] == STET_LIFT_NONE)
            l.keep[stet_lift_constant_of(u->op, u->index)->id] = true;
    }
    rc = stet_lift_copy_program(out, &c, err);
    stet_mem_free(l.keep);
    return rc;
}

/* ---- writing and checking ---- */

struct composites {
    const struct stet_program *base;
    const uint64_t *masks;
};

/* A compiler may have its own code for a composite, which has no further arguments: nothing in the
 * function that it stands for can be lifted. */
static bool is_untouched(const struct stet_op *op, void *context)
{
    const struct composites *c = context;

    return op->known != STET_STABLEHLO_COMPOSITE || !c->masks[stet_lift_callee(c->base, op)];
}

/* The key also counts where constants are, and merged ones are at one place. The walk of
 * stet_lift_match compares the order of everything else. */
static bool same_fingerprint(const struct stet_program *a, const struct stet_program *b)
{
    struct stet_fingerprint x, y;

    return stet_fingerprint_make(&x, a, (struct stet_view){0}, NULL) == STET_OK &&
           stet_fingerprint_make(&y, b, (struct stet_view){0}, NULL) == STET_OK &&
           stet_hash_eq(x.skeleton, y.skeleton) && !stet_fingerprint_moved(&x, &y);
}

/* With the values of `plain` in place of the arguments, is the lifted program `plain` again? */
static enum stet_rc check_side(const struct stet_program *lifted, const struct stet_program *plain,
                               const struct stet_lift_match *m, const struct stet_lift_plan *plan,
                               const uint64_t *masks, enum stet_lift_side side,
                               struct stet_err *err)
{
    struct stet_lift_value *values;
    struct stet_lift_match again;
    struct stet_program undone;
    struct stet_arena arena;
    enum stet_rc rc;

    stet_arena_init(&arena, (size_t)1 << 30);
    rc = stet_lift_values(plan, m, side, &arena, &values, err);
    if (rc == STET_OK)
        rc = stet_lift_undo(&undone, lifted, plan, masks, values, err);
    if (rc == STET_OK) {
        rc = stet_lift_match(&again, plain, &undone, err);
        if (rc == STET_OK && (again.different || !same_fingerprint(plain, &undone)))
            rc = stet_fail(err, STET_REFUSED, "the lifted program is not equal to the plain one");
        stet_lift_match_release(&again);
        stet_program_release(&undone);
    }
    stet_arena_release(&arena);
    return rc == STET_OK ? STET_OK : STET_REFUSED;
}

static enum stet_rc check_text(struct stet_view text, const struct stet_program *const plain[2],
                               const struct stet_lift_match *m, const struct stet_lift_plan *plan,
                               const uint64_t *masks, struct stet_err *err)
{
    struct stet_program lifted;
    enum stet_rc rc = stet_decode_mlir_text(&lifted, text, err);

    if (rc != STET_OK)
        return STET_REFUSED;
    rc = lifted.function_count == plain[0]->function_count
             ? STET_OK
             : stet_fail(err, STET_REFUSED, "the lifted program has other functions");
    if (rc == STET_OK)
        rc = check_side(&lifted, plain[0], m, plan, masks, STET_LIFT_BASE, err);
    if (rc == STET_OK)
        rc = check_side(&lifted, plain[1], m, plan, masks, STET_LIFT_OTHER, err);
    stet_program_release(&lifted);
    return rc;
}

enum stet_rc stet_lift_write(struct stet_buf *out, const struct stet_program *base,
                             const struct stet_program *other, const struct stet_lift_match *m,
                             const struct stet_lift_plan *plan, struct stet_err *err)
{
    struct stet_program lifted;
    struct stet_arena arena;
    uint64_t *masks;
    enum stet_rc rc;

    stet_arena_init(&arena, (size_t)16 << 20);
    masks = stet_lift_masks(base, m, plan, &arena);
    rc = masks ? STET_OK : STET_NO_MEMORY;
    if (masks && !stet_program_walk(base, is_untouched, &(struct composites){base, masks}))
        rc = stet_fail(err, STET_REFUSED, "the value is inside a composite operation");
    if (rc == STET_OK)
        rc = stet_lift_apply(&lifted, base, m, plan, masks, err);
    if (rc == STET_OK) {
        rc = stet_print_program(out, &lifted, NULL, err);
        stet_program_release(&lifted);
    }
    if (rc == STET_OK)
        rc = check_text(stet_buf_as_view(out), (const struct stet_program *[]){base, other}, m,
                        plan, masks, err);
    stet_arena_release(&arena);
    return rc;
}
