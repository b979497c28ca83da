/* Reads what JAX and PyTorch/XLA write into a log about tracing and graphs, which never reaches
 * PJRT: JAX_LOG_COMPILES, JAX_EXPLAIN_CACHE_MISSES, PT_XLA_DEBUG. The struct owns its texts. */
#ifndef STET_INGEST_FRAMEWORK_LOG_H
#define STET_INGEST_FRAMEWORK_LOG_H

#include "base/arena.h"
#include "base/err.h"

/* One function, from JAX_LOG_COMPILES. */
struct stet_log_function {
    struct stet_view name;
    uint64_t traces, trace_ns, lowerings, lower_ns, compiles, compile_ns;
};

/* One "TRACING CACHE MISS" of JAX_EXPLAIN_CACHE_MISSES. */
struct stet_log_miss {
    struct stet_view function; /* empty if unknown */
    struct stet_view file, caller;
    uint64_t line;
    struct stet_view why; /* its lines joined by "; " */
    bool first;           /* the function was never seen before */
};

/* Graphs of one cause and line, from PT_XLA_DEBUG. */
struct stet_log_graph {
    struct stet_view cause;
    struct stet_view file, caller; /* the innermost frame outside installed packages */
    uint64_t line;
    uint64_t compilations, executions;
};

struct stet_framework_log {
    struct stet_arena arena;
    struct stet_log_function *functions;
    struct stet_log_miss *misses;
    struct stet_log_graph *graphs;
    size_t function_count, miss_count, graph_count;
    size_t left_out; /* beyond what is kept */
};

void stet_framework_log_init(struct stet_framework_log *l);
void stet_framework_log_release(struct stet_framework_log *l);
/* Adds what a text contains; other lines are skipped. */
enum stet_rc stet_framework_log_read(struct stet_framework_log *l, struct stet_view text,
                                     struct stet_err *err);
/* The same for a file, from an offset on. */
enum stet_rc stet_framework_log_open(struct stet_framework_log *l, const char *path, uint64_t from,
                                     struct stet_err *err);

#endif
