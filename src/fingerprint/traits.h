/* A small summary of a program, which is kept after the program is released. It borrows nothing
 * from the program; its texts and lists are in the caller's arena. */
#ifndef STET_FINGERPRINT_TRAITS_H
#define STET_FINGERPRINT_TRAITS_H

#include "fingerprint/fingerprint.h"
#include "fingerprint/source_place.h"

enum stet_framework {
    STET_FRAMEWORK_OTHER,
    STET_FRAMEWORK_JAX,
    STET_FRAMEWORK_TORCH_XLA,
    STET_FRAMEWORK_TORCH_TPU,
    STET_FRAMEWORKS
};

/* Operations that show what a small program is for. */
enum stet_trait {
    STET_TRAIT_GATHER = 1 << 0,
    STET_TRAIT_TOPK = 1 << 1,
    STET_TRAIT_CUSTOM_CALL = 1 << 2,
    STET_TRAIT_SCAN = 1 << 3, /* cumulative sums: how `nonzero` finds its indices */
};

enum { STET_TRAIT_BUCKETS = 32, STET_TRAIT_SIZES = 8 };

struct stet_traits {
    bool readable; /* false: only its bytes are known */
    bool hlo;      /* HLO, not MLIR: the two are not compared across runs */
    struct stet_fingerprint fingerprint;
    struct stet_hash inputs;   /* types of its arguments */
    struct stet_view name;     /* "jit_train_step" */
    struct stet_view function; /* "train_step" */
    enum stet_framework framework;
    uint32_t ops, marks;                  /* marks: enum stet_trait */
    uint16_t profile[STET_TRAIT_BUCKETS]; /* how many operations of which names, by hash */
    uint64_t *lines;                      /* sorted hashes of file and line */
    uint32_t line_count;
    bool eager;                      /* TorchTPU: one operation that ran by itself */
    bool backward;                   /* TorchTPU: the gradient graph of a compiled function */
    bool unnamed;                    /* JAX: it has arguments, and none of them has a name */
    bool meets;                      /* it communicates, or has a sharding */
    bool one_place;                  /* all its operations are on one line of one function */
    struct stet_place place;         /* the first of them */
    struct stet_place root;          /* the frame of the jitted function */
    struct stet_place entry;         /* where that was called from, according to the locations */
    int64_t sizes[STET_TRAIT_SIZES]; /* of its outputs' dimensions, larger than 1 */
    uint32_t size_count;
    int64_t picked[2];    /* the first sizes of the last list of indices that it gathers by */
    struct stet_view why; /* not readable: the reason */
};

/* Texts and lists go into `arena`. The caller fills in the fingerprint. */
void stet_traits_make(struct stet_traits *t, const struct stet_program *p, struct stet_arena *arena,
                      bool *no_memory);
/* From a module's name alone. */
enum stet_framework stet_traits_framework(struct stet_view module);
struct stet_view stet_traits_function_of(struct stet_view module);

/* Operations that give no information about a line: constants, returns, parameters, functions. */
bool stet_traits_silent(struct stet_view operation);
uint64_t stet_place_hash(struct stet_view file, uint32_t line);
/* Lines of `b` that are also in `a`. */
uint32_t stet_traits_common_lines(const struct stet_traits *a, const struct stet_traits *b);
/* 0 … 1: the fraction of operations, by name, that both have. */
double stet_traits_likeness(const struct stet_traits *a, const struct stet_traits *b);

#endif
