/* The summary of one file, which needs neither its tree nor its text: the functions, the classes,
 * and the calls with their arguments. It is small enough to keep for thousands of files; link.h
 * combines them. The summary owns its arena. */
#ifndef STET_FLOW_SUMMARY_H
#define STET_FLOW_SUMMARY_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/reader.h"

#define FLOW_NONE   UINT32_MAX
/* A value that is a tensor whatever the parameters are. The other bits are parameters: a function
 * and all functions nested in it (a nest) share one numbering. */
#define FLOW_ALWAYS ((uint64_t)1 << 63)
#define FLOW_BITS   63u
/* The first character of a guard that holds where its function returns True. */
#define FLOW_DENIAL '!'

/* How code comes to be traced. */
enum stet_flow_lane {
    FLOW_JAX = 1,    /* jax.jit and similar */
    FLOW_TORCH = 2,  /* torch.compile in the source */
    FLOW_MODULE = 4, /* forward of a module: compiled by some users of it */
    FLOW_XLA = 8,    /* a torch_xla / TorchTPU step */
    FLOW_FLAX = 16,  /* __call__ of a JAX module: compiled by nearly all users of it */
    FLOW_TRACED = 31,
};

struct stet_flow_import {
    struct stet_view local, target; /* target is absolute and dotted; local "*" takes all */
};

struct stet_flow_class {
    struct stet_view name;
    struct stet_view *bases; /* dotted, imports resolved */
    uint32_t base_count;
    bool is_plain; /* its fields are declared, and hold Python values alone */
};

struct stet_flow_fn {
    struct stet_view name;
    uint32_t class_index; /* FLOW_NONE if it is not a method */
    uint32_t nest;        /* the outermost function that contains it; itself if it is that */
    uint32_t line;
    uint32_t first_bit, param_count;
    uint32_t positional;      /* how many of them a call can give without a name */
    struct stet_view *params; /* names, self included */
    struct stet_view *types;  /* the class of each that another file defines; dotted, or empty */
    uint64_t python_mask;     /* of the nest's bits: parameters that can't be tensors */
    uint64_t tensor_mask;     /* annotated or used as tensors */
    uint64_t scalar_mask;     /* annotated as int or float */
    uint64_t number_mask;     /* used as a bound or a count: probably numbers of Python */
    bool disabled;            /* not traced: a decorator says so, or it takes a picture */
    bool compiled;            /* a decorator compiles it: each call of its name is compiled */
    bool is_method;
    bool nested;
    bool asks_compiling;   /* returns whether this code is being compiled */
    bool denies_compiling; /* returns whether it is not */
};

/* `position` counts the callee's parameters as written at the call (without self), or is -1 and the
 * argument is named. */
struct stet_flow_arg {
    int32_t position;
    struct stet_view name;
    uint64_t deps;
    uint64_t static_deps; /* parameters it passes on as Python values */
    bool varies;          /* another Python value at each turn of a loop */
    bool guess;           /* nothing but a tensor among arguments shows that it is one */
    bool nothing;         /* the words False or None */
};

struct stet_flow_call {
    uint32_t caller;         /* function, or FLOW_NONE for module level */
    uint32_t callee;         /* in this file, or FLOW_NONE */
    struct stet_view target; /* else: dotted name, or a method's name when class_index is set */
    uint32_t class_index;    /* of self */
    uint8_t lanes;           /* not 0: this call traces the callee, whatever its caller */
    uint32_t line;
    struct stet_view how; /* "jax.jit", for the message */
    bool all_tensors;     /* every parameter not static is a tensor */
    bool in_loop;
    bool compiled;  /* what is called is the compiled function, not the plain one */
    bool spreads;   /* it may give every parameter: f(*args), or f itself is passed on */
    uint64_t asked; /* parameters of the caller without which it does not reach this call */
    uint64_t static_positions;
    struct stet_view *static_names;
    uint32_t static_name_count;
    struct stet_flow_arg *args;
    uint32_t arg_count;
    uint32_t guard; /* number of the guard that it is under, from 1; 0 for none */
};

struct stet_flow_summary {
    struct stet_arena arena; /* of all its parts; a listener may add its own */
    struct stet_view module; /* dotted */
    struct stet_flow_import *imports;
    struct stet_flow_class *classes;
    struct stet_flow_fn *fns; /* the first one is the module */
    struct stet_flow_call *calls;
    /* Guards: functions of other files, by their dotted names. Code under a guard runs only where
     * the function returns False; after FLOW_DENIAL, where it returns True. */
    struct stet_view *guards;
    uint32_t import_count, class_count, fn_count, call_count, guard_count;
    bool broken;    /* the parser found errors */
    uint64_t steps; /* steps that the walk took; not stored */
};

/* Makes a summary with the module as its only function; for what is not Python or cannot be read.
 */
bool stet_flow_summary_empty(struct stet_flow_summary *s);
void stet_flow_summary_release(struct stet_flow_summary *s);

/* The stored form. The reader checks all indices; bytes that the writer did not make fail `r`.
 * Texts are borrowed from its input. */
void stet_flow_summary_write(const struct stet_flow_summary *s, struct stet_buf *out);
void stet_flow_summary_read(struct stet_flow_summary *s, struct stet_reader *r);

#endif
