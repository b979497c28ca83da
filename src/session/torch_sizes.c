/* The sizes that torch.compile compiled a frame for. A guard on a size that fails names the size of
 * the cached entry and the one that came, so all sizes are known but those that a dynamic dimension
 * took. */
#include "ingest/torch.h"
#include "session/run_sizes_internal.h"

#include <inttypes.h>

static bool size_of(struct stet_view text, int64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || *out > INT64_MAX / 10 - 1)
            return false;
        *out = *out * 10 + (text.ptr[i] - '0');
    }
    return text.len && *out > 0;
}

/* A dimension of an argument of a code object, whichever process compiled it. */
static struct stet_size_function *function_of(struct stet_run_sizes *s,
                                              const struct stet_torch_place *code,
                                              const struct stet_torch_failure *g)
{
    struct stet_buf key = STET_BUF_INIT;
    struct stet_size_function *f = NULL;

    stet_buf_printf(&key, "torch\n%.*s:%" PRIu64 "\n%.*s\n%d", STET_FMT(code->file), code->line,
                    STET_FMT(g->source), g->dim);
    if (!key.failed)
        f = stet_session_sizes_function(s, stet_intern_add(&s->keys, stet_buf_as_view(&key)),
                                        code->function, 1);
    stet_buf_release(&key);
    if (f && !f->column_count) {
        f->column_names[0] = stet_arena_copy(&s->arena, g->source);
        f->column_dims[0] = (uint32_t)g->dim;
        f->column_count = 1;
        f->uncounted = true;
    }
    return s->arena.failed ? NULL : f;
}

static void count(struct stet_size_program *p, const struct stet_torch_compile *c)
{
    p->compiles++;
    p->stored += c->aot_cache == STET_CACHE_EARLIER || c->fx_cache == STET_CACHE_EARLIER;
    p->wait_s += (double)(c->forward.all + c->backward.all) / 1e6;
}

static bool became_dynamic(const struct stet_torch *t, const struct stet_torch_compile *c,
                           const struct stet_torch_failure *g)
{
    for (uint32_t i = c->drifts; i != STET_TORCH_NONE; i = t->drifts[i].next) {
        const struct stet_torch_drift *d = &t->drifts[i];

        if (!d->scalar && d->dim == g->dim && stet_ingest_guard_same_source(d->source, g->source))
            return true;
    }
    return false;
}

/* The size that came, and the one of the entry whose guard failed. `counted`: this compile was
 * counted for this dimension before. */
static bool take_failure(struct stet_run_sizes *s, const struct stet_torch *t,
                         const struct stet_torch_compile *c, const struct stet_torch_failure *g,
                         bool *counted)
{
    struct stet_size_function *f;
    struct stet_size_program *p;
    int64_t came, had;
    uint32_t entry;

    if (g->kind != STET_GUARD_SIZE || g->dim < 0 || !size_of(g->actual, &came) ||
        !size_of(g->expected, &had))
        return true;
    f = function_of(s, &t->frames[c->frame].code, g);
    p = f ? stet_session_sizes_program(s, f, &had) : NULL;
    entry = g->entry == STET_TORCH_NONE ? STET_TORCH_NONE
                                        : stet_torch_compile_at(t, c->frame, g->entry);
    if (p && !p->compiles && entry != STET_TORCH_NONE)
        count(p, &t->compiles[entry]);
    p = p ? stet_session_sizes_program(s, f, &came) : NULL;
    if (p && !*counted)
        count(p, c);
    *counted = true;
    if (f)
        f->dynamic |= became_dynamic(t, c, g);
    return p != NULL;
}

enum stet_rc stet_session_sizes_torch(struct stet_run_sizes *s, const struct stet_torch *t,
                                      struct stet_err *err)
{
    for (size_t i = 0; i < t->compile_count; i++) {
        const struct stet_torch_compile *c = &t->compiles[i];
        bool counted = false;

        for (uint32_t g = c->failures; g != STET_TORCH_NONE; g = t->failures[g].next)
            if (!take_failure(s, t, c, &t->failures[g], &counted))
                return stet_fail(err, STET_NO_MEMORY, "out of memory for the sizes of a run");
    }
    return STET_OK;
}
