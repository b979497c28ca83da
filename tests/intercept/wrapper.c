/* A plugin that is another plugin with a few functions of its own in front, as vendors' layers are:
 * WRAPPED names the one below. It finds it by dlopen and dlsym, so the layer sees both. */
#include "abi/pjrt.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);

static const PJRT_Api *below;
static PJRT_Api table;

#define FORWARD(entry)                                                                             \
    static PJRT_Error *my_##entry(entry##_Args *args)                                              \
    {                                                                                              \
        return below->entry(args);                                                                 \
    }
FORWARD(PJRT_Client_Create)
FORWARD(PJRT_Client_Compile)
FORWARD(PJRT_LoadedExecutable_Execute)
FORWARD(PJRT_Executable_DeserializeAndLoad)
FORWARD(PJRT_Client_BufferFromHostBuffer)
FORWARD(PJRT_Buffer_ToHostBuffer)

const PJRT_Api *GetPjrtApi(void)
{
    void *handle = dlopen(getenv("WRAPPED"), RTLD_NOW | RTLD_LOCAL);
    void *found = handle ? dlsym(handle, "GetPjrtApi") : NULL;
    const PJRT_Api *(*get)(void) = NULL;

    if (below || !found)
        return below ? &table : NULL;
    memcpy(&get, &found, sizeof get);
    below = get();
    memcpy(&table, below, sizeof table);
    table.PJRT_Client_Create = my_PJRT_Client_Create;
    table.PJRT_Client_Compile = my_PJRT_Client_Compile;
    table.PJRT_LoadedExecutable_Execute = my_PJRT_LoadedExecutable_Execute;
    table.PJRT_Executable_DeserializeAndLoad = my_PJRT_Executable_DeserializeAndLoad;
    table.PJRT_Client_BufferFromHostBuffer = my_PJRT_Client_BufferFromHostBuffer;
    table.PJRT_Buffer_ToHostBuffer = my_PJRT_Buffer_ToHostBuffer;
    return &table;
}
