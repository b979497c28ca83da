/* Records where the entries of a store came from.
 *
 * An entry that came from another host, by a tier or an archive, has a seal in the same store: the
 * head of its archive, with its maker's signature. The entry is passed on under that signature and
 * never under this user's. An entry without a seal was made here.
 *
 * <store>/seals/<2 hex>/<32 hex> is named by the digest of the entry's bytes, so it is found for
 * these bytes alone. An entry that is compiled again is therefore this user's own, and two writers
 * of one key cannot confuse their seals. */
#ifndef STET_TRUST_SEAL_H
#define STET_TRUST_SEAL_H

#include "trust/archive.h"

enum stet_origin {
    STET_ORIGIN_HERE,     /* made on this host: this user may sign it */
    STET_ORIGIN_SEALED,   /* its maker's signature is in the seal */
    STET_ORIGIN_NAMED,    /* came in an archive of several: signed there, without a signature of its
                           * own */
    STET_ORIGIN_UNSIGNED, /* nobody signed it: --unsigned, STET_TRUST=any */
};

struct stet_seal {
    char bytes[STET_ARCHIVE_HEAD_OF_ONE];
    enum stet_origin origin;
    struct stet_public signer; /* SEALED, NAMED */
};

/* The seal of an archive's entry. */
void stet_seal_make(struct stet_seal *out, const struct stet_archive *a,
                    const struct stet_archive_item *item);
/* Puts it into the store. Call it before the entry is put: an entry from elsewhere must never be
 * without a seal. */
enum stet_rc stet_seal_put(const struct stet_store *s, const struct stet_seal *seal,
                           struct stet_err *err);
/* Is it the seal of these bytes of an entry? */
bool stet_seal_fits(const struct stet_seal *seal, struct stet_view entry);
/* The seal of these bytes; its origin is STET_ORIGIN_HERE if there is none. */
void stet_seal_find(const struct stet_store *s, struct stet_view entry, struct stet_seal *out);

/* Removes the entries that came from this signer, and their seals; returns how many. */
size_t stet_seal_remove_signer(const struct stet_store *s, const struct stet_public *signer);
/* Removes seals whose entries are gone. */
void stet_seal_sweep(const struct stet_store *s);

#endif
