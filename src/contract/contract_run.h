/* Makes a contract from a run, and checks a run against a contract. `stet contract`, `stet check`
 * and `stet run --contract` use it. The caller opens the lanes of the run and closes them; a check
 * owns copies of its texts. */
#ifndef STET_CONTRACT_CONTRACT_RUN_H
#define STET_CONTRACT_CONTRACT_RUN_H

#include "base/intern.h"
#include "gate/gate.h"
#include "ingest/torch.h"
#include "session/session.h"

/* Used when no file is named. */
#define STET_CONTRACT_FILE "stet.contract"

/* Both lanes of a run, judged. */
struct stet_lanes {
    struct stet_runs runs;
    const struct stet_run *run;
    struct stet_session x;
    struct stet_torch torch;
    bool has_torch;
};

/* `name` is what stet_ledger_runs_find accepts. After a failure there is nothing to release. */
enum stet_rc stet_contract_lanes_open(struct stet_lanes *l, const char *name, struct stet_err *err);
void stet_contract_lanes_close(struct stet_lanes *l);

/* Extracts what the contract checks in a compile of the run. STET_NOT_FOUND when its program cannot
 * be read. */
enum stet_rc stet_contract_see(struct stet_session *x, uint32_t sighting, struct stet_seen *out,
                               struct stet_arena *arena, struct stet_err *err);
/* Is the program one of the user's functions, while the family is only for those of libraries? Then
 * the breach is set. */
bool stet_contract_is_stranger(const struct stet_seen *seen, const struct stet_sighting *s,
                               struct stet_breach *b);
/* Does the process run on the embedded CPU backend? */
bool stet_contract_on_cpu(const struct stet_process_digest *p);
/* Returns an installed part as a contract has it: the version without the words around it. */
struct stet_view stet_contract_part(const struct stet_part *part);
/* "torch_dynamo_resume_in_f_at_12" → "torch_dynamo_resume_in_f"; a file without its folders. */
struct stet_view stet_contract_frame(struct stet_view function);
/* Are the flags equal, apart from their order and from flags that only set a dump folder? */
bool stet_contract_same_flags(struct stet_view a, struct stet_view b);
/* Is the version the same, or does `wanted` have only its first numbers? 3.11.7 satisfies 3.11. */
bool stet_contract_same_version(struct stet_view have, struct stet_view wanted);

/* Makes a contract of what the run did. Failed compiles are left out. Without `helpers`, the
 * programs that no function of the user's made share one family. */
enum stet_rc stet_contract_make(struct stet_contract *c, struct stet_lanes *l, bool helpers,
                                struct stet_err *err);
/* Returns twice what the process that waited most for its compiles waited, in whole seconds: a
 * budget that a run on a busier machine keeps too. */
uint64_t stet_contract_waited_budget(const struct stet_lanes *l);
/* Rounds up to a whole second, and at least to the next one: no run waits the same time twice. */
uint64_t stet_contract_waited_round(uint64_t ns);
/* Adds the clauses for torch.compile. False when out of memory. */
bool stet_contract_take_torch(struct stet_contract *c, const struct stet_torch *t);
/* Writes the contract as a file, with explanatory comments. */
void stet_contract_write(struct stet_buf *out, const struct stet_contract *c,
                         const struct stet_lanes *l);

/* ---- checking ---- */

struct stet_violation {
    enum stet_clause clause;
    enum stet_lane lane;
    struct stet_view family, argument, what;
    uint32_t line;  /* of the contract; 0: none */
    uint64_t times; /* how often it occurred */
    int64_t rank;   /* -1: not known */
    uint64_t process, compile, step;
    bool has_compile, step_known;
    bool library;          /* of a program that no function of the user's made */
    enum stet_cause cause; /* STET_CAUSE_NONE: nothing to explain */
    struct stet_view fix;
    struct stet_line origin, trigger;
    char program[STET_HASH_TEXT];
};

struct stet_contract_check {
    struct stet_arena arena;
    struct stet_violation *items;
    uint32_t count;
    size_t room;
    struct stet_intern known;      /* identities of the items, with the items' numbers */
    struct stet_intern programs;   /* functions that the lane of programs has reported */
    uint32_t compiles, unreadable; /* compiles checked; compiles without a captured program */
    bool foreign;                  /* the contract is of the CPU backend, the run is not */
    /* Called for each new violation; may be NULL. */
    void (*tell)(void *context, const struct stet_violation *v);
    void *context;
};

/* What a process waited for the compiles of a family. */
struct stet_contract_waited {
    uint64_t ns, most_ns;
    uint32_t compiles, dearest; /* dearest: a sighting */
    bool told;                  /* its violation is in the list */
};

/* A process that is held to a contract. */
struct stet_contract_process {
    struct stet_gate gate;
    struct stet_contract_waited *waited; /* by family; the last one of all compiles */
};

enum stet_rc stet_contract_process_init(struct stet_contract_process *p,
                                        const struct stet_contract *c, bool foreign,
                                        struct stet_err *err);
void stet_contract_process_release(struct stet_contract_process *p);
/* Counts what was waited for a compile of `family`, which may be NULL. */
void stet_contract_waited_add(struct stet_contract_process *p, const struct stet_family *family,
                              const struct stet_session *x, uint32_t sighting);
/* Returns the terms whose budget was exceeded, of family `i` or (`i` = the number of families) of
 * all; NULL when it is kept. */
const struct stet_terms *stet_contract_waited_over(const struct stet_contract_process *p,
                                                   uint32_t i);

void stet_contract_check_init(struct stet_contract_check *k);
void stet_contract_check_release(struct stet_contract_check *k);
/* Checks a run against a contract. */
enum stet_rc stet_contract_check_run(struct stet_contract_check *k, const struct stet_contract *c,
                                     struct stet_lanes *l, struct stet_err *err);
enum stet_rc stet_contract_check_torch(struct stet_contract_check *k, const struct stet_contract *c,
                                       const struct stet_torch *t, struct stet_err *err);
/* Checks one compile, for callers that follow a run. */
enum stet_rc stet_contract_check_compile(struct stet_contract_check *k,
                                         const struct stet_contract *c,
                                         struct stet_contract_process *p, struct stet_session *x,
                                         uint32_t sighting, struct stet_err *err);
/* Checks what was waited for so far; each budget is reported once. */
enum stet_rc stet_contract_check_waited(struct stet_contract_check *k,
                                        struct stet_contract_process *p, struct stet_session *x,
                                        struct stet_err *err);
/* Fills what `stet explain` knows about a compile. The violation borrows texts of `row`. */
void stet_contract_explain(struct stet_violation *v, struct stet_session *x, uint32_t sighting,
                           uint32_t argument, struct stet_session_row *row);
/* Adds a violation. Its text is copied; an equal violation is only counted. */
enum stet_rc stet_contract_check_add(struct stet_contract_check *k, const struct stet_violation *v,
                                     struct stet_err *err);

#endif
