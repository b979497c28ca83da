/* The difference between two programs, in a form that a person can act on.
 *
 * The comparison ignores SSA numbers, names of functions and the order of independent operations.
 * Equal parts anchor the rest; arguments are aligned by their uses. A diff borrows text from both
 * programs. */
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
    STET_CHANGE_OPERAND,   /* another value is used, although both still exist */
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
    struct stet_view from, to; /* .ptr is NULL if there is none */
    struct stet_view op;       /* "stablehlo.multiply", or empty */
    struct stet_view file, function;
    uint32_t line, column;      /* 0 when unknown */
    bool line_of_a;             /* file and line are those of the first program */
    struct stet_view file_in_a; /* where the same is in the first program, if elsewhere */
    uint32_t line_in_a;
    const struct stet_loc *loc; /* behind file and line, with the frames around it; or NULL */
    uint32_t count;             /* places that changed in the same way */
    uint32_t order;             /* where in its program, for sorting */
};

/* Whether one bounded dimension would have served both sizes; computed only if skeletons are equal
 * and an argument's size changed. */
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
    uint32_t repeat_from, repeat_to; /* when a block's count differs, otherwise 0 */
    struct stet_bounded bounded;
};

/* More changes than this are not useful; the rest is counted. */
enum { STET_DIFF_MOST = 4096 };

struct stet_side;

/* One side of a comparison: a program with its fingerprint, and the tables made with it if the
 * caller keeps them (stet_side_prepare); otherwise they are made here. */
struct stet_diff_side {
    const struct stet_program *program;
    const struct stet_fingerprint *fingerprint;
    struct stet_side *tables;
};

/* `out` borrows text from both programs; release it before them. */
enum stet_rc stet_diff_make(struct stet_diff *out, const struct stet_diff_side *a,
                            const struct stet_diff_side *b, struct stet_err *err);
void stet_diff_release(struct stet_diff *d);

/* Adds a change from elsewhere (compile options are beside the program) to the list and the
 * class. */
void stet_diff_add_option(struct stet_diff *d, struct stet_view name, struct stet_view from,
                          struct stet_view to);
/* Decides the class again from the changes and facts. Called by stet_diff_make. */
void stet_diff_classify(struct stet_diff *d);

/* The class that a change by itself is evidence for; STET_REASONS for none. */
enum stet_reason stet_diff_change_reason(enum stet_change_kind kind, unsigned facet,
                                         struct stet_view op);

const char *stet_change_name(enum stet_change_kind kind);

#endif
