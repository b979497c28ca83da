/* Writes attributes into the streams of their classes. */
#include "fingerprint/facet_walk.h"

#include "program/ops.h"

/* A function is written in full at its first use and by number afterwards; a mesh is written by its
 * content. */
bool stet_facet_walk_symbol(struct stet_sink *s, struct stet_view name, void *context)
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
        stet_facet_walk_function(w, op);
    stet_sink_varint(s, (uint64_t)w->function_numbers[op->id]);
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
    if (a && a->kind == STET_ATTR_DENSE_ARRAY && stet_attr_bytes(a).len >= (i + 1) * sizeof v)
        memcpy(&v, stet_attr_bytes(a).ptr + i * sizeof v, sizeof v);
    return v;
}

/* The end of a slice follows from its start, stride and the shape of its result, except for the
 * elements that a stride leaves over. */
static void write_slack(struct walk *w, const struct stet_op *op, const struct stet_attr *limits)
{
    const struct stet_attr *starts = stet_op_attr(op, "start_indices");
    const struct stet_attr *strides = stet_op_attr(op, "strides");
    const struct stet_type *t = op->result_count ? op->results[0].type : NULL;

    for (uint32_t i = 0; t && has_rank(t) && i < t->rank; i++) {
        uint64_t stride = strides ? (uint64_t)int_at(strides, i) : 1;
        uint64_t last = (uint64_t)int_at(starts, i) + ((uint64_t)t->dims[i] - 1) * stride;

        stet_sink_int(sink(w, STET_FACET_SLICES), (int64_t)((uint64_t)int_at(limits, i) - last));
    }
}

/* VHLO has no channel type on collectives, so only their number can count. */
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
    const struct stet_symbol_writer symbols = {stet_facet_walk_symbol, w};

    if (class == STET_CLASS_NAMES)
        return;
    if (class == STET_CLASS_LIMITS)
        write_slack(w, op, n->value);
    if (calls(n->value))
        class = STET_CLASS_SKELETON;
    else if (class == STET_CLASS_VALUE) /* not a constant, or of a kind that we cannot read */
        class = STET_CLASS_CONSTANTS;
    else if (class > STET_CLASS_SKELETON)
        class = STET_SINK_KEY;
    stet_sink_view(sink(w, class), n->name);
    stet_content_attr(sink(w, class), kept(op, n), &symbols);
}

void stet_facet_walk_attr(struct walk *w, const struct stet_op *op, const struct stet_named_attr *n,
                          const struct stet_attr_memo *memo)
{
    if (memo->silent)
        return;
    if (memo->class > STET_CLASS_SKELETON || memo->symbols) {
        write_slow_attr(w, op, n, memo->class);
        return;
    }
    stet_sink_u64(sink(w, memo->class), memo->name_hash);
    put(sink(w, memo->class), &memo->content);
}
