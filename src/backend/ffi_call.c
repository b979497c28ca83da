/* Calls a registered function: builds the frame, runs the stages, collects the error. */
#include "backend/ffi.h"

#include <stdatomic.h>
#include <string.h>

/* The lists of a frame, in the temporary memory of the step. */
struct lists {
    XLA_FFI_Buffer *buffers; /* arguments, then results */
    void **pointers;         /* to them */
    int *types;
};

uint64_t stet_ffi_frame_bytes(const struct stet_ffi_site *site)
{
    uint64_t n = (uint64_t)site->arg_count + site->ret_count;

    return n * (sizeof(XLA_FFI_Buffer) + sizeof(void *) + sizeof(int)) + 1;
}

static struct lists place(const struct stet_ffi_site *site, void *memory)
{
    uint32_t n = site->arg_count + site->ret_count;
    struct lists l = {.buffers = memory};

    l.pointers = (void **)(l.buffers + n);
    l.types = (int *)(l.pointers + n);
    return l;
}

static void describe(struct lists *l, uint32_t i, const struct stet_ffi_buffer *b, void *data)
{
    l->buffers[i] = (XLA_FFI_Buffer){.struct_size = XLA_FFI_Buffer_STRUCT_SIZE,
                                     .dtype = stet_dtype_number(b->shape->dtype),
                                     .data = data,
                                     .rank = b->shape->rank,
                                     .dims = (int64_t *)(uintptr_t)b->shape->dims};
    l->pointers[i] = &l->buffers[i];
    l->types[i] = XLA_FFI_ArgType_BUFFER;
}

/* A result that must have an argument's memory gets a copy of the argument, and the function sees
 * that copy as both. */
static void fill(const struct stet_ffi_site *site, void *const *bufs, struct lists *l)
{
    uint32_t n = site->arg_count;

    for (uint32_t i = 0; i < n; i++)
        describe(l, i, &site->args[i], bufs[i]);
    for (uint32_t i = 0; i < site->ret_count; i++) {
        int32_t same = site->rets[i].same_as;

        describe(l, n + i, &site->rets[i], bufs[n + i]);
        if (same < 0)
            continue;
        if (site->rets[i].shape->bytes)
            memcpy(bufs[n + i], bufs[same], site->rets[i].shape->bytes);
        l->buffers[same].data = bufs[n + i];
    }
}

static XLA_FFI_CallFrame frame_of(const struct stet_ffi_site *site, XLA_FFI_ExecutionContext *ctx)
{
    return (XLA_FFI_CallFrame){
        .struct_size = XLA_FFI_CallFrame_STRUCT_SIZE,
        .api = stet_ffi_api(),
        .ctx = ctx,
        .args = {.struct_size = XLA_FFI_Args_STRUCT_SIZE},
        .rets = {.struct_size = XLA_FFI_Rets_STRUCT_SIZE},
        .attrs = site->attrs,
    };
}

static XLA_FFI_Error *call(const struct stet_ffi_site *site, XLA_FFI_CallFrame *frame,
                           XLA_FFI_ExecutionStage stage)
{
    XLA_FFI_Error *error;

    if (!site->bundle.stages[stage])
        return NULL;
    frame->stage = stage;
    frame->future = NULL;
    error = site->bundle.stages[stage](frame);
    if (!error && frame->future)
        error = stet_ffi_future_wait(frame->future);
    return error;
}

static enum stet_rc report(const struct stet_ffi_site *site, XLA_FFI_Error *error,
                           const struct stet_host *host, struct stet_err *err)
{
    if (!error)
        return STET_OK;
    if (host && host->failed)
        host->failed(host->context, error->code, error->text);
    stet_fail(err, STET_REFUSED, "custom call \"%.*s\": %s", STET_FMT(site->name), error->text);
    stet_ffi_error_free(error);
    return STET_REFUSED;
}

enum stet_rc stet_ffi_instantiate(struct stet_ffi_site *site, struct stet_err *err)
{
    XLA_FFI_ExecutionContext ctx = {
        .instance = &site->state, .instantiating = true, .lane = site->lane};
    XLA_FFI_CallFrame frame = frame_of(site, &ctx);

    return report(site, call(site, &frame, XLA_FFI_ExecutionStage_INSTANTIATE), NULL, err);
}

enum stet_rc stet_ffi_run(const struct stet_ffi_site *site, void *const *bufs,
                          struct stet_pool *pool, const struct stet_host *host,
                          struct stet_err *err)
{
    static atomic_llong runs;
    struct stet_ffi_state instance = site->state;
    XLA_FFI_ExecutionContext ctx = {
        .instance = &instance,
        .pool = pool,
        .lane = site->lane,
        .run = atomic_fetch_add_explicit(&runs, 1, memory_order_relaxed),
    };
    XLA_FFI_CallFrame frame = frame_of(site, &ctx);
    struct lists l = place(site, bufs[site->arg_count + site->ret_count]);
    XLA_FFI_Error *error = NULL;

    fill(site, bufs, &l);
    frame.args.size = site->arg_count;
    frame.args.types = (XLA_FFI_ArgType *)l.types;
    frame.args.args = l.pointers;
    frame.rets.size = site->ret_count;
    frame.rets.types = (XLA_FFI_RetType *)l.types + site->arg_count;
    frame.rets.rets = l.pointers + site->arg_count;
    for (int s = XLA_FFI_ExecutionStage_PREPARE; s < XLA_FFI_STAGES && !error; s++)
        error = call(site, &frame, (XLA_FFI_ExecutionStage)s);
    for (int s = 0; s < XLA_FFI_STAGES; s++)
        stet_ffi_state_release(&ctx.own[s]);
    return report(site, error, host, err);
}

void stet_ffi_release(struct stet_ffi_site *first)
{
    for (struct stet_ffi_site *s = first; s; s = s->next)
        stet_ffi_state_release(&s->state);
}
