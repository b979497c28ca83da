/* Writes protobuf messages: a tag and a value for each field. A submessage is written into a buffer
 * of its own and then added as bytes. The caller owns the buffers and checks `failed` once. */
#ifndef STET_BASE_PROTO_WRITE_H
#define STET_BASE_PROTO_WRITE_H

#include "base/buf.h"

void stet_proto_write_uint(struct stet_buf *out, uint32_t field, uint64_t value);
/* A text, a submessage, or packed numbers. */
void stet_proto_write_bytes(struct stet_buf *out, uint32_t field, struct stet_view bytes);
void stet_proto_write_cstr(struct stet_buf *out, uint32_t field, const char *text);
/* Adds the submessage and empties its buffer for the next one. */
void stet_proto_write_move(struct stet_buf *out, uint32_t field, struct stet_buf *message);

#endif
