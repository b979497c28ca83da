/* Finds a rank that compiles what the others do not, which is the beginning of a hang. */
#include "ingest/why.h"

static bool same_code(const struct stet_torch_place *a, const struct stet_torch_place *b)
{
    return a->line == b->line && stet_view_eq(a->file, b->file) &&
           stet_view_eq(a->function, b->function);
}

/* How often a process has compiled the same code; 0 if it has not reached it yet. */
static uint32_t compiles_of(const struct stet_torch *t, uint32_t process,
                            const struct stet_torch_place *code)
{
    uint32_t most = 0;

    for (size_t i = 0; i < t->frame_count; i++) {
        if (t->frames[i].process == process && same_code(&t->frames[i].code, code) &&
            t->frames[i].compiles > most)
            most = t->frames[i].compiles;
    }
    return most;
}

bool stet_torch_diverges(const struct stet_torch *t, uint32_t compile, uint32_t *with,
                         uint32_t *without, int64_t *lowest)
{
    const struct stet_torch_compile *c = &t->compiles[compile];
    const struct stet_torch_frame *f = &t->frames[c->frame];

    *with = *without = 0;
    *lowest = -1;
    if (t->processes[f->process].rank < 0)
        return false;
    for (uint32_t i = 0; i < t->process_count; i++) {
        uint32_t n = t->processes[i].rank >= 0 ? compiles_of(t, i, &f->code) : 0;

        *with += n > c->number;
        if (!n || n > c->number)
            continue;
        ++*without;
        if (*lowest < 0 || t->processes[i].rank < *lowest)
            *lowest = t->processes[i].rank;
    }
    return *without > 0;
}
