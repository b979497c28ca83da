/* Ranks that run together should compile the same: which program one rank has alone. */
#include "explain/history_internal.h"

#include "base/mem.h"

/* By process: its rank, or -1. NULL when there are not several ranks, or no memory. */
static int64_t *ranks_of(const struct stet_history *h)
{
    uint32_t count = h->index->process_count;
    int64_t *ranks = count > 1 ? stet_mem_calloc(count, sizeof *ranks) : NULL, first = -1;
    bool several = false;

    for (uint32_t i = 0; ranks && i < count; i++)
        ranks[i] = -1;
    for (uint32_t i = 0; ranks && i < h->sighting_count; i++) {
        const struct stet_sighting *s = &h->sightings[i];

        if (s->past || s->process >= count || s->rank < 0)
            continue;
        ranks[s->process] = s->rank;
        several |= first >= 0 && s->rank != first;
        first = first >= 0 ? first : s->rank;
    }
    if (several)
        return ranks;
    stet_mem_free(ranks);
    return NULL;
}

static bool has_program(const struct stet_history *h, uint32_t process, struct stet_hash key)
{
    return stet_map_get(&h->index->keys, stet_history_key(process, key)) != STET_NONE;
}

/* Other ranks that compiled the function, the program before this one too, and not this one; 0 when
 * any of them has it. */
static uint32_t ranks_without(const struct stet_history *h, const struct stet_finding *f,
                              const int64_t *ranks)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    const struct stet_traits *before = h->sightings[f->against].traits;
    uint32_t without = 0;

    for (uint32_t p = 0; p < h->index->process_count; p++) {
        if (ranks[p] < 0 || ranks[p] == s->rank ||
            stet_map_get(&h->index->groups, stet_history_group(s, p)) == STET_NONE)
            continue;
        if (has_program(h, p, s->traits->fingerprint.key))
            return 0;
        without += before->readable && has_program(h, p, before->fingerprint.key);
    }
    return without;
}

void stet_ranks_tell(struct stet_history *h)
{
    int64_t *ranks = ranks_of(h);

    for (uint32_t i = 0; ranks && i < h->finding_count; i++) {
        struct stet_finding *f = &h->findings[i];
        const struct stet_sighting *s = stet_sighting_of(h, f);
        uint32_t without = 0;

        if (f->reason < STET_REASONS && f->against != STET_NONE && !f->facts.past && s->rank >= 0 &&
            s->traits->readable && !stet_history_is_eager(s))
            without = ranks_without(h, f, ranks);
        if (!without)
            continue;
        stet_finding_also(f, STET_REASON_RANK_DIVERGENCE);
        f->evidence = stet_arena_printf(
            &h->arena, "%.*s; rank %lld alone has this program, %u other%s the one before",
            STET_FMT(f->evidence), (long long)s->rank, without, without == 1 ? " has" : "s have");
    }
    stet_mem_free(ranks);
}
