/* Chooses the earlier compile that a program is compared with: the same one, else one of its
 * skeleton with the fewest facets changed, else the most similar of its function. */
#include "explain/history_internal.h"

enum { LOOK_BACK = 48 };

/* Smaller is closer. Negative: another function that happens to have the same name. */
static double distance(const struct stet_traits *a, const struct stet_traits *b)
{
    uint32_t common, all;
    double lines = 1;

    if (a == b || stet_hash_eq(a->fingerprint.key, b->fingerprint.key))
        return 0;
    if (!a->readable || !b->readable)
        return 300;
    if (a->hlo != b->hlo)
        return -1;
    if (stet_hash_eq(a->fingerprint.skeleton, b->fingerprint.skeleton))
        return 1 + __builtin_popcount(stet_fingerprint_moved(&a->fingerprint, &b->fingerprint));
    common = stet_traits_common_lines(a, b);
    all = a->line_count + b->line_count - common;
    if (a->line_count && b->line_count && !common)
        return -1;
    if (all)
        lines = (double)common / all;
    if (!common && stet_traits_likeness(a, b) < 0.3)
        return -1;
    return 100 + 50 * (1 - stet_traits_likeness(a, b)) + 50 * (1 - lines) -
           (stet_hash_eq(a->inputs, b->inputs) ? 20 : 0);
}

/* The same bytes may be the program of two functions, or of an operation in two lines. */
static bool may_be_one(const struct stet_sighting *a, const struct stet_sighting *b)
{
    if (!a->function || !b->function)
        return true;
    return a->library == b->library &&
           (a->library ? !a->line || !b->line || a->line == b->line : a->function == b->function);
}

/* Were the two compiles reached through the same lines of the user's? True if no line is known. */
static bool same_way(const struct stet_sighting *a, const struct stet_sighting *b)
{
    if (!a->lines.count || !b->lines.count)
        return !a->trigger.line || !b->trigger.line || stet_place_eq(&a->trigger, &b->trigger);
    for (size_t i = 0; i < a->lines.count && i < b->lines.count; i++)
        if (a->lines.items[i].line != b->lines.items[i].line ||
            !stet_view_eq(a->lines.items[i].file, b->lines.items[i].file))
            return false;
    return a->lines.count == b->lines.count;
}

/* A factory makes functions of one definition around different objects. Two of them that are
 * reached through different lines, or hold objects of different classes, are two functions, unless
 * their programs are the same. */
static bool from_a_factory(const struct stet_sighting *a, const struct stet_sighting *b)
{
    return !a->past && !b->past && a->process == b->process && a->object && b->object &&
           a->object != b->object && !a->library && (a->held != b->held || !same_way(a, b));
}

/* A library's function that is called in two lines (a solver, with other settings) is used for two
 * things. */
static bool in_another_line(const struct stet_sighting *a, const struct stet_sighting *b)
{
    return !a->past && a->borrowed && b->borrowed && a->trigger.line && b->trigger.line &&
           !stet_place_eq(&a->trigger, &b->trigger);
}

static void try(const struct stet_history *h, const struct stet_sighting *s, uint32_t number,
                double *best, uint32_t *found)
{
    double d;

    if (number == STET_NONE || !may_be_one(&h->sightings[number], s))
        return;
    d = distance(h->sightings[number].traits, s->traits);
    if (d > 0 &&
        (from_a_factory(&h->sightings[number], s) || in_another_line(&h->sightings[number], s)))
        return;
    if (d >= 0 && (*found == STET_NONE || d < *best)) {
        *best = d;
        *found = number;
    }
}

/* A program that was compiled ahead (`.lower().compile()`) has no call, and its function is not
 * known. A call of that name with the same skeleton is the same program again. */
static uint32_t find_ahead(const struct stet_history *h, const struct stet_sighting *s,
                           uint64_t process)
{
    struct stet_sighting ahead = *s;
    uint32_t found = STET_NONE;
    double best = 0;

    if (!s->function || s->library)
        return STET_NONE;
    ahead.function = 0;
    try(h, s,
        stet_map_get(&h->index->skeletons, stet_history_key(stet_history_group(&ahead, process),
                                                            s->traits->fingerprint.skeleton)),
        &best, &found);
    return found;
}

static uint32_t find_in(const struct stet_history *h, const struct stet_sighting *s,
                        uint64_t process)
{
    uint64_t group = stet_history_group(s, process);
    uint32_t found = STET_NONE, at;
    double best = 0;

    if (!s->traits->readable)
        return stet_map_get(&h->index->groups, group);
    try(h, s, stet_map_get(&h->index->keys, stet_history_key(process, s->traits->fingerprint.key)),
        &best, &found);
    if (found != STET_NONE)
        return found;
    try(h, s,
        stet_map_get(&h->index->skeletons,
                     stet_history_key(group, s->traits->fingerprint.skeleton)),
        &best, &found);
    at = stet_map_get(&h->index->groups, group);
    for (int i = 0; i < LOOK_BACK && at != STET_NONE; i++, at = h->sightings[at].before)
        try(h, s, at, &best, &found);
    return found != STET_NONE ? found : find_ahead(h, s, process);
}

uint32_t stet_nearest_find(const struct stet_history *h, const struct stet_sighting *s)
{
    uint32_t found = find_in(h, s, s->process);

    if (found == STET_NONE && !s->past)
        found = find_in(h, s, STET_PAST);
    return found;
}
