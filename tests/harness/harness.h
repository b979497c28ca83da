/* A small PJRT client: what a framework does with a plugin, as C functions for tests and benches.
 * Uses nothing of Stet's but the ABI headers, so that nothing done to Stet touches it. */
#ifndef STET_TESTS_HARNESS_H
#define STET_TESTS_HARNESS_H

#include "abi/api.h"

/* Declares arguments of an entry with struct_size set, the rest zero or as given. */
#define ARGS(entry, name, ...)                                                                     \
    entry##_Args name = {.struct_size = entry##_Args_STRUCT_SIZE, __VA_ARGS__}

struct harness {
    void *handle;
    const PJRT_Api *api;
    PJRT_Client *client;
    PJRT_Error_Code code; /* of the last failure, OK when there was none */
    char text[512];
};

/* dlopen, dlsym("GetPjrtApi"), call: as every framework does. False with code and text set when the
 * library or its table is not there. Never closed: plugins do not survive it. */
bool harness_open(struct harness *h, const char *path);

/* True for NULL. Else takes the error, keeps its code and text, and destroys it. */
bool harness_ok(struct harness *h, PJRT_Error *error);

/* Those below return false or NULL with code and text set when the plugin says no. */
bool harness_initialize(struct harness *h);
bool harness_client(struct harness *h, const PJRT_NamedValue *options, size_t num_options);
void harness_client_destroy(struct harness *h);
PJRT_LoadedExecutable *harness_compile(struct harness *h, const char *code, size_t size,
                                       const char *format, const char *options,
                                       size_t options_size);
void harness_loaded_destroy(struct harness *h, PJRT_LoadedExecutable *loaded);
PJRT_Executable *harness_executable(struct harness *h, PJRT_LoadedExecutable *loaded);
void harness_executable_destroy(struct harness *h, PJRT_Executable *executable);

/* The bytes are malloc'd and the caller's. */
char *harness_serialize(struct harness *h, PJRT_Executable *executable, size_t *size);
PJRT_LoadedExecutable *harness_deserialize(struct harness *h, const char *bytes, size_t size);

/* A copy of `data` on the addressable device with this number, from 0. */
PJRT_Buffer *harness_buffer_of(struct harness *h, size_t device, PJRT_Buffer_Type type,
                               const int64_t *dims, size_t rank, const void *data);
/* Elements counted up from `seed`, so that different seeds give different buffers. */
PJRT_Buffer *harness_buffer(struct harness *h, PJRT_Buffer_Type type, const int64_t *dims,
                            size_t rank, size_t bytes, unsigned seed);
void harness_buffer_destroy(struct harness *h, PJRT_Buffer *buffer);
/* malloc'd, the caller's. */
unsigned char *harness_read(struct harness *h, PJRT_Buffer *buffer, size_t *size);
/* On the first device; waits for it. `outputs` has room for all. */
bool harness_execute(struct harness *h, PJRT_LoadedExecutable *loaded, PJRT_Buffer *const *inputs,
                     size_t num_inputs, PJRT_Buffer **outputs);

/* As a framework that traces: HARNESS_UNTIL=ENTRY=N in the environment waits until the fake plugin
 * saw so many calls, half a minute at most. Not on the command line: that is what a layer may know
 * a launch by. */
void harness_wait_for_calls(const struct harness *h);

#endif
