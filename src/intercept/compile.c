/* The compile hooks: the program is copied before the plugin sees it, and the writer does the rest.
 * on_PJRT_Client_Compile shows a whole compile. */
#include "abi/stet_ext.h"
#include "base/mem.h"
#include "intercept/ask.h"
#include "intercept/blob.h"
#include "intercept/constants.h"
#include "intercept/describe.h"
#include "intercept/drain.h"
#include "intercept/enforce.h"
#include "intercept/executables.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/lifting.h"
#include "intercept/phases.h"
#include "intercept/pod.h"
#include "intercept/pystack.h"
#include "intercept/reload.h"
#include "intercept/threads.h"
#include "journal/environment.h"

enum entry { ENTRY_CLIENT_COMPILE = 1, ENTRY_COMPILE = 2 };

/* One call in progress; on the caller's stack. */
struct stet_compile {
    struct stet_plugin *p;
    const char *function;
    uint64_t index;
    uint64_t begin_ns, plugin_begin_ns, hash_ns, capture_ns;
    uint64_t served_ns; /* since plugin_begin_ns, if the plugin did not compile */
    bool outermost;
    PJRT_Client *client;
    struct stet_pystack *stack;
    const PJRT_Program *program;
    struct stet_view options;
    struct stet_reading reading;
    struct stet_reload reload;
    struct stet_lifting lifting;
    struct stet_pod_turn *turn; /* NULL if it is not compared with other ranks */
};

/* The parts of a program that STET_CAPTURE allows to be kept. */
static void take_code(struct stet_event *e, struct stet_view format, struct stet_view code)
{
    char *stripped;

    switch (stet_layer.capture) {
    case STET_CAPTURE_FULL:
        stet_event_take(e, 0, code);
        break;
    case STET_CAPTURE_STRUCTURE:
        if (stet_constants_strip(format, code, &stripped) == STET_NO_MEMORY)
            stet_fault(STET_FAULT_NO_MEMORY);
        if (stripped)
            e->bytes[0] = stet_view_of(stripped, code.len);
        break;
    case STET_CAPTURE_HASH:
        break;
    }
}

/* On the writer thread, like the next function. */
static void write_bytes(struct stet_event *e)
{
    struct stet_rec_compile_begin *r = &e->record.compile_begin;

    if (e->bytes[0].ptr &&
        stet_blob_keep(r->program, e->bytes[0], stet_blob_extension(r->format, e->bytes[0])))
        r->captured |= 1;
    if (e->bytes[1].ptr && stet_blob_keep(r->options, e->bytes[1], "options"))
        r->captured |= 2;
}

/* Writing a new file may take a hundred times as long as a record. It is written first, so that a
 * reader of the record finds it, unless many records wait. */
static bool keep_bytes(struct stet_event *e, struct stet_journal *j)
{
    struct stet_rec_compile_begin *r = &e->record.compile_begin;

    (void)j;
    r->last_run_ns = stet_drain_last_run(NULL);
    if ((e->bytes[0].ptr || e->bytes[1].ptr) && stet_intercept_writer_behind()) {
        r->captured = (e->bytes[0].ptr ? 4u : 0u) | (e->bytes[1].ptr ? 8u : 0u);
        e->after = write_bytes;
    } else {
        write_bytes(e);
    }
    return true;
}

static void take_program(struct stet_compile *c, struct stet_event *e, const PJRT_Program *program,
                         struct stet_view options)
{
    struct stet_rec_compile_begin *r = &e->record.compile_begin;
    struct stet_view code = {0};
    uint64_t before = stet_journal_now();

    if (program && STET_HAS(program, format_size) && program->code) {
        code = stet_view_of(program->code, program->code_size);
        r->format = stet_arena_copy(&e->arena, stet_view_of(program->format, program->format_size));
        r->program = stet_hash_bytes(code);
        r->program_size = code.len;
    }
    if (options.ptr) {
        r->options = stet_hash_bytes(options);
        r->options_size = options.len;
    }
    c->hash_ns = stet_journal_now() - before;
    if (code.ptr)
        take_code(e, r->format, code);
    if (options.ptr && stet_layer.capture != STET_CAPTURE_HASH)
        stet_event_take(e, 1, options);
    c->capture_ns = stet_journal_now() - before - c->hash_ns;
}

static bool write_topology(struct stet_event *e, struct stet_journal *j)
{
    static struct stet_hash reported[64];
    static size_t count;

    (void)j;
    for (size_t i = 0; i < count && i < 64; i++) {
        if (stet_hash_eq(reported[i], *(struct stet_hash *)e->extra))
            return false;
    }
    reported[count++ % 64] = *(struct stet_hash *)e->extra;
    return true;
}

/* PJRT_Compile has no client whose record would give the target of the program. */
static struct stet_hash take_topology(struct stet_plugin *p, const PJRT_TopologyDescription *t)
{
    struct stet_event *e = t ? stet_event_new(STET_REC_note) : NULL;
    char hash[STET_HASH_TEXT];
    struct stet_topology topology;
    struct stet_view text;

    if (!e)
        return (struct stet_hash){0};
    stet_describe_topology(p, t, &e->arena, &topology);
    stet_hash_format(topology.hash, hash);
    text = stet_arena_printf(&e->arena, "platform=%.*s\ndevices=%llu\nkind=%.*s\nversion=%.*s",
                             STET_FMT(topology.platform), (unsigned long long)topology.devices,
                             STET_FMT(topology.kind), STET_FMT(topology.version));
    for (size_t i = 0; i < topology.attributes.count; i++)
        text = stet_arena_printf(&e->arena, "%.*s\n%.*s", STET_FMT(text),
                                 STET_FMT(topology.attributes.items[i]));
    e->record.note.name = stet_arena_printf(&e->arena, "topology %s", hash);
    e->record.note.text = text;
    e->extra = stet_mem_alloc(sizeof topology.hash);
    if (e->extra) {
        memcpy(e->extra, &topology.hash, sizeof topology.hash);
        e->prepare = write_topology;
    }
    stet_event_send(e);
    return topology.hash;
}

static void compile_begin(struct stet_compile *c, struct stet_plugin *p, enum entry entry,
                          const char *function, PJRT_Client *client,
                          const PJRT_TopologyDescription *topology, const PJRT_Program *program,
                          struct stet_view options)
{
    struct stet_event *e;

    *c = (struct stet_compile){.p = p,
                               .function = function,
                               .outermost = stet_intercept_guard_enter(),
                               .client = client,
                               .program = program,
                               .options = options};
    stet_intercept_phases_compiled();
    if (!c->outermost)
        return;
    c->begin_ns = stet_journal_now();
    stet_plugin_announce(p);
    c->index = atomic_fetch_add(&stet_layer.compiles, 1);
    e = stet_event_new(STET_REC_compile_begin);
    if (e) {
        e->record.compile_begin = (struct stet_rec_compile_begin){
            .index = c->index,
            .plugin = p->id,
            .client = stet_plugin_client(p, client),
            .entry = entry,
            .thread = stet_threads_id(),
            .topology = take_topology(p, topology),
        };
        e->prepare = keep_bytes;
        take_program(c, e, program, options);
        stet_event_send(e);
    }
    c->stack = stet_pystack_begin(c->index, false);
    c->plugin_begin_ns = stet_journal_now();
    stet_intercept_reading_init(&c->reading, program,
                                program && stet_intercept_lift_wants(program->code_size));
}

/* Asks Stet's CPU backend why XLA's CPU client runs the program; empty for every other plugin. */
static struct stet_view passed_on(struct stet_plugin *p, const PJRT_LoadedExecutable *loaded,
                                  struct stet_arena *arena)
{
    /* Outside of PJRT's list of types on purpose: NOLINTNEXTLINE(clang-analyzer-optin*) */
    const PJRT_Extension_Type own = (PJRT_Extension_Type)STET_EXTENSION_TYPE;
    const STET_Extension *x =
        (const STET_Extension *)(const void *)stet_api_extension(stet_plugin_real(p), own);
    const char *why = loaded && x && x->base.struct_size >= STET_Extension_STRUCT_SIZE
                          ? x->elsewhere(loaded)
                          : NULL;

    return why ? stet_arena_copy(arena, stet_view_str(why)) : (struct stet_view){0};
}

static void record_end(struct stet_compile *c, PJRT_Error *error, PJRT_LoadedExecutable *loaded,
                       PJRT_Executable *executable, uint32_t id, uint64_t plugin_ns)
{
    struct stet_event *e = stet_event_new(STET_REC_compile_end);
    struct stet_executable_facts facts;
    struct stet_rec_compile_end *r;
    struct stet_view text;

    if (!e)
        return;
    r = &e->record.compile_end;
    r->index = c->index;
    r->executable = id;
    r->begin_ns = c->begin_ns;
    r->plugin_ns = plugin_ns;
    r->hash_ns = c->hash_ns;
    r->capture_ns = c->capture_ns;
    if (error) {
        r->error_code = (uint64_t)stet_plugin_error_text(c->p, error, &text);
        r->error = stet_journal_env_mask(&e->arena, text);
    } else {
        stet_executables_ask(c->p, stet_intercept_lifted_plain(loaded), executable, &e->arena,
                             &facts);
        r->fingerprint = facts.fingerprint;
        r->name = facts.name;
        r->num_outputs = facts.num_outputs;
        r->elsewhere = passed_on(c->p, stet_intercept_lifted_plain(loaded), &e->arena);
        if (facts.has_outputs)
            stet_journal_flow_executable(&stet_layer.flow, id, facts.num_outputs);
    }
    r->served = c->lifting.served && !c->lifting.compiled ? STET_SERVED_LIFTED : c->reload.served;
    r->served_ns = r->served ? c->served_ns : 0;
    r->instead_ns = r->served == STET_SERVED_LIFTED ? c->lifting.instead_ns
                    : r->served                     ? c->reload.compile_ns
                                                    : 0;
    r->store = stet_view_str(stet_journal_outcome_word(c->reload.outcome));
    r->key = c->reload.key;
    r->components = stet_reload_words(&c->reload, &e->arena);
    r->tier = stet_arena_copy(&e->arena, stet_view_str(c->reload.remote.tier));
    r->agent = stet_view_str(stet_journal_answer_word(c->reload.remote.answer));
    r->agent_ns = c->reload.remote.wait_ns;
    r->layer_ns = stet_journal_now() - c->begin_ns - plugin_ns;
    stet_event_send(e);
}

static uint64_t plugin_time(const struct stet_compile *c)
{
    if (!c->outermost)
        return 0;
    if (c->lifting.served)
        return c->lifting.plugin_ns;
    return c->reload.served ? c->reload.load_ns : stet_journal_now() - c->plugin_begin_ns;
}

/* `loaded` or `executable` is what the plugin created; an error goes on to the framework. */
static PJRT_Error *compile_end(struct stet_compile *c, PJRT_Error *error,
                               PJRT_LoadedExecutable *loaded, PJRT_Executable *executable)
{
    uint64_t plugin_ns = plugin_time(c);
    const void *handle = loaded ? (const void *)loaded : (const void *)executable;
    struct stet_pending_write *keep = NULL;
    uint32_t id = 0;

    if (!error && handle)
        id = stet_executables_add(c->p, handle, c->outermost ? 0 : STET_HANDLE_SILENT);
    if (!c->outermost)
        return error;
    c->served_ns = stet_journal_now() - c->plugin_begin_ns;
    stet_intercept_pod_end(c->turn, id);
    stet_pystack_end(c->stack);
    if (id)
        keep = stet_intercept_pending_new(&c->reload, c->program, c->options, c->index, plugin_ns);
    record_end(c, error, loaded, executable, id, plugin_ns);
    if (!c->lifting.served)
        stet_intercept_lift_end(&c->lifting, c->p, error ? NULL : loaded, plugin_ns,
                                keep ? c->reload.key : (struct stet_hash){0});
    if (c->lifting.pending.keep)
        stet_ask_memory(&(struct stet_question){.plugin = c->p,
                                                .client = c->client,
                                                .loaded = c->lifting.pending.loaded,
                                                .index = c->index,
                                                .id = id,
                                                .entry = c->lifting.pending.entry,
                                                .bytes = c->lifting.pending.bytes,
                                                .program = c->lifting.pending.program,
                                                .keep = c->lifting.pending.keep});
    if (id && !c->lifting.served)
        stet_ask_memory(&(struct stet_question){
            .plugin = c->p,
            .client = c->client,
            .loaded = loaded,
            .executable = executable,
            .index = c->index,
            .id = id,
            .used = c->reload.served == STET_SERVED_DISK ? c->reload.key : (struct stet_hash){0},
            .entry = loaded && (c->reload.served || c->reload.keep) ? c->reload.key
                                                                    : (struct stet_hash){0},
            .bytes = c->reload.bytes,
            .program = c->reload.program,
            .keep = keep});
    stet_reload_end(&c->reload);
    stet_intercept_reading_release(&c->reading);
    if (c->client)
        stet_plugin_look_at_memory(c->p, c->client, false);
    stet_intercept_guard_leave();
    return stet_plugin_failed_in(
        c->p, &(struct stet_plugin_failure){.function = c->function, .compile = c->index + 1},
        error);
}

/* Checks the contract before any other work: a program that it forbids is not served from a store
 * either. */
static PJRT_Error *refused(struct stet_compile *c)
{
    return c->outermost ? stet_intercept_contract_refuse(&c->reading, c->options) : NULL;
}

/* Compares the compile with those of other ranks of the job. The error, if this one is refused. */
static PJRT_Error *compare(struct stet_compile *c)
{
    if (!c->outermost)
        return NULL;
    c->turn = stet_intercept_pod_begin(c->p, c->client, &c->reading, c->options, c->index);
    return stet_intercept_pod_refuse(c->turn);
}

PJRT_Error *on_PJRT_Client_Compile(struct stet_plugin *p, PJRT_Client_Compile_Args *args)
{
    struct stet_compile c;
    PJRT_Error *error;

    compile_begin(&c, p, ENTRY_CLIENT_COMPILE, "PJRT_Client_Compile", args->client, NULL,
                  args->program, stet_view_of(args->compile_options, args->compile_options_size));
    error = refused(&c);
    if (!error)
        error = compare(&c);
    if (error)
        return compile_end(&c, error, NULL, NULL);
    if (c.outermost && stet_reload_try(&c.reload, p, args, &c.reading, c.turn))
        return compile_end(&c, NULL, args->executable, NULL);
    if (c.outermost && stet_intercept_lift_try(&c.lifting, p, args, &c.reading, c.index)) {
        c.reload.keep = false;
        return compile_end(&c, NULL, args->executable, NULL);
    }
    c.plugin_begin_ns = stet_journal_now();
    error = stet_plugin_real(p)->PJRT_Client_Compile(args);
    return compile_end(&c, error, error ? NULL : args->executable, NULL);
}

PJRT_Error *on_PJRT_Compile(struct stet_plugin *p, PJRT_Compile_Args *args)
{
    struct stet_compile c;
    PJRT_Error *error;

    compile_begin(&c, p, ENTRY_COMPILE, "PJRT_Compile", args->client, args->topology, args->program,
                  stet_view_of(args->compile_options, args->compile_options_size));
    error = refused(&c);
    if (error)
        return compile_end(&c, error, NULL, NULL);
    if (c.outermost)
        stet_reload_ahead(&c.reload, p, args, &c.reading);
    c.plugin_begin_ns = stet_journal_now();
    error = stet_plugin_real(p)->PJRT_Compile(args);
    return compile_end(&c, error, NULL, error ? NULL : args->executable);
}

/* The loaded executable runs the program that PJRT_Compile numbered, so it keeps that number. */
PJRT_Error *on_PJRT_Client_Load(struct stet_plugin *p, PJRT_Client_Load_Args *args)
{
    uint32_t id = stet_executables_id(p, args->executable);
    bool outermost = stet_intercept_guard_enter();
    PJRT_Error *error;

    stet_ask_finish(p, args->executable); /* loading may take it apart */
    error = stet_plugin_real(p)->PJRT_Client_Load(args);

    if (!error)
        stet_executables_add(p, args->loaded_executable, outermost ? id : STET_HANDLE_SILENT);
    if (!outermost)
        return error;
    stet_intercept_guard_leave();
    return stet_plugin_failed(p, "PJRT_Client_Load", error);
}
