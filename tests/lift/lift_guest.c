/* Lifting as a framework meets it: the layer as a plugin over the CPU backend, which may have bad
 * habits (odd_plugin.c). CTest sets STET_LIFT, STET_PLUGIN and LAYER, the layer to open. */
#include "harness.h"
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

enum { ELEMENTS = 4, THREADS = 8, EACH = 20 };

static void (*odd_begin)(const char *habit);
static int (*odd_compiles)(bool lifted);

static bool begin(struct harness *h, const char *habit)
{
    void *odd = dlopen(getenv("STET_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    bool open;

    *h = (struct harness){0};
    open = harness_open(h, getenv("LAYER")) && harness_initialize(h) && harness_client(h, NULL, 0);
    EXPECT(open && odd);
    if (!open || !odd)
        return false;
    *(void **)&odd_begin = dlsym(odd, "odd_begin");
    *(void **)&odd_compiles = dlsym(odd, "odd_compiles");
    odd_begin(habit);
    return true;
}

/* A program of its own for each `kind`, with a value. */
static PJRT_LoadedExecutable *compile(struct harness *h, const char *kind, int value)
{
    char text[1024];
    bool donated = !strcmp(kind, "tanh");
    int n =
        snprintf(text, sizeof text,
                 "module @m {\nfunc.func public @main(%%a: tensor<4xf32>%s) -> tensor<4xf32> {\n"
                 "%%c = stablehlo.constant dense<%d.5> : tensor<4xf32>\n"
                 "%%0 = stablehlo.%s %%a : tensor<4xf32>\n"
                 "%%1 = stablehlo.multiply %%0, %%c : tensor<4xf32>\n"
                 "return %%1 : tensor<4xf32>\n}\n}\n",
                 donated ? " {tf.aliasing_output = 0 : i32}" : "", value, kind);

    return harness_compile(h, text, (size_t)n, "mlir", "", 0);
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

/* Runs it and compares the result with what the plain program computes. */
static bool runs(struct harness *h, PJRT_LoadedExecutable *loaded, int value, bool tanh_of)
{
    PJRT_Buffer *in = input(h), *out = NULL;
    size_t size = 0, got_size = 0;
    float *x = (float *)(void *)harness_read(h, in, &size), *got = NULL;
    bool same = loaded && harness_execute(h, loaded, (PJRT_Buffer *const[]){in}, 1, &out);

    if (same)
        got = (float *)(void *)harness_read(h, out, &got_size);
    same = same && got && got_size == size;
    for (int i = 0; same && i < ELEMENTS && !tanh_of; i++) {
        float want = -x[i] * ((float)value + 0.5f);

        same = memcmp(&got[i], &want, sizeof want) == 0;
    }
    if (!same)
        fprintf(stderr, "value %d: %s\n", value, h->text);
    if (out)
        harness_buffer_destroy(h, out);
    harness_buffer_destroy(h, in);
    free(x);
    free(got);
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
    EXPECT_INT(1, odd_compiles(false));
    EXPECT_INT(1, odd_compiles(true));
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
    EXPECT_INT(1, odd_compiles(false));
    EXPECT_INT(1, odd_compiles(true));
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
    EXPECT_INT(1, odd_compiles(false));
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
    EXPECT_INT(1, odd_compiles(true));
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
    EXPECT_INT(1, odd_compiles(true));
    harness_client_destroy(&h);
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
    EXPECT_INT(7, odd_compiles(false));
    EXPECT_INT(lifted, odd_compiles(true));
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
    EXPECT(odd_compiles(true) >= 1);
    harness_client_destroy(&shared);
}
