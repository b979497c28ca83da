/* What differs between two programs, said so that a person can act on it.
 *
 * The comparison does not see SSA numbers, names of functions or the order of independent
 * operations. Equal parts anchor the rest; arguments are aligned by what is done with them. */
#ifndef STET_EXPLAIN_DIFF_H
#define STET_EXPLAIN_DIFF_H

#include "explain/reasons.h"
#include "fingerprint/fingerprint.h"

enum stet_change_kind {
    STET_CHANGE_ARGUMENT_CAME,
    STET_CHANGE_ARGUMENT_WENT,
    STET_CHANGE_ARGUMENT_MOVED, /* to another place in the list */
    STET_CHANGE_ARGUMENT,       /* its dims, rank, dtype, sharding, donation or layout */
    STET_CHANGE_OUTPUT_CAME,
    STET_CHANGE_OUTPUT_WENT,
    STET_CHANGE_OUTPUT, /* its sharding or layout; types follow from the operations */
    STET_CHANGE_OP_CAME,
    STET_CHANGE_OP_WENT,
    STET_CHANGE_CONSTANT,  /* at a use */
    STET_CHANGE_ATTRIBUTE, /* of an operation or of the module */
    STET_CHANGE_TYPE,      /* of a result, where no operand's type moved */
    STET_CHANGE_OPERAND,   /* another value is used, though both are still there */
    STET_CHANGE_REPEAT,    /* a block is repeated another number of times */
    STET_CHANGE_OPTION,    /* a compile option */
    STET_CHANGE_ORDER,     /* the same operations in another order, and nothing else */
};

enum { STET_NO_FACET = STET_FACETS };

struct stet_change {
    enum stet_change_kind kind;
    unsigned facet;            /* enum stet_facet, or STET_NO_FACET */
    unsigned follows;          /* facet whose move explains this one, or STET_NO_FACET */
    struct stet_view what;     /* "argument batch['x'] dimension 0" */
    struct stet_view from, to; /* empty .ptr where there is none */
    struct stet_view op;       /* "stablehlo.multiply", or empty */
    struct stet_view file, function;
    uint32_t line, column;      /* 0 when unknown */
    bool line_of_a;             /* file and line are those of the first program */
    struct stet_view file_in_a; /* where the same stands in the first program, when elsewhere */
    uint32_t line_in_a;
    const struct stet_loc *loc; /* behind file and line, with the frames around it; or NULL */
    uint32_t count;             /* places that changed in the same way */
    uint32_t order;             /* where in its program, for sorting */
};

/* Whether one bounded dimension would have served both sizes; only asked when skeletons are equal
 * and an argument's size moved. */
struct stet_bounded {
    bool known;
    const struct stet_op *forbids; /* of the second program; NULL when nothing does */
    const char *why;               /* what it does with the dimension; a literal */
};

struct stet_diff {
    struct stet_arena arena;
    bool same_key, same_skeleton;
    enum stet_reason reason; /* the class */
    enum stet_reason also[STET_REASONS];
    uint32_t also_count;
    uint32_t moved;               /* bit per facet */
    uint8_t follows[STET_FACETS]; /* of a moved facet: the one that explains it all, or NO_FACET */
    struct stet_change *changes;  /* causes first, in the order of the program */
    uint32_t change_count;
    uint32_t left_out;           /* changes beyond STET_DIFF_MOST */
    uint32_t ops_came, ops_went; /* operations without counterpart */
    uint32_t ops_unexplained;    /* of those, the ones that no argument that came or went feeds */
    uint32_t ops_matched;
    uint32_t repeat_to; /* when a block's count differs, otherwise 0 */
    struct stet_bounded bounded;
};

/* More changes than this help nobody; the rest is counted. */
enum { STET_DIFF_MOST = 4096 };

struct stet_side;

/* What is compared: a program with its fingerprint, and the tables made with it when the caller
 * keeps them (stet_side_prepare); they are made here otherwise. */
struct stet_diff_side {
    const struct stet_program *program;
    const struct stet_fingerprint *fingerprint;
    struct stet_side *tables;
};

/* `out` borrows text from both programs; release it before them. */
enum stet_rc stet_diff_make(struct stet_diff *out, const struct stet_diff_side *a,
                            const struct stet_diff_side *b, struct stet_err *err);
void stet_diff_release(struct stet_diff *d);

/* A change made elsewhere (compile options live beside the program) joins the list and the class.
 */
void stet_diff_add_option(struct stet_diff *d, struct stet_view name, struct stet_view from,
                          struct stet_view to);
/* Decide the class anew from the changes and facts. Called by stet_diff_make. */
void stet_diff_classify(struct stet_diff *d);

/* What a change by itself is evidence of; STET_REASONS for nothing. */
enum stet_reason stet_diff_change_reason(enum stet_change_kind kind, unsigned facet,
                                         struct stet_view op);

const char *stet_change_name(enum stet_change_kind kind);

#endif
