/* One walk in canonical order fills the streams of skeleton, facets and key.
 *
 * The walk starts at a block's terminator and goes backwards along operands, so the order in which
 * independent operations were written does not matter; an operation is written when all it uses has
 * been. What it uses is named by canonical numbers, never by SSA numbers. Constants and plumbing
 * (canon.def) are not operations here: each *use* of one writes what it says into the facets, so it
 * does not matter whether equal constants were merged.
 *
 * The key's own stream has what the others erase: ids, which are places in the program's text and
 * so tell the order of operations and which uses share a constant, and attributes that only number
 * things or follow from others. */
#include "fingerprint/internal.h"

#include "base/mem.h"
#include "program/defaults.h"
#include "program/ops.h"

struct frame {
    const struct stet_op *op;
    uint32_t next;
};

struct walk {
    struct stet_canon *canon;
    struct stet_sink *sinks;
    struct stet_order *order;
    uint32_t *numbers;          /* by value id: canonical number, 0 for none yet */
    uint32_t *function_numbers; /* by operation id, of functions: likewise */
    uint8_t *seen;              /* by operation id */
    struct frame *stack;
    uint32_t stack_used, stack_room;
    uint32_t values, functions, written;
    unsigned depth;
    enum stet_rc rc;
};

_Static_assert((int)STET_CLASS_SKELETON == (int)STET_SINK_SKELETON, "classes name streams");

static struct stet_sink *sink(struct walk *w, unsigned which)
{
    return &w->sinks[which];
}

static void put(struct stet_sink *s, const struct stet_short *v)
{
    stet_sink_short(s, v->bytes, v->length);
}

/* A place in the text. */
static void put_id(struct walk *w, uint32_t id)
{
    stet_sink_varint(sink(w, STET_SINK_KEY), id);
}

static const struct stet_type *element_of(const struct stet_type *t)
{
    return t->kind == STET_TYPE_TENSOR || t->kind == STET_TYPE_UNRANKED ||
                   t->kind == STET_TYPE_MEMREF || t->kind == STET_TYPE_VECTOR
               ? t->element
               : NULL;
}

static void write_layout(struct walk *w, const struct stet_type *t)
{
    struct stet_sink *s = sink(w, STET_FACET_LAYOUTS);

    stet_sink_varint(s, w->written);
    for (uint32_t i = 0; t->layout && i < t->rank; i++)
        stet_sink_int(s, t->layout[i]);
    stet_sink_view(s, t->layout_extra);
}

/* A type into shapes, ranks, dtypes and layouts. */
static void write_type(struct walk *w, const struct stet_type *t, unsigned depth)
{
    const struct stet_type_memo *memo = stet_canon_type(w->canon, t);

    if (memo->shaped) {
        put(sink(w, STET_FACET_SHAPES), &memo->dims);
        stet_sink_varint(sink(w, STET_FACET_RANKS),
                         t->kind == STET_TYPE_UNRANKED ? UINT32_MAX : t->rank);
        put(sink(w, STET_FACET_DTYPES), &memo->dtype);
        if (!memo->plain)
            write_layout(w, t);
        if (t->encoding && !t->bounds)
            stet_content_attr(sink(w, STET_FACET_ATTRIBUTES), t->encoding, NULL);
    } else if (t->kind == STET_TYPE_TUPLE && depth < STET_MAX_DEPTH) {
        stet_sink_varint(sink(w, STET_SINK_SKELETON), t->member_count);
        for (uint32_t i = 0; i < t->member_count; i++)
            write_type(w, t->members[i], depth + 1);
    } else {
        put(sink(w, STET_FACET_DTYPES), &memo->dtype);
    }
}

static void new_value(struct walk *w, const struct stet_value *v)
{
    w->numbers[v->id] = ++w->values;
    write_type(w, v->type, 0);
}

/* ---- constants ---- */

static void write_attr(struct walk *w, const struct stet_op *op, const struct stet_named_attr *n);

static void write_constant(struct walk *w, const struct stet_op *op)
{
    struct stet_sink *s = sink(w, STET_FACET_CONSTANTS);

    w->seen[op->id] = 1;
    write_type(w, op->results[0].type, 0);
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_attr_memo *memo = stet_canon_memo(w->canon, op, &op->attrs[i]);

        if (memo->class == STET_CLASS_VALUE)
            put(s, &memo->content);
        else
            write_attr(w, op, &op->attrs[i]);
    }
}

/* ---- uses ---- */

static bool write_symbol(struct stet_sink *s, struct stet_view name, void *context);

/* A numbered place in a facet's stream, so that what plumbing says stays where it was said. */
static struct stet_sink *place(struct walk *w, unsigned facet, uint32_t operand)
{
    struct stet_sink *s = sink(w, facet);

    stet_sink_varint(s, w->written);
    stet_sink_varint(s, operand);
    return s;
}

/* Broadcasting to more of the same dimensions says nothing about axes. */
static bool keeps_axes(const struct stet_op *op, const struct stet_attr *a)
{
    if (op->results[0].type->rank != stet_op_operand(op, 0)->type->rank)
        return false;
    for (uint32_t i = 0; i < op->results[0].type->rank; i++) {
        int64_t axis = -1;

        if (a->kind == STET_ATTR_DENSE_ARRAY && a->bytes.len >= (i + 1) * sizeof axis)
            memcpy(&axis, a->bytes.ptr + i * sizeof axis, sizeof axis);
        else if (a->kind == STET_ATTR_INTS && i < a->count)
            axis = a->ints[i];
        if (axis != (int64_t)i)
            return false;
    }
    return true;
}

static void write_plumbing_attrs(struct walk *w, const struct stet_op *op, uint32_t operand)
{
    const struct stet_symbol_writer symbols = {write_symbol, w};

    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_named_attr *n = &op->attrs[i];
        const struct stet_attr_memo *memo = stet_canon_memo(w->canon, op, n);
        unsigned class = memo->class;

        if (memo->silent || class == STET_CLASS_NAMES)
            continue;
        if (class >= STET_CLASS_SKELETON) /* a Sharding call's own target and version */
            class = STET_SINK_KEY;
        if (class == STET_CLASS_AXES && keeps_axes(op, n->value))
            continue;
        if (memo->symbols)
            stet_content_attr(place(w, class, operand), n->value, &symbols);
        else
            put(place(w, class, operand), &memo->content);
    }
}

/* What one piece of plumbing did to the value on its way to a use. */
static void write_plumbing(struct walk *w, const struct stet_op *op, enum stet_kind kind,
                           uint32_t operand)
{
    const struct stet_type_memo *memo = stet_canon_type(w->canon, op->results[0].type);

    w->seen[op->id] = 1;
    put_id(w, op->id);
    if (kind == STET_KIND_CONVERT)
        put(place(w, STET_FACET_DTYPES, operand), &memo->dtype);
    else if (kind != STET_KIND_CONSTRAINT)
        put(place(w, STET_FACET_SHAPES, operand), &memo->dims);
    if (!memo->plain)
        write_layout(w, memo->type);
    write_plumbing_attrs(w, op, operand);
}

static void write_use(struct walk *w, const struct stet_value *v, uint32_t operand)
{
    enum stet_kind kind = STET_KIND_PLAIN;

    if (element_of(v->type))
        stet_sink_varint(sink(w, STET_FACET_RANKS), v->type->rank);
    for (int i = 0; stet_value_def(v) && i < STET_PLUMBING_DEPTH; i++) {
        kind = stet_canon_kind(w->canon, stet_value_def(v));
        if (!stet_kind_is_plumbing(kind))
            break;
        write_plumbing(w, stet_value_def(v), kind, operand);
        v = stet_op_operand(stet_value_def(v), 0);
    }
    if (stet_value_def(v) && stet_canon_kind(w->canon, stet_value_def(v)) == STET_KIND_CONSTANT) {
        stet_sink_u8(sink(w, STET_SINK_SKELETON), 0);
        put_id(w, stet_value_def(v)->id);
        write_constant(w, stet_value_def(v));
    } else {
        stet_sink_varint(sink(w, STET_SINK_SKELETON), (uint64_t)w->numbers[v->id] + 1);
    }
}

/* ---- attributes ---- */

static void write_function(struct walk *w, const struct stet_op *f);

/* A function is written in full where it is first used and by number afterwards; a mesh is what it
 * says. */
static bool write_symbol(struct stet_sink *s, struct stet_view name, void *context)
{
    struct walk *w = context;
    const struct stet_op *op = stet_canon_symbol(w->canon, name, NULL);

    if (!op)
        return false;
    if (stet_canon_kind(w->canon, op) == STET_KIND_MESH) {
        const struct stet_attr *mesh = stet_op_attr(op, "mesh");

        stet_content_attr(s, mesh, NULL);
        return mesh != NULL;
    }
    if (!op->region_count)
        return false;
    if (!w->function_numbers[op->id])
        write_function(w, op);
    stet_sink_varint(s, w->function_numbers[op->id]);
    return true;
}

static bool calls(const struct stet_attr *a)
{
    return a->kind == STET_ATTR_SYMBOL ||
           (a->kind == STET_ATTR_ARRAY && a->count && a->items[0]->kind == STET_ATTR_SYMBOL);
}

static int64_t int_at(const struct stet_attr *a, uint32_t i)
{
    int64_t v = 0;

    if (a && a->kind == STET_ATTR_INTS && i < a->count)
        return a->ints[i];
    if (a && a->kind == STET_ATTR_DENSE_ARRAY && a->bytes.len >= (i + 1) * sizeof v)
        memcpy(&v, a->bytes.ptr + i * sizeof v, sizeof v);
    return v;
}

/* Where a slice ends follows from its start, stride and the shape of its result, up to the elements
 * a stride leaves over. */
static void write_slack(struct walk *w, const struct stet_op *op, const struct stet_attr *limits)
{
    const struct stet_attr *starts = stet_op_attr(op, "start_indices");
    const struct stet_attr *strides = stet_op_attr(op, "strides");
    const struct stet_type *t = op->result_count ? op->results[0].type : NULL;

    for (uint32_t i = 0; t && element_of(t) && i < t->rank; i++) {
        uint64_t stride = strides ? (uint64_t)int_at(strides, i) : 1;
        uint64_t last = (uint64_t)int_at(starts, i) + ((uint64_t)t->dims[i] - 1) * stride;

        stet_sink_int(sink(w, STET_FACET_SLICES), (int64_t)((uint64_t)int_at(limits, i) - last));
    }
}

/* VHLO keeps no channel type on collectives, so only their number can count. */
static const struct stet_attr *kept(const struct stet_op *op, const struct stet_named_attr *n)
{
    const struct stet_attr *handle;

    if (!stet_view_is(n->name, "channel_handle") || (stet_op_facts(op) & STET_OP_EFFECT))
        return n->value;
    handle = stet_attr_field(n->value, "handle");
    return handle ? handle : n->value;
}

static void write_slow_attr(struct walk *w, const struct stet_op *op,
                            const struct stet_named_attr *n, unsigned class)
{
    const struct stet_symbol_writer symbols = {write_symbol, w};

    if (class == STET_CLASS_NAMES)
        return;
    if (class == STET_CLASS_LIMITS)
        write_slack(w, op, n->value);
    if (calls(n->value))
        class = STET_CLASS_SKELETON;
    else if (class == STET_CLASS_VALUE) /* not a constant, or not one we understand */
        class = STET_CLASS_CONSTANTS;
    else if (class > STET_CLASS_SKELETON)
        class = STET_SINK_KEY;
    stet_sink_view(sink(w, class), n->name);
    stet_content_attr(sink(w, class), kept(op, n), &symbols);
}

static void write_attr(struct walk *w, const struct stet_op *op, const struct stet_named_attr *n)
{
    const struct stet_attr_memo *memo = stet_canon_memo(w->canon, op, n);

    if (memo->silent)
        return;
    if (memo->class > STET_CLASS_SKELETON || memo->symbols) {
        write_slow_attr(w, op, n, memo->class);
        return;
    }
    stet_sink_u64(sink(w, memo->class), memo->name_hash);
    put(sink(w, memo->class), &memo->content);
}

/* ---- operations ---- */

static void write_region(struct walk *w, const struct stet_region *r);

/* Where among the blocks of its region a successor stands. */
static uint32_t block_place(const struct stet_op *op, const struct stet_block *target)
{
    const struct stet_op *around = op->parent ? op->parent->parent : NULL;

    for (unsigned r = 0; around && r < around->region_count; r++)
        for (uint32_t b = 0; b < stet_op_region(around, r)->block_count; b++)
            if (stet_op_region(around, r)->blocks[b] == target)
                return b + 1;
    return 0;
}

static void write_op(struct walk *w, const struct stet_op *op)
{
    struct stet_sink *skeleton = sink(w, STET_SINK_SKELETON);

    if (w->order->ops)
        w->order->ops[w->order->count] = op;
    w->order->count++;
    w->written++;
    put_id(w, op->id);
    stet_sink_u64(skeleton, stet_canon_name(w->canon, stet_op_portable_name(op))->hash);
    stet_sink_varint(skeleton, op->operand_count);
    for (uint32_t i = 0; i < op->operand_count; i++)
        write_use(w, stet_op_operand(op, i), i);
    for (uint32_t i = 0; i < op->attr_count; i++)
        write_attr(w, op, &op->attrs[i]);
    stet_sink_varint(skeleton, op->result_count);
    for (uint32_t i = 0; i < op->result_count; i++)
        new_value(w, &op->results[i]);
    for (unsigned i = 0; i < stet_op_successor_count(op); i++)
        stet_sink_varint(skeleton, block_place(op, stet_op_successors(op)[i]));
    stet_sink_varint(skeleton, op->region_count);
    for (unsigned i = 0; i < op->region_count; i++)
        write_region(w, stet_op_region(op, i));
}

static bool push(struct walk *w, const struct stet_op *op)
{
    if (w->stack_used == w->stack_room) {
        uint32_t room = w->stack_room ? w->stack_room * 2 : 256;
        struct frame *bigger = stet_mem_resize(w->stack, room, sizeof *bigger);

        if (!bigger) {
            w->rc = STET_NO_MEMORY;
            return false;
        }
        w->stack = bigger;
        w->stack_room = room;
    }
    w->seen[op->id] = 1;
    w->stack[w->stack_used++] = (struct frame){op, 0};
    return true;
}

/* Writes `root` after everything it uses that has not been written. Iterative: chains of operands
 * are as long as the program. */
static void reach(struct walk *w, const struct stet_op *root)
{
    uint32_t base = w->stack_used;

    if (w->seen[root->id] || !push(w, root))
        return;
    while (w->stack_used > base && w->rc == STET_OK) {
        struct frame *top = &w->stack[w->stack_used - 1];
        const struct stet_op *op = top->op;

        if (top->next < op->operand_count) {
            const struct stet_value *v =
                stet_canon_source(w->canon, stet_op_operand(op, top->next++));

            if (stet_value_def(v) && !w->seen[stet_value_def(v)->id] &&
                stet_canon_kind(w->canon, stet_value_def(v)) != STET_KIND_CONSTANT)
                push(w, stet_value_def(v));
            continue;
        }
        w->stack_used--;
        write_op(w, op);
    }
    w->stack_used = base;
}

/* A constant, plumbing or mesh that nothing uses: in the key alone. */
static void write_unused(struct walk *w, const struct stet_op *op)
{
    struct stet_sink *s = sink(w, STET_SINK_KEY);

    w->seen[op->id] = 1;
    put_id(w, op->id);
    stet_sink_u64(s, stet_canon_name(w->canon, stet_op_name(op))->hash);
    for (uint32_t i = 0; i < op->operand_count; i++)
        put_id(w, stet_op_operand(op, i)->id);
    for (uint32_t i = 0; i < op->result_count; i++)
        put(s, &stet_canon_type(w->canon, op->results[i].type)->content);
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_attr_memo *memo = stet_canon_memo(w->canon, op, &op->attrs[i]);

        if (!memo->silent && memo->class != STET_CLASS_NAMES)
            put(s, &memo->content);
    }
}

/* What no result needs: effects, which keep their order, and dead operations. */
static void reach_rest(struct walk *w, const struct stet_block *b)
{
    for (uint32_t i = 0; i < b->op_count; i++)
        if (!w->seen[b->ops[i]->id] && stet_canon_kind(w->canon, b->ops[i]) == STET_KIND_PLAIN)
            reach(w, b->ops[i]);
    for (uint32_t i = 0; i < b->op_count; i++)
        if (!w->seen[b->ops[i]->id])
            write_unused(w, b->ops[i]);
}

static void write_block(struct walk *w, const struct stet_block *b)
{
    for (uint32_t i = 0; i < b->arg_count; i++)
        new_value(w, &b->args[i]);
    if (b->op_count)
        reach(w, b->ops[b->op_count - 1]);
    reach_rest(w, b);
}

static void write_region(struct walk *w, const struct stet_region *r)
{
    struct stet_sink *skeleton = sink(w, STET_SINK_SKELETON);

    if (w->depth >= 2 * STET_MAX_DEPTH) {
        w->rc = STET_LIMIT;
        return;
    }
    w->depth++;
    stet_sink_varint(skeleton, r->block_count);
    for (uint32_t i = 0; i < r->block_count; i++) {
        stet_sink_varint(skeleton, r->blocks[i]->arg_count);
        write_block(w, r->blocks[i]);
    }
    stet_sink_u8(skeleton, '}');
    w->depth--;
}

/* ---- functions ---- */

static void write_dictionaries(struct walk *w, const struct stet_attr *array, bool entry)
{
    const struct stet_symbol_writer symbols = {write_symbol, w};

    for (uint32_t i = 0; array && array->kind == STET_ATTR_ARRAY && i < array->count; i++) {
        const struct stet_attr *dict = array->items[i];

        for (uint32_t j = 0; dict->kind == STET_ATTR_DICT && j < dict->count; j++) {
            const struct stet_named_attr *n = &dict->named[j];
            enum stet_attr_class class = stet_canon_attr(w->canon, n);
            unsigned stream = class > STET_CLASS_SKELETON ? (unsigned)STET_SINK_KEY : class;

            if (class == STET_CLASS_NAMES || (class == STET_CLASS_DONATION && entry))
                continue;
            stet_sink_varint(sink(w, stream), i);
            stet_sink_view(sink(w, stream), n->name);
            stet_content_attr(sink(w, stream), n->value, &symbols);
        }
    }
}

/* Donation as the index has it, since HLO says it elsewhere than MLIR. */
static void write_donation(struct walk *w)
{
    const struct stet_program *p = w->canon->program;
    struct stet_sink *s = sink(w, STET_FACET_DONATION);

    for (uint32_t i = 0; i < p->argument_count; i++) {
        if (p->arguments[i].alias < 0 && !p->arguments[i].donor)
            continue;
        stet_sink_varint(s, i);
        stet_sink_int(s, p->arguments[i].alias);
        stet_sink_u8(s, p->arguments[i].donor);
    }
}

static void write_function(struct walk *w, const struct stet_op *f)
{
    bool entry = f == w->canon->program->entry;

    w->function_numbers[f->id] = ++w->functions;
    w->seen[f->id] = 1;
    put_id(w, f->id);
    stet_sink_view(sink(w, STET_SINK_SKELETON), stet_op_name(f));
    for (uint32_t i = 0; i < f->attr_count; i++) {
        enum stet_attr_class class = stet_canon_attr(w->canon, &f->attrs[i]);

        if (class == STET_CLASS_ARG_ATTRS || class == STET_CLASS_RES_ATTRS)
            write_dictionaries(w, f->attrs[i].value, entry);
        else
            write_attr(w, f, &f->attrs[i]);
    }
    if (entry)
        write_donation(w);
    for (unsigned i = 0; i < f->region_count; i++)
        write_region(w, stet_op_region(f, i));
}

static void write_module(struct walk *w)
{
    const struct stet_program *p = w->canon->program;

    for (uint32_t i = 0; i < p->module->attr_count; i++)
        write_attr(w, p->module, &p->module->attrs[i]);
    if (p->entry)
        write_function(w, p->entry);
    for (uint32_t i = 0; i < p->function_count; i++) /* never called, or called from nowhere */
        if (!w->function_numbers[p->functions[i]->id])
            write_function(w, p->functions[i]);
    for (unsigned r = 0; r < p->module->region_count; r++)
        for (uint32_t b = 0; b < stet_op_region(p->module, r)->block_count; b++)
            reach_rest(w, stet_op_region(p->module, r)->blocks[b]);
}

enum stet_rc stet_facets_make(struct stet_canon *c, struct stet_sink sinks[STET_SINKS],
                              struct stet_order *order, struct stet_err *err)
{
    const struct stet_program *p = c->program;
    struct walk w = {.canon = c, .sinks = sinks, .order = order};
    size_t values = (size_t)p->value_count + 1, ops = (size_t)p->op_count + 1;

    w.numbers = stet_mem_calloc(values + ops, sizeof *w.numbers);
    w.seen = stet_mem_calloc(ops, 1);
    if (w.numbers && w.seen) {
        w.function_numbers = w.numbers + values;
        write_module(&w);
    } else {
        w.rc = STET_NO_MEMORY;
    }
    stet_mem_free(w.numbers);
    stet_mem_free(w.seen);
    stet_mem_free(w.stack);
    if (w.rc == STET_LIMIT)
        return stet_fail(err, w.rc, "regions and calls are nested deeper than %d",
                         2 * STET_MAX_DEPTH);
    return w.rc == STET_OK ? STET_OK : stet_fail(err, w.rc, "out of memory for a fingerprint");
}
