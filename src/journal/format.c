/* The list of records as tables, and the encoding of their fields. */
#include "journal/format.h"

/* Each record's fields as an array of its own. */
#define RECORD(name, number, stream, what) static const struct stet_field_info name##_fields[] = {
#define FIELD(record, key, kind, name, what)                                                       \
    {#name, what, key, STET_KIND_##kind, offsetof(struct stet_rec_##record, name)},
#define END(record)                                                                                \
    }                                                                                              \
    ;
#include "journal/records.def"
#undef RECORD
#undef FIELD
#undef END

static const struct stet_record_info records[] = {
#define RECORD(name, number, stream, what)                                                         \
    [number] = {#name,         what,                                                               \
                number,        STET_STREAM_##stream,                                               \
                name##_fields, sizeof name##_fields / sizeof *name##_fields},
#define FIELD(record, key, kind, name, what)
#define END(record)
#include "journal/records.def"
#undef RECORD
#undef FIELD
#undef END
};

const struct stet_record_info *stet_record_info(unsigned kind)
{
    if (kind >= sizeof records / sizeof *records || !records[kind].name)
        return NULL;
    return &records[kind];
}

uint32_t stet_journal_checksum(const void *bytes, size_t n)
{
    return (uint32_t)stet_hash_bytes(stet_view_of(bytes, n)).lo;
}

/* A field is varint(key << 1 | counted) and then a varint, or a length and that many bytes. Lists
 * repeat their field. */
static void add_number(struct stet_buf *out, unsigned key, uint64_t v)
{
    if (!v)
        return;
    stet_buf_varint(out, (uint64_t)key << 1);
    stet_buf_varint(out, v);
}

static void add_counted(struct stet_buf *out, unsigned key, size_t n)
{
    stet_buf_varint(out, (uint64_t)key << 1 | 1);
    stet_buf_varint(out, n);
}

static void add_bytes(struct stet_buf *out, unsigned key, struct stet_view v)
{
    add_counted(out, key, v.len);
    stet_buf_view(out, v);
}

static void add_hash(struct stet_buf *out, unsigned key, struct stet_hash h)
{
    if (stet_hash_is_zero(h))
        return;
    add_counted(out, key, 16);
    stet_buf_u64(out, h.hi);
    stet_buf_u64(out, h.lo);
}

static size_t varint_size(uint64_t v)
{
    size_t n = 1;

    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

static void add_numbers(struct stet_buf *out, unsigned key, const struct stet_u64s *list)
{
    size_t n = 0, count = 0;

    while (count < list->count && n < STET_JOURNAL_NUMBERS_MAX)
        n += varint_size(list->items[count++]);
    if (!n)
        return;
    add_counted(out, key, n);
    for (size_t i = 0; i < count; i++)
        stet_buf_varint(out, list->items[i]);
}

/* line, length of the file name, file name, function to the end */
static void add_frame(struct stet_buf *out, unsigned key, const struct stet_frame *f)
{
    add_counted(out, key,
                varint_size(f->line) + varint_size(f->file.len) + f->file.len + f->function.len);
    stet_buf_varint(out, f->line);
    stet_buf_varint(out, f->file.len);
    stet_buf_view(out, f->file);
    stet_buf_view(out, f->function);
}

/* An error message of a compiler can have megabytes; the journal needs only its beginning. */
static struct stet_view cut(struct stet_view text)
{
    text.len = text.len < STET_JOURNAL_TEXT_MAX ? text.len : STET_JOURNAL_TEXT_MAX;
    return text;
}

static void add_list(struct stet_buf *out, unsigned key, const struct stet_list *list)
{
    size_t end = out->len + STET_JOURNAL_LIST_MAX;

    for (size_t i = 0; i < list->count && out->len + cut(list->items[i]).len < end; i++)
        add_bytes(out, key, cut(list->items[i]));
}

static void add_frames(struct stet_buf *out, unsigned key, const struct stet_frames *frames)
{
    size_t end = out->len + STET_JOURNAL_LIST_MAX;

    for (size_t i = 0; i < frames->count; i++) {
        struct stet_frame f = frames->items[i];

        f.file = cut(f.file);
        f.function = cut(f.function);
        if (out->len + f.file.len + f.function.len >= end)
            return;
        add_frame(out, key, &f);
    }
}

static void add_field(struct stet_buf *out, const struct stet_field_info *f, const void *value)
{
    const struct stet_view *text = value;

    switch (f->kind) {
    case STET_KIND_U64:
        add_number(out, f->key, *(const uint64_t *)value);
        break;
    case STET_KIND_STR:
        if (text->len)
            add_bytes(out, f->key, cut(*text));
        break;
    case STET_KIND_BYTES:
        if (text->len)
            add_bytes(out, f->key, *text);
        break;
    case STET_KIND_HASH:
        add_hash(out, f->key, *(const struct stet_hash *)value);
        break;
    case STET_KIND_LIST:
        add_list(out, f->key, value);
        break;
    case STET_KIND_U64S:
        add_numbers(out, f->key, value);
        break;
    case STET_KIND_FRAMES:
        add_frames(out, f->key, value);
        break;
    }
}

void stet_record_encode(struct stet_buf *out, const struct stet_record_info *info,
                        const void *record)
{
    for (size_t i = 0; i < info->field_count; i++)
        add_field(out, &info->fields[i], (const char *)record + info->fields[i].offset);
}
