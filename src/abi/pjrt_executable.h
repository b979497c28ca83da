/* PJRT: executables, loaded executables, execute. */
#ifndef STET_ABI_PJRT_EXECUTABLE_H
#define STET_ABI_PJRT_EXECUTABLE_H

#include "abi/pjrt_client.h"

/* ---- execute context ---- */

typedef struct PJRT_ExecuteContext_Create_Args {
    PJRT_HEAD;
    PJRT_ExecuteContext *context; /* out */
} PJRT_ExecuteContext_Create_Args;

typedef struct PJRT_ExecuteContext_Destroy_Args {
    PJRT_HEAD;
    PJRT_ExecuteContext *context;
} PJRT_ExecuteContext_Destroy_Args;

/* ---- executables: metadata ---- */

typedef struct PJRT_Executable_Destroy_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
} PJRT_Executable_Destroy_Args;

typedef struct PJRT_Executable_Name_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    const char *executable_name; /* out */
    size_t executable_name_size; /* out */
} PJRT_Executable_Name_Args;

typedef struct PJRT_Executable_NumReplicas_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_replicas; /* out */
} PJRT_Executable_NumReplicas_Args;

typedef struct PJRT_Executable_NumPartitions_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_partitions; /* out */
} PJRT_Executable_NumPartitions_Args;

typedef struct PJRT_Executable_NumOutputs_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_outputs; /* out */
} PJRT_Executable_NumOutputs_Args;

typedef struct PJRT_Executable_SizeOfGeneratedCodeInBytes_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    int64_t size_in_bytes; /* out */
} PJRT_Executable_SizeOfGeneratedCodeInBytes_Args;

typedef struct PJRT_Executable_Fingerprint_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    const char *executable_fingerprint; /* out */
    size_t executable_fingerprint_size; /* out */
} PJRT_Executable_Fingerprint_Args;

typedef struct PJRT_Executable_GetCostAnalysis_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_properties;             /* out */
    const PJRT_NamedValue *properties; /* out */
} PJRT_Executable_GetCostAnalysis_Args;

/* Device memory first, then host memory, then totals. */
typedef struct PJRT_Executable_GetCompiledMemoryStats_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    int64_t generated_code_size_in_bytes;      /* out */
    int64_t argument_size_in_bytes;            /* out */
    int64_t output_size_in_bytes;              /* out */
    int64_t alias_size_in_bytes;               /* out */
    int64_t temp_size_in_bytes;                /* out */
    int64_t host_generated_code_size_in_bytes; /* out, 0.43 */
    int64_t host_argument_size_in_bytes;       /* out, 0.43 */
    int64_t host_output_size_in_bytes;         /* out, 0.43 */
    int64_t host_alias_size_in_bytes;          /* out, 0.43 */
    int64_t host_temp_size_in_bytes;           /* out, 0.43 */
    int64_t peak_memory_in_bytes;              /* out, 0.72 */
    int64_t total_size_in_bytes;               /* out, 0.90 */
    int64_t total_allocation_bytes;            /* out, 0.104 */
    int64_t indefinite_allocations;            /* out, 0.104 */
    int64_t peak_unpadded_heap_bytes;          /* out, 0.104 */
} PJRT_Executable_GetCompiledMemoryStats_Args;

typedef struct PJRT_Executable_OutputElementTypes_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    PJRT_Buffer_Type *output_types; /* out */
    size_t num_output_types;        /* out */
} PJRT_Executable_OutputElementTypes_Args;

/* dims contains the dimensions of all outputs one after the other, dim_sizes the rank of each. */
typedef struct PJRT_Executable_OutputDimensions_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_outputs;
    const int64_t *dims;     /* out */
    const size_t *dim_sizes; /* out */
} PJRT_Executable_OutputDimensions_Args;

typedef struct PJRT_Executable_OutputMemoryKinds_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_outputs;
    const char *const *memory_kinds; /* out */
    const size_t *memory_kind_sizes; /* out */
} PJRT_Executable_OutputMemoryKinds_Args;

typedef struct PJRT_Executable_ParameterMemoryKinds_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_parameters;
    const char *const *memory_kinds; /* out */
    const size_t *memory_kind_sizes; /* out */
} PJRT_Executable_ParameterMemoryKinds_Args;

/* Called twice: first with program->code NULL for the size and format, then for the bytes. */
typedef struct PJRT_Executable_OptimizedProgram_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    PJRT_Program *program; /* out */
} PJRT_Executable_OptimizedProgram_Args;

/* serialized_executable keeps the bytes until the deleter is called on it, once. */
typedef struct PJRT_Executable_Serialize_Args {
    PJRT_HEAD;
    const PJRT_Executable *executable;
    const char *serialized_bytes;                                           /* out */
    size_t serialized_bytes_size;                                           /* out */
    PJRT_SerializedExecutable *serialized_executable;                       /* out */
    void (*serialized_executable_deleter)(PJRT_SerializedExecutable *exec); /* out */
} PJRT_Executable_Serialize_Args;

typedef struct PJRT_Executable_GetCompileOptions_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    const char *serialized_bytes;                                                       /* out */
    size_t serialized_bytes_size;                                                       /* out */
    PJRT_SerializedCompileOptions *serialized_compile_options;                          /* out */
    void (*serialized_compile_options_deleter)(PJRT_SerializedCompileOptions *options); /* out */
} PJRT_Executable_GetCompileOptions_Args;

typedef struct PJRT_LoadOptions {
    size_t struct_size;
    const int32_t *computation_origin;
    size_t computation_origin_size;
    PJRT_MultiSlice_Config *multi_slice_config;
} PJRT_LoadOptions;
PJRT_SIZED(PJRT_LoadOptions, multi_slice_config);

/* NULL overridden options mean the options that the executable was compiled with. */
typedef struct PJRT_Executable_DeserializeAndLoad_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    const char *serialized_executable;
    size_t serialized_executable_size;
    PJRT_LoadedExecutable *loaded_executable;          /* out */
    const char *overridden_serialized_compile_options; /* 0.71 */
    size_t overridden_serialized_compile_options_size; /* 0.71 */
    PJRT_LoadOptions *load_options;                    /* 0.111 */
} PJRT_Executable_DeserializeAndLoad_Args;

/* ---- loaded executables ---- */

typedef struct PJRT_LoadedExecutable_Destroy_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
} PJRT_LoadedExecutable_Destroy_Args;

/* The caller destroys the executable; it may borrow from the loaded one. */
typedef struct PJRT_LoadedExecutable_GetExecutable_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *loaded_executable;
    PJRT_Executable *executable; /* out */
} PJRT_LoadedExecutable_GetExecutable_Args;

/* The bytes are a serialised DeviceAssignmentProto. */
typedef struct PJRT_LoadedExecutable_GetDeviceAssignment_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
    const char *serialized_bytes;                                                      /* out */
    size_t serialized_bytes_size;                                                      /* out */
    PJRT_DeviceAssignmentSerialized *serialized_device_assignment;                     /* out */
    void (*serialized_device_assignment_deleter)(PJRT_DeviceAssignmentSerialized *da); /* out */
} PJRT_LoadedExecutable_GetDeviceAssignment_Args;

typedef struct PJRT_LogicalDeviceIds {
    int replica;
    int partition;
} PJRT_LogicalDeviceIds;

typedef struct PJRT_LoadedExecutable_AddressableDevices_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
    PJRT_Device *const *addressable_devices; /* out */
    size_t num_addressable_devices;          /* out */
} PJRT_LoadedExecutable_AddressableDevices_Args;

typedef struct PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
    PJRT_LogicalDeviceIds *addressable_device_logical_ids; /* out */
    size_t num_addressable_device_logical_ids;             /* out */
} PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args;

typedef struct PJRT_LoadedExecutable_Delete_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
} PJRT_LoadedExecutable_Delete_Args;

typedef struct PJRT_LoadedExecutable_IsDeleted_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
    bool is_deleted; /* out */
} PJRT_LoadedExecutable_IsDeleted_Args;

typedef struct PJRT_LoadedExecutable_Fingerprint_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
    const char *executable_fingerprint; /* out */
    size_t executable_fingerprint_size; /* out */
} PJRT_LoadedExecutable_Fingerprint_Args;

/* ---- execute ---- */

typedef struct PJRT_Chunk {
    void *data;
    size_t size;
    void (*deleter)(void *data, void *deleter_arg);
    void *deleter_arg;
} PJRT_Chunk;

/* Takes ownership of the chunk. */
typedef PJRT_Error *(*PJRT_SendCallback)(PJRT_Chunk *chunk, PJRT_CallbackError *callback_error,
                                         size_t total_size_in_bytes, bool done, void *user_arg);
/* Takes ownership of the stream. */
typedef void (*PJRT_RecvCallback)(PJRT_CopyToDeviceStream *stream, void *user_arg);
typedef void (*PJRT_HloOutputCallback)(int64_t replica_id, int64_t partition_id, const void *data,
                                       const int64_t *shape_dims, size_t shape_num_dims,
                                       PJRT_Buffer_Type shape_element_type, int64_t operand_index,
                                       void *user_arg);

typedef struct PJRT_SendCallbackInfo {
    int64_t channel_id;
    void *user_arg;
    PJRT_SendCallback send_callback;
} PJRT_SendCallbackInfo;
PJRT_SIZED(PJRT_SendCallbackInfo, send_callback);

typedef struct PJRT_RecvCallbackInfo {
    int64_t channel_id;
    void *user_arg;
    PJRT_RecvCallback recv_callback;
} PJRT_RecvCallbackInfo;
PJRT_SIZED(PJRT_RecvCallbackInfo, recv_callback);

typedef struct PJRT_HloOutputCallbackInfo {
    void *user_arg;
    PJRT_HloOutputCallback callback;
    int64_t callback_id;
    size_t num_operands;
} PJRT_HloOutputCallbackInfo;
PJRT_SIZED(PJRT_HloOutputCallbackInfo, num_operands);

/* call_location is a NUL-terminated "file:line" from the framework, valid during the call. */
typedef struct PJRT_ExecuteOptions {
    PJRT_HEAD;
    PJRT_SendCallbackInfo **send_callbacks;
    PJRT_RecvCallbackInfo **recv_callbacks;
    size_t num_send_ops;
    size_t num_recv_ops;
    int launch_id;
    const int64_t *non_donatable_input_indices;        /* 0.39 */
    size_t num_non_donatable_input_indices;            /* 0.39 */
    PJRT_ExecuteContext *context;                      /* 0.64 */
    const char *call_location;                         /* 0.76 */
    size_t num_tasks;                                  /* 0.78 */
    int *task_ids;                                     /* 0.78 */
    int64_t *incarnation_ids;                          /* 0.78 */
    PJRT_MultiSlice_Config *multi_slice_config;        /* 0.97 */
    bool use_major_to_minor_data_layout_for_callbacks; /* 0.108 */
    PJRT_HloOutputCallbackInfo *hlo_output_callbacks;  /* 0.112 */
    size_t num_hlo_output_callbacks;                   /* 0.112 */
} PJRT_ExecuteOptions;
PJRT_SIZED(PJRT_ExecuteOptions, num_hlo_output_callbacks);

/* argument_lists is [num_devices][num_args]. The caller owns the lists of output_lists and the
 * buffers that the plugin puts into them. device_complete_events may be NULL or is [num_devices];
 * the plugin does not write it if the call fails. */
typedef struct PJRT_LoadedExecutable_Execute_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
    PJRT_ExecuteOptions *options;
    PJRT_Buffer *const *const *argument_lists;
    size_t num_devices;
    size_t num_args;
    PJRT_Buffer **const *output_lists;   /* in/out */
    PJRT_Event **device_complete_events; /* in/out */
    PJRT_Device *execute_device;
} PJRT_LoadedExecutable_Execute_Args;

/* ---- streams that a receive callback fills ---- */

typedef struct PJRT_CopyToDeviceStream_Destroy_Args {
    PJRT_HEAD;
    PJRT_CopyToDeviceStream *stream;
} PJRT_CopyToDeviceStream_Destroy_Args;

typedef struct PJRT_CopyToDeviceStream_AddChunk_Args {
    PJRT_HEAD;
    PJRT_CopyToDeviceStream *stream;
    PJRT_Chunk *chunk;
    PJRT_Event *transfer_complete; /* out */
} PJRT_CopyToDeviceStream_AddChunk_Args;

typedef struct PJRT_CopyToDeviceStream_TotalBytes_Args {
    PJRT_HEAD;
    PJRT_CopyToDeviceStream *stream;
    int64_t total_bytes; /* out */
} PJRT_CopyToDeviceStream_TotalBytes_Args;

typedef struct PJRT_CopyToDeviceStream_GranuleSize_Args {
    PJRT_HEAD;
    PJRT_CopyToDeviceStream *stream;
    int64_t granule_size_in_bytes; /* out */
} PJRT_CopyToDeviceStream_GranuleSize_Args;

typedef struct PJRT_CopyToDeviceStream_CurrentBytes_Args {
    PJRT_HEAD;
    PJRT_CopyToDeviceStream *stream;
    int64_t current_bytes; /* out */
} PJRT_CopyToDeviceStream_CurrentBytes_Args;

#endif
