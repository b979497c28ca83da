/* Signals (shared state) and events (the handles that frameworks hold). */
#include "backend/api/cpu_api.h"

#include "base/mem.h"

#include <stdio.h>

struct waiter {
    PJRT_Event_OnReadyCallback callback;
    void *arg;
    struct waiter *next;
};

struct stet_signal {
    atomic_int refs;
    atomic_bool ready;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    PJRT_Error_Code code;
    char *text; /* NULL: none, or no memory for it */
    struct waiter *waiters;
};

struct stet_signal *stet_backend_signal_new(void)
{
    struct stet_signal *s = stet_mem_calloc(1, sizeof *s);

    if (!s)
        return NULL;
    atomic_init(&s->refs, 1);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, NULL);
    return s;
}

struct stet_signal *stet_backend_signal_ref(struct stet_signal *s)
{
    if (s)
        atomic_fetch_add(&s->refs, 1);
    return s;
}

void stet_backend_signal_unref(struct stet_signal *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    stet_mem_free(s->text);
    stet_mem_free(s);
}

bool stet_backend_signal_ready(const struct stet_signal *s)
{
    return !s || atomic_load_explicit(&s->ready, memory_order_acquire);
}

PJRT_Error_Code stet_backend_signal_code(const struct stet_signal *s, const char **text)
{
    *text = s && s->text ? s->text : "";
    return s ? s->code : PJRT_Error_Code_OK;
}

PJRT_Error *stet_backend_signal_error(const struct stet_signal *s)
{
    const char *text;
    PJRT_Error_Code code = stet_backend_signal_code(s, &text);

    return code == PJRT_Error_Code_OK ? NULL : stet_pjrt_error(code, "%s", text);
}

/* False if it was set before. */
static bool set_once(struct stet_signal *s, PJRT_Error_Code code, const char *text)
{
    struct waiter *w, *next;

    pthread_mutex_lock(&s->lock);
    if (stet_backend_signal_ready(s)) {
        pthread_mutex_unlock(&s->lock);
        return false;
    }
    s->code = code;
    s->text = text && *text ? stet_mem_strdup(text) : NULL;
    atomic_store_explicit(&s->ready, true, memory_order_release);
    w = s->waiters;
    s->waiters = NULL;
    pthread_cond_broadcast(&s->wake);
    pthread_mutex_unlock(&s->lock);
    for (; w; w = next) {
        next = w->next;
        w->callback(stet_backend_signal_error(s), w->arg);
        stet_mem_free(w);
    }
    return true;
}

void stet_backend_signal_set(struct stet_signal *s, PJRT_Error_Code code, const char *text)
{
    if (s)
        set_once(s, code, text);
}

void stet_backend_signal_wait(struct stet_signal *s)
{
    if (stet_backend_signal_ready(s))
        return;
    pthread_mutex_lock(&s->lock);
    while (!stet_backend_signal_ready(s))
        pthread_cond_wait(&s->wake, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

PJRT_Event *stet_cpu_api_event_of(struct stet_signal *s)
{
    PJRT_Event *e = stet_mem_calloc(1, sizeof *e);

    if (e)
        e->signal = stet_backend_signal_ref(s);
    return e;
}

PJRT_Error *cpu_PJRT_Event_Destroy(PJRT_Event_Destroy_Args *args)
{
    if (args->event)
        stet_backend_signal_unref(args->event->signal);
    stet_mem_free(args->event);
    return NULL;
}

PJRT_Error *cpu_PJRT_Event_IsReady(PJRT_Event_IsReady_Args *args)
{
    args->is_ready = stet_backend_signal_ready(args->event->signal);
    return NULL;
}

PJRT_Error *cpu_PJRT_Event_Error(PJRT_Event_Error_Args *args)
{
    return stet_backend_signal_ready(args->event->signal)
               ? stet_backend_signal_error(args->event->signal)
               : NULL;
}

PJRT_Error *cpu_PJRT_Event_Await(PJRT_Event_Await_Args *args)
{
    stet_backend_signal_wait(args->event->signal);
    return stet_backend_signal_error(args->event->signal);
}

PJRT_Error *cpu_PJRT_Event_OnReady(PJRT_Event_OnReady_Args *args)
{
    struct stet_signal *s = args->event->signal;
    struct waiter *w;

    if (!stet_backend_signal_ready(s)) {
        w = stet_mem_alloc(sizeof *w);
        if (!w)
            return stet_cpu_api_no_memory();
        pthread_mutex_lock(&s->lock);
        if (!stet_backend_signal_ready(s)) {
            *w = (struct waiter){args->callback, args->user_arg, s->waiters};
            s->waiters = w;
            pthread_mutex_unlock(&s->lock);
            return NULL;
        }
        pthread_mutex_unlock(&s->lock);
        stet_mem_free(w);
    }
    args->callback(stet_backend_signal_error(s), args->user_arg);
    return NULL;
}

PJRT_Error *cpu_PJRT_Event_Create(PJRT_Event_Create_Args *args)
{
    struct stet_signal *s = stet_backend_signal_new();

    args->event = s ? stet_cpu_api_event_of(s) : NULL;
    stet_backend_signal_unref(s);
    return args->event ? NULL : stet_cpu_api_no_memory();
}

/* A waiter may destroy the event before we return. */
PJRT_Error *cpu_PJRT_Event_Set(PJRT_Event_Set_Args *args)
{
    struct stet_signal *s = stet_backend_signal_ref(args->event->signal);
    char text[256];
    bool first;

    snprintf(text, sizeof text, "%.*s", (int)args->error_message_size,
             args->error_message_size ? args->error_message : "");
    first = set_once(s, args->error_code, text);
    stet_backend_signal_unref(s);
    return first ? NULL
                 : stet_pjrt_error(PJRT_Error_Code_FAILED_PRECONDITION, "event is set already");
}
