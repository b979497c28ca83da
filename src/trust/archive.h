/* Entries on their way between machines: a head that names and signs them, then the entries as they
 * lie on disk. One entry sent to a remote store is an archive of one. docs/formats.md has the
 * layout.
 *
 * There is nothing in it but entries: no names, no paths. Where an entry goes follows from what it
 * holds. */
#ifndef STET_TRUST_ARCHIVE_H
#define STET_TRUST_ARCHIVE_H

#include "store/store.h"
#include "trust/keys.h"

#define STET_ARCHIVE_VERSION 1

/* Bytes of the head of an archive of one, signature and all. */
enum { STET_ARCHIVE_HEAD_OF_ONE = 56 + 56 + 64 };

/* ---- writing ---- */

struct stet_archive_item {
    struct stet_hash key;
    struct stet_view bytes; /* of the entry's file; borrowed */
};

/* The head of an archive of these; the items' bytes follow in the same order. Without a signer it
 * is unsigned, and only those who trust anyone will take it. */
enum stet_rc stet_trust_archive_head(struct stet_buf *out, const struct stet_archive_item *items,
                                     size_t count, const struct stet_signer *signer,
                                     struct stet_err *err);
/* One entry for a remote store: head and bytes. */
enum stet_rc stet_trust_archive_seal(struct stet_buf *out, struct stet_view entry,
                                     const struct stet_signer *signer, struct stet_err *err);

/* ---- reading ---- */

struct stet_archive {
    struct stet_view head;        /* with the signature: of an archive of one, a seal (seal.h) */
    struct stet_view table, body; /* what is left of them: views into the bytes given */
    size_t count;
    bool is_signed;
    struct stet_public signer; /* also when it is refused */
};

/* The bytes must not change while they are read: a copy of a file, not a mapping of it.
 *
 * Whether the head may be believed: STET_REFUSED when it is unsigned, or its signer is not trusted,
 * and `t` does not trust anyone; STET_BAD_INPUT when it is damaged or its signature is wrong.
 * Nothing else in the archive has been looked at yet. */
enum stet_rc stet_trust_archive_read(struct stet_archive *a, struct stet_view bytes,
                                     const struct stet_trust *t, struct stet_err *err);
/* The next entry, checked against the head and by its own checksums; a view into the archive's
 * bytes. STET_NOT_FOUND after the last; STET_BAD_INPUT for one that was changed, and the next may
 * be asked for. */
enum stet_rc stet_trust_archive_next(struct stet_archive *a, struct stet_archive_item *out,
                                     struct stet_err *err);

/* The gate for bytes from a remote store: an archive of one, trusted, whose entry has this very
 * key, is put into the store. `s` may be NULL: then it is only checked. */
enum stet_rc stet_trust_archive_admit(const struct stet_store *s, const struct stet_trust *t,
                                      struct stet_hash key, struct stet_view bytes,
                                      struct stet_err *err);

#endif
