/* The host may close our descriptor, delete our file or limit its size. Each is checked before
 * every write, because the layer must neither write into another file nor raise SIGXFSZ. */
#include "journal/segment.h"

#include "base/clock.h"
#include "base/mem.h"
#include "stet_version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FD_FLOOR = 200, /* away from the low descriptors that some programs rely on */
    NAME_TRIES = 4,
};

static struct stet_hash random_hash(void)
{
    uint64_t words[4] = {(uint64_t)getpid(), stet_clock_wall_ns(), (uint64_t)(uintptr_t)words,
                         stet_journal_now()};

    if (getrandom(words, 16, GRND_NONBLOCK) < 0)
        errno = 0; /* the clocks and the pid must do */
    return stet_hash_bytes(stet_view_of(words, sizeof words));
}

/* A host name may contain anything; file names keep only the harmless characters. */
static void set_host(struct stet_segments *s)
{
    if (gethostname(s->host, sizeof s->host) != 0 || !s->host[0])
        snprintf(s->host, sizeof s->host, "localhost");
    s->host[sizeof s->host - 1] = '\0';
}

static void set_boot(struct stet_segments *s)
{
    char id[64];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, id, sizeof id) : -1;

    if (n > 0)
        s->boot = stet_hash_bytes(stet_view_of(id, (size_t)n));
    if (fd >= 0)
        close(fd);
}

static void set_identity(struct stet_segments *s)
{
    char host[sizeof s->host];
    size_t i;

    for (i = 0; s->host[i]; i++) {
        char c = s->host[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c == '.' && i > 0) || c == '_';

        host[i] = plain ? c : '_';
    }
    host[i] = '\0';
    s->uid = random_hash();
    snprintf(s->stem, sizeof s->stem, "%s-%ld-%llx-%016llx", host, (long)getpid(),
             (unsigned long long)(stet_clock_wall_ns() / 1000000u), (unsigned long long)s->uid.lo);
}

bool stet_segments_init(struct stet_segments *s, const struct stet_journal_options *options)
{
    *s = (struct stet_segments){
        .dir = stet_mem_strdup(options->dir),
        .main_cap = options->main_cap ? options->main_cap : (uint64_t)256 << 20,
        .detail_segment = options->detail_segment ? options->detail_segment : (uint64_t)4 << 20,
        .detail_keep = options->detail_keep ? options->detail_keep : 8,
        .streams = {{.fd = -1}, {.fd = -1}},
    };
    if (s->detail_keep > STET_SEGMENTS_KEEP_MAX)
        s->detail_keep = STET_SEGMENTS_KEEP_MAX;
    set_host(s);
    set_boot(s);
    set_identity(s);
    return s->dir != NULL;
}

/* Is the descriptor still the file that we opened? */
static bool still_ours(const struct stet_segment_file *f, struct stat *st)
{
    return f->fd >= 0 && fstat(f->fd, st) == 0 && st->st_dev == f->device && st->st_ino == f->inode;
}

static void close_file(struct stet_segment_file *f)
{
    struct stat st;

    if (still_ours(f, &st))
        close(f->fd);
    f->fd = -1;
    f->tally = (struct stet_tally){0};
}

void stet_segments_release(struct stet_segments *s)
{
    for (unsigned i = 0; i < STET_STREAMS; i++)
        close_file(&s->streams[i]);
    stet_mem_free(s->dir);
    s->dir = NULL;
}

void stet_segments_forked(struct stet_segments *s)
{
    for (unsigned i = 0; i < STET_STREAMS; i++) {
        close_file(&s->streams[i]);
        s->streams[i] = (struct stet_segment_file){.fd = -1};
    }
    memset(s->kept, 0, sizeof s->kept);
    s->main_bytes = 0;
    s->forked_from = s->uid;
    set_identity(s);
}

static bool segment_path(const struct stet_segments *s, enum stet_stream stream, unsigned number,
                         char *path, size_t room)
{
    int n = snprintf(path, room, "%s/%s.%c%04u" STET_JOURNAL_SUFFIX, s->dir, s->stem,
                     stream == STET_STREAM_MAIN ? 'm' : 'd', number);

    if (n > 0 && (size_t)n < room)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

static int open_new(const char *dir, const char *path)
{
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(path, flags, 0600), high;

    if (fd < 0 && errno == ENOENT && mkdir(dir, 0700) == 0)
        fd = open(path, flags, 0600);
    if (fd < 0)
        return -1;
    high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

static int open_segment(struct stet_segments *s, enum stet_stream stream)
{
    struct stet_segment_file *f = &s->streams[stream];
    char path[4096];
    struct stat st;

    f->tally = (struct stet_tally){0};
    for (int i = 0; i < NAME_TRIES; i++) {
        if (!segment_path(s, stream, f->next, path, sizeof path))
            return errno;
        f->fd = open_new(s->dir, path);
        if (f->fd >= 0 || errno != EEXIST)
            break;
        f->next++;
    }
    if (f->fd < 0)
        return errno;
    f->number = f->next++;
    if (fstat(f->fd, &st) != 0) {
        int error = errno;

        close(f->fd);
        f->fd = -1;
        return error;
    }
    f->device = st.st_dev;
    f->inode = st.st_ino;
    return 0;
}

static void add_dropped(struct stet_dropped *dropped, const struct stet_tally *t)
{
    dropped->segments++;
    dropped->bytes += t->bytes;
    dropped->records += t->records;
    dropped->executions += t->executions;
}

int stet_segments_ready(struct stet_segments *s, enum stet_stream stream,
                        struct stet_dropped *dropped)
{
    struct stet_segment_file *f = &s->streams[stream];
    struct stat st;

    if (still_ours(f, &st)) {
        if (st.st_nlink > 0)
            return 0;
        add_dropped(dropped, &f->tally);
        close(f->fd); /* deleted: readers would not find what follows */
    }
    f->fd = -1;
    return open_segment(s, stream);
}

void stet_segments_describe(const struct stet_segments *s, enum stet_stream stream,
                            struct stet_rec_segment *out)
{
    *out = (struct stet_rec_segment){
        .uid = s->uid,
        .stream = stream,
        .number = s->streams[stream].number,
        .host = stet_view_str(s->host),
        .pid = (uint64_t)getpid(),
        .ppid = (uint64_t)getppid(),
        .forked_from = s->forked_from,
        .wall_ns = stet_clock_wall_ns(),
        .mono_ns = stet_journal_now(),
        .stet_version = STET_VIEW(STET_VERSION),
        .boot = s->boot,
    };
}

/* 0 or an errno. A short write is removed again, so that no record follows a torn one. If that
 * fails, readers find the next record by its mark. */
static int append(struct stet_segment_file *f, struct stet_view bytes)
{
    struct rlimit limit;
    ssize_t wrote;
    int error;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (bytes.len > limit.rlim_cur || f->tally.bytes > limit.rlim_cur - bytes.len))
        return EFBIG;
    do
        wrote = write(f->fd, bytes.ptr, bytes.len);
    while (wrote < 0 && errno == EINTR);
    if (wrote == (ssize_t)bytes.len) {
        f->tally.bytes += bytes.len;
        return 0;
    }
    error = wrote < 0 ? errno : ENOSPC;
    if (wrote > 0 && ftruncate(f->fd, (off_t)f->tally.bytes) != 0)
        f->tally.bytes += (uint64_t)wrote;
    return error;
}

/* Closes the full segment; the next record opens a new one, and the oldest is removed. */
static void rotate(struct stet_segments *s, struct stet_dropped *dropped)
{
    struct stet_segment_file *f = &s->streams[STET_STREAM_DETAIL];
    unsigned oldest = f->next - s->detail_keep;
    struct stet_tally *t = &s->kept[oldest % STET_SEGMENTS_KEEP_MAX];
    char path[4096];

    s->kept[f->number % STET_SEGMENTS_KEEP_MAX] = f->tally;
    close_file(f);
    if (f->next < s->detail_keep ||
        !segment_path(s, STET_STREAM_DETAIL, oldest, path, sizeof path) || unlink(path) != 0)
        return;
    add_dropped(dropped, t);
    *t = (struct stet_tally){0};
}

int stet_segments_append(struct stet_segments *s, enum stet_stream stream, struct stet_view bytes,
                         uint64_t executions, struct stet_dropped *dropped)
{
    struct stet_segment_file *f = &s->streams[stream];
    int error = append(f, bytes);

    if (error)
        return error;
    f->tally.records++;
    f->tally.executions += executions;
    if (stream == STET_STREAM_MAIN)
        s->main_bytes += bytes.len;
    else if (f->tally.bytes >= s->detail_segment)
        rotate(s, dropped);
    return 0;
}

enum stet_loss stet_segments_why(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return STET_LOSS_NO_SPACE;
    default:
        return STET_LOSS_IO;
    }
}
