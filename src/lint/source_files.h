/* Finds the files of a lint run, and the module name under which each can be imported. lint.c calls
 * it first. The list owns the paths. */
#ifndef STET_LINT_SOURCE_FILES_H
#define STET_LINT_SOURCE_FILES_H

#include "base/arena.h"
#include "base/err.h"

struct lint_files {
    struct stet_arena arena;
    const char **paths;
    size_t count, room;
};

/* Python files and shell scripts under the paths, in a stable order. Skips folders without sources
 * of the project (.git, build, node_modules, __pycache__, virtual environments). */
enum stet_rc lint_files_find(struct lint_files *f, char **paths, int count, char **excludes,
                             size_t exclude_count, struct stet_err *err);
void lint_files_release(struct lint_files *f);

/* "a.b" for …/a/b.py if a contains __init__.py and its parent does not; "a" for a/__init__.py. */
struct stet_view lint_files_module(struct stet_arena *arena, const char *path);
bool lint_files_is_shell(const char *path);

#endif
