/* Finds what flows into an expression: through assignments, loops, attributes, calls of the user's
 * own functions and methods, and imported files. The answer is a set of origins, never a proof. An
 * origin that is not in the set was not found, and PY_FROM_UNKNOWN means that something could not
 * be followed. The work of one question is bounded. */
#ifndef STET_PYTHON_VALUE_FLOW_H
#define STET_PYTHON_VALUE_FLOW_H

#include "python/library.h"
#include "python/sources.h"

enum stet_python_from {
    PY_FROM_DEVICE = 1,   /* an array on the device, or a function that computes one */
    PY_FROM_NUMBER = 2,   /* a number or truth value read back from an array */
    PY_FROM_ARRAY = 4,    /* a whole array read back */
    PY_FROM_READ = 6,     /* either of them */
    PY_FROM_SURE = 8,     /* what was read back is known to be on the device */
    PY_FROM_SHAPE = 16,   /* a size of an array */
    PY_FROM_UNKNOWN = 32, /* something that was not followed */
    PY_FROM_HANDLE = 64,  /* a device */
    PY_FROM_TYPE = 128,   /* a type of elements */
    PY_FROM_TEXT = 256,
    PY_FROM_TURNS = 512, /* another value in each turn of a loop */
    PY_FROM_OPTIMIZER = 1024,
    PY_FROM_GRADIENT = 2048,
    PY_FROM_LOGGER = 4096,
    PY_FROM_FEED = 8192, /* an iterator that brings its items to the device */
    PY_FROM_JITTED = 16384,
    PY_FROM_FUNCTION = 32768,
    PY_FROM_PROCESS = 65536,   /* another value in each process of a run */
    PY_FROM_SELECTED = 131072, /* of a size: as many as a mask selects */
};

/* Lines of a statement. `module` is NULL when there is none. */
struct stet_python_place {
    const struct stet_python_module *module;
    uint32_t line, last;
};

struct stet_python_value {
    uint32_t from;
    uint64_t parameters; /* of the function in question, by position; not through arrays */
    struct stet_python_place read; /* where it was read back */
    struct stet_python_place made; /* where a number was made of what was read, or a selection */
};

/* A call that is being followed: parameters of `function` are arguments of `call`, which is an
 * expression of the caller's. The outermost frame has no call. */
struct stet_python_frame {
    const struct stet_python_module *module;
    stet_python_ref function, call;
    const struct stet_python_frame *caller;
    uint32_t bound; /* parameters that the object, or a class, takes */
    uint32_t seen;  /* a frame of the observed stack: its number, + 1 */
    bool mapped;    /* the call is map(function, items): parameters are items of its arguments */
    bool tree;      /* the call is jax.tree.map(function, tree): parameters are leaves of them */
};

struct stet_python_active;
struct stet_python_callee;

struct stet_python_flow {
    struct stet_python_sources *sources;
    const struct stet_python_frame *frame;
    const struct stet_python_active *active;
    /* The function whose parameters are wanted, or 0, and those of them that are Python values
     * although it is compiled. */
    const struct stet_python_module *asked_in;
    stet_python_ref asked;
    uint64_t asked_static;
    uint32_t steps, depth;
    int position; /* of the tuple that a function returns: the part wanted, or -1 */
    bool sized;   /* wanted is what decides the sizes of arrays, not their values */
    /* The lines that read back, where a run showed them; NULL: the source alone decides. */
    const struct stet_python_copies *copies;
    /* What decides whether an assignment runs; NULL if that does not count. */
    struct stet_python_value (*around)(struct stet_python_flow *x, stet_python_ref target);
    bool first; /* the question is what decided a first run */
};

struct stet_python_value stet_python_flow_of(struct stet_python_flow *x, stet_python_ref n);
/* The same for a condition: a device array whose truth value is needed is read back. */
struct stet_python_value stet_python_flow_of_truth(struct stet_python_flow *x, stet_python_ref n);
/* What flows into a parameter of a function of the frame's module. */
struct stet_python_value stet_python_flow_of_parameter(struct stet_python_flow *x,
                                                       stet_python_ref function,
                                                       stet_python_ref parameter,
                                                       uint32_t position);

/* Fills in the bindings of a name in a scope that may give it its value at a use, the last one
 * first; from *straight on: those of a loop that comes round. Returns their number. */
enum { STET_PYTHON_REACHING = 32 };
uint32_t stet_python_reaching(const struct stet_python_module *m, stet_python_ref use,
                              stet_python_ref scope,
                              const struct stet_python_binding *out[STET_PYTHON_REACHING],
                              uint32_t *straight);

/* The origins of an expression, without following imports into other files. *steps counts the
 * work. */
uint32_t stet_python_origins(const struct stet_python_module *m, stet_python_ref n,
                             uint32_t *steps);
/* What a call of a library gives; PY_GIVES_NOTHING_KNOWN for other calls. */
enum stet_python_effect stet_python_call_effect(const struct stet_python_module *m,
                                                stet_python_ref call, uint32_t *steps);
/* What the use of a library's function or method in a call shows; nothing for other calls. */
enum stet_python_meaning stet_python_call_meaning(const struct stet_python_module *m,
                                                  stet_python_ref call);
/* The name by which a library knows what is called: "where" for jnp.where(…) under whatever name,
 * "item" for x.item(). Empty for the functions and methods of the project, and for unknown ones. */
struct stet_view stet_python_library_callee(const struct stet_python_module *m,
                                            stet_python_ref call, char room[160]);
/* Does the call make an optimizer take its step: optimizer.step(), scaler.step(optimizer)? An
 * object that nothing is known of may be one. */
bool stet_python_updates(const struct stet_python_module *m, stet_python_ref call, uint32_t *steps);

/* ---- shared by the files of this analysis ---- */

struct stet_python_value stet_python_flow_of_call(struct stet_python_flow *x, stet_python_ref n);
struct stet_python_value stet_python_flow_of_name(struct stet_python_flow *x, stet_python_ref n);
/* Resolves an import's target in a file of the project; false when the project does not have it. */
bool stet_python_flow_of_import(struct stet_python_flow *x, struct stet_view target,
                                struct stet_python_value *out);
struct stet_python_value stet_python_flow_of_binding(struct stet_python_flow *x,
                                                     const struct stet_python_binding *b);
struct stet_python_value stet_python_flow_of_field(struct stet_python_flow *x,
                                                   const struct stet_python_module *m,
                                                   stet_python_ref class_node, uint32_t name);
struct stet_python_value stet_python_flow_of_returns(struct stet_python_flow *x,
                                                     const struct stet_python_frame *frame);
/* What describes an array: its sizes or rank, its type of elements, its device. */
struct stet_python_value stet_python_described(enum stet_python_effect effect);
/* What the variable of the environment that a text names holds; false when it is not known. */
bool stet_python_variable(const struct stet_python_module *m, stet_python_ref text,
                          struct stet_python_value *out);
/* What decides the sizes of the arrays in an expression: the numbers and the masks that they are
 * made with. */
struct stet_python_value stet_python_flow_of_size(struct stet_python_flow *x, stet_python_ref n);
/* The number of items of an array or container: len(x), x.size. */
struct stet_python_value stet_python_flow_of_count(struct stet_python_flow *x, stet_python_ref n);
/* The same where sizes are wanted; false for expressions that have the sizes of their parts. */
bool stet_python_flow_sizes(struct stet_python_flow *x, stet_python_ref n,
                            struct stet_python_value *out);
/* What a call gives of which nothing else is known, while the lines that read back are known. */
struct stet_python_value stet_python_flow_of_opaque(const struct stet_python_flow *x,
                                                    stet_python_ref call);
/* What a call of a function or class of the project gives. */
struct stet_python_value stet_python_flow_of_project(struct stet_python_flow *x,
                                                     stet_python_ref call,
                                                     const struct stet_python_callee *c);
/* All children of a node, as of a container of them. */
struct stet_python_value stet_python_flow_of_children(struct stet_python_flow *x,
                                                      stet_python_ref n);
/* Joins two possible values. */
struct stet_python_value stet_python_either(struct stet_python_value a, struct stet_python_value b);
/* Reads `v` back in the statement of n, if it is on the device or unknown; `number` for one value
 * of it. */
struct stet_python_value stet_python_read_in(struct stet_python_flow *x, stet_python_ref n,
                                             struct stet_python_value v, bool number);
/* May the statement of n read `v` back, if that is an array of the device? */
bool stet_python_may_read(const struct stet_python_flow *x, stet_python_ref n,
                          const struct stet_python_value *v);
/* The lines of the statement that a node is part of. */
struct stet_python_place stet_python_place_of(const struct stet_python_module *m,
                                              stet_python_ref n);

/* The target of a call: a function or class of the project, a transform, or a name of a library. */
struct stet_python_callee {
    const struct stet_python_module *module; /* of `definition` */
    stet_python_ref definition;     /* function, lambda or class; 0 when not the project's */
    bool bound;                     /* a method: the object is the first argument */
    uint32_t given;                 /* arguments that a partial passes before those of the call */
    stet_python_ref object;         /* of a method call that is not the project's */
    enum stet_python_effect effect; /* of a library's function or method */
    enum stet_python_meaning meaning;
    const struct stet_python_transform *transform;
    bool compiled; /* a jitted form of the definition */
    bool guessed; /* the only method of this name in the project; the object's class is not known */
};

struct stet_python_callee stet_python_resolve(struct stet_python_flow *x, stet_python_ref call);
/* Does a decorator jit or trace the definition? */
bool stet_python_is_compiled(struct stet_python_flow *x, const struct stet_python_callee *c);
/* The same for the name in an expression: `f` in jax.jit(f). */
struct stet_python_callee stet_python_resolve_name(struct stet_python_flow *x, stet_python_ref n);
/* The transform that a decorator of a definition applies; *options is the call that holds its
 * options, or 0. `at` walks the decorators: begin with 0; NULL at the end. */
const struct stet_python_transform *stet_python_decorator(struct stet_python_flow *x,
                                                          stet_python_ref definition,
                                                          stet_python_ref *at,
                                                          stet_python_ref *options);
/* Returns the transform that an expression denotes: jax.jit, partial(jax.jit, …). */
const struct stet_python_transform *
stet_python_transform_in(struct stet_python_flow *x, stet_python_ref n, stet_python_ref *options);
/* Returns the class of the project of which an object is an instance, or 0; *module is the class's
 * module. */
stet_python_ref stet_python_class_of(struct stet_python_flow *x, stet_python_ref object,
                                     const struct stet_python_module **module);

#endif
