/* Extracts what a contract checks in a program. The layer does this before a compile, and `stet
 * check` for captured programs. The texts belong to the caller's arena. */
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

/* Reads `p` and copies into the arena what it needs. The caller provides the name of the family,
 * `t` and the hash of the options. The only failure is STET_NO_MEMORY. */
enum stet_rc stet_gate_seen_make(struct stet_seen *s, const struct stet_program *p,
                                 const struct stet_traits *t, const struct stet_fingerprint *print,
                                 struct stet_hash options, struct stet_arena *arena);

/* Returns the function's name in a contract. The names of TorchTPU's eager operations lose their
 * file and line, which change with every edit. */
struct stet_view stet_gate_seen_family(const struct stet_traits *t);

#endif
