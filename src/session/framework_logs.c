/* Reads and writes <run>/logs.txt: a line for each file, with the offset at which this run's part
 * begins. */
#include "session/framework_logs.h"

#include "base/buf.h"
#include "base/fs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A log larger than this belongs to a training job; reading all of it would take too long. */
enum { LONGEST_MB = 256 };

static void add(struct stet_buf *out, const char *path, const struct stat *st)
{
    stet_buf_printf(out, "%llu %s\n", st ? (unsigned long long)st->st_size : 0ull, path);
}

void stet_session_logs_note(const char *folder)
{
    char path[PATH_MAX + 16], target[PATH_MAX];
    const char *debug = getenv("PT_XLA_DEBUG_FILE");
    struct stet_buf out = STET_BUF_INIT;
    struct stat st;
    ssize_t n = readlink("/proc/self/fd/2", target, sizeof target - 1);

    if (n > 0 && fstat(STDERR_FILENO, &st) == 0 && S_ISREG(st.st_mode)) {
        target[n] = '\0';
        add(&out, target, &st);
    }
    if (debug && *debug && realpath(debug, target))
        add(&out, target, stat(target, &st) == 0 ? &st : NULL);
    else if (debug && *debug && *debug != '/' && getcwd(target, sizeof target))
        stet_buf_printf(&out, "0 %s/%s\n", target, debug);
    else if (debug && *debug)
        add(&out, debug, NULL);
    snprintf(path, sizeof path, "%s/logs.txt", folder);
    if (out.len && !out.failed)
        stet_fs_write(path, stet_buf_as_view(&out), NULL);
    stet_buf_release(&out);
}

static void read_one(struct stet_framework_log *l, struct stet_view line)
{
    char text[PATH_MAX + 32], *path;
    unsigned long long from;
    struct stat st;

    if (line.len >= sizeof text)
        return;
    memcpy(text, line.ptr, line.len);
    text[line.len] = '\0';
    from = strtoull(text, &path, 10);
    if (*path != ' ')
        return;
    path++;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size >> 20 > LONGEST_MB)
        return;
    /* A file that is shorter than at the beginning of the run was written anew. */
    stet_framework_log_open(l, path, (unsigned long long)st.st_size < from ? 0 : from, NULL);
}

void stet_session_logs_read(struct stet_framework_log *l, const char *folder)
{
    char path[PATH_MAX + 16];
    struct stet_file file;
    struct stet_view rest;

    snprintf(path, sizeof path, "%s/logs.txt", folder);
    if (!stet_fs_is_plain(path) || stet_file_open(&file, path, NULL) != STET_OK)
        return;
    for (rest = file.bytes; rest.len;) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = end ? (size_t)(end - rest.ptr) : rest.len;

        read_one(l, stet_view_of(rest.ptr, n));
        n += end != NULL;
        rest = stet_view_of(rest.ptr + n, rest.len - n);
    }
    stet_file_close(&file);
}
