/* The plugins of this process. Each has a slot with a copy of its table that leads through our
 * hooks. Slots are never freed. */
#ifndef STET_INTERCEPT_PLUGIN_H
#define STET_INTERCEPT_PLUGIN_H

#include "abi/api.h"
#include "base/view.h"
#include "intercept/handles.h"

#define STET_PLUGINS 8
#define STET_CLIENTS 32 /* clients of one plugin that have ids; more share id 0 */

struct stet_client {
    _Atomic(PJRT_Client *) handle;
    _Atomic uint32_t id;
};

struct stet_plugin {
    uint32_t id;                      /* as in the journal, from 1 */
    _Atomic(stet_get_pjrt_api *) get; /* the plugin's own; NULL while the slot is free */
    const PJRT_Api *_Atomic real;     /* its table, once requested */
    const PJRT_Api *_Atomic table;    /* ours, or `real` when we step aside */
    const char *note;                 /* why it is not watched; a literal */
    struct stet_handles handles;
    struct stet_client clients[STET_CLIENTS];
    atomic_bool announced;
    atomic_bool no_memory_stats;     /* it failed once: do not query it again */
    _Atomic uint64_t memory_next_ns; /* earliest time for the next memory query */
    _Atomic uint64_t to_device_count, to_device_bytes, to_host_count, to_host_bytes;
    _Atomic uint64_t between_count, memory_asked;
};

/* The GetPjrtApi to return instead of `get`: a slot's, or `get` itself if Stet is off, if it
 * belongs to another copy of the layer, or if no slot is left. */
stet_get_pjrt_api *stet_plugin_adopt(stet_get_pjrt_api *get);

/* Slot `index`, or NULL if nothing was ever wrapped in it. */
struct stet_plugin *stet_plugin_at(size_t index);

/* Around fork: no thread changes a slot or a handle meanwhile. */
void stet_plugin_fork_prepare(void);
void stet_plugin_fork_done(void);
/* In a child whose fork could not be prepared: the threads that hold the locks do not exist
 * here. */
void stet_plugin_fork_broken(void);

static inline const PJRT_Api *stet_plugin_real(struct stet_plugin *p)
{
    return atomic_load_explicit(&p->real, memory_order_relaxed);
}

/* Text from a plugin; empty if the pointer is NULL or the size is implausible. */
static inline struct stet_view stet_plugin_text(const char *text, size_t size)
{
    return text && size <= (size_t)1 << 20 ? stet_view_of(text, size) : (struct stet_view){0};
}

/* One function for each line of hooks.def; a missing one does not link. */
#define HOOK(entry, what)      PJRT_Error *on_##entry(struct stet_plugin *p, entry##_Args *args);
#define HOOK_VOID(entry, what) void on_##entry(struct stet_plugin *p, entry##_Args *args);
#include "intercept/hooks.def"

/* Counts it and records it in the journal with its function; returns `error` for the caller to
 * return. */
PJRT_Error *stet_plugin_failed(struct stet_plugin *p, const char *function, PJRT_Error *error);

/* What an error belongs to. */
struct stet_plugin_failure {
    const char *function;
    uint64_t executable; /* its id; 0 for none */
    uint64_t compile;    /* the index of the compile, + 1; 0 for none */
};

PJRT_Error *stet_plugin_failed_in(struct stet_plugin *p, const struct stet_plugin_failure *in,
                                  PJRT_Error *error);
/* Code and message of a plugin's error. The text is valid as long as the error. */
PJRT_Error_Code stet_plugin_error_text(struct stet_plugin *p, const PJRT_Error *error,
                                       struct stet_view *text);
/* Destroys an error from a query of our own. True if there was one. */
bool stet_plugin_drop(struct stet_plugin *p, PJRT_Error *error);

/* Records the plugin in the journal, once; the second does so at exit for those that were never
 * used. */
void stet_plugin_announce(struct stet_plugin *p);
void stet_plugin_announce_all(void);
/* In the child of a fork: records it again, in the child's journal, if the plugin is used there. */
void stet_plugin_after_fork(void);
/* The journal's id of a client; 0 if unknown. */
uint32_t stet_plugin_client(struct stet_plugin *p, const PJRT_Client *client);
/* Records the memory statistics of a client's devices, at most once in ten seconds. */
void stet_plugin_look_at_memory(struct stet_plugin *p, PJRT_Client *client, bool at_once);
/* Call it when the framework requested a device's statistics: counts the request, and records the
 * statistics, also at most once in ten seconds. */
void stet_plugin_memory_reported(struct stet_plugin *p, const PJRT_Device_MemoryStats_Args *s);

#endif
