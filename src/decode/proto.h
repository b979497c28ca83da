/* A small protobuf wire reader. It returns fields one by one, without generated code and without
 * copies. Fields borrow from the input. */
#ifndef STET_DECODE_PROTO_H
#define STET_DECODE_PROTO_H

#include "base/arena.h"
#include "base/reader.h"

/* Shared by a message and all its submessages. The first failure sticks: every reader of the
 * message then has no more fields, and the caller checks once at the end. `what` is a literal. */
struct stet_proto_fault {
    enum stet_rc rc;
    const char *what;
    uint64_t where;
};

enum stet_proto_wire {
    STET_PROTO_VARINT = 0,
    STET_PROTO_FIXED64 = 1,
    STET_PROTO_BYTES = 2, /* strings, submessages, packed numbers */
    STET_PROTO_FIXED32 = 5,
};

struct stet_proto_field {
    uint32_t number;
    enum stet_proto_wire wire;
    uint64_t value;         /* VARINT and the fixed ones, as bits */
    struct stet_view bytes; /* BYTES: the payload */
    struct stet_view whole; /* tag included; unknown fields are kept by it */
    uint64_t offset;        /* of the payload in the input */
};

struct stet_proto {
    struct stet_reader r;
    struct stet_proto_fault *fault;
    unsigned depth;
};

/* The caller zeroes `fault`, which must outlive the reader. */
void stet_proto_init(struct stet_proto *p, struct stet_view bytes, struct stet_proto_fault *fault);
/* The next field, or false at the end and after a failure. Groups (wire types 3 and 4) are
 * rejected: no format that Stet reads has them. */
bool stet_proto_next(struct stet_proto *p, struct stet_proto_field *f);
/* A reader over a submessage; empty, with a failure recorded, if `f` is not one or is nested too
 * deeply. */
struct stet_proto stet_proto_sub(const struct stet_proto *p, const struct stet_proto_field *f);
void stet_proto_fail(struct stet_proto_fault *fault, enum stet_rc rc, uint64_t where,
                     const char *what);

/* The value of a scalar field; a field of another wire type is a failure. */
uint64_t stet_proto_uint(struct stet_proto_fault *fault, const struct stet_proto_field *f);
int64_t stet_proto_int(struct stet_proto_fault *fault, const struct stet_proto_field *f);
struct stet_view stet_proto_text(struct stet_proto_fault *fault, const struct stet_proto_field *f);
float stet_proto_float(const struct stet_proto_field *f);
double stet_proto_double(const struct stet_proto_field *f);

/* Collects a repeated integer field, packed or not, in an arena. */
struct stet_ints {
    int64_t *at;
    uint32_t count, room;
};
void stet_proto_ints(struct stet_proto_fault *fault, const struct stet_proto_field *f,
                     struct stet_arena *a, struct stet_ints *out);
void stet_decode_ints_add(struct stet_ints *out, struct stet_arena *a, int64_t v);

/* STET_OK, or the recorded failure as "context: what" with its offset. */
enum stet_rc stet_proto_finish(const struct stet_proto_fault *fault, const char *context,
                               struct stet_err *err);

#endif
