/* Plain POSIX; every path is named in the error it causes. */
#include "base/fs.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
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

/* A pipe or a device may never end, so it must not fill the memory. The size of a file is known,
 * and the user named the file. */
static const size_t stream_most = (size_t)2 << 30, file_most = (size_t)16 << 30;

static enum stet_rc too_long(struct stet_err *err, const char *path, size_t most)
{
    return stet_fail(err, STET_LIMIT, "%s: more than %zu bytes", path, most);
}

/* Reads from the position of `fd` to the end. `expect` is the expected size, or 0. It is only a
 * guess, because other processes may write to the file meanwhile. */
static enum stet_rc read_rest(struct stet_file *f, int fd, size_t expect, size_t most,
                              const char *path, struct stet_err *err)
{
    size_t room = expect ? expect + 1 : 1 << 16, len = 0;
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
            f->bytes = stet_view_of(p, len);
            return STET_OK;
        }
        len += (size_t)got;
        if (len > most) {
            stet_mem_free(p);
            return too_long(err, path, most);
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

static int open_for_reading(const char *path, int more, enum stet_rc *rc, struct stet_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | more);

    if (fd < 0) {
        bool none = errno == ENOENT;

        *rc = stet_fail_errno(err, none ? "%s" : "%s: cannot open", path);
        if (none)
            *rc = STET_NOT_FOUND;
    }
    return fd;
}

enum stet_rc stet_file_open_from(struct stet_file *f, const char *path, uint64_t from,
                                 struct stet_err *err)
{
    enum stet_rc rc = STET_OK;
    struct stat st;
    int fd = open_for_reading(path, 0, &rc, err);

    *f = (struct stet_file){0};
    if (fd < 0)
        return rc;
    if (fstat(fd, &st) != 0)
        rc = stet_fail_errno(err, "%s: cannot stat", path);
    else if (S_ISDIR(st.st_mode))
        rc = stet_fail(err, STET_IO, "%s: is a folder", path);
    else if (!S_ISREG(st.st_mode))
        rc = read_rest(f, fd, 0, stream_most, path, err);
    else if (from > INT64_MAX || lseek(fd, (off_t)from, SEEK_SET) < 0)
        rc = stet_fail_errno(err, "%s: cannot read", path);
    else if (st.st_size > (off_t)from && (uint64_t)st.st_size - from > file_most)
        rc = too_long(err, path, file_most);
    else
        rc = read_rest(f, fd, st.st_size > (off_t)from ? (size_t)st.st_size - (size_t)from : 0,
                       file_most, path, err);
    close(fd);
    return rc;
}

enum stet_rc stet_file_open(struct stet_file *f, const char *path, struct stet_err *err)
{
    return stet_file_open_from(f, path, 0, err);
}

enum stet_rc stet_file_open_small(struct stet_file *f, const char *path, size_t most,
                                  struct stet_err *err)
{
    enum stet_rc rc = STET_OK;
    struct stat st;
    int fd = open_for_reading(path, O_NONBLOCK, &rc, err);

    *f = (struct stet_file){0};
    if (fd < 0)
        return rc;
    if (fstat(fd, &st) != 0)
        rc = stet_fail_errno(err, "%s: cannot stat", path);
    else if (!S_ISREG(st.st_mode))
        rc = stet_fail(err, STET_LIMIT, "%s: %s", path,
                       S_ISDIR(st.st_mode) ? "is a folder" : "not a regular file");
    else if ((uint64_t)st.st_size > most)
        rc = too_long(err, path, most);
    else
        rc = read_rest(f, fd, (size_t)st.st_size, most, path, err);
    close(fd);
    return rc;
}

enum stet_rc stet_file_read_fd(struct stet_file *f, int fd, const char *path, struct stet_err *err)
{
    *f = (struct stet_file){0};
    if (lseek(fd, 0, SEEK_SET) != 0)
        return stet_fail_errno(err, "%s: cannot read", path);
    return read_rest(f, fd, 0, stream_most, path, err);
}

enum stet_rc stet_file_hash(const char *path, struct stet_hash *out, struct stet_err *err)
{
    enum { PIECE = 1 << 18 };
    enum stet_rc rc = STET_OK;
    int fd = open_for_reading(path, O_NONBLOCK, &rc, err);
    char *piece = fd < 0 ? NULL : stet_mem_alloc(PIECE);
    struct stet_hasher hash;
    struct stat st;
    ssize_t got = 1;

    if (fd < 0)
        return rc;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        rc = stet_fail(err, STET_IO, "%s: not a file", path);
    else if (!piece)
        rc = stet_fail(err, STET_NO_MEMORY, "%s: out of memory while reading", path);
    stet_hasher_init(&hash);
    while (rc == STET_OK && got) {
        got = read(fd, piece, PIECE);
        if (got > 0)
            stet_hasher_add(&hash, piece, (size_t)got);
        else if (got < 0 && errno != EINTR)
            rc = stet_fail_errno(err, "%s: cannot read", path);
    }
    *out = stet_hasher_digest(&hash);
    stet_mem_free(piece);
    close(fd);
    return rc;
}

void stet_file_close(struct stet_file *f)
{
    stet_mem_free((void *)(uintptr_t)f->bytes.ptr);
    *f = (struct stet_file){0};
}

/* mkostemp creates files with mode 0600. */
static mode_t for_all(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* ---- writing ---- */

enum { SUFFIX = 6, PLACE = 8 };

static pthread_once_t place_once = PTHREAD_ONCE_INIT;
static char place[PLACE + 1];

/* Identifies where a process id is valid: the host, its boot (cloned machines share a host id), and
 * the process namespace. Unknown without /proc. */
static void find_place(void)
{
    struct stet_file boot = {0};
    struct stet_hash h = {0};
    char host[256] = "";
    struct stat st;

    if (stat("/proc/self/ns/pid", &st) == 0 && gethostname(host, sizeof host - 1) == 0 &&
        stet_file_open_small(&boot, "/proc/sys/kernel/random/boot_id", 256, NULL) == STET_OK) {
        h = stet_hash_mix(stet_hash_bytes(boot.bytes), stet_hash_bytes(stet_view_str(host)));
        h = stet_hash_mix(h, (struct stet_hash){(uint64_t)st.st_ino, (uint64_t)st.st_dev});
    }
    stet_file_close(&boot);
    snprintf(place, sizeof place, "%08x", (unsigned)(h.lo & 0xffffffff));
}

static const char *this_place(void)
{
    pthread_once(&place_once, find_place);
    return place;
}

static bool is_this_place(const char *digits)
{
    return !memcmp(digits, this_place(), PLACE) && memcmp(digits, "00000000", PLACE) != 0;
}

static bool is_hex(const char *p, size_t n)
{
    size_t i = 0;

    while (i < n && ((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
        i++;
    return i == n;
}

/* The number that ends at `end` and follows a dot, or 0. */
static long number_before(const char *name, const char *end)
{
    const char *at = end;

    while (at > name && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at < end && at - name > 1 && at[-1] == '.' ? strtol(at, NULL, 10) : 0;
}

/* Parsed from the end: a dot and six letters, a dash and eight digits, a dot and the process id.
 * Older versions wrote no digits. */
enum stet_writer stet_fs_writer_of(const char *name)
{
    size_t n = strlen(name);
    const char *dot = name + n - SUFFIX - 1, *dash = dot - PLACE - 1;
    long pid;

    if (n <= SUFFIX + 1 || *dot != '.')
        return STET_WRITER_NONE;
    if (number_before(name, dot))
        return STET_WRITER_ELSEWHERE;
    if (n <= SUFFIX + PLACE + 2 || *dash != '-' || !is_hex(dash + 1, PLACE))
        return STET_WRITER_NONE;
    pid = number_before(name, dash);
    if (!pid)
        return STET_WRITER_NONE;
    if (!is_this_place(dash + 1) || pid > INT32_MAX)
        return STET_WRITER_ELSEWHERE;
    return kill((pid_t)pid, 0) == 0 || errno != ESRCH ? STET_WRITER_ALIVE : STET_WRITER_DEAD;
}

static bool is_over(enum stet_writer writer, int64_t age_s)
{
    return writer == STET_WRITER_DEAD || (writer == STET_WRITER_ELSEWHERE && age_s > 3600) ||
           (writer == STET_WRITER_ALIVE && age_s > 86400);
}

size_t stet_fs_sweep(const char *folder, bool (*ours)(const char *name))
{
    DIR *d = opendir(folder);
    struct dirent *e;
    size_t n = 0;

    while (d && (e = readdir(d))) {
        enum stet_writer writer = ours(e->d_name) ? stet_fs_writer_of(e->d_name) : STET_WRITER_NONE;
        char *path = writer == STET_WRITER_NONE ? NULL : stet_fs_join(folder, e->d_name);
        struct stat st;

        if (path && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
            is_over(writer, (int64_t)time(NULL) - (int64_t)st.st_mtim.tv_sec))
            n += unlink(path) == 0;
        stet_mem_free(path);
    }
    if (d)
        closedir(d);
    return n;
}

enum stet_rc stet_fs_begin(struct stet_writing *w, const char *path, struct stet_err *err)
{
    size_t room = strlen(path) + 48;

    *w = (struct stet_writing){stet_mem_alloc(room), -1};
    if (!w->temporary)
        return stet_fail(err, STET_NO_MEMORY, "%s: out of memory", path);
    snprintf(w->temporary, room, "%s.%ld-%s.XXXXXX", path, (long)getpid(), this_place());
    w->fd = mkostemp(w->temporary, O_CLOEXEC);
    if (w->fd < 0) {
        stet_fail_errno(err, "%s: cannot create", path);
        stet_mem_free(w->temporary);
        return STET_IO;
    }
    return STET_OK;
}

enum stet_rc stet_fs_end(struct stet_writing *w, const char *path, bool sync, unsigned mode,
                         enum stet_rc rc, struct stet_err *err)
{
    if (rc == STET_OK && ((sync && fsync(w->fd) != 0) || (mode && fchmod(w->fd, mode) != 0)))
        rc = stet_fail_errno(err, "%s: cannot write", path);
    if (close(w->fd) != 0 && rc == STET_OK)
        rc = stet_fail_errno(err, "%s: cannot close", path);
    if (rc == STET_OK && rename(w->temporary, path) != 0)
        rc = stet_fail_errno(err, "%s: cannot rename into place", path);
    if (rc != STET_OK)
        unlink(w->temporary);
    stet_mem_free(w->temporary);
    return rc;
}

bool stet_fs_fits(size_t n)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           n <= limit.rlim_cur;
}

static enum stet_rc write_beside(const char *path, struct stet_view bytes, bool sync, bool shared,
                                 struct stet_err *err)
{
    struct stet_writing w;
    enum stet_rc rc;

    if (!stet_fs_fits(bytes.len))
        return stet_fail(err, STET_LIMIT, "%s: larger than this process may write", path);
    rc = stet_fs_begin(&w, path, err);
    if (rc != STET_OK)
        return rc;
    if (stet_fs_write_all(w.fd, bytes.ptr, bytes.len) != 0)
        rc = stet_fail_errno(err, "%s: cannot write", path);
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

/* What a folder's file system appears to be in a test; NULL: what it is. */
static const char *pretended_kind(void)
{
#ifdef STET_FAULT_INJECTION
    const char *kind = getenv("STET_TEST_FILESYSTEM");

    return kind && *kind ? kind : NULL;
#else
    return NULL;
#endif
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
    const char *pretended = pretended_kind();
    struct statfs st;

    if (pretended)
        return pretended;
    if (statfs(folder, &st) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((unsigned long)st.f_type == kinds[i].magic)
            return kinds[i].name;
    return NULL;
}
