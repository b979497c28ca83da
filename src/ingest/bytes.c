/* Recognises the codec by the first bytes, not by the name, because logs get renamed. */
#include "ingest/bytes.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { IN = 128 << 10, WINDOW_LOG = 25 /* 32 MiB: more would break the promise of small memory */ };

static const unsigned char zstd_magic[4] = {0x28, 0xb5, 0x2f, 0xfd},
                           gzip_magic[3] = {0x1f, 0x8b, 8};

enum stet_rc stet_ingest_bytes_open(struct stet_bytes *b, const char *path, struct stet_err *err)
{
    *b = (struct stet_bytes){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (b->fd < 0)
        return stet_fail_errno(err, "%s", path);
    return STET_OK;
}

void stet_ingest_bytes_skip(struct stet_bytes *b, uint64_t n)
{
    if (lseek(b->fd, (off_t)n, SEEK_SET) >= 0)
        b->known = true;
}

void stet_ingest_bytes_close(struct stet_bytes *b)
{
    if (b->fd >= 0)
        close(b->fd);
    if (b->codec && b->gzip) {
        inflateEnd(b->codec);
        stet_mem_free(b->codec);
    } else if (b->codec) {
        ZSTD_freeDStream(b->codec);
    }
    stet_mem_free(b->in);
    *b = (struct stet_bytes){.fd = -1};
}

static ssize_t read_some(int fd, void *out, size_t room)
{
    ssize_t n;

    do
        n = read(fd, out, room);
    while (n < 0 && errno == EINTR);
    return n;
}

static enum stet_rc start_codec(struct stet_bytes *b, struct stet_err *err)
{
    if (b->gzip) {
        z_stream *z = stet_mem_calloc(1, sizeof *z);

        if (z && inflateInit2(z, 15 + 16) != Z_OK) {
            stet_mem_free(z);
            z = NULL;
        }
        b->codec = z;
    } else {
        b->codec = ZSTD_createDStream();
        if (b->codec)
            ZSTD_DCtx_setParameter(b->codec, ZSTD_d_windowLogMax, WINDOW_LOG);
    }
    return b->codec ? STET_OK : stet_fail(err, STET_NO_MEMORY, "out of memory for decompression");
}

static enum stet_rc fill(struct stet_bytes *b, struct stet_err *err)
{
    ssize_t n;

    if (!b->in && !(b->in = stet_mem_alloc(IN)))
        return stet_fail(err, STET_NO_MEMORY, "out of memory for reading");
    if (b->in_at && b->in_at < b->in_len)
        memmove(b->in, b->in + b->in_at, b->in_len - b->in_at);
    b->in_len -= b->in_at;
    b->in_at = 0;
    if (b->in_len == IN)
        return STET_OK;
    n = read_some(b->fd, b->in + b->in_len, IN - b->in_len);
    if (n < 0)
        return stet_fail_errno(err, "cannot read");
    b->in_len += (size_t)n;
    return STET_OK;
}

/* False while there are too few bytes to decide. */
static bool look(struct stet_bytes *b)
{
    size_t n = b->in_len;

    if (n && memcmp(b->in, zstd_magic, n < 4 ? n : 4) != 0 &&
        memcmp(b->in, gzip_magic, n < 3 ? n : 3) != 0)
        return b->known = true; /* plain */
    if (n < 4)
        return false;
    b->gzip = b->in[0] == gzip_magic[0];
    return b->known = true;
}

static bool is_compressed(const struct stet_bytes *b)
{
    return b->in_len >= 4 &&
           (!memcmp(b->in, zstd_magic, 4) || !memcmp(b->in, gzip_magic, sizeof gzip_magic));
}

/* One call into the codec; false when the data is damaged here. */
static bool inflate_some(struct stet_bytes *b, char *out, size_t room, size_t *got)
{
    z_stream *z = b->codec;
    int rc;

    z->next_in = b->in + b->in_at;
    z->avail_in = (uInt)(b->in_len - b->in_at);
    z->next_out = (Bytef *)out;
    z->avail_out = (uInt)room;
    rc = inflate(z, Z_NO_FLUSH);
    b->in_at = b->in_len - z->avail_in;
    *got = room - z->avail_out;
    b->inside = rc != Z_STREAM_END;
    if (rc == Z_STREAM_END)
        inflateReset(z);
    return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR;
}

static bool unzstd_some(struct stet_bytes *b, char *out, size_t room, size_t *got)
{
    ZSTD_inBuffer in = {b->in, b->in_len, b->in_at};
    ZSTD_outBuffer o = {out, room, 0};
    size_t rc = ZSTD_decompressStream(b->codec, &o, &in);

    b->in_at = in.pos;
    *got = o.pos;
    b->inside = rc != 0;
    return !ZSTD_isError(rc);
}

/* After damage: skips to the next place that begins like a frame. */
static void resync(struct stet_bytes *b)
{
    const unsigned char *magic = b->gzip ? gzip_magic : zstd_magic;
    size_t size = b->gzip ? sizeof gzip_magic : sizeof zstd_magic, i = b->in_at + 1;

    while (i + size <= b->in_len && memcmp(b->in + i, magic, size) != 0)
        i++;
    if (i + size > b->in_len)
        i = b->in_len;
    b->skipped += i > b->in_at ? i - b->in_at : 1;
    b->in_at = i;
    b->inside = false;
    if (b->gzip)
        inflateReset(b->codec);
    else
        ZSTD_DCtx_reset(b->codec, ZSTD_reset_session_only);
}

static enum stet_rc read_compressed(struct stet_bytes *b, char *out, size_t room, size_t *got,
                                    struct stet_err *err)
{
    if (!b->codec && start_codec(b, err) != STET_OK)
        return STET_NO_MEMORY;
    for (;;) {
        bool empty = b->in_at == b->in_len, inside = b->inside;
        bool fine = b->gzip ? inflate_some(b, out, room, got) : unzstd_some(b, out, room, got);

        /* Called without input, because it may still hold output; between two frames a codec
         * reports that it wants the next one. */
        if (empty && !*got)
            b->inside = inside;
        if (!fine)
            resync(b);
        if (*got)
            return STET_OK;
        if (b->in_at == b->in_len || fine) {
            size_t before = b->in_len - b->in_at;
            enum stet_rc rc = fill(b, err);

            if (rc != STET_OK || b->in_len == before)
                return rc; /* nothing more for now */
        }
    }
}

enum stet_rc stet_ingest_bytes_read(struct stet_bytes *b, char *out, size_t room, size_t *got,
                                    struct stet_err *err)
{
    ssize_t n;

    *got = 0;
    if (!b->known) {
        enum stet_rc rc = fill(b, err);

        if (rc != STET_OK || !look(b))
            return rc;
        if (!is_compressed(b)) {
            b->in_at = 0;
        } else {
            return read_compressed(b, out, room, got, err);
        }
    }
    if (b->codec)
        return read_compressed(b, out, room, got, err);
    if (b->in_at < b->in_len) { /* what was read to look at */
        *got = b->in_len - b->in_at < room ? b->in_len - b->in_at : room;
        memcpy(out, b->in + b->in_at, *got);
        b->in_at += *got;
        if (b->in_at == b->in_len) { /* hundreds of logs may be followed at once */
            stet_mem_free(b->in);
            b->in = NULL;
            b->in_at = b->in_len = 0;
        }
        return STET_OK;
    }
    n = read_some(b->fd, out, room);
    if (n < 0)
        return stet_fail_errno(err, "cannot read");
    *got = (size_t)n;
    return STET_OK;
}
