/* Where the value of an argument goes in a program: shows the purpose of one that was added,
 * removed or changed its size. */
#include "explain/history_internal.h"

#include "base/mem.h"
#include "explain/words.h"

struct reach {
    const struct stet_program *program;
    uint8_t *met; /* by value id */
    bool selects; /* it is an index of a gather or a scatter */
    bool outputs; /* it is part of what is written back */
    bool others;  /* it has other uses than scaling what is written back */
};

static bool is_elementwise(struct stet_view name)
{
    static const char *const names[] = {
        "multiply",  "add",  "subtract", "divide",  "negate",  "convert", "reshape",
        "broadcast", "sqrt", "rsqrt",    "maximum", "minimum", "power",   "broadcast_in_dim",
        NULL};

    return stet_view_in(name, names);
}

/* Is there a donated argument whose place this value could take? */
static bool is_written_back(const struct stet_program *p, const struct stet_type *t)
{
    for (uint32_t i = 0; i < p->argument_count; i++)
        if ((p->arguments[i].donor || p->arguments[i].alias >= 0) &&
            stet_type_eq(p->arguments[i].value->type, t))
            return true;
    return false;
}

static bool follow(const struct stet_op *op, void *context)
{
    struct reach *r = context;
    struct stet_view name = stet_words_mnemonic(op);
    bool met = false, ends = stet_view_is(name, "return") || stet_view_is(name, "tuple");

    for (uint32_t i = 0; i < op->operand_count; i++) {
        const struct stet_value *v = stet_op_operand(op, i);

        if (!r->met[v->id])
            continue;
        met = true;
        r->selects |= i && (stet_view_is(name, "gather") || stet_view_is(name, "scatter"));
        if (ends && is_written_back(r->program, v->type))
            r->outputs = true;
        else if (ends)
            r->others = true;
    }
    if (!met || ends)
        return true;
    r->others |= !is_elementwise(name);
    for (uint32_t i = 0; i < op->result_count; i++)
        r->met[op->results[i].id] = 1;
    return true;
}

/* False when out of memory, which is only less evidence. */
static bool reach_of(struct reach *r, const struct stet_program *p, const struct stet_value *from)
{
    *r = (struct reach){.program = p, .met = stet_mem_calloc((size_t)p->value_count + 1, 1)};
    if (!r->met)
        return false;
    r->met[from->id] = 1;
    stet_program_walk(p, follow, r);
    stet_mem_free(r->met);
    return true;
}

/* A number of the optimizer only scales, element by element, what replaces donated arguments. A
 * number of the model goes through its products and sums as well. */
bool stet_facts_scales_update(const struct stet_program *p, const struct stet_argument *a)
{
    struct reach r;

    return a->value->type->kind == STET_TYPE_TENSOR && !a->value->type->rank &&
           reach_of(&r, p, a->value) && r.outputs && !r.others;
}

struct columns {
    const struct stet_value *value;
    uint32_t columns, others;
};

static bool count_columns(const struct stet_op *op, void *context)
{
    struct columns *c = context;
    const struct stet_type *t = op->result_count ? op->results[0].type : NULL;

    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (stet_op_operand(op, i) != c->value)
            continue;
        if (t && t->rank >= 1 && stet_view_is(stet_words_mnemonic(op), "slice") &&
            t->dims[t->rank - 1] == 1)
            c->columns++;
        else if (!stet_view_is(stet_words_mnemonic(op), "reshape"))
            c->others++;
    }
    return true;
}

/* Positions as `nonzero` returns them: a row for each, a column for each dimension, and the columns
 * are indices. A list of indices that a user passes has no columns. */
bool stet_facts_is_selection(const struct stet_program *p, const struct stet_argument *a)
{
    const struct stet_type *t = a->value->type;
    struct columns c = {a->value, 0, 0};
    struct reach r;

    if (t->kind != STET_TYPE_TENSOR || t->rank != 2 || !t->element ||
        t->element->kind != STET_TYPE_INTEGER || t->dims[1] < 1 || t->dims[1] > 8)
        return false;
    stet_program_walk(p, count_columns, &c);
    return !c.others && (c.columns == t->dims[1] || (t->dims[1] == 1 && !c.columns)) &&
           reach_of(&r, p, a->value) && r.selects;
}

/* Does the program have a result of exactly this type? */
bool stet_facts_is_result(const struct stet_program *p, const struct stet_type *t)
{
    for (uint32_t i = 0; i < p->output_count; i++)
        if (stet_type_eq(p->outputs[i].type, t))
            return true;
    return false;
}
