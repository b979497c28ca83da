/* The layout: a fixed head, words as lines, then two zstd frames. Everything is covered by a
 * checksum, and the head's own covers the others. */
#include "store/entry.h"

#include "base/mem.h"
#include "base/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <zstd.h>

static const char magic[8] = {'S', 'T', 'E', 'T', 'E', 'X', 'E', '\n'};

enum {
    HEAD = 8 + 4 + 4 + 4 * 8 + 3 * 16,
    SUM = 16,
    WORDS_MAX = 1 << 20,
    OPTIONS_MAX = 1 << 17,
    LEVEL = 1
};

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

static void add_hash(struct stet_buf *out, struct stet_hash h)
{
    stet_buf_u64(out, h.hi);
    stet_buf_u64(out, h.lo);
}

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

/* Appends the frame; the view is its place, valid until `out` grows. */
static size_t add_packed(struct stet_buf *out, struct stet_view bytes)
{
    size_t room = ZSTD_compressBound(bytes.len);
    char *at = stet_buf_reserve(out, room);
    size_t n = at ? ZSTD_compress(at, room, bytes.len ? bytes.ptr : "", bytes.len, LEVEL) : 0;

    if (!at || ZSTD_isError(n)) {
        out->failed = true;
        return 0;
    }
    stet_buf_grew(out, n);
    return n;
}

enum stet_rc stet_entry_pack(struct stet_buf *out, const struct stet_kept *e, struct stet_err *err)
{
    struct stet_buf body = {.cap = SIZE_MAX}, head = STET_BUF_INIT;
    size_t words, program, executable;

    add_words(&body, e);
    words = body.len;
    program = add_packed(&body, e->program);
    executable = add_packed(&body, e->executable);
    if (!body.failed) {
        stet_buf_add(&head, magic, sizeof magic);
        stet_buf_u32(&head, STET_ENTRY_VERSION);
        stet_buf_u32(&head, (uint32_t)words);
        stet_buf_u64(&head, e->program.len);
        stet_buf_u64(&head, program);
        stet_buf_u64(&head, e->executable.len);
        stet_buf_u64(&head, executable);
        add_hash(&head, stet_hash_bytes(stet_view_of(body.ptr, words)));
        add_hash(&head, stet_hash_bytes(stet_view_of(body.ptr + words, program)));
        add_hash(&head, stet_hash_bytes(stet_view_of(body.ptr + words + program, executable)));
        add_hash(&head, stet_hash_bytes(stet_buf_as_view(&head)));
    }
    out->cap = SIZE_MAX;
    if (stet_buf_reserve(out, head.len + body.len)) {
        stet_buf_view(out, stet_buf_as_view(&head));
        stet_buf_view(out, stet_buf_as_view(&body));
    }
    out->failed |= head.failed || body.failed;
    stet_buf_release(&head);
    stet_buf_release(&body);
    return out->failed ? stet_fail(err, STET_NO_MEMORY, "out of memory for a store entry")
                       : STET_OK;
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

enum stet_rc stet_entry_read(struct stet_entry_file *f, struct stet_view bytes,
                             struct stet_err *err)
{
    struct stet_hash words_sum;
    struct stet_reader r;
    struct stet_view start, words;
    uint64_t program, executable;
    uint32_t version, words_size;

    *f = (struct stet_entry_file){0};
    stet_reader_init(&r, bytes, 0);
    start = stet_reader_bytes(&r, sizeof magic);
    if (start.len != sizeof magic || memcmp(start.ptr, magic, sizeof magic) != 0)
        return stet_fail_at(err, STET_BAD_INPUT, 0, "not a store entry");
    version = stet_reader_u32(&r);
    if (version > STET_ENTRY_VERSION)
        return stet_fail(err, STET_UNSUPPORTED,
                         "a newer Stet wrote it: version %" PRIu32 ", this one reads %d", version,
                         STET_ENTRY_VERSION);
    words_size = stet_reader_u32(&r);
    f->program_size = stet_reader_u64(&r);
    program = stet_reader_u64(&r);
    f->executable_size = stet_reader_u64(&r);
    executable = stet_reader_u64(&r);
    words_sum = read_hash(&r);
    f->program_sum = read_hash(&r);
    f->executable_sum = read_hash(&r);
    if (bytes.len < HEAD + SUM)
        return stet_fail_at(err, STET_BAD_INPUT, bytes.len, "store entry: cut short in its head");
    if (!stet_hash_eq(read_hash(&r), stet_hash_bytes(stet_view_of(bytes.ptr, HEAD))))
        return stet_fail_at(err, STET_BAD_INPUT, HEAD, "store entry: checksum of the head differs");
    if (words_size > WORDS_MAX || f->program_size > STET_ENTRY_MAX ||
        f->executable_size > STET_ENTRY_MAX)
        return stet_fail_at(err, STET_LIMIT, 12, "store entry: larger than this build reads");
    words = stet_reader_bytes(&r, words_size);
    if (stet_reader_ok(&r) && !stet_hash_eq(words_sum, stet_hash_bytes(words)))
        stet_reader_fail(&r, "checksum of the words differs");
    f->program = stet_reader_bytes(&r, program);
    f->executable = stet_reader_bytes(&r, executable);
    if (stet_reader_left(&r))
        stet_reader_fail(&r, "bytes after the end");
    take_words(f, words);
    return stet_reader_finish(&r, "store entry", err);
}

enum stet_rc stet_entry_open(struct stet_entry_file *f, const char *path, struct stet_err *err)
{
    struct stet_err inner = STET_ERR_INIT;
    struct stet_file file;
    enum stet_rc rc = stet_file_open(&file, path, err);

    if (rc != STET_OK)
        return rc;
    rc = stet_entry_read(f, file.bytes, &inner);
    if (rc != STET_OK) {
        stet_file_close(&file);
        return stet_fail_at(err, rc, inner.offset, "%s: %s", path, inner.text);
    }
    f->file = file;
    return STET_OK;
}

void stet_entry_close(struct stet_entry_file *f)
{
    stet_file_close(&f->file);
    *f = (struct stet_entry_file){0};
}

static enum stet_rc unpack(struct stet_view packed, struct stet_hash sum, uint64_t size,
                           const char *what, struct stet_buf *out, struct stet_err *err)
{
    char *to;
    size_t n;

    if (!stet_hash_eq(sum, stet_hash_bytes(packed)))
        return stet_fail(err, STET_BAD_INPUT, "store entry: checksum of the %s differs", what);
    out->cap = STET_ENTRY_MAX + 4096;
    to = stet_buf_reserve(out, size + 1);
    if (!to)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the %s", what);
    n = ZSTD_decompress(to, size, packed.ptr, packed.len);
    if (ZSTD_isError(n) || n != size)
        return stet_fail(err, STET_BAD_INPUT, "store entry: the %s does not unpack", what);
    stet_buf_grew(out, n);
    return STET_OK;
}

enum stet_rc stet_entry_program(const struct stet_entry_file *f, struct stet_buf *out,
                                struct stet_err *err)
{
    return unpack(f->program, f->program_sum, f->program_size, "program", out, err);
}

enum stet_rc stet_entry_executable(const struct stet_entry_file *f, struct stet_buf *out,
                                   struct stet_err *err)
{
    return unpack(f->executable, f->executable_sum, f->executable_size, "executable", out, err);
}
