/* Stores what was compiled, on another thread than the compile, while the executable is known to be
 * alive. */
#include "base/mem.h"
#include "intercept/executable_memory.h"
#include "intercept/layer.h"
#include "intercept/reload.h"
#include "intercept/writer.h"

/* Default limit for the bytes of programs that wait to be stored (STET_STORE_PENDING): with a slow
 * store they could fill the host's memory. */
static size_t most = (size_t)512 << 20;
static _Atomic size_t pending;
/* Larger than any executable; a plugin that reports more is not trusted. */
#define EXECUTABLE_MOST ((size_t)64 << 30)

struct stet_pending_write {
    struct stet_arena arena;
    struct stet_buf program; /* a copy, because the framework may free its own at once */
    size_t bytes;            /* that count as pending */
    struct stet_kept entry;
    struct stet_hash key;
    uint64_t index;
    unsigned lease;
};

void stet_intercept_pending_limit(size_t bytes)
{
    most = bytes;
}

/* NONE, or why there is no room for another program. */
static enum stet_outcome reserve(size_t bytes)
{
    if (bytes > most)
        return STET_OUTCOME_TOO_LARGE;
    if (atomic_fetch_add(&pending, bytes) <= most - bytes)
        return STET_OUTCOME_NONE;
    atomic_fetch_sub(&pending, bytes);
    return STET_OUTCOME_QUEUE_FULL;
}

struct stet_pending_write *stet_intercept_pending_new(struct stet_reload *r,
                                                      const PJRT_Program *program,
                                                      struct stet_view options, uint64_t index,
                                                      uint64_t compile_ns)
{
    enum stet_outcome full = r->keep ? reserve(program->code_size) : STET_OUTCOME_NONE;
    struct stet_pending_write *k = r->keep && !full ? stet_mem_calloc(1, sizeof *k) : NULL;

    if (full) {
        r->outcome = full;
        r->keep = false;
    } else if (r->keep && !k) {
        atomic_fetch_sub(&pending, program->code_size);
    }
    if (!k)
        return NULL;
    k->bytes = program->code_size;
    k->program.cap = STET_ENTRY_MAX;
    stet_arena_init(&k->arena, options.len + ((size_t)1 << 20));
    for (size_t i = 0; i < STET_COMPONENTS; i++)
        k->entry.parts.part[i] = stet_arena_copy(&k->arena, r->parts.part[i]);
    k->entry.format =
        stet_arena_copy(&k->arena, stet_view_of(program->format, program->format_size));
    if (stet_buf_reserve(&k->program, program->code_size))
        stet_buf_add(&k->program, program->code, program->code_size);
    k->entry.program = stet_buf_as_view(&k->program);
    k->entry.options = stet_arena_copy(&k->arena, options);
    k->entry.compile_ns = compile_ns;
    k->entry.plugin_path = stet_arena_copy(&k->arena, r->plugin_path);
    k->key = r->key;
    k->index = index;
    if (k->arena.failed || k->program.failed) {
        stet_fault(STET_FAULT_NO_MEMORY);
        stet_intercept_pending_free(k);
        return NULL;
    }
    k->lease = r->remote.lease;
    r->remote.lease = 0;
    return k;
}

void stet_intercept_pending_free(struct stet_pending_write *k)
{
    if (k) {
        stet_remote_failed(k->lease, k->key);
        stet_arena_release(&k->arena);
        stet_buf_release(&k->program);
        atomic_fetch_sub(&pending, k->bytes);
    }
    stet_mem_free(k);
}

static void tell(const struct stet_pending_write *k, uint64_t bytes, uint64_t begin_ns,
                 struct stet_view error)
{
    struct stet_event *e = stet_event_new(STET_REC_stored);

    if (!e)
        return;
    e->record.stored = (struct stet_rec_stored){
        .index = k->index,
        .key = k->key,
        .executable_size = k->entry.executable.len,
        .bytes = bytes,
        .ns = stet_journal_now() - begin_ns,
        .error = stet_arena_copy(&e->arena, error),
    };
    stet_event_send(e);
}

static struct stet_view name_of(struct stet_plugin *p, PJRT_Executable *executable)
{
    const PJRT_Api *real = stet_plugin_real(p);
    PJRT_Executable_Name_Args name = {.struct_size = PJRT_Executable_Name_Args_STRUCT_SIZE,
                                      .executable = executable};

    if (!stet_api_has(real, PJRT_Executable_Name) ||
        stet_plugin_drop(p, real->PJRT_Executable_Name(&name)))
        return (struct stet_view){0};
    return stet_plugin_text(name.executable_name, name.executable_name_size);
}

/* For the next compile of it here. The program is moved, not copied again: the held entry keeps it
 * until it is written. */
static struct stet_remembered *remember(struct stet_pending_write *k, struct stet_view executable)
{
    struct stet_buf copy = {.cap = STET_ENTRY_MAX};
    struct stet_remembered *m = NULL;

    if (stet_intercept_memory_fits(k->program.len) && stet_intercept_memory_fits(executable.len) &&
        stet_buf_reserve(&copy, executable.len + 1)) {
        stet_buf_add(&copy, executable.ptr, executable.len);
        m = stet_intercept_memory_hold(k->key, &k->program, &copy, k->entry.compile_ns);
    }
    if (m)
        k->entry.program = m->program;
    stet_buf_release(&copy);
    return m;
}

static void store(struct stet_pending_write *k, struct stet_plugin *p, PJRT_Executable *executable,
                  struct stet_view bytes, uint64_t begin_ns)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_remembered *m = remember(k, bytes);
    uint64_t written;

    k->entry.name = name_of(p, executable);
    k->entry.executable = bytes;
    if (stet_store_put(&stet_layer.store, &k->entry, &written, &err) != STET_OK) {
        stet_fault(STET_FAULT_STORE);
        stet_layer_log("store: %s", err.text);
    } else {
        stet_remote_kept(k->lease, k->key);
        k->lease = 0;
    }
    tell(k, written, begin_ns, stet_view_str(err.text));
    if (m)
        stet_intercept_memory_put_back(m);
}

void stet_intercept_pending_write(struct stet_pending_write *k, struct stet_plugin *p,
                                  PJRT_Executable *executable)
{
    PJRT_Executable_Serialize_Args s = {.struct_size = PJRT_Executable_Serialize_Args_STRUCT_SIZE,
                                        .executable = executable};
    uint64_t begin_ns = stet_journal_now();
    PJRT_Error *error = stet_plugin_real(p)->PJRT_Executable_Serialize(&s);
    struct stet_view why;

    if (error) {
        stet_plugin_error_text(p, error, &why);
        tell(k, 0, begin_ns, why);
        stet_plugin_drop(p, error);
    } else if (!s.serialized_bytes || !s.serialized_bytes_size ||
               s.serialized_bytes_size > EXECUTABLE_MOST) {
        tell(k, 0, begin_ns, STET_VIEW("the plugin returned no bytes of an executable"));
        if (s.serialized_executable_deleter)
            s.serialized_executable_deleter(s.serialized_executable);
    } else {
        store(k, p, executable, stet_view_of(s.serialized_bytes, s.serialized_bytes_size),
              begin_ns);
        if (s.serialized_executable_deleter)
            s.serialized_executable_deleter(s.serialized_executable);
    }
    stet_intercept_pending_free(k);
}
