/* Reads entries. A file is read piece by piece and never mapped: with a mapping, a network folder
 * that disappears or a truncated file would kill the process. */
#include "store/entry.h"

#include "base/mem.h"
#include "base/reader.h"
#include "store/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* The size of one unpacked piece, and the largest window that a frame may use. */
enum { PIECE = 1 << 20, WINDOW_LOG = 24 };

static const struct {
    const char *name, *about;
} components[] = {
#define COMPONENT(id, name, what) {name, what},
#include "store/components.def"
#undef COMPONENT
};

const char *stet_component_name(enum stet_component c)
{
    return components[c].name;
}

const char *stet_component_about(enum stet_component c)
{
    return components[c].about;
}

struct stet_hash stet_key_of(const struct stet_key_parts *parts)
{
    struct stet_hash key = stet_hash_bytes(STET_VIEW("stet store key 1"));

    for (size_t i = 0; i < STET_COMPONENTS; i++) {
        key = stet_hash_mix(key, stet_hash_bytes(stet_view_str(components[i].name)));
        key = stet_hash_mix(key, stet_hash_bytes(parts->part[i]));
    }
    return key;
}

static void take_words(struct stet_entry_file *f, struct stet_view words);

static struct stet_hash read_hash(struct stet_reader *r)
{
    uint64_t hi = stet_reader_u64(r);

    return (struct stet_hash){hi, stet_reader_u64(r)};
}

void stet_key_words(struct stet_buf *out, const struct stet_key_parts *parts)
{
    for (size_t i = 0; i < STET_COMPONENTS; i++)
        stet_buf_printf(out, "%s=%.*s\n", components[i].name, STET_FMT(parts->part[i]));
}

void stet_key_from_words(struct stet_key_parts *parts, struct stet_view words)
{
    struct stet_entry_file f = {0};

    take_words(&f, words);
    *parts = f.parts;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void stet_entry_options(const struct stet_entry_file *f, struct stet_buf *out)
{
    for (size_t i = 0; i + 1 < f->options_hex.len; i += 2) {
        int high = digit_of(f->options_hex.ptr[i]), low = digit_of(f->options_hex.ptr[i + 1]);

        if (high < 0 || low < 0)
            return;
        stet_buf_char(out, (char)(high << 4 | low));
    }
}

static void take_word(struct stet_entry_file *f, struct stet_view name, struct stet_view value)
{
    if (stet_view_is(name, "name"))
        f->name = value;
    if (stet_view_is(name, "format"))
        f->format = value;
    if (stet_view_is(name, "options_hex"))
        f->options_hex = value;
    if (stet_view_is(name, "plugin_path"))
        f->plugin_path = value;
    if (stet_view_is(name, "compile_ns")) {
        for (size_t i = 0; i < value.len && value.ptr[i] >= '0' && value.ptr[i] <= '9'; i++)
            f->compile_ns = f->compile_ns * 10 + (uint64_t)(value.ptr[i] - '0');
    }
    for (size_t i = 0; i < STET_COMPONENTS; i++) {
        if (stet_view_is(name, components[i].name))
            f->parts.part[i] = value;
    }
}

static void take_words(struct stet_entry_file *f, struct stet_view words)
{
    while (words.len) {
        const char *end = memchr(words.ptr, '\n', words.len);
        size_t n = end ? (size_t)(end - words.ptr) : words.len;
        const char *equals = memchr(words.ptr, '=', n);

        if (equals) {
            size_t name = (size_t)(equals - words.ptr);

            take_word(f, stet_view_of(words.ptr, name), stet_view_of(equals + 1, n - name - 1));
        }
        n += end != NULL;
        words = stet_view_of(words.ptr + n, words.len - n);
    }
    f->key = stet_key_of(&f->parts);
}

/* Head and text; `all` is the expected size of the whole entry. */
struct start {
    struct stet_hash words_sum;
    uint32_t words;
    uint64_t all;
};

static enum stet_rc read_head(struct stet_entry_file *f, struct start *s, struct stet_view head,
                              struct stet_err *err)
{
    struct stet_reader r;
    struct stet_view begin;
    uint32_t version;

    stet_reader_init(&r, head, 0);
    begin = stet_reader_bytes(&r, sizeof stet_entry_magic);
    if (begin.len != sizeof stet_entry_magic || memcmp(begin.ptr, stet_entry_magic, begin.len) != 0)
        return stet_fail_at(err, STET_BAD_INPUT, 0, "not a store entry");
    version = stet_reader_u32(&r);
    s->words = stet_reader_u32(&r);
    f->program.size = stet_reader_u64(&r);
    f->program.packed = stet_reader_u64(&r);
    f->executable.size = stet_reader_u64(&r);
    f->executable.packed = stet_reader_u64(&r);
    s->words_sum = read_hash(&r);
    f->program.sum = read_hash(&r);
    f->executable.sum = read_hash(&r);
    if (head.len < STET_ENTRY_START)
        return stet_fail_at(err, STET_BAD_INPUT, head.len, "store entry: cut short in its head");
    if (!stet_hash_eq(read_hash(&r), stet_hash_bytes(stet_view_of(head.ptr, STET_ENTRY_HEAD))))
        return stet_fail_at(err, STET_BAD_INPUT, STET_ENTRY_HEAD,
                            "store entry: checksum of the head differs");
    /* checked only now: a flipped bit in the version must not keep the entry from being replaced */
    if (version > STET_ENTRY_VERSION)
        return stet_fail(err, STET_UNSUPPORTED,
                         "a newer Stet wrote it: version %" PRIu32 ", this one reads %d", version,
                         STET_ENTRY_VERSION);
    if (s->words > STET_ENTRY_WORDS_MAX || f->program.size > STET_ENTRY_MAX ||
        f->executable.size > STET_ENTRY_MAX || f->program.packed > 2 * STET_ENTRY_MAX ||
        f->executable.packed > 2 * STET_ENTRY_MAX)
        return stet_fail_at(err, STET_LIMIT, 12, "store entry: larger than this build reads");
    f->program.at = STET_ENTRY_START + s->words;
    f->executable.at = f->program.at + f->program.packed;
    s->all = f->executable.at + f->executable.packed;
    return STET_OK;
}

static enum stet_rc read_words(struct stet_entry_file *f, const struct start *s,
                               struct stet_view words, struct stet_err *err)
{
    if (f->bytes_size != s->all)
        return stet_fail_at(err, STET_BAD_INPUT, f->bytes_size, "store entry: %s",
                            f->bytes_size < s->all ? "cut short" : "bytes after the end");
    if (!stet_hash_eq(s->words_sum, stet_hash_bytes(words)))
        return stet_fail_at(err, STET_BAD_INPUT, STET_ENTRY_START,
                            "store entry: checksum of the words differs");
    take_words(f, words);
    return STET_OK;
}

enum stet_rc stet_entry_read(struct stet_entry_file *f, struct stet_view bytes,
                             struct stet_err *err)
{
    struct start s = {0};
    enum stet_rc rc;

    *f = (struct stet_entry_file){.fd = -1, .bytes = bytes, .bytes_size = bytes.len};
    rc = read_head(
        f, &s, stet_view_of(bytes.ptr, bytes.len < STET_ENTRY_START ? bytes.len : STET_ENTRY_START),
        err);
    if (rc == STET_OK && bytes.len - STET_ENTRY_START < s.words)
        rc = stet_fail_at(err, STET_BAD_INPUT, bytes.len, "store entry: cut short in its words");
    if (rc == STET_OK)
        rc = read_words(f, &s, stet_view_of(bytes.ptr + STET_ENTRY_START, s.words), err);
    return rc;
}

/* Fewer than requested at the end of the file; -1 on failure. */
static ssize_t read_at(int fd, char *to, size_t n, uint64_t at)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, to + done, n - done, (off_t)(at + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static enum stet_rc read_start(struct stet_entry_file *f, struct stet_err *err)
{
    char head[STET_ENTRY_START];
    ssize_t got = read_at(f->fd, head, sizeof head, 0);
    struct start s = {0};
    enum stet_rc rc;

    if (got < 0)
        return stet_fail_errno(err, "cannot read");
    rc = read_head(f, &s, stet_view_of(head, (size_t)got), err);
    if (rc != STET_OK)
        return rc;
    f->words = stet_mem_alloc((size_t)s.words + 1);
    if (!f->words)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for its words");
    got = read_at(f->fd, f->words, s.words, STET_ENTRY_START);
    if (got != (ssize_t)s.words)
        return got < 0 ? stet_fail_errno(err, "cannot read")
                       : stet_fail_at(err, STET_BAD_INPUT, f->bytes_size,
                                      "store entry: cut short in its words");
    return read_words(f, &s, stet_view_of(f->words, s.words), err);
}

int stet_entry_open_fd(const char *path, enum stet_rc *rc, struct stet_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

    if (fd < 0) {
        bool none = errno == ENOENT || errno == ESTALE; /* the latter of a network's folder */

        stet_fail_errno(err, "%s: cannot open", path);
        *rc = none ? STET_NOT_FOUND : STET_IO;
    }
    return fd;
}

enum stet_rc stet_entry_open(struct stet_entry_file *f, const char *path, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;
    int fd = stet_entry_open_fd(path, &rc, err);

    return fd < 0 ? rc : stet_entry_adopt(f, fd, path, err);
}

enum stet_rc stet_entry_adopt(struct stet_entry_file *f, int fd, const char *path,
                              struct stet_err *err)
{
    struct stet_err inner = STET_ERR_INIT;
    struct stat st;
    enum stet_rc rc;

    *f = (struct stet_entry_file){.fd = fd};
    if (fstat(f->fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        rc = stet_fail(&inner, STET_IO, "not a file");
    } else {
        f->bytes_size = (uint64_t)st.st_size;
        rc = read_start(f, &inner);
    }
    if (rc == STET_OK)
        return STET_OK;
    close(f->fd);
    stet_mem_free(f->words);
    *f = (struct stet_entry_file){.fd = -1};
    return stet_fail_at(err, rc, inner.offset, "%s: %s", path, inner.text);
}

void stet_entry_close(struct stet_entry_file *f)
{
    if (f->words)
        close(f->fd);
    stet_mem_free(f->words);
    *f = (struct stet_entry_file){.fd = -1};
}

/* The packed bytes in pieces: from memory all at once. */
struct pieces {
    const struct stet_entry_file *file;
    const struct stet_entry_part *part;
    char *room;
    uint64_t done;
};

static enum stet_rc next_piece(struct pieces *p, struct stet_view *out, struct stet_err *err)
{
    uint64_t left = p->part->packed - p->done;
    size_t n = p->room && left > PIECE ? PIECE : (size_t)left;
    ssize_t got;

    if (!p->room) {
        *out = stet_view_of(p->file->bytes.ptr + p->part->at, n);
        p->done += n;
        return STET_OK;
    }
    got = read_at(p->file->fd, p->room, n, p->part->at + p->done);
    if (got < 0)
        return stet_fail_errno(err, "store entry: cannot read");
    if ((size_t)got < n)
        return stet_fail(err, STET_BAD_INPUT, "store entry: cut short while it was read");
    *out = stet_view_of(p->room, n);
    p->done += n;
    return STET_OK;
}

/* Unpacks all pieces to `to`, which has room for part->size bytes, and checks them on the way. The
 * content is valid only if this returns STET_OK. */
static enum stet_rc unpack_pieces(struct pieces *p, ZSTD_DCtx *z, char *to, const char *what,
                                  struct stet_err *err)
{
    ZSTD_outBuffer out = {to, p->part->size, 0};
    struct stet_hasher sum;
    size_t more = 1;

    stet_hasher_init(&sum);
    while (p->done < p->part->packed) {
        struct stet_view piece = {0};
        enum stet_rc rc = next_piece(p, &piece, err);
        ZSTD_inBuffer in = {piece.ptr, piece.len, 0};

        if (rc != STET_OK)
            return rc;
        stet_hasher_add(&sum, piece.ptr, piece.len);
        while (in.pos < in.size && more && !ZSTD_isError(more)) {
            size_t in_before = in.pos, out_before = out.pos;

            more = ZSTD_decompressStream(z, &out, &in);
            if (in.pos == in_before && out.pos == out_before)
                break; /* the frame is larger than its declared size */
        }
        if (ZSTD_isError(more) || in.pos < in.size)
            return stet_fail(err, STET_BAD_INPUT, "store entry: the %s does not unpack", what);
    }
    if (!stet_hash_eq(p->part->sum, stet_hasher_digest(&sum)))
        return stet_fail(err, STET_BAD_INPUT, "store entry: checksum of the %s differs", what);
    return more || out.pos != p->part->size
               ? stet_fail(err, STET_BAD_INPUT, "store entry: the %s does not unpack", what)
               : STET_OK;
}

/* A context that a large window made larger than this is not kept. */
enum { SPARE_MAX = 1 << 20 };

static ZSTD_DCtx *take_context(struct stet_entry_unpacker *u)
{
    ZSTD_DCtx *z = u ? atomic_exchange(&u->spare, NULL) : NULL;

    if (z)
        return z;
    z = ZSTD_createDCtx();
    if (z && ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, WINDOW_LOG))) {
        ZSTD_freeDCtx(z);
        return NULL;
    }
    return z;
}

static void return_context(struct stet_entry_unpacker *u, ZSTD_DCtx *z)
{
    if (u && z && ZSTD_sizeof_DCtx(z) <= SPARE_MAX &&
        !ZSTD_isError(ZSTD_DCtx_reset(z, ZSTD_reset_session_only)))
        z = atomic_exchange(&u->spare, z);
    ZSTD_freeDCtx(z);
}

void stet_entry_prepare(struct stet_entry_unpacker *u)
{
    ZSTD_DCtx *z = take_context(u);
    char packed[64], text[16];
    size_t n = ZSTD_compress(packed, sizeof packed, "stet", 4, 1);

    if (z && !ZSTD_isError(n))
        ZSTD_decompressDCtx(z, text, sizeof text, packed, n);
    return_context(u, z);
}

static enum stet_rc unpack(const struct stet_entry_file *f, const struct stet_entry_part *part,
                           const char *what, struct stet_buf *out, struct stet_err *err)
{
    struct pieces pieces = {.file = f, .part = part};
    enum stet_rc rc = STET_OK;
    ZSTD_DCtx *z;
    char *to;

    if (f->words) {
        pieces.room = stet_mem_alloc((part->packed < PIECE ? (size_t)part->packed : PIECE) + 1);
        if (!pieces.room)
            return stet_fail(err, STET_NO_MEMORY, "out of memory for the %s", what);
    }
    out->cap = STET_ENTRY_MAX + 4096;
    to = stet_buf_reserve(out, part->size + 1);
    z = take_context(f->unpacker);
    if (!to || !z)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for the %s", what);
    if (rc == STET_OK)
        rc = unpack_pieces(&pieces, z, to, what, err);
    if (rc == STET_OK)
        stet_buf_grew(out, part->size);
    return_context(f->unpacker, z);
    stet_mem_free(pieces.room);
    return rc;
}

enum stet_rc stet_entry_program(const struct stet_entry_file *f, struct stet_buf *out,
                                struct stet_err *err)
{
    return unpack(f, &f->program, "program", out, err);
}

enum stet_rc stet_entry_executable(const struct stet_entry_file *f, struct stet_buf *out,
                                   struct stet_err *err)
{
    return unpack(f, &f->executable, "executable", out, err);
}
