/* The call graph over all files. Tracing spreads from its roots along calls, and with it which
 * parameters are tensors. */
#include "flow/linker.h"

#include "base/mem.h"

static bool prepare(struct linker *l)
{
    l->states = stet_mem_calloc(l->file_count + 1, sizeof *l->states);
    l->classes = stet_mem_calloc(l->file_count + 1, sizeof *l->classes);
    l->guards = stet_mem_calloc(l->file_count + 1, sizeof *l->guards);
    if (!l->states || !l->classes || !l->guards)
        return false;
    for (size_t f = 0; f < l->file_count; f++) {
        const struct stet_flow_summary *s = l->files[f].code;

        l->states[f] = stet_mem_calloc((size_t)s->fn_count + 1, sizeof **l->states);
        l->classes[f] = stet_mem_calloc((size_t)s->class_count + 1, 1);
        l->guards[f] = stet_mem_calloc((size_t)s->guard_count + 1, sizeof **l->guards);
        if (!l->states[f] || !l->classes[f] || !l->guards[f])
            return false;
    }
    return stet_flow_linker_index(l);
}

static void resolve_guards(struct linker *l)
{
    for (size_t f = 0; f < l->file_count; f++) {
        const struct stet_flow_summary *s = l->files[f].code;

        for (uint32_t i = 0; i < s->guard_count; i++)
            l->guards[f][i] = stet_flow_linker_asks_compiling(l, s->guards[i]);
    }
}

enum stet_rc stet_flow_link(struct stet_flow_linked *out, const struct stet_flow_file *files,
                            size_t file_count, struct stet_err *err)
{
    struct linker l = {.files = files, .file_count = file_count};
    bool fine = prepare(&l);

    if (fine) {
        resolve_guards(&l);
        stet_flow_linker_trace(&l);
    }
    for (size_t f = 0; l.classes && f < file_count; f++)
        stet_mem_free(l.classes[f]);
    stet_mem_free(l.classes);
    STET_VEC_RELEASE(&l.names);
    stet_map_release(&l.places);
    STET_VEC_RELEASE(&l.queue);
    *out = (struct stet_flow_linked){l.states, l.guards, file_count, l.steps};
    return fine && !l.failed ? STET_OK : stet_fail(err, STET_NO_MEMORY, "out of memory");
}

void stet_flow_linked_release(struct stet_flow_linked *l)
{
    for (size_t f = 0; l->states && f < l->file_count; f++)
        stet_mem_free(l->states[f]);
    for (size_t f = 0; l->guards && f < l->file_count; f++)
        stet_mem_free(l->guards[f]);
    stet_mem_free(l->states);
    stet_mem_free(l->guards);
    *l = (struct stet_flow_linked){0};
}
