/* PJRT: buffers. */
#ifndef STET_ABI_PJRT_BUFFER_H
#define STET_ABI_PJRT_BUFFER_H

#include "abi/pjrt_client.h"

typedef struct PJRT_Buffer_Destroy_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
} PJRT_Buffer_Destroy_Args;

typedef struct PJRT_Buffer_ElementType_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Buffer_Type type; /* out */
} PJRT_Buffer_ElementType_Args;

/* Lists of a buffer are valid as long as the buffer. */
typedef struct PJRT_Buffer_Dimensions_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    const int64_t *dims; /* out */
    size_t num_dims;     /* out */
} PJRT_Buffer_Dimensions_Args;

typedef struct PJRT_Buffer_UnpaddedDimensions_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    const int64_t *unpadded_dims; /* out */
    size_t num_dims;              /* out */
} PJRT_Buffer_UnpaddedDimensions_Args;

typedef struct PJRT_Buffer_DynamicDimensionIndices_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    const size_t *dynamic_dim_indices; /* out */
    size_t num_dynamic_dims;           /* out */
} PJRT_Buffer_DynamicDimensionIndices_Args;

/* Newer callers use the Layouts extension instead. */
typedef struct PJRT_Buffer_GetMemoryLayout_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Buffer_MemoryLayout layout; /* out */
} PJRT_Buffer_GetMemoryLayout_Args;

/* With dst NULL only dst_size is returned, and event stays NULL. */
typedef struct PJRT_Buffer_ToHostBuffer_Args {
    PJRT_HEAD;
    PJRT_Buffer *src;
    PJRT_Buffer_MemoryLayout *host_layout;
    void *dst;         /* in/out */
    size_t dst_size;   /* in/out */
    PJRT_Event *event; /* out */
} PJRT_Buffer_ToHostBuffer_Args;

typedef struct PJRT_Buffer_OnDeviceSizeInBytes_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    size_t on_device_size_in_bytes; /* out */
} PJRT_Buffer_OnDeviceSizeInBytes_Args;

typedef struct PJRT_Buffer_Delete_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
} PJRT_Buffer_Delete_Args;

typedef struct PJRT_Buffer_IsDeleted_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    bool is_deleted; /* out */
} PJRT_Buffer_IsDeleted_Args;

typedef struct PJRT_Buffer_CopyRawToHost_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    void *dst;
    int64_t offset;
    int64_t transfer_size;
    PJRT_Event *event; /* out */
} PJRT_Buffer_CopyRawToHost_Args;

typedef struct PJRT_Buffer_CopyRawToHostFuture_Callback_Args {
    size_t struct_size;
    void *callback_data;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
    void *dst;
} PJRT_Buffer_CopyRawToHostFuture_Callback_Args;
PJRT_SIZED(PJRT_Buffer_CopyRawToHostFuture_Callback_Args, dst);

/* The copy starts when the caller calls future_ready_callback with callback_data and a dst. */
typedef struct PJRT_Buffer_CopyRawToHostFuture_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    int64_t offset;
    int64_t transfer_size;
    PJRT_Event *event;                                                                  /* out */
    void *callback_data;                                                                /* out */
    void (*future_ready_callback)(PJRT_Buffer_CopyRawToHostFuture_Callback_Args *args); /* out */
} PJRT_Buffer_CopyRawToHostFuture_Args;

typedef struct PJRT_Buffer_CopyToDevice_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Device *dst_device;
    PJRT_Buffer *dst_buffer; /* out */
} PJRT_Buffer_CopyToDevice_Args;

typedef struct PJRT_Buffer_CopyToMemory_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Memory *dst_memory;
    PJRT_Buffer *dst_buffer; /* out */
} PJRT_Buffer_CopyToMemory_Args;

typedef struct PJRT_Buffer_Bitcast_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Buffer_Type element_type;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Buffer_MemoryLayout *device_layout;
    PJRT_Buffer *out_buffer; /* out */
} PJRT_Buffer_Bitcast_Args;

typedef struct PJRT_Buffer_IsOnCpu_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    bool is_on_cpu; /* out */
} PJRT_Buffer_IsOnCpu_Args;

typedef struct PJRT_Buffer_Device_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Device *device; /* out */
} PJRT_Buffer_Device_Args;

typedef struct PJRT_Buffer_Memory_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Memory *memory; /* out */
} PJRT_Buffer_Memory_Args;

typedef struct PJRT_Buffer_ReadyEvent_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Event *event; /* out */
} PJRT_Buffer_ReadyEvent_Args;

typedef struct PJRT_Buffer_UnsafePointer_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    uintptr_t buffer_pointer; /* out */
} PJRT_Buffer_UnsafePointer_Args;

typedef struct PJRT_Buffer_IncreaseExternalReferenceCount_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
} PJRT_Buffer_IncreaseExternalReferenceCount_Args;

typedef struct PJRT_Buffer_DecreaseExternalReferenceCount_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
} PJRT_Buffer_DecreaseExternalReferenceCount_Args;

typedef struct PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    void *device_memory_ptr; /* out */
} PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args;

typedef struct PJRT_Buffer_DonateWithControlDependency_Callback_Args {
    size_t struct_size;
    void *callback_data;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
} PJRT_Buffer_DonateWithControlDependency_Callback_Args;
PJRT_SIZED(PJRT_Buffer_DonateWithControlDependency_Callback_Args, error_message_size);

typedef struct PJRT_Buffer_DonateWithControlDependency_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    void *callback_data; /* out */
    void (*dependency_ready_callback)(
        PJRT_Buffer_DonateWithControlDependency_Callback_Args *args); /* out */
    PJRT_Buffer *out_buffer;                                          /* out */
} PJRT_Buffer_DonateWithControlDependency_Args;

#endif
