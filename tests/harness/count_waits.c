/* libcount_waits.so, a preload: writes each poll that timed out, as its milliseconds, into the file
 * COUNT_WAITS. So a test can assert what a process waited for, whatever the machine's speed. */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void note(int ms)
{
    const char *path = getenv("COUNT_WAITS");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

    if (fd < 0)
        return;
    dprintf(fd, "%d\n", ms);
    close(fd);
}

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t count, int ms)
{
    static int (*real)(struct pollfd *, nfds_t, int);
    int ready;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "poll");
    ready = real(fds, count, ms);
    if (ready == 0 && ms > 0)
        note(ms);
    return ready;
}
