/* Checked allocation. All heap memory of Stet is allocated here, so that a test can make any
 * allocation fail. */
#ifndef STET_BASE_MEM_H
#define STET_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* A count * size that overflows gives NULL. Free with stet_mem_free. */
void *stet_mem_alloc(size_t size);
void *stet_mem_calloc(size_t count, size_t size);
void *stet_mem_resize(void *ptr, size_t count, size_t size);
/* Grows an array that may have begun in memory that is not from the heap, such as the stack or an
 * arena. It has room for `room` items, and is not from the heap if that is `lent` or less. It is
 * then copied to the heap, and the original is left alone. */
void *stet_mem_outgrow(void *ptr, size_t room, size_t lent, size_t count, size_t size);
char *stet_mem_strdup(const char *s);
void stet_mem_free(void *ptr);

/* Asks the kernel to make pages present for reading or writing, so that the first use need not
 * wait. It does not change their content. It is a hint: kernels before 5.14 ignore it. */
void stet_mem_populate(const void *ptr, size_t len, bool write);

/* Tests only: the n-th allocation from now (0 = the next) and every later one, when `sticky`,
 * fails. A negative n turns injection off. The environment variable STET_TEST_FAIL_ALLOC=n sets it
 * at start in builds with STET_FAULT_INJECTION. */
void stet_mem_fail_after(long n, bool sticky);
/* The number of allocations since start. */
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
