/* Counts bytes between host and device when the plugin accepted them, and notes them with the lines
 * of Python that caused them. */
#include "intercept/copysites.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/plugin.h"

static const unsigned char bits_of_type[] = {
#define INTEGER(name, text, python, bits, sign)  [PJRT_Buffer_Type_##name] = bits,
#define FLOAT(name, text, python, bits)          [PJRT_Buffer_Type_##name] = bits,
#define COMPLEX(name, text, python, bits, parts) [PJRT_Buffer_Type_##name] = bits,
#include "program/elements.def"
};

/* The packed size of the elements; 0 for unknown types and invalid shapes. */
static uint64_t bytes_of(PJRT_Buffer_Type type, const int64_t *dims, size_t rank)
{
    uint64_t bits = (size_t)type < sizeof bits_of_type ? bits_of_type[type] : 0;

    if (type == PJRT_Buffer_Type_PRED)
        bits = 8;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] < 0 || __builtin_mul_overflow(bits, (uint64_t)dims[i], &bits))
            return 0;
    }
    return bits / 8 + (bits % 8 != 0);
}

static void add(_Atomic uint64_t *count, _Atomic uint64_t *bytes, uint64_t n)
{
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    if (n)
        atomic_fetch_add_explicit(bytes, n, memory_order_relaxed);
}

static void to_device(struct stet_plugin *p, uint64_t n)
{
    add(&p->to_device_count, &p->to_device_bytes, n);
}

static void to_host(struct stet_plugin *p, uint64_t n)
{
    add(&p->to_host_count, &p->to_host_bytes, n);
}

static void between(struct stet_plugin *p)
{
    atomic_fetch_add_explicit(&p->between_count, 1, memory_order_relaxed);
}

/* Makes the real call, and counts it if it succeeded. Inside another watched plugin's call only the
 * real call is made: the outer one counts. */
#define FORWARD(entry, count)                                                                      \
    PJRT_Error *on_##entry(struct stet_plugin *p, entry##_Args *args)                              \
    {                                                                                              \
        bool outermost = stet_intercept_guard_enter();                                             \
        PJRT_Error *error = stet_plugin_real(p)->entry(args);                                      \
                                                                                                   \
        if (!outermost)                                                                            \
            return error;                                                                          \
        if (!error)                                                                                \
            count;                                                                                 \
        stet_intercept_guard_leave();                                                              \
        return stet_plugin_failed(p, #entry, error);                                               \
    }

static void from_host(struct stet_plugin *p, const PJRT_Client_BufferFromHostBuffer_Args *args)
{
    uint64_t bytes = bytes_of(args->type, args->dims, args->num_dims);

    to_device(p, bytes);
    stet_intercept_copysites_note(&(struct stet_host_copy){
        .type = args->type, .dims = args->dims, .rank = args->num_dims, .bytes = bytes});
    stet_plugin_look_at_memory(p, args->client, false);
}

/* Is what the copy wrote there already? Afterwards the caller may free it at any time. */
static bool has_arrived(struct stet_plugin *p, PJRT_Event *event)
{
    const PJRT_Api *api = stet_plugin_real(p);
    PJRT_Event_IsReady_Args args = {.struct_size = PJRT_Event_IsReady_Args_STRUCT_SIZE,
                                    .event = event};

    return event && stet_api_has(api, PJRT_Event_IsReady) &&
           !stet_plugin_drop(p, api->PJRT_Event_IsReady(&args)) && args.is_ready;
}

static void note_to_host(struct stet_plugin *p, PJRT_Buffer *buffer, const void *host,
                         uint64_t bytes, PJRT_Event *event)
{
    const PJRT_Api *api = stet_plugin_real(p);
    PJRT_Buffer_ElementType_Args type = {.struct_size = PJRT_Buffer_ElementType_Args_STRUCT_SIZE,
                                         .buffer = buffer};
    PJRT_Buffer_Dimensions_Args dims = {.struct_size = PJRT_Buffer_Dimensions_Args_STRUCT_SIZE,
                                        .buffer = buffer};

    to_host(p, bytes);
    if (!stet_intercept_copysites_wanted() || !buffer || !stet_api_has(api, PJRT_Buffer_Dimensions))
        return;
    if (stet_plugin_drop(p, api->PJRT_Buffer_ElementType(&type)) ||
        stet_plugin_drop(p, api->PJRT_Buffer_Dimensions(&dims)))
        return;
    stet_intercept_copysites_note(&(struct stet_host_copy){
        .to_host = true,
        .type = type.type,
        .dims = dims.dims,
        .rank = dims.num_dims,
        .bytes = bytes,
        .value = bytes <= STET_COPY_VALUE && has_arrived(p, event) ? host : NULL,
    });
}

FORWARD(PJRT_Client_BufferFromHostBuffer, from_host(p, args))
FORWARD(PJRT_AsyncHostToDeviceTransferManager_TransferData,
        to_device(p, args->transfer_size > 0 ? (uint64_t)args->transfer_size : 0))
FORWARD(PJRT_AsyncHostToDeviceTransferManager_TransferLiteral,
        to_device(p, bytes_of(args->shape_element_type, args->shape_dims, args->shape_num_dims)))
/* Without a destination the call only returns the size. */
FORWARD(PJRT_Buffer_ToHostBuffer,
        if (args->dst) note_to_host(p, args->src, args->dst, args->dst_size, args->event))
FORWARD(PJRT_Buffer_CopyRawToHost,
        note_to_host(p, args->buffer, args->dst,
                     args->transfer_size > 0 ? (uint64_t)args->transfer_size : 0, args->event))
FORWARD(PJRT_Buffer_CopyToDevice, between(p))
FORWARD(PJRT_Buffer_CopyToMemory, between(p))
FORWARD(PJRT_Device_MemoryStats, stet_plugin_memory_reported(p, args))
