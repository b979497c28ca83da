/* The folder as a channel (channel.h): a value is a file. It is written beside its name and linked
 * there, so that it appears whole, and only once. Network file systems may remember that a file
 * does not exist; reading the folder makes them look again. */
#include "base/clock.h"
#include "base/fs.h"
#include "pod/channel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { VALUE_MOST = 16 << 20, PAUSE_MIN_MS = 2, PAUSE_MAX_MS = 50 };

enum stet_rc stet_pod_folder_open(struct stet_pod_folder *f, const char *path, struct stet_err *err)
{
    enum stet_rc rc = stet_fs_mkdirs(path, err);
    struct stat st;

    if (rc != STET_OK)
        return rc;
    if (snprintf(f->path, sizeof f->path, "%s", path) >= (int)sizeof f->path)
        return stet_fail(err, STET_LIMIT, "%s: path too long", path);
    if (lstat(path, &st) != 0)
        return stet_fail_errno(err, "%s", path);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
        return stet_fail(err, STET_REFUSED,
                         "%s: the folder of a job must belong to you, and others must not write "
                         "to it",
                         path);
    return STET_OK;
}

/* Keys have slashes; names of files have none. */
static bool path_of(const struct stet_pod_folder *f, const char *key, char *out, size_t room)
{
    size_t from = strlen(f->path) + 1;
    int n = snprintf(out, room, "%s/%s", f->path, key);

    for (size_t i = from; n > 0 && i < (size_t)n && i < room; i++)
        out[i] = out[i] == '/' ? '+' : out[i];
    return n > 0 && (size_t)n < room;
}

static enum stet_rc put(void *self, const char *key, struct stet_view value, struct stet_err *err)
{
    char path[4096 + STET_POD_KEY + 2];
    struct stet_writing w;
    enum stet_rc rc;

    if (!path_of(self, key, path, sizeof path))
        return stet_fail(err, STET_LIMIT, "%s: path too long", key);
    if (stet_fs_exists(path))
        return STET_REFUSED;
    if (!stet_fs_fits(value.len))
        return stet_fail(err, STET_LIMIT, "%s: larger than this process may write", path);
    rc = stet_fs_begin(&w, path, err);
    if (rc != STET_OK)
        return rc;
    if (stet_fs_write_all(w.fd, value.ptr, value.len) != 0)
        rc = stet_fail_errno(err, "%s", path);
    else if (link(w.temporary, path) != 0)
        rc = errno == EEXIST ? STET_REFUSED : stet_fail_errno(err, "%s", path);
    stet_fs_end(&w, path, false, 0, STET_REFUSED, NULL); /* removes the temporary name */
    return rc;
}

static enum stet_rc read_once(const char *path, struct stet_buf *out, struct stet_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    char *to;
    ssize_t n;

    if (fd < 0)
        return errno == ENOENT ? STET_NOT_FOUND : stet_fail_errno(err, "%s", path);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > VALUE_MOST) {
        close(fd);
        return stet_fail(err, STET_BAD_INPUT, "%s: not a message", path);
    }
    to = stet_buf_reserve(out, (size_t)st.st_size + 1);
    n = to ? read(fd, to, (size_t)st.st_size) : -1;
    close(fd);
    if (n != st.st_size)
        return stet_fail(err, STET_IO, "%s: cannot be read", path);
    stet_buf_grew(out, (size_t)n);
    return STET_OK;
}

static void look_again(const char *folder)
{
    DIR *dir = opendir(folder);

    if (dir) {
        const struct dirent *first = readdir(dir); /* asks the server */

        (void)first;
        closedir(dir);
    }
}

static enum stet_rc get(void *self, const char *key, uint32_t wait_ms, struct stet_buf *out,
                        struct stet_err *err)
{
    const struct stet_pod_folder *f = self;
    int64_t until = stet_clock_ms() + wait_ms;
    char path[4096 + STET_POD_KEY + 2];
    long pause = PAUSE_MIN_MS;
    enum stet_rc rc;

    if (!path_of(f, key, path, sizeof path))
        return stet_fail(err, STET_LIMIT, "%s: path too long", key);
    while ((rc = read_once(path, out, err)) == STET_NOT_FOUND && stet_clock_ms() < until) {
        nanosleep(&(struct timespec){.tv_nsec = pause * 1000000}, NULL);
        pause = pause * 2 < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS;
        look_again(f->path);
    }
    return rc;
}

const struct stet_pod_channel_kind stet_pod_folder_kind = {
    .word = "folder", .value_most = VALUE_MOST, .put = put, .get = get};
