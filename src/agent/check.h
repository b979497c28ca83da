/* May an entry that a tier gave lie in the store of this host? */
#ifndef STET_AGENT_CHECK_H
#define STET_AGENT_CHECK_H

#include "agent/tier.h"
#include "trust/archive.h"

/* True when it may, and the entry itself, a view into `bytes`; otherwise why not. Its signature by
 * a trusted key, checksums, key, and that the program in it is the one its key speaks of; who loads
 * it compares once more with the program that was asked for. */
bool stet_outside_check(struct stet_view bytes, struct stet_hash key, const struct stet_trust *t,
                        struct stet_view *entry, enum stet_refusal *why, struct stet_err *err);

#endif
