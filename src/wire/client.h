/* A connection to the agent, from either end. Every wait has a deadline, nothing raises SIGPIPE,
 * and descriptors do not survive exec. */
#ifndef STET_WIRE_CLIENT_H
#define STET_WIRE_CLIENT_H

#include "wire/message.h"

/* What was read and not yet taken. */
struct stet_wire {
    int fd; /* -1: not connected */
    struct stet_buf in;
    size_t taken; /* bytes of `in` that the last message used */
};

/* CLOCK_MONOTONIC, milliseconds. */
uint64_t stet_wire_now_ms(void);

/* Connects to a socket that a process of this same user listens at; never blocks. STET_NOT_FOUND
 * when nobody does. */
enum stet_rc stet_wire_open(struct stet_wire *l, const char *path, struct stet_err *err);
/* Takes over a descriptor that is connected already. */
void stet_wire_adopt(struct stet_wire *l, int fd);
void stet_wire_close(struct stet_wire *l);

/* Whole or not at all, before the deadline. */
enum stet_rc stet_wire_send(struct stet_wire *l, const struct stet_message *m, uint64_t until_ms,
                            struct stet_err *err);
/* The next message; its texts live until the next call. STET_NOT_FOUND when the other end closed,
 * STET_LIMIT when the deadline passed. */
enum stet_rc stet_wire_receive(struct stet_wire *l, struct stet_message *m, uint64_t until_ms,
                               struct stet_err *err);
/* True when the other end has hung up, with nothing left to read. Does not wait. */
bool stet_wire_hung_up(const struct stet_wire *l);
/* The peer is a process of this user. */
bool stet_wire_is_own(const struct stet_wire *l);

#endif
