/* Families of programs and their lifted executables; shared by the files that implement lifting.h.
 * One lock guards the table, the counts and the states. It is never held while the plugin is
 * called. */
#ifndef STET_INTERCEPT_LIFT_FAMILY_H
#define STET_INTERCEPT_LIFT_FAMILY_H

#include "intercept/lifting.h"
#include "lift/lift.h"

enum stet_lift_state { STET_LIFT_UNTESTED, STET_LIFT_TESTING, STET_LIFT_GOOD, STET_LIFT_BAD };

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
    struct stet_lift_plan plan;
    struct stet_arena arena;      /* of the values below */
    struct stet_lift_value *base; /* the values of the family's first program */
    _Atomic int state;            /* enum stet_lift_state */
};

struct stet_lift_family {
    struct stet_lift_family *next;
    struct stet_plugin *plugin;
    PJRT_Client *client;
    struct stet_hash key;
    uint32_t refs;                  /* code and compiles in progress; 1 for the table */
    uint32_t lifts;                 /* lifted programs that were compiled */
    bool lifting;                   /* a thread compiles one now */
    bool refused;                   /* in quarantine */
    bool gone;                      /* no longer in the table */
    char *bytes;                    /* of the first program */
    struct stet_program base, hlo;  /* `hlo` if it came as HLO: `base` borrows from it */
    PJRT_LoadedExecutable *plain;   /* of the first program */
    uint64_t plain_ns;              /* how long compiling it took */
    struct stet_hash note, entry;   /* for the store: name of the note, key of the first program */
    struct stet_lift_plan recalled; /* the plan of an earlier run; no uses if there is none */
    bool ours;                      /* the framework destroyed it, so it is ours to destroy */
    bool deleted;                   /* the framework deleted it */
    struct stet_lift_code *code;    /* the newest, or NULL */
};

/* A program in one compile, before its family is known or created. */
struct stet_lift_candidate {
    struct stet_reading *reading;       /* of the compile; outlives this */
    const struct stet_program *program; /* as StableHLO: the reading's own, or `converted` */
    struct stet_program converted;      /* from HLO; borrows from the reading */
    struct stet_hash key;
    struct stet_hash note; /* what an earlier run noted of the family; zero without a store */
    PJRT_Client *client;
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
    /* To compile the plain program if need be, and to serialize it; empty if there are too many. */
    struct stet_view program, format, options;
    size_t kept; /* their bytes */
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
/* The family's new code for what `m` found, which covers `earlier` too (NULL for none), with a
 * reference for the caller. `l` gets what is to be stored. NULL if it is not to be had; the family
 * is then in quarantine. */
struct stet_lift_code *stet_intercept_lift_code_new(struct stet_lifting *l,
                                                    struct stet_lift_family *f,
                                                    const struct stet_lift_plan *earlier,
                                                    const struct stet_lift_candidate *other,
                                                    const struct stet_lift_match *m,
                                                    const PJRT_Client_Compile_Args *args);
/* Journals why the program of this compile is not lifted. */
void stet_intercept_lift_record_unlifted(uint64_t index, const char *why);
/* No program of the family is lifted from now on. The reason is logged and recorded with the
 * compile of this index, and counted if it is a fault. */
void stet_intercept_lift_quarantine(struct stet_lift_family *f, uint64_t index, bool fault,
                                    const char *why);

/* A lifted executable with the values of one program, or NULL. Copies all it needs. */
struct stet_lifted *stet_intercept_lifted_new(struct stet_lift_code *code,
                                              const struct stet_lift_value *values,
                                              const PJRT_Client_Compile_Args *args);
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

/* Runs the plain and the lifted program with the framework's arguments and the values of the
 * family's first program, and compares all results. Gives a reason if they are not the same. */
enum stet_lift_verdict stet_intercept_lift_compare(struct stet_lift_code *code,
                                                   const PJRT_LoadedExecutable_Execute_Args *args,
                                                   char *why, size_t room);

/* ---- families of earlier runs (lift_recall.c) ---- */

/* The note of a program's family; zero without a store. */
struct stet_hash stet_intercept_lift_note_of(struct stet_plugin *p, PJRT_Client *client,
                                             struct stet_hash family);
/* The family of a program as an earlier run left it in the store, not in the table yet. It is in
 * quarantine if it was. NULL if there is none, or if its first program cannot be loaded. */
struct stet_lift_family *stet_intercept_lift_recall(struct stet_plugin *p,
                                                    const struct stet_lift_candidate *c,
                                                    const PJRT_Client_Compile_Args *args);
/* The family's code has proved itself. */
void stet_intercept_lift_remember(const struct stet_lift_code *code);
/* The family must not be lifted in later runs either. */
void stet_intercept_lift_forbid(const struct stet_lift_family *f);

/* The compile options for `more` additional arguments after `count`; false if these options cannot
 * have more. `out` is empty if nothing changes. */
bool stet_intercept_lift_options(struct stet_view options, uint32_t count, uint32_t more,
                                 struct stet_buf *out);

#endif
