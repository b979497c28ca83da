/* PJRT: the extensions that describe a serialised executable and where it can be loaded. */
#ifndef STET_ABI_PJRT_EXT_ABI_H
#define STET_ABI_PJRT_EXT_ABI_H

#include "abi/pjrt.h"

/* ---- AbiVersion: which serialised executables a runtime can load (no extension list in these
 * args) ---- */

typedef struct PJRT_RuntimeAbiVersion PJRT_RuntimeAbiVersion;
typedef struct PJRT_ExecutableAbiVersion PJRT_ExecutableAbiVersion;
typedef struct PJRT_SerializedProto PJRT_SerializedProto;

typedef struct PJRT_Client_RuntimeAbiVersion_Args {
    size_t struct_size;
    PJRT_Client *client;
    PJRT_RuntimeAbiVersion *abi_version; /* out */
} PJRT_Client_RuntimeAbiVersion_Args;
PJRT_SIZED(PJRT_Client_RuntimeAbiVersion_Args, abi_version);

typedef PJRT_Error *PJRT_Client_RuntimeAbiVersion(PJRT_Client_RuntimeAbiVersion_Args *args);

typedef struct PJRT_Executable_GetAbiVersion_Args {
    size_t struct_size;
    PJRT_Executable *executable;
    PJRT_ExecutableAbiVersion *abi_version; /* out */
} PJRT_Executable_GetAbiVersion_Args;
PJRT_SIZED(PJRT_Executable_GetAbiVersion_Args, abi_version);

typedef PJRT_Error *PJRT_Executable_GetAbiVersion(PJRT_Executable_GetAbiVersion_Args *args);

typedef struct PJRT_RuntimeAbiVersion_Destroy_Args {
    size_t struct_size;
    PJRT_RuntimeAbiVersion *abi_version;
} PJRT_RuntimeAbiVersion_Destroy_Args;
PJRT_SIZED(PJRT_RuntimeAbiVersion_Destroy_Args, abi_version);

typedef PJRT_Error *PJRT_RuntimeAbiVersion_Destroy(PJRT_RuntimeAbiVersion_Destroy_Args *args);

typedef struct PJRT_RuntimeAbiVersion_IsCompatibleWithRuntime_Args {
    size_t struct_size;
    const PJRT_RuntimeAbiVersion *abi_version;
    const PJRT_RuntimeAbiVersion *other_abi_version;
} PJRT_RuntimeAbiVersion_IsCompatibleWithRuntime_Args;
PJRT_SIZED(PJRT_RuntimeAbiVersion_IsCompatibleWithRuntime_Args, other_abi_version);

typedef PJRT_Error *PJRT_RuntimeAbiVersion_IsCompatibleWithRuntime(
    PJRT_RuntimeAbiVersion_IsCompatibleWithRuntime_Args *args);

typedef struct PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable_Args {
    size_t struct_size;
    const PJRT_RuntimeAbiVersion *abi_version;
    const PJRT_ExecutableAbiVersion *executable_abi_version;
} PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable_Args;
PJRT_SIZED(PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable_Args, executable_abi_version);

typedef PJRT_Error *PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable(
    PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable_Args *args);

typedef struct PJRT_RuntimeAbiVersion_ToProto_Args {
    size_t struct_size;
    const PJRT_RuntimeAbiVersion *abi_version;
    const char *serialized_proto;                                   /* out */
    size_t serialized_proto_size;                                   /* out */
    PJRT_SerializedProto *serialized_proto_holder;                  /* out */
    void (*serialized_proto_deleter)(PJRT_SerializedProto *holder); /* out */
} PJRT_RuntimeAbiVersion_ToProto_Args;
PJRT_SIZED(PJRT_RuntimeAbiVersion_ToProto_Args, serialized_proto_deleter);

typedef PJRT_Error *PJRT_RuntimeAbiVersion_ToProto(PJRT_RuntimeAbiVersion_ToProto_Args *args);

typedef struct PJRT_RuntimeAbiVersion_PlatformId_Args {
    size_t struct_size;
    const PJRT_RuntimeAbiVersion *abi_version;
    uint64_t platform_id; /* out */
} PJRT_RuntimeAbiVersion_PlatformId_Args;
PJRT_SIZED(PJRT_RuntimeAbiVersion_PlatformId_Args, platform_id);

typedef PJRT_Error *PJRT_RuntimeAbiVersion_PlatformId(PJRT_RuntimeAbiVersion_PlatformId_Args *args);

typedef struct PJRT_ExecutableAbiVersion_Destroy_Args {
    size_t struct_size;
    PJRT_ExecutableAbiVersion *abi_version;
} PJRT_ExecutableAbiVersion_Destroy_Args;
PJRT_SIZED(PJRT_ExecutableAbiVersion_Destroy_Args, abi_version);

typedef PJRT_Error *PJRT_ExecutableAbiVersion_Destroy(PJRT_ExecutableAbiVersion_Destroy_Args *args);

typedef struct PJRT_ExecutableAbiVersion_ToProto_Args {
    size_t struct_size;
    const PJRT_ExecutableAbiVersion *abi_version;
    const char *serialized_proto;                                   /* out */
    size_t serialized_proto_size;                                   /* out */
    PJRT_SerializedProto *serialized_proto_holder;                  /* out */
    void (*serialized_proto_deleter)(PJRT_SerializedProto *holder); /* out */
} PJRT_ExecutableAbiVersion_ToProto_Args;
PJRT_SIZED(PJRT_ExecutableAbiVersion_ToProto_Args, serialized_proto_deleter);

typedef PJRT_Error *PJRT_ExecutableAbiVersion_ToProto(PJRT_ExecutableAbiVersion_ToProto_Args *args);

typedef struct PJRT_ExecutableAbiVersion_PlatformId_Args {
    size_t struct_size;
    const PJRT_ExecutableAbiVersion *abi_version;
    uint64_t platform_id; /* out */
} PJRT_ExecutableAbiVersion_PlatformId_Args;
PJRT_SIZED(PJRT_ExecutableAbiVersion_PlatformId_Args, platform_id);

typedef PJRT_Error *
PJRT_ExecutableAbiVersion_PlatformId(PJRT_ExecutableAbiVersion_PlatformId_Args *args);

typedef struct PJRT_RuntimeAbiVersion_FromProto_Args {
    size_t struct_size;
    const char *serialized_proto;
    size_t serialized_proto_size;
    PJRT_RuntimeAbiVersion *abi_version; /* out */
} PJRT_RuntimeAbiVersion_FromProto_Args;
PJRT_SIZED(PJRT_RuntimeAbiVersion_FromProto_Args, abi_version);

typedef PJRT_Error *PJRT_RuntimeAbiVersion_FromProto(PJRT_RuntimeAbiVersion_FromProto_Args *args);

typedef struct PJRT_ExecutableAbiVersion_FromProto_Args {
    size_t struct_size;
    const char *serialized_proto;
    size_t serialized_proto_size;
    PJRT_ExecutableAbiVersion *abi_version; /* out */
} PJRT_ExecutableAbiVersion_FromProto_Args;
PJRT_SIZED(PJRT_ExecutableAbiVersion_FromProto_Args, abi_version);

typedef PJRT_Error *
PJRT_ExecutableAbiVersion_FromProto(PJRT_ExecutableAbiVersion_FromProto_Args *args);

typedef struct PJRT_AbiVersion_Extension {
    PJRT_Extension_Base base;
    PJRT_Client_RuntimeAbiVersion *client_runtime_abi_version;
    PJRT_Executable_GetAbiVersion *executable_get_abi_version;
    PJRT_RuntimeAbiVersion_Destroy *runtime_abi_version_destroy;
    PJRT_RuntimeAbiVersion_IsCompatibleWithRuntime *runtime_abi_version_is_compatible_with_runtime;
    PJRT_RuntimeAbiVersion_IsCompatibleWithExecutable
        *runtime_abi_version_is_compatible_with_executable;
    PJRT_RuntimeAbiVersion_ToProto *runtime_abi_version_to_proto;
    PJRT_RuntimeAbiVersion_PlatformId *runtime_abi_version_platform_id;
    PJRT_ExecutableAbiVersion_Destroy *executable_abi_version_destroy;
    PJRT_ExecutableAbiVersion_ToProto *executable_abi_version_to_proto;
    PJRT_ExecutableAbiVersion_PlatformId *executable_abi_version_platform_id;
    PJRT_RuntimeAbiVersion_FromProto *runtime_abi_version_from_proto;
    PJRT_ExecutableAbiVersion_FromProto *executable_abi_version_from_proto;
} PJRT_AbiVersion_Extension;
PJRT_SIZED(PJRT_AbiVersion_Extension, executable_abi_version_from_proto);

/* ---- ExecutableMetadata (no struct_size in these args) ---- */

typedef struct PJRT_ExecutableMetadata {
    const char *serialized_metadata;
    size_t serialized_metadata_size;
} PJRT_ExecutableMetadata;

typedef struct PJRT_ExecutableMetadata_GetExecutableMetadata_Args {
    PJRT_Executable *executable;
    PJRT_ExecutableMetadata *metadata; /* out */
} PJRT_ExecutableMetadata_GetExecutableMetadata_Args;
PJRT_SIZED(PJRT_ExecutableMetadata_GetExecutableMetadata_Args, metadata);

typedef PJRT_Error *(*PJRT_ExecutableMetadata_GetExecutableMetadata)(
    PJRT_ExecutableMetadata_GetExecutableMetadata_Args *args);

typedef struct PJRT_ExecutableMetadata_DestroySerializedMetadata_Args {
    PJRT_ExecutableMetadata *metadata;
} PJRT_ExecutableMetadata_DestroySerializedMetadata_Args;
PJRT_SIZED(PJRT_ExecutableMetadata_DestroySerializedMetadata_Args, metadata);

typedef void (*PJRT_ExecutableMetadata_DestroySerializedMetadata)(
    PJRT_ExecutableMetadata_DestroySerializedMetadata_Args *args);

typedef struct PJRT_ExecutableMetadata_Extension {
    PJRT_Extension_Base base;
    PJRT_ExecutableMetadata_GetExecutableMetadata get_executable_metadata;
    PJRT_ExecutableMetadata_DestroySerializedMetadata destroy_serialized_metadata;
} PJRT_ExecutableMetadata_Extension;
PJRT_SIZED(PJRT_ExecutableMetadata_Extension, destroy_serialized_metadata);

#endif
