/* Bytes of any kind that people have lying around → a program. */
#ifndef STET_DECODE_DECODE_H
#define STET_DECODE_DECODE_H

#include "program/program.h"

/* Recognises the format by its content: MLIR bytecode (magic 4d 4c ef 52), HloModuleProto /
 * HloProto / HloModuleProtoWithConfig, MLIR text, HLO text, what jax.export serialises. On success
 * the caller releases the program; `bytes` must outlive it. On failure nothing is left to release.
 */
enum stet_rc stet_decode(struct stet_program *out, struct stet_view bytes, struct stet_err *err);

/* The single readers (one file or folder group each). Errors carry the byte offset; the text
 * readers put "line L column C" into the message as well. */
enum stet_rc stet_decode_bytecode(struct stet_program *out, struct stet_view bytes,
                                  struct stet_err *err);
enum stet_rc stet_decode_mlir_text(struct stet_program *out, struct stet_view text,
                                   struct stet_err *err);
enum stet_rc stet_decode_hlo_proto(struct stet_program *out, struct stet_view bytes,
                                   struct stet_err *err);
enum stet_rc stet_decode_hlo_text(struct stet_program *out, struct stet_view text,
                                  struct stet_err *err);

/* The bytecode in what jax.export's serialize() wrote; empty for anything else. */
struct stet_view stet_decode_exported(struct stet_view bytes);

#endif
