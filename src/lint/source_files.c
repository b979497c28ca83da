/* Walks folders in sorted order; a file that is named directly is always included. */
#include "lint/source_files.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/vec.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MAX_FOLDER_DEPTH = 64 };

bool lint_files_is_shell(const char *path)
{
    struct stet_view v = stet_view_str(path);
    const char *name = stet_path_base_str(path);

    return stet_view_ends(v, ".sh") || stet_view_ends(v, ".bash") || stet_view_ends(v, ".env") ||
           !strncmp(name, "Dockerfile", 10);
}

static bool is_source(const char *path)
{
    return stet_view_ends(stet_view_str(path), ".py") || lint_files_is_shell(path);
}

static bool is_skipped_folder(const char *name)
{
    static const char *const skipped[] = {"__pycache__", "node_modules", "site-packages", "venv",
                                          "build",       "dist",         "_build",        NULL};

    if (name[0] == '.')
        return true;
    for (const char *const *s = skipped; *s; s++) {
        if (!strcmp(name, *s))
            return true;
    }
    return false;
}

/* "tests", "a/b.py", "*_pb2.py": the end of a path, a folder in it, or an ending after a star. */
static bool is_excluded(const char *path, char **excludes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct stet_view e = stet_view_str(excludes[i]);
        const char *at = path;

        while (e.len && e.ptr[e.len - 1] == '/')
            e.len--;
        if (e.len && e.ptr[0] == '*') {
            if (stet_view_ends(stet_view_str(path), excludes[i] + 1))
                return true;
            continue;
        }
        while (e.len && (at = memmem(at, strlen(at), e.ptr, e.len))) {
            char before = at == path ? '/' : at[-1], after = at[e.len];

            if (before == '/' && (after == '/' || after == '\0'))
                return true;
            at++;
        }
    }
    return false;
}

/* The usual form of a path: GitHub and SARIF readers do not find "./a.py", and a baseline made with
 * "." also fits "src". */
static bool add(struct lint_files *f, const char *path)
{
    while (path[0] == '.' && path[1] == '/' && path[2]) {
        path += 2;
        while (path[0] == '/' && path[1])
            path++;
    }
    if (!stet_vec_room(&f->paths, &f->room, f->count, sizeof *f->paths))
        return false;
    f->paths[f->count] = stet_arena_copy(&f->arena, stet_view_str(path)).ptr;
    return f->paths[f->count++] != NULL;
}

static bool walk(struct lint_files *f, const char *folder, char **excludes, size_t exclude_count,
                 unsigned depth)
{
    struct dirent **items = NULL;
    int count = depth < MAX_FOLDER_DEPTH ? scandir(folder, &items, NULL, alphasort) : 0;
    bool fine = true;

    for (int i = 0; i < count; i++) {
        const char *name = items[i]->d_name;
        char *path = stet_fs_join(folder, name);
        struct stat st;

        if (path && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && lstat(path, &st) == 0 &&
            !is_excluded(path, excludes, exclude_count)) {
            if (S_ISDIR(st.st_mode) && !is_skipped_folder(name))
                fine &= walk(f, path, excludes, exclude_count, depth + 1);
            else if (S_ISREG(st.st_mode) && is_source(path))
                fine &= add(f, path);
        }
        stet_mem_free(path);
        free(items[i]);
    }
    free(items);
    return fine;
}

enum stet_rc lint_files_find(struct lint_files *f, char **paths, int count, char **excludes,
                             size_t exclude_count, struct stet_err *err)
{
    bool fine = true;

    *f = (struct lint_files){0};
    stet_arena_init(&f->arena, (size_t)1 << 30);
    for (int i = 0; i < count; i++) {
        struct stat st;

        if (stat(paths[i], &st) != 0) {
            lint_files_release(f);
            stet_fail_errno(err, "%s", paths[i]);
            return STET_NOT_FOUND;
        }
        fine &=
            S_ISDIR(st.st_mode) ? walk(f, paths[i], excludes, exclude_count, 0) : add(f, paths[i]);
    }
    if (!fine) {
        lint_files_release(f);
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    }
    return STET_OK;
}

void lint_files_release(struct lint_files *f)
{
    stet_mem_free(f->paths);
    stet_arena_release(&f->arena);
    *f = (struct lint_files){0};
}

struct stet_view lint_files_module(struct stet_arena *arena, const char *path)
{
    size_t end = strlen(path), start = end;
    char probe[4096];
    struct stet_view name;
    char *dots;

    if (end > 3 && !strcmp(path + end - 3, ".py"))
        end -= 3;
    while (start && path[start - 1] != '/')
        start--;
    /* one folder more for each package */
    while (start > 1) {
        size_t up = start - 1;

        if (start + 12 > sizeof probe)
            break;
        memcpy(probe, path, start);
        memcpy(probe + start, "__init__.py", 12);
        if (!stet_fs_exists(probe))
            break;
        while (up && path[up - 1] != '/')
            up--;
        start = up;
    }
    if (end - start >= 9 && !memcmp(path + end - 9, "/__init__", 9))
        end -= 9;
    name = stet_arena_copy(arena, stet_view_of(path + start, end - start));
    dots = (char *)(uintptr_t)name.ptr;
    for (size_t i = 0; dots && i < name.len; i++) {
        if (dots[i] == '/')
            dots[i] = '.';
    }
    return name;
}
