/* Formats errors into the caller's struct; never allocates. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#undef stet_fail /* err.h: macros for the analyzer */
#undef stet_fail_at
#undef stet_fail_errno

static void record(struct stet_err *err, enum stet_rc rc, uint64_t offset, const char *fmt,
                   va_list ap)
{
    if (!err || err->rc != STET_OK)
        return;
    err->rc = rc;
    err->offset = offset;
    vsnprintf(err->text, sizeof err->text, fmt, ap);
}

enum stet_rc stet_fail(struct stet_err *err, enum stet_rc rc, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    record(err, rc, STET_NO_OFFSET, fmt, ap);
    va_end(ap);
    return rc;
}

enum stet_rc stet_fail_at(struct stet_err *err, enum stet_rc rc, uint64_t offset, const char *fmt,
                          ...)
{
    va_list ap;

    va_start(ap, fmt);
    record(err, rc, offset, fmt, ap);
    va_end(ap);
    return rc;
}

enum stet_rc stet_fail_errno(struct stet_err *err, const char *fmt, ...)
{
    int code = errno;
    enum stet_rc rc = code == ENOMEM ? STET_NO_MEMORY : STET_IO;
    bool fresh = err && err->rc == STET_OK;
    va_list ap;

    va_start(ap, fmt);
    record(err, rc, STET_NO_OFFSET, fmt, ap);
    va_end(ap);
    if (fresh) {
        size_t used = strlen(err->text);
        snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(code));
    }
    errno = code;
    return rc;
}

const char *stet_rc_name(enum stet_rc rc)
{
    static const char *const names[] = {
        [STET_OK] = "ok",
        [STET_NOT_FOUND] = "not found",
        [STET_BAD_INPUT] = "bad input",
        [STET_UNSUPPORTED] = "unsupported",
        [STET_LIMIT] = "limit reached",
        [STET_NO_MEMORY] = "out of memory",
        [STET_IO] = "input/output error",
        [STET_USAGE] = "usage",
        [STET_REFUSED] = "refused",
    };

    return (unsigned)rc < sizeof names / sizeof *names ? names[rc] : "unknown error";
}
