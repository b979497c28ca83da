/* Client, devices and their memories. */
#include "backend/api/cpu_api.h"

#include "base/mem.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- memory ---- */

static void *get_user_data(PJRT_Memory *memory, const void *key)
{
    struct stet_memory *m = (struct stet_memory *)memory;
    void *data = NULL;

    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < sizeof m->user / sizeof *m->user; i++) {
        if (m->user[i].key == key)
            data = m->user[i].data;
    }
    pthread_mutex_unlock(&m->lock);
    return data;
}

static void set_user_data(PJRT_Memory *memory, const void *key, void *data, void (*dtor)(void *))
{
    struct stet_memory *m = (struct stet_memory *)memory;

    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < sizeof m->user / sizeof *m->user; i++) {
        if (m->user[i].key && m->user[i].key != key)
            continue;
        if (m->user[i].key && m->user[i].dtor)
            m->user[i].dtor(m->user[i].data);
        m->user[i].key = key;
        m->user[i].data = data;
        m->user[i].dtor = dtor;
        break;
    }
    pthread_mutex_unlock(&m->lock);
}

static const PJRT_Memory_FunctionTable memory_vtable = {
    .struct_size = PJRT_Memory_FunctionTable_STRUCT_SIZE,
    .instance_struct_size = sizeof(struct stet_memory),
    .get_user_data = get_user_data,
    .set_user_data = set_user_data,
};

static struct stet_memory *memory_of(PJRT_Memory *memory)
{
    return (struct stet_memory *)memory;
}

PJRT_Error *cpu_PJRT_Memory_Id(PJRT_Memory_Id_Args *args)
{
    args->id = memory_of(args->memory)->id;
    return NULL;
}

PJRT_Error *cpu_PJRT_Memory_Kind(PJRT_Memory_Kind_Args *args)
{
    STET_TEXT(args, kind, stet_cpu_memory_kinds[memory_of(args->memory)->kind]);
    return NULL;
}

PJRT_Error *cpu_PJRT_Memory_Kind_Id(PJRT_Memory_Kind_Id_Args *args)
{
    args->kind_id = memory_of(args->memory)->kind + 1;
    return NULL;
}

PJRT_Error *cpu_PJRT_Memory_DebugString(PJRT_Memory_DebugString_Args *args)
{
    STET_TEXT(args, debug_string, stet_cpu_memory_kinds[memory_of(args->memory)->kind]);
    return NULL;
}

PJRT_Error *cpu_PJRT_Memory_ToString(PJRT_Memory_ToString_Args *args)
{
    STET_TEXT(args, to_string, stet_cpu_memory_kinds[memory_of(args->memory)->kind]);
    return NULL;
}

PJRT_Error *cpu_PJRT_Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args *args)
{
    const PJRT_Device *d = memory_of(args->memory)->device;

    args->devices = &d->client->devices[d->description->id];
    args->num_devices = 1;
    return NULL;
}

/* ---- client ---- */

static unsigned thread_count(void)
{
    const char *told = getenv("STET_CPU_THREADS");
    long n = told ? strtol(told, NULL, 10) : 0;

    return n > 0 && n <= 1024 ? (unsigned)n : 0;
}

static void on_idle(struct stet_queue *q)
{
    stet_cpu_cache_idle(&((PJRT_Device *)((char *)q - offsetof(PJRT_Device, queue)))->cache);
}

static void device_init(PJRT_Client *c, uint32_t id)
{
    PJRT_Device *d = &c->device[id];

    d->description = c->topology.list[id];
    d->client = c;
    for (int i = 0; i < STET_MEMORIES; i++) {
        d->memories[i].base.vtable = &memory_vtable;
        d->memories[i].device = d;
        d->memories[i].kind = i;
        d->memories[i].id = (int)id * STET_MEMORIES + i;
        pthread_mutex_init(&d->memories[i].lock, NULL);
        d->memory_list[i] = c->memories[d->memories[i].id] = &d->memories[i].base;
    }
    pthread_mutex_init(&d->run_lock, NULL);
    stet_cpu_cache_init(&d->cache);
    stet_backend_queue_init(&d->queue, on_idle);
    c->devices[id] = d;
}

static void client_free(PJRT_Client *c)
{
    if (c->pool)
        stet_pool_free(c->pool);
    stet_peers_leave(&c->peers);
    stet_map_release(&c->launches);
    pthread_mutex_destroy(&c->launch_lock);
    stet_cpu_topology_release(&c->topology);
    stet_mem_free(c->device);
    stet_mem_free(c->devices);
    stet_mem_free(c->memories);
    stet_mem_free(c);
}

/* Its processes and devices. The client can be freed afterwards in any case. */
static PJRT_Error *join(PJRT_Client *c, const PJRT_Client_Create_Args *args, uint32_t own)
{
    PJRT_Error *error = stet_peers_join(&c->peers, args);

    if (!error && own * c->peers.nodes > STET_MAX_DEVICES)
        error = stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                                "stet cpu: %u processes with %u devices each: a job may have %d",
                                c->peers.nodes, own, STET_MAX_DEVICES);
    c->own = own;
    c->first = own * c->peers.node;
    c->device_count = own * c->peers.nodes;
    return error;
}

PJRT_Error *cpu_PJRT_Client_Create(PJRT_Client_Create_Args *args)
{
    struct stet_cpu_identity identity;
    uint32_t count = 1;
    PJRT_Error *error = stet_cpu_identity_read(args->create_options, args->num_options, &identity);
    PJRT_Client *c;

    if (!error)
        error = stet_cpu_topology_devices(&identity, &count);
    if (error)
        return error;
    c = stet_mem_calloc(1, sizeof *c);
    if (!c)
        return stet_cpu_api_no_memory();
    pthread_mutex_init(&c->launch_lock, NULL);
    error = join(c, args, count);
    if (error) {
        client_free(c);
        return error;
    }
    count = c->device_count;
    c->device = stet_mem_calloc(count, sizeof *c->device);
    c->devices = stet_mem_calloc(count, sizeof *c->devices);
    c->memories = stet_mem_calloc(count, STET_MEMORIES * sizeof *c->memories);
    c->pool = stet_pool_new(thread_count());
    if (!stet_cpu_topology_init(&c->topology, count, c->peers.nodes) || !c->device || !c->devices ||
        !c->memories || !c->pool) {
        client_free(c);
        return stet_cpu_api_no_memory();
    }
    stet_cpu_identity_apply(&identity, &c->topology);
    for (uint32_t i = 0; i < count; i++)
        device_init(c, i);
    args->client = c;
    return NULL;
}

static void memory_release(struct stet_memory *m)
{
    for (size_t i = 0; i < sizeof m->user / sizeof *m->user; i++) {
        if (m->user[i].key && m->user[i].dtor)
            m->user[i].dtor(m->user[i].data);
    }
    pthread_mutex_destroy(&m->lock);
}

PJRT_Error *cpu_PJRT_Client_Destroy(PJRT_Client_Destroy_Args *args)
{
    PJRT_Client *c = args->client;

    if (!c)
        return NULL;
    stet_peers_stop(&c->peers);
    /* all queues first: what one runs may wait for another's results */
    for (uint32_t i = 0; i < c->device_count; i++)
        stet_backend_queue_release(&c->device[i].queue);
    for (uint32_t i = 0; i < c->device_count; i++) {
        for (int m = 0; m < STET_MEMORIES; m++)
            memory_release(&c->device[i].memories[m]);
        pthread_mutex_destroy(&c->device[i].run_lock);
        free(c->device[i].scratch);
        stet_cpu_cache_release(&c->device[i].cache);
    }
    client_free(c);
    return NULL;
}

PJRT_Error *cpu_PJRT_Client_PlatformName(PJRT_Client_PlatformName_Args *args)
{
    STET_TEXT(args, platform_name, stet_cpu_identity_platform(&args->client->topology));
    return NULL;
}

PJRT_Error *cpu_PJRT_Client_ProcessIndex(PJRT_Client_ProcessIndex_Args *args)
{
    args->process_index = (int)args->client->peers.node;
    return NULL;
}

PJRT_Error *cpu_PJRT_Client_PlatformVersion(PJRT_Client_PlatformVersion_Args *args)
{
    STET_TEXT(args, platform_version, stet_cpu_topology_version());
    return NULL;
}

/* JAX aborts the process if this fails. There is nothing to do: launches find out by themselves
 * which processes take part. */
PJRT_Error *cpu_PJRT_Client_UpdateGlobalProcessInfo(PJRT_Client_UpdateGlobalProcessInfo_Args *args)
{
    (void)args;
    return NULL;
}

PJRT_Error *cpu_PJRT_Client_TopologyDescription(PJRT_Client_TopologyDescription_Args *args)
{
    args->topology = &args->client->topology;
    return NULL;
}

PJRT_Error *cpu_PJRT_Client_Devices(PJRT_Client_Devices_Args *args)
{
    args->devices = args->client->devices;
    args->num_devices = args->client->device_count;
    return NULL;
}

PJRT_Error *cpu_PJRT_Client_AddressableDevices(PJRT_Client_AddressableDevices_Args *args)
{
    args->addressable_devices = args->client->devices + args->client->first;
    args->num_addressable_devices = args->client->own;
    return NULL;
}

PJRT_Error *cpu_PJRT_Client_LookupDevice(PJRT_Client_LookupDevice_Args *args)
{
    if (args->id < 0 || (uint32_t)args->id >= args->client->device_count)
        return stet_pjrt_error(PJRT_Error_Code_NOT_FOUND, "stet cpu: no device %d", args->id);
    args->device = args->client->devices[args->id];
    return NULL;
}

PJRT_Error *cpu_PJRT_Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args *args)
{
    int id = args->local_hardware_id;

    if (id < 0 || (uint32_t)id >= args->client->own)
        return stet_pjrt_error(PJRT_Error_Code_NOT_FOUND, "stet cpu: no device %d", id);
    args->addressable_device = args->client->devices[args->client->first + (uint32_t)id];
    return NULL;
}

PJRT_Error *cpu_PJRT_Client_AddressableMemories(PJRT_Client_AddressableMemories_Args *args)
{
    args->addressable_memories =
        args->client->memories + (size_t)args->client->first * STET_MEMORIES;
    args->num_addressable_memories = (size_t)args->client->own * STET_MEMORIES;
    return NULL;
}

PJRT_Error *cpu_PJRT_Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args *args)
{
    int64_t wanted = (int64_t)args->num_replicas * args->num_partitions;

    if (args->num_replicas < 1 || args->num_partitions < 1 || wanted > args->client->device_count ||
        args->default_assignment_size < (size_t)wanted)
        return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                               "stet cpu: the program wants %d x %d devices, but there are %u",
                               args->num_replicas, args->num_partitions,
                               args->client->device_count);
    /* this process's devices, if there are enough */
    for (int i = 0; i < wanted; i++)
        args->default_assignment[i] =
            i + (wanted <= args->client->own ? (int)args->client->first : 0);
    return NULL;
}

/* ---- devices ---- */

PJRT_Error *cpu_PJRT_DeviceDescription_Id(PJRT_DeviceDescription_Id_Args *args)
{
    args->id = args->device_description->id;
    return NULL;
}

PJRT_Error *cpu_PJRT_DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args *args)
{
    args->process_index = args->device_description->process;
    return NULL;
}

PJRT_Error *cpu_PJRT_DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args *args)
{
    args->attributes = args->device_description->attributes;
    args->num_attributes = args->device_description->attribute_count;
    return NULL;
}

PJRT_Error *cpu_PJRT_DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args *args)
{
    const struct stet_cpu_pose *pose = stet_pose_known(NULL);
    const char *told = getenv("STET_CPU_KIND");

    if (!told || !*told)
        told = args->device_description->kind;
    if (!told || !*told)
        told = pose && pose->kind[0] ? pose->kind : "Stet CPU";
    STET_TEXT(args, device_kind, told);
    return NULL;
}

PJRT_Error *cpu_PJRT_DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args *args)
{
    const PJRT_DeviceDescription *d = args->device_description;

    STET_TEXT(args, debug_string, d->brief[0] ? d->brief : d->text);
    return NULL;
}

PJRT_Error *cpu_PJRT_DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args *args)
{
    STET_TEXT(args, to_string, args->device_description->text);
    return NULL;
}

PJRT_Error *cpu_PJRT_Device_GetDescription(PJRT_Device_GetDescription_Args *args)
{
    args->device_description = args->device->description;
    return NULL;
}

PJRT_Error *cpu_PJRT_Device_IsAddressable(PJRT_Device_IsAddressable_Args *args)
{
    args->is_addressable =
        args->device->description->process == (int)args->device->client->peers.node;
    return NULL;
}

PJRT_Error *cpu_PJRT_Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args *args)
{
    args->local_hardware_id = args->device->description->id % (int)args->device->client->own;
    return NULL;
}

PJRT_Error *cpu_PJRT_Device_AddressableMemories(PJRT_Device_AddressableMemories_Args *args)
{
    args->memories = args->device->memory_list;
    args->num_memories = STET_MEMORIES;
    return NULL;
}

PJRT_Error *cpu_PJRT_Device_DefaultMemory(PJRT_Device_DefaultMemory_Args *args)
{
    args->memory = args->device->memory_list[STET_DEVICE_MEMORY];
    return NULL;
}

PJRT_Error *cpu_PJRT_Device_MemoryStats(PJRT_Device_MemoryStats_Args *args)
{
    PJRT_Device *d = args->device;
    const struct stet_cpu_pose *pose = stet_pose_known(NULL);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    args->bytes_in_use = atomic_load(&d->in_use);
    args->peak_bytes_in_use = atomic_load(&d->peak);
    args->peak_bytes_in_use_is_set = true;
    args->num_allocs = atomic_load(&d->allocations);
    args->num_allocs_is_set = true;
    args->largest_alloc_size = atomic_load(&d->largest);
    args->largest_alloc_size_is_set = true;
    args->bytes_limit = pose && pose->memory ? pose->memory : (int64_t)pages * page;
    args->bytes_limit_is_set = args->bytes_limit > 0;
    args->bytes_reserved_is_set = args->peak_bytes_reserved_is_set = false;
    args->bytes_reservable_limit_is_set = args->largest_free_block_bytes_is_set = false;
    args->pool_bytes = args->bytes_in_use + (int64_t)stet_cpu_cache_bytes(&d->cache);
    args->pool_bytes_is_set = true;
    args->peak_pool_bytes_is_set = false;
    if (STET_HAS(args, peak_allocated_bytes_is_set)) {
        args->peak_allocated_bytes = args->peak_bytes_in_use;
        args->peak_allocated_bytes_is_set = true;
    }
    return NULL;
}

PJRT_Error *cpu_PJRT_Device_ClearMemoryStats(PJRT_Device_ClearMemoryStats_Args *args)
{
    atomic_store(&args->device->peak, atomic_load(&args->device->in_use));
    return NULL;
}

static void keep_attributes(PJRT_Device_Attributes *attributes)
{
    (void)attributes; /* the client's */
}

PJRT_Error *cpu_PJRT_Device_GetAttributes(PJRT_Device_GetAttributes_Args *args)
{
    args->attributes = args->device->description->attributes;
    args->num_attributes = args->device->description->attribute_count;
    args->device_attributes = NULL;
    args->attributes_deleter = keep_attributes;
    return NULL;
}
