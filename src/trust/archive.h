/* Entries on their way between machines: a head that lists and signs them, then the entries as they
 * are on disk. An entry in a remote store is an archive with one entry. docs/formats.md has the
 * layout.
 *
 * An archive contains only entries, no names and no paths: the content of an entry determines its
 * place. */
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
 * is unsigned, and only users who trust anyone will accept it. */
enum stet_rc stet_trust_archive_head(struct stet_buf *out, const struct stet_archive_item *items,
                                     size_t count, const struct stet_signer *signer,
                                     struct stet_err *err);
/* Writes an archive of one entry, signed, as a tier stores it. */
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

/* The bytes must not change while they are read: use a copy of a file, not a mapping.
 *
 * Checks the head: STET_REFUSED if it is unsigned, or its signer is not trusted, and `t` does not
 * trust anyone; STET_BAD_INPUT if it is damaged or its signature is wrong. Nothing else in the
 * archive has been read yet. */
enum stet_rc stet_trust_archive_read(struct stet_archive *a, struct stet_view bytes,
                                     const struct stet_trust *t, struct stet_err *err);
/* The next entry, checked against the head and by its own checksums; a view into the archive's
 * bytes. STET_NOT_FOUND after the last; STET_BAD_INPUT for one that was changed, after which the
 * next may be read. */
enum stet_rc stet_trust_archive_next(struct stet_archive *a, struct stet_archive_item *out,
                                     struct stet_err *err);

#endif
