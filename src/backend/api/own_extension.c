/* The extension of abi/stet_ext.h. */
#include "backend/api/cpu_api.h"

#include "abi/stet_ext.h"
#include "backend/ffi.h"

static PJRT_Error *register_function(const char *name, size_t name_size, void *const *stages)
{
    struct stet_err err = STET_ERR_INIT;
    XLA_FFI_Handler_Bundle bundle;

    memcpy(bundle.stages, stages, sizeof bundle.stages);
    switch (stet_ffi_register(stet_view_of(name, name_size), &bundle, &err)) {
    case STET_OK:
    case STET_UNSUPPORTED: /* it stays unknown: XLA's own client runs the programs that call it */
        return NULL;
    default:
        return stet_cpu_api_error((struct stet_view){0}, &err);
    }
}

static PJRT_Error *register_type(const char *name, size_t name_size, int64_t *id, const void *info)
{
    XLA_FFI_TypeId given = {*id};
    XLA_FFI_Type_Register_Args args = {.struct_size = sizeof args,
                                       .name = {name, name_size},
                                       .type_id = &given,
                                       .type_info = info};
    XLA_FFI_Error *failure = stet_ffi_api()->XLA_FFI_Type_Register(&args);
    PJRT_Error *error = NULL;

    if (failure) {
        error = stet_pjrt_error((PJRT_Error_Code)failure->code, "%s", failure->text);
        stet_ffi_error_free(failure);
    }
    *id = given.type_id;
    return error;
}

static const char *elsewhere(const PJRT_LoadedExecutable *executable)
{
    return executable->code->fallback ? executable->code->why : NULL;
}

PJRT_Extension_Base *stet_cpu_api_own_extension(void)
{
    static STET_Extension own = {
        /* Outside of PJRT's list of types on purpose: NOLINTNEXTLINE(clang-analyzer-optin*) */
        .base = {STET_Extension_STRUCT_SIZE, (PJRT_Extension_Type)STET_EXTENSION_TYPE, NULL},
        .register_function = register_function,
        .register_type = register_type,
        .set_fallback = stet_cpu_fallback_set,
        .elsewhere = elsewhere,
    };

    return &own.base;
}
