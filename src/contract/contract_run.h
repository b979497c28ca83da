/* A run beside a contract: making one from a run, and finding what breaks it. */
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

/* `name` as stet_runs_find takes it. On failure nothing is left to release. */
enum stet_rc stet_contract_lanes_open(struct stet_lanes *l, const char *name, struct stet_err *err);
void stet_contract_lanes_close(struct stet_lanes *l);

/* What the contract looks at in a compile of the run. STET_NOT_FOUND when its program can't be
 * read. */
enum stet_rc stet_contract_see(struct stet_session *x, uint32_t sighting, struct stet_seen *out,
                               struct stet_arena *arena, struct stet_err *err);
/* Does the process run on the embedded CPU backend? */
bool stet_contract_on_cpu(const struct stet_process_digest *p);
/* A part of what lies below, as a contract says it: versions without the words around them. */
struct stet_view stet_contract_part(const struct stet_part *part);
/* "torch_dynamo_resume_in_f_at_12" → "torch_dynamo_resume_in_f"; a file without its folders. */
struct stet_view stet_contract_frame(struct stet_view function);
struct stet_view stet_contract_base(struct stet_view path);
/* Equal but for the order of flags, and for those that only say where to dump. */
bool stet_contract_same_flags(struct stet_view a, struct stet_view b);
/* The same, or `wanted` names only the first numbers of it: 3.11 is kept by 3.11.7. */
bool stet_contract_same_version(struct stet_view have, struct stet_view wanted);

/* What the run did, as a contract. Failed compiles are left out. */
enum stet_rc stet_contract_make(struct stet_contract *c, struct stet_lanes *l,
                                struct stet_err *err);
/* Its part of torch.compile. False when memory is short. */
bool stet_contract_take_torch(struct stet_contract *c, const struct stet_torch *t);
/* The same as a file, with the comments that explain it. */
void stet_contract_write(struct stet_buf *out, const struct stet_contract *c,
                         const struct stet_lanes *l);

/* ---- checking ---- */

struct stet_violation {
    enum stet_clause clause;
    struct stet_view lane, family, argument, what;
    uint32_t line;  /* of the contract; 0: none */
    uint64_t times; /* the same again */
    int64_t rank;   /* -1: not known */
    uint64_t process, compile, step;
    bool has_compile, step_known;
    enum stet_cause cause; /* STET_CAUSE_NONE: nothing to explain */
    struct stet_view fix;
    struct stet_line origin, trigger;
    char program[STET_HASH_TEXT];
};

struct stet_contract_check {
    struct stet_arena arena;
    struct stet_violation *items;
    uint32_t count, room;
    struct stet_intern known;      /* what tells items apart, numbered as they are */
    struct stet_intern programs;   /* functions of which the lane of programs has told */
    uint32_t compiles, unreadable; /* looked at; whose program was not captured */
    bool foreign;                  /* a contract of the CPU backend, a run that is elsewhere */
    /* Called for each new one; may be NULL. */
    void (*tell)(void *context, const struct stet_violation *v);
    void *context;
};

void stet_contract_check_init(struct stet_contract_check *k);
void stet_contract_check_release(struct stet_contract_check *k);
/* Holds a run to a contract. */
enum stet_rc stet_contract_check_run(struct stet_contract_check *k, const struct stet_contract *c,
                                     struct stet_lanes *l, struct stet_err *err);
enum stet_rc stet_contract_check_torch(struct stet_contract_check *k, const struct stet_contract *c,
                                       const struct stet_torch *t, struct stet_err *err);
/* One compile of it; for those who follow a run. */
enum stet_rc stet_contract_check_compile(struct stet_contract_check *k,
                                         const struct stet_contract *c, struct stet_gate *gate,
                                         struct stet_session *x, uint32_t sighting,
                                         struct stet_err *err);
/* Text is copied; the same again is counted. */
enum stet_rc stet_contract_check_add(struct stet_contract_check *k, const struct stet_violation *v,
                                     struct stet_err *err);

#endif
