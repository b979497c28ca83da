/* Shared by history.c, nearest.c, facts.c, judge.c and the kinds of evidence. No other file
 * includes it. Everything here belongs to the history. */
#ifndef STET_EXPLAIN_HISTORY_INTERNAL_H
#define STET_EXPLAIN_HISTORY_INTERNAL_H

#include "base/map.h"
#include "explain/arbiter.h"
#include "explain/history.h"
#include "explain/size_runs.h"
#include "python/library.h"
#include "python/queries.h"

/* The process number under which earlier runs are indexed. */
#define STET_PAST (UINT32_MAX - 1)

struct stet_history_index {
    struct stet_map traits;    /* bytes of a program -> traits */
    struct stet_map groups;    /* process, function -> its last sighting */
    struct stet_map keys;      /* process, key -> last sighting */
    struct stet_map skeletons; /* group, skeleton -> last sighting */
    struct stet_map named;     /* process, name -> last sighting whose function is known */
    struct stet_map unnamed;   /* process, skeleton of a graph without a name -> last sighting */
    struct stet_map lines;     /* process, line -> seen */
    struct stet_map eager; /* process, line that waits -> last finding of an eager program, or of
                              one of PyTorch/XLA's, which is cut there */
    struct stet_traits **known;
    uint32_t known_count;
    struct stet_sighting_group *groups_of; /* by number of the group */
    uint32_t group_count;
    uint32_t *loops; /* by process: the first sighting of the group that runs most, + 1 */
    uint32_t process_count;
    size_t known_room, group_room, loop_room;
};

struct stet_sighting_group {
    uint64_t runs;  /* executions of all its programs; those of eager ones don't count */
    uint32_t first; /* the first of those programs, + 1 */
};

/* Returns the compile with which the loop of a process began, + 1: the first compile of the
 * function that runs most, all its programs together. 0 if there is none. */
uint32_t stet_history_loop(const struct stet_history *h, uint32_t process);
/* Returns the last finding of a program that is only this line or was cut there, or STET_NONE;
 * continue with `on_line`. */
uint32_t stet_history_on_line(const struct stet_history *h, uint32_t process,
                              const struct stet_place *line);

/* Returns the compile to compare with, or STET_NONE for a first of its kind. */
uint32_t stet_nearest_find(const struct stet_history *h, const struct stet_sighting *s);
/* Fills changes, facts, pair and origin of a finding. */
enum stet_rc stet_facts_gather(struct stet_history *h, struct stet_finding *f,
                               const struct stet_sighting *s, const struct stet_history_side *a,
                               const struct stet_history_side *b, struct stet_err *err);
/* Finds the lines of a program that no program of this process had, then adds them all. */
void stet_facts_lines(struct stet_history *h, struct stet_facts *facts,
                      const struct stet_sighting *s, const struct stet_program *p);
/* Find the purpose of an argument from the uses of its value: a number of the optimizer, positions
 * to select. The last one checks whether a program returns a result of its type. */
bool stet_facts_scales_update(const struct stet_program *p, const struct stet_argument *a);
bool stet_facts_is_selection(const struct stet_program *p, const struct stet_argument *a);
bool stet_facts_is_result(const struct stet_program *p, const struct stet_type *t);
/* PyTorch/XLA: returns the only line of the waiting loop that read a size back where a graph was
 * cut, or 0. */
uint32_t stet_evidence_lazy_size_read(struct stet_history *h, const struct stet_sighting *s);
/* PyTorch/XLA: returns the only line of the waiting loop that selects by mask, or 0. */
uint32_t stet_evidence_lazy_selection(struct stet_history *h, const struct stet_sighting *s);
/* Makes a line of the waiting loop's file the origin; 0 leaves it unchanged. */
void stet_evidence_lazy_point_at(struct stet_history *h, struct stet_finding *f, uint32_t line);
uint64_t stet_history_key(uint64_t process, struct stet_hash hash);
/* Returns the group of a compile in the process `process`. */
uint64_t stet_history_group(const struct stet_sighting *s, uint64_t process);
/* Did an operation outside any jitted function run in this line? */
bool stet_history_ran_in(const struct stet_history *h, uint32_t process,
                         const struct stet_place *line);
/* Did it run in a statement that reads a value back? */
bool stet_history_ran_where(const struct stet_history *h, uint32_t process,
                            const struct stet_python_read *read);
/* Is the program only the line that waits for it, an operation outside any jitted function? */
static inline bool stet_history_is_eager(const struct stet_sighting *s)
{
    return s->eager;
}

/* The line of an eager program: the one that waits for it. TorchTPU compiles asynchronously, and
 * the program may have moved on; it records the line of each operation. */
static inline const struct stet_place *stet_history_line(const struct stet_sighting *s)
{
    return s->traits->framework == STET_FRAMEWORK_TORCH_TPU ? &s->traits->place : &s->trigger;
}

/* ---- judging ---- */

/* Notes the lines of jitted programs. False if memory runs out. */
bool stet_lines_note(struct stet_history *h);
/* Lowers how sure the line to edit is, by where it is. */
void stet_lines_weigh(struct stet_history *h, struct stet_finding *f);
/* The place that a question about the source gave, kept with the history. */
struct stet_place stet_lines_place(struct stet_history *h, const struct stet_python_made *made);
/* Fills the turns of the judge from the orders of executions. False if memory runs out. */
bool stet_turns_count(struct stet_history *h);
/* In how many turns of the loop was a program of this group compiled, up to `most`? */
uint32_t stet_turns_compiled(const struct stet_history *h, const struct stet_finding *f,
                             uint32_t most);

enum { STET_SERIES_VALUES = 16, STET_REACHES = 8 };

/* The values that one thing (a constant at a line, a dimension of an argument) took in a group. */
struct stet_series {
    uint32_t findings, distinct; /* distinct: counted up to STET_SERIES_VALUES */
    bool more;                   /* there were further values */
    double values[STET_SERIES_VALUES];
    double last, step, ratio;
    bool numeric, even;           /* even: every value is `step` more than the one before it */
    bool geometric;               /* 1 - value shrinks by one ratio: a bias correction */
    struct stet_size_runs *sizes; /* of a dimension: as counted in `round` of judging; or NULL */
    uint32_t round;
};

struct stet_history_judge {
    struct stet_series *series;
    uint32_t series_count;
    size_t series_room;
    struct stet_map by_change;
    struct stet_map
        packed;     /* groups in which a list of integers changed its length with the data */
    uint32_t next;  /* finding whose values are not in the series yet */
    uint32_t round; /* how often the findings were judged */
    struct stet_map jitted; /* process, line -> it is in a jitted program, or waits for one */
    uint32_t jitted_next;   /* sighting whose lines are not in there yet */
    /* By compile: how often the loop's function had run before its first execution, + 1; 0 if
     * unknown. */
    uint32_t *turns;
    size_t turn_room;
    uint32_t turn_count;
    /* The lines whose reach is cached. A loop waits in a few lines. */
    struct stet_place reached[STET_REACHES];
    struct stet_python_reach reach[STET_REACHES];
    uint32_t reaches;
};

struct stet_series *stet_series_of(const struct stet_history *h, const struct stet_finding *f,
                                   const struct stet_reported_change *change);

/* The same for a value that Python held. */
const struct stet_series *stet_series_of_moved(const struct stet_history *h,
                                               const struct stet_finding *f,
                                               const struct stet_moved *m);

static inline struct stet_sighting *stet_sighting_of(const struct stet_history *h,
                                                     const struct stet_finding *f)
{
    return &h->sightings[f->sighting];
}

/* The series of a number that counts: one more or less in each call, several times in a row. NULL
 * if it does not, or goes back. `skips`: it may be any whole number more, because it also counts
 * between the calls. */
const struct stet_series *stet_series_counts(const struct stet_history *h,
                                             const struct stet_finding *f,
                                             const struct stet_moved *m, bool skips);

void stet_finding_also(struct stet_finding *f, enum stet_cause cause);
bool stet_finding_has(const struct stet_finding *f, enum stet_cause cause);
/* Has one of its causes any of these flags (enum stet_cause_flag)? */
bool stet_finding_is(const struct stet_finding *f, unsigned flags);
/* Returns the first change of this kind that is a cause, or NULL. */
const struct stet_reported_change *stet_finding_change(const struct stet_finding *f,
                                                       enum stet_change_kind kind);
/* The variable or argument that held the two values of a change of a constant, or NULL. */
const struct stet_moved *stet_finding_constant_holder(const struct stet_finding *f,
                                                      uint32_t change);
/* Removes a cause that another one explains. */
void stet_finding_drop(struct stet_finding *f, enum stet_cause cause);
/* The same for all causes that have any of these flags. */
void stet_finding_drop_all(struct stet_finding *f, unsigned flags);
/* What each cause of a finding alone would have added. */
struct stet_alone {
    enum stet_cause cause;
    uint64_t programs; /* that this cause alone would have added */
};

/* Fills the costs for a finding with several causes, the most expensive first; returns 0 for one
 * cause. */
uint32_t stet_alone_of(const struct stet_history *h, const struct stet_finding *f,
                       struct stet_alone out[STET_ALSO_MOST + 1]);
/* Ranks further causes by what each alone would have added, and appends that to the evidence. */
void stet_alone_rank(struct stet_history *h, struct stet_finding *f);
/* Fills the fix of a judged finding. */
void stet_fixes_write(struct stet_history *h, struct stet_finding *f);
/* Returns the series of the argument's size that drifts; NULL if that is not the class. */
struct stet_series *stet_fixes_series(const struct stet_history *h, const struct stet_finding *f);
/* Returns its sizes, how often each ran and what to pad to; NULL as above, or if memory runs out.
 */
const struct stet_size_runs *stet_fixes_sizes(struct stet_history *h, const struct stet_finding *f);
/* Names `rank-divergence` where one rank alone has a program; called when all ranks have been
 * read. */
void stet_history_tell_ranks(struct stet_history *h);
/* Finds functions of the user's that run outside jit, operation by operation, and gives all their
 * programs one cause; for a whole run. False if memory runs out. */
bool stet_explain_storms(struct stet_history *h);
/* Was the program compiled ahead, by a warm-up whose programs others run? */
bool stet_history_is_ahead(struct stet_history *h, const struct stet_finding *f);
/* Is it of another object of its function than the program that it is compared with, and differs
 * from that? The rest of the run shows whether both are in use. */
bool stet_history_is_other_object(const struct stet_history *h, const struct stet_finding *f);
/* May the rest of the run give a judged finding another name? Never when the run has ended. */
bool stet_finding_is_open(const struct stet_history *h, const struct stet_finding *f);
/* Fills the advice of a judged finding. */
void stet_advice_write(struct stet_history *h, struct stet_finding *f);
/* How the executions of a sighting alternate with those of its group. */
struct stet_turns {
    uint32_t mine, others;  /* executions */
    uint32_t switches;      /* times it changed from one to the other */
    uint32_t longest_mine;  /* in a row */
    uint32_t others_before; /* of the group, before the first of mine */
    bool regular;           /* as many others come before each of mine */
    bool periodic;          /* the same from the second of mine on, of three at least */
    bool ends;              /* the last execution of the group is mine */
    bool known;
};

struct stet_turns stet_turns_of(const struct stet_history *h, const struct stet_finding *f);

/* Returns an array that one of the two calls did not pass, or passed None for; NULL for none. jit
 * drops arguments that a function does not use, so only the calls show them. */
const struct stet_moved *stet_evidence_came_or_went(const struct stet_finding *f);

#define EVIDENCE(name, what)                                                                       \
    void stet_evidence_##name(struct stet_history *, struct stet_finding *);
#include "explain/evidence.def"
#undef EVIDENCE

#endif
