/* The intermediate form between a program and a plan: checked, with calls inlined, in few kinds of
 * nodes.
 *
 *   lower*.c  program  -> graph    every op checked and lowered (ops.def: one line each)
 *   simplify.c graph   -> graph    what is computed twice is computed once
 *   fuse.c    graph    -> groups   which elementwise nodes run as one tile program
 *   placement.c groups -> buffers  which values share memory, and where it is
 *   emit.c    all that -> steps    what plan.c runs
 *
 * Everything is in the plan's arena. */
#ifndef STET_BACKEND_GRAPH_H
#define STET_BACKEND_GRAPH_H

#include "backend/kernel.h"
#include "backend/plan.h"
#include "backend/sharding.h"
#include "backend/tile.h"
#include "program/ops.h"

struct stet_gnode;
struct stet_gblock;
struct stet_buffer;
struct stet_ffi_site;

struct stet_gval {
    struct stet_shape shape;
    struct stet_gnode *def;    /* NULL: an argument of `block` */
    struct stet_gblock *block; /* where it is defined */
    uint32_t index;            /* among the node's results or the block's arguments */
    bool in_memory;            /* some use needs it there (fuse.c) */
    uint32_t mark;             /* the group that has it in a register, while emitting */
    uint16_t reg;
    struct stet_buffer *buffer;
    const struct stet_tiles *tiles; /* what it was put together from, or NULL */
    struct stet_gval *equal;        /* the value that is used instead (simplify.c), or NULL */
};

/* The tiles of an array, one for each lane; lanes with the same tile may have the same value. */
struct stet_tiles {
    struct stet_sharding sharding;
    struct stet_gval **at;
};

enum stet_gkind {
    STET_G_CONST,  /* dense elements in place */
    STET_G_SPLAT,  /* one element many times */
    STET_G_IOTA,   /* along `dim` */
    STET_G_ALIAS,  /* the same elements under another shape or type of the same width */
    STET_G_VIEW,   /* in[0] through `map` (dims are the result's) */
    STET_G_EW,     /* elementwise: `ew` */
    STET_G_REDUCE, /* `params` is struct stet_reduce; elementwise producers may join */
    STET_G_CALL,   /* `kernel` with `params` on dense buffers */
    STET_G_WHILE,  /* blocks[0] the condition, blocks[1] the body */
    STET_G_CASE,   /* in[0] an s32 (or pred: 1 is branch 0); one block a branch */
    STET_G_HOST,   /* `params` is struct stet_transfer; alive even if unused */
    STET_G_FFI,    /* `params` is struct stet_ffi_site; dense buffers */
};

/* Elementwise operations that are not rows of a tile table. */
enum { STET_EW_CONVERT = STET_TILE_OPS, STET_EW_ROUND_BF16, STET_EW_ROUND_F16 };

struct stet_gnode {
    enum stet_gkind kind;
    bool live;
    bool barrier;             /* ALIAS: equals no other value */
    uint32_t order;           /* position in its block */
    const struct stet_op *op; /* for errors */
    struct stet_gval **in, **out;
    uint32_t in_count, out_count;
    struct stet_gblock *block;
    struct stet_gblock **blocks;
    uint32_t block_count;
    int ew;                  /* EW: enum stet_tile_op or STET_EW_* */
    uint32_t dim;            /* IOTA */
    const void *bytes;       /* CONST */
    unsigned char value[16]; /* SPLAT */
    struct stet_tile_view map;
    const struct stet_kernel *kernel;
    void *params;
    uint64_t scratch;        /* CALL, FFI: bytes of temporary memory */
    int32_t in_place;        /* CALL: the operand whose memory out[0] may take over, or -1 */
    struct stet_gnode *next; /* in the block */
    struct stet_graph_group *group;
    uint32_t fuse_at, memory_at; /* fuse.c: first position of a reader that can, can't join it */
    uint32_t walked;             /* a mark */
    struct stet_gnode *chain;    /* simplify.c: with the same hash */
    uint32_t time;               /* WHILE, CASE: when it begins */
    uint32_t end;                /* and ends */
};

struct stet_gblock {
    struct stet_gval **args, **results;
    uint32_t arg_count, result_count, node_count;
    struct stet_gnode *first, **last;
    struct stet_gnode *owner; /* NULL for the entry */
    struct stet_gblock *parent;
    uint32_t depth;
    bool talks;                      /* to the host, somewhere inside */
    struct stet_graph_group *groups; /* in order of execution */
};

/* What runs as one step. Nodes in order; only one unless it is EW or a REDUCE with its
 * producers. */
struct stet_graph_group {
    struct stet_gnode *nodes[96]; /* STET_GROUP_NODES, latest first */
    uint32_t node_count;
    struct stet_graph_group *next;
    uint32_t position; /* in the block: the order of its last node */
    uint64_t elements; /* of the line; EW and REDUCE */
    uint32_t time;
};

/* ---- lowering ---- */

/* A program value: itself, or a tuple's elements (nested ones flattened). */
struct stet_lowered {
    struct stet_gval **parts;
    uint32_t count;
};

struct stet_lower {
    struct stet_arena *arena;
    const struct stet_program *program;
    struct stet_err *err;
    struct stet_gblock *block; /* where nodes are added */
    struct stet_lowered *map;  /* by value id, of `lane` */
    struct stet_lowered *maps; /* of all lanes */
    struct stet_plan_devices on;
    uint32_t lanes, lane; /* devices of the program, and the one being lowered for */
    bool expressed;       /* quantized values are the numbers that they stand for (lower_quant.c) */
    bool single;          /* only for `lane`; otherwise for all lanes (lower_lanes.c) */
    uint32_t manual;      /* depth of regions that each device runs by itself */
    uint8_t *facts;       /* of functions, when known */
    struct stet_sharding_reader shardings;
    struct stet_sharding *in_shardings, *out_shardings; /* of the program, with several lanes */
    const struct stet_op *op;                           /* being lowered */
    const struct stet_op **calls; /* functions being inlined, innermost last */
    uint32_t call_depth, depth;
    uint32_t nodes, most_nodes;   /* made so far, and their cap */
    uint32_t marks;               /* given to tile programs so far */
    struct stet_codegen *codegen; /* made when first needed */
    struct stet_ffi_site **sites; /* the plan's list of calls of registered functions */
};

/* Refuses a small program that declares huge sizes before it takes the memory of a large one. */
enum { STET_MAX_NODES = 1 << 22, STET_LEAST_NODES = 1 << 18, STET_NODES_PER_OP = 64 };
enum { STET_MAX_CALLS = 512, STET_MAX_OPERANDS = 1 << 16 };

enum stet_rc stet_lower_program(struct stet_lower *l, struct stet_gblock **out);
/* Lowers into l->block, by the table of ops.def. */
enum stet_rc stet_lower_op(struct stet_lower *l, const struct stet_op *op);
/* The region's only block, as a new block of the graph; its values may use outer ones. */
enum stet_rc stet_lower_region(struct stet_lower *l, const struct stet_region *r,
                               struct stet_gblock **out);
/* Describes an error, with the op's name and source line in front of the text. */
void stet_lower_describe(struct stet_lower *l, enum stet_rc rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, and gives the error. A macro lets the compiler and the analyzer see which it is. */
static inline enum stet_rc stet_lower_given(enum stet_rc rc)
{
    return rc;
}
#define stet_lower_fail(l, rc, ...) (stet_lower_describe(l, rc, __VA_ARGS__), stet_lower_given(rc))
static inline enum stet_rc stet_lower_memory(struct stet_lower *l)
{
    return stet_lower_fail(l, STET_NO_MEMORY, "out of memory while planning");
}

/* Operand i as one tensor (NULL and an error if it is missing or a tuple). */
struct stet_gval *stet_lower_in(struct stet_lower *l, uint32_t i);
/* The declared shape of result i; tuples are rejected here. */
enum stet_rc stet_lower_shape(struct stet_lower *l, uint32_t i, struct stet_shape *out);
enum stet_rc stet_lower_type(struct stet_lower *l, const struct stet_type *t,
                             struct stet_shape *out);
/* The type of an element; STET_DT_INVALID if there is none. */
enum stet_dtype stet_lower_dtype(const struct stet_type *element);
/* Result i is `v`: checked against the declared type. */
enum stet_rc stet_lower_out(struct stet_lower *l, uint32_t i, struct stet_gval *v);

/* Attributes. A list may be in any of the forms that readers create. */
struct stet_graph_ints {
    int64_t v[2 * STET_MAX_RANK];
    uint32_t count;
};
bool stet_lower_ints_of(const struct stet_attr *a, struct stet_graph_ints *out);
/* An absent attribute gives an empty list. */
enum stet_rc stet_lower_ints(struct stet_lower *l, const char *name, struct stet_graph_ints *out);
enum stet_rc stet_lower_field(struct stet_lower *l, const struct stet_attr *record,
                              const char *name, struct stet_graph_ints *out);
/* The same of an operand, in programs whose shapes could be dynamic: it must be a constant. */
enum stet_rc stet_lower_operand_ints(struct stet_lower *l, uint32_t i, struct stet_graph_ints *out);
int64_t stet_lower_int(struct stet_lower *l, const char *name, int64_t otherwise);
/* Text of a STRING, ENUM or SYMBOL attribute; empty if absent. */
struct stet_view stet_lower_text(struct stet_lower *l, const char *name);
/* `dims` has no repeats and all are in [0, rank). */
bool stet_lower_dims_ok(const int64_t *dims, uint32_t count, uint32_t rank);

/* ---- creating nodes (NULL: out of memory or over the cap, with the error set) ---- */

struct stet_gnode *stet_graph_node(struct stet_lower *l, enum stet_gkind kind,
                                   struct stet_gval **in, uint32_t in_count,
                                   const struct stet_shape *out, uint32_t out_count);
struct stet_gval *stet_graph_splat(struct stet_lower *l, const struct stet_shape *s,
                                   const void *value);
/* The number as an element of s->dtype. */
struct stet_gval *stet_graph_number(struct stet_lower *l, const struct stet_shape *s,
                                    double number);
struct stet_gval *stet_graph_iota(struct stet_lower *l, const struct stet_shape *s, uint32_t dim);
struct stet_gval *stet_graph_ew(struct stet_lower *l, int op, enum stet_dtype out,
                                struct stet_gval *a, struct stet_gval *b, struct stet_gval *c);
struct stet_gval *stet_graph_convert(struct stet_lower *l, struct stet_gval *a, enum stet_dtype to);
struct stet_gval *stet_graph_reshape(struct stet_lower *l, struct stet_gval *a,
                                     const struct stet_shape *s);
/* Out dimension d walks dimension in_dim[d] of `a` (-1: none) from start[in_dim[d]] by step[d]. */
struct stet_gval *stet_graph_view(struct stet_lower *l, struct stet_gval *a,
                                  const struct stet_shape *s, const int64_t *in_dim,
                                  const int64_t *step, const int64_t *start);
/* dims[i] is where dimension i of `a` goes. */
struct stet_gval *stet_graph_broadcast(struct stet_lower *l, struct stet_gval *a,
                                       const struct stet_shape *s, const int64_t *dims);
struct stet_gnode *stet_graph_call(struct stet_lower *l, const struct stet_kernel *k, void *params,
                                   struct stet_gval **in, uint32_t in_count,
                                   const struct stet_shape *out, uint32_t out_count);

/* The value that these elements belong to: through ALIAS nodes. */
struct stet_gval *stet_graph_root(struct stet_gval *v);
/* The value as strides over a value in memory: through one VIEW (and reshapes of it where
 * possible), else `v` itself, dense. map->dims are v's. */
struct stet_gval *stet_graph_strided(struct stet_gval *v, struct stet_tile_view *map);
/* The one element of a SPLAT (through views), or NULL. */
const void *stet_graph_splat_value(struct stet_gval *v);
void stet_graph_dense_strides(const struct stet_shape *s, int64_t *strides);

/* A region of scalars as a tile program over arguments (STET_LOAD_ARG, in order), for reduce, sort
 * and the like. Rejects anything that is not elementwise, and values from outside except
 * constants. */
enum { STET_BODY_LANES = 32 }; /* every body can do this many at once */
struct stet_body {
    struct stet_tile_prog prog;
    struct stet_gblock *block;
    uint32_t arg_count, result_count;
    uint16_t *arg_regs, *result_regs;
    enum stet_dtype *arg_types, *result_types; /* in memory */
    /* If the whole body is one operation of its two arguments, in order or commutative: that tile
     * op; -2 if it returns the second argument; else -1. */
    int simple;
};
enum stet_rc stet_lower_body(struct stet_lower *l, const struct stet_region *r,
                             const enum stet_dtype *args, uint32_t arg_count,
                             const enum stet_dtype *results, uint32_t result_count,
                             struct stet_body **out);

/* ---- later stages ---- */

/* Replaces values that are computed twice, and some operations by simpler ones. */
enum stet_rc stet_backend_graph_simplify(struct stet_lower *l, struct stet_gblock *entry);
/* Fills blocks' groups and values' in_memory, for the whole tree of blocks. */
enum stet_rc stet_backend_graph_fuse(struct stet_lower *l, struct stet_gblock *entry);
/* Counts flops and transcendentals of live nodes. */
void stet_backend_graph_cost(const struct stet_gblock *b, struct stet_plan_cost *cost);

#endif
