/* See lift_note.h: the key of the first program's entry, a count, two lengths, kinds, places. */
#include "store/lift_note.h"

#include "base/reader.h"
#include "store/note.h"

static const struct stet_store_note kind = {.folder = "lifts",
                                            .magic = "STETLFT\n",
                                            .version = STET_LIFT_NOTE_VERSION,
                                            .most = (size_t)16 << 20};

struct stet_hash stet_store_lift_name(struct stet_hash family, const struct stet_key_parts *parts)
{
    struct stet_key_parts compiler = *parts;

    compiler.part[STET_COMPONENT_PROGRAM] = compiler.part[STET_COMPONENT_OPTIONS] =
        (struct stet_view){0};
    return stet_hash_mix(family, stet_store_key_of(&compiler));
}

struct stet_hash stet_store_lift_skeleton_name(struct stet_hash skeleton)
{
    return stet_hash_mix(skeleton, stet_hash_bytes(STET_VIEW("skeleton")));
}

bool stet_store_lift_open(const struct stet_store *s, struct stet_hash name,
                          struct stet_store_lift *out)
{
    struct stet_view content;
    struct stet_reader r;
    uint32_t kinds, uses;

    if (!stet_store_note_read(s, &kind, name, &out->file, &content))
        return false;
    stet_store_note_touch(s, &kind, name);
    stet_reader_init(&r, content, 0);
    out->base.hi = stet_reader_u64(&r);
    out->base.lo = stet_reader_u64(&r);
    out->checked = stet_reader_u32(&r);
    kinds = stet_reader_u32(&r);
    uses = stet_reader_u32(&r);
    out->kinds = stet_reader_bytes(&r, kinds);
    out->argument_of = stet_reader_bytes(&r, uses);
    if (stet_reader_ok(&r) && stet_reader_left(&r) == 0)
        return true;
    stet_file_close(&out->file);
    return false;
}

void stet_store_lift_close(struct stet_store_lift *l)
{
    stet_file_close(&l->file);
}

void stet_store_lift_write(const struct stet_store *s, struct stet_hash name,
                           const struct stet_store_lift *l)
{
    struct stet_buf b = STET_BUF_INIT;

    stet_buf_u64(&b, l->base.hi);
    stet_buf_u64(&b, l->base.lo);
    stet_buf_u32(&b, l->checked);
    stet_buf_u32(&b, (uint32_t)l->kinds.len);
    stet_buf_u32(&b, (uint32_t)l->argument_of.len);
    stet_buf_view(&b, l->kinds);
    stet_buf_view(&b, l->argument_of);
    if (!b.failed)
        stet_store_note_write(s, &kind, name, stet_buf_as_view(&b));
    stet_buf_release(&b);
}
