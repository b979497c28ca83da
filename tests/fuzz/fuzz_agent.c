/* Messages between layer and agent: reading ends in a message or an error; what is written reads
 * back; a message with any byte changed is no message. */
#include "fuzz.h"

#include "wire/message.h"

static void there_and_back(const uint8_t *data, size_t size)
{
    struct stet_buf out = STET_BUF_INIT;
    size_t third = size / 3, at;
    struct stet_message m = {.kind = STET_MESSAGE_GET,
                             .flags = (uint32_t)size,
                             .store = stet_view_of(data, third),
                             .tier = stet_view_of(data + third, third),
                             .text = stet_view_of(data + 2 * third, size - 2 * third)};
    struct stet_message back;

    stet_message_pack(&out, &m);
    CHECK(stet_message_read(&back, stet_buf_as_view(&out), NULL) == STET_OK);
    CHECK(back.kind == m.kind && back.flags == m.flags);
    if (size < STET_WIRE_MAX / 4)
        CHECK(stet_view_eq(back.store, m.store) && stet_view_eq(back.tier, m.tier) &&
              stet_view_eq(back.text, m.text));
    at = (size_t)data[0] * data[size - 1] % out.len;
    out.ptr[at] = (char)(out.ptr[at] ^ (1 + data[size / 2] % 255));
    CHECK(stet_message_read(&back, stet_buf_as_view(&out), NULL) != STET_OK);
    stet_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_message m;
    size_t length;

    if (stet_message_length(stet_view_of(data, size), &length, NULL) == STET_OK)
        CHECK(length >= STET_WIRE_HEAD && length <= STET_WIRE_HEAD + STET_WIRE_MAX);
    if (stet_message_read(&m, stet_view_of(data, size), &err) != STET_OK)
        CHECK(err.rc != STET_OK && err.text[0]);
    if (size)
        there_and_back(data, size);
    return 0;
}
