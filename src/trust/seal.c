/* A seal is written by rename without a sync: a torn one counts as "not made here". */
#include "trust/seal.h"

#include "base/fs.h"
#include "base/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Places in the head of an archive of one, which archive.c writes. */
enum {
    FLAGS_AT = 12,
    SIGNER_AT = 16,
    COUNT_AT = 48,
    ROW_AT = 56,
    DIGEST_AT = ROW_AT + 24,
    DIGEST = 32
};
/* Bits of its flags. NAMED is used only in seals: a seal with it is not an archive's head. */
enum { SIGNED = 1, NAMED = 2 };

/* The entry of a younger seal may not have been written yet. */
enum { YOUNG_S = 3600 };

static void digest_of(struct stet_view entry, unsigned char out[DIGEST])
{
    crypto_generichash(out, DIGEST, (const unsigned char *)(entry.len ? entry.ptr : ""), entry.len,
                       NULL, 0);
}

/* Named by the first half of the digest. */
static void path_of(const struct stet_store *s, const void *digest, char out[PATH_MAX + 64])
{
    char name[33];

    sodium_bin2hex(name, sizeof name, digest, 16);
    snprintf(out, PATH_MAX + 64, "%s/seals/%.2s/%s", s->folder, name, name);
}

static void read_words(struct stet_seal *seal)
{
    unsigned flags = (unsigned char)seal->bytes[FLAGS_AT];

    seal->origin = flags & NAMED    ? STET_ORIGIN_NAMED
                   : flags & SIGNED ? STET_ORIGIN_SEALED
                                    : STET_ORIGIN_UNSIGNED;
    memcpy(seal->signer.bytes, seal->bytes + SIGNER_AT, sizeof seal->signer.bytes);
}

void stet_seal_make(struct stet_seal *out, const struct stet_archive *a,
                    const struct stet_archive_item *item)
{
    struct stet_buf head = STET_BUF_INIT;

    *out = (struct stet_seal){0};
    if (a->count == 1 && a->head.len == sizeof out->bytes) {
        memcpy(out->bytes, a->head.ptr, sizeof out->bytes);
    } else if (stet_archive_head(&head, item, 1, NULL, NULL) == STET_OK) {
        memcpy(out->bytes, head.ptr, sizeof out->bytes);
        if (a->is_signed) {
            out->bytes[FLAGS_AT] = NAMED;
            memcpy(out->bytes + SIGNER_AT, a->signer.bytes, sizeof a->signer.bytes);
        }
    }
    stet_buf_release(&head);
    read_words(out);
}

enum stet_rc stet_seal_put(const struct stet_store *s, const struct stet_seal *seal,
                           struct stet_err *err)
{
    char path[PATH_MAX + 64];
    char *slash;
    enum stet_rc rc;

    path_of(s, seal->bytes + DIGEST_AT, path);
    slash = strrchr(path, '/');
    *slash = '\0';
    rc = stet_store_mkdirs(s, path, err);
    *slash = '/';
    if (rc == STET_OK &&
        stet_store_write_note(s, path, stet_view_of(seal->bytes, sizeof seal->bytes)) != STET_OK)
        rc = stet_fail(err, STET_IO, "%s: cannot write", path);
    return rc;
}

bool stet_seal_fits(const struct stet_seal *seal, struct stet_view entry)
{
    unsigned char digest[DIGEST];

    digest_of(entry, digest);
    return !memcmp(digest, seal->bytes + DIGEST_AT, sizeof digest);
}

/* STET_NOT_FOUND if there is none, STET_BAD_INPUT if it cannot be read. */
static enum stet_rc read_seal(const char *path, struct stet_seal *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char more;
    bool whole;

    *out = (struct stet_seal){0};
    if (fd < 0)
        return errno == ENOENT ? STET_NOT_FOUND : STET_BAD_INPUT;
    whole = read(fd, out->bytes, sizeof out->bytes) == (ssize_t)sizeof out->bytes &&
            read(fd, &more, 1) == 0 && !memcmp(out->bytes, "STETARC\n", 8) &&
            out->bytes[COUNT_AT] == 1;
    close(fd);
    read_words(out);
    return whole ? STET_OK : STET_BAD_INPUT;
}

void stet_seal_find(const struct stet_store *s, struct stet_view entry, struct stet_seal *out)
{
    unsigned char digest[DIGEST];
    char path[PATH_MAX + 64];
    enum stet_rc rc;

    digest_of(entry, digest);
    path_of(s, digest, path);
    rc = read_seal(path, out);
    if (rc == STET_NOT_FOUND)
        out->origin = STET_ORIGIN_HERE;
    else if (rc != STET_OK || memcmp(digest, out->bytes + DIGEST_AT, sizeof digest) != 0)
        *out = (struct stet_seal){.origin = STET_ORIGIN_UNSIGNED};
}

/* The key of the entry, from the seal's row. */
static struct stet_hash key_of(const struct stet_seal *seal)
{
    struct stet_reader r;
    struct stet_hash key;

    stet_reader_init(&r, stet_view_of(seal->bytes + ROW_AT, 16), 0);
    key.hi = stet_reader_u64(&r);
    key.lo = stet_reader_u64(&r);
    return key;
}

/* Calls `each` for every seal of the store. */
static void walk(const struct stet_store *s,
                 void (*each)(const struct stet_store *s, const struct stet_seal *seal,
                              const char *path, void *context),
                 void *context)
{
    for (unsigned i = 0; i < 256; i++) {
        char folder[PATH_MAX + 64], path[PATH_MAX + 128];
        struct dirent *e;
        DIR *d;

        snprintf(folder, sizeof folder, "%s/seals/%02x", s->folder, i);
        d = opendir(folder);
        while (d && (e = readdir(d))) {
            struct stet_seal seal;

            snprintf(path, sizeof path, "%s/%.40s", folder, e->d_name);
            if (read_seal(path, &seal) == STET_OK)
                each(s, &seal, path, context);
        }
        if (d)
            closedir(d);
    }
}

struct leaving {
    const struct stet_public *signer;
    size_t count;
};

static void remove_if_signed(const struct stet_store *s, const struct stet_seal *seal,
                             const char *path, void *context)
{
    struct leaving *l = context;
    char entry[PATH_MAX + 64];
    struct stet_file f;

    if (seal->origin == STET_ORIGIN_UNSIGNED ||
        memcmp(seal->signer.bytes, l->signer->bytes, sizeof seal->signer.bytes) != 0)
        return;
    stet_store_path(s, key_of(seal), entry);
    if (stet_file_open(&f, entry, NULL) == STET_OK) {
        if (stet_seal_fits(seal, f.bytes) && stet_store_remove(s, key_of(seal), NULL) == STET_OK)
            l->count++;
        stet_file_close(&f);
    }
    unlink(path);
}

size_t stet_seal_remove_signer(const struct stet_store *s, const struct stet_public *signer)
{
    struct leaving l = {.signer = signer};

    walk(s, remove_if_signed, &l);
    return l.count;
}

static void remove_if_alone(const struct stet_store *s, const struct stet_seal *seal,
                            const char *path, void *context)
{
    char entry[PATH_MAX + 64];
    struct stat st;

    (void)context;
    stet_store_path(s, key_of(seal), entry);
    if (stat(path, &st) == 0 && st.st_mtim.tv_sec + YOUNG_S < time(NULL) &&
        access(entry, F_OK) != 0 && errno == ENOENT)
        unlink(path);
}

void stet_seal_sweep(const struct stet_store *s)
{
    walk(s, remove_if_alone, NULL);
}
