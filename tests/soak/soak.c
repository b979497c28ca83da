/* Wears a plugin, or the layer over it, down: many threads execute, compile, transfer, fail and
 * destroy while the process forks. Every result is compared with what the plugin alone gives; at
 * the end nothing may be alive, and neither memory nor files may have grown beyond a bound.
 * usage: soak [options] PLUGIN     see `usage` below; prints JSON, exits 1 when anything is wrong
 */
#include "harness.h"

#include <dlfcn.h>
#include <ftw.h>
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: soak [options] PLUGIN\n"
    "  --executes N    in all threads together (100000)\n"
    "  --compiles N    (200)\n"
    "  --threads N     (8)\n"
    "  --forks N       children that use the plugin too (8)\n"
    "  --clients N     clients, used by the threads in turn (2)\n"
    "  --counts PATH   the fake plugin below, when PLUGIN is a layer over it\n"
    "  --state DIR     where the layer keeps its journals\n"
    "  --state-mb N    how large those may get (256)\n"
    "  --grow-mb N     how much memory may be in use at the end beyond a third of the way (64)\n";

enum {
    FAMILIES = 16,
    RANK = 1,
    CLIENTS_MAX = 16,
    SMALL = 32,
    CHILD_EXECUTES = 200,
    PROGRAM_MAX = 512
};

struct plan {
    long executes, compiles, threads, forks, clients, state_mb, grow_mb;
    const char *plugin, *counts, *state;
};

static struct plan plan = {100000, 200, 8, 8, 2, 256, 64, NULL, NULL, NULL};
static struct harness clients[CLIENTS_MAX];
static PJRT_LoadedExecutable *shared[CLIENTS_MAX][FAMILIES];
static unsigned char expected[FAMILIES][SMALL]; /* of family f on an input of seed f */
static atomic_long executes_left, compiles_left, compiled, refused;
/* Calls made, which is what the layer must have counted for this process. */
static atomic_long call_compile, call_load, call_execute;
static atomic_bool wrong;

static void complain(const char *what, const char *detail)
{
    if (!atomic_exchange(&wrong, true))
        fprintf(stderr, "soak: %s: %s\n", what, detail);
}

/* Family f's program; number n makes it one of a kind, f alone one of FAMILIES. It is MLIR, so that
 * a store has a key for it. */
static size_t program_text(char text[PROGRAM_MAX], int family, long n)
{
    return (size_t)snprintf(
        text, PROGRAM_MAX,
        "// fake program f%d\n// in f32[8]\n// out f32[8] s32[]\n"
        "func.func @main(%%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<2xi64>) {\n"
        "  %%n = stablehlo.constant dense<[%d, %ld]> : tensor<2xi64>\n"
        "  return %%x, %%n : tensor<8xf32>, tensor<2xi64>\n}\n",
        family, family, n);
}

/* Runs `loaded` on the input of that seed into `result`. */
static bool run(struct harness *h, PJRT_LoadedExecutable *loaded, unsigned seed,
                unsigned char result[SMALL])
{
    static const int64_t dims[RANK] = {8};
    PJRT_Buffer *in = harness_buffer(h, PJRT_Buffer_Type_F32, dims, RANK, SMALL, seed);
    PJRT_Buffer *out[2] = {NULL, NULL};
    unsigned char *bytes = NULL;
    size_t size = 0;
    bool ok = in && harness_execute(h, loaded, &in, 1, out);

    if (ok)
        bytes = harness_read(h, out[0], &size);
    ok = ok && bytes && size == SMALL;
    if (ok)
        memcpy(result, bytes, SMALL);
    free(bytes);
    for (int i = 0; i < 2; i++)
        if (out[i])
            harness_buffer_destroy(h, out[i]);
    if (in)
        harness_buffer_destroy(h, in);
    atomic_fetch_add_explicit(&call_execute, in != NULL, memory_order_relaxed);
    return ok;
}

static PJRT_LoadedExecutable *compile(struct harness *h, const char *text, size_t size)
{
    atomic_fetch_add(&call_compile, 1);
    return harness_compile(h, text, size, "mlir", "", 0); /* default options */
}

static void check_run(struct harness *h, PJRT_LoadedExecutable *loaded, int family)
{
    unsigned char result[SMALL];

    if (!run(h, loaded, (unsigned)family, result))
        complain("execute", h->text);
    else if (memcmp(result, expected[family], SMALL) != 0)
        complain("execute", "another result than the plugin alone gives");
}

/* One of a kind: compiled, asked about, serialised, loaded back, run, destroyed. */
static void compile_new(struct harness *h, int family, long n)
{
    char text[PROGRAM_MAX];
    size_t size = program_text(text, family, n), bytes_size = 0;
    unsigned char first[SMALL], second[SMALL];
    PJRT_LoadedExecutable *loaded = compile(h, text, size), *again;
    PJRT_Executable *executable = loaded ? harness_executable(h, loaded) : NULL;
    char *bytes = executable ? harness_serialize(h, executable, &bytes_size) : NULL;

    again = bytes ? harness_deserialize(h, bytes, bytes_size) : NULL;
    atomic_fetch_add(&call_load, bytes != NULL);
    if (!again)
        complain("compile", h->text);
    else if (!run(h, loaded, 1, first) || !run(h, again, 1, second) ||
             memcmp(first, second, SMALL) != 0)
        complain("compile", "loaded back it gives another result");
    if (again)
        harness_loaded_destroy(h, again);
    if (executable)
        harness_executable_destroy(h, executable);
    if (loaded)
        harness_loaded_destroy(h, loaded);
    free(bytes);
    atomic_fetch_add(&compiled, 1);
}

/* The same program again, and one that is refused: as often as new ones. */
static void compile_known(struct harness *h, int family)
{
    static const char bad[] = "fake program bad\nerror 8 no room\n";
    char text[PROGRAM_MAX];
    size_t size = program_text(text, family, -1);
    PJRT_LoadedExecutable *loaded = compile(h, text, size);

    if (!loaded)
        complain("compile", h->text);
    else
        check_run(h, loaded, family);
    if (loaded)
        harness_loaded_destroy(h, loaded);
    if (compile(h, bad, sizeof(bad) - 1) || h->code != PJRT_Error_Code_RESOURCE_EXHAUSTED ||
        strcmp(h->text, "no room") != 0)
        complain("refusal", h->text);
    atomic_fetch_add(&refused, 1);
    atomic_fetch_add(&compiled, 1);
}

/* AddressSanitizer's allocator does not survive a fork that another thread's malloc is in the
 * middle of, so there the threads stand still meanwhile. Everywhere else they don't. */
#ifdef __SANITIZE_ADDRESS__
static pthread_rwlock_t forking = PTHREAD_RWLOCK_INITIALIZER;
#define WORKING(what)                                                                              \
    do {                                                                                           \
        pthread_rwlock_rdlock(&forking);                                                           \
        what;                                                                                      \
        pthread_rwlock_unlock(&forking);                                                           \
    } while (0)
#define STANDING_STILL(what)                                                                       \
    do {                                                                                           \
        pthread_rwlock_wrlock(&forking);                                                           \
        what;                                                                                      \
        pthread_rwlock_unlock(&forking);                                                           \
    } while (0)
#else
#define WORKING(what)        what
#define STANDING_STILL(what) what
#endif

static bool take(atomic_long *left)
{
    return atomic_fetch_sub_explicit(left, 1, memory_order_relaxed) > 0;
}

/* One round of a thread: an execute, and now and then a compile. */
static void work(size_t thread, unsigned random, long every)
{
    size_t c = thread % (size_t)plan.clients;
    struct harness h = clients[c]; /* a place of its own for errors */
    int family = (int)((random >> 16) % FAMILIES);

    check_run(&h, shared[c][family], family);
    if ((long)(random >> 8) % every == 0 && take(&compiles_left)) {
        if (random & 1)
            compile_new(&h, family, atomic_load(&compiled) * 1000 + (long)thread);
        else
            compile_known(&h, family);
    }
}

/* Compiles are spread evenly over the executes, whoever comes first. */
static void *worker(void *arg)
{
    size_t thread = (size_t)(uintptr_t)arg;
    unsigned random = (unsigned)thread * 2654435761u + 1;
    long every = plan.executes / (plan.compiles ? plan.compiles : 1) + 1;

    while (take(&executes_left) && !atomic_load(&wrong)) {
        random = random * 1664525u + 1013904223u;
        WORKING(work(thread, random, every));
    }
    while (take(&compiles_left) && !atomic_load(&wrong)) { /* what chance left over */
        struct harness h = clients[0];

        WORKING(compile_new(&h, 0, atomic_load(&compiled) * 1000 + (long)thread));
    }
    return NULL;
}

/* In a child of a process with many threads: the parent's executables, and one of its own. */
static void child(long n)
{
    struct harness h = clients[(size_t)n % (size_t)plan.clients];

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    /* Neither survives such a fork: the locks of their allocators stay with whoever held them, and
     * threads begun afterwards end the process. Only the fork itself is tried. */
    _exit(0);
#endif
    for (int i = 0; i < CHILD_EXECUTES; i++)
        check_run(&h, shared[(size_t)n % (size_t)plan.clients][i % FAMILIES], i % FAMILIES);
    compile_new(&h, 0, -2 - n);
    if (n % 2)
        _exit(atomic_load(&wrong));
    exit(atomic_load(&wrong));
}

static void fork_once(long n)
{
    pid_t pid;
    int status = 0;

    STANDING_STILL(pid = fork());
    if (pid == 0)
        child(n);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        char text[64];

        snprintf(text, sizeof(text), "status %x", (unsigned)status);
        complain("child", text);
    }
}

static long resident_kb(void)
{
    char line[128];
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "VmRSS: %ld", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb;
}

static long state_bytes, state_files;

static int add_file(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)path, (void)where;
    if (type == FTW_F) {
        state_bytes += (long)info->st_size;
        state_files++;
    }
    return 0;
}

/* Open the plugin, once a client, and learn what it answers. */
static void start(void)
{
    for (long c = 0; c < plan.clients; c++) {
        struct harness *h = &clients[c];

        if (!harness_open(h, plan.plugin) || !harness_initialize(h) ||
            !harness_client(h, NULL, 0)) {
            fprintf(stderr, "soak: %s: %s\n", plan.plugin, h->text);
            exit(1);
        }
        for (int f = 0; f < FAMILIES; f++) {
            unsigned char result[SMALL];
            char text[PROGRAM_MAX];
            size_t size = program_text(text, f, -1);

            shared[c][f] = compile(h, text, size);
            if (!shared[c][f] || !run(h, shared[c][f], (unsigned)f, result))
                complain("start", h->text);
            else if (c == 0)
                memcpy(expected[f], result, SMALL);
        }
    }
}

static void finish(void)
{
    for (long c = 0; c < plan.clients; c++) {
        for (int f = 0; f < FAMILIES; f++)
            harness_loaded_destroy(&clients[c], shared[c][f]);
        harness_client_destroy(&clients[c]);
    }
}

/* The same questions asked of the plugin below, whose own table it is in plugin mode: what the
 * layer does not see is not counted. */
static void compare_with_bare(void)
{
    long compiles = atomic_load(&call_compile), executes = atomic_load(&call_execute);
    struct harness h;

    if (!plan.counts || !harness_open(&h, plan.counts) || !harness_client(&h, NULL, 0))
        return;
    for (int f = 0; f < FAMILIES; f++) {
        char text[PROGRAM_MAX];
        size_t size = program_text(text, f, -1);
        PJRT_LoadedExecutable *loaded = compile(&h, text, size);

        if (loaded)
            check_run(&h, loaded, f);
        else
            complain("bare", h.text);
        harness_loaded_destroy(&h, loaded);
    }
    harness_client_destroy(&h);
    if (h.api != clients[0].api) {
        atomic_store(&call_compile, compiles);
        atomic_store(&call_execute, executes);
    }
}

static long live_in_plugin(void)
{
    void *handle = plan.counts ? dlopen(plan.counts, RTLD_NOW) : clients[0].handle;
    long (*live)(const char *) = NULL;

    if (handle)
        *(void **)&live = dlsym(handle, "FakePlugin_Live");
    return live ? live(NULL) : -1;
}

static long number(const char *text)
{
    char *end;
    double n = strtod(text, &end);

    if (*end || n < 0) {
        fputs(usage, stderr);
        exit(2);
    }
    return (long)n;
}

static void read_arguments(int argc, char **argv)
{
    static const struct option options[] = {{"executes", 1, NULL, 'x'}, {"compiles", 1, NULL, 'c'},
                                            {"threads", 1, NULL, 't'},  {"forks", 1, NULL, 'f'},
                                            {"clients", 1, NULL, 'n'},  {"counts", 1, NULL, 'p'},
                                            {"state", 1, NULL, 's'},    {"state-mb", 1, NULL, 'S'},
                                            {"grow-mb", 1, NULL, 'g'},  {NULL, 0, NULL, 0}};
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'p')
            plan.counts = optarg;
        else if (c == 's')
            plan.state = optarg;
        else if (c == '?')
            optind = argc;
        else
            *(c == 'x'   ? &plan.executes
              : c == 'c' ? &plan.compiles
              : c == 't' ? &plan.threads
              : c == 'f' ? &plan.forks
              : c == 'n' ? &plan.clients
              : c == 'S' ? &plan.state_mb
                         : &plan.grow_mb) = number(optarg);
    }
    if (optind + 1 != argc || plan.threads < 1 || plan.clients < 1 || plan.clients > CLIENTS_MAX) {
        fputs(usage, stderr);
        exit(2);
    }
    plan.plugin = argv[optind];
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 5000000}, NULL);
}

int main(int argc, char **argv)
{
    struct timespec begin, end;
    pthread_t *threads;
    long early_kb = 0, late_kb, live, forked = 0;

    read_arguments(argc, argv);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    start();
    compare_with_bare();
    atomic_store(&executes_left, plan.executes);
    atomic_store(&compiles_left, plan.compiles);
    threads = calloc((size_t)plan.threads, sizeof(*threads));
    for (long i = 0; i < plan.threads; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(uintptr_t)i);
    while (atomic_load(&executes_left) > 0 && !atomic_load(&wrong)) {
        long done = plan.executes - atomic_load(&executes_left);

        if (!early_kb && done > plan.executes / 3)
            early_kb = resident_kb();
        if (forked < plan.forks && done >= forked * (plan.executes / (plan.forks + 1)))
            fork_once(forked++);
        else
            nap();
    }
    for (long i = 0; i < plan.threads; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    while (forked < plan.forks && !atomic_load(&wrong))
        fork_once(forked++);
    late_kb = resident_kb();
    finish();
    live = live_in_plugin();
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (plan.state)
        nftw(plan.state, add_file, 16, FTW_PHYS);
    if (live > 0)
        complain("leak", "things of the plugin's are still alive");
    if (early_kb && late_kb - early_kb > plan.grow_mb * 1024)
        complain("memory", "grew beyond the bound");
    if (state_bytes > plan.state_mb << 20)
        complain("state", "grew beyond the bound");
    printf("{\"pid\":%ld,\"compiles\":%ld,\"loads\":%ld,\"executions\":%ld,\"refused\":%ld,"
           "\"threads\":%ld,\"forks\":%ld,\"seconds\":%.1f,\"resident_kb\":[%ld,%ld],\"state_"
           "bytes\":%ld,"
           "\"state_files\":%ld,\"alive\":%ld,\"ok\":%s}\n",
           (long)getpid(), atomic_load(&call_compile), atomic_load(&call_load),
           atomic_load(&call_execute), atomic_load(&refused), plan.threads, forked,
           (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
           early_kb, late_kb, state_bytes, state_files, live,
           atomic_load(&wrong) ? "false" : "true");
    return atomic_load(&wrong) ? 1 : 0;
}
