/* Arguments correspond to each other if they have the same uses; names and types decide ties. */
#include "explain/match.h"

#include "base/mem.h"
#include "explain/lcs.h"

#include <stdlib.h>

/* What distinguishes one argument from another; collected once, because an argument may have a
 * million uses. */
struct traits {
    uint64_t uses;   /* all uses: operation and operand number, in any order */
    uint64_t a_use;  /* one of its uses, chosen so that it mostly survives when others come or go */
    uint64_t a_kind; /* the same without places in the source */
    uint64_t name, type;
};

static uint64_t name_of(const struct stet_value *v)
{
    if (!stet_value_loc(v) || stet_value_loc(v)->kind != STET_LOC_NAME)
        return 0;
    return stet_hash_bytes(stet_value_loc(v)->text).lo | 1;
}

static struct traits traits_of(struct stet_side *s, const struct stet_value *v)
{
    const struct stet_type_memo *type = stet_canon_type(&s->canon, v->type);
    struct traits t = {.uses = 0, .a_use = UINT64_MAX, .a_kind = UINT64_MAX};

    for (uint32_t i = s->use_start[v->id]; i < s->use_start[v->id + 1]; i++) {
        const struct stet_use *use = &s->uses[i];
        uint64_t placed = stet_mix(s->spot[use->op->id], use->operand);
        uint64_t bare = stet_mix(s->own[use->op->id], use->operand);

        t.uses += placed;
        t.a_use = placed < t.a_use ? placed : t.a_use;
        t.a_kind = bare < t.a_kind ? bare : t.a_kind;
    }
    t.name = name_of(v);
    t.type = stet_hash_bytes(stet_view_of(type->content.bytes, type->content.length)).lo;
    return t;
}

/* From the strictest to the loosest notion of "the same argument". */
static uint64_t key_of(const struct traits *t, int level)
{
    switch (level) {
    case 0:
        return stet_mix(stet_mix(t->uses, t->name), t->type);
    case 1:
        return stet_mix(t->uses, t->name);
    case 2:
        return stet_mix(t->uses, t->type);
    case 3:
        return t->uses;
    case 4:
        return stet_mix(t->a_use, t->name);
    case 5:
        return t->name ? t->name : stet_mix(t->a_use, t->type);
    case 6:
        return stet_mix(t->a_kind, t->type);
    default:
        return stet_mix(t->type, t->name != 0); /* a lost name makes another argument */
    }
}

enum { LEVELS = 8 };

/* Arguments already paired keep their pair and hold the others in order. */
static void fill_keys(struct stet_side *s, const struct stet_block *block,
                      const struct traits *traits, int level, bool in_b, uint64_t *keys)
{
    for (uint32_t i = 0; i < block->arg_count; i++) {
        const struct stet_value *v = &block->args[i], *other = s->value_match[v->id];

        keys[i] = other ? stet_mix(99, in_b ? other->id : v->id) : key_of(&traits[i], level);
    }
}

struct keyed {
    uint64_t key;
    uint32_t index;
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *l = left, *r = right;

    if (l->key != r->key)
        return l->key < r->key ? -1 : 1;
    return l->index < r->index ? -1 : l->index > r->index;
}

/* Keys that occur once on each side are paired wherever they are: that finds what moved. */
static bool pair_unique(struct stet_side *a, const struct stet_block *in_a, const uint64_t *a_keys,
                        struct stet_side *b, const struct stet_block *in_b, const uint64_t *b_keys)
{
    uint32_t n = in_a->arg_count, m = in_b->arg_count, j = 0;
    struct keyed *all = stet_mem_calloc((size_t)n + m + 1, sizeof *all), *other = all + n;

    if (!all)
        return false;
    for (uint32_t i = 0; i < n; i++)
        all[i] = (struct keyed){a_keys[i], i};
    for (uint32_t i = 0; i < m; i++)
        other[i] = (struct keyed){b_keys[i], i};
    qsort(all, n, sizeof *all, by_key);
    qsort(other, m, sizeof *other, by_key);
    for (uint32_t i = 0; i < n; i++) {
        const struct stet_value *va = &in_a->args[all[i].index];
        bool alone = (i == 0 || all[i - 1].key != all[i].key) &&
                     (i + 1 == n || all[i + 1].key != all[i].key);

        while (j < m && other[j].key < all[i].key)
            j++;
        if (!alone || j == m || other[j].key != all[i].key || a->value_match[va->id] ||
            (j + 1 < m && other[j + 1].key == other[j].key))
            continue;
        stet_match_values(a, va, b, &in_b->args[other[j].index]);
    }
    stet_mem_free(all);
    return true;
}

/* The rest in order. */
static bool pair_in_order(struct stet_side *a, const struct stet_block *in_a,
                          const uint64_t *a_keys, struct stet_side *b,
                          const struct stet_block *in_b, const uint64_t *b_keys, uint32_t *pair)
{
    if (!stet_lcs(a_keys, in_a->arg_count, b_keys, in_b->arg_count, pair))
        return false;
    for (uint32_t i = 0; i < in_a->arg_count; i++) {
        const struct stet_value *va = &in_a->args[i];

        if (pair[i] == STET_LCS_NONE || a->value_match[va->id] ||
            b->value_match[in_b->args[pair[i]].id])
            continue;
        stet_match_values(a, va, b, &in_b->args[pair[i]]);
    }
    return true;
}

static bool any_free(const struct stet_side *s, const struct stet_block *block)
{
    for (uint32_t i = 0; i < block->arg_count; i++)
        if (!s->value_match[block->args[i].id])
            return true;
    return false;
}

enum stet_rc stet_match_arguments(struct stet_side *a, const struct stet_block *in_a,
                                  struct stet_side *b, const struct stet_block *in_b,
                                  struct stet_err *err)
{
    size_t n = in_a->arg_count, m = in_b->arg_count;
    uint64_t *keys = stet_mem_calloc(n + m + 1, sizeof *keys);
    uint32_t *pair = stet_mem_calloc(n + 1, sizeof *pair);
    struct traits *traits = stet_mem_calloc(n + m + 1, sizeof *traits);
    bool fine = keys && pair && traits;

    for (size_t i = 0; fine && i < n; i++)
        traits[i] = traits_of(a, &in_a->args[i]);
    for (size_t i = 0; fine && i < m; i++)
        traits[n + i] = traits_of(b, &in_b->args[i]);
    for (int level = 0; fine && level < LEVELS && any_free(a, in_a) && any_free(b, in_b); level++) {
        fill_keys(a, in_a, traits, level, false, keys);
        fill_keys(b, in_b, traits + n, level, true, keys + n);
        fine = level == LEVELS - 1 || pair_unique(a, in_a, keys, b, in_b, keys + n);
        if (!fine)
            break;
        fill_keys(a, in_a, traits, level, false, keys);
        fill_keys(b, in_b, traits + n, level, true, keys + n);
        fine = pair_in_order(a, in_a, keys, b, in_b, keys + n, pair);
    }
    stet_mem_free(keys);
    stet_mem_free(pair);
    stet_mem_free(traits);
    return fine ? STET_OK : stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
}
