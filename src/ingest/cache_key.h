/* Why Inductor's cache did not have it: the components of torch's own keys, compared with the
 * nearest key that was there before. */
#ifndef STET_INGEST_CACHE_KEY_H
#define STET_INGEST_CACHE_KEY_H

#include "ingest/torch.h"

enum { STET_CACHE_MOVES = 6 };

struct stet_cache_move {
    struct stet_view name;     /* as torch calls it: example_inputs[0], inductor_config[debug] */
    struct stet_view from, to; /* what differs of the two values; empty when it came or went */
};

struct stet_cache_why {
    const struct stet_torch_key *nearest; /* NULL: nothing to compare with */
    bool gone;                            /* it has the very same key: the entry was lost */
    bool part;                            /* more was told than is kept: what is not kept, of
                                             the two lists or of all keys, was not compared */
    size_t count;                         /* of components that moved; the first ones are told */
    struct stet_cache_move moves[STET_CACHE_MOVES];
};

/* Of a key that missed. Borrowed from the model. */
void stet_torch_cache_why(const struct stet_torch *t, uint32_t key, struct stet_cache_why *why);
/* What to do about a component. */
const char *stet_torch_cache_fix(struct stet_view component);
/* What to do about a graph that a cache refuses, by torch's reason. */
const char *stet_torch_bypass_fix(struct stet_view reason);
/* "a graph that was not there before", or what moved: "inductor_config[debug] False → True". */
void stet_torch_cache_words(const struct stet_cache_why *why, struct stet_buf *out);

/* The keys of an earlier run, as things that were there before. */
void stet_torch_know_keys(struct stet_torch *t, const struct stet_torch *earlier, const char *run);

#endif
