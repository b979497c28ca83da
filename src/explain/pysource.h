/* The user's Python source, read as text: which statement a line belongs to, what is around it,
 * which parameters a jitted function takes as static. It is evidence where the programs alone have
 * none; a file that is not available only means less evidence. */
#ifndef STET_EXPLAIN_PYSOURCE_H
#define STET_EXPLAIN_PYSOURCE_H

#include "base/fs.h"
#include "base/view.h"

struct stet_pyfile {
    char *path;
    struct stet_file file;
    struct stet_view *lines; /* [line - 1] */
    uint32_t *starts;        /* [line - 1]: the first line of its statement */
    uint32_t count;
    bool has_static; /* says static_argnums or static_argnames somewhere */
};

enum { STET_PYFILES = 16 };

struct stet_pysources {
    struct stet_pyfile files[STET_PYFILES];
    uint32_t count, next;
};

void stet_pysources_release(struct stet_pysources *s);
/* NULL if the file is not available. Valid until STET_PYFILES other files were requested. */
const struct stet_pyfile *stet_pysource_open(struct stet_pysources *s, struct stet_view path);

/* The whole statement that contains a line, brackets closed, as written. */
struct stet_view stet_py_statement(const struct stet_pyfile *f, uint32_t line);
/* First lines of the statements around a line, innermost first, up to the function's own `def`
 * (left out). Returns how many there are, at most `room`. */
uint32_t stet_py_around(const struct stet_pyfile *f, uint32_t line, uint32_t *headers,
                        uint32_t room);
/* The last line of the block that a header (`for`, `def` …) begins. */
uint32_t stet_py_block_end(const struct stet_pyfile *f, uint32_t header);
/* The line of the `def` that contains a line; 0 at module level. */
uint32_t stet_py_def_of(const struct stet_pyfile *f, uint32_t line);

/* Is the line that of an `if`, `elif` or `while`? */
bool stet_py_is_condition(const struct stet_pyfile *f, uint32_t line);

/* Does the text have this name as a whole word? */
bool stet_py_mentions(struct stet_view text, struct stet_view name);
/* Does the text fetch a value from the device: float(…), .item() and the like? */
bool stet_py_reads_back(struct stet_view text);
/* Does it make a jitted function? */
bool stet_py_makes_jit(struct stet_view text);

/* Does a condition around a line depend on a value read back, directly or by a name in it (a loop's
 * condition only if requested)? Does what is passed to the call there? The line that reads is
 * *line. */
bool stet_py_condition_reads(const struct stet_pyfile *f, uint32_t at, bool loops, uint32_t *line);
bool stet_py_argument_reads(const struct stet_pyfile *f, uint32_t at, uint32_t *line);

/* A line of the loop around `at` that is under a condition and names the operation; 0 if there is
 * none, or if another line of the loop names it too. */
uint32_t stet_py_conditional_line(const struct stet_pyfile *f, uint32_t at,
                                  struct stet_view operation);

/* What a line's loop runs, as far as one file shows it: the innermost loop around the line (its
 * function if there is none), and what that calls. */
struct stet_py_reach {
    struct stet_py_span {
        uint32_t first, last;
    } spans[24];
    uint32_t count;
};

void stet_py_reach_from(const struct stet_pyfile *f, uint32_t at, struct stet_py_reach *out);
/* The first lines of the statements in reach, one after the other: start with *line = 0. False at
 * the end. */
bool stet_py_reach_next(const struct stet_pyfile *f, const struct stet_py_reach *r, uint32_t *span,
                        uint32_t *line);
/* The name that a statement assigns ("count" in "count = int(…)"); empty for none. */
struct stet_view stet_py_assigned(struct stet_view statement);
/* The name before ".method(" in a statement; empty for none. */
struct stet_view stet_py_called_on(struct stet_view statement, struct stet_view method);
/* Does it fetch one number from the device? */
bool stet_py_reads_scalar(struct stet_view text);
/* Does it bring a tensor to a device that it names: .to(device), .to("xla")? */
bool stet_py_moves(struct stet_view statement);
/* Does the statement use the name as a bound of a slice, or as a size (arange, zeros, view …)? */
bool stet_py_uses_as_size(struct stet_view statement, struct stet_view name);
/* Does it use the name as the start of a part: x[name:…], x[name], slice(x, name, …), roll? */
bool stet_py_uses_as_start(struct stet_view statement, struct stet_view name);
/* What the statement passes to the operation besides its tensor: what follows `**`, the further
 * arguments of `roll(` …; empty if it does not name the operation. */
struct stet_view stet_py_operand_of(struct stet_view statement, struct stet_view operation);
/* The parameter of the function that occurs in `text`; empty if none. */
struct stet_view stet_py_parameter_in(const struct stet_pyfile *f, struct stet_view function,
                                      struct stet_view text);
/* Is the function traced by torch_xla.compile? */
bool stet_py_compiled_lazily(const struct stet_pyfile *f, struct stet_view function);
/* The line of `def` of a function; 0 if the file has none. */
uint32_t stet_py_find_def(const struct stet_pyfile *f, struct stet_view function);

/* Is the function called in another statement than that of line `at`? */
bool stet_py_called_elsewhere(const struct stet_pyfile *f, struct stet_view function, uint32_t at);
/* Has the parameter of this function a default value? */
bool stet_py_has_default(const struct stet_pyfile *f, struct stet_view function,
                         struct stet_view name);
/* Does the function compare it with None? */
bool stet_py_may_be_none(const struct stet_pyfile *f, struct stet_view function,
                         struct stet_view name);
/* The parameter of the function that is static for jit and used in `text`, according to
 * stet_py_mentions or another test; empty if none. */
typedef bool stet_py_uses_fn(struct stet_view text, struct stet_view name);
struct stet_view stet_py_static_in(const struct stet_pyfile *f, struct stet_view function,
                                   struct stet_view text, stet_py_uses_fn *uses);

#endif
