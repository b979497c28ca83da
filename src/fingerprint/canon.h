/* What an operation or attribute means to fingerprints and to the diff: the tables of canon.def. */
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
    STET_KIND_CUSTOM_CALL, /* only in the table: becomes PLAIN or CONSTRAINT by its target */
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
    STET_CLASS_LIMITS,  /* of a slice: all but the slack follows */
    STET_CLASS_VALUE,   /* of a constant */
    STET_CLASS_ARG_ATTRS,
    STET_CLASS_RES_ATTRS,
    STET_CLASS_UNLISTED, /* only in the table */
};

/* Everything below is remembered by address: within one program equal names, types and attributes
 * mostly share theirs, and looking a thing up costs more than hashing what it says. */
struct stet_name_memo {
    const char *ptr;
    uint32_t len;
    uint8_t class; /* of an attribute: enum stet_attr_class, or STET_CLASS_UNLISTED */
    uint64_t hash;
};

/* Bytes to put into a stream: what it says when that is short, otherwise its hash. */
struct stet_short {
    unsigned char bytes[STET_SINK_LONGEST];
    uint8_t length;
};

struct stet_attr_memo {
    const struct stet_attr *value;
    const char *name;
    uint64_t name_hash;
    uint32_t known; /* the operation's: defaults depend on it */
    uint8_t class;  /* enum stet_attr_class */
    bool silent;    /* says nothing: a location, or a default that is spelled out */
    bool symbols;   /* names functions or meshes, so that its content depends on the place */
    bool plain;     /* neither, and its class names a stream: name and content are all there is */
    uint32_t in_place;         /* how many of its numbers are 0, 1, 2 … */
    struct stet_short content; /* of a constant: what it means whatever its dtype */
};

struct stet_type_memo {
    const struct stet_type *type;
    bool shaped, plain; /* has dims; has no layout of its own */
    bool simple;        /* says nothing but dims and dtype, each in no more than 16 bytes */
    uint8_t rank;       /* of a simple one */
    struct stet_short dims, dtype, content; /* what is usual lies in one line of the cache */
    uint8_t even[16];                       /* to a size that is quickly multiplied with */
};

_Static_assert(sizeof(struct stet_type_memo) == 128, "a power of two");

/* Memos of attributes and types lie one behind the other as they came, the first standing for none;
 * a larger table of their places finds them. When one more does not fit, all are forgotten. */
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
    /* First, so that each lies in two lines of the cache wherever the whole is aligned to one. Who
     * keeps it in memory from an allocator does without: the type itself must ask for no more than
     * malloc gives. */
    struct stet_type_memo types[STET_TYPE_MEMOS]; /* not zeroed */
    const struct stet_program *program;
    uint8_t *kinds; /* enum stet_kind by operation id, of what takes a look inside */
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

/* What operations this build knows by name are; STET_KIND_NONE for the plain ones. */
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

/* Longer chains of plumbing are cut there, and the operation at the cut counts as a plain one: what
 * keeps a hostile program linear. */
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

/* Where in a table of 2^bits an address belongs, or at one of the next places. */
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

/* The class alone, also for attributes that are in dictionaries. */
enum stet_attr_class stet_canon_attr(struct stet_canon *c, const struct stet_named_attr *a);
/* The value of a constant operation. */
const struct stet_attr *stet_canon_value(const struct stet_op *op);

/* A top-level operation by its symbol, with its place among the symbols; NULL when there is none.
 */
const struct stet_op *stet_canon_symbol(const struct stet_canon *c, struct stet_view name,
                                        uint32_t *index);

/* An attribute that says nothing: a location, or a default that is spelled out. */
bool stet_canon_silent(const struct stet_op *op, const struct stet_named_attr *a);

#endif
