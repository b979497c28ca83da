/* Writes entries in pieces: an executable may be as large as half the memory, so it is never
 * copied, packed or not. The head is known last and is then written at the front. */
#include "store/entry.h"

#include "base/mem.h"
#include "store/layout.h"

#include <inttypes.h>
#include <unistd.h>
#include <zstd.h>

enum { OPTIONS_MAX = 1 << 17, LEVEL = 1, PIECE = 1 << 18 };

/* The destination: a file, or a buffer. */
struct sink {
    int fd;
    struct stet_buf *buf; /* or NULL */
    uint64_t count;
    struct stet_err *err;
};

static enum stet_rc give(struct sink *s, const char *bytes, size_t n)
{
    s->count += n;
    if (s->buf) {
        stet_buf_add(s->buf, bytes, n);
        return s->buf->failed ? stet_fail(s->err, STET_NO_MEMORY, "out of memory for a store entry")
                              : STET_OK;
    }
    return stet_fs_write_all(s->fd, bytes, n) == 0
               ? STET_OK
               : stet_fail_errno(s->err, "cannot write a store entry");
}

static void add_words(struct stet_buf *out, const struct stet_kept *e)
{
    stet_buf_printf(out, "name=%.*s\nformat=%.*s\nplugin_path=%.*s\ncompile_ns=%" PRIu64 "\n",
                    STET_FMT(e->name), STET_FMT(e->format), STET_FMT(e->plugin_path),
                    e->compile_ns);
    if (e->options.len && e->options.len <= OPTIONS_MAX) {
        stet_buf_str(out, "options_hex=");
        for (size_t i = 0; i < e->options.len; i++) {
            stet_buf_char(out, "0123456789abcdef"[(unsigned char)e->options.ptr[i] >> 4]);
            stet_buf_char(out, "0123456789abcdef"[e->options.ptr[i] & 15]);
        }
        stet_buf_char(out, '\n');
    }
    stet_key_words(out, &e->parts);
}

/* Writes one frame; `part` gets its size and checksum. */
static enum stet_rc pack(struct sink *s, ZSTD_CCtx *z, struct stet_view bytes, char *room,
                         struct stet_entry_part *part)
{
    ZSTD_inBuffer in = {bytes.len ? bytes.ptr : "", bytes.len, 0};
    struct stet_hasher sum;
    size_t left;

    *part = (struct stet_entry_part){.at = s->count, .size = bytes.len};
    stet_hasher_init(&sum);
    if (ZSTD_isError(ZSTD_CCtx_reset(z, ZSTD_reset_session_only)) ||
        ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(z, bytes.len)))
        return stet_fail(s->err, STET_NO_MEMORY, "out of memory for a store entry");
    do {
        ZSTD_outBuffer out = {room, PIECE, 0};
        enum stet_rc rc;

        left = ZSTD_compressStream2(z, &out, &in, ZSTD_e_end);
        if (ZSTD_isError(left))
            return stet_fail(s->err, STET_NO_MEMORY, "out of memory for a store entry");
        stet_hasher_add(&sum, room, out.pos);
        rc = give(s, room, out.pos);
        if (rc != STET_OK)
            return rc;
    } while (left);
    part->packed = s->count - part->at;
    part->sum = stet_hasher_digest(&sum);
    return STET_OK;
}

static void add_hash(struct stet_buf *out, struct stet_hash h)
{
    stet_buf_u64(out, h.hi);
    stet_buf_u64(out, h.lo);
}

static void make_head(struct stet_buf *head, struct stet_view words,
                      const struct stet_entry_part *program,
                      const struct stet_entry_part *executable)
{
    stet_buf_add(head, stet_entry_magic, sizeof stet_entry_magic);
    stet_buf_u32(head, STET_ENTRY_VERSION);
    stet_buf_u32(head, (uint32_t)words.len);
    stet_buf_u64(head, program->size);
    stet_buf_u64(head, program->packed);
    stet_buf_u64(head, executable->size);
    stet_buf_u64(head, executable->packed);
    add_hash(head, stet_hash_bytes(words));
    add_hash(head, program->sum);
    add_hash(head, executable->sum);
    add_hash(head, stet_hash_bytes(stet_buf_as_view(head)));
}

static enum stet_rc put_head(const struct sink *s, size_t begin, const struct stet_buf *head)
{
    if (head->failed)
        return stet_fail(s->err, STET_NO_MEMORY, "out of memory for a store entry");
    if (s->buf)
        memcpy(s->buf->ptr + begin, head->ptr, head->len);
    else if (pwrite(s->fd, head->ptr, head->len, 0) != (ssize_t)head->len)
        return stet_fail_errno(s->err, "cannot write a store entry");
    return STET_OK;
}

static enum stet_rc write_all(struct sink *s, const struct stet_kept *e)
{
    static const char nothing[STET_ENTRY_START];
    size_t begin = s->buf ? s->buf->len : 0;
    struct stet_buf words = STET_BUF_INIT, head = STET_BUF_INIT;
    struct stet_entry_part program, executable;
    ZSTD_CCtx *z = ZSTD_createCCtx();
    char *room = stet_mem_alloc(PIECE);
    enum stet_rc rc = STET_OK;

    add_words(&words, e);
    if (!z || !room || words.failed ||
        ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, LEVEL)))
        rc = stet_fail(s->err, STET_NO_MEMORY, "out of memory for a store entry");
    if (rc == STET_OK)
        rc = give(s, nothing, sizeof nothing);
    if (rc == STET_OK)
        rc = give(s, words.ptr, words.len);
    if (rc == STET_OK)
        rc = pack(s, z, e->program, room, &program);
    if (rc == STET_OK)
        rc = pack(s, z, e->executable, room, &executable);
    if (rc == STET_OK) {
        make_head(&head, stet_buf_as_view(&words), &program, &executable);
        rc = put_head(s, begin, &head);
    }
    stet_mem_free(room);
    ZSTD_freeCCtx(z);
    stet_buf_release(&words);
    stet_buf_release(&head);
    return rc;
}

enum stet_rc stet_entry_pack(struct stet_buf *out, const struct stet_kept *e, struct stet_err *err)
{
    struct sink s = {.fd = -1, .buf = out, .err = err};

    out->cap = SIZE_MAX;
    return write_all(&s, e);
}

enum stet_rc stet_entry_write(int fd, const struct stet_kept *e, uint64_t *bytes,
                              struct stet_err *err)
{
    struct sink s = {.fd = fd, .err = err};
    enum stet_rc rc = write_all(&s, e);

    *bytes = s.count;
    return rc;
}
