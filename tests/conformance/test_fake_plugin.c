/* The fake plugin is what it says: each build has its version's table and does its work. */
#include "harness.h"
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static const char program[] = "fake program one\nin f32[4]\nout f32[4] s32[]\n";
static const int64_t four[] = {4};

static void open_plugin(struct harness *h, const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/lib%s.so", FAKE_PLUGIN_DIR, name);
    EXPECT(harness_open(h, path));
    EXPECT(harness_initialize(h));
    EXPECT(harness_client(h, NULL, 0));
}

static long live(struct harness *h, const char *kind)
{
    long (*get)(const char *);

    *(void **)&get = dlsym(h->handle, "FakePlugin_Live");
    return get(kind);
}

/* Compiles and runs `code` on one buffer of that seed; the bytes of its first output. */
static unsigned char *result_of(struct harness *h, const char *code, unsigned seed, size_t *size)
{
    PJRT_LoadedExecutable *loaded = harness_compile(h, code, strlen(code), "mlir", NULL, 0);
    PJRT_Buffer *in = harness_buffer(h, PJRT_Buffer_Type_F32, four, 1, 16, seed), *out[2] = {0};
    unsigned char *bytes = NULL;

    EXPECT(loaded && in);
    EXPECT(harness_execute(h, loaded, &in, 1, out));
    if (out[0])
        bytes = harness_read(h, out[0], size);
    for (int i = 0; i < 2; i++)
        harness_buffer_destroy(h, out[i]);
    harness_buffer_destroy(h, in);
    harness_loaded_destroy(h, loaded);
    return bytes;
}

TEST(every_version_computes_the_same_and_leaks_nothing)
{
    static const char *const names[] = {
        "fake_pjrt",          "fake_pjrt_second", "fake_pjrt_0_29",
        "fake_pjrt_0_75",     "fake_pjrt_0_90",   "fake_pjrt_longer",
        "fake_pjrt_novtable", "fake_pjrt_holes",  "fake_pjrt_bare"};
    unsigned char *first = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct harness h;
        unsigned char *bytes;
        size_t size = 0;

        open_plugin(&h, names[i]);
        bytes = result_of(&h, program, 1, &size);
        EXPECT_INT(16, size);
        EXPECT(bytes && (!first || memcmp(first, bytes, size) == 0));
        harness_client_destroy(&h);
        EXPECT_INT(0, live(&h, NULL));
        if (first)
            free(bytes);
        else
            first = bytes;
    }
    free(first);
}

TEST(each_build_has_the_table_of_its_version)
{
    static const struct {
        const char *name;
        int minor;
        size_t entries;
    } builds[] = {{"fake_pjrt", 116, 138},
                  {"fake_pjrt_0_29", 29, 92},
                  {"fake_pjrt_0_75", 75, 115},
                  {"fake_pjrt_0_90", 90, 128},
                  {"fake_pjrt_longer", 120, 154}};

    for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
        struct harness h;

        open_plugin(&h, builds[i].name);
        EXPECT_INT(builds[i].minor, h.api->pjrt_api_version.minor_version);
        EXPECT_INT(builds[i].entries, stet_api_entries(h.api));
        harness_client_destroy(&h);
    }
}

TEST(other_inputs_or_programs_give_other_results)
{
    struct harness h;
    size_t size = 0;
    unsigned char *a, *b, *c, *d;

    open_plugin(&h, "fake_pjrt");
    a = result_of(&h, program, 1, &size);
    b = result_of(&h, program, 2, &size);
    c = result_of(&h, "fake program two\nin f32[4]\nout f32[4] s32[]\n", 1, &size);
    d = result_of(&h, program, 1, &size);
    EXPECT(memcmp(a, b, 16) != 0 && memcmp(a, c, 16) != 0 && memcmp(a, d, 16) == 0);
    free(a), free(b), free(c), free(d);
    harness_client_destroy(&h);
}

TEST(an_executable_survives_serialise_and_load)
{
    struct harness h;
    PJRT_LoadedExecutable *loaded, *again;
    PJRT_Executable *executable;
    size_t size = 0;
    char *bytes;

    open_plugin(&h, "fake_pjrt");
    loaded = harness_compile(&h, program, sizeof(program) - 1, "mlir", "opt", 3);
    executable = harness_executable(&h, loaded);
    bytes = harness_serialize(&h, executable, &size);
    EXPECT(bytes && size > sizeof(program));
    again = harness_deserialize(&h, bytes, size);
    EXPECT(again != NULL);
    EXPECT(!harness_deserialize(&h, bytes, size - 1)); /* torn */
    EXPECT_INT(PJRT_Error_Code_INVALID_ARGUMENT, h.code);
    harness_loaded_destroy(&h, again);
    harness_loaded_destroy(&h, loaded);
    harness_executable_destroy(&h, executable);
    harness_client_destroy(&h);
    free(bytes);
    EXPECT_INT(0, live(&h, NULL));
}

TEST(a_program_can_ask_to_be_refused)
{
    static const char refused[] = "fake program bad\nerror 8 out of everything\n";
    struct harness h;

    open_plugin(&h, "fake_pjrt_novtable");
    EXPECT(!harness_compile(&h, refused, sizeof(refused) - 1, "mlir", NULL, 0));
    EXPECT_INT(PJRT_Error_Code_RESOURCE_EXHAUSTED, h.code);
    EXPECT_STR("out of everything", h.text);
    harness_client_destroy(&h);
    EXPECT_INT(0, live(&h, NULL));
}

TEST(an_unimplemented_entry_names_itself)
{
    struct harness h;
    ARGS(PJRT_Client_DmaMap, args, .client = NULL);

    open_plugin(&h, "fake_pjrt");
    EXPECT(!harness_ok(&h, h.api->PJRT_Client_DmaMap(&args)));
    EXPECT_INT(PJRT_Error_Code_UNIMPLEMENTED, h.code);
    EXPECT_STR("PJRT_Client_DmaMap is not implemented", h.text);
    harness_client_destroy(&h);
}

TEST(a_table_that_is_null_or_in_another_order_is_refused_by_the_harness)
{
    struct harness h;

    EXPECT(!harness_open(&h, FAKE_PLUGIN_DIR "/libfake_pjrt_null.so"));
    EXPECT_INT(PJRT_Error_Code_UNAVAILABLE, h.code);
    EXPECT(!harness_open(&h, FAKE_PLUGIN_DIR "/libfake_pjrt_0_56.so"));
    EXPECT_INT(PJRT_Error_Code_FAILED_PRECONDITION, h.code);
}

TEST(memory_statistics_follow_the_buffers)
{
    struct harness h;
    PJRT_Buffer *buffer;
    ARGS(PJRT_Client_Devices, devices, .client = NULL);
    ARGS(PJRT_Device_MemoryStats, stats, .device = NULL);

    open_plugin(&h, "fake_pjrt");
    devices.client = h.client;
    EXPECT(harness_ok(&h, h.api->PJRT_Client_Devices(&devices)));
    stats.device = devices.devices[0];
    buffer = harness_buffer(&h, PJRT_Buffer_Type_F32, four, 1, 16, 0);
    EXPECT(harness_ok(&h, h.api->PJRT_Device_MemoryStats(&stats)));
    EXPECT_INT(16, stats.bytes_in_use);
    harness_buffer_destroy(&h, buffer);
    EXPECT(harness_ok(&h, h.api->PJRT_Device_MemoryStats(&stats)));
    EXPECT_INT(0, stats.bytes_in_use);
    EXPECT_INT(16, stats.peak_bytes_in_use);
    EXPECT(stats.peak_allocated_bytes_is_set);
    harness_client_destroy(&h);
}

static void count(PJRT_Error *error, void *arg)
{
    *(int *)arg += error == NULL;
}

TEST(an_event_calls_back_once_when_set)
{
    struct harness h;
    ARGS(PJRT_Event_Create, create, .event = NULL);
    int calls = 0;

    open_plugin(&h, "fake_pjrt");
    EXPECT(harness_ok(&h, h.api->PJRT_Event_Create(&create)));
    ARGS(PJRT_Event_OnReady, on, .event = create.event, .callback = count, .user_arg = &calls);
    ARGS(PJRT_Event_Set, set, .event = create.event);
    ARGS(PJRT_Event_Destroy, destroy, .event = create.event);
    EXPECT(harness_ok(&h, h.api->PJRT_Event_OnReady(&on)));
    EXPECT_INT(0, calls);
    EXPECT(harness_ok(&h, h.api->PJRT_Event_Set(&set)));
    EXPECT_INT(1, calls);
    EXPECT(harness_ok(&h, h.api->PJRT_Event_Destroy(&destroy)));
    harness_client_destroy(&h);
    EXPECT_INT(0, live(&h, NULL));
}

static struct harness shared;

static void *hammer(void *seed)
{
    struct harness mine = shared; /* its own place for errors */
    size_t size;

    for (int i = 0; i < 50; i++)
        free(result_of(&mine, program, *(unsigned *)seed, &size));
    return NULL;
}

TEST(many_threads_may_use_one_client)
{
    pthread_t threads[8];
    unsigned seeds[8];

    open_plugin(&shared, "fake_pjrt");
    for (unsigned i = 0; i < 8; i++) {
        seeds[i] = i;
        pthread_create(&threads[i], NULL, hammer, &seeds[i]);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    harness_client_destroy(&shared);
    EXPECT_INT(0, live(&shared, NULL));
}
