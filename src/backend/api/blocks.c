/* The memory of a device: blocks, and pieces that are kept for the next block of their size.
 *
 * A training loop frees and allocates the same sizes in every step. Memory that the system gives
 * anew must be cleared page by page, so pieces of SMALL bytes and more are kept. No more is kept
 * than the loop had in use at once not long ago, and nothing beyond SLACK once the device is
 * idle. */
#include "backend/api/cpu_api.h"

#include "base/mem.h"

#include <stdlib.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONS
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(POISONS)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

enum {
    SMALL = 64 << 10, /* smaller ones are the allocator's business */
    MAPPED = 1 << 20, /* from here on the system has them back when they are freed */
    HUGE_PAGE = 2 << 20,
    SLACK = 32 << 20,
    WINDOW = 64, /* runs that "not long ago" means, up to twice as many */
};

/* At the beginning of a piece that is kept. */
struct stet_cpu_piece {
    struct stet_cpu_piece *next, *previous; /* of its size class */
    struct stet_cpu_piece *newer, *older;
    uint32_t class;
};

/* ---- size classes: eight for each power of two ---- */

static uint32_t class_of(uint64_t size)
{
    uint32_t log = 63 - (uint32_t)__builtin_clzll(size - 1), eighth;

    eighth = (uint32_t)((size - 1) >> (log - 3)) & 7;
    return (log - 16) * 8 + eighth + 1;
}

/* The largest size of a class. */
static uint64_t room_of(uint32_t class)
{
    uint32_t log = 16 + (class - 1) / 8, eighth = (class - 1) % 8;

    return (uint64_t)(9 + eighth) << (log - 3);
}

/* ---- from and to the system ---- */

static void *map(uint64_t room)
{
    uint64_t whole = room + HUGE_PAGE;
    char *at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *data;

    if (at == MAP_FAILED)
        return NULL;
    data = (char *)(((uintptr_t)at + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    if (data != at)
        munmap(at, (size_t)(data - at));
    if (data + room != at + whole)
        munmap(data + room, (size_t)(at + whole - (data + room)));
    if (room >= 2 * HUGE_PAGE)
        madvise(data, room, MADV_HUGEPAGE);
    return data;
}

static void *fresh(uint64_t room)
{
    return room >= MAPPED ? map(room) : aligned_alloc(64, room);
}

static void give_back(void *data, uint64_t room)
{
    if (room >= MAPPED)
        munmap(data, room);
    else
        free(data);
}

/* ---- pieces that are kept; the lock is held ---- */

static void unlink_piece(struct stet_cpu_cache *c, struct stet_cpu_piece *p)
{
    *(p->previous ? &p->previous->next : &c->kept[p->class]) = p->next;
    if (p->next)
        p->next->previous = p->previous;
    *(p->older ? &p->older->newer : &c->oldest) = p->newer;
    *(p->newer ? &p->newer->older : &c->newest) = p->older;
    c->kept_bytes -= room_of(p->class);
}

static void keep(struct stet_cpu_cache *c, void *data, uint32_t class)
{
    struct stet_cpu_piece *p = data;

    *p = (struct stet_cpu_piece){.next = c->kept[class], .older = c->newest, .class = class};
    if (p->next)
        p->next->previous = p;
    *(p->older ? &p->older->newer : &c->oldest) = p;
    c->newest = c->kept[class] = p;
    c->kept_bytes += room_of(class);
    ASAN_POISON_MEMORY_REGION(p + 1, room_of(class) - sizeof *p);
}

/* Takes pieces out, the oldest first, until at most `bytes` are left; they are linked by `next`. */
static struct stet_cpu_piece *excess(struct stet_cpu_cache *c, uint64_t bytes)
{
    struct stet_cpu_piece *out = NULL;

    while (c->oldest && c->kept_bytes > bytes) {
        struct stet_cpu_piece *p = c->oldest;

        unlink_piece(c, p);
        p->next = out;
        out = p;
    }
    return out;
}

static void free_pieces(struct stet_cpu_piece *list)
{
    while (list) {
        /* A piece is in one list, once: NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        struct stet_cpu_piece *next = list->next;
        uint64_t room = room_of(list->class);

        ASAN_UNPOISON_MEMORY_REGION(list, room);
        give_back(list, room);
        list = next;
    }
}

static void trim(struct stet_cpu_cache *c, uint64_t bytes)
{
    struct stet_cpu_piece *list;

    pthread_mutex_lock(&c->lock);
    list = excess(c, bytes);
    pthread_mutex_unlock(&c->lock);
    free_pieces(list);
}

void stet_cpu_cache_init(struct stet_cpu_cache *c)
{
    pthread_mutex_init(&c->lock, NULL);
}

void stet_cpu_cache_release(struct stet_cpu_cache *c)
{
    trim(c, 0);
    pthread_mutex_destroy(&c->lock);
}

void stet_cpu_cache_idle(struct stet_cpu_cache *c)
{
    trim(c, SLACK);
}

uint64_t stet_cpu_cache_bytes(struct stet_cpu_cache *c)
{
    uint64_t bytes;

    pthread_mutex_lock(&c->lock);
    bytes = c->kept_bytes;
    pthread_mutex_unlock(&c->lock);
    return bytes;
}

void stet_cpu_cache_note_run(struct stet_cpu_cache *c)
{
    pthread_mutex_lock(&c->lock);
    if (++c->runs % WINDOW == 0) {
        c->most_before = c->most;
        c->most = c->taken;
    }
    pthread_mutex_unlock(&c->lock);
}

void *stet_cpu_cache_take(struct stet_cpu_cache *c, uint64_t size)
{
    struct stet_cpu_piece *p;
    uint32_t class;
    void *data;

    if (size <= SMALL)
        return aligned_alloc(64, size ? (size + 63) & ~(uint64_t)63 : 64);
    class = class_of(size);
    pthread_mutex_lock(&c->lock);
    if ((p = c->kept[class]))
        unlink_piece(c, p);
    c->taken += room_of(class);
    c->most = c->taken > c->most ? c->taken : c->most;
    pthread_mutex_unlock(&c->lock);
    if (p) {
        ASAN_UNPOISON_MEMORY_REGION(p, room_of(class));
        return p;
    }
    if (!(data = fresh(room_of(class)))) {
        trim(c, 0);
        data = fresh(room_of(class));
    }
    if (!data) {
        pthread_mutex_lock(&c->lock);
        c->taken -= room_of(class);
        pthread_mutex_unlock(&c->lock);
    }
    return data;
}

void stet_cpu_cache_give(struct stet_cpu_cache *c, void *data, uint64_t size)
{
    struct stet_cpu_piece *list;
    uint64_t most, room;

    if (size <= SMALL || !data) {
        free(data);
        return;
    }
    room = room_of(class_of(size));
    pthread_mutex_lock(&c->lock);
    c->taken -= room;
    keep(c, data, class_of(size));
    most = (c->most > c->most_before ? c->most : c->most_before) + SLACK;
    list = excess(c, most > c->taken ? most - c->taken : 0);
    pthread_mutex_unlock(&c->lock);
    free_pieces(list);
}

/* ---- blocks ---- */

static void raise_to(atomic_llong *highest, long long now)
{
    long long seen = atomic_load(highest);

    while (now > seen && !atomic_compare_exchange_weak(highest, &seen, now))
        ;
}

void stet_cpu_api_note_peak(PJRT_Device *device, uint64_t temporary)
{
    raise_to(&device->peak, atomic_load(&device->in_use) + (long long)temporary);
}

struct stet_cpu_block *stet_cpu_block_later(struct stet_memory *memory, uint64_t size)
{
    struct stet_cpu_block *b = stet_mem_calloc(1, sizeof *b);

    if (!b)
        return NULL;
    atomic_init(&b->refs, 1);
    b->size = size;
    b->memory = memory;
    return b;
}

/* Counts the block as held by launches alone. `filled` and `handles` are written before the other
 * one is read, so of two threads that do so at least one sees both. */
static void note_orphan(struct stet_cpu_block *b)
{
    if (atomic_load(&b->filled) && atomic_load(&b->handles) == 0 &&
        !atomic_exchange(&b->orphan, true))
        atomic_fetch_add(&b->memory->device->orphans, (long long)b->size);
}

static void count(const struct stet_cpu_block *b)
{
    PJRT_Device *device = b->memory->device;
    long long size = (long long)b->size;

    if (b->memory->kind != STET_DEVICE_MEMORY)
        return;
    raise_to(&device->peak, atomic_fetch_add(&device->in_use, size) + size);
    raise_to(&device->largest, size);
    atomic_fetch_add(&device->allocations, 1);
}

static bool fill(struct stet_cpu_block *b)
{
    if (b->data)
        return true;
    if (!(b->data = stet_cpu_cache_take(&b->memory->device->cache, b->size)))
        return false;
    count(b);
    atomic_store(&b->filled, true);
    return true;
}

bool stet_cpu_block_fill(struct stet_cpu_block *b)
{
    if (!fill(b))
        return false;
    note_orphan(b);
    return true;
}

struct stet_cpu_block *stet_cpu_block_new(struct stet_memory *memory, uint64_t size)
{
    struct stet_cpu_block *b = stet_cpu_block_later(memory, size);

    if (b && !fill(b)) {
        stet_cpu_block_unref(b);
        return NULL;
    }
    return b;
}

struct stet_cpu_block *stet_cpu_block_shared(struct stet_memory *memory, void *data, uint64_t size)
{
    struct stet_cpu_block *b = stet_cpu_block_later(memory, size);

    if (!b)
        return NULL;
    b->data = data;
    b->shared = true;
    count(b);
    return b;
}

struct stet_cpu_block *stet_cpu_block_view(struct stet_memory *memory, void *data, uint64_t size,
                                           void (*on_release)(void *, void *), void *arg)
{
    struct stet_cpu_block *b = stet_cpu_block_later(memory, size);

    if (!b)
        return NULL;
    b->data = data;
    b->view = true;
    b->on_release = on_release;
    b->on_release_arg = arg;
    return b;
}

struct stet_cpu_block *stet_cpu_block_ref(struct stet_cpu_block *b)
{
    if (b)
        atomic_fetch_add(&b->refs, 1);
    return b;
}

void stet_cpu_block_unref(struct stet_cpu_block *b)
{
    PJRT_Device *device;

    if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
        return;
    device = b->memory->device;
    if (b->view) {
        if (b->on_release)
            b->on_release(b->data, b->on_release_arg);
    } else if (b->data) {
        if (b->memory->kind == STET_DEVICE_MEMORY)
            atomic_fetch_sub(&device->in_use, (long long)b->size);
        if (atomic_load(&b->orphan))
            atomic_fetch_sub(&device->orphans, (long long)b->size);
        if (!b->shared)
            stet_cpu_cache_give(&device->cache, b->data, b->size);
    }
    stet_mem_free(b);
}

void stet_cpu_block_hold(struct stet_cpu_block *b)
{
    atomic_fetch_add(&b->handles, 1);
    if (atomic_exchange(&b->orphan, false))
        atomic_fetch_sub(&b->memory->device->orphans, (long long)b->size);
}

void stet_cpu_block_drop(struct stet_cpu_block *b)
{
    if (!b)
        return;
    if (atomic_fetch_sub(&b->handles, 1) == 1)
        note_orphan(b);
    stet_cpu_block_unref(b);
}
