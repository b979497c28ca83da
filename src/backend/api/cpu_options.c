/* Compile options: rejects the few values that would change results and that one device cannot
 * honour. */
#include "backend/api/cpu_api.h"

#include "decode/proto.h"

/* Field numbers of CompileOptionsProto, ExecutableBuildOptionsProto and DeviceAssignmentProto. */
enum {
    OPTIONS_BUILD = 3,
    BUILD_DEVICE_ORDINAL = 1,
    BUILD_REPLICAS = 4,
    BUILD_PARTITIONS = 5,
    BUILD_DEVICE_ASSIGNMENT = 9,
    ASSIGNMENT_DEVICES = 3,
    DEVICES_IDS = 1,
};

/* The requested values; each is 0, 1 or absent if it can be honoured. */
struct asked {
    int64_t replicas, partitions, ordinal, device;
};

static void read_assignment(struct stet_proto p, struct stet_arena *a, struct asked *asked)
{
    struct stet_proto_field f, id;

    while (stet_proto_next(&p, &f)) {
        struct stet_proto devices;
        struct stet_ints ids = {0};

        if (f.number != ASSIGNMENT_DEVICES)
            continue;
        devices = stet_proto_sub(&p, &f);
        while (stet_proto_next(&devices, &id)) {
            if (id.number == DEVICES_IDS)
                stet_proto_ints(p.fault, &id, a, &ids);
        }
        for (uint32_t i = 0; i < ids.count; i++)
            asked->device = ids.at[i] ? ids.at[i] : asked->device;
    }
}

static void read_build(struct stet_proto p, struct stet_arena *a, struct asked *asked)
{
    struct stet_proto_field f;

    while (stet_proto_next(&p, &f)) {
        if (f.number == BUILD_REPLICAS)
            asked->replicas = stet_proto_int(p.fault, &f);
        else if (f.number == BUILD_PARTITIONS)
            asked->partitions = stet_proto_int(p.fault, &f);
        else if (f.number == BUILD_DEVICE_ORDINAL)
            asked->ordinal = stet_proto_int(p.fault, &f);
        else if (f.number == BUILD_DEVICE_ASSIGNMENT)
            read_assignment(stet_proto_sub(&p, &f), a, asked);
    }
}

static PJRT_Error *refuse(const char *option, int64_t value)
{
    return stet_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                           "stet cpu: compile option executable_build_options.%s is %lld, but this "
                           "backend has one device",
                           option, (long long)value);
}

PJRT_Error *stet_cpu_options_check(struct stet_view bytes)
{
    struct stet_proto_fault fault = {0};
    struct stet_err err = STET_ERR_INIT;
    struct asked asked = {0};
    struct stet_proto_field f;
    struct stet_arena arena;
    struct stet_proto p;

    stet_arena_init(&arena, 1 << 20);
    stet_proto_init(&p, bytes, &fault);
    while (stet_proto_next(&p, &f)) {
        if (f.number == OPTIONS_BUILD)
            read_build(stet_proto_sub(&p, &f), &arena, &asked);
    }
    stet_arena_release(&arena);
    if (stet_proto_finish(&fault, "compile options", &err) != STET_OK)
        return stet_cpu_api_error((struct stet_view){0}, &err);
    if (asked.replicas > 1)
        return refuse("num_replicas", asked.replicas);
    if (asked.partitions > 1)
        return refuse("num_partitions", asked.partitions);
    if (asked.ordinal > 0) /* -1 means any */
        return refuse("device_ordinal", asked.ordinal);
    if (asked.device)
        return refuse("device_assignment", asked.device);
    return NULL;
}
