/* The values that a frame's entries were compiled for, over time. */
#include "ingest/why.h"

/* The failures of one compile that concern an entry: the entry had `expected`, and the compile
 * itself has `actual`. */
static bool told_by(const struct stet_torch *t, uint32_t c, uint32_t entry,
                    const struct stet_torch_why *why, struct stet_view *out)
{
    bool own = t->compiles[c].number == entry;

    for (uint32_t i = t->compiles[c].failures; i != STET_TORCH_NONE; i = t->failures[i].next) {
        const struct stet_torch_failure *g = &t->failures[i];
        bool against = g->entry == entry;

        if (!own && !against)
            continue;
        if (!stet_view_eq(g->source, why->what) || g->dim != why->dim ||
            (g->kind != why->guard.kind &&
             !(g->kind == STET_GUARD_SIZE && why->guard.kind == STET_GUARD_SHAPE)))
            continue;
        *out = against && g->kind != STET_GUARD_SHAPE ? g->expected : own ? g->actual : *out;
        if (out->len)
            return true;
    }
    return false;
}

/* Dynamo's own note of what changed, in the compile that changed it. */
static bool noted(const struct stet_torch *t, uint32_t c, const struct stet_torch_why *why,
                  struct stet_view *out)
{
    bool scalar = why->guard.kind == STET_GUARD_EQUALS;

    if (!why->source.len || (!scalar && why->dim < 0))
        return false;
    for (uint32_t i = t->compiles[c].drifts; i != STET_TORCH_NONE; i = t->drifts[i].next) {
        const struct stet_torch_drift *d = &t->drifts[i];

        if (stet_view_eq(d->source, why->source) && d->scalar == scalar &&
            (scalar || d->dim == why->dim) && d->to.len) {
            *out = d->to;
            return true;
        }
    }
    return false;
}

bool stet_torch_value(const struct stet_torch *t, uint32_t compile, uint32_t entry,
                      const struct stet_torch_why *why, struct stet_view *out)
{
    enum { NEAR = 16 };
    uint32_t frame = t->compiles[compile].frame, last = t->compiles[t->frames[frame].last].number;

    *out = (struct stet_view){0};
    /* The entry itself and the next few, which fail against it if any does; a frame of thousands is
     * not searched to its end. */
    for (uint32_t number = entry; number <= last && number - entry <= NEAR; number++) {
        uint32_t c = stet_torch_compile_at(t, frame, number);

        if (c != STET_TORCH_NONE &&
            (told_by(t, c, entry, why, out) || (number == entry && noted(t, c, why, out))))
            return true;
    }
    return false;
}

bool stet_torch_next_value(const struct stet_torch *t, uint32_t compile,
                           const struct stet_torch_why *why, size_t most, uint32_t *at,
                           struct stet_view *out)
{
    uint32_t last = t->compiles[compile].number;
    uint32_t first = last + 1 > most ? last + 1 - (uint32_t)most : 0;

    if (!why->has_guard || !why->what.len)
        return false;
    for (*at = *at < first ? first : *at; *at <= last;)
        if (stet_torch_value(t, compile, (*at)++, why, out))
            return true;
    return false;
}

size_t stet_torch_values(const struct stet_torch *t, uint32_t compile,
                         const struct stet_torch_why *why, size_t most, struct stet_buf *out)
{
    struct stet_view v;
    size_t n = 0;

    for (uint32_t at = 0; stet_torch_next_value(t, compile, why, most, &at, &v); n++) {
        if (n)
            stet_buf_str(out, ", ");
        stet_buf_view(out, v);
    }
    return n;
}
