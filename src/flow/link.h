/* Combines the summaries of all files: which functions are traced, by what, and which of their
 * parameters are then tensors, static or varying. Runs once, after all summaries exist. */
#ifndef STET_FLOW_LINK_H
#define STET_FLOW_LINK_H

#include "base/err.h"
#include "flow/summary.h"

struct stet_flow_place {
    uint32_t file, fn; /* file FLOW_NONE: not among the files */
};

/* Why a function is traced: by a root, or because another traced one calls it. */
struct stet_flow_why {
    struct stet_flow_place caller; /* file FLOW_NONE: a root */
    uint32_t file, line;
    struct stet_view how; /* of a root: "jax.jit"; empty for a method through which modules run */
};

/* What is known of a function. The bits of its parameters are stored at the outermost function of
 * its nest. */
struct stet_flow_state {
    uint8_t lanes; /* by which it is traced; 0 if it is not */
    bool queued;
    uint64_t python; /* its own parameters that can't be tensors */
    uint64_t tensors, statics;
    uint64_t near;    /* tensors that the compiled function itself passes on */
    uint64_t varying; /* given another Python value at each turn of a loop */
    uint64_t rooted;  /* static arguments of the compiled function itself */
    uint64_t own;     /* all its parameters: traced, or reported as static arguments */
    uint64_t given;   /* parameters that a traced call gives; the others have their defaults */
    bool repeated;    /* called in a loop outside of traced code */
    bool hashed;      /* a compiled method whose class, or a base in any file, defines __hash__ */
    struct stet_flow_why why;
};

struct stet_flow_file {
    const struct stet_flow_summary *code;
    bool asks_calls;   /* `varying` and `repeated` are needed for its functions */
    const bool *stops; /* by function: tracing ends there; NULL for none */
};

struct stet_flow_linked {
    struct stet_flow_state **states; /* by file and function */
    bool **guards;                   /* by file and guard: what is under it is never compiled */
    size_t file_count;
    uint64_t steps;
};

/* Borrows the files while it runs. Release the result, also after a failure. */
enum stet_rc stet_flow_link(struct stet_flow_linked *out, const struct stet_flow_file *files,
                            size_t file_count, struct stet_err *err);
void stet_flow_linked_release(struct stet_flow_linked *l);

#endif
