/* See values_record.h: a value is a length, then kind, scope, frame, path, type and the fields of
 * its kind. */
#include "journal/values_record.h"

#include "base/path.h"

#include <string.h>

enum { VALUE_MOST = 1024 }; /* bytes of one value */

/* A value is written where it will be, and counts when it is complete. */
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

static void put_array(struct cursor *c, const struct stet_journal_value *v)
{
    put_text(c, v->text);
    put_text(c, v->place);
    put_varint(c, v->weak);
    put_varint(c, v->rank);
    for (uint32_t i = 0; i < v->rank; i++)
        put_varint(c, zigzag(v->dims[i]));
}

static void put_payload(struct cursor *c, const struct stet_journal_value *v)
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
        put_array(c, v);
        break;
    case STET_VALUE_FUNCTION:
        put_text(c, v->text);
        put_text(c, v->file);
        put_varint(c, v->line);
        put_u64(c, v->address);
        break;
    case STET_VALUE_OBJECT:
        put_u64(c, v->address);
        break;
    }
}

/* Writes the length before a value of `n` bytes, for which one byte was left. */
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

void stet_journal_values_add(struct stet_journal_values *v, const struct stet_journal_value *value)
{
    unsigned char *length = v->bytes + v->used, *end = v->bytes + sizeof v->bytes;
    struct cursor c = {length + 1, end, length == end};

    put_varint(&c, value->kind);
    put_varint(&c, value->scope);
    put_varint(&c, value->frame);
    put_text(&c, value->path);
    put_text(&c, value->type);
    put_payload(&c, value);
    if (!c.full && c.next - length <= VALUE_MOST)
        put_length(&c, length, (size_t)(c.next - length - 1));
    else
        c.full = true;
    if (c.full)
        v->dropped++;
    else
        v->used = (uint32_t)(c.next - v->bytes);
}

static struct stet_view read_text(struct stet_reader *r)
{
    return stet_reader_bytes(r, stet_reader_varint(r));
}

static void read_array(struct stet_reader *r, struct stet_journal_value *v)
{
    uint64_t rank;

    v->text = read_text(r);
    v->place = read_text(r);
    v->weak = stet_reader_varint(r) != 0;
    rank = stet_reader_varint(r);
    if (rank > STET_VALUES_RANK_MAX) {
        stet_reader_fail(r, "an array has too many dimensions");
        return;
    }
    v->rank = (uint32_t)rank;
    for (uint32_t i = 0; i < v->rank; i++)
        v->dims[i] = unzigzag(stet_reader_varint(r));
}

/* Fields of a newer Stet after the known ones are skipped with the rest of the value. */
static void read_payload(struct stet_reader *r, struct stet_journal_value *v)
{
    uint64_t bits;

    switch (v->kind) {
    case STET_VALUE_NONE:
        break;
    case STET_VALUE_BOOL:
    case STET_VALUE_INT:
    case STET_VALUE_LENGTH:
        v->number = unzigzag(stet_reader_varint(r));
        break;
    case STET_VALUE_FLOAT:
        bits = stet_reader_u64(r);
        memcpy(&v->real, &bits, sizeof v->real);
        break;
    case STET_VALUE_WORD:
        v->text = read_text(r);
        break;
    case STET_VALUE_HIDDEN:
        v->hash = stet_reader_u64(r);
        break;
    case STET_VALUE_ARRAY:
        read_array(r, v);
        break;
    case STET_VALUE_FUNCTION:
        v->text = read_text(r);
        v->file = read_text(r);
        v->line = (uint32_t)stet_reader_varint(r);
        v->address = stet_reader_u64(r);
        break;
    case STET_VALUE_OBJECT:
        v->address = stet_reader_u64(r);
        break;
    }
}

bool stet_journal_values_next(struct stet_reader *r, struct stet_journal_value *out)
{
    struct stet_reader one;

    do {
        if (!stet_reader_ok(r) || stet_reader_left(r) == 0)
            return false;
        one = stet_reader_sub(r, stet_reader_varint(r));
        *out = (struct stet_journal_value){
            .kind = (enum stet_journal_value_kind)stet_reader_varint(&one)};
        out->scope = (enum stet_journal_value_scope)stet_reader_varint(&one);
        out->frame = (uint32_t)stet_reader_varint(&one);
        out->path = read_text(&one);
        out->type = read_text(&one);
        read_payload(&one, out);
        if (!stet_reader_ok(&one))
            stet_reader_fail(r, "a value ends early");
    } while (stet_reader_ok(r) && !stet_journal_value_kind_name(out->kind)); /* of a newer Stet */
    return stet_reader_ok(r);
}

static void array_text(struct stet_buf *out, const struct stet_journal_value *v)
{
    stet_buf_view(out, v->text);
    stet_buf_char(out, '[');
    for (uint32_t i = 0; i < v->rank; i++)
        stet_buf_printf(out, "%s%lld", i ? "," : "", (long long)v->dims[i]);
    stet_buf_str(out, v->weak ? "] (weak type)" : "]");
    if (stet_view_is(v->type, "ndarray"))
        stet_buf_str(out, " (NumPy)");
    if (v->place.len)
        stet_buf_printf(out, " with %.*s", STET_FMT(v->place));
}

/* NumPy's scalars are printed with their type, because a compiler treats them differently from
 * Python's. */
static void number_text(struct stet_buf *out, const struct stet_journal_value *v)
{
    if (!stet_view_is(v->type, "int") && !stet_view_is(v->type, "float"))
        stet_buf_printf(out, "%.*s ", STET_FMT(v->type));
    if (v->kind == STET_VALUE_INT)
        stet_buf_printf(out, "%lld", (long long)v->number);
    else
        stet_buf_printf(out, "%.9g", v->real);
}

void stet_journal_value_text(struct stet_buf *out, const struct stet_journal_value *v)
{
    switch (v->kind) {
    case STET_VALUE_NONE:
        stet_buf_str(out, "None");
        break;
    case STET_VALUE_BOOL:
        stet_buf_str(out, v->number ? "True" : "False");
        break;
    case STET_VALUE_INT:
    case STET_VALUE_FLOAT:
        number_text(out, v);
        break;
    case STET_VALUE_WORD:
        stet_buf_printf(out, "'%.*s'", STET_FMT(v->text));
        break;
    case STET_VALUE_HIDDEN:
        stet_buf_printf(out, "another %.*s", STET_FMT(v->type));
        break;
    case STET_VALUE_ARRAY:
        array_text(out, v);
        break;
    case STET_VALUE_FUNCTION:
        stet_buf_printf(out, "%.*s of line %u", STET_FMT(v->text), v->line);
        break;
    case STET_VALUE_OBJECT:
        stet_buf_printf(out, "%.*s object", STET_FMT(v->type));
        break;
    case STET_VALUE_LENGTH:
        stet_buf_printf(out, "%lld items", (long long)v->number);
        break;
    }
}

/* Is it JAX's stand-in for an argument of a function that a transformation calls? */
static bool is_tracer(const struct stet_journal_value *v)
{
    return v->scope == STET_SCOPE_ARGUMENT && v->kind == STET_VALUE_OBJECT &&
           stet_view_ends(v->type, "Tracer");
}

/* A function made anew may get the address of the one before it, which is gone; what it closes over
 * shows that it is another one. Fields below the first may be replaced as the program runs. */
static void holds(struct stet_journal_function *f, const struct stet_journal_value *v)
{
    struct stet_hash class = stet_hash_mix(stet_hash_bytes(v->path), stet_hash_bytes(v->type));
    const char *dot = v->path.len ? memchr(v->path.ptr, '.', v->path.len) : NULL;
    size_t head = dot ? (size_t)(dot - v->path.ptr) + 1 : 0;

    if (v->path.len && (memchr(v->path.ptr, '[', v->path.len) ||
                        memchr(v->path.ptr + head, '.', dot ? v->path.len - head : 0)))
        return;
    f->held = stet_hash_mix_u64(class, f->held).lo;
    if (!dot && f->object)
        f->object = stet_hash_mix_u64(stet_hash_bytes(v->path), f->object ^ v->address).lo | 1;
}

/* Is it in a container that a field holds? Such a container (functions that were compiled, hooks)
 * is filled as the program runs, and does not distinguish the function. */
static bool is_collected(const struct stet_journal_value *v)
{
    const char *dot = v->path.len ? memchr(v->path.ptr, '.', v->path.len) : NULL;

    return v->scope == STET_SCOPE_CLOSURE && dot &&
           memchr(dot, '[', (size_t)(v->path.ptr + v->path.len - dot));
}

struct stet_journal_function stet_journal_values_function(struct stet_view bytes)
{
    struct stet_journal_function f = {.library = true};
    struct stet_hash hash = stet_hash_bytes(STET_VIEW("function"));
    struct stet_reader r;
    struct stet_journal_value v;
    bool called = false, traced = false;

    stet_reader_init(&r, bytes, 0);
    while (stet_journal_values_next(&r, &v)) {
        bool fun = v.scope == STET_SCOPE_CALLED && stet_view_is(v.path, "fun");

        called |= fun;
        if (fun && v.kind == STET_VALUE_FUNCTION) { /* from the outermost wrapper inwards */
            f.wrapper = f.object ? f.wrapper : v.address;
            f.object = v.address;
        }
        /* Closures come after the function that owns them, before any frame of the user's. */
        if (v.scope == STET_SCOPE_LOCAL)
            break;
        if (v.scope == STET_SCOPE_CLOSURE && v.kind == STET_VALUE_OBJECT)
            holds(&f, &v);
        /* vmap(f) and grad(f) of a jitted f make programs of their own. */
        if (is_tracer(&v) && !traced) {
            traced = true;
            hash = stet_hash_mix(hash, stet_hash_bytes(v.type));
        }
        /* A wrapper may take the user's function as an argument, as equinox's does. */
        if (v.kind != STET_VALUE_FUNCTION ||
            (!fun && v.scope != STET_SCOPE_CLOSURE && v.scope != STET_SCOPE_ARGUMENT) ||
            (v.scope == STET_SCOPE_ARGUMENT && stet_path_is_installed(v.file)) || is_collected(&v))
            continue;
        hash = stet_hash_mix_u64(stet_hash_mix(hash, stet_hash_bytes(v.file)), v.line);
        if (stet_path_is_installed(v.file))
            continue;
        f.library = false;
        if (fun || !f.line) {
            f.name = v.text;
            f.file = v.file;
            f.line = v.line;
        }
    }
    f.identity = called ? hash.lo | 1 : 0;
    f.library &= called;
    return f;
}

bool stet_journal_values_borrowed(struct stet_view bytes, struct stet_view name)
{
    struct stet_journal_value v;
    struct stet_reader r;
    bool found = false;

    stet_reader_init(&r, bytes, 0);
    while (stet_journal_values_next(&r, &v) && v.scope != STET_SCOPE_LOCAL) {
        const char *dot = v.kind == STET_VALUE_FUNCTION && v.text.len
                              ? memrchr(v.text.ptr, '.', v.text.len)
                              : NULL;
        size_t skip = dot ? (size_t)(dot - v.text.ptr) + 1 : 0;

        if (v.kind != STET_VALUE_FUNCTION || v.scope == STET_SCOPE_GLOBAL ||
            !stet_view_eq(stet_view_of(v.text.ptr + skip, v.text.len - skip), name))
            continue;
        if (!stet_path_is_installed(v.file))
            return false;
        found = true;
    }
    return found;
}

const char *stet_journal_value_kind_name(enum stet_journal_value_kind kind)
{
    switch (kind) {
#define KIND(id, number, name)                                                                     \
    case STET_VALUE_##id:                                                                          \
        return name;
        STET_JOURNAL_VALUE_KINDS
#undef KIND
    }
    return NULL;
}

const char *stet_journal_value_scope_name(enum stet_journal_value_scope scope)
{
    switch (scope) {
#define SCOPE(id, number, name)                                                                    \
    case STET_SCOPE_##id:                                                                          \
        return name;
        STET_JOURNAL_VALUE_SCOPES
#undef SCOPE
    }
    return NULL;
}

static void array_json(struct stet_json *j, const struct stet_journal_value *v)
{
    stet_json_string(j, "dtype", v->text);
    stet_json_array(j, "shape");
    for (uint32_t i = 0; i < v->rank; i++)
        stet_json_int(j, NULL, v->dims[i]);
    stet_json_end_array(j);
    stet_json_bool(j, "weak", v->weak);
    if (v->place.len)
        stet_json_string(j, "sharding", v->place);
}

static void payload_json(struct stet_json *j, const struct stet_journal_value *v)
{
    switch (v->kind) {
    case STET_VALUE_NONE:
        break;
    case STET_VALUE_BOOL:
        stet_json_bool(j, "value", v->number != 0);
        break;
    case STET_VALUE_INT:
    case STET_VALUE_LENGTH:
        stet_json_int(j, "value", v->number);
        break;
    case STET_VALUE_FLOAT:
        stet_json_number(j, "value", v->real);
        break;
    case STET_VALUE_WORD:
        stet_json_string(j, "value", v->text);
        break;
    case STET_VALUE_HIDDEN:
        stet_json_uint(j, "hash", v->hash);
        break;
    case STET_VALUE_ARRAY:
        array_json(j, v);
        break;
    case STET_VALUE_FUNCTION:
        stet_json_string(j, "name", v->text);
        stet_json_string(j, "file", v->file);
        stet_json_uint(j, "line", v->line);
        break;
    case STET_VALUE_OBJECT:
        break;
    }
}

void stet_journal_values_json(struct stet_json *j, const char *name, struct stet_view bytes)
{
    struct stet_reader r;
    struct stet_journal_value v;

    stet_reader_init(&r, bytes, 0);
    stet_json_array(j, name);
    while (stet_journal_values_next(&r, &v)) {
        stet_json_object(j, NULL);
        stet_json_string(j, "path", v.path);
        stet_json_cstr(j, "scope", stet_journal_value_scope_name(v.scope));
        stet_json_uint(j, "frame", v.frame);
        stet_json_cstr(j, "kind", stet_journal_value_kind_name(v.kind));
        stet_json_string(j, "type", v.type);
        payload_json(j, &v);
        stet_json_end_object(j);
    }
    stet_json_end_array(j);
}
