/* The values that Python held at two compiles, where they differ: direct observation of a cause.
 * Results are in the caller's arena. */
#ifndef STET_EXPLAIN_MOVED_H
#define STET_EXPLAIN_MOVED_H

#include "base/arena.h"
#include "journal/values_record.h"

enum { STET_MOVED_MOST = 32 };

struct stet_moved {
    enum stet_journal_value_scope scope;
    uint32_t frame;            /* of the thread, or the number of a suspended generator */
    struct stet_view path;     /* as the user writes it: the parameter's name for an argument */
    struct stet_view from, to; /* as text; "absent" if one of the two had no such value */
    double from_number, to_number;
    int64_t size_from, size_to; /* of arrays of one rank: the first dimension that differs, or 0 */
    bool one_sided;             /* one of the two compiles had no such value, or None */
    bool flag;                  /* both are True or False */
    bool numeric;               /* both are numbers */
    bool length;                /* both are the number of items of a container */
    bool array;                 /* one of the two is an array */
    bool ranked;                /* both are arrays, of another number of dimensions */
    bool static_argument;       /* an argument that is static for jit */
    bool typed;   /* an array's dtype or weak type differs, or a number became an array of
                     another type than jit gives that number */
    bool settles; /* typed: a Python or NumPy value, or a weak type, became an array of a device */
    bool traced_alike; /* jit traces both as the same type: a number, and an array of weak type */
    bool wrapped;      /* an argument of a library's function around the user's */
    bool passed;       /* the user's line passed it, or what holds it, to a library's wrapper: what
                          is not an array there is a part of the wrapper's key */
    bool anew;         /* another object of the same definition or class */
    /* The path of what was made anew and holds it in a function: "state.tx" for a learning rate
     * that the optimizer's functions close over. Empty if it is held in no such thing. */
    struct stet_view maker;
    struct stet_view made_file; /* of the user's function that is the maker: its definition */
    uint32_t made_line;
};

/* Compares the values of two compiles. The mesh that is set comes first, then arguments of the
 * framework's call, what the user's line passed to a library's wrapper, what the called function
 * closes over, the globals it uses, and the user's frames from the innermost out. Hashes are
 * compared only within `one_process`. At most STET_MOVED_MOST, in the arena. */
uint32_t stet_explain_moved_make(struct stet_arena *arena, struct stet_view before,
                                 struct stet_view now, bool one_process,
                                 const struct stet_moved **out);

/* The list of an item, as `batch['views']` of `batch['views'][2]`; empty for none. */
struct stet_view stet_explain_list_of(struct stet_view path);
/* Returns the one that had these two values at the two compiles, or NULL. NULL for `values`: none.
 */
const struct stet_moved *stet_explain_moved_holder(const struct stet_moved *moved, uint32_t count,
                                                   const double *values);
/* How a message names it: its path, or "step_size in state.tx" for what functions close over. In
 * the arena. */
struct stet_view stet_explain_moved_said(struct stet_arena *arena, const struct stet_moved *m);
/* Returns the one that the two values were computed from by one factor (0.5 * rate) or one sum
 * (1 - share), or NULL. */
const struct stet_moved *stet_explain_moved_basis(const struct stet_moved *moved, uint32_t count,
                                                  const double *values);
/* "batch" of "batch['x'].mask" or "batch[0]". */
struct stet_view stet_explain_moved_root(const struct stet_moved *m);
/* Was the user's function that the framework received made anew between two compiles: another
 * object, of the same definition? Within one process. */
bool stet_explain_made_anew(struct stet_view before, struct stet_view now);

/* Finds the next local variable that had another object of the same class at the two compiles, and
 * no array in it; begin with *at 0. The name is in the arena. */
bool stet_explain_new_object(struct stet_arena *arena, struct stet_view before,
                             struct stet_view now, uint32_t *at, struct stet_view *variable);

#endif
