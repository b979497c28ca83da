/* Arenas: memory that lives and dies with one program. */
#ifndef STET_BASE_ARENA_H
#define STET_BASE_ARENA_H

#include "base/view.h"

struct stet_arena_block;

/* Zeroed memory in growing blocks, released all at once. Not thread-safe. */
struct stet_arena {
    struct stet_arena_block *blocks;
    char *next, *end;
    size_t used;  /* bytes handed out or reserved in blocks */
    size_t cap;   /* `used` never passes this */
    size_t least; /* a block is no smaller; 0 for the usual 4 KB */
    bool failed;  /* sticky: some request was refused */
};

void stet_arena_init(struct stet_arena *a, size_t cap);
void stet_arena_release(struct stet_arena *a);

/* Takes from the caller's memory first (aligned to 8 bytes, not counted in `used`), which has to
 * outlive what is made. Only right after stet_arena_init. */
static inline void stet_arena_lend(struct stet_arena *a, void *memory, size_t bytes)
{
    a->next = memory;
    a->end = a->next + bytes;
}

/* Room for about so much in one piece, if the cap allows; only a hint. */
void stet_arena_reserve(struct stet_arena *a, size_t bytes);

/* NULL (and `failed`) on overflow, cap or out of memory. Aligned to 8 bytes. */
void *stet_arena_alloc(struct stet_arena *a, size_t count, size_t size);
/* Same without the zeroing; for bytes about to be overwritten. */
static inline void *stet_arena_raw(struct stet_arena *a, size_t count, size_t size);
/* A terminated copy; .ptr is NULL on failure. */
struct stet_view stet_arena_copy(struct stet_arena *a, struct stet_view v);
struct stet_view stet_arena_printf(struct stet_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The rest of stet_arena_raw: a new block, or refusal. */
void *stet_arena_slow(struct stet_arena *a, size_t count, size_t size);

static inline void *stet_arena_raw(struct stet_arena *a, size_t count, size_t size)
{
    size_t bytes;
    char *p = a->next;

    if (!p || __builtin_mul_overflow(count, size, &bytes) || bytes > (size_t)(a->end - p) ||
        ((bytes + 7) & ~(size_t)7) > (size_t)(a->end - p))
        return stet_arena_slow(a, count, size);
    a->next = p + ((bytes + 7) & ~(size_t)7);
    return p;
}

#define STET_NEW(arena, type)          ((type *)stet_arena_alloc((arena), 1, sizeof(type)))
#define STET_NEW_ARRAY(arena, type, n) ((type *)stet_arena_alloc((arena), (n), sizeof(type)))

#endif
