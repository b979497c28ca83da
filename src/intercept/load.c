/* Deserialise-and-load: a compile that another cache made unnecessary. */
#include "intercept/executables.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/lifting.h"
#include "intercept/phases.h"
#include "intercept/pod.h"
#include "intercept/pystack.h"
#include "intercept/threads.h"
#include "journal/environment.h"

static const char function[] = "PJRT_Executable_DeserializeAndLoad";

static struct stet_event *load_begin(struct stet_plugin *p,
                                     const PJRT_Executable_DeserializeAndLoad_Args *args)
{
    struct stet_view bytes =
        stet_view_of(args->serialized_executable, args->serialized_executable_size);
    struct stet_event *e = stet_event_new(STET_REC_deserialize);
    struct stet_rec_deserialize *r;

    if (!e)
        return NULL;
    r = &e->record.deserialize;
    r->begin_ns = e->time_ns;
    r->plugin = p->id;
    r->client = stet_plugin_client(p, args->client);
    r->thread = stet_threads_id();
    if (bytes.ptr) {
        r->bytes_hash = stet_hash_bytes(bytes);
        r->bytes_size = bytes.len;
    }
    if (STET_HAS(args, overridden_serialized_compile_options_size) &&
        args->overridden_serialized_compile_options)
        r->options =
            stet_hash_bytes(stet_view_of(args->overridden_serialized_compile_options,
                                         args->overridden_serialized_compile_options_size));
    return e;
}

static void load_end(struct stet_plugin *p, struct stet_event *e, PJRT_Error *error,
                     PJRT_LoadedExecutable *loaded)
{
    struct stet_rec_deserialize *r = &e->record.deserialize;
    struct stet_executable_facts facts;
    struct stet_view text;

    if (error) {
        r->error_code = (uint64_t)stet_plugin_error_text(p, error, &text);
        r->error = stet_journal_env_mask(&e->arena, text);
    } else {
        stet_executables_ask(p, stet_intercept_lifted_plain(loaded), NULL, &e->arena, &facts);
        r->fingerprint = facts.fingerprint;
        r->name = facts.name;
        if (facts.has_outputs)
            stet_journal_flow_executable(&stet_layer.flow, r->executable, facts.num_outputs);
    }
    e->time_ns = stet_journal_now();
    e->ring_end = stet_ring_head(&stet_layer.ring);
    stet_event_send(e);
}

static PJRT_Error *deserialize(struct stet_plugin *p, PJRT_Executable_DeserializeAndLoad_Args *args)
{
    return stet_intercept_lift_is_envelope(args)
               ? stet_intercept_lift_load(p, args)
               : stet_plugin_real(p)->PJRT_Executable_DeserializeAndLoad(args);
}

static PJRT_Error *load(struct stet_plugin *p, PJRT_Executable_DeserializeAndLoad_Args *args)
{
    uint64_t index = atomic_fetch_add(&stet_layer.loads, 1);
    struct stet_pystack *stack = stet_pystack_begin(index, true);
    struct stet_event *e = load_begin(p, args);
    uint64_t before = stet_journal_now();
    PJRT_Error *error = deserialize(p, args);
    uint64_t plugin_ns = stet_journal_now() - before;
    uint32_t id = error ? 0 : stet_executables_add(p, args->loaded_executable, 0);

    stet_intercept_pod_loaded();

    if (e) {
        e->record.deserialize.index = index;
        e->record.deserialize.executable = id;
        e->record.deserialize.plugin_ns = plugin_ns;
        load_end(p, e, error, error ? NULL : args->loaded_executable);
    }
    stet_pystack_end(stack);
    return error;
}

PJRT_Error *on_PJRT_Executable_DeserializeAndLoad(struct stet_plugin *p,
                                                  PJRT_Executable_DeserializeAndLoad_Args *args)
{
    PJRT_Error *error;

    stet_intercept_phases_compiled();
    if (stet_intercept_guard_enter()) {
        stet_plugin_announce(p);
        error = load(p, args);
        stet_intercept_guard_leave();
        return stet_plugin_failed(p, function, error);
    }
    error = deserialize(p, args);
    if (!error)
        stet_executables_add(p, args->loaded_executable, STET_HANDLE_SILENT);
    return error;
}
