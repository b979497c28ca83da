/* See executables.h. */
#include "intercept/executables.h"

#include "intercept/drain.h"
#include "intercept/layer.h"

/* The id without the mark of an executable that has not run. */
static uint32_t plain(uint32_t id)
{
    return id == STET_HANDLE_SILENT ? id : id & ~STET_HANDLE_FRESH;
}

uint32_t stet_executables_add(struct stet_plugin *p, const void *handle, uint32_t id)
{
    struct stet_handle *h =
        stet_handles_put(&p->handles, handle, id ? id | STET_HANDLE_FRESH : STET_RING_OTHER);

    if (!h) {
        stet_fault(STET_FAULT_HANDLES_FULL);
        return STET_RING_OTHER;
    }
    if (!id) {
        id = atomic_fetch_add(&stet_layer.last_executable, 1) + 1;
        atomic_store_explicit(&h->id, id | STET_HANDLE_FRESH, memory_order_release);
    }
    return id;
}

uint32_t stet_executables_id(struct stet_plugin *p, const void *handle)
{
    struct stet_handle *h = stet_handles_find(&p->handles, handle);

    return h ? plain(atomic_load_explicit(&h->id, memory_order_acquire)) : 0;
}

static bool add_missed(struct stet_event *e, struct stet_journal *j)
{
    (void)j;
    stet_drain_missed(e->record.executable_destroy.executable, e->number);
    return true;
}

void stet_executables_gone(struct stet_plugin *p, const void *handle)
{
    uint32_t missed, id = plain(stet_handles_remove(&p->handles, handle, &missed));
    struct stet_event *e;

    if (!id || id == STET_HANDLE_SILENT)
        return;
    e = stet_event_new(STET_REC_executable_destroy);
    if (!e)
        return;
    e->record.executable_destroy.executable = id;
    e->number = missed;
    e->prepare = add_missed;
    stet_event_send(e);
}

static struct stet_view hex(struct stet_arena *a, const char *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    char *text = n <= 4096 ? stet_arena_alloc(a, 2 * n + 1, 1) : NULL;

    for (size_t i = 0; text && i < n; i++) {
        text[2 * i] = digits[(unsigned char)bytes[i] >> 4];
        text[2 * i + 1] = digits[(unsigned char)bytes[i] & 15];
    }
    return stet_view_of(text, text ? 2 * n : 0);
}

static void ask_name(struct stet_plugin *p, PJRT_Executable *x, struct stet_arena *a,
                     struct stet_executable_facts *out)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Executable_Name_Args name = {.struct_size = PJRT_Executable_Name_Args_STRUCT_SIZE,
                                      .executable = x};
    PJRT_Executable_Fingerprint_Args print = {
        .struct_size = PJRT_Executable_Fingerprint_Args_STRUCT_SIZE, .executable = x};

    if (stet_api_has(real, PJRT_Executable_Name) &&
        !stet_plugin_drop(p, real->PJRT_Executable_Name(&name)) && name.executable_name)
        out->name =
            stet_arena_copy(a, stet_plugin_text(name.executable_name, name.executable_name_size));
    if (stet_api_has(real, PJRT_Executable_Fingerprint) &&
        !stet_plugin_drop(p, real->PJRT_Executable_Fingerprint(&print)) &&
        print.executable_fingerprint)
        out->fingerprint = hex(a, print.executable_fingerprint, print.executable_fingerprint_size);
}

static void ask_sizes(struct stet_plugin *p, PJRT_Executable *x, struct stet_executable_facts *out)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Executable_NumOutputs_Args outputs = {
        .struct_size = PJRT_Executable_NumOutputs_Args_STRUCT_SIZE, .executable = x};

    if (stet_api_has(real, PJRT_Executable_NumOutputs) &&
        !stet_plugin_drop(p, real->PJRT_Executable_NumOutputs(&outputs))) {
        out->num_outputs = outputs.num_outputs;
        out->has_outputs = true;
    }
}

PJRT_Executable *stet_executables_of(struct stet_plugin *p, PJRT_LoadedExecutable *loaded)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_LoadedExecutable_GetExecutable_Args get = {
        .struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE,
        .loaded_executable = loaded};

    if (!stet_api_has(real, PJRT_LoadedExecutable_GetExecutable) ||
        !stet_api_has(real, PJRT_Executable_Destroy) ||
        stet_plugin_drop(p, real->PJRT_LoadedExecutable_GetExecutable(&get)))
        return NULL;
    return get.executable;
}

void stet_executables_return(struct stet_plugin *p, PJRT_Executable *executable)
{
    PJRT_Executable_Destroy_Args destroy = {.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE,
                                            .executable = executable};

    stet_plugin_drop(p, stet_plugin_real(p)->PJRT_Executable_Destroy(&destroy));
}

PJRT_Error *stet_executables_load(struct stet_plugin *p, PJRT_Client *client,
                                  struct stet_view bytes, PJRT_LoadedExecutable **loaded)
{
    PJRT_Executable_DeserializeAndLoad_Args load = {
        .struct_size = PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE,
        .client = client,
        .serialized_executable = bytes.ptr,
        .serialized_executable_size = bytes.len,
    };
    PJRT_Error *error = stet_plugin_real(p)->PJRT_Executable_DeserializeAndLoad(&load);

    if (!error)
        *loaded = load.loaded_executable;
    return error;
}

void stet_executables_unload(struct stet_plugin *p, PJRT_LoadedExecutable *loaded)
{
    PJRT_LoadedExecutable_Destroy_Args destroy = {
        .struct_size = PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE, .executable = loaded};

    stet_plugin_drop(p, stet_plugin_real(p)->PJRT_LoadedExecutable_Destroy(&destroy));
}

void stet_executables_ask(struct stet_plugin *p, PJRT_LoadedExecutable *loaded,
                          PJRT_Executable *executable, struct stet_arena *a,
                          struct stet_executable_facts *out)
{
    PJRT_Executable *x = loaded ? stet_executables_of(p, loaded) : executable;

    *out = (struct stet_executable_facts){0};
    if (!x)
        return;
    ask_name(p, x, a, out);
    ask_sizes(p, x, out);
    if (loaded)
        stet_executables_return(p, x);
}
