/* PJRT: the extensions that frameworks use to query an executable, and the phase-wise compile. */
#ifndef STET_ABI_PJRT_EXT_H
#define STET_ABI_PJRT_EXT_H

#include "abi/pjrt.h"

/* ---- Layouts ---- */

typedef struct PJRT_Layouts_MemoryLayout PJRT_Layouts_MemoryLayout;
typedef struct PJRT_Layouts_SerializedLayout PJRT_Layouts_SerializedLayout;

typedef struct PJRT_Layouts_MemoryLayout_Destroy_Args {
    PJRT_HEAD;
    PJRT_Layouts_MemoryLayout *layout;
} PJRT_Layouts_MemoryLayout_Destroy_Args;
PJRT_SIZED(PJRT_Layouts_MemoryLayout_Destroy_Args, layout);

typedef PJRT_Error *PJRT_Layouts_MemoryLayout_Destroy(PJRT_Layouts_MemoryLayout_Destroy_Args *args);

typedef struct PJRT_Layouts_MemoryLayout_Serialize_Args {
    PJRT_HEAD;
    PJRT_Layouts_MemoryLayout *layout;
    const char *serialized_bytes;                                               /* out */
    size_t serialized_bytes_size;                                               /* out */
    PJRT_Layouts_SerializedLayout *serialized_layout;                           /* out */
    void (*serialized_layout_deleter)(PJRT_Layouts_SerializedLayout *s_layout); /* out */
} PJRT_Layouts_MemoryLayout_Serialize_Args;
PJRT_SIZED(PJRT_Layouts_MemoryLayout_Serialize_Args, serialized_layout_deleter);

typedef PJRT_Error *
PJRT_Layouts_MemoryLayout_Serialize(PJRT_Layouts_MemoryLayout_Serialize_Args *args);

typedef struct PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Buffer_Type type;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Layouts_MemoryLayout *layout; /* out */
} PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args;
PJRT_SIZED(PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args, layout);

typedef PJRT_Error *
PJRT_Layouts_PJRT_Client_GetDefaultLayout(PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args *args);

typedef struct PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Layouts_MemoryLayout *layout; /* out */
} PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args;
PJRT_SIZED(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args, layout);

typedef PJRT_Error *
PJRT_Layouts_PJRT_Buffer_MemoryLayout(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args *args);

typedef struct PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args {
    PJRT_HEAD;
    PJRT_TopologyDescription *topology_description;
    PJRT_Buffer_Type type;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Layouts_MemoryLayout *layout; /* out */
} PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args;
PJRT_SIZED(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args, layout);

typedef PJRT_Error *
PJRT_Layouts_PJRT_Topology_GetDefaultLayout(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args *args);

typedef struct PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_outputs;                  /* out */
    PJRT_Layouts_MemoryLayout **layouts; /* out */
} PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args;
PJRT_SIZED(PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args, layouts);

typedef PJRT_Error *PJRT_Layouts_PJRT_Executable_GetOutputLayouts(
    PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args *args);

typedef struct PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_parameters;               /* out */
    PJRT_Layouts_MemoryLayout **layouts; /* out */
} PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args;
PJRT_SIZED(PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args, layouts);

typedef PJRT_Error *PJRT_Layouts_PJRT_Executable_GetParameterLayouts(
    PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args *args);

typedef struct PJRT_Layouts_Extension {
    PJRT_Extension_Base base;
    PJRT_Layouts_MemoryLayout_Destroy *PJRT_Layouts_MemoryLayout_Destroy;
    PJRT_Layouts_MemoryLayout_Serialize *PJRT_Layouts_MemoryLayout_Serialize;
    PJRT_Layouts_PJRT_Client_GetDefaultLayout *PJRT_Layouts_PJRT_Client_GetDefaultLayout;
    PJRT_Layouts_PJRT_Buffer_MemoryLayout *PJRT_Layouts_PJRT_Buffer_MemoryLayout;
    PJRT_Layouts_PJRT_Topology_GetDefaultLayout *PJRT_Layouts_PJRT_Topology_GetDefaultLayout;
    PJRT_Layouts_PJRT_Executable_GetOutputLayouts *PJRT_Layouts_PJRT_Executable_GetOutputLayouts;
    PJRT_Layouts_PJRT_Executable_GetParameterLayouts
        *PJRT_Layouts_PJRT_Executable_GetParameterLayouts;
} PJRT_Layouts_Extension;
PJRT_SIZED(PJRT_Layouts_Extension, PJRT_Layouts_PJRT_Executable_GetParameterLayouts);

/* ---- Shardings: serialised OpSharding per value, or NULL lists if the plugin has none ---- */

typedef struct PJRT_Shardings_PJRT_Executable_ParameterShardings_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_parameters;        /* out */
    const char *const *shardings; /* out */
    const size_t *sharding_sizes; /* out */
} PJRT_Shardings_PJRT_Executable_ParameterShardings_Args;
PJRT_SIZED(PJRT_Shardings_PJRT_Executable_ParameterShardings_Args, sharding_sizes);

typedef PJRT_Error *PJRT_Shardings_PJRT_Executable_ParameterShardings(
    PJRT_Shardings_PJRT_Executable_ParameterShardings_Args *args);

typedef struct PJRT_Shardings_PJRT_Executable_OutputShardings_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_outputs;           /* out */
    const char *const *shardings; /* out */
    const size_t *sharding_sizes; /* out */
} PJRT_Shardings_PJRT_Executable_OutputShardings_Args;
PJRT_SIZED(PJRT_Shardings_PJRT_Executable_OutputShardings_Args, sharding_sizes);

typedef PJRT_Error *PJRT_Shardings_PJRT_Executable_OutputShardings(
    PJRT_Shardings_PJRT_Executable_OutputShardings_Args *args);

typedef struct PJRT_Shardings_Extension {
    PJRT_Extension_Base base;
    PJRT_Shardings_PJRT_Executable_ParameterShardings
        *PJRT_Shardings_PJRT_Executable_ParameterShardings;
    PJRT_Shardings_PJRT_Executable_OutputShardings *PJRT_Shardings_PJRT_Executable_OutputShardings;
} PJRT_Shardings_Extension;
PJRT_SIZED(PJRT_Shardings_Extension, PJRT_Shardings_PJRT_Executable_OutputShardings);

/* ---- MemoryDescriptions: memory kinds of a device that may not be present ---- */

typedef struct PJRT_MemoryDescription PJRT_MemoryDescription;

typedef struct PJRT_DeviceDescription_MemoryDescriptions_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    const PJRT_MemoryDescription *const *memory_descriptions; /* out */
    size_t num_memory_descriptions;                           /* out */
    size_t default_memory_index;                              /* out */
} PJRT_DeviceDescription_MemoryDescriptions_Args;
PJRT_SIZED(PJRT_DeviceDescription_MemoryDescriptions_Args, default_memory_index);

typedef PJRT_Error *
PJRT_DeviceDescription_MemoryDescriptions(PJRT_DeviceDescription_MemoryDescriptions_Args *args);

typedef struct PJRT_MemoryDescription_Kind_Args {
    PJRT_HEAD;
    const PJRT_MemoryDescription *memory_description;
    const char *kind; /* out */
    size_t kind_size; /* out */
    int kind_id;      /* out */
} PJRT_MemoryDescription_Kind_Args;
PJRT_SIZED(PJRT_MemoryDescription_Kind_Args, kind_id);

typedef PJRT_Error *PJRT_MemoryDescription_Kind(PJRT_MemoryDescription_Kind_Args *args);

typedef struct PJRT_MemoryDescriptions_Extension {
    PJRT_Extension_Base base;
    PJRT_DeviceDescription_MemoryDescriptions *PJRT_DeviceDescription_MemoryDescriptions;
    PJRT_MemoryDescription_Kind *PJRT_MemoryDescription_Kind;
} PJRT_MemoryDescriptions_Extension;
PJRT_SIZED(PJRT_MemoryDescriptions_Extension, PJRT_MemoryDescription_Kind);

/* ---- PhaseCompile: the compiler runs phase by phase on serialised partial programs ---- */

typedef struct PJRT_PhaseCompile_Get_Compiler_Args {
    PJRT_HEAD;
    const PJRT_PhaseCompiler *phase_compiler; /* out */
} PJRT_PhaseCompile_Get_Compiler_Args;
PJRT_SIZED(PJRT_PhaseCompile_Get_Compiler_Args, phase_compiler);

typedef PJRT_Error *PJRT_PhaseCompile_Get_Compiler(PJRT_PhaseCompile_Get_Compiler_Args *args);

typedef struct PJRT_PhaseCompile_Destroy_Compiler_Args {
    PJRT_HEAD;
    const PJRT_PhaseCompiler *phase_compiler;
} PJRT_PhaseCompile_Destroy_Compiler_Args;
PJRT_SIZED(PJRT_PhaseCompile_Destroy_Compiler_Args, phase_compiler);

typedef void PJRT_PhaseCompile_Destroy_Compiler(PJRT_PhaseCompile_Destroy_Compiler_Args *args);

typedef struct PJRT_PhaseCompile_Run_Phase_Args {
    PJRT_HEAD;
    const PJRT_PhaseCompiler *phase_compiler;
    const char **input_programs;
    const size_t *input_programs_sizes;
    size_t num_input_programs;
    const char **phases_to_run;
    const size_t *phases_to_run_sizes;
    size_t num_phases_to_run;
    const char *compile_options;
    size_t compile_options_size;
    PJRT_TopologyDescription *topology;
    const char **output_programs;        /* out */
    const size_t *output_programs_sizes; /* out */
    size_t num_output_programs;          /* out */
} PJRT_PhaseCompile_Run_Phase_Args;
PJRT_SIZED(PJRT_PhaseCompile_Run_Phase_Args, num_output_programs);

typedef PJRT_Error *PJRT_PhaseCompile_Run_Phase(PJRT_PhaseCompile_Run_Phase_Args *args);

typedef struct PJRT_PhaseCompile_Get_PhaseNames_Args {
    PJRT_HEAD;
    const PJRT_PhaseCompiler *phase_compiler;
    const char **phase_names;        /* out */
    const size_t *phase_names_sizes; /* out */
    size_t num_phase_names;          /* out */
} PJRT_PhaseCompile_Get_PhaseNames_Args;
PJRT_SIZED(PJRT_PhaseCompile_Get_PhaseNames_Args, num_phase_names);

typedef PJRT_Error *PJRT_PhaseCompile_Get_PhaseNames(PJRT_PhaseCompile_Get_PhaseNames_Args *args);

typedef struct PJRT_PhaseCompile_C_Buffers_Destroy_Args {
    PJRT_HEAD;
    const char **char_buffers;
    const size_t *char_buffer_sizes;
    size_t num_char_buffers;
} PJRT_PhaseCompile_C_Buffers_Destroy_Args;
PJRT_SIZED(PJRT_PhaseCompile_C_Buffers_Destroy_Args, num_char_buffers);

typedef void PJRT_PhaseCompile_C_Buffers_Destroy(PJRT_PhaseCompile_C_Buffers_Destroy_Args *args);

typedef struct PJRT_PhaseCompile_Extension {
    PJRT_Extension_Base base;
    PJRT_PhaseCompile_Get_Compiler *phase_compile_get_compiler;
    PJRT_PhaseCompile_Destroy_Compiler *phase_compile_destroy_compiler;
    PJRT_PhaseCompile_Run_Phase *phase_compile_run_phases;
    PJRT_PhaseCompile_Get_PhaseNames *phase_compile_get_phase_names;
    PJRT_PhaseCompile_C_Buffers_Destroy *phase_compile_c_buffers_destroy;
} PJRT_PhaseCompile_Extension;
PJRT_SIZED(PJRT_PhaseCompile_Extension, phase_compile_c_buffers_destroy);

#endif
