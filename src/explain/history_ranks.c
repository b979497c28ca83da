/* Ranks that run together should compile the same: finds a program that one rank has alone. */
#include "explain/history_internal.h"

#include "base/mem.h"

/* Returns the rank of each process, or -1. NULL without several ranks, or when out of memory. */
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

/* Counts the other ranks that compiled the function and the program before this one, but not this
 * one; 0 when any of them has it. */
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

/* Counts the other ranks that run the same loop and never compile this function; 0 when any of them
 * does. */
static uint32_t ranks_beside(const struct stet_history *h, const struct stet_finding *f,
                             const int64_t *ranks)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    uint32_t loop = stet_history_loop(h, s->process), beside = 0;
    const struct stet_sighting *first = loop ? &h->sightings[loop - 1] : s;

    if (first->group == s->group || !first->traits->readable)
        return 0;
    for (uint32_t p = 0; p < h->index->process_count; p++) {
        if (ranks[p] < 0 || ranks[p] == s->rank)
            continue;
        if (stet_map_get(&h->index->groups, stet_history_group(s, p)) != STET_NONE)
            return 0;
        beside += has_program(h, p, first->traits->fingerprint.key);
    }
    return beside;
}

static void tell_program(struct stet_history *h, struct stet_finding *f, const int64_t *ranks)
{
    uint32_t without = f->cause != STET_CAUSE_NONE ? ranks_without(h, f, ranks) : 0;

    if (!without)
        return;
    stet_finding_also(f, STET_CAUSE_RANK_DIVERGENCE);
    f->evidence = stet_arena_printf(
        &h->arena, "%.*s; rank %lld alone has this program, %u other%s the one before",
        STET_FMT(f->evidence), (long long)stet_sighting_of(h, f)->rank, without,
        without == 1 ? " has" : "s have");
}

/* A first program is not a recompile. It raises no alarm unless it needs the other ranks, and they
 * continue without it. One rank alone may evaluate or log. */
static void tell_function(struct stet_history *h, struct stet_finding *f, const int64_t *ranks)
{
    const struct stet_sighting *s = stet_sighting_of(h, f);
    uint32_t beside = s->shared && s->traits->meets ? ranks_beside(h, f, ranks) : 0;

    if (!beside)
        return;
    stet_finding_hear(
        h, f,
        (struct stet_finding_answer){STET_CAUSE_RANK_DIVERGENCE, .rests = STET_RESTS_RUN,
                                     .sure = STET_SURE_LIKELY, .keep = true},
        "rank %lld alone compiled this function, which needs the other ranks; %u other%s the same "
        "loop and did not",
        (long long)s->rank, beside, beside == 1 ? " runs" : "s run");
    f->origin = s->traits->place;
    f->benign = false;
    stet_fixes_write(h, f);
}

void stet_history_tell_ranks(struct stet_history *h)
{
    int64_t *ranks = ranks_of(h);

    for (uint32_t i = 0; ranks && i < h->finding_count; i++) {
        struct stet_finding *f = &h->findings[i];
        const struct stet_sighting *s = stet_sighting_of(h, f);

        if (f->facts.past || s->rank < 0 || s->agreed || !s->traits->readable ||
            stet_history_is_eager(s))
            continue;
        if (f->against == STET_NONE)
            tell_function(h, f, ranks);
        else
            tell_program(h, f, ranks);
    }
    stet_mem_free(ranks);
}
