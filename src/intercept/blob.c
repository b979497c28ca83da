/* zstd at its default level, then temporary file and rename. */
#include "intercept/blob.h"

#include "base/fs.h"
#include "base/mem.h"
#include "intercept/layer.h"

#include <stdio.h>
#include <sys/resource.h>
#include <zstd.h>

enum { LEVEL = 3 };
/* Compressed bytes that one process may add to a run folder. */
static const uint64_t bytes_max = UINT64_C(4) << 30;
static uint64_t bytes_kept;

const char *stet_blob_extension(struct stet_view format, struct stet_view program)
{
    if (stet_view_is(format, "mlir"))
        return stet_view_starts(program, "ML\xefR") ? "mlirbc" : "mlir";
    if (stet_view_is(format, "hlo"))
        return "hlo.pb";
    if (stet_view_is(format, "hlo_with_config"))
        return "hlo_with_config.pb";
    return "bin";
}

/* A write beyond the host's file size limit raises a signal that ends it. */
static bool within_limit(size_t n)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           n <= limit.rlim_cur;
}

static bool write_compressed(const char *path, struct stet_view bytes)
{
    struct stet_err err = STET_ERR_INIT;
    size_t room = ZSTD_compressBound(bytes.len), n;
    void *out = stet_mem_alloc(room);
    bool written;

    if (!out) {
        stet_fault(STET_FAULT_NO_MEMORY);
        return false;
    }
    n = ZSTD_compress(out, room, bytes.len ? bytes.ptr : "", bytes.len, LEVEL);
    written = !ZSTD_isError(n) && within_limit(n) &&
              stet_fs_write(path, stet_view_of(out, n), &err) == STET_OK;
    if (written)
        bytes_kept += n;
    else
        stet_log("capture: %s", ZSTD_isError(n) ? ZSTD_getErrorName(n) : err.text);
    stet_mem_free(out);
    return written;
}

bool stet_blob_keep(struct stet_hash hash, struct stet_view bytes, const char *extension)
{
    char path[PATH_MAX + 96], name[STET_HASH_TEXT];
    int folder = snprintf(path, sizeof path, "%s/programs", stet_layer.dir);

    stet_hash_format(hash, name);
    snprintf(path + folder, sizeof path - (size_t)folder, "/%s.%s.zst", name, extension);
    if (stet_fs_exists(path))
        return true;
    if (bytes_kept >= bytes_max) {
        stet_fault(STET_FAULT_CAPTURE_CAP);
        return false;
    }
    path[folder] = '\0';
    if (!stet_fs_exists(path) && stet_fs_mkdirs(path, NULL) != STET_OK) {
        stet_fault(STET_FAULT_CAPTURE);
        return false;
    }
    path[folder] = '/';
    if (write_compressed(path, bytes))
        return true;
    stet_fault(STET_FAULT_CAPTURE);
    return false;
}
