/* Loaded executables: a program and the devices of a client that it runs on. */
#include "backend/api/cpu_api.h"

#include "base/mem.h"

static void loaded_free(PJRT_LoadedExecutable *e)
{
    stet_cpu_code_unref(e->code);
    stet_mem_free(e->devices);
    stet_mem_free(e->logical);
    stet_mem_free(e);
}

PJRT_Error *stet_backend_loaded_adopt(struct stet_cpu_code *code, PJRT_Client *client,
                                      PJRT_LoadedExecutable **out)
{
    const struct stet_cpu_assignment *a = &code->assignment;
    PJRT_Error *error = stet_cpu_options_fit(a, client->device_count);
    PJRT_LoadedExecutable *e = error ? NULL : stet_mem_calloc(1, sizeof *e);

    if (!e) {
        stet_cpu_code_unref(code);
        return error ? error : stet_cpu_api_no_memory();
    }
    e->code = code;
    e->devices = stet_mem_calloc(a->count, sizeof(PJRT_Device *));
    e->logical = stet_mem_calloc(a->count, sizeof *e->logical);
    if (!e->devices || !e->logical) {
        loaded_free(e);
        return stet_cpu_api_no_memory();
    }
    for (uint32_t i = 0; i < a->count; i++) {
        e->devices[i] = client->devices[a->ids[i]];
        e->logical[i] = (PJRT_LogicalDeviceIds){.replica = (int)(i / a->partitions),
                                                .partition = (int)(i % a->partitions)};
    }
    *out = e;
    return NULL;
}

PJRT_Error *cpu_PJRT_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args *args)
{
    if (args->executable)
        loaded_free(args->executable);
    return NULL;
}

PJRT_Error *cpu_PJRT_LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args *args)
{
    return stet_cpu_code_executable(stet_cpu_code_ref(args->loaded_executable->code),
                                    &args->executable);
}

PJRT_Error *
cpu_PJRT_LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args *args)
{
    args->addressable_devices = args->executable->devices;
    args->num_addressable_devices = args->executable->code->assignment.count;
    return NULL;
}

PJRT_Error *cpu_PJRT_LoadedExecutable_AddressableDeviceLogicalIds(
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args *args)
{
    args->addressable_device_logical_ids = args->executable->logical;
    args->num_addressable_device_logical_ids = args->executable->code->assignment.count;
    return NULL;
}

static void keep_assignment(PJRT_DeviceAssignmentSerialized *assignment)
{
    (void)assignment; /* the executable's */
}

PJRT_Error *
cpu_PJRT_LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args *args)
{
    const struct stet_buf *proto = &args->executable->code->assignment_proto;

    args->serialized_bytes = proto->ptr;
    args->serialized_bytes_size = proto->len;
    args->serialized_device_assignment = NULL;
    args->serialized_device_assignment_deleter = keep_assignment;
    return NULL;
}

PJRT_Error *cpu_PJRT_LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args *args)
{
    atomic_store(&args->executable->deleted, true);
    return NULL;
}

PJRT_Error *cpu_PJRT_LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args *args)
{
    args->is_deleted = atomic_load(&args->executable->deleted);
    return NULL;
}

PJRT_Error *cpu_PJRT_LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args *args)
{
    STET_TEXT(args, executable_fingerprint, args->executable->code->fingerprint);
    return NULL;
}

PJRT_Error *cpu_PJRT_ExecuteContext_Create(PJRT_ExecuteContext_Create_Args *args)
{
    args->context = stet_mem_calloc(1, 1);
    return args->context ? NULL : stet_cpu_api_no_memory();
}

PJRT_Error *cpu_PJRT_ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args *args)
{
    stet_mem_free(args->context);
    return NULL;
}
