/* The walk that fills the streams of a fingerprint; shared by facets.c and the files beside it. */
#ifndef STET_FINGERPRINT_FACET_WALK_H
#define STET_FINGERPRINT_FACET_WALK_H

#include "fingerprint/fingerprint_internal.h"

/* Used in place of a number for a value that has none, because it is written at each use. */
enum { PLUMBING = -1, CONSTANT = -2 };

/* No number yet, or the number of the value below the plumbing. */
static inline bool needs_number(int32_t number)
{
    return (uint32_t)(number - PLUMBING) <= 1;
}

struct frame {
    const struct stet_op *op;
    uint32_t next;
};

struct walk {
    struct stet_canon *canon;
    struct stet_sink *sinks;
    const struct stet_op **order;   /* may be NULL */
    int32_t *numbers;               /* by value id: canonical number, 0 for none yet, or as above */
    int32_t *function_numbers;      /* by operation id, of functions: likewise */
    uint8_t *seen;                  /* by operation id */
    const struct stet_block *block; /* the function being written, and how many of its operations
                                     * were seen */
    uint32_t block_seen;
    struct frame *stack;
    uint32_t stack_used;
    size_t stack_room;
    int32_t values, functions;
    uint32_t written;
    unsigned depth;
    enum stet_rc rc;
};

_Static_assert((int)STET_CLASS_SKELETON == (int)STET_SINK_SKELETON, "classes name streams");

static inline struct stet_sink *sink(struct walk *w, unsigned which)
{
    return &w->sinks[which];
}

static inline void put(struct stet_sink *s, const struct stet_short *v)
{
    stet_sink_end(s, stet_put_short(stet_sink_begin(s), v->bytes, v->length));
}

static inline void put_tiny(struct stet_sink *s, const struct stet_short *v)
{
    stet_sink_end(s, stet_put_tiny(stet_sink_begin(s), v->bytes, v->length));
}

/* An operation that has not been seen. */
static inline void mark_seen(struct walk *w, const struct stet_op *op)
{
    w->seen[op->id] = 1;
    w->block_seen += op->parent == w->block;
}

static inline void see(struct walk *w, const struct stet_op *op)
{
    if (!w->seen[op->id])
        mark_seen(w, op);
}

/* A position in the text. */
static inline void put_id(struct walk *w, uint32_t id)
{
    stet_sink_varint(sink(w, STET_SINK_KEY), id);
}

static inline bool has_rank(const struct stet_type *t)
{
    return (1u << STET_TYPE_TENSOR | 1u << STET_TYPE_UNRANKED | 1u << STET_TYPE_MEMREF |
            1u << STET_TYPE_VECTOR | 1u << STET_TYPE_UNRANKED_MEMREF) >>
               t->kind &
           1;
}

/* Writes a symbol (a stet_symbol_writer); the context is the walk. */
bool stet_facet_walk_symbol(struct stet_sink *s, struct stet_view name, void *context);
/* Writes one attribute into the stream of its class; `memo` is its cached lookup. */
void stet_facet_walk_attr(struct walk *w, const struct stet_op *op, const struct stet_named_attr *n,
                          const struct stet_attr_memo *memo);
/* The same, with a fast path for plain attributes. */
static inline void stet_facet_walk_put_attr(struct walk *w, const struct stet_op *op,
                                            const struct stet_named_attr *n)
{
    const struct stet_attr_memo *memo = stet_canon_memo(w->canon, op, n);
    struct stet_sink *s;
    unsigned char *at;

    if (__builtin_expect(!memo->plain, 0)) {
        stet_facet_walk_attr(w, op, n, memo);
        return;
    }
    s = sink(w, memo->class);
    at = stet_put_u64(stet_sink_begin(s), memo->name_hash);
    stet_sink_end(s, stet_put_short(at, memo->content.bytes, memo->content.length));
}

/* Writes a region's blocks. */
void stet_facet_walk_region(struct walk *w, const struct stet_region *r);
/* Writes the operations of a block that its results do not need: those with effects, in their
 * order, with what they use; then dead operations. */
void stet_facet_walk_rest(struct walk *w, const struct stet_block *b);
/* Writes a function with its body; it must not have been written before. */
void stet_facet_walk_function(struct walk *w, const struct stet_op *f);

#endif
