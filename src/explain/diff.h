/* The difference between two programs, in a form that a person can act on.
 *
 * The comparison ignores SSA numbers, names of functions and the order of independent operations.
 * Equal parts anchor the rest; arguments are aligned by their uses. A diff borrows text from both
 * programs. */
#ifndef STET_EXPLAIN_DIFF_H
#define STET_EXPLAIN_DIFF_H

#include "cause/cause.h"
#include "cause/change.h"
#include "fingerprint/fingerprint.h"

enum { STET_NO_FACET = STET_FACETS };

/* The property of an argument or an output that changed, in the order of printing. */
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

/* The subject of a change. stet_words_subject makes text from it: "argument batch['x'] dimension
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

/* Both sides as numbers, if they are numbers. */
struct stet_change_data {
    bool has_values, has_sizes;
    double values[2]; /* a constant, as its shortest exact decimal; a size */
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
    struct stet_view file_in_a; /* its file in the first program, if another */
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
    uint32_t repeat_to; /* when a block's count differs, otherwise 0 */
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

/* Returns the cause for which a change by itself is evidence, or STET_CAUSE_NONE. */
enum stet_cause stet_diff_change_cause(enum stet_change_kind kind, unsigned facet,
                                       struct stet_view op);

#endif
