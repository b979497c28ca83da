/* libfaulty_folder.so, a preload: a folder on a file system that is slow (every call takes 3 s) or
 * full (nothing can be written). FAULTY_FOLDER is "slow:<path>" or "full:<path>". */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int open(const char *path, int flags, ...);
EXPORT int open64(const char *path, int flags, ...);

static bool is_fault(const char *word, const char *path)
{
    const char *fault = getenv("FAULTY_FOLDER");
    size_t n = strlen(word);

    return fault && path && !strncmp(fault, word, n) && fault[n] == ':' &&
           !strncmp(path, fault + n + 1, strlen(fault + n + 1));
}

static void delay(const char *path)
{
    if (is_fault("slow", path))
        sleep(3);
}

static int open_file(const char *path, int flags, va_list args)
{
    static int (*real)(const char *, int, ...);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "open");
    delay(path);
    return real(path, flags, mode);
}

/* The two names that programs are linked with. */
#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list args;                                                                              \
        int fd;                                                                                    \
                                                                                                   \
        va_start(args, flags);                                                                     \
        fd = open_file(path, flags, args);                                                         \
        va_end(args);                                                                              \
        return fd;                                                                                 \
    }
OPEN(open)
OPEN(open64)

EXPORT int link(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "link");
    delay(to);
    return real(from, to);
}

EXPORT ssize_t write(int fd, const void *bytes, size_t n)
{
    static ssize_t (*real)(int, const void *, size_t);
    char link_path[64], path[4096] = "";

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "write");
    if (getenv("FAULTY_FOLDER")) {
        snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", fd);
        if (readlink(link_path, path, sizeof path - 1) < 0)
            path[0] = '\0';
    }
    if (!is_fault("full", path))
        return real(fd, bytes, n);
    errno = ENOSPC;
    return -1;
}
