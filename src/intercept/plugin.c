/* Slots: which plugin is in which, and the copy of its table. If something does not fit, the
 * framework gets the plugin's own function or table. */
#include "intercept/plugin.h"

#include "base/mem.h"
#include "intercept/identity.h"
#include "intercept/layer.h"
#include "intercept/lifting.h"
#include "intercept/object.h"

#include <dlfcn.h>
#include <string.h>

static struct stet_plugin plugins[STET_PLUGINS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const PJRT_Api *ask(struct stet_plugin *p);

#define SLOT 0
#include "intercept/slot.h"
#define SLOT 1
#include "intercept/slot.h"
#define SLOT 2
#include "intercept/slot.h"
#define SLOT 3
#include "intercept/slot.h"
#define SLOT 4
#include "intercept/slot.h"
#define SLOT 5
#include "intercept/slot.h"
#define SLOT 6
#include "intercept/slot.h"
#define SLOT 7
#include "intercept/slot.h"

static const struct {
    void (*install)(PJRT_Api *table);
    stet_get_pjrt_api *get;
} slots[STET_PLUGINS] = {
    {slot0_install, slot0_get}, {slot1_install, slot1_get}, {slot2_install, slot2_get},
    {slot3_install, slot3_get}, {slot4_install, slot4_get}, {slot5_install, slot5_get},
    {slot6_install, slot6_get}, {slot7_install, slot7_get},
};

/* A longer table is not believed. */
enum { TABLE_MAX = 1 << 20 };

static bool is_stet(const void *code)
{
    struct stet_object object;

    return stet_object_at(code, &object) && object.is_stet;
}

/* Why this table must be passed on unchanged, or NULL. The table of another copy of the layer has
 * its execute entry in that copy's code. */
static const char *unfit(const PJRT_Api *real)
{
    union {
        PJRT_LoadedExecutable_Execute *function;
        const void *code;
    } execute;

    if (!stet_api_usable(real) || real->struct_size > TABLE_MAX)
        return "its table has a version that this build cannot read";
    execute.function = real->PJRT_LoadedExecutable_Execute;
    return is_stet(execute.code) ? "another copy of the layer watches it" : NULL;
}

/* What a slot points to must stay loaded; a plugin never survives unloading anyway. */
static void pin(stet_get_pjrt_api *get)
{
    union {
        stet_get_pjrt_api *function;
        const void *code;
    } theirs = {get};
    struct stet_object object;

    if (stet_object_at(theirs.code, &object))
        dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    dlerror();
}

/* NULL with a reason if the table must be passed on unchanged. */
static const PJRT_Api *wrap(struct stet_plugin *p, const PJRT_Api *real, const char **why)
{
    PJRT_Api *table;

    if (*why)
        return NULL;
    table = stet_mem_alloc(real->struct_size);
    if (!table || !stet_handles_init(&p->handles)) {
        stet_fault(STET_FAULT_NO_MEMORY);
        stet_mem_free(table);
        *why = "out of memory";
        return NULL;
    }
    memcpy(table, real, real->struct_size);
    slots[p - plugins].install(table);
    return table;
}

/* The slot's GetPjrtApi. The plugin's own is called without a lock (it may look for another plugin
 * itself), and so is the loader, which may wait for us in another thread. */
static const PJRT_Api *ask(struct stet_plugin *p)
{
    stet_get_pjrt_api *get = atomic_load(&p->get);
    const PJRT_Api *real, *table;
    const char *why;

    stet_identity_first(p);
    real = get();
    if (!real || !stet_layer_start())
        return real;
    why = unfit(real);
    if (!why)
        pin(get);
    pthread_mutex_lock(&lock);
    if (!atomic_load(&p->table)) {
        const PJRT_Api *made = wrap(p, real, &why);

        p->note = why;
        atomic_store(&p->real, real);
        atomic_store_explicit(&p->table, made ? made : real, memory_order_release);
        stet_layer_log("plugin %u: table %p of %zu bytes%s%s", p->id, (const void *)real,
                       real->struct_size, p->note ? ", not watched: " : "", p->note ? p->note : "");
    }
    /* If a plugin returns another table the second time, that one is passed on unwatched. */
    table = atomic_load(&p->real) == real ? atomic_load(&p->table) : real;
    pthread_mutex_unlock(&lock);
    return table;
}

/* A slot for `get`; the same one if it was requested before. */
static struct stet_plugin *slot_for(stet_get_pjrt_api *get)
{
    struct stet_plugin *found = NULL;

    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < STET_PLUGINS && !found; i++) {
        stet_get_pjrt_api *there = atomic_load(&plugins[i].get);

        if (there && there != get)
            continue;
        found = &plugins[i];
        if (there)
            continue; /* others use it meanwhile */
        found->id = i + 1;
        atomic_store(&found->get, get);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

stet_get_pjrt_api *stet_plugin_adopt(stet_get_pjrt_api *get)
{
    union {
        stet_get_pjrt_api *function;
        const void *code;
    } theirs = {get};
    struct stet_plugin *p;

    if (!stet_layer_wanted() || is_stet(theirs.code))
        return get;
    p = slot_for(get);
    if (!p) {
        stet_fault(STET_FAULT_SLOTS_FULL);
        return get;
    }
    return slots[p - plugins].get;
}

struct stet_plugin *stet_plugin_at(size_t index)
{
    return index < STET_PLUGINS && atomic_load(&plugins[index].table) ? &plugins[index] : NULL;
}

void stet_plugin_fork_broken(void)
{
    pthread_mutex_init(&lock, NULL);
    for (size_t i = 0; i < STET_PLUGINS; i++) {
        if (plugins[i].handles.entries)
            pthread_mutex_init(&plugins[i].handles.lock, NULL);
    }
}

void stet_plugin_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < STET_PLUGINS; i++) {
        if (plugins[i].handles.entries)
            pthread_mutex_lock(&plugins[i].handles.lock);
    }
}

void stet_plugin_fork_done(void)
{
    for (size_t i = 0; i < STET_PLUGINS; i++) {
        if (plugins[i].handles.entries)
            pthread_mutex_unlock(&plugins[i].handles.lock);
    }
    pthread_mutex_unlock(&lock);
}
