/* Converts CompileOptionsProto to (path, value) pairs and lines of the canonical form, by
 * options.def. */
#include "decode/options/options_read.h"

#include "base/buf.h"
#include "base/vec.h"

#include <stdio.h>

enum { MOST_INLINE_BYTES = 64, MOST_ITEMS = 1 << 20 };

enum kind {
    BOOL,
    INT,
    FLOAT,
    DOUBLE,
    STRING,
    BYTES,
    STRINGS,
    INTS,
    BOOLS,
    MAP,
    SUBMESSAGE,
    SUBMESSAGES,
    SHAPE_LIST,
    OVERRIDE_MAP,
};

enum message {
#define MESSAGE(identifier) identifier,
#include "decode/options/options.def"
};

static const struct field {
    enum message of;
    uint32_t number;
    const char *name;
    enum kind kind;
    enum message sub;
} fields[] = {
#define MESSAGE(identifier)         {identifier, 0, NULL, BOOL, identifier},
#define FIELD(number, name, kind)   {COMPILE_OPTIONS, number, name, kind, COMPILE_OPTIONS},
#define SUB(number, name, message)  {COMPILE_OPTIONS, number, name, SUBMESSAGE, message},
#define SUBS(number, name, message) {COMPILE_OPTIONS, number, name, SUBMESSAGES, message},
#define SHAPES(number, name)        {COMPILE_OPTIONS, number, name, SHAPE_LIST, COMPILE_OPTIONS},
#define OVERRIDES(number, name)     {COMPILE_OPTIONS, number, name, OVERRIDE_MAP, COMPILE_OPTIONS},
#include "decode/options/options.def"
};

static const struct {
    const char *name;
    size_t len;
    const char *reason;
} drops[] = {
#define DROP(name, reason) {name, sizeof(name) - 1, reason},
#include "decode/options/canon_options.def"
#undef DROP
};

/* The rows of a message follow the message's own row, which has no name. */
static const struct field *first_field(enum message of)
{
    const struct field *f = fields;

    while (f->name || f->of != of)
        f++;
    return f + 1;
}

/* Serialisers write fields in order, so the search continues after `hint`, the last row found, and
 * starts over once. */
static const struct field *find_field(const struct field *first, uint32_t number,
                                      const struct field *hint)
{
    const struct field *end = fields + sizeof fields / sizeof *fields;

    for (const struct field *f = hint; f < end && f->name; f++)
        if (f->number == number)
            return f;
    for (const struct field *f = first; f < hint; f++)
        if (f->number == number)
            return f;
    return NULL;
}

static const struct {
    const char *name;
    enum stet_option_file kind;
} option_files[] = {
#define OPTION_FILE(name, kind) {name, STET_OPTION_FILE_##kind},
#include "decode/option_files.def"
#undef OPTION_FILE
};

enum stet_option_file stet_option_file_kind(struct stet_view name)
{
    for (size_t i = 0; i < sizeof option_files / sizeof *option_files; i++) {
        const char *known = option_files[i].name;

        if (*known == '*' ? stet_view_ends(name, known + 1) : stet_view_is(name, known))
            return option_files[i].kind;
    }
    return STET_OPTION_FILE_NONE;
}

const char *stet_options_dropped(struct stet_view name)
{
    for (size_t i = 0; i < sizeof drops / sizeof *drops; i++) {
        size_t n = drops[i].len;
        bool star = drops[i].name[n - 1] == '*';

        n -= star;
        if ((star ? name.len >= n : name.len == n) && memcmp(name.ptr, drops[i].name, n) == 0)
            return drops[i].reason;
    }
    return NULL;
}

/* ---- reading ---- */

/* The path of a field, by names and by numbers. */
struct place {
    struct stet_view path, code;
};

static void bytes_value(struct stet_buf *out, struct stet_view v);

/* One more of `size` bytes after `count` of them; false when there is no memory. */
static bool make_room(struct stet_options_reader *r, void *array, size_t *room, size_t count,
                      size_t size)
{
    if (stet_vec_room(array, room, count, size))
        return true;
    r->hlo.b.a->failed = true;
    return false;
}

static uint64_t begin_of(struct stet_view code)
{
    uint64_t begin = 0;

    for (size_t i = 0; i < 8; i++)
        begin = begin << 8 | (i < code.len ? (unsigned char)code.ptr[i] : 0);
    return begin;
}

static void add_line(struct stet_options_reader *r, struct stet_view code,
                     const struct stet_proto_field *f)
{
    struct stet_buf *out = &r->hlo.scratch;
    struct stet_view text;

    out->len = 0;
    stet_buf_view(out, code);
    stet_buf_char(out, '=');
    if (f->wire == STET_PROTO_BYTES)
        bytes_value(out, f->bytes);
    else
        stet_buf_uint(out, f->value);
    stet_buf_char(out, '\n');
    text = stet_decode_hlo_keep(&r->hlo);
    if (!make_room(r, &r->lines, &r->line_room, r->line_count, sizeof *r->lines))
        return;
    r->lines[r->line_count] =
        (struct stet_options_line){begin_of(code), text.ptr, code.len, text.len, r->line_count};
    r->line_count++;
}

/* The text of a field: its own, or that of an OptionOverrideProto. */
static struct stet_view text_of(const struct stet_proto_field *f, bool is_override)
{
    const unsigned char *p = (const unsigned char *)f->bytes.ptr;

    if (f->wire != STET_PROTO_BYTES || !is_override)
        return f->wire == STET_PROTO_BYTES ? f->bytes : (struct stet_view){0};
    /* field 1, and a length of one byte or two that reaches to the end */
    if (f->bytes.len >= 2 && p[0] == 0x0a && p[1] < 0x80 && p[1] == f->bytes.len - 2)
        return stet_view_of(p + 2, f->bytes.len - 2);
    if (f->bytes.len >= 3 && p[0] == 0x0a && p[1] >= 0x80 && p[2] < 0x80 &&
        ((size_t)p[2] << 7 | (p[1] & 0x7f)) == f->bytes.len - 3)
        return stet_view_of(p + 3, f->bytes.len - 3);
    return (struct stet_view){0};
}

/* True if the option names a file, which was then noted in place of its line. */
static bool add_file(struct stet_options_reader *r, struct stet_view name,
                     const struct stet_proto_field *f, bool is_override)
{
    struct stet_view text = text_of(f, is_override);

    if (!r->files || !text.len || memchr(text.ptr, 0, text.len) ||
        stet_option_file_kind(name) == STET_OPTION_FILE_NONE)
        return false;
    stet_buf_view(r->files, name);
    stet_buf_char(r->files, 0);
    stet_buf_view(r->files, text);
    stet_buf_char(r->files, 0);
    return true;
}

static void add(struct stet_options_reader *r, struct place at, struct stet_view name,
                struct stet_view value, const struct stet_proto_field *f, bool is_override)
{
    const char *dropped = stet_options_dropped(name);

    if (r->count == MOST_ITEMS) {
        stet_proto_fail(&r->hlo.fault, STET_LIMIT, 0, "too many options");
        return;
    }
    if (!dropped && !add_file(r, name, f, is_override))
        add_line(r, at.code, f);
    if (!r->brief) {
        if (!make_room(r, &r->items, &r->room, r->count, sizeof *r->items))
            return;
        r->items[r->count] = (struct stet_options_item){at.path, value, dropped, r->count};
    }
    r->count++;
}

/* scratch as arena text, from `begin`. */
static struct stet_view kept_from(struct stet_options_reader *r, size_t begin)
{
    struct stet_buf *b = &r->hlo.scratch;

    if (b->failed) {
        r->hlo.b.a->failed = true;
        return (struct stet_view){0};
    }
    return stet_arena_copy(r->hlo.b.a, stet_view_of(b->ptr + begin, b->len - begin));
}

static struct place inside(struct stet_options_reader *r, struct place at, const char *name,
                           uint32_t number)
{
    struct stet_buf *out = &r->hlo.scratch;
    struct place here = {0};
    size_t half;

    out->len = 0;
    stet_buf_view(out, at.code);
    if (at.code.len)
        stet_buf_char(out, '.');
    stet_buf_uint(out, number);
    here.code = kept_from(r, 0);
    if (r->brief)
        return here;
    half = out->len;
    stet_buf_view(out, at.path);
    if (at.code.len)
        stet_buf_char(out, '.');
    stet_buf_str(out, name);
    here.path = kept_from(r, half);
    return here;
}

static struct place indexed(struct stet_options_reader *r, struct place at, struct stet_view key)
{
    struct stet_buf *out = &r->hlo.scratch;
    struct place here = {0};
    size_t half;

    out->len = 0;
    stet_buf_view(out, at.code);
    stet_buf_char(out, '[');
    stet_buf_uint(out, key.len); /* with its length, so that no key can look like another line */
    stet_buf_char(out, ':');
    stet_buf_view(out, key);
    stet_buf_char(out, ']');
    here.code = kept_from(r, 0);
    if (r->brief)
        return here;
    half = out->len;
    stet_buf_view(out, at.path);
    stet_buf_char(out, '[');
    stet_buf_view(out, key);
    stet_buf_char(out, ']');
    here.path = kept_from(r, half);
    return here;
}

static void escaped(struct stet_buf *out, struct stet_view v)
{
    stet_buf_char(out, '"');
    for (size_t i = 0; i < v.len; i++) {
        unsigned char c = (unsigned char)v.ptr[i];

        if (c == '"' || c == '\\')
            stet_buf_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            stet_buf_printf(out, "\\x%02x", c);
        else
            stet_buf_char(out, (char)c);
    }
    stet_buf_char(out, '"');
}

static void bytes_value(struct stet_buf *out, struct stet_view v)
{
    char text[STET_HASH_TEXT];

    if (v.len > MOST_INLINE_BYTES) {
        stet_hash_format(stet_hash_bytes(v), text);
        stet_buf_printf(out, "#%zu:%s", v.len, text);
        return;
    }
    for (size_t i = 0; i < v.len; i++) {
        stet_buf_char(out, "0123456789abcdef"[(unsigned char)v.ptr[i] >> 4]);
        stet_buf_char(out, "0123456789abcdef"[v.ptr[i] & 15]);
    }
}

static void number_list(struct stet_options_reader *r, const struct stet_proto_field *f, bool flags)
{
    struct stet_ints v = {0};

    stet_proto_ints(&r->hlo.fault, f, r->hlo.b.a, &v);
    for (uint32_t i = 0; i < v.count; i++) {
        stet_buf_str(&r->hlo.scratch, i ? "," : "");
        if (flags)
            stet_buf_str(&r->hlo.scratch, v.at[i] ? "true" : "false");
        else
            stet_buf_int(&r->hlo.scratch, v.at[i]);
    }
}

/* Only checks whether it can be read. */
static void check_scalar(struct stet_options_reader *r, enum kind kind,
                         const struct stet_proto_field *f)
{
    if (kind == BOOL || kind == INT)
        stet_proto_uint(&r->hlo.fault, f);
    else if (kind != FLOAT && kind != DOUBLE)
        stet_proto_text(&r->hlo.fault, f);
}

/* The value of a scalar as text, in scratch. */
static void scalar(struct stet_options_reader *r, enum kind kind, const struct stet_proto_field *f)
{
    struct stet_buf *out = &r->hlo.scratch;
    struct stet_proto_fault *fault = &r->hlo.fault;

    switch (kind) {
    case BOOL:
        stet_buf_str(out, stet_proto_uint(fault, f) ? "true" : "false");
        break;
    case INT:
        stet_buf_int(out, stet_proto_int(fault, f));
        break;
    case FLOAT:
        stet_buf_printf(out, "%.9g", (double)stet_proto_float(f));
        break;
    case DOUBLE:
        stet_buf_printf(out, "%.17g", stet_proto_double(f));
        break;
    case BYTES:
        bytes_value(out, stet_proto_text(fault, f));
        break;
    default:
        escaped(out, stet_proto_text(fault, f));
    }
}

static struct stet_view entry_key(struct stet_options_reader *r, const struct stet_proto *in,
                                  const struct stet_proto_field *f, struct stet_proto_field *value)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_view key = {0};
    struct stet_proto_field g;

    value->number = 0;
    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_MAP_KEY)
            key = stet_proto_text(&r->hlo.fault, &g);
        else if (g.number == STET_HLO_MAP_VALUE)
            *value = g;
    return key;
}

/* OptionOverrideProto: one of string, bool, int, double. */
static void override_value(struct stet_options_reader *r, const struct stet_proto *in,
                           const struct stet_proto_field *f)
{
    static const enum kind kinds[] = {STRING, BOOL, INT, DOUBLE};
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_proto_field g;

    while (stet_proto_next(&m, &g))
        if (g.number >= 1 && g.number <= 4)
            scalar(r, kinds[g.number - 1], &g);
}

static void map_entry(struct stet_options_reader *r, const struct stet_proto *in,
                      const struct stet_proto_field *f, struct place at, bool overrides)
{
    struct stet_proto_field value;
    struct stet_view key = entry_key(r, in, f, &value), text;

    r->hlo.scratch.len = 0;
    if (overrides && value.number)
        override_value(r, in, &value);
    else if (value.number)
        escaped(&r->hlo.scratch, stet_proto_text(&r->hlo.fault, &value));
    else
        stet_buf_str(&r->hlo.scratch, "\"\"");
    if (!value.number)
        value = (struct stet_proto_field){.wire = STET_PROTO_BYTES};
    text = stet_decode_hlo_keep(&r->hlo); /* before scratch is reused for the path */
    add(r, indexed(r, at, key), key, text, &value, overrides);
}

static void read_message(struct stet_options_reader *r, struct stet_proto m, enum message of,
                         struct place at);

static bool is_repeated(const struct field *known, const struct stet_proto_field *f)
{
    switch (known->kind) {
    case SUBMESSAGES:
    case SHAPE_LIST:
    case STRINGS:
        return true;
    case INTS:
    case BOOLS:
        return f->wire != STET_PROTO_BYTES; /* not packed */
    default:
        return false;
    }
}

/* `index`: which of the repeated fields it is. */
static void read_field(struct stet_options_reader *r, const struct stet_proto *m,
                       const struct stet_proto_field *f, const struct field *known, struct place at,
                       unsigned index)
{
    struct place here = inside(r, at, known->name, f->number);
    struct stet_view value = {0};
    const struct stet_type *t;

    if (is_repeated(known, f)) {
        char number[16];

        snprintf(number, sizeof number, "%u", index);
        here = indexed(r, here, stet_view_str(number));
    }
    r->hlo.scratch.len = 0;
    switch (known->kind) {
    case SUBMESSAGE:
    case SUBMESSAGES:
        read_message(r, stet_proto_sub(m, f), known->sub, here);
        return;
    case MAP:
    case OVERRIDE_MAP:
        map_entry(r, m, f, here, known->kind == OVERRIDE_MAP);
        return;
    case SHAPE_LIST:
        t = stet_decode_hlo_shape(&r->hlo, m, f);
        r->hlo.scratch.len = 0;
        if (t)
            stet_print_hlo_type(&r->hlo.scratch, t, true);
        break;
    case INTS:
    case BOOLS:
        number_list(r, f, known->kind == BOOLS);
        break;
    default:
        if (r->brief)
            check_scalar(r, known->kind, f);
        else
            scalar(r, known->kind, f);
    }
    if (!r->brief)
        value = stet_decode_hlo_keep(&r->hlo);
    add(r, here, stet_view_str(known->name), value, f, false);
}

static void read_unknown(struct stet_options_reader *r, const struct stet_proto_field *f,
                         struct place at)
{
    struct stet_view text;
    char number[16];

    snprintf(number, sizeof number, "#%u", f->number);
    r->hlo.scratch.len = 0;
    if (f->wire == STET_PROTO_BYTES)
        bytes_value(&r->hlo.scratch, f->bytes);
    else
        stet_buf_uint(&r->hlo.scratch, f->value);
    text = stet_decode_hlo_keep(&r->hlo);
    add(r, inside(r, at, number, f->number), stet_view_str(number), text, f, false);
}

/* DebugOptions has presence: a flag set to false counts. Elsewhere zero is absent. */
static bool is_absent(enum message of, const struct field *known, const struct stet_proto_field *f)
{
    if (of == DEBUG_OPTIONS || !known || known->kind > BYTES)
        return false;
    return f->wire == STET_PROTO_BYTES ? !f->bytes.len : !f->value;
}

static void read_message(struct stet_options_reader *r, struct stet_proto m, enum message of,
                         struct place at)
{
    unsigned seen[sizeof fields / sizeof *fields] = {0};
    const struct field *first = first_field(of), *last = first;
    struct stet_proto_field f;

    while (stet_proto_next(&m, &f) && !r->hlo.b.a->failed) {
        const struct field *known = find_field(first, f.number, last);

        last = known ? known : last;

        if (is_absent(of, known, &f))
            continue;
        if (known)
            read_field(r, &m, &f, known, at, seen[known - fields]++);
        else
            read_unknown(r, &f, at);
    }
}

void stet_options_read(struct stet_options_reader *r, struct stet_view bytes)
{
    struct stet_proto p;

    stet_proto_init(&p, bytes, &r->hlo.fault);
    read_message(r, p, COMPILE_OPTIONS, (struct place){STET_VIEW(""), STET_VIEW("")});
}
