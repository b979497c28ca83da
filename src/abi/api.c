/* See api.h. The names of the entries come from entries.def. */
#include "abi/api.h"

static const char *const entry_names[] = {
#define ENTRY(name, since, last) #name,
#include "abi/entries.def"
};

static const int entry_since[] = {
#define ENTRY(name, since, last) since,
#include "abi/entries.def"
};

enum { EXTENSION_LINKS_MAX = 64, OLDEST_MINOR = 29, REORDERED_MINOR = 56, SIZED_LINKS_MINOR = 45 };

bool stet_api_usable(const PJRT_Api *api)
{
    return api && STET_HAS(api, PJRT_Compile) && api->pjrt_api_version.major_version == 0 &&
           api->pjrt_api_version.minor_version >= OLDEST_MINOR &&
           api->pjrt_api_version.minor_version != REORDERED_MINOR;
}

size_t stet_api_entries(const PJRT_Api *api)
{
    size_t before = offsetof(PJRT_Api, PJRT_Error_Destroy);

    return api->struct_size < before ? 0 : (api->struct_size - before) / sizeof(void (*)(void));
}

const char *stet_api_entry_name(size_t index)
{
    return index < STET_ENTRY_COUNT ? entry_names[index] : NULL;
}

int stet_api_entry_since(size_t index)
{
    return index < STET_ENTRY_COUNT ? entry_since[index] : -1;
}

const PJRT_Extension_Base *stet_api_extension(const PJRT_Api *api, PJRT_Extension_Type type)
{
    const PJRT_Extension_Base *link = api->extension_start;

    if (api->pjrt_api_version.minor_version < SIZED_LINKS_MINOR)
        return NULL;
    for (int i = 0; link && i < EXTENSION_LINKS_MAX; i++, link = link->next)
        if (link->type == type)
            return link;
    return NULL;
}

static const char *const extension_names[] = {
    "Gpu_Custom_Call",
    "Profiler",
    "Custom_Partitioner",
    "Stream",
    "Layouts",
    "FFI",
    "MemoryDescriptions",
    "Triton",
    "RawBuffer",
    "PhaseCompile",
    "Example",
    "Unknown",
    "CrossHostTransfers",
    "ExecutableMetadata",
    "Callback",
    "HostAllocator",
    "TpuTopology",
    "TpuExecutable",
    "Megascale",
    "Shardings",
    "AbiVersion",
    "Collectives",
    "MultiSlice",
    "HostMemoryAllocator",
    "XlaTransform",
};

const char *stet_api_extension_name(size_t type)
{
    return type < sizeof extension_names / sizeof *extension_names ? extension_names[type] : NULL;
}
