/* The draining side. */
#include "intercept/ring.h"

uint64_t stet_ring_take(struct stet_ring *r, uint64_t end)
{
    uint64_t at = atomic_load_explicit(&r->tail, memory_order_relaxed);
    _Atomic uint64_t *word = &r->words[at % STET_RING_SIZE];
    uint64_t value;

    if (at >= end)
        return 0;
    value = atomic_load_explicit(word, memory_order_acquire);
    if (!value)
        return 0;
    atomic_store_explicit(word, 0, memory_order_relaxed);
    atomic_store_explicit(&r->tail, at + 1, memory_order_release);
    return value;
}

void stet_ring_reset(struct stet_ring *r)
{
    uint64_t head = atomic_load(&r->head);

    for (uint64_t at = atomic_load(&r->tail); at < head; at++)
        atomic_store_explicit(&r->words[at % STET_RING_SIZE], 0, memory_order_relaxed);
    atomic_store(&r->tail, head);
}
