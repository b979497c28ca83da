/* PJRT: memory spaces, clients, and the buffers that a client creates. */
#ifndef STET_ABI_PJRT_CLIENT_H
#define STET_ABI_PJRT_CLIENT_H

#include "abi/pjrt_base.h"

/* ---- memory spaces ---- */

/* From 0.105 a memory starts with this table, through which callers can attach data to it. */
typedef struct PJRT_Memory_FunctionTable {
    PJRT_HEAD;
    size_t instance_struct_size;
    void *(*get_user_data)(PJRT_Memory *memory, const void *key);
    void (*set_user_data)(PJRT_Memory *memory, const void *key, void *data, void (*dtor)(void *));
} PJRT_Memory_FunctionTable;
PJRT_SIZED(PJRT_Memory_FunctionTable, set_user_data);

struct PJRT_Memory {
    const PJRT_Memory_FunctionTable *vtable; /* 0.105 */
};
PJRT_SIZED(PJRT_Memory, vtable);

typedef struct PJRT_Memory_Id_Args {
    PJRT_HEAD;
    PJRT_Memory *memory;
    int id; /* out */
} PJRT_Memory_Id_Args;

typedef struct PJRT_Memory_Kind_Args {
    PJRT_HEAD;
    PJRT_Memory *memory;
    const char *kind; /* out */
    size_t kind_size; /* out */
} PJRT_Memory_Kind_Args;

typedef struct PJRT_Memory_Kind_Id_Args {
    PJRT_HEAD;
    PJRT_Memory *memory;
    int kind_id; /* out */
} PJRT_Memory_Kind_Id_Args;

typedef struct PJRT_Memory_DebugString_Args {
    PJRT_HEAD;
    PJRT_Memory *memory;
    const char *debug_string; /* out */
    size_t debug_string_size; /* out */
} PJRT_Memory_DebugString_Args;

typedef struct PJRT_Memory_ToString_Args {
    PJRT_HEAD;
    PJRT_Memory *memory;
    const char *to_string; /* out */
    size_t to_string_size; /* out */
} PJRT_Memory_ToString_Args;

typedef struct PJRT_Memory_AddressableByDevices_Args {
    PJRT_HEAD;
    PJRT_Memory *memory;
    PJRT_Device *const *devices; /* out */
    size_t num_devices;          /* out */
} PJRT_Memory_AddressableByDevices_Args;

/* ---- the key-value store of a multi-process job, offered at client creation ---- */

typedef void (*PJRT_KeyValueGetCallback_ValueDeleter)(char *value);

/* Waits up to timeout_in_ms for the key. */
typedef struct PJRT_KeyValueGetCallback_Args {
    PJRT_HEAD;
    const char *key;
    size_t key_size;
    int timeout_in_ms;
    PJRT_CallbackError *callback_error;
    void *user_arg;
    char *value;                                                  /* out */
    size_t value_size;                                            /* out */
    PJRT_KeyValueGetCallback_ValueDeleter value_deleter_callback; /* out */
} PJRT_KeyValueGetCallback_Args;
PJRT_SIZED(PJRT_KeyValueGetCallback_Args, value_deleter_callback);

typedef PJRT_Error *(*PJRT_KeyValueGetCallback)(PJRT_KeyValueGetCallback_Args *args);

typedef void (*PJRT_KeyValueTryGetCallback_ValueDeleter)(char *value);

/* Fails at once if the key does not exist. */
typedef struct PJRT_KeyValueTryGetCallback_Args {
    PJRT_HEAD;
    const char *key;
    size_t key_size;
    PJRT_CallbackError *callback_error;
    void *user_arg;
    char *value;                                                     /* out */
    size_t value_size;                                               /* out */
    PJRT_KeyValueTryGetCallback_ValueDeleter value_deleter_callback; /* out */
} PJRT_KeyValueTryGetCallback_Args;
PJRT_SIZED(PJRT_KeyValueTryGetCallback_Args, value_deleter_callback);

typedef PJRT_Error *(*PJRT_KeyValueTryGetCallback)(PJRT_KeyValueTryGetCallback_Args *args);

typedef struct PJRT_KeyValuePutCallback_Args {
    PJRT_HEAD;
    const char *key;
    size_t key_size;
    const char *value;
    size_t value_size;
    PJRT_CallbackError *callback_error;
    void *user_arg;
} PJRT_KeyValuePutCallback_Args;
PJRT_SIZED(PJRT_KeyValuePutCallback_Args, user_arg);

typedef PJRT_Error *(*PJRT_KeyValuePutCallback)(PJRT_KeyValuePutCallback_Args *args);

/* ---- client ---- */

typedef struct PJRT_Client_Create_Args {
    PJRT_HEAD;
    const PJRT_NamedValue *create_options;
    size_t num_options;
    PJRT_KeyValueGetCallback kv_get_callback;
    void *kv_get_user_arg;
    PJRT_KeyValuePutCallback kv_put_callback;
    void *kv_put_user_arg;
    PJRT_Client *client;                             /* out */
    PJRT_KeyValueTryGetCallback kv_try_get_callback; /* 0.61 */
    void *kv_try_get_user_arg;                       /* 0.61 */
} PJRT_Client_Create_Args;

typedef struct PJRT_Client_Destroy_Args {
    PJRT_HEAD;
    PJRT_Client *client;
} PJRT_Client_Destroy_Args;

/* Strings and lists of a client are valid as long as the client. */
typedef struct PJRT_Client_PlatformName_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    const char *platform_name; /* out */
    size_t platform_name_size; /* out */
} PJRT_Client_PlatformName_Args;

typedef struct PJRT_Client_ProcessIndex_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    int process_index; /* out */
} PJRT_Client_ProcessIndex_Args;

typedef struct PJRT_Client_PlatformVersion_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    const char *platform_version; /* out */
    size_t platform_version_size; /* out */
} PJRT_Client_PlatformVersion_Args;

/* The topology belongs to the client: the caller does not destroy it. */
typedef struct PJRT_Client_TopologyDescription_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_TopologyDescription *topology; /* out */
} PJRT_Client_TopologyDescription_Args;

typedef struct PJRT_Client_Devices_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Device *const *devices; /* out */
    size_t num_devices;          /* out */
} PJRT_Client_Devices_Args;

typedef struct PJRT_Client_AddressableDevices_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Device *const *addressable_devices; /* out */
    size_t num_addressable_devices;          /* out */
} PJRT_Client_AddressableDevices_Args;

typedef struct PJRT_Client_LookupDevice_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    int id;
    PJRT_Device *device; /* out */
} PJRT_Client_LookupDevice_Args;

typedef struct PJRT_Client_LookupAddressableDevice_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    int local_hardware_id;
    PJRT_Device *addressable_device; /* out */
} PJRT_Client_LookupAddressableDevice_Args;

typedef enum {
    PJRT_ProcessState_kUnspecified = 0,
    PJRT_ProcessState_kUninitialized = 1,
    PJRT_ProcessState_kDisconnected = 2,
    PJRT_ProcessState_kConnected = 3,
    PJRT_ProcessState_kError = 4,
} PJRT_ProcessState;

/* struct_size was added at the front late in 0.75: tables up to 0.75 may use the shorter struct. */
typedef struct PJRT_ProcessInfo {
    size_t struct_size; /* 0.75 */
    int task_id;
    uint64_t incarnation_id;
    PJRT_ProcessState state;
    int error_code;
    const char *error_message;
    size_t error_message_size;
} PJRT_ProcessInfo;
PJRT_SIZED(PJRT_ProcessInfo, error_message_size);

typedef struct PJRT_Client_UpdateGlobalProcessInfo_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_ProcessInfo *process_infos;
    size_t num_process_infos;
} PJRT_Client_UpdateGlobalProcessInfo_Args;

typedef struct PJRT_Client_AddressableMemories_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Memory *const *addressable_memories; /* out */
    size_t num_addressable_memories;          /* out */
} PJRT_Client_AddressableMemories_Args;

/* format is "mlir", "hlo" or "hlo_with_config". Only OptimizedProgram writes code. */
typedef struct PJRT_Program {
    PJRT_HEAD;
    char *code; /* in/out */
    size_t code_size;
    const char *format;
    size_t format_size;
} PJRT_Program;
PJRT_SIZED(PJRT_Program, format_size);

/* compile_options is a serialised CompileOptionsProto. */
typedef struct PJRT_Client_Compile_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    const PJRT_Program *program;
    const char *compile_options;
    size_t compile_options_size;
    PJRT_LoadedExecutable *executable; /* out */
} PJRT_Client_Compile_Args;

/* Loads an executable that PJRT_Compile created. */
typedef struct PJRT_Client_Load_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Executable *executable;
    const char *compile_options;
    size_t compile_options_size;
    PJRT_LoadedExecutable *loaded_executable; /* out */
} PJRT_Client_Load_Args;

/* Writes num_replicas * num_partitions ids into the caller's array. */
typedef struct PJRT_Client_DefaultDeviceAssignment_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    int num_replicas;
    int num_partitions;
    size_t default_assignment_size;
    int *default_assignment;
} PJRT_Client_DefaultDeviceAssignment_Args;

typedef struct PJRT_Client_DmaMap_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    void *data;
    size_t size;
} PJRT_Client_DmaMap_Args;

typedef struct PJRT_Client_DmaUnmap_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    void *data;
} PJRT_Client_DmaUnmap_Args;

/* ---- buffers that a client creates ---- */

/* The order is the numbering. */
typedef enum {
    PJRT_Buffer_Type_INVALID,
    PJRT_Buffer_Type_PRED,
    PJRT_Buffer_Type_S8,
    PJRT_Buffer_Type_S16,
    PJRT_Buffer_Type_S32,
    PJRT_Buffer_Type_S64,
    PJRT_Buffer_Type_U8,
    PJRT_Buffer_Type_U16,
    PJRT_Buffer_Type_U32,
    PJRT_Buffer_Type_U64,
    PJRT_Buffer_Type_F16,
    PJRT_Buffer_Type_F32,
    PJRT_Buffer_Type_F64,
    PJRT_Buffer_Type_BF16,
    PJRT_Buffer_Type_C64,
    PJRT_Buffer_Type_C128,
    PJRT_Buffer_Type_F8E5M2,
    PJRT_Buffer_Type_F8E4M3FN,
    PJRT_Buffer_Type_F8E4M3B11FNUZ,
    PJRT_Buffer_Type_F8E5M2FNUZ,
    PJRT_Buffer_Type_F8E4M3FNUZ,
    PJRT_Buffer_Type_S4,
    PJRT_Buffer_Type_U4,
    PJRT_Buffer_Type_TOKEN,
    PJRT_Buffer_Type_S2,
    PJRT_Buffer_Type_U2,
    PJRT_Buffer_Type_F8E4M3,
    PJRT_Buffer_Type_F8E3M4,
    PJRT_Buffer_Type_F8E8M0FNU,
    PJRT_Buffer_Type_F4E2M1FN,
    PJRT_Buffer_Type_S1,
    PJRT_Buffer_Type_U1,
    PJRT_Buffer_Type_F6E2M3FN,
    PJRT_Buffer_Type_F6E3M2FN,
} PJRT_Buffer_Type;

typedef enum {
    PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,         /* copied before the call returns */
    PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes, /* until done_with_host_buffer */
    PJRT_HostBufferSemantics_kImmutableZeroCopy,               /* may alias, read only */
    PJRT_HostBufferSemantics_kMutableZeroCopy,                 /* may alias and be written */
} PJRT_HostBufferSemantics;

typedef enum {
    PJRT_Buffer_MemoryLayout_Type_Tiled = 0,
    PJRT_Buffer_MemoryLayout_Type_Strides,
} PJRT_Buffer_MemoryLayout_Type;

/* minor_to_major lists logical dimensions, fastest first; tile_dims contains all tiles one after
 * the other, tile_dim_sizes the number of dimensions of each tile. */
typedef struct PJRT_Buffer_MemoryLayout_Tiled {
    PJRT_HEAD;
    const int64_t *minor_to_major;
    size_t minor_to_major_size;
    const int64_t *tile_dims;
    const size_t *tile_dim_sizes;
    size_t num_tiles;
} PJRT_Buffer_MemoryLayout_Tiled;
PJRT_SIZED(PJRT_Buffer_MemoryLayout_Tiled, num_tiles);

/* In bytes; may be negative, and the data then starts inside its block. */
typedef struct PJRT_Buffer_MemoryLayout_Strides {
    PJRT_HEAD;
    const int64_t *byte_strides;
    size_t num_byte_strides;
} PJRT_Buffer_MemoryLayout_Strides;
PJRT_SIZED(PJRT_Buffer_MemoryLayout_Strides, num_byte_strides);

typedef struct PJRT_Buffer_MemoryLayout {
    PJRT_HEAD;
    union {
        PJRT_Buffer_MemoryLayout_Tiled tiled;
        PJRT_Buffer_MemoryLayout_Strides strides;
    };
    PJRT_Buffer_MemoryLayout_Type type;
} PJRT_Buffer_MemoryLayout;
PJRT_SIZED(PJRT_Buffer_MemoryLayout, type);

typedef struct PJRT_ShapeSpec {
    PJRT_HEAD;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Buffer_Type element_type;
} PJRT_ShapeSpec;
PJRT_SIZED(PJRT_ShapeSpec, element_type);

/* Without strides the data is dense, major to minor; memory, if given, overrides device. */
typedef struct PJRT_Client_BufferFromHostBuffer_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    const void *data;
    PJRT_Buffer_Type type;
    const int64_t *dims;
    size_t num_dims;
    const int64_t *byte_strides;
    size_t num_byte_strides;
    PJRT_HostBufferSemantics host_buffer_semantics;
    PJRT_Device *device;
    PJRT_Memory *memory;
    PJRT_Buffer_MemoryLayout *device_layout;
    PJRT_Event *done_with_host_buffer; /* out */
    PJRT_Buffer *buffer;               /* out */
} PJRT_Client_BufferFromHostBuffer_Args;

/* Wraps memory that the plugin does not own; on_delete_callback may be NULL. */
typedef struct PJRT_Client_CreateViewOfDeviceBuffer_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    void *device_buffer_ptr;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Buffer_Type element_type;
    PJRT_Buffer_MemoryLayout *layout;
    PJRT_Device *device;
    void (*on_delete_callback)(void *device_buffer_ptr, void *user_arg);
    void *on_delete_callback_arg;
    intptr_t stream;
    PJRT_Buffer *buffer; /* out */
    PJRT_Memory *memory; /* 0.66 */
} PJRT_Client_CreateViewOfDeviceBuffer_Args;

typedef struct PJRT_Client_CreateUninitializedBuffer_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    const int64_t *shape_dims;
    size_t shape_num_dims;
    PJRT_Buffer_Type shape_element_type;
    PJRT_Buffer_MemoryLayout *shape_layout;
    PJRT_Device *device;
    PJRT_Memory *memory;
    PJRT_Buffer *buffer; /* out */
} PJRT_Client_CreateUninitializedBuffer_Args;

/* A buffer whose use fails with the given error. */
typedef struct PJRT_Client_CreateErrorBuffer_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
    const int64_t *shape_dims;
    size_t shape_num_dims;
    PJRT_Buffer_Type shape_element_type;
    PJRT_Buffer_MemoryLayout *shape_layout;
    PJRT_Memory *memory;
    PJRT_Buffer *buffer;            /* out */
    const PJRT_NamedValue *payload; /* 0.103 */
    size_t num_payload;             /* 0.103 */
} PJRT_Client_CreateErrorBuffer_Args;

/* Creates a buffer now whose content arrives later, through FulfillAliasBuffer. */
typedef struct PJRT_Client_CreateAliasBuffer_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Memory *memory;
    const int64_t *shape_dims;
    size_t shape_num_dims;
    PJRT_Buffer_Type shape_element_type;
    PJRT_Buffer_MemoryLayout *shape_layout;
    PJRT_Buffer *alias_buffer;                                /* out */
    PJRT_FulfillAliasBufferCallback *fulfill_alias_buffer_cb; /* out */
} PJRT_Client_CreateAliasBuffer_Args;

typedef struct PJRT_Client_FulfillAliasBuffer_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Buffer *buffer;
    PJRT_Error_Code status_code;
    const char *error_message;
    size_t error_message_size;
    PJRT_FulfillAliasBufferCallback *fulfill_alias_buffer_cb;
} PJRT_Client_FulfillAliasBuffer_Args;

typedef struct PJRT_Client_CreateBuffersForAsyncHostToDevice_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_ShapeSpec *shape_specs;
    size_t num_shape_specs;
    PJRT_Buffer_MemoryLayout **device_layouts; /* may be NULL */
    size_t num_device_layouts;
    PJRT_Memory *memory;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager; /* out */
} PJRT_Client_CreateBuffersForAsyncHostToDevice_Args;

/* ---- buffers filled piece by piece ---- */

typedef struct PJRT_AsyncHostToDeviceTransferManager_Destroy_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
} PJRT_AsyncHostToDeviceTransferManager_Destroy_Args;

typedef struct PJRT_AsyncHostToDeviceTransferManager_TransferData_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    int buffer_index;
    const void *data;
    int64_t offset;
    int64_t transfer_size;
    bool is_last_transfer;
    PJRT_Event *done_with_h2d_transfer; /* out */
} PJRT_AsyncHostToDeviceTransferManager_TransferData_Args;

typedef struct PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    int buffer_index;
    const void *data;
    const int64_t *shape_dims;
    size_t shape_num_dims;
    PJRT_Buffer_Type shape_element_type;
    PJRT_Buffer_MemoryLayout *shape_layout;
    PJRT_Event *done_with_h2d_transfer; /* out */
} PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args;

typedef struct PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    int buffer_index;
    PJRT_Buffer *buffer_out; /* out */
} PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args;

typedef struct PJRT_AsyncHostToDeviceTransferManager_Device_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    PJRT_Device *device_out; /* out */
} PJRT_AsyncHostToDeviceTransferManager_Device_Args;

typedef struct PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    size_t buffer_count; /* out */
} PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args;

typedef struct PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    int buffer_index;
    size_t buffer_size; /* out */
} PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args;

typedef struct PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    int buffer_index;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
} PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args;

typedef struct PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    const PJRT_NamedValue *transfer_metadata;
    size_t num_metadata;
} PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args;

#endif
