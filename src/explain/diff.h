/* What differs between two programs, said so that a person can act on it.
 *
 * The comparison does not see SSA numbers, names of functions or the order of independent
 * operations. Equal parts anchor the rest; arguments are aligned by what is done with them. */
#ifndef STET_EXPLAIN_DIFF_H
#define STET_EXPLAIN_DIFF_H

#include "cause/cause.h"
#include "cause/change.h"
#include "fingerprint/fingerprint.h"

enum { STET_NO_FACET = STET_FACETS };

/* Which property of an argument or an output it is. In the order in which they are named. */
enum stet_change_aspect {
    STET_ASPECT_NONE,
    STET_ASPECT_ATTRIBUTE,
    STET_ASPECT_DIMENSION,
    STET_ASPECT_DONATION,
    STET_ASPECT_DTYPE,
    STET_ASPECT_LAYOUT,
    STET_ASPECT_RANK,
    STET_ASPECT_SHARDING,
    STET_ASPECT_TYPE,
    STET_ASPECT_MESH, /* of an attribute: the module's mesh */
};

/* What a change is said of. stet_words_subject makes words of it: "argument batch['x'] dimension
 * 0", "constant in multiply". */
struct stet_change_subject {
    enum stet_change_aspect aspect;
    struct stet_view name;   /* of the argument, output, attribute, mesh or option; or empty */
    struct stet_view in;     /* the operation without its dialect: "multiply"; or empty */
    struct stet_view target; /* which of those operations: "@kernel", "GT"; or empty */
    uint32_t index;          /* of the dimension or operand; operations in a block */
    uint32_t argument;       /* number of the argument, in the program that has it */
};

/* The element type on one side. */
struct stet_change_element {
    bool known;
    enum stet_type_kind kind;
    unsigned sign, width, flavour;
};

/* What the two sides are as numbers, where they are. */
struct stet_change_data {
    bool has_values, has_sizes;
    double values[2]; /* a constant, as the shortest decimal that means it; a size */
    int64_t sizes[2]; /* the dimension, or the first one in which two types differ */
    struct stet_change_element elements[2];
};

struct stet_change {
    enum stet_change_kind kind;
    unsigned facet;   /* enum stet_facet, or STET_NO_FACET */
    unsigned follows; /* facet whose move explains this one, or STET_NO_FACET */
    struct stet_change_subject of;
    struct stet_change_data data;
    struct stet_view from, to; /* both sides as they are printed; empty .ptr where there is none */
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
    enum stet_cause cause; /* the class */
    enum stet_cause also[STET_CAUSES];
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

/* What a change by itself is evidence of; STET_CAUSE_NONE for nothing. */
enum stet_cause stet_diff_change_cause(enum stet_change_kind kind, unsigned facet,
                                       struct stet_view op);

#endif
