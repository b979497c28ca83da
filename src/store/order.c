/* See order.h: magic, version, count, the keys, a checksum of everything before it. */
#include "store/order.h"

#include "base/mask.h"
#include "base/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = {'S', 'T', 'E', 'T', 'O', 'R', 'D', '\n'};

enum { KEY = 16, HEAD = 8 + 4 + 4, FILE_MAX = HEAD + STET_ORDER_MAX * KEY + KEY };

bool stet_order_name(const struct stet_key_parts *parts, struct stet_hash *out)
{
    struct stet_key_parts maker = *parts;
    struct stet_buf masked = STET_BUF_INIT;
    struct stet_file command;
    char here[PATH_MAX];

    maker.part[STET_COMPONENT_PROGRAM] = maker.part[STET_COMPONENT_OPTIONS] = (struct stet_view){0};
    if (!getcwd(here, sizeof here) ||
        stet_file_open(&command, "/proc/self/cmdline", NULL) != STET_OK)
        return false;
    /* Other users can see the name, and could search for a short password by its hash. */
    stet_mask_command(&masked, command.bytes);
    *out = stet_hash_mix(stet_hash_mix(stet_hash_bytes(stet_buf_as_view(&masked)),
                                       stet_hash_bytes(stet_view_str(here))),
                         stet_key_of(&maker));
    stet_buf_release(&masked);
    stet_file_close(&command);
    return true;
}

bool stet_order_has(const struct stet_order *o, struct stet_hash key)
{
    for (size_t i = 0; i < o->count; i++) {
        if (stet_hash_eq(o->keys[i], key))
            return true;
    }
    return false;
}

static void path_of(const struct stet_store *s, struct stet_hash name, char out[PATH_MAX + 64])
{
    char text[STET_HASH_TEXT];

    stet_hash_format(name, text);
    snprintf(out, PATH_MAX + 64, "%s/orders/%s", s->folder, text);
}

static struct stet_hash read_key(struct stet_reader *r)
{
    uint64_t hi = stet_reader_u64(r);

    return (struct stet_hash){hi, stet_reader_u64(r)};
}

static void put_key(struct stet_buf *b, struct stet_hash key)
{
    stet_buf_u64(b, key.hi);
    stet_buf_u64(b, key.lo);
}

static void parse(struct stet_view bytes, struct stet_order *out)
{
    struct stet_view all = stet_view_of(bytes.ptr, bytes.len < KEY ? 0 : bytes.len - KEY);
    struct stet_reader r;
    struct stet_hash sum;
    size_t count;

    if (bytes.len < HEAD + KEY || bytes.len > FILE_MAX ||
        memcmp(bytes.ptr, magic, sizeof magic) != 0)
        return;
    stet_reader_init(&r, bytes, 0);
    stet_reader_skip(&r, sizeof magic);
    if (stet_reader_u32(&r) != STET_ORDER_VERSION)
        return;
    count = stet_reader_u32(&r);
    if (bytes.len != HEAD + count * KEY + KEY)
        return;
    for (size_t i = 0; i < count; i++)
        out->keys[i] = read_key(&r);
    sum = read_key(&r);
    if (stet_reader_ok(&r) && stet_hash_eq(sum, stet_hash_bytes(all)))
        out->count = count;
}

void stet_order_read(const struct stet_store *s, struct stet_hash name, struct stet_order *out)
{
    char path[PATH_MAX + 64], bytes[FILE_MAX + 1];
    ssize_t n;
    int fd;

    out->count = 0;
    path_of(s, name, path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* whatever lies there */
    if (fd < 0)
        return;
    n = read(fd, bytes, sizeof bytes);
    close(fd);
    if (n > 0)
        parse(stet_view_of(bytes, (size_t)n), out);
}

void stet_order_write(const struct stet_store *s, struct stet_hash name, const struct stet_order *o)
{
    char path[PATH_MAX + 64];
    struct stet_buf b = STET_BUF_INIT;

    if (s->read_only)
        return;
    snprintf(path, sizeof path, "%s/orders", s->folder);
    if (stet_store_mkdirs(s, path, NULL) != STET_OK)
        return;
    path_of(s, name, path);
    stet_buf_add(&b, magic, sizeof magic);
    stet_buf_u32(&b, STET_ORDER_VERSION);
    stet_buf_u32(&b, (uint32_t)o->count);
    for (size_t i = 0; i < o->count; i++)
        put_key(&b, o->keys[i]);
    if (!b.failed)
        put_key(&b, stet_hash_bytes(stet_buf_as_view(&b)));
    if (!b.failed)
        stet_store_write_note(s, path, stet_buf_as_view(&b));
    stet_buf_release(&b);
}

void stet_order_touch(const struct stet_store *s, struct stet_hash name)
{
    char path[PATH_MAX + 64];

    path_of(s, name, path);
    if (!s->read_only)
        utimensat(AT_FDCWD, path, NULL, 0);
}
