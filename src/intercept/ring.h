/* The order of executions. Many threads push without a lock, one thread drains, and no thread ever
 * waits. The hook of executions pushes, and drain.c takes. */
#ifndef STET_INTERCEPT_RING_H
#define STET_INTERCEPT_RING_H

#include "intercept/ticks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define STET_RING_SIZE  65536u /* a power of two */
#define STET_RING_IDS   (1u << 20)
#define STET_RING_OTHER (STET_RING_IDS - 1) /* all ids too large for a word */

/* If more threads than this were between check and claim at one moment, a word would be
 * overwritten, which loses one execution and nothing else. */
#define STET_RING_SLACK 4096u

/* As long as only one thread executes, as in most training runs, it claims its slots without a
 * locked instruction. The first push of a second thread ends that for good. */
enum {
    STET_RING_MANY =
        0, /* all threads use the shared path; from the start if the kernel has no barrier */
    STET_RING_NOBODY = 1,
    STET_RING_MEETING = 2, /* a second thread has arrived and waits for the first to notice */
}; /* else: the address of the single thread's control block */

/* A word is id | ticks >> 4 << 20. Zero means not yet written. */
struct stet_ring {
    /* On separate cache lines: all threads write head, and all read tail. */
    _Alignas(64) _Atomic uint64_t head; /* next to claim */
    _Atomic uintptr_t owner;
    _Atomic uint32_t claiming;          /* the owner is between reading and writing head */
    _Alignas(64) _Atomic uint64_t tail; /* all before it are drained; published now and then */
    _Alignas(64) uint64_t next;         /* next to drain; the drainer's own */
    _Alignas(64) _Atomic uint64_t words[STET_RING_SIZE];
};

enum stet_pushed {
    STET_PUSHED,
    STET_PUSHED_FIRST,   /* the ring was empty: make sure that a thread drains it */
    STET_PUSHED_QUARTER, /* it fills: wake the drainer */
    STET_RING_FULL,      /* not pushed: the caller counts it */
};

static inline uint64_t stet_ring_word(uint32_t id, uint64_t ticks)
{
    return (id < STET_RING_OTHER ? id : STET_RING_OTHER) | ticks >> 4 << 20;
}

static inline uintptr_t stet_ring_self(void)
{
    uintptr_t self;

#if defined(__x86_64__)
    __asm__("mov %%fs:0, %0" : "=r"(self));
#else
    __asm__("mrs %0, tpidr_el0" : "=r"(self));
#endif
    return self;
}

/* The other side is in ring.c: it changes `owner`, makes every thread pass a barrier and then reads
 * `claiming`. So either it sees that we are claiming, or we see the change. */
static inline bool stet_ring_claim_alone(struct stet_ring *r, uintptr_t self, uint64_t *at)
{
    bool alone;

    atomic_store_explicit(&r->claiming, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    alone = atomic_load_explicit(&r->owner, memory_order_relaxed) == self;
    if (alone) {
        *at = atomic_load_explicit(&r->head, memory_order_relaxed);
        atomic_store_explicit(&r->head, *at + 1, memory_order_relaxed);
    }
    atomic_store_explicit(&r->claiming, 0, memory_order_release);
    return alone;
}

/* For every thread but the single one. */
uint64_t stet_ring_claim_slow(struct stet_ring *r);

static inline enum stet_pushed stet_ring_push(struct stet_ring *r, uint32_t id)
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);
    uint64_t at = atomic_load_explicit(&r->head, memory_order_relaxed);
    uintptr_t self = stet_ring_self();
    bool first;

    if (at - tail >= STET_RING_SIZE - STET_RING_SLACK)
        return STET_RING_FULL;
    if (__builtin_expect(atomic_load_explicit(&r->owner, memory_order_relaxed) != self, 0) ||
        !stet_ring_claim_alone(r, self, &at))
        at = stet_ring_claim_slow(r);
    first = at == tail;
    atomic_store_explicit(&r->words[at % STET_RING_SIZE], stet_ring_word(id, stet_ticks()),
                          memory_order_release);
    if (first)
        return STET_PUSHED_FIRST;
    return at % (STET_RING_SIZE / 4) ? STET_PUSHED : STET_PUSHED_QUARTER;
}

static inline uint64_t stet_ring_head(struct stet_ring *r)
{
    return atomic_load_explicit(&r->head, memory_order_relaxed);
}

/* One word, or 0 if there is none before `end` or its writer is not done yet. From one thread
 * only. */
uint64_t stet_ring_take(struct stet_ring *r, uint64_t end);
/* Call it before the first push, and in the child of a fork. */
void stet_ring_init(struct stet_ring *r);
/* Drops its content; no thread may push meanwhile (the child of a fork). */
void stet_ring_reset(struct stet_ring *r);

#endif
