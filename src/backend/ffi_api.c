/* The functions that a library may call while it runs: errors, states, memory, threads, futures. */
#include "backend/ffi.h"

#include "backend/pool.h"
#include "base/mem.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_ARGUMENT = 3, NOT_FOUND = 5, EXHAUSTED = 8, PRECONDITION = 9, UNIMPLEMENTED = 12 };

/* ---- errors ---- */

static const struct {
    int code;
    char text[16];
} no_memory = {EXHAUSTED, "out of memory"};

static XLA_FFI_Error *error_new(int code, const char *text, size_t length)
{
    XLA_FFI_Error *e = stet_mem_alloc(sizeof *e + length + 1);

    if (!e)
        return (XLA_FFI_Error *)(uintptr_t)&no_memory;
    e->code = code;
    memcpy(e->text, text, length);
    e->text[length] = '\0';
    return e;
}

XLA_FFI_Error *stet_ffi_error(int code, const char *fmt, ...)
{
    char text[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return error_new(code, text, strlen(text));
}

void stet_ffi_error_free(XLA_FFI_Error *error)
{
    if ((const void *)error != &no_memory)
        stet_mem_free(error);
}

static XLA_FFI_Error *error_create(XLA_FFI_Error_Create_Args *args)
{
    const char *text = args->message ? args->message : "";

    return error_new(args->errc, text, strlen(text));
}

static void error_message(XLA_FFI_Error_GetMessage_Args *args)
{
    args->message = args->error->text;
    if (args->struct_size >= offsetof(XLA_FFI_Error_GetMessage_Args, errc) + sizeof args->errc)
        args->errc = args->error->code;
}

static void error_destroy(XLA_FFI_Error_Destroy_Args *args)
{
    stet_ffi_error_free(args->error);
}

/* ---- what cannot be asked for here ---- */

static XLA_FFI_Error *handler_register(XLA_FFI_Handler_Register_Args *args)
{
    struct stet_err err = STET_ERR_INIT;

    if (stet_ffi_register(stet_view_of(args->name.ptr, args->name.len), &args->bundle, &err) ==
        STET_OK)
        return NULL;
    return stet_ffi_error(INVALID_ARGUMENT, "%s", err.text);
}

static XLA_FFI_Error *stream_get(XLA_FFI_Stream_Get_Args *args)
{
    (void)args;
    return stet_ffi_error(UNIMPLEMENTED, "stet cpu: a CPU has no streams");
}

static XLA_FFI_Error *context_get(XLA_FFI_ExecutionContext_Get_Args *args)
{
    return stet_ffi_error(NOT_FOUND, "stet cpu: no user data of type %lld",
                          args->type_id ? (long long)args->type_id->type_id : 0);
}

/* ---- types and states ---- */

struct type {
    char *name;
    int64_t id;
    void (*deleter)(void *object);
};

static pthread_mutex_t types_lock = PTHREAD_MUTEX_INITIALIZER;
static STET_VEC(struct type) types;

/* Ids that we give begin here, so that they differ from those of XLA in the same process. */
enum { FIRST_ID = 1 << 20 };

static struct type *type_named(XLA_FFI_ByteSpan name)
{
    for (size_t i = 0; i < types.count; i++) {
        if (strlen(types.items[i].name) == name.len &&
            memcmp(types.items[i].name, name.ptr, name.len) == 0)
            return &types.items[i];
    }
    return NULL;
}

static XLA_FFI_Error *type_add(const XLA_FFI_Type_Register_Args *args)
{
    struct type *t = type_named(args->name);

    if (!t) {
        t = STET_VEC_ADD(&types);
        if (!t)
            return stet_ffi_error(EXHAUSTED, "out of memory");
        t->name = stet_mem_alloc(args->name.len + 1);
        if (!t->name) {
            types.count--;
            return stet_ffi_error(EXHAUSTED, "out of memory");
        }
        memcpy(t->name, args->name.ptr, args->name.len);
        t->name[args->name.len] = '\0';
        t->id = args->type_id->type_id ? args->type_id->type_id : FIRST_ID + (int64_t)types.count;
    }
    if (args->type_id->type_id && args->type_id->type_id != t->id)
        return stet_ffi_error(INVALID_ARGUMENT, "type %s has the id %lld already", t->name,
                              (long long)t->id);
    args->type_id->type_id = t->id;
    if (args->struct_size >= sizeof *args && args->type_info)
        t->deleter = args->type_info->deleter;
    return NULL;
}

static XLA_FFI_Error *type_register(XLA_FFI_Type_Register_Args *args)
{
    XLA_FFI_Error *error;

    pthread_mutex_lock(&types_lock);
    error = type_add(args);
    pthread_mutex_unlock(&types_lock);
    return error;
}

void stet_ffi_state_release(struct stet_ffi_state *s)
{
    void (*deleter)(void *object) = NULL;

    if (!s->data)
        return;
    pthread_mutex_lock(&types_lock);
    for (size_t i = 0; i < types.count; i++) {
        if (types.items[i].id == s->type)
            deleter = types.items[i].deleter;
    }
    pthread_mutex_unlock(&types_lock);
    if (deleter)
        deleter(s->data);
    s->data = NULL;
}

/* The state of a stage; NULL and an error if the caller's struct is too old to name one. */
static struct stet_ffi_state *state_of(const XLA_FFI_State_Args *args, XLA_FFI_Error **error)
{
    *error = NULL;
    if (args->struct_size < sizeof *args)
        *error = stet_ffi_error(INVALID_ARGUMENT, "stet cpu: built for an FFI without states of "
                                                  "several stages");
    else if ((unsigned)args->stage >= XLA_FFI_STAGES || !args->ctx || !args->type_id)
        *error = stet_ffi_error(INVALID_ARGUMENT, "stet cpu: no such state");
    if (*error)
        return NULL;
    return args->stage == XLA_FFI_ExecutionStage_INSTANTIATE ? args->ctx->instance
                                                             : &args->ctx->own[args->stage];
}

static XLA_FFI_Error *state_set(XLA_FFI_State_Args *args)
{
    XLA_FFI_Error *error;
    struct stet_ffi_state *s = state_of(args, &error);

    if (!s)
        return error;
    if (s == args->ctx->instance && !args->ctx->instantiating)
        return stet_ffi_error(PRECONDITION, "stet cpu: this state is set when the program is "
                                            "loaded, not while it runs");
    if (s->data)
        return stet_ffi_error(PRECONDITION, "stet cpu: the state is set already");
    *s = (struct stet_ffi_state){args->type_id->type_id, args->state};
    return NULL;
}

static XLA_FFI_Error *state_get(XLA_FFI_State_Args *args)
{
    XLA_FFI_Error *error;
    const struct stet_ffi_state *s = state_of(args, &error);

    if (!s)
        return error;
    if (!s->data || s->type != args->type_id->type_id)
        return stet_ffi_error(NOT_FOUND, "stet cpu: no state of this type is set");
    args->state = s->data;
    return NULL;
}

/* ---- memory and threads ---- */

static XLA_FFI_Error *memory_allocate(XLA_FFI_DeviceMemory_Allocate_Args *args)
{
    size_t align = args->alignment > 64 ? args->alignment : 64;

    if ((align & (align - 1)) || args->size > SIZE_MAX - align)
        return stet_ffi_error(INVALID_ARGUMENT, "stet cpu: impossible size or alignment");
    args->data = aligned_alloc(align, (args->size + align) / align * align);
    return args->data ? NULL : stet_ffi_error(EXHAUSTED, "out of memory");
}

static XLA_FFI_Error *memory_free(XLA_FFI_DeviceMemory_Free_Args *args)
{
    free(args->data);
    return NULL;
}

/* Tasks run at once, on this thread, which the interface allows. */
static XLA_FFI_Error *schedule(XLA_FFI_ThreadPool_Schedule_Args *args)
{
    args->task(args->data);
    return NULL;
}

static XLA_FFI_Error *thread_count(XLA_FFI_ThreadPool_NumThreads_Args *args)
{
    *args->num_threads = 1;
    return NULL;
}

static XLA_FFI_Error *run_id(XLA_FFI_RunId_Get_Args *args)
{
    args->run_id = args->ctx->run;
    return NULL;
}

static XLA_FFI_Error *device_ordinal(XLA_FFI_DeviceOrdinal_Get_Args *args)
{
    args->device_ordinal = (int32_t)args->ctx->lane;
    return NULL;
}

static XLA_FFI_Error *find_extension(XLA_FFI_FindExtension_Args *args)
{
    args->extension = NULL;
    return NULL;
}

static XLA_FFI_Error *custom_options(XLA_FFI_CustomOptions_Get_Args *args)
{
    static const XLA_FFI_Attrs none = {.struct_size = XLA_FFI_Attrs_STRUCT_SIZE};

    args->attrs = &none;
    return NULL;
}

/* ---- futures: a function may go on after it returned ---- */

struct XLA_FFI_Future {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool done;
    XLA_FFI_Error *error;
};

static XLA_FFI_Error *future_create(XLA_FFI_Future_Create_Args *args)
{
    XLA_FFI_Future *f = stet_mem_calloc(1, sizeof *f);

    if (!f)
        return stet_ffi_error(EXHAUSTED, "out of memory");
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->wake, NULL);
    args->future = f;
    return NULL;
}

static XLA_FFI_Error *future_set(XLA_FFI_Future *f, XLA_FFI_Error *error)
{
    bool before;

    pthread_mutex_lock(&f->lock);
    before = f->done;
    if (!before) {
        f->done = true;
        f->error = error;
        pthread_cond_broadcast(&f->wake);
    }
    pthread_mutex_unlock(&f->lock);
    if (!before)
        return NULL;
    if (error)
        stet_ffi_error_free(error);
    return stet_ffi_error(PRECONDITION, "stet cpu: the future is set already");
}

static XLA_FFI_Error *future_available(XLA_FFI_Future_SetAvailable_Args *args)
{
    return future_set(args->future, NULL);
}

static XLA_FFI_Error *future_error(XLA_FFI_Future_SetError_Args *args)
{
    return future_set(args->future, args->error);
}

XLA_FFI_Error *stet_ffi_future_wait(XLA_FFI_Future *f)
{
    XLA_FFI_Error *error;

    pthread_mutex_lock(&f->lock);
    while (!f->done)
        pthread_cond_wait(&f->wake, &f->lock);
    error = f->error;
    pthread_mutex_unlock(&f->lock);
    pthread_cond_destroy(&f->wake);
    pthread_mutex_destroy(&f->lock);
    stet_mem_free(f);
    return error;
}

const XLA_FFI_Api *stet_ffi_api(void)
{
    static const XLA_FFI_Api api = {
        .struct_size = XLA_FFI_Api_STRUCT_SIZE,
        .api_version = {.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE,
                        .major_version = XLA_FFI_API_MAJOR,
                        .minor_version = XLA_FFI_API_MINOR},
        .XLA_FFI_Error_Create = error_create,
        .XLA_FFI_Error_GetMessage = error_message,
        .XLA_FFI_Error_Destroy = error_destroy,
        .XLA_FFI_Handler_Register = handler_register,
        .XLA_FFI_Stream_Get = stream_get,
        .XLA_FFI_Type_Register = type_register,
        .XLA_FFI_ExecutionContext_Get = context_get,
        .XLA_FFI_State_Set = state_set,
        .XLA_FFI_State_Get = state_get,
        .XLA_FFI_DeviceMemory_Allocate = memory_allocate,
        .XLA_FFI_DeviceMemory_Free = memory_free,
        .XLA_FFI_ThreadPool_Schedule = schedule,
        .XLA_FFI_ThreadPool_NumThreads = thread_count,
        .XLA_FFI_Future_Create = future_create,
        .XLA_FFI_Future_SetAvailable = future_available,
        .XLA_FFI_Future_SetError = future_error,
        .XLA_FFI_RunId_Get = run_id,
        .XLA_FFI_DeviceOrdinal_Get = device_ordinal,
        .XLA_FFI_FindExtension = find_extension,
        .XLA_FFI_CustomOptions_Get = custom_options,
    };

    return &api;
}
