/* The PJRT C ABI in our own words: the names and layouts are the public interface's, as of API
 * 0.116, checked against its header by tools/check-abi.sh. docs/abi.md tells how it grew. */
#ifndef STET_ABI_PJRT_H
#define STET_ABI_PJRT_H

#include "abi/pjrt_base.h"
#include "abi/pjrt_buffer.h"
#include "abi/pjrt_client.h"
#include "abi/pjrt_device.h"
#include "abi/pjrt_executable.h"

/* PJRT_X is a function type and PJRT_X_Args_STRUCT_SIZE what its callers write into struct_size. */
#define ENTRY(name, since, last)                                                                   \
    typedef PJRT_Error *name(name##_Args *args);                                                   \
    PJRT_SIZED(name##_Args, last);
#define ENTRY_VOID(name, since, last)                                                              \
    typedef void name(name##_Args *args);                                                          \
    PJRT_SIZED(name##_Args, last);
#include "abi/entries.def"

/* What GetPjrtApi returns. A plugin's own table is as long as its struct_size says, shorter or
 * longer than this one: ask stet_api_has (abi/api.h) before reading an entry, and never copy by
 * sizeof. */
typedef struct PJRT_Api {
    PJRT_HEAD;
    PJRT_Api_Version pjrt_api_version;
#define ENTRY(name, since, last) name *name;
#include "abi/entries.def"
} PJRT_Api;
PJRT_SIZED(PJRT_Api, PJRT_TopologyDescription_GetMemorySpaceKindIds);

/* The one symbol of a plugin, found by dlsym. The table is static: never freed. */
typedef const PJRT_Api *stet_get_pjrt_api(void);
#define STET_GET_PJRT_API "GetPjrtApi"

#endif
