/* The runtime's side of XLA's foreign function interface (abi/xla_ffi.h): functions that libraries
 * registered in this process, and the calls of them in programs. JAX's linear algebra on `cpu` is
 * such a library (it calls SciPy's LAPACK), and users write their own (jax.ffi). */
#ifndef STET_BACKEND_FFI_H
#define STET_BACKEND_FFI_H

#include "abi/xla_ffi.h"
#include "backend/plan.h"
#include "backend/tensor.h"

struct stet_pool;

/* ---- the functions of this process ---- */

/* Makes a function known for all programs that are planned later. Another one under the same name
 * is replaced. Refuses one that was built for an interface we do not have. */
enum stet_rc stet_ffi_register(struct stet_view name, const XLA_FFI_Handler_Bundle *bundle,
                               struct stet_err *err);
bool stet_ffi_find(struct stet_view name, XLA_FFI_Handler_Bundle *out);
/* The functions that a library may call. */
const XLA_FFI_Api *stet_ffi_api(void);

/* ---- calls ---- */

/* What a library keeps between its calls. It tells how to delete it when it registers the type. */
struct stet_ffi_state {
    int64_t type;
    void *data;
};

void stet_ffi_state_release(struct stet_ffi_state *s);

/* A buffer of a call, without its address. */
struct stet_ffi_buffer {
    const struct stet_shape *shape; /* as the program writes it */
    int32_t same_as;                /* of a result: the argument whose memory it must have, or -1 */
};

/* One call in a program: in the plan's arena and immutable, once it is instantiated. */
struct stet_ffi_site {
    struct stet_ffi_site *next; /* of the plan */
    struct stet_view name;
    XLA_FFI_Handler_Bundle bundle;
    XLA_FFI_Attrs attrs;
    struct stet_ffi_buffer *args, *rets;
    uint32_t arg_count, ret_count;
    uint32_t lane;
    struct stet_ffi_state state; /* of the stage INSTANTIATE */
};

/* Bytes of temporary memory that a run of the call needs for its frame. */
uint64_t stet_ffi_frame_bytes(const struct stet_ffi_site *site);
/* Lets the library prepare for the call; once, when the program is planned. */
enum stet_rc stet_ffi_instantiate(struct stet_ffi_site *site, struct stet_err *err);
/* `bufs`: arguments, results, then the memory for the frame. An error of the library goes to
 * host->failed, if there is a host, as it is. */
enum stet_rc stet_ffi_run(const struct stet_ffi_site *site, void *const *bufs,
                          struct stet_pool *pool, const struct stet_host *host,
                          struct stet_err *err);
/* Deletes the states of all calls of a plan. */
void stet_ffi_release(struct stet_ffi_site *first);

/* ---- between the ffi_*.c files ---- */

struct XLA_FFI_Error {
    int code; /* absl::StatusCode */
    char text[];
};

/* Set while a function runs; it asks about its surroundings through this. */
struct XLA_FFI_ExecutionContext {
    struct stet_ffi_state *instance; /* that of the site, which is written while instantiating */
    bool instantiating;
    struct stet_ffi_state own[XLA_FFI_STAGES]; /* of this run */
    struct stet_pool *pool;
    uint32_t lane;
    int64_t run;
};

/* NULL when out of memory is not possible: a constant error is given then. */
XLA_FFI_Error *stet_ffi_error(int code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));
void stet_ffi_error_free(XLA_FFI_Error *error);
/* Waits until the function that made the future is done, and frees it. */
XLA_FFI_Error *stet_ffi_future_wait(XLA_FFI_Future *future);

#endif
