/* The draining side, and the transition from one executing thread to several. */
#include "intercept/ring.h"

#include "journal/write.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The tail is published only now and then: publishing every word would make the pushers fetch the
 * cache line each time. */
enum { TELL_EVERY = 256 };
/* A thread that does not finish by then was killed inside; at worst an execution is lost. */
#define MEETING_NS UINT64_C(1000000000)

void stet_ring_init(struct stet_ring *r)
{
    bool can = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;

    atomic_store(&r->claiming, 0);
    atomic_store(&r->owner, can ? STET_RING_NOBODY : STET_RING_MANY);
}

/* This thread has set `owner` to MEETING. */
static void meet(struct stet_ring *r)
{
    uint64_t end = stet_journal_now() + MEETING_NS;

    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    while (atomic_load_explicit(&r->claiming, memory_order_acquire) && stet_journal_now() < end)
        sched_yield();
    atomic_store_explicit(&r->owner, STET_RING_MANY, memory_order_release);
}

/* True if `self` is, or has just become, the single thread; otherwise all use the shared path
 * now. */
static bool is_alone(struct stet_ring *r, uintptr_t self)
{
    uintptr_t owner = atomic_load(&r->owner);

    while (owner != STET_RING_MANY && owner != self) {
        if (owner == STET_RING_NOBODY) {
            if (atomic_compare_exchange_strong(&r->owner, &owner, self))
                return true;
        } else if (owner == STET_RING_MEETING) {
            sched_yield();
            owner = atomic_load(&r->owner);
        } else if (atomic_compare_exchange_strong(&r->owner, &owner, STET_RING_MEETING)) {
            meet(r);
            return false;
        }
    }
    return owner == self;
}

uint64_t stet_ring_claim_slow(struct stet_ring *r)
{
    uintptr_t self = stet_ring_self();
    uint64_t at;

    while (atomic_load_explicit(&r->owner, memory_order_acquire) != STET_RING_MANY) {
        if (is_alone(r, self) && stet_ring_claim_alone(r, self, &at))
            return at;
    }
    return atomic_fetch_add_explicit(&r->head, 1, memory_order_relaxed);
}

static void tell(struct stet_ring *r)
{
    if (atomic_load_explicit(&r->tail, memory_order_relaxed) != r->next)
        atomic_store_explicit(&r->tail, r->next, memory_order_release);
}

uint64_t stet_ring_take(struct stet_ring *r, uint64_t end)
{
    _Atomic uint64_t *word = &r->words[r->next % STET_RING_SIZE];
    uint64_t value = r->next < end ? atomic_load_explicit(word, memory_order_acquire) : 0;

    if (value) {
        atomic_store_explicit(word, 0, memory_order_relaxed);
        r->next++;
    }
    if (!value || r->next % TELL_EVERY == 0)
        tell(r);
    return value;
}

void stet_ring_reset(struct stet_ring *r)
{
    uint64_t head = atomic_load(&r->head);

    for (uint64_t at = atomic_load(&r->tail); at < head; at++)
        atomic_store_explicit(&r->words[at % STET_RING_SIZE], 0, memory_order_relaxed);
    r->next = head;
    atomic_store(&r->tail, head);
}
