/* May an entry that a tier gave lie in the store of this host? */
#ifndef STET_AGENT_ENTRY_CHECK_H
#define STET_AGENT_ENTRY_CHECK_H

#include "agent/tier.h"
#include "trust/archive.h"

/* What came from outside, taken apart. Views into its bytes. */
struct stet_outside {
    struct stet_archive archive; /* also of one that is refused, as far as it could be read */
    struct stet_archive_item item;
    enum stet_refusal why; /* it is refused */
    bool by_key;           /* a trusted key signed it: not STET_TRUST=any alone lets it in */
};

/* True when it may; otherwise why not. Its signature by a trusted key, checksums, key, and that the
 * program in it is the one its key speaks of; who loads it compares once more with the program that
 * was asked for. */
bool stet_agent_outside_check(struct stet_outside *o, struct stet_view bytes, struct stet_hash key,
                              const struct stet_trust *t, struct stet_err *err);

#endif
