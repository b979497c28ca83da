/* Wraps malloc; in test builds counts and fails allocations on demand. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

#ifdef STET_FAULT_INJECTION
static atomic_ulong asked;
static atomic_long countdown = -1;
static atomic_bool sticky_failure;

static bool refused(void)
{
    long left;

    atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed);
    left = atomic_load(&countdown);
    if (left < 0)
        return false;
    if (left == 0) {
        if (!atomic_load(&sticky_failure))
            atomic_store(&countdown, -1);
        return true;
    }
    atomic_fetch_sub(&countdown, 1);
    return false;
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *n = getenv("STET_TEST_FAIL_ALLOC");

    if (n)
        stet_mem_fail_after(atol(n), getenv("STET_TEST_FAIL_STICKY") != NULL);
}

void stet_mem_fail_after(long n, bool sticky)
{
    atomic_store(&sticky_failure, sticky);
    atomic_store(&countdown, n);
}

unsigned long stet_mem_count(void)
{
    return atomic_load(&asked);
}
#else
static bool refused(void)
{
    return false;
}

void stet_mem_fail_after(long n, bool sticky)
{
    (void)n;
    (void)sticky;
}

unsigned long stet_mem_count(void)
{
    return 0;
}
#endif

void *stet_mem_alloc(size_t size)
{
    return refused() ? NULL : malloc(size ? size : 1);
}

void *stet_mem_calloc(size_t count, size_t size)
{
    return refused() ? NULL : calloc(count ? count : 1, size ? size : 1);
}

void *stet_mem_resize(void *ptr, size_t count, size_t size)
{
    size_t bytes;

    if (stet_mul_overflows(count, size, &bytes) || refused())
        return NULL;
    return realloc(ptr, bytes ? bytes : 1);
}

void *stet_mem_outgrow(void *ptr, size_t room, size_t lent, size_t count, size_t size)
{
    void *grown = stet_mem_resize(room > lent ? ptr : NULL, count, size);

    if (grown && room && room <= lent)
        memcpy(grown, ptr, room * size);
    return grown;
}

char *stet_mem_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = stet_mem_alloc(n);

    return copy ? memcpy(copy, s, n) : NULL;
}

void stet_mem_free(void *ptr)
{
    free(ptr);
}

void stet_mem_populate(const void *ptr, size_t len, bool write)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)ptr & ~(page - 1);

    if (len)
        madvise((void *)begin, (uintptr_t)ptr + len - begin,
                write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
}
