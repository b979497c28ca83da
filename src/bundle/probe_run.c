/* The whole life of a program on a plugin: compile, execute, serialise, and, in a second process,
 * load and execute again. */
#include "bundle/probe_child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* y = x * 2 + 1 over exact numbers, so that every right answer has the same bits. */
static const char program[] = "module @stet_doctor {\n"
                              "  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
                              "    %0 = stablehlo.constant dense<2.0> : tensor<4xf32>\n"
                              "    %1 = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
                              "    %2 = stablehlo.multiply %arg0, %0 : tensor<4xf32>\n"
                              "    %3 = stablehlo.add %2, %1 : tensor<4xf32>\n"
                              "    return %3 : tensor<4xf32>\n"
                              "  }\n"
                              "}\n";
static const float input[] = {1, 2, -3, 0.5f};
static const float wanted[] = {3, 5, -5, 2};
enum { N = 4 };

/* CompileOptionsProto: executable_build_options (3) with device_ordinal (1) = -1, num_replicas (4)
 * and num_partitions (5) of 1. */
static const unsigned char options[] = {0x1a, 15,   0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                        0xff, 0xff, 0xff, 0x01, 0x20, 1,    0x28, 1};

static bool await(const struct stet_prober *p, enum stet_probe_step s, PJRT_Event *event)
{
    STET_PROBE_ARGS(PJRT_Event_Await, wait, .event = event);
    STET_PROBE_ARGS(PJRT_Event_Destroy, destroy, .event = event);
    bool fine;

    if (!event)
        return true;
    fine = stet_bundle_prober_ok(p, s, "PJRT_Event_Await", p->api->PJRT_Event_Await(&wait));
    return !p->api->PJRT_Event_Destroy(&destroy) && fine;
}

static bool compile(struct stet_prober *p)
{
    PJRT_Program source = {.struct_size = PJRT_Program_STRUCT_SIZE,
                           .code = (char *)(uintptr_t)program,
                           .code_size = sizeof program - 1,
                           .format = "mlir",
                           .format_size = 4};
    STET_PROBE_ARGS(PJRT_Client_Compile, args, .client = p->client, .program = &source,
                    .compile_options = (const char *)options,
                    .compile_options_size = sizeof options);

    stet_bundle_prober_begin(p, STET_STEP_COMPILE);
    if (!stet_bundle_prober_ok(p, STET_STEP_COMPILE, "PJRT_Client_Compile",
                               p->api->PJRT_Client_Compile(&args)))
        return false;
    p->loaded = args.executable;
    stet_bundle_prober_end(p, 'F', STET_STEP_COMPILE, "four operations");
    return true;
}

static PJRT_Buffer *upload(const struct stet_prober *p, enum stet_probe_step s, PJRT_Device *device)
{
    static const int64_t dims[] = {N};
    STET_PROBE_ARGS(PJRT_Client_BufferFromHostBuffer, args, .client = p->client, .data = input,
                    .type = PJRT_Buffer_Type_F32, .dims = dims, .num_dims = 1,
                    .host_buffer_semantics =
                        PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes,
                    .device = device);

    if (!stet_bundle_prober_ok(p, s, "PJRT_Client_BufferFromHostBuffer",
                               p->api->PJRT_Client_BufferFromHostBuffer(&args)) ||
        !await(p, s, args.done_with_host_buffer))
        return NULL;
    return args.buffer;
}

/* A result that is larger than it should be is reported, not trusted. */
static bool download(const struct stet_prober *p, enum stet_probe_step s, PJRT_Buffer *buffer)
{
    float got[64] = {0};
    STET_PROBE_ARGS(PJRT_Buffer_ToHostBuffer, args, .src = buffer);

    if (!stet_bundle_prober_ok(p, s, "PJRT_Buffer_ToHostBuffer",
                               p->api->PJRT_Buffer_ToHostBuffer(&args)))
        return false;
    if (args.dst_size != sizeof wanted) {
        stet_bundle_prober_end(p, 'X', s, "wrong result: %zu bytes instead of %zu", args.dst_size,
                               sizeof wanted);
        return false;
    }
    args.dst = got;
    if (!stet_bundle_prober_ok(p, s, "PJRT_Buffer_ToHostBuffer",
                               p->api->PJRT_Buffer_ToHostBuffer(&args)) ||
        !await(p, s, args.event))
        return false;
    if (got[0] != wanted[0] || got[1] != wanted[1] || got[2] != wanted[2] || got[3] != wanted[3]) {
        stet_bundle_prober_end(p, 'X', s, "wrong numbers: [%g %g %g %g] instead of [%g %g %g %g]",
                               (double)got[0], (double)got[1], (double)got[2], (double)got[3],
                               (double)wanted[0], (double)wanted[1], (double)wanted[2],
                               (double)wanted[3]);
        return false;
    }
    stet_bundle_prober_end(p, 'F', s, "right numbers");
    return true;
}

static bool execute(struct stet_prober *p, enum stet_probe_step s)
{
    STET_PROBE_ARGS(PJRT_LoadedExecutable_AddressableDevices, where, .executable = p->loaded);
    PJRT_ExecuteOptions how = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_Buffer *outputs[16] = {0}, **output_list = outputs, *in;
    PJRT_Buffer *const *inputs;
    PJRT_Event *done = NULL;
    STET_PROBE_ARGS(PJRT_LoadedExecutable_Execute, args, .executable = p->loaded, .options = &how,
                    .num_devices = 1, .num_args = 1, .output_lists = &output_list,
                    .device_complete_events = &done);

    stet_bundle_prober_begin(p, s);
    if (!stet_bundle_prober_ok(p, s, "PJRT_LoadedExecutable_AddressableDevices",
                               p->api->PJRT_LoadedExecutable_AddressableDevices(&where)))
        return false;
    in = upload(p, s, where.num_addressable_devices ? where.addressable_devices[0] : p->device);
    if (!in)
        return false;
    inputs = &in;
    args.argument_lists = &inputs;
    if (!stet_bundle_prober_ok(p, s, "PJRT_LoadedExecutable_Execute",
                               p->api->PJRT_LoadedExecutable_Execute(&args)) ||
        !await(p, s, done))
        return false;
    if (!outputs[0]) {
        stet_bundle_prober_end(p, 'X', s, "no result and no error");
        return false;
    }
    return download(p, s, outputs[0]);
}

static bool serialize(struct stet_prober *p)
{
    STET_PROBE_ARGS(PJRT_LoadedExecutable_GetExecutable, get, .loaded_executable = p->loaded);
    STET_PROBE_ASK(PJRT_Executable_Serialize, args);
    ssize_t n;

    stet_bundle_prober_begin(p, STET_STEP_SERIALIZE);
    if (!stet_api_has(p->api, PJRT_Executable_Serialize) ||
        !stet_api_has(p->api, PJRT_Executable_DeserializeAndLoad)) {
        stet_bundle_prober_end(
            p, 'X', STET_STEP_SERIALIZE,
            "the table has no PJRT_Executable_Serialize or DeserializeAndLoad: no cache "
            "can keep what this plugin compiles");
        return false;
    }
    if (!stet_bundle_prober_ok(p, STET_STEP_SERIALIZE, "PJRT_LoadedExecutable_GetExecutable",
                               p->api->PJRT_LoadedExecutable_GetExecutable(&get)))
        return false;
    args.executable = get.executable;
    if (!stet_bundle_prober_ok(p, STET_STEP_SERIALIZE, "PJRT_Executable_Serialize",
                               p->api->PJRT_Executable_Serialize(&args)))
        return false;
    n = pwrite(p->keep, args.serialized_bytes, args.serialized_bytes_size, 0);
    if (n < 0 || (size_t)n != args.serialized_bytes_size || !n) {
        stet_bundle_prober_end(p, 'X', STET_STEP_SERIALIZE, "%zu bytes, which could not be written",
                               args.serialized_bytes_size);
        return false;
    }
    stet_bundle_prober_end(p, 'F', STET_STEP_SERIALIZE, "%zu bytes", args.serialized_bytes_size);
    return true;
}

static bool reload(struct stet_prober *p)
{
    struct stat s;
    STET_PROBE_ARGS(PJRT_Executable_DeserializeAndLoad, args, .client = p->client);
    char *bytes;

    stet_bundle_prober_begin(p, STET_STEP_RELOAD);
    if (fstat(p->keep, &s) != 0 || !(bytes = malloc((size_t)s.st_size + 1)) ||
        pread(p->keep, bytes, (size_t)s.st_size, 0) != s.st_size) {
        stet_bundle_prober_end(p, 'X', STET_STEP_RELOAD, "the written bytes could not be read");
        return false;
    }
    args.serialized_executable = bytes;
    args.serialized_executable_size = (size_t)s.st_size;
    if (!stet_bundle_prober_ok(p, STET_STEP_RELOAD, "PJRT_Executable_DeserializeAndLoad",
                               p->api->PJRT_Executable_DeserializeAndLoad(&args)))
        return false;
    p->loaded = args.loaded_executable;
    stet_bundle_prober_end(p, 'F', STET_STEP_RELOAD, "%lld bytes, in a new process",
                           (long long)s.st_size);
    return true;
}

bool stet_bundle_prober_programs(struct stet_prober *p)
{
    if (p->warm)
        return reload(p) && execute(p, STET_STEP_AGAIN);
    return compile(p) && p->through >= STET_STEP_EXECUTE && execute(p, STET_STEP_EXECUTE) &&
           p->through >= STET_STEP_SERIALIZE && serialize(p);
}
