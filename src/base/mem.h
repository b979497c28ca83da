/* Checked sizes, and the allocator seam through which tests inject failures. */
#ifndef STET_BASE_MEM_H
#define STET_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* All heap memory of Stet comes from here, so that a test can make any allocation fail.
 * Sizes are checked: count * size that overflows gives NULL. Released with stet_mem_free. */
void *stet_mem_alloc(size_t size);
void *stet_mem_calloc(size_t count, size_t size);
void *stet_mem_resize(void *ptr, size_t count, size_t size);
/* The same for an array that began in memory of others (the stack's, an arena's): it has room for
 * `room` items and is not the heap's when that is `lent` or less. It is copied then and stays. */
void *stet_mem_outgrow(void *ptr, size_t room, size_t lent, size_t count, size_t size);
char *stet_mem_strdup(const char *s);
void stet_mem_free(void *ptr);

/* Memory that will be used, so that who uses it first need not wait for the kernel: pages to read,
 * or to write. What lies there stays as it is, whoever else uses it meanwhile. A hint: kernels
 * before 5.14 do not take it. */
void stet_mem_populate(const void *ptr, size_t len, bool write);

/* Tests only: the n-th allocation from now (0 = the next) and every later one, when `sticky`,
 * fails. A negative n turns injection off. The environment variable STET_TEST_FAIL_ALLOC=n sets it
 * at start in builds with STET_FAULT_INJECTION. */
void stet_mem_fail_after(long n, bool sticky);
/* How many allocations were asked for since start. */
unsigned long stet_mem_count(void);

static inline bool stet_mul_overflows(size_t a, size_t b, size_t *out)
{
    return __builtin_mul_overflow(a, b, out);
}

static inline bool stet_add_overflows(size_t a, size_t b, size_t *out)
{
    return __builtin_add_overflow(a, b, out);
}

#endif
