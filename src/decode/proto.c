/* Protobuf's wire format (protobuf.dev/programming-guides/encoding), bounded and depth-limited. */
#include "decode/proto.h"

enum { MAX_DEPTH = 100 }; /* protobuf's own default limit */

void stet_proto_fail(struct stet_proto_fault *fault, enum stet_rc rc, uint64_t where,
                     const char *what)
{
    if (fault->rc == STET_OK)
        *fault = (struct stet_proto_fault){rc, what, where};
}

void stet_proto_init(struct stet_proto *p, struct stet_view bytes, struct stet_proto_fault *fault)
{
    *p = (struct stet_proto){.fault = fault};
    stet_reader_init(&p->r, bytes, 0);
}

bool stet_proto_next(struct stet_proto *p, struct stet_proto_field *f)
{
    const unsigned char *start = p->r.next;
    uint64_t tag, length;

    if (p->fault->rc != STET_OK || stet_reader_left(&p->r) == 0)
        return false;
    tag = stet_reader_varint(&p->r);
    f->number = (uint32_t)(tag >> 3);
    f->wire = (enum stet_proto_wire)(tag & 7);
    f->bytes = (struct stet_view){0};
    f->offset = stet_reader_offset(&p->r);
    f->value = 0;
    if (stet_reader_ok(&p->r) && (f->number == 0 || tag >> 32))
        stet_reader_fail(&p->r, "field number out of range");
    switch (f->wire) {
    case STET_PROTO_VARINT:
        f->value = stet_reader_varint(&p->r);
        break;
    case STET_PROTO_FIXED64:
        f->value = stet_reader_u64(&p->r);
        break;
    case STET_PROTO_FIXED32:
        f->value = stet_reader_u32(&p->r);
        break;
    case STET_PROTO_BYTES:
        length = stet_reader_varint(&p->r);
        f->offset = stet_reader_offset(&p->r);
        f->bytes = stet_reader_bytes(&p->r, length);
        break;
    default:
        stet_reader_fail(&p->r, "unknown wire type");
    }
    if (!stet_reader_ok(&p->r)) {
        stet_proto_fail(p->fault, STET_BAD_INPUT, p->r.where, p->r.what);
        return false;
    }
    f->whole = stet_view_of(start, (size_t)(p->r.next - start));
    return true;
}

struct stet_proto stet_proto_sub(const struct stet_proto *p, const struct stet_proto_field *f)
{
    struct stet_proto sub = {.fault = p->fault, .depth = p->depth + 1};

    if (f->wire != STET_PROTO_BYTES)
        stet_proto_fail(p->fault, STET_BAD_INPUT, f->offset, "a message is expected here");
    if (sub.depth > MAX_DEPTH)
        stet_proto_fail(p->fault, STET_LIMIT, f->offset, "messages nest too deeply");
    stet_reader_init(&sub.r, f->bytes, f->offset);
    return sub;
}

uint64_t stet_proto_uint(struct stet_proto_fault *fault, const struct stet_proto_field *f)
{
    if (f->wire == STET_PROTO_BYTES)
        stet_proto_fail(fault, STET_BAD_INPUT, f->offset, "a number is expected here");
    return f->value;
}

int64_t stet_proto_int(struct stet_proto_fault *fault, const struct stet_proto_field *f)
{
    return (int64_t)stet_proto_uint(fault, f);
}

struct stet_view stet_proto_text(struct stet_proto_fault *fault, const struct stet_proto_field *f)
{
    if (f->wire != STET_PROTO_BYTES)
        stet_proto_fail(fault, STET_BAD_INPUT, f->offset, "text is expected here");
    return f->bytes;
}

float stet_proto_float(const struct stet_proto_field *f)
{
    uint32_t bits = (uint32_t)f->value;
    float v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

double stet_proto_double(const struct stet_proto_field *f)
{
    double v;

    memcpy(&v, &f->value, sizeof v);
    return v;
}

static bool ints_room(struct stet_ints *out, struct stet_arena *a, size_t more)
{
    size_t want = out->count + more;
    int64_t *grown;

    if (want <= out->room)
        return true;
    if (want > UINT32_MAX)
        return false;
    if (out->room && want < (size_t)out->room * 2)
        want = (size_t)out->room * 2;
    grown = stet_arena_raw(a, want, sizeof *grown);
    if (!grown)
        return false;
    if (out->count)
        memcpy(grown, out->at, out->count * sizeof *grown);
    out->at = grown;
    out->room = (uint32_t)want;
    return true;
}

void stet_decode_ints_add(struct stet_ints *out, struct stet_arena *a, int64_t v)
{
    if (ints_room(out, a, 1))
        out->at[out->count++] = v;
}

void stet_proto_ints(struct stet_proto_fault *fault, const struct stet_proto_field *f,
                     struct stet_arena *a, struct stet_ints *out)
{
    struct stet_reader r;
    size_t numbers = 0;

    if (f->wire != STET_PROTO_BYTES) {
        stet_decode_ints_add(out, a, (int64_t)f->value);
        return;
    }
    /* a varint ends at its only byte without the high bit, so the count is known before the room */
    for (size_t i = 0; i < f->bytes.len; i++)
        numbers += !((unsigned char)f->bytes.ptr[i] & 0x80);
    if (!ints_room(out, a, numbers)) {
        stet_proto_fail(fault, STET_LIMIT, f->offset, "too many numbers");
        return;
    }
    stet_reader_init(&r, f->bytes, f->offset);
    while (numbers-- > 0 && stet_reader_ok(&r))
        out->at[out->count++] = (int64_t)stet_reader_varint(&r);
    if (stet_reader_left(&r))
        stet_reader_fail(&r, "ends in the middle of a varint");
    if (!stet_reader_ok(&r))
        stet_proto_fail(fault, STET_BAD_INPUT, r.where, r.what);
}

enum stet_rc stet_proto_finish(const struct stet_proto_fault *fault, const char *context,
                               struct stet_err *err)
{
    if (fault->rc == STET_OK)
        return STET_OK;
    return stet_fail_at(err, fault->rc, fault->where, "%s: %s", context, fault->what);
}
