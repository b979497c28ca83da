/* Arenas. An arena hands out memory in growing blocks and releases all of it at once. Stet uses one
 * arena per program, so everything that belongs to the program is freed together. An allocation
 * that fails sets `failed` and returns NULL; callers may check `failed` once at the end. The arena
 * owns the memory that it returns. */
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
    size_t least; /* smallest block; 0 for the default of 4 KB */
    bool failed;  /* sticky: some request was refused */
};

void stet_arena_init(struct stet_arena *a, size_t cap);
void stet_arena_release(struct stet_arena *a);

/* Allocates from the caller's memory first (aligned to 8 bytes, not counted in `used`). That memory
 * must outlive everything allocated from it. Call it only right after stet_arena_init. */
static inline void stet_arena_lend(struct stet_arena *a, void *memory, size_t bytes)
{
    a->next = memory;
    a->end = a->next + bytes;
}

/* Reserves about `bytes` in one block, if the cap allows. This is only a hint. */
void stet_arena_reserve(struct stet_arena *a, size_t bytes);

/* Returns NULL and sets `failed` on overflow, at the cap, or when memory runs out. Aligned to 8
 * bytes. */
void *stet_arena_alloc(struct stet_arena *a, size_t count, size_t size);
/* The same without zeroing, for memory that the caller is about to overwrite. */
static inline void *stet_arena_raw(struct stet_arena *a, size_t count, size_t size);
/* A terminated copy; .ptr is NULL on failure. */
struct stet_view stet_arena_copy(struct stet_arena *a, struct stet_view v);
/* Moves an array that grew on the heap (stet_vec_room) into the arena and frees it. NULL when out
 * of memory. */
void *stet_arena_adopt(struct stet_arena *a, void *items, size_t count, size_t size);
struct stet_view stet_arena_printf(struct stet_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The slow path of stet_arena_raw: allocates a new block, or fails. */
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
