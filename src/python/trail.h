/* Follows a value backwards, from its use to the line that makes it differ from one turn to the
 * next: through assignments, conditions, loops, parameters, functions, generators, objects and
 * containers, in all files of the project.
 *
 * What is followed is a part of an expression (a path: item, key, field, each item of an iterator)
 * in one aspect: its value, its size, its type. Where frames were observed, the call that waits in
 * a frame decides what a parameter is, the line of a suspended generator which `yield` it was, and
 * a variable that had the same value at both compiles is no cause. The work of one question is
 * bounded; what cannot be followed stays without an answer. */
#ifndef STET_PYTHON_TRAIL_H
#define STET_PYTHON_TRAIL_H

#include "python/queries_internal.h"

enum stet_python_varying {
    PY_STAYS,    /* nothing that differs was found */
    PY_MAY_VARY, /* made in a way that could not be followed */
    PY_COUNTS,   /* a counter: where it is used makes the value */
    PY_VARIES,
};

/* What was found. */
struct stet_python_verdict {
    enum stet_python_varying how;
    const struct stet_python_module *module;
    stet_python_ref at; /* the statement; 0: none, as for the counter of a `for` */
    uint32_t line;      /* in that statement */
    bool guessed;       /* a step on the way was one of several that were possible */
    bool open;          /* another line could be edited as well */
    bool one_of;        /* this line gives the new value, and others give others */
    bool counted;       /* computed from a counter */
    bool exact;         /* a variable was seen to change as what is asked about did */
    bool itself;        /* it is computed from what it was before */
    bool data;          /* a device computed it, or it came in a request */
    bool queued;        /* it came through a queue */
    bool sets;          /* the same each time; `at` places it where it was not */
    bool grows;         /* a container that gets more items */
    bool listed;        /* an item of a container whose items the source lists */
    bool absent;        /* it gives None, where one asks whether there is something */
    uint32_t way;       /* its place among those of the trail, + 1; 0: not remembered */
};

/* One step into a value. */
enum stet_python_access {
    PY_AT_INDEX,
    PY_AT_KEY,   /* an item by name */
    PY_AT_FIELD, /* an attribute */
    PY_AT_EACH,  /* an item of what is iterated over */
};

struct stet_python_part {
    enum stet_python_access how;
    int32_t index;
    struct stet_view name;
};

enum { STET_PYTHON_PARTS = 12 };

struct stet_python_busy; /* what is being followed already */

/* What a statement does with the value that is followed through it. */
enum {
    PY_WAY_COMPUTES = 1, /* computes a number from it */
    PY_WAY_REDUCES = 2,  /* makes one number of many */
    PY_WAY_DRAWS = 4,
    PY_WAY_CHOOSES = 8,
    PY_WAY_COPIES = 16,   /* makes a copy of an object with another value of it */
    PY_WAY_SIZES = 32,    /* gives an array a size */
    PY_WAY_STACKS = 64,   /* makes an array of many */
    PY_WAY_SELECTS = 128, /* makes an array of what a condition selects */
};

/* What a call runs, as it was found before. */
struct stet_python_resolved {
    const struct stet_python_module *module;
    stet_python_ref call;
    uint32_t seen;
    struct stet_python_callee callee;
};

enum { STET_PYTHON_RESOLVED = 256 };

struct stet_python_trail {
    struct stet_python_flow *x;
    const struct stet_python_stack *stack;
    struct stet_python_frame first; /* where the trail begins */
    enum stet_python_aspect aspect;
    struct stet_python_part path[STET_PYTHON_PARTS]; /* the last one comes first */
    unsigned parts;
    bool numbers; /* it changed from one number to another */
    double from, to;
    bool elsewhere; /* another line made the call before */
    bool still;     /* the items of a loop that ends before the call are all there */
    bool items;     /* each item of a comprehension is another turn */
    /* {k: rows[k] for k in names}: what is followed has this key, which the source writes so. */
    const struct stet_python_frame *keyed_in;
    struct stet_view key, key_text;
    bool once;     /* what is followed ran before the loop, and is the same in each turn */
    bool presence; /* whether there is something, not what */
    bool inside;   /* the path is not known: it is something in it */
    bool called;   /* a function that the waiting line calls */
    bool made;     /* an object that is made anew: the call that makes it */
    bool began;    /* what it was before the loop, not what a turn left */
    bool decides;  /* a condition: what a variable was at the compile may be later than its use */
    const struct stet_python_module *cancels_in; /* len() of this name is taken off again */
    uint32_t cancels;
    const struct stet_python_busy *busy;
    stet_python_ref setter; /* whose argument is followed; 0: none */
    uint32_t steps, depth, resolved, searched;
    struct stet_python_ways *ways; /* NULL: not remembered */
    struct stet_python_resolved known[STET_PYTHON_RESOLVED];
};

/* ---- the parts of the engine ---- */

/* An expression of the frame's module, in the aspect and with the path of the trail. */
struct stet_python_verdict stet_python_trail_of(struct stet_python_trail *t, stet_python_ref n);
/* The same in another aspect, without the path. */
struct stet_python_verdict stet_python_trail_ask(struct stet_python_trail *t, stet_python_ref n,
                                                 enum stet_python_aspect aspect);
/* The same with one more step in front of the path. */
struct stet_python_verdict stet_python_trail_into(struct stet_python_trail *t, stet_python_ref n,
                                                  struct stet_python_part part);
/* Is the expression the key of what is followed, in the comprehension that makes it? */
bool stet_python_trail_is_key(const struct stet_python_trail *t, stet_python_ref n);
/* Is the question whether there is something, of what is computed and hence there? */
static inline bool stet_python_trail_is_there(const struct stet_python_trail *t)
{
    return t->presence && !t->decides && !t->parts && !t->inside;
}
/* The value of a condition. */
struct stet_python_verdict stet_python_trail_test(struct stet_python_trail *t, stet_python_ref n);

struct stet_python_verdict stet_python_trail_name(struct stet_python_trail *t, stet_python_ref n);
/* A name as it is seen from a node that need not be one. */
struct stet_python_verdict stet_python_trail_variable(struct stet_python_trail *t,
                                                      stet_python_ref n, struct stet_view name);
struct stet_python_verdict stet_python_trail_attribute(struct stet_python_trail *t,
                                                       stet_python_ref n);
struct stet_python_verdict stet_python_trail_subscript(struct stet_python_trail *t,
                                                       stet_python_ref n);
struct stet_python_verdict stet_python_trail_call(struct stet_python_trail *t, stet_python_ref n);
/* What is iterated over: the first step of the path is each item of it. */
struct stet_python_verdict stet_python_trail_items(struct stet_python_trail *t, stet_python_ref n);
/* The same of a call of a library's, and of an object of a class that a call makes. */
struct stet_python_verdict stet_python_trail_items_of_call(struct stet_python_trail *t,
                                                           stet_python_ref call,
                                                           const struct stet_python_callee *c);
struct stet_python_verdict stet_python_trail_items_of_class(struct stet_python_trail *t,
                                                            const struct stet_python_callee *c);
/* What is put into a queue, wherever that happens; false when nothing is. */
bool stet_python_trail_put(struct stet_python_trail *t, stet_python_ref object,
                           struct stet_python_verdict *v);
/* What a function returns in a frame, or yields if the first step is each item. */
struct stet_python_verdict stet_python_trail_returns(struct stet_python_trail *t,
                                                     const struct stet_python_frame *frame);
/* A parameter of a function, whose first argument for a method is the object. */
struct stet_python_verdict stet_python_trail_parameter(struct stet_python_trail *t,
                                                       stet_python_ref function, uint32_t name,
                                                       uint32_t position);
/* A field of an object of a class, by all that assigns it. */
struct stet_python_verdict stet_python_trail_field(struct stet_python_trail *t,
                                                   const struct stet_python_module *m,
                                                   stet_python_ref class_node,
                                                   struct stet_view name);
/* The same of a class that is not known: all assignments of a field of this name. */
struct stet_python_verdict stet_python_trail_any_field(struct stet_python_trail *t,
                                                       struct stet_view name);
/* A variable of a module, by all that assigns it. */
struct stet_python_verdict stet_python_trail_global(struct stet_python_trail *t,
                                                    const struct stet_python_module *m,
                                                    uint32_t name);
/* The field that is the first step of the path, of an object of a class that a call makes. */
struct stet_python_verdict stet_python_trail_made(struct stet_python_trail *t, stet_python_ref call,
                                                  const struct stet_python_callee *c);
/* What decides whether a statement runs, up to a node around it. *any: there is a condition. */
struct stet_python_verdict stet_python_trail_conditions(struct stet_python_trail *t,
                                                        stet_python_ref statement,
                                                        stet_python_ref outer, bool *any);

/* Begins in a frame. The trail keeps it, because the question points to it. */
void stet_python_trail_begin(struct stet_python_trail *t, struct stet_python_frame frame);

/* The definition that an expression denotes: a function, a lambda, a class; `bound` for an object
 * of the class, or a method of an object. Through names, transforms and what functions return. */
struct stet_python_callee stet_python_trail_denoted(struct stet_python_trail *t, stet_python_ref n);
/* The same for a call's own function, with the method that runs when an object is called. */
struct stet_python_callee stet_python_trail_callee(struct stet_python_trail *t,
                                                   stet_python_ref call);
/* What the methods of the name that a call has give, where the class of its object is not known.
 * `of`: the method of that class, of which others are newer versions; NULL: none. */
struct stet_python_verdict stet_python_trail_any_method(struct stet_python_trail *t,
                                                        stet_python_ref call,
                                                        const struct stet_python_callee *of);
/* The field that is the first step of the path, of a tuple whose fields the source lists; false for
 * another call. */
bool stet_python_trail_tuple(struct stet_python_trail *t, stet_python_ref call,
                             struct stet_python_verdict *v);
/* Does the call run the function? */
bool stet_python_trail_runs(struct stet_python_trail *t, stet_python_ref call,
                            const struct stet_python_module *m, stet_python_ref function);
/* The class of an object; 0 for none. */
stet_python_ref stet_python_trail_class(struct stet_python_trail *t, stet_python_ref object,
                                        const struct stet_python_module **m);
/* The class of a name in the files that were read; 0 for none. */
stet_python_ref stet_python_trail_class_named(const struct stet_python_trail *t,
                                              struct stet_view name,
                                              const struct stet_python_module **m);
/* The method of a class, or of a class that it derives from; *m is then that one's module. */
stet_python_ref stet_python_trail_method(struct stet_python_trail *t,
                                         const struct stet_python_module **m,
                                         stet_python_ref class_node, struct stet_view name);

/* ---- what a library's function means here ---- */

/* Does it give the items of its first argument? */
static inline bool stet_python_passes_items(enum stet_python_meaning m)
{
    return m == PY_MEANS_PASSES_ITEMS || m == PY_MEANS_CHAINS_ITEMS || m == PY_MEANS_SEQUENCE;
}

/* A method that may take an item out of a queue. */
static inline bool stet_python_takes_item(enum stet_python_meaning m)
{
    return m == PY_MEANS_TAKES_ITEM || m == PY_MEANS_LOOKS_UP;
}

/* Does it change what is in a container? */
static inline bool stet_python_changes_items(enum stet_python_meaning m)
{
    return m == PY_MEANS_ADDS_ITEM || m == PY_MEANS_INSERTS_ITEM || m == PY_MEANS_ADDS_ITEMS ||
           m == PY_MEANS_DROPS_ITEMS;
}

/* ---- places that give something a value ---- */

/* A place that assigns a name or a field, or changes the object that it has. */
struct stet_python_event {
    const struct stet_python_module *module;
    const struct stet_python_binding *binding; /* NULL: a call that changes it, or sets it */
    stet_python_ref node;                      /* target, or call */
    stet_python_ref value; /* of a call that sets it: what it is set to; else 0 */
};

enum { STET_PYTHON_EVENTS = 64 };

struct stet_python_events {
    struct stet_python_event items[STET_PYTHON_EVENTS];
    uint32_t count;
};

void stet_python_events_add(struct stet_python_events *list, struct stet_python_event e);
/* Adds the method calls that change what a name (or, for `field`, a field of that name) has. */
void stet_python_events_add_calls(struct stet_python_trail *t, struct stet_python_events *list,
                                  const struct stet_python_module *m, uint32_t name, bool field);
/* Adds what assigns a variable of a module, in all files. */
void stet_python_events_add_globals(struct stet_python_trail *t, const struct stet_python_module *m,
                                    uint32_t name, struct stet_python_events *list);
/* Can the event give the part that is followed: not another key? */
bool stet_python_event_concerns(struct stet_python_trail *t, const struct stet_python_event *e);
/* Does it add to a number each time it runs: `n += 1`? */
bool stet_python_event_counts(const struct stet_python_event *e);
/* What the value of one event is, in the frame of the trail; itself, if that is being asked
 * already. */
struct stet_python_verdict stet_python_event_value(struct stet_python_trail *t,
                                                   const struct stet_python_event *e);
/* Places in other functions than the use, whose order is not known. `made`: how the object was
 * made counts where nothing else does. */
struct stet_python_verdict stet_python_events_remote(struct stet_python_trail *t,
                                                     const struct stet_python_events *list);

/* ---- verdicts ---- */

struct stet_python_verdict stet_python_verdict_at(const struct stet_python_trail *t,
                                                  stet_python_ref n, enum stet_python_varying how);
/* The stronger one. Two lines that vary are the statement of n, which joins them. */
struct stet_python_verdict stet_python_verdict_join(const struct stet_python_trail *t,
                                                    stet_python_ref n, struct stet_python_verdict a,
                                                    struct stet_python_verdict b);
/* What a statement computes from it. */
struct stet_python_verdict stet_python_verdict_used(const struct stet_python_trail *t,
                                                    stet_python_ref n,
                                                    struct stet_python_verdict v);

/* ---- the way of a value ---- */

/* The place of a node among those that are remembered, + 1; it follows the place where the trail
 * is now. */
uint32_t stet_python_way_to(const struct stet_python_trail *t, stet_python_ref n);
/* Notes what the statement of a node does with the value on the way to a verdict, and returns the
 * verdict. */
struct stet_python_verdict stet_python_way_mark(const struct stet_python_trail *t,
                                                stet_python_ref n, struct stet_python_verdict v,
                                                unsigned does);
/* The verdict with the statement of its way that a person would edit. `sure`: its own line is the
 * only one that was possible. */
struct stet_python_verdict stet_python_way_settle(const struct stet_python_trail *t,
                                                  struct stet_python_verdict v, bool sure);

/* ---- paths ---- */

static inline struct stet_python_part *stet_python_trail_head(struct stet_python_trail *t)
{
    return t->parts ? &t->path[t->parts - 1] : NULL;
}

static inline bool stet_python_trail_begins(const struct stet_python_trail *t,
                                            enum stet_python_access how)
{
    return t->parts && t->path[t->parts - 1].how == how;
}

static inline bool stet_python_trail_push(struct stet_python_trail *t, struct stet_python_part part)
{
    if (t->parts == STET_PYTHON_PARTS)
        return false;
    t->path[t->parts++] = part;
    return true;
}

/* Does a key, a field or an index name the first step? A step that is not named may be it. */
bool stet_python_trail_is_head(const struct stet_python_trail *t, struct stet_view name,
                               int32_t index);

/* Is it written as the value that the thing in question has now? */
bool stet_python_trail_is_new(const struct stet_python_trail *t, const struct stet_python_module *m,
                              stet_python_ref n);

/* ---- what was observed ---- */

/* The frame that waits in a function, or is suspended there: its number, + 1; 0 for none. */
uint32_t stet_python_trail_seen(const struct stet_python_trail *t,
                                const struct stet_python_module *m, stet_python_ref function);
/* What a name, attribute or item of the frame was at the two compiles, with the path. */
enum stet_python_seen stet_python_trail_watch(struct stet_python_trail *t, stet_python_ref n);
/* What a field of any object of a class was. */
enum stet_python_seen stet_python_trail_watch_field(struct stet_python_trail *t,
                                                    const struct stet_python_module *m,
                                                    stet_python_ref class_node,
                                                    struct stet_view field);
/* The class of an object of the frame as it was seen; 0 for none. *m is then its module. */
stet_python_ref stet_python_trail_observed_class(struct stet_python_trail *t,
                                                 stet_python_ref object,
                                                 const struct stet_python_module **m);
/* The same of what a field of any object of a class holds. */
stet_python_ref stet_python_trail_observed_field_class(struct stet_python_trail *t,
                                                       const struct stet_python_module *m,
                                                       stet_python_ref class_node,
                                                       struct stet_view field,
                                                       const struct stet_python_module **out);
/* Is the loop around a line that waits, or around a `yield`: does it turn between two compiles? */
bool stet_python_trail_turns(const struct stet_python_trail *t, stet_python_ref loop);
/* The statement that waits in a frame of the stack. */
stet_python_ref stet_python_trail_waits(const struct stet_python_trail *t, uint32_t seen,
                                        const struct stet_python_module **m);

#endif
