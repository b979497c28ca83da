/* Writes the protobuf wire format. */
#include "base/proto_write.h"

#include <string.h>

enum { VARINT = 0, BYTES = 2 };

void stet_proto_write_uint(struct stet_buf *out, uint32_t field, uint64_t value)
{
    stet_buf_varint(out, (uint64_t)field << 3 | VARINT);
    stet_buf_varint(out, value);
}

void stet_proto_write_bytes(struct stet_buf *out, uint32_t field, struct stet_view bytes)
{
    stet_buf_varint(out, (uint64_t)field << 3 | BYTES);
    stet_buf_varint(out, bytes.len);
    stet_buf_view(out, bytes);
}

void stet_proto_write_cstr(struct stet_buf *out, uint32_t field, const char *text)
{
    stet_proto_write_bytes(out, field, stet_view_str(text));
}

void stet_proto_write_move(struct stet_buf *out, uint32_t field, struct stet_buf *message)
{
    stet_proto_write_bytes(out, field, stet_buf_as_view(message));
    out->failed |= message->failed;
    message->len = 0;
}
