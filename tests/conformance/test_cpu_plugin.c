/* libstet_cpu.so keeps its promises to callers: options, donation, memory, stored executables. */
#include "abi/pjrt_ext.h"
#include "base/fs.h"
#include "decode/decode.h"
#include "harness.h"
#include "test.h"

#include <stdlib.h>

static const int64_t dims[] = {2, 3};
enum { BYTES = 24 };

static const char step[] = /* the first argument is given up for the first result */
    "module @step {\n"
    "func.func @main(%w: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}, %g: tensor<2x3xf32>)\n"
    "    -> (tensor<2x3xf32>, tensor<2x3xf32>) {\n"
    "  %sum = stablehlo.add %w, %g : tensor<2x3xf32>\n"
    "  %product = stablehlo.multiply %sum, %sum : tensor<2x3xf32>\n"
    "  return %sum, %product : tensor<2x3xf32>, tensor<2x3xf32>\n"
    "}\n"
    "}\n";

static const char hlo_step[] = /* the same, as PyTorch/XLA says it */
    "HloModule step, input_output_alias={ {0}: (0, {}, must-alias) }, "
    "entry_computation_layout={(f32[2,3]{1,0}, f32[2,3]{1,0})->(f32[2,3]{1,0}, f32[2,3]{1,0})}\n"
    "\n"
    "ENTRY main {\n"
    "  w = f32[2,3]{1,0} parameter(0)\n"
    "  g = f32[2,3]{1,0} parameter(1)\n"
    "  sum = f32[2,3]{1,0} add(w, g)\n"
    "  product = f32[2,3]{1,0} multiply(sum, sum)\n"
    "  ROOT out = (f32[2,3]{1,0}, f32[2,3]{1,0}) tuple(sum, product)\n"
    "}\n";

static void open_cpu(struct harness *h)
{
    EXPECT(harness_open(h, STET_CPU_PLUGIN));
    EXPECT(harness_initialize(h));
    EXPECT(harness_client(h, NULL, 0));
}

static PJRT_LoadedExecutable *compile(struct harness *h, const char *code)
{
    return harness_compile(h, code, strlen(code), "mlir", NULL, 0);
}

static PJRT_Buffer *input(struct harness *h, unsigned seed)
{
    return harness_buffer(h, PJRT_Buffer_Type_F32, dims, 2, BYTES, seed);
}

static void destroy_all(struct harness *h, PJRT_Buffer **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        harness_buffer_destroy(h, list[i]);
}

static bool deleted(struct harness *h, PJRT_Buffer *b)
{
    ARGS(PJRT_Buffer_IsDeleted, args, .buffer = b);

    EXPECT(harness_ok(h, h->api->PJRT_Buffer_IsDeleted(&args)));
    return args.is_deleted;
}

static uintptr_t address(struct harness *h, PJRT_Buffer *b)
{
    ARGS(PJRT_Buffer_UnsafePointer, args, .buffer = b);

    EXPECT(harness_ok(h, h->api->PJRT_Buffer_UnsafePointer(&args)));
    return args.buffer_pointer;
}

static PJRT_Device_MemoryStats_Args memory(struct harness *h)
{
    ARGS(PJRT_Client_AddressableDevices, devices, .client = h->client);
    ARGS(PJRT_Device_MemoryStats, args, );

    EXPECT(harness_ok(h, h->api->PJRT_Client_AddressableDevices(&devices)));
    args.device = devices.addressable_devices[0];
    EXPECT(harness_ok(h, h->api->PJRT_Device_MemoryStats(&args)));
    return args;
}

TEST(options_that_need_more_devices_are_refused_by_name)
{
    /* CompileOptionsProto: executable_build_options is 3; in it device_ordinal 1, num_replicas 4,
     * num_partitions 5, device_assignment 9 */
    static const struct {
        const char *bytes;
        size_t size;
        const char *option; /* NULL: fine */
    } cases[] = {
        {"", 0, NULL},
        {"\x1a\x04\x20\x01\x28\x01", 6, NULL},
        {"\x1a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13, NULL}, /* any device: -1 */
        {"\x1a\x02\x20\x02", 4, "num_replicas is 2"},
        {"\x1a\x02\x28\x04", 4, "num_partitions is 4"},
        {"\x1a\x02\x08\x01", 4, "device_ordinal is 1"},
        {"\x1a\x07\x4a\x05\x1a\x03\x0a\x01\x00", 9, NULL},
        {"\x1a\x07\x4a\x05\x1a\x03\x0a\x01\x03", 9, "device_assignment is 3"},
        {"\x1a\x7f\x28", 3, "compile options"},
    };
    struct harness h;

    open_cpu(&h);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PJRT_LoadedExecutable *loaded =
            harness_compile(&h, step, strlen(step), "mlir", cases[i].bytes, cases[i].size);

        EXPECT((loaded == NULL) == (cases[i].option != NULL));
        if (loaded)
            harness_loaded_destroy(&h, loaded);
        else
            EXPECT(strstr(h.text, cases[i].option ? cases[i].option : "?"));
    }
    harness_client_destroy(&h);
}

/* A donated argument is gone for the caller, and the result lies where it lay. */
static void donation(const char *code)
{
    PJRT_Buffer *in[2], *out[2];
    PJRT_LoadedExecutable *loaded;
    struct harness h;
    uintptr_t before;
    float *sum, *product;
    size_t size;

    open_cpu(&h);
    loaded = compile(&h, code);
    EXPECT(loaded);
    for (unsigned i = 0; i < 2; i++)
        in[i] = input(&h, i);
    before = address(&h, in[0]);
    EXPECT(harness_execute(&h, loaded, in, 2, out));
    EXPECT(deleted(&h, in[0]) && !deleted(&h, in[1]));
    EXPECT(address(&h, out[0]) == before && address(&h, out[1]) != before);
    sum = (float *)(void *)harness_read(&h, out[0], &size);
    product = (float *)(void *)harness_read(&h, out[1], &size);
    for (size_t i = 0; i < 6; i++) {
        float want = sum[i] * sum[i];

        EXPECT(memcmp(&product[i], &want, sizeof want) == 0 || want != want);
    }
    free(sum);
    free(product);
    EXPECT(!harness_execute(&h, loaded, in, 2, out + 1));
    EXPECT(strstr(h.text, "argument 0 of step was deleted or donated"));
    EXPECT(harness_read(&h, in[0], &size) == NULL);
    destroy_all(&h, in, 2);
    destroy_all(&h, out, 2);
    harness_loaded_destroy(&h, loaded);
    EXPECT_INT(0, memory(&h).bytes_in_use);
    harness_client_destroy(&h);
}

TEST(a_donated_argument_becomes_the_result)
{
    donation(step);
}

TEST(aliasing_in_hlo_is_donation_too)
{
    donation(hlo_step);
}

TEST(an_argument_that_is_kept_out_of_donation_stays)
{
    const int64_t keep[] = {0};
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
                                   .non_donatable_input_indices = keep,
                                   .num_non_donatable_input_indices = 1};
    PJRT_Buffer *in[2], *out[2], *const *ins = in, **outs = out;
    PJRT_LoadedExecutable *loaded;
    unsigned char *before, *after;
    struct harness h;
    size_t size;

    open_cpu(&h);
    loaded = compile(&h, step);
    for (unsigned i = 0; i < 2; i++)
        in[i] = input(&h, i);
    before = harness_read(&h, in[0], &size);
    ARGS(PJRT_LoadedExecutable_Execute, args, .executable = loaded, .options = &options,
         .argument_lists = &ins, .num_devices = 1, .num_args = 2, .output_lists = &outs);
    EXPECT(harness_ok(&h, h.api->PJRT_LoadedExecutable_Execute(&args)));
    EXPECT(!deleted(&h, in[0]));
    EXPECT(address(&h, out[0]) != address(&h, in[0]));
    after = harness_read(&h, in[0], &size);
    EXPECT(before && after && memcmp(before, after, size) == 0);
    free(before);
    free(after);
    destroy_all(&h, in, 2);
    destroy_all(&h, out, 2);
    harness_loaded_destroy(&h, loaded);
    harness_client_destroy(&h);
}

TEST(arguments_of_another_size_are_refused_with_both_shapes)
{
    const int64_t other[] = {2, 4}, flat[] = {6};
    PJRT_LoadedExecutable *loaded;
    PJRT_Buffer *in[2], *out[2];
    struct harness h;

    open_cpu(&h);
    loaded = compile(&h, step);
    in[0] = harness_buffer(&h, PJRT_Buffer_Type_F32, other, 2, 32, 0);
    in[1] = harness_buffer(&h, PJRT_Buffer_Type_F32, flat, 1, BYTES, 1);
    EXPECT(!harness_execute(&h, loaded, in, 2, out));
    EXPECT_STR(
        "stet cpu: argument 0 of step is f32[2,4], but the program was compiled for f32[2,3]",
        h.text);
    harness_buffer_destroy(&h, in[0]);
    in[0] = input(&h, 0);
    EXPECT(harness_execute(&h, loaded, in, 2, out)); /* f32[6] has as many elements */
    destroy_all(&h, in, 2);
    destroy_all(&h, out, 2);
    harness_loaded_destroy(&h, loaded);
    harness_client_destroy(&h);
}

TEST(memory_statistics_are_true)
{
    const int64_t large[] = {1 << 20};
    PJRT_Device_MemoryStats_Args m;
    struct harness h;
    PJRT_Buffer *b;

    open_cpu(&h);
    EXPECT_INT(0, memory(&h).bytes_in_use);
    b = harness_buffer(&h, PJRT_Buffer_Type_F32, large, 1, 4 << 20, 0);
    m = memory(&h);
    EXPECT_INT(4 << 20, m.bytes_in_use);
    EXPECT(m.num_allocs_is_set && m.num_allocs == 1);
    EXPECT(m.bytes_limit_is_set && m.bytes_limit > (64 << 20));
    harness_buffer_destroy(&h, b);
    m = memory(&h);
    EXPECT_INT(0, m.bytes_in_use);
    EXPECT(m.peak_bytes_in_use_is_set && m.peak_bytes_in_use == 4 << 20);
    EXPECT(m.largest_alloc_size_is_set && m.largest_alloc_size == 4 << 20);
    harness_client_destroy(&h);
}

TEST(temporaries_count_at_the_peak)
{
    static const char program[] = /* 32 KB in, 32 KB out, 16 MB between */
        "func.func @main(%x: tensor<2048x4xf32>) -> tensor<2048x4xf32> {\n"
        "  %p = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] :\n"
        "    (tensor<2048x4xf32>, tensor<2048x4xf32>) -> tensor<2048x2048xf32>\n"
        "  %y = stablehlo.dot_general %p, %x, contracting_dims = [1] x [0] :\n"
        "    (tensor<2048x2048xf32>, tensor<2048x4xf32>) -> tensor<2048x4xf32>\n"
        "  return %y : tensor<2048x4xf32>\n"
        "}\n";
    const int64_t shape[] = {2048, 4};
    PJRT_LoadedExecutable *loaded;
    PJRT_Device_MemoryStats_Args m;
    PJRT_Buffer *in, *out;
    struct harness h;

    open_cpu(&h);
    loaded = compile(&h, program);
    in = harness_buffer(&h, PJRT_Buffer_Type_F32, shape, 2, 32768, 0);
    EXPECT(harness_execute(&h, loaded, &in, 1, &out));
    m = memory(&h);
    EXPECT_INT(65536, m.bytes_in_use);
    EXPECT(m.peak_bytes_in_use >= 65536 + (16 << 20));
    EXPECT(m.pool_bytes_is_set && m.pool_bytes >= 65536 + (16 << 20));
    destroy_all(&h, &in, 1);
    destroy_all(&h, &out, 1);
    harness_loaded_destroy(&h, loaded);
    harness_client_destroy(&h);
}

TEST(a_stored_executable_does_the_same)
{
    static const char *const codes[] = {step, hlo_step};
    struct harness h;

    open_cpu(&h);
    for (size_t i = 0; i < 2; i++) {
        PJRT_LoadedExecutable *loaded = compile(&h, codes[i]), *again;
        PJRT_Executable *executable = harness_executable(&h, loaded);
        unsigned char *result[2];
        size_t size = 0, n;
        char *bytes = harness_serialize(&h, executable, &size);

        again = harness_deserialize(&h, bytes, size);
        EXPECT(again);
        for (int k = 0; k < 2; k++) {
            PJRT_Buffer *in[] = {input(&h, 3), input(&h, 4)}, *out[2];

            EXPECT(harness_execute(&h, k ? again : loaded, in, 2, out));
            result[k] = harness_read(&h, out[1], &n);
            destroy_all(&h, in, 2);
            destroy_all(&h, out, 2);
        }
        EXPECT(memcmp(result[0], result[1], n) == 0);
        free(result[0]);
        free(result[1]);
        for (size_t at = 0; at < size; at++) { /* damage is found, wherever it is */
            bytes[at] ^= 0x10;
            EXPECT(!harness_deserialize(&h, bytes, size));
            bytes[at] ^= 0x10;
        }
        for (size_t cut = 0; cut < size; cut += 7)
            EXPECT(!harness_deserialize(&h, bytes, cut));
        free(bytes);
        harness_executable_destroy(&h, executable);
        harness_loaded_destroy(&h, again);
        harness_loaded_destroy(&h, loaded);
    }
    harness_client_destroy(&h);
}

/* The answer of OptimizedProgram, asked for its size and then for its bytes; the caller's. */
static char *optimized(struct harness *h, PJRT_LoadedExecutable *loaded, size_t *size)
{
    PJRT_Executable *executable = harness_executable(h, loaded);
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE};
    ARGS(PJRT_Executable_OptimizedProgram, args, .executable = executable, .program = &program);

    EXPECT(harness_ok(h, h->api->PJRT_Executable_OptimizedProgram(&args)));
    EXPECT(program.format_size == strlen("hlo_with_config") &&
           !memcmp(program.format, "hlo_with_config", program.format_size));
    *size = program.code_size;
    program.code = malloc(*size + 1);
    EXPECT(harness_ok(h, h->api->PJRT_Executable_OptimizedProgram(&args)));
    harness_executable_destroy(h, executable);
    return program.code;
}

TEST(the_optimized_program_has_the_shapes_and_the_aliasing)
{
    struct stet_program p;
    struct harness h;
    size_t size;
    PJRT_LoadedExecutable *loaded;
    char *code;

    open_cpu(&h);
    loaded = compile(&h, step);
    code = optimized(&h, loaded, &size);
    EXPECT_INT(STET_OK, stet_decode(&p, stet_view_of(code, size), NULL));
    EXPECT_INT(2, p.argument_count);
    EXPECT_INT(2, p.output_count);
    EXPECT_INT(0, p.arguments[0].alias);
    EXPECT_INT(-1, p.arguments[1].alias);
    stet_program_release(&p);
    free(code);
    harness_loaded_destroy(&h, loaded);
    harness_client_destroy(&h);
}

TEST(the_optimized_program_of_hlo_is_that_hlo)
{
    struct stet_file file;
    PJRT_LoadedExecutable *loaded;
    struct harness h;
    size_t size;
    char *code;

    open_cpu(&h);
    EXPECT_INT(STET_OK,
               stet_file_open(&file, STET_SOURCE_DIR "/tests/data/hlo/jax_donation.pb", NULL));
    loaded = harness_compile(&h, file.bytes.ptr, file.bytes.len, "hlo", NULL, 0);
    EXPECT(loaded);
    code = optimized(&h, loaded, &size);
    EXPECT(size > file.bytes.len && memmem(code, size, file.bytes.ptr, file.bytes.len));
    free(code);
    stet_file_close(&file);
    harness_loaded_destroy(&h, loaded);
    harness_client_destroy(&h);
}

/* JAX asks this in each compile, and reads the whole optimized program where it is not served. */
TEST(one_device_has_no_shardings)
{
    const PJRT_Shardings_Extension *x;
    struct harness h;
    PJRT_LoadedExecutable *loaded;
    PJRT_Executable *executable;
    const char *const none = "not set";
    const size_t size = 7;

    open_cpu(&h);
    loaded = compile(&h, step);
    executable = harness_executable(&h, loaded);
    x = (const PJRT_Shardings_Extension *)stet_api_extension(h.api, PJRT_Extension_Type_Shardings);
    EXPECT(x && x->base.struct_size >= PJRT_Shardings_Extension_STRUCT_SIZE);
    {
        ARGS(PJRT_Shardings_PJRT_Executable_ParameterShardings, args, .executable = executable,
             .shardings = &none, .sharding_sizes = &size);

        EXPECT(harness_ok(&h, x->PJRT_Shardings_PJRT_Executable_ParameterShardings(&args)));
        EXPECT_INT(2, args.num_parameters);
        EXPECT(!args.shardings && !args.sharding_sizes);
    }
    {
        ARGS(PJRT_Shardings_PJRT_Executable_OutputShardings, args, .executable = executable,
             .shardings = &none, .sharding_sizes = &size);

        EXPECT(harness_ok(&h, x->PJRT_Shardings_PJRT_Executable_OutputShardings(&args)));
        EXPECT_INT(2, args.num_outputs);
        EXPECT(!args.shardings && !args.sharding_sizes);
    }
    harness_executable_destroy(&h, executable);
    harness_loaded_destroy(&h, loaded);
    harness_client_destroy(&h);
}

static float cost_of(struct harness *h, const char *program, const char *name)
{
    PJRT_LoadedExecutable *loaded = compile(h, program);
    PJRT_Executable *executable = harness_executable(h, loaded);
    float value = -1;

    ARGS(PJRT_Executable_GetCostAnalysis, args, .executable = executable);
    EXPECT(harness_ok(h, h->api->PJRT_Executable_GetCostAnalysis(&args)));
    for (size_t i = 0; i < args.num_properties; i++)
        if (args.properties[i].name_size == strlen(name) &&
            !memcmp(args.properties[i].name, name, strlen(name)))
            value = args.properties[i].float_value;
    harness_executable_destroy(h, executable);
    harness_loaded_destroy(h, loaded);
    return value;
}

/* The numbers are XLA's. Padding is not multiplied: 22 of 24 pairs of a position and a tap meet an
 * element in either dimension; of a spread input every second. */
TEST(operations_are_counted_as_xla_counts_them)
{
    static const char convolution[] =
        "func.func @main(%%x: tensor<1x3x8x8xf32>, %%w: tensor<4x3x3x3xf32>) -> "
        "tensor<1x4x%dx%dxf32> {\n"
        "  %%y = stablehlo.convolution(%%x, %%w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, "
        "0, 1],\n"
        "    window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [%d, %d]}\n"
        "    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}\n"
        "    : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x%dx%dxf32>\n"
        "  return %%y : tensor<1x4x%dx%dxf32>\n"
        "}\n";
    static const char narrow[] =
        "func.func @main(%x: tensor<5x3xf32>) -> tensor<5x3xbf16> {\n"
        "  %y = stablehlo.exponential %x : tensor<5x3xf32>\n"
        "  %z = stablehlo.convert %y : (tensor<5x3xf32>) -> tensor<5x3xbf16>\n"
        "  return %z : tensor<5x3xbf16>\n"
        "}\n";
    struct harness h;
    char text[1024];

    open_cpu(&h);
    snprintf(text, sizeof text, convolution, 8, 8, 1, 1, 8, 8, 8, 8);
    EXPECT_INT(2 * 4 * 3 * 22 * 22, cost_of(&h, text, "flops"));
    snprintf(text, sizeof text, convolution, 15, 15, 2, 2, 15, 15, 15, 15);
    EXPECT_INT(2 * 4 * 3 * 22 * 22, cost_of(&h, text, "flops"));
    EXPECT_INT(15, cost_of(&h, narrow, "flops"));
    EXPECT_INT(15, cost_of(&h, narrow, "transcendentals"));
    harness_client_destroy(&h);
}

TEST(matrices_are_decomposed)
{
    static const char program[] =
        "func.func @main() -> (tensor<2x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xf32>,\n"
        "    tensor<2xf32>) {\n"
        "  %a = stablehlo.constant dense<[[1.0, 2.0], [4.0, 4.0]]> : tensor<2x2xf32>\n"
        "  %s = stablehlo.constant dense<[[2.0, 0.0], [1.0, 2.0]]> : tensor<2x2xf32>\n"
        "  %lu:3 = stablehlo.custom_call @LuDecomposition(%a) :\n"
        "    (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xi32>, tensor<2xi32>)\n"
        "  %e:2 = stablehlo.custom_call @Eigh(%s) {backend_config = \"1,1,15,1e-6\"} :\n"
        "    (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>)\n"
        "  return %lu#0, %lu#1, %lu#2, %e#0, %e#1 : tensor<2x2xf32>, tensor<2xi32>, "
        "tensor<2xi32>,\n"
        "    tensor<2x2xf32>, tensor<2xf32>\n"
        "}\n";
    static const float lu[] = {4, 4, 0.25F, 1}, values[] = {1, 3};
    static const int32_t pivots[] = {1, 1}, order[] = {1, 0};
    PJRT_LoadedExecutable *loaded;
    unsigned char *got[5];
    PJRT_Buffer *out[5];
    struct harness h;
    size_t size;

    open_cpu(&h);
    loaded = compile(&h, program);
    EXPECT(loaded && harness_execute(&h, loaded, NULL, 0, out));
    for (int i = 0; i < 5; i++)
        got[i] = harness_read(&h, out[i], &size);
    EXPECT(memcmp(got[0], lu, sizeof lu) == 0);
    EXPECT(memcmp(got[1], pivots, sizeof pivots) == 0);
    EXPECT(memcmp(got[2], order, sizeof order) == 0);
    for (int i = 0; i < 2; i++) {
        float d = ((float *)(void *)got[4])[i] - values[i];

        EXPECT(d < 1e-6F && d > -1e-6F);
    }
    for (int i = 0; i < 5; i++)
        free(got[i]);
    destroy_all(&h, out, 5);
    harness_loaded_destroy(&h, loaded);
    harness_client_destroy(&h);
}

TEST(decompositions_that_do_not_fit_are_refused)
{
    static const char *const calls[] = {
        /* target, operands and types */
        "@LuDecomposition(%v) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>)",
        "@LuDecomposition(%m) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xi32>, "
        "tensor<2xi32>)",
        "@LuDecomposition(%m) : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "@Qr(%m) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)",
        "@Qr(%i) : (tensor<2x2xi32>) -> (tensor<2x2xi32>, tensor<2xi32>)",
        "@Eigh(%m) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)",
        "@ProductOfElementaryHouseholderReflectors(%m, %v) :"
        " (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>",
        "@ProductOfElementaryHouseholderReflectors(%m) : (tensor<2x3xf32>) -> tensor<2x3xf32>",
    };
    struct harness h;

    open_cpu(&h);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char program[600];
        PJRT_LoadedExecutable *loaded;

        snprintf(program, sizeof program,
                 "func.func @main(%%v: tensor<4xf32>, %%m: tensor<2x3xf32>, %%i: tensor<2x2xi32>)"
                 " -> tensor<4xf32> {\n  %%0%s = stablehlo.custom_call %s\n"
                 "  return %%v : tensor<4xf32>\n}\n",
                 strstr(calls[i], "-> (") ? (strstr(calls[i], "@Lu") ? ":3" : ":2") : "", calls[i]);
        loaded = compile(&h, program);
        EXPECT(!loaded);
        EXPECT(strstr(h.text, "stablehlo.custom_call"));
    }
    harness_client_destroy(&h);
}

TEST(unsupported_operations_are_named_with_module_and_line)
{
    static const char program[] =
        "module @jit_f {\n"
        "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
        "  %0 = stablehlo.custom_call @mine(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>"
        " loc(\"model.py\":12:4)\n"
        "  return %0 : tensor<2x3xf32>\n"
        "}\n"
        "}\n";
    struct harness h;

    open_cpu(&h);
    EXPECT(!compile(&h, program));
    EXPECT_INT(PJRT_Error_Code_UNIMPLEMENTED, h.code);
    EXPECT_STR(
        "stet cpu: jit_f: stablehlo.custom_call (model.py:12): custom call target \"mine\" is "
        "not known",
        h.text);
    harness_client_destroy(&h);
}

TEST(unsupported_entries_name_themselves)
{
    static const bool served[STET_ENTRY_COUNT] = {
        [STET_ENTRY_PJRT_Error_Destroy] = true,
        [STET_ENTRY_PJRT_Error_Message] = true,
        [STET_ENTRY_PJRT_Error_GetCode] = true,
        [STET_ENTRY_PJRT_Error_ForEachPayload] = true,
#define IMPL(name) [STET_ENTRY_##name] = true,
#include "backend/api/implemented.def"
    };
    struct harness h;
    int left_out = 0;

    open_cpu(&h);
#define ENTRY(name, since, last)                                                                   \
    if (!served[STET_ENTRY_##name]) {                                                              \
        ARGS(name, args, );                                                                        \
        EXPECT(!harness_ok(&h, h.api->name(&args)));                                               \
        EXPECT_INT(PJRT_Error_Code_UNIMPLEMENTED, h.code);                                         \
        EXPECT(strstr(h.text, #name));                                                             \
        left_out++;                                                                                \
    }
#define ENTRY_VOID(name, since, last)
#include "abi/entries.def"
    EXPECT(left_out > 10);
    harness_client_destroy(&h);
}
