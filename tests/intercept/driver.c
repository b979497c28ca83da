/* A client for Python tests, called through ctypes: libguest_driver.so. */
#include "harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int drive_open(const char *plugin);
EXPORT int drive_compile(const char *code);
EXPORT int drive_compile_on_worker(const char *code);
EXPORT void drive_compile_at_exit(void);
EXPORT int drive_load(const char *code);
EXPORT int drive_copy(unsigned elements, unsigned seed);
EXPORT double drive_time_copies(unsigned count);
EXPORT double drive_time_compile(const char *code);

static struct harness h;

int drive_open(const char *plugin)
{
    return harness_open(&h, plugin) && harness_initialize(&h) && harness_client(&h, NULL, 0);
}

int drive_compile(const char *code)
{
    struct harness mine = h;
    PJRT_LoadedExecutable *x = harness_compile(&mine, code, strlen(code), "mlir", "", 0);

    if (x)
        harness_loaded_destroy(&mine, x);
    return x != NULL;
}

static void *worker(void *code)
{
    return drive_compile(code) ? code : NULL;
}

/* As JAX 0.10 does: a thread without Python frames compiles, the caller waits. */
int drive_compile_on_worker(const char *code)
{
    void *result = NULL;
    pthread_t thread;

    if (pthread_create(&thread, NULL, worker, (void *)(uintptr_t)code) != 0)
        return 0;
    pthread_join(thread, &result);
    return result != NULL;
}

static void late(void)
{
    drive_compile("fake program late\n");
}

/* After the interpreter is gone. */
void drive_compile_at_exit(void)
{
    atexit(late);
}

/* Serialises a program and loads it back. */
int drive_load(const char *code)
{
    struct harness mine = h;
    PJRT_LoadedExecutable *x = harness_compile(&mine, code, strlen(code), "mlir", "", 0), *again;
    PJRT_Executable *e = x ? harness_executable(&mine, x) : NULL;
    size_t size;
    char *bytes = e ? harness_serialize(&mine, e, &size) : NULL;

    again = bytes ? harness_deserialize(&mine, bytes, size) : NULL;
    free(bytes);
    if (e)
        harness_executable_destroy(&mine, e);
    if (x)
        harness_loaded_destroy(&mine, x);
    if (again)
        harness_loaded_destroy(&mine, again);
    return again != NULL;
}

/* Sends a vector of floats to the device and reads it back; its first byte, or -1. */
int drive_copy(unsigned elements, unsigned seed)
{
    struct harness mine = h;
    int64_t dims[] = {elements};
    PJRT_Buffer *b = harness_buffer(&mine, PJRT_Buffer_Type_F32, dims, 1, 4 * elements, seed);
    size_t size = 0;
    unsigned char *bytes = b ? harness_read(&mine, b, &size) : NULL;
    int first = bytes && size ? bytes[0] : -1;

    free(bytes);
    if (b)
        harness_buffer_destroy(&mine, b);
    return first;
}

static double clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Reads a number back so many times; nanoseconds for each, or 0 when it could not be done. */
double drive_time_copies(unsigned count)
{
    struct harness mine = h;
    float value;
    PJRT_Buffer *b = harness_buffer(&mine, PJRT_Buffer_Type_F32, NULL, 0, sizeof value, 1);
    ARGS(PJRT_Buffer_ToHostBuffer, args, .src = b);
    ARGS(PJRT_Event_Destroy, destroy, .event = NULL);
    double begin = clock_ns(CLOCK_MONOTONIC);

    for (unsigned i = 0; b && i < count; i++) {
        args.dst = &value;
        args.dst_size = sizeof value;
        args.event = NULL;
        if (mine.api->PJRT_Buffer_ToHostBuffer(&args))
            return 0;
        destroy.event = args.event;
        mine.api->PJRT_Event_Destroy(&destroy);
    }
    begin = b ? (clock_ns(CLOCK_MONOTONIC) - begin) / count : 0;
    if (b)
        harness_buffer_destroy(&mine, b);
    return begin;
}

/* Processor time of this thread for a compile, in nanoseconds. */
double drive_time_compile(const char *code)
{
    struct harness mine = h;
    size_t size = strlen(code);
    double begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), end;
    PJRT_LoadedExecutable *x = harness_compile(&mine, code, size, "mlir", "", 0);

    end = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (x)
        harness_loaded_destroy(&mine, x);
    return end - begin;
}
