/* Ranks of a job that do not compile the same, explained. The layer found the pairs of programs
 * (`agreement` in the journal) or, where it did not compare, the journals of all ranks show them.
 * `stet run` prints one as soon as it is found, `stet explain` and the report print all. */
#ifndef STET_SESSION_DIVERGENCE_H
#define STET_SESSION_DIVERGENCE_H

#include "ledger/recompile.h"
#include "ledger/run_load.h"
#include "session/comparing.h"

struct stet_session_programs;

enum { STET_DIVERGENCE_RANKS = 8, STET_DIVERGENCE_CHANGES = 24 };

/* One difference. Texts are in the arena that was given, or in the digest. */
struct stet_divergence {
    uint64_t finding;     /* enum stet_agreement_finding */
    struct stet_hash job; /* a run may have several; zero if not known */
    uint64_t pid;         /* the process that found it; 0 when not known */
    bool certain;         /* the ranks must compile the same here */
    bool torch;           /* of torch.compile */
    bool alone;     /* torch.compile: `rank` compiles it again, and so many do not: missing_count */
    bool odd_known; /* further ranks show that `rank` is the one that differs */
    bool went_on;   /* `other` executed past this place without compiling */
    int64_t rank;   /* the one that differs; of a LATE rank: the one that waits */
    int64_t other;  /* what it is compared with; LATE: the rank that has not come */
    struct stet_view function, other_function;
    uint64_t ranks; /* how many must compile it; 0 for a program of one process */
    uint64_t time_ns, after_ns;
    /* What differs: the cause, changes from `other` to `rank`, lines and fix. */
    bool explained;
    bool reordered;           /* both have the same operations, in another order */
    struct stet_view why_not; /* the programs could not be compared */
    struct stet_recompile pair;
    struct stet_row_change changes[STET_DIVERGENCE_CHANGES];
    struct stet_line trigger, other_trigger; /* the lines that waited for the two compiles */
    struct stet_line at, other_at; /* where the two are; LATE and MISSING: where `other` is */
    struct stet_view program;      /* LATE, MISSING: the last one that it started */
    bool compiling, answered;
    uint64_t executions;
    struct stet_view host;
    /* Further ranks: with the program of `other`, with that of `rank`; or those that are missing.
     * Only the first are listed. */
    uint64_t like_other[STET_DIVERGENCE_RANKS], like_rank[STET_DIVERGENCE_RANKS];
    size_t like_other_count, like_rank_count;
    uint64_t missing[STET_DIVERGENCE_RANKS], missing_count;
    size_t missing_listed;
};

struct stet_divergence_source {
    const struct stet_run_digest *digest;
    const char *folder;
    struct stet_session_programs *programs;
    struct stet_arena *arena;
};

/* Explains what a process of the run found. */
void stet_divergence_make(struct stet_divergence *out, const struct stet_divergence_source *s,
                          size_t process, const struct stet_agreement_event *a);
/* Equal for all findings about the same two programs, whichever ranks they are of. */
uint64_t stet_divergence_key(const struct stet_process_digest *p,
                             const struct stet_agreement_event *a);

/* What to do about it; a literal. */
const char *stet_divergence_fix(const struct stet_divergence *d);

struct stet_divergences {
    struct stet_arena arena;
    struct stet_divergence *items; /* certain ones first */
    size_t count, room;
    struct stet_comparing comparing;
};

struct stet_torch;
/* All of a run, each once. `d->arena` may grow; `t` has the traces of torch.compile, or is NULL,
 * and must outlive the result. */
enum stet_rc stet_divergences_make(struct stet_divergences *out, struct stet_run_digest *d,
                                   const struct stet_torch *t, const char *folder,
                                   struct stet_err *err);
void stet_divergences_release(struct stet_divergences *d);

struct stet_json;
/* An object of stet.explain/1's "divergences". */
void stet_divergence_json(struct stet_json *j, const struct stet_divergence *d);

#endif
