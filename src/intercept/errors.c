/* Errors that the plugin returns: recorded with code and message, and passed on unchanged. Errors
 * that the layer itself creates (enforce.c) are handled here and never reach the plugin. */
#include "abi/error.h"
#include "intercept/layer.h"
#include "intercept/plugin.h"
#include "intercept/writer.h"
#include "journal/environment.h"

enum { RECORDED_ONE_BY_ONE = 1000, MESSAGE_MAX = 4096, RECENT = 64 };

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

static void record(struct stet_plugin *p, const char *function, const PJRT_Error *error)
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
        .function = stet_view_str(function),
        .code = (uint64_t)stet_plugin_error_text(p, error, &text),
        .count = number < RECORDED_ONE_BY_ONE ? 1 : RECORDED_ONE_BY_ONE,
    };
    e->record.plugin_error.message = stet_journal_env_mask(&e->arena, text);
    stet_event_send(e);
}

PJRT_Error *stet_plugin_failed(struct stet_plugin *p, const char *function, PJRT_Error *error)
{
    if (!error)
        return NULL;
    record(p, function, error);
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
        record(p, "(an extension)", error);
    if (error && stet_pjrt_error_is_ours(error))
        stet_pjrt_error_destroy(error);
    else
        stet_plugin_real(p)->PJRT_Error_Destroy(args);
}

void on_PJRT_Error_Message(struct stet_plugin *p, PJRT_Error_Message_Args *args)
{
    if (stet_pjrt_error_is_ours(args->error))
        stet_pjrt_error_message(args->error, &args->message, &args->message_size);
    else
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
