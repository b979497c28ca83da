/* The summary of one file, which needs neither its tree nor its text: the functions, the calls with
 * their arguments, and the findings that hold if a function turns out to be traced. It is small
 * enough to keep for thousands of files, and the cache stores it. */
#ifndef STET_LINT_SUMMARY_H
#define STET_LINT_SUMMARY_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define LINT_NONE   UINT32_MAX
/* A value that is a tensor whatever the parameters are. The other bits are parameters: a function
 * and all functions nested in it (a nest) share one numbering. */
#define LINT_ALWAYS ((uint64_t)1 << 63)
#define LINT_BITS   63u

/* How code comes to be traced. */
enum lint_lane {
    LINT_JAX = 1,    /* jax.jit and similar */
    LINT_TORCH = 2,  /* torch.compile in the source */
    LINT_MODULE = 4, /* forward of a module: compiled by some users of it */
    LINT_XLA = 8,    /* a torch_xla / TorchTPU step */
    LINT_TRACED = 15,
};

/* What a candidate needs in addition to a traced function. */
enum lint_mode {
    LINT_ANY,      /* nothing */
    LINT_TENSOR,   /* one of `deps` is a tensor */
    LINT_STATIC,   /* one of `deps` is a static argument: a Python value that may vary by call */
    LINT_VARYING,  /* one of `deps` gets another Python value at each turn of a loop elsewhere */
    LINT_REPEATED, /* its function is called in a loop outside of traced code */
    LINT_ROOTED,   /* one of `deps` is a tensor or an argument of the compiled function itself */
};

struct lint_import {
    struct stet_view local, target; /* target is absolute and dotted; local "*" takes all */
};

struct lint_class {
    struct stet_view name;
    struct stet_view *bases; /* dotted, imports resolved */
    uint32_t base_count;
};

struct lint_fn {
    struct stet_view name;
    uint32_t class_index; /* LINT_NONE if it is not a method */
    uint32_t nest;        /* the outermost function that contains it; itself if it is that */
    uint32_t line;
    uint32_t first_bit, param_count;
    struct stet_view *params; /* names, self included */
    uint64_t python_mask;     /* of the nest's bits: parameters that can't be tensors */
    uint64_t tensor_mask;     /* annotated or named as tensors */
    uint64_t scalar_mask;     /* annotated as int or float */
    bool disabled;            /* kept out of tracing by a decorator */
    bool is_method;
    bool nested;
};

/* `position` counts the callee's parameters as written at the call (without self), or is -1 and the
 * argument is named. */
struct lint_arg {
    int32_t position;
    struct stet_view name;
    uint64_t deps;
    uint64_t static_deps; /* parameters it passes on as Python values */
    bool varies;          /* another Python value at each turn of a loop */
};

struct lint_call {
    uint32_t caller;         /* function, or LINT_NONE for module level */
    uint32_t callee;         /* in this file, or LINT_NONE */
    struct stet_view target; /* else: dotted name, or a method's name when class_index is set */
    uint32_t class_index;    /* of self */
    uint8_t lanes;           /* not 0: this call traces the callee, whatever its caller */
    uint32_t line;
    struct stet_view how; /* "jax.jit", for the message */
    bool all_tensors;     /* every parameter not static is a tensor */
    bool in_loop;
    uint64_t static_positions;
    struct stet_view *static_names;
    uint32_t static_name_count;
    struct lint_arg *args;
    uint32_t arg_count;
};

struct lint_edit {
    uint32_t start, end; /* bytes of the file; nothing to edit when text.ptr is NULL */
    struct stet_view text;
};

struct lint_candidate {
    uint16_t rule;
    uint8_t lanes; /* lanes, one of which must trace its function; 0: holds unconditionally */
    uint8_t mode;
    uint32_t fn;
    uint64_t deps;
    uint32_t line, column, end_line, end_column; /* from 1; columns in bytes */
    struct stet_view what;                       /* one sentence about this place */
    struct stet_view source;                     /* the line, trimmed */
    struct lint_edit edit;
};

struct lint_summary {
    struct stet_arena arena;
    struct stet_view module; /* dotted */
    struct lint_import *imports;
    struct lint_class *classes;
    struct lint_fn *fns;
    struct lint_call *calls;
    struct lint_candidate *candidates;
    uint32_t import_count, class_count, fn_count, call_count, candidate_count;
    bool broken;      /* the parser found errors */
    uint64_t ignored; /* findings that comments in the file suppress */
    uint64_t steps;   /* steps that the walk and the link took; not stored */
};

void lint_summary_release(struct lint_summary *s);

/* The stored form. The reader validates everything: STET_BAD_INPUT for bytes that the writer did
 * not make. */
void lint_summary_write(const struct lint_summary *s, struct stet_buf *out);
enum stet_rc lint_summary_read(struct lint_summary *s, struct stet_view bytes, unsigned rules,
                               struct stet_err *err);

#endif
