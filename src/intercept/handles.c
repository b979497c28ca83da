/* Open addressing with a bounded probe; writers take a lock, readers see complete entries or
 * none. */
#include "intercept/handles.h"

#include "base/mem.h"

enum { LEFT = 1 };

bool stet_handles_init(struct stet_handles *t)
{
    t->entries = stet_mem_calloc(STET_HANDLES_SIZE, sizeof *t->entries);
    return t->entries && pthread_mutex_init(&t->lock, NULL) == 0;
}

static struct stet_handle *at(struct stet_handles *t, uint32_t index)
{
    return &t->entries[index % STET_HANDLES_SIZE];
}

static uintptr_t key_of(struct stet_handle *h)
{
    return atomic_load_explicit(&h->key, memory_order_acquire);
}

struct stet_handle *stet_handles_put(struct stet_handles *t, const void *handle, uint32_t id)
{
    uint32_t home = stet_handles_home(handle);
    struct stet_handle *h;

    if ((uintptr_t)handle <= LEFT)
        return NULL;
    pthread_mutex_lock(&t->lock);
    h = stet_handles_find(t, handle);
    for (uint32_t i = 0; !h && i < STET_HANDLES_PROBE; i++) {
        if (key_of(at(t, home + i)) <= LEFT)
            h = at(t, home + i);
    }
    if (h) {
        atomic_store_explicit(&h->id, id, memory_order_relaxed);
        atomic_store_explicit(&h->missed, 0, memory_order_relaxed);
        atomic_store_explicit(&h->key, (uintptr_t)handle, memory_order_release);
    }
    pthread_mutex_unlock(&t->lock);
    return h;
}

/* A run of deleted entries that ends in a never-used one is no longer needed for probing. It is
 * marked as never used, so that lookups of unknown handles stay short. */
static void tidy(struct stet_handles *t, uint32_t index)
{
    while (key_of(at(t, index)) == LEFT && key_of(at(t, index + 1)) == 0)
        atomic_store_explicit(&at(t, index--)->key, 0, memory_order_release);
}

uint32_t stet_handles_remove(struct stet_handles *t, const void *handle, uint32_t *missed)
{
    struct stet_handle *h;
    uint32_t id = 0;

    *missed = 0;
    if ((uintptr_t)handle <= LEFT)
        return 0;
    pthread_mutex_lock(&t->lock);
    h = stet_handles_find(t, handle);
    if (h) {
        id = atomic_load_explicit(&h->id, memory_order_relaxed);
        *missed = atomic_exchange_explicit(&h->missed, 0, memory_order_relaxed);
        atomic_store_explicit(&h->key, LEFT, memory_order_release);
        tidy(t, (uint32_t)(h - t->entries));
    }
    pthread_mutex_unlock(&t->lock);
    return id;
}
