/* Shared by the files that convert instruction fields to attributes. `in` is the instruction. */
#ifndef STET_DECODE_HLO_PROTO_ATTR_H
#define STET_DECODE_HLO_PROTO_ATTR_H

#include "decode/hlo/hlo_proto.h"

/* Zero or empty if the field is absent. */
int64_t stet_hlo_number(struct stet_hlo_reader *r, uint32_t field);
struct stet_view stet_hlo_text(struct stet_hlo_reader *r, uint32_t field);
/* All fields of that number, packed or not. */
struct stet_ints stet_hlo_ints(struct stet_hlo_reader *r, uint32_t field);
/* The same, in another arena than the program's. */
struct stet_ints stet_hlo_ints_in(struct stet_hlo_reader *r, struct stet_arena *a, uint32_t field);
/* The same in the submessage in field `outer`. */
struct stet_ints stet_hlo_inner(struct stet_hlo_reader *r, const struct stet_proto *in,
                                uint32_t outer, uint32_t inner);
struct stet_ints stet_hlo_inner_of(struct stet_hlo_reader *r, const struct stet_proto *in,
                                   const struct stet_proto_field *outer, uint32_t inner);
int64_t stet_hlo_inner_number(struct stet_hlo_reader *r, const struct stet_proto *in,
                              uint32_t outer, uint32_t inner);

const struct stet_attr *stet_hlo_slices(struct stet_hlo_reader *r, const struct stet_proto *in);
const struct stet_attr *stet_hlo_padding(struct stet_hlo_reader *r, const struct stet_proto *in);
const struct stet_attr *stet_hlo_window(struct stet_hlo_reader *r, const struct stet_proto *in);
const struct stet_attr *stet_hlo_dim_labels(struct stet_hlo_reader *r, const struct stet_proto *in);
const struct stet_attr *stet_hlo_replica_groups(struct stet_hlo_reader *r,
                                                const struct stet_proto *in);
const struct stet_attr *stet_hlo_pairs(struct stet_hlo_reader *r, const struct stet_proto *in);
const struct stet_attr *stet_hlo_aliasing(struct stet_hlo_reader *r, const struct stet_proto *in);

#endif
