/* Compresses with zstd at its default level with its checksum, then writes a temporary file and
 * renames it. Nothing is synced: a sync per program would delay every later record, and readers
 * notice a torn file. */
#include "intercept/blob.h"

#include "base/fs.h"
#include "base/mem.h"
#include "intercept/layer.h"

#include <stdio.h>
#define ZSTD_STATIC_LINKING_ONLY  /* contexts in memory of ours; the library is linked statically  \
                                   */
#include <zstd.h>

enum { LEVEL = 3, CONTEXT_KEPT_BELOW = 1 << 20 };
/* Compressed bytes that one process may add to a run folder. */
static const uint64_t bytes_max = UINT64_C(4) << 30;
static uint64_t bytes_kept;
/* Creating a context costs more than compressing a small program with it. */
static ZSTD_CCtx *context;

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

static void *context_alloc(void *unused, size_t size)
{
    (void)unused;
    return stet_mem_alloc(size);
}

static void context_free(void *unused, void *p)
{
    (void)unused;
    stet_mem_free(p);
}

/* 0 if there is no memory for a context. */
static size_t compress(void *out, size_t room, struct stet_view bytes)
{
    size_t n;

    if (!context) {
        context = ZSTD_createCCtx_advanced((ZSTD_customMem){context_alloc, context_free, NULL});
        if (!context)
            return 0;
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    }
    n = ZSTD_compress2(context, out, room, bytes.len ? bytes.ptr : "", bytes.len);
    if (bytes.len >= CONTEXT_KEPT_BELOW) {
        ZSTD_freeCCtx(context);
        context = NULL;
    }
    return n;
}

static bool write_compressed(const char *path, struct stet_view bytes)
{
    struct stet_err err = STET_ERR_INIT;
    size_t room = ZSTD_compressBound(bytes.len);
    void *out = stet_mem_alloc(room);
    size_t n = out ? compress(out, room, bytes) : 0;
    bool written = false;

    if (!n)
        stet_fault(STET_FAULT_NO_MEMORY);
    else if (ZSTD_isError(n))
        stet_layer_log("capture: %s", ZSTD_getErrorName(n));
    else if (stet_fs_fits(n))
        written = stet_fs_write_unsynced(path, stet_view_of(out, n), &err) == STET_OK;
    if (err.text[0])
        stet_layer_log("capture: %s", err.text);
    if (written)
        bytes_kept += n;
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
