/* See values_record.h.
 *
 * The bytes begin with two that no older journal begins with. Then follow entries, each with its
 * length before it. An entry that begins with 0 is a text, and gets the next number. Any other is a
 * value: kind × 2, + 1 if scope and frame are those of the value before; otherwise both; how many
 * bytes of its path are those of the path before, and the rest; its type, and the fields of its
 * kind. Of types, dtypes, files and functions only the number of their text is written. */
#include "journal/values_record.h"

#include <string.h>

enum {
    VALUE_MOST = 1024, /* bytes of one value */
    TEXT = 0,
    MARK = 0, /* no value of an older journal has this length */
    VERSION = 1,
};

/* ---- writing ---- */

/* An entry is written where it will be, and counts when it is complete. */
struct cursor {
    unsigned char *next, *end;
    bool full;
};

static void put(struct cursor *c, const void *bytes, size_t n)
{
    if (c->full || n > (size_t)(c->end - c->next)) {
        c->full = true;
        return;
    }
    if (n)
        memcpy(c->next, bytes, n);
    c->next += n;
}

static void put_long_varint(struct cursor *c, uint64_t v)
{
    unsigned char bytes[10];
    size_t n = 0;

    do {
        bytes[n] = (unsigned char)(v & 0x7f);
        v >>= 7;
        if (v)
            bytes[n] |= 0x80;
        n++;
    } while (v);
    put(c, bytes, n);
}

static inline void put_varint(struct cursor *c, uint64_t v)
{
    if (v < 0x80 && c->next < c->end && !c->full) /* most of them */
        *c->next++ = (unsigned char)v;
    else
        put_long_varint(c, v);
}

/* Zigzag: small negative numbers stay short. */
static uint64_t zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t v)
{
    return (int64_t)((v >> 1) ^ (v & 1 ? UINT64_MAX : 0));
}

static void put_text(struct cursor *c, struct stet_view v)
{
    put_varint(c, v.len);
    put(c, v.ptr, v.len);
}

static void put_u64(struct cursor *c, uint64_t v)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(v >> (8 * i));
    put(c, bytes, sizeof bytes);
}

/* Writes the length before an entry of `n` bytes, for which one byte was left. */
static void put_length(struct cursor *c, unsigned char *length, size_t n)
{
    if (n < 0x80) {
        *length = (unsigned char)n;
        return;
    }
    if (c->next == c->end) {
        c->full = true;
        return;
    }
    memmove(length + 2, length + 1, n);
    length[0] = (unsigned char)(n & 0x7f) | 0x80;
    length[1] = (unsigned char)(n >> 7);
    c->next++;
}

static struct cursor begin_entry(struct stet_journal_values *v)
{
    unsigned char *length = v->bytes + v->used, *end = v->bytes + sizeof v->bytes;

    return (struct cursor){length < end ? length + 1 : end, end, length >= end};
}

static bool end_entry(struct stet_journal_values *v, struct cursor *c)
{
    unsigned char *length = v->bytes + v->used;

    if (!c->full && c->next - length <= VALUE_MOST)
        put_length(c, length, (size_t)(c->next - length - 1));
    else
        c->full = true;
    if (!c->full)
        v->used = (uint32_t)(c->next - v->bytes);
    return !c->full;
}

/* Of a few of its characters: texts that differ only in others are rare, and are compared. */
static size_t slot_of(struct stet_view text)
{
    const unsigned char *c = (const unsigned char *)text.ptr;
    uint32_t mixed = c[0] | (uint32_t)c[text.len / 2] << 8 | (uint32_t)c[text.len - 1] << 16;

    return ((mixed + (uint32_t)text.len * 0x1000193U) * 0x9e3779b1U) >> 16;
}

/* The number of a text, from 1; 0 if it is not among those that are written once. */
static uint32_t number_of(struct stet_journal_values *v, struct stet_view text)
{
    size_t slots = sizeof v->slots, at;
    struct cursor c;

    if (!text.len || text.len >= VALUE_MOST)
        return 0;
    for (at = slot_of(text) % slots; v->slots[at]; at = (at + 1) % slots) {
        uint32_t i = v->slots[at] - 1U;

        if (v->texts[i].length == text.len &&
            memcmp(v->bytes + v->texts[i].at, text.ptr, text.len) == 0)
            return i + 1;
    }
    if (v->text_count == STET_VALUES_TEXTS)
        return 0;
    c = begin_entry(v);
    put_varint(&c, TEXT);
    put(&c, text.ptr, text.len);
    if (!end_entry(v, &c))
        return 0;
    v->texts[v->text_count].at = (uint16_t)(v->used - text.len);
    v->texts[v->text_count].length = (uint16_t)text.len;
    v->slots[at] = (unsigned char)++v->text_count;
    return v->text_count;
}

/* The texts of a value that are written once. */
struct numbers {
    uint32_t type, text, place, file;
};

static struct numbers numbers_of(struct stet_journal_values *v,
                                 const struct stet_journal_value *value)
{
    bool array = value->kind == STET_VALUE_ARRAY, function = value->kind == STET_VALUE_FUNCTION;

    return (struct numbers){
        .type = number_of(v, value->type),
        .text = array || function ? number_of(v, value->text) : 0,
        .place = array ? number_of(v, value->place) : 0,
        .file = function ? number_of(v, value->file) : 0,
    };
}

static void put_number(struct cursor *c, uint32_t number, struct stet_view text)
{
    put_varint(c, number);
    if (!number)
        put_text(c, text);
}

static void put_array(struct cursor *c, const struct stet_journal_value *v, struct numbers n)
{
    put_number(c, n.text, v->text);
    put_number(c, n.place, v->place);
    put_varint(c, v->weak);
    put_varint(c, v->rank);
    for (uint32_t i = 0; i < v->rank; i++)
        put_varint(c, zigzag(v->dims[i]));
}

static void put_payload(struct cursor *c, const struct stet_journal_value *v, struct numbers n)
{
    uint64_t bits;

    switch (v->kind) {
    case STET_VALUE_NONE:
        break;
    case STET_VALUE_BOOL:
    case STET_VALUE_INT:
    case STET_VALUE_LENGTH:
        put_varint(c, zigzag(v->number));
        break;
    case STET_VALUE_FLOAT:
        memcpy(&bits, &v->real, sizeof bits);
        put_u64(c, bits);
        break;
    case STET_VALUE_WORD:
        put_text(c, v->text);
        break;
    case STET_VALUE_HIDDEN:
        put_u64(c, v->hash);
        break;
    case STET_VALUE_ARRAY:
        put_array(c, v, n);
        break;
    case STET_VALUE_FUNCTION:
        put_number(c, n.text, v->text);
        put_number(c, n.file, v->file);
        put_varint(c, v->line);
        put_u64(c, v->address);
        break;
    case STET_VALUE_OBJECT:
    case STET_VALUE_CONTAINER:
        put_u64(c, v->address);
        break;
    }
}

static uint32_t shared(const struct stet_journal_values *v, struct stet_view path)
{
    uint32_t n = 0, most = path.len < v->length ? (uint32_t)path.len : v->length;

    for (uint64_t a, b; n + sizeof a <= most; n += sizeof a) {
        memcpy(&a, v->path + n, sizeof a);
        memcpy(&b, path.ptr + n, sizeof b);
        if (a != b)
            break;
    }
    while (n < most && v->path[n] == path.ptr[n])
        n++;
    return n;
}

static void remember(struct stet_journal_values *v, const struct stet_journal_value *value,
                     uint32_t same)
{
    v->scope = value->scope;
    v->frame = value->frame;
    v->length = (uint32_t)value->path.len;
    if (value->path.len > same)
        memcpy(v->path + same, value->path.ptr + same, value->path.len - same);
}

static bool add(struct stet_journal_values *v, const struct stet_journal_value *value)
{
    uint32_t same = shared(v, value->path);
    bool same_frame = v->scope == value->scope && v->frame == value->frame;
    struct numbers n = numbers_of(v, value);
    struct cursor c = begin_entry(v);

    put_varint(&c, (uint64_t)value->kind * 2 + same_frame);
    if (!same_frame) {
        put_varint(&c, value->scope);
        put_varint(&c, value->frame);
    }
    put_varint(&c, same);
    put_text(&c, stet_view_of(value->path.ptr + same, value->path.len - same));
    put_number(&c, n.type, value->type);
    put_payload(&c, value, n);
    if (!end_entry(v, &c))
        return false;
    remember(v, value, same);
    return true;
}

void stet_journal_values_init(struct stet_journal_values *v)
{
    memset(v, 0, offsetof(struct stet_journal_values, bytes));
}

void stet_journal_values_add(struct stet_journal_values *v, const struct stet_journal_value *value)
{
    if (!v->used) {
        v->bytes[0] = MARK;
        v->bytes[1] = VERSION;
        v->used = 2;
    }
    if (value->path.len > sizeof v->path || !add(v, value))
        v->dropped++;
}

/* ---- reading ---- */

/* A text of a value of an older journal, or of one that was not numbered. */
static struct stet_view read_text(struct stet_reader *r)
{
    return stet_reader_bytes(r, stet_reader_varint(r));
}

/* A text that may have a number. */
static struct stet_view read_number(struct stet_journal_values_reader *r, struct stet_reader *one)
{
    uint64_t n = r->packed ? stet_reader_varint(one) : 0;

    if (!n)
        return read_text(one);
    if (n > r->text_count) {
        stet_reader_fail(one, "a text is missing");
        return (struct stet_view){0};
    }
    return r->texts[n - 1];
}

static void read_array(struct stet_journal_values_reader *r, struct stet_reader *one,
                       struct stet_journal_value *v)
{
    uint64_t rank;

    v->text = read_number(r, one);
    v->place = read_number(r, one);
    v->weak = stet_reader_varint(one) != 0;
    rank = stet_reader_varint(one);
    if (rank > STET_VALUES_RANK_MAX) {
        stet_reader_fail(one, "an array has too many dimensions");
        return;
    }
    v->rank = (uint32_t)rank;
    for (uint32_t i = 0; i < v->rank; i++)
        v->dims[i] = unzigzag(stet_reader_varint(one));
}

/* Fields of a newer Stet after the known ones are skipped with the rest of the value. */
static void read_payload(struct stet_journal_values_reader *r, struct stet_reader *one,
                         struct stet_journal_value *v)
{
    uint64_t bits;

    switch (v->kind) {
    case STET_VALUE_NONE:
        break;
    case STET_VALUE_BOOL:
    case STET_VALUE_INT:
    case STET_VALUE_LENGTH:
        v->number = unzigzag(stet_reader_varint(one));
        break;
    case STET_VALUE_FLOAT:
        bits = stet_reader_u64(one);
        memcpy(&v->real, &bits, sizeof v->real);
        break;
    case STET_VALUE_WORD:
        v->text = read_text(one);
        break;
    case STET_VALUE_HIDDEN:
        v->hash = stet_reader_u64(one);
        break;
    case STET_VALUE_ARRAY:
        read_array(r, one, v);
        break;
    case STET_VALUE_FUNCTION:
        v->text = read_number(r, one);
        v->file = read_number(r, one);
        v->line = (uint32_t)stet_reader_varint(one);
        v->address = stet_reader_u64(one);
        break;
    case STET_VALUE_OBJECT:
    case STET_VALUE_CONTAINER:
        v->address = stet_reader_u64(one);
        break;
    }
}

/* A path that begins as the one before it. */
static struct stet_view read_path(struct stet_journal_values_reader *r, struct stet_reader *one)
{
    uint64_t same = stet_reader_varint(one);
    struct stet_view rest = read_text(one);

    if (same > r->length || rest.len > sizeof r->path - same) {
        stet_reader_fail(one, "a path is too long");
        return (struct stet_view){0};
    }
    if (rest.len)
        memcpy(r->path + same, rest.ptr, rest.len);
    r->length = (uint32_t)(same + rest.len);
    return stet_view_of(r->path, r->length);
}

static void read_head(struct stet_journal_values_reader *r, struct stet_reader *one, uint64_t kind,
                      struct stet_journal_value *v)
{
    bool same = r->packed && (kind & 1);

    v->kind = (enum stet_journal_value_kind)(r->packed ? kind / 2 : kind);
    if (!same) {
        r->scope = (enum stet_journal_value_scope)stet_reader_varint(one);
        r->frame = (uint32_t)stet_reader_varint(one);
    }
    v->scope = r->scope;
    v->frame = r->frame;
    v->path = r->packed ? read_path(r, one) : read_text(one);
    v->type = read_number(r, one);
}

static void read_entry(struct stet_journal_values_reader *r, struct stet_journal_value *out)
{
    struct stet_reader one = stet_reader_sub(&r->in, stet_reader_varint(&r->in));
    uint64_t kind = stet_reader_varint(&one);

    *out = (struct stet_journal_value){.kind = (enum stet_journal_value_kind)0};
    if (r->packed && kind == TEXT) {
        if (r->text_count < STET_VALUES_TEXTS)
            r->texts[r->text_count++] = stet_reader_bytes(&one, stet_reader_left(&one));
        else
            stet_reader_fail(&one, "too many texts");
    } else {
        read_head(r, &one, kind, out);
        read_payload(r, &one, out);
    }
    if (!stet_reader_ok(&one))
        stet_reader_fail(&r->in, "a value ends early");
}

void stet_journal_values_open(struct stet_journal_values_reader *r, struct stet_view bytes)
{
    stet_reader_init(&r->in, bytes, 0);
    r->packed = bytes.len >= 2 && bytes.ptr[0] == MARK;
    r->scope = STET_SCOPE_LOCAL;
    r->frame = r->length = r->text_count = 0;
    if (r->packed && bytes.ptr[1] != VERSION)
        stet_reader_fail(&r->in, "values of a newer Stet");
    stet_reader_skip(&r->in, r->packed ? 2 : 0);
}

bool stet_journal_values_next(struct stet_journal_values_reader *r, struct stet_journal_value *out)
{
    do {
        if (!stet_reader_ok(&r->in) || stet_reader_left(&r->in) == 0)
            return false;
        read_entry(r, out);
    } while (stet_reader_ok(&r->in) &&
             !stet_journal_value_kind_name(out->kind)); /* a text, or of a newer Stet */
    return stet_reader_ok(&r->in);
}
