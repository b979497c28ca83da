/* Buffers are dense and row-major; copies in and out accept any strides. */
#include "backend/api/cpu_api.h"

#include "base/mem.h"

static const PJRT_Buffer_Type pjrt_types[STET_DT_COUNT] = {
#define DTYPE(name, bytes, hlo, number) [STET_DT_##name] = PJRT_Buffer_Type_##name,
    STET_DTYPES(DTYPE)
#undef DTYPE
};

PJRT_Buffer_Type stet_dtype_to_pjrt(enum stet_dtype t)
{
    return pjrt_types[t];
}

enum stet_dtype stet_dtype_of_pjrt(PJRT_Buffer_Type t)
{
    for (int i = 1; i < STET_DT_COUNT; i++) {
        if (pjrt_types[i] == t)
            return (enum stet_dtype)i;
    }
    return STET_DT_INVALID;
}

static PJRT_Error *make_shape(struct stet_shape *shape, PJRT_Buffer_Type type, const int64_t *dims,
                              size_t rank)
{
    enum stet_dtype t = stet_dtype_of_pjrt(type);

    if (t == STET_DT_INVALID)
        return stet_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                               "stet cpu: no buffers of element type %d", (int)type);
    if (rank > STET_MAX_RANK || !stet_shape_set(shape, t, dims, (uint32_t)rank))
        return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                               "stet cpu: a buffer of rank %zu with impossible dimensions", rank);
    return NULL;
}

PJRT_Buffer *stet_backend_buffer_adopt(struct stet_memory *memory, const struct stet_shape *shape,
                                       struct stet_cpu_block *block, struct stet_signal *ready)
{
    PJRT_Buffer *b = stet_mem_calloc(1, sizeof *b);

    if (!b) {
        stet_cpu_block_unref(block);
        stet_backend_signal_unref(ready);
        return NULL;
    }
    b->shape = *shape;
    b->device = memory->device;
    b->memory = memory;
    b->block = block;
    b->ready = ready;
    stet_cpu_block_hold(block);
    pthread_mutex_init(&b->lock, NULL);
    for (uint32_t i = 0; i < shape->rank; i++)
        b->minor_to_major[i] = shape->rank - 1 - i;
    return b;
}

static void drop(PJRT_Buffer *b)
{
    struct stet_cpu_block *block;

    pthread_mutex_lock(&b->lock);
    block = b->block;
    b->block = NULL;
    pthread_mutex_unlock(&b->lock);
    stet_cpu_block_drop(block);
}

void stet_backend_buffer_free(PJRT_Buffer *b)
{
    if (!b)
        return;
    drop(b);
    stet_backend_signal_unref(b->ready);
    pthread_mutex_destroy(&b->lock);
    stet_mem_free(b);
}

bool stet_backend_buffer_borrow(PJRT_Buffer *b, struct stet_cpu_block **block,
                                struct stet_signal **ready)
{
    pthread_mutex_lock(&b->lock);
    *block = stet_cpu_block_ref(b->block);
    *ready = *block ? stet_backend_signal_ref(b->ready) : NULL;
    pthread_mutex_unlock(&b->lock);
    return *block != NULL;
}

static PJRT_Error *deleted(void)
{
    return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                           "stet cpu: the buffer was deleted or donated");
}

/* ---- strided copies ---- */

/* Copies between `host` (byte strides) and dense row-major memory; `out` gives the direction. */
static void copy_strided(char *dense, char *host, const struct stet_shape *s,
                         const int64_t *strides, uint32_t axis, size_t item, bool out)
{
    size_t row = item;

    for (uint32_t i = axis + 1; i < s->rank; i++)
        row *= (size_t)s->dims[i];
    if (axis == s->rank) {
        memcpy(out ? host : dense, out ? dense : host, item);
        return;
    }
    if (axis + 1 == s->rank && strides[axis] == (int64_t)item) {
        memcpy(out ? host : dense, out ? dense : host, item * (size_t)s->dims[axis]);
        return;
    }
    for (int64_t i = 0; i < s->dims[axis]; i++)
        copy_strided(dense + (size_t)i * row, host + i * strides[axis], s, strides, axis + 1, item,
                     out);
}

static bool is_dense(const struct stet_shape *s, const int64_t *strides, size_t item)
{
    int64_t expected = (int64_t)item;

    for (uint32_t i = s->rank; i-- > 0;) {
        if (s->dims[i] != 1 && strides[i] != expected)
            return false;
        expected *= s->dims[i];
    }
    return true;
}

static void copy(char *dense, char *host, const struct stet_shape *s, const int64_t *strides,
                 bool out)
{
    size_t item = stet_dtype_bytes(s->dtype);

    if (!s->bytes)
        return;
    if (!strides || is_dense(s, strides, item))
        memcpy(out ? host : dense, out ? dense : host, s->bytes);
    else
        copy_strided(dense, host, s, strides, 0, item, out);
}

/* Byte strides of a layout that the caller requests. */
static PJRT_Error *strides_of(const PJRT_Buffer_MemoryLayout *layout, const struct stet_shape *s,
                              int64_t *strides)
{
    int64_t step = (int64_t)stet_dtype_bytes(s->dtype);

    if (layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
        if (layout->strides.num_byte_strides != s->rank)
            return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                                   "stet cpu: %zu strides for rank %u",
                                   layout->strides.num_byte_strides, s->rank);
        memcpy(strides, layout->strides.byte_strides, s->rank * sizeof *strides);
        return NULL;
    }
    if (layout->tiled.num_tiles || layout->tiled.minor_to_major_size != s->rank)
        return stet_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED, "stet cpu: no tiled host layouts");
    for (uint32_t i = 0; i < s->rank; i++) {
        int64_t dim = layout->tiled.minor_to_major[i];

        if (dim < 0 || dim >= (int64_t)s->rank)
            return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                                   "stet cpu: layout names dimension %lld", (long long)dim);
        strides[dim] = step;
        step *= s->dims[dim];
    }
    return NULL;
}

/* ---- from the host ---- */

/* The memory that the caller requests for the buffer; the device's by default. */
#define MEMORY(args)                                                                               \
    (STET_HAS((args), memory) && (args)->memory                                                    \
         ? (struct stet_memory *)(args)->memory                                                    \
         : &((args)->device ? (args)->device : (args)->client->devices[(args)->client->first])     \
                ->memories[STET_DEVICE_MEMORY])

/* Hosts leave the upper bits of a byte with an element of 2 or 4 bits undefined; here they are 0.
 */
static void clear_upper_bits(unsigned char *data, const struct stet_shape *s)
{
    unsigned mask = (1u << stet_dtype_bits(s->dtype)) - 1;

    for (uint64_t i = 0; i < s->elements; i++)
        data[i] &= (unsigned char)mask;
}

PJRT_Error *cpu_PJRT_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args *args)
{
    struct stet_memory *memory = MEMORY(args);
    struct stet_shape shape;
    struct stet_cpu_block *block;
    bool dropped;
    PJRT_Error *error = make_shape(&shape, args->type, args->dims, args->num_dims);

    if (error)
        return error;
    if (args->num_byte_strides && args->num_byte_strides != shape.rank)
        return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                               "stet cpu: %zu strides for rank %u", args->num_byte_strides,
                               shape.rank);
    dropped = stet_zeros_instead(shape.bytes);
    block = (dropped ? stet_zeros_block : stet_cpu_block_new)(memory, shape.bytes);
    if (!block)
        return stet_cpu_api_no_memory();
    if (!dropped) {
        copy(block->data, (char *)(uintptr_t)args->data, &shape,
             args->num_byte_strides ? args->byte_strides : NULL, false);
        if (stet_dtype_is_subbyte(shape.dtype))
            clear_upper_bits(block->data, &shape);
    }
    args->buffer = stet_backend_buffer_adopt(memory, &shape, block, NULL);
    args->done_with_host_buffer = args->buffer ? stet_cpu_api_event_of(NULL) : NULL;
    if (args->done_with_host_buffer)
        return NULL;
    stet_backend_buffer_free(args->buffer);
    args->buffer = NULL;
    return stet_cpu_api_no_memory();
}

PJRT_Error *
cpu_PJRT_Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args *args)
{
    struct stet_memory *memory = MEMORY(args);
    struct stet_shape shape;
    struct stet_cpu_block *block;
    PJRT_Error *error = make_shape(&shape, args->element_type, args->dims, args->num_dims);

    if (error)
        return error;
    block = stet_cpu_block_view(memory, args->device_buffer_ptr, shape.bytes,
                                args->on_delete_callback, args->on_delete_callback_arg);
    args->buffer = block ? stet_backend_buffer_adopt(memory, &shape, block, NULL) : NULL;
    return args->buffer ? NULL : stet_cpu_api_no_memory();
}

PJRT_Error *
cpu_PJRT_Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args *args)
{
    struct stet_memory *memory = MEMORY(args);
    struct stet_shape shape;
    struct stet_cpu_block *block;
    PJRT_Error *error =
        make_shape(&shape, args->shape_element_type, args->shape_dims, args->shape_num_dims);

    if (error)
        return error;
    block = (stet_zeros_instead(shape.bytes) ? stet_zeros_block : stet_cpu_block_new)(memory,
                                                                                      shape.bytes);
    args->buffer = block ? stet_backend_buffer_adopt(memory, &shape, block, NULL) : NULL;
    return args->buffer ? NULL : stet_cpu_api_no_memory();
}

/* ---- to the host ---- */

/* Copies once the source is ready. */
struct copy_out {
    struct stet_task task;
    struct stet_cpu_block *block;
    struct stet_signal *after, *done;
    struct stet_shape shape;
    int64_t strides[STET_MAX_RANK];
    bool strided;
    char *dst;
    uint64_t offset, size; /* raw copies */
};

static void run_copy_out(struct stet_task *task)
{
    struct copy_out *c = (struct copy_out *)task;
    const char *text;
    PJRT_Error_Code code;

    stet_backend_signal_wait(c->after);
    code = stet_backend_signal_code(c->after, &text);
    if (code == PJRT_Error_Code_OK && c->shape.rank == 0 && !c->strided)
        memcpy(c->dst, (char *)c->block->data + c->offset, c->size);
    else if (code == PJRT_Error_Code_OK)
        copy(c->block->data, c->dst, &c->shape, c->strided ? c->strides : NULL, true);
    stet_backend_signal_set(c->done, code, text);
    stet_cpu_block_unref(c->block);
    stet_backend_signal_unref(c->after);
    stet_backend_signal_unref(c->done);
    stet_mem_free(c);
}

/* Takes ownership of `c`, which is filled except for the task itself. */
static PJRT_Error *start_copy(PJRT_Buffer *b, struct copy_out *c, PJRT_Event **event)
{
    c->task.run = run_copy_out;
    if (!stet_backend_buffer_borrow(b, &c->block, &c->after)) {
        stet_mem_free(c);
        return deleted();
    }
    c->done = stet_backend_signal_new();
    *event = c->done ? stet_cpu_api_event_of(c->done) : NULL;
    if (!*event) {
        stet_cpu_block_unref(c->block);
        stet_backend_signal_unref(c->after);
        stet_backend_signal_unref(c->done);
        stet_mem_free(c);
        return stet_cpu_api_no_memory();
    }
    if (stet_backend_signal_ready(c->after) ||
        !stet_backend_queue_submit(&b->device->queue, &c->task))
        run_copy_out(&c->task);
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args *args)
{
    const struct stet_shape *s = &args->src->shape;
    struct copy_out *c;
    PJRT_Error *error;

    if (!args->dst) {
        args->dst_size = s->bytes;
        args->event = NULL;
        return NULL;
    }
    if (args->dst_size < s->bytes)
        return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                               "stet cpu: %zu bytes of room for %llu", args->dst_size,
                               (unsigned long long)s->bytes);
    c = stet_mem_calloc(1, sizeof *c);
    if (!c)
        return stet_cpu_api_no_memory();
    c->shape = *s;
    c->size = s->bytes;
    c->dst = args->dst;
    if (args->host_layout && s->rank) {
        error = strides_of(args->host_layout, s, c->strides);
        if (error) {
            stet_mem_free(c);
            return error;
        }
        c->strided = true;
    }
    return start_copy(args->src, c, &args->event);
}

PJRT_Error *cpu_PJRT_Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args *args)
{
    uint64_t bytes = args->buffer->shape.bytes;
    struct copy_out *c;

    if (args->offset < 0 || args->transfer_size < 0 || (uint64_t)args->offset > bytes ||
        (uint64_t)args->transfer_size > bytes - (uint64_t)args->offset)
        return stet_pjrt_error(
            PJRT_Error_Code_OUT_OF_RANGE, "stet cpu: %lld bytes from byte %lld of a buffer of %llu",
            (long long)args->transfer_size, (long long)args->offset, (unsigned long long)bytes);
    c = stet_mem_calloc(1, sizeof *c);
    if (!c)
        return stet_cpu_api_no_memory();
    c->dst = args->dst;
    c->offset = (uint64_t)args->offset;
    c->size = (uint64_t)args->transfer_size;
    return start_copy(args->buffer, c, &args->event);
}

/* ---- copies on the device share the memory, because only a donor writes into it ---- */

static PJRT_Error *duplicate(PJRT_Buffer *b, struct stet_memory *memory, PJRT_Buffer **out)
{
    struct stet_cpu_block *block, *fresh;
    struct stet_signal *ready;

    if (!stet_backend_buffer_borrow(b, &block, &ready))
        return deleted();
    stet_backend_signal_wait(ready);
    fresh = (block->shared ? stet_zeros_block : stet_cpu_block_new)(memory, b->shape.bytes);
    /* a program may have failed before its results had memory */
    if (fresh && block->data && !block->shared)
        memcpy(fresh->data, block->data, b->shape.bytes);
    stet_cpu_block_unref(block);
    *out = fresh
               ? stet_backend_buffer_adopt(memory, &b->shape, fresh, stet_backend_signal_ref(ready))
               : NULL;
    stet_backend_signal_unref(ready);
    return *out ? NULL : stet_cpu_api_no_memory();
}

PJRT_Error *cpu_PJRT_Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args *args)
{
    return duplicate(args->buffer, &args->dst_device->memories[STET_DEVICE_MEMORY],
                     &args->dst_buffer);
}

PJRT_Error *cpu_PJRT_Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args *args)
{
    return duplicate(args->buffer, (struct stet_memory *)args->dst_memory, &args->dst_buffer);
}

/* ---- the rest ---- */

PJRT_Error *cpu_PJRT_Buffer_Destroy(PJRT_Buffer_Destroy_Args *args)
{
    stet_backend_buffer_free(args->buffer);
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_Delete(PJRT_Buffer_Delete_Args *args)
{
    drop(args->buffer);
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args *args)
{
    pthread_mutex_lock(&args->buffer->lock);
    args->is_deleted = !args->buffer->block;
    pthread_mutex_unlock(&args->buffer->lock);
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_ElementType(PJRT_Buffer_ElementType_Args *args)
{
    args->type = stet_dtype_to_pjrt(args->buffer->shape.dtype);
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_Dimensions(PJRT_Buffer_Dimensions_Args *args)
{
    args->dims = args->buffer->shape.dims;
    args->num_dims = args->buffer->shape.rank;
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args *args)
{
    args->unpadded_dims = args->buffer->shape.dims;
    args->num_dims = args->buffer->shape.rank;
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args *args)
{
    args->dynamic_dim_indices = NULL;
    args->num_dynamic_dims = 0;
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args *args)
{
    args->layout = (PJRT_Buffer_MemoryLayout){
        .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
        .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                  .minor_to_major = args->buffer->minor_to_major,
                  .minor_to_major_size = args->buffer->shape.rank}};
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args *args)
{
    args->on_device_size_in_bytes = args->buffer->shape.bytes;
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_Device(PJRT_Buffer_Device_Args *args)
{
    args->device = args->buffer->device;
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_Memory(PJRT_Buffer_Memory_Args *args)
{
    args->memory = &args->buffer->memory->base;
    return NULL;
}

/* Returns false although it is true: frameworks would otherwise read the memory directly. */
PJRT_Error *cpu_PJRT_Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args *args)
{
    args->is_on_cpu = false;
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args *args)
{
    args->event = stet_cpu_api_event_of(args->buffer->ready);
    return args->event ? NULL : stet_cpu_api_no_memory();
}

static PJRT_Error *pointer_of(PJRT_Buffer *b, void **out)
{
    struct stet_cpu_block *block;
    struct stet_signal *ready;
    PJRT_Error *error;

    if (!stet_backend_buffer_borrow(b, &block, &ready))
        return deleted();
    stet_backend_signal_wait(ready);
    *out = block->data;
    error = block->data ? NULL : stet_backend_signal_error(ready);
    stet_cpu_block_unref(block);
    stet_backend_signal_unref(ready);
    return error;
}

PJRT_Error *cpu_PJRT_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args *args)
{
    void *data = NULL;
    PJRT_Error *error = pointer_of(args->buffer, &data);

    args->buffer_pointer = (uintptr_t)data;
    return error;
}

PJRT_Error *
cpu_PJRT_Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args *args)
{
    return pointer_of(args->buffer, &args->device_memory_ptr);
}

static PJRT_Error *pin(PJRT_Buffer *b, int by)
{
    struct stet_cpu_block *block;
    struct stet_signal *ready;

    if (!stet_backend_buffer_borrow(b, &block, &ready))
        return deleted();
    atomic_fetch_add(&block->pins, by);
    stet_cpu_block_unref(block);
    stet_backend_signal_unref(ready);
    return NULL;
}

PJRT_Error *cpu_PJRT_Buffer_IncreaseExternalReferenceCount(
    PJRT_Buffer_IncreaseExternalReferenceCount_Args *args)
{
    return pin(args->buffer, 1);
}

PJRT_Error *cpu_PJRT_Buffer_DecreaseExternalReferenceCount(
    PJRT_Buffer_DecreaseExternalReferenceCount_Args *args)
{
    return pin(args->buffer, -1);
}
