/* Checksummed files beside the entries of a store: magic, version, content, and a checksum of
 * everything before it. They are hints: a reader treats a damaged file, or one of another version,
 * as absent. order.c and lift_note.c write them. */
#ifndef STET_STORE_NOTE_H
#define STET_STORE_NOTE_H

#include "base/fs.h"
#include "store/store.h"

struct stet_store_note {
    const char *folder; /* in the store's folder */
    const char *magic;  /* 8 bytes at the beginning of the file */
    uint32_t version;
    size_t most; /* bytes of content */
};

void stet_store_note_path(const struct stet_store *s, const struct stet_store_note *kind,
                          struct stet_hash name, char out[PATH_MAX + 64]);
/* True if there is a valid file. `content` is in `file`, which the caller closes then. */
bool stet_store_note_read(const struct stet_store *s, const struct stet_store_note *kind,
                          struct stet_hash name, struct stet_file *file, struct stet_view *content);
/* Does nothing if the store is read-only. */
void stet_store_note_write(const struct stet_store *s, const struct stet_store_note *kind,
                           struct stet_hash name, struct stet_view content);
/* Marks it as used now: unused notes are removed (stet_store_hints_gc). */
void stet_store_note_touch(const struct stet_store *s, const struct stet_store_note *kind,
                           struct stet_hash name);

#endif
