/* See archive_transfer.h. */
#include "trust/archive_transfer.h"

#include "base/fs.h"
#include "base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum stet_rc stet_trust_transfer_reserve(struct stet_outgoing *o, size_t room, struct stet_err *err)
{
    o->files = stet_mem_calloc(room + 1, sizeof *o->files);
    o->items = stet_mem_calloc(room + 1, sizeof *o->items);
    return o->files && o->items
               ? STET_OK
               : stet_fail(err, STET_NO_MEMORY, "out of memory for %zu entries", room);
}

void stet_trust_transfer_release(struct stet_outgoing *o)
{
    for (size_t i = 0; i < o->count; i++)
        stet_mapped_close(&o->files[i]);
    stet_mem_free(o->files);
    stet_mem_free(o->items);
}

/* A signature means "made by me": what came from elsewhere is signed only by its maker. */
static bool may_sign(const struct stet_store *s, const struct stet_signer *signer,
                     struct stet_view entry)
{
    struct stet_seal seal;

    stet_trust_seal_find(s, entry, &seal);
    return seal.origin == STET_ORIGIN_HERE ||
           (seal.origin != STET_ORIGIN_UNSIGNED &&
            !memcmp(seal.signer.bytes, signer->public.bytes, sizeof seal.signer.bytes));
}

void stet_trust_transfer_add(const struct stet_store *s, const struct stet_signer *signer,
                             struct stet_outgoing *o, struct stet_hash key)
{
    struct stet_mapped *f = &o->files[o->count];
    char path[PATH_MAX + 64];
    struct stet_entry_file entry;
    enum stet_rc rc;
    int fd = stet_store_open_entry(s, key, &rc, NULL); /* signed is only what is ours */

    if (fd >= 0)
        close(fd);
    stet_store_path(s, key, path);
    if (fd < 0 || stet_mapped_open(f, path, NULL) != STET_OK ||
        stet_store_entry_read(&entry, f->bytes, NULL) != STET_OK || !stet_hash_eq(entry.key, key)) {
        stet_mapped_close(f);
        o->skipped++;
        return;
    }
    if (signer && !may_sign(s, signer, f->bytes)) {
        stet_mapped_close(f);
        o->foreign++;
        return;
    }
    o->items[o->count++] = (struct stet_archive_item){key, f->bytes};
    o->bytes += f->bytes.len;
}

/* Beside its place, synced, renamed: what is there under its name is whole. */
enum stet_rc stet_trust_transfer_write(const char *path, struct stet_view head,
                                       const struct stet_outgoing *o, struct stet_err *err)
{
    char temporary[PATH_MAX + 32];
    enum stet_rc rc = STET_OK;
    int fd;

    if (snprintf(temporary, sizeof temporary, "%s.%ld.part", path, (long)getpid()) >=
        (int)sizeof temporary)
        return stet_fail(err, STET_LIMIT, "%s: path too long", path);
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return stet_fail_errno(err, "%s: cannot create", temporary);
    if (stet_fs_write_all(fd, head.ptr, head.len) != 0)
        rc = stet_fail_errno(err, "%s: cannot write", temporary);
    for (size_t i = 0; rc == STET_OK && i < o->count; i++) {
        if (stet_fs_write_all(fd, o->items[i].bytes.ptr, o->items[i].bytes.len) != 0)
            rc = stet_fail_errno(err, "%s: cannot write", temporary);
    }
    if (rc == STET_OK && fsync(fd) != 0)
        rc = stet_fail_errno(err, "%s: cannot sync", temporary);
    close(fd);
    if (rc == STET_OK && rename(temporary, path) != 0)
        rc = stet_fail_errno(err, "%s: cannot rename into place", path);
    if (rc != STET_OK)
        unlink(temporary);
    return rc;
}

enum stet_rc stet_trust_transfer_import(const struct stet_store *s, struct stet_archive *a,
                                        struct stet_incoming *in, struct stet_err *err)
{
    for (;;) {
        struct stet_err why = STET_ERR_INIT;
        struct stet_archive_item item;
        struct stet_entry_file f;
        struct stet_seal seal;
        enum stet_rc rc = stet_trust_archive_next(a, &item, &why);

        if (rc == STET_NOT_FOUND)
            return STET_OK;
        in->count++;
        if (rc != STET_OK) {
            if (!in->bad++)
                snprintf(in->first_bad, sizeof in->first_bad, "%s", why.text);
            continue;
        }
        if (stet_store_get(s, item.key, &f, NULL) == STET_OK) {
            stet_store_entry_close(&f);
            in->there++;
            continue;
        }
        stet_trust_seal_make(&seal, a, &item);
        rc = stet_trust_seal_put(s, &seal, err); /* first: without it, it counts as ours */
        if (rc == STET_OK)
            rc = stet_store_put_bytes(s, item.key, item.bytes, err);
        if (rc != STET_OK)
            return rc;
        in->taken++;
    }
}
