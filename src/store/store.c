/* See store.h: paths, reading, writing, removing. */
#include "store/store.h"

#include "base/mem.h"
#include "store/safety.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum stet_rc stet_store_open(struct stet_store *s, const char *folder, struct stet_err *err)
{
    const char *mode = getenv("STET_STORE_MODE"), *load_ms = getenv("STET_STORE_LOAD_MS");

    *s = (struct stet_store){.read_only = mode && !strcmp(mode, "read-only"),
                             .load_ms = load_ms ? strtoull(load_ms, NULL, 10) : 0};
    return stet_safety_open(s, folder, err);
}

char *stet_store_default(struct stet_err *err)
{
    const char *own = getenv("STET_STORE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *folder = NULL;

    if (own && *own == '/')
        folder = stet_mem_strdup(own);
    else if (xdg && *xdg == '/')
        folder = stet_fs_join(xdg, "stet/store");
    else if (home && *home == '/')
        folder = stet_fs_join(home, ".cache/stet/store");
    else
        stet_fail(err, STET_IO, "no home folder: set STET_STORE");
    if (!folder)
        stet_fail(err, STET_NO_MEMORY, "out of memory");
    return folder;
}

void stet_store_path(const struct stet_store *s, struct stet_hash key, char out[PATH_MAX + 64])
{
    char name[STET_HASH_TEXT];

    stet_hash_format(key, name);
    snprintf(out, PATH_MAX + 64, "%s/entries/%.2s/%s.stet", s->folder, name, name);
}

int stet_store_open_entry(const struct stet_store *s, struct stet_hash key, enum stet_rc *rc,
                          struct stet_err *err)
{
    char path[PATH_MAX + 64], *slash;
    struct stat st;
    int fd;

    stet_store_path(s, key, path);
    slash = strrchr(path, '/');
    *slash = '\0';
    *rc = stet_safety_folder(s, path, err);
    *slash = '/';
    if (*rc != STET_OK)
        return -1;
    fd = stet_entry_open_fd(path, rc, err);
    if (fd < 0)
        return -1;
    *rc = fstat(fd, &st) == 0 ? stet_safety_file(s, &st, path, err)
                              : stet_fail_errno(err, "%s: cannot stat", path);
    if (*rc == STET_OK)
        return fd;
    close(fd);
    return -1;
}

enum stet_rc stet_store_get(const struct stet_store *s, struct stet_hash key,
                            struct stet_entry_file *out, struct stet_err *err)
{
    char path[PATH_MAX + 64];
    enum stet_rc rc;
    int fd = stet_store_open_entry(s, key, &rc, err);

    if (fd < 0)
        return rc;
    stet_store_path(s, key, path);
    rc = stet_entry_adopt(out, fd, path, err);
    if (rc != STET_OK)
        return rc;
    if (!stet_hash_eq(out->key, key)) {
        stet_entry_close(out);
        return stet_fail(err, STET_BAD_INPUT, "%s: holds the entry of another key", path);
    }
    out->unpacker = s->unpacker;
    return STET_OK;
}

void stet_store_touch(const struct stet_store *s, struct stet_hash key)
{
    char path[PATH_MAX + 64];

    stet_store_path(s, key, path);
    if (!s->read_only)
        utimensat(AT_FDCWD, path, NULL, 0);
}

/* 0: for the owner alone, as files are created. Some file systems have no modes. */
static unsigned file_mode(const struct stet_store *s)
{
    return s->group ? 0660 : 0;
}

enum stet_rc stet_store_mkdirs(const struct stet_store *s, const char *path, struct stet_err *err)
{
    enum stet_rc rc = stet_fs_mkdirs_as(path, s->group ? 02770 : 0700, err);

    return rc == STET_OK ? stet_safety_way(s, path, err) : rc;
}

enum stet_rc stet_store_write_note(const struct stet_store *s, const char *path,
                                   struct stet_view bytes)
{
    struct stet_writing w;
    enum stet_rc rc = stet_fs_begin(&w, path, NULL);

    if (rc != STET_OK)
        return rc;
    if (stet_fs_write_all(w.fd, bytes.ptr, bytes.len) != 0)
        rc = STET_IO;
    return stet_fs_end(&w, path, false, file_mode(s), rc, NULL);
}

bool stet_store_is_temporary(const char *name)
{
    struct stet_hash key;

    return strlen(name) > 38 && !strncmp(name + 32, ".stet.", 6) &&
           stet_hash_parse(stet_view_of(name, 32), &key);
}

static enum stet_rc begin(const struct stet_store *s, struct stet_hash key,
                          char path[PATH_MAX + 64], struct stet_writing *w, struct stet_err *err)
{
    enum stet_rc rc;
    char *slash;

    if (s->read_only)
        return stet_fail(err, STET_UNSUPPORTED, "%s: the store is read-only", s->folder);
    stet_store_path(s, key, path);
    slash = strrchr(path, '/');
    *slash = '\0';
    rc = stet_store_mkdirs(s, path, err);
    /* a job that is preempted again and again never reaches the end, where this is usually done */
    if (rc == STET_OK)
        stet_fs_sweep(path, stet_store_is_temporary);
    *slash = '/';
    return rc == STET_OK ? stet_fs_begin(w, path, err) : rc;
}

enum stet_rc stet_store_put_bytes(const struct stet_store *s, struct stet_hash key,
                                  struct stet_view bytes, struct stet_err *err)
{
    char path[PATH_MAX + 64];
    struct stet_writing w;
    enum stet_rc rc = begin(s, key, path, &w, err);

    if (rc != STET_OK)
        return rc;
    if (stet_fs_write_all(w.fd, bytes.ptr, bytes.len) != 0)
        rc = stet_fail_errno(err, "%s: cannot write", w.temporary);
    return stet_fs_end(&w, path, true, file_mode(s), rc, err);
}

enum stet_rc stet_store_put(const struct stet_store *s, const struct stet_kept *e, uint64_t *bytes,
                            struct stet_err *err)
{
    char path[PATH_MAX + 64];
    struct stet_writing w;
    enum stet_rc rc = begin(s, stet_key_of(&e->parts), path, &w, err);

    *bytes = 0;
    if (rc != STET_OK)
        return rc;
    rc = stet_entry_write(w.fd, e, bytes, err);
    rc = stet_fs_end(&w, path, true, file_mode(s), rc, err);
    if (rc != STET_OK)
        *bytes = 0;
    return rc;
}

enum stet_rc stet_store_remove(const struct stet_store *s, struct stet_hash key,
                               struct stet_err *err)
{
    char path[PATH_MAX + 64];

    stet_store_path(s, key, path);
    if (unlink(path) == 0)
        return STET_OK;
    if (errno == ENOENT)
        return STET_NOT_FOUND;
    return stet_fail_errno(err, "%s: cannot remove", path);
}
