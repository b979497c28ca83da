/* Bump allocation in doubling blocks. */
#include "base/arena.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

struct stet_arena_block {
    struct stet_arena_block *next;
};

enum { ALIGN = 8, LEAST_BLOCK = 4096, LARGEST_BLOCK = 4 << 20 };

void stet_arena_init(struct stet_arena *a, size_t cap)
{
    *a = (struct stet_arena){.cap = cap};
}

void stet_arena_release(struct stet_arena *a)
{
    struct stet_arena_block *b = a->blocks, *next;

    for (; b; b = next) {
        next = b->next;
        stet_mem_free(b);
    }
    *a = (struct stet_arena){.cap = a->cap, .least = a->least};
}

static bool add_block(struct stet_arena *a, size_t need)
{
    size_t header = (sizeof(struct stet_arena_block) + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    size_t size = a->used / 64; /* only the last block is ever partly unused */
    size_t least = a->least ? a->least : LEAST_BLOCK;
    struct stet_arena_block *b;

    if (size < least)
        size = least;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    size &= ~(size_t)(ALIGN - 1);
    need = (need + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (size < need + header)
        size = need + header;
    if (size > a->cap - a->used)
        size = need + header;
    if (size > a->cap - a->used)
        return false;
    b = stet_mem_alloc(size);
    if (!b)
        return false;
    b->next = a->blocks;
    a->blocks = b;
    a->used += size;
    a->next = (char *)b + header;
    a->end = (char *)b + size;
    return true;
}

void stet_arena_reserve(struct stet_arena *a, size_t bytes)
{
    if (bytes > (size_t)(a->end - a->next) && bytes < SIZE_MAX / 2)
        add_block(a, bytes);
}

void *stet_arena_slow(struct stet_arena *a, size_t count, size_t size)
{
    size_t bytes;
    char *p;

    if (stet_mul_overflows(count, size, &bytes) || bytes > SIZE_MAX / 2)
        goto refuse;
    bytes = ((bytes ? bytes : 1) + ALIGN - 1) & ~(size_t)(ALIGN - 1); /* an empty copy still needs a
                                                                       * pointer */
    if (bytes > (size_t)(a->end - a->next) && !add_block(a, bytes))
        goto refuse;
    p = a->next;
    a->next += bytes;
    return p;
refuse:
    a->failed = true;
    return NULL;
}

void *stet_arena_alloc(struct stet_arena *a, size_t count, size_t size)
{
    void *p = stet_arena_raw(a, count, size);

    return p ? memset(p, 0, count * size) : NULL;
}

struct stet_view stet_arena_copy(struct stet_arena *a, struct stet_view v)
{
    char *p;

    if (v.len == SIZE_MAX) {
        a->failed = true;
        return (struct stet_view){0};
    }
    p = stet_arena_raw(a, v.len + 1, 1);
    if (!p)
        return (struct stet_view){0};
    if (v.len)
        memcpy(p, v.ptr, v.len);
    p[v.len] = '\0';
    return stet_view_of(p, v.len);
}

void *stet_arena_adopt(struct stet_arena *a, void *items, size_t count, size_t size)
{
    void *kept = stet_arena_alloc(a, count + 1, size);

    if (kept && count)
        memcpy(kept, items, count * size);
    stet_mem_free(items);
    return kept;
}

struct stet_view stet_arena_printf(struct stet_arena *a, const char *fmt, ...)
{
    va_list ap;
    int n;
    char *p;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    p = n < 0 ? NULL : stet_arena_raw(a, (size_t)n + 1, 1);
    if (!p)
        return (struct stet_view){0};
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return stet_view_of(p, (size_t)n);
}
