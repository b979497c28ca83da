/* What an operation or an attribute means to fingerprints and to the diff, from the tables of
 * canon.def. The struct below caches lookups over one program, which must outlive it. */
#ifndef STET_FINGERPRINT_CANON_H
#define STET_FINGERPRINT_CANON_H

#include "fingerprint/fingerprint.h"
#include "fingerprint/sink.h"

#include <stdatomic.h>
#include <stddef.h>

enum stet_kind {
    STET_KIND_NONE, /* not looked up yet */
    STET_KIND_PLAIN,
    STET_KIND_CONSTANT,
    STET_KIND_CONVERT,
    STET_KIND_RESHAPE,
    STET_KIND_BROADCAST,
    STET_KIND_CONSTRAINT,
    STET_KIND_MESH,
    STET_KIND_CUSTOM_CALL, /* only in the table; its target decides: PLAIN or CONSTRAINT */
};

/* The facets come first, by their own numbers. */
enum stet_attr_class {
#define FACET(id, name, what) STET_CLASS_##id,
#include "fingerprint/facets.def"
#undef FACET
    STET_CLASS_SKELETON,
    STET_CLASS_NAMES,
    STET_CLASS_KEY,
    STET_CLASS_DERIVED, /* follows from the types beside it */
    STET_CLASS_LIMITS,  /* of a slice: everything but the slack follows */
    STET_CLASS_VALUE,   /* of a constant */
    STET_CLASS_ARG_ATTRS,
    STET_CLASS_RES_ATTRS,
    STET_CLASS_UNLISTED, /* only in the table */
};

/* Lookups are cached by address. Within one program equal names, types and attributes mostly share
 * an address, and a lookup costs more than hashing the content. */
struct stet_name_memo {
    const char *ptr;
    uint32_t len;
    uint8_t class; /* of an attribute: enum stet_attr_class, or STET_CLASS_UNLISTED */
    uint64_t hash;
};

/* Bytes to put into a stream: the content if it is short, otherwise its hash. */
struct stet_short {
    unsigned char bytes[STET_SINK_LONGEST];
    uint8_t length;
};

struct stet_attr_memo {
    const struct stet_attr *value;
    const char *name;
    uint64_t name_hash;
    uint32_t known;    /* the operation's: defaults depend on it */
    uint8_t class;     /* enum stet_attr_class */
    bool silent;       /* has no effect: a location, or an explicit default */
    bool symbols;      /* names functions or meshes, so its content depends on the place */
    bool plain;        /* neither, and its class names a stream: only name and content count */
    uint32_t in_place; /* how many of its numbers are 0, 1, 2 … */
    struct stet_short content; /* of a constant: its values without their dtype */
};

struct stet_type_memo {
    const struct stet_type *type;
    bool shaped, plain;                     /* has dims and no explicit layout */
    bool simple;                            /* only dims and dtype, each in no more than 16 bytes */
    uint8_t rank;                           /* of a simple one */
    struct stet_short dims, dtype, content; /* the common fields are in one cache line */
    uint8_t even[16];                       /* pads the struct to a size that is fast to multiply
                                             * by */
};

_Static_assert(sizeof(struct stet_type_memo) == 128, "a power of two");

/* Memos of attributes and types are stored in order of arrival; the first one means none. A larger
 * hash table of their indices finds them. When one more does not fit, all are dropped. */
enum {
    STET_NAME_BITS = 8,
    STET_ATTR_BITS = 10,
    STET_TYPE_BITS = 9,
    STET_ATTR_MEMOS = 256,
    STET_TYPE_MEMOS = 128,
};

struct stet_symbol;

/* Side tables over one program; the program must outlive them. */
struct stet_canon {
    /* First in the struct, so that each memo is within two cache lines if the struct is aligned to
     * one. The type itself requires no more alignment than malloc gives, so heap copies may lack
     * this. */
    struct stet_type_memo types[STET_TYPE_MEMOS]; /* not zeroed */
    const struct stet_program *program;
    uint8_t *kinds; /* enum stet_kind by operation id, of operations that must be inspected */
    /* Top-level symbols, open addressing. Their number is known, so one allocation holds them;
     * base/intern.h would take two that grow. */
    struct stet_symbol *symbols;
    uint32_t symbol_mask;
    uint32_t attr_count, type_count; /* memos */
    struct stet_content_cache contents;
    struct stet_name_memo names[1 << STET_NAME_BITS];
    uint8_t attr_places[1 << STET_ATTR_BITS], type_places[1 << STET_TYPE_BITS];
    struct stet_attr_memo attrs[STET_ATTR_MEMOS]; /* not zeroed either */
};

_Static_assert(_Alignof(struct stet_canon) <= _Alignof(max_align_t), "it is also on the heap");

enum stet_rc stet_canon_init(struct stet_canon *c, const struct stet_program *p,
                             struct stet_err *err);
void stet_canon_release(struct stet_canon *c);

/* The kind of an operation that this build knows by name; STET_KIND_NONE for plain ones. */
extern const uint8_t stet_canon_kinds[];

enum stet_kind stet_canon_kind_slow(struct stet_canon *c, const struct stet_op *op);

/* Does this kind only change how its operand is held? */
static inline bool stet_kind_is_plumbing(enum stet_kind kind)
{
    return kind >= STET_KIND_CONVERT && kind <= STET_KIND_CONSTRAINT;
}

static inline enum stet_kind stet_canon_kind(struct stet_canon *c, const struct stet_op *op)
{
    enum stet_kind kind = (enum stet_kind)stet_canon_kinds[op->known];

    if (kind == STET_KIND_NONE)
        return STET_KIND_PLAIN;
    if (stet_kind_is_plumbing(kind))
        return op->operand_count == 1 && op->result_count == 1 ? kind : STET_KIND_PLAIN;
    kind = (enum stet_kind)c->kinds[op->id];
    return __builtin_expect(kind != STET_KIND_NONE, 1) ? kind : stet_canon_kind_slow(c, op);
}

/* Longer chains of plumbing are cut here, and the operation at the cut counts as a plain one. This
 * keeps the time linear for a hostile program. */
enum { STET_PLUMBING_DEPTH = 64 };

const struct stet_value *stet_canon_source_slow(struct stet_canon *c, const struct stet_value *v);

/* The value below all plumbing. */
static inline const struct stet_value *stet_canon_source(struct stet_canon *c,
                                                         const struct stet_value *v)
{
    if (!stet_value_def(v) || !stet_kind_is_plumbing(stet_canon_kind(c, stet_value_def(v))))
        return v;
    return stet_canon_source_slow(c, v);
}

/* The slot of an address in a table of 2^bits slots; on a collision one of the next slots is
 * used. */
static inline size_t stet_memo_slot(const void *address, unsigned bits)
{
    return (size_t)((uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

const struct stet_type_memo *stet_canon_type_slow(struct stet_canon *c, const struct stet_type *t);

static inline const struct stet_type_memo *stet_canon_type(struct stet_canon *c,
                                                           const struct stet_type *t)
{
    const struct stet_type_memo *memo =
        &c->types[c->type_places[stet_memo_slot(t, STET_TYPE_BITS)]];

    return __builtin_expect(memo->type == t, 1) ? memo : stet_canon_type_slow(c, t);
}

extern _Atomic uint64_t stet_canon_op_hashes[];
uint64_t stet_canon_op_hash_slow(struct stet_canon *c, const struct stet_op *op);

/* The hash of an operation's portable name (defaults.h). */
static inline uint64_t stet_canon_op_hash(struct stet_canon *c, const struct stet_op *op)
{
    uint64_t hash = atomic_load_explicit(&stet_canon_op_hashes[op->known], memory_order_relaxed);

    return __builtin_expect(hash != 0, 1) ? hash : stet_canon_op_hash_slow(c, op);
}

void stet_canon_fill_name(struct stet_name_memo *memo, struct stet_view name);

static inline const struct stet_name_memo *stet_canon_name(struct stet_canon *c,
                                                           struct stet_view name)
{
    struct stet_name_memo *memo = &c->names[stet_memo_slot(name.ptr, STET_NAME_BITS)];

    if (memo->ptr != name.ptr || memo->len != name.len)
        stet_canon_fill_name(memo, name);
    return memo;
}

const struct stet_attr_memo *stet_canon_memo_slow(struct stet_canon *c, const struct stet_op *op,
                                                  const struct stet_named_attr *a);

static inline bool stet_memo_is(const struct stet_attr_memo *memo, const struct stet_op *op,
                                const struct stet_named_attr *a)
{
    return memo->value == a->value && memo->name == a->name.ptr && memo->known == op->known;
}

static inline const struct stet_attr_memo *
stet_canon_memo(struct stet_canon *c, const struct stet_op *op, const struct stet_named_attr *a)
{
    const struct stet_attr_memo *memo =
        &c->attrs[c->attr_places[stet_memo_slot(a->value, STET_ATTR_BITS)]];

    return __builtin_expect(stet_memo_is(memo, op, a), 1) ? memo : stet_canon_memo_slow(c, op, a);
}

/* Only the class, also for attributes inside dictionaries. */
enum stet_attr_class stet_canon_attr(struct stet_canon *c, const struct stet_named_attr *a);
/* The value of a constant operation. */
const struct stet_attr *stet_canon_value(const struct stet_op *op);

/* Finds a top-level operation by its symbol, with its index among the symbols; NULL if there is
 * none. */
const struct stet_op *stet_canon_symbol(const struct stet_canon *c, struct stet_view name,
                                        uint32_t *index);

/* An attribute without effect: a location, or an explicit default. */
bool stet_canon_silent(const struct stet_op *op, const struct stet_named_attr *a);

#endif
