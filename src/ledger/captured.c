/* Opens programs/<hash>.<kind>.zst of a run folder. */
#include "ledger/captured.h"

#include "base/buf.h"
#include "base/mem.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zstd.h>

/* In real programs (constants that were left out) and in hostile ones, hundreds of megabytes of
 * zeros compress to a few kilobytes. So the size of the file does not bound its unpacked size. */
static enum stet_rc decompress(struct stet_buf *out, struct stet_view in, size_t most,
                               const char *path, struct stet_err *err)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer from = {in.ptr, in.len, 0};
    size_t left = 1, step = ZSTD_DStreamOutSize();
    enum stet_rc rc = STET_OK;

    out->cap = most + 2 * step;
    while (context && rc == STET_OK && (from.pos < from.size || left != 0)) {
        char *room = stet_buf_reserve(out, step);
        ZSTD_outBuffer to = {room, step, 0};
        size_t before = from.pos;

        if (!room)
            break;
        left = ZSTD_decompressStream(context, &to, &from);
        if (ZSTD_isError(left)) {
            rc = stet_fail_at(err, STET_BAD_INPUT, from.pos, "%s: %s", path,
                              ZSTD_getErrorName(left));
            break;
        }
        stet_buf_grew(out, to.pos);
        if (out->len > most)
            rc = stet_fail(err, STET_LIMIT, "%s: unpacks to more than the %zu bytes it may have",
                           path, most);
        else if (from.pos == before && to.pos == 0 && from.pos == from.size && left != 0)
            rc = stet_fail_at(err, STET_BAD_INPUT, from.pos, "%s: ends inside compressed data",
                              path);
    }
    ZSTD_freeDCtx(context);
    if (rc == STET_OK && (!context || out->failed))
        rc = stet_fail(err, STET_NO_MEMORY, "%s: out of memory", path);
    return rc;
}

/* True for what a machine crash may leave of a file that was never synced. */
static bool is_torn(const char *path, struct stet_view bytes)
{
    size_t n = strlen(path);

    return n > 4 && !strcmp(path + n - 4, ".zst") && !stet_view_starts(bytes, "\x28\xb5\x2f\xfd");
}

enum stet_rc stet_ledger_captured_open(struct stet_file *f, const char *path, uint64_t most,
                                       struct stet_err *err)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stat st;
    enum stet_rc rc;

    *f = (struct stet_file){0};
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size > STET_CAPTURED_MOST)
        return stet_fail(err, STET_LIMIT, "%s: larger than 2 GiB, so not a program", path);
    rc = stet_file_open(f, path, err);

    if (rc == STET_OK && is_torn(path, f->bytes)) {
        stet_file_close(f);
        return stet_fail(err, STET_BAD_INPUT, "%s: torn: no compressed data in it", path);
    }
    if (rc != STET_OK || !stet_view_starts(f->bytes, "\x28\xb5\x2f\xfd"))
        return rc;
    if (!most || most > STET_CAPTURED_MOST)
        most = STET_CAPTURED_MOST;
    rc = decompress(&out, f->bytes, (size_t)most, path, err);
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

enum stet_rc stet_ledger_captured_find(const struct stet_runs *runs, const char *prefix,
                                       char **path, struct stet_err *err)
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
                     "'%s' is not a file, a run or a captured program; `stet runs` lists the runs",
                     prefix);
}

enum stet_rc stet_ledger_captured_program(struct stet_file *f, const char *folder,
                                          struct stet_hash program, struct stet_err *err)
{
    static const char *const kinds[] = {"mlirbc", "mlir", "hlo.pb", "hlo_with_config.pb"};
    char name[STET_HASH_TEXT], path[PATH_MAX];

    stet_hash_format(program, name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (snprintf(path, sizeof path, "%s/programs/%s.%s.zst", folder, name, kinds[i]) <
                (int)sizeof path &&
            stet_fs_is_plain(path))
            return stet_ledger_captured_open(f, path, 0, err);
    }
    return stet_fail(err, STET_NOT_FOUND, "program %s was not captured", name);
}
