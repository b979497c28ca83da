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

/* What makes an attribute; NULL where XLA's text leaves it out. */
typedef const struct stet_attr *stet_hlo_made(struct stet_hlo_reader *r,
                                              const struct stet_proto *in);
typedef const struct stet_attr *stet_hlo_special(struct stet_hlo_reader *r,
                                                 const struct stet_proto *in,
                                                 const struct stet_hlo_instr *instr);
typedef const struct stet_attr *stet_hlo_sub(struct stet_hlo_reader *r, const struct stet_proto *in,
                                             const struct stet_proto_field *f);

stet_hlo_made stet_decode_hlo_async_thread;
stet_hlo_made stet_decode_hlo_backend_config;
stet_hlo_made stet_decode_hlo_called;
stet_hlo_made stet_decode_hlo_channel_id;
stet_hlo_made stet_decode_hlo_domain;
stet_hlo_made stet_decode_hlo_epsilon;
stet_hlo_made stet_decode_hlo_inferred_dimension;
stet_hlo_made stet_decode_hlo_iota_dimension;
stet_hlo_made stet_decode_hlo_is_associative;
stet_hlo_made stet_decode_hlo_lower;
stet_hlo_made stet_decode_hlo_operand_precision;
stet_hlo_made stet_decode_hlo_result_accuracy;
stet_hlo_made stet_decode_hlo_shapes;
stet_hlo_made stet_decode_hlo_statistics;
stet_hlo_special stet_decode_hlo_algorithm;
stet_hlo_special stet_decode_hlo_branches;
stet_hlo_special stet_decode_hlo_comparison_type;
stet_hlo_special stet_decode_hlo_dimensions;
stet_hlo_special stet_decode_hlo_index_vector_dim;
stet_hlo_special stet_decode_hlo_literal;
stet_hlo_special stet_decode_hlo_slice_sizes;
stet_hlo_sub stet_decode_hlo_shape_of;

/* The word of an enumeration. */
const struct stet_attr *stet_decode_hlo_word(struct stet_hlo_reader *r, enum stet_hlo_attr which,
                                             const char *const *names, int64_t v);
/* The nth called computation. */
const struct stet_attr *stet_decode_hlo_call(struct stet_hlo_reader *r, uint32_t n);
/* Is the selector of this conditional a predicate? */
bool stet_decode_hlo_by_predicate(const struct stet_hlo_reader *r,
                                  const struct stet_hlo_instr *instr);
struct stet_ints stet_decode_hlo_dot_dims(struct stet_hlo_reader *r, const struct stet_proto *in,
                                          uint32_t inner);

#endif
