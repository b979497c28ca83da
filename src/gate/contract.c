/* The model: growing it, sizes, names of clauses. */
#include "gate/contract.h"

#include "base/arena_array.h"

static const struct {
    const char *name, *about;
    bool travels;
} clauses[] = {
#define TARGET                        true
#define OWN                           false
#define LATE                          true
#define CLAUSE(id, name, what, holds) {name, what, holds},
#include "gate/clauses.def"
#undef CLAUSE
};

const char *stet_gate_clause_name(enum stet_clause c)
{
    return c < STET_CLAUSES ? clauses[c].name : "none";
}

const char *stet_gate_clause_about(enum stet_clause c)
{
    return c < STET_CLAUSES ? clauses[c].about : "";
}

bool stet_gate_clause_travels(enum stet_clause c)
{
    /* The bundle is that of the backend. */
    return c < STET_CLAUSES && clauses[c].travels && c != STET_CLAUSE_BUNDLE;
}

void stet_gate_contract_init(struct stet_contract *c)
{
    *c = (struct stet_contract){.terms = {.settled = STET_NO_BUDGET, .waited_ns = STET_NO_BUDGET}};
    stet_arena_init(&c->arena, (size_t)256 << 20);
}

void stet_gate_contract_release(struct stet_contract *c)
{
    stet_arena_release(&c->arena);
    *c = (struct stet_contract){0};
}

struct stet_family *stet_gate_contract_add_family(struct stet_contract *c)
{
    struct stet_family *all = stet_arena_grow(&c->arena, c->families, c->family_count,
                                              &c->family_room, sizeof *all),
                       *f;

    if (!all)
        return NULL;
    c->families = all;
    f = &all[c->family_count++];
    *f = (struct stet_family){.programs = STET_NO_BUDGET,
                              .graphs = STET_NO_BUDGET,
                              .options = STET_NO_BUDGET,
                              .compiles = STET_NO_BUDGET,
                              .terms = {.settled = STET_NO_BUDGET, .waited_ns = STET_NO_BUDGET}};
    return f;
}

struct stet_clause_frame *stet_gate_contract_add_frame(struct stet_contract *c)
{
    struct stet_clause_frame *all =
        stet_arena_grow(&c->arena, c->frames, c->frame_count, &c->frame_room, sizeof *all);

    if (!all)
        return NULL;
    c->frames = all;
    all[c->frame_count] =
        (struct stet_clause_frame){.programs = STET_NO_BUDGET, .breaks = STET_NO_BUDGET};
    return &all[c->frame_count++];
}

struct stet_clause_arg *stet_gate_family_add_arg(struct stet_family *f, struct stet_arena *arena)
{
    struct stet_clause_arg *all =
        stet_arena_grow(arena, f->args, f->arg_count, &f->arg_room, sizeof *all);

    if (!all)
        return NULL;
    f->args = all;
    all[f->arg_count] = (struct stet_clause_arg){0};
    return &all[f->arg_count++];
}

struct stet_pair *stet_gate_pairs_add(struct stet_pairs *p, struct stet_arena *arena)
{
    struct stet_pair *all = stet_arena_grow(arena, p->items, p->count, &p->room, sizeof *all);

    if (!all)
        return NULL;
    p->items = all;
    all[p->count] = (struct stet_pair){0};
    return &all[p->count++];
}

/* ---- sizes ---- */

static uint32_t place_of(const struct stet_dim *d, int64_t size)
{
    uint32_t low = 0, high = d->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (d->values[middle] < size)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool stet_gate_dim_allows(const struct stet_dim *d, int64_t size)
{
    uint32_t at;

    switch (d->kind) {
    case STET_DIM_ANY:
        return true;
    case STET_DIM_RANGE:
        return size >= d->low && size <= d->high && (size - d->low) % d->step == 0;
    case STET_DIM_SET:
        break;
    }
    at = place_of(d, size);
    return at < d->count && d->values[at] == size;
}

bool stet_gate_dim_add(struct stet_dim *d, int64_t size, struct stet_arena *arena)
{
    int64_t *all;
    uint32_t at;

    if (stet_gate_dim_allows(d, size))
        return true;
    if (d->kind == STET_DIM_RANGE) { /* no set can express it: the range grows */
        d->low = size < d->low ? size : d->low;
        d->high = size > d->high ? size : d->high;
        d->step = 1;
        return true;
    }
    all = stet_arena_grow(arena, d->values, d->count, &d->room, sizeof *all);
    if (!all)
        return false;
    d->values = all;
    at = place_of(d, size);
    memmove(all + at + 1, all + at, (d->count - at) * sizeof *all);
    all[at] = size;
    d->count++;
    return true;
}
