/* The form for the layer: families and meshes as a checked table. Little-endian, lengths before
 * contents: "STETCTR1", a checksum of the rest, then the fields in the order below. */
#include "gate/contract.h"

#include "base/hash.h"
#include "base/reader.h"

static const char magic[] = {'S', 'T', 'E', 'T', 'C', 'T', 'R', '1'};

/* ---- writing ---- */

static void put_view(struct stet_buf *out, struct stet_view v)
{
    stet_buf_varint(out, v.len);
    stet_buf_view(out, v);
}

static void put_signed(struct stet_buf *out, int64_t v)
{
    stet_buf_u64(out, (uint64_t)v);
}

static void put_dim(struct stet_buf *out, const struct stet_dim *d)
{
    stet_buf_char(out, (char)d->kind);
    if (d->kind == STET_DIM_RANGE) {
        put_signed(out, d->low);
        put_signed(out, d->high);
        put_signed(out, d->step);
    } else if (d->kind == STET_DIM_SET) {
        stet_buf_varint(out, d->count);
        for (uint32_t i = 0; i < d->count; i++)
            put_signed(out, d->values[i]);
    }
}

static void put_arg(struct stet_buf *out, const struct stet_clause_arg *a)
{
    put_view(out, a->name);
    put_view(out, a->type);
    put_view(out, a->sharding);
    put_view(out, a->layout);
    stet_buf_char(out, (char)(a->many | a->any_shape << 1 | a->donated << 2));
    stet_buf_varint(out, a->line);
    stet_buf_varint(out, a->rank);
    for (uint32_t i = 0; i < a->rank; i++)
        put_dim(out, &a->dims[i]);
}

static void put_mesh(struct stet_buf *out, const struct stet_terms *t)
{
    stet_buf_char(out, t->has_mesh);
    put_view(out, t->mesh);
    stet_buf_varint(out, t->mesh_line);
}

static void put_family(struct stet_buf *out, const struct stet_family *f)
{
    put_view(out, f->name);
    put_view(out, f->calls);
    stet_buf_char(out, (char)(f->open | f->has_calls << 1));
    stet_buf_u64(out, f->programs);
    stet_buf_u64(out, f->graphs);
    stet_buf_u64(out, f->options);
    stet_buf_u64(out, f->compiles);
    stet_buf_varint(out, f->line);
    stet_buf_varint(out, f->programs_line);
    put_mesh(out, &f->terms);
    stet_buf_varint(out, f->arg_count);
    for (uint32_t i = 0; i < f->arg_count; i++)
        put_arg(out, &f->args[i]);
}

void stet_gate_contract_pack(struct stet_buf *out, const struct stet_contract *c, bool foreign)
{
    struct stet_buf body = STET_BUF_INIT;
    struct stet_hash h;

    put_view(&body, c->file);
    stet_buf_char(&body, foreign);
    put_mesh(&body, &c->terms);
    stet_buf_varint(&body, c->family_count);
    for (uint32_t i = 0; i < c->family_count; i++)
        put_family(&body, &c->families[i]);
    h = stet_hash_bytes(stet_buf_as_view(&body));
    stet_buf_add(out, magic, sizeof magic);
    stet_buf_u64(out, h.hi);
    stet_buf_u64(out, h.lo);
    stet_buf_view(out, stet_buf_as_view(&body));
    out->failed |= body.failed;
    stet_buf_release(&body);
}

/* ---- reading ---- */

static struct stet_view take_view(struct stet_reader *r, struct stet_arena *arena)
{
    return stet_arena_copy(arena, stet_reader_bytes(r, stet_reader_varint(r)));
}

/* A count larger than the remaining bytes is invalid. */
static uint32_t take_count(struct stet_reader *r)
{
    uint64_t n = stet_reader_varint(r);

    if (n > stet_reader_left(r)) {
        stet_reader_fail(r, "an impossible count");
        return 0;
    }
    return (uint32_t)n;
}

static void take_dim(struct stet_reader *r, struct stet_dim *d, struct stet_arena *arena)
{
    uint8_t kind = stet_reader_u8(r);

    if (kind > STET_DIM_RANGE) {
        stet_reader_fail(r, "a kind of dimension that is not known");
        return;
    }
    d->kind = (enum stet_dim_kind)kind;
    if (kind == STET_DIM_RANGE) {
        d->low = (int64_t)stet_reader_u64(r);
        d->high = (int64_t)stet_reader_u64(r);
        d->step = (int64_t)stet_reader_u64(r);
        if (d->step < 1)
            stet_reader_fail(r, "a range without a step");
    } else if (kind == STET_DIM_SET) {
        uint32_t n = take_count(r);

        for (uint32_t i = 0; i < n && stet_reader_ok(r); i++)
            stet_gate_dim_add(d, (int64_t)stet_reader_u64(r), arena);
    }
}

static void take_arg(struct stet_reader *r, struct stet_clause_arg *a, struct stet_arena *arena)
{
    uint8_t bits;

    a->name = take_view(r, arena);
    a->type = take_view(r, arena);
    a->sharding = take_view(r, arena);
    a->layout = take_view(r, arena);
    bits = stet_reader_u8(r);
    a->many = bits & 1;
    a->any_shape = bits >> 1 & 1;
    a->donated = bits >> 2 & 1;
    a->line = (uint32_t)stet_reader_varint(r);
    a->rank = take_count(r);
    a->dims = STET_NEW_ARRAY(arena, struct stet_dim, a->rank + 1);
    for (uint32_t i = 0; a->dims && i < a->rank && stet_reader_ok(r); i++)
        take_dim(r, &a->dims[i], arena);
}

static void take_mesh(struct stet_reader *r, struct stet_terms *t, struct stet_arena *arena)
{
    t->has_mesh = stet_reader_u8(r) != 0;
    t->mesh = take_view(r, arena);
    t->mesh_line = (uint32_t)stet_reader_varint(r);
}

static void take_family(struct stet_reader *r, struct stet_contract *c)
{
    struct stet_family *f = stet_gate_contract_add_family(c);
    uint32_t args;
    uint8_t bits;

    if (!f)
        return;
    f->name = take_view(r, &c->arena);
    f->calls = take_view(r, &c->arena);
    bits = stet_reader_u8(r);
    f->open = bits & 1;
    f->has_calls = bits >> 1 & 1;
    f->programs = stet_reader_u64(r);
    f->graphs = stet_reader_u64(r);
    f->options = stet_reader_u64(r);
    f->compiles = stet_reader_u64(r);
    f->line = (uint32_t)stet_reader_varint(r);
    f->programs_line = (uint32_t)stet_reader_varint(r);
    take_mesh(r, &f->terms, &c->arena);
    args = take_count(r);
    for (uint32_t i = 0; i < args && stet_reader_ok(r) && !c->arena.failed; i++) {
        struct stet_clause_arg *a = stet_gate_family_add_arg(f, &c->arena);

        if (a)
            take_arg(r, a, &c->arena);
    }
}

enum stet_rc stet_gate_contract_unpack(struct stet_contract *c, struct stet_view bytes,
                                       struct stet_err *err)
{
    struct stet_reader r;
    struct stet_view head;
    struct stet_hash want, have;
    uint32_t families;
    enum stet_rc rc;

    stet_gate_contract_init(c);
    stet_reader_init(&r, bytes, 0);
    head = stet_reader_bytes(&r, sizeof magic);
    want.hi = stet_reader_u64(&r);
    want.lo = stet_reader_u64(&r);
    have = stet_hash_bytes(stet_view_of(r.next, stet_reader_left(&r)));
    if (!stet_view_eq(head, stet_view_of(magic, sizeof magic)) || !stet_hash_eq(want, have))
        stet_reader_fail(&r, "not a packed contract, or a damaged one");
    c->file = take_view(&r, &c->arena);
    c->on_cpu = stet_reader_u8(&r) != 0; /* here: the backend's own clauses were left out */
    take_mesh(&r, &c->terms, &c->arena);
    families = take_count(&r);
    for (uint32_t i = 0; i < families && stet_reader_ok(&r) && !c->arena.failed; i++)
        take_family(&r, c);
    rc = stet_reader_finish(&r, "contract", err);
    if (rc == STET_OK && c->arena.failed)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for a contract");
    if (rc != STET_OK)
        stet_gate_contract_release(c);
    return rc;
}
