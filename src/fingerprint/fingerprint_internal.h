/* The parts of a fingerprint, for this folder and the diff: canonical order and streams. */
#ifndef STET_FINGERPRINT_FINGERPRINT_INTERNAL_H
#define STET_FINGERPRINT_FINGERPRINT_INTERNAL_H

#include "fingerprint/canon.h"
#include "fingerprint/content.h"

/* Where the operations of a program come in canonical order: each after what it uses, reached from
 * the results backwards, constants and plumbing left out. Programs with equal skeletons have the
 * same operations at the same places. */
struct stet_canon_order {
    const struct stet_op **ops; /* may be NULL when nobody asks */
    uint32_t count;
};

/* One stream for each facet, one for the skeleton, and one for what only the key has, made ready by
 * the caller. */
enum { STET_SINK_SKELETON = STET_FACETS, STET_SINK_KEY, STET_SINKS };

/* Fills the streams (all but options); `order->ops` must have room for every operation. */
enum stet_rc stet_facets_make(struct stet_canon *c, struct stet_sink sinks[STET_SINKS],
                              struct stet_canon_order *order, struct stet_err *err);
/* stet_fingerprint_make for those who keep the tables and want the order as well. */
enum stet_rc stet_fingerprint_of(struct stet_fingerprint *out, struct stet_canon *c,
                                 struct stet_canon_order *order, struct stet_view options,
                                 struct stet_err *err);

#endif
