/* See error.h. */
#include "abi/error.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct error {
    PJRT_Error base;
    PJRT_Error_Code code;
    size_t size;
    const char *text; /* message and traceback may be long: a traceback ends with its reason */
};

static void for_each_payload(const PJRT_Error *error, PJRT_Error_PayloadVisitor visitor, void *arg)
{
    (void)error, (void)visitor, (void)arg; /* our errors have no payload */
}

static const PJRT_Error_FunctionTable vtable = {
    .struct_size = PJRT_Error_FunctionTable_STRUCT_SIZE,
    .instance_size = sizeof(struct error),
    .destroy = stet_pjrt_error_destroy,
    .message = stet_pjrt_error_message,
    .get_code = stet_pjrt_error_code,
    .for_each_payload = for_each_payload,
};

static struct error no_memory = {
    .base = {&vtable},
    .code = PJRT_Error_Code_RESOURCE_EXHAUSTED,
    .size = sizeof("out of memory") - 1,
    .text = "out of memory",
};

PJRT_Error *stet_pjrt_error(PJRT_Error_Code code, const char *fmt, ...)
{
    struct error *e;
    va_list ap;
    char *text;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    e = n < 0 ? NULL : stet_mem_alloc(sizeof(*e) + (size_t)n + 1);
    if (!e)
        return &no_memory.base;
    text = (char *)(e + 1);
    va_start(ap, fmt);
    vsnprintf(text, (size_t)n + 1, fmt, ap);
    va_end(ap);
    *e = (struct error){.base = {&vtable}, .code = code, .size = (size_t)n, .text = text};
    return &e->base;
}

bool stet_pjrt_error_is_ours(const PJRT_Error *error)
{
    return error && error->vtable == &vtable;
}

void stet_pjrt_error_destroy(PJRT_Error *error)
{
    if (error != &no_memory.base)
        stet_mem_free(error);
}

void stet_pjrt_error_message(const PJRT_Error *error, const char **text, size_t *size)
{
    const struct error *e = (const struct error *)error;

    *text = e->text;
    *size = e->size;
}

PJRT_Error_Code stet_pjrt_error_code(const PJRT_Error *error)
{
    return ((const struct error *)error)->code;
}
