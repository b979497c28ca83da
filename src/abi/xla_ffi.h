/* XLA's foreign function interface (FFI), version 0.5, in our own words: how a runtime calls a
 * function that a library registered under a name. A program names it in a custom call.
 *
 * The library gets a call frame with its arguments, results and attributes, and the table of the
 * runtime's own functions. Layouts are those of the C header that jaxlib installs under
 * xla/ffi/api; tests/backend/test_ffi_abi.py compares them. */
#ifndef STET_ABI_XLA_FFI_H
#define STET_ABI_XLA_FFI_H

#include <stddef.h>
#include <stdint.h>

#include "abi/pjrt_base.h"

enum { XLA_FFI_API_MAJOR = 0, XLA_FFI_API_MINOR = 5 };

typedef enum {
    XLA_FFI_Extension_Metadata = 1,
} XLA_FFI_Extension_Type;

typedef struct XLA_FFI_Extension_Base {
    size_t struct_size;
    XLA_FFI_Extension_Type type;
    struct XLA_FFI_Extension_Base *next;
} XLA_FFI_Extension_Base;
PJRT_SIZED(XLA_FFI_Extension_Base, next);

#define XLA_FFI_HEAD                                                                               \
    size_t struct_size;                                                                            \
    XLA_FFI_Extension_Base *extension_start

typedef struct XLA_FFI_Api XLA_FFI_Api;
typedef struct XLA_FFI_InternalApi XLA_FFI_InternalApi;
typedef struct XLA_FFI_Error XLA_FFI_Error;   /* ours; the receiver destroys it */
typedef struct XLA_FFI_Future XLA_FFI_Future; /* ours */
typedef struct XLA_FFI_ExecutionContext XLA_FFI_ExecutionContext;

typedef struct XLA_FFI_Api_Version {
    XLA_FFI_HEAD;
    int major_version; /* out */
    int minor_version; /* out */
} XLA_FFI_Api_Version;
PJRT_SIZED(XLA_FFI_Api_Version, minor_version);

/* ---- values ---- */

/* Element types by the numbers of xla::PrimitiveType (src/backend/tensor.h). */
typedef int XLA_FFI_DataType;

typedef struct XLA_FFI_Buffer {
    XLA_FFI_HEAD;
    XLA_FFI_DataType dtype;
    void *data;
    int64_t rank;
    int64_t *dims;
} XLA_FFI_Buffer;
PJRT_SIZED(XLA_FFI_Buffer, dims);

typedef struct XLA_FFI_ByteSpan {
    const char *ptr;
    size_t len;
} XLA_FFI_ByteSpan;

typedef struct XLA_FFI_Scalar {
    XLA_FFI_DataType dtype;
    void *value;
} XLA_FFI_Scalar;

typedef struct XLA_FFI_Array {
    XLA_FFI_DataType dtype;
    size_t size; /* elements */
    void *data;
} XLA_FFI_Array;

typedef enum { XLA_FFI_ArgType_BUFFER = 1 } XLA_FFI_ArgType;
typedef enum { XLA_FFI_RetType_BUFFER = 1 } XLA_FFI_RetType;

typedef enum {
    XLA_FFI_AttrType_ARRAY = 1,      /* XLA_FFI_Array */
    XLA_FFI_AttrType_DICTIONARY = 2, /* XLA_FFI_Attrs */
    XLA_FFI_AttrType_SCALAR = 3,     /* XLA_FFI_Scalar */
    XLA_FFI_AttrType_STRING = 4,     /* XLA_FFI_ByteSpan */
} XLA_FFI_AttrType;

/* ---- types of states, which libraries define ---- */

typedef struct XLA_FFI_TypeId {
    int64_t type_id; /* 0: not registered yet */
} XLA_FFI_TypeId;

typedef struct XLA_FFI_TypeInfo {
    XLA_FFI_HEAD;
    void (*deleter)(void *object);
} XLA_FFI_TypeInfo;
PJRT_SIZED(XLA_FFI_TypeInfo, deleter);

/* ---- the call frame ---- */

typedef enum {
    XLA_FFI_ExecutionStage_INSTANTIATE = 0, /* once for each call in a program, when it is loaded */
    XLA_FFI_ExecutionStage_PREPARE = 1,     /* before each run of the call */
    XLA_FFI_ExecutionStage_INITIALIZE = 2,
    XLA_FFI_ExecutionStage_EXECUTE = 3,
} XLA_FFI_ExecutionStage;

enum { XLA_FFI_STAGES = 4 };

typedef struct XLA_FFI_Args {
    XLA_FFI_HEAD;
    int64_t size;
    XLA_FFI_ArgType *types;
    void **args;
} XLA_FFI_Args;
PJRT_SIZED(XLA_FFI_Args, args);

typedef struct XLA_FFI_Rets {
    XLA_FFI_HEAD;
    int64_t size;
    XLA_FFI_RetType *types;
    void **rets;
} XLA_FFI_Rets;
PJRT_SIZED(XLA_FFI_Rets, rets);

/* Sorted by name. */
typedef struct XLA_FFI_Attrs {
    XLA_FFI_HEAD;
    int64_t size;
    XLA_FFI_AttrType *types;
    XLA_FFI_ByteSpan **names;
    void **attrs;
} XLA_FFI_Attrs;
PJRT_SIZED(XLA_FFI_Attrs, attrs);

typedef struct XLA_FFI_CallFrame {
    XLA_FFI_HEAD;
    const XLA_FFI_Api *api;
    XLA_FFI_ExecutionContext *ctx;
    XLA_FFI_ExecutionStage stage;
    XLA_FFI_Args args;
    XLA_FFI_Rets rets;
    XLA_FFI_Attrs attrs;
    XLA_FFI_Future *future; /* out: the call goes on after the function returned */
} XLA_FFI_CallFrame;
/* The interface counts this struct without its last field. */
enum {
    XLA_FFI_CallFrame_STRUCT_SIZE = offsetof(XLA_FFI_CallFrame, attrs) + sizeof(XLA_FFI_Attrs),
};

typedef XLA_FFI_Error *XLA_FFI_Handler(XLA_FFI_CallFrame *frame);

typedef struct XLA_FFI_Handler_Bundle {
    /* Only EXECUTE is required. 0.4 has a fifth one behind them, for graphs of a GPU. */
    XLA_FFI_Handler *stages[XLA_FFI_STAGES];
} XLA_FFI_Handler_Bundle;

/* A frame with this extension asks only what the handler is. */
typedef struct XLA_FFI_Metadata {
    size_t struct_size;
    XLA_FFI_Api_Version api_version; /* out: that the library was built for */
    uint32_t traits;                 /* out */
    XLA_FFI_TypeId state_type_id;    /* out */
} XLA_FFI_Metadata;
enum {
    XLA_FFI_Metadata_STRUCT_SIZE = offsetof(XLA_FFI_Metadata, traits) + sizeof(uint32_t),
};

typedef struct XLA_FFI_Metadata_Extension {
    XLA_FFI_Extension_Base extension_base;
    XLA_FFI_Metadata *metadata;
} XLA_FFI_Metadata_Extension;
PJRT_SIZED(XLA_FFI_Metadata_Extension, metadata);

/* ---- the runtime's functions; NULL is success ---- */

typedef struct XLA_FFI_Error_Create_Args {
    XLA_FFI_HEAD;
    const char *message;
    int errc; /* by the numbers of absl::StatusCode */
} XLA_FFI_Error_Create_Args;

typedef struct XLA_FFI_Error_GetMessage_Args {
    XLA_FFI_HEAD;
    XLA_FFI_Error *error;
    const char *message; /* out */
    int errc;            /* out; since 0.4 */
} XLA_FFI_Error_GetMessage_Args;

typedef struct XLA_FFI_Error_Destroy_Args {
    XLA_FFI_HEAD;
    XLA_FFI_Error *error;
} XLA_FFI_Error_Destroy_Args;

typedef struct XLA_FFI_Handler_Register_Args {
    XLA_FFI_HEAD;
    XLA_FFI_ByteSpan name, platform;
    XLA_FFI_Handler_Bundle bundle;
    uint32_t traits;
} XLA_FFI_Handler_Register_Args;

typedef struct XLA_FFI_Stream_Get_Args {
    XLA_FFI_HEAD;
    XLA_FFI_ExecutionContext *ctx;
    void *stream; /* out */
} XLA_FFI_Stream_Get_Args;

typedef struct XLA_FFI_Type_Register_Args {
    XLA_FFI_HEAD;
    XLA_FFI_ByteSpan name;
    XLA_FFI_TypeId *type_id; /* in and out */
    const XLA_FFI_TypeInfo *type_info;
} XLA_FFI_Type_Register_Args;

typedef struct XLA_FFI_ExecutionContext_Get_Args {
    XLA_FFI_HEAD;
    XLA_FFI_ExecutionContext *ctx;
    XLA_FFI_TypeId *type_id;
    void *data; /* out */
} XLA_FFI_ExecutionContext_Get_Args;

typedef struct XLA_FFI_State_Args { /* of State_Set and State_Get */
    XLA_FFI_HEAD;
    XLA_FFI_ExecutionContext *ctx;
    XLA_FFI_ExecutionStage stage;
    XLA_FFI_TypeId *type_id;
    void *state; /* Get: out */
} XLA_FFI_State_Args;

typedef struct XLA_FFI_DeviceMemory_Allocate_Args {
    XLA_FFI_HEAD;
    XLA_FFI_ExecutionContext *ctx;
    size_t size, alignment;
    void *data; /* out */
} XLA_FFI_DeviceMemory_Allocate_Args;

typedef struct XLA_FFI_DeviceMemory_Free_Args {
    XLA_FFI_HEAD;
    XLA_FFI_ExecutionContext *ctx;
    size_t size;
    void *data;
} XLA_FFI_DeviceMemory_Free_Args;

typedef struct XLA_FFI_ThreadPool_Schedule_Args {
    XLA_FFI_HEAD;
    XLA_FFI_ExecutionContext *ctx;
    void (*task)(void *data);
    void *data;
} XLA_FFI_ThreadPool_Schedule_Args;

typedef struct XLA_FFI_ThreadPool_NumThreads_Args {
    XLA_FFI_HEAD;
    XLA_FFI_ExecutionContext *ctx;
    int64_t *num_threads; /* out */
} XLA_FFI_ThreadPool_NumThreads_Args;

typedef struct XLA_FFI_Future_Create_Args {
    XLA_FFI_HEAD;
    XLA_FFI_Future *future; /* out */
} XLA_FFI_Future_Create_Args;

typedef struct XLA_FFI_Future_SetAvailable_Args {
    XLA_FFI_HEAD;
    XLA_FFI_Future *future;
} XLA_FFI_Future_SetAvailable_Args;

typedef struct XLA_FFI_Future_SetError_Args {
    XLA_FFI_HEAD;
    XLA_FFI_Future *future;
    XLA_FFI_Error *error; /* taken over */
} XLA_FFI_Future_SetError_Args;

typedef struct XLA_FFI_RunId_Get_Args {
    XLA_FFI_HEAD;
    XLA_FFI_ExecutionContext *ctx;
    int64_t run_id; /* out */
} XLA_FFI_RunId_Get_Args;

typedef struct XLA_FFI_DeviceOrdinal_Get_Args {
    XLA_FFI_HEAD;
    XLA_FFI_ExecutionContext *ctx;
    int32_t device_ordinal; /* out */
} XLA_FFI_DeviceOrdinal_Get_Args;

/* Since 0.4: data of a runtime for the functions that know it. */
typedef struct XLA_FFI_FindExtension_Args {
    XLA_FFI_HEAD;
    XLA_FFI_ExecutionContext *ctx;
    int64_t extension_type;
    const void *extension; /* out; NULL if there is none */
} XLA_FFI_FindExtension_Args;

/* Since 0.5: options of one execution, beside the attributes of the call. */
typedef struct XLA_FFI_CustomOptions_Get_Args {
    XLA_FFI_HEAD;
    XLA_FFI_ExecutionContext *ctx;
    const XLA_FFI_Attrs *attrs; /* out */
} XLA_FFI_CustomOptions_Get_Args;

struct XLA_FFI_Api {
    XLA_FFI_HEAD;
    XLA_FFI_Api_Version api_version;
    const XLA_FFI_InternalApi *internal_api; /* for XLA's own handlers; NULL here */
    XLA_FFI_Error *(*XLA_FFI_Error_Create)(XLA_FFI_Error_Create_Args *args);
    void (*XLA_FFI_Error_GetMessage)(XLA_FFI_Error_GetMessage_Args *args);
    void (*XLA_FFI_Error_Destroy)(XLA_FFI_Error_Destroy_Args *args);
    XLA_FFI_Error *(*XLA_FFI_Handler_Register)(XLA_FFI_Handler_Register_Args *args);
    XLA_FFI_Error *(*XLA_FFI_Stream_Get)(XLA_FFI_Stream_Get_Args *args);
    XLA_FFI_Error *(*XLA_FFI_Type_Register)(XLA_FFI_Type_Register_Args *args);
    XLA_FFI_Error *(*XLA_FFI_ExecutionContext_Get)(XLA_FFI_ExecutionContext_Get_Args *args);
    XLA_FFI_Error *(*XLA_FFI_State_Set)(XLA_FFI_State_Args *args);
    XLA_FFI_Error *(*XLA_FFI_State_Get)(XLA_FFI_State_Args *args);
    XLA_FFI_Error *(*XLA_FFI_DeviceMemory_Allocate)(XLA_FFI_DeviceMemory_Allocate_Args *args);
    XLA_FFI_Error *(*XLA_FFI_DeviceMemory_Free)(XLA_FFI_DeviceMemory_Free_Args *args);
    XLA_FFI_Error *(*XLA_FFI_ThreadPool_Schedule)(XLA_FFI_ThreadPool_Schedule_Args *args);
    XLA_FFI_Error *(*XLA_FFI_ThreadPool_NumThreads)(XLA_FFI_ThreadPool_NumThreads_Args *args);
    XLA_FFI_Error *(*XLA_FFI_Future_Create)(XLA_FFI_Future_Create_Args *args);
    XLA_FFI_Error *(*XLA_FFI_Future_SetAvailable)(XLA_FFI_Future_SetAvailable_Args *args);
    XLA_FFI_Error *(*XLA_FFI_Future_SetError)(XLA_FFI_Future_SetError_Args *args);
    XLA_FFI_Error *(*XLA_FFI_RunId_Get)(XLA_FFI_RunId_Get_Args *args);
    XLA_FFI_Error *(*XLA_FFI_DeviceOrdinal_Get)(XLA_FFI_DeviceOrdinal_Get_Args *args);
    XLA_FFI_Error *(*XLA_FFI_FindExtension)(XLA_FFI_FindExtension_Args *args); /* since 0.4 */
    XLA_FFI_Error *(*XLA_FFI_CustomOptions_Get)(XLA_FFI_CustomOptions_Get_Args *args);
};
PJRT_SIZED(XLA_FFI_Api, XLA_FFI_CustomOptions_Get);

#endif
