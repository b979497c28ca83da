/* Topologies: how many devices there are, and what each is called. */
#include "backend/api/cpu_api.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

const char *stet_cpu_topology_version(void)
{
    const struct stet_cpu_pose *pose = stet_pose_known(NULL);

    return pose && pose->version[0] ? pose->version : stet_cpu_version;
}

static PJRT_NamedValue named_int(const char *name, int64_t value)
{
    return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                             .name = name,
                             .name_size = strlen(name),
                             .type = PJRT_NamedValue_kInt64,
                             .int64_value = value,
                             .value_size = 1};
}

/* A framework that expects a TPU queries the chip's coordinates. */
static void describe(PJRT_DeviceDescription *d, int id, int process)
{
    const struct stet_cpu_pose *pose = stet_pose_known(NULL);
    const struct stet_cpu_posed *posed =
        pose && (uint32_t)id < pose->count ? &pose->devices[id] : NULL;

    d->id = id;
    d->process = process;
    d->coords[0] = id;
    for (int i = 0; posed && i < 3; i++)
        d->coords[i] = posed->coords[i];
    snprintf(d->text, sizeof d->text, "StetCpuDevice(id=%d)", id);
    d->attributes[0] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                         .name = "coords",
                                         .name_size = strlen("coords"),
                                         .type = PJRT_NamedValue_kInt64List,
                                         .int64_array_value = d->coords,
                                         .value_size = 3};
    d->attributes[1] = named_int("core_on_chip", posed ? posed->core : 0);
    d->attributes[2] = named_int("num_cores", pose && pose->cores ? pose->cores : 1);
    d->attribute_count = 3;
}

void stet_cpu_topology_release(PJRT_TopologyDescription *t)
{
    stet_mem_free(t->descriptions);
    stet_mem_free(t->list);
}

static void topology_text(char *out, size_t room, uint32_t count, uint32_t processes)
{
    if (processes > 1)
        snprintf(out, room, "stet cpu topology %u of %u processes", count, processes);
    else
        snprintf(out, room, "stet cpu topology %u", count);
}

/* False when out of memory; released either way. */
bool stet_cpu_topology_init(PJRT_TopologyDescription *t, uint32_t count, uint32_t processes)
{
    t->count = count;
    t->processes = processes;
    t->descriptions = stet_mem_calloc(count, sizeof *t->descriptions);
    t->list = stet_mem_calloc(count, sizeof *t->list);
    if (!t->descriptions || !t->list)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        describe(&t->descriptions[i], (int)i, (int)(i / (count / processes)));
        t->list[i] = &t->descriptions[i];
    }
    topology_text(t->text, sizeof t->text, count, processes);
    return true;
}

PJRT_Error *stet_cpu_topology_devices(const struct stet_cpu_identity *identity, uint32_t *count)
{
    const char *told = getenv("STET_CPU_DEVICES");
    const struct stet_err *why;
    const struct stet_cpu_pose *pose = stet_pose_known(&why);
    char *end = NULL;
    long n = told && *told ? strtol(told, &end, 10) : pose ? (long)pose->count : 1;

    if (identity->devices) {
        *count = identity->devices;
        return NULL;
    }
    if (why)
        return stet_cpu_api_error((struct stet_view){0}, why);
    if ((end && *end) || n < 1 || n > STET_MAX_DEVICES)
        return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                               "stet cpu: STET_CPU_DEVICES is \"%s\", not a number from 1 to %d",
                               told, STET_MAX_DEVICES);
    *count = (uint32_t)n;
    return NULL;
}

static PJRT_Error *topology_new(PJRT_TopologyDescription **out, uint32_t count, uint32_t processes)
{
    PJRT_TopologyDescription *t = stet_mem_calloc(1, sizeof *t);

    if (t && stet_cpu_topology_init(t, count, processes)) {
        *out = t;
        return NULL;
    }
    if (t)
        stet_cpu_topology_release(t);
    stet_mem_free(t);
    return stet_cpu_api_no_memory();
}

/* The name is empty or "cpu": this machine's own is the only topology. */
PJRT_Error *cpu_PJRT_TopologyDescription_Create(PJRT_TopologyDescription_Create_Args *args)
{
    struct stet_view name = stet_view_of(args->topology_name, args->topology_name_size);
    struct stet_cpu_identity identity;
    uint32_t count = 1;
    PJRT_Error *error;

    if (name.len && !stet_view_is(name, "cpu"))
        return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                               "stet cpu: unknown topology '%.*s'; this backend has one, cpu",
                               (int)(name.len < 64 ? name.len : 64), name.ptr);
    error = stet_cpu_identity_read(args->create_options, args->num_options, &identity);
    if (!error)
        error = stet_cpu_topology_devices(&identity, &count);
    if (!error)
        error = topology_new(&args->topology, count, 1);
    if (!error)
        stet_cpu_identity_apply(&identity, args->topology);
    return error;
}

PJRT_Error *cpu_PJRT_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args *args)
{
    if (args->topology)
        stet_cpu_topology_release(args->topology);
    stet_mem_free(args->topology);
    return NULL;
}

PJRT_Error *
cpu_PJRT_TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args *args)
{
    STET_TEXT(args, platform_name, stet_cpu_identity_platform(args->topology));
    return NULL;
}

PJRT_Error *
cpu_PJRT_TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args *args)
{
    STET_TEXT(args, platform_version, stet_cpu_topology_version());
    return NULL;
}

PJRT_Error *cpu_PJRT_TopologyDescription_GetDeviceDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args *args)
{
    args->descriptions = args->topology->list;
    args->num_descriptions = args->topology->count;
    return NULL;
}

static void keep_topology(PJRT_SerializedTopology *serialized)
{
    (void)serialized; /* the topology's */
}

PJRT_Error *cpu_PJRT_TopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args *args)
{
    args->serialized_bytes = args->topology->text;
    args->serialized_bytes_size = strlen(args->topology->text);
    args->serialized_topology = NULL;
    args->serialized_topology_deleter = keep_topology;
    return NULL;
}

PJRT_Error *
cpu_PJRT_TopologyDescription_Deserialize(PJRT_TopologyDescription_Deserialize_Args *args)
{
    char text[sizeof args->topology->text] = "", again[sizeof text], *rest = text;
    unsigned long count = 0, processes = 1;

    if (args->serialized_topology_size < sizeof text)
        memcpy(text, args->serialized_topology, args->serialized_topology_size);
    if (strncmp(text, "stet cpu topology ", 18) == 0)
        count = strtoul(text + 18, &rest, 10);
    if (strncmp(rest, " of ", 4) == 0)
        processes = strtoul(rest + 4, NULL, 10);
    if (count < 1 || count > STET_MAX_DEVICES || processes < 1 || count % processes)
        count = 0;
    topology_text(again, sizeof again, (uint32_t)count, (uint32_t)processes);
    if (!count || strcmp(text, again) != 0)
        return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                               "stet cpu: not a topology of this plugin");
    return topology_new(&args->topology, (uint32_t)count, (uint32_t)processes);
}

PJRT_Error *cpu_PJRT_TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args *args)
{
    args->attributes = NULL;
    args->num_attributes = 0;
    return NULL;
}

PJRT_Error *
cpu_PJRT_TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args *args)
{
    args->fingerprint = stet_hash_bytes(stet_view_str(args->topology->text)).lo;
    return NULL;
}

PJRT_Error *cpu_PJRT_TopologyDescription_GetMemorySpaceKindIds(
    PJRT_TopologyDescription_GetMemorySpaceKindIds_Args *args)
{
    static const int kinds[STET_MEMORIES] = {1, 2};

    args->memory_space_kind_ids = kinds;
    args->num_memory_space_kind_ids = STET_MEMORIES;
    return NULL;
}
