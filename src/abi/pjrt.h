/* The PJRT C ABI in our own headers. Names and layouts are those of the public interface, as of API
 * 0.116; tools/check-abi.sh compares them with its header. docs/abi.md describes how the interface
 * changed over time. */
#ifndef STET_ABI_PJRT_H
#define STET_ABI_PJRT_H

#include "abi/pjrt_base.h"
#include "abi/pjrt_buffer.h"
#include "abi/pjrt_client.h"
#include "abi/pjrt_device.h"
#include "abi/pjrt_executable.h"

/* PJRT_X is a function type, and PJRT_X_Args_STRUCT_SIZE is what its callers write into
 * struct_size. */
#define ENTRY(name, since, last)                                                                   \
    typedef PJRT_Error *name(name##_Args *args);                                                   \
    PJRT_SIZED(name##_Args, last);
#define ENTRY_VOID(name, since, last)                                                              \
    typedef void name(name##_Args *args);                                                          \
    PJRT_SIZED(name##_Args, last);
#include "abi/entries.def"

/* The table that GetPjrtApi returns. A plugin's own table has the length in its struct_size and may
 * be shorter or longer than this one. Check stet_api_has (abi/api.h) before reading an entry, and
 * never copy by sizeof. */
typedef struct PJRT_Api {
    PJRT_HEAD;
    PJRT_Api_Version pjrt_api_version;
#define ENTRY(name, since, last) name *name;
#include "abi/entries.def"
} PJRT_Api;
PJRT_SIZED(PJRT_Api, PJRT_TopologyDescription_GetMemorySpaceKindIds);

/* The only symbol of a plugin, found by dlsym. The table is static and never freed. */
typedef const PJRT_Api *stet_get_pjrt_api(void);
#define STET_GET_PJRT_API "GetPjrtApi"

#endif
