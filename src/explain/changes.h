/* The list of changes while a diff is being made. diff.c creates it, and each part of the
 * comparison adds its changes. Texts are in the diff's arena. */
#ifndef STET_EXPLAIN_CHANGES_H
#define STET_EXPLAIN_CHANGES_H

#include "base/buf.h"
#include "base/map.h"
#include "explain/diff.h"
#include "explain/match.h"

/* A size that changed. A consequence of it is not a separate cause. */
struct stet_size_pair {
    double from, to;
};

enum { STET_TYPE_PAIRS = 256, STET_CONSTANT_PAIRS = 64 };

struct stet_type_pair {
    const struct stet_type *x, *y;
    uint32_t bits; /* of facets */
};

struct stet_constant_pair {
    const struct stet_op *in_a, *in_b;
    bool same;
    unsigned follows; /* of one that moved: the facet that explains it, or STET_NO_FACET */
    struct stet_change_data data;
    struct stet_view from, to;
};

struct stet_comparison {
    struct stet_side *a, *b;
    struct stet_diff *out;
    struct stet_buf scratch;
    uint32_t room;
    struct stet_map groups;   /* hash of what makes two changes equal -> changes */
    uint8_t *told_a, *told_b; /* by operation id: plumbing already reported */
    bool all_matched;         /* every operation has a counterpart */
    uint32_t moved;           /* facets in which live operations may differ; all if unknown */
    struct stet_size_pair sizes[64];
    uint32_t size_count;
    bool rank_moved, shape_moved, dtype_moved; /* of some argument */
    struct stet_type_pair types[STET_TYPE_PAIRS];
    struct stet_constant_pair constants[STET_CONSTANT_PAIRS];
};

/* Adds a change at the place of `of_a` or `of_b` (the latter preferred; either may be NULL). Equal
 * changes on one line are one change with a count. Texts are borrowed. */
struct stet_change *stet_explain_change_add(struct stet_comparison *c,
                                            const struct stet_change *change,
                                            const struct stet_op *of_a, const struct stet_op *of_b);

/* Sets the line of the change to that of the operation, if it has one. */
void stet_explain_change_locate(struct stet_change *change, const struct stet_op *op);

/* Gives the element types and the first size that differs. Either may be NULL. */
struct stet_change_data stet_explain_change_types(const struct stet_type *x,
                                                  const struct stet_type *y);
/* Gives the sizes of a dimension; STET_DYNAMIC if it has none. */
struct stet_change_data stet_explain_change_sizes(int64_t from, int64_t to);
/* Gives the numbers, for constants and attributes that are one number each. Either may be NULL. */
struct stet_change_data stet_explain_change_values(const struct stet_attr *x,
                                                   const struct stet_attr *y);

/* printf into the diff's arena. */
struct stet_view stet_explain_change_text(struct stet_comparison *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Copies the content of `scratch` there. */
struct stet_view stet_explain_change_taken(struct stet_comparison *c);
struct stet_view stet_explain_change_attr(struct stet_comparison *c, const struct stet_attr *a);
struct stet_view stet_explain_change_type(struct stet_comparison *c, const struct stet_type *t);
struct stet_view stet_explain_change_dtype(struct stet_comparison *c, const struct stet_type *t);

/* Adds a size that changed; the second function checks whether from → to follows from such sizes:
 * in proportion, inversely, by square root or by the same difference. */
void stet_explain_sizes_add(struct stet_comparison *c, int64_t from, int64_t to);
bool stet_explain_sizes_explain(const struct stet_comparison *c, double from, double to,
                                double tolerance);

/* The facets of types. */
enum {
    STET_TYPE_FACETS = 1u << STET_FACET_SHAPES | 1u << STET_FACET_RANKS | 1u << STET_FACET_DTYPES,
};

/* Does the type have sizes and an element? */
static inline bool stet_explain_compare_shaped(const struct stet_type *t)
{
    return t->kind == STET_TYPE_TENSOR || t->kind == STET_TYPE_MEMREF;
}

/* Gives how far two types differ, as bits of facets; 0 if they are equal. */
uint32_t stet_explain_compare_types(struct stet_comparison *c, const struct stet_type *x,
                                    const struct stet_type *y);
/* The parts of one matched pair of operations: attributes, result types, and a constant operand
 * (`in_a`, `in_b` are the constants). */
void stet_explain_compare_attrs(struct stet_comparison *c, const struct stet_op *a,
                                const struct stet_op *b);
void stet_explain_compare_results(struct stet_comparison *c, const struct stet_op *a,
                                  const struct stet_op *b);
void stet_explain_compare_constants(struct stet_comparison *c, const struct stet_op *a,
                                    const struct stet_op *b, const struct stet_op *in_a,
                                    const struct stet_op *in_b);
/* Adds the sizes of results that changed because an argument's did (n - 1 of a shifted slice, for
 * example): constants may follow from them as well. */
void stet_explain_compare_sizes(struct stet_comparison *c);

/* The parts of a comparison. Each adds its changes. */
void stet_explain_compare_arguments(struct stet_comparison *c);
void stet_explain_compare_meshes(struct stet_comparison *c);
void stet_explain_compare_ops(struct stet_comparison *c);
void stet_explain_compare_unmatched(struct stet_comparison *c);
void stet_explain_compare_outputs(struct stet_comparison *c);
/* Not a change: checks whether one program could have served both. */
void stet_explain_compare_bounded(struct stet_comparison *c);

#endif
