/* Errors. A function that can fail returns an `enum stet_rc`, on which callers branch. The text for
 * people, with an offset into the input, goes into the caller's `struct stet_err`. */
#ifndef STET_BASE_ERR_H
#define STET_BASE_ERR_H

#include <stdint.h>

enum stet_rc {
    STET_OK = 0,
    STET_NOT_FOUND,   /* a valid answer, not a failure */
    STET_BAD_INPUT,   /* malformed, truncated or hostile data */
    STET_UNSUPPORTED, /* well-formed, but a version or feature this build does not know */
    STET_LIMIT,       /* a cap (size, depth, count) was reached */
    STET_NO_MEMORY,
    STET_IO, /* the operating system failed; the text has strerror */
    STET_USAGE,
    STET_REFUSED, /* well-formed, but not allowed here */
};

#define STET_NO_OFFSET UINT64_MAX

/* Owned by the caller, passed last, may be NULL everywhere. The first failure is kept. */
struct stet_err {
    enum stet_rc rc;
    uint64_t offset; /* into the input, or STET_NO_OFFSET */
    char text[256];
};

#define STET_ERR_INIT {STET_OK, STET_NO_OFFSET, ""}

/* Record and return `rc`. A failure already recorded is not overwritten. */
enum stet_rc stet_fail(struct stet_err *err, enum stet_rc rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
enum stet_rc stet_fail_at(struct stet_err *err, enum stet_rc rc, uint64_t offset, const char *fmt,
                          ...) __attribute__((format(printf, 4, 5)));
/* As stet_fail with STET_IO (or STET_NO_MEMORY for ENOMEM), appending strerror(errno). */
enum stet_rc stet_fail_errno(struct stet_err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

const char *stet_rc_name(enum stet_rc rc);

#ifdef __clang_analyzer__ /* it sees one file at a time: these show it what they return */
#define stet_fail(err, rc, ...)    ((void)(stet_fail)(err, rc, __VA_ARGS__), (rc))
#define stet_fail_at(err, rc, ...) ((void)(stet_fail_at)(err, rc, __VA_ARGS__), (rc))
#define stet_fail_errno(err, ...)  ((void)(stet_fail_errno)(err, __VA_ARGS__), STET_IO)
#endif

#endif
