/* MLIR bytecode: the container, its tables, and the entry point. Specified by
 * mlir/docs/BytecodeFormat.md; where that leaves something open, this follows MLIR's own reader. */
#include "decode/bytecode/bytecode.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

bool stet_decode_bc_fail(struct bc *b, enum stet_rc rc, uint64_t offset, const char *fmt, ...)
{
    char text[160];
    va_list ap;

    if (!bc_ok(b))
        return false;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (offset == STET_NO_OFFSET)
        offset = b->where;
    b->rc = stet_fail_at(b->err, rc, offset, "MLIR bytecode: %s", text);
    return false;
}

bool stet_decode_bc_check(struct bc *b, const struct stet_reader *r, const char *context)
{
    if (!stet_reader_ok(r))
        return stet_decode_bc_fail(b, STET_BAD_INPUT, r->where, "%s: %s", context, r->what);
    return bc_ok(b);
}

uint64_t stet_decode_bc_varint_slow(struct stet_reader *r)
{
    uint64_t v = 0;
    unsigned first, extra;

    if (r->next == r->end) {
        stet_reader_fail(r, "ends where a number is expected");
        return 0;
    }
    first = *r->next;
    if (first & 1) {
        r->next++;
        return first >> 1;
    }
    if (first == 0) {
        r->next++;
        return stet_reader_u64(r);
    }
    extra = (unsigned)__builtin_ctz(first);
    if (stet_reader_left(r) < extra + 1) {
        stet_reader_fail(r, "ends in the middle of a number");
        return 0;
    }
    for (unsigned i = 0; i <= extra; i++)
        v |= (uint64_t)r->next[i] << (8 * i);
    r->next += extra + 1;
    return v >> (extra + 1);
}

struct stet_view stet_decode_bc_string(struct bc *b, struct stet_reader *r)
{
    uint64_t index = bc_varint(r);

    if (index >= b->string_count) {
        stet_reader_fail(r, "no such string");
        return (struct stet_view){0};
    }
    return bc_string_at(b, index);
}

struct stet_view stet_decode_bc_blob(struct stet_reader *r)
{
    return stet_reader_bytes(r, bc_varint(r));
}

/* ---- sections ---- */

enum { PADDING = 0xcb };

static void skip_padding(struct stet_reader *r, uint64_t alignment)
{
    if (alignment == 0 || (alignment & (alignment - 1))) {
        stet_reader_fail(r, "alignment is not a power of two");
        return;
    }
    /* Relative to the start of the file: MLIR requires its buffer to be aligned as much as the file
     * requests. */
    while (stet_reader_ok(r) && (stet_reader_offset(r) & (alignment - 1)))
        if (stet_reader_u8(r) != PADDING)
            stet_reader_fail(r, "padding expected");
}

static struct stet_view read_section(struct stet_reader *r, unsigned *id)
{
    unsigned head = stet_reader_u8(r);
    uint64_t length = bc_varint(r);

    *id = head & 0x7f;
    if (head & 0x80)
        skip_padding(r, bc_varint(r));
    return stet_reader_bytes(r, length);
}

struct stet_view stet_decode_bc_nested(struct bc *b, struct stet_reader *r, enum bc_section want)
{
    unsigned id;
    struct stet_view bytes = read_section(r, &id);

    (void)b;
    if (stet_reader_ok(r) && id != (unsigned)want)
        stet_reader_fail(r, "another section than expected");
    return bytes;
}

static bool read_sections(struct bc *b, struct stet_reader *r)
{
    static const enum bc_section needed[] = {BC_STRINGS, BC_DIALECTS, BC_ATTR_TYPE,
                                             BC_ATTR_TYPE_OFFSETS, BC_IR};

    while (stet_reader_left(r)) {
        uint64_t at = stet_reader_offset(r);
        unsigned id;
        struct stet_view bytes = read_section(r, &id);

        if (!stet_decode_bc_check(b, r, "section"))
            return false;
        if (id >= BC_SECTIONS)
            return stet_decode_bc_fail(b, STET_UNSUPPORTED, at, "unknown section %u", id);
        if (b->present[id])
            return stet_decode_bc_fail(b, STET_BAD_INPUT, at, "section %u occurs twice", id);
        b->present[id] = true;
        b->sections[id] = bytes;
    }
    for (unsigned i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!b->present[needed[i]])
            return stet_decode_bc_fail(b, STET_BAD_INPUT, b->input.len, "section %u is missing",
                                       needed[i]);
    return true;
}

static struct stet_reader section_reader(const struct bc *b, enum bc_section s)
{
    return bc_reader(b, b->sections[s].ptr, b->sections[s].len);
}

void *stet_decode_bc_rows(struct bc *b, size_t count, size_t size)
{
    struct stet_arena *a = &b->scratch;
    char *next = a->next, *end = a->end;
    void *rows = stet_arena_raw(a, count, size);

    if (a->end != end && a->end - a->next < end - next) {
        a->next = next;
        a->end = end;
    }
    return rows;
}

/* `count` zeroed table rows in the scratch arena. */
static void *table(struct bc *b, size_t count, size_t size)
{
    void *rows = stet_decode_bc_rows(b, count, size);

    if (rows)
        memset(rows, 0, count * size);
    else
        stet_decode_bc_fail(b,
                            b->scratch.used + count > b->scratch.cap ? STET_LIMIT : STET_NO_MEMORY,
                            STET_NO_OFFSET, "no memory for the tables");
    return rows;
}

/* ---- strings ---- */

/* The lengths are stored last string first, then the bytes first string first. */
static bool read_strings(struct bc *b)
{
    struct stet_reader r = section_reader(b, BC_STRINGS);
    size_t n = bc_count(&r), end = b->sections[BC_STRINGS].len;

    if (end > UINT32_MAX)
        return stet_decode_bc_fail(b, STET_LIMIT, stet_reader_offset(&r), "%zu bytes of strings",
                                   end);
    b->strings = table(b, n + 1, sizeof *b->strings);
    if (!b->strings)
        return false;
    b->strings[n] = (uint32_t)end;
    for (size_t i = n; i-- > 0 && stet_reader_ok(&r);) {
        uint64_t size = bc_varint(&r);

        if (size == 0 || size > end) {
            stet_reader_fail(&r, "a string's length points outside");
            break;
        }
        end -= (size_t)size;
        b->strings[i] = (uint32_t)end;
    }
    if (stet_reader_ok(&r) && (size_t)(r.next - r.start) != end)
        stet_reader_fail(&r, "the strings' lengths do not add up");
    b->string_count = n;
    return stet_decode_bc_check(b, &r, "strings");
}

/* ---- dialects and operation names ---- */

static enum bc_dialect_kind dialect_kind(struct stet_view name)
{
    static const struct {
        const char *name;
        enum bc_dialect_kind kind;
    } known[] = {{"builtin", BC_BUILTIN}, {"vhlo", BC_VHLO}, {"stablehlo", BC_STABLEHLO},
                 {"chlo", BC_CHLO},       {"sdy", BC_SDY},   {"quant", BC_QUANT}};

    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (stet_view_is(name, known[i].name))
            return known[i].kind;
    return BC_OTHER;
}

void stet_decode_bc_name_op(struct bc *b, struct stet_view dialect, struct stet_view name,
                            struct bc_name *out)
{
    char text[96];
    struct stet_view full = dialect;

    if (name.len && dialect.len + name.len < sizeof text) {
        memcpy(text, dialect.ptr, dialect.len);
        text[dialect.len] = '.';
        memcpy(text + dialect.len + 1, name.ptr, name.len);
        full = stet_view_of(text, dialect.len + 1 + name.len);
        out->known = stet_known_op(full);
    }
    if (out->known)
        out->name = stet_view_str(stet_known_op_name(out->known));
    else if (full.ptr == text)
        out->name = stet_arena_copy(b->arena, full);
    else
        out->name =
            name.len ? stet_arena_printf(b->arena, "%.*s.%.*s", STET_FMT(dialect), STET_FMT(name))
                     : dialect;
}

static void read_name(struct bc *b, struct stet_reader *r, const struct bc_dialect *dialect,
                      struct bc_name *out)
{
    uint64_t index = bc_varint(r);
    struct stet_view name;

    if (b->version >= BC_NATIVE_PROPERTIES) {
        out->registered = index & 1;
        index >>= 1;
    }
    if (index >= b->string_count) {
        stet_reader_fail(r, "no such string");
        return;
    }
    name = bc_string_at(b, index);
    if (dialect->kind == BC_VHLO && stet_decode_bc_vhlo_name(b, name, out))
        return;
    stet_decode_bc_name_op(b, dialect->name, name, out);
    out->props = stet_props_find(out->name);
}

static bool read_names(struct bc *b, struct stet_reader *r)
{
    size_t room = stet_reader_left(r); /* a name takes at least a byte */

    if (b->version >= BC_ELIDE_UNKNOWN_LOCS) {
        uint64_t stated = bc_varint(r);

        room = stated < room ? (size_t)stated : room;
    }
    b->names = table(b, room, sizeof *b->names);
    if (!b->names)
        return false;
    while (stet_reader_left(r)) {
        uint64_t dialect = bc_varint(r), n = bc_varint(r);

        if (dialect >= b->dialect_count)
            stet_reader_fail(r, "no such dialect");
        for (uint64_t i = 0; i < n && stet_reader_ok(r); i++) {
            if (b->name_count == room) {
                stet_reader_fail(r, "more operation names than announced");
                break;
            }
            read_name(b, r, &b->dialects[dialect], &b->names[b->name_count]);
            b->name_count++;
        }
    }
    return stet_decode_bc_check(b, r, "operation names");
}

static bool read_dialects(struct bc *b)
{
    struct stet_reader r = section_reader(b, BC_DIALECTS);
    size_t n = bc_count(&r);

    if (n > UINT16_MAX)
        return stet_decode_bc_fail(b, STET_LIMIT, stet_reader_offset(&r), "%zu dialects", n);
    b->dialects = table(b, n, sizeof *b->dialects);
    if (!b->dialects)
        return false;
    for (size_t i = 0; i < n && stet_reader_ok(&r); i++) {
        uint64_t index = bc_varint(&r);
        bool versioned = b->version >= BC_DIALECT_VERSIONING && (index & 1);

        if (b->version >= BC_DIALECT_VERSIONING)
            index >>= 1;
        if (index >= b->string_count) {
            stet_reader_fail(&r, "no such string");
            break;
        }
        b->dialects[i].name = bc_string_at(b, index);
        b->dialects[i].kind = dialect_kind(b->dialects[i].name);
        b->has_vhlo |= b->dialects[i].kind == BC_VHLO;
        if (versioned)
            stet_decode_bc_nested(b, &r, BC_DIALECT_VERSIONS);
    }
    b->dialect_count = n;
    return stet_decode_bc_check(b, &r, "dialects") && read_names(b, &r);
}

/* ---- attributes and types: only their positions ---- */

static void read_offsets(struct bc *b, struct stet_reader *r, struct bc_entry *entries, size_t n,
                         size_t *at)
{
    struct stet_view all = b->sections[BC_ATTR_TYPE];

    for (size_t done = 0; done < n && stet_reader_ok(r);) {
        uint64_t dialect = bc_varint(r), group = bc_varint(r);

        if (dialect >= b->dialect_count)
            stet_reader_fail(r, "no such dialect");
        else if (group > n - done)
            stet_reader_fail(r, "more entries than announced");
        for (uint64_t i = 0; i < group && stet_reader_ok(r); i++) {
            uint64_t head = bc_varint(r), size = head >> 1;

            if (size > all.len - *at || size >> 39) {
                stet_reader_fail(r, "an entry points past the end of its section");
                return;
            }
            entries[done++] = (struct bc_entry){.data = (const unsigned char *)all.ptr + *at,
                                                .size_low = (uint32_t)size,
                                                .size_high = (uint32_t)(size >> 32) & 0x7f,
                                                .custom = head & 1,
                                                .dialect = dialect & UINT16_MAX};
            *at += (size_t)size;
        }
    }
}

static bool read_entries(struct bc *b)
{
    struct stet_reader r = section_reader(b, BC_ATTR_TYPE_OFFSETS);
    size_t attrs = bc_count(&r), types = bc_count(&r), at = 0;

    b->attrs = table(b, attrs, sizeof *b->attrs);
    b->types = table(b, types, sizeof *b->types);
    if (!b->attrs || !b->types)
        return false;
    read_offsets(b, &r, b->attrs, attrs, &at);
    read_offsets(b, &r, b->types, types, &at);
    b->attr_count = attrs;
    b->type_count = types;
    if (stet_reader_left(&r))
        stet_reader_fail(&r, "more than the announced entries");
    return stet_decode_bc_check(b, &r, "attribute and type table");
}

/* ---- resources ---- */

enum { RESOURCE_BLOB = 0 };

/* The blob is the end of the entry; alignment and padding come before it. */
static struct stet_view resource_blob(struct bc *b, struct stet_view entry)
{
    struct stet_reader r = bc_reader(b, entry.ptr, entry.len);
    uint64_t size;

    bc_varint(&r);
    size = bc_varint(&r);
    if (size > stet_reader_left(&r))
        stet_reader_fail(&r, "a blob longer than its entry");
    if (!stet_decode_bc_check(b, &r, "resource"))
        return (struct stet_view){0};
    return stet_view_of(entry.ptr + (entry.len - size), (size_t)size);
}

static void read_resource_group(struct bc *b, struct stet_reader *offsets, struct stet_reader *data,
                                bool keep)
{
    size_t n = bc_count(offsets);

    for (size_t i = 0; i < n && stet_reader_ok(offsets) && bc_ok(b); i++) {
        struct stet_view key = stet_decode_bc_string(b, offsets);
        uint64_t size = bc_varint(offsets);
        unsigned kind = stet_reader_u8(offsets);
        struct stet_view entry = stet_reader_bytes(data, size);
        struct bc_resource *out = &b->resources[b->resource_count];

        if (!keep || !stet_reader_ok(offsets) || !stet_reader_ok(data))
            continue;
        out->key = key;
        if (kind == RESOURCE_BLOB && entry.len)
            out->blob = resource_blob(b, entry);
        b->resource_count++;
    }
}

static bool read_resources(struct bc *b)
{
    struct stet_reader offsets = section_reader(b, BC_RESOURCE_OFFSETS);
    struct stet_reader data = section_reader(b, BC_RESOURCES);
    size_t external;

    if (!b->present[BC_RESOURCE_OFFSETS])
        return true;
    /* a key, a size and a kind are three bytes or more */
    b->resources = table(b, stet_reader_left(&offsets) / 3, sizeof *b->resources);
    if (!b->resources)
        return false;
    external = bc_count(&offsets);
    for (size_t i = 0; i < external && stet_reader_ok(&offsets); i++) {
        stet_decode_bc_string(b, &offsets);
        read_resource_group(b, &offsets, &data, false);
    }
    while (stet_reader_left(&offsets) && bc_ok(b)) {
        if (bc_varint(&offsets) >= b->dialect_count)
            stet_reader_fail(&offsets, "no such dialect");
        read_resource_group(b, &offsets, &data, true);
    }
    return stet_decode_bc_check(b, &offsets, "resource table") &&
           stet_decode_bc_check(b, &data, "resources");
}

/* ---- properties ---- */

struct stet_view stet_decode_bc_properties_at(const struct bc *b, uint64_t index)
{
    struct stet_reader r = section_reader(b, BC_PROPERTIES);

    r.next += b->properties[index];
    return stet_decode_bc_blob(&r);
}

static bool read_properties(struct bc *b)
{
    struct stet_reader r = section_reader(b, BC_PROPERTIES);
    size_t n;

    if (!b->sections[BC_PROPERTIES].len)
        return true;
    if (b->sections[BC_PROPERTIES].len > UINT32_MAX)
        return stet_decode_bc_fail(b, STET_LIMIT, stet_reader_offset(&r), "%zu bytes of properties",
                                   b->sections[BC_PROPERTIES].len);
    n = bc_count(&r);
    b->properties = table(b, n, sizeof *b->properties);
    b->converted = table(b, n, sizeof *b->converted);
    if (!b->properties || !b->converted)
        return false;
    for (size_t i = 0; i < n && stet_reader_ok(&r); i++) {
        b->properties[i] = (uint32_t)(r.next - r.start);
        stet_decode_bc_blob(&r);
    }
    b->property_count = n;
    return stet_decode_bc_check(b, &r, "properties");
}

/* ---- the whole ---- */

static bool read_header(struct bc *b, struct stet_reader *r)
{
    struct stet_view magic = stet_reader_bytes(r, 4);
    const void *nul;
    uint64_t version, at;

    if (!stet_decode_bc_check(b, r, "header") || memcmp(magic.ptr, "ML\xefR", 4) != 0)
        return stet_decode_bc_fail(b, STET_BAD_INPUT, 0,
                                   "not MLIR bytecode (another magic number)");
    at = stet_reader_offset(r);
    version = bc_varint(r);
    if (stet_reader_ok(r) && version > BC_NEWEST)
        return stet_decode_bc_fail(b, STET_UNSUPPORTED, at,
                                   "format version %llu is newer than this build knows (%d)",
                                   (unsigned long long)version, BC_NEWEST);
    b->version = (unsigned)version;
    nul = stet_reader_left(r) ? memchr(r->next, 0, stet_reader_left(r)) : NULL;
    if (!nul)
        stet_reader_fail(r, "the producer has no end");
    else
        b->p->producer = stet_reader_bytes(r, (uint64_t)((const unsigned char *)nul - r->next));
    stet_reader_skip(r, 1);
    return stet_decode_bc_check(b, r, "header");
}

/* Reserved before anything is allocated, so that no block is left half empty. It covers most of
 * what JAX's files need. */
static bool reserve(struct bc *b)
{
    struct stet_reader r = section_reader(b, BC_ATTR_TYPE_OFFSETS);
    size_t attrs = bc_count(&r), types = bc_count(&r);

    stet_arena_reserve(b->arena, 5 * b->sections[BC_IR].len + 36 * (attrs + types));
    return true;
}

static bool read_all(struct bc *b)
{
    struct stet_reader r = bc_reader(b, b->input.ptr, b->input.len);

    return read_header(b, &r) && read_sections(b, &r) && reserve(b) && read_strings(b) &&
           read_properties(b) && read_dialects(b) && read_resources(b) && read_entries(b) &&
           stet_decode_bc_read_ir(b);
}

/* Limits what a hostile file can make us allocate, as a multiple of its size. */
enum { CAP_FACTOR = 64, CAP_EXTRA = 1 << 20 };

/* Enough for the tables of a file of a few KB. */
enum { TABLES_ON_STACK = 16 << 10 };

static size_t memory_cap(size_t input)
{
    size_t cap;

    if (stet_mul_overflows(input, CAP_FACTOR, &cap) || stet_add_overflows(cap, CAP_EXTRA, &cap))
        return SIZE_MAX / 2;
    return cap;
}

enum stet_rc stet_decode_bytecode(struct stet_program *out, struct stet_view bytes,
                                  struct stet_err *err)
{
    struct bc b = {.p = out, .arena = &out->arena, .input = bytes, .err = err};
    _Alignas(8) char first[TABLES_ON_STACK];
    enum stet_rc rc;

    b.end = (const unsigned char *)bytes.ptr + bytes.len;
    *out = (struct stet_program){.source = STET_SOURCE_BYTECODE};
    stet_arena_init(&out->arena, memory_cap(bytes.len));
    out->arena.least = 128; /* most programs are small */
    stet_arena_init(&b.scratch, memory_cap(bytes.len));
    b.scratch.least = 512;
    stet_arena_lend(&b.scratch, first, sizeof first);
    read_all(&b);
    if (bc_ok(&b) && (out->arena.failed || b.scratch.failed))
        stet_decode_bc_fail(&b, STET_LIMIT, STET_NO_OFFSET,
                            "more memory needed than a file of %zu bytes may use", bytes.len);
    rc = b.rc;
    stet_arena_release(&b.scratch);
    stet_decode_shared_attrs_release(&b.interned);
    if (rc == STET_OK)
        rc = stet_program_index(out, err);
    if (rc != STET_OK)
        stet_program_release(out);
    return rc;
}
