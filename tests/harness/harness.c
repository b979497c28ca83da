#include "harness.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool fail(struct harness *h, PJRT_Error_Code code, const char *text)
{
    h->code = code;
    snprintf(h->text, sizeof(h->text), "%s", text);
    return false;
}

bool harness_open(struct harness *h, const char *path)
{
    stet_get_pjrt_api *get;

    memset(h, 0, sizeof(*h));
    h->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!h->handle)
        return fail(h, PJRT_Error_Code_NOT_FOUND, dlerror());
    *(void **)&get = dlsym(h->handle, STET_GET_PJRT_API);
    if (!get)
        return fail(h, PJRT_Error_Code_NOT_FOUND, "no GetPjrtApi");
    h->api = get();
    if (!h->api)
        return fail(h, PJRT_Error_Code_UNAVAILABLE, "GetPjrtApi returned NULL");
    if (!stet_api_usable(h->api)) /* we could not call it right */
        return fail(h, PJRT_Error_Code_FAILED_PRECONDITION, "a table we cannot read");
    return true;
}

bool harness_ok(struct harness *h, PJRT_Error *error)
{
    ARGS(PJRT_Error_GetCode, code, .error = error);
    ARGS(PJRT_Error_Message, message, .error = error);
    ARGS(PJRT_Error_Destroy, destroy, .error = error);

    if (!error)
        return true;
    h->api->PJRT_Error_GetCode(&code);
    h->api->PJRT_Error_Message(&message);
    h->code = code.code;
    snprintf(h->text, sizeof(h->text), "%.*s", (int)message.message_size, message.message);
    h->api->PJRT_Error_Destroy(&destroy);
    return false;
}

static bool has(struct harness *h, bool present, const char *name)
{
    return present ? true : fail(h, PJRT_Error_Code_UNIMPLEMENTED, name);
}

/* Calls an entry that may be beyond the table or NULL. */
#define CALL(h, entry, args)                                                                       \
    (has(h, stet_api_has((h)->api, entry), #entry " is not in the table") &&                       \
     harness_ok(h, (h)->api->entry(args)))

bool harness_initialize(struct harness *h)
{
    ARGS(PJRT_Plugin_Initialize, args, .extension_start = NULL);

    return CALL(h, PJRT_Plugin_Initialize, &args);
}

bool harness_client(struct harness *h, const PJRT_NamedValue *options, size_t num_options)
{
    ARGS(PJRT_Client_Create, args, .create_options = options, .num_options = num_options);

    if (!CALL(h, PJRT_Client_Create, &args))
        return false;
    h->client = args.client;
    return true;
}

void harness_client_destroy(struct harness *h)
{
    ARGS(PJRT_Client_Destroy, args, .client = h->client);

    if (h->client)
        (void)CALL(h, PJRT_Client_Destroy, &args);
    h->client = NULL;
}

PJRT_LoadedExecutable *harness_compile(struct harness *h, const char *code, size_t size,
                                       const char *format, const char *options, size_t options_size)
{
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)code, /* read only in a compile */
                            .code_size = size,
                            .format = format,
                            .format_size = strlen(format)};
    ARGS(PJRT_Client_Compile, args, .client = h->client, .program = &program,
         .compile_options = options, .compile_options_size = options_size);

    return CALL(h, PJRT_Client_Compile, &args) ? args.executable : NULL;
}

void harness_loaded_destroy(struct harness *h, PJRT_LoadedExecutable *loaded)
{
    ARGS(PJRT_LoadedExecutable_Destroy, args, .executable = loaded);

    (void)CALL(h, PJRT_LoadedExecutable_Destroy, &args);
}

PJRT_Executable *harness_executable(struct harness *h, PJRT_LoadedExecutable *loaded)
{
    ARGS(PJRT_LoadedExecutable_GetExecutable, args, .loaded_executable = loaded);

    return CALL(h, PJRT_LoadedExecutable_GetExecutable, &args) ? args.executable : NULL;
}

void harness_executable_destroy(struct harness *h, PJRT_Executable *executable)
{
    ARGS(PJRT_Executable_Destroy, args, .executable = executable);

    (void)CALL(h, PJRT_Executable_Destroy, &args);
}

char *harness_serialize(struct harness *h, PJRT_Executable *executable, size_t *size)
{
    ARGS(PJRT_Executable_Serialize, args, .executable = executable);
    char *bytes;

    if (!CALL(h, PJRT_Executable_Serialize, &args))
        return NULL;
    *size = args.serialized_bytes_size;
    bytes = malloc(*size + 1);
    if (bytes)
        memcpy(bytes, args.serialized_bytes, *size);
    args.serialized_executable_deleter(args.serialized_executable);
    return bytes;
}

PJRT_LoadedExecutable *harness_deserialize(struct harness *h, const char *bytes, size_t size)
{
    ARGS(PJRT_Executable_DeserializeAndLoad, args, .client = h->client,
         .serialized_executable = bytes, .serialized_executable_size = size);

    return CALL(h, PJRT_Executable_DeserializeAndLoad, &args) ? args.loaded_executable : NULL;
}

static bool await(struct harness *h, PJRT_Event *event)
{
    ARGS(PJRT_Event_Await, wait, .event = event);
    ARGS(PJRT_Event_IsReady, ready, .event = event);
    ARGS(PJRT_Event_Destroy, destroy, .event = event);
    bool ok = true;

    if (!event)
        return true;
    if (stet_api_has(h->api, PJRT_Event_Await))
        ok = harness_ok(h, h->api->PJRT_Event_Await(&wait));
    else /* a plugin with holes: look until it is */
        while (ok && !ready.is_ready)
            ok = CALL(h, PJRT_Event_IsReady, &ready);
    return CALL(h, PJRT_Event_Destroy, &destroy) && ok;
}

PJRT_Buffer *harness_buffer_of(struct harness *h, size_t device, PJRT_Buffer_Type type,
                               const int64_t *dims, size_t rank, const void *data)
{
    ARGS(PJRT_Client_AddressableDevices, devices, .client = h->client);
    ARGS(PJRT_Client_BufferFromHostBuffer, args, .client = h->client, .data = data, .type = type,
         .dims = dims, .num_dims = rank);

    if (!CALL(h, PJRT_Client_AddressableDevices, &devices) ||
        device >= devices.num_addressable_devices)
        return NULL;
    args.device = devices.addressable_devices[device];
    args.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
    if (!CALL(h, PJRT_Client_BufferFromHostBuffer, &args))
        return NULL;
    await(h, args.done_with_host_buffer);
    return args.buffer;
}

PJRT_Buffer *harness_buffer(struct harness *h, PJRT_Buffer_Type type, const int64_t *dims,
                            size_t rank, size_t bytes, unsigned seed)
{
    unsigned char *data = malloc(bytes + 1);
    PJRT_Buffer *buffer = NULL;

    for (size_t i = 0; data && i < bytes; i++)
        data[i] = (unsigned char)(seed * 31 + i * 7);
    if (data)
        buffer = harness_buffer_of(h, 0, type, dims, rank, data);
    free(data);
    return buffer;
}

void harness_buffer_destroy(struct harness *h, PJRT_Buffer *buffer)
{
    ARGS(PJRT_Buffer_Destroy, args, .buffer = buffer);

    (void)CALL(h, PJRT_Buffer_Destroy, &args);
}

unsigned char *harness_read(struct harness *h, PJRT_Buffer *buffer, size_t *size)
{
    ARGS(PJRT_Buffer_ToHostBuffer, args, .src = buffer);

    if (!CALL(h, PJRT_Buffer_ToHostBuffer, &args))
        return NULL;
    await(h, args.event);
    args.dst = malloc(args.dst_size + 1);
    args.event = NULL;
    if (!args.dst || !CALL(h, PJRT_Buffer_ToHostBuffer, &args) || !await(h, args.event)) {
        free(args.dst);
        return NULL;
    }
    *size = args.dst_size;
    return args.dst;
}

bool harness_execute(struct harness *h, PJRT_LoadedExecutable *loaded, PJRT_Buffer *const *inputs,
                     size_t num_inputs, PJRT_Buffer **outputs)
{
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_Event *done = NULL;
    ARGS(PJRT_LoadedExecutable_Execute, args, .executable = loaded, .options = &options,
         .argument_lists = &inputs, .num_devices = 1, .num_args = num_inputs,
         .output_lists = &outputs, .device_complete_events = &done);

    return CALL(h, PJRT_LoadedExecutable_Execute, &args) && await(h, done);
}

void harness_wait_for_calls(const struct harness *h)
{
    const char *until = getenv("HARNESS_UNTIL"), *number = until ? strchr(until, '=') : NULL;
    long (*calls)(const char *);
    char entry[128];

    *(void **)&calls = dlsym(h->handle, "FakePlugin_Calls");
    if (!number || !calls)
        return;
    snprintf(entry, sizeof entry, "%.*s", (int)(number - until), until);
    for (int i = 0; i < 30000 && calls(entry) < atol(number + 1); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}
