/* An extension of the CPU backend's own table, which no framework knows. Stet's Python package
 * registers functions through it (python/stet_cpu/extension.py has the same structs), and the layer
 * asks which programs the backend does not run itself. */
#ifndef STET_ABI_STET_EXT_H
#define STET_ABI_STET_EXT_H

#include "abi/pjrt.h"

enum { STET_EXTENSION_TYPE = 0x53544554 }; /* "STET" */

/* The shape of an argument or result. */
struct stet_ext_array {
    int32_t dtype; /* the number in xla::PrimitiveType */
    int32_t rank;
    const int64_t *dims;
};

/* A program that the backend cannot plan, for another client. All pointers are borrowed. */
struct stet_ext_program {
    const char *code, *format, *options; /* as PJRT_Client_Compile got them */
    size_t code_size, format_size, options_size;
    const char *name, *why; /* the module; why the backend cannot run it */
    const int32_t *devices; /* ids of its devices */
    uint32_t device_count, input_count, output_count; /* of each device */
    const struct stet_ext_array *inputs, *outputs;    /* of the first device */
};

/* A client that runs what the backend cannot. Its functions may be called on any thread. They
 * return 0, or another number with the text of an error in `error`, which has `room` bytes. */
struct stet_ext_fallback {
    int (*compile)(const struct stet_ext_program *program, uint64_t *handle, char *error,
                   size_t room);
    /* The arrays of the first device, then of the second …, dense and row-major; outputs[i] may be
     * the memory of an input. Returns when the outputs are written. */
    int (*run)(uint64_t handle, const void *const *inputs, void *const *outputs, char *error,
               size_t room);
    void (*release)(uint64_t handle);
};

typedef struct STET_Extension {
    PJRT_Extension_Base base;
    /* A function for custom calls: `stages` are those of XLA_FFI_Handler_Bundle. Errors are
     * destroyed by PJRT_Error_Destroy. */
    PJRT_Error *(*register_function)(const char *name, size_t name_size, void *const *stages);
    /* As XLA_FFI_Type_Register; `id` is in and out. */
    PJRT_Error *(*register_type)(const char *name, size_t name_size, int64_t *id, const void *info);
    /* Copies the struct; NULL turns it off, also for programs that were compiled with it. */
    void (*set_fallback)(const struct stet_ext_fallback *fallback);
    /* Why another client runs the program; NULL if the backend does. Borrowed. */
    const char *(*elsewhere)(const PJRT_LoadedExecutable *executable);
} STET_Extension;
PJRT_SIZED(STET_Extension, elsewhere);

#endif
