/* Decodes payload bytes into a record struct; skips unknown fields. */
#include "journal/read.h"

#include "base/reader.h"

/* One field as it is in the payload. */
struct raw_field {
    uint64_t key;
    bool counted;
    uint64_t number;
    struct stet_view bytes;
};

static bool next_field(struct stet_reader *r, struct raw_field *f)
{
    uint64_t tag;

    if (!stet_reader_ok(r) || stet_reader_left(r) == 0)
        return false;
    tag = stet_reader_varint(r);
    *f = (struct raw_field){.key = tag >> 1, .counted = tag & 1};
    if (f->counted)
        f->bytes = stet_reader_bytes(r, stet_reader_varint(r));
    else
        f->number = stet_reader_varint(r);
    return stet_reader_ok(r);
}

static struct stet_frame read_frame(struct stet_reader *r, struct stet_view bytes)
{
    struct stet_frame frame = {.depth = 0};
    struct stet_reader f;

    stet_reader_init(&f, bytes, 0);
    frame.line = stet_reader_varint(&f);
    frame.file = stet_reader_bytes(&f, stet_reader_varint(&f));
    frame.function = stet_reader_bytes(&f, stet_reader_left(&f));
    if (!stet_reader_ok(&f))
        stet_reader_fail(r, "a stack frame ends early");
    return frame;
}

static void read_numbers(struct stet_reader *r, struct stet_arena *a, struct stet_view bytes,
                         struct stet_u64s *out)
{
    struct stet_reader list;
    uint64_t *items = STET_NEW_ARRAY(a, uint64_t, bytes.len); /* at least a byte each */
    size_t n = 0;

    stet_reader_init(&list, bytes, 0);
    while (items && stet_reader_left(&list) && stet_reader_ok(&list))
        items[n++] = stet_reader_varint(&list);
    if (!items || !stet_reader_ok(&list))
        stet_reader_fail(r, "a list of numbers ends early");
    else
        *out = (struct stet_u64s){items, n};
}

/* Lists repeat their field: the first one reserves room for all that are left. */
static size_t count_left(struct stet_reader r, const struct raw_field *first)
{
    struct raw_field f;
    size_t n = 1;

    while (next_field(&r, &f))
        n += f.key == first->key;
    return n;
}

static void add_item(struct stet_reader *r, struct stet_arena *a, const struct raw_field *f,
                     struct stet_list *list)
{
    struct stet_view *items = (struct stet_view *)(uintptr_t)list->items;

    if (!items)
        list->items = items = STET_NEW_ARRAY(a, struct stet_view, count_left(*r, f));
    if (items)
        items[list->count++] = f->bytes;
    else
        stet_reader_fail(r, "too long a list");
}

static void add_frame(struct stet_reader *r, struct stet_arena *a, const struct raw_field *f,
                      struct stet_frames *list)
{
    struct stet_frame *items = (struct stet_frame *)(uintptr_t)list->items;

    if (!items)
        list->items = items = STET_NEW_ARRAY(a, struct stet_frame, count_left(*r, f));
    if (items)
        items[list->count++] = read_frame(r, f->bytes);
    else
        stet_reader_fail(r, "too long a list");
}

static void read_hash(struct stet_reader *r, struct stet_view bytes, struct stet_hash *out)
{
    struct stet_reader h;

    if (bytes.len != 16) {
        stet_reader_fail(r, "a hash of the wrong size");
        return;
    }
    stet_reader_init(&h, bytes, 0);
    out->hi = stet_reader_u64(&h);
    out->lo = stet_reader_u64(&h);
}

static void set_field(struct stet_reader *r, struct stet_arena *a,
                      const struct stet_field_info *info, const struct raw_field *f, void *value)
{
    if (f->counted != (info->kind != STET_KIND_U64)) {
        stet_reader_fail(r, "a field of the wrong kind");
        return;
    }
    switch (info->kind) {
    case STET_KIND_U64:
        *(uint64_t *)value = f->number;
        break;
    case STET_KIND_STR:
    case STET_KIND_BYTES:
        *(struct stet_view *)value = f->bytes;
        break;
    case STET_KIND_HASH:
        read_hash(r, f->bytes, value);
        break;
    case STET_KIND_LIST:
        add_item(r, a, f, value);
        break;
    case STET_KIND_U64S:
        read_numbers(r, a, f->bytes, value);
        break;
    case STET_KIND_FRAMES:
        add_frame(r, a, f, value);
        break;
    }
}

static const struct stet_field_info *field_by_key(const struct stet_journal_record_info *info,
                                                  uint64_t key)
{
    for (size_t i = 0; i < info->field_count; i++)
        if (info->fields[i].key == key)
            return &info->fields[i];
    return NULL;
}

enum stet_rc stet_journal_record_decode(union stet_record *out, struct stet_arena *arena,
                                        const struct stet_journal_record_info *info,
                                        struct stet_view payload, struct stet_err *err)
{
    struct stet_reader r;
    struct raw_field f;

    memset(out, 0, sizeof *out);
    stet_reader_init(&r, payload, 0);
    while (next_field(&r, &f)) {
        const struct stet_field_info *field = field_by_key(info, f.key);

        if (field)
            set_field(&r, arena, field, &f, (char *)out + field->offset);
    }
    return stet_reader_finish(&r, info->name, err);
}
