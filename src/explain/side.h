/* Tables over one of two programs that are compared, indexed by operation and value ids. The side
 * borrows its program. */
#ifndef STET_EXPLAIN_SIDE_H
#define STET_EXPLAIN_SIDE_H

#include "fingerprint/fingerprint_internal.h"

struct stet_use {
    const struct stet_op *op;
    uint32_t operand;
};

struct stet_side {
    const struct stet_program *program;
    struct stet_canon canon;
    struct stet_arena arena;
    const struct stet_op **ops;    /* by id */
    struct stet_canon_order order; /* canonical; .ops is NULL unless prepared */
    /* Signatures of an operation. Each includes more than the one before; NULL until needed. */
    uint64_t *own;       /* name and what the skeleton keeps */
    uint64_t *spot;      /* own and where in the source it was written, line numbers aside */
    uint64_t *signature; /* own and what is in its regions and callees */
    uint64_t *place;     /* signature and where in the source */
    uint64_t *exact;     /* place, types, attributes and the constants it uses */
    uint64_t *line;      /* hash of file name and line; 0 without a location */
    const struct stet_op **match; /* the corresponding operation of the other side, or NULL */
    uint8_t *certain;             /* by operation id: the match is based on equal hashes upstream */
    const struct stet_value **value_match; /* the same for block arguments, by value id */
    uint32_t *use_start;   /* by value id: uses[use_start[v]] … uses[use_start[v + 1]] */
    struct stet_use *uses; /* through plumbing, by operations that are not plumbing; or NULL */
    const struct stet_op **first_uses; /* of the program's arguments: the first that has a line */
};

/* Also makes signatures and uses. */
enum stet_rc stet_side_init(struct stet_side *s, const struct stet_program *p,
                            struct stet_err *err);
/* Makes only the canonical order, and the fingerprint from the same walk. Everything else that a
 * comparison needs is made on demand, and kept for the next one. */
enum stet_rc stet_side_prepare(struct stet_side *s, const struct stet_program *p,
                               struct stet_view options, struct stet_fingerprint *out,
                               struct stet_err *err);
void stet_side_release(struct stet_side *s);

/* False when out of memory. */
bool stet_side_need_signatures(struct stet_side *s);
bool stet_side_need_uses(struct stet_side *s);
bool stet_side_need_first_uses(struct stet_side *s);
/* Clears the matches of an earlier comparison. */
void stet_side_clear(struct stet_side *s);

/* 64-bit mixing for tables that never leave the process. */
static inline uint64_t stet_mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9u;

    x ^= x >> 29;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 32;
}

/* The function-like operation that a call runs, or NULL. */
const struct stet_op *stet_side_callee(struct stet_side *s, const struct stet_op *op);
/* Does the diff report this operation by itself (not a constant, plumbing or mesh)? */
bool stet_side_counts(struct stet_side *s, const struct stet_op *op);

#endif
