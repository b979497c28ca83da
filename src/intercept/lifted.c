/* Lifted executables: the handles that the framework gets, and what it may ask of them. */
#include "abi/error.h"
#include "base/mem.h"
#include "intercept/executables.h"
#include "intercept/layer.h"
#include "intercept/lift_family.h"
#include "intercept/writer.h"

enum { ARGUMENTS_ON_STACK = 256 };
/* Above this, a program is kept only if its family may still prove to be wrong. */
#define KEPT_MAX ((size_t)256 << 20)

struct stet_lifted *stet_intercept_lifted_pool[STET_LIFTED_MAX];

/* The values of a lifted executable on a device that is not its own. */
struct stet_lifted_device {
    struct stet_lifted_device *next;
    PJRT_Device *device;
    PJRT_Buffer *buffers[STET_LIFT_ARGUMENTS];
};

/* An executable that the framework got from a lifted one: a real one of the plain program. */
struct derived {
    struct derived *next;
    const PJRT_Executable *executable;
    struct stet_lifted *of;
};

static struct derived *derived;
static _Atomic size_t kept; /* bytes of the programs of all lifted executables */

static struct stet_lifted *at(const PJRT_LoadedExecutable *handle)
{
    return *(struct stet_lifted *const *)(const void *)handle;
}

static struct stet_plugin *plugin_of(const struct stet_lifted *l)
{
    return l->code->family->plugin;
}

/* ---- buffers ---- */

static void free_buffers(struct stet_plugin *p, PJRT_Buffer **buffers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        stet_intercept_lifted_buffer_free(p, buffers[i]);
        buffers[i] = NULL;
    }
}

static bool make_buffers(struct stet_lifted *l, PJRT_Device *device, PJRT_Buffer **buffers)
{
    for (uint32_t i = 0; i < l->code->plan.argument_count; i++) {
        buffers[i] = stet_intercept_lifted_buffer(l->code, i, l->values[i].bytes, device);
        if (!buffers[i]) {
            free_buffers(plugin_of(l), buffers, i);
            return false;
        }
    }
    return true;
}

/* On every device of the program. */
static bool make_own_buffers(struct stet_lifted *l)
{
    uint32_t n = l->code->plan.argument_count;

    l->buffers = STET_NEW_ARRAY(&l->arena, PJRT_Buffer *, (size_t)n * l->code->device_count);
    for (uint32_t d = 0; l->buffers && d < l->code->device_count; d++) {
        if (!make_buffers(l, l->code->devices[d], l->buffers + (size_t)d * n))
            return false;
    }
    return l->buffers != NULL;
}

/* Another device than the compile's: a portable executable may run anywhere. */
static PJRT_Buffer **buffers_there(struct stet_lifted *l, PJRT_Device *device)
{
    struct stet_lifted_device *d;

    stet_intercept_lift_lock();
    for (d = l->devices; d && d->device != device;)
        d = d->next;
    stet_intercept_lift_unlock();
    if (d)
        return d->buffers;
    d = stet_mem_calloc(1, sizeof *d);
    if (!d || !make_buffers(l, device, d->buffers)) {
        stet_mem_free(d);
        return NULL;
    }
    d->device = device;
    stet_intercept_lift_lock();
    d->next = l->devices; /* a second set of the same device does no harm */
    l->devices = d;
    stet_intercept_lift_unlock();
    return d->buffers;
}

/* `device` is what the framework names; it may name one for a program of one device. */
static PJRT_Buffer **buffers_on(struct stet_lifted *l, PJRT_Device *device)
{
    return !device || device == l->code->devices[0] ? l->buffers : buffers_there(l, device);
}

/* ---- lifetimes ---- */

static void free_all_buffers(struct stet_lifted *l)
{
    size_t n = l->code->plan.argument_count;

    if (l->buffers)
        free_buffers(plugin_of(l), l->buffers, n * l->code->device_count);
    while (l->devices) {
        struct stet_lifted_device *d = l->devices;

        l->devices = d->next;
        free_buffers(plugin_of(l), d->buffers, n);
        stet_mem_free(d);
    }
}

static void free_lifted(struct stet_lifted *l)
{
    PJRT_LoadedExecutable *fallback = atomic_load(&l->fallback);

    free_all_buffers(l);
    if (fallback)
        stet_executables_unload(plugin_of(l), fallback);
    stet_intercept_lift_code_put(l->code);
    atomic_fetch_sub(&kept, l->kept);
    stet_arena_release(&l->arena);
    stet_mem_free(l);
}

static void put(struct stet_lifted *l)
{
    if (stet_intercept_lift_drop(&l->refs))
        free_lifted(l);
}

/* With the lock held. */
static struct stet_lifted **free_slot(void)
{
    static size_t next;

    for (size_t i = 0; i < STET_LIFTED_MAX; i++) {
        struct stet_lifted **slot = &stet_intercept_lifted_pool[(next + i) % STET_LIFTED_MAX];

        if (!*slot) {
            next = (next + i + 1) % STET_LIFTED_MAX;
            return slot;
        }
    }
    return NULL;
}

/* The plain executable's own, and the values. */
static void make_fingerprint(struct stet_lifted *l)
{
    struct stet_hash hash = l->code->plain_print;

    for (uint32_t i = 0; i < l->code->plan.argument_count; i++)
        hash = stet_hash_mix(hash, stet_hash_bytes(l->values[i].bytes));
    memcpy(l->fingerprint, "lifted-", 7);
    stet_hash_format(hash, l->fingerprint + 7);
}

static bool copy_parts(struct stet_lifted *l, const struct stet_lift_value *values,
                       const PJRT_Client_Compile_Args *args)
{
    const PJRT_Program *program = args->program;
    uint32_t n = l->code->plan.argument_count;

    l->values = STET_NEW_ARRAY(&l->arena, struct stet_lift_value, n);
    for (uint32_t i = 0; l->values && i < n; i++)
        l->values[i].bytes = stet_arena_copy(&l->arena, values[i].bytes);
    l->kept = program->code_size + args->compile_options_size;
    if (atomic_fetch_add(&kept, l->kept) + l->kept > KEPT_MAX) {
        atomic_fetch_sub(&kept, l->kept);
        l->kept = 0;
    }
    if (l->kept || !stet_intercept_lift_check_is_over(l->code)) {
        l->source.program =
            stet_arena_copy(&l->arena, stet_view_of(program->code, program->code_size));
        l->source.format =
            stet_arena_copy(&l->arena, stet_view_of(program->format, program->format_size));
        l->source.options = stet_arena_copy(
            &l->arena, stet_view_of(args->compile_options, args->compile_options_size));
    }
    return !l->arena.failed;
}

struct stet_lifted *stet_intercept_lifted_new(struct stet_lift_code *code,
                                              const struct stet_lift_value *values,
                                              const PJRT_Client_Compile_Args *args, uint64_t index)
{
    struct stet_lifted *l = stet_mem_calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->code = code;
    l->source.index = index;
    l->refs = 1;
    stet_arena_init(&l->arena, (size_t)1 << 30);
    stet_intercept_lift_lock();
    code->refs++;
    stet_intercept_lift_unlock();
    if (!copy_parts(l, values, args) || !make_own_buffers(l)) {
        free_lifted(l);
        return NULL;
    }
    make_fingerprint(l);
    stet_intercept_lift_lock();
    l->slot = free_slot();
    if (l->slot)
        *l->slot = l;
    stet_intercept_lift_unlock();
    if (!l->slot) {
        free_lifted(l);
        return NULL;
    }
    return l;
}

void stet_intercept_lifted_destroy(struct stet_plugin *p, PJRT_LoadedExecutable *handle)
{
    struct stet_lifted *l = at(handle);

    (void)p;
    if (!l)
        return;
    stet_intercept_lift_lock();
    *l->slot = NULL;
    l->slot = NULL;
    stet_intercept_lift_unlock();
    put(l);
}

void stet_intercept_lifted_delete(PJRT_LoadedExecutable *handle)
{
    struct stet_lifted *l = at(handle);

    if (!l || atomic_exchange(&l->deleted, true))
        return;
    free_all_buffers(l);
}

/* The framework may have forgotten to destroy executables; their buffers must go before the
 * client. */
void stet_intercept_lifted_client_gone(struct stet_plugin *p, const PJRT_Client *client)
{
    for (size_t i = 0; i < STET_LIFTED_MAX; i++) {
        struct stet_lifted *l;

        stet_intercept_lift_lock();
        l = stet_intercept_lifted_pool[i];
        if (l && (plugin_of(l) != p || l->code->family->client != client))
            l = NULL;
        if (l) {
            stet_intercept_lifted_pool[i] = NULL;
            l->slot = NULL;
        }
        stet_intercept_lift_unlock();
        if (l)
            put(l);
    }
}

/* ---- execution ---- */

static void record_plain(uint64_t index, uint64_t plugin_ns, bool waited)
{
    struct stet_event *e =
        index == STET_LIFTING_NO_COMPILE ? NULL : stet_event_new(STET_REC_lift_plain);

    if (!e)
        return;
    e->record.lift_plain =
        (struct stet_rec_lift_plain){.index = index, .plugin_ns = plugin_ns, .waited = waited};
    stet_event_send(e);
}

PJRT_Error *stet_intercept_lifted_compile(struct stet_plugin *p, PJRT_Client *client,
                                          const struct stet_lift_source *source, bool waited,
                                          PJRT_LoadedExecutable **out)
{
    PJRT_Program plain = {.struct_size = PJRT_Program_STRUCT_SIZE,
                          .code = (char *)(uintptr_t)source->program.ptr,
                          .code_size = source->program.len,
                          .format = source->format.ptr,
                          .format_size = source->format.len};
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = client,
                                     .program = &plain,
                                     .compile_options = source->options.ptr,
                                     .compile_options_size = source->options.len};
    uint64_t before = stet_journal_now();
    PJRT_Error *error = stet_plugin_real(p)->PJRT_Client_Compile(&args);

    record_plain(source->index, stet_journal_now() - before, waited);
    *out = error ? NULL : args.executable;
    return error;
}

/* Has the plain program compiled after all. Two threads may both do it; one result is kept. */
static PJRT_Error *compile_plain(struct stet_lifted *l)
{
    struct stet_plugin *p = plugin_of(l);
    PJRT_LoadedExecutable *none = NULL, *plain;
    PJRT_Error *error;

    if (atomic_load(&l->fallback))
        return NULL;
    if (!l->source.program.len)
        return stet_pjrt_error(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                               "stet: no copy of this lifted executable's program was kept");
    error = stet_intercept_lifted_compile(p, l->code->family->client, &l->source, true, &plain);
    if (!error && !atomic_compare_exchange_strong(&l->fallback, &none, plain))
        stet_executables_unload(p, plain);
    return error;
}

/* The framework's arguments of each device, and the values after them. */
static void fill_lists(const PJRT_LoadedExecutable_Execute_Args *args, PJRT_Buffer *const *values,
                       size_t more, PJRT_Buffer **list, PJRT_Buffer *const **lists)
{
    for (size_t d = 0; d < args->num_devices; d++) {
        lists[d] = list;
        if (args->num_args)
            memcpy((void *)list, (const void *)args->argument_lists[d],
                   args->num_args * sizeof *list);
        memcpy((void *)(list + args->num_args), (const void *)(values + d * more),
               more * sizeof *list);
        list += args->num_args + more;
    }
}

static PJRT_Error *run_plain(struct stet_lifted *l, PJRT_LoadedExecutable_Execute_Args *args)
{
    PJRT_LoadedExecutable *handle = args->executable;
    PJRT_Error *error = compile_plain(l);

    if (error)
        return error;
    args->executable = atomic_load(&l->fallback);
    error = stet_plugin_real(plugin_of(l))->PJRT_LoadedExecutable_Execute(args);
    args->executable = handle;
    return error;
}

static PJRT_Error *run_lifted(struct stet_lifted *l, PJRT_LoadedExecutable_Execute_Args *args)
{
    struct stet_plugin *p = plugin_of(l);
    uint32_t more = l->code->plan.argument_count;
    size_t count = (args->num_args + more) * args->num_devices;
    PJRT_Buffer *few[ARGUMENTS_ON_STACK], **list = few;
    PJRT_Buffer **values = buffers_on(l, args->execute_device);
    PJRT_Buffer *const *lists[STET_LIFT_DEVICES];
    PJRT_LoadedExecutable_Execute_Args copy = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE};
    PJRT_Error *error;

    if (count > ARGUMENTS_ON_STACK)
        list = stet_mem_calloc(count, sizeof(PJRT_Buffer *));
    if (!values || !list) { /* no memory for the values */
        if (list != few)
            stet_mem_free((void *)list);
        return run_plain(l, args);
    }
    fill_lists(args, values, more, list, lists);
    copy.executable = l->code->loaded;
    copy.options = args->options;
    copy.argument_lists = lists;
    copy.num_devices = args->num_devices;
    copy.num_args = args->num_args + more;
    copy.output_lists = args->output_lists;
    copy.device_complete_events = args->device_complete_events;
    copy.execute_device = args->execute_device;
    error = stet_plugin_real(p)->PJRT_LoadedExecutable_Execute(&copy);
    if (list != few)
        stet_mem_free((void *)list);
    return error;
}

PJRT_Error *stet_intercept_lifted_execute(struct stet_plugin *p,
                                          PJRT_LoadedExecutable_Execute_Args *args)
{
    struct stet_lifted *l = at(args->executable);

    (void)p;
    if (!l || atomic_load(&l->deleted))
        return stet_pjrt_error(PJRT_Error_Code_FAILED_PRECONDITION,
                               "stet: a lifted executable was deleted");
    if (args->num_devices != l->code->device_count || !STET_HAS(args, execute_device))
        return run_plain(l, args);
    if (__builtin_expect(
            atomic_load_explicit(&l->code->state, memory_order_acquire) != STET_LIFT_GOOD, 0) &&
        !stet_intercept_lift_check(l, args))
        return run_plain(l, args);
    return run_lifted(l, args);
}

/* ---- questions ---- */

PJRT_LoadedExecutable *stet_intercept_lifted_plain(PJRT_LoadedExecutable *handle)
{
    return stet_intercept_lifted_is(handle) ? at(handle)->code->family->plain : handle;
}

/* Asks the plain executable instead, and gives the caller its own handle back. */
#define ASK_PLAIN(entry, field)                                                                    \
    PJRT_Error *on_##entry(struct stet_plugin *p, entry##_Args *args)                              \
    {                                                                                              \
        PJRT_LoadedExecutable *handle = args->field;                                               \
        PJRT_Error *error;                                                                         \
                                                                                                   \
        if (stet_intercept_lifted_is(handle))                                                      \
            args->field = at(handle)->code->family->plain;                                         \
        error = stet_plugin_real(p)->entry(args);                                                  \
        args->field = handle;                                                                      \
        return error ? stet_plugin_failed(p, #entry, error) : NULL;                                \
    }

ASK_PLAIN(PJRT_LoadedExecutable_AddressableDevices, executable)
ASK_PLAIN(PJRT_LoadedExecutable_GetDeviceAssignment, executable)
ASK_PLAIN(PJRT_LoadedExecutable_AddressableDeviceLogicalIds, executable)

static void add_derived(struct derived *d, struct stet_lifted *l, const PJRT_Executable *executable)
{
    d->executable = executable;
    d->of = l;
    stet_intercept_lift_lock();
    l->refs++;
    d->next = derived;
    derived = d;
    stet_intercept_lift_unlock();
}

/* With the lock held. */
static struct derived **find_derived(const PJRT_Executable *executable)
{
    struct derived **d = &derived;

    while (*d && (*d)->executable != executable)
        d = &(*d)->next;
    return d;
}

/* The executable of the family's first program answers, and is noted as this one's: its bytes would
 * be loaded with other values. Without memory for the note, the program is compiled as it is. */
PJRT_Error *on_PJRT_LoadedExecutable_GetExecutable(struct stet_plugin *p,
                                                   PJRT_LoadedExecutable_GetExecutable_Args *args)
{
    PJRT_LoadedExecutable *handle = args->loaded_executable;
    struct stet_lifted *l = stet_intercept_lifted_is(handle) ? at(handle) : NULL;
    struct derived *d = l ? stet_mem_calloc(1, sizeof *d) : NULL;
    PJRT_Error *error = l && !d ? compile_plain(l) : NULL;

    if (error)
        return stet_plugin_failed(p, "PJRT_LoadedExecutable_GetExecutable", error);
    if (l)
        args->loaded_executable = d ? l->code->family->plain : atomic_load(&l->fallback);
    error = stet_plugin_real(p)->PJRT_LoadedExecutable_GetExecutable(args);
    args->loaded_executable = handle;
    if (d && !error)
        add_derived(d, l, args->executable);
    else
        stet_mem_free(d);
    return error ? stet_plugin_failed(p, "PJRT_LoadedExecutable_GetExecutable", error) : NULL;
}

void stet_intercept_lifted_executable_gone(const PJRT_Executable *executable)
{
    struct derived **at_d, *d;

    stet_intercept_lift_lock();
    at_d = find_derived(executable);
    d = *at_d;
    if (d)
        *at_d = d->next;
    stet_intercept_lift_unlock();
    if (d)
        put(d->of);
    stet_mem_free(d);
}

static struct stet_lifted *lifted_of(const PJRT_Executable *executable)
{
    struct derived *d;

    stet_intercept_lift_lock();
    d = *find_derived(executable);
    stet_intercept_lift_unlock();
    return d ? d->of : NULL;
}

PJRT_Error *on_PJRT_LoadedExecutable_IsDeleted(struct stet_plugin *p,
                                               PJRT_LoadedExecutable_IsDeleted_Args *args)
{
    PJRT_Error *error;

    if (stet_intercept_lifted_is(args->executable)) {
        args->is_deleted = atomic_load(&at(args->executable)->deleted);
        return NULL;
    }
    if (stet_intercept_lift_deleted(args->executable)) {
        args->is_deleted = true;
        return NULL;
    }
    error = stet_plugin_real(p)->PJRT_LoadedExecutable_IsDeleted(args);
    return error ? stet_plugin_failed(p, "PJRT_LoadedExecutable_IsDeleted", error) : NULL;
}

PJRT_Error *on_PJRT_LoadedExecutable_Fingerprint(struct stet_plugin *p,
                                                 PJRT_LoadedExecutable_Fingerprint_Args *args)
{
    PJRT_Error *error;

    if (stet_intercept_lifted_is(args->executable)) {
        args->executable_fingerprint = at(args->executable)->fingerprint;
        args->executable_fingerprint_size = strlen(args->executable_fingerprint);
        return NULL;
    }
    error = stet_plugin_real(p)->PJRT_LoadedExecutable_Fingerprint(args);
    return error ? stet_plugin_failed(p, "PJRT_LoadedExecutable_Fingerprint", error) : NULL;
}

PJRT_Error *on_PJRT_Executable_Fingerprint(struct stet_plugin *p,
                                           PJRT_Executable_Fingerprint_Args *args)
{
    struct stet_lifted *l = lifted_of(args->executable);
    PJRT_Error *error;

    if (l) {
        args->executable_fingerprint = l->fingerprint;
        args->executable_fingerprint_size = strlen(l->fingerprint);
        return NULL;
    }
    error = stet_plugin_real(p)->PJRT_Executable_Fingerprint(args);
    return error ? stet_plugin_failed(p, "PJRT_Executable_Fingerprint", error) : NULL;
}

/* The plain program's bytes would be loaded with other values, and the lifted one's without any. */
PJRT_Error *on_PJRT_Executable_Serialize(struct stet_plugin *p,
                                         PJRT_Executable_Serialize_Args *args)
{
    struct stet_lifted *l = lifted_of(args->executable);
    PJRT_Error *error;

    error = l ? stet_intercept_lifted_serialize(l, args)
              : stet_plugin_real(p)->PJRT_Executable_Serialize(args);
    return error ? stet_plugin_failed(p, "PJRT_Executable_Serialize", error) : NULL;
}
