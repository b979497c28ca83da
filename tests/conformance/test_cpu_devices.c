/* Four devices of libstet_cpu.so, used by many threads at once: programs of all devices and of one,
 * copies between devices, donation. Nothing waits forever, and every value is what it is with one
 * thread. */
#include "harness.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { DEVICES = 4, WIDTH = 1 << 15, THREADS = 4, TURNS = 12 };

/* Row r of the result is row r + 1 of the argument, plus one. Each device has a row, and gives its
 * memory. */
static const char turn[] =
    "module @turn {\n"
    "func.func @main(%a: tensor<4x32768xf32> {tf.aliasing_output = 0 : i32, mhlo.sharding = "
    "\"{devices=[4,1]<=[4]}\"})\n"
    "    -> (tensor<4x32768xf32> {mhlo.sharding = \"{devices=[4,1]<=[4]}\"}) {\n"
    "  %one = stablehlo.constant dense<1.0> : tensor<4x32768xf32>\n"
    "  %top = stablehlo.slice %a [0:1, 0:32768] : (tensor<4x32768xf32>) -> tensor<1x32768xf32>\n"
    "  %rest = stablehlo.slice %a [1:4, 0:32768] : (tensor<4x32768xf32>) -> tensor<3x32768xf32>\n"
    "  %up = stablehlo.concatenate %rest, %top, dim = 0 : (tensor<3x32768xf32>, "
    "tensor<1x32768xf32>) -> "
    "tensor<4x32768xf32>\n"
    "  %sum = stablehlo.add %up, %one : tensor<4x32768xf32>\n"
    "  return %sum : tensor<4x32768xf32>\n"
    "}\n"
    "}\n";

static const char next[] = "module @next {\n"
                           "func.func @main(%a: tensor<1x32768xf32>) -> tensor<1x32768xf32> {\n"
                           "  %one = stablehlo.constant dense<1.0> : tensor<1x32768xf32>\n"
                           "  %sum = stablehlo.add %a, %one : tensor<1x32768xf32>\n"
                           "  return %sum : tensor<1x32768xf32>\n"
                           "}\n"
                           "}\n";

static struct harness h;
static PJRT_Device *const *devices;
static PJRT_LoadedExecutable *on_all, *on_one[DEVICES];
static atomic_int wrong;

static bool fine(PJRT_Error *error)
{
    PJRT_Error_Destroy_Args args = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                    .error = error};

    if (!error)
        return true;
    atomic_fetch_add(&wrong, 1);
    h.api->PJRT_Error_Destroy(&args);
    return false;
}

static PJRT_Buffer *row_on(PJRT_Device *device, float value)
{
    static const int64_t dims[] = {1, WIDTH};
    float *data = malloc(WIDTH * sizeof *data);
    ARGS(PJRT_Client_BufferFromHostBuffer, args, .client = h.client, .data = data,
         .type = PJRT_Buffer_Type_F32, .dims = dims, .num_dims = 2,
         .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
         .device = device);

    for (int i = 0; i < WIDTH; i++)
        data[i] = value;
    fine(h.api->PJRT_Client_BufferFromHostBuffer(&args));
    free(data);
    if (args.done_with_host_buffer) {
        ARGS(PJRT_Event_Destroy, done, .event = args.done_with_host_buffer);

        fine(h.api->PJRT_Event_Destroy(&done));
    }
    return args.buffer;
}

static void drop(PJRT_Buffer *b)
{
    ARGS(PJRT_Buffer_Destroy, args, .buffer = b);

    fine(h.api->PJRT_Buffer_Destroy(&args));
}

static void execute(PJRT_LoadedExecutable *e, PJRT_Buffer **rows, size_t count)
{
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_Buffer *out[DEVICES] = {NULL}, *const * ins[DEVICES], **outs[DEVICES];
    ARGS(PJRT_LoadedExecutable_Execute, args, .executable = e, .options = &options,
         .argument_lists = ins, .num_devices = count, .num_args = 1, .output_lists = outs);

    for (size_t i = 0; i < count; i++)
        ins[i] = &rows[i], outs[i] = &out[i];
    if (!fine(h.api->PJRT_LoadedExecutable_Execute(&args)))
        return;
    for (size_t i = 0; i < count; i++) {
        drop(rows[i]);
        rows[i] = out[i];
    }
}

static PJRT_Buffer *copied(PJRT_Buffer *b, PJRT_Device *to)
{
    ARGS(PJRT_Buffer_CopyToDevice, args, .buffer = b, .dst_device = to);

    fine(h.api->PJRT_Buffer_CopyToDevice(&args));
    drop(b);
    return args.dst_buffer;
}

static void check_row(PJRT_Buffer *b, float value)
{
    float *data = malloc(WIDTH * sizeof *data);
    ARGS(PJRT_Buffer_ToHostBuffer, args, .src = b, .dst = data, .dst_size = WIDTH * sizeof *data);

    if (fine(h.api->PJRT_Buffer_ToHostBuffer(&args))) {
        ARGS(PJRT_Event_Await, await, .event = args.event);
        ARGS(PJRT_Event_Destroy, destroy, .event = args.event);

        fine(h.api->PJRT_Event_Await(&await));
        fine(h.api->PJRT_Event_Destroy(&destroy));
        for (int i = 0; i < WIDTH; i++)
            if (data[i] != value) {
                atomic_fetch_add(&wrong, 1);
                break;
            }
    }
    free(data);
}

/* All devices, then one, whose result goes once around all of them, then all again. */
static void *work(void *arg)
{
    int me = *(int *)arg;
    PJRT_Buffer *rows[DEVICES];
    float values[DEVICES];

    for (int i = 0; i < DEVICES; i++)
        rows[i] = row_on(devices[i], values[i] = (float)(10 * me + i));
    for (int t = 0; t < TURNS; t++) {
        float top = values[0];
        int at = (me + t) % DEVICES;

        execute(on_all, rows, DEVICES);
        for (int i = 0; i < DEVICES; i++)
            values[i] = (i + 1 < DEVICES ? values[i + 1] : top) + 1;
        for (int i = 0; i < DEVICES; i++) {
            execute(on_one[(at + i) % DEVICES], &rows[at], 1);
            values[at] += 1;
            rows[at] = copied(rows[at], devices[(at + i + 1) % DEVICES]);
        }
    }
    for (int i = 0; i < DEVICES; i++) {
        check_row(rows[i], values[i]);
        drop(rows[i]);
    }
    return NULL;
}

static void open_four(void)
{
    static const char all[] = "\x1a\x02\x28\x04"; /* executable_build_options: num_partitions 4 */
    ARGS(PJRT_Client_AddressableDevices, args, );

    setenv("STET_CPU_DEVICES", "4", 1);
    EXPECT(harness_open(&h, STET_CPU_PLUGIN));
    EXPECT(harness_initialize(&h));
    EXPECT(harness_client(&h, NULL, 0));
    args.client = h.client;
    EXPECT(harness_ok(&h, h.api->PJRT_Client_AddressableDevices(&args)));
    EXPECT_INT(DEVICES, args.num_addressable_devices);
    devices = args.addressable_devices;
    on_all = harness_compile(&h, turn, strlen(turn), "mlir", all, 4);
    EXPECT(on_all);
    for (int i = 0; i < DEVICES; i++) {
        /* device_assignment: one computation of one replica */
        const char one[] = {0x1a, 7, 0x4a, 5, 0x1a, 3, 0x0a, 1, (char)i};

        on_one[i] = harness_compile(&h, next, strlen(next), "mlir", one, sizeof one);
        EXPECT(on_one[i]);
    }
}

TEST(threads_share_the_devices_without_waiting_forever)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    open_four();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        EXPECT(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT_INT(0, atomic_load(&wrong));
    harness_loaded_destroy(&h, on_all);
    for (int i = 0; i < DEVICES; i++)
        harness_loaded_destroy(&h, on_one[i]);
    harness_client_destroy(&h);
}

TEST(a_wrong_number_of_devices_is_refused)
{
    static const char *const wrong_numbers[] = {"0", "-4", "32769", "four", "4 "};
    struct harness other;

    for (size_t i = 0; i < sizeof wrong_numbers / sizeof *wrong_numbers; i++) {
        setenv("STET_CPU_DEVICES", wrong_numbers[i], 1);
        EXPECT(harness_open(&other, STET_CPU_PLUGIN));
        EXPECT(harness_initialize(&other));
        EXPECT(!harness_client(&other, NULL, 0));
        EXPECT(strstr(other.text, "not a number from 1 to 32768") != NULL);
    }
}
