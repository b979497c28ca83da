/* The functions that libraries registered, by name, for the whole process. */
#include "backend/ffi.h"

#include "base/intern.h"
#include "base/vec.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stet_intern names;
static STET_VEC(XLA_FFI_Handler_Bundle) bundles; /* by the number of the name */

/* A frame that asks which interface the function was built for. */
static enum stet_rc check_version(struct stet_view name, XLA_FFI_Handler *handler,
                                  struct stet_err *err)
{
    XLA_FFI_Metadata metadata = {
        .struct_size = XLA_FFI_Metadata_STRUCT_SIZE,
        .api_version = {.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE},
    };
    XLA_FFI_Metadata_Extension extension = {
        .extension_base = {.struct_size = XLA_FFI_Metadata_Extension_STRUCT_SIZE,
                           .type = XLA_FFI_Extension_Metadata},
        .metadata = &metadata,
    };
    XLA_FFI_CallFrame frame = {.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE,
                               .extension_start = &extension.extension_base,
                               .api = stet_ffi_api()};
    XLA_FFI_Error *error = handler(&frame);
    const XLA_FFI_Api_Version *v = &metadata.api_version;

    if (error) {
        stet_fail(err, STET_REFUSED, "function \"%.*s\": %s", STET_FMT(name), error->text);
        stet_ffi_error_free(error);
        return STET_REFUSED;
    }
    if (v->major_version == XLA_FFI_API_MAJOR && v->minor_version <= XLA_FFI_API_MINOR)
        return STET_OK;
    return stet_fail(
        err, STET_UNSUPPORTED, "function \"%.*s\" was built for FFI %d.%d; this backend has %d.%d",
        STET_FMT(name), v->major_version, v->minor_version, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR);
}

static enum stet_rc keep(struct stet_view name, const XLA_FFI_Handler_Bundle *bundle,
                         struct stet_err *err)
{
    XLA_FFI_Handler_Bundle *place;
    uint32_t n;

    if (!names.items)
        stet_intern_init(&names, (size_t)1 << 24);
    n = stet_intern_add(&names, name);
    if (n < bundles.count)
        place = &bundles.items[n];
    else
        place = n == STET_INTERN_NONE ? NULL : STET_VEC_ADD(&bundles);
    if (!place)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for function \"%.*s\"",
                         STET_FMT(name));
    *place = *bundle;
    return STET_OK;
}

enum stet_rc stet_ffi_register(struct stet_view name, const XLA_FFI_Handler_Bundle *bundle,
                               struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    if (!name.len || !bundle->stages[XLA_FFI_ExecutionStage_EXECUTE])
        return stet_fail(err, STET_BAD_INPUT, "function \"%.*s\" has no function to execute",
                         STET_FMT(name));
    for (int i = 0; i < XLA_FFI_STAGES && rc == STET_OK; i++) {
        if (bundle->stages[i])
            rc = check_version(name, bundle->stages[i], err);
    }
    if (rc != STET_OK)
        return rc;
    pthread_mutex_lock(&lock);
    rc = keep(name, bundle, err);
    pthread_mutex_unlock(&lock);
    return rc;
}

bool stet_ffi_find(struct stet_view name, XLA_FFI_Handler_Bundle *out)
{
    uint32_t n;

    pthread_mutex_lock(&lock);
    n = names.items ? stet_intern_find(&names, name) : STET_INTERN_NONE;
    if (n < bundles.count)
        *out = bundles.items[n];
    pthread_mutex_unlock(&lock);
    return n < bundles.count;
}
