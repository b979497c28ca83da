/* Votes and decisions under "stet/1/<program, options and ranks>/<how often it was requested>/". */
#include "intercept/ranks.h"

#include "base/hash.h"
#include "decode/options.h"
#include "intercept/layer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Ranks reach a compile after tracing; no rank waits longer than this, and only once. */
enum { WAIT_MS = 60000, SHORT_MS = 5000, ASKED_MAX = 4096 };

struct job {
    uint32_t client; /* 0: free */
    PJRT_KeyValueGetCallback get;
    PJRT_KeyValuePutCallback put;
    void *get_arg, *put_arg;
    int64_t rank, ranks; /* as the framework passed it to the plugin; -1 if it did not */
    bool given_up;       /* a rank did not answer: from now on nothing is served together */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job jobs[STET_CLIENTS];
/* How often each program was requested here: the same number on every rank. */
static struct {
    struct stet_hash what;
    uint32_t times;
} asked[ASKED_MAX];
static size_t asked_count;

static int64_t number_of(const PJRT_Client_Create_Args *args, const char *name)
{
    for (size_t i = 0; i < args->num_options; i++) {
        const PJRT_NamedValue *v = &args->create_options[i];

        if (v->type == PJRT_NamedValue_kInt64 && v->name_size == strlen(name) &&
            !memcmp(v->name, name, v->name_size))
            return v->int64_value;
    }
    return -1;
}

void stet_ranks_join(uint32_t client, const PJRT_Client_Create_Args *args)
{
    if (!client || !args->kv_get_callback || !args->kv_put_callback)
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < STET_CLIENTS; i++) {
        if (jobs[i].client)
            continue;
        jobs[i] = (struct job){
            .client = client,
            .get = args->kv_get_callback,
            .put = args->kv_put_callback,
            .get_arg = args->kv_get_user_arg,
            .put_arg = args->kv_put_user_arg,
            .rank = number_of(args, "node_id"),
            .ranks = number_of(args, "num_nodes"),
        };
        break;
    }
    pthread_mutex_unlock(&lock);
}

static struct job *find(uint32_t client)
{
    for (size_t i = 0; client && i < STET_CLIENTS; i++) {
        if (jobs[i].client == client)
            return &jobs[i];
    }
    return NULL;
}

void stet_ranks_leave(uint32_t client)
{
    struct job *j;

    pthread_mutex_lock(&lock);
    j = find(client);
    if (j)
        j->client = 0;
    pthread_mutex_unlock(&lock);
}

static bool job_of(uint32_t client, struct job *out)
{
    struct job *j;

    pthread_mutex_lock(&lock);
    j = find(client);
    if (j)
        *out = *j;
    pthread_mutex_unlock(&lock);
    return j;
}

static bool mode_is(const char *word)
{
    const char *mode = getenv("STET_RANKS");

    return mode && !strcmp(mode, word);
}

bool stet_ranks_can(uint32_t client)
{
    struct job j;

    return mode_is("each") || job_of(client, &j);
}

/* ---- which ranks ---- */

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

struct device {
    int64_t id;
    uint32_t rank;
    bool used;
};

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const struct device *)a)->id, y = ((const struct device *)b)->id;

    return (x > y) - (x < y);
}

/* Every device of the client and its process, sorted by id. */
static size_t all_devices(struct stet_plugin *p, PJRT_Client *client, struct stet_arena *a,
                          struct device **out)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Client_Devices_Args all = {.struct_size = PJRT_Client_Devices_Args_STRUCT_SIZE,
                                    .client = client};
    size_t n = 0;

    if (!stet_api_has(real, PJRT_DeviceDescription_ProcessIndex) ||
        !stet_api_has(real, PJRT_DeviceDescription_Id) ||
        !stet_api_has(real, PJRT_Device_GetDescription) ||
        !stet_api_has(real, PJRT_Client_Devices) ||
        stet_plugin_drop(p, real->PJRT_Client_Devices(&all)) || !all.devices)
        return 0;
    *out = STET_NEW_ARRAY(a, struct device, all.num_devices);
    for (size_t i = 0; *out && i < all.num_devices; i++) {
        PJRT_Device_GetDescription_Args d = {
            .struct_size = PJRT_Device_GetDescription_Args_STRUCT_SIZE, .device = all.devices[i]};
        PJRT_DeviceDescription_Id_Args id = {.struct_size =
                                                 PJRT_DeviceDescription_Id_Args_STRUCT_SIZE};
        PJRT_DeviceDescription_ProcessIndex_Args index = {
            .struct_size = PJRT_DeviceDescription_ProcessIndex_Args_STRUCT_SIZE};

        if (stet_plugin_drop(p, real->PJRT_Device_GetDescription(&d)))
            return 0;
        id.device_description = index.device_description = d.device_description;
        if (stet_plugin_drop(p, real->PJRT_DeviceDescription_Id(&id)) ||
            stet_plugin_drop(p, real->PJRT_DeviceDescription_ProcessIndex(&index)))
            return 0;
        (*out)[n++] = (struct device){.id = id.id, .rank = (uint32_t)index.process_index};
    }
    if (n)
        qsort(*out, n, sizeof **out, by_id);
    return n;
}

/* Marks the devices named in the options; false if one is not the client's. */
static bool mark_assigned(const struct stet_options *o, struct device *devices, size_t count,
                          bool *any)
{
    for (size_t i = 0; i < o->count; i++) {
        const char *at = o->items[i].value.ptr, *end = at + o->items[i].value.len;

        if (!stet_view_contains(o->items[i].path, "replica_device_ids"))
            continue;
        while (at < end) {
            char *stop;
            struct device wanted = {.id = strtoll(at, &stop, 10)}, *found;

            found = stop == at ? NULL : bsearch(&wanted, devices, count, sizeof wanted, by_id);
            if (!found)
                return false;
            found->used = *any = true;
            at = stop + (stop < end && *stop == ',');
        }
    }
    return true;
}

/* A program without a device assignment may run on all of them. */
static bool by_assignment(struct stet_ranks *r, struct stet_plugin *p, PJRT_Client *client,
                          struct stet_view bytes, struct stet_arena *a)
{
    struct device *devices = NULL;
    size_t count = all_devices(p, client, a, &devices);
    struct stet_options options;
    bool known, any = false;

    r->ranks = count ? STET_NEW_ARRAY(a, uint32_t, count) : NULL;
    if (!r->ranks || stet_options_decode(&options, bytes, NULL) != STET_OK)
        return false;
    known = mark_assigned(&options, devices, count, &any);
    stet_options_release(&options);
    for (size_t i = 0; known && i < count; i++) {
        if (devices[i].used || !any)
            r->ranks[r->count++] = devices[i].rank;
    }
    return known;
}

/* The framework's number of ranks; an implausible number is not believed. */
static bool by_number(struct stet_ranks *r, int64_t ranks, struct stet_arena *a)
{
    if (ranks < 0 || ranks > 1 << 20)
        return false;
    r->ranks = STET_NEW_ARRAY(a, uint32_t, (size_t)ranks + 1);
    for (int64_t i = 0; r->ranks && i < ranks; i++)
        r->ranks[r->count++] = (uint32_t)i;
    return r->ranks != NULL;
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

bool stet_ranks_alone(struct stet_plugin *p, PJRT_Client *client)
{
    struct job j;

    return mode_is("each") || (!(mode_is("all") && job_of(stet_plugin_client(p, client), &j)) &&
                               !stet_ranks_span(p, client));
}

bool stet_ranks_of(struct stet_ranks *r, struct stet_plugin *p, PJRT_Client *client,
                   struct stet_view options, struct stet_arena *a)
{
    bool all = mode_is("all");
    struct job j;

    *r = (struct stet_ranks){.client = stet_plugin_client(p, client)};
    if (mode_is("each"))
        return true;
    if (!job_of(r->client, &j))
        return !stet_ranks_span(p, client);
    if (!all && !stet_ranks_span(p, client))
        return true;
    if (all ? !by_number(r, j.ranks, a) : !by_assignment(r, p, client, options, a))
        return false;
    settle(r);
    return true;
}

/* ---- the job's store ---- */

/* The callbacks report errors through us, and one static error is enough: only its presence
 * counts. */
static char failed_once;

static PJRT_Error *failed(PJRT_Error_Code code, const char *message, size_t size)
{
    (void)code, (void)message, (void)size;
    return (PJRT_Error *)(void *)&failed_once;
}

static PJRT_CallbackError on_failure = failed;

static bool put(const struct job *j, const char *key, const char *value)
{
    PJRT_KeyValuePutCallback_Args args = {
        .struct_size = PJRT_KeyValuePutCallback_Args_STRUCT_SIZE,
        .key = key,
        .key_size = strlen(key),
        .value = value,
        .value_size = strlen(value),
        .callback_error = &on_failure,
        .user_arg = j->put_arg,
    };

    return !j->put(&args);
}

/* 'y', 'n', or 0 if it is not there in time. */
static char get(const struct job *j, const char *key, int64_t ms)
{
    PJRT_KeyValueGetCallback_Args args = {
        .struct_size = PJRT_KeyValueGetCallback_Args_STRUCT_SIZE,
        .key = key,
        .key_size = strlen(key),
        .timeout_in_ms = ms > 0 ? (int)ms : 1,
        .callback_error = &on_failure,
        .user_arg = j->get_arg,
    };
    char value;

    if (j->get(&args))
        return 0;
    value = args.value_size ? args.value[0] : 0;
    if (args.value_deleter_callback)
        args.value_deleter_callback(args.value);
    return value;
}

/* Writes the decision unless there is one; returns the valid one. */
static bool decide(const struct job *j, const char *key, bool serve)
{
    if (put(j, key, serve ? "y" : "n"))
        return serve;
    return get(j, key, SHORT_MS) == 'y';
}

static int64_t wait_ms(void)
{
    const char *ms = getenv("STET_RANKS_WAIT_MS");

    return ms && *ms ? strtoll(ms, NULL, 10) : WAIT_MS;
}

static int64_t left_ms(uint64_t until_ns)
{
    return ((int64_t)until_ns - (int64_t)stet_journal_now()) / 1000000;
}

static bool all_have(const struct job *j, const struct stet_ranks *r, const char *base,
                     uint64_t until_ns, bool *silent)
{
    char key[128];

    for (size_t i = 1; i < r->count; i++) {
        char vote;

        snprintf(key, sizeof key, "%svote/%u", base, r->ranks[i]);
        vote = get(j, key, left_ms(until_ns));
        *silent = !vote;
        if (vote != 'y')
            return false;
    }
    return true;
}

static uint32_t times_asked(struct stet_hash what)
{
    uint32_t times = 0;
    size_t i = 0;

    pthread_mutex_lock(&lock);
    while (i < asked_count && !stet_hash_eq(asked[i].what, what))
        i++;
    if (i < asked_count) {
        times = ++asked[i].times;
    } else if (asked_count < ASKED_MAX) {
        asked[asked_count++].what = what;
    } else {
        times = UINT32_MAX;
    }
    pthread_mutex_unlock(&lock);
    return times;
}

static void give_up(uint32_t client)
{
    struct job *j;

    pthread_mutex_lock(&lock);
    j = find(client);
    if (j)
        j->given_up = true;
    pthread_mutex_unlock(&lock);
    stet_layer_log("store: other ranks did not answer: their programs are compiled from now on");
}

/* A name that is the same on all ranks: not the key, because a store may be at another path
 * there. */
static struct stet_hash name_of(const struct stet_ranks *r, const struct stet_key_parts *parts)
{
    struct stet_hash h = stet_hash_bytes(parts->part[STET_COMPONENT_PROGRAM]);

    h = stet_hash_mix(h, stet_hash_bytes(parts->part[STET_COMPONENT_OPTIONS]));
    return stet_hash_mix(
        h, stet_hash_bytes(stet_view_of((const char *)r->ranks, r->count * sizeof *r->ranks)));
}

bool stet_ranks_agree(const struct stet_ranks *r, const struct stet_key_parts *parts, bool have)
{
    uint64_t until = stet_journal_now() + (uint64_t)wait_ms() * 1000000;
    char name[STET_HASH_TEXT], base[96], vote[128], decision[128], answer;
    struct stet_hash what = name_of(r, parts);
    uint32_t times = times_asked(what);
    bool silent = false, serve;
    struct job j;

    if (!job_of(r->client, &j) || j.rank < 0 || times == UINT32_MAX)
        return false;
    have = have && !j.given_up;
    stet_hash_format(what, name);
    snprintf(base, sizeof base, "stet/1/%s/%u/", name, times);
    snprintf(vote, sizeof vote, "%svote/%lld", base, (long long)j.rank);
    snprintf(decision, sizeof decision, "%sdecision", base);
    if (!put(&j, vote, have ? "y" : "n"))
        return false;
    if (!have) { /* already decided: no need to wait for others */
        decide(&j, decision, false);
        return false;
    }
    if ((uint32_t)j.rank == r->ranks[0]) {
        serve = decide(&j, decision, all_have(&j, r, base, until, &silent));
    } else {
        answer = get(&j, decision, left_ms(until));
        silent = !answer;
        serve = answer ? answer == 'y' : decide(&j, decision, false);
    }
    if (silent)
        give_up(r->client);
    return serve;
}

void stet_ranks_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

void stet_ranks_fork_done(void)
{
    pthread_mutex_unlock(&lock);
}
