/* See named_files.h. The store caches hashes (store/files.c), so a file is read once. */
#include "intercept/named_files.h"

#include "base/mem.h"
#include "base/vec.h"
#include "decode/options.h"
#include "intercept/layer.h"
#include "intercept/toolkit.h"
#include "journal/environment.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { INLINE_MOST = 4096, FOLDER_MOST = 4096 };

struct stet_watched {
    char *path;
    struct stet_hash was; /* zero: not there */
};

static struct stet_hash stat_hash(const struct stat *st)
{
    const uint64_t parts[] = {
        (uint64_t)st->st_dev,          (uint64_t)st->st_ino,          (uint64_t)st->st_size,
        (uint64_t)st->st_mtim.tv_sec,  (uint64_t)st->st_mtim.tv_nsec, (uint64_t)st->st_ctim.tv_sec,
        (uint64_t)st->st_ctim.tv_nsec, (uint64_t)st->st_mode,
    };

    return stet_hash_bytes(stet_view_of(parts, sizeof parts));
}

static struct stet_hash now_at(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? stat_hash(&st) : (struct stet_hash){0};
}

void stet_intercept_file_watch_release(struct stet_file_watch *w)
{
    for (size_t i = 0; i < w->count; i++)
        stet_mem_free(w->items[i].path);
    stet_mem_free(w->items);
    *w = (struct stet_file_watch){0};
}

bool stet_intercept_file_watch_moved(const struct stet_file_watch *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (!stet_hash_eq(now_at(w->items[i].path), w->items[i].was))
            return true;
    }
    return false;
}

static void watch(struct stet_file_watch *w, const char *path, struct stet_hash was)
{
    size_t n = strlen(path) + 1;

    if (stet_vec_room(&w->items, &w->room, w->count, sizeof *w->items))
        w->items[w->count].path = stet_mem_alloc(n);
    if (w->count == w->room || !w->items[w->count].path) {
        w->failed = true;
        return;
    }
    memcpy(w->items[w->count].path, path, n);
    w->items[w->count++].was = was;
}

void stet_intercept_file_watch_add(struct stet_file_watch *w, const char *path)
{
    watch(w, path, now_at(path));
}

enum stet_named stet_named_hash(const char *path, struct stet_hash *out, struct stet_file_watch *w)
{
    struct stat st;

    *out = (struct stet_hash){0};
    if (stat(path, &st) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return STET_NAMED_UNREADABLE;
        watch(w, path, *out);
        return STET_NAMED_ABSENT;
    }
    watch(w, path, stat_hash(&st));
    if (S_ISDIR(st.st_mode) || S_ISCHR(st.st_mode))
        return STET_NAMED_OTHER;
    if (!S_ISREG(st.st_mode) || stet_store_file_hash(&stet_layer.store, path, out, NULL) != STET_OK)
        return STET_NAMED_UNREADABLE;
    return STET_NAMED_FILE;
}

/* ---- text ---- */

void stet_named_digest(struct stet_buf *out, struct stet_view text)
{
    char hash[STET_HASH_TEXT];

    stet_hash_format(stet_hash_bytes(text), hash);
    stet_buf_printf(out, "#%zu:%s", text.len, hash);
}

void stet_named_text(struct stet_buf *out, struct stet_view text)
{
    if (text.len > INLINE_MOST) {
        stet_named_digest(out, text);
        return;
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c <= ' ' || c == 0x7f || c == '\\' || c == ';' || (c == '#' && !i))
            stet_buf_printf(out, "\\x%02x", c);
        else
            stet_buf_char(out, (char)c);
    }
}

static void put_content(struct stet_buf *out, struct stet_hash hash)
{
    char text[STET_HASH_TEXT];

    stet_hash_format(hash, text);
    stet_buf_printf(out, "content:%s", text);
}

/* ---- by kind ---- */

/* The limit of a path's length. */
static bool path_of(struct stet_view value, char path[PATH_MAX])
{
    if (value.len >= PATH_MAX)
        return false;
    memcpy(path, value.ptr, value.len);
    path[value.len] = '\0';
    return true;
}

static enum stet_outcome put_file(struct stet_buf *out, struct stet_view value,
                                  struct stet_file_watch *w)
{
    char path[PATH_MAX];
    struct stet_hash hash;

    if (!path_of(value, path))
        return STET_OUTCOME_FILES_UNREADABLE;
    switch (stet_named_hash(path, &hash, w)) {
    case STET_NAMED_FILE:
        put_content(out, hash);
        return STET_OUTCOME_NONE;
    case STET_NAMED_UNREADABLE:
        return STET_OUTCOME_FILES_UNREADABLE;
    default: /* what the compiler makes of that depends on the name alone */
        stet_buf_str(out, "at:");
        stet_named_text(out, value);
        return STET_OUTCOME_NONE;
    }
}

static enum stet_outcome put_list(struct stet_buf *out, struct stet_view value,
                                  struct stet_file_watch *w)
{
    enum stet_outcome why = STET_OUTCOME_NONE;

    for (bool more = true; more && !why;) {
        const char *comma = memchr(value.ptr, ',', value.len);
        size_t n = comma ? (size_t)(comma - value.ptr) : value.len;
        struct stet_view one = stet_view_of(value.ptr, n);
        const char *slash = n ? memrchr(one.ptr, '/', n) : NULL;
        size_t skip = slash ? (size_t)(slash - one.ptr) + 1 : 0;

        stet_named_text(out, stet_view_of(one.ptr + skip, n - skip));
        stet_buf_char(out, '=');
        why = put_file(out, one, w);
        more = comma != NULL;
        if (more)
            stet_buf_char(out, ',');
        value = stet_view_of(value.ptr + n + more, value.len - n - more);
    }
    return why;
}

static int is_entry(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* The names of its files in order, and what they hold; folders in it by name. */
static enum stet_outcome put_folder(struct stet_buf *out, const char *folder,
                                    struct stet_file_watch *w)
{
    struct dirent **names;
    int n = scandir(folder, &names, is_entry, NULL);
    struct stet_hash all = {0}, one;
    struct stet_view *sorted;
    enum stet_outcome why =
        n < 0 || n > FOLDER_MOST ? STET_OUTCOME_FILES_UNREADABLE : STET_OUTCOME_NONE;
    char path[PATH_MAX];

    sorted = why ? NULL : stet_mem_calloc((size_t)n + 1, sizeof *sorted);
    for (int i = 0; sorted && i < n; i++)
        sorted[i] = stet_view_str(names[i]->d_name);
    if (sorted && n)
        qsort(sorted, (size_t)n, sizeof *sorted, stet_view_sort);
    for (int i = 0; sorted && i < n; i++) {
        if (snprintf(path, sizeof path, "%s/%s", folder, sorted[i].ptr) >= (int)sizeof path ||
            stet_named_hash(path, &one, w) == STET_NAMED_UNREADABLE) {
            why = STET_OUTCOME_FILES_UNREADABLE;
            break;
        }
        all = stet_hash_mix(stet_hash_mix(all, stet_hash_bytes(sorted[i])), one);
    }
    if (!sorted && !why)
        why = STET_OUTCOME_NO_MEMORY;
    for (int i = 0; i < n; i++)
        free(names[i]); /* scandir's, from malloc */
    if (n >= 0)
        free(names);
    stet_mem_free(sorted);
    put_content(out, all);
    return why;
}

static enum stet_outcome put_tree(struct stet_buf *out, struct stet_view value,
                                  struct stet_file_watch *w)
{
    char path[PATH_MAX];
    struct stat st;

    if (!path_of(value, path))
        return STET_OUTCOME_FILES_UNREADABLE;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return put_file(out, value, w);
    stet_intercept_file_watch_add(w, path);
    return put_folder(out, path, w);
}

static enum stet_outcome put_cuda(struct stet_buf *out, struct stet_view value,
                                  struct stet_file_watch *w)
{
    char path[PATH_MAX];
    enum stet_outcome why;

    if (!path_of(value, path))
        return STET_OUTCOME_FILES_UNREADABLE;
    stet_buf_char(out, '{');
    why = stet_toolkit_cuda_at(out, path, w);
    stet_buf_char(out, '}');
    return why;
}

enum stet_outcome stet_named_value(struct stet_buf *out, struct stet_view name,
                                   struct stet_view value, struct stet_file_watch *w)
{
    enum stet_option_file kind = value.len ? stet_option_file_kind(name) : STET_OPTION_FILE_NONE;

    switch (kind) {
    case STET_OPTION_FILE_ONE:
    case STET_OPTION_FILE_MAYBE:
        return put_file(out, value, w);
    case STET_OPTION_FILE_LIST:
        return put_list(out, value, w);
    case STET_OPTION_FILE_FOLDER:
        return put_tree(out, value, w);
    case STET_OPTION_FILE_CUDA:
        return put_cuda(out, value, w);
    case STET_OPTION_FILE_NONE:
        break;
    }
    if (stet_journal_env_is_secret(name))
        stet_named_digest(out, value);
    else
        stet_named_text(out, value);
    return STET_OUTCOME_NONE;
}
