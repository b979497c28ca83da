/* See path.h. */
#include "base/path.h"

static const char *last_slash(struct stet_view path)
{
    return path.len ? memrchr(path.ptr, '/', path.len) : NULL;
}

struct stet_view stet_path_base(struct stet_view path)
{
    const char *slash = last_slash(path);

    return slash ? stet_view_of(slash + 1, path.len - (size_t)(slash + 1 - path.ptr)) : path;
}

const char *stet_path_base_str(const char *path)
{
    return stet_path_base(stet_view_str(path)).ptr;
}

struct stet_view stet_path_folder(struct stet_view path)
{
    const char *slash = last_slash(path);

    if (!slash)
        return STET_VIEW(".");
    return stet_view_of(path.ptr, slash == path.ptr ? 1 : (size_t)(slash - path.ptr));
}

struct stet_view stet_path_below(struct stet_view path, const char *folder)
{
    size_t n = strlen(folder);

    if (n > 1 && path.len > n + 1 && path.ptr[n] == '/' && !memcmp(path.ptr, folder, n))
        return stet_view_of(path.ptr + n + 1, path.len - n - 1);
    return path;
}

/* Also as the first folder of a relative path. */
static bool is_below(struct stet_view file, const char *folder)
{
    return stet_view_contains(file, folder) || stet_view_starts(file, folder + 1);
}

/* The length of "3.11" or "3.13t" at the beginning; 0 for anything else. */
static size_t version_length(struct stet_view v)
{
    size_t n = 2;

    if (!stet_view_starts(v, "3."))
        return 0;
    while (n < v.len && v.ptr[n] >= '0' && v.ptr[n] <= '9')
        n++;
    return n == 2 ? 0 : n < v.len && v.ptr[n] == 't' ? n + 1 : n;
}

/* …/lib/python3.11/… */
static bool is_in_interpreter(struct stet_view file)
{
    static const char *const folders[] = {"/lib/python", "/lib64/python", "/lib/pypy", NULL};

    for (const char *const *f = folders; *f; f++) {
        size_t at = stet_view_find(file, *f) + strlen(*f);
        struct stet_view rest;
        size_t version;

        if (at >= file.len)
            continue;
        rest = stet_view_of(file.ptr + at, file.len - at);
        version = version_length(rest);
        if (version && version < rest.len && rest.ptr[version] == '/')
            return true;
    }
    return false;
}

bool stet_path_is_installed(struct stet_view file)
{
    return !file.len || is_below(file, "/site-packages/") || is_below(file, "/dist-packages/") ||
           is_below(file, "/python/stet_cpu/") || is_in_interpreter(file) ||
           stet_view_starts(file, "<frozen");
}
