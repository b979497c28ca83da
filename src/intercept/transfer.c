/* Bytes between host and device: counted once the plugin accepted them. */
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/plugin.h"

static const unsigned char bits_of_type[] = {
    [PJRT_Buffer_Type_PRED] = 8,       [PJRT_Buffer_Type_S8] = 8,
    [PJRT_Buffer_Type_S16] = 16,       [PJRT_Buffer_Type_S32] = 32,
    [PJRT_Buffer_Type_S64] = 64,       [PJRT_Buffer_Type_U8] = 8,
    [PJRT_Buffer_Type_U16] = 16,       [PJRT_Buffer_Type_U32] = 32,
    [PJRT_Buffer_Type_U64] = 64,       [PJRT_Buffer_Type_F16] = 16,
    [PJRT_Buffer_Type_F32] = 32,       [PJRT_Buffer_Type_F64] = 64,
    [PJRT_Buffer_Type_BF16] = 16,      [PJRT_Buffer_Type_C64] = 64,
    [PJRT_Buffer_Type_C128] = 128,     [PJRT_Buffer_Type_F8E5M2] = 8,
    [PJRT_Buffer_Type_F8E4M3FN] = 8,   [PJRT_Buffer_Type_F8E4M3B11FNUZ] = 8,
    [PJRT_Buffer_Type_F8E5M2FNUZ] = 8, [PJRT_Buffer_Type_F8E4M3FNUZ] = 8,
    [PJRT_Buffer_Type_S4] = 4,         [PJRT_Buffer_Type_U4] = 4,
    [PJRT_Buffer_Type_S2] = 2,         [PJRT_Buffer_Type_U2] = 2,
    [PJRT_Buffer_Type_F8E4M3] = 8,     [PJRT_Buffer_Type_F8E3M4] = 8,
    [PJRT_Buffer_Type_F8E8M0FNU] = 8,  [PJRT_Buffer_Type_F4E2M1FN] = 4,
    [PJRT_Buffer_Type_S1] = 1,         [PJRT_Buffer_Type_U1] = 1,
    [PJRT_Buffer_Type_F6E2M3FN] = 6,   [PJRT_Buffer_Type_F6E3M2FN] = 6,
};

/* The packed size of the elements; 0 for unknown types and invalid shapes. */
static uint64_t bytes_of(PJRT_Buffer_Type type, const int64_t *dims, size_t rank)
{
    uint64_t bits = (size_t)type < sizeof bits_of_type ? bits_of_type[type] : 0;

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
        bool outermost = stet_guard_enter();                                                       \
        PJRT_Error *error = stet_plugin_real(p)->entry(args);                                      \
                                                                                                   \
        if (!outermost)                                                                            \
            return error;                                                                          \
        if (!error)                                                                                \
            count;                                                                                 \
        stet_guard_leave();                                                                        \
        return stet_plugin_failed(p, #entry, error);                                               \
    }

static void from_host(struct stet_plugin *p, const PJRT_Client_BufferFromHostBuffer_Args *args)
{
    to_device(p, bytes_of(args->type, args->dims, args->num_dims));
    stet_plugin_look_at_memory(p, args->client, false);
}

FORWARD(PJRT_Client_BufferFromHostBuffer, from_host(p, args))
FORWARD(PJRT_AsyncHostToDeviceTransferManager_TransferData,
        to_device(p, args->transfer_size > 0 ? (uint64_t)args->transfer_size : 0))
FORWARD(PJRT_AsyncHostToDeviceTransferManager_TransferLiteral,
        to_device(p, bytes_of(args->shape_element_type, args->shape_dims, args->shape_num_dims)))
/* Without a destination the call only queries the size. */
FORWARD(PJRT_Buffer_ToHostBuffer, if (args->dst) to_host(p, args->dst_size))
FORWARD(PJRT_Buffer_CopyRawToHost,
        to_host(p, args->transfer_size > 0 ? (uint64_t)args->transfer_size : 0))
FORWARD(PJRT_Buffer_CopyToDevice, between(p))
FORWARD(PJRT_Buffer_CopyToMemory, between(p))
FORWARD(PJRT_Device_MemoryStats, stet_plugin_memory_told(p, args))
