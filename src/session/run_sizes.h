/* The sizes that the functions of a run were called with: which dimensions varied, how often each
 * size ran, how long its program was waited for and how long a step of it took. `stet buckets` and
 * the report read it; several runs may be added before it is finished. It owns everything. */
#ifndef STET_SESSION_RUN_SIZES_H
#define STET_SESSION_RUN_SIZES_H

#include "base/intern.h"
#include "base/map.h"
#include "buckets/buckets.h"
#include "session/program_cache.h"

/* A dimension of an argument that varied. */
struct stet_size_place {
    struct stet_view argument;
    uint32_t dim;
    unsigned axis;         /* the dimension of the shapes that it follows */
    const int64_t *values; /* by program of the function */
};

/* A program of a function, with the sizes of all its arguments. */
struct stet_size_program {
    int64_t *sizes;
    uint64_t runs;
    uint32_t compiles, stored; /* times it was waited for; those that a store or cache served */
    double wait_s;             /* for all of them */
    double *steps;             /* seconds from its execution to the function's next one */
    size_t step_count, step_room;
};

/* A function whose sizes varied. A function with other arguments, dtypes or ranks is another one.
 */
struct stet_size_function {
    struct stet_view name;
    struct stet_size_program *programs;
    size_t program_count, program_room;
    uint32_t column_count; /* dimensions of all arguments */
    struct stet_view *column_names;
    uint32_t *column_dims;
    uint32_t *order; /* executions, as programs */
    size_t order_count, order_room;
    /* After stet_session_sizes_finish: */
    unsigned rank;                  /* 0: nothing varied; more than STET_BUCKETS_RANK: too much */
    struct stet_size_place *places; /* the first `rank` are the axes */
    uint32_t place_count;
    struct stet_buckets_shape *shapes; /* by program */
    uint64_t runs;
    uint32_t compiles, stored;
    double wait_s;
    struct stet_buckets_cost cost; /* measured in seconds if that was possible, else in elements */
    uint32_t measured;             /* sizes whose steps were measured */
    /* Of torch.compile: the trace has the sizes that were compiled, not how often they came. */
    bool uncounted;
    bool dynamic;    /* torch made the dimension dynamic: later sizes are not in the trace */
    bool short_last; /* two sizes, and the smaller ends each round of the larger: a last batch */
};

struct stet_run_sizes {
    struct stet_arena arena;
    struct stet_intern keys;
    struct stet_size_function *functions; /* by first program */
    size_t count, room;
    struct stet_map by_executable; /* of the run being added */
    uint32_t *members;             /* function and program of the map's numbers, in pairs */
    size_t member_count, member_room;
    uint64_t unreadable; /* compiles whose program was not captured or not readable */
};

void stet_session_sizes_init(struct stet_run_sizes *s);
void stet_session_sizes_release(struct stet_run_sizes *s);
/* Adds a run. Programs that no function of the user's made are left out. */
enum stet_rc stet_session_sizes_add(struct stet_run_sizes *s, const struct stet_run_digest *d,
                                    const char *folder, struct stet_session_programs *programs,
                                    struct stet_err *err);
struct stet_torch;
/* Adds the sizes of torch.compile: those of the guards that failed, each dimension on its own. */
enum stet_rc stet_session_sizes_torch(struct stet_run_sizes *s, const struct stet_torch *t,
                                      struct stet_err *err);
/* Finds what varied, and the costs. */
enum stet_rc stet_session_sizes_finish(struct stet_run_sizes *s, struct stet_err *err);

/* Prices the function's own sizes, a program each: what is used today. Its dims are NULL when out
 * of memory. */
struct stet_buckets_set stet_session_sizes_today(const struct stet_size_function *f,
                                                 struct stet_buckets_curve *c);

/* The size of a place when its axis is padded to `size`: that of the smallest program that is as
 * large there. */
int64_t stet_session_sizes_at(const struct stet_size_function *f, const struct stet_size_place *p,
                              int64_t size);

struct stet_json;
/* One of the functions of stet.buckets/1. `f` is NULL if the sizes are from the file `lengths`
 * alone; `today` may be NULL. */
void stet_session_sizes_json(struct stet_json *j, const struct stet_size_function *f,
                             const char *lengths, const struct stet_buckets_curve *c,
                             const struct stet_buckets_set *today);

#endif
