/* See ranks.h: which ranks. */
#include "intercept/ranks.h"

#include "base/mem.h"
#include "decode/options.h"
#include "intercept/layer.h"
#include "intercept/pod.h"
#include "intercept/toolkit.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void stet_ranks_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

void stet_ranks_fork_done(void)
{
    pthread_mutex_unlock(&lock);
}

/* ---- devices ---- */

struct device {
    int64_t id;
    uint32_t rank;
};

/* Every device of a client and its process, sorted by id. They do not change. */
static struct {
    uint32_t client; /* 0: free */
    struct device *list;
    size_t count;
    int64_t processes;
} known[STET_CLIENTS];

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const struct device *)a)->id, y = ((const struct device *)b)->id;

    return (x > y) - (x < y);
}

static bool ask_device(struct stet_plugin *p, PJRT_Device *device, struct device *out)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Device_GetDescription_Args d = {.struct_size = PJRT_Device_GetDescription_Args_STRUCT_SIZE,
                                         .device = device};
    PJRT_DeviceDescription_Id_Args id = {.struct_size = PJRT_DeviceDescription_Id_Args_STRUCT_SIZE};
    PJRT_DeviceDescription_ProcessIndex_Args index = {
        .struct_size = PJRT_DeviceDescription_ProcessIndex_Args_STRUCT_SIZE};

    if (stet_plugin_drop(p, real->PJRT_Device_GetDescription(&d)))
        return false;
    id.device_description = index.device_description = d.device_description;
    if (stet_plugin_drop(p, real->PJRT_DeviceDescription_Id(&id)) ||
        stet_plugin_drop(p, real->PJRT_DeviceDescription_ProcessIndex(&index)))
        return false;
    *out = (struct device){.id = id.id, .rank = (uint32_t)index.process_index};
    return true;
}

static size_t ask_devices(struct stet_plugin *p, PJRT_Client *client, struct device **out)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Client_Devices_Args all = {.struct_size = PJRT_Client_Devices_Args_STRUCT_SIZE,
                                    .client = client};
    size_t n = 0;

    if (!stet_api_has(real, PJRT_DeviceDescription_ProcessIndex) ||
        !stet_api_has(real, PJRT_DeviceDescription_Id) ||
        !stet_api_has(real, PJRT_Device_GetDescription) ||
        !stet_api_has(real, PJRT_Client_Devices) ||
        stet_plugin_drop(p, real->PJRT_Client_Devices(&all)) || !all.devices || !all.num_devices)
        return 0;
    *out = stet_mem_calloc(all.num_devices, sizeof **out);
    while (*out && n < all.num_devices && ask_device(p, all.devices[n], &(*out)[n]))
        n++;
    if (n < all.num_devices) {
        stet_mem_free(*out);
        *out = NULL;
        return 0;
    }
    qsort(*out, n, sizeof **out, by_id);
    return n;
}

/* Process indexes count from 0; the number of processes is one more than the largest. */
static int64_t count_processes(const struct device *list, size_t count)
{
    int64_t most = -1;

    for (size_t i = 0; i < count; i++)
        most = (int64_t)list[i].rank > most ? (int64_t)list[i].rank : most;
    return most + 1;
}

/* The devices of a client; `list` is valid until the client is destroyed. */
static size_t devices_of(struct stet_plugin *p, PJRT_Client *client, const struct device **list,
                         int64_t *processes)
{
    uint32_t id = stet_plugin_client(p, client);
    size_t slot = STET_CLIENTS, count = 0;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; id && i < STET_CLIENTS; i++) {
        if (known[i].client == id || (!known[i].client && slot == STET_CLIENTS))
            slot = i;
        if (known[i].client == id)
            break;
    }
    if (slot < STET_CLIENTS && !known[slot].client) {
        known[slot].count = ask_devices(p, client, &known[slot].list);
        known[slot].processes = count_processes(known[slot].list, known[slot].count);
        known[slot].client = id;
    }
    if (slot < STET_CLIENTS) {
        *list = known[slot].list;
        *processes = known[slot].processes;
        count = known[slot].count;
    }
    pthread_mutex_unlock(&lock);
    return count;
}

void stet_ranks_leave(uint32_t client)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; client && i < STET_CLIENTS; i++) {
        if (known[i].client != client)
            continue;
        stet_mem_free(known[i].list);
        known[i].list = NULL;
        known[i].count = 0;
        known[i].client = 0;
    }
    pthread_mutex_unlock(&lock);
}

int64_t stet_ranks_processes(struct stet_plugin *p, PJRT_Client *client)
{
    const struct device *list;
    int64_t processes = 0;

    return devices_of(p, client, &list, &processes) ? processes : 0;
}

bool stet_ranks_span(struct stet_plugin *p, PJRT_Client *client)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Client_Devices_Args all = {.struct_size = PJRT_Client_Devices_Args_STRUCT_SIZE,
                                    .client = client};
    PJRT_Client_AddressableDevices_Args own = {
        .struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE, .client = client};

    return !stet_api_has(real, PJRT_Client_Devices) ||
           !stet_api_has(real, PJRT_Client_AddressableDevices) ||
           stet_plugin_drop(p, real->PJRT_Client_Devices(&all)) ||
           stet_plugin_drop(p, real->PJRT_Client_AddressableDevices(&own)) ||
           all.num_devices != own.num_addressable_devices;
}

/* ---- the ranks of a program ---- */

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Sorts them and removes duplicates. */
static void settle(struct stet_ranks *r)
{
    size_t n = 0;

    if (r->count)
        qsort(r->ranks, r->count, sizeof *r->ranks, by_value);
    for (size_t i = 0; i < r->count; i++) {
        if (!n || r->ranks[n - 1] != r->ranks[i])
            r->ranks[n++] = r->ranks[i];
    }
    r->count = n < 2 ? 0 : n;
}

/* Adds the processes of the devices named in the options; false if one is not the client's. */
static bool add_assigned(struct stet_ranks *r, size_t room, const struct stet_options *o,
                         const struct device *devices, size_t count)
{
    for (size_t i = 0; i < o->count; i++) {
        const char *at = o->items[i].value.ptr, *end = at + o->items[i].value.len;

        if (!stet_view_contains(o->items[i].path, "replica_device_ids"))
            continue;
        while (at < end) {
            char *stop;
            struct device wanted = {.id = strtoll(at, &stop, 10)};
            const struct device *found =
                stop == at ? NULL : bsearch(&wanted, devices, count, sizeof wanted, by_id);

            if (!found)
                return false;
            if (r->count == room)
                settle(r);
            if (r->count == room)
                return false;
            r->ranks[r->count++] = found->rank;
            at = stop + (stop < end && *stop == ',');
        }
    }
    return true;
}

bool stet_ranks_joint(struct stet_ranks *r, struct stet_plugin *p, PJRT_Client *client,
                      struct stet_view bytes, struct stet_arena *a)
{
    const struct device *devices = NULL;
    int64_t processes = 0;
    size_t count = devices_of(p, client, &devices, &processes);
    struct stet_options options;
    bool fits;

    *r = (struct stet_ranks){.ranks = count ? STET_NEW_ARRAY(a, uint32_t, count + 1) : NULL};
    if (!r->ranks || stet_options_decode(&options, bytes, NULL) != STET_OK)
        return false;
    fits = add_assigned(r, count + 1, &options, devices, count);
    stet_options_release(&options);
    if (fits && !r->count) { /* without an assignment it may run on all of them */
        for (size_t i = 0; i < count; i++)
            r->ranks[r->count++] = devices[i].rank;
    }
    settle(r);
    return fits;
}

/* ---- which ranks must agree ---- */

static bool mode_is(const char *word)
{
    const char *mode = getenv("STET_RANKS");

    return mode && !strcmp(mode, word);
}

/* Does its compiler never wait for another process? */
static bool compiles_alone(struct stet_plugin *p, PJRT_Client *client)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Client_PlatformName_Args name = {.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE,
                                          .client = client};

    return !mode_is("vote") && !mode_is("all") && stet_api_has(real, PJRT_Client_PlatformName) &&
           !stet_plugin_drop(p, real->PJRT_Client_PlatformName(&name)) && name.platform_name &&
           stet_platform_find(stet_plugin_text(name.platform_name, name.platform_name_size))
                   ->compiles == STET_COMPILES_ALONE;
}

bool stet_ranks_can(struct stet_plugin *p, PJRT_Client *client)
{
    return mode_is("each") || compiles_alone(p, client) || stet_intercept_pod_may_agree();
}

bool stet_ranks_alone(struct stet_plugin *p, PJRT_Client *client)
{
    return mode_is("each") || compiles_alone(p, client) ||
           (!(mode_is("all") && stet_intercept_pod_may_agree()) && !stet_ranks_span(p, client));
}

/* All ranks of the job. */
static bool by_number(struct stet_ranks *r, int64_t world, struct stet_arena *a)
{
    r->ranks = world > 0 ? STET_NEW_ARRAY(a, uint32_t, (size_t)world) : NULL;
    for (int64_t i = 0; r->ranks && i < world; i++)
        r->ranks[r->count++] = (uint32_t)i;
    return r->ranks != NULL;
}

struct stet_hash stet_ranks_options(struct stet_view bytes)
{
    struct stet_hash h = {0};
    struct stet_options o;

    if (stet_options_decode(&o, bytes, NULL) != STET_OK)
        return h;
    for (size_t i = 0; i < o.count; i++) {
        if (o.items[i].dropped || stet_view_contains(o.items[i].path, "device_assignment") ||
            stet_view_ends(o.items[i].path, "device_ordinal"))
            continue;
        h = stet_hash_mix(h, stet_hash_bytes(o.items[i].path));
        h = stet_hash_mix(h, stet_hash_bytes(o.items[i].value));
    }
    stet_options_release(&o);
    return h;
}

bool stet_ranks_of(struct stet_ranks *r, struct stet_plugin *p, PJRT_Client *client,
                   struct stet_view options, struct stet_arena *a)
{
    bool all = mode_is("all"), found;

    *r = (struct stet_ranks){0};
    if (mode_is("each") || compiles_alone(p, client))
        return true;
    if (!stet_intercept_pod_may_agree())
        return !stet_ranks_span(p, client);
    if (!all && !stet_ranks_span(p, client))
        return true;
    found = all ? by_number(r, stet_intercept_pod_world(), a)
                : stet_ranks_joint(r, p, client, options, a);
    if (found && r->count)
        r->options = stet_ranks_options(options);
    return found;
}
