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

bool stet_path_join(char *out, size_t room, struct stet_view folder, struct stet_view name)
{
    bool alone = !folder.len || stet_view_starts(name, "/");
    bool slash = !alone && folder.ptr[folder.len - 1] != '/';
    size_t before = alone ? 0 : folder.len + slash;

    if (!room)
        return false;
    out[0] = '\0';
    if (before >= room || name.len >= room - before)
        return false;
    if (!alone)
        memcpy(out, folder.ptr, folder.len);
    if (slash)
        out[folder.len] = '/';
    if (name.len)
        memcpy(out + before, name.ptr, name.len);
    out[before + name.len] = '\0';
    return true;
}
