/* Entries on their way to another machine, and from one: what may be signed, and what is taken in.
 */
#ifndef STET_TRUST_ARCHIVE_TRANSFER_H
#define STET_TRUST_ARCHIVE_TRANSFER_H

#include "base/mapped.h"
#include "trust/seal.h"

/* The entries that go out. */
struct stet_outgoing {
    struct stet_mapped *files; /* entries come by rename and are never written in place */
    struct stet_archive_item *items;
    size_t count, skipped;
    size_t foreign; /* left out: made elsewhere, so this user may not sign them */
    uint64_t bytes;
};

/* Room for this many entries. Release it in any case. */
enum stet_rc stet_trust_transfer_reserve(struct stet_outgoing *o, size_t room,
                                         struct stet_err *err);
void stet_trust_transfer_release(struct stet_outgoing *o);
/* Adds an entry of the store. Without a signer nothing is signed, and entries of every origin go.
 */
void stet_trust_transfer_add(const struct stet_store *s, const struct stet_signer *signer,
                             struct stet_outgoing *o, struct stet_hash key);
/* Writes `head`, as stet_trust_archive_head makes it, and the entries. */
enum stet_rc stet_trust_transfer_write(const char *path, struct stet_view head,
                                       const struct stet_outgoing *o, struct stet_err *err);

struct stet_incoming {
    size_t count, taken, there, bad;
    char first_bad[256];
};

/* Puts the entries of an archive that is trusted into the store. */
enum stet_rc stet_trust_transfer_import(const struct stet_store *s, struct stet_archive *a,
                                        struct stet_incoming *in, struct stet_err *err);

#endif
