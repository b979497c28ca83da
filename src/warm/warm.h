/* Compiles the programs of earlier runs into the store before the next launch, in child processes.
 * `stet warm` loads the runs, gathers the items and starts the children. The items are in memory
 * shared with the children. */
#ifndef STET_WARM_WARM_H
#define STET_WARM_WARM_H

#include "abi/pjrt.h"
#include "base/hash.h"
#include "base/view.h"
#include "ledger/run_folder.h"
#include "ledger/run_load.h"
#include "warm/topology.h"

#include <stdatomic.h>
#include <sys/types.h>

enum stet_warm_verdict {
    STET_WARM_WAITS,
    STET_WARM_AT_WORK,
    STET_WARM_DONE,
    STET_WARM_NOT_CAPTURED,
    STET_WARM_NO_PLUGIN,
    STET_WARM_FAILED,
    STET_WARM_LEFT, /* the inspector did not want it compiled */
};

/* One program that ran earlier; in memory that the children share. */
struct stet_warm_item {
    struct stet_hash program, options;
    const char *folder; /* its run's folder, with the programs; the same address in children */
    char format[32], name[64], plugin[512];
    struct stet_warm_identity identity;
    const struct stet_view *env; /* of the process in which it ran, from the run's digest */
    size_t env_count;
    uint64_t size; /* of the program, in bytes */
    size_t place;  /* in the order of the run */
    _Atomic int verdict;
    pid_t by;          /* the child that compiled it */
    uint64_t begun_ns; /* when it began, by stet_clock_ns */
    uint64_t order;    /* its number among that child's compiles, if it was compiled */
    char detail[192];
    int code; /* of the compiler's error, PJRT_Error_Code; 0 if it gave none */
};

/* What a child has about one program. */
struct stet_warm_subject {
    struct stet_warm_item *item;
    size_t number; /* of the item in the plan */
    const PJRT_Api *api;
    PJRT_TopologyDescription *topology; /* NULL: there is a client */
    struct stet_view code, options;
    PJRT_Executable *executable; /* once it is compiled ahead of time; else NULL */
    uint64_t wall_ns, cpu_ns;    /* that the compile took */
};

/* Looks at programs in the children, for example to ask the compiler for more. */
struct stet_warm_inspector {
    /* Before a program is compiled. False: it is left uncompiled. */
    bool (*before)(void *context, const struct stet_warm_subject *s);
    /* After a compile ahead of time that succeeded. */
    void (*after)(void *context, const struct stet_warm_subject *s);
    void *context;
};

struct stet_warm_plan {
    const char *layer;                  /* libstet_plugin.so */
    struct stet_warm_topology topology; /* without a name: a client of the plugin */
    struct stet_warm_item *items;       /* the largest programs first */
    size_t count;
    const struct stet_warm_inspector *inspector; /* NULL for none */
    const char *logs;  /* a folder for what compilers print; NULL: standard error */
    uint64_t limit_ns; /* what one program may take; 0 for no limit */
};

enum { STET_WARM_JOBS = 64 }; /* children at a time, at most */

/* The runs whose programs are compiled. */
struct stet_warm_runs {
    struct stet_runs runs;
    struct stet_run_digest *digests;
    size_t count;
};

/* `name` is a run as stet_ledger_runs_find accepts it, or a ledger, which means all of its runs.
 * Unload `r` even after a failure. */
enum stet_rc stet_warm_runs_load(struct stet_warm_runs *r, const char *name, struct stet_err *err);
void stet_warm_runs_unload(struct stet_warm_runs *r);
/* Fills the plan's items. `plugin`, if given, replaces the plugins of the runs. */
enum stet_rc stet_warm_gather(struct stet_warm_plan *plan, const struct stet_warm_runs *r,
                              const char *plugin, struct stet_err *err);
/* Compiles all items in `jobs` children at a time, and prints progress on standard error. A child
 * that hangs is ended. Returns early when the command is to stop (base/stop.h). */
void stet_warm_work(const struct stet_warm_plan *plan, unsigned jobs);

/* "3"; NULL means one for each processor. 0 if it is not a number from 1 to STET_WARM_JOBS. */
unsigned stet_warm_jobs(const char *text);

/* Compiles items until there are none; never returns. A child leaves items with another plugin or
 * other flags than its first one to another process, because both are read once per process. */
_Noreturn void stet_warm_child(const struct stet_warm_plan *plan);

#endif
