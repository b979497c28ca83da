/* Would a bounded dimension have absorbed a changed size? Every operation that the size reaches is
 * compared with what XLA's inference of dynamic dimensions supports
 * (xla/service/dynamic_dimension_inference.cc): where it gives up, one program cannot serve all
 * sizes.
 *
 * This needs no propagation rules to find the dimensions that the size reaches: they are those in
 * which the two programs, matched operation by operation, differ. */
#include "explain/changes.h"

#include "explain/words.h"
#include "program/ops.h"

static bool is_shaped(const struct stet_type *t)
{
    return t->kind == STET_TYPE_TENSOR && t->rank <= 64;
}

/* Bit d: dimension d has another size. */
static uint64_t moved_dims(const struct stet_value *x, const struct stet_value *y)
{
    uint64_t bits = 0;

    if (!is_shaped(x->type) || !is_shaped(y->type) || x->type->rank != y->type->rank)
        return 0;
    for (uint32_t d = 0; d < x->type->rank; d++)
        if (x->type->dims[d] != y->type->dims[d])
            bits |= UINT64_C(1) << d;
    return bits;
}

static bool has(uint64_t bits, uint32_t d)
{
    return d < 64 && bits >> d & 1;
}

/* "dynamic-slice" of HLO is "dynamic_slice". */
static bool is_named(struct stet_view v, const char *name)
{
    if (v.len != strlen(name))
        return false;
    for (size_t i = 0; i < v.len; i++)
        if (v.ptr[i] != name[i] && !(v.ptr[i] == '-' && name[i] == '_'))
            return false;
    return true;
}

static bool is_one_of(struct stet_view v, const char *const *names)
{
    for (; *names; names++)
        if (is_named(v, *names))
            return true;
    return false;
}

/* ---- rules ---- */

/* NULL if the dimension passes, else the reason; a literal. */
typedef const char *rule(const struct stet_op *op, const uint64_t *moved);

static int64_t dim(const struct stet_value *v, uint32_t d)
{
    return v->type->dims[d];
}

static const char *of_dynamic_slice(const struct stet_op *op, const uint64_t *moved)
{
    const struct stet_value *from = stet_op_operand(op, 0), *to = &op->results[0];

    for (uint32_t d = 0; d < to->type->rank && d < from->type->rank; d++)
        if (has(moved[0], d) && dim(to, d) != 1 && dim(to, d) != dim(from, d))
            return "takes a part of the dimension at a start that is not known before";
    return NULL;
}

static const char *of_update(const struct stet_op *op, const uint64_t *moved)
{
    const struct stet_value *whole = stet_op_operand(op, 0), *part = stet_op_operand(op, 1);

    for (uint32_t d = 0; d < whole->type->rank && d < part->type->rank; d++)
        if ((has(moved[0], d) || has(moved[1], d)) && dim(whole, d) != dim(part, d))
            return "overwrites a part of the dimension";
    return NULL;
}

static int64_t int_at(const struct stet_attr *a, uint32_t i)
{
    int64_t v;

    if (a->kind == STET_ATTR_INTS && i < a->count)
        return a->ints[i];
    if ((a->kind != STET_ATTR_DENSE_ARRAY && a->kind != STET_ATTR_DENSE) ||
        (i + 1) * sizeof v > stet_attr_bytes(a).len)
        return -1;
    memcpy(&v, stet_attr_bytes(a).ptr + i * sizeof v, sizeof v);
    return v;
}

static const char *of_gather(const struct stet_op *op, const uint64_t *moved)
{
    const struct stet_value *data = stet_op_operand(op, 0);
    const struct stet_attr *sizes = stet_op_attr(op, "slice_sizes");

    for (uint32_t d = 0; sizes && d < data->type->rank; d++)
        if (has(moved[0], d) && int_at(sizes, d) != 1 && int_at(sizes, d) != dim(data, d))
            return "gathers windows along the dimension";
    return NULL;
}

/* The dimension may be merged with others, but not split, because it is unknown which part would
 * vary. */
static const char *of_reshape(const struct stet_op *op, const uint64_t *moved)
{
    const struct stet_type *x = stet_op_operand(op, 0)->type, *y = op->results[0].type;
    uint32_t i = 0, k = 0;

    while (i < x->rank && k < y->rank) {
        uint32_t from = i, to = k, parts = 0, whole = 0;
        int64_t left = x->dims[i++], right = y->dims[k++];

        while (left != right) {
            if (left < right && i < x->rank)
                left *= x->dims[i++];
            else if (right < left && k < y->rank)
                right *= y->dims[k++];
            else
                return NULL; /* sizes that do not fit: not judged here */
        }
        for (uint32_t d = from; d < i; d++)
            whole += x->dims[d] != 1;
        for (uint32_t d = to; d < k; d++)
            parts += y->dims[d] != 1;
        for (uint32_t d = from; d < i; d++)
            if (has(moved[0], d) && parts > 1 && parts >= whole)
                return "takes the dimension apart";
    }
    return NULL;
}

static const char *of_convolution(const struct stet_op *op, const uint64_t *moved)
{
    const struct stet_attr *numbers = stet_op_attr(op, "dimension_numbers");
    const struct stet_attr *spatial =
        numbers ? stet_attr_field(numbers, "input_spatial_dimensions") : NULL;

    for (uint32_t i = 0; spatial && i < spatial->count; i++)
        if (has(moved[0], (uint32_t)int_at(spatial, i)))
            return "convolves along the dimension";
    return NULL;
}

static const char *refused(const struct stet_op *op, const uint64_t *moved)
{
    (void)op;
    (void)moved;
    return "needs a fixed size";
}

static const char *of_custom_call(const struct stet_op *op, const uint64_t *moved)
{
    static const char *const passing[] = {"Sharding", "annotate_device_placement",
                                          "SPMDFullToShardShape", "SPMDShardToFullShape"};
    const struct stet_attr *target = stet_op_attr(op, "call_target_name");

    (void)moved;
    target = target ? target : stet_op_attr(op, "custom_call_target");
    for (size_t i = 0; target && i < sizeof passing / sizeof *passing; i++)
        if (stet_view_is(stet_attr_text(target), passing[i]))
            return NULL;
    return "is code that is given fixed sizes";
}

static rule *find_rule(const struct stet_op *op)
{
    static const char *const fixed[] = {
        "fft",       "cholesky",          "triangular_solve",   "top_k",
        "topk",      "all_gather",        "all_reduce",         "all_to_all",
        "rng",       "reduce_scatter",    "collective_permute", "collective_broadcast",
        "composite", "rng_bit_generator", "bitcast_convert",    NULL};
    static const struct {
        const char *name;
        rule *check;
    } rules[] = {{"dynamic_slice", of_dynamic_slice},
                 {"dynamic_update_slice", of_update},
                 {"gather", of_gather},
                 {"reshape", of_reshape},
                 {"convolution", of_convolution},
                 {"custom_call", of_custom_call}};
    struct stet_view name = stet_words_mnemonic(op);

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (is_named(name, rules[i].name))
            return rules[i].check;
    return is_one_of(name, fixed) || !op->known ? refused : NULL;
}

static const char *passes(const struct stet_op *op, const uint64_t *moved)
{
    (void)op;
    (void)moved;
    return NULL;
}

/* Names are looked up once for each operation that this build knows. */
struct rules {
    rule *of[STET_KNOWN_OPS];
};

static rule *rule_of(struct rules *r, const struct stet_op *op)
{
    rule *found = op->known ? r->of[op->known] : NULL;

    if (found)
        return found;
    found = find_rule(op);
    found = found ? found : passes;
    if (op->known)
        r->of[op->known] = found;
    return found;
}

/* ---- the whole program ---- */

enum { OPERANDS = 8 };

static const char *forbids(struct rules *r, const struct stet_op *a, const struct stet_op *b)
{
    uint64_t moved[OPERANDS] = {0}, any = 0;
    rule *check = rule_of(r, b);

    if (check == passes || a->operand_count != b->operand_count || !b->operand_count ||
        !b->result_count)
        return NULL;
    for (uint32_t i = 0; i < b->operand_count && i < OPERANDS; i++) {
        moved[i] = moved_dims(stet_op_operand(a, i), stet_op_operand(b, i));
        any |= moved[i];
    }
    return any ? check(b, moved) : NULL;
}

/* Plumbing is not matched with anything: a reshape between two operations is judged at its user. */
static const char *forbids_held(struct stet_comparison *c, struct rules *r, const struct stet_op *a,
                                const struct stet_op *b, const struct stet_op **which)
{
    for (uint32_t i = 0; i < b->operand_count && i < a->operand_count; i++) {
        const struct stet_value *x = stet_op_operand(a, i), *y = stet_op_operand(b, i);

        for (int n = 0; n < STET_PLUMBING_DEPTH && stet_value_def(x) && stet_value_def(y); n++) {
            const struct stet_op *in_a = stet_value_def(x), *in_b = stet_value_def(y);
            const char *why;

            if (!stet_kind_is_plumbing(stet_canon_kind(&c->b->canon, in_b)) ||
                !stet_kind_is_plumbing(stet_canon_kind(&c->a->canon, in_a)))
                break;
            why = forbids(r, in_a, in_b);
            if (why) {
                *which = in_b;
                return why;
            }
            x = stet_op_operand(in_a, 0);
            y = stet_op_operand(in_b, 0);
        }
    }
    return NULL;
}

void stet_explain_compare_bounded(struct stet_comparison *c)
{
    struct stet_bounded *out = &c->out->bounded;
    struct rules rules = {{NULL}};

    if (!c->shape_moved || c->rank_moved || !c->out->same_skeleton)
        return;
    out->known = true;
    for (uint32_t id = 0; id < c->b->program->op_count; id++) {
        const struct stet_op *b = c->b->ops[id], *a = b ? c->b->match[id] : NULL;
        const struct stet_op *which = b;
        const char *why = a ? forbids(&rules, a, b) : NULL;

        if (a && !why)
            why = forbids_held(c, &rules, a, b, &which);
        if (why) {
            out->forbids = which;
            out->why = why;
            return;
        }
    }
}
