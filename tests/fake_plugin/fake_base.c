/* What all parts stand on: counted objects, errors, events, settings. */
#include "fake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_llong live[FAKE_KIND_COUNT];

void *fake_new(enum fake_kind kind, size_t size)
{
    void *object = calloc(1, size);

    if (!object)
        abort();
    atomic_fetch_add_explicit(&live[kind], 1, memory_order_relaxed);
    return object;
}

void fake_free(enum fake_kind kind, void *object)
{
    if (!object)
        return;
    atomic_fetch_sub_explicit(&live[kind], 1, memory_order_relaxed);
    free(object);
}

int64_t fake_live(enum fake_kind kind)
{
    return atomic_load(&live[kind]);
}

static struct fake_settings settings;

/* "name=value;…" as attributes: 3, [1,2], 1.5f, true, or text. One that is 1 unless said; callers
 * abort on bool. */
static PJRT_NamedValue *read_attributes(const char *text, size_t *count)
{
    char *copy = strdup(text ? text : "fake=1"), *rest = copy, *one;
    PJRT_NamedValue *list = NULL;

    *count = 0;
    while ((one = strsep(&rest, ";"))) {
        char *value = strchr(one, '='), *end;
        PJRT_NamedValue v = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                             .name = one,
                             .type = PJRT_NamedValue_kString,
                             .value_size = 1};

        if (!value)
            continue;
        *value++ = '\0';
        v.name_size = strlen(one);
        v.int64_value = strtoll(value, &end, 10);
        if (end != value && !*end) {
            v.type = PJRT_NamedValue_kInt64;
        } else if (*value == '[') {
            int64_t *numbers = calloc(strlen(value), sizeof(*numbers));

            v.type = PJRT_NamedValue_kInt64List;
            v.int64_array_value = numbers;
            v.value_size = 0;
            for (value++; *value && *value != ']'; value = end + (*end == ','))
                numbers[v.value_size++] = strtoll(value, &end, 10);
        } else if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
            v.type = PJRT_NamedValue_kBool;
            v.bool_value = *value == 't';
        } else if (value[strlen(value) - !!*value] == 'f' && strtof(value, &end) != 0 &&
                   strcmp(end, "f") == 0) {
            v.type = PJRT_NamedValue_kFloat;
            v.float_value = strtof(value, NULL);
        } else {
            v.string_value = value;
            v.value_size = strlen(value);
        }
        list = realloc(list, (*count + 1) * sizeof(*list));
        list[(*count)++] = v;
    }
    return list; /* for the life of the process, as is what it points to */
}

/* A name for each device, by commas; the last one for all that are left. */
static void read_kinds(const char *text)
{
    char *rest = strdup(text ? text : "Fake v1"), *one = NULL;

    for (size_t i = 0; i < FAKE_DEVICES_MOST; i++) {
        if (rest)
            one = strsep(&rest, ",");
        settings.kinds[i] = one;
    }
}

/* The text of a file, for errors that FAKE_FAIL asks for. */
static const char *read_message(const char *path)
{
    FILE *file = path ? fopen(path, "r") : NULL;
    char *text = file ? calloc(1, 65536) : NULL;

    if (text && fread(text, 1, 65535, file) == 0)
        text[0] = 0;
    if (file)
        fclose(file);
    return text;
}

static const char *text_of(const char *variable, const char *otherwise)
{
    const char *value = getenv(variable);

    return value ? value : otherwise;
}

static int64_t number_of(const char *variable)
{
    const char *value = getenv(variable);

    return value ? strtoll(value, NULL, 10) : 0;
}

static void read_settings(void)
{
    const char *processes = getenv("FAKE_PROCESSES"), *process = getenv("FAKE_PROCESS");
    const char *devices = getenv("FAKE_DEVICES"), *ms = getenv("FAKE_COMPILE_MS");
    const char *stats_ms = getenv("FAKE_STATS_MS"), *foreign = getenv("FAKE_FOREIGN");
    const char *load_ms = getenv("FAKE_LOAD_MS"), *serialize_ms = getenv("FAKE_SERIALIZE_MS");

    settings.num_devices = devices ? (size_t)atoi(devices) : 1;
    if (settings.num_devices < 1 || settings.num_devices > FAKE_DEVICES_MAX)
        settings.num_devices = 1;
    settings.processes = processes ? (size_t)atoi(processes) : 0;
    settings.process = process ? (size_t)atoi(process) : 0;
    if (settings.processes > FAKE_DEVICES_MOST || settings.process >= settings.processes)
        settings.processes = 0;
    if (settings.processes)
        settings.num_devices = settings.processes;
    settings.num_foreign = foreign ? (size_t)atoi(foreign) : 0;
    if (settings.num_foreign >= settings.num_devices)
        settings.num_foreign = 0;
    settings.compile_ms = ms ? atol(ms) : 0;
    settings.stats_ms = stats_ms ? atol(stats_ms) : 0;
    settings.memory = number_of("FAKE_MEMORY");
    settings.temp_times = number_of("FAKE_TEMP_TIMES");
    settings.stats_after_maker = getenv("FAKE_STATS_AFTER_MAKER") != NULL;
    settings.load_ms = load_ms ? atol(load_ms) : 0;
    settings.serialize_ms = serialize_ms ? atol(serialize_ms) : 0;
    settings.platform = text_of("FAKE_PLATFORM", "fake");
    settings.version = text_of("FAKE_VERSION", "fake plugin 1");
    settings.topology = text_of("FAKE_TOPOLOGY", "");
    read_kinds(getenv("FAKE_KINDS"));
    settings.attributes = read_attributes(getenv("FAKE_ATTRIBUTES"), &settings.num_attributes);
    settings.device_attributes =
        read_attributes(getenv("FAKE_DEVICE_ATTRIBUTES"), &settings.num_device_attributes);
    settings.compile_until = getenv("FAKE_COMPILE_UNTIL");
    settings.message = read_message(getenv("FAKE_MESSAGE"));
    settings.params = getenv("FAKE_PARAMS");
    settings.outputs = getenv("FAKE_OUTPUTS");
}

const struct fake_settings *fake_settings(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_settings);
    return &settings;
}

/* ---- errors ---- */

struct error {
    PJRT_Error base; /* with no vtable in this build: a value that must never be followed */
    PJRT_Error_Code code;
    char text[8192];
};

static void destroy(PJRT_Error *error)
{
    fake_free(FAKE_error, error);
}

static void message(const PJRT_Error *error, const char **text, size_t *size)
{
    *text = ((const struct error *)error)->text;
    *size = strlen(*text);
}

static PJRT_Error_Code get_code(const PJRT_Error *error)
{
    return ((const struct error *)error)->code;
}

static void for_each_payload(const PJRT_Error *error, PJRT_Error_PayloadVisitor visitor, void *arg)
{
    (void)error;
    visitor("fake", 4, "payload", 7, arg);
}

#if FAKE_ERROR_VTABLE
static const PJRT_Error_FunctionTable vtable = {
    .struct_size = PJRT_Error_FunctionTable_STRUCT_SIZE,
    .instance_size = sizeof(struct error),
    .destroy = destroy,
    .message = message,
    .get_code = get_code,
    .for_each_payload = for_each_payload,
};
#define VTABLE &vtable
#else
#define VTABLE (const PJRT_Error_FunctionTable *)(uintptr_t)0x5a5a5a5a5a5a5a5a
#endif

PJRT_Error *fake_error(PJRT_Error_Code code, const char *fmt, ...)
{
    struct error *e = fake_new(FAKE_error, sizeof(*e));
    va_list ap;

    e->base.vtable = VTABLE;
    e->code = code;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof(e->text), fmt, ap);
    va_end(ap);
    return &e->base;
}

void fake_PJRT_Error_Destroy(PJRT_Error_Destroy_Args *args)
{
    destroy(args->error);
}

void fake_PJRT_Error_Message(PJRT_Error_Message_Args *args)
{
    message(args->error, &args->message, &args->message_size);
}

PJRT_Error *fake_PJRT_Error_GetCode(PJRT_Error_GetCode_Args *args)
{
    args->code = get_code(args->error);
    return NULL;
}

PJRT_Error *fake_PJRT_Error_ForEachPayload(PJRT_Error_ForEachPayload_Args *args)
{
    for_each_payload(args->error, args->visitor, args->user_arg);
    return NULL;
}

/* ---- events ---- */

struct fake_waiter {
    PJRT_Event_OnReadyCallback callback;
    void *arg;
    struct fake_waiter *next;
};

static PJRT_Event *event_new(bool ready)
{
    PJRT_Event *event = fake_new(FAKE_event, sizeof(*event));

    pthread_mutex_init(&event->lock, NULL);
    pthread_cond_init(&event->ready_cond, NULL);
    event->ready = ready;
    return event;
}

PJRT_Event *fake_event_ready(void)
{
    return event_new(true);
}

PJRT_Event *fake_event_failed(PJRT_Error_Code code, const char *text)
{
    PJRT_Event *event = event_new(true);

    event->code = code;
    snprintf(event->text, sizeof(event->text), "%s", text);
    return event;
}

static PJRT_Error *event_error(const PJRT_Event *event)
{
    return event->code == PJRT_Error_Code_OK ? NULL : fake_error(event->code, "%s", event->text);
}

PJRT_Error *fake_PJRT_Event_Destroy(PJRT_Event_Destroy_Args *args)
{
    if (args->event) {
        pthread_cond_destroy(&args->event->ready_cond);
        pthread_mutex_destroy(&args->event->lock);
    }
    fake_free(FAKE_event, args->event);
    return NULL;
}

PJRT_Error *fake_PJRT_Event_IsReady(PJRT_Event_IsReady_Args *args)
{
    pthread_mutex_lock(&args->event->lock);
    args->is_ready = args->event->ready;
    pthread_mutex_unlock(&args->event->lock);
    return NULL;
}

PJRT_Error *fake_PJRT_Event_Error(PJRT_Event_Error_Args *args)
{
    return event_error(args->event);
}

PJRT_Error *fake_PJRT_Event_Await(PJRT_Event_Await_Args *args)
{
    pthread_mutex_lock(&args->event->lock);
    while (!args->event->ready)
        pthread_cond_wait(&args->event->ready_cond, &args->event->lock);
    pthread_mutex_unlock(&args->event->lock);
    return event_error(args->event);
}

PJRT_Error *fake_PJRT_Event_OnReady(PJRT_Event_OnReady_Args *args)
{
    struct fake_waiter *waiter;

    pthread_mutex_lock(&args->event->lock);
    if (args->event->ready) {
        pthread_mutex_unlock(&args->event->lock);
        args->callback(event_error(args->event), args->user_arg);
        return NULL;
    }
    waiter = malloc(sizeof(*waiter));
    *waiter = (struct fake_waiter){args->callback, args->user_arg, args->event->waiters};
    args->event->waiters = waiter;
    pthread_mutex_unlock(&args->event->lock);
    return NULL;
}

PJRT_Error *fake_PJRT_Event_Create(PJRT_Event_Create_Args *args)
{
    args->event = event_new(false);
    return NULL;
}

PJRT_Error *fake_PJRT_Event_Set(PJRT_Event_Set_Args *args)
{
    struct fake_waiter *waiter, *next;

    pthread_mutex_lock(&args->event->lock);
    args->event->code = args->error_code;
    snprintf(args->event->text, sizeof(args->event->text), "%.*s", (int)args->error_message_size,
             args->error_message ? args->error_message : "");
    args->event->ready = true;
    waiter = args->event->waiters;
    args->event->waiters = NULL;
    pthread_cond_broadcast(&args->event->ready_cond);
    pthread_mutex_unlock(&args->event->lock);
    for (; waiter; waiter = next) {
        next = waiter->next;
        waiter->callback(event_error(args->event), waiter->arg);
        free(waiter);
    }
    return NULL;
}
