/* Host transfers: what a running program sends to callbacks of the framework, and receives from
 * them. */
#include "backend/api/cpu_api.h"

#include "base/mem.h"

#include <stdlib.h>

/* The framework's receive callback fills and destroys it; the program waits for the last byte. */
struct PJRT_CopyToDeviceStream {
    atomic_int refs;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    char *to;
    uint64_t total, have;
    bool destroyed;
};

/* ---- streams ---- */

static PJRT_CopyToDeviceStream *stream_new(void *to, uint64_t bytes)
{
    PJRT_CopyToDeviceStream *s = stet_mem_calloc(1, sizeof *s);

    if (!s)
        return NULL;
    atomic_init(&s->refs, 2); /* the program's and the framework's */
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, NULL);
    s->to = to;
    s->total = bytes;
    return s;
}

static void stream_unref(PJRT_CopyToDeviceStream *s)
{
    if (atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    stet_mem_free(s);
}

/* False if the framework stopped before the last byte. */
static bool stream_wait(PJRT_CopyToDeviceStream *s)
{
    bool whole;

    pthread_mutex_lock(&s->lock);
    while (s->have < s->total && !s->destroyed)
        pthread_cond_wait(&s->wake, &s->lock);
    whole = s->have == s->total;
    pthread_mutex_unlock(&s->lock);
    return whole;
}

PJRT_Error *cpu_PJRT_CopyToDeviceStream_Destroy(PJRT_CopyToDeviceStream_Destroy_Args *args)
{
    PJRT_CopyToDeviceStream *s = args->stream;

    pthread_mutex_lock(&s->lock);
    s->destroyed = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    stream_unref(s);
    return NULL;
}

PJRT_Error *cpu_PJRT_CopyToDeviceStream_AddChunk(PJRT_CopyToDeviceStream_AddChunk_Args *args)
{
    PJRT_CopyToDeviceStream *s = args->stream;
    PJRT_Chunk *c = args->chunk;
    bool fits;

    args->transfer_complete = stet_cpu_api_event_of(NULL);
    pthread_mutex_lock(&s->lock);
    fits = c->size <= s->total - s->have;
    if (fits && c->size) {
        memcpy(s->to + s->have, c->data, c->size);
        s->have += c->size;
    }
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    if (c->deleter)
        c->deleter(c->data, c->deleter_arg);
    if (fits && args->transfer_complete)
        return NULL;
    if (args->transfer_complete)
        cpu_PJRT_Event_Destroy(&(PJRT_Event_Destroy_Args){.event = args->transfer_complete});
    args->transfer_complete = NULL;
    return fits ? stet_cpu_api_no_memory()
                : stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                                  "stet cpu: a chunk of %zu bytes is larger than requested",
                                  c->size);
}

PJRT_Error *cpu_PJRT_CopyToDeviceStream_TotalBytes(PJRT_CopyToDeviceStream_TotalBytes_Args *args)
{
    args->total_bytes = (int64_t)args->stream->total;
    return NULL;
}

PJRT_Error *cpu_PJRT_CopyToDeviceStream_GranuleSize(PJRT_CopyToDeviceStream_GranuleSize_Args *args)
{
    args->granule_size_in_bytes = 1;
    return NULL;
}

PJRT_Error *
cpu_PJRT_CopyToDeviceStream_CurrentBytes(PJRT_CopyToDeviceStream_CurrentBytes_Args *args)
{
    pthread_mutex_lock(&args->stream->lock);
    args->current_bytes = (int64_t)args->stream->have;
    pthread_mutex_unlock(&args->stream->lock);
    return NULL;
}

/* ---- a run's callbacks ---- */

static PJRT_Error *framework_error(PJRT_Error_Code code, const char *message, size_t size)
{
    return stet_pjrt_error(code, "%.*s", (int)size, message);
}

static void free_chunk(void *data, void *arg)
{
    (void)arg;
    free(data);
}

static enum stet_rc no_callback(int64_t channel, struct stet_err *err)
{
    return stet_fail(err, STET_BAD_INPUT, "no callback was given for channel %lld",
                     (long long)channel);
}

/* Frameworks keep the chunk until the last argument of a callback has arrived, so it is a copy. */
static enum stet_rc send(void *context, uint32_t lane, int64_t channel, const void *data,
                         uint64_t bytes, struct stet_err *err)
{
    struct stet_callbacks *c = context;
    const PJRT_SendCallbackInfo *sends = c->sends + lane * c->send_count;
    PJRT_CallbackError on_error = framework_error;

    for (size_t i = 0; i < c->send_count; i++) {
        PJRT_Chunk chunk = {.size = bytes, .deleter = free_chunk};

        if (sends[i].channel_id != channel)
            continue;
        chunk.data = malloc(bytes ? bytes : 1);
        if (!chunk.data)
            return stet_fail(err, STET_NO_MEMORY, "out of memory for a callback's argument");
        if (bytes)
            memcpy(chunk.data, data, bytes);
        c->failure = sends[i].send_callback(&chunk, &on_error, bytes, true, sends[i].user_arg);
        return c->failure ? stet_fail(err, STET_REFUSED, "a callback failed") : STET_OK;
    }
    return no_callback(channel, err);
}

static enum stet_rc receive(void *context, uint32_t lane, int64_t channel, void *data,
                            uint64_t bytes, struct stet_err *err)
{
    const struct stet_callbacks *c = context;
    const PJRT_RecvCallbackInfo *receives = c->receives + lane * c->receive_count;

    for (size_t i = 0; i < c->receive_count; i++) {
        PJRT_CopyToDeviceStream *s;
        bool whole;

        if (receives[i].channel_id != channel)
            continue;
        s = stream_new(data, bytes);
        if (!s)
            return stet_fail(err, STET_NO_MEMORY, "out of memory for a callback's result");
        receives[i].recv_callback(s, receives[i].user_arg);
        whole = stream_wait(s);
        stream_unref(s);
        return whole ? STET_OK : stet_fail(err, STET_IO, "a callback gave no result");
    }
    return no_callback(channel, err);
}

static void failed(void *context, int code, const char *text)
{
    struct stet_callbacks *c = context;

    if (!c->failure)
        c->failure = stet_pjrt_error((PJRT_Error_Code)code, "%s", text);
}

bool stet_backend_callbacks_init(struct stet_callbacks *c, const PJRT_ExecuteOptions *options,
                                 size_t devices)
{
    size_t sends = 0, receives = 0;

    *c = (struct stet_callbacks){.host = {send, receive, c, failed}};
    if (options && options->send_callbacks && options->num_send_ops)
        sends = options->num_send_ops;
    if (options && options->recv_callbacks && options->num_recv_ops)
        receives = options->num_recv_ops;
    if (sends + receives == 0)
        return true;
    c->sends = stet_mem_calloc(devices * sends + 1, sizeof *c->sends);
    c->receives = stet_mem_calloc(devices * receives + 1, sizeof *c->receives);
    if (!c->sends || !c->receives)
        return false;
    for (size_t d = 0; d < devices && sends; d++)
        memcpy(c->sends + d * sends, options->send_callbacks[d], sends * sizeof *c->sends);
    for (size_t d = 0; d < devices && receives; d++)
        memcpy(c->receives + d * receives, options->recv_callbacks[d],
               receives * sizeof *c->receives);
    c->send_count = sends;
    c->receive_count = receives;
    return true;
}

void stet_backend_callbacks_release(struct stet_callbacks *c)
{
    stet_mem_free(c->sends);
    stet_mem_free(c->receives);
    if (c->failure)
        stet_pjrt_error_destroy(c->failure);
}
