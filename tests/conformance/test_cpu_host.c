/* libstet_cpu.so and the host: callbacks of a running program, the host's memory, integers of four
 * bits. */
#include "harness.h"
#include "test.h"

#include <stdlib.h>

/* Three turns of a loop whose results nobody reads, then a tensor there and back. The size of the
 * second argument decides whether the program runs in the caller's thread. */
static const char program[] =
    "module @talk {\n"
    "func.func @main(%x: tensor<3xf32>, %more: tensor<1xf32>) -> tensor<3xf32> {\n"
    "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
    "  %turns = stablehlo.constant dense<3> : tensor<i32>\n"
    "  %t = stablehlo.create_token : !stablehlo.token\n"
    "  %w = stablehlo.while(%i = %zero) : tensor<i32>\n"
    "  cond {\n"
    "    %c = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n"
    "  } do {\n"
    "    %a = stablehlo.add %i, %one : tensor<i32>\n"
    "    %u = stablehlo.create_token : !stablehlo.token\n"
    "    %v = \"stablehlo.send\"(%a, %u) <{channel_handle = #stablehlo.channel_handle<handle = 7,\n"
    "      type = 2>, is_host_transfer = true}> : (tensor<i32>, !stablehlo.token)\n"
    "      -> !stablehlo.token\n"
    "    stablehlo.return %a : tensor<i32>\n"
    "  }\n"
    "  %y = stablehlo.add %x, %x : tensor<3xf32>\n"
    "  %s = \"stablehlo.send\"(%y, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1,\n"
    "    type = 2>, is_host_transfer = true}> : (tensor<3xf32>, !stablehlo.token)\n"
    "    -> !stablehlo.token\n"
    "  %r:2 = \"stablehlo.recv\"(%s) <{channel_handle = #stablehlo.channel_handle<handle = 2,\n"
    "    type = 3>, is_host_transfer = true}> : (!stablehlo.token)\n"
    "    -> (tensor<3xf32>, !stablehlo.token)\n"
    "  %z = stablehlo.negate %r#0 : tensor<3xf32>\n"
    "  return %z : tensor<3xf32>\n"
    "}\n"
    "}\n";

/* The program with one part of it replaced. */
static void edit(char *text, size_t size, const char *from, const char *to)
{
    const char *at = strstr(program, from);

    EXPECT(at);
    snprintf(text, size, "%.*s%s%s", (int)(at - program), program, to, at + strlen(from));
}

enum { BYTES = 12 };

/* What the callbacks saw, and what they are to do. */
struct listener {
    const PJRT_Api *api;
    float got[3];
    int32_t turns[4];
    size_t turn_count, pieces; /* the result comes in so many chunks */
    bool fail, silent;
};

static PJRT_Error *on_turn(PJRT_Chunk *chunk, PJRT_CallbackError *error, size_t total, bool done,
                           void *arg)
{
    struct listener *l = arg;

    (void)error;
    EXPECT(done && total == sizeof(int32_t) && chunk->size == total);
    EXPECT(l->turn_count < 4);
    memcpy(&l->turns[l->turn_count++], chunk->data, sizeof(int32_t));
    chunk->deleter(chunk->data, chunk->deleter_arg);
    return NULL;
}

static PJRT_Error *on_send(PJRT_Chunk *chunk, PJRT_CallbackError *error, size_t total, bool done,
                           void *arg)
{
    static const char text[] = "ValueError: no";
    struct listener *l = arg;

    EXPECT(done && total == BYTES && chunk->size == BYTES);
    memcpy(l->got, chunk->data, BYTES);
    chunk->deleter(chunk->data, chunk->deleter_arg);
    return l->fail ? (*error)(PJRT_Error_Code_ABORTED, text, sizeof text - 1) : NULL;
}

/* Gives back what came, in pieces. */
static void on_receive(PJRT_CopyToDeviceStream *stream, void *arg)
{
    struct listener *l = arg;
    struct harness h = {.api = l->api};
    ARGS(PJRT_CopyToDeviceStream_TotalBytes, total, .stream = stream);
    ARGS(PJRT_CopyToDeviceStream_GranuleSize, granule, .stream = stream);
    ARGS(PJRT_CopyToDeviceStream_CurrentBytes, now, .stream = stream);
    ARGS(PJRT_CopyToDeviceStream_Destroy, destroy, .stream = stream);

    EXPECT(harness_ok(&h, l->api->PJRT_CopyToDeviceStream_TotalBytes(&total)));
    EXPECT(harness_ok(&h, l->api->PJRT_CopyToDeviceStream_GranuleSize(&granule)));
    EXPECT(total.total_bytes == BYTES && granule.granule_size_in_bytes > 0);
    for (size_t i = 0; i < l->pieces && !l->silent; i++) {
        size_t size = BYTES / l->pieces;
        PJRT_Chunk chunk = {.data = (char *)l->got + i * size, .size = size};
        ARGS(PJRT_CopyToDeviceStream_AddChunk, add, .stream = stream, .chunk = &chunk);

        EXPECT(harness_ok(&h, l->api->PJRT_CopyToDeviceStream_AddChunk(&add)));
        ARGS(PJRT_Event_Destroy, event, .event = add.transfer_complete);
        EXPECT(harness_ok(&h, l->api->PJRT_Event_Destroy(&event)));
        EXPECT(harness_ok(&h, l->api->PJRT_CopyToDeviceStream_CurrentBytes(&now)));
        EXPECT_INT((i + 1) * size, now.current_bytes);
    }
    if (!l->silent) { /* one more byte than was asked for */
        PJRT_Chunk chunk = {.data = l->got, .size = 1};
        ARGS(PJRT_CopyToDeviceStream_AddChunk, add, .stream = stream, .chunk = &chunk);

        EXPECT(!harness_ok(&h, l->api->PJRT_CopyToDeviceStream_AddChunk(&add)));
    }
    EXPECT(harness_ok(&h, l->api->PJRT_CopyToDeviceStream_Destroy(&destroy)));
}

static void open_cpu(struct harness *h)
{
    EXPECT(harness_open(h, STET_CPU_PLUGIN));
    EXPECT(harness_initialize(h));
    EXPECT(harness_client(h, NULL, 0));
}

static const char more_short[] = "more: tensor<1xf32>", more_long[] = "more: tensor<20000xf32>";

/* The result, the caller's; NULL and h->text when the run failed: the call, if it is short. */
static float *talk(struct harness *h, struct listener *l, bool with_callbacks, bool is_long)
{
    int64_t dims = 3, more = is_long ? 20000 : 1;
    char text[sizeof program + 64];
    PJRT_LoadedExecutable *loaded;
    PJRT_Buffer *in[] = {
        harness_buffer(h, PJRT_Buffer_Type_F32, &dims, 1, BYTES, 3),
        harness_buffer(h, PJRT_Buffer_Type_F32, &more, 1, sizeof(float) * (size_t)more, 3)};
    PJRT_Buffer *out = NULL, *const *ins = in, **outs = &out;
    PJRT_SendCallbackInfo sends[] = {{7, l, on_turn}, {1, l, on_send}}, *send = sends;
    PJRT_RecvCallbackInfo receives[] = {{2, l, on_receive}}, *receive = receives;
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    size_t size;
    float *got = NULL;
    bool ok;

    edit(text, sizeof text, more_short, is_long ? more_long : more_short);
    loaded = harness_compile(h, text, strlen(text), "mlir", NULL, 0);
    EXPECT(loaded && in[0] && in[1]);
    l->api = h->api;
    if (with_callbacks) {
        options.send_callbacks = &send;
        options.num_send_ops = 2;
        options.recv_callbacks = &receive;
        options.num_recv_ops = 1;
    }
    ARGS(PJRT_LoadedExecutable_Execute, args, .executable = loaded, .options = &options,
         .argument_lists = &ins, .num_devices = 1, .num_args = 2, .output_lists = &outs);
    ok = harness_ok(h, h->api->PJRT_LoadedExecutable_Execute(&args));
    EXPECT(ok || !is_long);
    memset(sends, 0, sizeof sends); /* the lists are the caller's again */
    memset(receives, 0, sizeof receives);
    if (ok) {
        got = (float *)(void *)harness_read(h, out, &size);
        EXPECT(got || is_long);
        harness_buffer_destroy(h, out);
    }
    harness_buffer_destroy(h, in[0]);
    harness_buffer_destroy(h, in[1]);
    harness_loaded_destroy(h, loaded);
    return got;
}

TEST(host_callbacks_run_in_program_order)
{
    struct harness h;

    open_cpu(&h);
    for (size_t pieces = 1; pieces <= 3; pieces++) {
        struct listener l = {.pieces = pieces};
        float *got = talk(&h, &l, true, pieces == 2);

        EXPECT(got);
        EXPECT_INT(3, l.turn_count);
        for (int i = 0; i < 3; i++) {
            float back = -l.got[i];

            EXPECT_INT(i + 1, l.turns[i]);
            EXPECT(memcmp(&got[i], &back, sizeof back) == 0);
        }
        free(got);
    }
    harness_client_destroy(&h);
}

TEST(a_callback_that_fails_fails_the_call_or_later_the_results)
{
    struct harness h;

    open_cpu(&h);
    for (int is_long = 0; is_long < 2; is_long++) {
        struct listener failing = {.fail = true}, silent = {.silent = true}, none = {0};

        EXPECT(!talk(&h, &failing, true, is_long));
        EXPECT_INT(PJRT_Error_Code_ABORTED, h.code);
        EXPECT_STR("ValueError: no", h.text);
        EXPECT(!talk(&h, &silent, true, is_long));
        EXPECT(strstr(h.text, "a callback gave no result"));
        EXPECT(!talk(&h, &none, false, is_long));
        EXPECT(strstr(h.text, "no callback was given for channel 7"));
    }
    harness_client_destroy(&h);
}

TEST(transfers_between_devices_and_misshapen_ones_are_refused)
{
    static const struct {
        const char *from, *to, *says;
    } cases[] = {
        {"type = 2>, is_host_transfer = true}> : (tensor<3xf32>", "type = 1>}> : (tensor<3xf32>",
         "a transfer between devices"},
        {"(%y, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1,\n"
         "    type = 2>, is_host_transfer = true}> : (tensor<3xf32>, !stablehlo.token)",
         "(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1,\n"
         "    type = 2>, is_host_transfer = true}> : (!stablehlo.token)",
         "one tensor and a token are needed"},
    };
    struct harness h;

    open_cpu(&h);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[sizeof program + 64];

        edit(text, sizeof text, cases[i].from, cases[i].to);
        EXPECT(!harness_compile(&h, text, strlen(text), "mlir", NULL, 0));
        EXPECT(strstr(h.text, "talk: stablehlo.") && strstr(h.text, cases[i].says));
    }
    harness_client_destroy(&h);
}

static int64_t in_use(struct harness *h)
{
    ARGS(PJRT_Client_AddressableDevices, devices, .client = h->client);
    ARGS(PJRT_Device_MemoryStats, stats, );

    EXPECT(harness_ok(h, h->api->PJRT_Client_AddressableDevices(&devices)));
    stats.device = devices.addressable_devices[0];
    EXPECT(harness_ok(h, h->api->PJRT_Device_MemoryStats(&stats)));
    return stats.bytes_in_use;
}

static PJRT_Memory *memory_of(struct harness *h, PJRT_Buffer *b)
{
    ARGS(PJRT_Buffer_Memory, args, .buffer = b);

    EXPECT(harness_ok(h, h->api->PJRT_Buffer_Memory(&args)));
    return args.memory;
}

TEST(memory_of_the_host_is_not_counted_as_the_devices)
{
    static const char *const kinds[] = {"device", "pinned_host"};
    static const char there[] =
        "func.func @main(%x: tensor<3xf32> {tf.aliasing_output = 0 : i32})\n"
        "    -> (tensor<3xf32> {mhlo.memory_kind = \"pinned_host\"}) {\n"
        "  return %x : tensor<3xf32>\n"
        "}\n";
    static const int64_t dims[] = {3};
    PJRT_LoadedExecutable *loaded;
    PJRT_Buffer *in, *out = NULL;
    struct harness h;

    open_cpu(&h);
    ARGS(PJRT_Client_AddressableMemories, all, .client = h.client);
    EXPECT(harness_ok(&h, h.api->PJRT_Client_AddressableMemories(&all)));
    EXPECT_INT(2, all.num_addressable_memories);
    for (size_t i = 0; i < 2; i++) {
        ARGS(PJRT_Memory_Kind, kind, .memory = all.addressable_memories[i]);

        EXPECT(harness_ok(&h, h.api->PJRT_Memory_Kind(&kind)));
        EXPECT(strlen(kinds[i]) == kind.kind_size && !memcmp(kinds[i], kind.kind, kind.kind_size));
    }
    loaded = harness_compile(&h, there, strlen(there), "mlir", NULL, 0);
    in = harness_buffer(&h, PJRT_Buffer_Type_F32, dims, 1, BYTES, 3);
    EXPECT(memory_of(&h, in) == all.addressable_memories[0]);
    EXPECT_INT(BYTES, in_use(&h));
    EXPECT(loaded && harness_execute(&h, loaded, &in, 1, &out)); /* moved, though it was donated */
    EXPECT(memory_of(&h, out) == all.addressable_memories[1]);
    EXPECT_INT(0, in_use(&h));
    ARGS(PJRT_Buffer_CopyToMemory, back, .buffer = out, .dst_memory = all.addressable_memories[0]);
    EXPECT(harness_ok(&h, h.api->PJRT_Buffer_CopyToMemory(&back)));
    EXPECT(memory_of(&h, back.dst_buffer) == all.addressable_memories[0]);
    EXPECT_INT(BYTES, in_use(&h));
    harness_buffer_destroy(&h, back.dst_buffer);
    harness_buffer_destroy(&h, in);
    harness_buffer_destroy(&h, out);
    EXPECT_INT(0, in_use(&h));
    harness_loaded_destroy(&h, loaded);
    harness_client_destroy(&h);
}

/* A host keeps them in the low half of a byte, and any bits in the other half. */
TEST(four_bits_of_a_byte_are_read)
{
    static const char widen[] = "func.func @main(%x: tensor<4xi4>, %y: tensor<4xui4>)\n"
                                "    -> (tensor<4xi32>, tensor<4xi32>) {\n"
                                "  %a = stablehlo.convert %x : (tensor<4xi4>) -> tensor<4xi32>\n"
                                "  %b = stablehlo.convert %y : (tensor<4xui4>) -> tensor<4xi32>\n"
                                "  return %a, %b : tensor<4xi32>, tensor<4xi32>\n"
                                "}\n";
    static const unsigned char host[] = {0x08, 0xf8, 0x37, 0xff};
    static const int32_t want[2][4] = {{-8, -8, 7, -1}, {8, 8, 7, 15}};
    static const int64_t dims[] = {4};
    PJRT_LoadedExecutable *loaded;
    PJRT_Buffer *in[2], *out[2];
    struct harness h;
    size_t size;

    open_cpu(&h);
    loaded = harness_compile(&h, widen, strlen(widen), "mlir", NULL, 0);
    for (int i = 0; i < 2; i++) {
        ARGS(PJRT_Client_BufferFromHostBuffer, make, .client = h.client, .data = host,
             .type = i ? PJRT_Buffer_Type_U4 : PJRT_Buffer_Type_S4, .dims = dims, .num_dims = 1);

        EXPECT(harness_ok(&h, h.api->PJRT_Client_BufferFromHostBuffer(&make)));
        ARGS(PJRT_Event_Destroy, event, .event = make.done_with_host_buffer);
        EXPECT(harness_ok(&h, h.api->PJRT_Event_Destroy(&event)));
        in[i] = make.buffer;
    }
    EXPECT(loaded && harness_execute(&h, loaded, in, 2, out));
    for (int i = 0; i < 2; i++) {
        unsigned char *got = harness_read(&h, out[i], &size);

        EXPECT(got && size == sizeof want[i] && memcmp(got, want[i], size) == 0);
        free(got);
        harness_buffer_destroy(&h, in[i]);
        harness_buffer_destroy(&h, out[i]);
    }
    harness_loaded_destroy(&h, loaded);
    harness_client_destroy(&h);
}
