/* Plain POSIX; every path is named in the error it causes. */
#include "base/fs.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

int stet_fs_write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;

    while (n) {
        ssize_t wrote = write(fd, p, n);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return -1;
        p += wrote;
        n -= (size_t)wrote;
    }
    return 0;
}

/* What comes through a pipe or a device and has no end must not take all memory. */
static const size_t stream_most = (size_t)2 << 30;

/* For pipes and files of unknown size. */
static enum stet_rc read_stream(struct stet_file *f, int fd, const char *path, struct stet_err *err)
{
    size_t room = 1 << 16, len = 0;
    char *p = stet_mem_alloc(room);

    while (p) {
        ssize_t got = read(fd, p + len, room - len);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            stet_fail_errno(err, "%s: cannot read", path);
            stet_mem_free(p);
            return STET_IO;
        }
        if (got == 0) {
            *f = (struct stet_file){.bytes = stet_view_of(p, len)};
            return STET_OK;
        }
        len += (size_t)got;
        if (len >= stream_most) {
            stet_mem_free(p);
            return stet_fail(err, STET_LIMIT, "%s: more than %zu bytes, and no end", path,
                             stream_most);
        }
        if (len == room) {
            char *bigger = stet_mem_resize(p, room, 2);

            if (!bigger)
                break;
            p = bigger;
            room *= 2;
        }
    }
    stet_mem_free(p);
    return stet_fail(err, STET_NO_MEMORY, "%s: out of memory while reading", path);
}

enum stet_rc stet_file_open(struct stet_file *f, const char *path, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;
    struct stat st;
    void *p;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    *f = (struct stet_file){0};
    if (fd < 0) {
        if (errno == ENOENT) {
            stet_fail_errno(err, "%s", path);
            return STET_NOT_FOUND;
        }
        return stet_fail_errno(err, "%s: cannot open", path);
    }
    if (fstat(fd, &st) != 0) {
        rc = stet_fail_errno(err, "%s: cannot stat", path);
    } else if (S_ISDIR(st.st_mode)) {
        rc = stet_fail(err, STET_IO, "%s: is a folder", path);
    } else if (!S_ISREG(st.st_mode) || st.st_size == 0) {
        rc = read_stream(f, fd, path, err);
    } else {
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED)
            rc = read_stream(f, fd, path, err);
        else
            *f = (struct stet_file){stet_view_of(p, (size_t)st.st_size), true};
    }
    close(fd);
    return rc;
}

enum stet_rc stet_file_read(struct stet_file *f, const char *path, struct stet_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum stet_rc rc;

    *f = (struct stet_file){0};
    if (fd < 0)
        return stet_fail_errno(err, "%s: cannot open", path);
    rc = read_stream(f, fd, path, err);
    close(fd);
    return rc;
}

enum stet_rc stet_file_read_fd(struct stet_file *f, int fd, const char *path, struct stet_err *err)
{
    *f = (struct stet_file){0};
    if (lseek(fd, 0, SEEK_SET) != 0)
        return stet_fail_errno(err, "%s: cannot read", path);
    return read_stream(f, fd, path, err);
}

enum stet_rc stet_file_read_most(struct stet_file *f, const char *path, size_t most,
                                 struct stet_err *err)
{
    struct stat st;

    *f = (struct stet_file){0};
    if (stat(path, &st) != 0) {
        enum stet_rc rc = errno == ENOENT ? STET_NOT_FOUND : STET_IO;

        stet_fail_errno(err, "%s", path);
        return rc;
    }
    if (S_ISDIR(st.st_mode))
        return stet_fail(err, STET_IO, "%s: is a folder", path);
    if ((uint64_t)st.st_size > most)
        return stet_fail(err, STET_LIMIT, "%s: more than %zu bytes", path, most);
    return stet_file_read(f, path, err);
}

void stet_file_close(struct stet_file *f)
{
    if (f->mapped)
        munmap((void *)(uintptr_t)f->bytes.ptr, f->bytes.len);
    else
        stet_mem_free((void *)(uintptr_t)f->bytes.ptr);
    *f = (struct stet_file){0};
}

/* mkostemp makes files for their owner alone. */
static mode_t for_all(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

enum stet_rc stet_fs_begin(struct stet_writing *w, const char *path, struct stet_err *err)
{
    size_t room = strlen(path) + 40;

    *w = (struct stet_writing){stet_mem_alloc(room), -1};
    if (!w->temporary)
        return stet_fail(err, STET_NO_MEMORY, "%s: out of memory", path);
    snprintf(w->temporary, room, "%s.%ld.XXXXXX", path, (long)getpid());
    w->fd = mkostemp(w->temporary, O_CLOEXEC);
    if (w->fd < 0) {
        stet_fail_errno(err, "%s: cannot create", w->temporary);
        stet_mem_free(w->temporary);
        return STET_IO;
    }
    return STET_OK;
}

enum stet_rc stet_fs_end(struct stet_writing *w, const char *path, bool sync, unsigned mode,
                         enum stet_rc rc, struct stet_err *err)
{
    if (rc == STET_OK && ((sync && fsync(w->fd) != 0) || (mode && fchmod(w->fd, mode) != 0)))
        rc = stet_fail_errno(err, "%s: cannot write", w->temporary);
    if (close(w->fd) != 0 && rc == STET_OK)
        rc = stet_fail_errno(err, "%s: cannot close", w->temporary);
    if (rc == STET_OK && rename(w->temporary, path) != 0)
        rc = stet_fail_errno(err, "%s: cannot rename into place", path);
    if (rc != STET_OK)
        unlink(w->temporary);
    stet_mem_free(w->temporary);
    return rc;
}

static enum stet_rc write_beside(const char *path, struct stet_view bytes, bool sync, bool shared,
                                 struct stet_err *err)
{
    struct stet_writing w;
    enum stet_rc rc = stet_fs_begin(&w, path, err);

    if (rc != STET_OK)
        return rc;
    if (stet_fs_write_all(w.fd, bytes.ptr, bytes.len) != 0)
        rc = stet_fail_errno(err, "%s: cannot write", w.temporary);
    return stet_fs_end(&w, path, sync, shared ? for_all() : 0, rc, err);
}

enum stet_rc stet_fs_write(const char *path, struct stet_view bytes, struct stet_err *err)
{
    return write_beside(path, bytes, true, false, err);
}

enum stet_rc stet_fs_write_unsynced(const char *path, struct stet_view bytes, struct stet_err *err)
{
    return write_beside(path, bytes, false, false, err);
}

enum stet_rc stet_fs_write_shared(const char *path, struct stet_view bytes, struct stet_err *err)
{
    return write_beside(path, bytes, false, true, err);
}

enum stet_rc stet_fs_mkdirs(const char *path, struct stet_err *err)
{
    return stet_fs_mkdirs_as(path, 0700, err);
}

enum stet_rc stet_fs_mkdirs_as(const char *path, unsigned mode, struct stet_err *err)
{
    char *copy = stet_mem_strdup(path);
    enum stet_rc rc = STET_OK;

    if (!copy)
        return stet_fail(err, STET_NO_MEMORY, "%s: out of memory", path);
    for (char *p = copy + 1; rc == STET_OK; p++) {
        char c = *p;

        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(copy, 0700) == 0)
            rc = mode == 0700 || chmod(copy, mode) == 0
                     ? STET_OK
                     : stet_fail_errno(err, "%s: cannot set its mode", copy);
        else if (errno != EEXIST)
            rc = stet_fail_errno(err, "%s: cannot make folder", copy);
        *p = c;
        if (c == '\0')
            break;
    }
    stet_mem_free(copy);
    return rc;
}

bool stet_fs_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool stet_fs_is_plain(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

char *stet_fs_join(const char *a, const char *b)
{
    size_t room = strlen(a) + strlen(b) + 2;
    char *joined = stet_mem_alloc(room);

    if (joined)
        snprintf(joined, room, "%s/%s", a, b);
    return joined;
}

const char *stet_fs_network(const char *folder)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } kinds[] = {
        {0x6969, "NFS"},        {0x517b, "SMB"},       {0xff534d42, "CIFS"},
        {0xfe534d42, "SMB2"},   {0x564c, "NCP"},       {0x0bd00bd0, "Lustre"},
        {0x5346414f, "AFS"},    {0x00c36400, "Ceph"},  {0x01161970, "GFS2"},
        {0x47504653, "GPFS"},   {0x19830326, "FhGFS"}, {0x7461636f, "OCFS2"},
        {0x786f4256, "vboxsf"}, {0x01021997, "9P"},    {0x65735546, "FUSE"},
        {0x6b414653, "kAFS"},   {0xaad7aaea, "PanFS"},
    };
    const char *pretended = getenv("STET_TEST_FILESYSTEM");
    struct statfs st;

    if (pretended && *pretended)
        return pretended;
    if (statfs(folder, &st) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((unsigned long)st.f_type == kinds[i].magic)
            return kinds[i].name;
    return NULL;
}
