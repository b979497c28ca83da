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
/* Does it call a function or use an attribute of this name? */
bool stet_python_line_names(struct stet_python_sources *s, struct stet_view file, uint32_t line,
                            struct stet_view name);
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

/* Does a condition that decides whether line `use` runs depend on what line `read` of the same
 * function computes? A loop's condition counts when `loops`. *direct: the condition is in that
 * line. */
bool stet_python_rests_condition(struct stet_python_sources *s, struct stet_view file, uint32_t use,
                                 uint32_t read, bool loops, bool *direct);
/* Returns the line of the first condition, of an if, elif, while or match of the same function,
 * that depends on what line `read` computes, or of the first `for` that iterates over it; 0 for
 * none. */
uint32_t stet_python_decided_line(struct stet_python_sources *s, struct stet_view file,
                                  uint32_t read);
/* Does an argument that line `use` passes depend on it? */
bool stet_python_rests_argument(struct stet_python_sources *s, struct stet_view file, uint32_t use,
                                uint32_t read);
/* Returns the line that last assigned `name` (or the attribute "x.name") before line `use` of the
 * same function; 0 when the statement there does not use it, or no line assigns it. */
uint32_t stet_python_binding_line(struct stet_python_sources *s, struct stet_view file,
                                  uint32_t use, struct stet_view name);
/* A line that waits for the call in it. */
struct stet_python_waiting {
    struct stet_view file;
    uint32_t line;
};

/* The lines that wait for a compile, the innermost first: each one calls the function of the line
 * before it. */
enum { STET_PYTHON_WAITS = 8 };

struct stet_python_waits {
    struct stet_python_waiting calls[STET_PYTHON_WAITS];
    size_t count;
};

/* An argument of a call. */
struct stet_python_passed {
    struct stet_view file; /* where the called function is defined, with its decorators; or empty */
    uint32_t line;
    struct stet_view parameter;
    struct stet_view key; /* of the argument: a line that assigns it by name is preferred */
    bool parts; /* an expression is followed to the only variable in it that the loop assigns */
};

/* Returns the line that decided what calls[0] passes: the one that assigned the variable, or the
 * call itself for another expression. calls[i + 1] is the line that calls the function of calls[i].
 * *at is the call whose function the line is in. 0 when nothing is passed, or no line assigns it.
 */
uint32_t stet_python_passed_line(struct stet_python_sources *s,
                                 const struct stet_python_waits *waits,
                                 const struct stet_python_passed *what, size_t *at);
/* Returns the name of parameter `number` of the function whose code begins at a line; empty when
 * there is none. */
struct stet_view stet_python_parameter_number(struct stet_python_sources *s, struct stet_view file,
                                              uint32_t line, uint32_t number);
/* Returns the line that decided with what the callee of line `use` is made, where a call makes it:
 * `build(size)(x)`. 0 when none does. */
uint32_t stet_python_made_with(struct stet_python_sources *s, struct stet_view file, uint32_t use);
/* Returns the line that made or chose the callee of line `use`, in the same function, at module
 * level, or in the function that line `use` calls for it; 0 when it is a function defined by `def`,
 * or no line does. *once: it was made at module level, so the same one is called every time. */
uint32_t stet_python_callee_line(struct stet_python_sources *s, struct stet_view file, uint32_t use,
                                 bool *once);

/* Returns the line that makes what line `use` takes from an iterator, by `for` or next(): the
 * `yield` of a generator or what it yields, the `return` of a function or an indexed class, the
 * line that made a library's iterator. An iterator that the function was given is what its caller
 * passes in `w`. *from is the file of the line. 0 when there is none, or several. */
uint32_t stet_python_loader_line(struct stet_python_sources *s, struct stet_python_waiting use,
                                 const struct stet_python_waits *w, struct stet_view *from);
/* The same of what line `use` passes to a call: the function of the project that makes it in that
 * line. 0 when no argument is made so, or several are. */
uint32_t stet_python_made_for_call(struct stet_python_sources *s, struct stet_python_waiting use,
                                   const struct stet_python_waits *w, struct stet_view *from);
/* Returns the line that made the value which the statement of a line assigns or takes: the
 * statement itself, or one further back when it only passes the value on. It passes a value on when
 * it takes an item of an iterator, indexes a container, brings an array to a device, or calls a
 * function of the project that gives its argument back; `sizes`: also when the type of the elements
 * may change. *from is the file. 0 when the line assigns nothing. */
uint32_t stet_python_maker_line(struct stet_python_sources *s, struct stet_python_waiting use,
                                const struct stet_python_waits *w, bool sizes,
                                struct stet_view *from);

/* ---- what makes a value differ from call to call ---- */

/* A compiled function and the line that called it. */
struct stet_python_compiled {
    struct stet_view file;      /* of the function */
    uint32_t line;              /* at which its code begins: decorators come first */
    struct stet_view call_file; /* where the line is 0: of the nearest line that is known */
    uint32_t call_line;
    bool elsewhere; /* another line called it before */
    bool resumed;   /* its code begins in the middle of the function */
};

/* What of an argument differs. */
enum stet_python_differs {
    PY_DIFFERS_VALUE,
    PY_DIFFERS_FORM, /* of an array: size, type, layout */
    PY_DIFFERS_GRADIENT,
};

/* Returns the line that makes what the call passes as `parameter` differ. */
struct stet_python_made stet_python_made_argument(struct stet_python_sources *s,
                                                  const struct stet_python_compiled *c,
                                                  struct stet_view parameter,
                                                  enum stet_python_differs what);
/* The line that gives an attribute its values after the object was made. `object` is the variable
 * that has it, empty when it is an attribute of something in a variable. */
struct stet_python_made stet_python_made_attribute(struct stet_python_sources *s,
                                                   const struct stet_python_compiled *c,
                                                   struct stet_view object,
                                                   struct stet_view attribute);
/* The line that gives a global variable of the function's file its values. */
struct stet_python_made stet_python_made_global(struct stet_python_sources *s,
                                                const struct stet_python_compiled *c,
                                                struct stet_view name);
/* The line that gives a variable of an enclosing function its values. */
struct stet_python_made stet_python_made_free(struct stet_python_sources *s,
                                              const struct stet_python_compiled *c,
                                              struct stet_view name);
/* The line that turns gradients on or off around the call. */
struct stet_python_made stet_python_made_gradient_mode(struct stet_python_sources *s,
                                                       const struct stet_python_compiled *c);
/* The line that puts a module into training or evaluation before the call; `to`: "True", "False" or
 * empty. */
struct stet_python_made stet_python_made_training(struct stet_python_sources *s,
                                                  const struct stet_python_compiled *c,
                                                  struct stet_view to);

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
    PY_USED_COUNT = 1,  /* a loop runs so many times */
    PY_USED_TOPK = 2,   /* so many are taken */
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
/* Does it pass the operation a number that may differ each time? */
bool stet_python_step_gives(struct stet_python_sources *s, const struct stet_python_step *step,
                            struct stet_view operation);
/* Returns the parameter of a function traced by torch_xla.compile that passes the operation a
 * number in the line; empty for none. */
struct stet_view stet_python_traced_parameter(struct stet_python_sources *s, struct stet_view file,
                                              struct stet_view function, uint32_t line,
                                              struct stet_view operation);

#endif
