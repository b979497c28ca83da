/* One walk in canonical order fills the streams of skeleton, facets and key.
 *
 * The walk starts at a block's terminator and follows operands backwards, so the order in which
 * independent operations were written does not matter. An operation is written after everything it
 * uses. Uses are written as canonical numbers, never as SSA numbers. Constants and plumbing
 * (canon.def) are not operations here: each *use* writes their content into the facets, so it does
 * not matter whether equal constants were merged. Operations that are pure and reach no result are
 * in the key alone.
 *
 * The key's own stream contains what the others leave out: ids, which are positions in the
 * program's text and so give the order of operations and which uses share a constant; and
 * attributes that only number things or follow from others. */
#include "fingerprint/facet_walk.h"

#include "base/vec.h"
#include "program/defaults.h"
#include "program/ops.h"

static void write_layout(struct walk *w, const struct stet_type *t)
{
    struct stet_sink *s = sink(w, STET_FACET_LAYOUTS);

    stet_sink_varint(s, w->written);
    for (uint32_t i = 0; stet_type_rest(t)->layout && i < t->rank; i++)
        stet_sink_int(s, stet_type_rest(t)->layout[i]);
    stet_sink_view(s, stet_type_rest(t)->layout_extra);
}

/* Writes a type into shapes, ranks, dtypes and layouts. */
static void write_type(struct walk *w, const struct stet_type *t, unsigned depth)
{
    const struct stet_type_memo *memo = stet_canon_type(w->canon, t);

    if (memo->shaped) {
        put(sink(w, STET_FACET_SHAPES), &memo->dims);
        stet_sink_varint(sink(w, STET_FACET_RANKS), t->kind == STET_TYPE_UNRANKED ? UINT32_MAX
                                                    : t->kind == STET_TYPE_UNRANKED_MEMREF
                                                        ? UINT32_MAX - 1
                                                        : t->rank);
        put(sink(w, STET_FACET_DTYPES), &memo->dtype);
        if (!memo->plain)
            write_layout(w, t);
        if (stet_type_rest(t)->encoding && !stet_type_rest(t)->bounds)
            stet_content_attr(sink(w, STET_FACET_ATTRIBUTES), stet_type_rest(t)->encoding, NULL);
    } else if (t->kind == STET_TYPE_TUPLE && depth < STET_MAX_DEPTH) {
        stet_sink_varint(sink(w, STET_SINK_SKELETON), t->member_count);
        for (uint32_t i = 0; i < t->member_count; i++)
            write_type(w, t->members[i], depth + 1);
    } else {
        put(sink(w, STET_FACET_DTYPES), &memo->dtype);
    }
}

/* The same, inlined for common tensors. */
static inline void put_type(struct walk *w, const struct stet_type *t)
{
    const struct stet_type_memo *memo = stet_canon_type(w->canon, t);
    struct stet_sink *sinks = w->sinks;

    if (__builtin_expect(!memo->simple, 0)) {
        write_type(w, t, 0);
        return;
    }
    put_tiny(&sinks[STET_FACET_SHAPES], &memo->dims);
    stet_sink_u8(&sinks[STET_FACET_RANKS], memo->rank);
    put_tiny(&sinks[STET_FACET_DTYPES], &memo->dtype);
}

static inline void new_value(struct walk *w, const struct stet_value *v)
{
    w->numbers[v->id] = ++w->values;
    put_type(w, v->type);
}

/* ---- constants ---- */

static void write_constant(struct walk *w, const struct stet_op *op)
{
    struct stet_sink *s = sink(w, STET_FACET_CONSTANTS);

    see(w, op);
    put_type(w, op->results[0].type);
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_attr_memo *memo = stet_canon_memo(w->canon, op, &op->attrs[i]);

        if (memo->class == STET_CLASS_VALUE)
            put(s, &memo->content);
        else
            stet_facet_walk_attr(w, op, &op->attrs[i], memo);
    }
}

/* ---- uses ---- */

/* stet_value_def and stet_op_operands for the walk, which follows operands through the whole
 * program. Nearly all values are an operation's only result, and a processor that predicts this
 * fetches the next operation early. The empty asm keeps compilers from merging the two cases into
 * branchless code. */
static inline const struct stet_op *op_of(const struct stet_value *v)
{
    if (__builtin_expect(v->index != 0, 0))
        return stet_value_def(v);
    __asm__("" : "+r"(v));
    return (const struct stet_op *)((uintptr_t)v - sizeof(struct stet_op));
}

static inline struct stet_value *const *operands_of(const struct stet_op *op)
{
    if (__builtin_expect(op->result_count != 1, 0))
        return stet_op_operands(op);
    __asm__("" : "+r"(op));
    return (struct stet_value *const *)((uintptr_t)op + sizeof *op + sizeof op->results[0]);
}

/* A numbered position (operation and operand) in a stream, so that the content of plumbing stays at
 * its use. */
struct place {
    unsigned char bytes[STET_SINK_TINY];
    size_t length;
    uint32_t operand;
};

static inline struct place place_of(const struct walk *w, uint32_t operand)
{
    struct place p = {.operand = operand};

    p.length = (size_t)(stet_put_varint(stet_put_varint(p.bytes, w->written), operand) - p.bytes);
    return p;
}

static inline unsigned char *put_place(const struct place *p, unsigned char *at)
{
    return stet_put_tiny(at, p->bytes, p->length);
}

/* Writes something short at its position. */
static inline void put_placed(struct walk *w, unsigned facet, const struct place *p,
                              const struct stet_short *v)
{
    struct stet_sink *s = sink(w, facet);
    unsigned char *at = put_place(p, stet_sink_begin(s));

    stet_sink_end(s, stet_put_short(at, v->bytes, v->length));
}

/* Broadcasting to more of the same dimensions has no effect on axes. */
static bool keeps_axes(const struct stet_op *op, const struct stet_attr_memo *axes)
{
    uint32_t rank = op->results[0].type->rank;

    return rank == stet_op_operand(op, 0)->type->rank && rank <= axes->in_place;
}

static void write_plumbing_attrs(struct walk *w, const struct stet_op *op, struct place *p)
{
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_named_attr *n = &op->attrs[i];
        const struct stet_attr_memo *memo = stet_canon_memo(w->canon, op, n);
        unsigned class = memo->class;

        if (memo->silent || class == STET_CLASS_NAMES)
            continue;
        if (class >= STET_CLASS_SKELETON) /* a Sharding call's own target and version */
            class = STET_SINK_KEY;
        if (class == STET_CLASS_AXES && keeps_axes(op, memo))
            continue;
        if (!memo->symbols) {
            put_placed(w, class, p, &memo->content);
        } else {
            const struct stet_symbol_writer symbols = {stet_facet_walk_symbol, w};
            struct stet_sink *s = sink(w, class);

            stet_sink_end(s, put_place(p, stet_sink_begin(s)));
            stet_content_attr(s, n->value, &symbols);
            *p = place_of(w, p->operand); /* a function that it names may have been written */
        }
    }
}

/* Writes what one piece of plumbing did to a value on its way to a use. */
static void write_plumbing(struct walk *w, const struct stet_op *op, enum stet_kind kind,
                           struct place *p)
{
    const struct stet_type_memo *memo = stet_canon_type(w->canon, op->results[0].type);

    see(w, op);
    put_id(w, op->id);
    if (kind == STET_KIND_CONVERT)
        put_placed(w, STET_FACET_DTYPES, p, &memo->dtype);
    else if (kind != STET_KIND_CONSTRAINT)
        put_placed(w, STET_FACET_SHAPES, p, &memo->dims);
    if (__builtin_expect(!memo->plain, 0))
        write_layout(w, memo->type);
    write_plumbing_attrs(w, op, p);
}

/* Writes a use of a constant, or of a value through plumbing. */
__attribute__((noinline)) static void write_held(struct walk *w, const struct stet_value *v,
                                                 uint32_t operand)
{
    const struct stet_type *as = v->type; /* what the user sees */
    struct place place = place_of(w, operand);
    enum stet_kind kind = STET_KIND_NONE;
    const struct stet_op *def = NULL;

    for (int i = 0; !v->argument; i++) {
        def = op_of(v);
        kind = stet_canon_kind(w->canon, def);
        if (!stet_kind_is_plumbing(kind) || i == STET_PLUMBING_DEPTH)
            break;
        write_plumbing(w, def, kind, &place);
        kind = STET_KIND_NONE;
        v = stet_op_operand(def, 0);
    }
    if (has_rank(as) && as->rank != v->type->rank) {
        struct stet_sink *s = sink(w, STET_FACET_RANKS);
        unsigned char *at = put_place(&place, stet_sink_begin(s));

        stet_sink_end(s, stet_put_varint(at, as->rank));
    }
    if (kind == STET_KIND_CONSTANT) {
        stet_sink_u8(sink(w, STET_SINK_SKELETON), 0);
        put_id(w, def->id);
        write_constant(w, def);
    } else {
        int32_t number = w->numbers[v->id];

        stet_sink_varint(sink(w, STET_SINK_SKELETON), number > 0 ? (uint32_t)number + 1 : 1);
    }
}

enum { BATCH = 32 };

_Static_assert(BATCH * 10 + 32 < STET_SINK_BATCH, "a number takes ten bytes at most");

/* Writes which values operands `first` to `end` are, after the stream's content up to `at`. */
static inline unsigned char *write_uses(struct walk *w, struct stet_value *const *operands,
                                        uint32_t first, uint32_t end, unsigned char *at)
{
    const int32_t *numbers = w->numbers;

    for (uint32_t i = first; i < end; i++) {
        const struct stet_value *v = operands[i];
        int32_t number = numbers[v->id];

        if (number >= 0) { /* 0: it uses itself, in a graph region */
            at = stet_put_varint(at, (uint32_t)number + 1);
        } else {
            stet_sink_end(sink(w, STET_SINK_SKELETON), at);
            write_held(w, v, i);
            at = stet_sink_begin(sink(w, STET_SINK_SKELETON));
        }
    }
    return at;
}

/* ---- operations ---- */

/* Notes that an operation is written now, and its position in the text. */
static inline void begin_op(struct walk *w, const struct stet_op *op)
{
    if (__builtin_expect(w->order != NULL, 0))
        w->order[w->written] = op;
    w->written++;
    put_id(w, op->id);
}

__attribute__((noinline)) static void write_any_op(struct walk *w, const struct stet_op *op)
{
    struct stet_sink *skeleton = sink(w, STET_SINK_SKELETON);
    struct stet_value *const *operands = stet_op_operands(op);
    uint32_t count = op->operand_count;

    begin_op(w, op);
    stet_sink_u64(skeleton, stet_canon_op_hash(w->canon, op));
    stet_sink_varint(skeleton, count);
    for (uint32_t first = 0, end; first < count; first = end) {
        end = count - first > BATCH ? first + BATCH : count;
        stet_sink_end(skeleton, write_uses(w, operands, first, end, stet_sink_begin(skeleton)));
    }
    for (uint32_t i = 0; i < op->attr_count; i++)
        stet_facet_walk_put_attr(w, op, &op->attrs[i]);
    stet_sink_varint(skeleton, op->result_count);
    for (uint32_t i = 0; i < op->result_count; i++)
        new_value(w, &op->results[i]);
    for (unsigned i = 0; op->branches && i < stet_op_successor_count(op); i++)
        stet_sink_varint(skeleton, stet_op_successor_place(op, i));
    stet_sink_varint(skeleton, op->region_count);
    for (unsigned i = 0; i < op->region_count; i++)
        stet_facet_walk_region(w, stet_op_region(op, i));
}

/* The same with a fast path for the common case: one result, a few operands, no regions. */
static inline void write_op(struct walk *w, const struct stet_op *op)
{
    struct stet_sink *skeleton = sink(w, STET_SINK_SKELETON);
    uint32_t count = op->operand_count;
    unsigned char *at;

    if (__builtin_expect(count > BATCH || op->result_count != 1 || op->branches || op->region_count,
                         0)) {
        write_any_op(w, op);
        return;
    }
    begin_op(w, op);
    at = stet_put_u64(stet_sink_begin(skeleton), stet_canon_op_hash(w->canon, op));
    *at++ = (unsigned char)count;
    at = write_uses(w, (struct stet_value *const *)&op->results[1], 0, count, at);
    if (op->attr_count) {
        stet_sink_end(skeleton, at);
        for (uint32_t i = 0; i < op->attr_count; i++)
            stet_facet_walk_put_attr(w, op, &op->attrs[i]);
        at = stet_sink_begin(skeleton);
    }
    *at++ = 1;
    stet_sink_end(skeleton, at);
    new_value(w, &op->results[0]);
    stet_sink_u8(skeleton, 0);
}

enum { FIRST_FRAMES = 256 };

/* Pushes an operation while the operations that it uses are written. */
static bool push(struct walk *w, const struct stet_op *op, uint32_t next)
{
    if (__builtin_expect(w->stack_used == w->stack_room, 0) &&
        !stet_vec_grow(&w->stack, &w->stack_room, w->stack_used, FIRST_FRAMES, sizeof *w->stack,
                       0)) {
        w->rc = STET_NO_MEMORY;
        return false;
    }
    w->stack[w->stack_used++] = (struct frame){op, next};
    return true;
}

/* The operation that must be written before a value without a number can be used, or NULL. Marks
 * values that never get a number. */
static const struct stet_op *unwritten(struct walk *w, const struct stet_value *v)
{
    for (int i = 0; !v->argument; i++) {
        const struct stet_op *op = op_of(v);
        enum stet_kind kind = stet_canon_kind(w->canon, op);

        if (kind == STET_KIND_CONSTANT) {
            w->numbers[v->id] = CONSTANT;
            break;
        }
        if (!stet_kind_is_plumbing(kind) || i == STET_PLUMBING_DEPTH)
            return w->seen[op->id] ? NULL : op;
        if (!w->numbers[v->id])
            w->numbers[v->id] = PLUMBING;
        v = stet_op_operand(op, 0);
        if (!needs_number(w->numbers[v->id]))
            break;
    }
    return NULL;
}

/* The next operation, from operand *next on, that `op` uses and that was not seen; or NULL. */
static inline const struct stet_op *next_used(struct walk *w, const struct stet_op *op,
                                              uint32_t *next)
{
    struct stet_value *const *operands = operands_of(op);
    const int32_t *numbers = w->numbers;

    for (uint32_t i = *next, count = op->operand_count; i < count; i++) {
        const struct stet_op *used;

        if (!needs_number(numbers[operands[i]->id]))
            continue;
        used = unwritten(w, operands[i]);
        if (used) {
            *next = i + 1;
            return used;
        }
    }
    return NULL;
}

/* Writes `op` after everything it uses that has not been written. Iterative, because chains of
 * operands can be as long as the program. */
__attribute__((hot)) static void reach(struct walk *w, const struct stet_op *op)
{
    uint32_t base = w->stack_used, next = 0;

    if (w->seen[op->id])
        return;
    mark_seen(w, op);
    for (;;) {
        const struct stet_op *used = next_used(w, op, &next);

        if (used) {
            if (!push(w, op, next))
                break;
            mark_seen(w, used);
            op = used;
            next = 0;
            continue;
        }
        write_op(w, op);
        if (w->stack_used == base || w->rc != STET_OK)
            break;
        w->stack_used--;
        op = w->stack[w->stack_used].op;
        next = w->stack[w->stack_used].next;
    }
    w->stack_used = base;
}

/* ---- operations that no result needs ---- */

static bool write_place(struct stet_sink *s, struct stet_view name, void *context)
{
    struct walk *w = context;
    const struct stet_op *op = stet_canon_symbol(w->canon, name, NULL);

    if (!op || stet_canon_kind(w->canon, op) == STET_KIND_MESH)
        return stet_facet_walk_symbol(s, name, w);
    stet_sink_varint(s, op->id);
    return true;
}

/* An operation without effect: written to the key alone, in the order of the text. */
static void write_unused(struct walk *w, const struct stet_op *op)
{
    const struct stet_symbol_writer symbols = {write_place, w};
    struct stet_sink *s = sink(w, STET_SINK_KEY);

    see(w, op);
    put_id(w, op->id);
    stet_sink_u64(s, stet_canon_op_hash(w->canon, op));
    stet_sink_varint(s, op->operand_count);
    for (uint32_t i = 0; i < op->operand_count; i++)
        put_id(w, stet_op_operand(op, i)->id);
    for (uint32_t i = 0; i < op->result_count; i++)
        put(s, &stet_canon_type(w->canon, op->results[i].type)->content);
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct stet_attr_memo *memo = stet_canon_memo(w->canon, op, &op->attrs[i]);

        if (memo->silent || memo->class == STET_CLASS_NAMES)
            continue;
        stet_sink_u64(s, memo->name_hash);
        if (memo->symbols)
            stet_content_attr(s, op->attrs[i].value, &symbols);
        else
            put(s, &memo->content);
    }
    stet_sink_varint(s, op->region_count);
    for (unsigned r = 0; r < op->region_count; r++) /* no deeper than the reader went */
        for (uint32_t b = 0; b < stet_op_region(op, r)->block_count; b++) {
            const struct stet_block *block = stet_op_region(op, r)->blocks[b];

            for (uint32_t i = 0; i < block->arg_count; i++)
                put(s, &stet_canon_type(w->canon, block->args[i].type)->content);
            for (uint32_t i = 0; i < block->op_count; i++)
                write_unused(w, block->ops[i]);
        }
}

void stet_facet_walk_rest(struct walk *w, const struct stet_block *b)
{
    for (uint32_t i = 0; i < b->op_count; i++)
        if (!w->seen[b->ops[i]->id] && stet_canon_kind(w->canon, b->ops[i]) == STET_KIND_PLAIN &&
            !stet_op_is_pure(b->ops[i]))
            reach(w, b->ops[i]);
    for (uint32_t i = 0; i < b->op_count; i++)
        if (!w->seen[b->ops[i]->id])
            write_unused(w, b->ops[i]);
}

static void write_block(struct walk *w, const struct stet_block *b)
{
    const struct stet_block *around = w->block;
    uint32_t around_seen = w->block_seen;

    w->block = b;
    w->block_seen = 0;
    for (uint32_t i = 0; i < b->arg_count; i++)
        new_value(w, &b->args[i]);
    if (b->op_count)
        reach(w, b->ops[b->op_count - 1]);
    if (w->block_seen != b->op_count)
        stet_facet_walk_rest(w, b);
    w->block = around;
    w->block_seen = around_seen;
}

void stet_facet_walk_region(struct walk *w, const struct stet_region *r)
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
