/* Clients: records their creation and devices, and samples the memory of those devices. */
#include "intercept/ahead.h"
#include "intercept/ask.h"
#include "intercept/describe.h"
#include "intercept/guard.h"
#include "intercept/identity.h"
#include "intercept/layer.h"
#include "intercept/lifting.h"
#include "intercept/object.h"
#include "intercept/phases.h"
#include "intercept/pod.h"
#include "intercept/prepare.h"
#include "intercept/ranks.h"
#include "intercept/writer.h"
#include "journal/environment.h"

#include <sys/stat.h>

#define MEMORY_PAUSE_NS UINT64_C(10000000000)
enum { DEVICES_MAX = 64, KINDS_MAX = 16 };

void stet_plugin_announce(struct stet_plugin *p)
{
    const PJRT_Api *real = stet_plugin_real(p);
    union {
        stet_get_pjrt_api *function;
        const void *code;
    } get = {atomic_load(&p->get)};
    struct stet_object object;
    struct stet_event *e;
    struct stat st;

    if (atomic_exchange(&p->announced, true) || !(e = stet_event_new(STET_REC_plugin)))
        return;
    e->record.plugin = (struct stet_rec_plugin){
        .plugin = p->id,
        .api_major = (uint64_t)real->pjrt_api_version.major_version,
        .api_minor = (uint64_t)real->pjrt_api_version.minor_version,
        .struct_size = real->struct_size,
        .note = stet_view_str(p->note),
    };
    if (!p->note) {
        e->record.plugin.attributes = stet_describe_attributes(p, &e->arena);
        e->record.plugin.extensions = stet_describe_extensions(p, &e->arena);
    }
    if (stet_object_at(get.code, &object)) {
        e->record.plugin.path = stet_arena_copy(&e->arena, stet_view_str(object.path));
        e->record.plugin.build_id = stet_arena_copy(&e->arena, stet_view_str(object.build_id));
        if (stat(object.path, &st) == 0) {
            e->record.plugin.file_size = (uint64_t)st.st_size;
            e->record.plugin.file_mtime_ns =
                (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
        }
    }
    stet_event_send(e);
}

void stet_plugin_announce_all(void)
{
    for (size_t i = 0; i < STET_PLUGINS; i++) {
        struct stet_plugin *p = stet_plugin_at(i);

        if (p)
            stet_plugin_announce(p);
    }
}

void stet_plugin_after_fork(void)
{
    for (size_t i = 0; i < STET_PLUGINS; i++) {
        struct stet_plugin *p = stet_plugin_at(i);

        if (p)
            atomic_store(&p->announced, false);
    }
}

PJRT_Error *on_PJRT_Plugin_Initialize(struct stet_plugin *p, PJRT_Plugin_Initialize_Args *args)
{
    PJRT_Error *error;

    stet_identity_see(p, STET_MOMENT_INITIALIZE);
    error = stet_plugin_real(p)->PJRT_Plugin_Initialize(args);
    stet_plugin_announce(p);
    return stet_plugin_failed(p, "PJRT_Plugin_Initialize", error);
}

uint32_t stet_plugin_client(struct stet_plugin *p, const PJRT_Client *client)
{
    for (size_t i = 0; client && i < STET_CLIENTS; i++) {
        if (atomic_load(&p->clients[i].handle) == client)
            return atomic_load(&p->clients[i].id);
    }
    return 0;
}

static uint32_t add_client(struct stet_plugin *p, PJRT_Client *client)
{
    uint32_t id = atomic_fetch_add(&stet_layer.last_client, 1) + 1;

    for (size_t i = 0; i < STET_CLIENTS; i++) {
        PJRT_Client *nobody = NULL;

        if (atomic_compare_exchange_strong(&p->clients[i].handle, &nobody, client)) {
            atomic_store(&p->clients[i].id, id);
            break;
        }
    }
    return id;
}

static void remove_client(struct stet_plugin *p, PJRT_Client *client)
{
    for (size_t i = 0; i < STET_CLIENTS; i++) {
        PJRT_Client *expected = client;

        if (atomic_compare_exchange_strong(&p->clients[i].handle, &expected, NULL))
            return;
    }
}

static void ask_platform(struct stet_plugin *p, PJRT_Client *client, struct stet_event *e)
{
    const PJRT_Api *real = stet_plugin_real(p);
    struct stet_rec_client_create *r = &e->record.client_create;
    PJRT_Client_PlatformName_Args name = {.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE,
                                          .client = client};
    PJRT_Client_PlatformVersion_Args version = {
        .struct_size = PJRT_Client_PlatformVersion_Args_STRUCT_SIZE, .client = client};
    PJRT_Client_ProcessIndex_Args process = {
        .struct_size = PJRT_Client_ProcessIndex_Args_STRUCT_SIZE, .client = client};

    if (stet_api_has(real, PJRT_Client_PlatformName) &&
        !stet_plugin_drop(p, real->PJRT_Client_PlatformName(&name)) && name.platform_name)
        r->platform = stet_arena_copy(
            &e->arena, stet_plugin_text(name.platform_name, name.platform_name_size));
    if (stet_api_has(real, PJRT_Client_PlatformVersion) &&
        !stet_plugin_drop(p, real->PJRT_Client_PlatformVersion(&version)) &&
        version.platform_version)
        r->platform_version = stet_arena_copy(
            &e->arena, stet_plugin_text(version.platform_version, version.platform_version_size));
    if (stet_api_has(real, PJRT_Client_ProcessIndex) &&
        !stet_plugin_drop(p, real->PJRT_Client_ProcessIndex(&process)) && process.process_index > 0)
        r->process_index = (uint64_t)process.process_index;
}

static PJRT_Device *const *addressable(struct stet_plugin *p, PJRT_Client *client, size_t *n)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Client_AddressableDevices_Args args = {
        .struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE, .client = client};

    *n = 0;
    if (!client || !stet_api_has(real, PJRT_Client_AddressableDevices) ||
        stet_plugin_drop(p, real->PJRT_Client_AddressableDevices(&args)) ||
        !args.addressable_devices)
        return NULL;
    *n = args.num_addressable_devices;
    return args.addressable_devices;
}

static PJRT_DeviceDescription *description(struct stet_plugin *p, PJRT_Device *device)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Device_GetDescription_Args args = {
        .struct_size = PJRT_Device_GetDescription_Args_STRUCT_SIZE, .device = device};

    if (!stet_api_has(real, PJRT_Device_GetDescription) ||
        stet_plugin_drop(p, real->PJRT_Device_GetDescription(&args)))
        return NULL;
    return args.device_description;
}

static void ask_devices(struct stet_plugin *p, PJRT_Client *client, struct stet_event *e)
{
    const PJRT_Api *real = stet_plugin_real(p);
    struct stet_rec_client_create *r = &e->record.client_create;
    PJRT_Client_Devices_Args all = {.struct_size = PJRT_Client_Devices_Args_STRUCT_SIZE,
                                    .client = client};
    struct stet_view *kinds = STET_NEW_ARRAY(&e->arena, struct stet_view, KINDS_MAX);
    size_t n, found = 0;
    PJRT_Device *const *devices = addressable(p, client, &n);

    r->addressable = n;
    if (stet_api_has(real, PJRT_Client_Devices) &&
        !stet_plugin_drop(p, real->PJRT_Client_Devices(&all)))
        r->devices = all.num_devices;
    for (size_t i = 0; kinds && i < n && i < DEVICES_MAX && found < KINDS_MAX; i++) {
        struct stet_view kind = stet_describe_kind(p, description(p, devices[i]), &e->arena);
        bool known = !kind.len;

        for (size_t k = 0; k < found; k++)
            known |= stet_view_eq(kinds[k], kind);
        if (!known)
            kinds[found++] = kind;
    }
    r->device_kinds = (struct stet_list){kinds, found};
}

static void describe_client(struct stet_plugin *p, PJRT_Client *client, struct stet_event *e)
{
    struct stet_rec_client_create *r = &e->record.client_create;
    struct stet_topology topology;

    ask_platform(p, client, e);
    ask_devices(p, client, e);
    stet_describe_client_topology(p, client, &e->arena, &topology);
    r->topology = topology.hash;
    r->topology_attributes = topology.attributes;
}

static struct stet_list options_of(struct stet_arena *a, const PJRT_Client_Create_Args *args)
{
    struct stet_list list = stet_describe_values(a, args->create_options, args->num_options);
    struct stet_view *items = STET_NEW_ARRAY(a, struct stet_view, list.count);

    for (size_t i = 0; items && i < list.count; i++)
        items[i] = stet_journal_env_mask(a, list.items[i]);
    return (struct stet_list){items, items ? list.count : 0};
}

static void record_client(struct stet_plugin *p, const PJRT_Client_Create_Args *args,
                          uint64_t begin_ns, PJRT_Error *error)
{
    struct stet_event *e = stet_event_new(STET_REC_client_create);
    uint32_t id = error ? 0 : add_client(p, args->client);
    struct stet_rec_client_create *r;
    struct stet_view text;

    if (id)
        stet_intercept_pod_join(p, args->client, id, args);
    if (id) {
        stet_identity_prepare(p, args->client);
        stet_ahead_begin(p, args->client);
    }
    if (!e)
        return;
    r = &e->record.client_create;
    *r = (struct stet_rec_client_create){.client = id, .plugin = p->id, .begin_ns = begin_ns};
    r->options = options_of(&e->arena, args);
    r->kv_callbacks = (args->kv_get_callback ? 1u : 0u) | (args->kv_put_callback ? 2u : 0u);
    if (STET_HAS(args, kv_try_get_callback) && args->kv_try_get_callback)
        r->kv_callbacks |= 4;
    if (error) {
        r->error_code = (uint64_t)stet_plugin_error_text(p, error, &text);
        r->error = stet_journal_env_mask(&e->arena, text);
    } else {
        describe_client(p, args->client, e);
    }
    stet_event_send(e);
}

PJRT_Error *on_PJRT_Client_Create(struct stet_plugin *p, PJRT_Client_Create_Args *args)
{
    uint64_t begin_ns = stet_journal_now();
    bool outermost = stet_intercept_guard_enter();
    PJRT_Error *error;

    if (outermost) {
        stet_prepare(p);
        stet_identity_see(p, STET_MOMENT_CLIENT);
    }
    error = stet_plugin_real(p)->PJRT_Client_Create(args);
    if (!outermost)
        return error;
    stet_plugin_announce(p);
    if (STET_HAS(args, client))
        record_client(p, args, begin_ns, error);
    if (!error)
        stet_intercept_phases_begin();
    stet_intercept_guard_leave();
    return stet_plugin_failed(p, "PJRT_Client_Create", error);
}

PJRT_Error *on_PJRT_Client_Destroy(struct stet_plugin *p, PJRT_Client_Destroy_Args *args)
{
    uint32_t id = stet_plugin_client(p, args->client);
    struct stet_event *e = id ? stet_event_new(STET_REC_client_destroy) : NULL;

    if (id)
        stet_intercept_pod_leave(id);
    stet_ask_finish(p, args->client);
    stet_ahead_finish(p, args->client);
    stet_intercept_lift_client_gone(p, args->client);
    if (id) {
        stet_plugin_look_at_memory(p, args->client, true);
        stet_ranks_leave(id);
        remove_client(p, args->client);
    }
    if (e) {
        e->record.client_destroy.client = id;
        stet_event_send(e);
    }
    return stet_plugin_failed(p, "PJRT_Client_Destroy",
                              stet_plugin_real(p)->PJRT_Client_Destroy(args));
}

static uint64_t positive(int64_t v, bool is_set)
{
    return is_set && v > 0 ? (uint64_t)v : 0;
}

static uint64_t device_id(struct stet_plugin *p, PJRT_Device *device)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_DeviceDescription_Id_Args args = {.struct_size =
                                               PJRT_DeviceDescription_Id_Args_STRUCT_SIZE,
                                           .device_description = description(p, device)};

    if (!args.device_description || !stet_api_has(real, PJRT_DeviceDescription_Id) ||
        stet_plugin_drop(p, real->PJRT_DeviceDescription_Id(&args)))
        return 0;
    return args.id > 0 ? (uint64_t)args.id : 0;
}

static void record_memory(struct stet_plugin *p, const PJRT_Device_MemoryStats_Args *s)
{
    struct stet_event *e = stet_event_new(STET_REC_memory);

    if (!e)
        return;
    e->record.memory = (struct stet_rec_memory){
        .plugin = p->id,
        .device = device_id(p, s->device),
        .bytes_in_use = positive(s->bytes_in_use, true),
        .peak_bytes_in_use = positive(s->peak_bytes_in_use, s->peak_bytes_in_use_is_set),
        .bytes_limit = positive(s->bytes_limit, s->bytes_limit_is_set),
        .largest_free_block =
            positive(s->largest_free_block_bytes, s->largest_free_block_bytes_is_set),
        .allocations = positive(s->num_allocs, s->num_allocs_is_set),
        .bytes_reserved = positive(s->bytes_reserved, s->bytes_reserved_is_set),
    };
    stet_event_send(e);
}

/* Decides which thread samples: one, and then none for a while. */
static bool may_look(struct stet_plugin *p, bool at_once)
{
    uint64_t now = stet_journal_now();
    uint64_t next = atomic_load_explicit(&p->memory_next_ns, memory_order_relaxed);

    return (at_once || now >= next) &&
           atomic_compare_exchange_strong(&p->memory_next_ns, &next, now + MEMORY_PAUSE_NS);
}

void stet_plugin_memory_reported(struct stet_plugin *p, const PJRT_Device_MemoryStats_Args *s)
{
    atomic_fetch_add_explicit(&p->memory_asked, 1, memory_order_relaxed);
    if (STET_HAS(s, largest_free_block_bytes_is_set) && may_look(p, false))
        record_memory(p, s);
}

/* A plugin without statistics is queried only once. */
void stet_plugin_look_at_memory(struct stet_plugin *p, PJRT_Client *client, bool at_once)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Device *const *devices;
    size_t n;

    if (atomic_load_explicit(&p->no_memory_stats, memory_order_relaxed) ||
        !stet_api_has(real, PJRT_Device_MemoryStats) || !may_look(p, at_once))
        return;
    devices = addressable(p, client, &n);
    for (size_t i = 0; i < n && i < DEVICES_MAX; i++) {
        PJRT_Device_MemoryStats_Args s = {.struct_size = PJRT_Device_MemoryStats_Args_STRUCT_SIZE,
                                          .device = devices[i]};

        if (stet_plugin_drop(p, real->PJRT_Device_MemoryStats(&s))) {
            atomic_store(&p->no_memory_stats, true);
            return;
        }
        record_memory(p, &s);
    }
}
