/* Plans a warm-up: each program of the runs once. */
#include "warm/warm.h"

#include "base/fs.h"
#include "base/mem.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void take(struct stet_warm_plan *plan, const struct stet_process_digest *d,
                 const struct stet_compile_event *c, const char *folder, const char *plugin)
{
    struct stet_warm_item *i = &plan->items[plan->count];
    char digits[24];

    for (size_t k = 0; k < plan->count; k++) {
        if (stet_hash_eq(plan->items[k].program, c->program) &&
            stet_hash_eq(plan->items[k].options, c->options))
            return;
    }
    i->folder = folder;
    i->program = c->program;
    i->options = c->options;
    i->size = c->program_size;
    i->place = plan->count;
    snprintf(i->format, sizeof i->format, "%.*s", STET_FMT(c->format));
    snprintf(i->name, sizeof i->name, "%.*s", STET_FMT(c->name));
    for (size_t p = 0; p < d->plugin_count; p++) {
        if (d->plugins[p].id != c->plugin)
            continue;
        snprintf(i->plugin, sizeof i->plugin, "%.*s", STET_FMT(d->plugins[p].path));
        if (!plan->topology.described.len) {
            plan->topology.described = d->plugins[p].target;
            plan->topology.host_described = d->plugins[p].host_target;
        }
        snprintf(i->identity.platform, sizeof i->identity.platform, "%.*s",
                 STET_FMT(d->plugins[p].told_platform));
        snprintf(digits, sizeof digits, "%.*s", STET_FMT(d->plugins[p].told_devices));
        i->identity.devices = strtoll(digits, NULL, 10);
    }
    if (plugin) {
        snprintf(i->plugin, sizeof i->plugin, "%s", plugin);
        i->identity = (struct stet_warm_identity){0};
    }
    i->env = d->env;
    i->env_count = d->env_count;
    plan->count++;
}

static void *shared(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Recognises a state folder by its ledger: `name` is that file, or the folder that has it. */
static bool is_ledger(const char *name, char folder[PATH_MAX])
{
    size_t n = strlen(name), tail = strlen("/ledger.db");
    char path[PATH_MAX + 16];

    if (n >= PATH_MAX)
        return false;
    memcpy(folder, name, n + 1);
    if (n > tail && !strcmp(name + n - tail, "/ledger.db"))
        folder[n - tail] = '\0';
    snprintf(path, sizeof path, "%s/runs", folder); /* the runs hold the programs */
    return strchr(name, '/') && stet_fs_exists(path);
}

/* Loads one run, or all runs of another ledger. */
enum stet_rc stet_warm_runs_load(struct stet_warm_runs *r, const char *name, struct stet_err *err)
{
    char folder[PATH_MAX];
    bool all = name && is_ledger(name, folder);
    const struct stet_run *first = NULL;
    enum stet_rc rc;

    if (all && setenv("STET_STATE_DIR", folder, 1) != 0)
        return stet_fail_errno(err, "cannot set the environment");
    rc = stet_ledger_runs_open(&r->runs, err);
    if (rc == STET_OK && !all)
        rc = stet_ledger_runs_find(&r->runs, name, &first, err);
    if (rc == STET_OK && !(r->digests = stet_mem_calloc(r->runs.count + 1, sizeof *r->digests)))
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for %zu runs", r->runs.count);
    for (size_t i = 0; rc == STET_OK && i < (all ? r->runs.count : 1); i++) {
        rc = stet_ledger_run_load(&r->digests[i], all ? r->runs.items[i].folder : first->folder,
                                  err);
        r->count += rc == STET_OK;
    }
    if (first && rc == STET_OK)
        r->runs.items[0] = *first; /* digest 0 belongs to run 0 */
    return rc;
}

void stet_warm_runs_unload(struct stet_warm_runs *r)
{
    for (size_t i = 0; i < r->count; i++)
        stet_ledger_run_unload(&r->digests[i]);
    stet_mem_free(r->digests);
    stet_ledger_runs_close(&r->runs);
}

static void gather_one(struct stet_warm_plan *plan, const struct stet_run_digest *d,
                       const char *folder, const char *plugin)
{
    for (size_t p = 0; p < d->process_count; p++) {
        for (size_t i = 0; i < d->processes[p].compile_count; i++) {
            const struct stet_compile_event *c = &d->processes[p].compiles[i];

            if (!c->load && c->ended && !c->error_code)
                take(plan, &d->processes[p], c, folder, plugin);
        }
    }
}

/* A large program takes longest, so it must not be the last one to begin. */
static int larger_first(const void *a, const void *b)
{
    const struct stet_warm_item *x = a, *y = b;

    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return x->place < y->place ? -1 : 1;
}

enum stet_rc stet_warm_gather(struct stet_warm_plan *plan, const struct stet_warm_runs *r,
                              const char *plugin, struct stet_err *err)
{
    size_t room = 1;

    for (size_t n = 0; n < r->count; n++) {
        for (size_t p = 0; p < r->digests[n].process_count; p++)
            room += r->digests[n].processes[p].compile_count;
    }
    plan->items = shared(room * sizeof *plan->items);
    if (!plan->items)
        return stet_fail_errno(err, "no memory for %zu programs", room);
    for (size_t n = 0; n < r->count; n++)
        gather_one(plan, &r->digests[n], r->runs.items[n].folder, plugin);
    if (plan->count)
        qsort(plan->items, plan->count, sizeof *plan->items, larger_first);
    return plan->count ? STET_OK : stet_fail(err, STET_NOT_FOUND, "the run compiled nothing");
}
