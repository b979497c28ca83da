/* Errors that the plugin returns: recorded with code and message, and passed on unchanged. Errors
 * that the layer itself creates (enforce.c) are handled here and never reach the plugin. */
#include "abi/error.h"
#include "intercept/layer.h"
#include "intercept/plugin.h"
#include "intercept/pyline.h"
#include "intercept/writer.h"
#include "journal/environment.h"

/* A message about memory lists its buffers. */
enum { RECORDED_ONE_BY_ONE = 1000, MESSAGE_MAX = 16384, RECENT = 64 };

/* Errors that were recorded when they were returned, so that their destruction does not count them
 * again. */
static _Atomic(PJRT_Error *) recent[RECENT];
static _Atomic unsigned next_recent;

PJRT_Error_Code stet_plugin_error_text(struct stet_plugin *p, const PJRT_Error *error,
                                       struct stet_view *text)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Error_Message_Args message = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                       .error = error};
    PJRT_Error_GetCode_Args code = {.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE,
                                    .error = error,
                                    .code = PJRT_Error_Code_UNKNOWN};

    *text = (struct stet_view){0};
    if (stet_pjrt_error_is_ours(error)) {
        stet_pjrt_error_message(error, &text->ptr, &text->len);
        return stet_pjrt_error_code(error);
    }
    if (stet_api_has(real, PJRT_Error_Message))
        real->PJRT_Error_Message(&message);
    if (message.message)
        *text =
            stet_view_of(message.message,
                         message.message_size < MESSAGE_MAX ? message.message_size : MESSAGE_MAX);
    if (stet_api_has(real, PJRT_Error_GetCode))
        stet_plugin_drop(p, real->PJRT_Error_GetCode(&code));
    return code.code;
}

bool stet_plugin_drop(struct stet_plugin *p, PJRT_Error *error)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Error_Destroy_Args args = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                    .error = error};

    if (error && stet_api_has(real, PJRT_Error_Destroy))
        real->PJRT_Error_Destroy(&args);
    return error != NULL;
}

static void record(struct stet_plugin *p, const struct stet_plugin_failure *in,
                   const PJRT_Error *error)
{
    uint64_t number = atomic_fetch_add(&stet_layer.errors, 1);
    struct stet_event *e;
    struct stet_view text;

    /* A loop that fails a million times must not fill the disk. */
    if (number >= RECORDED_ONE_BY_ONE && number % RECORDED_ONE_BY_ONE)
        return;
    e = stet_event_new(STET_REC_plugin_error);
    if (!e)
        return;
    e->record.plugin_error = (struct stet_rec_plugin_error){
        .plugin = p->id,
        .function = stet_view_str(in->function),
        .executable = in->executable,
        .compile = in->compile,
        .code = (uint64_t)stet_plugin_error_text(p, error, &text),
        .count = number < RECORDED_ONE_BY_ONE ? 1 : RECORDED_ONE_BY_ONE,
    };
    e->record.plugin_error.message = stet_journal_env_mask(&e->arena, text);
    if (e->record.plugin_error.code == PJRT_Error_Code_RESOURCE_EXHAUSTED)
        stet_intercept_pyline_here(&e->arena, &e->record.plugin_error.file,
                                   &e->record.plugin_error.line);
    stet_event_send(e);
}

PJRT_Error *stet_plugin_failed(struct stet_plugin *p, const char *function, PJRT_Error *error)
{
    return stet_plugin_failed_in(p, &(struct stet_plugin_failure){.function = function}, error);
}

PJRT_Error *stet_plugin_failed_in(struct stet_plugin *p, const struct stet_plugin_failure *in,
                                  PJRT_Error *error)
{
    if (!error)
        return NULL;
    record(p, in, error);
    atomic_store(&recent[atomic_fetch_add(&next_recent, 1) % RECENT], error);
    return error;
}

/* An error that was not returned through our table comes from an extension's function. Newer
 * callers destroy errors through the error's own table and never come here. */
void on_PJRT_Error_Destroy(struct stet_plugin *p, PJRT_Error_Destroy_Args *args)
{
    PJRT_Error *error = STET_HAS(args, error) ? args->error : NULL;
    bool known = !error;

    for (size_t i = 0; i < RECENT && !known; i++) {
        PJRT_Error *expected = error;

        known = atomic_compare_exchange_strong(&recent[i], &expected, NULL);
    }
    if (!known)
        record(p, &(struct stet_plugin_failure){.function = "(an extension)"}, error);
    if (error && stet_pjrt_error_is_ours(error))
        stet_pjrt_error_destroy(error);
    else
        stet_plugin_real(p)->PJRT_Error_Destroy(args);
}

/* An error that arrives in an event was not returned by any function. It is seen when the framework
 * reads its message; only those about memory are worth a record of their own. */
static void record_late(struct stet_plugin *p, PJRT_Error *error)
{
    PJRT_Error_GetCode_Args code = {.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE,
                                    .error = error};
    const PJRT_Api *real = stet_plugin_real(p);

    for (size_t i = 0; i < RECENT; i++) {
        if (atomic_load(&recent[i]) == error)
            return;
    }
    if (!stet_api_has(real, PJRT_Error_GetCode) ||
        stet_plugin_drop(p, real->PJRT_Error_GetCode(&code)) ||
        code.code != PJRT_Error_Code_RESOURCE_EXHAUSTED)
        return;
    record(p, &(struct stet_plugin_failure){.function = "(an event)"}, error);
    atomic_store(&recent[atomic_fetch_add(&next_recent, 1) % RECENT], error);
}

void on_PJRT_Error_Message(struct stet_plugin *p, PJRT_Error_Message_Args *args)
{
    if (stet_pjrt_error_is_ours(args->error)) {
        stet_pjrt_error_message(args->error, &args->message, &args->message_size);
        return;
    }
    if (args->error)
        record_late(p, (PJRT_Error *)(uintptr_t)args->error);
    stet_plugin_real(p)->PJRT_Error_Message(args);
}

PJRT_Error *on_PJRT_Error_GetCode(struct stet_plugin *p, PJRT_Error_GetCode_Args *args)
{
    if (!stet_pjrt_error_is_ours(args->error))
        return stet_plugin_real(p)->PJRT_Error_GetCode(args);
    args->code = stet_pjrt_error_code(args->error);
    return NULL;
}

PJRT_Error *on_PJRT_Error_ForEachPayload(struct stet_plugin *p,
                                         PJRT_Error_ForEachPayload_Args *args)
{
    return stet_pjrt_error_is_ours(args->error)
               ? NULL
               : stet_plugin_real(p)->PJRT_Error_ForEachPayload(args);
}
