/* Clients, devices, memories and topologies: FAKE_DEVICES devices, one memory each. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(args, field, text) ((args)->field = (text), (args)->field##_size = strlen(text))

static const char memory_kind[] = "device";

/* ---- memories ---- */

static void *get_user_data(PJRT_Memory *memory, const void *key)
{
    struct fake_memory *m = (struct fake_memory *)memory;
    void *data = NULL;

    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < sizeof(m->user) / sizeof(m->user[0]); i++)
        if (m->user[i].key == key)
            data = m->user[i].data;
    pthread_mutex_unlock(&m->lock);
    return data;
}

static void set_user_data(PJRT_Memory *memory, const void *key, void *data, void (*dtor)(void *))
{
    struct fake_memory *m = (struct fake_memory *)memory;

    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < sizeof(m->user) / sizeof(m->user[0]); i++)
        if (!m->user[i].key || m->user[i].key == key) {
            m->user[i].key = key;
            m->user[i].data = data;
            m->user[i].dtor = dtor;
            break;
        }
    pthread_mutex_unlock(&m->lock);
}

static const PJRT_Memory_FunctionTable memory_vtable = {
    .struct_size = PJRT_Memory_FunctionTable_STRUCT_SIZE,
    .instance_struct_size = sizeof(struct fake_memory),
    .get_user_data = get_user_data,
    .set_user_data = set_user_data,
};

static struct fake_memory *memory_of(PJRT_Memory *memory)
{
    return (struct fake_memory *)memory;
}

PJRT_Error *fake_PJRT_Memory_Id(PJRT_Memory_Id_Args *args)
{
    args->id = memory_of(args->memory)->id;
    return NULL;
}

PJRT_Error *fake_PJRT_Memory_Kind(PJRT_Memory_Kind_Args *args)
{
    TEXT(args, kind, memory_kind);
    return NULL;
}

PJRT_Error *fake_PJRT_Memory_Kind_Id(PJRT_Memory_Kind_Id_Args *args)
{
    args->kind_id = 1;
    return NULL;
}

PJRT_Error *fake_PJRT_Memory_DebugString(PJRT_Memory_DebugString_Args *args)
{
    TEXT(args, debug_string, memory_of(args->memory)->device->description->text);
    return NULL;
}

PJRT_Error *fake_PJRT_Memory_ToString(PJRT_Memory_ToString_Args *args)
{
    TEXT(args, to_string, memory_of(args->memory)->device->description->text);
    return NULL;
}

PJRT_Error *fake_PJRT_Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args *args)
{
    struct fake_memory *m = memory_of(args->memory);

    args->devices = &m->device->client->device_list[m->id];
    args->num_devices = 1;
    return NULL;
}

/* ---- topologies ---- */

static void topology_init(PJRT_TopologyDescription *topology, size_t num_devices)
{
    topology->num_devices = num_devices;
    for (size_t i = 0; i < num_devices; i++) {
        PJRT_DeviceDescription *d = &topology->descriptions[i];

        d->id = (int)i;
        snprintf(d->text, sizeof(d->text), "FakeDevice(id=%zu)", i);
        d->text_size = strlen(d->text);
        d->attributes = fake_settings()->device_attributes;
        d->num_attributes = fake_settings()->num_device_attributes;
        topology->list[i] = d;
    }
}

static PJRT_TopologyDescription *topology_new(size_t num_devices)
{
    PJRT_TopologyDescription *topology = fake_new(FAKE_topology, sizeof(*topology));

    topology_init(topology, num_devices);
    return topology;
}

/* The name may be a number of devices; else there are as many as a client has. */
PJRT_Error *fake_PJRT_TopologyDescription_Create(PJRT_TopologyDescription_Create_Args *args)
{
    char name[16];
    size_t n;

    snprintf(name, sizeof(name), "%.*s", (int)args->topology_name_size,
             args->topology_name_size ? args->topology_name : "");
    n = strtoul(name, NULL, 10);
    args->topology =
        topology_new(n >= 1 && n <= FAKE_DEVICES_MAX ? n : fake_settings()->num_devices);
    return NULL;
}

PJRT_Error *fake_PJRT_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args *args)
{
    fake_free(FAKE_topology, args->topology);
    return NULL;
}

PJRT_Error *
fake_PJRT_TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args *args)
{
    TEXT(args, platform_name, fake_settings()->platform);
    return NULL;
}

PJRT_Error *
fake_PJRT_TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args *args)
{
    TEXT(args, platform_version, fake_settings()->version);
    return NULL;
}

PJRT_Error *fake_PJRT_TopologyDescription_GetDeviceDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args *args)
{
    args->descriptions = args->topology->list;
    args->num_descriptions = args->topology->num_devices;
    return NULL;
}

static void free_serialized(PJRT_SerializedTopology *serialized)
{
    fake_free(FAKE_serialized, serialized);
}

PJRT_Error *fake_PJRT_TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args *args)
{
    static atomic_int calls;
    const char *more = fake_settings()->topology;
    size_t room = 64 + strlen(more);
    char *bytes = fake_new(FAKE_serialized, room);

    if (strcmp(more, "random") == 0)
        snprintf(bytes, room, "fake topology %zu %d", args->topology->num_devices,
                 atomic_fetch_add(&calls, 1));
    else
        snprintf(bytes, room, "fake topology %zu%s%s", args->topology->num_devices,
                 *more ? " " : "", more);
    args->serialized_bytes = bytes;
    args->serialized_bytes_size = strlen(bytes);
    args->serialized_topology = (PJRT_SerializedTopology *)bytes;
    args->serialized_topology_deleter = free_serialized;
    return NULL;
}

PJRT_Error *
fake_PJRT_TopologyDescription_Deserialize(PJRT_TopologyDescription_Deserialize_Args *args)
{
    static const char magic[] = "fake topology ";
    size_t n = sizeof(magic) - 1;

    if (args->serialized_topology_size < n + 1 ||
        memcmp(args->serialized_topology, magic, n) != 0 || args->serialized_topology[n] < '1' ||
        args->serialized_topology[n] > '0' + FAKE_DEVICES_MAX)
        return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "not a topology of this plugin");
    args->topology = topology_new((size_t)(args->serialized_topology[n] - '0'));
    return NULL;
}

PJRT_Error *fake_PJRT_TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args *args)
{
    args->attributes = fake_settings()->attributes;
    args->num_attributes = fake_settings()->num_attributes;
    return NULL;
}

PJRT_Error *
fake_PJRT_TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args *args)
{
    args->fingerprint = 0xfa4e0000 + args->topology->num_devices;
    return NULL;
}

PJRT_Error *fake_PJRT_TopologyDescription_GetMemorySpaceKindIds(
    PJRT_TopologyDescription_GetMemorySpaceKindIds_Args *args)
{
    static const int kinds[] = {1};

    args->memory_space_kind_ids = kinds;
    args->num_memory_space_kind_ids = 1;
    return NULL;
}

/* ---- clients ---- */

PJRT_Error *fake_PJRT_Client_Create(PJRT_Client_Create_Args *args)
{
    PJRT_Client *client = fake_new(FAKE_client, sizeof(*client));

    client->num_devices = fake_settings()->num_devices;
    topology_init(&client->topology, client->num_devices);
    for (size_t i = 0; i < client->num_devices; i++) {
        struct fake_memory *m = &client->memories[i];
        PJRT_Device *d = &client->devices[i];

        d->description = client->topology.list[i];
        d->client = client;
        d->memory = m;
        m->base.vtable = FAKE_MINOR >= 105 ? &memory_vtable : NULL;
        m->device = d;
        m->id = (int)i;
        pthread_mutex_init(&m->lock, NULL);
        client->device_list[i] = d;
        client->memory_list[i] = &m->base;
    }
    args->client = client;
    return NULL;
}

PJRT_Error *fake_PJRT_Client_Destroy(PJRT_Client_Destroy_Args *args)
{
    PJRT_Client *client = args->client;

    for (size_t i = 0; client && i < client->num_devices; i++) {
        struct fake_memory *m = &client->memories[i];

        for (size_t k = 0; k < sizeof(m->user) / sizeof(m->user[0]); k++)
            if (m->user[k].key && m->user[k].dtor)
                m->user[k].dtor(m->user[k].data);
        pthread_mutex_destroy(&m->lock);
    }
    fake_free(FAKE_client, client);
    return NULL;
}

PJRT_Error *fake_PJRT_Client_PlatformName(PJRT_Client_PlatformName_Args *args)
{
    TEXT(args, platform_name, fake_settings()->platform);
    return NULL;
}

PJRT_Error *fake_PJRT_Client_ProcessIndex(PJRT_Client_ProcessIndex_Args *args)
{
    args->process_index = (int)fake_settings()->process;
    return NULL;
}

PJRT_Error *fake_PJRT_Client_PlatformVersion(PJRT_Client_PlatformVersion_Args *args)
{
    TEXT(args, platform_version, fake_settings()->version);
    return NULL;
}

PJRT_Error *fake_PJRT_Client_TopologyDescription(PJRT_Client_TopologyDescription_Args *args)
{
    args->topology = &args->client->topology;
    return NULL;
}

PJRT_Error *fake_PJRT_Client_Devices(PJRT_Client_Devices_Args *args)
{
    args->devices = args->client->device_list;
    args->num_devices = args->client->num_devices;
    return NULL;
}

PJRT_Error *fake_PJRT_Client_AddressableDevices(PJRT_Client_AddressableDevices_Args *args)
{
    const struct fake_settings *s = fake_settings();

    args->addressable_devices = args->client->device_list + s->process;
    args->num_addressable_devices = s->processes ? 1 : args->client->num_devices - s->num_foreign;
    return NULL;
}

PJRT_Error *fake_PJRT_Client_LookupDevice(PJRT_Client_LookupDevice_Args *args)
{
    if (args->id < 0 || (size_t)args->id >= args->client->num_devices)
        return fake_error(PJRT_Error_Code_NOT_FOUND, "no device %d", args->id);
    args->device = args->client->device_list[args->id];
    return NULL;
}

PJRT_Error *fake_PJRT_Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args *args)
{
    if (args->local_hardware_id < 0 || (size_t)args->local_hardware_id >= args->client->num_devices)
        return fake_error(PJRT_Error_Code_NOT_FOUND, "no device %d", args->local_hardware_id);
    args->addressable_device = args->client->device_list[args->local_hardware_id];
    return NULL;
}

PJRT_Error *fake_PJRT_Client_AddressableMemories(PJRT_Client_AddressableMemories_Args *args)
{
    args->addressable_memories = args->client->memory_list;
    args->num_addressable_memories = args->client->num_devices;
    return NULL;
}

PJRT_Error *fake_PJRT_Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args *args)
{
    size_t n = (size_t)args->num_replicas * (size_t)args->num_partitions;

    if (n > args->client->num_devices || n > args->default_assignment_size)
        return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "%zu devices wanted", n);
    for (size_t i = 0; i < n; i++)
        args->default_assignment[i] = (int)i;
    return NULL;
}

/* ---- devices ---- */

PJRT_Error *fake_PJRT_DeviceDescription_Id(PJRT_DeviceDescription_Id_Args *args)
{
    args->id = args->device_description->id;
    return NULL;
}

static bool is_foreign(const PJRT_DeviceDescription *d)
{
    const struct fake_settings *s = fake_settings();

    return s->processes ? (size_t)d->id != s->process
                        : (size_t)d->id >= s->num_devices - s->num_foreign;
}

PJRT_Error *fake_PJRT_DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args *args)
{
    args->process_index = fake_settings()->processes ? args->device_description->id
                                                     : is_foreign(args->device_description);
    return NULL;
}

PJRT_Error *fake_PJRT_DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args *args)
{
    args->attributes = args->device_description->attributes;
    args->num_attributes = args->device_description->num_attributes;
    return NULL;
}

PJRT_Error *fake_PJRT_DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args *args)
{
    TEXT(args, device_kind, fake_settings()->kinds[args->device_description->id]);
    return NULL;
}

PJRT_Error *fake_PJRT_DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args *args)
{
    TEXT(args, debug_string, args->device_description->text);
    return NULL;
}

PJRT_Error *fake_PJRT_DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args *args)
{
    TEXT(args, to_string, args->device_description->text);
    return NULL;
}

PJRT_Error *fake_PJRT_Device_GetDescription(PJRT_Device_GetDescription_Args *args)
{
    args->device_description = args->device->description;
    return NULL;
}

PJRT_Error *fake_PJRT_Device_IsAddressable(PJRT_Device_IsAddressable_Args *args)
{
    args->is_addressable = !is_foreign(args->device->description);
    return NULL;
}

PJRT_Error *fake_PJRT_Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args *args)
{
    args->local_hardware_id = args->device->description->id;
    return NULL;
}

PJRT_Error *fake_PJRT_Device_AddressableMemories(PJRT_Device_AddressableMemories_Args *args)
{
    args->memories = &args->device->client->memory_list[args->device->memory->id];
    args->num_memories = 1;
    return NULL;
}

PJRT_Error *fake_PJRT_Device_DefaultMemory(PJRT_Device_DefaultMemory_Args *args)
{
    args->memory = &args->device->memory->base;
    return NULL;
}

PJRT_Error *fake_PJRT_Device_MemoryStats(PJRT_Device_MemoryStats_Args *args)
{
    args->bytes_in_use = atomic_load(&args->device->in_use);
    args->peak_bytes_in_use = atomic_load(&args->device->peak);
    args->peak_bytes_in_use_is_set = true;
    args->num_allocs = atomic_load(&args->device->allocations);
    args->num_allocs_is_set = true;
    args->bytes_limit = fake_settings()->memory ? fake_settings()->memory : 1 << 30;
    args->bytes_limit_is_set = true;
    args->largest_alloc_size_is_set = args->bytes_reserved_is_set = false;
    args->peak_bytes_reserved_is_set = args->bytes_reservable_limit_is_set = false;
    args->largest_free_block_bytes_is_set = args->pool_bytes_is_set = false;
    args->peak_pool_bytes_is_set = false;
    if (KNOWS(args, peak_allocated_bytes_is_set, 113)) {
        args->peak_allocated_bytes = args->peak_bytes_in_use;
        args->peak_allocated_bytes_is_set = true;
    }
    return NULL;
}

PJRT_Error *fake_PJRT_Device_ClearMemoryStats(PJRT_Device_ClearMemoryStats_Args *args)
{
    atomic_store(&args->device->peak, atomic_load(&args->device->in_use));
    return NULL;
}

static void keep_attributes(PJRT_Device_Attributes *attributes)
{
    (void)attributes; /* they belong to the client */
}

PJRT_Error *fake_PJRT_Device_GetAttributes(PJRT_Device_GetAttributes_Args *args)
{
    args->attributes = args->device->description->attributes;
    args->num_attributes = args->device->description->num_attributes;
    args->device_attributes = NULL;
    args->attributes_deleter = keep_attributes;
    return NULL;
}
