/* PJRT: sizes and extensions, versions, handles, errors, named values, plugin, events. */
#ifndef STET_ABI_PJRT_BASE_H
#define STET_ABI_PJRT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of a field, by its type: the field is often a pointer, and linters report sizeof of a
 * pointer as a mistake. */
#define STET_SIZE_OF(type, field) sizeof(__typeof__(((type *)0)->field))

/* A struct's size as the interface counts it: up to the end of the last field, without the padding
 * after it. Callers write it into struct_size, so it must be this and not sizeof. */
#define PJRT_SIZED(type, last)                                                                     \
    enum { type##_STRUCT_SIZE = offsetof(type, last) + STET_SIZE_OF(type, last) };                 \
    _Static_assert(sizeof(type) == (type##_STRUCT_SIZE + _Alignof(type) - 1) / _Alignof(type) *    \
                                       _Alignof(type),                                             \
                   #last " is not the last field of " #type)

/* Does the creator of *s know this field? Fields are only appended, so a struct that is long enough
 * has it (docs/abi.md lists the exceptions). */
#define STET_HAS(s, field)                                                                         \
    ((s)->struct_size >= offsetof(__typeof__(*(s)), field) + STET_SIZE_OF(__typeof__(*(s)), field))

/* ---- extensions: a linked list of typed tables attached to a struct ---- */

/* The order is the numbering; new kinds come at the end. Unknown kinds are passed through unread.
 */
typedef enum {
    PJRT_Extension_Type_Gpu_Custom_Call = 0,
    PJRT_Extension_Type_Profiler,
    PJRT_Extension_Type_Custom_Partitioner,
    PJRT_Extension_Type_Stream,
    PJRT_Extension_Type_Layouts,
    PJRT_Extension_Type_FFI,
    PJRT_Extension_Type_MemoryDescriptions,
    PJRT_Extension_Type_Triton,
    PJRT_Extension_Type_RawBuffer,
    PJRT_Extension_Type_PhaseCompile,
    PJRT_Extension_Type_Example,
    PJRT_Extension_Type_Unknown,
    PJRT_Extension_Type_CrossHostTransfers,
    PJRT_Extension_Type_ExecutableMetadata,
    PJRT_Extension_Type_Callback,
    PJRT_Extension_Type_HostAllocator,
    PJRT_Extension_Type_TpuTopology,
    PJRT_Extension_Type_TpuExecutable,
    PJRT_Extension_Type_Megascale,
    PJRT_Extension_Type_Shardings,
    PJRT_Extension_Type_AbiVersion,
    PJRT_Extension_Type_Collectives,
    PJRT_Extension_Type_MultiSlice,
    PJRT_Extension_Type_HostMemoryAllocator,
    PJRT_Extension_Type_XlaTransform,
} PJRT_Extension_Type;

/* Before API 0.45 this struct had no struct_size: do not walk the list of an older table
 * (stet_api_extensions returns NULL for those). */
typedef struct PJRT_Extension_Base {
    size_t struct_size;
    PJRT_Extension_Type type;
    struct PJRT_Extension_Base *next;
} PJRT_Extension_Base;
PJRT_SIZED(PJRT_Extension_Base, next);

/* The first fields of nearly every struct of the interface. Older tables call the second field
 * priv. */
#define PJRT_HEAD                                                                                  \
    size_t struct_size;                                                                            \
    PJRT_Extension_Base *extension_start

/* ---- version ---- */

#define PJRT_API_MAJOR 0
/* The newest interface found in a release (libtpu 0.0.51). 0.115 and 0.116 add nothing to the
 * table. */
#define PJRT_API_MINOR 116

typedef struct PJRT_Api_Version {
    PJRT_HEAD;
    int major_version; /* out */
    int minor_version; /* out */
} PJRT_Api_Version;
PJRT_SIZED(PJRT_Api_Version, minor_version);

/* ---- handles: all opaque, owned by the plugin ---- */

typedef struct PJRT_AsyncHostToDeviceTransferManager PJRT_AsyncHostToDeviceTransferManager;
typedef struct PJRT_AsyncTrackingEvent PJRT_AsyncTrackingEvent;
typedef struct PJRT_Buffer PJRT_Buffer;
typedef struct PJRT_Client PJRT_Client;
typedef struct PJRT_CopyToDeviceStream PJRT_CopyToDeviceStream;
typedef struct PJRT_Device PJRT_Device;
typedef struct PJRT_Device_Attributes PJRT_Device_Attributes;
typedef struct PJRT_DeviceAssignmentSerialized PJRT_DeviceAssignmentSerialized;
typedef struct PJRT_DeviceDescription PJRT_DeviceDescription;
typedef struct PJRT_Error PJRT_Error;
typedef struct PJRT_Event PJRT_Event;
typedef struct PJRT_Executable PJRT_Executable;
typedef struct PJRT_ExecuteContext PJRT_ExecuteContext;
typedef struct PJRT_FulfillAliasBufferCallback PJRT_FulfillAliasBufferCallback;
typedef struct PJRT_LoadedExecutable PJRT_LoadedExecutable;
typedef struct PJRT_Memory PJRT_Memory;
typedef struct PJRT_MultiSlice_Config PJRT_MultiSlice_Config;
typedef struct PJRT_PhaseCompiler PJRT_PhaseCompiler;
typedef struct PJRT_SerializedCompileOptions PJRT_SerializedCompileOptions;
typedef struct PJRT_SerializedExecutable PJRT_SerializedExecutable;
typedef struct PJRT_SerializedTopology PJRT_SerializedTopology;
typedef struct PJRT_TopologyDescription PJRT_TopologyDescription;

/* ---- errors: NULL is success; the receiver destroys an error ---- */

/* The numbering of absl::StatusCode. */
typedef enum {
    PJRT_Error_Code_OK = 0,
    PJRT_Error_Code_CANCELLED = 1,
    PJRT_Error_Code_UNKNOWN = 2,
    PJRT_Error_Code_INVALID_ARGUMENT = 3,
    PJRT_Error_Code_DEADLINE_EXCEEDED = 4,
    PJRT_Error_Code_NOT_FOUND = 5,
    PJRT_Error_Code_ALREADY_EXISTS = 6,
    PJRT_Error_Code_PERMISSION_DENIED = 7,
    PJRT_Error_Code_RESOURCE_EXHAUSTED = 8,
    PJRT_Error_Code_FAILED_PRECONDITION = 9,
    PJRT_Error_Code_ABORTED = 10,
    PJRT_Error_Code_OUT_OF_RANGE = 11,
    PJRT_Error_Code_UNIMPLEMENTED = 12,
    PJRT_Error_Code_INTERNAL = 13,
    PJRT_Error_Code_UNAVAILABLE = 14,
    PJRT_Error_Code_DATA_LOSS = 15,
    PJRT_Error_Code_UNAUTHENTICATED = 16,
} PJRT_Error_Code;

typedef void (*PJRT_Error_PayloadVisitor)(const char *key, size_t key_size, const char *value,
                                          size_t value_size, void *user_arg);

/* From 0.107 an error starts with a pointer to this table, and callers may use it without PJRT_Api.
 * An older plugin's error may contain anything there: never read it. The order of the first three
 * fields differs from PJRT_HEAD. */
typedef struct PJRT_Error_FunctionTable {
    size_t struct_size;
    size_t instance_size;
    PJRT_Extension_Base *extension_start;
    void (*destroy)(PJRT_Error *error);
    void (*message)(const PJRT_Error *error, const char **message, size_t *message_size);
    PJRT_Error_Code (*get_code)(const PJRT_Error *error);
    void (*for_each_payload)(const PJRT_Error *error, PJRT_Error_PayloadVisitor visitor,
                             void *user_arg);
} PJRT_Error_FunctionTable;
PJRT_SIZED(PJRT_Error_FunctionTable, for_each_payload);

struct PJRT_Error {
    const PJRT_Error_FunctionTable *vtable; /* 0.107 */
};
PJRT_SIZED(PJRT_Error, vtable);

typedef struct PJRT_Error_Destroy_Args {
    PJRT_HEAD;
    PJRT_Error *error;
} PJRT_Error_Destroy_Args;

/* The text is valid as long as the error; it may not be NUL-terminated. */
typedef struct PJRT_Error_Message_Args {
    PJRT_HEAD;
    const PJRT_Error *error;
    const char *message; /* out */
    size_t message_size; /* out */
} PJRT_Error_Message_Args;

typedef struct PJRT_Error_GetCode_Args {
    PJRT_HEAD;
    const PJRT_Error *error;
    PJRT_Error_Code code; /* out */
} PJRT_Error_GetCode_Args;

typedef struct PJRT_Error_ForEachPayload_Args {
    PJRT_HEAD;
    const PJRT_Error *error;
    PJRT_Error_PayloadVisitor visitor;
    void *user_arg;
} PJRT_Error_ForEachPayload_Args;

/* Lets a callback of the framework create an error that the plugin can receive; copies the
 * message. */
typedef PJRT_Error *(*PJRT_CallbackError)(PJRT_Error_Code code, const char *message,
                                          size_t message_size);

/* ---- named values ---- */

typedef enum {
    PJRT_NamedValue_kString = 0,
    PJRT_NamedValue_kInt64,
    PJRT_NamedValue_kInt64List,
    PJRT_NamedValue_kFloat,
    PJRT_NamedValue_kBool,
} PJRT_NamedValue_Type;

/* value_size counts characters or list elements, and is 1 for a scalar. */
typedef struct PJRT_NamedValue {
    PJRT_HEAD;
    const char *name;
    size_t name_size;
    PJRT_NamedValue_Type type;
    union {
        const char *string_value;
        int64_t int64_value;
        const int64_t *int64_array_value;
        float float_value;
        bool bool_value;
    };
    size_t value_size;
} PJRT_NamedValue;
PJRT_SIZED(PJRT_NamedValue, value_size);

/* ---- plugin ---- */

/* Called once, before anything else. */
typedef struct PJRT_Plugin_Initialize_Args {
    PJRT_HEAD;
} PJRT_Plugin_Initialize_Args;

/* Attributes are valid as long as the process. */
typedef struct PJRT_Plugin_Attributes_Args {
    PJRT_HEAD;
    const PJRT_NamedValue *attributes; /* out */
    size_t num_attributes;             /* out */
} PJRT_Plugin_Attributes_Args;

/* ---- events: the receiver destroys an event ---- */

typedef struct PJRT_Event_Destroy_Args {
    PJRT_HEAD;
    PJRT_Event *event;
} PJRT_Event_Destroy_Args;

typedef struct PJRT_Event_IsReady_Args {
    PJRT_HEAD;
    PJRT_Event *event;
    bool is_ready; /* out */
} PJRT_Event_IsReady_Args;

/* Only once the event is ready; every call returns a new error object. */
typedef struct PJRT_Event_Error_Args {
    PJRT_HEAD;
    PJRT_Event *event;
} PJRT_Event_Error_Args;

typedef struct PJRT_Event_Await_Args {
    PJRT_HEAD;
    PJRT_Event *event;
} PJRT_Event_Await_Args;

/* The callback owns the error that it receives. It may run on any thread, also inside OnReady
 * itself. */
typedef void (*PJRT_Event_OnReadyCallback)(PJRT_Error *error, void *user_arg);

typedef struct PJRT_Event_OnReady_Args {
    PJRT_HEAD;
    PJRT_Event *event;
    PJRT_Event_OnReadyCallback callback;
    void *user_arg;
} PJRT_Event_OnReady_Args;

typedef struct PJRT_Event_Create_Args {
    PJRT_HEAD;
    PJRT_Event *event; /* out */
} PJRT_Event_Create_Args;

typedef struct PJRT_Event_Set_Args {
    PJRT_HEAD;
    PJRT_Event *event;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
} PJRT_Event_Set_Args;

#endif
