/* The parts of a fingerprint, for this folder and the diff: canonical order and streams. */
#ifndef STET_FINGERPRINT_FINGERPRINT_INTERNAL_H
#define STET_FINGERPRINT_FINGERPRINT_INTERNAL_H

#include "fingerprint/canon.h"
#include "fingerprint/content.h"

/* The operations of a program in canonical order: each after what it uses, reached backwards from
 * the results, without constants and plumbing. Programs with equal skeletons have the same
 * operations at the same positions. */
struct stet_canon_order {
    const struct stet_op **ops; /* may be NULL if the caller does not need it */
    uint32_t count;
};

/* One stream for each facet, one for the skeleton, and one for what only the key contains. The
 * caller initialises them. */
enum { STET_SINK_SKELETON = STET_FACETS, STET_SINK_KEY, STET_SINKS };

/* Fills the streams (all but options); `order->ops` must have room for every operation. */
enum stet_rc stet_facets_make(struct stet_canon *c, struct stet_sink sinks[STET_SINKS],
                              struct stet_canon_order *order, struct stet_err *err);
/* stet_fingerprint_make for callers that keep the tables and also need the order. */
enum stet_rc stet_fingerprint_of(struct stet_fingerprint *out, struct stet_canon *c,
                                 struct stet_canon_order *order, struct stet_view options,
                                 struct stet_err *err);

#endif
