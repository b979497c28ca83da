/* Loaded executables: a program and the devices of a client that it runs on. */
#include "backend/api/cpu_api.h"

#include "base/mem.h"

struct stet_cpu_joint *stet_cpu_joint_ref(struct stet_cpu_joint *j)
{
    if (j)
        atomic_fetch_add(&j->refs, 1);
    return j;
}

void stet_cpu_joint_unref(struct stet_cpu_joint *j)
{
    if (j && atomic_fetch_sub(&j->refs, 1) == 1)
        stet_mem_free(j);
}

static void loaded_free(PJRT_LoadedExecutable *e)
{
    stet_cpu_code_unref(e->code);
    stet_cpu_joint_unref(e->joint);
    stet_mem_free(e->devices);
    stet_mem_free(e->logical);
    stet_mem_free(e);
}

/* A program without an assignment runs on this process's devices. */
static PJRT_Device *device_of(const PJRT_Client *client, const struct stet_cpu_assignment *a,
                              uint32_t place)
{
    return client->devices[(uint32_t)a->ids[place] + (a->assigned ? 0 : client->first)];
}

/* Counts the processes that take part, and identifies them. False when out of memory. */
static bool take_processes(PJRT_LoadedExecutable *e, const PJRT_Client *client,
                           const struct stet_cpu_assignment *a)
{
    struct stet_cpu_joint *j;
    struct stet_hash set = {0};
    bool seen[STET_PEERS_MOST] = {false};

    if (e->own == a->count)
        return true;
    e->joint = j = stet_mem_calloc(1, sizeof *j + a->count * sizeof *j->places);
    if (!j)
        return false;
    atomic_init(&j->refs, 1);
    for (uint32_t i = 0, own = 0; i < a->count; i++) {
        int process = device_of(client, a, i)->description->process;
        bool here = process == (int)client->peers.node;

        j->places[i] = (struct stet_cpu_place){process, here ? (int32_t)own++ : -1};
        seen[process] = true;
    }
    for (uint32_t p = 0; p < client->peers.nodes; p++) {
        if (!seen[p])
            continue;
        set = stet_hash_mix(set, (struct stet_hash){1, p});
        j->processes++;
    }
    j->set = set.lo;
    return true;
}

PJRT_Error *stet_backend_loaded_adopt(struct stet_cpu_code *code, PJRT_Client *client,
                                      PJRT_LoadedExecutable **out)
{
    const struct stet_cpu_assignment *a = &code->assignment;
    PJRT_Error *error = stet_cpu_options_fit(a, a->assigned ? client->device_count : client->own);
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
        PJRT_Device *d = device_of(client, a, i);

        if (d->description->process != (int)client->peers.node)
            continue;
        e->devices[e->own] = d;
        e->logical[e->own++] = (PJRT_LogicalDeviceIds){.replica = (int)(i / a->partitions),
                                                       .partition = (int)(i % a->partitions)};
    }
    if (!take_processes(e, client, a)) {
        loaded_free(e);
        return stet_cpu_api_no_memory();
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
    args->num_addressable_devices = args->executable->own;
    return NULL;
}

PJRT_Error *cpu_PJRT_LoadedExecutable_AddressableDeviceLogicalIds(
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args *args)
{
    args->addressable_device_logical_ids = args->executable->logical;
    args->num_addressable_device_logical_ids = args->executable->own;
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
