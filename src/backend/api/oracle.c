/* Asks how the real compiler shards a program's results (STET_CPU_SHARDINGS): `stet fit` has it
 * listen on a Unix socket while the backend poses as its devices. Without an answer the backend
 * guesses, as it does otherwise. */
#include "backend/api/cpu_api.h"

#include "base/mem.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE_S = 600, MOST_TEXT = 1 << 16 };

static bool write_all(int fd, const void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = send(fd, (const char *)bytes + done, n - done, MSG_NOSIGNAL);

        if (k <= 0)
            return false;
        done += (size_t)k;
    }
    return true;
}

static bool read_all(int fd, void *to, size_t n)
{
    for (size_t got = 0; got < n;) {
        ssize_t k = recv(fd, (char *)to + got, n - got, 0);

        if (k <= 0)
            return false;
        got += (size_t)k;
    }
    return true;
}

static int connect_to(const char *path)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(path) >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* One text for each result, in the plan's arena; NULL if the answer is not complete. */
static const struct stet_view *read_answer(int fd, struct stet_arena *a, uint32_t results)
{
    struct stet_view *texts = STET_NEW_ARRAY(a, struct stet_view, results + 1);
    uint64_t count, size;

    if (!texts || !read_all(fd, &count, sizeof count) || count != results)
        return NULL;
    for (uint32_t i = 0; i < results; i++) {
        char *text;

        if (!read_all(fd, &size, sizeof size) || size > MOST_TEXT)
            return NULL;
        text = stet_arena_alloc(a, (size_t)size + 1, 1);
        if (!text || !read_all(fd, text, (size_t)size))
            return NULL;
        texts[i] = stet_view_of(text, (size_t)size);
    }
    return texts;
}

static bool needs_answer(const struct stet_cpu_code *c)
{
    for (uint32_t i = 0; i < c->program.output_count; i++) {
        if (!c->program.outputs[i].sharding)
            return c->assignment.partitions > 1;
    }
    return false;
}

const struct stet_view *stet_oracle_shardings(const struct stet_cpu_code *c, struct stet_arena *a)
{
    const char *path = getenv("STET_CPU_SHARDINGS");
    const uint64_t sizes[2] = {c->size, c->options_size};
    const struct stet_view *texts = NULL;
    int fd;

    if (!path || !*path || !needs_answer(c) || (fd = connect_to(path)) < 0)
        return NULL;
    if (write_all(fd, sizes, sizeof sizes) && write_all(fd, c->bytes, c->size) &&
        write_all(fd, c->options, c->options_size))
        texts = read_answer(fd, a, c->program.output_count);
    close(fd);
    return texts;
}
