/* Creates PJRT errors of our own. They are complete objects with the vtable that newer callers use
 * directly. The framework that receives one destroys it. */
#ifndef STET_ABI_ERROR_H
#define STET_ABI_ERROR_H

#include "abi/pjrt.h"

/* Never NULL: when memory runs out, it returns a static error that reports this. */
PJRT_Error *stet_pjrt_error(PJRT_Error_Code code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));

/* Did we create this error? Reads *error only if the pointer could be ours. An error of a plugin
 * older than 0.107 has no vtable, but its first word is never the address of ours. */
bool stet_pjrt_error_is_ours(const PJRT_Error *error);

/* The three error functions of the table, for our own errors. */
void stet_pjrt_error_destroy(PJRT_Error *error);
void stet_pjrt_error_message(const PJRT_Error *error, const char **text, size_t *size);
PJRT_Error_Code stet_pjrt_error_code(const PJRT_Error *error);

/* Fills every entry of *api with a function that returns UNIMPLEMENTED and its own name, except
 * PJRT_Error_{Destroy,Message,GetCode,ForEachPayload}, which handle our errors. Also sets sizes and
 * version. */
void stet_pjrt_stubs(PJRT_Api *api);

#endif
