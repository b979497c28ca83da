/* GetPjrtApi of libstet_cpu.so: the one exported symbol. */
#include "backend/api/cpu_api.h"
#include "stet_version.h"

#include <stdio.h>
#include <stdlib.h>

const char stet_cpu_version[] = "stet cpu " STET_VERSION;
const char *const stet_cpu_memory_kinds[] = {"device", "pinned_host"};

/* Frameworks lower by platform name: as `tpu` we receive what a TPU would. */
const char *stet_cpu_api_platform(void)
{
    const char *told = getenv("STET_CPU_PLATFORM");

    return told && *told ? told : "stet";
}

PJRT_Error *stet_cpu_api_error(struct stet_view module, const struct stet_err *err)
{
    static const PJRT_Error_Code codes[] = {
        [STET_NOT_FOUND] = PJRT_Error_Code_NOT_FOUND,
        [STET_BAD_INPUT] = PJRT_Error_Code_INVALID_ARGUMENT,
        [STET_UNSUPPORTED] = PJRT_Error_Code_UNIMPLEMENTED,
        [STET_LIMIT] = PJRT_Error_Code_RESOURCE_EXHAUSTED,
        [STET_NO_MEMORY] = PJRT_Error_Code_RESOURCE_EXHAUSTED,
        [STET_IO] = PJRT_Error_Code_UNAVAILABLE,
        [STET_USAGE] = PJRT_Error_Code_INVALID_ARGUMENT,
        [STET_REFUSED] = PJRT_Error_Code_PERMISSION_DENIED,
    };
    PJRT_Error_Code code = err->rc && (size_t)err->rc < sizeof codes / sizeof *codes
                               ? codes[err->rc]
                               : PJRT_Error_Code_INTERNAL;

    char where[48] = "";

    if (err->offset != STET_NO_OFFSET)
        snprintf(where, sizeof where, " (at offset %llu)", (unsigned long long)err->offset);
    return stet_pjrt_error(code, "stet cpu: %.*s%s%s%s", STET_FMT(module), module.len ? ": " : "",
                           err->text, where);
}

PJRT_Error *stet_cpu_api_no_memory(void)
{
    return stet_pjrt_error(PJRT_Error_Code_RESOURCE_EXHAUSTED, "stet cpu: out of memory");
}

PJRT_Error *cpu_PJRT_Plugin_Initialize(PJRT_Plugin_Initialize_Args *args)
{
    (void)args;
    return NULL;
}

/* The version range of the portable format that the reader accepts; frameworks write the newest
 * version that both support. */
PJRT_Error *cpu_PJRT_Plugin_Attributes(PJRT_Plugin_Attributes_Args *args)
{
    static const int64_t newest[] = {1, 20, 0}, oldest[] = {0, 9, 0};
#define VERSION(text, list)                                                                        \
    {.struct_size = PJRT_NamedValue_STRUCT_SIZE,                                                   \
     .name = (text),                                                                               \
     .name_size = sizeof(text) - 1,                                                                \
     .type = PJRT_NamedValue_kInt64List,                                                           \
     .int64_array_value = (list),                                                                  \
     .value_size = 3}
    static const PJRT_NamedValue values[] = {
        {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
         .name = "xla_version",
         .name_size = sizeof "xla_version" - 1,
         .type = PJRT_NamedValue_kInt64,
         .int64_value = 2,
         .value_size = 1},
        VERSION("stablehlo_current_version", newest),
        VERSION("stablehlo_minimum_version", oldest),
    };

    args->attributes = values;
    args->num_attributes = sizeof values / sizeof *values;
    return NULL;
}

static PJRT_Api table;

static void make_table(void)
{
    stet_pjrt_stubs(&table);
#define IMPL(name) table.name = cpu_##name;
#include "backend/api/implemented.def"
    table.extension_start = stet_cpu_api_extensions();
}

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);
const PJRT_Api *GetPjrtApi(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_table);
    return &table;
}
