/* Edits a copy of the environment. Our process's environment does not change. */
#include "launch/child_env.h"

#include "base/fs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

enum { EXTRA = 32 };

enum stet_rc stet_launch_env_init(struct stet_launch_env *e, struct stet_err *err)
{
    size_t n = 0;

    while (environ[n])
        n++;
    *e = (struct stet_launch_env){.count = n, .room = n + EXTRA};
    stet_arena_init(&e->arena, (size_t)64 << 20);
    e->vars = STET_NEW_ARRAY(&e->arena, char *, e->room + 1);
    if (!e->vars)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the environment");
    memcpy(e->vars, environ, n * sizeof *environ);
    return STET_OK;
}

void stet_launch_env_release(struct stet_launch_env *e)
{
    stet_arena_release(&e->arena);
    *e = (struct stet_launch_env){0};
}

static char **find(const struct stet_launch_env *e, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < e->count; i++) {
        if (!strncmp(e->vars[i], name, n) && e->vars[i][n] == '=')
            return &e->vars[i];
    }
    return NULL;
}

const char *stet_launch_env_get(const struct stet_launch_env *e, const char *name)
{
    char **var = find(e, name);

    return var ? *var + strlen(name) + 1 : NULL;
}

enum stet_rc stet_launch_env_set(struct stet_launch_env *e, const char *name, const char *value,
                                 struct stet_err *err)
{
    struct stet_view text = stet_arena_printf(&e->arena, "%s=%s", name, value);
    char **var = find(e, name);

    if (!text.ptr || (!var && e->count == e->room))
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the environment");
    if (!var)
        var = &e->vars[e->count++];
    *var = (char *)(uintptr_t)text.ptr;
    return STET_OK;
}

enum stet_rc stet_launch_env_preload(struct stet_launch_env *e, const char *library,
                                     struct stet_err *err)
{
    const char *before = stet_launch_env_get(e, "LD_PRELOAD");
    struct stet_view joined;

    if (!before || !*before)
        return stet_launch_env_set(e, "LD_PRELOAD", library, err);
    if (strstr(before, library))
        return STET_OK;
    joined = stet_arena_printf(&e->arena, "%s:%s", library, before);
    if (!joined.ptr)
        return stet_fail(err, STET_NO_MEMORY, "out of memory for the environment");
    return stet_launch_env_set(e, "LD_PRELOAD", joined.ptr, err);
}

enum stet_rc stet_launch_env_listable(char *path, size_t room, const char *folder,
                                      struct stet_err *err)
{
    static const char splits[] = " :,;$\t\n";
    char link[PATH_MAX];

    if (!strpbrk(path, splits))
        return STET_OK;
    if (strpbrk(folder, splits))
        return stet_fail(err, STET_UNSUPPORTED,
                         "LD_PRELOAD cannot name %s, which has a blank, a colon or the like in it, "
                         "and neither the run's folder: set STET_STATE_DIR to one without",
                         path);
    if (snprintf(link, sizeof link, "%s%s", folder, strrchr(path, '/')) >= (int)sizeof link ||
        strlen(link) >= room)
        return stet_fail(err, STET_LIMIT, "%s: path too long", folder);
    if (symlink(path, link) != 0)
        return stet_fail_errno(err, "%s: cannot link", link);
    memcpy(path, link, strlen(link) + 1);
    return STET_OK;
}

enum stet_rc stet_launch_find_library(const char *name, char *out, size_t room,
                                      struct stet_err *err)
{
    static const char *const places[] = {"%s/../lib/%s", "%s/../lib/stet/%s", "%s/../lib64/%s"};
    const char *told = getenv("STET_LIB_DIR");
    char exe[PATH_MAX], path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    char *slash;

    exe[n > 0 ? n : 0] = '\0';
    slash = strrchr(exe, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i <= sizeof places / sizeof *places; i++) {
        if (i == 0 && told)
            snprintf(path, sizeof path, "%s/%s", told, name);
        else if (i > 0)
            snprintf(path, sizeof path, places[i - 1], exe, name);
        else
            continue;
        if (stet_fs_exists(path)) {
            char *whole = realpath(path, NULL);
            bool fits = whole && strlen(whole) < room;

            if (fits)
                memcpy(out, whole, strlen(whole) + 1);
            free(whole);
            if (fits)
                return STET_OK;
        }
    }
    return stet_fail(err, STET_NOT_FOUND,
                     "%s is not beside this executable (looked in %s/../lib); set STET_LIB_DIR",
                     name, exe);
}
