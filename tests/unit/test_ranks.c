/* Which ranks must agree on a program, by the devices it runs on; and ranks that agree, through a
 * key-value store like a job's: a folder in which a name can be taken once. */
#include "folder_help.h"
#include "test.h"

#include "abi/api.h"
#include "intercept/layer.h"
#include "intercept/pod.h"
#include "intercept/ranks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char stet_entry_name[] = "test";

/* Four devices, or as many as a pod has; two of each process. Their ids are not in order. */
enum { DEVICES_MAX = 12000, RANKS_MAX = 64 };
static int ids[DEVICES_MAX];
static PJRT_Device *devices[DEVICES_MAX];
static size_t device_count = 4;
static int64_t own_rank;
static atomic_int asked; /* requests for votes */
static atomic_bool dead; /* every call of the store fails */
static atomic_int dead_calls;
static atomic_bool forged; /* every vote is a yes that no rank wrote */

static int id_of(const void *device)
{
    return *(const int *)device;
}

static PJRT_Error *all_devices(PJRT_Client_Devices_Args *args)
{
    args->devices = devices;
    args->num_devices = device_count;
    return NULL;
}

static PJRT_Error *own_devices(PJRT_Client_AddressableDevices_Args *args)
{
    args->addressable_devices = devices + (device_count - 2) - 2 * (size_t)own_rank;
    args->num_addressable_devices = 2;
    return NULL;
}

static PJRT_Error *description(PJRT_Device_GetDescription_Args *args)
{
    args->device_description = (PJRT_DeviceDescription *)(void *)args->device;
    return NULL;
}

static PJRT_Error *device_id(PJRT_DeviceDescription_Id_Args *args)
{
    args->id = id_of(args->device_description);
    return NULL;
}

static PJRT_Error *process_index(PJRT_DeviceDescription_ProcessIndex_Args *args)
{
    args->process_index = id_of(args->device_description) / 2;
    return NULL;
}

static PJRT_Error *own_index(PJRT_Client_ProcessIndex_Args *args)
{
    args->process_index = (int)own_rank;
    return NULL;
}

static PJRT_Api table = {.struct_size = PJRT_Api_STRUCT_SIZE,
                         .PJRT_Client_ProcessIndex = own_index,
                         .PJRT_Client_Devices = all_devices,
                         .PJRT_Client_AddressableDevices = own_devices,
                         .PJRT_Device_GetDescription = description,
                         .PJRT_DeviceDescription_Id = device_id,
                         .PJRT_DeviceDescription_ProcessIndex = process_index};

static void path_of(const char *key, size_t size, char out[256])
{
    int n = snprintf(out, 256, "%s/%.*s", folder, (int)size, key);

    for (char *p = out + strlen(folder) + 1; p < out + n; p++)
        *p = *p == '/' ? '_' : *p;
}

static PJRT_Error *no(PJRT_CallbackError *make, PJRT_Error_Code code)
{
    return (*make)(code, "no", 2);
}

static PJRT_Error *put(PJRT_KeyValuePutCallback_Args *args)
{
    char path[256];
    int fd;

    if (dead) {
        dead_calls++;
        return no(args->callback_error, PJRT_Error_Code_UNAVAILABLE);
    }
    path_of(args->key, args->key_size, path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return no(args->callback_error, PJRT_Error_Code_ALREADY_EXISTS);
    if (write(fd, args->value, args->value_size) != (ssize_t)args->value_size)
        abort();
    close(fd);
    return NULL;
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static PJRT_Error *get(PJRT_KeyValueGetCallback_Args *args)
{
    static _Thread_local char value[512];
    char path[256];

    if (dead) {
        dead_calls++;
        return no(args->callback_error, PJRT_Error_Code_UNAVAILABLE);
    }
    asked += memmem(args->key, args->key_size, "/vote/", 6) != NULL;
    if (forged && memmem(args->key, args->key_size, "/vote/", 6)) {
        args->value = strcpy(value, "y");
        args->value_size = 1;
        args->value_deleter_callback = NULL;
        return NULL;
    }
    path_of(args->key, args->key_size, path);
    for (uint64_t until = now_ms() + (uint64_t)args->timeout_in_ms; now_ms() < until;) {
        int fd = open(path, O_RDONLY);
        ssize_t n = fd >= 0 ? read(fd, value, sizeof value) : 0;

        if (fd >= 0)
            close(fd);
        if (n > 0) {
            args->value = value;
            args->value_size = (size_t)n;
            args->value_deleter_callback = NULL;
            return NULL;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return no(args->callback_error, PJRT_Error_Code_DEADLINE_EXCEEDED);
}

static struct stet_plugin plugin;
static char handle;
#define CLIENT ((PJRT_Client *)(void *)&handle)

/* The pod writes to a journal. */
static void start_layer(void)
{
    static char dir[] = "/tmp/stet-ranks-run-XXXXXX";

    if (getenv("STET_DIR"))
        return;
    EXPECT(mkdtemp(dir) != NULL);
    setenv("STET_DIR", dir, 1);
    setenv("STET_RANKS_CHANNEL", "kv", 1);
    EXPECT(stet_layer_start());
}

/* A client of this rank; with a key-value store when its job has one. */
static void begin(int64_t rank, bool job)
{
    PJRT_NamedValue numbers[2] = {
        {.name = "node_id", .name_size = 7, .type = PJRT_NamedValue_kInt64, .int64_value = rank},
        {.name = "num_nodes", .name_size = 9, .type = PJRT_NamedValue_kInt64, .int64_value = 2}};
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE,
                                    .create_options = numbers,
                                    .num_options = 2,
                                    .kv_get_callback = job ? get : NULL,
                                    .kv_put_callback = job ? put : NULL};

    start_layer();
    for (size_t i = 0; i < device_count; i++) {
        ids[i] = (int)i;
        devices[device_count - 1 - i] = (PJRT_Device *)(void *)&ids[i];
    }
    own_rank = rank;
    atomic_store(&plugin.real, &table);
    atomic_store(&plugin.clients[0].handle, CLIENT);
    atomic_store(&plugin.clients[0].id, 1);
    stet_intercept_pod_leave(1);
    stet_ranks_leave(1);
    stet_intercept_pod_join(&plugin, CLIENT, 1, &args);
    if (stet_intercept_pod_channel(STET_POD_REACH_JOB)) /* waits until it is chosen */
        stet_intercept_pod_put_back();
}

/* CompileOptionsProto with a device assignment: executable_build_options (3), device_assignment
 * (9), computation_devices (3), replica_device_ids (1). */
static struct stet_view assigned(char out[32], const char *which)
{
    size_t n = strlen(which);
    char *at = out;

    *at++ = 0x1a;
    *at++ = (char)(n + 6);
    *at++ = 0x4a;
    *at++ = (char)(n + 4);
    *at++ = 0x1a;
    *at++ = (char)(n + 2);
    *at++ = 0x0a;
    *at++ = (char)n;
    for (size_t i = 0; i < n; i++)
        *at++ = (char)(which[i] - '0');
    return stet_view_of(out, n + 8);
}

/* How many must agree on a program that runs on these devices; -1 when it can't be told. */
static int count(const char *which)
{
    struct stet_arena a;
    struct stet_ranks r;
    char bytes[32];
    bool known;

    stet_arena_init(&a, 1 << 20);
    known = stet_ranks_of(&r, &plugin, CLIENT, assigned(bytes, which), &a);
    if (known && r.count)
        EXPECT(r.ranks[0] == 0 && r.ranks[1] == 1);
    stet_arena_release(&a);
    return known ? (int)r.count : -1;
}

TEST(all_ranks_whose_devices_run_a_program_must_agree)
{
    begin(0, true);
    EXPECT_INT(2, count("0123"));
    EXPECT_INT(2, count("12"));
    EXPECT_INT(0, count("01")); /* its own */
    EXPECT_INT(0, count("1"));
    EXPECT_INT(-1, count("7")); /* nobody's */
    EXPECT_INT(2, count(""));   /* says nothing of devices: may run on all */
    setenv("STET_RANKS", "all", 1);
    EXPECT_INT(2, count("1"));
    setenv("STET_RANKS", "each", 1);
    EXPECT_INT(0, count("0123"));
    unsetenv("STET_RANKS");
}

/* A rank that is left out of the vote would be served while others compile, or the other way. */
TEST(no_rank_of_a_large_job_is_left_out)
{
    struct stet_arena a;
    struct stet_ranks r;
    size_t in_order = 0;
    char bytes[32];

    device_count = DEVICES_MAX;
    begin(0, true);
    stet_arena_init(&a, 1 << 20);
    EXPECT(stet_ranks_of(&r, &plugin, CLIENT, assigned(bytes, ""), &a));
    EXPECT_INT(DEVICES_MAX / 2, r.count);
    for (size_t i = 0; i < r.count; i++)
        in_order += r.ranks[i] == i;
    EXPECT_INT(DEVICES_MAX / 2, in_order);
    EXPECT(stet_ranks_of(&r, &plugin, CLIENT, assigned(bytes, "0279"), &a));
    EXPECT_INT(4, r.count);
    EXPECT(r.ranks[0] == 0 && r.ranks[1] == 1 && r.ranks[2] == 3 && r.ranks[3] == 4);
    stet_arena_release(&a);
    device_count = 4;
    begin(0, true);
}

/* jaxlib sets the callbacks only in a job, and leaves what its stack held in them otherwise. */
TEST(callbacks_of_a_client_outside_a_job_are_not_called)
{
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE,
                                    .kv_get_callback = (PJRT_KeyValueGetCallback)(uintptr_t)16,
                                    .kv_put_callback = (PJRT_KeyValuePutCallback)(uintptr_t)16};

    begin(0, true);
    stet_intercept_pod_leave(1);
    stet_intercept_pod_join(&plugin, CLIENT, 1, &args);
    EXPECT(!stet_intercept_pod_channel(STET_POD_REACH_JOB));
    begin(0, true);
}

TEST(without_a_key_value_store_ranks_cannot_agree)
{
    begin(0, false);
    EXPECT_INT(-1, count("0123"));
    EXPECT_INT(-1, count("1")); /* the compiler may talk to its peers all the same */
    EXPECT(!stet_ranks_can(&plugin, CLIENT));
    setenv("STET_RANKS", "each", 1);
    EXPECT(stet_ranks_can(&plugin, CLIENT));
    EXPECT_INT(0, count("0123"));
    unsetenv("STET_RANKS");
}

static bool is_decided(void)
{
    char command[128];

    snprintf(command, sizeof command, "ls %s | grep -q decision", folder);
    return system(command) == 0;
}

/* What a rank decides is its exit code. One that is late comes when it has been decided. */
static pid_t rank(int64_t number, bool have, bool late)
{
    pid_t pid = fork();

    if (pid == 0) {
        struct stet_key_parts parts = {0};
        uint32_t all[RANKS_MAX];
        struct stet_ranks r = {.count = device_count / 2, .ranks = all};

        for (uint32_t i = 0; i < r.count; i++)
            all[i] = i;
        begin(number, true);
        while (late && !is_decided())
            usleep(10000);
        parts.part[STET_COMPONENT_PROGRAM] = STET_VIEW("p");
        parts.part[STET_COMPONENT_OPTIONS] = STET_VIEW("o");
        _exit(stet_ranks_agree(&r, &parts, have, NULL));
    }
    return pid;
}

static void expect_both(bool first, bool second, bool late, bool serve)
{
    pid_t pids[2];

    make_folder("ranks");
    setenv("STET_RANKS_WAIT_MS", late ? "100" : "60000", 1);
    pids[0] = rank(0, first, false);
    pids[1] = rank(1, second, late);
    for (int i = 0; i < 2; i++) {
        int status = -1;

        EXPECT_INT(pids[i], waitpid(pids[i], &status, 0));
        EXPECT(WIFEXITED(status));
        EXPECT_INT(serve, WEXITSTATUS(status));
    }
    remove_folder();
}

TEST(all_are_served_or_none)
{
    expect_both(true, true, false, true);
    expect_both(true, false, false, false);
    expect_both(false, true, false, false);
    expect_both(false, false, false, false);
    expect_both(true, true, true, false); /* one comes when the other has given up: neither */
}

/* Ranks 1 to 32 are children of rank 0 in the tree, and the others are children of these. */
static int served_of(unsigned ranks, unsigned without)
{
    pid_t pids[RANKS_MAX];
    int served = 0;

    make_folder("ranks");
    setenv("STET_RANKS_WAIT_MS", "60000", 1);
    device_count = 2 * (size_t)ranks;
    for (unsigned i = 0; i < ranks; i++)
        pids[i] = rank(i, i != without, false);
    for (unsigned i = 0; i < ranks; i++) {
        int status = -1;

        EXPECT_INT(pids[i], waitpid(pids[i], &status, 0));
        served += WIFEXITED(status) && WEXITSTATUS(status) == 1;
    }
    device_count = 4;
    remove_folder();
    return served;
}

TEST(many_ranks_agree_along_a_tree)
{
    EXPECT_INT(36, served_of(36, RANKS_MAX));
    EXPECT_INT(0, served_of(36, 35)); /* a leaf below another leaf's level */
    EXPECT_INT(0, served_of(36, 1));  /* its parent */
    EXPECT_INT(0, served_of(3, 0));   /* the root */
}

/* Rank 0 of two waits for the vote of rank 1, for which it would wait an hour, and finds the store
 * with this fault. Returns what the two ranks agreed on. */
static int agreed_alone(atomic_bool *fault)
{
    uint32_t both[2] = {0, 1};
    struct stet_ranks r = {.count = 2, .ranks = both};
    struct stet_key_parts parts = {.part[STET_COMPONENT_PROGRAM] = STET_VIEW("p")};
    int status = -1;
    pid_t pid;

    make_folder("ranks");
    setenv("STET_RANKS_WAIT_MS", "3600000", 1);
    pid = fork();
    if (pid == 0) {
        begin(0, true);
        *fault = true;
        _exit(stet_ranks_agree(&r, &parts, true, NULL) ? 1 : dead_calls <= 6 ? 0 : dead_calls);
    }
    EXPECT_INT(pid, waitpid(pid, &status, 0)); /* it ends: the store is given up */
    EXPECT(WIFEXITED(status));
    remove_folder();
    return WEXITSTATUS(status);
}

/* Three failed calls end it; the thread of the member may have made some too. */
TEST(a_store_that_dies_is_not_waited_for)
{
    EXPECT_INT(0, agreed_alone(&dead));
}

/* What a rank reads as a vote was written as one, under that key. */
TEST(values_that_are_not_votes_do_not_count)
{
    EXPECT_INT(0, agreed_alone(&forged));
}

TEST(a_rank_that_never_votes_is_waited_for_once)
{
    uint32_t both[2] = {0, 1};
    struct stet_ranks r = {.count = 2, .ranks = both};
    struct stet_key_parts parts = {0};

    make_folder("ranks");
    setenv("STET_RANKS_WAIT_MS", "20", 1);
    begin(0, true);
    asked = 0;
    parts.part[STET_COMPONENT_PROGRAM] = STET_VIEW("first");
    EXPECT(!stet_ranks_agree(&r, &parts, true, NULL));
    EXPECT(asked > 0);
    asked = 0;
    parts.part[STET_COMPONENT_PROGRAM] = STET_VIEW("second");
    EXPECT(!stet_ranks_agree(&r, &parts, true, NULL));
    EXPECT_INT(0, asked);
    remove_folder();
}
