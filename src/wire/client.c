/* Sockets, poll and deadlines: the only network code of the layer. */
#include "wire/client.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

uint64_t stet_wire_now_ms(void)
{
    return stet_clock_ns() / 1000000u;
}

bool stet_wire_is_own(const struct stet_wire *l)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return getsockopt(l->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

void stet_wire_adopt(struct stet_wire *l, int fd)
{
    *l = (struct stet_wire){.fd = fd, .in = {.cap = STET_WIRE_HEAD + STET_WIRE_MAX + 4096}};
}

enum stet_rc stet_wire_open(struct stet_wire *l, const char *path, struct stet_err *err)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    stet_wire_adopt(l, -1);
    if (strlen(path) >= sizeof to.sun_path)
        return stet_fail(err, STET_LIMIT, "%s: too long for a socket", path);
    memcpy(to.sun_path, path, strlen(path));
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return stet_fail_errno(err, "cannot make a socket");
    if (connect(l->fd, (struct sockaddr *)&to, sizeof to) != 0) {
        bool nobody = errno == ENOENT || errno == ECONNREFUSED;

        stet_fail_errno(err, "%s: cannot connect", path);
        stet_wire_close(l);
        return nobody ? STET_NOT_FOUND : STET_IO;
    }
    /* what the agent puts into the store is executed, so it must run as this user */
    if (!stet_wire_is_own(l)) {
        stet_wire_close(l);
        return stet_fail(err, STET_IO, "%s: belongs to another user", path);
    }
    return STET_OK;
}

void stet_wire_close(struct stet_wire *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    stet_buf_release(&l->in);
    l->taken = 0;
}

/* STET_LIMIT if the deadline passed. */
static enum stet_rc wait_for(int fd, short events, uint64_t until_ms, struct stet_err *err)
{
    for (;;) {
        uint64_t now = stet_wire_now_ms(), left = until_ms > now ? until_ms - now : 0;
        struct pollfd p = {.fd = fd, .events = events};
        int n = poll(&p, 1, left > 60000 ? 60000 : (int)left);

        if (n > 0)
            return STET_OK;
        if (n < 0 && errno != EINTR)
            return stet_fail_errno(err, "cannot wait");
        if (n == 0 && left == 0)
            return stet_fail(err, STET_LIMIT, "no answer in time");
    }
}

enum stet_rc stet_wire_send(struct stet_wire *l, const struct stet_message *m, uint64_t until_ms,
                            struct stet_err *err)
{
    struct stet_buf out = STET_BUF_INIT;
    enum stet_rc rc = STET_OK;
    size_t sent = 0;

    stet_wire_message_pack(&out, m);
    if (out.failed)
        rc = stet_fail(err, STET_NO_MEMORY, "out of memory for a message");
    while (rc == STET_OK && sent < out.len) {
        ssize_t n = send(l->fd, out.ptr + sent, out.len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n > 0)
            sent += (size_t)n;
        else if (n == 0 || errno == EAGAIN || errno == EWOULDBLOCK)
            rc = wait_for(l->fd, POLLOUT, until_ms, err);
        else if (errno != EINTR)
            rc = stet_fail_errno(err, "cannot send");
    }
    stet_buf_release(&out);
    return rc;
}

/* More bytes into `in`, at most `want`. */
static enum stet_rc fill(struct stet_wire *l, size_t want, uint64_t until_ms, struct stet_err *err)
{
    char *to = stet_buf_reserve(&l->in, want);
    enum stet_rc rc;
    ssize_t n;

    if (!to)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a message");
    do {
        n = recv(l->fd, to, want, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            rc = wait_for(l->fd, POLLIN, until_ms, err);
            if (rc != STET_OK)
                return rc;
            errno = EINTR;
        }
    } while (n < 0 && errno == EINTR);
    if (n == 0)
        return STET_NOT_FOUND;
    if (n < 0)
        return stet_fail_errno(err, "cannot receive");
    stet_buf_grew(&l->in, (size_t)n);
    return STET_OK;
}

enum stet_rc stet_wire_receive(struct stet_wire *l, struct stet_message *m, uint64_t until_ms,
                               struct stet_err *err)
{
    size_t whole = STET_WIRE_HEAD;
    enum stet_rc rc = STET_OK;

    if (l->taken)
        memmove(l->in.ptr, l->in.ptr + l->taken, l->in.len - l->taken);
    l->in.len -= l->taken;
    l->taken = 0;
    while (rc == STET_OK && l->in.len < whole)
        rc = fill(l, whole - l->in.len, until_ms, err);
    if (rc == STET_OK)
        rc = stet_wire_message_length(stet_view_of(l->in.ptr, whole), &whole, err);
    while (rc == STET_OK && l->in.len < whole)
        rc = fill(l, whole - l->in.len, until_ms, err);
    if (rc != STET_OK)
        return rc;
    l->taken = whole;
    return stet_wire_message_read(m, stet_view_of(l->in.ptr, whole), err);
}

bool stet_wire_hung_up(const struct stet_wire *l)
{
    struct pollfd p = {.fd = l->fd, .events = POLLIN | POLLRDHUP};

    return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLRDHUP | POLLERR)) &&
           !(p.revents & POLLIN && recv(l->fd, &(char){0}, 1, MSG_PEEK | MSG_DONTWAIT) > 0);
}
