/* programs/<hash>.<kind>.zst of a run folder. */
#include "ledger/captured.h"

#include "base/buf.h"
#include "base/mem.h"

#include <dirent.h>
#include <sys/stat.h>
#include <zstd.h>

static const size_t largest = (size_t)4 << 30;

/* How much a file of so many bytes may unpack to. Programs and options shrink to a tenth or a
 * hundredth; what shrinks further beyond the first megabytes was made to fill memory. */
static size_t limit_of(size_t packed)
{
    const size_t free_of_doubt = (size_t)64 << 20, ratio = 256;

    return packed > (largest - free_of_doubt) / ratio ? largest : free_of_doubt + packed * ratio;
}

static enum stet_rc decompress(struct stet_buf *out, struct stet_view in, const char *path,
                               struct stet_err *err)
{
    const size_t most = limit_of(in.len);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer from = {in.ptr, in.len, 0};
    size_t left = 1, step = ZSTD_DStreamOutSize();

    out->cap = most + step;
    while (context && (from.pos < from.size || left != 0)) {
        char *room = stet_buf_reserve(out, step);
        ZSTD_outBuffer to = {room, step, 0};
        size_t before = from.pos;

        if (!room)
            break;
        left = ZSTD_decompressStream(context, &to, &from);
        if (ZSTD_isError(left)) {
            ZSTD_freeDCtx(context);
            return stet_fail_at(err, STET_BAD_INPUT, from.pos, "%s: %s", path,
                                ZSTD_getErrorName(left));
        }
        stet_buf_grew(out, to.pos);
        if (from.pos == before && to.pos == 0 && from.pos == from.size && left != 0) {
            ZSTD_freeDCtx(context);
            return stet_fail_at(err, STET_BAD_INPUT, from.pos, "%s: ends inside compressed data",
                                path);
        }
    }
    if (!context || (out->failed && out->len < most - step)) {
        ZSTD_freeDCtx(context);
        return stet_fail(err, STET_NO_MEMORY, "%s: out of memory", path);
    }
    ZSTD_freeDCtx(context);
    if (out->failed)
        return stet_fail(err, STET_LIMIT,
                         "%s: %zu bytes that unpack to more than %zu MB are no program", path,
                         in.len, most >> 20);
    return STET_OK;
}

/* What a machine that went down may leave of a file that was never synced. */
static bool is_torn(const char *path, struct stet_view bytes)
{
    size_t n = strlen(path);

    return n > 4 && !strcmp(path + n - 4, ".zst") && !stet_view_starts(bytes, "\x28\xb5\x2f\xfd");
}

enum stet_rc stet_captured_open(struct stet_file *f, const char *path, struct stet_err *err)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stat st;
    enum stet_rc rc;

    *f = (struct stet_file){0};
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size > largest)
        return stet_fail(err, STET_LIMIT, "%s: more than 4 GiB are no program", path);
    rc = stet_file_open(f, path, err);

    if (rc == STET_OK && is_torn(path, f->bytes)) {
        stet_file_close(f);
        return stet_fail(err, STET_BAD_INPUT, "%s: torn: no compressed data in it", path);
    }
    if (rc != STET_OK || !stet_view_starts(f->bytes, "\x28\xb5\x2f\xfd"))
        return rc;
    rc = decompress(&out, f->bytes, path, err);
    stet_file_close(f);
    if (rc != STET_OK) {
        stet_buf_release(&out);
        return rc;
    }
    f->bytes = stet_buf_as_view(&out); /* freed by stet_file_close */
    return STET_OK;
}

static bool is_program(const char *name, const char *prefix)
{
    return !strncmp(name, prefix, strlen(prefix)) && !strstr(name, ".options.");
}

static char *find_in(const char *folder, const char *prefix)
{
    char *programs = stet_fs_join(folder, "programs"), *found = NULL;
    DIR *dir = programs ? opendir(programs) : NULL;

    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        if (!is_program(e->d_name, prefix))
            continue;
        found = stet_fs_join(programs, e->d_name);
        if (found && !stet_fs_is_plain(found)) {
            stet_mem_free(found);
            found = NULL;
        }
    }
    if (dir)
        closedir(dir);
    stet_mem_free(programs);
    return found;
}

enum stet_rc stet_captured_find(const struct stet_runs *runs, const char *prefix, char **path,
                                struct stet_err *err)
{
    size_t n = strlen(prefix);

    *path = NULL;
    if (n >= 6 && n <= 32 && strspn(prefix, "0123456789abcdef") == n) {
        for (size_t i = 0; i < runs->count && !*path; i++)
            *path = find_in(runs->items[i].folder, prefix);
    }
    if (*path)
        return STET_OK;
    return stet_fail(err, STET_NOT_FOUND,
                     "'%s' is no file, no run and no captured program; `stet runs` lists the runs",
                     prefix);
}
