/* The values that Python held at two compiles, where they differ: direct observation of a cause.
 * Results are in the caller's arena. */
#ifndef STET_EXPLAIN_MOVED_H
#define STET_EXPLAIN_MOVED_H

#include "base/arena.h"
#include "journal/values_record.h"

enum { STET_MOVED_MOST = 16 };

struct stet_moved {
    enum stet_journal_value_scope scope;
    struct stet_view path;     /* as the user writes it: the parameter's name for an argument */
    struct stet_view from, to; /* as text; "absent" if one of the two had no such value */
    double from_number, to_number;
    bool one_sided;       /* only one of the two compiles had such a value */
    bool flag;            /* both are True or False */
    bool numeric;         /* both are numbers */
    bool array;           /* one of the two is an array */
    bool static_argument; /* an argument that is static for jit */
    bool wrapped;         /* an argument of a library's function around the user's */
};

/* Compares the values of two compiles. Arguments of the framework's call come first, then what the
 * called function closes over and the globals it uses, then the user's frames from the innermost
 * out. Hashes are compared only within `one_process`. At most STET_MOVED_MOST, in the arena. */
uint32_t stet_explain_moved_make(struct stet_arena *arena, struct stet_view before,
                                 struct stet_view now, bool one_process,
                                 const struct stet_moved **out);

#endif
