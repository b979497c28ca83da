/* The call graph over all files. Tracing spreads from its roots along calls, and with it which
 * parameters are tensors. A candidate holds if its function is reached in the way it requires. */
#include "lint/linker.h"

#include "base/mem.h"

static bool prepare(struct linker *l)
{
    l->states = stet_mem_calloc(l->file_count + 1, sizeof *l->states);
    l->classes = stet_mem_calloc(l->file_count + 1, sizeof *l->classes);
    if (!l->states || !l->classes)
        return false;
    for (size_t f = 0; f < l->file_count; f++) {
        l->states[f] = stet_mem_calloc((size_t)l->files[f].fn_count + 1, sizeof **l->states);
        l->classes[f] = stet_mem_calloc((size_t)l->files[f].class_count + 1, 1);
        if (!l->states[f] || !l->classes[f])
            return false;
    }
    return lint_linker_index(l);
}

static void release(struct linker *l)
{
    for (size_t f = 0; f < l->file_count; f++) {
        if (l->states)
            stet_mem_free(l->states[f]);
        if (l->classes)
            stet_mem_free(l->classes[f]);
    }
    stet_mem_free(l->states);
    stet_mem_free(l->classes);
    stet_mem_free(l->table);
    STET_VEC_RELEASE(&l->queue);
}

enum stet_rc lint_link(struct stet_lint_result *r, struct stet_arena *arena,
                       const struct lint_summary *files, const char *const *paths,
                       size_t file_count, struct stet_err *err)
{
    struct linker l = {.files = files, .paths = paths, .file_count = file_count, .arena = arena};
    size_t most = 1;

    r->findings = NULL;
    r->finding_count = 0;
    for (size_t f = 0; f < file_count; f++)
        most += files[f].candidate_count;
    if (prepare(&l)) {
        lint_linker_trace(&l);
        r->findings = stet_mem_calloc(most, sizeof *r->findings);
        for (uint32_t f = 0; r->findings && f < file_count; f++)
            lint_linker_findings(&l, f, r->findings, &r->finding_count);
    }
    release(&l);
    r->steps = l.steps;
    if (!r->findings || l.failed || arena->failed) {
        stet_mem_free(r->findings);
        r->findings = NULL;
        r->finding_count = 0;
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    return STET_OK;
}
