/* Lists the store from its folder listing alone; only the search for the nearest entry opens
 * entries. */
#include "base/mem.h"
#include "base/vec.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* An older hint is created again when it is needed; an older strike is dropped. */
#define MOST_AGE_S   ((int64_t)30 * 24 * 3600)
/* The reason of a failed load is kept for as long as a person may look for it. */
#define FAILED_AGE_S ((int64_t)7 * 24 * 3600)

struct walk {
    struct stet_stored_list *out;
    size_t room;
    bool no_memory;
};

static bool is_entry(const char *name, struct stet_hash *key)
{
    return strlen(name) == 37 && !strcmp(name + 32, ".stet") &&
           stet_hash_parse(stet_view_of(name, 32), key);
}

static void add(struct walk *w, struct stet_hash key, const struct stat *st)
{
    struct stet_stored_list *l = w->out;

    if (!stet_vec_room(&l->items, &w->room, l->count, sizeof *l->items)) {
        w->no_memory = true;
        return;
    }
    l->items[l->count++] = (struct stet_stored){
        .key = key,
        .bytes = (uint64_t)st->st_size,
        .used_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
    };
    l->bytes += (uint64_t)st->st_size;
}

static void walk_folder(struct walk *w, int fd)
{
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *e;

    while (d && (e = readdir(d))) {
        struct stet_hash key;
        struct stat st;

        if (e->d_name[0] == '.' || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue; /* gone meanwhile */
        if (S_ISREG(st.st_mode) && is_entry(e->d_name, &key))
            add(w, key, &st);
        else if (!stet_store_is_temporary(e->d_name))
            w->out->foreign++;
    }
    if (d)
        closedir(d);
    else
        close(fd);
}

static int by_use(const void *a, const void *b)
{
    const struct stet_stored *x = a, *y = b;

    if (x->used_ns != y->used_ns)
        return x->used_ns < y->used_ns ? -1 : 1;
    return stet_hash_cmp(x->key, y->key);
}

static enum stet_rc walk(const struct stet_store *s, struct walk *w, struct stet_err *err)
{
    char path[PATH_MAX + 64];

    *w->out = (struct stet_stored_list){0};
    for (unsigned i = 0; i < 256; i++) {
        int fd;

        snprintf(path, sizeof path, "%s/entries/%02x", s->folder, i);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0)
            walk_folder(w, fd);
        else if (errno != ENOENT)
            return stet_fail_errno(err, "%s: cannot list", path);
    }
    if (w->no_memory)
        return stet_fail(err, STET_NO_MEMORY, "%s: out of memory for the list", s->folder);
    if (w->out->count)
        qsort(w->out->items, w->out->count, sizeof *w->out->items, by_use);
    return STET_OK;
}

enum stet_rc stet_store_list(const struct stet_store *s, struct stet_stored_list *out,
                             struct stet_err *err)
{
    struct walk w = {.out = out};
    enum stet_rc rc = walk(s, &w, err);

    if (rc != STET_OK)
        stet_store_list_release(out);
    return rc;
}

void stet_store_list_release(struct stet_stored_list *l)
{
    stet_mem_free(l->items);
    *l = (struct stet_stored_list){0};
}

enum stet_rc stet_store_find(const struct stet_store *s, const char *prefix, struct stet_hash *key,
                             struct stet_err *err)
{
    struct stet_stored_list all;
    enum stet_rc rc = stet_store_list(s, &all, err);
    size_t found = 0;

    if (rc != STET_OK)
        return rc;
    for (size_t i = 0; i < all.count; i++) {
        char text[STET_HASH_TEXT];

        stet_hash_format(all.items[i].key, text);
        if (strncmp(text, prefix, strlen(prefix)) != 0)
            continue;
        *key = all.items[i].key;
        found++;
    }
    stet_store_list_release(&all);
    if (!found || !*prefix)
        return stet_fail(err, STET_NOT_FOUND, "%s: no such key in %s", prefix, s->folder);
    return found > 1 ? stet_fail(err, STET_USAGE, "%s: %zu keys begin so", prefix, found) : STET_OK;
}

/* ---- removing what is no longer needed ---- */

static int open_folder(const struct stet_store *s, const char *name)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* In one folder, files of this kind and name suffix that were not touched since. */
static void remove_old(int fd, unsigned kind, const char *end, int64_t oldest)
{
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *e;

    while (d && (e = readdir(d))) {
        size_t n = strlen(e->d_name);
        struct stat st;

        if (e->d_name[0] != '.' && n >= strlen(end) && !strcmp(e->d_name + n - strlen(end), end) &&
            fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            (st.st_mode & S_IFMT) == kind && st.st_mtim.tv_sec < oldest)
            unlinkat(fd, e->d_name, 0);
    }
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

static bool any_name(const char *name)
{
    return name[0] != '.';
}

void stet_store_hints_gc(const struct stet_store *s, uint64_t max_age_s)
{
    int64_t age = max_age_s && max_age_s < MOST_AGE_S ? (int64_t)max_age_s : MOST_AGE_S;
    int64_t now = (int64_t)time(NULL);
    char name[16];

    for (unsigned i = 0; i < 256; i++) {
        snprintf(name, sizeof name, "programs/%02x", i);
        remove_old(open_folder(s, name), S_IFLNK, "", now - age);
    }
    remove_old(open_folder(s, "orders"), S_IFREG, "", now - age);
    remove_old(open_folder(s, "lifts"), S_IFREG, "", now - age);
    remove_old(open_folder(s, "quarantine"), S_IFREG, ".failed", now - FAILED_AGE_S);
    remove_old(open_folder(s, "quarantine"), S_IFREG, "", now - MOST_AGE_S);
}

/* Files that dead writers left, in all folders where files are written under a temporary name. */
static size_t sweep_all(const struct stet_store *s)
{
    static const char *const notes[] = {"orders", "lifts", "files", "quarantine"};
    char path[PATH_MAX + 64];
    size_t n = 0;

    for (unsigned i = 0; i < 256; i++) {
        snprintf(path, sizeof path, "%s/entries/%02x", s->folder, i);
        n += stet_fs_sweep(path, stet_store_is_temporary);
    }
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        snprintf(path, sizeof path, "%s/%s", s->folder, notes[i]);
        n += stet_fs_sweep(path, any_name);
    }
    return n;
}

uint64_t stet_store_usual_limit(uint64_t capacity)
{
    const uint64_t most = UINT64_C(20) << 30;

    return capacity && capacity / 10 < most ? capacity / 10 : most;
}

enum stet_rc stet_store_gc(const struct stet_store *s, struct stet_store_gc *gc,
                           struct stet_err *err)
{
    struct stet_stored_list all;
    struct walk w = {.out = &all};
    enum stet_rc rc = walk(s, &w, err);
    int64_t now = (int64_t)time(NULL);

    gc->removed = gc->left = 0;
    gc->removed_bytes = gc->left_bytes = 0;
    gc->temporaries = sweep_all(s);
    if (rc == STET_OK)
        gc->left_bytes = all.bytes;
    for (size_t i = 0; rc == STET_OK && i < all.count; i++) {
        const struct stet_stored *e = &all.items[i];
        int64_t age = now - e->used_ns / 1000000000; /* negative after a jump of the clock: young */
        bool old = gc->max_age_s && age > 0 && (uint64_t)age > gc->max_age_s;
        bool over = gc->max_bytes && gc->left_bytes > gc->max_bytes;

        gc->left++;
        if (!old && !over)
            continue;
        rc = stet_store_remove(s, e->key, err);
        if (rc == STET_NOT_FOUND)
            rc = STET_OK; /* another process was faster */
        gc->left--;
        gc->removed++;
        gc->removed_bytes += e->bytes;
        gc->left_bytes -= e->bytes;
    }
    stet_store_hints_gc(s, gc->max_age_s);
    stet_store_list_release(&all);
    return rc;
}
