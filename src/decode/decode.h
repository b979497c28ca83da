/* Decodes a program from bytes in any format that frameworks and XLA write. Other modules include
 * only this header, options.h, proto.h and the numbers in hlo_fields.def. */
#ifndef STET_DECODE_DECODE_H
#define STET_DECODE_DECODE_H

#include "program/program.h"

/* Recognises the format by its content: MLIR bytecode (magic 4d 4c ef 52), HloModuleProto /
 * HloProto / HloModuleProtoWithConfig, MLIR text, HLO text, or the output of jax.export. On success
 * the caller releases the program, and `bytes` must outlive it. On failure there is nothing to
 * release. */
enum stet_rc stet_decode(struct stet_program *out, struct stet_view bytes, struct stet_err *err);

/* The single readers (one file or group of files each). Errors have the byte offset; the text
 * readers also put "line L column C" into the message. */
enum stet_rc stet_decode_bytecode(struct stet_program *out, struct stet_view bytes,
                                  struct stet_err *err);
enum stet_rc stet_decode_mlir_text(struct stet_program *out, struct stet_view text,
                                   struct stet_err *err);
enum stet_rc stet_decode_hlo_proto(struct stet_program *out, struct stet_view bytes,
                                   struct stet_err *err);
enum stet_rc stet_decode_hlo_text(struct stet_program *out, struct stet_view text,
                                  struct stet_err *err);

/* The bytecode inside the output of jax.export's serialize(); empty for anything else. */
struct stet_view stet_decode_exported(struct stet_view bytes);

#endif
