/* Checks whether an entry from a tier may go into the store of this host. The views of the result
 * borrow from the entry's bytes. */
#ifndef STET_AGENT_CHECK_H
#define STET_AGENT_CHECK_H

#include "agent/tier.h"
#include "trust/archive.h"

/* An entry from outside, parsed. Views into its bytes. */
struct stet_outside {
    struct stet_archive archive; /* also set for a rejected entry, as far as it could be read */
    struct stet_archive_item item;
    enum stet_refusal why; /* it is refused */
    bool by_key;           /* a trusted key signed it; false if only STET_TRUST=any lets it in */
};

/* True if it may; otherwise the reason. Checks the signature by a trusted key, checksums, key, and
 * that the program in it is the one in its key. The layer that loads it compares again with the
 * program it needs. */
bool stet_outside_check(struct stet_outside *o, struct stet_view bytes, struct stet_hash key,
                        const struct stet_trust *t, struct stet_err *err);

#endif
