/* PJRT errors of our own making: whole objects with the vtable newer callers use directly. */
#ifndef STET_ABI_ERROR_H
#define STET_ABI_ERROR_H

#include "abi/pjrt.h"

/* Never NULL: without memory a static error with the same meaning ("out of memory") is returned. */
PJRT_Error *stet_pjrt_error(PJRT_Error_Code code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Was it made here? Reads *error only when the pointer could be ours. An error of a plugin older
 * than 0.107 has no vtable, but its first word is never the address of ours. */
bool stet_pjrt_error_is_ours(const PJRT_Error *error);

/* The three functions of the table, for errors of ours. */
void stet_pjrt_error_destroy(PJRT_Error *error);
void stet_pjrt_error_message(const PJRT_Error *error, const char **text, size_t *size);
PJRT_Error_Code stet_pjrt_error_code(const PJRT_Error *error);

/* Fills every entry of *api with a function that answers UNIMPLEMENTED by its own name, but for
 * PJRT_Error_{Destroy,Message,GetCode,ForEachPayload}, which serve our errors. Sets sizes and
 * version too. */
void stet_pjrt_stubs(PJRT_Api *api);

#endif
