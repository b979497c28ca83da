/* PJRT: devices, topologies, ahead-of-time compile. */
#ifndef STET_ABI_PJRT_DEVICE_H
#define STET_ABI_PJRT_DEVICE_H

#include "abi/pjrt_client.h"

/* ---- device descriptions, also of devices that are not present ---- */

typedef struct PJRT_DeviceDescription_Id_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    int id; /* out */
} PJRT_DeviceDescription_Id_Args;

typedef struct PJRT_DeviceDescription_ProcessIndex_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    int process_index; /* out */
} PJRT_DeviceDescription_ProcessIndex_Args;

typedef struct PJRT_DeviceDescription_Attributes_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    size_t num_attributes;             /* out */
    const PJRT_NamedValue *attributes; /* out */
} PJRT_DeviceDescription_Attributes_Args;

typedef struct PJRT_DeviceDescription_Kind_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    const char *device_kind; /* out */
    size_t device_kind_size; /* out */
} PJRT_DeviceDescription_Kind_Args;

typedef struct PJRT_DeviceDescription_DebugString_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    const char *debug_string; /* out */
    size_t debug_string_size; /* out */
} PJRT_DeviceDescription_DebugString_Args;

typedef struct PJRT_DeviceDescription_ToString_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    const char *to_string; /* out */
    size_t to_string_size; /* out */
} PJRT_DeviceDescription_ToString_Args;

/* ---- devices ---- */

typedef struct PJRT_Device_GetDescription_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    PJRT_DeviceDescription *device_description; /* out */
} PJRT_Device_GetDescription_Args;

typedef struct PJRT_Device_IsAddressable_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    bool is_addressable; /* out */
} PJRT_Device_IsAddressable_Args;

typedef struct PJRT_Device_LocalHardwareId_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    int local_hardware_id; /* out */
} PJRT_Device_LocalHardwareId_Args;

typedef struct PJRT_Device_AddressableMemories_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    PJRT_Memory *const *memories; /* out */
    size_t num_memories;          /* out */
} PJRT_Device_AddressableMemories_Args;

typedef struct PJRT_Device_DefaultMemory_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    PJRT_Memory *memory; /* out */
} PJRT_Device_DefaultMemory_Args;

/* bytes_in_use is always set; every other figure is valid only if its _is_set is true. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the order is the interface's */
typedef struct PJRT_Device_MemoryStats_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    int64_t bytes_in_use;                 /* out */
    int64_t peak_bytes_in_use;            /* out */
    bool peak_bytes_in_use_is_set;        /* out */
    int64_t num_allocs;                   /* out */
    bool num_allocs_is_set;               /* out */
    int64_t largest_alloc_size;           /* out */
    bool largest_alloc_size_is_set;       /* out */
    int64_t bytes_limit;                  /* out */
    bool bytes_limit_is_set;              /* out */
    int64_t bytes_reserved;               /* out */
    bool bytes_reserved_is_set;           /* out */
    int64_t peak_bytes_reserved;          /* out */
    bool peak_bytes_reserved_is_set;      /* out */
    int64_t bytes_reservable_limit;       /* out */
    bool bytes_reservable_limit_is_set;   /* out */
    int64_t largest_free_block_bytes;     /* out */
    bool largest_free_block_bytes_is_set; /* out */
    int64_t pool_bytes;                   /* out */
    bool pool_bytes_is_set;               /* out */
    int64_t peak_pool_bytes;              /* out */
    bool peak_pool_bytes_is_set;          /* out */
    int64_t peak_allocated_bytes;         /* out, 0.113 */
    bool peak_allocated_bytes_is_set;     /* out, 0.113 */
} PJRT_Device_MemoryStats_Args;

typedef struct PJRT_Device_ClearMemoryStats_Args {
    PJRT_HEAD;
    PJRT_Device *device;
} PJRT_Device_ClearMemoryStats_Args;

typedef struct PJRT_Device_PoisonExecution_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    int32_t launch_id;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
    bool poisoned;                  /* out */
    const PJRT_NamedValue *payload; /* 0.100 */
    size_t num_payload;             /* 0.100 */
} PJRT_Device_PoisonExecution_Args;

typedef struct PJRT_Device_GetAttributes_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    const PJRT_NamedValue *attributes;                                     /* out */
    size_t num_attributes;                                                 /* out */
    PJRT_Device_Attributes *device_attributes;                             /* out */
    void (*attributes_deleter)(PJRT_Device_Attributes *device_attributes); /* out */
} PJRT_Device_GetAttributes_Args;

typedef struct PJRT_Device_CreateAsyncTrackingEvent_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    const char *description;
    size_t description_size;
    PJRT_AsyncTrackingEvent *event; /* out */
} PJRT_Device_CreateAsyncTrackingEvent_Args;

typedef struct PJRT_AsyncTrackingEvent_Destroy_Args {
    PJRT_HEAD;
    PJRT_AsyncTrackingEvent *event;
} PJRT_AsyncTrackingEvent_Destroy_Args;

/* ---- topology: the target of a compile ---- */

typedef struct PJRT_TopologyDescription_Create_Args {
    PJRT_HEAD;
    const char *topology_name;
    size_t topology_name_size;
    const PJRT_NamedValue *create_options;
    size_t num_options;
    PJRT_TopologyDescription *topology; /* out */
} PJRT_TopologyDescription_Create_Args;

typedef struct PJRT_TopologyDescription_Destroy_Args {
    PJRT_HEAD;
    PJRT_TopologyDescription *topology;
} PJRT_TopologyDescription_Destroy_Args;

typedef struct PJRT_TopologyDescription_PlatformName_Args {
    PJRT_HEAD;
    const PJRT_TopologyDescription *topology;
    const char *platform_name; /* out */
    size_t platform_name_size; /* out */
} PJRT_TopologyDescription_PlatformName_Args;

typedef struct PJRT_TopologyDescription_PlatformVersion_Args {
    PJRT_HEAD;
    PJRT_TopologyDescription *topology;
    const char *platform_version; /* out */
    size_t platform_version_size; /* out */
} PJRT_TopologyDescription_PlatformVersion_Args;

typedef struct PJRT_TopologyDescription_GetDeviceDescriptions_Args {
    PJRT_HEAD;
    const PJRT_TopologyDescription *topology;
    PJRT_DeviceDescription *const *descriptions; /* out */
    size_t num_descriptions;                     /* out */
} PJRT_TopologyDescription_GetDeviceDescriptions_Args;

typedef struct PJRT_TopologyDescription_Serialize_Args {
    PJRT_HEAD;
    PJRT_TopologyDescription *topology;
    const char *serialized_bytes;                                                      /* out */
    size_t serialized_bytes_size;                                                      /* out */
    PJRT_SerializedTopology *serialized_topology;                                      /* out */
    void (*serialized_topology_deleter)(PJRT_SerializedTopology *serialized_topology); /* out */
} PJRT_TopologyDescription_Serialize_Args;

typedef struct PJRT_TopologyDescription_Deserialize_Args {
    PJRT_HEAD;
    const char *serialized_topology;
    size_t serialized_topology_size;
    PJRT_TopologyDescription *topology; /* out */
} PJRT_TopologyDescription_Deserialize_Args;

typedef struct PJRT_TopologyDescription_Attributes_Args {
    PJRT_HEAD;
    PJRT_TopologyDescription *topology;
    const PJRT_NamedValue *attributes; /* out */
    size_t num_attributes;             /* out */
} PJRT_TopologyDescription_Attributes_Args;

typedef struct PJRT_TopologyDescription_Fingerprint_Args {
    PJRT_HEAD;
    const PJRT_TopologyDescription *topology;
    uint64_t fingerprint; /* out */
} PJRT_TopologyDescription_Fingerprint_Args;

/* The result is a serialised ShapeProto. */
typedef struct PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args {
    PJRT_HEAD;
    const PJRT_TopologyDescription *topology;
    int memory_space_kind_id;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Buffer_Type element_type;
    const PJRT_Buffer_MemoryLayout *layout;         /* may be NULL */
    const char *serialized_shape;                   /* out */
    size_t serialized_shape_size;                   /* out */
    void (*serialized_shape_deleter)(const char *); /* out */
} PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args;

typedef struct PJRT_TopologyDescription_GetMemorySpaceKindIds_Args {
    PJRT_HEAD;
    const PJRT_TopologyDescription *topology;
    const int *memory_space_kind_ids; /* out */
    size_t num_memory_space_kind_ids; /* out */
} PJRT_TopologyDescription_GetMemorySpaceKindIds_Args;

/* Ahead-of-time compile; client is optional and is NULL without a device. */
typedef struct PJRT_Compile_Args {
    PJRT_HEAD;
    const PJRT_TopologyDescription *topology;
    const PJRT_Program *program;
    const char *compile_options;
    size_t compile_options_size;
    PJRT_Client *client;
    PJRT_Executable *executable; /* out */
} PJRT_Compile_Args;

#endif
