/* magic, version, flags, signer, count; a row (key, length, BLAKE2b-256) for each entry; an Ed25519
 * signature of all that; then the entries. */
#include "trust/archive.h"

#include "base/reader.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>

static const char magic[8] = {'S', 'T', 'E', 'T', 'A', 'R', 'C', '\n'};

enum {
    SIGNED = 1,
    DIGEST = 32,
    ROW = 16 + 8 + DIGEST,
    START = 8 + 4 + 4 + STET_PUBLIC_KEY + 8,
    SIGNATURE = 64,
};
static_assert(START + ROW + SIGNATURE == STET_ARCHIVE_HEAD_OF_ONE, "the head of one entry");

static void digest_of(struct stet_view bytes, unsigned char out[DIGEST])
{
    crypto_generichash(out, DIGEST, (const unsigned char *)(bytes.len ? bytes.ptr : ""), bytes.len,
                       NULL, 0);
}

enum stet_rc stet_trust_archive_head(struct stet_buf *out, const struct stet_archive_item *items,
                                     size_t count, const struct stet_signer *signer,
                                     struct stet_err *err)
{
    static const struct stet_signer nobody;
    unsigned char digest[DIGEST], signature[SIGNATURE] = {0};
    size_t begin = out->len;

    if (sodium_init() < 0)
        return stet_fail(err, STET_IO, "libsodium finds no source of randomness");
    stet_buf_add(out, magic, sizeof magic);
    stet_buf_u32(out, STET_ARCHIVE_VERSION);
    stet_buf_u32(out, signer ? SIGNED : 0);
    stet_buf_add(out, (signer ? signer : &nobody)->public.bytes, STET_PUBLIC_KEY);
    stet_buf_u64(out, count);
    for (size_t i = 0; i < count; i++) {
        stet_buf_u64(out, items[i].key.hi);
        stet_buf_u64(out, items[i].key.lo);
        stet_buf_u64(out, items[i].bytes.len);
        digest_of(items[i].bytes, digest);
        stet_buf_add(out, digest, sizeof digest);
    }
    if (out->failed)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for an archive");
    if (signer && crypto_sign_detached(signature, NULL, (const unsigned char *)out->ptr + begin,
                                       out->len - begin, signer->secret) != 0)
        return stet_fail(err, STET_IO, "the archive could not be signed");
    stet_buf_add(out, signature, sizeof signature);
    return out->failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for an archive") : STET_OK;
}

enum stet_rc stet_trust_archive_seal(struct stet_buf *out, struct stet_view entry,
                                     const struct stet_signer *signer, struct stet_err *err)
{
    struct stet_entry_file f;
    enum stet_rc rc = stet_store_entry_read(&f, entry, err);
    struct stet_archive_item item = {f.key, entry};

    if (rc == STET_OK)
        rc = stet_trust_archive_head(out, &item, 1, signer, err);
    if (rc == STET_OK)
        stet_buf_view(out, entry);
    return rc == STET_OK && out->failed
               ? stet_fail(err, STET_NO_MEMORY, "out of memory for an archive")
               : rc;
}

static enum stet_rc may_believe(const struct stet_archive *a, const struct stet_trust *t,
                                struct stet_view head, struct stet_view signature,
                                struct stet_err *err)
{
    char name[STET_PUBLIC_TEXT];

    if (!a->is_signed)
        return t->anyone ? STET_OK : stet_fail(err, STET_REFUSED, "it is not signed");
    if (crypto_sign_verify_detached((const unsigned char *)signature.ptr,
                                    (const unsigned char *)head.ptr, head.len,
                                    a->signer.bytes) != 0)
        return stet_fail(err, STET_BAD_INPUT, "the signature is wrong: changed after signing");
    stet_trust_public_format(&a->signer, name);
    if (t->anyone || stet_trust_has(t, &a->signer))
        return STET_OK;
    return stet_fail(err, STET_REFUSED, "signed by %s, which is not trusted", name);
}

enum stet_rc stet_trust_archive_read(struct stet_archive *a, struct stet_view bytes,
                                     const struct stet_trust *t, struct stet_err *err)
{
    struct stet_reader r;
    struct stet_view start, signature;
    uint32_t version, flags;
    uint64_t count;

    *a = (struct stet_archive){0};
    stet_reader_init(&r, bytes, 0);
    start = stet_reader_bytes(&r, sizeof magic);
    if (start.len != sizeof magic || memcmp(start.ptr, magic, sizeof magic) != 0)
        return stet_fail_at(err, STET_BAD_INPUT, 0, "not an archive of store entries");
    version = stet_reader_u32(&r);
    if (stet_reader_ok(&r) && version > STET_ARCHIVE_VERSION)
        return stet_fail(err, STET_UNSUPPORTED,
                         "a newer Stet wrote it: version %" PRIu32 ", this one reads %d", version,
                         STET_ARCHIVE_VERSION);
    flags = stet_reader_u32(&r);
    start = stet_reader_bytes(&r, STET_PUBLIC_KEY);
    if (start.len == STET_PUBLIC_KEY)
        memcpy(a->signer.bytes, start.ptr, STET_PUBLIC_KEY);
    count = stet_reader_u64(&r);
    if (count > stet_reader_left(&r) / ROW) /* also keeps the product below from overflowing */
        stet_reader_fail(&r, "names more entries than it has room for");
    a->table = stet_reader_bytes(&r, stet_reader_ok(&r) ? count * ROW : 0);
    signature = stet_reader_bytes(&r, SIGNATURE);
    if (stet_reader_finish(&r, "archive", err) != STET_OK)
        return STET_BAD_INPUT;
    a->count = (size_t)count;
    a->is_signed = flags & SIGNED;
    a->head = stet_view_of(bytes.ptr, START + a->table.len + SIGNATURE);
    a->body = stet_reader_bytes(&r, stet_reader_left(&r));
    return may_believe(a, t, stet_view_of(bytes.ptr, START + a->table.len), signature, err);
}

static enum stet_rc check(const struct stet_archive_item *item, struct stet_view expected,
                          struct stet_err *err)
{
    unsigned char digest[DIGEST];
    struct stet_entry_file f;
    enum stet_rc rc;

    digest_of(item->bytes, digest);
    if (memcmp(digest, expected.ptr, sizeof digest) != 0)
        return stet_fail(err, STET_BAD_INPUT, "an entry was changed after signing");
    rc = stet_store_entry_read(&f, item->bytes, err);
    if (rc == STET_OK && !stet_hash_eq(f.key, item->key))
        rc = stet_fail(err, STET_BAD_INPUT, "an entry does not match its row");
    return rc;
}

enum stet_rc stet_trust_archive_next(struct stet_archive *a, struct stet_archive_item *out,
                                     struct stet_err *err)
{
    struct stet_view digest;
    struct stet_reader r;
    uint64_t length;

    *out = (struct stet_archive_item){0};
    if (!a->table.len)
        return STET_NOT_FOUND;
    stet_reader_init(&r, a->table, 0);
    out->key.hi = stet_reader_u64(&r);
    out->key.lo = stet_reader_u64(&r);
    length = stet_reader_u64(&r);
    digest = stet_reader_bytes(&r, DIGEST);
    a->table = stet_view_of(a->table.ptr + ROW, a->table.len - ROW);
    if (length > a->body.len) {
        a->body.len = 0; /* the entries after it are lost as well */
        return stet_fail(err, STET_BAD_INPUT, "an entry is cut short");
    }
    out->bytes = stet_view_of(a->body.ptr, (size_t)length);
    a->body = stet_view_of(a->body.ptr + length, a->body.len - (size_t)length);
    return check(out, digest, err);
}
