/* libstet_cpu.so keeps no more memory than the programs that run: launches that wait take none,
 * batches of launches that wait are few, and what is no longer used goes back to the system. */
#include "harness.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MB = 1 << 20 };

static void open_cpu(struct harness *h)
{
    EXPECT(harness_open(h, STET_CPU_PLUGIN));
    EXPECT(harness_initialize(h));
    EXPECT(harness_client(h, NULL, 0));
}

/* A program of so many steps on `rows` MB: launching it takes less time than running it. */
static PJRT_LoadedExecutable *compile_slow(struct harness *h, int rows, int steps)
{
    char code[8192];
    size_t n = (size_t)snprintf(code, sizeof code,
                                "module @slow { func.func @main(%%v0: tensor<%dx262144xf32>) -> "
                                "tensor<%dx262144xf32> {\n",
                                rows, rows);

    for (int i = 0; i < steps; i++)
        n += (size_t)snprintf(code + n, sizeof code - n,
                              "%%v%d = stablehlo.tanh %%v%d : tensor<%dx262144xf32>\n", i + 1, i,
                              rows);
    n += (size_t)snprintf(code + n, sizeof code - n, "return %%v%d : tensor<%dx262144xf32> } }",
                          steps, rows);
    return harness_compile(h, code, n, "mlir", NULL, 0);
}

/* Without waiting for the result. */
static PJRT_Buffer *launch(struct harness *h, PJRT_LoadedExecutable *loaded, PJRT_Buffer *in)
{
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_Buffer *out = NULL, **outputs = &out, *const *inputs = &in;
    ARGS(PJRT_LoadedExecutable_Execute, args, .executable = loaded, .options = &options,
         .argument_lists = &inputs, .num_devices = 1, .num_args = 1, .output_lists = &outputs);

    EXPECT(harness_ok(h, h->api->PJRT_LoadedExecutable_Execute(&args)));
    return out;
}

static PJRT_Device *device(struct harness *h)
{
    ARGS(PJRT_Client_AddressableDevices, devices, .client = h->client);

    EXPECT(harness_ok(h, h->api->PJRT_Client_AddressableDevices(&devices)));
    return devices.addressable_devices[0];
}

static PJRT_Device_MemoryStats_Args memory(struct harness *h)
{
    ARGS(PJRT_Device_MemoryStats, args, .device = device(h));

    EXPECT(harness_ok(h, h->api->PJRT_Device_MemoryStats(&args)));
    return args;
}

static PJRT_Buffer *batch(struct harness *h, int rows)
{
    int64_t dims[2] = {rows, 262144};
    ARGS(PJRT_Client_CreateUninitializedBuffer, args, .client = h->client, .shape_dims = dims,
         .shape_num_dims = 2, .shape_element_type = PJRT_Buffer_Type_F32, .device = device(h));

    EXPECT(harness_ok(h, h->api->PJRT_Client_CreateUninitializedBuffer(&args)));
    return args.buffer;
}

/* A launch gives its arguments back after its results are ready; the test's own limit ends this. */
static void wait_until_nothing_is_in_use(struct harness *h)
{
    while (memory(h).bytes_in_use)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Each result is the next launch's argument, as in a training loop that reads nothing. */
TEST(launches_that_wait_take_no_memory)
{
    PJRT_LoadedExecutable *loaded;
    PJRT_Buffer *state;
    struct harness h;
    size_t size;

    open_cpu(&h);
    loaded = compile_slow(&h, 4, 12);
    EXPECT(loaded);
    state = batch(&h, 4);
    for (int i = 0; i < 20; i++) {
        PJRT_Buffer *next = launch(&h, loaded, state);

        harness_buffer_destroy(&h, state);
        state = next;
    }
    free(harness_read(&h, state, &size));
    EXPECT_INT(4 * MB, size);
    EXPECT(memory(&h).peak_bytes_in_use <= 3 * 4 * MB);
    harness_buffer_destroy(&h, state);
    wait_until_nothing_is_in_use(&h);
    harness_loaded_destroy(&h, loaded);
    harness_client_destroy(&h);
}

TEST(batches_of_launches_that_wait_are_bounded)
{
    PJRT_LoadedExecutable *loaded;
    PJRT_Buffer *last = NULL;
    struct harness h;
    size_t size;

    open_cpu(&h);
    /* A launch waits for ten seconds at most: little work, for busy machines. */
    loaded = compile_slow(&h, 32, 1);
    EXPECT(loaded);
    for (int i = 0; i < 16; i++) {
        PJRT_Buffer *in = batch(&h, 32);

        harness_buffer_destroy(&h, last);
        last = launch(&h, loaded, in);
        harness_buffer_destroy(&h, in);
    }
    free(harness_read(&h, last, &size));
    /* 256 MB of batches that are given up, the one that is over it, the next one, and results */
    EXPECT(memory(&h).peak_bytes_in_use <= (256 + 4 * 32) * (int64_t)MB);
    harness_buffer_destroy(&h, last);
    harness_loaded_destroy(&h, loaded);
    harness_client_destroy(&h);
}

TEST(unused_memory_goes_back)
{
    PJRT_LoadedExecutable *loaded;
    PJRT_Buffer *in, *out;
    struct harness h;
    size_t size;

    open_cpu(&h);
    loaded = compile_slow(&h, 64, 12);
    EXPECT(loaded);
    in = batch(&h, 64);
    out = launch(&h, loaded, in);
    free(harness_read(&h, out, &size));
    EXPECT_INT(128 * (int64_t)MB, memory(&h).bytes_in_use);
    harness_buffer_destroy(&h, in);
    harness_buffer_destroy(&h, out);
    wait_until_nothing_is_in_use(&h);
    /* kept for the next launch, then given back; the test's own limit ends this */
    while (memory(&h).pool_bytes > 32 * MB)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    harness_loaded_destroy(&h, loaded);
    harness_client_destroy(&h);
}
