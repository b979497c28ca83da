#include "bench.h"

#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MAX = 8 << 20 };

static void open_or_die(struct harness *h, const char *path)
{
    if (!harness_open(h, path) || !harness_initialize(h) || !harness_client(h, NULL, 0)) {
        fprintf(stderr, "%s: %s\n", path, h->text);
        exit(1);
    }
}

void bench_begin(struct bench *b)
{
    bench_begin_with(b, "libfake_pjrt_bare.so", false);
}

void bench_begin_with(struct bench *b, const char *name, bool store)
{
    char plugin[256], folder[80];
    cpu_set_t one;

    snprintf(b->state, sizeof(b->state), "/tmp/stet-bench-XXXXXX");
    if (!mkdtemp(b->state))
        exit(1);
    snprintf(plugin, sizeof(plugin), STET_LIB_DIR "/%s", name);
    snprintf(folder, sizeof(folder), "%s/store", b->state);
    setenv("STET_STORE", store ? folder : "off", 1);
    setenv("STET_DIR", b->state, 1);
    setenv("STET_PLUGIN", plugin, 1);
    open_or_die(&b->bare, plugin);
    open_or_die(&b->layer, STET_LIB_DIR "/libstet_plugin.so");
    if (b->bare.api == b->layer.api) {
        fprintf(stderr, "the layer is not in between\n");
        exit(1);
    }
    /* This thread alone: the layer's own threads inherit nothing from before they start, so they
     * are started by the client above. */
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

void bench_end(struct bench *b)
{
    harness_client_destroy(&b->bare);
    harness_client_destroy(&b->layer);
    nftw(b->state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

struct bench_bytes bench_read(const char *folder, const char *name)
{
    struct bench_bytes b = {malloc(FILE_MAX), 0};
    char path[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", name);
    f = fopen(path, "rb");
    if (!f || !b.ptr) {
        perror(path);
        exit(1);
    }
    b.len = fread(b.ptr, 1, FILE_MAX, f);
    fclose(f);
    return b;
}

PJRT_LoadedExecutable *bench_must(struct harness *h, PJRT_LoadedExecutable *loaded)
{
    if (!loaded) {
        fprintf(stderr, "%s\n", h->text);
        exit(1);
    }
    return loaded;
}

double bench_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double bench_cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_quantile(double *values, size_t count, double q)
{
    qsort(values, count, sizeof(*values), compare);
    return values[(size_t)(q * (double)(count - 1))];
}

void bench_print(const char *name, const char *unit, double value, double low, double high,
                 const char *against, double baseline, double limit)
{
    printf("{\"bench\":\"%s\",\"unit\":\"%s\",\"value\":%.3f,\"p10\":%.3f,\"p90\":%.3f,"
           "\"against\":\"%s\",\"baseline\":%.3f,\"limit\":",
           name, unit, value, low, high, against, baseline);
    printf(limit > 0 ? "%g}\n" : "null}\n", limit);
    fflush(stdout);
}
