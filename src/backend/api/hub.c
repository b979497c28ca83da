/* The hub of a job (peers.h): processes connect for each launch, send their inputs, and get those
 * of all. One thread, which never blocks on a connection. */
#include "backend/api/peers.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/reader.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Processes that run different programs would hang on an accelerator. Here they fail, but not at
 * once: in that time `stet run` finds out what differs. */
enum { CONNECTIONS_MAX = 4096, HEAD_MOST = 512, END_MS = 5000, MISMATCH_MS = 5000 };
#define INPUTS_MOST ((size_t)8 << 30)

/* What one process brought, or the answer to it. */
struct guest {
    int fd;
    bool complete; /* everything has arrived */
    struct stet_buf in;
    size_t head; /* bytes before the inputs; 0 while not known */
    size_t whole;
    uint32_t node, members;
    struct stet_meeting of;
    char name[96];
    struct stet_buf *answer; /* shared by the members of a meeting; NULL while it is not ready */
    size_t sent;
};

struct answer {
    struct stet_buf bytes;
    uint32_t holders;
    int64_t not_before_ms;
};

struct stet_hub {
    int listener, stop[2];
    pthread_t thread;
    struct guest **guests;
    size_t count, room;
};

static void drop_answer(struct guest *g)
{
    struct answer *a = (struct answer *)g->answer;

    if (!a || --a->holders)
        return;
    stet_buf_release(&a->bytes);
    stet_mem_free(a);
}

static void guest_free(struct guest *g)
{
    drop_answer(g);
    close(g->fd);
    stet_buf_release(&g->in);
    stet_mem_free(g);
}

/* Reads the head of a request, once it is all there. False if it is not one. */
static bool read_head(struct guest *g)
{
    struct stet_reader r;
    struct stet_view name, magic;
    uint64_t bytes;

    stet_reader_init(&r, stet_view_of(g->in.ptr, g->in.len < HEAD_MOST ? g->in.len : HEAD_MOST), 0);
    magic = stet_reader_bytes(&r, strlen(STET_PEERS_MAGIC));
    g->node = stet_reader_u32(&r);
    g->members = stet_reader_u32(&r);
    g->of.set = stet_reader_u64(&r);
    g->of.number = stet_reader_u64(&r);
    g->of.program.hi = stet_reader_u64(&r);
    g->of.program.lo = stet_reader_u64(&r);
    name = stet_reader_text(&r);
    bytes = stet_reader_u64(&r);
    if (!stet_reader_ok(&r))
        return g->in.len < HEAD_MOST;
    if (!stet_view_is(magic, STET_PEERS_MAGIC) || g->members < 2 || g->members > STET_PEERS_MOST ||
        g->node >= STET_PEERS_MOST || bytes > INPUTS_MOST)
        return false;
    snprintf(g->name, sizeof g->name, "%.*s", STET_FMT(name));
    g->head = (size_t)stet_reader_offset(&r);
    g->whole = g->head + (size_t)bytes;
    return true;
}

/* False when the connection has ended. */
static bool receive(struct guest *g)
{
    enum { AT_ONCE = 1 << 20 };
    char *to = stet_buf_reserve(&g->in, AT_ONCE);
    ssize_t n = to ? recv(g->fd, to, AT_ONCE, MSG_DONTWAIT) : -1;

    if (n < 0)
        return to && (errno == EAGAIN || errno == EINTR);
    if (n == 0)
        return false;
    stet_buf_grew(&g->in, (size_t)n);
    if (!g->head && !read_head(g))
        return false;
    g->complete = g->head && g->in.len >= g->whole;
    return true;
}

/* ---- meetings ---- */

static bool same_meeting(const struct guest *a, const struct guest *b)
{
    return a->of.set == b->of.set && a->of.number == b->of.number && a->members == b->members;
}

static int by_node(const void *a, const void *b)
{
    const struct guest *x = *(struct guest *const *)a, *y = *(struct guest *const *)b;

    return (x->node > y->node) - (x->node < y->node);
}

/* True if they run the same program. */
static bool write_answer(struct stet_buf *out, struct guest **came, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (stet_hash_eq(came[i]->of.program, came[0]->of.program))
            continue;
        stet_buf_u32(out, 1);
        stet_buf_printf(out,
                        "launch %llu of these devices is %s in process %u and %s in process %u: "
                        "the processes of a job must run the same programs in the same order",
                        (unsigned long long)came[0]->of.number, came[0]->name, came[0]->node,
                        came[i]->name, came[i]->node);
        return false;
    }
    stet_buf_u32(out, 0);
    for (size_t i = 0; i < count; i++) {
        stet_buf_u64(out, came[i]->whole - came[i]->head);
        stet_buf_add(out, came[i]->in.ptr + came[i]->head, came[i]->whole - came[i]->head);
    }
    return true;
}

/* Answers a meeting when the last of its members has come. */
static void settle(struct stet_hub *h, const struct guest *last)
{
    struct guest *came[STET_PEERS_MOST];
    struct answer *a;
    size_t count = 0;

    for (size_t i = 0; i < h->count && count < STET_PEERS_MOST; i++) {
        struct guest *g = h->guests[i];

        if (g->complete && !g->answer && same_meeting(g, last))
            came[count++] = g;
    }
    if (count < last->members)
        return;
    qsort(came, count, sizeof *came, by_node);
    a = stet_mem_calloc(1, sizeof *a);
    if (!a)
        return;
    a->bytes.cap = INPUTS_MOST * 2;
    if (!write_answer(&a->bytes, came, count))
        a->not_before_ms = stet_clock_ms() + MISMATCH_MS;
    for (size_t i = 0; i < count; i++) {
        came[i]->answer = &a->bytes;
        a->holders++;
        stet_buf_release(&came[i]->in);
    }
}

/* False when it has ended. */
static bool reply(struct guest *g)
{
    ssize_t n;

    if (g->answer->failed)
        return false;
    if (((struct answer *)g->answer)->not_before_ms > stet_clock_ms())
        return true;
    n = send(g->fd, g->answer->ptr + g->sent, g->answer->len - g->sent,
             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    g->sent += (size_t)n;
    return g->sent < g->answer->len;
}

/* False when the connection has ended. A member that has come only waits. */
static bool visit(struct stet_hub *h, struct guest *g, short events)
{
    if (g->answer)
        return !(events & (POLLERR | POLLHUP)) && (!(events & POLLOUT) || reply(g));
    if (g->complete)
        return !(events & (POLLERR | POLLHUP));
    if (!(events & (POLLIN | POLLERR | POLLHUP)))
        return true;
    if (!receive(g))
        return false;
    if (g->complete)
        settle(h, g);
    return true;
}

static void welcome(struct stet_hub *h)
{
    int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);
    struct guest *g = NULL;

    if (fd < 0)
        return;
    if (h->count < CONNECTIONS_MAX && stet_peers_is_own(fd) &&
        stet_vec_room(&h->guests, &h->room, h->count, sizeof(struct guest *)))
        g = stet_mem_calloc(1, sizeof *g);
    if (!g) {
        close(fd);
        return;
    }
    g->fd = fd;
    g->in.cap = INPUTS_MOST + HEAD_MOST;
    h->guests[h->count++] = g;
}

static short wanted(const struct guest *g)
{
    if (g->answer)
        return ((struct answer *)g->answer)->not_before_ms > stet_clock_ms() ? 0 : POLLOUT;
    return g->complete ? 0 : POLLIN;
}

/* Answers that are on their way are sent before the hub ends: the first process may be done with a
 * launch before the others have their part of it. */
static bool is_over(const struct stet_hub *h, int64_t end_ms)
{
    bool open = false;

    for (size_t i = 0; i < h->count; i++)
        open |= h->guests[i]->answer != NULL;
    return !open || stet_clock_ms() > end_ms;
}

static void *serve(void *argument)
{
    struct stet_hub *h = argument;
    struct pollfd *list = NULL;
    int64_t end_ms = 0; /* 0: it goes on */
    size_t room = 0;

    while ((!end_ms || !is_over(h, end_ms)) &&
           stet_vec_grow(&list, &room, 0, h->count + 2, sizeof *list, 0)) {
        size_t n = h->count, kept = 0;
        bool pending = false; /* an answer that is held back */

        list[0] = (struct pollfd){.fd = h->listener, .events = POLLIN};
        list[1] = (struct pollfd){.fd = end_ms ? -1 : h->stop[0], .events = POLLIN};
        for (size_t i = 0; i < n; i++) {
            const struct guest *g = h->guests[i];

            list[i + 2] = (struct pollfd){.fd = g->fd, .events = wanted(g)};
            pending |= g->answer && !wanted(g);
        }
        if (poll(list, n + 2, end_ms || pending ? 100 : -1) < 0 && errno != EINTR)
            break;
        if (list[1].revents)
            end_ms = stet_clock_ms() + END_MS;
        for (size_t i = 0; i < n; i++) {
            if (visit(h, h->guests[i], list[i + 2].revents))
                h->guests[kept++] = h->guests[i];
            else
                guest_free(h->guests[i]);
        }
        h->count = kept;
        if (list[0].revents)
            welcome(h);
    }
    stet_mem_free(list);
    return NULL;
}

static int listen_at(const char *address)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    size_t n = strlen(address);

    memcpy(at.sun_path + 1, address, n);
    if (fd >= 0 &&
        bind(fd, (const struct sockaddr *)&at,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) == 0 &&
        listen(fd, STET_PEERS_MOST) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool start(struct stet_hub *h)
{
    sigset_t all, before;
    bool started;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&h->thread, NULL, serve, h) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

enum stet_rc stet_hub_new(struct stet_hub **out, char address[64], struct stet_err *err)
{
    struct stet_hub *h = stet_mem_calloc(1, sizeof *h);
    uint64_t secret[2] = {0};

    if (!h)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    h->listener = h->stop[0] = h->stop[1] = -1;
    if (getrandom(secret, sizeof secret, 0) != sizeof secret) {
        stet_mem_free(h);
        return stet_fail_errno(err, "no random bytes");
    }
    if (!address[0])
        snprintf(address, 64, "stet-cpu-%016llx%016llx", (unsigned long long)secret[0],
                 (unsigned long long)secret[1]);
    h->listener = listen_at(address);
    if (h->listener >= 0 && pipe2(h->stop, O_CLOEXEC) == 0 && start(h)) {
        *out = h;
        return STET_OK;
    }
    stet_fail_errno(err, "cannot listen for the other processes of the job");
    for (int i = 0; i < 2; i++) {
        if (h->stop[i] >= 0)
            close(h->stop[i]);
    }
    if (h->listener >= 0)
        close(h->listener);
    stet_mem_free(h);
    return STET_IO;
}

void stet_hub_free(struct stet_hub *h)
{
    ssize_t n = write(h->stop[1], "", 1);

    (void)n; /* the pipe is empty, so this cannot fail */
    pthread_join(h->thread, NULL);
    for (size_t i = 0; i < h->count; i++)
        guest_free(h->guests[i]);
    stet_mem_free(h->guests);
    close(h->stop[0]);
    close(h->stop[1]);
    close(h->listener);
    stet_mem_free(h);
}
