/* Runs a warm-up from the names of its runs to the records of its children. */
#include "warm/warm_run.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/stop.h"
#include "launch/child_env.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets the environment that the children inherit. */
static enum stet_rc set_up(struct stet_warm_run *w, const char *store, struct stet_err *err)
{
    char *folder = store ? stet_mem_strdup(store) : stet_store_default(err);
    enum stet_rc rc =
        folder ? stet_launch_find_library("libstet_plugin.so", w->layer, sizeof w->layer, err)
               : STET_IO;

    if (rc == STET_OK &&
        (setenv("STET_STORE", folder, 1) != 0 || setenv("STET_DIR", w->folder, 1) != 0))
        rc = stet_fail_errno(err, "cannot set the environment");
    unsetenv("STET_STORE_MODE");
    unsetenv("STET");
    stet_mem_free(folder);
    return rc;
}

static enum stet_rc make_folder(struct stet_warm_run *w, struct stet_err *err)
{
    char path[] = "/tmp/stet-warm-XXXXXX";

    if (!mkdtemp(path))
        return stet_fail_errno(err, "%s: cannot make folder", path);
    snprintf(w->folder, sizeof w->folder, "%s", path);
    return STET_OK;
}

enum stet_rc stet_warm_run(struct stet_warm_run *w, const char *name,
                           const struct stet_warm_options *o, struct stet_err *err)
{
    uint64_t begin;
    enum stet_rc rc;

    *w = (struct stet_warm_run){.plan = {.layer = w->layer,
                                         .topology = {.name = o->topology, .target = o->target},
                                         .inspector = o->inspector,
                                         .logs = o->logs,
                                         .limit_ns = o->limit_ns}};
    rc = stet_warm_runs_load(&w->ran, name, err);
    if (rc == STET_OK)
        rc = stet_warm_gather(&w->plan, &w->ran, o->plugin, err);
    if (rc == STET_OK)
        rc = make_folder(w, err);
    if (rc == STET_OK)
        rc = set_up(w, o->store, err);
    if (rc != STET_OK)
        return rc;
    begin = stet_clock_ns();
    stet_warm_work(&w->plan, o->jobs);
    w->wall_ns = stet_clock_ns() - begin;
    if (stet_stop_asked())
        return stet_fail(err, STET_REFUSED, "interrupted");
    return stet_ledger_run_load(&w->did, w->folder, err);
}

void stet_warm_run_release(struct stet_warm_run *w)
{
    stet_ledger_run_unload(&w->did);
    if (w->folder[0])
        stet_fs_remove_tree(w->folder);
    stet_warm_runs_unload(&w->ran);
}

const struct stet_compile_event *stet_warm_run_event(const struct stet_warm_run *w,
                                                     const struct stet_warm_item *i)
{
    const struct stet_run_digest *d = &w->did;
    int verdict = atomic_load(&i->verdict);

    if (verdict != STET_WARM_DONE && verdict != STET_WARM_FAILED)
        return NULL;
    for (size_t p = 0; p < d->process_count; p++) {
        if (d->processes[p].pid == (uint64_t)i->by && i->order < d->processes[p].compile_count)
            return &d->processes[p].compiles[i->order];
    }
    return NULL;
}

enum stet_warm_end stet_warm_run_end(const struct stet_warm_item *i,
                                     const struct stet_compile_event *c)
{
    switch (atomic_load(&i->verdict)) {
    case STET_WARM_NOT_CAPTURED:
        return STET_WARM_END_NOT_CAPTURED;
    case STET_WARM_NO_PLUGIN:
        return STET_WARM_END_NO_PLUGIN;
    case STET_WARM_DONE:
        if (c && c->stored)
            return STET_WARM_END_KEPT;
        return c && (c->served || c->outcome == STET_OUTCOME_KEPT_ALREADY) ? STET_WARM_END_PRESENT
                                                                           : STET_WARM_END_NOT_KEPT;
    default:
        return STET_WARM_END_FAILED;
    }
}

const char *stet_warm_run_advice(const char *detail)
{
    if (strstr(detail, "Failed to get configs") || strstr(detail, "No supported config"))
        return "XLA times these kernels on the device: launch and warm with "
               "XLA_FLAGS=--xla_gpu_enable_triton_gemm=false, or warm where the device is";
    return NULL;
}

size_t stet_warm_run_alike(const struct stet_warm_item *i, const struct stet_warm_item *from,
                           const struct stet_warm_item *to)
{
    size_t n = 0;

    for (; i->detail[0] && from < to; from++)
        n += atomic_load(&from->verdict) == atomic_load(&i->verdict) &&
             !strcmp(from->detail, i->detail);
    return n;
}
