/* A connection to the agent, used at both ends. Every wait has a deadline, nothing raises SIGPIPE,
 * and descriptors do not survive exec. The struct owns its descriptor. */
#ifndef STET_WIRE_CLIENT_H
#define STET_WIRE_CLIENT_H

#include "wire/message.h"

/* Bytes that were received and not yet used. */
struct stet_wire {
    int fd; /* -1: not connected */
    struct stet_buf in;
    size_t taken; /* bytes of `in` that the last message used */
};

/* CLOCK_MONOTONIC, milliseconds. */
uint64_t stet_wire_now_ms(void);

/* Connects to a socket of a process of this same user; never blocks. STET_NOT_FOUND if no process
 * listens. */
enum stet_rc stet_wire_open(struct stet_wire *l, const char *path, struct stet_err *err);
/* Takes ownership of a connected descriptor. */
void stet_wire_adopt(struct stet_wire *l, int fd);
void stet_wire_close(struct stet_wire *l);

/* Sends the whole message before the deadline, or fails. */
enum stet_rc stet_wire_send(struct stet_wire *l, const struct stet_message *m, uint64_t until_ms,
                            struct stet_err *err);
/* The next message; its texts are valid until the next call. STET_NOT_FOUND if the other end
 * closed, STET_LIMIT if the deadline passed. */
enum stet_rc stet_wire_receive(struct stet_wire *l, struct stet_message *m, uint64_t until_ms,
                               struct stet_err *err);
/* True if the other end has closed the connection and nothing is left to read. Does not wait. */
bool stet_wire_hung_up(const struct stet_wire *l);
/* Is the peer a process of this user? */
bool stet_wire_is_own(const struct stet_wire *l);

#endif
