/* One recompile as every lane tells it: what `stet explain` prints and the ledger keeps. */
#ifndef STET_LEDGER_RECOMPILE_H
#define STET_LEDGER_RECOMPILE_H

#include "base/view.h"

struct stet_line {
    struct stet_view file, function;
    uint64_t line; /* 0 when not known */
};

/* A text whose ptr is NULL is absent. */
struct stet_row_change {
    struct stet_view what, from, to;
    struct stet_view file;
    uint64_t line;                   /* 0 when not known */
    struct stet_view kind;           /* "argument", "constant", "guard"… */
    struct stet_view facet, follows; /* absent where there is none */
    uint64_t count;                  /* places that changed in the same way */
};

/* What a framework counted itself in one process. */
struct stet_counter {
    uint64_t process;
    struct stet_view framework, name; /* "torch_xla"; "UncachedCompile", "aten::nonzero" */
    uint64_t samples, total;          /* total: of a metric, nanoseconds or bytes */
    struct stet_line at;              /* of an operation without a lowering, where it is known */
};

struct stet_recompile {
    struct stet_view lane;     /* "xla", "torch" */
    uint64_t process, compile; /* process: number within the run; compile: 0-based in it */
    int64_t rank;              /* -1 when not known */
    bool step_known;
    uint64_t step;
    struct stet_view class, also; /* also: further classes, separated by blanks */
    struct stet_view function;
    struct stet_view program, against; /* 32 hex digits; absent where there is none */
    struct stet_line origin, trigger;
    const struct stet_row_change *changes;
    size_t change_count, left_out;
    uint64_t wait_ns;        /* what was waited for it: tracing to its first execution */
    uint64_t cost_ns;        /* the part of that inside the compiler, or in loading */
    struct stet_view served; /* compiled, memory, disk, remote, lifted */
    bool benign;
    struct stet_view sure, evidence; /* sure: certain, likely, guess */
    bool has_memory, has_more;
    uint64_t temp_bytes;
    int64_t temp_bytes_more;
    struct stet_view fix;
    struct stet_view advice; /* a JSON object: what the words say in numbers; absent for none */
};

#endif
