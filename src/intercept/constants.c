/* Finds constants in MLIR bytecode and text and in HLO protos by their outer form alone, which is
 * much less than decoding, and leaves everything else unchanged. */
#include "intercept/constants.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/reader.h"
#include "base/vec.h"

/* The encoding of the elements, and so what may be written there without changing the form. */
enum coding {
    RAW,    /* any bytes */
    VARINT, /* protobuf's: the top bit of each byte stays */
    HEX,    /* hexadecimal digits */
    DIGITS, /* text: digits are replaced by 0 and 1, everything else stays */
};

struct range {
    size_t at, len;
    enum coding coding;
};

struct scan {
    struct stet_view all;
    struct range *ranges; /* in order, none overlapping */
    size_t count, room;
    bool failed, no_memory;
};

static void add(struct scan *s, const void *ptr, size_t len, enum coding coding)
{
    size_t at = (size_t)((const char *)ptr - s->all.ptr), i;

    if (len < STET_CONSTANT_LARGE)
        return;
    if (!stet_vec_room(&s->ranges, &s->room, s->count, sizeof *s->ranges)) {
        s->failed = s->no_memory = true;
        return;
    }
    for (i = s->count; i > 0 && s->ranges[i - 1].at > at; i--)
        s->ranges[i] = s->ranges[i - 1];
    s->ranges[i] = (struct range){at, len, coding};
    s->count++;
}

/* ---- MLIR bytecode: https://mlir.llvm.org/docs/BytecodeFormat ---- */

enum { ATTR_TYPE = 2, ATTR_TYPE_OFFSETS = 3, RESOURCES = 5, RESOURCE_OFFSETS = 6, SECTIONS = 16 };
enum { RESOURCE_BLOB = 0 };
/* Attributes that end in a blob: builtin's array<…> and dense<…>, vhlo's tensor. */
enum { DENSE_ARRAY = 17, DENSE = 18, VHLO_TENSOR = 15 };

static uint64_t varint(struct stet_reader *r)
{
    unsigned first = stet_reader_u8(r), extra;
    uint64_t v = first;

    if (first & 1)
        return first >> 1;
    if (first == 0)
        return stet_reader_u64(r);
    extra = (unsigned)__builtin_ctz(first);
    for (unsigned i = 1; i <= extra; i++)
        v |= (uint64_t)stet_reader_u8(r) << (8 * i);
    return v >> (extra + 1);
}

static void add_text(struct scan *s, struct stet_view text);

/* `coded` entries begin with a number that says what they are, others are text. */
static void attribute(struct scan *s, struct stet_view entry, bool coded)
{
    struct stet_reader r;
    uint64_t code, len;

    if (entry.len < STET_CONSTANT_LARGE)
        return;
    if (!coded) {
        add_text(s, entry);
        return;
    }
    stet_reader_init(&r, entry, 0);
    code = varint(&r);
    if (code != DENSE_ARRAY && code != DENSE && code != VHLO_TENSOR)
        return;
    varint(&r); /* the type */
    if (code == DENSE_ARRAY)
        varint(&r); /* how many */
    len = varint(&r);
    if (stet_reader_ok(&r) && len == stet_reader_left(&r))
        add(s, r.next, (size_t)len, RAW);
}

/* Groups of a dialect's entries, first those of attributes, then those of types. */
static void attributes(struct scan *s, struct stet_view data, struct stet_view offsets)
{
    struct stet_reader r, d;
    uint64_t left;

    stet_reader_init(&r, offsets, 0);
    stet_reader_init(&d, data, 0);
    left = varint(&r);
    varint(&r); /* how many types */
    while (left && stet_reader_ok(&r) && stet_reader_ok(&d)) {
        uint64_t group;

        varint(&r); /* the dialect */
        group = varint(&r);
        if (group > left)
            stet_reader_fail(&r, "more entries than announced");
        for (; group && stet_reader_ok(&r) && stet_reader_ok(&d); group--, left--) {
            uint64_t size = varint(&r);

            attribute(s, stet_reader_bytes(&d, size >> 1), size & 1);
        }
    }
    s->failed |= !stet_reader_ok(&r) || !stet_reader_ok(&d);
}

/* A blob is the end of its entry; alignment and padding come before it. */
static void resource(struct scan *s, struct stet_view entry, bool blob)
{
    struct stet_reader r;
    uint64_t size;

    if (entry.len < STET_CONSTANT_LARGE || !blob)
        return;
    stet_reader_init(&r, entry, 0);
    varint(&r);
    size = varint(&r);
    if (size > stet_reader_left(&r))
        s->failed = true;
    else
        add(s, entry.ptr + (entry.len - size), (size_t)size, RAW);
}

static void resources(struct scan *s, struct stet_view data, struct stet_view offsets)
{
    struct stet_reader r, d;

    stet_reader_init(&r, offsets, 0);
    stet_reader_init(&d, data, 0);
    varint(&r); /* how many groups are the files' own and not a dialect's */
    while (stet_reader_left(&r) && stet_reader_ok(&d)) {
        uint64_t n;

        varint(&r); /* whose */
        for (n = varint(&r); n && stet_reader_ok(&r) && stet_reader_ok(&d); n--) {
            uint64_t size;
            bool blob;

            varint(&r); /* the key */
            size = varint(&r);
            blob = stet_reader_u8(&r) == RESOURCE_BLOB;
            resource(s, stet_reader_bytes(&d, size), blob);
        }
    }
    s->failed |= !stet_reader_ok(&r) || !stet_reader_ok(&d);
}

static struct stet_view section(struct stet_reader *r, unsigned *id)
{
    unsigned head = stet_reader_u8(r);
    uint64_t length = varint(r), alignment;

    *id = head & 0x7f;
    if (head & 0x80) {
        alignment = varint(r);
        if (!alignment || (alignment & (alignment - 1)))
            stet_reader_fail(r, "alignment is not a power of two");
        while (stet_reader_ok(r) && (stet_reader_offset(r) & (alignment - 1)))
            stet_reader_u8(r);
    }
    return stet_reader_bytes(r, length);
}

static void bytecode(struct scan *s)
{
    struct stet_view sections[SECTIONS] = {{0}};
    struct stet_reader r;

    stet_reader_init(&r, s->all, 0);
    stet_reader_skip(&r, 4); /* magic */
    varint(&r);              /* version */
    while (stet_reader_ok(&r) && stet_reader_u8(&r) != 0)
        continue; /* producer */
    while (stet_reader_left(&r)) {
        unsigned id;
        struct stet_view bytes = section(&r, &id);

        if (id >= SECTIONS || sections[id].ptr)
            stet_reader_fail(&r, "a section unknown or twice");
        else
            sections[id] = bytes;
    }
    if (!stet_reader_ok(&r) || !sections[ATTR_TYPE_OFFSETS].ptr) {
        s->failed = true;
        return;
    }
    attributes(s, sections[ATTR_TYPE], sections[ATTR_TYPE_OFFSETS]);
    if (sections[RESOURCE_OFFSETS].ptr)
        resources(s, sections[RESOURCES], sections[RESOURCE_OFFSETS]);
}

/* ---- MLIR text ---- */

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* "0x…" as elements of dense<…> or as a resource, whose first four bytes are its alignment. */
static size_t hex_string(struct scan *s, struct stet_view text, size_t at)
{
    size_t end = at + 3;

    while (end < text.len && is_hex(text.ptr[end]))
        end++;
    if (end - at > 11)
        add(s, text.ptr + at + 11, end - at - 11, HEX);
    return end;
}

/* dense<[…]>: a list of numbers. */
static size_t number_list(struct scan *s, struct stet_view text, size_t at)
{
    size_t end = at + 6;
    bool strings = false;

    while (end < text.len && text.ptr[end] != '>')
        strings |= text.ptr[end++] == '"';
    if (!strings)
        add(s, text.ptr + at + 6, end - at - 6, DIGITS);
    return end;
}

static void add_text(struct scan *s, struct stet_view text)
{
    for (size_t i = 0; i < text.len;) {
        struct stet_view rest = stet_view_of(text.ptr + i, text.len - i);

        if (stet_view_starts(rest, "\"0x"))
            i = hex_string(s, text, i);
        else if (stet_view_starts(rest, "dense<["))
            i = number_list(s, text, i);
        else
            i++;
    }
}

/* ---- HLO: fields of protobuf messages that lead to a literal's elements ---- */

enum { VARINT_WIRE = 0, FIXED64_WIRE = 1, BYTES_WIRE = 2, FIXED32_WIRE = 5 };
enum { LITERAL_SHAPE = 1, LITERAL_TUPLE = 10, DEPTH_MAX = 16 };

static bool is_packed_varint(uint64_t field)
{
    return field == 2 || (field >= 4 && field <= 7) || field == 14; /* pred, s32 … u64, indices */
}

/* The next field; its bytes when it has some. False at the end. */
static bool next_field(struct scan *s, struct stet_reader *r, uint64_t *field, unsigned *wire,
                       struct stet_view *bytes)
{
    uint64_t tag;

    *bytes = (struct stet_view){0};
    if (!stet_reader_left(r))
        return false;
    tag = stet_reader_varint(r);
    *field = tag >> 3;
    *wire = (unsigned)(tag & 7);
    if (*wire == VARINT_WIRE)
        stet_reader_varint(r);
    else if (*wire == BYTES_WIRE)
        *bytes = stet_reader_bytes(r, stet_reader_varint(r));
    else if (*wire == FIXED64_WIRE || *wire == FIXED32_WIRE)
        stet_reader_skip(r, *wire == FIXED64_WIRE ? 8 : 4);
    else
        stet_reader_fail(r, "no such wire type");
    s->failed |= !stet_reader_ok(r);
    return stet_reader_ok(r);
}

static void literal(struct scan *s, struct stet_view message, unsigned depth)
{
    struct stet_reader r;
    struct stet_view bytes;
    uint64_t field;
    unsigned wire;

    if (message.len < STET_CONSTANT_LARGE)
        return;
    stet_reader_init(&r, message, 0);
    while (next_field(s, &r, &field, &wire, &bytes)) {
        if (wire != BYTES_WIRE || depth == DEPTH_MAX)
            s->failed = true; /* elements one by one, as nobody writes them */
        else if (field == LITERAL_TUPLE)
            literal(s, bytes, depth + 1);
        else if (field != LITERAL_SHAPE)
            add(s, bytes.ptr, bytes.len, is_packed_varint(field) ? VARINT : RAW);
    }
}

/* `path` names the field at each level on the way to the literals; it ends with a zero. */
static void descend(struct scan *s, struct stet_view message, const unsigned *path)
{
    struct stet_reader r;
    struct stet_view bytes;
    uint64_t field;
    unsigned wire;

    stet_reader_init(&r, message, 0);
    while (next_field(s, &r, &field, &wire, &bytes)) {
        if (field != *path || wire != BYTES_WIRE)
            continue;
        if (path[1])
            descend(s, bytes, path + 1);
        else
            literal(s, bytes, 0);
    }
}

/* ---- the copy ---- */

static void mask(char *to, struct stet_view from, enum coding coding)
{
    static const char hex[] = "0123456789abcdef";
    struct stet_hash hash = stet_hash_bytes(from);
    size_t digits = 0;

    for (size_t i = 0; i < from.len; i++) {
        size_t n = coding == DIGITS ? digits : i;
        uint64_t word = n < 64 ? hash.lo : hash.hi;
        unsigned bit = n < 128 ? (unsigned)(word >> (n % 64)) & 1 : 0;
        unsigned char c = (unsigned char)from.ptr[i];

        if (coding == VARINT) {
            to[i] = (char)((c & 0x80) | bit);
        } else if (coding == HEX) {
            word = n < 16 ? hash.lo : hash.hi;
            to[i] = n < 32 ? hex[word >> (4 * (n % 16)) & 15] : '0';
        } else if (c >= '0' && c <= '9') {
            to[i] = (char)('0' + bit);
            digits++;
        } else {
            to[i] = from.ptr[i];
        }
    }
}

static void fill(char *to, const struct scan *s)
{
    size_t done = 0;

    for (size_t i = 0; i < s->count; i++) {
        const struct range *g = &s->ranges[i];

        if (g->at < done)
            continue;
        memcpy(to + done, s->all.ptr + done, g->at - done);
        done = g->at + g->len;
        if (g->coding == RAW) { /* pages that stay zero take no memory */
            struct stet_hash hash = stet_hash_bytes(stet_view_of(s->all.ptr + g->at, g->len));

            memcpy(to + g->at, &hash, sizeof hash);
        } else {
            mask(to + g->at, stet_view_of(s->all.ptr + g->at, g->len), g->coding);
        }
    }
    if (s->all.len > done)
        memcpy(to + done, s->all.ptr + done, s->all.len - done);
}

static bool find(struct scan *s, struct stet_view format)
{
    static const unsigned module[] = {3, 2, 8, 0}, with_config[] = {1, 3, 2, 8, 0};

    if (stet_view_is(format, "mlir") && stet_view_starts(s->all, "ML\xefR"))
        bytecode(s);
    else if (stet_view_is(format, "mlir") && !memchr(s->all.ptr, 0, s->all.len))
        add_text(s, s->all);
    else if (stet_view_is(format, "hlo"))
        descend(s, s->all, module);
    else if (stet_view_is(format, "hlo_with_config"))
        descend(s, s->all, with_config);
    else
        return false;
    return !s->failed;
}

enum stet_rc stet_constants_strip(struct stet_view format, struct stet_view bytes, char **out)
{
    struct scan s = {.all = bytes};
    enum stet_rc rc = STET_OK;

    *out = NULL;
    if (!find(&s, format))
        rc = s.no_memory ? STET_NO_MEMORY : STET_UNSUPPORTED;
    else if (!(*out = stet_mem_calloc(bytes.len ? bytes.len : 1, 1)))
        rc = STET_NO_MEMORY;
    else
        fill(*out, &s);
    stet_mem_free(s.ranges);
    return rc;
}
