/* Lifting as a framework meets it. Nothing is compiled in the background here, so that compiles can
 * be counted; lift_background.c has that. */
#include "lift_client.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 8, EACH = 20 };

static PJRT_LoadedExecutable *compile(struct harness *h, const char *kind, int value)
{
    return compile_sized(h, kind, ELEMENTS, value + 0.5);
}

static PJRT_Buffer *input(struct harness *h)
{
    return harness_buffer(h, PJRT_Buffer_Type_F32, (const int64_t[]){ELEMENTS}, 1, 4 * ELEMENTS, 7);
}

static bool is_deleted(struct harness *h, PJRT_Buffer *b)
{
    ARGS(PJRT_Buffer_IsDeleted, args, .buffer = b);

    return harness_ok(h, h->api->PJRT_Buffer_IsDeleted(&args)) && args.is_deleted;
}

static bool runs(struct harness *h, PJRT_LoadedExecutable *loaded, int value, bool tanh_of)
{
    bool same = runs_sized(h, loaded, ELEMENTS, value + 0.5, tanh_of);

    if (!same)
        fprintf(stderr, "value %d: %s\n", value, h->text);
    return same;
}

TEST(fifty_values_make_two_compiles)
{
    struct harness h;

    if (!begin(&h, NULL))
        return;
    for (int v = 0; v < 50; v++) {
        PJRT_LoadedExecutable *x = compile(&h, "negate", v);

        EXPECT(runs(&h, x, v, false));
        EXPECT(runs(&h, x, v, false));
        harness_loaded_destroy(&h, x);
    }
    EXPECT_INT(1, odd.compiles(false));
    EXPECT_INT(1, odd.compiles(true));
    harness_client_destroy(&h);
}

TEST(values_live_beside_each_other)
{
    PJRT_LoadedExecutable *x[EACH];
    struct harness h;

    if (!begin(&h, NULL))
        return;
    for (int v = 0; v < EACH; v++)
        x[v] = compile(&h, "negate", v);
    for (int v = EACH - 1; v >= 0; v--)
        EXPECT(runs(&h, x[v], v, false));
    for (int v = 0; v < EACH; v++)
        harness_loaded_destroy(&h, x[v]);
    EXPECT(runs(&h, x[0] = compile(&h, "negate", 3), 3, false)); /* as after clear_caches */
    harness_loaded_destroy(&h, x[0]);
    EXPECT_INT(1, odd.compiles(false));
    EXPECT_INT(1, odd.compiles(true));
    harness_client_destroy(&h);
}

static bool is_deleted_executable(struct harness *h, PJRT_LoadedExecutable *x)
{
    ARGS(PJRT_LoadedExecutable_IsDeleted, args, .executable = x);

    return harness_ok(h, h->api->PJRT_LoadedExecutable_IsDeleted(&args)) && args.is_deleted;
}

static void delete_executable(struct harness *h, PJRT_LoadedExecutable *x)
{
    ARGS(PJRT_LoadedExecutable_Delete, args, .executable = x);

    EXPECT(harness_ok(h, h->api->PJRT_LoadedExecutable_Delete(&args)));
}

TEST(the_first_executable_may_go_first)
{
    PJRT_LoadedExecutable *x[3];
    struct harness h;

    if (!begin(&h, NULL))
        return;
    for (int v = 0; v < 3; v++)
        x[v] = compile(&h, "negate", v);
    EXPECT(!is_deleted_executable(&h, x[0]) && !is_deleted_executable(&h, x[1]));
    delete_executable(&h, x[0]);
    EXPECT(is_deleted_executable(&h, x[0]) && !is_deleted_executable(&h, x[1]));
    EXPECT(runs(&h, x[1], 1, false));
    harness_loaded_destroy(&h, x[0]);
    EXPECT(runs(&h, x[2], 2, false));
    delete_executable(&h, x[2]);
    EXPECT(is_deleted_executable(&h, x[2]));
    for (int v = 1; v < 3; v++)
        harness_loaded_destroy(&h, x[v]);
    EXPECT_INT(1, odd.compiles(false));
    harness_client_destroy(&h);
}

/* ---- questions ---- */

static void fingerprint(struct harness *h, PJRT_Executable *x, char *out, size_t room)
{
    ARGS(PJRT_Executable_Fingerprint, args, .executable = x);

    EXPECT(harness_ok(h, h->api->PJRT_Executable_Fingerprint(&args)));
    snprintf(out, room, "%.*s", (int)args.executable_fingerprint_size, args.executable_fingerprint);
}

static size_t outputs(struct harness *h, PJRT_Executable *x)
{
    ARGS(PJRT_Executable_NumOutputs, args, .executable = x);

    EXPECT(harness_ok(h, h->api->PJRT_Executable_NumOutputs(&args)));
    return args.num_outputs;
}

static size_t devices(struct harness *h, PJRT_LoadedExecutable *x)
{
    ARGS(PJRT_LoadedExecutable_AddressableDevices, args, .executable = x);

    EXPECT(harness_ok(h, h->api->PJRT_LoadedExecutable_AddressableDevices(&args)));
    return args.num_addressable_devices;
}

TEST(questions_are_answered_as_by_the_plain_program)
{
    PJRT_LoadedExecutable *x[4];
    PJRT_Executable *e[4];
    char print[4][256];
    struct harness h;

    if (!begin(&h, NULL))
        return;
    for (int v = 0; v < 4; v++) {
        x[v] = compile(&h, "negate", v == 3 ? 1 : v);
        e[v] = harness_executable(&h, x[v]);
        fingerprint(&h, e[v], print[v], sizeof print[v]);
        EXPECT_INT(1, outputs(&h, e[v]));
        EXPECT_INT(1, devices(&h, x[v]));
    }
    EXPECT(strcmp(print[0], print[1]) && strcmp(print[1], print[2]) && strcmp(print[0], print[2]));
    EXPECT_STR(print[1], print[3]);
    for (int v = 0; v < 4; v++)
        harness_loaded_destroy(&h, x[v]);
    EXPECT_INT(1, outputs(&h, e[2])); /* an executable may outlive the loaded one */
    for (int v = 0; v < 4; v++)
        harness_executable_destroy(&h, e[v]);
    harness_client_destroy(&h);
}

/* ---- bytes ---- */

/* The bytes of the executable for a value, and their size. */
static char *bytes_of(struct harness *h, int value, size_t *size)
{
    PJRT_LoadedExecutable *x = compile(h, "negate", value);
    PJRT_Executable *e = harness_executable(h, x);
    char *bytes = harness_serialize(h, e, size);

    EXPECT(bytes != NULL);
    harness_executable_destroy(h, e);
    harness_loaded_destroy(h, x);
    return bytes;
}

TEST(bytes_of_a_lifted_executable_have_its_value)
{
    char *bytes[4];
    size_t size[4];
    struct harness h;

    if (!begin(&h, NULL))
        return;
    for (int v = 0; v < 4; v++)
        bytes[v] = bytes_of(&h, v, &size[v]);
    harness_client_destroy(&h); /* what follows is like another process */
    if (!begin(&h, NULL))
        return;
    for (int v = 3; v >= 0; v--) {
        PJRT_LoadedExecutable *x = harness_deserialize(&h, bytes[v], size[v]);

        EXPECT(runs(&h, x, v, false));
        harness_loaded_destroy(&h, x);
    }
    EXPECT_INT(1, odd.compiles(true));
    bytes[2][size[2] - 1] ^= 1;
    EXPECT(!harness_deserialize(&h, bytes[2], size[2]));
    EXPECT_INT(PJRT_Error_Code_DATA_LOSS, h.code);
    for (int v = 0; v < 4; v++)
        free(bytes[v]);
    harness_client_destroy(&h);
}

/* ---- donation ---- */

TEST(a_donated_argument_is_consumed_by_the_execution_alone)
{
    struct harness h;

    if (!begin(&h, NULL))
        return;
    for (int v = 0; v < 4; v++) {
        PJRT_LoadedExecutable *x = compile(&h, "tanh", v);
        PJRT_Buffer *in = input(&h), *out = NULL;

        EXPECT(harness_execute(&h, x, (PJRT_Buffer *const[]){in}, 1, &out));
        EXPECT(is_deleted(&h, in));
        harness_buffer_destroy(&h, in);
        harness_buffer_destroy(&h, out);
        EXPECT(runs(&h, x, v, true));
        harness_loaded_destroy(&h, x);
    }
    EXPECT_INT(1, odd.compiles(true));
    harness_client_destroy(&h);
}

/* ---- executions of an unusual form ---- */

/* Arguments of an older client, which has no field for the device: the plain program runs. */
TEST(an_execution_that_cannot_be_lifted_is_plain)
{
    struct harness h;

    if (!begin(&h, NULL))
        return;
    for (int v = 0; v < 3; v++) {
        PJRT_LoadedExecutable *x = compile(&h, "negate", v);
        PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
        PJRT_Buffer *in = input(&h), *out = NULL;
        ARGS(PJRT_LoadedExecutable_Execute, args, .executable = x, .options = &options,
             .argument_lists = (PJRT_Buffer *const *const[]){&in}, .num_devices = 1, .num_args = 1,
             .output_lists = (PJRT_Buffer * *const[]){&out});

        args.struct_size = offsetof(PJRT_LoadedExecutable_Execute_Args, execute_device);
        EXPECT(harness_ok(&h, h.api->PJRT_LoadedExecutable_Execute(&args)));
        harness_buffer_destroy(&h, in);
        if (out)
            harness_buffer_destroy(&h, out);
        EXPECT(runs(&h, x, v, false));
        harness_loaded_destroy(&h, x);
    }
    EXPECT_INT(3, odd.compiles(false));
    harness_client_destroy(&h);
}

/* In processes of their own, by CTest: nothing is lifted. */
static void expect_nothing_lifted(const char *variable)
{
    struct harness h;

    if (!getenv(variable) || !begin(&h, NULL))
        return;
    for (int v = 0; v < 4; v++) {
        PJRT_LoadedExecutable *x = compile(&h, "negate", v);

        EXPECT(runs(&h, x, v, false));
        harness_loaded_destroy(&h, x);
    }
    EXPECT_INT(4, odd.compiles(false));
    EXPECT_INT(0, odd.compiles(true));
    harness_client_destroy(&h);
}

TEST(a_plugin_with_unknown_functions_is_not_lifted)
{
    expect_nothing_lifted("ODD_NEWER");
}

TEST(a_job_of_several_processes_is_not_lifted)
{
    expect_nothing_lifted("ODD_JOB");
}

/* ---- bad habits ---- */

/* Three executables before the first execution, then three more. */
static void expect_plain(const char *habit, int lifted)
{
    PJRT_LoadedExecutable *x[4];
    struct harness h;

    if (!begin(&h, habit))
        return;
    for (int v = 0; v < 4; v++)
        x[v] = compile(&h, "negate", v);
    for (int v = 0; v < 4; v++)
        EXPECT(runs(&h, x[v], v, false));
    for (int v = 0; v < 4; v++)
        harness_loaded_destroy(&h, x[v]);
    for (int v = 4; v < 7; v++) {
        x[0] = compile(&h, "negate", v);
        EXPECT(runs(&h, x[0], v, false));
        harness_loaded_destroy(&h, x[0]);
    }
    EXPECT_INT(7, odd.compiles(false));
    EXPECT_INT(lifted, odd.compiles(true));
    harness_client_destroy(&h);
}

TEST(a_lifted_program_that_the_plugin_refuses_is_not_used)
{
    expect_plain("refuse", 1);
}

TEST(a_lifted_program_with_other_results_is_not_used)
{
    expect_plain("wrong", 1);
}

TEST(a_lifted_program_that_fails_is_not_used)
{
    expect_plain("fail", 1);
}

static bool is_logged(const char *words)
{
    FILE *log = fopen(getenv("STET_LOG"), "r");
    char line[512], own[32];
    bool found = false;

    snprintf(own, sizeof own, "stet[%d]", (int)getpid());
    while (log && !found && fgets(line, sizeof line, log))
        found = strstr(line, own) && strstr(line, words);
    if (log)
        fclose(log);
    return found;
}

TEST(a_program_that_differs_from_itself_is_named_as_such)
{
    struct harness h;

    if (!begin(&h, "random"))
        return;
    EXPECT(!is_logged("own results differ from one execution to the next"));
    for (int v = 0; v < 4; v++) {
        PJRT_LoadedExecutable *x = compile(&h, "negate", v);

        runs_sized(&h, x, ELEMENTS, 0, true);
        harness_loaded_destroy(&h, x);
    }
    EXPECT(is_logged("own results differ from one execution to the next"));
    EXPECT_INT(4, odd.compiles(false));
    EXPECT_INT(1, odd.compiles(true));
    harness_client_destroy(&h);
}

/* ---- a loop that need not end ---- */

/* Adds 1 until the numbers are equal: an execution with the bound of one program and the argument
 * of another would never end. */
static PJRT_LoadedExecutable *compile_search(struct harness *h, int bound)
{
    char text[1024];
    int n = snprintf(
        text, sizeof text,
        "module @m {\nfunc.func public @main(%%a: tensor<f32>) -> tensor<f32> {\n"
        "%%0 = stablehlo.while(%%x = %%a) : tensor<f32>\ncond {\n"
        "%%c = stablehlo.constant dense<%d.0> : tensor<f32>\n"
        "%%1 = stablehlo.compare NE, %%x, %%c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "stablehlo.return %%1 : tensor<i1>\n} do {\n"
        "%%o = stablehlo.constant dense<1.0> : tensor<f32>\n"
        "%%1 = stablehlo.add %%x, %%o : tensor<f32>\n"
        "stablehlo.return %%1 : tensor<f32>\n}\nreturn %%0 : tensor<f32>\n}\n}\n",
        bound);

    return harness_compile(h, text, (size_t)n, "mlir", "", 0);
}

static void expect_search(struct harness *h, PJRT_LoadedExecutable *x, int from, int bound)
{
    const float start = (float)from;
    PJRT_Buffer *in = harness_buffer_of(h, 0, PJRT_Buffer_Type_F32, NULL, 0, &start), *out = NULL;
    size_t size = 0;
    float *got;

    EXPECT(x && in && harness_execute(h, x, (PJRT_Buffer *const[]){in}, 1, &out));
    got = out ? (float *)(void *)harness_read(h, out, &size) : NULL;
    EXPECT(got && *got == (float)bound);
    free(got);
    if (out)
        harness_buffer_destroy(h, out);
    if (in)
        harness_buffer_destroy(h, in);
}

/* Four bounds, each with an argument that is larger than the bound before; the plain compile with
 * number `bad` fails. How many were made. */
static int searches(int bad, int lifted)
{
    struct harness h;
    int compiled;

    if (!begin(&h, NULL))
        return -1;
    odd.fail_compile(bad);
    for (int v = 1; v <= 4; v++) {
        PJRT_LoadedExecutable *x = compile_search(&h, 10 * v);

        expect_search(&h, x, 10 * v - 5, 10 * v);
        expect_search(&h, x, 10 * v - 2, 10 * v);
        if (x)
            harness_loaded_destroy(&h, x);
    }
    compiled = odd.compiles(false);
    EXPECT_INT(lifted, odd.compiles(true));
    harness_client_destroy(&h);
    return compiled;
}

TEST(a_loop_that_need_not_end_runs_with_its_own_values_alone)
{
    EXPECT_INT(2,
               searches(-1, 1)); /* the first program, and what the lifted one is compared with */
}

TEST(a_program_that_cannot_be_compiled_for_comparing_is_plain)
{
    EXPECT_INT(5, searches(1, 1)); /* four, and the one that failed */
}

/* ---- two devices ---- */

/* CompileOptionsProto: two replicas, on devices 0 and 1. */
static const char two_replicas[] =
    "\x1a\x10\x20\x02\x28\x01\x4a\x0a\x08\x02\x10\x01\x1a\x04\x0a\x02\x00\x01";

static PJRT_LoadedExecutable *compile_replicas(struct harness *h, int value)
{
    char text[512];
    int n = snprintf(text, sizeof text,
                     "module @m attributes {mhlo.num_replicas = 2 : i32} {\n"
                     "func.func public @main(%%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                     "%%c = stablehlo.constant dense<%d.5> : tensor<4xf32>\n"
                     "%%0 = stablehlo.multiply %%a, %%c : tensor<4xf32>\n"
                     "return %%0 : tensor<4xf32>\n}\n}\n",
                     value);

    return harness_compile(h, text, (size_t)n, "mlir", two_replicas, sizeof two_replicas - 1);
}

static PJRT_Buffer *input_on(struct harness *h, size_t device)
{
    const float data[ELEMENTS] = {1, 2, 3, (float)device};
    PJRT_Buffer *buffer =
        harness_buffer_of(h, device, PJRT_Buffer_Type_F32, (const int64_t[]){ELEMENTS}, 1, data);

    EXPECT(buffer != NULL);
    return buffer;
}

static void expect_result(struct harness *h, PJRT_Buffer *out, size_t device, int value)
{
    size_t size = 0;
    float *got = (float *)(void *)harness_read(h, out, &size);

    EXPECT_INT(4 * ELEMENTS, size);
    for (size_t i = 0; got && i < ELEMENTS; i++)
        EXPECT(got[i] == (i < 3 ? (float)i + 1 : (float)device) * ((float)value + 0.5f));
    free(got);
}

static void run_replicas(struct harness *h, PJRT_LoadedExecutable *x, PJRT_Buffer *const *in,
                         int value)
{
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_Buffer *out[2] = {NULL};
    ARGS(PJRT_LoadedExecutable_Execute, args, .executable = x, .options = &options,
         .argument_lists = (PJRT_Buffer *const *const[]){&in[0], &in[1]}, .num_devices = 2,
         .num_args = 1, .output_lists = (PJRT_Buffer * *const[]){&out[0], &out[1]});

    EXPECT(x && harness_ok(h, h->api->PJRT_LoadedExecutable_Execute(&args)));
    for (size_t d = 0; d < 2; d++) {
        expect_result(h, out[d], d, value);
        if (out[d])
            harness_buffer_destroy(h, out[d]);
    }
}

/* Four values; while the one with number `when` is compiled, or first runs, the buffer with number
 * `bad` cannot be made. How many plain programs were compiled. */
static int compiles_of_four(int when, bool running, int bad)
{
    PJRT_Buffer *in[2];
    struct harness h;
    int compiled;

    setenv("STET_CPU_DEVICES", "2", 1);
    if (!begin(&h, NULL))
        return -1;
    for (size_t d = 0; d < 2; d++)
        in[d] = input_on(&h, d);
    for (int v = 0; v < 4 && !stet_test_failures; v++) {
        PJRT_LoadedExecutable *x;

        odd.fail_buffer(v == when && !running ? bad : -1);
        x = compile_replicas(&h, v);
        EXPECT(v != when || running || odd.fail_buffer(-1) > bad); /* it was asked for */
        odd.fail_buffer(v == when && running ? bad : -1);
        run_replicas(&h, x, in, v);
        EXPECT(v != when || !running || odd.fail_buffer(-1) > bad);
        run_replicas(&h, x, in, v);
        if (x)
            harness_loaded_destroy(&h, x);
    }
    for (size_t d = 0; d < 2; d++)
        harness_buffer_destroy(&h, in[d]);
    compiled = odd.compiles(false);
    harness_client_destroy(&h);
    unsetenv("STET_CPU_DEVICES");
    return compiled;
}

TEST(values_are_on_both_devices)
{
    EXPECT_INT(1, compiles_of_four(-1, false, -1));
}

/* The program of that value is compiled as it is; the family is lifted further. */
TEST(a_value_that_a_device_does_not_take_is_compiled)
{
    EXPECT_INT(2, compiles_of_four(2, false, 0));
    EXPECT_INT(2, compiles_of_four(2, false, 1)); /* the second device */
}

/* Nothing could be compared, so the family is not lifted. */
TEST(a_first_execution_that_a_device_does_not_take_is_plain)
{
    EXPECT_INT(4, compiles_of_four(1, true, 0));
    EXPECT_INT(4, compiles_of_four(1, true, 1)); /* the second device */
}

/* ---- threads ---- */

static struct harness shared;

static void *work(void *seed)
{
    struct harness h = shared; /* its text is this thread's own */
    size_t wrong = 0;

    for (int i = 0; i < EACH; i++) {
        int value = (int)(uintptr_t)seed * EACH + i;
        PJRT_LoadedExecutable *x = compile(&h, "negate", value);

        wrong += !runs(&h, x, value, false);
        wrong += !runs(&h, x, value, false);
        harness_loaded_destroy(&h, x);
    }
    return (void *)(uintptr_t)wrong;
}

TEST(many_threads_compile_and_run)
{
    pthread_t threads[THREADS];
    void *wrong;

    if (!begin(&shared, NULL))
        return;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &wrong);
        EXPECT_INT(0, (uintptr_t)wrong);
    }
    EXPECT(odd.compiles(true) >= 1);
    harness_client_destroy(&shared);
}
