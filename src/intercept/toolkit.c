/* XLA looks for its tools in several places: the configured folder, the working folder, beside the
 * plugin (where pip installs them), the system's folders, then PATH
 * (xla/tsl/platform/default/cuda_root_path.cc). Any of them may affect what it produces, so all
 * that are found count. */
#include "intercept/toolkit.h"

#include "base/fs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static const struct stet_platform platforms[] = {
#define PLATFORM(name, tools, code, topology, compiles)                                            \
    {name, STET_TOOLS_##tools, STET_CODE_##code, STET_TOPOLOGY_##topology,                         \
     STET_COMPILES_##compiles},
#include "intercept/platforms.def"
#undef PLATFORM
};
static const struct stet_platform unknown = {"", STET_TOOLS_NONE, STET_CODE_HOST,
                                             STET_TOPOLOGY_SERIALIZED, STET_COMPILES_TOGETHER};

const struct stet_platform *stet_platform_find(struct stet_view name)
{
    for (size_t i = 0; i < sizeof platforms / sizeof *platforms; i++) {
        if (strlen(platforms[i].name) == name.len &&
            !strncasecmp(platforms[i].name, name.ptr, name.len))
            return &platforms[i];
    }
    return &unknown;
}

/* Files below a root, and roots: those that begin with '.' are below the plugin's folder. Lists end
 * with NULL. */
static const char *const cuda_files[] = {"nvvm/libdevice/libdevice.10.bc",
                                         "bin/ptxas",
                                         "bin/nvlink",
                                         "bin/fatbinary",
                                         "lib/libnvJitLink.so.12",
                                         "lib/libnvJitLink.so.13",
                                         NULL};
static const char *const cuda_roots[] = {"cuda_sdk_lib",
                                         "./cuda",
                                         "./../nvidia/cu13",
                                         "./../nvidia/cuda_nvcc",
                                         "./../nvidia/nvjitlink",
                                         "./../../nvidia/cu13",
                                         "./../../nvidia/cuda_nvcc",
                                         "./../../nvidia/nvjitlink",
                                         "./../../../nvidia/cu13",
                                         "./../../../nvidia/cuda_nvcc",
                                         "./../../../nvidia/nvjitlink",
                                         "/usr/local/cuda",
                                         "/opt/cuda",
                                         NULL};
static const char *const cuda_programs[] = {"ptxas", "nvlink", "fatbinary", NULL};

static const char *const rocm_files[] = {"amdgcn/bitcode/ocml.bc", "amdgcn/bitcode/ockl.bc",
                                         "llvm/bin/ld.lld",        "lib/llvm/bin/ld.lld",
                                         "lib/libamd_comgr.so",    "lib/libamd_comgr.so.2",
                                         "lib/libamd_comgr.so.3",  NULL};
static const char *const rocm_roots[] = {"$ROCM_PATH",   "$HIP_PATH", "./rocm", "./../rocm",
                                         "./../../rocm", "/opt/rocm", NULL};
static const char *const rocm_programs[] = {"ld.lld", NULL};

/* One file, when it is there: " name=content". */
static enum stet_outcome put(struct stet_buf *out, const char *label, const char *path,
                             struct stet_file_watch *w)
{
    char text[STET_HASH_TEXT];
    struct stet_hash hash;
    enum stet_named found;

    if (!stet_fs_exists(path)) /* not watched: there are too many places */
        return STET_OUTCOME_NONE;
    found = stet_named_hash(path, &hash, w);
    if (found == STET_NAMED_UNREADABLE)
        return STET_OUTCOME_FILES_UNREADABLE;
    if (found == STET_NAMED_FILE) {
        stet_hash_format(hash, text);
        stet_buf_printf(out, "%s%s=%s", out->len && out->ptr[out->len - 1] != '{' ? " " : "", label,
                        text);
    }
    return STET_OUTCOME_NONE;
}

static enum stet_outcome put_root(struct stet_buf *out, const char *label, const char *root,
                                  const char *const *files, struct stet_file_watch *w)
{
    char path[PATH_MAX], name[PATH_MAX];
    enum stet_outcome why = STET_OUTCOME_NONE;

    if (!stet_fs_exists(root))
        return STET_OUTCOME_NONE;
    for (; *files && !why; files++) {
        if (snprintf(path, sizeof path, "%s/%s", root, *files) < (int)sizeof path &&
            snprintf(name, sizeof name, "%s%s%s", label, *label ? "/" : "", *files) <
                (int)sizeof name)
            why = put(out, name, path, w);
    }
    return why;
}

enum stet_outcome stet_toolkit_cuda_at(struct stet_buf *out, const char *root,
                                       struct stet_file_watch *w)
{
    return put_root(out, "", root, cuda_files, w);
}

static enum stet_outcome put_roots(struct stet_buf *out, const char *plugin,
                                   const char *const *roots, const char *const *files,
                                   struct stet_file_watch *w)
{
    const char *slash = strrchr(plugin, '/');
    enum stet_outcome why = STET_OUTCOME_NONE;
    int beside = slash ? (int)(slash - plugin) : 1;
    char root[PATH_MAX];

    for (; *roots && !why; roots++) {
        const char *setting = **roots == '$' ? getenv(*roots + 1) : *roots;
        int n;

        if (!setting || !*setting)
            continue;
        if (**roots == '.')
            n = snprintf(root, sizeof root, "%.*s%s", beside, slash ? plugin : ".", *roots + 1);
        else
            n = snprintf(root, sizeof root, "%s", setting);
        if (n < (int)sizeof root)
            why = put_root(out, *roots, root, files, w);
    }
    return why;
}

/* The first of this name on PATH. */
static enum stet_outcome put_on_path(struct stet_buf *out, const char *name,
                                     struct stet_file_watch *w)
{
    char whole[PATH_MAX], label[64];

    for (const char *path = getenv("PATH"); path && *path;) {
        size_t n = strcspn(path, ":");

        if (n && snprintf(whole, sizeof whole, "%.*s/%s", (int)n, path, name) < PATH_MAX &&
            stet_fs_exists(whole)) {
            snprintf(label, sizeof label, "PATH/%s", name);
            return put(out, label, whole, w);
        }
        path += n + (path[n] == ':');
    }
    return STET_OUTCOME_NONE;
}

/* Files of /proc have no times to cache a hash by. */
static void put_driver(struct stet_buf *out)
{
    char text[STET_HASH_TEXT] = "none";
    struct stet_file file;

    if (stet_file_open(&file, "/proc/driver/nvidia/version", NULL) == STET_OK) {
        stet_hash_format(stet_hash_bytes(file.bytes), text);
        stet_file_close(&file);
    }
    stet_buf_printf(out, "%sdriver=%s", out->len ? " " : "", text);
}

enum stet_outcome stet_toolkit_text(struct stet_buf *out, enum stet_tools tools, const char *plugin,
                                    bool driver, struct stet_file_watch *w)
{
    bool cuda = tools == STET_TOOLS_CUDA;
    enum stet_outcome why = STET_OUTCOME_NONE;

    if (tools != STET_TOOLS_NONE) {
        why = put_roots(out, plugin, cuda ? cuda_roots : rocm_roots, cuda ? cuda_files : rocm_files,
                        w);
        for (const char *const *p = cuda ? cuda_programs : rocm_programs; *p && !why; p++)
            why = put_on_path(out, *p, w);
        if (cuda && driver)
            put_driver(out);
    }
    if (!out->len)
        stet_buf_str(out, "none");
    return why;
}
