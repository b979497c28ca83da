/* Reads one attribute or type from MLIR text. The bytecode reader uses it for entries that are
 * stored as text. */
#ifndef STET_DECODE_MLIR_H
#define STET_DECODE_MLIR_H

#include "base/arena.h"
#include "base/err.h"
#include "program/program.h"

/* The whole of `text` is one attribute or type. The result is in `arena` and may point into `text`,
 * which must outlive it. Errors have line and column. */
enum stet_rc stet_mlir_parse_attr(struct stet_arena *arena, struct stet_view text,
                                  const struct stet_attr **out, struct stet_err *err);
enum stet_rc stet_mlir_parse_type(struct stet_arena *arena, struct stet_view text,
                                  const struct stet_type **out, struct stet_err *err);

#endif
