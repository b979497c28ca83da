/* Converts HLO instructions to StableHLO operations. Opcodes that need more than a new name have a
 * function. */
#include "legalize/legal.h"

/* Counterparts that differ in name alone (and in attributes, legal_attr.c). */
static const struct {
    uint32_t known;
    const char *name;
} counterparts[] = {
    {STET_HLO_ABS, "stablehlo.abs"},
    {STET_HLO_ACOS, "chlo.acos"},
    {STET_HLO_ACOSH, "chlo.acosh"},
    {STET_HLO_ADD, "stablehlo.add"},
    {STET_HLO_ALL_GATHER, "stablehlo.all_gather"},
    {STET_HLO_ALL_REDUCE, "stablehlo.all_reduce"},
    {STET_HLO_AND, "stablehlo.and"},
    {STET_HLO_ASIN, "chlo.asin"},
    {STET_HLO_ASINH, "chlo.asinh"},
    {STET_HLO_ATAN2, "stablehlo.atan2"},
    {STET_HLO_ATANH, "chlo.atanh"},
    {STET_HLO_BATCH_NORM_GRAD, "stablehlo.batch_norm_grad"},
    {STET_HLO_BATCH_NORM_INFERENCE, "stablehlo.batch_norm_inference"},
    {STET_HLO_BATCH_NORM_TRAINING, "stablehlo.batch_norm_training"},
    {STET_HLO_BITCAST_CONVERT, "stablehlo.bitcast_convert"},
    {STET_HLO_BROADCAST, "stablehlo.broadcast_in_dim"},
    {STET_HLO_CBRT, "stablehlo.cbrt"},
    {STET_HLO_CEIL, "stablehlo.ceil"},
    {STET_HLO_CHOLESKY, "stablehlo.cholesky"},
    {STET_HLO_CLAMP, "stablehlo.clamp"},
    {STET_HLO_COLLECTIVE_BROADCAST, "stablehlo.collective_broadcast"},
    {STET_HLO_COLLECTIVE_PERMUTE, "stablehlo.collective_permute"},
    {STET_HLO_COMPARE, "stablehlo.compare"},
    {STET_HLO_COMPLEX, "stablehlo.complex"},
    {STET_HLO_CONCATENATE, "stablehlo.concatenate"},
    {STET_HLO_CONVERT, "stablehlo.convert"},
    {STET_HLO_CONVOLUTION, "stablehlo.convolution"},
    {STET_HLO_COSH, "chlo.cosh"},
    {STET_HLO_COSINE, "stablehlo.cosine"},
    {STET_HLO_COUNT_LEADING_ZEROS, "stablehlo.count_leading_zeros"},
    {STET_HLO_CUSTOM_CALL, "stablehlo.custom_call"},
    {STET_HLO_DIVIDE, "stablehlo.divide"},
    {STET_HLO_DOT, "stablehlo.dot_general"},
    {STET_HLO_DYNAMIC_SLICE, "stablehlo.dynamic_slice"},
    {STET_HLO_DYNAMIC_UPDATE_SLICE, "stablehlo.dynamic_update_slice"},
    {STET_HLO_ERF, "chlo.erf"},
    {STET_HLO_EXPONENTIAL, "stablehlo.exponential"},
    {STET_HLO_EXPONENTIAL_MINUS_ONE, "stablehlo.exponential_minus_one"},
    {STET_HLO_FFT, "stablehlo.fft"},
    {STET_HLO_FLOOR, "stablehlo.floor"},
    {STET_HLO_GATHER, "stablehlo.gather"},
    {STET_HLO_GET_DIMENSION_SIZE, "stablehlo.get_dimension_size"},
    {STET_HLO_IMAG, "stablehlo.imag"},
    {STET_HLO_IOTA, "stablehlo.iota"},
    {STET_HLO_IS_FINITE, "stablehlo.is_finite"},
    {STET_HLO_LOG, "stablehlo.log"},
    {STET_HLO_LOG_PLUS_ONE, "stablehlo.log_plus_one"},
    {STET_HLO_LOGISTIC, "stablehlo.logistic"},
    {STET_HLO_MAP, "stablehlo.map"},
    {STET_HLO_MAXIMUM, "stablehlo.maximum"},
    {STET_HLO_MINIMUM, "stablehlo.minimum"},
    {STET_HLO_MULHI, "chlo.mulhi"},
    {STET_HLO_MULTIPLY, "stablehlo.multiply"},
    {STET_HLO_NEGATE, "stablehlo.negate"},
    {STET_HLO_NOT, "stablehlo.not"},
    {STET_HLO_OPT_BARRIER, "stablehlo.optimization_barrier"},
    {STET_HLO_OR, "stablehlo.or"},
    {STET_HLO_PAD, "stablehlo.pad"},
    {STET_HLO_PARTITION_ID, "stablehlo.partition_id"},
    {STET_HLO_POPCNT, "stablehlo.popcnt"},
    {STET_HLO_POWER, "stablehlo.power"},
    {STET_HLO_REAL, "stablehlo.real"},
    {STET_HLO_REDUCE, "stablehlo.reduce"},
    {STET_HLO_REDUCE_PRECISION, "stablehlo.reduce_precision"},
    {STET_HLO_REDUCE_SCATTER, "stablehlo.reduce_scatter"},
    {STET_HLO_REDUCE_WINDOW, "stablehlo.reduce_window"},
    {STET_HLO_REMAINDER, "stablehlo.remainder"},
    {STET_HLO_REPLICA_ID, "stablehlo.replica_id"},
    {STET_HLO_RESHAPE, "stablehlo.reshape"},
    {STET_HLO_REVERSE, "stablehlo.reverse"},
    {STET_HLO_RNG_BIT_GENERATOR, "stablehlo.rng_bit_generator"},
    {STET_HLO_ROUND_NEAREST_AFZ, "stablehlo.round_nearest_afz"},
    {STET_HLO_ROUND_NEAREST_EVEN, "stablehlo.round_nearest_even"},
    {STET_HLO_RSQRT, "stablehlo.rsqrt"},
    {STET_HLO_SCATTER, "stablehlo.scatter"},
    {STET_HLO_SELECT, "stablehlo.select"},
    {STET_HLO_SELECT_AND_SCATTER, "stablehlo.select_and_scatter"},
    {STET_HLO_SET_DIMENSION_SIZE, "stablehlo.set_dimension_size"},
    {STET_HLO_SHIFT_LEFT, "stablehlo.shift_left"},
    {STET_HLO_SHIFT_RIGHT_ARITHMETIC, "stablehlo.shift_right_arithmetic"},
    {STET_HLO_SHIFT_RIGHT_LOGICAL, "stablehlo.shift_right_logical"},
    {STET_HLO_SIGN, "stablehlo.sign"},
    {STET_HLO_SINE, "stablehlo.sine"},
    {STET_HLO_SINH, "chlo.sinh"},
    {STET_HLO_SLICE, "stablehlo.slice"},
    {STET_HLO_SORT, "stablehlo.sort"},
    {STET_HLO_SQRT, "stablehlo.sqrt"},
    {STET_HLO_SUBTRACT, "stablehlo.subtract"},
    {STET_HLO_TAN, "stablehlo.tan"},
    {STET_HLO_TANH, "stablehlo.tanh"},
    {STET_HLO_TRANSPOSE, "stablehlo.transpose"},
    {STET_HLO_TRIANGULAR_SOLVE, "stablehlo.triangular_solve"},
    {STET_HLO_WHILE, "stablehlo.while"},
    {STET_HLO_XOR, "stablehlo.xor"},
};

static const char *counterpart(uint32_t known)
{
    for (size_t i = 0; i < sizeof counterparts / sizeof *counterparts; i++)
        if (counterparts[i].known == known)
            return counterparts[i].name;
    return NULL;
}

struct stet_value *stet_legalize_emit(struct stet_legal *l, const char *name,
                                      const struct stet_op *from,
                                      struct stet_value *const *operands, uint32_t operand_count,
                                      const struct stet_type *const *types, uint32_t type_count,
                                      struct stet_attrs *attrs, struct stet_region *regions,
                                      uint16_t region_count)
{
    struct stet_named_attr *kept =
        STET_NEW_ARRAY(l->a, struct stet_named_attr, attrs ? attrs->count : 0);
    struct stet_op_parts parts = {
        .known = stet_known_op(stet_view_str(name)),
        .name = stet_view_str(name),
        .attrs = kept,
        .attr_count = attrs ? attrs->count : 0,
        .results = types,
        .result_count = type_count,
        .operands = operands,
        .operand_count = operand_count,
        .regions = regions,
        .region_count = region_count,
    };
    struct stet_op *op;

    if (!kept || l->rc != STET_OK)
        return NULL;
    if (parts.attr_count)
        memcpy(kept, attrs->at, parts.attr_count * sizeof *kept);
    stet_build_sort(kept, parts.attr_count);
    parts.loc = from ? stet_legalize_loc(l, from->loc) : NULL;
    op = stet_build_op(l->a, &parts);
    if (!op)
        return NULL;
    stet_build_list_add(l->ops, op);
    return op->results;
}

/* ---- leaves ---- */

static uint32_t data_operands(const struct stet_op *op)
{
    const struct stet_attr *a = stet_op_attr(op, "control-predecessors");

    return op->operand_count - (a ? (uint32_t)stet_attr_int(a) : 0);
}

static struct stet_leaves leaves_of(struct stet_legal *l, const struct stet_value *v)
{
    return l->leaves[v->id];
}

/* The leaves of operands `from` to `to`, one after the other. */
static struct stet_leaves gather_operands(struct stet_legal *l, const struct stet_op *op,
                                          uint32_t from, uint32_t to)
{
    struct stet_leaves all = {0};
    uint32_t n = 0;

    for (uint32_t i = from; i < to; i++)
        n += leaves_of(l, stet_op_operand(op, i)).count;
    all.at = STET_NEW_ARRAY(l->a, struct stet_value *, n);
    for (uint32_t i = from; all.at && i < to; i++) {
        struct stet_leaves one = leaves_of(l, stet_op_operand(op, i));

        if (one.count)
            memcpy(all.at + all.count, one.at, one.count * sizeof *one.at);
        all.count += one.count;
    }
    return all;
}

static void bind(struct stet_legal *l, const struct stet_op *op, struct stet_value *results,
                 uint32_t n)
{
    struct stet_leaves *out = &l->leaves[op->results->id];

    out->at = STET_NEW_ARRAY(l->a, struct stet_value *, n);
    out->count = out->at && results ? n : 0;
    for (uint32_t i = 0; i < out->count; i++)
        out->at[i] = &results[i];
}

static const struct stet_type **result_types(struct stet_legal *l, const struct stet_op *op,
                                             uint32_t *n)
{
    const struct stet_type **types;

    *n = stet_legalize_leaf_count(op->results->type);
    types = stet_arena_alloc(l->a, *n, sizeof *types);
    if (types)
        stet_legalize_leaf_types(l, op->results->type, types);
    return types;
}

/* ---- opcodes with a function of their own ---- */

/* Uses the operand itself: copies, domains, dependencies. */
static void alias(struct stet_legal *l, const struct stet_op *op)
{
    l->leaves[op->results->id] = leaves_of(l, stet_op_operand(op, 0));
}

static void tuple(struct stet_legal *l, const struct stet_op *op)
{
    l->leaves[op->results->id] = gather_operands(l, op, 0, data_operands(op));
}

static void element(struct stet_legal *l, const struct stet_op *op)
{
    const struct stet_type *t = stet_op_operand(op, 0)->type;
    const struct stet_attr *index = stet_op_attr(op, "index");
    struct stet_leaves all = leaves_of(l, stet_op_operand(op, 0));
    uint32_t first = 0, n;

    if (t->kind != STET_TYPE_TUPLE || !index || stet_attr_int(index) < 0 ||
        stet_attr_int(index) >= t->member_count) {
        stet_legalize_fail(l, STET_BAD_INPUT, op, "takes an element that its tuple does not have");
        return;
    }
    for (int64_t i = 0; i < stet_attr_int(index); i++)
        first += stet_legalize_leaf_count(t->members[i]);
    n = stet_legalize_leaf_count(t->members[stet_attr_int(index)]);
    if (first + n > all.count)
        stet_legalize_fail(l, STET_BAD_INPUT, op, "takes an element that its tuple does not have");
    else
        l->leaves[op->results->id] = (struct stet_leaves){all.at + first, n};
}

static void constant(struct stet_legal *l, const struct stet_op *op)
{
    const struct stet_attr *v = stet_op_attr(op, "value");
    struct stet_attr *value = stet_build_attr(l->a, STET_ATTR_DENSE);
    struct stet_attrs attrs = {.count = 0};
    const struct stet_type *t;

    if (!v || v->kind != STET_ATTR_DENSE || !value) {
        stet_legalize_fail(l, STET_UNSUPPORTED, op, "a constant without an array");
        return;
    }
    value->splat = v->splat;
    stet_attr_set_bytes(value, stet_attr_bytes(v));
    value->of.type = t = stet_legalize_type(l, stet_attr_type(v));
    stet_legalize_put(&attrs, "value", value);
    stet_legalize_put(&attrs, "mhlo.sharding", stet_op_attr(op, "sharding"));
    bind(l, op, stet_legalize_emit(l, "stablehlo.constant", op, NULL, 0, &t, 1, &attrs, NULL, 0),
         1);
}

/* The result's shape is an operand in StableHLO. */
static void rng(struct stet_legal *l, const struct stet_op *op)
{
    const struct stet_type *t = stet_legalize_type(l, op->results->type), *shape_type;
    const struct stet_type *i64 = stet_type_integer(l->a, 64, STET_SIGNLESS);
    struct stet_attr *shape = STET_NEW(l->a, struct stet_attr);
    struct stet_attrs attrs = {.count = 0}, plain = {.count = 0};
    struct stet_value *operands[3], *made;
    char *bytes = stet_arena_raw(l->a, t->rank + 1, 8);
    int64_t rank = t->rank;

    if (op->operand_count < 2 || !leaves_of(l, stet_op_operand(op, 0)).count ||
        !leaves_of(l, stet_op_operand(op, 1)).count || !shape || !bytes ||
        t->kind != STET_TYPE_TENSOR) {
        stet_legalize_fail(l, STET_UNSUPPORTED, op, "random numbers of this kind");
        return;
    }
    for (uint32_t i = 0; i < t->rank; i++)
        for (unsigned k = 0; k < 8; k++)
            bytes[i * 8 + k] = (char)((uint64_t)t->dims[i] >> (8 * k));
    shape_type = stet_type_tensor(l->a, i64, &rank, 1);
    shape->kind = STET_ATTR_DENSE;
    shape->of.type = shape_type;
    stet_attr_set_bytes(shape, stet_view_of(bytes, (size_t)t->rank * 8));
    shape->splat = t->rank == 1;
    stet_legalize_put(&plain, "value", shape);
    made =
        stet_legalize_emit(l, "stablehlo.constant", op, NULL, 0, &shape_type, 1, &plain, NULL, 0);
    stet_legalize_attrs(l, op, &attrs);
    operands[0] = leaves_of(l, stet_op_operand(op, 0)).at[0];
    operands[1] = leaves_of(l, stet_op_operand(op, 1)).at[0];
    operands[2] = made;
    bind(l, op, stet_legalize_emit(l, "stablehlo.rng", op, operands, 3, &t, 1, &attrs, NULL, 0), 1);
}

static void after_all(struct stet_legal *l, const struct stet_op *op)
{
    struct stet_leaves in = gather_operands(l, op, 0, data_operands(op));
    const struct stet_type *t = &stet_type_token;

    bind(l, op,
         stet_legalize_emit(l, in.count ? "stablehlo.after_all" : "stablehlo.create_token", op,
                            in.at, in.count, &t, 1, NULL, NULL, 0),
         1);
}

/* Creates the called function once, after the function that calls it. */
static void call(struct stet_legal *l, const struct stet_op *op)
{
    const struct stet_attr *callee = stet_op_attr(op, "to_apply");
    struct stet_leaves in = gather_operands(l, op, 0, data_operands(op));
    struct stet_attrs attrs = {.count = 0};
    const struct stet_type **types;
    struct stet_op *target;
    bool known = false;
    uint32_t n;

    if (!callee)
        callee = stet_op_attr(op, "calls");
    target = callee && callee->kind == STET_ATTR_SYMBOL
                 ? stet_program_function(l->hlo, stet_attr_text(callee))
                 : NULL;
    if (!target) {
        stet_legalize_fail(l, STET_UNSUPPORTED, op, "a call without a computation");
        return;
    }
    for (size_t i = 0; i < l->functions.count; i++)
        known |= l->functions.items[i] == target;
    if (!known)
        stet_build_list_add(&l->functions, target);
    types = result_types(l, op, &n);
    stet_legalize_put(&attrs, "callee", callee);
    stet_legalize_put(&attrs, "mhlo.frontend_attributes", stet_op_attr(op, "frontend_attributes"));
    if (types)
        bind(l, op,
             stet_legalize_emit(l, "func.call", op, in.at, in.count, types, n, &attrs, NULL, 0), n);
}

/* stablehlo.if for predicates, stablehlo.case otherwise; branches use their operand directly. */
static void conditional(struct stet_legal *l, const struct stet_op *op)
{
    const struct stet_attr *list = stet_op_attr(op, "branch_computations");
    const struct stet_attr *branch[2] = {stet_op_attr(op, "true_computation"),
                                         stet_op_attr(op, "false_computation")};
    uint32_t count = list ? list->count : branch[0] && branch[1] ? 2 : 0, n;
    struct stet_region *regions = STET_NEW_ARRAY(l->a, struct stet_region, count);
    const struct stet_type **types = result_types(l, op, &n);
    struct stet_attrs attrs = {.count = 0};
    struct stet_leaves selector;

    if (!regions || !types || !count || count > STET_MAX_REGIONS || data_operands(op) < count + 1) {
        stet_legalize_fail(l, STET_UNSUPPORTED, op, "a conditional without its branches");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct stet_leaves in = leaves_of(l, stet_op_operand(op, i + 1));

        if (!stet_legalize_region(l, &regions[i], list ? list->items[i] : branch[i], &in, 1,
                                  "stablehlo.return"))
            return;
    }
    selector = leaves_of(l, stet_op_operand(op, 0));
    if (selector.count != 1) {
        stet_legalize_fail(l, STET_BAD_INPUT, op, "a conditional on a tuple");
        return;
    }
    stet_legalize_attrs(l, op, &attrs);
    bind(l, op,
         stet_legalize_emit(l, list ? "stablehlo.case" : "stablehlo.if", op, selector.at, 1, types,
                            n, &attrs, regions, (uint16_t)count),
         n);
}

/* Splits one operand into as many parts as a group has devices. */
static void all_to_all(struct stet_legal *l, const struct stet_op *op)
{
    const struct stet_attr *dims = stet_op_attr(op, "dimensions"), *groups;
    struct stet_attrs attrs = {.count = 0};
    const struct stet_type *t = stet_legalize_type(l, op->results->type);
    struct stet_leaves in = gather_operands(l, op, 0, data_operands(op));

    stet_legalize_attrs(l, op, &attrs);
    groups = NULL;
    for (uint32_t i = 0; i < attrs.count; i++)
        if (stet_view_is(attrs.at[i].name, "replica_groups"))
            groups = attrs.at[i].value;
    if (!dims || dims->count != 1 || in.count != 1 || !groups ||
        stet_attr_type(groups)->dims[1] < 1) {
        stet_legalize_fail(l, STET_UNSUPPORTED, op, "an all-to-all of a tuple");
        return;
    }
    stet_legalize_put(&attrs, "split_dimension", stet_legalize_int(l, dims->ints[0], 64));
    stet_legalize_put(&attrs, "concat_dimension", stet_legalize_int(l, dims->ints[0], 64));
    stet_legalize_put(&attrs, "split_count",
                      stet_legalize_int(l, stet_attr_type(groups)->dims[1], 64));
    bind(l, op, stet_legalize_emit(l, "stablehlo.all_to_all", op, in.at, 1, &t, 1, &attrs, NULL, 0),
         1);
}

static void top_k(struct stet_legal *l, const struct stet_op *op)
{
    struct stet_leaves in = gather_operands(l, op, 0, data_operands(op));
    struct stet_attrs attrs = {.count = 0};
    const struct stet_type **types;
    uint32_t n;

    if (!stet_op_attr(op, "largest")) {
        stet_legalize_fail(l, STET_UNSUPPORTED, op, "the smallest instead of the largest");
        return;
    }
    types = result_types(l, op, &n);
    stet_legalize_put(&attrs, "k", stet_op_attr(op, "k"));
    if (types)
        bind(l, op,
             stet_legalize_emit(l, "chlo.top_k", op, in.at, in.count, types, n, &attrs, NULL, 0),
             n);
}

/* ---- all other opcodes ---- */

/* The attributes that name the computations which become regions, in StableHLO's order. */
static uint16_t region_names(uint32_t known, const char *names[2])
{
    switch (known) {
    case STET_HLO_WHILE:
        names[0] = "condition";
        names[1] = "body";
        return 2;
    case STET_HLO_SELECT_AND_SCATTER:
        names[0] = "select";
        names[1] = "scatter";
        return 2;
    case STET_HLO_REDUCE:
    case STET_HLO_REDUCE_WINDOW:
    case STET_HLO_MAP:
    case STET_HLO_SORT:
    case STET_HLO_SCATTER:
    case STET_HLO_ALL_REDUCE:
    case STET_HLO_REDUCE_SCATTER:
        names[0] = "to_apply";
        return 1;
    default:
        return 0;
    }
}

static void usual(struct stet_legal *l, const struct stet_op *op, const char *name)
{
    const char *names[2];
    uint16_t count = region_names(op->known, names);
    struct stet_region *regions = STET_NEW_ARRAY(l->a, struct stet_region, count);
    struct stet_leaves in = gather_operands(l, op, 0, data_operands(op));
    struct stet_attrs attrs = {.count = 0};
    const struct stet_type **types;
    uint32_t n;

    types = result_types(l, op, &n);
    if (!regions || !types)
        return;
    for (uint16_t i = 0; i < count; i++)
        if (!stet_legalize_region(l, &regions[i], stet_op_attr(op, names[i]), NULL, 0,
                                  "stablehlo.return"))
            return;
    stet_legalize_attrs(l, op, &attrs);
    bind(l, op, stet_legalize_emit(l, name, op, in.at, in.count, types, n, &attrs, regions, count),
         n);
}

void stet_legalize_op(struct stet_legal *l, const struct stet_op *op)
{
    const char *name = counterpart(op->known);

    if (!data_operands(op) &&
        (op->known == STET_HLO_COPY || op->known == STET_HLO_DOMAIN ||
         op->known == STET_HLO_ADD_DEPENDENCY || op->known == STET_HLO_GET_TUPLE_ELEMENT ||
         op->known == STET_HLO_COMPARE)) {
        stet_legalize_fail(l, STET_BAD_INPUT, op, "has no operand");
        return;
    }
    switch (op->known) {
    case STET_HLO_COPY:
    case STET_HLO_DOMAIN:
    case STET_HLO_ADD_DEPENDENCY:
        alias(l, op);
        break;
    case STET_HLO_TUPLE:
        tuple(l, op);
        break;
    case STET_HLO_GET_TUPLE_ELEMENT:
        element(l, op);
        break;
    case STET_HLO_CONSTANT:
        constant(l, op);
        break;
    case STET_HLO_RNG:
        rng(l, op);
        break;
    case STET_HLO_AFTER_ALL:
        after_all(l, op);
        break;
    case STET_HLO_CALL:
    case STET_HLO_FUSION:
        call(l, op);
        break;
    case STET_HLO_CONDITIONAL:
        conditional(l, op);
        break;
    case STET_HLO_ALL_TO_ALL:
        all_to_all(l, op);
        break;
    case STET_HLO_TOPK:
        top_k(l, op);
        break;
    default:
        if (name)
            usual(l, op, name);
        else
            stet_legalize_fail(l, STET_UNSUPPORTED, op, "has no counterpart in StableHLO");
    }
    if (l->a->failed)
        stet_legalize_fail(l, STET_LIMIT, NULL, "memory cap");
}
