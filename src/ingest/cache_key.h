/* Explains why Inductor's cache missed: compares the components of torch's own keys with the
 * nearest earlier key. Results borrow from the model. */
#ifndef STET_INGEST_CACHE_KEY_H
#define STET_INGEST_CACHE_KEY_H

#include "ingest/torch.h"

enum { STET_CACHE_MOVES = 6 };

struct stet_cache_move {
    struct stet_view name;     /* torch's name: example_inputs[0], inductor_config[debug] */
    struct stet_view from, to; /* the part of the two values that differs; empty if it was added or
                                * removed */
};

struct stet_cache_why {
    const struct stet_torch_key *nearest; /* NULL: nothing to compare with */
    bool gone;                            /* it has exactly the same key: the entry was lost */
    bool part;                            /* the trace has more than is kept: components that
                                             were dropped were not compared */
    size_t count;                         /* of components that changed; the first ones are kept */
    struct stet_cache_move moves[STET_CACHE_MOVES];
};

/* For a key that missed. Borrowed from the model. */
void stet_torch_cache_why(const struct stet_torch *t, uint32_t key, struct stet_cache_why *why);
/* Compares two keys. */
void stet_torch_cache_compare(const struct stet_torch *t, uint32_t a, uint32_t b,
                              struct stet_cache_why *why);
/* What to do about a component. */
const char *stet_torch_cache_fix(struct stet_view component);
/* What to do about a graph that a cache rejects, by torch's reason. */
const char *stet_torch_bypass_fix(struct stet_view reason);
/* "a graph that was not there before", or what changed: "inductor_config[debug] False → True". */
void stet_torch_cache_words(const struct stet_cache_why *why, struct stet_buf *out);

/* Adds the keys of an earlier run, as keys that existed before. */
void stet_torch_know_keys(struct stet_torch *t, const struct stet_torch *earlier, const char *run);

#endif
