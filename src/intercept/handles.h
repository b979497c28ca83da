/* Maps an executable's handle to its id. It is looked up on every execution, without a lock or an
 * allocation. Each plugin has one table, which lives as long as the process. */
#ifndef STET_INTERCEPT_HANDLES_H
#define STET_INTERCEPT_HANDLES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define STET_HANDLES_BITS  16
#define STET_HANDLES_SIZE  (1u << STET_HANDLES_BITS)
#define STET_HANDLES_PROBE 64u
/* An executable that another slot of ours already counts. */
#define STET_HANDLE_SILENT UINT32_MAX
/* This bit of an id means that the executable has not run yet. */
#define STET_HANDLE_FRESH  (UINT32_C(1) << 31)

/* `missed` counts executions that found the ring full: they are counted here, but not in the
 * sequence. */
struct stet_handle {
    _Atomic uintptr_t key; /* 0 never used, 1 left */
    _Atomic uint32_t id;
    _Atomic uint32_t missed;
};

struct stet_handles {
    struct stet_handle *entries; /* STET_HANDLES_SIZE of them; the mutex is for writers */
    pthread_mutex_t lock;
};

static inline uint32_t stet_handles_home(const void *handle)
{
    return (uint32_t)(((uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15)) >>
                      (64 - STET_HANDLES_BITS));
}

/* NULL if unknown. The caller has a live handle, so its entry cannot disappear meanwhile. */
static inline struct stet_handle *stet_handles_find(struct stet_handles *t, const void *handle)
{
    uint32_t at = stet_handles_home(handle);

    for (uint32_t i = 0; i < STET_HANDLES_PROBE; i++) {
        struct stet_handle *h = &t->entries[(at + i) % STET_HANDLES_SIZE];
        uintptr_t key = atomic_load_explicit(&h->key, memory_order_acquire);

        if (!key)
            return NULL;
        if (key == (uintptr_t)handle)
            return h;
    }
    return NULL;
}

bool stet_handles_init(struct stet_handles *t);
/* NULL if there is no room near its slot. An existing entry (whose destruction was not seen) gets
 * the new id. */
struct stet_handle *stet_handles_put(struct stet_handles *t, const void *handle, uint32_t id);
/* Returns the id it had (0 for none) and what it missed. */
uint32_t stet_handles_remove(struct stet_handles *t, const void *handle, uint32_t *missed);

#endif
