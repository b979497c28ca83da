/* Buffers, copies, and buffers filled piece by piece. All are host memory and ready at once. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

static void account(PJRT_Device *device, long long bytes)
{
    long long now = atomic_fetch_add(&device->in_use, bytes) + bytes, peak;

    if (bytes <= 0)
        return;
    atomic_fetch_add(&device->allocations, 1);
    for (peak = atomic_load(&device->peak); now > peak;)
        if (atomic_compare_exchange_weak(&device->peak, &peak, now))
            break;
}

PJRT_Buffer *fake_buffer_new(const struct fake_shape *shape, PJRT_Device *device)
{
    PJRT_Buffer *buffer = fake_new(FAKE_buffer, sizeof(*buffer));
    int64_t stride;

    buffer->shape = *shape;
    buffer->device = device;
    buffer->size = fake_shape_bytes(shape);
    buffer->data = calloc(1, buffer->size + 1);
    stride = (int64_t)fake_shape_bytes(&(struct fake_shape){.type = shape->type});
    for (size_t i = shape->rank; i-- > 0; stride *= shape->dims[i]) {
        buffer->strides[i] = stride;
        buffer->minor_to_major[shape->rank - 1 - i] = (int64_t)i;
    }
    account(device, (long long)buffer->size);
    return buffer;
}

static void buffer_delete(PJRT_Buffer *buffer)
{
    if (atomic_exchange(&buffer->deleted, true))
        return;
    account(buffer->device, -(long long)buffer->size);
    if (buffer->view && buffer->on_delete)
        buffer->on_delete(buffer->data, buffer->on_delete_arg);
    if (!buffer->view)
        free(buffer->data);
    buffer->data = NULL;
}

void fake_buffer_free(PJRT_Buffer *buffer)
{
    if (buffer)
        buffer_delete(buffer);
    fake_free(FAKE_buffer, buffer);
}

static PJRT_Error *shape_from(PJRT_Buffer_Type type, const int64_t *dims, size_t rank,
                              struct fake_shape *shape)
{
    if (rank > FAKE_RANK_MAX)
        return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "rank %zu", rank);
    *shape = (struct fake_shape){.type = type, .rank = rank};
    if (rank)
        memcpy(shape->dims, dims, rank * sizeof(*dims));
    return NULL;
}

static PJRT_Device *place(PJRT_Client *client, PJRT_Device *device, PJRT_Memory *memory)
{
    if (memory)
        return ((struct fake_memory *)memory)->device;
    return device ? device : client->device_list[0];
}

/* Copies with any strides, one element at a time; dims and strides of one length. */
static void copy_strided(unsigned char *to, const unsigned char *from,
                         const struct fake_shape *shape, const int64_t *strides, size_t dim,
                         size_t element, size_t *at)
{
    if (dim == shape->rank) {
        memcpy(to + *at, from, element);
        *at += element;
        return;
    }
    for (int64_t i = 0; i < shape->dims[dim]; i++)
        copy_strided(to, from + i * strides[dim], shape, strides, dim + 1, element, at);
}

PJRT_Error *fake_PJRT_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args *args)
{
    struct fake_shape shape;
    PJRT_Error *error = shape_from(args->type, args->dims, args->num_dims, &shape);
    size_t at = 0;

    if (error)
        return error;
    if (args->num_byte_strides && args->num_byte_strides != args->num_dims)
        return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "strides and dimensions differ");
    args->buffer = fake_buffer_new(&shape, place(args->client, args->device, args->memory));
    if (args->num_byte_strides)
        copy_strided(args->buffer->data, args->data, &shape, args->byte_strides, 0,
                     fake_shape_bytes(&(struct fake_shape){.type = shape.type}), &at);
    else if (args->buffer->size)
        memcpy(args->buffer->data, args->data, args->buffer->size);
    args->done_with_host_buffer = fake_event_ready();
    return NULL;
}

PJRT_Error *
fake_PJRT_Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args *args)
{
    struct fake_shape shape;
    PJRT_Error *error = shape_from(args->element_type, args->dims, args->num_dims, &shape);
    PJRT_Memory *memory = KNOWS(args, memory, 66) ? args->memory : NULL;

    if (error)
        return error;
    args->buffer = fake_buffer_new(&shape, place(args->client, args->device, memory));
    free(args->buffer->data);
    args->buffer->data = args->device_buffer_ptr;
    args->buffer->view = true;
    args->buffer->on_delete = args->on_delete_callback;
    args->buffer->on_delete_arg = args->on_delete_callback_arg;
    return NULL;
}

PJRT_Error *
fake_PJRT_Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args *args)
{
    struct fake_shape shape;
    PJRT_Error *error =
        shape_from(args->shape_element_type, args->shape_dims, args->shape_num_dims, &shape);

    if (!error)
        args->buffer = fake_buffer_new(&shape, place(args->client, args->device, args->memory));
    return error;
}

PJRT_Error *fake_PJRT_Buffer_Destroy(PJRT_Buffer_Destroy_Args *args)
{
    fake_buffer_free(args->buffer);
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_ElementType(PJRT_Buffer_ElementType_Args *args)
{
    args->type = args->buffer->shape.type;
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_Dimensions(PJRT_Buffer_Dimensions_Args *args)
{
    args->dims = args->buffer->shape.dims;
    args->num_dims = args->buffer->shape.rank;
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args *args)
{
    args->unpadded_dims = args->buffer->shape.dims;
    args->num_dims = args->buffer->shape.rank;
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args *args)
{
    args->dynamic_dim_indices = NULL;
    args->num_dynamic_dims = 0;
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args *args)
{
    args->layout = (PJRT_Buffer_MemoryLayout){
        .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
        .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                  .minor_to_major = args->buffer->minor_to_major,
                  .minor_to_major_size = args->buffer->shape.rank},
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled};
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args *args)
{
    args->on_device_size_in_bytes = args->buffer->size;
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_Device(PJRT_Buffer_Device_Args *args)
{
    args->device = args->buffer->device;
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_Memory(PJRT_Buffer_Memory_Args *args)
{
    args->memory = &args->buffer->device->memory->base;
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_Delete(PJRT_Buffer_Delete_Args *args)
{
    buffer_delete(args->buffer);
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args *args)
{
    args->is_deleted = atomic_load(&args->buffer->deleted);
    return NULL;
}

static PJRT_Error *copy_to(PJRT_Buffer *from, PJRT_Device *device, PJRT_Buffer **out)
{
    if (atomic_load(&from->deleted))
        return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "buffer was deleted");
    *out = fake_buffer_new(&from->shape, device);
    memcpy((*out)->data, from->data, from->size);
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args *args)
{
    return copy_to(args->buffer, args->dst_device, &args->dst_buffer);
}

PJRT_Error *fake_PJRT_Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args *args)
{
    return copy_to(args->buffer, ((struct fake_memory *)args->dst_memory)->device,
                   &args->dst_buffer);
}

PJRT_Error *fake_PJRT_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args *args)
{
    if (atomic_load(&args->src->deleted))
        return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "buffer was deleted");
    if (!args->dst) {
        args->dst_size = args->src->size;
        args->event = NULL;
        return NULL;
    }
    if (args->dst_size < args->src->size)
        return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "%zu bytes needed", args->src->size);
    memcpy(args->dst, args->src->data, args->src->size);
    args->event = fake_event_ready();
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args *args)
{
    if (atomic_load(&args->buffer->deleted) || args->offset < 0 || args->transfer_size < 0 ||
        (size_t)args->offset + (size_t)args->transfer_size > args->buffer->size)
        return fake_error(PJRT_Error_Code_OUT_OF_RANGE, "not within the buffer");
    memcpy(args->dst, args->buffer->data + args->offset, (size_t)args->transfer_size);
    args->event = fake_event_ready();
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args *args)
{
    args->is_on_cpu = true;
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args *args)
{
    args->event = args->buffer->failed
                      ? fake_event_failed(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                                          fake_settings()->message ? fake_settings()->message
                                                                   : "out of memory")
                      : fake_event_ready();
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args *args)
{
    args->buffer_pointer = (uintptr_t)args->buffer->data;
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_IncreaseExternalReferenceCount(
    PJRT_Buffer_IncreaseExternalReferenceCount_Args *args)
{
    atomic_fetch_add(&args->buffer->external, 1);
    return NULL;
}

PJRT_Error *fake_PJRT_Buffer_DecreaseExternalReferenceCount(
    PJRT_Buffer_DecreaseExternalReferenceCount_Args *args)
{
    if (atomic_fetch_sub(&args->buffer->external, 1) <= 0)
        return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "count was zero");
    return NULL;
}

PJRT_Error *
fake_PJRT_Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args *args)
{
    args->device_memory_ptr = args->buffer->data;
    return NULL;
}

/* ---- buffers filled piece by piece ---- */

struct PJRT_AsyncHostToDeviceTransferManager {
    PJRT_Device *device;
    size_t count;
    PJRT_Buffer *buffers[FAKE_SHAPES_MAX]; /* NULL once retrieved; data stays reachable below */
    unsigned char *data[FAKE_SHAPES_MAX];
    size_t sizes[FAKE_SHAPES_MAX];
};

PJRT_Error *fake_PJRT_Client_CreateBuffersForAsyncHostToDevice(
    PJRT_Client_CreateBuffersForAsyncHostToDevice_Args *args)
{
    PJRT_AsyncHostToDeviceTransferManager *manager;

    if (args->num_shape_specs > FAKE_SHAPES_MAX)
        return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "too many buffers");
    manager = fake_new(FAKE_manager, sizeof(*manager));
    manager->device = place(args->client, NULL, args->memory);
    for (; manager->count < args->num_shape_specs; manager->count++) {
        const PJRT_ShapeSpec *spec = &args->shape_specs[manager->count];
        struct fake_shape shape;
        PJRT_Error *error = shape_from(spec->element_type, spec->dims, spec->num_dims, &shape);

        if (error) {
            while (manager->count-- > 0)
                fake_buffer_free(manager->buffers[manager->count]);
            fake_free(FAKE_manager, manager);
            return error;
        }
        manager->buffers[manager->count] = fake_buffer_new(&shape, manager->device);
        manager->data[manager->count] = manager->buffers[manager->count]->data;
        manager->sizes[manager->count] = manager->buffers[manager->count]->size;
    }
    args->transfer_manager = manager;
    return NULL;
}

PJRT_Error *fake_PJRT_AsyncHostToDeviceTransferManager_Destroy(
    PJRT_AsyncHostToDeviceTransferManager_Destroy_Args *args)
{
    for (size_t i = 0; args->transfer_manager && i < args->transfer_manager->count; i++)
        fake_buffer_free(args->transfer_manager->buffers[i]);
    fake_free(FAKE_manager, args->transfer_manager);
    return NULL;
}

static PJRT_Error *check_index(const PJRT_AsyncHostToDeviceTransferManager *manager, int index)
{
    if (index < 0 || (size_t)index >= manager->count)
        return fake_error(PJRT_Error_Code_OUT_OF_RANGE, "no buffer %d", index);
    return NULL;
}

PJRT_Error *fake_PJRT_AsyncHostToDeviceTransferManager_TransferData(
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args *args)
{
    PJRT_Error *error = check_index(args->transfer_manager, args->buffer_index);

    if (error)
        return error;
    if (args->offset < 0 || args->transfer_size < 0 ||
        (size_t)args->offset + (size_t)args->transfer_size >
            args->transfer_manager->sizes[args->buffer_index])
        return fake_error(PJRT_Error_Code_OUT_OF_RANGE, "not within the buffer");
    memcpy(args->transfer_manager->data[args->buffer_index] + args->offset, args->data,
           (size_t)args->transfer_size);
    args->done_with_h2d_transfer = fake_event_ready();
    return NULL;
}

PJRT_Error *fake_PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer(
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args *args)
{
    PJRT_Error *error = check_index(args->transfer_manager, args->buffer_index);

    if (error)
        return error;
    args->buffer_out = args->transfer_manager->buffers[args->buffer_index];
    args->transfer_manager->buffers[args->buffer_index] = NULL;
    return NULL;
}

PJRT_Error *fake_PJRT_AsyncHostToDeviceTransferManager_Device(
    PJRT_AsyncHostToDeviceTransferManager_Device_Args *args)
{
    args->device_out = args->transfer_manager->device;
    return NULL;
}

PJRT_Error *fake_PJRT_AsyncHostToDeviceTransferManager_BufferCount(
    PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args *args)
{
    args->buffer_count = args->transfer_manager->count;
    return NULL;
}

PJRT_Error *fake_PJRT_AsyncHostToDeviceTransferManager_BufferSize(
    PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args *args)
{
    PJRT_Error *error = check_index(args->transfer_manager, args->buffer_index);

    if (!error)
        args->buffer_size = args->transfer_manager->sizes[args->buffer_index];
    return error;
}
