/* A complete table of stubs. Each entry that we do not implement returns UNIMPLEMENTED and its own
 * name. */
#include "abi/error.h"

#define ENTRY(name, since, last)                                                                   \
    static PJRT_Error *stub_##name(name##_Args *args)                                              \
    {                                                                                              \
        (void)args;                                                                                \
        return stet_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED, "%s is not implemented", #name);     \
    }
#define ENTRY_VOID(name, since, last)
#include "abi/entries.def"

static void stub_PJRT_Error_Destroy(PJRT_Error_Destroy_Args *args)
{
    if (stet_pjrt_error_is_ours(args->error))
        stet_pjrt_error_destroy(args->error);
}

static void stub_PJRT_Error_Message(PJRT_Error_Message_Args *args)
{
    args->message = "";
    args->message_size = 0;
    if (stet_pjrt_error_is_ours(args->error))
        stet_pjrt_error_message(args->error, &args->message, &args->message_size);
}

static PJRT_Error *get_code(PJRT_Error_GetCode_Args *args)
{
    args->code = stet_pjrt_error_is_ours(args->error) ? stet_pjrt_error_code(args->error)
                                                      : PJRT_Error_Code_UNKNOWN;
    return NULL;
}

/* Callers ask for the payloads of every error that they convert to their own status; ours have
 * none. Returning an error here would make them ask for its payloads, without end. */
static PJRT_Error *for_each_payload(PJRT_Error_ForEachPayload_Args *args)
{
    (void)args;
    return NULL;
}

void stet_pjrt_stubs(PJRT_Api *api)
{
    *api = (PJRT_Api){
        .struct_size = PJRT_Api_STRUCT_SIZE,
        .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                             .major_version = PJRT_API_MAJOR,
                             .minor_version = PJRT_API_MINOR},
#define ENTRY(name, since, last) .name = stub_##name,
#include "abi/entries.def"
    };
    api->PJRT_Error_GetCode = get_code; /* without the table, callers could not read the error */
    api->PJRT_Error_ForEachPayload = for_each_payload;
}
