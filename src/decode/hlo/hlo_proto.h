/* Internal to the HLO proto reader: what its files share. */
#ifndef STET_DECODE_HLO_PROTO_H
#define STET_DECODE_HLO_PROTO_H

#include "base/buf.h"
#include "decode/hlo/hlo_build.h"
#include "decode/proto.h"

/* STET_HLO_<message>_<field>: its number. */
enum stet_hlo_field_number {
#define FIELD(message, name, number)  STET_HLO_##message##_##name = (number),
#define PRIMITIVE(name, text, number) STET_HLO_PRIMITIVE_##name = (number),
#include "decode/hlo_fields.def"
};

struct stet_hlo_callable {
    uint64_t id;
    struct stet_view name;
};

enum { STET_HLO_FIRST_FIELDS = 32 };

struct stet_hlo_reader {
    struct stet_hlo_build b;
    struct stet_proto_fault fault;
    /* of the current instruction, in order, reused; on the heap if there are more than
     * STET_HLO_FIRST_FIELDS, otherwise in b.scratch */
    struct stet_proto_field *fields;
    size_t field_count, field_room;
    struct stet_hlo_callable *callables; /* computations by id, sorted; arena */
    size_t callable_count;
    const struct stet_view *payloads; /* backend configs shared by id; arena */
    size_t payload_count;
    struct stet_buf scratch; /* for values that become text */
};

/* "[1,2]": numbers between `open` and `close`. */
void stet_decode_hlo_join(struct stet_buf *out, const char *open, const struct stet_ints *v,
                          const char *close);
/* ShapeProto → type; created once for equal bytes. NULL with a fault. */
const struct stet_type *stet_decode_hlo_shape(struct stet_hlo_reader *r,
                                              const struct stet_proto *in,
                                              const struct stet_proto_field *f);
/* ProgramShapeProto → FUNCTION type. */
const struct stet_type *stet_decode_hlo_program_shape(struct stet_hlo_reader *r,
                                                      const struct stet_proto *in,
                                                      const struct stet_proto_field *f);
/* "f32" for PrimitiveType's number, NULL if unknown. */
const char *stet_decode_hlo_primitive(uint64_t number);

/* LiteralProto of an instruction of type `t` → DENSE (ARRAY for a tuple). Floats stay in the input.
 */
const struct stet_attr *stet_decode_hlo_literal_value(struct stet_hlo_reader *r,
                                                      const struct stet_proto *in,
                                                      const struct stet_proto_field *f,
                                                      const struct stet_type *t);

/* OpSharding as XLA's text, without metadata; a STRING. */
const struct stet_attr *stet_decode_hlo_sharding(struct stet_hlo_reader *r,
                                                 const struct stet_proto *in,
                                                 const struct stet_proto_field *f);
/* MeshAxesReplicaGroupListProto as XLA's text, into scratch. */
void stet_decode_hlo_mesh_groups(struct stet_hlo_reader *r, const struct stet_proto *in,
                                 const struct stet_proto_field *f);

/* The last field of that number, or NULL. */
const struct stet_proto_field *stet_decode_hlo_field(const struct stet_hlo_reader *r,
                                                     uint32_t number);
/* The attribute from the instruction's fields; NULL if it is absent or XLA's default. */
const struct stet_attr *stet_decode_hlo_proto_attr(struct stet_hlo_reader *r,
                                                   const struct stet_proto *in,
                                                   struct stet_hlo_instr *instr,
                                                   enum stet_hlo_attr which);
/* FrontendAttributes → DICT, NULL if empty. */
const struct stet_attr *stet_decode_hlo_strings(struct stet_hlo_reader *r,
                                                const struct stet_proto *in,
                                                const struct stet_proto_field *f);
/* Reads one instruction and appends it to the current computation. */
void stet_decode_hlo_proto_instruction(struct stet_hlo_reader *r, const struct stet_proto *in,
                                       const struct stet_proto_field *f);
/* scratch as arena text; empties scratch. */
struct stet_view stet_decode_hlo_keep(struct stet_hlo_reader *r);

#endif
