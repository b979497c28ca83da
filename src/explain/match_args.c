/* Arguments stand for each other when the same is done with them; names and types decide ties. */
#include "explain/match.h"

#include "base/mem.h"
#include "explain/lcs.h"

#include <stdlib.h>

/* What is done with a value: by whom, as which operand. The sum does not depend on order. */
static uint64_t use_signature(const struct stet_side *s, const struct stet_value *v,
                              const uint64_t *of_op)
{
    uint64_t sum = 0;

    for (uint32_t i = s->use_start[v->id]; i < s->use_start[v->id + 1]; i++)
        sum += stet_mix(of_op[s->uses[i].op->id], s->uses[i].operand);
    return sum;
}

static uint64_t name_of(const struct stet_value *v)
{
    if (!v->loc || v->loc->kind != STET_LOC_NAME)
        return 0;
    return stet_hash_bytes(v->loc->text).lo;
}

static uint64_t type_of(const struct stet_value *v)
{
    struct stet_sink s;

    stet_sink_init(&s, NULL);
    stet_content_type(&s, v->type);
    return stet_sink_digest(&s).lo;
}

enum { LEVELS = 6 };

/* From the strictest to the loosest notion of "the same argument". */
static uint64_t key_of(const struct stet_side *s, const struct stet_value *v, int level)
{
    uint64_t where = level < 4 ? use_signature(s, v, s->place) : 0;
    uint64_t name = name_of(v);

    switch (level) {
    case 0:
        return stet_mix(stet_mix(where, name), type_of(v));
    case 1:
        return stet_mix(where, name);
    case 2:
        return stet_mix(where, type_of(v));
    case 3:
        return where;
    case 4:
        return stet_mix(use_signature(s, v, s->signature), name);
    default:
        return name ? name : stet_mix(use_signature(s, v, s->signature), type_of(v));
    }
}

/* Arguments already paired keep their pair and hold the others in order. */
static void fill_keys(struct stet_side *s, const struct stet_block *block, int level, bool in_b,
                      uint64_t *keys)
{
    for (uint32_t i = 0; i < block->arg_count; i++) {
        const struct stet_value *v = &block->args[i], *other = s->value_match[v->id];

        keys[i] = other ? stet_mix(99, in_b ? other->id : v->id) : key_of(s, v, level);
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

/* Keys that occur once on each side pair up wherever they stand: that finds what moved. */
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

enum stet_rc stet_match_arguments(struct stet_side *a, const struct stet_block *in_a,
                                  struct stet_side *b, const struct stet_block *in_b,
                                  struct stet_err *err)
{
    size_t n = in_a->arg_count, m = in_b->arg_count;
    uint64_t *keys = stet_mem_calloc(n + m + 1, sizeof *keys);
    uint32_t *pair = stet_mem_calloc(n + 1, sizeof *pair);
    bool fine = keys && pair;

    for (int level = 0; fine && level < LEVELS; level++) {
        fill_keys(a, in_a, level, false, keys);
        fill_keys(b, in_b, level, true, keys + n);
        fine = pair_unique(a, in_a, keys, b, in_b, keys + n);
        if (!fine)
            break;
        fill_keys(a, in_a, level, false, keys);
        fill_keys(b, in_b, level, true, keys + n);
        fine = pair_in_order(a, in_a, keys, b, in_b, keys + n, pair);
    }
    stet_mem_free(keys);
    stet_mem_free(pair);
    return fine ? STET_OK : stet_fail(err, STET_NO_MEMORY, "out of memory for comparing programs");
}
