/* See peers.h: joining a job, and one exchange. */
#include "backend/api/peers.h"

#include "abi/error.h"
#include "base/clock.h"
#include "base/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { JOIN_MS = 60000, LOOK_MS = 100 };

static const char hub_key[] = "stet-cpu/hub";

static const PJRT_NamedValue *option(const PJRT_Client_Create_Args *args, const char *name)
{
    for (size_t i = 0; i < args->num_options; i++) {
        const PJRT_NamedValue *v = &args->create_options[i];

        if (v->type == PJRT_NamedValue_kInt64 && v->name_size == strlen(name) &&
            !memcmp(v->name, name, v->name_size))
            return v;
    }
    return NULL;
}

/* Only its presence counts. */
static PJRT_Error *callback_failed(PJRT_Error_Code code, const char *message, size_t size)
{
    static char once;

    (void)code, (void)message, (void)size;
    return (PJRT_Error *)(void *)&once;
}

static PJRT_CallbackError on_failure = callback_failed;

static bool put(const PJRT_Client_Create_Args *job, const char *value)
{
    PJRT_KeyValuePutCallback_Args args = {
        .struct_size = PJRT_KeyValuePutCallback_Args_STRUCT_SIZE,
        .key = hub_key,
        .key_size = strlen(hub_key),
        .value = value,
        .value_size = strlen(value),
        .callback_error = &on_failure,
        .user_arg = job->kv_put_user_arg,
    };

    return !job->kv_put_callback(&args);
}

static bool get(const PJRT_Client_Create_Args *job, char *out, size_t room)
{
    PJRT_KeyValueGetCallback_Args args = {
        .struct_size = PJRT_KeyValueGetCallback_Args_STRUCT_SIZE,
        .key = hub_key,
        .key_size = strlen(hub_key),
        .timeout_in_ms = JOIN_MS,
        .callback_error = &on_failure,
        .user_arg = job->kv_get_user_arg,
    };

    if (job->kv_get_callback(&args))
        return false;
    snprintf(out, room, "%.*s", (int)(args.value_size < room ? args.value_size : room - 1),
             args.value);
    if (args.value_deleter_callback)
        args.value_deleter_callback(args.value);
    return true;
}

bool stet_peers_is_own(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

int stet_peers_connect(const char *address)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t n = strlen(address);

    if (fd < 0)
        return -1;
    memcpy(at.sun_path + 1, address, n);
    if (connect(fd, (const struct sockaddr *)&at,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) == 0 &&
        stet_peers_is_own(fd))
        return fd;
    close(fd);
    return -1;
}

static PJRT_Error *join_first(struct stet_peers *p, const PJRT_Client_Create_Args *args)
{
    struct stet_err err = STET_ERR_INIT;

    if (stet_hub_new(&p->hub, p->address, &err) != STET_OK)
        return stet_pjrt_error(PJRT_Error_Code_INTERNAL, "stet cpu: %s", err.text);
    if (put(args, p->address))
        return NULL;
    stet_hub_free(p->hub);
    p->hub = NULL;
    return stet_pjrt_error(PJRT_Error_Code_UNAVAILABLE,
                           "stet cpu: the job's key-value store does not accept the address of "
                           "its first process");
}

static PJRT_Error *first_is_missing(void)
{
    return stet_pjrt_error(PJRT_Error_Code_DEADLINE_EXCEEDED,
                           "stet cpu: the job's first process made no client within %d s",
                           JOIN_MS / 1000);
}

static PJRT_Error *join_other(struct stet_peers *p, const PJRT_Client_Create_Args *args)
{
    int fd;

    if (!get(args, p->address, sizeof p->address))
        return first_is_missing();
    fd = stet_peers_connect(p->address);
    if (fd < 0)
        return stet_pjrt_error(PJRT_Error_Code_UNAVAILABLE,
                               "stet cpu: the job's first process cannot be reached: all processes "
                               "of a job must belong to one user on one machine");
    close(fd);
    return NULL;
}

static PJRT_Error *take_place(struct stet_peers *p, int64_t node, int64_t nodes)
{
    if (nodes > STET_PEERS_MOST || node < 0 || node >= nodes)
        return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                               "stet cpu: process %lld of %lld: a job has 1 to %d processes",
                               (long long)node, (long long)nodes, STET_PEERS_MOST);
    p->node = (uint32_t)node;
    p->nodes = (uint32_t)nodes;
    return NULL;
}

static int64_t variable(const char *name)
{
    const char *text = getenv(name);

    return text && *text >= '0' && *text <= '9' ? strtoll(text, NULL, 10) : -1;
}

/* All processes of a TorchTPU job have the same list of addresses, and no other job has it. */
static PJRT_Error *join_listed(struct stet_peers *p, const char *list, int64_t node, int64_t nodes)
{
    struct stet_hash h = stet_hash_mix_u64(stet_hash_bytes(stet_view_str(list)), geteuid());
    const int64_t end = stet_clock_ms() + JOIN_MS;
    PJRT_Error *error = take_place(p, node, nodes);
    struct stet_err err = STET_ERR_INIT;
    int fd = -1;

    if (error)
        return error;
    snprintf(p->address, sizeof p->address, "stet-cpu-%016llx%016llx", (unsigned long long)h.hi,
             (unsigned long long)h.lo);
    if (!p->node)
        return stet_hub_new(&p->hub, p->address, &err) == STET_OK
                   ? NULL
                   : stet_pjrt_error(PJRT_Error_Code_INTERNAL, "stet cpu: %s", err.text);
    while ((fd = stet_peers_connect(p->address)) < 0 && stet_clock_ms() < end)
        poll(NULL, 0, LOOK_MS);
    if (fd < 0)
        return first_is_missing();
    close(fd);
    return NULL;
}

PJRT_Error *stet_peers_join(struct stet_peers *p, const PJRT_Client_Create_Args *args)
{
    const PJRT_NamedValue *node = option(args, "node_id"), *nodes = option(args, "num_nodes");
    const char *list = getenv("TORCH_TPU_SLICEBUILDER_ADDRESSES");
    PJRT_Error *error;

    *p = (struct stet_peers){.nodes = 1};
    if (!node && !nodes && list && *list && variable("RANK") >= 0 && variable("WORLD_SIZE") > 1)
        return join_listed(p, list, variable("RANK"), variable("WORLD_SIZE"));
    if (!node || !nodes || nodes->int64_value < 2 || !args->kv_get_callback ||
        !args->kv_put_callback)
        return NULL;
    error = take_place(p, node->int64_value, nodes->int64_value);
    if (error)
        return error;
    return p->node ? join_other(p, args) : join_first(p, args);
}

void stet_peers_stop(struct stet_peers *p)
{
    atomic_store(&p->leaving, true);
}

void stet_peers_leave(struct stet_peers *p)
{
    if (p->hub)
        stet_hub_free(p->hub);
    p->hub = NULL;
}

/* ---- one exchange ---- */

/* False if this process leaves, or on an error. */
static bool await(struct stet_peers *p, int fd, short what)
{
    struct pollfd one = {.fd = fd, .events = what};
    int n = 0;

    while (n == 0 && !atomic_load(&p->leaving))
        n = poll(&one, 1, LOOK_MS);
    return n > 0;
}

static bool send_all(struct stet_peers *p, int fd, const struct stet_buf *b)
{
    size_t done = 0;

    while (done < b->len && await(p, fd, POLLOUT)) {
        ssize_t n = send(fd, b->ptr + done, b->len - done, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return done == b->len;
}

/* Until the hub closes the connection. */
static bool receive_all(struct stet_peers *p, int fd, struct stet_buf *out)
{
    enum { AT_ONCE = 1 << 20 };

    while (await(p, fd, POLLIN)) {
        char *to = stet_buf_reserve(out, AT_ONCE);
        ssize_t n = to ? recv(fd, to, AT_ONCE, MSG_DONTWAIT) : -1;

        if (n == 0)
            return !out->failed;
        if (!to || (n < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        if (n > 0)
            stet_buf_grew(out, (size_t)n);
    }
    return false;
}

static void write_request(struct stet_buf *out, const struct stet_peers *p,
                          const struct stet_meeting *m, size_t bytes)
{
    stet_buf_str(out, STET_PEERS_MAGIC);
    stet_buf_u32(out, p->node);
    stet_buf_u32(out, m->members);
    stet_buf_u64(out, m->set);
    stet_buf_u64(out, m->number);
    stet_buf_u64(out, m->program.hi);
    stet_buf_u64(out, m->program.lo);
    stet_buf_text(out, stet_view_str(m->name));
    stet_buf_u64(out, bytes);
}

/* The answer begins with 0, or with another number and a reason. */
static enum stet_rc understand(struct stet_buf *out, struct stet_err *err)
{
    struct stet_reader r;
    uint32_t status;

    stet_reader_init(&r, stet_buf_as_view(out), 0);
    status = stet_reader_u32(&r);
    if (!stet_reader_ok(&r))
        return stet_fail(err, STET_IO, "the job's first process has ended");
    if (status)
        return stet_fail(err, STET_REFUSED, "%.*s", (int)stet_reader_left(&r),
                         (const char *)r.next);
    return STET_OK;
}

enum stet_rc stet_peers_exchange(struct stet_peers *p, const struct stet_meeting *m,
                                 const struct stet_buf *own, struct stet_buf *out,
                                 struct stet_err *err)
{
    struct stet_buf head = STET_BUF_INIT;
    int fd = stet_peers_connect(p->address);
    bool done;

    if (fd < 0)
        return stet_fail(err, STET_IO, "the job's first process cannot be reached");
    write_request(&head, p, m, own->len);
    done =
        !head.failed && send_all(p, fd, &head) && send_all(p, fd, own) && receive_all(p, fd, out);
    stet_buf_release(&head);
    close(fd);
    if (atomic_load(&p->leaving))
        return stet_fail(err, STET_IO,
                         "the client was destroyed while it waited for the other "
                         "processes of the job");
    if (!done)
        return stet_fail(err, STET_IO, "the connection to the job's first process broke");
    return understand(out, err);
}
