/* The forward evaluation of one file: what each expression holds when it runs, as far as the source
 * shows it, and on which parameters that depends. A listener (the rules of lint) is called for
 * each event and may ask about every value so far. The walk borrows the module and fills a
 * summary. */
#ifndef STET_FLOW_WALK_H
#define STET_FLOW_WALK_H

#include "base/map.h"
#include "base/vec.h"
#include "flow/array_facts.h"
#include "flow/summary.h"
#include "python/value_flow.h"

/* What is known about a value. "If its deps are tensors" applies to each of these except the first
 * two and the last two. */
enum stet_flow_value_kind {
    FLOW_V_UNKNOWN,
    FLOW_V_PYTHON, /* not from a tensor */
    FLOW_V_TENSOR,
    FLOW_V_SHAPE,  /* a Python number or tuple that follows a tensor's shape */
    FLOW_V_HOST,   /* a Python value read back from a tensor */
    FLOW_V_FN,     /* a function of this file */
    FLOW_V_JITTED, /* a compiled function, see struct stet_flow_jit */
};

enum {
    FLOW_WEAK = 1,    /* perhaps not a tensor: attribute of a tree, result of an unknown call */
    FLOW_BOOL = 2,    /* a result of comparisons: a mask */
    FLOW_DYNAMIC = 4, /* its size depends on values */
    FLOW_VARIES = 8,  /* Python value that changes with each turn of a loop outside traced code */
    FLOW_TREE = 16,   /* a dict, list or tuple that holds tensors */
    FLOW_GUESS = 32,  /* weak, and only because a tensor went into a call */
    FLOW_STEPS = 64,  /* varies with each torch_xla step, not inside of one alone */
    FLOW_FIELD = 128, /* weak, and a field of a structure or an item of a dictionary */
    FLOW_CHANGES = FLOW_VARIES | FLOW_STEPS,
};

struct stet_flow_value {
    uint64_t deps;
    uint8_t kind, flags;
    uint32_t index;       /* of the function or jit */
    stet_python_ref from; /* the expression it was made by */
    struct stet_flow_facts f;
};

enum { FLOW_FED = 6 };

/* A compiled function made in this file: jax.jit(f, …) or a decorated definition. */
struct stet_flow_jit {
    uint32_t fn; /* FLOW_NONE if unknown */
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
    struct stet_flow_fed {
        struct stet_flow_facts f;
        uint32_t line, fn;
        struct stet_view text; /* a literal value */
    } fed[FLOW_FED];           /* by position: the arguments of its first call */
};

struct stet_flow_binding {
    uint32_t name;
    uint32_t writes;
    uint32_t at; /* of the statement that bound it last, in bytes */
    struct stet_flow_value value;
};

struct stet_flow_scope {
    struct stet_flow_binding *items;
    uint32_t count;
    size_t room;
    struct stet_map index; /* name -> item, once there are many */
};

/* Rules search whole ranges of nodes. Each search is short in real code. Their total is limited to
 * a multiple of the file's size, so that no file takes disproportionate time. */
struct stet_flow_work {
    uint64_t steps, most;
};

/* The parts of a returned tuple that are followed one by one. */
enum { FLOW_ITEMS = 8 };

enum stet_flow_progress { FLOW_NOT_YET, FLOW_RUNNING, FLOW_DONE };

struct stet_flow_function {
    stet_python_ref node, body, parameters,
        decorated;   /* decorated: the definition with decorators, or 0 */
    uint32_t parent; /* enclosing function; fn 0 is the module */
    uint32_t owner;  /* class, or FLOW_NONE */
    uint32_t name;
    enum stet_flow_progress progress;
    struct stet_flow_scope scope;
    struct stet_flow_value returns;
    struct stet_flow_facts items[FLOW_ITEMS]; /* of a tuple that is returned */
    uint8_t item_kinds[FLOW_ITEMS];           /* bits: 1 << enum stet_flow_value_kind */
    uint8_t returned, item_count;
    uint32_t jit;  /* index + 1 of its own jit when a decorator makes one */
    bool memoized; /* lru_cache and the like: runs once per argument */
    bool yields;   /* a generator */
};

/* What a parameter is, from its type, its default or its uses. */
enum stet_flow_role {
    FLOW_ROLE_UNKNOWN,
    FLOW_ROLE_PYTHON, /* a value or an object of Python */
    FLOW_ROLE_SCALAR, /* a number of Python */
    FLOW_ROLE_TENSOR,
    FLOW_ROLE_TREE,  /* a container whose parts may be arrays */
    FLOW_ROLE_IMAGE, /* a picture of the host: no program takes one */
};

struct stet_flow_class_info {
    stet_python_ref node;
    uint32_t name;
    bool decorated;
    struct stet_flow_scope attributes; /* attributes of self */
    bool judged;                       /* role is known */
    enum stet_flow_role role;          /* of its objects (annotations.c) */
};

/* The events of a walk. The listener gets the node of the event, after it was evaluated. */
enum stet_flow_event {
    FLOW_ON_CONDITION = 1, /* an expression whose truth value Python needs */
    FLOW_ON_CALL = 2,
    FLOW_ON_SUBSCRIPT = 4,
    FLOW_ON_FOR = 8,
    FLOW_ON_ASSIGN = 16, /* the assignment */
    FLOW_ON_AUGASSIGN = 32,
    FLOW_ON_NAME = 64,      /* a name or self.name that is read */
    FLOW_ON_READBACK = 128, /* an expression that gives a shape */
    FLOW_ON_WITH = 256,
    FLOW_ON_JIT = 512, /* a call that makes a compiled function */
    FLOW_ON_FUNCTION = 1024,
    FLOW_ON_END = 2048, /* a function whose statements have been visited */
};

struct stet_flow_walk;

struct stet_flow_listener {
    void (*event)(struct stet_flow_walk *w, enum stet_flow_event event, stet_python_ref n);
    void *context; /* the listener's own */
};

struct stet_flow_walk {
    const struct stet_python_module *module;
    const struct stet_python_ast *ast; /* of the module */
    struct stet_flow_summary *out;
    const struct stet_flow_listener *listener;
    struct stet_flow_function *fns;
    uint32_t fn_count;
    struct stet_flow_class_info *classes;
    uint32_t class_count;
    struct stet_flow_jit *jits;
    uint32_t jit_count;
    size_t fn_room, class_room, jit_room, call_room, import_room, guard_room;
    struct stet_map index_of;    /* node -> function or class */
    struct stet_map moves;       /* object and attribute, by name: a loop sets it */
    struct stet_map class_moves; /* class and attribute, by name: a loop sets it */
    struct stet_map builders;    /* methods that run while an object is made */
    struct stet_map
        *attribute_moves; /* class and attribute -> stet_flow_attribute_moves, as asked */
    struct stet_flow_work *work;
    bool *compiled; /* by name number: some statement of the file gives it a jitted function */
    uint32_t *global_writes;        /* by name number: writes from functions through `global` */
    struct stet_flow_value *values; /* by node, of those evaluated */
    /* the position of the walk */
    uint32_t fn;
    uint32_t depth;      /* of recursion */
    uint32_t loops;      /* loops around this place, in this function */
    uint32_t branches;   /* conditions around it */
    uint32_t step_loops; /* loops around it that hold a torch_xla step */
    bool ends_step;      /* a step ends in the innermost loop itself */
    uint32_t quiet;      /* inside code that is not traced */
    uint32_t guard;      /* number of the guard around it, from 1; 0 for none */
    uint32_t absent;     /* where a parameter is None */
    uint32_t asked;      /* under a condition on a variable of the environment */
    uint64_t given;      /* parameters without which it does not come here, as `if flag` asks */
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
enum stet_flow_fact {
    FLOW_USES_JAX = 1,
    FLOW_USES_TORCH = 2,
    FLOW_USES_XLA = 4, /* torch_xla or torch_tpu */
    FLOW_USES_COMPILE = 8,
    FLOW_USES_SCHEDULER = 32,
    FLOW_USES_TORCH_XLA = 64,
    FLOW_COMPILES_OPTIMIZER = 128, /* the optimizer's step itself is compiled */
    FLOW_USES_JIT = 256,
    FLOW_MARKS_DYNAMIC = 512,
    FLOW_FEEDS_BATCHES = 1024,   /* a training loop, not one prompt */
    FLOW_USES_TPU = 2048,        /* PyTorch on the device "tpu": operations there are programs */
    FLOW_USES_PROCESS = 4096,    /* it asks for the number of its process */
    FLOW_USES_PICTURES = 8192,   /* it works on pictures of the host */
    FLOW_ASKS_VARIABLES = 16384, /* it reads variables of the environment */
    FLOW_ASSERTS = 32768,        /* it bounds numbers of a graph: torch._check */
};

/* The whole analysis of an indexed module: fills `out`, and calls the listener for each event. */
enum stet_rc stet_flow_walk_file(struct stet_flow_summary *out,
                                 const struct stet_python_module *module,
                                 const struct stet_flow_listener *listener, struct stet_err *err);

/* scopes.c */
bool stet_flow_collect(struct stet_flow_walk *w);
struct stet_flow_binding *stet_flow_lookup(struct stet_flow_walk *w, uint32_t fn, uint32_t name);
struct stet_flow_binding *stet_flow_scope_find(struct stet_flow_scope *s, uint32_t name);
void stet_flow_scope_release(struct stet_flow_scope *s);
void stet_flow_bind(struct stet_flow_walk *w, struct stet_flow_scope *s, uint32_t name,
                    struct stet_flow_value v);
/* Is it a parameter of this function or of one around it, with the value that it was called with?
 */
bool stet_flow_is_parameter(struct stet_flow_walk *w, stet_python_ref n);
uint32_t stet_flow_fn_at(const struct stet_flow_walk *w, stet_python_ref node);
uint32_t stet_flow_method(const struct stet_flow_walk *w, uint32_t owner, uint32_t name);
/* The class of a definition; of the object that a name stands for in a method ("self"). FLOW_NONE
 * for none. */
uint32_t stet_flow_class_at(const struct stet_flow_walk *w, stet_python_ref node);
uint32_t stet_flow_self_class(const struct stet_flow_walk *w, stet_python_ref object);

/* annotations.c */
enum stet_flow_role stet_flow_annotated(struct stet_flow_walk *w, stet_python_ref type);

/* What the field of this name is, by its annotation in the class of this file that the type names.
 */
enum stet_flow_role stet_flow_annotated_field(struct stet_flow_walk *w, stet_python_ref type,
                                              uint32_t field);
/* The dotted name of the class of another file that an annotation names; empty for all others. */
struct stet_view stet_flow_annotated_class(struct stet_flow_walk *w, stet_python_ref type,
                                           char room[160]);
/* Are a class's fields declared, and do they hold Python values alone? */
bool stet_flow_is_plain_class(struct stet_flow_walk *w, stet_python_ref class_node);
/* param_uses.c: a function uses the parameter as only a tensor can be used */
bool stet_flow_used_as_tensor(struct stet_flow_walk *w, uint32_t fn, uint32_t name);
/* … as a random generator of the host */
bool stet_flow_draws(struct stet_flow_walk *w, uint32_t fn, uint32_t name);
/* … as a picture of the host, and as nothing else */
bool stet_flow_used_as_image(struct stet_flow_walk *w, uint32_t fn, uint32_t name);
/* … as a bound of a slice or a count of a loop */
bool stet_flow_used_as_number(struct stet_flow_walk *w, uint32_t fn, uint32_t name);
/* Finds the names that hold compiled functions, for the functions above. */
void stet_flow_note_compiled(struct stet_flow_walk *w);
/* … or as a mask: ~m, m.any(), where(m, …), masked_fill(m, …), or a call in the file passes one */
bool stet_flow_used_as_mask(struct stet_flow_walk *w, uint32_t fn, uint32_t name);

/* array_facts.c */
/* Was it made in the memory of the host? */
static inline bool stet_flow_hosted(struct stet_flow_value v)
{
    return v.f.traits & FLOW_TRAIT_HOST;
}
/* … or is it a number of Python? */
bool stet_flow_on_host(struct stet_flow_value v);
/* The facts of one value or the other: int(torch.randint(9, (1,))) if n is None else n waits for no
 * device either way. */
struct stet_flow_facts stet_flow_facts_of(struct stet_flow_value a, struct stet_flow_value b);

/* known_values.c: the test fails whenever it is made, as that of a module's name that is False */
bool stet_flow_is_never(const struct stet_flow_walk *w, stet_python_ref test);

/* conditions.c */
/* Does the condition depend on the number of the process, as far as this file shows it? */
bool stet_flow_asks_rank(struct stet_flow_walk *w, stet_python_ref n);
/* The name that the condition excludes from being an array: isinstance(x, (int, float)); or 0.
 * *container: it is a list or a dictionary, which may hold arrays. */
stet_python_ref stet_flow_checked_host(const struct stet_flow_walk *w, stet_python_ref test,
                                       bool *container);
/* The name that the condition requires to be an object of a class of the project's own; or 0. */
stet_python_ref stet_flow_checked_object(const struct stet_flow_walk *w, stet_python_ref test);
/* A value as it was before a test excluded that it is a tensor. */
struct stet_flow_narrowed {
    uint32_t name, at;
    struct stet_flow_value before;
};

/* What follows runs where the test is false. Returns whether that excludes a tensor: isinstance(x,
 * Tensor). stet_flow_widen ends it. */
bool stet_flow_narrow(struct stet_flow_walk *w, stet_python_ref test,
                      struct stet_flow_narrowed *out);
void stet_flow_widen(struct stet_flow_walk *w, const struct stet_flow_narrowed *kept);

/* The name that the condition requires to be an array: isinstance(x, torch.Tensor); or 0. */
stet_python_ref stet_flow_checked_array(const struct stet_flow_walk *w, stet_python_ref test);
/* Returns `step % n` somewhere in a condition, or 0. If step does not count by itself, *deps are
 * the parameters that it is. */
stet_python_ref stet_flow_every_n(struct stet_flow_walk *w, stet_python_ref n, uint64_t *deps);

/* Does the block leave the function or the turn of the loop at its end? */
/* Does a function return what it put into a table of the module, under a key that it looked for
 * before? Then it runs once for each key (conditions.c). */
bool stet_flow_keeps_result(const struct stet_flow_walk *w, uint32_t fn);
bool stet_flow_leaves(const struct stet_flow_walk *w, stet_python_ref block);
/* Does the block run only on the way to an error? Nothing that a step pays for is in it. */
bool stet_flow_fails(const struct stet_flow_walk *w, stet_python_ref block);

/* meanings.c */
/* The longest dotted name that begins with this identifier. */
stet_python_ref stet_flow_whole_name(const struct stet_flow_walk *w, stet_python_ref n);
/* The array function or method that a call names, under whatever name; NULL for all other calls. */
const struct stet_python_array *stet_flow_array_call(const struct stet_flow_walk *w,
                                                     stet_python_ref call);
/* Does something inside n, or a function of this file that it names, have this meaning? */
bool stet_flow_means(const struct stet_flow_walk *w, stet_python_ref n,
                     enum stet_python_meaning meaning);
/* The value that this function gives once to a name; 0 for all other names. */
stet_python_ref stet_flow_local_value(const struct stet_flow_walk *w, stet_python_ref n);
/* Does this function return whether something has this meaning: returns is_compiling()? */
bool stet_flow_returns(const struct stet_flow_walk *w, stet_python_ref function,
                       enum stet_python_meaning meaning);
/* … or the opposite: returns not is_compiling()? */
bool stet_flow_denies(const struct stet_flow_walk *w, stet_python_ref function,
                      enum stet_python_meaning meaning);
/* Does the condition, or a function of this file that it calls, read a variable of the environment?
 */
bool stet_flow_asks_variable(const struct stet_flow_walk *w, stet_python_ref test);
/* The guard in the condition `not f()`, where f is a function of another file; *negated is false
 * for `f()`. Returns its number, or 0. */
uint32_t stet_flow_guard(struct stet_flow_walk *w, stet_python_ref test, bool *negated);
/* The opposite guard: code under it runs only where the same function returns True. */
uint32_t stet_flow_denial(struct stet_flow_walk *w, uint32_t guard);
/* Are objects of this class with equal fields equal, with one hash? */
bool stet_flow_compares_by_value(const struct stet_flow_walk *w, uint32_t class_index);

/* file_facts.c */
uint32_t stet_flow_file_facts(struct stet_flow_walk *w);
/* The origins of an expression (enum stet_python_from), as far as this file shows them. */
uint32_t stet_flow_origins(const struct stet_flow_walk *w, stet_python_ref n);
/* What a call of a library gives. */
enum stet_python_effect stet_flow_call_effect(const struct stet_flow_walk *w, stet_python_ref call);
/* Does a call in the range make an optimizer take its step? *sometimes: only under a condition of
 * the range. */
bool stet_flow_updates(const struct stet_flow_walk *w, stet_python_ref range, bool *sometimes);
/* Does it compute gradients? */
bool stet_flow_computes_gradients(const struct stet_flow_walk *w, stet_python_ref range);
/* Does the call, or one in the range, clear the gradients: zero_grad(), under any name, but not a
 * method of the user's own class? */
bool stet_flow_call_clears(const struct stet_flow_walk *w, stet_python_ref call);
bool stet_flow_clears_gradients(const struct stet_flow_walk *w, stet_python_ref range);
/* Does the expression read the groups of an optimizer's settings (param_groups)? */
bool stet_flow_holds_groups(const struct stet_flow_walk *w, stet_python_ref n);

/* moves.c: how an attribute of a class changes after construction; bits. None at first and set
 * once, late, is the usual form of caches and lazy parts: it moves, but does not keep moving. */
enum { FLOW_MOVES = 1, FLOW_KEEPS_MOVING = 2 };
unsigned stet_flow_attribute_moves(const struct stet_flow_walk *w, uint32_t owner, uint32_t name);
void stet_flow_note_moves(struct stet_flow_walk *w);
/* Is the attribute set from outside, in a loop: of an object of this class, or of this name? */
bool stet_flow_class_attribute_moved(const struct stet_flow_walk *w, uint32_t owner,
                                     uint32_t attribute);
bool stet_flow_object_attribute_moved(const struct stet_flow_walk *w, uint32_t object,
                                      uint32_t attribute);

/* values.c: expressions */
struct stet_flow_value stet_flow_eval(struct stet_flow_walk *w, stet_python_ref n);
struct stet_flow_value stet_flow_join(struct stet_flow_value a, struct stet_flow_value b);
/* Binds a target (name, tuple, attribute of self) to a value. */
void stet_flow_assign(struct stet_flow_walk *w, stet_python_ref target, struct stet_flow_value v);
/* Returns the value of an item when iterating over it. */
struct stet_flow_value stet_flow_element(struct stet_flow_value v);
/* The same, and marked as a part of a structure. */
struct stet_flow_value stet_flow_item(struct stet_flow_value v);
/* Python needs the truth value of n: the places where Python branches. */
void stet_flow_condition(struct stet_flow_walk *w, stet_python_ref n);
/* Makes room for one more item of an array that grows with the walk; otherwise false, and sets
 * w->failed. */
static inline bool stet_flow_room(struct stet_flow_walk *w, void *items, size_t *room, size_t count,
                                  size_t size)
{
    if (stet_vec_room(items, room, count, size))
        return true;
    w->failed = true;
    return false;
}

/* Returns the value of an expression; unknown before it was evaluated. */
static inline struct stet_flow_value stet_flow_value_of(const struct stet_flow_walk *w,
                                                        stet_python_ref n);
/* Calls the listener. */
static inline void stet_flow_tell(struct stet_flow_walk *w, enum stet_flow_event event,
                                  stet_python_ref n)
{
    w->listener->event(w, event, n);
}

/* calls.c */
/* Does a keyword fix the size of an array function's result: jnp.nonzero(x, size=n)? */
bool stet_flow_fixes_size(const struct stet_flow_walk *w, stet_python_ref call);
/* The compiled function that is called here, or NULL. */
struct stet_flow_jit *stet_flow_jit_called(struct stet_flow_walk *w, stet_python_ref call);
struct stet_flow_value stet_flow_eval_call(struct stet_flow_walk *w, stet_python_ref n);
/* transforms.c: jit and similar; true when the call is one */
bool stet_flow_transform(struct stet_flow_walk *w, stet_python_ref call, struct stet_view dotted,
                         struct stet_flow_value *out);
/* jax.tree.map(float, tree), jax.tree.map(jnp.shape, tree): values of Python, not arrays. */
bool stet_flow_maps_to_host(const struct stet_flow_walk *w, stet_python_ref call);
/* Is it a library whose functions are known or irrelevant, not a part of the project? */
bool stet_flow_is_library(struct stet_view dotted);
void stet_flow_decorators(struct stet_flow_walk *w, uint32_t fn);
/* control_flow.c: statements */
void stet_flow_note_return(struct stet_flow_walk *w, stet_python_ref value,
                           struct stet_flow_value v);
void stet_flow_run_function(struct stet_flow_walk *w, uint32_t fn);
/* Runs the statements among the children; also those of try, match and what the parser could not
 * place. */
void stet_flow_run_block(struct stet_flow_walk *w, stet_python_ref block);
/* branches.c */
void stet_flow_run_if(struct stet_flow_walk *w, stet_python_ref n);
/* Notes what holds in the rest of a block, when the branch of this `if` has left it. */
void stet_flow_after_if(struct stet_flow_walk *w, stet_python_ref n);
/* loops.c */
/* torch_xla.sync(), xm.mark_step(), xm.optimizer_step(optimizer) */
bool stet_flow_ends_step(const struct stet_flow_walk *w, stet_python_ref call);
void stet_flow_run_for(struct stet_flow_walk *w, stet_python_ref n);
void stet_flow_run_while(struct stet_flow_walk *w, stet_python_ref n);
/* Notes what is known about each part of a tuple that a function of this file returns or yields. */
void stet_flow_note_items(struct stet_flow_walk *w, stet_python_ref left, stet_python_ref right);

/* Counts one step of a search; false if the file has used up its share. */
static inline bool stet_flow_spend(const struct stet_flow_walk *w)
{
    return ++w->work->steps <= w->work->most;
}

/* Walks the nodes of n's text in order: for (c = n; stet_flow_within(w, c, n); c++). */
static inline bool stet_flow_within(const struct stet_flow_walk *w, stet_python_ref c,
                                    stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    return c < a->count && (c == n || a->nodes[c].start < a->nodes[n].end) && stet_flow_spend(w);
}

/* Does it vary with a loop, or contain something that does? */
static inline bool stet_flow_turns(struct stet_flow_value v)
{
    return (v.flags & FLOW_VARIES) || (v.f.flags & FLOW_F_TURNS);
}

static inline bool stet_flow_is_tensor(struct stet_flow_value v)
{
    return v.kind == FLOW_V_TENSOR && v.deps != 0;
}

/* Is it definitely so? */
static inline bool stet_flow_is_strong(struct stet_flow_value v)
{
    return stet_flow_is_tensor(v) && !(v.flags & (FLOW_WEAK | FLOW_TREE));
}

static inline struct stet_flow_value stet_flow_value_of(const struct stet_flow_walk *w,
                                                        stet_python_ref n)
{
    return w->values[n];
}

static inline bool stet_flow_name_is(const struct stet_flow_walk *w, uint32_t name,
                                     const char *text)
{
    return name && stet_view_is(w->ast->names.items[name], text);
}

/* Is the value of something inside n a shape, a part of one, or computed from one? */
bool stet_flow_holds_shape(const struct stet_flow_walk *w, stet_python_ref n);
/* Is an identifier of one of these texts somewhere inside n? */
bool stet_flow_mentions(const struct stet_flow_walk *w, stet_python_ref n,
                        const char *const *names);

/* Records a call or a transform of a function. `lanes` 0: only if the caller is traced. */
struct stet_flow_call *stet_flow_add_call(struct stet_flow_walk *w, stet_python_ref at,
                                          uint32_t callee, struct stet_view target, uint32_t owner,
                                          uint8_t lanes, const char *how);

#endif
