/* What a run compiled, in order, and why each compile after the first of its kind happened.
 *
 * Compiles are added in the order in which they happened; each is compared at once with the nearest
 * earlier one (what differs, where). Judging comes later and may be repeated as the run goes on,
 * because many classes depend on what came later (a counter, a short last batch, programs that
 * alternate). The history owns its texts. */
#ifndef STET_EXPLAIN_HISTORY_H
#define STET_EXPLAIN_HISTORY_H

#include "decode/options.h"
#include "explain/diff.h"
#include "explain/moved.h"
#include "fingerprint/traits.h"
#include "journal/copied.h"
#include "python/sources.h"

#define STET_NONE UINT32_MAX

/* What is below a process's programs: "plugin libtpu.so" = its build id, "XLA_FLAGS" = … */
struct stet_part {
    struct stet_view name, value;
    bool flags; /* a list of options, not a version */
};

struct stet_bundle {
    const struct stet_part *parts;
    uint32_t count;
};

/* One compile from a journal. Text is copied. */
struct stet_sighting {
    uint32_t process; /* numbered by the caller from 0 */
    int64_t rank;     /* -1 when not known */
    uint64_t index, step, time_ns, cost_ns, executions, temp_bytes;
    uint64_t wait_ns; /* the wait for it; cost_ns is the part inside the compiler */
    bool step_known, has_memory, failed;
    unsigned served;           /* as in the journal: 0 compiled, 1 memory … */
    struct stet_hash program;  /* of its bytes */
    struct stet_view name;     /* module name; the program's own when it can be read */
    struct stet_place trigger; /* line 0 when not known */
    struct stet_frames lines;  /* of the thread that waits: the user's own, innermost first */
    struct stet_view values;   /* what Python held, as journal/values_record.h has it; borrowed */
    uint64_t function;         /* the function of the program; 0 when not known */
    uint64_t object;           /* distinguishes functions that one definition made; 0 as above */
    uint64_t wrapper;          /* distinguishes wrappers around one function; 0 as above */
    uint64_t held;             /* of the classes of the objects that the function closes over */
    bool library;              /* that function is known and not the user's */
    uint64_t executable;       /* id within the process, for the order of executions */
    bool shared;               /* its process has devices in common with other ranks */
    bool agreed;               /* the ranks compared what they compile, and it was no difference */
    bool past;                 /* of an earlier run: compared with, not explained */
    uint64_t tag;              /* the caller's own */
    const struct stet_bundle *bundle; /* of its process, outlives the history; may be NULL */
    /* Private to the history. */
    const struct stet_traits *traits;
    uint32_t group, finding, before; /* before: the one before it in its group, or STET_NONE */
    uint64_t line; /* distinguishes a group whose programs have no name; 0 if unknown */
    bool eager;    /* the program is only the line that waits for it */
    bool borrowed; /* the function compiled is a library's, called with functions of the user's */
};

/* A program with its options, while it is compared. */
struct stet_history_side {
    struct stet_diff_side program;
    const struct stet_options *options; /* NULL when not known */
};

/* What an answer rests on, the weakest first. */
enum stet_rests {
    STET_RESTS_SOURCE,   /* the source alone: what flows where, which line calls what */
    STET_RESTS_PROGRAMS, /* the two programs */
    STET_RESTS_RUN,      /* the run: the values that a thing took, the order of executions */
    STET_RESTS_VALUES,   /* what Python held at the two compiles, what was copied before them */
};

/* A change in the form that is kept after the programs are freed. */
struct stet_reported_change {
    enum stet_change_kind kind;
    unsigned facet, follows;
    struct stet_change_subject of;
    struct stet_change_data data;
    struct stet_view from, to, op;
    struct stet_place place;
    struct stet_view inside; /* of a constant: the library's file that its place leads to */
    uint32_t count, order;   /* order: of its operation in the program */
};

/* What the comparison showed in addition to the list of changes. */
struct stet_facts {
    bool first;            /* nothing earlier to compare with in this run */
    bool past;             /* compared with a program of an earlier run */
    bool same;             /* nothing differs */
    bool argument_shape;   /* a dimension of an argument changed: size_from, size_to */
    bool inner_shape;      /* a shape inside changed by itself: inner_from, inner_to */
    bool constant_is_size; /* an integer constant changed as a shape did */
    bool made_so;          /* the shape that changed belongs to an operation made with this size */
    bool topk, gather;     /* the shape that changed is that of a top-k, of a gather */
    bool cut;         /* the shape of a sort of which a part is taken: a top-k in other terms */
    bool masked;      /* the same for a sort by truth values, where the selected ones come first */
    bool only_more;   /* the earlier program is contained, with operations added */
    bool vector;      /* a one-dimensional integer argument has another length */
    bool accumulates; /* each argument that came is added to a result */
    /* The number, + 1, of the change of an argument that holds positions, as nonzero returns them.
     */
    uint32_t selects;
    bool only_arguments; /* no operation came or went */
    /* A change + 1: the earlier program returns an array of exactly the type that this argument
     * has now, and this program another in its place. 0 for none. */
    uint32_t returned;
    uint32_t vector_at; /* number of the change of that vector */
    int64_t size_from, size_to, inner_from, inner_to;
    uint32_t came, went, new_lines, new_ops;
    uint32_t made;    /* of the added ones: made as a result of the earlier program is */
    uint32_t scalars; /* of the added or removed ones: single numbers */
    uint32_t updates; /* of those: only scale what replaces donated arguments */
    uint32_t unfed;   /* unmatched operations that no added or removed argument feeds */
    struct stet_place new_line;
    bool bounded_known;                    /* could one bounded dimension have served both sizes? */
    struct stet_view forbids, forbids_why; /* the operation that prevents it, or empty */
    struct stet_place forbids_at;
};

enum { STET_REPORTED_MOST = 24, STET_ALSO_MOST = 8 };

/* Why one compile happened. */
struct stet_finding {
    uint32_t sighting, against; /* against: a sighting, or STET_NONE */
    enum stet_cause cause;      /* STET_CAUSE_NONE: nothing to report */
    enum stet_cause also[STET_ALSO_MOST];
    uint32_t also_count;
    bool benign;
    enum stet_sure sure;
    enum stet_rests rests;
    bool answered;             /* a kind of evidence named the cause, not the comparison alone */
    bool doubted;              /* something observed does not fit it */
    bool open;                 /* the rest of the run may give it another name */
    struct stet_view evidence; /* as text */
    struct stet_view detail;   /* what the fix names: a parameter, an option, a library */
    const char *fix_text;      /* the fix from observed values, instead of the default; a literal */
    struct stet_view fix;      /* what to do about it */
    struct stet_view advice;   /* a JSON object with the numbers behind the text, or empty */
    uint32_t reads; /* line of the trigger's file that reads the deciding value back, or 0 */
    struct stet_place origin;
    struct stet_place source;   /* where the value was made or read back; line 0 when not seen */
    enum stet_sure source_sure; /* of that line; the cause has its own */
    const struct stet_moved *moved; /* the values of Python that differ between the two compiles */
    uint32_t moved_count;
    const struct stet_reported_change *changes;
    uint32_t change_count, left_out;
    struct stet_facts facts;
    /* The result of the comparison alone; judging starts from it. */
    enum stet_cause pair, pair_also[STET_ALSO_MOST];
    uint32_t pair_also_count;
    struct stet_place pair_origin;
    bool outside;     /* it is one of the operations that a function outside jit runs one by one */
    uint32_t on_line; /* the finding before it of an eager program in the same line, or STET_NONE */
    bool prepares;    /* an operation outside jit that belongs to another finding */
    bool joined[2];   /* it and its predecessors on the line already belong to another finding */
};

/* The executions of a process in order, as compiles; STET_NONE if unknown. */
struct stet_order {
    const uint32_t *items;
    size_t count;
    bool steps_known;
    uint64_t steps;         /* completed in all */
    uint64_t to_host_count; /* buffers read back */
    /* Copies between host and device with known lines, and their number. */
    const struct stet_journal_copied *copies;
    size_t copy_count;
};

struct stet_history {
    struct stet_arena arena;
    struct stet_sighting *sightings;
    uint32_t sighting_count;
    struct stet_finding *findings; /* in the order of sightings */
    uint32_t finding_count;
    size_t sighting_room, finding_room;
    struct stet_order *orders; /* by process; the caller's */
    uint32_t order_count;
    /* Returns the program of an earlier compile; valid until the next two calls. */
    enum stet_rc (*open)(void *context, uint32_t sighting, struct stet_history_side *out,
                         struct stet_err *err);
    void *context;
    bool whole;                         /* the run has ended: nothing will be added */
    struct stet_python_sources sources; /* the user's files, read when a rule needs them */
    struct stet_history_index *index;
    struct stet_history_judge *judge;
};

enum stet_rc stet_history_init(struct stet_history *h, struct stet_err *err);
void stet_history_release(struct stet_history *h);

/* Adds a compile and writes its number to *out. `side` is NULL if the program cannot be read; `why`
 * is then the reason. */
enum stet_rc stet_history_add(struct stet_history *h, const struct stet_sighting *s,
                              const struct stet_history_side *side, const char *why, uint32_t *out,
                              struct stet_err *err);
/* Sets how often a program has run so far, for code that follows a run. */
void stet_history_ran(struct stet_history *h, uint32_t sighting, uint64_t executions);
/* Decides causes, origins, evidence and benignity of all findings, from everything added so far. */
enum stet_rc stet_history_judge(struct stet_history *h, struct stet_err *err);
/* Only for the findings from number `first` on; for code that follows a run. */
enum stet_rc stet_history_judge_from(struct stet_history *h, uint32_t first, struct stet_err *err);

/* Returns the turn of the loop in which a compile was first needed, from 1; 0 if it is not known. A
 * turn is an execution of the function that runs most. Judging counts the turns. */
uint32_t stet_history_turn(const struct stet_history *h, uint32_t sighting);

/* Is it an operation outside any jitted function, and nothing more specific is known about its
 * line? Such findings are judged together, at the end of a run. */
bool stet_history_outside(const struct stet_history *h, const struct stet_finding *f);

/* While a run goes on: may it belong to a warm-up, whose end is not known yet? The function is
 * called in another line too, and new programs were all that ran so far. */
bool stet_history_may_be_ahead(struct stet_history *h, const struct stet_finding *f);
/* Is it an operation that TorchTPU compiled outside torch.compile? Whether it is a version of
 * another one is known when the steps of the run are. */
bool stet_history_needs_steps(const struct stet_sighting *s);

/* Returns the fix in the framework's terms; {name}, {from}, {to}, {detail} are replaced by what
 * changed. A literal. */
const char *stet_fixes_of(enum stet_cause cause, enum stet_framework framework);

/* How certain cause and line are together: a value whose line was not found, or not singled out, is
 * at most likely. */
enum stet_sure stet_finding_confidence(const struct stet_finding *f);

#endif
