/* See note.h. */
#include "store/note.h"

#include "base/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { MAGIC = 8, HEAD = MAGIC + 4, SUM = 16 };

void stet_store_note_path(const struct stet_store *s, const struct stet_store_note *kind,
                          struct stet_hash name, char out[PATH_MAX + 64])
{
    char text[STET_HASH_TEXT];

    stet_hash_format(name, text);
    snprintf(out, PATH_MAX + 64, "%s/%s/%s", s->folder, kind->folder, text);
}

static bool is_valid(const struct stet_store_note *kind, struct stet_view bytes)
{
    struct stet_reader r;
    struct stet_hash sum;

    if (bytes.len < HEAD + SUM || memcmp(bytes.ptr, kind->magic, MAGIC) != 0)
        return false;
    stet_reader_init(&r, bytes, 0);
    stet_reader_skip(&r, MAGIC);
    if (stet_reader_u32(&r) != kind->version)
        return false;
    stet_reader_skip(&r, bytes.len - HEAD - SUM);
    sum.hi = stet_reader_u64(&r);
    sum.lo = stet_reader_u64(&r);
    return stet_reader_ok(&r) &&
           stet_hash_eq(sum, stet_hash_bytes(stet_view_of(bytes.ptr, bytes.len - SUM)));
}

bool stet_store_note_read(const struct stet_store *s, const struct stet_store_note *kind,
                          struct stet_hash name, struct stet_file *file, struct stet_view *content)
{
    char path[PATH_MAX + 64];

    stet_store_note_path(s, kind, name, path);
    if (stet_file_open_small(file, path, HEAD + kind->most + SUM, NULL) != STET_OK)
        return false;
    if (!is_valid(kind, file->bytes)) {
        stet_file_close(file);
        return false;
    }
    *content = stet_view_of(file->bytes.ptr + HEAD, file->bytes.len - HEAD - SUM);
    return true;
}

void stet_store_note_write(const struct stet_store *s, const struct stet_store_note *kind,
                           struct stet_hash name, struct stet_view content)
{
    char path[PATH_MAX + 64];
    struct stet_buf b = STET_BUF_INIT;
    struct stet_hash sum;

    if (s->read_only || content.len > kind->most)
        return;
    snprintf(path, sizeof path, "%s/%s", s->folder, kind->folder);
    if (stet_store_mkdirs(s, path, NULL) != STET_OK)
        return;
    stet_buf_add(&b, kind->magic, MAGIC);
    stet_buf_u32(&b, kind->version);
    stet_buf_view(&b, content);
    sum = stet_hash_bytes(stet_buf_as_view(&b));
    stet_buf_u64(&b, sum.hi);
    stet_buf_u64(&b, sum.lo);
    stet_store_note_path(s, kind, name, path);
    if (!b.failed)
        stet_store_write_note(s, path, stet_buf_as_view(&b));
    stet_buf_release(&b);
}

void stet_store_note_touch(const struct stet_store *s, const struct stet_store_note *kind,
                           struct stet_hash name)
{
    char path[PATH_MAX + 64];

    stet_store_note_path(s, kind, name, path);
    if (!s->read_only)
        utimensat(AT_FDCWD, path, NULL, 0);
}
