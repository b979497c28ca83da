/* Messages between layer and agent: reading ends in a message or an error; what is written reads
 * back; a message with any byte changed is no message. Both ends receive by the same function, so
 * what either may send the other goes through a real socket too. */
#include "fuzz.h"

#include "wire/client.h"

#include <sys/socket.h>
#include <unistd.h>

enum { SOCKET_MAX = 1 << 15 };

/* A sound message, and then whatever: the first arrives, and after it all ends in an error. */
static void over_a_socket(const uint8_t *data, size_t size)
{
    struct stet_message m = {.kind = STET_MESSAGE_FOUND, .text = stet_view_of(data, size % 100)};
    uint64_t until = stet_wire_now_ms() + 10000;
    struct stet_buf bytes = STET_BUF_INIT;
    struct stet_message back;
    struct stet_wire l;
    enum stet_rc rc;
    int ends[2];

    stet_wire_message_pack(&bytes, &m);
    stet_buf_add(&bytes, data, size);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(write(ends[0], bytes.ptr, bytes.len) == (ssize_t)bytes.len);
    close(ends[0]);
    stet_wire_adopt(&l, ends[1]);
    CHECK(stet_wire_receive(&l, &back, until, NULL) == STET_OK);
    CHECK(back.kind == m.kind && stet_view_eq(back.text, m.text));
    do {
        rc = stet_wire_receive(&l, &back, until, NULL);
    } while (rc == STET_OK);
    CHECK(stet_wire_now_ms() < until); /* it never waits for what can't come */
    stet_wire_close(&l);
    stet_buf_release(&bytes);
}

static void there_and_back(const uint8_t *data, size_t size)
{
    struct stet_buf out = STET_BUF_INIT;
    size_t third = size / 3, at;
    struct stet_message m = {.kind = STET_MESSAGE_GET,
                             .flags = (uint32_t)size,
                             .store = stet_view_of(data, third),
                             .run = stet_view_of(data + third, third),
                             .text = stet_view_of(data + 2 * third, size - 2 * third)};
    struct stet_message back;

    stet_wire_message_pack(&out, &m);
    CHECK(stet_wire_message_read(&back, stet_buf_as_view(&out), NULL) == STET_OK);
    CHECK(back.kind == m.kind && back.flags == m.flags);
    if (size < STET_WIRE_MAX / 4)
        CHECK(stet_view_eq(back.store, m.store) && stet_view_eq(back.run, m.run) &&
              stet_view_eq(back.text, m.text));
    at = (size_t)data[0] * data[size - 1] % out.len;
    out.ptr[at] = (char)(out.ptr[at] ^ (1 + data[size / 2] % 255));
    CHECK(stet_wire_message_read(&back, stet_buf_as_view(&out), NULL) != STET_OK);
    stet_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_message m;
    size_t length;

    if (stet_wire_message_length(stet_view_of(data, size), &length, NULL) == STET_OK)
        CHECK(length >= STET_WIRE_HEAD && length <= STET_WIRE_HEAD + STET_WIRE_MAX);
    if (stet_wire_message_read(&m, stet_view_of(data, size), &err) != STET_OK)
        CHECK(err.rc != STET_OK && err.text[0]);
    if (size)
        there_and_back(data, size);
    if (size < SOCKET_MAX)
        over_a_socket(data, size);
    return 0;
}
