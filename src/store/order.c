/* See order.h: a note of the number of keys and the keys. */
#include "store/order.h"

#include "base/mask.h"
#include "base/reader.h"
#include "store/note.h"

#include <unistd.h>

enum { KEY = 16 };

static const struct stet_store_note kind = {.folder = "orders",
                                            .magic = "STETORD\n",
                                            .version = STET_ORDER_VERSION,
                                            .most = 4 + STET_ORDER_MAX * KEY};

bool stet_store_order_name(const struct stet_key_parts *parts, struct stet_hash *out)
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
                         stet_store_key_of(&maker));
    stet_buf_release(&masked);
    stet_file_close(&command);
    return true;
}

bool stet_store_order_has(const struct stet_store_order *o, struct stet_hash key)
{
    for (size_t i = 0; i < o->count; i++) {
        if (stet_hash_eq(o->keys[i], key))
            return true;
    }
    return false;
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

static void parse(struct stet_view content, struct stet_store_order *out)
{
    struct stet_reader r;
    size_t count;

    stet_reader_init(&r, content, 0);
    count = stet_reader_u32(&r);
    if (count > STET_ORDER_MAX || content.len != 4 + count * KEY)
        return;
    for (size_t i = 0; i < count; i++)
        out->keys[i] = read_key(&r);
    out->count = count;
}

void stet_store_order_read(const struct stet_store *s, struct stet_hash name,
                           struct stet_store_order *out)
{
    struct stet_file file;
    struct stet_view content;

    out->count = 0;
    if (!stet_store_note_read(s, &kind, name, &file, &content))
        return;
    parse(content, out);
    stet_file_close(&file);
}

void stet_store_order_write(const struct stet_store *s, struct stet_hash name,
                            const struct stet_store_order *o)
{
    struct stet_buf b = STET_BUF_INIT;

    stet_buf_u32(&b, (uint32_t)o->count);
    for (size_t i = 0; i < o->count; i++)
        put_key(&b, o->keys[i]);
    if (!b.failed)
        stet_store_note_write(s, &kind, name, stet_buf_as_view(&b));
    stet_buf_release(&b);
}

void stet_store_order_touch(const struct stet_store *s, struct stet_hash name)
{
    stet_store_note_touch(s, &kind, name);
}
