/* Questions of explain and ingest about the user's source, by file and line. The answer is no for a
 * file that cannot be read. The answers come from the syntax tree and from value flow
 * (value_flow.h); the names that a user chose have no influence. The sources own the files and
 * cache the answers. */
#ifndef STET_PYTHON_QUERIES_H
#define STET_PYTHON_QUERIES_H

#include "python/sources.h"

/* ---- what is around a line ---- */

/* The line of the `def` (or lambda) around a line; 0 at module level and when it is not known. */
uint32_t stet_python_def_around(struct stet_python_sources *s, struct stet_view file,
                                uint32_t line);
/* Is the function around a line a generator? */
bool stet_python_in_generator(struct stet_python_sources *s, struct stet_view file, uint32_t line);
/* The line of the innermost `for` or `while` whose body runs the line, in the same function; 0 when
 * there is none. */
uint32_t stet_python_loop_of_line(struct stet_python_sources *s, struct stet_view file,
                                  uint32_t line);
/* Returns the line of the only loop of a function, found by its name and one of its lines; 0 when
 * it has none, or several. */
uint32_t stet_python_only_loop(struct stet_python_sources *s, struct stet_view file,
                               struct stet_view function, uint32_t line);
/* Is it the line of an `if`, `elif`, `while` or `match`? */
bool stet_python_is_condition(struct stet_python_sources *s, struct stet_view file, uint32_t line);
/* The same, or does it choose inside an expression: `a if x else b`, `x and a`? */
bool stet_python_branches(struct stet_python_sources *s, struct stet_view file, uint32_t line);
/* Does a condition that decides whether the line runs depend on a value read back? The condition
 * may be around the line, may leave the block before it, or may be around the only call of its
 * function. The condition of a loop counts when `loops`. */
bool stet_python_condition_reads(struct stet_python_sources *s, struct stet_view file,
                                 uint32_t line, bool loops, struct stet_python_read *out);

/* ---- what a line does ---- */

/* Does an argument that the line passes to a call depend on a number read back? */
bool stet_python_argument_reads(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                                struct stet_python_read *out);
/* Does the line read a value back, by itself or in a function that it calls? */
bool stet_python_line_reads(struct stet_python_sources *s, struct stet_view file, uint32_t line);
/* Does it call a function of an array library with one of these roles (library.h)? */
bool stet_python_line_calls(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                            unsigned roles);
/* Does it read the size of an array: x.shape, len(x)? */
bool stet_python_line_sizes(struct stet_python_sources *s, struct stet_view file, uint32_t line);
/* Does it give a name, a field or an item a value of its own: not by adding to it, and not by
 * returning it or putting it into a container? */
bool stet_python_line_assigns(struct stet_python_sources *s, struct stet_view file, uint32_t line);
/* Does it call a function or use an attribute of this name? */
bool stet_python_line_names(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                            struct stet_view name);
/* Does a call in the line pass the object that a path is in: `model` or `self.model` for
 * "self.model.scale"? */
bool stet_python_line_passes(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                             struct stet_view path);
/* Returns the line that makes a jitted function each time this one runs: the line itself, one
 * before it in the same loop or function, or one of a function that made the callee. *from is its
 * file. 0 for none. */
uint32_t stet_python_makes_jit(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                               struct stet_view *from);
/* The only line under a condition, in the loop around `line`, that computes the operation; 0 when
 * there is none or several, or when the loop always computes it. */
uint32_t stet_python_conditional_line(struct stet_python_sources *s, struct stet_view file,
                                      uint32_t line, struct stet_view operation);

/* ---- what depends on a line that read back ---- */

/* Returns the line of the first condition, of an if, elif, while or match of the same function,
 * that depends on what line `read` computes, or of the first `for` that iterates over it; 0 for
 * none. */
uint32_t stet_python_decided_line(struct stet_python_sources *s, struct stet_view file,
                                  uint32_t read);
/* Does an argument that line `use` passes depend on what line `read` of the same function
 * computes? */
bool stet_python_rests_argument(struct stet_python_sources *s, struct stet_view file, uint32_t use,
                                uint32_t read);
/* Returns the line that last assigned `name` (or the attribute "x.name") before line `use` of the
 * same function; 0 when the statement there does not use it, or no line assigns it. */
uint32_t stet_python_binding_line(struct stet_python_sources *s, struct stet_view file,
                                  uint32_t use, struct stet_view name);

/* ---- the line that decided a value ---- */

/* What of a value is followed. */
enum stet_python_aspect {
    PY_OF_VALUE, /* the value itself, or whether it is there */
    PY_OF_SIZE,  /* of an array or a container */
    PY_OF_RANK,
    PY_OF_TYPE,
    PY_OF_PLACE, /* layout, device, sharding */
    PY_OF_GRADIENT,
};

/* What was seen of a variable at the two compiles. */
enum stet_python_seen {
    PY_UNSEEN,
    PY_SEEN_SAME,
    PY_SEEN_MOVED,
    PY_SEEN_EXACT, /* it moved as what is followed did */
};

/* A frame that was observed: one that waits for the compile, or a suspended generator. */
struct stet_python_watched {
    struct stet_view file;
    uint32_t line;
    uint32_t before;   /* of a generator: its line at the compile before; 0 when not known */
    uint32_t holder;   /* of a generator: the frame whose loop or variable has it, + 1 */
    uint64_t variable; /* the hash of that variable's name; 0: a loop has it */
    bool lambda;       /* the line is of a lambda in it, not of the function around that */
};

enum { STET_PYTHON_WATCHED = 20 };

/* What was observed at a compile. The functions may be NULL. A path is "batch['x'].mask". */
struct stet_python_stack {
    struct stet_python_watched frames[STET_PYTHON_WATCHED];
    size_t waits; /* the first ones wait, the innermost first: each calls the one before it */
    size_t count; /* the others are suspended generators */
    enum stet_python_seen (*variable)(void *context, size_t frame, struct stet_view path,
                                      enum stet_python_aspect aspect);
    struct stet_view (*type)(void *context, size_t frame, struct stet_view path);
    /* The same of the objects of a class, wherever they are; the path begins behind the object. */
    enum stet_python_seen (*field)(void *context, struct stet_view class_name,
                                   struct stet_view path, enum stet_python_aspect aspect);
    struct stet_view (*field_type)(void *context, struct stet_view class_name,
                                   struct stet_view path);
    /* The class of the object whose items the loops of a frame take; empty when not known. */
    struct stet_view (*loop_type)(void *context, size_t frame);
    void *context;
};

/* Where the value in question is held. */
enum stet_python_held {
    PY_HELD_ARGUMENT, /* a parameter of the called function */
    PY_HELD_VARIABLE, /* a variable of an observed frame */
    PY_HELD_CLOSURE,  /* a variable of a function around the called one, or of its module */
    PY_HELD_FIELD,    /* a field, of an object that is not known */
    PY_HELD_LINE,     /* what a line assigns, takes or passes */
    PY_HELD_CALL,     /* an argument of the call that waits, whichever */
    PY_HELD_PASSED,   /* an argument of it: "args[1].rate", "kwargs['plan'].rate" */
    PY_HELD_CALLEE,   /* the function that it calls */
};

struct stet_python_followed {
    enum stet_python_held held;
    struct stet_view path; /* begins with the parameter, the variable or the field */
    enum stet_python_aspect aspect;
    struct stet_view file;    /* of the called function; empty when not known */
    uint32_t line;            /* at which its code begins: decorators come first */
    size_t frame;             /* of a variable */
    struct stet_view at_file; /* of a line */
    uint32_t at_line;
    bool numbers; /* it changed from one number to another */
    double from, to;
    bool presence;  /* it came or went */
    bool made;      /* it is another object of the same kind: the call that makes it */
    bool resumed;   /* the called function's code begins in the middle of it */
    bool elsewhere; /* another line called it before */
    bool began;     /* what it was at first, before the loop: the later ones are results */
};

/* Returns the line that makes the value differ from one turn to the next; line 0 when it is not
 * found. */
struct stet_python_made stet_python_follow(struct stet_python_sources *s,
                                           const struct stet_python_stack *stack,
                                           const struct stet_python_followed *what);

/* The line that jitted the function which the waiting call runs: the call of jit, or the decorator.
 * `caller`: if a function of the project does that, the line that called it. `file` and `line` are
 * of the jitted function's code; empty when not known. Line 0 when it is not found; sure if no
 * other line may have jitted it. */
struct stet_python_made stet_python_jitted(struct stet_python_sources *s,
                                           const struct stet_python_stack *stack,
                                           struct stet_view file, uint32_t line, bool caller);

/* The line that turns gradients on or off around a line that waits. */
struct stet_python_made stet_python_gradient_mode(struct stet_python_sources *s,
                                                  const struct stet_python_stack *stack);
/* The line that puts a module into training or evaluation before it; `to`: "True", "False" or
 * empty. */
struct stet_python_made stet_python_training(struct stet_python_sources *s,
                                             const struct stet_python_stack *stack,
                                             struct stet_view to);
/* The line that sets an option of JAX: a `with` around a line that waits (then it is sure), or the
 * only line that does so in a function or a loop. */
struct stet_python_made stet_python_sets_option(struct stet_python_sources *s,
                                                const struct stet_python_stack *stack);
/* The line that switches a model to training or evaluation (`to`), of whatever model: in the loop
 * around a line that waits (then it is sure), otherwise in any function. What runs once before that
 * loop switches nothing in it. */
struct stet_python_made stet_python_switches(struct stet_python_sources *s,
                                             const struct stet_python_stack *stack,
                                             struct stet_view to);
/* The line that turns the gradients of parameters on or off, of whatever model. */
struct stet_python_made stet_python_asks_gradient(struct stet_python_sources *s,
                                                  const struct stet_python_stack *stack,
                                                  const struct stet_python_followed *what);
/* The line that marks a dimension of a tensor as dynamic; sure if it is the only one. */
struct stet_python_made stet_python_marks_dynamic(struct stet_python_sources *s,
                                                  const struct stet_python_stack *stack);
/* Lists the lines that call the function whose code begins at a line: in its own file, then in
 * `near`. Returns how many there are, `most` at most. */
uint32_t stet_python_call_lines(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                                struct stet_view near, struct stet_python_watched *out,
                                uint32_t most);
/* Finds the only call of a function: in what line `line_near` of file `near` calls, otherwise in
 * its own file and that one. False for none and for several. */
bool stet_python_only_call(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                           struct stet_view near, uint32_t line_near,
                           struct stet_python_watched *out);

/* What something depends on that was read back. */
struct stet_python_rested {
    struct stet_view file; /* of the lines that read it */
    uint32_t line, last;
    /* The line that makes a number of what was read, or selects with it; the same line if none
     * does. */
    struct stet_python_made made;
    bool selected; /* a size is the number of elements that a mask selects */
    bool direct;   /* the condition itself reads */
};

/* Does an argument of the waiting call depend on a line that was observed to read back? The value
 * of an array counts for its size only where it becomes a number that arrays are made or cut with,
 * or a mask. `what` is an argument, or PY_HELD_CALL for any. */
bool stet_python_argument_rests(struct stet_python_sources *s,
                                const struct stet_python_stack *stack,
                                const struct stet_python_followed *what,
                                const struct stet_python_copies *copies,
                                struct stet_python_rested *out);
/* The same for the conditions that decide whether the lines that wait run. A loop's condition
 * counts when `loops`. */
bool stet_python_waiting_rests(struct stet_python_sources *s, const struct stet_python_stack *stack,
                               const struct stet_python_copies *copies, bool loops,
                               struct stet_python_rested *out);

/* ---- functions ---- */

/* Does another statement than that of the line call the function? */
bool stet_python_called_elsewhere(struct stet_python_sources *s, struct stet_view file,
                                  struct stet_view function, uint32_t line);
/* Does the parameter have a default, or does the function compare it with None? */
bool stet_python_may_be_absent(struct stet_python_sources *s, struct stet_view file,
                               struct stet_view function, struct stet_view parameter);
/* Returns the parameter of `function`, static for jit, that flows into line `at` of `where`; empty
 * for none. `starts`: only into a place that gives the beginning of a part. */
struct stet_view stet_python_static_used(struct stet_python_sources *s, struct stet_view file,
                                         struct stet_view function, struct stet_view where,
                                         uint32_t at, bool starts);
/* Is the line part of an optimizer: of a library's, of a class that derives from one, or of a
 * function that takes gradients? */
bool stet_python_is_optimizer(struct stet_python_sources *s, struct stet_view file, uint32_t line);
/* The line, in the files that were read, that makes an optimizer of a library with a number which
 * may be another one each time; line 0 for none. Of several, one that does not run first. Sure if
 * no other line does. */
struct stet_python_made stet_python_makes_optimizer(struct stet_python_sources *s);

/* The only line, in the files that were read, that adds a number to a field of a model of JAX: a
 * class that derives from a library's, or one that such a class derives from. Line 0 for none and
 * for several. */
struct stet_python_made stet_python_counts_in_model(struct stet_python_sources *s);

/* The role of a name in the function whose code begins at a line (decorators come first). *value is
 * the text of a default. */
enum stet_python_name_role {
    PY_NAME_UNKNOWN, /* no file, or no function there */
    PY_NAME_PARAMETER,
    PY_NAME_DEFAULT, /* a parameter with a default */
    PY_NAME_FREE,    /* of an enclosing function, or global */
};
enum stet_python_name_role stet_python_name_role(struct stet_python_sources *s,
                                                 struct stet_view file, uint32_t line,
                                                 struct stet_view name, struct stet_view *value);
/* The line of the `def` or `class` behind decorators that begin at a line; the line itself when
 * there is none. */
uint32_t stet_python_def_line(struct stet_python_sources *s, struct stet_view file, uint32_t line);

/* ---- a line from a trace ---- */

/* A statement of a file, or one line as a trace has it if the file is not available or has changed
 * since. Valid until the next one. */
struct stet_python_code {
    const struct stet_python_module *module;
    stet_python_ref first; /* node, 0 for the whole module */
    uint32_t end;          /* in bytes */
    bool whole;            /* of a file */
};

/* How a value is used in it; bits. */
enum stet_python_use {
    PY_USED_COUNT = 1,  /* a loop runs this many times */
    PY_USED_TOPK = 2,   /* this many are taken */
    PY_USED_PARTS = 4,  /* lengths of parts, or of packed sequences */
    PY_USED_MEMBER = 8, /* tested for membership, or indexed by name */
};

bool stet_python_code_at(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                         struct stet_view text, struct stet_python_code *out);
/* `what` is an expression as a guard writes it: "k", "self.sizes". */
unsigned stet_python_code_uses(struct stet_python_sources *s, const struct stet_python_code *code,
                               struct stet_view what);
/* The roles of the array functions that it calls (library.h). */
unsigned stet_python_code_roles(struct stet_python_sources *s, const struct stet_python_code *code);
/* Does it call a method that copies an array to the host: x.cpu(), x.numpy()? */
bool stet_python_code_copies(struct stet_python_sources *s, const struct stet_python_code *code);
/* Does it read the shape of an array? */
bool stet_python_code_asks_shape(const struct stet_python_code *code);
/* Does it read back a number that is the size of an array? For a single line: does it make an
 * integer of a number? */
bool stet_python_code_reads_size(struct stet_python_sources *s,
                                 const struct stet_python_code *code);

/* ---- what a loop runs ---- */

/* The statements that the outermost loop around a line runs (its function if there is no loop),
 * with those of the project's functions and modules that it calls. */
enum { STET_PYTHON_SIZES = 16 };

struct stet_python_reach {
    struct stet_python_step {
        const struct stet_python_module *module;
        stet_python_ref statement;
    } *steps, sizes[STET_PYTHON_SIZES]; /* sizes: the steps that read back the size of an array */
    uint32_t count, size_count;
    size_t room;
};

/* Releases it and fills it. */
void stet_python_reach_from(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                            struct stet_python_reach *out);
void stet_python_reach_release(struct stet_python_reach *r);

/* About one statement in reach. */
/* Does it read back a number that is the size of an array in reach? */
bool stet_python_step_reads_size(const struct stet_python_reach *r,
                                 const struct stet_python_step *step);
/* Does it select by the values of an array, without reading it back? */
bool stet_python_step_selects(struct stet_python_sources *s, const struct stet_python_step *step);
/* Does it move data to a device? */
bool stet_python_step_feeds(struct stet_python_sources *s, const struct stet_python_step *step);
/* Does it make an optimizer take its step? */
bool stet_python_step_updates(struct stet_python_sources *s, const struct stet_python_step *step);
/* Does the line come after a loop that makes an optimizer take its steps, in the same turn of what
 * is around both? *inside: the line is in a loop of its function. */
bool stet_python_after_training(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                                bool *inside);
/* Does it take gradients away, so that the next ones are made anew? */
bool stet_python_step_clears(struct stet_python_sources *s, const struct stet_python_step *step);
/* Does it pass the operation a number that may differ each time? */
bool stet_python_step_gives(struct stet_python_sources *s, const struct stet_python_step *step,
                            struct stet_view operation);
/* Returns the parameter of a function traced by torch_xla.compile that passes the operation a
 * number in the line; empty for none. */
struct stet_view stet_python_traced_parameter(struct stet_python_sources *s, struct stet_view file,
                                              struct stet_view function, uint32_t line,
                                              struct stet_view operation);

#endif
