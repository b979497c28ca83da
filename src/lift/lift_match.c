/* Walks two programs in step. Constants are not compared as operations: each use carries its value,
 * because frameworks merge equal constants, and a value that drifts leaves the merged one.
 */
#include "lift/lift_internal.h"
#include "program/defaults.h"

struct walk {
    const struct stet_program *base, *other;
    uint32_t *values; /* by value id of the base: id in the other program, plus 1 */
    struct stet_lift_match *out;
    struct stet_err *err;
};

static bool differ(struct walk *w, const struct stet_op *op, const char *what)
{
    stet_fail(w->err, STET_NOT_FOUND, "%s of %.*s", what, STET_FMT(stet_op_name(op)));
    return false;
}

int64_t stet_lift_int_at(const struct stet_attr *list, uint32_t i)
{
    struct stet_view bytes = list ? stet_attr_bytes(list) : (struct stet_view){0};
    int64_t v;

    if (!list || list->kind != STET_ATTR_DENSE_ARRAY || bytes.len / sizeof v <= i)
        return 0;
    memcpy(&v, bytes.ptr + i * sizeof v, sizeof v);
    return v;
}

static bool has_length(const struct stet_attr *list, uint32_t n)
{
    return list && list->kind == STET_ATTR_DENSE_ARRAY &&
           stet_attr_bytes(list).len == n * sizeof(int64_t);
}

bool stet_lift_is_plain_slice(const struct stet_op *op)
{
    const struct stet_attr *from, *to, *by;
    const struct stet_type *in;

    if (op->known != STET_STABLEHLO_SLICE || op->operand_count != 1 || op->result_count != 1)
        return false;
    from = stet_op_attr(op, "start_indices");
    to = stet_op_attr(op, "limit_indices");
    by = stet_op_attr(op, "strides");
    in = stet_op_operand(op, 0)->type;
    if (in->kind != STET_TYPE_TENSOR || op->results[0].type->rank != in->rank ||
        !has_length(from, in->rank) || !has_length(to, in->rank) || !has_length(by, in->rank))
        return false;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t first = stet_lift_int_at(from, i), last = stet_lift_int_at(to, i);

        if (stet_lift_int_at(by, i) != 1 || first < 0 || last < first || last > in->dims[i] ||
            in->dims[i] > INT32_MAX || last - first != op->results[0].type->dims[i])
            return false;
    }
    return true;
}

bool stet_lift_is_plain_pad(const struct stet_op *op)
{
    const struct stet_attr *low, *high, *inner;
    const struct stet_type *in, *out;

    if (op->known != STET_STABLEHLO_PAD || op->operand_count != 2 || op->result_count != 1)
        return false;
    low = stet_op_attr(op, "edge_padding_low");
    high = stet_op_attr(op, "edge_padding_high");
    inner = stet_op_attr(op, "interior_padding");
    in = stet_op_operand(op, 0)->type;
    out = op->results[0].type;
    if (in->kind != STET_TYPE_TENSOR || out->rank != in->rank || !has_length(low, in->rank) ||
        !has_length(high, in->rank) || !has_length(inner, in->rank))
        return false;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t before = stet_lift_int_at(low, i), after = stet_lift_int_at(high, i);

        if (stet_lift_int_at(inner, i) || before < 0 || after < 0 || out->dims[i] > INT32_MAX ||
            before > out->dims[i] || after > out->dims[i] ||
            before + in->dims[i] + after != out->dims[i])
            return false;
    }
    return true;
}

/* The name of the attribute that holds the starts; NULL if the operation has none that may
 * differ. */
static const char *starts_of(const struct stet_op *op)
{
    if (stet_lift_is_plain_slice(op))
        return "start_indices";
    return stet_lift_is_plain_pad(op) ? "edge_padding_low" : NULL;
}

/* ---- attributes ---- */

uint32_t stet_lift_callee(const struct stet_program *p, const struct stet_op *call)
{
    const struct stet_attr *a =
        stet_op_attr(call, call->known == STET_FUNC_CALL ? "callee" : "decomposition");

    if (!a || a->kind != STET_ATTR_SYMBOL || a->count)
        return UINT32_MAX;
    for (uint32_t i = 0; i < p->function_count; i++) {
        if (stet_view_eq(stet_op_symbol(p->functions[i]), stet_attr_text(a)))
            return i;
    }
    return UINT32_MAX;
}

/* Names of modules and of functions do not count, and what names a function counts by the
 * function. The name of a mesh counts: shardings contain it. */
static bool is_aside(const struct stet_op *op, struct stet_view name)
{
    switch (op->known) {
    case STET_BUILTIN_MODULE:
    case STET_FUNC_FUNC:
        return stet_view_is(name, "sym_name");
    case STET_FUNC_CALL:
        return stet_view_is(name, "callee");
    case STET_STABLEHLO_COMPOSITE:
        return stet_view_is(name, "decomposition");
    default:
        return false;
    }
}

static bool is_start_attr(const struct stet_op *op, struct stet_view name)
{
    if (op->known == STET_STABLEHLO_SLICE)
        return stet_view_is(name, "start_indices") || stet_view_is(name, "limit_indices");
    return op->known == STET_STABLEHLO_PAD &&
           (stet_view_is(name, "edge_padding_low") || stet_view_is(name, "edge_padding_high"));
}

/* The first attribute at or after `i` that counts. */
static uint32_t next_attr(const struct stet_op *op, uint32_t i, bool starts)
{
    while (i < op->attr_count &&
           (stet_attr_is_default(op, &op->attrs[i]) || is_aside(op, op->attrs[i].name) ||
            (starts && is_start_attr(op, op->attrs[i].name))))
        i++;
    return i;
}

/* Most operations of two programs of a family have the same attributes, written alike. */
static bool are_equal_attrs(const struct stet_op *a, const struct stet_op *b)
{
    if (a->attr_count != b->attr_count)
        return false;
    for (uint32_t i = 0; i < a->attr_count; i++) {
        if (!stet_view_eq(a->attrs[i].name, b->attrs[i].name) ||
            !stet_attr_eq(a->attrs[i].value, b->attrs[i].value))
            return false;
    }
    return true;
}

/* Attributes that are written differently and mean the same: defaults, names, starts. */
static bool match_unequal_attrs(struct walk *w, const struct stet_op *a, const struct stet_op *b)
{
    bool starts = starts_of(a) && starts_of(b);
    uint32_t i = next_attr(a, 0, starts), k = next_attr(b, 0, starts);

    for (; i < a->attr_count && k < b->attr_count;
         i = next_attr(a, i + 1, starts), k = next_attr(b, k + 1, starts)) {
        if (!stet_view_eq(a->attrs[i].name, b->attrs[k].name) ||
            !stet_attr_same(a, &a->attrs[i], &b->attrs[k]))
            return differ(w, a, "an attribute");
    }
    return i == a->attr_count && k == b->attr_count ? true : differ(w, a, "number of attributes");
}

static bool match_attrs(struct walk *w, const struct stet_op *a, const struct stet_op *b)
{
    uint32_t f;

    if (!are_equal_attrs(a, b) && !match_unequal_attrs(w, a, b))
        return false;
    if (!stet_lift_names_function(a))
        return true;
    f = stet_lift_callee(w->base, a);
    return f != UINT32_MAX && f == stet_lift_callee(w->other, b) ? true : differ(w, a, "callee");
}

/* ---- uses ---- */

static const struct stet_attr *dense_of(const struct stet_op *constant)
{
    const struct stet_attr *v = stet_op_attr(constant, "value");

    return v && v->kind == STET_ATTR_DENSE && stet_attr_bytes(v).len ? v : NULL;
}

/* A tensor of equal numbers may or may not be written as one number. */
static bool same_elements(const struct stet_attr *a, const struct stet_attr *b)
{
    struct stet_view one, all;

    if (a->splat == b->splat)
        return stet_view_eq(stet_attr_bytes(a), stet_attr_bytes(b));
    one = stet_attr_bytes(a->splat ? a : b);
    all = stet_attr_bytes(a->splat ? b : a);
    if (!one.len || all.len % one.len)
        return false;
    for (size_t i = 0; i < all.len; i += one.len) {
        if (memcmp(all.ptr + i, one.ptr, one.len) != 0)
            return false;
    }
    return true;
}

static bool match_constant(struct walk *w, const struct stet_op *a, const struct stet_op *b,
                           uint32_t i)
{
    const struct stet_op *x = stet_lift_constant_of(a, i), *y = stet_lift_constant_of(b, i);
    struct stet_lift_use use = {.op = a, .index = i};

    /* the base has no constant with further attributes, so a constant that has some is another */
    if (!x || !y || y->attr_count > 1 || !stet_type_eq(x->results[0].type, y->results[0].type))
        return differ(w, a, "an operand");
    use.value[0] = dense_of(x);
    use.value[1] = dense_of(y);
    if (!use.value[0] || !use.value[1]) {
        if (!stet_attr_eq(stet_op_attr(x, "value"), stet_op_attr(y, "value")))
            return differ(w, a, "an opaque constant");
    } else {
        use.differs = !same_elements(use.value[0], use.value[1]);
    }
    w->out->different += use.differs;
    STET_VEC_PUSH(&w->out->uses, use);
    return true;
}

static bool match_operands(struct walk *w, const struct stet_op *a, const struct stet_op *b)
{
    for (uint32_t i = 0; i < a->operand_count; i++) {
        const struct stet_value *x = stet_op_operand(a, i), *y = stet_op_operand(b, i);

        if (stet_lift_constant_of(a, i) || stet_lift_constant_of(b, i)) {
            if (!match_constant(w, a, b, i))
                return false;
        } else if (w->values[x->id] != y->id + 1) {
            return differ(w, a, "an operand");
        }
    }
    return true;
}

static void match_starts(struct walk *w, const struct stet_op *a, const struct stet_op *b)
{
    const char *name = starts_of(a);
    const struct stet_attr *x, *y;

    if (!name || !starts_of(b)) /* then the attributes were compared */
        return;
    x = stet_op_attr(a, name);
    y = stet_op_attr(b, name);
    for (uint32_t i = 0; i < a->results[0].type->rank; i++) {
        struct stet_lift_use use = {.op = a, .index = i, .is_start = true};

        use.start[0] = stet_lift_int_at(x, i);
        use.start[1] = stet_lift_int_at(y, i);
        use.differs = use.start[0] != use.start[1];
        w->out->different += use.differs;
        STET_VEC_PUSH(&w->out->uses, use);
    }
}

/* ---- operations ---- */

static bool match_op(struct walk *w, const struct stet_op *a, const struct stet_op *b);

static uint32_t skip_constants(const struct stet_block *b, uint32_t i)
{
    while (i < b->op_count && stet_lift_is_constant(b->ops[i]))
        i++;
    return i;
}

static bool match_block(struct walk *w, const struct stet_op *parent, const struct stet_block *a,
                        const struct stet_block *b)
{
    uint32_t i = skip_constants(a, 0), k = skip_constants(b, 0);

    if (a->arg_count != b->arg_count)
        return differ(w, parent, "number of arguments");
    for (uint32_t n = 0; n < a->arg_count; n++) {
        if (!stet_type_eq(a->args[n].type, b->args[n].type))
            return differ(w, parent, "type of an argument");
        w->values[a->args[n].id] = b->args[n].id + 1;
    }
    for (; i < a->op_count && k < b->op_count;
         i = skip_constants(a, i + 1), k = skip_constants(b, k + 1)) {
        if (!match_op(w, a->ops[i], b->ops[k]))
            return false;
    }
    return i == a->op_count && k == b->op_count ? true : differ(w, parent, "number of operations");
}

static bool match_regions(struct walk *w, const struct stet_op *a, const struct stet_op *b)
{
    for (unsigned r = 0; r < a->region_count; r++) {
        const struct stet_region *x = stet_op_region(a, r), *y = stet_op_region(b, r);

        if (x->block_count != y->block_count)
            return differ(w, a, "number of blocks");
        for (uint32_t i = 0; i < x->block_count; i++) {
            if (!match_block(w, a, x->blocks[i], y->blocks[i]))
                return false;
        }
    }
    return true;
}

static bool match_op(struct walk *w, const struct stet_op *a, const struct stet_op *b)
{
    if (!a->known || a->known != b->known || a->branches || b->branches)
        return differ(w, a, "the operation");
    if (a->operand_count != b->operand_count || a->result_count != b->result_count ||
        a->region_count != b->region_count)
        return differ(w, a, "number of operands, results or regions");
    for (uint32_t i = 0; i < a->result_count; i++) {
        if (!stet_type_eq(a->results[i].type, b->results[i].type))
            return differ(w, a, "type of a result");
        w->values[a->results[i].id] = b->results[i].id + 1;
    }
    if (!match_attrs(w, a, b) || !match_operands(w, a, b))
        return false;
    match_starts(w, a, b);
    return match_regions(w, a, b);
}

static uint32_t entry_place(const struct stet_program *p)
{
    for (uint32_t i = 0; i < p->function_count; i++) {
        if (p->functions[i] == p->entry)
            return i;
    }
    return UINT32_MAX;
}

enum stet_rc stet_lift_match(struct stet_lift_match *out, const struct stet_program *base,
                             const struct stet_program *other, struct stet_err *err)
{
    struct walk w = {.base = base, .other = other, .out = out, .err = err};
    bool same;

    *out = (struct stet_lift_match){.base = base};
    w.values = stet_mem_calloc((size_t)base->value_count + 1, sizeof *w.values);
    if (!w.values)
        return stet_fail(err, STET_NO_MEMORY, "out of memory to compare two programs");
    same = !other->left_out && base->function_count == other->function_count &&
           entry_place(base) == entry_place(other) && match_op(&w, base->module, other->module);
    stet_mem_free(w.values);
    if (same && !out->uses.failed)
        return STET_OK;
    same = out->uses.failed;
    stet_lift_match_release(out);
    return same ? stet_fail(err, STET_NO_MEMORY, "out of memory for the uses of constants")
                : stet_fail(err, STET_NOT_FOUND, "the programs differ in more than values");
}

void stet_lift_match_release(struct stet_lift_match *m)
{
    STET_VEC_RELEASE(&m->uses);
}
