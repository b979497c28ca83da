/* Families of programs and their lifted executables; shared by the files that implement lifting.h.
 * One lock guards the table, the counts and the states. It is never held while the plugin is
 * called. */
#ifndef STET_INTERCEPT_LIFT_FAMILY_H
#define STET_INTERCEPT_LIFT_FAMILY_H

#include "intercept/lifting.h"
#include "lift/lift.h"

/* A comparison is due in a program that is good so far, if a plain program of other values than the
 * first ones is there. */
enum stet_lift_state {
    STET_LIFT_UNTESTED,
    STET_LIFT_TESTING,
    STET_LIFT_GOOD,
    STET_LIFT_DUE,
    STET_LIFT_CHECKING,
    STET_LIFT_BAD
};

/* What a lifted program is compared with: a plain executable, and the values in it. */
struct stet_lift_trial {
    PJRT_LoadedExecutable *plain;
    struct stet_lift_value *values;
    uint64_t index; /* of the compile that had these values */
};

/* A lifted program of a family. A family that drifts in new places gets a second one; executables
 * that use the first keep it. */
struct stet_lift_code {
    struct stet_lift_family *family;
    uint64_t index; /* of the compile that created it */
    uint32_t refs;
    PJRT_LoadedExecutable *loaded;
    PJRT_Device *const *devices; /* where it runs; the plugin's list, which `loaded` owns */
    uint32_t device_count;
    uint64_t compile_ns; /* in the plugin, to compile or to load it */
    bool compiled;       /* not loaded from the store */
    bool rejected;       /* the plugin answered its compile with an error */
    bool loops_end;      /* with any values and arguments (stet_lift_loops_end) */
    bool expected;       /* compiled before a second program came, and has served none yet */
    struct stet_lift_pending pending;
    struct stet_lift_plan plan;
    struct stet_arena arena;      /* of the values below */
    struct stet_lift_value *base; /* the values of the family's first program */
    struct stet_hash plain_print; /* the fingerprint of the family's first executable */
    _Atomic int state;            /* enum stet_lift_state */
    /* Comparisons with further values (lift_check.c). */
    uint32_t checks;            /* to be made */
    uint32_t checked;           /* that were made, also by earlier runs */
    bool checking;              /* one is being prepared */
    struct stet_lift_trial due; /* in `due_arena` */
    struct stet_arena due_arena;
};

struct stet_lift_family {
    struct stet_lift_family *next;
    struct stet_plugin *plugin;
    PJRT_Client *client;
    struct stet_hash key;
    struct stet_hash skeleton;      /* programs of other shapes have it too */
    uint64_t index;                 /* of the compile of its first program */
    uint32_t refs;                  /* code and compiles in progress; 1 for the table */
    uint32_t lifts;                 /* lifted programs that were compiled */
    bool lifting;                   /* a thread compiles one now */
    bool expecting;                 /* one is to be compiled before a second program comes */
    bool refused;                   /* in quarantine */
    bool gone;                      /* no longer in the table */
    char *bytes;                    /* of the first program */
    struct stet_program base, hlo;  /* `hlo` if it came as HLO: `base` borrows from it */
    struct stet_arena arena;        /* of the options */
    struct stet_view options;       /* with which the first program was compiled */
    PJRT_LoadedExecutable *plain;   /* of the first program */
    uint64_t plain_ns;              /* how long compiling it took */
    struct stet_hash note, entry;   /* for the store: name of the note, key of the first program */
    struct stet_lift_plan recalled; /* the plan of an earlier run; no uses if there is none */
    uint32_t checked;            /* by earlier runs: values that were compared beyond the first */
    bool ours;                   /* the framework destroyed it, so it is ours to destroy */
    bool deleted;                /* the framework deleted it */
    struct stet_lift_code *code; /* the newest, or NULL */
};

/* A program in one compile, before its family is known or created. */
struct stet_lift_candidate {
    struct stet_reading *reading;       /* of the compile; outlives this */
    const struct stet_program *program; /* as StableHLO: the reading's own, or `converted` */
    struct stet_program converted;      /* from HLO; borrows from the reading */
    struct stet_hash key, skeleton;
    struct stet_hash note; /* what an earlier run noted of the family; zero without a store */
    PJRT_Client *client;
    struct stet_view options; /* of the compile */
};

/* A program as the framework gave it. */
struct stet_lift_source {
    struct stet_view program, format, options;
    uint64_t index; /* of its compile, or STET_LIFTING_NO_COMPILE */
};

/* A handle that the framework has. */
struct stet_lifted {
    struct stet_lift_code *code;
    struct stet_lifted **slot; /* the framework's handle; NULL after it was destroyed */
    uint32_t refs;             /* the handle, and executables that the framework asked for */
    atomic_bool deleted;
    PJRT_LoadedExecutable *_Atomic fallback; /* the plain program, once it had to be compiled */
    PJRT_Buffer **buffers;                   /* of each of code->devices; in the arena */
    struct stet_lifted_device *devices;      /* buffers of other devices */
    struct stet_arena arena;                 /* values, program and options */
    struct stet_lift_value *values;
    /* To compile the plain program if need be, and to serialize it; the program is empty if there
     * are too many. */
    struct stet_lift_source source;
    size_t kept; /* its bytes */
    char fingerprint[STET_HASH_TEXT + 8];
};

/* The program as StableHLO; NULL with the reason if it has no such form. It is the reading's own,
 * or `converted`, which borrows from the reading. The caller releases `converted` in any case. */
const struct stet_program *stet_intercept_lift_read(struct stet_reading *reading,
                                                    struct stet_program *converted,
                                                    struct stet_err *why);
/* May it be the first program of a family? STET_OK, or the reason why not. A program that differs
 * from such a one in values alone need not be asked. */
enum stet_rc stet_intercept_lift_refuses(const struct stet_program *program, struct stet_err *why);
/* Moves what was read into the family: its first program. */
void stet_intercept_lift_adopt(struct stet_lift_family *f, struct stet_reading *reading,
                               struct stet_program *converted);

void stet_intercept_lift_lock(void);
void stet_intercept_lift_unlock(void);
/* Waits for a change of a state; with the lock held. */
void stet_intercept_lift_wait(void);
void stet_intercept_lift_wake(void);
/* With the lock held, which it releases for a moment. */
void stet_intercept_lift_pause(void);

/* Drops a reference; takes the lock. True if it was the last one. */
bool stet_intercept_lift_drop(uint32_t *refs);
/* A family that was never in the table. */
void stet_intercept_lift_family_free(struct stet_lift_family *f);
/* These take the lock. */
/* With a reference for the caller; NULL if there is none. */
struct stet_lift_family *stet_intercept_lift_family_find(const struct stet_plugin *p,
                                                         const PJRT_Client *client,
                                                         struct stet_hash key);
/* Puts a family with one reference into the table, which owns it then. False if there is no room,
 * or if its key is in the table already. */
bool stet_intercept_lift_family_add(struct stet_lift_family *f);
void stet_intercept_lift_family_put(struct stet_lift_family *f);
void stet_intercept_lift_code_put(struct stet_lift_code *c);
/* The families with the skeleton of `f`, without `f` itself: at most `room`, each with a reference
 * for the caller. */
size_t stet_intercept_lift_family_siblings(const struct stet_lift_family *f,
                                           struct stet_lift_family **out, size_t room);
/* The family's newest code, with a reference for the caller; NULL if there is none. */
struct stet_lift_code *stet_intercept_lift_family_code(struct stet_lift_family *f);
/* The family's new code for what `m` found between its first program and `other`, which covers
 * `earlier` too (NULL for none), with a reference for the caller. NULL with the reason if it is not
 * to be had; `rejected` if the plugin refused it. Only one thread at a time: f->lifting. */
struct stet_lift_code *stet_intercept_lift_code_new(struct stet_lift_family *f, uint64_t index,
                                                    const struct stet_lift_plan *earlier,
                                                    const struct stet_program *other,
                                                    const struct stet_lift_match *m,
                                                    struct stet_view options, bool *rejected,
                                                    struct stet_err *why);
/* Journals why the program of this compile is not lifted. `alone`: it cannot be, whatever its
 * family is. */
void stet_intercept_lift_record_unlifted(uint64_t index, bool alone, const char *why);
/* No program of the family is lifted from now on. The reason is logged and recorded with the
 * compile of this index, and counted if it is a fault. */
void stet_intercept_lift_quarantine(struct stet_lift_family *f, uint64_t index, bool fault,
                                    const char *why);

/* A lifted executable with the values of one program, or NULL. Copies all it needs. */
struct stet_lifted *stet_intercept_lifted_new(struct stet_lift_code *code,
                                              const struct stet_lift_value *values,
                                              const PJRT_Client_Compile_Args *args, uint64_t index);
/* Compiles a program as it is, and journals that. `waited`: an execution waits for it. */
PJRT_Error *stet_intercept_lifted_compile(struct stet_plugin *p, PJRT_Client *client,
                                          const struct stet_lift_source *source, bool waited,
                                          PJRT_LoadedExecutable **out);
/* Puts the values of one argument into a buffer of `device`; NULL if the plugin refuses. */
PJRT_Buffer *stet_intercept_lifted_buffer(struct stet_lift_code *code, uint32_t argument,
                                          struct stet_view bytes, PJRT_Device *device);
void stet_intercept_lifted_buffer_free(struct stet_plugin *p, PJRT_Buffer *buffer);
/* Releases what the lifted executables of a client hold. */
void stet_intercept_lifted_client_gone(struct stet_plugin *p, const PJRT_Client *client);

/* Are the lifted program's arguments and results where the family's first program has them, and the
 * `more` further arguments whole on every device? */
bool stet_intercept_lift_same_places(struct stet_lift_family *f, PJRT_LoadedExecutable *lifted,
                                     uint32_t more);

/* The bytes that a later process may load. */
PJRT_Error *stet_intercept_lifted_serialize(const struct stet_lifted *l,
                                            PJRT_Executable_Serialize_Args *args);

enum stet_lift_verdict { STET_LIFT_NOT_COMPARED, STET_LIFT_SAME, STET_LIFT_DIFFERENT };

/* By how much the results of two programs differ. */
struct stet_lift_difference {
    uint64_t ulp; /* at most; UINT64_MAX if they are not floats, or not close */
    size_t elements;
};

/* Runs the plain and the lifted program with the framework's arguments and the values of the
 * trial, and compares all results. Gives a reason if they are not the same. */
enum stet_lift_verdict stet_intercept_lift_compare(struct stet_lift_code *code,
                                                   const struct stet_lift_trial *trial,
                                                   const PJRT_LoadedExecutable_Execute_Args *args,
                                                   struct stet_lift_difference *found, char *why,
                                                   size_t room);

/* ---- when to compare (lift_check.c) ---- */

/* Reads STET_LIFT_CHECK. */
void stet_intercept_lift_check_init(void);
/* Is no comparison left that could end the use of this code? */
bool stet_intercept_lift_check_is_over(struct stet_lift_code *code);
/* May the code be used? If a comparison is to be made first, makes it with these arguments. */
bool stet_intercept_lift_check(struct stet_lifted *l,
                               const PJRT_LoadedExecutable_Execute_Args *args);
/* A program was served by a code that is good: compares with its values too, if that is wanted. */
void stet_intercept_lift_check_further(struct stet_lifted *l);

/* ---- families that are expected to drift (lift_expect.c) ---- */

/* A new family: its lifted program is compiled in the background if programs of its skeleton have
 * drifted, in this process or in an earlier run. */
void stet_intercept_lift_expect(struct stet_lift_family *f);
/* The code has proved itself: other families of its skeleton may drift in the same places. */
void stet_intercept_lift_expect_siblings(struct stet_lift_code *code);
/* A code serves a program, or is freed. */
void stet_intercept_lift_expected_served(struct stet_lift_code *code);

/* ---- families of earlier runs (lift_recall.c) ---- */

/* The note of a program's family; zero without a store. */
struct stet_hash stet_intercept_lift_note_of(struct stet_plugin *p, PJRT_Client *client,
                                             struct stet_hash family);
/* The family of a program as an earlier run left it in the store, not in the table yet. It is in
 * quarantine if it was. NULL if there is none, or if its first program cannot be loaded. */
struct stet_lift_family *stet_intercept_lift_recall(struct stet_plugin *p,
                                                    const struct stet_lift_candidate *c,
                                                    const PJRT_Client_Compile_Args *args);
/* The plan that an earlier run noted for programs of this skeleton. False if there is none. On
 * success the caller releases it. */
bool stet_intercept_lift_recall_plan(struct stet_hash skeleton, struct stet_lift_plan *out);
/* The family's code has proved itself, or was compared with a further value. */
void stet_intercept_lift_remember(const struct stet_lift_code *code);
/* The family must not be lifted in later runs either. */
void stet_intercept_lift_forbid(const struct stet_lift_family *f);

/* The compile options for `more` additional arguments after `count`; false if these options cannot
 * have more. `out` is empty if nothing changes. */
bool stet_intercept_lift_options(struct stet_view options, uint32_t count, uint32_t more,
                                 struct stet_buf *out);

#endif
