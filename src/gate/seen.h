/* What a contract looks at in a program. */
#ifndef STET_GATE_SEEN_H
#define STET_GATE_SEEN_H

#include "fingerprint/traits.h"

/* Text lives in the arena given to stet_gate_seen_make. */
struct stet_seen_arg {
    struct stet_view name; /* "arg3" when the framework gives none */
    struct stet_view type; /* "float32" */
    const int64_t *dims;   /* STET_DYNAMIC for '?' */
    uint32_t rank;
    bool donated;
    struct stet_view sharding, layout; /* empty: none */
};

struct stet_seen {
    struct stet_view family;
    enum stet_framework framework;
    struct stet_seen_arg *args;
    uint32_t arg_count;
    struct stet_view mesh;  /* "data=2 model=4" */
    struct stet_view calls; /* custom kernels, sorted, each once, separated by blanks */
    struct stet_hash graph, program, options; /* skeleton; key; of the compile options */
};

/* Reads `p`; nothing of it is kept but in the arena. The name of the family, `t` and the hash of
 * the options are the caller's. STET_NO_MEMORY is all that can go wrong. */
enum stet_rc stet_gate_seen_make(struct stet_seen *s, const struct stet_program *p,
                                 const struct stet_traits *t, const struct stet_fingerprint *print,
                                 struct stet_hash options, struct stet_arena *arena);

/* The function as a contract names it: for TorchTPU's eager operations without file and line, which
 * move with every edit. */
struct stet_view stet_gate_seen_family(const struct stet_traits *t);

#endif
