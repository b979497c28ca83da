/* Keeping what was compiled: off the thread that compiled, while the executable is surely alive. */
#include "base/mem.h"
#include "intercept/layer.h"
#include "intercept/reload.h"
#include "intercept/writer.h"
#include "store/memory.h"

/* More than any executable has; a plugin that says so is not believed. */
#define EXECUTABLE_MOST ((size_t)64 << 30)

struct stet_keeping {
    struct stet_arena arena;
    struct stet_kept entry;
    struct stet_hash key;
    uint64_t index;
    unsigned lease;
};

struct stet_keeping *stet_keeping_new(struct stet_reload *r, const PJRT_Program *program,
                                      struct stet_view options, uint64_t index, uint64_t compile_ns)
{
    struct stet_keeping *k = r->keep ? stet_mem_calloc(1, sizeof *k) : NULL;

    if (!k)
        return NULL;
    stet_arena_init(&k->arena, program->code_size + options.len + ((size_t)1 << 20));
    for (size_t i = 0; i < STET_COMPONENTS; i++)
        k->entry.parts.part[i] = stet_arena_copy(&k->arena, r->parts.part[i]);
    k->entry.format =
        stet_arena_copy(&k->arena, stet_view_of(program->format, program->format_size));
    k->entry.program = stet_arena_copy(&k->arena, stet_view_of(program->code, program->code_size));
    k->entry.options = stet_arena_copy(&k->arena, options);
    k->entry.compile_ns = compile_ns;
    k->entry.plugin_path = stet_arena_copy(&k->arena, r->plugin_path);
    k->key = r->key;
    k->index = index;
    if (k->arena.failed) {
        stet_fault(STET_FAULT_NO_MEMORY);
        stet_keeping_free(k);
        return NULL;
    }
    k->lease = r->remote.lease;
    r->remote.lease = 0;
    return k;
}

void stet_keeping_free(struct stet_keeping *k)
{
    if (k) {
        stet_remote_failed(k->lease, k->key);
        stet_arena_release(&k->arena);
    }
    stet_mem_free(k);
}

static void tell(const struct stet_keeping *k, uint64_t bytes, uint64_t begin_ns,
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

static void store(struct stet_keeping *k, struct stet_plugin *p, PJRT_Executable *executable,
                  struct stet_view bytes, uint64_t begin_ns)
{
    struct stet_err err = STET_ERR_INIT;
    uint64_t written;

    k->entry.name = name_of(p, executable);
    k->entry.executable = bytes;
    stet_memory_add(k->key, k->entry.program, bytes);
    if (stet_store_put(&stet_layer.store, &k->entry, &written, &err) != STET_OK) {
        stet_fault(STET_FAULT_STORE);
        stet_log("store: %s", err.text);
    } else {
        stet_remote_kept(k->lease, k->key);
        k->lease = 0;
    }
    tell(k, written, begin_ns, stet_view_str(err.text));
}

void stet_keeping_do(struct stet_keeping *k, struct stet_plugin *p, PJRT_Executable *executable)
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
        tell(k, 0, begin_ns, STET_VIEW("the plugin gave no bytes that an executable can have"));
        if (s.serialized_executable_deleter)
            s.serialized_executable_deleter(s.serialized_executable);
    } else {
        store(k, p, executable, stet_view_of(s.serialized_bytes, s.serialized_bytes_size),
              begin_ns);
        if (s.serialized_executable_deleter)
            s.serialized_executable_deleter(s.serialized_executable);
    }
    stet_keeping_free(k);
}
