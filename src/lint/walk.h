/* The analysis of one file: scopes, values, and the events at which rules run. The walk borrows the
 * tree and fills a summary. */
#ifndef STET_LINT_WALK_H
#define STET_LINT_WALK_H

#include "base/map.h"
#include "base/vec.h"
#include "lint/array_facts.h"
#include "lint/summary.h"
#include "python/module.h"

/* What is known about a value. "If its deps are tensors" applies to each of these except the first
 * two and the last two. */
enum lint_value_kind {
    LINT_V_UNKNOWN,
    LINT_V_PYTHON, /* not from a tensor */
    LINT_V_TENSOR,
    LINT_V_SHAPE,  /* a Python number or tuple that follows a tensor's shape */
    LINT_V_HOST,   /* a Python value read back from a tensor */
    LINT_V_FN,     /* a function of this file */
    LINT_V_JITTED, /* a compiled function, see struct lint_jit */
};

enum {
    LINT_WEAK = 1,    /* perhaps not a tensor: attribute of a tree, result of an unknown call */
    LINT_BOOL = 2,    /* a result of comparisons: a mask */
    LINT_DYNAMIC = 4, /* its size depends on values */
    LINT_VARIES = 8,  /* Python value that changes with each turn of a loop outside traced code */
    LINT_TREE = 16,   /* a dict, list or tuple that holds tensors */
    LINT_GUESS = 32,  /* weak, and only because a tensor went into a call */
    LINT_STEPS = 64,  /* varies with each torch_xla step, not inside of one alone */
    LINT_CHANGES = LINT_VARIES | LINT_STEPS,
};

struct lint_value {
    uint64_t deps;
    uint8_t kind, flags;
    uint32_t index;       /* of the function or jit */
    stet_python_ref from; /* the expression it was made by */
    struct lint_facts f;
};

enum { LINT_FED = 6 };

/* A compiled function made in this file: jax.jit(f, …) or a decorated definition. */
struct lint_jit {
    uint32_t fn; /* LINT_NONE if unknown */
    uint8_t lane;
    bool shifted;  /* arguments are bound before the first */
    bool dynamic;  /* dynamic=True */
    bool fixed;    /* dynamic=False */
    uint8_t modes; /* called with gradients (1), without (2), at all (4); .eval() came after that
                      (8), and then another call (16) */
    uint64_t static_positions, donated_positions;
    struct stet_view static_names[8];
    uint32_t static_name_count;
    stet_python_ref node;
    uint32_t module; /* the name of what was compiled, when it has one */
    struct lint_fed {
        struct lint_facts f;
        uint32_t line, fn;
        struct stet_view text; /* a literal value */
    } fed[LINT_FED];           /* by position: the arguments of its first call */
};

struct lint_binding {
    uint32_t name;
    uint32_t writes;
    uint32_t at; /* of the statement that bound it last, in bytes */
    struct lint_value value;
};

struct lint_scope {
    struct lint_binding *items;
    uint32_t count;
    size_t room;
    struct stet_map index; /* name -> item, once there are many */
};

/* Rules search whole ranges of nodes. Each search is short in real code. Their total is limited to
 * a multiple of the file's size, so that no file takes disproportionate time. */
struct lint_work {
    uint64_t steps, most;
};

enum lint_progress { LINT_NOT_YET, LINT_RUNNING, LINT_DONE };

struct lint_function {
    stet_python_ref node, body, parameters,
        decorated;   /* decorated: the definition with decorators, or 0 */
    uint32_t parent; /* enclosing function; fn 0 is the module */
    uint32_t owner;  /* class, or LINT_NONE */
    uint32_t name;
    enum lint_progress progress;
    struct lint_scope scope;
    struct lint_value returns;
    struct lint_facts items[4]; /* of a tuple that is returned */
    uint8_t returned, item_count;
    uint32_t jit;  /* index + 1 of its own jit when a decorator makes one */
    bool memoized; /* lru_cache and the like: runs once per argument */
};

struct lint_class_info {
    stet_python_ref node;
    uint32_t name;
    bool decorated;
    struct lint_scope attributes; /* attributes of self */
};

struct lint_walk {
    const struct stet_python_module *module;
    const struct stet_python_ast *ast; /* of the module */
    struct lint_summary *out;
    struct lint_function *fns;
    uint32_t fn_count;
    struct lint_class_info *classes;
    uint32_t class_count;
    struct lint_jit *jits;
    uint32_t jit_count;
    size_t fn_room, class_room, jit_room, call_room, candidate_room, import_room;
    struct stet_map index_of;         /* node -> function or class */
    struct stet_map moves;            /* object and attribute, by name: a loop sets it */
    struct stet_map class_moves;      /* class and attribute, by name: a loop sets it */
    struct stet_map builders;         /* methods that run while an object is made */
    struct stet_map *attribute_moves; /* class and attribute -> lint_attribute_moves, as asked */
    struct lint_work *work;
    bool *compiled; /* by name number: some statement of the file gives it a jitted function */
    uint32_t *global_writes;   /* by name number: writes from functions through `global` */
    struct lint_value *values; /* by node, of those evaluated */
    /* the position of the walk */
    uint32_t fn;
    uint32_t depth;      /* of recursion */
    uint32_t loops;      /* loops around this place, in this function */
    uint32_t branches;   /* conditions around it */
    uint32_t step_loops; /* loops around it that hold a torch_xla step */
    bool ends_step;      /* a step ends in the innermost loop itself */
    uint32_t quiet;      /* inside code that is not traced */
    uint32_t once;       /* guarded by "if it does not exist yet" */
    uint32_t periodic;   /* inside `if step % n == 0` or a branch of one rank */
    uint32_t no_grad;
    uint32_t if_start, branch_start; /* the innermost if and its branch, in bytes; 0 for none */
    bool if_open;                    /* it has no else */
    uint32_t facts;
    stet_python_ref statement;
    stet_python_ref loop;       /* innermost */
    stet_python_ref outer_loop; /* outermost of this function */
    uint32_t block_end;         /* of the innermost block, in bytes */
    bool target;                /* the current subscript is written, not read */
    bool failed;                /* out of memory */
};

/* Facts of a whole file, found before the walk. */
enum lint_fact {
    LINT_USES_JAX = 1,
    LINT_USES_TORCH = 2,
    LINT_USES_XLA = 4, /* torch_xla or torch_tpu */
    LINT_USES_COMPILE = 8,
    LINT_USES_SCHEDULER = 32,
    LINT_USES_TORCH_XLA = 64,
    LINT_COMPILES_OPTIMIZER = 128, /* the optimizer's step itself is compiled */
    LINT_USES_JIT = 256,
    LINT_MARKS_DYNAMIC = 512,
    LINT_FEEDS_BATCHES = 1024, /* a training loop, not one prompt */
    LINT_USES_TPU = 2048,      /* PyTorch on the device "tpu": operations there are programs */
};

/* The whole analysis of an indexed module: fills `out`, whose arena it uses. */
enum stet_rc lint_walk_file(struct lint_summary *out, const struct stet_python_module *module,
                            struct stet_err *err);

/* scopes.c */
bool lint_collect(struct lint_walk *w);
struct lint_binding *lint_lookup(struct lint_walk *w, uint32_t fn, uint32_t name);
struct lint_binding *lint_scope_find(struct lint_scope *s, uint32_t name);
void lint_scope_release(struct lint_scope *s);
void lint_bind(struct lint_walk *w, struct lint_scope *s, uint32_t name, struct lint_value v);
uint32_t lint_fn_at(const struct lint_walk *w, stet_python_ref node);
uint32_t lint_method(const struct lint_walk *w, uint32_t owner, uint32_t name);
/* The class of a definition; of the object that a name stands for in a method ("self"); of the
 * method around this place. LINT_NONE for none. */
uint32_t lint_class_at(const struct lint_walk *w, stet_python_ref node);
uint32_t lint_self_class(const struct lint_walk *w, stet_python_ref object);
uint32_t lint_class_around(const struct lint_walk *w);

/* param_uses.c: a function uses the parameter as only a tensor can be used */
bool lint_used_as_tensor(struct lint_walk *w, uint32_t fn, uint32_t name);
/* … as a random generator of the host */
bool lint_draws(struct lint_walk *w, uint32_t fn, uint32_t name);
/* Finds the names that hold compiled functions, for the functions above. */
void lint_note_compiled(struct lint_walk *w);
/* … or as a mask: ~m, m.any(), where(m, …), masked_fill(m, …), or a call in the file passes one */
bool lint_used_as_mask(struct lint_walk *w, uint32_t fn, uint32_t name);

/* file_facts.c */
uint32_t lint_file_facts(struct lint_walk *w);
/* The origins of an expression (enum stet_python_from), as far as this file shows them. */
uint32_t lint_origins(const struct lint_walk *w, stet_python_ref n);
/* Does a call in the range make an optimizer take its step? *sometimes: only under a condition of
 * the range. */
bool lint_updates(const struct lint_walk *w, stet_python_ref range, bool *sometimes);
/* Does it compute gradients? */
bool lint_computes_gradients(const struct lint_walk *w, stet_python_ref range);

/* moves.c: how an attribute of a class changes after construction; bits. None at first and set
 * once, late, is the usual form of caches and lazy parts: it moves, but does not keep moving. */
enum { LINT_MOVES = 1, LINT_KEEPS_MOVING = 2 };
unsigned lint_attribute_moves(const struct lint_walk *w, uint32_t owner, uint32_t name);
void lint_note_moves(struct lint_walk *w);
/* Is the attribute set from outside, in a loop: of an object of this class, or of this name? */
bool lint_class_attribute_moved(const struct lint_walk *w, uint32_t owner, uint32_t attribute);
bool lint_object_attribute_moved(const struct lint_walk *w, uint32_t object, uint32_t attribute);

/* values.c: expressions */
struct lint_value lint_eval(struct lint_walk *w, stet_python_ref n);
struct lint_value lint_join(struct lint_value a, struct lint_value b);
/* Binds a target (name, tuple, attribute of self) to a value. */
void lint_assign(struct lint_walk *w, stet_python_ref target, struct lint_value v);
/* Returns the value of an item when iterating over it. */
struct lint_value lint_element(struct lint_value v);
/* Python needs the truth value of n: the places where Python branches. */
void lint_condition(struct lint_walk *w, stet_python_ref n);
/* Makes room for one more item of an array that grows with the walk; otherwise false, and sets
 * w->failed. */
static inline bool lint_room(struct lint_walk *w, void *items, size_t *room, size_t count,
                             size_t size)
{
    if (stet_vec_room(items, room, count, size))
        return true;
    w->failed = true;
    return false;
}

/* Returns the value of an expression; unknown before it was evaluated. */
static inline struct lint_value lint_value_of(const struct lint_walk *w, stet_python_ref n);
/* calls.c */
struct lint_value lint_eval_call(struct lint_walk *w, stet_python_ref n);
/* transforms.c: jit and similar; true when the call is one */
bool lint_transform(struct lint_walk *w, stet_python_ref call, struct stet_view dotted,
                    struct lint_value *out);
/* Is it a library whose functions are known or irrelevant, not a part of the project? */
bool lint_is_library(struct stet_view dotted);
void lint_decorators(struct lint_walk *w, uint32_t fn);
/* control_flow.c: statements */
void lint_note_return(struct lint_walk *w, stet_python_ref value, struct lint_value v);
void lint_run_function(struct lint_walk *w, uint32_t fn);
/* Runs the statements among the children; also those of try, match and what the parser could not
 * place. */
void lint_run_block(struct lint_walk *w, stet_python_ref block);
/* loops.c */
void lint_run_for(struct lint_walk *w, stet_python_ref n);
void lint_run_while(struct lint_walk *w, stet_python_ref n);
/* Notes what is known about each part of a tuple that a function of this file returns or yields. */
void lint_note_items(struct lint_walk *w, stet_python_ref left, stet_python_ref right);

/* Counts one step of a search; false if the file has used up its share. */
static inline bool lint_spend(const struct lint_walk *w)
{
    return ++w->work->steps <= w->work->most;
}

/* Walks the nodes of n's text in order: for (c = n; lint_within(w, c, n); c++). */
static inline bool lint_within(const struct lint_walk *w, stet_python_ref c, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    return c < a->count && (c == n || a->nodes[c].start < a->nodes[n].end) && lint_spend(w);
}

/* Does it vary with a loop, or contain something that does? */
static inline bool lint_turns(struct lint_value v)
{
    return (v.flags & LINT_VARIES) || (v.f.flags & LINT_F_TURNS);
}

static inline bool lint_is_tensor(struct lint_value v)
{
    return v.kind == LINT_V_TENSOR && v.deps != 0;
}

/* Is it definitely so? */
static inline bool lint_is_strong(struct lint_value v)
{
    return lint_is_tensor(v) && !(v.flags & (LINT_WEAK | LINT_TREE));
}

static inline struct lint_value lint_value_of(const struct lint_walk *w, stet_python_ref n)
{
    return w->values[n];
}

static inline bool lint_name_is(const struct lint_walk *w, uint32_t name, const char *text)
{
    return name && stet_view_is(w->ast->names.items[name], text);
}

/* Records a call or a transform of a function. `lanes` 0: only if the caller is traced. */
struct lint_call *lint_add_call(struct lint_walk *w, stet_python_ref at, uint32_t callee,
                                struct stet_view target, uint32_t owner, uint8_t lanes,
                                const char *how);

/* Reports a candidate: with `lanes` 0 it holds unconditionally. The text is one sentence without a
 * full stop. */
struct lint_candidate *lint_report(struct lint_walk *w, unsigned rule, stet_python_ref at,
                                   uint8_t lanes, enum lint_mode mode, uint64_t deps,
                                   const char *fmt, ...) __attribute__((format(printf, 7, 8)));

#endif
