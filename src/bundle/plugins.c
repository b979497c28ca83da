/* JAX: PJRT_NAMES_AND_LIBRARY_PATHS, the namespace package and the entry points jax_plugins,
 * libtpu. PyTorch/XLA: PJRT_DEVICE=LIBRARY with PJRT_LIBRARY_PATH, TPU_LIBRARY_PATH, libtpu, the
 * entry points torch_xla.plugins. TorchTPU: TPU_LIBRARY_PATH, libtpu. */
#include "bundle/plugins.h"

#include "base/fs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *word;
    bool asked;
} ways[] = {
#define FOUND(id, word, asked) {word, asked},
#include "bundle/found_ways.def"
#undef FOUND
};

static const char *variable(char *const *environment, const char *name)
{
    size_t n = strlen(name);

    for (; environment && *environment; environment++)
        if (!strncmp(*environment, name, n) && (*environment)[n] == '=' && (*environment)[n + 1])
            return *environment + n + 1;
    return NULL;
}

static void note(struct stet_found_list *list, const char *fmt, struct stet_view a,
                 struct stet_view b)
{
    if (list->note_count < sizeof list->notes / sizeof *list->notes) {
        char *at = list->notes[list->note_count++];

        snprintf(at, sizeof list->notes[0], "%s %.*s = %.*s", fmt, STET_FMT(a), STET_FMT(b));
    }
}

bool stet_bundle_plugins_asked(const struct stet_found *f)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].asked && f->ways >> i & 1)
            return true;
    return false;
}

void stet_bundle_plugins_add(struct stet_found_list *list, const char *path,
                             enum stet_found_way way, struct stet_view platform)
{
    char real[PATH_MAX];
    struct stet_found *f;

    if (!realpath(path, real))
        snprintf(real, sizeof real, "%s", path);
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i].path, real)) {
            f = &list->items[i];
            if (!(f->ways >> way & 1)) {
                size_t n = strlen(f->by);

                snprintf(f->by + n, sizeof f->by - n, ", %s", ways[way].word);
                f->ways |= 1u << way;
            }
            return;
        }
    if (list->count == STET_PLUGINS_MAX)
        return;
    f = &list->items[list->count++];
    *f = (struct stet_found){0};
    snprintf(f->path, sizeof f->path, "%s", real);
    f->ways = 1u << way;
    snprintf(f->by, sizeof f->by, "%s", ways[way].word);
    snprintf(f->platform, sizeof f->platform, "%.*s", STET_FMT(platform));
    f->missing = !stet_bundle_elf_open(&f->elf, real);
}

/* A plugin may be named by a JSON file with its "library_path" and options. */
static void library_of(const char *json, char path[PATH_MAX])
{
    struct stet_file f;
    const char *at, *end;

    if (stet_file_open(&f, json, NULL) != STET_OK)
        return;
    end = f.bytes.ptr + f.bytes.len;
    at = f.bytes.len ? memmem(f.bytes.ptr, f.bytes.len, "\"library_path\"", 14) : NULL;
    at = at ? memchr(at + 14, '"', (size_t)(end - at) - 14) : NULL;
    if (at) {
        const char *close = memchr(at + 1, '"', (size_t)(end - at) - 1);

        if (close)
            snprintf(path, PATH_MAX, "%.*s", (int)(close - at - 1), at + 1);
    }
    stet_file_close(&f);
}

/* name:path,name:path */
static void from_names(struct stet_found_list *list, const char *value)
{
    while (value && *value) {
        size_t n = strcspn(value, ",");
        const char *colon = memchr(value, ':', n);

        if (colon) {
            char path[PATH_MAX];

            snprintf(path, sizeof path, "%.*s", (int)(n - (size_t)(colon - value) - 1), colon + 1);
            if (stet_view_ends(stet_view_str(path), ".json"))
                library_of(path, path);
            stet_bundle_plugins_add(list, path, STET_FOUND_NAMES,
                                    stet_view_of(value, (size_t)(colon - value)));
        }
        value += n + (value[n] == ',');
    }
}

/* Shared objects in a folder that define GetPjrtApi, or that cannot be read. */
static bool from_folder(struct stet_found_list *list, const char *folder, enum stet_found_way way,
                        struct stet_view platform)
{
    DIR *dir = opendir(folder);
    bool found = false;

    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[PATH_MAX];
        struct stet_elf elf;

        if (!stet_view_ends(stet_view_str(e->d_name), ".so") ||
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path ||
            !stet_bundle_elf_open(&elf, path))
            continue;
        if (!elf.has_entry && !elf.wrong && elf.has_symbols)
            continue;
        stet_bundle_plugins_add(list, path, way, platform);
        found = true;
    }
    if (dir)
        closedir(dir);
    return found;
}

struct walk {
    struct stet_found_list *list;
    const struct stet_bundle_python *python;
    enum stet_found_way way;
};

/* Stet's wheel puts its CPU backend into the environment's lib, not beside the Python code. */
static bool from_own_wheel(struct walk *w, const char *module, struct stet_view name)
{
    const char *told = getenv("STET_CPU_LIBRARY");
    char package[PATH_MAX], path[PATH_MAX + 64];

    if (strncmp(module, "stet_cpu/", 9) != 0 ||
        !stet_bundle_python_file(w->python, "stet_cpu", package, sizeof package))
        return false;
    snprintf(path, sizeof path, "%s/../../../libstet_cpu.so", package);
    if (told && *told)
        snprintf(path, sizeof path, "%s", told);
    if (!stet_fs_exists(path))
        return false;
    stet_bundle_plugins_add(w->list, path, w->way, name);
    return true;
}

/* "jax_plugins.xla_cuda13" or "stet_plugin:initialize": the module's folder. */
static void from_entry_point(void *arg, struct stet_view name, struct stet_view target)
{
    struct walk *w = arg;
    char module[256], path[PATH_MAX];
    size_t n = 0;

    while (n < target.len && n + 1 < sizeof module && !strchr(": [", target.ptr[n])) {
        module[n] = target.ptr[n] == '.' ? '/' : target.ptr[n];
        n++;
    }
    module[n] = 0;
    if (stet_bundle_python_file(w->python, module, path, sizeof path) &&
        from_folder(w->list, path, w->way, name))
        return;
    if (from_own_wheel(w, module, name))
        return;
    if (!stet_view_starts(target, "torch_xla._internal")) /* it looks for libtpu itself */
        note(w->list, ways[w->way].word, name, target);
}

static void from_namespace(struct walk *w)
{
    for (size_t i = 0; i < w->python->path_count; i++) {
        char root[PATH_MAX], folder[PATH_MAX + 272];
        DIR *dir;

        snprintf(root, sizeof root, "%s/jax_plugins", w->python->paths[i]);
        dir = opendir(root);
        for (struct dirent *e; dir && (e = readdir(dir));) {
            if (e->d_name[0] == '.' || e->d_name[0] == '_')
                continue;
            snprintf(folder, sizeof folder, "%s/%s", root, e->d_name);
            from_folder(w->list, folder, STET_FOUND_JAX, stet_view_str(e->d_name));
        }
        if (dir)
            closedir(dir);
    }
}

void stet_bundle_plugins_find(struct stet_found_list *list, const struct stet_bundle_python *p,
                              char *const *environment)
{
    const char *device = variable(environment, "PJRT_DEVICE");
    const char *path = variable(environment, "TPU_LIBRARY_PATH");
    struct walk w = {list, p, STET_FOUND_JAX};
    char file[PATH_MAX];

    from_names(list, variable(environment, "PJRT_NAMES_AND_LIBRARY_PATHS"));
    if (path)
        stet_bundle_plugins_add(list, path, STET_FOUND_TPU_LIBRARY, STET_VIEW("tpu"));
    path = variable(environment, "PJRT_LIBRARY_PATH");
    if (path && device && !strcmp(device, "LIBRARY"))
        stet_bundle_plugins_add(list, path, STET_FOUND_PJRT_LIBRARY, STET_VIEW(""));
    path = variable(environment, "STET_PLUGIN");
    if (path)
        stet_bundle_plugins_add(list, path, STET_FOUND_STET_VARIABLE, STET_VIEW(""));
    from_namespace(&w);
    stet_bundle_python_entry_points(p, "jax_plugins", from_entry_point, &w);
    w.way = STET_FOUND_TORCH_XLA;
    stet_bundle_python_entry_points(p, "torch_xla.plugins", from_entry_point, &w);
    path = variable(environment, "TPU_LIBRARY_PATH"); /* one that is not there is passed over */
    if ((!path || !stet_fs_exists(path)) &&
        stet_bundle_python_file(p, "libtpu/libtpu.so", file, sizeof file))
        stet_bundle_plugins_add(list, file, STET_FOUND_LIBTPU, STET_VIEW("tpu"));
}
