/* Folders with everything in them: their size, and removing them. Separate from fs.c, so that the
 * layer does not link nftw. */
#include "base/fs.h"

#include <ftw.h>
#include <stdio.h>

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    return remove(path);
}

static _Thread_local uint64_t counted; /* nftw passes no context */

static int count_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)path;
    (void)walk;
    if (kind == FTW_F)
        counted += (uint64_t)st->st_size;
    return 0;
}

uint64_t stet_fs_tree_bytes(const char *path)
{
    counted = 0;
    nftw(path, count_one, 16, FTW_PHYS);
    return counted;
}

int stet_fs_remove_tree(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
