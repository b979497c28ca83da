/* See topology.h. */
#include "warm/topology.h"

#include "base/fs.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int stet_warm_topology_code(const PJRT_Api *api, PJRT_Error *error)
{
    PJRT_Error_GetCode_Args c = {.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE,
                                 .error = error};
    PJRT_Error *failed = error ? api->PJRT_Error_GetCode(&c) : NULL;

    if (failed)
        api->PJRT_Error_Destroy(&(PJRT_Error_Destroy_Args){
            .struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = failed});
    return !error || failed ? 0 : (int)c.code;
}

bool stet_warm_topology_failed(const PJRT_Api *api, PJRT_Error *error, char *why, size_t room)
{
    PJRT_Error_Message_Args m = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                 .error = error};
    PJRT_Error_Destroy_Args d = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                 .error = error};

    if (!error)
        return false;
    api->PJRT_Error_Message(&m);
    snprintf(why, room, "%.*s", (int)(m.message_size < room ? m.message_size : room - 1),
             m.message);
    api->PJRT_Error_Destroy(&d);
    return true;
}

const PJRT_Api *stet_warm_topology_load(const char *library, const char *plugin, char *why,
                                        size_t room)
{
    PJRT_Plugin_Initialize_Args init = {.struct_size = PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    union {
        void *symbol;
        stet_get_pjrt_api *get;
    } entry;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    const PJRT_Api *api;

    entry.symbol = handle ? dlsym(handle, "GetPjrtApi") : NULL;
    api = entry.symbol ? entry.get() : NULL;
    if (!api) {
        snprintf(why, room, "%.160s: cannot be loaded", plugin);
        return NULL;
    }
    if (stet_api_has(api, PJRT_Plugin_Initialize) &&
        stet_warm_topology_failed(api, api->PJRT_Plugin_Initialize(&init), why, room))
        return NULL;
    return api;
}

/* The product of the numbers in "2x2x4". */
static long chips_in(const char *shape)
{
    long chips = 1;

    for (const char *at = shape; *at; at += *at == 'x') {
        char *end;
        long n = strtol(at, &end, 10);

        if (end == at)
            break;
        chips *= n > 0 && n < 4096 ? n : 1;
        at = end;
    }
    return chips;
}

void stet_warm_topology_environment(const char *name)
{
    const char *at = strchr(name, ':');
    char type[64];

    setenv("TPU_SKIP_MDS_QUERY", "1", 0);
    setenv("TPU_WORKER_HOSTNAMES", "localhost", 0);
    setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 0);
    if (!at)
        return;
    snprintf(type, sizeof type, "%.*s-%ld", (int)(at - name < 40 ? at - name : 40), name,
             chips_in(at + 1));
    setenv("TPU_ACCELERATOR_TYPE", type, 0);
}

static PJRT_NamedValue text_option(const char *name, struct stet_view value)
{
    return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                             .name = name,
                             .name_size = strlen(name),
                             .type = PJRT_NamedValue_kString,
                             .string_value = value.ptr,
                             .value_size = value.len};
}

size_t stet_warm_identity_options(const struct stet_warm_identity *identity,
                                  PJRT_NamedValue options[STET_WARM_IDENTITY_OPTIONS])
{
    size_t n = 0;

    if (identity->platform[0])
        options[n++] = text_option("platform_name", stet_view_str(identity->platform));
    if (identity->devices)
        options[n++] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                         .name = "device_count",
                                         .name_size = strlen("device_count"),
                                         .type = PJRT_NamedValue_kInt64,
                                         .int64_value = identity->devices,
                                         .value_size = 1};
    return n;
}

PJRT_TopologyDescription *stet_warm_topology_create(const PJRT_Api *api,
                                                    const struct stet_warm_topology *t, char *why,
                                                    size_t room)
{
    PJRT_NamedValue options[STET_WARM_IDENTITY_OPTIONS + 3];
    PJRT_TopologyDescription_Create_Args create = {
        .struct_size = PJRT_TopologyDescription_Create_Args_STRUCT_SIZE,
        .topology_name = t->name,
        .topology_name_size = strlen(t->name),
        .create_options = options,
        .num_options = stet_warm_identity_options(&t->identity, options),
    };
    struct stet_err err = STET_ERR_INIT;
    struct stet_file target = {0};
    bool failed;

    if (t->target && stet_file_open(&target, t->target, &err) != STET_OK) {
        snprintf(why, room, "%.180s", err.text);
        return NULL;
    }
    if (t->target || t->described.len) {
        options[create.num_options++] =
            text_option("target_config", t->target ? target.bytes : t->described);
        options[create.num_options++] = text_option("topology", stet_view_str(t->name));
    }
    if (t->host_described.len)
        options[create.num_options++] =
            text_option("host_target_machine_options", t->host_described);
    if (!stet_api_has(api, PJRT_TopologyDescription_Create)) {
        snprintf(why, room, "the plugin does not compile without a device");
        failed = true;
    } else {
        failed = stet_warm_topology_failed(api, api->PJRT_TopologyDescription_Create(&create), why,
                                           room);
    }
    stet_file_close(&target);
    return failed ? NULL : create.topology;
}
