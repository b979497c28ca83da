/* Compiling ahead of the next launch, in a child process. */
#ifndef STET_WARM_WARM_H
#define STET_WARM_WARM_H

#include "base/hash.h"
#include "base/view.h"
#include "ledger/run_folder.h"
#include "ledger/run_load.h"

#include <stdatomic.h>
#include <sys/types.h>

enum stet_warm_verdict {
    STET_WARM_WAITS,
    STET_WARM_AT_WORK,
    STET_WARM_DONE,
    STET_WARM_NOT_CAPTURED,
    STET_WARM_NO_PLUGIN,
    STET_WARM_FAILED,
};

/* One program that really ran; in memory that the children share. */
struct stet_warm_item {
    struct stet_hash program, options;
    const char *folder; /* of its run: programs lie there; children have it at the same address */
    char format[32], name[64], plugin[512];
    const struct stet_view *env; /* of the process it ran in, as the run's digest has it */
    size_t env_count;
    _Atomic int verdict;
    pid_t by;       /* the child that did it */
    uint64_t order; /* its number among those of that child */
    char detail[192];
};

struct stet_warm_plan {
    const char *layer;                          /* libstet_plugin.so */
    const char *topology;                       /* NULL: a client of the plugin */
    const char *target;                         /* a file, GpuTargetConfigProto as text, or NULL: */
    struct stet_view described, host_described; /* as the run's client told them; may be empty */
    struct stet_warm_item *items;
    size_t count;
};

/* The runs whose programs are compiled. */
struct stet_warm_runs {
    struct stet_runs runs;
    struct stet_run_digest *digests;
    size_t count;
};

/* `name`: a run as stet_ledger_runs_find takes it, or a ledger: then all of its runs. Unload it in
 * any case. */
enum stet_rc stet_warm_runs_load(struct stet_warm_runs *r, const char *name, struct stet_err *err);
void stet_warm_runs_unload(struct stet_warm_runs *r);
/* Fills the plan's items; with `plugin` that one is used instead of the runs' own. */
enum stet_rc stet_warm_gather(struct stet_warm_plan *plan, const struct stet_warm_runs *r,
                              const char *plugin, struct stet_err *err);
/* Compiles all items in so many children at a time; progress on standard error. */
void stet_warm_work(const struct stet_warm_plan *plan, unsigned jobs);

/* Takes items until there are none; never returns. Items of another plugin or other flags than the
 * first this child took are left to a process of their own, since both are read once. */
_Noreturn void stet_warm_child(const struct stet_warm_plan *plan);

#endif
