/* One read buffer for all logs. A log that is rotated while it is followed is recognised by its
 * inode. */
#include "ingest/trace_files.h"

#include "base/fs.h"
#include "base/vec.h"
#include "ingest/bytes.h"
#include "ingest/torch_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { READ = 256 << 10 };

/* One file of a log: the last of them is the one that grows. */
struct part {
    char *path;
    dev_t dev;
    ino_t ino;
};

struct log {
    char *base; /* the path without .N and .gz */
    struct part *parts;
    size_t count, room, at; /* parts before `at` have been read */
    bool open, begun, skip;
    uint64_t from; /* its earlier content belongs to other runs */
    struct stet_bytes bytes;
    uint64_t skipped;
    struct stet_trace trace;
    struct stet_torch_log *log;
};

struct stet_torch_files {
    struct stet_torch *t;
    struct log *logs;
    size_t count, room;
    char **folders;
    size_t folder_count, folder_room;
    char *buffer;
};

struct stet_torch_files *stet_torch_files_new(struct stet_torch *t)
{
    struct stet_torch_files *f = stet_mem_calloc(1, sizeof *f);

    if (f && !(f->buffer = stet_mem_alloc(READ))) {
        stet_mem_free(f);
        return NULL;
    }
    if (f)
        f->t = t;
    return f;
}

static void close_log(struct log *l)
{
    if (l->open)
        stet_ingest_bytes_close(&l->bytes);
    l->open = false;
}

void stet_torch_files_free(struct stet_torch_files *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++) {
        close_log(&f->logs[i]);
        stet_trace_release(&f->logs[i].trace);
        for (size_t k = 0; k < f->logs[i].count; k++)
            stet_mem_free(f->logs[i].parts[k].path);
        stet_mem_free(f->logs[i].parts);
        stet_mem_free(f->logs[i].base);
    }
    for (size_t i = 0; i < f->folder_count; i++)
        stet_mem_free(f->folders[i]);
    stet_mem_free(f->folders);
    stet_mem_free(f->logs);
    stet_mem_free(f->buffer);
    stet_mem_free(f);
}

size_t stet_torch_files_count(const struct stet_torch_files *f)
{
    return f->count;
}

static bool cut_suffix(char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);

    if (n <= m || strcmp(s + n - m, suffix) != 0)
        return false;
    s[n - m] = '\0';
    return true;
}

/* x.log.2.gz is x.log, rotated twice: the larger the number, the older. */
static unsigned long rotation(char *base)
{
    char *dot, *end;
    unsigned long n;

    if (!cut_suffix(base, ".gz"))
        cut_suffix(base, ".zst");
    dot = strrchr(base, '.');
    if (!dot || dot[1] < '0' || dot[1] > '9')
        return 0;
    n = strtoul(dot + 1, &end, 10);
    if (*end || n > 1000000)
        return 0;
    *dot = '\0';
    return n;
}

/* The name of a trace contains its rank: dedicated_log_torch_trace_rank_3_abcd.log */
static int64_t rank_of(const char *path)
{
    const char *name = strrchr(path, '/'), *rank = strstr(name ? name : path, "rank_");
    char *end;
    long n;

    if (!rank)
        return -1;
    n = strtol(rank + 5, &end, 10);
    return end == rank + 5 || n < 0 ? -1 : n;
}

static unsigned long rotation_of(const char *path)
{
    char *copy = stet_mem_strdup(path);
    unsigned long n = copy ? rotation(copy) : 0;

    stet_mem_free(copy);
    return n;
}

static int by_age(const void *a, const void *b)
{
    unsigned long x = rotation_of(((const struct part *)a)->path);
    unsigned long y = rotation_of(((const struct part *)b)->path);

    return x < y ? 1 : x > y ? -1 : 0;
}

/* Adds a file to its log. Parts that appear after reading began are rotated parts that were read
 * already. */
static bool add_file(struct stet_torch_files *f, const char *path)
{
    char *base = stet_mem_strdup(path), *own;
    struct log *l = NULL;
    struct stat st;

    if (!base)
        return false;
    rotation(base);
    if (stat(path, &st) != 0) {
        stet_mem_free(base);
        return true; /* gone between listing and now */
    }
    for (size_t i = 0; i < f->count && !l; i++) {
        if (!strcmp(f->logs[i].base, base))
            l = &f->logs[i];
    }
    if (!l) {
        if (!stet_vec_room(&f->logs, &f->room, f->count, sizeof *f->logs)) {
            stet_mem_free(base);
            return false;
        }
        l = &f->logs[f->count++];
        *l = (struct log){.base = base};
    } else {
        stet_mem_free(base);
        for (size_t i = 0; i < l->count; i++) {
            if (!strcmp(l->parts[i].path, path) ||
                (l->parts[i].ino == st.st_ino && l->parts[i].dev == st.st_dev))
                return true;
        }
        if (l->begun)
            return true;
    }
    own = stet_mem_strdup(path);
    if (!own || !stet_vec_room(&l->parts, &l->room, l->count, sizeof *l->parts)) {
        stet_mem_free(own);
        return false;
    }
    l->parts[l->count++] = (struct part){own, st.st_dev, st.st_ino};
    qsort(l->parts, l->count, sizeof *l->parts, by_age);
    return true;
}

bool stet_torch_is_log(const char *name)
{
    char *copy = stet_mem_strdup(name);
    bool yes = false;

    if (copy && name[0] != '.') {
        rotation(copy);
        yes = strstr(copy, "torch_trace") || cut_suffix(copy, ".log") || cut_suffix(copy, ".txt");
    }
    stet_mem_free(copy);
    return yes;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum stet_rc scan(struct stet_torch_files *f, const char *folder, struct stet_err *err)
{
    struct dirent **names;
    int n = scandir(folder, &names, NULL, by_name);
    bool fine = true;

    if (n < 0 && errno == ENOTDIR) /* a file that has come */
        return add_file(f, folder) ? STET_OK
                                   : stet_fail(err, STET_NO_MEMORY, "out of memory for a log");
    if (n < 0)
        return errno == ENOENT ? STET_OK : stet_fail_errno(err, "%s", folder);
    for (int i = 0; i < n; i++) {
        char *path = fine && stet_torch_is_log(names[i]->d_name)
                         ? stet_fs_join(folder, names[i]->d_name)
                         : NULL;
        struct stat st;

        if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode))
            fine = add_file(f, path);
        stet_mem_free(path);
        free(names[i]); /* scandir's own */
    }
    free(names);
    return fine ? STET_OK : stet_fail(err, STET_NO_MEMORY, "out of memory for the list of logs");
}

enum stet_rc stet_torch_files_add(struct stet_torch_files *f, const char *path,
                                  struct stet_err *err)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    char *own;

    if (there && !S_ISDIR(st.st_mode))
        return add_file(f, path) ? STET_OK : stet_fail(err, STET_NO_MEMORY, "out of memory");
    own = stet_mem_strdup(path);
    if (!own || !stet_vec_room(&f->folders, &f->folder_room, f->folder_count, sizeof *f->folders)) {
        stet_mem_free(own);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    f->folders[f->folder_count++] = own;
    return scan(f, path, err);
}

enum stet_rc stet_torch_files_tail(struct stet_torch_files *f, const char *path,
                                   struct stet_err *err)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    enum stet_rc rc;

    if (there && !S_ISREG(st.st_mode))
        return STET_OK; /* a terminal, a pipe */
    rc = stet_torch_files_add(f, path, err);
    for (size_t i = 0; rc == STET_OK && there && i < f->count; i++) {
        for (size_t k = 0; k < f->logs[i].count; k++) {
            if (!strcmp(f->logs[i].parts[k].path, path))
                f->logs[i].from = (uint64_t)st.st_size;
        }
    }
    return rc;
}

void stet_torch_files_skip(struct stet_torch_files *f)
{
    for (size_t i = 0; i < f->count; i++)
        f->logs[i].skip = f->logs[i].begun = true;
}

static bool begin(struct stet_torch_files *f, struct log *l)
{
    char *folder;
    char *slash;

    if (l->begun)
        return l->log != NULL;
    l->begun = true;
    folder = stet_mem_strdup(l->base);
    if (!folder)
        return false;
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    l->log = stet_torch_log_new(f->t, l->base, slash ? folder : ".", rank_of(l->base));
    stet_mem_free(folder);
    if (l->log)
        stet_trace_init(&l->trace, stet_torch_log_sink(l->log));
    return l->log != NULL;
}

static enum stet_rc drain(struct stet_torch_files *f, struct log *l, struct stet_err *err)
{
    size_t got;

    do {
        enum stet_rc rc = stet_ingest_bytes_read(&l->bytes, f->buffer, READ, &got, err);

        if (rc != STET_OK)
            return rc;
        f->t->bytes += got;
        if (l->bytes.skipped > l->skipped) {
            l->trace.sink->fault(l->trace.sink->context, STET_TRACE_CODEC, l->trace.offset,
                                 l->trace.number);
            l->skipped = l->bytes.skipped;
        }
        stet_trace_feed(&l->trace, f->buffer, got);
    } while (got && !l->trace.failed);
    f->t->failed |= l->trace.failed;
    return STET_OK;
}

/* Another file has the name of the last part: the log was rotated, and the new file continues
 * it. */
static bool rotated(struct stet_torch_files *f, struct log *l)
{
    struct part *last = &l->parts[l->count - 1];
    struct stat st;
    char *own;

    (void)f;
    if (l->at + 1 < l->count || stat(l->base, &st) != 0 ||
        (st.st_ino == last->ino && st.st_dev == last->dev))
        return false;
    own = stet_mem_strdup(l->base);
    if (!own || !stet_vec_room(&l->parts, &l->room, l->count, sizeof *l->parts)) {
        stet_mem_free(own);
        return false;
    }
    l->parts[l->count++] = (struct part){own, st.st_dev, st.st_ino};
    return true;
}

static void note_part(struct stet_torch *t, const char *path)
{
    uint32_t i =
        stet_torch_grow(t, (void **)&t->parts, &t->part_count, &t->part_room, sizeof *t->parts);

    if (i != STET_TORCH_NONE)
        t->parts[i] = stet_torch_keep(t, stet_view_str(path));
}

static enum stet_rc read_log(struct stet_torch_files *f, struct log *l, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    if (l->skip)
        return STET_OK;
    if (!begin(f, l))
        return stet_fail(err, STET_NO_MEMORY, "out of memory for a log");
    while (l->at < l->count && rc == STET_OK) {
        if (!l->open) {
            rc = stet_ingest_bytes_open(&l->bytes, l->parts[l->at].path, err);
            if (rc != STET_OK)
                return rc;
            l->open = true;
            l->skipped = 0;
            if (l->from)
                stet_ingest_bytes_skip(&l->bytes, l->from);
            l->from = 0;
            note_part(f->t, l->parts[l->at].path);
        }
        rc = drain(f, l, err);
        if (rc != STET_OK || (l->at + 1 == l->count && !rotated(f, l)))
            break;
        if (l->bytes.inside)
            l->trace.sink->fault(l->trace.sink->context, STET_TRACE_CODEC, l->trace.offset,
                                 l->trace.number);
        close_log(l);
        l->at++;
    }
    return rc;
}

enum stet_rc stet_torch_files_poll(struct stet_torch_files *f, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;

    for (size_t i = 0; i < f->folder_count && rc == STET_OK; i++)
        rc = scan(f, f->folders[i], err);
    for (size_t i = 0; i < f->count && rc == STET_OK; i++) {
        rc = read_log(f, &f->logs[i], err);
        if (f->logs[i].log)
            stet_trace_idle(&f->logs[i].trace);
    }
    return rc;
}

enum stet_rc stet_torch_files_finish(struct stet_torch_files *f, struct stet_err *err)
{
    enum stet_rc rc = STET_OK, first = STET_OK;

    for (size_t i = 0; i < f->folder_count; i++) {
        rc = scan(f, f->folders[i], err);
        first = first == STET_OK ? rc : first;
    }
    for (size_t i = 0; i < f->count; i++) {
        struct log *l = &f->logs[i];

        rc = read_log(f, l, err);
        first = first == STET_OK ? rc : first; /* one that cannot be read does not hide the
                                                * others */
        if (l->log) {
            if (l->open && l->bytes.inside)
                l->trace.sink->fault(l->trace.sink->context, STET_TRACE_CODEC, l->trace.offset,
                                     l->trace.number);
            stet_trace_end(&l->trace);
            stet_torch_text_flush(l->log);
            stet_trace_release(&l->trace);
            stet_trace_init(&l->trace, stet_torch_log_sink(l->log));
        }
        close_log(l);
        l->at = l->count;
    }
    return first;
}
