/* Compile options: how many replicas and partitions a program has, and on which devices. */
#include "backend/api/cpu_api.h"

#include "base/mem.h"
#include "base/vec.h"
#include "decode/proto.h"

#include <stdio.h>

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

/* The requested values; each is 0 if it is absent. */
struct asked {
    int64_t replicas, partitions, ordinal;
    STET_VEC(struct stet_ints) ids; /* per partition: its replicas' */
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
        STET_VEC_PUSH(&asked->ids, ids);
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

static PJRT_Error *refuse(const char *option, int64_t value, const char *why)
{
    return stet_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                           "stet cpu: compile option executable_build_options.%s is %lld, but %s",
                           option, (long long)value, why);
}

static PJRT_Error *refuse_size(const char *option, int64_t value)
{
    char why[64];

    snprintf(why, sizeof why, "this backend has 1 to %d devices", STET_MAX_DEVICES);
    return refuse(option, value, why);
}

/* The ids of the options' device assignment. */
static PJRT_Error *take_ids(const struct asked *asked, struct stet_cpu_assignment *out)
{
    out->option = "device_assignment";
    out->assigned = true;
    if (asked->ids.count != out->partitions)
        return refuse("device_assignment", (int64_t)asked->ids.count,
                      "its number of computations is not num_partitions");
    for (uint32_t p = 0; p < out->partitions; p++) {
        const struct stet_ints *ids = &asked->ids.items[p];

        if (ids->count != out->replicas)
            return refuse("device_assignment", ids->count,
                          "its number of replicas is not num_replicas");
        for (uint32_t r = 0; r < out->replicas; r++) {
            if (ids->at[r] < 0 || ids->at[r] >= STET_MAX_DEVICES)
                return refuse_size("device_assignment", ids->at[r]);
            out->ids[r * out->partitions + p] = (int32_t)ids->at[r];
        }
    }
    return NULL;
}

static PJRT_Error *place(const struct asked *asked, struct stet_cpu_assignment *out)
{
    int64_t replicas = asked->replicas ? asked->replicas : 1;
    int64_t partitions = asked->partitions ? asked->partitions : 1;

    if (replicas < 1 || replicas > STET_MAX_DEVICES)
        return refuse_size("num_replicas", replicas);
    if (partitions < 1 || partitions > STET_MAX_DEVICES)
        return refuse_size("num_partitions", partitions);
    if (replicas > 1 && partitions > 1)
        return refuse("num_replicas", replicas, "the program has several partitions too");
    if (asked->ordinal >= STET_MAX_DEVICES)
        return refuse_size("device_ordinal", asked->ordinal);
    *out = (struct stet_cpu_assignment){.replicas = (uint32_t)replicas,
                                        .partitions = (uint32_t)partitions,
                                        .count = (uint32_t)(replicas * partitions),
                                        .option = "device_ordinal"};
    out->ids = stet_mem_calloc(out->count, sizeof *out->ids);
    if (!out->ids || asked->ids.failed)
        return stet_cpu_api_no_memory();
    for (uint32_t i = 0; i < out->count; i++) /* -1 means any */
        out->ids[i] = out->count == 1 && asked->ordinal > 0 ? (int32_t)asked->ordinal : (int32_t)i;
    return asked->ids.count ? take_ids(asked, out) : NULL;
}

PJRT_Error *stet_cpu_options_fit(const struct stet_cpu_assignment *a, uint32_t devices)
{
    char why[64];

    snprintf(why, sizeof why, "there %s %u device%s (STET_CPU_DEVICES)",
             devices == 1 ? "is" : "are", devices, devices == 1 ? "" : "s");
    if (a->replicas > devices)
        return refuse("num_replicas", a->replicas, why);
    if (a->partitions > devices)
        return refuse("num_partitions", a->partitions, why);
    for (uint32_t i = 0; i < a->count; i++) {
        if ((uint32_t)a->ids[i] >= devices)
            return refuse(a->option, a->ids[i], why);
    }
    return NULL;
}

PJRT_Error *stet_cpu_options_read(struct stet_view bytes, struct stet_cpu_assignment *out)
{
    struct stet_proto_fault fault = {0};
    struct stet_err err = STET_ERR_INIT;
    struct asked asked = {0};
    struct stet_proto_field f;
    struct stet_arena arena;
    struct stet_proto p;
    PJRT_Error *error;

    stet_arena_init(&arena, 1 << 24);
    stet_proto_init(&p, bytes, &fault);
    while (stet_proto_next(&p, &f)) {
        if (f.number == OPTIONS_BUILD)
            read_build(stet_proto_sub(&p, &f), &arena, &asked);
    }
    error = stet_proto_finish(&fault, "compile options", &err) == STET_OK
                ? place(&asked, out)
                : stet_cpu_api_error((struct stet_view){0}, &err);
    STET_VEC_RELEASE(&asked.ids);
    stet_arena_release(&arena);
    return error;
}
